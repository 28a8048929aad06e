/* base/arena.h - a buffer from an arena, and an arena of a known size.
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

/* The small things that are taken next, `size` bytes in all with each rounded up to 64, share one block of just that size.
 * Without this call they share one of 16 KiB, too much for an arena that lives long and holds little. A size that is larger
 * changes nothing. False: there is no memory. */
SOTTO_MUST_USE bool sotto_arena_expect(sotto_arena *arena, size_t size);

#endif
