#include "account/gauss/contour.h"
#include "support/test.h"

/* One node, so that the sum is its own: only what the cap owes `low` is looked at. */
static void a_capped_law_says_nothing_from_below_beyond_its_reach(sotto_test *t)
{
    double re = 0.01, im = 0;
    sotto_contour line = {.c = 1, .step = 0.01, .nodes = 1, .re = &re, .im = &im};
    line.terms = SOTTO_CONTOUR_TERMS;
    line.aliases = 1;
    line.alias_c[0] = 2;
    double plain = exp(sotto_contour_log_delta(&line, 0.4).low);

    line.capped = true;
    line.sure_until = 0.5;
    line.sure = 0.003;
    CHECK_NEAR(t, plain + 0.003, exp(sotto_contour_log_delta(&line, 0.4).low), 1e-9);
    CHECK(t, sotto_contour_log_delta(&line, 0.6).low == -INFINITY);
    line.sure = -0.001; /* the law capped may exceed the law itself */
    CHECK_NEAR(t, plain - 0.001, exp(sotto_contour_log_delta(&line, 0.4).low), 1e-9);
    line.sure = -1;
    CHECK(t, sotto_contour_log_delta(&line, 0.4).low == -INFINITY);
}

/* One node again: log delta is -c eps, and where the lattice lies is known to 0.7 of its spacing. */
static void a_lattice_says_from_below_what_holds_wherever_it_may_lie(sotto_test *t)
{
    double re = 0.01, im = 0;
    sotto_contour line = {.c = 1, .step = 0.01, .nodes = 1, .re = &re, .im = &im};
    line.terms = SOTTO_CONTOUR_TERMS;
    line.aliases = 1;
    line.alias_c[0] = 2;
    line.lattice = 1;
    line.origin_error = 0.7;

    /* 2.9 to 4.3: up to the loss 4 is not far enough. */
    CHECK(t, sotto_contour_log_delta(&line, 3.6).low == -INFINITY);
    /* 2.1 to 3.5: the loss 4 speaks for them all. */
    CHECK_NEAR(t, log(0.01) - 4, sotto_contour_log_delta(&line, 2.8).low, 1e-9);
    /* 2.9 to 4.3, from above: between the losses 2 and 3. */
    double high = sotto_contour_log_delta(&line, 3.6).high;
    CHECK(t, high >= log(0.01) - 2.9 && high < log(0.01) - 2);
}

/* e^800 is no double. */
static void a_lattice_is_read_between_losses_of_any_spacing(sotto_test *t)
{
    double re = 0.01, im = 0;
    sotto_contour line = {.c = 1e-3, .step = 1e-6, .nodes = 1, .re = &re, .im = &im};
    line.terms = SOTTO_CONTOUR_TERMS;
    line.aliases = 1;
    line.alias_c[0] = 2;
    line.lattice = 800;
    double at = sotto_contour_log_delta(&line, 800).high;

    CHECK_NEAR(t, log(0.01) - 0.8, at, 1e-9);
    CHECK_NEAR(t, log(0.01), sotto_contour_log_delta(&line, 400).high, 1e-9);
    CHECK(t, sotto_contour_log_delta(&line, 799.5).high < log(0.01));
    CHECK(t, sotto_contour_log_delta(&line, 799.5).high > at);
}

/* Half a period of nodes, and the same with most of them left out for a bound on each. */
static void nodes_that_a_lattice_omits_are_charged(sotto_test *t)
{
    enum { ALL = 65, KEPT = 9 };
    double log_modulus[2][ALL], phase[2][ALL], error[2][ALL] = {{0}};
    sotto_contour line[2];

    for (int i = 0; i < 2; i++) {
        for (size_t k = 0; k < ALL; k++) {
            log_modulus[i][k] = k < KEPT ? -0.1 * (double)k : -2;
            phase[i][k] = 0.3 * (double)k;
        }
        line[i] = (sotto_contour){.c = 1, .lattice = 0.1, .re = log_modulus[i], .im = phase[i]};
        line[i].terms = SOTTO_CONTOUR_TERMS;
        line[i].nodes = i == 0 ? ALL : KEPT;
        line[i].omitted = ALL - line[i].nodes;
        line[i].step = 3.14159265358979323846 / (0.1 * (ALL - 1));
        sotto_contour_fill(&line[i], log_modulus[i], phase[i], error[i], -2);
    }
    for (double eps = 0; eps < 3; eps += 0.1)
        CHECK(t, sotto_contour_log_delta(&line[1], eps).high >=
                     sotto_contour_log_delta(&line[0], eps).high - 1e-9);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_capped_law_says_nothing_from_below_beyond_its_reach),
        CASE(a_lattice_says_from_below_what_holds_wherever_it_may_lie),
        CASE(a_lattice_is_read_between_losses_of_any_spacing),
        CASE(nodes_that_a_lattice_omits_are_charged),
    };
    return RUN_TESTS(argc, argv, cases);
}
