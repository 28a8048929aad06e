/* What a device and a committee member do with their secrets: drawing, encrypting, dealing, opening. */
#include "support/ctime.h"
#include "support/test.h"

#include "aggregate/aero/proof.h"
#include "aggregate/aero/threshold.h"

#include <stdlib.h>

enum { MEMBERS = 3 };

/* All randomness is secret. */
static sotto_status fill(void *context, void *out, size_t len, sotto_err *err)
{
    uint64_t *state = context;
    uint8_t *bytes = out;

    (void)err;
    for (size_t i = 0; i < len; i++) {
        *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        bytes[i] = (uint8_t)(*state >> 56);
    }
    sotto_ctime_secret(out, len);
    return SOTTO_OK;
}

static void encrypting_and_opening_depend_on_no_secret(sotto_test *t)
{
    static sotto_aero aero;
    static sotto_aero_poly a, b, part;
    static sotto_aero_public key;
    static sotto_aero_secret secret;
    static sotto_aero_witness witness;
    static sotto_aero_cipher cipher;
    static sotto_aero_share shares[MEMBERS];
    static int64_t m[SOTTO_AERO_N];
    const uint8_t seed[SOTTO_AERO_SEED] = {1};
    const uint32_t members[] = {0, 2};
    const sotto_aero_set *set = NULL;
    uint8_t seeds[2][SOTTO_AERO_SEED] = {{2}}, of_shares[1][SOTTO_AERO_SEED] = {{3}};
    sotto_aero_weight weights[2];
    sotto_noise smudge;
    sotto_entropy entropy;
    uint64_t state = 1;

    sotto_entropy_init(&entropy, fill, &state);
    CHECK_OK(t, sotto_aero_set_named(&set, NULL, &t->err));
    CHECK_OK(t, sotto_aero_init(&aero, set, 30, &t->arena, &t->err));
    CHECK_OK(t, sotto_noise_gaussian_wide(&smudge, 3, &t->arena, &t->err));
    CHECK_OK(t, sotto_aero_expand_vartime(&aero, &a, seed, &t->err));
    CHECK_OK(t, sotto_aero_keygen(&aero, &secret, &b, &a, &entropy, &t->err));
    CHECK_OK(t, sotto_aero_deal(&aero, shares, MEMBERS, 2, &secret, &entropy, &t->err));
    sotto_ctime_secret(of_shares, sizeof of_shares);
    CHECK_OK(t, sotto_aero_deal_seeded(&aero, shares, MEMBERS, 2, 0, &secret,
                                       (const uint8_t(*)[SOTTO_AERO_SEED])of_shares, &t->err));
    sotto_ctime_public(&b, sizeof b); /* published */
    sotto_aero_public_of(&aero, &key, &a, &b);

    sotto_ctime_secret(m, sizeof m);
    CHECK_OK(t, sotto_aero_draw(&aero, &witness, &entropy, &t->err));
    CHECK(t, sotto_ntt64_use("portable") && sotto_limb_use("portable"));
    CHECK_OK(t, sotto_aero_encrypt(&aero, &cipher, &key, &witness, m, &t->err));
    CHECK(t, sotto_ntt64_use(NULL) && sotto_limb_use(NULL));
    sotto_ctime_public(&cipher, sizeof cipher);
    CHECK_OK(t, sotto_aero_weights_vartime(&aero, weights, members, 2, &t->err));
    const sotto_aero_place place = {members, 2, 1, (const uint8_t(*)[SOTTO_AERO_SEED])seeds};
    sotto_ctime_secret(seeds, sizeof seeds);
    CHECK_OK(t, sotto_aero_partial(&aero, &part, &shares[2], weights[1], &place, &cipher.c1,
                                   &smudge, &entropy, &t->err));
    sotto_ctime_public(&part, sizeof part);
    CHECK(t, part.first[0].v != part.first[1].v);
}

/* The long form alone: a proof takes half a minute here. */
static void proving_depends_on_no_secret(sotto_test *t)
{
    static const sotto_aero_profile quick = {"quick", 4, 2, 1, 1};
    static sotto_aero aero;
    static sotto_aero_poly a, b;
    static sotto_aero_public key;
    static sotto_aero_secret secret;
    static sotto_aero_witness witness;
    static sotto_aero_cipher cipher;
    static int64_t m[SOTTO_AERO_N];
    static uint8_t memory[1 << 20];
    const uint8_t seed[SOTTO_AERO_SEED] = {1};
    const sotto_aero_set *set = NULL;
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_aero_statement s = {.aero = &aero, .profile = &quick, .a = &a, .b = &b};
    sotto_arena scratch;
    sotto_entropy entropy;
    uint64_t state = 1;

#ifndef SOTTO_CTIME
    if (!getenv("SOTTO_TEST_LONG"))
        sotto_test_leave_out(t, "the long form alone runs it", __FILE__, __LINE__);
#endif
    sotto_entropy_init(&entropy, fill, &state);
    CHECK_OK(t, sotto_aero_set_named(&set, NULL, &t->err));
    CHECK_OK(t, sotto_aero_init(&aero, set, 30, &t->arena, &t->err));
    CHECK_OK(t, sotto_aero_expand_vartime(&aero, &a, seed, &t->err));
    CHECK_OK(t, sotto_aero_keygen(&aero, &secret, &b, &a, &entropy, &t->err));
    sotto_ctime_public(&b, sizeof b);
    sotto_aero_public_of(&aero, &key, &a, &b);
    sotto_ctime_secret(m, sizeof m);
    CHECK_OK(t, sotto_aero_draw(&aero, &witness, &entropy, &t->err));
    CHECK_OK(t, sotto_aero_encrypt(&aero, &cipher, &key, &witness, m, &t->err));
    sotto_ctime_public(&cipher, sizeof cipher);
    s.ciphers = &cipher;
    s.count = 1;
    s.bits = 4;
    s.norm2 = 1000;
    sotto_arena_init(&scratch, SOTTO_AERO_PROOF_PROVER);
    CHECK_OK(t, sotto_aero_prove(&out, &s, &witness, m, &entropy, &scratch, &t->err));
    sotto_arena_reset(&scratch);
    sotto_ctime_public(memory, out.len);
    CHECK_OK(t, sotto_aero_verify_vartime(&s, sotto_buf_bytes(&out), &scratch, &t->err));
    sotto_arena_clear(&scratch);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(encrypting_and_opening_depend_on_no_secret),
        CASE(proving_depends_on_no_secret),
    };
    return RUN_TESTS(argc, argv, cases);
}
