/* What may be claimed of a release, by which theorem, and who must be honest. */
#include "sotto/analyse.h"

#include "account/numeric/bound.h"
#include "account/numeric/shown.h"
#include "account/trust.h"
#include "analyse/receipt_committee.h"
#include "analyse/receipt_encryption.h"
#include "analyse/receipt_parts.h"
#include "base/rule.h"
#include "base/writer.h"
#include "dap/dap.h"
#include "recipe/calendar.h"
#include "recipe/claim.h"
#include "recipe/one_server.h"
#include "recipe/task.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Whether chance hid who took part, priced by the population that both operators state: either of them may be the honest one. */
static void claim_sampling(sotto_receipt *out, const sotto_recipe *recipe,
                           const sotto_recipe_claim *claim, const sotto_collection *collection)
{
    const sotto_rejections *leader = &collection->leader, *helper = &collection->helper;
    sotto_recipe_claim sampled = *claim;
    sotto_err unsaid = {0};

    out->epsilon_sampled = claim->epsilon_cohort;
    out->sampling_why = claim->unsampled_why ? claim->unsampled_why
                        : out->server[0] && !claim->sampled_by
                            ? "no: the server sees who takes part"
                            : NULL;
    if (!claim->sampled_by)
        return;
    out->population =
        leader->population < helper->population ? leader->population : helper->population;
    if (sotto_recipe_claim_sampling(&sampled, recipe, out->population, &unsaid) != SOTTO_OK ||
        !sampled.sampled_by) {
        out->sampling_why = sampled.unsampled_why;
        return;
    }
    if (SOTTO_RULE(sampling_volume) &&
        (leader->rate != SOTTO_RATE_PASSED || helper->rate != SOTTO_RATE_PASSED)) {
        out->sampling_why = "not claimed: more reports came than an operator's population implies";
        return;
    }
    out->sampling = true;
    out->epsilon_sampled = sampled.epsilon_sampled;
    out->sampling_why = sampled.sampled_by;
}

static const char *token_kind(sotto_token_kind tokens)
{
    return tokens == SOTTO_TOKENS_ARC ? "arc" : tokens == SOTTO_TOKENS_TYPE_2 ? "type-2" : NULL;
}

/* As far as this answer's own de-biasing carries a lie. */
static double liar_of(const sotto_recipe_claim *claim, const sotto_result *result)
{
    return claim->by == SOTTO_BY_CROWD ? sotto_round_up(1 / (result->p - result->q), 2)
                                       : claim->liar;
}

/* What recipe, claim and collection say as it is. */
static sotto_receipt stated(const sotto_recipe *recipe, const sotto_recipe_claim *claim,
                            const sotto_collection *collection, const sotto_result *result)
{
    const sotto_trust_model *model = sotto_trust_model_of(recipe->trust);
    const sotto_trust_words *words = sotto_trust_words_of(recipe->trust);

    return (sotto_receipt){
        .recipe = recipe->name,
        .analysis = recipe->analysis,
        .leader = recipe->leader,
        .helper = recipe->helper,
        .version = recipe->version,
        .split = model->two_servers,
        .must_be_honest = model->one_server ? words->honest : NULL,
        .who_sees = model->one_server ? words->sees : NULL,
        .validity = model->one_server ? words->inputs : NULL,
        .proved = model->proved,
        .statistic = claim->statistic,
        .by = claim->by,
        .randomizer = claim->randomizer,
        .adjacency = recipe->adjacency == SOTTO_ADJACENCY_REPLACEMENT ? "replacement" : "deletion",
        .epsilon_local = claim->epsilon_local,
        .replacement_local = claim->replacement_local,
        .none_told = claim->none_told,
        .epsilon_cohort = claim->epsilon_cohort,
        .delta = claim->delta,
        .epsilon_charged = sotto_decimal_up(recipe->epsilon),
        .min_cohort = recipe->min_cohort,
        .honest = claim->honest,
        .honest_share = recipe->min_cohort ? (double)claim->honest / (double)recipe->min_cohort : 0,
        .theorem = claim->theorem,
        .relay = recipe->anonymity.relay,
        .gateway = recipe->anonymity.gateway,
        .attester = recipe->anonymity.attester,
        .issuer = recipe->anonymity.issuer,
        .tokens = recipe->anonymity.tokens != SOTTO_TOKENS_NONE,
        .token_kind = token_kind(recipe->anonymity.tokens),
        .reports = collection->reports,
        .from = collection->from,
        .until = collection->until,
        .liar = liar_of(claim, result),
        .liar_sums = claim->liar_sums,
        .weight = claim->weight,
        .miss = claim->miss,
        .noise_sigma = claim->noise_sigma,
        .device_variance = claim->device_variance,
        .leader_rejections = collection->leader,
        .helper_rejections = collection->helper,
    };
}

void sotto_receipt_of(sotto_receipt *out, const sotto_recipe *recipe, const sotto_task *task,
                      const sotto_recipe_claim *claim, const sotto_collection *collection,
                      const sotto_result *result)
{
    const sotto_trust_model *model = sotto_trust_model_of(recipe->trust);
    sotto_one_server server;

    *out = stated(recipe, claim, collection, result);
    if (sotto_recipe_one_server(&server, recipe)) {
        (void)snprintf(out->server, sizeof out->server, "%s", server.name);
        sotto_stated_committee_of(&out->stated, recipe, 1, true, claim->delta);
    }
    sotto_receipt_encryption(out, recipe);
    sotto_recipe_cohort(recipe, &out->cohort, task->cohort);
    memcpy(out->recipe_hash, recipe->hash, sizeof out->recipe_hash);
    memcpy(out->task_id, task->id, sizeof out->task_id);
    if (recipe->participation.type == SOTTO_IMPORTANCE) {
        out->rate_default = recipe->participation.rate;
        out->rate_other = recipe->participation.rate_other;
    }
    claim_sampling(out, recipe, claim, collection);
    out->aggregation = claim->by == SOTTO_BY_CROWD && (model->gains & SOTTO_GAIN_SHUFFLE) != 0 &&
                       claim->epsilon_cohort < claim->epsilon_local;
}

/* ---- in words ------------------------------------------------------------------------------------------ */

#define say sotto_write_format

static void say_hex(sotto_writer *w, const char *what, const uint8_t *bytes, size_t len)
{
    say(w, "%s", what);
    for (size_t i = 0; i < len; i++)
        say(w, "%02x", bytes[i]);
    say(w, "\n");
}

static void say_cohort(sotto_writer *w, const sotto_cohort *cohort)
{
    char text[SOTTO_COHORT_TEXT];

    if (cohort->count > 0)
        say(w, "  cohort %s\n", sotto_cohort_text(text, cohort));
}

/* As in every path, list and log. */
static void say_task(sotto_writer *w, const uint8_t id[SOTTO_TASK_ID_SIZE])
{
    char text[SOTTO_DAP_ID_TEXT_MAX];

    sotto_dap_id_encode(text, sotto_bytes_of(id, SOTTO_TASK_ID_SIZE));
    say(w, "  task %s\n", text);
}

static const char *why_unknown(const sotto_rejections *r)
{
    return r->why ? r->why : "nobody asked";
}

static void say_rejections(sotto_writer *w, const char *who, const sotto_rejections *r)
{
    say(w, "  rejected by the %s: ", who);
    if (!r->known)
        say(w, "unknown; %s", why_unknown(r));
    else if (r->count == 0)
        say(w, "none");
    for (size_t i = 0; r->known && i < r->count; i++)
        say(w, "%s%" PRIu64 " %s", i ? ", " : "", r->items[i].reports, r->items[i].cause);
    say(w, "\n");
}

/* Whether more reports came than there are devices, by the population that each operator gave. Whoever sends all reports of a
 * batch but one learns that one's from the sum. */
static void say_rate(sotto_writer *w, const char *who, const sotto_rejections *r)
{
    static const char *const words[] = {
        [SOTTO_RATE_UNTOLD] = "unknown; it does not tell",
        [SOTTO_RATE_CHECKED] = "checked; it does not tell what came of it",
        [SOTTO_RATE_OFF] =
            "OFF, since its operator gave no population: nobody noticed there if one "
            "sender filled the batch",
        [SOTTO_RATE_PASSED] = "passed",
        [SOTTO_RATE_RELEASED] =
            "TOO MANY for the population that its operator gave, who released the batch all the "
            "same, with a reason: ask for it",
    };

    say(w, "  volume (Sybil) check at the %s: ", who);
    if (r->known)
        say(w, "%s\n", words[r->rate]);
    else
        say(w, "unknown; %s\n", why_unknown(r));
}

/* What one report tells by itself. */
static void say_report(sotto_writer *w, const sotto_receipt *r)
{
    if (r->by == SOTTO_BY_CROWD)
        say(w, "  one report alone: epsilon %.4g (%s, %s)\n",
            sotto_bound_shown(r->epsilon_local, 4), r->randomizer, r->adjacency);
    else
        say(w, "  one report alone: no local protection%s (%s)\n",
            r->by == SOTTO_BY_SHARES ? " but its part of the noise" : "", r->adjacency);
}

/* Counts are of reports. Where values were sent at two rates, their shares are not those of devices. */
static void say_weights(sotto_writer *w, const sotto_receipt *r)
{
    if (r->rate_other > 0)
        say(w,
            "  counts are of reports: devices with the default value took part with chance %g, "
            "all others with %g\n  divide each count by its rate; shares of reports are not "
            "shares of devices\n",
            r->rate_default, r->rate_other);
}

static void say_answer(sotto_writer *w, const sotto_receipt *r)
{
    const double epsilon = sotto_bound_shown(r->epsilon_cohort, 4),
                 delta = sotto_bound_shown(r->delta, 3);

    if (r->by == SOTTO_BY_SERVERS)
        say(w,
            "  this answer: epsilon %.4g at delta %.3g, by the noise of one honest server alone\n"
            "  noise by the servers: sigma %.10g each, on every sum; intervals cover both\n",
            epsilon, delta, r->noise_sigma);
    else if (r->by == SOTTO_BY_COMMITTEE)
        say(w,
            "  this answer: epsilon %.4g at delta %.3g, by the noise of those noise members that "
            "are honest and answered\n"
            "  noise that is counted on: sigma %.10g on every sum; intervals cover all of it\n",
            epsilon, delta, r->noise_sigma);
    else
        say(w,
            "  this answer: epsilon %.4g at delta %.3g, if %" PRIu64
            " reports are honest (%.3g%% of the smallest cohort, %" PRIu64 ")\n",
            epsilon, delta, r->honest, 100 * r->honest_share, r->min_cohort);
    if (r->by == SOTTO_BY_SHARES)
        say(w, "  noise by the devices: sigma %.3g each, on every sum; intervals cover all of it\n",
            sqrt(r->device_variance));
    say(w, "  basis: %s\n", r->theorem);
    say(w,
        "  charged: each device that answered pays epsilon %.6g from its ledger, as the recipe "
        "states; the answer reveals no more than the %.4g above\n",
        r->epsilon_charged, epsilon);
}

/* A token for each device stops devices, and not those who make tokens. Of ARC the servers are the issuers. */
static void say_tokens(sotto_writer *w, const sotto_receipt *r)
{
    const bool arc = r->token_kind && strcmp(r->token_kind, "arc") == 0;

    say(w, "  what bounds that: ");
    if (r->tokens)
        say(w, "one anonymous %s for each device, ",
            arc             ? "credential (arc)"
            : r->token_kind ? "token (type-2)"
                            : "token");
    say(w, "volume (Sybil) checks and the honest share\n");
    if (r->tokens && (r->issuer || arc))
        say(w, "  may bring reports of no device all the same: ");
    if (r->tokens && r->issuer)
        say(w,
            "the issuer (%s) or the attester (%s), each alone, since each can have tokens made as "
            "it likes\n",
            r->issuer, r->attester);
    else if (arc)
        say(w,
            "the attester (%s), the leader or the helper, each alone, since each can have "
            "credentials made as it likes\n",
            r->attester);
}

/* Somebody who fills a batch alone but for one device. */
static void say_worst(sotto_writer *w, const sotto_receipt *r)
{
    if (r->by == SOTTO_BY_SERVERS || r->by == SOTTO_BY_COMMITTEE)
        return; /* others' noise stays */
    say(w,
        "  at worst: an analyst who brings %" PRIu64 " reports of his own to a batch of %" PRIu64
        ", and subtracts them, faces one device's report, ",
        r->min_cohort - (r->min_cohort > 0), r->min_cohort);
    if (r->by == SOTTO_BY_CROWD)
        say(w, "epsilon %.4g\n",
            sotto_bound_shown(r->replacement_local > r->epsilon_local ? r->replacement_local
                                                                      : r->epsilon_local,
                              4));
    else
        say(w, "which has no local protection\n");
    say_tokens(w, r);
}

static void say_sampling(sotto_writer *w, const sotto_receipt *r)
{
    if (!r->sampling) {
        say(w, "  amplified by sampling: %s\n", r->sampling_why);
        /* Of one server the receipt has said what it sees. */
        if (SOTTO_RULE(receipt_names_parts) && !r->server[0])
            sotto_receipt_say_parts(w, r);
        return;
    }
    say(w,
        "  amplified by sampling: yes, epsilon %.4g to whoever does not know who took part\n"
        "  may know that: the relay, and a device's own network\n"
        "  basis: %s; population %" PRIu64 " by the operators' figures\n",
        sotto_bound_shown(r->epsilon_sampled, 4), r->sampling_why, r->population);
    sotto_receipt_say_apart(w, r);
}

static void say_claims(sotto_writer *w, const sotto_receipt *r)
{
    if (r->split)
        say(w, "  must be honest: the leader (%s) or the helper (%s), one of the two\n", r->leader,
            r->helper);
    else if (r->server[0])
        say(w,
            "  server %s; it saw who took part\n  must be honest: %s\n  who sees what: %s\n"
            "  inputs are %svalidated: %s\n",
            r->server, r->must_be_honest, r->who_sees, r->proved ? "" : "not ", r->validity);
    else
        say(w, "  must be honest: nobody, for a report's own epsilon\n");
    if (r->encryption.is_known)
        sotto_stated_encryption_say(w, &r->encryption);
    else if (r->stated.size > 0)
        sotto_stated_committee_say(w, &r->stated);
    say_report(w, r);
    if (r->none_told)
        say(w,
            "  not hidden: that a device has no value, since it then stays silent; epsilons hold "
            "between values\n");
    say_answer(w, r);
    say_weights(w, r);
    say_worst(w, r);
    say(w, "  amplified by aggregation: %s\n", r->aggregation ? "yes" : "no");
    say_sampling(w, r);
}

static bool has_steps(sotto_statistic statistic)
{
    return statistic == SOTTO_STATISTIC_SUM || statistic == SOTTO_STATISTIC_MEAN;
}

sotto_status sotto_receipt_explain(sotto_buf *out, const sotto_receipt *r, sotto_err *err)
{
    sotto_err_clear(err);

    char from[SOTTO_CALENDAR_TEXT], until[SOTTO_CALENDAR_TEXT];
    sotto_writer w = sotto_writer_on(out);

    sotto_calendar_format_time(from, (int64_t)r->from);
    sotto_calendar_format_time(until, (int64_t)r->until);
    say(&w, "receipt\n");
    say(&w, "  recipe %s, version %" PRIu64 ", of %s\n", r->recipe, r->version, r->analysis);
    say_cohort(&w, &r->cohort);
    say_hex(&w, "  recipe hash ", r->recipe_hash, sizeof r->recipe_hash);
    if (r->server[0])
        say_hex(&w, "  round ", r->task_id, sizeof r->task_id);
    else
        say_task(&w, r->task_id);
    say(&w, "  %" PRIu64 " reports from %s until %s\n", r->reports, from, until);
    say_claims(&w, r);
    if (r->server[0] && !r->proved) {
        say(&w, "  a malicious client's vector can shift every sum by any amount; the intervals "
                "don't include that\n");
        return sotto_writer_finish(&w, "receipt", err);
    }
    say(&w,
        "  a malicious client's report in place of an honest one can shift up to %" PRIu64
        " %s by %.10g each; the intervals don't include that\n",
        r->liar_sums, has_steps(r->statistic) ? "sums of steps" : "counts",
        sotto_bound_shown(r->liar, r->by == SOTTO_BY_CROWD ? 3 : 10));
    if (r->server[0])
        return sotto_writer_finish(&w, "receipt", err);
    say_rejections(&w, "leader", &r->leader_rejections);
    say_rejections(&w, "helper", &r->helper_rejections);
    say_rate(&w, "leader", &r->leader_rejections);
    say_rate(&w, "helper", &r->helper_rejections);
    return sotto_writer_finish(&w, "receipt", err);
}
