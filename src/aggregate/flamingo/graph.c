/* Cohort and graph of a round, both from public randomness (Ma et al. 2023). No server chooses a victim's neighbours. */
#include "aggregate/flamingo/flamingo.h"

#include "aggregate/shared/draw.h"
#include "crypto/blocks.h"
#include "math/wide.h"

#include <string.h>

enum { TOGETHER = 1024 };

sotto_status sotto_flamingo_graph_init(sotto_flamingo_graph *graph, const sotto_round *round,
                                       const sotto_flamingo_parameters *p, sotto_arena *arena,
                                       sotto_err *err)
{
    uint8_t seed[32];

    *graph = (sotto_flamingo_graph){.count = p->cohort, .edge = p->edge};
    graph->cohort = sotto_arena_take_array(arena, p->cohort, sizeof *graph->cohort);
    if (!graph->cohort)
        return sotto_fail(err, SOTTO_NO_MEMORY, "graph: no memory");
    sotto_draw_seed(seed, "sotto-draw-cohort-1", round->beacon, round->session, round->epoch,
                    round->number);
    sotto_draw_seed(graph->key, "sotto-draw-edges-1", round->beacon, round->session, round->epoch,
                    round->number);
    return sotto_draw_set(graph->cohort, p->cohort, (uint32_t)round->registered, seed, arena, err);
}

int64_t sotto_flamingo_place(const sotto_flamingo_graph *graph, uint32_t index)
{
    uint32_t low = 0, high = graph->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (graph->cohort[middle] < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low < graph->count && graph->cohort[low] == index ? (int64_t)low : -1;
}

/* A pair's block names the lower client first, so that both ends compute the same. As many blocks at a time as the first-level cache
 * holds. */
static sotto_status row_from(const sotto_flamingo_graph *graph, uint32_t place, uint32_t from,
                             uint8_t *row, sotto_err *err)
{
    uint8_t blocks[TOGETHER][16] = {{0}};

    for (uint32_t first = from; first < graph->count; first += TOGETHER) {
        const uint32_t more = graph->count - first < TOGETHER ? graph->count - first : TOGETHER;

        for (uint32_t i = 0; i < more; i++) {
            const uint32_t j = first + i;

            sotto_row_put_index(blocks[i], graph->cohort[j < place ? j : place]);
            sotto_row_put_index(blocks[i] + 4, graph->cohort[j < place ? place : j]);
            memset(blocks[i] + 8, 0, 8);
        }
        SOTTO_TRY(sotto_blocks_encrypt(graph->key, blocks[0], more, err));
        for (uint32_t i = 0; i < more; i++)
            row[first + i] = sotto_load64(blocks[i]) <= graph->edge;
    }
    return SOTTO_OK;
}

sotto_status sotto_flamingo_row(const sotto_flamingo_graph *graph, uint32_t place, uint8_t *row,
                                sotto_err *err)
{
    SOTTO_TRY(row_from(graph, place, 0, row, err));
    row[place] = 0;
    return SOTTO_OK;
}

/* The first of those that hang together with this one, as far as is known; ways are made shorter meanwhile. */
static uint32_t first_of(uint32_t *to, uint32_t i)
{
    while (to[i] != i) {
        to[i] = to[to[i]];
        i = to[i];
    }
    return i;
}

/* Each edge is looked at once, from its lower end. */
sotto_status sotto_flamingo_judge(const sotto_flamingo_graph *graph, const uint8_t *online,
                                  uint32_t *least, bool *whole, sotto_arena *scratch,
                                  sotto_err *err)
{
    uint8_t *row = sotto_arena_take(scratch, graph->count);
    uint32_t *degree = sotto_arena_take_array(scratch, graph->count, sizeof *degree);
    uint32_t *to = sotto_arena_take_array(scratch, graph->count, sizeof *to);
    uint32_t parts = 0;

    if (!row || !degree || !to)
        return sotto_fail(err, SOTTO_NO_MEMORY, "graph: no memory");
    for (uint32_t i = 0; i < graph->count; i++)
        to[i] = i;
    for (uint32_t i = 0; i < graph->count; i++) {
        if (!sotto_bits_has(online, graph->cohort[i]))
            continue;
        SOTTO_TRY(row_from(graph, i, i + 1, row, err));
        for (uint32_t j = i + 1; j < graph->count; j++) {
            if (!row[j] || !sotto_bits_has(online, graph->cohort[j]))
                continue;
            degree[i]++;
            degree[j]++;
            to[first_of(to, j)] = first_of(to, i);
        }
    }
    *least = UINT32_MAX;
    for (uint32_t i = 0; i < graph->count; i++) {
        if (!sotto_bits_has(online, graph->cohort[i]))
            continue;
        parts += to[i] == i;
        *least = degree[i] < *least ? degree[i] : *least;
    }
    *whole = parts <= 1;
    return SOTTO_OK;
}
