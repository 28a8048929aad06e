#include "db/migrate.h"

#include "base/rule.h"
#include "db/driver.h"

typedef struct task {
    const sotto_migration *steps;
    size_t count;
    int64_t version;
} task;

static sotto_status read_version(sotto_tx *tx, int64_t *number, sotto_err *err)
{
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT coalesce(max(number), 0) FROM sotto_schema", err));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    *number = row ? sotto_sql_column_int(&q, 0) : 0;
    return row ? sotto_sql_run(&q, NULL, err) : SOTTO_OK; /* to its end: nothing stays open */
}

static sotto_status take_step(sotto_tx *tx, const sotto_migration *step, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_conn_script(sotto_tx_conn(tx), step->sql, err));
    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "INSERT INTO sotto_schema (number, taken_at) VALUES (?1, {now})", err));
    sotto_sql_int(&q, 1, step->number);
    return sotto_sql_run(&q, NULL, err);
}

/* The store's own. The second holds the newest commit of each connection, for those whose answers get lost. */
static const char own_tables[] =
    "CREATE TABLE IF NOT EXISTS sotto_schema"
    " (number {int} PRIMARY KEY, taken_at {int} NOT NULL) {strict};\n"
    "{only_postgres} CREATE TABLE IF NOT EXISTS sotto_mark"
    " (writer {int} PRIMARY KEY, mark {int} NOT NULL, left_at TIMESTAMPTZ NOT NULL);\n";

static sotto_status migrate(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_conn *conn = sotto_tx_conn(tx);
    task *t = context;

    SOTTO_TRY(conn->driver->exclude(conn, err));
    SOTTO_TRY(sotto_conn_script(conn, own_tables, err));
    SOTTO_TRY(read_version(tx, &t->version, err));
    if (SOTTO_RULE(newer_schema_refused) && t->version > (int64_t)t->count)
        return sotto_fail(err, SOTTO_STALE,
                          "the database is at step %lld, this program knows %zu: it is too old",
                          (long long)t->version, t->count);
    for (size_t i = (size_t)t->version; i < t->count; i++)
        SOTTO_TRY(take_step(tx, &t->steps[i], err));
    return SOTTO_OK;
}

sotto_status sotto_db_migrate(sotto_db *db, const sotto_migration *steps, size_t count,
                              sotto_err *err)
{
    task t = {.steps = steps, .count = count};

    for (size_t i = 0; i < count; i++) {
        if (steps[i].number != (int64_t)i + 1)
            return sotto_fail(err, SOTTO_BUG, "step %zu has the number %lld", i + 1,
                              (long long)steps[i].number);
    }
    return sotto_db_run(db, migrate, &t, err);
}

static sotto_status find_version(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_sql q;
    bool exists;

    *(int64_t *)context = 0;
    SOTTO_TRY(sotto_sql_prepare(tx, &q, sotto_tx_conn(tx)->driver->find_table, err));
    sotto_sql_text(&q, 1, "sotto_schema");
    SOTTO_TRY(sotto_sql_step(&q, &exists, err));
    return exists ? read_version(tx, context, err) : SOTTO_OK;
}

sotto_status sotto_db_version(sotto_db *db, int64_t *number, sotto_err *err)
{
    return sotto_db_read(db, find_version, number, err);
}
