/* crypto/x25519_inline.h - what keeps limbs in registers: every call is part of its caller, every index a constant.
 *
 * Left to themselves, compilers call a field's functions through memory at some levels of optimisation, and four lanes
 * take twice the time.
 */
#ifndef SOTTO_CRYPTO_X25519_INLINE_H
#define SOTTO_CRYPTO_X25519_INLINE_H

#define INLINE static inline __attribute__((always_inline))

#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 10")
#endif

#endif
