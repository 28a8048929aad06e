/* account/numeric/decimal.h - budgets as people write them: whole units of 1e-12, so that 0.1 + 0.2 fits in 0.3.
 *
 * Callers:  policies, recipes and ledgers, for epsilons, deltas and their limits.
 * Range:    0 to 18446744.073709551615. There are no negative budgets, and no NaN.
 */
#ifndef SOTTO_ACCOUNT_NUMERIC_DECIMAL_H
#define SOTTO_ACCOUNT_NUMERIC_DECIMAL_H

#include "sotto/base.h"

#define SOTTO_DECIMAL_UNIT 1e-12
#define SOTTO_DECIMAL_TEXT 24 /* bytes that sotto_decimal_format may write, the ending 0 included */

typedef struct sotto_decimal {
    uint64_t units;
} sotto_decimal;

/* What becomes of digits beyond the twelfth: a spend is rounded up, a limit down. */
typedef enum sotto_decimal_rounding {
    SOTTO_DECIMAL_EXACT, /* refused */
    SOTTO_DECIMAL_UP,
    SOTTO_DECIMAL_DOWN
} sotto_decimal_rounding;

/* digits [. digits] [e [+-] digits], with a digit on either side of the point; at most 64 bytes.
 *   SOTTO_MALFORMED  anything else, signs, "nan" and "inf" among it; or digits that had to be exact
 *   SOTTO_TOO_LARGE  above the range */
SOTTO_MUST_USE sotto_status sotto_decimal_parse(sotto_decimal *out, sotto_bytes text,
                                                sotto_decimal_rounding rounding, sotto_err *err);

/* a + b; SOTTO_TOO_LARGE above the range, out then untouched. */
SOTTO_MUST_USE sotto_status sotto_decimal_add(sotto_decimal *out, sotto_decimal a, sotto_decimal b,
                                              sotto_err *err);

/* Whether a + b <= limit; an overflow doesn't. */
bool sotto_decimal_fits(sotto_decimal a, sotto_decimal b, sotto_decimal limit);

/* The nearest double above (or below), where the decimal isn't one. */
double sotto_decimal_up(sotto_decimal d);
double sotto_decimal_down(sotto_decimal d);

/* The shortest text that parses back to d. */
void sotto_decimal_format(char out[SOTTO_DECIMAL_TEXT], sotto_decimal d);

#endif
