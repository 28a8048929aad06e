/* aggregate/shared/decryptors.h - the committee that holds shares of one decryption key, for an epoch: who, which key, and who
 * signed for it.
 *
 * Callers:  clients before they seal anything to the key; decryptors and servers. A round's parameters name the digest.
 * Memory:   lists are in the arena given to open; groups and points are the crypto library's until close.
 * Threads:  an open committee has scratch: one thread at a time.
 * Wire:     canonical; members sign its digest.
 *
 * Th = floor(L/3) + 1 shares decrypt, and q = ceil(2L/3) signatures make the record valid. Fewer than L/3 members are corrupt
 * or lost: two quorums then share somebody honest, and the corrupt alone decrypt nothing (Ma et al. 2023).
 */
#ifndef SOTTO_AGGREGATE_SHARED_DECRYPTORS_H
#define SOTTO_AGGREGATE_SHARED_DECRYPTORS_H

#include "aggregate/round.h"
#include "aggregate/shared/shamir.h"
#include "aggregate/shared/tdh2.h"

enum {
    SOTTO_DECRYPTORS_LEAST = 3,
    SOTTO_DECRYPTORS_MOST = SOTTO_SHAMIR_MOST_HOLDERS,
    SOTTO_DECRYPTORS_MOST_BYTES =
        48 + SOTTO_P256_WIDE + SOTTO_DECRYPTORS_MOST * (4 + SOTTO_P256_WIDE + 1 + SOTTO_SIGNATURE),
};

/* What is on the wire. */
typedef struct sotto_decryptors_record {
    uint8_t session[32];
    uint64_t epoch;
    uint32_t count;
    uint32_t *members; /* registry indices, ascending; a member's place is its index here */
    uint8_t key[SOTTO_P256_WIDE];
    uint8_t (*verify)[SOTTO_P256_WIDE]; /* share of each place, times the generator */
    uint8_t (*signatures)[SOTTO_SIGNATURE];
    bool *is_signed;
} sotto_decryptors_record;

typedef struct sotto_decryptors {
    sotto_decryptors_record record;
    uint8_t digest[32];
    sotto_tdh2 tdh2;
    sotto_point *key;
} sotto_decryptors;

static inline uint32_t sotto_decryptors_threshold(uint32_t count)
{
    return count / 3 + 1;
}

static inline uint32_t sotto_decryptors_quorum(uint32_t count)
{
    return (2 * count + 2) / 3;
}

/* Whom the beacon draws for this epoch: `count` registry indices. */
SOTTO_MUST_USE sotto_status sotto_decryptors_draw(uint32_t *out, uint32_t count,
                                                  uint32_t registered, const uint8_t beacon[32],
                                                  const uint8_t session[32], uint64_t epoch,
                                                  sotto_arena *scratch, sotto_err *err);

/* Of everything but signatures: what members sign. */
void sotto_decryptors_digest(const sotto_decryptors_record *record, uint8_t out[32]);
SOTTO_MUST_USE sotto_status sotto_decryptors_sign(const uint8_t digest[32],
                                                  uint8_t out[SOTTO_SIGNATURE],
                                                  const sotto_signer *signer, sotto_err *err);
SOTTO_MUST_USE bool sotto_decryptors_is_signed(const uint8_t digest[32],
                                               const uint8_t key[SOTTO_SIGN_PUBLIC],
                                               const uint8_t signature[SOTTO_SIGNATURE]);

SOTTO_MUST_USE sotto_status sotto_decryptors_encode(sotto_buf *out,
                                                    const sotto_decryptors_record *record,
                                                    sotto_err *err);
/* SOTTO_MALFORMED for everything that encode would not have written. Lists are in the arena. */
SOTTO_MUST_USE sotto_status sotto_decryptors_decode(sotto_decryptors_record *record,
                                                    sotto_bytes wire, sotto_arena *arena,
                                                    sotto_err *err);

/* Checks a record and makes it ready: its members are the beacon's, a quorum of them signed, and its key and shares are
 * points. That the shares belong to the key is what the quorum signed for.
 *   SOTTO_REJECTED  one of these fails. Close after a failure is allowed. */
SOTTO_MUST_USE sotto_status sotto_decryptors_open(sotto_decryptors *d,
                                                  const sotto_decryptors_record *record,
                                                  const sotto_registry *registry,
                                                  const uint8_t beacon[32], sotto_arena *arena,
                                                  sotto_err *err);
void sotto_decryptors_close(sotto_decryptors *d);

/* -1: not a member. */
int sotto_decryptors_place(const sotto_decryptors *d, uint32_t index);

#endif
