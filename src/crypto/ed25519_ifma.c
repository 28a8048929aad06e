#include "crypto/x25519_ifma.h"

#include "crypto/ed25519_points.h"

const sotto_ed25519_lanes sotto_ed25519_ifma = {"ifma", LANES, 1, combine};
