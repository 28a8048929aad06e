/* math/ct.h - decisions without branches: a mask is all ones for yes, zero for no.
 *
 * Callers:  fields, circuits, the client. Secrets may flow through every function here.
 */
#ifndef SOTTO_MATH_CT_H
#define SOTTO_MATH_CT_H

#include <stdint.h>

/* Hides a value from the optimiser, which otherwise turns masks back into branches. */
static inline uint64_t sotto_ct_hide(uint64_t x)
{
    __asm__("" : "+r"(x));
    return x;
}

/* bit is 0 or 1. */
static inline uint64_t sotto_ct_mask(uint64_t bit)
{
    return 0 - sotto_ct_hide(bit);
}

static inline uint64_t sotto_ct_is_zero(uint64_t x)
{
    return sotto_ct_mask(~(x | (0 - x)) >> 63);
}

static inline uint64_t sotto_ct_equal(uint64_t a, uint64_t b)
{
    return sotto_ct_is_zero(a ^ b);
}

/* a < b, both of all 64 bits. */
static inline uint64_t sotto_ct_less(uint64_t a, uint64_t b)
{
    return sotto_ct_mask(((~a & b) | ((~a | b) & (a - b))) >> 63);
}

static inline uint64_t sotto_ct_select(uint64_t mask, uint64_t yes, uint64_t no)
{
    return no ^ (mask & (yes ^ no));
}

#endif
