/* What the collector gets, what may be claimed of it, and whether it is right. */
#include "demo.h"

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

sotto_status demo_show_answer(demo *d, const sotto_receipt *receipt,
                              const sotto_answer_trial *trial, bool *right, sotto_err *err)
{
    const sotto_view view = sotto_show_view(d->json ? SOTTO_VIEW_JSON : SOTTO_VIEW_TEXT);
    sotto_answer_view answer = {.recipe = d->recipe, .result = &d->result, .receipt = receipt};
    const sotto_answer_view collected = answer; /* what `sotto collect` writes has no truth in it */
    sotto_result_check check;

    *right = true;
    answer.trial = trial;
    if (d->check) {
        SOTTO_TRY(sotto_result_compare(&check, &d->result, d->truth.bins, d->result.count, err));
        *right = !check.wrong;
        answer.check = d->result.count > 0 ? &check : NULL;
        answer.truth = d->result.count > 0 ? d->truth.bins : NULL;
    }
    SOTTO_TRY(sotto_view_answer(&view, &answer, &d->arena, err));
    return sotto_show_files(&d->files, &collected, 0, err);
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

sotto_status demo_show(demo *d, bool *right, sotto_err *err)
{
    static sotto_receipt receipt;
    const sotto_answer_trial trial = {.devices = d->devices,
                                      .seconds = seconds_taken(d),
                                      .answered = d->truth.answered,
                                      .tampered = d->truth.tampered,
                                      .replayed = d->truth.replayed,
                                      .forged = d->truth.forged,
                                      .epsilon_left = d->epsilon_left,
                                      .epsilon_allowed = d->epsilon_allowed};
    const bool counted = d->collection.reports == d->truth.answered;

    sotto_receipt_of(&receipt, d->recipe, &d->task, &d->claim, &d->collection, &d->result);
    if (d->people)
        sotto_people_say_skipped(d->people);
    SOTTO_TRY(demo_show_answer(d, &receipt, &trial, right, err));
    *right = *right && (counted || !d->check); /* exactly the reports that should count do */
    if (d->json)
        return SOTTO_OK;
    print_outside(d);
    print_hostile(d);
    if (d->check && !counted)
        (void)printf("\n%llu reports should count, but %llu do.\n",
                     (unsigned long long)d->truth.answered,
                     (unsigned long long)d->collection.reports);
    print_lacking(d);
    (void)printf("\n%llu devices, %llu of them not drawn and silent; %u servers, %llu s.\n",
                 (unsigned long long)d->devices, (unsigned long long)d->truth.silent, servers_of(d),
                 (unsigned long long)seconds_taken(d));
    return SOTTO_OK;
}
