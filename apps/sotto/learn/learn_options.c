/* Options of `sotto learn run` and `sotto learn check`. */
#define _POSIX_C_SOURCE 200809L
#include "learn_run.h"
#include "support/arguments.h"
#include "verbs.h"

#include <stdio.h>
#include <string.h>

enum { FOLDER = 100 };

/* What both verbs have. */
/* clang-format off */
#define LEARN_WORDS(run)                                                                           \
    {.name = "RECIPE", .text = &(run)->recipe_file, .needed = true},                               \
    {.name = "--data", .text = &(run)->data_file},                                                 \
    {.name = "--policy", .text = &(run)->policy_file},                                             \
    {.name = "--init", .text = &(run)->init_file},                                                 \
    {.name = "--seed", .whole = &(run)->seed, .most = 0x1p53},                                     \
    {.name = "--json", .flag = &(run)->json}
/* clang-format on */

static int complain(const char *name, const char *what)
{
    return sotto_arguments_misused("learn run", name, what);
}

int learn_check_options(learn_run *run, int argc, char **argv)
{
    const sotto_argument words[] = {LEARN_WORDS(run)};

    return sotto_arguments_read("learn check", words, sizeof words / sizeof words[0], argc, argv);
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
                  {"--witness", log->witness_count},
                  {"--quorum", log->quorum}};

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (others[i].given)
            return complain(others[i].name, "it goes with --parties");
    return EXIT_DONE;
}

static int check_remote(const learn_run *run, sotto_log_job *log)
{
    if (!run->pairing_file || !run->key_file)
        return complain(run->pairing_file ? "--key" : "--pairing", "it is needed");
    if (run->library)
        return complain("--library", "it is for servers of this machine");
    if (run->trainer)
        return complain("--trainer", "devices of others bring their own");
    if (run->devices > 0)
        return complain("--devices", "servers of others have the recipe's population");
    if (run->drop > 0 && !run->rehearse)
        return complain("--drop", "it goes with --rehearse");
    if (log->witness_count == 0)
        return complain("--witness", "it is needed: servers take nothing that none cosigned");
    return log->from && log->log && log->token ? EXIT_DONE
                                               : complain(!log->from  ? "--from"
                                                          : !log->log ? "--log"
                                                                      : "--token",
                                                          "it is needed");
}

int learn_run_options(learn_run *run, int argc, char **argv)
{
    sotto_log_job log = {0};
    const sotto_argument words[] = {
        LEARN_WORDS(run),
        {.name = "--parties", .text = &run->parties_file},
        {.name = "--pairing", .text = &run->pairing_file},
        {.name = "--key", .text = &run->key_file},
        {.name = "--owner", .text = &run->owner_file},
        {.name = "--ca", .text = &run->ca_file},
        {.name = "--patience", .whole = &run->patience, .least = 1, .most = 31536000},
        {.name = "--out", .text = &run->folder},
        {.name = "--devices", .whole = &run->devices, .least = 10, .most = 10000000},
        {.name = "--threads", .whole = &run->threads, .least = 1, .most = LEARN_THREADS},
        {.name = "--drop", .whole = &run->drop, .most = 100},
        {.name = "--stop-after", .whole = &run->stop_after, .least = 1, .most = 1000000},
        {.name = "--quiet", .flag = &run->quiet},
        {.name = "--library", .flag = &run->library},
        {.name = "--trainer", .text = &run->trainer},
        {.name = "--rehearse", .flag = &run->rehearse},
        {.name = "--plain-http", .flag = &run->plain},
        {.name = "--from", .text = &log.from},
        {.name = "--token", .text = &log.token}};
    int code = sotto_log_job_arguments(&log, "learn run", words, sizeof words / sizeof words[0],
                                       argc, argv);

    if (code == EXIT_DONE)
        code = learn_is_remote(run) ? check_remote(run, &log) : check_alone(run, &log);
    if (code != EXIT_DONE)
        return code;
    if (learn_is_remote(run))
        run->deployment.log_job = log; /* its arena has nothing yet */
    name_folder(run);
    return EXIT_DONE;
}
