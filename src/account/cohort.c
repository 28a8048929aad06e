#include "account/cohort.h"

static sotto_status holds_for(bool *out, uint64_t cohort, sotto_decimal honest,
                              sotto_cohort_holds *holds, void *context, sotto_err *err)
{
    uint64_t count = sotto_honest_count(cohort, honest);

    *out = false;
    return count > 0 ? holds(context, count, out, err) : SOTTO_OK;
}

sotto_status sotto_smallest_cohort(uint64_t *out, sotto_decimal honest, sotto_cohort_holds *holds,
                                   void *context, sotto_err *err)
{
    uint64_t low = 1, high = SOTTO_COHORT_SEARCHED; /* all below low are too small */
    bool enough;

    *out = 0;
    SOTTO_TRY(holds_for(&enough, high, honest, holds, context, err));
    if (!enough)
        return SOTTO_OK;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        SOTTO_TRY(holds_for(&enough, middle, honest, holds, context, err));
        if (enough)
            high = middle;
        else
            low = middle + 1;
    }
    *out = high;
    return SOTTO_OK;
}
