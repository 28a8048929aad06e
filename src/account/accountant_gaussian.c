/* Questions about Gaussian noise: on a sum, on secret samples, on seen samples, on integers, in shares. */
#include "account/accountant.h"

#include "account/gauss/allocation.h"
#include "account/gauss/discrete_gaussian.h"
#include "account/gauss/gaussian.h"
#include "account/gauss/rdp.h"
#include "account/numeric/parameter.h"

/* ---- every release seen -------------------------------------------------------------------------- */

static const char GAUSSIAN_THEOREM[] =
    "analytic Gaussian mechanism (Balle and Wang 2018, theorem 8), releases as one of less noise";

static sotto_status gaussian_distance(double *out, const sotto_question *q, sotto_err *err)
{
    /* A double holds every count up to here. */
    SOTTO_TRY(sotto_check_count("releases", (double)q->of.gaussian.releases, 1, 1e12, err));
    return sotto_contribution_distance(out, q->of.gaussian.contribution, q->of.gaussian.clip,
                                       q->adjacency, err);
}

static sotto_status gaussian_epsilon(sotto_answer *out, const sotto_case *c, sotto_err *err)
{
    const sotto_question *q = c->question;
    double distance = 0;
    sotto_bound eps;

    SOTTO_TRY(gaussian_distance(&distance, q, err));
    SOTTO_TRY(sotto_gaussian_epsilon(&eps, q->of.gaussian.sigma, distance,
                                     (double)q->of.gaussian.releases, c->log_delta, err));
    return sotto_answer_set(out, eps, true, GAUSSIAN_THEOREM, "closed form and a root");
}

static sotto_status gaussian_delta(sotto_answer *out, const sotto_case *c, double eps,
                                   sotto_err *err)
{
    const sotto_question *q = c->question;
    double distance = 0;
    sotto_bound log_delta;

    SOTTO_TRY(gaussian_distance(&distance, q, err));
    SOTTO_TRY(sotto_gaussian_log_delta(&log_delta, q->of.gaussian.sigma, distance,
                                       (double)q->of.gaussian.releases, eps, err));
    return sotto_answer_set(out, sotto_exp_outward(log_delta), true, GAUSSIAN_THEOREM,
                            "closed form");
}

const sotto_mechanism_entry sotto_entry_gaussian = {
    .mechanism = SOTTO_MECHANISM_GAUSSIAN,
    .name = "the Gaussian mechanism",
    .adjacencies = SOTTO_ANY_ADJACENCY,
    .cover = SOTTO_COVER_NONE,
    .epsilon = gaussian_epsilon,
    .delta = gaussian_delta,
};

/* ---- secret samples ------------------------------------------------------------------------------ */

static const char SAMPLED_THEOREM[] =
    "Poisson-subsampled Gaussian, both directions, composed optimally";

/* The caller's tables if they are of this mechanism; otherwise new ones, kept if there is a place. */
static sotto_status open_tables(sotto_sgm **out, const sotto_case *c, sotto_err *err)
{
    double rate = c->question->of.sampled.rate, sigma = 0;
    sotto_accountant *kept = c->tables;

    SOTTO_TRY(sotto_noise_multiplier(&sigma, c->question->of.sampled.contribution,
                                     c->question->of.sampled.clip, c->question->of.sampled.sigma,
                                     c->question->adjacency, err));
    if (kept != NULL && kept->sampled != NULL && kept->rate == rate && kept->sigma == sigma) {
        *out = kept->sampled;
        return SOTTO_OK;
    }
    SOTTO_TRY(sotto_sgm_new(out, rate, sigma, err));
    if (kept == NULL)
        return SOTTO_OK;
    sotto_sgm_free(kept->sampled);
    *kept = (sotto_accountant){*out, rate, sigma};
    return SOTTO_OK;
}

static void close_tables(sotto_sgm *tables, const sotto_case *c)
{
    if (c->tables == NULL)
        sotto_sgm_free(tables);
}

static sotto_status sampled_epsilon(sotto_answer *out, const sotto_case *c, sotto_err *err)
{
    sotto_sgm_part part = {.rounds = c->question->of.sampled.rounds};
    sotto_sgm_answer found = {0};

    SOTTO_TRY(open_tables(&part.mechanism, c, err));
    sotto_status status = sotto_sgm_epsilon(&found, &part, 1, c->log_delta, SOTTO_EITHER, err);
    close_tables(part.mechanism, c);
    SOTTO_TRY(status);
    return sotto_answer_set(out, found.value, true, SAMPLED_THEOREM, found.route);
}

static sotto_status sampled_delta(sotto_answer *out, const sotto_case *c, double eps,
                                  sotto_err *err)
{
    sotto_sgm_part part = {.rounds = c->question->of.sampled.rounds};
    sotto_sgm_answer found = {0};

    SOTTO_TRY(open_tables(&part.mechanism, c, err));
    sotto_status status = sotto_sgm_log_delta(&found, &part, 1, eps, SOTTO_EITHER, err);
    close_tables(part.mechanism, c);
    SOTTO_TRY(status);
    return sotto_answer_set(out, sotto_exp_outward(found.value), true, SAMPLED_THEOREM,
                            found.route);
}

const sotto_mechanism_entry sotto_entry_sampled = {
    .mechanism = SOTTO_MECHANISM_SAMPLED_GAUSSIAN,
    .name = "the subsampled Gaussian",
    .adjacencies = 1U << SOTTO_ADJACENCY_ADD_REMOVE,
    .cover = SOTTO_COVER_SAMPLE,
    .epsilon = sampled_epsilon,
    .delta = sampled_delta,
};

/* ---- one slot of several -------------------------------------------------------------------------- */

static sotto_status allocated_epsilon(sotto_answer *out, const sotto_case *c, sotto_err *err)
{
    const sotto_question *q = c->question;
    double sigma = 0;
    sotto_bound eps;

    SOTTO_TRY(sotto_noise_multiplier(&sigma, q->of.allocated.contribution, q->of.allocated.clip,
                                     q->of.allocated.sigma, q->adjacency, err));
    SOTTO_TRY(sotto_check_count("slots", (double)q->of.allocated.slots, 1, 1e9, err));
    SOTTO_TRY(sotto_allocation_eps(&eps, SOTTO_ALLOCATION_MAX, sigma, (double)q->of.allocated.slots,
                                   c->log_delta, err));
    return sotto_answer_set(out, eps, true,
                            "random allocation of one release to a slot, Gaussian noise in each",
                            c->log_delta < SOTTO_ALLOCATION_LEAST_LOG_DELTA
                                ? "a single release, whose slot is seen"
                                : "Laplace inversion of the lognormal sum, both directions");
}

const sotto_mechanism_entry sotto_entry_allocated = {
    .mechanism = SOTTO_MECHANISM_ALLOCATED_GAUSSIAN,
    .name = "random allocation",
    .adjacencies = 1U << SOTTO_ADJACENCY_ADD_REMOVE,
    .cover = SOTTO_COVER_MOMENT,
    .epsilon = allocated_epsilon,
};

/* ---- seen samples -------------------------------------------------------------------------------- */

static sotto_status counted_epsilon(sotto_answer *out, const sotto_case *c, sotto_err *err)
{
    const sotto_question *q = c->question;
    double distance = 0;
    sotto_bound eps;

    SOTTO_TRY(sotto_contribution_distance(&distance, q->of.sampled.contribution, q->of.sampled.clip,
                                          q->adjacency, err));
    SOTTO_TRY(sotto_gaussian_counted_epsilon(&eps, q->of.sampled.sigma, distance,
                                             q->of.sampled.rate, (double)q->of.sampled.rounds,
                                             c->log_delta, err));
    return sotto_answer_set(out, eps, true,
                            "analytic Gaussian mechanism, mean over the number of participations",
                            "binomial sum of closed forms");
}

const sotto_mechanism_entry sotto_entry_counted = {
    .mechanism = SOTTO_MECHANISM_COUNTED_GAUSSIAN,
    .name = "the Gaussian on seen samples",
    .adjacencies = SOTTO_ANY_ADJACENCY,
    .cover = SOTTO_COVER_NONE,
    .epsilon = counted_epsilon,
};

/* ---- integers ------------------------------------------------------------------------------------ */

static const char DISCRETE_THEOREM[] =
    "discrete Gaussian, exactly (Canonne, Kamath and Steinke 2020, theorem 7)";

static sotto_status discrete_epsilon(sotto_answer *out, const sotto_case *c, sotto_err *err)
{
    sotto_bound eps;

    SOTTO_TRY(sotto_discrete_gaussian_epsilon(&eps, c->question->of.discrete.sigma,
                                              (double)c->question->of.discrete.sensitivity,
                                              c->log_delta, err));
    return sotto_answer_set(out, eps, true, DISCRETE_THEOREM, "sum over the integers and a root");
}

static sotto_status discrete_delta(sotto_answer *out, const sotto_case *c, double eps,
                                   sotto_err *err)
{
    sotto_bound log_delta;

    SOTTO_TRY(sotto_discrete_gaussian_log_delta(&log_delta, c->question->of.discrete.sigma,
                                                (double)c->question->of.discrete.sensitivity, eps,
                                                NULL, err));
    return sotto_answer_set(out, sotto_exp_outward(log_delta), true, DISCRETE_THEOREM,
                            "sum over the integers");
}

const sotto_mechanism_entry sotto_entry_discrete = {
    .mechanism = SOTTO_MECHANISM_DISCRETE_GAUSSIAN,
    .name = "the discrete Gaussian",
    .adjacencies = SOTTO_ANY_ADJACENCY,
    .cover = SOTTO_COVER_NONE,
    .epsilon = discrete_epsilon,
    .delta = discrete_delta,
};

/* ---- each device a share of the noise ------------------------------------------------------------ */

static double share_divergence(const void *self, double alpha)
{
    return sotto_discrete_sum_divergence(self, alpha);
}

sotto_status sotto_shares_open(sotto_discrete_sum *out, const sotto_case *c, sotto_err *err)
{
    const sotto_question *q = c->question;
    double l2 = (double)q->of.shares.sensitivity, dimension = (double)q->of.shares.dimension;

    SOTTO_TRY(sotto_check_range("sensitivity", l2, 1, 1e9, err));
    SOTTO_TRY(sotto_check_range("dimension", dimension, 1, 1e12, err));
    /* |x|_1 <= sqrt(d) |x|_2, and <= |x|_2^2 since the entries are integers. */
    double by_dimension = sotto_round_up(sqrt(dimension) * l2, 2);

    return sotto_discrete_sum_open(out, q->of.shares.sigma, (double)c->honest, dimension,
                                   fmin(by_dimension, l2 * l2), l2, err);
}

static sotto_status shares_epsilon(sotto_answer *out, const sotto_case *c, sotto_err *err)
{
    const sotto_question *q = c->question;
    sotto_discrete_sum sum;
    sotto_bound eps;

    SOTTO_TRY(sotto_shares_open(&sum, c, err));
    sotto_status status =
        sotto_rdp_minimise(&eps, NULL, share_divergence, &sum, 1 + 1e-4, 1e6, c->log_delta, NULL);
    if (status != SOTTO_OK)
        return sotto_fail(err, status,
                          "sensitivity = %g: too much for sigma = %g and %g honest, no Renyi order "
                          "is finite",
                          (double)q->of.shares.sensitivity, q->of.shares.sigma, (double)c->honest);
    return sotto_answer_set(
        out, eps, false,
        "sum of discrete Gaussians (Kairouz, Liu and Steinke 2021, proposition 14)",
        "best Renyi order");
}

static uint64_t shares_cohort(const sotto_question *q)
{
    return q->of.shares.cohort;
}

const sotto_mechanism_entry sotto_entry_shares = {
    .mechanism = SOTTO_MECHANISM_NOISE_SHARES,
    .name = "noise in shares",
    .adjacencies = SOTTO_ANY_ADJACENCY,
    .cover = SOTTO_COVER_NONE,
    .epsilon = shares_epsilon,
    .cohort = shares_cohort,
};
