/* Which randomizers a number of clones may be counted on for: small batches, enumerated, against the
 * reduction. */
#include "account/local/clone.h"
#include "sim/random.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

enum { INPUTS = 3, OUTPUTS = 6, CROWD = 4, HISTOGRAMS = 15625 /* counts 0..4 of each output */ };

/* P(output | input). The victim holds input 0 or 1. */
typedef struct channel {
    double at[INPUTS][OUTPUTS];
} channel;

/* Outputs stand for the sets {0} {1} {2} {0,1} {0,2} {1,2}: e^eps0 times as likely for inputs in the set. Every extreme
 * eps0-DP randomizer of three inputs is made of such outputs and of ones that tell nothing. */
static bool in_set(int input, int output)
{
    static const int sets[OUTPUTS] = {1, 2, 4, 3, 5, 6};

    return (sets[output] >> input & 1) != 0;
}

static channel channel_of(const double weight[OUTPUTS], double eps0)
{
    channel c;
    double sum[INPUTS] = {0}, most = 0;

    for (int x = 0; x < INPUTS; x++) {
        for (int y = 0; y < OUTPUTS; y++)
            sum[x] += c.at[x][y] = weight[y] * (in_set(x, y) ? exp(eps0) : 1);
        most = fmax(most, sum[x]);
    }
    /* More of the output {x} makes the sums over the outputs equal. */
    for (int y = 0; y < INPUTS; y++)
        for (int x = 0; x < INPUTS; x++)
            c.at[x][y] += (most - sum[y]) / expm1(eps0) * (x == y ? exp(eps0) : 1);
    for (int x = 0; x < INPUTS; x++) {
        double all = 0;

        for (int y = 0; y < OUTPUTS; y++)
            all += c.at[x][y];
        for (int y = 0; y < OUTPUTS; y++)
            c.at[x][y] /= all;
    }
    return c;
}

/* The largest c with R(x) >= c/2 (R(0) + R(1)), for every input x and every output. */
static double clones_of(const channel *r)
{
    double least = 1;

    for (int x = 0; x < INPUTS; x++)
        for (int y = 0; y < OUTPUTS; y++)
            if (r->at[0][y] + r->at[1][y] > 0)
                least = fmin(least, 2 * r->at[x][y] / (r->at[0][y] + r->at[1][y]));
    return least;
}

static void add_report(double *law, const double *report)
{
    static double next[HISTOGRAMS];
    int place = 1;

    memset(next, 0, sizeof next);
    for (int y = 0; y < OUTPUTS; y++, place *= 5)
        for (int h = 0; h + place < HISTOGRAMS; h++)
            next[h + place] += law[h] * report[y];
    memcpy(law, next, sizeof next);
}

/* delta of the shuffled reports, exactly, the worse direction: `zeros` of the n - 1 others hold 0, the rest 2. */
static double exact_delta(const channel *r, int n, int zeros, double eps)
{
    static double p[HISTOGRAMS], q[HISTOGRAMS];
    double there = 0, back = 0;

    memset(p, 0, sizeof p);
    p[0] = 1;
    for (int i = 0; i < n - 1; i++)
        add_report(p, r->at[i < zeros ? 0 : 2]);
    memcpy(q, p, sizeof q);
    add_report(p, r->at[0]);
    add_report(q, r->at[1]);
    for (int h = 0; h < HISTOGRAMS; h++) {
        there += fmax(0, p[h] - exp(eps) * q[h]);
        back += fmax(0, q[h] - exp(eps) * p[h]);
    }
    return fmax(there, back);
}

/* Does what the law promises at some deltas hold for the batch? */
static bool keeps_promise(sotto_test *t, const channel *r, const sotto_clone_law *law, int n,
                          int zeros)
{
    bool kept = true;

    for (double part = 0.1; part < 1; part += 0.3) {
        double delta = exact_delta(r, n, zeros, part * law->eps0);
        sotto_crowd crowd = {n, 0};
        sotto_bound eps = {-1, -1};

        if (delta < 1e-12)
            continue;
        CHECK_OK(t, sotto_clone_eps(&eps, law, &crowd, log(delta), &t->err));
        kept = kept && exact_delta(r, n, zeros, eps.high) <= delta * (1 + 1e-9);
    }
    return kept;
}

static void random_weights(double *weight, sotto_sim_random *random)
{
    for (int y = 0; y < OUTPUTS; y++)
        weight[y] = sotto_sim_random_chance(random, 0.4) ? 0 : sotto_sim_random_unit(random);
    weight[3] += 1e-3; /* not all of them 0 */
}

static void clones_of_any_randomizer_keep_their_promise(sotto_test *t)
{
    static const double epsilons[] = {0.5, 1, 2, 4};
    sotto_sim_random random;

    sotto_sim_random_init(&random, 21);
    for (int i = 0; i < 60; i++) {
        double weight[OUTPUTS], eps0 = epsilons[i % 4];
        sotto_clone_law generic;

        random_weights(weight, &random);
        channel r = channel_of(weight, eps0);
        sotto_clone_law own = {eps0, 1, clones_of(&r)};
        CHECK_OK(t, sotto_clone_law_generic(&generic, eps0, &t->err));
        CHECK(t, own.clone >= generic.clone * (1 - 1e-12));
        for (int n = 1; n <= CROWD; n++)
            for (int zeros = 0; zeros < n; zeros++) {
                CHECK(t, keeps_promise(t, &r, &generic, n, zeros));
                CHECK(t, keeps_promise(t, &r, &own, n, zeros));
            }
    }
}

/* Randomized response of one bit, where 2 says what 0 says, and of three values. */
static const double binary[OUTPUTS] = {0, 1, 0, 0, 1, 0}, kary[OUTPUTS] = {1, 1, 1};

static void the_restricted_class_is_where_few_share_an_output(sotto_test *t)
{
    static const double pairs[OUTPUTS] = {0, 0, 0, 1, 1, 1};

    for (double eps0 = 0.5; eps0 < 5; eps0 += 1.5) {
        channel r[2] = {channel_of(binary, eps0), channel_of(kary, eps0)};
        channel s = channel_of(pairs, eps0);
        sotto_clone_law law, generic;

        CHECK_OK(t, sotto_clone_law_restricted_class(&law, eps0, &t->err));
        CHECK_OK(t, sotto_clone_law_generic(&generic, eps0, &t->err));
        for (int i = 0; i < 2; i++) {
            CHECK_NEAR(t, 1, clones_of(&r[i]) / law.clone, 1e-12);
            for (int n = 1; n <= CROWD; n++)
                for (int zeros = 0; zeros < n; zeros++)
                    CHECK(t, keeps_promise(t, &r[i], &law, n, zeros));
        }
        /* An output that two inputs make likely leaves a third person only the generic number of clones. */
        CHECK_NEAR(t, 1, clones_of(&s) / generic.clone, 1e-12);
    }
}

static void a_tenth_more_clones_would_be_too_many(sotto_test *t)
{
    channel r = channel_of(binary, 2);
    sotto_clone_law law;

    CHECK_OK(t, sotto_clone_law_restricted_class(&law, 2, &t->err));
    CHECK(t, keeps_promise(t, &r, &law, 2, 1));
    law.clone *= 1.1;
    CHECK(t, !keeps_promise(t, &r, &law, 2, 1));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(clones_of_any_randomizer_keep_their_promise),
        CASE(the_restricted_class_is_where_few_share_an_output),
        CASE(a_tenth_more_clones_would_be_too_many),
    };
    return RUN_TESTS(argc, argv, cases);
}
