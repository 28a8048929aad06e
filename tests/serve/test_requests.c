/* What strangers may send to either server, and what they get. */
#include "support/service.h"

#include <stdio.h>
#include <string.h>

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
        CASE(a_task_nobody_knows_is_unrecognized),
        CASE(a_body_above_the_tasks_limit_is_refused),
        CASE(the_published_keys_are_a_configuration_list),
    };

    return RUN_TESTS(argc, argv, cases);
}
