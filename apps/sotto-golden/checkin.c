/* Random check-ins: the printed theorems, the optimum of one proof, and how many updates are dummies. */
#include "golden.h"

#include <string.h>

#include "account/local/checkin.h"
#include "account/numeric/parameter.h"

typedef struct inputs {
    const sotto_golden_row *row;
    double eps0;
    double log_delta;
    double log_delta2;
    double n;
    double m;
    double p0;
} inputs;

/* Which columns a theorem looks at. */
enum { EPS0 = 1, DELTA = 2, DELTA2 = 4, COHORT = 8, SLOTS = 16, PROBABILITY = 32 };

/* range: whether the deltas are any. */
static sotto_status read_inputs(inputs *in, sotto_status *range, unsigned columns,
                                const sotto_golden_row *row, sotto_err *err)
{
    *in = (inputs){.row = row};
    if (columns & EPS0)
        SOTTO_TRY(sotto_golden_number(&in->eps0, row, "eps0", err));
    if (columns & COHORT)
        SOTTO_TRY(sotto_golden_number(&in->n, row, "n", err));
    if (columns & SLOTS)
        SOTTO_TRY(sotto_golden_number(&in->m, row, "m", err));
    if (columns & PROBABILITY)
        SOTTO_TRY(sotto_golden_number(&in->p0, row, "p0", err));
    if (columns & DELTA)
        SOTTO_TRY(sotto_golden_log_delta(&in->log_delta, range, row, "delta", err));
    if ((columns & DELTA2) && *range == SOTTO_OK)
        SOTTO_TRY(sotto_golden_log_delta(&in->log_delta2, range, row, "delta2", err));
    return SOTTO_OK;
}

static sotto_status fixed(sotto_bound *out, const inputs *in, sotto_err *err)
{
    return sotto_checkin_fixed_window(out, in->eps0, in->m, in->p0, in->log_delta, err);
}

static sotto_status fixed_optimal(sotto_bound *out, const inputs *in, sotto_err *err)
{
    return sotto_checkin_fixed_window_optimal(out, in->eps0, in->m, in->p0, in->log_delta, err);
}

/* The theorem is about devices that check in with probability 1. */
static sotto_status only_certain(const inputs *in, sotto_err *err)
{
    return sotto_check_range("p0", in->p0, 1, 1, err);
}

static sotto_status averaged(sotto_bound *out, const inputs *in, sotto_err *err)
{
    sotto_crowd crowd = {.n_total = in->n};

    SOTTO_TRY(only_certain(in, err));
    return sotto_checkin_averaged(out, in->eps0, &crowd, in->m, in->log_delta, in->log_delta2, err);
}

static sotto_status sliding(sotto_bound *out, const inputs *in, sotto_err *err)
{
    SOTTO_TRY(only_certain(in, err));
    return sotto_checkin_sliding_window(out, in->eps0, in->m, in->log_delta, err);
}

static sotto_status shuffled(sotto_bound *out, const inputs *in, sotto_err *err)
{
    sotto_crowd crowd = {.n_total = in->n};

    return sotto_checkin_shuffle(out, in->eps0, &crowd, in->log_delta, err);
}

static sotto_status shuffled_2019(sotto_bound *out, const inputs *in, sotto_err *err)
{
    sotto_crowd crowd = {.n_total = in->n};

    return sotto_checkin_shuffle_2019(out, in->eps0, &crowd, in->log_delta, err);
}

static sotto_status dummies_fixed(sotto_bound *out, const inputs *in, sotto_err *err)
{
    return sotto_checkin_dummies_fixed(out, in->n, in->m, in->p0, err);
}

static sotto_status dummies_sliding(sotto_bound *out, const inputs *in, sotto_err *err)
{
    return sotto_checkin_dummies_sliding(out, in->n, in->m, err);
}

static sotto_status max_delta0_5(sotto_bound *out, const inputs *in, sotto_err *err)
{
    return sotto_checkin_printed_max_delta0(out, in->eps0, in->log_delta, 5, err);
}

static sotto_status max_delta0_8(sotto_bound *out, const inputs *in, sotto_err *err)
{
    return sotto_checkin_printed_max_delta0(out, in->eps0, in->log_delta, 8, err);
}

static const struct question {
    const char *theorem;
    const char *quantity;
    unsigned columns;
    sotto_golden_nature nature;
    sotto_status (*compute)(sotto_bound *out, const inputs *in, sotto_err *err);
} questions[] = {
    {"3.2", "eps", EPS0 | DELTA | SLOTS | PROBABILITY, SOTTO_GOLDEN_CLAIM, fixed},
    {"3.2", "eps_optimal_composition_of_proof", EPS0 | DELTA | SLOTS | PROBABILITY,
     SOTTO_GOLDEN_CLAIM, fixed_optimal},
    {"4.1", "eps (total delta = delta+delta2)",
     EPS0 | DELTA | DELTA2 | COHORT | SLOTS | PROBABILITY, SOTTO_GOLDEN_CLAIM, averaged},
    {"4.3", "eps", EPS0 | DELTA | SLOTS | PROBABILITY, SOTTO_GOLDEN_CLAIM, sliding},
    {"5.1", "eps (figure 2 solid)", EPS0 | DELTA | COHORT, SOTTO_GOLDEN_CLAIM, shuffled},
    {"EFM19-7", "eps (figure 2 dotted)", EPS0 | DELTA | COHORT, SOTTO_GOLDEN_CLAIM, shuffled_2019},
    {"P3.4", "expected dummy updates", COHORT | SLOTS | PROBABILITY, SOTTO_GOLDEN_COUNT,
     dummies_fixed},
    {"P4.4", "expected dummy updates", COHORT | SLOTS, SOTTO_GOLDEN_COUNT, dummies_sliding},
    {"approx-LDP", "max delta0 (exponent 5)", EPS0 | DELTA, SOTTO_GOLDEN_COUNT, max_delta0_5},
    {"approx-LDP", "max delta0 (exponent 8)", EPS0 | DELTA, SOTTO_GOLDEN_COUNT, max_delta0_8},
};

static sotto_status answer(sotto_golden_answer *out, const sotto_golden_row *row, sotto_err *err)
{
    bool theorem_known = false;
    inputs in;
    sotto_bound bound = {0};
    sotto_status status = SOTTO_OK;

    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++) {
        const struct question *q = &questions[i];

        if (!sotto_golden_is(row, "theorem", q->theorem))
            continue;
        theorem_known = true;
        if (!sotto_golden_is(row, "quantity", q->quantity))
            continue;
        out->nature = q->nature;
        SOTTO_TRY(read_inputs(&in, &status, q->columns, row, err));
        if (status == SOTTO_OK)
            status = q->compute(&bound, &in, err);
        return sotto_golden_take(out, bound, status, err);
    }
    if (!theorem_known)
        return sotto_golden_unknown("theorem", sotto_golden_text(row, "theorem"), err);
    return sotto_golden_unknown("quantity", sotto_golden_text(row, "quantity"), err);
}

const sotto_golden_format sotto_golden_checkin = {
    "checkin",
    "theorem,eps0,delta,delta2,n,m,p0,quantity,value,kind,rel_tol,method,source",
    answer,
};
