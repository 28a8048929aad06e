#include "number.h"

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 64 };

static bool is_decimal(const char *text)
{
    size_t at = text[0] == '-' || text[0] == '+' ? 1 : 0;
    size_t digits = strspn(text + at, "0123456789");

    at += digits;
    if (text[at] == '.') {
        size_t more = strspn(text + at + 1, "0123456789");
        digits += more;
        at += 1 + more;
    }
    if (digits == 0)
        return false;
    if (text[at] == 'e' || text[at] == 'E') {
        at += text[at + 1] == '-' || text[at + 1] == '+' ? 2 : 1;
        size_t exponent = strspn(text + at, "0123456789");
        if (exponent == 0)
            return false;
        at += exponent;
    }
    return text[at] == 0;
}

/* strtod rounds as arithmetic does at the moment: to the number itself where it is a double, else to a neighbour. */
static double read_rounded(const char *text, sotto_rounding rounding)
{
    static const int directions[] = {
        [SOTTO_ROUND_NEAREST] = FE_TONEAREST,
        [SOTTO_ROUND_UP] = FE_UPWARD,
        [SOTTO_ROUND_DOWN] = FE_DOWNWARD,
    };
    int before = fegetround();

    (void)fesetround(directions[rounding]);
    double x = strtod(text, NULL);
    (void)fesetround(before);
    return x;
}

sotto_status sotto_number_read(double *out, const char *text, sotto_rounding rounding,
                               const char *what, sotto_err *err)
{
    if (text[0] == 0)
        return sotto_fail(err, SOTTO_MALFORMED, "%s is empty", what);
    if (strlen(text) > LONGEST || !is_decimal(text))
        return sotto_fail(err, SOTTO_MALFORMED, "%s: '%.40s' is not a decimal number", what, text);
    double x = read_rounded(text, rounding);
    if (!isfinite(x) || fabs(x) == DBL_MAX)
        return sotto_fail(err, SOTTO_MALFORMED, "%s: %.40s is too large", what, text);
    *out = x;
    return SOTTO_OK;
}
