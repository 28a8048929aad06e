#include "account/gauss/sgm_law.h"

#include "account/numeric/special.h"

#include <float.h>

/* Half of DBL_EPSILON: one rounding. */
#define U (DBL_EPSILON / 2)

double sotto_sgm_tilt(const sotto_sgm_law *law, double x)
{
    return (2 * x - 1) / (2 * law->sigma * law->sigma);
}

static double log_of_ratio(double q, double tilt)
{
    return tilt < 500 ? log1p(q * expm1(tilt)) : log(q) + tilt;
}

double sotto_sgm_log_ratio(const sotto_sgm_law *law, double x)
{
    return log_of_ratio(law->q, sotto_sgm_tilt(law, x));
}

double sotto_sgm_log_density(const sotto_sgm_law *law, double x)
{
    double z = x / law->sigma;
    return -z * z / 2 - log(law->sigma) - 0.91893853320467274178;
}

sotto_sgm_law sotto_sgm_law_cut(double q, double sigma, bool add, double level)
{
    sotto_sgm_law law = {.q = q, .sigma = sigma, .add = add, .low = -INFINITY, .high = INFINITY};
    double far = sqrt(2 * fmax(-level, 12));

    if (q == 1)
        return law;
    law.low = -far * sigma;
    law.high = far * sigma + 1;
    if (!add) {
        /* The record is there with probability q only: the right end can come in. */
        double near = fmin(far, sqrt(2 * fmax(-level + log(q), 12)));
        law.high = fmax(far * sigma, 1 + near * sigma);
    }
    double plain = sotto_normal_tail(law.high / sigma) + sotto_normal_tail(-law.low / sigma);
    double moved =
        sotto_normal_tail((law.high - 1) / sigma) + sotto_normal_tail((1 - law.low) / sigma);
    law.lost = (add ? plain : (1 - q) * plain + q * moved) * (1 + 1e-12);
    return law;
}

double sotto_sgm_cap_weight(const sotto_sgm_law *law, double *error)
{
    double z = law->high / law->sigma;

    *error = U * (8 + 4 * z * z);
    return sotto_normal_tail(z);
}

double sotto_sgm_cap_excess(const sotto_sgm_law *law, double *error)
{
    double a = (law->high - 1) / law->sigma, b = law->high / law->sigma;
    double tilt = sotto_sgm_tilt(law, law->high), near = sotto_normal_tail(a);

    *error = U * (64 + 8 * (a * a + b * b + fabs(tilt))) * law->q * near;
    return law->q * (near - exp(tilt) * sotto_normal_tail(b));
}

void sotto_sgm_law_cap(sotto_sgm_law *law, double loss)
{
    double s = law->sigma, q = law->q;
    double tilt = loss < 40 ? log1p(expm1(loss) / q) : loss - log(q) + log1p((q - 1) * exp(-loss));
    double x = 0.5 + s * s * tilt, error;

    if (law->add || q == 1 || !(x < law->high))
        return;
    law->high = x;
    law->capped = true;
    double beyond = sotto_sgm_cap_excess(law, &error);
    double left =
        (1 - q) * sotto_normal_tail(-law->low / s) + q * sotto_normal_tail((1 - law->low) / s);
    law->lost = (beyond + error + left) * (1 + 1e-12);
    law->beyond = fmax(beyond - error, 0);
    law->above =
        ((1 - q) * sotto_normal_tail(x / s) + q * sotto_normal_tail((x - 1) / s)) * (1 + 1e-12);
}
