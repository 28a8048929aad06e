/* base/arena.h - a buffer from an arena.
 *
 * Callers:  everyone who encodes a message of a size that is known when the program runs.
 * Memory:   the arena's: the buffer ends with it.
 */
#ifndef SOTTO_BASE_ARENA_H
#define SOTTO_BASE_ARENA_H

#include "sotto/base.h"

/* An empty buffer with room for `size` bytes. Its data is not NULL, even where size is 0.
 *   SOTTO_NO_MEMORY  the arena has reached its ceiling, or the machine has no memory; out then has no room */
SOTTO_MUST_USE sotto_status sotto_buf_take(sotto_buf *out, sotto_arena *arena, size_t size,
                                           sotto_err *err);

#endif
