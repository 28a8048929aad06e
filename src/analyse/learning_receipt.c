#include "analyse/learning_receipt.h"

#include "account/numeric/bound.h"
#include "account/numeric/shown.h"
#include "account/trust.h"
#include "analyse/receipt_committee.h"
#include "analyse/receipt_encryption.h"
#include "base/hex.h"
#include "base/rule.h"
#include "base/writer.h"
#include "recipe/learning_correlated.h"
#include "recipe/statistic.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A round that was burnt, after the warm-up, shows that fewer devices came than a claim of a gain counts on. */
static void claim_slots(sotto_learning_receipt *out, const sotto_learning *l,
                        const sotto_learning_claim *claim, uint64_t seen, uint64_t burnt)
{
    const uint64_t warm_up = sotto_learning_warm_up(l);

    out->policy = sotto_round_policy_name(sotto_learning_policy(l));
    out->policy_words = sotto_round_policy_words(sotto_learning_policy(l));
    sotto_slots_claim_of(&out->slots, l, claim, seen);
    if (SOTTO_RULE(slots_burnt_unclaimed) && burnt > (seen < warm_up ? seen : warm_up)) {
        out->slots.epsilon = INFINITY;
        out->slots.why = "not claimed: a round had fewer reports than min_cohort, which tells who "
                         "came";
    }
}

/* seen: rounds of the session until then; burnt: how many of these were. */
static void fill(sotto_learning_receipt *out, const sotto_learning *l,
                 const sotto_learning_claim *claim, const uint8_t model[SOTTO_MODEL_HASH],
                 uint64_t seen, uint64_t burnt)
{
    const double divisor = sotto_learning_divisor(l, seen > 0 ? seen - 1 : 0);
    const sotto_trust_words *words = sotto_trust_words_of(l->head.trust);
    sotto_one_server server;
    sotto_encrypted plan;

    *out = (sotto_learning_receipt){
        .recipe = l->head.name,
        .analysis = l->head.analysis,
        .leader = l->head.leader,
        .helper = l->head.helper,
        .min_cohort = l->head.min_cohort,
        .participations = l->participations,
        .rho = claim->rho,
        .epsilon = claim->epsilon,
        .delta = claim->delta,
        .theorem = claim->theorem,
        .sampling = claim->unsampled_why,
        .by = sotto_noise_source_name(l->head.by),
        .honest = words->honest,
        .inputs = words->inputs,
        .sees = words->sees,
        .correlated = sotto_learning_correlated(l) ? sotto_learning_correlated_words() : NULL,
        .restart = l->restart,
        .buffers = l->buffers,
        .sigma = claim->sigma / (double)l->scale / l->clip,
        .bound_factor = sotto_learning_reach_in_clips(l, claim),
        .lift = sotto_learning_lift(l),
        .divisor = divisor,
        .tokens = l->head.anonymity.tokens != SOTTO_TOKENS_NONE,
        .honest_devices = l->head.by == SOTTO_BY_SHARES ? claim->honest : 0,
        .sampled_epsilon = claim->sampled_epsilon,
        .sampled_share = claim->sampled_share,
    };
    if (isfinite(claim->sampled_epsilon)) {
        out->relay = l->head.anonymity.relay;
        out->gateway = l->head.anonymity.gateway;
    }
    /* Both roundings up: what is proved is a whole number of steps. */
    out->liar = sotto_round_up((double)claim->bound / (double)l->scale / divisor * out->lift, 4);
    if (sotto_learning_once(l))
        claim_slots(out, l, claim, seen, burnt);
    if (sotto_recipe_one_server(&server, &l->head)) {
        out->liar = INFINITY;
        memcpy(out->server, server.name, sizeof out->server);
        sotto_stated_committee_of(&out->stated, &l->head, (double)l->participations, false,
                                  claim->delta);
    }
    if (sotto_learning_encrypted_plan(&plan, l, NULL) == SOTTO_OK) {
        memcpy(out->server, plan.name, sizeof out->server);
        sotto_stated_encryption_of(&out->encryption, &plan, claim->delta);
    }
    memcpy(out->hash, l->head.hash, sizeof out->hash);
    memcpy(out->model, model, sizeof out->model);
}

sotto_status sotto_round_receipt_of(sotto_learning_receipt *out, const sotto_learning *l,
                                    const sotto_learning_claim *claim,
                                    const sotto_round_record *record, uint64_t burnt,
                                    uint64_t reports, sotto_err *err)
{
    if (SOTTO_RULE(round_receipt_cohort) && reports < l->head.min_cohort)
        return sotto_fail(err, SOTTO_DENIED,
                          "round %" PRIu64 ": %" PRIu64 " reports; the recipe demands %" PRIu64,
                          record->round, reports, l->head.min_cohort);
    fill(out, l, claim, record->model, record->round + 1, burnt);
    out->round = record->round;
    out->reports = reports;
    return SOTTO_OK;
}

void sotto_session_receipt_of(sotto_learning_receipt *out, const sotto_learning *l,
                              const sotto_learning_claim *claim,
                              const uint8_t model[SOTTO_MODEL_HASH], uint64_t rounds,
                              uint64_t burnt, uint64_t reports)
{
    fill(out, l, claim, model, rounds, burnt);
    out->session = out->encryption.is_session = true;
    out->rounds = rounds;
    out->burnt = burnt;
    out->reports = reports;
}

/* ---- in words ------------------------------------------------------------------------------------------ */

#define say sotto_write_format

static void say_sampling(sotto_writer *w, const sotto_learning_receipt *r)
{
    if (!isfinite(r->sampled_epsilon)) {
        say(w, "  taking part at random: %s\n", r->sampling);
        return;
    }
    say(w,
        "  to all but the relay and a device's own network: epsilon %.4g at the same delta, of all "
        "rounds, each at most %.3g of the honest devices\n  by samples of known size (Wang, Balle "
        "and Kasiviswanathan "
        "2019, theorem 9)\n",
        sotto_bound_shown(r->sampled_epsilon, 4), sotto_bound_shown(r->sampled_share, 3));
    say(w,
        "  must not work together for that: the relay (%s) with the gateway (%s) or the leader "
        "(%s)\n  devices whose policy has \"sampling\": \"when-hidden\" are charged that, all "
        "others the epsilon above\n",
        r->relay, r->gateway, r->leader);
}

static void say_slots(sotto_writer *w, const sotto_learning_receipt *r)
{
    if (r->slots.why)
        say(w, "  drawing a round in secret (%s): a gain is %s\n", r->policy_words, r->slots.why);
    else
        say(w,
            "  drawing a round in secret (%s): epsilon %.4g at the same delta for all rounds until "
            "then\n  by %s\n  that needs %s\n",
            r->policy_words, sotto_bound_shown(r->slots.epsilon, 4), r->slots.theorem,
            r->slots.honest);
}

static void say_claim(sotto_writer *w, const sotto_learning_receipt *r)
{
    if (isfinite(r->epsilon))
        say(w,
            "privacy: epsilon %.4g at delta %.3g, for other data of one device in all of its "
            "%" PRIu64 " rounds together\n  by %s\n",
            sotto_bound_shown(r->epsilon, 4), sotto_bound_shown(r->delta, 3), r->participations,
            r->theorem);
    else
        say(w, "privacy: no epsilon is claimed: %s\n", r->theorem);
    say(w, "  one round costs %.4g of zero-concentrated DP, released or not\n",
        sotto_bound_shown(r->rho, 4));
    if (r->policy)
        say_slots(w, r);
    else
        say_sampling(w, r);
    say(w, "  noise by %s: standard deviation %.4g clips or more on every entry of a sum\n", r->by,
        r->sigma);
    if (r->correlated && r->buffers > 0)
        say(w, "  by %zu buffers over all rounds. %s %s\n", r->buffers, r->correlated,
            sotto_learning_kept_words());
    else if (r->correlated)
        say(w, "  by trees of %" PRIu64 " rounds. %s\n", r->restart, r->correlated);
    if (r->honest_devices > 0)
        say(w, "  counts on %" PRIu64 " honest devices of every %" PRIu64 "\n", r->honest_devices,
            r->min_cohort);
}

static void say_lift(sotto_writer *w, const sotto_learning_receipt *r)
{
    if (r->lift > 1)
        say(w,
            "  sums are lifted from a projection, which makes any update up to %.3g times longer: "
            "that is counted\n",
            sotto_bound_shown(r->lift, 3));
}

static void say_encryption(sotto_writer *w, const sotto_learning_receipt *r)
{
    say(w,
        "trust: one server, %s; it saw who took part. %s\n  who sees what: %s\n  inputs: %s\n"
        "a liar: no update that is longer than %.6g clips is proved. So one moves the mean of a "
        "round by at most %.3g.\n",
        r->server, r->honest, r->sees, r->inputs, r->bound_factor, sotto_bound_shown(r->liar, 3));
    say_lift(w, r);
    sotto_stated_encryption_say(w, &r->encryption);
}

static void say_trust(sotto_writer *w, const sotto_learning_receipt *r)
{
    if (r->encryption.is_known) {
        say_encryption(w, r);
        return;
    }
    if (r->server[0]) {
        say(w,
            "trust: one server, %s; it saw who took part. %s\n  who sees what: %s\n  inputs are "
            "not "
            "validated: %s\n",
            r->server, r->honest, r->sees, r->inputs);
        sotto_stated_committee_say(w, &r->stated);
        return;
    }
    say(w, "trust: %s and %s. %s\n", r->leader, r->helper, r->honest);
    say(w,
        "a liar: both servers checked that no report is longer than %g clips. So one report moves "
        "the mean of a round by at most %.3g.\n",
        r->bound_factor, r->liar);
    say_lift(w, r);
    if (!r->tokens)
        say(w, "  without tokens, nothing keeps a device from sending several reports\n");
}

sotto_status sotto_learning_receipt_explain(sotto_buf *out, const sotto_learning_receipt *r,
                                            sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);
    char digest[2 * SOTTO_MODEL_HASH + 1], reports[64];

    sotto_hex_encode(digest, sotto_bytes_of(r->model, sizeof r->model));
    if (r->policy)
        (void)snprintf(reports, sizeof reports, "reports that are not counted in public");
    else
        (void)snprintf(reports, sizeof reports, "%" PRIu64 " reports", r->reports);
    if (r->session)
        say(&w, "%s: %" PRIu64 " rounds, %" PRIu64 " of them burnt, %s\nmodel %s\n", r->recipe,
            r->rounds, r->burnt, reports, digest);
    else
        say(&w, "%s, round %" PRIu64 ": %s, from model %s\n", r->recipe, r->round, reports, digest);
    say_claim(&w, r);
    say_trust(&w, r);
    say(&w, "  a sum is divided by %.10g, the public number of reports that is expected\n",
        r->divisor);
    return sotto_writer_finish(&w, "receipt", err);
}
