/* Judging a recipe: its own claims first, then what the policy allows. A recipe can never widen a policy. */
#include "recipe/claim.h"
#include "recipe/columns.h"
#include "recipe/judge.h"
#include "recipe/participation.h"
#include "recipe/schema.h"
#include "recipe/target.h"
#include "recipe/task.h"

#include "account/numeric/shown.h"
#include "account/trust.h"
#include "base/rule.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const sotto_place privacy = {NULL, "privacy", 0};
static const sotto_place epsilon = {&privacy, "epsilon", 0};
static const sotto_place min_cohort = {&privacy, "min_cohort", 0};

/* ---- the recipe against itself ---------------------------------------------------------------------- */

/* What would keep the claim: a larger epsilon, or a larger cohort. How much noise would, claim_sigma.c says. */
static sotto_status check_claim(sotto_reading *at, sotto_recipe_claim *claim,
                                const sotto_recipe *recipe, sotto_decimal honest, sotto_err *err)
{
    const double found = sotto_bound_shown(claim->epsilon_cohort, 6);
    char accepted[200] = "", what[100] = "any that so little noise has";
    sotto_report_content content;

    if (claim->epsilon_cohort <= sotto_decimal_down(recipe->epsilon)) {
        claim->min_cohort = recipe->min_cohort;
        return SOTTO_OK;
    }
    SOTTO_TRY(sotto_recipe_content(&content, recipe, err));
    SOTTO_TRY(sotto_recipe_smallest_cohort(&claim->min_cohort, recipe, &content, honest, err));
    if (claim->min_cohort)
        (void)snprintf(accepted, sizeof accepted,
                       "%.6g or more, or a min_cohort of %" PRIu64 " or more", found,
                       claim->min_cohort);
    else if (isfinite(found))
        (void)snprintf(accepted, sizeof accepted, "%.6g or more", found);
    if (isfinite(found) && recipe->by >= SOTTO_BY_SERVERS)
        (void)snprintf(what, sizeof what, "the %.6g that %s noise gives", found,
                       recipe->by == SOTTO_BY_SERVERS ? "one server's" : "a committee's");
    else if (isfinite(found))
        (void)snprintf(what, sizeof what, "the %.6g that %" PRIu64 " honest reports give", found,
                       claim->honest);
    sotto_reading_mistake(at, &epsilon, accepted, "claims less than %s", what);
    return SOTTO_OK;
}

/* Who may add noise is a property of the trust model. */
static void check_source(sotto_reading *at, const sotto_recipe *recipe)
{
    static const sotto_place by = {&privacy, "by", 0};
    static const unsigned bits[] = {[SOTTO_BY_SHARES] = SOTTO_NOISE_BY_SHARES,
                                    [SOTTO_BY_SERVERS] = SOTTO_NOISE_BY_SERVERS,
                                    [SOTTO_BY_COMMITTEE] = SOTTO_NOISE_BY_COMMITTEE};

    if (SOTTO_RULE(source_of_the_trust_model) && recipe->by != SOTTO_BY_CROWD &&
        !(sotto_trust_model_of(recipe->trust)->noise & bits[recipe->by]))
        sotto_reading_mistake(at, &by, "a source of noise that this trust model has",
                              "nobody adds such noise where the trust model is %s",
                              sotto_trust_name(recipe->trust));
}

/* A batch may span the whole schedule, but a round of donations one slot: the first has the most. */
static void check_reach(sotto_reading *at, const sotto_recipe *recipe)
{
    const sotto_participation *p = &recipe->participation;
    sotto_slot_range most = sotto_participation_slots(p, recipe->opens, recipe->closes);

    if (SOTTO_RULE(lint_rounds_reach) && p->type == SOTTO_DONATION)
        most.end = most.first + 1;
    const double expected =
        (double)recipe->population * sotto_participation_sends(p, most, recipe->dummies);
    if (expected < (double)recipe->min_cohort)
        sotto_reading_mistake(at, &min_cohort, "a larger population or rate, or a smaller cohort",
                              "about %.0f reports are expected%s: nothing would ever be released",
                              expected, p->type == SOTTO_DONATION ? " in a slot at most" : "");
}

static void check_weight(sotto_reading *at, const sotto_recipe_claim *claim)
{
    static const sotto_place place = {NULL, "randomizer", 0};

    if (claim->weight >= claim->bins && claim->bins > 2 && claim->by == SOTTO_BY_CROWD &&
        claim->epsilon_local < 0.5)
        sotto_reading_warn(at, &place,
                           "so noisy that the proof bounds nothing: any set of bins passes");
}

/* No proof can hold a report to noise that nobody may see. */
static void check_liar(sotto_reading *at, const sotto_recipe_claim *claim)
{
    static const sotto_place by = {&privacy, "by", 0};
    const bool steps =
        claim->statistic == SOTTO_STATISTIC_SUM || claim->statistic == SOTTO_STATISTIC_MEAN;
    char what[200];

    if (claim->by != SOTTO_BY_SHARES)
        return;
    (void)snprintf(what, sizeof what,
                   "noise in shares leaves room for liars: one report in place of another can move "
                   "each of %" PRIu64 " sums by up to %.0f %s",
                   claim->liar_sums, claim->liar, steps ? "steps" : "counts");
    sotto_reading_warn(at, &by, what);
}

static void check_words(sotto_reading *at, const sotto_recipe *recipe)
{
    static const sotto_place no_match = {NULL, "on_no_match", 0},
                             taking = {NULL, "participation", 0},
                             anonymity = {NULL, "anonymity", 0}, tokens = {&anonymity, "tokens", 0},
                             schedule = {NULL, "schedule", 0},
                             precision = {&schedule, "precision", 0},
                             adjacency = {&privacy, "adjacency", 0};

    if (recipe->adjacency != SOTTO_ADJACENCY_REPLACEMENT)
        sotto_reading_warn(at, &adjacency,
                           "refused by devices, whose budgets count in the replacement model");
    if (recipe->on_no_match == SOTTO_NO_MATCH_RANDOM_BIN)
        sotto_reading_warn(
            at, &no_match,
            "devices without a value add the same to every bin: estimates are biased "
            "upward by their share divided by the number of bins");
    if (recipe->on_no_match == SOTTO_NO_MATCH_SILENCE)
        sotto_reading_warn(at, &no_match,
                           "silence tells that a device has no value; only a policy that allows it "
                           "lets a device do so");
    const char *refused = sotto_participation_refused(&recipe->participation);
    if (refused)
        sotto_reading_mistake(
            at, &taking, "poisson, donation, or check-in with the variant averaged", "%s", refused);
    if (recipe->anonymity.tokens == SOTTO_TOKENS_ARC)
        sotto_reading_warn(at, &tokens, "only devices with libsotto-device-full answer");
    if (recipe->anonymity.relay && recipe->precision < SOTTO_HIDDEN_PRECISION)
        sotto_reading_warn(at, &precision,
                           "reports tell their time so exactly that a relay does not hide who made "
                           "them; 1m or more would do");
    const char *silent = sotto_importance_refused(recipe);
    if (silent) {
        char what[160];

        (void)snprintf(what, sizeof what, "refused by devices: %s", silent);
        sotto_reading_warn(at, &taking, what);
    }
}

static bool same_name(sotto_bytes name, const char *column)
{
    return name.len == strlen(column) &&
           strncasecmp((const char *)name.data, column, name.len) == 0;
}

/* A field counts as read, and is charged, whether or not its column is used. */
static void check_unused(sotto_reading *at, const sotto_recipe *recipe)
{
    static const sotto_place query = {NULL, "query", 0};
    sotto_columns columns = sotto_columns_of(recipe->query);
    sotto_bytes name, first = {0};
    unsigned unused = 0;
    char what[200];

    while (sotto_columns_next(&columns, &name)) {
        bool used = name.len == 0;

        for (size_t i = 0; i < recipe->encoding.count && !used; i++)
            used = same_name(name, recipe->encoding.encoders[i].column);
        if (!used && unused++ == 0)
            first = name;
    }
    if (unused == 0)
        return;
    (void)snprintf(what, sizeof what,
                   "column \"%.*s\"%s not in encode: read and paid for, and used for nothing",
                   (int)(first.len < 60 ? first.len : 60), (const char *)first.data,
                   unused > 1 ? ", and others, are" : " is");
    sotto_reading_warn(at, &query, what);
}

/* A device that drew for one of two versions, or for another round of the analysis, refuses what was drawn at another rate. */
static void lint_draw(sotto_reading *at, const sotto_recipe *recipe, const sotto_recipe *other)
{
    static const sotto_place taking = {NULL, "participation", 0}, rate = {&taking, "rate", 0},
                             dummies = {NULL, "dummies", 0};
    const sotto_participation *p = &recipe->participation, *q = &other->participation;
    const bool same_analysis = strcmp(recipe->analysis, other->analysis) == 0;
    const bool version = same_analysis && strcmp(recipe->name, other->name) == 0;

    if (SOTTO_RULE(lint_one_rate) && version && p->slots == 0 && q->slots == 0 &&
        p->rate != q->rate)
        sotto_reading_mistake(at, &rate, "the value that the other version has, or another name",
                              "not that of version %" PRIu64 ": a device draws once for both",
                              other->version);
    if (SOTTO_RULE(lint_one_rate_of_dummies) && recipe->dummies != other->dummies &&
        (version || (same_analysis && p->slots > 0 && q->slots > 0)))
        sotto_reading_mistake(at, &dummies, "the value that the other recipe has",
                              "not that of recipe \"%.60s\", version %" PRIu64
                              ": a device draws once for both",
                              other->name, other->version);
}

void sotto_participation_lint(const sotto_recipe *recipe, const sotto_recipe *other,
                              sotto_mistakes *mistakes)
{
    static const sotto_place taking = {NULL, "participation", 0};
    sotto_reading at = {.text = recipe->text, .object = "recipe", .mistakes = mistakes};
    const char *key = sotto_participation_differs(&recipe->participation, &other->participation);
    const sotto_place place = {&taking, key, 0};

    if (SOTTO_RULE(lint_one_window) && key && strcmp(recipe->analysis, other->analysis) == 0)
        sotto_reading_mistake(&at, &place, "the value that the other recipe has",
                              "not that of recipe \"%.60s\", which is of the same analysis: a "
                              "device draws once for both",
                              other->name);
    lint_draw(&at, recipe, other);
}

/* ---- the recipe against a policy -------------------------------------------------------------------- */

static void check_listed(sotto_reading *at, const sotto_recipe *recipe, const sotto_policy *policy,
                         const char *key, const sotto_listed *listed, size_t count)
{
    sotto_place place = {NULL, key, 0};

    for (size_t i = 0; i < count; i++) {
        sotto_place field = {&place, listed[i].field, 0};

        if (!sotto_policy_non_sensitive(policy, recipe->analysis, listed[i].field))
            sotto_reading_mistake(at, &field, "a field that the policy lists as non-sensitive",
                                  "the policy does not list \"%.60s\" as non-sensitive",
                                  listed[i].field);
    }
}

static bool lists_query(const sotto_policy_analysis *a, const char *query)
{
    sotto_bytes text = sotto_bytes_of(query, strlen(query));

    for (size_t i = 0; i < a->query_count; i++)
        if (sotto_bytes_equal_vartime(a->queries[i], text))
            return true;
    return a->query_count == 0;
}

static void check_analysis(sotto_reading *at, const sotto_policy_analysis *a,
                           const sotto_recipe *recipe)
{
    static const sotto_place query = {NULL, "query", 0}, delta = {&privacy, "delta", 0};
    char limit[SOTTO_DECIMAL_TEXT], accepted[80];

    if (SOTTO_RULE(policy_query_listed) && !lists_query(a, recipe->query))
        sotto_reading_mistake(at, &query, "a query that the policy lists, byte for byte",
                              "not one of the %zu queries of this analysis", a->query_count);
    sotto_decimal_format(limit, a->epsilon);
    (void)snprintf(accepted, sizeof accepted, "at most %s", limit);
    if (SOTTO_RULE(policy_epsilon) && recipe->epsilon.units > a->epsilon.units)
        sotto_reading_mistake(at, &epsilon, accepted,
                              "more than the policy gives the whole analysis");
    sotto_decimal_format(limit, a->delta);
    (void)snprintf(accepted, sizeof accepted, "at most %s", limit);
    if (SOTTO_RULE(policy_delta) && recipe->delta.units > a->delta.units)
        sotto_reading_mistake(at, &delta, accepted,
                              "more than the policy gives the whole analysis");
}

/* Of ARC leader and helper are the issuers. */
static void check_issuers(sotto_reading *at, const sotto_policy *policy, const sotto_recipe *recipe)
{
    static const sotto_place anonymity = {NULL, "anonymity", 0}, issuer = {&anonymity, "issuer", 0},
                             tokens = {&anonymity, "tokens", 0};
    const sotto_anonymity *a = &recipe->anonymity;

    if (a->issuer && !sotto_policy_issuer_named(policy, a->issuer))
        sotto_reading_warn(at, &issuer, "no issuer of the policy: its devices stay silent");
    if (a->tokens == SOTTO_TOKENS_ARC && (!sotto_policy_issuer_named(policy, recipe->leader) ||
                                          !sotto_policy_issuer_named(policy, recipe->helper)))
        sotto_reading_warn(at, &tokens,
                           "leader and helper are not both issuers of the policy: its devices stay "
                           "silent");
}

static void check_anonymity(sotto_reading *at, const sotto_policy *policy, const sotto_anonymity *a)
{
    static const sotto_place anonymity = {NULL, "anonymity", 0}, log = {&anonymity, "log", 0};

    if (SOTTO_RULE(policy_log_known) && a->log && !sotto_policy_log_named(policy, a->log))
        sotto_reading_mistake(at, &log, "a log of the policy", "the policy names no log \"%.60s\"",
                              a->log);
}

/* How many devices of a target answer is released. A sample hides in that number whether one more device met the target; all of
 * them do not (Talwar et al. 2024, 5.5). */
static void check_target(sotto_reading *at, const sotto_policy *policy, const sotto_recipe *recipe)
{
    static const sotto_place targeting = {NULL, "targeting", 0};
    const sotto_participation *p = &recipe->participation;
    const bool drawn = p->type == SOTTO_POISSON || p->type == SOTTO_DONATION;
    const double chance = drawn ? p->rate : p->type == SOTTO_IMPORTANCE ? p->rate_other : 1;
    sotto_err err = {0};

    if (SOTTO_RULE(policy_targeting_rate) && recipe->targeting_count > 0 &&
        !(chance <= policy->targeting_rate))
        sotto_reading_mistake(at, &targeting, "poisson or donation with a smaller rate",
                              "a device of the target takes part with chance %g; the policy allows "
                              "%g",
                              chance, policy->targeting_rate);
    if (recipe->targeting_count > 0 && sotto_recipe_target_check(recipe, policy, &err) != SOTTO_OK)
        sotto_reading_mistake(at, &targeting, "a target that a logged release has counted", "%s",
                              err.reason);
}

void sotto_recipe_check_policy(sotto_reading *at, const sotto_policy *policy,
                               const sotto_recipe *recipe)
{
    static const sotto_place analysis = {NULL, "analysis", 0}, no_match = {NULL, "on_no_match", 0},
                             aggregation = {NULL, "aggregation", 0},
                             trust = {&aggregation, "trust", 0},
                             taking = {NULL, "participation", 0},
                             adjacency = {&privacy, "adjacency", 0};
    const sotto_policy_analysis *a = sotto_policy_find(policy, recipe->analysis);
    char accepted[80];

    if (a)
        check_analysis(at, a, recipe);
    if (SOTTO_RULE(policy_analysis_known) && !a)
        sotto_reading_mistake(at, &analysis, "an analysis that the policy names",
                              "the policy knows no such analysis");
    (void)snprintf(accepted, sizeof accepted, "%" PRIu64 " or more", policy->min_cohort);
    if (SOTTO_RULE(policy_min_cohort) && recipe->min_cohort < policy->min_cohort)
        sotto_reading_mistake(at, &min_cohort, accepted, "below what the policy insists on");
    if (SOTTO_RULE(policy_adjacency) && recipe->adjacency != SOTTO_ADJACENCY_REPLACEMENT)
        sotto_reading_mistake(at, &adjacency, "replacement",
                              "a device's budgets count in the replacement model");
    if (SOTTO_RULE(policy_trust) && !(policy->trusts >> recipe->trust & 1))
        sotto_reading_mistake(at, &trust, "a way to add up that the policy allows",
                              "the policy does not allow this way to add up");
    check_anonymity(at, policy, &recipe->anonymity);
    check_issuers(at, policy, recipe);
    check_target(at, policy, recipe);
    check_listed(at, recipe, policy, "cohorts", recipe->cohorts, recipe->cohort_count);
    check_listed(at, recipe, policy, "targeting", recipe->targeting, recipe->targeting_count);
    if (SOTTO_RULE(policy_silence) && recipe->on_no_match == SOTTO_NO_MATCH_SILENCE &&
        !policy->silence)
        sotto_reading_mistake(at, &no_match, "no-value, oov or random-bin",
                              "the policy does not allow silence: it tells something");
    const char *refused = sotto_importance_refused(recipe);
    if (SOTTO_RULE(policy_importance) && refused)
        sotto_reading_mistake(at, &taking, "poisson, check-in or donation", "%s", refused);
}

void sotto_recipe_lint_too_long(sotto_reading *at, const sotto_place *place, const char *fewer,
                                size_t bytes, const sotto_policy *policy)
{
    char accepted[80];

    (void)snprintf(accepted, sizeof accepted, "%s: at most %" PRIu64 " bytes", fewer,
                   policy->report_bytes);
    sotto_reading_mistake(at, place, accepted,
                          "reports of %zu bytes are longer than the policy allows", bytes);
}

/* Before any memory is taken for a report: a million bins are 16 MB to send and ten times that to make. */
static void check_size(sotto_reading *at, const sotto_policy *policy,
                       const sotto_recipe_claim *claim)
{
    static const sotto_place encode = {NULL, "encode", 0};

    if (SOTTO_RULE(policy_report_bytes) && claim->report_bytes > policy->report_bytes)
        sotto_recipe_lint_too_long(at, &encode, "fewer bins", claim->report_bytes, policy);
}

sotto_status sotto_recipe_lint_terms(sotto_recipe_claim *claim, const sotto_recipe *recipe,
                                     const sotto_policy *policy, sotto_mistakes *mistakes,
                                     sotto_err *err)
{
    sotto_reading at = {.text = recipe->text, .object = "recipe", .mistakes = mistakes};
    sotto_decimal honest = policy ? policy->honest : SOTTO_HONEST_UNSAID;

    SOTTO_TRY(sotto_recipe_claim_compute(claim, recipe, honest, err));
    SOTTO_TRY(check_claim(&at, claim, recipe, honest, err));
    check_source(&at, recipe);
    check_reach(&at, recipe);
    check_weight(&at, claim);
    check_liar(&at, claim);
    check_words(&at, recipe);
    if (recipe->statistic != SOTTO_STATISTIC_COUNT) /* which needs no column, and must name one */
        check_unused(&at, recipe);
    if (policy)
        sotto_recipe_check_policy(&at, policy, recipe);
    if (policy)
        check_size(&at, policy, claim);
    return sotto_mistakes_status(mistakes, err);
}
