/* A device in a process of its own, built against what is installed: one_server_device FOLDER URL.
 *
 * It takes part in a committee's key generation and in a round, as soon as FOLDER/call and FOLDER/posting are there. FOLDER/stop ends it;
 * it then prints its record. test_one_server_installed.c has the other side. */
#define _POSIX_C_SOURCE 200809L
#include <sotto/rounds.h>

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const char *folder;
static uint16_t port;

static void must(bool ok, const char *what)
{
    if (ok)
        return;
    (void)fprintf(stderr, "one_server_device: %s\n", what);
    exit(1);
}

static const char *path_of(const char *name)
{
    static char path[400];

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* Nothing: it is not there yet. What is found stays until the process ends. */
static sotto_bytes read_file(const char *name)
{
    enum { MOST = 1 << 20 };
    FILE *file = fopen(path_of(name), "rb");

    if (!file)
        return (sotto_bytes){NULL, 0};
    uint8_t *data = malloc(MOST);
    must(data != NULL, "no memory");
    const size_t len = fread(data, 1, MOST, file);
    must(fclose(file) == 0, name);
    return (sotto_bytes){data, len};
}

/* ---- HTTP ---------------------------------------------------------------------------------------------------------- */

static bool send_all(int to, const void *data, size_t len)
{
    for (size_t at = 0; at < len;) {
        const ssize_t sent = send(to, (const char *)data + at, len - at, MSG_NOSIGNAL);

        if (sent <= 0)
            return false;
        at += (size_t)sent;
    }
    return true;
}

static bool send_request(int to, sotto_exchange *http)
{
    const char *place = strchr(strstr(http->url, "://") + 3, '/');
    uint8_t piece[4096];
    char head[700];
    size_t len = 0;

    (void)snprintf(head, sizeof head,
                   "%s %s HTTP/1.0\r\nHost: 127.0.0.1\r\nContent-Type: %s\r\nContent-Length: "
                   "%" PRIu64 "\r\n\r\n",
                   http->method, place, http->media_type, http->body_length);
    if (!send_all(to, head, strlen(head)))
        return false;
    for (uint64_t at = 0; at < http->body_length; at += len)
        if (http->read(http, at, piece, sizeof piece, &len) != SOTTO_OK || len == 0 ||
            !send_all(to, piece, len))
            return false;
    return http->read(http, http->body_length, piece, sizeof piece, &len) == SOTTO_OK;
}

static sotto_status take_answer(int from, sotto_exchange *http)
{
    static char all[1 << 20];
    size_t len = 0;
    ssize_t more;
    unsigned status;

    while (len < sizeof all - 1 && (more = recv(from, all + len, sizeof all - 1 - len, 0)) > 0)
        len += (size_t)more;
    all[len] = 0;
    const char *end = strstr(all, "\r\n\r\n");
    if (!end || sscanf(all, "HTTP/%*s %u", &status) != 1)
        return SOTTO_IO;
    const sotto_exchange_head head = {.size = sizeof head, .status = status};
    const sotto_status begun = http->begin(http, &head);
    if (begun != SOTTO_OK)
        return begun;
    return http->take(http, (const uint8_t *)end + 4, len - (size_t)(end + 4 - all));
}

static sotto_status carry(void *context, sotto_exchange *http)
{
    const struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const int connection = socket(AF_INET, SOCK_STREAM, 0);
    sotto_status status = SOTTO_IO;

    (void)context;
    if (connection >= 0 && connect(connection, (const struct sockaddr *)&to, sizeof to) == 0 &&
        send_request(connection, http))
        status = take_answer(connection, http);
    if (connection >= 0)
        (void)close(connection);
    return status;
}

/* ---- the journal's counter: a file, which in life would be a part of the platform that can't be turned back ------------- */

static sotto_status read_counter(void *context, uint64_t *generation, sotto_err *err)
{
    FILE *file = fopen(path_of("counter"), "r");

    (void)context;
    (void)err;
    *generation = 0;
    if (!file)
        return SOTTO_OK;
    const int read = fscanf(file, "%" SCNu64, generation);
    return fclose(file) == 0 && read == 1 ? SOTTO_OK : SOTTO_IO;
}

static sotto_status raise_counter(void *context, uint64_t generation, sotto_err *err)
{
    FILE *file = fopen(path_of("counter"), "w");

    (void)context;
    (void)err;
    if (!file)
        return SOTTO_IO;
    (void)fprintf(file, "%" PRIu64 "\n", generation);
    return fclose(file) == 0 ? SOTTO_OK : SOTTO_IO;
}

/* ---- the device -------------------------------------------------------------------------------------------------------- */

static void check(sotto_status status, const sotto_err *err)
{
    must(status == SOTTO_OK, err->reason);
}

static sotto_device *open_device(sotto_bytes policy)
{
    static const sotto_field field = {"ms", SOTTO_TYPE_INTEGER};
    static const sotto_stream stream = {"launches", &field, 1, 30 * 86400, 100};
    static char events[400], ledger[400];
    const sotto_value value = {SOTTO_TYPE_INTEGER, {.integer = 150}};
    const sotto_event event = {"launches", {1}, (int64_t)time(NULL), &value, 1};
    sotto_device_options options = {.events = events,
                                    .ledger = ledger,
                                    .policy = policy,
                                    .parties = {(const uint8_t *)"{}", 2},
                                    .streams = &stream,
                                    .stream_count = 1,
                                    .host = {.exchange = carry}};
    sotto_device *device;
    sotto_err err = {0};

    (void)snprintf(events, sizeof events, "%s", path_of("events.db"));
    (void)snprintf(ledger, sizeof ledger, "%s", path_of("ledger.db"));
    check(sotto_device_open(&device, &options, &err), &err);
    check(sotto_device_consent(device, true, &err), &err);
    check(sotto_device_donate(device, &event, 1, NULL, &err), &err);
    check(sotto_device_offer(device, read_file("recipe"), &err), &err);
    return device;
}

static sotto_rounds *open_rounds(sotto_device *device, sotto_bytes policy, const char *url)
{
    static char journal[400];
    const sotto_bytes secret = read_file("secret"), witnesses = read_file("witnesses"),
                      registry = read_file("registry");
    const sotto_rounds_options options = {.size = sizeof options,
                                          .journal = journal,
                                          .secret = secret.data,
                                          .policy = policy,
                                          .witnesses = witnesses.data,
                                          .witness_count =
                                              (uint32_t)(witnesses.len / SOTTO_ROUNDS_WITNESS),
                                          .server = url,
                                          .counter = {read_counter, raise_counter}};
    sotto_rounds *rounds;
    sotto_err err = {0};

    must(secret.len == SOTTO_ROUNDS_SECRET && registry.len == 32, "files");
    (void)snprintf(journal, sizeof journal, "%s", path_of("journal.db"));
    check(sotto_rounds_open(&rounds, device, &options, &err), &err);
    check(sotto_rounds_consent(rounds, true, &err), &err);
    sotto_rounds_expect(rounds, registry.data, 0);
    return rounds;
}

static uint64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void run(sotto_rounds *rounds)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    bool joined = false, taken = false;
    sotto_err err = {0};

    while (access(path_of("stop"), F_OK) != 0) {
        sotto_bytes file;
        uint64_t next;

        if (!joined && (file = read_file("call")).len) {
            check(sotto_rounds_join(rounds, file, "launches", now_ms(), &err), &err);
            joined = true;
        }
        if (!taken && (file = read_file("posting")).len) {
            sotto_explanation why;
            unsigned parts;

            check(sotto_rounds_take(rounds, &parts, &why, file, &err), &err);
            (void)printf("parts %u, %s\n", parts, sotto_why_name(why.why));
            taken = true;
        }
        check(sotto_rounds_tick(rounds, now_ms(), &next, &err), &err);
        (void)nanosleep(&pause, NULL);
    }
}

static sotto_status show(void *context, const sotto_record_line *line, sotto_err *err)
{
    (void)context;
    (void)err;
    if (strchr(line->recipe, '#'))
        (void)printf("%s %s %g\n", line->recipe, sotto_record_kind_name(line->kind), line->epsilon);
    return SOTTO_OK;
}

int main(int argc, char **argv)
{
    sotto_err err = {0};

    must(argc == 3, "usage: one_server_device FOLDER URL");
    folder = argv[1];
    port = (uint16_t)strtoul(strrchr(argv[2], ':') + 1, NULL, 10);
    const sotto_bytes policy = read_file("policy");
    sotto_device *device = open_device(policy);
    sotto_rounds *rounds = open_rounds(device, policy, argv[2]);
    sotto_rounds_public keys;

    sotto_rounds_keys(rounds, &keys);
    (void)printf("key %02x%02x%02x%02x\n", keys.sign[0], keys.sign[1], keys.sign[2], keys.sign[3]);
    run(rounds);
    check(sotto_device_record(device, NULL, 0, show, NULL, &err), &err);
    sotto_rounds_close(rounds);
    sotto_device_close(device);
    return fflush(stdout) != 0;
}
