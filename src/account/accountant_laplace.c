/* Questions about Laplace noise on a sum, and about its integer form, geometric noise. */
#include "account/accountant.h"

#include "account/local/compose_pure.h"
#include "account/local/laplace.h"
#include "account/numeric/parameter.h"

static bool is_whole(const sotto_question *q)
{
    return q->mechanism == SOTTO_MECHANISM_GEOMETRIC;
}

/* In the L1 norm a vector that is replaced moves by twice its own norm, one-hot vectors too. */
sotto_status sotto_laplace_distance(double *out, const sotto_question *q, sotto_err *err)
{
    double norm = 1;

    if (is_whole(q)) {
        *out = (double)q->of.geometric.sensitivity;
        return sotto_check_count("sensitivity", *out, 1, 1e9, err);
    }
    if (q->of.laplace.contribution != SOTTO_ONE_HOT_VECTOR)
        SOTTO_TRY(sotto_contribution_distance(&norm, q->of.laplace.contribution, q->of.laplace.clip,
                                              SOTTO_ADJACENCY_ADD_REMOVE, err));
    else if (q->of.laplace.clip != 0)
        return sotto_fail(err, SOTTO_MALFORMED, "clip: a one-hot vector has none; leave it at 0");
    *out = q->adjacency == SOTTO_ADJACENCY_REPLACEMENT ? 2 * norm : norm;
    return SOTTO_OK;
}

sotto_status sotto_laplace_part(sotto_binary_part *out, const sotto_question *q, sotto_err *err)
{
    double scale = is_whole(q) ? q->of.geometric.scale : q->of.laplace.scale, distance = 0;
    double releases = (double)(is_whole(q) ? q->of.geometric.releases : q->of.laplace.releases);

    SOTTO_TRY(sotto_laplace_distance(&distance, q, err));
    SOTTO_TRY(sotto_check_range("scale", scale, 1e-100, 1e100, err));
    SOTTO_TRY(sotto_check_count("releases", releases, 1, 1e9, err));
    *out = (sotto_binary_part){sotto_round_up(distance / scale, 1), releases,
                               is_whole(q) ? distance : SOTTO_LAPLACE_STEPS};
    if (!(out->eps >= 1e-9 && out->eps <= 100))
        return sotto_fail(err, SOTTO_MALFORMED,
                          "scale = %g: accepted is 0.01 to 1e9 times the distance %g that one "
                          "person makes",
                          scale, distance);
    return SOTTO_OK;
}

/* From below, by the largest loss alone: every release has it with probability 1/2, or 1/(1 + a), and then
 * delta >= p^count (1 - e^(e - count eps)). */
static double by_largest_loss(const sotto_binary_part *p, double log_delta)
{
    double each = isinf(p->steps) ? log(2.0) : log1p(exp(-p->eps / p->steps));
    double used = log_delta + p->count * each * (1 + 1e-12);

    return used < -1e-9 ? p->count * p->eps * (1 - 1e-12) + log1p(-exp(used)) * (1 + 1e-9) : 0;
}

static sotto_status laplace_epsilon(sotto_answer *out, const sotto_case *c, sotto_err *err)
{
    const bool whole = is_whole(c->question);
    const char *route = "closed form and a root";
    sotto_binary_part part;
    sotto_bound eps;

    SOTTO_TRY(sotto_laplace_part(&part, c->question, err));
    if (part.count == 1) {
        SOTTO_TRY(sotto_laplace_epsilon(&eps, part.eps, part.steps, c->log_delta, err));
    } else if (part.steps == 1) { /* two losses: randomized response */
        SOTTO_TRY(sotto_compose_optimal_epsilon(&eps, part.eps, part.count, c->log_delta, err));
        route = "binomial sum and a root";
    } else {
        SOTTO_TRY(sotto_compose_mixed_epsilon(&eps, &part, 1, 0, c->log_delta, err));
        eps.low = fmin(eps.high, fmax(eps.low, by_largest_loss(&part, c->log_delta)));
        route = "contour inversion";
    }
    return sotto_answer_set(out, eps, true,
                            whole ? "geometric mechanism (Ghosh et al. 2009), its exact privacy "
                                    "loss, composed optimally"
                                  : "Laplace mechanism (Dwork et al. 2006), its exact privacy "
                                    "loss, composed optimally",
                            route);
}

/* The largest loss is met: no less can be claimed. */
static sotto_status laplace_pure(sotto_answer *out, const sotto_case *c, sotto_err *err)
{
    sotto_binary_part part;

    SOTTO_TRY(sotto_laplace_part(&part, c->question, err));
    const double eps = part.eps * part.count;
    return sotto_answer_set(
        out, (sotto_bound){sotto_round_down(eps, 4), sotto_round_up(eps, 1)}, true,
        is_whole(c->question) ? "geometric mechanism (Ghosh et al. 2009), basic composition"
                              : "Laplace mechanism (Dwork et al. 2006), basic composition",
        "epsilons added up");
}

const sotto_mechanism_entry sotto_entry_laplace = {
    .mechanism = SOTTO_MECHANISM_LAPLACE,
    .name = "the Laplace mechanism",
    .adjacencies = SOTTO_ANY_ADJACENCY,
    .cover = SOTTO_COVER_NONE,
    .epsilon = laplace_epsilon,
    .pure = laplace_pure,
};

const sotto_mechanism_entry sotto_entry_geometric = {
    .mechanism = SOTTO_MECHANISM_GEOMETRIC,
    .name = "the geometric mechanism",
    .adjacencies = SOTTO_ANY_ADJACENCY,
    .cover = SOTTO_COVER_NONE,
    .epsilon = laplace_epsilon,
    .pure = laplace_pure,
};
