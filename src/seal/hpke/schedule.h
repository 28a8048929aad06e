/* seal/hpke/schedule.h - from a shared secret to keys (RFC 9180, 5.1, base mode).
 *
 * Callers:  seal/hpke, and through seal/hpke/inspect.h whoever compares with published vectors.
 * Secrets:  everything derived; the caller wipes it. Time depends on lengths only.
 */
#ifndef SOTTO_SEAL_SCHEDULE_H
#define SOTTO_SEAL_SCHEDULE_H

#include "seal/hpke/suite.h"

/* What a suite and an info string fix once for all senders. */
typedef struct sotto_hpke_purpose {
    sotto_hpke_algorithms with;
    size_t context_len;
    uint8_t key_schedule_context[1 + 2 * SOTTO_HASH_MAX_SIZE];
} sotto_hpke_purpose;

SOTTO_MUST_USE sotto_status sotto_hpke_purpose_init(sotto_hpke_purpose *purpose,
                                                    sotto_hpke_suite suite, sotto_bytes info,
                                                    sotto_err *err);

/* The RFC's `secret`, and it again as the key all outputs are expanded from. */
typedef struct sotto_hpke_secret {
    uint8_t bytes[SOTTO_HASH_MAX_SIZE];
    sotto_hmac_key key;
} sotto_hpke_secret;

void sotto_hpke_schedule_secret(sotto_hpke_secret *secret, const sotto_hpke_purpose *purpose,
                                const uint8_t *shared_secret);
/* Key and base nonce; SOTTO_MISSING for a suite that only exports. */
SOTTO_MUST_USE sotto_status sotto_hpke_schedule_aead(uint8_t key[SOTTO_AEAD_MAX_KEY],
                                                     uint8_t base_nonce[SOTTO_AEAD_NONCE_SIZE],
                                                     const sotto_hpke_purpose *purpose,
                                                     const sotto_hpke_secret *secret,
                                                     sotto_err *err);
/* Apart from the above since a single message never exports. */
SOTTO_MUST_USE sotto_status sotto_hpke_schedule_exporter(
    uint8_t exporter_secret[SOTTO_HASH_MAX_SIZE], const sotto_hpke_purpose *purpose,
    const sotto_hpke_secret *secret, sotto_err *err);

/* Context.Export (RFC 9180, 5.3): writes len bytes.
 *   SOTTO_TOO_LARGE  len is more than 255 times the hash's size
 */
SOTTO_MUST_USE sotto_status sotto_hpke_schedule_export(uint8_t *out, size_t len,
                                                       const sotto_hpke_algorithms *with,
                                                       const uint8_t *exporter_secret,
                                                       sotto_bytes exporter_context,
                                                       sotto_err *err);

/* ComputeNonce (RFC 9180, 5.2). */
void sotto_hpke_nonce(uint8_t nonce[SOTTO_AEAD_NONCE_SIZE],
                      const uint8_t base_nonce[SOTTO_AEAD_NONCE_SIZE], uint64_t sequence);

#endif
