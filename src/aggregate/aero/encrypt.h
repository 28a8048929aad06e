/* aggregate/aero/encrypt.h - encryption whose sums can be opened: BFV after appendix A.1.4 of Liu and Gupta 2023.
 *
 *     key        s ternary, e small:          b = a s + e
 *     encrypt    r ternary, e1, e2 small:     c1 = a r + e1,  c2 = b r + e2 + delta m
 *     open       c2 - c1 s = delta m + (r e + e2 - s e1)
 *
 * delta is the second prime times floor(p / 2^log_t), so that messages leave no trace modulo the second prime, and m is a vector of 4096 small integers. Sums of ciphertexts are sums of everything above.
 *
 * Callers:  contributors and noise members encrypt; the aggregator adds; aggregate/aero/threshold.h opens.
 * Memory:   objects are the caller's; tables are in the arena given at set-up.
 * Threads:  a scheme never changes after set-up and may be shared; each thread brings its entropy.
 * Secrets:  messages, witnesses and secret keys, in constant time. Keys that are public are expanded in variable time.
 */
#ifndef SOTTO_AGGREGATE_AERO_ENCRYPT_H
#define SOTTO_AGGREGATE_AERO_ENCRYPT_H

#include "aggregate/aero/ring.h"
#include "noise/noise.h"

typedef struct sotto_aero {
    sotto_aero_ring ring;
    unsigned log_t;
    sotto_u128 delta;
    sotto_f64 delta_first;
    uint64_t delta_second;
    sotto_noise errors;
} sotto_aero;

enum {
    SOTTO_AERO_SEED = 32,
    SOTTO_AERO_LEAST_LOG_T = 2,
    SOTTO_AERO_MOST_LOG_T = 40,
    SOTTO_AERO_MEMORY = SOTTO_AERO_RING_MEMORY + 64 * 1024, /* of an arena, at most */
};

/* SOTTO_DENIED  log_t is out of its range */
SOTTO_MUST_USE sotto_status sotto_aero_init(sotto_aero *aero, const sotto_aero_set *set,
                                            unsigned log_t, sotto_arena *arena, sotto_err *err);

/* ---- keys ------------------------------------------------------------------------------------------- */

/* The polynomial a of a seed that everybody knows, in coefficients. */
SOTTO_MUST_USE sotto_status sotto_aero_expand_vartime(const sotto_aero *aero, sotto_aero_poly *a,
                                                      const uint8_t seed[SOTTO_AERO_SEED],
                                                      sotto_err *err);

/* What encryption uses: a and b, transformed and over 4096. */
typedef struct sotto_aero_public {
    sotto_aero_poly a, b;
} sotto_aero_public;

void sotto_aero_public_of(const sotto_aero *aero, sotto_aero_public *key, const sotto_aero_poly *a,
                          const sotto_aero_poly *b);

/* One dealer's part of a secret key; those of all dealers are added. Wipe it. */
typedef struct sotto_aero_secret {
    int8_t s[SOTTO_AERO_N], e[SOTTO_AERO_N];
} sotto_aero_secret;

/* Draws a secret, and its b = a s + e in coefficients. The b of all dealers are added to the public key's. */
SOTTO_MUST_USE sotto_status sotto_aero_keygen(const sotto_aero *aero, sotto_aero_secret *secret,
                                              sotto_aero_poly *b, const sotto_aero_poly *a,
                                              sotto_entropy *entropy, sotto_err *err);

/* ---- ciphertexts -------------------------------------------------------------------------------------- */

typedef struct sotto_aero_cipher {
    sotto_aero_poly c1, c2;
} sotto_aero_cipher;

/* What was drawn for one ciphertext: a proof needs it. Wipe it. */
typedef struct sotto_aero_witness {
    int8_t r[SOTTO_AERO_N], e1[SOTTO_AERO_N], e2[SOTTO_AERO_N];
} sotto_aero_witness;

/* r is within a total variation of 2^-106 of uniform on {-1, 0, 1}^4096. e1 and e2 follow the discrete Gaussian of
 * SOTTO_AERO_VARIANCE, given that it is at most SOTTO_AERO_ERROR, within sotto_noise_delta(8192). */
SOTTO_MUST_USE sotto_status sotto_aero_draw(const sotto_aero *aero, sotto_aero_witness *witness,
                                            sotto_entropy *entropy, sotto_err *err);
/* |m[k]| < 2^(log_t - 1): SOTTO_DENIED otherwise, and out is zero then. */
SOTTO_MUST_USE sotto_status sotto_aero_encrypt(const sotto_aero *aero, sotto_aero_cipher *out,
                                               const sotto_aero_public *key,
                                               const sotto_aero_witness *witness, const int64_t *m,
                                               sotto_err *err);
void sotto_aero_cipher_add(const sotto_aero *aero, sotto_aero_cipher *sum,
                           const sotto_aero_cipher *more);

/* ---- on the wire ---------------------------------------------------------------------------------------- */

/* Residues modulo the first prime in 8 bytes each, little endian, then those modulo the second in as many bits as it has. */
size_t sotto_aero_poly_size(const sotto_aero *aero);
SOTTO_MUST_USE sotto_status sotto_aero_poly_encode(const sotto_aero *aero, sotto_buf *out,
                                                   const sotto_aero_poly *v, sotto_err *err);
/* SOTTO_MALFORMED  another length, or a residue that is not below its prime: each polynomial has one encoding */
SOTTO_MUST_USE sotto_status sotto_aero_poly_decode(const sotto_aero *aero, sotto_aero_poly *out,
                                                   sotto_bytes wire, sotto_err *err);

/* The same of a sum of up to `leaves` polynomials. Residues modulo the second prime were added as integers (sum_tree.h), and have as
 * many bits as the largest such sum. */
size_t sotto_aero_sum_size(const sotto_aero *aero, uint32_t leaves);
SOTTO_MUST_USE sotto_status sotto_aero_sum_encode(const sotto_aero *aero, sotto_buf *out,
                                                  const sotto_aero_poly *v, uint32_t leaves,
                                                  sotto_err *err);
/* SOTTO_MALFORMED  another length, a residue that is not below the first prime, or more than so many of the second add up to */
SOTTO_MUST_USE sotto_status sotto_aero_sum_decode(const sotto_aero *aero, sotto_aero_poly *out,
                                                  uint32_t leaves, sotto_bytes wire,
                                                  sotto_err *err);

/* ---- what is opened --------------------------------------------------------------------------------------- */

/* Rounds each coefficient of v to a multiple of delta. residual is the largest distance from one, and may be NULL. */
void sotto_aero_decode_vartime(const sotto_aero *aero, int64_t *m, sotto_u128 *residual,
                               const sotto_aero_poly *v);

#endif
