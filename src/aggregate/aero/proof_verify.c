#include "aggregate/aero/proof_rows.h"

#include "base/rule.h"
#include "math/poly.h"

#include <string.h>

/* A proof's parts, borrowed. */
typedef struct parts {
    const uint8_t *root, *answers, *tops, *columns;
    size_t answers_len;
    uint64_t nonce;
} parts;

typedef struct verifier {
    const sotto_aero_statement *s;
    proof_shape shape;
    parts parts;
    challenges *ch;
    sotto_f64 *bases;   /* coefficients, in order: H of each base, for each repetition */
    sotto_f64 *answers; /* near, then sum and quotient of each repetition              */
    sotto_f64 *column;
    sotto_f64 *powers; /* of the point of this column */
} verifier;

enum { CHAINS = 8 };

static const sotto_f64 *near_of(const verifier *v, unsigned i)
{
    return v->answers + (size_t)i * ROW;
}

static const sotto_f64 *sum_of(const verifier *v, unsigned i)
{
    return near_of(v, v->s->profile->near) + (size_t)i * (SUM + QUOTIENT);
}

static sotto_status no_memory(sotto_err *err)
{
    return sotto_fail(err, SOTTO_NO_MEMORY, "proof: no memory");
}

static sotto_status split(parts *p, const sotto_aero_statement *s, sotto_bytes proof,
                          sotto_err *err)
{
    size_t size = 0;

    SOTTO_TRY(sotto_aero_proof_size(&size, s, err));
    if (proof.len != size)
        return sotto_fail(err, SOTTO_MALFORMED, "proof: %zu bytes, not %zu", proof.len, size);
    p->answers_len =
        8 * ((size_t)s->profile->near * ROW + (size_t)s->profile->repeated * (SUM + QUOTIENT));
    p->root = proof.data;
    p->answers = p->root + HASH;
    p->nonce = sotto_load64(p->answers + p->answers_len);
    p->tops = p->answers + p->answers_len + 8;
    p->columns = p->tops + (size_t)COSETS * HASH;
    return SOTTO_OK;
}

/* Elements below p; MALFORMED otherwise, so that no proof has two encodings. */
static sotto_status read_elements(sotto_f64 *out, const uint8_t *at, size_t count, sotto_err *err)
{
    uint64_t canonical = 1;

    for (size_t k = 0; k < count; k++) {
        canonical &= sotto_f64_is_canonical(at + 8 * k);
        out[k] = sotto_f64_load(at + 8 * k);
    }
    if (SOTTO_RULE(aero_proof_canonical) && !canonical)
        return sotto_fail(err, SOTTO_MALFORMED, "proof: an element is not below the prime");
    return SOTTO_OK;
}

static sotto_status read_answers(verifier *v, sotto_arena *arena, sotto_err *err)
{
    size_t count = v->parts.answers_len / 8;

    v->answers = sotto_arena_take_array(arena, count, sizeof *v->answers);
    v->column = sotto_arena_take_array(arena, v->shape.column / 8, sizeof *v->column);
    v->powers = sotto_arena_take_array(arena, SUM, sizeof *v->powers);
    if (!v->answers || !v->column || !v->powers)
        return no_memory(err);
    return read_elements(v->answers, v->parts.answers, count, err);
}

/* ---- linear constraints ------------------------------------------------------------------------------- */

static sotto_status check_sums(const verifier *v, sotto_err *err)
{
    for (unsigned i = 0; i < v->s->profile->repeated; i++) {
        const sotto_f64 *q = sum_of(v, i);
        /* Over H, all powers but those of x^H add up to nothing. */
        sotto_f64 sum = sotto_f64_add(sotto_f64_add(q[0], q[H]), q[2 * H]);

        sum = sotto_f64_mul(sum, sotto_f64_from(H));
        if (SOTTO_RULE(aero_proof_sum) && sum.v != sotto_aero_target(v->s, v->ch->of[i]).v)
            return sotto_fail(err, SOTTO_REJECTED, "proof: the equations do not hold");
    }
    return SOTTO_OK;
}

static sotto_status find_bases(verifier *v, sotto_arena *arena, sotto_err *err)
{
    sotto_f64 *work = sotto_arena_take_array(arena, H, sizeof *work);
    cosets on;

    v->bases = sotto_arena_take_array(arena, (size_t)v->s->profile->repeated * BASES * H,
                                      sizeof *v->bases);
    if (!work || !v->bases)
        return no_memory(err);
    SOTTO_TRY(sotto_aero_cosets(&on, 0, arena, err));
    for (unsigned i = 0; i < v->s->profile->repeated; i++) {
        for (unsigned b = 0; b < BASES; b++) {
            sotto_f64 *out = v->bases + (i * (size_t)BASES + b) * H;

            SOTTO_TRY(sotto_aero_base_values(work, v->s, v->ch->of[i], (weight_base)b, arena, err));
            sotto_aero_interpolate(&on, work);
            for (size_t k = 0; k < H; k++)
                out[k] = work[sotto_aero_reversed(k)];
        }
    }
    return SOTTO_OK;
}

/* Powers of a column's point, in eight chains that do not wait for each other. All polynomials are then sums of products. */
static void find_powers(verifier *v, sotto_f64 x)
{
    sotto_f64 *p = v->powers, step = sotto_f64_pow(x, CHAINS);

    p[0] = sotto_f64_one();
    for (size_t k = 1; k < CHAINS; k++)
        p[k] = sotto_f64_mul(p[k - 1], x);
    for (size_t k = CHAINS; k < SUM; k++)
        p[k] = sotto_f64_mul(p[k - CHAINS], step);
}

static sotto_f64 evaluate(const verifier *v, const sotto_f64 *c, size_t count)
{
    sotto_f64_acc acc = {0};

    for (size_t k = 0; k < count; k++)
        sotto_f64_acc_mul(&acc, c[k], v->powers[k]);
    return sotto_f64_acc_reduce(&acc);
}

/* At x and at -x: the upper half of H is the negative of the lower one. */
static void evaluate_both(const verifier *v, sotto_f64 out[2], const sotto_f64 *c)
{
    sotto_f64_acc even = {0}, odd = {0};

    for (size_t k = 0; k < H; k += 2) {
        sotto_f64_acc_mul(&even, c[k], v->powers[k]);
        sotto_f64_acc_mul(&odd, c[k + 1], v->powers[k + 1]);
    }
    out[0] = sotto_f64_add(sotto_f64_acc_reduce(&even), sotto_f64_acc_reduce(&odd));
    out[1] = sotto_f64_sub(sotto_f64_acc_reduce(&even), sotto_f64_acc_reduce(&odd));
}

/* ---- one column --------------------------------------------------------------------------------------- */

/* What the rows add up to at x in one repetition: weighted for the equations, and the quadratic constraints. */
static void combine_column(const verifier *v, unsigned i, sotto_f64 *linear, sotto_f64 *quadratic)
{
    const combination *c = v->ch->of[i];
    sotto_f64 weighted[BASES][2] = {{{0}}}, m = sotto_f64_zero(), all = m, at[2];

    for (size_t index = 0; index < v->shape.rows; index++) {
        row r = sotto_aero_row(&v->shape, index);
        sotto_f64 y = v->column[index], off = sotto_f64_sub(sotto_f64_mul(y, y), y), weights[BASES];

        for (unsigned half = 0; half < 2; half++) {
            sotto_aero_weights_of(weights, v->s, c, r, 2 * r.pair + half);
            for (unsigned b = 0; b < BASES; b++)
                if (weights[b].v)
                    weighted[b][half] =
                        sotto_f64_add(weighted[b][half], sotto_f64_mul(weights[b], y));
        }
        if (r.kind == KIND_M && r.bit == 0)
            m = sotto_f64_neg(sotto_f64_from(UINT64_C(1) << (v->s->bits - 1)));
        if (r.kind == KIND_M)
            m = sotto_f64_add(m, sotto_f64_mul(y, sotto_f64_from(UINT64_C(1) << r.bit)));
        if (r.kind == KIND_SQUARE)
            off = sotto_f64_sub(y, sotto_f64_mul(m, m));
        all = sotto_f64_add(all, sotto_f64_mul(off, c->gamma[index]));
    }
    *quadratic = all;
    *linear = sotto_f64_zero();
    for (unsigned b = 0; b < BASES; b++) {
        evaluate_both(v, at, v->bases + (i * (size_t)BASES + b) * H);
        *linear = sotto_f64_add(*linear, sotto_f64_mul(at[0], weighted[b][0]));
        *linear = sotto_f64_add(*linear, sotto_f64_mul(at[1], weighted[b][1]));
    }
}

static sotto_status check_near(const verifier *v, sotto_err *err)
{
    for (unsigned i = 0; i < v->s->profile->near; i++) {
        sotto_f64 sum = v->column[v->shape.rows + i];

        for (size_t k = 0; k < v->shape.rows; k++)
            sum =
                sotto_f64_add(sum, sotto_f64_mul(v->column[k], v->ch->near[i * v->shape.rows + k]));
        if (SOTTO_RULE(aero_proof_near) && sum.v != evaluate(v, near_of(v, i), ROW).v)
            return sotto_fail(err, SOTTO_REJECTED, "proof: rows are no polynomials");
    }
    return SOTTO_OK;
}

static sotto_status check_constraints(const verifier *v, sotto_err *err)
{
    sotto_f64 zero = sotto_f64_sub(v->powers[H], sotto_f64_one());

    for (unsigned i = 0; i < v->s->profile->repeated; i++) {
        const sotto_f64 *masks = v->column + v->shape.rows + v->s->profile->near + (size_t)2 * i;
        sotto_f64 linear, quadratic;

        combine_column(v, i, &linear, &quadratic);
        linear = sotto_f64_add(linear, masks[0]);
        if (SOTTO_RULE(aero_proof_linear) && linear.v != evaluate(v, sum_of(v, i), SUM).v)
            return sotto_fail(err, SOTTO_REJECTED, "proof: a sum is not that of its rows");
        sotto_f64 quotient = sotto_f64_sub(evaluate(v, sum_of(v, i) + SUM, QUOTIENT), masks[1]);
        if (SOTTO_RULE(aero_proof_quadratic) && quadratic.v != sotto_f64_mul(quotient, zero).v)
            return sotto_fail(err, SOTTO_REJECTED, "proof: a bit is none, or a square is none");
    }
    return SOTTO_OK;
}

static bool in_tree(const verifier *v, const uint8_t *column, uint32_t query)
{
    const uint8_t kind = 0, *path = column + v->shape.column;
    uint8_t node[HASH];
    sotto_hash hash;
    uint32_t at = query;

    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(&kind, 1));
    sotto_hash_update(&hash, sotto_bytes_of(column, v->shape.column));
    sotto_hash_final(&hash, node);
    for (unsigned l = 0; l < H_LOG; l++, at /= 2) {
        const uint8_t *other = path + (size_t)l * HASH;

        if (at % 2)
            sotto_aero_node(node, other, node);
        else
            sotto_aero_node(node, node, other);
    }
    return memcmp(node, v->parts.tops + (size_t)at * HASH, HASH) == 0;
}

static sotto_status check_columns(verifier *v, const uint32_t *queries, sotto_err *err)
{
    size_t each = v->shape.column + (size_t)H_LOG * HASH;

    for (unsigned i = 0; i < v->s->profile->queries; i++) {
        const uint8_t *column = v->parts.columns + i * each;

        if (SOTTO_RULE(aero_proof_tree) && !in_tree(v, column, queries[i]))
            return sotto_fail(err, SOTTO_REJECTED, "proof: a column is not the one committed to");
        SOTTO_TRY(read_elements(v->column, column + SALT, (v->shape.column - SALT) / 8, err));
        find_powers(v, sotto_aero_point(queries[i]));
        SOTTO_TRY(check_near(v, err));
        SOTTO_TRY(check_constraints(v, err));
    }
    return SOTTO_OK;
}

static sotto_status verify(verifier *v, sotto_arena *arena, sotto_err *err)
{
    uint8_t state[HASH], seed[HASH], root[HASH];
    uint32_t queries[BLIND];

    sotto_aero_root(root, v->parts.tops);
    if (SOTTO_RULE(aero_proof_root) && memcmp(root, v->parts.root, HASH) != 0)
        return sotto_fail(err, SOTTO_REJECTED, "proof: another root");
    SOTTO_TRY(read_answers(v, arena, err));
    SOTTO_TRY(sotto_aero_bind(state, v->s, arena, err));
    sotto_aero_absorb(state, sotto_bytes_of(v->parts.root, HASH));
    SOTTO_TRY(sotto_aero_challenges(v->ch, v->s, &v->shape, state, arena, err));
    sotto_aero_absorb(state, sotto_bytes_of(v->parts.answers, v->parts.answers_len));
    bool worked = sotto_aero_worked(seed, v->s, state, v->parts.nonce);
    if (SOTTO_RULE(aero_proof_work) && !worked)
        return sotto_fail(err, SOTTO_REJECTED, "proof: no work was done for the queries");
    SOTTO_TRY(check_sums(v, err));
    SOTTO_TRY(sotto_aero_queries(queries, v->s->profile->queries, seed, err));
    SOTTO_TRY(find_bases(v, arena, err));
    return check_columns(v, queries, err);
}

sotto_status sotto_aero_verify_vartime(const sotto_aero_statement *statement, sotto_bytes proof,
                                       sotto_arena *scratch, sotto_err *err)
{
    challenges ch;
    verifier v = {.s = statement, .ch = &ch};

    SOTTO_TRY(split(&v.parts, statement, proof, err));
    v.shape = sotto_aero_shape(statement);
    return verify(&v, scratch, err);
}
