/* The folder of an analysis, its settings and its steps. */
#define _XOPEN_SOURCE 700
#include "analysis.h"

#include "base/arena.h"
#include "base/file.h"
#include "support/mistakes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FORMAT = 1 };

/* ---- what went wrong ------------------------------------------------------------------------------------------------ */

int analysis_failed(const analysis_job *job, const sotto_err *err)
{
    (void)fprintf(stderr, "sotto analysis %s: %s\n", job->o->verb, err->reason);
    return sotto_exit_code(err->status, SOTTO_AT_WORDS);
}

static int print_mistakes(const analysis_job *job, const char *file)
{
    sotto_mistakes_print(file, &job->mistakes);
    return EXIT_LINT;
}

int analysis_read(analysis_job *job, const char *path, sotto_bytes *out)
{
    sotto_err err = {0};

    if (sotto_file_text(out, path, SOTTO_RECIPE_MAX_BYTES, &job->arena, &err) == SOTTO_OK)
        return EXIT_DONE;
    (void)fprintf(stderr, "sotto analysis %s: %s: %s\n", job->o->verb, path, err.reason);
    return EXIT_FAILED;
}

/* The texts that are there: what the devices allow, and the tables they have. */
static int read_devices(analysis_job *job, const char *policy, const char *streams)
{
    const char *name = policy;
    sotto_err err = {0};

    err.status =
        sotto_policy_read(&job->policy, job->policy_text, &job->arena, &job->mistakes, &err);
    if (err.status == SOTTO_OK && job->streams_text.len > 0) {
        name = streams;
        err.status =
            sotto_streams_read(&job->streams, job->streams_text, &job->arena, &job->mistakes, &err);
    }
    if (err.status == SOTTO_OK)
        return EXIT_DONE;
    return job->mistakes.errors > 0 ? print_mistakes(job, name) : analysis_failed(job, &err);
}

/* ---- settings --------------------------------------------------------------------------------------------------------- */

const char *analysis_setting(const analysis_job *job, const char *group, const char *name)
{
    return json_string_value(json_object_get(json_object_get(job->settings, group), name));
}

bool analysis_is_simulated(const analysis_job *job)
{
    return json_object_get(job->settings, "simulate") != NULL;
}

bool analysis_is_stopped(const analysis_job *job)
{
    return sotto_folder_has(&job->folder, 0, "stopped");
}

void analysis_schedule(const analysis_job *job, const sotto_recipe *of, int64_t *opens,
                       int64_t *closes)
{
    const int64_t now = (int64_t)time(NULL), step = (int64_t)of->precision;

    *opens = *closes = 0;
    if (analysis_is_simulated(job))
        return;
    *opens = step > 0 ? now / step * step : now;
    *closes = *opens + (of->closes - of->opens);
}

/* Paths are kept whole, so that the folder may be used from elsewhere. */
static bool set_path(json_t *group, const char *name, const char *path)
{
    char *whole = path ? realpath(path, NULL) : NULL;
    const bool done = json_object_set_new(group, name, json_string(whole ? whole : path)) == 0;

    free(whole);
    return done;
}

static void set_text(json_t *group, const char *name, const char *text)
{
    if (text)
        (void)json_object_set_new(group, name, json_string(text));
}

static json_t *settings_of(const analysis_options *o, json_t *search)
{
    json_t *all = json_object(), *group = json_object();

    (void)json_object_set_new(all, "format", json_integer(FORMAT));
    set_text(all, "streams", o->streams ? "yes" : NULL);
    if (o->simulate) {
        (void)set_path(group, "csv", o->simulate);
        set_text(group, "device_column", o->device_column);
        set_text(group, "devices", o->devices);
        set_text(group, "seed", o->seed ? o->seed : "1");
        set_text(group, "fast", o->fast ? "yes" : NULL);
        set_text(group, "skip_bad_rows", o->skip_bad ? "yes" : NULL);
    } else {
        (void)set_path(group, "parties", o->parties);
        (void)set_path(group, "pairing", o->pairing);
        (void)set_path(group, "key", o->key);
        if (o->ca)
            (void)set_path(group, "ca", o->ca);
        set_text(group, "plain_http", o->plain ? "yes" : NULL);
    }
    (void)json_object_set_new(all, o->simulate ? "simulate" : "servers", group);
    if (o->from) {
        group = json_object();
        set_text(group, "from", o->from);
        set_text(group, "log", o->log);
        (void)set_path(group, "token", o->token);
        set_text(group, "witness", o->witness);
        (void)json_object_set_new(all, "publish", group);
    }
    if (search)
        (void)json_object_set_new(all, "search", search);
    return all;
}

static int check_sources(const analysis_options *o)
{
    uint64_t number;

    if (!o->recipe || !o->policy)
        return analysis_misused(o, o->recipe ? "--policy" : "--recipe", "it is needed");
    if (o->simulate && (o->parties || o->pairing || o->key || o->ca || o->plain || o->from))
        return analysis_misused(o, "--simulate", "nothing is sent then: leave servers and log out");
    if (!o->simulate && (o->device_column || o->devices || o->seed || o->fast || o->skip_bad))
        return analysis_misused(
            o, "",
            "--device-column, --devices, --seed, --fast and --skip-bad-rows are of --simulate");
    if (!o->simulate && (!o->parties || !o->pairing || !o->key))
        return analysis_misused(o, "",
                                "who answers? --simulate CSV, or --parties, --pairing and --key");
    if (o->simulate && access(o->simulate, R_OK) != 0) {
        (void)fprintf(stderr, "sotto analysis %s: %s: %s\n", o->verb, o->simulate, strerror(errno));
        return EXIT_FAILED;
    }
    if (o->from ? !o->log || !o->token : o->log || o->token || o->witness)
        return analysis_misused(o, "--from", "it goes with --log and --token");
    if (o->devices && !analysis_number(o, &number, "--devices", o->devices, 1, 1000000000))
        return EXIT_USAGE;
    return o->seed && !analysis_number(o, &number, "--seed", o->seed, 0, 1000000000000000)
               ? EXIT_USAGE
               : EXIT_DONE;
}

static int write_settings(analysis_job *job)
{
    const size_t size = json_dumpb(job->settings, NULL, 0, JSON_INDENT(2));
    char *text = sotto_arena_take(&job->arena, size + 1);
    sotto_err err = {0};

    err.status = text && json_dumpb(job->settings, text, size, JSON_INDENT(2)) == size
                     ? SOTTO_OK
                     : sotto_fail(&err, SOTTO_NO_MEMORY, "settings of %zu bytes", size);
    if (err.status == SOTTO_OK)
        err.status = sotto_folder_write(&job->folder, 0, "policy.json", job->policy_text, &err);
    if (err.status == SOTTO_OK && job->streams_text.len > 0)
        err.status = sotto_folder_write(&job->folder, 0, "streams.json", job->streams_text, &err);
    /* The last: with it the folder is an analysis. */
    if (err.status == SOTTO_OK)
        err.status =
            sotto_folder_write(&job->folder, 0, "analysis.json", sotto_bytes_of(text, size), &err);
    return err.status == SOTTO_OK ? EXIT_DONE : analysis_failed(job, &err);
}

static void begin(analysis_job *job, const analysis_options *o)
{
    memset(job, 0, sizeof *job);
    job->o = o;
    job->folder.lock = -1;
    sotto_arena_init(&job->arena, (size_t)2 << 30);
}

int analysis_prepare(analysis_job *job, const analysis_options *o, json_t *search)
{
    begin(job, o);
    job->settings = settings_of(o, search);
    int code = check_sources(o);
    if (code == EXIT_DONE)
        code = analysis_read(job, o->policy, &job->policy_text);
    if (code == EXIT_DONE && o->streams)
        code = analysis_read(job, o->streams, &job->streams_text);
    if (code == EXIT_DONE && o->streams && job->streams_text.len == 0)
        return analysis_misused(o, "--streams",
                                "the file is empty; `sotto recipe new --streams` prints one");
    return code == EXIT_DONE ? read_devices(job, o->policy, o->streams) : code;
}

int analysis_make(analysis_job *job, sotto_bytes frame, sotto_bytes first)
{
    sotto_err err = {0};

    err.status = sotto_folder_new(&job->folder, job->o->folder, &err);
    if (err.status == SOTTO_OK && frame.len > 0)
        err.status = sotto_folder_write(&job->folder, 0, "frame.json", frame, &err);
    /* An analysis without a question could not go on: the recipe is there before the folder is one. */
    if (err.status == SOTTO_OK && first.len > 0)
        err.status = sotto_folder_put(&job->folder, 1, first, &err);
    job->folder.steps = 0; /* analysis_publish counts it */
    return err.status == SOTTO_OK ? write_settings(job) : analysis_failed(job, &err);
}

/* ---- opening ------------------------------------------------------------------------------------------------------------ */

static int read_settings(analysis_job *job)
{
    sotto_err err = {0};
    sotto_bytes text;

    err.status = sotto_folder_read(&text, &job->folder, 0, "analysis.json", &job->arena, &err);
    if (err.status == SOTTO_OK)
        err.status =
            sotto_folder_read(&job->policy_text, &job->folder, 0, "policy.json", &job->arena, &err);
    job->settings = err.status != SOTTO_OK ? NULL
                                           : json_loadb((const char *)text.data, text.len,
                                                        JSON_REJECT_DUPLICATES, NULL);
    /* A start that crashed may have left one that this analysis does not have. */
    if (json_object_get(job->settings, "streams"))
        err.status = sotto_folder_read(&job->streams_text, &job->folder, 0, "streams.json",
                                       &job->arena, &err);
    if (err.status != SOTTO_OK)
        return analysis_failed(job, &err);
    if (json_integer_value(json_object_get(job->settings, "format")) == FORMAT)
        return read_devices(job, "policy.json", "streams.json");
    (void)fprintf(stderr,
                  "sotto analysis %s: %s/analysis.json: not as `sotto analysis` wrote it; the "
                  "recipes and answers in the folder are complete by themselves\n",
                  job->o->verb, job->folder.path);
    return EXIT_FAILED;
}

static int read_step(analysis_job *job, unsigned step)
{
    sotto_err err = {0};
    sotto_bytes text;

    err.status = sotto_folder_read(&text, &job->folder, step, "recipe.json", &job->arena, &err);
    if (err.status == SOTTO_OK)
        err.status = sotto_recipe_read(&job->steps[step], text, &job->arena, &job->mistakes, &err);
    if (err.status != SOTTO_OK && job->mistakes.errors > 0)
        return print_mistakes(job, "recipe.json");
    return err.status == SOTTO_OK ? EXIT_DONE : analysis_failed(job, &err);
}

int analysis_open(analysis_job *job, const analysis_options *o)
{
    sotto_err err = {0};

    begin(job, o);
    err.status = sotto_folder_open(&job->folder, o->folder, &err);
    if (err.status != SOTTO_OK)
        return analysis_failed(job, &err);
    int code = read_settings(job);
    for (unsigned i = 1; code == EXIT_DONE && i <= job->folder.steps; i++)
        code = read_step(job, i);
    return code;
}

int analysis_compare(analysis_job *job, const analysis_options *o, json_t *search, bool *same)
{
    json_t *settings = settings_of(o, search);
    sotto_bytes recipe = {0}, policy = {0}, frame = {0}, streams = {0};
    sotto_err err = {0};
    int code = check_sources(o);

    if (code == EXIT_DONE)
        code = analysis_read(job, o->recipe, &recipe);
    if (code == EXIT_DONE)
        code = analysis_read(job, o->policy, &policy);
    if (code == EXIT_DONE && o->streams)
        code = analysis_read(job, o->streams, &streams);
    if (code == EXIT_DONE) {
        err.status = sotto_folder_read(&frame, &job->folder, 0, "frame.json", &job->arena, &err);
        code = err.status == SOTTO_OK ? EXIT_DONE : analysis_failed(job, &err);
    }
    *same = code == EXIT_DONE && json_equal(settings, job->settings) &&
            sotto_bytes_equal(recipe, frame) && sotto_bytes_equal(policy, job->policy_text) &&
            sotto_bytes_equal(streams, job->streams_text);
    json_decref(settings);
    return code;
}

void analysis_close(analysis_job *job)
{
    sotto_folder_close(&job->folder);
    json_decref(job->settings);
    sotto_arena_clear(&job->arena);
}

int analysis_answer(analysis_job *job, unsigned step, sotto_study_answer *out, sotto_arena *arena)
{
    sotto_err err = {0};
    sotto_bytes text;

    err.status = sotto_folder_read(&text, &job->folder, step, "answer.json", arena, &err);
    if (err.status == SOTTO_OK)
        err.status = sotto_study_answer_read(out, text, arena, &err);
    if (err.status == SOTTO_OK)
        return EXIT_DONE;
    (void)fprintf(stderr, "sotto analysis %s: step %u: %s\n", job->o->verb, step, err.reason);
    return EXIT_FAILED;
}

int analysis_put(const analysis_job *job, const sotto_bytes *pieces, size_t count, const char *to)
{
    FILE *out = strcmp(to, "-") == 0 ? stdout : fopen(to, "wb");
    bool done = out != NULL;

    for (size_t i = 0; done && i < count; i++)
        done = fwrite(pieces[i].data, 1, pieces[i].len, out) == pieces[i].len;
    if (out && out != stdout)
        done = fclose(out) == 0 && done;
    if (!done)
        (void)fprintf(stderr, "sotto analysis %s: %s: %s\n", job->o->verb, to, strerror(errno));
    return done ? EXIT_DONE : EXIT_FAILED;
}

int analysis_copy(analysis_job *job, unsigned step, const char *name, const char *to)
{
    const sotto_arena_mark here = sotto_arena_here(&job->arena);
    sotto_err err = {0};
    sotto_bytes text;

    err.status = sotto_folder_read(&text, &job->folder, step, name, &job->arena, &err);
    if (err.status != SOTTO_OK)
        return analysis_failed(job, &err);
    const int code = analysis_put(job, &text, 1, to);
    sotto_arena_rollback(&job->arena, here);
    return code;
}
