/* From both servers' shares to sums, which must be sums that so many valid vectors can have. */
#include "aggregate/pine/pine.h"

#include "base/alloc.h"
#include "base/rule.h"
#include "vdaf/pine/ops.h"

#include <math.h>

/* How far both servers' noise moves an entry, but for a chance of 2^-66 over all entries: its tail is at most that of a
 * normal law with 2 sigma^2. */
static double entry_slack(double sigma, double entries)
{
    return 2 * sigma * sqrt(66 * log(2) + log(2 * entries));
}

/* The same for the norm: the tail of |n|^2 for sub-Gaussian entries (Hsu, Kakade and Zhang 2012, theorem 1). It passes
 * 2 sigma^2 (n + 2 sqrt(n t) + 2 t) with a chance of exp(-t) at most. */
static double norm_slack(double sigma, double entries)
{
    const double t = 66 * log(2);

    return sigma * sqrt(2 * (entries + 2 * sqrt(entries * t) + 2 * t));
}

/* Two shares that don't belong together add up to something random in the field, where hardly any vector is a sum of
 * so many vectors within the bound. */
static bool is_possible(const sotto_pine *pine, const int64_t *sums, uint64_t reports, double sigma)
{
    const double most = (double)reports * (double)pine->config.norm_bound,
                 entries = (double)pine->config.dimension;
    double squares = 0, largest = 0;

    for (size_t i = 0; i < pine->config.dimension; i++) {
        const double x = fabs((double)sums[i]);

        largest = fmax(largest, x);
        squares += x * x;
    }
    return largest <= (most + entry_slack(sigma, entries)) * (1 + 1e-9) &&
           sqrt(squares) <= (most + norm_slack(sigma, entries)) * (1 + 1e-9);
}

static sotto_status check_share(const sotto_pine *pine, sotto_bytes share, sotto_err *err)
{
    if (share.len != pine->sizes.out_share ||
        !pine->config.field->canonical(share.data, (size_t)pine->config.dimension))
        return sotto_fail(err, SOTTO_REJECTED, "an aggregate share does not belong to this task");
    return SOTTO_OK;
}

static sotto_status open_signed(const sotto_pine *pine, int64_t *sums, const sotto_bytes shares[2],
                                uint64_t reports, double sigma, sotto_err *err)
{
    const sotto_status status =
        sotto_pine_unshard(pine, sums, shares[0].data, shares[1].data, NULL);

    if (SOTTO_RULE(pine_sums_possible) &&
        (status != SOTTO_OK || !is_possible(pine, sums, reports, sigma)))
        return sotto_fail(err, SOTTO_REJECTED,
                          "the shares don't belong together: no %llu valid reports add up to this",
                          (unsigned long long)reports);
    return SOTTO_OK;
}

sotto_status sotto_pine_open(const sotto_vdaf *vdaf, sotto_uint128 *sums,
                             const sotto_bytes shares[2], uint64_t reports, double noise_sigma,
                             sotto_err *err)
{
    const sotto_pine *pine = vdaf->state;
    const size_t count = vdaf->sizes.outputs, bytes = count * sizeof(int64_t);
    int64_t *opened;

    for (unsigned a = 0; a < 2; a++)
        SOTTO_TRY(check_share(pine, shares[a], err));
    if (reports > sotto_pine_most_reports(pine->config.norm_bound))
        return sotto_fail(err, SOTTO_REJECTED, "the sum of %llu reports could wrap around",
                          (unsigned long long)reports);
    opened = sotto_alloc(bytes);
    if (!opened)
        return sotto_fail(err, SOTTO_NO_MEMORY, "pine: no memory for sums");
    const sotto_status status = open_signed(pine, opened, shares, reports, noise_sigma, err);
    for (size_t i = 0; i < count && status == SOTTO_OK; i++)
        sums[i] = (sotto_uint128){(uint64_t)opened[i], opened[i] < 0 ? UINT64_MAX : 0};
    sotto_release(opened, bytes);
    return status;
}
