#include "recipe/calendar.h"

#include "support/test.h"

#include <string.h>

static void times_are_read_and_written(sotto_test *t)
{
    static const struct {
        const char *text;
        int64_t seconds;
    } times[] = {{"1970-01-01T00:00:00Z", 0},
                 {"2000-02-29T23:59:59Z", 951868799},
                 {"2026-11-20T00:00:00Z", 1795132800},
                 {"2038-01-19T03:14:08Z", 2147483648},
                 {"9999-12-31T23:59:59Z", 253402300799}};
    char text[SOTTO_CALENDAR_TEXT];
    int64_t seconds;

    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        CHECK(t, sotto_calendar_parse_time(&seconds, times[i].text));
        CHECK_EQUAL(t, times[i].seconds, seconds);
        sotto_calendar_format_time(text, seconds);
        CHECK(t, strcmp(text, times[i].text) == 0);
    }
}

static void times_that_never_were_are_refused(sotto_test *t)
{
    static const char *const texts[] = {
        "",
        "2026-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-01-00T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z",
        "2026-01-01T00:00:60Z",
        "1969-12-31T23:59:59Z",
        "2026-01-01 00:00:00Z",
        "2026-01-01T00:00:00",
        "2026-01-01T00:00:00+01:00",
        "2026-01-01T00:00:00.5Z",
        "+026-01-01T00:00:00Z",
    };
    int64_t seconds;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        CHECK(t, !sotto_calendar_parse_time(&seconds, texts[i]));
}

static void durations_have_one_unit(sotto_test *t)
{
    uint64_t seconds;

    CHECK(t, sotto_calendar_parse_duration(&seconds, "90s") && seconds == 90);
    CHECK(t, sotto_calendar_parse_duration(&seconds, "10m") && seconds == 600);
    CHECK(t, sotto_calendar_parse_duration(&seconds, "1h") && seconds == 3600);
    CHECK(t, sotto_calendar_parse_duration(&seconds, "7d") && seconds == 604800);
    CHECK(t, !sotto_calendar_parse_duration(&seconds, "0s"));
    CHECK(t, !sotto_calendar_parse_duration(&seconds, "h"));
    CHECK(t, !sotto_calendar_parse_duration(&seconds, "1"));
    CHECK(t, !sotto_calendar_parse_duration(&seconds, "1w"));
    CHECK(t, !sotto_calendar_parse_duration(&seconds, "-1h"));
    CHECK(t, !sotto_calendar_parse_duration(&seconds, "1h30m"));
    CHECK(t, !sotto_calendar_parse_duration(&seconds, "9999999999d"));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(times_are_read_and_written),
        CASE(times_that_never_were_are_refused),
        CASE(durations_have_one_unit),
    };

    return RUN_TESTS(argc, argv, cases);
}
