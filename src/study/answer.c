/* What a round found: survivors for the next one, and words or places. */
#include "study/search.h"

#include "base/rule.h"
#include "base/writer.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT = (SOTTO_SEARCH_LONGEST * 4 + 8) * SOTTO_SEARCH_PHRASE };

/* ---- tails ------------------------------------------------------------------------------------------------------- */

/* Letters of a tail, and its number among those of that length. Shorter ones, at whose end the word ends, stand first. */
static unsigned place_tail(const sotto_search *s, const sotto_search_round *r, size_t *tail)
{
    size_t power = 1;

    for (unsigned k = 0; k < r->segment; k++) {
        const bool listed = s->options->kind != SOTTO_SEARCH_PLACES && (r->depth > 0 || k > 0);

        if (listed && *tail < power)
            return k;
        if (listed)
            *tail -= power;
        power *= s->letter_count;
    }
    return r->segment;
}

bool sotto_search_ends(const sotto_search *s, const sotto_search_round *r, size_t tail)
{
    if (r->phrases) /* devices leave longer ones out */
        return tail == 0 || r->depth + 1 == s->options->words;
    return place_tail(s, r, &tail) < r->segment;
}

static void say_letters(const sotto_search *s, size_t number, unsigned letters, sotto_writer *w)
{
    size_t power = 1;

    for (unsigned k = 1; k < letters; k++)
        power *= s->letter_count;
    for (unsigned k = 0; k < letters; k++) {
        sotto_write_format(w, "%s", s->letters[number / power]);
        number %= power;
        power /= s->letter_count;
    }
}

void sotto_search_tail(const sotto_search *s, const sotto_search_round *r, size_t tail,
                       sotto_writer *w)
{
    const unsigned letters = place_tail(s, r, &tail);

    say_letters(s, tail, letters, w);
    if (letters < r->segment)
        sotto_write_format(w, SOTTO_SEARCH_END);
}

/* ---- items ------------------------------------------------------------------------------------------------------- */

/* The text of a cell, without the mark of an end. */
static const char *text_of(const sotto_search *s, const sotto_search_round *r, size_t head,
                           size_t tail)
{
    uint8_t memory[TEXT];
    sotto_buf buf = sotto_buf_over(memory, sizeof memory - 1);
    sotto_writer w = sotto_writer_on(&buf);

    if (r->phrases) {
        sotto_phrases_text(s, head, tail, &w);
    } else {
        if (r->heads > 0)
            sotto_write_format(&w, "%s", s->survivors[head].text);
        const unsigned letters = place_tail(s, r, &tail);
        say_letters(s, tail, letters, &w);
    }
    char *copy = sotto_arena_take(s->arena, buf.len + 1);
    if (copy)
        memcpy(copy, memory, buf.len);
    return copy;
}

static bool put_found(sotto_search *s, sotto_search_item item)
{
    if (s->found_count == s->found_room) {
        const size_t room = s->found_room > 0 ? 2 * s->found_room : 256;
        sotto_search_item *more = sotto_arena_take_array(s->arena, room, sizeof *more);

        if (!more)
            return false;
        if (s->found_count > 0)
            memcpy(more, s->found, s->found_count * sizeof *more);
        s->found = more;
        s->found_room = room;
    }
    s->found[s->found_count++] = item;
    return true;
}

static int by_count(const void *a, const void *b)
{
    const sotto_search_item *x = a, *y = b;

    return x->count != y->count ? (x->count < y->count ? 1 : -1) : strcmp(x->text, y->text);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const sotto_search_item *)a)->text, ((const sotto_search_item *)b)->text);
}

/* Whether one of these, in the order of their texts, begins with the text. */
static bool is_divided(const char *text, const sotto_search_item *next, size_t count)
{
    size_t low = 0, high = count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (strcmp(next[middle].text, text) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && strncmp(next[low].text, text, strlen(text)) == 0;
}

/* A place whose quarters were seen is no longer one by itself. */
static void drop_parents(sotto_search *s, sotto_search_item *next, size_t count)
{
    size_t kept = 0;

    qsort(next, count, sizeof *next, by_text);
    for (size_t i = 0; i < s->found_count; i++)
        if (!is_divided(s->found[i].text, next, count))
            s->found[kept++] = s->found[i];
    s->found_count = kept;
}

/* The largest survivors that the next round has cells for. */
static void prune(sotto_search *s, sotto_search_item *next, size_t count)
{
    const uint64_t room = s->phrasing ? sotto_phrases_heads(s)
                                      : s->options->cells / sotto_search_tails(s, s->depth, 1);

    qsort(next, count, sizeof *next, by_count);
    s->survivors = next;
    s->survivor_count = count;
    if (s->depth < sotto_search_reach(s) && count > room) {
        s->dropped += count - room;
        s->survivor_count = (size_t)room;
    }
}

static bool passes(const sotto_search_round *r, double count)
{
    return count >= (double)r->threshold;
}

/* This answer is not counted yet. */
static bool is_spelt(const sotto_search *s)
{
    sotto_search after = *s;

    after.answered++;
    return !sotto_search_goes_on(&after);
}

static sotto_status take_cells(sotto_search *s, const sotto_search_round *r, const double *counts,
                               sotto_err *err)
{
    const bool places = s->options->kind == SOTTO_SEARCH_PLACES;
    size_t passed = 0, kept = 0;

    for (uint64_t i = 0; i < r->cells; i++)
        passed += passes(r, counts[i]);
    sotto_search_item *next = sotto_arena_take_array(s->arena, passed + 1, sizeof *next);
    if (!next)
        return sotto_fail(err, SOTTO_NO_MEMORY, "%zu survivors", passed);
    for (uint64_t i = 0; i < r->cells; i++) {
        const size_t head = (size_t)i / r->tails, tail = (size_t)i % r->tails;

        if (!passes(r, counts[i]))
            continue;
        const sotto_search_item item = {text_of(s, r, head, tail), counts[i], r->number};
        if (!item.text)
            return sotto_fail(err, SOTTO_NO_MEMORY, "a survivor");
        if (!sotto_search_ends(s, r, tail))
            next[kept++] = item;
        else if (!put_found(s, item))
            return sotto_fail(err, SOTTO_NO_MEMORY, "%zu words", s->found_count);
    }
    if (places)
        drop_parents(s, next, kept);
    for (size_t i = 0; places && i < kept; i++)
        if (!put_found(s, next[i]))
            return sotto_fail(err, SOTTO_NO_MEMORY, "%zu places", s->found_count);
    s->depth += r->segment;
    prune(s, next, kept);
    if (r->phrases)
        sotto_phrases_prune(s);
    else if (s->options->kind == SOTTO_SEARCH_PHRASES && is_spelt(s))
        return sotto_phrases_begin(s, err);
    return SOTTO_OK;
}

/* Counts of the last round are independent of the choice of what is counted, and so unbiased. */
static void take_counts(sotto_search *s, const double *counts)
{
    for (size_t i = 0; i < s->found_count; i++)
        s->found[i].count = counts[i + 1]; /* behind <oov> */
    s->counted = true;
}

sotto_status sotto_search_answer(sotto_search *s, const sotto_search_round *r, const double *counts,
                                 size_t count, sotto_err *err)
{
    if (SOTTO_RULE(search_answers_are_whole) && count != r->cells)
        return sotto_fail(err, SOTTO_MALFORMED, "an answer of %zu bins; round %u has %llu cells",
                          count, r->number, (unsigned long long)r->cells);
    if (r->count)
        take_counts(s, counts);
    else
        SOTTO_TRY(take_cells(s, r, counts, err));
    s->answered++;
    s->spent = s->options->fresh ? (r->rho > s->spent ? r->rho : s->spent) : s->spent + r->rho;
    s->false_finds += r->miss * (double)r->cells;
    return SOTTO_OK;
}
