/* sotto admin health, drain, gc, migrate, backup. */
#define _POSIX_C_SOURCE 200809L
#include "admin.h"
#include "show.h"

#include "serve/host/database_owner.h"
#include "serve/host/datastore.h"
#include "serve/host/operations.h"
#include "serve/leader/backup.h"
#include "serve/tasks/gc.h"
#include "transport/http_client.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DAY = 86400, KEEP_DAYS = 90 };

/* ---- asking the running server ------------------------------------------------------------------------------------- */

/* Several servers may be on one machine: which of them was asked is told by the port. */
static sotto_status is_away(sotto_admin *admin, sotto_status status)
{
    sotto_err before = admin->err;

    admin->err = (sotto_err){0}; /* the first reason would stay */
    return sotto_fail(&admin->err, status, "nothing answers at %.60s: does the server run? (%.70s)",
                      admin->config.host.operations, before.reason);
}

/* An answer, whatever its status; an operations port that listens everywhere is asked on loopback. */
static sotto_status ask(sotto_admin *admin, sotto_http_response *out, sotto_http_method method,
                        const char *page, const char *token)
{
    const char *listen = admin->config.host.operations;
    char url[256], bearer[SOTTO_DRAIN_TOKEN + 8];
    sotto_http_field field = {"Authorization", bearer};
    sotto_http_client *client;
    sotto_status status;

    if (strncmp(listen, "0.0.0.0:", 8) == 0)
        (void)snprintf(url, sizeof url, "http://127.0.0.1:%s/%s", listen + 8, page);
    else
        (void)snprintf(url, sizeof url, "http://%s/%s", listen, page);
    (void)snprintf(bearer, sizeof bearer, "Bearer %s", token ? token : "");
    SOTTO_TRY(sotto_http_client_open(
        &client,
        &(sotto_http_client_options){.plain_anywhere = admin->config.host.operations_anywhere},
        &admin->err));
    status = sotto_http_call_wait(client, out,
                                  &(sotto_http_call){.method = method,
                                                     .url = url,
                                                     .fields = &field,
                                                     .field_count = token ? 1 : 0,
                                                     .attempts = 1,
                                                     .timeout_ms = 5000},
                                  &admin->arena, &admin->err);
    sotto_http_client_close(client);
    sotto_wipe(bearer, sizeof bearer);
    return status == SOTTO_IO ? is_away(admin, status) : status;
}

/* Whichever server holds the port would answer. Whoever can't read the key asks unchecked, and is told so. */
static sotto_status is_ours(sotto_admin *admin, const sotto_http_response *answer)
{
    char identity[SOTTO_SERVER_IDENTITY];
    sotto_bytes given = {NULL, 0};
    sotto_err why = {0};

    if (sotto_datastore_key_read(&admin->columns, admin->config.host.datastore_key, &why) !=
        SOTTO_OK) {
        (void)fprintf(stderr,
                      "sotto admin health: whether it is this configuration's server is not "
                      "checked: %s\n",
                      why.reason);
        return SOTTO_OK;
    }
    sotto_operations_identity(identity, &admin->columns, admin->config.service->name);
    if (sotto_http_response_field(answer, "sotto-server", &given) &&
        sotto_bytes_equal_vartime(given, sotto_bytes_of(identity, sizeof identity - 1)))
        return SOTTO_OK;
    return sotto_fail(&admin->err, SOTTO_REJECTED,
                      "another server answers at %.60s: it does not have the datastore key of "
                      "this %.20s",
                      admin->config.host.operations, admin->config.service->name);
}

/* What the server says, line by line; the first one is whether it is ready, in a word. */
static void print_health(const sotto_http_response *answer)
{
    const char *text = (const char *)answer->body.data;
    size_t len = answer->body.len, end;
    sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);

    sotto_json_bool(&j, "reached", answer->status != 0);
    sotto_json_bool(&j, "ready", answer->status == 200);
    sotto_json_array(&j, "lines");
    for (size_t at = 0; text && at < len; at = end + 1) {
        for (end = at; end < len && text[end] != '\n'; end++)
            ;
        if (at > 0)
            sotto_json_bytes(&j, NULL, sotto_bytes_of(text + at, end - at));
    }
    (void)sotto_show_end(&j);
}

static int run_health(int argc, char **argv)
{
    static sotto_admin admin;
    sotto_http_response answer = {0};
    int code = sotto_admin_parse(&admin, "admin health", argc, argv, NULL, 0, 0);

    admin.needs = ADMIN_NEEDS_NO_MORE;
    if (code == EXIT_DONE)
        code = sotto_admin_configure(&admin);
    if (code == EXIT_DONE) {
        if (ask(&admin, &answer, SOTTO_HTTP_GET, "readyz", NULL) != SOTTO_OK ||
            is_ours(&admin, &answer) != SOTTO_OK) {
            (void)sotto_admin_fail(&admin);
            answer = (sotto_http_response){0};
            code = EXIT_PEER;
        } else if (answer.status != 200) {
            code = EXIT_FAILED;
        }
    }
    if (admin.json && code != EXIT_USAGE)
        print_health(&answer);
    else if (answer.body.len > 0)
        (void)fwrite(answer.body.data, 1, answer.body.len, stdout);
    sotto_admin_close(&admin);
    return code;
}

/* Until the operations port, the last to close, is gone. */
static int wait_for_end(sotto_admin *admin)
{
    struct timespec moment = {0, 100000000};
    sotto_http_response answer;

    for (uint64_t i = 0; i < 10 * (admin->config.drain_seconds + 5); i++) {
        admin->err = (sotto_err){0};
        if (ask(admin, &answer, SOTTO_HTTP_GET, "healthz", NULL) != SOTTO_OK)
            return EXIT_DONE;
        (void)nanosleep(&moment, NULL);
    }
    (void)fprintf(stderr, "sotto admin drain: the server is still there\n");
    return EXIT_FAILED;
}

static void print_drained(bool json)
{
    if (json) {
        sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);

        sotto_json_bool(&j, "drained", true);
        (void)sotto_show_end(&j);
        return;
    }
    printf("drained\n");
}

static int run_drain(int argc, char **argv)
{
    static sotto_admin admin;
    char token[SOTTO_DRAIN_TOKEN];
    sotto_http_response answer = {0};
    int code = sotto_admin_parse(&admin, "admin drain", argc, argv, NULL, 0, 0);

    admin.needs = ADMIN_NEEDS_NO_MORE;
    if (code == EXIT_DONE)
        code = sotto_admin_configure(&admin);
    if (code == EXIT_DONE &&
        sotto_datastore_key_read(&admin.columns, admin.config.host.datastore_key, &admin.err) !=
            SOTTO_OK)
        code = sotto_admin_fail(&admin);
    if (code == EXIT_DONE) {
        sotto_operations_token(token, &admin.columns);
        if (ask(&admin, &answer, SOTTO_HTTP_POST, "drain", token) != SOTTO_OK) {
            (void)sotto_admin_fail(&admin);
            code = EXIT_PEER;
        } else if (answer.status != 202) {
            (void)fprintf(stderr, "sotto admin drain: the server answered %u\n", answer.status);
            code = EXIT_FAILED;
        } else {
            code = wait_for_end(&admin);
        }
        sotto_wipe(token, sizeof token);
    }
    if (code == EXIT_DONE)
        print_drained(admin.json);
    sotto_admin_close(&admin);
    return code;
}

/* ---- maintenance of the database ------------------------------------------------------------------------------------------ */

static void print_gc(const sotto_gc *gc, bool json)
{
    if (json) {
        sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);

        sotto_json_uint(&j, "retired", gc->retired);
        sotto_json_uint(&j, "waiting", gc->waiting);
        sotto_json_uint(&j, "marks", gc->marks);
        sotto_json_uint(&j, "refusals", gc->refusals);
        sotto_json_uint(&j, "sub_aggregates", gc->sub_aggregates);
        sotto_json_uint(&j, "jobs", gc->jobs);
        sotto_json_uint(&j, "repairs", gc->repairs);
        sotto_json_uint(&j, "tokens", gc->tokens);
        sotto_json_uint(&j, "broken", gc->broken);
        (void)sotto_show_end(&j);
        return;
    }
    printf("retired %" PRIu64 " tasks (%" PRIu64 " more have reports under way); cleared %" PRIu64
           " marks, %" PRIu64 " noted refusals, %" PRIu64 " sub-aggregates, %" PRIu64
           " jobs, %" PRIu64 " repairs, %" PRIu64 " spent tokens; left alone %" PRIu64
           " tasks that can't be read\n",
           gc->retired, gc->waiting, gc->marks, gc->refusals, gc->sub_aggregates, gc->jobs,
           gc->repairs, gc->tokens, gc->broken);
}

static int run_gc(int argc, char **argv)
{
    static const char *const known[] = {"--keep-days", "--most", NULL};
    static sotto_admin admin;
    sotto_gc gc = {0};
    uint64_t days = KEEP_DAYS;
    int code = sotto_admin_parse(&admin, "admin gc", argc, argv, known, 0, 0);

    if (code == EXIT_DONE && (!sotto_admin_number(&admin, &days, "--keep-days") ||
                              !sotto_admin_number(&admin, &gc.most_rows, "--most")))
        code = EXIT_USAGE;
    if (code == EXIT_DONE)
        code = sotto_admin_open(&admin);
    if (code == EXIT_DONE) {
        gc.role = admin.role;
        gc.now = sotto_admin_now();
        gc.late_seconds = admin.tasks->late_seconds;
        gc.keep_seconds = days * DAY;
        if (sotto_gc_run(admin.db, &gc, &admin.err) != SOTTO_OK)
            code = sotto_admin_fail(&admin);
        else
            print_gc(&gc, admin.json);
    }
    sotto_admin_close(&admin);
    return code;
}

static void print_migrated(int64_t before, size_t now, bool json)
{
    if (json) {
        sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);

        sotto_json_int(&j, "from", before);
        sotto_json_uint(&j, "to", now);
        (void)sotto_show_end(&j);
        return;
    }
    printf("schema %" PRId64 " is now %zu\n", before, now);
}

/* Schemas of two services have the same numbers: a database that is another's is left alone. */
static sotto_status migrate(sotto_admin *admin, int64_t *before)
{
    const sotto_service *service = admin->config.service;
    sotto_err why = {0};

    SOTTO_TRY(sotto_db_open(&admin->db, &(sotto_db_options){.address = admin->config.host.database},
                            &admin->err));
    SOTTO_TRY(sotto_db_version(admin->db, before, &admin->err));
    /* An empty one is the server's to make, together with its datastore key. */
    if (*before == 0)
        return sotto_fail(&admin->err, SOTTO_MISSING, "the database is empty: start the server");
    /* The oldest schemas have no mark, which is no reason to leave them as they are. */
    if (sotto_database_owner_check(admin->db, service, &why) == SOTTO_DENIED)
        return sotto_fail(&admin->err, SOTTO_DENIED, "%s", why.reason);
    return sotto_db_migrate(admin->db, service->migrations, service->migration_count, &admin->err);
}

static int run_migrate(int argc, char **argv)
{
    static sotto_admin admin;
    int64_t before = 0;
    int code = sotto_admin_parse(&admin, "admin migrate", argc, argv, NULL, 0, 0);

    admin.needs = ADMIN_NEEDS_NO_MORE;
    if (code == EXIT_DONE)
        code = sotto_admin_configure(&admin);
    if (code == EXIT_DONE && migrate(&admin, &before) != SOTTO_OK)
        code = sotto_admin_fail(&admin);
    else if (code == EXIT_DONE)
        print_migrated(before, admin.config.service->migration_count, admin.json);
    sotto_admin_close(&admin);
    return code;
}

/* What the copy lacks, as it is found out. */
typedef struct gaps {
    uint64_t segments;
    sotto_json *json; /* an array that is open; NULL: for people */
} gaps;

static void tell_gap(void *context, int64_t segment, uint64_t reports, const char *why)
{
    gaps *g = context;

    if (g->json) {
        sotto_json_object(g->json, NULL);
        sotto_json_int(g->json, "segment", segment);
        sotto_json_uint(g->json, "reports", reports);
        sotto_json_text(g->json, "why", why);
        sotto_json_end(g->json);
    } else
        (void)fprintf(
            stderr, "sotto admin backup: not in it: segment %" PRId64 ", %" PRIu64 " reports: %s\n",
            segment, reports, why);
    g->segments++;
}

/* Only those with tasks keep anything of a database beside it. */
static sotto_status back_up(sotto_admin *admin, gaps *g)
{
    if (!admin->tasks)
        return sotto_db_backup(admin->db, admin->words[0], &admin->err);
    return sotto_server_backup(admin->db, admin->config.host.database, admin->words[0], tell_gap, g,
                               &admin->err);
}

static int run_backup(int argc, char **argv)
{
    static sotto_admin admin;
    gaps g = {0};
    sotto_json j;
    int code = sotto_admin_parse(&admin, "admin backup", argc, argv, NULL, 1, 1);

    admin.needs = ADMIN_NEEDS_NO_MORE;
    if (code == EXIT_DONE)
        code = sotto_admin_open(&admin);
    if (code == EXIT_DONE) {
        if (admin.json) {
            j = sotto_show_object(stdout, SOTTO_JSON_SPACED);
            sotto_json_array(&j, "missing");
            g.json = &j;
        }
        if (back_up(&admin, &g) != SOTTO_OK)
            code = sotto_admin_fail(&admin);
        if (g.json) {
            sotto_json_end(&j);
            sotto_json_bool(&j, "written", code == EXIT_DONE);
            (void)sotto_show_end(&j);
        } else if (code == EXIT_DONE)
            printf("written; the datastore key is not in it: keep a copy of %s elsewhere\n",
                   admin.config.host.datastore_key);
    }
    /* A script that throws its older copies away after a 0 may have these reports in them, and here nobody has. */
    if (code == EXIT_DONE && g.segments > 0) {
        (void)fprintf(stderr,
                      "sotto admin backup: written, but it lacks %" PRIu64
                      " segments that can't be read (`sotto admin segment list`)\n",
                      g.segments);
        code = EXIT_FAILED;
    }
    sotto_admin_close(&admin);
    return code;
}

const sotto_verb sotto_verb_admin_health = {
    .name = "health",
    .summary = "how the running server is, and what it lacks",
    .usage =
        "usage: sotto admin health --config FILE [--json]\n\n"
        "Asks the operations port. Exits with 0 if the server is ready, 1 if it is not, 7 if it\n"
        "can't be reached, or if a server with another datastore key answers there.\n",
    .run = run_health,
};

const sotto_verb sotto_verb_admin_drain = {
    .name = "drain",
    .summary = "stop the running server once it has finished what it accepted",
    .usage = "usage: sotto admin drain --config FILE [--json]\n\n"
             "The same as SIGTERM, for whoever can read the datastore key; returns when all is "
             "written; the process ends a moment later.\n",
    .run = run_drain,
};

const sotto_verb sotto_verb_admin_gc = {
    .name = "gc",
    .summary = "clear away what tasks left that closed long ago",
    .usage =
        "usage: sotto admin gc --config FILE [--keep-days N] [--most ROWS] [--json]\n\n"
        "Retires tasks that closed more than N days ago (90, and never less than `late` and a\n"
        "day), for good. Deletes their report ids, sums and finished jobs, 5,000 rows in\n"
        "a transaction. What was released stays, and so do the counts of rejected reports.\n"
        "Batches of a retired task that nobody collected can't be collected any more.\n",
    .run = run_gc,
};

const sotto_verb sotto_verb_admin_migrate = {
    .name = "migrate",
    .summary = "bring the database to this program's schema",
    .usage =
        "usage: sotto admin migrate --config FILE [--json]\n\n"
        "A server does this by itself when it starts; with several replicas, do it once before.\n",
    .run = run_migrate,
};

const sotto_verb sotto_verb_admin_backup = {
    .name = "backup",
    .summary = "copy the database while it is in use (SQLite)",
    .usage =
        "usage: sotto admin backup FILE --config FILE [--json]\n\n"
        "A backup that is restored forgets what was released after it was made: never serve from\n"
        "one while the original can be had. Reports that can't be read are not in it: they are\n"
        "named, the rest is written, and the exit code is 1.\n",
    .run = run_backup,
};
