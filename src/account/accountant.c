#include "account/accountant.h"

#include "account/numeric/parameter.h"
#include "base/alloc.h"

/* ---- words -------------------------------------------------------------------------------------- */

const char *sotto_adjacency_name(sotto_adjacency adjacency)
{
    switch (adjacency) {
    case SOTTO_ADJACENCY_ADD_REMOVE:
        return "add-remove";
    case SOTTO_ADJACENCY_REPLACEMENT:
        return "replacement";
    case SOTTO_ADJACENCY_DELETION:
        return "deletion";
    }
    return "none";
}

const char *sotto_trust_name(sotto_trust trust)
{
    switch (trust) {
    case SOTTO_TRUST_SPLIT:
        return "split";
    case SOTTO_TRUST_FLAMINGO:
        return "flamingo";
    case SOTTO_TRUST_AERO:
        return "aero";
    }
    return "none";
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
    };
    size_t i = (size_t)mechanism;

    return i < sizeof names / sizeof names[0] && names[i] ? names[i] : "none";
}

const sotto_mechanism_entry *sotto_mechanism_find(sotto_mechanism mechanism)
{
    static const sotto_mechanism_entry *const entries[] = {
        &sotto_entry_gaussian, &sotto_entry_sampled,  &sotto_entry_counted,  &sotto_entry_allocated,
        &sotto_entry_discrete, &sotto_entry_shares,   &sotto_entry_shuffled, &sotto_entry_one_hot,
        &sotto_entry_binary,   &sotto_entry_check_in, &sotto_entry_donation, &sotto_entry_pure,
    };

    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
        if (entries[i]->mechanism == mechanism)
            return entries[i];
    return NULL;
}

/* ---- a question's claim ------------------------------------------------------------------------- */

static sotto_status check_words(const sotto_question *q, sotto_err *err)
{
    if (q->adjacency < SOTTO_ADJACENCY_REPLACEMENT || q->adjacency > SOTTO_ADJACENCY_ADD_REMOVE)
        return sotto_fail(err, SOTTO_MALFORMED,
                          "adjacency must be stated: add-remove, replacement or deletion");
    if (q->trust < SOTTO_TRUST_SPLIT || q->trust > SOTTO_TRUST_AERO)
        return sotto_fail(err, SOTTO_MALFORMED, "trust must be stated: split, flamingo or aero");
    if (q->dishonest.of == 0 || q->dishonest.parts >= q->dishonest.of)
        return sotto_fail(err, SOTTO_MALFORMED,
                          "dishonest must be stated: a share of the cohort from 0 to below 1");
    if (q->participation_is_hidden && q->trust != SOTTO_TRUST_SPLIT)
        return sotto_fail(err, SOTTO_DENIED,
                          "trust %s: its server sees who takes part; hidden is for split alone",
                          sotto_trust_name(q->trust));
    return SOTTO_OK;
}

/* No amplification that the way of adding up has not earned. */
static sotto_status check_cover(const sotto_question *q, const char *name, sotto_cover cover,
                                sotto_err *err)
{
    if (cover == SOTTO_COVER_NONE)
        return SOTTO_OK;
    if (q->trust != SOTTO_TRUST_SPLIT)
        return sotto_fail(err, SOTTO_DENIED,
                          "trust %s: the server sees who takes part, so %s is not amplified",
                          sotto_trust_name(q->trust), name);
    if (cover == SOTTO_COVER_HIDDEN && !q->participation_is_hidden)
        return sotto_fail(
            err, SOTTO_DENIED,
            "trust split without relay and tokens: participation is seen, so %s is not "
            "amplified",
            name);
    return SOTTO_OK;
}

/* A secret sample of a local randomizer's cohort is an amplification of its own. */
static bool samples_locally(const sotto_question *q)
{
    return (q->mechanism == SOTTO_MECHANISM_SHUFFLED ||
            q->mechanism == SOTTO_MECHANISM_SYMMETRIC_ONE_HOT ||
            q->mechanism == SOTTO_MECHANISM_BINARY_RESPONSE) &&
           q->of.local.rate != 1;
}

/* Averaged check-ins count on the others; the windows' theorems hold whatever the others do. */
static bool counts_on_others(const sotto_question *q)
{
    return q->mechanism != SOTTO_MECHANISM_CHECK_IN ||
           q->of.check_in.variant == SOTTO_CHECK_IN_AVERAGED;
}

sotto_status sotto_case_open(sotto_case *out, const sotto_question *question,
                             sotto_accountant *tables, sotto_err *err)
{
    const sotto_mechanism_entry *entry = sotto_mechanism_find(question->mechanism);

    *out = (sotto_case){.question = question, .tables = tables};
    SOTTO_TRY(check_words(question, err));
    if (entry == NULL)
        return sotto_fail(err, SOTTO_MALFORMED, "mechanism must be stated");
    SOTTO_TRY(check_cover(question, entry->name, entry->cover, err));
    if (samples_locally(question))
        SOTTO_TRY(check_cover(question, "a sampled local randomizer", SOTTO_COVER_HIDDEN, err));
    if ((entry->adjacencies >> question->adjacency & 1) == 0)
        return sotto_fail(err, SOTTO_DENIED, "adjacency %s: no theorem on %s is known for it",
                          sotto_adjacency_name(question->adjacency), entry->name);
    if (entry->cohort != NULL && counts_on_others(question))
        SOTTO_TRY(
            sotto_share_honest(&out->honest, entry->cohort(question), question->dishonest, err));
    return SOTTO_OK;
}

sotto_status sotto_contribution_distance(double *out, sotto_contribution kind, double clip,
                                         sotto_adjacency adjacency, sotto_err *err)
{
    bool replaces = adjacency == SOTTO_ADJACENCY_REPLACEMENT;

    if (kind == SOTTO_ONE_HOT_VECTOR) {
        if (clip != 0)
            return sotto_fail(err, SOTTO_MALFORMED,
                              "clip: a one-hot vector has none; leave it at 0");
        *out = replaces ? sotto_round_up(sqrt(2.0), 1) : 1;
        return SOTTO_OK;
    }
    if (kind != SOTTO_CLIPPED_VECTOR)
        return sotto_fail(err, SOTTO_MALFORMED,
                          "contribution must be stated: a clipped vector or a one-hot one");
    SOTTO_TRY(sotto_check_range("clip", clip, 1e-100, 1e100, err));
    *out = replaces ? 2 * clip : clip;
    return SOTTO_OK;
}

sotto_status sotto_noise_multiplier(double *out, sotto_contribution kind, double clip, double sigma,
                                    sotto_adjacency adjacency, sotto_err *err)
{
    double distance = 0;

    SOTTO_TRY(sotto_contribution_distance(&distance, kind, clip, adjacency, err));
    SOTTO_TRY(sotto_check_range("sigma", sigma, 1e-100, 1e100, err));
    *out = distance == 1 ? sigma : sotto_round_down(sigma / distance, 1);
    return SOTTO_OK;
}

/* ---- asking --------------------------------------------------------------------------------------- */

sotto_status sotto_accountant_new(sotto_accountant **out, sotto_err *err)
{
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

static void start_answer(sotto_answer *out, const sotto_case *c)
{
    *out = (sotto_answer){.adjacency = c->question->adjacency,
                          .trust = c->question->trust,
                          .honest = c->honest,
                          .theorem = "",
                          .route = ""};
}

/* The last line of defence: what is no enclosure never leaves. */
sotto_status sotto_answer_check(const sotto_answer *a, sotto_err *err)
{
    if (!(a->low >= 0) || !(a->high >= a->low))
        return sotto_fail(err, SOTTO_BUG, "%s: no enclosure was found", a->theorem);
    if (!(a->high < INFINITY))
        return sotto_fail(err, SOTTO_DENIED, "%s: nothing could be certified for these parameters",
                          a->theorem);
    return SOTTO_OK;
}

sotto_status sotto_privacy_epsilon(sotto_answer *out, const sotto_question *question,
                                   sotto_accountant *accountant, sotto_err *err)
{
    sotto_case c;

    SOTTO_TRY(sotto_case_open(&c, question, accountant, err));
    SOTTO_TRY(sotto_log_delta_of(&c.log_delta, question->delta, err));
    start_answer(out, &c);
    SOTTO_TRY(sotto_mechanism_find(question->mechanism)->epsilon(out, &c, err));
    return sotto_answer_check(out, err);
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
    sotto_case c;

    SOTTO_TRY(sotto_case_open(&c, question, accountant, err));
    SOTTO_TRY(sotto_check_range("epsilon", epsilon, 0, 1e6, err));
    const sotto_mechanism_entry *entry = sotto_mechanism_find(question->mechanism);
    start_answer(out, &c);
    if (entry->delta == NULL)
        SOTTO_TRY(search_delta(out, &c, entry, epsilon, err));
    else
        SOTTO_TRY(entry->delta(out, &c, epsilon, err));
    out->high = out->high < 1 ? out->high : 1;
    out->low = out->low < out->high ? out->low : out->high;
    return sotto_answer_check(out, err);
}
