#include "chaos_question.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

/* ---- what a question is made of ------------------------------------------------------------------ */

#define PARAMETER(text, mechanism, member, whole, low, high, safer)                                \
    {                                                                                              \
        SOTTO_MECHANISM_##mechanism, text, offsetof(sotto_question, of.member), whole, low, high,  \
            safer                                                                                  \
    }

const chaos_parameter chaos_parameters[CHAOS_PARAMETERS] = {
    PARAMETER("clip", GAUSSIAN, gaussian.clip, false, 1e-2, 1e2, -1),
    PARAMETER("sigma", GAUSSIAN, gaussian.sigma, false, 0.05, 1e4, 1),
    PARAMETER("releases", GAUSSIAN, gaussian.releases, true, 1, 2e12, -1),
    PARAMETER("clip", SAMPLED_GAUSSIAN, sampled.clip, false, 0.1, 10, -1),
    PARAMETER("sigma", SAMPLED_GAUSSIAN, sampled.sigma, false, 0.3, 200, 1),
    PARAMETER("rate", SAMPLED_GAUSSIAN, sampled.rate, false, 1e-8, 1, -1),
    PARAMETER("rounds", SAMPLED_GAUSSIAN, sampled.rounds, true, 1, 2e12, -1),
    PARAMETER("clip", COUNTED_GAUSSIAN, sampled.clip, false, 0.1, 10, -1),
    PARAMETER("sigma", COUNTED_GAUSSIAN, sampled.sigma, false, 0.3, 200, 1),
    PARAMETER("rate", COUNTED_GAUSSIAN, sampled.rate, false, 1e-8, 1, -1),
    PARAMETER("rounds", COUNTED_GAUSSIAN, sampled.rounds, true, 1, 2e12, -1),
    PARAMETER("clip", ALLOCATED_GAUSSIAN, allocated.clip, false, 0.1, 10, -1),
    PARAMETER("sigma", ALLOCATED_GAUSSIAN, allocated.sigma, false, 0.1, 1e3, 1),
    PARAMETER("slots", ALLOCATED_GAUSSIAN, allocated.slots, true, 1, 1e10, 1),
    /* On a coarse lattice more noise can cost more, in truth: the loss is a multiple of 1/sigma^2 there. */
    PARAMETER("sigma", DISCRETE_GAUSSIAN, discrete.sigma, false, 0.04, 1e4, 0),
    PARAMETER("sensitivity", DISCRETE_GAUSSIAN, discrete.sensitivity, true, 1, 1e3, -1),
    PARAMETER("sigma", NOISE_SHARES, shares.sigma, false, 0.4, 1e3, 1),
    PARAMETER("sensitivity", NOISE_SHARES, shares.sensitivity, true, 1, 2e9, -1),
    PARAMETER("dimension", NOISE_SHARES, shares.dimension, true, 1, 2e12, -1),
    PARAMETER("cohort", NOISE_SHARES, shares.cohort, true, 1, 1e13, 1),
    PARAMETER("local_epsilon", SHUFFLED, local.local_epsilon, false, 1e-3, 14, -1),
    PARAMETER("cohort", SHUFFLED, local.cohort, true, 1, 1e13, 1),
    PARAMETER("rate", SHUFFLED, local.rate, false, 1e-6, 1, -1),
    PARAMETER("local_epsilon", SYMMETRIC_ONE_HOT, local.local_epsilon, false, 1e-3, 14, -1),
    PARAMETER("cohort", SYMMETRIC_ONE_HOT, local.cohort, true, 1, 1e13, 1),
    PARAMETER("rate", SYMMETRIC_ONE_HOT, local.rate, false, 1e-6, 1, -1),
    PARAMETER("local_epsilon", BINARY_RESPONSE, local.local_epsilon, false, 1e-3, 14, -1),
    PARAMETER("cohort", BINARY_RESPONSE, local.cohort, true, 1, 1e13, 1),
    PARAMETER("rate", BINARY_RESPONSE, local.rate, false, 1e-6, 1, -1),
    PARAMETER("local_epsilon", CHECK_IN, check_in.local_epsilon, false, 1e-3, 14, -1),
    /* Of a few steps the theorem makes m log(1 + a/m), which grows with m: its low speaks of the theorem alone. */
    PARAMETER("window", CHECK_IN, check_in.window, true, 1, 1e10, 0),
    PARAMETER("cohort", CHECK_IN, check_in.cohort, true, 1, 1e13, 1),
    PARAMETER("probability", CHECK_IN, check_in.probability, false, 1e-3, 1, -1),
    PARAMETER("epsilon", DONATION, donation.epsilon, false, 1e-3, 20, -1),
    PARAMETER("delta_each", DONATION, donation.delta_each, false, 1e-30, 1e-3, 0),
    PARAMETER("slots", DONATION, donation.slots, true, 1, 1e10, 0),
    PARAMETER("epsilon", PURE, pure.epsilon, false, 1e-4, 30, -1),
    PARAMETER("rounds", PURE, pure.rounds, true, 1, 2e9, -1),
    PARAMETER("clip", LAPLACE, laplace.clip, false, 0.1, 10, -1),
    PARAMETER("scale", LAPLACE, laplace.scale, false, 0.05, 1e4, 1),
    PARAMETER("releases", LAPLACE, laplace.releases, true, 1, 2e9, -1),
    PARAMETER("scale", GEOMETRIC, geometric.scale, false, 0.05, 1e4, 1),
    PARAMETER("sensitivity", GEOMETRIC, geometric.sensitivity, true, 1, 2e9, -1),
    PARAMETER("releases", GEOMETRIC, geometric.releases, true, 1, 2e9, -1),
};

double chaos_get(const sotto_question *q, const chaos_parameter *p)
{
    const char *at = (const char *)q + p->at;

    return p->count ? (double)*(const uint64_t *)(const void *)at
                    : *(const double *)(const void *)at;
}

void chaos_put_real(sotto_question *q, const chaos_parameter *p, double value)
{
    memcpy((char *)q + p->at, &value, sizeof value);
}

void chaos_put_count(sotto_question *q, const chaos_parameter *p, uint64_t value)
{
    memcpy((char *)q + p->at, &value, sizeof value);
}

void chaos_put(sotto_question *q, const chaos_parameter *p, double value)
{
    if (p->count)
        chaos_put_count(q, p, value < 1e18 ? (uint64_t)value : UINT64_MAX);
    else
        chaos_put_real(q, p, value);
}

const chaos_parameter *chaos_any_parameter(sotto_sim_random *random, sotto_mechanism of)
{
    const chaos_parameter *p = NULL;

    do
        p = &chaos_parameters[sotto_sim_random_below(random, CHAOS_PARAMETERS)];
    while (p->of != of);
    return p;
}

/* ---- drawing one ----------------------------------------------------------------------------------- */

static const double odd_reals[] = {
    NAN,       INFINITY,
    -INFINITY, -1,
    0,         -0.0,
    5e-324,    1e-310,
    DBL_MIN,   DBL_MAX,
    1e18,      1e-9,
    1,         1e9,
    0.5,       1e-18,
    2,         1e12,
    1e100,     1e-100,
    -1e-9,     0.9999999999999999,
};
static const uint64_t odd_counts[] = {
    0,
    1,
    2,
    3,
    11,
    12,
    1000,
    1000000000,
    UINT64_C(1000000000000),
    UINT64_C(1000000000001),
    UINT64_C(1000000000000000000),
    UINT64_MAX,
    (UINT64_C(1) << 53) + 1,
};

double chaos_log_uniform(sotto_sim_random *random, double low, double high)
{
    return low * pow(high / low, sotto_sim_random_unit(random));
}

static void draw_parameter(sotto_sim_random *random, sotto_question *q, const chaos_parameter *p,
                           double odd)
{
    size_t reals = sizeof odd_reals / sizeof odd_reals[0];
    size_t counts = sizeof odd_counts / sizeof odd_counts[0];

    if (!sotto_sim_random_chance(random, odd))
        chaos_put(q, p, chaos_log_uniform(random, p->low, p->high));
    else if (p->count)
        chaos_put_count(q, p, odd_counts[sotto_sim_random_below(random, counts)]);
    else
        chaos_put_real(q, p, odd_reals[sotto_sim_random_below(random, reals)]);
}

static double draw_delta(sotto_sim_random *random, double odd)
{
    static const double deltas[] = {
        NAN, INFINITY,          -1, 0, 1, 1.5, 5e-324, 1e-310, 1e-301, 1e-300, 1e-299,
        0.5, 0.9999999999999999};

    if (sotto_sim_random_chance(random, odd))
        return deltas[sotto_sim_random_below(random, sizeof deltas / sizeof deltas[0])];
    return chaos_log_uniform(random, sotto_sim_random_chance(random, 0.2) ? 1e-100 : 1e-15, 0.1);
}

static sotto_share draw_share(sotto_sim_random *random, double odd)
{
    static const sotto_share odds[] = {{0, 0},
                                       {1, 1},
                                       {2, 1},
                                       {UINT64_MAX, UINT64_MAX},
                                       {UINT64_MAX - 1, UINT64_MAX},
                                       {0, UINT64_MAX},
                                       {999999999999, 1000000000000}};

    if (sotto_sim_random_chance(random, odd))
        return odds[sotto_sim_random_below(random, sizeof odds / sizeof odds[0])];
    if (sotto_sim_random_chance(random, 0.5))
        return (sotto_share){0, 1};
    uint64_t of = 1 + sotto_sim_random_below(random, 100);
    return (sotto_share){sotto_sim_random_below(random, of), of};
}

static sotto_contribution *contribution_of(sotto_question *q)
{
    switch (q->mechanism) {
    case SOTTO_MECHANISM_GAUSSIAN:
        return &q->of.gaussian.contribution;
    case SOTTO_MECHANISM_SAMPLED_GAUSSIAN:
    case SOTTO_MECHANISM_COUNTED_GAUSSIAN:
        return &q->of.sampled.contribution;
    case SOTTO_MECHANISM_ALLOCATED_GAUSSIAN:
        return &q->of.allocated.contribution;
    case SOTTO_MECHANISM_LAPLACE:
        return &q->of.laplace.contribution;
    default:
        return NULL;
    }
}

bool chaos_is_local(const sotto_question *q)
{
    return q->mechanism == SOTTO_MECHANISM_SHUFFLED ||
           q->mechanism == SOTTO_MECHANISM_SYMMETRIC_ONE_HOT ||
           q->mechanism == SOTTO_MECHANISM_BINARY_RESPONSE;
}

/* Fields that most values of another would make meaningless. */
static void settle(sotto_sim_random *random, sotto_question *q)
{
    sotto_contribution *contribution = contribution_of(q);

    if (contribution != NULL) {
        *contribution = SOTTO_CLIPPED_VECTOR;
        if (sotto_sim_random_chance(random, 0.3)) {
            *contribution = SOTTO_ONE_HOT_VECTOR;
            for (size_t i = 0; i < CHAOS_PARAMETERS; i++)
                if (chaos_parameters[i].of == q->mechanism &&
                    strcmp(chaos_parameters[i].name, "clip") == 0)
                    chaos_put(q, &chaos_parameters[i], 0);
        }
    }
    if (chaos_is_local(q) && sotto_sim_random_chance(random, 0.6))
        q->of.local.rate = 1;
    if (q->mechanism != SOTTO_MECHANISM_CHECK_IN)
        return;
    q->of.check_in.variant = (sotto_check_in_variant)(1 + sotto_sim_random_below(random, 3));
    if (q->of.check_in.variant != SOTTO_CHECK_IN_AVERAGED)
        q->of.check_in.cohort = 0;
    if (q->of.check_in.variant != SOTTO_CHECK_IN_FIXED)
        q->of.check_in.probability = 1;
}

/* Rarer what takes longer, so that a million questions take minutes. */
static sotto_mechanism draw_mechanism(sotto_sim_random *random)
{
    static const struct {
        sotto_mechanism mechanism;
        unsigned weight;
    } weights[] = {
        {SOTTO_MECHANISM_GAUSSIAN, 200},
        {SOTTO_MECHANISM_SAMPLED_GAUSSIAN, 8},
        {SOTTO_MECHANISM_COUNTED_GAUSSIAN, 8},
        {SOTTO_MECHANISM_ALLOCATED_GAUSSIAN, 1},
        {SOTTO_MECHANISM_DISCRETE_GAUSSIAN, 250},
        {SOTTO_MECHANISM_NOISE_SHARES, 15},
        {SOTTO_MECHANISM_SHUFFLED, 18},
        {SOTTO_MECHANISM_SYMMETRIC_ONE_HOT, 10},
        {SOTTO_MECHANISM_BINARY_RESPONSE, 10},
        {SOTTO_MECHANISM_CHECK_IN, 30},
        {SOTTO_MECHANISM_DONATION, 150},
        {SOTTO_MECHANISM_PURE, 284},
        {SOTTO_MECHANISM_LAPLACE, 8},
        {SOTTO_MECHANISM_GEOMETRIC, 8},
    };
    uint64_t pick = sotto_sim_random_below(random, 1000);
    size_t i = 0;

    while (pick >= weights[i].weight)
        pick -= weights[i++].weight;
    return weights[i].mechanism;
}

sotto_question chaos_draw(sotto_sim_random *random, double odd, sotto_mechanism only)
{
    sotto_question q = {0};

    q.mechanism = draw_mechanism(random);
    if (only)
        q.mechanism = only;
    q.adjacency = (sotto_adjacency)(1 + sotto_sim_random_below(random, 3));
    q.trust = SOTTO_TRUST_SPLIT;
    if (sotto_sim_random_chance(random, 0.1))
        q.trust = (sotto_trust)(1 + sotto_sim_random_below(random, 3));
    q.participation_is_hidden = sotto_sim_random_chance(random, 0.9);
    q.dishonest = draw_share(random, odd);
    q.delta = draw_delta(random, odd);
    for (size_t i = 0; i < CHAOS_PARAMETERS; i++)
        if (chaos_parameters[i].of == q.mechanism)
            draw_parameter(random, &q, &chaos_parameters[i], odd);
    if (!sotto_sim_random_chance(random, odd))
        settle(random, &q);
    if (sotto_sim_random_chance(random, odd))
        q.mechanism = (sotto_mechanism)sotto_sim_random_below(random, 16);
    if (sotto_sim_random_chance(random, odd))
        q.adjacency = (sotto_adjacency)sotto_sim_random_below(random, 6);
    if (sotto_sim_random_chance(random, odd))
        q.trust = (sotto_trust)sotto_sim_random_below(random, 6);
    return q;
}

void chaos_choose_adjacency(sotto_question *q)
{
    switch (q->mechanism) {
    case SOTTO_MECHANISM_SAMPLED_GAUSSIAN:
    case SOTTO_MECHANISM_ALLOCATED_GAUSSIAN:
    case SOTTO_MECHANISM_DONATION:
        q->adjacency = SOTTO_ADJACENCY_ADD_REMOVE;
        return;
    case SOTTO_MECHANISM_SHUFFLED:
    case SOTTO_MECHANISM_BINARY_RESPONSE:
    case SOTTO_MECHANISM_CHECK_IN:
        q->adjacency = SOTTO_ADJACENCY_REPLACEMENT;
        return;
    case SOTTO_MECHANISM_SYMMETRIC_ONE_HOT:
        if (q->adjacency == SOTTO_ADJACENCY_ADD_REMOVE)
            q->adjacency = SOTTO_ADJACENCY_DELETION;
        return;
    default:
        return;
    }
}
