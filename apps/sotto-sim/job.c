#define _POSIX_C_SOURCE 200809L
#include "sim.h"

#include "base/arena.h"
#include "base/file.h"
#include "support/mistakes.h"
#include "support/people_of.h"

#include <string.h>

/* ---- files ---------------------------------------------------------------------------------------------------- */

static int read_file(sim_job *job, const char *path, sotto_bytes *out)
{
    sotto_err err = {0};

    if (sotto_file_text(out, path, SOTTO_RECIPE_MAX_BYTES, &job->arena, &err) == SOTTO_OK)
        return EXIT_DONE;
    (void)fprintf(stderr, "sotto sim: %s: %s\n", path, err.reason);
    return EXIT_FAILED;
}

/* As compilers say it, and what to type next. */
static int print_mistakes(const sim_job *job, const char *file, const sotto_mistakes *list)
{
    const bool recipe = strcmp(file, job->recipe) == 0;

    for (size_t i = 0; i < list->count; i++) {
        const sotto_mistake *m = &list->items[i];

        if (m->severity != SOTTO_MISTAKE)
            continue;
        sotto_mistake_print(file, m);
        if (strcmp(m->what, "it is empty") == 0) {
            (void)fprintf(stderr, "sotto sim: `sotto recipe new%s` prints one to start from\n",
                          recipe                                    ? ""
                          : strcmp(file, job->options->policy) == 0 ? " --policy"
                                                                    : " --streams");
            return EXIT_LINT;
        }
    }
    if (recipe && job->edited[0]) {
        (void)fprintf(stderr,
                      "sotto sim: that is said of the recipe with %s; the file has another value\n",
                      job->edited);
        return EXIT_LINT;
    }
    (void)fprintf(stderr, "sotto sim: `sotto recipe lint %s --policy %s%s%s` says more\n",
                  job->recipe, job->options->policy, job->options->streams ? " --streams " : "",
                  job->options->streams ? job->options->streams : "");
    return EXIT_LINT;
}

static int read_streams(sim_job *job)
{
    sotto_mistakes *mistakes = sotto_arena_take(&job->arena, sizeof *mistakes);
    sotto_err err = {0};
    sotto_bytes text;

    if (!job->options->streams)
        return EXIT_DONE;
    const int code = read_file(job, job->options->streams, &text);
    if (code != EXIT_DONE || !mistakes)
        return EXIT_FAILED;
    if (sotto_streams_read(&job->streams, text, &job->arena, mistakes, &err) == SOTTO_OK)
        return EXIT_DONE;
    if (mistakes->errors > 0)
        return print_mistakes(job, job->options->streams, mistakes);
    (void)fprintf(stderr, "sotto sim: %s: %s\n", job->options->streams, err.reason);
    return EXIT_LINT;
}

int sim_job_load(sim_job *job, const sim_options *options, const char *recipe)
{
    *job = (sim_job){.options = options, .recipe = recipe, .devices = options->devices};
    sotto_arena_init(&job->arena, SOTTO_RECIPE_ARENA);
    int code = read_file(job, recipe, &job->recipe_text);
    if (code == EXIT_DONE)
        code = read_file(job, options->policy, &job->policy_text);
    return code == EXIT_DONE ? read_streams(job) : code;
}

/* ---- what went wrong -------------------------------------------------------------------------------------------- */

bool sim_is_small(const sotto_err *err)
{
    return err->status == SOTTO_DENIED && strncmp(err->reason, "a batch of ", 11) == 0;
}

/* A way on, or NULL. */
static const char *hint(const sim_job *job, const sotto_err *err)
{
    switch (err->status) {
    case SOTTO_MALFORMED:
        if (!strstr(err->reason, ": line ") && strncmp(err->reason, "line ", 5) != 0)
            return strstr(err->reason, "UTF-16")
                       ? NULL
                       : "write the names of columns into the first line, with commas between "
                         "them, and a row into each line below it";
        return job->options->skip_bad
                   ? strstr(err->reason, "state its type") ? "that takes --streams FILE" : NULL
                   : "correct that line; or leave such rows out with --skip-bad-rows; or state the "
                     "types of columns with --streams FILE";
    case SOTTO_MISSING:
        return strstr(err->reason, "no column") ? "name the columns in the first line as the query "
                                                  "names its fields, with commas "
                                                  "between them"
                                                : NULL;
    case SOTTO_DENIED:
        return sim_is_small(err)
                   ? "simulate more of them with --devices N, or lower min_cohort, or raise the "
                     "rate of participation"
                   : NULL;
    default:
        return NULL;
    }
}

int sim_complain(const sim_job *job, const sotto_err *err)
{
    const char *next = hint(job, err);

    (void)fprintf(stderr, "sotto sim: %s\n", err->reason);
    if (next)
        (void)fprintf(stderr, "sotto sim: %s\n", next);
    return sotto_exit_code(err->status, sim_is_small(err) ? SOTTO_AT_BATCH : SOTTO_AT_DATA);
}

/* ---- opening ---------------------------------------------------------------------------------------------------- */

static sotto_status open_people(sim_job *job, sotto_err *err)
{
    const sim_options *o = job->options;
    sotto_people_options options = sotto_people_options_of(&job->trial.table);

    options.path = o->csv;
    options.device_column = o->device_column;
    options.skip_bad = o->skip_bad;
    options.devices = job->devices;
    SOTTO_TRY(sotto_people_open(&job->people, &options, err));
    return sotto_trial_type(&job->trial, sotto_people_fields(job->people), err);
}

int sim_job_open(sim_job *job)
{
    sotto_err err = {0};
    sotto_status status =
        sotto_trial_init(&job->trial, job->recipe_text, job->policy_text, job->streams, &err);

    if (status != SOTTO_OK && job->trial.mistakes && job->trial.mistakes->errors > 0)
        return print_mistakes(job,
                              job->trial.mistaken[0] == 'p' ? job->options->policy : job->recipe,
                              job->trial.mistakes);
    if (status == SOTTO_OK)
        status = open_people(job, &err);
    if (status != SOTTO_OK) {
        err.status = status;
        return sim_complain(job, &err);
    }
    if (!job->warned)
        sotto_people_say_likely(job->people);
    if (job->trial.unhidden && !job->options->quiet)
        (void)fprintf(stderr, "relay, tokens and log are left out: they hide who answers, and "
                              "change no answer\n");
    return EXIT_DONE;
}

void sim_job_close(sim_job *job)
{
    sotto_people_close(job->people);
    job->people = NULL;
    sotto_trial_clear(&job->trial);
}

void sim_job_end(sim_job *job)
{
    sotto_arena_clear(&job->arena);
}
