/* The field of AVX-512 IFMA over the compiler's own vectors. */
#ifndef SOTTO_TESTS_CRYPTO_GENERIC51_H
#define SOTTO_TESTS_CRYPTO_GENERIC51_H

#include "crypto/generic52.h"

#define TIMES19(a) ((a)*19)

#include "crypto/x25519_field51.h"

#endif
