/* The IFMA form of X25519 over generic51.h: the same ladder, two lanes. */
#include "crypto/x25519_generic51.h"

#include "crypto/generic51.h"

#include "crypto/x25519_ladder.h"

const sotto_x25519_lanes sotto_x25519_generic51 = {"generic51", LANES, 2, multiply};
