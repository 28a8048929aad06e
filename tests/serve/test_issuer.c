/* The issuer as its operator, the attester and strangers see it, over HTTP. */
#define _POSIX_C_SOURCE 200809L
#include "base/hex.h"
#include "seal/token/token_batch.h"
#include "seal/token/type2.h"
#include "serve/host/options.h"
#include "serve/issuer/issuer_service.h"
#include "support/database.h"
#include "transport/http_client.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define OPERATOR "Bearer operator-of-the-test"
#define ATTESTER "Bearer attester-of-the-test"

typedef struct deployment {
    sotto_host *host;
    sotto_http_client *client;
    const char *address;
} deployment;

static sotto_serve_config config;

static void write_secret(sotto_test *t, const char *directory, const char *name, const char *text)
{
    char path[300];
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    file = fopen(path, "w");
    CHECK(t, file && fputs(text, file) >= 0 && fclose(file) == 0 && chmod(path, 0600) == 0);
}

static void start(sotto_test *t, deployment *d)
{
    CHECK_OK(t, sotto_host_open(&d->host, config.service, &config.host, config.own, &t->err));
}

static void open_issuer(sotto_test *t, deployment *d)
{
    const char *directory = sotto_test_directory(t);
    char path[300];
    FILE *file;

    memset(d, 0, sizeof *d);
    write_secret(t, directory, "operator", "operator-of-the-test\n");
    write_secret(t, directory, "attester", "attester-of-the-test\n");
    (void)snprintf(path, sizeof path, "%s/issuer.ini", directory);
    file = fopen(path, "w");
    CHECK(t, file != NULL);
    CHECK(t, fprintf(file,
                     "[issuer]\nlisten = 127.0.0.1:0\noperations = 127.0.0.1:0\n"
                     "operator_token = %s/operator\nattester_token = %s/attester\n"
                     "datastore_key = %s/key\n",
                     directory, directory, directory) > 0);
    CHECK_EQUAL(t, 0, fclose(file));
    sotto_serve_config_clear(&config);
    CHECK_OK(t, sotto_serve_config_read(&config, &(sotto_config_sources){.file = path}, &t->err));
    CHECK(t, config.service == &sotto_issuer_service);
    d->address = sotto_test_address(t);
    config.host.database = d->address;
    CHECK_OK(t, sotto_http_client_open(&d->client, &(sotto_http_client_options){0}, &t->err));
    start(t, d);
}

static void close_issuer(deployment *d)
{
    sotto_http_client_close(d->client);
    sotto_host_close(d->host);
}

static sotto_http_response ask(sotto_test *t, const deployment *d, sotto_http_method method,
                               const char *path, const char *who, const char *type,
                               sotto_bytes body)
{
    char url[400];
    const sotto_http_field fields[] = {{"Authorization", who}, {"Content-Type", type}};
    sotto_http_response response;

    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/%s", sotto_host_port(d->host), path);
    const sotto_http_call call = {.method = method,
                                  .url = url,
                                  .fields = fields,
                                  .field_count = 2,
                                  .body = body,
                                  .attempts = 1};
    CHECK_OK(t, sotto_http_call_wait(d->client, &response, &call, &t->arena, &t->err));
    return response;
}

static sotto_http_response put(sotto_test *t, const deployment *d, const char *path,
                               const char *who)
{
    return ask(t, d, SOTTO_HTTP_PUT, path, who, "text/plain", sotto_bytes_of(NULL, 0));
}

static sotto_http_response request_with(sotto_test *t, const deployment *d,
                                        const uint8_t id[SOTTO_TOKEN_KEY_ID], const char *who,
                                        const char *type, sotto_bytes body)
{
    char path[120], hex[2 * SOTTO_TOKEN_KEY_ID + 1];

    sotto_hex_encode(hex, sotto_bytes_of(id, SOTTO_TOKEN_KEY_ID));
    (void)snprintf(path, sizeof path, "keys/%s/token-request", hex);
    return ask(t, d, SOTTO_HTTP_POST, path, who, type, body);
}

static const char asked[] = "application/private-token-request";

/* A device's side of one token. */
typedef struct device {
    sotto_type2_key key;
    sotto_type2_pending pending;
    uint8_t digest[SOTTO_TOKEN_DIGEST], request[SOTTO_TYPE2_REQUEST];
} device;

static void prepare(sotto_test *t, device *v, sotto_bytes spki)
{
    sotto_type2_random random;

    memset(v, 0, sizeof *v);
    CHECK_OK(t, sotto_type2_key_decode(&v->key, spki, &t->err));
    CHECK_OK(t, sotto_type2_draw(&random, &v->key, &t->err));
    CHECK_OK(t, sotto_type2_request(&v->key, &v->pending, v->request, v->digest, &random, &t->err));
}

static sotto_bytes request_of(const device *v)
{
    return sotto_bytes_of(v->request, sizeof v->request);
}

static void a_collection_has_one_key(sotto_test *t)
{
    deployment d;

    open_issuer(t, &d);
    const sotto_http_response made = put(t, &d, "collections/keyboard/100/99999999999", OPERATOR);
    CHECK_EQUAL(t, 201, made.status);
    CHECK_EQUAL(t, SOTTO_TYPE2_SPKI, made.body.len);
    const sotto_http_response again = put(t, &d, "collections/keyboard/100/99999999999", OPERATOR);
    CHECK_EQUAL(t, 200, again.status);
    CHECK_BYTES(t, made.body.data, again.body.data, SOTTO_TYPE2_SPKI);
    CHECK_EQUAL(t, 409, put(t, &d, "collections/keyboard/100/99999999998", OPERATOR).status);
    const sotto_http_response other = put(t, &d, "collections/keyboard/200/99999999999", OPERATOR);
    CHECK_EQUAL(t, 201, other.status);
    CHECK(t, memcmp(made.body.data, other.body.data, SOTTO_TYPE2_SPKI) != 0);
    CHECK_EQUAL(t, 400, put(t, &d, "collections/key%22board/100/200", OPERATOR).status);
    CHECK_EQUAL(t, 400, put(t, &d, "collections/keyboard/200/200", OPERATOR).status);
    CHECK_EQUAL(t, 400, put(t, &d, "collections/keyboard/x/200", OPERATOR).status);
    CHECK_EQUAL(t, 2, sotto_test_ask_number(t, d.host->db, "SELECT count(*) FROM token_key"));
    close_issuer(&d);
}

/* ---- many who ask at once ---------------------------------------------------------------------------------------- */

enum { AT_ONCE = 6 };

typedef struct answers {
    atomic_uint done, made;
    uint8_t spki[AT_ONCE][SOTTO_TYPE2_SPKI];
} answers;

static void on_answer(void *context, sotto_status status, const sotto_http_response *response,
                      const sotto_err *err)
{
    answers *a = context;
    const unsigned n = atomic_load(&a->done); /* the client has one thread */

    (void)err;
    if (status == SOTTO_OK && response->body.len == SOTTO_TYPE2_SPKI) {
        memcpy(a->spki[n], response->body.data, SOTTO_TYPE2_SPKI);
        atomic_fetch_add(&a->made, response->status == 201);
    }
    atomic_store(&a->done, n + 1);
}

static void those_who_add_it_at_once_get_the_same_key(sotto_test *t)
{
    static answers a;
    const sotto_http_field field = {"Authorization", OPERATOR};
    char url[200];
    deployment d;

    memset(&a, 0, sizeof a);
    open_issuer(t, &d);
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/collections/a/1/99999999999",
                   sotto_host_port(d.host));
    const sotto_http_call call = {
        .method = SOTTO_HTTP_PUT, .url = url, .fields = &field, .field_count = 1};
    for (unsigned i = 0; i < AT_ONCE; i++)
        CHECK_OK(t, sotto_http_call_start(d.client, &call, on_answer, &a, &t->err));
    for (uint64_t until = 0; atomic_load(&a.done) < AT_ONCE && sotto_test_waits(&until, 20);)
        ;
    CHECK_EQUAL(t, AT_ONCE, atomic_load(&a.done));
    CHECK_EQUAL(t, 1, atomic_load(&a.made));
    for (unsigned i = 1; i < AT_ONCE; i++)
        CHECK_BYTES(t, a.spki[0], a.spki[i], SOTTO_TYPE2_SPKI);
    CHECK_EQUAL(t, 1, sotto_test_ask_number(t, d.host->db, "SELECT count(*) FROM token_key"));
    close_issuer(&d);
}

/* ---- tokens ------------------------------------------------------------------------------------------------------ */

static void a_token_is_issued_also_after_a_restart(sotto_test *t)
{
    uint8_t token[SOTTO_TYPE2_TOKEN];
    sotto_token read;
    deployment d;
    device v;

    open_issuer(t, &d);
    prepare(t, &v, put(t, &d, "collections/keyboard/100/99999999999", OPERATOR).body);
    for (int round = 0; round < 2; round++) {
        const sotto_http_response response =
            request_with(t, &d, v.key.id, ATTESTER, asked, request_of(&v));
        sotto_bytes type;

        CHECK_EQUAL(t, 200, response.status);
        CHECK(t, sotto_http_response_field(&response, "content-type", &type) &&
                     sotto_http_is_media_type(type, "application/private-token-response"));
        CHECK_OK(t, sotto_type2_finish(&v.key, token, &v.pending, response.body, &t->err));
        CHECK_OK(t, sotto_token_decode(&read, sotto_bytes_of(token, sizeof token), &t->err));
        CHECK_OK(t, sotto_type2_verify(&v.key, &read, v.digest, &t->err));
        sotto_host_close(d.host);
        start(t, &d);
    }
    const sotto_http_response list =
        ask(t, &d, SOTTO_HTTP_GET, "keys", "none", "text/plain", sotto_bytes_of(NULL, 0));
    CHECK_EQUAL(t, 200, list.status);
    CHECK(t, sotto_test_holds(list.body,
                              sotto_bytes_of("\"analysis\":\"keyboard\",\"opens\":100,", 34)));
    sotto_type2_key_clear(&v.key);
    close_issuer(&d);
}

static void only_the_operator_adds_collections(sotto_test *t)
{
    deployment d;

    open_issuer(t, &d);
    CHECK_EQUAL(t, 401, put(t, &d, "collections/keyboard/1/99999999999", ATTESTER).status);
    CHECK_EQUAL(t, 401, put(t, &d, "collections/keyboard/1/99999999999", "Basic x").status);
    CHECK_EQUAL(t, 0, sotto_test_ask_number(t, d.host->db, "SELECT count(*) FROM token_key"));
    close_issuer(&d);
}

static void only_the_attester_is_answered(sotto_test *t)
{
    deployment d;
    device v;

    open_issuer(t, &d);
    prepare(t, &v, put(t, &d, "collections/keyboard/100/99999999999", OPERATOR).body);
    CHECK_EQUAL(t, 401, request_with(t, &d, v.key.id, OPERATOR, asked, request_of(&v)).status);
    CHECK_EQUAL(t, 401, request_with(t, &d, v.key.id, "Bearer x", asked, request_of(&v)).status);
    sotto_type2_key_clear(&v.key);
    close_issuer(&d);
}

static void nothing_is_issued_after_the_collection(sotto_test *t)
{
    deployment d;
    device v;

    open_issuer(t, &d);
    prepare(t, &v, put(t, &d, "collections/keyboard/100/99999999999", OPERATOR).body);
    sotto_test_do(t, d.host->db, "UPDATE token_key SET closes = 200"); /* as time would */
    CHECK_EQUAL(t, 410, request_with(t, &d, v.key.id, ATTESTER, asked, request_of(&v)).status);
    sotto_type2_key_clear(&v.key);
    close_issuer(&d);
}

/* A typing error in a year would otherwise make a key under which nothing is ever issued. */
static void a_window_that_closed_gets_no_key(sotto_test *t)
{
    deployment d;

    open_issuer(t, &d);
    CHECK_EQUAL(t, 410, put(t, &d, "collections/keyboard/100/200", OPERATOR).status);
    CHECK_EQUAL(t, 0, sotto_test_ask_number(t, d.host->db, "SELECT count(*) FROM token_key"));
    CHECK_EQUAL(t, 201, put(t, &d, "collections/keyboard/100/99999999999", OPERATOR).status);
    sotto_test_do(t, d.host->db, "UPDATE token_key SET closes = 200");
    CHECK_EQUAL(t, 200,
                put(t, &d, "collections/keyboard/100/200", OPERATOR).status); /* it is there */
    close_issuer(&d);
}

/* The list would else grow until it is too long to be served. The collection still gets no second key. */
static void a_key_that_closed_long_ago_is_erased_and_not_listed(sotto_test *t)
{
    const sotto_bytes none = {NULL, 0};
    deployment d;
    device v;

    open_issuer(t, &d);
    prepare(t, &v, put(t, &d, "collections/old/100/99999999999", OPERATOR).body);
    sotto_test_do(t, d.host->db, "UPDATE token_key SET closes = 200"); /* as time would */
    CHECK_EQUAL(t, 201, put(t, &d, "collections/keyboard/100/99999999999", OPERATOR).status);
    const sotto_http_response list = ask(t, &d, SOTTO_HTTP_GET, "keys", "none", "text/plain", none);
    CHECK_EQUAL(t, 200, list.status);
    CHECK(t, sotto_test_holds(list.body, sotto_bytes_of("\"keyboard\"", 10)));
    CHECK(t, !sotto_test_holds(list.body, sotto_bytes_of("\"old\"", 5)));
    CHECK_EQUAL(t, 1,
                sotto_test_ask_number(t, d.host->db,
                                      "SELECT count(*) FROM token_key WHERE length(secret) = 0"));
    CHECK_EQUAL(t, 410, request_with(t, &d, v.key.id, ATTESTER, asked, request_of(&v)).status);
    CHECK_EQUAL(t, 409, put(t, &d, "collections/old/100/99999999999", OPERATOR).status);
    sotto_type2_key_clear(&v.key);
    close_issuer(&d);
}

/* Its digits would not fit the number that they are added to. */
static void a_time_of_many_digits_is_refused(sotto_test *t)
{
    deployment d;

    open_issuer(t, &d);
    CHECK_EQUAL(t, 400, put(t, &d, "collections/keyboard/100/1000000000000", OPERATOR).status);
    CHECK_EQUAL(
        t, 400,
        put(t, &d, "collections/keyboard/1/99999999999999999999999999999999", OPERATOR).status);
    CHECK_EQUAL(t, 0, sotto_test_ask_number(t, d.host->db, "SELECT count(*) FROM token_key"));
    close_issuer(&d);
}

static void bad_requests_are_refused(sotto_test *t)
{
    uint8_t wrong[SOTTO_TYPE2_REQUEST];
    const sotto_bytes body = sotto_bytes_of(wrong, sizeof wrong);
    deployment d;
    device v;

    open_issuer(t, &d);
    prepare(t, &v, put(t, &d, "collections/keyboard/100/99999999999", OPERATOR).body);
    const uint8_t *id = v.key.id;
    CHECK_EQUAL(t, 415, request_with(t, &d, id, ATTESTER, "text/plain", request_of(&v)).status);
    memcpy(wrong, v.request, sizeof wrong);
    CHECK_EQUAL(t, 400,
                request_with(t, &d, id, ATTESTER, asked, sotto_bytes_of(wrong, 258)).status);
    wrong[2] ^= 1; /* another key */
    CHECK_EQUAL(t, 400, request_with(t, &d, id, ATTESTER, asked, body).status);
    wrong[2] ^= 1;
    wrong[1] = 1; /* another type */
    CHECK_EQUAL(t, 400, request_with(t, &d, id, ATTESTER, asked, body).status);
    wrong[1] = 2;
    memset(wrong + 3, 0xff, SOTTO_TYPE2_NUMBER); /* not below the modulus */
    CHECK_EQUAL(t, 400, request_with(t, &d, id, ATTESTER, asked, body).status);
    uint8_t unknown[SOTTO_TOKEN_KEY_ID] = {1};
    CHECK_EQUAL(t, 404, request_with(t, &d, unknown, ATTESTER, asked, request_of(&v)).status);
    CHECK_EQUAL(
        t, 404,
        ask(t, &d, SOTTO_HTTP_POST, "keys/xyz/token-request", ATTESTER, asked, request_of(&v))
            .status);
    CHECK_EQUAL(t, 200, request_with(t, &d, id, ATTESTER, asked, request_of(&v)).status);
    sotto_type2_key_clear(&v.key);
    close_issuer(&d);
}

enum { TOGETHER = 3, ANSWER = SOTTO_TOKEN_BATCH_ANSWER };

static sotto_http_response request_many(sotto_test *t, const deployment *d, const device *v,
                                        const char *who, const char *type, sotto_bytes body)
{
    char path[120], hex[2 * SOTTO_TOKEN_KEY_ID + 1];

    sotto_hex_encode(hex, sotto_bytes_of(v->key.id, SOTTO_TOKEN_KEY_ID));
    (void)snprintf(path, sizeof path, "keys/%s/token-requests", hex);
    return ask(t, d, SOTTO_HTTP_POST, path, who, type, body);
}

static void many_requests_have_an_answer_each(sotto_test *t)
{
    static const char many[] = SOTTO_TOKEN_BATCH_TYPE;
    static uint8_t body[(SOTTO_TOKEN_BATCH + 1) * SOTTO_TYPE2_REQUEST];
    const uint8_t zeros[SOTTO_TYPE2_RESPONSE] = {0};
    uint8_t token[SOTTO_TYPE2_TOKEN];
    device v[TOGETHER];
    deployment d;

    open_issuer(t, &d);
    const sotto_bytes spki = put(t, &d, "collections/keyboard/100/99999999999", OPERATOR).body;
    for (size_t i = 0; i < TOGETHER; i++) {
        prepare(t, &v[i], spki);
        memcpy(body + i * SOTTO_TYPE2_REQUEST, v[i].request, SOTTO_TYPE2_REQUEST);
    }
    memset(body + SOTTO_TYPE2_REQUEST + 3, 0xff, SOTTO_TYPE2_NUMBER); /* not below the modulus */
    const sotto_bytes three = sotto_bytes_of(body, TOGETHER * SOTTO_TYPE2_REQUEST);
    const sotto_http_response response = request_many(t, &d, &v[0], ATTESTER, many, three);
    CHECK_EQUAL(t, 200, response.status);
    CHECK_EQUAL(t, TOGETHER * ANSWER, response.body.len);
    CHECK_EQUAL(t, SOTTO_TOKEN_BATCH_REFUSED, response.body.data[ANSWER]);
    CHECK_BYTES(t, zeros, response.body.data + ANSWER + 1, sizeof zeros);
    for (size_t i = 0; i < TOGETHER; i += 2) {
        const uint8_t *at = response.body.data + i * ANSWER;

        CHECK_EQUAL(t, SOTTO_TOKEN_BATCH_SIGNED, at[0]);
        CHECK_OK(t, sotto_type2_finish(&v[i].key, token, &v[i].pending,
                                       sotto_bytes_of(at + 1, SOTTO_TYPE2_RESPONSE), &t->err));
    }
    CHECK_EQUAL(t, 401, request_many(t, &d, &v[0], OPERATOR, many, three).status);
    CHECK_EQUAL(t, 415, request_many(t, &d, &v[0], ATTESTER, asked, three).status);
    CHECK_EQUAL(
        t, 400,
        request_many(t, &d, &v[0], ATTESTER, many, sotto_bytes_of(body, three.len - 1)).status);
    CHECK_EQUAL(t, 400, request_many(t, &d, &v[0], ATTESTER, many, sotto_bytes_of(body, 0)).status);
    CHECK_EQUAL(
        t, 413,
        request_many(t, &d, &v[0], ATTESTER, many, sotto_bytes_of(body, sizeof body)).status);
    for (size_t i = 0; i < TOGETHER; i++)
        sotto_type2_key_clear(&v[i].key);
    close_issuer(&d);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_collection_has_one_key),
        CASE(those_who_add_it_at_once_get_the_same_key),
        CASE(a_token_is_issued_also_after_a_restart),
        CASE(only_the_operator_adds_collections),
        CASE(only_the_attester_is_answered),
        CASE(nothing_is_issued_after_the_collection),
        CASE(a_window_that_closed_gets_no_key),
        CASE(a_key_that_closed_long_ago_is_erased_and_not_listed),
        CASE(a_time_of_many_digits_is_refused),
        CASE(bad_requests_are_refused),
        CASE(many_requests_have_an_answer_each),
    };
    return RUN_TESTS(argc, argv, cases);
}
