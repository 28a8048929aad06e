#include "account/gauss/pld.h"
#include "account/gauss/sgm_law.h"
#include "account/gauss/sgm_saddle.h"
#include "account/gauss/sgm_sines.h"
#include "support/test.h"

static const struct {
    double rate, sigma, loss;
} caps[] = {{1e-6, 0.7, 1e-4}, {1e-4, 0.55, 0.3}, {0.02, 1.3, 0.5}, {0.3, 4, 0.2}, {0.97, 20, 0.1}};
#define CAPS (sizeof caps / sizeof caps[0])

static sotto_sgm_law capped(size_t i)
{
    sotto_sgm_law law = sotto_sgm_law_cut(caps[i].rate, caps[i].sigma, false, -60);

    sotto_sgm_law_cap(&law, caps[i].loss);
    return law;
}

/* Of f against the plain Gaussian, by a midpoint rule fine enough for eleven digits. */
static double mean_of(const sotto_sgm_law *law, double from, double to,
                      double (*f)(const sotto_sgm_law *law, double x, double c), double c)
{
    double sum = 0, pace = (to - from) / 400000;

    for (int i = 0; i < 400000; i++) {
        double x = from + pace * (i + 0.5);
        sum += exp(sotto_sgm_log_density(law, x)) * f(law, x, c) * pace;
    }
    return sum;
}

static double above_cap(const sotto_sgm_law *law, double x, double c)
{
    (void)c;
    return exp(sotto_sgm_log_ratio(law, x)) - exp(sotto_sgm_log_ratio(law, law->high));
}

static double grown(const sotto_sgm_law *law, double x, double c)
{
    return exp((c + 1) * sotto_sgm_log_ratio(law, x));
}

static void a_cap_loses_only_what_exceeds_it(sotto_test *t)
{
    for (size_t i = 0; i < CAPS; i++) {
        sotto_sgm_law law = capped(i);
        double far = law.high + 14 * law.sigma;
        double beyond = mean_of(&law, law.high, far, above_cap, 0);
        CHECK(t, law.capped);
        CHECK_NEAR(t, caps[i].loss, sotto_sgm_log_ratio(&law, law.high), 1e-12);
        CHECK_NEAR(t, 1, law.lost / beyond, 1e-7);
        CHECK(t, law.lost >= beyond * (1 - 1e-8) && law.beyond <= beyond * (1 + 1e-8));
        CHECK(t, law.above >= law.lost);
    }
}

static void the_transform_of_a_capped_law_has_the_point_in_it(sotto_test *t)
{
    for (size_t i = 0; i < CAPS; i++) {
        sotto_sgm_law law = capped(i);
        double error = 0, wrong = 0, c = 2 / caps[i].loss;
        double got = sotto_sgm_cumulant(&law, c, &error);
        double point = sotto_sgm_cap_weight(&law, &wrong) * grown(&law, law.high, c);
        double truth = log(mean_of(&law, law.low, law.high, grown, c) + point);
        CHECK(t, fabs(got - truth) <= error + 1e-9);
        CHECK(t, error < 1e-9);
    }
}

/* In one round delta below the cap is that of the whole law: the point and infinity lie on one line with it. */
static void below_the_cap_nothing_changes(sotto_test *t)
{
    for (size_t i = 0; i < CAPS; i++) {
        sotto_sgm_law law = capped(i), whole = law;
        double eps = 0.6 * caps[i].loss, wrong = 0, sum = 0;
        double r = exp(caps[i].loss), far = law.high + 30 * law.sigma;
        whole.high = far;
        for (int part = 0; part < 2; part++) {
            const sotto_sgm_law *l = part ? &whole : &law;
            double pace = (l->high - l->low) / 400000, delta = 0;
            for (int k = 0; k < 400000; k++) {
                double x = l->low + pace * (k + 0.5);
                double gain = exp(sotto_sgm_log_ratio(l, x)) - exp(eps);
                if (gain > 0)
                    delta += exp(sotto_sgm_log_density(l, x)) * gain * pace;
            }
            if (!part)
                sum = delta + sotto_sgm_cap_weight(&law, &wrong) * (r - exp(eps)) + law.lost;
            else
                CHECK_NEAR(t, 1, sum / delta, 2e-5);
        }
    }
}

static void a_law_that_ends_before_the_cap_or_is_added_stays_as_it_is(sotto_test *t)
{
    sotto_sgm_law law = sotto_sgm_law_cut(0.01, 2, false, -40), before = law;

    sotto_sgm_law_cap(&law, 100);
    CHECK(t, !law.capped && law.high == before.high && law.lost == before.lost);
    law = sotto_sgm_law_cut(0.01, 2, true, -40);
    sotto_sgm_law_cap(&law, 1e-3);
    CHECK(t, !law.capped);
}

/* The lattice of a capped law dominates it, whether the rate is tiny or near one. */
static void a_capped_lattice_is_above_the_capped_law(sotto_test *t)
{
    sotto_scratch work = {0};

    for (size_t i = 0; i < CAPS; i++) {
        sotto_sgm_law law = capped(i);
        double error = 0, c = 2 / caps[i].loss, truth = sotto_sgm_cumulant(&law, c, &error);
        sotto_pld *p = sotto_pld_new(&law, c, caps[i].loss / 500, 4096, &work);
        CHECK(t, p != NULL);
        if (!p)
            return;
        double moment = p->log_modulus[0] + c * p->origin;
        CHECK(t, moment >= truth - error - p->error[0] - c * p->origin_error);
        CHECK_NEAR(t, truth, moment, 1e-4);
        sotto_pld_free(p);
    }
    sotto_scratch_clear(&work);
}

/* The nearer the answer is to the cap, the more a capped law may exceed the law itself. */
static void what_a_cap_owes_a_lower_bound_grows_towards_it(sotto_test *t)
{
    sotto_sgm *m = NULL;
    CHECK_OK(t, sotto_sgm_new(&m, 1e-3, 0.8, &t->err));
    sotto_sgm_part part = {m, 500};
    sotto_sgm_question q = {.parts = &part, .count = 1, .level = -10, .cap = 0}; /* a loss of 1 */
    double infinite = 500 * sotto_sgm_side_of(&q, 0)->law.beyond, last = INFINITY;

    /* No round loses more than -log(1-q), so at this distance nothing is owed. */
    q.until = 1 + 500.1 * log1p(-1e-3);
    CHECK_NEAR(t, 1, sotto_sgm_sure(&q) / (infinite * (1 - infinite / 2)), 1e-9);
    for (double distance = 0.3; distance > 0.01; distance /= 1.5) {
        q.until = 1 - distance;
        double sure = sotto_sgm_sure(&q);
        CHECK(t, sure < infinite && sure <= last);
        last = sure;
    }
    CHECK(t, last < 0);
    q.until = 1;
    CHECK(t, sotto_sgm_sure(&q) == -1);
    sotto_sgm_free(m);
}

/* What the plan takes for the fall of |M| against |M| itself, near and far, with and without a cap. */
static void nothing_exceeds_the_bound_on_its_fall(sotto_test *t)
{
    enum { NODES = 400 };
    static const struct {
        double rate, sigma, loss, c, step;
        bool add;
    } at[] = {{1e-4, 0.77, 1.6, 9.5, 5, false}, {1e-4, 0.5, 4, 2.8, 3, false},
              {2e-3, 0.8, 0, 6, 0.5, false},    {1e-2, 2, 0, 30, 2, true},
              {0.5, 3, 0, 5, 0.5, false},       {1e-6, 0.65, 0.01, 2e4, 3000, false}};
    static double size[NODES], phase[NODES], error[NODES];
    static sotto_sgm_boxes boxes;
    sotto_scratch work = {0};
    int better = 0;

    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        sotto_sgm_law law = sotto_sgm_law_cut(at[i].rate, at[i].sigma, at[i].add, -60);
        if (at[i].loss > 0)
            sotto_sgm_law_cap(&law, at[i].loss);
        double wrong = 0, whole = sotto_sgm_cumulant(&law, at[i].c, &wrong);
        sotto_sgm_boxes_fill(&boxes, &law, at[i].c, whole + wrong);
        CHECK(t, sotto_sgm_line(&law, at[i].c, at[i].step, NODES, size, phase, error, &work));
        for (int k = 1; k < NODES; k += k < 40 ? 1 : 9) {
            double from = k * at[i].step;
            for (double far = 1.3; far < 3; far += 0.9) {
                double near = sotto_sgm_boxes_decay_until(&boxes, from, far * from);
                double beyond = sotto_sgm_boxes_decay(&boxes, from);
                better += near < beyond * 1.05;
                for (int n = k; n < NODES; n++) {
                    double truth = size[n] - whole - 1e-9 - 2 * error[n];
                    CHECK(t, truth <= beyond);
                    CHECK(t, n > far * k || truth <= near);
                }
            }
        }
    }
    CHECK(t, better > 100);
    sotto_scratch_clear(&work);
}

/* Losses move ever faster with x, also where all of them together are below one rounding of log r. As differences of
 * log r they did not, and cells were given up to ten times the mass they have. */
static void cells_are_ever_wider(sotto_test *t)
{
    static const double sigma[] = {0.1, 0.15, 0.2, 0.5, 2, 50}, rate[] = {1e-7, 1e-3, 0.3, 0.999};
    static sotto_sgm_boxes boxes;

    for (size_t i = 0; i < 6; i++)
        for (size_t k = 0; k < 4; k++) {
            sotto_sgm_law law = sotto_sgm_law_cut(rate[k], sigma[i], false, -60);
            double wrong = 0, whole = sotto_sgm_cumulant(&law, 0.3, &wrong), last = 0, sum = 0;
            sotto_sgm_boxes_fill(&boxes, &law, 0.3, whole + wrong);
            for (size_t n = 0; n < SOTTO_SGM_CELLS; n++) {
                double width = boxes.cell_to[n] - (n > 0 ? boxes.cell_to[n - 1] : 0);
                CHECK(t, width > 0 && width >= last * (1 - 1e-9));
                last = width;
                sum += boxes.cell_mass[n];
            }
            CHECK(t, sum <= 1 && boxes.rest >= 1 - sum);
        }
}

/* Products with turns are no sines of their own; they err by no more than the header says. */
static void runs_of_sines_match_sines_one_by_one(sotto_test *t)
{
    enum { COUNT = 512 };
    static double half[COUNT], weight[COUNT], linear[COUNT], turns[2 * SOTTO_SGM_REACH * COUNT];
    static const double tops[] = {3, 400, 70000};
    double step = 0.37, total = 0, moved = 0, mean = 0;

    for (int j = 0; j < COUNT; j++) {
        half[j] = (j % 2 ? 1 : -1) * pow(10, -7 + 8.0 * j / COUNT);
        weight[j] = 1 / (1.0 + j % 13);
        linear[j] = 1e-9 * j;
        mean += linear[j];
        total += weight[j];
        moved += weight[j] * fabs(2 * half[j]);
    }
    sotto_sgm_turns(turns, step, half, COUNT);
    sotto_sgm_points at = {half, weight, linear, turns, COUNT, COUNT};
    for (int i = 0; i < 3; i++) {
        sotto_sgm_sums run[SOTTO_SGM_RUN];
        double top = tops[i] + SOTTO_SGM_RUN * step;
        double bound = (250 + 64) * 1.2e-16 * fmin((top + step) * moved, 4 * total);
        sotto_sgm_sines_run(run, top - SOTTO_SGM_REACH * step, step, &at);
        for (int k = 0; k < SOTTO_SGM_RUN; k++) {
            sotto_sgm_sums one = sotto_sgm_sines(top - k * step, half, weight, linear, COUNT);
            /* The angle t half itself is rounded differently at so high a frequency. */
            double angle = 2.3e-16 * top * (moved + 40 * mean);
            CHECK(t, fabs(one.re - run[k].re) <= bound + angle);
            CHECK(t, fabs(one.im - run[k].im) <= bound + angle);
        }
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_cap_loses_only_what_exceeds_it),
        CASE(the_transform_of_a_capped_law_has_the_point_in_it),
        CASE(below_the_cap_nothing_changes),
        CASE(a_law_that_ends_before_the_cap_or_is_added_stays_as_it_is),
        CASE(a_capped_lattice_is_above_the_capped_law),
        CASE(what_a_cap_owes_a_lower_bound_grows_towards_it),
        CASE(nothing_exceeds_the_bound_on_its_fall),
        CASE(cells_are_ever_wider),
        CASE(runs_of_sines_match_sines_one_by_one),
    };
    return RUN_TESTS(argc, argv, cases);
}
