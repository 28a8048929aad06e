/* query/sqlite.h - SQLite as the device opens it: private, durable, distrustful of its own file.
 *
 * Callers:  the event store, the query runner, lint, the ledger. Nobody else calls sqlite3_open.
 * Threads:  a connection belongs to one thread at a time.
 * Secrets:  reasons carry SQLite's fixed texts and names from the schema, never a value.
 */
#ifndef SOTTO_QUERY_SQLITE_H
#define SOTTO_QUERY_SQLITE_H

#include "base/sqlite_status.h"
#include "query/vfs.h"

#include <sqlite3.h>

/* Who wrote the file, in its header: the ledger never opens an event file, nor the other way round. */
#define SOTTO_SQLITE_EVENTS 0x736f7445 /* "sotE" */
#define SOTTO_SQLITE_LEDGER 0x736f744c /* "sotL" */
#define SOTTO_SQLITE_DUTIES 0x736f7444 /* "sotD" */

/* What a connection may hold at once, in bytes of one value or row. */
#define SOTTO_SQLITE_MAX_VALUE (64 * 1024)

typedef struct sotto_sqlite_options {
    const sotto_storage *storage; /* NULL: files of the default VFS                              */
    const char *path;             /* "/name" with memory set                                     */
    int application;              /* SOTTO_SQLITE_EVENTS, _LEDGER or _DUTIES                     */
    int version;                  /* of the schema; newer files are refused                      */
    int max_value;                /* bytes of one value or row; 0: SOTTO_SQLITE_MAX_VALUE        */
    bool memory;                  /* lives in this process only, shared by connections of a name */
    bool read_only;
    bool must_exist; /* a file that is missing is SOTTO_MISSING, not created                 */
    bool unclaimed;  /* in memory: sotto_sqlite_claim, or a copy of another, gives it a header */
} sotto_sqlite_options;

/* A name for a store in memory that no other store of this process has. */
void sotto_sqlite_memory_name(char *out, size_t size);

/* Opens path, creating it with mode 0600, in WAL mode with synchronous=EXTRA and secure_delete on. A new file
 * has application and version written to its header and nothing else.
 *   SOTTO_MALFORMED  not a database, or a damaged one
 *   SOTTO_DENIED     a database, but not of this application
 *   SOTTO_MISSING    must_exist, and it does not
 *   SOTTO_STALE      written by a newer version
 */
SOTTO_MUST_USE sotto_status sotto_sqlite_open(sqlite3 **out, const sotto_sqlite_options *options,
                                              sotto_err *err);
/* Writes application and version. */
SOTTO_MUST_USE sotto_status sotto_sqlite_claim(sqlite3 *db, const sotto_sqlite_options *options,
                                               sotto_err *err);
/* For a reader that was opened with these options and used. Its limits are as they were then, the schema is read again
 * if it changed, and the file's identity is checked again.
 *   SOTTO_MISSING  the file was moved or replaced since, or the VFS can't tell
 */
SOTTO_MUST_USE sotto_status sotto_sqlite_renew(sqlite3 *db, const sotto_sqlite_options *options,
                                               sotto_err *err);
/* NULL is fine. The file stays open until the last statement is finalised. */
void sotto_sqlite_close(sqlite3 *db);

/* Whether the file that is open is the one that has its name now; what is written to a replaced file is lost when its
 * last user closes it. If a host's VFS can't tell, the file counts as in place. Not for stores in memory. */
bool sotto_sqlite_in_place(sqlite3 *db);

/* Reads every page; SOTTO_MALFORMED if one is damaged. */
SOTTO_MUST_USE sotto_status sotto_sqlite_check(sqlite3 *db, sotto_err *err);

/* Fails with `what` and SQLite's fixed text for the code. */
sotto_status sotto_sqlite_fail(sotto_err *err, int code, const char *what);

SOTTO_MUST_USE sotto_status sotto_sqlite_run(sqlite3 *db, const char *sql, const char *what,
                                             sotto_err *err);
/* A statement that is kept, or one that is run a few times at most and compiles quicker. */
SOTTO_MUST_USE sotto_status sotto_sqlite_prepare(sqlite3 *db, sqlite3_stmt **out, const char *sql,
                                                 const char *what, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_sqlite_prepare_once(sqlite3 *db, sqlite3_stmt **out,
                                                      const char *sql, const char *what,
                                                      sotto_err *err);
/* The first column of the first row, as an integer; 0 where there is no row. */
SOTTO_MUST_USE sotto_status sotto_sqlite_number(sqlite3 *db, int64_t *out, const char *sql,
                                                const char *what, sotto_err *err);
/* Steps a statement that yields no rows and resets it, whatever happens. */
SOTTO_MUST_USE sotto_status sotto_sqlite_done(sqlite3_stmt *statement, const char *what,
                                              sotto_err *err);

/* Whether a commit is on the disk when it returns, as it is from the beginning. One that is not may be lost with the
 * power, but never in part, nor without those after it; whatever is moved into the database is synced before. */
SOTTO_MUST_USE sotto_status sotto_sqlite_wait(sqlite3 *db, bool wait, sotto_err *err);

/* Whatever was read so far, also of another process's commit that was not waited for, is on the disk when it returns. */
SOTTO_MUST_USE sotto_status sotto_sqlite_sync(sqlite3 *db, sotto_err *err);

/* Takes back a transaction that could not be finished. */
void sotto_sqlite_rollback(sqlite3 *db);

/* Moves the WAL into the database and cuts it to nothing, so that no erased text lingers there.
 *   SOTTO_AGAIN  somebody is reading; the WAL stays for now
 */
SOTTO_MUST_USE sotto_status sotto_sqlite_truncate_wal(sqlite3 *db, sotto_err *err);

/* Whether database and WAL together, as committed, take no more bytes than these on the disk; false if that can't be
 * known now. What is in use can be less, never more. A store in memory has no WAL. */
bool sotto_sqlite_smaller(sqlite3 *db, bool memory, uint64_t bytes);

#endif
