/* What strangers may send to either server, and what they get. */
#include "dap/collect.h"
#include "serve/tasks/metrics.h"
#include "sim/clock.h"
#include "support/repair.h"
#include "support/service.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

typedef struct wrong {
    const char *name;
    bool to_leader;
    const char *collection;
    sotto_dap_message message;
    const char *token; /* L, C, R: a right one; X: a wrong one; NULL: none */
    const char *body;
    unsigned status;
    sotto_dap_problem problem; /* SOTTO_DAP_PROBLEMS: none of DAP's */
} wrong;

#define NONE SOTTO_DAP_PROBLEMS

static const wrong cases_of_requests[] = {
    {"upload of rubbish", true, "reports", SOTTO_DAP_UPLOAD_REQ, NULL, "rubbish", 400,
     SOTTO_DAP_INVALID_MESSAGE},
    {"upload with the type of another message", true, "reports", SOTTO_DAP_COLLECTION_JOB_REQ, NULL,
     "x", 415, NONE},
    {"upload to the helper", false, "reports", SOTTO_DAP_UPLOAD_REQ, NULL, "x", 404, NONE},
    {"no such collection", true, "secrets", SOTTO_DAP_UPLOAD_REQ, NULL, "x", 404, NONE},
    {"job without a token", false, "aggregation_jobs", SOTTO_DAP_AGGREGATION_JOB_INIT_REQ, NULL,
     "x", 401, NONE},
    {"job with a wrong token", false, "aggregation_jobs", SOTTO_DAP_AGGREGATION_JOB_INIT_REQ, "X",
     "x", 401, NONE},
    {"job with the collector's token", false, "aggregation_jobs",
     SOTTO_DAP_AGGREGATION_JOB_INIT_REQ, "C", "x", 401, NONE},
    {"job at the leader", true, "aggregation_jobs", SOTTO_DAP_AGGREGATION_JOB_INIT_REQ, "L", "x",
     404, NONE},
    {"truncated job", false, "aggregation_jobs", SOTTO_DAP_AGGREGATION_JOB_INIT_REQ, "L", "\x01",
     400, SOTTO_DAP_INVALID_MESSAGE},
    {"share without a token", false, "aggregate_shares", SOTTO_DAP_AGGREGATE_SHARE_REQ, NULL, "x",
     401, NONE},
    {"truncated share request", false, "aggregate_shares", SOTTO_DAP_AGGREGATE_SHARE_REQ, "L", "x",
     400, SOTTO_DAP_INVALID_MESSAGE},
    {"collection without a token", true, "collection_jobs", SOTTO_DAP_COLLECTION_JOB_REQ, NULL, "x",
     401, NONE},
    {"collection with the leader's token", true, "collection_jobs", SOTTO_DAP_COLLECTION_JOB_REQ,
     "L", "x", 401, NONE},
    {"truncated collection", true, "collection_jobs", SOTTO_DAP_COLLECTION_JOB_REQ, "C", "x", 400,
     SOTTO_DAP_INVALID_MESSAGE},
};

static const char *token_of(const sotto_test_service *s, const char *name)
{
    if (!name)
        return NULL;
    switch (name[0]) {
    case 'L':
        return s->pairing.leader_token;
    case 'C':
        return s->pairing.collector_token;
    default:
        return "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    }
}

static void wrong_requests_get_their_problem(sotto_test *t)
{
    sotto_test_service s;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    for (size_t i = 0; i < sizeof cases_of_requests / sizeof cases_of_requests[0]; i++) {
        const wrong *w = &cases_of_requests[i];
        sotto_http_response response =
            sotto_test_post(t, &s, w->to_leader, w->collection, w->message, token_of(&s, w->token),
                            sotto_bytes_of(w->body, strlen(w->body)));

        if (response.status != w->status)
            (void)fprintf(stderr, "%s: %u\n", w->name, response.status);
        CHECK_EQUAL(t, w->status, response.status);
        if (w->problem != NONE)
            CHECK(t, sotto_test_is_problem(&response, w->problem));
    }
    sotto_test_service_close(&s);
}

/* ---- every handler that reads a body, and everything that may be wrong with it -------------------------------- */

typedef struct handler {
    const char *collection;
    bool at_leader;
    sotto_dap_message message, other; /* other: a type that is another handler's */
    char token;                       /* as above; 0: none is needed             */
    sotto_bytes body;                 /* a right one                             */
} handler;

enum { HANDLERS = 5, TOO_LONG = 20 << 20 };

static sotto_bytes collection_request(sotto_test *t, const sotto_test_service *s)
{
    sotto_dap_collection_req ask = {
        .query = {.mode = SOTTO_DAP_TIME_INTERVAL, .interval = {s->bucket, 1}}};
    sotto_buf out = sotto_test_buf(t, 256);

    CHECK_OK(t, sotto_dap_collection_req_encode(&out, &ask, &t->err));
    return sotto_buf_bytes(&out);
}

static sotto_bytes share_request(sotto_test *t, const sotto_test_service *s)
{
    sotto_dap_aggregate_share_req ask = {
        .collection_req = collection_request(t, s),
        .selector = {.mode = SOTTO_DAP_TIME_INTERVAL, .interval = {s->bucket, 1}}};
    sotto_buf out = sotto_test_buf(t, 512);

    CHECK_OK(t, sotto_dap_aggregate_share_req_encode(&out, &ask, &t->err));
    return sotto_buf_bytes(&out);
}

static void list_handlers(sotto_test *t, sotto_test_service *s, handler out[HANDLERS])
{
    sotto_bytes report = sotto_test_sealed_report(t, s, 1, SOTTO_TEST_SOUND);
    sotto_bytes second = sotto_test_sealed_report(t, s, 1, SOTTO_TEST_SOUND);
    sotto_test_job job = sotto_test_job_of(t, s, &second, 1, NULL);
    const handler all[HANDLERS] = {
        {"reports", true, SOTTO_DAP_UPLOAD_REQ, SOTTO_DAP_COLLECTION_JOB_REQ, 0, report},
        {"collection_jobs", true, SOTTO_DAP_COLLECTION_JOB_REQ, SOTTO_DAP_UPLOAD_REQ, 'C',
         collection_request(t, s)},
        {"aggregation_jobs", false, SOTTO_DAP_AGGREGATION_JOB_INIT_REQ,
         SOTTO_DAP_AGGREGATE_SHARE_REQ, 'L', job.request},
        {"aggregate_shares", false, SOTTO_DAP_AGGREGATE_SHARE_REQ,
         SOTTO_DAP_AGGREGATION_JOB_INIT_REQ, 'L', share_request(t, s)},
        {"repairs", false, SOTTO_DAP_REPAIR_REQ, SOTTO_DAP_AGGREGATE_SHARE_REQ, 'L',
         sotto_test_repair_request(t, s, 1, &job, 1)},
    };

    memcpy(out, all, sizeof all);
}

static sotto_http_response ask(sotto_test *t, sotto_test_service *s, const handler *h,
                               sotto_bytes body)
{
    return sotto_test_post(t, s, h->at_leader, h->collection, h->message,
                           h->token ? token_of(s, &h->token) : NULL, body);
}

/* Says which handler and which flaw, since the line alone does not. */
static void is_refused(sotto_test *t, const handler *h, const char *flaw,
                       const sotto_http_response *r, unsigned status, sotto_dap_problem problem)
{
    if (r->status != status || (problem != NONE && !sotto_test_is_problem(r, problem)))
        (void)fprintf(stderr, "%s, %s: %u\n", h->collection, flaw, r->status);
    CHECK_EQUAL(t, status, r->status);
    CHECK(t, problem == NONE || sotto_test_is_problem(r, problem));
    CHECK(t, r->body.len > 0 && r->body.data[0] == '{'); /* a problem document, in any case */
}

static void bodies_are_read_to_their_end(sotto_test *t, sotto_test_service *s, const handler *h)
{
    uint8_t *longer = sotto_arena_take(&t->arena, TOO_LONG);
    sotto_http_response r = ask(t, s, h, sotto_bytes_of(h->body.data, h->body.len - 1));

    CHECK(t, longer != NULL);
    if (!longer)
        return;
    is_refused(t, h, "truncated", &r, 400, SOTTO_DAP_INVALID_MESSAGE);
    memcpy(longer, h->body.data, h->body.len);
    r = ask(t, s, h, sotto_bytes_of(longer, h->body.len + 1));
    is_refused(t, h, "trailing", &r, 400, SOTTO_DAP_INVALID_MESSAGE);
    r = ask(t, s, h, sotto_bytes_of(longer, TOO_LONG));
    is_refused(t, h, "oversized", &r, 413, NONE);
}

static void heads_are_looked_at_first(sotto_test *t, sotto_test_service *s, const handler *h)
{
    handler bad = *h;
    sotto_http_response r;

    bad.message = h->other;
    r = ask(t, s, &bad, h->body);
    is_refused(t, h, "wrong media type", &r, 415, NONE);
    bad = *h;
    bad.at_leader = !h->at_leader;
    r = ask(t, s, &bad, h->body);
    is_refused(t, h, "wrong role", &r, 404, NONE);
    s->task.id[0] ^= 1;
    r = ask(t, s, h, h->body);
    s->task.id[0] ^= 1;
    is_refused(t, h, "unknown task", &r, 404, SOTTO_DAP_UNRECOGNIZED_TASK);
    if (!h->token)
        return;
    bad = *h;
    bad.token = 0;
    r = ask(t, s, &bad, h->body);
    is_refused(t, h, "no token", &r, 401, NONE);
    bad.token = 'X';
    r = ask(t, s, &bad, h->body);
    is_refused(t, h, "bad token", &r, 401, NONE);
    bad.token = h->token == 'L' ? 'C' : 'L';
    r = ask(t, s, &bad, h->body);
    is_refused(t, h, "another's token", &r, 401, NONE);
}

static void every_handler_refuses_whatever_is_wrong(sotto_test *t)
{
    sotto_test_service s;
    handler handlers[HANDLERS];

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    list_handlers(t, &s, handlers);
    for (size_t i = 0; i < HANDLERS; i++) {
        heads_are_looked_at_first(t, &s, &handlers[i]);
        bodies_are_read_to_their_end(t, &s, &handlers[i]);
    }
    /* What is left is right, or the tests above would show nothing. */
    CHECK_EQUAL(t, 200, ask(t, &s, &handlers[0], handlers[0].body).status);
    CHECK_EQUAL(t, 201, ask(t, &s, &handlers[1], handlers[1].body).status);
    CHECK_EQUAL(t, 201, ask(t, &s, &handlers[2], handlers[2].body).status);
    for (size_t i = 3; i < HANDLERS; i++) {
        sotto_http_response r = ask(t, &s, &handlers[i], handlers[i].body);

        CHECK(t, !sotto_test_is_problem(&r, SOTTO_DAP_INVALID_MESSAGE)); /* too few reports */
    }
    sotto_test_service_close(&s);
}

/* What is asked for without a body: another's token, or none, and an id that nobody gave out. */
static void nothing_is_read_without_its_token(sotto_test *t)
{
    static const struct {
        const char *collection;
        bool at_leader;
        char token;
    } reads[] = {{"collection_jobs", true, 'C'},
                 {"aggregation_jobs", false, 'L'},
                 {"aggregate_shares", false, 'L'},
                 {"rejections", true, 'C'},
                 {"rejections", false, 'R'}};
    static const char id[] = "AAAAAAAAAAAAAAAAAAAAAA", *const tokens = "XLCR";
    sotto_test_service s;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++)
        for (size_t k = 0; k < 4; k++) {
            char url[256], bearer[512], task[SOTTO_DAP_ID_TEXT_MAX];
            sotto_http_field field = {"Authorization", bearer};
            sotto_http_response r;

            sotto_dap_id_encode(task, sotto_bytes_of(s.task.id, sizeof s.task.id));
            (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/tasks/%s/%s/%s",
                           sotto_server_port(reads[i].at_leader ? s.leader : s.helper), task,
                           reads[i].collection, id);
            (void)snprintf(bearer, sizeof bearer, "Bearer %s",
                           tokens[k] == 'R' ? s.pairing.rejection_token : token_of(&s, &tokens[k]));
            CHECK_OK(t, sotto_http_call_wait(s.client, &r,
                                             &(sotto_http_call){.method = SOTTO_HTTP_GET,
                                                                .url = url,
                                                                .fields = &field,
                                                                .field_count = 1},
                                             &t->arena, &t->err));
            CHECK_EQUAL(t, tokens[k] == reads[i].token ? 404 : 401, r.status);
        }
    sotto_test_service_close(&s);
}

static void a_task_nobody_knows_is_unrecognized(sotto_test *t)
{
    sotto_test_service s;
    sotto_http_response response;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    s.task.id[0] ^= 1;
    response = sotto_test_upload(t, &s, sotto_bytes_of("x", 1));
    CHECK_EQUAL(t, 404, response.status);
    CHECK(t, sotto_test_is_problem(&response, SOTTO_DAP_UNRECOGNIZED_TASK));
    sotto_test_service_close(&s);
}

typedef struct heard {
    atomic_uint times;
    char task[64];
} heard;

static void hear(void *context, const sotto_log_event *event)
{
    heard *h = context;

    if (strcmp(event->name, "task.unknown") != 0)
        return;
    (void)snprintf(h->task, sizeof h->task, "%s", event->fields[0].value.text);
    atomic_fetch_add(&h->times, 1);
}

/* At most once a minute, since anybody can name any task; and not of what devices or collectors ask. */
static void a_helper_says_that_its_leader_has_a_task_it_lacks(sotto_test *t)
{
    static const uint64_t SECOND = 1000000000;
    static heard h;
    sotto_sim_clock state = {.wall = (uint64_t)time(NULL) * SECOND};
    sotto_clock clock = sotto_sim_clock_of(&state);
    sotto_log_sink log = {.write = hear, .context = &h};
    char id[SOTTO_DAP_ID_TEXT_MAX];
    sotto_test_service s;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.clock = &clock, .log = &log});
    s.task.id[0] ^= 1;
    sotto_dap_id_encode(id, sotto_bytes_of(s.task.id, sizeof s.task.id));
    CHECK_EQUAL(t, 404, sotto_test_upload(t, &s, sotto_bytes_of("x", 1)).status);
    CHECK_EQUAL(t, 0, atomic_load(&h.times));
    for (unsigned i = 0; i < 6; i++) {
        CHECK_EQUAL(t, 404,
                    sotto_test_post(t, &s, false, "aggregation_jobs",
                                    SOTTO_DAP_AGGREGATION_JOB_INIT_REQ, s.pairing.leader_token,
                                    sotto_bytes_of("x", 1))
                        .status);
        CHECK_EQUAL(t, i < 3 ? 1 : 2, atomic_load(&h.times));
        if (i == 1)
            sotto_sim_clock_advance(&state, 59 * SECOND);
        if (i == 2)
            sotto_sim_clock_advance(&state, SECOND);
    }
    CHECK_EQUAL(t, 0, strcmp(id, h.task));
    CHECK_EQUAL(t, 6, sotto_metrics_get(s.helper->metrics, SOTTO_METRIC_TASKS_UNKNOWN));
    CHECK_EQUAL(t, 0, sotto_metrics_get(s.leader->metrics, SOTTO_METRIC_TASKS_UNKNOWN));
    sotto_test_service_close(&s);
}

/* The limit follows from the task's own report size; nothing above it is even read. */
static void a_body_above_the_tasks_limit_is_refused(sotto_test *t)
{
    sotto_test_service s;
    size_t size;
    uint8_t *body;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    size = 1100 * (s.task.report_bytes + 512);
    body = sotto_arena_take(&t->arena, size);
    CHECK(t, body != NULL);
    CHECK_EQUAL(t, 413, sotto_test_upload(t, &s, sotto_bytes_of(body, size)).status);
    sotto_test_service_close(&s);
}

static void the_published_keys_are_a_configuration_list(sotto_test *t)
{
    sotto_test_service s;
    sotto_http_response response = {0};
    sotto_hpke_config configs[4];
    char url[64];
    size_t count;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/hpke_config", sotto_server_port(s.helper));
    CHECK_OK(t, sotto_http_call_wait(s.client, &response,
                                     &(sotto_http_call){.method = SOTTO_HTTP_GET, .url = url},
                                     &t->arena, &t->err));
    CHECK_EQUAL(t, 200, response.status);
    CHECK_OK(t, sotto_hpke_config_list_decode(configs, 4, &count, response.body, &t->err));
    CHECK_EQUAL(t, 1, count);
    CHECK_EQUAL(t, s.helper_hpke.id, configs[0].id);
    sotto_test_service_close(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(wrong_requests_get_their_problem),
        CASE(every_handler_refuses_whatever_is_wrong),
        CASE(nothing_is_read_without_its_token),
        CASE(a_task_nobody_knows_is_unrecognized),
        CASE(a_helper_says_that_its_leader_has_a_task_it_lacks),
        CASE(a_body_above_the_tasks_limit_is_refused),
        CASE(the_published_keys_are_a_configuration_list),
    };

    return RUN_TESTS(argc, argv, cases);
}
