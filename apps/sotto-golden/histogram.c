/* The error of a histogram: a model of utility, whose noise comes from the accountant. */
#include "golden.h"

#include "account/gauss/gaussian.h"
#include "account/histogram_error.h"
#include "sotto/privacy.h"

typedef enum noise_source { NO_NOISE, UNAMPLIFIED, SAMPLED } noise_source;

static const struct algorithm {
    const char *task;
    const char *name;
    sotto_histogram kind;
    noise_source noise;
} algorithms[] = {
    {"histogram", "NONPRIV", SOTTO_HISTOGRAM_PLAIN, NO_NOISE},
    {"histogram", "AGG", SOTTO_HISTOGRAM_AGGREGATE, UNAMPLIFIED},
    {"histogram", "SAMPAGG", SOTTO_HISTOGRAM_SAMPLED, SAMPLED},
    {"sparse", "NONPRIVUNIF", SOTTO_HISTOGRAM_SPARSE_UNIFORM, NO_NOISE},
    {"sparse", "NONPRIVIMPSAMP", SOTTO_HISTOGRAM_SPARSE_IMPORTANCE, NO_NOISE},
    {"sparse", "NONPRIVIMPSAMP_paper_approx", SOTTO_HISTOGRAM_SPARSE_IMPORTANCE_APPROXIMATE,
     NO_NOISE},
    {"sparse", "AGG", SOTTO_HISTOGRAM_SPARSE_AGGREGATE, UNAMPLIFIED},
    {"sparse", "SAMPAGG", SOTTO_HISTOGRAM_SPARSE_SAMPLED, SAMPLED},
};

typedef struct inputs {
    sotto_histogram_setting setting;
    double eps;
    double log_delta;
} inputs;

static sotto_status read_inputs(inputs *in, const struct algorithm *a, sotto_status *range,
                                const sotto_golden_row *row, sotto_err *err)
{
    SOTTO_TRY(sotto_golden_number(&in->setting.N, row, "N", err));
    SOTTO_TRY(sotto_golden_number(&in->setting.M, row, "M", err));
    SOTTO_TRY(sotto_golden_number(&in->setting.K, row, "K", err));
    SOTTO_TRY(sotto_golden_number(&in->setting.T, row, "T", err));
    if (a->task[0] == 's')
        SOTTO_TRY(sotto_golden_number(&in->setting.gamma, row, "gamma", err));
    if (a->noise == NO_NOISE)
        return SOTTO_OK;
    SOTTO_TRY(sotto_golden_number(&in->eps, row, "eps", err));
    return sotto_golden_log_delta(&in->log_delta, range, row, "delta", err);
}

/* The least noise of a sum over secret samples, as the accountant plans it. */
static sotto_status sampled_sigma(double *sigma, double rate, const inputs *in, sotto_err *err)
{
    sotto_question question = {.adjacency = SOTTO_ADJACENCY_ADD_REMOVE,
                               .trust = SOTTO_TRUST_SPLIT,
                               .dishonest = {0, 1},
                               .delta = exp(in->log_delta),
                               .participation_is_hidden = true,
                               .mechanism = SOTTO_MECHANISM_SAMPLED_GAUSSIAN,
                               .of.sampled = {.contribution = SOTTO_CLIPPED_VECTOR,
                                              .clip = 1,
                                              .rate = rate,
                                              .rounds = (uint64_t)in->setting.T}};
    sotto_plan plan;

    SOTTO_TRY(sotto_privacy_plan(&plan, &question, SOTTO_FIND_SIGMA, in->eps, NULL, err));
    *sigma = plan.value;
    return SOTTO_OK;
}

static sotto_status find_sigma(double *sigma, const struct algorithm *a, const inputs *in,
                               sotto_err *err)
{
    sotto_bound bound = {0};
    double rate = 0;

    if (a->noise == UNAMPLIFIED) {
        SOTTO_TRY(sotto_gaussian_sigma(&bound, in->eps, in->log_delta, 1, 1, err));
    } else if (a->noise == SAMPLED) {
        SOTTO_TRY(sotto_histogram_rate(&rate, a->kind, &in->setting, err));
        if (!(in->setting.T >= 1 && in->setting.T <= 1e12 && in->setting.T == floor(in->setting.T)))
            return sotto_fail(err, SOTTO_MALFORMED, "T: a whole number from 1 to 1e12");
        SOTTO_TRY(sampled_sigma(&bound.high, rate, in, err));
    }
    *sigma = bound.high;
    return SOTTO_OK;
}

static sotto_status compute(sotto_bound *out, const struct algorithm *a, const inputs *in,
                            sotto_err *err)
{
    double sigma = 0, error = 0;

    SOTTO_TRY(find_sigma(&sigma, a, in, err));
    SOTTO_TRY(sotto_histogram_error(&error, a->kind, &in->setting, sigma, err));
    *out = (sotto_bound){error, error};
    return SOTTO_OK;
}

static sotto_status answer(sotto_golden_answer *out, const sotto_golden_row *row, sotto_err *err)
{
    const struct algorithm *found = NULL;
    inputs in = {0};
    sotto_bound bound = {0};
    sotto_status status = SOTTO_OK;

    for (size_t i = 0; i < sizeof algorithms / sizeof algorithms[0]; i++)
        if (sotto_golden_is(row, "task", algorithms[i].task) &&
            sotto_golden_is(row, "algorithm", algorithms[i].name))
            found = &algorithms[i];
    if (found == NULL)
        return sotto_golden_unknown("algorithm", sotto_golden_text(row, "algorithm"), err);
    SOTTO_TRY(read_inputs(&in, found, &status, row, err));
    if (status == SOTTO_OK)
        status = compute(&bound, found, &in, err);
    return sotto_golden_take(out, bound, status, err);
}

const sotto_golden_format sotto_golden_histogram = {
    "histogram_error",
    "task,N,M,K,T,gamma,eps,delta,algorithm,sigma,value,kind,rel_tol,method,source",
    answer,
};
