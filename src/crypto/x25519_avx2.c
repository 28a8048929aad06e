#include "crypto/x25519_avx2.h"

#include "crypto/x25519_ladder.h"

const sotto_x25519_lanes sotto_x25519_avx2 = {"avx2", LANES, 2, multiply};
