/* Sums of many points beside each other are those that the crypto library finds one by one. */
#include "p256_sets.h"

#include <openssl/bn.h>

static table all;

static void sums_are_those_of_the_crypto_library(sotto_test *t)
{
    static const size_t counts[] = {COUNT, COUNT - 1, 9, 8, 7, 1};

    set_up(t, &all, 5, COUNT);
    for (size_t set = 0; set < P256_SETS; set++)
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
            for (size_t terms = 1; terms <= TERMS; terms += 3) {
                if (!add_up(&all, set, terms, counts[c]))
                    continue;
                for (size_t i = 0; i < counts[c]; i++)
                    CHECK(t, is_right(&all, terms, i));
                /* Nothing behind the last one is touched. */
                for (size_t i = counts[c]; i < COUNT; i++)
                    CHECK(t, all.done[i] && all.out[i][0] == 0);
            }
    sotto_p256_sum_many_vartime(all.out, all.done, all.lists, 0, SOTTO_P256_WIDE, 3);
    CHECK(t, !all.done[0] && !all.done[2]);
    clear(t, &all);
}

static void what_it_can_not_add_is_left_to_the_library(sotto_test *t)
{
    enum {
        FORM,
        X,
        Y,
        LARGE,
        LARGE_Y,
        ZERO,
        SAME,
        OPPOSITE,
        LATER,
        LATER_OPPOSITE,
        LAST,
        ON_AND_ON,
        GOOD,
        CASES
    };

    set_up(t, &all, 6, CASES);
    all.rows[3][FORM][0] = 2;
    all.rows[2][X][9] ^= 1;
    all.rows[0][Y][40] ^= 1;
    memset(all.rows[6][LARGE] + 1, 0xff, 32);
    memset(all.rows[5][LARGE_Y] + 33, 0xff, 32);
    memset(all.rows[1][ZERO], 0, SOTTO_P256_WIDE);
    memcpy(all.rows[1][SAME], all.rows[0][SAME], SOTTO_P256_WIDE);
    memcpy(all.rows[1][OPPOSITE], all.rows[0][OPPOSITE], SOTTO_P256_WIDE);
    negate(all.rows[1][OPPOSITE]);
    /* The third is the sum of the first two, or its opposite; the last is the opposite of all others. */
    CHECK(t, library_sum(&all, all.rows[2][LATER], 2, LATER));
    CHECK(t, library_sum(&all, all.rows[2][LATER_OPPOSITE], 2, LATER_OPPOSITE));
    negate(all.rows[2][LATER_OPPOSITE]);
    CHECK(t, library_sum(&all, all.rows[6][LAST], 6, LAST));
    negate(all.rows[6][LAST]);
    for (size_t j = 0; j < TERMS; j++)
        memcpy(all.rows[j][ON_AND_ON], all.rows[0][ON_AND_ON], SOTTO_P256_WIDE);
    for (size_t set = 0; set < P256_SETS; set++) {
        if (!add_up(&all, set, TERMS, CASES))
            continue;
        for (size_t i = 0; i < GOOD; i++)
            CHECK(t, !all.done[i]);
        CHECK(t, is_right(&all, TERMS, GOOD));
    }
    clear(t, &all);
}

/* One of its bits is wrong: it is hardly ever a point, and the library says when. */
static void points_are_those_of_the_crypto_library(sotto_test *t)
{
    uint8_t good[SOTTO_P256_WIDE], wanted[SOTTO_P256_WIDE];

    set_up(t, &all, 7, 0);
    make_point(t, &all, good);
    for (size_t first = 0; first < 8 * sizeof good; first += COUNT)
        for (size_t set = 0; set < P256_SETS; set++) {
            for (size_t i = 0; i < COUNT; i++) {
                const size_t bit = (first + i) % (8 * sizeof good);

                memcpy(all.rows[0][i], good, sizeof good);
                all.rows[0][i][bit / 8] = (uint8_t)(good[bit / 8] ^ 1u << bit % 8);
            }
            if (!add_up(&all, set, 1, COUNT))
                continue;
            for (size_t i = 0; i < COUNT; i++)
                CHECK(t, all.done[i] == library_sum(&all, wanted, 1, i));
        }
    clear(t, &all);
}

/* x of 0 to 255, and the same and p, which is another encoding of the same point: nobody takes it. */
static void small_coordinates_have_one_encoding(sotto_test *t)
{
    bool is_point[COUNT];
    unsigned points = 0;

    set_up(t, &all, 8, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        uint8_t narrow[SOTTO_P256_POINT] = {2};
        unsigned carry = (unsigned)i;

        narrow[32] = (uint8_t)i;
        is_point[i] = sotto_point_decode(&all.group, all.term, narrow) &&
                      sotto_point_encode_wide(&all.group, all.rows[0][i], all.term);
        points += is_point[i];
        memcpy(all.rows[1][i], all.rows[0][i], SOTTO_P256_WIDE);
        for (size_t b = 32; b-- > 0; carry >>= 8)
            all.rows[1][i][1 + b] = (uint8_t)(carry += P_BYTES[b]);
    }
    CHECK(t, points > COUNT / 3 && is_point[0]);
    for (size_t set = 0; set < P256_SETS; set++) {
        all.lists[0] = all.rows[0][0];
        if (!add_up(&all, set, 1, COUNT))
            continue;
        for (size_t i = 0; i < COUNT; i++)
            CHECK(t, !is_point[i] || is_right(&all, 1, i));
        all.lists[0] = all.rows[1][0];
        CHECK(t, add_up(&all, set, 1, COUNT));
        for (size_t i = 0; i < COUNT; i++)
            CHECK(t, !is_point[i] || !all.done[i]);
    }
    clear(t, &all);
}

/* ---- the field ------------------------------------------------------------------------------------------- */

static BIGNUM *number_of(const uint64_t *limbs, size_t count, int bits)
{
    BIGNUM *out = BN_new(), *limb = BN_new();

    for (size_t i = count; i-- > 0;) {
        (void)BN_set_word(limb, limbs[i]);
        (void)BN_lshift(out, out, bits);
        (void)BN_add(out, out, limb);
    }
    BN_free(limb);
    return out;
}

static void check_product(sotto_test *t, const uint64_t got[4], const uint64_t a[5],
                          const uint64_t b[5])
{
    BN_CTX *scratch = BN_CTX_new();
    BIGNUM *x = number_of(a, 5, 52), *y = number_of(b, 5, 52), *z = number_of(got, 4, 64);
    BIGNUM *p = BN_bin2bn(P_BYTES, 32, NULL);

    CHECK(t, scratch && x && y && z && p && BN_cmp(z, p) < 0);
    CHECK(t, BN_lshift(z, z, 260) && BN_mod(z, z, p, scratch) && BN_mod_mul(x, x, y, p, scratch));
    CHECK(t, BN_cmp(x, z) == 0);
    BN_free(x);
    BN_free(y);
    BN_free(z);
    BN_free(p);
    BN_CTX_free(scratch);
}

/* Products stay below 16 p where factors are below 15 p, whatever their limbs are. */
static void products_are_right_at_the_edges_of_limbs(sotto_test *t)
{
    static const uint64_t edges[] = {0, 1, (UINT64_C(1) << 52) - 1, UINT64_C(1) << 51,
                                     (UINT64_C(1) << 44) - 1};
    sotto_sim_random random;

    sotto_sim_random_init(&random, 9);
    for (unsigned round = 0; round < 2000; round++) {
        uint64_t a[5], b[5], product[4], square[4];

        for (size_t i = 0; i < 5; i++) {
            a[i] = edges[sotto_sim_random_below(&random, 5)];
            b[i] = edges[sotto_sim_random_below(&random, 5)];
        }
        a[4] = a[4] > UINT64_C(0xeffffffffffff) ? UINT64_C(0xeffffffff0000) : a[4];
        b[4] = b[4] > UINT64_C(0xeffffffffffff) ? UINT64_C(0xeffffffff0000) : b[4];
        sotto_p256_generic_multiply(product, square, a, b);
        check_product(t, product, a, b);
        check_product(t, square, a, a);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(sums_are_those_of_the_crypto_library),
        CASE(what_it_can_not_add_is_left_to_the_library),
        CASE(points_are_those_of_the_crypto_library),
        CASE(small_coordinates_have_one_encoding),
        CASE(products_are_right_at_the_edges_of_limbs),
    };
    return RUN_TESTS(argc, argv, cases);
}
