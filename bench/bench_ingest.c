/* Reports that arrive at `sotto serve aggregator`, a process of its own: 64 at once over loopback, each acknowledged when it is
 * inside a sum on disk. Without a filter vectors are short and few; "flamingo/ingest" sends 4 MiB each. The messages are right;
 * the vectors behind them are one and the same, since masked vectors are not looked at. */
#define _GNU_SOURCE
#include "bench.h"

#include "aggregate/inbox.h"
#include "aggregate/posting.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/hex.h"
#include "base/writer.h"
#include "between.h"
#include "flamingo_round.h"
#include "tlog/note.h"
#include "transport/http_client.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { AT_ONCE = 64, WINDOW = 600000, HEAD = 512, REFUSED = 1000 };

static const sotto_bench_size SHORT = {"flamingo/ingest", 12, 6, 5, 20000, true};
static const sotto_bench_size LONG = {"flamingo/ingest", 1024, 40, 60, (size_t)1 << 20, false};

typedef struct sender {
    int fd;
    uint32_t client; /* whose report it sends */
    size_t sent;
    bool busy;
} sender;

typedef struct ingest {
    sotto_bench_round round;
    sotto_signer server;
    sotto_deployment files; /* a directory, and how processes start */
    sotto_replica replica;
    sotto_http_client *client;
    uint8_t id[SOTTO_ROUND_ID];
    sotto_bytes *reports; /* head of the request and message, by client */
    sotto_bytes vector;
    sender senders[AT_ONCE];
    uint32_t next, done, retries;
} ingest;

static ingest all;

static void ok(sotto_status status, const char *what)
{
    sotto_bench_expect(status == SOTTO_OK, what);
}

/* ---- the server ------------------------------------------------------------------------------------------------- */

static void write_file(const char *suffix, const char *text)
{
    char path[300];
    FILE *file;

    (void)snprintf(path, sizeof path, "%.250s%s", all.replica.files, suffix);
    file = fopen(path, "w");
    sotto_bench_expect(
        file && fputs(text, file) >= 0 && fclose(file) == 0 && chmod(path, 0600) == 0, "a file");
}

static void start_server(void)
{
    const uint8_t seed[SOTTO_SIGN_SEED] = {7};
    char text[SOTTO_NOTE_KEY_TEXT + 2];
    sotto_buf out = sotto_buf_over(text, sizeof text - 1);
    sotto_note_key key;

    ok(sotto_signer_init(&all.server, seed, NULL), "a signer");
    /* Its own servers are never started. */
    const sotto_deployment_options options = {.vdaf = {.type = SOTTO_PRIO3_COUNT, .shares = 2},
                                              .min_batch_size = 1,
                                              .program = SOTTO_BENCH_SERVER};
    ok(sotto_deployment_init(&all.files, &options, NULL), "a directory");
    all.replica = (sotto_replica){.service = "aggregator", .detail = "", .to = -1, .from = -1};
    (void)snprintf(all.replica.files, sizeof all.replica.files, "%.200s/aggregator",
                   all.files.directory);
    ok(sotto_note_key_init(&key, sotto_bytes_of("aggregator", 10), SOTTO_NOTE_ED25519,
                           all.server.public_key, NULL),
       "a key");
    ok(sotto_note_signer_encode(&out, &key, seed, NULL), "a key");
    text[out.len] = 0;
    write_file(".signing", text);
    write_file(".token", "operator-of-the-benchmark\n");
    ok(sotto_free_port(&all.replica.port, NULL), "a port");
    ok(sotto_replica_start(&all.files, &all.replica, NULL), "an aggregator");
}

static void post_round(void)
{
    const sotto_http_field fields[] = {{"Authorization", "Bearer operator-of-the-benchmark"},
                                       {"Content-Type", SOTTO_POSTING_TYPE}};
    sotto_arena *arena = &all.round.step;
    sotto_posting posting = {.registry = all.round.cast.registry};
    sotto_buf round, record, wire;
    sotto_http_response response;
    char url[64];

    ok(sotto_buf_take(&round, arena, SOTTO_ROUND_MOST_BYTES, NULL), "memory");
    ok(sotto_buf_take(&record, arena, SOTTO_DECRYPTORS_MOST_BYTES, NULL), "memory");
    ok(sotto_buf_take(&wire, arena, SOTTO_POSTING_MOST_BYTES, NULL), "memory");
    ok(sotto_round_encode(&round, &all.round.round, NULL), "a round");
    ok(sotto_decryptors_encode(&record, &all.round.cast.decryptors->record, NULL), "a record");
    posting.round = sotto_buf_bytes(&round);
    posting.decryptors = sotto_buf_bytes(&record);
    ok(sotto_posting_encode(&wire, &posting, NULL), "a posting");
    ok(sotto_round_id(&all.round.round, all.id, NULL), "an id");
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/rounds", all.replica.port);
    ok(sotto_http_client_open(&all.client, &(sotto_http_client_options){0}, NULL), "a client");
    ok(sotto_http_call_wait(all.client, &response,
                            &(sotto_http_call){.method = SOTTO_HTTP_POST,
                                               .url = url,
                                               .fields = fields,
                                               .field_count = 2,
                                               .body = sotto_buf_bytes(&wire),
                                               .attempts = 1},
                            arena, NULL),
       "an answer");
    sotto_bench_expect(response.status == 201, "a round that is taken");
    sotto_arena_reset(arena);
}

/* ---- reports ------------------------------------------------------------------------------------------------------ */

static sotto_bytes request_of(const sotto_message *m, size_t vector)
{
    const size_t size = sotto_message_size(m);
    char id[2 * SOTTO_ROUND_ID + 1];
    sotto_buf out;

    ok(sotto_buf_take(&out, &all.round.arena, HEAD + 4 + size, NULL), "memory");
    sotto_hex_encode(id, sotto_bytes_of(all.id, sizeof all.id));
    sotto_writer w = sotto_writer_on(&out);
    sotto_write_format(&w,
                       "POST /rounds/%s/messages HTTP/1.1\r\nHost: a\r\nContent-Type: "
                       "" SOTTO_MESSAGE_TYPE "\r\nContent-Length: %zu\r\n\r\n",
                       id, 4 + size + vector);
    sotto_write_uint(&w, size, 4);
    ok(sotto_writer_finish(&w, "request", NULL), "a request");
    ok(sotto_message_encode(&out, m, NULL), "a message");
    return sotto_buf_bytes(&out);
}

/* All but the last: its round stays open. */
static void make_reports(void)
{
    const uint32_t count = all.round.size->clients - 1;

    all.reports = sotto_arena_take_array(&all.round.arena, count, sizeof *all.reports);
    sotto_bench_expect(all.reports != NULL, "memory");
    const size_t len = 4 * all.round.size->length;
    void *entries = sotto_arena_take(&all.round.arena, len);

    sotto_bench_expect(entries != NULL, "memory");
    all.vector = sotto_bytes_of(entries, len);
    for (uint32_t i = 0; i < count; i++) {
        sotto_effects effects;
        uint64_t ns;

        sotto_bench_round_report(&all.round, i, &effects, &ns);
        all.reports[i] = request_of(&effects.sent->message, all.vector.len);
        sotto_arena_reset(&all.round.step);
    }
}

/* ---- sending -------------------------------------------------------------------------------------------------------- */

static void dial(sender *s)
{
    const struct sockaddr_in to = {.sin_family = AF_INET,
                                   .sin_port = htons(all.replica.port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sotto_bench_expect(
        s->fd >= 0 && connect(s->fd, (const struct sockaddr *)(const void *)&to, sizeof to) == 0,
        "a connection");
}

static void take_next(sender *s)
{
    s->busy = all.next < all.round.size->clients - 1;
    s->sent = 0;
    s->client = s->busy ? all.next++ : 0;
}

static void send_more(sender *s)
{
    const sotto_bytes head = all.reports[s->client];
    const size_t in_head = s->sent < head.len ? s->sent : head.len, at = s->sent - in_head;
    struct iovec parts[2] = {{(void *)(uintptr_t)(head.data + in_head), head.len - in_head},
                             {(void *)(uintptr_t)(all.vector.data + at), all.vector.len - at}};
    const struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    const ssize_t sent = sendmsg(s->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);

    sotto_bench_expect(sent >= 0 || errno == EAGAIN, "a connection that lasts");
    s->sent += sent > 0 ? (size_t)sent : 0;
}

static bool is_sent(const sender *s)
{
    return s->sent == all.reports[s->client].len + all.vector.len;
}

/* A sender that gets 503 retries. */
static void hear(sender *s)
{
    char text[1024] = {0};
    const ssize_t got = recv(s->fd, text, sizeof text - 1, MSG_DONTWAIT);

    if (got < 0 && errno == EAGAIN)
        return;
    sotto_bench_expect(got > 12, "an answer");
    if (strncmp(text + 9, "204", 3) == 0 && is_sent(s)) {
        all.done++;
        take_next(s);
        return;
    }
    sotto_bench_expect(strncmp(text + 9, "503", 3) == 0 && ++all.retries < REFUSED,
                       "an acknowledgement");
    (void)close(s->fd);
    dial(s);
    s->sent = 0;
}

static void send_all(void)
{
    struct pollfd fds[AT_ONCE];

    for (size_t i = 0; i < AT_ONCE; i++) {
        dial(&all.senders[i]);
        take_next(&all.senders[i]);
    }
    while (all.done < all.round.size->clients - 1) {
        for (size_t i = 0; i < AT_ONCE; i++) {
            sender *s = &all.senders[i];
            const short sends = s->busy && !is_sent(s) ? POLLOUT : 0;

            fds[i] = (struct pollfd){.fd = s->busy ? s->fd : -1, .events = (short)(POLLIN | sends)};
        }
        sotto_bench_expect(poll(fds, AT_ONCE, 30000) > 0, "a server that goes on");
        for (size_t i = 0; i < AT_ONCE; i++) {
            if (fds[i].revents & POLLOUT)
                send_more(&all.senders[i]);
            if (fds[i].revents & (POLLIN | POLLHUP | POLLERR))
                hear(&all.senders[i]);
        }
    }
    for (size_t i = 0; i < AT_ONCE; i++)
        (void)close(all.senders[i].fd);
}

static void run(const sotto_bench *b)
{
    sotto_replica_stats before, after;

    ok(sotto_replica_stats_get(&all.replica, &before, NULL), "figures");
    const uint64_t start = sotto_clock_monotonic(&sotto_clock_system);
    send_all();
    const double seconds = (double)(sotto_clock_monotonic(&sotto_clock_system) - start) / 1e9;
    ok(sotto_replica_stats_get(&all.replica, &after, NULL), "figures");
    const double count = all.done, bytes = count * (double)all.vector.len;
    sotto_bench_note(b, "flamingo/ingest/uploads", "count", count);
    sotto_bench_note(b, "flamingo/ingest/at-once", "count", AT_ONCE);
    sotto_bench_note(b, "flamingo/ingest/retries", "count", all.retries);
    sotto_bench_note(b, "flamingo/ingest/rate", "GB/s", bytes / seconds / 1e9);
    sotto_bench_note(b, "flamingo/ingest/server-cpu-upload", "ms",
                     (after.cpu_seconds - before.cpu_seconds) / count * 1e3);
    sotto_bench_note(b, "flamingo/ingest/server-most-resident", "MiB", after.most_resident_mib);
}

void sotto_bench_ingest(const sotto_bench *b)
{
    const bool is_long = b->filter && strncmp(b->filter, LONG.name, strlen(b->filter)) == 0 &&
                         strcmp(b->filter, "flamingo") != 0;

    if (!sotto_bench_wanted(b, LONG.name) && !is_long)
        return;
    memset(&all, 0, sizeof all);
    start_server();
    sotto_bench_round_open(&all.round, is_long ? &LONG : &SHORT, &all.server,
                           sotto_clock_wall(&sotto_clock_system) / 1000000 - 1, WINDOW);
    post_round();
    make_reports();
    sotto_bench_unpin(); /* sender and server share the cores */
    run(b);
    sotto_bench_pin();
    sotto_http_client_close(all.client);
    sotto_replica_end(&all.replica, true);
    sotto_deployment_clear(&all.files);
    sotto_bench_round_close(&all.round);
    sotto_signer_clear(&all.server);
}
