/* Random questions, sane and absurd: the accountant never crashes, never says NaN, and never contradicts itself.
 * SOTTO_CHAOS_QUESTIONS (or SOTTO_CHAOS_ROUNDS) and SOTTO_CHAOS_SEED choose how many and which. Every question has a
 * seed of its own, which a failure prints: that seed and one round repeat it. */
#include "support/test.h"

#include "sim/random.h"
#include "sotto/privacy.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 10) : otherwise;
}

/* ---- what a question is made of ------------------------------------------------------------------ */

typedef struct parameter {
    sotto_mechanism of;
    const char *name; /* as a refusal says it */
    size_t at;
    bool count;
    double low, high; /* drawn from, mostly; a little wider than what is accepted */
    int safer; /* 1: more of it never costs more epsilon, -1: less of it, 0: neither is claimed */
} parameter;

#define PARAMETER(text, mechanism, member, whole, low, high, safer)                                \
    {                                                                                              \
        SOTTO_MECHANISM_##mechanism, text, offsetof(sotto_question, of.member), whole, low, high,  \
            safer                                                                                  \
    }

static const parameter parameters[] = {
    PARAMETER("clip", GAUSSIAN, gaussian.clip, false, 1e-2, 1e2, -1),
    PARAMETER("sigma", GAUSSIAN, gaussian.sigma, false, 0.05, 1e4, 1),
    PARAMETER("releases", GAUSSIAN, gaussian.releases, true, 1, 1e7, -1),
    PARAMETER("clip", SAMPLED_GAUSSIAN, sampled.clip, false, 0.1, 10, -1),
    PARAMETER("sigma", SAMPLED_GAUSSIAN, sampled.sigma, false, 0.3, 200, 1),
    PARAMETER("rate", SAMPLED_GAUSSIAN, sampled.rate, false, 1e-8, 1, -1),
    PARAMETER("rounds", SAMPLED_GAUSSIAN, sampled.rounds, true, 1, 1e10, -1),
    PARAMETER("clip", COUNTED_GAUSSIAN, sampled.clip, false, 0.1, 10, -1),
    PARAMETER("sigma", COUNTED_GAUSSIAN, sampled.sigma, false, 0.3, 200, 1),
    PARAMETER("rate", COUNTED_GAUSSIAN, sampled.rate, false, 1e-8, 1, -1),
    PARAMETER("rounds", COUNTED_GAUSSIAN, sampled.rounds, true, 1, 1e7, -1),
    PARAMETER("clip", ALLOCATED_GAUSSIAN, allocated.clip, false, 0.1, 10, -1),
    PARAMETER("sigma", ALLOCATED_GAUSSIAN, allocated.sigma, false, 0.1, 1e3, 1),
    PARAMETER("slots", ALLOCATED_GAUSSIAN, allocated.slots, true, 1, 1e10, 1),
    /* On a coarse lattice more noise can cost more, in truth: the loss is a multiple of 1/sigma^2 there. */
    PARAMETER("sigma", DISCRETE_GAUSSIAN, discrete.sigma, false, 0.04, 1e4, 0),
    PARAMETER("sensitivity", DISCRETE_GAUSSIAN, discrete.sensitivity, true, 1, 1e3, -1),
    PARAMETER("sigma", NOISE_SHARES, shares.sigma, false, 0.4, 1e3, 1),
    PARAMETER("sensitivity", NOISE_SHARES, shares.sensitivity, true, 1, 1e6, -1),
    PARAMETER("dimension", NOISE_SHARES, shares.dimension, true, 1, 1e7, -1),
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
    PARAMETER("rounds", PURE, pure.rounds, true, 1, 1e6, -1),
};

enum { PARAMETERS = sizeof parameters / sizeof parameters[0] };

static double get(const sotto_question *q, const parameter *p)
{
    const char *at = (const char *)q + p->at;

    return p->count ? (double)*(const uint64_t *)(const void *)at
                    : *(const double *)(const void *)at;
}

static void put_real(sotto_question *q, const parameter *p, double value)
{
    memcpy((char *)q + p->at, &value, sizeof value);
}

static void put_count(sotto_question *q, const parameter *p, uint64_t value)
{
    memcpy((char *)q + p->at, &value, sizeof value);
}

static void put(sotto_question *q, const parameter *p, double value)
{
    if (p->count)
        put_count(q, p, value < 1e18 ? (uint64_t)value : UINT64_MAX);
    else
        put_real(q, p, value);
}

static const parameter *any_parameter(sotto_sim_random *random, sotto_mechanism of)
{
    const parameter *p = NULL;

    do
        p = &parameters[sotto_sim_random_below(random, PARAMETERS)];
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

static double log_uniform(sotto_sim_random *random, double low, double high)
{
    return low * pow(high / low, sotto_sim_random_unit(random));
}

static void draw_parameter(sotto_sim_random *random, sotto_question *q, const parameter *p,
                           double odd)
{
    size_t reals = sizeof odd_reals / sizeof odd_reals[0];
    size_t counts = sizeof odd_counts / sizeof odd_counts[0];

    if (!sotto_sim_random_chance(random, odd))
        put(q, p, log_uniform(random, p->low, p->high));
    else if (p->count)
        put_count(q, p, odd_counts[sotto_sim_random_below(random, counts)]);
    else
        put_real(q, p, odd_reals[sotto_sim_random_below(random, reals)]);
}

static double draw_delta(sotto_sim_random *random, double odd)
{
    static const double deltas[] = {
        NAN, INFINITY,          -1, 0, 1, 1.5, 5e-324, 1e-310, 1e-301, 1e-300, 1e-299,
        0.5, 0.9999999999999999};

    if (sotto_sim_random_chance(random, odd))
        return deltas[sotto_sim_random_below(random, sizeof deltas / sizeof deltas[0])];
    return log_uniform(random, sotto_sim_random_chance(random, 0.2) ? 1e-100 : 1e-15, 0.1);
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
    default:
        return NULL;
    }
}

static bool is_local(const sotto_question *q)
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
            for (size_t i = 0; i < PARAMETERS; i++)
                if (parameters[i].of == q->mechanism && strcmp(parameters[i].name, "clip") == 0)
                    put(q, &parameters[i], 0);
        }
    }
    if (is_local(q) && sotto_sim_random_chance(random, 0.6))
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
        {SOTTO_MECHANISM_GAUSSIAN, 200},          {SOTTO_MECHANISM_SAMPLED_GAUSSIAN, 8},
        {SOTTO_MECHANISM_COUNTED_GAUSSIAN, 8},    {SOTTO_MECHANISM_ALLOCATED_GAUSSIAN, 1},
        {SOTTO_MECHANISM_DISCRETE_GAUSSIAN, 250}, {SOTTO_MECHANISM_NOISE_SHARES, 15},
        {SOTTO_MECHANISM_SHUFFLED, 18},           {SOTTO_MECHANISM_SYMMETRIC_ONE_HOT, 10},
        {SOTTO_MECHANISM_BINARY_RESPONSE, 10},    {SOTTO_MECHANISM_CHECK_IN, 30},
        {SOTTO_MECHANISM_DONATION, 150},          {SOTTO_MECHANISM_PURE, 300},
    };
    uint64_t pick = sotto_sim_random_below(random, 1000);
    size_t i = 0;

    while (pick >= weights[i].weight)
        pick -= weights[i++].weight;
    return weights[i].mechanism;
}

/* odd: how likely each field is absurd. */
static sotto_question draw(sotto_sim_random *random, double odd)
{
    sotto_question q = {0};

    q.mechanism = draw_mechanism(random);
    q.adjacency = (sotto_adjacency)(1 + sotto_sim_random_below(random, 3));
    q.trust = SOTTO_TRUST_SPLIT;
    if (sotto_sim_random_chance(random, 0.1))
        q.trust = (sotto_trust)(1 + sotto_sim_random_below(random, 3));
    q.participation_is_hidden = sotto_sim_random_chance(random, 0.9);
    q.dishonest = draw_share(random, odd);
    q.delta = draw_delta(random, odd);
    for (size_t i = 0; i < PARAMETERS; i++)
        if (parameters[i].of == q.mechanism)
            draw_parameter(random, &q, &parameters[i], odd);
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

/* Moved to an adjacency for which there is a theorem: most draws should be answered. */
static void choose_adjacency(sotto_question *q)
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

/* ---- what must hold -------------------------------------------------------------------------------- */

typedef struct chaos {
    sotto_test *t;
    sotto_sim_random random;
    uint64_t seed;
    sotto_accountant *tables;
    uint64_t answered, refused, pairs, lies;
} chaos;

static void show(const char *label, const sotto_question *q)
{
    (void)fprintf(stderr, "  %s: mechanism %d, %s, %s%s, dishonest %llu/%llu, delta %.17g\n", label,
                  (int)q->mechanism, sotto_adjacency_name(q->adjacency), sotto_trust_name(q->trust),
                  q->participation_is_hidden ? " hidden" : "",
                  (unsigned long long)q->dishonest.parts, (unsigned long long)q->dishonest.of,
                  q->delta);
    if (q->mechanism == SOTTO_MECHANISM_CHECK_IN)
        (void)fprintf(stderr, "    variant %d\n", (int)q->of.check_in.variant);
    for (size_t i = 0; i < PARAMETERS; i++)
        if (parameters[i].of == q->mechanism)
            (void)fprintf(stderr, "    %s %.17g\n", parameters[i].name, get(q, &parameters[i]));
}

/* Tells all of what is wrong; the test fails at the end, so that one run shows every kind. */
static void lie(chaos *c, const char *what, const sotto_question *a, const sotto_question *b,
                const sotto_answer *x, const sotto_answer *y)
{
    if (c->lies++ >= 40)
        return;
    (void)fprintf(stderr, "seed %llu: %s\n", (unsigned long long)c->seed, what);
    show("question", a);
    if (x != NULL)
        (void)fprintf(stderr, "    answer [%.17g, %.17g] %s\n", x->low, x->high, x->route);
    if (b != NULL)
        show("other", b);
    if (y != NULL)
        (void)fprintf(stderr, "    answer [%.17g, %.17g] %s\n", y->low, y->high, y->route);
}

static bool names_a_parameter(const char *reason)
{
    static const char *const words[] = {
        "adjacency", "trust",        "dishonest", "delta",       "mechanism",
        "clip",      "contribution", "sigma",     "releases",    "rate",
        "rounds",    "slots",        "window",    "sensitivity", "dimension",
        "cohort",    "epsilon",      "variant",   "probability", "these parameters",
    };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(reason, words[i]) != NULL)
            return true;
    return false;
}

/* Whether there is an answer; a refusal must be one, and an answer an enclosure. */
static bool settled(chaos *c, sotto_status status, const sotto_err *err, const sotto_question *q,
                    const sotto_answer *a)
{
    char text[256];

    if (status == SOTTO_OK) {
        c->answered++;
        if (!(a->low >= 0 && a->low <= a->high && a->high < INFINITY))
            lie(c, "no enclosure", q, NULL, a, NULL);
        if (a->theorem == NULL || a->theorem[0] == '\0' || a->route == NULL || a->route[0] == '\0')
            lie(c, "no theorem or route", q, NULL, a, NULL);
        return true;
    }
    c->refused++;
    if (status != SOTTO_MALFORMED && status != SOTTO_DENIED) {
        (void)snprintf(text, sizeof text, "status %d: %s", (int)status, err->reason);
        lie(c, text, q, NULL, NULL, NULL);
    } else if (!names_a_parameter(err->reason)) {
        (void)snprintf(text, sizeof text, "the refusal names no parameter: %s", err->reason);
        lie(c, text, q, NULL, NULL, NULL);
    }
    return false;
}

static bool ask(chaos *c, sotto_answer *a, const sotto_question *q)
{
    sotto_err err = {0};
    sotto_status status = sotto_privacy_epsilon(a, q, c->tables, &err);

    return settled(c, status, &err, q, a);
}

static bool ask_delta(chaos *c, sotto_answer *a, const sotto_question *q, double epsilon)
{
    sotto_err err = {0};
    sotto_status status = sotto_privacy_delta(a, q, epsilon, c->tables, &err);

    return settled(c, status, &err, q, a);
}

/* The second costs at most what the first does, in truth; so its low is not above the first's high. */
static void compare(chaos *c, const char *what, const sotto_question *dear, const sotto_answer *x,
                    const sotto_question *safe, const sotto_answer *y)
{
    c->pairs++;
    if (y->low > x->high)
        lie(c, what, dear, safe, x, y);
}

/* More noise, fewer rounds, a smaller rate, a larger delta. */
static void check_monotone(chaos *c, const sotto_question *q, const sotto_answer *a)
{
    sotto_question safe = *q;
    const parameter *p = any_parameter(&c->random, q->mechanism);
    sotto_answer b;
    char text[64];

    if (sotto_sim_random_chance(&c->random, 0.2)) {
        safe.delta = q->delta * log_uniform(&c->random, 1.0000001, 1e6);
        if (safe.delta < 1 && ask(c, &b, &safe))
            compare(c, "a larger delta costs more", q, a, &safe, &b);
        return;
    }
    /* Where the window's theorem asks for a probability, its mechanism has none that could be smaller. */
    if (p->safer == 0 || get(q, p) == 0 ||
        (strcmp(p->name, "probability") == 0 && q->of.check_in.variant != SOTTO_CHECK_IN_FIXED))
        return;
    double factor = sotto_sim_random_chance(&c->random, 0.5)
                        ? log_uniform(&c->random, 1 + 1e-9, 1.01)
                        : log_uniform(&c->random, 1.01, 100);
    double value = p->safer > 0 ? get(q, p) * factor : get(q, p) / factor;
    put(&safe, p, p->count ? (p->safer > 0 ? ceil(value) : floor(value)) : value);
    (void)snprintf(text, sizeof text, "safer %s costs more", p->name);
    if (ask(c, &b, &safe))
        compare(c, text, q, a, &safe, &b);
}

/* One server sees who takes part: the answer is the same as without amplification, or there is none. */
static void check_trust(chaos *c, const sotto_question *q, const sotto_answer *a)
{
    sotto_question seen = *q;
    sotto_answer b;
    bool plain = q->mechanism == SOTTO_MECHANISM_GAUSSIAN ||
                 q->mechanism == SOTTO_MECHANISM_COUNTED_GAUSSIAN ||
                 q->mechanism == SOTTO_MECHANISM_DISCRETE_GAUSSIAN ||
                 q->mechanism == SOTTO_MECHANISM_NOISE_SHARES ||
                 q->mechanism == SOTTO_MECHANISM_PURE;

    seen.trust = sotto_sim_random_chance(&c->random, 0.5) ? SOTTO_TRUST_FLAMINGO : SOTTO_TRUST_AERO;
    seen.participation_is_hidden = sotto_sim_random_chance(&c->random, 0.3);
    bool answered = ask(c, &b, &seen);
    if (answered && seen.participation_is_hidden)
        lie(c, "one server, and yet participation is hidden", &seen, NULL, &b, NULL);
    else if (answered && !plain)
        lie(c, "one server, and yet amplified", &seen, NULL, &b, NULL);
    else if (plain && !seen.participation_is_hidden && !answered)
        lie(c, "refused for its trust, though nothing is amplified", &seen, NULL, NULL, NULL);
    else if (answered && (a->low != b.low || a->high != b.high))
        lie(c, "trust changes the answer", q, &seen, a, &b);
}

/* delta of a discrete Gaussian, term by term: the sum of the positive parts of w(x) - e^eps w(x + d). */
static long double lattice_delta(double sigma, double d, double eps)
{
    long double norm = 0, sum = 0, v = 2 * (long double)sigma * sigma;

    for (long double x = -ceill(100 * (long double)sigma); x <= 100 * sigma; x++) {
        long double w = expl(-x * x / v), loss = (2 * x * d + (long double)d * d) / v;

        norm += w;
        if (loss > eps)
            sum += w * -expm1l(eps - loss);
    }
    return sum / norm;
}

static void check_lattice(chaos *c, const sotto_question *q, const sotto_answer *a)
{
    double sigma = q->of.discrete.sigma, d = (double)q->of.discrete.sensitivity;

    if (sigma > 100)
        return;
    if (lattice_delta(sigma, d, a->high) > q->delta * (1 + 1e-6L))
        lie(c, "certified, but the sum says that delta is larger", q, NULL, a, NULL);
    if (a->low > 0 && lattice_delta(sigma, d, a->low) < q->delta * (1 - 1e-6L))
        lie(c, "a lower bound, but the sum says that less is enough", q, NULL, a, NULL);
}

/* The same in other words. */
static void check_other_words(chaos *c, const sotto_question *q, const sotto_answer *a)
{
    sotto_question other = *q;
    sotto_answer b;

    switch (q->mechanism) {
    case SOTTO_MECHANISM_SAMPLED_GAUSSIAN: /* seen participation costs no less */
        other.mechanism = SOTTO_MECHANISM_COUNTED_GAUSSIAN;
        if (ask(c, &b, &other))
            compare(c, "hiding participation costs more", &other, &b, q, a);
        return;
    case SOTTO_MECHANISM_COUNTED_GAUSSIAN: /* in every round */
        other.mechanism = SOTTO_MECHANISM_GAUSSIAN;
        other.of.gaussian.contribution = q->of.sampled.contribution;
        other.of.gaussian.clip = q->of.sampled.clip;
        other.of.gaussian.sigma = q->of.sampled.sigma;
        other.of.gaussian.releases = q->of.sampled.rounds;
        if (!ask(c, &b, &other))
            return;
        compare(c, "some rounds cost more than all", &other, &b, q, a);
        if (q->of.sampled.rate == 1)
            compare(c, "all rounds cost more than all releases", q, a, &other, &b);
        return;
    case SOTTO_MECHANISM_ALLOCATED_GAUSSIAN: /* a slot that is known */
        other.mechanism = SOTTO_MECHANISM_GAUSSIAN;
        other.of.gaussian.contribution = q->of.allocated.contribution;
        other.of.gaussian.clip = q->of.allocated.clip;
        other.of.gaussian.sigma = q->of.allocated.sigma;
        other.of.gaussian.releases = 1;
        if (ask(c, &b, &other))
            compare(c, "a secret slot costs more", &other, &b, q, a);
        return;
    case SOTTO_MECHANISM_DISCRETE_GAUSSIAN:
        check_lattice(c, q, a);
        return;
    case SOTTO_MECHANISM_PURE:
        if (a->low > q->of.pure.epsilon * (double)q->of.pure.rounds * (1 + 1e-12))
            lie(c, "more than the sum of the epsilons", q, NULL, a, NULL);
        return;
    case SOTTO_MECHANISM_CHECK_IN:
        if (a->high > q->of.check_in.local_epsilon * (1 + 1e-12))
            lie(c, "more than the local epsilon", q, NULL, a, NULL);
        return;
    default:
        if (is_local(q) && a->low > 2 * q->of.local.local_epsilon * (1 + 1e-12))
            lie(c, "more than the local epsilon", q, NULL, a, NULL);
        return;
    }
}

/* Tables that were kept change nothing. */
static void check_tables(chaos *c, const sotto_question *q, const sotto_answer *a)
{
    sotto_err err = {0};
    sotto_answer b;

    if (sotto_privacy_epsilon(&b, q, NULL, &err) != SOTTO_OK || a->low != b.low ||
        a->high != b.high)
        lie(c, "kept tables change the answer", q, NULL, a, &b);
}

/* delta(epsilon) and epsilon(delta) are one curve. */
static void check_delta(chaos *c, const sotto_question *q, const sotto_answer *a)
{
    sotto_answer d;

    if (ask_delta(c, &d, q, a->high) && d.low > q->delta)
        lie(c, "delta at the certified epsilon is above delta", q, NULL, a, &d);
    if (a->optimal && a->low > 0 && ask_delta(c, &d, q, a->low * (1 - 1e-9)) && d.optimal &&
        d.high < q->delta * (1 - 1e-9))
        lie(c, "delta below the lower bound is certified", q, NULL, a, &d);
}

/* Two of the same cost no less than one, and two Gaussians what the Gaussian says of them. */
static void check_compose(chaos *c, const sotto_question *q, const sotto_answer *a)
{
    sotto_question two[2] = {*q, *q}, both = *q;
    sotto_answer b, d;
    sotto_err err = {0};
    sotto_status status = sotto_privacy_compose(&b, two, 2, &err);

    if (!settled(c, status, &err, q, &b))
        return;
    compare(c, "one costs more than two", q, &b, q, a);
    if (q->mechanism == SOTTO_MECHANISM_GAUSSIAN)
        both.of.gaussian.releases *= 2;
    else if (q->mechanism == SOTTO_MECHANISM_SAMPLED_GAUSSIAN)
        both.of.sampled.rounds *= 2;
    else
        return;
    if (!ask(c, &d, &both))
        return;
    compare(c, "twice as many cost more than two", q, &b, &both, &d);
    compare(c, "two cost more than twice as many", &both, &d, q, &b);
}

static void check_plan(chaos *c, const sotto_question *q, const sotto_answer *a)
{
    sotto_unknown unknown = (sotto_unknown)sotto_sim_random_below(&c->random, 7);
    double target = a->high * log_uniform(&c->random, 0.3, 3);
    sotto_err err = {0};
    sotto_plan plan;
    sotto_status status = sotto_privacy_plan(&plan, q, unknown, target, c->tables, &err);

    if (status != SOTTO_OK && strstr(err.reason, "unknown") != NULL)
        return;
    if (!settled(c, status, &err, q, &plan.answer))
        return;
    if (!(plan.answer.high <= target) || !(plan.value > 0) || !(plan.limit > 0))
        lie(c, "the plan misses its target", q, NULL, a, &plan.answer);
}

/* Of a question that was answered, one field made absurd: the refusal says which. */
static void check_refusal(chaos *c, const sotto_question *q)
{
    static const double absurd[] = {NAN, INFINITY, -INFINITY, -1, 5e-324, DBL_MAX};
    static const uint64_t counts[] = {0, UINT64_C(1000000000000000000), UINT64_MAX};
    const parameter *p = any_parameter(&c->random, q->mechanism);
    sotto_question bad = *q;
    sotto_answer a;
    sotto_err err = {0};
    char text[320];

    if (!q->participation_is_hidden && strcmp(p->name, "rate") == 0)
        return; /* any rate but 1 is refused for that first */
    if (q->mechanism == SOTTO_MECHANISM_CHECK_IN && strcmp(p->name, "cohort") == 0 &&
        q->of.check_in.variant != SOTTO_CHECK_IN_AVERAGED)
        put_count(&bad, p, 1);
    else if (p->count)
        put_count(&bad, p, counts[sotto_sim_random_below(&c->random, 3)]);
    else
        put_real(&bad, p, absurd[sotto_sim_random_below(&c->random, 6)]);
    sotto_status status = sotto_privacy_epsilon(&a, &bad, c->tables, &err);
    if (status == SOTTO_OK)
        lie(c, "an absurd parameter is answered", &bad, NULL, &a, NULL);
    else if (strstr(err.reason, p->name) == NULL) {
        (void)snprintf(text, sizeof text, "%s is absurd, but the refusal says: %s", p->name,
                       err.reason);
        lie(c, text, &bad, NULL, NULL, NULL);
    }
}

static bool has_delta(const sotto_question *q)
{
    return q->mechanism == SOTTO_MECHANISM_GAUSSIAN ||
           q->mechanism == SOTTO_MECHANISM_SAMPLED_GAUSSIAN ||
           q->mechanism == SOTTO_MECHANISM_DISCRETE_GAUSSIAN ||
           q->mechanism == SOTTO_MECHANISM_DONATION;
}

static void run_question(chaos *c, uint64_t seed)
{
    sotto_question q;
    sotto_answer a;

    c->seed = seed;
    sotto_sim_random_init(&c->random, seed);
    q = draw(&c->random, sotto_sim_random_chance(&c->random, 0.4) ? 0.1 : 0);
    if (sotto_sim_random_chance(&c->random, 0.95))
        choose_adjacency(&q);
    if (!ask(c, &a, &q))
        return;
    check_refusal(c, &q);
    switch (sotto_sim_random_below(&c->random, 16)) {
    case 0:
        check_trust(c, &q, &a);
        return;
    case 1:
        check_other_words(c, &q, &a);
        return;
    case 2:
        check_tables(c, &q, &a);
        return;
    case 3: /* by search it is a hundred questions */
        if (has_delta(&q) || sotto_sim_random_chance(&c->random, 0.02))
            check_delta(c, &q, &a);
        return;
    case 4:
        check_compose(c, &q, &a);
        return;
    case 5:
        if (sotto_sim_random_chance(&c->random, 0.2))
            check_plan(c, &q, &a);
        return;
    default:
        check_monotone(c, &q, &a);
        return;
    }
}

static void no_question_is_answered_wrongly(sotto_test *t)
{
    uint64_t rounds = setting("SOTTO_CHAOS_QUESTIONS", setting("SOTTO_CHAOS_ROUNDS", 1000));
    uint64_t seed = setting("SOTTO_CHAOS_SEED", 1);
    chaos c = {.t = t};

    CHECK_OK(t, sotto_accountant_new(&c.tables, &t->err));
    for (uint64_t i = 0; i < rounds; i++)
        run_question(&c, seed + i);
    sotto_accountant_free(c.tables);
    (void)printf("%llu questions from seed %llu: %llu answers, %llu refusals, %llu pairs\n",
                 (unsigned long long)rounds, (unsigned long long)seed,
                 (unsigned long long)c.answered, (unsigned long long)c.refused,
                 (unsigned long long)c.pairs);
    CHECK_EQUAL(t, 0, c.lies);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {CASE(no_question_is_answered_wrongly)};

    return RUN_TESTS(argc, argv, cases);
}
