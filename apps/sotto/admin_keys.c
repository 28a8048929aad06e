/* sotto admin keys - this server's HPKE keys. */
#include "admin.h"

#include "recipe/calendar.h"
#include "serve/keys.h"

#include <stdio.h>

enum { CONFIG_BYTES = 512 };

typedef struct listing {
    sotto_admin *admin;
    const sotto_key_times *times;
    bool export; /* configurations that devices may seal to, and nothing else */
    size_t shown;
} listing;

typedef struct key_count {
    size_t keys, pending;
} key_count;

static void print_hex(sotto_bytes bytes)
{
    for (size_t i = 0; i < bytes.len; i++)
        printf("%02x", bytes.data[i]);
}

/* An entry of "hpke" in the parties file, whose brackets the reader brings: a comma stands between two. Published that
 * long, and opened for a while after. */
static void print_entry(const listing *l, const sotto_key_line *line, sotto_bytes config)
{
    char from[SOTTO_CALENDAR_TEXT], until[SOTTO_CALENDAR_TEXT];

    sotto_calendar_format_time(from, line->since);
    sotto_calendar_format_time(until, line->since + (int64_t)l->times->active);
    printf("%s{\"config\": \"", l->shown > 0 ? ",\n" : "");
    print_hex(config);
    printf("\", \"from\": \"%s\", \"until\": \"%s\"}", from, until);
}

/* What becomes of a key in its state, and when. */
static const char *after(char when[SOTTO_CALENDAR_TEXT], const sotto_key_times *times,
                         const sotto_key_line *line)
{
    switch (line->state) {
    case SOTTO_KEY_PENDING:
        sotto_calendar_format_time(when, line->since + (int64_t)times->pending);
        return "active from";
    case SOTTO_KEY_ACTIVE:
        sotto_calendar_format_time(when, line->since + (int64_t)times->active);
        return "expires";
    case SOTTO_KEY_EXPIRED:
    default:
        sotto_calendar_format_time(when, line->since + (int64_t)times->expired);
        return "deleted";
    }
}

static sotto_status show(void *context, const sotto_key_line *line, sotto_err *err)
{
    listing *l = context;
    uint8_t memory[CONFIG_BYTES];
    sotto_buf config = sotto_buf_over(memory, sizeof memory);
    char since[SOTTO_CALENDAR_TEXT], next[SOTTO_CALENDAR_TEXT];
    const char *what = after(next, l->times, line);

    if (l->export && line->state != SOTTO_KEY_ACTIVE)
        return SOTTO_OK;
    SOTTO_TRY(sotto_hpke_config_encode(&config, &line->config, err));
    sotto_calendar_format_time(since, line->since);
    if (l->export && l->admin->json) {
        print_entry(l, line, sotto_buf_bytes(&config));
    } else if (l->export) {
        print_hex(sotto_buf_bytes(&config));
        printf("\n");
    } else if (l->admin->json) {
        printf("{\"config_id\": %u, \"state\": \"%s\", \"since\": \"%s\", \"until\": \"%s\"}\n",
               line->config.id, sotto_key_state_name(line->state), since, next);
    } else {
        printf("config %3u  %-8s since %s, %s %s\n", line->config.id,
               sotto_key_state_name(line->state), since, what, next);
    }
    l->shown++;
    return SOTTO_OK;
}

static sotto_status count(void *context, const sotto_key_line *line, sotto_err *err)
{
    key_count *c = context;

    (void)err;
    c->keys++;
    if (line->state == SOTTO_KEY_PENDING)
        c->pending++;
    return SOTTO_OK;
}

/* Beside the list, since it is the same as before: an operator whose key was seen must know that none was made. */
static sotto_status renew_key(sotto_admin *admin, sotto_keys *keys)
{
    key_count before = {0}, now = {0};

    SOTTO_TRY(sotto_keys_list(keys, count, &before, &admin->err));
    SOTTO_TRY(sotto_keys_renew(keys, sotto_admin_now(), &admin->err));
    SOTTO_TRY(sotto_keys_list(keys, count, &now, &admin->err));
    if (now.keys <= before.keys)
        (void)fprintf(stderr, "sotto %s: no key was made: %s\n", admin->verb,
                      now.pending > 0 ? "one is pending, and comes first"
                                      : "there are as many as there can be");
    return SOTTO_OK;
}

static int run(const char *verb, int argc, char **argv, bool export, bool renew)
{
    static sotto_admin admin;
    listing l = {.admin = &admin, .export = export};
    sotto_keys *keys = NULL;
    sotto_status status;
    int code = sotto_admin_parse(&admin, verb, argc, argv, NULL, 0, 0);

    if (code == EXIT_DONE)
        code = sotto_admin_open(&admin);
    if (code == EXIT_DONE) {
        const sotto_server_options *o = &admin.config.server;

        status = sotto_keys_open(&keys, admin.db, &admin.columns, o->role, &o->key_times,
                                 sotto_admin_now(), NULL, &admin.err);
        if (status == SOTTO_OK && renew)
            status = renew_key(&admin, keys);
        if (status == SOTTO_OK) {
            l.times = sotto_keys_times(keys);
            status = sotto_keys_list(keys, show, &l, &admin.err);
        }
        if (export && admin.json && l.shown > 0)
            printf("\n");
        if (status != SOTTO_OK)
            code = sotto_admin_fail(&admin);
    }
    sotto_keys_close(keys);
    sotto_admin_close(&admin);
    return code;
}

static int run_list(int argc, char **argv)
{
    return run("admin keys list", argc, argv, false, false);
}

static int run_export(int argc, char **argv)
{
    return run("admin keys export", argc, argv, true, false);
}

static int run_rotate(int argc, char **argv)
{
    return run("admin keys rotate", argc, argv, false, true);
}

static const sotto_verb verb_list = {
    .name = "list",
    .summary = "every key and its state",
    .usage = "usage: sotto admin keys list --config FILE [--json]\n",
    .run = run_list,
};

static const sotto_verb verb_export = {
    .name = "export",
    .summary = "the published configurations, for the parties file",
    .usage =
        "usage: sotto admin keys export --config FILE [--json]\n\n"
        "Prints each active configuration in hex; with --json, as the parties file takes it, with\n"
        "the times between which it is published, and a comma between two of them: what stands\n"
        "within the brackets of \"hpke\".\n",
    .run = run_export,
};

static const sotto_verb verb_rotate = {
    .name = "rotate",
    .summary = "make a successor now",
    .usage =
        "usage: sotto admin keys rotate --config FILE [--json]\n\n"
        "Servers rotate keys by themselves; this makes a new one early. It is pending until every\n"
        "replica knows it, and the old one stays in use for its time. While one is pending, no "
        "other\n"
        "is made, and a line says so.\n",
    .run = run_rotate,
};

static const sotto_verb *const parts[] = {&verb_list, &verb_export, &verb_rotate, NULL};

const sotto_verb sotto_verb_admin_keys = {
    .name = "keys",
    .summary = "list, export and rotate HPKE keys",
    .parts = parts,
};
