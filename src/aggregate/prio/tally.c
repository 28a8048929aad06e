#include "aggregate/prio/prio.h"

#include "base/rule.h"

typedef struct prio_tally {
    sotto_prio3 vdaf;
    sotto_prio3_agg agg;
} prio_tally;

enum { TABLES = 1 << 24 }; /* ceiling for an instance that only tells its sizes */

static sotto_status instance(sotto_prio3 *vdaf, const sotto_round *round, sotto_arena *arena,
                             sotto_err *err)
{
    sotto_prio3_config config;

    SOTTO_TRY(sotto_prio_parameters_decode(&config, round->parameters, err));
    SOTTO_TRY(sotto_prio3_init(vdaf, arena, &config, err));
    size_t width = round->ring == SOTTO_RING_F64 ? 8 : round->ring == SOTTO_RING_F128 ? 16 : 0;
    if (vdaf->sizes.outputs != round->length ||
        vdaf->sizes.out_share != vdaf->sizes.outputs * width)
        return sotto_fail(err, SOTTO_DENIED, "prio: ring or length are not those of the instance");
    return SOTTO_OK;
}

static sotto_status check_round(const sotto_round *round, sotto_err *err)
{
    sotto_arena arena;
    sotto_prio3 vdaf;

    sotto_arena_init(&arena, TABLES);
    sotto_status status = instance(&vdaf, round, &arena, err);
    sotto_arena_clear(&arena);
    return status;
}

static size_t size(const sotto_round *round)
{
    if (check_round(round, NULL) != SOTTO_OK)
        return 0;
    return (size_t)round->length * (round->ring == SOTTO_RING_F64 ? 8 : 16);
}

sotto_status sotto_prio_tally_init(sotto_tally *tally, const sotto_vdaf *vdaf, sotto_arena *arena,
                                   sotto_err *err)
{
    prio_tally *state = sotto_arena_take(arena, sizeof *state);

    if (!state)
        return sotto_fail(err, SOTTO_NO_MEMORY, "prio: no memory");
    state->vdaf = *(const sotto_prio3 *)vdaf->state;
    SOTTO_TRY(sotto_prio3_agg_init(&state->vdaf, &state->agg, arena, err));
    *tally = (sotto_tally){0, state};
    return SOTTO_OK;
}

static sotto_status init(sotto_tally *tally, const sotto_round *round, sotto_arena *arena,
                         sotto_err *err)
{
    sotto_prio3 vdaf;

    SOTTO_TRY(instance(&vdaf, round, arena, err));
    const sotto_vdaf over = sotto_prio_over(&vdaf);
    return sotto_prio_tally_init(tally, &over, arena, err);
}

sotto_status sotto_prio_accumulate(sotto_tally *tally, const sotto_vdaf_batch *batch, size_t first,
                                   size_t count, sotto_err *err)
{
    const sotto_prio3_verification *states = batch->states;
    prio_tally *state = tally->state;

    SOTTO_TRY(sotto_prio3_accumulate(&state->vdaf, &state->agg, states + first, count, err));
    tally->contributions = state->agg.reports;
    return SOTTO_OK;
}

sotto_status sotto_prio_accumulate_awaited(sotto_tally *tally, const sotto_vdaf_batch *batch,
                                           size_t from, sotto_err *err)
{
    enum { AT_ONCE = 16 };
    const sotto_prio3_verification *states = batch->states;
    sotto_prio3_verification some[AT_ONCE];
    prio_tally *state = tally->state;
    sotto_status status = SOTTO_OK;

    for (size_t first = from, count; first < batch->count && status == SOTTO_OK; first += count) {
        count = batch->count - first < AT_ONCE ? batch->count - first : AT_ONCE;
        for (size_t i = 0; i < count; i++) {
            some[i] = states[first + i];
            some[i].status = some[i].status == SOTTO_AGAIN ? SOTTO_OK : SOTTO_REJECTED;
        }
        status = sotto_prio3_accumulate(&state->vdaf, &state->agg, some, count, err);
    }
    sotto_wipe(some, sizeof some);
    if (status == SOTTO_OK)
        tally->contributions = state->agg.reports;
    return status;
}

static bool same_instance(const sotto_prio3_config *a, const sotto_prio3_config *b)
{
    return a->type == b->type && a->shares == b->shares && a->proofs == b->proofs &&
           a->length == b->length && a->chunk_length == b->chunk_length && a->max == b->max;
}

static sotto_status merge(sotto_tally *tally, const sotto_tally *other, sotto_err *err)
{
    prio_tally *state = tally->state;
    prio_tally from = *(const prio_tally *)other->state;

    /* An instance of its own, of the same round: the elements are the same, only the tables are another copy. */
    if (!same_instance(&from.vdaf.config, &state->vdaf.config))
        return sotto_fail(err, SOTTO_BUG, "prio: a tally of another round");
    from.agg.circuit = state->agg.circuit;
    SOTTO_TRY(sotto_prio3_merge(&state->vdaf, &state->agg, &from.agg, err));
    tally->contributions = state->agg.reports;
    return SOTTO_OK;
}

sotto_status sotto_prio_take_off(sotto_tally *tally, const sotto_tally *other, sotto_err *err)
{
    prio_tally *state = tally->state;
    const prio_tally *from = other->state;

    SOTTO_TRY(sotto_prio3_subtract(&state->vdaf, &state->agg, &from->agg, err));
    tally->contributions = state->agg.reports;
    return SOTTO_OK;
}

static sotto_status add(sotto_tally *tally, size_t first, const int64_t *values, size_t count,
                        sotto_err *err)
{
    prio_tally *state = tally->state;

    return sotto_prio3_agg_add(&state->vdaf, &state->agg, first, values, count, err);
}

static sotto_status encode(const sotto_tally *tally, sotto_buf *out, sotto_err *err)
{
    const prio_tally *state = tally->state;

    return sotto_prio3_agg_encode(&state->vdaf, out, &state->agg, err);
}

static sotto_status decode(sotto_tally *tally, sotto_bytes wire, uint64_t contributions,
                           sotto_err *err)
{
    prio_tally *state = tally->state;

    SOTTO_TRY(sotto_prio3_agg_decode(&state->vdaf, &state->agg, wire, contributions, err));
    tally->contributions = contributions;
    return SOTTO_OK;
}

/* parts: every aggregator's share, by aggregator. */
static sotto_status open(sotto_vector *sum, const sotto_round *round, const sotto_bytes *parts,
                         size_t count, uint64_t contributions, sotto_arena *arena, sotto_err *err)
{
    sotto_prio3 vdaf;

    SOTTO_TRY(instance(&vdaf, round, arena, err));
    if (count != vdaf.config.shares)
        return sotto_fail(err, SOTTO_MISSING, "prio: %zu shares of %u", count, vdaf.config.shares);
    if (SOTTO_RULE(prio_open_least) && contributions < round->least)
        return sotto_fail(err, SOTTO_DENIED, "prio: %llu contributions; the round demands %llu",
                          (unsigned long long)contributions, (unsigned long long)round->least);
    sotto_uint128 *entries = sotto_arena_take_array(arena, vdaf.sizes.outputs, sizeof *entries);
    if (!entries)
        return sotto_fail(err, SOTTO_NO_MEMORY, "prio: no memory");
    *sum = (sotto_vector){.ring = round->ring, .length = vdaf.sizes.outputs, .of.wide = entries};
    return sotto_prio3_unshard_signed(&vdaf, entries, parts, contributions, err);
}

static const sotto_tally_ops TALLY = {
    .size = size,
    .init = init,
    .merge = merge,
    .add = add,
    .encode = encode,
    .decode = decode,
    .open = open,
};

const sotto_method sotto_method_prio = {
    .name = "prio",
    .id = SOTTO_METHOD_PRIO,
    .tally = &TALLY,
    .two_server = &sotto_prio_server,
    .check = check_round,
};
