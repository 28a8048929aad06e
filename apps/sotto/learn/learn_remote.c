/* A session over a log, a leader and a helper that others run. Their operators add round 0; later rounds they take from the log.
 * Nothing is started here, and no secret of the deployment is copied into the folder. */
#define _POSIX_C_SOURCE 200809L
#include "collect.h"
#include "learn_run.h"
#include "verbs.h"

#include "base/arena.h"
#include "base/file.h"
#include "sotto/random.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { PAUSE_MS = 200, SHORTEST = 60, PATH = DEMO_FILE + 32 };

/* ---- the folder ------------------------------------------------------------------------------------------- */

static const char kind[] = "{\"servers\": \"others\"}\n";

static sotto_status put(const learn_run *run, const char *name, sotto_bytes bytes, sotto_err *err)
{
    char path[PATH];

    (void)snprintf(path, sizeof path, "%s/%s", run->folder, name);
    return sotto_file_write(path, bytes, NULL, NULL, err);
}

static sotto_status get(learn_run *run, const char *name, sotto_bytes *out, sotto_err *err)
{
    char path[PATH];

    (void)snprintf(path, sizeof path, "%s/%s", run->folder, name);
    return learn_read_file(run, path, DEMO_LONG_TEXT - 1, out, err);
}

static sotto_status read_kept(learn_run *run, sotto_err *err)
{
    sotto_bytes text, fleet;

    SOTTO_TRY(get(run, "deployment.json", &text, err));
    if (!sotto_bytes_equal_vartime(text, sotto_bytes_of(kind, sizeof kind - 1)))
        return sotto_fail(err, SOTTO_DENIED,
                          "%.60s trains over servers of its own: name another folder with --out",
                          run->folder);
    SOTTO_TRY(get(run, "fleet.secret", &fleet, err));
    if (fleet.len != sizeof run->fleet)
        return sotto_fail(err, SOTTO_MALFORMED, "fleet.secret is damaged");
    memcpy(run->fleet, fleet.data, sizeof run->fleet);
    return SOTTO_OK;
}

sotto_status learn_remote_open(learn_run *run, bool *fresh, sotto_err *err)
{
    sotto_log_job *log = &run->deployment.log_job;

    SOTTO_TRY(learn_folder_make(run, fresh, err));
    if (!*fresh)
        SOTTO_TRY(read_kept(run, err));
    return sotto_log_job_open(log) == SOTTO_OK
               ? SOTTO_OK
               : sotto_fail(err, log->err.status, "%s", log->err.reason);
}

/* The folder is whole with deployment.json. */
sotto_status learn_remote_provision(learn_run *run, sotto_err *err)
{
    const mode_t before = umask(077);
    sotto_status status = sotto_random_bytes(run->fleet, sizeof run->fleet, err);

    if (status == SOTTO_OK)
        status = put(run, "fleet.secret", sotto_bytes_of(run->fleet, sizeof run->fleet), err);
    (void)umask(before);
    if (status == SOTTO_OK)
        status = put(run, "deployment.json", sotto_bytes_of(kind, sizeof kind - 1), err);
    return status;
}

sotto_status learn_remote_keep_bundle(learn_run *run, sotto_bytes bundle, sotto_err *err)
{
    char name[40];

    (void)snprintf(name, sizeof name, "round-%" PRIu64 ".bundle", run->record.round);
    return put(run, name, bundle, err);
}

/* ---- who is asked, and by which secrets --------------------------------------------------------------------- */

static int complain(const sotto_err *err)
{
    (void)fprintf(stderr, "sotto learn run: %s\n", err->reason);
    return sotto_exit_code(err->status, SOTTO_AT_DATA);
}

static sotto_status compile_first(learn_run *run, sotto_err *err)
{
    const sotto_learning *l = run->learning;

    if (l->owned && !run->owner_file)
        return sotto_fail(err, SOTTO_DENIED,
                          "the recipe has rounds.key: --owner names its secret half");
    if (run->rehearse && (l->head.anonymity.relay || l->head.anonymity.tokens != 0))
        return sotto_fail(
            err, SOTTO_DENIED,
            "--rehearse: the recipe asks for a relay or tokens, and its devices have neither");
    if (run->owner_file)
        SOTTO_TRY(learn_owner_read(&run->owner_kept, run->owner_file, l, err));
    run->record = (sotto_round_record){.round = 0};
    memcpy(run->record.model, l->init, sizeof run->record.model);
    return learn_task_compile(run, err);
}

int learn_remote_secrets(learn_run *run)
{
    static sotto_collect_job job; /* too large for a stack */
    demo *d = &run->deployment;
    sotto_err err = {0};
    int code;

    if (compile_first(run, &err) != SOTTO_OK)
        return complain(&err);
    job.verb = "sotto learn run";
    job.pairing = run->pairing_file;
    job.key = run->key_file;
    job.recipe.recipe = &run->learning->head;
    job.recipe.parties = run->parties;
    job.task = run->task;
    code = sotto_collect_job_secrets(&job);
    if (code == EXIT_DONE) {
        d->pairing = job.secrets;
        d->collector = job.key_read;
    }
    sotto_wipe(&job.secrets, sizeof job.secrets);
    sotto_wipe(&job.key_read, sizeof job.key_read);
    sotto_arena_reset(&run->round_arena);
    return code;
}

/* ---- time ------------------------------------------------------------------------------------------------------- */

sotto_status learn_remote_await(learn_run *run, int64_t when, sotto_err *err)
{
    const struct timespec pause = {0, PAUSE_MS * 1000000L};

    (void)run;
    while ((int64_t)time(NULL) < when) {
        if (demo_interrupted())
            return sotto_fail(err, SOTTO_STALE, "interrupted");
        (void)nanosleep(&pause, NULL);
    }
    return SOTTO_OK;
}

/* Half of the next round is left to its devices, even if nothing came of this one. A round that is long over, since nobody ran the
 * session, gets a minute. */
int64_t learn_remote_deadline(const learn_run *run)
{
    const sotto_learning *l = run->learning;
    const uint64_t half = l->every / 2 > SHORTEST ? l->every / 2 : SHORTEST,
                   patience = run->patience > 0 ? run->patience : half;
    const int64_t planned = (int64_t)(run->task.closes + l->grace + patience),
                  least = (int64_t)time(NULL) + SHORTEST;

    return planned > least ? planned : least;
}
