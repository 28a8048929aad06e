/* What lint foretells: chances against plain sums, empty slots against the paper's, and when it warns. */
#include "recipe/forecast.h"

#include "account/local/checkin.h"
#include "account/local/count.h"
#include "recipe/claim.h"
#include "support/recipes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static sotto_mistakes mistakes;

static const char POISSON[] = "{\"type\": \"poisson\", \"rate\": 0.1}";
#define SLOTS(slot) "\"start\": \"2026-11-20T00:00:00Z\", \"slot\": \"" slot "\""

/* The example with this participation, without cohorts, for so many devices of whom so many must answer. */
static const sotto_recipe *recipe_of(sotto_test *t, const char *participation, uint64_t population,
                                     uint64_t min_cohort, const char *more)
{
    sotto_bytes text = sotto_test_recipe_text(t, POISSON, participation);
    const sotto_recipe *recipe;
    char value[200];

    (void)snprintf(value, sizeof value, "%s \"population\": %llu", more,
                   (unsigned long long)population);
    text = sotto_test_replace(t, (const char *)text.data, "\"population\": 1000000", value);
    (void)snprintf(value, sizeof value, "\"min_cohort\": %llu", (unsigned long long)min_cohort);
    text = sotto_test_replace(t, (const char *)text.data, "\"min_cohort\": 40000", value);
    text = sotto_test_replace(t, (const char *)text.data, "[\"en_US\", \"en_GB\"]", "[\"en_US\"]");
    memset(&mistakes, 0, sizeof mistakes);
    CHECK_OK(t, sotto_recipe_read(&recipe, text, &t->arena, &mistakes, &t->err));
    return recipe;
}

static sotto_forecast forecast(sotto_test *t, const sotto_recipe *recipe)
{
    sotto_forecast out = {0};

    CHECK_OK(t, sotto_recipe_forecast(&out, recipe, SOTTO_HONEST_UNSAID, &mistakes, &t->err));
    return out;
}

static double at_least(double least, double n, double p)
{
    double sum = 0;

    for (double k = least; k <= n; k++)
        sum += exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) +
                   (n - k) * log1p(-p));
    return sum;
}

static void the_chance_of_a_cohort_is_a_binomial_tail(sotto_test *t)
{
    static const uint64_t cohorts[] = {10, 50, 90, 100, 101, 130, 500};

    for (size_t i = 0; i < 7; i++) {
        const double sum = at_least((double)cohorts[i], 1000, 0.1);
        const sotto_forecast f = forecast(t, recipe_of(t, POISSON, 1000, cohorts[i], ""));

        CHECK_NEAR(t, sum, f.reach, 1e-9);
        CHECK(t, f.reach <= sum + 1e-12);
        CHECK_NEAR(t, 100, f.expected, 1e-9);
        CHECK(t, sotto_test_has_mistake(&mistakes, "privacy.min_cohort", "reached with a chance") ==
                     (sum >= 1e-3 && sum < 0.99));
    }
}

/* So close to the mean of so many the tail itself takes too long: what is said is less than it, by little. */
static void a_chance_near_the_mean_of_many_is_at_least_so_much(sotto_test *t)
{
    const sotto_forecast f = forecast(
        t, recipe_of(t, "{\"type\": \"poisson\", \"rate\": 0.009}", 100000000000, 900000000, ""));

    CHECK(t, f.reach > 0.3 && f.reach <= 0.5001);
}

static void each_cohort_value_has_its_own_chance(sotto_test *t)
{
    const sotto_recipe *two =
        sotto_test_recipe(t, "\"population\": 1000000", "\"population\": 800000");

    memset(&mistakes, 0, sizeof mistakes);
    const sotto_forecast f = forecast(t, two); /* 40,000 are expected of each, and needed */
    CHECK_NEAR(t, 400000, f.devices, 0);
    CHECK_NEAR(t, 0.5, f.reach, 0.05);
    CHECK(t, sotto_test_has_mistake(&mistakes, "privacy.min_cohort", "for each cohort value"));
}

/* Slot i of ten has 0.1 x 0.9^i of all: of 10,000 the last has 387. */
static void the_last_slot_of_donations_is_the_hardest(sotto_test *t)
{
    static const char donation[] = "{\"type\": \"donation\", \"slots\": 10, " SLOTS("1h") "}";
    const double last = 0.1 * pow(0.9, 9);
    const sotto_forecast f = forecast(t, recipe_of(t, donation, 10000, 400, ""));

    CHECK_NEAR(t, 1000, f.expected, 1e-6);
    CHECK_NEAR(t, at_least(400, 10000, last), f.reach, 1e-9);
    CHECK(t, sotto_test_has_mistake(&mistakes, "privacy.min_cohort", "in the last slot"));
}

/* Balle et al. 2020, Proposition 3.4. */
static void empty_slots_are_those_of_the_paper(sotto_test *t)
{
    const sotto_forecast f = forecast(
        t, recipe_of(t,
                     "{\"type\": \"check-in\", \"variant\": \"averaged\", \"window\": 168, " SLOTS(
                         "1h") "}",
                     500, 100, ""));
    sotto_bound paper;

    CHECK_OK(t, sotto_checkin_dummies_fixed(&paper, 500, 168, 1, &t->err));
    CHECK_EQUAL(t, 168, f.slots);
    CHECK_NEAR(t, paper.high, f.empty, 1e-9);
    CHECK(t, f.empty > 8);
    CHECK_EQUAL(t, 0, forecast(t, recipe_of(t, POISSON, 1000, 50, "")).slots);
}

static bool warns_of_absence(sotto_test *t, const char *participation)
{
    (void)forecast(t, recipe_of(t, participation, 1000000, 100, ""));
    return sotto_test_has_mistake(&mistakes, "participation.slot", "miss their slot");
}

static void slots_longer_than_devices_are_ready_are_pointed_out(sotto_test *t)
{
#define WINDOW(window, slot, more)                                                                 \
    "{\"type\": \"check-in\", \"variant\": \"averaged\", \"window\": " window ", " SLOTS(slot)     \
        more "}"
    CHECK(t, !warns_of_absence(t, WINDOW("8", "1h", "")));
    CHECK(t, warns_of_absence(t, WINDOW("9", "1h", "")));
    CHECK(t, !warns_of_absence(t, WINDOW("9", "1h", ", \"available\": \"9h\"")));
    CHECK(t, warns_of_absence(t, WINDOW("9", "1h", ", \"available\": \"2h\"")));
    CHECK(t, !warns_of_absence(t, WINDOW("7", "1d", ""))); /* every day has its hours */
    CHECK(t, !warns_of_absence(t, POISSON));
}

static bool warns_of_late_slots(sotto_test *t, const char *participation)
{
    (void)forecast(t, recipe_of(t, participation, 1000000, 100, ""));
    return sotto_test_has_mistake(&mistakes, "participation.slot", "begin after `closes`");
}

/* The schedule is of seven days. */
static void slots_after_the_end_are_pointed_out(sotto_test *t)
{
    CHECK(t, !warns_of_late_slots(t, WINDOW("7", "1d", "")));
    CHECK(t, warns_of_late_slots(t, WINDOW("8", "1d", "")));
    CHECK(t, !warns_of_late_slots(t, WINDOW("168", "1h", "")));
    CHECK(t, warns_of_late_slots(t, WINDOW("169", "1h", "")));
    CHECK(t, warns_of_late_slots(t, "{\"type\": \"donation\", \"slots\": 10, " SLOTS("1d") "}"));
    CHECK(t, !warns_of_late_slots(t, POISSON));
}

/* A chance of 0 or more says nothing. */
static void a_cohort_that_hardly_ever_comes_is_said_to(sotto_test *t)
{
    const sotto_recipe *recipe = recipe_of(t, POISSON, 1000, 500, "");
    const sotto_forecast f = forecast(t, recipe);
    uint8_t memory[4096];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);

    CHECK(t, sotto_test_has_mistake(&mistakes, "privacy.min_cohort", "hardly ever reached"));
    CHECK_OK(t, sotto_forecast_explain(&out, &f, recipe, &t->err));
    memory[out.len] = 0;
    CHECK(t, strstr((char *)memory, "There are 500 of them hardly ever.") != NULL);
}

/* Half of 900,000 devices that do not take part are honest, less what chance takes: 4.9 deviations of 212 are 1,041. */
static void the_number_of_reports_is_priced(sotto_test *t)
{
    enum { FEWEST = 448959 };
    const sotto_forecast none = forecast(t, recipe_of(t, POISSON, 1000000, 40000, "")),
                         few = forecast(
                             t, recipe_of(t, POISSON, 1000000, 40000, "\"dummies\": 0.0001,")),
                         enough = forecast(
                             t, recipe_of(t, POISSON, 1000000, 40000, "\"dummies\": 0.001,"));
    sotto_bound eps;
    double rate;

    CHECK(t, none.dummies == 0 && isinf(none.epsilon_count));
    CHECK_NEAR(t, FEWEST * 0.0001, few.dummies, 1e-6);
    CHECK_NEAR(t, FEWEST * 0.001, enough.dummies, 1e-6);
    CHECK_OK(t, sotto_count_eps(&eps, FEWEST, 0.001, log(0.5e-6), &t->err));
    CHECK_NEAR(t, eps.high, enough.epsilon_count, 1e-6);
    CHECK(t, enough.epsilon_count < 0.3 && few.epsilon_count > 0.3);
    CHECK_OK(t, sotto_count_rate(&rate, FEWEST, 0.3, log(0.5e-6), &t->err));
    CHECK_NEAR(t, rate, none.rate_needed, 1e-6 * rate);
    CHECK_NEAR(t, FEWEST * rate, none.dummies_needed, 1e-3);
    CHECK(t, !sotto_test_has_mistake(&mistakes, "dummies", "tells"));
    (void)forecast(t, recipe_of(t, POISSON, 1000000, 40000, "\"dummies\": 0.0001,"));
    CHECK(t, sotto_test_has_mistake(&mistakes, "dummies", "would do"));
}

/* Of 1,000 honest devices some 900 do not take part, now more and now fewer: over all their numbers delta is within the
 * recipe's. At the epsilon of exactly 900 it is not. */
/* Of these, one is 0.0012306, which is less if it is rounded to three digits. */
static void a_rate_that_is_said_to_do_does(sotto_test *t)
{
    static const uint64_t devices[] = {400000, 600000, 800000, 1000000, 1400000};
    char dummies[64] = "\"dummies\": 1e-6,";

    for (size_t i = 0; i < 2 * sizeof devices / sizeof devices[0]; i++) {
        (void)forecast(t, recipe_of(t, POISSON, devices[i / 2], 20000, dummies));
        const char *rate = NULL;
        for (size_t k = 0; k < mistakes.count && !rate; k++)
            rate = strstr(mistakes.items[k].what, "a rate of ");
        CHECK_EQUAL(t, i % 2 == 0, rate != NULL);
        (void)snprintf(dummies, sizeof dummies, "\"dummies\": %.*s,",
                       rate ? (int)strcspn(rate + 10, " ") : 4, rate ? rate + 10 : "1e-6");
    }
}

static void the_number_is_priced_for_every_number_of_silent_devices(sotto_test *t)
{
    const sotto_forecast f = forecast(t, recipe_of(t, POISSON, 2000, 100, "\"dummies\": 0.4,"));
    sotto_bound exactly;
    double all = 0, naive = 0;

    CHECK(t, isfinite(f.epsilon_count) && f.epsilon_count > 0);
    CHECK_OK(t, sotto_count_eps(&exactly, 900, 0.4, log(1e-6), &t->err));
    for (double n = 820; n <= 980; n++) {
        const double chance = exp(lgamma(1001) - lgamma(n + 1) - lgamma(1001 - n) + n * log(0.9) +
                                  (1000 - n) * log(0.1));
        sotto_bound delta;

        CHECK_OK(t, sotto_count_delta(&delta, n, 0.4, f.epsilon_count, &t->err));
        all += chance * delta.high;
        CHECK_OK(t, sotto_count_delta(&delta, n, 0.4, exactly.high, &t->err));
        naive += chance * delta.low;
    }
    CHECK(t, all <= 1e-6);
    CHECK(t, naive > 1e-6);
    CHECK(t, f.epsilon_count < 1.1 * exactly.high); /* and costs little */
}

static void it_is_said_in_plain_words(sotto_test *t)
{
    uint8_t memory[4096];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    const sotto_recipe *recipe = recipe_of(t, POISSON, 1000000, 40000, "\"dummies\": 0.001,");
    const sotto_forecast f = forecast(t, recipe);

    CHECK_OK(t, sotto_forecast_explain(&out, &f, recipe, &t->err));
    memory[out.len] = 0;
    CHECK(t, strstr((char *)memory, "About 449 dummies") != NULL);
    CHECK(t, strstr((char *)memory, "Talwar et al. 2024") != NULL);
    CHECK(t, strstr((char *)memory, "takes about ") != NULL);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_chance_of_a_cohort_is_a_binomial_tail),
        CASE(a_chance_near_the_mean_of_many_is_at_least_so_much),
        CASE(each_cohort_value_has_its_own_chance),
        CASE(the_last_slot_of_donations_is_the_hardest),
        CASE(empty_slots_are_those_of_the_paper),
        CASE(slots_longer_than_devices_are_ready_are_pointed_out),
        CASE(slots_after_the_end_are_pointed_out),
        CASE(a_cohort_that_hardly_ever_comes_is_said_to),
        CASE(the_number_of_reports_is_priced),
        CASE(a_rate_that_is_said_to_do_does),
        CASE(the_number_is_priced_for_every_number_of_silent_devices),
        CASE(it_is_said_in_plain_words),
    };
    return RUN_TESTS(argc, argv, cases);
}
