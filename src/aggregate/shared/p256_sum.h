/* aggregate/shared/p256_sum.h - many sums of points of P-256 at once.
 *
 * Callers:  aggregate/flamingo: the server adds up what decryptors answered, 21 points for each of thousands of edges.
 * Memory:   nothing is kept.
 * Threads:  any; sotto_p256_use is for programs that run nothing else meanwhile.
 * Secrets:  none. Time depends on the points, which the server may know.
 *
 * Where the machine has AVX-512 IFMA, eight sums are made in the lanes of its registers. Elsewhere sums that are made side by side
 * share one inversion a step (Montgomery's trick), so that points stay in the form in which they came. The crypto library adds one
 * pair at a time, and takes ten times as long as the latter.
 */
#ifndef SOTTO_AGGREGATE_SHARED_P256_SUM_H
#define SOTTO_AGGREGATE_SHARED_P256_SUM_H

#include "crypto/group_wide.h"

enum { SOTTO_P256_SUMS = 256 };

/* For each i below `count`, which is at most SOTTO_P256_SUMS: out[i] is the sum of the points at lists[j] + i * step, for all j
 * below `terms`, in their long form.
 *   done[i]  false: one of them is no point, or two equal or opposite ones met, which this does not add. The crypto library
 *            decides; out[i] is of no use. */
void sotto_p256_sum_many_vartime(uint8_t (*out)[SOTTO_P256_WIDE], bool *done,
                                 const uint8_t *const *lists, size_t terms, size_t step,
                                 size_t count);

/* "ifma" (AVX-512 with its 52-bit multiplier), "scalar"; NULL returns to the best. False: not on this machine. */
SOTTO_MUST_USE bool sotto_p256_use(const char *name);

/* ---- the members ---------------------------------------------------------------------------------------------- */

typedef struct sotto_p256_set {
    const char *name;
    /* As sotto_p256_sum_many_vartime, with a term at least, and a sum. */
    void (*sum)(uint8_t (*out)[SOTTO_P256_WIDE], bool *done, const uint8_t *const *lists,
                size_t terms, size_t step, size_t count);
} sotto_p256_set;

extern const sotto_p256_set sotto_p256_ifma;

#endif
