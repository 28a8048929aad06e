/* sotto-bench-sgm - what random questions about subsampled Gaussians cost, and which cost most.
 *
 *     sotto-bench-sgm [--count N] [--seed S] [--sigma N] [--worst K] [--all]
 *
 * Questions are drawn from the whole box that the accountant is held to: sigma 0.5..100, rounds 1..10^9, rate 1e-7..1,
 * delta 1e-15..1e-3, all logarithmic. Rates near 1 and few rounds are drawn more often than that. Thread CPU time:
 * `cold` with a new mechanism, `warm` the next question with about as many rounds. One round alone is a closed form
 * that leaves no tables: what comes after it is the first to make them, and counted by itself. */
#define _POSIX_C_SOURCE 200809L
#include "account/gauss/sgm.h"
#include "sotto/privacy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_QUESTIONS = 200000 };

typedef struct question {
    double rate, sigma, delta;
    uint64_t rounds;
    double cold_ms, warm_ms;
    sotto_sgm_answer answer;
    sotto_sgm_answer again;
} question;

static double thread_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void must(sotto_status status, const sotto_err *err)
{
    if (status == SOTTO_OK)
        return;
    (void)fprintf(stderr, "sotto-bench-sgm: %s\n", err->reason);
    exit(1);
}

/* splitmix64, in [0, 1). */
static double draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static question question_from(uint64_t *state)
{
    question q = {0};
    double kind = draw(state);

    q.rate = pow(10, -7 * draw(state));
    if (kind < 0.1)
        q.rate = 1 - pow(10, -4 * draw(state));
    q.rate = fmax(q.rate, 1e-7);
    q.sigma = 0.5 * pow(200, draw(state));
    q.rounds = (uint64_t)pow(10, 9 * draw(state));
    if (kind > 0.85)
        q.rounds = 1 + (uint64_t)(40 * draw(state));
    q.delta = pow(10, -3 - 12 * draw(state));
    return q;
}

static void ask(question *q)
{
    sotto_err err = {0};
    sotto_sgm *m = NULL;
    double start = thread_ms();

    must(sotto_sgm_new(&m, q->rate, q->sigma, &err), &err);
    sotto_sgm_part part = {m, q->rounds};
    must(sotto_sgm_epsilon(&q->answer, &part, 1, log(q->delta), SOTTO_EITHER, &err), &err);
    q->cold_ms = thread_ms() - start;
    start = thread_ms();
    part.rounds += 1 + part.rounds / 50;
    must(sotto_sgm_epsilon(&q->again, &part, 1, log(q->delta), SOTTO_EITHER, &err), &err);
    q->warm_ms = thread_ms() - start;
    sotto_sgm_free(m);
}

/* ---- tables ---------------------------------------------------------------------------------------- */

static int by_cold(const void *a, const void *b)
{
    double x = ((const question *)a)->cold_ms, y = ((const question *)b)->cold_ms;

    return (x < y) - (x > y);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static bool is_rare(const question *q)
{
    return q->rate < 1e-4 && q->rounds > 1;
}

static double gap_of(const question *q)
{
    return q->answer.value.high > 0 ? 1 - q->answer.value.low / q->answer.value.high : 0;
}

static void line_of(const char *name, double *values, size_t count, double limit)
{
    static const double at[] = {0.5, 0.9, 0.99, 0.999, 1};
    size_t above = 0;

    qsort(values, count, sizeof *values, by_value);
    for (size_t i = 0; i < count; i++)
        above += values[i] > limit;
    printf("%-28s %7zu", name, count);
    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        size_t k = (size_t)(at[i] * (double)count);
        printf(" %10.3g", count > 0 ? values[k < count ? k : count - 1] : 0);
    }
    printf("   %zu above %g\n", above, limit);
}

static void region(const char *name, const question *all, size_t count, int rare, double limit)
{
    static double cold[MOST_QUESTIONS], warm[MOST_QUESTIONS], gap[MOST_QUESTIONS];
    char title[64];
    size_t n = 0, with_tables = 0;

    for (size_t i = 0; i < count; i++) {
        if (is_rare(&all[i]) != (rare != 0))
            continue;
        cold[n] = all[i].cold_ms;
        if (all[i].rounds > 1)
            warm[with_tables++] = all[i].warm_ms;
        gap[n++] = gap_of(&all[i]);
    }
    (void)snprintf(title, sizeof title, "%s, cold, ms", name);
    line_of(title, cold, n, limit);
    (void)snprintf(title, sizeof title, "%s, warm, ms", name);
    line_of(title, warm, with_tables, 1);
    (void)snprintf(title, sizeof title, "%s, 1-low/high", name);
    line_of(title, gap, n, 0.01);
}

static void after_one(const question *all, size_t count)
{
    static double ms[MOST_QUESTIONS];
    size_t n = 0;

    for (size_t i = 0; i < count; i++)
        if (all[i].rounds == 1)
            ms[n++] = all[i].warm_ms;
    line_of("two rounds after one, ms", ms, n, 5);
}

static void show(const question *q)
{
    printf(
        "%9.3f %8.3f  q=%-11.6g sigma=%-9.5g T=%-10llu delta=%-9.3g high=%-12.10g gap=%-8.2g %s\n",
        q->cold_ms, q->warm_ms, q->rate, q->sigma, (unsigned long long)q->rounds, q->delta,
        q->answer.value.high, gap_of(q), q->answer.route);
}

static void calibrate(uint64_t seed, size_t count)
{
    static double ms[MOST_QUESTIONS];
    uint64_t state = seed;
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        question q = question_from(&state);
        sotto_err err = {0};
        sotto_bound sigma;
        double eps = 0.05 * pow(200, draw(&state)), start = thread_ms();
        q.rate = fmax(q.rate, 1e-4);
        sotto_question asked = {.adjacency = SOTTO_ADJACENCY_ADD_REMOVE,
                                .trust = SOTTO_TRUST_SPLIT,
                                .dishonest = {0, 1},
                                .delta = q.delta,
                                .participation_is_hidden = true,
                                .mechanism = SOTTO_MECHANISM_SAMPLED_GAUSSIAN,
                                .of.sampled = {.contribution = SOTTO_CLIPPED_VECTOR,
                                               .clip = 1,
                                               .rate = q.rate,
                                               .rounds = q.rounds}};
        sotto_plan plan;
        sotto_status status = sotto_privacy_plan(&plan, &asked, SOTTO_FIND_SIGMA, eps, NULL, &err);
        sigma = (sotto_bound){plan.limit, plan.value};
        if (status == SOTTO_OK && sigma.high >= 0.5 && sigma.high <= 100) {
            ms[n] = thread_ms() - start;
            if (ms[n] > 20)
                printf("%9.3f  rate=%g T=%llu eps=%g delta=%g: sigma %.10g gap %.3g\n", ms[n],
                       q.rate, (unsigned long long)q.rounds, eps, q.delta, sigma.high,
                       1 - sigma.low / sigma.high);
            n++;
        }
    }
    line_of("calibrate sigma, ms", ms, n, 20);
}

static double number(const char *text)
{
    char *end;
    double x = strtod(text, &end);

    if (*end != 0 || !(x >= 0 && x <= MOST_QUESTIONS)) {
        (void)fprintf(stderr, "sotto-bench-sgm: %s is not a number from 0 to %d\n", text,
                      MOST_QUESTIONS);
        exit(2);
    }
    return x;
}

int main(int argc, char **argv)
{
    static question all[MOST_QUESTIONS];
    double count = 1000, seed = 1, sigmas = 0, worst = 20;
    bool every = false;

    for (int i = 1; i < argc; i++) {
        static const char *const names[] = {"--count", "--seed", "--sigma", "--worst"};
        double *values[] = {&count, &seed, &sigmas, &worst};
        size_t k = 0;
        while (k < 4 && strcmp(argv[i], names[k]) != 0)
            k++;
        if (strcmp(argv[i], "--all") == 0)
            every = true;
        else if (k < 4 && i + 1 < argc)
            *values[k] = number(argv[++i]);
        else
            return 2;
    }
    uint64_t state = (uint64_t)seed;
    for (size_t i = 0; i < (size_t)count; i++) {
        all[i] = question_from(&state);
        ask(&all[i]);
        if (every)
            show(&all[i]);
    }
    printf("%-28s %7s %10s %10s %10s %10s %10s\n", "", "count", "50 %", "90 %", "99 %", "99.9 %",
           "worst");
    region("q >= 1e-4 or T = 1", all, (size_t)count, 0, 5);
    region("q < 1e-4", all, (size_t)count, 1, 50);
    after_one(all, (size_t)count);
    if (sigmas > 0)
        calibrate((uint64_t)seed, (size_t)sigmas);
    qsort(all, (size_t)count, sizeof *all, by_cold);
    for (int rare = 0; rare < 2; rare++) {
        size_t shown = 0;
        for (size_t i = 0; i < (size_t)count && shown < (size_t)worst; i++) {
            if (is_rare(&all[i]) != (rare != 0))
                continue;
            show(&all[i]);
            shown++;
        }
    }
    return 0;
}
