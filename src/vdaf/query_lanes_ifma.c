/* The steps are those of flp_query_template.h. Numbers are in limbs, and weights carry 2^104 (math/lanes128_ifma.h). */
#include "vdaf/query_lanes.h"

#include "math/lanes128_ifma.h"

#include <string.h>

enum { LANES = SOTTO_QUERY_LANES };

_Static_assert((int)LANES == (int)SOTTO_F128_LANES, "a lane is a report");

typedef sotto_f128x8 fx;
typedef sotto_f128x8_acc fx_acc;

/* An element of each report, as the wire has it. */
typedef struct words {
    sotto_v8 low, high;
} words;

typedef struct query {
    const sotto_circuit *c;
    const sotto_query_tables *tables;
    words *meas, *proof, *query_rand, *joint_rand;
    fx *factors, *f, *r, *running; /* N Lagrange factors; for each call its own */
    uint8_t *out[LANES];
} query;

static inline fx number(const words *w)
{
    return sotto_f128x8_of_words(w->low, w->high);
}

/* A weight of the scalar code, in every lane. */
static inline fx weight_of(sotto_f128 weight)
{
    return sotto_f128x8_all(sotto_f128_mul(weight, (sotto_f128){0, UINT64_C(1) << 40}));
}

static inline fx one(void)
{
    return sotto_f128x8_all((sotto_f128){0, UINT64_C(1) << 40}); /* 2^104 */
}

static inline fx to_weight(const words *w)
{
    /* 2^208 modulo p, which is 783 * 2^80 - 28 * 2^16. */
    fx x = number(w),
       square = sotto_f128x8_all((sotto_f128){-(UINT64_C(28) << 16), (UINT64_C(783) << 16) - 1});

    return sotto_f128x8_mul(&x, &square);
}

static inline fx add(fx a, fx b)
{
    a = sotto_f128x8_exact(a), b = sotto_f128x8_exact(b);
    for (unsigned i = 0; i < 3; i++)
        a.limb[i] = _mm512_add_epi64(a.limb[i], b.limb[i]);
    return sotto_f128x8_settle(a);
}

/* a + 4p - b, since a difference may not be negative. */
static inline fx subtract(fx a, fx b)
{
    const sotto_v8 lent[3] = {sotto_v8_of(4), sotto_v8_of(-4 * SOTTO_LIMB_K), sotto_v8_of(1 << 26)};

    a = sotto_f128x8_exact(a), b = sotto_f128x8_exact(b);
    for (unsigned i = 0; i < 3; i++)
        a.limb[i] = _mm512_add_epi64(_mm512_sub_epi64(a.limb[i], b.limb[i]), lent[i]);
    return sotto_f128x8_settle(a);
}

/* ---- into lanes, and out of them ------------------------------------------------------------------- */

/* Four elements of eight reports at a time. */
static void turn(words *out, const uint8_t *const in[LANES], size_t count)
{
    for (size_t at = 0; at < count; at += 4) {
        size_t now = count - at < 4 ? count - at : 4;
        __mmask8 mask = (__mmask8)((1U << 2 * now) - 1);
        sotto_v8 v[LANES];

        for (unsigned l = 0; l < LANES; l++)
            v[l] = _mm512_maskz_loadu_epi64(mask, in[l] + at * SOTTO_F128_SIZE);
        sotto_v8_transpose(v);
        for (size_t i = 0; i < now; i++)
            out[at + i] = (words){v[2 * i], v[2 * i + 1]};
    }
}

static void put(const query *q, size_t index, fx x)
{
    _Alignas(64) uint8_t here[LANES][SOTTO_F128_SIZE];

    sotto_f128x8_store(here, sotto_f128x8_exact(x));
    for (unsigned l = 0; l < LANES; l++)
        memcpy(q->out[l] + index * SOTTO_F128_SIZE, here[l], SOTTO_F128_SIZE);
}

/* ---- factors --------------------------------------------------------------------------------------- */

/* Fills q->factors as sotto_f128_factors does; returns t^P. */
static fx fill_factors(const query *q)
{
    const sotto_f128 *roots = q->tables->gadget_roots;
    size_t n = (size_t)1 << q->c->gadget_log;
    fx adapter = sotto_f128x8_all(sotto_f128x8_adapter());
    fx power[8];

    power[0] = to_weight(&q->query_rand[q->c->query_rand_len - 1]);
    for (unsigned s = 0; s < q->c->wire_log; s++)
        power[s + 1] = sotto_f128x8_mul(&power[s], &power[s]);
    q->factors[0] = q->factors[1] = one();
    for (unsigned s = q->c->wire_log; s-- > 0;) {
        size_t half = n >> (s + 1);
        /* Times a root, with its 2^128, this gives a weight for lanes. */
        fx adapted = sotto_f128x8_mul(&power[s], &adapter);

        for (size_t k = 0; k < half; k++) {
            fx root = sotto_f128x8_all(roots[(n - (k << s)) & (n - 1)]);
            fx u = sotto_f128x8_mul(&root, &adapted), x = q->factors[k];
            fx v = sotto_f128x8_mul(&x, &u);

            q->factors[k] = add(x, v);
            q->factors[k + half] = subtract(x, v);
        }
    }
    return power[q->c->wire_log];
}

/* ---- the gadget polynomial ---------------------------------------------------------------------------- */

/* The value that the proof leaves out. */
static fx last_value(const query *q, const words *known, size_t n)
{
    const sotto_f128 *roots = q->tables->gadget_roots;
    fx_acc acc = sotto_f128x8_acc_zero();

    for (size_t k = 0; k < n - 1; k++) {
        fx y = number(&known[k]), root = sotto_f128x8_all(roots[k]);

        sotto_f128x8_acc_mul(&acc, &y, &root);
    }
    /* Roots carry 2^128, so the sum has 2^24 too much. */
    fx sum = sotto_f128x8_reduce_sum(acc);
    fx rest = sotto_f128x8_all(sotto_f128_mul(sotto_f128_neg(roots[1]), sotto_f128x8_adapter()));
    return sotto_f128x8_mul(&sum, &rest);
}

/* One level of factors is missing. Of it, even nodes have 1 + t^P and odd ones 1 - t^P. */
static fx gadget_at_point(const query *q, fx t_to_p)
{
    size_t n = (size_t)1 << q->c->gadget_log;
    const words *known = q->proof + q->c->arity;
    fx_acc even = sotto_f128x8_acc_zero(), odd = even, both = even;
    fx last = last_value(q, known, n);
    fx inverse = weight_of(q->tables->gadget_inv);

    for (size_t k = 0; k < n; k += 2) {
        fx y = number(&known[k]), z = k + 1 < n - 1 ? number(&known[k + 1]) : last;

        sotto_f128x8_acc_mul(&even, &y, &q->factors[k]);
        sotto_f128x8_acc_mul(&odd, &z, &q->factors[k + 1]);
    }
    fx a = sotto_f128x8_reduce_sum(even), b = sotto_f128x8_reduce_sum(odd);
    fx plus = add(one(), t_to_p), minus = subtract(one(), t_to_p);
    sotto_f128x8_acc_mul(&both, &a, &plus);
    sotto_f128x8_acc_mul(&both, &b, &minus);
    fx total = sotto_f128x8_reduce_sum(both);
    return sotto_f128x8_mul(&total, &inverse);
}

/* ---- wires and output --------------------------------------------------------------------------------- */

/* Factors and powers of every call. Returns what odd inputs have too much: the elements are less 1/shares there. */
static fx start_calls(const query *q)
{
    fx inverse = weight_of(q->tables->wire_inv), shares = sotto_f128x8_all(q->tables->shares_inv);
    fx sum = {{_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512()}};

    for (size_t i = 0; i < q->c->calls; i++) {
        q->f[i] = sotto_f128x8_mul(&q->factors[2 * (i + 1)], &inverse);
        q->r[i] = to_weight(&q->joint_rand[i]);
        q->running[i] = sotto_f128x8_mul(&q->f[i], &q->r[i]);
        sotto_f128x8_grow(&sum, q->f[i]);
    }
    sum = sotto_f128x8_settle(sum);
    return sotto_f128x8_mul(&shares, &sum);
}

/* Both wires of column j. */
static void put_wires(const query *q, size_t j, fx seed_factor, fx offset)
{
    size_t width = (size_t)q->c->chunk_length;
    size_t rows = j < q->c->meas_len ? (q->c->meas_len - j + width - 1) / width : 0;
    fx_acc even = sotto_f128x8_acc_zero(), odd = even;
    fx first = number(&q->proof[2 * j]), second = number(&q->proof[2 * j + 1]);

    sotto_f128x8_acc_mul(&even, &first, &seed_factor);
    sotto_f128x8_acc_mul(&odd, &second, &seed_factor);
    for (size_t i = 0; i < rows; i++) {
        fx x = number(&q->meas[i * width + j]);

        sotto_f128x8_acc_mul(&even, &x, &q->running[i]);
        sotto_f128x8_acc_mul(&odd, &x, &q->f[i]);
        q->running[i] = sotto_f128x8_mul(&q->running[i], &q->r[i]);
    }
    put(q, 1 + 2 * j, sotto_f128x8_reduce_sum(even));
    put(q, 2 + 2 * j, subtract(sotto_f128x8_reduce_sum(odd), offset));
}

static fx sum_of(const words *elements, size_t count, size_t step)
{
    fx sum = {{_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512()}};

    for (size_t i = 0; i < count; i++)
        sotto_f128x8_grow(&sum, number(&elements[i * step]));
    return sotto_f128x8_settle(sum);
}

static fx output(const query *q)
{
    fx range_check = sum_of(q->proof + q->c->arity + 2, q->c->calls, 2);

    if (q->c->linear == SOTTO_LINEAR_NONE)
        return range_check;
    fx linear =
        subtract(sum_of(q->meas, q->c->meas_len, 1), sotto_f128x8_all(q->tables->shares_inv));
    fx first = to_weight(&q->query_rand[0]), second = to_weight(&q->query_rand[1]);
    fx_acc acc = sotto_f128x8_acc_zero();

    sotto_f128x8_acc_mul(&acc, &range_check, &first);
    sotto_f128x8_acc_mul(&acc, &linear, &second);
    return sotto_f128x8_reduce_sum(acc);
}

/* ---- all of it ---------------------------------------------------------------------------------------- */

static query lay_out(const sotto_circuit *c, const sotto_query_tables *tables, void *scratch)
{
    query q = {.c = c, .tables = tables};
    words *at = (words *)(void *)(((uintptr_t)scratch + 63) & ~(uintptr_t)63);

    q.meas = at, at += c->meas_len;
    q.proof = at, at += c->proof_len;
    q.query_rand = at, at += c->query_rand_len;
    q.joint_rand = at, at += c->joint_rand_len;
    q.factors = (fx *)(void *)at;
    q.f = q.factors + ((size_t)1 << c->gadget_log);
    q.r = q.f + c->calls;
    q.running = q.r + c->calls;
    return q;
}

/* Lanes without a report repeat the first one's, into its place. */
static void turn_all(query *q, const sotto_flp_query *queries, size_t count)
{
    const uint8_t *meas[LANES], *proof[LANES], *query_rand[LANES], *joint_rand[LANES];

    for (unsigned l = 0; l < LANES; l++) {
        const sotto_flp_query *from = &queries[l < count ? l : 0];

        meas[l] = from->meas, proof[l] = from->proof;
        query_rand[l] = from->query_rand, joint_rand[l] = from->joint_rand;
        q->out[l] = from->verifier;
    }
    turn(q->meas, meas, q->c->meas_len);
    turn(q->proof, proof, q->c->proof_len);
    turn(q->query_rand, query_rand, q->c->query_rand_len);
    turn(q->joint_rand, joint_rand, q->c->joint_rand_len);
}

void sotto_query_lanes_ifma(const sotto_circuit *c, const sotto_query_tables *tables,
                            sotto_flp_query *queries, size_t count, void *scratch)
{
    _Alignas(64) sotto_f128 ends[LANES];
    query q = lay_out(c, tables, scratch);

    turn_all(&q, queries, count);
    fx t_to_p = fill_factors(&q), inverse = weight_of(tables->wire_inv);
    fx seed_factor = sotto_f128x8_mul(&q.factors[0], &inverse);
    fx offset = start_calls(&q);

    put(&q, 0, output(&q));
    for (size_t j = 0; j < c->chunk_length; j++)
        put_wires(&q, j, seed_factor, offset);
    put(&q, 1 + c->arity, gadget_at_point(&q, t_to_p));
    sotto_f128x8_store(ends, sotto_f128x8_exact(t_to_p));
    for (size_t i = 0; i < count; i++)
        queries[i].usable = !sotto_f128_equal(ends[i], (sotto_f128){0, UINT64_C(1) << 40});
}
