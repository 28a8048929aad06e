#define _GNU_SOURCE
#include "between.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "dap/dap.h"
#include "seal/ohttp/bhttp.h"
#include "seal/ohttp/date.h"
#include "seal/ohttp/ohttp.h"
#include "serve/aggregator/aggregator_service.h"
#include "serve/gateway/gateway_service.h"
#include "serve/host/host.h"
#include "serve/relay/relay_service.h"
#include "sotto/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* As devices pad their messages (device/oblivious.h). */
enum { PAD = 1024, BESIDE = 512, OUTSIDE = 7 + 32 + 16 };

/* ---- up and down -------------------------------------------------------------------------------------------------- */

static sotto_status start(sotto_deployment *d, sotto_replica *r, const char *service,
                          const char *name, unsigned port, const char *path, const char *detail,
                          sotto_err *err)
{
    FILE *table;
    bool good;

    *r = (sotto_replica){.service = service, .detail = detail, .to = -1, .from = -1};
    (void)snprintf(r->files, sizeof r->files, "%.200s/%s", d->directory, service);
    SOTTO_TRY(sotto_free_port(&r->port, err));
    table = fopen(r->files, "w");
    good = table && fprintf(table, "%s http://127.0.0.1:%u/%s\n", name, port, path) > 0;
    if (table)
        good = fclose(table) == 0 && good;
    if (!good)
        return sotto_fail(err, SOTTO_IO, "no table of URLs");
    return sotto_replica_start(d, r, err);
}

static sotto_status fetch_keys(sotto_between *b, sotto_err *err)
{
    char url[96];
    sotto_http_client *client = NULL;
    sotto_http_response answer;
    sotto_arena arena;
    size_t count = 0;

    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/%s", b->gateway.port, SOTTO_GATEWAY_PATH);
    const sotto_http_call call = {
        .method = SOTTO_HTTP_GET, .url = url, .timeout_ms = 10000, .max_response = sizeof b->keys};
    sotto_arena_init(&arena, 1 << 20);
    sotto_status status = sotto_http_client_open(&client, &(sotto_http_client_options){0}, err);
    if (status == SOTTO_OK)
        status = sotto_http_call_wait(client, &answer, &call, &arena, err);
    if (status == SOTTO_OK && (answer.status != 200 || answer.body.len > sizeof b->keys))
        status = sotto_fail(err, SOTTO_IO, "the gateway has no keys");
    if (status == SOTTO_OK) {
        memcpy(b->keys, answer.body.data, answer.body.len);
        status = sotto_ohttp_keys_decode(&b->to, 1, &count,
                                         sotto_bytes_of(b->keys, answer.body.len), err);
    }
    sotto_http_client_close(client);
    sotto_arena_clear(&arena);
    return status;
}

sotto_status sotto_between_start(sotto_between *b, sotto_deployment *d, unsigned mix_least,
                                 unsigned mix_delay_ms, sotto_err *err)
{
    static char mix[32];

    memset(b, 0, sizeof *b);
    b->deployment = d;
    (void)snprintf(mix, sizeof mix, "%u,%u", mix_least, mix_delay_ms);
    SOTTO_TRY(start(d, &b->gateway, "gateway", d->leader_url, d->leaders[0].port, "", "-", err));
    SOTTO_TRY(start(d, &b->relay, "relay", "g", b->gateway.port, SOTTO_GATEWAY_PATH, mix, err));
    return fetch_keys(b, err);
}

void sotto_between_end(sotto_between *b)
{
    sotto_replica_end(&b->relay, false);
    sotto_replica_end(&b->gateway, false);
}

/* ---- requests ------------------------------------------------------------------------------------------------------- */

static size_t padded(size_t reports)
{
    return ((reports + BESIDE) / PAD + 1) * PAD;
}

size_t sotto_between_size(size_t reports)
{
    return padded(reports) + OUTSIDE;
}

static sotto_status encode(const sotto_between *b, sotto_buf *out, sotto_bytes reports,
                           sotto_err *err)
{
    const sotto_deployment *d = b->deployment;
    const char *type = sotto_dap_media_type(SOTTO_DAP_UPLOAD_REQ);
    char id[SOTTO_DAP_ID_TEXT_MAX], path[128], authority[32], date[SOTTO_HTTP_DATE];
    const int64_t now = (int64_t)time(NULL);
    uint8_t lines[128];
    sotto_buf fields = sotto_buf_over(lines, sizeof lines);
    sotto_writer w = sotto_writer_on(&fields);

    sotto_dap_id_encode(id, sotto_bytes_of(d->task.id, sizeof d->task.id));
    (void)snprintf(path, sizeof path, "/tasks/%s/reports", id);
    (void)snprintf(authority, sizeof authority, "127.0.0.1:%u", d->leaders[0].port);
    sotto_http_date_write(date, now - now % 60);
    sotto_bhttp_field_write(&w, "date", sotto_bytes_of(date, sizeof date));
    sotto_bhttp_field_write(&w, "content-type", sotto_bytes_of(type, strlen(type)));
    SOTTO_TRY(sotto_writer_finish(&w, "fields", err));
    return sotto_bhttp_encode(
        out,
        &(sotto_bhttp){.method = sotto_bytes_of("POST", 4),
                       .scheme = sotto_bytes_of("http", 4),
                       .authority = sotto_bytes_of(authority, strlen(authority)),
                       .path = sotto_bytes_of(path, strlen(path)),
                       .fields = sotto_buf_bytes(&fields),
                       .content = reports},
        padded(reports.len), err);
}

sotto_status sotto_between_seal(sotto_between *b, sotto_buf *out, sotto_bytes reports,
                                sotto_err *err)
{
    const size_t size = padded(reports.len);
    uint8_t ikm[SOTTO_HPKE_MAX_PRIVATE_KEY], *memory = sotto_alloc(size);
    sotto_buf plain = sotto_buf_over(memory, size);
    sotto_ohttp_exchange exchange;
    sotto_status status = SOTTO_OK;

    if (!memory)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a request");
    status = encode(b, &plain, reports, err);
    if (status == SOTTO_OK)
        status = sotto_random_bytes(ikm, sizeof ikm, err);
    if (status == SOTTO_OK)
        status = sotto_ohttp_request_seal(&exchange, out, &b->to, sotto_bytes_of(ikm, sizeof ikm),
                                          sotto_buf_bytes(&plain), err);
    sotto_release(memory, size);
    b->sealed++;
    return status;
}

/* ---- from inside ------------------------------------------------------------------------------------------------------ */

/* With its defaults but for the operator's files. */
static sotto_status open_aggregator(sotto_host **out, const char *files,
                                    const sotto_host_options *options, sotto_err *err)
{
    char key[300], token[300];
    const sotto_aggregator_config config = {.key = key,
                                            .operator_token = token,
                                            .max_participants = 16384,
                                            .max_rounds = 16,
                                            .max_uploads = 64,
                                            .max_vector = 8 << 20};

    (void)snprintf(key, sizeof key, "%.250s.signing", files);
    (void)snprintf(token, sizeof token, "%.250s.token", files);
    return sotto_host_open(out, &sotto_aggregator_service, options, &config, err);
}

static sotto_status open_host(sotto_host **out, char **argv, sotto_err *err)
{
    char listen[32], database[300], key[300];
    const sotto_host_options options = {
        .listen = listen, .database = database, .datastore_key = key};
    sotto_relay_config relay = {.gateways = argv[3], .max_request = 1 << 20};
    const sotto_gateway_config gateway = {.targets = argv[3],
                                          .replay_window = 600,
                                          .replay_most = 4000000,
                                          .max_request = 1 << 20,
                                          .answer_pad = 1024};

    (void)snprintf(listen, sizeof listen, "127.0.0.1:%s", argv[5]);
    (void)snprintf(database, sizeof database, "sqlite:%.250s.db", argv[3]);
    (void)snprintf(key, sizeof key, "%.250s.key", argv[3]);
    if (strcmp(argv[2], "gateway") == 0)
        return sotto_host_open(out, &sotto_gateway_service, &options, &gateway, err);
    if (strcmp(argv[2], "aggregator") == 0)
        return open_aggregator(out, argv[3], &options, err);
    char *end;
    relay.mix_least = strtoull(argv[4], &end, 10);
    relay.mix_delay_ms = *end ? strtoull(end + 1, NULL, 10) : 0;
    return sotto_host_open(out, &sotto_relay_service, &options, &relay, err);
}

bool sotto_between_serve(int argc, char **argv)
{
    sotto_host *host = NULL;
    sotto_err err = {0};
    char line[64];

    if (argc != 8 || (strcmp(argv[2], "relay") != 0 && strcmp(argv[2], "gateway") != 0 &&
                      strcmp(argv[2], "aggregator") != 0))
        return false;
    if (open_host(&host, argv, &err) != SOTTO_OK) {
        printf("can't start: %s\n", err.reason);
        return true;
    }
    printf("ready\n");
    (void)fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        printf("0 0 0 0\n"); /* whatever it is asked: its CPU time is known from outside */
        (void)fflush(stdout);
    }
    sotto_host_close(host);
    return true;
}
