/* Next fit: what is given back is used again soon, and a search hardly ever passes the same blocks twice. */
#include "db/spool_blocks.h"

#include "base/alloc.h"

#include <string.h>

enum { BITS = 64, FIRST_WORDS = 64 };

void sotto_spool_blocks_clear(sotto_spool_blocks *b)
{
    sotto_release(b->words, b->word_count * sizeof *b->words);
    *b = (sotto_spool_blocks){0};
}

static bool is_used(const sotto_spool_blocks *b, uint64_t block)
{
    return b->words[block / BITS] >> (block % BITS) & 1u;
}

static uint64_t size_of(const sotto_spool_blocks *b)
{
    return (uint64_t)b->word_count * BITS;
}

/* Room for blocks up to `end`. */
static bool grow(sotto_spool_blocks *b, uint64_t end)
{
    size_t count = b->word_count ? b->word_count : FIRST_WORDS;
    uint64_t *words;

    if (end <= size_of(b))
        return true;
    if (end > SOTTO_SPOOL_MOST_BLOCKS)
        return false;
    while ((uint64_t)count * BITS < end)
        count *= 2;
    words = sotto_alloc_grow(b->words, b->word_count, b->word_count, count, sizeof *words);
    if (!words)
        return false;
    b->words = words;
    b->word_count = count;
    return true;
}

/* The first of `count` free blocks in a row within [from, end); end if there are none, and *run of them lie at its end. */
static uint64_t search(const sotto_spool_blocks *b, uint64_t from, uint64_t end, uint64_t count,
                       uint64_t *run)
{
    *run = 0;
    for (uint64_t at = from; at < end;) {
        if (at % BITS == 0 && b->words[at / BITS] == UINT64_MAX) {
            *run = 0;
            at += BITS;
            continue;
        }
        *run = is_used(b, at) ? 0 : *run + 1;
        at++;
        if (*run == count)
            return at - count;
    }
    return end;
}

static void set(sotto_spool_blocks *b, uint64_t first, uint64_t count)
{
    for (uint64_t i = first; i < first + count; i++)
        b->words[i / BITS] |= (uint64_t)1 << (i % BITS);
    b->used += count;
    if (first + count > b->high)
        b->high = first + count;
}

bool sotto_spool_blocks_take(sotto_spool_blocks *b, uint64_t *first, uint64_t count)
{
    uint64_t end = b->high, run;

    if (b->used == 0)
        b->cursor = 0; /* what the file grew to in a bad hour is not walked through for ever */
    *first = search(b, b->cursor, end, count, &run);
    if (*first == end && end - b->used >= count && b->cursor > 0) {
        uint64_t lower = b->cursor + count < end ? b->cursor + count : end, at, ignored;

        at = search(b, 0, lower, count, &ignored);
        if (at < lower)
            *first = at;
    }
    if (*first == end) {
        *first = end - run;
        if (!grow(b, *first + count))
            return false;
    }
    set(b, *first, count);
    b->cursor = *first + count;
    return true;
}

sotto_status sotto_spool_blocks_claim(sotto_spool_blocks *b, uint64_t first, uint64_t count,
                                      sotto_err *err)
{
    bool twice = false;

    if (!grow(b, first + count))
        return sotto_fail(err, SOTTO_NO_MEMORY, "a spool");
    for (uint64_t i = first; i < first + count; i++) {
        if (is_used(b, i)) {
            twice = true;
            b->used--; /* set() counts it again */
        }
    }
    set(b, first, count);
    return twice ? sotto_fail(err, SOTTO_MALFORMED, "spool: two rows name one place") : SOTTO_OK;
}

void sotto_spool_blocks_give_back(sotto_spool_blocks *b, uint64_t first, uint64_t count)
{
    for (uint64_t i = first; i < first + count && i < size_of(b); i++) {
        b->used -= is_used(b, i);
        b->words[i / BITS] &= ~((uint64_t)1 << (i % BITS));
    }
}
