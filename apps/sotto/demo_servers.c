/* A leader and a helper: two processes, two databases, and what they tell the demo when they are up. */
#define _DEFAULT_SOURCE
#include "demo.h"

#include "db/store.h"
#include "serve/tasks/server.h"
#include "workdir.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DRAIN_MS = 3000, READY_BYTES = 512 };

/* ---- in the server's process ------------------------------------------------------------------------------- */

static sotto_status first_config(void *context, const sotto_key_line *line, sotto_err *err)
{
    sotto_buf *out = context;

    if (out->len > 2 || line->state != SOTTO_KEY_ACTIVE)
        return SOTTO_OK;
    return sotto_hpke_config_encode(out, &line->config, err);
}

/* Port and key, for the parties file. */
static bool tell_ready(int pipe, sotto_server *server)
{
    uint8_t bytes[READY_BYTES];
    sotto_buf out = sotto_buf_over(bytes, sizeof bytes);
    sotto_writer w = sotto_writer_on(&out);

    sotto_write_uint(&w, sotto_server_port(server), 2);
    return sotto_writer_finish(&w, "ready", NULL) == SOTTO_OK &&
           sotto_keys_list(server->keys, first_config, &out, NULL) == SOTTO_OK &&
           write(pipe, out.data, out.len) == (ssize_t)out.len;
}

/* Runs until the demo asks it to end, or ends itself. */
static int serve(const demo_server *s, sotto_role role, int pipe)
{
    sotto_server_options options = {.role = role,
                                    .host.listen = "127.0.0.1:0",
                                    .host.database = s->database,
                                    .host.datastore_key = s->key_file,
                                    .host.workers = 1};
    sotto_server *server;
    sotto_err err = {0};
    sigset_t stop;
    int got;

    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    (void)sigemptyset(&stop);
    (void)sigaddset(&stop, SIGTERM);
    (void)sigaddset(&stop, SIGINT);
    (void)sigaddset(&stop, SIGHUP);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)sigprocmask(SIG_BLOCK, &stop, NULL);
    if (sotto_server_open(&server, &options, &err) != SOTTO_OK) {
        (void)fprintf(stderr, "sotto demo: %s: %s\n", role == SOTTO_LEADER ? "leader" : "helper",
                      err.reason);
        return 1;
    }
    if (tell_ready(pipe, server)) {
        (void)close(pipe);
        do
            (void)sigwait(&stop, &got);
        while (
            got !=
            SIGTERM); /* Ctrl-C, or a terminal that closes, reaches everybody; the demo then asks in its turn */
    }
    (void)(sotto_server_drain(server, DRAIN_MS, NULL) == SOTTO_OK);
    sotto_server_close(server);
    return 0;
}

/* ---- in the demo's ---------------------------------------------------------------------------------------------- */

static sotto_status hear_ready(demo_server *s, int pipe, sotto_err *err)
{
    uint8_t bytes[READY_BYTES];
    ssize_t len = read(pipe, bytes, sizeof bytes);

    if (len < 3 || (size_t)len - 2 > sizeof s->hpke)
        return sotto_fail(err, SOTTO_IO, "a server did not start");
    s->port = (unsigned)(bytes[0] << 8 | bytes[1]);
    s->hpke_len = (size_t)len - 2;
    memcpy(s->hpke, bytes + 2, s->hpke_len);
    return SOTTO_OK;
}

static sotto_status start(demo *d, demo_server *s, sotto_role role, sotto_err *err)
{
    const char *name = role == SOTTO_LEADER ? "leader" : "helper";
    sotto_status status;
    int pipes[2];

    (void)snprintf(s->database, sizeof s->database, "sqlite:%s/%s.db", d->folder, name);
    (void)snprintf(s->key_file, sizeof s->key_file, "%s/%s.key", d->folder, name);
    SOTTO_TRY(sotto_workdir_key(s->key_file, err));
    if (pipe(pipes) != 0)
        return sotto_fail(err, SOTTO_IO, "no pipe: %s", strerror(errno));
    s->process = fork();
    if (s->process == 0) {
        (void)close(pipes[0]);
        _exit(serve(s, role, pipes[1]));
    }
    (void)close(pipes[1]);
    if (s->process > 0)
        status = hear_ready(s, pipes[0], err);
    else
        status = sotto_fail(err, SOTTO_IO, "no process: %s", strerror(errno));
    (void)close(pipes[0]);
    return status;
}

sotto_status demo_servers_start(demo *d, sotto_err *err)
{
    SOTTO_TRY(sotto_workdir_make(d->folder, "demo", err));
    SOTTO_TRY(start(d, &d->leader, SOTTO_LEADER, err));
    return start(d, &d->helper, SOTTO_HELPER, err);
}

static sotto_status read_columns(sotto_column_keys *out, const char *path, sotto_err *err)
{
    FILE *file = fopen(path, "rb");

    *out = (sotto_column_keys){.count = 1};
    if (!file || fread(out->key[0], 1, sizeof out->key[0], file) != sizeof out->key[0]) {
        if (file)
            (void)fclose(file);
        return sotto_fail(err, SOTTO_IO, "can't read %s", path);
    }
    return fclose(file) == 0 ? SOTTO_OK : sotto_fail(err, SOTTO_IO, "can't read %s", path);
}

/* The other side's ids are compared with what this side compiles for itself. */
static sotto_status provision(demo *d, const demo_server *s, sotto_role role, sotto_buf *ids,
                              sotto_bytes expected, sotto_err *err)
{
    sotto_mistakes *mistakes = sotto_arena_take(&d->arena, sizeof *mistakes);
    sotto_bytes recipe = sotto_bytes_of(d->recipe_text, strlen(d->recipe_text));
    sotto_bytes parties = sotto_bytes_of(d->parties_text, strlen(d->parties_text));
    sotto_column_keys columns;
    sotto_db *db = NULL;
    sotto_status status;

    if (!mistakes)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the demo");
    SOTTO_TRY(read_columns(&columns, s->key_file, err));
    status = sotto_db_open(&db, &(sotto_db_options){.address = s->database}, err);
    if (status == SOTTO_OK)
        status = sotto_pairing_put(db, &columns, &d->pairing, err);
    if (status == SOTTO_OK)
        status = sotto_tasks_add(db, &columns, role, recipe, parties, d->devices, expected, ids,
                                 mistakes, err);
    sotto_db_close(db);
    sotto_wipe(&columns, sizeof columns);
    return status;
}

sotto_status demo_servers_provision(demo *d, sotto_err *err)
{
    uint8_t bytes[2][SOTTO_TASK_ID_SIZE];
    sotto_buf leader = sotto_buf_over(bytes[0], sizeof bytes[0]);
    sotto_buf helper = sotto_buf_over(bytes[1], sizeof bytes[1]);
    uint8_t wire[SOTTO_COLLECTOR_CONFIG];
    sotto_buf config = sotto_buf_over(wire, sizeof wire);
    sotto_hpke_config collector = sotto_collector_key_config(&d->collector);

    SOTTO_TRY(sotto_hpke_config_encode(&config, &collector, err));
    SOTTO_TRY(sotto_pairing_new(&d->pairing,
                                &(sotto_paired){"key:leader", "key:helper", "key:collector",
                                                d->task.leader_url, d->task.helper_url},
                                sotto_buf_bytes(&config), err));
    SOTTO_TRY(provision(d, &d->leader, SOTTO_LEADER, &leader, sotto_bytes_of(NULL, 0), err));
    return provision(d, &d->helper, SOTTO_HELPER, &helper, sotto_buf_bytes(&leader), err);
}

/* ---- afterwards -------------------------------------------------------------------------------------------------- */

static void stop(demo_server *s)
{
    if (s->process <= 0)
        return;
    (void)kill(s->process, SIGTERM);
    while (waitpid(s->process, NULL, 0) < 0 && errno == EINTR)
        ;
    s->process = 0;
}

void demo_servers_stop(demo *d)
{
    stop(&d->leader);
    stop(&d->helper);
    sotto_workdir_remove(d->folder);
}
