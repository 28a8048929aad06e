/* What the collector gets, what may be claimed of it, and whether it is right. */
#include "demo.h"
#include "show.h"

#include "base/clock.h"
#include "support/people_of.h"

#include <stdio.h>

sotto_status demo_collect(demo *d, sotto_err *err)
{
    sotto_collector_options options = {.task = &d->task,
                                       .key = &d->collector,
                                       .collector_token = d->pairing.collector_token,
                                       .rejection_token = d->pairing.rejection_token};
    sotto_collection_query query = {d->task.opens, d->task.closes};
    sotto_collector *collector = NULL;
    sotto_status status = sotto_collector_open(&collector, &options, err);

    if (status == SOTTO_OK)
        status = sotto_collector_ask(collector, &d->collection, &query, &d->arena, err);
    sotto_collector_close(collector);
    if (status != SOTTO_OK)
        return status;
    return sotto_result_estimate(&d->result, d->recipe, d->collection.sums, d->collection.sum_count,
                                 d->collection.reports, NULL, &d->arena, err);
}

/* ---- checking -------------------------------------------------------------------------------------------------- */

/* Exactly the reports that should count do, and the intervals hold the truth as often as they say. */
static sotto_status check(const demo *d, sotto_result_check *out, bool *right, sotto_err *err)
{
    SOTTO_TRY(sotto_result_compare(out, &d->result, d->truth.bins, d->result.count, err));
    *right = d->collection.reports == d->truth.answered && !out->wrong;
    return SOTTO_OK;
}

/* Of rows that somebody brought. */
static void print_outside(const demo *d)
{
    uint64_t without = d->truth.answered;

    if (!d->recipe_file)
        return;
    for (size_t i = 0; i < d->values; i++)
        without -= d->truth.bins[i];
    sotto_people_say_outside(d->recipe, d->truth.bins, without);
}

static void print_hostile(const demo *d)
{
    if (!d->recipe_file)
        (void)printf(
            "\nSent by hostile devices: %llu changed on the way, %llu sent twice, %llu forged.\n",
            (unsigned long long)d->truth.tampered, (unsigned long long)d->truth.replayed,
            (unsigned long long)d->truth.forged);
    (void)printf("%sEach device that answered was charged epsilon %.3f of its %.3f for this "
                 "analysis: what the\n"
                 "recipe promises, however many others answer. %.3f is left.\n",
                 d->recipe_file ? "\n" : "", d->epsilon_allowed - d->epsilon_left,
                 d->epsilon_allowed, d->epsilon_left);
}

/* What is off, and what somebody can do for that. */
static void print_lacking(const demo *d)
{
    static const struct {
        unsigned part;
        const char *text;
    } parts[] = {{DEMO_RELAY, "Without a relay the leader sees which devices answered.\n"},
                 {DEMO_TOKENS, "Without tokens one device can answer as often as it likes.\n"},
                 {DEMO_LOG, "Without a log one device can be asked what nobody else is asked.\n"}};

    if (d->without)
        (void)printf("\n");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (d->without & parts[i].part)
            (void)printf("%s", parts[i].text);
}

/* Each part has two. */
static unsigned servers_of(const demo *d)
{
    unsigned servers = d->arc ? 7 : 8; /* leader and helper issue themselves */

    for (unsigned part = DEMO_RELAY; part <= DEMO_LOG; part <<= 1)
        servers -= d->without & part ? 2 : 0;
    return servers;
}

static uint64_t seconds_taken(const demo *d)
{
    return (sotto_clock_ms() - d->started_ms + 999) / 1000;
}

static sotto_status show_json(demo *d, sotto_answer_view answer, sotto_err *err)
{
    sotto_answer_trial trial = {.devices = d->devices,
                                .seconds = seconds_taken(d),
                                .answered = d->truth.answered,
                                .tampered = d->truth.tampered,
                                .replayed = d->truth.replayed,
                                .forged = d->truth.forged,
                                .epsilon_left = d->epsilon_left,
                                .epsilon_allowed = d->epsilon_allowed};
    sotto_view view = sotto_show_view(SOTTO_VIEW_JSON);

    answer.trial = &trial;
    return sotto_view_answer(&view, &answer, &d->arena, err);
}

sotto_status demo_show(demo *d, bool *right, sotto_err *err)
{
    static sotto_receipt receipt;
    sotto_answer_view answer = {.recipe = d->recipe, .result = &d->result, .receipt = &receipt};
    sotto_view view = sotto_show_view(SOTTO_VIEW_TEXT);
    sotto_result_check result;

    *right = true;
    sotto_receipt_of(&receipt, d->recipe, &d->task, &d->claim, &d->collection, &d->result);
    if (d->check) {
        SOTTO_TRY(check(d, &result, right, err));
        answer.check = d->result.count > 0 ? &result : NULL;
        answer.truth = d->result.count > 0 ? d->truth.bins : NULL;
    }
    if (d->json)
        return show_json(d, answer, err);
    SOTTO_TRY(sotto_view_answer(&view, &answer, &d->arena, err));
    print_outside(d);
    print_hostile(d);
    if (d->check && d->collection.reports != d->truth.answered)
        (void)printf("\n%llu reports should count, but %llu do.\n",
                     (unsigned long long)d->truth.answered,
                     (unsigned long long)d->collection.reports);
    print_lacking(d);
    (void)printf("\n%llu devices, %llu of them not drawn and silent; %u servers, %llu s.\n",
                 (unsigned long long)d->devices, (unsigned long long)d->truth.silent, servers_of(d),
                 (unsigned long long)seconds_taken(d));
    return SOTTO_OK;
}
