/* Judging a learning recipe: whether numbers fit, what it claims, what a policy allows. */
#include "recipe/learning_encrypted.h"

#include "account/budget_decision.h"
#include "account/numeric/bound.h"
#include "account/numeric/shown.h"
#include "base/arena.h"
#include "base/rule.h"
#include "recipe/claim.h"
#include "recipe/judge.h"
#include "recipe/learning_correlated.h"
#include "recipe/learning_turns.h"
#include "recipe/one_server.h"
#include "recipe/statistic.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const sotto_place privacy = {NULL, "privacy", 0}, epsilon = {&privacy, "epsilon", 0},
                         min_cohort = {&privacy, "min_cohort", 0}, learn = {NULL, "learn", 0},
                         update = {&learn, "update", 0}, scale = {&update, "scale", 0},
                         aggregation = {NULL, "aggregation", 0}, proof = {&aggregation, "proof", 0},
                         factor = {&proof, "bound_factor", 0}, rounds = {NULL, "rounds", 0},
                         every = {&rounds, "every", 0};

/* Beyond this a liar has so much room that the proof bounds little; beyond that it is no bound to speak of. */
#define WARN_FACTOR   3.0
#define REFUSE_FACTOR 10.0

/* ---- the recipe against itself ------------------------------------------------------------------------- */

static void check_fits(sotto_reading *at, const sotto_learning_claim *claim)
{
    char accepted[80];

    for (size_t i = 0; i < claim->fit_count; i++) {
        const sotto_fit *fit = &claim->fits[i];

        (void)snprintf(accepted, sizeof accepted, "2^%u or %s", fit->bits,
                       fit->finer ? "more" : "less");
        if (SOTTO_RULE(learning_numbers_fit) && !fit->holds)
            sotto_reading_mistake(at, &scale, accepted,
                                  "numbers do not fit: %s: %.6g <= %.6g does not hold; %u bits "
                                  "behind the point would do",
                                  fit->what, fit->left, fit->right, fit->bits);
    }
}

/* A number with three digits behind the point, rounded up. */
static double thousandths(double x)
{
    return ceil(x * 1000) / 1000;
}

static void check_factor(sotto_reading *at, const sotto_learning *l,
                         const sotto_learning_claim *claim)
{
    const bool shares = l->head.by == SOTTO_BY_SHARES;
    const uint64_t to = sotto_learning_projects_to(l, claim, REFUSE_FACTOR);
    char text[200];

    (void)snprintf(text, sizeof text, "%.3f or more", thousandths(claim->factor_needed));
    if (SOTTO_RULE(learning_honest_pass) && l->bound_factor < claim->factor_needed)
        sotto_reading_mistake(at, &factor, text,
                              "honest reports would be refused: their norm is up to %.3f clips",
                              thousandths(claim->factor_needed));
    const bool refused = shares && l->bound_factor > REFUSE_FACTOR;
    int len = snprintf(text, sizeof text,
                       "at most 10: a larger min_cohort, a smaller multiplier or model, or noise "
                       "by servers");
    if (to > 0)
        (void)snprintf(text + len, sizeof text - (size_t)len,
                       ", or a projection to at most %" PRIu64 " numbers", to);
    if (SOTTO_RULE(learning_factor_bounds) && refused)
        sotto_reading_mistake(at, &factor, text, "a liar could send an update of %g times the clip",
                              l->bound_factor);
    if (!refused && l->bound_factor > WARN_FACTOR) {
        (void)snprintf(text, sizeof text,
                       "a liar may send an update of up to %g times the clip: a larger cohort, "
                       "a projection or noise by servers would lower it",
                       l->bound_factor);
        sotto_reading_warn(at, &factor, text);
    }
}

static void check_rounding(sotto_reading *at, const sotto_learning *l,
                           const sotto_learning_claim *claim)
{
    const double longer = claim->norm / (l->clip * (double)l->scale) - 1;
    char what[160];

    (void)snprintf(what, sizeof what,
                   "rounding to the grid makes updates longer by %.0f%%, which is paid for: more "
                   "bits behind the point would help",
                   100 * longer);
    if (claim->norm > 0 && longer > 0.1)
        sotto_reading_warn(at, &scale, what);
}

static bool keeps(const sotto_learning *l, double multiplier, sotto_decimal honest)
{
    sotto_learning other = *l;
    sotto_learning_claim claim;

    other.multiplier = multiplier;
    other.bound_factor = fmax(l->bound_factor, REFUSE_FACTOR); /* told by check_factor */
    return sotto_learning_claim_compute(&claim, &other, honest, NULL) == SOTTO_OK &&
           claim.epsilon <= sotto_decimal_down(l->head.epsilon);
}

/* The least multiplier in hundredths that keeps the recipe's epsilon; 0: none is found. */
static double smallest_multiplier(const sotto_learning *l, sotto_decimal honest)
{
    double low = floor(l->multiplier * 100), high = 2 * low + 1;

    while (high < 1e6 && !keeps(l, high / 100, honest))
        high *= 2;
    if (high >= 1e6)
        return 0;
    while (high - low > 1) {
        const double middle = floor((low + high) / 2);

        if (keeps(l, middle / 100, honest))
            high = middle;
        else
            low = middle;
    }
    return high / 100;
}

static void check_epsilon(sotto_reading *at, const sotto_learning *l,
                          const sotto_learning_claim *claim, sotto_decimal honest)
{
    const double found = sotto_bound_shown(claim->epsilon, 6);
    char accepted[160] = "", what[120] = "any that so little noise has";

    if (claim->report_bytes == 0 || claim->epsilon <= sotto_decimal_down(l->head.epsilon))
        return;
    if (l->head.by == SOTTO_BY_SHARES && l->bound_factor < claim->factor_needed)
        return; /* told by check_factor */
    const double multiplier = smallest_multiplier(l, honest);
    if (isfinite(found)) {
        (void)snprintf(accepted, sizeof accepted, "%.6g or more", found);
        if (l->head.by == SOTTO_BY_SHARES)
            (void)snprintf(what, sizeof what,
                           "the %.6g that %" PRIu64 " participations cost at %" PRIu64
                           " honest reports",
                           found, l->participations, claim->honest);
        else
            (void)snprintf(what, sizeof what,
                           "the %.6g that %" PRIu64 " participations cost with %s noise", found,
                           l->participations,
                           l->head.by == SOTTO_BY_COMMITTEE ? "a committee's" : "one server's");
    }
    if (multiplier > 0)
        (void)snprintf(accepted + strlen(accepted), sizeof accepted - strlen(accepted),
                       "%sa multiplier of %.2f or more", *accepted ? ", or " : "", multiplier);
    sotto_reading_mistake(at, &epsilon, accepted, "claims less than %s", what);
}

/* Devices that took part have no turn in later rounds. In the first one all have, so that none has more reports. */
static sotto_status warn_of_burns(sotto_reading *at, const sotto_learning *l, sotto_err *err)
{
    uint64_t burn = 0, first = 0;
    sotto_turns turns = {0};
    sotto_arena arena;
    char what[160];

    sotto_arena_init(&arena, sotto_learning_turns_room(l));
    const sotto_status status = sotto_learning_turns(&turns, l, &arena, err);
    for (uint64_t t = turns.rounds; status == SOTTO_OK && t-- > 0;)
        if (turns.reports[t] < (double)l->head.min_cohort) {
            burn++;
            first = t;
        }
    if (burn > 0) {
        (void)snprintf(what, sizeof what,
                       "in %" PRIu64 " of the first %" PRIu64 " rounds fewer reports are expected, "
                       "%.0f in round %" PRIu64 ": devices that took part stay away",
                       burn, turns.rounds, turns.reports[first], first);
        sotto_reading_warn(at, &min_cohort, what);
    }
    sotto_arena_clear(&arena);
    return status;
}

static sotto_status check_reach(sotto_reading *at, const sotto_learning *l,
                                const sotto_learning_claim *claim, sotto_err *err)
{
    static const sotto_place largest = {&rounds, "largest", 0}, goal = {&rounds, "goal", 0};

    const bool none = claim->expected_reports < (double)l->head.min_cohort;

    if (SOTTO_RULE(learning_reach) && none)
        sotto_reading_mistake(at, &min_cohort, "a larger population or rate, or a smaller cohort",
                              "about %.0f reports are expected in a round: none would be released",
                              claim->expected_reports);
    if (!none && claim->expected_reports < (double)l->goal)
        sotto_reading_warn(at, &goal, "fewer reports are expected: rounds will wait to their end");
    if (claim->expected_reports > (double)l->largest)
        sotto_reading_warn(at, &largest,
                           "more reports are expected than a sum has room for: servers refuse the "
                           "others");
    return none ? SOTTO_OK : warn_of_burns(at, l, err);
}

/* Sums are divided by all reports, so devices that count less make steps shorter. */
static void check_weights(sotto_reading *at, const sotto_learning *l)
{
    static const sotto_place weights = {&update, "weights", 0};

    if (l->weights == SOTTO_WEIGHTS_CAPPED)
        sotto_reading_warn(at, &weights,
                           "sums are divided by the reports that are expected, not by their "
                           "weights: where many devices have fewer rows than the cap, a larger "
                           "server.rate makes up for it");
}

/* Sums are divided by all reports, so zeros make steps smaller. */
static void check_zeros(sotto_reading *at, const sotto_learning *l)
{
    static const sotto_place place = {&rounds, "on_no_turn", 0};
    const uint64_t spacing = sotto_learning_spacing(l);
    char what[160];

    (void)snprintf(what, sizeof what,
                   "one report in %" PRIu64 " is an update and the others are zeros, so that a "
                   "round moves the model by as much less",
                   spacing);
    if (l->zeros && spacing > 1)
        sotto_reading_warn(at, &place, what);
}

static void check_correlation(sotto_reading *at, const sotto_learning *l,
                              const sotto_policy *policy)
{
    static const sotto_place correlation = {&privacy, "correlation", 0};

    if (!sotto_learning_correlated(l))
        return;
    sotto_reading_warn(at, &correlation, sotto_learning_correlated_words());
    if (sotto_learning_buffered(l))
        sotto_reading_warn(at, &correlation, sotto_learning_kept_words());
    if (SOTTO_RULE(learning_correlated_allowed) && policy && !policy->correlated)
        sotto_reading_mistake(at, &correlation,
                              "\"correlated_noise\": true in the policy, or fresh noise",
                              "the policy does not let servers' noise be correlated over rounds");
}

static void check_room(sotto_reading *at, const sotto_learning *l, uint64_t drawn)
{
    static const sotto_place largest = {&rounds, "largest", 0};
    char accepted[48];

    (void)snprintf(accepted, sizeof accepted, "%" PRIu64 " or more", drawn);
    if (SOTTO_RULE(learning_room_for_cohort) && l->largest < drawn)
        sotto_reading_mistake(at, &largest, accepted,
                              "a sum needs room for all of a cohort of %" PRIu64, drawn);
}

/* The server sees who was drawn and who answers. */
static void check_turns(sotto_reading *at, const sotto_learning *l)
{
    static const sotto_place on_no_turn = {&rounds, "on_no_turn", 0},
                             participation = {NULL, "participation", 0},
                             type = {&participation, "type", 0};

    if (SOTTO_RULE(learning_one_server_by_coins) &&
        (l->zeros || l->head.participation.type != SOTTO_POISSON))
        sotto_reading_mistake(at, l->zeros ? &on_no_turn : &type, l->zeros ? "silence" : "poisson",
                              "the one server sees who takes part, so nothing is gained by hiding "
                              "when a device has its turn");
}

/* The beacon may draw all of the cohort, and none of them may be too much for the sum. */
static void check_one_server(sotto_reading *at, const sotto_learning *l)
{
    sotto_one_server server;

    sotto_recipe_check_one_server(at, &l->head);
    if (sotto_learning_one_server(l))
        check_turns(at, l);
    if (sotto_recipe_one_server(&server, &l->head))
        check_room(at, l, server.cohort);
}

static void check_encrypted(sotto_reading *at, const sotto_learning *l)
{
    static const sotto_place rekey = {&aggregation, "rekey", 0};
    sotto_encrypted plan;
    sotto_err why = {0};

    if (!sotto_learning_is_encrypted(l))
        return;
    const bool whole = sotto_learning_encrypted_plan(&plan, l, &why) == SOTTO_OK;
    if (!whole) /* its sizes are the recipe's, whatever else is wrong */
        (void)!sotto_recipe_encrypted(&plan, &l->head);
    sotto_encrypted_check(at, &l->head, &plan, whole ? NULL : why.reason);
    if (SOTTO_RULE(encrypted_rekey_rounds) && plan.terms.rekey > l->rounds)
        sotto_reading_mistake(at, &rekey, "no more than there are rounds",
                              "a key for %u rounds, of %" PRIu64, plan.terms.rekey, l->rounds);
    if (whole)
        check_room(at, l, plan.largest);
}

/* ---- the recipe against a policy ------------------------------------------------------------------------ */

static void check_size(sotto_reading *at, const sotto_policy *policy,
                       const sotto_learning_claim *claim)
{
    static const sotto_place model = {&learn, "model", 0}, parameters = {&model, "parameters", 0};

    if (SOTTO_RULE(learning_report_bytes) && claim->report_bytes > policy->report_bytes)
        sotto_recipe_lint_too_long(at, &parameters, "fewer", claim->report_bytes, policy);
}

static void check_query(sotto_reading *at, const sotto_policy *policy, const sotto_recipe *head)
{
    static const sotto_place data = {&learn, "data", 0}, query = {&data, "query", 0};
    const sotto_policy_analysis *a = sotto_policy_find(policy, head->analysis);
    const sotto_bytes text = sotto_bytes_of(head->query, strlen(head->query));
    bool listed = !a || a->query_count == 0;

    for (size_t i = 0; a && i < a->query_count; i++)
        listed |= sotto_bytes_equal_vartime(a->queries[i], text);
    if (SOTTO_RULE(learning_query_listed) && !listed)
        sotto_reading_mistake(at, &query, "a query that the policy lists, byte for byte",
                              "not one of the %zu queries of this analysis", a->query_count);
}

static sotto_status check_budget(sotto_reading *at, const sotto_learning *l,
                                 const sotto_learning_claim *claim, const sotto_budget_limit *limit,
                                 const char *name, sotto_err *err)
{
    static const sotto_place participations = {&rounds, "participations", 0};
    const sotto_spent nothing = {0};
    sotto_budget_decision decision;
    char accepted[64];

    SOTTO_TRY(sotto_budget_decide(&decision, limit, &nothing, sotto_learning_charge(l, claim),
                                  l->head.delta, err));
    if (SOTTO_RULE(learning_affordable) && decision.against)
        sotto_reading_mistake(at, &epsilon, "", "costs more than the policy gives %.100s", name);
    (void)snprintf(accepted, sizeof accepted, "at most %" PRIu64, limit->reports);
    if (SOTTO_RULE(learning_reports) && l->participations > limit->reports)
        sotto_reading_mistake(at, &participations, accepted,
                              "more reports than the policy allows for %.100s", name);
    return SOTTO_OK;
}

/* Updates have no local protection: a policy must say in words that this may be. */
static void check_field(sotto_reading *at, const sotto_learning *l, const sotto_policy_field *f)
{
    static const sotto_place by = {&privacy, "by", 0};
    const sotto_recipe *head = &l->head;

    if (SOTTO_RULE(learning_local_none) && !f->local_none)
        sotto_reading_mistake(at, &by, "fields whose epsilon_local is \"none\" in the policy",
                              "an update has no local protection, and the policy does not allow "
                              "that of %.60s.%.60s",
                              f->stream, f->field);
    if (SOTTO_RULE(learning_source_allowed) && !(f->by >> head->by & 1))
        sotto_reading_mistake(at, &by, "a source of noise that the policy allows",
                              "the policy does not let %s add the noise of %.60s.%.60s",
                              sotto_noise_source_name(head->by), f->stream, f->field);
}

static sotto_status check_fields(sotto_reading *at, const sotto_learning *l,
                                 const sotto_policy *policy, const sotto_learning_claim *claim,
                                 const sotto_query_finding *finding, sotto_err *err)
{
    char name[SOTTO_VERDICT_NAME];

    for (size_t i = 0; i < finding->accessed_count; i++)
        for (size_t j = 0; j < policy->field_count; j++) {
            const sotto_policy_field *f = &policy->fields[j];
            const sotto_budget_limit limit = {
                f->epsilon, f->delta, f->reports, policy->composition, {0}};

            if (strcmp(f->stream, finding->accessed[i].stream) != 0 ||
                strcmp(f->field, finding->accessed[i].field) != 0)
                continue;
            (void)snprintf(name, sizeof name, "%s.%s", f->stream, f->field);
            check_field(at, l, f);
            SOTTO_TRY(check_budget(at, l, claim, &limit, name, err));
        }
    return SOTTO_OK;
}

static sotto_status check_policy(sotto_reading *at, const sotto_learning *l,
                                 const sotto_policy *policy, const sotto_learning_claim *claim,
                                 const sotto_query_finding *finding, sotto_err *err)
{
    const sotto_policy_analysis *a = sotto_policy_find(policy, l->head.analysis);
    sotto_recipe charged = l->head;

    charged.epsilon = sotto_learning_charge(l, claim);
    sotto_recipe_check_policy(at, policy, &charged);
    check_query(at, policy, &l->head);
    check_size(at, policy, claim);
    if (a) {
        const sotto_budget_limit limit = {
            a->epsilon, a->delta, a->reports, policy->composition, {0}};

        SOTTO_TRY(check_budget(at, l, claim, &limit, "the whole analysis", err));
    }
    return check_fields(at, l, policy, claim, finding, err);
}

/* ---- the verdict ----------------------------------------------------------------------------------------- */

static void say(sotto_recipe_verdict *out, const sotto_mistakes *list)
{
    for (size_t i = 0; i < list->count && !out->why[0]; i++)
        if (list->items[i].severity == SOTTO_MISTAKE)
            (void)snprintf(out->why, sizeof out->why, "%.60s: %.130s", list->items[i].path,
                           list->items[i].what);
    out->accepts = list->errors == 0;
}

sotto_status sotto_learning_judge(sotto_recipe_verdict *verdict, sotto_learning_claim *claim,
                                  const sotto_learning *l, const sotto_policy *policy,
                                  const sotto_streams *streams, sotto_mistakes *mistakes,
                                  sotto_err *err)
{
    sotto_err_clear(err);

    sotto_reading at = {.text = l->head.text, .object = "learning", .mistakes = mistakes};
    const sotto_decimal honest = policy ? policy->honest : SOTTO_HONEST_UNSAID;
    sotto_query_finding finding = {0};

    *verdict = (sotto_recipe_verdict){.policy_known = policy, .streams_known = streams};
    SOTTO_TRY(sotto_learning_claim_compute(claim, l, honest, err));
    claim->session = policy && policy->when_hidden && isfinite(claim->sampled_epsilon);
    check_fits(&at, claim);
    check_one_server(&at, l);
    check_encrypted(&at, l);
    sotto_recipe_warn_one_server(&at, &l->head, (double)l->participations, false);
    sotto_recipe_warn_long(&at, &every, &l->head, l->every);
    if (claim->report_bytes > 0 && !sotto_learning_one_server(l))
        check_factor(&at, l, claim);
    if (claim->report_bytes > 0)
        check_rounding(&at, l, claim);
    check_epsilon(&at, l, claim, honest);
    SOTTO_TRY(check_reach(&at, l, claim, err));
    check_weights(&at, l);
    check_zeros(&at, l);
    check_correlation(&at, l, policy);
    sotto_reading_warn(&at, &learn, "only devices with libsotto-device-full answer");
    SOTTO_TRY(sotto_recipe_judge_query(&finding, &l->head, policy, streams, mistakes, err));
    verdict->query_open = finding.open;
    sotto_verdict_reads(verdict, &finding);
    if (policy)
        SOTTO_TRY(check_policy(&at, l, policy, claim, &finding, err));
    say(verdict, mistakes);
    return sotto_mistakes_status(mistakes, err);
}
