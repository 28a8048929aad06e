/* Phrases over the words that were found: the letters of this part of a search are words. */
#include "study/search.h"

#include "base/writer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define say sotto_write_format

/* The key of a tree's own first list. What follows the first word "root" has it with a space behind it (encode: prefix-tree). */
static const char own_key[] = "root", root_key[] = "root ";

static int by_count(const void *a, const void *b)
{
    const sotto_search_item *x = a, *y = b;

    return x->count != y->count ? (x->count < y->count ? 1 : -1) : strcmp(x->text, y->text);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const sotto_search_item *)a)->text, ((const sotto_search_item *)b)->text);
}

/* ---- cells -------------------------------------------------------------------------------------------------------- */

/* As many heads as words behind each, where both are too many: of frequent words both matter alike. */
uint64_t sotto_phrases_heads(const sotto_search *s)
{
    const uint64_t square = (uint64_t)sqrt((double)s->options->cells),
                   words = s->vocabulary_count < square ? s->vocabulary_count : square;

    return s->options->cells / (words + 1);
}

uint64_t sotto_phrases_words(const sotto_search *s, uint64_t heads)
{
    const uint64_t room = s->options->cells / heads - 1;

    return s->vocabulary_count < room ? s->vocabulary_count : room;
}

void sotto_phrases_text(const sotto_search *s, size_t head, size_t tail, sotto_writer *w)
{
    say(w, "%s", s->survivors[head].text);
    if (tail > 0)
        say(w, " %s", s->vocabulary[tail - 1].text);
}

static void note_unused(sotto_search *s)
{
    const uint64_t used =
        s->survivor_count > 0 ? sotto_phrases_words(s, s->survivor_count) : s->vocabulary_count;

    if (s->vocabulary_count - used > s->unused)
        s->unused = s->vocabulary_count - used;
}

/* A tree's leaves stand in the order of their texts, when its lists do. */
void sotto_phrases_prune(sotto_search *s)
{
    if (s->survivor_count > 0)
        qsort(s->survivors, s->survivor_count, sizeof *s->survivors, by_text);
    note_unused(s);
}

sotto_status sotto_phrases_begin(sotto_search *s, sotto_err *err)
{
    s->phrasing = true;
    s->depth = 1;
    s->vocabulary = s->found;
    s->vocabulary_count = s->found_count;
    s->unspelt = s->survivor_count;
    s->survivor_count = 0;
    s->found = NULL;
    s->found_count = s->found_room = 0;
    if (s->vocabulary_count == 0)
        return SOTTO_OK;
    qsort(s->vocabulary, s->vocabulary_count, sizeof *s->vocabulary, by_count);
    const uint64_t room = sotto_phrases_heads(s);
    const size_t heads = s->vocabulary_count < room ? s->vocabulary_count : (size_t)room;

    s->survivors = sotto_arena_take_array(s->arena, heads, sizeof *s->survivors);
    if (!s->survivors)
        return sotto_fail(err, SOTTO_NO_MEMORY, "%zu words", heads);
    memcpy(s->survivors, s->vocabulary, heads * sizeof *s->survivors);
    s->survivor_count = heads;
    sotto_phrases_prune(s);
    return SOTTO_OK;
}

/* ---- the encoder -------------------------------------------------------------------------------------------------- */

/* Where the first `words` words of a phrase end, and the next one begins behind a space. */
static size_t end_of(const char *phrase, unsigned words)
{
    size_t at = 0;

    for (unsigned i = 0; i < words; i++)
        at += (i > 0) + strcspn(phrase + at + (i > 0), " ");
    return at;
}

static bool same_beginning(const char *a, const char *b, unsigned words)
{
    const size_t len = end_of(a, words);

    return len == end_of(b, words) && memcmp(a, b, len) == 0;
}

/* Of the list behind the first `len` bytes of a phrase. */
static sotto_bytes key_of(const char *text, size_t len)
{
    const bool is_root = len == sizeof own_key - 1 && memcmp(text, own_key, len) == 0;

    return len == 0  ? sotto_bytes_of(own_key, sizeof own_key - 1)
           : is_root ? sotto_bytes_of(root_key, sizeof root_key - 1)
                     : sotto_bytes_of(text, len);
}

/* Lists of one level: what follows each beginning of so many words. */
static void say_level(const sotto_search *s, unsigned words, sotto_writer *w)
{
    for (size_t i = 0; i < s->survivor_count; i++) {
        const char *text = s->survivors[i].text, *before = i > 0 ? s->survivors[i - 1].text : NULL;
        const bool opens = !before || !same_beginning(before, text, words);
        const size_t len = end_of(text, words), from = len + (words > 0);

        if (!opens && same_beginning(before, text, words + 1))
            continue;
        if (opens) {
            say(w, i > 0 ? "], " : words > 0 ? ", " : "");
            sotto_search_say_text(w, key_of(text, len));
        }
        say(w, opens ? ": [" : ", ");
        sotto_search_say_text(w, sotto_bytes_of(text + from, end_of(text, words + 1) - from));
    }
    say(w, "]");
}

void sotto_phrases_encode(const sotto_search *s, const sotto_search_round *r, const char *column,
                          sotto_writer *w)
{
    say(w, "\"%s\": {\"type\": \"prefix-tree\", \"oov\": false, \"end\": true, \"tree\": {",
        column);
    for (unsigned words = 0; words < r->depth; words++)
        say_level(s, words, w);
    say(w, "}, \"tokens\": [");
    for (size_t i = 0; i + 1 < r->tails; i++) {
        const char *word = s->vocabulary[i].text;

        say(w, i > 0 ? ", " : "");
        sotto_search_say_text(w, sotto_bytes_of(word, strlen(word)));
    }
    say(w, "]}");
}
