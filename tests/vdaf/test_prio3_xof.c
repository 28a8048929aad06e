/* Draws that must be rejected, forced in every lane: a Keccak that writes ones where a test asks for them.
 *
 * Such a draw comes once in 2^32 elements of Field64 and once in 2^59 of Field128, so chance tests nothing.
 * What the patched permutation does to a state depends on that state alone: a lane's bytes are the same
 * whatever the others hold.
 */
#include "support/prio3.h"

#include "crypto/xof.h"
#include "math/poly.h"
#include "vdaf/flp.h"
#include "vdaf/prio3_xof.h"

#include <string.h>

enum { MARK = 0xee, RATE_WORDS = SOTTO_TURBOSHAKE128_RATE / 8, CONTEXT_LEN = 15 };

/* ---- the patched permutation ----------------------------------------------------------------------- */

typedef enum rule {
    MARKED_SEEDS, /* a seed that starts with MARK, a, n: words a to a + n - 1 of the first output are ones */
    COMMON, /* about every fourth state has one word of ones                                        */
    ROOT_POINT, /* a nonce that starts with MARK: the query randomness holds the words below            */
} rule;

static struct {
    rule rule;
    unsigned at, count;
    uint64_t words[2];
} patch;

/* Where XofTurboShake128 puts things in its first block, for a context of CONTEXT_LEN bytes. */
enum { USAGE_AT = 2 + 7, SEED_AT = 2 + 8 + CONTEXT_LEN + 1, NONCE_AT = SEED_AT + 32 + 1 };

static uint8_t byte_at(uint64_t words[SOTTO_KECCAK_WORDS], unsigned at)
{
    return (uint8_t)(words[at / 8] >> (8 * (at % 8)));
}

static void patch_state(uint64_t before[SOTTO_KECCAK_WORDS], sotto_keccak_row *words, unsigned lane)
{
    bool first = !(before[21] | before[22] | before[23] | before[24]);

    if (patch.rule == COMMON) {
        if ((words[24][lane] & 3) == 0)
            words[words[23][lane] % RATE_WORDS][lane] = ~(uint64_t)0;
    } else if (patch.rule == MARKED_SEEDS) {
        unsigned from = byte_at(before, SEED_AT + 1), count = byte_at(before, SEED_AT + 2);

        if (first && byte_at(before, USAGE_AT) <= 5 && byte_at(before, SEED_AT) == MARK)
            for (unsigned w = from; w < from + count && w < RATE_WORDS; w++)
                words[w][lane] = ~(uint64_t)0;
    } else if (first && byte_at(before, USAGE_AT) == SOTTO_USAGE_QUERY_RANDOMNESS &&
               byte_at(before, NONCE_AT) == MARK) {
        for (unsigned w = 0; w < patch.count; w++)
            words[patch.at + w][lane] = patch.words[w];
    }
}

static void patched_permute(sotto_keccak_row *words, unsigned lanes)
{
    uint64_t before[SOTTO_LANES][SOTTO_KECCAK_WORDS];

    for (unsigned l = 0; l < lanes; l++)
        for (unsigned w = 0; w < SOTTO_KECCAK_WORDS; w++)
            before[l][w] = words[w][l];
    sotto_keccak_scalar.permute(words, lanes);
    for (unsigned l = 0; l < lanes; l++)
        patch_state(before[l], words, l);
}

static const sotto_keccak_backend patched = {"patched", patched_permute, NULL, NULL, NULL};

static void install(rule what)
{
    patch.rule = what;
    sotto_keccak_install(&patched);
}

static void uninstall(sotto_test *t)
{
    CHECK(t, sotto_keccak_use(NULL));
}

/* ---- a slow expander ------------------------------------------------------------------------------- */

static bool below_modulus(const uint8_t *bytes, size_t size)
{
    static const uint8_t p64[8] = {1, 0, 0, 0, 255, 255, 255, 255};
    static const uint8_t p128[16] = {1,   0,   0,   0,   0,   0,   0,   0,
                                     228, 255, 255, 255, 255, 255, 255, 255};
    const uint8_t *p = size == 8 ? p64 : p128;

    for (size_t i = size; i-- > 0;)
        if (bytes[i] != p[i])
            return bytes[i] < p[i];
    return false;
}

/* One element at a time, as the draft's next_vec does. Returns how many draws were rejected. */
static unsigned expand_slowly(const sotto_prio3_xof *x, unsigned lane, uint8_t *out, size_t count)
{
    uint32_t algorithm = x->circuit->algorithm;
    uint8_t dst[8 + CONTEXT_LEN] = {18,
                                    0,
                                    (uint8_t)(algorithm >> 24),
                                    (uint8_t)(algorithm >> 16),
                                    (uint8_t)(algorithm >> 8),
                                    (uint8_t)algorithm,
                                    0,
                                    (uint8_t)x->usage};
    const uint8_t *binder = x->binder[lane];
    size_t size = x->circuit->element_size;
    unsigned rejected = 0;
    sotto_turboshake state;

    memcpy(dst + 8, x->context.data, CONTEXT_LEN);
    sotto_xof_turboshake128_init(&state, 1, sotto_bytes_of(dst, sizeof dst), &x->seeds[lane],
                                 &binder, x->binder_len, NULL, 0);
    for (size_t have = 0; have < count;) {
        uint8_t *at = out + have * size;

        sotto_turboshake_squeeze(&state, &at, size);
        if (below_modulus(at, size))
            have++;
        else
            rejected++;
    }
    return rejected;
}

/* ---- expanding ------------------------------------------------------------------------------------- */

/* Marks the seeds of the lanes in `mask`; the words from `from` on are then rejected there. */
static void check_expand(sotto_test *t, const sotto_test_prio3 *p, unsigned lanes, unsigned mask,
                         uint8_t from, uint8_t words, size_t count)
{
    enum { MOST = 64 * 16 };
    sotto_sim_random random = sotto_sim_random_fork(&p->random, lanes * 1000 + mask * 50 + from);
    uint8_t seeds[SOTTO_LANES][32], got[SOTTO_LANES][MOST], wanted[MOST];
    uint8_t *out[SOTTO_LANES];
    size_t size = p->vdaf.circuit->element_size;
    sotto_prio3_xof x = {.circuit = p->vdaf.circuit,
                         .usage = SOTTO_USAGE_MEAS_SHARE,
                         .context = p->verifier.context,
                         .lanes = lanes,
                         .binder_len = 1};

    for (unsigned l = 0; l < lanes; l++) {
        sotto_sim_random_bytes(&random, seeds[l], 32);
        seeds[l][0] = (mask >> l & 1) ? MARK : (uint8_t)(seeds[l][0] & 0x7f);
        seeds[l][1] = from;
        seeds[l][2] = words;
        x.seeds[l] = seeds[l];
        x.binder[l][0] = (uint8_t)l;
        out[l] = got[l];
    }
    sotto_prio3_expand(&x, out, count);
    for (unsigned l = 0; l < lanes; l++) {
        unsigned rejected = expand_slowly(&x, l, wanted, count);

        CHECK_BYTES(t, wanted, got[l], count * size);
        CHECK(t, (rejected > 0) == (mask >> l & 1));
    }
}

static void check_every_lane(sotto_test *t, const sotto_prio3_config *config)
{
    sotto_test_prio3 p = sotto_test_prio3_of(t, config, 1);
    size_t size = p.vdaf.circuit->element_size;

    install(MARKED_SEEDS);
    for (unsigned lanes = 1; lanes <= SOTTO_LANES; lanes++) {
        for (unsigned mask = 0; mask < 1u << lanes; mask++) {
            /* The first element, one in the middle, the last of many; one and several in a row; a whole
             * block. Also the last word of a block, which in Field128 is half an element. */
            check_expand(t, &p, lanes, mask, 0, (uint8_t)(size / 8), 1);
            check_expand(t, &p, lanes, mask, 0, (uint8_t)(size / 8), 2);
            check_expand(t, &p, lanes, mask, 4, 2, 10);
            check_expand(t, &p, lanes, mask, 1, 7, 10);
            check_expand(t, &p, lanes, mask, (uint8_t)(9 * size / 8), 2, 10);
            check_expand(t, &p, lanes, mask, 0, 20, 64);
            check_expand(t, &p, lanes, mask, 0, 21, 64);
            check_expand(t, &p, lanes, mask, 17, 4, 21);
        }
    }
    uninstall(t);
}

static void a_rejected_draw_in_any_lane_of_field64_is_drawn_again(sotto_test *t)
{
    check_every_lane(t, &sotto_test_configs[1]);
    check_every_lane(t, &sotto_test_configs[6]);
}

static void a_rejected_draw_in_any_lane_of_field128_is_drawn_again(sotto_test *t)
{
    check_every_lane(t, &sotto_test_configs[3]);
}

/* ---- expanding and hashing in the same permutations -------------------------------------------------- */

enum { MOST_ELEMENTS = 90, MOST_BYTES = MOST_ELEMENTS * 16 };

/* A client's shares: `rest` is what the expanded one leaves. */
typedef struct shares {
    size_t element_size, told;
    uint8_t expanded[MOST_BYTES], rest[MOST_BYTES];
} shares;

/* Stands for the subtraction: whatever is hashed must have been made before. */
static void make_rest(void *arg, size_t from, size_t count)
{
    shares *s = arg;

    if (from == s->told) /* in order, nothing twice */
        s->told += count;
    for (size_t i = from * s->element_size; i < (from + count) * s->element_size; i++)
        s->rest[i] = (uint8_t)(s->expanded[i] ^ 0x5a);
}

/* The same bytes as one after the other, for `lanes` seeds derived and a context of any length. */
static void check_both(sotto_test *t, const sotto_circuit *c, unsigned lanes, size_t context,
                       size_t count, uint8_t salt)
{
    static const uint8_t zeros[256];
    uint8_t random[3][32] = {{MARK, 0, 1, salt}, {1, salt}, {2, salt}};
    uint8_t seeds[2][32], wanted_seeds[2][32], wanted[MOST_BYTES];
    uint8_t *seeds_out[2] = {seeds[0], seeds[1]},
            *wanted_out[2] = {wanted_seeds[0], wanted_seeds[1]};
    uint8_t *wanted_at = wanted;
    shares s = {.element_size = c->element_size};
    sotto_prio3_xof x = {.circuit = c,
                         .usage = SOTTO_USAGE_MEAS_SHARE,
                         .context = sotto_bytes_of(zeros, context),
                         .lanes = 1,
                         .seeds = {random[0]},
                         .binder_len = 1};
    sotto_prio3_xof d = {.circuit = c,
                         .usage = SOTTO_USAGE_JOINT_RAND_PART,
                         .context = x.context,
                         .lanes = lanes,
                         .seeds = {random[1], random[2]},
                         .binder = {{1, salt}, {2, salt}},
                         .binder_len = 17,
                         .bodies = {s.expanded, s.rest},
                         .body_len = count * c->element_size};

    sotto_prio3_expand_and_derive(&x, s.expanded, count, make_rest, &s, &d, seeds_out);
    sotto_prio3_expand(&x, &wanted_at, count);
    CHECK_EQUAL(t, count, s.told);
    CHECK_BYTES(t, wanted, s.expanded, count * c->element_size);
    for (size_t i = 0; i < count * c->element_size; i++)
        CHECK(t, s.rest[i] == (uint8_t)(wanted[i] ^ 0x5a));
    sotto_prio3_derive_seed(&d, wanted_out);
    for (unsigned l = 0; l < lanes; l++)
        CHECK_BYTES(t, wanted_seeds[l], seeds[l], 32);
}

static void check_both_of(sotto_test *t, const sotto_prio3_config *config)
{
    /* What comes before the shares has 60 bytes and the context: it ends in a block's first byte, its last, and in between. */
    static const size_t contexts[] = {0, 15, 38, 100, 107, 108, 109, 200};
    sotto_test_prio3 p = sotto_test_prio3_of(t, config, 1);

    for (size_t i = 0; i < sizeof contexts / sizeof contexts[0]; i++)
        for (size_t count = 1; count <= MOST_ELEMENTS; count++)
            check_both(t, p.vdaf.circuit, 1 + count % 2, contexts[i], count, (uint8_t)count);
}

static void expanding_and_hashing_together_gives_the_same_bytes(sotto_test *t)
{
    check_both_of(t, &sotto_test_configs[1]);
    check_both_of(t, &sotto_test_configs[3]);
}

static void they_give_the_same_bytes_where_rejections_are_common(sotto_test *t)
{
    install(COMMON);
    check_both_of(t, &sotto_test_configs[1]);
    check_both_of(t, &sotto_test_configs[3]);
    uninstall(t);
}

/* ---- expanding several, and hashing them --------------------------------------------------------------- */

enum { LONG_BYTES = 100 * SOTTO_TURBOSHAKE128_RATE };

static void check_hashed(sotto_test *t, const sotto_circuit *c, unsigned lanes, size_t context,
                         size_t count)
{
    static uint8_t expanded[SOTTO_LANES][LONG_BYTES], wanted[SOTTO_LANES][LONG_BYTES];
    static const uint8_t zeros[200];
    uint8_t seeds[2 * SOTTO_LANES][32], hashes[SOTTO_LANES][32], wanted_hashes[SOTTO_LANES][32];
    uint8_t *out[SOTTO_LANES], *wanted_out[SOTTO_LANES], *hash[SOTTO_LANES],
        *wanted_hash[SOTTO_LANES];
    sotto_prio3_xof x = {.circuit = c,
                         .usage = SOTTO_USAGE_MEAS_SHARE,
                         .context = sotto_bytes_of(zeros, context),
                         .lanes = lanes,
                         .binder_len = 1};
    sotto_prio3_xof d = {.circuit = c,
                         .usage = SOTTO_USAGE_JOINT_RAND_PART,
                         .context = x.context,
                         .lanes = lanes,
                         .binder_len = 17,
                         .body_len = count * c->element_size};

    CHECK(t, d.body_len <= LONG_BYTES);
    memset(expanded, 0xaa, sizeof expanded);
    for (unsigned l = 0; l < lanes; l++) {
        memset(seeds[l], (int)(count + l), 32);
        memset(seeds[SOTTO_LANES + l], (int)(3 * count + l), 32);
        x.seeds[l] = seeds[l];
        d.seeds[l] = seeds[SOTTO_LANES + l];
        d.bodies[l] = expanded[l];
        d.binder[l][0] = (uint8_t)l;
        out[l] = expanded[l], wanted_out[l] = wanted[l];
        hash[l] = hashes[l], wanted_hash[l] = wanted_hashes[l];
    }
    sotto_prio3_expand_and_hash(&x, out, count, &d, hash);
    sotto_prio3_expand(&x, wanted_out, count);
    sotto_prio3_derive_seed(&d, wanted_hash);
    for (unsigned l = 0; l < lanes; l++) {
        CHECK_BYTES(t, wanted[l], expanded[l], d.body_len);
        CHECK_BYTES(t, wanted_hashes[l], hashes[l], 32);
    }
}

/* Lengths around each piece's end, with hashes that begin a block's first byte, its last, and in between. */
static void check_hashed_of(sotto_test *t, const sotto_prio3_config *config)
{
    static const size_t contexts[] = {0, 15, 107, 108, 109};
    static const size_t blocks[] = {0, 1, 2, 31, 32, 33, 34, 61, 62, 63, 64, 91, 92, 93, 94};
    sotto_test_prio3 p = sotto_test_prio3_of(t, config, 1);
    const sotto_circuit *c = p.vdaf.circuit;

    for (size_t i = 0; i < sizeof contexts / sizeof contexts[0]; i++)
        for (size_t k = 0; k < sizeof blocks / sizeof blocks[0]; k++)
            for (size_t more = 1; more <= 3; more++)
                check_hashed(t, c, 1 + (unsigned)((k + more) % SOTTO_LANES), contexts[i],
                             blocks[k] * SOTTO_TURBOSHAKE128_RATE / c->element_size + more);
}

static void expanding_several_and_hashing_them_gives_the_same_bytes(sotto_test *t)
{
    static const char *const backends[] = {"scalar", "bmi", "avx2", "avx512vl", "neon"};

    for (size_t b = 0; b < sizeof backends / sizeof backends[0]; b++) {
        if (!sotto_keccak_use(backends[b]))
            continue;
        check_hashed_of(t, &sotto_test_configs[1]);
        check_hashed_of(t, &sotto_test_configs[3]);
    }
    uninstall(t);
    install(COMMON);
    check_hashed_of(t, &sotto_test_configs[1]);
    check_hashed_of(t, &sotto_test_configs[3]);
    uninstall(t);
}

/* ---- whole reports --------------------------------------------------------------------------------- */

/* Reports in a batch of four, those in `mask` with seeds whose expansion rejects draws. Each comes to the
 * same as alone, and all are valid, since the client drew in the same way. */
static void check_batch(sotto_test *t, const sotto_prio3_config *config, unsigned mask,
                        size_t count)
{
    sotto_test_prio3 p = sotto_test_prio3_of(t, config, mask);
    sotto_test_report reports[9];
    sotto_uint128 got[16], wanted[16];

    CHECK_EQUAL(t, CONTEXT_LEN, p.verifier.context.len);
    if (mask & 1) /* query randomness as well */
        memcpy(p.verifier.verify_key, (const uint8_t[]){MARK, 0, 2}, 3);
    for (size_t i = 0; i < count; i++) {
        reports[i] = sotto_test_report_random(t, &p);
        for (size_t seed = 0; seed < p.vdaf.sizes.rand / 32;
             seed++) /* of shares, of the prover, blinds */
            memcpy(
                reports[i].rand + 32 * seed,
                (const uint8_t[]){mask >> (i % 4) & 1 ? MARK : 1, (uint8_t)(i % 3), 2 + (uint8_t)i},
                3);
        sotto_test_report_shard(t, &p, &reports[i]);
    }
    sotto_test_round round = sotto_test_round_run(t, &p, reports, count);
    for (size_t i = 0; i < count; i++) {
        sotto_test_round single = sotto_test_round_run(t, &p, &reports[i], 1);

        CHECK_STATUS(t, SOTTO_OK, sotto_test_round_status(&p, &round, i));
        for (unsigned a = 0; a < 2; a++)
            sotto_test_same_verification(t, &p, &single.states[a][0], &round.states[a][i]);
    }
    CHECK_EQUAL(t, count, sotto_test_round_sum(t, &p, &round, got));
    sotto_test_plain_sum(t, &p, &round, reports, wanted);
    CHECK_BYTES(t, wanted, got, p.vdaf.sizes.outputs * sizeof *got);
    sotto_arena_reset(&t->arena);
}

static void reports_with_rejected_draws_verify_in_any_lane(sotto_test *t)
{
    install(MARKED_SEEDS);
    for (size_t c = 0; c < sotto_test_config_count; c++)
        for (unsigned mask = 0; mask < 16; mask++)
            check_batch(t, &sotto_test_configs[c], mask, 4 + mask % 6);
    uninstall(t);
}

static void reports_verify_where_rejections_are_common(sotto_test *t)
{
    install(COMMON);
    for (size_t c = 0; c < sotto_test_config_count; c++)
        for (unsigned trial = 0; trial < 40; trial++)
            check_batch(t, &sotto_test_configs[c], 2 * trial, 1 + trial % 9);
    uninstall(t);
}

/* ---- a test point that is a root of unity ---------------------------------------------------------- */

/* The k-th power of the root of order P, plain, as the words of its encoding. */
static void choose_root(const sotto_circuit *c, size_t k)
{
    if (c->field == 64) {
        patch.words[0] = sotto_f64_pow(sotto_f64_root(c->wire_log), k).v;
    } else {
        sotto_f128 w =
            sotto_f128_mul(sotto_f128_one(), sotto_f128_pow(sotto_f128_root(c->wire_log), k));
        patch.words[0] = w.low;
        patch.words[1] = w.high;
    }
}

static void check_root_at(sotto_test *t, const sotto_test_prio3 *p,
                          const sotto_test_report *reports, const sotto_test_round *before,
                          size_t count, size_t at)
{
    sotto_test_report copy[9];

    memcpy(copy, reports, count * sizeof *copy);
    copy[at].nonce[0] = MARK;
    sotto_test_round round = sotto_test_round_run(t, p, copy, count);
    for (size_t i = 0; i < count; i++) {
        for (unsigned a = 0; a < 2; a++) {
            const sotto_prio3_verification *state = &round.states[a][i];

            if (i != at) {
                sotto_test_same_verification(t, p, &before->states[a][i], state);
                continue;
            }
            CHECK_STATUS(t, SOTTO_REJECTED, state->status);
            CHECK(t, strstr(state->reason, "root of unity"));
            CHECK_EQUAL(t, 0, state->verifier_share.len);
        }
    }
}

static void a_report_whose_test_point_is_a_root_of_unity_is_rejected_alone(sotto_test *t)
{
    enum { COUNT = 6 };

    install(ROOT_POINT);
    for (size_t c = 0; c < sotto_test_config_count; c++) {
        sotto_test_prio3 p = sotto_test_prio3_of(t, &sotto_test_configs[c], 9);
        const sotto_circuit *k = p.vdaf.circuit;
        sotto_test_report reports[COUNT];

        for (size_t i = 0; i < COUNT; i++) {
            reports[i] = sotto_test_report_random(t, &p);
            reports[i].nonce[0] &= 0x7f;
            sotto_test_report_shard(t, &p, &reports[i]);
        }
        sotto_test_round before = sotto_test_round_run(t, &p, reports, COUNT);
        for (unsigned proof = 0; proof < k->proofs; proof++) {
            patch.count = (unsigned)k->element_size / 8;
            patch.at = (unsigned)((proof + 1) * k->query_rand_len - 1) * patch.count;
            for (size_t root = 0; root < (size_t)1 << k->wire_log; root++) {
                choose_root(k, root);
                check_root_at(t, &p, reports, &before, COUNT, (root + proof) % COUNT);
            }
        }
        sotto_arena_reset(&t->arena);
    }
    uninstall(t);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_rejected_draw_in_any_lane_of_field64_is_drawn_again),
        CASE(a_rejected_draw_in_any_lane_of_field128_is_drawn_again),
        CASE(expanding_and_hashing_together_gives_the_same_bytes),
        CASE(they_give_the_same_bytes_where_rejections_are_common),
        CASE(expanding_several_and_hashing_them_gives_the_same_bytes),
        CASE(reports_with_rejected_draws_verify_in_any_lane),
        CASE(reports_verify_where_rejections_are_common),
        CASE(a_report_whose_test_point_is_a_root_of_unity_is_rejected_alone),
    };
    return RUN_TESTS(argc, argv, cases);
}
