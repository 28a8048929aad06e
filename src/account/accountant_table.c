/* All mechanisms, and the questions that may be about any of them. */
#include "account/accountant.h"

#include "account/numeric/parameter.h"
#include "base/alloc.h"

const sotto_mechanism_entry *sotto_mechanism_find(sotto_mechanism mechanism)
{
    static const sotto_mechanism_entry *const entries[] = {
        &sotto_entry_gaussian,  &sotto_entry_sampled,   &sotto_entry_counted,
        &sotto_entry_allocated, &sotto_entry_discrete,  &sotto_entry_shares,
        &sotto_entry_shuffled,  &sotto_entry_one_hot,   &sotto_entry_binary,
        &sotto_entry_check_in,  &sotto_entry_donation,  &sotto_entry_pure,
        &sotto_entry_laplace,   &sotto_entry_geometric,
    };

    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
        if (entries[i]->mechanism == mechanism)
            return entries[i];
    return NULL;
}

sotto_status sotto_accountant_new(sotto_accountant **out, sotto_err *err)
{
    sotto_err_clear(err);

    *out = sotto_alloc(sizeof **out);
    if (*out == NULL)
        return sotto_fail(err, SOTTO_NO_MEMORY, "accountant");
    return SOTTO_OK;
}

void sotto_accountant_free(sotto_accountant *accountant)
{
    if (accountant == NULL)
        return;
    sotto_sgm_free(accountant->sampled);
    sotto_release(accountant, sizeof *accountant);
}

sotto_status sotto_privacy_epsilon(sotto_answer *out, const sotto_question *question,
                                   sotto_accountant *accountant, sotto_err *err)
{
    sotto_err_clear(err);

    const sotto_mechanism_entry *entry = sotto_mechanism_find(question->mechanism);
    sotto_case c;

    SOTTO_TRY(sotto_case_open(&c, entry, question, err));
    c.tables = accountant;
    if (question->pure) {
        if (question->delta != 0 || entry->pure == NULL)
            return sotto_fail(err, SOTTO_MALFORMED, "delta: %s is %s", entry->name,
                              entry->pure ? "asked for at delta 0 and at another" : "not pure DP");
        sotto_answer_start(out, &c);
        SOTTO_TRY(entry->pure(out, &c, err));
        return sotto_answer_check(out, err);
    }
    SOTTO_TRY(sotto_log_delta_of(&c.log_delta, question->delta, err));
    return sotto_case_epsilon(out, entry, &c, err);
}

/* Whether epsilon is certified to be within eps at this delta; a refusal is a no. */
static bool suffices(sotto_answer *out, sotto_case *c, const sotto_mechanism_entry *entry,
                     double log_delta, double eps, sotto_err *err)
{
    c->log_delta = log_delta;
    return entry->epsilon(out, c, err) == SOTTO_OK && out->high <= eps;
}

/* The smallest delta that suffices, by bisection over its logarithm. Some theorems are only evaluated within a
 * range of deltas, so the search starts from the steps of a ladder instead of from the ends of the line. */
static sotto_status search_delta(sotto_answer *out, sotto_case *c,
                                 const sotto_mechanism_entry *entry, double eps, sotto_err *err)
{
    static const double ladder[] = {-690, -345, -160, -80, -46, -34, -23, -14, -7, -3, -1, -0.01};
    sotto_answer found = *out, here = *out;
    size_t step = 0;

    while (step < sizeof ladder / sizeof ladder[0] &&
           !suffices(&found, c, entry, ladder[step], eps, NULL))
        step++;
    if (step == sizeof ladder / sizeof ladder[0]) {
        c->log_delta = ladder[step / 2];
        SOTTO_TRY(entry->epsilon(&found, c, err));
        return sotto_fail(err, SOTTO_DENIED, "epsilon %.6g: no delta below 1 suffices", eps);
    }
    double good = ladder[step], bad = step > 0 ? ladder[step - 1] : good;
    for (int i = 0; i < 60 && good - bad > 1e-12 * -bad; i++) {
        double middle = 0.5 * (good + bad);

        *(suffices(&here, c, entry, middle, eps, NULL) ? &good : &bad) = middle;
    }
    *out = found;
    return sotto_answer_set(out, (sotto_bound){0, sotto_round_up(exp(good), 2)}, false,
                            found.theorem, "the smallest delta whose certified epsilon suffices");
}

sotto_status sotto_privacy_delta(sotto_answer *out, const sotto_question *question, double epsilon,
                                 sotto_accountant *accountant, sotto_err *err)
{
    sotto_err_clear(err);

    const sotto_mechanism_entry *entry = sotto_mechanism_find(question->mechanism);
    sotto_case c;

    SOTTO_TRY(sotto_case_open(&c, entry, question, err));
    c.tables = accountant;
    SOTTO_TRY(sotto_check_range("epsilon", epsilon, 0, 1e6, err));
    sotto_answer_start(out, &c);
    if (entry->delta == NULL)
        SOTTO_TRY(search_delta(out, &c, entry, epsilon, err));
    else
        SOTTO_TRY(entry->delta(out, &c, epsilon, err));
    out->high = out->high < 1 ? out->high : 1;
    out->low = out->low < out->high ? out->low : out->high;
    return sotto_answer_check(out, err);
}

const char *sotto_mechanism_name(sotto_mechanism mechanism)
{
    static const char *const names[] = {
        [SOTTO_MECHANISM_GAUSSIAN] = "gaussian",
        [SOTTO_MECHANISM_SAMPLED_GAUSSIAN] = "sampled-gaussian",
        [SOTTO_MECHANISM_COUNTED_GAUSSIAN] = "counted-gaussian",
        [SOTTO_MECHANISM_ALLOCATED_GAUSSIAN] = "allocated-gaussian",
        [SOTTO_MECHANISM_DISCRETE_GAUSSIAN] = "discrete-gaussian",
        [SOTTO_MECHANISM_NOISE_SHARES] = "noise-shares",
        [SOTTO_MECHANISM_SHUFFLED] = "shuffled",
        [SOTTO_MECHANISM_SYMMETRIC_ONE_HOT] = "symmetric-one-hot",
        [SOTTO_MECHANISM_BINARY_RESPONSE] = "binary-response",
        [SOTTO_MECHANISM_CHECK_IN] = "check-in",
        [SOTTO_MECHANISM_DONATION] = "donation",
        [SOTTO_MECHANISM_PURE] = "pure",
        [SOTTO_MECHANISM_LAPLACE] = "laplace",
        [SOTTO_MECHANISM_GEOMETRIC] = "geometric",
    };
    size_t i = (size_t)mechanism;

    return i < sizeof names / sizeof names[0] && names[i] ? names[i] : "none";
}
