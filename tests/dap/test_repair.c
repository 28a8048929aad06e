#include "support/test.h"

#include "dap/repair.h"

#include <string.h>

#define SELECTOR "010010000000000000d4310000000000000003"
#define ID_1     "01010101010101010101010101010101"
#define ID_2     "02020202020202020202020202020202"
#define SUM      "abababababababababababababababababababababababababababababababab"
#define JOB_1    ID_1 "000000000000000a" SUM
#define JOB_2    ID_2 "0000000000000007" SUM

static sotto_status decode(sotto_test *t, const char *hex)
{
    sotto_dap_repair_req req;

    return sotto_dap_repair_req_decode(&req, sotto_test_hex(t, hex), &t->err);
}

static sotto_status decode_answer(sotto_test *t, const char *hex)
{
    sotto_dap_repair_resp resp;

    return sotto_dap_repair_resp_decode(&resp, sotto_test_hex(t, hex), &t->err);
}

static void a_request_lists_jobs_of_a_batch(sotto_test *t)
{
    const sotto_bytes wire = sotto_test_hex(t, SELECTOR "00000070" JOB_1 JOB_2);
    uint8_t memory[256];
    sotto_buf out = sotto_buf_over(memory, sizeof memory), tight = sotto_buf_over(memory, 64);
    sotto_dap_repair_job jobs[3];
    sotto_dap_repair_req req;
    sotto_reader in;

    CHECK_OK(t, sotto_dap_repair_req_decode(&req, wire, &t->err));
    CHECK_EQUAL(t, 2, req.count);
    CHECK_EQUAL(t, 0xd431, req.selector.interval.start);
    in = sotto_reader_over(req.jobs);
    CHECK(t, sotto_dap_repair_req_next(&in, &jobs[0]));
    CHECK(t, sotto_dap_repair_req_next(&in, &jobs[1]));
    CHECK(t, !sotto_dap_repair_req_next(&in, &jobs[2]));
    CHECK_EQUAL(t, 10, jobs[0].report_count);
    CHECK_EQUAL(t, 7, jobs[1].report_count);
    CHECK_EQUAL(t, 2, jobs[1].id[15]);
    CHECK_EQUAL(t, 0xab, jobs[1].checksum[31]);
    CHECK_STATUS(t, SOTTO_TOO_LARGE,
                 sotto_dap_repair_req_encode(&tight, &req.selector, jobs, 2, &t->err));
    CHECK_OK(t, sotto_dap_repair_req_encode(&out, &req.selector, jobs, 2, &t->err));
    CHECK_EQUAL(t, wire.len, out.len);
    CHECK_BYTES(t, wire.data, out.data, wire.len);
    CHECK_OK(t, decode(t, SELECTOR "00000000"));
}

static void jobs_ascend_and_are_whole(sotto_test *t)
{
    CHECK_STATUS(t, SOTTO_MALFORMED, decode(t, SELECTOR "00000070" JOB_2 JOB_1));
    CHECK_STATUS(t, SOTTO_MALFORMED, decode(t, SELECTOR "00000070" JOB_1 JOB_1));
    CHECK_STATUS(t, SOTTO_MALFORMED, decode(t, SELECTOR "00000039" JOB_1 "00"));
    CHECK_STATUS(t, SOTTO_MALFORMED, decode(t, SELECTOR "00000070" JOB_1));
    CHECK_STATUS(t, SOTTO_MALFORMED, decode(t, SELECTOR "00000038" JOB_1 "00"));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 decode(t, "030000"
                           "00000000"));
    CHECK_STATUS(t, SOTTO_MALFORMED, decode(t, ""));
}

static void an_answer_lists_ids(sotto_test *t)
{
    CHECK_OK(t, decode_answer(t, "00000000"));
    CHECK_OK(t, decode_answer(t, "00000020" ID_1 ID_2));
    CHECK_STATUS(t, SOTTO_MALFORMED, decode_answer(t, "00000020" ID_2 ID_1));
    CHECK_STATUS(t, SOTTO_MALFORMED, decode_answer(t, "00000020" ID_1 ID_1));
    CHECK_STATUS(t, SOTTO_MALFORMED, decode_answer(t, "00000011" ID_1 "00"));
    CHECK_STATUS(t, SOTTO_MALFORMED, decode_answer(t, "00000010" ID_1 "00"));
    CHECK_STATUS(t, SOTTO_MALFORMED, decode_answer(t, ""));
}

/* More jobs than anybody compares: refused by their number, before any is looked at. */
static void a_list_has_an_end(sotto_test *t)
{
    size_t size = 19 + 4 + (SOTTO_DAP_REPAIR_JOBS + 1) * (size_t)SOTTO_DAP_REPAIR_JOB_SIZE;
    uint8_t *memory = sotto_arena_take(&t->arena, size);
    sotto_buf out = sotto_buf_over(memory, size);
    sotto_bytes selector = sotto_test_hex(t, SELECTOR);
    sotto_dap_repair_req req;
    sotto_writer w;

    CHECK(t, memory != NULL);
    w = sotto_writer_on(&out);
    sotto_write_bytes(&w, selector);
    sotto_write_uint(&w, size - 23, 4);
    for (uint64_t i = 0; i <= SOTTO_DAP_REPAIR_JOBS; i++) {
        sotto_write_uint(&w, i, 8);
        sotto_write_uint(&w, 0, 8);
        for (unsigned j = 0; j < 5; j++)
            sotto_write_uint(&w, 0, 8);
    }
    CHECK_OK(t, sotto_writer_finish(&w, "list", &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_dap_repair_req_decode(&req, sotto_buf_bytes(&out), &t->err));
    CHECK_REASON(t, "65537 jobs");
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_request_lists_jobs_of_a_batch),
        CASE(jobs_ascend_and_are_whole),
        CASE(an_answer_lists_ids),
        CASE(a_list_has_an_end),
    };

    return RUN_TESTS(argc, argv, cases);
}
