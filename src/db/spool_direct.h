/* db/spool_direct.h - the spool's way to the disk past the page cache, where the file system has one.
 *
 * Callers:  db/spool.c alone, on its own threads, and for SQLite's own VFS alone: a VFS that stands in for a disk sees every write.
 * Memory:   a block of 2 MiB for each of the spool's threads, in which pieces are joined.
 * Secrets:  none: what is put here was sealed.
 *
 * A body is written once and nearly never read. Through the page cache each of its pages is found, locked, copied to and marked,
 * and marked again when it is written. Syncing is still the VFS's: it syncs the file, however its bytes came.
 */
#ifndef SOTTO_DB_SPOOL_DIRECT_H
#define SOTTO_DB_SPOOL_DIRECT_H

#include "sotto/base.h"

enum { SOTTO_SPOOL_DIRECT_BLOCK = 2 << 20 };

typedef struct sotto_spool_direct {
    int fd;         /* -1: none */
    bool on;        /* false: the VFS writes */
    bool shares;    /* the descriptor is another's */
    uint8_t *block; /* aligned as the disk wants it */
} sotto_spool_direct;

/* Only after the VFS has locked the file. d->on says whether the file system can do it. */
void sotto_spool_direct_open(sotto_spool_direct *d, const char *path);
/* For one more thread: a block of its own, the descriptor of `of`, which is closed after it. */
void sotto_spool_direct_share(sotto_spool_direct *d, const sotto_spool_direct *of);
/* When nothing is written any more, and before the VFS unlocks the file. POSIX locks of a process end with the first descriptor of the
 * file that it closes. While the VFS counts its lock as held, no other spool of this process takes one that could end so. */
void sotto_spool_direct_close(sotto_spool_direct *d);

/* Whole blocks of 4 KiB out of d->block, from `at` on.
 *   SOTTO_MISSING  the file system can't do it after all: nothing was written, and the VFS writes from now on
 *   SOTTO_IO       the disk failed or is full */
SOTTO_MUST_USE sotto_status sotto_spool_direct_write(sotto_spool_direct *d, size_t len, uint64_t at,
                                                     sotto_err *err);

#endif
