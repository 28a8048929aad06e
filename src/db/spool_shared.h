/* db/spool_shared.h - spools of several processes over one database: a directory that all of them see, and a file of each.
 *
 *     DIRECTORY/bodies-0123456789abcdef     the process' own number
 *
 * Callers:  db/spool.c; serve/ sweeps when a leader starts.
 * Memory:   none is kept.
 * Secrets:  none: what is put here was sealed.
 *
 * Only the process that made a file writes it, and a process that starts makes a new one. So nobody has to know which places of another's
 * file are free. A row names the file, and whoever takes the row over reads it there. A file whose process is gone stays until no row
 * names it.
 */
#ifndef SOTTO_DB_SPOOL_SHARED_H
#define SOTTO_DB_SPOOL_SHARED_H

#include "db/spool.h"

enum { SOTTO_SPOOL_PATH = 600 };

/* The path of a file. SOTTO_MALFORMED: it is too long. */
SOTTO_MUST_USE sotto_status sotto_spool_shared_path(char out[SOTTO_SPOOL_PATH],
                                                    const char *directory, uint64_t file,
                                                    sotto_err *err);
/* Makes it, readable by its owner alone, and syncs its name. While *fd is open, it is not swept.
 *   SOTTO_IO  it can't be made, or is there already: what other rows name must not be written over */
SOTTO_MUST_USE sotto_status sotto_spool_shared_make(int *fd, const char *path, sotto_err *err);
/* Appends what is at a place of any process' file.
 *   SOTTO_MALFORMED  the file ends before it
 *   SOTTO_IO         the file is not there, or can't be read */
SOTTO_MUST_USE sotto_status sotto_spool_shared_read(sotto_buf *out, const char *directory,
                                                    const sotto_spool_place *place, sotto_err *err);

/* Whether a row names this file. A failure counts as one that does. */
typedef bool sotto_spool_shared_named(void *context, uint64_t file);

/* Removes files of processes that are gone which no row names. What was written within SOTTO_SPOOL_SWEEP_AFTER seconds stays: a
 * transaction of a process that was killed may still be under way. Returns how many. */
enum { SOTTO_SPOOL_SWEEP_AFTER = 3600 };
size_t sotto_spool_shared_sweep(const char *directory, uint64_t own,
                                sotto_spool_shared_named *named, void *context);

#endif
