/* db/spool.h - bytes that come and go quickly, in a file beside an SQLite database, or in a directory of several processes.
 *
 *     PATH-bodies     blocks of 4 KiB; which of them are in use, the database's rows say
 *
 * Callers:  serve/ keeps the bodies of segments here, where SQLite would copy each of them several times.
 * Memory:   a spool is ours; a job and its bytes are their caller's until `done`.
 * Threads:  any may call; two threads of its own write and sync in turn, each for all that waits at once. With a VFS of
 *           somebody's own it is one.
 * Secrets:  none: what is put here was sealed.
 *
 * The order is what makes it safe. Bytes are synced here first, then a row that names their place is committed; a
 * place is given back only after the commit that removed its row. So a crash leaves bytes without a row, which the
 * next start never hears of, and no row without bytes. One process at a time has a spool: it is locked. Where several
 * processes share a directory, each begins with a file of its own (db/spool_shared.h).
 */
#ifndef SOTTO_DB_SPOOL_H
#define SOTTO_DB_SPOOL_H

#include "sotto/base.h"

typedef struct sotto_spool sotto_spool;

/* Less than SOTTO_SPOOL_LEAST goes with its row: another sync would cost more than the database's copies. */
enum { SOTTO_SPOOL_LEAST = 32 << 10 };
/* Of a place as a row has it: beside SQLite, and in a directory, where it also names the file. */
enum { SOTTO_SPOOL_BLOCK = 4096, SOTTO_SPOOL_PLACE_SIZE = 16, SOTTO_SPOOL_SHARED_PLACE_SIZE = 24 };

typedef struct sotto_spool_place {
    uint64_t block; /* the first                                       */
    uint64_t len;   /* bytes; 0: no place, and giving it back is fine */
    uint64_t file;  /* of a directory; 0: the one beside SQLite        */
} sotto_spool_place;

/* Returns the bytes that it wrote: one of the two sizes. */
size_t sotto_spool_place_write(uint8_t out[SOTTO_SPOOL_SHARED_PLACE_SIZE],
                               const sotto_spool_place *place);
SOTTO_MUST_USE sotto_status sotto_spool_place_read(sotto_spool_place *out, sotto_bytes wire,
                                                   sotto_err *err);

/* address: the database's, "sqlite:PATH"; *out stays NULL for any other, which needs no spool. vfs: NULL for the default.
 *   SOTTO_STALE  another process has it
 *   SOTTO_IO     it can't be opened
 */
SOTTO_MUST_USE sotto_status sotto_spool_open(sotto_spool **out, const char *address,
                                             const char *vfs, sotto_err *err);
/* A new file in a directory that other processes have too. file: a number that none of them has, and not 0.
 *   SOTTO_IO  it can't be made */
SOTTO_MUST_USE sotto_status sotto_spool_open_in(sotto_spool **out, const char *directory,
                                                uint64_t file, sotto_err *err);
/* Waits until what was posted is done. NULL is fine. */
void sotto_spool_settle(sotto_spool *spool);
/* What was posted is done first. In a directory, the file goes if nothing in it is in use. NULL is fine. */
void sotto_spool_close(sotto_spool *spool);

/* After opening, before anything is posted: a row names this place.
 *   SOTTO_MALFORMED  so does another; nothing of either is given away */
SOTTO_MUST_USE sotto_status sotto_spool_claim(sotto_spool *spool, const sotto_spool_place *place,
                                              sotto_err *err);
/* No row names it any more. Only after that commit. A place in another's file is left alone: no other start uses it again. */
void sotto_spool_give_back(sotto_spool *spool, const sotto_spool_place *place);

/* Called once, on a thread of the spool: hand on and return. */
typedef void sotto_spool_done(void *context, sotto_status status, const sotto_err *err);

typedef struct sotto_spool_piece {
    sotto_bytes bytes;
    sotto_spool_place place; /* filled in; after a failure none */
    const sotto_bytes *more; /* behind `bytes`, as if all were one */
    size_t more_count;
} sotto_spool_piece;

/* Zeroed but for the first four; stays untouched until `done` is called. */
typedef struct sotto_spool_job {
    sotto_spool_piece *pieces;
    size_t count;
    sotto_spool_done *done;
    void *context;
    struct sotto_spool_job *next; /* the rest is the spool's */
    sotto_status status;
    sotto_err err;
} sotto_spool_job;

/* Finds places, writes the pieces and syncs them; then calls done. All pieces, or none. */
void sotto_spool_post(sotto_spool *spool, sotto_spool_job *job);

/* Appends place->len bytes, from another process' file too. SOTTO_MALFORMED: the file ends before them. */
SOTTO_MUST_USE sotto_status sotto_spool_get(sotto_spool *spool, sotto_buf *out,
                                            const sotto_spool_place *place, sotto_err *err);

/* Since it was opened. */
uint64_t sotto_spool_syncs(sotto_spool *spool);

#endif
