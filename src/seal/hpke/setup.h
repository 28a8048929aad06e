/* seal/hpke/setup.h - both ends of SetupBase, up to the secret their keys come from (RFC 9180, 5.1.1).
 *
 * Callers:  seal/oneshot, seal/context, seal/inspect.
 * Memory:   a receiver lives in its caller's memory; its key objects are the crypto library's.
 * Secrets:  sotto_hpke_setup and sotto_hpke_receiver; wipe and clear them.
 */
#ifndef SOTTO_SEAL_SETUP_H
#define SOTTO_SEAL_SETUP_H

#include "seal/hpke/dhkem.h"
#include "seal/hpke/schedule.h"

typedef struct sotto_hpke_setup {
    uint8_t shared_secret[SOTTO_KEM_MAX_SECRET];
    sotto_hpke_secret secret;
} sotto_hpke_setup;

/* The sender's end: appends enc. `purpose` is of to->suite.
 *   with             fresh for every call
 *   SOTTO_TOO_LARGE  enc does not fit out, which is unchanged
 */
SOTTO_MUST_USE sotto_status sotto_hpke_setup_send(sotto_hpke_setup *setup, sotto_buf *out,
                                                  const sotto_hpke_purpose *purpose,
                                                  const sotto_hpke_config *to,
                                                  const sotto_ephemeral *with, sotto_err *err);
/* The same with the ephemeral key derived from ikm. */
SOTTO_MUST_USE sotto_status sotto_hpke_setup_send_from_ikm(sotto_hpke_setup *setup, sotto_buf *out,
                                                           const sotto_hpke_purpose *purpose,
                                                           const sotto_hpke_config *to,
                                                           sotto_bytes ikm, sotto_err *err);

struct sotto_hpke_receiver {
    sotto_hpke_purpose purpose;
    sotto_dhkem_receiver kem;
    sotto_aead aead; /* opens; keyed anew for each message; absent if the suite only exports */
};

/* Clear after a failure is allowed. */
SOTTO_MUST_USE sotto_status sotto_hpke_receiver_init(sotto_hpke_receiver *receiver,
                                                     const sotto_hpke_key *key,
                                                     sotto_hpke_suite suite, sotto_bytes info,
                                                     sotto_err *err);
void sotto_hpke_receiver_clear(sotto_hpke_receiver *receiver);

/* The receiver's end; `with` as in sotto_dhkem_decap. */
SOTTO_MUST_USE sotto_status sotto_hpke_setup_receive(sotto_hpke_setup *setup,
                                                     sotto_hpke_receiver *receiver,
                                                     const sotto_agreement *with, sotto_err *err);

#endif
