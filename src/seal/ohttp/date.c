#include "seal/ohttp/date.h"

#include <string.h>

enum { DAY = 86400 };

static const int64_t LAST = 253402300799; /* of the year 9999 */

/* Days since 1970 into a date of the Gregorian calendar: years begin with March, so that the leap day is their last. */
static void split_days(int64_t days, unsigned *year, unsigned *month, unsigned *day)
{
    const int64_t z = days + 719468, era = z / 146097, of_era = z % 146097;
    const int64_t y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    const int64_t of_year = of_era - (365 * y + y / 4 - y / 100), m = (5 * of_year + 2) / 153;

    *day = (unsigned)(of_year - (153 * m + 2) / 5 + 1);
    *month = (unsigned)(m < 10 ? m + 3 : m - 9);
    *year = (unsigned)(y + era * 400 + (*month <= 2));
}

static void put_digits(char *out, unsigned value, unsigned count)
{
    for (; count > 0; value /= 10)
        out[--count] = (char)('0' + value % 10);
}

void sotto_http_date_write(char out[SOTTO_HTTP_DATE], int64_t seconds)
{
    static const char days[] = "ThuFriSatSunMonTueWed";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    unsigned year, month, day;

    seconds = seconds < 0 ? 0 : seconds > LAST ? LAST : seconds;
    split_days(seconds / DAY, &year, &month, &day);
    const unsigned of_day = (unsigned)(seconds % DAY);
    memcpy(out, "..., .. ... .... ..:..:.. GMT", SOTTO_HTTP_DATE);
    memcpy(out, days + 3 * (seconds / DAY % 7), 3);
    put_digits(out + 5, day, 2);
    memcpy(out + 8, months + 3 * (month - 1), 3);
    put_digits(out + 12, year, 4);
    put_digits(out + 17, of_day / 3600, 2);
    put_digits(out + 20, of_day / 60 % 60, 2);
    put_digits(out + 23, of_day % 60, 2);
}

static int64_t digits_of(const uint8_t *text, unsigned count)
{
    int64_t value = 0;

    for (unsigned i = 0; i < count; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        value = 10 * value + (text[i] - '0');
    }
    return value;
}

static int64_t month_of(const uint8_t *text)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

    for (int64_t i = 0; i < 12; i++)
        if (memcmp(months + 3 * i, text, 3) == 0)
            return i + 1;
    return 0;
}

/* Whatever is out of its range comes out as another date, which the text is compared with. */
sotto_status sotto_http_date_read(int64_t *seconds, sotto_bytes text, sotto_err *err)
{
    char again[SOTTO_HTTP_DATE];

    *seconds = 0;
    if (text.len == SOTTO_HTTP_DATE) {
        const uint8_t *at = text.data;
        const int64_t month = month_of(at + 8), year = digits_of(at + 12, 4) - (month <= 2);
        const int64_t era = year / 400, of_era = year % 400, m = month > 2 ? month - 3 : month + 9;
        const int64_t of_year = (153 * m + 2) / 5 + digits_of(at + 5, 2) - 1;
        const int64_t days =
            era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;

        *seconds = days * DAY + digits_of(at + 17, 2) * 3600 + digits_of(at + 20, 2) * 60 +
                   digits_of(at + 23, 2);
        sotto_http_date_write(again, *seconds);
        if (sotto_bytes_equal_vartime(text, sotto_bytes_of(again, sizeof again)))
            return SOTTO_OK;
    }
    return sotto_fail(err, SOTTO_MALFORMED, "date: not as HTTP writes it");
}
