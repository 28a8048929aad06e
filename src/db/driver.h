/* db/driver.h - what a database must offer so that db/store.c can run functions on it.
 *
 * Callers:  db/ alone: store.c, sql.c, migrate.c. sqlite.c and postgres.c implement it.
 * Memory:   a connection owns its statements.
 * Threads:  a connection belongs to one thread at a time.
 *
 * A driver's own structs begin with the common ones below.
 */
#ifndef SOTTO_DB_DRIVER_H
#define SOTTO_DB_DRIVER_H

#include "db/store.h"

/* What a failure means for the functions of the transaction. */
typedef enum sotto_trouble {
    SOTTO_TROUBLE_NONE,
    SOTTO_TROUBLE_FAILED,   /* this function's own: a constraint, a mistake, no memory     */
    SOTTO_TROUBLE_BROKEN,   /* the same, and it took the whole transaction with it         */
    SOTTO_TROUBLE_CONFLICT, /* another transaction was in the way: run it again            */
    SOTTO_TROUBLE_LOST,     /* the connection is gone: make another and run it again       */
} sotto_trouble;

enum { SOTTO_STATEMENT_BUCKETS = 64, SOTTO_STATEMENTS = 256, SOTTO_TX_WAKES = 4 };

struct sotto_conn;

/* Common to the statements of all drivers. */
typedef struct sotto_statement {
    struct sotto_conn *conn;
    struct sotto_statement *next; /* in its bucket */
    char *text;                   /* as the caller wrote it */
    size_t text_size;
    uint64_t hash;
    uint64_t use; /* counts prepares: older handles are refused */
    unsigned parameters;
    unsigned columns, rows; /* of many rows; else 0                             */
    unsigned upcoming;      /* of their values: the number of the one to bind */
    bool in_use;            /* prepared since the last refresh */
    bool misused;           /* a bind was out of range         */
    bool on_row;
} sotto_statement;

typedef struct sotto_driver sotto_driver;

/* What a function sees as sotto_tx is its connection. */
typedef struct sotto_conn {
    const sotto_driver *driver;
    sotto_trouble trouble; /* the first one since begin or undo */
    sotto_status status;   /* ... and what it was               */
    char reason[160];
    bool clashed; /* it was a row that is there already */
    sotto_statement *buckets[SOTTO_STATEMENT_BUCKETS];
    size_t statements;
    char wakes[SOTTO_TX_WAKES][SOTTO_DB_CHANNEL_NAME];
    size_t wake_count;
} sotto_conn;

/* The words in braces of db/sql.h. */
typedef struct sotto_dialect {
    const char *word;
    const char *meaning;
} sotto_dialect;

typedef enum sotto_column_type {
    SOTTO_COLUMN_NULL,
    SOTTO_COLUMN_INT,
    SOTTO_COLUMN_BYTES,
    SOTTO_COLUMN_TEXT
} sotto_column_type;

typedef struct sotto_cell {
    sotto_column_type type;
    int64_t number;
    sotto_bytes bytes; /* of text too, followed by a NUL */
} sotto_cell;

struct sotto_driver {
    const char *name;
    const sotto_dialect *dialect; /* ends with a NULL word */
    const char *find_table;       /* a query: one row if the table named ?1 is there */
    char placeholder;             /* '?' or '$'            */
    const char *guards
        [2]; /* queries that take lock ?1, shared and exclusive, until the transaction's end; NULL: one
                            * writer at a time, and no need for any */
    bool asks_twice; /* ON CONFLICT looks each row up twice */
    bool arrays;  /* many rows are bound as an array for each column: see sotto_statement.columns */
    size_t group; /* functions that one transaction may hold; 1: no savepoints */

    sotto_status (*connect)(sotto_conn **out, const sotto_db_options *options, bool read_only,
                            sotto_err *err);
    void (*close)(sotto_conn *conn);
    /* Makes a lost connection anew; its statements are gone. */
    sotto_status (*reconnect)(sotto_conn *conn, sotto_err *err);

    sotto_status (*begin)(sotto_conn *conn, bool read_only, sotto_err *err);
    sotto_status (*commit)(sotto_conn *conn, sotto_err *err);
    /* After a commit whose answer was lost, on a new connection: did it happen? NULL: answers can't be lost. */
    sotto_status (*resolve)(sotto_conn *conn, bool *committed, sotto_err *err);
    void (*rollback)(sotto_conn *conn);
    /* One function's part of a transaction. */
    sotto_status (*mark)(sotto_conn *conn, sotto_err *err);
    sotto_status (*keep)(sotto_conn *conn, sotto_err *err);
    sotto_status (*undo)(sotto_conn *conn, sotto_err *err);

    /* Several statements without parameters, translated. */
    sotto_status (*script)(sotto_conn *conn, const char *sql, sotto_err *err);
    /* Nobody else passes here until the transaction has ended. */
    sotto_status (*exclude)(sotto_conn *conn, sotto_err *err);
    /* Tells other processes when the transaction commits; NULL: there are none. */
    sotto_status (*notify)(sotto_conn *conn, const char *channel, sotto_err *err);

    /* `sql` is translated; sql.c fills in the common part. */
    sotto_status (*prepare)(sotto_conn *conn, sotto_statement **out, const char *sql,
                            unsigned parameters, sotto_err *err);
    void (*finalize)(sotto_statement *statement);
    void (*reset)(sotto_statement *statement); /* also forgets what was bound */
    void (*bind)(sotto_statement *statement, unsigned at, const sotto_cell *value);
    sotto_status (*step)(sotto_statement *statement, bool *row, sotto_err *err);
    uint64_t (*changed)(const sotto_statement *statement);
    /* While it is on, what is deleted is overwritten; NULL: that is not to be had. */
    sotto_status (*erasing)(sotto_conn *conn, bool on, sotto_err *err);
    bool (*column)(const sotto_statement *statement, unsigned column, sotto_cell *out);

    /* Idle work between transactions, told how many syncs it took; NULL: none. */
    void (*tidy)(sotto_conn *conn);
    uint64_t (*syncs)(const sotto_conn *conn);
    sotto_status (*backup)(sotto_conn *conn, const char *path, sotto_err *err);
    /* Waits on another connection for wake-ups until told to stop. `heard` gets NULL once it listens. A driver
     * without it: this process hears itself. */
    sotto_status (*listen)(sotto_conn *conn, int stop_fd,
                           void (*heard)(void *context, const char *channel), void *context,
                           sotto_err *err);
};

extern const sotto_driver sotto_driver_sqlite, sotto_driver_postgres;

/* Remembers the first trouble of a transaction and fails with its reason; a driver's own way to fail. */
sotto_status sotto_conn_fail(sotto_conn *conn, sotto_err *err, sotto_trouble trouble,
                             sotto_status status, const char *format, ...) SOTTO_PRINTF(5, 6);
/* Forgets trouble, wake-ups, and rows still being read: before each function. */
void sotto_conn_refresh(sotto_conn *conn);
/* Finalises every statement. */
void sotto_conn_forget(sotto_conn *conn);

/* Runs SQL of several statements after translating it (db/sql.h). */
SOTTO_MUST_USE sotto_status sotto_conn_script(sotto_conn *conn, const char *sql, sotto_err *err);

static inline sotto_conn *sotto_tx_conn(sotto_tx *tx)
{
    return (sotto_conn *)tx;
}

static inline sotto_tx *sotto_conn_tx(sotto_conn *conn)
{
    return (sotto_tx *)conn;
}

#endif
