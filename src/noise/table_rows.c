#include "noise/table_rows.h"

sotto_status sotto_weights_init(sotto_weights *w, sotto_err *err)
{
    size_t size = (SOTTO_NOISE_ROWS + 1) * sizeof(sotto_fixed);

    sotto_arena_init(&w->arena, size + 4096);
    w->count = 0;
    w->at = sotto_arena_take(&w->arena, size);
    return w->at ? SOTTO_OK : sotto_fail(err, SOTTO_NO_MEMORY, "noise: no room for weights");
}

void sotto_weights_clear(sotto_weights *w)
{
    sotto_arena_clear(&w->arena);
}

sotto_status sotto_weights_push(sotto_weights *w, const sotto_fixed *weight, sotto_err *err)
{
    if (w->count > SOTTO_NOISE_ROWS)
        return sotto_fail(err, SOTTO_DENIED, "noise: so wide a law needs more than %d rows",
                          SOTTO_NOISE_ROWS);
    w->at[w->count++] = *weight;
    return SOTTO_OK;
}

bool sotto_weights_end(const sotto_fixed *weight)
{
    const sotto_fixed cut = sotto_fixed_power_of_half(118);

    return sotto_fixed_less(weight, &cut);
}

static sotto_noise_row row_of(const sotto_fixed *above, const sotto_fixed *all)
{
    const uint64_t mask = INT64_MAX;
    sotto_u128 threshold = sotto_fixed_quotient(above, all, 126, NULL);

    return (sotto_noise_row){(int64_t)((uint64_t)(threshold >> 63) & mask),
                             (int64_t)((uint64_t)threshold & mask)};
}

static sotto_fixed total(const sotto_weights *w)
{
    sotto_fixed all = {{0}};

    for (size_t i = 0; i < w->count; i++)
        all = sotto_fixed_add(&all, &w->at[i]);
    return all;
}

/* Takes the multiples of 2^-63 out of the weights and leaves what remains of them. */
static void take_head(sotto_noise_part *part, int64_t *head, sotto_weights *w)
{
    const sotto_fixed all = total(w);
    uint64_t sum = 0;

    for (size_t i = w->count; i-- > 0;) {
        sum += (uint64_t)sotto_fixed_quotient(&w->at[i], &all, 63, &w->at[i]);
        /* Far values that are below one unit have no row in the head. */
        if (i > 0)
            head[i - 1] = (int64_t)sum;
        if (sum == 0)
            part->head_count = i > 0 ? i - 1 : 0;
    }
    part->head = head;
    part->head_end = sum;
}

static void take_rest(sotto_noise_part *part, sotto_noise_row *rest, const sotto_weights *w)
{
    const sotto_fixed all = total(w);
    sotto_fixed sum = {{0}};

    if (part->head_end >> 63) /* all probabilities were multiples of 2^-63 */
        return;
    for (size_t i = w->count; i-- > 1;) {
        sum = sotto_fixed_add(&sum, &w->at[i]);
        rest[i - 1] = row_of(&sum, &all);
    }
    part->rest = rest;
    part->rest_count = w->count - 1;
}

sotto_status sotto_noise_add(sotto_noise *noise, sotto_weights *w, int64_t factor, int64_t first,
                             bool mirrored, sotto_arena *arena, sotto_err *err)
{
    size_t count = w->count - 1;
    int64_t *head = sotto_arena_take_array(arena, w->count, sizeof head[0]);
    sotto_noise_row *rest = sotto_arena_take_array(arena, w->count, sizeof rest[0]);
    sotto_noise_part part = {
        .head_count = count, .factor = factor, .first = first, .mirrored = mirrored};

    if (noise->parts == SOTTO_NOISE_PARTS)
        return sotto_fail(err, SOTTO_DENIED, "noise: so wide a law needs more than %d parts",
                          SOTTO_NOISE_PARTS);
    if (!head || !rest)
        return sotto_fail(err, SOTTO_NO_MEMORY, "noise: no room for thresholds");
    for (size_t i = 1; mirrored && i <= count; i++)
        w->at[i] = sotto_fixed_add(&w->at[i], &w->at[i]);
    take_head(&part, head, w);
    take_rest(&part, rest, w);
    noise->part[noise->parts++] = part;
    return SOTTO_OK;
}
