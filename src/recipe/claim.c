/* Local epsilon from the randomizer's own chances, the cohort's from the crowd it hides in, then what taking part
 * at random adds. */
#include "recipe/claim.h"

#include "account/cohort.h"
#include "account/gauss/rdp.h"
#include "account/local/checkin.h"
#include "account/local/clone.h"
#include "account/local/sampling.h"
#include "account/numeric/bound.h"
#include "base/rule.h"
#include "noise/noise.h"

#include <math.h>

/* A few others take a millionth off an epsilon, which is what any delta buys: no gain that anybody should be told of.
 * Below a thousandth, the last digit that is printed, the local epsilon stands. */
static const double least_gain = 1e-3;

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

/* Two bits change when a value becomes another: own and other swap their chances. Choice and subset treat "no value"
 * as one more value, so their epsilon is this one already. */
double sotto_recipe_replacement_epsilon(const sotto_randomizer *r)
{
    double own = (double)r->own, other = (double)r->other;
    double not_own = (double)(0 - r->own), not_other = (double)(0 - r->other);

    if (!sends_bits(r))
        return r->epsilon;
    return sotto_round_up(log(sotto_round_up((own / other) * (not_other / not_own), 8)), 8);
}

/* ---- the crowd -------------------------------------------------------------------------------------- */

/* A value against none: one bit tells, with chances h and l; a pair that randomized response with epsilon
 * max(log h/l, log (1-l)/(1-h)) dominates. Somebody else's report is a fair coin between its two answers as often as
 * that has one, times what their own bit costs, which is 0 with chance 1-h instead of 1-l (docs/decisions/0022). */
static sotto_clone_law law_of_none(const sotto_randomizer *r)
{
    double h = r->p, l = r->q;
    double eps0 = sotto_round_up(fmax(log(h / l), log((1 - l) / (1 - h))), 16);
    double clone = (1 - h) / (1 - l) * 2 / (exp(eps0) + 1);

    return (sotto_clone_law){eps0, 1, sotto_round_down(clone, 16)};
}

/* What a person's neighbours compare: each law must hold. Choice and subset have "no value" among their values. */
static sotto_status laws_of(sotto_clone_law laws[2], size_t *count, const sotto_randomizer *r,
                            sotto_err *err)
{
    double values = (double)r->values + 1;

    *count = 1;
    if (r->kind == SOTTO_CHOICE_RESPONSE)
        return sotto_clone_law_kary(&laws[0], r->epsilon, values, err);
    if (!sends_bits(r))
        return sotto_clone_law_subset(&laws[0], r->epsilon, values, (double)r->set, err);
    laws[0] = law_of_none(r);
    if (r->adjacency != SOTTO_ADJACENCY_REPLACEMENT)
        return SOTTO_OK;
    *count = 2;
    return sotto_clone_law_onehot(&laws[1], r->p, r->q, err);
}

/* Of a secret sample at this rate; 1: of everybody. */
static sotto_status law_epsilon(double *out, const sotto_clone_law *law, uint64_t honest,
                                double rate, double log_delta, sotto_err *err)
{
    sotto_crowd crowd = {(double)honest, 0};
    sotto_bound bound;

    if (rate < 1)
        SOTTO_TRY(sotto_sampled_clone_eps(&bound, law, &crowd, rate, log_delta, err));
    else
        SOTTO_TRY(sotto_clone_eps(&bound, law, &crowd, log_delta, err));
    *out = bound.high;
    return SOTTO_OK;
}

/* What holds of this randomizer (the largest over its laws) and what holds of every one with its local epsilon
 * are both true, so the smaller one is claimed. */
static sotto_status crowd_epsilon(double *out, const sotto_randomizer *r, uint64_t honest,
                                  double rate, double log_delta, sotto_err *err)
{
    sotto_clone_law laws[2], any;
    double of_any, largest = 0;
    size_t count;

    SOTTO_TRY(laws_of(laws, &count, r, err));
    for (size_t i = 0; i < count; i++) {
        double eps;

        SOTTO_TRY(law_epsilon(&eps, &laws[i], honest, rate, log_delta, err));
        largest = fmax(largest, eps);
    }
    double local = fmax(r->epsilon, sotto_recipe_replacement_epsilon(r));
    SOTTO_TRY(sotto_clone_law_generic(&any, local, err));
    SOTTO_TRY(law_epsilon(&of_any, &any, honest, rate, log_delta, err));
    *out = fmin(largest, of_any);
    return SOTTO_OK;
}

sotto_status sotto_recipe_cohort_epsilon(double *out, const char **theorem,
                                         const sotto_recipe *recipe, const sotto_randomizer *r,
                                         uint64_t honest, double log_delta, sotto_err *err)
{
    const bool sampled =
        recipe->participation.type == SOTTO_POISSON && !SOTTO_RULE(gain_not_charged);
    double crowd;

    *out = r->epsilon;
    *theorem = "local: whoever adds up may see each report";
    if (recipe->trust != SOTTO_TRUST_SPLIT)
        return SOTTO_OK;
    if (honest == 0)
        return sotto_fail(err, SOTTO_DENIED, "nobody honest is left to hide among");
    SOTTO_TRY(
        crowd_epsilon(&crowd, r, honest, sampled ? recipe->participation.rate : 1, log_delta, err));
    if (crowd >= (1 - least_gain) * r->epsilon) {
        *theorem = "local: the crowd is too small to add anything";
        return SOTTO_OK;
    }
    *theorem =
        "hiding among the clones (Feldman et al. 2021), of any randomizer or this one's own law";
    *out = crowd;
    return SOTTO_OK;
}

/* Rounded down by more than what draws that are not exact take of it (randomizer.h: below 2^-100). */
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

/* ---- taking part at random -------------------------------------------------------------------------- */

/* If it can be seen who answers, an answer tells which rate applied. */
static double importance_price(const sotto_participation *p)
{
    double sent = log(p->rate_other / p->rate), kept = log1p(-p->rate) - log1p(-p->rate_other);

    return sotto_round_up(fmax(sent, kept), 8);
}

/* A theorem that doesn't apply gives nothing: the cohort's epsilon stands. */
static sotto_status amplify(sotto_bound *out, const char **by, const sotto_recipe *recipe,
                            const sotto_randomizer *r, uint64_t honest)
{
    const sotto_participation *p = &recipe->participation;
    sotto_crowd crowd = {(double)honest, 0};
    double eps0 = sotto_recipe_replacement_epsilon(r), log_delta = sotto_recipe_log_delta(recipe);
    double slots = (double)p->slots, each, eps;
    const char *theorem;
    sotto_err none = {0};

    switch (p->type) {
    case SOTTO_POISSON:
        *by = "a secret sample (seed 000, theorem 4)";
        out->low = 0;
        return crowd_epsilon(&out->high, r, honest, p->rate, log_delta, &none);
    case SOTTO_CHECK_IN_FIXED_WINDOW:
        *by = "random check-ins, fixed window (seed 001, theorem 3.2)";
        return sotto_checkin_fixed_window(out, eps0, slots, p->rate, log_delta, &none);
    case SOTTO_CHECK_IN_AVERAGED_WINDOW:
        *by = "random check-ins, averaged (seed 001, theorem 4.1)";
        return sotto_checkin_averaged(out, eps0, &crowd, slots, log_delta - log(2) - 1e-9,
                                      log_delta - log(2) - 1e-9, &none);
    case SOTTO_CHECK_IN_SLIDING_WINDOW:
        *by = "random check-ins, sliding window (seed 001, theorem 4.3)";
        return sotto_checkin_sliding_window(out, eps0, slots, log_delta, &none);
    case SOTTO_DONATION:
        *by = "a random donation time (seed 000, appendix A)";
        each = log_delta - log(slots + 1) - 1e-9;
        SOTTO_TRY(sotto_recipe_cohort_epsilon(&eps, &theorem, recipe, r, honest, each, &none));
        return sotto_donation_promise(out, eps, slots, each, &none);
    case SOTTO_IMPORTANCE:
        break;
    }
    return SOTTO_DENIED;
}

static void claim_participation(sotto_recipe_claim *out, const sotto_recipe *recipe,
                                const sotto_randomizer *r, uint64_t honest)
{
    const sotto_participation *p = &recipe->participation;
    const char *by = NULL;
    sotto_bound bound;

    out->epsilon_sampled = out->epsilon_cohort;
    out->expected_reports =
        (double)recipe->population * (p->type == SOTTO_IMPORTANCE ? 1 : p->rate);
    if (p->type == SOTTO_IMPORTANCE) {
        out->epsilon_sampled = sotto_round_up(out->replacement_local + importance_price(p), 1);
        out->sampled_by = "none: whether a device answers depends on its value, and adds to the "
                          "local epsilon";
        return;
    }
    if (recipe->trust != SOTTO_TRUST_SPLIT || amplify(&bound, &by, recipe, r, honest) != SOTTO_OK ||
        !(bound.high < out->epsilon_cohort))
        return;
    out->epsilon_sampled = bound.high;
    out->sampled_by = by;
}

/* ---- noise by the servers --------------------------------------------------------------------------- */

/* One server may be dishonest, and then leaves its noise out and knows its share: what hides a report is the other's
 * noise alone, on the sum of whole reports. A report has at most `weight` ones, so another in its place differs from
 * it in at most twice as many entries, by one each: the L2 sensitivity is sqrt(2 weight). Draws are within a known
 * distance of the law, which costs (1 + e^eps) times as much of delta. */
static sotto_status claim_noise(sotto_recipe_claim *out, const sotto_recipe *recipe,
                                const sotto_randomizer *r, sotto_err *err)
{
    double entries = (double)r->bytes, moved = fmin(2 * (double)r->weight, entries);
    double sigma = recipe->noise_milli / 1000.0, delta = sotto_decimal_down(recipe->delta);
    double spent = sotto_noise_delta(r->bytes), log_delta = sotto_recipe_log_delta(recipe), rho;
    sotto_bound bound;

    out->sensitivity = sotto_round_up(sqrt(moved), 1);
    if (recipe->noise_milli == 0)
        return SOTTO_OK;
    out->noise_sigma = sigma;
    SOTTO_TRY(sotto_zcdp_of_gaussian(&rho, sotto_round_down(sigma, 1), out->sensitivity, err));
    SOTTO_TRY(sotto_zcdp_epsilon(&bound, rho, sotto_round_down(log_delta - 1e-3, 1), err));
    /* A thousandth of log delta was put aside for the draws. */
    if (!((1 + exp(bound.high)) * spent < 0.9e-3 * delta))
        return SOTTO_OK;
    out->epsilon_noise = bound.high;
    out->noise_by = "discrete Gaussian noise (Canonne, Kamath and Steinke 2020, theorem 4)";
    return SOTTO_OK;
}

/* ---- reports ---------------------------------------------------------------------------------------- */

sotto_status sotto_recipe_vdaf(sotto_prio3_config *config, sotto_prio3_sizes *sizes,
                               const sotto_randomizer *r, sotto_err *err)
{
    bool one = r->kind == SOTTO_CHOICE_RESPONSE;
    sotto_arena arena;
    sotto_prio3 vdaf;

    *config = (sotto_prio3_config){
        .type = one ? SOTTO_PRIO3_HISTOGRAM : SOTTO_PRIO3_MULTIHOT_COUNT_VEC,
        .shares = 2,
        .length = r->bytes,
        .chunk_length = sotto_prio3_best_chunk_length(r->bytes, 1),
        .max = one ? 0 : r->weight,
    };
    sotto_arena_init(&arena, (size_t)64 << 20);
    sotto_status status = sotto_prio3_init(&vdaf, &arena, config, err);
    if (status == SOTTO_OK)
        *sizes = vdaf.sizes;
    sotto_arena_clear(&arena);
    return status;
}

size_t sotto_recipe_report_bytes(const sotto_prio3_sizes *sizes)
{
    enum {
        METADATA = 16 + 8 + 2,                  /* id, time, public extensions    */
        SEALED = 1 + 2 + 32 + 4 + 16 + (2 + 4), /* HpkeCiphertext, tag, plaintext */
    };

    return METADATA + 4 + sizes->public_share + 2 * (size_t)SEALED + sizes->leader_share +
           sizes->helper_share;
}

double sotto_recipe_miss(const sotto_randomizer *r)
{
    return sends_bits(r) && r->weight < r->values ? ldexp(1, SOTTO_RANDOMIZER_LOG2_MISS) : 0;
}

sotto_status sotto_recipe_claim_compute(sotto_recipe_claim *out, const sotto_recipe *recipe,
                                        sotto_decimal honest, sotto_err *err)
{
    sotto_prio3_config config;
    sotto_prio3_sizes sizes;
    sotto_randomizer r;

    *out =
        (sotto_recipe_claim){.bins = recipe->encoding.bins, .tasks = sotto_recipe_cohorts(recipe)};
    SOTTO_TRY(sotto_recipe_randomizer(&r, recipe, err));
    out->randomizer = sotto_randomizer_name(r.kind);
    out->epsilon_local = r.epsilon;
    out->replacement_local = sotto_recipe_replacement_epsilon(&r);
    out->none_told = recipe->on_no_match == SOTTO_NO_MATCH_SILENCE;
    out->delta = sotto_decimal_up(recipe->delta);
    out->weight = r.weight;
    out->miss = sotto_recipe_miss(&r);
    SOTTO_TRY(sotto_recipe_vdaf(&config, &sizes, &r, err));
    out->report_bytes = sotto_recipe_report_bytes(&sizes);
    out->honest = sotto_honest_count(recipe->min_cohort, honest);
    SOTTO_TRY(sotto_recipe_cohort_epsilon(&out->epsilon_cohort, &out->theorem, recipe, &r,
                                          out->honest, sotto_recipe_log_delta(recipe), err));
    claim_participation(out, recipe, &r, out->honest);
    return claim_noise(out, recipe, &r, err);
}
