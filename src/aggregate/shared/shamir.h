/* aggregate/shared/shamir.h - 32 secret bytes among holders, any `threshold` of whom can put them together (Shamir 1979).
 *
 * The bytes are five limbs of 56 bits, each shared over Field64. A holder's share is its polynomial's value at holder + 1.
 *
 * Callers:  methods with one server.
 * Secrets:  the dealer's side is constant-time. Recovery is by a server that was given the shares, and takes its time.
 */
#ifndef SOTTO_AGGREGATE_SHARED_SHAMIR_H
#define SOTTO_AGGREGATE_SHARED_SHAMIR_H

#include "crypto/keystream.h"
#include "math/field64.h"
#include "sotto/base.h"

enum {
    SOTTO_SHAMIR_SECRET = 32,
    SOTTO_SHAMIR_LIMBS = 5,
    SOTTO_SHAMIR_SHARE = 8 * SOTTO_SHAMIR_LIMBS,
    SOTTO_SHAMIR_MOST_HOLDERS = 254,
};

typedef struct sotto_shamir_dealer {
    sotto_f64 secret[SOTTO_SHAMIR_LIMBS];
    sotto_f64 *coefficients; /* in the arena: threshold - 1 rows of a limb each */
    size_t degree;           /* threshold - 1 */
} sotto_shamir_dealer;

/* The coefficients come from `stream`, seeded by the caller with a seed of this purpose. 2 <= threshold <= 254. */
SOTTO_MUST_USE sotto_status sotto_shamir_deal(sotto_shamir_dealer *dealer, sotto_arena *arena,
                                              size_t threshold,
                                              const uint8_t secret[SOTTO_SHAMIR_SECRET],
                                              sotto_keystream *stream, sotto_err *err);
void sotto_shamir_share(const sotto_shamir_dealer *dealer, uint8_t out[SOTTO_SHAMIR_SHARE],
                        uint32_t holder);
void sotto_shamir_forget(sotto_shamir_dealer *dealer);

/* Whether the bytes are field elements at all. */
bool sotto_shamir_is_share(const uint8_t share[SOTTO_SHAMIR_SHARE]);

typedef struct sotto_shamir_point {
    uint32_t holder;
    const uint8_t *share; /* SOTTO_SHAMIR_SHARE bytes that are field elements */
    bool wrong;           /* out: not on the polynomial that was found */
} sotto_shamir_point;

/* Whether this is the secret that was shared: against a public key or a commitment. */
typedef bool sotto_shamir_test(void *context, const uint8_t secret[SOTTO_SHAMIR_SECRET]);

/* Finds the secret among count points of different holders, of which some may be wrong. Marks those that are not on the polynomial
 * that most are on.
 *   SOTTO_AGAIN     fewer points than the threshold
 *   SOTTO_REJECTED  512 choices of points were tried and none passed the test */
SOTTO_MUST_USE sotto_status sotto_shamir_find_vartime(uint8_t secret[SOTTO_SHAMIR_SECRET],
                                                      sotto_shamir_point *points, size_t count,
                                                      size_t threshold, sotto_shamir_test *test,
                                                      void *context, sotto_err *err);

/* Interpolation's weights at zero: they depend on the holders alone. */
typedef struct sotto_shamir_weights {
    size_t count; /* 0: of nobody yet */
    uint32_t holders[SOTTO_SHAMIR_MOST_HOLDERS];
    sotto_f64 weights[SOTTO_SHAMIR_MOST_HOLDERS];
} sotto_shamir_weights;

/* The same for one secret of many: where the same holders show shares of each, weights are computed once.
 *   known  the caller's, its count 0 before the first of them */
SOTTO_MUST_USE sotto_status sotto_shamir_find_next_vartime(
    uint8_t secret[SOTTO_SHAMIR_SECRET], sotto_shamir_point *points, size_t count, size_t threshold,
    sotto_shamir_test *test, void *context, sotto_shamir_weights *known, sotto_err *err);

#endif
