/* account/honest.h - how many people of a cohort count as honest.
 *
 * Callers:  the accountant, recipe/ and device/: whoever turns the size of a cohort into an epsilon.
 *
 * Rounded against the claim: of n people with a dishonest share d, n - ceil(n d) are honest.
 */
#ifndef SOTTO_ACCOUNT_HONEST_H
#define SOTTO_ACCOUNT_HONEST_H

#include "account/numeric/decimal.h"
#include "sotto/privacy.h"

/* Larger cohorts are refused. */
#define SOTTO_COHORT_MAX UINT64_C(1000000000000)

/* Honest people of a cohort of 1 to SOTTO_COHORT_MAX, exactly.
 *   SOTTO_MALFORMED  the cohort or the share is out of range
 *   SOTTO_DENIED     nobody is left */
SOTTO_MUST_USE sotto_status sotto_share_honest(uint64_t *out, uint64_t cohort,
                                               sotto_share dishonest, sotto_err *err);

/* Honest people of a cohort under a policy's honest part; 0 where nobody is left or the cohort is out of range. */
uint64_t sotto_honest_count(uint64_t cohort, sotto_decimal honest);

#endif
