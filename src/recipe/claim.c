/* What a recipe may claim: its randomizer or noise as questions to the accountant. */
#include "recipe/claim.h"

#include "account/claims.h"
#include "account/cohort.h"
#include "account/numeric/bound.h"
#include "account/trust.h"
#include "aggregate/shard.h"
#include "base/rule.h"
#include "dap/admission.h"
#include "noise/noise.h"
#include "recipe/encrypted.h"
#include "recipe/participation.h"

#include <math.h>

static bool sends_bits(const sotto_randomizer *r)
{
    return r->kind == SOTTO_ONE_HOT_ASYMMETRIC || r->kind == SOTTO_ONE_HOT_SYMMETRIC;
}

/* ---- the other reports ------------------------------------------------------------------------------- */

/* Choice and subset have "no value" among their values. */
sotto_status sotto_recipe_law(sotto_report_law *out, const sotto_randomizer *r, sotto_err *err)
{
    double values = (double)r->values + 1;

    if (r->kind == SOTTO_CHOICE_RESPONSE || r->kind == SOTTO_BINARY_RESPONSE)
        return sotto_report_law_choice(out, r->epsilon, values, err);
    if (!sends_bits(r))
        return sotto_report_law_subset(out, r->epsilon, values, (double)r->set, err);
    return sotto_report_law_bits(out, r->epsilon, sotto_randomizer_replacement_epsilon(r), r->p,
                                 r->q, r->adjacency, err);
}

/* Where a device draws after its value, "no report" is one more thing that it may say. Each device of the cohort, silent or not, then
 * runs a local randomizer with a larger epsilon. Of that one nothing else is known. */
static sotto_status crowd_epsilon(sotto_answer *out, const sotto_recipe *recipe,
                                  const sotto_randomizer *r, uint64_t honest, double log_delta,
                                  sotto_err *err)
{
    const double extra = sotto_importance_extra(&recipe->participation);
    sotto_report_law law;

    SOTTO_TRY(sotto_recipe_law(&law, r, err));
    if (SOTTO_RULE(importance_priced) && extra > 0)
        law = (sotto_report_law){
            .local = sotto_round_up(fmax(law.local, law.replacement) + extra, 2),
            .replacement = sotto_round_up(fmax(law.local, law.replacement) + extra, 2)};
    const sotto_claim_question q = {
        .law = &law, .trust = recipe->trust, .honest = honest, .log_delta = log_delta};
    /* Whoever takes part pays without the gain from sampling. */
    return sotto_claim_cohort(out, &q, 1, err);
}

/* ---- noise by others -------------------------------------------------------------------------------- */

/* What is not exact in so many devices' draws on every entry: a table's distance from its law, and tails that are cut. */
static double lost_of(const sotto_report_content *content, uint64_t devices)
{
    const double draws = (double)devices * (double)content->entries;

    return sotto_round_up(draws * (exp(content->log_cut) + sotto_noise_delta(1)), 4);
}

/* What this library lacks, it refuses. */
static sotto_status by_committee(sotto_answer *out, const sotto_recipe *recipe, sotto_err *err)
{
    if (!sotto_recipe_by_committee)
        return sotto_fail(err, SOTTO_DENIED, "noise by a committee");
    return sotto_recipe_by_committee(out, recipe, err);
}

sotto_status sotto_recipe_cohort_epsilon(double *out, const char **theorem,
                                         const sotto_recipe *recipe,
                                         const sotto_report_content *content, uint64_t honest,
                                         double log_delta, sotto_err *err)
{
    const double delta = sotto_decimal_down(recipe->delta);
    sotto_answer answer;

    if (recipe->by == SOTTO_BY_CROWD)
        SOTTO_TRY(crowd_epsilon(&answer, recipe, &content->randomizer, honest, log_delta, err));
    else if (recipe->by == SOTTO_BY_SERVERS)
        SOTTO_TRY(sotto_claim_server_noise(&answer, sotto_recipe_sigma(recipe), content->distance,
                                           delta, log_delta, sotto_noise_delta(content->entries),
                                           err));
    else if (recipe->by == SOTTO_BY_COMMITTEE)
        SOTTO_TRY(by_committee(&answer, recipe, err));
    else
        SOTTO_TRY(sotto_claim_share_noise(
            &answer, sotto_round_down((double)honest * content->variance, 2), content->distance,
            content->distance_l1, delta, log_delta, lost_of(content, honest), err));
    *out = answer.high;
    *theorem = answer.theorem;
    return SOTTO_OK;
}

/* Rounded down by more than the inexact draws cost (randomizer.h: below 2^-100). */
double sotto_recipe_log_delta(const sotto_recipe *recipe)
{
    return sotto_round_down(log(sotto_decimal_down(recipe->delta)), 8);
}

typedef struct search {
    const sotto_recipe *recipe;
    const sotto_report_content *content;
} search;

static sotto_status keeps_epsilon(void *context, uint64_t honest, bool *holds, sotto_err *err)
{
    const search *s = context;
    const char *theorem;
    double eps;

    SOTTO_TRY(sotto_recipe_cohort_epsilon(&eps, &theorem, s->recipe, s->content, honest,
                                          sotto_recipe_log_delta(s->recipe), err));
    *holds = eps <= sotto_decimal_down(s->recipe->epsilon);
    return SOTTO_OK;
}

/* Noise in shares is sized for the cohort, and that of servers needs none: a larger one changes neither. */
sotto_status sotto_recipe_smallest_cohort(uint64_t *out, const sotto_recipe *recipe,
                                          const sotto_report_content *content, sotto_decimal honest,
                                          sotto_err *err)
{
    search s = {recipe, content};

    *out = 0;
    if (recipe->by != SOTTO_BY_CROWD)
        return SOTTO_OK;
    return sotto_smallest_cohort(out, honest, keeps_epsilon, &s, err);
}

/* ---- reports ---------------------------------------------------------------------------------------- */

sotto_status sotto_recipe_vdaf(sotto_vdaf_config *config, sotto_vdaf_sizes *sizes,
                               sotto_trust trust, const sotto_report_content *content,
                               sotto_err *err)
{
    const sotto_vdaf_client_ops *ops = sotto_vdaf_client_named(sotto_trust_model_of(trust)->method);
    const sotto_vdaf_shape shape = {content->entries, content->weight, content->one, content->max};
    sotto_vdaf vdaf;

    if (!ops)
        return sotto_fail(err, SOTTO_DENIED, "aggregation.trust: only split has DAP tasks");
    ops->plan(config, &shape);
    SOTTO_TRY(sotto_vdaf_open(&vdaf, config, NULL, err));
    *sizes = vdaf.sizes;
    return SOTTO_OK;
}

size_t sotto_recipe_report_bytes(const sotto_vdaf_sizes *sizes, sotto_token_kind tokens)
{
    enum {
        METADATA = 16 + 8 + 2,                  /* id, time, public extensions    */
        SEALED = 1 + 2 + 32 + 4 + 16 + (2 + 4), /* HpkeCiphertext, tag, plaintext */
    };
    static const uint16_t admission[] = {[SOTTO_TOKENS_NONE] = 0,
                                         [SOTTO_TOKENS_TYPE_2] = SOTTO_ADMISSION_REPORT,
                                         [SOTTO_TOKENS_ARC] = SOTTO_ARC_ADMISSION_REPORT};

    return METADATA + 4 + sizes->public_share + 2 * (size_t)SEALED + sizes->leader_share +
           sizes->helper_share + admission[tokens];
}

double sotto_recipe_miss(const sotto_randomizer *r)
{
    return sends_bits(r) && r->weight < r->values ? ldexp(1, SOTTO_RANDOMIZER_LOG2_MISS) : 0;
}

static sotto_status claim_answer(sotto_recipe_claim *out, const sotto_recipe *recipe,
                                 const sotto_report_content *content, sotto_err *err)
{
    sotto_err why = {0};
    const sotto_status status =
        sotto_recipe_cohort_epsilon(&out->epsilon_cohort, &out->theorem, recipe, content,
                                    out->honest, sotto_recipe_log_delta(recipe), &why);

    /* Lint says what sigma would have one. */
    if (status == SOTTO_DENIED && recipe->by != SOTTO_BY_CROWD) {
        out->epsilon_cohort = INFINITY;
        out->theorem = "none: the noise is too little for any";
        return SOTTO_OK;
    }
    return status == SOTTO_OK ? SOTTO_OK : sotto_fail(err, status, "%s", why.reason);
}

static void claim_report(sotto_recipe_claim *out, const sotto_report_content *content)
{
    const sotto_randomizer *r = &content->randomizer;
    const bool crowd = content->by == SOTTO_BY_CROWD;

    out->statistic = content->statistic;
    out->by = content->by;
    out->randomizer = content->name;
    out->epsilon_local = crowd ? r->epsilon : INFINITY;
    out->replacement_local = crowd ? sotto_randomizer_replacement_epsilon(r) : INFINITY;
    out->weight = content->weight;
    out->miss = crowd ? sotto_recipe_miss(r) : 0;
    out->sensitivity = content->distance;
    out->device_variance = content->variance;
    out->liar = sotto_recipe_liar(content);
    out->liar_sums = sotto_recipe_liar_sums(content);
}

/* Entries as sent are 0 to max, and de-biasing divides a sum of bits by p - q. Proofs of ciphertexts bound squares, not signs. */
double sotto_recipe_liar(const sotto_report_content *content)
{
    return content->by == SOTTO_BY_CROWD       ? sotto_round_up(1 / (content->p - content->q), 2)
           : content->by == SOTTO_BY_COMMITTEE ? 2 * (double)content->max
                                               : (double)content->max;
}

/* Those that it has, and those that the other one would have had. */
uint64_t sotto_recipe_liar_sums(const sotto_report_content *content)
{
    return content->weight > content->entries / 2 ? content->entries : 2 * content->weight;
}

sotto_status sotto_recipe_claim_compute(sotto_recipe_claim *out, const sotto_recipe *recipe,
                                        sotto_decimal honest, sotto_err *err)
{
    const sotto_participation *p = &recipe->participation;
    sotto_vdaf_config config;
    sotto_vdaf_sizes sizes;
    sotto_report_content content;

    *out =
        (sotto_recipe_claim){.bins = recipe->encoding.bins, .tasks = sotto_recipe_cohorts(recipe)};
    SOTTO_TRY(sotto_recipe_content(&content, recipe, err));
    claim_report(out, &content);
    out->replacement_local = sotto_round_up(out->replacement_local + sotto_importance_extra(p), 1);
    out->none_told = recipe->on_no_match == SOTTO_NO_MATCH_SILENCE;
    out->delta = sotto_decimal_up(recipe->delta);
    out->noise_sigma = sotto_recipe_sigma(recipe);
    if (sotto_trust_model_of(recipe->trust)->two_servers) {
        SOTTO_TRY(sotto_recipe_vdaf(&config, &sizes, recipe->trust, &content, err));
        out->report_bytes = sotto_recipe_report_bytes(&sizes, recipe->anonymity.tokens);
    }
    out->honest = sotto_honest_count(recipe->min_cohort, honest);
    SOTTO_TRY(claim_answer(out, recipe, &content, err));
    out->epsilon_sampled = out->epsilon_cohort;
    out->expected_reports =
        (double)recipe->population *
        sotto_participation_sends(p, sotto_participation_slots(p, recipe->opens, recipe->closes),
                                  recipe->dummies);
    return SOTTO_OK;
}
