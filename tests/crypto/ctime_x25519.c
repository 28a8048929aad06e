/* X25519 in lanes with its scalars marked: the four-lane form as it is, and the eight-lane form's field and ladder over
 * vectors that valgrind knows. */
#include "crypto/x25519_generic51.h"
#include "crypto/x25519_sets.h"
#include "support/ctime.h"

static void multiply_marked(sotto_test *t, const sotto_x25519_lanes *set)
{
    const uint8_t *scalars[SOTTO_X25519_MAX_LANES], *points[SOTTO_X25519_MAX_LANES];
    uint8_t *out[SOTTO_X25519_MAX_LANES], wanted[SIZE];
    products p;

    for (size_t i = 0; i < set->lanes; i++) {
        scalars[i] = p.scalars[i];
        points[i] = p.points[i];
        out[i] = p.out[i];
        for (size_t byte = 0; byte < SIZE; byte++) {
            p.scalars[i][byte] = (uint8_t)(37 * i + 11 * byte);
            p.points[i][byte] = (uint8_t)(91 * i + 7 * byte + 1);
        }
    }
    sotto_ctime_secret(p.scalars, sizeof p.scalars);
    set->multiply(out, scalars, points);
    sotto_ctime_public(p.scalars, sizeof p.scalars);
    sotto_ctime_public(p.out, sizeof p.out);
    for (size_t i = 0; i < set->lanes; i++) {
        sotto_dh dh = library_key(t, p.scalars[i]);

        expect(t, wanted, &dh, p.points[i]);
        CHECK_BYTES(t, wanted, p.out[i], SIZE);
        sotto_dh_clear(&dh);
    }
}

static void the_ladder_over_limbs_of_51_bits_follows_no_secret(sotto_test *t)
{
    multiply_marked(t, &sotto_x25519_generic51);
}

static void the_ladder_over_limbs_of_26_bits_follows_no_secret(sotto_test *t)
{
    if (!sotto_x25519_use("avx2"))
        SKIP(t, "this machine has no AVX2");
#if defined(__x86_64__)
    multiply_marked(t, &sotto_x25519_avx2);
#endif
    CHECK(t, sotto_x25519_use(NULL));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_ladder_over_limbs_of_51_bits_follows_no_secret),
        CASE(the_ladder_over_limbs_of_26_bits_follows_no_secret),
    };
    return RUN_TESTS(argc, argv, cases);
}
