/* Samples of known size: the theorem beside its own sum, and beside a mechanism whose divergence is integrated. */
#include "account/gauss/known_size.h"
#include "account/gauss/rdp.h"
#include "support/test.h"

#include <math.h>

/* The theorem as it is printed, for orders that need no logarithms. */
static double printed(double share, double rho, unsigned alpha)
{
    long double sum = 1, choose = alpha;

    for (unsigned j = 2; j <= alpha; j++) {
        choose = choose * (alpha - j + 1) / j;
        const long double first = 4 * (expl(2 * rho) - 1), second = 2 * expl(2 * rho);
        sum += powl(share, j) * choose *
               (j == 2 ? fminl(first, second) : 2 * expl((long double)(j - 1) * j * rho));
    }
    return (double)(logl(sum) / (alpha - 1));
}

static void the_divergence_is_that_of_the_theorem(sotto_test *t)
{
    static const double shares[] = {1e-4, 0.01, 0.3}, rhos[] = {1e-4, 0.02, 0.5};

    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 3; k++)
            for (unsigned alpha = 2; alpha <= 40; alpha += 3) {
                const double wanted = fmin(printed(shares[i], rhos[k], alpha), rhos[k] * alpha),
                             got = sotto_known_size_divergence(shares[i], rhos[k], alpha);

                CHECK(t, got >= wanted);
                CHECK_NEAR(t, 1, got / wanted, 1e-6);
            }
    /* Everybody takes part: it is the mechanism itself. */
    CHECK_NEAR(t, 5 * 0.1, sotto_known_size_divergence(1, 0.1, 5), 1e-9);
}

/* One of n elements is taken, and a Gaussian added: all are 0, but one that is 1 or, in its place, -1. */
static double truth(double share, double sigma, double alpha)
{
    const double step = sigma / 200;
    double sum = 0;

    for (double x = -1 - 12 * sigma; x < 1 + 12 * sigma; x += step) {
        const double zero = exp(-x * x / (2 * sigma * sigma)),
                     one = exp(-(x - 1) * (x - 1) / (2 * sigma * sigma)),
                     other = exp(-(x + 1) * (x + 1) / (2 * sigma * sigma));
        const double p = (1 - share) * zero + share * one, q = (1 - share) * zero + share * other;

        sum += q > 0 ? q * pow(p / q, alpha) * step : 0;
    }
    return log(sum / (sigma * sqrt(2 * 3.14159265358979323846))) / (alpha - 1);
}

static void no_mechanism_is_above_it(sotto_test *t)
{
    for (unsigned alpha = 2; alpha <= 12; alpha += 5)
        for (double share = 0.01; share < 1; share *= 5) {
            const double sigma = 3, rho = 4 / (2 * sigma * sigma);

            CHECK(t, truth(share, sigma, alpha) <= sotto_known_size_divergence(share, rho, alpha));
        }
}

static void rounds_add_up_and_samples_gain(sotto_test *t)
{
    sotto_bound all, some, more;

    CHECK_OK(t, sotto_zcdp_epsilon(&all, 100 * 0.03, log(1e-6), &t->err));
    CHECK_OK(t, sotto_known_size_epsilon(&some, 0.01, 0.03, 100, log(1e-6), &t->err));
    CHECK_OK(t, sotto_known_size_epsilon(&more, 0.01, 0.03, 200, log(1e-6), &t->err));
    CHECK(t, some.high < 0.1 * all.high && some.high < more.high);
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_known_size_epsilon(&some, 0, 0.03, 100, log(1e-6), &t->err));
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_known_size_epsilon(&some, 0.1, NAN, 100, log(1e-6), &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_known_size_epsilon(&some, 0.1, 1, 0, log(1e-6), &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_divergence_is_that_of_the_theorem),
        CASE(no_mechanism_is_above_it),
        CASE(rounds_add_up_and_samples_gain),
    };

    return RUN_TESTS(argc, argv, cases);
}
