/* A search for words among two million devices, beside a plain simulation with the same noise. SOTTO_WORDS names a JSON file of words with
 * their counts (tools/words.sh fetches one); without it, words are made up. */
#define _POSIX_C_SOURCE 200809L
#include "bench.h"
#include "sim/discover.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEVICES = 2000000, MADE_UP = 70000, MOST = 1000, LONG = 32 };

static const char letters[] = "abcdefghijklmnopqrstuvwxyz'";

static const char policy[] =
    "{\"policy\": \"p\", \"version\": 1, \"analyses\": {\"a\": {\"epsilon\": 30, \"delta\": 1e-5, "
    "\"reports\": 20, \"fields\": [\"s.w\"]}}, \"fields\": {\"s.w\": {\"epsilon_local\": \"none\", "
    "\"by\": [\"servers\"], \"epsilon\": 30, \"delta\": 1e-5, \"reports\": 20}}, "
    "\"non_sensitive\": [], \"min_cohort\": 1000, \"honest\": 0.5, \"report_bytes\": 1000000000}";
static const char frame[] =
    "{\"recipe\": \"r\", \"version\": 1, \"analysis\": \"a\", \"query\": \"SELECT w FROM s\", "
    "\"encode\": {\"w\": {\"type\": \"categories\", \"values\": [\"a\", \"b\"]}}, "
    "\"participation\": {\"type\": \"poisson\", \"rate\": 1}, "
    "\"privacy\": {\"adjacency\": \"replacement\", \"by\": \"servers\", \"sigma\": 9, "
    "\"epsilon\": 1, \"delta\": 1e-6, \"min_cohort\": 10000}, "
    "\"aggregation\": {\"trust\": \"split\", \"leader\": \"l\", \"helper\": \"h\"}, "
    "\"schedule\": {\"opens\": \"2026-11-20T00:00:00Z\", \"closes\": \"2026-11-27T00:00:00Z\", "
    "\"precision\": \"1h\"}, \"population\": 2000000}";

typedef struct town {
    sotto_arena arena;
    const char **words;
    double *up_to; /* weights, added up */
    size_t count, devices;
    uint32_t *of;
} town;

static void put(town *t, const char *word, double weight)
{
    char *copy = sotto_arena_take(&t->arena, strlen(word) + 1);

    sotto_bench_expect(copy != NULL, "no memory");
    for (size_t i = 0; word[i]; i++)
        copy[i] = (char)(word[i] >= 'A' && word[i] <= 'Z' ? word[i] + 32 : word[i]);
    t->words[t->count] = copy;
    t->up_to[t->count] = weight + (t->count > 0 ? t->up_to[t->count - 1] : 0);
    t->count++;
}

static bool read_words(town *t)
{
    const char *path = getenv("SOTTO_WORDS");
    json_t *json = path ? json_load_file(path, 0, NULL) : NULL;
    const size_t count = json_array_size(json);

    sotto_bench_expect(!path || count > 0, "SOTTO_WORDS names no list of words");
    t->words = sotto_arena_take_array(&t->arena, count + MADE_UP, sizeof *t->words);
    t->up_to = sotto_arena_take_array(&t->arena, count + MADE_UP, sizeof *t->up_to);
    sotto_bench_expect(t->words && t->up_to, "no memory");
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(json, i);

        put(t, json_string_value(json_object_get(item, "word")),
            json_number_value(json_object_get(item, "count")));
    }
    json_decref(json);
    return count > 0;
}

/* By Zipf's law, of syllables. */
static void make_words(town *t, sotto_sim_random *random)
{
    for (size_t i = 0; i < MADE_UP; i++) {
        char word[LONG] = "";
        uint8_t bytes[8];
        size_t len = 0;

        sotto_sim_random_bytes(random, bytes, sizeof bytes);
        for (size_t k = 0; k < 1 + bytes[0] % 4U; k++) {
            word[len++] = "bcdfghlmnprstvwy"[bytes[2 * k % 7 + 1] % 16];
            word[len++] = "aeiou"[bytes[(2 * k + 1) % 7 + 1] % 5];
        }
        (void)snprintf(word + len, sizeof word - len, "%s", bytes[7] % 3 ? "" : "n");
        put(t, word, 1 / ((double)i + 10));
    }
}

static void settle(town *t, size_t devices, sotto_sim_random *random)
{
    t->of = sotto_arena_take_array(&t->arena, devices, sizeof *t->of);
    sotto_bench_expect(t->of != NULL, "no memory");
    t->devices = devices;
    for (size_t i = 0; i < devices; i++) {
        size_t low = 0, high = t->count - 1;
        uint64_t bits;

        sotto_sim_random_bytes(random, &bits, sizeof bits);
        const double at = (double)(bits >> 11) * 0x1p-53 * t->up_to[t->count - 1];
        while (low < high) {
            const size_t middle = low + (high - low) / 2;

            if (t->up_to[middle] > at)
                high = middle;
            else
                low = middle + 1;
        }
        t->of[i] = (uint32_t)low;
    }
}

static double seconds_now(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void note(const sotto_bench *b, const char *name, const char *what, const char *unit,
                 double value)
{
    char full[96];

    (void)snprintf(full, sizeof full, "%s/%s", name, what);
    sotto_bench_note(b, full, unit, value);
}

static void search(const sotto_bench *b, const town *t, const char *name, uint64_t cells)
{
    const sotto_search_options options = {.kind = SOTTO_SEARCH_WORDS,
                                          .alphabet = letters,
                                          .longest = 24,
                                          .cells = cells,
                                          .rounds = 8,
                                          .epsilon = {UINT64_C(1000000000000)},
                                          .delta = {1000000}};
    const sotto_sim_words devices = {t->words, t->count, t->of, t->devices};
    sotto_search found[2];
    double recall[2], took = 0, worked = 0;
    size_t wrong[2];
    sotto_arena arena;
    sotto_err err = {0};

    sotto_arena_init(&arena, (size_t)1 << 30);
    for (unsigned plain = 0; plain < 2; plain++) {
        sotto_status status = sotto_search_open(&found[plain], &options, &arena, &err);
        const double begin = seconds_now();
        const clock_t before = clock();

        if (status == SOTTO_OK)
            status = plain ? sotto_sim_discover_plainly(&found[1], &devices, 3, &err)
                           : sotto_sim_discover(&found[0], &devices,
                                                sotto_bytes_of(frame, strlen(frame)),
                                                sotto_bytes_of(policy, strlen(policy)), 2, &err);
        if (!plain) {
            took = seconds_now() - begin;
            worked = (double)(clock() - before) / CLOCKS_PER_SEC;
        }
        if (status == SOTTO_OK)
            status = sotto_sim_recall(&recall[plain], &wrong[plain], &found[plain], &devices, MOST,
                                      &err);
        sotto_bench_expect(status == SOTTO_OK, err.reason);
    }
    note(b, name, "seconds", "s", took);
    note(b, name, "cpu-seconds", "s", worked); /* what a busy machine adds is not in it */
    note(b, name, "recall-1000", "of 1", recall[0]);
    note(b, name, "recall-1000-plain", "of 1", recall[1]);
    note(b, name, "rounds", "rounds", found[0].answered);
    note(b, name, "found", "words", (double)found[0].found_count);
    note(b, name, "wrong", "words", (double)wrong[0]);
    note(b, name, "wrong-expected", "words", found[0].false_finds);
    sotto_arena_clear(&arena);
}

void sotto_bench_discover(const sotto_bench *b)
{
    static const char small[] = "analyst/discover-words-20000",
                      large[] = "analyst/discover-words-100000";
    sotto_sim_random random;
    town t = {0};

    if (!sotto_bench_wanted(b, small) && !sotto_bench_wanted(b, large))
        return;
    sotto_arena_init(&t.arena, (size_t)1 << 30);
    sotto_sim_random_init(&random, 1);
    if (!read_words(&t))
        make_words(&t, &random);
    settle(&t, b->seconds < 0.1 ? DEVICES / 40 : DEVICES, &random); /* briefly: that it runs */
    if (sotto_bench_wanted(b, small))
        search(b, &t, small, 20000);
    if (sotto_bench_wanted(b, large) && b->seconds >= 0.1)
        search(b, &t, large, 100000);
    sotto_arena_clear(&t.arena);
}
