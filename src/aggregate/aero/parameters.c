#include "aggregate/aero/parameters.h"

#include "base/rule.h"

#include <string.h>

/* In ascending order of q. 8380417 = 2^23 - 2^13 + 1 and 35184371884033 = 2^45 - 25 2^13 + 1. */
const sotto_aero_set sotto_aero_sets[] = {
    {"b64", 0, 0, 64, 0, 223, 220, "models of up to about 100,000 parameters"},
    {"b87", 8380417, 283817, 87, 23, 159, 158, "the default"},
    {"b109", UINT64_C(35184371884033), UINT64_C(19095220364083), 109, 45, 125, 124,
     "for comparison only: below 128 bits"},
    {NULL, 0, 0, 0, 0, 0, 0, NULL},
};

sotto_status sotto_aero_set_named(const sotto_aero_set **set, const char *name, sotto_err *err)
{
    if (!name || !name[0])
        name = "b87";
    for (const sotto_aero_set *s = sotto_aero_sets; s->name; s++) {
        if (strcmp(s->name, name) == 0) {
            *set = s;
            return SOTTO_OK;
        }
    }
    return sotto_fail(err, SOTTO_MISSING, "aero: no parameter set \"%s\": b64, b87 or b109 wanted",
                      name);
}

sotto_u128 sotto_aero_delta(const sotto_aero_set *set, unsigned log_t)
{
    return sotto_mul_wide(SOTTO_F64_P >> log_t, set->second ? set->second : 1);
}

sotto_status sotto_aero_set_for(const sotto_aero_set **set, unsigned log_q, sotto_err *err)
{
    for (const sotto_aero_set *s = sotto_aero_sets; s->name; s++) {
        if (s->log_q < log_q)
            continue;
        if (SOTTO_RULE(aero_least_bits) && s->bits_left < SOTTO_AERO_LEAST_BITS)
            return sotto_fail(err, SOTTO_DENIED,
                              "aero: set %s has %u bits of security, below %d: ask for it by name",
                              s->name, s->bits, SOTTO_AERO_LEAST_BITS);
        *set = s;
        return SOTTO_OK;
    }
    return sotto_fail(err, SOTTO_DENIED, "aero: no set has a modulus of %u bits", log_q);
}
