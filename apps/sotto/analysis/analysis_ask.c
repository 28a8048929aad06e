/* A step is published; its answer comes from servers, or from simulated devices. Both are this program's own verbs, started anew, so
 * that a step is asked by the very code that `sotto collect`, `sotto recipe publish` and `sotto sim run` have. */
#define _POSIX_C_SOURCE 200809L
#include "analysis.h"

#include "base/arena.h"
#include "recipe/calendar.h"
#include "support/mistakes.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORDS = 48, NOTE = 400 };

typedef struct command {
    char *words[WORDS];
    size_t count;
    const char *out; /* where standard output goes; NULL: nowhere */
} command;

static void add(command *c, const char *word)
{
    if (word && c->count + 1 < WORDS)
        c->words[c->count++] = (char *)(uintptr_t)word;
}

static void add_pair(command *c, const char *name, const char *value)
{
    if (value) {
        add(c, name);
        add(c, value);
    }
}

/* The exit code of `sotto` with these words. */
static int run(const command *c)
{
    int state = 0;

    (void)fflush(stdout);
    (void)fflush(stderr);
    const pid_t child = fork();
    if (child == 0) {
        /* Whoever ends this command ends its child, too: else that one would write into the folder of the next command. */
        (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
        const int out =
            open(c->out ? c->out : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

        if (out >= 0 && dup2(out, STDOUT_FILENO) >= 0)
            (void)execv("/proc/self/exe", c->words);
        (void)fprintf(stderr, "sotto analysis: can't start sotto: %s\n", strerror(errno));
        _exit(EXIT_FAILED);
    }
    if (child < 0)
        return EXIT_FAILED;
    while (waitpid(child, &state, 0) < 0)
        if (errno != EINTR)
            return EXIT_FAILED;
    return WIFEXITED(state) ? WEXITSTATUS(state) : EXIT_FAILED;
}

/* ---- publishing -------------------------------------------------------------------------------------------------------- */

static int publish_in_log(analysis_job *job, unsigned step)
{
    char recipe[SOTTO_FOLDER_FILE], bundle[SOTTO_FOLDER_FILE];
    command c = {.count = 0};

    if (!json_object_get(job->settings, "publish") ||
        sotto_folder_has(&job->folder, step, "bundle"))
        return EXIT_DONE;
    sotto_folder_file(recipe, &job->folder, step, "recipe.json");
    sotto_folder_file(bundle, &job->folder, step, "bundle");
    add(&c, "sotto");
    add(&c, "recipe");
    add(&c, "publish");
    add(&c, recipe);
    add_pair(&c, "--from", analysis_setting(job, "publish", "from"));
    add_pair(&c, "--log", analysis_setting(job, "publish", "log"));
    add_pair(&c, "--token", analysis_setting(job, "publish", "token"));
    add_pair(&c, "--witness", analysis_setting(job, "publish", "witness"));
    add_pair(&c, "--out", bundle);
    const int code = run(&c);
    if (code != EXIT_DONE)
        (void)fprintf(
            stderr,
            "sotto analysis %s: step %u is kept, and not in the log yet, so no device has it; "
            "`sotto analysis %s %s` publishes it\n",
            job->o->verb, step, json_object_get(job->settings, "search") ? "discover" : "result",
            job->folder.path);
    return code;
}

/* The recipe as devices and lint see it. */
static int judge(analysis_job *job, sotto_bytes text, const sotto_recipe **recipe,
                 sotto_recipe_verdict *verdict)
{
    sotto_recipe_claim claim;
    sotto_err err = {0};

    err.status = sotto_recipe_read(recipe, text, &job->arena, &job->mistakes, &err);
    if (err.status == SOTTO_OK)
        err.status = sotto_recipe_judge(verdict, &claim, *recipe, job->policy, job->streams,
                                        &job->mistakes, &err);
    if (err.status == SOTTO_OK)
        return EXIT_DONE;
    sotto_mistakes_print("recipe", &job->mistakes);
    if (job->mistakes.errors == 0)
        return analysis_failed(job, &err);
    (void)fprintf(stderr, "sotto analysis %s: nothing was asked\n", job->o->verb);
    return EXIT_LINT;
}

int analysis_check(analysis_job *job, sotto_bytes text, const sotto_recipe **recipe,
                   bool one_budget)
{
    static sotto_recipe_verdict verdict;
    sotto_err err = {0};
    const int code = judge(job, text, recipe, &verdict);

    if (code != EXIT_DONE)
        return code;
    err.status = sotto_study_afford(job->policy, &verdict, &job->steps[1],
                                    one_budget ? job->folder.steps : 0, *recipe, &job->arena, &err);
    if (err.status == SOTTO_OK)
        return EXIT_DONE;
    (void)fprintf(stderr,
                  "sotto analysis %s: %s\nKept: %u %s. Devices that answered all of them would "
                  "refuse the next one, so it is not asked.\n",
                  job->o->verb, err.reason, job->folder.steps,
                  job->folder.steps == 1 ? "step" : "steps");
    if (job->folder.steps > 0)
        (void)fprintf(stderr, "`sotto analysis %s %s` shows what there is.\n",
                      json_object_get(job->settings, "search") ? "result" : "watch",
                      job->folder.path);
    return EXIT_REFUSED;
}

bool analysis_has_step_left(analysis_job *job, sotto_err *why)
{
    static sotto_recipe_verdict verdict;
    const sotto_recipe *last = job->steps[job->folder.steps];
    sotto_recipe_claim claim;

    return sotto_recipe_judge(&verdict, &claim, last, job->policy, job->streams, &job->mistakes,
                              why) != SOTTO_OK ||
           sotto_study_afford(job->policy, &verdict, &job->steps[1], job->folder.steps, last,
                              &job->arena, why) != SOTTO_DENIED;
}

int analysis_publish(analysis_job *job, sotto_bytes text, bool one_budget)
{
    const unsigned step = job->folder.steps + 1;
    char epsilon[SOTTO_DECIMAL_TEXT], line[NOTE];
    const sotto_recipe *recipe;
    sotto_err err = {0};
    const int code = analysis_check(job, text, &recipe, one_budget);

    if (code != EXIT_DONE)
        return code;
    err.status = sotto_folder_put(&job->folder, step, text, &err);
    if (err.status != SOTTO_OK)
        return analysis_failed(job, &err);
    job->steps[step] = recipe;
    sotto_decimal_format(epsilon, recipe->epsilon);
    (void)snprintf(line, sizeof line, "step %u asked: %s, epsilon %s", step, recipe->name, epsilon);
    err.status = sotto_folder_note(&job->folder, line, &err);
    if (err.status != SOTTO_OK)
        return analysis_failed(job, &err);
    return publish_in_log(job, step);
}

/* ---- answers ------------------------------------------------------------------------------------------------------------ */

typedef struct parts {
    char recipe[SOTTO_FOLDER_FILE], policy[SOTTO_FOLDER_FILE], streams[SOTTO_FOLDER_FILE],
        json[SOTTO_FOLDER_FILE], csv[SOTTO_FOLDER_FILE], html[SOTTO_FOLDER_FILE],
        text[SOTTO_FOLDER_FILE], bundle[SOTTO_FOLDER_FILE], seed[32];
} parts;

static void name_parts(parts *p, const analysis_job *job, unsigned step)
{
    const char *seed = analysis_setting(job, "simulate", "seed");

    sotto_folder_file(p->recipe, &job->folder, step, "recipe.json");
    sotto_folder_file(p->policy, &job->folder, 0, "policy.json");
    sotto_folder_file(p->streams, &job->folder, 0, "streams.json");
    sotto_folder_file(p->json, &job->folder, step, "answer.json.part");
    sotto_folder_file(p->csv, &job->folder, step, "answer.csv.part");
    sotto_folder_file(p->html, &job->folder, step, "answer.html.part");
    sotto_folder_file(p->text, &job->folder, step, "answer.txt.part");
    sotto_folder_file(p->bundle, &job->folder, step, "bundle");
    /* Each step has noise of its own. */
    (void)snprintf(p->seed, sizeof p->seed, "%" PRIu64,
                   (seed ? (uint64_t)strtoull(seed, NULL, 10) : 0) * 100 + step);
}

static int simulate(analysis_job *job, const parts *p, bool brief)
{
    command c = {.out = p->text};

    add(&c, "sotto");
    add(&c, "sim");
    add(&c, "run");
    add_pair(&c, "--recipe", p->recipe);
    add_pair(&c, "--policy", p->policy);
    add_pair(&c, "--streams", job->streams ? p->streams : NULL);
    add_pair(&c, "--csv", analysis_setting(job, "simulate", "csv"));
    add_pair(&c, "--device-column", analysis_setting(job, "simulate", "device_column"));
    add_pair(&c, "--devices", analysis_setting(job, "simulate", "devices"));
    add_pair(&c, "--seed", p->seed);
    add_pair(&c, "--answer", p->json);
    if (!brief) {
        add_pair(&c, "--table", p->csv);
        add_pair(&c, "--html", p->html);
    }
    add(&c, analysis_setting(job, "simulate", "fast") ? "--fast" : NULL);
    add(&c, job->o->skip_bad || analysis_setting(job, "simulate", "skip_bad_rows")
                ? "--skip-bad-rows"
                : NULL);
    add(&c, job->o->quiet ? "--quiet" : NULL);
    return run(&c);
}

static void add_servers(command *c, const analysis_job *job, const parts *p)
{
    add(c, "sotto");
    add(c, "collect");
    add_pair(c, "--recipe", p->recipe);
    add_pair(c, "--policy", p->policy);
    add_pair(c, "--parties", analysis_setting(job, "servers", "parties"));
    add_pair(c, "--pairing", analysis_setting(job, "servers", "pairing"));
    add_pair(c, "--key", analysis_setting(job, "servers", "key"));
    add_pair(c, "--ca", analysis_setting(job, "servers", "ca"));
    add(c, analysis_setting(job, "servers", "plain_http") ? "--plain-http" : NULL);
}

static int collect(analysis_job *job, const parts *p, unsigned step, bool brief)
{
    command c = {.out = p->text};

    add_servers(&c, job, p);
    add(&c, job->o->close_early ? "--close-early" : NULL);
    add_pair(&c, "--wait", job->o->wait);
    add_pair(&c, "--answer", p->json);
    if (sotto_folder_has(&job->folder, step, "bundle"))
        add_pair(&c, "--proof", p->bundle);
    if (!brief) {
        add_pair(&c, "--csv", p->csv);
        add_pair(&c, "--html", p->html);
    }
    return run(&c);
}

void analysis_withdraw(analysis_job *job, unsigned step)
{
    command c = {.count = 0};
    parts p;

    name_parts(&p, job, step);
    add_servers(&c, job, &p);
    add(&c, "--close-early"); /* as an interval that is not over may have been asked for */
    add(&c, "--withdraw");
    if (run(&c) != EXIT_DONE)
        (void)fprintf(stderr, "sotto analysis stop: step %u: no request was withdrawn; see above\n",
                      step);
}

/* Why there may be no answer yet, in words without a count: nobody is told one before a release. */
static const char *not_yet(const analysis_job *job, unsigned step)
{
    const bool over = (int64_t)time(NULL) >= job->steps[step]->closes;

    if (analysis_is_simulated(job))
        return "too few reports came for its min_cohort: the rows are too few devices";
    if (!over && !job->o->close_early)
        return "its schedule is not over; --close-early asks before that";
    return over ? "too few reports came, or not all are verified yet. No report comes after its "
                  "schedule: if it stays so, `sotto analysis stop` ends it"
                : "too few reports came so far, or not all are verified yet";
}

static const char *meaning(const analysis_job *job, unsigned step, int code)
{
    switch (code) {
    case EXIT_SMALL:
        return not_yet(job, step);
    case EXIT_PROOF:
        return "the servers' shares do not hold together: tell their operators";
    case EXIT_PEER:
        return "a server can't be reached";
    case EXIT_REFUSED:
        return "refused";
    case EXIT_LINT:
        return "the recipe or the policy has mistakes";
    case EXIT_USAGE:
        return "it can't be asked in this way";
    default:
        return "it failed";
    }
}

/* What is kept, and what to type. */
static int no_answer(analysis_job *job, unsigned step, int code)
{
    char line[NOTE], time_text[SOTTO_CALENDAR_TEXT];
    sotto_err err = {0};

    sotto_folder_sweep(&job->folder, step);
    sotto_calendar_format_time(time_text, (int64_t)time(NULL));
    (void)snprintf(line, sizeof line, "%s: %s\n", time_text, meaning(job, step, code));
    if (sotto_folder_write(&job->folder, step, "last.txt", sotto_bytes_of(line, strlen(line)),
                           &err) != SOTTO_OK)
        (void)fprintf(stderr, "sotto analysis %s: %s\n", job->o->verb, err.reason);
    (void)fprintf(
        stderr,
        "sotto analysis %s: step %u has no answer: %s\n"
        "Kept: %u answered %s, and the recipe of step %u. %s\n",
        job->o->verb, step, meaning(job, step, code), step - 1, step == 2 ? "step" : "steps", step,
        code == EXIT_SMALL && analysis_is_simulated(job)
            ? "With the same rows, the same command ends in the same way. `sotto analysis "
              "start` in a new folder takes a file of more rows, --devices N, or a recipe "
              "with a lower min_cohort."
            : "The same command asks for this answer again; nothing is spent twice.");
    return code;
}

int analysis_ask(analysis_job *job, unsigned step, bool brief)
{
    const sotto_step_state state = sotto_folder_state(&job->folder, step);
    const sotto_arena_mark here = sotto_arena_here(&job->arena);
    sotto_err err = {0};
    char line[NOTE];
    parts p;
    int code;

    if (state == SOTTO_STEP_ANSWERED)
        return EXIT_DONE;
    if (analysis_is_stopped(job)) {
        (void)fprintf(stderr,
                      "sotto analysis %s: the analysis was stopped: step %u is not asked. `sotto "
                      "analysis watch %s` lists what there is\n",
                      job->o->verb, step, job->folder.path);
        return EXIT_FAILED;
    }
    sotto_folder_sweep(&job->folder, step);
    code = publish_in_log(job, step);
    if (code != EXIT_DONE)
        return code;
    name_parts(&p, job, step);
    code = analysis_is_simulated(job) ? simulate(job, &p, brief) : collect(job, &p, step, brief);
    if (code != EXIT_DONE)
        return no_answer(job, step, code);
    err.status = sotto_folder_commit(&job->folder, step, &job->arena, &err);
    sotto_arena_rollback(&job->arena, here);
    if (err.status != SOTTO_OK)
        return analysis_failed(job, &err);
    (void)snprintf(line, sizeof line, "step %u answered", step);
    err.status = sotto_folder_note(&job->folder, line, &err);
    return err.status == SOTTO_OK ? EXIT_DONE : analysis_failed(job, &err);
}
