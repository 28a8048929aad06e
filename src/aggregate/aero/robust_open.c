/* Points that members published, put together: which of them are on one polynomial, and what its constant term is. */
#include "aggregate/aero/code.h"
#include "aggregate/aero/robust.h"
#include "base/rule.h"
#include "crypto/hash.h"
#include "crypto/keystream.h"

#include <math.h>
#include <string.h>

/* All residues of all points modulo one prime: a word of the code for each column. Parts come first, then looks. */
typedef struct table {
    sotto_code code;
    const sotto_aero_points *points;
    bool is_second;
    size_t parts, columns;
} table;

static uint64_t cell(const table *t, size_t point, size_t column)
{
    const sotto_aero_point *p = &t->points->at[point];

    if (column < t->parts) {
        const sotto_aero_poly *v = &p->parts[column / SOTTO_AERO_N];

        return t->is_second ? v->second[column % SOTTO_AERO_N] : v->first[column % SOTTO_AERO_N].v;
    }
    column -= t->parts;
    const sotto_aero_looks *l = &p->looks[column / SOTTO_AERO_LOOKS];
    return t->is_second ? l->second[column % SOTTO_AERO_LOOKS]
                        : l->first[column % SOTTO_AERO_LOOKS].v;
}

static sotto_status table_init(table *t, const sotto_aero *aero, const sotto_aero_points *points,
                               bool is_second, sotto_arena *scratch, sotto_err *err)
{
    uint64_t *x = sotto_arena_take_array(scratch, points->count, sizeof *x);

    if (!x)
        return sotto_fail(err, SOTTO_NO_MEMORY, "aero: no memory");
    for (size_t i = 0; i < points->count; i++)
        x[i] = (uint64_t)points->at[i].member + 1;
    *t = (table){.code = {.p = is_second ? aero->ring.set->second : SOTTO_F64_P,
                          .x = x,
                          .count = points->count,
                          .threshold = points->threshold},
                 .points = points,
                 .is_second = is_second,
                 .parts = points->ciphertexts * SOTTO_AERO_N};
    t->columns = t->parts + points->dealers * SOTTO_AERO_LOOKS;
    return SOTTO_OK;
}

/* ---- who is wrong ---------------------------------------------------------------------------------------- */

/* What columns are combined with comes from all of them, so nobody knew it before. Who guesses right is found by the comparison of
 * all columns below. */
static void seed_of(uint8_t seed[32], const table *t)
{
    sotto_hash hash;
    uint8_t word[8];

    sotto_hash_init(&hash, SOTTO_SHA256);
    for (size_t i = 0; i < t->points->count; i++)
        for (size_t k = 0; k < t->columns; k++) {
            sotto_store64(word, cell(t, i, k));
            sotto_hash_update(&hash, sotto_bytes_of(word, sizeof word));
        }
    sotto_hash_final(&hash, seed);
}

enum { COMBINED = 4 }; /* times: 23 bits are few */

/* Points that differ from the others in columns from `from` to `to`. An error in one column survives in the combination. */
static sotto_status locate(const table *t, bool *bad, size_t from, size_t to,
                           sotto_keystream *stream, sotto_arena *scratch, sotto_err *err)
{
    uint64_t *y = sotto_arena_take_array(scratch, t->code.count, sizeof *y);
    uint8_t bytes[8];

    if (!y)
        return sotto_fail(err, SOTTO_NO_MEMORY, "aero: no memory");
    for (unsigned times = 0; times < COMBINED; times++) {
        memset(y, 0, t->code.count * sizeof *y);
        for (size_t k = from; k < to; k++) {
            SOTTO_TRY(sotto_keystream_next(stream, bytes, sizeof bytes, err));
            uint64_t weight = sotto_load64(bytes) % t->code.p;

            for (size_t i = 0; i < t->code.count; i++)
                y[i] = (uint64_t)(((sotto_u128)sotto_code_mul(&t->code, weight, cell(t, i, k)) +
                                   y[i]) %
                                  t->code.p);
        }
        SOTTO_TRY(sotto_code_locate_vartime(&t->code, bad, y, scratch, err));
    }
    return SOTTO_OK;
}

static sotto_status locate_all(const table *t, bool *parts, bool *looks, sotto_arena *scratch,
                               sotto_err *err)
{
    sotto_keystream stream;
    uint8_t seed[32];
    sotto_status status = sotto_keystream_init(&stream, err);

    seed_of(seed, t);
    if (status == SOTTO_OK)
        status = sotto_keystream_seed(&stream, seed, err);
    if (status == SOTTO_OK)
        status = locate(t, parts, 0, t->parts, &stream, scratch, err);
    if (status == SOTTO_OK)
        status = locate(t, looks, t->parts, t->columns, &stream, scratch, err);
    sotto_keystream_clear(&stream);
    return status;
}

/* ---- what they say --------------------------------------------------------------------------------------- */

typedef struct good {
    uint32_t *at; /* points that are on the polynomial */
    size_t count;
    uint64_t *weights;
} good;

static uint64_t value(const table *t, const good *g, size_t column)
{
    sotto_u128 sum = 0;

    for (size_t j = 0; j < t->code.threshold; j++)
        sum += sotto_code_mul(&t->code, g->weights[j], cell(t, g->at[j], column));
    return (uint64_t)(sum % t->code.p);
}

/* No combination: every column of everybody who is believed. */
static bool all_agree(const table *t, const good *g)
{
    for (size_t i = t->code.threshold; i < g->count; i++) {
        sotto_code_weights_vartime(&t->code, g->weights, g->at, t->code.x[g->at[i]]);
        for (size_t k = 0; k < t->columns; k++)
            if (value(t, g, k) != cell(t, g->at[i], k))
                return false;
    }
    return true;
}

static void read_constants(const table *t, const good *g, sotto_aero_poly *constant,
                           sotto_aero_looks *looks)
{
    sotto_code_weights_vartime(&t->code, g->weights, g->at, 0);
    for (size_t k = 0; k < t->parts; k++) {
        sotto_aero_poly *v = &constant[k / SOTTO_AERO_N];

        if (t->is_second)
            v->second[k % SOTTO_AERO_N] = value(t, g, k);
        else
            v->first[k % SOTTO_AERO_N].v = value(t, g, k);
    }
    for (size_t k = t->parts; k < t->columns; k++) {
        sotto_aero_looks *l = &looks[(k - t->parts) / SOTTO_AERO_LOOKS];
        size_t at = (k - t->parts) % SOTTO_AERO_LOOKS;

        if (t->is_second)
            l->second[at] = value(t, g, k);
        else
            l->first[at].v = value(t, g, k);
    }
}

/* A look as a number between -q/2 and q/2, and whether it is as small as honest ones are. */
static bool is_small(const sotto_aero *aero, const sotto_aero_looks *l, size_t i, double most)
{
    sotto_aero_poly v;

    v.first[0] = l->first[i];
    v.second[0] = l->second[i];
    sotto_u128 x = sotto_aero_lift(&aero->ring, &v, 0), q = aero->ring.q;
    return (double)(x > q / 2 ? q - x : x) <= most;
}

static bool judge_dealers(const sotto_aero *aero, const sotto_aero_looks *looks,
                          const sotto_aero_points *points, bool *bad)
{
    bool all_small = true;

    for (size_t d = 0; d < points->dealers; d++)
        for (size_t i = 0; i < SOTTO_AERO_LOOKS; i++)
            if (!is_small(aero, &looks[d], i, points->look)) {
                bad[d] = true;
                all_small = false;
            }
    return all_small;
}

static sotto_status choose(good *g, const bool *parts, const bool *looks,
                           const sotto_aero_points *points, sotto_arena *scratch, sotto_err *err)
{
    g->at = sotto_arena_take_array(scratch, points->count, sizeof *g->at);
    g->weights = sotto_arena_take_array(scratch, points->threshold, sizeof *g->weights);
    if (!g->at || !g->weights)
        return sotto_fail(err, SOTTO_NO_MEMORY, "aero: no memory");
    for (size_t i = 0; i < points->count; i++) {
        if (SOTTO_RULE(aero_points_compared) && (parts[i] || looks[i]))
            continue;
        g->at[g->count++] = (uint32_t)i;
    }
    if (SOTTO_RULE(aero_points_enough_agree) && g->count < 2 * points->threshold - 1)
        return sotto_fail(err, SOTTO_REJECTED, "aero: %zu members agree, and %zu have to", g->count,
                          2 * points->threshold - 1);
    if (g->count < points->threshold)
        return sotto_fail(err, SOTTO_REJECTED, "aero: too few members agree");
    return SOTTO_OK;
}

sotto_status sotto_aero_points_open_vartime(const sotto_aero *aero, sotto_aero_poly *constant,
                                            sotto_aero_findings *found,
                                            const sotto_aero_points *points, sotto_arena *scratch,
                                            sotto_err *err)
{
    size_t primes = aero->ring.set->second ? 2 : 1;
    bool *parts = sotto_arena_take_array(scratch, points->count, sizeof *parts);
    bool *looks = sotto_arena_take_array(scratch, points->count, sizeof *looks);
    sotto_aero_looks *shown = sotto_arena_take_array(scratch, points->dealers, sizeof *shown);
    good g = {.count = 0};
    table t[2];

    if (!parts || !looks || !shown)
        return sotto_fail(err, SOTTO_NO_MEMORY, "aero: no memory");
    memset(constant, 0, points->ciphertexts * sizeof *constant);
    if (points->count < points->threshold)
        return sotto_fail(err, SOTTO_REJECTED, "aero: too few points");
    for (size_t i = 0; i < primes; i++) {
        SOTTO_TRY(table_init(&t[i], aero, points, i == 1, scratch, err));
        SOTTO_TRY(locate_all(&t[i], parts, looks, scratch, err));
    }
    SOTTO_TRY(choose(&g, parts, looks, points, scratch, err));
    for (size_t i = 0; i < primes; i++) {
        if (SOTTO_RULE(aero_points_compared) && !all_agree(&t[i], &g))
            return sotto_fail(err, SOTTO_REJECTED, "aero: points are not on one polynomial");
        read_constants(&t[i], &g, constant, shown);
    }
    for (size_t i = 0; i < points->count; i++)
        found->liars[i] = parts[i] && !looks[i];
    if (SOTTO_RULE(aero_looks_small) && !judge_dealers(aero, shown, points, found->dealers))
        return sotto_fail(err, SOTTO_REJECTED, "aero: a dealer's noise is too large");
    return SOTTO_OK;
}
