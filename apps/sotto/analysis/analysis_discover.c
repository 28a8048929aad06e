/* sotto analysis discover - words, phrases or places that devices have, searched for in several rounds. */
#include "analysis_search.h"

#include "base/arena.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static int text_of(discovery *d, const sotto_search_round *round, sotto_bytes *text)
{
    const analysis_job *job = d->job;
    sotto_search_round of = *round, *r = &of;
    sotto_err err = {0};

    if (r->number <= job->folder.steps) { /* as it was asked */
        r->opens = job->steps[r->number]->opens;
        r->closes = job->steps[r->number]->closes;
    } else if (r->number > 1) {
        analysis_schedule(job, d->frame, &r->opens, &r->closes);
    }
    err.status =
        sotto_search_recipe(text, &d->search, r, d->frame, d->job->policy, &d->round, &err);
    return err.status == SOTTO_OK ? EXIT_DONE : analysis_failed(d->job, &err);
}

/* ---- rounds ---------------------------------------------------------------------------------------------------------------- */

static int take_answer(discovery *d, const sotto_search_round *r, unsigned step)
{
    sotto_arena *arena = r->count ? &d->job->arena : &d->round;
    sotto_study_answer answer;
    sotto_err err = {0};
    const int code = analysis_answer(d->job, step, &answer, arena);

    if (code != EXIT_DONE)
        return code;
    double *counts = sotto_arena_take_array(arena, answer.count + 1, sizeof *counts);
    if (!counts)
        return EXIT_FAILED;
    for (size_t i = 0; i < answer.count; i++)
        counts[i] = answer.bins[i].count;
    err.status = sotto_search_answer(&d->search, r, counts, answer.count, &err);
    if (r->count)
        d->counted = answer;
    return err.status == SOTTO_OK ? EXIT_DONE : analysis_failed(d->job, &err);
}

static void say_round(const discovery *d, const sotto_search_round *r)
{
    if (d->job->o->json || d->job->o->quiet)
        return;
    (void)fprintf(stderr, "round %u: %" PRIu64 " cells, noise %.1f", r->number, r->cells,
                  sqrt(2) * (double)r->sigma_milli / 1000);
    if (r->count)
        (void)fprintf(stderr, ": %zu %s counted\n", d->search.found_count,
                      analysis_search_things(d));
    else if (d->search.phrasing && !r->phrases)
        (void)fprintf(stderr, ", threshold %" PRId64 ": %zu words; phrases of them come next\n",
                      r->threshold, d->search.vocabulary_count);
    else
        (void)fprintf(stderr, ", threshold %" PRId64 ": %zu go on, %zu %s so far\n", r->threshold,
                      d->search.survivor_count, d->search.found_count,
                      d->options.kind == SOTTO_SEARCH_PHRASES && !d->search.phrasing
                          ? "words"
                          : analysis_search_things(d));
}

/* The step was asked by this very recipe, as the frame and the answers before it have it. */
static int compare_recipe(discovery *d, const sotto_search_round *r, sotto_bytes text)
{
    sotto_err err = {0};

    err.status = sotto_folder_put(&d->job->folder, r->number, text, &err);
    return err.status == SOTTO_OK ? EXIT_DONE : analysis_failed(d->job, &err);
}

/* One round: its recipe is there or is written, and its answer is there or is asked for. *waits: devices have to answer first. */
static int go_round(discovery *d, const sotto_search_round *r, bool *waits)
{
    analysis_job *job = d->job;
    sotto_bytes text;
    int code = text_of(d, r, &text);

    if (code != EXIT_DONE)
        return code;
    const bool is_new = r->number > job->folder.steps;
    if (is_new && analysis_is_stopped(job)) {
        (void)fprintf(
            stderr,
            "sotto analysis discover: the analysis was stopped, so round %u is not asked. "
            "`sotto analysis result %s` shows what was found\n",
            r->number, job->folder.path);
        return EXIT_FAILED;
    }
    code = is_new ? analysis_publish(job, text, !d->options.fresh) : compare_recipe(d, r, text);
    *waits = is_new && !analysis_is_simulated(job);
    if (code != EXIT_DONE || *waits)
        return code;
    code = analysis_ask(job, r->number, !r->count);
    if (code == EXIT_DONE)
        code = take_answer(d, r, r->number);
    if (code == EXIT_DONE)
        say_round(d, r);
    return code;
}

static int go_on(discovery *d, bool *waits)
{
    sotto_search_round round;
    int code = EXIT_DONE;

    *waits = false;
    while (code == EXIT_DONE && !*waits) {
        sotto_err err = {0};

        err.status = sotto_search_ask(&d->search, &round, &err);
        if (err.status == SOTTO_MISSING) {
            d->done = true;
            return EXIT_DONE;
        }
        code = err.status == SOTTO_OK ? go_round(d, &round, waits) : analysis_failed(d->job, &err);
        sotto_arena_reset(&d->round);
    }
    return code;
}

/* ---- verbs ----------------------------------------------------------------------------------------------------------------------- */

static int reopen(discovery *d)
{
    sotto_err err = {0};
    sotto_bytes frame;

    err.status = sotto_folder_read(&frame, &d->job->folder, 0, "frame.json", &d->job->arena, &err);
    if (err.status != SOTTO_OK)
        return analysis_failed(d->job, &err);
    return analysis_search_open(d, frame);
}

int analysis_show_found(analysis_job *job, FILE *out, bool json, bool csv, size_t most)
{
    static discovery d;
    sotto_search_round round;
    sotto_bytes text;
    sotto_err err = {0};

    memset(&d, 0, sizeof d);
    d.job = job;
    int code = reopen(&d);
    while (code == EXIT_DONE) {
        err.status = sotto_search_ask(&d.search, &round, &err);
        d.done = err.status == SOTTO_MISSING;
        if (err.status != SOTTO_OK ||
            sotto_folder_state(&job->folder, round.number) != SOTTO_STEP_ANSWERED)
            break;
        code = text_of(&d, &round, &text);
        if (code == EXIT_DONE)
            code = compare_recipe(&d, &round, text);
        if (code == EXIT_DONE)
            code = take_answer(&d, &round, round.number);
        sotto_arena_reset(&d.round);
    }
    if (code == EXIT_DONE)
        code = analysis_search_show(&d, out, json, csv, most);
    sotto_arena_clear(&d.round);
    return code;
}

/* Devices that answer all rounds must be able to pay for them: what was spent on a search that ends in the middle is lost. */
static int foresee(discovery *d)
{
    sotto_err err = {0};
    unsigned round;

    err.status = sotto_study_foresee(&round, &d->search, d->frame, d->job->policy, &d->round, &err);
    if (err.status == SOTTO_OK)
        return EXIT_DONE;
    if (err.status != SOTTO_DENIED)
        return analysis_failed(d->job, &err);
    (void)fprintf(stderr,
                  "sotto analysis discover: devices would refuse round %u of up to %u: %s\n"
                  "Nothing was asked. A smaller --rounds or --epsilon costs less, or the policy "
                  "must allow more.\n",
                  round, sotto_search_shares(&d->search), err.reason);
    return EXIT_REFUSED;
}

/* The first round is asked for before anything is written: what can't be asked leaves no folder. */
static int begin(discovery *d, const analysis_options *o)
{
    json_t *settings = json_object();
    const sotto_recipe *recipe;
    sotto_search_round round;
    sotto_bytes frame = {0}, text;
    sotto_err err = {0};
    int code = analysis_search_settings(settings, o);

    const int prepared = analysis_prepare(d->job, o, settings);
    code = code == EXIT_DONE ? prepared : code;
    if (code == EXIT_DONE)
        code = analysis_read(d->job, o->recipe, &frame);
    if (code == EXIT_DONE)
        code = analysis_search_open(d, frame);
    if (code != EXIT_DONE)
        return code;
    err.status = sotto_search_ask(&d->search, &round, &err);
    if (err.status != SOTTO_OK)
        return analysis_failed(d->job, &err);
    code = text_of(d, &round, &text);
    if (code == EXIT_DONE)
        code = analysis_check(d->job, text, &recipe, !d->options.fresh);
    if (code == EXIT_DONE)
        code = foresee(d);
    return code == EXIT_DONE ? analysis_make(d->job, frame, (sotto_bytes){0}) : code;
}

/* The command that began the search goes on with it; any other would begin another. */
static int check_same(discovery *d, const analysis_options *o)
{
    json_t *search = json_object();
    bool same = false;
    int code = analysis_search_settings(search, o);

    const int compared = analysis_compare(d->job, o, search, &same);
    code = code == EXIT_DONE ? compared : code;
    if (code == EXIT_DONE && !same)
        code = analysis_misused(o, "FOLDER",
                                "its search has begun, with other settings or files, which stay: "
                                "name the folder alone to go on");
    return code;
}

static int resume(discovery *d, const analysis_options *o)
{
    const int code = analysis_open(d->job, o);

    if (code != EXIT_DONE)
        return code;
    if (!json_object_get(d->job->settings, "search"))
        return analysis_misused(o, "FOLDER",
                                "this is no search: `sotto analysis result` and drill");
    const int same = analysis_search_is_fixed(o) ? EXIT_DONE : check_same(d, o);
    return same == EXIT_DONE ? reopen(d) : same;
}

int analysis_discover(int argc, char **argv)
{
    static analysis_options options;
    static analysis_job job;
    static discovery d;
    bool waits = false;
    int code = analysis_options_read(&options, argc, argv);

    if (code != EXIT_DONE)
        return code;
    d.job = &job;
    const sotto_folder there = {.lock = -1};
    sotto_folder probe = there;
    (void)snprintf(probe.path, sizeof probe.path, "%s", options.folder);
    code =
        sotto_folder_has(&probe, 0, "analysis.json") ? resume(&d, &options) : begin(&d, &options);
    if (code == EXIT_DONE)
        code = go_on(&d, &waits);
    if (code == EXIT_DONE && waits)
        code = analysis_say_next(&job);
    else if (code == EXIT_DONE)
        code = analysis_search_show(&d, stdout, options.json, false, 40);
    sotto_arena_clear(&d.round);
    analysis_close(&job);
    return code;
}
