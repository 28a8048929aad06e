/* A finished call leaves no XOF state behind, neither in its own variables nor in what the permutation spilled.
 *
 * The permutation here writes words that stand nowhere else. Those of the capacity never become output, so one
 * that is found on the stack afterwards is a state, or a copy of one, that nobody wiped.
 */
#include "support/prio3.h"
#include "support/residue.h"

#include "base/stack.h"
#include "crypto/keccak.h"
#include "vdaf/prio3_xof.h"

#include <string.h>

/* The linker sends the library's calls here. */
void __real_sotto_wipe_stack(void);
void __wrap_sotto_wipe_stack(void);

static struct {
    unsigned wipes;
    size_t deepest; /* bytes that were in use below the caller's frame */
} seen;

__attribute__((noinline)) void __wrap_sotto_wipe_stack(void)
{
    size_t depth = sotto_test_stack_below(__builtin_frame_address(0));

    seen.wipes++;
    seen.deepest = depth > seen.deepest ? depth : seen.deepest;
    __real_sotto_wipe_stack();
}

#ifdef SOTTO_TEST_STACK_MOVES

int main(void)
{
    return sotto_test_none("a sanitizer moves what is on the stack");
}

#else

/* ---- the permutation ------------------------------------------------------------------------------- */

enum { CAPACITY_AT = SOTTO_TURBOSHAKE128_RATE / 8 };

/* Below the moduli, whichever word of an element it becomes. */
static const uint64_t mark = 0x00c0ffee5ec2e700;

static struct {
    unsigned calls;
    bool rejected_first; /* the first output is above every modulus */
    bool spills;
} permutation;

__attribute__((noinline)) static void spill(void)
{
    uint64_t spilled[SOTTO_KECCAK_WORDS];
    volatile uint64_t *at = spilled;

    for (unsigned w = 0; w < SOTTO_KECCAK_WORDS; w++)
        at[w] = mark | w;
}

static void marking_permute(sotto_keccak_row *words, unsigned lanes)
{
    bool ones = permutation.calls++ == 0 && permutation.rejected_first;

    for (unsigned w = 0; w < SOTTO_KECCAK_WORDS; w++)
        for (unsigned l = 0; l < lanes; l++)
            words[w][l] = ones && w < CAPACITY_AT ? ~(uint64_t)0 : mark | w;
    if (permutation.spills)
        spill();
}

static const sotto_keccak_backend marking = {"marking", marking_permute, NULL, NULL, NULL};

static void install(bool rejected_first, bool spills)
{
    permutation.calls = 0;
    permutation.rejected_first = rejected_first;
    permutation.spills = spills;
    sotto_keccak_install(&marking);
}

static void uninstall(sotto_test *t)
{
    CHECK(t, sotto_keccak_use(NULL));
}

static bool a_state_is_left(void)
{
    for (unsigned w = CAPACITY_AT; w < SOTTO_KECCAK_WORDS; w++) {
        uint64_t word = mark | w;

        if (sotto_test_stack_holds(&word, sizeof word))
            return true;
    }
    return false;
}

/* ---- one use of the XOF ---------------------------------------------------------------------------- */

enum { ELEMENTS = 2 };

typedef struct use {
    sotto_prio3_xof xof;
    uint8_t seed[SOTTO_PRIO3_SEED_SIZE];
    uint8_t out[64];
} use;

static use use_of(const sotto_test_prio3 *p)
{
    return (use){.xof = {.circuit = p->vdaf.circuit,
                         .usage = SOTTO_USAGE_MEAS_SHARE,
                         .context = p->verifier.context,
                         .lanes = 1}};
}

static void derive_seed(void *arg)
{
    use *u = arg;
    uint8_t *out = u->out;

    u->xof.seeds[0] = u->seed;
    sotto_prio3_derive_seed(&u->xof, &out);
}

static void expand(void *arg)
{
    use *u = arg;
    uint8_t *out = u->out;

    u->xof.seeds[0] = u->seed;
    sotto_prio3_expand(&u->xof, &out, ELEMENTS);
}

static void keep_a_state(void *arg)
{
    sotto_turboshake state;

    (void)arg;
    sotto_turboshake_start(&state, SOTTO_TURBOSHAKE128_RATE, 1);
    sotto_turboshake_finish(&state, 1);
    sotto_keccak_permute(state.words, 1);
}

static void check_leaves_no_state(sotto_test *t, void (*run)(void *), bool rejected_first)
{
    for (size_t c = 0; c < sotto_test_config_count; c++) {
        sotto_test_prio3 p = sotto_test_prio3_of(t, &sotto_test_configs[c], 1);
        use u = use_of(&p);

        install(rejected_first, false);
        sotto_test_on_own_stack(t, run, &u);
        uninstall(t);
        CHECK(t, permutation.calls > (rejected_first ? 1 : 0));
        CHECK(t, memcmp(u.out, &mark, sizeof mark) == 0); /* word 0: the stream was these words */
        CHECK(t, !a_state_is_left());
    }
}

static void a_state_that_is_kept_is_found(sotto_test *t)
{
    install(false, false);
    sotto_test_on_own_stack(t, keep_a_state, NULL);
    uninstall(t);
    CHECK(t, a_state_is_left());
}

static void deriving_a_seed_leaves_no_state(sotto_test *t)
{
    check_leaves_no_state(t, derive_seed, false);
}

static void expanding_a_share_leaves_no_state(sotto_test *t)
{
    check_leaves_no_state(t, expand, false);
}

static void expanding_a_share_with_a_rejected_draw_leaves_no_state(sotto_test *t)
{
    check_leaves_no_state(t, expand, true);
}

/* ---- a whole report -------------------------------------------------------------------------------- */

typedef struct sharding {
    const sotto_test_prio3 *p;
    sotto_test_report *report;
    sotto_arena scratch;
    sotto_status status;
} sharding;

static void shard(void *arg)
{
    sharding *s = arg;
    const sotto_prio3 *vdaf = &s->p->vdaf;

    s->report->public_share.len = 0;
    for (unsigned i = 0; i < vdaf->config.shares; i++)
        s->report->shares[i].len = 0;
    s->status =
        sotto_prio3_shard(vdaf, &s->report->public_share, s->report->shares, s->p->verifier.context,
                          s->report->measurement, s->report->nonce,
                          sotto_bytes_of(s->report->rand, vdaf->sizes.rand), &s->scratch, NULL);
}

static void shard_on_own_stack(sotto_test *t, const sotto_prio3_config *config, bool marked)
{
    sotto_test_prio3 p = sotto_test_prio3_of(t, config, 1);
    sotto_test_report report = sotto_test_report_random(t, &p);
    sharding s = {.p = &p, .report = &report};

    seen.wipes = 0;
    sotto_arena_init(&s.scratch, (size_t)64 << 20);
    if (marked)
        install(false, true);
    sotto_test_on_own_stack(t, shard, &s);
    if (marked)
        uninstall(t);
    sotto_arena_clear(&s.scratch);
    CHECK_OK(t, s.status);
    CHECK_EQUAL(t, 1, seen.wipes);
}

static void sharding_leaves_nothing_of_what_was_spilled(sotto_test *t)
{
    for (size_t c = 0; c < sotto_test_config_count; c++) {
        shard_on_own_stack(t, &sotto_test_configs[c], true);
        CHECK(t, permutation.calls > 0);
        CHECK(t, !a_state_is_left());
    }
}

#ifdef __OPTIMIZE__
/* Whatever the size of the report, and with the permutation that is in use. Unoptimised code, which nobody ships,
 * goes deeper: no inlined function shares its caller's frame there. */
static void sharding_reaches_no_deeper_than_what_is_wiped(sotto_test *t)
{
    static const sotto_prio3_config large = {
        .type = SOTTO_PRIO3_HISTOGRAM, .shares = 2, .length = 10000, .chunk_length = 100};

    seen.deepest = 0;
    for (size_t c = 0; c < sotto_test_config_count; c++)
        shard_on_own_stack(t, &sotto_test_configs[c], false);
    shard_on_own_stack(t, &large, false);
    CHECK(t, seen.deepest > 0);
    CHECK(t, seen.deepest <= SOTTO_STACK_WIPED);
}
#endif

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_state_that_is_kept_is_found),
        CASE(deriving_a_seed_leaves_no_state),
        CASE(expanding_a_share_leaves_no_state),
        CASE(expanding_a_share_with_a_rejected_draw_leaves_no_state),
        CASE(sharding_leaves_nothing_of_what_was_spilled),
#ifdef __OPTIMIZE__
        CASE(sharding_reaches_no_deeper_than_what_is_wiped),
#endif
    };
    return RUN_TESTS(argc, argv, cases);
}

#endif
