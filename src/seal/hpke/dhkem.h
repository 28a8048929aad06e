/* seal/hpke/dhkem.h - DHKEM: a shared secret out of one Diffie-Hellman (RFC 9180, 4.1).
 *
 * Callers:  the rest of seal/.
 * Secrets:  private keys, ikm and shared secrets; the caller wipes what it holds.
 */
#ifndef SOTTO_SEAL_DHKEM_H
#define SOTTO_SEAL_DHKEM_H

#include "crypto/agree_many.h"
#include "seal/hpke/suite.h"

/* The private half of DeriveKeyPair: kem->private_size bytes. */
SOTTO_MUST_USE sotto_status sotto_dhkem_derive_private(uint8_t *private_key, const sotto_kem *kem,
                                                       sotto_bytes ikm, sotto_err *err);

/* Encap with the ephemeral key given: writes kem->secret_size bytes, and kem->public_size of them as enc.
 *   with  agreed with the receiver beforehand, or here
 */
SOTTO_MUST_USE sotto_status sotto_dhkem_encap(uint8_t *shared_secret, uint8_t *enc,
                                              const sotto_kem *kem, const sotto_ephemeral *with,
                                              sotto_bytes receiver_public, sotto_err *err);

/* Encap with a key pair that is open already, for a key that agrees with several receivers: enc is its public key. */
SOTTO_MUST_USE sotto_status sotto_dhkem_encap_with(uint8_t *shared_secret, sotto_dh *own,
                                                   sotto_bytes receiver_public, sotto_err *err);

/* The receiver's key with what every decapsulation starts from. */
typedef struct sotto_dhkem_receiver {
    sotto_dh own;
    sotto_hmac_key empty_salt;
} sotto_dhkem_receiver;

/* Clear after a failure is allowed. */
SOTTO_MUST_USE sotto_status sotto_dhkem_receiver_init(sotto_dhkem_receiver *receiver,
                                                      const sotto_kem *kem, sotto_bytes private_key,
                                                      sotto_err *err);
void sotto_dhkem_receiver_clear(sotto_dhkem_receiver *receiver);

/* Decap: writes kem->secret_size bytes.
 *   with  the sender's enc as its peer; agreed beforehand, or here
 */
SOTTO_MUST_USE sotto_status sotto_dhkem_decap(sotto_dhkem_receiver *receiver,
                                              uint8_t *shared_secret, const sotto_agreement *with,
                                              sotto_err *err);

#endif
