/* Every row of every table against big integers, computed another way: term by term, without recurrences,
 * at 420 bits; and draws with the randomness exhausted. */
#include "noise/noise.h"
#include "noise_support.h"
#include "support/test.h"

#include <math.h>
#include <openssl/bn.h>

enum { BITS = 420, MOST = 4096 };

typedef struct exact {
    BN_CTX *ctx;
    BIGNUM *weight[MOST]; /* of the values first, first + 1, ... times 2^BITS */
    size_t count;
} exact;

static exact exact_new(size_t count)
{
    exact e = {BN_CTX_new(), {NULL}, count};

    for (size_t i = 0; i < count; i++)
        e.weight[i] = BN_new();
    return e;
}

static void exact_free(exact *e)
{
    for (size_t i = 0; i < e->count; i++)
        BN_free(e->weight[i]);
    BN_CTX_free(e->ctx);
}

static void times(BIGNUM *x, uint64_t y, BN_CTX *ctx)
{
    BIGNUM *b = BN_new();

    BN_set_word(b, y);
    BN_mul(x, x, b, ctx);
    BN_free(b);
}

static void over(BIGNUM *x, uint64_t y, BN_CTX *ctx)
{
    BIGNUM *b = BN_new();

    BN_set_word(b, y);
    BN_div(x, NULL, x, b, ctx);
    BN_free(b);
}

/* out = 2^BITS e^(-a/b): 2^BITS / e^(a/b), where e^(a/b) is the plain series. */
static void exact_exp(BIGNUM *out, uint64_t a, uint64_t b, BN_CTX *ctx)
{
    BIGNUM *sum = BN_new(), *term = BN_new();

    BN_one(term);
    BN_lshift(term, term, BITS);
    BN_copy(sum, term);
    for (uint64_t k = 1; !BN_is_zero(term); k++) {
        times(term, a, ctx);
        over(term, b, ctx);
        over(term, k, ctx);
        BN_add(sum, sum, term);
    }
    BN_one(out);
    BN_lshift(out, out, 2 * BITS);
    BN_div(out, NULL, out, sum, ctx);
    BN_free(sum);
    BN_free(term);
}

/* 2^189 P(the part passes at least i rows). */
static void part_tail(BIGNUM *out, const sotto_noise_part *part, size_t i, BN_CTX *ctx)
{
    BIGNUM *rest = BN_new();

    BN_set_word(out, i - 1 < part->head_count ? (BN_ULONG)part->head[i - 1] : 0);
    BN_lshift(out, out, 126);
    if (part->rest_count) {
        BN_set_word(rest, (BN_ULONG)part->rest[i - 1].high);
        BN_lshift(rest, rest, 63);
        BN_add_word(rest, (BN_ULONG)part->rest[i - 1].low);
        times(rest, ((uint64_t)1 << 63) - part->head_end, ctx);
        BN_add(out, out, rest);
    }
    BN_free(rest);
}

/* Is every tail probability of the part within 2^-108 of the exact one? The exact weights may reach further
 * than the part. */
static void check_part(sotto_test *t, const sotto_noise_part *part, exact *e)
{
    BIGNUM *all = BN_new(), *sum = BN_new(), *wanted = BN_new(), *got = BN_new(), *most = BN_new();

    BN_zero(all);
    BN_zero(sum);
    for (size_t i = 0; i < e->count; i++)
        BN_add(all, all, e->weight[i]);
    BN_one(most);
    BN_lshift(most, most, 189 - 108);
    for (size_t i = e->count; i-- > 1;) {
        BN_add(sum, sum, e->weight[i]);
        BN_lshift(wanted, sum, 189);
        BN_div(wanted, NULL, wanted, all, e->ctx);
        BN_zero(got);
        if (i <= part->rest_count || i <= part->head_count)
            part_tail(got, part, i, e->ctx);
        BN_sub(wanted, wanted, got);
        CHECK(t, BN_ucmp(wanted, most) < 0);
    }
    BN_free(all);
    BN_free(sum);
    BN_free(wanted);
    BN_free(got);
    BN_free(most);
}

static void gaussian_rows_match_big_integers(sotto_test *t)
{
    static const uint64_t variances[][2] = {{1, 1}, {1, 4}, {7, 3}, {64, 1}, {123456789, 2000000}};

    for (size_t v = 0; v < sizeof variances / sizeof variances[0]; v++) {
        uint64_t num = variances[v][0], den = variances[v][1];
        sotto_noise noise;
        exact e = exact_new((size_t)(15 * sqrt((double)num / (double)den)) + 15);

        CHECK_OK(t, sotto_noise_gaussian(&noise, num, den, &t->arena, &t->err));
        CHECK_EQUAL(t, 1, noise.parts);
        for (uint64_t x = 0; x < e.count; x++) {
            exact_exp(e.weight[x], x * x * den, 2 * num, e.ctx);
            if (x > 0)
                BN_lshift1(e.weight[x], e.weight[x]);
        }
        check_part(t, &noise.part[0], &e);
        exact_free(&e);
    }
}

/* n choose x times k^x (2^64 - k)^(n - x), whole numbers throughout. */
static void binomial_rows_match_big_integers(sotto_test *t)
{
    static const uint64_t cases[][2] = {{1, SOTTO_NOISE_HALF},
                                        {16, SOTTO_NOISE_HALF},
                                        {300, SOTTO_NOISE_HALF},
                                        {50, 1},
                                        {40, UINT64_C(0xfffffffffffffff0)},
                                        {777, UINT64_C(0x1234567890abcdef)}};

    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        uint64_t n = cases[c][0], k = cases[c][1];
        sotto_noise noise;
        exact e = exact_new(n + 1);

        CHECK_OK(t, sotto_noise_binomial(&noise, n, k, &t->arena, &t->err));
        for (uint64_t x = 0; x <= n; x++) {
            BN_one(e.weight[x]);
            for (uint64_t i = 0; i < x; i++) {
                times(e.weight[x], n - i, e.ctx);
                over(e.weight[x], i + 1, e.ctx);
            }
            for (uint64_t i = 0; i < n; i++)
                times(e.weight[x], i < x ? k : 0 - k, e.ctx);
        }
        /* The part begins at `first`: what lies below is counted with it. */
        size_t first = (size_t)noise.part[0].first;
        for (size_t i = 0; i < first; i++)
            BN_add(e.weight[first], e.weight[first], e.weight[i]);
        exact shifted = {e.ctx, {NULL}, e.count - first};
        memcpy(shifted.weight, e.weight + first, shifted.count * sizeof(BIGNUM *));
        check_part(t, &noise.part[0], &shifted);
        exact_free(&e);
    }
}

/* mu^x / x! */
static void exact_poisson(exact *e, uint64_t num, uint64_t den)
{
    for (uint64_t x = 0; x < e->count; x++) {
        BN_one(e->weight[x]);
        BN_lshift(e->weight[x], e->weight[x], BITS);
        for (uint64_t i = 1; i <= x; i++) {
            times(e->weight[x], num, e->ctx);
            over(e->weight[x], den * i, e->ctx);
        }
    }
}

static void poisson_and_skellam_rows_match_big_integers(sotto_test *t)
{
    static const uint64_t means[][2] = {{1, 3}, {2, 1}, {25, 2}};

    for (size_t m = 0; m < sizeof means / sizeof means[0]; m++) {
        uint64_t num = means[m][0], den = means[m][1];
        sotto_noise noise;
        exact e = exact_new(260), both = exact_new(130);
        BIGNUM *term = BN_new();

        exact_poisson(&e, num, den);
        CHECK_OK(t, sotto_noise_poisson(&noise, num, den, &t->arena, &t->err));
        CHECK_EQUAL(t, 0, noise.part[0].first);
        check_part(t, &noise.part[0], &e);

        CHECK_OK(t, sotto_noise_skellam(&noise, num, den, &t->arena, &t->err));
        for (size_t x = 0; x < both.count; x++) {
            BN_zero(both.weight[x]);
            for (size_t y = 0; x + y < e.count; y++) {
                BN_mul(term, e.weight[y], e.weight[x + y], e.ctx);
                BN_add(both.weight[x], both.weight[x], term);
            }
            if (x > 0)
                BN_lshift1(both.weight[x], both.weight[x]);
        }
        check_part(t, &noise.part[0], &both);
        BN_free(term);
        exact_free(&e);
        exact_free(&both);
    }
}

static void laplace_digits_match_big_integers(sotto_test *t)
{
    sotto_noise noise;
    exact e = exact_new(8);
    uint64_t place = 1;

    CHECK_OK(t, sotto_noise_laplace(&noise, 7, 2, &t->arena, &t->err));
    CHECK_EQUAL(t, 6, noise.parts); /* 8^3 is beyond 118 ln 2 times the scale */
    for (size_t p = 0; p < noise.parts; p++) {
        place = p % 3 ? place * 8 : 1;
        CHECK(t, noise.part[p].factor == (p < 3 ? (int64_t)place : -(int64_t)place));
        for (uint64_t digit = 0; digit < 8; digit++)
            exact_exp(e.weight[digit], 2 * place * digit, 7, e.ctx);
        check_part(t, &noise.part[p], &e);
    }
    exact_free(&e);
}

/* q^(place digit) with q = num/den, whole numbers times den^(7 place). */
static void geometric_digits_match_big_integers(sotto_test *t)
{
    const uint64_t num = 2, den = 3;
    sotto_noise noise;
    exact e = exact_new(8);
    uint64_t place = 1;

    CHECK_OK(t, sotto_noise_geometric(&noise, num, den, &t->arena, &t->err));
    CHECK_EQUAL(t, 3, noise.parts); /* 8^3 is beyond 118 ln 2 / ln 1.5 */
    for (size_t p = 0; p < noise.parts; p++, place *= 8) {
        CHECK(t, noise.part[p].factor == (int64_t)place);
        for (uint64_t digit = 0; digit < 8; digit++) {
            BN_one(e.weight[digit]);
            for (uint64_t i = 0; i < 7 * place; i++)
                times(e.weight[digit], i < digit * place ? num : den, e.ctx);
        }
        check_part(t, &noise.part[p], &e);
    }
    exact_free(&e);
}

/* The law of a sum of mirrored parts, by adding them up, against the law it stands for. */
static void a_wide_gaussian_is_the_sum_of_its_parts(sotto_test *t)
{
    static const unsigned variances[] = {65, 100, 161, 299, 301, 1369};

    for (size_t v = 0; v < sizeof variances / sizeof variances[0]; v++) {
        sotto_noise noise;
        enum { HALF = 2048 };
        static long double law[2 * HALF + 1], next[2 * HALF + 1];
        long double all = 0;

        CHECK_OK(t, sotto_noise_gaussian(&noise, variances[v], 1, &t->arena, &t->err));
        CHECK(t, noise.parts > 1);
        memset(law, 0, sizeof law);
        law[HALF] = 1;
        for (size_t p = 0; p < noise.parts; p++) {
            const sotto_noise_part *part = &noise.part[p];

            memset(next, 0, sizeof next);
            for (int x = -(int)part->head_count; x <= (int)part->head_count; x++) {
                size_t i = (size_t)(x < 0 ? -x : x);
                int64_t above = i ? part->head[i - 1] : (int64_t)part->head_end - 1;
                int64_t below = i < part->head_count ? part->head[i] : 0;
                long double prob = (long double)(above - below) / 9223372036854775808.0L;

                for (int y = 0; y <= 2 * HALF; y++) {
                    int64_t to = y + part->factor * x;

                    if (law[y] > 0 && to >= 0 && to <= 2 * HALF)
                        next[to] += law[y] * prob / (i ? 2 : 1);
                }
            }
            memcpy(law, next, sizeof law);
        }
        for (int x = -HALF; x <= HALF; x++)
            all += expl(-(long double)x * x / (2.0L * variances[v]));
        for (int x = 0; x < 6 * (int)sqrt(variances[v]); x++) {
            long double wanted = expl(-(long double)x * x / (2.0L * variances[v])) / all;

            CHECK_NEAR(t, 1, (double)(law[HALF + x] / wanted), 1e-9);
            CHECK(t, fabsl(law[HALF + x] - wanted) < 1e-17L);
        }
    }
}

/* ---- randomness exhausted ---------------------------------------------------------------------------- */

/* A block of 128 draws of one part takes 16 words for the rest and then one for each draw. */
enum { BLOCK_WORDS = 16 + 128, DRAWS = 65536 };

static uint64_t sign; /* the lowest bit of a draw's word, for laws with a random sign */

static uint64_t head_word(uint64_t position)
{
    uint64_t block = position / BLOCK_WORDS, word = position % BLOCK_WORDS;

    return word < 16 ? 0 : (block * 128 + word - 16) << 48 | sign;
}

/* How often each value is drawn, over all numbers of 16 bits. */
static void exhaust(sotto_test *t, const sotto_noise *noise, uint64_t *seen)
{
    static int64_t out[DRAWS];
    const sotto_noise_part *part = &noise->part[0];
    noise_words words = {0, head_word};
    sotto_entropy entropy;

    CHECK_EQUAL(t, 1, noise->parts);
    sotto_entropy_init(&entropy, noise_fill_words, &words);
    CHECK_OK(t, sotto_noise_draw(noise, out, DRAWS, &entropy, &t->err));
    memset(seen, 0, 64 * sizeof seen[0]);
    for (size_t i = 0; i < DRAWS; i++) {
        int64_t value = part->mirrored && sign ? -out[i] : out[i];

        CHECK(t, value >= part->first && value - part->first < 64);
        seen[value - part->first]++;
    }
}

static void check_exhausted(sotto_test *t, const sotto_noise *noise)
{
    const sotto_noise_part *part = &noise->part[0];
    uint64_t seen[64], below = DRAWS;

    for (sign = 0; sign <= 1; sign++, below = DRAWS) {
        exhaust(t, noise, seen);
        for (size_t v = 0; v < part->head_count; v++) {
            /* Numbers i 2^47 that the next row exceeds. */
            uint64_t above = ((uint64_t)part->head[v] + ((uint64_t)1 << 47) - 1) >> 47;

            CHECK_EQUAL(t, below - above, seen[v]);
            below = above;
        }
    }
    sign = 0;
}

static void every_16_bit_number_is_drawn_as_often_as_its_row_says(sotto_test *t)
{
    sotto_noise noise;

    CHECK_OK(t, sotto_noise_gaussian(&noise, 9, 1, &t->arena, &t->err));
    check_exhausted(t, &noise);
    CHECK_OK(t, sotto_noise_gaussian(&noise, 1, 2, &t->arena, &t->err));
    check_exhausted(t, &noise);
    CHECK_OK(t, sotto_noise_binomial(&noise, 20, UINT64_C(0x1234567890abcdef), &t->arena, &t->err));
    check_exhausted(t, &noise);
    CHECK_OK(t, sotto_noise_poisson(&noise, 2, 1, &t->arena, &t->err));
    check_exhausted(t, &noise);
    CHECK_OK(t, sotto_noise_skellam(&noise, 1, 3, &t->arena, &t->err));
    check_exhausted(t, &noise);
}

/* Laws whose probabilities are multiples of 2^-16, so that nothing is rounded. */
static void small_binomials_are_drawn_exactly(sotto_test *t)
{
    static const uint64_t choose[][5] = {{1, 1}, {1, 2, 1}, {1, 3, 3, 1}, {1, 4, 6, 4, 1}};
    uint64_t seen[64];
    sotto_noise noise;

    for (uint64_t n = 1; n <= 4; n++) {
        CHECK_OK(t, sotto_noise_binomial(&noise, n, SOTTO_NOISE_HALF, &t->arena, &t->err));
        exhaust(t, &noise, seen);
        for (uint64_t x = 0; x <= n; x++)
            CHECK_EQUAL(t, choose[n - 1][x] * DRAWS >> n, seen[x]);
    }
    CHECK_OK(t, sotto_noise_binomial(&noise, 2, UINT64_C(1) << 62, &t->arena, &t->err));
    exhaust(t, &noise, seen);
    CHECK_EQUAL(t, DRAWS / 16 * 9, seen[0]);
    CHECK_EQUAL(t, DRAWS / 16 * 6, seen[1]);
    CHECK_EQUAL(t, DRAWS / 16, seen[2]);
}

/* All numbers fall into the rest; its own numbers run through all values of 16 bits. */
static uint64_t rest_word(uint64_t position)
{
    uint64_t block = position / BLOCK_WORDS, word = position % BLOCK_WORDS;

    if (word >= 16)
        return UINT64_MAX - 1;
    return word % 2 ? 0 : (block * 8 + word / 2) << 48;
}

static void numbers_of_the_rest_take_its_values(sotto_test *t)
{
    uint64_t seen[64] = {0};
    noise_words words = {0, rest_word};
    sotto_entropy entropy;
    sotto_noise noise;

    CHECK_OK(t, sotto_noise_gaussian(&noise, 9, 1, &t->arena, &t->err));
    sotto_entropy_init(&entropy, noise_fill_words, &words);
    for (size_t block = 0; block < DRAWS / 8; block++) {
        int64_t out[128];

        CHECK_OK(t, sotto_noise_draw(&noise, out, 128, &entropy, &t->err));
        for (size_t i = 0; i < 8; i++)
            seen[out[i]]++;
        for (size_t i = 8; i < 128; i++)
            CHECK(t, out[i] == out[i - 8]);
    }
    const sotto_noise_part *part = &noise.part[0];
    uint64_t below = DRAWS;
    for (size_t v = 0; v < part->rest_count; v++) {
        uint64_t above =
            ((uint64_t)part->rest[v].high + (part->rest[v].low > 0) + ((uint64_t)1 << 47) - 1) >>
            47;

        CHECK_EQUAL(t, below - above, seen[v]);
        below = above;
    }
}

static void parameters_out_of_range_are_refused_by_name(sotto_test *t)
{
    sotto_noise noise;

    CHECK_STATUS(t, SOTTO_DENIED, sotto_noise_gaussian(&noise, 0, 1, &t->arena, &t->err));
    CHECK_REASON(t, "variance");
    CHECK_STATUS(t, SOTTO_DENIED, sotto_noise_gaussian(&noise, 1, 0, &t->arena, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_noise_gaussian(&noise, UINT64_C(1) << 51, 1, &t->arena, &t->err));
    CHECK_STATUS(
        t, SOTTO_DENIED,
        sotto_noise_binomial(&noise, UINT64_C(1) << 31, SOTTO_NOISE_HALF, &t->arena, &t->err));
    CHECK_REASON(t, "rows");
    CHECK_STATUS(t, SOTTO_DENIED, sotto_noise_laplace(&noise, 1, 0, &t->arena, &t->err));
    CHECK_REASON(t, "scale");
    CHECK_STATUS(t, SOTTO_DENIED, sotto_noise_geometric(&noise, 3, 3, &t->arena, &t->err));
    CHECK_REASON(t, "q");
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_noise_binomial(&noise, UINT64_C(1) << 33, 1, &t->arena, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_noise_poisson(&noise, 0, 1, &t->arena, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_noise_skellam(&noise, 900000, 1, &t->arena, &t->err));
    CHECK_REASON(t, "mean");
}

static void the_widest_laws_still_fit(sotto_test *t)
{
    sotto_noise noise;

    CHECK_OK(t, sotto_noise_gaussian(&noise, (UINT64_C(1) << 40) - 1, 1, &t->arena, &t->err));
    CHECK(t, sotto_noise_limit(&noise) > (uint64_t)12 << 20);
    CHECK_OK(t, sotto_noise_gaussian(&noise, 1, UINT64_C(0xffffffff), &t->arena, &t->err));
    CHECK_OK(t, sotto_noise_laplace(&noise, (1 << 20) - 1, 1, &t->arena, &t->err));
    CHECK_OK(t, sotto_noise_geometric(&noise, (1 << 20) - 2, (1 << 20) - 1, &t->arena, &t->err));
    CHECK_OK(t, sotto_noise_binomial(&noise, 1500000, SOTTO_NOISE_HALF, &t->arena, &t->err));
    CHECK_OK(t, sotto_noise_binomial(&noise, 5, 0, &t->arena, &t->err));
    CHECK_EQUAL(t, 0, sotto_noise_limit(&noise));
    CHECK_OK(t, sotto_noise_skellam(&noise, 790000, 1, &t->arena, &t->err));
    CHECK(t, sotto_noise_delta(1) > 0x1p-100);
}

static void memory_that_runs_out_is_reported(sotto_test *t)
{
    sotto_noise noise;
    sotto_arena small;

    sotto_arena_init(&small, 256);
    CHECK_STATUS(t, SOTTO_NO_MEMORY, sotto_noise_gaussian(&noise, 64, 1, &small, &t->err));
    CHECK_STATUS(t, SOTTO_NO_MEMORY, sotto_noise_skellam(&noise, 64, 1, &small, &t->err));
    sotto_arena_clear(&small);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(gaussian_rows_match_big_integers),
        CASE(binomial_rows_match_big_integers),
        CASE(poisson_and_skellam_rows_match_big_integers),
        CASE(laplace_digits_match_big_integers),
        CASE(geometric_digits_match_big_integers),
        CASE(a_wide_gaussian_is_the_sum_of_its_parts),
        CASE(every_16_bit_number_is_drawn_as_often_as_its_row_says),
        CASE(small_binomials_are_drawn_exactly),
        CASE(numbers_of_the_rest_take_its_values),
        CASE(parameters_out_of_range_are_refused_by_name),
        CASE(the_widest_laws_still_fit),
        CASE(memory_that_runs_out_is_reported),
    };
    return RUN_TESTS(argc, argv, cases);
}
