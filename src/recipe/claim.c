/* What a recipe may claim: its randomizer and noise as questions to the accountant. */
#include "recipe/claim.h"

#include "account/claims.h"
#include "account/cohort.h"
#include "account/numeric/bound.h"
#include "account/trust.h"
#include "aggregate/shard.h"
#include "dap/admission.h"
#include "noise/noise.h"
#include "recipe/participation.h"

#include <math.h>

static bool sends_bits(const sotto_randomizer *r)
{
    return r->kind == SOTTO_ONE_HOT_ASYMMETRIC || r->kind == SOTTO_ONE_HOT_SYMMETRIC;
}

sotto_status sotto_recipe_randomizer(sotto_randomizer *out, const sotto_recipe *recipe,
                                     sotto_err *err)
{
    return sotto_randomizer_init(out, recipe->randomizer, recipe->encoding.bins,
                                 sotto_decimal_down(recipe->epsilon_local), recipe->adjacency, err);
}

/* ---- the other reports ----------------------------------------------------------------------------- */

/* Choice and subset have "no value" among their values. */
sotto_status sotto_recipe_law(sotto_report_law *out, const sotto_randomizer *r, sotto_err *err)
{
    double values = (double)r->values + 1;

    if (r->kind == SOTTO_CHOICE_RESPONSE)
        return sotto_report_law_choice(out, r->epsilon, values, err);
    if (!sends_bits(r))
        return sotto_report_law_subset(out, r->epsilon, values, (double)r->set, err);
    return sotto_report_law_bits(out, r->epsilon, sotto_randomizer_replacement_epsilon(r), r->p,
                                 r->q, r->adjacency, err);
}

sotto_status sotto_recipe_cohort_epsilon(double *out, const char **theorem,
                                         const sotto_recipe *recipe, const sotto_randomizer *r,
                                         uint64_t honest, double log_delta, sotto_err *err)
{
    sotto_report_law law;
    sotto_answer answer;

    SOTTO_TRY(sotto_recipe_law(&law, r, err));
    const sotto_claim_question q = {
        .law = &law, .trust = recipe->trust, .honest = honest, .log_delta = log_delta};
    /* Whoever takes part pays without the gain from sampling. */
    SOTTO_TRY(sotto_claim_cohort(&answer, &q, 1, err));
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
    const sotto_randomizer *randomizer;
} search;

static sotto_status keeps_epsilon(void *context, uint64_t honest, bool *holds, sotto_err *err)
{
    const search *s = context;
    const char *theorem;
    double eps;

    SOTTO_TRY(sotto_recipe_cohort_epsilon(&eps, &theorem, s->recipe, s->randomizer, honest,
                                          sotto_recipe_log_delta(s->recipe), err));
    *holds = eps <= sotto_decimal_down(s->recipe->epsilon);
    return SOTTO_OK;
}

sotto_status sotto_recipe_smallest_cohort(uint64_t *out, const sotto_recipe *recipe,
                                          const sotto_randomizer *r, sotto_decimal honest,
                                          sotto_err *err)
{
    search s = {recipe, r};

    return sotto_smallest_cohort(out, honest, keeps_epsilon, &s, err);
}

/* ---- noise by the servers --------------------------------------------------------------------------- */

/* No claim is made where the draws cost too much. */
static sotto_status claim_noise(sotto_recipe_claim *out, const sotto_recipe *recipe,
                                const sotto_randomizer *r, sotto_err *err)
{
    sotto_answer answer;
    sotto_err why = {0};

    out->sensitivity = sotto_report_distance((double)r->weight, (double)r->bytes);
    if (recipe->noise_milli == 0)
        return SOTTO_OK;
    out->noise_sigma = recipe->noise_milli / 1000.0;
    sotto_status status = sotto_claim_server_noise(
        &answer, out->noise_sigma, out->sensitivity, sotto_decimal_down(recipe->delta),
        sotto_recipe_log_delta(recipe), sotto_noise_delta(r->bytes), &why);
    if (status == SOTTO_DENIED)
        return SOTTO_OK;
    if (status != SOTTO_OK)
        return sotto_fail(err, status, "%s", why.reason);
    out->epsilon_noise = answer.high;
    out->noise_by = answer.theorem;
    return SOTTO_OK;
}

/* ---- reports ---------------------------------------------------------------------------------------- */

sotto_status sotto_recipe_vdaf(sotto_vdaf_config *config, sotto_vdaf_sizes *sizes,
                               sotto_trust trust, const sotto_randomizer *r, sotto_err *err)
{
    const sotto_vdaf_client_ops *ops = sotto_vdaf_client_named(sotto_trust_model_of(trust)->method);
    const sotto_vdaf_shape shape = {r->bytes, r->weight, r->kind == SOTTO_CHOICE_RESPONSE};
    sotto_arena arena;
    sotto_vdaf vdaf;

    if (!ops)
        return sotto_fail(err, SOTTO_DENIED, "aggregation.trust: only split has DAP tasks");
    ops->plan(config, &shape);
    sotto_arena_init(&arena, (size_t)64 << 20);
    sotto_status status = sotto_vdaf_open(&vdaf, config, &arena, err);
    if (status == SOTTO_OK)
        *sizes = vdaf.sizes;
    sotto_arena_clear(&arena);
    return status;
}

size_t sotto_recipe_report_bytes(const sotto_vdaf_sizes *sizes, bool admitted)
{
    enum {
        METADATA = 16 + 8 + 2,                  /* id, time, public extensions    */
        SEALED = 1 + 2 + 32 + 4 + 16 + (2 + 4), /* HpkeCiphertext, tag, plaintext */
    };

    return METADATA + 4 + sizes->public_share + 2 * (size_t)SEALED + sizes->leader_share +
           sizes->helper_share + (admitted ? SOTTO_ADMISSION_REPORT : 0);
}

double sotto_recipe_miss(const sotto_randomizer *r)
{
    return sends_bits(r) && r->weight < r->values ? ldexp(1, SOTTO_RANDOMIZER_LOG2_MISS) : 0;
}

sotto_status sotto_recipe_claim_compute(sotto_recipe_claim *out, const sotto_recipe *recipe,
                                        sotto_decimal honest, sotto_err *err)
{
    const sotto_participation *p = &recipe->participation;
    sotto_vdaf_config config;
    sotto_vdaf_sizes sizes;
    sotto_randomizer r;

    *out =
        (sotto_recipe_claim){.bins = recipe->encoding.bins, .tasks = sotto_recipe_cohorts(recipe)};
    SOTTO_TRY(sotto_recipe_randomizer(&r, recipe, err));
    out->randomizer = sotto_randomizer_name(r.kind);
    out->epsilon_local = r.epsilon;
    out->replacement_local = sotto_randomizer_replacement_epsilon(&r);
    out->none_told = recipe->on_no_match == SOTTO_NO_MATCH_SILENCE;
    out->delta = sotto_decimal_up(recipe->delta);
    out->weight = r.weight;
    out->miss = sotto_recipe_miss(&r);
    if (sotto_trust_model_of(recipe->trust)->two_servers) {
        SOTTO_TRY(sotto_recipe_vdaf(&config, &sizes, recipe->trust, &r, err));
        out->report_bytes =
            sotto_recipe_report_bytes(&sizes, recipe->anonymity.tokens == SOTTO_TOKENS_TYPE_2);
    }
    out->honest = sotto_honest_count(recipe->min_cohort, honest);
    SOTTO_TRY(sotto_recipe_cohort_epsilon(&out->epsilon_cohort, &out->theorem, recipe, &r,
                                          out->honest, sotto_recipe_log_delta(recipe), err));
    out->epsilon_sampled = out->epsilon_cohort;
    out->expected_reports =
        (double)recipe->population *
        sotto_participation_sends(p, sotto_participation_slots(p, recipe->opens, recipe->closes),
                                  recipe->dummies);
    return claim_noise(out, recipe, &r, err);
}
