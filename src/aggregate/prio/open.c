/* From both servers' shares to sums, which must be sums that so many valid reports can have. */
#include "aggregate/prio/prio.h"

#include <math.h>

static sotto_uint128 product(uint64_t a, uint64_t b)
{
    uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX);
    uint64_t middle = (a >> 32) * (b & UINT32_MAX) + (low >> 32);
    uint64_t other = (a & UINT32_MAX) * (b >> 32) + (middle & UINT32_MAX);

    return (sotto_uint128){(other << 32) | (low & UINT32_MAX),
                           (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32)};
}

static sotto_uint128 plus(sotto_uint128 a, sotto_uint128 b)
{
    uint64_t low = a.low + b.low;

    return (sotto_uint128){low, a.high + b.high + (low < a.low)};
}

static sotto_uint128 minus(sotto_uint128 a, sotto_uint128 b)
{
    return (sotto_uint128){a.low - b.low, a.high - b.high - (a.low < b.low)};
}

static bool exceeds(sotto_uint128 a, sotto_uint128 b)
{
    return a.high > b.high || (a.high == b.high && a.low > b.low);
}

/* -slack <= x <= most + slack. x is in two's complement if there is any slack: then most is far below 2^127. */
static bool is_within(sotto_uint128 x, sotto_uint128 most, sotto_uint128 slack)
{
    bool below = (slack.low || slack.high) && x.high >> 63;

    return below ? !exceeds(minus((sotto_uint128){0, 0}, x), slack)
                 : !exceeds(x, plus(most, slack));
}

/* How far both servers' noise moves a sum of this many entries, but for a chance of 2^-66 over `tries` such sums. It is
 * sub-Gaussian with 2 sigma^2 for each entry. E exp(t X) is exp(t^2 sigma^2 / 2) times a bell curve summed over a
 * shifted lattice, which is at most its sum over the lattice itself. */
static sotto_uint128 slack_of(double sigma, size_t entries, size_t tries)
{
    double log_chance = -66 * log(2) - log(2 * (double)tries);

    return (sotto_uint128){(uint64_t)ceil(2 * sigma * sqrt(-(double)entries * log_chance)), 0};
}

/* Two shares that don't belong together add up to something random in the field, where hardly any vector is a sum of
 * so many valid reports, noise or not. */
static bool is_possible(const sotto_vdaf_config *config, const sotto_uint128 *sums, size_t count,
                        uint64_t reports, double sigma)
{
    bool zeros_and_ones = config->type == SOTTO_PRIO3_COUNT ||
                          config->type == SOTTO_PRIO3_HISTOGRAM ||
                          config->type == SOTTO_PRIO3_MULTIHOT_COUNT_VEC;
    bool has_total = config->type == SOTTO_PRIO3_HISTOGRAM ||
                     config->type == SOTTO_PRIO3_MULTIHOT_COUNT_VEC ||
                     config->type == SOTTO_PRIO3_L1_BOUND_SUM;
    sotto_uint128 each = product(reports, zeros_and_ones ? 1 : config->max);
    sotto_uint128 most = product(reports, config->type == SOTTO_PRIO3_HISTOGRAM ? 1 : config->max);
    sotto_uint128 slack = slack_of(sigma, 1, count), total = {0, 0};

    for (size_t i = 0; i < count; i++) {
        if (!is_within(sums[i], each, slack))
            return false;
        total = plus(total, sums[i]);
    }
    slack = slack_of(sigma, count, 1);
    if (config->type == SOTTO_PRIO3_HISTOGRAM) /* exactly as many as reports, but for the noise */
        return is_within(minus(total, minus(most, slack)), plus(slack, slack), (sotto_uint128){0});
    return !has_total || is_within(total, most, slack);
}

sotto_status sotto_prio_open(const sotto_vdaf *vdaf, sotto_uint128 *sums,
                             const sotto_bytes shares[2], uint64_t reports, double noise_sigma,
                             sotto_err *err)
{
    const sotto_prio3 *prio3 = vdaf->state;
    const sotto_status status = noise_sigma > 0
                                    ? sotto_prio3_unshard_signed(prio3, sums, shares, reports, NULL)
                                    : sotto_prio3_unshard(prio3, sums, shares, reports, NULL);

    if (status != SOTTO_OK)
        return sotto_fail(err, SOTTO_REJECTED, "an aggregate share does not belong to this task");
    if (!is_possible(&prio3->config, sums, vdaf->sizes.outputs, reports, noise_sigma))
        return sotto_fail(err, SOTTO_REJECTED,
                          "the shares don't belong together: no %llu valid reports add up to this",
                          (unsigned long long)reports);
    return SOTTO_OK;
}
