#include "account/numeric/parameter.h"

sotto_status sotto_check_range(const char *name, double value, double low, double high,
                               sotto_err *err)
{
    if (!(value >= low && value <= high))
        return sotto_fail(err, SOTTO_MALFORMED, "%s = %g: accepted is %g to %g", name, value, low,
                          high);
    return SOTTO_OK;
}

sotto_status sotto_check_count(const char *name, double value, double low, double high,
                               sotto_err *err)
{
    SOTTO_TRY(sotto_check_range(name, value, low, high, err));
    if (value != floor(value))
        return sotto_fail(err, SOTTO_MALFORMED, "%s = %g: accepted are integers from %g to %g",
                          name, value, low, high);
    return SOTTO_OK;
}

sotto_status sotto_check_log_delta(double log_delta, sotto_err *err)
{
    if (!(log_delta >= SOTTO_LOG_DELTA_MIN && log_delta < 0))
        return sotto_fail(err, SOTTO_MALFORMED, "delta = e^%g: accepted is e^%g to 1, 1 excluded",
                          log_delta, SOTTO_LOG_DELTA_MIN);
    return SOTTO_OK;
}

sotto_status sotto_log_delta_of(double *out, double delta, sotto_err *err)
{
    if (!(delta > 0 && delta < 1))
        return sotto_fail(err, SOTTO_MALFORMED, "delta = %g: accepted is above 0 and below 1",
                          delta);
    *out = sotto_round_down(log(delta), 2);
    return sotto_check_log_delta(*out, err);
}
