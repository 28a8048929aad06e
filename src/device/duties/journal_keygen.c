#include "device/duties/journal_keygen.h"

#include "base/arena.h"
#include "base/rule.h"
#include "device/duties/journal_inside.h"

#include <string.h>

/* ---- joining ------------------------------------------------------------------------------------------------------ */

static sotto_status insert(sotto_journal *j, const sotto_journal_keygen *k, sotto_err *err)
{
    sqlite3_stmt *q;

    SOTTO_TRY(sotto_journal_prepare(
        j, &q,
        "INSERT INTO keygen (id, place, call, seed, since, step, ended) VALUES (?1, ?2, ?3, ?4, 0,"
        " 0, 0) ON CONFLICT DO NOTHING",
        err));
    sotto_journal_bind(q, 1, sotto_bytes_of(k->id, sizeof k->id));
    (void)sqlite3_bind_int64(q, 2, k->index);
    sotto_journal_bind(q, 3, k->call);
    sotto_journal_bind(q, 4, sotto_bytes_of(k->seed, sizeof k->seed));
    SOTTO_TRY(sotto_journal_run(q, err));
    return sqlite3_changes(j->db) == 1
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_STALE, "this key generation was joined before");
}

sotto_status sotto_journal_keygen_add(sotto_journal *j, const sotto_journal_keygen *keygen,
                                      const uint8_t session[32], const sotto_vow *vows,
                                      size_t count, sotto_err *err)
{
    SOTTO_TRY(sotto_journal_begin(j, err));
    sotto_status status = insert(j, keygen, err);
    for (size_t i = 0; i < count && status == SOTTO_OK; i++)
        status = sotto_journal_insert_vow(j, session, &vows[i], err);
    return sotto_journal_finish(j, status, err);
}

static sotto_status read_keygen(sqlite3_stmt *q, sotto_journal_keygen *out, sotto_arena *arena,
                                sotto_err *err)
{
    out->n = sqlite3_column_int64(q, 0);
    out->index = (uint32_t)sqlite3_column_int64(q, 1);
    out->since = (uint64_t)sqlite3_column_int64(q, 2);
    out->step = (unsigned)sqlite3_column_int64(q, 3);
    if (sqlite3_column_bytes(q, 4) != SOTTO_KEYGEN_ID ||
        sqlite3_column_bytes(q, 5) != SOTTO_KEYGEN_SEED)
        return sotto_fail(err, SOTTO_MALFORMED, "journal of duties: a key generation");
    memcpy(out->id, sqlite3_column_blob(q, 4), sizeof out->id);
    memcpy(out->seed, sqlite3_column_blob(q, 5), sizeof out->seed);
    return sotto_journal_column(q, 6, &out->call, arena, err);
}

sotto_status sotto_journal_keygen_next(sotto_journal *j, sotto_journal_keygen *out, int64_t after,
                                       bool *found, sotto_arena *arena, sotto_err *err)
{
    sotto_status status;
    sqlite3_stmt *q;

    *found = false;
    SOTTO_TRY(sotto_journal_prepare(j, &q,
                                    "SELECT n, place, since, step, id, seed, call FROM keygen"
                                    " WHERE n > ?1 AND ended = 0 ORDER BY n LIMIT 1",
                                    err));
    (void)sqlite3_bind_int64(q, 1, after);
    *found = sotto_journal_row(q, &status, err);
    if (*found)
        status = read_keygen(q, out, arena, err);
    sqlite3_finalize(q);
    return status;
}

/* ---- the board ----------------------------------------------------------------------------------------------------- */

static sotto_status see(sotto_journal *j, const sotto_journal_keygen *k,
                        const sotto_journal_post *posts, size_t count, sotto_err *err)
{
    sqlite3_stmt *q;

    for (size_t i = 0; i < count; i++) {
        SOTTO_TRY(sotto_journal_prepare(
            j, &q, "INSERT INTO posted VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING", err));
        (void)sqlite3_bind_int64(q, 1, k->n);
        (void)sqlite3_bind_int64(q, 2, posts[i].step);
        (void)sqlite3_bind_int64(q, 3, posts[i].place);
        sotto_journal_bind(q, 4, posts[i].wire);
        SOTTO_TRY(sotto_journal_run(q, err));
    }
    SOTTO_TRY(
        sotto_journal_prepare(j, &q, "UPDATE keygen SET since = ?2, step = ?3 WHERE n = ?1", err));
    (void)sqlite3_bind_int64(q, 1, k->n);
    (void)sqlite3_bind_int64(q, 2, (int64_t)k->since);
    (void)sqlite3_bind_int64(q, 3, k->step);
    return sotto_journal_run(q, err);
}

sotto_status sotto_journal_keygen_see(sotto_journal *j, const sotto_journal_keygen *keygen,
                                      const sotto_journal_post *posts, size_t count, sotto_err *err)
{
    SOTTO_TRY(sotto_journal_begin(j, err));
    return sotto_journal_finish(j, see(j, keygen, posts, count, err), err);
}

static sotto_status put_rows(sotto_journal *j, int64_t n, const char *sql,
                             sotto_keygen_board *board, sotto_arena *arena, sotto_err *err)
{
    sotto_status status = SOTTO_OK;
    sqlite3_stmt *q;

    SOTTO_TRY(sotto_journal_prepare(j, &q, sql, err));
    (void)sqlite3_bind_int64(q, 1, n);
    while (status == SOTTO_OK && sotto_journal_row(q, &status, err)) {
        sotto_keygen_post post;
        sotto_bytes wire;

        status = sotto_journal_column(q, 0, &wire, arena, err);
        if (status == SOTTO_OK)
            status = sotto_keygen_post_decode(&post, wire, err);
        if (status == SOTTO_OK && post.place < SOTTO_DECRYPTORS_MOST)
            sotto_keygen_board_put(board, &post);
    }
    sqlite3_finalize(q);
    return status;
}

sotto_status sotto_journal_keygen_board(sotto_journal *j, int64_t n, sotto_keygen_board *board,
                                        sotto_arena *arena, sotto_err *err)
{
    /* Its own first: the server can't hide from a member what it said itself. */
    SOTTO_TRY(
        put_rows(j, n, "SELECT wire FROM said WHERE keygen = ?1 ORDER BY step", board, arena, err));
    return put_rows(j, n, "SELECT wire FROM posted WHERE keygen = ?1 ORDER BY step, place", board,
                    arena, err);
}

/* ---- posts ----------------------------------------------------------------------------------------------------------- */

static sotto_status insert_said(sotto_journal *j, int64_t n, unsigned step, sotto_bytes wire,
                                sotto_err *err)
{
    sqlite3_stmt *q;

    SOTTO_TRY(sotto_journal_prepare(
        j, &q, "INSERT INTO said VALUES (?1, ?2, ?3, 0) ON CONFLICT DO NOTHING", err));
    (void)sqlite3_bind_int64(q, 1, n);
    (void)sqlite3_bind_int64(q, 2, step);
    sotto_journal_bind(q, 3, wire);
    SOTTO_TRY(sotto_journal_run(q, err));
    return sqlite3_changes(j->db) == 1
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_DENIED, "something else was said in this step");
}

sotto_status sotto_journal_keygen_say(sotto_journal *j, int64_t n, unsigned step, sotto_bytes wire,
                                      sotto_err *err)
{
    SOTTO_TRY(sotto_journal_begin(j, err));
    return sotto_journal_finish(j, insert_said(j, n, step, wire, err), err);
}

sotto_status sotto_journal_keygen_said(sotto_journal *j, int64_t n, unsigned step, bool *said,
                                       sotto_err *err)
{
    sotto_status status;
    sqlite3_stmt *q;

    SOTTO_TRY(
        sotto_journal_prepare(j, &q, "SELECT 1 FROM said WHERE keygen = ?1 AND step = ?2", err));
    (void)sqlite3_bind_int64(q, 1, n);
    (void)sqlite3_bind_int64(q, 2, step);
    *said = sotto_journal_row(q, &status, err);
    sqlite3_finalize(q);
    return status;
}

sotto_status sotto_journal_keygen_waiting(sotto_journal *j, int64_t n, unsigned *step,
                                          sotto_bytes *wire, bool *found, sotto_arena *arena,
                                          sotto_err *err)
{
    sotto_status status;
    sqlite3_stmt *q;

    SOTTO_TRY(sotto_journal_prepare(
        j, &q, "SELECT step, wire FROM said WHERE keygen = ?1 AND sent = 0 ORDER BY step LIMIT 1",
        err));
    (void)sqlite3_bind_int64(q, 1, n);
    *found = sotto_journal_row(q, &status, err);
    if (*found) {
        *step = (unsigned)sqlite3_column_int64(q, 0);
        status = sotto_journal_column(q, 1, wire, arena, err);
    }
    sqlite3_finalize(q);
    return status;
}

sotto_status sotto_journal_keygen_sent(sotto_journal *j, int64_t n, unsigned step, sotto_err *err)
{
    sqlite3_stmt *q;

    SOTTO_TRY(sotto_journal_begin(j, err));
    sotto_status status = sotto_journal_prepare(
        j, &q, "UPDATE said SET sent = 1 WHERE keygen = ?1 AND step = ?2", err);
    if (status == SOTTO_OK) {
        (void)sqlite3_bind_int64(q, 1, n);
        (void)sqlite3_bind_int64(q, 2, step);
        status = sotto_journal_run(q, err);
    }
    return sotto_journal_finish(j, status, err);
}

sotto_status sotto_journal_keygen_end(sotto_journal *j, int64_t n, sotto_err *err)
{
    static const char *const texts[] = {
        "UPDATE keygen SET call = NULL, seed = NULL, ended = 1 WHERE n = ?1",
        "DELETE FROM posted WHERE keygen = ?1", "DELETE FROM said WHERE keygen = ?1"};
    sotto_status status = SOTTO_OK;

    SOTTO_TRY(sotto_journal_begin(j, err));
    for (size_t i = 0; i < sizeof texts / sizeof texts[0] && status == SOTTO_OK; i++)
        status = sotto_journal_run_for(j, texts[i], n, err);
    return sotto_journal_finish_erased(j, status, err);
}
