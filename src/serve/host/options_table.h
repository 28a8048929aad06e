/* serve/host/options_table.h - the table itself, for those who parse and those who print. */
#ifndef SOTTO_SERVE_HOST_OPTIONS_TABLE_H
#define SOTTO_SERVE_HOST_OPTIONS_TABLE_H

#include "serve/host/options.h"

/* Every option that this program has: the host's, then each service's. */
typedef struct sotto_option_row {
    const sotto_option *option;   /* NULL: behind the last */
    const sotto_service *service; /* NULL: the host's      */
} sotto_option_row;

sotto_option_row sotto_option_at(size_t i);
bool sotto_option_is_for(const sotto_option_row *row, const sotto_service *service);

/* The default as this service has it; NULL: none. */
enum { SOTTO_PRESET = 80 };
const char *sotto_option_preset(char out[SOTTO_PRESET], const sotto_option *option,
                                const sotto_service *service);

/* Where an option of this name stands: this service's or the host's if one of them has it, else another service's.
 * -1: nobody has it; `_` and `-` are the same. */
int sotto_option_find(const sotto_service *service, const char *name, size_t len);

/* ---- what was given -------------------------------------------------------------------------------------------- */

enum { SOTTO_MAX_OPTIONS = 256 }; /* of all services */

typedef struct sotto_setting {
    const char *text;  /* NULL: not given                       */
    const char *where; /* "helper.ini:7", "SOTTO_LISTEN", "--listen" */
    bool in_file;
} sotto_setting;

typedef struct sotto_settings {
    sotto_serve_config *config;   /* mistakes and memory are its */
    const sotto_service *service; /* NULL until a section says */
    const char *directory;        /* of the file, with its /      */
    sotto_setting of[SOTTO_MAX_OPTIONS];
} sotto_settings;

/* One more line of mistakes. No value of a secret or of a database's address may be in it. */
void sotto_settings_complain(sotto_settings *settings, const char *format, ...) SOTTO_PRINTF(2, 3);
/* A copy that lives as long as the configuration; NULL: out of memory, and complained. */
const char *sotto_settings_copy(sotto_settings *settings, const char *text, size_t len);
/* serve/host/options_file.c: the file's own settings.
 *   SOTTO_MISSING  it can't be read */
SOTTO_MUST_USE sotto_status sotto_settings_read_file(sotto_settings *settings, const char *path,
                                                     sotto_err *err);

#endif
