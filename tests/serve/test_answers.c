/* A leader whose helper's answer is not one for its request: DAP has it abandon the job, and nothing of it is added up. */
#include "dap/job.h"
#include "support/database.h"
#include "support/steps.h"
#include "transport/http_server.h"

#include <string.h>

enum { REPORTS = 3, ROOM = 1 << 12 };

typedef enum mistake {
    NO_MISTAKE,
    OTHER_ORDER,
    ONE_MISSING,
    ONE_TOO_MANY,
    FINISHED, /* which Prio3's first answer never is */
    CUT_SHORT
} mistake;

/* ---- in the place of the helper --------------------------------------------------------------------------------- */

static bool take_head(void *context, sotto_http_request *request, size_t *max_body)
{
    (void)context;
    (void)request;
    *max_body = 1 << 20;
    return true;
}

/* Refuses the first of the reports, and says of the others what the mistake is about. */
static sotto_status write_answer(sotto_buf *out, sotto_bytes request, mistake m)
{
    sotto_dap_verify_init inits[REPORTS];
    sotto_dap_job_init_req req;
    sotto_dap_list list;
    sotto_reader in;
    size_t count = m == ONE_MISSING ? REPORTS - 1 : REPORTS;

    SOTTO_TRY(sotto_dap_job_init_req_decode(&req, request, SOTTO_DAP_DRAFT18, NULL));
    in = sotto_reader_over(req.verify_inits);
    for (size_t i = 0; i < REPORTS; i++)
        if (!sotto_dap_job_init_req_next(&in, &inits[i]))
            return SOTTO_MALFORMED;
    SOTTO_TRY(sotto_dap_job_resp_begin(&list, out, SOTTO_DAP_DRAFT18, NULL));
    for (size_t i = 0; i < count + (m == ONE_TOO_MANY); i++) {
        size_t which = m == OTHER_ORDER ? REPORTS - 1 - i : i % REPORTS;
        sotto_dap_verify_resp resp = {.type = SOTTO_DAP_VERIFY_REJECT,
                                      .error = SOTTO_REPORT_VDAF_VERIFY_ERROR};

        if (m == FINISHED && i > 0)
            resp = (sotto_dap_verify_resp){.type = SOTTO_DAP_VERIFY_FINISH};
        memcpy(resp.report_id, inits[which].metadata.report_id, sizeof resp.report_id);
        SOTTO_TRY(sotto_dap_job_resp_add(&list, &resp, NULL));
    }
    SOTTO_TRY(sotto_dap_list_end(&list, NULL));
    out->len -= m == CUT_SHORT;
    return SOTTO_OK;
}

static void take_body(void *context, sotto_http_request *request)
{
    const mistake *m = context;
    uint8_t memory[ROOM];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_http_field field = {"Content-Type", sotto_dap_media_type(SOTTO_DAP_AGGREGATION_JOB_RESP)};

    if (write_answer(&out, sotto_http_request_body(request), *m) == SOTTO_OK)
        sotto_http_answer(request, &(sotto_http_reply){201, &field, 1, sotto_buf_bytes(&out)});
    else
        (void)sotto_http_refuse(request, &(sotto_http_problem){.status = 500});
}

static const sotto_http_handler liar = {.head = take_head, .body = take_body};

/* ---- what the leader makes of it -------------------------------------------------------------------------------- */

#define REFUSED "SELECT CAST(coalesce(sum(reports), 0) AS BIGINT) FROM rejection WHERE cause = "

/* The state in which a job ends, and how many of its reports are counted as what. */
static void check_job(sotto_test *t, mistake m)
{
    sotto_test_service s;
    sotto_http_server_options options = {0};
    sotto_http_server *server;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = 50});
    options.port = (uint16_t)sotto_server_port(s.helper);
    sotto_test_helper_stop(t, &s);
    CHECK_OK(t, sotto_http_server_open(&server, &options, &liar, &m, &t->err));
    sotto_test_upload_some(t, &s, REPORTS, 1, SOTTO_TEST_SOUND);
    CHECK(t, sotto_test_comes(t, s.leader->db, "SELECT count(*) FROM job WHERE state > 1"));
    CHECK_EQUAL(t, m == NO_MISTAKE ? 2 : 3,
                sotto_test_ask_number(t, s.leader->db, "SELECT state FROM job"));
    CHECK_EQUAL(t, m == NO_MISTAKE ? 0 : REPORTS,
                sotto_test_ask_number(t, s.leader->db, REFUSED "128"));
    CHECK_EQUAL(t, 0, sotto_test_ask_number(t, s.leader->db, "SELECT count(*) FROM sub_aggregate"));
    sotto_http_server_close(server);
    sotto_test_service_close(&s);
}

static void an_answer_for_the_request_ends_the_job(sotto_test *t)
{
    check_job(t, NO_MISTAKE);
}

static void an_answer_in_another_order_is_none(sotto_test *t)
{
    check_job(t, OTHER_ORDER);
}

static void an_answer_for_fewer_or_more_reports_is_none(sotto_test *t)
{
    check_job(t, ONE_MISSING);
    check_job(t, ONE_TOO_MANY);
}

static void an_answer_of_another_step_is_none(sotto_test *t)
{
    check_job(t, FINISHED);
}

static void an_answer_that_is_cut_short_is_none(sotto_test *t)
{
    check_job(t, CUT_SHORT);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(an_answer_for_the_request_ends_the_job),      CASE(an_answer_in_another_order_is_none),
        CASE(an_answer_for_fewer_or_more_reports_is_none), CASE(an_answer_of_another_step_is_none),
        CASE(an_answer_that_is_cut_short_is_none),
    };

    return RUN_TESTS(argc, argv, cases);
}
