/* What a client does with its secrets: dealing shares, stretching seeds, masking. Nothing but lengths may steer it. */
#include "support/ctime.h"
#include "support/test.h"

#include "aggregate/shared/mask.h"
#include "aggregate/shared/shamir.h"
#include "aggregate/shared/tdh2.h"

enum { ENTRIES = 5000, HOLDERS = 9 };

static void dealing_does_not_depend_on_the_secret(sotto_test *t)
{
    uint8_t secret[32] = {1, 2, 3}, seed[32] = {4}, share[SOTTO_SHAMIR_SHARE];
    sotto_shamir_dealer dealer;
    sotto_keystream stream;

    CHECK_OK(t, sotto_keystream_init(&stream, &t->err));
    sotto_ctime_secret(secret, sizeof secret);
    sotto_ctime_secret(seed, sizeof seed);
    CHECK_OK(t, sotto_keystream_seed(&stream, seed, &t->err));
    CHECK_OK(t, sotto_shamir_deal(&dealer, &t->arena, 5, secret, &stream, &t->err));
    for (uint32_t i = 0; i < HOLDERS; i++) {
        sotto_shamir_share(&dealer, share, i);
        sotto_ctime_public(share, sizeof share); /* its holder's */
        CHECK(t, sotto_shamir_is_share(share));
    }
    sotto_shamir_forget(&dealer);
    sotto_keystream_clear(&stream);
}

static void masking_does_not_depend_on_the_vector(sotto_test *t)
{
    static uint64_t entries[ENTRIES];
    uint8_t agreed[32] = {5}, seed[32];
    const uint8_t id[SOTTO_ROUND_ID] = {6};
    sotto_vector v = {.ring = SOTTO_RING_Z64, .length = ENTRIES, .of.z64 = entries};

    sotto_ctime_secret(agreed, sizeof agreed);
    sotto_ctime_secret(entries, sizeof entries);
    CHECK_OK(t, sotto_pair_seed(seed, agreed, id, 3, 4, &t->err));
    CHECK_OK(t, sotto_mask_apply(&v, seed, sotto_pair_sign(3, 4), &t->err));
    v.ring = SOTTO_RING_Z32;
    v.of.z32 = (uint32_t *)(void *)entries;
    CHECK_OK(t, sotto_mask_apply(&v, seed, -1, &t->err));
    sotto_ctime_public(entries, sizeof entries);
    CHECK(t, entries[ENTRIES - 1] != entries[ENTRIES - 2]);
}

/* A client seals the seed of a mask; a decryptor gives its part with its share of the key, and proves it. */
static void sealing_and_parts_do_not_depend_on_secrets(sotto_test *t)
{
    uint8_t plain[32] = {1}, seed[32] = {2}, label[SOTTO_TDH2_LABEL] = {3};
    uint8_t sealed[SOTTO_TDH2_SEALED], part[SOTTO_TDH2_PART], proof[SOTTO_DLEQ];
    sotto_scalar share = {{0}};
    sotto_keystream stream;
    sotto_tdh2 tdh2;

    CHECK_OK(t, sotto_tdh2_init(&tdh2, &t->err));
    CHECK_OK(t, sotto_keystream_init(&stream, &t->err));
    share.be[1] = 7;
    share.be[31] = 9;
    sotto_point *key = sotto_point_new(&tdh2.group);
    sotto_point_multiply(&tdh2.group, key, &share, NULL);
    sotto_ctime_secret(plain, sizeof plain);
    sotto_ctime_secret(seed, sizeof seed);
    sotto_ctime_secret(&share, sizeof share);
    CHECK_OK(t, sotto_keystream_seed(&stream, seed, &t->err));
    CHECK_OK(t, sotto_tdh2_seal(&tdh2, sealed, key, label, plain, &stream, &t->err));
    sotto_ctime_public(sealed, sizeof sealed);
    CHECK(t, sotto_tdh2_is_valid_vartime(&tdh2, sealed, label));
    CHECK_OK(t, sotto_tdh2_part(&tdh2, part, sealed, &share, &t->err));
    sotto_ctime_public(part, sizeof part);
    sotto_dleq_claim claim = {.public_key = key,
                              .bases = sealed,
                              .parts = part,
                              .count = 1,
                              .context = {label, sizeof label}};
    CHECK_OK(t, sotto_dleq_prove(&tdh2, proof, &claim, &share, &stream, &t->err));
    sotto_ctime_public(proof, sizeof proof);
    CHECK(t, sotto_dleq_holds_vartime(&tdh2, &claim, proof));
    sotto_point_free(key);
    sotto_keystream_clear(&stream);
    sotto_tdh2_clear(&tdh2);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(dealing_does_not_depend_on_the_secret),
        CASE(masking_does_not_depend_on_the_vector),
        CASE(sealing_and_parts_do_not_depend_on_secrets),
    };
    return RUN_TESTS(argc, argv, cases);
}
