#include "aggregate/aero/code.h"

#include "base/arena.h"
#include "math/wide.h"

#include <string.h>

uint64_t sotto_code_mul(const sotto_code *code, uint64_t a, uint64_t b)
{
    return (uint64_t)(sotto_mul_wide(a, b) % code->p);
}

static uint64_t sub(const sotto_code *code, uint64_t a, uint64_t b)
{
    return a >= b ? a - b : a + (code->p - b);
}

static uint64_t inverse(const sotto_code *code, uint64_t a)
{
    uint64_t power = 1;

    for (uint64_t e = code->p - 2; e; e >>= 1) {
        if (e & 1)
            power = sotto_code_mul(code, power, a);
        a = sotto_code_mul(code, a, a);
    }
    return power;
}

void sotto_code_weights_vartime(const sotto_code *code, uint64_t *weights, const uint32_t *from,
                                uint64_t at)
{
    for (size_t i = 0; i < code->threshold; i++) {
        uint64_t above = 1, below = 1, xi = code->x[from[i]];

        for (size_t j = 0; j < code->threshold; j++) {
            if (j == i)
                continue;
            above = sotto_code_mul(code, above, sub(code, at, code->x[from[j]]));
            below = sotto_code_mul(code, below, sub(code, xi, code->x[from[j]]));
        }
        weights[i] = sotto_code_mul(code, above, inverse(code, below));
    }
}

/* ---- Berlekamp and Welch ------------------------------------------------------------------------------- */

/* Rows of a linear system, the right side in the last place of each. */
typedef struct system {
    const sotto_code *code;
    uint64_t *at;
    size_t rows, width;
} system;

static uint64_t *row_of(const system *s, size_t row)
{
    return s->at + row * s->width;
}

/* Q(x) - y (E_0 + E_1 x + ...) = y x^e, for a Q of threshold + e coefficients. */
static void write_system(const system *s, const uint64_t *y, size_t errors)
{
    const sotto_code *code = s->code;

    for (size_t i = 0; i < s->rows; i++) {
        uint64_t *row = row_of(s, i), power = 1;
        size_t of_q = code->threshold + errors;

        for (size_t k = 0; k < of_q; k++) {
            row[k] = power;
            if (k < errors)
                row[of_q + k] = sub(code, 0, sotto_code_mul(code, y[i], power));
            if (k == errors)
                row[s->width - 1] = sotto_code_mul(code, y[i], power);
            power = sotto_code_mul(code, power, code->x[i]);
        }
    }
}

static void eliminate(const system *s, size_t pivot, size_t column)
{
    const uint64_t *from = row_of(s, pivot);
    uint64_t over = inverse(s->code, from[column]);

    for (size_t i = 0; i < s->rows; i++) {
        uint64_t *row = row_of(s, i);

        if (i == pivot || row[column] == 0)
            continue;
        uint64_t times = sotto_code_mul(s->code, row[column], over);
        for (size_t k = column; k < s->width; k++)
            row[k] = sub(s->code, row[k], sotto_code_mul(s->code, times, from[k]));
    }
}

static void swap(const system *s, size_t a, size_t b)
{
    for (size_t k = 0; k < s->width; k++) {
        uint64_t x = row_of(s, a)[k];

        row_of(s, a)[k] = row_of(s, b)[k];
        row_of(s, b)[k] = x;
    }
}

/* Unknowns that the system leaves open are zero. False: it has no solution. */
static bool solve(const system *s, uint64_t *out)
{
    size_t rank = 0;

    memset(out, 0, (s->width - 1) * sizeof *out);
    for (size_t column = 0; column + 1 < s->width && rank < s->rows; column++) {
        size_t found = rank;

        while (found < s->rows && row_of(s, found)[column] == 0)
            found++;
        if (found == s->rows)
            continue;
        swap(s, rank, found);
        eliminate(s, rank, column);
        rank++;
    }
    for (size_t i = rank; i < s->rows; i++)
        if (row_of(s, i)[s->width - 1] != 0)
            return false;
    for (size_t i = 0; i < rank; i++) {
        const uint64_t *row = row_of(s, i);
        size_t column = 0;

        while (row[column] == 0)
            column++;
        out[column] = sotto_code_mul(s->code, row[s->width - 1], inverse(s->code, row[column]));
    }
    return true;
}

/* E(x) is zero where a point is wrong, and perhaps elsewhere too. */
static bool is_suspect(const sotto_code *code, const uint64_t *e, size_t errors, uint64_t x)
{
    uint64_t sum = 1;

    for (size_t k = errors; k-- > 0;)
        sum = (uint64_t)(((sotto_u128)sotto_code_mul(code, sum, x) + e[k]) % code->p);
    return sum == 0;
}

/* Compares all points with the polynomial through the first ones that are not suspect. */
static size_t mark(const sotto_code *code, bool *bad, const uint64_t *y, const uint32_t *from,
                   uint64_t *weights)
{
    size_t wrong = 0;

    for (size_t i = 0; i < code->count; i++) {
        sotto_u128 sum = 0;

        sotto_code_weights_vartime(code, weights, from, code->x[i]);
        for (size_t j = 0; j < code->threshold; j++)
            sum = (sum + sotto_code_mul(code, weights[j], y[from[j]])) % code->p;
        if ((uint64_t)sum == y[i])
            continue;
        bad[i] = true;
        wrong++;
    }
    return wrong;
}

sotto_status sotto_code_locate_vartime(const sotto_code *code, bool *bad, const uint64_t *y,
                                       sotto_arena *scratch, sotto_err *err)
{
    if (code->threshold == 0 || code->count < code->threshold)
        return sotto_fail(err, SOTTO_BUG, "code: fewer points than a polynomial needs");
    size_t errors = (code->count - code->threshold) / 2, chosen = 0;
    system s = {.code = code, .rows = code->count, .width = code->threshold + 2 * errors + 1};
    uint64_t *solution, *weights;
    uint32_t *from;

    s.at = sotto_arena_take_array(scratch, s.rows * s.width, sizeof *s.at);
    solution = sotto_arena_take_array(scratch, s.width, sizeof *solution);
    weights = sotto_arena_take_array(scratch, code->threshold, sizeof *weights);
    from = sotto_arena_take_array(scratch, code->threshold, sizeof *from);
    if (!s.at || !solution || !weights || !from)
        return sotto_fail(err, SOTTO_NO_MEMORY, "code: no memory");
    write_system(&s, y, errors);
    if (!solve(&s, solution))
        return sotto_fail(err, SOTTO_REJECTED, "code: too many points are wrong");
    for (size_t i = 0; i < code->count && chosen < code->threshold; i++)
        if (!is_suspect(code, solution + code->threshold + errors, errors, code->x[i]))
            from[chosen++] = (uint32_t)i;
    if (chosen < code->threshold || mark(code, bad, y, from, weights) > errors)
        return sotto_fail(err, SOTTO_REJECTED, "code: too many points are wrong");
    return SOTTO_OK;
}
