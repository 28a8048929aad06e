/* A search finds what many devices have, nothing that none has, and spends one budget. */
#include "searching.h"

#include "account/gauss/rdp.h"
#include "support/recipes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const crowd people[] = {
    {"the", 900},      {"then", 700}, {"thermos", 650},   {"to", 800}, {"a", 900},
    {"aardvark", 400}, {"zoo", 500},  {"zookeeper", 600}, {"rare", 3}, {"therapist", 5}};
enum { WORDS = sizeof people / sizeof people[0], COMMON = 8 };

static sotto_search open_search(sotto_test *t, const sotto_search_options *o)
{
    sotto_search s;

    CHECK_OK(t, sotto_search_open(&s, o, &t->arena, &t->err));
    return s;
}

static void what_many_devices_have_is_found_and_counted(sotto_test *t)
{
    const sotto_search_options o = searching_options();
    sotto_search s = open_search(t, &o);

    searching_run(t, &s, people, WORDS, 1);
    CHECK(t, s.counted && s.found_count == COMMON);
    for (size_t i = 0; i < COMMON; i++) {
        CHECK(t, searching_found(&s, people[i].word));
        for (size_t j = 0; j < s.found_count; j++)
            if (strcmp(s.found[j].text, people[i].word) == 0)
                CHECK(t, fabs(s.found[j].count - people[i].devices) < 200);
    }
    CHECK(t, s.false_finds < 1);
}

static void a_word_of_the_longest_kind_is_found(sotto_test *t)
{
    for (unsigned longest = 1; longest <= 4; longest++) {
        sotto_search_options o = searching_options();

        o.longest = longest;
        sotto_search s = open_search(t, &o);
        searching_run(t, &s, people, WORDS, 1);
        for (size_t i = 0; i < COMMON; i++)
            CHECK(t, searching_found(&s, people[i].word) == (strlen(people[i].word) <= longest));
        /* What goes on is longer, and said to be. */
        CHECK(t, s.survivor_count > 0 && s.depth == sotto_search_reach(&s));
    }
}

/* Chance: half a false find over all seeds is expected at most in one run; of 20 fixed ones, the number is known. */
static void noise_alone_finds_nothing(sotto_test *t)
{
    const sotto_search_options o = searching_options();
    size_t found = 0;

    for (uint64_t seed = 1; seed <= 20; seed++) {
        sotto_search s = open_search(t, &o);

        searching_run(t, &s, people, 0, seed);
        found += s.found_count;
        CHECK(t, s.false_finds < SOTTO_SEARCH_FALSE);
    }
    CHECK(t, found <= 4);
}

static void rounds_together_stay_within_the_budget(sotto_test *t)
{
    for (unsigned rounds = 1; rounds <= 20; rounds += 3) {
        sotto_search_options o = searching_options();
        sotto_bound epsilon;

        o.rounds = rounds;
        sotto_search s = open_search(t, &o);
        searching_run(t, &s, people, WORDS, rounds);
        CHECK_OK(t, sotto_zcdp_epsilon(&epsilon, s.rho, log(1e-6), &t->err));
        CHECK(t, epsilon.high <= 1 && epsilon.high > 0.999);
        /* With room for draws that are a little off their law. */
        CHECK_OK(t, sotto_zcdp_epsilon(&epsilon, s.rho, log(1e-6) - 1e-3, &t->err));
        CHECK(t, epsilon.high <= 1);
        CHECK(t, s.spent <= s.rho && s.spent > 0.1 * s.rho);
        CHECK(t, s.answered <= rounds + 1);
    }
}

static void rounds_that_are_not_needed_pay_for_the_count(sotto_test *t)
{
    sotto_search_options o = searching_options();
    sotto_search_round r, last = {0};
    sotto_sim_random random;

    o.rounds = 14;
    sotto_search s = open_search(t, &o);
    sotto_sim_random_init(&random, 1);
    while (sotto_search_ask(&s, &r, NULL) == SOTTO_OK) {
        if (r.count)
            CHECK(t, r.sigma_milli < last.sigma_milli && s.answered < o.rounds);
        const double *counts = searching_counts(t, &s, &r, people, WORDS, &random);

        CHECK_OK(t, sotto_search_answer(&s, &r, counts, (size_t)r.cells, &t->err));
        last = r;
    }
    CHECK(t, last.count);
}

static void a_round_keeps_to_its_cells(sotto_test *t)
{
    sotto_search_options o = searching_options();
    double *counts = sotto_arena_take_array(&t->arena, 2000, sizeof *counts);
    sotto_search_round r;

    o.cells = 100; /* three heads of 27 tails */
    sotto_search s = open_search(t, &o);
    CHECK_OK(t, sotto_search_ask(&s, &r, &t->err));
    CHECK(t, r.cells == 26 && r.segment == 1);
    for (size_t i = 0; i < 26; i++)
        counts[i] = 10000 + (double)i;
    CHECK_OK(t, sotto_search_answer(&s, &r, counts, 26, &t->err));
    CHECK_OK(t, sotto_search_ask(&s, &r, &t->err));
    CHECK(t, r.heads == 3 && r.cells == 81 && s.dropped == 23);
    CHECK(t, strcmp(s.survivors[0].text, "z") == 0); /* the largest stay */
}

static void few_survivors_get_long_segments(sotto_test *t)
{
    const sotto_search_options o = searching_options();
    sotto_search s = open_search(t, &o);
    sotto_search_round r;

    CHECK_OK(t, sotto_search_ask(&s, &r, &t->err));
    CHECK(t, r.segment == 2 && r.cells == 26 + 26 * 26);
    double *counts = sotto_arena_take_array(&t->arena, (size_t)r.cells, sizeof *counts);
    counts[26] = 10000; /* "aa" */
    CHECK_OK(t, sotto_search_answer(&s, &r, counts, (size_t)r.cells, &t->err));
    CHECK_OK(t, sotto_search_ask(&s, &r, &t->err));
    CHECK(t, r.heads == 1 && r.segment == 2 && r.depth == 2 && r.cells == 1 + 26 + 26 * 26);
}

static void a_threshold_bounds_what_noise_reaches(sotto_test *t)
{
    int64_t at, higher;
    double chance;

    CHECK_OK(t, sotto_search_threshold(&at, &chance, 20000, 1e-6, &t->arena, &t->err));
    CHECK(t, chance <= 1e-6 && chance > 0.8e-6);
    CHECK(t, at > 130 && at < 140); /* 4.75 deviations of 28.3 */
    CHECK_OK(t, sotto_search_threshold(&higher, &chance, 20000, 1e-9, &t->arena, &t->err));
    CHECK(t, higher > at);
    CHECK_OK(t, sotto_search_threshold(&at, &chance, 500000000, 1e-6, &t->arena, &t->err));
    CHECK(t, (double)at > 4.75 * sqrt(2) * 500000); /* a bound lies above the law */
}

static void an_answer_has_all_cells(sotto_test *t)
{
    const sotto_search_options o = searching_options();
    sotto_search s = open_search(t, &o);
    double *counts = sotto_arena_take_array(&t->arena, 2001, sizeof *counts);
    sotto_search_round r;

    CHECK_OK(t, sotto_search_ask(&s, &r, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_search_answer(&s, &r, counts, (size_t)r.cells - 1, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_search_answer(&s, &r, counts, (size_t)r.cells + 1, &t->err));
    CHECK(t, s.answered == 0);
}

static sotto_status status_of(sotto_test *t, const sotto_search_options *o)
{
    sotto_search s;

    return sotto_search_open(&s, o, &t->arena, &t->err);
}

/* Each draw is 2^-100 from its law: little at an epsilon of 16, and too much at 60. */
static void draws_of_all_rounds_are_paid_for(sotto_test *t)
{
    sotto_search_options o = searching_options();

    o.epsilon.units = UINT64_C(16000000000000);
    CHECK_OK(t, status_of(t, &o));
    o.epsilon.units = UINT64_C(60000000000000);
    CHECK_STATUS(t, SOTTO_MALFORMED, status_of(t, &o));
    CHECK_REASON(t, "samplers' own error");
}

static void settings_that_make_no_sense_are_refused(sotto_test *t)
{
    static const char *const alphabets[] = {"", "a", "aba", "a b", "ab\xff", "\xc3"};
    sotto_search_options o;

    for (size_t i = 0; i < sizeof alphabets / sizeof alphabets[0]; i++) {
        o = searching_options();
        o.alphabet = alphabets[i];
        CHECK_STATUS(t, SOTTO_MALFORMED, status_of(t, &o));
    }
    o = searching_options();
    o.rounds = 0;
    CHECK_STATUS(t, SOTTO_MALFORMED, status_of(t, &o));
    o = searching_options();
    o.longest = SOTTO_SEARCH_LONGEST + 1;
    CHECK_STATUS(t, SOTTO_MALFORMED, status_of(t, &o));
    o = searching_options();
    o.epsilon.units = 0;
    CHECK_STATUS(t, SOTTO_MALFORMED, status_of(t, &o));
    o = searching_options();
    o.kind = SOTTO_SEARCH_PLACES;
    CHECK_STATUS(t, SOTTO_MALFORMED, status_of(t, &o)); /* no box */
    o = searching_options();
    o.alphabet = "\xc3\xa4\xc3\xb6\xe2\x82\xac";
    CHECK_OK(t, status_of(t, &o));
}

static void the_mark_of_an_end_is_no_letter(sotto_test *t)
{
    sotto_search_options o = searching_options();

    o.alphabet = "ab$";
    CHECK_STATUS(t, SOTTO_MALFORMED, status_of(t, &o));
}

static void a_round_has_a_cell_for_each_letter(sotto_test *t)
{
    sotto_search_options o = searching_options();

    o.cells = 26;
    CHECK_STATUS(t, SOTTO_MALFORMED, status_of(t, &o));
    o.cells = 27;
    CHECK_OK(t, status_of(t, &o));
    o.cells = 1000001;
    CHECK_STATUS(t, SOTTO_MALFORMED, status_of(t, &o));
}

/* ---- recipes ------------------------------------------------------------------------------------------------------------- */

static sotto_status recipe_of(sotto_test *t, sotto_bytes *text, const sotto_search_options *o,
                              sotto_bytes frame, const sotto_policy *policy)
{
    sotto_search_round r;
    sotto_search s = open_search(t, o);
    const sotto_recipe *of = searching_read(t, frame);

    CHECK_OK(t, sotto_search_ask(&s, &r, &t->err));
    return sotto_search_recipe(text, &s, &r, of, policy, &t->arena, &t->err);
}

static sotto_bytes frame_with(sotto_test *t, const char *old, const char *new)
{
    return sotto_test_replace(t, (const char *)searching_frame().data, old, new);
}

static void a_recipe_claims_what_it_states(sotto_test *t)
{
    const sotto_search_options o = searching_options();
    static sotto_mistakes mistakes;
    sotto_recipe_claim claim;
    sotto_bytes text;

    CHECK_OK(t, recipe_of(t, &text, &o, searching_frame(), NULL));
    const sotto_recipe *r = searching_read(t, text);
    memset(&mistakes, 0, sizeof mistakes);
    CHECK_OK(t, sotto_recipe_lint(&claim, r, NULL, &mistakes, &t->err));
    CHECK(t, claim.epsilon_cohort <= sotto_decimal_up(r->epsilon));
    CHECK(t, claim.epsilon_cohort > sotto_decimal_down(r->epsilon) - 1.1e-5);
    CHECK(t, strcmp(r->name, "words.1") == 0);
}

static void a_search_takes_noise_of_servers_alone(sotto_test *t)
{
    const sotto_search_options o = searching_options();
    sotto_bytes text;

    CHECK_STATUS(t, SOTTO_DENIED,
                 recipe_of(t, &text, &o, frame_with(t, "\"servers\"", "\"shares\""), NULL));
}

/* Silence is counted without noise, and a random bin is a find that nobody has. */
static void devices_without_a_match_answer_no_value(sotto_test *t)
{
    static const char *const others[] = {"silence", "random-bin"};
    const sotto_search_options o = searching_options();
    char with[80];
    sotto_bytes text;

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        (void)snprintf(with, sizeof with, "\"on_no_match\": \"%s\", \"encode\"", others[i]);
        CHECK_STATUS(t, SOTTO_DENIED,
                     recipe_of(t, &text, &o, frame_with(t, "\"encode\"", with), NULL));
        CHECK(t, strstr(t->err.reason, "on_no_match") != NULL);
    }
    CHECK_OK(t, recipe_of(t, &text, &o,
                          frame_with(t, "\"encode\"", "\"on_no_match\": \"no-value\", \"encode\""),
                          NULL));
}

static void a_round_is_a_span_of_time(sotto_test *t)
{
    const sotto_search_options o = searching_options();
    sotto_bytes text;

    CHECK_STATUS(t, SOTTO_DENIED,
                 recipe_of(t, &text, &o,
                           frame_with(t, "\"trust\": \"split\"",
                                      "\"trust\": \"split\", \"batch_mode\": "
                                      "\"leader-selected\""),
                           NULL));
    CHECK(t, strstr(t->err.reason, "batch_mode") != NULL);
}

static void a_frame_that_no_search_can_ask_is_refused(sotto_test *t)
{
    const sotto_search_options o = searching_options();
    sotto_search_options places = searching_options();
    sotto_bytes text;

    CHECK_STATUS(t, SOTTO_DENIED,
                 recipe_of(t, &text, &o,
                           frame_with(t, "\"encode\"",
                                      "\"cohorts\": {\"locale\": [\"x\", \"y\"]}, \"encode\""),
                           NULL));
    places.kind = SOTTO_SEARCH_PLACES;
    places.longest = 4;
    places.east = places.north = 16;
    CHECK_STATUS(t, SOTTO_DENIED, recipe_of(t, &text, &places, searching_frame(), NULL));
}

static const char policy_text[] =
    "{\"policy\": \"p\", \"version\": 1, \"analyses\": {\"a\": {\"epsilon\": 4, \"delta\": 1e-5, "
    "\"reports\": 2, \"fields\": [\"s.w\"]}}, \"fields\": {\"s.w\": {\"epsilon_local\": \"none\", "
    "\"by\": [\"servers\"], \"epsilon\": 4, \"delta\": 1e-5, \"reports\": 2}}, "
    "\"non_sensitive\": [], \"min_cohort\": 1000, \"honest\": 0.5}";

static const sotto_policy *read_policy(sotto_test *t, const char *old, const char *new)
{
    static sotto_mistakes mistakes;
    const sotto_policy *policy = NULL;

    memset(&mistakes, 0, sizeof mistakes);
    CHECK_OK(t, sotto_policy_read(&policy, sotto_test_replace(t, policy_text, old, new), &t->arena,
                                  &mistakes, &t->err));
    return policy;
}

static void fresh_devices_answer_one_round_by_their_policy(sotto_test *t)
{
    sotto_search_options o = searching_options();
    sotto_bytes text;

    o.fresh = o.ledgers = true;
    CHECK_STATUS(t, SOTTO_DENIED,
                 recipe_of(t, &text, &o, searching_frame(), read_policy(t, "p", "p")));
    CHECK_OK(t,
             recipe_of(t, &text, &o, searching_frame(),
                       read_policy(t, "\"reports\": 2, \"fields\"", "\"reports\": 1, \"fields\"")));
    /* One of nine rounds, drawn by each device. */
    CHECK(t, fabs(searching_read(t, text)->participation.rate - 1.0 / 9) < 1e-5);
}

/* A budget that is new after a while pays for a second round. */
static void fresh_devices_have_budgets_that_stay_spent(sotto_test *t)
{
    sotto_search_options o = searching_options();
    sotto_bytes text;
    const sotto_policy *again =
        read_policy(t, "\"reports\": 2, \"fields\": [\"s.w\"]}}",
                    "\"reports\": 1, \"fields\": [\"s.w\"]}}, \"period_days\": 1");

    o.fresh = o.ledgers = true;
    CHECK(t, again->period_days == 1);
    CHECK_STATUS(t, SOTTO_DENIED, recipe_of(t, &text, &o, searching_frame(), again));
    CHECK(t, strstr(t->err.reason, "period_days") != NULL);
    o.fresh = false;
    CHECK_OK(t, recipe_of(t, &text, &o, searching_frame(), again));
}

/* The whole budget for each: less noise than where it is split, among fewer devices. */
static void fresh_devices_have_the_whole_budget(sotto_test *t)
{
    sotto_search_options o = searching_options();
    sotto_search_round split, fresh;
    sotto_search s = open_search(t, &o);

    CHECK_OK(t, sotto_search_ask(&s, &split, &t->err));
    o.fresh = true;
    s = open_search(t, &o);
    CHECK_OK(t, sotto_search_ask(&s, &fresh, &t->err));
    CHECK(t, fabs((double)split.sigma_milli / (double)fresh.sigma_milli - 3) < 0.01);
    CHECK(t, fresh.rho <= s.rho && split.rate == 1 && fabs(fresh.rate - 1.0 / 9) < 1e-12);
}

static void denied_words_are_left_to_devices(sotto_test *t)
{
    static const char *const denied[] = {"the", "don't"};
    sotto_search_options o = searching_options();
    sotto_bytes text;

    o.denied = denied;
    o.denied_count = 2;
    CHECK_OK(t, recipe_of(t, &text, &o, searching_frame(), NULL));
    CHECK(t, strstr(searching_read(t, text)->query, "w NOT IN ('the', 'don''t')") != NULL);
    const char *many[3000];
    for (size_t i = 0; i < 3000; i++)
        many[i] = "word";
    o.denied = many;
    o.denied_count = 3000;
    CHECK_STATUS(t, SOTTO_TOO_LARGE, recipe_of(t, &text, &o, searching_frame(), NULL));
}

static void places_are_divided_where_devices_are(sotto_test *t)
{
    static const crowd here[] = {{"0312", 900}, {"0311", 800}, {"2000", 30}, {"2111", 30},
                                 {"2222", 30},  {"2333", 30},  {"1000", 3}};
    sotto_search_options o = searching_options();
    sotto_sim_random random;
    sotto_search_round r;

    o.kind = SOTTO_SEARCH_PLACES;
    o.longest = 4;
    o.cells = 16;
    o.east = o.north = 16;
    sotto_search s = open_search(t, &o);
    sotto_sim_random_init(&random, 1);
    while (sotto_search_ask(&s, &r, NULL) == SOTTO_OK) {
        double *counts = sotto_arena_take_array(&t->arena, (size_t)r.cells, sizeof *counts);

        for (size_t i = 0; i < sizeof here / sizeof here[0]; i++)
            for (uint64_t c = 0; c < r.cells; c++) {
                uint8_t memory[32];
                sotto_buf buf = sotto_buf_over(memory, sizeof memory);
                sotto_writer w = sotto_writer_on(&buf);
                const char *head = r.heads ? s.survivors[c / r.tails].text : "";

                sotto_search_tail(&s, &r, (size_t)c % r.tails, &w);
                if (strncmp(here[i].word, head, r.depth) == 0 &&
                    memcmp(here[i].word + r.depth, memory, buf.len) == 0)
                    counts[c] += here[i].devices;
            }
        CHECK_OK(t, sotto_search_answer(&s, &r, counts, (size_t)r.cells, &t->err));
    }
    /* The dense corner to the end; the thin one as far as it stands out of noise. */
    CHECK(t, searching_found(&s, "0312") && searching_found(&s, "0311"));
    CHECK(t, searching_found(&s, "2") && !searching_found(&s, "2000"));
    CHECK(t, !searching_found(&s, "03") && !searching_found(&s, "1000"));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(what_many_devices_have_is_found_and_counted),
        CASE(a_word_of_the_longest_kind_is_found),
        CASE(noise_alone_finds_nothing),
        CASE(rounds_together_stay_within_the_budget),
        CASE(rounds_that_are_not_needed_pay_for_the_count),
        CASE(a_round_keeps_to_its_cells),
        CASE(few_survivors_get_long_segments),
        CASE(a_threshold_bounds_what_noise_reaches),
        CASE(an_answer_has_all_cells),
        CASE(draws_of_all_rounds_are_paid_for),
        CASE(settings_that_make_no_sense_are_refused),
        CASE(the_mark_of_an_end_is_no_letter),
        CASE(a_round_has_a_cell_for_each_letter),
        CASE(a_recipe_claims_what_it_states),
        CASE(a_search_takes_noise_of_servers_alone),
        CASE(devices_without_a_match_answer_no_value),
        CASE(a_round_is_a_span_of_time),
        CASE(a_frame_that_no_search_can_ask_is_refused),
        CASE(fresh_devices_answer_one_round_by_their_policy),
        CASE(fresh_devices_have_budgets_that_stay_spent),
        CASE(fresh_devices_have_the_whole_budget),
        CASE(denied_words_are_left_to_devices),
        CASE(places_are_divided_where_devices_are),
    };

    return RUN_TESTS(argc, argv, cases);
}
