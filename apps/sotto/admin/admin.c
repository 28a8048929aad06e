/* sotto admin - a server's database from the command line, beside the running server. */
#include "admin.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "serve/host/database_owner.h"
#include "serve/host/datastore.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA = 256 << 20 };

static const char *environment(const char *name)
{
    return getenv(name);
}

/* ---- arguments -------------------------------------------------------------------------------------------------- */

static bool is_known(const char *flag, const char *const *known)
{
    for (size_t i = 0; known && known[i]; i++)
        if (strcmp(flag, known[i]) == 0)
            return true;
    return strcmp(flag, "--config") == 0;
}

int sotto_admin_parse(sotto_admin *admin, const char *verb, int argc, char **argv,
                      const char *const *known, size_t least, size_t most)
{
    memset(admin, 0, sizeof *admin);
    admin->verb = verb;
    sotto_arena_init(&admin->arena, ARENA);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            admin->json = true;
        } else if (is_known(argv[i], known) && i + 1 < argc && admin->flag_count < ADMIN_FLAGS) {
            admin->flags[admin->flag_count][0] = argv[i];
            admin->flags[admin->flag_count++][1] = argv[i + 1];
            i++;
        } else if (argv[i][0] != '-' && admin->word_count < most) {
            admin->words[admin->word_count++] = argv[i];
        } else {
            (void)fprintf(stderr, "sotto %s: what is '%s'? See `sotto %s --help`\n", verb, argv[i],
                          verb);
            return EXIT_USAGE;
        }
    }
    if (admin->word_count < least) {
        (void)fprintf(stderr, "sotto %s: something is missing; see `sotto %s --help`\n", verb,
                      verb);
        return EXIT_USAGE;
    }
    return EXIT_DONE;
}

const char *sotto_admin_flag(const sotto_admin *admin, const char *name)
{
    for (size_t i = admin->flag_count; i > 0; i--)
        if (strcmp(admin->flags[i - 1][0], name) == 0)
            return admin->flags[i - 1][1];
    return NULL;
}

bool sotto_admin_number(const sotto_admin *admin, uint64_t *out, const char *name)
{
    const char *text = sotto_admin_flag(admin, name);
    size_t digits = text ? strspn(text, "0123456789") : 0;

    if (!text)
        return true;
    if (digits == 0 || digits > 15 || text[digits]) {
        (void)fprintf(stderr, "sotto %s: %s takes a number\n", admin->verb, name);
        return false;
    }
    *out = strtoull(text, NULL, 10);
    return true;
}

/* UTF-8 without control characters: PostgreSQL stores nothing else, JSON can't say anything else, and a terminal shows it. */
static bool is_line(const char *text)
{
    json_t *json = json_string(text);
    bool good = json != NULL && text[0] != 0;

    json_decref(json);
    for (const char *at = text; good && *at; at++)
        good = ((unsigned char)*at >= 0x20 && *at != 0x7f);
    return good;
}

const char *sotto_admin_reason(const sotto_admin *admin)
{
    const char *reason = sotto_admin_flag(admin, "--reason");

    if (reason && is_line(reason))
        return reason;
    (void)fprintf(stderr, "sotto %s: --reason says why, in a line of text that is kept\n",
                  admin->verb);
    return NULL;
}

/* ---- opening ------------------------------------------------------------------------------------------------------ */

static bool suits(const sotto_admin *admin)
{
    return admin->role || admin->needs == ADMIN_NEEDS_NO_MORE ||
           (admin->needs == ADMIN_NEEDS_KEYS && admin->config.service->keys);
}

int sotto_admin_configure(sotto_admin *admin)
{
    const char *file = sotto_admin_flag(admin, "--config");
    sotto_config_sources from = {.file = file, .environment = environment};

    if (!file) {
        (void)fprintf(stderr, "sotto %s: which server? --config FILE\n", admin->verb);
        return EXIT_USAGE;
    }
    if (sotto_serve_config_read(&admin->config, &from, &admin->err) == SOTTO_OK) {
        admin->role = sotto_service_role(admin->config.service);
        admin->tasks = admin->role ? admin->config.own : NULL;
        if (suits(admin))
            return EXIT_DONE;
        (void)sotto_fail(&admin->err, SOTTO_DENIED, "%s is the file of %s %s, which has no %s",
                         file, strchr("aeiou", admin->config.service->name[0]) ? "an" : "a",
                         admin->config.service->name,
                         admin->needs == ADMIN_NEEDS_KEYS ? "HPKE keys" : "tasks");
    }
    (void)fprintf(stderr, "%s", admin->config.mistakes);
    if (admin->config.mistake_count == 0)
        (void)fprintf(stderr, "sotto %s: %s\n", admin->verb, admin->err.reason);
    return EXIT_USAGE;
}

static sotto_status open_database(sotto_admin *admin)
{
    const sotto_host_options *o = &admin->config.host;
    int64_t version;

    SOTTO_TRY(sotto_datastore_key_read(&admin->columns, o->datastore_key, &admin->err));
    SOTTO_TRY(sotto_db_open(&admin->db, &(sotto_db_options){.address = o->database}, &admin->err));
    SOTTO_TRY(sotto_db_version(admin->db, &version, &admin->err));
    if (version != (int64_t)admin->config.service->migration_count)
        return sotto_fail(&admin->err, SOTTO_STALE,
                          "the database has schema %lld and this program %zu: start the server or"
                          " `sotto admin migrate`",
                          (long long)version, admin->config.service->migration_count);
    return sotto_database_owner_check(admin->db, admin->config.service, &admin->err);
}

int sotto_admin_open(sotto_admin *admin)
{
    int code = sotto_admin_configure(admin);

    if (code == EXIT_DONE && open_database(admin) != SOTTO_OK)
        code = sotto_admin_fail(admin);
    return code;
}

void sotto_admin_close(sotto_admin *admin)
{
    sotto_db_close(admin->db);
    sotto_serve_config_clear(&admin->config);
    sotto_arena_clear(&admin->arena);
    sotto_wipe(&admin->columns, sizeof admin->columns);
}

int sotto_admin_fail(const sotto_admin *admin)
{
    (void)fprintf(stderr, "sotto %s: %s: %s\n", admin->verb, sotto_status_name(admin->err.status),
                  admin->err.reason);
    return sotto_exit_code(admin->err.status, SOTTO_AT_DATA);
}

int sotto_admin_run(const char *verb, int argc, char **argv, const char *const *known, size_t least,
                    size_t most, sotto_admin_act *act)
{
    static sotto_admin admin;
    int code = sotto_admin_parse(&admin, verb, argc, argv, known, least, most);

    if (code == EXIT_DONE)
        code = sotto_admin_open(&admin);
    if (code == EXIT_DONE && act(&admin) != SOTTO_OK)
        code = sotto_admin_fail(&admin);
    sotto_admin_close(&admin);
    return code;
}

sotto_status sotto_admin_read_file(sotto_admin *admin, sotto_bytes *out, const char *path,
                                   size_t most)
{
    sotto_err why = {0};
    sotto_status status;
    sotto_buf file;

    SOTTO_TRY(sotto_buf_take(&file, &admin->arena, most, &admin->err));
    status = sotto_file_append(&file, path, &why);
    if (status == SOTTO_TOO_LARGE)
        return sotto_fail(&admin->err, status, "%.100s: %s", path, why.reason);
    if (status != SOTTO_OK)
        return sotto_fail(&admin->err, SOTTO_IO, "can't read %.100s: %s", path, why.reason);
    *out = sotto_buf_bytes(&file);
    return SOTTO_OK;
}

int64_t sotto_admin_now(void)
{
    return (int64_t)(sotto_clock_wall(&sotto_clock_system) / 1000000000);
}

/* ---- the verbs ------------------------------------------------------------------------------------------------------ */

static const sotto_verb *const parts[] = {
    &sotto_verb_admin_pair,
    &sotto_verb_admin_task,
    &sotto_verb_admin_keys,
    &sotto_verb_admin_arc,
    &sotto_verb_admin_batch,
    &sotto_verb_admin_segment,
    &sotto_verb_admin_health,
    &sotto_verb_admin_gc,
    &sotto_verb_admin_drain,
    &sotto_verb_admin_migrate,
    &sotto_verb_admin_backup,
    &sotto_verb_admin_beacon,
    NULL,
};

const sotto_verb sotto_verb_admin = {
    .name = "admin",
    .summary = "pair servers, add tasks, look after keys and data",
    .parts = parts,
};
