#ifndef SOTTO_TESTS_CRYPTO_X25519_GENERIC51_H
#define SOTTO_TESTS_CRYPTO_X25519_GENERIC51_H

#include "crypto/x25519.h"

extern const sotto_x25519_lanes sotto_x25519_generic51;

#endif
