#include "seal/hpke/suite.h"

#include <string.h>

_Static_assert((int)SOTTO_HPKE_MAX_PUBLIC_KEY == (int)SOTTO_KEM_MAX_PUBLIC, "one limit");
_Static_assert((int)SOTTO_HPKE_MAX_PRIVATE_KEY == (int)SOTTO_KEM_MAX_PRIVATE, "one limit");
_Static_assert((int)SOTTO_HPKE_TAG_SIZE == (int)SOTTO_AEAD_TAG_SIZE, "one size");

static void put_u16(uint8_t *at, uint16_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

sotto_status sotto_hpke_kem_find(const sotto_kem **kem, uint16_t id, sotto_err *err)
{
    *kem = sotto_kem_find(id);
    return *kem ? SOTTO_OK : sotto_fail(err, SOTTO_MISSING, "hpke: unknown KEM 0x%04x", id);
}

sotto_status sotto_hpke_algorithms_find(sotto_hpke_algorithms *found, sotto_hpke_suite suite,
                                        sotto_err *err)
{
    *found = (sotto_hpke_algorithms){.id = {'H', 'P', 'K', 'E'}};
    put_u16(found->id + 4, suite.kem);
    put_u16(found->id + 6, suite.kdf);
    put_u16(found->id + 8, suite.aead);

    SOTTO_TRY(sotto_hpke_kem_find(&found->kem, suite.kem, err));
    if (suite.kdf < SOTTO_HPKE_KDF_SHA256 || suite.kdf > SOTTO_HPKE_KDF_SHA512)
        return sotto_fail(err, SOTTO_MISSING, "hpke: unknown KDF 0x%04x", suite.kdf);
    found->kdf = (sotto_hash_id)suite.kdf;
    found->aead = sotto_aead_find(suite.aead);
    if (!found->aead && suite.aead != SOTTO_HPKE_AEAD_EXPORT_ONLY)
        return sotto_fail(err, SOTTO_MISSING, "hpke: unknown AEAD 0x%04x", suite.aead);
    return SOTTO_OK;
}

sotto_status sotto_hpke_suite_sizes(sotto_hpke_sizes *sizes, sotto_hpke_suite suite, sotto_err *err)
{
    sotto_hpke_algorithms found;

    SOTTO_TRY(sotto_hpke_algorithms_find(&found, suite, err));
    *sizes = (sotto_hpke_sizes){
        .public_key = found.kem->public_size,
        .private_key = found.kem->private_size,
        .hash = sotto_hash_size(found.kdf),
    };
    if (found.aead) {
        sizes->aead_key = found.aead->key_size;
        sizes->nonce = SOTTO_AEAD_NONCE_SIZE;
        sizes->tag = SOTTO_AEAD_TAG_SIZE;
    }
    return SOTTO_OK;
}

sotto_kem_suite_id sotto_kem_suite_id_of(const sotto_kem *kem)
{
    sotto_kem_suite_id id = {{'K', 'E', 'M'}};

    put_u16(id.bytes + 3, kem->id);
    return id;
}

static sotto_bytes text(const char *string)
{
    return sotto_bytes_of(string, strlen(string));
}

void sotto_hpke_labeled_extract(uint8_t *prk, const sotto_hmac_key *salt, sotto_bytes suite_id,
                                const char *label, sotto_bytes ikm)
{
    const sotto_bytes parts[] = {text("HPKE-v1"), suite_id, text(label), ikm};

    sotto_hkdf_extract(prk, salt, parts, sizeof parts / sizeof parts[0]);
}

sotto_status sotto_hpke_labeled_expand(uint8_t *out, size_t len, const sotto_hmac_key *prk,
                                       sotto_bytes suite_id, const char *label, sotto_bytes info,
                                       sotto_err *err)
{
    uint8_t wanted[2];
    const sotto_bytes parts[] = {sotto_bytes_of(wanted, sizeof wanted), text("HPKE-v1"), suite_id,
                                 text(label), info};

    /* A longer wish would wrap in its two bytes; HKDF refuses it below, before anything is written. */
    put_u16(wanted, (uint16_t)len);
    return sotto_hkdf_expand(out, len, prk, parts, sizeof parts / sizeof parts[0], err);
}
