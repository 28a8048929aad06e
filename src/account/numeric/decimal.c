#include "account/numeric/decimal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define PLACES   12
#define PER_ONE  UINT64_C(1000000000000)
#define TEXT_MAX 64

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

/* units * 10 + digit, or false. */
static bool push_digit(uint64_t *units, uint8_t digit)
{
    if (*units > (UINT64_MAX - digit) / 10)
        return false;
    *units = *units * 10 + digit;
    return true;
}

typedef struct scanned {
    uint8_t digits[TEXT_MAX]; /* values, the point left out */
    size_t count;
    long point; /* digits before it, moved by the exponent */
} scanned;

static bool scan_exponent(long *exponent, sotto_bytes text, size_t at)
{
    bool minus = at < text.len && text.data[at] == '-';
    size_t first;

    if (at < text.len && (text.data[at] == '-' || text.data[at] == '+'))
        at++;
    for (first = at; at < text.len && is_digit(text.data[at]) && at - first < 4; at++)
        *exponent = *exponent * 10 + (text.data[at] - '0');
    *exponent = minus ? -*exponent : *exponent;
    return at > first && at == text.len;
}

static bool scan(scanned *s, sotto_bytes text)
{
    size_t at = 0;
    long exponent = 0;

    if (text.len > TEXT_MAX)
        return false;
    for (; at < text.len && is_digit(text.data[at]); at++)
        s->digits[s->count++] = (uint8_t)(text.data[at] - '0');
    s->point = (long)s->count;
    if (s->count > 0 && at < text.len && text.data[at] == '.') {
        size_t first = ++at;

        for (; at < text.len && is_digit(text.data[at]); at++)
            s->digits[s->count++] = (uint8_t)(text.data[at] - '0');
        if (at == first)
            return false;
    }
    if (s->count > 0 && at < text.len && (text.data[at] == 'e' || text.data[at] == 'E')) {
        if (!scan_exponent(&exponent, text, at + 1))
            return false;
        at = text.len;
    }
    s->point += exponent;
    return s->count > 0 && at == text.len;
}

sotto_status sotto_decimal_parse(sotto_decimal *out, sotto_bytes text,
                                 sotto_decimal_rounding rounding, sotto_err *err)
{
    scanned s = {{0}, 0, 0};
    uint64_t units = 0;
    bool rest = false, fits = true;

    if (!scan(&s, text))
        return sotto_fail(
            err, SOTTO_MALFORMED,
            "not a decimal: accepted is like 0.25 or 1e-6, from 0 to 18446744, without a sign");
    long kept = s.point + PLACES; /* digits that are whole units */

    for (size_t i = 0; i < s.count; i++) {
        if ((long)i < kept)
            fits = fits && push_digit(&units, s.digits[i]);
        else
            rest = rest || s.digits[i] != 0;
    }
    for (long i = (long)s.count; i < kept && units > 0 && fits; i++)
        fits = push_digit(&units, 0);
    if (rest && rounding == SOTTO_DECIMAL_EXACT)
        return sotto_fail(err, SOTTO_MALFORMED,
                          "finer than 1e-12: accepted are whole units of 1e-12");
    if (rest && rounding == SOTTO_DECIMAL_UP) {
        fits = fits && units < UINT64_MAX;
        units++;
    }
    if (!fits)
        return sotto_fail(err, SOTTO_TOO_LARGE, "decimal above 18446744.073709551615");
    out->units = units;
    return SOTTO_OK;
}

sotto_status sotto_decimal_add(sotto_decimal *out, sotto_decimal a, sotto_decimal b, sotto_err *err)
{
    if (a.units > UINT64_MAX - b.units)
        return sotto_fail(err, SOTTO_TOO_LARGE, "sum of decimals above 18446744.073709551615");
    out->units = a.units + b.units;
    return SOTTO_OK;
}

bool sotto_decimal_fits(sotto_decimal a, sotto_decimal b, sotto_decimal limit)
{
    return a.units <= limit.units && b.units <= limit.units - a.units;
}

/* units / 1e12 is rounded twice, so within 2 ulp. A whole number is exact: n * 10^12 = n 5^12 * 2^12 with n < 2^25
 * and 5^12 < 2^28 is a double, and so is the quotient. */
static bool is_whole(sotto_decimal d)
{
    return d.units % PER_ONE == 0;
}

double sotto_decimal_up(sotto_decimal d)
{
    double x = (double)d.units / 1e12;

    return is_whole(d) ? x : nextafter(nextafter(x, INFINITY), INFINITY);
}

double sotto_decimal_down(sotto_decimal d)
{
    double x = (double)d.units / 1e12;

    return is_whole(d) ? x : nextafter(nextafter(x, 0), 0);
}

void sotto_decimal_format(char out[SOTTO_DECIMAL_TEXT], sotto_decimal d)
{
    uint64_t whole = d.units / PER_ONE, part = d.units % PER_ONE;
    int len;

    if (part == 0) {
        (void)snprintf(out, SOTTO_DECIMAL_TEXT, "%" PRIu64, whole);
        return;
    }
    len = snprintf(out, SOTTO_DECIMAL_TEXT, "%" PRIu64 ".%012" PRIu64, whole, part);
    while (len > 1 && out[len - 1] == '0')
        out[--len] = '\0';
}
