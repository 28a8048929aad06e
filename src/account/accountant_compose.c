/* Several mechanisms on the same people: one claim, if they have one. */
#include "account/accountant.h"

#include "account/numeric/parameter.h"

static sotto_status check_common(const sotto_question *questions, size_t count, sotto_err *err)
{
    const sotto_question *first = &questions[0];

    for (size_t i = 1; i < count; i++) {
        const sotto_question *q = &questions[i];

        if (q->trust != first->trust)
            return sotto_fail(err, SOTTO_DENIED, "trust: %s and %s have no common claim",
                              sotto_trust_name(first->trust), sotto_trust_name(q->trust));
        if (q->adjacency != first->adjacency)
            return sotto_fail(err, SOTTO_DENIED, "adjacency: %s and %s have no common claim",
                              sotto_adjacency_name(first->adjacency),
                              sotto_adjacency_name(q->adjacency));
        if (q->dishonest.parts != first->dishonest.parts || q->dishonest.of != first->dishonest.of)
            return sotto_fail(err, SOTTO_DENIED,
                              "dishonest: questions of one composition must assume the same share");
    }
    return SOTTO_OK;
}

static bool is_gaussian(const sotto_question *q)
{
    return q->mechanism == SOTTO_MECHANISM_GAUSSIAN ||
           q->mechanism == SOTTO_MECHANISM_SAMPLED_GAUSSIAN;
}

/* A Gaussian release is a sampled one of rate 1. */
static sotto_status open_part(sotto_sgm_part *part, const sotto_question *q, sotto_err *err)
{
    bool sampled = q->mechanism == SOTTO_MECHANISM_SAMPLED_GAUSSIAN;
    double sigma = 0;
    sotto_case checked;

    SOTTO_TRY(sotto_case_open(&checked, sotto_mechanism_find(q->mechanism), q, err));
    SOTTO_TRY(sotto_noise_multiplier(
        &sigma, sampled ? q->of.sampled.contribution : q->of.gaussian.contribution,
        sampled ? q->of.sampled.clip : q->of.gaussian.clip,
        sampled ? q->of.sampled.sigma : q->of.gaussian.sigma, q->adjacency, err));
    part->rounds = sampled ? q->of.sampled.rounds : q->of.gaussian.releases;
    return sotto_sgm_new(&part->mechanism, sampled ? q->of.sampled.rate : 1, sigma, err);
}

static sotto_status compose_gaussians(sotto_answer *out, const sotto_question *questions,
                                      size_t count, double log_delta, sotto_err *err)
{
    sotto_sgm_part parts[SOTTO_SGM_MOST_PARTS] = {{0}};
    sotto_sgm_answer found = {0};
    sotto_status status = SOTTO_OK;

    for (size_t i = 0; i < count && status == SOTTO_OK; i++)
        status = open_part(&parts[i], &questions[i], err);
    if (status == SOTTO_OK)
        status = sotto_sgm_epsilon(&found, parts, count, log_delta, SOTTO_EITHER, err);
    for (size_t i = 0; i < count; i++)
        sotto_sgm_free(parts[i].mechanism);
    SOTTO_TRY(status);
    return sotto_answer_set(out, found.value, true,
                            "Gaussians, sampled or not, composed optimally in a fixed order",
                            found.route);
}

/* Epsilons add up, deltas too (Dwork and Lei 2009): each question gets its part of delta. */
static sotto_status compose_basic(sotto_answer *out, const sotto_question *questions, size_t count,
                                  sotto_err *err)
{
    double delta = sotto_round_down(questions[0].delta / (double)count, 1), high = 0;

    for (size_t i = 0; i < count; i++) {
        sotto_question q = questions[i];
        sotto_answer one;

        q.delta = delta;
        SOTTO_TRY(sotto_privacy_epsilon(&one, &q, NULL, err));
        high = i == 0 ? one.high : sotto_round_up(high + one.high, 1);
        if (one.honest > 0 && (out->honest == 0 || one.honest < out->honest))
            out->honest = one.honest;
    }
    return sotto_answer_set(out, (sotto_bound){0, high}, false,
                            "basic composition: epsilons and deltas add up",
                            "each part by its own theorem at an equal part of delta");
}

/* A part's own theorem may claim more than the sum does, where the sum's theorem is the tighter one. The claim for all
 * parts is kept at least as large as that of each part, so that answers do not contradict each other. */
static sotto_status keep_above_parts(sotto_answer *out, const sotto_question *questions,
                                     size_t count, sotto_err *err)
{
    for (size_t i = 0; i < count; i++) {
        sotto_question q = questions[i];
        sotto_answer one;

        q.delta = questions[0].delta;
        SOTTO_TRY(sotto_privacy_epsilon(&one, &q, NULL, err));
        out->high = one.low > out->high ? one.low : out->high;
    }
    return SOTTO_OK;
}

sotto_status sotto_privacy_compose(sotto_answer *out, const sotto_question *questions, size_t count,
                                   sotto_err *err)
{
    sotto_err_clear(err);

    double log_delta = 0;
    bool gaussians = true;

    if (count == 0)
        return sotto_fail(err, SOTTO_MALFORMED, "questions: at least one");
    if (count > SOTTO_SGM_MOST_PARTS)
        return sotto_fail(err, SOTTO_MALFORMED, "questions: at most %d", SOTTO_SGM_MOST_PARTS);
    SOTTO_TRY(check_common(questions, count, err));
    SOTTO_TRY(sotto_log_delta_of(&log_delta, questions[0].delta, err));
    if (count == 1)
        return sotto_privacy_epsilon(out, questions, NULL, err);
    for (size_t i = 0; i < count; i++)
        gaussians = gaussians && is_gaussian(&questions[i]);
    *out = (sotto_answer){.adjacency = questions[0].adjacency, .trust = questions[0].trust};
    if (gaussians) {
        SOTTO_TRY(compose_gaussians(out, questions, count, log_delta, err));
    } else {
        SOTTO_TRY(compose_basic(out, questions, count, err));
        SOTTO_TRY(sotto_compose_mixed(out, questions, count, err));
        SOTTO_TRY(keep_above_parts(out, questions, count, err));
    }
    return sotto_answer_check(out, err);
}
