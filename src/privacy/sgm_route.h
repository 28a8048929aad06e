/* privacy/sgm_route.h - which computation answers a question, in one direction.
 *
 * Callers:  privacy/sgm.c.
 */
#ifndef SOTTO_PRIVACY_SGM_ROUTE_H
#define SOTTO_PRIVACY_SGM_ROUTE_H

#include "privacy/sgm_tables.h"

typedef struct sotto_sgm_question {
    const sotto_sgm_part *parts;
    size_t count;
    bool add;
    int level; /* of the cut; chosen by the route */
} sotto_sgm_question;

/* Either log_delta (solve for eps) or eps (solve for log delta) is given. SOTTO_NO_MEMORY alone fails. */
SOTTO_MUST_USE sotto_status sotto_sgm_route_epsilon(sotto_sgm_answer *out, sotto_sgm_question *q,
                                                    double log_delta, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_sgm_route_log_delta(sotto_sgm_answer *out, sotto_sgm_question *q,
                                                      double eps, sotto_err *err);

#endif
