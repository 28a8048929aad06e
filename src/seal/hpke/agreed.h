/* seal/hpke/agreed.h - unsealing messages whose key agreements were made beforehand, many at a time.
 *
 * Callers:  serve/, which opens reports in batches.
 * Secrets:  agreements; wipe them. Time does not depend on their contents.
 *
 *     sotto_agreement with = {sotto_hpke_receiver_key(receiver), enc};     one for each message
 *     sotto_agree_many(all, count);                                        then one by one
 *     sotto_hpke_receiver_unseal_with(receiver, &out, &with, aad, ciphertext, err);
 */
#ifndef SOTTO_SEAL_AGREED_H
#define SOTTO_SEAL_AGREED_H

#include "crypto/aead.h"
#include "crypto/agree_many.h"
#include "sotto/seal.h"

/* The private key that agrees; lives as long as the receiver. */
const sotto_dh *sotto_hpke_receiver_key(const sotto_hpke_receiver *receiver);

/* As sotto_hpke_receiver_unseal of with->peer: the same bytes and refusals, whether agreed beforehand or not. */
SOTTO_MUST_USE sotto_status sotto_hpke_receiver_unseal_with(sotto_hpke_receiver *receiver,
                                                            sotto_buf *out,
                                                            const sotto_agreement *with,
                                                            sotto_bytes aad, sotto_bytes ciphertext,
                                                            sotto_err *err);

/* The secret of DHKEM (RFC 9180, 4.1) with with->peer as enc, without a message: for whoever makes something else of it, whose inputs
 * must begin unlike HPKE's labels ("HPKE-v1").
 *   secret, len  SOTTO_KEM_MAX_SECRET bytes, of which len are written */
SOTTO_MUST_USE sotto_status sotto_hpke_receiver_decap(sotto_hpke_receiver *receiver,
                                                      uint8_t *secret, size_t *len,
                                                      const sotto_agreement *with, sotto_err *err);

/* The key of one message. Whoever has it opens that message without the receiver's private key, and no other message. */
typedef struct sotto_message_key {
    uint16_t aead; /* of the HPKE registry */
    uint8_t key[SOTTO_AEAD_MAX_KEY];
    uint8_t nonce[SOTTO_AEAD_NONCE_SIZE];
} sotto_message_key;

/* As above; *key is this message's, if it opens, and is the caller's to wipe. */
SOTTO_MUST_USE sotto_status sotto_hpke_receiver_unseal_keyed(
    sotto_hpke_receiver *receiver, sotto_buf *out, const sotto_agreement *with, sotto_bytes aad,
    sotto_bytes ciphertext, sotto_message_key *key, sotto_err *err);
/* Opens the same message again. SOTTO_MALFORMED: there is no such AEAD; else as sotto_aead_open. */
SOTTO_MUST_USE sotto_status sotto_message_key_open(const sotto_message_key *key, sotto_buf *out,
                                                   sotto_bytes aad, sotto_bytes ciphertext,
                                                   sotto_err *err);

#endif
