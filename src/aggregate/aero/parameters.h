/* aggregate/aero/parameters.h - the parameter sets of the encryption, and how many bits of security each has.
 *
 * Callers:  everything in this folder; who plans a round.
 */
#ifndef SOTTO_AGGREGATE_AERO_PARAMETERS_H
#define SOTTO_AGGREGATE_AERO_PARAMETERS_H

#include "math/field64.h"
#include "sotto/base.h"

enum {
    SOTTO_AERO_N = 4096,         /* coefficients of a polynomial                             */
    SOTTO_AERO_ERROR = 15,       /* errors are from -15 to 15                                */
    SOTTO_AERO_PROVED = 16,      /* what is proved of others' errors: from -16 to 15         */
    SOTTO_AERO_LEAST_BITS = 128, /* a set below this is used only where it was asked for by name */
};

/* The errors' variance before they are cut: sigma is 3.24. */
#define SOTTO_AERO_VARIANCE_NUM 21
#define SOTTO_AERO_VARIANCE_DEN 2
/* Hints may lower the effective sigma to this and not below: `bits` was estimated at both. */
#define SOTTO_AERO_LEAST_SIGMA 2.2

typedef struct sotto_aero_set {
    const char *name;
    uint64_t second, second_root; /* the second prime, or 0; and a root of unity of order 8192  */
    unsigned log_q;               /* bits of q                                                   */
    unsigned second_bits;         /* of the second prime                                         */
    unsigned bits;                /* of security, rounded down: docs/decisions/0138              */
    unsigned bits_left;           /* the same, once hints have lowered sigma to the least        */
    const char *purpose;
} sotto_aero_set;

/* The table, ended by a row without a name. */
extern const sotto_aero_set sotto_aero_sets[];

/* The set of this name, whatever its bits; "" or NULL gives the default, which has at least SOTTO_AERO_LEAST_BITS.
 *   SOTTO_MISSING  there is no such set */
SOTTO_MUST_USE sotto_status sotto_aero_set_named(const sotto_aero_set **set, const char *name,
                                                 sotto_err *err);
/* What a message is multiplied by: q / 2^log_t, rounded down to a multiple of the second prime. */
sotto_u128 sotto_aero_delta(const sotto_aero_set *set, unsigned log_t);
/* The smallest set whose q has at least log_q bits.
 *   SOTTO_DENIED  there is none of SOTTO_AERO_LEAST_BITS; the reason names a set that only its name gives */
SOTTO_MUST_USE sotto_status sotto_aero_set_for(const sotto_aero_set **set, unsigned log_q,
                                               sotto_err *err);

#endif
