/* sotto-sample-privacy [--seed S] [--count N] [--worst K] [FAMILY...]: what the accountant's questions cost over
 * everything it accepts, not only over the cases somebody thought of. Parameters are drawn at random, logarithmically
 * where they span decades; times are this thread's CPU time, once each. Prints percentiles and the worst
 * questions of each family. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "account/gauss/allocation.h"
#include "account/gauss/discrete_gaussian.h"
#include "account/gauss/gaussian.h"
#include "account/local/checkin.h"
#include "account/local/compose_pure.h"
#include "account/local/onehot.h"
#include "account/local/sampling.h"
#include "sim/random.h"
#include "sotto/privacy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { QUESTIONS_MAX = 100000, TEXT = 128 };

typedef struct sample {
    sotto_sim_random random;
    sotto_bound answer;
    sotto_status status;
    char text[TEXT]; /* the question */
    double started, seconds;
} sample;

static double now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- drawing ---------------------------------------------------------------------------------------- */

static double between(sample *s, double low, double high)
{
    return low + (high - low) * sotto_sim_random_unit(&s->random);
}

static double spread(sample *s, double low, double high)
{
    return exp(between(s, log(low), log(high)));
}

static double whole(sample *s, double low, double high)
{
    return fmin(high, floor(spread(s, low, high * 1.0000001)));
}

/* Mostly deltas that are used, sometimes all that is accepted. */
static double log_delta(sample *s, double least)
{
    return sotto_sim_random_chance(&s->random, 0.8) ? -between(s, log(1e3), log(1e15))
                                                    : -between(s, 1e-3, -least);
}

static double local_eps(sample *s, double most)
{
    return sotto_sim_random_chance(&s->random, 0.7) ? between(s, 0.05, most)
                                                    : spread(s, 1e-3, most);
}

/* ---- questions: each writes itself down, then answers between start and stop ----------------------- */

static void start(sample *s)
{
    s->started = now();
}

static void stop(sample *s, sotto_status status)
{
    s->seconds = now() - s->started;
    s->status = status;
}

static void shuffle(sample *s)
{
    sotto_crowd crowd = {whole(s, 1, 1e12), 0};
    sotto_clone_law law = {0};
    double eps0 = local_eps(s, 12), ld = log_delta(s, -690);
    unsigned kind = (unsigned)sotto_sim_random_below(&s->random, 4);
    double k = whole(s, 2, 1e6);
    sotto_status made = SOTTO_OK;

    switch (kind) {
    case 0:
        made = sotto_clone_law_kary(&law, eps0, k, NULL);
        break;
    case 1:
        made = sotto_clone_law_onehot(&law, 0.5, 1 / (exp(eps0) + 1), NULL);
        break;
    default:
        made = sotto_clone_law_generic(&law, eps0, NULL);
    }
    (void)snprintf(s->text, TEXT, "kind %u eps0 %.9g k %.9g n %.17g log_delta %.9g", kind, eps0, k,
                   crowd.n_total, ld);
    start(s);
    stop(s, made == SOTTO_OK ? sotto_clone_eps(&s->answer, &law, &crowd, ld, NULL) : made);
}

static void sampled_shuffle(sample *s)
{
    sotto_crowd crowd = {whole(s, 1, 1e12), 0};
    sotto_clone_law law = {0};
    double eps0 = local_eps(s, 12), ld = log_delta(s, -650), rate = spread(s, 1e-6, 1);
    sotto_status made = sotto_clone_law_generic(&law, eps0, NULL);

    (void)snprintf(s->text, TEXT, "eps0 %.9g n %.17g rate %.9g log_delta %.9g", eps0, crowd.n_total,
                   rate, ld);
    start(s);
    stop(s, made == SOTTO_OK ? sotto_sampled_clone_eps(&s->answer, &law, &crowd, rate, ld, NULL)
                             : made);
}

typedef sotto_status (*bits_of)(sotto_bound *, sotto_onehot_adjacency, double, const sotto_crowd *,
                                double, sotto_err *);

static void bits(sample *s, bits_of answer)
{
    sotto_crowd crowd = {whole(s, 1, 1e12), 0};
    sotto_onehot_adjacency adjacency =
        sotto_sim_random_chance(&s->random, 0.5) ? SOTTO_ONEHOT_REPLACEMENT : SOTTO_ONEHOT_DELETION;
    double eps0 = local_eps(s, 12), ld = log_delta(s, -690);

    (void)snprintf(s->text, TEXT, "adjacency %d eps0 %.9g n %.17g log_delta %.9g", (int)adjacency,
                   eps0, crowd.n_total, ld);
    start(s);
    stop(s, answer(&s->answer, adjacency, eps0, &crowd, ld, NULL));
}

static void one_hot(sample *s)
{
    bits(s, sotto_onehot_eps);
}

static void one_hot_any_data(sample *s)
{
    bits(s, sotto_onehot_eps_any_data);
}

static void one_hot_renyi(sample *s)
{
    bits(s, sotto_onehot_eps_by_rdp);
}

static void check_in(sample *s)
{
    double eps0 = local_eps(s, 12), m = whole(s, 1, 1e12), ld = log_delta(s, -690);
    double p0 = sotto_sim_random_chance(&s->random, 0.5) ? 1 : spread(s, 1e-6, 1);

    (void)snprintf(s->text, TEXT, "eps0 %.9g m %.17g p0 %.9g log_delta %.9g", eps0, m, p0, ld);
    start(s);
    stop(s, sotto_checkin_fixed_window_optimal(&s->answer, eps0, m, p0, ld, NULL));
}

static void allocation(sample *s)
{
    double t = whole(s, 1, 1e9), ld = log_delta(s, -90);
    double sigma =
        sotto_sim_random_chance(&s->random, 0.6) ? spread(s, 0.5, 10) : spread(s, 0.1, 1000);

    (void)snprintf(s->text, TEXT, "sigma %.9g t %.17g log_delta %.9g", sigma, t, ld);
    start(s);
    stop(s, sotto_allocation_eps(&s->answer, SOTTO_ALLOCATION_MAX, sigma, t, ld, NULL));
}

static void allocation_sigma(sample *s)
{
    double eps = spread(s, 0.1, 5), t = whole(s, 5, 1e6);
    sotto_question q = {.adjacency = SOTTO_ADJACENCY_ADD_REMOVE,
                        .trust = SOTTO_TRUST_SPLIT,
                        .dishonest = {0, 1},
                        .participation_is_hidden = true,
                        .delta = exp(-between(s, log(1e3), log(1e15))),
                        .mechanism = SOTTO_MECHANISM_ALLOCATED_GAUSSIAN};
    sotto_plan plan = {0};

    q.of.allocated.contribution = SOTTO_ONE_HOT_VECTOR;
    q.of.allocated.slots = (uint64_t)t;
    (void)snprintf(s->text, TEXT, "eps %.9g t %.17g delta %.9g", eps, t, q.delta);
    start(s);
    stop(s, sotto_privacy_plan(&plan, &q, SOTTO_FIND_SIGMA, eps, NULL, NULL));
    s->answer = (sotto_bound){plan.limit, plan.value};
}

static void pure(sample *s)
{
    double eps = spread(s, 1e-6, 10), t = whole(s, 1, 1e9), ld = log_delta(s, -690);

    (void)snprintf(s->text, TEXT, "eps %.9g T %.17g log_delta %.9g", eps, t, ld);
    start(s);
    stop(s, sotto_compose_optimal_epsilon(&s->answer, eps, t, ld, NULL));
}

static void discrete(sample *s)
{
    double sigma = spread(s, 0.05, 1e6), d = whole(s, 1, fmax(1, fmin(1e6, 100 * sigma)));
    double ld = log_delta(s, -690);

    (void)snprintf(s->text, TEXT, "sigma %.9g sensitivity %.17g log_delta %.9g", sigma, d, ld);
    start(s);
    stop(s, sotto_discrete_gaussian_epsilon(&s->answer, sigma, d, ld, NULL));
}

static void counted(sample *s)
{
    double sigma = spread(s, 0.3, 1000), rate = spread(s, 1e-8, 1), t = whole(s, 1, 1e9);
    double ld = log_delta(s, -690);

    (void)snprintf(s->text, TEXT, "sigma %.9g rate %.9g T %.17g log_delta %.9g", sigma, rate, t,
                   ld);
    start(s);
    stop(s, sotto_gaussian_counted_epsilon(&s->answer, sigma, 1, rate, t, ld, NULL));
}

static void gaussian(sample *s)
{
    double sigma = spread(s, 1e-3, 1e6), t = whole(s, 1, 1e12), ld = log_delta(s, -690);

    (void)snprintf(s->text, TEXT, "sigma %.9g releases %.17g log_delta %.9g", sigma, t, ld);
    start(s);
    stop(s, sotto_gaussian_epsilon(&s->answer, sigma, 1, t, ld, NULL));
}

static void shares(sample *s)
{
    sotto_question q = {.adjacency = SOTTO_ADJACENCY_REPLACEMENT,
                        .trust = SOTTO_TRUST_SPLIT,
                        .dishonest = {0, 1},
                        .delta = exp(log_delta(s, -690)),
                        .mechanism = SOTTO_MECHANISM_NOISE_SHARES};
    sotto_answer a = {0};

    q.of.shares.sigma = spread(s, 0.5, 1000);
    q.of.shares.sensitivity = (uint64_t)whole(s, 1, 1e4);
    q.of.shares.dimension = (uint64_t)whole(s, 1, 1e6);
    q.of.shares.cohort = (uint64_t)whole(s, 1, 1e9);
    (void)snprintf(s->text, TEXT, "sigma %.9g sensitivity %llu dimension %llu cohort %llu delta %g",
                   q.of.shares.sigma, (unsigned long long)q.of.shares.sensitivity,
                   (unsigned long long)q.of.shares.dimension,
                   (unsigned long long)q.of.shares.cohort, q.delta);
    start(s);
    stop(s, sotto_privacy_epsilon(&a, &q, NULL, NULL));
    s->answer = (sotto_bound){a.low, a.high};
}

static const struct family {
    const char *name;
    void (*ask)(sample *);
} families[] = {
    {"shuffle", shuffle},
    {"sampled-shuffle", sampled_shuffle},
    {"one-hot", one_hot},
    {"one-hot-any-data", one_hot_any_data},
    {"one-hot-renyi", one_hot_renyi},
    {"check-in", check_in},
    {"allocation", allocation},
    {"allocation-sigma", allocation_sigma},
    {"pure", pure},
    {"discrete", discrete},
    {"counted", counted},
    {"gaussian", gaussian},
    {"shares", shares},
};

/* ---- what came out ------------------------------------------------------------------------------------ */

static int by_time(const void *a, const void *b)
{
    double x = ((const sample *)a)->seconds, y = ((const sample *)b)->seconds;

    return x < y ? 1 : x > y ? -1 : 0;
}

static void measure(const struct family *f, uint64_t seed, size_t count, size_t worst)
{
    static sample all[QUESTIONS_MAX];
    size_t refused = 0;
    sotto_sim_random random;

    sotto_sim_random_init(&random, seed);
    for (size_t i = 0; i < count; i++) {
        all[i] = (sample){.random = sotto_sim_random_fork(&random, i)};
        f->ask(&all[i]);
        refused += all[i].status != SOTTO_OK;
    }
    qsort(all, count, sizeof all[0], by_time);
    static const double shares_of[] = {0.5, 0.9, 0.99, 0.999};

    printf("%s: %zu questions, %zu refused; ms", f->name, count, refused);
    for (size_t i = 0; i < sizeof shares_of / sizeof shares_of[0]; i++)
        printf("  p%g %.3f", 100 * shares_of[i],
               1e3 * all[(size_t)((1 - shares_of[i]) * (double)count)].seconds);
    printf("  most %.3f\n", 1e3 * all[0].seconds);
    for (size_t i = 0; i < worst && i < count; i++)
        printf("  %8.3f ms  %s  [%.12g, %.12g]%s\n", 1e3 * all[i].seconds, all[i].text,
               all[i].answer.low, all[i].answer.high, all[i].status == SOTTO_OK ? "" : " refused");
}

static int usage(void)
{
    (void)fputs("usage: sotto-sample-privacy [--seed S] [--count N] [--worst K] [FAMILY...]\n",
                stderr);
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        (void)fprintf(stderr, "  %s\n", families[i].name);
    return 2;
}

int main(int argc, char **argv)
{
    unsigned long long seed = 1, count = 1000, worst = 20;
    int at = 1;

    for (; at + 1 < argc && strncmp(argv[at], "--", 2) == 0; at += 2) {
        unsigned long long value = strtoull(argv[at + 1], NULL, 10);

        if (strcmp(argv[at], "--seed") == 0)
            seed = value;
        else if (strcmp(argv[at], "--count") == 0 && value >= 1 && value <= QUESTIONS_MAX)
            count = value;
        else if (strcmp(argv[at], "--worst") == 0)
            worst = value;
        else
            return usage();
    }
    for (int i = at; i < argc; i++) {
        bool known = false;

        for (size_t f = 0; f < sizeof families / sizeof families[0]; f++)
            known = known || strcmp(argv[i], families[f].name) == 0;
        if (!known)
            return usage();
    }
    for (size_t f = 0; f < sizeof families / sizeof families[0]; f++) {
        bool wanted = at == argc;

        for (int i = at; i < argc; i++)
            wanted = wanted || strcmp(argv[i], families[f].name) == 0;
        if (wanted)
            measure(&families[f], seed, count, worst);
    }
    return 0;
}
