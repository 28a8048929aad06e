#include "account/numeric/root.h"
#include "support/test.h"

typedef struct line {
    double at, width;
    int asked;
    bool steered;
} line;

/* log(at/x), known within width. */
static sotto_point falling(const void *self, double x)
{
    line *l = (line *)(uintptr_t)self;
    double y = log(l->at / x);

    l->asked++;
    return (sotto_point){{y - l->width, y + l->width}, l->steered ? -1 / x : 0};
}

static void roots_are_enclosed_at_every_scale(sotto_test *t)
{
    for (double at = 1e-200; at < 1e200; at *= 1e7) {
        line l = {at, 1e-14, 0, true};
        sotto_bound b = {0, 0};

        sotto_root_enclose(&b, falling, &l, 0, 0, at * 1e30);
        CHECK(t, b.low < at && at < b.high);
        CHECK_NEAR(t, 2e-9, b.high / b.low - 1, 1e-10);
        CHECK(t, l.asked < 120);
    }
}

static void without_a_slope_halving_finds_it_too(sotto_test *t)
{
    line l = {3, 1e-14, 0, false};
    sotto_bound b = {0, 0};

    sotto_root_enclose(&b, falling, &l, 0, 0, 1e6);
    CHECK(t, b.low < 3 && 3 < b.high && b.high / b.low - 1 < 3e-9);
    CHECK(t, l.asked <= 224);
}

static void a_curve_that_is_not_known_well_gives_a_wider_answer(sotto_test *t)
{
    line l = {3, 1e-5, 0, true};
    sotto_bound b = {0, 0};

    sotto_root_enclose(&b, falling, &l, 0, 0, 100);
    CHECK(t, b.low <= 3 * (1 - 1e-5) && b.high >= 3 * (1 + 1e-5));
    CHECK(t, b.high / b.low - 1 < 1e-3);
}

static void a_curve_that_is_not_known_at_all_gives_back_the_question(sotto_test *t)
{
    line l = {3, INFINITY, 0, true};
    sotto_bound b = {0, 0};

    sotto_root_enclose(&b, falling, &l, 0, 0.5, 100);
    CHECK(t, b.low == 0.5 && b.high == 100);
    CHECK(t, l.asked <= 224);
}

static sotto_point too_steep(const void *self, double x)
{
    sotto_point p = falling(self, x);

    p.slope *= 3e13; /* steps of a few 1e-13: as if it had arrived */
    return p;
}

static void a_wrong_slope_is_seen_through(sotto_test *t)
{
    line l = {3, 1e-14, 0, true};
    sotto_bound b = {0, 0};

    sotto_root_enclose(&b, too_steep, &l, 0, 0, 1e6);
    CHECK(t, b.low < 3 && 3 < b.high && b.high / b.low - 1 < 3e-9);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(roots_are_enclosed_at_every_scale),
        CASE(without_a_slope_halving_finds_it_too),
        CASE(a_curve_that_is_not_known_well_gives_a_wider_answer),
        CASE(a_curve_that_is_not_known_at_all_gives_back_the_question),
        CASE(a_wrong_slope_is_seen_through),
    };
    return RUN_TESTS(argc, argv, cases);
}
