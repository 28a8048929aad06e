#include "view/text.h"
#include "view/view.h"

#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void format_is(sotto_test *t, const char *wanted, double x)
{
    char text[SOTTO_NUMBER_TEXT];

    sotto_number_format(text, x);
    if (strcmp(wanted, text) != 0)
        (void)fprintf(stderr, "%s instead of %s\n", text, wanted);
    CHECK(t, strcmp(wanted, text) == 0);
}

static void numbers_are_the_shortest_that_read_back(sotto_test *t)
{
    format_is(t, "4", 4);
    format_is(t, "0.1", 0.1);
    format_is(t, "0.30000000000000004", 0.1 + 0.2);
    format_is(t, "-2.5", -2.5);
    format_is(t, "1e-6", 1e-6);
    format_is(t, "1e300", 1e300);
    format_is(t, "1.7976931348623157e308", 1.7976931348623157e308);
    format_is(t, "2.2250738585072014e-308", 2.2250738585072014e-308);
    format_is(t, "5e-324", 5e-324);
    format_is(t, "123456789012345", 123456789012345);
}

static void zero_has_no_sign(sotto_test *t)
{
    char text[SOTTO_NUMBER_TEXT];

    format_is(t, "0", 0);
    format_is(t, "0", -0.0);
    sotto_number_fixed(text, -0.04, 1);
    CHECK(t, strcmp(text, "0.0") == 0);
    sotto_number_fixed(text, -0.4, 0);
    CHECK(t, strcmp(text, "0") == 0);
    sotto_number_fixed(text, -1.25, 1);
    CHECK(t, strcmp(text, "-1.2") == 0);
}

static void every_double_reads_back(sotto_test *t)
{
    uint64_t state = 20261120;

    for (int i = 0; i < 50000; i++) {
        char text[SOTTO_NUMBER_TEXT];
        double x;

        state = state * 6364136223846793005U + 1442695040888963407U;
        uint64_t bits = state ^ state >> 29;
        memcpy(&x, &bits, sizeof x);
        if (!isfinite(x))
            continue;
        sotto_number_format(text, x);
        CHECK(t, strtod(text, NULL) == x);
        CHECK(t, strspn(text, "0123456789.e-") == strlen(text));
    }
}

/* A host application may have set any locale. */
static void a_comma_of_the_locale_becomes_a_point(sotto_test *t)
{
    char german[] = "-12,5e-07", arabic[] = "0\xd9\xab"
                                            "25";

    sotto_number_unlocalise(german);
    CHECK(t, strcmp(german, "-12.5e-07") == 0);
    sotto_number_unlocalise(arabic);
    CHECK(t, strcmp(arabic, "0.25") == 0);
}

static size_t plain(char out[200], const char *text, size_t len)
{
    sotto_buf buf = sotto_buf_over(out, 199);
    sotto_view view = sotto_view_into(&buf, SOTTO_VIEW_TEXT);
    sotto_text to = sotto_text_on(view.write, view.context, NULL);
    size_t columns = sotto_text_plain(&to, sotto_bytes_of(text, len));

    out[buf.len] = 0;
    return columns;
}

static void nothing_in_a_text_moves_a_cursor(sotto_test *t)
{
    static const char evil[] = "a\x1b[2Jb\xc2\x9b"
                               "1mc\x7f";
    char out[200];
    size_t columns = plain(out, evil, sizeof evil - 1);

    CHECK(t, strcmp(out, "a\\x1b[2Jb\\xc2\\x9b1mc\\x7f") == 0);
    CHECK_EQUAL(t, strlen(out), columns);
    CHECK_EQUAL(t, columns, sotto_text_columns(sotto_bytes_of(evil, sizeof evil - 1)));
    CHECK_EQUAL(t, 5, plain(out, "caf\xc3\xa9!", 6));
    CHECK(t, strcmp(out, "caf\xc3\xa9!") == 0);
}

static void bytes_that_are_no_utf8_are_replaced(sotto_test *t)
{
    static const char *const wrong[] = {
        "\xff",     "\xc0\xaf", "\xe0\x80\x80",        "\xed\xa0\x80", "\xf4\x90\x80\x80",
        "\xe2\x82", "\x80",     "\xf8\x88\x80\x80\x80"};
    char out[200];

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        (void)plain(out, wrong[i], strlen(wrong[i]));
        CHECK(t, strncmp(out, "\xef\xbf\xbd", 3) == 0);
    }
    (void)plain(out, "\xf0\x9f\x98\x80\xe2\x82\xac", 7);
    CHECK(t, strcmp(out, "\xf0\x9f\x98\x80\xe2\x82\xac") == 0);
}

static void what_is_read_off_a_screen_is_true(sotto_test *t)
{
    char out[64] = "";
    sotto_buf buf = sotto_buf_over(out, sizeof out - 1);
    sotto_view view = sotto_view_into(&buf, SOTTO_VIEW_TEXT);
    sotto_text to = sotto_text_on(view.write, view.context, NULL);

    sotto_text_up(&to, 1.00000001, 4);
    sotto_text_say(&to, " ");
    sotto_text_down(&to, 1.9999999, 4);
    CHECK(t, strcmp(out, "1.001 1.999") == 0);
}

static void no_cell_of_a_table_is_a_formula(sotto_test *t)
{
    static const char *const cells[][2] = {{"=1+1", "'=1+1"},
                                           {"@SUM(A1)", "'@SUM(A1)"},
                                           {"+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"},
                                           {"-a", "'-a"},
                                           {"-", "'-"},
                                           {"-5 | =x", "'-5 | =x"},
                                           {"=HYPERLINK(\"a\",1)", "\"'=HYPERLINK(\"\"a\"\",1)\""},
                                           {"-12.5", "-12.5"},
                                           {"-1e-05", "-1e-05"},
                                           {"+49", "+49"},
                                           {"-1e", "'-1e"},
                                           {"-2+3", "'-2+3"},
                                           {"-.", "'-."},
                                           {"=49", "'=49"},
                                           {"\tx", "'\tx"},
                                           {"\r=1", "\"'\r=1\""},
                                           {"'=1", "''=1"},
                                           {"'tis", "'tis"},
                                           {"a=b", "a=b"},
                                           {"", ""}};

    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
        char out[64] = "";
        sotto_buf buf = sotto_buf_over(out, sizeof out - 1);
        sotto_view view = sotto_view_into(&buf, SOTTO_VIEW_CSV);
        sotto_text to = sotto_text_on(view.write, view.context, NULL);

        sotto_text_csv(&to, sotto_bytes_of(cells[i][0], strlen(cells[i][0])));
        CHECK_OK(t, sotto_text_finish(&to));
        CHECK(t, strcmp(out, cells[i][1]) == 0);
    }
}

static sotto_status fail_third(void *context, sotto_bytes text, sotto_err *err)
{
    int *calls = context;

    (void)text;
    return ++*calls == 3 ? sotto_fail(err, SOTTO_IO, "full") : SOTTO_OK;
}

static void a_text_stops_at_its_first_failure(sotto_test *t)
{
    int calls = 0;
    sotto_text to = sotto_text_on(fail_third, &calls, &t->err);
    char longer[5000];

    for (int i = 0; i < 10; i++)
        sotto_text_say(&to, "line %d\n", i);
    CHECK_EQUAL(t, 3, calls);
    CHECK_EQUAL(t, SOTTO_IO, sotto_text_finish(&to));
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    to = sotto_text_on(fail_third, &calls, NULL);
    sotto_text_say(&to, "%s", longer);
    CHECK_EQUAL(t, SOTTO_TOO_LARGE, sotto_text_finish(&to));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(numbers_are_the_shortest_that_read_back),
        CASE(zero_has_no_sign),
        CASE(every_double_reads_back),
        CASE(a_comma_of_the_locale_becomes_a_point),
        CASE(nothing_in_a_text_moves_a_cursor),
        CASE(bytes_that_are_no_utf8_are_replaced),
        CASE(what_is_read_off_a_screen_is_true),
        CASE(no_cell_of_a_table_is_a_formula),
        CASE(a_text_stops_at_its_first_failure),
    };

    return RUN_TESTS(argc, argv, cases);
}
