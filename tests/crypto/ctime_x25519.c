/* X25519 in lanes with its scalars marked: the four-lane form as it is, and the eight-lane form's field and ladder over
 * vectors that valgrind knows. */
#include "crypto/agree_many.h"
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

/* The base point and a peer, as a sender has it: which of the private keys are marked can't be told. */
static void keys_that_are_used_once_follow_no_secret(sotto_test *t)
{
    static const uint8_t peer[SIZE] = {0x55, 7, 1};
    static sotto_ephemeral all[8];
    uint8_t wanted[SIZE];

    if (!sotto_x25519_use("avx2"))
        SKIP(t, "this machine has no AVX2");
    for (size_t i = 0; i < 8; i++)
        for (size_t byte = 0; byte < SIZE; byte++)
            all[i].private_key[byte] = (uint8_t)(29 * i + 13 * byte + 1);
    for (size_t i = 0; i < 8; i++)
        sotto_ctime_secret(all[i].private_key, SIZE);
    sotto_ephemerals_agree(all, 8, sotto_kem_find(SOTTO_KEM_X25519), sotto_bytes_of(peer, SIZE));
    for (size_t i = 0; i < 8; i++) {
        sotto_ctime_public(&all[i], sizeof all[i]);
        sotto_dh dh = library_key(t, all[i].private_key);

        CHECK(t, all[i].agreed);
        expect(t, wanted, &dh, peer);
        CHECK_BYTES(t, wanted, all[i].secret, SIZE);
        CHECK_BYTES(t, dh.public_key, all[i].public_key, SIZE);
        sotto_dh_clear(&dh);
    }
    CHECK(t, sotto_x25519_use(NULL));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_ladder_over_limbs_of_51_bits_follows_no_secret),
        CASE(the_ladder_over_limbs_of_26_bits_follows_no_secret),
        CASE(keys_that_are_used_once_follow_no_secret),
    };
    return RUN_TESTS(argc, argv, cases);
}
