/* How large a leader makes its jobs, and how large a helper lets them be. */
#include "support/service.h"

#include "base/arena.h"
#include "dap/job.h"
#include "recipe/claim.h"
#include "serve/helper/helper_service.h"
#include "serve/leader/job_part.h"
#include "serve/leader/leader.h"

static sotto_server_task task_of(sotto_test *t, const sotto_prio3_config *config)
{
    enum { EXTENSION_ROOM = 512 };
    sotto_server_task task = {0};

    CHECK_OK(t, sotto_vdaf_open(&task.vdaf, config, &t->arena, &t->err));
    task.dap.sizes = task.vdaf.sizes;
    task.dap.report_bytes = sotto_recipe_report_bytes(&task.vdaf.sizes, SOTTO_TOKENS_NONE);
    task.max_report = task.dap.report_bytes + EXTENSION_ROOM;
    return task;
}

/* Bytes of a request with the longest reports that a leader takes in. */
static size_t longest_job(sotto_test *t, const sotto_server_task *task, size_t reports)
{
    enum { ROOM = 512, TAG = 16, PLAIN = 6, ENC = 32, PING_PONG = 8 };
    size_t size = reports * sotto_task_job_entry(task) + SOTTO_JOB_HEAD;
    sotto_arena arena;
    sotto_buf out;
    uint8_t *zeros;
    sotto_dap_list list;
    sotto_dap_verify_init init = {0};

    sotto_arena_init(&arena, (size_t)64 << 20);
    CHECK_OK(t, sotto_buf_take(&out, &arena, size, &t->err));
    zeros = sotto_arena_take(&arena, task->max_report + task->dap.sizes.verifier_share + PING_PONG);
    CHECK(t, zeros != NULL);
    init.metadata.public_extensions = sotto_bytes_of(zeros, ROOM);
    init.public_share = sotto_bytes_of(zeros, task->dap.sizes.public_share);
    init.encrypted_input_share.enc = sotto_bytes_of(zeros, ENC);
    init.encrypted_input_share.payload =
        sotto_bytes_of(zeros, task->dap.sizes.helper_share + TAG + PLAIN);
    init.payload = sotto_bytes_of(zeros, task->dap.sizes.verifier_share + PING_PONG);
    CHECK_OK(t, sotto_dap_job_init_req_begin(&list, &out, &(sotto_dap_job_init_req){0},
                                             SOTTO_DAP_DRAFT18, &t->err));
    for (size_t i = 0; i < reports; i++)
        CHECK_OK(t, sotto_dap_job_init_req_add(&list, &init, &t->err));
    CHECK_OK(t, sotto_dap_list_end(&list, &t->err));
    size = out.len;
    sotto_arena_clear(&arena);
    return size;
}

/* Whatever the two operators configured: a job that is refused for its length would be lost. */
static void no_job_is_longer_than_any_helper_reads(sotto_test *t)
{
    static const sotto_prio3_config configs[] = {
        {.type = SOTTO_PRIO3_COUNT, .shares = 2},
        {.type = SOTTO_PRIO3_SUM, .shares = 2, .max = 1000000},
        {.type = SOTTO_PRIO3_SUM_VEC,
         .shares = 2,
         .length = 10000,
         .chunk_length = 283,
         .max = 255},
        {.type = SOTTO_PRIO3_HISTOGRAM, .shares = 2, .length = 100, .chunk_length = 10},
        {.type = SOTTO_PRIO3_HISTOGRAM, .shares = 2, .length = 10000, .chunk_length = 100},
        /* A chunk of one makes the verifier as long as the report. */
        {.type = SOTTO_PRIO3_HISTOGRAM, .shares = 2, .length = 10000, .chunk_length = 10000},
        {.type = SOTTO_PRIO3_MULTIHOT_COUNT_VEC,
         .shares = 2,
         .length = 1000,
         .chunk_length = 32,
         .max = 10},
    };
    static sotto_host host = {.options = {.bytes_in_flight = (size_t)8 << 20}};
    static sotto_server leader = {.options = {.job_reports = 4000}}, helper = {.host = &host};

    for (size_t i = 0; i < sizeof configs / sizeof configs[0]; i++) {
        sotto_server_task task = task_of(t, &configs[i]);
        size_t reports = sotto_leader_full_job(&leader, &task);
        size_t limit = sotto_helper_job_body(&helper, &task);

        CHECK(t, reports >= 1 && reports <= SOTTO_JOB_MAX_REPORTS);
        CHECK(t, longest_job(t, &task, reports) <= limit);
        CHECK(t, limit <= host.options.bytes_in_flight);
    }
}

/* ---- the order of reports ------------------------------------------------------------------------------------------ */

enum { SOME = 5 };
static uint8_t first_bytes[SOME];

static sotto_status note_order(const sotto_vdaf *vdaf, sotto_vdaf_batch *batch,
                               const sotto_vdaf_verifier *verifier,
                               const sotto_vdaf_report *reports, size_t count, sotto_arena *arena,
                               sotto_err *err)
{
    (void)vdaf;
    (void)batch;
    (void)verifier;
    (void)arena;
    (void)err;
    for (size_t i = 0; i < count; i++)
        first_bytes[i] = reports[i].nonce[0];
    return SOTTO_OK;
}

/* The record of a report whose id begins with this byte. */
static sotto_bytes record_of(sotto_test *t, uint8_t first)
{
    const sotto_bytes some = sotto_bytes_of("x", 1);
    sotto_dap_report report = {.leader = {1, some, some}, .helper = {1, some, some}};
    sotto_writer w;
    sotto_buf out;

    report.metadata.report_id[0] = first;
    CHECK_OK(t, sotto_buf_take(&out, &t->arena, sotto_record_size(&report), &t->err));
    CHECK_OK(t, sotto_record_begin(&out, &report, &t->err));
    w = sotto_writer_on(&out);
    sotto_write_opaque32(&w, some);
    CHECK_OK(t, sotto_writer_finish(&w, "record", &t->err));
    return sotto_buf_bytes(&out);
}

/* However they came, a helper gets them in one order, and a leader that reads them again has the same one. */
static void a_job_does_not_tell_in_which_order_reports_came(sotto_test *t)
{
    static const uint8_t came[][SOME] = {{7, 200, 3, 255, 90}, {255, 200, 90, 7, 3}};
    static const uint8_t wanted[SOME] = {3, 7, 90, 200, 255};
    const sotto_vdaf_server_ops ops = {.leader_init = note_order};
    const sotto_method method = {.two_server = &ops};
    const sotto_server_task task = {.method = &method};
    sotto_job_part part;

    for (size_t turn = 0; turn < 2; turn++) {
        sotto_bytes records[SOME];

        for (size_t i = 0; i < SOME; i++)
            records[i] = record_of(t, came[turn][i]);
        CHECK_OK(t, sotto_job_part_begin(&part, &task, records, SOME, &t->arena, &t->err));
        CHECK_BYTES(t, wanted, first_bytes, SOME);
        for (size_t i = 0; i < SOME; i++)
            CHECK_EQUAL(t, wanted[i], part.shares[i].data[0]);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(no_job_is_longer_than_any_helper_reads),
        CASE(a_job_does_not_tell_in_which_order_reports_came),
    };

    return RUN_TESTS(argc, argv, cases);
}
