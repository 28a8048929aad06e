/* Values by 60-digit arithmetic. */
#include "account/numeric/special.h"
#include "support/test.h"

#define U            SOTTO_UNIT_ROUNDOFF
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* x, m(x), log m(x), log Q(x) */
static const double normal[][4] = {
    {-37.0, 4.716966555036580546658e+297, 685.4189385332046727418, 0.0},
    {-20.5, 4.52082758335212482155e+91, 211.0439385332046727418, 0.0},
    {-6.25, 761033954.4264928311247, 20.45018853299944639924, -2.052263425429528139976e-10},
    {-5.0, 672621.6367228792523073, 13.41893824655305977802, -2.866516129637635933846e-7},
    {-1.0, 3.477051811703694466926, 1.246184754181222852254, -0.1727537790234498895265},
    {-0.1, 1.359930401525616567376, 0.3074335230896464535994, -0.6165050101150262887361},
    {0.0, 1.253314137315500251208, 0.2257913526447274323631, -0.6931471805599453094172},
    {0.3, 1.001837400992155747386, 0.0018357150358220817868, -0.9621028181688506566629},
    {1.0, 0.6556795424187984715439, -0.4220831118045907639905, -1.841021645009263505771},
    {2.5, 0.354265111329793666784, -1.0377097440740177566, -5.08164827727869049838},
    {5.0, 0.1928081047153157648775, -1.646059860784052994303, -15.06499839398872573608},
    {9.9, 0.1000095330338324816707, -2.30248976719936880717, -52.22642830040404506614},
    {13.9, 0.07157572955887694773731, -2.636999235121132566486, -100.1609377683258102465},
    {14.2, 0.07007835793695501017229, -2.658141263893428812904, -104.397079797098091465},
    {20.0, 0.04987592598183678365824, -2.998216837892591195024, -203.9171553710972639368},
    {50.0, 0.01999200958085356731116, -3.912422606215228512352, -1254.831361139419901254},
    {200.0, 0.004999875009373828330032, -5.298342364985729351322, -20006.21728089819040209},
};

/* c, h, m(c - h) - m(c + h) */
static const double drops[][3] = {
    {0.0, 1e-08, 2.000000000000000108512e-8},     {0.0, 0.001, 0.002000000666666800041652},
    {0.0, 0.05, 0.1000833750148850924835},        {0.0, 0.3, 0.6183282077146335493064},
    {0.0, 5.0, 672621.4439147745369915},          {0.5, 1e-06, 0.000001123635543546582905012},
    {1.0, 0.1, 0.06899001100251477864038},        {2.9, 0.1, 0.01821255134106109126783},
    {2.99, 0.0001, 0.00001733797537090015846294}, {3.1, 0.001, 0.0001636142729818412853875},
    {3.1, 0.1, 0.01637196119488302410858},        {5.0, 1.0, 0.0742747220166932088083},
    {10.0, 0.3, 0.005833335874667557754259},      {10.0, 1e-07, 1.942807056536157303288e-9},
    {40.0, 1.0, 0.001248440423589434788964},      {40.0, 10.0, 0.01330440949164364607071},
    {40.0, 1e-10, 1.247663542354308254384e-13},   {300.0, 8.0, 0.0001778983478305967799893},
    {3.0, 3.0, 1.090936476418632789392},          {2.0, 6.0, 7471.793791459736205834},
    {1000.0, 0.001, 1.999994000031999811635e-9},
};

/* k, n, p, log P(Bin(n, p) = k) */
static const double masses[][4] = {
    {0.0, 10.0, 0.25, -2.876820724517809274392},
    {3.0, 10.0, 0.25, -1.38516584774009235433},
    {10.0, 10.0, 0.25, -13.86294361119890618834},
    {500.0, 1000.0, 0.5, -3.679918992094129341723},
    {5200.0, 10000.0, 0.5, -12.83232065120621194539},
    {500500000.0, 1000000000.0, 0.5, -510.5875071047343500281},
    {500000.0, 1000000000.0, 0.00048828125, -147.0618773473312036749},
    {600.0, 1000000.0, 0.00048828125, -16.0275860272782194131},
    {333333333333.0, 1000000000000.0, 0.33331298828125, -945.3239035975982878996},
    {20.0, 1000000000000.0, 1.4551915228366852e-11, -3.333079373714836266229},
    {9000.0, 10000.0, 0.5, -3684.962291859094007674},
};

/* k, n, p, P(Bin(n, p) >= k) / P(Bin(n, p) = k) */
static const double ratios[][4] = {
    {1.0, 10.0, 0.125, 1.960832336499683906819},
    {0.0, 10.0, 0.0625, 1.9067213785883317245},
    {3.0, 10.0, 0.25, 1.89548849260783417162},
    {9.0, 10.0, 0.5, 1.1},
    {520.0, 1000.0, 0.5, 9.586836752192563551544},
    {501.0, 1000.0, 0.5, 19.36023444817895856261},
    {5200.0, 10000.0, 0.5, 12.33369177885253620392},
    {50500.0, 100000.0, 0.5, 46.53965696236965263708},
    {600.0, 1000000.0, 0.00048828125, 5.18026586123874238414},
    {20.0, 1000000000000.0, 1.4551915228366852e-11, 2.838934132236108289554},
    {500100000.0, 1000000000.0, 0.5, 2442.185863314493250726},
    {500016000.0, 1000000000.0, 0.5, 10303.1095721231368762},
};

static void mills_ratio_and_log_tail_keep_their_errors(sotto_test *t)
{
    for (size_t i = 0; i < COUNT(normal); i++) {
        const double *row = normal[i];
        double more = row[0] * row[0] * U;

        CHECK_NEAR(t, 1, sotto_mills(row[0]) / row[1], SOTTO_MILLS_ERROR + (row[0] < 0 ? more : 0));
        CHECK_NEAR(t, row[2], sotto_log_mills(row[0]), SOTTO_LOG_TAIL_ERROR + more);
        CHECK_NEAR(t, row[3], sotto_log_tail(row[0]), SOTTO_LOG_TAIL_ERROR + more);
    }
}

static void log_tail_reaches_far_beyond_the_smallest_double(sotto_test *t)
{
    CHECK_NEAR(t, -5e15 - 19.33961927, sotto_log_tail(1e8), 2);
    CHECK(t, sotto_log_tail(-40) <= 0 && sotto_log_tail(-40) > -1e-300);
    CHECK(t, sotto_mills(-40) == INFINITY && sotto_mills(1e200) > 0);
}

static void erfcx_is_continuous_where_its_series_takes_over(sotto_test *t)
{
    double below = sotto_erfcx(nextafter(10.0, 0.0)), above = sotto_erfcx(10.0);

    CHECK_NEAR(t, 1, below / above, 2 * SOTTO_MILLS_ERROR);
}

static void the_drop_of_mills_ratio_does_not_cancel(sotto_test *t)
{
    for (size_t i = 0; i < COUNT(drops); i++) {
        double error, value = sotto_mills_drop(drops[i][0], drops[i][1], &error);

        CHECK_NEAR(t, 1, value / drops[i][2], error);
        CHECK(t, error < 1e-12);
    }
}

static void the_drop_of_mills_ratio_grows_with_the_step(sotto_test *t)
{
    for (double c = 0; c < 60; c += 0.37) {
        double before = 0;

        for (double h = 1e-9; h < 30; h *= 1.7) {
            double error, value = sotto_mills_drop(c, h, &error);
            CHECK(t, value * (1 + error) > before && isfinite(value));
            before = value;
        }
    }
}

static void binomial_masses_keep_their_errors(sotto_test *t)
{
    for (size_t i = 0; i < COUNT(masses); i++) {
        const double *row = masses[i];
        double error, value = sotto_binomial_log_pmf(row[0], row[1], row[2], 1 - row[2], &error);

        CHECK_NEAR(t, row[3], value, error + U * fabs(row[3]));
    }
    CHECK(t, sotto_binomial_log_pmf(11, 10, 0.5, 0.5, NULL) == -INFINITY);
    CHECK(t, sotto_binomial_log_pmf(-1, 10, 0.5, 0.5, NULL) == -INFINITY);
    CHECK(t, sotto_binomial_log_pmf(3, 10, 0, 1, NULL) == -INFINITY);
    CHECK(t, sotto_binomial_log_pmf(0, 10, 0, 1, NULL) == 0);
    CHECK(t, sotto_binomial_log_pmf(10, 10, 1, 0, NULL) == 0);
}

static void binomial_masses_sum_to_one(sotto_test *t)
{
    sotto_sum s = {0, 0};

    for (int k = 0; k <= 3000; k++)
        sotto_sum_add(&s, exp(sotto_binomial_log_pmf(k, 3000, 0.3, 0.7, NULL)));
    CHECK_NEAR(t, 1, sotto_sum_value(&s), 1e-13);
}

static void binomial_tails_are_enclosed(sotto_test *t)
{
    for (size_t i = 0; i < COUNT(ratios); i++) {
        const double *row = ratios[i];
        sotto_bound got = {0, 0};

        CHECK_OK(t, sotto_binomial_tail_ratio(&got, row[0], row[1], row[2], 1 - row[2], &t->err));
        CHECK(t, got.low <= row[3] && row[3] <= got.high);
        CHECK(t, got.high / got.low - 1 < 1e-10);
    }
}

static void binomial_tails_agree_with_the_sum_at_every_k(sotto_test *t)
{
    double tail = 0;

    for (int k = 400; k > 101; k--) {
        double mass = exp(sotto_binomial_log_pmf(k, 400, 0.25, 0.75, NULL));
        sotto_bound got = {0, 0};

        tail += mass;
        CHECK_OK(t, sotto_binomial_tail_ratio(&got, k, 400, 0.25, 0.75, &t->err));
        CHECK_NEAR(t, tail / mass, got.high, 1e-11 * got.high);
    }
}

static void binomial_tails_are_refused_below_the_mean(sotto_test *t)
{
    sotto_bound got = {0, 0};

    CHECK_STATUS(t, SOTTO_DENIED, sotto_binomial_tail_ratio(&got, 10, 100, 0.5, 0.5, &t->err));
    CHECK_REASON(t, "49.5");
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_binomial_tail_ratio(&got, 1.5, 9, 0.1, 0.9, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_binomial_tail_ratio(&got, 5, 9, 0.1, 0.8, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_binomial_tail_ratio(&got, 5, NAN, 0.1, 0.9, &t->err));
}

static void stirling_errors_meet_at_the_end_of_the_table(sotto_test *t)
{
    for (int n = 1; n < 40; n++) {
        double wanted = lgamma(n + 1.0) - SOTTO_LOG_SQRT_2PI - (n + 0.5) * log(n) + n;
        CHECK_NEAR(t, wanted, sotto_stirling_error(n), 4e-14);
    }
    CHECK(t, sotto_stirling_error(0) == 0);
}

static void logarithms_of_sums_keep_their_digits(sotto_test *t)
{
    double three[] = {-800, -800, -INFINITY};

    CHECK_NEAR(t, 1, sotto_log1mexp(1e-300) / -690.77552789821370521, 4 * U);
    CHECK_NEAR(t, 1, sotto_log1mexp(50) / -1.9287498479639177e-22, 4 * U);
    CHECK_NEAR(t, -799.30685281944005, sotto_log_add(-800, -800), 2e-13);
    CHECK_NEAR(t, -799.30685281944005, sotto_log_sum(three, 3), 2e-13);
    CHECK(t, sotto_log_sum(three, 0) == -INFINITY);
    CHECK(t,
          sotto_log_add(-INFINITY, -5) == -5 && sotto_log_add(-INFINITY, -INFINITY) == -INFINITY);
    CHECK(t, sotto_log_sub(-5, -INFINITY) == -5 && sotto_log_sub(3, 3) == -INFINITY);
    CHECK_NEAR(t, log(exp(2) - exp(1)), sotto_log_sub(2, 1), 1e-15);
    CHECK(t, isnan(sotto_log_sub(1, 2)));
}

static void compensated_sums_survive_cancellation(sotto_test *t)
{
    sotto_sum s = {0, 0};

    sotto_sum_add(&s, 1);
    sotto_sum_add(&s, 1e100);
    sotto_sum_add(&s, 1);
    sotto_sum_add(&s, -1e100);
    CHECK(t, sotto_sum_value(&s) == 2);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(mills_ratio_and_log_tail_keep_their_errors),
        CASE(log_tail_reaches_far_beyond_the_smallest_double),
        CASE(erfcx_is_continuous_where_its_series_takes_over),
        CASE(the_drop_of_mills_ratio_does_not_cancel),
        CASE(the_drop_of_mills_ratio_grows_with_the_step),
        CASE(binomial_masses_keep_their_errors),
        CASE(binomial_masses_sum_to_one),
        CASE(binomial_tails_are_enclosed),
        CASE(binomial_tails_agree_with_the_sum_at_every_k),
        CASE(binomial_tails_are_refused_below_the_mean),
        CASE(stirling_errors_meet_at_the_end_of_the_table),
        CASE(logarithms_of_sums_keep_their_digits),
        CASE(compensated_sums_survive_cancellation),
    };
    return RUN_TESTS(argc, argv, cases);
}
