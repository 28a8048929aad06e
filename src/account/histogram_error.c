#include "account/histogram_error.h"

#include "account/numeric/parameter.h"

static bool is_sparse(sotto_histogram kind)
{
    return kind >= SOTTO_HISTOGRAM_SPARSE_UNIFORM;
}

static bool is_importance(sotto_histogram kind)
{
    return kind == SOTTO_HISTOGRAM_SPARSE_IMPORTANCE ||
           kind == SOTTO_HISTOGRAM_SPARSE_IMPORTANCE_APPROXIMATE ||
           kind == SOTTO_HISTOGRAM_SPARSE_SAMPLED ||
           kind == SOTTO_HISTOGRAM_SPARSE_SAMPLED_APPROXIMATE;
}

/* Of the values that devices have; else of the distribution that these are drawn from. */
static bool is_of_devices(sotto_histogram kind)
{
    return kind == SOTTO_HISTOGRAM_SPARSE_IMPORTANCE || kind == SOTTO_HISTOGRAM_SPARSE_SAMPLED;
}

sotto_status sotto_histogram_rate(double *rate, sotto_histogram kind,
                                  const sotto_histogram_setting *s, sotto_err *err)
{
    SOTTO_TRY(sotto_check_count("N", s->N, 1, 1e15, err));
    SOTTO_TRY(sotto_check_range("M", s->M, 1, s->N, err));
    SOTTO_TRY(sotto_check_count("K", s->K, 1, 1e15, err));
    SOTTO_TRY(sotto_check_count("T", s->T, 1, 1e15, err));
    if (is_sparse(kind))
        SOTTO_TRY(sotto_check_range("gamma", s->gamma, 1e-15, 1, err));
    *rate = is_importance(kind) ? fmin(1, s->M / (2 * s->gamma * s->N)) : s->M / s->N;
    return SOTTO_OK;
}

sotto_status sotto_histogram_error(double *out, sotto_histogram kind,
                                   const sotto_histogram_setting *s, double sigma, sotto_err *err)
{
    bool aggregate = kind == SOTTO_HISTOGRAM_AGGREGATE || kind == SOTTO_HISTOGRAM_SPARSE_AGGREGATE;
    bool sampled = kind == SOTTO_HISTOGRAM_SAMPLED || kind == SOTTO_HISTOGRAM_SPARSE_SAMPLED ||
                   kind == SOTTO_HISTOGRAM_SPARSE_SAMPLED_APPROXIMATE;
    double rate, noise = 0;

    SOTTO_TRY(sotto_histogram_rate(&rate, kind, s, err));
    if (aggregate || sampled) {
        SOTTO_TRY(sotto_check_range("sigma", sigma, 1e-9, 1e9, err));
        noise = sigma * sigma * (aggregate ? ceil(s->T * s->M / s->N) : 1);
    }
    double share = is_sparse(kind) ? s->gamma : 1;
    double sample = is_importance(kind) ? rate * s->N : s->M;
    double sampling = share / sample;

    if (is_of_devices(kind))
        sampling *= 1 - rate;
    *out = sampling + s->K * noise / (sample * sample);
    return SOTTO_OK;
}
