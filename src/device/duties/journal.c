#include "device/duties/journal_inside.h"

#include "base/arena.h"
#include "base/rule.h"

#include <string.h>

static const char SCHEMA[] =
    "CREATE TABLE IF NOT EXISTS meta (one INTEGER PRIMARY KEY CHECK (one = 1), generation INTEGER"
    " NOT NULL, consent INTEGER NOT NULL) STRICT;"
    "INSERT OR IGNORE INTO meta VALUES (1, 0, 0);"
    "CREATE TABLE IF NOT EXISTS share (session BLOB NOT NULL, epoch INTEGER NOT NULL, share BLOB,"
    " PRIMARY KEY (session, epoch)) STRICT;"
    "CREATE TABLE IF NOT EXISTS duty (n INTEGER PRIMARY KEY AUTOINCREMENT, round BLOB NOT NULL,"
    " part INTEGER NOT NULL, place INTEGER NOT NULL, posting BLOB, state BLOB, vector BLOB,"
    " since INTEGER NOT NULL, done INTEGER NOT NULL, ended INTEGER NOT NULL,"
    " UNIQUE (round, part)) STRICT;"
    "CREATE TABLE IF NOT EXISTS kept (n INTEGER PRIMARY KEY AUTOINCREMENT, duty INTEGER NOT NULL,"
    " wire BLOB NOT NULL) STRICT;"
    "CREATE TABLE IF NOT EXISTS waiting (n INTEGER PRIMARY KEY AUTOINCREMENT, duty INTEGER NOT"
    " NULL, body BLOB NOT NULL) STRICT;"
    "CREATE TABLE IF NOT EXISTS progress (duty INTEGER PRIMARY KEY, board INTEGER NOT NULL, wake"
    " INTEGER NOT NULL) STRICT;"
    "CREATE TABLE IF NOT EXISTS vow (session BLOB NOT NULL, epoch INTEGER NOT NULL, round INTEGER"
    " NOT NULL, kind INTEGER NOT NULL, subject INTEGER NOT NULL, digest BLOB NOT NULL,"
    " PRIMARY KEY (session, epoch, round, kind, subject)) STRICT;" SOTTO_JOURNAL_TREE_SCHEMA
        SOTTO_JOURNAL_HANDED_SCHEMA SOTTO_JOURNAL_CARRIED_SCHEMA SOTTO_JOURNAL_KEYGEN_SCHEMA;

static const char WHAT[] = "journal of duties";

/* ---- statements --------------------------------------------------------------------------------------------- */

void sotto_journal_bind(sqlite3_stmt *q, int at, sotto_bytes b)
{
    (void)sqlite3_bind_blob64(q, at, b.len ? (const void *)b.data : "", b.len, SQLITE_TRANSIENT);
}

sotto_status sotto_journal_prepare(sotto_journal *j, sqlite3_stmt **q, const char *sql,
                                   sotto_err *err)
{
    return sotto_sqlite_prepare_once(j->db, q, sql, WHAT, err);
}

sotto_status sotto_journal_run(sqlite3_stmt *q, sotto_err *err)
{
    const sotto_status status = sotto_sqlite_done(q, WHAT, err);

    sqlite3_finalize(q);
    return status;
}

/* False: no row, or a failure, which *status tells. */
bool sotto_journal_row(sqlite3_stmt *q, sotto_status *status, sotto_err *err)
{
    const int code = sqlite3_step(q);

    *status =
        code == SQLITE_ROW || code == SQLITE_DONE ? SOTTO_OK : sotto_sqlite_fail(err, code, WHAT);
    return code == SQLITE_ROW;
}

sotto_status sotto_journal_column(sqlite3_stmt *q, int at, sotto_bytes *out, sotto_arena *arena,
                                  sotto_err *err)
{
    const size_t len = (size_t)sqlite3_column_bytes(q, at);
    const void *data = sqlite3_column_blob(q, at);
    uint8_t *copy = sotto_arena_take(arena, len + 1);

    if (!copy)
        return sotto_fail(err, SOTTO_NO_MEMORY, WHAT);
    if (len)
        memcpy(copy, data, len);
    *out = sotto_bytes_of(copy, len);
    return SOTTO_OK;
}

sotto_status sotto_journal_run_for(sotto_journal *j, const char *sql, int64_t n, sotto_err *err)
{
    sqlite3_stmt *q;

    SOTTO_TRY(sotto_journal_prepare(j, &q, sql, err));
    (void)sqlite3_bind_int64(q, 1, n);
    return sotto_journal_run(q, err);
}

/* ---- the file ------------------------------------------------------------------------------------------------ */

static sotto_status remembered(const sotto_journal *j, uint64_t *generation, sotto_err *err)
{
    *generation = 0;
    return j->host.counter.read ? j->host.counter.read(j->host.context, generation, err) : SOTTO_OK;
}

sotto_status sotto_journal_open(sotto_journal *j, const sotto_sqlite_options *options,
                                const sotto_device_host *host, sotto_err *err)
{
    uint64_t counter;
    int64_t generation;

    memset(j, 0, sizeof *j);
    j->host = *host;
    SOTTO_TRY(sotto_sqlite_open(&j->db, options, err));
    SOTTO_TRY(sotto_sqlite_run(j->db, SCHEMA, WHAT, err));
    SOTTO_TRY(sotto_sqlite_number(j->db, &generation, "SELECT generation FROM meta", WHAT, err));
    SOTTO_TRY(remembered(j, &counter, err));
    j->generation = (uint64_t)generation;
    /* It lacks vows that were made: whatever it signs now may be the second time. */
    if (SOTTO_RULE(duties_not_put_back) && j->generation < counter)
        return sotto_fail(err, SOTTO_STALE, "%s: older than the host's counter", WHAT);
    j->raised = counter;
    return sotto_journal_testify(j, err);
}

sotto_status sotto_journal_testify(sotto_journal *j, sotto_err *err)
{
    if (j->raised >= j->generation || !j->host.counter.raise)
        return SOTTO_OK;
    SOTTO_TRY(j->host.counter.raise(j->host.context, j->generation, err));
    j->raised = j->generation;
    return SOTTO_OK;
}

void sotto_journal_close(sotto_journal *j)
{
    sotto_sqlite_close(j->db);
    j->db = NULL;
}

sotto_status sotto_journal_begin(sotto_journal *j, sotto_err *err)
{
    return sotto_sqlite_run(j->db, "BEGIN IMMEDIATE", WHAT, err);
}

sotto_status sotto_journal_commit(sotto_journal *j, sotto_err *err)
{
    sotto_status status =
        sotto_sqlite_run(j->db, "UPDATE meta SET generation = generation + 1; COMMIT", WHAT, err);

    if (status != SOTTO_OK) {
        sotto_sqlite_rollback(j->db);
        return status;
    }
    j->generation++;
    return sotto_journal_testify(j, err);
}

/* Ends a transaction whose work had this status. */
sotto_status sotto_journal_finish(sotto_journal *j, sotto_status status, sotto_err *err)
{
    if (status == SOTTO_OK)
        return sotto_journal_commit(j, err);
    sotto_sqlite_rollback(j->db);
    return status;
}

static sotto_status cut(sotto_journal *j, sotto_err *err)
{
    if (!j->uncut)
        return SOTTO_OK;
    const sotto_status status = sotto_sqlite_truncate_wal(j->db, err);
    j->uncut = status != SOTTO_OK;
    return status == SOTTO_AGAIN ? SOTTO_OK : status;
}

/* What was erased is not to linger in the WAL. Somebody who reads may delay that: the next tick tries again. */
sotto_status sotto_journal_finish_erased(sotto_journal *j, sotto_status status, sotto_err *err)
{
    SOTTO_TRY(sotto_journal_finish(j, status, err));
    j->uncut = true;
    return cut(j, err);
}

sotto_status sotto_journal_tidy(sotto_journal *j, uint64_t now_ms, sotto_err *err)
{
    SOTTO_TRY(cut(j, err));
    return sotto_journal_expire_carried(j, now_ms, err);
}

/* ---- consent and shares --------------------------------------------------------------------------------------- */

sotto_status sotto_journal_consent(sotto_journal *j, bool *given, sotto_err *err)
{
    int64_t consent;

    SOTTO_TRY(sotto_sqlite_number(j->db, &consent, "SELECT consent FROM meta", WHAT, err));
    *given = consent == 1;
    return SOTTO_OK;
}

sotto_status sotto_journal_set_consent(sotto_journal *j, bool given, sotto_err *err)
{
    SOTTO_TRY(sotto_journal_begin(j, err));
    if (given)
        return sotto_journal_finish(
            j, sotto_sqlite_run(j->db, "UPDATE meta SET consent = 1", WHAT, err), err);
    return sotto_journal_finish_erased(
        j,
        sotto_sqlite_run(j->db,
                         "UPDATE meta SET consent = 0; UPDATE share SET share = NULL;"
                         "UPDATE duty SET posting = NULL, state = NULL, vector = NULL, ended = 1;"
                         "DELETE FROM kept; DELETE FROM waiting; DELETE FROM handed_to;"
                         "DELETE FROM progress; DELETE FROM tree; DELETE FROM "
                         "carried;" SOTTO_JOURNAL_KEYGEN_FORGET,
                         WHAT, err),
        err);
}

static sotto_status insert_share(sotto_journal *j, const uint8_t session[32], uint64_t epoch,
                                 const uint8_t share[32], sotto_err *err)
{
    sqlite3_stmt *q;

    SOTTO_TRY(sotto_journal_prepare(
        j, &q, "INSERT INTO share VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING", err));
    sotto_journal_bind(q, 1, sotto_bytes_of(session, 32));
    (void)sqlite3_bind_int64(q, 2, (int64_t)epoch);
    sotto_journal_bind(q, 3, sotto_bytes_of(share, 32));
    SOTTO_TRY(sotto_journal_run(q, err));
    /* A row stays when its share is erased: a share that was handed over does not come back. */
    if (SOTTO_RULE(duties_one_share) && sqlite3_changes(j->db) == 0)
        return sotto_fail(err, SOTTO_DENIED, "a share of this epoch was taken before");
    return SOTTO_OK;
}

sotto_status sotto_journal_put_share(sotto_journal *j, const uint8_t session[32], uint64_t epoch,
                                     const uint8_t share[32], sotto_err *err)
{
    SOTTO_TRY(sotto_journal_begin(j, err));
    return sotto_journal_finish(j, insert_share(j, session, epoch, share, err), err);
}

sotto_status sotto_journal_share(sotto_journal *j, const uint8_t session[32], uint64_t epoch,
                                 uint8_t share[32], sotto_err *err)
{
    sotto_status status;
    sqlite3_stmt *q;

    SOTTO_TRY(sotto_journal_prepare(
        j, &q, "SELECT share FROM share WHERE session = ?1 AND epoch = ?2", err));
    sotto_journal_bind(q, 1, sotto_bytes_of(session, 32));
    (void)sqlite3_bind_int64(q, 2, (int64_t)epoch);
    const bool there = sotto_journal_row(q, &status, err) && sqlite3_column_bytes(q, 0) == 32;
    if (there)
        memcpy(share, sqlite3_column_blob(q, 0), 32);
    sqlite3_finalize(q);
    SOTTO_TRY(status);
    return there ? SOTTO_OK : sotto_fail(err, SOTTO_MISSING, "no share of this committee's key");
}

sotto_status sotto_journal_erase_share(sotto_journal *j, const uint8_t session[32], uint64_t epoch,
                                       sotto_err *err)
{
    sqlite3_stmt *q;

    SOTTO_TRY(sotto_journal_begin(j, err));
    sotto_status status = sotto_journal_prepare(
        j, &q, "UPDATE share SET share = NULL WHERE session = ?1 AND epoch = ?2", err);
    if (status == SOTTO_OK) {
        sotto_journal_bind(q, 1, sotto_bytes_of(session, 32));
        (void)sqlite3_bind_int64(q, 2, (int64_t)epoch);
        status = sotto_journal_run(q, err);
    }
    return sotto_journal_finish_erased(j, status, err);
}

/* ---- duties ---------------------------------------------------------------------------------------------------- */

static sotto_status insert_duty(sotto_journal *j, const sotto_journal_duty *duty,
                                const uint8_t *round, sotto_err *err)
{
    sqlite3_stmt *q;

    SOTTO_TRY(sotto_journal_prepare(
        j, &q,
        "INSERT INTO duty (round, part, place, posting, vector, since, done, ended)"
        " VALUES (?1, ?2, ?3, ?4, ?5, 0, 0, 0) ON CONFLICT DO NOTHING",
        err));
    sotto_journal_bind(q, 1, sotto_bytes_of(round, SOTTO_ROUND_ID));
    (void)sqlite3_bind_int64(q, 2, duty->part);
    (void)sqlite3_bind_int64(q, 3, duty->index);
    sotto_journal_bind(q, 4, duty->posting);
    sotto_journal_bind(q, 5, duty->vector);
    SOTTO_TRY(sotto_journal_run(q, err));
    return sqlite3_changes(j->db) ? SOTTO_OK
                                  : sotto_fail(err, SOTTO_STALE, "this duty was taken before");
}

sotto_status sotto_journal_add(sotto_journal *j, const sotto_journal_duty *duty,
                               const uint8_t round[SOTTO_ROUND_ID], sotto_err *err)
{
    SOTTO_TRY(sotto_journal_begin(j, err));
    return sotto_journal_finish(j, insert_duty(j, duty, round, err), err);
}

sotto_status sotto_journal_holds(sotto_journal *j, const uint8_t round[SOTTO_ROUND_ID],
                                 unsigned part, bool *held, sotto_err *err)
{
    sotto_status status;
    sqlite3_stmt *q;

    *held = false;
    SOTTO_TRY(
        sotto_journal_prepare(j, &q, "SELECT 1 FROM duty WHERE round = ?1 AND part = ?2", err));
    sotto_journal_bind(q, 1, sotto_bytes_of(round, SOTTO_ROUND_ID));
    (void)sqlite3_bind_int64(q, 2, part);
    *held = sotto_journal_row(q, &status, err);
    sqlite3_finalize(q);
    return status;
}

static sotto_status read_duty(sqlite3_stmt *q, sotto_journal_duty *d, sotto_arena *arena,
                              sotto_err *err)
{
    d->n = sqlite3_column_int64(q, 0);
    d->part = (unsigned)sqlite3_column_int64(q, 1);
    d->index = (uint32_t)sqlite3_column_int64(q, 2);
    d->since = (uint64_t)sqlite3_column_int64(q, 3);
    d->done = sqlite3_column_int64(q, 4) != 0;
    d->board = (uint64_t)sqlite3_column_int64(q, 8);
    d->wake = (uint64_t)sqlite3_column_int64(q, 9);
    SOTTO_TRY(sotto_journal_column(q, 5, &d->posting, arena, err));
    SOTTO_TRY(sotto_journal_column(q, 6, &d->state, arena, err));
    return sotto_journal_column(q, 7, &d->vector, arena, err);
}

sotto_status sotto_journal_next(sotto_journal *j, sotto_journal_duty *duty, int64_t after,
                                bool *found, sotto_arena *arena, sotto_err *err)
{
    sotto_status status;
    sqlite3_stmt *q;

    *found = false;
    SOTTO_TRY(
        sotto_journal_prepare(j, &q,
                              "SELECT n, part, place, since, done, posting, state, vector, board,"
                              " wake FROM duty LEFT JOIN progress ON progress.duty = duty.n"
                              " WHERE n > ?1 AND ended = 0 ORDER BY n LIMIT 1",
                              err));
    (void)sqlite3_bind_int64(q, 1, after);
    *found = sotto_journal_row(q, &status, err);
    if (*found)
        status = read_duty(q, duty, arena, err);
    sqlite3_finalize(q);
    if (*found && status == SOTTO_OK)
        status = sotto_journal_load_tree(j, duty->n, &duty->tree, arena, err);
    return status;
}

/* ---- one step --------------------------------------------------------------------------------------------------- */

sotto_status sotto_journal_insert_vow(sotto_journal *j, const uint8_t session[32],
                                      const sotto_vow *v, sotto_err *err)
{
    sotto_status status;
    sqlite3_stmt *q;

    SOTTO_TRY(sotto_journal_prepare(
        j, &q,
        "INSERT INTO vow VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO UPDATE SET"
        " digest = digest RETURNING digest = ?6",
        err));
    sotto_journal_bind(q, 1, sotto_bytes_of(session, 32));
    (void)sqlite3_bind_int64(q, 2, (int64_t)v->epoch);
    (void)sqlite3_bind_int64(q, 3, (int64_t)v->round);
    (void)sqlite3_bind_int64(q, 4, v->kind);
    (void)sqlite3_bind_int64(q, 5, v->subject);
    sotto_journal_bind(q, 6, sotto_bytes_of(v->digest, sizeof v->digest));
    const bool row = sotto_journal_row(q, &status, err);
    const bool same = row && sqlite3_column_int64(q, 0) == 1;
    sqlite3_finalize(q);
    SOTTO_TRY(status);
    if (SOTTO_RULE(duties_vow_once) && !same)
        return sotto_fail(err, SOTTO_DENIED, "a vow stands that says something else");
    return SOTTO_OK;
}

sotto_status sotto_journal_vow(sotto_journal *j, const uint8_t session[32], const sotto_vow *vow,
                               sotto_err *err)
{
    SOTTO_TRY(sotto_journal_begin(j, err));
    return sotto_journal_finish(j, sotto_journal_insert_vow(j, session, vow, err), err);
}

static sotto_status insert_kept(sotto_journal *j, int64_t n, const sotto_message *m,
                                sotto_arena *arena, sotto_err *err)
{
    sqlite3_stmt *q;
    sotto_buf wire;

    SOTTO_TRY(sotto_buf_take(&wire, arena, sotto_message_size(m), err));
    SOTTO_TRY(sotto_message_encode(&wire, m, err));
    SOTTO_TRY(sotto_journal_prepare(j, &q, "INSERT INTO kept (duty, wire) VALUES (?1, ?2)", err));
    (void)sqlite3_bind_int64(q, 1, n);
    sotto_journal_bind(q, 2, sotto_buf_bytes(&wire));
    return sotto_journal_run(q, err);
}

static sotto_status insert_waiting(sotto_journal *j, int64_t n, const sotto_effect_message *m,
                                   sotto_arena *arena, sotto_err *err)
{
    const sotto_bytes bulk = m->bulk ? sotto_vector_bytes(m->bulk) : (sotto_bytes){NULL, 0};
    const size_t size = sotto_message_size(&m->message);
    sqlite3_stmt *q;
    sotto_buf body;

    SOTTO_TRY(sotto_buf_take(&body, arena, 4 + size + bulk.len, err));
    sotto_writer w = sotto_writer_on(&body);
    sotto_write_uint(&w, size, 4);
    SOTTO_TRY(sotto_writer_finish(&w, WHAT, err));
    SOTTO_TRY(sotto_message_encode(&body, &m->message, err));
    w = sotto_writer_on(&body);
    sotto_write_bytes(&w, bulk);
    SOTTO_TRY(sotto_writer_finish(&w, WHAT, err));
    SOTTO_TRY(
        sotto_journal_prepare(j, &q, "INSERT INTO waiting (duty, body) VALUES (?1, ?2)", err));
    (void)sqlite3_bind_int64(q, 1, n);
    sotto_journal_bind(q, 2, sotto_buf_bytes(&body));
    return sotto_journal_run(q, err);
}

/* Far ahead is never: SQLite's integers have a sign. */
static sotto_status store_progress(sotto_journal *j, const sotto_journal_duty *duty,
                                   const sotto_effects *effects, sotto_err *err)
{
    const uint64_t wake = effects->wake > INT64_MAX ? INT64_MAX : effects->wake;
    sqlite3_stmt *q;

    SOTTO_TRY(sotto_journal_prepare(
        j, &q, "INSERT OR REPLACE INTO progress (duty, board, wake) VALUES (?1, ?2, ?3)", err));
    (void)sqlite3_bind_int64(q, 1, duty->n);
    (void)sqlite3_bind_int64(q, 2, (int64_t)duty->board);
    (void)sqlite3_bind_int64(q, 3, (int64_t)wake);
    return sotto_journal_run(q, err);
}

static sotto_status store_step(sotto_journal *j, const sotto_journal_duty *duty,
                               const sotto_round *round, const sotto_effects *effects,
                               sotto_bytes state, sotto_arena *arena, sotto_err *err)
{
    sqlite3_stmt *q;

    SOTTO_TRY(store_progress(j, duty, effects, err));
    SOTTO_TRY(sotto_journal_store_tree(j, duty->n, &duty->tree, err));
    for (const sotto_effect_vow *v = effects->vows; v; v = v->next)
        SOTTO_TRY(sotto_journal_insert_vow(j, round->session, &v->vow, err));
    if (effects->carries)
        SOTTO_TRY(sotto_journal_store_carried(j, round, effects->carried, err));
    for (const sotto_effect_message *m = effects->kept; m; m = m->next)
        SOTTO_TRY(insert_kept(j, duty->n, &m->message, arena, err));
    for (const sotto_effect_message *m = effects->sent; m; m = m->next)
        SOTTO_TRY(insert_waiting(j, duty->n, m, arena, err));
    SOTTO_TRY(sotto_journal_prepare(
        j, &q,
        "UPDATE duty SET state = ?2, since = ?3, done = ?4, vector = CASE WHEN ?5"
        " THEN NULL ELSE vector END WHERE n = ?1",
        err));
    (void)sqlite3_bind_int64(q, 1, duty->n);
    sotto_journal_bind(q, 2, state);
    (void)sqlite3_bind_int64(q, 3, (int64_t)duty->since);
    (void)sqlite3_bind_int64(q, 4, duty->done || effects->done);
    (void)sqlite3_bind_int64(q, 5, duty->offered);
    return sotto_journal_run(q, err);
}

sotto_status sotto_journal_step(sotto_journal *j, const sotto_journal_duty *duty,
                                const sotto_round *round, const sotto_effects *effects,
                                sotto_bytes state, sotto_arena *arena, sotto_err *err)
{
    SOTTO_TRY(sotto_journal_begin(j, err));
    const sotto_status status = store_step(j, duty, round, effects, state, arena, err);
    /* The vector in the clear is erased by the step that masked or encrypted it. */
    return duty->offered || effects->carries ? sotto_journal_finish_erased(j, status, err)
                                             : sotto_journal_finish(j, status, err);
}

sotto_status sotto_journal_kept(sotto_journal *j, int64_t n, sotto_message **kept, size_t *count,
                                sotto_arena *arena, sotto_err *err)
{
    sotto_status status = SOTTO_OK;
    sqlite3_stmt *q;
    size_t room = 0;

    *count = 0;
    *kept = NULL;
    SOTTO_TRY(
        sotto_journal_prepare(j, &q, "SELECT wire FROM kept WHERE duty = ?1 ORDER BY n", err));
    (void)sqlite3_bind_int64(q, 1, n);
    while (status == SOTTO_OK && sotto_journal_row(q, &status, err)) {
        sotto_bytes wire;

        if (*count == room) {
            const size_t more = 2 * room + 8;
            sotto_message *grown = sotto_arena_take_array(arena, more, sizeof *grown);

            if (!grown) {
                status = sotto_fail(err, SOTTO_NO_MEMORY, WHAT);
                break;
            }
            if (room)
                memcpy(grown, *kept, room * sizeof *grown);
            *kept = grown;
            room = more;
        }
        status = sotto_journal_column(q, 0, &wire, arena, err);
        if (status == SOTTO_OK)
            status = sotto_message_decode(&(*kept)[(*count)++], wire, err);
    }
    sqlite3_finalize(q);
    return status;
}

sotto_status sotto_journal_waiting(sotto_journal *j, int64_t n, int64_t after, int64_t *row,
                                   sotto_bytes *body, bool *found, sotto_arena *arena,
                                   sotto_err *err)
{
    sotto_status status;
    sqlite3_stmt *q;

    SOTTO_TRY(sotto_journal_prepare(
        j, &q, "SELECT n, body FROM waiting WHERE duty = ?1 AND n > ?2 ORDER BY n LIMIT 1", err));
    (void)sqlite3_bind_int64(q, 1, n);
    (void)sqlite3_bind_int64(q, 2, after);
    *found = sotto_journal_row(q, &status, err);
    if (*found) {
        *row = sqlite3_column_int64(q, 0);
        status = sotto_journal_column(q, 1, body, arena, err);
    }
    sqlite3_finalize(q);
    return status;
}

sotto_status sotto_journal_forget(sotto_journal *j, int64_t row, sotto_err *err)
{
    SOTTO_TRY(sotto_journal_run_for(j, "DELETE FROM handed_to WHERE row = ?1", row, err));
    return sotto_journal_run_for(j, "DELETE FROM waiting WHERE n = ?1", row, err);
}

sotto_status sotto_journal_sent(sotto_journal *j, int64_t row, sotto_err *err)
{
    SOTTO_TRY(sotto_journal_begin(j, err));
    return sotto_journal_finish(j, sotto_journal_forget(j, row, err), err);
}

sotto_status sotto_journal_end(sotto_journal *j, int64_t n, sotto_err *err)
{
    SOTTO_TRY(sotto_journal_begin(j, err));
    sotto_status status = sotto_journal_run_for(
        j, "UPDATE duty SET posting = NULL, state = NULL, vector = NULL, ended = 1 WHERE n = ?1", n,
        err);
    if (status == SOTTO_OK)
        status = sotto_journal_run_for(j, "DELETE FROM kept WHERE duty = ?1", n, err);
    if (status == SOTTO_OK)
        status = sotto_journal_run_for(
            j, "DELETE FROM handed_to WHERE row IN (SELECT n FROM waiting WHERE duty = ?1)", n,
            err);
    if (status == SOTTO_OK)
        status = sotto_journal_run_for(j, "DELETE FROM waiting WHERE duty = ?1", n, err);
    if (status == SOTTO_OK)
        status = sotto_journal_run_for(j, "DELETE FROM progress WHERE duty = ?1", n, err);
    if (status == SOTTO_OK)
        status = sotto_journal_run_for(j, "DELETE FROM tree WHERE duty = ?1", n, err);
    return sotto_journal_finish_erased(j, status, err);
}
