/* math/power_sums.h - the loop that every vector report pays for, once for each element.
 *
 * Callers:  vdaf/ evaluates all wires of a chunked circuit at the query point with it.
 * Memory:   outputs and scratch are the caller's.
 * Secrets:  the matrix; time depends on its size only.
 *
 * A matrix m of `count` elements in wire encoding has rows of `width` (the last perhaps shorter). With the
 * weights f_i and r_i of row i, for each column j:
 *
 *     out[2j]     = sum_i f_i * r_i^(j+1) * m_ij
 *     out[2j + 1] = sum_i f_i * m_ij
 *     *sum        = sum_ij m_ij, unless `sum` is NULL
 *
 * scratch has room for as many elements as power_sums_scratch says, for that many rows.
 */
#ifndef SOTTO_MATH_POWER_SUMS_H
#define SOTTO_MATH_POWER_SUMS_H

#include "math/field128.h"
#include "math/field64.h"

size_t sotto_f64_power_sums_scratch(size_t rows);
size_t sotto_f128_power_sums_scratch(size_t rows);

void sotto_f64_power_sums(sotto_f64 *out, sotto_f64 *sum, const uint8_t *m, size_t count,
                          size_t width, const sotto_f64 *f, const sotto_f64 *r, sotto_f64 *scratch);
void sotto_f128_power_sums(sotto_f128 *out, sotto_f128 *sum, const uint8_t *m, size_t count,
                           size_t width, const sotto_f128 *f, const sotto_f128 *r,
                           sotto_f128 *scratch);

#endif
