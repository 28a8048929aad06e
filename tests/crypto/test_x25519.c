/* X25519 in lanes: the RFC's vectors, points that are unlike the others, and agreement with the crypto library on keys
 * by the thousand. tests/crypto/chaos_x25519.c does the same by the million. */
#include "crypto/x25519_sets.h"

#include "sim/random.h"
#include "support/lanes.h"
#include "support/residue.h"

#include <stdio.h>

/* RFC 7748, 5.2. */
typedef struct vector {
    const char *scalar, *point, *product;
} vector;

static const vector VECTORS[] = {
    {"a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
     "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
     "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"},
    {"4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
     "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
     "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957"},
};

/* Points of small order in all their forms, and numbers at and around the modulus. */
static const char *const ODD_POINTS[] = {
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
    "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "efffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "f0ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "ebffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0900000000000000000000000000000000000000000000000000000000000000",
    "0900000000000000000000000000000000000000000000000000000000000080",
};
enum { ODD = sizeof ODD_POINTS / sizeof ODD_POINTS[0], SMALL_ORDER = 8 };

static void set_hex(sotto_test *t, uint8_t *out, const char *hex)
{
    memcpy(out, sotto_test_hex(t, hex).data, SIZE);
}

static void need_lanes(sotto_test *t)
{
    if (!sotto_test_use_lanes())
        SKIP(t, "this machine has no lanes for X25519");
}

static void the_rfcs_vectors_come_out_in_every_lane(sotto_test *t)
{
    products p;

    need_lanes(t);
    for (size_t n = 0; n < SETS; n++) {
        if (!sotto_x25519_use(sets[n]))
            continue;
        for (size_t i = 0; i < MOST; i++) {
            set_hex(t, p.scalars[i], VECTORS[i % 3 % 2].scalar);
            set_hex(t, p.points[i], VECTORS[i % 3 % 2].point);
        }
        CHECK_EQUAL(t, MOST, multiply_all(&p, MOST));
        for (size_t i = 0; i < MOST; i++)
            CHECK_BYTES(t, sotto_test_hex(t, VECTORS[i % 3 % 2].product).data, p.out[i], SIZE);
    }
    CHECK(t, sotto_x25519_use(NULL));
}

/* RFC 7748, 5.2: each product is the next scalar, each scalar the next point. Both lanes go the same way. */
static void a_thousand_products_of_products_come_out(sotto_test *t)
{
    static const char *const after[] = {
        "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079",
        "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51",
    };
    products p = {.scalars = {{9}, {9}}, .points = {{9}, {9}}};

    need_lanes(t);
    for (size_t n = 0; n < SETS; n++) {
        products now = p;

        if (!sotto_x25519_use(sets[n]))
            continue;
        for (unsigned i = 1; i <= 1000; i++) {
            CHECK_EQUAL(t, 2, multiply_all(&now, 2));
            memcpy(now.points, now.scalars, sizeof now.points);
            memcpy(now.scalars, now.out, sizeof now.scalars);
            if (i == 1 || i == 1000) {
                CHECK_BYTES(t, sotto_test_hex(t, after[i == 1000]).data, now.out[0], SIZE);
                CHECK_BYTES(t, now.out[0], now.out[1], SIZE);
            }
        }
    }
    CHECK(t, sotto_x25519_use(NULL));
}

static void fill(products *p, sotto_sim_random *random)
{
    sotto_sim_random_bytes(random, p->scalars, sizeof p->scalars);
    sotto_sim_random_bytes(random, p->points, sizeof p->points);
}

/* One odd point among ordinary ones, in each place of a register. */
static void odd_points_multiply_as_in_the_library_and_spare_their_neighbours(sotto_test *t)
{
    static const uint8_t zero[SIZE];
    sotto_sim_random random;
    uint8_t wanted[SIZE];
    products p;

    need_lanes(t);
    sotto_sim_random_init(&random, 3);
    for (size_t n = 0; n < SETS; n++) {
        if (!sotto_x25519_use(sets[n]))
            continue;
        for (size_t odd = 0; odd < ODD; odd++) {
            size_t place = odd % SOTTO_X25519_MAX_LANES;

            fill(&p, &random);
            set_hex(t, p.points[place], ODD_POINTS[odd]);
            CHECK_EQUAL(t, 8, multiply_all(&p, 8));
            CHECK_EQUAL(t, odd < SMALL_ORDER, memcmp(zero, p.out[place], SIZE) == 0);
            for (size_t i = 0; i < 8; i++) {
                sotto_dh dh = library_key(t, p.scalars[i]);

                expect(t, wanted, &dh, p.points[i]);
                CHECK_BYTES(t, wanted, p.out[i], SIZE);
                sotto_dh_clear(&dh);
            }
        }
    }
    CHECK(t, sotto_x25519_use(NULL));
}

/* Limbs that are full or empty, in points and scalars. */
static void extreme_limbs_multiply_as_in_the_library(sotto_test *t)
{
    static const uint8_t patterns[] = {0x00, 0xff, 0x55, 0xaa, 0x80, 0x01};
    uint8_t wanted[SIZE];
    products p;

    need_lanes(t);
    for (size_t n = 0; n < SETS; n++) {
        if (!sotto_x25519_use(sets[n]))
            continue;
        for (size_t i = 0; i < 36; i++)
            for (size_t byte = 0; byte < SIZE; byte++) {
                p.scalars[i][byte] = patterns[i / 6];
                p.points[i][byte] = (uint8_t)(patterns[i % 6] ^ (byte > 20 ? 0xff : 0));
            }
        CHECK_EQUAL(t, 36, multiply_all(&p, 36));
        for (size_t i = 0; i < 36; i++) {
            sotto_dh dh = library_key(t, p.scalars[i]);

            expect(t, wanted, &dh, p.points[i]);
            CHECK_BYTES(t, wanted, p.out[i], SIZE);
            sotto_dh_clear(&dh);
        }
    }
    CHECK(t, sotto_x25519_use(NULL));
}

/* Scalars of their own in every lane, and multiples of the base point. */
static void public_keys_of_many_secrets_are_the_librarys(sotto_test *t)
{
    sotto_sim_random random;
    products p;

    need_lanes(t);
    sotto_sim_random_init(&random, 4);
    for (size_t n = 0; n < SETS; n++) {
        if (!sotto_x25519_use(sets[n]))
            continue;
        fill(&p, &random);
        memset(p.points, 0, sizeof p.points);
        for (size_t i = 0; i < MOST; i++)
            p.points[i][0] = 9;
        CHECK_EQUAL(t, MOST, multiply_all(&p, MOST));
        for (size_t i = 0; i < MOST; i++) {
            sotto_dh dh = library_key(t, p.scalars[i]);

            CHECK_BYTES(t, dh.public_key, p.out[i], SIZE);
            sotto_dh_clear(&dh);
        }
    }
    CHECK(t, sotto_x25519_use(NULL));
}

/* Whatever the count, the first ones are right and nothing behind them is touched. */
static void any_count_is_done_as_far_as_it_fills_lanes(sotto_test *t)
{
    sotto_sim_random random;
    products p, all;

    need_lanes(t);
    sotto_sim_random_init(&random, 5);
    fill(&all, &random);
    CHECK_EQUAL(t, MOST, multiply_all(&all, MOST));
    for (size_t n = 0; n < SETS; n++) {
        if (!sotto_x25519_use(sets[n]))
            continue;
        for (size_t count = 0; count <= 20; count++) {
            size_t done;

            p = all;
            memset(p.out, 0x77, sizeof p.out);
            done = multiply_all(&p, count);
            CHECK(t, done <= count && count - done < 2); /* one alone is the library's */
            CHECK_BYTES(t, all.out, p.out, done * SIZE);
            for (size_t i = done; i < MOST; i++)
                CHECK(t, p.out[i][0] == 0x77 && p.out[i][SIZE - 1] == 0x77);
        }
    }
    CHECK(t, sotto_x25519_use("none"));
    CHECK_EQUAL(t, 0, multiply_all(&p, MOST));
    CHECK(t, sotto_x25519_use(NULL));
}

static void outputs_may_be_inputs(sotto_test *t)
{
    sotto_sim_random random;
    products p;

    need_lanes(t);
    sotto_sim_random_init(&random, 6);
    for (size_t n = 0; n < SETS; n++) {
        const uint8_t *scalars[8], *points[8];
        uint8_t *out[8], before[8][SIZE];

        if (!sotto_x25519_use(sets[n]))
            continue;
        fill(&p, &random);
        CHECK_EQUAL(t, 8, multiply_all(&p, 8));
        memcpy(before, p.out, sizeof before);
        for (size_t i = 0; i < 8; i++) {
            scalars[i] = p.scalars[i];
            points[i] = out[i] = p.points[i];
        }
        CHECK_EQUAL(t, 8, sotto_x25519_many(out, scalars, points, 8));
        CHECK_BYTES(t, before, p.points, sizeof before);
    }
    CHECK(t, sotto_x25519_use(NULL));
}

#if !defined(SOTTO_TEST_STACK_MOVES) && defined(__OPTIMIZE__)
typedef struct left_behind {
    products p;
    size_t done, depth;
} left_behind;

static void multiply_eight(void *arg)
{
    left_behind *l = arg;
    uint8_t here = 0;

    l->done = multiply_all(&l->p, 8);
    l->depth = sotto_test_stack_below(&here);
}
#endif

/* Nobody went deeper than what is wiped (24 KB, and some calls around it), and what has a known form is not there. */
static void nothing_is_left_on_the_stack(sotto_test *t)
{
#if defined(SOTTO_TEST_STACK_MOVES) || !defined(__OPTIMIZE__)
    SKIP(t, "sanitizers move locals elsewhere, and frames of unoptimised builds are larger");
#else
    static left_behind l;
    sotto_sim_random random;

    need_lanes(t);
    sotto_sim_random_init(&random, 8);
    for (size_t n = 0; n < SETS; n++) {
        uint64_t first, second, swaps;

        if (!sotto_x25519_use(sets[n]))
            continue;
        fill(&l.p, &random);
        sotto_test_on_own_stack(t, multiply_eight, &l);
        CHECK_EQUAL(t, 8, l.done);
        CHECK(t, l.depth > 24 << 10 && l.depth < 28 << 10);
        memcpy(&first, l.p.scalars[0] + 8, 8);
        memcpy(&second, l.p.scalars[0] + 16, 8);
        swaps = first ^ (first >> 1 | second << 63);
        CHECK(t, !sotto_test_stack_holds(&first, 8) && !sotto_test_stack_holds(&swaps, 8));
        CHECK(t, !sotto_test_stack_holds(l.p.out[0], 8));
    }
    CHECK(t, sotto_x25519_use(NULL));
#endif
}

static void unknown_sets_are_refused(sotto_test *t)
{
    CHECK(t, !sotto_x25519_use("abacus"));
    CHECK(t, sotto_x25519_use("none"));
    CHECK(t, strcmp(sotto_x25519_name(), "none") == 0);
    CHECK(t, sotto_x25519_use(NULL));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_rfcs_vectors_come_out_in_every_lane),
        CASE(a_thousand_products_of_products_come_out),
        CASE(odd_points_multiply_as_in_the_library_and_spare_their_neighbours),
        CASE(extreme_limbs_multiply_as_in_the_library),
        CASE(public_keys_of_many_secrets_are_the_librarys),
        CASE(any_count_is_done_as_far_as_it_fills_lanes),
        CASE(outputs_may_be_inputs),
        CASE(nothing_is_left_on_the_stack),
        CASE(unknown_sets_are_refused),
    };
    return RUN_TESTS(argc, argv, cases);
}
