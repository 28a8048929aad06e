/* Arguments and files of the recipe verbs. */
#include "recipe.h"

#include "base/arena.h"
#include "base/file.h"
#include "recipe/claim.h"
#include "recipe/participation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void sotto_recipe_job_begin(sotto_recipe_job *job, const char *verb)
{
    memset(job, 0, sizeof *job);
    job->verb = verb;
    sotto_arena_init(&job->arena, SOTTO_RECIPE_ARENA);
}

int sotto_recipe_job_parse(sotto_recipe_job *job, int argc, char **argv, size_t files,
                           const sotto_argument *own, size_t count)
{
    enum { MOST = 40 };
    char verb[40];
    sotto_argument words[MOST];
    size_t filled = 0;

    sotto_recipe_job_begin(job, argv[0]);
    (void)snprintf(verb, sizeof verb, "recipe %s", argv[0]);
    words[filled++] = (sotto_argument){.name = "RECIPE", .text = &job->files[0], .needed = true};
    if (files > 1)
        words[filled++] =
            (sotto_argument){.name = "PARTIES", .text = &job->files[1], .needed = true};
    words[filled++] = (sotto_argument){.name = "--policy", .text = &job->policy};
    words[filled++] = (sotto_argument){.name = "--streams", .text = &job->streams};
    words[filled++] = (sotto_argument){.name = "--json", .flag = &job->json};
    for (size_t i = 0; i < count && filled < MOST; i++)
        words[filled++] = own[i];
    return sotto_arguments_read(verb, words, filled, argc, argv);
}

void sotto_recipe_job_end(sotto_recipe_job *job)
{
    sotto_arena_clear(&job->arena);
}

/* A whole file, or standard input for "-"; one byte over the limit is enough to be refused for it. */
static sotto_status read_file(sotto_recipe_job *job, const char *path, sotto_bytes *out,
                              sotto_err *err)
{
    const bool standard = strcmp(path, "-") == 0;
    sotto_err why = {0};
    sotto_status status;
    sotto_buf file;

    SOTTO_TRY(sotto_buf_take(&file, &job->arena, SOTTO_RECIPE_MAX_BYTES + 1, err));
    status = standard ? sotto_file_append_open(&file, STDIN_FILENO, &why)
                      : sotto_file_append(&file, path, &why);
    if (status != SOTTO_OK && status != SOTTO_TOO_LARGE)
        return sotto_fail(err, SOTTO_IO, "can't read it: %s", why.reason);
    *out = sotto_buf_bytes(&file);
    return SOTTO_OK;
}

int sotto_recipe_job_complain(sotto_recipe_job *job, const char *path, const sotto_err *err)
{
    if (job->mistakes.count > 0) {
        sotto_mistakes_explain(&job->mistakes);
        sotto_recipe_print_mistakes(job, path);
        return EXIT_LINT;
    }
    (void)fprintf(stderr, "%s %s: %s: %s\n", job->above ? job->above : "sotto recipe", job->verb,
                  path, err->reason);
    return sotto_exit_code(err->status, SOTTO_AT_FILE);
}

/* Each by itself may be right, and the analysis not. */
static int hold_against_others(sotto_recipe_job *job)
{
    const size_t before = job->mistakes.errors;
    const sotto_recipe *other;
    sotto_err err = {0};
    sotto_bytes text;

    for (size_t i = 0; i < job->other_count; i++) {
        if (read_file(job, job->others[i], &text, &err) != SOTTO_OK ||
            sotto_recipe_read(&other, text, &job->arena, &job->mistakes, &err) != SOTTO_OK)
            return sotto_recipe_job_complain(job, job->others[i], &err);
        sotto_participation_lint(job->recipe, other, &job->mistakes);
    }
    return job->mistakes.errors > before ? sotto_recipe_job_complain(job, job->files[0], &err)
                                         : EXIT_DONE;
}

int sotto_recipe_job_text(sotto_recipe_job *job)
{
    sotto_err err = {0};

    if (!job->text.data && read_file(job, job->files[0], &job->text, &err) != SOTTO_OK)
        return sotto_recipe_job_complain(job, job->files[0], &err);
    return EXIT_DONE;
}

int sotto_recipe_job_read(sotto_recipe_job *job)
{
    sotto_err err = {0};
    const int code = sotto_recipe_job_text(job);

    if (code != EXIT_DONE)
        return code;
    if (sotto_recipe_job_learns(job)) {
        (void)fprintf(stderr,
                      "%s %s: %s trains a model, and this is for statistics. `sotto learn check` "
                      "says what it costs, `sotto learn run` publishes and collects its rounds\n",
                      job->above ? job->above : "sotto recipe", job->verb, job->files[0]);
        return EXIT_USAGE;
    }
    if (sotto_recipe_read(&job->recipe, job->text, &job->arena, &job->mistakes, &err) != SOTTO_OK)
        return sotto_recipe_job_complain(job, job->files[0], &err);
    return sotto_recipe_job_read_others(job);
}

int sotto_recipe_job_read_others(sotto_recipe_job *job)
{
    sotto_err err = {0};
    sotto_bytes text;

    if (job->policy &&
        (read_file(job, job->policy, &text, &err) != SOTTO_OK ||
         sotto_policy_read(&job->policy_read, text, &job->arena, &job->mistakes, &err) != SOTTO_OK))
        return sotto_recipe_job_complain(job, job->policy, &err);
    if (job->streams && (read_file(job, job->streams, &text, &err) != SOTTO_OK ||
                         sotto_streams_read(&job->streams_read, text, &job->arena, &job->mistakes,
                                            &err) != SOTTO_OK))
        return sotto_recipe_job_complain(job, job->streams, &err);
    if (job->files[1] &&
        (read_file(job, job->files[1], &text, &err) != SOTTO_OK ||
         sotto_parties_read(&job->parties, text, &job->arena, &job->mistakes, &err) != SOTTO_OK))
        return sotto_recipe_job_complain(job, job->files[1], &err);
    return EXIT_DONE;
}

int sotto_recipe_job_load(sotto_recipe_job *job)
{
    sotto_err err = {0};
    const int code = sotto_recipe_job_read(job);

    if (code != EXIT_DONE)
        return code;
    sotto_status status =
        sotto_recipe_judge(&job->verdict, &job->claim, job->recipe, job->policy_read,
                           job->streams_read, &job->mistakes, &err);
    job->judged = true;
    if (status != SOTTO_OK ||
        sotto_recipe_forecast(&job->forecast, job->recipe,
                              job->policy_read ? job->policy_read->honest : SOTTO_HONEST_UNSAID,
                              &job->mistakes, &err) != SOTTO_OK ||
        sotto_recipe_accuracy(&job->accuracy, job->recipe,
                              sotto_recipe_release_reports(job->recipe, &job->forecast), NULL,
                              &err) != SOTTO_OK)
        return sotto_recipe_job_complain(job, job->files[0], &err);
    return hold_against_others(job);
}
