/* A search for phrases finds those of many devices, over words that it found itself, within one budget. A search that devices can't
 * pay for is refused before its first round. */
#include "searching.h"

#include "study/budget.h"
#include "support/recipes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const crowd people[] = {{"thank|thank you", 900},
                               {"you|thank you so much", 800},
                               {"so|see you so soon", 700},
                               {"much|so much", 600},
                               {"soon|see you soon", 500},
                               {"see|see you", 600},
                               {"you|you", 650},
                               {"root|root beer", 700},
                               {"beer|root beer soon", 600},
                               {"root|beer so soon", 500},
                               {"rare|rare beer", 3},
                               {"soon|so much beer so soon you see", 600}};
enum { PEOPLE = sizeof people / sizeof people[0] };

static sotto_search_options options_of(unsigned words)
{
    sotto_search_options o = searching_options();

    o.kind = SOTTO_SEARCH_PHRASES;
    o.words = words;
    return o;
}

static sotto_search open_search(sotto_test *t, const sotto_search_options *o)
{
    sotto_search s;

    CHECK_OK(t, sotto_search_open(&s, o, &t->arena, &t->err));
    return s;
}

static unsigned words_of(const char *text)
{
    unsigned words = 1;

    for (; *text; text++)
        words += *text == ' ';
    return words;
}

/* Those that begin with the word "root", too, which is the name of a tree's own list. */
static void phrases_of_many_devices_are_found_and_counted(sotto_test *t)
{
    for (unsigned words = 2; words <= 4; words++) {
        const sotto_search_options o = options_of(words);
        sotto_search s = open_search(t, &o);
        size_t expected = 0;

        searching_run(t, &s, people, PEOPLE, words);
        CHECK(t, s.phrasing && s.counted && s.vocabulary_count == 8);
        for (size_t i = 0; i < PEOPLE; i++) {
            const char *phrase = searching_phrase(&people[i]);
            const bool is_there = people[i].devices > 100 && words_of(phrase) <= words;

            expected += is_there;
            CHECK(t, searching_found(&s, phrase) == is_there);
            for (size_t j = 0; j < s.found_count; j++)
                if (strcmp(s.found[j].text, phrase) == 0)
                    CHECK(t, fabs(s.found[j].count - people[i].devices) < 200);
        }
        CHECK(t, s.found_count == expected && s.false_finds < 1);
        CHECK(t, s.dropped == 0);
    }
}

/* Chance: half a false find is expected at most in one run; of 20 fixed seeds, the number is known. */
static void noise_alone_finds_no_phrase(sotto_test *t)
{
    static const crowd words[] = {{"thank|", 900}, {"you|", 900}, {"so|", 900}, {"much|", 900}};
    const sotto_search_options o = options_of(4);
    size_t found = 0;

    for (uint64_t seed = 1; seed <= 20; seed++) {
        sotto_search s = open_search(t, &o);

        searching_run(t, &s, words, 4, seed);
        CHECK(t, s.vocabulary_count >= 4 && s.false_finds < SOTTO_SEARCH_FALSE);
        found += s.found_count;
    }
    CHECK(t, found <= 4);
}

static void phrases_have_a_part_of_the_same_budget(sotto_test *t)
{
    for (unsigned rounds = 4; rounds <= 12; rounds += 4)
        for (unsigned words = 2; words <= 8; words += 3) {
            sotto_search_options o = options_of(words);

            o.rounds = rounds;
            sotto_search s = open_search(t, &o);
            CHECK(t, sotto_search_shares(&s) == rounds + words);
            searching_run(t, &s, people, PEOPLE, rounds);
            CHECK(t, s.spent <= s.rho && s.spent > 0.1 * s.rho);
            CHECK(t, s.counted && s.answered <= rounds + words);
        }
}

/* More words than cells: the most frequent ones are tried, as heads and behind heads. */
static void a_round_over_words_keeps_to_its_cells(sotto_test *t)
{
    enum { WORDS = 60 };
    static char names[WORDS][4], texts[WORDS][12];
    static crowd many[WORDS];
    sotto_search_options o = options_of(3);
    sotto_sim_random random;
    sotto_search_round r;
    unsigned rounds = 0;

    for (size_t i = 0; i < WORDS; i++) {
        (void)snprintf(names[i], sizeof names[i], "%c%c", (char)('a' + i % 26),
                       (char)('a' + i / 26));
        (void)snprintf(texts[i], sizeof texts[i], "%s|%s", names[i], i < 30 ? "aa ba" : names[i]);
        many[i] = (crowd){texts[i], 4000 - (unsigned)i * 20};
    }
    o.cells = 2000;
    sotto_search s = open_search(t, &o);
    sotto_sim_random_init(&random, 1);
    while (sotto_search_ask(&s, &r, NULL) == SOTTO_OK) {
        if (r.phrases && !r.count) {
            CHECK(t, r.cells == r.heads * (uint64_t)r.tails && r.cells <= o.cells);
            rounds++;
        }
        const double *counts = searching_counts(t, &s, &r, many, WORDS, &random);

        CHECK_OK(t, sotto_search_answer(&s, &r, counts, (size_t)r.cells, &t->err));
    }
    CHECK(t, rounds > 0 && s.unused == WORDS - 44); /* 44 heads with 44 words each, and an end */
    CHECK(t, searching_found(&s, "aa ba") && searching_found(&s, names[30]));
    CHECK(t, !searching_found(&s, names[WORDS - 1]));
}

static void devices_leave_longer_phrases_out(sotto_test *t)
{
    static const char *const denied[] = {"thank you"};
    sotto_search_options o = options_of(3);
    sotto_search_round r;
    sotto_sim_random random;
    sotto_bytes text;

    o.denied = denied;
    o.denied_count = 1;
    sotto_search s = open_search(t, &o);
    sotto_sim_random_init(&random, 1);
    while (sotto_search_ask(&s, &r, NULL) == SOTTO_OK) {
        CHECK_OK(t, sotto_search_recipe(&text, &s, &r, searching_read(t, searching_phrases()), NULL,
                                        &t->arena, &t->err));
        const char *query = searching_read(t, text)->query;
        CHECK(t, (strstr(query, "p NOT LIKE '% % % %'") != NULL) == r.phrases);
        CHECK(t, (strstr(query, "p NOT IN ('thank you')") != NULL) == r.phrases);
        const double *counts = searching_counts(t, &s, &r, people, PEOPLE, &random);
        CHECK_OK(t, sotto_search_answer(&s, &r, counts, (size_t)r.cells, &t->err));
    }
    CHECK(t, s.phrasing);
}

static void phrases_need_a_word_and_a_phrase(sotto_test *t)
{
    const sotto_search_options o = options_of(2);
    sotto_search s = open_search(t, &o);
    sotto_search_options bad = options_of(1);
    sotto_search_round r;
    sotto_bytes text;

    CHECK_OK(t, sotto_search_ask(&s, &r, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_search_recipe(&text, &s, &r, searching_read(t, searching_frame()), NULL,
                                     &t->arena, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_search_open(&s, &bad, &t->arena, &t->err));
    bad.words = SOTTO_SEARCH_PHRASE + 1;
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_search_open(&s, &bad, &t->arena, &t->err));
}

/* ---- before the first round ---------------------------------------------------------------------------------------------- */

static const char policy_text[] =
    "{\"policy\": \"p\", \"version\": 1, \"analyses\": {\"a\": {\"epsilon\": 30, \"delta\": 1e-5, "
    "\"reports\": 30, \"fields\": [\"s.w\"]}}, \"fields\": {\"s.w\": {\"epsilon_local\": \"none\", "
    "\"by\": [\"servers\"], \"epsilon\": 30, \"delta\": 1e-5, \"reports\": 30}}, "
    "\"non_sensitive\": [], \"min_cohort\": 1000, \"honest\": 0.5}";

static sotto_status foreseen(sotto_test *t, const sotto_search_options *o, const char *old,
                             const char *new, unsigned *round)
{
    static sotto_mistakes mistakes;
    const sotto_policy *policy = NULL;
    sotto_search s = open_search(t, o);

    memset(&mistakes, 0, sizeof mistakes);
    CHECK_OK(t, sotto_policy_read(&policy, sotto_test_replace(t, policy_text, old, new), &t->arena,
                                  &mistakes, &t->err));
    return sotto_study_foresee(round, &s, searching_read(t, searching_frame()), policy, &t->arena,
                               &t->err);
}

static void a_search_that_devices_can_not_pay_for_is_refused(sotto_test *t)
{
    const sotto_search_options o = searching_options(); /* 8 rounds, and the count */
    unsigned round;

    CHECK_OK(t, foreseen(t, &o, "p", "p", &round));
    CHECK_STATUS(
        t, SOTTO_DENIED,
        foreseen(t, &o, "\"reports\": 30, \"fields\"", "\"reports\": 8, \"fields\"", &round));
    CHECK(t, round == 9 && strstr(t->err.reason, "a allows 8 reports") != NULL);
    CHECK_OK(t,
             foreseen(t, &o, "\"reports\": 30, \"fields\"", "\"reports\": 9, \"fields\"", &round));
    CHECK_STATUS(t, SOTTO_DENIED,
                 foreseen(t, &o, "\"by\": [\"servers\"], \"epsilon\": 30",
                          "\"by\": [\"servers\"], \"epsilon\": 2", &round));
    CHECK(t, round > 4 && round < 8 && strstr(t->err.reason, "s.w allows epsilon 2:") != NULL);
}

static void rounds_that_can_not_come_are_not_priced(sotto_test *t)
{
    sotto_search_options o = searching_options();
    unsigned round;

    o.longest = 3; /* letters, and the end: four rounds at most, and the count */
    CHECK_OK(t,
             foreseen(t, &o, "\"reports\": 30, \"fields\"", "\"reports\": 5, \"fields\"", &round));
    CHECK_STATUS(
        t, SOTTO_DENIED,
        foreseen(t, &o, "\"reports\": 30, \"fields\"", "\"reports\": 4, \"fields\"", &round));
    CHECK(t, round == 5);
}

/* Rounds pay for the count where the search ends early: the ledger sees one large epsilon. */
static void a_count_that_comes_early_is_foreseen(sotto_test *t)
{
    sotto_search_options o = searching_options();
    unsigned round;

    o.rounds = 1;
    CHECK_OK(t, foreseen(t, &o, "\"by\": [\"servers\"], \"epsilon\": 30",
                         "\"by\": [\"servers\"], \"epsilon\": 1.5", &round));
    CHECK_STATUS(t, SOTTO_DENIED,
                 foreseen(t, &o, "\"by\": [\"servers\"], \"epsilon\": 30",
                          "\"by\": [\"servers\"], \"epsilon\": 1.3", &round));
    CHECK(t, round == 2);
}

static void fresh_devices_pay_for_one_round(sotto_test *t)
{
    sotto_search_options o = searching_options();
    unsigned round;

    o.fresh = true;
    CHECK_OK(t,
             foreseen(t, &o, "\"reports\": 30, \"fields\"", "\"reports\": 1, \"fields\"", &round));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(phrases_of_many_devices_are_found_and_counted),
        CASE(noise_alone_finds_no_phrase),
        CASE(phrases_have_a_part_of_the_same_budget),
        CASE(a_round_over_words_keeps_to_its_cells),
        CASE(devices_leave_longer_phrases_out),
        CASE(phrases_need_a_word_and_a_phrase),
        CASE(a_search_that_devices_can_not_pay_for_is_refused),
        CASE(rounds_that_can_not_come_are_not_priced),
        CASE(a_count_that_comes_early_is_foreseen),
        CASE(fresh_devices_pay_for_one_round),
    };

    return RUN_TESTS(argc, argv, cases);
}
