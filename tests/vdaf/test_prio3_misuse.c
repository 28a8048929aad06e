/* What a caller may get wrong without anybody's sum or share paying for it. */
#include "support/prio3.h"

#include <string.h>

static const sotto_prio3_config histogram = {
    .type = SOTTO_PRIO3_HISTOGRAM, .shares = 2, .length = 40, .chunk_length = 7};
static const sotto_prio3_config longer = {
    .type = SOTTO_PRIO3_HISTOGRAM, .shares = 2, .length = 400, .chunk_length = 20};

static bool all_zero(const void *memory, size_t len)
{
    const uint8_t *bytes = memory;
    uint8_t any = 0;

    for (size_t i = 0; i < len; i++)
        any = (uint8_t)(any | bytes[i]);
    return any == 0;
}

static void a_failed_batch_leaves_the_rest_of_the_arena_alone(sotto_test *t)
{
    sotto_test_prio3 p = sotto_test_prio3_of(t, &longer, 1);
    sotto_test_report reports[8];
    sotto_prio3_report views[8];
    sotto_prio3_verification states[8];
    sotto_prio3_verifier helper = sotto_test_verifier(&p, 1);
    sotto_prio3_agg agg;
    sotto_arena job;

    for (size_t i = 0; i < 8; i++) {
        reports[i] = sotto_test_report_random(t, &p);
        views[i] = sotto_test_view(&reports[i], 1);
    }
    sotto_arena_init(&job, 60000); /* the sum and a few reports, not eight */
    CHECK_OK(t, sotto_prio3_agg_init(&p.vdaf, &agg, &job, &t->err));
    memset(agg.elements, 7, p.vdaf.sizes.out_share);
    CHECK_STATUS(t, SOTTO_NO_MEMORY,
                 sotto_prio3_verify_init(&p.vdaf, states, &helper, views, 8, &job, &t->err));
    for (size_t i = 0; i < p.vdaf.sizes.out_share; i++)
        CHECK_EQUAL(t, 7, ((uint8_t *)agg.elements)[i]);
    /* And what is handed out next is wiped, and not the sum's. */
    uint8_t *next = sotto_arena_take(&job, 4000);
    CHECK(t, next && all_zero(next, 4000));
    CHECK(t, next >= (uint8_t *)agg.elements + p.vdaf.sizes.out_share ||
                 next + 4000 <= (uint8_t *)agg.elements);
    sotto_arena_clear(&job);
}

static void an_early_error_refuses_every_state_of_an_earlier_batch(sotto_test *t)
{
    static const uint8_t long_context[SOTTO_PRIO3_MAX_CONTEXT + 1];
    sotto_test_prio3 p = sotto_test_prio3_of(t, &histogram, 2);
    sotto_test_report report = sotto_test_report_random(t, &p);
    sotto_test_round round = sotto_test_round_run(t, &p, &report, 1);
    sotto_prio3_report view = sotto_test_view(&report, 0);
    sotto_prio3_verifier verifier = sotto_test_verifier(&p, 0);
    sotto_prio3_verification *state = &round.states[0][0];
    sotto_bytes outbound = sotto_bytes_of("x", 1);

    CHECK_STATUS(t, SOTTO_OK, state->status);
    verifier.context = sotto_bytes_of(long_context, sizeof long_context);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_prio3_verify_init(&p.vdaf, state, &verifier, &view, 1, &t->arena, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, state->status);

    *state = round.states[1][0];
    verifier = sotto_test_verifier(&p, 1);
    CHECK_STATUS(t, SOTTO_BUG,
                 sotto_ping_pong_leader_init(&p.vdaf, state, &outbound, &verifier, &view, 1,
                                             &t->arena, &t->err));
    CHECK_STATUS(t, SOTTO_BUG, state->status);
    CHECK_EQUAL(t, 0, outbound.len);

    sotto_prio3_verdict verdict = {.status = SOTTO_OK};
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_prio3_verifier_shares_to_message(
                     &p.vdaf, &verdict, sotto_bytes_of(long_context, sizeof long_context),
                     round.shares, 1, &t->arena, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, verdict.status);
}

static void a_zeroed_state_is_of_no_instance(sotto_test *t)
{
    sotto_test_prio3 p = sotto_test_prio3_of(t, &histogram, 3);
    sotto_prio3_verification zeroed = {0};
    uint8_t out[16 * 40];
    sotto_buf buf = sotto_buf_over(out, sizeof out);
    sotto_prio3_agg agg;

    CHECK_OK(t, sotto_prio3_agg_init(&p.vdaf, &agg, &t->arena, &t->err));
    CHECK_STATUS(t, SOTTO_BUG, sotto_prio3_accumulate(&p.vdaf, &agg, &zeroed, 1, &t->err));
    CHECK_EQUAL(t, 0, agg.reports);
    CHECK_STATUS(t, SOTTO_BUG, sotto_prio3_out_share(&p.vdaf, &buf, &zeroed, &t->err));
}

static void states_and_sums_of_another_instance_are_refused(sotto_test *t)
{
    sotto_test_prio3 ours = sotto_test_prio3_of(t, &longer, 4);
    sotto_test_prio3 theirs = sotto_test_prio3_of(t, &histogram, 5);
    sotto_test_report report = sotto_test_report_random(t, &theirs);
    sotto_test_round round = sotto_test_round_run(t, &theirs, &report, 1);
    sotto_prio3_verification *state = &round.states[0][0];
    sotto_prio3_agg sum, other;
    uint8_t wire[16 * 400];
    sotto_buf out = sotto_buf_over(wire, sizeof wire);

    CHECK_OK(t, sotto_prio3_agg_init(&ours.vdaf, &sum, &t->arena, &t->err));
    CHECK_OK(t, sotto_prio3_agg_init(&theirs.vdaf, &other, &t->arena, &t->err));
    CHECK_STATUS(t, SOTTO_BUG, sotto_prio3_accumulate(&ours.vdaf, &sum, state, 1, &t->err));
    CHECK_STATUS(t, SOTTO_BUG, sotto_prio3_accumulate(&theirs.vdaf, &sum, state, 1, &t->err));
    CHECK_STATUS(t, SOTTO_BUG, sotto_prio3_merge(&ours.vdaf, &sum, &other, &t->err));
    CHECK_STATUS(t, SOTTO_BUG, sotto_prio3_merge(&ours.vdaf, &other, &sum, &t->err));
    CHECK_STATUS(t, SOTTO_BUG, sotto_prio3_agg_encode(&ours.vdaf, &out, &other, &t->err));
    CHECK_STATUS(
        t, SOTTO_BUG,
        sotto_prio3_agg_decode(&ours.vdaf, &other, sotto_bytes_of(wire, sizeof wire), 1, &t->err));
    CHECK_STATUS(t, SOTTO_BUG, sotto_prio3_out_share(&ours.vdaf, &out, state, &t->err));
    state->status = SOTTO_AGAIN;
    sotto_bytes message = sotto_bytes_of(wire, SOTTO_PRIO3_SEED_SIZE);
    CHECK_STATUS(t, SOTTO_BUG, sotto_prio3_verify_next(&ours.vdaf, state, &message, 1, &t->err));
    CHECK_STATUS(t, SOTTO_BUG, state->status);
}

static void a_report_that_the_helper_refused_is_refused_by_the_leader(sotto_test *t)
{
    sotto_test_prio3 p = sotto_test_prio3_of(t, &histogram, 6);
    sotto_test_report report = sotto_test_report_random(t, &p);
    sotto_prio3_report view = sotto_test_view(&report, 0);
    sotto_prio3_verifier leader = sotto_test_verifier(&p, 0);
    sotto_prio3_verification state;
    sotto_bytes outbound, nothing = sotto_bytes_of(NULL, 0);

    CHECK_OK(t, sotto_ping_pong_leader_init(&p.vdaf, &state, &outbound, &leader, &view, 1,
                                            &t->arena, &t->err));
    CHECK_OK(t, sotto_ping_pong_leader_continued(&p.vdaf, &state, &nothing, 1, &t->err));
    CHECK_STATUS(t, SOTTO_REJECTED, state.status);
    CHECK(t, strstr(state.reason, "refused by the other aggregator"));
}

static void sharding_leaves_nothing_in_its_scratch(sotto_test *t)
{
    sotto_test_prio3 p = sotto_test_prio3_of(t, &longer, 7);
    sotto_test_report report = sotto_test_report_random(t, &p);
    sotto_arena scratch;

    sotto_arena_init(&scratch, 1 << 20);
    uint8_t *before = sotto_arena_take(&scratch, 64);
    memset(before, 9, 64);
    report.public_share.len = report.shares[0].len = report.shares[1].len = 0;
    CHECK_OK(t,
             sotto_prio3_shard(&p.vdaf, &report.public_share, report.shares, p.verifier.context,
                               report.measurement, report.nonce,
                               sotto_bytes_of(report.rand, p.vdaf.sizes.rand), &scratch, &t->err));
    CHECK_EQUAL(t, 9, before[63]);
    uint8_t *after = sotto_arena_take(&scratch, p.vdaf.sizes.leader_share);
    CHECK(t, after && all_zero(after, p.vdaf.sizes.leader_share));
    sotto_arena_clear(&scratch);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_failed_batch_leaves_the_rest_of_the_arena_alone),
        CASE(an_early_error_refuses_every_state_of_an_earlier_batch),
        CASE(a_zeroed_state_is_of_no_instance),
        CASE(states_and_sums_of_another_instance_are_refused),
        CASE(a_report_that_the_helper_refused_is_refused_by_the_leader),
        CASE(sharding_leaves_nothing_in_its_scratch),
    };
    return RUN_TESTS(argc, argv, cases);
}
