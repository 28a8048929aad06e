#include "crypto/x25519_avx2.h"

#include "crypto/ed25519_points.h"

const sotto_ed25519_lanes sotto_ed25519_avx2 = {"avx2", LANES, 3, combine};
