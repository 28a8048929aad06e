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
sotto_status sotto_flamingo_row(const sotto_flamingo_graph *graph, uint32_t place, uint8_t *row,
                                sotto_err *err)
{
    uint8_t blocks[TOGETHER][16] = {{0}};

    for (uint32_t first = 0; first < graph->count; first += TOGETHER) {
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
    row[place] = 0;
    return SOTTO_OK;
}

sotto_status sotto_flamingo_judge(const sotto_flamingo_graph *graph, const uint8_t *online,
                                  uint32_t *least, bool *whole, sotto_arena *scratch,
                                  sotto_err *err)
{
    uint8_t *row = sotto_arena_take(scratch, graph->count);
    uint8_t *reached = sotto_arena_take(scratch, graph->count);
    uint32_t *queue = sotto_arena_take_array(scratch, graph->count, sizeof *queue);
    uint32_t ends = 0, total = 0;

    if (!row || !reached || !queue)
        return sotto_fail(err, SOTTO_NO_MEMORY, "graph: no memory");
    *least = UINT32_MAX;
    for (uint32_t i = 0; i < graph->count; i++)
        if (sotto_bits_has(online, graph->cohort[i]) && total++ == 0) {
            queue[ends++] = i;
            reached[i] = 1;
        }
    for (uint32_t at = 0; at < ends; at++) {
        uint32_t degree = 0;

        SOTTO_TRY(sotto_flamingo_row(graph, queue[at], row, err));
        for (uint32_t j = 0; j < graph->count; j++) {
            if (!row[j] || !sotto_bits_has(online, graph->cohort[j]))
                continue;
            degree++;
            if (!reached[j])
                queue[ends++] = j;
            reached[j] = 1;
        }
        if (degree < *least)
            *least = degree;
    }
    *whole = ends == total;
    /* Whoever was not reached is judged too: a rule that is off must not hide another. */
    for (uint32_t i = 0; i < graph->count; i++) {
        uint32_t degree = 0;

        if (reached[i] || !sotto_bits_has(online, graph->cohort[i]))
            continue;
        SOTTO_TRY(sotto_flamingo_row(graph, i, row, err));
        for (uint32_t j = 0; j < graph->count; j++)
            degree += row[j] && sotto_bits_has(online, graph->cohort[j]);
        if (degree < *least)
            *least = degree;
    }
    return SOTTO_OK;
}
