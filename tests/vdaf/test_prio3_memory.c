/* Ceilings are kept, failures leave nothing behind, and a report in flight costs one expanded share. */
#include "support/prio3.h"

#include "base/alloc.h"
#include "vdaf/circuit.h"

#include <string.h>

/* ---- how much -------------------------------------------------------------------------------------- */

static size_t peak_of(sotto_test *t, const sotto_test_prio3 *p, const sotto_test_report *reports,
                      size_t count, unsigned aggregator)
{
    sotto_prio3_verifier verifier = sotto_test_verifier(p, aggregator);
    sotto_prio3_verification *states = sotto_test_take(t, count * sizeof *states);
    sotto_prio3_report *views = sotto_test_take(t, count * sizeof *views);
    sotto_arena arena;

    for (size_t i = 0; i < count; i++)
        views[i] = sotto_test_view(&reports[i], aggregator);
    sotto_arena_init(&arena, SIZE_MAX / 2);
    CHECK_OK(t,
             sotto_prio3_verify_init(&p->vdaf, states, &verifier, views, count, &arena, &t->err));
    for (size_t i = 0; i < count; i++)
        CHECK_STATUS(t, SOTTO_AGAIN, states[i].status);
    size_t peak = arena.peak;
    sotto_arena_clear(&arena);
    return peak;
}

static void a_helper_holds_a_large_report_in_little_more_than_its_share(sotto_test *t)
{
    sotto_prio3_config config = {
        .type = SOTTO_PRIO3_HISTOGRAM, .shares = 2, .length = 100000, .chunk_length = 316};
    sotto_test_prio3 p = sotto_test_prio3_of(t, &config, 1);
    sotto_test_report report = sotto_test_report_random(t, &p);
    size_t peak = peak_of(t, &p, &report, 1, 1);

    CHECK(t, peak >= 1600000);               /* the expanded share itself */
    CHECK(t, peak <= 22 * 1024 * 1024 / 10); /* 2.2 MiB */
}

/* Each further report costs its verifier share and, at a helper, its expanded measurement share; whatever
 * else the batch works with is there once. */
static void a_batch_holds_one_expanded_share_a_report_and_scratch_once(sotto_test *t)
{
    enum { MOST = 40, OVERHEAD = 2 * 128 };

    for (size_t c = 0; c < sotto_test_config_count; c++) {
        sotto_prio3_config config = sotto_test_configs[c];
        sotto_test_report reports[MOST];

        if (config.type == SOTTO_PRIO3_HISTOGRAM)
            config.length = 3000, config.chunk_length = 55;
        sotto_test_prio3 p = sotto_test_prio3_of(t, &config, 2);
        for (size_t i = 0; i < MOST; i++)
            reports[i] = sotto_test_report_random(t, &p);
        for (unsigned a = 0; a < 2; a++) {
            size_t share = a ? sotto_circuit_bytes(p.vdaf.circuit, p.vdaf.circuit->meas_len) : 0;
            size_t each = share + p.vdaf.sizes.verifier_share + OVERHEAD;
            size_t few = peak_of(t, &p, reports, 4, a), many = peak_of(t, &p, reports, MOST, a);
            size_t shared_block = 4 * 4096; /* small requests share blocks of this size */

            CHECK(t, many - few <= (MOST - 4) * each + shared_block);
            /* Four lanes of proofs and randomness, one scratch. */
            CHECK(t, few <= 4 * each + 5 * p.vdaf.sizes.leader_share + 8 * shared_block);
        }
        sotto_arena_reset(&t->arena);
    }
}

/* Batches that join in one arena keep what outlives each call. What they were computed with is used again by the next. */
static void batches_in_one_arena_share_their_scratch(sotto_test *t)
{
    enum { CALLS = 8, EACH = 4 };
    sotto_prio3_config config = {
        .type = SOTTO_PRIO3_HISTOGRAM, .shares = 2, .length = 1000, .chunk_length = 32};
    sotto_test_prio3 p = sotto_test_prio3_of(t, &config, 4);
    sotto_prio3_verifier verifier = sotto_test_verifier(&p, 0);
    size_t most = CALLS * EACH * (p.vdaf.sizes.verifier_share + 128) + 4 * 4096, first = 0;
    sotto_prio3_verification states[EACH];
    sotto_prio3_report views[EACH];
    sotto_arena arena;

    for (size_t i = 0; i < EACH; i++) {
        sotto_test_report report = sotto_test_report_random(t, &p);
        views[i] = sotto_test_view(&report, 0);
    }
    sotto_arena_init(&arena, SIZE_MAX / 2);
    for (unsigned call = 0; call <= CALLS; call++) {
        CHECK_OK(t,
                 sotto_prio3_verify_init(&p.vdaf, states, &verifier, views, EACH, &arena, &t->err));
        first = call == 0 ? arena.held : first;
    }
    CHECK(t, arena.held - first <= most);
    sotto_arena_clear(&arena);
}

/* ---- too little ------------------------------------------------------------------------------------ */

static bool all_zero(const void *data, size_t len)
{
    const uint8_t *bytes = data;
    uint8_t any = 0;

    for (size_t i = 0; i < len; i++)
        any |= bytes[i];
    return any == 0;
}

static void check_failed_states(sotto_test *t, const sotto_prio3_verification *states, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CHECK_STATUS(t, SOTTO_NO_MEMORY, states[i].status);
        CHECK(t, states[i].reason != NULL);
        CHECK(t, !states[i].measurement_share && !states[i].verifier_share.len);
        CHECK(t, all_zero(states[i].joint_rand_seed, sizeof states[i].joint_rand_seed));
    }
}

/* An arena that was reset hands out the same memory in the same order. So a batch that succeeded tells
 * where a later one, which runs out of memory at its fifth report, put its first four. */
static void a_failed_batch_wipes_what_it_expanded(sotto_test *t)
{
    sotto_prio3_config config = {
        .type = SOTTO_PRIO3_HISTOGRAM, .shares = 2, .length = 1000, .chunk_length = 31};
    sotto_test_prio3 p = sotto_test_prio3_of(t, &config, 3);
    sotto_prio3_verifier verifier = sotto_test_verifier(&p, 1);
    size_t share = sotto_circuit_bytes(p.vdaf.circuit, p.vdaf.circuit->meas_len);
    sotto_prio3_verification states[5];
    sotto_prio3_report views[5];
    const void *where[4];
    sotto_arena arena;

    for (size_t i = 0; i < 5; i++) {
        sotto_test_report report = sotto_test_report_random(t, &p);
        views[i] = sotto_test_view(&report, 1);
    }
    sotto_arena_init(&arena, SIZE_MAX / 2);
    CHECK_OK(t, sotto_prio3_verify_init(&p.vdaf, states, &verifier, views, 4, &arena, &t->err));
    for (size_t i = 0; i < 4; i++) {
        where[i] = states[i].measurement_share;
        CHECK(t, !all_zero(where[i], share));
    }
    sotto_arena_reset(&arena);
    sotto_alloc_fail_after(0);
    sotto_status status =
        sotto_prio3_verify_init(&p.vdaf, states, &verifier, views, 5, &arena, NULL);
    sotto_alloc_fail_after(-1);
    CHECK_STATUS(t, SOTTO_NO_MEMORY, status);
    check_failed_states(t, states, 5);
    CHECK(t, !arena.used);
    for (size_t i = 0; i < 4; i++)
        CHECK(t, all_zero(where[i], share));
    /* The arena is as good as new. */
    CHECK_OK(t, sotto_prio3_verify_init(&p.vdaf, states, &verifier, views, 5, &arena, &t->err));
    sotto_arena_clear(&arena);
    CHECK_EQUAL(t, 0, arena.held);
}

/* Every ceiling up to the one that suffices: either all or a clean refusal. */
static void a_ceiling_is_kept_and_said_to_be_too_low(sotto_test *t)
{
    for (size_t c = 0; c < sotto_test_config_count; c++) {
        sotto_test_prio3 p = sotto_test_prio3_of(t, &sotto_test_configs[c], 4);
        sotto_test_report reports[6];

        for (size_t i = 0; i < 6; i++)
            reports[i] = sotto_test_report_random(t, &p);
        for (unsigned a = 0; a < 2; a++) {
            size_t enough = peak_of(t, &p, reports, 6, a);
            unsigned refused = 0;

            for (size_t ceiling = 0; ceiling <= enough; ceiling += 64) {
                sotto_prio3_verifier verifier = sotto_test_verifier(&p, a);
                sotto_prio3_verification states[6];
                sotto_prio3_report views[6];
                sotto_arena arena;

                for (size_t i = 0; i < 6; i++)
                    views[i] = sotto_test_view(&reports[i], a);
                sotto_arena_init(&arena, ceiling);
                t->err = (sotto_err){0};
                sotto_status status =
                    sotto_prio3_verify_init(&p.vdaf, states, &verifier, views, 6, &arena, &t->err);
                CHECK(t, status == SOTTO_OK || status == SOTTO_NO_MEMORY);
                if (status != SOTTO_OK) {
                    refused++;
                    CHECK_REASON(t, "ceiling");
                    check_failed_states(t, states, 6);
                    CHECK(t, !arena.used);
                }
                CHECK(t, arena.peak <= ceiling);
                sotto_arena_clear(&arena);
            }
            CHECK(t, refused > 0);
        }
    }
}

static void sharding_and_deciding_say_when_the_scratch_is_too_small(sotto_test *t)
{
    for (size_t c = 0; c < sotto_test_config_count; c++) {
        sotto_test_prio3 p = sotto_test_prio3_of(t, &sotto_test_configs[c], 5);
        sotto_test_report report = sotto_test_report_random(t, &p);
        sotto_test_round round = sotto_test_round_init(t, &p, &report, 1);
        sotto_arena none;

        sotto_arena_init(&none, 0);
        report.public_share.len = report.shares[0].len = report.shares[1].len = 0;
        CHECK_STATUS(t, SOTTO_NO_MEMORY,
                     sotto_prio3_shard(&p.vdaf, &report.public_share, report.shares,
                                       p.verifier.context, report.measurement, report.nonce,
                                       sotto_bytes_of(report.rand, p.vdaf.sizes.rand), &none,
                                       &t->err));
        CHECK_EQUAL(t, 0, report.public_share.len + report.shares[0].len + report.shares[1].len);
        CHECK_STATUS(t, SOTTO_NO_MEMORY,
                     sotto_prio3_verifier_shares_to_message(&p.vdaf, round.verdicts,
                                                            p.verifier.context, round.shares, 1,
                                                            &none, &t->err));
    }
}

/* ---- the n-th allocation fails --------------------------------------------------------------------- */

typedef struct deployment {
    sotto_arena setup, client, leader, helper;
} deployment;

/* Everything from parameters to an aggregate share. The first failure ends it. */
static sotto_status run_deployment(const sotto_prio3_config *config, deployment *d, bool ping_pong)
{
    enum { REPORTS = 5 };
    static uint8_t leader_shares[REPORTS][4096], helper_shares[REPORTS][64],
        public_shares[REPORTS][64];
    static const uint8_t rand[256], nonce[16];
    static const uint64_t zeros[64];
    sotto_prio3_verifier leader = {.aggregator = 0}, helper = {.aggregator = 1};
    sotto_prio3_verification ours[REPORTS], theirs[REPORTS];
    sotto_prio3_report to_leader[REPORTS] = {0}, to_helper[REPORTS] = {0};
    sotto_bytes there[REPORTS], back[REPORTS], pairs[2 * REPORTS], messages[REPORTS];
    sotto_prio3_verdict verdicts[REPORTS];
    sotto_prio3_agg agg;
    sotto_prio3 vdaf;
    bool vector = config->length && config->type != SOTTO_PRIO3_HISTOGRAM;
    sotto_measurement m = {zeros, vector ? (size_t)config->length : 1};

    SOTTO_TRY(sotto_prio3_init(&vdaf, &d->setup, config, NULL));
    for (size_t i = 0; i < REPORTS; i++) {
        sotto_buf pub = sotto_buf_over(public_shares[i], 64);
        sotto_buf shares[2] = {sotto_buf_over(leader_shares[i], 4096),
                               sotto_buf_over(helper_shares[i], 64)};

        SOTTO_TRY(sotto_prio3_shard(&vdaf, &pub, shares, sotto_bytes_of(NULL, 0), m, nonce,
                                    sotto_bytes_of(rand, vdaf.sizes.rand), &d->client, NULL));
        to_leader[i].public_share = to_helper[i].public_share = sotto_buf_bytes(&pub);
        to_leader[i].input_share = sotto_buf_bytes(&shares[0]);
        to_helper[i].input_share = sotto_buf_bytes(&shares[1]);
    }
    if (ping_pong) {
        SOTTO_TRY(sotto_ping_pong_leader_init(&vdaf, ours, there, &leader, to_leader, REPORTS,
                                              &d->leader, NULL));
        SOTTO_TRY(sotto_ping_pong_helper_init(&vdaf, theirs, back, &helper, to_helper, there,
                                              REPORTS, &d->helper, NULL));
        SOTTO_TRY(sotto_ping_pong_leader_continued(&vdaf, ours, back, REPORTS, NULL));
    } else {
        SOTTO_TRY(
            sotto_prio3_verify_init(&vdaf, ours, &leader, to_leader, REPORTS, &d->leader, NULL));
        SOTTO_TRY(
            sotto_prio3_verify_init(&vdaf, theirs, &helper, to_helper, REPORTS, &d->helper, NULL));
        for (size_t i = 0; i < REPORTS; i++) {
            pairs[2 * i] = ours[i].verifier_share;
            pairs[2 * i + 1] = theirs[i].verifier_share;
            messages[i] = sotto_bytes_of(verdicts[i].message, vdaf.sizes.verifier_message);
        }
        SOTTO_TRY(sotto_prio3_verifier_shares_to_message(&vdaf, verdicts, sotto_bytes_of(NULL, 0),
                                                         pairs, REPORTS, &d->client, NULL));
        SOTTO_TRY(sotto_prio3_verify_next(&vdaf, ours, messages, REPORTS, NULL));
    }
    SOTTO_TRY(sotto_prio3_agg_init(&vdaf, &agg, &d->setup, NULL));
    SOTTO_TRY(sotto_prio3_accumulate(&vdaf, &agg, ours, REPORTS, NULL));
    return agg.reports == REPORTS ? SOTTO_OK : SOTTO_BUG;
}

static void check_every_failure(sotto_test *t, const sotto_prio3_config *config, bool ping_pong)
{
    long failures = 0;

    for (long n = 0;; n++) {
        deployment d;
        sotto_arena *arenas[] = {&d.setup, &d.client, &d.leader, &d.helper};

        for (size_t i = 0; i < 4; i++)
            sotto_arena_init(arenas[i], SIZE_MAX / 2);
        sotto_alloc_fail_after(n);
        sotto_status status = run_deployment(config, &d, ping_pong);
        sotto_alloc_fail_after(-1);
        for (size_t i = 0; i < 4; i++) {
            sotto_arena_clear(arenas[i]);
            CHECK_EQUAL(t, 0, arenas[i]->held);
        }
        if (status == SOTTO_OK)
            break;
        CHECK_STATUS(t, SOTTO_NO_MEMORY, status);
        failures++;
    }
    CHECK(t, failures >= 4); /* every arena asked at least once */
}

static void the_nth_allocation_may_fail_for_each_n(sotto_test *t)
{
    for (size_t c = 0; c < sotto_test_config_count; c++) {
        check_every_failure(t, &sotto_test_configs[c], false);
        check_every_failure(t, &sotto_test_configs[c], true);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_helper_holds_a_large_report_in_little_more_than_its_share),
        CASE(a_batch_holds_one_expanded_share_a_report_and_scratch_once),
        CASE(batches_in_one_arena_share_their_scratch),
        CASE(a_failed_batch_wipes_what_it_expanded),
        CASE(a_ceiling_is_kept_and_said_to_be_too_low),
        CASE(sharding_and_deciding_say_when_the_scratch_is_too_small),
        CASE(the_nth_allocation_may_fail_for_each_n),
    };
    return RUN_TESTS(argc, argv, cases);
}
