#include "golden.h"

#include <string.h>

#include "account/numeric/parameter.h"
#include "support/number.h"

static const double LARGEST_COUNT = 1e18;
static const double SMALLEST_LOG = -700; /* below it doubles lose digits, then vanish */

const char *sotto_golden_text(const sotto_golden_row *row, const char *column)
{
    const char *text = sotto_csv_get(row->csv, row->fields, column);

    return text != NULL ? text : "";
}

bool sotto_golden_is(const sotto_golden_row *row, const char *column, const char *text)
{
    return strcmp(sotto_golden_text(row, column), text) == 0;
}

sotto_status sotto_golden_number(double *out, const sotto_golden_row *row, const char *column,
                                 sotto_err *err)
{
    return sotto_number_read(out, sotto_golden_text(row, column), SOTTO_ROUND_NEAREST, column, err);
}

sotto_status sotto_golden_count_of(uint64_t *out, const char *text, const char *what,
                                   sotto_err *err)
{
    double x = 0;

    SOTTO_TRY(sotto_number_read(&x, text, SOTTO_ROUND_NEAREST, what, err));
    if (x < 0 || x > LARGEST_COUNT || x != floor(x))
        return sotto_fail(err, SOTTO_MALFORMED, "%s: %.40s is not a whole number from 0 to 1e18",
                          what, text);
    *out = (uint64_t)x;
    return SOTTO_OK;
}

sotto_status sotto_golden_count(uint64_t *out, const sotto_golden_row *row, const char *column,
                                sotto_err *err)
{
    return sotto_golden_count_of(out, sotto_golden_text(row, column), column, err);
}

sotto_status sotto_golden_take(sotto_golden_answer *out, sotto_bound value, sotto_status status,
                               sotto_err *err)
{
    if (status == SOTTO_OK) {
        out->value = value;
        return SOTTO_OK;
    }
    if (status == SOTTO_NO_MEMORY || status == SOTTO_BUG || status == SOTTO_IO)
        return status;
    out->refused = true;
    if (err != NULL) {
        memcpy(out->reason, err->reason, sizeof out->reason);
        *err = (sotto_err){0};
    }
    return SOTTO_OK;
}

sotto_status sotto_golden_take_log(sotto_golden_answer *out, sotto_bound logarithm,
                                   sotto_status status, sotto_err *err)
{
    out->tiny = status == SOTTO_OK && logarithm.high < SMALLEST_LOG;
    return sotto_golden_take(out, out->tiny ? logarithm : sotto_golden_exp(logarithm), status, err);
}

sotto_bound sotto_golden_exp(sotto_bound logarithm)
{
    sotto_bound out = {sotto_round_down(exp(logarithm.low), 2),
                       sotto_round_up(exp(logarithm.high), 2)};

    out.low = out.low > 0 ? out.low : 0;
    return out;
}

sotto_status sotto_golden_log_delta(double *out, sotto_status *range, const sotto_golden_row *row,
                                    const char *column, sotto_err *err)
{
    double delta = 0;

    SOTTO_TRY(sotto_golden_number(&delta, row, column, err));
    *range = sotto_log_delta_of(out, delta, err);
    return SOTTO_OK;
}

sotto_status sotto_golden_unknown(const char *what, const char *name, sotto_err *err)
{
    return sotto_fail(err, SOTTO_MISSING, "no %s '%.80s' is known here", what, name);
}
