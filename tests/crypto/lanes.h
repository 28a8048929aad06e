/* What tests of the lanes share: the names of all backends, and numbers that are the same on every run. */
#ifndef SOTTO_TESTS_CRYPTO_LANES_H
#define SOTTO_TESTS_CRYPTO_LANES_H

#include <stdint.h>

/* Those that this machine lacks are refused by sotto_keccak_use and passed over; test_keccak.c reports them as skipped. */
#if defined(__x86_64__)
static const char *const backends[] = {"scalar", "bmi", "avx2", "avx512vl"};
#elif defined(__aarch64__)
static const char *const backends[] = {"scalar", "neon"};
#else
static const char *const backends[] = {"scalar"};
#endif
enum { BACKENDS = sizeof backends / sizeof backends[0] };

static inline uint64_t draw(uint64_t *seed)
{
    uint64_t z = *seed += 0x9e3779b97f4a7c15;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

#endif
