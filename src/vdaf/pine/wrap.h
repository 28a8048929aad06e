/* vdaf/pine/wrap.h - dot products of a vector with random entries -1, 0 and 1, whatever the field.
 *
 * A dot product is taken byte by byte of the elements' encoding: plane b holds the b-th byte of every element. The sum over
 * a plane is a small integer, and sum_b 256^b * sums[b] is the dot product. So one multiplication of bytes serves many
 * elements at once, and no sum overflows.
 *
 * Callers:  shard.c and verify.c.
 * Memory:   the caller's.
 * Threads:  the choice of instructions is made once and is safe from any thread.
 * Secrets:  elements. Time depends on counts only. The random entries are known to all parties.
 */
#ifndef SOTTO_VDAF_PINE_WRAP_H
#define SOTTO_VDAF_PINE_WRAP_H

#include "sotto/base.h"

enum {
    SOTTO_WRAP_LANES = 4,     /* dot products taken together          */
    SOTTO_WRAP_BLOCK = 2048,  /* elements whose sums fit 16 bits      */
    SOTTO_WRAP_MAX_BYTES = 16 /* of an element                        */
};

/* Elements in a plane: a multiple of SOTTO_WRAP_BLOCK. */
static inline size_t sotto_wrap_stride(size_t count)
{
    return (count + SOTTO_WRAP_BLOCK - 1) / SOTTO_WRAP_BLOCK * SOTTO_WRAP_BLOCK;
}

/* planes[b * stride + i] = byte b of element i; zero from `count` on. */
void sotto_wrap_planes(uint8_t *planes, const uint8_t *elements, size_t element_size, size_t count);

/* sums[l * element_size + b] = sum over i of plane b's i-th byte times entry i of lane l.
 *   entries  for each of SOTTO_WRAP_LANES lanes, stride / 4 bytes: two bits an entry, low bits first; 00 is -1, 01 and 10
 *            are 0, 11 is 1 */
void sotto_wrap_dots(int64_t *sums, const uint8_t *planes, size_t element_size, size_t stride,
                     const uint8_t *const *entries);

/* "portable" or "avx2"; NULL returns to the best. False: not on this machine. For tests and benchmarks. */
SOTTO_MUST_USE bool sotto_wrap_use(const char *name);

/* One block: adds to sums[l], for SOTTO_WRAP_LANES lanes of SOTTO_WRAP_BLOCK signed entries one after the other. */
void sotto_wrap_block_avx2(int64_t *sums, const uint8_t *plane, const int8_t *signs);
/* Writes SOTTO_WRAP_BLOCK signed entries. */
void sotto_wrap_signs_avx2(int8_t *signs, const uint8_t *entries);

#endif
