#include "account/gauss/allocation_approximation.h"

#include "account/gauss/allocation.h"
#include "account/numeric/special.h"

double sotto_allocation_approximate_delta(double a, double t, double eps, double more)
{
    double above = t * expm1(eps), k = 1 + above, w = log(k) / a + a / 2;
    double deviation = sqrt(t * expm1(a * a)), z = above / deviation;
    double one = exp(sotto_log_tail(w - a)) - k * exp(sotto_log_tail(w));
    double bell =
        deviation / t * (exp(-z * z / 2 - SOTTO_LOG_SQRT_2PI) - z * exp(sotto_log_tail(z)));
    double density = exp(-w * w / 2 - SOTTO_LOG_SQRT_2PI) / (a * k);
    double usual = exp(a * a + sotto_log_tail(2 * a - log(k / 2) / a - a / 2)) - 1;

    return one + bell + density * (more + (t - 1) * fmax(0, usual)) / 2;
}

double sotto_allocation_sigma_guess(double eps, double t, double log_delta)
{
    double low = log(0.1), high = log(1000), delta = exp(log_delta);

    for (int i = 0; i < 40; i++) {
        double middle = (low + high) / 2;

        *(sotto_allocation_approximate_delta(exp(-middle), t, eps, 0) > delta ? &low : &high) =
            middle;
    }
    return exp(high);
}
