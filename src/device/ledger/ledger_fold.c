#include "device/ledger/ledger_internal.h"

#include "base/rule.h"
#include "crypto/hash.h"

#include <stdio.h>
#include <string.h>

/* SQLite notices a page that no longer parses, not an amount that changed inside one. So each row has a
 * digest, and the XOR of all digests is kept up to date: any difference closes the ledger. This is
 * against accidents: whoever can write the file can also write a matching digest. A witness protects
 * against that. */

/* Since version 2: of draws for a whole analysis. One that was drawn before has no row here, and holds for no slots. */
#define WINDOWS                                                                                    \
    "CREATE TABLE windows(id INTEGER PRIMARY KEY, scope TEXT NOT NULL UNIQUE,"                     \
    " law INTEGER NOT NULL, rate REAL NOT NULL, slots INTEGER NOT NULL, length INTEGER NOT NULL,"  \
    " start INTEGER NOT NULL) STRICT;"

/* Since version 3: what an entry of the record was asked by, under the entry's number. Apart from the record, whose rows keep
 * the digests that they were written with. */
#define ASKED                                                                                      \
    "CREATE TABLE asked(id INTEGER PRIMARY KEY, recipe BLOB NOT NULL, query BLOB NOT NULL,"        \
    " min_cohort INTEGER NOT NULL) STRICT;"

/* Since version 4: see wallet.h. Never carried over by a reset. */
#define TOKENS                                                                                     \
    "CREATE TABLE tokens(id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, issuer TEXT NOT NULL,"  \
    " analysis TEXT NOT NULL, opens INTEGER NOT NULL, closes INTEGER NOT NULL,"                    \
    " state INTEGER NOT NULL, ask INTEGER NOT NULL, rest INTEGER NOT NULL,"                        \
    " ready INTEGER NOT NULL, spki BLOB NOT NULL, secret BLOB NOT NULL,"                           \
    " logged INTEGER NOT NULL,"                                                                    \
    " UNIQUE(issuer, analysis, opens)) STRICT;"

/* Large values are in `sealed`, apart; the outbox holds their digests, checked when they are used. */
static const char tables[] =
    "CREATE TABLE meta(id INTEGER PRIMARY KEY, generation INTEGER NOT NULL, fold BLOB NOT NULL,"
    " lost INTEGER NOT NULL, lost_at INTEGER NOT NULL, period INTEGER NOT NULL, sum BLOB NOT NULL)"
    " STRICT;"
    "CREATE TABLE accounts(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
    " epsilon INTEGER NOT NULL, delta INTEGER NOT NULL, squares REAL NOT NULL,"
    " reports INTEGER NOT NULL, last INTEGER NOT NULL) STRICT;"
    "CREATE TABLE decisions(id INTEGER PRIMARY KEY, scope TEXT NOT NULL UNIQUE,"
    " choice INTEGER NOT NULL, slot INTEGER NOT NULL, at INTEGER NOT NULL) STRICT;" WINDOWS ASKED
        TOKENS
    "CREATE TABLE record(id INTEGER PRIMARY KEY, at INTEGER NOT NULL, kind INTEGER NOT NULL,"
    " recipe TEXT NOT NULL, analysis TEXT NOT NULL, fields TEXT NOT NULL, note TEXT NOT NULL,"
    " round INTEGER NOT NULL, report BLOB NOT NULL, randomised BLOB NOT NULL,"
    " epsilon INTEGER NOT NULL, delta INTEGER NOT NULL, local INTEGER NOT NULL,"
    " bytes INTEGER NOT NULL) STRICT;"
    "CREATE INDEX record_by_report ON record(report);"
    "CREATE INDEX record_by_recipe ON record(recipe, kind, round);"
    "CREATE TABLE outbox(id INTEGER PRIMARY KEY, report BLOB NOT NULL, recipe TEXT NOT NULL,"
    " destination BLOB NOT NULL, spend INTEGER NOT NULL, tried INTEGER NOT NULL,"
    " resealed INTEGER NOT NULL, at INTEGER NOT NULL, bytes_sum BLOB NOT NULL,"
    " inputs_sum BLOB NOT NULL) STRICT;"
    "CREATE TABLE sealed(id INTEGER PRIMARY KEY, bytes BLOB NOT NULL, inputs BLOB NOT NULL) STRICT;"
    "CREATE TABLE recipes(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
    " version INTEGER NOT NULL, opens INTEGER NOT NULL, closes INTEGER NOT NULL,"
    " judged BLOB NOT NULL, honest INTEGER NOT NULL, epsilon REAL NOT NULL, hash BLOB NOT NULL,"
    " text BLOB NOT NULL) STRICT;"
    "INSERT INTO meta VALUES(1,0,zeroblob(32),0,0,0,zeroblob(32));";
static const char *const folded[] = {"accounts", "decisions", "windows", "record",
                                     "asked",    "outbox",    "recipes", "tokens"};

/* Two numbers at once: a call of the hash for each would take longer than to hash both. */
static void absorb_pair(sotto_hash *hash, uint64_t first, uint64_t second)
{
    uint8_t bytes[16];

    for (int i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(first >> (8 * i));
        bytes[8 + i] = (uint8_t)(second >> (8 * i));
    }
    sotto_hash_update(hash, sotto_bytes_of(bytes, sizeof bytes));
}

static void absorb_integer(sotto_hash *hash, uint64_t value)
{
    absorb_pair(hash, SQLITE_INTEGER, value);
}

static void absorb_real(sotto_hash *hash, double value)
{
    double positive = value + 0.0; /* SQLite keeps no negative zero */
    uint64_t bits;

    memcpy(&bits, &positive, sizeof bits);
    absorb_pair(hash, SQLITE_FLOAT, bits);
}

static void absorb_bytes(sotto_hash *hash, int type, sotto_bytes bytes)
{
    absorb_pair(hash, (uint64_t)type, bytes.len);
    sotto_hash_update(hash, bytes);
}

static void begin_row(sotto_hash *hash, const char *table)
{
    sotto_hash_init(hash, SOTTO_SHA256);
    sotto_hash_update(hash, sotto_bytes_of(table, strlen(table) + 1));
}

static void absorb_column(sotto_hash *hash, sqlite3_stmt *row, int column)
{
    int type = sqlite3_column_type(row, column);

    if (type == SQLITE_INTEGER)
        absorb_integer(hash, (uint64_t)sqlite3_column_int64(row, column));
    else if (type == SQLITE_FLOAT)
        absorb_real(hash, sqlite3_column_double(row, column));
    else
        absorb_bytes(hash, type, sotto_ledger_blob(row, column));
}

void sotto_ledger_row_digest(uint8_t out[SOTTO_LEDGER_DIGEST], const char *table, sqlite3_stmt *row)
{
    sotto_hash hash;

    begin_row(&hash, table);
    for (int i = 0; i < sqlite3_column_count(row); i++)
        absorb_column(&hash, row, i);
    sotto_hash_final(&hash, out);
}

static void fold_in(uint8_t fold[SOTTO_LEDGER_DIGEST], const uint8_t digest[SOTTO_LEDGER_DIGEST])
{
    for (size_t i = 0; i < SOTTO_LEDGER_DIGEST; i++)
        fold[i] ^= digest[i];
}

void sotto_ledger_fold_digest(sotto_ledger *ledger, const uint8_t digest[SOTTO_LEDGER_DIGEST])
{
    fold_in(ledger->meta.fold, digest);
}

/* Tables are STRICT, so a row that was taken has these values, of these types. */
void sotto_ledger_fold_values(sotto_ledger *ledger, const char *table, int64_t id,
                              const char *format, va_list args)
{
    uint8_t digest[SOTTO_LEDGER_DIGEST];
    sotto_hash hash;

    begin_row(&hash, table);
    absorb_integer(&hash, (uint64_t)id);
    for (; *format; format++) {
        if (*format == 'd') {
            absorb_real(&hash, va_arg(args, double));
        } else if (*format == 't') {
            const char *text = va_arg(args, const char *);

            absorb_bytes(&hash, SQLITE_TEXT, sotto_bytes_of(text, text ? strlen(text) : 0));
        } else if (*format == 'b') {
            absorb_bytes(&hash, SQLITE_BLOB, va_arg(args, sotto_bytes));
        } else {
            absorb_integer(&hash, va_arg(args, uint64_t));
        }
    }
    sotto_hash_final(&hash, digest);
    sotto_ledger_fold_digest(ledger, digest);
}

static void fold_row(uint8_t fold[SOTTO_LEDGER_DIGEST], const char *table, sqlite3_stmt *row)
{
    uint8_t digest[SOTTO_LEDGER_DIGEST];

    sotto_ledger_row_digest(digest, table, row);
    fold_in(fold, digest);
}

/* Those rows of the table, which may ask for `id`. */
static sotto_status fold_rows(sotto_ledger *ledger, uint8_t fold[SOTTO_LEDGER_DIGEST],
                              const char *table, const char *where, int64_t id, sotto_err *err)
{
    sqlite3_stmt *statement;
    char sql[64];
    bool row;

    (void)snprintf(sql, sizeof sql, "SELECT * FROM %s%s", table, where);
    sotto_status status =
        sotto_ledger_find(ledger, &statement, &row, err, sql, where[0] ? "i" : "", id);
    while (status == SOTTO_OK && row) {
        fold_row(fold, table, statement);
        status = sotto_ledger_next(statement, &row, err);
    }
    sotto_ledger_release(ledger, statement);
    return status;
}

sotto_status sotto_ledger_fold(sotto_ledger *ledger, const char *table, int64_t id, sotto_err *err)
{
    return fold_rows(ledger, ledger->meta.fold, table, " WHERE id=?", id, err);
}

/* SQLite keeps the text that made a table. A damaged column name would make a later statement fail, when it is too late
 * to close the ledger. */
static sotto_status check_tables(sotto_ledger *ledger, sotto_err *err)
{
    sqlite3_stmt *statement;
    bool other;
    sotto_status status = sotto_ledger_find(
        ledger, &statement, &other, err,
        "SELECT 1 FROM sqlite_schema WHERE sql<>'' AND instr(?,sql)=0 LIMIT 1", "t", tables);

    sotto_ledger_release(ledger, statement);
    if (SOTTO_RULE(tables_as_laid_out) && status == SOTTO_OK && other)
        return sotto_fail(err, SOTTO_MALFORMED, "a table is damaged");
    return status;
}

sotto_status sotto_ledger_verify(sotto_ledger *ledger, sotto_err *err)
{
    uint8_t fold[SOTTO_LEDGER_DIGEST] = {0};

    SOTTO_TRY(check_tables(ledger, err));
    for (size_t i = 0; i < sizeof folded / sizeof folded[0]; i++)
        SOTTO_TRY(fold_rows(ledger, fold, folded[i], "", 0, err));
    if (SOTTO_RULE(rows_as_written) && memcmp(fold, ledger->meta.fold, sizeof fold) != 0)
        return sotto_fail(err, SOTTO_MALFORMED, "a row was changed or damaged");
    return SOTTO_OK;
}

/* ---- the row about the ledger itself ---------------------------------------------------------------- */

static void sum_meta(uint8_t out[SOTTO_LEDGER_DIGEST], const sotto_ledger_meta *meta)
{
    sotto_hash hash;

    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of("meta", 5));
    sotto_hash_update(&hash, sotto_bytes_of(meta->fold, sizeof meta->fold));
    absorb_pair(&hash, meta->generation, meta->lost);
    absorb_pair(&hash, (uint64_t)meta->lost_at, meta->period);
    sotto_hash_final(&hash, out);
}

static sotto_status take_meta(sotto_ledger_meta *meta, sqlite3_stmt *statement, bool row,
                              sotto_err *err)
{
    uint8_t sum[SOTTO_LEDGER_DIGEST], kept[SOTTO_LEDGER_DIGEST] = {0};

    *meta = (sotto_ledger_meta){0};
    bool whole = row && sotto_ledger_digest(statement, 1, meta->fold) &&
                 sotto_ledger_digest(statement, 5, kept);
    if (whole) {
        meta->generation = (uint64_t)sqlite3_column_int64(statement, 0);
        meta->lost = sqlite3_column_int64(statement, 2) != 0;
        meta->lost_at = sqlite3_column_int64(statement, 3);
        meta->period = (uint64_t)sqlite3_column_int64(statement, 4);
        sum_meta(sum, meta);
    }
    if (whole && memcmp(sum, kept, sizeof sum) == 0)
        return SOTTO_OK;
    *meta = (sotto_ledger_meta){0}; /* a reset goes on from what is known */
    return sotto_fail(err, SOTTO_MALFORMED, "the ledger's own row is damaged");
}

sotto_status sotto_ledger_read_meta(sotto_ledger *ledger, sotto_err *err)
{
    sqlite3_stmt *statement;
    bool row;
    sotto_status status =
        sotto_ledger_find(ledger, &statement, &row, err,
                          "SELECT generation, fold, lost, lost_at, period, sum FROM meta", "");

    if (status == SOTTO_OK)
        status = take_meta(&ledger->meta, statement, row, err);
    sotto_ledger_release(ledger, statement);
    return status;
}

static const char set_meta[] =
    "UPDATE meta SET generation=?, fold=?, lost=?, lost_at=?, period=?, sum=?";

sotto_status sotto_ledger_write_meta(sotto_ledger *ledger, sotto_err *err)
{
    const sotto_ledger_meta *meta = &ledger->meta;
    uint8_t sum[SOTTO_LEDGER_DIGEST];

    sum_meta(sum, meta);
    return sotto_ledger_run(ledger, err, set_meta, "ubiiub", meta->generation,
                            sotto_bytes_of(meta->fold, sizeof meta->fold), (int64_t)meta->lost,
                            meta->lost_at, meta->period, sotto_bytes_of(sum, sizeof sum));
}

sotto_status sotto_ledger_lay_out(sqlite3 *db, const sotto_ledger_meta *first, sotto_err *err)
{
    sotto_ledger fresh = {.db = db, .meta = *first};
    int64_t count;

    SOTTO_TRY(sotto_sqlite_run(db, "BEGIN IMMEDIATE", "ledger", err));
    sotto_status status =
        sotto_sqlite_number(db, &count, "SELECT count(*) FROM sqlite_schema", "ledger", err);
    if (SOTTO_RULE(laid_out_once) && status == SOTTO_OK && count > 0)
        status = sotto_fail(err, SOTTO_STALE, "another process was first");
    if (status == SOTTO_OK)
        status = sotto_sqlite_run(db, tables, "ledger", err);
    if (status == SOTTO_OK)
        status = sotto_ledger_write_meta(&fresh, err);
    sotto_statements_drop(&fresh.statements);
    if (status == SOTTO_OK)
        status = sotto_sqlite_run(db, "COMMIT", "ledger", err);
    if (status != SOTTO_OK)
        sotto_sqlite_rollback(db);
    return status;
}

sotto_status sotto_ledger_upgrade(sqlite3 *db, sotto_err *err)
{
    int64_t version = 0;

    SOTTO_TRY(sotto_sqlite_number(db, &version, "PRAGMA user_version", "ledger", err));
    if (version < 1 || version >= SOTTO_LEDGER_VERSION)
        return SOTTO_OK;
    SOTTO_TRY(sotto_sqlite_run(db, "BEGIN IMMEDIATE", "ledger", err));
    /* Another process may have been faster. */
    sotto_status status = sotto_sqlite_number(db, &version, "PRAGMA user_version", "ledger", err);
    if (status == SOTTO_OK && version == 1)
        status = sotto_sqlite_run(db, WINDOWS "PRAGMA user_version=2", "ledger", err);
    if (status == SOTTO_OK && version < 3)
        status = sotto_sqlite_run(db, ASKED "PRAGMA user_version=3", "ledger", err);
    if (status == SOTTO_OK && version < SOTTO_LEDGER_VERSION)
        status = sotto_sqlite_run(db, TOKENS "PRAGMA user_version=4", "ledger", err);
    if (status == SOTTO_OK)
        status = sotto_sqlite_run(db, "COMMIT", "ledger", err);
    if (status != SOTTO_OK)
        sotto_sqlite_rollback(db);
    return status;
}
