#include "aggregate/shared/shamir.h"

#include "sim/random.h"
#include "support/test.h"

#include <string.h>

/* ---- the scheme itself, in a field small enough to look at everything ------------------------------------ */

enum { P = 5 };

static unsigned toy_inv(unsigned a)
{
    unsigned x = 1;

    while (a * x % P != 1)
        x++;
    return x;
}

#define FE           unsigned
#define FE_ADD(a, b) (((a) + (b)) % P)
#define FE_SUB(a, b) (((a) + P - (b)) % P)
#define FE_MUL(a, b) ((a) * (b) % P)
#define FE_INV       toy_inv
#define FE_ZERO      0u
#define FE_ONE       1u
#define SHAMIR(name) toy_##name
#include "aggregate/shared/shamir_template.h"

/* The digits of a number are the coefficients of a polynomial. */
static void polynomial(unsigned *c, size_t degree, unsigned number)
{
    for (size_t i = 0; i < degree; i++, number /= P)
        c[i] = number % P;
}

static unsigned power(unsigned exponent)
{
    unsigned x = 1;

    while (exponent--)
        x *= P;
    return x;
}

/* For each threshold t, each t - 1 of the four holders and each secret: over all polynomials, every combination of shares comes
 * equally often. So t - 1 shares say nothing at all of the secret. */
static void fewer_than_the_threshold_learn_nothing(sotto_test *t)
{
    for (size_t threshold = 2; threshold <= 4; threshold++)
        for (unsigned holders = 0; holders < 16; holders++)
            for (unsigned secret = 0; secret < P; secret++) {
                unsigned seen[P * P * P] = {0}, c[3], size = 0;

                for (unsigned h = 0; h < 4; h++)
                    size += holders >> h & 1;
                if (size != threshold - 1)
                    continue;
                for (unsigned number = 0; number < power((unsigned)threshold - 1); number++) {
                    unsigned shares = 0;

                    polynomial(c, threshold - 1, number);
                    for (unsigned h = 0; h < 4; h++)
                        if (holders >> h & 1)
                            shares = shares * P + toy_evaluate(secret, c, threshold - 1, 1, h + 1);
                    seen[shares]++;
                }
                for (unsigned shares = 0; shares < power(size); shares++)
                    CHECK_EQUAL(t, 1, seen[shares]);
            }
}

static void the_threshold_learns_all(sotto_test *t)
{
    for (size_t threshold = 2; threshold <= 4; threshold++)
        for (unsigned holders = 0; holders < 16; holders++)
            for (unsigned number = 0; number < P * power((unsigned)threshold - 1); number++) {
                unsigned xs[4], values[4], weights[4], c[3], count = 0, sum = 0;

                polynomial(c, threshold - 1, number / P);
                for (unsigned h = 0; h < 4; h++)
                    if (holders >> h & 1) {
                        xs[count] = h + 1;
                        values[count++] = toy_evaluate(number % P, c, threshold - 1, 1, h + 1);
                    }
                if (count != threshold)
                    continue;
                toy_weights_vartime(weights, xs, count, 0);
                for (unsigned i = 0; i < count; i++)
                    sum = FE_ADD(sum, FE_MUL(weights[i], values[i]));
                CHECK_EQUAL(t, number % P, sum);
            }
}

/* ---- 32 bytes over Field64 ------------------------------------------------------------------------------- */

enum { HOLDERS = 21, THRESHOLD = 11 };

typedef struct dealt {
    uint8_t secret[32], shares[HOLDERS][SOTTO_SHAMIR_SHARE];
    sotto_shamir_point points[HOLDERS];
} dealt;

static void deal(sotto_test *t, dealt *d, uint64_t seed, bool all_ones)
{
    sotto_shamir_dealer dealer;
    sotto_keystream stream;
    sotto_sim_random random;
    uint8_t from[32];

    sotto_sim_random_init(&random, seed);
    sotto_sim_random_bytes(&random, d->secret, sizeof d->secret);
    sotto_sim_random_bytes(&random, from, sizeof from);
    if (all_ones)
        memset(d->secret, 0xff, sizeof d->secret);
    CHECK_OK(t, sotto_keystream_init(&stream, &t->err));
    CHECK_OK(t, sotto_keystream_seed(&stream, from, &t->err));
    CHECK_OK(t, sotto_shamir_deal(&dealer, &t->arena, THRESHOLD, d->secret, &stream, &t->err));
    for (uint32_t i = 0; i < HOLDERS; i++) {
        sotto_shamir_share(&dealer, d->shares[i], 100 * i);
        CHECK(t, sotto_shamir_is_share(d->shares[i]));
        d->points[i] = (sotto_shamir_point){100 * i, d->shares[i], true};
    }
    sotto_shamir_forget(&dealer);
    CHECK(t, dealer.coefficients == NULL);
    sotto_keystream_clear(&stream);
}

static bool is_it(void *context, const uint8_t secret[32])
{
    return memcmp(secret, ((const dealt *)context)->secret, 32) == 0;
}

static void any_so_many_shares_give_the_secret(sotto_test *t)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        uint8_t secret[32];
        dealt d;

        deal(t, &d, seed, seed == 0);
        size_t first = seed % (HOLDERS - THRESHOLD + 1);
        CHECK_OK(t, sotto_shamir_find_vartime(secret, d.points + first, THRESHOLD, THRESHOLD, is_it,
                                              &d, &t->err));
        CHECK_BYTES(t, d.secret, secret, 32);
        CHECK_STATUS(t, SOTTO_AGAIN,
                     sotto_shamir_find_vartime(secret, d.points, THRESHOLD - 1, THRESHOLD, is_it,
                                               &d, &t->err));
    }
}

static void wrong_shares_are_named_and_skipped(sotto_test *t)
{
    for (unsigned liars = 0; liars <= 5; liars++) {
        uint8_t secret[32];
        dealt d;

        deal(t, &d, liars, false);
        for (unsigned i = 0; i < liars; i++)
            d.shares[2 * i][3 * i] ^= 1;
        CHECK_OK(
            t, sotto_shamir_find_vartime(secret, d.points, HOLDERS, THRESHOLD, is_it, &d, &t->err));
        CHECK_BYTES(t, d.secret, secret, 32);
        for (unsigned i = 0; i < HOLDERS; i++)
            CHECK(t, d.points[i].wrong == (i % 2 == 0 && i / 2 < liars));
    }
}

/* One share more than the threshold: whichever is left out of a right choice, it is half of those that can be compared. */
static void a_liar_beside_a_bare_threshold_is_named(sotto_test *t)
{
    for (unsigned liar = 0; liar <= THRESHOLD; liar++) {
        uint8_t secret[32];
        dealt d;

        deal(t, &d, 40 + liar, false);
        d.shares[liar][9] ^= 1;
        CHECK_OK(t, sotto_shamir_find_vartime(secret, d.points, THRESHOLD + 1, THRESHOLD, is_it, &d,
                                              &t->err));
        CHECK_BYTES(t, d.secret, secret, 32);
        for (unsigned i = 0; i <= THRESHOLD; i++)
            CHECK(t, d.points[i].wrong == (i == liar));
    }
}

static void thresholds_and_counts_have_limits(sotto_test *t)
{
    static const size_t thresholds[] = {0, 1, SOTTO_SHAMIR_MOST_HOLDERS + 1};
    static const uint8_t none[SOTTO_KEYSTREAM_SEED];
    sotto_shamir_dealer dealer;
    sotto_keystream stream;
    uint8_t secret[32];
    dealt d;

    deal(t, &d, 3, false);
    CHECK_OK(t, sotto_keystream_init(&stream, &t->err));
    CHECK_OK(t, sotto_keystream_seed(&stream, none, &t->err));
    for (size_t i = 0; i < sizeof thresholds / sizeof thresholds[0]; i++)
        CHECK_STATUS(t, SOTTO_BUG,
                     sotto_shamir_deal(&dealer, &t->arena, thresholds[i], d.secret, &stream, NULL));
    CHECK_STATUS(t, SOTTO_BUG,
                 sotto_shamir_find_vartime(secret, d.points, HOLDERS, 1, is_it, &d, NULL));
    CHECK_STATUS(t, SOTTO_BUG,
                 sotto_shamir_find_vartime(secret, d.points, SOTTO_SHAMIR_MOST_HOLDERS + 1,
                                           THRESHOLD, is_it, &d, NULL));
    sotto_keystream_clear(&stream);
}

/* Weights of other holders are no good for a secret: those who hold it change from one to the next. */
static void weights_are_those_of_who_holds_it(sotto_test *t)
{
    sotto_shamir_weights known = {0};

    for (uint64_t seed = 0; seed < 24; seed++) {
        const size_t first = seed / 3 % 6;
        uint8_t secret[32];
        dealt d;

        deal(t, &d, seed, false);
        if (seed % 5 == 4)
            d.shares[first][3] ^= 1;
        CHECK_OK(t, sotto_shamir_find_next_vartime(secret, d.points + first, HOLDERS - first,
                                                   THRESHOLD, is_it, &d, &known, &t->err));
        CHECK_BYTES(t, d.secret, secret, 32);
        for (size_t i = first; i < HOLDERS; i++)
            CHECK(t, d.points[i].wrong == (seed % 5 == 4 && i == first));
    }
}

static sotto_f64 times(sotto_f64 a, sotto_f64 b)
{
    return sotto_f64_mul(a, sotto_f64_to_weight(b));
}

/* Both are off by what the other takes back at zero, where the secret is. */
static void liars_that_agree_have_nobody_else_named(sotto_test *t)
{
    sotto_f64 xs[THRESHOLD], weights[THRESHOLD];
    uint8_t secret[32];
    dealt d;

    deal(t, &d, 5, false);
    for (size_t i = 0; i < THRESHOLD; i++)
        xs[i] = sotto_f64_from(d.points[i].holder + 1);
    for (size_t i = 0; i < THRESHOLD; i++) {
        sotto_f64 above = sotto_f64_one(), below = sotto_f64_one();

        for (size_t j = 0; j < THRESHOLD; j++)
            if (j != i) {
                above = times(above, xs[j]);
                below = times(below, sotto_f64_sub(xs[j], xs[i]));
            }
        weights[i] = times(above, sotto_f64_inv(below));
    }
    /* weights[1] a + weights[3] b = 0 */
    sotto_f64 a = sotto_f64_add(sotto_f64_load(d.shares[1]), weights[3]);
    sotto_f64 b = sotto_f64_sub(sotto_f64_load(d.shares[3]), weights[1]);
    sotto_f64_store(d.shares[1], a);
    sotto_f64_store(d.shares[3], b);
    CHECK_OK(t,
             sotto_shamir_find_vartime(secret, d.points, HOLDERS, THRESHOLD, is_it, &d, &t->err));
    CHECK_BYTES(t, d.secret, secret, 32);
    for (size_t i = 0; i < HOLDERS; i++)
        CHECK(t, d.points[i].wrong == (i == 1 || i == 3));
}

static void too_many_wrong_shares_give_nothing(sotto_test *t)
{
    static const uint8_t nothing[32];
    uint8_t secret[32];
    dealt d;

    deal(t, &d, 3, false);
    for (unsigned i = 0; i < HOLDERS - THRESHOLD + 1; i++)
        d.shares[i][0] ^= 1;
    CHECK_STATUS(
        t, SOTTO_REJECTED,
        sotto_shamir_find_vartime(secret, d.points, HOLDERS, THRESHOLD, is_it, &d, &t->err));
    CHECK_BYTES(t, nothing, secret, 32);
}

static void shares_are_field_elements(sotto_test *t)
{
    uint8_t share[SOTTO_SHAMIR_SHARE] = {0};

    CHECK(t, sotto_shamir_is_share(share));
    memset(share + 32, 0xff, 8);
    CHECK(t, !sotto_shamir_is_share(share));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(fewer_than_the_threshold_learn_nothing),
        CASE(the_threshold_learns_all),
        CASE(any_so_many_shares_give_the_secret),
        CASE(wrong_shares_are_named_and_skipped),
        CASE(weights_are_those_of_who_holds_it),
        CASE(too_many_wrong_shares_give_nothing),
        CASE(shares_are_field_elements),
        CASE(a_liar_beside_a_bare_threshold_is_named),
        CASE(thresholds_and_counts_have_limits),
        CASE(liars_that_agree_have_nobody_else_named),
    };
    return RUN_TESTS(argc, argv, cases);
}
