#include "support/collection.h"

#include <string.h>

static sotto_test_collection c;

static sotto_status open_it(sotto_test *t, sotto_collection *out)
{
    sotto_bytes answer = sotto_test_collection_answer(t, &c);

    memset(out, 0, sizeof *out);
    t->err = (sotto_err){0};
    return sotto_collect_open(out, &c.task, &c.key, c.request, answer, &t->arena, &t->err);
}

static void two_shares_become_the_sums(sotto_test *t)
{
    sotto_collection out;

    sotto_test_collection_init(t, &c);
    CHECK_OK(t, open_it(t, &out));
    CHECK_EQUAL(t, 100, out.reports);
    CHECK_EQUAL(t, c.task.sizes.outputs, out.sum_count);
    for (size_t i = 0; i < out.sum_count; i++) {
        CHECK_EQUAL(t, c.sums[i], out.sums[i].low);
        CHECK_EQUAL(t, 0, out.sums[i].high);
    }
    CHECK_EQUAL(t, c.task.opens, out.from);
    CHECK_EQUAL(t, c.task.opens + 2 * c.task.precision, out.until);
}

static void a_batch_of_another_time_is_refused(sotto_test *t)
{
    sotto_collection out;
    sotto_dap_interval asked;

    sotto_test_collection_init(t, &c);
    asked = (sotto_dap_interval){c.task.opens / c.task.precision,
                                 (c.task.closes - c.task.opens) / c.task.precision};
    c.interval = asked;
    CHECK_OK(t, open_it(t, &out));
    c.interval = (sotto_dap_interval){asked.start - 1, 2};
    CHECK_STATUS(t, SOTTO_REJECTED, open_it(t, &out));
    c.interval = (sotto_dap_interval){asked.start + 1, asked.duration};
    CHECK_STATUS(t, SOTTO_REJECTED, open_it(t, &out));
    c.interval = (sotto_dap_interval){asked.start, 0};
    CHECK_STATUS(t, SOTTO_REJECTED, open_it(t, &out));
    c.interval = (sotto_dap_interval){asked.start, UINT64_MAX};
    CHECK_STATUS(t, SOTTO_REJECTED, open_it(t, &out));
}

static void a_batch_below_its_minimum_is_refused(sotto_test *t)
{
    sotto_collection out;

    sotto_test_collection_init(t, &c);
    c.reports = 99;
    CHECK_STATUS(t, SOTTO_DENIED, open_it(t, &out));
    CHECK_REASON(t, "99 reports");
}

static void a_share_sealed_to_another_key_says_so(sotto_test *t)
{
    sotto_collection out;

    sotto_test_collection_init(t, &c);
    c.key_id = 4;
    CHECK_STATUS(t, SOTTO_STALE, open_it(t, &out));
    CHECK_REASON(t, "key 4");
}

static void shares_open_for_their_sender_request_and_task_only(sotto_test *t)
{
    sotto_collection out;
    sotto_bytes answer;
    uint8_t other[128];
    sotto_buf request = sotto_buf_over(other, sizeof other);
    sotto_collection_query query;

    sotto_test_collection_init(t, &c);
    c.swapped = true;
    CHECK_STATUS(t, SOTTO_REJECTED, open_it(t, &out));
    c.swapped = false;
    answer = sotto_test_collection_answer(t, &c);
    query = (sotto_collection_query){c.task.opens, c.task.closes + c.task.precision};
    CHECK_OK(t, sotto_collect_query_encode(&request, &c.task, &query, &t->err));
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_collect_open(&out, &c.task, &c.key, sotto_buf_bytes(&request), answer,
                                    &t->arena, &t->err));
    c.task.id[0] ^= 1;
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_collect_open(&out, &c.task, &c.key, c.request, answer, &t->arena, &t->err));
}

static void shares_that_do_not_belong_together_are_refused(sotto_test *t)
{
    sotto_collection out;

    sotto_test_collection_init(t, &c);
    c.apart = true;
    CHECK_STATUS(t, SOTTO_REJECTED, open_it(t, &out));
    CHECK_REASON(t, "belong together");
}

static void a_sum_above_the_reports_is_refused(sotto_test *t)
{
    sotto_collection out;

    sotto_test_collection_init(t, &c);
    c.sums[3] = 100;
    CHECK_OK(t, open_it(t, &out));
    c.sums[3] = 101;
    CHECK_STATUS(t, SOTTO_REJECTED, open_it(t, &out));
}

/* Each report has at most `weight` bits set, so all together have. */
static void sums_above_what_proofs_allow_are_refused(sotto_test *t)
{
    sotto_collection out;
    uint64_t left;

    sotto_test_collection_init(t, &c);
    left = c.reports * c.task.vdaf.max;
    for (size_t i = 0; i < c.task.sizes.outputs; i++) {
        c.sums[i] = left < c.reports ? left : c.reports;
        left -= c.sums[i];
    }
    CHECK_EQUAL(t, 0, left); /* the weight is less than the bins, or this tests nothing */
    CHECK_EQUAL(t, 0, c.sums[c.task.sizes.outputs - 1]);
    CHECK_OK(t, open_it(t, &out));
    c.sums[c.task.sizes.outputs - 1] = 1;
    CHECK_STATUS(t, SOTTO_REJECTED, open_it(t, &out));
}

/* Sigma 10, two servers, 272 sums, 2^-66: a sum may be off by 2 * 10 * sqrt(66 log 2 + log 544) = 144.3. */
static void sums_may_be_off_by_the_servers_noise(sotto_test *t)
{
    sotto_collection out;

    sotto_test_collection_init(t, &c);
    c.task.noise_sigma = 10;
    CHECK_EQUAL(t, 272, c.task.sizes.outputs);
    c.sums[3] = 100 + 145;
    c.below[4] = 145;
    c.below[5] = 1;
    CHECK_OK(t, open_it(t, &out));
    CHECK_EQUAL(t, 245, out.sums[3].low);
    CHECK_EQUAL(t, 0, out.sums[3].high);
    CHECK_EQUAL(t, (uint64_t)-145, out.sums[4].low);
    CHECK_EQUAL(t, UINT64_MAX, out.sums[4].high);
    CHECK_EQUAL(t, UINT64_MAX, out.sums[5].low);
    c.sums[3]++;
    CHECK_STATUS(t, SOTTO_REJECTED, open_it(t, &out));
    c.sums[3]--;
    c.below[4]++;
    CHECK_STATUS(t, SOTTO_REJECTED, open_it(t, &out));
    c.below[4]--;
    c.apart = true;
    CHECK_STATUS(t, SOTTO_REJECTED, open_it(t, &out));
    c.apart = false;
    c.task.noise_sigma = 0; /* none was asked for: none is allowed */
    CHECK_STATUS(t, SOTTO_REJECTED, open_it(t, &out));
}

/* All together: 2 * 10 * sqrt(272 (66 log 2 + log 2)) = 2247.9. */
static void the_total_may_be_off_by_the_noise_of_all_sums(sotto_test *t)
{
    sotto_collection out;
    uint64_t most, left;

    sotto_test_collection_init(t, &c);
    c.task.noise_sigma = 10;
    most = c.reports * c.task.vdaf.max;
    left = most + 2248;
    for (size_t i = 0; i < c.task.sizes.outputs; i++) {
        c.sums[i] = left < 240 ? left : 240;
        left -= c.sums[i];
    }
    CHECK_EQUAL(t, 0, left);
    CHECK_EQUAL(t, 0, c.sums[c.task.sizes.outputs - 1]);
    CHECK_OK(t, open_it(t, &out));
    c.sums[c.task.sizes.outputs - 1] = 1;
    CHECK_STATUS(t, SOTTO_REJECTED, open_it(t, &out));
}

static void every_truncation_is_refused(sotto_test *t)
{
    sotto_collection out;
    sotto_bytes answer;

    sotto_test_collection_init(t, &c);
    answer = sotto_test_collection_answer(t, &c);
    for (size_t len = 0; len < answer.len; len += len < 100 ? 1 : 97)
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_collect_open(&out, &c.task, &c.key, c.request,
                                        sotto_bytes_of(answer.data, len), &t->arena, &t->err));
}

static void a_query_fits_its_task(sotto_test *t)
{
    uint8_t memory[128];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_collection_query next = {0, 0}, backwards, crooked;

    sotto_test_collection_init(t, &c);
    backwards = (sotto_collection_query){c.task.closes, c.task.opens};
    crooked = (sotto_collection_query){c.task.opens + 1, c.task.closes};
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_collect_query_encode(&out, &c.task, &next, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_collect_query_encode(&out, &c.task, &backwards, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_collect_query_encode(&out, &c.task, &crooked, &t->err));
    c.task.batch_mode = SOTTO_DAP_LEADER_SELECTED;
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_collect_query_encode(&out, &c.task, &c.query, &t->err));
    CHECK_OK(t, sotto_collect_query_encode(&out, &c.task, &next, &t->err));
}

/* The leader chose it; still it can't be of a time when the task was not there. */
static void a_selected_batch_lies_within_the_schedule(sotto_test *t)
{
    sotto_collection out;
    sotto_collection_query next = {0, 0};
    sotto_buf request;

    sotto_test_collection_init(t, &c);
    c.task.batch_mode = SOTTO_DAP_LEADER_SELECTED;
    request = sotto_buf_over(c.request_memory, sizeof c.request_memory);
    CHECK_OK(t, sotto_collect_query_encode(&request, &c.task, &next, &t->err));
    c.request = sotto_buf_bytes(&request);
    CHECK_OK(t, open_it(t, &out));
    c.interval.start = c.task.closes / c.task.precision;
    CHECK_STATUS(t, SOTTO_REJECTED, open_it(t, &out));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(two_shares_become_the_sums),
        CASE(a_batch_of_another_time_is_refused),
        CASE(a_batch_below_its_minimum_is_refused),
        CASE(a_share_sealed_to_another_key_says_so),
        CASE(shares_open_for_their_sender_request_and_task_only),
        CASE(shares_that_do_not_belong_together_are_refused),
        CASE(a_sum_above_the_reports_is_refused),
        CASE(sums_above_what_proofs_allow_are_refused),
        CASE(sums_may_be_off_by_the_servers_noise),
        CASE(the_total_may_be_off_by_the_noise_of_all_sums),
        CASE(every_truncation_is_refused),
        CASE(a_query_fits_its_task),
        CASE(a_selected_batch_lies_within_the_schedule),
    };

    return RUN_TESTS(argc, argv, cases);
}
