/* sotto admin keys - this server's HPKE keys. */
#define _POSIX_C_SOURCE 200809L
#include "admin.h"
#include "show.h"

#include "recipe/calendar.h"
#include "serve/host/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CONFIG_BYTES = 512 };

/* What a verb does to the ring before it shows it. */
typedef sotto_status key_act(sotto_admin *admin, sotto_keys *keys);

typedef struct listing {
    sotto_admin *admin;
    const sotto_key_times *times;
    bool export; /* what the parties file takes, and nothing else */
    size_t shown;
} listing;

static void print_hex(sotto_bytes bytes)
{
    for (size_t i = 0; i < bytes.len; i++)
        printf("%02x", bytes.data[i]);
}

/* An entry of "hpke" in the parties file, whose brackets the reader brings: a comma stands between two. */
static void print_entry(const listing *l, const sotto_key_line *line, sotto_bytes config)
{
    printf("%s", l->shown > 0 ? ",\n" : "");
    sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);
    sotto_json_hex(&j, "config", config);
    sotto_json_time(&j, "from", line->use.from);
    sotto_json_time(&j, "until", line->use.until);
    sotto_json_time(&j, "next", line->use.next);
    sotto_json_end(&j); /* the line goes on */
}

/* What becomes of a key in its state, and when. */
static const char *after(char when[SOTTO_CALENDAR_TEXT], const sotto_key_times *times,
                         const sotto_key_line *line)
{
    switch (line->state) {
    case SOTTO_KEY_PENDING:
        sotto_calendar_format_time(when, line->use.from);
        return "active from";
    case SOTTO_KEY_ACTIVE:
        sotto_calendar_format_time(when, line->use.until);
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

    /* Without its times a key says nothing but that it may be sealed to now. */
    if (l->export && !l->admin->json && line->state != SOTTO_KEY_ACTIVE)
        return SOTTO_OK;
    SOTTO_TRY(sotto_hpke_config_encode(&config, &line->config, err));
    sotto_calendar_format_time(since, line->since);
    if (l->export && l->admin->json) {
        print_entry(l, line, sotto_buf_bytes(&config));
    } else if (l->export) {
        print_hex(sotto_buf_bytes(&config));
        printf("\n");
    } else if (l->admin->json) {
        sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);

        sotto_json_uint(&j, "config_id", line->config.id);
        sotto_json_text(&j, "state", sotto_key_state_name(line->state));
        sotto_json_text(&j, "since", since);
        sotto_json_text(&j, "until", next);
        (void)sotto_show_end(&j);
    } else {
        printf("config %3u  %-8s since %s, %s %s\n", line->config.id,
               sotto_key_state_name(line->state), since, what, next);
    }
    l->shown++;
    return SOTTO_OK;
}

static sotto_status count(void *context, const sotto_key_line *line, sotto_err *err)
{
    (void)line;
    (void)err;
    ++*(size_t *)context;
    return SOTTO_OK;
}

/* Beside the list, since it is the same as before: an operator whose key was seen must know that none was made. */
static sotto_status renew_key(sotto_admin *admin, sotto_keys *keys)
{
    size_t before = 0, now = 0;

    SOTTO_TRY(sotto_keys_list(keys, count, &before, &admin->err));
    SOTTO_TRY(sotto_keys_renew(keys, sotto_admin_now(), &admin->err));
    SOTTO_TRY(sotto_keys_list(keys, count, &now, &admin->err));
    if (now <= before)
        (void)fprintf(stderr, "sotto %s: no key was made: %s\n", admin->verb,
                      now < SOTTO_KEYS_MOST ? "one is pending, and comes first"
                                            : "there are as many as there can be");
    return SOTTO_OK;
}

static bool take_config_id(uint8_t *out, const char *text)
{
    size_t digits = strspn(text, "0123456789");
    unsigned long id = strtoul(text, NULL, 10);

    *out = (uint8_t)id;
    return digits > 0 && digits < 4 && !text[digits] && id <= UINT8_MAX;
}

/* A successor is first made known to every replica, if there is none: whoever ends this meanwhile has lost nothing. */
static sotto_status delete_key(sotto_admin *admin, sotto_keys *keys)
{
    const struct timespec second = {1, 0};
    uint8_t id;
    sotto_err why = {0};
    sotto_status status;
    bool told = false;

    (void)take_config_id(&id, admin->words[0]);
    status = sotto_keys_delete(keys, id, sotto_admin_now(), &why);
    while (status == SOTTO_AGAIN) {
        if (!told)
            (void)fprintf(stderr,
                          "sotto %s: its successor is made known to every replica first, for"
                          " about %d seconds\n",
                          admin->verb, 2 * SOTTO_KEYS_EVERY_S);
        told = true;
        (void)nanosleep(&second, NULL);
        why = (sotto_err){0};
        status = sotto_keys_delete(keys, id, sotto_admin_now(), &why);
    }
    return status == SOTTO_OK ? SOTTO_OK : sotto_fail(&admin->err, status, "%s", why.reason);
}

static const sotto_key_times *times_of(const sotto_admin *admin)
{
    return admin->tasks ? &admin->tasks->key_times
                        : (const void *)((const uint8_t *)admin->config.own +
                                         admin->config.service->key_times);
}

/* words: how many the verb takes, 0 or 1, and that one is a configuration's id. */
static int run(const char *verb, int argc, char **argv, bool export, key_act *act, size_t words)
{
    static sotto_admin admin;
    listing l = {.admin = &admin, .export = export};
    sotto_keys *keys = NULL;
    sotto_status status;
    int code = sotto_admin_parse(&admin, verb, argc, argv, NULL, words, words);

    if (code == EXIT_DONE && words > 0 && !take_config_id(&(uint8_t){0}, admin.words[0])) {
        (void)fprintf(stderr, "sotto %s: CONFIG_ID is a number up to 255, as `list` shows it\n",
                      verb);
        code = EXIT_USAGE;
    }
    admin.needs = ADMIN_NEEDS_KEYS;
    if (code == EXIT_DONE)
        code = sotto_admin_open(&admin);
    if (code == EXIT_DONE) {
        uint8_t info[SOTTO_DAP_INFO_MAX];

        status = sotto_keys_open(&keys, admin.db, &admin.columns, sotto_role_info(info, admin.role),
                                 times_of(&admin), sotto_admin_now(), NULL, &admin.err);
        if (status == SOTTO_OK && act)
            status = act(&admin, keys);
        if (status == SOTTO_OK) {
            l.times = sotto_keys_times(keys);
            status = export ? sotto_keys_export(keys, sotto_admin_now(), show, &l, &admin.err)
                            : sotto_keys_list(keys, show, &l, &admin.err);
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
    return run("admin keys list", argc, argv, false, NULL, 0);
}

static int run_export(int argc, char **argv)
{
    return run("admin keys export", argc, argv, true, NULL, 0);
}

static int run_rotate(int argc, char **argv)
{
    return run("admin keys rotate", argc, argv, false, renew_key, 0);
}

static int run_delete(int argc, char **argv)
{
    return run("admin keys delete", argc, argv, false, delete_key, 1);
}

static const sotto_verb verb_list = {
    .name = "list",
    .summary = "every key and its state",
    .usage = "usage: sotto admin keys list --config FILE [--json]\n",
    .run = run_list,
};

static const sotto_verb verb_export = {
    .name = "export",
    .summary = "every key's configuration, for the parties file",
    .usage =
        "usage: sotto admin keys export --config FILE [--json]\n\n"
        "With --json, prints each key as the parties file takes it, with a comma between two of\n"
        "them: what stands within the brackets of \"hpke\". These are the keys in use, those that\n"
        "come into use later, and those that ended less than key_active ago. Each has the times\n"
        "between which devices seal to it, and `next`, before which no other key comes into use.\n"
        "Without --json, prints the configurations in use now, in hex.\n",
    .run = run_export,
};

static const sotto_verb verb_rotate = {
    .name = "rotate",
    .summary = "make a successor now",
    .usage =
        "usage: sotto admin keys rotate --config FILE [--json]\n\n"
        "Servers rotate keys by themselves; this makes one that comes into use after key_pending,\n"
        "an hour, once every replica knows it. The old one stays in use for its time. If another\n"
        "comes into use as soon, none is made, and a line says so. Parties files that were\n"
        "published before lack the new key: devices that have one answer no recipe from then on\n"
        "that your server has with the new file.\n",
    .run = run_rotate,
};

static const sotto_verb verb_delete = {
    .name = "delete",
    .summary = "end a key now",
    .usage =
        "usage: sotto admin keys delete CONFIG_ID --config FILE [--json]\n\n"
        "For a key that others may have seen. Its secret half is erased, and running servers open\n"
        "nothing with it after about 10 seconds. If no other key is active, a successor is "
        "made,\n"
        "known to every replica first, which takes about 20 seconds, and active then. Reports "
        "that\n"
        "are sealed to the deleted key are rejected from then on. A leader keeps what it has\n"
        "acknowledged; a helper loses its half of reports that are not in a job yet, which are "
        "not\n"
        "added up. docs/operating.md says what to do before and after.\n",
    .run = run_delete,
};

static const sotto_verb *const parts[] = {&verb_list, &verb_export, &verb_rotate, &verb_delete,
                                          NULL};

const sotto_verb sotto_verb_admin_keys = {
    .name = "keys",
    .summary = "list, export, rotate and delete HPKE keys",
    .parts = parts,
};
