/* What a search found: text, JSON, CSV. */
#include "analysis_search.h"

#include "base/arena.h"
#include "view/view.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct box {
    double west, south, east, north;
} box;

static box box_of(const sotto_search_options *o, const char *cell)
{
    box b = {o->west, o->south, o->east, o->north};

    for (; *cell; cell++) {
        const double x = b.west + (b.east - b.west) / 2, y = b.south + (b.north - b.south) / 2;

        *((*cell - '0') & 1 ? &b.west : &b.east) = x;
        *((*cell - '0') & 2 ? &b.south : &b.north) = y;
    }
    return b;
}

/* A search for phrases that has words alone so far. */
static bool is_spelling(const discovery *d)
{
    return d->options.kind == SOTTO_SEARCH_PHRASES && !d->search.phrasing;
}

/* A member of JSON, and a column of CSV. */
static const char *thing_of(const discovery *d)
{
    return d->options.kind == SOTTO_SEARCH_PLACES    ? "cell"
           : d->options.kind == SOTTO_SEARCH_PHRASES ? "phrase"
                                                     : "word";
}

/* Of the words that phrases are made of. */
static void vocabulary_json(sotto_json *j, const discovery *d)
{
    const sotto_search *s = &d->search;

    const sotto_search_item *words = s->phrasing ? s->vocabulary : s->found;

    sotto_json_array(j, "words");
    for (size_t i = 0; i < (s->phrasing ? s->vocabulary_count : s->found_count); i++) {
        sotto_json_object(j, NULL);
        sotto_json_text(j, "word", words[i].text);
        sotto_json_real(j, "count", words[i].count);
        sotto_json_uint(j, "round", words[i].round);
        sotto_json_end(j);
    }
    sotto_json_end(j);
}

static void found_json(sotto_json *j, const discovery *d)
{
    const sotto_search *s = &d->search;

    sotto_json_array(j, "found");
    for (size_t i = 0; i < (is_spelling(d) ? 0 : s->found_count); i++) {
        sotto_json_object(j, NULL);
        sotto_json_text(j, thing_of(d), s->found[i].text);
        sotto_json_real(j, "count", s->found[i].count);
        if (s->counted) {
            sotto_json_real(j, "low", d->counted.bins[i + 1].low);
            sotto_json_real(j, "high", d->counted.bins[i + 1].high);
        }
        sotto_json_uint(j, "round", s->found[i].round);
        if (d->options.kind == SOTTO_SEARCH_PLACES) {
            const box b = box_of(&d->options, s->found[i].text);

            sotto_json_real(j, "west", b.west);
            sotto_json_real(j, "south", b.south);
            sotto_json_real(j, "east", b.east);
            sotto_json_real(j, "north", b.north);
        }
        sotto_json_end(j);
    }
    sotto_json_end(j);
}

/* Fresh devices draw one of all rounds, the count at the end among them. */
static unsigned asked_one_in(const discovery *d)
{
    return d->options.fresh ? sotto_search_shares(&d->search) : 1;
}

static int show_json(const discovery *d, FILE *out)
{
    const sotto_search *s = &d->search;
    sotto_json j = sotto_show_object(out, SOTTO_JSON_INDENTED);
    char text[SOTTO_DECIMAL_TEXT];

    sotto_json_bool(&j, "done", d->done);
    sotto_json_uint(&j, "rounds", s->answered);
    sotto_json_bool(&j, "counted", s->counted);
    sotto_json_bool(&j, "fresh_devices", d->options.fresh);
    sotto_json_uint(&j, "asked_one_in", asked_one_in(d));
    sotto_decimal_format(text, d->options.epsilon);
    sotto_json_real(&j, "epsilon", strtod(text, NULL));
    sotto_decimal_format(text, d->options.delta);
    sotto_json_real(&j, "delta", strtod(text, NULL));
    sotto_json_real(&j, "false_finds_expected", s->false_finds);
    sotto_json_uint(&j, "open_prefixes", d->done ? s->survivor_count : 0);
    sotto_json_uint(&j, "dropped", s->dropped);
    if (d->options.kind == SOTTO_SEARCH_PHRASES) {
        sotto_json_uint(&j, "open_words", s->phrasing ? s->unspelt : s->survivor_count);
        sotto_json_uint(&j, "words_left_out", s->unused);
        vocabulary_json(&j, d);
    }
    found_json(&j, d);
    return sotto_show_end(&j) ? EXIT_DONE : EXIT_FAILED;
}

static int show_csv(const discovery *d, FILE *out)
{
    const bool words = d->options.kind != SOTTO_SEARCH_PLACES;
    const sotto_search *s = &d->search;
    sotto_text t = sotto_show_text(out);

    sotto_text_say(&t, "%s,count,%s,round,asked_one_in\n", thing_of(d),
                   words ? "low,high" : "west,south,east,north");
    for (size_t i = 0; i < (is_spelling(d) ? 0 : s->found_count); i++) {
        const sotto_search_item *f = &s->found[i];
        const box b = box_of(&d->options, words ? "" : f->text);

        sotto_text_csv(&t, sotto_bytes_of(f->text, strlen(f->text)));
        sotto_text_say(&t, ",%.10g,", f->count);
        if (words && s->counted)
            sotto_text_say(&t, "%.10g,%.10g,", d->counted.bins[i + 1].low,
                           d->counted.bins[i + 1].high);
        else if (words)
            sotto_text_say(&t, ",,");
        else
            sotto_text_say(&t, "%.10g,%.10g,%.10g,%.10g,", b.west, b.south, b.east, b.north);
        sotto_text_say(&t, "%u,%u\n", f->round, asked_one_in(d));
    }
    return EXIT_DONE;
}

typedef struct ranked {
    const sotto_search_item *item;
    size_t number;
} ranked;

static int by_count(const void *a, const void *b)
{
    const ranked *x = a, *y = b;

    return x->item->count != y->item->count ? (x->item->count < y->item->count ? 1 : -1)
                                            : (x->number > y->number) - (x->number < y->number);
}

static void show_list(const discovery *d, sotto_text *t, size_t most)
{
    const sotto_search *s = &d->search;
    ranked *list = sotto_arena_take_array(&d->job->arena, s->found_count + 1, sizeof *list);

    for (size_t i = 0; list && i < s->found_count; i++)
        list[i] = (ranked){&s->found[i], i};
    if (list)
        qsort(list, s->found_count, sizeof *list, by_count);
    for (size_t i = 0; list && i < s->found_count && i < most; i++) {
        const char *text = list[i].item->text;

        sotto_text_say(t, "  ");
        const size_t used = sotto_text_plain(t, sotto_bytes_of(text, strlen(text)));
        sotto_text_say(t, "%*s %10.0f", used < 24 ? (int)(24 - used) : 0, "", list[i].item->count);
        if (s->counted)
            sotto_text_say(t, "  %.0f to %.0f", ceil(d->counted.bins[list[i].number + 1].low),
                           floor(d->counted.bins[list[i].number + 1].high));
        sotto_text_say(t, "\n");
    }
    if (s->found_count > most)
        sotto_text_say(t, "  and %zu more; `sotto analysis export %s --csv FILE` has all of them\n",
                       s->found_count - most, d->job->folder.path);
}

/* The epsilon is what was promised before the first round: how many there are was chosen by looking at answers. */
static void show_text(const discovery *d, FILE *out, size_t most)
{
    const sotto_search *s = &d->search;
    const bool words = d->options.kind != SOTTO_SEARCH_PLACES;
    sotto_text t = sotto_show_text(out);
    char epsilon[SOTTO_DECIMAL_TEXT], delta[SOTTO_DECIMAL_TEXT];

    sotto_decimal_format(epsilon, d->options.epsilon);
    sotto_decimal_format(delta, d->options.delta);
    sotto_text_say(&t, "%zu %s found in %u rounds%s%s\n\n", s->found_count,
                   is_spelling(d) ? "words" : analysis_search_things(d), s->answered,
                   d->done ? "" : " so far", s->counted ? "; counts with 95% intervals" : "");
    if (d->options.fresh)
        sotto_text_say(&t,
                       "counts are of the devices that a round asks, about one in %u of all\n\n",
                       asked_one_in(d));
    if (s->phrasing)
        sotto_text_say(&t, "over %zu words that were found first\n\n", s->vocabulary_count);
    show_list(d, &t, most);
    sotto_text_say(&t, "\nfalse finds expected: %.2f at most, over all rounds\n", s->false_finds);
    sotto_text_say(&t, "epsilon %s at delta %s, %s\n", epsilon, delta,
                   d->options.fresh
                       ? "of a device that answers one round: each round asks fresh devices"
                       : "of all rounds together: one budget, split over rounds");
    sotto_text_say(&t,
                   "  basis: discrete Gaussian noise of one honest server (Canonne, Kamath and "
                   "Steinke 2020), %s\n",
                   d->options.fresh ? "and ledgers that let a device answer one round"
                                    : "rounds within a filter for zCDP (Feldman and Zrnic 2021)");
    if (s->dropped > 0)
        sotto_text_say(&t,
                       "%" PRIu64 " beginnings were too many for the cells of a round, and were "
                       "left out: --cells has room for more\n",
                       s->dropped);
    if (s->unused > 0)
        sotto_text_say(&t,
                       "%" PRIu64 " words were too many for the cells of a round, and were not "
                       "tried behind others: --cells has room for more\n",
                       s->unused);
    if (s->phrasing && s->unspelt > 0)
        sotto_text_say(&t, "%zu beginnings of words were not followed to their end\n", s->unspelt);
    if (d->done && words && !s->phrasing && s->survivor_count > 0)
        sotto_text_say(&t, "%zu beginnings were not followed to their end: --%s was reached\n",
                       s->survivor_count, s->depth < sotto_search_reach(s) ? "rounds" : "longest");
}

int analysis_search_show(const discovery *d, FILE *out, bool json, bool csv, size_t most)
{
    if (csv)
        return show_csv(d, out);
    if (json)
        return show_json(d, out);
    show_text(d, out, most);
    return EXIT_DONE;
}
