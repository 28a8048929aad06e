#include "support/dap.h"

#include "dap/upload.h"

static void reports_are_walked_in_place(sotto_test *t)
{
    sotto_sim_random random;
    uint8_t memory[4096];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_dap_report report;
    sotto_dap_upload_req req;

    sotto_sim_random_init(&random, 7);
    for (int i = 0; i < 10; i++) {
        report = sotto_test_dap_report(t, &random);
        report.metadata.time = (uint64_t)i;
        CHECK_OK(t, sotto_dap_report_encode(&out, &report, &t->err));
    }
    CHECK_OK(t, sotto_dap_upload_req_decode(&req, sotto_buf_bytes(&out), &t->err));
    CHECK_EQUAL(t, 10, req.count);
    sotto_reader in = sotto_reader_over(req.reports);
    for (uint64_t i = 0; sotto_dap_upload_req_next(&in, &report); i++) {
        CHECK_EQUAL(t, i, report.metadata.time);
        CHECK(t, report.leader.enc.data > memory && report.leader.enc.data < memory + out.len);
    }
}

static void an_empty_upload_is_one(sotto_test *t)
{
    sotto_dap_upload_req req;

    CHECK_OK(t, sotto_dap_upload_req_decode(&req, sotto_bytes_of(NULL, 0), &t->err));
    CHECK_EQUAL(t, 0, req.count);
}

/* Their list of extensions is malformed, but the reports beside it must still be found. */
static void a_bad_extension_list_spoils_only_its_report(sotto_test *t)
{
    sotto_sim_random random;
    uint8_t memory[4096];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_dap_report report;
    sotto_dap_upload_req req;

    sotto_sim_random_init(&random, 8);
    for (int i = 0; i < 3; i++) {
        report = sotto_test_dap_report(t, &random);
        if (i == 1)
            report.metadata.public_extensions = sotto_test_hex(t, "000500000005");
        CHECK_OK(t, sotto_dap_report_encode(&out, &report, &t->err));
    }
    CHECK_OK(t, sotto_dap_upload_req_decode(&req, sotto_buf_bytes(&out), &t->err));
    CHECK_EQUAL(t, 3, req.count);
}

static void janus_knows_no_outdated_config(sotto_test *t)
{
    sotto_dap_upload_status status = {.report_id = {1}, .error = SOTTO_REPORT_OUTDATED_CONFIG};
    uint8_t memory[64];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_dap_upload_errors errors;

    CHECK_OK(t, sotto_dap_upload_errors_add(&out, &status, SOTTO_DAP_DRAFT18, &t->err));
    CHECK_OK(t, sotto_dap_upload_errors_add(&out, &status, SOTTO_DAP_JANUS, &t->err));
    CHECK_OK(t, sotto_dap_upload_errors_decode(&errors, sotto_buf_bytes(&out), &t->err));
    CHECK_EQUAL(t, 2, errors.count);
    sotto_reader in = sotto_reader_over(errors.statuses);
    CHECK(t, sotto_dap_upload_errors_next(&in, &status));
    CHECK_EQUAL(t, SOTTO_REPORT_OUTDATED_CONFIG, status.error);
    CHECK(t, sotto_dap_upload_errors_next(&in, &status));
    CHECK_EQUAL(t, SOTTO_REPORT_HPKE_UNKNOWN_CONFIG_ID, status.error);
    CHECK(t, !sotto_dap_upload_errors_next(&in, &status));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(reports_are_walked_in_place),
        CASE(an_empty_upload_is_one),
        CASE(a_bad_extension_list_spoils_only_its_report),
        CASE(janus_knows_no_outdated_config),
    };

    return RUN_TESTS(argc, argv, cases);
}
