/* Days are counted from 1 March, so that the leap day is a year's last. */
#include "recipe/calendar.h"

#include <stdio.h>
#include <string.h>

static int64_t days_from(int64_t year, int64_t month, int64_t day)
{
    int64_t y = month > 2 ? year : year - 1, m = month > 2 ? month - 3 : month + 9;

    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

static bool leap(int64_t year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int64_t days_in(int64_t year, int64_t month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    return days[month - 1] + (month == 2 && leap(year) ? 1 : 0);
}

static int64_t digits(const char *text, size_t count)
{
    int64_t value = 0;

    for (size_t i = 0; i < count; i++)
        value = 10 * value + (text[i] - '0');
    return value;
}

bool sotto_calendar_parse_time(int64_t *seconds, const char *text)
{
    static const char shape[] = "0000-00-00T00:00:00Z";

    if (strlen(text) != sizeof shape - 1)
        return false;
    for (size_t i = 0; i < sizeof shape - 1; i++)
        if (shape[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != shape[i])
            return false;
    int64_t year = digits(text, 4), month = digits(text + 5, 2), day = digits(text + 8, 2);
    int64_t hour = digits(text + 11, 2), minute = digits(text + 14, 2),
            second = digits(text + 17, 2);

    if (year < 1970 || month < 1 || month > 12 || day < 1 || day > days_in(year, month) ||
        hour > 23 || minute > 59 || second > 59)
        return false;
    *seconds = 86400 * days_from(year, month, day) + 3600 * hour + 60 * minute + second;
    return true;
}

void sotto_calendar_format_time(char out[SOTTO_CALENDAR_TEXT], int64_t seconds)
{
    int64_t days = seconds / 86400, rest = seconds % 86400, year = 1970, month = 1;

    while (days >= 365 + leap(year)) {
        days -= 365 + leap(year);
        year++;
    }
    for (; days >= days_in(year, month); month++)
        days -= days_in(year, month);
    (void)snprintf(out, SOTTO_CALENDAR_TEXT, "%04u-%02u-%02uT%02u:%02u:%02uZ",
                   (unsigned)year % 10000, (unsigned)month % 100, (unsigned)(days + 1) % 100,
                   (unsigned)(rest / 3600) % 100, (unsigned)(rest / 60 % 60),
                   (unsigned)(rest % 60));
}

bool sotto_calendar_parse_duration(uint64_t *seconds, const char *text)
{
    size_t count = strspn(text, "0123456789");
    uint64_t unit;

    if (count < 1 || count > 9 || strlen(text) != count + 1)
        return false;
    switch (text[count]) {
    case 's':
        unit = 1;
        break;
    case 'm':
        unit = 60;
        break;
    case 'h':
        unit = 3600;
        break;
    case 'd':
        unit = 86400;
        break;
    default:
        return false;
    }
    *seconds = unit * (uint64_t)digits(text, count);
    return *seconds > 0;
}
