#ifndef SOTTO_TESTS_CRYPTO_ED25519_GENERIC51_H
#define SOTTO_TESTS_CRYPTO_ED25519_GENERIC51_H

#include "crypto/ed25519.h"

extern const sotto_ed25519_lanes sotto_ed25519_generic51;

#endif
