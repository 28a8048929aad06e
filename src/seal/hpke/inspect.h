/* seal/hpke/inspect.h - the values between enc and ciphertext, for comparison with published vectors.
 *
 * Callers:  tests and the vector runner; never a device or a server.
 * Secrets:  all of it.
 */
#ifndef SOTTO_SEAL_INSPECT_H
#define SOTTO_SEAL_INSPECT_H

#include "seal/hpke/schedule.h"

/* Everything a vector of RFC 9180 lists for a key schedule, by its names. */
typedef struct sotto_hpke_inspection {
    size_t shared_secret_len;
    size_t key_schedule_context_len;
    size_t secret_len; /* also of exporter_secret */
    size_t key_len;    /* 0 if the suite only exports; so is base_nonce_len */
    size_t base_nonce_len;
    uint8_t shared_secret[SOTTO_KEM_MAX_SECRET];
    uint8_t key_schedule_context[1 + 2 * SOTTO_HASH_MAX_SIZE];
    uint8_t secret[SOTTO_HASH_MAX_SIZE];
    uint8_t key[SOTTO_AEAD_MAX_KEY];
    uint8_t base_nonce[SOTTO_AEAD_NONCE_SIZE]; /* sotto_hpke_nonce makes each message's of it */
    uint8_t exporter_secret[SOTTO_HASH_MAX_SIZE];
} sotto_hpke_inspection;

/* As the receiver of enc sees it. */
SOTTO_MUST_USE sotto_status sotto_hpke_inspect_receive(sotto_hpke_inspection *seen,
                                                       sotto_hpke_receiver *receiver,
                                                       sotto_bytes enc, sotto_err *err);
/* As its sender does; appends enc.
 *   ephemeral_private  the whole private key, as vectors list it
 */
SOTTO_MUST_USE sotto_status sotto_hpke_inspect_send(sotto_hpke_inspection *seen, sotto_buf *enc,
                                                    const sotto_hpke_config *to,
                                                    sotto_bytes ephemeral_private, sotto_bytes info,
                                                    sotto_err *err);

/* The number of the next message: reaches the limit, or a vector's place, without the way there. */
void sotto_hpke_context_set_sequence(sotto_hpke_context *context, uint64_t sequence);
uint64_t sotto_hpke_context_sequence(const sotto_hpke_context *context);

#endif
