/* math/poly_cases.h - polynomials by their values against polynomials by their coefficients, evaluated
 * one point at a time; test_poly64.c and test_poly128.c include this with SOTTO_FIELD defined.
 */
#include "math/field.h"
#include "math/poly.h"
#include "sim/random.h"
#include "support/test.h"

#include <string.h>

enum { MAX_LOG = 10, MAX_N = 1 << MAX_LOG };

typedef struct lab {
    sotto_sim_random random;
    unsigned log;
    size_t n;
    fe *roots;        /* of order n */
    fe *coefficients; /* plain      */
    fe *values;       /* at roots   */
    fe *work;
    fe *more;
} lab;

static fe random_element(lab *b)
{
    uint8_t bytes[FE_SIZE];

    do
        sotto_sim_random_bytes(&b->random, bytes, sizeof bytes);
    while (!FIELD(is_canonical)(bytes));
    return FIELD(load)(bytes);
}

/* A polynomial of degree below `terms`, at a point given as a weight. */
static fe evaluate(const fe *coefficients, size_t terms, fe x)
{
    fe result = FIELD(zero)();

    for (size_t k = terms; k-- > 0;)
        result = FIELD(add)(FIELD(mul)(result, x), coefficients[k]);
    return result;
}

/* A random polynomial of degree below `terms` and its values at the n-th roots of unity. */
static lab lab_open(sotto_test *t, unsigned log, size_t terms)
{
    lab b = {.log = log, .n = (size_t)1 << log};
    fe *memory = sotto_arena_take_array(&t->arena, 5 * b.n, sizeof(fe));
    fe w = FIELD(root)(log), x = FIELD(one_weight)();

    CHECK(t, memory);
    sotto_sim_random_init(&b.random, log * 1000 + terms);
    b.roots = memory;
    b.coefficients = b.roots + b.n;
    b.values = b.coefficients + b.n;
    b.work = b.values + b.n;
    b.more = b.work + b.n;
    FIELD(roots)(b.roots, log);
    for (size_t k = 0; k < terms; k++)
        b.coefficients[k] = random_element(&b);
    for (size_t k = 0; k < b.n; k++) {
        CHECK_BYTES(t, &x, &b.roots[k], sizeof x);
        b.values[k] = evaluate(b.coefficients, terms, x);
        x = FIELD(mul)(x, w);
    }
    return b;
}

static size_t reversed(size_t k, unsigned log)
{
    size_t out = 0;

    for (unsigned i = 0; i < log; i++, k >>= 1)
        out = out << 1 | (k & 1);
    return out;
}

static fe times(fe a, uint64_t factor)
{
    return FIELD(mul)(a, FIELD(to_weight)(FIELD(from)(factor)));
}

static fe inverse_of(uint64_t x)
{
    return FIELD(inv)(FIELD(to_weight)(FIELD(from)(x)));
}

static void values_become_coefficients(sotto_test *t)
{
    for (unsigned log = 1; log <= MAX_LOG; log++) {
        lab b = lab_open(t, log, (size_t)1 << log);

        memcpy(b.work, b.values, b.n * sizeof(fe));
        FIELD(to_coefficients)(b.work, log, b.roots);
        for (size_t k = 0; k < b.n; k++)
            b.more[reversed(k, log)] = times(b.coefficients[k], b.n);
        CHECK_BYTES(t, b.more, b.work, b.n * sizeof(fe));
        sotto_arena_reset(&t->arena);
    }
}

static void coefficients_become_values(sotto_test *t)
{
    for (unsigned log = 1; log <= MAX_LOG; log++) {
        lab b = lab_open(t, log, (size_t)1 << log);

        for (size_t k = 0; k < b.n; k++)
            b.work[reversed(k, log)] = b.coefficients[k];
        FIELD(to_values)(b.work, log, b.roots);
        CHECK_BYTES(t, b.values, b.work, b.n * sizeof(fe));
        sotto_arena_reset(&t->arena);
    }
}

static void there_and_back_is_n_times_the_same(sotto_test *t)
{
    for (unsigned log = 0; log <= MAX_LOG; log++) {
        lab b = lab_open(t, log, (size_t)1 << log);

        memcpy(b.work, b.values, b.n * sizeof(fe));
        FIELD(to_coefficients)(b.work, log, b.roots);
        FIELD(to_values)(b.work, log, b.roots);
        for (size_t k = 0; k < b.n; k++)
            b.more[k] = times(b.values[k], b.n);
        CHECK_BYTES(t, b.more, b.work, b.n * sizeof(fe));
        sotto_arena_reset(&t->arena);
    }
}

static void odd_values_are_those_between_the_nodes(sotto_test *t)
{
    for (unsigned log = 1; log <= MAX_LOG; log++) {
        lab b = lab_open(t, log, (size_t)1 << log);
        fe w = FIELD(root)(log + 1), x = w;

        for (size_t k = 0; k < b.n; k++) {
            b.more[k] = evaluate(b.coefficients, b.n, x);
            x = FIELD(mul)(x, FIELD(mul)(w, w));
        }
        memcpy(b.work, b.values, b.n * sizeof(fe));
        fe *shift = sotto_arena_take_array(&t->arena, b.n, sizeof(fe));
        CHECK(t, shift);
        FIELD(odd_shift)(shift, log);
        FIELD(to_odd_values)(b.work, log, b.roots, shift);
        CHECK_BYTES(t, b.more, b.work, b.n * sizeof(fe));
        sotto_arena_reset(&t->arena);
    }
}

/* prod_{j != k} (t - x_j) / (x_k - x_j) over every `step`-th root. */
static fe lagrange(const lab *b, size_t k, size_t step, fe t)
{
    fe up = FIELD(one_weight)(), down = up;

    for (size_t j = 0; j < b->n; j += step) {
        if (j == k)
            continue;
        up = FIELD(mul)(up, FIELD(sub)(t, b->roots[j]));
        down = FIELD(mul)(down, FIELD(sub)(b->roots[k], b->roots[j]));
    }
    return FIELD(mul)(up, FIELD(inv)(down));
}

static void factors_are_the_lagrange_basis_at_the_point(sotto_test *t)
{
    for (unsigned log = 1; log <= 6; log++) {
        for (unsigned step_log = 0; step_log < log; step_log++) {
            lab b = lab_open(t, log, (size_t)1 << log);
            size_t step = (size_t)1 << step_log, m = b.n >> step_log;
            fe point = FIELD(to_weight)(random_element(&b));
            fe t_to_m = FIELD(factors)(b.work, log, step_log, point, b.roots);
            fe wanted = FIELD(pow)(point, m);

            CHECK_BYTES(t, &wanted, &t_to_m, sizeof wanted);
            for (size_t k = 0; k < b.n; k += step) {
                fe basis = lagrange(&b, k, step, point);
                fe got = FIELD(mul)(b.work[k], inverse_of(m));

                CHECK_BYTES(t, &basis, &got, sizeof got);
            }
            sotto_arena_reset(&t->arena);
        }
    }
}

/* Also those between the sub-grid's nodes, which the larger grid needs. */
static void factors_are_the_product_that_the_header_gives(sotto_test *t)
{
    for (unsigned log = 1; log <= 7; log++) {
        for (unsigned step_log = 0; step_log <= log; step_log++) {
            lab b = lab_open(t, log, (size_t)1 << log);
            fe point = FIELD(to_weight)(random_element(&b));

            (void)FIELD(factors)(b.work, log, step_log, point, b.roots);
            for (size_t k = 0; k < b.n; k++) {
                fe product = FIELD(one_weight)(),
                   base = FIELD(mul)(point, b.roots[(b.n - k) % b.n]);

                for (unsigned s = 0; s < log - step_log; s++) {
                    product = FIELD(mul)(product, FIELD(add)(FIELD(one_weight)(), base));
                    base = FIELD(mul)(base, base);
                }
                CHECK_BYTES(t, &product, &b.work[k], sizeof product);
            }
            sotto_arena_reset(&t->arena);
        }
    }
}

static void factors_evaluate_a_polynomial_of_every_size(sotto_test *t)
{
    for (unsigned log = 1; log <= MAX_LOG; log++) {
        lab b = lab_open(t, log, (size_t)1 << log);

        for (int i = 0; i < 3; i++) {
            /* The last point is a node itself. */
            fe point = i < 2 ? FIELD(to_weight)(random_element(&b)) : b.roots[b.n - 1];
            fe wanted = evaluate(b.coefficients, b.n, point), got = FIELD(zero)();
            fe t_to_n = FIELD(factors)(b.work, log, 0, point, b.roots), one = FIELD(one_weight)();

            for (size_t k = 0; k < b.n; k++)
                got = FIELD(add)(got, FIELD(mul)(b.values[k], b.work[k]));
            got = FIELD(mul)(got, inverse_of(b.n));
            CHECK_BYTES(t, &wanted, &got, sizeof got);
            if (i == 2)
                CHECK_BYTES(t, &one, &t_to_n, sizeof one);
        }
        sotto_arena_reset(&t->arena);
    }
}

static void the_last_value_follows_from_the_others(sotto_test *t)
{
    for (unsigned log = 1; log <= MAX_LOG; log++) {
        lab b = lab_open(t, log, ((size_t)1 << log) - 1);
        uint8_t *wire = sotto_arena_take_array(&t->arena, b.n, FE_SIZE);

        CHECK(t, wire);
        for (size_t k = 0; k + 1 < b.n; k++)
            FIELD(store)(wire + k * FE_SIZE, b.values[k]);
        fe got = FIELD(last_value)(wire, log, b.roots);
        CHECK_BYTES(t, &b.values[b.n - 1], &got, sizeof got);
        sotto_arena_reset(&t->arena);
    }
}

/* The sizes that gadgets of each degree have: degree * (P - 1) + 1 values, extended to a power of two. */
static void extending_finds_the_values_that_a_gadget_leaves_out(sotto_test *t)
{
    for (size_t degree = 2; degree <= 7; degree++) {
        for (size_t p = 2; p <= 16; p *= 2) {
            size_t known = degree * (p - 1) + 1;
            unsigned log = 0;

            while ((size_t)1 << log < known)
                log++;
            lab b = lab_open(t, log, known);
            memcpy(b.work, b.values, known * sizeof(fe));
            FIELD(extend)(b.work, known, log, b.roots);
            CHECK_BYTES(t, b.values, b.work, b.n * sizeof(fe));
            sotto_arena_reset(&t->arena);
        }
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(values_become_coefficients),
        CASE(coefficients_become_values),
        CASE(there_and_back_is_n_times_the_same),
        CASE(odd_values_are_those_between_the_nodes),
        CASE(factors_are_the_lagrange_basis_at_the_point),
        CASE(factors_are_the_product_that_the_header_gives),
        CASE(factors_evaluate_a_polynomial_of_every_size),
        CASE(the_last_value_follows_from_the_others),
        CASE(extending_finds_the_values_that_a_gadget_leaves_out),
    };
    return RUN_TESTS(argc, argv, cases);
}
