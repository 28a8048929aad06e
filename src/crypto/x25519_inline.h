/* crypto/x25519_inline.h - what keeps limbs in registers: every call is part of its caller, every index a constant.
 *
 * Left to themselves, compilers call a field's functions through memory at some levels of optimisation, and four lanes
 * take twice the time. Under a sanitizer they are left to themselves: with every call checked in every caller, these
 * files take most of a minute to compile, and the checks are the same.
 */
#ifndef SOTTO_CRYPTO_X25519_INLINE_H
#define SOTTO_CRYPTO_X25519_INLINE_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define INLINE static inline
#define UNROLL
#elif defined(__clang__)
#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 10")
#endif

#endif
