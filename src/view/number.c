/* Numbers as programs read them: the same bytes in every locale. */
#include "view/text.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENOUGH_DIGITS = 15, ALL_DIGITS = 17 };

void sotto_number_unlocalise(char *text)
{
    char *to = text;

    for (const char *at = text; *at; at++) {
        if (strchr("0123456789-+e", *at))
            *to++ = *at;
        else if (to == text || to[-1] != '.')
            *to++ = '.';
    }
    *to = 0;
}

/* "1e-06" and "1e+20" are written as 1e-6 and 1e20. */
static void shorten_exponent(char *text)
{
    char *e = strchr(text, 'e');

    if (!e)
        return;
    char *to = e + 1;
    const char *from = to + (*to == '-' || *to == '+');
    if (*to == '-')
        to++;
    while (*from == '0' && from[1])
        from++;
    memmove(to, from, strlen(from) + 1);
}

void sotto_number_format(char out[SOTTO_NUMBER_TEXT], double x)
{
    /* A decimal of 15 digits or fewer that reads as x is what 15 digits print; below DBL_MIN a double has less precision. */
    int digits = fabs(x) < DBL_MIN ? 1 : ENOUGH_DIGITS;

    if (x == 0) {
        (void)snprintf(out, SOTTO_NUMBER_TEXT, "0");
        return;
    }
    for (; digits <= ALL_DIGITS; digits++) {
        (void)snprintf(out, SOTTO_NUMBER_TEXT, "%.*g", digits, x);
        if (strtod(out, NULL) == x)
            break;
    }
    sotto_number_unlocalise(out);
    shorten_exponent(out);
}

void sotto_number_fixed(char out[SOTTO_NUMBER_TEXT], double x, int digits)
{
    (void)snprintf(out, SOTTO_NUMBER_TEXT, "%.*f", digits, x);
    sotto_number_unlocalise(out);
    if (out[0] == '-' && strspn(out, "-0.") == strlen(out))
        memmove(out, out + 1, strlen(out));
}
