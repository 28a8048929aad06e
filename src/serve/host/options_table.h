/* serve/host/options_table.h - the table itself, for those who parse and those who print. */
#ifndef SOTTO_SERVE_HOST_OPTIONS_TABLE_H
#define SOTTO_SERVE_HOST_OPTIONS_TABLE_H

#include "serve/host/options.h"

typedef enum sotto_option_type {
    SOTTO_OPTION_ADDRESS,  /* 127.0.0.1:8787, [::1]:8787                          */
    SOTTO_OPTION_PATH,     /* of a URL                                             */
    SOTTO_OPTION_DATABASE, /* sqlite:FILE, or what libpq takes, without a password */
    SOTTO_OPTION_FILE,
    SOTTO_OPTION_SECRET, /* a file that holds a secret                           */
    SOTTO_OPTION_NUMBER,
    SOTTO_OPTION_SIZE,     /* bytes: 64M    */
    SOTTO_OPTION_DURATION, /* seconds: 14d  */
    SOTTO_OPTION_SWITCH,   /* yes, no       */
    SOTTO_OPTION_LEVEL,    /* of the log    */
} sotto_option_type;

enum { SOTTO_FOR_LEADER = 1, SOTTO_FOR_HELPER = 2, SOTTO_FOR_BOTH = 3 };

typedef struct sotto_option {
    const char *name;
    sotto_option_type type;
    unsigned roles;
    size_t offset, size;    /* in sotto_serve_config                                 */
    const char *preset[2];  /* the default: the leader's, the helper's; NULL: none   */
    uint64_t least, most;   /* of numbers, sizes and durations                       */
    const char *credential; /* of secrets: systemd's name, used where nothing is set */
    const char *help;
} sotto_option;

extern const sotto_option sotto_options[];
extern const size_t sotto_option_count;

/* ---- what was given -------------------------------------------------------------------------------------------- */

enum { SOTTO_MAX_OPTIONS = 64 };

typedef struct sotto_setting {
    const char *text;  /* NULL: not given                       */
    const char *where; /* "helper.ini:7", "SOTTO_LISTEN", "--listen" */
    bool in_file;
} sotto_setting;

typedef struct sotto_settings {
    sotto_serve_config *config; /* mistakes and memory are its */
    sotto_role role;            /* 0 until a section says      */
    const char *directory;      /* of the file, with its /      */
    sotto_setting of[SOTTO_MAX_OPTIONS];
} sotto_settings;

/* One more line of mistakes. No value of a secret or of a database's address may be in it. */
void sotto_settings_complain(sotto_settings *settings, const char *format, ...) SOTTO_PRINTF(2, 3);
/* A copy that lives as long as the configuration; NULL: out of memory, and complained. */
const char *sotto_settings_copy(sotto_settings *settings, const char *text, size_t len);
/* -1: there is no option of this name; `_` and `-` are the same. */
int sotto_option_find(const char *name, size_t len);

/* serve/host/options_file.c: the file's own settings.
 *   SOTTO_MISSING  it can't be read */
SOTTO_MUST_USE sotto_status sotto_settings_read_file(sotto_settings *settings, const char *path,
                                                     sotto_err *err);

bool sotto_option_is_for(const sotto_option *option, sotto_role role);
const char *sotto_option_preset(const sotto_option *option, sotto_role role);

#endif
