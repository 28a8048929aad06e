/* Lists of texts with an index. */
#include "recipe/encoding.h"

#include <stdlib.h>
#include <string.h>

typedef struct entry {
    const char *text;
    uint32_t position;
} entry;

static int by_text(const void *a, const void *b)
{
    return strcmp(((const entry *)a)->text, ((const entry *)b)->text);
}

/* Scratch that is handed back at once would suit better than the arena, which keeps it: but it is small. */
static void sort_words(sotto_reading *r, sotto_words *words, const sotto_place *place)
{
    entry *entries = sotto_reading_take(r, words->count, sizeof *entries);

    if (!entries)
        return;
    for (size_t i = 0; i < words->count; i++)
        entries[i] = (entry){words->items[i], (uint32_t)i};
    if (words->count > 0)
        qsort(entries, words->count, sizeof *entries, by_text);
    for (size_t i = 0; i < words->count; i++) {
        words->sorted[i] = entries[i].position;
        if (i > 0 && strcmp(entries[i].text, entries[i - 1].text) == 0) {
            sotto_place at = {place, NULL, entries[i].position};

            sotto_reading_mistake(r, &at, "each value once", "\"%.60s\" is listed twice",
                                  entries[i].text);
        }
    }
}

void sotto_words_read(sotto_reading *r, sotto_words *out, json_t *list, const sotto_place *place)
{
    size_t count = json_array_size(list);

    *out = (sotto_words){0};
    out->items = sotto_reading_take(r, count, sizeof *out->items);
    out->sorted = sotto_reading_take(r, count, sizeof *out->sorted);
    if (!out->items || !out->sorted)
        return;
    for (size_t i = 0; i < count; i++) {
        out->items[i] = sotto_reading_copy(r, json_string_value(json_array_get(list, i)));
        if (!out->items[i])
            return;
    }
    out->count = count;
    sort_words(r, out, place);
}

static int compare(const char *word, sotto_bytes text)
{
    size_t len = strlen(word);
    int order = memcmp(word, text.data, len < text.len ? len : text.len);

    return order ? order : (len > text.len) - (len < text.len);
}

bool sotto_words_find(const sotto_words *words, sotto_bytes text, size_t *position)
{
    size_t low = 0, high = words->count;

    if (text.len == 0)
        return false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare(words->items[words->sorted[middle]], text);

        if (order == 0) {
            *position = words->sorted[middle];
            return true;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}
