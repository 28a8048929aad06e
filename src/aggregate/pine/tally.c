/* An aggregate share of PINE: field elements as the wire has them. */
#include "aggregate/pine/pine.h"

#include "base/rule.h"
#include "vdaf/pine/ops.h"

#include <string.h>

uint64_t sotto_pine_most_reports(uint64_t norm_bound)
{
    return (SOTTO_PINE_SUM_LIMIT - 2 * SOTTO_PINE_ADDED_LIMIT) / norm_bound;
}

/* No entry of a vector is above its norm. */
static sotto_status check_reports(const sotto_pine *pine, uint64_t reports, sotto_err *err)
{
    if (SOTTO_RULE(pine_sums_keep_signs) &&
        reports > sotto_pine_most_reports(pine->config.norm_bound))
        return sotto_fail(err, SOTTO_DENIED, "pine: the sum of %llu reports could wrap around",
                          (unsigned long long)reports);
    return SOTTO_OK;
}

sotto_status sotto_pine_tally_init(sotto_tally *tally, const sotto_vdaf *vdaf, sotto_arena *arena,
                                   sotto_err *err)
{
    const sotto_pine *pine = vdaf->state;
    sotto_pine_tally *state = sotto_arena_take(arena, sizeof *state);

    if (!state)
        return sotto_fail(err, SOTTO_NO_MEMORY, "pine: no memory");
    *state = (sotto_pine_tally){pine, sotto_arena_take(arena, pine->sizes.out_share)};
    if (!state->elements)
        return sotto_fail(err, SOTTO_NO_MEMORY, "pine: no memory");
    memset(state->elements, 0, pine->sizes.out_share);
    *tally = (sotto_tally){0, state};
    return SOTTO_OK;
}

/* Adds the reports from `first` on that have this status. */
static sotto_status accumulate(sotto_tally *tally, const sotto_vdaf_batch *batch, size_t first,
                               size_t count, sotto_status wanted, sotto_err *err)
{
    const sotto_pine_verification *states = batch->states;
    const sotto_pine_tally *state = tally->state;
    uint64_t reports = tally->contributions;

    for (size_t i = first; i < first + count; i++)
        reports += states[i].status == wanted;
    SOTTO_TRY(check_reports(state->pine, reports, err));
    for (size_t i = first; i < first + count; i++)
        if (states[i].status == wanted)
            sotto_pine_accumulate(state->pine, state->elements, states[i].out_share);
    tally->contributions = reports;
    return SOTTO_OK;
}

sotto_status sotto_pine_tally_accumulate(sotto_tally *tally, const sotto_vdaf_batch *batch,
                                         size_t first, size_t count, sotto_err *err)
{
    return accumulate(tally, batch, first, count, SOTTO_OK, err);
}

sotto_status sotto_pine_tally_accumulate_awaited(sotto_tally *tally, const sotto_vdaf_batch *batch,
                                                 size_t first, sotto_err *err)
{
    return accumulate(tally, batch, first, batch->count - first, SOTTO_AGAIN, err);
}

static bool same_instance(const sotto_pine_config *a, const sotto_pine_config *b)
{
    return a->field == b->field && a->dimension == b->dimension && a->norm_bound == b->norm_bound &&
           a->norm_chunk == b->norm_chunk;
}

static sotto_status check_other(const sotto_pine_tally *state, const sotto_pine_tally *other,
                                sotto_err *err)
{
    return same_instance(&state->pine->config, &other->pine->config)
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_BUG, "pine: a tally of another task");
}

static sotto_status merge(sotto_tally *tally, const sotto_tally *other, sotto_err *err)
{
    const sotto_pine_tally *state = tally->state, *from = other->state;
    const uint64_t reports = tally->contributions + other->contributions;

    SOTTO_TRY(check_other(state, from, err));
    SOTTO_TRY(check_reports(state->pine, reports, err));
    sotto_pine_accumulate(state->pine, state->elements, from->elements);
    tally->contributions = reports;
    return SOTTO_OK;
}

sotto_status sotto_pine_tally_take_off(sotto_tally *tally, const sotto_tally *other, sotto_err *err)
{
    const sotto_pine_tally *state = tally->state, *from = other->state;

    SOTTO_TRY(check_other(state, from, err));
    if (other->contributions > tally->contributions)
        return sotto_fail(err, SOTTO_BUG, "pine: more reports than were added");
    state->pine->config.field->subtract(state->elements, state->elements, from->elements,
                                        (size_t)state->pine->config.dimension);
    tally->contributions -= other->contributions;
    return SOTTO_OK;
}

static bool is_beyond(int64_t value)
{
    return value > (int64_t)SOTTO_PINE_ADDED_LIMIT || value < -(int64_t)SOTTO_PINE_ADDED_LIMIT;
}

static sotto_status add(sotto_tally *tally, size_t first, const int64_t *values, size_t count,
                        sotto_err *err)
{
    enum { AT_ONCE = 64 };
    const sotto_pine_tally *state = tally->state;
    const sotto_pine_ops *f = state->pine->config.field;
    const size_t size = f->element_size, dimension = (size_t)state->pine->config.dimension;
    uint8_t some[AT_ONCE * 16]; /* an element has at most 16 bytes */
    bool beyond = false;

    if (first > dimension || count > dimension - first)
        return sotto_fail(err, SOTTO_BUG, "pine: entries that the share does not have");
    for (size_t i = 0; i < count; i++)
        beyond |= is_beyond(values[i]);
    if (beyond)
        return sotto_fail(err, SOTTO_BUG, "pine: a number beyond the limit");
    for (size_t at = 0, n; at < count; at += n) {
        n = count - at < AT_ONCE ? count - at : AT_ONCE;
        f->encode(some, values + at, n);
        f->add(state->elements + (first + at) * size, some, n);
    }
    sotto_wipe(some, sizeof some);
    return SOTTO_OK;
}

static sotto_status encode(const sotto_tally *tally, sotto_buf *out, sotto_err *err)
{
    const sotto_pine_tally *state = tally->state;
    sotto_writer w = sotto_writer_on(out);

    sotto_write_bytes(&w, sotto_bytes_of(state->elements, state->pine->sizes.out_share));
    return sotto_writer_finish(&w, "aggregate share", err);
}

static sotto_status decode(sotto_tally *tally, sotto_bytes wire, uint64_t contributions,
                           sotto_err *err)
{
    const sotto_pine_tally *state = tally->state;
    const sotto_pine *pine = state->pine;

    if (wire.len != pine->sizes.out_share)
        return sotto_fail(err, SOTTO_MALFORMED, "aggregate share: %zu bytes, not %zu", wire.len,
                          pine->sizes.out_share);
    if (!pine->config.field->canonical(wire.data, (size_t)pine->config.dimension))
        return sotto_fail(err, SOTTO_MALFORMED, "aggregate share: an element above the modulus");
    SOTTO_TRY(check_reports(pine, contributions, err));
    memcpy(state->elements, wire.data, wire.len);
    tally->contributions = contributions;
    return SOTTO_OK;
}

/* ---- a round of aggregate/round.h: there is none --------------------------------------------------- */

static sotto_status refuse_round(const sotto_round *round, sotto_err *err)
{
    (void)round;
    return sotto_fail(err, SOTTO_DENIED, "pine: a round of it is a DAP task");
}

static size_t no_size(const sotto_round *round)
{
    (void)round;
    return 0;
}

static sotto_status no_init(sotto_tally *tally, const sotto_round *round, sotto_arena *arena,
                            sotto_err *err)
{
    (void)tally;
    (void)arena;
    return refuse_round(round, err);
}

static sotto_status no_open(sotto_vector *sum, const sotto_round *round, const sotto_bytes *parts,
                            size_t count, uint64_t contributions, sotto_arena *arena,
                            sotto_err *err)
{
    (void)sum;
    (void)parts;
    (void)count;
    (void)contributions;
    (void)arena;
    return refuse_round(round, err);
}

static const sotto_tally_ops TALLY = {
    .merge = merge,
    .add = add,
    .encode = encode,
    .decode = decode,
    .size = no_size,
    .init = no_init,
    .open = no_open,
};

const sotto_method sotto_method_pine = {
    .name = "pine",
    .id = SOTTO_METHOD_PINE,
    .tally = &TALLY,
    .two_server = &sotto_pine_server,
    .check = refuse_round,
};
