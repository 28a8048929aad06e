#include "account/numeric/decimal.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

static sotto_status parse(sotto_decimal *out, const char *text, sotto_decimal_rounding rounding,
                          sotto_err *err)
{
    return sotto_decimal_parse(out, sotto_bytes_of(text, strlen(text)), rounding, err);
}

static void decimals_are_whole_units(sotto_test *t)
{
    static const struct {
        const char *text;
        uint64_t units;
    } rows[] = {{"0", 0},
                {"1", 1000000000000},
                {"0.1", 100000000000},
                {"1e-6", 1000000},
                {"1E-06", 1000000},
                {"2.5e+1", 25000000000000},
                {"0.000000000001", 1},
                {"00012.50", 12500000000000},
                {"0e9999", 0},
                {"1230e-2", 12300000000000},
                {"1.0000000000000", 1000000000000},
                {"18446744.073709551615", UINT64_MAX}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sotto_decimal d = {7};

        CHECK_OK(t, parse(&d, rows[i].text, SOTTO_DECIMAL_EXACT, &t->err));
        CHECK_EQUAL(t, rows[i].units, d.units);
    }
}

static void a_tenth_and_two_tenths_fit_in_three_tenths(sotto_test *t)
{
    sotto_decimal a, b, limit, sum;

    CHECK_OK(t, parse(&a, "0.1", SOTTO_DECIMAL_EXACT, &t->err));
    CHECK_OK(t, parse(&b, "0.2", SOTTO_DECIMAL_EXACT, &t->err));
    CHECK_OK(t, parse(&limit, "0.3", SOTTO_DECIMAL_EXACT, &t->err));
    CHECK(t, sotto_decimal_fits(a, b, limit));
    CHECK_OK(t, sotto_decimal_add(&sum, a, b, &t->err));
    CHECK_EQUAL(t, limit.units, sum.units);
    sum.units++;
    CHECK(t, !sotto_decimal_fits(sum, (sotto_decimal){0}, limit));
    CHECK(t, 0.1 + 0.2 > 0.3); /* what doubles would have said */
}

static void finer_digits_are_refused_or_rounded_as_asked(sotto_test *t)
{
    sotto_decimal d = {7};

    CHECK_STATUS(t, SOTTO_MALFORMED, parse(&d, "1e-13", SOTTO_DECIMAL_EXACT, &t->err));
    CHECK_EQUAL(t, 7, d.units);
    CHECK_OK(t, parse(&d, "1e-13", SOTTO_DECIMAL_UP, &t->err));
    CHECK_EQUAL(t, 1, d.units);
    CHECK_OK(t, parse(&d, "1e-300", SOTTO_DECIMAL_UP, &t->err));
    CHECK_EQUAL(t, 1, d.units);
    CHECK_OK(t, parse(&d, "0.0000000000019", SOTTO_DECIMAL_DOWN, &t->err));
    CHECK_EQUAL(t, 1, d.units);
    CHECK_STATUS(t, SOTTO_TOO_LARGE,
                 parse(&d, "18446744.0737095516151", SOTTO_DECIMAL_UP, &t->err));
}

static void what_is_no_decimal_is_refused(sotto_test *t)
{
    static const char *const texts[] = {
        "",        "-1",
        "+1",      "nan",
        "inf",     "1.",
        ".5",      "1e",
        "1e+",     " 1",
        "1 ",      "1,5",
        "0x10",    "1.2.3",
        "1e99999", "1e1.5",
        "-0",      "1_0",
        "e5",      "00000000000000000000000000000000000000000000000000000000000000001"};
    sotto_decimal d = {7};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        CHECK_STATUS(t, SOTTO_MALFORMED, parse(&d, texts[i], SOTTO_DECIMAL_UP, &t->err));
        CHECK_EQUAL(t, 7, d.units);
    }
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_decimal_parse(&d, sotto_bytes_of("1\0", 2), SOTTO_DECIMAL_UP, &t->err));
}

static void overflow_is_refused(sotto_test *t)
{
    sotto_decimal d = {7}, top = {UINT64_MAX}, one = {1};

    CHECK_STATUS(t, SOTTO_TOO_LARGE,
                 parse(&d, "18446744.073709551616", SOTTO_DECIMAL_EXACT, &t->err));
    CHECK_STATUS(t, SOTTO_TOO_LARGE, parse(&d, "1e9", SOTTO_DECIMAL_EXACT, &t->err));
    CHECK_STATUS(t, SOTTO_TOO_LARGE, parse(&d, "1e9999", SOTTO_DECIMAL_DOWN, &t->err));
    CHECK_STATUS(t, SOTTO_TOO_LARGE, sotto_decimal_add(&d, top, one, &t->err));
    CHECK_EQUAL(t, 7, d.units);
    CHECK(t, !sotto_decimal_fits(top, one, top));
    CHECK(t, sotto_decimal_fits(top, (sotto_decimal){0}, top));
}

static void doubles_enclose_the_decimal(sotto_test *t)
{
    for (uint64_t units = 1; units < UINT64_C(1) << 62; units = units * 3 + 1) {
        sotto_decimal d = {units};
        long double exact = (long double)units / 1e12L;

        CHECK(t, (long double)sotto_decimal_down(d) <= exact);
        CHECK(t, (long double)sotto_decimal_up(d) >= exact);
        CHECK(t, sotto_decimal_up(d) / sotto_decimal_down(d) - 1 < 2e-15);
    }
    CHECK(t, sotto_decimal_up((sotto_decimal){UINT64_C(3000000000000)}) == 3);
    CHECK(t, sotto_decimal_down((sotto_decimal){0}) == 0);
}

static void text_comes_back_as_it_went(sotto_test *t)
{
    static const char *const texts[] = {
        "0", "0.3", "12", "0.000000000001", "18446744.073709551615", "1.05"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char out[SOTTO_DECIMAL_TEXT];
        sotto_decimal d;

        CHECK_OK(t, parse(&d, texts[i], SOTTO_DECIMAL_EXACT, &t->err));
        sotto_decimal_format(out, d);
        CHECK(t, strcmp(out, texts[i]) == 0);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(decimals_are_whole_units),
        CASE(a_tenth_and_two_tenths_fit_in_three_tenths),
        CASE(finer_digits_are_refused_or_rounded_as_asked),
        CASE(what_is_no_decimal_is_refused),
        CASE(overflow_is_refused),
        CASE(doubles_enclose_the_decimal),
        CASE(text_comes_back_as_it_went),
    };
    return RUN_TESTS(argc, argv, cases);
}
