/* aggregate/aero/client.h - a device: it contributes if it is drawn, gives a share of noise if it is drawn for that, and checks a few
 * leaves of every round.
 *
 * Secrets:  the vector, noise, and all randomness. What was made is kept as messages that go out once the promises are posted.
 */
#ifndef SOTTO_AGGREGATE_AERO_CLIENT_H
#define SOTTO_AGGREGATE_AERO_CLIENT_H

#include "aggregate/aero/machine.h"

enum { SOTTO_AERO_ROLES = 3 /* by role; 0 is none */ };

/* What it has done: saved. A bit for each role, from the lowest. */
enum {
    SOTTO_AERO_FOUND_WRONG =
        1, /* something that it complained of: it does not say otherwise later */
    SOTTO_AERO_HAS_REVEALED = 8,
    SOTTO_AERO_HAS_ASKED = 16,
    SOTTO_AERO_HAS_COMPLAINED = 32,
    SOTTO_AERO_CLOSES_SOON = 64,   /* what leaves now may come too late */
    SOTTO_AERO_REVEALED_LATE = 128 /* so it does not say that it was left out */
};
#define SOTTO_AERO_HAS_PROMISED(role) ((uint8_t)(1u << (role)))

typedef struct sotto_aero_ask {
    uint32_t group, position; /* SOTTO_AERO_OWN_LEAF and a role: its own */
} sotto_aero_ask;

typedef struct sotto_aero_device {
    sotto_aero_base base;
    uint8_t done;
    uint8_t answered[SOTTO_AERO_MOST_ASKS / 8];
    sotto_message reveals[SOTTO_AERO_ROLES][SOTTO_AERO_MOST_GROUPS]; /* kept; no body: none */
    sotto_aero_ask asks[SOTTO_AERO_MOST_ASKS];                       /* once the sums are posted */
    uint32_t ask_count;
} sotto_aero_device;

/* contribute.c: promises, and keeps what is revealed later. vector: NULL for noise.
 *   SOTTO_DENIED  the vector is beyond the round's bounds */
SOTTO_MUST_USE sotto_status sotto_aero_contribute(sotto_aero_device *d, uint8_t role,
                                                  const sotto_vector *vector,
                                                  sotto_effects *effects, sotto_err *err);

/* spot_check.c: which leaves it asks for: the same after a restart. */
SOTTO_MUST_USE sotto_status sotto_aero_choose(sotto_aero_device *d, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_aero_ask_all(sotto_aero_device *d, sotto_effects *effects,
                                               sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_aero_take_sample(sotto_aero_device *d,
                                                   const sotto_message *message,
                                                   sotto_status *verdict, sotto_effects *effects,
                                                   sotto_err *err);
/* Of what was not answered. */
SOTTO_MUST_USE sotto_status sotto_aero_complain(sotto_aero_device *d, sotto_effects *effects,
                                                sotto_err *err);
/* That nothing is wrong in these sums, where the terms count it: once, in the place of complaints. */
SOTTO_MUST_USE sotto_status sotto_aero_say_clear(sotto_aero_device *d, sotto_effects *effects,
                                                 sotto_err *err);

#endif
