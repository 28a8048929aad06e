/* Laplace and geometric noise, held against sums over all losses. */
#include "account/local/compose_mixed.h"
#include "account/local/laplace.h"
#include "account/question_support.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

enum { MOST = 20000 };

/* A law of losses at from, from + step, ... */
typedef struct losses {
    double from, step;
    size_t count;
    double mass[MOST];
} losses;

static losses one, sum, next;

/* The d + 1 losses of geometric noise for a move by d, largest first: the noise is at most 0, at 1, ..., at least d. */
static void geometric(losses *out, double eps, size_t d)
{
    double u = eps / (double)d, a = exp(-u);

    *out = (losses){.from = -eps, .step = 2 * u, .count = d + 1};
    for (size_t j = 0; j <= d; j++)
        out->mass[d - j] = j == 0   ? 1 / (1 + a)
                           : j == d ? exp(-eps) / (1 + a)
                                    : (1 - a) / (1 + a) * exp(-(double)j * u);
}

/* Laplace noise with its losses moved to the next of n + 1 points, up or down. */
static void laplace(losses *out, double eps, size_t n, bool up)
{
    *out = (losses){.from = -eps, .step = 2 * eps / (double)n, .count = n + 1};
    for (size_t i = 0; i < n; i++) {
        double low = out->from + (double)i * out->step;
        double mass = 0.5 * (exp((low + out->step - eps) / 2) - exp((low - eps) / 2));

        out->mass[i + up] += mass;
    }
    out->mass[0] += 0.5 * exp(-eps);
    out->mass[n] += 0.5;
}

static void add(losses *out, const losses *a, const losses *b)
{
    *out = (losses){.from = a->from + b->from, .step = a->step, .count = a->count + b->count - 1};
    for (size_t i = 0; i < a->count; i++)
        for (size_t j = 0; j < b->count; j++)
            out->mass[i + j] += a->mass[i] * b->mass[j];
}

static void compose(const losses *each, size_t releases)
{
    sum = *each;
    for (size_t i = 1; i < releases; i++) {
        add(&next, &sum, each);
        sum = next;
    }
}

static double delta_at(const losses *l, double eps)
{
    double delta = 0;

    for (size_t i = 0; i < l->count; i++) {
        double loss = l->from + (double)i * l->step;

        if (loss > eps)
            delta += l->mass[i] * -expm1(eps - loss);
    }
    return delta;
}

static double epsilon_at(const losses *l, double delta)
{
    double low = 0, high = -l->from;

    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;

        *(delta_at(l, middle) > delta ? &low : &high) = middle;
    }
    return high;
}

static sotto_bound composed(sotto_test *t, double eps, double steps, double releases, double delta)
{
    const sotto_binary_part part = {eps, releases, steps};
    sotto_bound out;

    CHECK_OK(t, sotto_compose_mixed_epsilon(&out, &part, 1, 0, log(delta), &t->err));
    return out;
}

static void one_release_is_a_closed_form(sotto_test *t)
{
    static const double deltas[] = {1e-300, 1e-9, 1e-3, 0.05};
    sotto_bound b;

    for (size_t i = 0; i < 4; i++) {
        CHECK_OK(t, sotto_laplace_epsilon(&b, 0.7, SOTTO_LAPLACE_STEPS, log(deltas[i]), &t->err));
        double exact = 0.7 + 2 * log1p(-deltas[i]);

        CHECK(t, b.low <= exact && exact <= b.high && b.high - b.low < 1e-8);
    }
    CHECK_OK(t, sotto_laplace_epsilon(&b, 0.7, SOTTO_LAPLACE_STEPS, log(0.3), &t->err));
    CHECK(t, b.low == 0 && b.high == 0);
    for (size_t d = 1; d <= 9; d += 4)
        for (size_t i = 1; i < 4; i++) {
            geometric(&one, 0.7, d);
            CHECK_OK(t, sotto_laplace_epsilon(&b, 0.7, (double)d, log(deltas[i]), &t->err));
            double exact = epsilon_at(&one, deltas[i]);

            CHECK(t, b.low <= exact * (1 + 1e-9) && exact <= b.high * (1 + 1e-9));
            CHECK(t, b.high - b.low < 1e-8);
            CHECK_OK(t, sotto_laplace_log_delta(&b, 0.7, (double)d, 0.3, &t->err));
            CHECK_NEAR(t, delta_at(&one, 0.3), exp(b.high), 1e-12);
        }
}

static void geometric_releases_are_enclosed(sotto_test *t)
{
    static const struct {
        double eps;
        size_t d, releases;
        double delta;
    } each[] = {{0.3, 3, 5, 1e-8}, {0.3, 3, 5, 1e-3}, {1, 10, 4, 1e-3}, {0.5, 2, 100, 1e-6},
                {2, 40, 3, 0.05},  {4, 2, 7, 1e-2},   {1, 2, 30, 1e-5}};

    for (size_t i = 0; i < sizeof each / sizeof each[0]; i++) {
        geometric(&one, each[i].eps, each[i].d);
        compose(&one, each[i].releases);
        double exact = epsilon_at(&sum, each[i].delta);
        sotto_bound b =
            composed(t, each[i].eps, (double)each[i].d, (double)each[i].releases, each[i].delta);

        CHECK(t, b.low <= exact * (1 + 1e-9) && b.high >= exact * (1 - 1e-9));
        CHECK(t, b.high <= exact * (1 + 1e-5));
    }
}

static void laplace_releases_are_enclosed(sotto_test *t)
{
    static const struct {
        double eps;
        size_t releases;
        double delta;
    } each[] = {{1, 2, 1e-3}, {1, 5, 1e-3}, {0.5, 10, 1e-2}, {3, 3, 1e-2}, {0.2, 15, 1e-6}};

    for (size_t i = 0; i < sizeof each / sizeof each[0]; i++) {
        sotto_bound b =
            composed(t, each[i].eps, SOTTO_LAPLACE_STEPS, (double)each[i].releases, each[i].delta);

        laplace(&one, each[i].eps, 1000, false);
        compose(&one, each[i].releases);
        double least = epsilon_at(&sum, each[i].delta);
        CHECK(t, b.high >= least);
        laplace(&one, each[i].eps, 1000, true);
        compose(&one, each[i].releases);
        CHECK(t, b.high <= epsilon_at(&sum, each[i].delta));
        CHECK(t, b.low <= b.high);
    }
}

/* What is printed as "at least" is at most the exact value, near the largest loss too. */
static void answers_have_lower_bounds(sotto_test *t)
{
    static const double deltas[] = {1e-12, 1e-8, 1e-3, 1e-2};
    sotto_question q = question_geometric();
    sotto_answer a;

    q.of.geometric.releases = 6;
    geometric(&one, 0.3, 3);
    compose(&one, 6);
    for (size_t i = 0; i < 4; i++) {
        q.delta = deltas[i];
        CHECK_OK(t, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
        double exact = epsilon_at(&sum, deltas[i]);

        CHECK(t,
              a.low > 0.95 * exact && a.low <= exact * (1 + 1e-9) && a.high >= exact * (1 - 1e-9));
    }
}

/* The same move in one entry costs the most: why a vector needs no more than its L1 norm. */
static void one_entry_is_the_worst_of_vectors(sotto_test *t)
{
    static const size_t parts[][3] = {{1, 1, 0}, {2, 1, 0}, {1, 1, 1}, {3, 2, 1}};

    for (size_t i = 0; i < 4; i++) {
        size_t whole = parts[i][0] + parts[i][1] + parts[i][2];

        geometric(&sum, 0.4 * (double)parts[i][0], parts[i][0]);
        for (size_t k = 1; k < 3 && parts[i][k] > 0; k++) {
            geometric(&one, 0.4 * (double)parts[i][k], parts[i][k]);
            add(&next, &sum, &one);
            sum = next;
        }
        geometric(&one, 0.4 * (double)whole, whole);
        for (double eps = 0; eps < 0.4 * (double)whole; eps += 0.03)
            CHECK(t, delta_at(&sum, eps) <= delta_at(&one, eps) + 1e-15);
    }
}

static void questions_have_units(sotto_test *t)
{
    sotto_question q = question_laplace();
    sotto_answer a, b;

    q.of.laplace.releases = 1;
    CHECK_OK(t, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
    CHECK_NEAR(t, 0.1, a.high, 1e-7);
    CHECK(t, a.optimal && strstr(a.theorem, "Dwork") != NULL);
    q.adjacency = SOTTO_ADJACENCY_REPLACEMENT; /* twice as far */
    CHECK_OK(t, sotto_privacy_epsilon(&b, &q, NULL, &t->err));
    CHECK_NEAR(t, 0.2, b.high, 1e-7);
    q.of.laplace.contribution = SOTTO_ONE_HOT_VECTOR;
    q.of.laplace.clip = 0;
    CHECK_OK(t, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
    CHECK(t, a.high == b.high);
    q = question_geometric();
    q.of.geometric.releases = 1;
    CHECK_OK(t, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
    CHECK_NEAR(t, 0.3, a.high, 1e-7);
    q.of.geometric.scale = 0.02;
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
    CHECK_REASON(t, "scale");
}

/* Each release has its largest loss with a chance above 0, so at delta 0 they add up. Gaussian noise has no epsilon there. */
static void at_delta_zero_epsilons_add_up(sotto_test *t)
{
    sotto_question q = question_laplace();
    sotto_answer a, near;

    q.of.laplace.releases = 7;
    q.delta = 0; /* which might have been forgotten */
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
    q.pure = true;
    CHECK_OK(t, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
    CHECK(t, a.low <= 0.7 && a.high >= 0.7 && a.high - a.low < 1e-14);
    q.delta = 1e-300;
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_privacy_epsilon(&near, &q, NULL, &t->err));
    q.pure = false;
    CHECK_OK(t, sotto_privacy_epsilon(&near, &q, NULL, &t->err));
    CHECK_NEAR(t, a.high, near.high, 1e-10);
    q = (sotto_question){.mechanism = SOTTO_MECHANISM_PURE,
                         .adjacency = SOTTO_ADJACENCY_REPLACEMENT,
                         .trust = SOTTO_TRUST_CENTRAL,
                         .dishonest = {0, 1},
                         .pure = true,
                         .of.pure = {0.25, 8}};
    CHECK_OK(t, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
    CHECK_NEAR(t, 2, a.high, 1e-14);
    q.of.pure.epsilon = NAN;
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
    q = (sotto_question){.mechanism = SOTTO_MECHANISM_GAUSSIAN,
                         .adjacency = SOTTO_ADJACENCY_REPLACEMENT,
                         .trust = SOTTO_TRUST_CENTRAL,
                         .dishonest = {0, 1},
                         .pure = true,
                         .of.gaussian = {SOTTO_CLIPPED_VECTOR, 1, 5, 1}};
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
    CHECK_REASON(t, "delta");
}

/* Beside pure releases of the same epsilon it costs less, beside Gaussians it composes optimally. */
static void laplace_noise_composes_with_others(sotto_test *t)
{
    sotto_question parts[2] = {question_laplace(), question_gaussian()};
    sotto_answer with, alone, pure;

    CHECK_OK(t, sotto_privacy_epsilon(&alone, &parts[0], NULL, &t->err));
    CHECK_OK(t, sotto_privacy_compose(&with, parts, 2, &t->err));
    CHECK(t, with.high > alone.high && with.optimal);
    parts[0] = question_pure();
    parts[0].adjacency = SOTTO_ADJACENCY_ADD_REMOVE;
    parts[0].of.pure.rounds = 20;
    CHECK_OK(t, sotto_privacy_compose(&pure, parts, 2, &t->err));
    CHECK(t, with.high < pure.high);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(one_release_is_a_closed_form),      CASE(answers_have_lower_bounds),
        CASE(geometric_releases_are_enclosed),   CASE(laplace_releases_are_enclosed),
        CASE(one_entry_is_the_worst_of_vectors), CASE(questions_have_units),
        CASE(at_delta_zero_epsilons_add_up),     CASE(laplace_noise_composes_with_others),
    };
    return RUN_TESTS(argc, argv, cases);
}
