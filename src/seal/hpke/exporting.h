/* seal/hpke/exporting.h - one message, and a secret that both of its ends can compute besides (RFC 9180, 5.3 and 6.1).
 *
 * Callers:  seal/ohttp, whose answers are sealed with that secret.
 * Secrets:  what is exported; wipe it. Time does not depend on its contents.
 */
#ifndef SOTTO_SEAL_EXPORTING_H
#define SOTTO_SEAL_EXPORTING_H

#include "crypto/agree_many.h"
#include "sotto/seal.h"

/* What to export: `len` bytes for this purpose into `out`, which has the room. */
typedef struct sotto_hpke_export {
    sotto_bytes context;
    uint8_t *out;
    size_t len;
} sotto_hpke_export;

/* As sotto_hpke_seal.
 *   with  the ephemeral key, as sotto_hpke_sender_seal takes it; NULL: it comes of ikm */
SOTTO_MUST_USE sotto_status sotto_hpke_seal_exporting(sotto_buf *out, const sotto_hpke_config *to,
                                                      const sotto_ephemeral *with, sotto_bytes ikm,
                                                      sotto_bytes info, sotto_bytes plain,
                                                      const sotto_hpke_export *secret,
                                                      sotto_err *err);

/* As sotto_hpke_receiver_unseal_with. Nothing is exported of a message that does not open. */
SOTTO_MUST_USE sotto_status sotto_hpke_receiver_unseal_exporting(
    sotto_hpke_receiver *receiver, sotto_buf *out, const sotto_agreement *with,
    sotto_bytes ciphertext, const sotto_hpke_export *secret, sotto_err *err);

#endif
