/* What a learning recipe may claim: its noise as questions to the accountant, and whether its numbers fit. */
#include "recipe/learning_correlated.h"
#include "recipe/learning_encrypted.h"
#include "recipe/learning_slots.h"

#include "account/gauss/discrete_gaussian.h"
#include "account/gauss/rdp.h"
#include "account/honest.h"
#include "account/numeric/bound.h"
#include "account/put_aside.h"
#include "account/trust.h"
#include "aggregate/pine/pine.h"
#include "base/rule.h"
#include "recipe/claim.h"
#include "recipe/one_server.h"

#include <math.h>

enum { SLACK = 8, ARENA = 64 << 20 };

/* Samplers of a server's noise end here. */
#define MOST_SIGMA 0x1p20
#define MOST_CLIP  0x1p30

/* ---- sizes in steps of the grid ---------------------------------------------------------------------- */

bool sotto_learning_one_server(const sotto_learning *l)
{
    return sotto_trust_model_of(l->head.trust)->one_server;
}

uint64_t sotto_learning_length(const sotto_learning *l)
{
    return l->projected > 0 ? l->projected : l->parameters;
}

double sotto_learning_rate(const sotto_learning *l, uint64_t round)
{
    return l->rate * pow(l->decay, (double)round);
}

/* learn/projection.h: the root of how many parameters are in one number, at most. */
double sotto_learning_lift(const sotto_learning *l)
{
    return l->projected > 0
               ? sotto_round_up(sqrt(ceil((double)l->parameters / (double)l->projected)), 1)
               : 1;
}

double sotto_learning_sigma(const sotto_learning *l)
{
    const double sigma = l->multiplier * l->clip * (double)l->scale;

    return l->head.by == SOTTO_BY_SHARES ? sigma : ceil(sigma);
}

uint64_t sotto_learning_bound(const sotto_learning *l)
{
    return (uint64_t)fmin(ceil(l->bound_factor * l->clip * (double)l->scale), 0x1p60);
}

double sotto_learning_reach_in_clips(const sotto_learning *l, const sotto_learning_claim *claim)
{
    return sotto_learning_is_encrypted(l)
               ? sotto_round_up((double)claim->bound / (double)l->scale / l->clip, 4)
               : l->bound_factor;
}

static sotto_vector_config config_of(const sotto_learning *l)
{
    const bool shares = l->head.by == SOTTO_BY_SHARES;

    return (sotto_vector_config){.law = shares ? SOTTO_SHARE_GAUSSIAN : SOTTO_SHARE_NONE,
                                 .adjacency = SOTTO_ADJACENCY_REPLACEMENT,
                                 .dimension = (size_t)sotto_learning_length(l),
                                 .clip = l->clip,
                                 .scale = (double)l->scale,
                                 .sigma = l->multiplier * l->clip,
                                 .honest = sotto_honest_count(l->head.min_cohort, l->head.honest)};
}

sotto_status sotto_learning_randomizer(sotto_vector_randomizer *out, const sotto_learning *l,
                                       sotto_arena *arena, sotto_err *err)
{
    const sotto_vector_config config = config_of(l);

    return sotto_vector_randomizer_init(out, &config, arena, err);
}

/* ---- whether numbers fit ----------------------------------------------------------------------------- */

static double log2_down(double x)
{
    return x >= 1 ? floor(log2(x)) : 0;
}

/* left and right grow with the scale, or one of them does: a scale of so many bits would do. */
static void add_fit(sotto_learning_claim *out, const sotto_learning *l, const char *what,
                    double left, double right, bool finer)
{
    sotto_fit *fit = &out->fits[out->fit_count++];
    const double scale = (double)l->scale * right / left;

    *fit = (sotto_fit){.what = what, .left = left, .right = right, .holds = left <= right};
    if (fit->holds)
        return;
    fit->finer = finer;
    fit->bits = (unsigned)(finer ? ceil(log2((double)l->scale * left / right)) : log2_down(scale));
}

/* What the proof of two servers needs. */
static void prove_proof(sotto_learning_claim *out, const sotto_learning *l)
{
    const double bound = (double)out->bound;

    add_fit(out, l, "the proved bound, at most 2^48 steps", bound, (double)SOTTO_PINE_BOUND, false);
    add_fit(out, l, "largest times the bound, and noise, in 62 bits",
            (double)l->largest * bound + 2 * (double)SOTTO_PINE_ADDED_LIMIT,
            (double)SOTTO_PINE_SUM_LIMIT, false);
}

/* A sum that wraps is still private, and no sum: entries of all that may be drawn stay below half of the ring. */
static void prove_ring(sotto_learning_claim *out, const sotto_learning *l)
{
    sotto_one_server_graph graph;

    (void)sotto_recipe_one_server_graph(&graph, &l->head);
    add_fit(out, l, "largest times the largest entry, its noise included, below half of the ring",
            (double)l->largest * (double)out->most, graph.wide ? 0x1p62 : 0x1p31 - 1, false);
}

static void prove_fits(sotto_learning_claim *out, const sotto_learning *l)
{
    const bool shares = l->head.by == SOTTO_BY_SHARES;
    const double honest = (double)sotto_honest_count(l->head.min_cohort, l->head.honest),
                 share = sotto_learning_sigma(l) / sqrt(fmax(honest, 1));

    add_fit(out, l, "the clip on the grid, at most 2^30 steps", l->clip * (double)l->scale,
            MOST_CLIP, false);
    if (!sotto_learning_one_server(l))
        prove_proof(out, l);
    if (shares) {
        add_fit(out, l, "2 steps, at most a device's part of the noise", 2, share, true);
        add_fit(out, l, "a device's part of the noise, at most 2^15 steps", share, 0x1p15, false);
    } else {
        add_fit(out, l,
                sotto_learning_is_encrypted(l) ? "the noise of a committee, at most 2^20 steps"
                                               : "a server's noise, at most 2^20 steps",
                sotto_learning_sigma(l), MOST_SIGMA, false);
    }
}

static bool all_fit(const sotto_learning_claim *claim)
{
    for (size_t i = 0; i < claim->fit_count; i++)
        if (!claim->fits[i].holds)
            return false;
    return true;
}

/* ---- whether honest reports pass ---------------------------------------------------------------------- */

/* log of the chance that a report of honest noise is above the bound, and is drawn again. That changes the law of the
 * noise by as much, so it has to be far below delta for all reports of the honest together. */
static double log_miss(const sotto_learning *l)
{
    enum { BESIDE_DELTA = 12 };
    const double reports = (double)l->head.min_cohort * (double)l->participations;

    return fmin(-40 * log(2), log(sotto_decimal_down(l->head.delta)) -
                                  sotto_decimal_up(l->head.epsilon) - BESIDE_DELTA - log(reports));
}

/* |x + n|^2 = |x|^2 + 2 <x, n> + |n|^2. Entries of n are sub-Gaussian with s^2, so <x, n> passes |x| s sqrt(2 t) with a chance
 * of exp(-t). |n|^2 passes s^2 (d + 2 sqrt(d t) + 2 t) with the same chance (Hsu, Kakade and Zhang 2012, theorem 1). */
static double needed(const sotto_learning *l, double d, double norm, double s)
{
    const double t = log(2) - log_miss(l);

    return ceil(sotto_round_up(
        sqrt(norm * norm + 2 * norm * s * sqrt(2 * t) + s * s * (d + 2 * sqrt(d * t) + 2 * t)),
        SLACK));
}

/* The least bound_factor with which honest reports of so many numbers pass, rounded up. */
static double factor_of(const sotto_learning *l, double device_sigma, double d)
{
    const double
        clip = sotto_round_up(l->clip * (double)l->scale, SLACK),
        norm = sotto_round_up(sqrt(sotto_vector_rounded_norm2(clip, d)), SLACK),
        /* The parameter that is drawn with, which the randomizer rounded down for claims. */
        most = sotto_round_up(device_sigma * (1 + 1e-12), SLACK),
        steps = l->head.by == SOTTO_BY_SHARES ? needed(l, d, norm, most) : ceil(norm);

    return sotto_round_up(steps / (l->clip * (double)l->scale), SLACK);
}

/* It grows with the numbers. */
uint64_t sotto_learning_projects_to(const sotto_learning *l, const sotto_learning_claim *claim,
                                    double factor)
{
    uint64_t low = 0, high = l->parameters;

    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;

        *(factor_of(l, claim->device_sigma, (double)middle) <= factor ? &low : &high) = middle;
    }
    return low;
}

/* ---- epsilon ------------------------------------------------------------------------------------------ */

typedef struct several {
    sotto_discrete_sum once;
    double times;
} several;

static double divergence(const void *self, double alpha)
{
    const several *s = self;

    return sotto_round_up(s->times * sotto_discrete_sum_divergence(&s->once, alpha), 2);
}

/* Adaptive composition of Renyi divergences: later rounds depend on what earlier ones released. */
static sotto_status shares_epsilon(sotto_bound *eps, sotto_learning_claim *out,
                                   const sotto_learning *l, double log_delta, sotto_err *err)
{
    const double d = (double)sotto_learning_length(l);
    several s = {.times = (double)l->participations};

    SOTTO_TRY(sotto_discrete_sum_open(&s.once, out->device_sigma, (double)out->honest, d,
                                      sotto_round_up(sqrt(d) * out->sensitivity, 2),
                                      out->sensitivity, err));
    out->rho = sotto_round_up(s.once.linear, SLACK);
    out->theorem = "sums of discrete Gaussians (Kairouz, Liu and Steinke 2021, proposition 14), "
                   "Renyi divergences of all participations added up";
    return sotto_rdp_minimise(eps, NULL, divergence, &s, 1 + 1e-4, 1e6, log_delta, err);
}

static sotto_status servers_epsilon(sotto_bound *eps, sotto_learning_claim *out,
                                    const sotto_learning *l, double log_delta, sotto_err *err)
{
    double fresh;

    SOTTO_TRY(sotto_zcdp_of_gaussian(&fresh, out->sigma, out->sensitivity, err));
    out->rho = fresh;
    if (SOTTO_RULE(learning_nodes_paid_for) && out->price.each > 1)
        out->rho = sotto_round_up(fresh * out->price.each, 2);
    double all = sotto_round_up(out->rho * (double)l->participations, 2);
    if (SOTTO_RULE(learning_buffers_paid_together) && sotto_learning_buffered(l))
        all = sotto_round_up(fresh * out->price.all, 2);
    out->theorem =
        sotto_learning_buffered(l)
            ? "one server's discrete Gaussian noise through a buffered Toeplitz matrix, zCDP of "
              "all "
              "participations at once (Denisov et al. 2022; Canonne, Kamath and Steinke 2020, "
              "theorem 4)"
        : sotto_learning_correlated(l)
            ? "one server's discrete Gaussian noise on nodes of a tree (Kairouz et al. "
              "2021; Canonne, Kamath and Steinke 2020, theorem 4), zCDP added up (Bun and "
              "Steinke 2016)"
            : "discrete Gaussian noise of one server (Canonne, Kamath and Steinke 2020, "
              "theorem 4), zCDP of all participations added up (Bun and Steinke 2016)";
    return sotto_zcdp_epsilon(eps, all, log_delta, err);
}

/* What is not exact in all draws of so many rounds. */
static double lost_of(const sotto_learning_claim *claim, const sotto_learning *l, uint64_t rounds)
{
    const double devices = l->head.by == SOTTO_BY_SHARES ? (double)claim->honest : 1;
    /* Too long; or the proof's own checks fail, once in 2^100 reports (aggregate/pine/shard.c). What nobody proves is never drawn again. */
    const double redrawn = l->head.by == SOTTO_BY_SHARES && !sotto_learning_one_server(l)
                               ? exp(log_miss(l)) + 0x1p-100
                               : 0;

    return sotto_round_up((double)rounds * devices *
                              ((double)sotto_learning_length(l) * sotto_noise_delta(1) + redrawn),
                          SLACK);
}

static void claim_epsilon(sotto_learning_claim *out, const sotto_learning *l)
{
    if (sotto_learning_is_encrypted(l)) {
        sotto_learning_claim_encrypted(out, l);
        return;
    }
    /* lost_of counts redraws as rare as a bound of this factor makes them, and no others. */
    if (SOTTO_RULE(learning_redraws_are_rare) && l->head.by == SOTTO_BY_SHARES &&
        l->bound_factor < out->factor_needed) {
        out->theorem = "none: honest noise would be drawn again too often";
        return;
    }
    const double delta = sotto_decimal_down(l->head.delta),
                 log_delta =
                     sotto_round_down(sotto_recipe_log_delta(&l->head) - SOTTO_PUT_ASIDE, 1);
    sotto_bound eps;
    sotto_err none = {0};
    const sotto_status status = l->head.by == SOTTO_BY_SHARES
                                    ? shares_epsilon(&eps, out, l, log_delta, &none)
                                    : servers_epsilon(&eps, out, l, log_delta, &none);

    if (status == SOTTO_OK &&
        sotto_draws_are_paid(eps.high, lost_of(out, l, sotto_learning_paid_draws(l)), delta)) {
        out->epsilon = eps.high;
        return;
    }
    out->epsilon = INFINITY;
    out->theorem = "none: the noise is too little for any";
}

/* ---- all of it ---------------------------------------------------------------------------------------- */

/* Only where it is less: the theorem for samples of known size is loose for large samples. */
static void claim_sampled(sotto_learning_claim *out, const sotto_learning *l, sotto_decimal honest)
{
    const double delta = sotto_decimal_down(l->head.delta),
                 log_delta =
                     sotto_round_down(sotto_recipe_log_delta(&l->head) - SOTTO_PUT_ASIDE, 1);

    out->unsampled_why = sotto_learning_unsampled(l);
    if (out->unsampled_why)
        return;
    out->unsampled_why = "not claimed: it is too little for the theorem";
    if (sotto_learning_sample(out, l, honest, log_delta, NULL) == SOTTO_OK &&
        out->sampled_epsilon < out->epsilon &&
        sotto_draws_are_paid(out->sampled_epsilon, lost_of(out, l, l->rounds), delta)) {
        out->unsampled_why = "left out of this claim, which holds whoever sees who takes part";
        return;
    }
    out->sampled_epsilon = INFINITY;
}

/* A report over two servers, with its proof. */
static sotto_status claim_report(sotto_learning_claim *out, const sotto_learning *l,
                                 sotto_arena *arena, sotto_err *err)
{
    const sotto_vdaf_client_ops *ops = sotto_vdaf_client_named("pine");
    const sotto_vdaf_shape shape = {.length = sotto_learning_length(l), .most = out->bound};
    sotto_vdaf_config config;
    sotto_vdaf vdaf;

    out->factor_needed = factor_of(l, out->device_sigma, (double)shape.length);
    if (l->projected > 0)
        out->factor_unprojected = factor_of(l, out->device_sigma, (double)l->parameters);
    if (!ops)
        return sotto_fail(err, SOTTO_MISSING, "this build has no PINE");
    ops->plan(&config, &shape);
    SOTTO_TRY(sotto_vdaf_open(&vdaf, &config, arena, err));
    out->report_bytes = sotto_recipe_report_bytes(&vdaf.sizes, l->head.anonymity.tokens);
    return SOTTO_OK;
}

static sotto_status claim_sizes(sotto_learning_claim *out, const sotto_learning *l,
                                sotto_arena *arena, sotto_err *err)
{
    sotto_vector_randomizer randomizer;

    SOTTO_TRY(sotto_learning_randomizer(&randomizer, l, arena, err));
    out->norm = sotto_round_up(sqrt((double)randomizer.norm2), SLACK);
    out->sensitivity = sotto_round_up(2 * out->norm, 1);
    out->device_sigma = randomizer.device_sigma;
    out->sigma = l->head.by == SOTTO_BY_SHARES
                     ? sotto_round_down(out->device_sigma * sqrt((double)out->honest), 4)
                     : sotto_learning_sigma(l);
    out->most = randomizer.most;
    if (!sotto_learning_one_server(l))
        return claim_report(out, l, arena, err);
    prove_ring(out, l);
    out->report_bytes =
        all_fit(out) ? sotto_one_server_report_bytes(&l->head, sotto_learning_length(l)) : 0;
    return SOTTO_OK;
}

sotto_status sotto_learning_claim_compute(sotto_learning_claim *out, const sotto_learning *l,
                                          sotto_decimal honest, sotto_err *err)
{
    sotto_arena arena;

    *out = (sotto_learning_claim){.honest = sotto_honest_count(l->head.min_cohort, honest),
                                  .price = {1, (double)l->participations},
                                  .rho = INFINITY,
                                  .epsilon = INFINITY,
                                  .delta = sotto_decimal_up(l->head.delta),
                                  .theorem = "none: the numbers do not fit",
                                  .sampled_epsilon = INFINITY,
                                  .unsampled_why = "not claimed: the numbers do not fit",
                                  .bound = sotto_learning_bound(l),
                                  .log2_miss = log_miss(l) / log(2),
                                  .expected_reports = sotto_learning_least_expected(l)};
    if (out->honest == 0)
        return sotto_fail(err, SOTTO_DENIED, "privacy.min_cohort: nobody of it is honest");
    prove_fits(out, l);
    if (!all_fit(out))
        return SOTTO_OK;
    sotto_arena_init(&arena, ARENA);
    const sotto_status status =
        sotto_learning_is_encrypted(l) ? SOTTO_OK : claim_sizes(out, l, &arena, err);
    sotto_arena_clear(&arena);
    SOTTO_TRY(status);
    if (!all_fit(out))
        return SOTTO_OK;
    if (l->head.by == SOTTO_BY_SERVERS)
        out->price = sotto_learning_price_of(l, out->sensitivity);
    claim_epsilon(out, l);
    claim_sampled(out, l, honest);
    return SOTTO_OK;
}
