/* Does the time of X25519 in lanes depend on its scalars? A statistical test after Reparaz, Balasch and Verbauwhede (2017).
 * Times for one fixed scalar and for random ones, taken in random order, must have the same mean (Welch's t). This must
 * hold also when the slowest tenth, quarter, half or three quarters of them, the interruptions, are left out.
 *
 * A pass alarms if |t| exceeds 5.5 in one of its five tests: by the normal law with probability 2e-7. A set fails if ten
 * passes in a row alarm, each with other numbers. Times on a busy machine are not normal, which is why one alarm is not
 * believed. A dependence on the scalar alarms in pass after pass, as the test of a function that has one shows. On a busy
 * machine a pass may miss it, so one alarm of ten passes is enough there.
 *
 * SOTTO_CHAOS_TIMES says how many times a pass takes. */
#define _POSIX_C_SOURCE 200809L
#include "crypto/x25519_sets.h"

#include "sim/random.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#if defined(__x86_64__)

enum { PASSES = 10 };
static const double ALARM = 5.5;
static const double KEPT[] = {1.0, 0.9, 0.75, 0.5, 0.25};

typedef void multiply_fn(uint8_t *const *out, const uint8_t *const *scalars,
                         const uint8_t *const *points);

typedef struct sample {
    double ns;
    bool fixed;
} sample;

static double now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Both kinds are drawn and copied the same way, so that only the contents differ. */
static void take(sample *out, size_t count, multiply_fn *multiply, uint64_t seed)
{
    const uint8_t *scalars[SOTTO_X25519_MAX_LANES], *points[SOTTO_X25519_MAX_LANES];
    uint8_t *results[SOTTO_X25519_MAX_LANES];
    static uint8_t drawn[2][MOST][SIZE];
    static products p;
    sotto_sim_random random;

    sotto_sim_random_init(&random, seed);
    sotto_sim_random_bytes(&random, p.points, sizeof p.points);
    for (size_t i = 0; i < SOTTO_X25519_MAX_LANES; i++) {
        scalars[i] = p.scalars[i];
        points[i] = p.points[i];
        results[i] = p.out[i];
    }
    for (size_t i = 0; i < count; i++) {
        double start;

        sotto_sim_random_bytes(&random, drawn[0], sizeof drawn[0]);
        out[i].fixed = sotto_sim_random_below(&random, 2) == 1;
        memcpy(p.scalars, drawn[out[i].fixed], sizeof p.scalars); /* drawn[1]: zeros */
        start = now_ns();
        multiply(results, scalars, points);
        out[i].ns = now_ns() - start;
    }
}

static int by_time(const void *a, const void *b)
{
    double x = ((const sample *)a)->ns, y = ((const sample *)b)->ns;

    return (x > y) - (x < y);
}

static double welch(const sample *s, size_t count)
{
    double n[2] = {0, 0}, mean[2] = {0, 0}, squares[2] = {0, 0};

    for (size_t i = 0; i < count; i++) {
        unsigned k = s[i].fixed;
        double away = s[i].ns - mean[k];

        mean[k] += away / ++n[k];
        squares[k] += away * (s[i].ns - mean[k]);
    }
    if (n[0] < 2 || n[1] < 2)
        return INFINITY; /* all the fast ones are of one kind */
    return (mean[0] - mean[1]) /
           sqrt(squares[0] / (n[0] - 1) / n[0] + squares[1] / (n[1] - 1) / n[1] + 1e-9);
}

static double worst_t(sample *s, size_t count)
{
    double worst = 0;

    qsort(s, count, sizeof *s, by_time);
    for (size_t i = 0; i < sizeof KEPT / sizeof KEPT[0]; i++)
        worst = fmax(worst, fabs(welch(s, (size_t)((double)count * KEPT[i]))));
    return worst;
}

/* Takes passes until one alarms, or until one does not: whether that came before the last of them. */
static bool reached(sotto_test *t, bool alarm, const char *name, multiply_fn *multiply)
{
    size_t count = setting("SOTTO_CHAOS_TIMES", 6000);
    sample *s = sotto_arena_take(&t->arena, count * sizeof *s);

    CHECK(t, s != NULL);
    for (unsigned pass = 0; pass < PASSES; pass++) {
        double worst;

        take(s, count, multiply, 100 + pass);
        worst = worst_t(s, count);
        (void)printf("%s: pass %u of %zu times: |t| <= %.2f\n", name, pass, count, worst);
        if ((worst > ALARM) == alarm)
            return true;
    }
    return false;
}

/* A ladder that rests for every bit that is set in the first scalar: some 6 % of its time between none and half of them. */
static void leaky(uint8_t *const *out, const uint8_t *const *scalars, const uint8_t *const *points)
{
    volatile unsigned rest = 0;

    sotto_x25519_avx2.multiply(out, scalars, points);
    for (size_t i = 0; i < SIZE; i++)
        for (unsigned bits = scalars[0][i]; bits; bits >>= 1)
            for (unsigned k = 0; k < 24 * (bits & 1); k++)
                rest = rest + 1;
}

static void times_of_every_set_are_alike_for_all_scalars(sotto_test *t)
{
    const sotto_x25519_lanes *const all[] = {&sotto_x25519_ifma, &sotto_x25519_avx2};

    if (!sotto_x25519_use("avx2"))
        SKIP(t, "this machine has no lanes for X25519");
    for (size_t n = 0; n < sizeof all / sizeof all[0]; n++)
        if (sotto_x25519_use(all[n]->name))
            CHECK(t, reached(t, false, all[n]->name, all[n]->multiply));
    CHECK(t, sotto_x25519_use(NULL));
}

static void a_dependence_would_be_found(sotto_test *t)
{
    if (!sotto_x25519_use("avx2"))
        SKIP(t, "this machine has no lanes for X25519");
    CHECK(t, sotto_x25519_use(NULL));
    CHECK(t, reached(t, true, "leaky", leaky));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(times_of_every_set_are_alike_for_all_scalars),
        CASE(a_dependence_would_be_found),
    };
    return RUN_TESTS(argc, argv, cases);
}

#else

int main(void)
{
    return sotto_test_none("this kind of machine has no lanes for X25519");
}

#endif
