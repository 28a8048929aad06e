#include "account/claims.h"

#include "account/accountant.h"
#include "account/gauss/rdp.h"
#include "account/local/checkin.h"
#include "account/local/sampling.h"
#include "account/numeric/bound.h"
#include "account/put_aside.h"

/* ---- one report ------------------------------------------------------------------------------------- */

sotto_status sotto_report_law_choice(sotto_report_law *out, double eps, double k, sotto_err *err)
{
    *out = (sotto_report_law){.local = eps, .replacement = eps, .owns = 1};
    return sotto_clone_law_kary(&out->own[0], eps, k, err);
}

sotto_status sotto_report_law_subset(sotto_report_law *out, double eps, double k, double size,
                                     sotto_err *err)
{
    *out = (sotto_report_law){.local = eps, .replacement = eps, .owns = 1};
    return sotto_clone_law_subset(&out->own[0], eps, k, size, err);
}

/* A value against none: one bit tells, with chances h and l; a pair that randomized response with epsilon
 * max(log h/l, log (1-l)/(1-h)) dominates. Somebody else's report is a fair coin between its two answers as often as
 * that has one, times what their own bit costs. That bit is 0 with chance 1-h instead of 1-l (docs/decisions/0022). */
static sotto_clone_law law_of_none(double h, double l)
{
    double eps0 = sotto_round_up(fmax(log(h / l), log((1 - l) / (1 - h))), 16);
    double clone = (1 - h) / (1 - l) * 2 / (exp(eps0) + 1);

    return (sotto_clone_law){eps0, 1, sotto_round_down(clone, 16)};
}

sotto_status sotto_report_law_bits(sotto_report_law *out, double eps, double replacement, double h,
                                   double l, sotto_adjacency adjacency, sotto_err *err)
{
    *out = (sotto_report_law){.local = eps, .replacement = replacement, .owns = 1};
    out->own[0] = law_of_none(h, l);
    if (adjacency != SOTTO_ADJACENCY_REPLACEMENT)
        return SOTTO_OK;
    out->owns = 2;
    return sotto_clone_law_onehot(&out->own[1], h, l, err);
}

/* ---- the door --------------------------------------------------------------------------------------- */

/* Dishonest people were subtracted before, so all of these count as honest. */
static sotto_status ask(sotto_answer *out, const sotto_mechanism_entry *row,
                        const sotto_claim_question *q, sotto_question *question, sotto_err *err)
{
    sotto_case c;

    question->adjacency = SOTTO_ADJACENCY_REPLACEMENT;
    question->trust = q->trust;
    question->dishonest = (sotto_share){0, 1};
    question->participation_is_hidden = q->hidden;
    SOTTO_TRY(sotto_case_open(&c, row, question, err));
    c.log_delta = q->log_delta;
    c.law = q->law;
    return sotto_case_epsilon(out, row, &c, err);
}

static sotto_status ask_reports(sotto_answer *out, const sotto_claim_question *q, double rate,
                                sotto_err *err)
{
    sotto_question question = {
        .mechanism = SOTTO_MECHANISM_SHUFFLED,
        .of.local = {fmax(q->law->local, q->law->replacement), q->honest, rate}};

    return ask(out, &sotto_entry_shuffled, q, &question, err);
}

/* ---- the other reports ----------------------------------------------------------------------------- */

sotto_status sotto_claim_cohort(sotto_answer *out, const sotto_claim_question *q, double rate,
                                sotto_err *err)
{
    const sotto_answer local = {.high = q->law->local,
                                .adjacency = SOTTO_ADJACENCY_REPLACEMENT,
                                .trust = q->trust,
                                .route = "the randomizer's own"};

    *out = local;
    out->theorem = "each report's own local DP: whoever adds up may see it";
    if (sotto_cover_check(q->trust, q->hidden, SOTTO_COVER_SUM, "a cohort", NULL) != SOTTO_OK)
        return SOTTO_OK;
    if (q->honest == 0)
        return sotto_fail(err, SOTTO_DENIED, "no honest report is left, so nothing is hidden");
    SOTTO_TRY(ask_reports(out, q, rate, err));
    if (out->high >= (1 - SOTTO_LEAST_GAIN) * q->law->local) {
        *out = local;
        out->theorem = SOTTO_NO_GAIN_BY_SHUFFLING;
        out->no_gain = true;
    }
    return SOTTO_OK;
}

/* Of delta, a sixteenth is for samples that are a larger share of the population than the one that is priced. */
static double left_of(double log_delta)
{
    return sotto_round_down(log_delta + log1p(-1.0 / 16), 4);
}

static double missed_of(double log_delta)
{
    return sotto_round_down(log_delta - log(16), 4);
}

static sotto_status check_population(const sotto_claim_question *q, sotto_err *err)
{
    if (q->population == 0)
        return sotto_fail(err, SOTTO_DENIED,
                          "no population is stated: nobody can say how small a share takes part");
    return SOTTO_OK;
}

/* The share that a sample is of a population, which is as large as stated, or as the honest reports of the smallest batch show. */
static sotto_status share_of(double *out, const sotto_claim_question *q, double population,
                             double rate, double log_miss, sotto_err *err)
{
    double shown;

    if (q->honest == 0)
        return sotto_fail(err, SOTTO_DENIED, "no honest report is left, so nothing is hidden");
    SOTTO_TRY(sotto_sampled_fewest(&shown, (double)q->honest, rate, log_miss, err));
    return sotto_sampled_share(out, fmin(population, shown), rate, log_miss, err);
}

sotto_status sotto_claim_sampled(sotto_answer *out, const sotto_claim_question *q, double rate,
                                 sotto_err *err)
{
    sotto_claim_question each = *q;
    double share;

    SOTTO_TRY(sotto_cover_check(q->trust, q->hidden, SOTTO_COVER_SAMPLE, "a secret sample", err));
    SOTTO_TRY(check_population(q, err));
    SOTTO_TRY(share_of(&share, q, (double)q->population, rate, missed_of(q->log_delta), err));
    each.log_delta = left_of(q->log_delta);
    SOTTO_TRY(ask_reports(out, &each, share, err));
    if (!out->no_gain)
        out->theorem = "a secret sample (Talwar et al. 2024, Theorem 4), at the share of the "
                       "population that it may be";
    return SOTTO_OK;
}

/* ---- a random moment -------------------------------------------------------------------------------- */

sotto_status sotto_check_in_averaged(sotto_answer *out, double eps0, uint64_t honest,
                                     uint64_t window, double log_delta, sotto_err *err)
{
    const sotto_crowd crowd = {(double)honest, 0};
    sotto_bound eps;

    SOTTO_TRY(sotto_checkin_averaged_halves(&eps, eps0, &crowd, (double)window, log_delta, err));
    return sotto_answer_set(
        out, sotto_checkin_promise(eps, eps0), false,
        "random check-ins with averaged updates (Balle et al. 2020, Theorem 4.1)",
        "closed form, half of delta for each part, at most the local epsilon");
}

static sotto_status check_in_epsilon(sotto_answer *out, const sotto_case *c, sotto_err *err)
{
    const sotto_question *q = c->question;

    return sotto_check_in_averaged(out, q->of.check_in.local_epsilon, c->honest,
                                   q->of.check_in.window, c->log_delta, err);
}

static const sotto_mechanism_entry check_in_averaged = SOTTO_CHECK_IN_ENTRY(check_in_epsilon);

sotto_status sotto_claim_check_in(sotto_answer *out, const sotto_claim_question *q, uint64_t window,
                                  sotto_err *err)
{
    sotto_question question = {
        .mechanism = SOTTO_MECHANISM_CHECK_IN,
        .of.check_in = {SOTTO_CHECK_IN_AVERAGED, q->law->replacement, window, q->honest, 1}};

    return ask(out, &check_in_averaged, q, &question, err);
}

/* The largest share that donors of one slot are of the devices which have not donated yet. With a coin of `rate` before the wait
 * such a device donates in the next slot with a chance of at most rate/slots. Devices that have not donated are the fewest
 * at the end. Half of the miss is for their number, half for the slots together. */
static sotto_status donors_share(double *out, const sotto_claim_question *q, double slots,
                                 double rate, sotto_err *err)
{
    const double donate = sotto_round_up(-rate * expm1(slots * log1p(-1 / slots)), 8);
    const double miss = missed_of(q->log_delta) - log(2);
    double gone;

    SOTTO_TRY(sotto_sampled_share(&gone, (double)q->population, donate, miss, err));
    const double left = floor((1 - gone) * (double)q->population);
    *out = 1;
    if (left < 1)
        return SOTTO_OK;
    return share_of(out, q, left, sotto_round_up(rate / slots, 2),
                    sotto_round_down(miss - log(slots), 4), err);
}

sotto_status sotto_claim_donation(sotto_answer *out, const sotto_claim_question *q, uint64_t slots,
                                  double rate, sotto_err *err)
{
    sotto_claim_question each = *q;
    double share;
    sotto_bound eps;

    SOTTO_TRY(sotto_cover_check(q->trust, q->hidden, SOTTO_COVER_MOMENT, "a donation time", err));
    SOTTO_TRY(check_population(q, err));
    SOTTO_TRY(donors_share(&share, q, (double)slots, rate, err));
    /* delta is spent once a slot and once more. */
    each.log_delta = left_of(q->log_delta) - log((double)slots + 1) - 1e-9;
    SOTTO_TRY(sotto_claim_cohort(out, &each, 1, err));
    SOTTO_TRY(
        sotto_donation_share_promise(&eps, out->high, (double)slots, share, each.log_delta, err));
    out->no_gain = eps.high >= (1 - SOTTO_LEAST_GAIN) * out->high;
    SOTTO_TRY(sotto_answer_set(
        out, eps, false,
        out->no_gain ? SOTTO_NO_GAIN_BY_DONATION
        : rate < 1
            ? "a random donation time of a secret sample (after Talwar et al. 2024, Appendix A), "
              "at "
              "the share that donors of a slot may be"
            : "a random donation time (after Talwar et al. 2024, Appendix A), at the share that "
              "donors of a slot may be",
        "closed form, at most the cohort's own epsilon"));
    return sotto_answer_check(out, err);
}

/* What is added or taken away is a report in the place of another's, as with any sample of a cohort of known size. That is one
 * step from a value to nobody's at its rate, and one to the other value at the other rate. */
sotto_status sotto_claim_importance(sotto_answer *out, const sotto_claim_question *q, double rate,
                                    double rate_other, sotto_err *err)
{
    const sotto_importance rates = {rate, rate_other};
    sotto_claim_question each = *q;
    double log_delta = 0;
    sotto_bound eps;

    SOTTO_TRY(sotto_cover_check(q->trust, q->hidden, SOTTO_COVER_SAMPLE, "a secret sample", err));
    /* Enough for both steps, whatever epsilon they have. */
    each.log_delta =
        fmin(q->log_delta,
             q->log_delta - log(rate_other * (2 + rate_other * expm1(q->law->replacement))) - 1e-9);
    SOTTO_TRY(sotto_claim_cohort(out, &each, 1, err));
    SOTTO_TRY(sotto_importance_eps(&eps, &log_delta, (sotto_bound){0, out->high}, each.log_delta,
                                   &rates, SOTTO_IMPORTANCE_REPLACEMENT, err));
    if (log_delta > q->log_delta)
        return sotto_fail(err, SOTTO_DENIED, "delta does not cover both steps");
    SOTTO_TRY(
        sotto_answer_set(out, eps, false,
                         "importance sampling (Talwar et al. 2024, Theorem 4 at each rate, and "
                         "group privacy)",
                         "closed form over the cohort's own epsilon"));
    return sotto_answer_check(out, err);
}

double sotto_importance_price(double rate, double rate_other)
{
    double sent = log(rate_other / rate), kept = log1p(-rate) - log1p(-rate_other);

    return sotto_round_up(fmax(sent, kept), 8);
}

/* ---- noise by the servers --------------------------------------------------------------------------- */

static sotto_status check_draws(const sotto_bound *eps, double delta, double lost, sotto_err *err)
{
    if (!sotto_draws_are_paid(eps->high, lost, delta))
        return sotto_fail(err, SOTTO_DENIED, "the draws of this noise cost too much of delta");
    return SOTTO_OK;
}

sotto_status sotto_claim_server_noise(sotto_answer *out, double sigma, double distance,
                                      double delta, double log_delta, double draws, sotto_err *err)
{
    sotto_bound eps;
    double rho;

    *out = (sotto_answer){.adjacency = SOTTO_ADJACENCY_REPLACEMENT, .trust = SOTTO_TRUST_SPLIT};
    SOTTO_TRY(sotto_zcdp_of_gaussian(&rho, sotto_round_down(sigma, 1), distance, err));
    SOTTO_TRY(sotto_zcdp_epsilon(&eps, rho, sotto_round_down(log_delta - SOTTO_PUT_ASIDE, 1), err));
    SOTTO_TRY(check_draws(&eps, delta, draws, err));
    SOTTO_TRY(sotto_answer_set(
        out, eps, false, "discrete Gaussian noise (Canonne, Kamath and Steinke 2020, theorem 4)",
        "zero-concentrated DP"));
    return sotto_answer_check(out, err);
}

/* ---- noise by the devices, each a part -------------------------------------------------------------- */

/* Renyi divergence of a whole order (Agarwal, Kairouz and Liu 2021, Corollary 3.6), rounded up. */
static double skellam_divergence(double order, double variance, double l2, double l1)
{
    const double close = ((2 * order - 1) * l2 * l2 + 6 * l1) / (4 * variance * variance),
                 far = 3 * l1 / (2 * variance);

    return sotto_round_up(order * l2 * l2 / (2 * variance) + fmin(close, far), 8);
}

sotto_status sotto_claim_share_noise(sotto_answer *out, double variance, double distance,
                                     double distance_l1, double delta, double log_delta,
                                     double lost, sotto_err *err)
{
    enum { MOST_ORDER = 1 << 20 };
    const double log_left = sotto_round_down(log_delta - SOTTO_PUT_ASIDE, 1);
    sotto_bound eps = {0, INFINITY};

    *out = (sotto_answer){.adjacency = SOTTO_ADJACENCY_REPLACEMENT, .trust = SOTTO_TRUST_SPLIT};
    for (double order = 2, one; order < MOST_ORDER; order = floor(order * 1.03) + 1) {
        const double r = skellam_divergence(order, variance, distance, distance_l1);

        if (!(r < 1e15))
            break;
        SOTTO_TRY(sotto_rdp_convert(&one, order, r, log_left, err));
        eps.high = fmin(eps.high, one);
    }
    SOTTO_TRY(check_draws(&eps, delta, lost, err));
    SOTTO_TRY(sotto_answer_set(out, eps, false,
                               "Skellam noise in shares (Agarwal, Kairouz and Liu 2021, "
                               "Corollary 3.6)",
                               "Renyi DP of whole orders"));
    return sotto_answer_check(out, err);
}

/* ---- noise by a committee --------------------------------------------------------------------------- */

sotto_status sotto_claim_committee_noise(sotto_answer *out, double rho, double delta,
                                         double log_delta, double draws, sotto_err *err)
{
    sotto_bound eps;

    *out = (sotto_answer){.adjacency = SOTTO_ADJACENCY_REPLACEMENT, .trust = SOTTO_TRUST_AERO};
    if (!(rho < 1e12))
        return sotto_fail(err, SOTTO_DENIED, "so little noise has no price");
    SOTTO_TRY(sotto_zcdp_epsilon(&eps, rho, sotto_round_down(log_delta - SOTTO_PUT_ASIDE, 1), err));
    SOTTO_TRY(check_draws(&eps, delta, draws, err));
    SOTTO_TRY(sotto_answer_set(out, eps, false,
                               "discrete Gaussian noise in shares (Kairouz, Liu and Steinke 2021, "
                               "proposition 14)",
                               "zero-concentrated DP"));
    return sotto_answer_check(out, err);
}
