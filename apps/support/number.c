#include "number.h"

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

/* Integers below 2^53 are doubles; so is nothing else that can be told cheaply from its digits. */
static bool is_exact(double x)
{
    return x == floor(x) && fabs(x) < 0x1p53;
}

sotto_status sotto_number_read(double *out, const char *text, sotto_rounding rounding,
                               const char *what, sotto_err *err)
{
    if (text[0] == 0)
        return sotto_fail(err, SOTTO_MALFORMED, "%s is empty", what);
    if (strlen(text) > LONGEST || !is_decimal(text))
        return sotto_fail(err, SOTTO_MALFORMED, "%s: '%.40s' is not a decimal number", what, text);
    double x = strtod(text, NULL);
    if (!isfinite(x))
        return sotto_fail(err, SOTTO_MALFORMED, "%s: %.40s is too large", what, text);
    /* 0.99999999999999999999 reads as 1, an integer, and 1e-400 as 0: only digits without a point or an
     * exponent are taken as exact. */
    bool exact = is_exact(x) && strpbrk(text, ".eE") == NULL;
    if (!exact && rounding == SOTTO_ROUND_UP)
        x = nextafter(x, INFINITY);
    if (!exact && rounding == SOTTO_ROUND_DOWN)
        x = nextafter(x, -INFINITY);
    *out = x;
    return SOTTO_OK;
}
