/* base/file.h - whole files: written so that a name never stands for half of one, and read up to a limit.
 *
 * Callers:  whoever keeps a file that must be whole after a crash or a power loss; the programs, for what they read.
 * Memory:   the caller's, or its arena.
 * Secrets:  none; base/secret_file.h has files that only their owner may read.
 */
#ifndef SOTTO_BASE_FILE_H
#define SOTTO_BASE_FILE_H

#include "sotto/base.h"

/* Called before each of SOTTO_FILE_STEPS steps, and once at the end. */
typedef void sotto_file_moment(void *context, unsigned step);
enum { SOTTO_FILE_STEPS = 5 };

/* What sotto_file_write adds to a name while it writes. A crash can leave such a file, and the next write replaces it. */
#define SOTTO_FILE_UNFINISHED ".new"

/* Writes path.new, syncs it, renames it to path, and syncs the directory. `at` is NULL except in tests. */
SOTTO_MUST_USE sotto_status sotto_file_write(const char *path, sotto_bytes bytes,
                                             sotto_file_moment *at, void *context, sotto_err *err);
/* The second half of that, for a file that somebody else wrote: syncs it, renames it to path, and syncs the directory. */
SOTTO_MUST_USE sotto_status sotto_file_settle(const char *from, const char *path, sotto_err *err);
/* Syncs a file, and its name in the directory. */
bool sotto_file_sync(const char *path);
/* All bytes, however often write(2) is interrupted. False: errno says why. */
bool sotto_file_put(int fd, sotto_bytes bytes);

/* All of it, in the arena.
 *   SOTTO_MISSING    there is no such file
 *   SOTTO_TOO_LARGE  it has more than `most` bytes */
SOTTO_MUST_USE sotto_status sotto_file_read(sotto_bytes *out, const char *path, uint64_t most,
                                            sotto_arena *arena, sotto_err *err);
/* Appends all of it to out. It may be a pipe. The reason is the bare cause: a caller puts the name before it.
 *   SOTTO_MISSING    there is no such file
 *   SOTTO_TOO_LARGE  it has more bytes than out has room for; out is full */
SOTTO_MUST_USE sotto_status sotto_file_append(sotto_buf *out, const char *path, sotto_err *err);
/* For whoever limits and parses it: up to `most` bytes and one more, in the arena. A longer file is no failure here: whoever reads it
 * sees that it is too long, and says so in its own words. */
SOTTO_MUST_USE sotto_status sotto_file_text(sotto_bytes *out, const char *path, size_t most,
                                            sotto_arena *arena, sotto_err *err);
/* As sotto_file_append, of an open file, which stays open. */
SOTTO_MUST_USE sotto_status sotto_file_append_open(sotto_buf *out, int fd, sotto_err *err);

#endif
