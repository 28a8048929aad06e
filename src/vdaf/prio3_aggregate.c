/* Sums (draft-irtf-cfrg-vdaf-20, sections 7.2.4 and 7.2.5): out shares, aggregate shares, the answer. */
#include "math/wide.h"
#include "vdaf/flp.h"

#include <string.h>

enum {
    AT_ONCE = 8
}; /* shares whose entries are added before a reduction; more streams only cost cache */

sotto_status sotto_prio3_out_share(const sotto_prio3 *vdaf, sotto_buf *out,
                                   const sotto_prio3_verification *state, sotto_err *err)
{
    /* A zeroed state says SOTTO_OK and is of no instance. */
    if (state->status != SOTTO_OK || state->circuit != vdaf->circuit)
        return sotto_fail(err, SOTTO_BUG, "out share: the report was not verified here");
    if (out->cap - out->len < vdaf->sizes.out_share)
        return sotto_fail(err, SOTTO_TOO_LARGE, "out share: does not fit its buffer");
    vdaf->circuit->flp->truncate(vdaf->circuit, out->data + out->len, state->measurement_share);
    out->len += vdaf->sizes.out_share;
    return SOTTO_OK;
}

/* An entry of the sum of `reports` measurements is at most reports * max; it must stay below the modulus. */
static sotto_status check_no_wrap(const sotto_prio3 *vdaf, uint64_t reports, sotto_err *err)
{
    const sotto_circuit *c = vdaf->circuit;
    sotto_u128 largest = sotto_mul_wide(reports, c->max);
    sotto_u128 modulus = c->field == 64 ? sotto_u128_of(0, UINT64_C(0xffffffff00000001))
                                        : sotto_u128_of(UINT64_C(0xffffffffffffffe4), 1);

    if (largest >= modulus)
        return sotto_fail(err, SOTTO_DENIED, "the sum of %llu reports could wrap round in Field%u",
                          (unsigned long long)reports, c->field);
    return SOTTO_OK;
}

static sotto_status check_both(const sotto_prio3 *vdaf, uint64_t have, uint64_t more,
                               sotto_err *err)
{
    if (more > UINT64_MAX - have)
        return sotto_fail(err, SOTTO_DENIED, "the number of reports does not fit 64 bits");
    return check_no_wrap(vdaf, have + more, err);
}

static sotto_status check_ours(const sotto_prio3 *vdaf, const sotto_prio3_agg *agg, sotto_err *err)
{
    if (agg->circuit != vdaf->circuit)
        return sotto_fail(err, SOTTO_BUG, "aggregate share: of another instance");
    return SOTTO_OK;
}

sotto_status sotto_prio3_agg_init(const sotto_prio3 *vdaf, sotto_prio3_agg *agg, sotto_arena *arena,
                                  sotto_err *err)
{
    *agg = (sotto_prio3_agg){vdaf->circuit, 0, sotto_arena_take(arena, vdaf->sizes.out_share)};
    if (!agg->elements)
        return sotto_fail(err, SOTTO_NO_MEMORY, "aggregate share: no memory");
    return SOTTO_OK;
}

sotto_status sotto_prio3_accumulate(const sotto_prio3 *vdaf, sotto_prio3_agg *agg,
                                    const sotto_prio3_verification *states, size_t count,
                                    sotto_err *err)
{
    const sotto_circuit *c = vdaf->circuit;
    const uint8_t *shares[AT_ONCE];
    uint64_t valid = 0;
    size_t waiting = 0;

    SOTTO_TRY(check_ours(vdaf, agg, err));
    for (size_t i = 0; i < count; i++) {
        if (states[i].status == SOTTO_OK && states[i].circuit != c)
            return sotto_fail(err, SOTTO_BUG, "accumulate: a report that was not verified here");
        valid += states[i].status == SOTTO_OK;
    }
    SOTTO_TRY(check_both(vdaf, agg->reports, valid, err));
    for (size_t i = 0; i < count; i++) {
        if (states[i].status == SOTTO_OK)
            shares[waiting++] = states[i].measurement_share;
        if (waiting == AT_ONCE || (i + 1 == count && waiting)) {
            c->flp->accumulate(c, agg->elements, shares, waiting);
            waiting = 0;
        }
    }
    agg->reports += valid;
    return SOTTO_OK;
}

sotto_status sotto_prio3_merge(const sotto_prio3 *vdaf, sotto_prio3_agg *agg,
                               const sotto_prio3_agg *other, sotto_err *err)
{
    SOTTO_TRY(check_ours(vdaf, agg, err));
    SOTTO_TRY(check_ours(vdaf, other, err));
    SOTTO_TRY(check_both(vdaf, agg->reports, other->reports, err));
    vdaf->circuit->flp->merge(agg->elements, other->elements, vdaf->sizes.outputs);
    agg->reports += other->reports;
    return SOTTO_OK;
}

sotto_status sotto_prio3_agg_encode(const sotto_prio3 *vdaf, sotto_buf *out,
                                    const sotto_prio3_agg *agg, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    SOTTO_TRY(check_ours(vdaf, agg, err));
    sotto_write_bytes(&w, sotto_bytes_of(agg->elements, vdaf->sizes.out_share));
    return sotto_writer_finish(&w, "aggregate share", err);
}

static sotto_status check_agg_share(const sotto_prio3 *vdaf, sotto_bytes wire, sotto_err *err)
{
    if (wire.len != vdaf->sizes.out_share)
        return sotto_fail(err, SOTTO_MALFORMED, "aggregate share: wanted %zu bytes, got %zu",
                          vdaf->sizes.out_share, wire.len);
    if (!vdaf->circuit->flp->canonical(wire.data, vdaf->sizes.outputs))
        return sotto_fail(err, SOTTO_MALFORMED,
                          "aggregate share: an element is not below the modulus");
    return SOTTO_OK;
}

sotto_status sotto_prio3_agg_decode(const sotto_prio3 *vdaf, sotto_prio3_agg *agg, sotto_bytes wire,
                                    uint64_t reports, sotto_err *err)
{
    SOTTO_TRY(check_ours(vdaf, agg, err));
    SOTTO_TRY(check_agg_share(vdaf, wire, err));
    SOTTO_TRY(check_no_wrap(vdaf, reports, err));
    memcpy(agg->elements, wire.data, wire.len);
    agg->reports = reports;
    return SOTTO_OK;
}

static sotto_uint128 result_entry(const sotto_circuit *c, const sotto_bytes *agg_shares,
                                  size_t index)
{
    uint8_t sum[16] = {0};

    for (unsigned s = 0; s < c->shares; s++)
        c->flp->merge(sum, agg_shares[s].data + sotto_circuit_bytes(c, index), 1);
    return (sotto_uint128){sotto_load64(sum), c->field == 64 ? 0 : sotto_load64(sum + 8)};
}

sotto_status sotto_prio3_unshard(const sotto_prio3 *vdaf, sotto_uint128 *result,
                                 const sotto_bytes *agg_shares, uint64_t reports, sotto_err *err)
{
    const sotto_circuit *c = vdaf->circuit;

    for (unsigned s = 0; s < c->shares; s++)
        SOTTO_TRY(check_agg_share(vdaf, agg_shares[s], err));
    SOTTO_TRY(check_no_wrap(vdaf, reports, err));
    for (size_t i = 0; i < vdaf->sizes.outputs; i++)
        result[i] = result_entry(c, agg_shares, i);
    return SOTTO_OK;
}
