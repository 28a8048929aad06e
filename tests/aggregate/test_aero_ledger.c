/* Parameter sets, profiles of proofs, and the noise ledger: its figures, its refusals, and the noise that there really is. */
#include "aggregate/aero/ledger.h"
#include "aggregate/aero/proof.h"
#include "aggregate/aero/threshold.h"
#include "sim/random.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

static sotto_status fill(void *context, void *out, size_t len, sotto_err *err)
{
    (void)err;
    sotto_sim_random_bytes(context, out, len);
    return SOTTO_OK;
}

/* 1.2 million parameters of 16 bits, 10^4 contributors of whom 3% lie, 45 dealers, 19 members that open. */
static sotto_aero_wish whole(sotto_test *t, const char *set)
{
    sotto_aero_wish wish = {
        .devices = 11000,
        .liars = 330,
        .most = 1 << 15,
        .noise = 1 << 24,
        .dealers = 45,
        .threshold = 19,
        .rounds = 480,
        .ciphertexts = 293,
        .tries = 1,
        .failure = 40,
    };

    CHECK_OK(t, sotto_aero_set_named(&wish.set, set, &t->err));
    return wish;
}

static void a_set_below_128_bits_is_used_only_by_name(sotto_test *t)
{
    const sotto_aero_set *set = NULL;

    CHECK_OK(t, sotto_aero_set_for(&set, 60, &t->err));
    CHECK(t, strcmp(set->name, "b64") == 0 && set->bits_left >= 128);
    CHECK_OK(t, sotto_aero_set_for(&set, 65, &t->err));
    CHECK(t, strcmp(set->name, "b87") == 0 && set->bits_left >= 128);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_aero_set_for(&set, 88, &t->err));
    CHECK_REASON(t, "125 bits of security");
    CHECK_STATUS(t, SOTTO_DENIED, sotto_aero_set_for(&set, 110, &t->err));
    CHECK_OK(t, sotto_aero_set_named(&set, "b109", &t->err));
    CHECK_EQUAL(t, 125, set->bits);
    CHECK_OK(t, sotto_aero_set_named(&set, NULL, &t->err));
    CHECK(t, strcmp(set->name, "b87") == 0);
    CHECK_STATUS(t, SOTTO_MISSING, sotto_aero_set_named(&set, "b88", &t->err));
}

/* q has as many bits as its set says, its second prime too, and the roots are of order 8192. */
static void the_table_of_sets_is_right(sotto_test *t)
{
    for (const sotto_aero_set *s = sotto_aero_sets; s->name; s++) {
        sotto_aero_ring ring;

        CHECK_OK(t, sotto_aero_ring_init(&ring, s, &t->arena, &t->err));
        CHECK_EQUAL(t, 1, ring.q >> (s->log_q - 1) & 1);
        CHECK(t, s->log_q == 128 || ring.q >> s->log_q == 0);
        CHECK(t, s->bits_left <= s->bits);
        CHECK(t, (s->second >> s->second_bits) == 0 &&
                     (s->second == 0 || s->second >> (s->second_bits - 1)));
        sotto_arena_reset(&t->arena);
    }
}

static void the_default_set_holds_a_whole_training(sotto_test *t)
{
    sotto_aero_ledger l;
    sotto_aero_wish wish = whole(t, NULL);

    CHECK_OK(t, sotto_aero_ledger_plan(&l, &wish, &t->err));
    CHECK_EQUAL(t, 30, l.log_t);
    CHECK_EQUAL(t, SOTTO_NOISE_WIDEST, l.sigma);
    CHECK_EQUAL(t, 480 * 293, l.hints);
    CHECK(t, l.room > 0.9 && l.sigma_left > 2.28);
    CHECK(t, l.rho > 0 && l.rho < 1e-9);
    CHECK(t, l.liars + l.honest + l.smudging < l.half_gap);
}

/* With 64 bits alone, 16-bit parameters do not fit, and 12-bit ones only for few hints. */
static void hints_are_limited_by_the_smudging(sotto_test *t)
{
    sotto_aero_ledger l;
    sotto_aero_wish wish = whole(t, "b64");

    CHECK_STATUS(t, SOTTO_DENIED, sotto_aero_ledger_plan(&l, &wish, &t->err));
    CHECK_REASON(t, "hints");
    wish.most = 1 << 11;
    wish.noise = 1 << 20;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_aero_ledger_plan(&l, &wish, &t->err));
    wish.rounds = 1;
    wish.ciphertexts = 24; /* about 98,000 parameters, a key each round */
    CHECK_OK(t, sotto_aero_ledger_plan(&l, &wish, &t->err));
    CHECK(t, l.sigma_left >= SOTTO_AERO_LEAST_SIGMA && l.sigma_left < 2.3);
    wish.most = 1 << 30;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_aero_ledger_plan(&l, &wish, &t->err));
}

static void a_plan_is_of_a_possible_round(sotto_test *t)
{
    sotto_aero_ledger l;
    sotto_aero_wish good = whole(t, NULL), bad[8];

    for (size_t i = 0; i < 8; i++)
        bad[i] = good;
    bad[0].liars = good.devices + 1;
    bad[1].dealers = 0;
    bad[2].threshold = 1;
    bad[3].tries = SOTTO_AERO_MOST_TRIES + 1;
    bad[4].rounds = 0;
    bad[5].rounds = good.most + 1; /* the number of a round would not fit slot 0 */
    bad[6].devices = 0;
    bad[7].most = UINT64_C(1) << 40;
    for (size_t i = 0; i < 8; i++)
        CHECK_STATUS(t, SOTTO_DENIED, sotto_aero_ledger_plan(&l, &bad[i], &t->err));
    good.tries = SOTTO_AERO_MOST_TRIES;
    CHECK_OK(t, sotto_aero_ledger_plan(&l, &good, &t->err));
}

static void a_key_is_not_used_beyond_its_hints(sotto_test *t)
{
    sotto_aero_ledger l;
    sotto_aero_wish wish = whole(t, NULL);

    wish.rounds = 2;
    CHECK_OK(t, sotto_aero_ledger_plan(&l, &wish, &t->err));
    CHECK_OK(t, sotto_aero_ledger_spend(&l, 293, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_aero_ledger_spend(&l, 294, &t->err));
    CHECK_OK(t, sotto_aero_ledger_spend(&l, 293, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_aero_ledger_spend(&l, 1, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_aero_ledger_spend(&l, UINT64_MAX, &t->err));
    CHECK_EQUAL(t, 586, l.used);
}

/* More rounds, tries, liars or members never leave more. */
static void a_harder_wish_never_leaves_more(sotto_test *t)
{
    sotto_aero_ledger l, harder;
    sotto_aero_wish wish = whole(t, NULL), more[5];

    CHECK_OK(t, sotto_aero_ledger_plan(&l, &wish, &t->err));
    for (size_t i = 0; i < 5; i++)
        more[i] = wish;
    more[0].rounds *= 4;
    more[1].tries = 8;
    more[2].liars *= 10;
    more[3].threshold = 60;
    more[4].dealers *= 4;
    for (size_t i = 0; i < 5; i++) {
        CHECK_OK(t, sotto_aero_ledger_plan(&harder, &more[i], &t->err));
        CHECK(t, harder.sigma_left <= l.sigma_left && harder.room <= l.room);
    }
}

/* An opening multiplies two polynomials at once, and a third by one: their squares add up. */
static void a_hint_is_bounded_by_all_that_it_multiplies(sotto_test *t)
{
    sotto_aero_ledger l;
    sotto_aero_wish wish = whole(t, NULL);
    const double n = SOTTO_AERO_N;

    wish.liars = wish.devices = 100; /* |E1|^2 + |R|^2, and 1 */
    wish.dealers = 1;
    CHECK_OK(t, sotto_aero_ledger_plan(&l, &wish, &t->err));
    CHECK(t, l.spectral >= sqrt((256 + 1) * 100 * n * 100 * n + 1));
    CHECK(t, l.spectral < sqrt((256 + 1) * 100 * n * 100 * n + 1) * (1 + 1e-9));
    wish.dealers = 200; /* |e|^2 + |s|^2, and 1 */
    CHECK_OK(t, sotto_aero_ledger_plan(&l, &wish, &t->err));
    CHECK(t, l.spectral >= sqrt((256 + 1) * 200 * n * 200 * n + 1));
    /* sigma' from it, with the product's figures rounded against us. */
    double ratio = l.spectral / (double)l.sigma;
    CHECK(t, l.sigma_left <= 1 / sqrt(2 * (2.0 / 21 + (double)l.hints * ratio * ratio)));
}

/* One ciphertext of a liar whose witness is aligned with the key, and one honest one: the noise that decides, in bits. */
static double noise_of(sotto_test *t, const sotto_aero *aero, const sotto_aero_public *key,
                       const sotto_aero_secret *secret, const sotto_aero_witness *witness)
{
    static const int64_t zeros[SOTTO_AERO_N];
    static int64_t m[SOTTO_AERO_N], s[SOTTO_AERO_N];
    static sotto_aero_cipher c;
    static sotto_aero_poly over;
    sotto_u128 residual = 0;

    CHECK_OK(t, sotto_aero_encrypt(aero, &c, key, witness, zeros, &t->err));
    for (size_t k = 0; k < SOTTO_AERO_N; k++)
        s[k] = secret->s[k];
    memset(&over, 0, sizeof over);
    sotto_aero_add_small(&aero->ring, &over, s);
    sotto_aero_transform_over(&aero->ring, &over);
    sotto_aero_transform(&aero->ring, &c.c1);
    sotto_aero_product(&aero->ring, &c.c1, &c.c1, &over);
    sotto_aero_subtract(&aero->ring, &c.c2, &c.c1);
    sotto_aero_decode_vartime(aero, m, &residual, &c.c2);
    for (size_t k = 0; k < SOTTO_AERO_N; k++)
        CHECK_EQUAL(t, 0, m[k]);
    return log2((double)residual);
}

/* Coefficient 0 of r e - s e1 is e_0 r_0 - s_0 e1_0 - sum (e_(n-k) r_k - s_(n-k) e1_k): as large as it can be. */
static void align(sotto_aero_witness *w, const sotto_aero_secret *secret)
{
    for (size_t k = 0; k < SOTTO_AERO_N; k++) {
        size_t other = (SOTTO_AERO_N - k) % SOTTO_AERO_N;
        int sign = k == 0 ? 1 : -1;

        w->r[k] = (int8_t)(secret->e[other] * sign < 0 ? -1 : 1);
        w->e1[k] = (int8_t)(secret->s[other] * sign < 0 ? 15 : -16);
        w->e2[k] = 15;
    }
}

static void the_noise_that_there_is_stays_below_its_bound(sotto_test *t)
{
    static sotto_aero aero;
    static sotto_aero_poly a, b;
    static sotto_aero_public key;
    static sotto_aero_secret secret;
    static sotto_aero_witness witness;
    const uint8_t seed[SOTTO_AERO_SEED] = {7};
    sotto_sim_random random;
    sotto_entropy entropy;
    sotto_aero_ledger l;
    sotto_aero_wish wish = whole(t, NULL);

    sotto_sim_random_init(&random, 5);
    sotto_entropy_init(&entropy, fill, &random);
    CHECK_OK(t, sotto_aero_init(&aero, wish.set, 30, &t->arena, &t->err));
    CHECK_OK(t, sotto_aero_expand_vartime(&aero, &a, seed, &t->err));
    CHECK_OK(t, sotto_aero_keygen(&aero, &secret, &b, &a, &entropy, &t->err));
    sotto_aero_public_of(&aero, &key, &a, &b);

    wish.devices = wish.dealers = 1;
    wish.liars = 0;
    CHECK_OK(t, sotto_aero_ledger_plan(&l, &wish, &t->err));
    CHECK_OK(t, sotto_aero_draw(&aero, &witness, &entropy, &t->err));
    double honest = noise_of(t, &aero, &key, &secret, &witness);
    /* Four deviations of about 240, and far below a bound for dealers that lie. */
    CHECK(t, honest > 9 && honest < 11 && honest < log2(l.honest));

    wish.liars = 1;
    CHECK_OK(t, sotto_aero_ledger_plan(&l, &wish, &t->err));
    align(&witness, &secret);
    double liar = noise_of(t, &aero, &key, &secret, &witness);
    CHECK(t, liar > 15 && liar < log2(l.liars) && liar > honest + 4);
}

static void both_profiles_say_what_they_are_worth(sotto_test *t)
{
    sotto_aero_soundness standard = sotto_aero_profile_soundness(&sotto_aero_profile_standard);
    sotto_aero_soundness high = sotto_aero_profile_soundness(&sotto_aero_profile_high);

    CHECK_EQUAL(t, 118, sotto_aero_profile_standard.queries);
    CHECK_EQUAL(t, 20, sotto_aero_profile_standard.grind);
    CHECK_EQUAL(t, 189, sotto_aero_profile_high.queries);
    CHECK_NEAR(t, 103.1, standard.queries, 0.1);
    CHECK_NEAR(t, 124.8, standard.algebra, 0.1);
    CHECK(t, standard.bits >= 100);
    CHECK_NEAR(t, 133.1, high.queries, 0.1);
    CHECK(t, high.bits >= 128);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_set_below_128_bits_is_used_only_by_name),
        CASE(the_table_of_sets_is_right),
        CASE(the_default_set_holds_a_whole_training),
        CASE(hints_are_limited_by_the_smudging),
        CASE(a_plan_is_of_a_possible_round),
        CASE(a_key_is_not_used_beyond_its_hints),
        CASE(a_harder_wish_never_leaves_more),
        CASE(a_hint_is_bounded_by_all_that_it_multiplies),
        CASE(both_profiles_say_what_they_are_worth),
        CASE(the_noise_that_there_is_stays_below_its_bound),
    };
    return RUN_TESTS(argc, argv, cases);
}
