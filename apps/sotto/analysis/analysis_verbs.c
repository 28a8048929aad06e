/* start, watch, result, stop, export. */
#define _GNU_SOURCE
#include "analysis.h"

#include "base/arena.h"
#include "recipe/calendar.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int with_folder(int argc, char **argv, int (*verb)(analysis_job *job))
{
    static analysis_options options;
    static analysis_job job;
    int code = analysis_options_read(&options, argc, argv);

    if (code != EXIT_DONE)
        return code;
    code = analysis_open(&job, &options);
    if (code == EXIT_DONE)
        code = verb(&job);
    analysis_close(&job);
    return code;
}

static bool is_search(const analysis_job *job)
{
    return json_object_get(job->settings, "search") != NULL;
}

/* ---- start --------------------------------------------------------------------------------------------------------------- */

static int next_json(const analysis_job *job, const char *file)
{
    sotto_json j = sotto_show_object(stdout, SOTTO_JSON_INDENTED);
    const sotto_recipe *recipe = job->steps[job->folder.steps];

    sotto_json_uint(&j, "step", job->folder.steps);
    sotto_json_text(&j, "recipe", recipe->name);
    sotto_json_text(&j, "file", file);
    sotto_json_bool(&j, "simulated", analysis_is_simulated(job));
    if (!analysis_is_simulated(job))
        sotto_json_time(&j, "closes", recipe->closes);
    return sotto_show_end(&j) ? EXIT_DONE : EXIT_FAILED;
}

int analysis_say_next(const analysis_job *job)
{
    const unsigned step = job->folder.steps;
    char closes[SOTTO_CALENDAR_TEXT], file[SOTTO_FOLDER_FILE];

    sotto_folder_file(file, &job->folder, step, "recipe.json");
    if (job->o->json)
        return next_json(job, file);
    sotto_calendar_format_time(closes, job->steps[step]->closes);
    if (analysis_is_simulated(job))
        printf("step %u is %s; `sotto analysis result %s` asks simulated devices\n", step, file,
               job->folder.path);
    else
        printf("step %u is %s: give these bytes to devices, and to both operators "
               "(`sotto admin task add`)\nit closes %s; `sotto analysis %s %s` collects it "
               "then, or earlier with --close-early\n",
               step, file, closes, is_search(job) ? "discover" : "result", job->folder.path);
    return EXIT_DONE;
}

int analysis_start(int argc, char **argv)
{
    static analysis_options options;
    static analysis_job job;
    const sotto_recipe *recipe;
    sotto_bytes text = {0};
    int code = analysis_options_read(&options, argc, argv);

    if (code != EXIT_DONE)
        return code;
    code = analysis_prepare(&job, &options, NULL);
    if (code == EXIT_DONE)
        code = analysis_read(&job, options.recipe, &text);
    if (code == EXIT_DONE)
        code = analysis_check(&job, text, &recipe, true);
    if (code == EXIT_DONE)
        code = analysis_make(&job, (sotto_bytes){0}, text);
    if (code == EXIT_DONE)
        code = analysis_publish(&job, text, true);
    if (code == EXIT_DONE)
        code = analysis_say_next(&job);
    analysis_close(&job);
    return code;
}

/* ---- watch --------------------------------------------------------------------------------------------------------------- */

static const char *state_of(const analysis_job *job, unsigned step)
{
    const int64_t now = (int64_t)time(NULL);
    const sotto_recipe *r = job->steps[step];

    if (sotto_folder_state(&job->folder, step) == SOTTO_STEP_ANSWERED)
        return "answered";
    if (analysis_is_stopped(job))
        return "stopped";
    if (sotto_folder_broken(&job->folder, step))
        return "interrupted";
    if (analysis_is_simulated(job))
        return "asked";
    return now < r->opens ? "not open yet" : now < r->closes ? "open" : "closed";
}

/* What the last request for its answer came to, without the end of the line. */
static void last_of(analysis_job *job, unsigned step, char *out, size_t size)
{
    const sotto_arena_mark here = sotto_arena_here(&job->arena);
    sotto_bytes text;

    out[0] = 0;
    if (sotto_folder_state(&job->folder, step) != SOTTO_STEP_ANSWERED &&
        sotto_folder_read(&text, &job->folder, step, "last.txt", &job->arena, NULL) == SOTTO_OK)
        (void)snprintf(out, size, "%.*s", (int)strcspn((const char *)text.data, "\n"),
                       (const char *)text.data);
    sotto_arena_rollback(&job->arena, here);
}

static void say_next(analysis_job *job)
{
    const unsigned steps = job->folder.steps;
    const bool open = steps == 0 || sotto_folder_state(&job->folder, steps) != SOTTO_STEP_ANSWERED;
    const char *path = job->folder.path;
    sotto_err why = {0};

    if (analysis_is_stopped(job))
        printf("stopped: nothing more is asked, and answers stay\nnext: sotto analysis export %s "
               "--csv FILE\n",
               path);
    else if (is_search(job))
        printf("next: sotto analysis discover %s%s\n", path,
               open ? "" : "   (the next round, or what was found)");
    else if (open)
        printf("next: sotto analysis result %s\n", path);
    else if (!analysis_has_step_left(job, &why))
        printf("no step like the last is left: %s\nnext: sotto analysis export %s --csv FILE\n",
               why.reason, path);
    else
        printf("next: sotto analysis drill %s %s, or export %s --csv FILE\n", path,
               analysis_drill_options(job->steps[steps]), path);
}

static void watch_text(analysis_job *job)
{
    char epsilon[SOTTO_DECIMAL_TEXT], delta[SOTTO_DECIMAL_TEXT], last[200];
    sotto_decimal sum = {0}, deltas = {0};
    const unsigned steps = job->folder.steps;

    printf("%-5s %-28s %-13s %-10s %s\n", "step", "recipe", "state", "epsilon", "delta");
    for (unsigned i = 1; i <= steps; i++) {
        sotto_decimal_format(epsilon, job->steps[i]->epsilon);
        sotto_decimal_format(delta, job->steps[i]->delta);
        printf("%-5u %-28s %-13s %-10s %s\n", i, job->steps[i]->name, state_of(job, i), epsilon,
               delta);
        last_of(job, i, last, sizeof last);
        if (last[0])
            printf("      %s\n", last);
        if (sotto_folder_broken(&job->folder, i))
            printf("      a run ended while it asked for this answer: nothing of that counts, and "
                   "the same command asks again\n");
        sum.units += job->steps[i]->epsilon.units;
        deltas.units += job->steps[i]->delta.units;
    }
    sotto_decimal_format(epsilon, sum);
    sotto_decimal_format(delta, deltas);
    printf("\nasked so far: epsilon %s, delta %s, as a device that answered all steps adds them "
           "up\n",
           epsilon, delta);
    printf("a ledger pays the epsilon that each recipe states; an answer reveals no more, and its "
           "receipt says how much\n");
    say_next(job);
}

static int watch_json(analysis_job *job)
{
    sotto_json j = sotto_show_object(stdout, SOTTO_JSON_INDENTED);
    char text[200];

    sotto_json_bool(&j, "simulated", analysis_is_simulated(job));
    sotto_json_bool(&j, "search", is_search(job));
    sotto_json_bool(&j, "stopped", analysis_is_stopped(job));
    sotto_json_array(&j, "steps");
    for (unsigned i = 1; i <= job->folder.steps; i++) {
        sotto_json_object(&j, NULL);
        sotto_json_uint(&j, "step", i);
        sotto_json_text(&j, "recipe", job->steps[i]->name);
        sotto_json_text(&j, "state", state_of(job, i));
        sotto_decimal_format(text, job->steps[i]->epsilon);
        sotto_json_real(&j, "epsilon", strtod(text, NULL));
        sotto_decimal_format(text, job->steps[i]->delta);
        sotto_json_real(&j, "delta", strtod(text, NULL));
        sotto_json_time(&j, "opens", job->steps[i]->opens);
        sotto_json_time(&j, "closes", job->steps[i]->closes);
        last_of(job, i, text, sizeof text);
        if (text[0])
            sotto_json_text(&j, "last", text);
        sotto_json_end(&j);
    }
    sotto_json_end(&j);
    return sotto_show_end(&j) ? EXIT_DONE : EXIT_FAILED;
}

static int watch(analysis_job *job)
{
    if (job->o->json)
        return watch_json(job);
    watch_text(job);
    return EXIT_DONE;
}

int analysis_watch(int argc, char **argv)
{
    return with_folder(argc, argv, watch);
}

/* ---- result -------------------------------------------------------------------------------------------------------------- */

/* --step, or the last one; of those with an answer, where that is wanted. */
static int choose_step(const analysis_job *job, unsigned *out, bool answered)
{
    uint64_t step = job->folder.steps;

    if (job->o->step &&
        !analysis_number(job->o, &step, "--step", job->o->step, 1, job->folder.steps))
        return EXIT_USAGE;
    while (answered && !job->o->step && step > 1 &&
           sotto_folder_state(&job->folder, (unsigned)step) != SOTTO_STEP_ANSWERED)
        step--;
    *out = (unsigned)step;
    return step > 0 ? EXIT_DONE : analysis_misused(job->o, "", "nothing was asked yet");
}

static int result(analysis_job *job)
{
    unsigned step = 0;
    int code;

    if (is_search(job) && !job->o->step)
        return analysis_show_found(job, stdout, job->o->json, false, 40);
    code = choose_step(job, &step, false);
    if (code == EXIT_DONE)
        code = analysis_ask(job, step, is_search(job));
    if (code == EXIT_DONE)
        code = analysis_copy(job, step, job->o->json ? "answer.json" : "answer.txt", "-");
    return code;
}

int analysis_result(int argc, char **argv)
{
    return with_folder(argc, argv, result);
}

/* ---- stop ---------------------------------------------------------------------------------------------------------------- */

/* A request may be open though no run saw it fail: withdrawing none is no mistake. */
static void withdraw_last(analysis_job *job)
{
    const unsigned last = job->folder.steps;

    if (!analysis_is_simulated(job) && last > 0 &&
        sotto_folder_state(&job->folder, last) == SOTTO_STEP_ASKED)
        analysis_withdraw(job, last);
}

static int stop(analysis_job *job)
{
    static const char text[] = "stopped by `sotto analysis stop`\n";
    const bool before = analysis_is_stopped(job);
    sotto_err err = {0};

    if (!before) {
        err.status = sotto_folder_write(&job->folder, 0, "stopped",
                                        sotto_bytes_of(text, sizeof text - 1), &err);
        if (err.status == SOTTO_OK)
            err.status = sotto_folder_note(&job->folder, "stopped", &err);
        if (err.status != SOTTO_OK)
            return analysis_failed(job, &err);
    }
    withdraw_last(job);
    if (job->o->json) {
        sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);

        sotto_json_bool(&j, "stopped", true);
        sotto_json_bool(&j, "before", before);
        return sotto_show_end(&j) ? EXIT_DONE : EXIT_FAILED;
    }
    if (before) {
        printf("it was stopped before\n");
        return EXIT_DONE;
    }
    printf("stopped: nothing more is asked. Answers stay; devices that answered keep what they "
           "spent\n");
    if (!analysis_is_simulated(job))
        printf("a recipe that devices have stays valid until it closes: both operators end its "
               "task\n");
    return EXIT_DONE;
}

int analysis_stop(int argc, char **argv)
{
    return with_folder(argc, argv, stop);
}

/* ---- export -------------------------------------------------------------------------------------------------------------- */

static int export_found(analysis_job *job, const char *path, bool json)
{
    FILE *out = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    int code;

    if (!out) {
        (void)fprintf(stderr, "sotto analysis export: %s: %s\n", path, strerror(errno));
        return EXIT_FAILED;
    }
    code = analysis_show_found(job, out, json, !json, 0);
    if (out != stdout && fclose(out) != 0)
        code = EXIT_FAILED;
    return code;
}

/* A budget of the settings as a decimal number writes itself, or "?". */
static const char *budget_text(char out[SOTTO_DECIMAL_TEXT], const analysis_job *job,
                               const char *name)
{
    const char *text = analysis_setting(job, "search", name);
    sotto_decimal budget;

    if (!text || sotto_decimal_parse(&budget, sotto_bytes_of(text, strlen(text)), SOTTO_DECIMAL_UP,
                                     NULL) != SOTTO_OK)
        return "?";
    sotto_decimal_format(out, budget);
    return out;
}

/* The page of a search is that of its last round, whose receipt is of that round alone: all rounds' budget stands before it. */
static int export_page(analysis_job *job, unsigned step, const char *path)
{
    static const char mark[] = "</h1>\n";
    const char *per = analysis_setting(job, "search", "per_round");
    sotto_bytes text;
    char said[400], epsilon[SOTTO_DECIMAL_TEXT], delta[SOTTO_DECIMAL_TEXT];
    sotto_err err = {0};

    if (!is_search(job))
        return analysis_copy(job, step, "answer.html", path);
    err.status = sotto_folder_read(&text, &job->folder, step, "answer.html", &job->arena, &err);
    if (err.status != SOTTO_OK)
        return analysis_failed(job, &err);
    const uint8_t *at = memmem(text.data, text.len, mark, sizeof mark - 1);
    const size_t head = at ? (size_t)(at - text.data) + sizeof mark - 1 : 0;
    if (head == 0)
        return analysis_copy(job, step, "answer.html", path);
    (void)snprintf(said, sizeof said,
                   "<p>A search of %u rounds: epsilon %s at delta %s, %s. The numbers below "
                   "are of round %u alone.</p>\n",
                   job->folder.steps, budget_text(epsilon, job, "epsilon"),
                   budget_text(delta, job, "delta"),
                   per && strcmp(per, "fresh-devices") == 0 ? "of a device that answers one round"
                                                            : "of all rounds together",
                   step);
    const sotto_bytes pieces[] = {sotto_bytes_of(text.data, head),
                                  sotto_bytes_of(said, strlen(said)),
                                  sotto_bytes_of(text.data + head, text.len - head)};
    return analysis_put(job, pieces, 3, path);
}

static bool is_standard(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

static int print_exported(const analysis_options *o, unsigned step)
{
    sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);

    if (step > 0)
        sotto_json_uint(&j, "step", step);
    sotto_json_some(&j, "csv", o->csv);
    sotto_json_some(&j, "html", o->html);
    sotto_json_some(&j, "out", o->out);
    return sotto_show_end(&j) ? EXIT_DONE : EXIT_FAILED;
}

static int export_files(analysis_job *job)
{
    const analysis_options *o = job->o;
    const bool found = is_search(job) && !o->step;
    unsigned step = 0;
    int code = choose_step(job, &step, true);

    if (code != EXIT_DONE)
        return code;
    if (!o->csv && !o->html && !o->out)
        return analysis_misused(o, "", "what, and where to? --csv FILE, --html FILE, --out FILE");
    if (o->json && (is_standard(o->csv) || is_standard(o->html) || is_standard(o->out)))
        return analysis_misused(o, "--json", "it names files, and - is none");
    if (!found && sotto_folder_state(&job->folder, step) != SOTTO_STEP_ANSWERED) {
        (void)fprintf(stderr, "sotto analysis export: step %u has no answer yet\n", step);
        return EXIT_SMALL;
    }
    if (o->csv)
        code = found ? export_found(job, o->csv, false)
                     : analysis_copy(job, step, "answer.csv", o->csv);
    if (code == EXIT_DONE && o->out)
        code = found ? export_found(job, o->out, true)
                     : analysis_copy(job, step, "answer.json", o->out);
    if (code == EXIT_DONE && o->html)
        code = export_page(job, step, o->html);
    if (code == EXIT_DONE && !found && step < job->folder.steps && !o->step)
        (void)fprintf(stderr, "sotto analysis export: this is step %u; step %u has no answer yet\n",
                      step, job->folder.steps);
    return code == EXIT_DONE && o->json ? print_exported(o, found ? 0 : step) : code;
}

int analysis_export(int argc, char **argv)
{
    return with_folder(argc, argv, export_files);
}
