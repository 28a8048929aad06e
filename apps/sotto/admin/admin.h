/* apps/sotto/admin/admin.h - what the admin verbs share: a database opened from a server's own configuration file. */
#ifndef SOTTO_APPS_ADMIN_H
#define SOTTO_APPS_ADMIN_H

#include "serve/host/options.h"
#include "serve/tasks/server.h"
#include "verbs.h"

enum { ADMIN_WORDS = 16, ADMIN_FLAGS = 64 };

/* Which services a verb is for. */
typedef enum sotto_admin_need {
    ADMIN_NEEDS_TASKS,   /* a leader or a helper */
    ADMIN_NEEDS_KEYS,    /* ... or another one that has HPKE keys */
    ADMIN_NEEDS_NO_MORE, /* every service */
} sotto_admin_need;

/* One run of an admin verb. */
typedef struct sotto_admin {
    const char *verb; /* "admin task add" */
    sotto_serve_config config;
    sotto_role role;                 /* of the server whose configuration it is */
    const sotto_task_options *tasks; /* its own options; NULL: it has no tasks  */
    sotto_admin_need needs;          /* set after parsing; at first tasks */
    bool json;
    const char *words[ADMIN_WORDS]; /* that are no flags */
    size_t word_count;
    const char *flags[ADMIN_FLAGS][2]; /* other flags and their values, as given */
    size_t flag_count;
    sotto_db *db;
    sotto_column_keys columns;
    sotto_arena arena; /* of files */
    sotto_err err;
} sotto_admin;

/* Takes the arguments apart: --config FILE, --json, the flags in `known` (each takes a value; NULL ends the list), and
 * between `least` and `most` words. EXIT_DONE, or EXIT_USAGE after having said why. */
int sotto_admin_parse(sotto_admin *admin, const char *verb, int argc, char **argv,
                      const char *const *known, size_t least, size_t most);
/* The value of a flag, the last one given; NULL: not given. */
const char *sotto_admin_flag(const sotto_admin *admin, const char *name);
/* A flag that is a number. False: not a number, and an error was printed. */
bool sotto_admin_number(const sotto_admin *admin, uint64_t *out, const char *name);

/* --reason TEXT, which is kept and listed: a line of text. NULL: not valid, and an error was printed. */
const char *sotto_admin_reason(const sotto_admin *admin);

/* Reads the configuration that was named. EXIT_DONE or EXIT_USAGE. */
int sotto_admin_configure(sotto_admin *admin);
/* ... and opens its database, which must have today's schema, and its datastore key. */
int sotto_admin_open(sotto_admin *admin);
void sotto_admin_close(sotto_admin *admin);

/* Says admin->err and returns the exit code for it. */
int sotto_admin_fail(const sotto_admin *admin);

/* A verb that is one act on an open database: parses, opens, acts, says what failed, closes. */
typedef sotto_status sotto_admin_act(sotto_admin *admin);
int sotto_admin_run(const char *verb, int argc, char **argv, const char *const *known, size_t least,
                    size_t most, sotto_admin_act *act);
/* A whole file, until the run ends. */
sotto_status sotto_admin_read_file(sotto_admin *admin, sotto_bytes *out, const char *path,
                                   size_t most);
/* Seconds since 1970. */
int64_t sotto_admin_now(void);

extern const sotto_verb sotto_verb_admin_pair, sotto_verb_admin_task, sotto_verb_admin_keys,
    sotto_verb_admin_arc, sotto_verb_admin_health, sotto_verb_admin_drain, sotto_verb_admin_gc,
    sotto_verb_admin_migrate, sotto_verb_admin_backup, sotto_verb_admin_batch,
    sotto_verb_admin_segment, sotto_verb_admin_beacon;

#endif
