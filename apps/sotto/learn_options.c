/* Options of `sotto learn run` and `sotto learn check`. */
#define _POSIX_C_SOURCE 200809L
#include "learn_run.h"
#include "verbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FOLDER = 100 };

typedef struct option {
    const char *name;
    const char **text;
    uint64_t *number;
    uint64_t least, most;
} option;

static int complain(const char *verb, const char *name, const char *what)
{
    (void)fprintf(stderr, "sotto learn %s: %s: %s; see `sotto learn %s --help`\n", verb, name, what,
                  verb);
    return EXIT_USAGE;
}

static bool take_number(const option *o, const char *text)
{
    char *end = NULL;

    errno = 0;
    *o->number = strtoull(text, &end, 10);
    return *end == 0 && end != text && text[0] != '-' && errno == 0 && *o->number >= o->least &&
           *o->number <= o->most;
}

static bool take_flag(learn_run *run, const char *word)
{
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {{"--json", &run->json},
                 {"--quiet", &run->quiet},
                 {"--library", &run->library},
                 {"--rehearse", &run->rehearse},
                 {"--plain-http", &run->plain}};

    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (strcmp(flags[i].name, word) == 0)
            return *flags[i].flag = true;
    return false;
}

/* One word that is no option is the recipe. */
int learn_options_read(learn_run *run, const char *verb, int argc, char **argv)
{
    const option options[] = {{"--data", &run->data_file, NULL, 0, 0},
                              {"--parties", &run->parties_file, NULL, 0, 0},
                              {"--pairing", &run->pairing_file, NULL, 0, 0},
                              {"--key", &run->key_file, NULL, 0, 0},
                              {"--owner", &run->owner_file, NULL, 0, 0},
                              {"--ca", &run->ca_file, NULL, 0, 0},
                              {"--patience", NULL, &run->patience, 1, 31536000},
                              {"--policy", &run->policy_file, NULL, 0, 0},
                              {"--init", &run->init_file, NULL, 0, 0},
                              {"--out", &run->folder, NULL, 0, 0},
                              {"--devices", NULL, &run->devices, 10, 10000000},
                              {"--threads", NULL, &run->threads, 1, LEARN_THREADS},
                              {"--drop", NULL, &run->drop, 0, 100},
                              {"--stop-after", NULL, &run->stop_after, 1, 1000000},
                              {"--seed", NULL, &run->seed, 0, UINT64_C(1) << 53}};

    for (int i = 1; i < argc; i++) {
        const option *o = NULL;

        for (size_t k = 0; k < sizeof options / sizeof options[0]; k++)
            if (strcmp(options[k].name, argv[i]) == 0)
                o = &options[k];
        if (take_flag(run, argv[i])) {
            continue;
        } else if (!o && (argv[i][0] == '-' || run->recipe_file)) {
            return complain(verb, argv[i], "no such option");
        } else if (!o) {
            run->recipe_file = argv[i];
        } else if (i + 1 == argc) {
            return complain(verb, argv[i], "it lacks its value");
        } else if (o->text) {
            *o->text = argv[++i];
        } else if (!take_number(o, argv[++i])) {
            return complain(verb, argv[i - 1], "not a number in its range");
        }
    }
    return run->recipe_file ? EXIT_DONE : complain(verb, "RECIPE", "it is missing");
}

/* digits.json trains in digits.learn, in the folder that one is in. A plan has a folder of its own: plan/recipe.json trains in
 * plan.learn. */
static void name_folder(learn_run *run)
{
    static char folder[FOLDER];
    const char *file = run->recipe_file, *slash = strrchr(file, '/'),
               *name = slash ? slash + 1 : file, *dot = strrchr(name, '.');
    size_t len = dot && dot > name ? (size_t)(dot - name) : strlen(name);

    if (run->folder)
        return;
    if (slash && slash > file && strcmp(name, "recipe.json") == 0) {
        const char *above = slash;

        while (above > file && above[-1] != '/')
            above--;
        if (above < slash && *above != '.') {
            name = above;
            len = (size_t)(slash - above);
        }
    }
    (void)snprintf(folder, sizeof folder, "%.*s.learn", (int)len, name);
    run->folder = folder;
}

/* ---- servers of others ------------------------------------------------------------------------------------ */

static const char *const log_needs[] = {"--from", "--log", "--token", NULL};

static int check_alone(const learn_run *run, const sotto_log_job *log)
{
    const struct {
        const char *name;
        bool given;
    } others[] = {{"--pairing", run->pairing_file},
                  {"--key", run->key_file},
                  {"--owner", run->owner_file},
                  {"--ca", run->ca_file},
                  {"--patience", run->patience},
                  {"--rehearse", run->rehearse},
                  {"--plain-http", run->plain},
                  {"--from", log->from},
                  {"--log", log->log},
                  {"--token", log->token},
                  {"--witness", log->witness_count}};

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (others[i].given)
            return complain("run", others[i].name, "it goes with --parties");
    return EXIT_DONE;
}

static int check_remote(const learn_run *run, sotto_log_job *log)
{
    if (!run->pairing_file || !run->key_file)
        return complain("run", run->pairing_file ? "--key" : "--pairing", "it is needed");
    if (run->library)
        return complain("run", "--library", "it is for servers of this machine");
    if (run->devices > 0)
        return complain("run", "--devices", "servers of others have the recipe's population");
    if (run->drop > 0 && !run->rehearse)
        return complain("run", "--drop", "it goes with --rehearse");
    if (log->witness_count == 0)
        return complain("run", "--witness",
                        "it is needed: servers take nothing that none cosigned");
    return sotto_log_job_has(log, log_needs) ? EXIT_DONE : EXIT_USAGE;
}

int learn_run_options(learn_run *run, int argc, char **argv)
{
    sotto_log_job log;
    int code = sotto_log_job_parse(&log, "learn run", &argc, argv) ? EXIT_DONE : EXIT_USAGE;

    run->folder = log.out;
    log.out = NULL;
    if (code == EXIT_DONE && (log.index || log.state || log.url))
        code = complain("run",
                        log.index   ? "--index"
                        : log.state ? "--state"
                                    : "--url",
                        "no such option");
    if (code == EXIT_DONE)
        code = learn_options_read(run, "run", argc, argv);
    if (code == EXIT_DONE)
        code = learn_is_remote(run) ? check_remote(run, &log) : check_alone(run, &log);
    if (code != EXIT_DONE)
        return code;
    if (learn_is_remote(run))
        run->deployment.log_job = log; /* its arena has nothing yet */
    name_folder(run);
    return EXIT_DONE;
}
