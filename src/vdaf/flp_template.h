/* vdaf/flp_template.h - tables and vectors of the proof system, compiled once for each field.
 *
 * flp64.c and flp128.c include this, then flp_prove_template.h and flp_query_template.h.
 */
#include "math/poly.h"
#include "math/power_sums.h"
#include "math/vectors.h"
#include "vdaf/encoded_template.h"
#include "vdaf/flp.h"

/* ---- tables ------------------------------------------------------------------------------------ */

/* All weights. P = 2^wire_log, N = 2^gadget_log; w is a root of unity of order N. */
typedef struct flp_tables {
    fe *gadget_roots; /* w^k                                                   */
    fe *wire_roots;   /* (w^(N/P))^k                                           */
    fe *odd_shift;    /* see sotto_f64_odd_shift                               */
    fe *spike;        /* the polynomial that is 1 at node 0, at the odd nodes  */
    fe *plateau;      /* the one that is 1 at nodes 1..calls, at the odd nodes */
    fe wire_inv;      /* 1/P */
    fe gadget_inv;    /* 1/N */
    fe shares_inv;    /* 1/shares; plain */
} flp_tables;

static size_t wire_count(const sotto_circuit *c)
{
    return (size_t)1 << c->wire_log;
}

static size_t gadget_count(const sotto_circuit *c)
{
    return (size_t)1 << c->gadget_log;
}

static size_t tables_size(const sotto_circuit *c)
{
    return sizeof(flp_tables) + (gadget_count(c) + 4 * wire_count(c)) * sizeof(fe);
}

static fe inverse_weight(uint64_t x)
{
    return FIELD(inv)(FIELD(to_weight)(FIELD(from)(x)));
}

static void tables_init(const sotto_circuit *c, void *memory)
{
    flp_tables *t = memory;
    size_t p = wire_count(c);
    fe *at = (fe *)(t + 1);

    t->gadget_roots = at, at += gadget_count(c);
    t->wire_roots = at, at += p;
    t->odd_shift = at, at += p;
    t->spike = at, at += p;
    t->plateau = at;
    FIELD(roots)(t->gadget_roots, c->gadget_log);
    FIELD(roots)(t->wire_roots, c->wire_log);
    FIELD(odd_shift)(t->odd_shift, c->wire_log);
    for (size_t k = 0; k < p; k++) {
        t->spike[k] = k == 0 ? FIELD(one_weight)() : FIELD(zero)();
        t->plateau[k] = k >= 1 && k <= c->calls ? FIELD(one_weight)() : FIELD(zero)();
    }
    FIELD(to_odd_values)(t->spike, c->wire_log, t->wire_roots, t->odd_shift);
    FIELD(to_odd_values)(t->plateau, c->wire_log, t->wire_roots, t->odd_shift);
    /* The shift begins with 1/p. Of powers of two one inverse is enough: a device opens an instance for each report. */
    t->wire_inv = t->odd_shift[0];
    fe half = FIELD(mul)(t->wire_inv, FIELD(to_weight)(FIELD(from)(p / 2)));
    t->gadget_inv = t->wire_inv;
    for (unsigned log = c->wire_log; log < c->gadget_log; log++)
        t->gadget_inv = FIELD(mul)(t->gadget_inv, half);
    t->shares_inv = FIELD(mul)(FIELD(one)(), c->shares == 2 ? half : inverse_weight(c->shares));
}

/* ---- vectors in wire encoding ------------------------------------------------------------------ */

static void subtract(uint8_t *a, const uint8_t *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put(a, i, FIELD(sub)(get(a, i), get(b, i)));
}

static void merge(uint8_t *agg, const uint8_t *other, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put(agg, i, FIELD(add)(get(agg, i), get(other, i)));
}

/* ---- integers spelled in elements -------------------------------------------------------------- */

/* Spells value in `bits` elements; returns all ones if it fits max, else zero. */
static uint64_t spell(uint8_t *at, uint64_t value, unsigned bits, uint64_t max)
{
    uint64_t rest_max = ((uint64_t)1 << (bits - 1)) - 1;
    uint64_t last_weight = max - rest_max;
    uint64_t needs_last = sotto_ct_less(rest_max, value);
    uint64_t rest = value - (last_weight & needs_last);

    for (unsigned b = 0; b + 1 < bits; b++)
        put(at, b, FIELD(from)(rest >> b & 1));
    put(at, bits - 1, FIELD(from)(needs_last & 1));
    return ~sotto_ct_less(max, value);
}

static bool encode_one_hot(const sotto_circuit *c, uint8_t *meas, uint64_t index)
{
    for (uint64_t i = 0; i < c->entries; i++)
        put(meas, i, FIELD(from)(sotto_ct_equal(i, index) & 1));
    return index < c->entries;
}

static bool encode(const sotto_circuit *c, uint8_t *meas, sotto_measurement measurement)
{
    uint64_t fits = ~(uint64_t)0, sum = 0;

    if (measurement.count != (c->one_hot ? 1 : c->entries))
        return false;
    if (c->one_hot)
        return encode_one_hot(c, meas, measurement.values[0]);
    for (size_t i = 0; i < c->entries; i++) {
        uint64_t value = measurement.values[i];

        fits &= spell(meas + i * c->bits * FE_SIZE, value, c->bits, c->max);
        sum += value;
        if (c->claim_bits) /* the claim may not wrap round */
            fits &= ~sotto_ct_less(sum, value);
    }
    if (c->claim_bits)
        fits &= spell(meas + sotto_circuit_claim_at(c) * FE_SIZE, sum, c->claim_bits, c->claim_max);
    return fits != 0;
}

/* The integer that `bits` elements spell; also of shares, since it is linear. */
static fe unspell(const uint8_t *at, unsigned bits, uint64_t max)
{
    fe_acc acc = {0};

    for (unsigned b = 0; b < bits; b++)
        FIELD(acc_mul)
    (&acc, get(at, b), FIELD(to_weight)(FIELD(from)(sotto_circuit_weight(b, bits, max))));
    return FIELD(acc_reduce)(&acc);
}

static void truncate(const sotto_circuit *c, uint8_t *out, const uint8_t *meas)
{
    for (size_t i = 0; i < c->entries; i++) {
        const uint8_t *at = meas + i * c->bits * FE_SIZE;

        put(out, i, c->bits == 1 ? get(at, 0) : unspell(at, c->bits, c->max));
    }
}

/* ---- sums -------------------------------------------------------------------------------------- */

/* A few shares at a time, so that each entry's sum is reduced once for all of them. */
static void accumulate(const sotto_circuit *c, uint8_t *agg, const uint8_t *const *meas,
                       size_t count)
{
    fe weights[64];

    if (c->bits == 1) {
        FIELD(vectors_add)(agg, c->entries, meas, count);
        return;
    }
    for (unsigned b = 0; b < c->bits; b++)
        weights[b] = FIELD(to_weight)(FIELD(from)(sotto_circuit_weight(b, c->bits, c->max)));
    for (size_t i = 0; i < c->entries; i++) {
        fe_acc acc = {0};

        for (size_t s = 0; s < count; s++)
            for (unsigned b = 0; b < c->bits; b++)
                FIELD(acc_mul)(&acc, get(meas[s], i * c->bits + b), weights[b]);
        put(agg, i, FIELD(add)(get(agg, i), FIELD(acc_reduce)(&acc)));
    }
}
