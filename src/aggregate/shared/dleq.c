/* One proof for all of a decryptor's parts: bases and parts are each added up with factors that nobody chose. */
#include "aggregate/shared/tdh2.h"

#include "base/declassify.h"
#include "crypto/hash.h"

#include <string.h>

static const char SEED[] = "sotto-dleq-seed-1", FACTOR[] = "sotto-dleq-factor-1",
                  CHALLENGE[] = "sotto-dleq-proof-1";

static void write_point(sotto_tdh2 *t, sotto_hash *hash, const sotto_point *p)
{
    uint8_t bytes[SOTTO_P256_WIDE];

    if (!sotto_point_encode_wide(&t->group, bytes, p))
        memset(bytes, 0, sizeof bytes);    /* the identity */
    SOTTO_DECLASSIFY(bytes, sizeof bytes); /* every point of a proof is public */
    sotto_hash_update(hash, sotto_bytes_of(bytes, sizeof bytes));
}

static void seed_of(sotto_tdh2 *t, uint8_t out[32], const sotto_dleq_claim *claim)
{
    sotto_hash hash;

    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(SEED, sizeof SEED));
    sotto_hash_update(&hash, claim->context);
    write_point(t, &hash, claim->public_key);
    for (size_t i = 0; i < claim->count; i++) {
        sotto_hash_update(&hash,
                          sotto_bytes_of(claim->bases + i * claim->base_step, SOTTO_P256_WIDE));
        sotto_hash_update(&hash,
                          sotto_bytes_of(claim->parts + i * claim->part_step, SOTTO_P256_WIDE));
    }
    sotto_hash_final(&hash, out);
}

/* 128 bits are enough for a combination that can't be met by chance. */
static void factor(sotto_group *g, sotto_scalar *out, const uint8_t seed[32], uint32_t i)
{
    uint8_t text[sizeof FACTOR + 32 + 4], digest[32];

    memcpy(text, FACTOR, sizeof FACTOR);
    memcpy(text + sizeof FACTOR, seed, 32);
    for (unsigned b = 0; b < 4; b++)
        text[sizeof FACTOR + 32 + b] = (uint8_t)(i >> 8 * b);
    sotto_hash_once(digest, SOTTO_SHA256, sotto_bytes_of(text, sizeof text));
    sotto_scalar_set(g, out, 0);
    memcpy(out->be + 16, digest, 16);
}

/* at[0]: the bases, at[1]: the parts, each added up. False: one of them is no point. */
static bool add_up(sotto_tdh2 *t, const sotto_dleq_claim *claim)
{
    sotto_group *g = &t->group;
    uint8_t seed[32];

    seed_of(t, seed, claim);
    sotto_point_set_identity(g, t->at[0]);
    sotto_point_set_identity(g, t->at[1]);
    for (size_t i = 0; i < claim->count; i++) {
        sotto_scalar d;

        factor(g, &d, seed, (uint32_t)i);
        if (!sotto_point_decode_wide(g, t->at[2], claim->bases + i * claim->base_step))
            return false;
        sotto_point_multiply_add(g, t->at[0], &d, t->at[2]);
        if (!sotto_point_decode_wide(g, t->at[2], claim->parts + i * claim->part_step))
            return false;
        sotto_point_multiply_add(g, t->at[1], &d, t->at[2]);
    }
    return true;
}

/* Of the claim, the sums in at[0] and at[1], and the commitments in at[3] and at[4]. */
static void challenge(sotto_tdh2 *t, sotto_scalar *out, const sotto_dleq_claim *claim)
{
    uint8_t digest[32];
    sotto_hash hash;

    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, claim->context);
    write_point(t, &hash, claim->public_key);
    write_point(t, &hash, t->at[0]);
    write_point(t, &hash, t->at[1]);
    write_point(t, &hash, t->at[3]);
    write_point(t, &hash, t->at[4]);
    sotto_hash_final(&hash, digest);
    const sotto_bytes message = {digest, sizeof digest};
    sotto_scalar_hash_vartime(&t->group, out, sotto_bytes_of(CHALLENGE, sizeof CHALLENGE - 1),
                              &message, 1);
}

sotto_status sotto_dleq_prove(sotto_tdh2 *t, uint8_t out[SOTTO_DLEQ], const sotto_dleq_claim *claim,
                              const sotto_scalar *k, sotto_keystream *stream, sotto_err *err)
{
    sotto_scalar nonce, e, f;
    sotto_group *g = &t->group;

    SOTTO_TRY(sotto_scalar_draw(g, &nonce, stream, err));
    bool whole = add_up(t, claim);
    sotto_point_multiply(g, t->at[3], &nonce, NULL);
    sotto_point_multiply(g, t->at[4], &nonce, t->at[0]);
    challenge(t, &e, claim);
    sotto_scalar_multiply(g, &f, &e, k);
    sotto_scalar_add(g, &f, &f, &nonce);
    memcpy(out, e.be, SOTTO_P256_SCALAR);
    memcpy(out + SOTTO_P256_SCALAR, f.be, SOTTO_P256_SCALAR);
    sotto_wipe(&nonce, sizeof nonce);
    SOTTO_TRY(sotto_group_finish(g, err));
    return whole ? SOTTO_OK : sotto_fail(err, SOTTO_BUG, "proof: a part that is no point");
}

bool sotto_dleq_holds_vartime(sotto_tdh2 *t, const sotto_dleq_claim *claim,
                              const uint8_t proof[SOTTO_DLEQ])
{
    sotto_scalar e, f, minus_e, wanted;
    sotto_group *g = &t->group;

    if (!sotto_scalar_decode(g, &e, proof) ||
        !sotto_scalar_decode(g, &f, proof + SOTTO_P256_SCALAR) || !add_up(t, claim))
        return false;
    sotto_scalar_negate(g, &minus_e, &e);
    sotto_point_multiply_both(g, t->at[3], &f, &minus_e, claim->public_key);
    sotto_point_multiply(g, t->at[4], &f, t->at[0]);
    sotto_point_multiply_add(g, t->at[4], &minus_e, t->at[1]);
    challenge(t, &wanted, claim);
    if (sotto_group_finish(g, NULL) != SOTTO_OK)
        return false;
    return memcmp(wanted.be, e.be, SOTTO_P256_SCALAR) == 0;
}
