/* base/alloc.h - the one place that asks the machine for memory.
 *
 * Callers:  arenas, and the few objects with a lifetime of their own (new/free).
 * Tests make the n-th allocation fail through sotto_alloc_fail_after.
 */
#ifndef SOTTO_BASE_ALLOC_H
#define SOTTO_BASE_ALLOC_H

#include "sotto/base.h"

/* Zeroed, aligned to 64 bytes; NULL when there is none. */
SOTTO_MUST_USE void *sotto_alloc(size_t size);
/* A block of `room` items of `size` bytes in place of `old`, which had room for `before`, with the first `count` of them. The old
 * one is released. NULL: there is no memory, and the old one stays. */
SOTTO_MUST_USE void *sotto_alloc_grow(void *old, size_t before, size_t count, size_t room,
                                      size_t size);
/* Wipes size bytes first: all, or as many as were ever written. NULL is fine. */
void sotto_release(void *memory, size_t size);
/* As above, of a block in which every byte is 0: none is written again. */
void sotto_release_wiped(void *memory, size_t size);

/* For a process that moves blocks between threads for days. Up to `most` bytes of released large blocks are kept for the
 * next caller that wants one of that size; the others go back to the system. Eight MiB of small blocks are kept beside
 * them. Left to itself, the C library would spread ever more of them over its threads' heaps. To get each anew takes
 * longer than most of them are used for. 0: none are kept from now on. No use under sanitizers, which want to see each
 * block go. */
void sotto_alloc_keep_blocks(size_t most);

/* One of those that are kept, of this size; NULL: there is none. So it is memory that the process has anyway. It may hold what
 * was sealed and released as such, and is not zeroed: it is released with this very size. */
SOTTO_MUST_USE void *sotto_alloc_kept(size_t size);
/* As sotto_release, of bytes that are no secret, sealed ones for example: they are not wiped. */
void sotto_release_sealed(void *memory, size_t size);

/* The (n+1)-th allocation from now fails, and every later one; negative: none does. For tests. */
void sotto_alloc_fail_after(long n);
/* Every allocation of exactly this size fails, in whichever thread; 0: none does. For tests that mean one kind of object
 * in a process of many threads. */
void sotto_alloc_fail_size(size_t size);

#endif
