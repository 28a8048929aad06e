/* tlog/files.h - the files of a log, and when they are safe.
 *
 * Callers:  tlog/store.c; serve/ for files that are read whole or replaced as a whole.
 * Memory:   the caller's.
 */
#ifndef SOTTO_TLOG_FILES_H
#define SOTTO_TLOG_FILES_H

#include "sotto/base.h"

enum { SOTTO_LOG_PATH = 4096, SOTTO_LOG_UNSYNCED = 64 };

/* Appends all of a file. SOTTO_MISSING: there is none. SOTTO_TOO_LARGE: it has more bytes than there is room for. */
SOTTO_MUST_USE sotto_status sotto_log_file_read(sotto_buf *out, const char *directory,
                                                const char *name, sotto_err *err);
/* Replaces a file of the directory: afterwards it is the old one or the new one, after a power loss too. */
SOTTO_MUST_USE sotto_status sotto_log_file_replace(const char *directory, const char *name,
                                                   sotto_bytes bytes, sotto_err *err);

/* Files that were written and may not be on disk yet. */
typedef struct sotto_log_files {
    const char *directory;
    size_t count;
    int fds[SOTTO_LOG_UNSYNCED];
    char last[SOTTO_LOG_PATH]; /* one of the last directory that got a file */
} sotto_log_files;

/* Writes a file below the directory, and makes the folders on its way. */
SOTTO_MUST_USE sotto_status sotto_log_files_write(sotto_log_files *files, const char *path,
                                                  sotto_bytes bytes, sotto_err *err);
/* What was written is on disk when this returns. */
SOTTO_MUST_USE sotto_status sotto_log_files_sync(sotto_log_files *files, sotto_err *err);
void sotto_log_files_drop(sotto_log_files *files); /* closes them */

/* Removes DIR/path and the files in it, as far as possible: once a tile is whole, its partial ones are not
 * needed. */
void sotto_log_folder_remove(const char *directory, const char *path);

#endif
