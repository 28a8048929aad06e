#include "device/answer/measure.h"

#include "base/arena.h"
#include "math/ct.h"

/* ---- randomised ------------------------------------------------------------------------------------------ */

/* As aggregate/shard.h has it: the place of the one bit where there is exactly one, else the bits. */
static sotto_status randomise(uint64_t *values, sotto_bytes *bits, const sotto_report_content *c,
                              uint64_t bin, sotto_entropy *entropy, sotto_arena *arena,
                              sotto_err *err)
{
    sotto_buf drawn;

    SOTTO_TRY(sotto_buf_take(&drawn, arena, c->entries, err));
    SOTTO_TRY(sotto_randomizer_run(&c->randomizer, drawn.data, bin, entropy, err));
    for (size_t i = 0; i < c->entries; i++) {
        if (c->one)
            values[0] |= i & sotto_ct_mask(drawn.data[i]);
        else
            values[i] = drawn.data[i];
    }
    *bits = sotto_bytes_of(drawn.data, c->entries);
    return SOTTO_OK;
}

/* ---- as they are ----------------------------------------------------------------------------------------- */

static void put(uint64_t *values, const sotto_report_content *c, uint64_t bin)
{
    const uint64_t none = sotto_ct_equal(bin, SOTTO_NO_VALUE);

    if (c->one) {
        values[0] = sotto_ct_select(none, c->values, bin);
    } else if (c->bins) {
        for (size_t i = 0; i < c->entries; i++)
            values[i] = 1 & sotto_ct_equal(bin, i);
    } else {
        values[c->entries - 1] = sotto_ct_select(none, 0, c->most);
        if (c->numbers)
            values[0] = sotto_ct_select(none, c->none, bin);
    }
}

/* ---- with a part of the noise ---------------------------------------------------------------------------- */

/* Below 0 or above most, by the sign of a difference of numbers that are far below 2^62. */
static uint64_t cut(int64_t x, int64_t most)
{
    const uint64_t below = 0 - ((uint64_t)x >> 63), above = 0 - ((uint64_t)(most - x) >> 63);

    return (((uint64_t)x & ~below) & ~above) | ((uint64_t)most & above);
}

static sotto_status set_up(const sotto_noise **out, const sotto_report_content *c,
                           sotto_arena *arena, sotto_err *err)
{
    sotto_noise *noise = sotto_arena_take(arena, sizeof *noise);

    if (!noise)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a report's noise");
    *out = noise;
    return sotto_noise_skellam(noise, c->num, c->den, arena, err);
}

static sotto_status add_noise(uint64_t *values, const sotto_report_content *c,
                              const sotto_noise *noise, sotto_entropy *entropy, sotto_err *err)
{
    enum { BLOCK = 64 };
    const int64_t offset = (int64_t)c->offset;
    int64_t drawn[BLOCK];
    sotto_status status = SOTTO_OK;

    for (size_t at = 0, some; at < c->entries && status == SOTTO_OK; at += some) {
        some = c->entries - at < BLOCK ? c->entries - at : BLOCK;
        status = sotto_noise_draw(noise, drawn, some, entropy, err);
        for (size_t i = 0; i < some; i++)
            values[at + i] += cut(drawn[i] + offset, 2 * offset);
    }
    sotto_wipe(drawn, sizeof drawn);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- */

sotto_status sotto_measure_with(sotto_measurement *out, sotto_bytes *bits,
                                const sotto_report_content *c, const sotto_noise *noise,
                                uint64_t bin, sotto_entropy *entropy, sotto_arena *arena,
                                sotto_err *err)
{
    const size_t count = c->one ? 1 : c->entries;
    uint64_t *values = sotto_arena_take_array(arena, count, sizeof *values);

    *bits = sotto_bytes_of(NULL, 0);
    if (!values)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a report of %zu numbers", c->entries);
    *out = (sotto_measurement){values, count};
    if (c->by == SOTTO_BY_CROWD)
        return randomise(values, bits, c, bin, entropy, arena, err);
    put(values, c, bin);
    if (c->by != SOTTO_BY_SHARES)
        return SOTTO_OK;
    if (!noise)
        SOTTO_TRY(set_up(&noise, c, arena, err));
    return add_noise(values, c, noise, entropy, err);
}

sotto_status sotto_measure(sotto_measurement *out, sotto_bytes *bits, const sotto_report_content *c,
                           uint64_t bin, sotto_entropy *entropy, sotto_arena *arena, sotto_err *err)
{
    return sotto_measure_with(out, bits, c, NULL, bin, entropy, arena, err);
}
