#include "aggregate/shared/draw.h"

#include "crypto/hash.h"
#include "math/wide.h"

#include <stdlib.h>
#include <string.h>

void sotto_draw_seed(uint8_t out[32], const char *purpose, const uint8_t beacon[32],
                     const uint8_t session[32], uint64_t epoch, uint64_t number)
{
    uint8_t numbers[16];
    sotto_buf written = sotto_buf_over(numbers, sizeof numbers);
    sotto_writer w = sotto_writer_on(&written);
    sotto_hash hash;

    sotto_write_uint(&w, epoch, 8);
    sotto_write_uint(&w, number, 8);
    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(purpose, strlen(purpose) + 1));
    sotto_hash_update(&hash, sotto_bytes_of(beacon, 32));
    sotto_hash_update(&hash, sotto_bytes_of(session, 32));
    sotto_hash_update(&hash, sotto_bytes_of(numbers, sizeof numbers));
    sotto_hash_final(&hash, out);
}

static int by_ticket(const void *a, const void *b)
{
    const sotto_ticket *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

void sotto_tickets_sort(sotto_ticket *tickets, size_t count)
{
    qsort(tickets, count, sizeof *tickets, by_ticket);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static uint64_t ticket_of(const uint8_t seed[32], uint32_t number)
{
    uint8_t text[36], digest[32];

    memcpy(text, seed, 32);
    for (unsigned b = 0; b < 4; b++)
        text[32 + b] = (uint8_t)(number >> 8 * b);
    sotto_hash_once(digest, SOTTO_SHA256, sotto_bytes_of(text, sizeof text));
    return sotto_load64(digest);
}

/* Puts a ticket in the place of the largest of `count`, which are a heap: none is smaller than those below it. */
static void replace_largest(sotto_ticket *heap, uint32_t count, sotto_ticket t)
{
    uint32_t at = 0;

    for (uint32_t child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && by_ticket(&heap[child], &heap[child + 1]) < 0)
            child++;
        if (by_ticket(&heap[child], &t) < 0)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = t;
}

sotto_status sotto_draw_set(uint32_t *out, uint32_t count, uint32_t of, const uint8_t seed[32],
                            sotto_arena *scratch, sotto_err *err)
{
    sotto_ticket *least;

    if (count > of)
        return sotto_fail(err, SOTTO_DENIED, "draw: %u of %u", count, of);
    if (count == of) { /* everybody: no ticket decides anything */
        for (uint32_t i = 0; i < count; i++)
            out[i] = i;
        return SOTTO_OK;
    }
    least = sotto_arena_take_array(scratch, (size_t)count + 1, sizeof *least);
    if (!least)
        return sotto_fail(err, SOTTO_NO_MEMORY, "draw: no memory");
    /* The first ones are larger than any ticket. */
    for (uint32_t i = 0; i < count; i++)
        least[i] = (sotto_ticket){UINT64_MAX, UINT32_MAX};
    for (uint32_t i = 0; i < of && count > 0; i++) {
        const sotto_ticket t = {ticket_of(seed, i), i};

        if (by_ticket(&t, &least[0]) < 0)
            replace_largest(least, count, t);
    }
    for (uint32_t i = 0; i < count; i++)
        out[i] = least[i].number;
    qsort(out, count, sizeof *out, by_number);
    return SOTTO_OK;
}
