/* device/events/store.h - the events of one device: streams with a fixed schema, kept for a limited time.
 *
 * Callers:  the host application donates; the device room retains, forgets and queries (device/events/query.h).
 * Memory:   the store copies what it is given; rows handed to a callback live until it returns.
 * Threads:  a store belongs to one thread at a time.
 * Secrets:  every value and every event id. None appears in a reason.
 *
 * Events live in a file of their own, apart from the ledger, so that losing or forgetting them never gives
 * budget back. What retention and forgetting erase is gone from every byte of the database and its WAL.
 * Copies that a file system or a flash controller made below us are out of reach.
 */
#ifndef SOTTO_DEVICE_STORE_H
#define SOTTO_DEVICE_STORE_H

#include "query/vfs.h"
#include "sotto/device.h"

typedef struct sotto_store_options {
    const sotto_storage *storage; /* NULL: files of the default VFS          */
    const char *path;             /* NULL: in memory, gone with the store    */
    const sotto_stream *streams;
    size_t stream_count;
    uint64_t max_bytes; /* of all events together; 0: 64 MiB                 */
    int64_t now;        /* seconds since 1970: when a damaged file was found */
    struct sotto_store
        *spare; /* a blank one, taken over: the store if it fits, else closed. NULL: none */
} sotto_store_options;

typedef struct sotto_store sotto_store;

/* Opens or creates. Streams that are new are added; one that is known must have the same fields. Streams in
 * the file that are not named stay, under the retention they came with, and can't be queried.
 * A damaged file is renamed to path + ".corrupt" (an older one of that name is erased) and a fresh one is
 * opened: sotto_store_set_aside then tells. Its events fall under retention and forgetting too. A store that is open
 * meanwhile, in another process, goes on with the fresh file from its next call.
 *   SOTTO_MALFORMED  a name or schema is not valid
 *   SOTTO_DENIED     a stream is known with other fields
 */
SOTTO_MUST_USE sotto_status sotto_store_open(sotto_store **out, const sotto_store_options *options,
                                             sotto_err *err);
/* NULL is fine. */
void sotto_store_close(sotto_store *store);

/* For simulations: makes a store in memory what it was when it was opened, its connections and their compiled statements
 * apart. False: it can't be, and is to be closed. */
SOTTO_MUST_USE bool sotto_store_blank(sotto_store *store);

/* Whether this opening found the file damaged; where it is now. */
const char *sotto_store_set_aside(const sotto_store *store);

/* Adds events in one transaction, all or none, durable when it returns; *added (may be NULL) counts those
 * that were new. A stream far over max_rows, or a store over max_bytes, loses its oldest events at once.
 *   SOTTO_MISSING    no such stream
 *   SOTTO_MALFORMED  values don't fit the stream's fields; nothing was added
 *   SOTTO_TOO_LARGE  a text is longer than SOTTO_STORE_MAX_TEXT
 */
SOTTO_MUST_USE sotto_status sotto_store_donate(sotto_store *store, const sotto_event *events,
                                               size_t count, size_t *added, sotto_err *err);

SOTTO_MUST_USE sotto_status sotto_store_count(sotto_store *store, const char *stream,
                                              uint64_t *events, sotto_err *err);

/* Applies age, rows and size to every stream in the file and erases what goes. Events from the future (the
 * clock was set back) are taken to be from now, so that none outlives its time.
 *   SOTTO_AGAIN  rows are gone, but a reader kept old pages alive: call again
 */
SOTTO_MUST_USE sotto_status sotto_store_retain(sotto_store *store, int64_t now, sotto_err *err);

/* Erases one stream's events, or with NULL all of them; and a file that was set aside.
 *   SOTTO_AGAIN  as above
 */
SOTTO_MUST_USE sotto_status sotto_store_forget(sotto_store *store, const char *stream,
                                               sotto_err *err);

/* The person's own view: the newest events of a stream, newest first; values as its fields, then the time.
 * A status other than SOTTO_OK from the callback ends it. */
SOTTO_MUST_USE sotto_status sotto_store_show(sotto_store *store, const char *stream, uint64_t most,
                                             sotto_row_fn *row, void *context, sotto_err *err);

/* A number about the last tick, for a process that has seen none; 0: there is no such number. */
SOTTO_MUST_USE sotto_status sotto_store_note_tick(sotto_store *store, int64_t conditions,
                                                  sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_store_noted_tick(sotto_store *store, int64_t *conditions,
                                                   sotto_err *err);

#endif
