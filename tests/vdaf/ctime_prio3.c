/* Prio3 with its secrets marked: nothing but lengths may steer it, and what was declared public. */
#include "support/ctime.h"
#include "support/prio3.h"

#include "crypto/keccak.h"
#include "math/kernels128.h"

#include <string.h>

enum { REPORTS = 5 };

/* Larger than the common ones where that takes another path: many chunks, several blocks of Keccak. */
static const sotto_prio3_config larger[] = {
    {.type = SOTTO_PRIO3_SUM, .shares = 2, .max = 1},
    {.type = SOTTO_PRIO3_HISTOGRAM, .shares = 2, .length = 100, .chunk_length = 10},
    {.type = SOTTO_PRIO3_SUM_VEC, .shares = 3, .length = 30, .chunk_length = 7, .max = 255},
    {.type = SOTTO_PRIO3_MULTIHOT_COUNT_VEC,
     .shares = 2,
     .length = 60,
     .chunk_length = 8,
     .max = 60},
};

static void for_every_type(sotto_test *t, void (*check)(sotto_test *t, sotto_test_prio3 *p))
{
    size_t more = sizeof larger / sizeof larger[0];

    for (size_t c = 0; c < sotto_test_config_count + more; c++) {
        const sotto_prio3_config *config = c < more ? &larger[c] : &sotto_test_configs[c - more];
#ifdef SOTTO_CTIME
        const uint64_t seeds = 4;
#else
        const uint64_t seeds = 1;
#endif
        for (uint64_t seed = 0; seed < seeds; seed++) {
            sotto_test_prio3 p = sotto_test_prio3_of(t, config, seed);

            check(t, &p);
            sotto_arena_reset(&t->arena);
        }
    }
}

/* ---- the client ------------------------------------------------------------------------------------ */

static void mark_measurement(const sotto_test_report *report, const sotto_test_prio3 *p)
{
    sotto_ctime_secret(report->measurement.values,
                       report->measurement.count * sizeof *report->measurement.values);
    sotto_ctime_secret(report->rand, p->vdaf.sizes.rand);
}

static void check_shard(sotto_test *t, sotto_test_prio3 *p)
{
    sotto_test_report plain = sotto_test_report_random(t, p), marked = plain;

    mark_measurement(&marked, p);
    sotto_test_report_shard(t, p, &marked);
    sotto_ctime_public(marked.public_share.data, marked.public_share.len);
    CHECK_BYTES(t, plain.public_share.data, marked.public_share.data, plain.public_share.len);
    for (unsigned a = 0; a < p->vdaf.config.shares; a++) {
        sotto_ctime_public(marked.shares[a].data, marked.shares[a].len);
        CHECK_BYTES(t, plain.shares[a].data, marked.shares[a].data, plain.shares[a].len);
    }
    sotto_ctime_public(marked.rand, p->vdaf.sizes.rand);
}

static void sharding_takes_no_branch_on_measurement_or_randomness(sotto_test *t)
{
    for_every_type(t, check_shard);
}

/* That a measurement is none may be known; which one it is may not. */
static void check_denied(sotto_test *t, sotto_test_prio3 *p)
{
    sotto_test_report report = sotto_test_report_random(t, p);
    uint64_t *values = (uint64_t *)(uintptr_t)report.measurement.values;
    sotto_status status;

    for (size_t i = 0; i < report.measurement.count; i++)
        values[i] = UINT64_MAX;
    mark_measurement(&report, p);
    report.public_share.len = 0;
    for (unsigned a = 0; a < p->vdaf.config.shares; a++)
        report.shares[a].len = 0;
    status = sotto_prio3_shard(&p->vdaf, &report.public_share, report.shares, p->verifier.context,
                               report.measurement, report.nonce,
                               sotto_bytes_of(report.rand, p->vdaf.sizes.rand), &t->arena, &t->err);
    CHECK_STATUS(t, SOTTO_DENIED, status);
}

static void refusing_a_measurement_takes_no_branch_on_it(sotto_test *t)
{
    for_every_type(t, check_denied);
}

/* ---- aggregators ----------------------------------------------------------------------------------- */

/* Shares and the verification key are secret from here on. */
static void mark_reports(sotto_test_prio3 *p, const sotto_test_report *reports)
{
    for (size_t i = 0; i < REPORTS; i++)
        for (unsigned a = 0; a < p->vdaf.config.shares; a++)
            sotto_ctime_secret(reports[i].shares[a].data, reports[i].shares[a].len);
    sotto_ctime_secret(p->verifier.verify_key, sizeof p->verifier.verify_key);
}

/* One report in each batch is not what it says; it must not change what may be seen of the others. */
static void make_reports(sotto_test *t, sotto_test_prio3 *p, sotto_test_report *reports)
{
    for (size_t i = 0; i < REPORTS; i++)
        reports[i] = sotto_test_report_random(t, p);
    sotto_test_bump_element(p, reports[1].shares[0].data, 0);
    sotto_test_spoil_element(p, reports[2].shares[0].data, 1);
    mark_reports(p, reports);
}

static sotto_status fate(size_t i)
{
    return i == 1 ? SOTTO_REJECTED : i == 2 ? SOTTO_MALFORMED : SOTTO_OK;
}

static void check_sums(sotto_test *t, const sotto_test_prio3 *p, const sotto_test_round *round)
{
    for (unsigned a = 0; a < p->vdaf.config.shares; a++) {
        sotto_prio3_agg agg, other;
        size_t len = p->vdaf.sizes.out_share;
        sotto_buf out = sotto_test_buf(t, 2 * len);

        CHECK_OK(t, sotto_prio3_agg_init(&p->vdaf, &agg, &t->arena, &t->err));
        CHECK_OK(t, sotto_prio3_agg_init(&p->vdaf, &other, &t->arena, &t->err));
        CHECK_OK(t, sotto_prio3_accumulate(&p->vdaf, &agg, round->states[a], REPORTS, &t->err));
        CHECK_OK(t, sotto_prio3_accumulate(&p->vdaf, &other, round->states[a], REPORTS, &t->err));
        CHECK_OK(t, sotto_prio3_merge(&p->vdaf, &agg, &other, &t->err));
        for (size_t i = 0; i < p->vdaf.sizes.outputs; i++) {
            int64_t noise = i % 2 ? 5 : -7;

            sotto_ctime_secret(&noise, sizeof noise);
            CHECK_OK(t, sotto_prio3_agg_add(&p->vdaf, &agg, i, &noise, 1, &t->err));
        }
        CHECK_OK(t, sotto_prio3_agg_encode(&p->vdaf, &out, &agg, &t->err));
        CHECK_OK(t, sotto_prio3_out_share(&p->vdaf, &out, &round->states[a][0], &t->err));
    }
}

static void check_verification(sotto_test *t, sotto_test_prio3 *p)
{
    sotto_test_report reports[REPORTS];

    make_reports(t, p, reports);
    sotto_test_round round = sotto_test_round_init(t, p, reports, REPORTS);
    for (size_t i = 0; i < REPORTS * p->vdaf.config.shares; i++)
        sotto_ctime_public(round.shares[i].data, round.shares[i].len); /* they are sent */
    sotto_test_round_decide(t, p, &round);
    sotto_test_round_finish(t, p, &round);
    for (size_t i = 0; i < REPORTS; i++)
        CHECK_STATUS(t, fate(i), sotto_test_round_status(p, &round, i));
    check_sums(t, p, &round);
}

static void verifying_and_adding_up_take_no_branch_on_shares_or_key(sotto_test *t)
{
    for_every_type(t, check_verification);
}

/* A helper decides with its own verifier share, which nobody has declared public. */
static void check_ping_pong(sotto_test *t, sotto_test_prio3 *p)
{
    sotto_prio3_verifier leader, helper;
    sotto_prio3_verification ours[REPORTS], theirs[REPORTS];
    sotto_prio3_report to_leader[REPORTS], to_helper[REPORTS];
    sotto_bytes there[REPORTS], back[REPORTS];
    sotto_test_report reports[REPORTS];

    if (p->vdaf.config.shares != 2)
        return;
    make_reports(t, p, reports);
    leader = sotto_test_verifier(p, 0);
    helper = sotto_test_verifier(p, 1);
    for (size_t i = 0; i < REPORTS; i++) {
        to_leader[i] = sotto_test_view(&reports[i], 0);
        to_helper[i] = sotto_test_view(&reports[i], 1);
    }
    CHECK_OK(t, sotto_ping_pong_leader_init(&p->vdaf, ours, there, &leader, to_leader, REPORTS,
                                            &t->arena, &t->err));
    for (size_t i = 0; i < REPORTS; i++)
        sotto_ctime_public(there[i].data, there[i].len);
    CHECK_OK(t, sotto_ping_pong_helper_init(&p->vdaf, theirs, back, &helper, to_helper, there,
                                            REPORTS, &t->arena, &t->err));
    for (size_t i = 0; i < REPORTS; i++)
        sotto_ctime_public(back[i].data, back[i].len);
    CHECK_OK(t, sotto_ping_pong_leader_continued(&p->vdaf, ours, back, REPORTS, &t->err));
    for (size_t i = 0; i < REPORTS; i++) {
        CHECK_STATUS(t, fate(i), theirs[i].status);
        CHECK_STATUS(t, i == 1 ? SOTTO_REJECTED : fate(i), ours[i].status);
    }
}

static void ping_pong_takes_no_branch_on_shares_or_key(sotto_test *t)
{
    for_every_type(t, check_ping_pong);
}

/* Those of this machine that valgrind knows as well. */
static void every_keccak_backend_takes_no_branch_on_secrets(sotto_test *t)
{
    static const char *const backends[] = {"scalar", "bmi", "avx2", "avx512vl", "neon"};

    for (size_t b = 0; b < sizeof backends / sizeof backends[0]; b++) {
        if (!sotto_keccak_use(backends[b]))
            continue;
        for (size_t c = 2; c < 4; c++) {
            sotto_test_prio3 p = sotto_test_prio3_of(t, &sotto_test_configs[c], b);

            check_shard(t, &p);
            check_verification(t, &p);
            sotto_arena_reset(&t->arena);
        }
    }
    CHECK(t, sotto_keccak_use(NULL));
}

static void every_set_of_kernels_takes_no_branch_on_secrets(sotto_test *t)
{
    static const char *const kernels[] = {"portable", "avx2", "ifma"};

    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
        if (!sotto_f128_use(kernels[k]))
            continue;
        for (size_t c = 1; c < sizeof larger / sizeof larger[0]; c++) {
            sotto_test_prio3 p = sotto_test_prio3_of(t, &larger[c], k);

            check_shard(t, &p);
            check_verification(t, &p);
            sotto_arena_reset(&t->arena);
        }
    }
    CHECK(t, sotto_f128_use(NULL));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(sharding_takes_no_branch_on_measurement_or_randomness),
        CASE(refusing_a_measurement_takes_no_branch_on_it),
        CASE(verifying_and_adding_up_take_no_branch_on_shares_or_key),
        CASE(ping_pong_takes_no_branch_on_shares_or_key),
        CASE(every_keccak_backend_takes_no_branch_on_secrets),
        CASE(every_set_of_kernels_takes_no_branch_on_secrets),
    };
    return RUN_TESTS(argc, argv, cases);
}
