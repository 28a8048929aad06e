#include "privacy/noise_vartime.h"

#include "math/wide.h"

enum { BLOCK = 512, GUIDE_BITS = 17 };

sotto_status sotto_noise_guide_init(sotto_noise_guide *out, const sotto_noise *noise,
                                    sotto_arena *arena, sotto_err *err)
{
    const sotto_noise_part *part = &noise->part[0];
    const size_t cells = (size_t)1 << GUIDE_BITS;

    if (noise->parts != 1)
        return sotto_fail(err, SOTTO_DENIED, "noise: only a noise of one part can be guided");
    *out = (sotto_noise_guide){.part = part, .shift = 63 - GUIDE_BITS};
    out->head = sotto_arena_take_array(arena, part->head_count + 1, sizeof out->head[0]);
    out->start = sotto_arena_take_array(arena, cells, sizeof out->start[0]);
    if (!out->head || !out->start)
        return sotto_fail(err, SOTTO_NO_MEMORY, "noise: no room for a guide");
    for (size_t i = 0; i < part->head_count; i++)
        out->head[i] = part->head[i];
    out->head[part->head_count] = -1;

    /* Rows fall. One that exceeds the cell's last number is above the whole cell. */
    size_t row = part->head_count;
    for (size_t cell = 0; cell < cells; cell++) {
        int64_t last = (int64_t)(((uint64_t)(cell + 1) << out->shift) - 1);

        while (row > 0 && out->head[row - 1] <= last)
            row--;
        out->start[cell] = (uint16_t)row;
    }
    return SOTTO_OK;
}

/* Once in 2^50 draws or so. */
static sotto_status draw_rest(const sotto_noise_part *part, int64_t *passed, sotto_entropy *entropy,
                              sotto_err *err)
{
    uint8_t random[16];

    SOTTO_TRY(sotto_entropy_take(entropy, random, sizeof random, err));
    int64_t high = (int64_t)(sotto_load64(random) >> 1);
    int64_t low = (int64_t)(sotto_load64(random + 8) >> 1);
    size_t i = 0;
    while (i < part->rest_count &&
           (part->rest[i].high > high || (part->rest[i].high == high && part->rest[i].low > low)))
        i++;
    *passed = (int64_t)i;
    return SOTTO_OK;
}

static sotto_status draw_block(const sotto_noise_guide *guide, int64_t *out, size_t count,
                               uint64_t *random, sotto_entropy *entropy, sotto_err *err)
{
    const sotto_noise_part *part = guide->part;
    uint64_t sign_bit = part->mirrored ? 1 : 0;
    /* Copies: read again for each draw (out might overlap them), the shift's byte would make one draw wait for the last. */
    const int64_t *head = guide->head, factor = part->factor, first = part->first;
    const uint16_t *start = guide->start;
    const unsigned shift = guide->shift;

    SOTTO_TRY(sotto_entropy_take(entropy, random, count * sizeof random[0], err));
    for (size_t i = 0; i < count; i++) {
        int64_t number = (int64_t)(random[i] >> 1);
        int64_t passed = start[number >> shift];

        /* Without a branch for the one row that most cells hold at most. */
        passed += head[passed] > number;
        while (head[passed] > number)
            passed++;
        if ((uint64_t)number >= part->head_end)
            SOTTO_TRY(draw_rest(part, &passed, entropy, err));
        int64_t minus = -(int64_t)(random[i] & sign_bit);
        out[i] = factor * (((passed ^ minus) - minus) + first);
    }
    return SOTTO_OK;
}

sotto_status sotto_noise_draw_vartime(const sotto_noise_guide *guide, int64_t *out, size_t count,
                                      sotto_entropy *entropy, sotto_err *err)
{
    uint64_t random[BLOCK];

    for (size_t at = 0; at < count; at += BLOCK) {
        size_t some = count - at < BLOCK ? count - at : BLOCK;

        SOTTO_TRY(draw_block(guide, out + at, some, random, entropy, err));
    }
    return SOTTO_OK;
}
