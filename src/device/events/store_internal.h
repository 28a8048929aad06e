/* device/events/store_internal.h - what the files of the event store share. */
#ifndef SOTTO_DEVICE_STORE_INTERNAL_H
#define SOTTO_DEVICE_STORE_INTERNAL_H

#include "device/events/store.h"
#include "query/statements.h"

enum { SOTTO_STORE_VERSION = 1 };

/* Per stream: the insert that is reused, and how many rows there are (-1: not counted yet). */
typedef struct sotto_store_table {
    sqlite3_stmt *insert;
    int64_t rows;
} sotto_store_table;

struct sotto_store {
    sqlite3 *db;     /* NULL: the file was moved, and what is in its place could not be opened */
    sqlite3 *reader; /* for the next query, or NULL; see query.c */
    struct sotto_store_kept *kept; /* a compiled query, or NULL; see query_kept.c */
    sotto_statements statements;
    sotto_storage storage;
    char path[SOTTO_VFS_PATH]; /* or the name in memory */
    bool memory;
    bool was_set_aside;
    bool marked; /* it is known to say that there was a ledger */
    char aside[SOTTO_VFS_PATH];
    sotto_arena arena;   /* holds the streams */
    sotto_arena scratch; /* of one call       */
    sotto_stream *streams;
    sotto_store_table *tables;
    size_t stream_count;
    uint64_t max_bytes;
    int64_t opened_at;
};

/* ---- store.c ---- */

/* Another process may set the file aside as damaged and begin another; what we write to the old file from then on is
 * lost. */
bool sotto_store_in_place(const sotto_store *store);
/* Opens the file that has the store's name now, if it is another. Not inside a transaction. */
SOTTO_MUST_USE sotto_status sotto_store_follow(sotto_store *store, sotto_err *err);
/* How often one call follows. Some file systems never give a file the same number twice, so it always looks replaced. The
 * bound keeps the host from waiting for ever. */
enum { SOTTO_STORE_FOLLOWS = 8 };
/* SOTTO_IO: it was followed that often. */
sotto_status sotto_store_restless(sotto_err *err);

/* A statement of the store's connection, compiled or kept; those of a file are not kept. Release *out in either case. */
SOTTO_MUST_USE sotto_status sotto_store_lend(sotto_store *store, sqlite3_stmt **out,
                                             const char *sql, const char *what, sotto_err *err);
void sotto_store_release(sotto_store *store, sqlite3_stmt *statement);
/* As sotto_sqlite_run of one statement, and as sotto_sqlite_number. */
SOTTO_MUST_USE sotto_status sotto_store_run(sotto_store *store, const char *sql, const char *what,
                                            sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_store_number(sotto_store *store, int64_t *out, const char *sql,
                                               const char *what, sotto_err *err);

/* How many rows the file has of a stream, declared or not. */
SOTTO_MUST_USE sotto_status sotto_store_rows(sotto_store *store, int64_t *rows, const char *name,
                                             sotto_err *err);

/* ---- store_schema.c ---- */

SOTTO_MUST_USE sotto_status sotto_store_copy_streams(sotto_store *store,
                                                     const sotto_store_options *options,
                                                     sotto_err *err);
/* Creates what is missing, refuses what differs; in one transaction. */
SOTTO_MUST_USE sotto_status sotto_store_lay_out(sotto_store *store, sotto_err *err);
/* Whether these are the store's streams, to the last rule. */
bool sotto_store_has_streams(const sotto_store *store, const sotto_stream *streams, size_t count);
/* A digest of what sotto_store_lay_out would make of an empty file. */
void sotto_store_layout(const sotto_store *store, uint8_t out[32]);
/* The index of a stream; SOTTO_MISSING. */
SOTTO_MUST_USE sotto_status sotto_store_find(const sotto_store *store, const char *stream,
                                             size_t *index, sotto_err *err);

/* ---- store_erase.c ---- */

/* Numbers that outlive the process: "erase_pending", "set_aside_at", "tick". */
SOTTO_MUST_USE sotto_status sotto_store_note(sotto_store *store, const char *name, int64_t value,
                                             sotto_err *err);
/* Inside the caller's transaction: all but the newest `keep` rows go; their bytes are erased later. */
SOTTO_MUST_USE sotto_status sotto_store_drop_oldest(sotto_store *store, const char *stream,
                                                    uint64_t keep, sotto_err *err);
/* Inside the caller's transaction: drops oldest events until the store is within max_bytes. */
SOTTO_MUST_USE sotto_status sotto_store_fit(sotto_store *store, sotto_err *err);
/* The rows of every stream are counted anew at the next donation. */
void sotto_store_recount(sotto_store *store);

#endif
