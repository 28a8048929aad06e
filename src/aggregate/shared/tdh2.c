#include "aggregate/shared/tdh2.h"

#include "base/declassify.h"
#include "base/rule.h"
#include "crypto/hash.h"

#include <string.h>

static const char SECOND[] = "sotto-tdh2-second-generator-1", CHALLENGE[] = "sotto-tdh2-proof-1",
                  KEY[] = "sotto-tdh2-key-1";

/* ---- the object ------------------------------------------------------------------------------------------ */

static sotto_status init_second(sotto_tdh2 *t, sotto_err *err)
{
    sotto_bytes nothing = {(const uint8_t *)"", 0};

    sotto_point_hash_vartime(&t->group, t->at[0], sotto_bytes_of(SECOND, sizeof SECOND - 1),
                             &nothing, 1);
    SOTTO_TRY(sotto_group_finish(&t->group, err));
    return sotto_group_init_at(&t->second, &sotto_p256, t->at[0], err);
}

sotto_status sotto_tdh2_init(sotto_tdh2 *t, sotto_err *err)
{
    const sotto_aead_info *aes = sotto_aead_find(SOTTO_AES256_GCM);

    memset(t, 0, sizeof *t);
    SOTTO_TRY(sotto_group_init(&t->group, &sotto_p256, err));
    for (size_t i = 0; i < sizeof t->at / sizeof t->at[0]; i++)
        t->at[i] = sotto_point_new(&t->group);
    SOTTO_TRY(init_second(t, err));
    SOTTO_TRY(sotto_aead_init(&t->seal, aes, SOTTO_AEAD_SEAL, err));
    SOTTO_TRY(sotto_aead_init(&t->open, aes, SOTTO_AEAD_OPEN, err));
    t->ready = true;
    return SOTTO_OK;
}

sotto_status sotto_tdh2_prepare(sotto_tdh2 *t, const sotto_point *key, sotto_err *err)
{
    if (t->prepared)
        return SOTTO_OK;
    SOTTO_TRY(sotto_group_prepare(&t->second, err));
    SOTTO_TRY(sotto_group_init_at(&t->at_key, &sotto_p256, key, err));
    SOTTO_TRY(sotto_group_prepare(&t->at_key, err));
    t->prepared = key;
    return SOTTO_OK;
}

void sotto_tdh2_clear(sotto_tdh2 *t)
{
    for (size_t i = 0; i < sizeof t->at / sizeof t->at[0]; i++)
        sotto_point_free(t->at[i]);
    sotto_aead_clear(&t->seal);
    sotto_aead_clear(&t->open);
    sotto_group_clear(&t->at_key);
    sotto_group_clear(&t->second);
    sotto_group_clear(&t->group);
    memset(t, 0, sizeof *t);
}

void sotto_tdh2_label(uint8_t out[SOTTO_TDH2_LABEL], const uint8_t id[32], uint32_t from,
                      uint32_t to)
{
    sotto_buf written = sotto_buf_over(out + 32, 8);
    sotto_writer w = sotto_writer_on(&written);

    memcpy(out, id, 32);
    sotto_write_uint(&w, from, 4);
    sotto_write_uint(&w, to, 4);
}

sotto_status sotto_scalar_draw(const sotto_group *g, sotto_scalar *out, sotto_keystream *stream,
                               sotto_err *err)
{
    uint8_t bytes[SOTTO_P256_SCALAR];

    do
        SOTTO_TRY(sotto_keystream_next(stream, bytes, sizeof bytes, err));
    while (!sotto_scalar_decode(g, out, bytes)); /* what is thrown away says nothing of the rest */
    sotto_wipe(bytes, sizeof bytes);
    return SOTTO_OK;
}

/* ---- ciphertexts ----------------------------------------------------------------------------------------- */

/* Where the pieces of a ciphertext are: two points, the text, challenge and response. */
enum {
    AT_U = 0,
    AT_U2 = SOTTO_P256_WIDE,
    AT_TEXT = 2 * SOTTO_P256_WIDE,
    AT_E = AT_TEXT + SOTTO_TDH2_TEXT,
    AT_F = AT_E + SOTTO_P256_SCALAR,
};

/* The text's key: of the shared point, the ciphertext's first point and the label. */
static void key_of(uint8_t out[32], const uint8_t shared[SOTTO_P256_WIDE],
                   const uint8_t u[SOTTO_P256_WIDE], const uint8_t label[SOTTO_TDH2_LABEL])
{
    sotto_hash hash;

    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(KEY, sizeof KEY));
    sotto_hash_update(&hash, sotto_bytes_of(shared, SOTTO_P256_WIDE));
    sotto_hash_update(&hash, sotto_bytes_of(u, SOTTO_P256_WIDE));
    sotto_hash_update(&hash, sotto_bytes_of(label, SOTTO_TDH2_LABEL));
    sotto_hash_final(&hash, out);
}

/* Of text, label, u, w, u', w' (Shoup and Gennaro 1998, figure of TDH2). */
static void challenge(sotto_group *g, sotto_scalar *out, const uint8_t sealed[SOTTO_TDH2_SEALED],
                      const uint8_t label[SOTTO_TDH2_LABEL], const uint8_t w[2 * SOTTO_P256_WIDE])
{
    const sotto_bytes parts[4] = {{sealed + AT_TEXT, SOTTO_TDH2_TEXT},
                                  {label, SOTTO_TDH2_LABEL},
                                  {sealed, 2 * SOTTO_P256_WIDE},
                                  {w, 2 * SOTTO_P256_WIDE}};

    sotto_scalar_hash_vartime(g, out, sotto_bytes_of(CHALLENGE, sizeof CHALLENGE - 1), parts, 4);
}

static const uint8_t NONCE[SOTTO_AEAD_NONCE_SIZE]; /* a key seals one text */

static sotto_status seal_text(sotto_tdh2 *t, uint8_t out[SOTTO_TDH2_SEALED],
                              const uint8_t shared[SOTTO_P256_WIDE],
                              const uint8_t label[SOTTO_TDH2_LABEL],
                              const uint8_t plain[SOTTO_TDH2_PLAIN], sotto_err *err)
{
    sotto_buf text = sotto_buf_over(out + AT_TEXT, SOTTO_TDH2_TEXT);
    uint8_t key[32];

    key_of(key, shared, out + AT_U, label);
    sotto_status status = sotto_aead_set_key(&t->seal, key, err);
    if (status == SOTTO_OK)
        status = sotto_aead_seal(&t->seal, &text, NONCE, sotto_bytes_of(label, SOTTO_TDH2_LABEL),
                                 sotto_bytes_of(plain, SOTTO_TDH2_PLAIN), err);
    sotto_wipe(key, sizeof key);
    return status;
}

sotto_status sotto_tdh2_seal(sotto_tdh2 *t, uint8_t out[SOTTO_TDH2_SEALED], const sotto_point *key,
                             const uint8_t label[SOTTO_TDH2_LABEL],
                             const uint8_t plain[SOTTO_TDH2_PLAIN], sotto_keystream *stream,
                             sotto_err *err)
{
    uint8_t shared[SOTTO_P256_WIDE] = {0}, w[2 * SOTTO_P256_WIDE];
    sotto_scalar r, s, e, f;
    sotto_group *g = &t->group;

    SOTTO_TRY(sotto_scalar_draw(g, &r, stream, err));
    sotto_status status = sotto_scalar_draw(g, &s, stream, err);
    sotto_point_multiply(g, t->at[0], &r, NULL);
    sotto_point_multiply(&t->second, t->at[1], &r, NULL);
    sotto_point_multiply(g, t->at[2], &s, NULL);
    sotto_point_multiply(&t->second, t->at[3], &s, NULL);
    if (key == t->prepared)
        sotto_point_multiply(&t->at_key, t->at[4], &r, NULL);
    else
        sotto_point_multiply(g, t->at[4], &r, key);
    bool whole = sotto_point_encode_wide(g, out + AT_U, t->at[0]) &&
                 sotto_point_encode_wide(g, out + AT_U2, t->at[1]) &&
                 sotto_point_encode_wide(g, w, t->at[2]) &&
                 sotto_point_encode_wide(g, w + SOTTO_P256_WIDE, t->at[3]) &&
                 sotto_point_encode_wide(g, shared, t->at[4]);
    if (status == SOTTO_OK && !whole)
        status = sotto_fail(err, SOTTO_BUG, "tdh2: a scalar of zero");
    if (status == SOTTO_OK)
        status = seal_text(t, out, shared, label, plain, err);
    /* All of it is sent, and w follows from what is sent. */
    SOTTO_DECLASSIFY(out, AT_E);
    SOTTO_DECLASSIFY(w, sizeof w);
    challenge(g, &e, out, label, w);
    sotto_scalar_multiply(g, &f, &r, &e);
    sotto_scalar_add(g, &f, &f, &s);
    memcpy(out + AT_E, e.be, SOTTO_P256_SCALAR);
    memcpy(out + AT_F, f.be, SOTTO_P256_SCALAR);
    sotto_wipe(&r, sizeof r);
    sotto_wipe(&s, sizeof s);
    sotto_wipe(shared, sizeof shared);
    SOTTO_TRY(status);
    SOTTO_TRY(sotto_group_finish(&t->second, err));
    if (t->prepared)
        SOTTO_TRY(sotto_group_finish(&t->at_key, err));
    return sotto_group_finish(g, err);
}

/* w = f generator - e u, which is what the maker committed to if it knew the exponent of u. */
static bool recompute(sotto_group *g, sotto_point *scratch, uint8_t out[SOTTO_P256_WIDE],
                      const sotto_scalar *f, const sotto_scalar *minus_e, const sotto_point *u)
{
    sotto_point_multiply_both(g, scratch, f, minus_e, u);
    return sotto_point_encode_wide(g, out, scratch);
}

bool sotto_tdh2_is_valid_vartime(sotto_tdh2 *t, const uint8_t sealed[SOTTO_TDH2_SEALED],
                                 const uint8_t label[SOTTO_TDH2_LABEL])
{
    uint8_t w[2 * SOTTO_P256_WIDE];
    sotto_scalar e, f, minus_e, wanted;
    sotto_group *g = &t->group;

    if (!sotto_point_decode_wide(g, t->at[0], sealed + AT_U) ||
        !sotto_point_decode_wide(g, t->at[1], sealed + AT_U2) ||
        !sotto_scalar_decode(g, &e, sealed + AT_E) || !sotto_scalar_decode(g, &f, sealed + AT_F))
        return false;
    sotto_scalar_negate(g, &minus_e, &e);
    if (!recompute(g, t->at[2], w, &f, &minus_e, t->at[0]) ||
        !recompute(&t->second, t->at[2], w + SOTTO_P256_WIDE, &f, &minus_e, t->at[1]))
        return false;
    challenge(g, &wanted, sealed, label, w);
    if (sotto_group_finish(&t->second, NULL) != SOTTO_OK || sotto_group_finish(g, NULL) != SOTTO_OK)
        return false;
    if (SOTTO_RULE(threshold_proof) && memcmp(wanted.be, e.be, SOTTO_P256_SCALAR) != 0)
        return false;
    return true;
}

sotto_status sotto_tdh2_part(sotto_tdh2 *t, uint8_t out[SOTTO_TDH2_PART],
                             const uint8_t sealed[SOTTO_TDH2_SEALED], const sotto_scalar *weighted,
                             sotto_err *err)
{
    if (!sotto_point_decode_wide(&t->group, t->at[0], sealed + AT_U))
        return sotto_fail(err, SOTTO_BUG, "tdh2: not a ciphertext");
    sotto_point_multiply(&t->group, t->at[1], weighted, t->at[0]);
    bool whole = sotto_point_encode_wide(&t->group, out, t->at[1]);
    SOTTO_TRY(sotto_group_finish(&t->group, err));
    return whole ? SOTTO_OK : sotto_fail(err, SOTTO_BUG, "tdh2: a share of zero");
}

sotto_status sotto_tdh2_open_at(sotto_tdh2 *t, uint8_t plain[SOTTO_TDH2_PLAIN],
                                const uint8_t sealed[SOTTO_TDH2_SEALED],
                                const uint8_t label[SOTTO_TDH2_LABEL],
                                const uint8_t shared[SOTTO_P256_WIDE], sotto_err *err)
{
    sotto_buf text = sotto_buf_over(plain, SOTTO_TDH2_PLAIN);
    uint8_t key[32];

    key_of(key, shared, sealed + AT_U, label);
    sotto_status status = sotto_aead_set_key(&t->open, key, err);
    if (status == SOTTO_OK)
        status = sotto_aead_open(&t->open, &text, NONCE, sotto_bytes_of(label, SOTTO_TDH2_LABEL),
                                 sotto_bytes_of(sealed + AT_TEXT, SOTTO_TDH2_TEXT), err);
    sotto_wipe(key, sizeof key);
    return status;
}

sotto_status sotto_tdh2_open_vartime(sotto_tdh2 *t, uint8_t plain[SOTTO_TDH2_PLAIN],
                                     const uint8_t sealed[SOTTO_TDH2_SEALED],
                                     const uint8_t label[SOTTO_TDH2_LABEL],
                                     const uint8_t *const *parts, size_t count, sotto_err *err)
{
    uint8_t shared[SOTTO_P256_WIDE];
    sotto_group *g = &t->group;

    sotto_point_set_identity(g, t->at[0]);
    for (size_t i = 0; i < count; i++) {
        if (!sotto_point_decode_wide(g, t->at[1], parts[i]))
            return sotto_fail(err, SOTTO_REJECTED, "tdh2: a part that is no point");
        sotto_point_add(g, t->at[0], t->at[0], t->at[1]);
    }
    bool whole = sotto_point_encode_wide(g, shared, t->at[0]);
    SOTTO_TRY(sotto_group_finish(g, err));
    if (!whole)
        return sotto_fail(err, SOTTO_REJECTED, "tdh2: parts that add up to nothing");
    sotto_status status = sotto_tdh2_open_at(t, plain, sealed, label, shared, err);
    sotto_wipe(shared, sizeof shared);
    return status;
}

void sotto_scalar_weights_vartime(sotto_group *g, sotto_scalar *weights, const uint32_t *xs,
                                  size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sotto_scalar above, below, x, own;

        sotto_scalar_set(g, &above, 1);
        sotto_scalar_set(g, &below, 1);
        sotto_scalar_set(g, &own, xs[i]);
        for (size_t j = 0; j < count; j++) {
            if (j == i)
                continue;
            sotto_scalar_set(g, &x, xs[j]);
            sotto_scalar_multiply(g, &above, &above, &x);
            sotto_scalar_subtract(g, &x, &x, &own);
            sotto_scalar_multiply(g, &below, &below, &x);
        }
        sotto_scalar_invert(g, &below, &below);
        sotto_scalar_multiply(g, &weights[i], &above, &below);
    }
}
