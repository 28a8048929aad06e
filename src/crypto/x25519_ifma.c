#include "crypto/x25519_ifma.h"

#include "crypto/x25519_ladder.h"

const sotto_x25519_lanes sotto_x25519_ifma = {"ifma", LANES, 2, multiply};
