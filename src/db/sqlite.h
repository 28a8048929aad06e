/* db/sqlite.h - what the files of the SQLite driver share: opening, copying, sweeping the WAL, statements. */
#ifndef SOTTO_DB_SQLITE_H
#define SOTTO_DB_SQLITE_H

#include "db/driver.h"

#include <sqlite3.h>

/* The statements that make transactions, prepared once: parsing them would cost more than they do. */
enum {
    SOTTO_LITE_BEGIN,
    SOTTO_LITE_BEGIN_READ,
    SOTTO_LITE_COMMIT,
    SOTTO_LITE_ROLLBACK,
    SOTTO_LITE_MARK,
    SOTTO_LITE_KEEP,
    SOTTO_LITE_UNDO,
    SOTTO_LITE_FIXED
};

/* sqlite_sweep.c: copies the WAL on a thread and a connection of its own. */
typedef struct sotto_lite_sweeper sotto_lite_sweeper;

typedef struct sotto_lite {
    sotto_conn common;
    sqlite3 *db;
    sqlite3_stmt *fixed[SOTTO_LITE_FIXED];
    const sotto_clock *clock;
    uint64_t syncs;
    int wal_pages;               /* after the last commit             */
    int checkpoint;              /* pages that are copied in one go   */
    int tidy_at;                 /* pages that ask for it next time   */
    bool erased;                 /* by the transaction under way      */
    sotto_lite_sweeper *sweeper; /* the writer's; NULL: it copies by itself */
} sotto_lite;

sotto_status sotto_lite_connect(sotto_conn **out, const sotto_db_options *options, bool read_only,
                                sotto_err *err);
void sotto_lite_close(sotto_conn *conn);
sotto_status sotto_lite_backup(sotto_conn *conn, const char *path, sotto_err *err);

SOTTO_MUST_USE sotto_status sotto_lite_sweeper_open(sotto_lite_sweeper **out,
                                                    const sotto_db_options *options,
                                                    sotto_err *err);
/* NULL is fine. */
void sotto_lite_sweeper_close(sotto_lite_sweeper *sweeper);
void sotto_lite_sweeper_ask(sotto_lite_sweeper *sweeper);
/* Something was erased and committed: what the WAL still has of it is to be cut off. Cheap. */
void sotto_lite_sweeper_cut(sotto_lite_sweeper *sweeper);
/* Until it is not copying: two can't at once, and the second to try does nothing. */
void sotto_lite_sweeper_wait(sotto_lite_sweeper *sweeper);
/* True once after each time that it was asked and has come to the end; adds what it synced. */
bool sotto_lite_sweeper_done(sotto_lite_sweeper *sweeper, uint64_t *syncs);

/* The status that callers act on for SQLite's result code. */
sotto_status sotto_lite_status(int code);

#endif
