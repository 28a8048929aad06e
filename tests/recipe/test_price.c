/* A price is what lint says of the recipe that it prints, the goal is reached, and not by much. */
#include "recipe/claim.h"
#include "recipe/price.h"
#include "recipe/price_rates.h"
#include "support/recipes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct asked {
    const sotto_recipe *recipe;
    sotto_price_question q;
    sotto_price_way ways[SOTTO_PRICE_WAYS];
    size_t count;
} asked;

static asked a;

static void begin(sotto_test *t, const sotto_recipe *recipe)
{
    (void)t;
    memset(&a, 0, sizeof a);
    a.recipe = recipe;
    a.q = (sotto_price_question){.epsilon = recipe->epsilon,
                                 .delta = recipe->delta,
                                 .cohort = recipe->min_cohort,
                                 .population = recipe->population};
}

static void want(sotto_price_find find, sotto_goal goal, double wanted, sotto_goal_unit unit)
{
    a.q.find = find;
    a.q.goal = goal;
    a.q.wanted = wanted;
    a.q.unit = unit;
}

static void price(sotto_test *t)
{
    CHECK_OK(t, sotto_price_ways(a.ways, &a.count, &a.q, a.recipe, &t->arena, &t->err));
}

static double reached(const sotto_price_way *w)
{
    return sotto_price_reached(&a.q, &w->accuracy, w->forecast.devices);
}

/* The text is read and judged anew, as `sotto recipe lint` does it. */
static void check_linted(sotto_test *t, const sotto_price_way *w)
{
    static sotto_mistakes mistakes;
    const sotto_recipe *recipe;
    sotto_recipe_claim claim;
    sotto_forecast forecast;
    sotto_accuracy accuracy;

    memset(&mistakes, 0, sizeof mistakes);
    CHECK_OK(t, sotto_recipe_read(&recipe, w->text, &t->arena, &mistakes, &t->err));
    CHECK_OK(t, sotto_recipe_lint(&claim, recipe, a.q.policy, &mistakes, &t->err));
    CHECK_OK(t, sotto_recipe_forecast(&forecast, recipe, SOTTO_HONEST_UNSAID, &mistakes, &t->err));
    CHECK_OK(t,
             sotto_recipe_accuracy(&accuracy, recipe,
                                   sotto_recipe_release_reports(recipe, &forecast), NULL, &t->err));
    CHECK(t, recipe->by == w->by);
    CHECK(t, claim.epsilon_cohort == w->claim.epsilon_cohort);
    CHECK(t, claim.epsilon_cohort <= sotto_decimal_down(recipe->epsilon));
    CHECK(t, claim.report_bytes == w->claim.report_bytes);
    CHECK(t, forecast.reach == w->forecast.reach && forecast.reach >= SOTTO_PRICE_FILLED);
    CHECK(t, accuracy.half_width == w->accuracy.half_width);
    CHECK(t, accuracy.largest == w->accuracy.largest && accuracy.seen == w->accuracy.seen);
}

/* All ways meet the goal, and a tenth less of what was found does not. */
static void check_cohorts(sotto_test *t, size_t ways)
{
    static sotto_price_way found[SOTTO_PRICE_WAYS];
    const sotto_price_question q = a.q;

    price(t);
    CHECK(t, a.count == ways);
    memcpy(found, a.ways, sizeof found);
    for (size_t i = 0; i < ways; i++) {
        CHECK(t, found[i].meets && reached(&found[i]) <= q.wanted);
        check_linted(t, &found[i]);
        a.q.find = SOTTO_PRICE_FIND_ACCURACY;
        a.q.cohort = found[i].recipe->min_cohort * 9 / 10;
        price(t);
        CHECK(t, !a.ways[i].meets && reached(&a.ways[i]) > q.wanted);
        a.q = q;
    }
}

static void check_epsilons(sotto_test *t, size_t ways)
{
    static sotto_price_way found[SOTTO_PRICE_WAYS];
    const sotto_price_question q = a.q;

    price(t);
    CHECK(t, a.count == ways);
    memcpy(found, a.ways, sizeof found);
    for (size_t i = 0; i < ways; i++) {
        CHECK(t, found[i].meets && reached(&found[i]) <= q.wanted);
        check_linted(t, &found[i]);
        a.q.find = SOTTO_PRICE_FIND_ACCURACY;
        a.q.epsilon.units = found[i].recipe->epsilon.units / 10 * 9;
        price(t);
        CHECK(t, !a.ways[i].meets && reached(&a.ways[i]) > q.wanted);
        a.q = q;
    }
}

static void the_smallest_cohort_is_found(sotto_test *t)
{
    begin(t, sotto_test_recipe(t, NULL, NULL));
    want(SOTTO_PRICE_FIND_COHORT, SOTTO_GOAL_HALF_WIDTH, 0.005, SOTTO_UNIT_PART);
    check_cohorts(t, 6);
    want(SOTTO_PRICE_FIND_COHORT, SOTTO_GOAL_SEEN, 3000, SOTTO_UNIT_DEVICES);
    check_cohorts(t, 6);
    want(SOTTO_PRICE_FIND_COHORT, SOTTO_GOAL_LARGEST, 0.02, SOTTO_UNIT_PART);
    check_cohorts(t, 6);
    begin(t, sotto_test_recipe_of(t, "count", "\"servers\", \"sigma\": 20"));
    want(SOTTO_PRICE_FIND_COHORT, SOTTO_GOAL_HALF_WIDTH, 500, SOTTO_UNIT_DEVICES);
    check_cohorts(t, 3);
    begin(t, sotto_test_recipe_of(t, "mean", "\"servers\", \"sigma\": 500"));
    want(SOTTO_PRICE_FIND_COHORT, SOTTO_GOAL_HALF_WIDTH, 0.1, SOTTO_UNIT_ANSWER);
    check_cohorts(t, 2);
    begin(t, sotto_test_recipe_of(t, "sum", "\"shares\", \"sigma\": 500"));
    want(SOTTO_PRICE_FIND_COHORT, SOTTO_GOAL_HALF_WIDTH, 30000, SOTTO_UNIT_DEVICES);
    check_cohorts(t, 2);
    begin(t, sotto_test_recipe_of(t, "quantiles", "\"servers\", \"sigma\": 20"));
    want(SOTTO_PRICE_FIND_COHORT, SOTTO_GOAL_HALF_WIDTH, 0.005, SOTTO_UNIT_ANSWER);
    check_cohorts(t, 6);
}

static void the_smallest_epsilon_is_found(sotto_test *t)
{
    begin(t, sotto_test_recipe(t, NULL, NULL));
    want(SOTTO_PRICE_FIND_EPSILON, SOTTO_GOAL_HALF_WIDTH, 0.005, SOTTO_UNIT_PART);
    check_epsilons(t, 6);
    begin(t, sotto_test_recipe_of(t, "count", "\"servers\", \"sigma\": 20"));
    want(SOTTO_PRICE_FIND_EPSILON, SOTTO_GOAL_SEEN, 1000, SOTTO_UNIT_DEVICES);
    check_epsilons(t, 3);
    begin(t, sotto_test_recipe_of(t, "mean", "\"shares\", \"sigma\": 500"));
    want(SOTTO_PRICE_FIND_EPSILON, SOTTO_GOAL_HALF_WIDTH, 0.1, SOTTO_UNIT_ANSWER);
    check_epsilons(t, 2);
}

static void the_accuracy_of_a_budget_is_found(sotto_test *t)
{
    begin(t, sotto_test_recipe(t, NULL, NULL));
    a.q.rate = a.recipe->participation.rate;
    price(t);
    for (size_t i = 0; i < a.count; i++) {
        CHECK(t, a.ways[i].meets);
        check_linted(t, &a.ways[i]);
        CHECK(t, a.ways[i].recipe->min_cohort == 40000);
    }
    const sotto_price_way *crowd = sotto_price_best(a.ways, a.count, &a.q, 1),
                          *any = sotto_price_best(a.ways, a.count, &a.q, ~0U);
    CHECK(t, crowd->by == SOTTO_BY_CROWD && any->by == SOTTO_BY_SERVERS);
    for (size_t i = 0; i < a.count; i++)
        CHECK(t, any->accuracy.half_width <= a.ways[i].accuracy.half_width);
}

/* ---- what can't be had ------------------------------------------------------------------------------- */

static void a_policy_that_refuses_is_kept_to(sotto_test *t)
{
    begin(t, sotto_test_recipe(t, NULL, NULL));
    a.q.policy = sotto_test_policy(t, NULL, NULL);
    want(SOTTO_PRICE_FIND_EPSILON, SOTTO_GOAL_HALF_WIDTH, 0.01, SOTTO_UNIT_PART);
    price(t);
    const sotto_price_way *servers = &a.ways[5];
    CHECK(t, servers->found && !servers->allowed && !servers->meets);
    CHECK(t, strstr(servers->why, "the policy does not allow noise by servers") != NULL);
    CHECK(t, a.ways[0].meets);
    CHECK(t, sotto_price_best(a.ways, a.count, &a.q, ~0U)->by == SOTTO_BY_CROWD);
}

/* The policy allows a local epsilon of 2: with 40,000 reports that is worth 0.107, and no device pays 0.3 for it. */
static void a_device_is_charged_what_the_noise_is_worth(sotto_test *t)
{
    begin(t, sotto_test_recipe(t, NULL, NULL));
    a.q.policy = sotto_test_policy(t, NULL, NULL);
    price(t);
    CHECK(t, a.ways[0].meets && a.ways[0].recipe->epsilon_local.units == 2000000000000);
    CHECK_EQUAL(t, a.ways[0].recipe->epsilon.units, 106900000000);
    check_linted(t, &a.ways[0]);
}

/* The cohorts are two, of half of the devices each. */
static void too_few_devices_are_told_how_many_it_takes(sotto_test *t)
{
    begin(t, sotto_test_recipe(t, NULL, NULL));
    a.q.population = 20000;
    want(SOTTO_PRICE_FIND_COHORT, SOTTO_GOAL_HALF_WIDTH, 0.001, SOTTO_UNIT_PART);
    price(t);
    const sotto_price_way *w = &a.ways[5];
    unsigned needed = 0;
    CHECK(t, !w->meets && w->needs_devices && w->recipe->min_cohort == 10000);
    CHECK(t, sscanf(w->why, "needs at least %u devices; with 20000, all of them asked, it reaches",
                    &needed) == 1);
    /* With as many it is reached, and not with a tenth less. */
    a.q.population = needed;
    price(t);
    CHECK(t, a.ways[5].meets);
    a.q.population = needed / 10 * 9;
    price(t);
    CHECK(t, !a.ways[5].meets);
}

static void a_cohort_that_is_not_filled_meets_nothing(sotto_test *t)
{
    begin(t, sotto_test_recipe(t, NULL, NULL));
    a.q.rate = 0.08; /* of 500,000: 40,000 come in half of the cases */
    price(t);
    for (size_t i = 0; i < a.count; i++)
        CHECK(t, !a.ways[i].meets && a.ways[i].needs_devices && isinf(a.ways[i].days));
    CHECK(t, strstr(a.ways[0].why, "a cohort of 40000 is not filled by 500000 devices") != NULL);
}

static void a_goal_that_is_missed_is_not_met(sotto_test *t)
{
    begin(t, sotto_test_recipe(t, NULL, NULL));
    want(SOTTO_PRICE_FIND_ACCURACY, SOTTO_GOAL_HALF_WIDTH, 0.0001, SOTTO_UNIT_PART);
    price(t);
    for (size_t i = 0; i < a.count; i++)
        CHECK(t, a.ways[i].found && a.ways[i].fills && a.ways[i].allowed && !a.ways[i].meets);
    CHECK(t, strstr(a.ways[0].why, "choose a coarser goal") != NULL);
}

static void importance_sampling_has_no_price(sotto_test *t)
{
    begin(t, sotto_test_recipe(t, "\"poisson\", \"rate\": 0.1",
                               "\"importance\", \"rate_default\": 0.1, \"rate_other\": 0.4"));
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_price_ways(a.ways, &a.count, &a.q, a.recipe, &t->arena, &t->err));
}

/* ---- two rates ------------------------------------------------------------------------------------------ */

#define HIDDEN                                                                                     \
    "\"anonymity\": {\"relay\": \"r\", \"gateway\": \"g\", \"tokens\": \"type-2\", "               \
    "\"attester\": \"a\", \"issuer\": \"i\", \"log\": \"l\"}, \"population\": "

/* One device in a hundred has a rare value, and a tenth of all answer. */
static const sotto_recipe *sparse(sotto_test *t, const char *share)
{
    char taking[200];

    (void)snprintf(taking, sizeof taking,
                   "\"importance\", \"rate_default\": 0.09, \"rate_other\": 0.9%s", share);
    const sotto_bytes text = sotto_test_recipe(t, "\"poisson\", \"rate\": 0.1", taking)->text;
    const sotto_bytes hidden =
        sotto_test_replace(t, (const char *)text.data, "\"population\": ", HIDDEN);
    static sotto_mistakes mistakes;
    const sotto_recipe *recipe;

    memset(&mistakes, 0, sizeof mistakes);
    CHECK_OK(t, sotto_recipe_read(&recipe, hidden, &t->arena, &mistakes, &t->err));
    return recipe;
}

static void plan_rates(sotto_test *t, sotto_rates_plan *plan, const char *share,
                       uint64_t population, double epsilon, double rate)
{
    begin(t, sparse(t, share));
    a.q.population = population;
    a.q.epsilon.units = (uint64_t)(epsilon * 1e12);
    a.q.rate = rate;
    CHECK_OK(t, sotto_price_rates(plan, &a.q, a.recipe, &t->arena, &t->err));
    CHECK(t, plan->rates[SOTTO_RATES_BEST].found);
}

/* Against one rate, and against the even split of the paper, over what is rare and what may be spent. The best rates expect no more
 * reports than the others, and lint agrees with what is written. */
static void planned_rates_are_better_than_one_and_than_an_even_split(sotto_test *t)
{
    static const struct {
        const char *share;
        uint64_t population;
        double epsilon, rate, even, one; /* at least so many times the squared error of the best */
    } rows[] = {
        {", \"default_share\": 0.9", 1000000, 0.3, 0.1, 1.4, 1.8},
        {", \"default_share\": 0.9", 1000000, 3, 0.1, 1.05, 2.7},
        {", \"default_share\": 0.99", 10000000, 1, 0.01, 1.7, 13},
        {", \"default_share\": 0.99", 10000000, 3, 0.01, 1.05, 19},
        {", \"default_share\": 0.999", 100000000, 1, 0.001, 1, 28},
    };
    static sotto_rates_plan plan;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        plan_rates(t, &plan, rows[i].share, rows[i].population, rows[i].epsilon, rows[i].rate);
        const sotto_rates *best = &plan.rates[SOTTO_RATES_BEST],
                          *even = &plan.rates[SOTTO_RATES_EVEN],
                          *one = &plan.rates[SOTTO_RATES_ONE];

        CHECK(t, best->reports <= rows[i].rate * plan.devices * (1 + 1e-9));
        CHECK(t, !even->found || even->off * even->off >= rows[i].even * best->off * best->off);
        CHECK(t, one->off * one->off >= rows[i].one * best->off * best->off);
        CHECK_NEAR(t, best->off * best->off * plan.bins, best->noise + best->draw,
                   1e-9 * best->noise);
        /* Lint holds the recipe that was written to the same promise. */
        static sotto_mistakes mistakes;
        const sotto_recipe *recipe;
        sotto_recipe_claim claim;

        memset(&mistakes, 0, sizeof mistakes);
        CHECK_OK(t, sotto_recipe_read(&recipe, plan.text, &t->arena, &mistakes, &t->err));
        CHECK_OK(t, sotto_recipe_lint(&claim, recipe, NULL, &mistakes, &t->err));
        CHECK(t, claim.epsilon_cohort <= rows[i].epsilon);
        CHECK_NEAR(t, best->epsilon_local + best->silence, claim.replacement_local, 1e-9);
        CHECK_NEAR(t, best->reports * (double)sotto_recipe_cohorts(recipe), claim.expected_reports,
                   1e-3);
    }
}

static void rates_are_planned_where_devices_would_answer(sotto_test *t)
{
    static sotto_rates_plan plan;

    begin(t, sparse(t, ""));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_price_rates(&plan, &a.q, a.recipe, &t->arena, &t->err));
    CHECK_REASON(t, "default_share");
    sotto_err_clear(&t->err);
    begin(t, sparse(t, ", \"default_share\": 0.9"));
    sotto_recipe seen = *a.recipe;
    seen.anonymity.relay = NULL;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_price_rates(&plan, &a.q, &seen, &t->arena, &t->err));
    CHECK_REASON(t, "and be seen");
    sotto_err_clear(&t->err);
    a.q.rate = 0.01; /* 10,000 reports for a cohort of 40,000 */
    CHECK_STATUS(t, SOTTO_DENIED, sotto_price_rates(&plan, &a.q, a.recipe, &t->arena, &t->err));
    CHECK_REASON(t, "is not filled");
}

/* ---- the text ------------------------------------------------------------------------------------------ */

static bool has(sotto_bytes text, const char *part)
{
    char copy[8192];

    (void)snprintf(copy, sizeof copy, "%.*s", (int)text.len, (const char *)text.data);
    return strstr(copy, part) != NULL;
}

/* All but the three members is as the author wrote it, wherever the randomizer stands. */
static void other_bytes_of_a_recipe_stay(sotto_test *t)
{
    static const char one_hot[] = "  \"randomizer\": {\"type\": \"one-hot\", \"form\": "
                                  "\"asymmetric\", \"epsilon_local\": 2.0},\n";
    const char *bare = (const char *)sotto_test_recipe_text(t, one_hot, "").data;
    static sotto_mistakes mistakes;
    const sotto_recipe *last;

    memset(&mistakes, 0, sizeof mistakes);
    CHECK_OK(t, sotto_recipe_read(
                    &last,
                    sotto_test_replace(t, bare, "\"on_no_match\": \"no-value\"\n",
                                       "\"on_no_match\":   \"no-value\" ,\n \"randomizer\": "
                                       "{\"type\": \"choice\", \"epsilon_local\": 1}\n"),
                    &t->arena, &mistakes, &t->err));
    begin(t, last);
    a.q.rate = 0.1;
    a.q.population = 900000;
    price(t);
    for (size_t i = 0; i < a.count; i++) {
        CHECK(t, a.ways[i].meets);
        CHECK(t, has(a.ways[i].text, "\"on_no_match\":   \"no-value\""));
        CHECK(t, has(a.ways[i].text, "\"boundaries\": [20, 30, 40, 50, 60, 70, 80]"));
        CHECK(t, has(a.ways[i].fragment, "\"population\": 900000"));
        CHECK(t, has(a.ways[i].text, "\"randomizer\"") == (a.ways[i].by == SOTTO_BY_CROWD));
        check_linted(t, &a.ways[i]);
    }
}

/* Check-ins have no rate to choose. */
static void participation_by_slots_stays(sotto_test *t)
{
    begin(t, sotto_test_recipe(t, "{\"type\": \"poisson\", \"rate\": 0.1}",
                               "{\"type\": \"check-in\", \"variant\": \"averaged\", \"window\": 7, "
                               "\"start\": \"2026-11-20T00:00:00Z\", \"slot\": \"1d\"}"));
    want(SOTTO_PRICE_FIND_COHORT, SOTTO_GOAL_HALF_WIDTH, 0.001, SOTTO_UNIT_PART);
    price(t);
    for (size_t i = 0; i < a.count; i++) {
        CHECK(t, a.ways[i].meets && has(a.ways[i].fragment, "\"slot\": \"1d\""));
        check_linted(t, &a.ways[i]);
    }
}

/* ---- budgets, and the best randomizer ------------------------------------------------------------------ */

static void what_is_left_of_budgets_is_told(sotto_test *t)
{
    static sotto_price_budget left[SOTTO_PRICE_BUDGETS];
    size_t count;

    begin(t, sotto_test_recipe(t, "\"epsilon\": 0.30", "\"epsilon\": 0.10"));
    a.q.policy = sotto_test_policy(t, "\"reports\": 1,\n", "\"reports\": 5,\n");
    a.q.rate = 0.1;
    price(t);
    CHECK(t, a.ways[0].meets);
    CHECK_OK(t, sotto_price_budgets(left, &count, &a.ways[0], a.q.policy, &t->err));
    CHECK(t, count == 3);
    /* 0.5 allows five times 0.1, and the deltas of the policy one. */
    CHECK(t, left[0].analysis && left[0].left.units == 400000000000 && left[0].basic);
    CHECK(t, left[0].reports_left == 4 && left[0].more == 0);
    CHECK(t, strcmp(left[1].name, "keyboard_ngrams.age") == 0 &&
                 left[1].left.units == 200000000000 && left[1].reports_left == 0);
}

static void lint_names_the_best_randomizer(sotto_test *t)
{
    const sotto_recipe *recipe = sotto_test_recipe(t, NULL, NULL);
    static sotto_recipe_verdict verdict;
    sotto_best_randomizer best;

    begin(t, recipe);
    a.q.rate = recipe->participation.rate;
    price(t);
    CHECK(t, sotto_price_best_randomizer(&best, recipe, NULL, &verdict, 50000));
    const sotto_price_way *w = sotto_price_best(a.ways, a.count, &a.q, 1);
    CHECK(t, strcmp(best.name, w->claim.randomizer) == 0);
    CHECK(t, best.accuracy.half_width == w->accuracy.half_width);
    /* Few bins, much epsilon: the bin itself is best. */
    recipe = sotto_test_recipe(t,
                               "\"tokens\": [\"a\", \"and\", \"got\", \"hello\", \"home\", "
                               "\"i\", \"school\", \"went\", \"world\"]",
                               "\"tokens\": [\"a\"]");
    ((sotto_recipe *)recipe)->epsilon.units = 3000000000000;
    CHECK(t, sotto_price_best_randomizer(&best, recipe, NULL, &verdict, 50000));
    CHECK(t, strcmp(best.name, "choice") == 0 || strcmp(best.name, "subset") == 0);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_smallest_cohort_is_found),
        CASE(the_smallest_epsilon_is_found),
        CASE(the_accuracy_of_a_budget_is_found),
        CASE(a_policy_that_refuses_is_kept_to),
        CASE(a_device_is_charged_what_the_noise_is_worth),
        CASE(too_few_devices_are_told_how_many_it_takes),
        CASE(a_cohort_that_is_not_filled_meets_nothing),
        CASE(a_goal_that_is_missed_is_not_met),
        CASE(importance_sampling_has_no_price),
        CASE(planned_rates_are_better_than_one_and_than_an_even_split),
        CASE(rates_are_planned_where_devices_would_answer),
        CASE(other_bytes_of_a_recipe_stay),
        CASE(participation_by_slots_stays),
        CASE(what_is_left_of_budgets_is_told),
        CASE(lint_names_the_best_randomizer),
    };

    return RUN_TESTS(argc, argv, cases);
}
