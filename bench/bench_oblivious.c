/* What oblivious HTTP costs: a gateway's decapsulation and answer beside one bare X25519, and a relay's requests a second on
 * one core.
 *
 * The relay's figure counts the CPU time of its own threads. That is the process's time without the load here and the
 * gateway behind it, both of which are one thread each.
 */
#define _GNU_SOURCE
#include "bench.h"

#include "crypto/kem.h"
#include "seal/hpke/agreed.h"
#include "seal/ohttp/bhttp.h"
#include "seal/ohttp/ohttp.h"
#include "serve/host/host.h"
#include "serve/relay/relay_service.h"
#include "sotto/random.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* ---- the gateway's work ------------------------------------------------------------------------------------------------- */

enum { MESSAGES = 32, MESSAGE = 2048, ANSWER = 1024, KEY_ID = 1, WIRE = 7 + 32 + MESSAGE + 16 };

typedef struct gateway_work {
    sotto_hpke_receiver *receiver;
    sotto_dh bare;
    unsigned next, refused;
    uint8_t sealed[MESSAGES][WIRE];
} gateway_work;

static const sotto_hpke_suite SUITE = {SOTTO_HPKE_KEM_X25519, SOTTO_HPKE_KDF_SHA256,
                                       SOTTO_HPKE_AEAD_AES128_GCM};

static sotto_status prepare(gateway_work *g, sotto_err *err)
{
    uint8_t ikm[32] = {1}, shared[32], info[SOTTO_OHTTP_INFO], plain[MESSAGE];
    sotto_ohttp_exchange exchange;
    sotto_hpke_key key;
    const sotto_bhttp m = {.method = sotto_bytes_of("POST", 4),
                           .scheme = sotto_bytes_of("https", 5),
                           .authority = sotto_bytes_of("leader.example", 14),
                           .path = sotto_bytes_of("/reports", 8),
                           .content = sotto_bytes_of(info, sizeof info)};

    SOTTO_TRY(sotto_hpke_key_derive(&key, SUITE.kem, sotto_bytes_of(ikm, sizeof ikm), err));
    const sotto_hpke_config to = sotto_hpke_config_of(&key, KEY_ID, SUITE.kdf, SUITE.aead);
    sotto_ohttp_info(info, KEY_ID, SUITE);
    for (size_t i = 0; i < MESSAGES; i++) {
        sotto_buf out = sotto_buf_over(g->sealed[i], WIRE);
        sotto_buf padded = sotto_buf_over(plain, MESSAGE);

        ikm[1] = (uint8_t)(i + 1);
        SOTTO_TRY(sotto_bhttp_encode(&padded, &m, MESSAGE, err));
        SOTTO_TRY(sotto_ohttp_request_seal(&exchange, &out, &to, sotto_bytes_of(ikm, sizeof ikm),
                                           sotto_buf_bytes(&padded), err));
    }
    SOTTO_TRY(
        sotto_hpke_receiver_new(&g->receiver, &key, SUITE, sotto_bytes_of(info, sizeof info), err));
    SOTTO_TRY(sotto_dh_init(&g->bare, sotto_kem_find(SUITE.kem),
                            sotto_bytes_of(key.private_key, key.private_key_len), err));
    return sotto_dh_agree(&g->bare, shared, sotto_bytes_of(g->sealed[0] + 7, 32), "enc", err);
}

static void bare_x25519(void *state)
{
    gateway_work *g = state;
    uint8_t shared[32];
    size_t len = sizeof shared;

    g->refused += EVP_PKEY_derive(g->bare.derive, shared, &len) <= 0;
}

/* As decapsulate.c and answer.c do it, with the target's answer at hand. */
static sotto_status serve_one(gateway_work *g, const sotto_ohttp_request *request,
                              const sotto_agreement *with)
{
    static uint8_t plain[MESSAGE], inside[ANSWER], sealed[ANSWER + SOTTO_OHTTP_OVERHEAD];
    sotto_buf opened = sotto_buf_over(plain, sizeof plain);
    sotto_buf answer = sotto_buf_over(inside, sizeof inside);
    sotto_buf out = sotto_buf_over(sealed, sizeof sealed);
    uint8_t random[SOTTO_OHTTP_NONCE];
    sotto_ohttp_exchange exchange;
    sotto_bhttp m;

    SOTTO_TRY(sotto_ohttp_request_unseal(&exchange, &opened, g->receiver, request, with, NULL));
    SOTTO_TRY(sotto_bhttp_decode(&m, plain, opened.len, NULL));
    SOTTO_TRY(sotto_bhttp_encode(
        &answer, &(sotto_bhttp){.response = true, .status = 200, .content = m.content}, ANSWER,
        NULL));
    SOTTO_TRY(sotto_random_bytes(random, sizeof random, NULL));
    return sotto_ohttp_response_seal(&exchange, &out, NULL, random, sotto_buf_bytes(&answer), NULL);
}

static void serve_alone(void *state)
{
    gateway_work *g = state;
    sotto_ohttp_request request;

    if (sotto_ohttp_request_read(&request, sotto_bytes_of(g->sealed[g->next++ % MESSAGES], WIRE),
                                 NULL) != SOTTO_OK ||
        serve_one(g, &request, &(sotto_agreement){.peer = request.enc}) != SOTTO_OK)
        g->refused++;
}

static void serve_batch(void *state)
{
    gateway_work *g = state;
    sotto_ohttp_request requests[MESSAGES];
    sotto_agreement agreed[MESSAGES];

    for (size_t i = 0; i < MESSAGES; i++) {
        g->refused += sotto_ohttp_request_read(&requests[i], sotto_bytes_of(g->sealed[i], WIRE),
                                               NULL) != SOTTO_OK;
        agreed[i] =
            (sotto_agreement){.own = sotto_hpke_receiver_key(g->receiver), .peer = requests[i].enc};
    }
    sotto_agree_many(agreed, MESSAGES);
    for (size_t i = 0; i < MESSAGES; i++)
        g->refused += serve_one(g, &requests[i], &agreed[i]) != SOTTO_OK;
}

static void measure_gateway(const sotto_bench *b)
{
    static gateway_work work;
    sotto_err err = {0};

    sotto_bench_expect(prepare(&work, &err) == SOTTO_OK, err.reason);
    const double bare = sotto_bench_run(b, "anonymity/x25519-bare", bare_x25519, &work, 1);
    const double alone = sotto_bench_run(b, "anonymity/gateway-alone", serve_alone, &work, 1);
    const double batch =
        sotto_bench_run(b, "anonymity/gateway-batch", serve_batch, &work, MESSAGES);
    sotto_bench_expect(work.refused == 0, "requests were refused");
    if (bare > 0 && alone > 0)
        sotto_bench_note(b, "anonymity/gateway-alone-over-x25519", "x", alone / bare);
    if (bare > 0 && batch > 0)
        sotto_bench_note(b, "anonymity/gateway-batch-over-x25519", "x", batch / bare);
    sotto_hpke_receiver_free(work.receiver);
    sotto_dh_clear(&work.bare);
}

/* ---- the relay ------------------------------------------------------------------------------------------------------------ */

enum { CLIENTS = 64 };

typedef struct relay_load {
    sotto_http_server *gateway;
    sotto_host *relay;
    int fds[CLIENTS];
    char request[256 + MESSAGE];
    size_t request_len;
    atomic_bool clock_known;
    clockid_t gateway_clock;
    char directory[64];
} relay_load;

static relay_load load;

static bool on_head(void *context, sotto_http_request *request, size_t *max_body)
{
    (void)context;
    (void)request;
    *max_body = MESSAGE;
    if (!atomic_load(&load.clock_known)) {
        (void)pthread_getcpuclockid(pthread_self(), &load.gateway_clock);
        atomic_store(&load.clock_known, true);
    }
    return true;
}

static void on_body(void *context, sotto_http_request *request)
{
    static const sotto_http_field type = {"Content-Type", SOTTO_OHTTP_RESPONSE_TYPE};
    static const uint8_t sealed[16 + ANSWER + 16];

    (void)context;
    sotto_http_answer(request,
                      &(sotto_http_reply){200, &type, 1, sotto_bytes_of(sealed, sizeof sealed)});
}

static void path_of(char *out, size_t size, const char *name)
{
    (void)snprintf(out, size, "%s/%s", load.directory, name);
}

static void open_relay(sotto_err *err)
{
    static const sotto_http_handler handler = {.head = on_head, .body = on_body};
    char table[128], key[128], address[140];
    FILE *file;

    sotto_bench_expect(sotto_http_server_open(&load.gateway, &(sotto_http_server_options){0},
                                              &handler, NULL, err) == SOTTO_OK,
                       err->reason);
    (void)snprintf(load.directory, sizeof load.directory, "/tmp/sotto-bench-relay-XXXXXX");
    sotto_bench_expect(mkdtemp(load.directory) != NULL, "no folder");
    path_of(table, sizeof table, "gateways");
    path_of(key, sizeof key, "key");
    (void)snprintf(address, sizeof address, "sqlite:%s/relay.db", load.directory);
    file = fopen(table, "w");
    sotto_bench_expect(
        file && fprintf(file, "g http://127.0.0.1:%u/\n", sotto_http_server_port(load.gateway)) > 0,
        "no table");
    sotto_bench_expect(fclose(file) == 0, "no table");
    sotto_bench_expect(
        sotto_host_open(
            &load.relay, &sotto_relay_service,
            &(sotto_host_options){
                .listen = "127.0.0.1:0", .database = address, .datastore_key = key},
            &(sotto_relay_config){
                .gateways = table, .mix_least = 16, .mix_delay_ms = 2000, .max_request = 1 << 20},
            err) == SOTTO_OK,
        err->reason);
}

static void dial(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET};
    const int one = 1;

    load.request_len =
        (size_t)snprintf(load.request, sizeof load.request,
                         "POST /g HTTP/1.1\r\nHost: relay\r\nUser-Agent: device\r\n"
                         "Content-Type: " SOTTO_OHTTP_REQUEST_TYPE "\r\nContent-Length: %d\r\n\r\n",
                         MESSAGE);
    memset(load.request + load.request_len, 'r', MESSAGE);
    load.request_len += MESSAGE;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons((uint16_t)sotto_host_port(load.relay));
    for (size_t i = 0; i < CLIENTS; i++) {
        load.fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sotto_bench_expect(connect(load.fds[i], (const struct sockaddr *)&to, sizeof to) == 0,
                           strerror(errno));
        (void)setsockopt(load.fds[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    }
}

static bool read_answer(int fd)
{
    char text[4096];
    size_t len = 0, whole = SIZE_MAX;

    while (len < whole) {
        const ssize_t n = recv(fd, text + len, sizeof text - 1 - len, 0);
        const char *end;

        if (n <= 0)
            return false;
        len += (size_t)n;
        text[len] = 0;
        end = strstr(text, "\r\n\r\n");
        if (end)
            whole = (size_t)(end - text) + 4 + 16 + ANSWER + 16;
    }
    return memcmp(text, "HTTP/1.1 200", 12) == 0;
}

static void round_trips(void)
{
    for (size_t i = 0; i < CLIENTS; i++)
        sotto_bench_expect(send(load.fds[i], load.request, load.request_len, MSG_NOSIGNAL) ==
                               (ssize_t)load.request_len,
                           "a request was not sent");
    for (size_t i = 0; i < CLIENTS; i++)
        sotto_bench_expect(read_answer(load.fds[i]), "a request was not answered");
}

static double seconds_of(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double relay_seconds(void)
{
    return seconds_of(CLOCK_PROCESS_CPUTIME_ID) - seconds_of(CLOCK_THREAD_CPUTIME_ID) -
           seconds_of(load.gateway_clock);
}

static void close_all(void)
{
    static const char *const files[] = {"gateways", "key", "relay.db", "relay.db-wal",
                                        "relay.db-shm"};
    char path[128];

    for (size_t i = 0; i < CLIENTS; i++)
        (void)close(load.fds[i]);
    sotto_host_close(load.relay);
    sotto_http_server_close(load.gateway);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        path_of(path, sizeof path, files[i]);
        (void)unlink(path);
    }
    (void)rmdir(load.directory);
}

static void measure_relay(const sotto_bench *b)
{
    sotto_err err = {0};
    double begin, cpu;
    size_t rounds = 0;

    open_relay(&err);
    dial();
    round_trips();
    begin = seconds_of(CLOCK_MONOTONIC);
    cpu = relay_seconds();
    do {
        round_trips();
        rounds++;
    } while (seconds_of(CLOCK_MONOTONIC) - begin < b->seconds);
    cpu = relay_seconds() - cpu;
    begin = seconds_of(CLOCK_MONOTONIC) - begin;
    sotto_bench_note(b, "anonymity/relay-requests-per-core", "/s",
                     (double)(rounds * CLIENTS) / cpu);
    sotto_bench_note(b, "anonymity/relay-round-trip-of-64", "ms", begin * 1000 / (double)rounds);
    close_all();
}

void sotto_bench_oblivious(const sotto_bench *b)
{
    if (sotto_bench_wanted(b, "anonymity/x25519-bare") ||
        sotto_bench_wanted(b, "anonymity/gateway-alone") ||
        sotto_bench_wanted(b, "anonymity/gateway-batch"))
        measure_gateway(b);
    if (sotto_bench_wanted(b, "anonymity/relay-requests-per-core"))
        measure_relay(b);
}
