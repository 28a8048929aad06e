#include "account/honest.h"

#include "account/numeric/parameter.h"

/* ceil(a b / of) for a < of <= 10^12 and b < of, by long multiplication: the product may not fit. */
static uint64_t ceil_of_product(uint64_t a, uint64_t b, uint64_t of)
{
    uint64_t quotient = 0, rest = 0;

    for (int bit = 40; bit >= 0; bit--) {
        quotient *= 2;
        rest = 2 * rest + ((b >> bit & 1) != 0 ? a : 0);
        quotient += rest / of;
        rest %= of;
    }
    return quotient + (rest > 0);
}

sotto_status sotto_share_honest(uint64_t *out, uint64_t cohort, sotto_share dishonest,
                                sotto_err *err)
{
    SOTTO_TRY(sotto_check_count("cohort", (double)cohort, 1, (double)SOTTO_COHORT_MAX, err));
    if (dishonest.of == 0 || dishonest.of > UINT64_C(1000000000000) ||
        dishonest.parts >= dishonest.of)
        return sotto_fail(
            err, SOTTO_MALFORMED,
            "dishonest: a share from 0 to below 1 must be stated, in at most 1e12 parts");
    uint64_t lost = cohort / dishonest.of * dishonest.parts +
                    ceil_of_product(cohort % dishonest.of, dishonest.parts, dishonest.of);

    if (lost >= cohort)
        return sotto_fail(err, SOTTO_DENIED, "dishonest: nobody honest is left of %llu",
                          (unsigned long long)cohort);
    *out = cohort - lost;
    return SOTTO_OK;
}

/* What a policy's honest part leaves to the dishonest: in millionths, rounded up. */
static sotto_share dishonest_beside(sotto_decimal honest)
{
    const uint64_t parts = 1000000, millionths = honest.units / 1000000;

    return (sotto_share){parts - (millionths < parts ? millionths : parts), parts};
}

uint64_t sotto_honest_count(uint64_t cohort, sotto_decimal honest)
{
    uint64_t count = 0;

    return sotto_share_honest(&count, cohort, dishonest_beside(honest), NULL) == SOTTO_OK ? count
                                                                                          : 0;
}
