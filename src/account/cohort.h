/* account/cohort.h - the smallest cohort for which a claim holds.
 *
 * Callers:  recipe/ and device/, to say in a refusal what would be accepted.
 */
#ifndef SOTTO_ACCOUNT_COHORT_H
#define SOTTO_ACCOUNT_COHORT_H

#include "account/honest.h"

/* No recipe may state a larger one. */
#define SOTTO_COHORT_SEARCHED UINT64_C(1000000000)

/* Whether the claim holds among this many honest reports (1 or more). If it holds for n, it holds for
 * more. */
typedef sotto_status sotto_cohort_holds(void *context, uint64_t honest, bool *holds,
                                        sotto_err *err);

/* 0: none up to SOTTO_COHORT_SEARCHED. A failure of `holds` ends the search. */
SOTTO_MUST_USE sotto_status sotto_smallest_cohort(uint64_t *out, sotto_decimal honest,
                                                  sotto_cohort_holds *holds, void *context,
                                                  sotto_err *err);

#endif
