/* One message: sotto_hpke_seal, sotto_hpke_unseal and the receiver's hot path (RFC 9180, 6.1). */
#include "base/alloc.h"
#include "crypto/gcm.h"
#include "seal/hpke/agreed.h"
#include "seal/hpke/exporting.h"
#include "seal/hpke/sender.h"
#include "seal/hpke/setup.h"

#include <string.h>

/* Key and base nonce of a single message, whose sequence number is 0. */
typedef struct message_keys {
    uint8_t key[SOTTO_AEAD_MAX_KEY];
    uint8_t nonce[SOTTO_AEAD_NONCE_SIZE];
} message_keys;

/* NULL: nothing is to be exported. */
static sotto_status export_secret(const sotto_hpke_export *wanted,
                                  const sotto_hpke_purpose *purpose, const sotto_hpke_setup *setup,
                                  sotto_err *err)
{
    uint8_t exporter[SOTTO_HASH_MAX_SIZE];

    if (!wanted)
        return SOTTO_OK;
    sotto_status status = sotto_hpke_schedule_exporter(exporter, purpose, &setup->secret, err);
    if (status == SOTTO_OK)
        status = sotto_hpke_schedule_export(wanted->out, wanted->len, &purpose->with, exporter,
                                            wanted->context, err);
    sotto_wipe(exporter, sizeof exporter);
    return status;
}

/* ---- sending ------------------------------------------------------------------------------------- */

sotto_status sotto_hpke_sender_init(sotto_hpke_sender *sender, const sotto_hpke_config *to,
                                    sotto_bytes info, sotto_err *err)
{
    *sender = (sotto_hpke_sender){.to = to};
    SOTTO_TRY(sotto_hpke_purpose_init(&sender->purpose, to->suite, info, err));
    if (!sender->purpose.with.aead)
        return sotto_fail(err, SOTTO_MISSING, "hpke: this suite only exports");
    return sotto_aead_init(&sender->aead, sender->purpose.with.aead, SOTTO_AEAD_SEAL, err);
}

void sotto_hpke_sender_clear(sotto_hpke_sender *sender)
{
    sotto_aead_clear(&sender->aead);
    sotto_wipe(sender, sizeof *sender);
}

sotto_status sotto_hpke_sender_derive(const sotto_hpke_sender *sender, sotto_ephemeral *with,
                                      sotto_bytes ikm, sotto_err *err)
{
    with->agreed = false;
    return sotto_dhkem_derive_private(with->private_key, sender->purpose.with.kem, ikm, err);
}

static sotto_status seal_behind_enc(sotto_hpke_sender *sender, sotto_buf *out,
                                    const sotto_hpke_setup *setup, sotto_bytes aad,
                                    sotto_bytes plain, sotto_err *err)
{
    message_keys keys;

    sotto_status status =
        sotto_hpke_schedule_aead(keys.key, keys.nonce, &sender->purpose, &setup->secret, err);
    if (status == SOTTO_OK)
        status = sotto_aead_set_key(&sender->aead, keys.key, err);
    if (status == SOTTO_OK)
        status = sotto_aead_seal(&sender->aead, out, keys.nonce, aad, plain, err);
    sotto_wipe(&keys, sizeof keys);
    return status;
}

static sotto_status seal_with(sotto_hpke_sender *sender, sotto_buf *out,
                              const sotto_ephemeral *with, sotto_bytes aad, sotto_bytes plain,
                              const sotto_hpke_export *secret, sotto_err *err)
{
    const sotto_hpke_purpose *purpose = &sender->purpose;
    const size_t start = out->len;
    sotto_hpke_setup setup;

    /* Before the curve's work, not after it. */
    const size_t overhead = purpose->with.kem->public_size + SOTTO_AEAD_TAG_SIZE;
    const size_t room = out->cap - out->len;
    if (room < overhead || plain.len > room - overhead)
        return sotto_fail(err, SOTTO_TOO_LARGE, "hpke: the sealed text does not fit the output");

    sotto_status status = sotto_hpke_setup_send(&setup, out, purpose, sender->to, with, err);
    if (status == SOTTO_OK)
        status = seal_behind_enc(sender, out, &setup, aad, plain, err);
    if (status == SOTTO_OK)
        status = export_secret(secret, purpose, &setup, err);
    if (status != SOTTO_OK)
        out->len = start;
    sotto_wipe(&setup, sizeof setup);
    return status;
}

sotto_status sotto_hpke_sender_seal(sotto_hpke_sender *sender, sotto_buf *out,
                                    const sotto_ephemeral *with, sotto_bytes aad, sotto_bytes plain,
                                    sotto_err *err)
{
    return seal_with(sender, out, with, aad, plain, NULL, err);
}

/* with: NULL, and the ephemeral key comes of ikm. */
static sotto_status seal(sotto_buf *out, const sotto_hpke_config *to, const sotto_ephemeral *with,
                         sotto_bytes ikm, sotto_bytes info, sotto_bytes aad, sotto_bytes plain,
                         const sotto_hpke_export *secret, sotto_err *err)
{
    sotto_ephemeral derived;
    sotto_hpke_sender sender;

    sotto_status status = sotto_hpke_sender_init(&sender, to, info, err);
    if (status == SOTTO_OK && !with)
        status = sotto_hpke_sender_derive(&sender, &derived, ikm, err);
    if (status == SOTTO_OK)
        status = seal_with(&sender, out, with ? with : &derived, aad, plain, secret, err);
    sotto_hpke_sender_clear(&sender);
    sotto_wipe(&derived, sizeof derived);
    return status;
}

sotto_status sotto_hpke_seal(sotto_buf *out, const sotto_hpke_config *to, sotto_bytes ikm,
                             sotto_bytes info, sotto_bytes aad, sotto_bytes plain, sotto_err *err)
{
    return seal(out, to, NULL, ikm, info, aad, plain, NULL, err);
}

sotto_status sotto_hpke_seal_exporting(sotto_buf *out, const sotto_hpke_config *to,
                                       const sotto_ephemeral *with, sotto_bytes ikm,
                                       sotto_bytes info, sotto_bytes plain,
                                       const sotto_hpke_export *secret, sotto_err *err)
{
    return seal(out, to, with, ikm, info, sotto_bytes_of(NULL, 0), plain, secret, err);
}

/* ---- receiving ----------------------------------------------------------------------------------- */

sotto_status sotto_hpke_receiver_new(sotto_hpke_receiver **receiver, const sotto_hpke_key *key,
                                     sotto_hpke_suite suite, sotto_bytes info, sotto_err *err)
{
    *receiver = NULL;
    sotto_hpke_receiver *made = sotto_alloc(sizeof *made);
    if (!made)
        return sotto_fail(err, SOTTO_NO_MEMORY, "hpke: no memory for a receiver");
    sotto_status status = sotto_hpke_receiver_init(made, key, suite, info, err);
    if (status != SOTTO_OK) {
        sotto_hpke_receiver_free(made);
        return status;
    }
    *receiver = made;
    return SOTTO_OK;
}

void sotto_hpke_receiver_free(sotto_hpke_receiver *receiver)
{
    if (!receiver)
        return;
    sotto_hpke_receiver_clear(receiver);
    sotto_release(receiver, sizeof *receiver);
}

/* What can be refused without a Diffie-Hellman is. */
static sotto_status check_before_work(const sotto_hpke_receiver *receiver, const sotto_buf *out,
                                      sotto_bytes ciphertext, sotto_err *err)
{
    if (!receiver->purpose.with.aead)
        return sotto_fail(err, SOTTO_MISSING, "hpke: this suite only exports");
    if (ciphertext.len < SOTTO_AEAD_TAG_SIZE)
        return sotto_fail(err, SOTTO_MALFORMED, "ciphertext: shorter than its tag");
    if (ciphertext.len - SOTTO_AEAD_TAG_SIZE > out->cap - out->len)
        return sotto_fail(err, SOTTO_TOO_LARGE, "hpke: the plaintext does not fit the output");
    return SOTTO_OK;
}

static sotto_status unseal(sotto_hpke_receiver *receiver, sotto_buf *out,
                           const sotto_agreement *with, sotto_bytes aad, sotto_bytes ciphertext,
                           const sotto_hpke_export *secret, sotto_err *err)
{
    sotto_hpke_setup setup;
    message_keys keys;

    SOTTO_TRY(check_before_work(receiver, out, ciphertext, err));
    SOTTO_TRY(sotto_hpke_setup_receive(&setup, receiver, with, err));
    sotto_status status =
        sotto_hpke_schedule_aead(keys.key, keys.nonce, &receiver->purpose, &setup.secret, err);
    if (status == SOTTO_OK)
        status = sotto_aead_set_key(&receiver->aead, keys.key, err);
    if (status == SOTTO_OK)
        status = sotto_aead_open(&receiver->aead, out, keys.nonce, aad, ciphertext, err);
    if (status == SOTTO_OK)
        status = export_secret(secret, &receiver->purpose, &setup, err);
    sotto_wipe(&keys, sizeof keys);
    sotto_wipe(&setup, sizeof setup);
    return status;
}

sotto_status sotto_hpke_receiver_unseal_with(sotto_hpke_receiver *receiver, sotto_buf *out,
                                             const sotto_agreement *with, sotto_bytes aad,
                                             sotto_bytes ciphertext, sotto_err *err)
{
    return unseal(receiver, out, with, aad, ciphertext, NULL, err);
}

/* By the receiver's own cipher, or with wide registers if the text is long. */
static sotto_status open_keyed(sotto_aead *aead, sotto_buf *out, const sotto_message_key *key,
                               sotto_bytes aad, sotto_bytes ciphertext, sotto_err *err)
{
    if (sotto_gcm_opens(aead->info, ciphertext.len))
        return sotto_gcm_open(out, aead->info, key->key, key->nonce, aad, ciphertext, err);
    SOTTO_TRY(sotto_aead_set_key(aead, key->key, err));
    return sotto_aead_open(aead, out, key->nonce, aad, ciphertext, err);
}

sotto_status sotto_hpke_receiver_unseal_keyed(sotto_hpke_receiver *receiver, sotto_buf *out,
                                              const sotto_agreement *with, sotto_bytes aad,
                                              sotto_bytes ciphertext, sotto_message_key *key,
                                              sotto_err *err)
{
    sotto_hpke_setup setup;

    SOTTO_TRY(check_before_work(receiver, out, ciphertext, err));
    SOTTO_TRY(sotto_hpke_setup_receive(&setup, receiver, with, err));
    *key = (sotto_message_key){.aead = receiver->purpose.with.aead->id};
    sotto_status status =
        sotto_hpke_schedule_aead(key->key, key->nonce, &receiver->purpose, &setup.secret, err);
    if (status == SOTTO_OK)
        status = open_keyed(&receiver->aead, out, key, aad, ciphertext, err);
    if (status != SOTTO_OK)
        sotto_wipe(key, sizeof *key);
    sotto_wipe(&setup, sizeof setup);
    return status;
}

sotto_status sotto_message_key_open(const sotto_message_key *key, sotto_buf *out, sotto_bytes aad,
                                    sotto_bytes ciphertext, sotto_err *err)
{
    const sotto_aead_info *info = sotto_aead_find(key->aead);
    sotto_aead aead = {0};
    sotto_status status;

    if (!info)
        return sotto_fail(err, SOTTO_MALFORMED, "a message's key: no such AEAD");
    status = sotto_aead_init(&aead, info, SOTTO_AEAD_OPEN, err);
    if (status == SOTTO_OK)
        status = open_keyed(&aead, out, key, aad, ciphertext, err);
    sotto_aead_clear(&aead);
    return status;
}

sotto_status sotto_hpke_receiver_unseal_exporting(sotto_hpke_receiver *receiver, sotto_buf *out,
                                                  const sotto_agreement *with,
                                                  sotto_bytes ciphertext,
                                                  const sotto_hpke_export *secret, sotto_err *err)
{
    return unseal(receiver, out, with, sotto_bytes_of(NULL, 0), ciphertext, secret, err);
}

sotto_status sotto_hpke_receiver_unseal(sotto_hpke_receiver *receiver, sotto_buf *out,
                                        sotto_bytes enc, sotto_bytes aad, sotto_bytes ciphertext,
                                        sotto_err *err)
{
    return sotto_hpke_receiver_unseal_with(receiver, out, &(sotto_agreement){.peer = enc}, aad,
                                           ciphertext, err);
}

const sotto_dh *sotto_hpke_receiver_key(const sotto_hpke_receiver *receiver)
{
    return &receiver->kem.own;
}

sotto_status sotto_hpke_receiver_decap(sotto_hpke_receiver *receiver, uint8_t *secret, size_t *len,
                                       const sotto_agreement *with, sotto_err *err)
{
    *len = receiver->kem.own.kem->secret_size;
    return sotto_dhkem_decap(&receiver->kem, secret, with, err);
}

sotto_status sotto_hpke_unseal(sotto_buf *out, const sotto_hpke_key *key, sotto_hpke_suite suite,
                               sotto_bytes info, sotto_bytes enc, sotto_bytes aad,
                               sotto_bytes ciphertext, sotto_err *err)
{
    sotto_hpke_receiver receiver;

    sotto_status status = sotto_hpke_receiver_init(&receiver, key, suite, info, err);
    if (status == SOTTO_OK)
        status = sotto_hpke_receiver_unseal(&receiver, out, enc, aad, ciphertext, err);
    sotto_hpke_receiver_clear(&receiver);
    return status;
}
