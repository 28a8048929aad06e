/* noise/randomizer.h - one person's value into a report that protects it by itself.
 *
 * Callers:  device/, on a measurement or on "no value"; simulations. estimate.h undoes it for a sum.
 * Memory:   reports are the caller's, `bytes` long; a randomizer is a value and may be copied.
 * Secrets:  value, randomness and report. Every path over them is constant-time.
 *
 * All randomizers are one struct. They are of four shapes:
 *   bits    each of `values` bits is 1 with chance `own` (the value's) or `other`      bytes of 0 and 1
 *   choice  the value with chance `own`, else another one, all equally likely          bytes of 0 and 1
 *   subset  a set of fixed size, with the value with chance `own`                      bytes of 0 and 1
 *   hash    coefficients of a random affine map h to integers modulo a prime; h(value) is below `support`
 *           with chance `own`                                                          4-byte digits
 * A report *supports* the values whose bit is set, or whose h is below `support`. It supports its own value
 * with probability p and any other with probability q: all that an estimator needs to know.
 *
 * "No value": bits and hash draw as if no bit were special, and support every value with probability q.
 * Choice and subset treat it as one more value, the last one, so their reports have values + 1 bytes.
 */
#ifndef SOTTO_NOISE_RANDOMIZER_H
#define SOTTO_NOISE_RANDOMIZER_H

#include "noise/entropy.h"
#include "sotto/privacy.h"

typedef enum sotto_randomizer_kind {
    SOTTO_BINARY_RESPONSE =
        1,                 /* bits, of one value: yes; "no value" is no                         */
    SOTTO_CHOICE_RESPONSE, /* choice: k-ary randomized response                                  */
    SOTTO_ONE_HOT_ASYMMETRIC, /* bits, own one half                                                 */
    SOTTO_ONE_HOT_SYMMETRIC, /* bits, own = 1 - other                                              */
    SOTTO_RAPPOR,           /* the symmetric one, for replacement                                 */
    SOTTO_SUBSET_SELECTION, /* subset                                                             */
    SOTTO_PROJECTIVE_RESPONSE, /* hash to a prime near e^epsilon + 1, support 1                      */
    SOTTO_PI_RAPPOR, /* hash to a prime of at least `values`, pairwise independent bits    */
    SOTTO_RANDOMIZER_KINDS
} sotto_randomizer_kind;

#define SOTTO_NO_VALUE UINT64_MAX

/* The bits of a report that are 1 exceed `weight` with at most this probability. */
#define SOTTO_RANDOMIZER_LOG2_MISS (-40)

enum { SOTTO_RANDOMIZER_VALUES = 1 << 24, SOTTO_RANDOMIZER_DIGITS = 32 };

typedef struct sotto_randomizer {
    sotto_randomizer_kind kind;
    sotto_adjacency adjacency;
    uint64_t values;
    double epsilon;  /* of the chances as rounded, bounded above, for this adjacency           */
    double delta;    /* what draws that are not exact add to it: below 2^-100, mostly 0          */
    double p, q;     /* P(supports its own value), P(supports another)                          */
    size_t bytes;    /* of a report                                                             */
    uint64_t weight; /* most bits set in any report; for hash, 0                    */
    uint64_t own, other;     /* chances, times 2^64                                         */
    uint64_t set;            /* subset: its size                                            */
    uint64_t prime, support; /* hash                                                        */
    size_t digits;           /* hash: coefficients, of which the first is the constant one  */
} sotto_randomizer;

/* The best randomizer of its kind with local epsilon at most `epsilon` (2^-20 to 30) under this adjacency.
 *   SOTTO_DENIED  a parameter is out of range, or the kind makes no claim for the adjacency; it is named.
 *                 No local randomizer hides that somebody took part, so add-remove is always refused. */
SOTTO_MUST_USE sotto_status sotto_randomizer_init(sotto_randomizer *out, sotto_randomizer_kind kind,
                                                  uint64_t values, double epsilon,
                                                  sotto_adjacency adjacency, sotto_err *err);

/* Epsilon where a value may become any other value, or none: what a policy's fields are capped by. Bounded above. */
double sotto_randomizer_replacement_epsilon(const sotto_randomizer *r);

/* Writes the report on value, which is below values or SOTTO_NO_VALUE. A report with too many bits set becomes
 * the empty one: a function of the report alone, so the claim stands; drawing again would break it. */
SOTTO_MUST_USE sotto_status sotto_randomizer_run(const sotto_randomizer *r, uint8_t *report,
                                                 uint64_t value, sotto_entropy *entropy,
                                                 sotto_err *err);

/* For whoever may see reports: does this one support the value? */
bool sotto_randomizer_supports_vartime(const sotto_randomizer *r, const uint8_t *report,
                                       uint64_t value);

/* "one-hot-symmetric", ...: as recipes write it; NULL for what is no kind. */
const char *sotto_randomizer_name(sotto_randomizer_kind kind);

#endif
