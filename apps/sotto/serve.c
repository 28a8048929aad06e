/* sotto serve - one service of the table (src/serve/services.c), until it is told to stop. */
#define _POSIX_C_SOURCE 200809L
#include "show.h"
#include "verbs.h"

#include "base/log.h"
#include "base/writer.h"
#include "recipe/calendar.h"
#include "serve/host/operations.h"
#include "serve/host/options.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TEXT = 1 << 16, LINE = 1024 };

/* ---- the log ------------------------------------------------------------------------------------------------ */

/* How events are written. journald has a clock of its own. */
typedef struct event_form {
    bool stamped, json;
} event_form;

static sotto_status format_json(sotto_buf *out, const char *stamp, const sotto_log_event *event)
{
    static const char *const levels[] = {"debug", "info", "warning", "error"};
    sotto_json j = sotto_show_json_into(out, SOTTO_JSON_SPACED);

    sotto_json_some(&j, "time", stamp);
    sotto_json_text(&j, "level", levels[event->level]);
    sotto_json_text(&j, "event", event->name);
    for (size_t i = 0; i < event->count; i++) {
        const sotto_log_field *f = &event->fields[i];

        if (f->type == SOTTO_LOG_TEXT)
            sotto_json_text(&j, f->key, f->value.text ? f->value.text : "");
        else if (f->type == SOTTO_LOG_UINT)
            sotto_json_uint(&j, f->key, f->value.uint);
        else
            sotto_json_int(&j, f->key, f->value.sint);
    }
    return sotto_json_finish(&j);
}

static sotto_status format(sotto_buf *out, const event_form *form, const sotto_log_event *event)
{
    char stamp[SOTTO_CALENDAR_TEXT];
    const char *at = form->stamped ? stamp : NULL;
    sotto_writer w = sotto_writer_on(out);

    out->len = 0;
    sotto_calendar_format_time(stamp, (int64_t)time(NULL));
    if (form->json)
        return format_json(out, at, event);
    if (at)
        sotto_write_format(&w, "%s ", stamp);
    SOTTO_TRY(sotto_writer_finish(&w, "an event", NULL));
    SOTTO_TRY(sotto_log_format(out, event, NULL));
    sotto_write_text(&w, "\n");
    return sotto_writer_finish(&w, "an event", NULL);
}

/* One line and one write for each event, so that lines of threads never mix. */
static void write_event(void *context, const sotto_log_event *event)
{
    const sotto_log_event bare = {event->level, event->name, NULL, 0};
    char line[LINE];
    sotto_buf out = sotto_buf_over(line, sizeof line);

    if (format(&out, context, event) != SOTTO_OK && format(&out, context, &bare) != SOTTO_OK)
        return;
    for (size_t at = 0; at < out.len;) {
        ssize_t written = write(STDERR_FILENO, line + at, out.len - at);

        if (written <= 0)
            return; /* a log that can't be written must not stop a server */
        at += (size_t)written;
    }
}

/* ---- one server ------------------------------------------------------------------------------------------------ */

static const char *environment(const char *name)
{
    return getenv(name);
}

static void ask_for_drain(void *context)
{
    (void)context;
    (void)kill(getpid(), SIGTERM);
}

/* Blocked in every thread, and waited for in this one. */
static void block_signals(sigset_t *signals)
{
    (void)sigemptyset(signals);
    (void)sigaddset(signals, SIGTERM);
    (void)sigaddset(signals, SIGINT);
    (void)sigaddset(signals, SIGHUP);
    (void)pthread_sigmask(SIG_BLOCK, signals, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
}

static void log_start(const sotto_serve_config *config, const sotto_host *host)
{
    sotto_log(&config->host.log, SOTTO_LOG_INFO, "server.started",
              sotto_log_text("role", config->service->name),
              sotto_log_text("listen", config->host.listen),
              sotto_log_uint("port", sotto_host_port(host)),
              sotto_log_uint("operations_port", sotto_operations_port(host->operations)),
              sotto_log_text("database", sotto_db_kind(host->db)));
}

/* SIGHUP never ends a server: whoever renews certificates or rotates logs sends it. */
static void reload(sotto_host *host, const sotto_log_sink *log)
{
    sotto_err err = {0};
    sotto_status status = sotto_host_reload(host, &err);

    if (status == SOTTO_OK)
        sotto_log(log, SOTTO_LOG_INFO, "server.reloaded", sotto_log_text("what", "certificate"));
    else if (status == SOTTO_STALE)
        sotto_log(log, SOTTO_LOG_INFO, "server.nothing_to_reload",
                  sotto_log_text("reason", err.reason));
    else
        sotto_log(log, SOTTO_LOG_ERROR, "server.reload_failed",
                  sotto_log_text("reason", err.reason),
                  sotto_log_text("still", "the certificate read before"));
}

/* The signal that ends it. */
static int wait_for_signal(const sigset_t *signals, sotto_host *host, const sotto_log_sink *log)
{
    int number = 0;

    while (sigwait(signals, &number) == 0 && number == SIGHUP)
        reload(host, log);
    return number;
}

static int run_until_told(sotto_serve_config *config, const sigset_t *signals)
{
    const sotto_log_sink *log = &config->host.log;
    sotto_host *host = NULL;
    sotto_err err = {0};
    sotto_status drained;
    int signal_number;

    if (sotto_host_open(&host, config->service, &config->host, config->own, &err) != SOTTO_OK) {
        (void)fprintf(stderr, "sotto serve: %s: %s\n", sotto_status_name(err.status), err.reason);
        return EXIT_FAILED; /* whatever kept it from starting: a supervisor needs no more */
    }
    log_start(config, host);
    signal_number = wait_for_signal(signals, host, log);
    sotto_log(log, SOTTO_LOG_INFO, "server.draining",
              sotto_log_uint("seconds", config->drain_seconds));
    err = (sotto_err){0};
    drained = sotto_host_drain(host, config->drain_seconds * 1000, &err);
    if (drained != SOTTO_OK)
        sotto_log(log, SOTTO_LOG_WARNING, "server.not_drained",
                  sotto_log_text("reason", err.reason));
    sotto_host_close(host);
    sotto_log(log, SOTTO_LOG_INFO, "server.stopped",
              sotto_log_uint("signal", (uint64_t)signal_number));
    return drained == SOTTO_OK ? EXIT_DONE : EXIT_FAILED;
}

static int serve(const sotto_service *service, const char *file, bool json, int argc, char **argv)
{
    static sotto_serve_config config;
    static event_form form;
    sotto_config_sources from = {service, file, argc, argv, environment};
    sotto_err err = {0};
    sigset_t signals;
    int code;

    block_signals(&signals);
    if (sotto_serve_config_read(&config, &from, &err) != SOTTO_OK) {
        if (config.mistake_count > 0)
            (void)fprintf(stderr, "%ssotto serve: %zu mistake%s\n", config.mistakes,
                          config.mistake_count, config.mistake_count == 1 ? "" : "s");
        else
            (void)fprintf(stderr, "sotto serve: %s\n", err.reason);
        sotto_serve_config_clear(&config);
        return EXIT_USAGE;
    }
    form = (event_form){.stamped = json || !getenv("JOURNAL_STREAM"), .json = json};
    config.host.log = (sotto_log_sink){write_event, &form, config.log_level};
    config.host.on_drain = ask_for_drain;
    code = run_until_told(&config, &signals);
    sotto_serve_config_clear(&config);
    return code;
}

/* ---- the verbs ---------------------------------------------------------------------------------------------------- */

static int print(sotto_status status, const sotto_buf *out, bool json, const sotto_err *err)
{
    if (status != SOTTO_OK) {
        (void)fprintf(stderr, "sotto serve: %s\n", err->reason);
        return EXIT_FAILED;
    }
    if (json) {
        sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);

        sotto_json_bytes(&j, "text", sotto_buf_bytes(out));
        return sotto_show_end(&j) ? EXIT_DONE : EXIT_FAILED;
    }
    (void)fwrite(out->data, 1, out->len, stdout);
    return EXIT_DONE;
}

static void print_usage(const sotto_service *service)
{
    static uint8_t memory[TEXT];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    const char *name = service->name;

    printf(
        "usage: sotto serve %s [--config FILE] [--json] [options]\n"
        "       sotto serve %s --sample      a complete file to start from\n"
        "       sotto serve %s --reference   docs/serving.md\n\n"
        "Runs until SIGTERM or SIGINT, then finishes what it has accepted. SIGHUP makes it read "
        "its\n"
        "certificate and private key again. Flags win over the environment (SOTTO_LISTEN, ...),\n"
        "which wins over the file. Logs go to standard error, with --json as one object a line.\n"
        "--sample and --reference then print an object with the text.\n\n",
        name, name, name);
    if (sotto_serve_options_help(&out, service, NULL) == SOTTO_OK)
        (void)fwrite(out.data, 1, out.len, stdout);
}

/* argv[0] names the service. --config FILE, --json, --sample and --reference are taken out; what is left are options of the table. */
static int run(int argc, char **argv)
{
    static uint8_t memory[TEXT];
    const sotto_service *service = sotto_service_find(argv[0], strlen(argv[0]));
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    const char *file = NULL;
    bool json = false, sample = false, reference = false;
    sotto_err err = {0};
    int kept = 0;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return print_usage(service), EXIT_DONE;
        if (strcmp(argv[i], "--sample") == 0)
            sample = true;
        else if (strcmp(argv[i], "--reference") == 0)
            reference = true;
        else if (strcmp(argv[i], "--json") == 0)
            json = true;
        else if (strcmp(argv[i], "--config") == 0 && i + 1 < argc)
            file = argv[++i];
        else if (strncmp(argv[i], "--config=", 9) == 0)
            file = argv[i] + 9;
        else
            argv[kept++] = argv[i];
    }
    if (sample)
        return print(sotto_serve_options_sample(&out, service, &err), &out, json, &err);
    if (reference)
        return print(sotto_serve_options_reference(&out, &err), &out, json, &err);
    return serve(service, file, json, kept, argv);
}

/* A verb for each service. */
static const sotto_verb *part(size_t i)
{
    static sotto_verb verb;

    if (i >= sotto_service_count)
        return NULL;
    verb = (sotto_verb){
        .name = sotto_services[i]->name, .summary = sotto_services[i]->summary, .run = run};
    return &verb;
}

const sotto_verb sotto_verb_serve = {
    .name = "serve",
    .summary = "run a leader, a helper or another service",
    .part = part,
};
