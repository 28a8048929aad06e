/* The prover goes over its rows three times and keeps none of them: to commit to columns, to combine rows, and to open columns. */
#include "aggregate/aero/proof_rows.h"

#include "base/declassify.h"
#include "math/poly.h"

#include <string.h>

enum {
    WORDS = 8,
    MASKS = MOST_NEAR + 2 * MOST_REPEATED
}; /* eight elements are a block of SHA-256 */

/* Coefficients of x^0 to x^(H-1), bits reversed, and the further ones. */
typedef struct poly {
    sotto_f64 *low, *high;
    size_t more;
} poly;

typedef struct prover {
    const sotto_aero_statement *s;
    const sotto_aero_witness *witnesses;
    const int64_t *m;
    sotto_arena *arena;
    proof_shape shape;
    cosets cosets;
    int16_t *u[2]; /* quotients by the second prime */
    uint64_t slack;
    uint8_t seed[HASH], salt_seed[HASH];
    sotto_keystream stream;
    poly row, masks[MASKS];
    sotto_f64 *values;      /* H of them */
    uint8_t *salts, *nodes; /* of all columns; 2 COLUMNS hashes */
} prover;

static sotto_status no_memory(sotto_err *err)
{
    return sotto_fail(err, SOTTO_NO_MEMORY, "proof: no memory");
}

static sotto_status take_poly(prover *p, poly *v, size_t more, sotto_err *err)
{
    v->low = sotto_arena_take_array(p->arena, H, sizeof *v->low);
    v->high = sotto_arena_take_array(p->arena, more, sizeof *v->high);
    v->more = more;
    return v->low && v->high ? SOTTO_OK : no_memory(err);
}

/* ---- the witness -------------------------------------------------------------------------------------- */

/* (f r + e - c) / p' over the integers, all of which are far below p. */
static void quotients(const prover *p, int16_t *out, const sotto_f64 *f, const int8_t *r,
                      const int8_t *e, const uint64_t *c, sotto_f64 *work)
{
    const sotto_aero_ring *ring = &p->s->aero->ring;
    sotto_f64 part = sotto_f64_inv(sotto_f64_from(ring->set->second));

    for (size_t k = 0; k < SOTTO_AERO_N; k++)
        work[k].v = (uint64_t)(int64_t)r[k] + (SOTTO_F64_P & sotto_ct_mask((uint64_t)r[k] >> 63));
    sotto_ntt64_negacyclic_forward(work, 12, ring->factors);
    sotto_ntt64_best()->multiply(work, work, f, SOTTO_AERO_N);
    sotto_ntt64_negacyclic_inverse(work, 12, ring->inverses);
    for (size_t k = 0; k < SOTTO_AERO_N; k++) {
        sotto_f64 x = sotto_f64_add(work[k], sotto_f64_from((uint64_t)(e[k] + 128)));

        x = sotto_f64_sub(x, sotto_f64_from(c[k] + 128));
        /* Moved up, it is a small number that is not negative. */
        x = sotto_f64_add(sotto_f64_mul(x, part), sotto_f64_from(1 << (U_BITS - 1)));
        out[k] = (int16_t)((x.v & ((1 << U_BITS) - 1)) - (1 << (U_BITS - 1)));
    }
}

static sotto_status find_quotients(prover *p, sotto_err *err)
{
    const sotto_aero_statement *s = p->s;
    sotto_f64 *f = sotto_arena_take_array(p->arena, 2 * SOTTO_AERO_N, sizeof *f);

    for (unsigned i = 0; i < 2; i++) {
        const sotto_aero_poly *key = i ? s->b : s->a;

        p->u[i] = sotto_arena_take_array(p->arena, s->count * SOTTO_AERO_N, sizeof *p->u[i]);
        if (!f || !p->u[i])
            return no_memory(err);
        for (size_t k = 0; k < SOTTO_AERO_N; k++)
            f[k] = sotto_f64_mul(sotto_f64_from(key->second[k]), s->aero->ring.part);
        sotto_ntt64_negacyclic_forward(f, 12, s->aero->ring.factors);
        for (size_t c = 0; c < s->count; c++) {
            const sotto_aero_witness *w = &p->witnesses[c];
            const sotto_aero_cipher *x = &s->ciphers[c];

            quotients(p, p->u[i] + c * SOTTO_AERO_N, f, w->r, i ? w->e2 : w->e1,
                      i ? x->c2.second : x->c1.second, f + SOTTO_AERO_N);
        }
    }
    return SOTTO_OK;
}

static void find_slack(prover *p)
{
    uint64_t sum = 0;

    for (size_t c = 0; c < p->s->count; c++)
        for (size_t k = 1; k < SOTTO_AERO_N; k++) {
            uint64_t m = (uint64_t)p->m[c * SOTTO_AERO_N + k];

            sum += m * m; /* of a negative number too, modulo 2^64 */
        }
    p->slack = p->s->norm2 - sum;
}

/* ---- rows --------------------------------------------------------------------------------------------- */

/* One ciphertext's number at a place, as one that is not negative; its bits go into rows. Who is not there has zeros. */
static uint64_t number(const prover *p, row_kind kind, size_t cipher, size_t k)
{
    bool there = cipher < p->s->count;
    const sotto_aero_witness *w = &p->witnesses[there ? cipher : 0];
    size_t at = cipher * SOTTO_AERO_N + k;
    int64_t x = 0;

    switch (kind) {
    case KIND_R: /* two bits whose difference it is */
        x = there ? w->r[k] : 0;
        return (uint64_t)((x & 1) & ~(x >> 1)) | (uint64_t)(x >> 1 & 2);
    case KIND_E1:
        x = there ? w->e1[k] : 0;
        return (uint64_t)(16 + x);
    case KIND_E2:
        x = there ? w->e2[k] : 0;
        return (uint64_t)(16 + x);
    case KIND_M:
        return (uint64_t)(((int64_t)1 << (p->s->bits - 1)) + (there ? p->m[at] : 0));
    case KIND_U1:
    case KIND_U2:
        x = there ? p->u[kind - KIND_U1][at] : 0;
        return (uint64_t)((1 << (U_BITS - 1)) + x);
    case KIND_SQUARE:
        return there ? (uint64_t)p->m[at] * (uint64_t)p->m[at] : 0;
    case KIND_SLACK:
        return cipher == 0 && k < SLACK ? p->slack >> k & 1 : 0;
    }
    return 0;
}

/* Rows have to be asked for in order: their blinding comes from a stream. */
static sotto_status make_row(prover *p, size_t index, sotto_err *err)
{
    row r = sotto_aero_row(&p->shape, index);

    for (size_t k = 0; k < H; k++) {
        uint64_t x = number(p, r.kind, 2 * r.pair + k / SOTTO_AERO_N, k % SOTTO_AERO_N);

        if (r.kind < KIND_SQUARE)
            x = x >> r.bit & 1;
        p->row.low[k] = sotto_f64_from(x);
    }
    sotto_aero_interpolate(&p->cosets, p->row.low);
    SOTTO_TRY(sotto_aero_uniform(p->row.high, BLIND, &p->stream, err));
    for (size_t k = 0; k < BLIND; k++) { /* (x^H - 1) times a random polynomial */
        sotto_f64 *at = &p->row.low[sotto_aero_reversed(k)];

        *at = sotto_f64_sub(*at, p->row.high[k]);
    }
    return SOTTO_OK;
}

static size_t mask_count(const prover *p)
{
    return p->s->profile->near + 2 * p->s->profile->repeated;
}

static sotto_status make_masks(prover *p, sotto_err *err)
{
    unsigned near = p->s->profile->near;

    for (size_t i = 0; i < mask_count(p); i++) {
        bool sum = i >= near && (i - near) % 2 == 0;
        poly *v = &p->masks[i];

        SOTTO_TRY(take_poly(p, v, i < near ? BLIND : sum ? SUM - H : QUOTIENT - H, err));
        SOTTO_TRY(sotto_aero_uniform(v->low, H, &p->stream, err));
        SOTTO_TRY(sotto_aero_uniform(v->high, v->more, &p->stream, err));
        if (sum) /* its values on H add up to nothing */
            v->low[0] = sotto_f64_neg(sotto_f64_add(v->high[0], v->high[H]));
    }
    return SOTTO_OK;
}

/* The polynomial of a word of every column: rows first, then masks. */
static sotto_status word(prover *p, const poly **v, size_t index, sotto_err *err)
{
    *v = index < p->shape.rows ? &p->row : &p->masks[index - p->shape.rows];
    return index < p->shape.rows ? make_row(p, index, err) : SOTTO_OK;
}

/* ---- commitment --------------------------------------------------------------------------------------- */

static sotto_status hash_words(prover *p, sotto_hash *columns, uint8_t *block, sotto_err *err)
{
    size_t words = p->shape.rows + mask_count(p);

    for (size_t from = 0; from < words; from += WORDS) {
        size_t some = words - from < WORDS ? words - from : WORDS;

        for (size_t i = 0; i < some; i++) {
            const poly *v;

            SOTTO_TRY(word(p, &v, from + i, err));
            for (unsigned c = 0; c < COSETS; c++) {
                uint8_t *at = block + ((size_t)c * H * WORDS + i) * 8;

                sotto_aero_on_coset(&p->cosets, c, p->values, v->low, v->high, v->more);
                for (size_t k = 0; k < H; k++)
                    sotto_f64_store(at + k * WORDS * 8, p->values[k]);
            }
        }
        for (size_t k = 0; k < COLUMNS; k++)
            sotto_hash_update(&columns[k], sotto_bytes_of(block + k * WORDS * 8, 8 * some));
    }
    return SOTTO_OK;
}

static sotto_status commit(prover *p, sotto_err *err)
{
    const uint8_t kind = 0;
    sotto_hash *columns = sotto_arena_take_array(p->arena, COLUMNS, sizeof *columns);
    uint8_t *block = sotto_arena_take_array(p->arena, COLUMNS, WORDS * 8);

    if (!columns || !block)
        return no_memory(err);
    for (size_t k = 0; k < COLUMNS; k++) {
        sotto_hash_init(&columns[k], SOTTO_SHA256);
        sotto_hash_update(&columns[k], sotto_bytes_of(&kind, 1));
        sotto_hash_update(&columns[k], sotto_bytes_of(p->salts + k * SALT, SALT));
    }
    SOTTO_TRY(sotto_keystream_seed(&p->stream, p->seed, err));
    SOTTO_TRY(hash_words(p, columns, block, err));
    for (size_t k = 0; k < COLUMNS; k++)
        sotto_hash_final(&columns[k], p->nodes + k * HASH);
    sotto_aero_tree(p->nodes);
    return SOTTO_OK;
}

static const uint8_t *tops(const prover *p)
{
    return p->nodes + ((size_t)2 * COLUMNS - 2 * COSETS) * HASH;
}

/* ---- combinations ------------------------------------------------------------------------------------- */

typedef struct answers {
    poly near[MOST_NEAR], sum[MOST_REPEATED], quotient[MOST_REPEATED];
    poly weighted[MOST_REPEATED][BASES][2]; /* rows by base and half */
    sotto_f64 *squares[MOST_REPEATED][2];   /* quadratic constraints on two cosets */
    sotto_f64 *message[2], *at[2];          /* the pair's m, and a row, there      */
} answers;

static void accumulate(poly *sum, const poly *v, sotto_f64 weight)
{
    for (size_t k = 0; k < H; k++)
        sum->low[k] = sotto_f64_add(sum->low[k], sotto_f64_mul(v->low[k], weight));
    for (size_t k = 0; k < v->more; k++)
        sum->high[k] = sotto_f64_add(sum->high[k], sotto_f64_mul(v->high[k], weight));
}

/* Answers begin as the masks, which stay as they are for the openings. */
static sotto_status take_copy(prover *p, poly *v, const poly *of, sotto_err *err)
{
    SOTTO_TRY(take_poly(p, v, of->more, err));
    memcpy(v->low, of->low, H * sizeof *v->low);
    memcpy(v->high, of->high, v->more * sizeof *v->high);
    return SOTTO_OK;
}

static sotto_status take_answers(prover *p, answers *a, sotto_err *err)
{
    const sotto_aero_profile *f = p->s->profile;

    for (unsigned i = 0; i < f->near; i++)
        SOTTO_TRY(take_copy(p, &a->near[i], &p->masks[i], err));
    for (unsigned i = 0; i < f->repeated; i++) {
        SOTTO_TRY(take_copy(p, &a->sum[i], &p->masks[f->near + 2 * i], err));
        SOTTO_TRY(take_copy(p, &a->quotient[i], &p->masks[f->near + 2 * i + 1], err));
        for (unsigned b = 0; b < 2 * BASES; b++)
            SOTTO_TRY(take_poly(p, &a->weighted[i][b / 2][b % 2], BLIND, err));
    }
    for (unsigned c = 0; c < 2; c++) {
        a->message[c] = sotto_arena_take_array(p->arena, H, sizeof(sotto_f64));
        a->at[c] = sotto_arena_take_array(p->arena, H, sizeof(sotto_f64));
        if (!a->message[c] || !a->at[c])
            return no_memory(err);
        for (unsigned i = 0; i < f->repeated; i++) {
            a->squares[i][c] = sotto_arena_take_array(p->arena, H, sizeof(sotto_f64));
            if (!a->squares[i][c])
                return no_memory(err);
        }
    }
    return SOTTO_OK;
}

/* Bits: x^2 - x. Squares: x - m^2, where m is what the rows before add up to. */
static void constrain(const prover *p, answers *a, row r, const challenges *ch, size_t index)
{
    sotto_f64 bit = sotto_f64_from(UINT64_C(1) << r.bit);
    sotto_f64 start = sotto_f64_neg(sotto_f64_from(UINT64_C(1) << (p->s->bits - 1)));

    for (unsigned c = 0; c < 2; c++) {
        sotto_aero_on_coset(&p->cosets, c, a->at[c], p->row.low, p->row.high, BLIND);
        for (size_t k = 0; k < H; k++) {
            sotto_f64 x = a->at[c][k], *m = &a->message[c][k], off;

            if (r.kind == KIND_SQUARE)
                off = sotto_f64_sub(x, sotto_f64_mul(*m, *m));
            else
                off = sotto_f64_sub(sotto_f64_mul(x, x), x);
            if (r.kind == KIND_M)
                *m = sotto_f64_add(r.bit ? *m : start, sotto_f64_mul(x, bit));
            a->at[c][k] = off;
        }
        for (unsigned i = 0; i < p->s->profile->repeated; i++)
            for (size_t k = 0; k < H; k++)
                a->squares[i][c][k] = sotto_f64_add(
                    a->squares[i][c][k], sotto_f64_mul(a->at[c][k], ch->of[i]->gamma[index]));
    }
}

static void weigh(const prover *p, answers *a, row r, const challenges *ch)
{
    for (unsigned i = 0; i < p->s->profile->repeated; i++) {
        for (unsigned half = 0; half < 2; half++) {
            sotto_f64 weights[BASES];

            sotto_aero_weights_of(weights, p->s, ch->of[i], r, 2 * r.pair + half);
            for (unsigned b = 0; b < BASES; b++)
                if (weights[b].v) /* public */
                    accumulate(&a->weighted[i][b][half], &p->row, weights[b]);
        }
    }
}

/* Values on a coset to what the polynomial is modulo x^H - constant, bits reversed. */
static void from_coset(const prover *p, unsigned coset, sotto_f64 *v)
{
    sotto_f64 back = sotto_f64_inv(p->cosets.shift[coset][sotto_aero_reversed(1)]);
    sotto_f64 power = sotto_f64_one();

    sotto_aero_interpolate(&p->cosets, v);
    for (size_t k = 0; k < H; k++) {
        sotto_f64 *at = &v[sotto_aero_reversed(k)];

        *at = sotto_f64_mul(*at, power);
        power = sotto_f64_mul(power, back);
    }
}

/* Adds low + high x^H, from its values on two cosets over x^H - 1. */
static void divide(const prover *p, poly *quotient, sotto_f64 *const v[2])
{
    const sotto_f64 *c = p->cosets.constant;
    sotto_f64 gap = sotto_f64_inv(sotto_f64_sub(c[0], c[1]));

    for (unsigned i = 0; i < 2; i++) {
        sotto_f64 zero = sotto_f64_inv(sotto_f64_sub(c[i], sotto_f64_one()));

        for (size_t k = 0; k < H; k++)
            v[i][k] = sotto_f64_mul(v[i][k], zero);
        from_coset(p, i, v[i]);
    }
    for (size_t k = 0; k < H; k++) {
        size_t at = sotto_aero_reversed(k);
        sotto_f64 high = sotto_f64_mul(sotto_f64_sub(v[0][at], v[1][at]), gap);
        sotto_f64 low = sotto_f64_sub(v[0][at], sotto_f64_mul(high, c[0]));

        quotient->low[at] = sotto_f64_add(quotient->low[at], low);
        if (k < quotient->more)
            quotient->high[k] = sotto_f64_add(quotient->high[k], high);
    }
}

/* The same for low + middle x^H + top x^2H on three cosets. */
static void add_product(const prover *p, poly *sum, sotto_f64 *const v[3])
{
    const sotto_f64 *c = p->cosets.constant;
    sotto_f64 g01 = sotto_f64_inv(sotto_f64_sub(c[0], c[1]));
    sotto_f64 g02 = sotto_f64_inv(sotto_f64_sub(c[0], c[2]));
    sotto_f64 g12 = sotto_f64_inv(sotto_f64_sub(c[1], c[2]));

    for (unsigned i = 0; i < 3; i++)
        from_coset(p, i, v[i]);
    for (size_t k = 0; k < H; k++) {
        size_t at = sotto_aero_reversed(k);
        sotto_f64 d01 = sotto_f64_mul(sotto_f64_sub(v[0][at], v[1][at]), g01);
        sotto_f64 d02 = sotto_f64_mul(sotto_f64_sub(v[0][at], v[2][at]), g02);
        sotto_f64 top = sotto_f64_mul(sotto_f64_sub(d01, d02), g12);
        sotto_f64 middle = sotto_f64_sub(d01, sotto_f64_mul(sotto_f64_add(c[0], c[1]), top));
        sotto_f64 low = sotto_f64_sub(
            v[0][at], sotto_f64_mul(c[0], sotto_f64_add(middle, sotto_f64_mul(c[0], top))));

        sum->low[at] = sotto_f64_add(sum->low[at], low);
        sum->high[k] = sotto_f64_add(sum->high[k], middle);
        if (H + k < sum->more)
            sum->high[H + k] = sotto_f64_add(sum->high[H + k], top);
    }
}

/* sum += base times weighted rows, over all bases and halves. */
static sotto_status combine(prover *p, answers *a, unsigned i, const combination *c, sotto_err *err)
{
    sotto_f64 *memory = sotto_arena_take_array(p->arena, 6 * H, sizeof *memory);

    if (!memory)
        return no_memory(err);
    sotto_f64 *v[3] = {memory, memory + H, memory + 2 * H}, *base = memory + 3 * H;
    sotto_f64 *on = memory + 4 * H, *rows = memory + 5 * H;

    for (unsigned b = 0; b < BASES; b++) {
        for (unsigned half = 0; half < 2; half++) {
            const poly *w = &a->weighted[i][b][half];

            SOTTO_TRY(sotto_aero_base_values(base, p->s, c, (weight_base)b, p->arena, err));
            for (size_t k = 0; k < SOTTO_AERO_N && half; k++) {
                base[SOTTO_AERO_N + k] = base[k];
                base[k] = sotto_f64_zero();
            }
            sotto_aero_interpolate(&p->cosets, base);
            for (unsigned t = 0; t < 3; t++) {
                sotto_aero_on_coset(&p->cosets, t, on, base, NULL, 0);
                sotto_aero_on_coset(&p->cosets, t, rows, w->low, w->high, w->more);
                for (size_t k = 0; k < H; k++)
                    v[t][k] = sotto_f64_add(v[t][k], sotto_f64_mul(on[k], rows[k]));
            }
        }
    }
    add_product(p, &a->sum[i], v);
    return SOTTO_OK;
}

static sotto_status answer(prover *p, answers *a, const challenges *ch, sotto_err *err)
{
    const sotto_aero_profile *f = p->s->profile;

    SOTTO_TRY(sotto_keystream_seed(&p->stream, p->seed, err));
    for (size_t index = 0; index < p->shape.rows; index++) {
        row r = sotto_aero_row(&p->shape, index);

        SOTTO_TRY(make_row(p, index, err));
        for (unsigned i = 0; i < f->near; i++)
            accumulate(&a->near[i], &p->row, ch->near[i * p->shape.rows + index]);
        weigh(p, a, r, ch);
        constrain(p, a, r, ch, index);
    }
    for (unsigned i = 0; i < f->repeated; i++) {
        SOTTO_TRY(combine(p, a, i, ch->of[i], err));
        divide(p, &a->quotient[i], a->squares[i]);
    }
    return SOTTO_OK;
}

/* ---- the proof ---------------------------------------------------------------------------------------- */

static void write_poly(sotto_writer *w, const poly *v)
{
    uint8_t bytes[8];

    for (size_t k = 0; k < H + v->more; k++) {
        sotto_f64_store(bytes, k < H ? v->low[sotto_aero_reversed(k)] : v->high[k - H]);
        sotto_write_bytes(w, sotto_bytes_of(bytes, sizeof bytes));
    }
}

static void write_answers(sotto_writer *w, const prover *p, const answers *a)
{
    for (unsigned i = 0; i < p->s->profile->near; i++)
        write_poly(w, &a->near[i]);
    for (unsigned i = 0; i < p->s->profile->repeated; i++) {
        write_poly(w, &a->sum[i]);
        write_poly(w, &a->quotient[i]);
    }
}

/* Columns go where the proof has room for them: after each other, each with its path. */
static sotto_status open_columns(prover *p, uint8_t *to, const uint32_t *queries, sotto_err *err)
{
    size_t words = p->shape.rows + mask_count(p), each = p->shape.column + (size_t)H_LOG * HASH;
    unsigned count = p->s->profile->queries;

    SOTTO_TRY(sotto_keystream_seed(&p->stream, p->seed, err));
    for (size_t i = 0; i < words; i++) {
        const poly *v;

        SOTTO_TRY(word(p, &v, i, err));
        for (unsigned c = 0; c < COSETS; c++) {
            sotto_aero_on_coset(&p->cosets, c, p->values, v->low, v->high, v->more);
            for (unsigned q = 0; q < count; q++)
                if (queries[q] / H == c)
                    sotto_f64_store(to + q * each + SALT + 8 * i, p->values[queries[q] % H]);
        }
    }
    for (unsigned q = 0; q < count; q++) {
        const uint8_t *level = p->nodes;
        size_t at = queries[q];

        memcpy(to + q * each, p->salts + at * SALT, SALT);
        for (unsigned l = 0; l < H_LOG; l++) {
            memcpy(to + q * each + p->shape.column + (size_t)l * HASH, level + (at ^ 1) * HASH,
                   HASH);
            level += ((size_t)COLUMNS >> l) * HASH;
            at /= 2;
        }
    }
    return SOTTO_OK;
}

static sotto_status prepare(prover *p, sotto_entropy *entropy, sotto_err *err)
{
    size_t salts = (size_t)COLUMNS * SALT;

    SOTTO_TRY(sotto_aero_cosets(&p->cosets, COSETS, p->arena, err));
    SOTTO_TRY(take_poly(p, &p->row, BLIND, err));
    p->values = sotto_arena_take_array(p->arena, H, sizeof *p->values);
    p->salts = sotto_arena_take(p->arena, salts);
    p->nodes = sotto_arena_take(p->arena, (size_t)2 * COLUMNS * HASH);
    if (!p->values || !p->salts || !p->nodes)
        return no_memory(err);
    SOTTO_TRY(sotto_entropy_take(entropy, p->seed, HASH, err));
    SOTTO_TRY(sotto_entropy_take(entropy, p->salt_seed, HASH, err));
    SOTTO_TRY(sotto_keystream_seed(&p->stream, p->salt_seed, err));
    SOTTO_TRY(sotto_keystream_next(&p->stream, p->salts, salts, err));
    SOTTO_TRY(make_masks(p, err));
    find_slack(p);
    return p->s->aero->ring.set->second ? find_quotients(p, err) : SOTTO_OK;
}

static sotto_status prove(prover *p, sotto_buf *out, sotto_entropy *entropy, sotto_err *err)
{
    uint8_t state[HASH], seed[HASH];
    uint32_t queries[BLIND];
    challenges ch;
    answers a;
    uint64_t nonce = 0;
    size_t size = 0, start = out->len;

    SOTTO_TRY(sotto_aero_proof_size(&size, p->s, err));
    if (out->cap - out->len < size)
        return sotto_fail(err, SOTTO_TOO_LARGE, "proof: %zu bytes", size);
    SOTTO_TRY(prepare(p, entropy, err));
    SOTTO_TRY(sotto_aero_bind(state, p->s, p->arena, err));
    sotto_arena_mark here = sotto_arena_here(p->arena);
    SOTTO_TRY(commit(p, err));
    sotto_arena_rollback(p->arena, here);
    sotto_writer w = sotto_writer_on(out);
    uint8_t root[HASH];
    sotto_aero_root(root, tops(p));
    SOTTO_DECLASSIFY(root, sizeof root); /* published, as the answers are */
    sotto_write_bytes(&w, sotto_bytes_of(root, HASH));
    sotto_aero_absorb(state, sotto_bytes_of(root, HASH));

    SOTTO_TRY(sotto_aero_challenges(&ch, p->s, &p->shape, state, p->arena, err));
    SOTTO_TRY(take_answers(p, &a, err));
    SOTTO_TRY(answer(p, &a, &ch, err));
    write_answers(&w, p, &a);
    SOTTO_DECLASSIFY(out->data + start, out->len - start);
    sotto_aero_absorb(state, sotto_bytes_of(out->data + start + HASH, out->len - start - HASH));
    while (!sotto_aero_worked(seed, p->s, state, nonce))
        nonce++;
    uint8_t bytes[8];
    sotto_store64(bytes, nonce);
    sotto_write_bytes(&w, sotto_bytes_of(bytes, 8));
    sotto_write_bytes(&w, sotto_bytes_of(tops(p), (size_t)COSETS * HASH));
    SOTTO_TRY(sotto_aero_queries(queries, p->s->profile->queries, seed, err));
    SOTTO_TRY(open_columns(p, out->data + out->len, queries, err));
    out->len = start + size;
    return SOTTO_OK;
}

sotto_status sotto_aero_prove(sotto_buf *out, const sotto_aero_statement *statement,
                              const sotto_aero_witness *witnesses, const int64_t *m,
                              sotto_entropy *entropy, sotto_arena *scratch, sotto_err *err)
{
    size_t start = out->len;
    prover p = {.s = statement, .witnesses = witnesses, .m = m, .arena = scratch};

    SOTTO_TRY(sotto_aero_statement_check(statement, err));
    p.shape = sotto_aero_shape(statement);
    sotto_status status = sotto_keystream_init(&p.stream, err);
    if (status == SOTTO_OK)
        status = prove(&p, out, entropy, err);
    sotto_keystream_clear(&p.stream);
    sotto_wipe(&p, sizeof p);
    if (status != SOTTO_OK)
        out->len = start;
    return status;
}
