/* What AVX-512 IFMA does, with the compiler's own vectors in place of the instructions: two lanes, for valgrind, which has no
 * AVX-512, and for machines without it. */
#ifndef SOTTO_TESTS_CRYPTO_GENERIC52_H
#define SOTTO_TESTS_CRYPTO_GENERIC52_H

#include <stdint.h>

typedef uint64_t lane __attribute__((vector_size(16)));
typedef lane choice; /* all bits of a lane, or none */
enum { LANES = 2 };

#define ALL(n)    ((lane){(uint64_t)(n), (uint64_t)(n)})
#define ADD(a, b) ((a) + (b))
#define SUB(a, b) ((a) - (b))
#define AND(a, b) ((a) & (b))
#define SHL(a, n) ((a) << (n))
#define SHR(a, n) ((a) >> (n))

/* A product of 52 bits by 52, in halves of 26. */
typedef struct full_product {
    lane low, high;
} full_product;

static inline full_product product_of(lane a, lane b)
{
    const lane mask = ALL((1 << 26) - 1);
    const lane a0 = a & mask, a1 = (a >> 26) & mask, b0 = b & mask, b1 = (b >> 26) & mask;
    const lane bottom = a0 * b0, middle = a0 * b1 + a1 * b0 + (bottom >> 26);

    return (full_product){(bottom & mask) | (middle & mask) << 26, a1 * b1 + (middle >> 26)};
}

#define LOW52(t, a, b)  ((t) + product_of(a, b).low)
#define HIGH52(t, a, b) ((t) + product_of(a, b).high)

#define CHOOSE(word, bit) (ALL(0) - (((word) >> (bit)) & 1))
#define SWAP(swap, a, b)                                                                           \
    do {                                                                                           \
        const lane differ = (swap) & ((a) ^ (b));                                                  \
        (a) ^= differ;                                                                             \
        (b) ^= differ;                                                                             \
    } while (0)

#define EQUAL(a, b)   ((lane)((a) == (b)))
#define PICK(c, a, b) (((a) & ~(c)) | ((b) & (c)))

#endif
