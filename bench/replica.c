/* One server process: starting it, asking it, ending it; and what it is from inside. */
#define _GNU_SOURCE
#include "deployment.h"

#include "serve/leader/leader.h"
#include "serve/tasks/server.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 256, READY_MS = 20000, ANSWER_MS = 10000, END_MS = 10000 };

/* ---- from outside --------------------------------------------------------------------------------------------- */

/* In the new process, between fork and exec. The parent may be pinned to a core; servers use all. */
static _Noreturn void become(const sotto_deployment *d, const sotto_replica *r, int in, int out)
{
    char port[8], delay[16], lease[16];
    const char *bodies = d->options.shared_bodies && r->role == SOTTO_LEADER ? d->directory : "";
    const char *program = d->options.program ? d->options.program : "/proc/self/exe";
    size_t side = r->role == SOTTO_LEADER ? 0 : 1;
    cpu_set_t all;

    memset(&all, 0xff, sizeof all);
    (void)sched_setaffinity(0, sizeof all, &all);
    (void)snprintf(port, sizeof port, "%u", r->port);
    (void)snprintf(delay, sizeof delay, "%u", d->options.job_delay_ms);
    (void)snprintf(lease, sizeof lease, "%u", d->options.lease_seconds);
    if (dup2(in, 0) < 0 || dup2(out, 1) < 0)
        _exit(127);
    if (r->service)
        (void)execl(program, "sotto-replica", "--server", r->service, r->files, r->detail, port,
                    delay, lease, (char *)NULL);
    else
        (void)execl(program, "sotto-replica", "--server", side == 0 ? "leader" : "helper",
                    d->database[side], d->key_file[side], port, delay, lease, bodies, (char *)NULL);
    _exit(127);
}

static sotto_status read_line(sotto_replica *r, char line[LINE], int timeout_ms, sotto_err *err)
{
    size_t len = 0;
    struct pollfd fd = {.fd = r->from, .events = POLLIN};

    while (len + 1 < LINE) {
        if (poll(&fd, 1, timeout_ms) <= 0 || read(r->from, line + len, 1) != 1)
            return sotto_fail(err, SOTTO_IO, "a replica does not answer");
        if (line[len] == '\n') {
            line[len] = 0;
            return SOTTO_OK;
        }
        len++;
    }
    return sotto_fail(err, SOTTO_IO, "a replica says too much");
}

sotto_status sotto_replica_start(sotto_deployment *d, sotto_replica *r, sotto_err *err)
{
    int to[2], from[2];
    char line[LINE];
    sotto_status status;

    if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0)
        return sotto_fail(err, SOTTO_IO, "no pipe for a replica");
    r->pid = fork();
    if (r->pid == 0)
        become(d, r, to[0], from[1]);
    (void)close(to[0]);
    (void)close(from[1]);
    r->to = to[1];
    r->from = from[0];
    if (r->pid < 0)
        return sotto_fail(err, SOTTO_IO, "no process for a replica");
    status = read_line(r, line, READY_MS, err);
    if (status == SOTTO_OK && strcmp(line, "ready") != 0)
        status = sotto_fail(err, SOTTO_IO, "a replica says %.100s", line);
    if (status != SOTTO_OK)
        sotto_replica_end(r, true);
    return status;
}

void sotto_replica_end(sotto_replica *r, bool kill_it)
{
    struct timespec moment = {0, 5000000};
    int status;

    if (r->pid <= 0)
        return;
    (void)close(r->to); /* its end */
    (void)kill(r->pid, kill_it ? SIGKILL : SIGCONT);
    for (unsigned i = 0; waitpid(r->pid, &status, WNOHANG) == 0; i++) {
        if (i == END_MS / 5)
            (void)kill(r->pid, SIGKILL);
        (void)nanosleep(&moment, NULL);
    }
    (void)close(r->from);
    r->pid = 0;
    r->to = r->from = -1;
}

sotto_status sotto_replica_say(sotto_replica *r, const char *line, sotto_err *err)
{
    char text[LINE];
    int len = snprintf(text, sizeof text, "%s\n", line);

    if (r->pid <= 0 || write(r->to, text, (size_t)len) != len)
        return sotto_fail(err, SOTTO_IO, "a replica does not listen");
    return SOTTO_OK;
}

static double kib_of(pid_t pid, const char *name)
{
    char path[64], line[LINE];
    double value = 0;
    FILE *file;

    (void)snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0)
            value = strtod(line + strlen(name), NULL);
    if (file)
        (void)fclose(file);
    return value;
}

sotto_status sotto_replica_stats_get(sotto_replica *r, sotto_replica_stats *out, sotto_err *err)
{
    unsigned long long number[4];
    struct timespec cpu = {0, 0};
    char line[LINE];
    clockid_t clock;

    SOTTO_TRY(sotto_replica_say(r, "stats", err));
    SOTTO_TRY(read_line(r, line, ANSWER_MS, err));
    char *at = line;
    for (size_t i = 0; i < 4; i++)
        number[i] = strtoull(at, &at, 10);
    if (clock_getcpuclockid(r->pid, &clock) != 0 || clock_gettime(clock, &cpu) != 0)
        return sotto_fail(err, SOTTO_IO, "a replica is gone");
    *out = (sotto_replica_stats){.functions = number[0],
                                 .transactions = number[1],
                                 .syncs = number[2],
                                 .unverified = number[3],
                                 .cpu_seconds = (double)cpu.tv_sec + (double)cpu.tv_nsec / 1e9,
                                 .resident_mib = kib_of(r->pid, "VmRSS:") / 1024,
                                 .most_resident_mib = kib_of(r->pid, "VmHWM:") / 1024};
    return SOTTO_OK;
}

/* ---- from inside ------------------------------------------------------------------------------------------------ */

static sotto_status count_unverified(sotto_tx *tx, void *context, sotto_err *err)
{
    uint64_t *out = context;
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "SELECT CAST(coalesce(sum(reports), 0) AS BIGINT) FROM segment", err));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    *out = row ? (uint64_t)sotto_sql_column_int(&q, 0) : 0;
    return SOTTO_OK;
}

static void tell_stats(sotto_server *server)
{
    uint64_t unverified = 0, syncs;
    sotto_db_stats stats;

    sotto_db_stats_get(server->db, &stats);
    syncs = stats.syncs;
    if (server->role == SOTTO_LEADER && sotto_leader_of(server)->spool)
        syncs += sotto_spool_syncs(sotto_leader_of(server)->spool);
    if (server->role == SOTTO_LEADER &&
        sotto_db_read(server->db, count_unverified, &unverified, NULL) != SOTTO_OK)
        unverified = UINT64_MAX; /* it can't tell now: certainly not none */
    printf("%llu %llu %llu %llu\n", (unsigned long long)stats.functions,
           (unsigned long long)stats.transactions, (unsigned long long)syncs,
           (unsigned long long)unverified);
    (void)fflush(stdout);
}

static void log_event(void *context, const sotto_log_event *event)
{
    (void)context;
    (void)fprintf(stderr, "%ld %s", (long)getpid(), event->name);
    for (size_t i = 0; i < event->count; i++)
        if (event->fields[i].type == SOTTO_LOG_TEXT)
            (void)fprintf(stderr, " %s=\"%s\"", event->fields[i].key, event->fields[i].value.text);
        else if (event->fields[i].type == SOTTO_LOG_UINT)
            (void)fprintf(stderr, " %s=%llu", event->fields[i].key,
                          (unsigned long long)event->fields[i].value.uint);
    (void)fputc('\n', stderr);
}

static int serve(const sotto_server_options *options, void (*other)(const char *line))
{
    sotto_server *server = NULL;
    sotto_err err = {0};
    char line[LINE];

    if (sotto_server_open(&server, options, &err) != SOTTO_OK) {
        printf("can't start: %s\n", err.reason);
        return 1;
    }
    printf("ready\n");
    (void)fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (strcmp(line, "stats") == 0)
            tell_stats(server);
        else if (other)
            other(line);
    }
    if (sotto_server_drain(server, 1000, NULL) != SOTTO_OK)
        (void)fputs("a replica ends before its work\n", stderr);
    sotto_server_close(server);
    return 0;
}

void sotto_replica_main(int argc, char **argv, void (*other)(const char *line))
{
    char listen[32];

    if (argc != 9 || strcmp(argv[1], "--server") != 0)
        return;
    (void)snprintf(listen, sizeof listen, "127.0.0.1:%s", argv[5]);
    sotto_server_options options = {.role = strcmp(argv[2], "leader") == 0 ? SOTTO_LEADER
                                                                           : SOTTO_HELPER,
                                    .host.listen = listen,
                                    .host.database = argv[3],
                                    .host.datastore_key = argv[4],
                                    .tasks.job_delay_ms = strtoull(argv[6], NULL, 10),
                                    .tasks.bodies = argv[8][0] ? argv[8] : NULL,
                                    .host.lease_seconds = strtoull(argv[7], NULL, 10)};
    if (getenv("SOTTO_LOAD_LOG"))
        options.host.log = (sotto_log_sink){.write = log_event, .lowest = SOTTO_LOG_INFO};
    exit(serve(&options, other));
}
