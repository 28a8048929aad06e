#include "searching.h"

#include "recipe/encoding.h"

#include <math.h>
#include <string.h>

#define REST                                                                                       \
    "\"participation\": {\"type\": \"poisson\", \"rate\": 1}, "                                    \
    "\"privacy\": {\"adjacency\": \"replacement\", \"by\": \"servers\", \"sigma\": 9, "            \
    "\"epsilon\": 1, \"delta\": 1e-6, \"min_cohort\": 1000}, "                                     \
    "\"aggregation\": {\"trust\": \"split\", \"leader\": \"l\", \"helper\": \"h\"}, "              \
    "\"schedule\": {\"opens\": \"2026-11-20T00:00:00Z\", "                                         \
    "\"closes\": \"2026-11-27T00:00:00Z\", \"precision\": \"1h\"}, \"population\": 20000}"
#define WITH(query, encode)                                                                        \
    "{\"recipe\": \"words\", \"version\": 1, \"analysis\": \"a\", \"query\": \"" query             \
    "\", \"encode\": {" encode "}, " REST

static const char frame[] = WITH("SELECT lower(w) AS w FROM s;",
                                 "\"w\": {\"type\": \"categories\", \"values\": [\"a\", \"b\"]}"),
                  phrases[] = WITH("SELECT w, p FROM s",
                                   "\"w\": {\"type\": \"categories\", \"values\": [\"a\", \"b\"]}, "
                                   "\"p\": {\"type\": \"categories\", \"values\": [\"a\", \"b\"]}, "
                                   "\"combine\": [\"w\", \"p\"]");

sotto_bytes searching_phrases(void)
{
    return sotto_bytes_of(phrases, strlen(phrases));
}

sotto_bytes searching_frame(void)
{
    return sotto_bytes_of(frame, strlen(frame));
}

const sotto_recipe *searching_read(sotto_test *t, sotto_bytes text)
{
    static sotto_mistakes mistakes;
    const sotto_recipe *recipe = NULL;

    memset(&mistakes, 0, sizeof mistakes);
    CHECK_OK(t, sotto_recipe_read(&recipe, text, &t->arena, &mistakes, &t->err));
    return recipe;
}

sotto_search_options searching_options(void)
{
    return (sotto_search_options){.kind = SOTTO_SEARCH_WORDS,
                                  .alphabet = "abcdefghijklmnopqrstuvwxyz",
                                  .longest = 12,
                                  .cells = 2000,
                                  .rounds = 8,
                                  .epsilon = {UINT64_C(1000000000000)},
                                  .delta = {1000000}};
}

static double normal(sotto_sim_random *random)
{
    double u[2];

    for (unsigned i = 0; i < 2; i++) {
        uint64_t bits;

        sotto_sim_random_bytes(random, &bits, sizeof bits);
        u[i] = ((double)(bits >> 11) + 0.5) * 0x1p-53;
    }
    return sqrt(-2 * log(u[0])) * cos(2 * 3.14159265358979323846 * u[1]);
}

/* As the round's query cuts the text, of single bytes. */
static size_t cut(sotto_datum cells[2], const sotto_search_round *r, const char *text, size_t len)
{
    const size_t head = len < r->depth ? len : r->depth, rest = len - head,
                 tail = rest < r->segment ? rest : r->segment;
    size_t count = 0;

    if (r->count || r->phrases) {
        cells[0] = (sotto_datum){.type = SOTTO_DATUM_TEXT, .text = sotto_bytes_of(text, len)};
        return 1;
    }
    if (r->heads > 0)
        cells[count++] =
            (sotto_datum){.type = SOTTO_DATUM_TEXT, .text = sotto_bytes_of(text, head)};
    cells[count++] =
        (sotto_datum){.type = SOTTO_DATUM_TEXT, .text = sotto_bytes_of(text + head, tail)};
    return count;
}

const char *searching_phrase(const crowd *people)
{
    return people->word + strcspn(people->word, "|") + 1;
}

static unsigned words_of(const char *text)
{
    unsigned words = 1;

    for (; *text; text++)
        words += *text == ' ';
    return words;
}

double *searching_counts(sotto_test *t, const sotto_search *s, const sotto_search_round *r,
                         const crowd *people, size_t count, sotto_sim_random *random)
{
    const bool phrase = s->options->kind == SOTTO_SEARCH_PHRASES;
    const sotto_recipe *recipe,
        *of = searching_read(t, phrase ? searching_phrases() : searching_frame());
    double *counts = sotto_arena_take_array(&t->arena, (size_t)r->cells, sizeof *counts);
    sotto_bytes text;

    CHECK(t, counts != NULL);
    CHECK_OK(t, sotto_search_recipe(&text, s, r, of, NULL, &t->arena, &t->err));
    recipe = searching_read(t, text);
    CHECK(t, recipe->encoding.bins == r->cells);
    for (size_t i = 0; i < count; i++) {
        const char *own = r->phrases ? searching_phrase(&people[i]) : people[i].word;
        char word[SOTTO_SEARCH_LONGEST + 2] = "";
        sotto_datum cells[2];

        if (r->phrases && words_of(own) > s->options->words) /* as the query has it */
            continue;
        memcpy(word, own, strcspn(own, "|"));
        if (!r->count && !r->phrases && s->options->kind != SOTTO_SEARCH_PLACES)
            memcpy(word + strlen(word), SOTTO_SEARCH_END, 1);
        CHECK(t, cut(cells, r, word, strlen(word)) == recipe->encoding.count);
        const uint64_t bin = sotto_encoding_bin_vartime(&recipe->encoding, cells);
        if (bin < r->cells)
            counts[bin] += people[i].devices;
    }
    for (uint64_t i = 0; i < r->cells; i++)
        counts[i] += floor(sqrt(2) * (double)r->sigma_milli / 1000 * normal(random) + 0.5);
    return counts;
}

void searching_run(sotto_test *t, sotto_search *s, const crowd *people, size_t count, uint64_t seed)
{
    sotto_sim_random random;
    sotto_search_round r;

    sotto_sim_random_init(&random, seed);
    while (sotto_search_ask(s, &r, NULL) == SOTTO_OK) {
        const double *counts = searching_counts(t, s, &r, people, count, &random);

        CHECK_OK(t, sotto_search_answer(s, &r, counts, (size_t)r.cells, &t->err));
    }
}

bool searching_found(const sotto_search *s, const char *word)
{
    for (size_t i = 0; i < s->found_count; i++)
        if (strcmp(s->found[i].text, word) == 0)
            return true;
    return false;
}
