/* learn/file.h - whole files: written so that a name never stands for half of one, and read up to a limit. */
#ifndef SOTTO_LEARN_FILE_H
#define SOTTO_LEARN_FILE_H

#include "sotto/base.h"

/* Called before each of SOTTO_FILE_STEPS steps, and once at the end. */
typedef void sotto_file_moment(void *context, unsigned step);
enum { SOTTO_FILE_STEPS = 5 };

/* Writes path.new, syncs it, renames it to path, and syncs the directory. */
SOTTO_MUST_USE sotto_status sotto_file_write(const char *path, sotto_bytes bytes,
                                             sotto_file_moment *at, void *context, sotto_err *err);
/* All of it, in the arena.
 *   SOTTO_MISSING    there is no such file
 *   SOTTO_TOO_LARGE  it has more than `most` bytes */
SOTTO_MUST_USE sotto_status sotto_file_read(sotto_bytes *out, const char *path, uint64_t most,
                                            sotto_arena *arena, sotto_err *err);

#endif
