#include "account/gauss/rdp.h"
#include "account/local/filter.h"
#include "support/test.h"

static const sotto_decimal none = {0};

static sotto_decimal thousandths(uint64_t n)
{
    return (sotto_decimal){n * UINT64_C(1000000000)};
}

static void pure_filter_without_delta_is_the_exact_sum(sotto_test *t)
{
    sotto_pure_filter f;

    CHECK_OK(t, sotto_pure_filter_open(&f, thousandths(300), -INFINITY, none, &t->err));
    CHECK_OK(t, sotto_pure_filter_spend(&f, thousandths(100), none, &t->err));
    CHECK_OK(t, sotto_pure_filter_spend(&f, thousandths(200), none, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_pure_filter_spend(&f, (sotto_decimal){1}, none, &t->err));
    CHECK_EQUAL(t, thousandths(300).units, f.eps_spent.units); /* a refusal costs nothing */
}

static void pure_filter_admits_many_small_spends_by_their_squares(sotto_test *t)
{
    sotto_pure_filter f;
    double log_delta = log(1e-6);
    int admitted = 0;

    CHECK_OK(t, sotto_pure_filter_open(&f, thousandths(1000), log_delta, none, &t->err));
    while (sotto_pure_filter_spend(&f, thousandths(1), none, NULL) == SOTTO_OK)
        admitted++;
    double s = admitted * 1e-6, next = (admitted + 1) * 1e-6;
    CHECK(t, admitted > 10000);
    CHECK(t, sqrt(-2 * log_delta * s) + s / 2 <= 1);
    CHECK(t, sqrt(-2 * log_delta * next) + next / 2 > 1);
}

static void pure_filter_admits_few_large_spends_by_their_sum(sotto_test *t)
{
    sotto_pure_filter f;

    CHECK_OK(t, sotto_pure_filter_open(&f, thousandths(1000), log(1e-6), none, &t->err));
    CHECK_OK(t, sotto_pure_filter_spend(&f, thousandths(1000), none, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_pure_filter_spend(&f, (sotto_decimal){1}, none, &t->err));
}

static void pure_filter_counts_the_releases_own_deltas(sotto_test *t)
{
    sotto_pure_filter f;

    CHECK_OK(t,
             sotto_pure_filter_open(&f, thousandths(1000), log(1e-6), (sotto_decimal){3}, &t->err));
    CHECK_OK(t, sotto_pure_filter_spend(&f, thousandths(1), (sotto_decimal){1}, &t->err));
    CHECK_OK(t, sotto_pure_filter_spend(&f, thousandths(1), (sotto_decimal){2}, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_pure_filter_spend(&f, thousandths(1), (sotto_decimal){1}, &t->err));
    CHECK_REASON(t, "delta");
    CHECK_STATUS(
        t, SOTTO_MALFORMED,
        sotto_pure_filter_open(&f, thousandths(1000), log(1e-6), thousandths(1000), &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_pure_filter_open(&f, thousandths(1000), 0.5, none, &t->err));
}

static void zcdp_filter_stops_at_its_epsilon(sotto_test *t)
{
    sotto_zcdp_filter f;
    sotto_bound eps = {0, 0};

    CHECK_OK(t, sotto_zcdp_filter_open(&f, 2, log(1e-8), &t->err));
    while (sotto_zcdp_filter_spend(&f, 1e-4, NULL) == SOTTO_OK)
        continue;
    CHECK_OK(t, sotto_zcdp_epsilon(&eps, f.spent, log(1e-8), &t->err));
    CHECK(t, eps.high <= 2);
    CHECK_OK(t, sotto_zcdp_epsilon(&eps, f.spent + 1e-4, log(1e-8), &t->err));
    CHECK(t, eps.high > 2);
    double before = f.spent;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_zcdp_filter_spend(&f, 1e-4, &t->err));
    CHECK(t, f.spent == before);
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_zcdp_filter_spend(&f, NAN, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_zcdp_filter_spend(&f, -1e-9, &t->err));
}

static void sums_round_up_so_that_dust_is_counted(sotto_test *t)
{
    sotto_zcdp_filter f = {1, 0.5};

    CHECK_OK(t, sotto_zcdp_filter_spend(&f, 1e-30, &t->err));
    CHECK(t, f.spent > 0.5);
    CHECK_OK(t, sotto_zcdp_filter_spend(&f, 0, &t->err));
    CHECK(t, f.spent == nextafter(0.5, 1));
}

static void rdp_filter_with_one_order_pays_nothing_for_it(sotto_test *t)
{
    double order = 16, r = 0, allowed = 0;
    sotto_rdp_filter f;

    CHECK_OK(t, sotto_rdp_filter_open(&f, &order, 1, 3, log(1e-6), &t->err));
    CHECK_OK(t, sotto_rdp_allowance(&allowed, 16, 3, log(1e-6), &t->err));
    CHECK(t, f.limit[0] == allowed);
    r = allowed * 0.75;
    CHECK_OK(t, sotto_rdp_filter_spend(&f, &r, 1, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_rdp_filter_spend(&f, &r, 1, &t->err));
    CHECK(t, f.spent[0] <= f.limit[0]);
}

static void rdp_filter_with_several_orders_shares_delta_among_them(sotto_test *t)
{
    double orders[] = {8, 16, 32}, r[] = {0.1, 0.2, INFINITY}, share = 0;
    sotto_rdp_filter f;
    int admitted = 0;

    CHECK_OK(t, sotto_rdp_filter_open(&f, orders, 3, 3, log(1e-6), &t->err));
    CHECK_OK(t, sotto_rdp_allowance(&share, 16, 3, log(1e-6) - log(3), &t->err));
    CHECK_NEAR(t, share, f.limit[1], 1e-12);
    CHECK(t, f.limit[1] <= share);
    while (sotto_rdp_filter_spend(&f, r, 3, NULL) == SOTTO_OK)
        admitted++;
    CHECK(t, f.spent[0] <= f.limit[0] || f.spent[1] <= f.limit[1]);
    CHECK(t, f.spent[0] + 0.1 > f.limit[0] && f.spent[1] + 0.2 > f.limit[1]);
    CHECK(t, admitted > 5);
}

static void rdp_filter_refuses_what_it_cannot_promise(sotto_test *t)
{
    double order = 1.5, many[SOTTO_FILTER_ORDERS + 1] = {2}, r = NAN;
    sotto_rdp_filter f;

    CHECK_STATUS(t, SOTTO_DENIED, sotto_rdp_filter_open(&f, &order, 1, 1, log(1e-6), &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_rdp_filter_open(&f, many, SOTTO_FILTER_ORDERS + 1, 1, log(1e-6), &t->err));
    order = 64;
    CHECK_OK(t, sotto_rdp_filter_open(&f, &order, 1, 1, log(1e-6), &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_rdp_filter_spend(&f, &r, 1, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_rdp_filter_spend(&f, many, 2, &t->err));
    CHECK(t, f.spent[0] == 0);
}

static void a_filter_does_not_tell_a_running_total(sotto_test *t)
{
    sotto_bound b = {0, 0};

    CHECK_STATUS(t, SOTTO_DENIED, sotto_filter_running_epsilon(&b, &t->err));
    CHECK_REASON(t, "odometer");
    CHECK(t, b.high == INFINITY);
}

static void an_odometer_reads_in_steps_and_above_every_filter(sotto_test *t)
{
    sotto_odometer o;
    sotto_bound now = {0, 0}, before = {0, 0}, filter = {0, 0};

    CHECK_OK(t, sotto_odometer_open(&o, 1e-3, 12, log(1e-6), &t->err));
    CHECK_OK(t, sotto_odometer_read(&now, &o, &t->err));
    CHECK(t, now.high == 0);
    for (int i = 0; i < 200; i++) {
        CHECK_OK(t, sotto_odometer_spend(&o, 0.01, &t->err));
        CHECK_OK(t, sotto_odometer_read(&now, &o, &t->err));
        CHECK_OK(t, sotto_zcdp_epsilon(&filter, o.spent, log(1e-6), &t->err));
        CHECK(t, now.high >= before.high && now.high > filter.high);
        before = now;
    }
    /* The level of rho 2.048, with a twelfth of delta. */
    CHECK_NEAR(t, 2.048 + 2 * sqrt(2.048 * (log(1e6) + log(12))), now.high, 1e-12);
    CHECK_OK(t, sotto_odometer_spend(&o, 1, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_odometer_read(&now, &o, &t->err));
    CHECK(t, now.high == INFINITY);
}

static void odometers_of_nothing_are_refused(sotto_test *t)
{
    sotto_odometer o;

    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_odometer_open(&o, 1e-3, 0, -14, &t->err));
    CHECK_REASON(t, "levels");
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_odometer_open(&o, 0, 4, -14, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_odometer_open(&o, 1e-3, 4, 0, &t->err));
    CHECK_OK(t, sotto_odometer_open(&o, 1e-3, 4, -14, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_odometer_spend(&o, NAN, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_odometer_spend(&o, -1, &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(pure_filter_without_delta_is_the_exact_sum),
        CASE(pure_filter_admits_many_small_spends_by_their_squares),
        CASE(pure_filter_admits_few_large_spends_by_their_sum),
        CASE(pure_filter_counts_the_releases_own_deltas),
        CASE(zcdp_filter_stops_at_its_epsilon),
        CASE(sums_round_up_so_that_dust_is_counted),
        CASE(rdp_filter_with_one_order_pays_nothing_for_it),
        CASE(rdp_filter_with_several_orders_shares_delta_among_them),
        CASE(rdp_filter_refuses_what_it_cannot_promise),
        CASE(a_filter_does_not_tell_a_running_total),
        CASE(an_odometer_reads_in_steps_and_above_every_filter),
        CASE(odometers_of_nothing_are_refused),
    };
    return RUN_TESTS(argc, argv, cases);
}
