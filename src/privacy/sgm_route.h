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
    /* Chosen by the route: the level of the cut, and how far below delta, as a power of e, all that is
     * left out must stay. */
    int level;
    double digits;
} sotto_sgm_question;

/* Both always answer; without memory, or where nothing better is known, with a looser bound. */
void sotto_sgm_route_epsilon(sotto_sgm_answer *out, sotto_sgm_question *q, double log_delta);
void sotto_sgm_route_log_delta(sotto_sgm_answer *out, sotto_sgm_question *q, double eps);

#endif
