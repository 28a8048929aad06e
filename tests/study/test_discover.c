/* A search through recipes, devices, both servers' noise and estimates finds what a plain simulation with the same noise finds. */
#include "sim/discover.h"

#include "searching.h"

#include <stdio.h>
#include <string.h>

enum { WORDS = 400, DEVICES = 40000, MOST = 60, LONG = 12 };

static const char policy[] =
    "{\"policy\": \"p\", \"version\": 1, \"analyses\": {\"a\": {\"epsilon\": 30, \"delta\": 1e-5, "
    "\"reports\": 20, \"fields\": [\"s.w\"]}}, \"fields\": {\"s.w\": {\"epsilon_local\": \"none\", "
    "\"by\": [\"servers\"], \"epsilon\": 30, \"delta\": 1e-5, \"reports\": 20}}, "
    "\"non_sensitive\": [], \"min_cohort\": 1000, \"honest\": 0.5, \"report_bytes\": 1000000000}";

/* Words of one to four syllables by Zipf's law. */
static void make(sotto_test *t, sotto_sim_words *out)
{
    const char **words = sotto_arena_take_array(&t->arena, WORDS, sizeof *words);
    uint32_t *of = sotto_arena_take_array(&t->arena, DEVICES, sizeof *of);
    double all = 0, at = 0;
    size_t next = 0;

    CHECK(t, words && of);
    for (size_t i = 0; i < WORDS; i++) {
        char *word = sotto_arena_take(&t->arena, LONG);

        CHECK(t, word != NULL);
        for (size_t k = 0, n = i + 1; n > 0; n /= 16, k += 2)
            (void)snprintf(word + k, LONG - k, "%c%c", "bcdfghlmnprstvwy"[n % 16],
                           "aeiou"[(n + k) % 5]);
        words[i] = word;
        all += 1 / (double)(i + 3);
    }
    for (size_t i = 0; i < WORDS; i++) {
        at += DEVICES / all / (double)(i + 3);
        while (next < DEVICES && (double)next < at)
            of[next++] = (uint32_t)i;
    }
    *out = (sotto_sim_words){words, WORDS, of, DEVICES};
}

static void the_pipeline_finds_what_a_plain_simulation_finds(sotto_test *t)
{
    const sotto_search_options o = searching_options();
    sotto_sim_words devices;
    double recall[2];
    sotto_search s[2];
    size_t wrong[2];

    make(t, &devices);
    for (unsigned plain = 0; plain < 2; plain++) {
        CHECK_OK(t, sotto_search_open(&s[plain], &o, &t->arena, &t->err));
        if (plain)
            CHECK_OK(t, sotto_sim_discover_plainly(&s[1], &devices, 2, &t->err));
        else
            CHECK_OK(t, sotto_sim_discover(&s[0], &devices, searching_frame(),
                                           sotto_bytes_of(policy, strlen(policy)), 1, &t->err));
        CHECK_OK(
            t, sotto_sim_recall(&recall[plain], &wrong[plain], &s[plain], &devices, MOST, &t->err));
    }
    CHECK(t, recall[0] > 0.7 && recall[0] >= recall[1] - 0.1);
    CHECK(t, wrong[0] == 0 && s[0].false_finds < 1);
    CHECK(t, s[0].spent <= s[0].rho);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_pipeline_finds_what_a_plain_simulation_finds),
    };

    return RUN_TESTS(argc, argv, cases);
}
