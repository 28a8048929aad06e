#include "view/curve.h"

#include "xml.h"

#include <string.h>

static char memory[1 << 15];

static const sotto_curve_point points[] = {
    {0.125, 1, 2, true}, {0.25, 0.1 + 0.2, 4, true}, {0.5, 0, 0, false}, {1, 7, 8, true}};

static sotto_curve_plot plot = {.x_name = "rate",
                                .y_name = "epsilon",
                                .title = "a <title> & \"more\"",
                                .others = "delta 1e-06",
                                .points = points,
                                .count = 4};

static sotto_bytes show(sotto_test *t, sotto_view_format format)
{
    sotto_buf out = sotto_buf_over(memory, sizeof memory - 1);
    sotto_view view = sotto_view_into(&out, format);

    CHECK_OK(t, sotto_view_curve(&view, &plot, &t->err));
    memory[out.len] = 0;
    return sotto_buf_bytes(&out);
}

static void csv_has_a_line_for_each_point(sotto_test *t)
{
    (void)show(t, SOTTO_VIEW_CSV);
    CHECK(t, strcmp(memory, "rate,low,high\n0.125,1,2\n0.25,0.30000000000000004,4\n0.5,NA,NA\n"
                            "1,7,8\n") == 0);
}

static void svg_is_valid_and_a_refusal_interrupts_its_line(sotto_test *t)
{
    sotto_bytes svg = show(t, SOTTO_VIEW_SVG);

    sotto_test_svg(t, svg);
    CHECK(t, strstr(memory, "a &#60;title&#62; &#38; "));
    CHECK_EQUAL(t, 1, sotto_test_count(svg, "<path class=\"curve\" d=\"M90.00 "));
    CHECK_EQUAL(t, 1, sotto_test_count(svg, " M700.00 "));
    CHECK_EQUAL(t, 3, sotto_test_count(svg, "<circle class=\"mark\""));
    CHECK_EQUAL(t, 1, sotto_test_count(svg, "x refused"));
    CHECK(t, strstr(memory, ">0.125</text>") && strstr(memory, ">0.5</text>"));
}

static void a_terminal_shows_it_in_characters(sotto_test *t)
{
    sotto_bytes text = show(t, SOTTO_VIEW_TEXT);

    CHECK(t, strstr(memory, "epsilon against rate (x: refused)\n"));
    CHECK_EQUAL(t, 3, sotto_test_count(text, "*"));

    plot.count = 2; /* which were both answered */
    (void)show(t, SOTTO_VIEW_TEXT);
    plot.count = 4;
    CHECK(t, strstr(memory, "epsilon against rate\n"));
}

static void a_curve_has_no_json(sotto_test *t)
{
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_view view = sotto_view_into(&out, SOTTO_VIEW_JSON);

    CHECK_STATUS(t, SOTTO_DENIED, sotto_view_curve(&view, &plot, &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(csv_has_a_line_for_each_point),
        CASE(svg_is_valid_and_a_refusal_interrupts_its_line),
        CASE(a_terminal_shows_it_in_characters),
        CASE(a_curve_has_no_json),
    };

    return RUN_TESTS(argc, argv, cases);
}
