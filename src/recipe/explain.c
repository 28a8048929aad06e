/* A recipe in plain words. */
#include "recipe/encrypted.h"
#include "recipe/model.h"
#include "recipe/one_server.h"

#include "account/numeric/shown.h"
#include "account/trust.h"
#include "base/hex.h"
#include "base/writer.h"
#include "recipe/calendar.h"
#include "recipe/explain.h"
#include "recipe/statistic.h"
#include "recipe/target.h"
#include "sotto/lint.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define say sotto_write_format

/* ---- texts of whoever wrote the recipe --------------------------------------------------------------- */

/* How many bytes at `text` make a character that a terminal obeys or reorders lines by, and does not show. Those are control
 * characters, U+0080 to U+009f, and the embeddings, overrides and isolates of writing from right to left. 0: it shows. */
static size_t unshown(const unsigned char *text)
{
    if (text[0] < 0x20 || text[0] == 0x7f)
        return 1;
    if (text[0] == 0xc2 && text[1] >= 0x80 && text[1] < 0xa0)
        return 2;
    if (text[0] == 0xe2 && ((text[1] == 0x80 && text[2] >= 0xa8 && text[2] <= 0xae) ||
                            (text[1] == 0x81 && text[2] >= 0xa6 && text[2] <= 0xa9)))
        return 3;
    return 0;
}

/* As it is, whole, and told apart from our own words: behind every line feed stands `indent`. */
void sotto_explain_theirs(sotto_writer *w, const char *text, const char *indent)
{
    const unsigned char *at = (const unsigned char *)text;

    while (*at) {
        size_t bytes = unshown(at);

        if (*at == '\n')
            say(w, "\n%s", indent);
        else if (*at == '\t')
            say(w, " ");
        else if (bytes == 0)
            sotto_write_bytes(w, sotto_bytes_of(at, 1));
        else
            for (size_t i = 0; i < bytes; i++)
                say(w, "\\x%02x", at[i]);
        at += bytes ? bytes : 1;
    }
}

static void say_encoder(sotto_writer *w, const sotto_encoder *e)
{
    static const char *const how[] = {"",
                                      "sorted into ranges",
                                      "looked up in a list of values",
                                      "taken as yes or no",
                                      "clipped and rounded to whole steps",
                                      "clipped and rounded to fixed steps",
                                      "matched with known phrases and the word that follows"};

    say(w, "  - ");
    sotto_explain_theirs(w, e->column, "    ");
    say(w, " is %s: %" PRIu64 " bins%s\n", how[e->type], e->bins,
        e->oov ? ", one of them for everything else" : "");
}

static void say_listed(sotto_writer *w, const char *what, const sotto_listed *listed, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        say(w, "%s ", what);
        sotto_explain_theirs(w, listed[i].field, "  ");
        say(w, ", one of %zu listed values.\n", listed[i].count);
    }
}

static void say_participation(sotto_writer *w, const sotto_participation *p, bool in_public)
{
    switch (p->type) {
    case SOTTO_POISSON:
        say(w, "A device takes part with a chance of %g%%, by a coin that %s.\n", 100 * p->rate,
            in_public ? "a public beacon tosses, and that everybody sees" : "only it sees");
        return;
    case SOTTO_DONATION:
        if (p->rate < 1)
            say(w, "A device goes on with a chance of %g%%, by a coin that only it sees. Then it",
                100 * p->rate);
        else
            say(w, "A device");
        say(w,
            " tosses %" PRIu64 "%s coins, each with a chance of 1 in %" PRIu64
            " of heads. The first head is the slot in which it takes part; without one it is "
            "silent.\n",
            p->slots, p->rate < 1 ? " more" : "", p->slots);
        return;
    case SOTTO_IMPORTANCE:
        say(w,
            "A device reads its value, and then takes part with a chance of %g%%, or %g%% if its "
            "value is rare. Both coins are secret, and staying silent costs what a report costs.\n",
            100 * p->rate, 100 * p->rate_other);
        return;
    default:
        say(w,
            "A device checks in at a secret one of %" PRIu64 " slots%s, with a chance of %g%%.\n",
            p->slots, p->type == SOTTO_CHECK_IN_SLIDING_WINDOW ? " of a window of its own" : "",
            100 * p->rate);
    }
}

static void say_slots(sotto_writer *w, const sotto_participation *p)
{
    char start[SOTTO_CALENDAR_TEXT];

    if (p->slots == 0)
        return;
    sotto_calendar_format_time(start, p->start);
    say(w,
        "Slots are %g hours each, from %s. The draw holds for every recipe of the analysis: a "
        "device "
        "answers once, and not at all once its slot has passed.\n",
        (double)p->length / 3600, start);
}

static const char *no_match_words(sotto_no_match no_match)
{
    static const char *const words[] = {
        "sends a report on \"no value\", which looks like any other",
        "counts as <oov>",
        "sends a report on a bin drawn at random",
        "stays silent, which tells that it has none",
    };

    return words[no_match];
}

static void say_statistic(sotto_writer *w, const sotto_recipe *recipe)
{
    const sotto_number_grid grid = sotto_recipe_grid(recipe);
    const bool silent = recipe->on_no_match == SOTTO_NO_MATCH_SILENCE;

    switch (recipe->statistic) {
    case SOTTO_STATISTIC_HISTOGRAM:
    case SOTTO_STATISTIC_QUANTILES:
        say(w, "Together that makes %" PRIu64 " bins. A device without a fitting row %s.\n",
            recipe->encoding.bins, no_match_words(recipe->on_no_match));
        if (recipe->statistic == SOTTO_STATISTIC_QUANTILES)
            say(w, "From the counts of the bins quantiles are computed.\n");
        return;
    case SOTTO_STATISTIC_COUNT:
        say(w, "Counted are devices that have a row. A device without one %s.\n",
            silent ? "stays silent, which tells that it has none" : "adds 0");
        return;
    case SOTTO_STATISTIC_SUM:
    case SOTTO_STATISTIC_MEAN:
        break;
    }
    say(w,
        "Numbers below %.15g count as %.15g, above %.15g as %.15g, and others are rounded to steps "
        "of %.15g. "
        "Asked for is their %s. A device without a number %s.\n",
        grid.min, grid.min, grid.min + grid.step * (double)(recipe->encoding.bins - 1),
        grid.min + grid.step * (double)(recipe->encoding.bins - 1), grid.step,
        recipe->statistic == SOTTO_STATISTIC_SUM ? "sum" : "mean",
        silent                                     ? "stays silent, which tells that it has none"
        : recipe->statistic == SOTTO_STATISTIC_SUM ? "adds 0"
                                                   : "is not part of the mean");
}

static void say_question(sotto_writer *w, const sotto_recipe *recipe)
{
    say(w, "Recipe %s, version %" PRIu64 ", of the analysis %s.\n", recipe->name, recipe->version,
        recipe->analysis);
    if (recipe->description && *recipe->description) {
        say(w, "Its author says:\n  ");
        sotto_explain_theirs(w, recipe->description, "  ");
        say(w, "\n");
    }
    say(w, "\nWhat is asked\n  ");
    sotto_explain_theirs(w, recipe->query, "  ");
    say(w, "\n");
    static const char *const picks[] = {"one drawn at random", "the first",
                                        "one drawn at random of those with a bin for each value"};

    if (recipe->interval == SOTTO_INTERVAL_LAST)
        say(w, "Only events of the last %g hours are looked at.\n", (double)recipe->last / 3600);
    if (recipe->interval == SOTTO_INTERVAL_SINCE_LAST_ANSWER)
        say(w, "Only events since the device's last answer in this analysis are looked at.\n");
    if (recipe->statistic != SOTTO_STATISTIC_COUNT)
        say(w, "Of the rows, %s is used.\n", picks[recipe->pick]);
    for (size_t i = 0; i < recipe->encoding.count; i++)
        say_encoder(w, &recipe->encoding.encoders[i]);
    say_statistic(w, recipe);
}

static void say_anonymity(sotto_writer *w, const sotto_recipe *recipe,
                          const sotto_recipe_claim *claim)
{
    const sotto_anonymity *a = &recipe->anonymity;

    if (a->relay)
        say(w,
            "The report goes through a relay, %s, to a gateway, %s: the first sees who sends and "
            "not "
            "what, the second what and not who. The relay must work together neither with the "
            "gateway nor with the server behind it, %s.\n",
            a->relay, a->gateway, recipe->leader);
    if (a->tokens == SOTTO_TOKENS_ARC)
        say(w,
            "It shows an anonymous credential to each server, so that nobody answers twice. Nobody "
            "can tell from it who you are%s. The attester is trusted to admit real devices only, "
            "and either server could make credentials for reports of its own. Devices need an "
            "application with libsotto-device-full.\n",
            a->log ? "" : ", unless a server gives your device a key of its own");
    if (a->tokens == SOTTO_TOKENS_TYPE_2)
        say(w,
            "It carries an anonymous token, so that nobody answers twice. Nobody can tell from the "
            "token who you are%s. Issuer and attester are trusted to admit real devices only: each "
            "of "
            "them alone could have tokens made for reports of its own.\n",
            a->issuer && !a->log
                ? ", unless the issuer gives your device a key of its own and works "
                  "together with a server"
                : "");
    if (a->log)
        say(w, "The recipe is on a public log, %s, so that everybody is asked the same.\n", a->log);
    if (claim->sampled_by)
        say(w,
            "Beside the relay and your own network, nobody sees who takes part. If as many devices "
            "might answer as the recipe says, that makes it epsilon %.4g to all others (%s).\n",
            sotto_bound_shown(claim->epsilon_sampled, 4), claim->sampled_by);
    else if (a->relay && a->tokens && a->log)
        say(w, "Taking part at random lowers no epsilon (%s).\n", claim->unsampled_why);
    else
        say(w, "Who takes part can be seen, so taking part at random lowers no epsilon.\n");
}

/* What somebody would learn who opened both halves of one report. */
static void say_report(sotto_writer *w, const sotto_recipe *recipe, const sotto_recipe_claim *claim)
{
    const char *hidden = recipe->adjacency == SOTTO_ADJACENCY_REPLACEMENT
                             ? "which value somebody has"
                             : "whether somebody had a value at all";

    if (recipe->by == SOTTO_BY_CROWD)
        say(w,
            "Before anything leaves the device, the answer is randomised (%s): even whoever saw "
            "your report alone could tell %s only up to epsilon %.4g.\n",
            claim->randomizer, hidden, sotto_bound_shown(claim->epsilon_local, 4));
    else if (recipe->by == SOTTO_BY_SHARES)
        say(w,
            "Your report has no local protection. Your device adds its part of the noise to it, of "
            "sigma %.3g. That protects you only together with the parts of others. Whoever saw "
            "your report alone could tell your value, or guess it well.\n",
            sqrt(claim->device_variance));
    else if (recipe->by == SOTTO_BY_COMMITTEE)
        say(w,
            "Your answer has no local protection, and leaves your device encrypted. More members "
            "of the committee than may lie could open it, and nobody would notice.\n");
    else
        say(w, "Your report has no local protection, and no noise: whoever saw it alone could tell "
               "your value.\n");
}

static void say_answer(sotto_writer *w, const sotto_recipe *recipe, const sotto_recipe_claim *claim)
{
    const double epsilon = sotto_bound_shown(claim->epsilon_cohort, 4),
                 delta = sotto_bound_shown(claim->delta, 3);

    if (recipe->by == SOTTO_BY_SERVERS)
        say(w,
            "Each server adds noise of sigma %.10g to every sum, all that is needed, so that an "
            "honest "
            "one protects you even if all other devices lie. The answer tells your value up to "
            "epsilon %.4g at delta %.3g (%s).",
            claim->noise_sigma, epsilon, delta, claim->theorem);
    else if (recipe->by == SOTTO_BY_COMMITTEE)
        say(w,
            "A committee of devices adds noise; what its honest members that answer add has sigma "
            "%.10g on every sum. The answer tells your value up to epsilon %.4g at delta %.3g "
            "(%s).",
            claim->noise_sigma, epsilon, delta, claim->theorem);
    else
        say(w,
            "If %" PRIu64 " of those are honest%s, the answer tells it up to epsilon %.4g at delta "
            "%.3g (%s).",
            claim->honest, recipe->by == SOTTO_BY_SHARES ? " and add their parts" : "", epsilon,
            delta, claim->theorem);
    say(w, " Your device is charged for epsilon %.4g.\n",
        sotto_bound_shown(sotto_decimal_up(recipe->epsilon), 4));
    if (recipe->by == SOTTO_BY_SHARES)
        say(w,
            "One liar can move each of %" PRIu64
            " sums by up to %.0f with a report in place of an honest one.\n",
            claim->liar_sums, claim->liar);
}

static void say_protection(sotto_writer *w, const sotto_recipe *recipe,
                           const sotto_recipe_claim *claim)
{
    const sotto_trust_model *model = sotto_trust_model_of(recipe->trust);
    sotto_one_server server;

    say(w, "\nWhat protects you\n");
    say_report(w, recipe, claim);
    if (model->two_servers)
        say(w,
            "The report is split between two servers, %s and %s; one of them must be honest. They "
            "release sums of at least %" PRIu64 " reports.\n",
            recipe->leader, recipe->helper, recipe->min_cohort);
    if (sotto_recipe_one_server(&server, recipe))
        say(w,
            "One server, %s, adds up masked vectors, and a committee of devices unmasks the sum of "
            "at least %" PRIu64 " of them. %s %s %s\n",
            server.name, recipe->min_cohort, sotto_trust_words_of(recipe->trust)->honest,
            sotto_trust_words_of(recipe->trust)->sees, sotto_trust_words_of(recipe->trust)->inputs);
    sotto_encrypted_explain(w, recipe);
    say_answer(w, recipe, claim);
    if (model->can_hide)
        say_anonymity(w, recipe, claim);
    else
        say(w, "Who takes part can be seen, so taking part at random lowers no epsilon.\n");
    if (claim->seen_by)
        say(w, "Where it is seen who takes part: epsilon %.4g (%s).\n",
            sotto_bound_shown(claim->replacement_local, 4), claim->seen_by);
    if (claim->none_told)
        say(w,
            "None of this hides whether you have a value at all: a device without one is silent, "
            "and can be seen to be. It is charged the same.\n");
    if (claim->report_bytes > 0)
        say(w, "A report is %zu bytes.\n", claim->report_bytes);
    if (claim->miss > 0)
        say(w,
            "With a chance of %.1g it has more than the %" PRIu64
            " bits that its proof allows, and then counts as empty.\n",
            claim->miss, claim->weight);
}

/* What the target rests on. Devices verify it; this repeats what it says. */
static void say_release(sotto_writer *w, const sotto_recipe *recipe)
{
    char until[SOTTO_CALENDAR_TEXT], hash[2 * SOTTO_ENTRY_DIGEST + 1];
    sotto_tlog_entry e;

    if (recipe->targeting_count > 0 && recipe->release.bundle.len == 0)
        say(w, "No release shows how many these are.\n");
    if (!sotto_recipe_release(&e, recipe))
        return;
    sotto_hex_encode(hash, sotto_bytes_of(e.digest, sizeof e.digest));
    sotto_calendar_format_time(until, e.end < INT32_MAX ? (int64_t)e.end : 0);
    say(w,
        "These were counted before: a logged release of recipe %.16s..., which ended at %s, has "
        "%" PRIu64 " reports.\n",
        hash, until, e.count);
}

sotto_status sotto_recipe_explain(sotto_buf *out, const sotto_recipe *recipe,
                                  const sotto_recipe_claim *claim, sotto_err *err)
{
    sotto_err_clear(err);

    char opens[SOTTO_CALENDAR_TEXT], closes[SOTTO_CALENDAR_TEXT];
    sotto_writer w = sotto_writer_on(out);

    say_question(&w, recipe);
    sotto_calendar_format_time(opens, recipe->opens);
    sotto_calendar_format_time(closes, recipe->closes);
    say(&w, "\nWho answers, and when\nFrom %s to %s, out of about %" PRIu64 " devices.\n", opens,
        closes, recipe->population);
    say_listed(&w, "Only devices are asked that have, as their", recipe->targeting,
               recipe->targeting_count);
    say_release(&w, recipe);
    say_listed(&w, "Answers are kept apart by", recipe->cohorts, recipe->cohort_count);
    say_participation(&w, &recipe->participation, sotto_trust_model_of(recipe->trust)->encrypted);
    say_slots(&w, &recipe->participation);
    if (recipe->dummies > 0)
        say(&w, "Of the others, %g%% send a report on \"no value\" all the same.\n",
            100 * recipe->dummies);
    say_protection(&w, recipe, claim);
    return sotto_writer_finish(&w, "explanation", err);
}

/* ---- the policy's words -------------------------------------------------------------------------------- */

static const sotto_policy_field *find_field(const sotto_policy *policy, const char *name)
{
    for (size_t i = 0; i < policy->field_count; i++) {
        const sotto_policy_field *f = &policy->fields[i];
        const size_t stream = strlen(f->stream);

        if (strncmp(name, f->stream, stream) == 0 && name[stream] == '.' &&
            strcmp(name + stream + 1, f->field) == 0)
            return f;
    }
    return NULL;
}

static void say_field(sotto_writer *w, const char *name, const sotto_policy_field *f)
{
    char local[SOTTO_DECIMAL_TEXT];

    sotto_decimal_format(local, f->epsilon_local);
    say(w, "  - %s: noise may be added by", name);
    for (unsigned s = SOTTO_BY_CROWD; s <= SOTTO_BY_COMMITTEE; s++)
        if (f->by >> s & 1)
            say(w, " %s", sotto_noise_source_name((sotto_noise_source)s));
    if (f->local_none)
        say(w, "; reports without local protection are allowed (epsilon_local \"none\")\n");
    else
        say(w, "; a report by itself may tell it up to epsilon %s\n", local);
}

sotto_status sotto_policy_explain(sotto_buf *out, const sotto_policy *policy,
                                  const sotto_recipe_verdict *verdict, sotto_err *err)
{
    sotto_err_clear(err);

    sotto_writer w = sotto_writer_on(out);

    say(&w, "\nWhat the policy allows\n");
    for (size_t i = 0; i < verdict->read_count; i++) {
        const sotto_policy_field *f = find_field(policy, verdict->reads[i]);

        if (f)
            say_field(&w, verdict->reads[i], f);
        else
            say(&w, "  - %s: no budget is kept for it\n", verdict->reads[i]);
    }
    return sotto_writer_finish(&w, "policy", err);
}
