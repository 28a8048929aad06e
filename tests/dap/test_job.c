#include "support/test.h"

#include "dap/job.h"

#include <string.h>

#define ID1      "0102030405060708090a0b0c0d0e0f10"
#define ID2      "100f0e0d0c0b0a090807060504030201"
#define BATCH_ID "0202020202020202020202020202020202020202020202020202020202020202"
#define METADATA ID1 "000000000000d4310000"
#define SEALED   "2a0002303100000003353433"
#define INIT     METADATA "00000001aa" SEALED "000000020a0b"

static sotto_status decode_init(sotto_test *t, sotto_dap_job_init_req *req, const char *hex,
                                sotto_dap_profile profile, sotto_err *err)
{
    return sotto_dap_job_init_req_decode(req, sotto_test_hex(t, hex), profile, err);
}

static void a_request_reads_as_it_stands(sotto_test *t)
{
    sotto_dap_job_init_req req;
    sotto_dap_verify_init init;

    CHECK_OK(t, decode_init(t, &req, "070000000161002400010020" BATCH_ID INIT INIT,
                            SOTTO_DAP_DRAFT18, &t->err));
    CHECK_EQUAL(t, 7, req.verification_key_id);
    CHECK_EQUAL(t, 1, req.agg_param.len);
    CHECK(t, req.has_batch_id);
    CHECK_EQUAL(t, 2, req.batch_id[31]);
    CHECK_EQUAL(t, 2, req.count);
    sotto_reader in = sotto_reader_over(req.verify_inits);
    for (int i = 0; i < 2; i++) {
        CHECK(t, sotto_dap_job_init_req_next(&in, &init));
        CHECK_EQUAL(t, 0xd431, init.metadata.time);
        CHECK_EQUAL(t, 0xaa, init.public_share.data[0]);
        CHECK_EQUAL(t, 0x2a, init.encrypted_input_share.config_id);
        CHECK_EQUAL(t, 2, init.payload.len);
    }
    CHECK(t, !sotto_dap_job_init_req_next(&in, &init));
}

static void job_extensions_increase_and_are_known(sotto_test *t)
{
    static const struct {
        const char *extensions;
        sotto_status status;
    } cases[] = {
        {"0000", SOTTO_OK},
        {"002400010020" BATCH_ID, SOTTO_OK},
        {"00230001001f02020202020202020202020202020202020202020202020202020202020202",
         SOTTO_MALFORMED},
        {"000400020000", SOTTO_MISSING},
        {"000400000000", SOTTO_MISSING},
        {"002800010020" BATCH_ID "00070000", SOTTO_MISSING},
        /* Out of order wins over unknown: the message is malformed. */
        {"00280007000000010020" BATCH_ID, SOTTO_MALFORMED},
        {"004800010020" BATCH_ID "00010020" BATCH_ID, SOTTO_MALFORMED},
        {"0003000100", SOTTO_MALFORMED},
    };
    sotto_dap_job_init_req req;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char hex[512] = "0000000000";

        memcpy(hex + 10, cases[i].extensions, strlen(cases[i].extensions) + 1);
        CHECK_STATUS(t, cases[i].status, decode_init(t, &req, hex, SOTTO_DAP_DRAFT18, &t->err));
    }
}

static void janus_has_a_selector_and_lengths(sotto_test *t)
{
    sotto_dap_job_init_req req;
    uint8_t memory[256];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_dap_list list;
    sotto_bytes wanted = sotto_test_hex(t, "0900000000020020" BATCH_ID "00000000");

    CHECK_OK(t, decode_init(t, &req, "070000000001000000000000", SOTTO_DAP_JANUS, &t->err));
    CHECK(t, !req.has_batch_id);
    CHECK_OK(t, sotto_dap_job_init_req_decode(&req, wanted, SOTTO_DAP_JANUS, &t->err));
    CHECK(t, req.has_batch_id);
    CHECK_OK(t, sotto_dap_job_init_req_begin(&list, &out, &req, SOTTO_DAP_JANUS, &t->err));
    CHECK_OK(t, sotto_dap_list_end(&list, &t->err));
    CHECK_EQUAL(t, wanted.len, out.len);
    CHECK_BYTES(t, wanted.data, memory, wanted.len);
    /* An invalid mode, and configurations of the other mode. */
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 decode_init(t, &req, "070000000003000000000000", SOTTO_DAP_JANUS, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 decode_init(t, &req, "070000000002000000000000", SOTTO_DAP_JANUS, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 decode_init(t, &req, "07000000000100010000000000", SOTTO_DAP_JANUS, &t->err));
    /* A length that is not the list's. */
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 decode_init(t, &req, "070000000001000000000001", SOTTO_DAP_JANUS, &t->err));
}

static void an_item_that_does_not_fit_leaves_the_list(sotto_test *t)
{
    for (int profile = SOTTO_DAP_DRAFT18; profile <= SOTTO_DAP_JANUS; profile++) {
        uint8_t memory[64];
        sotto_buf out = sotto_buf_over(memory, sizeof memory);
        const sotto_dap_verify_continue item = {.payload = sotto_bytes_of("01234567", 8)};
        sotto_dap_job_continue_req req;
        sotto_dap_list list;

        CHECK_OK(t, sotto_dap_job_continue_req_begin(&list, &out, 3, (sotto_dap_profile)profile,
                                                     &t->err));
        CHECK_OK(t, sotto_dap_job_continue_req_add(&list, &item, &t->err));
        CHECK_OK(t, sotto_dap_job_continue_req_add(&list, &item, &t->err));
        CHECK_STATUS(t, SOTTO_TOO_LARGE, sotto_dap_job_continue_req_add(&list, &item, &t->err));
        CHECK_EQUAL(t, 2, list.count);
        CHECK_OK(t, sotto_dap_list_end(&list, &t->err));
        CHECK_OK(t, sotto_dap_job_continue_req_decode(&req, sotto_buf_bytes(&out),
                                                      (sotto_dap_profile)profile, &t->err));
        CHECK_EQUAL(t, 2, req.count);
        CHECK_EQUAL(t, 3, req.step);
    }
}

static void step_0_is_no_continuation(sotto_test *t)
{
    sotto_dap_job_continue_req req;

    CHECK_OK(t, sotto_dap_job_continue_req_decode(&req, sotto_test_hex(t, "0001"),
                                                  SOTTO_DAP_DRAFT18, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_dap_job_continue_req_decode(&req, sotto_test_hex(t, "0000"),
                                                   SOTTO_DAP_DRAFT18, &t->err));
    CHECK_REASON(t, "step 0");
}

static void responses_are_of_three_types(sotto_test *t)
{
    sotto_dap_job_resp resp;
    sotto_dap_verify_resp item;

    CHECK_OK(t, sotto_dap_job_resp_decode(&resp,
                                          sotto_test_hex(t, ID1 "0000000001aa" ID2 "01" ID1 "0206"),
                                          SOTTO_DAP_DRAFT18, &t->err));
    CHECK_EQUAL(t, 3, resp.count);
    sotto_reader in = sotto_reader_over(resp.verify_resps);
    CHECK(t, sotto_dap_job_resp_next(&in, &item));
    CHECK_EQUAL(t, SOTTO_DAP_VERIFY_CONTINUE, item.type);
    CHECK_EQUAL(t, 1, item.payload.len);
    CHECK(t, sotto_dap_job_resp_next(&in, &item));
    CHECK_EQUAL(t, SOTTO_DAP_VERIFY_FINISH, item.type);
    CHECK_EQUAL(t, 0x10, item.report_id[0]);
    CHECK(t, sotto_dap_job_resp_next(&in, &item));
    CHECK_EQUAL(t, SOTTO_DAP_VERIFY_REJECT, item.type);
    CHECK_EQUAL(t, SOTTO_REPORT_VDAF_VERIFY_ERROR, item.error);
    CHECK_STATUS(
        t, SOTTO_MALFORMED,
        sotto_dap_job_resp_decode(&resp, sotto_test_hex(t, ID1 "03"), SOTTO_DAP_DRAFT18, &t->err));
}

static void empty_strings_are_malformed_where_dap_has_none(sotto_test *t)
{
    static const char *const inits[] = {
        METADATA "000000002a000000000003353433000000010a",
        METADATA "000000002a00013000000000000000010a",
        METADATA "00000000" SEALED "00000000",
    };
    sotto_dap_job_init_req req;
    sotto_dap_job_resp resp;
    sotto_dap_job_continue_req more;

    for (size_t i = 0; i < sizeof inits / sizeof inits[0]; i++) {
        char hex[512] = "00000000000000";

        memcpy(hex + 14, inits[i], strlen(inits[i]) + 1);
        CHECK_STATUS(t, SOTTO_MALFORMED, decode_init(t, &req, hex, SOTTO_DAP_DRAFT18, &t->err));
    }
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_dap_job_resp_decode(&resp, sotto_test_hex(t, ID1 "0000000000"),
                                           SOTTO_DAP_DRAFT18, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_dap_job_continue_req_decode(&more, sotto_test_hex(t, "0001" ID1 "00000000"),
                                                   SOTTO_DAP_DRAFT18, &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_request_reads_as_it_stands),
        CASE(job_extensions_increase_and_are_known),
        CASE(janus_has_a_selector_and_lengths),
        CASE(an_item_that_does_not_fit_leaves_the_list),
        CASE(step_0_is_no_continuation),
        CASE(responses_are_of_three_types),
        CASE(empty_strings_are_malformed_where_dap_has_none),
    };

    return RUN_TESTS(argc, argv, cases);
}
