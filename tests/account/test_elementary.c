/* Held against the C library's functions of long double, whose own error is far below what is stated. */
#include "account/numeric/elementary.h"
#include "support/test.h"

#include <float.h>
#include <math.h>

#define COUNT 1021 /* not a multiple of any number of lanes */
#define TURNS 60

/* Where a long double is a double, the library errs by as much as we do. */
#define OTHER (LDBL_MANT_DIG > 60 ? 0.01 : 2)
#define U     (DBL_EPSILON / 2)

/* splitmix64, in [0, 1). */
static double draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static double signed_power(uint64_t *state, double least, double most)
{
    double size = pow(10, least + (most - least) * draw(state));

    return draw(state) < 0.5 ? -size : size;
}

/* Relative error in units of u. */
static double off(double got, long double wanted)
{
    return (double)(fabsl((long double)got - wanted) / fabsl(wanted)) / U - OTHER;
}

static void exponentials_are_within_their_units(sotto_test *t)
{
    double x[COUNT], y[COUNT], z[COUNT], worst = 0, less = 0;
    uint64_t state = 1;

    for (int turn = 0; turn < TURNS; turn++) {
        for (size_t i = 0; i < COUNT; i++)
            x[i] = i % 2 ? signed_power(&state, -17, 2.84) : 4 * (draw(&state) - 0.5);
        sotto_exp_all(y, x, COUNT);
        sotto_expm1_all(z, x, COUNT);
        for (size_t i = 0; i < COUNT; i++) {
            worst = fmax(worst, off(y[i], expl((long double)x[i])));
            less = fmax(less, off(z[i], expm1l((long double)x[i])));
        }
    }
    CHECK_NEAR(t, 0, worst, 2);
    CHECK_NEAR(t, 0, less, 4);
}

/* Its series in long doubles where the difference would cancel there, too. */
static long double exp_less(long double x)
{
    long double sum = 0, term = 1;

    if (fabsl(x) > 0.7L)
        return expm1l(x) - x;
    for (int n = 2; n < 26; n++) {
        term *= x / n;
        sum += term;
    }
    return sum * x;
}

static void exponentials_less_their_line_are_within_their_units(sotto_test *t)
{
    double x[COUNT], y[COUNT], worst = 0;
    uint64_t state = 7;

    for (int turn = 0; turn < TURNS; turn++) {
        for (size_t i = 0; i < COUNT; i++)
            x[i] = i % 2 ? signed_power(&state, -17, 2.84) : 4 * (draw(&state) - 0.5);
        sotto_exp_less_all(y, x, COUNT);
        for (size_t i = 0; i < COUNT; i++)
            worst = fmax(worst, off(y[i], exp_less((long double)x[i])));
    }
    CHECK_NEAR(t, 0, worst, 24);
    double end[] = {700.0000001, 1e300, INFINITY, NAN, 0}, there[5];

    sotto_exp_less_all(there, end, 5);
    CHECK(t, there[0] == INFINITY && there[1] == INFINITY && there[2] == INFINITY);
    CHECK(t, isnan(there[3]) && there[4] == 0);
}

static void exponentials_end_in_zero_and_infinity(sotto_test *t)
{
    double x[] = {-746, -1e9, -INFINITY, 710, 1e300, INFINITY, -744, NAN, 0}, y[9];

    sotto_exp_all(y, x, 9);
    CHECK(t, y[0] == 0 && y[1] == 0 && y[2] == 0);
    CHECK(t, y[3] == INFINITY && y[4] == INFINITY && y[5] == INFINITY);
    CHECK(t, y[6] == 0x1p-1074 * 2 && isnan(y[7]) && y[8] == 1);
}

static void logarithms_are_within_their_units(sotto_test *t)
{
    double x[COUNT], y[COUNT], z[COUNT], worst = 0, less = 0;
    uint64_t state = 2;

    for (int turn = 0; turn < TURNS; turn++) {
        for (size_t i = 0; i < COUNT; i++) {
            x[i] = i % 2 ? fabs(signed_power(&state, -300, 300)) : 0.4 + 2 * draw(&state);
            z[i] = i % 3 ? signed_power(&state, -17, -0.01) : fabs(signed_power(&state, -3, 12));
        }
        sotto_log_all(y, x, COUNT);
        for (size_t i = 0; i < COUNT; i++)
            worst = fmax(worst, off(y[i], logl((long double)x[i])));
        sotto_log1p_all(y, z, COUNT);
        for (size_t i = 0; i < COUNT; i++)
            less = fmax(less, off(y[i], log1pl((long double)z[i])));
    }
    CHECK_NEAR(t, 0, worst, 2);
    CHECK_NEAR(t, 0, less, 3);
}

static void sines_are_within_their_units(sotto_test *t)
{
    double x[COUNT], s[COUNT], c[COUNT], worst = 0, small = 0;
    uint64_t state = 3;

    for (int turn = 0; turn < TURNS; turn++) {
        for (size_t i = 0; i < COUNT; i++)
            x[i] = i % 2 ? signed_power(&state, -9, 12) : 8 * (draw(&state) - 0.5);
        sotto_turn_all(s, c, x, COUNT);
        for (size_t i = 0; i < COUNT; i++) {
            long double wrong = fmaxl(fabsl((long double)s[i] - sinl((long double)x[i])),
                                      fabsl(1 - (long double)c[i] - cosl((long double)x[i])));
            worst = fmax(worst, (double)wrong / (U * (10 + OTHER + fabs(x[i]))));
            if (fabs(x[i]) <= 4) {
                long double half = sinl((long double)x[i] / 2);
                small = fmax(small, off(c[i], 2 * half * half));
            }
            if (fabs(x[i]) <= 1.5)
                small = fmax(small, off(s[i], sinl((long double)x[i])));
        }
    }
    CHECK_NEAR(t, 0, worst, 1);
    CHECK_NEAR(t, 0, small, 12);
}

static void angles_are_within_their_units(sotto_test *t)
{
    double x[COUNT], y[COUNT], z[COUNT], worst = 0;
    uint64_t state = 4;

    for (int turn = 0; turn < TURNS; turn++) {
        for (size_t i = 0; i < COUNT; i++) {
            x[i] = signed_power(&state, -3, 3);
            y[i] = signed_power(&state, i % 2 ? -20 : -3, 3);
        }
        sotto_angle_all(z, y, x, COUNT);
        for (size_t i = 0; i < COUNT; i++)
            worst = fmax(worst, off(z[i], atan2l((long double)y[i], (long double)x[i])));
    }
    CHECK_NEAR(t, 0, worst, 5);
    double up[4] = {0, 1, 0, -1}, right[4] = {1, 0, -1, 0}, turned[4];
    sotto_angle_all(turned, up, right, 4);
    for (int i = 0; i < 4; i++)
        CHECK(t, turned[i] == atan2(up[i], right[i]));
}

/* What is left over after the last whole group of lanes goes by the same arithmetic. */
static void an_answer_does_not_depend_on_its_neighbours(sotto_test *t)
{
    double x[COUNT], y[COUNT], z;
    uint64_t state = 5;

    for (size_t i = 0; i < COUNT; i++)
        x[i] = signed_power(&state, -5, 2);
    sotto_exp_all(y, x, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        sotto_exp_all(&z, &x[i], 1);
        CHECK(t, z == y[i]);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(exponentials_are_within_their_units),
        CASE(exponentials_less_their_line_are_within_their_units),
        CASE(exponentials_end_in_zero_and_infinity),
        CASE(logarithms_are_within_their_units),
        CASE(sines_are_within_their_units),
        CASE(angles_are_within_their_units),
        CASE(an_answer_does_not_depend_on_its_neighbours),
    };
    return RUN_TESTS(argc, argv, cases);
}
