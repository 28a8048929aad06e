/* Random questions, sane and absurd: the accountant never crashes, never says NaN, and never contradicts itself.
 * SOTTO_CHAOS_QUESTIONS (or SOTTO_CHAOS_ROUNDS) and SOTTO_CHAOS_SEED choose how many and which, SOTTO_CHAOS_MECHANISM
 * the number of the only mechanism to ask about. Every question has a seed of its own, which a failure prints: that
 * seed and one round repeat it. */
#include "chaos_judge.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 10) : otherwise;
}

/* More noise, fewer rounds, a smaller rate, a larger delta. */
static void check_monotone(chaos *c, const sotto_question *q, const sotto_answer *a)
{
    sotto_question safe = *q;
    const chaos_parameter *p = chaos_any_parameter(&c->random, q->mechanism);
    sotto_answer b;
    char text[64];

    if (sotto_sim_random_chance(&c->random, 0.2)) {
        safe.delta = q->delta * chaos_log_uniform(&c->random, 1.0000001, 1e6);
        if (safe.delta < 1 && chaos_ask(c, &b, &safe))
            chaos_compare(c, "a larger delta costs more", q, a, &safe, &b);
        return;
    }
    /* Where the window's theorem asks for a probability, its mechanism has none that could be smaller. */
    if (p->safer == 0 || chaos_get(q, p) == 0 ||
        (strcmp(p->name, "probability") == 0 && q->of.check_in.variant != SOTTO_CHECK_IN_FIXED))
        return;
    double factor = sotto_sim_random_chance(&c->random, 0.5)
                        ? chaos_log_uniform(&c->random, 1 + 1e-9, 1.01)
                        : chaos_log_uniform(&c->random, 1.01, 100);
    double value = p->safer > 0 ? chaos_get(q, p) * factor : chaos_get(q, p) / factor;
    chaos_put(&safe, p, p->count ? (p->safer > 0 ? ceil(value) : floor(value)) : value);
    (void)snprintf(text, sizeof text, "safer %s costs more", p->name);
    if (chaos_ask(c, &b, &safe))
        chaos_compare(c, text, q, a, &safe, &b);
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
                 q->mechanism == SOTTO_MECHANISM_PURE || q->mechanism == SOTTO_MECHANISM_LAPLACE ||
                 q->mechanism == SOTTO_MECHANISM_GEOMETRIC;

    seen.trust = sotto_sim_random_chance(&c->random, 0.5) ? SOTTO_TRUST_FLAMINGO : SOTTO_TRUST_AERO;
    seen.participation_is_hidden = sotto_sim_random_chance(&c->random, 0.3);
    bool answered = chaos_ask(c, &b, &seen);
    if (answered && seen.participation_is_hidden)
        chaos_lie(c, "one server, and yet participation is hidden", &seen, NULL, &b, NULL);
    else if (answered && !plain)
        chaos_lie(c, "one server, and yet amplified", &seen, NULL, &b, NULL);
    else if (plain && !seen.participation_is_hidden && !answered)
        chaos_lie(c, "refused for its trust, though nothing is amplified", &seen, NULL, NULL, NULL);
    else if (answered && (a->low != b.low || a->high != b.high))
        chaos_lie(c, "trust changes the answer", q, &seen, a, &b);
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
        chaos_lie(c, "certified, but the sum says that delta is larger", q, NULL, a, NULL);
    if (a->low > 0 && lattice_delta(sigma, d, a->low) < q->delta * (1 - 1e-6L))
        chaos_lie(c, "a lower bound, but the sum says that less is enough", q, NULL, a, NULL);
}

/* Mean and variance of one round's loss, the record removed: sums over a fine grid. */
static void loss_of_a_round(double *mean, double *variance, double sigma, double rate)
{
    enum { POINTS = 4000 };
    double from = -12 * sigma, step = (1 + 24 * sigma) / POINTS, first = 0, second = 0;

    for (int i = 0; i <= POINTS; i++) {
        double x = from + i * step, grown = (2 * x - 1) / (2 * sigma * sigma) + log(rate);
        double stays = log1p(-rate), top = fmax(grown, stays);
        double loss = top + log(exp(grown - top) + exp(stays - top));
        double mass =
            step * exp(loss - x * x / (2 * sigma * sigma)) / (sigma * 2.50662827463100050242);

        first += mass * loss;
        second += mass * loss * loss;
    }
    *mean = first;
    *variance = second - first * first;
}

/* Of many rounds the loss is above its mean about half of the time, so less than that suffices for no delta below 0.4,
 * whatever the tails do. */
static void check_mean(chaos *c, const sotto_question *q, const sotto_answer *a)
{
    double clip = q->of.sampled.contribution == SOTTO_ONE_HOT_VECTOR ? 1 : q->of.sampled.clip;
    double sigma = q->of.sampled.sigma / clip, rounds = (double)q->of.sampled.rounds;
    double mean, variance;

    if (q->mechanism != SOTTO_MECHANISM_SAMPLED_GAUSSIAN || q->delta > 0.4 ||
        q->of.sampled.rate >= 1 || sigma < 0.005 || sigma > 100)
        return;
    loss_of_a_round(&mean, &variance, sigma, q->of.sampled.rate);
    if (rounds * variance > 1e4 && a->high < rounds * mean * (1 - 1e-6) - 1)
        chaos_lie(c, "certified, but the mean of all losses is larger", q, NULL, a, NULL);
}

/* The same in other words. */
static void check_other_words(chaos *c, const sotto_question *q, const sotto_answer *a)
{
    sotto_question other = *q;
    sotto_answer b;

    switch (q->mechanism) {
    case SOTTO_MECHANISM_SAMPLED_GAUSSIAN: /* seen participation costs no less */
        other.mechanism = SOTTO_MECHANISM_COUNTED_GAUSSIAN;
        if (chaos_ask(c, &b, &other))
            chaos_compare(c, "hiding participation costs more", &other, &b, q, a);
        return;
    case SOTTO_MECHANISM_COUNTED_GAUSSIAN: /* in every round */
        other.mechanism = SOTTO_MECHANISM_GAUSSIAN;
        other.of.gaussian.contribution = q->of.sampled.contribution;
        other.of.gaussian.clip = q->of.sampled.clip;
        other.of.gaussian.sigma = q->of.sampled.sigma;
        other.of.gaussian.releases = q->of.sampled.rounds;
        if (!chaos_ask(c, &b, &other))
            return;
        chaos_compare(c, "some rounds cost more than all", &other, &b, q, a);
        if (q->of.sampled.rate == 1)
            chaos_compare(c, "all rounds cost more than all releases", q, a, &other, &b);
        return;
    case SOTTO_MECHANISM_ALLOCATED_GAUSSIAN: /* a slot that is known */
        other.mechanism = SOTTO_MECHANISM_GAUSSIAN;
        other.of.gaussian.contribution = q->of.allocated.contribution;
        other.of.gaussian.clip = q->of.allocated.clip;
        other.of.gaussian.sigma = q->of.allocated.sigma;
        other.of.gaussian.releases = 1;
        if (chaos_ask(c, &b, &other))
            chaos_compare(c, "a secret slot costs more", &other, &b, q, a);
        return;
    case SOTTO_MECHANISM_DISCRETE_GAUSSIAN:
        check_lattice(c, q, a);
        return;
    case SOTTO_MECHANISM_PURE:
        if (a->low > q->of.pure.epsilon * (double)q->of.pure.rounds * (1 + 1e-12))
            chaos_lie(c, "more than the sum of the epsilons", q, NULL, a, NULL);
        return;
    case SOTTO_MECHANISM_CHECK_IN:
        if (a->high > q->of.check_in.local_epsilon * (1 + 1e-12))
            chaos_lie(c, "more than the local epsilon", q, NULL, a, NULL);
        return;
    default:
        if (chaos_is_local(q) && a->low > 2 * q->of.local.local_epsilon * (1 + 1e-12))
            chaos_lie(c, "more than the local epsilon", q, NULL, a, NULL);
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
        chaos_lie(c, "kept tables change the answer", q, NULL, a, &b);
}

/* delta(epsilon) and epsilon(delta) are one curve. */
static void check_delta(chaos *c, const sotto_question *q, const sotto_answer *a)
{
    sotto_answer d;

    if (chaos_ask_delta(c, &d, q, a->high) && d.low > q->delta)
        chaos_lie(c, "delta at the certified epsilon is above delta", q, NULL, a, &d);
    if (a->optimal && a->low > 0 && chaos_ask_delta(c, &d, q, a->low * (1 - 1e-9)) && d.optimal &&
        d.high < q->delta * (1 - 1e-9))
        chaos_lie(c, "delta below the lower bound is certified", q, NULL, a, &d);
}

/* Two of the same cost no less than one, and two Gaussians what the Gaussian says of them. */
static void check_compose(chaos *c, const sotto_question *q, const sotto_answer *a)
{
    sotto_question two[2] = {*q, *q}, both = *q;
    sotto_answer b, d;
    sotto_err err = {0};
    sotto_status status = sotto_privacy_compose(&b, two, 2, &err);

    if (!chaos_settled(c, status, &err, q, &b))
        return;
    chaos_compare(c, "one costs more than two", q, &b, q, a);
    if (q->mechanism == SOTTO_MECHANISM_GAUSSIAN)
        both.of.gaussian.releases *= 2;
    else if (q->mechanism == SOTTO_MECHANISM_SAMPLED_GAUSSIAN)
        both.of.sampled.rounds *= 2;
    else
        return;
    if (!chaos_ask(c, &d, &both))
        return;
    chaos_compare(c, "twice as many cost more than two", q, &b, &both, &d);
    chaos_compare(c, "two cost more than twice as many", &both, &d, q, &b);
}

static void check_plan(chaos *c, const sotto_question *q, const sotto_answer *a)
{
    sotto_unknown unknown = (sotto_unknown)sotto_sim_random_below(&c->random, 7);
    double target = a->high * chaos_log_uniform(&c->random, 0.3, 3);
    sotto_err err = {0};
    sotto_plan plan;
    sotto_status status = sotto_privacy_plan(&plan, q, unknown, target, c->tables, &err);

    if (status != SOTTO_OK && strstr(err.reason, "unknown") != NULL)
        return;
    if (!chaos_settled(c, status, &err, q, &plan.answer))
        return;
    if (!(plan.answer.high <= target) || !(plan.value > 0) || !(plan.limit > 0))
        chaos_lie(c, "the plan misses its target", q, NULL, a, &plan.answer);
}

/* Of a question that was answered, one field made absurd: the refusal says which. */
static void check_refusal(chaos *c, const sotto_question *q)
{
    static const double absurd[] = {NAN, INFINITY, -INFINITY, -1, 5e-324, DBL_MAX};
    static const uint64_t counts[] = {0, UINT64_C(1000000000000000000), UINT64_MAX};
    const chaos_parameter *p = chaos_any_parameter(&c->random, q->mechanism);
    sotto_question bad = *q;
    sotto_answer a;
    sotto_err err = {0};
    char text[320];

    if (!q->participation_is_hidden && strcmp(p->name, "rate") == 0)
        return; /* any rate but 1 is refused for that first */
    if (q->mechanism == SOTTO_MECHANISM_CHECK_IN && strcmp(p->name, "cohort") == 0 &&
        q->of.check_in.variant != SOTTO_CHECK_IN_AVERAGED)
        chaos_put_count(&bad, p, 1);
    else if (p->count)
        chaos_put_count(&bad, p, counts[sotto_sim_random_below(&c->random, 3)]);
    else
        chaos_put_real(&bad, p, absurd[sotto_sim_random_below(&c->random, 6)]);
    sotto_status status = sotto_privacy_epsilon(&a, &bad, c->tables, &err);
    if (status == SOTTO_OK)
        chaos_lie(c, "an absurd parameter is answered", &bad, NULL, &a, NULL);
    else if (strstr(err.reason, p->name) == NULL) {
        (void)snprintf(text, sizeof text, "%s is absurd, but the refusal says: %s", p->name,
                       err.reason);
        chaos_lie(c, text, &bad, NULL, NULL, NULL);
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
    q = chaos_draw(&c->random, sotto_sim_random_chance(&c->random, 0.4) ? 0.1 : 0, c->only);
    if (sotto_sim_random_chance(&c->random, 0.95))
        chaos_choose_adjacency(&q);
    if (!chaos_ask(c, &a, &q))
        return;
    check_refusal(c, &q);
    check_mean(c, &q, &a);
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
    chaos c = {.t = t, .only = (sotto_mechanism)setting("SOTTO_CHAOS_MECHANISM", 0)};

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
