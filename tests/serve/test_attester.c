/* Attester and issuer together, as devices and the operator see them, over HTTP. */
#define _POSIX_C_SOURCE 200809L
#include "asking_device.h"

#include "support/database.h"
#include "support/health.h"
#include "transport/http_client.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define OPERATOR SOTTO_TEST_OPERATOR

typedef sotto_test_attested deployment;
static const sotto_attestation *plug_in;

static void open_all(sotto_test *t, deployment *d)
{
    sotto_test_attested_open(t, d, plug_in);
}

static void close_all(deployment *d)
{
    sotto_test_attested_close(d);
}

static int64_t counted(sotto_test *t, const deployment *d)
{
    return sotto_test_ask_number(t, d->attester->db, "SELECT count(*) FROM issuance");
}

/* All of it, and a device that the attester knows. */
static void open_enrolled(sotto_test *t, deployment *d, asking_device *v)
{
    open_all(t, d);
    asking_make(t, v, 1);
    CHECK_EQUAL(t, 204, asking_enrol(t, d, v, SOTTO_HTTP_PUT, OPERATOR));
}

static void close_with(deployment *d, asking_device *v)
{
    asking_clear(v);
    close_all(d);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void a_device_has_one_token_a_key(sotto_test *t)
{
    uint8_t token[SOTTO_TYPE2_TOKEN];
    sotto_token read;
    deployment d;
    asking_device v;

    open_enrolled(t, &d, &v);
    asking_prepare(t, &d, &v, 100);
    const sotto_http_response first = asking_send(t, &d, &v), again = asking_send(t, &d, &v);
    CHECK_EQUAL(t, 200, first.status);
    CHECK_EQUAL(t, 200, again.status); /* its answer was lost: the same one comes again */
    CHECK_BYTES(t, first.body.data, again.body.data, SOTTO_TYPE2_RESPONSE);
    CHECK_OK(t, sotto_type2_finish(&v.key, token, &v.pending, first.body, &t->err));
    CHECK_OK(t, sotto_token_decode(&read, sotto_bytes_of(token, sizeof token), &t->err));
    CHECK_OK(t, sotto_type2_verify(&v.key, &read, v.digest, &t->err));
    asking_prepare(t, &d, &v, 100);
    CHECK_EQUAL(t, 409, asking_send(t, &d, &v).status);
    asking_prepare(t, &d, &v, 200);
    CHECK_EQUAL(t, 200, asking_send(t, &d, &v).status);
    CHECK_EQUAL(t, 2, counted(t, &d));
    close_with(&d, &v);
}

static void a_count_outlives_restarts_and_enrolments(sotto_test *t)
{
    deployment d;
    asking_device v;

    open_enrolled(t, &d, &v);
    asking_prepare(t, &d, &v, 100);
    CHECK_EQUAL(t, 200, asking_send(t, &d, &v).status);
    sotto_host_close(d.attester);
    sotto_test_attester_start(t, &d);
    CHECK_EQUAL(t, 200, asking_send(t, &d, &v).status);
    CHECK_EQUAL(t, 204, asking_enrol(t, &d, &v, SOTTO_HTTP_DELETE, OPERATOR));
    CHECK_EQUAL(t, 403, asking_send(t, &d, &v).status);
    CHECK_EQUAL(t, 204, asking_enrol(t, &d, &v, SOTTO_HTTP_PUT, OPERATOR));
    asking_prepare(t, &d, &v, 100);
    CHECK_EQUAL(t, 409, asking_send(t, &d, &v).status);
    close_with(&d, &v);
}

/* Devices are told to retry, and the operator why. */
static void an_attester_that_the_issuer_does_not_know_says_so(sotto_test *t)
{
    static const char text[] = "issuer: does not know this attester";
    sotto_attester_config *own;
    deployment d;
    asking_device v;

    open_enrolled(t, &d, &v);
    asking_prepare(t, &d, &v, 100);
    own = sotto_test_attester_config.own;
    const char *right = own->issuer_token;
    own->issuer_token = own->operator_token;
    sotto_host_close(d.attester);
    sotto_test_attester_start(t, &d);
    CHECK(t, !sotto_test_health_says(d.attester, text));
    CHECK_EQUAL(t, 503, asking_send(t, &d, &v).status);
    CHECK(t, sotto_test_health_says(d.attester, text));
    own->issuer_token = right;
    sotto_host_close(d.attester);
    sotto_test_attester_start(t, &d);
    CHECK_EQUAL(t, 200, asking_send(t, &d, &v).status);
    CHECK(t, !sotto_test_health_says(d.attester, text));
    close_with(&d, &v);
}

enum { AT_ONCE = 8 };
static atomic_uint issued, refused;

static void on_answer(void *context, sotto_status status, const sotto_http_response *response,
                      const sotto_err *err)
{
    (void)context;
    (void)err;
    if (status == SOTTO_OK && response->status == 200)
        atomic_fetch_add(&issued, 1);
    else
        atomic_fetch_add(&refused, 1);
}

static void of_many_requests_at_once_one_is_answered(sotto_test *t)
{
    static const sotto_http_field type = {"Content-Type", SOTTO_ATTESTED_TYPE};
    char url[300];
    deployment d;
    asking_device v;

    atomic_store(&issued, 0);
    atomic_store(&refused, 0);
    open_enrolled(t, &d, &v);
    for (unsigned i = 0; i < AT_ONCE; i++) {
        asking_prepare(t, &d, &v, 100);
        (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/%s", sotto_host_port(d.attester),
                       v.path);
        const sotto_http_call call = {.method = SOTTO_HTTP_POST,
                                      .url = url,
                                      .fields = &type,
                                      .field_count = 1,
                                      .body = sotto_bytes_of(v.body, sizeof v.body),
                                      .attempts = 1};
        CHECK_OK(t, sotto_http_call_start(d.client, &call, on_answer, NULL, &t->err));
    }
    for (uint64_t until = 0;
         atomic_load(&issued) + atomic_load(&refused) < AT_ONCE && sotto_test_waits(&until, 20);)
        ;
    CHECK_EQUAL(t, 1, atomic_load(&issued));
    CHECK_EQUAL(t, AT_ONCE - 1, atomic_load(&refused));
    CHECK_EQUAL(t, 1, counted(t, &d));
    close_with(&d, &v);
}

static void only_enrolled_devices_have_tokens(sotto_test *t)
{
    deployment d;
    asking_device v;

    open_all(t, &d);
    asking_make(t, &v, 2);
    asking_prepare(t, &d, &v, 100);
    CHECK_EQUAL(t, 403, asking_send(t, &d, &v).status);
    CHECK_EQUAL(t, 0, counted(t, &d));
    close_with(&d, &v);
}

static void a_device_signs_its_request(sotto_test *t)
{
    deployment d;
    asking_device v;

    open_enrolled(t, &d, &v);
    asking_prepare(t, &d, &v, 100);
    v.body[60] ^= 1; /* the signature */
    CHECK_EQUAL(t, 403, asking_send(t, &d, &v).status);
    v.body[60] ^= 1;
    v.body[ASKING_BODY - 1] ^= 1; /* what was signed */
    CHECK_EQUAL(t, 403, asking_send(t, &d, &v).status);
    v.body[ASKING_BODY - 1] ^= 1;
    v.body[1] = 95;
    CHECK_EQUAL(t, 400, asking_send(t, &d, &v).status);
    CHECK_EQUAL(t, 0, counted(t, &d));
    close_with(&d, &v);
}

static void a_key_that_is_not_listed_is_not_counted(sotto_test *t)
{
    deployment d;
    asking_device v;

    open_enrolled(t, &d, &v);
    asking_prepare(t, &d, &v, 100);
    sotto_test_do(t, d.issuer->db, "DELETE FROM token_key");
    CHECK_EQUAL(t, 404, asking_send(t, &d, &v).status);
    CHECK_EQUAL(t, 0, counted(t, &d));
    close_with(&d, &v);
}

static void a_key_that_has_closed_is_not_counted(sotto_test *t)
{
    char sql[80];
    deployment d;
    asking_device v;

    open_enrolled(t, &d, &v);
    asking_prepare(t, &d, &v, 100);
    (void)snprintf(sql, sizeof sql, "UPDATE token_key SET closes = %lld",
                   (long long)sotto_host_seconds(d.issuer) - 60);
    sotto_test_do(t, d.issuer->db, sql); /* still on the list */
    CHECK_EQUAL(t, 410, asking_send(t, &d, &v).status);
    CHECK_EQUAL(t, 0, counted(t, &d));
    close_with(&d, &v);
}

/* Whatever the list says afterwards, and whatever the clock. */
static void counts_go_with_their_keys(sotto_test *t)
{
    deployment d;
    asking_device v;

    open_enrolled(t, &d, &v);
    asking_prepare(t, &d, &v, 100);
    CHECK_EQUAL(t, 200, asking_send(t, &d, &v).status);
    sotto_test_do(t, d.attester->db, "UPDATE listed SET closes = 1");
    asking_prepare(t, &d, &v, 200);
    CHECK_EQUAL(t, 200, asking_send(t, &d, &v).status);
    sotto_host_close(d.attester);
    sotto_test_attester_start(t, &d);
    for (uint64_t until = 0; counted(t, &d) > 1 && sotto_test_waits(&until, 20);)
        ;
    CHECK_EQUAL(t, 1, counted(t, &d));
    CHECK_EQUAL(t, 200, asking_send(t, &d, &v).status); /* under the key that is open */
    asking_prepare(t, &d, &v, 100);
    CHECK_EQUAL(t, 410, asking_send(t, &d, &v).status);
    CHECK_EQUAL(t, 1, counted(t, &d));
    close_with(&d, &v);
}

static void count_one(sotto_test *t, const deployment *d, sotto_attester_request *asked,
                      sotto_status status)
{
    CHECK_OK(t, sotto_attester_count(d->attester->db, &asked, 1, &t->err));
    CHECK_EQUAL(t, status, asked->status);
}

enum { TOGETHER = 5 };

static void requests_are_counted_together_and_each_for_itself(sotto_test *t)
{
    sotto_attester_request asked[TOGETHER] = {0}, *all[TOGETHER];
    deployment d;

    open_all(t, &d);
    for (uint8_t i = 0; i < TOGETHER; i++) {
        asked[i].key = (sotto_attester_key){{7}, 3000};
        asked[i].device[0] = (uint8_t)(TOGETHER - i);
        asked[i].request[0] = i;
        all[i] = &asked[i];
    }
    asked[3].device[0] = asked[1].device[0]; /* twice, with two requests */
    count_one(t, &d, &asked[4], SOTTO_OK);
    CHECK_OK(t, sotto_attester_count(d.attester->db, all, TOGETHER, &t->err));
    for (size_t i = 0; i + 1 < TOGETHER; i++) /* replicas lock rows in one order */
        CHECK(t, all[i]->device[0] <= all[i + 1]->device[0]);
    CHECK_EQUAL(t, SOTTO_OK, asked[0].status);
    CHECK_EQUAL(t, SOTTO_OK, asked[2].status);
    CHECK_EQUAL(t, SOTTO_OK, asked[4].status);
    CHECK(t, (asked[1].status == SOTTO_DENIED) != (asked[3].status == SOTTO_DENIED));
    CHECK_EQUAL(t, TOGETHER - 1, counted(t, &d));
    CHECK_OK(t, sotto_attester_count(d.attester->db, all, 0, &t->err));
    close_all(&d);
}

enum { DEVICES = 150 };

typedef struct crowd {
    asking_device *devices;
    atomic_uint right, wrong;
} crowd;

typedef struct one_of {
    crowd *crowd;
    asking_device *device;
    unsigned status; /* that it should hear */
} one_of;

static void on_crowd_answer(void *context, sotto_status status, const sotto_http_response *response,
                            const sotto_err *err)
{
    one_of *one = context;
    uint8_t token[SOTTO_TYPE2_TOKEN];
    bool right = status == SOTTO_OK && response->status == one->status;

    (void)err;
    /* Its own signature: that of another device would not verify. */
    if (right && one->status == 200)
        right = sotto_type2_finish(&one->device->key, token, &one->device->pending, response->body,
                                   NULL) == SOTTO_OK;
    atomic_fetch_add(right ? &one->crowd->right : &one->crowd->wrong, 1);
}

/* More than one call to the issuer takes, under two keys; every tenth sends a number that can't be signed. */
static void of_many_devices_at_once_each_gets_its_own(sotto_test *t)
{
    static const sotto_http_field type = {"Content-Type", SOTTO_ATTESTED_TYPE};
    static asking_device devices[DEVICES];
    static one_of ones[DEVICES];
    crowd all = {.devices = devices};
    char url[300];
    deployment d;

    open_all(t, &d);
    for (unsigned i = 0; i < DEVICES; i++) {
        ones[i] = (one_of){&all, &devices[i], i % 10 == 9 ? 400 : 200};
        asking_make(t, &devices[i], (uint8_t)(i + 1));
        CHECK_OK(t,
                 sotto_attester_enrol(d.attester->db, devices[i].signer.public_key, true, &t->err));
        asking_prepare_wrong(t, &d, &devices[i], 100 + i % 2, i % 10 == 9);
    }
    for (unsigned i = 0; i < DEVICES; i++) {
        (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/%s", sotto_host_port(d.attester),
                       devices[i].path);
        const sotto_http_call call = {.method = SOTTO_HTTP_POST,
                                      .url = url,
                                      .fields = &type,
                                      .field_count = 1,
                                      .body = sotto_bytes_of(devices[i].body, ASKING_BODY),
                                      .attempts = 1};
        CHECK_OK(t, sotto_http_call_start(d.client, &call, on_crowd_answer, &ones[i], &t->err));
    }
    for (uint64_t until = 0; atomic_load(&all.right) + atomic_load(&all.wrong) < DEVICES &&
                             sotto_test_waits(&until, 20);)
        ;
    CHECK_EQUAL(t, DEVICES, atomic_load(&all.right));
    CHECK_EQUAL(t, DEVICES, counted(t, &d));
    for (unsigned i = 0; i < DEVICES; i++)
        asking_clear(&devices[i]);
    close_all(&d);
}

enum { MANY = 6000 };
/* A time that has not come: the attester itself clears what has closed, whenever it looks. */
#define FAR UINT64_C(5000000000)

static void many_counts_go_a_few_at_a_time(sotto_test *t)
{
    sotto_attester_request old = {.key = {{1}, FAR}}, open = {.key = {{2}, FAR + 2}};
    uint64_t dropped = 0, turns = 0;
    bool more = true;
    char sql[400];
    deployment d;

    open_all(t, &d);
    count_one(t, &d, &old, SOTTO_OK);
    count_one(t, &d, &open, SOTTO_OK);
    (void)snprintf(sql, sizeof sql,
                   "INSERT INTO issuance (device, key_id, request) WITH RECURSIVE n(i) AS"
                   " (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
                   " SELECT CAST(CAST(i AS TEXT) AS %s), listed.id, listed.id FROM n, listed"
                   " WHERE closes = %" PRIu64,
                   MANY, strcmp(sotto_db_kind(d.attester->db), "sqlite") == 0 ? "BLOB" : "BYTEA",
                   FAR);
    sotto_test_do(t, d.attester->db, sql);
    for (; more && turns < 10; turns++)
        CHECK_OK(t, sotto_attester_drop(d.attester->db, FAR + 1, &dropped, &more, &t->err));
    CHECK_EQUAL(t, MANY + 1, dropped);
    CHECK_EQUAL(t, 3, turns); /* 5,000, then the rest, then none */
    CHECK_EQUAL(t, 1, counted(t, &d));
    count_one(t, &d, &old, SOTTO_STALE);
    close_all(&d);
}

/* It is told to come later, and nobody else is. */
static void invented_keys_do_not_fetch_the_list_each_time(sotto_test *t)
{
    asking_device v, other;
    deployment d;
    unsigned status = 0;

    open_enrolled(t, &d, &v);
    asking_make(t, &other, 2);
    CHECK_EQUAL(t, 204, asking_enrol(t, &d, &other, SOTTO_HTTP_PUT, OPERATOR));
    asking_prepare(t, &d, &v, 100);
    sotto_test_do(t, d.issuer->db, "DELETE FROM token_key");
    CHECK_EQUAL(t, 404, asking_send(t, &d, &v).status);
    for (uint64_t until = 0; status != 503 && sotto_test_waits(&until, 1);)
        status = asking_send(t, &d, &v).status;
    CHECK_EQUAL(t, 503, status);
    asking_prepare(t, &d, &other, 200);
    CHECK_EQUAL(t, 200, asking_send(t, &d, &other).status);
    asking_prepare(t, &d, &v, 200); /* which is known by now */
    CHECK_EQUAL(t, 200, asking_send(t, &d, &v).status);
    CHECK_EQUAL(t, 2, counted(t, &d));
    asking_clear(&other);
    close_with(&d, &v);
}

static void only_the_operator_enrols(sotto_test *t)
{
    deployment d;
    asking_device v;

    open_all(t, &d);
    asking_make(t, &v, 1);
    CHECK_EQUAL(t, 401, asking_enrol(t, &d, &v, SOTTO_HTTP_PUT, "Bearer attester-of-the-test"));
    CHECK_EQUAL(t, 0, sotto_test_ask_number(t, d.attester->db, "SELECT count(*) FROM device"));
    close_with(&d, &v);
}

static void a_fleet_is_enrolled_at_once(sotto_test *t)
{
    uint8_t ids[3 * SOTTO_ATTESTER_ID] = {0};
    deployment d;

    for (size_t i = 0; i < 3; i++)
        ids[i * SOTTO_ATTESTER_ID] = (uint8_t)(i + 1);
    open_all(t, &d);
    CHECK_OK(t, sotto_attester_enrol(d.attester->db, ids, true, &t->err));
    CHECK_OK(t, sotto_attester_enrol_many(d.attester->db, ids, 3, &t->err));
    for (size_t i = 0; i < 3; i++)
        CHECK_OK(t,
                 sotto_attester_is_enrolled(d.attester->db, ids + i * SOTTO_ATTESTER_ID, &t->err));
    CHECK_EQUAL(t, 3, sotto_test_ask_number(t, d.attester->db, "SELECT count(*) FROM device"));
    CHECK_OK(t, sotto_attester_enrol_many(d.attester->db, ids, 0, &t->err));
    close_all(&d);
}

static void an_issuer_is_named_by_its_url(sotto_test *t)
{
    const char *directory = sotto_test_directory(t);
    char path[300];

    sotto_test_write_file(t, path, directory, "service.ini",
                          "[attester]\nissuer = leader.example\n");
    sotto_serve_config_clear(&sotto_test_attester_config);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_serve_config_read(&sotto_test_attester_config,
                                         &(sotto_config_sources){.file = path}, &t->err));
    CHECK_REASON(t, "issuer = leader.example: a URL of http or https");
}

/* ---- a platform's own attestation -------------------------------------------------------------------------------- */

static sotto_status by_first_byte(void *context, uint8_t name[SOTTO_ATTESTER_ID],
                                  sotto_bytes evidence, sotto_bytes text, sotto_err *err)
{
    (void)context;
    (void)text;
    memset(name, evidence.len > 0 ? evidence.data[0] : 0, SOTTO_ATTESTER_ID);
    return evidence.len > 1 && evidence.data[1] == 'x'
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_REJECTED, "not attested");
}

static void a_platform_may_attest_in_its_own_way(sotto_test *t)
{
    static const sotto_attestation own = {by_first_byte, NULL};
    deployment d;
    asking_device v;

    plug_in = &own;
    open_all(t, &d);
    plug_in = NULL;
    asking_make(t, &v, 1);
    asking_prepare(t, &d, &v, 100);
    v.body[3] = 'y';
    CHECK_EQUAL(t, 403, asking_send(t, &d, &v).status);
    v.body[3] = 'x';
    CHECK_EQUAL(t, 200, asking_send(t, &d, &v).status);
    asking_prepare(t, &d, &v, 100);
    v.body[3] = 'x';
    CHECK_EQUAL(t, 409, asking_send(t, &d, &v).status); /* it is the same device to the plug-in */
    close_with(&d, &v);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_device_has_one_token_a_key),
        CASE(a_count_outlives_restarts_and_enrolments),
        CASE(an_attester_that_the_issuer_does_not_know_says_so),
        CASE(of_many_requests_at_once_one_is_answered),
        CASE(only_enrolled_devices_have_tokens),
        CASE(a_device_signs_its_request),
        CASE(a_key_that_is_not_listed_is_not_counted),
        CASE(a_key_that_has_closed_is_not_counted),
        CASE(counts_go_with_their_keys),
        CASE(requests_are_counted_together_and_each_for_itself),
        CASE(of_many_devices_at_once_each_gets_its_own),
        CASE(many_counts_go_a_few_at_a_time),
        CASE(invented_keys_do_not_fetch_the_list_each_time),
        CASE(only_the_operator_enrols),
        CASE(a_fleet_is_enrolled_at_once),
        CASE(an_issuer_is_named_by_its_url),
        CASE(a_platform_may_attest_in_its_own_way),
    };
    return RUN_TESTS(argc, argv, cases);
}
