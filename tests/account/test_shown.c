#include "account/numeric/shown.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_text(sotto_test *t, const char *wanted, double x, int digits)
{
    char text[40];

    (void)snprintf(text, sizeof text, "%.*g", digits, sotto_bound_shown(x, digits));
    if (strcmp(text, wanted) != 0)
        (void)fprintf(stderr, "%.17g is shown as %s, wanted %s\n", x, text, wanted);
    CHECK(t, strcmp(text, wanted) == 0);
}

static void a_bound_is_rounded_up(sotto_test *t)
{
    check_text(t, "0.1874", 0.18734, 4);
    check_text(t, "0.1874", 0.1873000001, 4);
    check_text(t, "1e-06", 9.9999e-7, 3);
    check_text(t, "10", 9.99999, 4);
    check_text(t, "1.001", 1.00001, 4);
}

static void what_is_short_stays(sotto_test *t)
{
    check_text(t, "1.1", 1.1, 4);
    check_text(t, "1.1", nextafter(1.1, 2), 4);
    check_text(t, "1e-06", 1e-6, 3);
    check_text(t, "8", 8, 4);
    check_text(t, "0", 0, 4);
    check_text(t, "inf", INFINITY, 4);
}

static void no_number_is_shown_too_low_or_a_unit_too_high(sotto_test *t)
{
    uint64_t state = 1;

    for (unsigned i = 0; i < 100000; i++) {
        int digits = 1 + (int)(i % 10);
        double x, text;

        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        x = exp((double)(state >> 11) / 9007199254740992.0 * 60 - 40);
        text = sotto_bound_shown(x, digits);
        CHECK(t, text >= x * (1 - 1e-13));
        CHECK(t, text <= x * (1 + 1.0001 * pow(10, 1 - digits)));
    }
}

int main(int argc, char **argv)
{
    const sotto_test_case cases[] = {
        CASE(a_bound_is_rounded_up),
        CASE(what_is_short_stays),
        CASE(no_number_is_shown_too_low_or_a_unit_too_high),
    };

    return RUN_TESTS(argc, argv, cases);
}
