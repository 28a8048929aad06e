#include "account/claims_count.h"

#include "account/accountant.h"
#include "account/local/count.h"

const char sotto_count_theorem[] =
    "exact hockey-stick divergence of two binomial laws (Talwar et al. 2024, section 4.6)";

sotto_status sotto_claim_count(sotto_answer *out, const sotto_claim_question *q, double rate,
                               sotto_err *err)
{
    sotto_bound eps;

    *out = (sotto_answer){
        .adjacency = SOTTO_ADJACENCY_ADD_REMOVE, .trust = q->trust, .honest = q->honest};
    SOTTO_TRY(
        sotto_cover_check(q->trust, q->hidden, SOTTO_COVER_SAMPLE, "a number of reports", err));
    if (q->honest == 0)
        return sotto_fail(err, SOTTO_DENIED, "no honest device is left to send dummies");
    SOTTO_TRY(sotto_count_eps(&eps, (double)q->honest, rate, q->log_delta, err));
    if (!(eps.high < INFINITY))
        return sotto_fail(err, SOTTO_DENIED,
                          "so few dummies hide nothing at this delta: about %.3g are expected",
                          rate * (double)q->honest);
    SOTTO_TRY(sotto_answer_set(out, eps, true, sotto_count_theorem, "binomial tails, and a root"));
    return sotto_answer_check(out, err);
}

sotto_status sotto_plan_count(sotto_answer *out, double *rate, const sotto_claim_question *q,
                              double epsilon, sotto_err *err)
{
    SOTTO_TRY(
        sotto_cover_check(q->trust, q->hidden, SOTTO_COVER_SAMPLE, "a number of reports", err));
    if (q->honest == 0)
        return sotto_fail(err, SOTTO_DENIED, "no honest device is left to send dummies");
    SOTTO_TRY(sotto_count_rate(rate, (double)q->honest, epsilon, q->log_delta, err));
    return sotto_claim_count(out, q, *rate, err);
}
