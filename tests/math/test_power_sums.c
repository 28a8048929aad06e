/* Every set of kernels against the portable one, and that against the sums spelled out. */
#include "support/test.h"

#include "math/kernels128.h"
#include "math/power_sums.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 800, MOST = 70 * 40 };

static const char *const sets[] = {"portable", "avx2", "ifma"};

typedef struct instance {
    size_t count, width, rows;
    uint8_t
        *m; /* of exactly count elements on the heap, so that a sanitizer finds a read past them */
    sotto_f128 *f, *r, *scratch;
    sotto_f128 sum; /* wanted */
} instance;

static uint64_t next(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* 0, 1, p - 1, 2^k, p - 2^k, 2^k - 1, or anything. */
static sotto_f128 element(uint64_t *state)
{
    uint64_t kind = next(state) % 8, k = next(state) % 128;
    sotto_u128 power = (sotto_u128)1 << k;
    sotto_f128 any = {next(state), next(state) >> 1};
    sotto_f128 shapes[8] = {
        sotto_f128_zero(),
        sotto_f128_one(),
        sotto_f128_narrow(sotto_f128_p() - 1),
        sotto_f128_narrow(power),
        sotto_f128_narrow(sotto_f128_p() - power),
        sotto_f128_narrow(power - 1),
        any,
        sotto_f128_neg(any),
    };

    return shapes[kind];
}

static instance make(sotto_test *t, size_t count, size_t width, uint64_t *state)
{
    instance i = {.count = count, .width = width, .rows = (count + width - 1) / width};
    size_t scratch = sotto_f128_power_sums_scratch(i.rows);

    i.m = malloc(count * SOTTO_F128_SIZE);
    i.f = sotto_arena_take_array(&t->arena, i.rows, sizeof *i.f);
    i.r = sotto_arena_take_array(&t->arena, i.rows, sizeof *i.r);
    i.scratch = sotto_arena_take_array(&t->arena, scratch, sizeof *i.scratch);
    CHECK(t, i.m && i.f && i.r && i.scratch);
    for (size_t k = 0; k < count; k++)
        sotto_f128_store(i.m + k * SOTTO_F128_SIZE, element(state));
    for (size_t k = 0; k < i.rows; k++) {
        i.f[k] = element(state);
        i.r[k] = element(state);
    }
    return i;
}

static void drop(sotto_test *t, instance *x)
{
    free(x->m);
    sotto_arena_reset(&t->arena);
}

/* As the header says it, without shared work. */
static void spell_out(sotto_f128 *out, instance *x)
{
    x->sum = sotto_f128_zero();
    for (size_t j = 0; j < 2 * x->width; j++)
        out[j] = sotto_f128_zero();
    for (size_t k = 0; k < x->count; k++) {
        size_t i = k / x->width, j = k % x->width;
        sotto_f128 m = sotto_f128_load(x->m + k * SOTTO_F128_SIZE),
                   odd = sotto_f128_mul(m, x->f[i]);
        sotto_f128 even = sotto_f128_mul(odd, sotto_f128_pow(x->r[i], j + 1));

        out[2 * j] = sotto_f128_add(out[2 * j], even);
        out[2 * j + 1] = sotto_f128_add(out[2 * j + 1], odd);
        x->sum = sotto_f128_add(x->sum, m);
    }
}

static void portable(sotto_f128 *out, instance *x)
{
    sotto_f128_power_sums_portable(out, &x->sum, x->m, x->count, x->width, x->f, x->r, x->scratch);
}

/* All sets that this machine has give `wanted`, to the byte, and the same without the sum of all. */
static void check_sets(sotto_test *t, const instance *x, const sotto_f128 *wanted)
{
    sotto_f128 got[2 * MOST], sum;

    for (size_t s = 0; s < sizeof sets / sizeof sets[0]; s++) {
        if (!sotto_f128_use(sets[s]))
            continue;
        memset(got, 0xaa, 2 * x->width * sizeof *got);
        sotto_f128_power_sums(got, &sum, x->m, x->count, x->width, x->f, x->r, x->scratch);
        CHECK_BYTES(t, wanted, got, 2 * x->width * sizeof *got);
        CHECK_BYTES(t, &x->sum, &sum, sizeof sum);
        memset(got, 0xaa, 2 * x->width * sizeof *got);
        sotto_f128_power_sums(got, NULL, x->m, x->count, x->width, x->f, x->r, x->scratch);
        CHECK_BYTES(t, wanted, got, 2 * x->width * sizeof *got);
    }
    CHECK(t, sotto_f128_use(NULL));
}

static void all_sets_agree_with_the_definition(sotto_test *t)
{
    uint64_t state = 1;
    sotto_f128 wanted[2 * MOST];

    for (size_t width = 1; width <= 70; width += width < 18 ? 1 : 7)
        for (size_t rows = 1; rows <= 12; rows++) {
            instance x = make(t, (rows - 1) * width + 1 + next(&state) % width, width, &state);

            spell_out(wanted, &x);
            check_sets(t, &x, wanted);
            drop(t, &x);
        }
}

static void all_sets_agree_for_every_shape(sotto_test *t)
{
    uint64_t state = 2;
    sotto_f128 wanted[2 * MOST];

    for (size_t width = 1; width <= 70; width++)
        for (size_t rows = 1; rows <= 40; rows++)
            for (unsigned full = 0; full < 2; full++) {
                size_t last = full ? width : 1 + next(&state) % width;
                instance x = make(t, (rows - 1) * width + last, width, &state);

                portable(wanted, &x);
                check_sets(t, &x, wanted);
                drop(t, &x);
            }
}

static void many_rows_do_not_overflow_a_sum(sotto_test *t)
{
    uint64_t state = 3;
    sotto_f128 wanted[2 * MOST];
    sotto_f128 largest = sotto_f128_narrow(sotto_f128_p() - 1);

    for (size_t width = 1; width <= 17; width += 4)
        for (size_t rows = 60; rows <= MOST_ROWS; rows += 23) {
            instance x = make(t, rows * width, width, &state);

            for (size_t i = 0; i < rows; i++)
                x.f[i] = largest;
            for (size_t k = 0; k < x.count; k++)
                sotto_f128_store(x.m + k * SOTTO_F128_SIZE, largest);
            portable(wanted, &x);
            check_sets(t, &x, wanted);
            drop(t, &x);
        }
}

/* Shares arrive checked, but a sum that is asked of other bytes must not depend on the machine either. */
static void all_ones_are_no_trap(sotto_test *t)
{
    uint64_t state = 4;
    sotto_f128 wanted[2 * MOST];

    for (size_t rows = 1; rows <= 130; rows += 43) {
        instance x = make(t, rows * 9, 9, &state);

        memset(x.m, 0xff, x.count * SOTTO_F128_SIZE);
        portable(wanted, &x);
        check_sets(t, &x, wanted);
        drop(t, &x);
    }
}

static void an_unknown_set_is_refused(sotto_test *t)
{
    CHECK(t, !sotto_f128_use("abacus"));
    CHECK(t, sotto_f128_use("portable"));
    CHECK(t, strcmp(sotto_f128_best()->name, "portable") == 0);
    CHECK(t, sotto_f128_use(NULL));
}

/* Reports as skipped what the tests of all sets had to pass over, here, in test_factors.c and in test_vectors.c. */
static void this_machine_has_every_set(sotto_test *t)
{
    for (size_t s = 0; s < sizeof sets / sizeof sets[0]; s++)
        if (!sotto_f128_use(sets[s])) {
            CHECK(t, sotto_f128_use(NULL));
            SKIP(t, "this processor lacks AVX2 or AVX-512 IFMA: that set was not compared");
        }
    CHECK(t, sotto_f128_use(NULL));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(all_sets_agree_with_the_definition), CASE(all_sets_agree_for_every_shape),
        CASE(many_rows_do_not_overflow_a_sum),    CASE(all_ones_are_no_trap),
        CASE(an_unknown_set_is_refused),          CASE(this_machine_has_every_set),
    };

    return RUN_TESTS(argc, argv, cases);
}
