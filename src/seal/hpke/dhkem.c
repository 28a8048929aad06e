#include "seal/hpke/dhkem.h"

#include <string.h>

static sotto_bytes bytes_of_id(const sotto_kem_suite_id *id)
{
    return sotto_bytes_of(id->bytes, sizeof id->bytes);
}

/* ---- key pairs (RFC 9180, 7.1.3) ------------------------------------------------------------------ */

/* Draws until a candidate is below the order: P-256 needs a second one once in 2^32 keys. */
static sotto_status derive_nist(uint8_t *private_key, const sotto_kem *kem,
                                const sotto_hmac_key *dkp_prk, sotto_err *err)
{
    const sotto_kem_suite_id id = sotto_kem_suite_id_of(kem);

    for (unsigned i = 0; i < 256; i++) {
        const uint8_t counter = (uint8_t)i;

        SOTTO_TRY(sotto_hpke_labeled_expand(private_key, kem->private_size, dkp_prk,
                                            bytes_of_id(&id), "candidate",
                                            sotto_bytes_of(&counter, 1), err));
        private_key[0] &= kem->bitmask;
        if (sotto_kem_private_in_range(kem, private_key))
            return SOTTO_OK;
    }
    return sotto_fail(err, SOTTO_REJECTED, "ikm: gives no private key of %s", kem->name);
}

sotto_status sotto_dhkem_derive_private(uint8_t *private_key, const sotto_kem *kem, sotto_bytes ikm,
                                        sotto_err *err)
{
    const sotto_kem_suite_id id = sotto_kem_suite_id_of(kem);
    uint8_t dkp_prk[SOTTO_HASH_MAX_SIZE];
    sotto_hmac_key salt, prk;
    sotto_status status;

    if (ikm.len < kem->private_size)
        return sotto_fail(err, SOTTO_MALFORMED, "ikm: %zu bytes, %s needs %zu", ikm.len, kem->name,
                          kem->private_size);
    sotto_hmac_key_init(&salt, kem->hash, sotto_bytes_of(NULL, 0));
    sotto_hpke_labeled_extract(dkp_prk, &salt, bytes_of_id(&id), "dkp_prk", ikm);
    sotto_hmac_key_init(&prk, kem->hash, sotto_bytes_of(dkp_prk, sotto_hash_size(kem->hash)));
    if (kem->curve)
        status = derive_nist(private_key, kem, &prk, err);
    else
        status = sotto_hpke_labeled_expand(private_key, kem->private_size, &prk, bytes_of_id(&id),
                                           "sk", sotto_bytes_of(NULL, 0), err);
    sotto_wipe(dkp_prk, sizeof dkp_prk);
    sotto_wipe(&prk, sizeof prk);
    return status;
}

sotto_status sotto_hpke_key_decode(sotto_hpke_key *key, uint16_t kem_id, sotto_bytes private_key,
                                   sotto_err *err)
{
    const sotto_kem *kem;
    sotto_dh dh;

    sotto_wipe(key, sizeof *key);
    SOTTO_TRY(sotto_hpke_kem_find(&kem, kem_id, err));
    sotto_status status = sotto_dh_init(&dh, kem, private_key, err);
    if (status == SOTTO_OK) {
        key->kem = kem->id;
        key->private_key_len = kem->private_size;
        key->public_key_len = kem->public_size;
        memcpy(key->private_key, private_key.data, kem->private_size);
        memcpy(key->public_key, dh.public_key, kem->public_size);
    }
    sotto_dh_clear(&dh);
    return status;
}

sotto_status sotto_hpke_key_derive(sotto_hpke_key *key, uint16_t kem_id, sotto_bytes ikm,
                                   sotto_err *err)
{
    uint8_t private_key[SOTTO_KEM_MAX_PRIVATE];
    const sotto_kem *kem;

    sotto_wipe(key, sizeof *key);
    SOTTO_TRY(sotto_hpke_kem_find(&kem, kem_id, err));
    sotto_status status = sotto_dhkem_derive_private(private_key, kem, ikm, err);
    if (status == SOTTO_OK)
        status =
            sotto_hpke_key_decode(key, kem_id, sotto_bytes_of(private_key, kem->private_size), err);
    sotto_wipe(private_key, sizeof private_key);
    return status;
}

/* ---- encapsulation (RFC 9180, 4.1) ---------------------------------------------------------------- */

static sotto_status extract_and_expand(uint8_t *shared_secret, const sotto_kem *kem,
                                       const sotto_hmac_key *empty_salt, const uint8_t *dh,
                                       const uint8_t *enc, const uint8_t *receiver_public,
                                       sotto_err *err)
{
    const sotto_kem_suite_id id = sotto_kem_suite_id_of(kem);
    uint8_t kem_context[2 * SOTTO_KEM_MAX_PUBLIC], eae_prk[SOTTO_HASH_MAX_SIZE];
    sotto_hmac_key prk;

    memcpy(kem_context, enc, kem->public_size);
    memcpy(kem_context + kem->public_size, receiver_public, kem->public_size);
    sotto_hpke_labeled_extract(eae_prk, empty_salt, bytes_of_id(&id), "eae_prk",
                               sotto_bytes_of(dh, kem->dh_size));
    sotto_hmac_key_init(&prk, kem->hash, sotto_bytes_of(eae_prk, sotto_hash_size(kem->hash)));
    sotto_status status = sotto_hpke_labeled_expand(
        shared_secret, kem->secret_size, &prk, bytes_of_id(&id), "shared_secret",
        sotto_bytes_of(kem_context, 2 * kem->public_size), err);
    sotto_wipe(eae_prk, sizeof eae_prk);
    sotto_wipe(&prk, sizeof prk);
    return status;
}

/* If it was agreed with another key, the secret is known to that key's owner. */
static bool agreed_with(const sotto_ephemeral *with, sotto_bytes receiver_public)
{
    return with->agreed && receiver_public.len == sizeof with->peer &&
           memcmp(with->peer, receiver_public.data, sizeof with->peer) == 0;
}

/* Writes the agreed secret, and the public key as enc. */
static sotto_status agree_now(uint8_t *dh, uint8_t *enc, const sotto_kem *kem,
                              const sotto_ephemeral *with, sotto_bytes receiver_public,
                              sotto_err *err)
{
    sotto_dh own;

    sotto_status status =
        sotto_dh_init(&own, kem, sotto_bytes_of(with->private_key, kem->private_size), err);
    if (status == SOTTO_OK)
        status = sotto_dh_agree(&own, dh, receiver_public, "public_key", err);
    if (status == SOTTO_OK)
        memcpy(enc, own.public_key, kem->public_size);
    sotto_dh_clear(&own);
    return status;
}

sotto_status sotto_dhkem_encap(uint8_t *shared_secret, uint8_t *enc, const sotto_kem *kem,
                               const sotto_ephemeral *with, sotto_bytes receiver_public,
                               sotto_err *err)
{
    uint8_t dh[SOTTO_KEM_MAX_DH];
    sotto_hmac_key empty_salt;

    if (agreed_with(with, receiver_public)) {
        memcpy(dh, with->secret, sizeof with->secret);
        memcpy(enc, with->public_key, sizeof with->public_key);
    } else {
        SOTTO_TRY(agree_now(dh, enc, kem, with, receiver_public, err));
    }
    sotto_hmac_key_init(&empty_salt, kem->hash, sotto_bytes_of(NULL, 0));
    sotto_status status =
        extract_and_expand(shared_secret, kem, &empty_salt, dh, enc, receiver_public.data, err);
    sotto_wipe(dh, sizeof dh);
    return status;
}

sotto_status sotto_dhkem_encap_with(uint8_t *shared_secret, sotto_dh *own,
                                    sotto_bytes receiver_public, sotto_err *err)
{
    uint8_t dh[SOTTO_KEM_MAX_DH];
    sotto_hmac_key empty_salt;

    SOTTO_TRY(sotto_dh_agree(own, dh, receiver_public, "public_key", err));
    sotto_hmac_key_init(&empty_salt, own->kem->hash, sotto_bytes_of(NULL, 0));
    sotto_status status = extract_and_expand(shared_secret, own->kem, &empty_salt, dh,
                                             own->public_key, receiver_public.data, err);
    sotto_wipe(dh, sizeof dh);
    return status;
}

sotto_status sotto_dhkem_receiver_init(sotto_dhkem_receiver *receiver, const sotto_kem *kem,
                                       sotto_bytes private_key, sotto_err *err)
{
    sotto_hmac_key_init(&receiver->empty_salt, kem->hash, sotto_bytes_of(NULL, 0));
    return sotto_dh_init(&receiver->own, kem, private_key, err);
}

void sotto_dhkem_receiver_clear(sotto_dhkem_receiver *receiver)
{
    sotto_dh_clear(&receiver->own);
}

sotto_status sotto_dhkem_decap(sotto_dhkem_receiver *receiver, uint8_t *shared_secret,
                               const sotto_agreement *with, sotto_err *err)
{
    const sotto_kem *kem = receiver->own.kem;
    uint8_t dh[SOTTO_KEM_MAX_DH];

    if (with->agreed)
        memcpy(dh, with->secret, sizeof with->secret);
    else
        SOTTO_TRY(sotto_dh_agree(&receiver->own, dh, with->peer, "enc", err));
    sotto_status status = extract_and_expand(shared_secret, kem, &receiver->empty_salt, dh,
                                             with->peer.data, receiver->own.public_key, err);
    sotto_wipe(dh, sizeof dh);
    return status;
}
