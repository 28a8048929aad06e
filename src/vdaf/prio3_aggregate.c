/* Sums (draft-irtf-cfrg-vdaf-20, sections 7.2.4 and 7.2.5): out shares, aggregate shares, the answer. */
#include "base/declassify.h"
#include "math/ct.h"
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
    sotto_flp_checks_of(vdaf->circuit)
        ->truncate(vdaf->circuit, out->data + out->len, state->measurement_share);
    out->len += vdaf->sizes.out_share;
    return SOTTO_OK;
}

static sotto_u128 modulus_of(const sotto_circuit *c)
{
    return c->field == 64 ? sotto_u128_of(0, UINT64_C(0xffffffff00000001))
                          : sotto_u128_of(UINT64_C(0xffffffffffffffe4), 1);
}

/* An entry of the sum of `reports` measurements is at most reports * max; it must stay below the modulus. */
static sotto_status check_no_wrap(const sotto_prio3 *vdaf, uint64_t reports, sotto_err *err)
{
    const sotto_circuit *c = vdaf->circuit;

    if (sotto_mul_wide(reports, c->max) >= modulus_of(c))
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
            sotto_flp_checks_of(c)->accumulate(c, agg->elements, shares, waiting);
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
    sotto_flp_checks_of(vdaf->circuit)->merge(agg->elements, other->elements, vdaf->sizes.outputs);
    agg->reports += other->reports;
    return SOTTO_OK;
}

sotto_status sotto_prio3_subtract(const sotto_prio3 *vdaf, sotto_prio3_agg *agg,
                                  const sotto_prio3_agg *other, sotto_err *err)
{
    SOTTO_TRY(check_ours(vdaf, agg, err));
    SOTTO_TRY(check_ours(vdaf, other, err));
    if (other->reports > agg->reports)
        return sotto_fail(err, SOTTO_BUG, "aggregate share: more is taken off than is there");
    vdaf->circuit->flp->subtract(agg->elements, other->elements, vdaf->sizes.outputs);
    agg->reports -= other->reports;
    return SOTTO_OK;
}

/* What every aggregator added must leave a sum on its own side of half the modulus, or its sign could not be told. */
static sotto_status check_sign_is_kept(const sotto_prio3 *vdaf, uint64_t reports, sotto_err *err)
{
    const sotto_circuit *c = vdaf->circuit;
    sotto_u128 half = modulus_of(c) >> 1;
    sotto_u128 added = sotto_mul_wide(c->shares, SOTTO_PRIO3_ADDED_LIMIT);

    if (sotto_mul_wide(reports, c->max) >= half - added)
        return sotto_fail(err, SOTTO_DENIED,
                          "the sum of %llu reports leaves no room in Field%u for numbers below 0",
                          (unsigned long long)reports, c->field);
    return SOTTO_OK;
}

/* value mod p, whatever its sign. */
static void put_signed(uint8_t *at, const sotto_circuit *c, int64_t value)
{
    uint64_t negative = sotto_ct_mask((uint64_t)value >> 63);
    sotto_u128 wide = sotto_u128_of(negative, (uint64_t)value);
    sotto_u128 mask = sotto_u128_of(negative, negative);

    wide += modulus_of(c) & mask;
    sotto_store64(at, sotto_u128_low(wide));
    if (c->field != 64)
        sotto_store64(at + 8, sotto_u128_high(wide));
}

sotto_status sotto_prio3_agg_add(const sotto_prio3 *vdaf, sotto_prio3_agg *agg, size_t first,
                                 const int64_t *values, size_t count, sotto_err *err)
{
    const sotto_circuit *c = vdaf->circuit;
    uint8_t *elements = agg->elements;
    uint64_t beyond = 0;

    SOTTO_TRY(check_ours(vdaf, agg, err));
    SOTTO_TRY(check_sign_is_kept(vdaf, agg->reports, err));
    if (first > vdaf->sizes.outputs || count > vdaf->sizes.outputs - first)
        return sotto_fail(err, SOTTO_BUG, "aggregate share: has no so many entries");
    for (size_t i = 0; i < count; i++)
        beyond |= sotto_ct_less(2 * SOTTO_PRIO3_ADDED_LIMIT,
                                (uint64_t)values[i] + SOTTO_PRIO3_ADDED_LIMIT);
    SOTTO_DECLASSIFY(&beyond, sizeof beyond);
    if (beyond)
        return sotto_fail(err, SOTTO_BUG, "aggregate share: a number too large to add");
    for (size_t i = 0; i < count; i++) {
        uint8_t element[16];

        put_signed(element, c, values[i]);
        sotto_flp_checks_of(c)->merge(elements + sotto_circuit_bytes(c, first + i), element, 1);
        sotto_wipe(element, sizeof element);
    }
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
        sotto_flp_checks_of(c)->merge(sum, agg_shares[s].data + sotto_circuit_bytes(c, index), 1);
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

sotto_status sotto_prio3_unshard_signed(const sotto_prio3 *vdaf, sotto_uint128 *result,
                                        const sotto_bytes *agg_shares, uint64_t reports,
                                        sotto_err *err)
{
    sotto_u128 modulus = modulus_of(vdaf->circuit);

    SOTTO_TRY(check_sign_is_kept(vdaf, reports, err));
    SOTTO_TRY(sotto_prio3_unshard(vdaf, result, agg_shares, reports, err));
    for (size_t i = 0; i < vdaf->sizes.outputs; i++) {
        sotto_u128 entry = sotto_u128_of(result[i].high, result[i].low);

        if (entry > modulus >> 1)
            entry -= modulus; /* wraps to the two's complement of 128 bits */
        result[i] = (sotto_uint128){sotto_u128_low(entry), sotto_u128_high(entry)};
    }
    return SOTTO_OK;
}
