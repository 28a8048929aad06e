#define _POSIX_C_SOURCE 200809L
#include "support/attested.h"

#include "base/arena.h"
#include "base/hex.h"
#include "serve/issuer/issuer_service.h"
#include "support/database.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

sotto_serve_config sotto_test_attester_config;
static sotto_serve_config issuer_config;

void sotto_test_write_file(sotto_test *t, char *path, const char *directory, const char *name,
                           const char *text)
{
    FILE *file;

    (void)snprintf(path, 300, "%s/%s", directory, name);
    file = fopen(path, "w");
    CHECK(t, file && fputs(text, file) >= 0 && fclose(file) == 0 && chmod(path, 0600) == 0);
}

/* Reads a file of these lines, with the tokens' files beside it. */
static void configure(sotto_test *t, sotto_serve_config *config, const char *lines)
{
    const char *directory = sotto_test_directory(t);
    char path[300];

    sotto_test_write_file(t, path, directory, "operator", "operator-of-the-test\n");
    sotto_test_write_file(t, path, directory, "shared", "attester-of-the-test\n");
    sotto_test_write_file(t, path, directory, "arc", "attester-at-the-servers\n");
    sotto_test_write_file(t, path, directory, "service.ini", lines);
    sotto_serve_config_clear(config);
    CHECK_OK(t, sotto_serve_config_read(config, &(sotto_config_sources){.file = path}, &t->err));
    config->host.database = sotto_test_address(t);
}

void sotto_test_attester_start(sotto_test *t, sotto_test_attested *d)
{
    CHECK_OK(t, sotto_host_open(&d->attester, sotto_test_attester_config.service,
                                &sotto_test_attester_config.host, sotto_test_attester_config.own,
                                &t->err));
}

void sotto_test_attested_open(sotto_test *t, sotto_test_attested *d,
                              const sotto_attestation *attestation)
{
    sotto_test_attested_open_with(t, d, attestation, "");
}

void sotto_test_attested_open_with(sotto_test *t, sotto_test_attested *d,
                                   const sotto_attestation *attestation, const char *more)
{
    char lines[900];

    configure(t, &issuer_config,
              "[issuer]\nlisten = 127.0.0.1:0\noperations = 127.0.0.1:0\n"
              "operator_token = operator\nattester_token = shared\ndatastore_key = issuer.key\n");
    CHECK_OK(t, sotto_host_open(&d->issuer, issuer_config.service, &issuer_config.host,
                                issuer_config.own, &t->err));
    (void)snprintf(lines, sizeof lines,
                   "[attester]\nlisten = 127.0.0.1:0\noperations = 127.0.0.1:0\n"
                   "operator_token = operator\nissuer_token = shared\n"
                   "datastore_key = attester.key\nissuer = http://127.0.0.1:%u/\n%s%s",
                   sotto_host_port(d->issuer), strstr(more, "peer_check") ? "" : "peer_check = 0\n",
                   more);
    configure(t, &sotto_test_attester_config, lines);
    ((sotto_attester_config *)sotto_test_attester_config.own)->attestation = attestation;
    sotto_test_attester_start(t, d);
    CHECK_OK(t, sotto_http_client_open(&d->client, &(sotto_http_client_options){0}, &t->err));
}

void sotto_test_attested_close(sotto_test_attested *d)
{
    sotto_http_client_close(d->client);
    sotto_host_close(d->attester);
    sotto_host_close(d->issuer);
}

sotto_http_response sotto_test_attested_ask(sotto_test *t, const sotto_test_attested *d,
                                            const sotto_host *host, sotto_http_method method,
                                            const char *path, const char *who, sotto_bytes body)
{
    char url[400];
    const sotto_http_field fields[] = {{"Authorization", who},
                                       {"Content-Type", SOTTO_ATTESTED_TYPE}};
    sotto_http_response response;

    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/%s", sotto_host_port(host), path);
    const sotto_http_call call = {.method = method,
                                  .url = url,
                                  .fields = fields,
                                  .field_count = 2,
                                  .body = body,
                                  .attempts = 1};
    CHECK_OK(t, sotto_http_call_wait(d->client, &response, &call, &t->arena, &t->err));
    return response;
}

void sotto_test_attested_enrol(sotto_test *t, const sotto_test_attested *d,
                               const uint8_t seed[SOTTO_DEVICE_ENROLMENT])
{
    uint8_t key[SOTTO_DEVICE_ENROLMENT];
    char path[100] = "devices/";

    CHECK_OK(t, sotto_device_enrolment_key(key, seed, &t->err));
    sotto_hex_encode(path + 8, sotto_bytes_of(key, sizeof key));
    CHECK_EQUAL(t, 204,
                sotto_test_attested_ask(t, d, d->attester, SOTTO_HTTP_PUT, path,
                                        SOTTO_TEST_OPERATOR, (sotto_bytes){0})
                    .status);
}

void sotto_test_attested_collect(sotto_test *t, const sotto_test_attested *d, const char *analysis,
                                 int64_t opens, int64_t closes)
{
    char path[200];

    (void)snprintf(path, sizeof path, "collections/%s/%lld/%lld", analysis, (long long)opens,
                   (long long)closes);
    CHECK_EQUAL(t, 201,
                sotto_test_attested_ask(t, d, d->issuer, SOTTO_HTTP_PUT, path, SOTTO_TEST_OPERATOR,
                                        (sotto_bytes){0})
                    .status);
}

const char *sotto_test_attested_list(sotto_test *t, const sotto_test_attested *d)
{
    const sotto_http_response list =
        sotto_test_attested_ask(t, d, d->issuer, SOTTO_HTTP_GET, "keys", "none", (sotto_bytes){0});
    char *text = sotto_arena_take(&t->arena, list.body.len + 1); /* zeroed */

    CHECK_EQUAL(t, 200, list.status);
    memcpy(text, list.body.data, list.body.len);
    return text;
}

/* ---- a device's host --------------------------------------------------------------------------------------------- */

sotto_status sotto_test_attested_carry(sotto_test *t, const sotto_test_attested *d,
                                       sotto_exchange *exchange)
{
    const sotto_http_field type = {"Content-Type", exchange->media_type};
    sotto_exchange_head head = {.size = sizeof head};
    uint8_t *body = sotto_arena_take(&t->arena, (size_t)exchange->body_length);
    char answered[100] = "";
    sotto_http_response response;
    sotto_bytes value;
    size_t len;

    SOTTO_TRY(exchange->read(exchange, 0, body, (size_t)exchange->body_length, &len));
    const sotto_http_call call = {.method = SOTTO_HTTP_POST,
                                  .url = exchange->url,
                                  .fields = &type,
                                  .field_count = 1,
                                  .body = sotto_bytes_of(body, len),
                                  .attempts = 1};
    SOTTO_TRY(sotto_http_call_wait(d->client, &response, &call, &t->arena, NULL));
    head.status = response.status;
    if (sotto_http_response_field(&response, "content-type", &value)) {
        (void)snprintf(answered, sizeof answered, "%.*s", (int)value.len, (const char *)value.data);
        head.media_type = answered;
    }
    SOTTO_TRY(exchange->begin(exchange, &head));
    return exchange->take(exchange, response.body.data, response.body.len);
}
