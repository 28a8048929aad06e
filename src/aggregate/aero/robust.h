/* aggregate/aero/robust.h - an opening that finds members who lie: the robust path.
 *
 * On the fast path (threshold.h) a member that adds a multiple of delta to its part changes the sum, and nobody sees it. Here each of
 * `threshold` dealers shares its noise among all members first. A member then publishes its point c1 s_j + n_j, where n_j is the
 * sum of its shares of noise. Honest points lie on one polynomial of degree threshold - 1, whose constant term is c1 s + noise.
 *
 *   a wrong point     is not on that polynomial
 *   too large noise   A dealer could hide a multiple of delta in its noise. So members show, of each dealer, shares of 128 sums of
 *                     randomly chosen coefficients, each with a pad: its looks. Which coefficients is drawn when the dealers'
 *                     shares are fixed. A coefficient of 2 x sotto_aero_ledger.look or more makes a look too large with 1/2.
 *   who is believed   2 threshold - 1 members that agree: at least `threshold` of them are honest, and those determine everything.
 *
 * With fewer corrupt members than the threshold, points tell c1 s + noise and nothing else: noise shares of one honest dealer are
 * uniform but for that. So an opening is one hint, as on the fast path. Each further attempt is one more.
 *
 * Secrets:  noise and shares of it, in constant time. Points and looks are public.
 */
#ifndef SOTTO_AGGREGATE_AERO_ROBUST_H
#define SOTTO_AGGREGATE_AERO_ROBUST_H

#include "aggregate/aero/ledger.h"
#include "aggregate/aero/threshold.h"

/* Shares of looks at one dealer's noise, by prime. */
typedef struct sotto_aero_looks {
    sotto_f64 first[SOTTO_AERO_LOOKS];
    uint64_t second[SOTTO_AERO_LOOKS];
} sotto_aero_looks;

/* One polynomial of a dealer: noise, or pads in the first SOTTO_AERO_LOOKS coefficients and zeros. Wipe it. */
SOTTO_MUST_USE sotto_status sotto_aero_noise_of(const sotto_aero *aero, sotto_aero_poly *out,
                                                const sotto_noise *law, size_t coefficients,
                                                sotto_entropy *entropy, sotto_err *err);

/* Shares of looks, from shares of a dealer's noise, one for each ciphertext, and of its pads.
 *   seed  what all members agree on, once the shares are fixed */
SOTTO_MUST_USE sotto_status sotto_aero_looks_of(const sotto_aero *aero, sotto_aero_looks *out,
                                                const sotto_aero_poly *noise, size_t ciphertexts,
                                                const sotto_aero_poly *pads,
                                                const uint8_t seed[SOTTO_AERO_SEED],
                                                sotto_err *err);

/* ---- points, put together -------------------------------------------------------------------------------- */

/* What one member published. All points have as many of each. */
typedef struct sotto_aero_point {
    uint32_t member;
    const sotto_aero_poly *parts;  /* one for each ciphertext */
    const sotto_aero_looks *looks; /* one for each dealer     */
} sotto_aero_point;

typedef struct sotto_aero_points {
    const sotto_aero_point *at;
    size_t count, threshold, ciphertexts, dealers;
    double look; /* of the ledger */
} sotto_aero_points;

/* What was found. Lists are the caller's, as long as points and dealers are many. */
typedef struct sotto_aero_findings {
    bool *liars;   /* by point: it is wrong, and its shares of all dealers' noise are right */
    bool *dealers; /* by dealer: its noise is too large                                     */
} sotto_aero_findings;

/* constant[i] is c1 s + noise of ciphertext i: to be subtracted from c2, and decoded.
 *   SOTTO_REJECTED  fewer than 2 threshold - 1 members agree on all of it, or a dealer's noise is too large */
SOTTO_MUST_USE sotto_status sotto_aero_points_open_vartime(const sotto_aero *aero,
                                                           sotto_aero_poly *constant,
                                                           sotto_aero_findings *found,
                                                           const sotto_aero_points *points,
                                                           sotto_arena *scratch, sotto_err *err);

#endif
