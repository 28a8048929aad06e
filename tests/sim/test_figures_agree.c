/* Whether a panel of `sotto sim figures` agrees with its simulation. */
#include "figures.h"

#include "support/test.h"

#include <math.h>

static figure_panel panel;
static figure_series *curve, *dots;

static void begin(sotto_test *t)
{
    panel = (figure_panel){.count = 0};
    CHECK_OK(t, figure_add(&panel, &curve, "curve", 0, &t->err));
    CHECK_OK(t, figure_add(&panel, &dots, "curve, simulated", 0, &t->err));
    curve->points[curve->count++] = (sotto_curve_point){1, 2, 2, true};
}

static void points_within_five_percent_agree(sotto_test *t)
{
    begin(t);
    CHECK(t, figure_agrees(&panel)); /* closed forms alone */
    figure_simulated(&panel, dots, 1, 2.09, 2);
    figure_simulated(&panel, dots, 1, 1.91, 2);
    CHECK_EQUAL(t, 2, panel.simulated);
    CHECK(t, figure_agrees(&panel));
    figure_simulated(&panel, dots, 1, 2.11, 2);
    CHECK(t, !figure_agrees(&panel));
}

/* Whatever comes before and after it. */
static void a_point_that_is_no_number_does_not_agree(sotto_test *t)
{
    static const double bad[][2] = {{NAN, 2}, {2, NAN}, {INFINITY, 2}, {INFINITY, INFINITY},
                                    {2, 0},   {0, 0},   {0, 2},        {-2, -2}};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        for (int order = 0; order < 2; order++) {
            begin(t);
            if (order == 0)
                figure_simulated(&panel, dots, 1, 2, 2);
            figure_simulated(&panel, dots, 1, bad[i][0], bad[i][1]);
            if (order == 1)
                figure_simulated(&panel, dots, 1, 2, 2);
            CHECK(t, !figure_agrees(&panel));
            CHECK(t, isinf(panel.apart));
        }
}

static void a_curve_that_is_no_number_does_not_agree(sotto_test *t)
{
    static const double bad[] = {NAN, INFINITY, 0, -1};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        begin(t);
        figure_simulated(&panel, dots, 1, 2, 2);
        curve->points[0] = (sotto_curve_point){1, bad[i], bad[i], true};
        CHECK(t, !figure_agrees(&panel));
    }
}

static void more_points_than_are_drawn_still_count(sotto_test *t)
{
    begin(t);
    for (int i = 0; i < FIGURE_POINTS; i++)
        figure_simulated(&panel, dots, 1, 2, 2);
    figure_simulated(&panel, dots, 1, 3, 2);
    CHECK_EQUAL(t, FIGURE_POINTS, panel.simulated);
    CHECK(t, !figure_agrees(&panel));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(points_within_five_percent_agree),
        CASE(a_point_that_is_no_number_does_not_agree),
        CASE(a_curve_that_is_no_number_does_not_agree),
        CASE(more_points_than_are_drawn_still_count),
    };

    return RUN_TESTS(argc, argv, cases);
}
