#include "account/histogram_error.h"
#include "support/test.h"

#include <math.h>

static const sotto_histogram_setting small = {1e7, 1000, 1000, 1, 0.1};

static void check_error(sotto_test *t, double wanted, sotto_histogram kind,
                        sotto_histogram_setting s, double sigma, double tolerance)
{
    double got = 0;

    CHECK_OK(t, sotto_histogram_error(&got, kind, &s, sigma, &t->err));
    CHECK_NEAR(t, 1, got / wanted, tolerance);
}

static void errors_follow_the_model(sotto_test *t)
{
    check_error(t, 0.001, SOTTO_HISTOGRAM_PLAIN, small, NAN, 1e-12);
    check_error(t, 0.018847912, SOTTO_HISTOGRAM_AGGREGATE, small, 4.224678889326835, 1e-7);
    check_error(t, 0.0011268611, SOTTO_HISTOGRAM_SAMPLED, small, 0.35617559, 1e-7);
    check_error(t, 0.0001, SOTTO_HISTOGRAM_SPARSE_UNIFORM, small, NAN, 1e-12);
    check_error(t, 1.999e-05, SOTTO_HISTOGRAM_SPARSE_IMPORTANCE, small, NAN, 1e-12);
    check_error(t, 2e-05, SOTTO_HISTOGRAM_SPARSE_IMPORTANCE_APPROXIMATE, small, NAN, 1e-12);
    check_error(t, 0.017947912, SOTTO_HISTOGRAM_SPARSE_AGGREGATE, small, 4.224678889326835, 1e-7);
    check_error(t, 2.8218511e-05, SOTTO_HISTOGRAM_SPARSE_SAMPLED, small, 0.45355569, 1e-7);
    check_error(t, 2.8228511e-05, SOTTO_HISTOGRAM_SPARSE_SAMPLED_APPROXIMATE, small, 0.45355569,
                1e-7);
}

static void noise_without_amplification_grows_with_participations(sotto_test *t)
{
    sotto_histogram_setting s = small;
    double one = 0, four = 0;

    CHECK_OK(t, sotto_histogram_error(&one, SOTTO_HISTOGRAM_AGGREGATE, &s, 4, &t->err));
    s.T = 31000; /* 3.1 rounds a device: 4 at worst */
    CHECK_OK(t, sotto_histogram_error(&four, SOTTO_HISTOGRAM_AGGREGATE, &s, 4, &t->err));
    CHECK_NEAR(t, 4, (four - 0.001) / (one - 0.001), 1e-9);
}

static void importance_never_asks_for_more_than_everybody(sotto_test *t)
{
    sotto_histogram_setting s = {1000, 1000, 10, 1, 0.1};
    double rate = 0, error = 1;

    CHECK_OK(t, sotto_histogram_rate(&rate, SOTTO_HISTOGRAM_SPARSE_IMPORTANCE, &s, &t->err));
    CHECK(t, rate == 1);
    CHECK_OK(t, sotto_histogram_error(&error, SOTTO_HISTOGRAM_SPARSE_IMPORTANCE, &s, NAN, &t->err));
    CHECK(t, error == 0);
    CHECK_OK(t, sotto_histogram_rate(&rate, SOTTO_HISTOGRAM_SAMPLED, &small, &t->err));
    CHECK_NEAR(t, 1e-4, rate, 1e-18);
}

static void bad_parameters_are_named(sotto_test *t)
{
    sotto_histogram_setting s = small;
    double x = 0;

    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_histogram_error(&x, SOTTO_HISTOGRAM_SAMPLED, &s, NAN, &t->err));
    CHECK_REASON(t, "sigma");
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_histogram_error(&x, SOTTO_HISTOGRAM_SAMPLED, &s, -1, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_histogram_error(&x, SOTTO_HISTOGRAM_SAMPLED, &s, 0, &t->err));
    s.M = 2e7;
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_histogram_error(&x, SOTTO_HISTOGRAM_PLAIN, &s, 1, &t->err));
    CHECK_REASON(t, "M = ");
    s = small;
    s.gamma = 0;
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_histogram_error(&x, SOTTO_HISTOGRAM_SPARSE_UNIFORM, &s, 1, &t->err));
    CHECK_REASON(t, "gamma");
    s.N = 0;
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_histogram_error(&x, SOTTO_HISTOGRAM_PLAIN, &s, 1, &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(errors_follow_the_model),
        CASE(noise_without_amplification_grows_with_participations),
        CASE(importance_never_asks_for_more_than_everybody),
        CASE(bad_parameters_are_named),
    };
    return RUN_TESTS(argc, argv, cases);
}
