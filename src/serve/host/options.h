/* serve/host/options.h - what an operator may set: one table behind the parser, --help, the sample file and docs/serving.md.
 *
 * Callers:  `sotto serve` and `sotto admin`; tests.
 * Memory:   texts live in the configuration until it is cleared.
 * Threads:  nothing is shared.
 * Secrets:  none: options name the files that hold them. Values of such options never appear in a mistake.
 *
 * Flags win over the environment (SOTTO_LISTEN, ...), which wins over the file. Mistakes of all three are reported
 * together. A relative name in the file starts from the file's own directory, so that every program that is given the
 * file, from wherever, means the same database.
 */
#ifndef SOTTO_SERVE_HOST_OPTIONS_H
#define SOTTO_SERVE_HOST_OPTIONS_H

#include "serve/host/host.h"

enum { SOTTO_CONFIG_MISTAKES = 8192 };

typedef struct sotto_serve_config {
    const sotto_service *service;
    sotto_host_options host;
    void *own; /* the service's: config_size bytes in the arena */
    uint64_t drain_seconds;
    sotto_log_level log_level;
    size_t mistake_count;
    char mistakes[SOTTO_CONFIG_MISTAKES]; /* a line each                     */
    sotto_arena arena;
} sotto_serve_config;

typedef struct sotto_config_sources {
    const sotto_service *service; /* NULL: the one whose section the file has    */
    const char *file;             /* NULL: none                                  */
    int argc;                     /* of the flags alone: --listen 127.0.0.1:1 ... */
    char **argv;
    const char *(*environment)(const char *name); /* NULL: none */
} sotto_config_sources;

/*   SOTTO_MISSING    the file can't be read
 *   SOTTO_MALFORMED  config->mistakes says what is wrong, all of it
 */
SOTTO_MUST_USE sotto_status sotto_serve_config_read(sotto_serve_config *config,
                                                    const sotto_config_sources *from,
                                                    sotto_err *err);
void sotto_serve_config_clear(sotto_serve_config *config);

/* Appends what --help says of the options, a complete sample file, or docs/serving.md. */
SOTTO_MUST_USE sotto_status sotto_serve_options_help(sotto_buf *out, const sotto_service *service,
                                                     sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_serve_options_sample(sotto_buf *out, const sotto_service *service,
                                                       sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_serve_options_reference(sotto_buf *out, sotto_err *err);

#endif
