/* math/vectors.h - sums of vectors in wire encoding: how an aggregator adds up shares.
 *
 * Callers:  vdaf/ accumulates the shares of a batch, several at once.
 * Memory:   the caller's.
 * Secrets:  all elements; time depends on counts only.
 */
#ifndef SOTTO_MATH_VECTORS_H
#define SOTTO_MATH_VECTORS_H

#include "math/field128.h"
#include "math/field64.h"

/* total[i] += sum of others[s][i], for i below len and s below count, count at most 2^16. */
void sotto_f64_vectors_add(uint8_t *total, size_t len, const uint8_t *const *others, size_t count);
void sotto_f128_vectors_add(uint8_t *total, size_t len, const uint8_t *const *others, size_t count);

#endif
