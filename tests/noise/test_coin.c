/* Coins and uniform numbers: with their randomness exhausted to 16 bits, and ten million of each. */
#include "noise/coin.h"
#include "noise/fixed_point.h"
#include "noise_support.h"
#include "support/test.h"

#include <math.h>

enum { ALL = 65536 };

static uint64_t two_words(uint64_t position)
{
    return position % 2 ? 0 : position / 2 << 48;
}

static uint64_t one_word(uint64_t position)
{
    return position << 48;
}

static uint64_t three_words(uint64_t position)
{
    return position % 3 ? 0 : position / 3 << 48;
}

static uint64_t count_flips(sotto_test *t, const sotto_coin *coin)
{
    noise_words words = {0, two_words};
    sotto_entropy entropy;
    uint64_t ones = 0;

    sotto_entropy_init(&entropy, noise_fill_words, &words);
    for (size_t i = 0; i < ALL; i++) {
        uint8_t bit = 2;

        CHECK_OK(t, sotto_coin_flip(coin, &bit, &entropy, &t->err));
        CHECK(t, bit <= 1);
        ones += bit;
    }
    return ones;
}

static void a_coin_falls_on_one_as_often_as_it_says(sotto_test *t)
{
    static const uint64_t rational[][2] = {{0, 1}, {1, 1}, {1, 2},
                                           {1, 3}, {5, 7}, {UINT64_MAX, UINT64_MAX}};
    sotto_coin coin;

    for (size_t i = 0; i < sizeof rational / sizeof rational[0]; i++) {
        uint64_t a = rational[i][0], b = rational[i][1];

        CHECK_OK(t, sotto_coin_rational(&coin, a, b, &t->err));
        /* The numbers i / 2^16 below a / b. */
        CHECK_EQUAL(t, a == b ? ALL : (a * ALL + b - 1) / b, count_flips(t, &coin));
    }
    coin = sotto_coin_of(UINT64_C(0x1234) << 48 | 1);
    CHECK_EQUAL(t, 0x1235, count_flips(t, &coin));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_coin_rational(&coin, 2, 1, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_coin_rational(&coin, 0, 0, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_coin_exp(&coin, 1, 0, &t->err));
}

static void exponential_coins_have_the_digits_of_e(sotto_test *t)
{
    sotto_coin coin;

    /* 1/e = 0.5e2d58d8b3bcdf1abadec7829054f90d da9805aab56c77333... in hexadecimal */
    CHECK_OK(t, sotto_coin_exp(&coin, 1, 1, &t->err));
    CHECK(t, coin.threshold ==
                 sotto_u128_of(UINT64_C(0x5e2d58d8b3bcdf1a), UINT64_C(0xbadec7829054f90d)) >> 1);
    CHECK_OK(t, sotto_coin_exp(&coin, 0, 5, &t->err));
    CHECK_EQUAL(t, ALL, count_flips(t, &coin));
    CHECK_OK(t, sotto_coin_exp(&coin, 1000, 1, &t->err));
    CHECK(t, coin.threshold == 0);
    for (uint64_t num = 1; num < 80; num += 7) {
        CHECK_OK(t, sotto_coin_exp(&coin, num, 9, &t->err));
        CHECK_NEAR(t, 1, ldexp((double)coin.threshold, -127) / exp(-(double)num / 9), 1e-14);
    }
}

static void many_flips_are_exact(sotto_test *t)
{
    static const uint64_t chances[] = {0, 1, UINT64_C(0x8000) << 48, UINT64_MAX};
    static const uint64_t wanted[] = {0, 1, 0x8000, ALL};
    static uint8_t out[ALL];

    for (size_t c = 0; c < 4; c++) {
        noise_words words = {0, one_word};
        sotto_entropy entropy;
        uint64_t ones = 0;

        sotto_entropy_init(&entropy, noise_fill_words, &words);
        CHECK_OK(t, sotto_coin_flips(out, ALL, chances[c], &entropy, &t->err));
        for (size_t i = 0; i < ALL; i++)
            ones += out[i];
        CHECK_EQUAL(t, wanted[c], ones);
    }
}

static void uniform_numbers_share_the_randomness_evenly(sotto_test *t)
{
    static const uint64_t bounds[] = {1, 2, 10, 256, 1000, 65536};

    for (size_t b = 0; b < sizeof bounds / sizeof bounds[0]; b++) {
        static uint64_t seen[ALL];
        noise_words words = {0, three_words};
        sotto_entropy entropy;
        uint64_t n = bounds[b];

        memset(seen, 0, sizeof seen);
        sotto_entropy_init(&entropy, noise_fill_words, &words);
        for (size_t i = 0; i < ALL; i++) {
            uint64_t x = n;

            CHECK_OK(t, sotto_uniform_below(&x, n, &entropy, &t->err));
            CHECK(t, x < n);
            seen[x]++;
        }
        for (uint64_t x = 0; x < n; x++) /* the numbers i with x <= i n / 2^16 < x + 1 */
            CHECK_EQUAL(t, ((x + 1) * ALL + n - 1) / n - (x * ALL + n - 1) / n, seen[x]);
    }
}

static void entropy_gives_each_byte_once_however_it_is_asked(sotto_test *t)
{
    static uint8_t whole[20000], parts[20000];
    sotto_sim_random a, b;
    sotto_entropy entropy;
    size_t at = 0;

    sotto_sim_random_init(&a, 1);
    b = a;
    CHECK_OK(t, noise_fill_sim(&a, whole, sizeof whole, &t->err));
    sotto_entropy_init(&entropy, noise_fill_sim, &b);
    for (size_t n = 1; at < sizeof parts; n = n * 3 % 5003) {
        size_t some = n < sizeof parts - at ? n : sizeof parts - at;

        CHECK_OK(t, sotto_entropy_take(&entropy, parts + at, some, &t->err));
        at += some;
    }
    /* Requests that skip the buffer start a new word of the source, so only the first part is a copy. */
    CHECK_BYTES(t, whole, parts, SOTTO_ENTROPY_BUFFER);
    for (size_t i = 0; i < SOTTO_ENTROPY_BUFFER - entropy.left; i++)
        CHECK_EQUAL(t, 0, entropy.buffer[i]); /* forgotten as they were given */
    sotto_entropy_init(&entropy, noise_fill_nothing, NULL);
    CHECK_STATUS(t, SOTTO_IO, sotto_entropy_take(&entropy, parts, 100, &t->err));
    for (size_t i = 0; i < 100; i++)
        CHECK_EQUAL(t, 0, parts[i]);
}

/* ---- ten million of each, with fixed seeds --------------------------------------------------------------- */

enum { MANY = SOTTO_TEST_DRAWS(10000000), VALUES = 1000 };

static void start(sotto_sim_random *random, sotto_entropy *entropy, uint64_t seed)
{
    sotto_sim_random_init(random, seed);
    sotto_entropy_init(entropy, noise_fill_sim, random);
}

/* Ones, and ones that follow a one, as standard normal numbers: independent flips have sqrt(n p (1-p)) and, of pairs
 * that overlap, sqrt(n p^2 (1-p)(1+3p)). */
static void check_flips(sotto_test *t, double p, double ones, double pairs)
{
    CHECK_NEAR(t, 0, (ones - MANY * p) / sqrt(MANY * p * (1 - p)), 5);
    CHECK_NEAR(t, 0, (pairs - MANY * p * p) / sqrt(MANY * p * p * (1 - p) * (1 + 3 * p)), 5);
}

static void ten_million_flips_have_their_chance(sotto_test *t)
{
    static const double wanted[] = {5.0 / 7, 0.36787944117144233, 1e-3};
    sotto_coin coins[3];
    sotto_sim_random random;
    sotto_entropy entropy;

    CHECK_OK(t, sotto_coin_rational(&coins[0], 5, 7, &t->err));
    CHECK_OK(t, sotto_coin_exp(&coins[1], 1, 1, &t->err));
    CHECK_OK(t, sotto_coin_rational(&coins[2], 1, 1000, &t->err));
    for (size_t c = 0; c < 3; c++) {
        double ones = 0, pairs = 0;
        uint8_t bit = 0, before;

        start(&random, &entropy, 800 + c);
        for (size_t i = 0; i < MANY; i++) {
            before = bit;
            CHECK_OK(t, sotto_coin_flip(&coins[c], &bit, &entropy, &t->err));
            ones += bit;
            pairs += bit & before;
        }
        check_flips(t, wanted[c], ones, pairs);
    }
}

static void ten_million_flips_at_once_have_their_chance(sotto_test *t)
{
    static uint8_t out[MANY];
    double ones = 0, pairs = 0;
    sotto_sim_random random;
    sotto_entropy entropy;

    start(&random, &entropy, 810);
    CHECK_OK(t, sotto_coin_flips(out, MANY, UINT64_C(3) << 60, &entropy, &t->err));
    for (size_t i = 0; i < MANY; i++) {
        ones += out[i];
        pairs += i > 0 ? out[i] & out[i - 1] : 0;
    }
    check_flips(t, 3.0 / 16, ones, pairs);
}

static void ten_million_uniform_numbers_are_even(sotto_test *t)
{
    static const uint64_t bounds[] = {7, VALUES};

    for (size_t b = 0; b < 2; b++) {
        double seen[VALUES] = {0}, chi = 0, n = (double)bounds[b], each = MANY / n;
        sotto_sim_random random;
        sotto_entropy entropy;

        start(&random, &entropy, 820 + b);
        for (size_t i = 0; i < MANY; i++) {
            uint64_t x = 0;

            CHECK_OK(t, sotto_uniform_below(&x, bounds[b], &entropy, &t->err));
            seen[x]++;
        }
        for (size_t x = 0; x < bounds[b]; x++)
            chi += (seen[x] - each) * (seen[x] - each) / each;
        /* As a standard normal number (Wilson and Hilferty). */
        double spread = 2 / (9 * (n - 1));
        CHECK_NEAR(t, 0, (cbrt(chi / (n - 1)) - (1 - spread)) / sqrt(spread), 4.9);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_coin_falls_on_one_as_often_as_it_says),
        CASE(exponential_coins_have_the_digits_of_e),
        CASE(many_flips_are_exact),
        CASE(uniform_numbers_share_the_randomness_evenly),
        CASE(entropy_gives_each_byte_once_however_it_is_asked),
        CASE(ten_million_flips_have_their_chance),
        CASE(ten_million_flips_at_once_have_their_chance),
        CASE(ten_million_uniform_numbers_are_even),
    };
    return RUN_TESTS(argc, argv, cases);
}
