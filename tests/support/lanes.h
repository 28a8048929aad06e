/* support/lanes.h - X25519 in lanes also where it is not the default, which is under sanitizers (crypto/x25519.c). */
#ifndef SOTTO_TESTS_LANES_H
#define SOTTO_TESTS_LANES_H

#include "crypto/x25519.h"

/* The widest that this machine has, from now on. False: it has none. */
static inline bool sotto_test_use_lanes(void)
{
    return sotto_x25519_use("ifma") || sotto_x25519_use("avx2");
}

#endif
