#include "db/sealed.h"

#include "crypto/aead.h"
#include "crypto/hash.h"
#include "crypto/hkdf.h"
#include "sotto/random.h"

#include <stdio.h>
#include <string.h>

enum { ID = 4, SALT = 24, ID_AND_SALT = ID + SALT };

static sotto_bytes label(const char *text)
{
    return sotto_bytes_of(text, strlen(text));
}

/* Which key it was: four bytes that say nothing else about the key. */
static void identify(uint8_t out[ID], const uint8_t key[SOTTO_COLUMN_KEY_SIZE])
{
    uint8_t digest[32];

    sotto_hmac_once(digest, SOTTO_SHA256, sotto_bytes_of(key, SOTTO_COLUMN_KEY_SIZE),
                    label("sotto datastore key id"));
    memcpy(out, digest, ID);
}

static void spell(char out[SOTTO_COLUMN_KEY_NAME], const uint8_t id[ID])
{
    for (size_t i = 0; i < ID; i++)
        (void)snprintf(out + 2 * i, 3, "%02x", id[i]);
}

void sotto_column_key_name(char out[SOTTO_COLUMN_KEY_NAME],
                           const uint8_t key[SOTTO_COLUMN_KEY_SIZE])
{
    uint8_t id[ID];

    identify(id, key);
    spell(out, id);
}

/* A key for one value. The datastore key is uniform already, so HKDF needs no extract step (RFC 5869, 3.3). */
static sotto_status derive(uint8_t out[SOTTO_COLUMN_KEY_SIZE],
                           const uint8_t key[SOTTO_COLUMN_KEY_SIZE], const uint8_t *salt,
                           sotto_err *err)
{
    const sotto_bytes info[] = {label("sotto column"), sotto_bytes_of(salt, SALT)};
    sotto_hmac_key prk;

    sotto_hmac_key_init(&prk, SOTTO_SHA256, sotto_bytes_of(key, SOTTO_COLUMN_KEY_SIZE));
    sotto_status status = sotto_hkdf_expand(out, SOTTO_COLUMN_KEY_SIZE, &prk, info, 2, err);
    sotto_wipe(&prk, sizeof prk);
    return status;
}

/* The place as a fixed-size digest: a row's key may be of any length. Lengths go before names and row, so that no two
 * places are spelled alike. */
static void digest_place(uint8_t out[32], const sotto_column_place *place)
{
    const sotto_bytes parts[] = {label(place->table), label(place->column), place->row};
    sotto_hash hash;

    sotto_hash_init(&hash, SOTTO_SHA256);
    for (size_t i = 0; i < 3; i++) {
        uint8_t length[8];

        for (unsigned k = 0; k < 8; k++)
            length[k] = (uint8_t)((uint64_t)parts[i].len >> (56 - 8 * k));
        sotto_hash_update(&hash, sotto_bytes_of(length, sizeof length));
        sotto_hash_update(&hash, parts[i]);
    }
    sotto_hash_final(&hash, out);
}

/* Seals or opens what is in `pieces` (one, to open) behind out, under the key derived for this salt. The nonce is constant: no key is used twice. */
static sotto_status crypt(sotto_buf *out, const uint8_t *key, const uint8_t *salt,
                          const sotto_column_place *place, const sotto_bytes *pieces, size_t count,
                          sotto_aead_direction direction, sotto_err *err)
{
    static const uint8_t nonce[SOTTO_AEAD_NONCE_SIZE];
    uint8_t derived[SOTTO_COLUMN_KEY_SIZE], aad[32];
    sotto_aead aead = {0};

    digest_place(aad, place);
    sotto_status status = derive(derived, key, salt, err);
    if (status == SOTTO_OK)
        status = sotto_aead_init(&aead, sotto_aead_find(SOTTO_AES256_GCM), direction, err);
    if (status == SOTTO_OK)
        status = sotto_aead_set_key(&aead, derived, err);
    if (status == SOTTO_OK && direction == SOTTO_AEAD_SEAL)
        status = sotto_aead_seal_pieces(&aead, out, nonce, sotto_bytes_of(aad, sizeof aad), pieces,
                                        count, err);
    else if (status == SOTTO_OK)
        status =
            sotto_aead_open(&aead, out, nonce, sotto_bytes_of(aad, sizeof aad), pieces[0], err);
    sotto_aead_clear(&aead);
    sotto_wipe(derived, sizeof derived);
    return status;
}

sotto_status sotto_column_seal_pieces(sotto_buf *out, const sotto_column_keys *keys,
                                      const sotto_column_place *place, const sotto_bytes *pieces,
                                      size_t count, sotto_err *err)
{
    size_t before = out->len;

    if (keys->count == 0)
        return sotto_fail(err, SOTTO_MISSING, "no datastore key");
    if (out->cap - out->len < SOTTO_COLUMN_OVERHEAD)
        return sotto_fail(err, SOTTO_TOO_LARGE, "no room for a sealed column");
    uint8_t *salt = out->data + before + ID;
    SOTTO_TRY(sotto_random_bytes(salt, SALT, err));
    identify(out->data + before, keys->key[0]);
    out->len += ID_AND_SALT;
    sotto_status status =
        crypt(out, keys->key[0], salt, place, pieces, count, SOTTO_AEAD_SEAL, err);
    if (status != SOTTO_OK)
        out->len = before;
    return status;
}

sotto_status sotto_column_seal(sotto_buf *out, const sotto_column_keys *keys,
                               const sotto_column_place *place, sotto_bytes plain, sotto_err *err)
{
    return sotto_column_seal_pieces(out, keys, place, &plain, 1, err);
}

static const uint8_t *find_key(const sotto_column_keys *keys, const uint8_t *id)
{
    for (size_t i = 0; i < keys->count; i++) {
        uint8_t mine[ID];

        identify(mine, keys->key[i]);
        if (memcmp(mine, id, ID) == 0)
            return keys->key[i];
    }
    return NULL;
}

sotto_status sotto_column_unseal(sotto_buf *out, const sotto_column_keys *keys,
                                 const sotto_column_place *place, sotto_bytes sealed,
                                 sotto_err *err)
{
    char name[SOTTO_COLUMN_KEY_NAME];

    if (sealed.len < SOTTO_COLUMN_OVERHEAD)
        return sotto_fail(err, SOTTO_MALFORMED, "%s.%s: too short to be sealed", place->table,
                          place->column);
    const uint8_t *key = find_key(keys, sealed.data);
    if (!key) {
        spell(name, sealed.data);
        return sotto_fail(err, SOTTO_MISSING, "%s.%s: " SOTTO_COLUMN_KEY_GONE "%s", place->table,
                          place->column, name);
    }
    sotto_bytes rest = sotto_bytes_of(sealed.data + ID_AND_SALT, sealed.len - ID_AND_SALT);
    return crypt(out, key, sealed.data + ID, place, &rest, 1, SOTTO_AEAD_OPEN, err);
}
