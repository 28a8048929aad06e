/* Sums of many points beside each other are those that the crypto library finds one by one. */
#include "support/test.h"

#include "aggregate/shared/p256_sum.h"
#include "sim/random.h"

#include <string.h>

enum { TERMS = 7, COUNT = SOTTO_P256_SUMS };

typedef struct table {
    sotto_group group;
    sotto_point *sum, *term;
    sotto_sim_random random;
    uint8_t rows[TERMS][COUNT][SOTTO_P256_WIDE];
    const uint8_t *lists[TERMS];
    uint8_t out[COUNT][SOTTO_P256_WIDE];
    bool done[COUNT];
} table;

static table all;

static void make_point(sotto_test *t, uint8_t out[SOTTO_P256_WIDE])
{
    sotto_scalar k = {0};

    sotto_sim_random_bytes(&all.random, k.be, 31);
    sotto_point_multiply(&all.group, all.term, &k, NULL);
    CHECK(t, sotto_point_encode_wide(&all.group, out, all.term));
}

static void set_up(sotto_test *t, size_t count)
{
    memset(&all, 0, sizeof all);
    sotto_sim_random_init(&all.random, 5);
    CHECK_OK(t, sotto_group_init(&all.group, &sotto_p256, &t->err));
    all.sum = sotto_point_new(&all.group);
    all.term = sotto_point_new(&all.group);
    for (size_t j = 0; j < TERMS; j++) {
        all.lists[j] = all.rows[j][0];
        for (size_t i = 0; i < count; i++)
            make_point(t, all.rows[j][i]);
    }
}

static void clear(sotto_test *t)
{
    CHECK_OK(t, sotto_group_finish(&all.group, &t->err));
    sotto_point_free(all.sum);
    sotto_point_free(all.term);
    sotto_group_clear(&all.group);
}

static void add_up(size_t count)
{
    sotto_p256_sum_many_vartime(all.out, all.done, all.lists, TERMS, SOTTO_P256_WIDE, count);
}

/* Whether the library finds the same. */
static bool is_right(sotto_test *t, size_t i)
{
    uint8_t wanted[SOTTO_P256_WIDE];

    sotto_point_set_identity(&all.group, all.sum);
    for (size_t j = 0; j < TERMS; j++) {
        CHECK(t, sotto_point_decode_wide(&all.group, all.term, all.rows[j][i]));
        sotto_point_add(&all.group, all.sum, all.sum, all.term);
    }
    CHECK(t, sotto_point_encode_wide(&all.group, wanted, all.sum));
    return all.done[i] && memcmp(wanted, all.out[i], sizeof wanted) == 0;
}

static void sums_are_those_of_the_crypto_library(sotto_test *t)
{
    set_up(t, COUNT);
    add_up(COUNT);
    for (size_t i = 0; i < COUNT; i++)
        CHECK(t, is_right(t, i));
    add_up(1);
    CHECK(t, is_right(t, 0));
    clear(t);
}

/* Opposite points, by p - y. */
static void negate(uint8_t point[SOTTO_P256_WIDE])
{
    static const uint8_t p[32] = {0xff, 0xff, 0xff, 0xff, 0,    0,    0,    1,    0,    0,    0,
                                  0,    0,    0,    0,    0,    0,    0,    0,    0,    0xff, 0xff,
                                  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    unsigned borrow = 0;

    for (size_t i = 32; i-- > 0;) {
        const unsigned d = 256u + p[i] - point[33 + i] - borrow;

        point[33 + i] = (uint8_t)d;
        borrow = d < 256;
    }
}

static void what_it_can_not_add_is_left_to_the_library(sotto_test *t)
{
    enum { FORM, X, Y, LARGE, ZERO, SAME, OPPOSITE, LATER, GOOD, CASES };

    set_up(t, CASES);
    all.rows[3][FORM][0] = 2;
    all.rows[2][X][9] ^= 1;
    all.rows[0][Y][40] ^= 1;
    memset(all.rows[6][LARGE] + 1, 0xff, 32);
    memset(all.rows[1][ZERO], 0, SOTTO_P256_WIDE);
    memcpy(all.rows[1][SAME], all.rows[0][SAME], SOTTO_P256_WIDE);
    memcpy(all.rows[1][OPPOSITE], all.rows[0][OPPOSITE], SOTTO_P256_WIDE);
    negate(all.rows[1][OPPOSITE]);
    /* The third is the sum of the first two. */
    sotto_p256_sum_many_vartime(all.out, all.done, all.lists, 2, SOTTO_P256_WIDE, CASES);
    CHECK(t, all.done[LATER]);
    memcpy(all.rows[2][LATER], all.out[LATER], SOTTO_P256_WIDE);
    add_up(CASES);
    for (size_t i = 0; i < GOOD; i++)
        CHECK(t, !all.done[i]);
    CHECK(t, is_right(t, GOOD));
    clear(t);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(sums_are_those_of_the_crypto_library),
        CASE(what_it_can_not_add_is_left_to_the_library),
    };
    return RUN_TESTS(argc, argv, cases);
}
