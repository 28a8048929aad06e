/* aggregate/shared/drand.h - a round of drand, as its HTTP servers print it, in the place of the witnesses' beacon.
 *
 * Callers:  whoever opens an epoch over drand, and checks one. No posting carries such a value yet.
 * Memory:   plain values.
 * Secrets:  none.
 *
 *     {"round": 367, "randomness": "3439...", "signature": "9095...", "previous_signature": "859f..."}
 *
 * Chains without links have no previous_signature. A signature is one of BLS12-381, which this library can't check. So nothing is accepted
 * without a callback that does: the randomness itself is only a hash of the signature, which anybody can make up.
 *
 * Name a round whose time comes after the registry was closed. Else whoever registers last knows what is drawn.
 */
#ifndef SOTTO_AGGREGATE_SHARED_DRAND_H
#define SOTTO_AGGREGATE_SHARED_DRAND_H

#include "aggregate/shared/beacon.h"

enum { SOTTO_DRAND_SIGNATURE = 96 }; /* bytes, at most: a point of G2; one of G1 has 48 */

typedef struct sotto_drand {
    uint64_t round; /* from 1 */
    uint8_t randomness[32];
    uint8_t signature[SOTTO_DRAND_SIGNATURE], previous[SOTTO_DRAND_SIGNATURE];
    size_t signature_len, previous_len; /* previous_len 0: a chain without links */
} sotto_drand;

/* A flat object with these keys, each once. Keys that are not known are passed over.
 *   SOTTO_MALFORMED  not such an object */
SOTTO_MUST_USE sotto_status sotto_drand_decode(sotto_drand *out, sotto_bytes json, sotto_err *err);

/* Whether the chain's key signed this round. Anything but SOTTO_OK: no. */
typedef sotto_status sotto_drand_verify_fn(void *context, const sotto_drand *round, sotto_err *err);

/* The beacon's value for an input: it depends on the session, the epoch and the registry's root besides.
 *   SOTTO_DENIED    there is no callback
 *   SOTTO_STALE     it is another round than the one that was agreed on
 *   SOTTO_REJECTED  the randomness is not that of the signature, or the callback said no */
SOTTO_MUST_USE sotto_status sotto_drand_value(uint8_t out[32], const sotto_beacon_input *input,
                                              uint64_t round, sotto_bytes json,
                                              sotto_drand_verify_fn *verify, void *context,
                                              sotto_err *err);

#endif
