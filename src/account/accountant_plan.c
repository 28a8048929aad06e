/* The other way round: which noise, cohort, rate, number of rounds or local epsilon keeps a promise.
 *
 * One search serves all: the accountant itself says whether a value is enough, so an inverse can't
 * disagree with the question that it inverts.
 */
#include "account/accountant.h"

#include "account/gauss/allocation.h"
#include "account/gauss/sgm_guess.h"
#include "account/numeric/parameter.h"

/* How near the value and the limit come, relative to the value; and the same where an evaluation is
 * expensive. */
static const double CLOSE = 1e-8, CLOSE_ENOUGH = 1e-6;

typedef struct range {
    double low;
    double high;
    bool whole;
    bool more_is_safer;
} range;

static sotto_status no_such(const char *what, const sotto_question *q, sotto_err *err)
{
    const sotto_mechanism_entry *entry = sotto_mechanism_find(q->mechanism);

    return sotto_fail(err, SOTTO_MALFORMED, "%s: %s has no such parameter", what,
                      entry != NULL ? entry->name : "the mechanism");
}

/* Where the unknown is kept. Counts are searched as doubles and written back whole. */
typedef struct slot {
    double *real;
    uint64_t *count;
} slot;

static slot sigma_of(sotto_question *q)
{
    switch (q->mechanism) {
    case SOTTO_MECHANISM_GAUSSIAN:
        return (slot){&q->of.gaussian.sigma, NULL};
    case SOTTO_MECHANISM_SAMPLED_GAUSSIAN:
    case SOTTO_MECHANISM_COUNTED_GAUSSIAN:
        return (slot){&q->of.sampled.sigma, NULL};
    case SOTTO_MECHANISM_ALLOCATED_GAUSSIAN:
        return (slot){&q->of.allocated.sigma, NULL};
    case SOTTO_MECHANISM_DISCRETE_GAUSSIAN:
        return (slot){&q->of.discrete.sigma, NULL};
    case SOTTO_MECHANISM_NOISE_SHARES:
        return (slot){&q->of.shares.sigma, NULL};
    case SOTTO_MECHANISM_LAPLACE:
        return (slot){&q->of.laplace.scale, NULL};
    case SOTTO_MECHANISM_GEOMETRIC:
        return (slot){&q->of.geometric.scale, NULL};
    default:
        return (slot){NULL, NULL};
    }
}

static bool is_local(const sotto_question *q)
{
    return q->mechanism == SOTTO_MECHANISM_SHUFFLED ||
           q->mechanism == SOTTO_MECHANISM_SYMMETRIC_ONE_HOT ||
           q->mechanism == SOTTO_MECHANISM_BINARY_RESPONSE;
}

static slot cohort_of(sotto_question *q)
{
    if (is_local(q))
        return (slot){NULL, &q->of.local.cohort};
    if (q->mechanism == SOTTO_MECHANISM_NOISE_SHARES)
        return (slot){NULL, &q->of.shares.cohort};
    if (q->mechanism == SOTTO_MECHANISM_CHECK_IN &&
        q->of.check_in.variant == SOTTO_CHECK_IN_AVERAGED)
        return (slot){NULL, &q->of.check_in.cohort};
    return (slot){NULL, NULL};
}

static slot rate_of(sotto_question *q)
{
    if (is_local(q))
        return (slot){&q->of.local.rate, NULL};
    if (q->mechanism == SOTTO_MECHANISM_SAMPLED_GAUSSIAN ||
        q->mechanism == SOTTO_MECHANISM_COUNTED_GAUSSIAN)
        return (slot){&q->of.sampled.rate, NULL};
    return (slot){NULL, NULL};
}

static slot rounds_of(sotto_question *q)
{
    if (q->mechanism == SOTTO_MECHANISM_GAUSSIAN)
        return (slot){NULL, &q->of.gaussian.releases};
    if (q->mechanism == SOTTO_MECHANISM_SAMPLED_GAUSSIAN ||
        q->mechanism == SOTTO_MECHANISM_COUNTED_GAUSSIAN)
        return (slot){NULL, &q->of.sampled.rounds};
    if (q->mechanism == SOTTO_MECHANISM_PURE)
        return (slot){NULL, &q->of.pure.rounds};
    if (q->mechanism == SOTTO_MECHANISM_LAPLACE)
        return (slot){NULL, &q->of.laplace.releases};
    if (q->mechanism == SOTTO_MECHANISM_GEOMETRIC)
        return (slot){NULL, &q->of.geometric.releases};
    return (slot){NULL, NULL};
}

static slot local_epsilon_of(sotto_question *q)
{
    if (is_local(q))
        return (slot){&q->of.local.local_epsilon, NULL};
    if (q->mechanism == SOTTO_MECHANISM_CHECK_IN)
        return (slot){&q->of.check_in.local_epsilon, NULL};
    if (q->mechanism == SOTTO_MECHANISM_PURE)
        return (slot){&q->of.pure.epsilon, NULL};
    return (slot){NULL, NULL};
}

static const struct unknown {
    sotto_unknown which;
    const char *name;
    slot (*find)(sotto_question *q);
    range range; /* sigma: times the distance one person makes */
} unknowns[] = {
    {SOTTO_FIND_SIGMA, "sigma", sigma_of, {0.1, 1e6, false, true}},
    {SOTTO_FIND_COHORT, "cohort", cohort_of, {2, 1e12, true, true}},
    {SOTTO_FIND_RATE, "rate", rate_of, {1e-9, 1, false, false}},
    {SOTTO_FIND_ROUNDS, "rounds", rounds_of, {1, 1e9, true, false}},
    {SOTTO_FIND_LOCAL_EPSILON, "local epsilon", local_epsilon_of, {1e-6, 12, false, false}},
};

/* 1 where the question does not say: it will be refused for that. */
static double distance_of(const sotto_question *q)
{
    double distance = 1;
    bool alone = q->mechanism == SOTTO_MECHANISM_GAUSSIAN,
         allocated = q->mechanism == SOTTO_MECHANISM_ALLOCATED_GAUSSIAN;

    if (sotto_contribution_distance(&distance,
                                    alone       ? q->of.gaussian.contribution
                                    : allocated ? q->of.allocated.contribution
                                                : q->of.sampled.contribution,
                                    alone       ? q->of.gaussian.clip
                                    : allocated ? q->of.allocated.clip
                                                : q->of.sampled.clip,
                                    q->adjacency, NULL) != SOTTO_OK)
        return 1;
    return distance;
}

/* Integer noise starts at half a grid unit for shares, and its sums are feasible up to 2048. */
static range range_of(const struct unknown *u, const sotto_question *q)
{
    range r = u->range;

    if (u->which != SOTTO_FIND_SIGMA)
        return r;
    if (q->mechanism == SOTTO_MECHANISM_NOISE_SHARES)
        return (range){0.5, 1e6, false, true};
    if (q->mechanism == SOTTO_MECHANISM_DISCRETE_GAUSSIAN) {
        double least = (double)q->of.discrete.sensitivity / 1000;
        return (range){least > 0.05 ? least : 0.05, 2048, false, true};
    }
    if (q->mechanism == SOTTO_MECHANISM_LAPLACE || q->mechanism == SOTTO_MECHANISM_GEOMETRIC) {
        double moved = 1;
        if (sotto_laplace_distance(&moved, q, NULL) != SOTTO_OK)
            moved = 1;
        return (range){sotto_round_up(moved / 100, 4), moved * 1e6, false, true};
    }
    double distance = distance_of(q);
    /* No more noise than its evaluation accepts; at the lower end not less, by a rounding. */
    if (q->mechanism == SOTTO_MECHANISM_ALLOCATED_GAUSSIAN)
        return (range){distance == 1 ? r.low : sotto_round_up(r.low * distance, 4), 1e3 * distance,
                       false, true};
    return (range){r.low * distance, r.high * distance, false, true};
}

typedef struct search {
    sotto_question question;
    slot at;
    double target;
    sotto_accountant *tables;
    sotto_answer answer; /* to the last value that would do */
    sotto_err *err;
} search;

static void put(search *s, double x)
{
    if (s->at.real != NULL)
        *s->at.real = x;
    else
        *s->at.count = (uint64_t)x;
}

/* How far above the target a value leads, as a logarithm: at most 0 will do. NAN: refused, so it is not enough.
 * Out of memory is an error. */
static sotto_status excess_at(double *out, search *s, double x, sotto_err *err)
{
    sotto_answer answer;
    sotto_err here = {0};

    put(s, x);
    sotto_status status = sotto_privacy_epsilon(&answer, &s->question, s->tables, &here);
    if (status == SOTTO_NO_MEMORY || status == SOTTO_BUG)
        return sotto_fail(err, status, "%s", here.reason);
    *out = status == SOTTO_OK ? log(answer.high / s->target) : (double)NAN;
    if (status == SOTTO_OK && answer.high <= s->target) {
        *out = fmax(fmin(*out, 0), -50);
        s->answer = answer;
    } else if (status == SOTTO_OK) {
        *out = fmax(*out, 1e-300);
    }
    return SOTTO_OK;
}

typedef struct end {
    double x;
    double excess;
} end;

/* Where a straight line through the two latest values (of logarithms) meets the target. */
static double next_guess(const end *a, const end *b)
{
    double slope = (log(a->x) - log(b->x)) / (a->excess - b->excess);

    return exp(log(a->x) - a->excess * slope);
}

static double closeness(const search *s)
{
    return s->question.mechanism == SOTTO_MECHANISM_ALLOCATED_GAUSSIAN ? CLOSE_ENOUGH : CLOSE;
}

/* Between a value that will do and one that won't. The guess is moved to the side that was not hit last, further each
 * time it is missed again, so that the bracket closes from both sides. A guess outside the bracket is replaced by its
 * middle. */
static sotto_status narrow(search *s, const range *r, end *good, end *bad, sotto_err *err)
{
    end last = *bad, before = *good;
    double close = closeness(s);
    double shift = close / 4;
    bool hit_good = false;

    for (int i = 0; i < 120; i++) {
        double low = fmin(good->x, bad->x), high = fmax(good->x, bad->x);
        double towards = hit_good != r->more_is_safer ? 1 : -1;
        double x = next_guess(&last, &before);

        if (high - low <= (r->whole ? 1 : close * good->x))
            break;
        x += towards * fmax(shift * x, r->whole ? 0.5 : 0);
        if (!(x > low && x < high))
            x = sqrt(low) * sqrt(high);
        if (r->whole)
            x = fmin(fmax(nearbyint(x), low + 1), high - 1);
        before = last;
        last.x = x;
        SOTTO_TRY(excess_at(&last.excess, s, x, err));
        shift = (last.excess <= 0) == hit_good ? 8 * shift : close / 4;
        hit_good = last.excess <= 0;
        *(hit_good ? good : bad) = last;
    }
    return SOTTO_OK;
}

/* Where no better guess closed in. Of a sampled Gaussian, near where the answer lies: far from it an evaluation can be
 * expensive. */
static double first_guess(const search *s, const range *r)
{
    const sotto_question *q = &s->question;
    double middle = sqrt(r->low) * sqrt(r->high);

    if (q->mechanism != SOTTO_MECHANISM_SAMPLED_GAUSSIAN || s->at.real != &q->of.sampled.sigma)
        return r->whole ? floor(middle) : middle;
    double spread = q->of.sampled.rate * sqrt((double)q->of.sampled.rounds);
    double sigma = sqrt(-2 * log(q->delta)) * spread / s->target;
    return fmin(fmax(sigma * distance_of(q), 5 * r->low), middle);
}

/* From a guess outwards in growing steps, until both ends are known or the range is at its end. */
static sotto_status bracket(search *s, const range *r, end *good, end *bad, sotto_err *err)
{
    double factor = 2, x = first_guess(s, r);
    bool has_good = false, has_bad = false;

    for (int i = 0; i < 40 && !(has_good && has_bad); i++) {
        end here = {x, 0};

        SOTTO_TRY(excess_at(&here.excess, s, x, err));
        bool ok = here.excess <= 0;
        *(ok ? good : bad) = here;
        *(ok ? &has_good : &has_bad) = true;
        bool upwards = ok != r->more_is_safer;
        if (x == (upwards ? r->high : r->low))
            break;
        x = upwards ? fmin(x * factor, r->high) : fmax(x / factor, r->low);
        x = r->whole ? floor(x) : x;
        factor *= factor;
    }
    good->excess = has_good ? good->excess : (double)NAN;
    bad->x = has_bad ? bad->x : good->x;
    return SOTTO_OK;
}

/* ---- noise of samples and of random allocations ------------------------------------------------------ */

/* Where rough answers, which cost less, are what is wanted; *slope: of the logarithm of epsilon over that of sigma. */
static double approach_allocated(const search *s, double *slope)
{
    const sotto_question *q = &s->question;
    double slots = (double)q->of.allocated.slots, log_delta = log(q->delta);
    double last = 0, last_f = 0;
    double at = log(sotto_allocation_sigma_guess(s->target, slots, log_delta));
    double beside = log(sotto_allocation_sigma_guess(1.02 * s->target, slots, log_delta));

    *slope = log(1.02) / (beside - at);
    if (!(*slope < -0.2 && *slope > -1e3))
        *slope = -2;
    for (int i = 0; i < 6; i++) {
        double f = log(sotto_allocation_rough(s->target, exp(at), slots, log_delta) / s->target);
        double chord = (f - last_f) / (at - last);

        if (!isfinite(f))
            break;
        if (i > 0 && chord < *slope / 3 && chord > *slope * 3)
            *slope = chord;
        last = at;
        at -= fmin(fmax(f / *slope, -0.3), 0.3);
        if (fabs(f) < -1e-5 * *slope || (i > 0 && fabs(f * last_f) < 3e-7))
            break;
        last_f = f;
    }
    return exp(at);
}

static double approach(const search *s, const range *r, double *slope)
{
    const sotto_question *q = &s->question;
    double sigma = q->mechanism == SOTTO_MECHANISM_ALLOCATED_GAUSSIAN
                       ? approach_allocated(s, slope)
                       : sotto_sgm_sigma_guess(slope, q->of.sampled.rate, q->of.sampled.rounds,
                                               s->target, log(q->delta));

    if (isnan(sigma))
        return sigma;
    return fmin(fmax(sigma * distance_of(q), r->low), r->high);
}

/* Between two values: just on the far side of where the answer may leap, or the middle. */
static double parting(const search *s, double low, double high)
{
    double distance = distance_of(&s->question), middle = sqrt(low) * sqrt(high);

    if (s->question.mechanism != SOTTO_MECHANISM_ALLOCATED_GAUSSIAN)
        return middle;
    double leap = sotto_allocation_leap(middle / distance) * distance;
    double above = leap * (1 + 0.4 * CLOSE_ENOUGH), below = leap * (1 - 0.4 * CLOSE_ENOUGH);

    if (above > low && above < high)
        return above;
    return below > low && below < high ? below : middle;
}

/* How near the two ends need come. Where an answer's own two sides are further apart, closer is an accident. */
static double worth_it(const search *s, double close, double slope)
{
    double gap = log(s->answer.high / s->answer.low);

    return fmax(close, fmin(4e-3 * gap / -slope, CLOSE_ENOUGH));
}

/* From there, certified: a little inside, then a little outside, and where the answer leaps, as it does where another way to it
 * becomes the better, by halves. False where that did not close in on the answer, as at an end of the range; what was found is
 * in good and bad. */
static sotto_status settle(bool *settled, search *s, const range *r, end *good, end *bad,
                           sotto_err *err)
{
    const double close = closeness(s);
    double slope, x = approach(s, r, &slope) * (1 + 0.35 * close);
    bool has_good = false, has_bad = false;
    end last = {0, 0};

    *settled = false;
    for (int i = 0; i < 30 && x >= r->low && x <= r->high; i++) {
        end here = {x, 0};

        SOTTO_TRY(excess_at(&here.excess, s, x, err));
        if (isnan(here.excess))
            break;
        bool ok = here.excess <= 0;
        *(ok ? good : bad) = here;
        *(ok ? &has_good : &has_bad) = true;
        *settled = has_good && has_bad && good->x - bad->x <= worth_it(s, close, slope) * good->x;
        if (*settled)
            break;
        double chord = (here.excess - last.excess) / log(x / last.x);

        if (i > 0 && fabs(log(x / last.x)) > close && chord < slope / 2 && chord > slope * 2)
            slope = chord;
        double off = fmin(fmax(here.excess / slope, -0.3), 0.3);
        bool near = fabs(off) < 0.7 * close;

        bool leaps = i > 0 && !near && fabs(here.excess) > 0.3 * fabs(last.excess);

        last = here;
        x *= exp(-off) * (1 + (near && ok ? -0.25 : 0.25) * close);
        if (has_good && has_bad && (leaps || !(x > bad->x && x < good->x)))
            x = parting(s, bad->x, good->x);
    }
    return SOTTO_OK;
}

/* Whether there is a cheap and good guess to start from. */
static bool is_guessed(const search *s)
{
    const sotto_question *q = &s->question;
    bool allocated =
        q->mechanism == SOTTO_MECHANISM_ALLOCATED_GAUSSIAN && s->at.real == &q->of.allocated.sigma;
    bool sampled =
        q->mechanism == SOTTO_MECHANISM_SAMPLED_GAUSSIAN && s->at.real == &q->of.sampled.sigma;

    return (allocated || sampled) && q->delta > 0 && q->delta < 1;
}

static sotto_status find(sotto_plan *out, search *s, const range *r, const char *name,
                         sotto_err *err)
{
    end safe = {0, 0}, best = {0, 0};
    bool settled = false;

    if (is_guessed(s))
        SOTTO_TRY(settle(&settled, s, r, &safe, &best, err));
    if (settled) {
        *out = (sotto_plan){.value = safe.x, .limit = best.x, .answer = s->answer};
        return SOTTO_OK;
    }
    SOTTO_TRY(bracket(s, r, &safe, &best, err));
    if (!(safe.excess <= 0)) {
        sotto_answer answer;

        /* The question's own mistakes are reported first: it would be refused with any value. */
        put(s, best.x);
        SOTTO_TRY(sotto_privacy_epsilon(&answer, &s->question, s->tables, err));
        return sotto_fail(err, SOTTO_DENIED, "%s: even %.6g gives epsilon %.6g, above %.6g", name,
                          best.x, answer.high, s->target);
    }
    SOTTO_TRY(narrow(s, r, &safe, &best, err));
    *out = (sotto_plan){.value = safe.x, .limit = best.x, .answer = s->answer};
    return SOTTO_OK;
}

sotto_status sotto_privacy_plan(sotto_plan *out, const sotto_question *question,
                                sotto_unknown unknown, double epsilon, sotto_accountant *accountant,
                                sotto_err *err)
{
    sotto_err_clear(err);

    search s = {.question = *question, .target = epsilon, .tables = accountant};
    const struct unknown *u = NULL;

    for (size_t i = 0; i < sizeof unknowns / sizeof unknowns[0]; i++)
        if (unknowns[i].which == unknown)
            u = &unknowns[i];
    if (u == NULL)
        return sotto_fail(err, SOTTO_MALFORMED, "unknown must be stated");
    SOTTO_TRY(sotto_check_range("epsilon", epsilon, 1e-9, 1e6, err));
    s.at = u->find(&s.question);
    if (s.at.real == NULL && s.at.count == NULL)
        return no_such(u->name, question, err);
    range r = range_of(u, question);
    return find(out, &s, &r, u->name, err);
}
