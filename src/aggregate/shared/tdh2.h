/* aggregate/shared/tdh2.h - threshold encryption to a committee, secure against chosen ciphertexts: TDH2 of Shoup and Gennaro
 * (1998) over P-256, hybrid with AES-256-GCM.
 *
 * Callers:  aggregate/flamingo: clients seal pair seeds, decryptors answer with partial decryptions, the server combines.
 * Memory:   an object holds groups and points of the crypto library until it is cleared.
 * Threads:  an object belongs to one thread at a time.
 * Secrets:  plaintexts, the randomness of seal, shares of the key. Time over them depends on nothing but lengths; what is
 *           public ends in _vartime.
 *
 * A ciphertext proves that whoever made it knows its plaintext, under a label. So nobody can turn another's ciphertext into
 * one of its own and have that opened, which plain ElGamal allows.
 */
#ifndef SOTTO_AGGREGATE_SHARED_TDH2_H
#define SOTTO_AGGREGATE_SHARED_TDH2_H

#include "crypto/aead.h"
#include "crypto/group_wide.h"
#include "crypto/keystream.h"

enum {
    SOTTO_TDH2_PLAIN = 32,
    SOTTO_TDH2_LABEL = 40, /* a round's id and two indices */
    SOTTO_TDH2_TEXT = SOTTO_TDH2_PLAIN + SOTTO_AEAD_TAG_SIZE,
    SOTTO_TDH2_SEALED = 2 * SOTTO_P256_WIDE + SOTTO_TDH2_TEXT + 2 * SOTTO_P256_SCALAR,
    SOTTO_TDH2_PART = SOTTO_P256_WIDE,
    SOTTO_DLEQ = 2 * SOTTO_P256_SCALAR,
};

typedef struct sotto_tdh2 {
    sotto_group group, second; /* the second has TDH2's other generator */
    sotto_group at_key;        /* the committee's key is its generator, once prepared */
    const sotto_point *prepared;
    sotto_point *at[6]; /* scratch */
    sotto_aead seal, open;
    bool ready;
} sotto_tdh2;

/* Clear after a failure is allowed. */
SOTTO_MUST_USE sotto_status sotto_tdh2_init(sotto_tdh2 *t, sotto_err *err);
void sotto_tdh2_clear(sotto_tdh2 *t);
/* For whoever seals hundreds of ciphertexts to one key with this object: makes tables, in 45 milliseconds. Each of the five
 * products of a seal then takes 7 microseconds, where three took 42. Other points, told by their address, are sealed to as before. */
SOTTO_MUST_USE sotto_status sotto_tdh2_prepare(sotto_tdh2 *t, const sotto_point *key,
                                               sotto_err *err);

void sotto_tdh2_label(uint8_t out[SOTTO_TDH2_LABEL], const uint8_t id[32], uint32_t from,
                      uint32_t to);

/* A uniform scalar from a stream that the caller seeded for this purpose. */
SOTTO_MUST_USE sotto_status sotto_scalar_draw(const sotto_group *g, sotto_scalar *out,
                                              sotto_keystream *stream, sotto_err *err);

/* The randomness comes from `stream`. */
SOTTO_MUST_USE sotto_status sotto_tdh2_seal(sotto_tdh2 *t, uint8_t out[SOTTO_TDH2_SEALED],
                                            const sotto_point *key,
                                            const uint8_t label[SOTTO_TDH2_LABEL],
                                            const uint8_t plain[SOTTO_TDH2_PLAIN],
                                            sotto_keystream *stream, sotto_err *err);
/* Whether it was made by somebody who knows what is in it, under this label. */
SOTTO_MUST_USE bool sotto_tdh2_is_valid_vartime(sotto_tdh2 *t,
                                                const uint8_t sealed[SOTTO_TDH2_SEALED],
                                                const uint8_t label[SOTTO_TDH2_LABEL]);
/* The share of the key, times its weight among those who answer, times the ciphertext's first point. For valid ones only. */
SOTTO_MUST_USE sotto_status sotto_tdh2_part(sotto_tdh2 *t, uint8_t out[SOTTO_TDH2_PART],
                                            const uint8_t sealed[SOTTO_TDH2_SEALED],
                                            const sotto_scalar *weighted, sotto_err *err);
/* By the sum of all parts, which is the point that its maker hashed. SOTTO_REJECTED: it does not open it. */
SOTTO_MUST_USE sotto_status sotto_tdh2_open_at(sotto_tdh2 *t, uint8_t plain[SOTTO_TDH2_PLAIN],
                                               const uint8_t sealed[SOTTO_TDH2_SEALED],
                                               const uint8_t label[SOTTO_TDH2_LABEL],
                                               const uint8_t shared[SOTTO_P256_WIDE],
                                               sotto_err *err);
/* All parts of one set of decryptors, weighted: `count` of them, each `step` bytes after the other's start is given by
 * parts[i]. SOTTO_REJECTED: they do not open it. */
SOTTO_MUST_USE sotto_status sotto_tdh2_open_vartime(sotto_tdh2 *t, uint8_t plain[SOTTO_TDH2_PLAIN],
                                                    const uint8_t sealed[SOTTO_TDH2_SEALED],
                                                    const uint8_t label[SOTTO_TDH2_LABEL],
                                                    const uint8_t *const *parts, size_t count,
                                                    sotto_err *err);

/* weights[i] such that f(0) is the sum of weights[i] f(xs[i]) for every f of degree below count (Lagrange). The xs differ
 * and are not 0. */
void sotto_scalar_weights_vartime(sotto_group *g, sotto_scalar *weights, const uint32_t *xs,
                                  size_t count);

/* ---- a proof that many parts have the same exponent ------------------------------------------------------ */

/* Chaum and Pedersen (1992), over a random combination of all parts: parts[i] = k bases[i], and public = k generator. The
 * pieces are `step` bytes apart. `context` is hashed too. */
typedef struct sotto_dleq_claim {
    sotto_bytes context;
    const sotto_point *public_key;
    const uint8_t *bases, *parts; /* points in long form */
    size_t base_step, part_step, count;
} sotto_dleq_claim;

SOTTO_MUST_USE sotto_status sotto_dleq_prove(sotto_tdh2 *t, uint8_t out[SOTTO_DLEQ],
                                             const sotto_dleq_claim *claim, const sotto_scalar *k,
                                             sotto_keystream *stream, sotto_err *err);
SOTTO_MUST_USE bool sotto_dleq_holds_vartime(sotto_tdh2 *t, const sotto_dleq_claim *claim,
                                             const uint8_t proof[SOTTO_DLEQ]);

#endif
