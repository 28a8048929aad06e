/* support/number.h - numbers as people write them, read strictly.
 *
 * strtod alone takes "0x1p3", "nan", "inf" and " 7 days": here only a whole decimal number is one.
 */
#ifndef SOTTO_APPS_NUMBER_H
#define SOTTO_APPS_NUMBER_H

#include "sotto/base.h"

/* What a number that no double equals becomes. A bound is only one if its inputs err the safe way:
 * noise and delta down, rates and epsilons up. */
typedef enum sotto_rounding {
    SOTTO_ROUND_NEAREST,
    SOTTO_ROUND_UP,
    SOTTO_ROUND_DOWN
} sotto_rounding;

/* SOTTO_MALFORMED, naming `what`, unless text is one finite decimal number. */
SOTTO_MUST_USE sotto_status sotto_number_read(double *out, const char *text,
                                              sotto_rounding rounding, const char *what,
                                              sotto_err *err);

#endif
