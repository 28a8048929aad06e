/* math/field128.h - Field128 of VDAF: integers modulo p = 2^128 - 28 * 2^64 + 1.
 *
 * p = 1 modulo 2^64, so a Montgomery step needs no multiplication by an inverse. Taking t0 * p away from
 * t clears its lowest limb t0 and leaves (t >> 64) + 28 * t0 - t0 * 2^64.
 *
 * A product divides by 2^128. Shares stay plain, as the wire has them; only *weights* (roots of unity,
 * random powers, Lagrange factors) carry the factor 2^128, so that plain times weight is plain again.
 * See math/field64.h for the names both fields share.
 */
#ifndef SOTTO_MATH_FIELD128_H
#define SOTTO_MATH_FIELD128_H

#include "math/ct.h"
#include "math/wide.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct sotto_f128 {
    uint64_t low, high;
} sotto_f128;

#define SOTTO_F128_P_LOW  UINT64_C(1)
#define SOTTO_F128_P_HIGH UINT64_C(0xffffffffffffffe4)

enum { SOTTO_F128_SIZE = 16, SOTTO_F128_ROOT_LOG = 66 };

static inline sotto_u128 sotto_f128_p(void)
{
    return sotto_u128_of(SOTTO_F128_P_HIGH, SOTTO_F128_P_LOW);
}

static inline sotto_u128 sotto_f128_wide(sotto_f128 a)
{
    return sotto_u128_of(a.high, a.low);
}

static inline sotto_f128 sotto_f128_narrow(sotto_u128 x)
{
    return (sotto_f128){sotto_u128_low(x), sotto_u128_high(x)};
}

/* p where the bit is 1, else 0. */
static inline sotto_u128 sotto_f128_p_if(uint64_t bit)
{
    uint64_t mask = sotto_ct_mask(bit);

    return sotto_u128_of(SOTTO_F128_P_HIGH & mask, bit);
}

static inline sotto_f128 sotto_f128_zero(void)
{
    return (sotto_f128){0, 0};
}

static inline sotto_f128 sotto_f128_from(uint64_t x)
{
    return (sotto_f128){x, 0};
}

static inline sotto_f128 sotto_f128_load(const uint8_t *at)
{
    return (sotto_f128){sotto_load64(at), sotto_load64(at + 8)};
}

static inline void sotto_f128_store(uint8_t *at, sotto_f128 a)
{
    sotto_store64(at, a.low);
    sotto_store64(at + 8, a.high);
}

static inline sotto_f128 sotto_f128_sub(sotto_f128 a, sotto_f128 b)
{
    sotto_u128 x = sotto_f128_wide(a), y = sotto_f128_wide(b);

    return sotto_f128_narrow(x - y + sotto_f128_p_if(x < y));
}

static inline sotto_f128 sotto_f128_neg(sotto_f128 a)
{
    return sotto_f128_sub(sotto_f128_zero(), a);
}

static inline sotto_f128 sotto_f128_add(sotto_f128 a, sotto_f128 b)
{
    /* a - (p - b) wraps exactly when a + b < p. */
    sotto_u128 x = sotto_f128_wide(a), back = sotto_f128_p() - sotto_f128_wide(b);

    return sotto_f128_narrow(x - back + sotto_f128_p_if(x < back));
}

/* t / 2^128 modulo p, for t = high * 2^128 + low with t < p^2. */
static inline sotto_f128 sotto_f128_redc(sotto_u128 high, sotto_u128 low)
{
    /* Both Montgomery steps at once: q is what they take away, in units of p. */
    sotto_u128 first = sotto_mul_wide(28, sotto_u128_low(low)) + sotto_u128_high(low);
    uint64_t q1 = sotto_u128_low(first);
    sotto_u128 q = sotto_u128_of(q1, sotto_u128_low(low));
    sotto_u128 sum = high + (sotto_mul_wide(28, q1) + sotto_u128_high(first));

    return sotto_f128_narrow(sum - q + sotto_f128_p_if(sum < q));
}

/* The product of two 128-bit numbers. */
static inline void sotto_f128_mul_wide(sotto_u128 *high, sotto_u128 *low, sotto_f128 a,
                                       sotto_f128 b)
{
    sotto_u128 ll = sotto_mul_wide(a.low, b.low);
    sotto_u128 lh = sotto_mul_wide(a.low, b.high);
    sotto_u128 hl = sotto_mul_wide(a.high, b.low);
    sotto_u128 hh = sotto_mul_wide(a.high, b.high);

    sotto_u128 middle =
        hl + sotto_u128_high(ll); /* cannot overflow: (2^64-1)^2 + 2^64 - 1 < 2^128 */
    sotto_u128 cross = lh + sotto_u128_low(middle);
    *low = sotto_u128_of(sotto_u128_low(cross), sotto_u128_low(ll));
    *high = hh + sotto_u128_high(middle) + sotto_u128_high(cross);
}

static inline sotto_f128 sotto_f128_mul_portable(sotto_f128 a, sotto_f128 weight)
{
    sotto_u128 high, low;

    sotto_f128_mul_wide(&high, &low, a, weight);
    return sotto_f128_redc(high, low);
}

#if defined(__x86_64__)
/* The same with every carry where the machine keeps it, which takes two thirds of the time of what
 * compilers make of 128-bit integers. The last four lines add p where the number fell below zero: they
 * take away 2^128 - p, which is 27 and a word of ones. */
static inline sotto_f128 sotto_f128_mul(sotto_f128 a, sotto_f128 weight)
{
    sotto_f128 result;
    uint64_t q0, q1;

    __asm__("movq %[a0], %%rax\n\t"
            "mulq %[b0]\n\t"
            "movq %%rax, %[q0]\n\t"
            "movq %%rdx, %[q1]\n\t"
            "movq %[a1], %%rax\n\t"
            "mulq %[b1]\n\t"
            "movq %%rax, %[low]\n\t"
            "movq %%rdx, %[high]\n\t"
            "movq %[a0], %%rax\n\t"
            "mulq %[b1]\n\t"
            "addq %%rax, %[q1]\n\t"
            "adcq %%rdx, %[low]\n\t"
            "adcq $0, %[high]\n\t"
            "movq %[a1], %%rax\n\t"
            "mulq %[b0]\n\t"
            "addq %%rax, %[q1]\n\t"
            "adcq %%rdx, %[low]\n\t"
            "adcq $0, %[high]\n\t"
            "movl $28, %%eax\n\t"
            "mulq %[q0]\n\t"
            "addq %%rax, %[q1]\n\t"
            "adcq $0, %%rdx\n\t"
            "addq %%rdx, %[low]\n\t"
            "adcq $0, %[high]\n\t"
            "movl $28, %%eax\n\t"
            "mulq %[q1]\n\t"
            "addq %%rax, %[low]\n\t"
            "adcq %%rdx, %[high]\n\t"
            "subq %[q0], %[low]\n\t"
            "sbbq %[q1], %[high]\n\t"
            "sbbq %%rax, %%rax\n\t"
            "movl %%eax, %%edx\n\t"
            "andl $27, %%edx\n\t"
            "subq %%rax, %[low]\n\t"
            "sbbq %%rdx, %[high]"
            : [low] "=&r"(result.low), [high] "=&r"(result.high), [q0] "=&r"(q0), [q1] "=&r"(q1)
            : [a0] SOTTO_IN(a.low), [a1] SOTTO_IN(a.high), [b0] SOTTO_IN(weight.low),
              [b1] SOTTO_IN(weight.high)
            : "rax", "rdx", "cc");
    return result;
}
#else
static inline sotto_f128 sotto_f128_mul(sotto_f128 a, sotto_f128 weight)
{
    return sotto_f128_mul_portable(a, weight);
}
#endif

/* 2^256 modulo p: a product with it adds the factor 2^128. */
static inline sotto_f128 sotto_f128_r2(void)
{
    return (sotto_f128){UINT64_C(0xfffffffffffffcf1), UINT64_C(0x5587)};
}

static inline sotto_f128 sotto_f128_to_weight(sotto_f128 a)
{
    return sotto_f128_mul(a, sotto_f128_r2());
}

static inline sotto_f128 sotto_f128_one(void)
{
    return (sotto_f128){1, 0};
}

static inline sotto_f128 sotto_f128_one_weight(void)
{
    return (sotto_f128){UINT64_MAX, 27}; /* 2^128 - p */
}

static inline sotto_f128 sotto_f128_mask(sotto_f128 a, uint64_t mask)
{
    return (sotto_f128){a.low & mask, a.high & mask};
}

static inline uint64_t sotto_f128_equal(sotto_f128 a, sotto_f128 b)
{
    return sotto_ct_is_zero((a.low ^ b.low) | (a.high ^ b.high));
}

/* excess * 2^128 + x modulo p, for excess < 2^58. */
static inline sotto_f128 sotto_f128_fold(uint64_t excess, sotto_u128 x)
{
    /* 2^128 = 28 * 2^64 - 1 */
    sotto_u128 add = (((sotto_u128)28 * excess) << 64) - excess;
    sotto_u128 sum = x + add;

    /* A wrap past 2^128 leaves less than 2^127 behind, so folding it again ends the matter. */
    sum += sotto_u128_of(27, UINT64_MAX) &
           sotto_u128_of(sotto_ct_mask(sum < add), sotto_ct_mask(sum < add));
    return sotto_f128_narrow(sum - sotto_f128_p_if(sum >= sotto_f128_p()));
}

/* Sums of products, reduced once: room for 2^32 of them. Three words for each place value, so that no carry
 * runs from one to the other while they grow. */
typedef struct sotto_f128_acc {
    uint64_t low[3], middle[3], high[3]; /* in units of 1, 2^64, 2^128 */
} sotto_f128_acc;

static inline void sotto_f128_acc_mul(sotto_f128_acc *acc, sotto_f128 a, sotto_f128 weight)
{
    sotto_add_product(acc->low, a.low, weight.low);
    sotto_add_product(acc->middle, a.low, weight.high);
    sotto_add_product(acc->middle, a.high, weight.low);
    sotto_add_product(acc->high, a.high, weight.high);
}

static inline sotto_f128 sotto_f128_acc_reduce(const sotto_f128_acc *acc)
{
    /* Spelled with words: a compiler may turn the overflow of a 128-bit sum into a branch. */
    sotto_u128 first = (sotto_u128)acc->low[1] + acc->middle[0];
    sotto_u128 second =
        (sotto_u128)acc->low[2] + acc->middle[1] + acc->high[0] + sotto_u128_high(first);
    sotto_u128 third = (sotto_u128)acc->middle[2] + acc->high[1] + sotto_u128_high(second);
    uint64_t top = acc->high[2] + sotto_u128_high(third);
    sotto_u128 low = sotto_u128_of(sotto_u128_low(first), acc->low[0]);
    sotto_u128 high = sotto_u128_of(sotto_u128_low(third), sotto_u128_low(second));

    return sotto_f128_add(sotto_f128_redc(0, low), sotto_f128_fold(top, high));
}

/* Sums of elements, reduced once: room for 2^58 of them. */
typedef struct sotto_f128_sum {
    sotto_u128 v;
    uint64_t excess;
} sotto_f128_sum;

static inline void sotto_f128_sum_add(sotto_f128_sum *sum, sotto_f128 a)
{
    sotto_u128 x = sotto_f128_wide(a);

    sum->v += x;
    sum->excess += sum->v < x;
}

static inline sotto_f128 sotto_f128_sum_reduce(const sotto_f128_sum *sum)
{
    return sotto_f128_fold(sum->excess, sum->v);
}

/* The word that settles whether an element is below p, unless its upper half is all ones. */
static inline uint64_t sotto_f128_top(const uint8_t *at)
{
    return sotto_load64(at + 8);
}

static inline uint64_t sotto_f128_is_canonical(const uint8_t *at)
{
    return sotto_f128_wide(sotto_f128_load(at)) < sotto_f128_p();
}

sotto_f128 sotto_f128_pow(sotto_f128 weight, uint64_t exponent); /* a weight again */
sotto_f128 sotto_f128_inv(sotto_f128 weight);                    /* a weight again */
/* A principal root of unity of order 2^log as a weight, 0 <= log <= SOTTO_F128_ROOT_LOG. */
sotto_f128 sotto_f128_root(unsigned log);

#endif
