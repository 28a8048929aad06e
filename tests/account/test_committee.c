/* Committees: exact tails against sums of the definition, the papers' figures, and what a search finds. */
#include "support/test.h"

#include "account/committee.h"

#include <math.h>

/* P(Bin(n, p) >= k) term by term, smallest terms first. */
static double plain_tail(unsigned n, double p, unsigned k)
{
    double sum = 0;

    for (unsigned i = n + 1; i-- > k;)
        sum += exp(lgamma(n + 1.0) - lgamma(i + 1.0) - lgamma(n - i + 1.0) + i * log(p) +
                   (n - i) * log1p(-p));
    return sum;
}

static double odds(sotto_test *t, unsigned size, unsigned tolerated, double corrupt, double draws,
                   sotto_committee_odds *out)
{
    const sotto_committee c = {size, tolerated, corrupt, draws};

    CHECK_OK(t, sotto_committee_odds_of(out, &c, &t->err));
    return out->one;
}

static void tails_are_those_of_the_definition(sotto_test *t)
{
    static const struct {
        unsigned size, tolerated;
        double corrupt;
    } rows[] = {{45, 18, 0.03}, {280, 40, 0.03}, {280, 36, 0.03}, {60, 13, 0.05}, {10, 0, 0.1}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sotto_committee_odds o;
        double truth = plain_tail(rows[i].size, rows[i].corrupt, rows[i].tolerated + 1);
        double got = odds(t, rows[i].size, rows[i].tolerated, rows[i].corrupt, 1, &o);

        CHECK(t, got >= truth * (1 - 1e-11) && got <= truth * (1 + 1e-9));
        CHECK(t, o.chernoff >= got); /* a bound is not below what it bounds */
    }
}

/* Liu and Gupta 2023, section 4 and appendix A.1.2, print Chernoff's bound: 9.6e-14 and 4.1e-14. */
static void the_bounds_that_aero_prints_are_chernoff_s(sotto_test *t)
{
    sotto_committee_odds o;

    CHECK(t, odds(t, 45, 18, 0.03, 1, &o) < 1.4e-17);
    CHECK_NEAR(t, 9.6e-14, o.chernoff, 0.05e-14);
    CHECK(t, odds(t, 280, 40, 0.03, 1, &o) < 9.1e-17);
    CHECK_NEAR(t, 4.1e-14, o.chernoff, 0.05e-14);
}

static void every_draw_is_paid_for(sotto_test *t)
{
    sotto_committee_odds one, many;

    odds(t, 45, 18, 0.03, 1, &one);
    odds(t, 45, 18, 0.03, 1024, &many);
    CHECK(t, many.any >= 1024 * one.one);
    CHECK_NEAR(t, one.bits - 10, many.bits, 1e-9);
    odds(t, 20, 8, 0.4, 1000, &many);
    CHECK(t, many.any == 1 && many.bits == 0); /* no probability is above one */
}

static void the_share_of_decryptors_offline_takes_twice_its_part(sotto_test *t)
{
    CHECK(t, sotto_committee_decryptors_tolerate(60, 0) == 19); /* fewer than a third */
    CHECK(t, sotto_committee_decryptors_tolerate(61, 0) == 20);
    CHECK(t, sotto_committee_decryptors_tolerate(60, 0.05) == 13); /* 6 + 13 < 20 */
    CHECK(t, sotto_committee_decryptors_tolerate(45, 0.05) == 10); /* 4.5 + 10 < 15 */
    CHECK(t, sotto_committee_decryptors_tolerate(60, 1.0 / 6) == -1);
}

/* The 60 decryptors of the paper: about 2^-50 at 1 % corrupt and 5 % offline, 2^-20 at 5 % and 5 %, 2^-7 at 5 % and 10 %. */
static void sixty_decryptors_are_enough_for_few_corrupt_devices_alone(sotto_test *t)
{
    static const struct {
        double corrupt, dropout, bits;
    } rows[] = {{0.01, 0.05, 49}, {0.05, 0.05, 19}, {0.05, 0.1, 6}};

    for (size_t i = 0; i < 3; i++) {
        sotto_committee_odds o;
        int64_t tolerated = sotto_committee_decryptors_tolerate(60, rows[i].dropout);

        odds(t, 60, (unsigned)tolerated, rows[i].corrupt, 1, &o);
        CHECK(t, o.bits >= rows[i].bits && o.bits < rows[i].bits + 2);
    }
}

static int64_t two_fifths(const void *context, uint64_t size)
{
    (void)context;
    return (int64_t)(2 * size / 5);
}

static int64_t decryptors(const void *context, uint64_t size)
{
    return sotto_committee_decryptors_tolerate(size, *(const double *)context);
}

static void the_smallest_committee_fits_and_the_next_smaller_ones_do_not(sotto_test *t)
{
    static const struct {
        double corrupt, dropout;
        uint64_t size;
    } rows[] = {{0.01, 0.05, 43}, {0.01, 0.1, 106}, {0.05, 0.05, 125}, {0.05, 0.1, 473}};
    sotto_committee c;
    sotto_committee_odds o;

    for (size_t i = 0; i < 4; i++) {
        CHECK_OK(t, sotto_committee_smallest(&c, rows[i].corrupt, 1, 40, decryptors,
                                             &rows[i].dropout, &t->err));
        CHECK(t, c.size == rows[i].size);
        for (uint64_t size = 3; size < c.size; size++) {
            int64_t tolerated = decryptors(&rows[i].dropout, size);

            if (tolerated >= 0)
                CHECK(t, plain_tail((unsigned)size, rows[i].corrupt, (unsigned)tolerated + 1) >
                             ldexp(1, -40));
        }
    }
    CHECK_OK(t, sotto_committee_smallest(&c, 0.05, 1, -log2(1e-13), two_fifths, NULL, &t->err));
    CHECK(t, c.size == 48 && c.tolerated == 19);
    CHECK_OK(t, sotto_committee_odds_of(&o, &c, &t->err));
    CHECK(t, o.one <= 1e-13);
    CHECK_OK(t, sotto_committee_smallest(&c, 0.45, 1, 40, two_fifths, NULL, &t->err));
    CHECK(t, c.size == 0); /* more corrupt devices than a committee withstands: no size will do */
}

static void a_committee_stalls_when_too_few_are_there(sotto_test *t)
{
    const sotto_committee c = {45, 18, 0.03, 1};
    double there = 0.97 * 0.8, stalls;

    CHECK_OK(t, sotto_committee_stalls(&stalls, &c, 0.2, &t->err));
    /* At most 18 are honest and online: at least 27 are not. */
    CHECK_NEAR(t, plain_tail(45, 1 - there, 27), stalls, stalls * 1e-9);
    CHECK_OK(t, sotto_committee_stalls(&stalls, &c, 0, &t->err));
    CHECK(t, stalls > 0 && stalls < 1e-20);
}

/* With 10,000 expected, 1.01 times as many is exceeded in one round of six, not almost never. */
static void ten_percent_of_headroom_are_needed_among_ten_thousand(sotto_test *t)
{
    double exact, chernoff;

    CHECK_OK(t, sotto_committee_overflows(&exact, &chernoff, 1e9, 1e-5, 1.01, &t->err));
    CHECK(t, exact > 0.15 && exact < 0.17);
    CHECK_NEAR(t, 0.61, chernoff, 0.01);
    CHECK_OK(t, sotto_committee_overflows(&exact, &chernoff, 1e9, 1e-5, 1.1, &t->err));
    CHECK(t, exact < chernoff && chernoff < 1e-20 && exact > 1e-25);
}

static void six_checks_miss_three_in_a_thousand(sotto_test *t)
{
    CHECK_NEAR(t, 3.0e-3, sotto_committee_misses(6, 0.03, 0, 1), 0.05e-3);
    CHECK_NEAR(t, 3.8e-9, sotto_committee_misses(20, 0.03, 0, 1), 0.05e-9);
    CHECK_NEAR(t, 2.5e-13, sotto_committee_misses(40, 0.03, 0.2, 1.07), 0.05e-13);
    CHECK(t, sotto_committee_misses(0, 0, 0, 1) == 1);
}

/* Every probability of Liu and Gupta 2023, beside what it is. Claim A.2 and the bounds on k are Chernoff's; docs/reproduction.md has all. */
static void the_probabilities_of_the_document_are_checked(sotto_test *t)
{
    static const struct {
        unsigned size;
        double tolerated, corrupt, printed;
        double chernoff, exact; /* ours, rounded up */
    } claims[] = {
        {45, 18, 0.03, 9.6e-14, 9.60e-14, 1.34e-17},
        {280, 40, 0.03, 4.1e-14, 4.10e-14, 9.02e-17},
        {350, 43.75, 0.05, 9.78e-7, 9.79e-7, 2.61e-8},
        {450, 56.25, 0.05, 1.87e-8, 1.88e-8, 1.96e-10},
        {350, 70, 0.1, 1.34e-6, 1.35e-6, 7.23e-9},
        {450, 90, 0.1, 2.82e-8, 2.83e-8, 7.6e-11},
    };
    static const struct {
        double expected, least, printed;
    } fewer[] = {{5000, 0.9, 5.77e-12}, {10000, 0.93, 1.27e-11}, {500, 0.7, 1.17e-11}};
    double exact, chernoff;

    for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++) {
        double mean = claims[i].size * claims[i].corrupt, ratio = claims[i].tolerated / mean;
        sotto_committee_odds o;

        /* The document's t C need not be whole. */
        double bound = exp(mean * (ratio - 1 - ratio * log(ratio)));
        CHECK(t, bound <= claims[i].chernoff && bound >= 0.99 * claims[i].printed);
        CHECK(t, odds(t, claims[i].size, (unsigned)claims[i].tolerated, claims[i].corrupt, 1, &o) <=
                     claims[i].exact);
        CHECK(t, o.one < claims[i].printed); /* all of them hold */
    }
    for (size_t i = 0; i < sizeof fewer / sizeof fewer[0]; i++) {
        CHECK_OK(t, sotto_committee_underflows(&exact, &chernoff, 1e9, fewer[i].expected / 1e9,
                                               fewer[i].least, &t->err));
        CHECK_NEAR(t, fewer[i].printed, chernoff, 0.01 * fewer[i].printed);
        CHECK(t, exact > 0 && exact < chernoff);
    }
    CHECK_OK(t, sotto_committee_overflows(&exact, &chernoff, 1e9, 1e-5, 1.01, &t->err));
    CHECK(t, exact > 0.15); /* "similar", and false */
    CHECK(t, sotto_committee_misses(5, 0.03, 0, 1) < 0.0079);
    CHECK(t, sotto_committee_misses(20, 0.03, 0, 1) > 3e-9); /* printed: about 1e-11 */
    /* Twice as many leaves as expected: s counts half. */
    CHECK_NEAR(t, exp(-0.97 * 20), sotto_committee_misses(40, 0.03, 0, 2), 1e-12);
}

/* The lower tail against the definition: fewer than 0.5 * 20 of 100 that take part with 0.2 each. */
static void too_few_are_as_likely_as_the_definition_says(sotto_test *t)
{
    double exact, chernoff;

    CHECK_OK(t, sotto_committee_underflows(&exact, &chernoff, 100, 0.2, 0.5, &t->err));
    CHECK_NEAR(t, plain_tail(100, 0.8, 91), exact, exact * 1e-9); /* at least 91 do not */
    CHECK(t, chernoff >= exact);
    CHECK_OK(t, sotto_committee_underflows(&exact, &chernoff, 100, 0.2, 0, &t->err));
    CHECK(t, exact == 0 && chernoff == 0);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_committee_underflows(&exact, &chernoff, 100, 0.2, 1.1, &t->err));
}

static void what_is_no_committee_is_malformed(sotto_test *t)
{
    static const sotto_committee rows[] = {{0, 0, 0.1, 1},    {10, 11, 0.1, 1},
                                           {10, 3, 0.6, 1},   {10, 3, -0.1, 1},
                                           {10, 3, 0.1, 0.5}, {200000, 3, 0.1, 1}};
    sotto_committee_odds o;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CHECK_STATUS(t, SOTTO_MALFORMED, sotto_committee_odds_of(&o, &rows[i], &t->err));
    CHECK_OK(t, sotto_committee_odds_of(&o, &(sotto_committee){10, 10, 0.5, 1}, &t->err));
    CHECK(t, o.any == 0 && isinf(o.bits)); /* it withstands all of them */
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(tails_are_those_of_the_definition),
        CASE(the_bounds_that_aero_prints_are_chernoff_s),
        CASE(every_draw_is_paid_for),
        CASE(the_share_of_decryptors_offline_takes_twice_its_part),
        CASE(sixty_decryptors_are_enough_for_few_corrupt_devices_alone),
        CASE(the_smallest_committee_fits_and_the_next_smaller_ones_do_not),
        CASE(a_committee_stalls_when_too_few_are_there),
        CASE(ten_percent_of_headroom_are_needed_among_ten_thousand),
        CASE(six_checks_miss_three_in_a_thousand),
        CASE(the_probabilities_of_the_document_are_checked),
        CASE(too_few_are_as_likely_as_the_definition_says),
        CASE(what_is_no_committee_is_malformed),
    };
    return RUN_TESTS(argc, argv, cases);
}
