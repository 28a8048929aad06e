/* device/ledger/ledger_internal.h - what the files of the ledger share: one file, one way to begin and end. */
#ifndef SOTTO_DEVICE_LEDGER_INTERNAL_H
#define SOTTO_DEVICE_LEDGER_INTERNAL_H

#include "device/ledger/ledger.h"
#include "device/ledger/record.h"
#include "query/statements.h"

#include <stdarg.h>

enum {
    SOTTO_LEDGER_VERSION = 4,
    SOTTO_LEDGER_DIGEST = 32,
    SOTTO_LEDGER_ACCOUNT = 160,
    SOTTO_LEDGER_MAX_VALUE = SOTTO_REPORT_MAX + (1 << 16),
    SOTTO_LEDGER_STATEMENTS = 14 /* of a file, kept compiled */
};

/* The one row about the ledger itself, sealed by a digest of its own. */
typedef struct sotto_ledger_meta {
    uint64_t generation; /* transactions so far                                      */
    uint8_t
        fold[SOTTO_LEDGER_DIGEST]; /* of every row of every table: XOR of their digests        */
    bool lost;                     /* reset: budgets count as fully spent ...                  */
    int64_t lost_at;               /* ... until a period that starts after this                */
    uint64_t period;               /* that accounts are kept by                                */
} sotto_ledger_meta;

/* What the person said, as the record has it. */
typedef struct sotto_consent_words {
    bool given;   /* the last word on taking part was yes    */
    int64_t last; /* the number of the last word of any kind */
} sotto_consent_words;

struct sotto_ledger {
    sqlite3 *db; /* NULL while closed */
    sotto_statements statements;
    sotto_storage storage;
    char path[SOTTO_VFS_PATH]; /* or the name in memory */
    bool memory;
    bool blank; /* in memory: laid out, and nothing was done with it since */
    sotto_witness witnesses[SOTTO_LEDGER_WITNESSES];
    size_t witness_count;
    uint64_t raised; /* every witness knows of this generation */
    bool hurried;    /* commits are not synced: only while reports are sent, see outbox.c */
    bool pace;      /* `hurried` as the connection knows it                                       */
    bool withdrawn; /* said in this process, and not on the disk yet */
    bool lingering; /* bytes of erased reports may still be on the disk */
    int64_t held;   /* the person's last word when an answer was begun; see consent.h */
    sotto_consent_words said;
    uint64_t said_at; /* the generation of which `said` is true; 0: not read */
    sotto_ledger_meta meta;
    const sotto_budget_table *table; /* NULL until a policy was adopted */
    sotto_recompute recompute;
    char closed[128]; /* why; empty while open */
    sotto_arena scratch;
};

/* ---- ledger.c ---- */

/* Nothing leaves from now on. Returns SOTTO_DENIED with the reason. */
sotto_status sotto_ledger_shut(sotto_ledger *ledger, const char *why, sotto_err *err);
/* SOTTO_DENIED while closed. */
SOTTO_MUST_USE sotto_status sotto_ledger_usable(const sotto_ledger *ledger, sotto_err *err);
/* Whether a reset of this ledger was begun, by whichever process, and has not ended. */
SOTTO_MUST_USE sotto_status sotto_ledger_resetting(const sotto_ledger *ledger, bool *resetting,
                                                   sotto_err *err);
/* How every file of a ledger is opened. */
sotto_sqlite_options sotto_ledger_file(const sotto_ledger *ledger, const char *path);
/* Opens the file at ledger->path and judges it. */
SOTTO_MUST_USE sotto_status sotto_ledger_load(sotto_ledger *ledger, sotto_err *err);
/* Reads the ledger's state, which another process may have changed; closes it if the state is damaged. */
SOTTO_MUST_USE sotto_status sotto_ledger_refresh(sotto_ledger *ledger, sotto_err *err);
/* One write transaction; end commits it as the next generation if status is SOTTO_OK, else takes it back. */
SOTTO_MUST_USE sotto_status sotto_ledger_begin(sotto_ledger *ledger, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_ledger_end(sotto_ledger *ledger, sotto_status status,
                                             sotto_err *err);

/* ---- ledger_sql.c ---- */

/* Values follow `format`, a letter each: i int64_t, u uint64_t, d double, t const char * (NULL: empty),
 * b sotto_bytes. Runs a statement without rows. */
SOTTO_MUST_USE sotto_status sotto_ledger_run(sotto_ledger *ledger, sotto_err *err, const char *sql,
                                             const char *format, ...);
/* Runs an INSERT of one whole row, and folds the row. Its first parameter is *id, 0 for the next number; the values
 * are all other columns, in their order. *id is the row's number then. A row that is replaced must have been folded
 * before. */
SOTTO_MUST_USE sotto_status sotto_ledger_insert(sotto_ledger *ledger, const char *table,
                                                int64_t *id, sotto_err *err, const char *sql,
                                                const char *format, ...);
/* Binds and steps once: *row says whether there is a first row. Release *out in either case. */
SOTTO_MUST_USE sotto_status sotto_ledger_find(sotto_ledger *ledger, sqlite3_stmt **out, bool *row,
                                              sotto_err *err, const char *sql, const char *format,
                                              ...);
/* The first column of the first row; 0 where there is none. */
SOTTO_MUST_USE sotto_status sotto_ledger_number(sotto_ledger *ledger, int64_t *out, const char *sql,
                                                sotto_err *err);
/* Hands a statement back; what it read is gone, and what was bound to it is not looked at again. NULL is fine. */
void sotto_ledger_release(sotto_ledger *ledger, sqlite3_stmt *statement);
/* Steps on. */
SOTTO_MUST_USE sotto_status sotto_ledger_next(sqlite3_stmt *statement, bool *row, sotto_err *err);
/* Borrowed from the row. */
sotto_bytes sotto_ledger_blob(sqlite3_stmt *statement, int column);
const char *sotto_ledger_text(sqlite3_stmt *statement, int column);
/* Copies 32 bytes; false for another length. */
bool sotto_ledger_digest(sqlite3_stmt *statement, int column, uint8_t out[SOTTO_LEDGER_DIGEST]);

/* ---- ledger_decide.c ---- */

/* Inside a transaction: SOTTO_STALE if the decision of this scope was acted on, by whichever process. Scope 0: there
 * was none. */
SOTTO_MUST_USE sotto_status sotto_ledger_unanswered(sotto_ledger *ledger,
                                                    sotto_decision_scope scope, const char *recipe,
                                                    const char *analysis, sotto_err *err);

/* ---- ledger_spend.c ---- */

/* Whether the period in which something happened at `last` is over. Turned back, a clock ends no period; turned
 * forward, it ends one early, and none again until it is right. */
bool sotto_ledger_is_over(const sotto_ledger *ledger, int64_t last, int64_t now);
/* Inside a transaction: all that sotto_ledger_spend does there, for a charge that sotto_ledger_check has seen. */
SOTTO_MUST_USE sotto_status sotto_ledger_pay(sotto_ledger *ledger, const sotto_charge *charge,
                                             const sotto_report *report, int64_t now,
                                             sotto_refusal *refusal, sotto_err *err);

/* ---- ledger_fold.c ---- */

/* Brings the file of an earlier version to this one's form, whole or not at all. */
SOTTO_MUST_USE sotto_status sotto_ledger_upgrade(sqlite3 *db, sotto_err *err);
/* Creates the tables and a first generation, in one transaction. SOTTO_STALE: there are some. */
SOTTO_MUST_USE sotto_status sotto_ledger_lay_out(sqlite3 *db, const sotto_ledger_meta *first,
                                                 sotto_err *err);
/* Reads the row about the ledger. SOTTO_MALFORMED if it is not what was written. */
SOTTO_MUST_USE sotto_status sotto_ledger_read_meta(sotto_ledger *ledger, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_ledger_write_meta(sotto_ledger *ledger, sotto_err *err);
/* Before a row is changed or removed, and after it was changed; sotto_ledger_insert does it for a new one. */
SOTTO_MUST_USE sotto_status sotto_ledger_fold(sotto_ledger *ledger, const char *table, int64_t id,
                                              sotto_err *err);
/* The same for whoever has the row, all its columns in their order, or its values behind its number. */
void sotto_ledger_row_digest(uint8_t out[SOTTO_LEDGER_DIGEST], const char *table,
                             sqlite3_stmt *row);
void sotto_ledger_fold_digest(sotto_ledger *ledger, const uint8_t digest[SOTTO_LEDGER_DIGEST]);
void sotto_ledger_fold_values(sotto_ledger *ledger, const char *table, int64_t id,
                              const char *format, va_list args);
/* Reads every row. SOTTO_MALFORMED if one is not what was written. */
SOTTO_MUST_USE sotto_status sotto_ledger_verify(sotto_ledger *ledger, sotto_err *err);

/* ---- ledger_witness.c ---- */

SOTTO_MUST_USE sotto_status sotto_ledger_remembered(const sotto_ledger *ledger,
                                                    uint64_t *generation, sotto_err *err);
/* Tells the witnesses. One that can't be reached now must be told before anything leaves. */
void sotto_ledger_tell(sotto_ledger *ledger);
/* SOTTO_OK once every witness knows of the current generation. */
SOTTO_MUST_USE sotto_status sotto_ledger_testify(sotto_ledger *ledger, sotto_err *err);

/* ---- record.c ---- */

/* The entries about one recipe, "" for those about the device, of kinds from `first` to `last`: id, kind, round, note,
 * in no order that counts. All who look for entries of a recipe look this way, so that it is compiled once. Release
 * *out in either case. */
SOTTO_MUST_USE sotto_status sotto_record_find(sotto_ledger *ledger, sqlite3_stmt **out, bool *row,
                                              const char *recipe, sotto_record_kind first,
                                              sotto_record_kind last, sotto_err *err);

/* ---- inside a transaction ---- */

SOTTO_MUST_USE sotto_status sotto_record_write(sotto_ledger *ledger,
                                               const sotto_record_entry *entry, int64_t *number,
                                               sotto_err *err);
/* Starts a record with what can be read of another ledger's, and the entries that a reset makes of it.
 *   SOTTO_IO  the other one can't be read to its end now, but perhaps later; never with `anyhow`
 */
SOTTO_MUST_USE sotto_status sotto_record_begin_anew(sotto_ledger *ledger, sotto_ledger *from,
                                                    bool anyhow, int64_t now, sotto_err *err);
/* A report that may be put: SOTTO_STALE for an id that was used before. */
SOTTO_MUST_USE sotto_status sotto_outbox_check(sotto_ledger *ledger, const sotto_report *report,
                                               sotto_err *err);
/* Erases what waits, of one recipe or with NULL of all; its bytes may linger until sotto_outbox_empty. */
SOTTO_MUST_USE sotto_status sotto_outbox_drop(sotto_ledger *ledger, const char *recipe,
                                              const char *why, int64_t now, sotto_err *err);
/* spend is the number of the record that paid for it; 0 for a dummy. */
SOTTO_MUST_USE sotto_status sotto_outbox_write(sotto_ledger *ledger, const char *recipe,
                                               const sotto_report *report, int64_t spend,
                                               int64_t now, sotto_err *err);

#endif
