/* The graph of Bell et al. 2020, section 3: a Harary graph over a random order of the clients. */
#include "aggregate/bbglr/bbglr.h"

#include "aggregate/shared/draw.h"
#include "crypto/hash.h"
#include "math/wide.h"

#include <stdlib.h>
#include <string.h>

/* By the beacon, which nobody knew when the registry was closed, and by nothing that a server could still vary. With the
 * round's id it could try deadlines until the order suits it. */
static sotto_status draw(uint64_t *key, const sotto_round *round, uint32_t client, sotto_err *err)
{
    uint8_t text[128], digest[32];
    sotto_buf out = sotto_buf_over(text, sizeof text);
    sotto_writer w = sotto_writer_on(&out);

    sotto_write_bytes(&w, sotto_bytes_of("sotto-bbglr-ring-1", 18));
    sotto_write_bytes(&w, sotto_bytes_of(round->beacon, sizeof round->beacon));
    sotto_write_bytes(&w, sotto_bytes_of(round->session, sizeof round->session));
    sotto_write_uint(&w, round->epoch, 8);
    sotto_write_uint(&w, round->number, 8);
    sotto_write_uint(&w, client, 4);
    SOTTO_TRY(sotto_writer_finish(&w, "ticket", err));
    sotto_hash_once(digest, SOTTO_SHA256, sotto_buf_bytes(&out));
    *key = sotto_load64(digest);
    return SOTTO_OK;
}

sotto_status sotto_bbglr_graph_init(sotto_bbglr_graph *graph, const sotto_round *round,
                                    uint32_t degree, sotto_arena *arena, sotto_err *err)
{
    uint32_t count = (uint32_t)round->registered;
    sotto_ticket *tickets = sotto_arena_take_array(arena, count, sizeof *tickets);

    *graph = (sotto_bbglr_graph){.count = count, .degree = degree};
    graph->order = sotto_arena_take_array(arena, count, sizeof *graph->order);
    graph->place = sotto_arena_take_array(arena, count, sizeof *graph->place);
    if (!tickets || !graph->order || !graph->place)
        return sotto_fail(err, SOTTO_NO_MEMORY, "graph: no memory");
    for (uint32_t i = 0; i < count; i++) {
        tickets[i].number = i;
        SOTTO_TRY(draw(&tickets[i].key, round, i, err));
    }
    sotto_tickets_sort(tickets, count);
    for (uint32_t i = 0; i < count; i++) {
        graph->order[i] = tickets[i].number;
        graph->place[tickets[i].number] = i;
    }
    return SOTTO_OK;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

void sotto_bbglr_neighbours(const sotto_bbglr_graph *graph, uint32_t client, uint32_t *out)
{
    uint32_t here = graph->place[client], n = graph->count, found = 0;

    for (uint32_t d = 1; d <= graph->degree / 2; d++) {
        out[found++] = graph->order[(here + d) % n];
        out[found++] = graph->order[(here + n - d) % n];
    }
    qsort(out, found, sizeof *out, by_number);
}

bool sotto_bbglr_are_neighbours(const sotto_bbglr_graph *graph, uint32_t a, uint32_t b)
{
    uint32_t n = graph->count;

    if (a >= n || b >= n || a == b)
        return false;
    uint32_t ahead = (graph->place[b] + n - graph->place[a]) % n;
    return ahead <= graph->degree / 2 || n - ahead <= graph->degree / 2;
}

/* On a ring it takes two gaps that no edge spans to cut a set in two. */
bool sotto_bbglr_connected(const sotto_bbglr_graph *graph, const uint8_t *bitmap)
{
    uint32_t n = graph->count, reach = graph->degree / 2, first = n, last = 0, gaps = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (!sotto_bits_has(bitmap, graph->order[i]))
            continue;
        if (first == n)
            first = i;
        else
            gaps += i - last > reach;
        last = i;
    }
    if (first == n)
        return false;
    return gaps + (first + n - last > reach) <= 1;
}
