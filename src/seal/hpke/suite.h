/* seal/hpke/suite.h - the three algorithms of a suite, and the labels that keep their outputs apart.
 *
 * Callers:  the rest of seal/.
 * Secrets:  keying material and outputs of the labelled functions. Time depends on lengths only.
 */
#ifndef SOTTO_SEAL_SUITE_H
#define SOTTO_SEAL_SUITE_H

#include "sotto/seal.h"

#include "crypto/aead.h"
#include "crypto/hkdf.h"
#include "crypto/kem.h"

/* A suite whose algorithms are all ours. */
typedef struct sotto_hpke_algorithms {
    const sotto_kem *kem;
    sotto_hash_id kdf;
    const sotto_aead_info *aead; /* NULL: the suite only exports */
    uint8_t id[10];              /* "HPKE" and the three ids     */
} sotto_hpke_algorithms;

/* SOTTO_MISSING: the reason names the algorithm that is not. */
SOTTO_MUST_USE sotto_status sotto_hpke_algorithms_find(sotto_hpke_algorithms *found,
                                                       sotto_hpke_suite suite, sotto_err *err);
/* As sotto_kem_find, with SOTTO_MISSING in place of NULL. */
SOTTO_MUST_USE sotto_status sotto_hpke_kem_find(const sotto_kem **kem, uint16_t id, sotto_err *err);

/* The suite id inside a KEM: "KEM" and its id (RFC 9180, 4.1). */
typedef struct sotto_kem_suite_id {
    uint8_t bytes[5];
} sotto_kem_suite_id;
sotto_kem_suite_id sotto_kem_suite_id_of(const sotto_kem *kem);

/* LabeledExtract and LabeledExpand (RFC 9180, 4). */
void sotto_hpke_labeled_extract(uint8_t *prk, const sotto_hmac_key *salt, sotto_bytes suite_id,
                                const char *label, sotto_bytes ikm);
SOTTO_MUST_USE sotto_status sotto_hpke_labeled_expand(uint8_t *out, size_t len,
                                                      const sotto_hmac_key *prk,
                                                      sotto_bytes suite_id, const char *label,
                                                      sotto_bytes info, sotto_err *err);

#endif
