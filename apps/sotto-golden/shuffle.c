/* Shuffled reports of a local randomizer: both clone reductions and both closed forms. */
#include "shuffle.h"

#include <string.h>

#include "account/local/clone.h"
#include "golden.h"

typedef sotto_status (*law_of)(sotto_clone_law *out, double eps0, sotto_err *err);
typedef sotto_status (*closed_form)(sotto_bound *out, double eps0, const sotto_crowd *crowd,
                                    double log_delta, sotto_err *err);

static const struct variant {
    const char *name;
    law_of law;
    closed_form closed;
} variants[] = {
    {"clone2021_numerical", sotto_clone_law_generic, NULL},
    {"clone2022_numerical", sotto_clone_law_restricted_class, NULL},
    {"clone2021_closed_form", NULL, sotto_clone_closed_2021},
    {"clone2022_closed_form", NULL, sotto_clone_closed_2022_restricted_class},
};

static const struct variant *find(const char *name)
{
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++)
        if (strcmp(variants[i].name, name) == 0)
            return &variants[i];
    return NULL;
}

sotto_status sotto_golden_clones(sotto_bound *out, const char *variant, double eps0, double n,
                                 double log_delta, sotto_err *err)
{
    const struct variant *v = find(variant);
    sotto_crowd crowd = {.n_total = n, .dishonest_fraction = 0};
    sotto_clone_law law;

    if (v == NULL)
        return sotto_golden_unknown("variant", variant, err);
    if (v->closed != NULL)
        return v->closed(out, eps0, &crowd, log_delta, err);
    SOTTO_TRY(v->law(&law, eps0, err));
    return sotto_clone_eps(out, &law, &crowd, log_delta, err);
}

static sotto_status answer(sotto_golden_answer *out, const sotto_golden_row *row, sotto_err *err)
{
    const char *variant = sotto_golden_text(row, "variant");
    double eps0 = 0, n = 0, log_delta = 0;
    sotto_bound bound = {0};
    sotto_status status = SOTTO_OK;

    if (find(variant) == NULL)
        return sotto_golden_unknown("variant", variant, err);
    SOTTO_TRY(sotto_golden_number(&eps0, row, "eps0", err));
    SOTTO_TRY(sotto_golden_number(&n, row, "n", err));
    SOTTO_TRY(sotto_golden_log_delta(&log_delta, &status, row, "delta", err));
    if (status == SOTTO_OK)
        status = sotto_golden_clones(&bound, variant, eps0, n, log_delta, err);
    return sotto_golden_take(out, bound, status, err);
}

const sotto_golden_format sotto_golden_shuffle = {
    "shuffle",
    "eps0,n,delta,variant,value,kind,rel_tol,method,source",
    answer,
};
