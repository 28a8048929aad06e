/* The IFMA form of Ed25519's verification over generic51.h, two lanes. */
#include "crypto/ed25519_generic51.h"

#include "crypto/generic51.h"

#include "crypto/ed25519_points.h"

const sotto_ed25519_lanes sotto_ed25519_generic51 = {"generic51", LANES, 1, combine};
