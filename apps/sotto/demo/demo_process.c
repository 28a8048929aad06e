/* One service of the table in a process of its own, started from a file as `sotto serve` is. */
#define _DEFAULT_SOURCE
#include "demo.h"
#include "workdir.h"

#include "serve/gateway/gateway.h"
#include "serve/host/options.h"
#include "serve/tasks/server.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DRAIN_MS = 3000, READY_BYTES = 512, TRIES = 120, PAUSE_MS = 500 };

/* ---- in the service's process ------------------------------------------------------------------------------- */

static sotto_status first_config(void *context, const sotto_key_line *line, sotto_err *err)
{
    sotto_buf *out = context;

    if (out->len > 2 || line->state != SOTTO_KEY_ACTIVE)
        return SOTTO_OK;
    return sotto_hpke_config_encode(out, &line->config, err);
}

/* NULL: nothing is sealed to this service. */
static sotto_keys *keys_of(const sotto_host *host)
{
    if (sotto_service_role(host->service))
        return ((sotto_server *)host->state)->keys;
    return host->service == &sotto_gateway_service ? ((sotto_gateway *)host->state)->keys : NULL;
}

/* Port and key, for the parties file. */
static bool tell_ready(int pipe, const sotto_host *host)
{
    uint8_t bytes[READY_BYTES];
    sotto_buf out = sotto_buf_over(bytes, sizeof bytes);
    sotto_writer w = sotto_writer_on(&out);
    sotto_keys *keys = keys_of(host);

    sotto_write_uint(&w, sotto_host_port(host), 2);
    return sotto_writer_finish(&w, "ready", NULL) == SOTTO_OK &&
           (!keys || sotto_keys_list(keys, first_config, &out, NULL) == SOTTO_OK) &&
           write(pipe, out.data, out.len) == (ssize_t)out.len;
}

static void block_signals(sigset_t *stop)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    (void)sigemptyset(stop);
    (void)sigaddset(stop, SIGTERM);
    (void)sigaddset(stop, SIGINT);
    (void)sigaddset(stop, SIGHUP);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)sigprocmask(SIG_BLOCK, stop, NULL);
}

/* A service that ran before wants its port of then, which its predecessor or a connection of it may hold for a while. */
static sotto_status open_host(sotto_host **host, const char *file, bool patient,
                              const sigset_t *stop, sotto_err *err)
{
    static sotto_serve_config config; /* until the process ends */
    const struct timespec pause = {0, PAUSE_MS * 1000000L};
    sotto_status status = SOTTO_IO;

    if (sotto_serve_config_read(&config, &(sotto_config_sources){.file = file}, err) != SOTTO_OK)
        return sotto_fail(err, SOTTO_MALFORMED, "%.120s", config.mistakes);
    config.host.operations = NULL; /* nobody looks */
    for (int i = 0; i == 0 || (i < TRIES && patient && status == SOTTO_IO); i++) {
        if (i > 0 && sigtimedwait(stop, NULL, &pause) > 0)
            return sotto_fail(err, SOTTO_STALE, "interrupted");
        sotto_err_clear(err);
        status = sotto_host_open(host, config.service, &config.host, config.own, err);
    }
    return status;
}

/* Runs until the demo asks it to end, or ends itself. */
static int serve(const char *name, const char *file, bool patient, int pipe)
{
    sotto_host *host;
    sotto_err err = {0};
    sigset_t stop;
    int got;

    block_signals(&stop);
    if (open_host(&host, file, patient, &stop, &err) != SOTTO_OK) {
        (void)fprintf(stderr, "sotto demo: %s: %s\n", name, err.reason);
        return 1;
    }
    if (tell_ready(pipe, host)) {
        (void)close(pipe);
        do
            (void)sigwait(&stop, &got);
        while (
            got !=
            SIGTERM); /* Ctrl-C, or a terminal that closes, reaches everybody; the demo then asks in its turn */
    }
    (void)(sotto_host_drain(host, DRAIN_MS, NULL) == SOTTO_OK);
    sotto_host_close(host);
    return 0;
}

/* ---- in the demo's ---------------------------------------------------------------------------------------------- */

static sotto_status hear_ready(demo_server *s, int pipe, const char *name, sotto_err *err)
{
    uint8_t bytes[READY_BYTES];
    ssize_t len = read(pipe, bytes, sizeof bytes);

    if (len < 2 || (size_t)len - 2 > sizeof s->hpke)
        return sotto_fail(err, SOTTO_IO, "the %s did not start", name);
    s->port = (unsigned)(bytes[0] << 8 | bytes[1]);
    s->hpke_len = (size_t)len - 2;
    memcpy(s->hpke, bytes + 2, s->hpke_len);
    return SOTTO_OK;
}

sotto_status demo_write_file(const demo *d, const char *name, const char *text, sotto_err *err)
{
    char path[DEMO_FILE];
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/%s", d->folder, name);
    file = fopen(path, "w");
    if (file && fputs(text, file) >= 0 && fchmod(fileno(file), 0600) == 0 && fclose(file) == 0)
        return SOTTO_OK;
    return sotto_fail(err, SOTTO_IO, "can't write %s", path);
}

/* All uploads come from this one machine. */
static sotto_status write_options(const demo *d, const demo_server *s, const char *service,
                                  const char *name, const char *lines, sotto_err *err)
{
    char text[1024], file[32];

    (void)snprintf(text, sizeof text,
                   "[%s]\nlisten = 127.0.0.1:%u\noperations = 127.0.0.1:0\n"
                   "database = sqlite:%s.db\ndatastore_key = %s.key\naddress_share = 100\n%s",
                   service, s->port, name, name, lines);
    (void)snprintf(file, sizeof file, "%s.ini", name);
    return demo_write_file(d, file, text, err);
}

sotto_status demo_process_start(const demo *d, demo_server *s, const char *name, const char *lines,
                                sotto_err *err)
{
    return demo_process_start_as(d, s, name, name, lines, err);
}

sotto_status demo_process_start_as(const demo *d, demo_server *s, const char *service,
                                   const char *name, const char *lines, sotto_err *err)
{
    char file[DEMO_FILE];
    sotto_status status;
    int pipes[2];

    (void)snprintf(s->database, sizeof s->database, "sqlite:%s/%s.db", d->folder, name);
    (void)snprintf(s->key_file, sizeof s->key_file, "%s/%s.key", d->folder, name);
    (void)snprintf(file, sizeof file, "%s/%s.ini", d->folder, name);
    if (s->port == 0) /* otherwise it ran before, and has its key and its port */
        SOTTO_TRY(sotto_workdir_key(s->key_file, err));
    SOTTO_TRY(write_options(d, s, service, name, lines, err));
    if (pipe(pipes) != 0)
        return sotto_fail(err, SOTTO_IO, "no pipe: %s", strerror(errno));
    s->process = fork();
    if (s->process == 0) {
        (void)close(pipes[0]);
        _exit(serve(name, file, s->port != 0, pipes[1]));
    }
    (void)close(pipes[1]);
    if (s->process > 0)
        status = hear_ready(s, pipes[0], name, err);
    else
        status = sotto_fail(err, SOTTO_IO, "no process: %s", strerror(errno));
    (void)close(pipes[0]);
    return status;
}

void demo_process_stop(demo_server *s)
{
    if (s->process <= 0)
        return;
    (void)kill(s->process, SIGTERM);
    while (waitpid(s->process, NULL, 0) < 0 && errno == EINTR)
        ;
    s->process = 0;
}
