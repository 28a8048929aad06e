/* The draw. The laws are set up in laws.c and gaussian_tables.c. */
#include "noise/noise.h"

#include <math.h>

#include "account/numeric/bound.h"
#include "math/ct.h"
#include "math/wide.h"
#include "noise/table_scan.h"

enum {
    BLOCK = 128,
    /* Lanes of a block whose numbers fall into the rest take their values from this many slots. Two of them
     * in one slot would get the same value. For a part of n rows that has probability below 8 n^2 2^-126 a
     * draw, so wide parts have a slot for each lane. */
    SLOTS = 8,
    NARROW = 1024
};

_Static_assert(BLOCK % SOTTO_SCAN_STEP == 0 && SLOTS % SOTTO_SCAN_STEP == 0, "whole steps");

typedef struct lanes {
    uint8_t random[BLOCK * 16];
    int64_t high[BLOCK], low[BLOCK];
    int64_t rest[BLOCK], counts[BLOCK];
    uint8_t signs[BLOCK];
} lanes;

static size_t whole_steps(size_t count)
{
    return (count + SOTTO_SCAN_STEP - 1) / SOTTO_SCAN_STEP * SOTTO_SCAN_STEP;
}

/* Draws the values that lanes of the rest would take, in so many slots. */
static sotto_status draw_rest(size_t *slots, const sotto_noise_part *part, size_t count, lanes *l,
                              sotto_entropy *entropy, sotto_err *err)
{
    *slots = part->rest_count > NARROW || count < SLOTS ? count : SLOTS;
    SOTTO_TRY(sotto_entropy_take(entropy, l->random, *slots * 16, err));
    for (size_t i = 0; i < *slots; i++) {
        l->high[i] = (int64_t)(sotto_load64(l->random + 16 * i) >> 1);
        l->low[i] = (int64_t)(sotto_load64(l->random + 16 * i + 8) >> 1);
    }
    sotto_scan_chosen()->rest(l->rest, l->high, l->low, whole_steps(*slots), part->rest,
                              part->rest_count);
    return SOTTO_OK;
}

/* Of a lane's eight bytes, 63 bits are the number and one is the sign. */
static sotto_status draw_head(const sotto_noise_part *part, size_t count, lanes *l,
                              sotto_entropy *entropy, sotto_err *err)
{
    SOTTO_TRY(sotto_entropy_take(entropy, l->random, count * 8, err));
    for (size_t i = 0; i < count; i++) {
        l->high[i] = (int64_t)(sotto_load64(l->random + 8 * i) >> 1);
        l->signs[i] = l->random[8 * i] & 1;
    }
    sotto_scan_chosen()->head(l->counts, l->high, whole_steps(count), part->head, part->head_count);
    return SOTTO_OK;
}

static sotto_status add_part(const sotto_noise_part *part, int64_t *out, size_t count, lanes *l,
                             sotto_entropy *entropy, sotto_err *err)
{
    size_t slots = 0;

    SOTTO_TRY(draw_rest(&slots, part, count, l, entropy, err));
    SOTTO_TRY(draw_head(part, count, l, entropy, err));
    for (size_t i = slots; i < count; i++)
        l->rest[i] = l->rest[i - slots];

    uint64_t sign_bit = part->mirrored ? 1 : 0;
    for (size_t i = 0; i < count; i++) {
        /* All ones where the number is below head_end, which is at most 2^63. Left in the open, clang makes
         * of the selection below a choice between two addresses. */
        uint64_t in_head = sotto_ct_mask(((uint64_t)l->high[i] - part->head_end) >> 63);
        uint64_t passed = sotto_ct_select(in_head, (uint64_t)l->counts[i], (uint64_t)l->rest[i]);
        uint64_t minus = 0 - (l->signs[i] & sign_bit);

        out[i] += part->factor * ((int64_t)((passed ^ minus) - minus) + part->first);
    }
    return SOTTO_OK;
}

static sotto_status draw(const sotto_noise *noise, int64_t *out, size_t count, lanes *l,
                         sotto_entropy *entropy, sotto_err *err)
{
    for (size_t at = 0; at < count; at += BLOCK) {
        size_t some = count - at < BLOCK ? count - at : BLOCK;

        for (size_t i = 0; i < some; i++)
            out[at + i] = 0;
        for (size_t p = 0; p < noise->parts; p++)
            SOTTO_TRY(add_part(&noise->part[p], out + at, some, l, entropy, err));
    }
    return SOTTO_OK;
}

sotto_status sotto_noise_draw(const sotto_noise *noise, int64_t *out, size_t count,
                              sotto_entropy *entropy, sotto_err *err)
{
    lanes l;

    /* A step may be wider than the draw: its other lanes compare zeros. */
    for (size_t i = 0; i < BLOCK; i++)
        l.high[i] = l.low[i] = 0;
    sotto_status status = draw(noise, out, count, &l, entropy, err);
    if (status != SOTTO_OK)
        sotto_wipe(out, count * sizeof out[0]);
    sotto_wipe(&l, sizeof l);
    return status;
}

uint64_t sotto_noise_limit(const sotto_noise *noise)
{
    uint64_t limit = 0;

    for (size_t p = 0; p < noise->parts; p++) {
        const sotto_noise_part *part = &noise->part[p];
        uint64_t factor = (uint64_t)(part->factor < 0 ? -part->factor : part->factor);

        limit += factor *
                 ((uint64_t)part->first + (part->rest_count ? part->rest_count : part->head_count));
    }
    return limit;
}

double sotto_noise_delta(uint64_t count)
{
    return sotto_round_up(ldexp((double)count, SOTTO_NOISE_LOG2_TV), 1);
}
