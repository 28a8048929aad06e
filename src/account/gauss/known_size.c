#include "account/gauss/known_size.h"

#include "account/gauss/rdp.h"
#include "account/numeric/special.h"

#include <math.h>

enum { ORDERS = 256, MOST_ORDER = 2048 };

/* A logarithm here is at most 2048^2 1000 in size, so each is off by less than 2^-20; where they matter, below 10^5, by less than 2^-33. */
#define ROUNDING 1e-9

double sotto_known_size_divergence(double share, double rho, unsigned alpha)
{
    /* e^epsilon(infinity) is not bounded, so the smaller of both minima in the theorem is 2. */
    const double second = fmin(log(4) + log(expm1(2 * rho)), log(2) + 2 * rho);
    double sum = -INFINITY, choose = log(alpha); /* of 1 among alpha */

    for (unsigned j = 2; j <= alpha; j++) {
        choose += log((double)(alpha - j + 1)) - log((double)j);
        const double moment = j == 2 ? second : log(2) + (double)(j - 1) * j * rho;

        sum = sotto_log_add(sum, j * log(share) + choose + moment);
    }
    const double up = sum + fabs(sum) * 0x1p-40 + ROUNDING;
    /* log(1 + e^x) is below x + e^-x, where e^x would overflow. */
    const double log_moment = up > 30 ? up + 1e-12 : log1p(exp(up));
    /* A divergence is also at most that of the mechanism on all elements. */
    return fmin(sotto_round_up(log_moment, 8) / (alpha - 1), rho * alpha) * (1 + 0x1p-40);
}

sotto_status sotto_known_size_epsilon(sotto_bound *out, double share, double rho, uint64_t rounds,
                                      double log_delta, sotto_err *err)
{
    double orders[ORDERS], divergence[ORDERS];
    size_t count = 0;

    if (!(share > 0 && share <= 1) || !(rho > 0 && rho <= 1000) || rounds < 1 || rounds > 1000000)
        return sotto_fail(err, SOTTO_DENIED,
                          "known size: a share up to 1, rho up to 1000 and up to 10^6 rounds "
                          "wanted");
    for (unsigned a = 2; a <= MOST_ORDER && count < ORDERS; a += a < 128 ? 1 : a / 16) {
        orders[count] = a;
        divergence[count++] =
            sotto_round_up(sotto_known_size_divergence(share, rho, a) * (double)rounds, 8);
    }
    return sotto_rdp_epsilon(out, NULL, orders, divergence, count, log_delta, err);
}
