/* The entrance: what every claim needs is checked here, whichever row of the table then answers. The table itself
 * is in accountant_table.c, so that a program that needs a few rows links no others. */
#include "account/accountant.h"

#include "account/numeric/parameter.h"
#include "account/trust.h"

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

/* ---- a question's claim ------------------------------------------------------------------------- */

static sotto_status check_words(const sotto_question *q, sotto_err *err)
{
    if (q->adjacency < SOTTO_ADJACENCY_REPLACEMENT || q->adjacency > SOTTO_ADJACENCY_ADD_REMOVE)
        return sotto_fail(err, SOTTO_MALFORMED,
                          "adjacency must be stated: add-remove, replacement or deletion");
    if (!sotto_trust_is_known(q->trust))
        return sotto_fail(err, SOTTO_MALFORMED,
                          "trust must be stated: central, split, flamingo or aero");
    if (q->dishonest.of == 0 || q->dishonest.parts >= q->dishonest.of)
        return sotto_fail(err, SOTTO_MALFORMED,
                          "dishonest must be stated: a share of the cohort from 0 to below 1");
    if (q->participation_is_hidden && !sotto_trust_model_of(q->trust)->can_hide)
        return sotto_fail(err, SOTTO_DENIED,
                          "trust %s: its server sees who takes part; hidden is for split alone",
                          sotto_trust_name(q->trust));
    return SOTTO_OK;
}

static unsigned gains_needed(sotto_cover cover)
{
    switch (cover) {
    case SOTTO_COVER_NONE:
        return 0;
    case SOTTO_COVER_SUM:
        return SOTTO_GAIN_SHUFFLE;
    case SOTTO_COVER_SAMPLE:
        return SOTTO_GAIN_SAMPLING;
    case SOTTO_COVER_MOMENT:
        return SOTTO_GAIN_CHECK_IN;
    }
    return ~0U;
}

sotto_status sotto_cover_check(sotto_trust trust, bool hidden, sotto_cover cover, const char *name,
                               sotto_err *err)
{
    const unsigned needed = gains_needed(cover);

    if ((sotto_trust_model_of(trust)->gains & needed) != needed)
        return sotto_fail(err, SOTTO_DENIED,
                          "trust %s: the server sees who takes part, so %s is not amplified",
                          sotto_trust_name(trust), name);
    if (needed & (SOTTO_GAIN_SAMPLING | SOTTO_GAIN_CHECK_IN) && !hidden)
        return sotto_fail(
            err, SOTTO_DENIED,
            "trust %s without relay and tokens: participation is seen, so %s is not amplified",
            sotto_trust_name(trust), name);
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

sotto_status sotto_case_open(sotto_case *out, const sotto_mechanism_entry *entry,
                             const sotto_question *question, sotto_err *err)
{
    const sotto_trust trust = question->trust;
    const bool hidden = question->participation_is_hidden || sotto_trust_model_of(trust)->hides;

    *out = (sotto_case){.question = question};
    SOTTO_TRY(check_words(question, err));
    if (entry == NULL)
        return sotto_fail(err, SOTTO_MALFORMED, "mechanism must be stated");
    SOTTO_TRY(sotto_cover_check(trust, hidden, entry->cover, entry->name, err));
    if (samples_locally(question))
        SOTTO_TRY(sotto_cover_check(trust, hidden, SOTTO_COVER_SAMPLE, "a sampled local randomizer",
                                    err));
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

void sotto_answer_start(sotto_answer *out, const sotto_case *c)
{
    *out = (sotto_answer){.adjacency = c->question->adjacency,
                          .trust = c->question->trust,
                          .honest = c->honest,
                          .theorem = "",
                          .route = ""};
}

/* A last check: an answer that is not a valid enclosure is never returned. */
sotto_status sotto_answer_check(const sotto_answer *a, sotto_err *err)
{
    if (!(a->low >= 0) || !(a->high >= a->low))
        return sotto_fail(err, SOTTO_BUG, "%s: no enclosure was found", a->theorem);
    if (!(a->high < INFINITY))
        return sotto_fail(err, SOTTO_DENIED, "%s: nothing could be certified for these parameters",
                          a->theorem);
    return SOTTO_OK;
}

/* Where the gain is too small to report, the epsilon of one report alone is claimed. */
static void note_gain(sotto_answer *out, double alone, const char *no_gain)
{
    out->no_gain = out->high >= (1 - SOTTO_LEAST_GAIN) * alone;
    if (!out->no_gain)
        return;
    out->high = alone;
    out->theorem = no_gain;
}

sotto_status sotto_case_epsilon(sotto_answer *out, const sotto_mechanism_entry *entry,
                                const sotto_case *c, sotto_err *err)
{
    sotto_answer_start(out, c);
    SOTTO_TRY(entry->epsilon(out, c, err));
    if (entry->alone != NULL)
        note_gain(out, entry->alone(c->question), entry->no_gain);
    return sotto_answer_check(out, err);
}
