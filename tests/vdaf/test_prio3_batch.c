/* A report's bytes and fate do not depend on its neighbours in the batch. */
#include "support/prio3.h"

#include "crypto/keccak.h"
#include "vdaf/circuit.h"

#include <string.h>

enum { MOST = 9 };

/* What one report comes to by itself, at both aggregators. */
typedef struct alone {
    sotto_test_round round;
    sotto_status status;
} alone;

static alone run_alone(sotto_test *t, const sotto_test_prio3 *p, const sotto_test_report *report)
{
    alone a = {.round = sotto_test_round_run(t, p, report, 1)};

    a.status = sotto_test_round_status(p, &a.round, 0);
    return a;
}

static void check_same(sotto_test *t, const sotto_test_prio3 *p, const sotto_test_round *batch,
                       size_t i, const alone *one)
{
    for (unsigned a = 0; a < 2; a++)
        sotto_test_same_verification(t, p, &one->round.states[a][0], &batch->states[a][i]);
    CHECK_EQUAL(t, one->round.verdicts[0].status, batch->verdicts[i].status);
    CHECK_BYTES(t, one->round.verdicts[0].message, batch->verdicts[i].message,
                p->vdaf.sizes.verifier_message);
}

/* The ways in which a report can be refused: before it has a lane, after it had one, or not at all. */
typedef enum flaw {
    NONE,
    SHORT_SHARE,
    LONG_SHARE,
    SPOILT_SHARE,
    BAD_PUBLIC,
    BAD_PROOF,
    FLAWS
} flaw;

static sotto_test_report flawed_report(sotto_test *t, sotto_test_prio3 *p, flaw how)
{
    sotto_test_report r = sotto_test_report_random(t, p);

    switch (how) {
    case SHORT_SHARE:
        r.shares[0].len--;
        r.shares[1].len--;
        break;
    case LONG_SHARE: {
        uint8_t *longer = sotto_test_take(t, r.shares[0].len + 1);
        memcpy(longer, r.shares[0].data, r.shares[0].len);
        r.shares[0] = (sotto_buf){longer, r.shares[0].len + 1, r.shares[0].len + 1};
        r.shares[1].len = 0;
        break;
    }
    case SPOILT_SHARE: /* the leader refuses it, the helper does not notice */
        sotto_test_spoil_element(p, r.shares[0].data, 0);
        break;
    case BAD_PUBLIC:
        r.public_share = sotto_test_buf(t, 256);
        r.public_share.len = p->vdaf.sizes.public_share + 32;
        break;
    case BAD_PROOF:
        sotto_test_bump_element(p, r.shares[0].data, 0);
        break;
    case NONE:
    case FLAWS:
        break;
    }
    return r;
}

static sotto_status fate_of(flaw how)
{
    return how == NONE ? SOTTO_OK : how == BAD_PROOF ? SOTTO_REJECTED : SOTTO_MALFORMED;
}

static void check_batch(sotto_test *t, const sotto_test_prio3 *p, const sotto_test_report *reports,
                        const flaw *how, const alone *single, size_t count)
{
    sotto_test_round round = sotto_test_round_run(t, p, reports, count);
    sotto_uint128 got[16], wanted[16];
    uint64_t valid = 0;

    for (size_t i = 0; i < count; i++) {
        CHECK_STATUS(t, fate_of(how[i]), sotto_test_round_status(p, &round, i));
        check_same(t, p, &round, i, &single[i]);
        valid += how[i] == NONE;
    }
    CHECK_EQUAL(t, valid, sotto_test_round_sum(t, p, &round, got));
    sotto_test_plain_sum(t, p, &round, reports, wanted);
    CHECK_BYTES(t, wanted, got, p->vdaf.sizes.outputs * sizeof *got);
}

static void run_with_flaw_at(sotto_test *t, const sotto_prio3_config *config, flaw what,
                             size_t count, size_t at)
{
    sotto_test_prio3 p = sotto_test_prio3_of(t, config, 100 * count + at);
    sotto_test_report reports[MOST];
    alone single[MOST];
    flaw how[MOST];

    for (size_t i = 0; i < count; i++) {
        how[i] = i == at ? what : NONE;
        reports[i] = flawed_report(t, &p, how[i]);
        single[i] = run_alone(t, &p, &reports[i]);
    }
    check_batch(t, &p, reports, how, single, count);
    sotto_arena_reset(&t->arena);
}

static void a_refused_report_in_any_position_leaves_its_neighbours_alone(sotto_test *t)
{
    for (size_t c = 0; c < sotto_test_config_count; c++)
        for (flaw what = NONE; what < FLAWS; what++)
            for (size_t count = 1; count <= MOST; count++)
                for (size_t at = 0; at < count; at++)
                    run_with_flaw_at(t, &sotto_test_configs[c], what, count, at);
}

static void any_mix_of_flaws_leaves_the_others_alone(sotto_test *t)
{
    for (size_t c = 0; c < sotto_test_config_count; c++) {
        for (uint64_t trial = 0; trial < 30; trial++) {
            sotto_test_prio3 p = sotto_test_prio3_of(t, &sotto_test_configs[c], trial);
            size_t count = 1 + sotto_sim_random_below(&p.random, MOST);
            sotto_test_report reports[MOST];
            alone single[MOST];
            flaw how[MOST];

            for (size_t i = 0; i < count; i++) {
                how[i] = (flaw)sotto_sim_random_below(&p.random, FLAWS);
                reports[i] = flawed_report(t, &p, how[i]);
                single[i] = run_alone(t, &p, &reports[i]);
            }
            check_batch(t, &p, reports, how, single, count);
            sotto_arena_reset(&t->arena);
        }
    }
}

/* Verifier shares that went bad on their way, by length and by value. */
static void a_bad_verifier_share_in_any_position_leaves_the_other_verdicts_alone(sotto_test *t)
{
    for (size_t c = 0; c < sotto_test_config_count; c++) {
        for (size_t at = 0; at < MOST; at++) {
            sotto_test_prio3 p = sotto_test_prio3_of(t, &sotto_test_configs[c], at);
            sotto_test_report reports[MOST];

            for (size_t i = 0; i < MOST; i++)
                reports[i] = sotto_test_report_random(t, &p);
            sotto_test_round good = sotto_test_round_run(t, &p, reports, MOST);
            sotto_test_round bad = sotto_test_round_init(t, &p, reports, MOST);

            if (at % 2)
                bad.shares[2 * at + 1].len--;
            else
                sotto_test_bump_element(&p, (uint8_t *)(uintptr_t)bad.shares[2 * at + 1].data, 0);
            sotto_test_round_decide(t, &p, &bad);
            for (size_t i = 0; i < MOST; i++) {
                sotto_status wanted = at % 2 ? SOTTO_MALFORMED : SOTTO_REJECTED;

                CHECK_STATUS(t, i == at ? wanted : SOTTO_OK, bad.verdicts[i].status);
                if (i != at)
                    CHECK_BYTES(t, good.verdicts[i].message, bad.verdicts[i].message,
                                p.vdaf.sizes.verifier_message);
            }
            sotto_arena_reset(&t->arena);
        }
    }
}

/* The same batch through every backend, since each has its own way with unused lanes. */
static void batches_of_every_size_are_alike_on_every_backend(sotto_test *t)
{
    static const char *const backends[] = {"scalar", "bmi", "avx2", "avx512vl", "neon"};

    for (size_t b = 0; b < sizeof backends / sizeof backends[0]; b++) {
        if (!sotto_keccak_use(backends[b]))
            continue;
        for (size_t c = 0; c < sotto_test_config_count; c++)
            for (size_t count = 1; count <= MOST; count++)
                run_with_flaw_at(t, &sotto_test_configs[c], SHORT_SHARE, count, count / 2);
    }
    CHECK(t, sotto_keccak_use(NULL));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_refused_report_in_any_position_leaves_its_neighbours_alone),
        CASE(any_mix_of_flaws_leaves_the_others_alone),
        CASE(a_bad_verifier_share_in_any_position_leaves_the_other_verdicts_alone),
        CASE(batches_of_every_size_are_alike_on_every_backend),
    };
    return RUN_TESTS(argc, argv, cases);
}
