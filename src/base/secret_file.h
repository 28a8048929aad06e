/* base/secret_file.h - files that hold secrets, which others than their owner must not read.
 *
 * Callers:  `sotto collect` for its tokens and key, servers for the datastore key and TLS's private key, every verb
 *           that makes a key.
 * Memory:   the caller's; nothing is kept.
 * Secrets:  what is read or written; the caller wipes it.
 *
 * A file that others may read has been read, for all we know: better to refuse it on the first day than to serve with it.
 */
#ifndef SOTTO_BASE_SECRET_FILE_H
#define SOTTO_BASE_SECRET_FILE_H

#include "sotto/base.h"

#include <sys/stat.h>
#include <sys/types.h>

typedef enum sotto_secret_readers {
    SOTTO_SECRET_OWN, /* the owner alone: 0600 or less; or a pipe with such a mode, as every one that has no name */
    SOTTO_SECRET_GIVEN /* also what another user, or root, gave to our group: 0640 or less. systemd's credentials look like
                          this, root's with an ACL, whose mask shows as the group's bits               */
} sotto_secret_readers;

/* Whether a file with these facts may hold a secret of the user `me`. The reason names no file.
 *   SOTTO_DENIED  others may read or write it
 *   SOTTO_IO      it is no file, but a directory for example
 */
SOTTO_MUST_USE sotto_status sotto_secret_file_judge(const struct stat *facts, uid_t me,
                                                    sotto_secret_readers readers, sotto_err *err);

/* The same of the file of that path, for us.
 *   SOTTO_MISSING  there is nothing of that name
 *   SOTTO_IO       also: it can't be looked at
 */
SOTTO_MUST_USE sotto_status sotto_secret_file_check(const char *path, sotto_secret_readers readers,
                                                    sotto_err *err);

/* Appends all of it to out, through no other buffer, if it is private. A pipe's writer is waited for, and it is empty afterwards;
 * "/dev/stdin" is whatever this process got.
 *   SOTTO_TOO_LARGE  it fills out, or more
 */
SOTTO_MUST_USE sotto_status sotto_secret_file_read(sotto_buf *out, const char *path,
                                                   sotto_secret_readers readers, sotto_err *err);

/* Makes a new file for its owner alone, and syncs it and its name. The reason does not name it.
 *   SOTTO_STALE  there is one of that name, which stays
 */
SOTTO_MUST_USE sotto_status sotto_secret_file_write(const char *path, sotto_bytes bytes,
                                                    sotto_err *err);

#endif
