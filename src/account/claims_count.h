/* account/claims_count.h - what may be claimed of the number of reports, where devices that do not take part send dummies.
 *
 * Callers:  `sotto budget plan`, recipe/forecast.c. local/count.h says who is taken to know what.
 *
 * Neighbours differ in that one device takes part or does not. `honest` of the question is how many honest devices do not
 * take part; its law is not looked at.
 */
#ifndef SOTTO_ACCOUNT_CLAIMS_COUNT_H
#define SOTTO_ACCOUNT_CLAIMS_COUNT_H

#include "account/claims.h"

extern const char sotto_count_theorem[];

/* Each of them sends a dummy at this rate.
 *   SOTTO_DENIED  participation is seen, or dummies are too few for any epsilon at this delta */
SOTTO_MUST_USE sotto_status sotto_claim_count(sotto_answer *out, const sotto_claim_question *q,
                                              double rate, sotto_err *err);

/* About the smallest rate that keeps this epsilon, and what it is worth. */
SOTTO_MUST_USE sotto_status sotto_plan_count(sotto_answer *out, double *rate,
                                             const sotto_claim_question *q, double epsilon,
                                             sotto_err *err);

#endif
