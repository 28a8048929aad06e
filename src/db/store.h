/* db/store.h - functions that run in transactions, on SQLite or PostgreSQL.
 *
 *     static sotto_status put_report(sotto_tx *tx, void *context, sotto_err *err);
 *     SOTTO_TRY(sotto_db_run(db, put_report, &report, err));     returns when it is on disk
 *
 * Callers:  serve/. Its stores are verbs that take a sotto_tx (db/sql.h) and are called inside such functions.
 * Memory:   a store and its connections are ours; a job is its caller's and nothing is copied from it.
 * Threads:  any number of threads may call. The store has threads of its own: one that writes (SQLite), or one
 *           for each connection and one that listens (PostgreSQL).
 * Secrets:  the address may hold a password: it is never shown. Keep passwords in a file that libpq reads.
 *
 * (The event store of a device is called sotto_store, and one program may hold both: hence the name.)
 *
 * A function may run more than once, on conflict or when a connection is lost, and then runs from its start with
 * the same context. So it sets its outputs rather than adding to them, and does nothing outside the database. It
 * returns SOTTO_OK to commit and anything else to leave no trace; that status comes back to the caller. It does not
 * compute: others wait, and PostgreSQL ends a transaction in which nothing was asked for 10 seconds.
 *
 * SQLite: one thread runs all waiting functions in one transaction, each in a savepoint, and syncs once for all.
 * One that fails takes nothing of the others with it. Nobody is told before the sync. PostgreSQL: each function
 * is a transaction, READ COMMITTED: rows that a decision depends on are read with {lock}, or changed by one
 * statement that names what it expects (docs/decisions/0031).
 */
#ifndef SOTTO_DB_STORE_H
#define SOTTO_DB_STORE_H

#include "base/clock.h"
#include "db/sql.h"
#include "sotto/log.h"

typedef struct sotto_db sotto_db;

typedef sotto_status sotto_db_fn(sotto_tx *tx, void *context, sotto_err *err);

typedef struct sotto_db_options {
    /* "sqlite:PATH", or whatever libpq takes: "postgresql://...", "host=... dbname=..." */
    const char *address;
    const char *vfs; /* SQLite: registered with it; NULL: the default one           */
    unsigned
        checkpoint_pages; /* SQLite: pages in the WAL that are copied in one go; 0: 16,384, 64 MiB */
    unsigned erase_ms;    /* SQLite: how soon what was erased is out of the WAL too; 0: 10 s */
    unsigned writers;     /* PostgreSQL: connections that write, opened when they have work; 0: 8 */
    unsigned readers;     /* connections that only read, opened when first used; 0: 2    */
    unsigned patience_ms;      /* how long conflicts and lost connections are retried; 0: 10 s */
    const sotto_clock *clock;  /* SQLite's {now}; NULL: the system's. PostgreSQL has its own  */
    const sotto_log_sink *log; /* NULL: silence                                               */
} sotto_db_options;

/*   SOTTO_MALFORMED  the address is neither, or the file is not a database
 *   SOTTO_DENIED     the server would not sync what it commits
 *   SOTTO_IO         no such server, or no such directory
 */
SOTTO_MUST_USE sotto_status sotto_db_open(sotto_db **out, const sotto_db_options *options,
                                          sotto_err *err);
/* Runs what was posted to its end first. No other thread may be inside a call or make one. NULL is fine. */
void sotto_db_close(sotto_db *db);

/* Runs fn in a transaction and returns when it is durable. Neither this nor sotto_db_read may be called from
 * inside a function or a `done`: SOTTO_BUG, since it would wait for itself.
 *   SOTTO_IO  also: patience has ended. The last attempt's commit may still be found to have happened.
 *   others    what fn returned
 */
SOTTO_MUST_USE sotto_status sotto_db_run(sotto_db *db, sotto_db_fn *fn, void *context,
                                         sotto_err *err);

/* Called once, on a thread of the store, which waits for it: hand on and return. It may post. */
typedef void sotto_db_done(void *context, sotto_status status, const sotto_err *err);

/* Zeroed but for the first four; stays where it is, untouched, until `done` is called. */
typedef struct sotto_db_job {
    sotto_db_fn *fn;
    void *context;
    sotto_db_done *done;
    void *done_context;
    struct sotto_db_job *next; /* the rest is the store's */
    sotto_status status;
    sotto_err err;
} sotto_db_job;

/* The same without waiting; it can't fail, and jobs of one thread start in the order of its calls. How many are
 * under way is for the caller to limit. */
void sotto_db_post(sotto_db *db, sotto_db_job *job);

/* Runs fn on a connection that can't write, over one snapshot, beside whatever is being written. */
SOTTO_MUST_USE sotto_status sotto_db_read(sotto_db *db, sotto_db_fn *fn, void *context,
                                          sotto_err *err);

/* ---- wake-ups: hints, so that nobody polls; a short timer stands behind each ------------------------------ */

enum { SOTTO_DB_CHANNELS = 16, SOTTO_DB_CHANNEL_NAME = 32 };

/* Once this transaction has committed, those who wait on the channel wake, in every process over the same
 * PostgreSQL database, or in this one (SQLite). At most four channels a function; further ones are SOTTO_BUG. */
SOTTO_MUST_USE sotto_status sotto_tx_wake(sotto_tx *tx, const char *channel, sotto_err *err);

/* Whether a statement of this transaction has failed. Then none runs any more, and whoever goes on is told of that failure again
 * and again, whatever they ask for. */
bool sotto_tx_has_failed(sotto_tx *tx);

/* What to wait beyond: read it, look for work, and wait if there is none. No wake-up in between is lost. */
uint64_t sotto_db_woken(sotto_db *db, const char *channel);
/* True when the channel has been woken beyond `seen`; false when the time is up, or the store closes. */
bool sotto_db_wait(sotto_db *db, const char *channel, uint64_t seen, unsigned timeout_ms);
/* Wakes the channel in this process, outside any transaction. */
void sotto_db_wake(sotto_db *db, const char *channel);

/* ---- maintenance -------------------------------------------------------------------------------------------- */

typedef struct sotto_db_stats {
    uint64_t functions;    /* that were committed                                      */
    uint64_t failed;       /* that returned something else                             */
    uint64_t transactions; /* that were committed                                      */
    uint64_t
        syncs; /* SQLite: of any file, for commits and checkpoints. PostgreSQL: 0, ask the server */
    uint64_t retries;    /* functions run again                                      */
    uint64_t reconnects; /* connections made anew                                    */
    uint64_t largest;    /* functions in one transaction                             */
    uint64_t waiting;    /* functions posted and not yet started                     */
} sotto_db_stats;

void sotto_db_stats_get(sotto_db *db, sotto_db_stats *out);

/* "sqlite" or "postgres". */
const char *sotto_db_kind(const sotto_db *db);

/* Writes a consistent copy beside the work in progress, readable by its owner alone.
 *   SOTTO_STALE   the file exists; it is not replaced
 *   SOTTO_DENIED  PostgreSQL: pg_dump is the tool for that (docs/decisions/0031)
 */
SOTTO_MUST_USE sotto_status sotto_db_backup(sotto_db *db, const char *path, sotto_err *err);

#endif
