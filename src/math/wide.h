/* math/wide.h - 128-bit integers, the one place that leans on a compiler extension.
 *
 * Elements are kept as the bytes the wire carries, little endian, so that a share is never re-encoded.
 */
#ifndef SOTTO_MATH_WIDE_H
#define SOTTO_MATH_WIDE_H

#include <stdint.h>
#include <string.h>

#if !defined(__SIZEOF_INT128__)
#error "sotto needs a compiler with 128-bit integers (gcc or clang on a 64-bit machine)"
#endif
#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "sotto needs a little-endian machine: field elements are used in their wire encoding"
#endif

__extension__ typedef unsigned __int128 sotto_u128;

static inline sotto_u128 sotto_u128_of(uint64_t high, uint64_t low)
{
    return (sotto_u128)high << 64 | low;
}

static inline uint64_t sotto_u128_low(sotto_u128 x)
{
    return (uint64_t)x;
}

static inline uint64_t sotto_u128_high(sotto_u128 x)
{
    return (uint64_t)(x >> 64);
}

static inline sotto_u128 sotto_mul_wide(uint64_t a, uint64_t b)
{
    return (sotto_u128)a * b;
}

/* Three words, lowest first: sum += x * y, where the whole fits. */
static inline void sotto_add_product_portable(uint64_t sum[3], uint64_t x, uint64_t y)
{
    sotto_u128 product = sotto_mul_wide(x, y), low = product + sum[0]; /* cannot wrap */
    sotto_u128 high = (sotto_u128)sum[1] + sotto_u128_high(low);

    sum[0] = sotto_u128_low(low);
    sum[1] = sotto_u128_low(high);
    sum[2] += sotto_u128_high(high);
}

#if defined(__x86_64__)
/* An operand in a register or in memory, whichever it is in already. Clang would always take memory. */
#if defined(__clang__)
#define SOTTO_IN(x) "r"(x)
#else
#define SOTTO_IN(x) "rm"(x)
#endif

/* Compilers lose sight of the carries of 128-bit integers and shuffle registers instead, so here they are
 * spelled out. The linter does not see that assembly writes through a pointer. */
/* NOLINTNEXTLINE(readability-non-const-parameter) */
static inline void sotto_add_product(uint64_t sum[3], uint64_t x, uint64_t y)
{
    __asm__("mulq %[y]\n\t"
            "addq %%rax, %[s0]\n\t"
            "adcq %%rdx, %[s1]\n\t"
            "adcq $0, %[s2]"
            : [s0] "+&r"(sum[0]), [s1] "+&r"(sum[1]), [s2] "+&r"(sum[2]), "+&a"(x)
            : [y] SOTTO_IN(y)
            : "rdx", "cc");
}
#else
static inline void sotto_add_product(uint64_t sum[3], uint64_t x, uint64_t y)
{
    sotto_add_product_portable(sum, x, y);
}
#endif

static inline uint64_t sotto_load64(const uint8_t *at)
{
    uint64_t x;

    memcpy(&x, at, sizeof x);
    return x;
}

static inline void sotto_store64(uint8_t *at, uint64_t x)
{
    memcpy(at, &x, sizeof x);
}

#endif
