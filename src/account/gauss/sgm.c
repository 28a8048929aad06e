#include "account/gauss/sgm.h"

#include "account/gauss/sgm_method.h"
#include "base/alloc.h"

#define LEAST_RATE 1e-9
/* 0.1 as one who rounds noise down reads it. */
#define LEAST_SIGMA     0x1.9999999999999p-4
#define MOST_SIGMA      1e6
#define LEAST_LOG_DELTA (-690.8)
#define MOST_EPS        1e12

static sotto_status check_rate(double rate, sotto_err *err)
{
    if (!(rate >= LEAST_RATE && rate <= 1))
        return sotto_fail(err, SOTTO_MALFORMED, "rate: %g is not in 1e-9..1", rate);
    return SOTTO_OK;
}

static sotto_status check_sigma(double sigma, sotto_err *err)
{
    if (!(sigma >= LEAST_SIGMA && sigma <= MOST_SIGMA))
        return sotto_fail(err, SOTTO_MALFORMED, "sigma: %g is not in 0.1..1e6", sigma);
    return SOTTO_OK;
}

static sotto_status check_rounds(uint64_t rounds, sotto_err *err)
{
    if (rounds < 1 || rounds > SOTTO_SGM_MOST_ROUNDS)
        return sotto_fail(err, SOTTO_MALFORMED, "rounds: %llu is not in 1..10^12",
                          (unsigned long long)rounds);
    return SOTTO_OK;
}

static sotto_status check_log_delta(double log_delta, sotto_err *err)
{
    if (!(log_delta >= LEAST_LOG_DELTA && log_delta < 0))
        return sotto_fail(err, SOTTO_MALFORMED, "delta: exp(%g) is not in [1e-300, 1)", log_delta);
    return SOTTO_OK;
}

static sotto_status check_eps(double eps, sotto_err *err)
{
    if (!(eps >= 0 && eps <= MOST_EPS))
        return sotto_fail(err, SOTTO_MALFORMED, "eps: %g is not in 0..1e12", eps);
    return SOTTO_OK;
}

static sotto_status check_parts(const sotto_sgm_part *parts, size_t count, sotto_err *err)
{
    if (count < 1 || count > SOTTO_SGM_MOST_PARTS)
        return sotto_fail(err, SOTTO_MALFORMED, "parts: %zu is not in 1..%d", count,
                          SOTTO_SGM_MOST_PARTS);
    for (size_t i = 0; i < count; i++)
        SOTTO_TRY(check_rounds(parts[i].rounds, err));
    return SOTTO_OK;
}

static sotto_status check_direction(sotto_direction direction, sotto_err *err)
{
    if (direction != SOTTO_REMOVE && direction != SOTTO_ADD && direction != SOTTO_EITHER)
        return sotto_fail(err, SOTTO_MALFORMED, "direction: %d is not remove, add or either",
                          (int)direction);
    return SOTTO_OK;
}

sotto_status sotto_sgm_new(sotto_sgm **out, double rate, double sigma, sotto_err *err)
{
    *out = NULL;
    SOTTO_TRY(check_rate(rate, err));
    SOTTO_TRY(check_sigma(sigma, err));
    sotto_sgm *m = sotto_alloc(sizeof *m);
    if (!m)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for a mechanism");
    m->rate = rate;
    m->sigma = sigma;
    m->terms = SOTTO_CONTOUR_TERMS;
    *out = m;
    return SOTTO_OK;
}

void sotto_sgm_free(sotto_sgm *m)
{
    if (!m)
        return;
    for (int add = 0; add < 2; add++)
        for (int i = 0; i < SOTTO_SGM_CUTS; i++)
            if (m->side[add][i].level != 0)
                sotto_sgm_side_clear(&m->side[add][i]);
    sotto_scratch_clear(&m->work);
    sotto_scratch_clear(&m->nodes);
    sotto_release(m, sizeof *m);
}

void sotto_sgm_inflate(sotto_sgm *m, sotto_contour_terms terms)
{
    m->terms = terms;
    for (int i = 0; i < SOTTO_SGM_MEMOS; i++)
        m->memo[i].known = false;
}

static void answer(sotto_sgm_answer *out, sotto_sgm_question *q, bool wants_eps, double given)
{
    if (wants_eps)
        sotto_sgm_method_epsilon(out, q, given);
    else
        sotto_sgm_method_log_delta(out, q, given);
}

/* The larger of the directions asked for. Once removal has an answer, addition is pursued only until it is
 * known to cost no more. */
static void ask_either(sotto_sgm_answer *out, bool wants_eps, const sotto_sgm_part *parts,
                       size_t count, double given, sotto_direction direction)
{
    sotto_sgm_question q = {.parts = parts, .count = count, .add = direction == SOTTO_ADD};

    q.enough = wants_eps ? 0 : -INFINITY;
    answer(out, &q, wants_eps, given);
    if (direction == SOTTO_EITHER) {
        sotto_sgm_answer other;
        q.add = true;
        q.enough = out->value.high;
        answer(&other, &q, wants_eps, given);
        if (other.value.high > out->value.high) {
            out->value.high = other.value.high;
            out->route = other.route;
        }
        out->value.low = fmax(out->value.low, fmin(other.value.low, out->value.high));
    }
}

static void ask(sotto_sgm_answer *out, bool wants_eps, const sotto_sgm_part *parts, size_t count,
                double given, sotto_direction direction)
{
    sotto_sgm *m = parts[0].mechanism;
    uint64_t rounds = parts[0].rounds;

    for (int i = 0; i < SOTTO_SGM_MEMOS && count == 1; i++) {
        const sotto_sgm_memo *old = &m->memo[i];
        if (old->known && old->direction == direction && old->wants_eps == wants_eps &&
            old->rounds == rounds && old->given == given) {
            *out = old->answer;
            return;
        }
    }
    ask_either(out, wants_eps, parts, count, given, direction);
    if (count == 1)
        m->memo[m->next_memo++ % SOTTO_SGM_MEMOS] =
            (sotto_sgm_memo){true, wants_eps, direction, rounds, given, *out};
}

sotto_status sotto_sgm_epsilon(sotto_sgm_answer *out, const sotto_sgm_part *parts, size_t count,
                               double log_delta, sotto_direction direction, sotto_err *err)
{
    SOTTO_TRY(check_parts(parts, count, err));
    SOTTO_TRY(check_log_delta(log_delta, err));
    SOTTO_TRY(check_direction(direction, err));
    ask(out, true, parts, count, log_delta, direction);
    return SOTTO_OK;
}

sotto_status sotto_sgm_log_delta(sotto_sgm_answer *out, const sotto_sgm_part *parts, size_t count,
                                 double eps, sotto_direction direction, sotto_err *err)
{
    SOTTO_TRY(check_parts(parts, count, err));
    SOTTO_TRY(check_eps(eps, err));
    SOTTO_TRY(check_direction(direction, err));
    ask(out, false, parts, count, eps, direction);
    return SOTTO_OK;
}

sotto_status sotto_sgm_renyi(sotto_bound *out, const sotto_sgm *m, double order,
                             sotto_direction direction, sotto_err *err)
{
    SOTTO_TRY(check_direction(direction, err));
    if (!(order > 1 && order <= 1e5))
        return sotto_fail(err, SOTTO_MALFORMED, "order: %g is not in (1, 1e5]", order);
    *out = (sotto_bound){0, 0};
    for (int add = 0; add < 2; add++) {
        if (direction != SOTTO_EITHER && add != (direction == SOTTO_ADD))
            continue;
        double error = 0, c = order - 1;
        sotto_sgm_law law = {.q = m->rate, .sigma = m->sigma, .add = add == 1};
        double value = sotto_sgm_whole_cumulant(&law, c, &error);
        if (!(value < INFINITY))
            return sotto_fail(err, SOTTO_MALFORMED, "order: %g is too large for sigma %g", order,
                              m->sigma);
        out->high = fmax(out->high, sotto_round_up((value + error) / c, 2));
        out->low = fmax(out->low, sotto_round_down((value - error) / c, 2));
    }
    return SOTTO_OK;
}
