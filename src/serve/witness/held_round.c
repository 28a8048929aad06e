#include "serve/witness/held_round.h"

#include "aggregate/board_origin.h"
#include "base/arena.h"
#include "base/rule.h"

#include <string.h>

enum {
    KEEP_MS = 7 * 86400 * 1000, /* after the end of a round */
    TOGETHER = 256              /* keys in one row */
};

static sotto_bytes id_bytes(const uint8_t *id)
{
    return sotto_bytes_of(id, SOTTO_ROUND_ID);
}

/* ---- postings ----------------------------------------------------------------------------------------------- */

sotto_status sotto_held_round_look(sotto_tx *tx, const uint8_t *server,
                                   const uint8_t id[SOTTO_ROUND_ID], bool *is_board, bool *is_known,
                                   sotto_err *err)
{
    char origin[SOTTO_BOARD_ORIGIN + 1];
    sotto_sql q;

    sotto_board_origin(origin, server, id);
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT size FROM witnessed WHERE origin = ?1", err));
    sotto_sql_bytes(&q, 1, sotto_bytes_of(origin, SOTTO_BOARD_ORIGIN));
    SOTTO_TRY(sotto_sql_any(&q, is_board, err));
    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "SELECT ends FROM held_board WHERE round = ?1 AND terms IS NOT NULL", err));
    sotto_sql_bytes(&q, 1, id_bytes(id));
    return sotto_sql_any(&q, is_known, err);
}

/* What a round that is long over held is forgotten when another one begins. */
static sotto_status forget_old(sotto_tx *tx, int64_t now, sotto_err *err)
{
    static const char *const statements[] = {
        "DELETE FROM held WHERE round IN (SELECT round FROM held_board WHERE ends < ?1)",
        "DELETE FROM held_sender WHERE round IN (SELECT round FROM held_board WHERE ends < ?1)",
        "DELETE FROM held_keys WHERE round IN (SELECT round FROM held_board WHERE ends < ?1)",
        "DELETE FROM held_board WHERE ends < ?1",
    };
    sotto_sql q;

    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        SOTTO_TRY(sotto_sql_prepare(tx, &q, statements[i], err));
        sotto_sql_int(&q, 1, now - KEEP_MS);
        SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    }
    return SOTTO_OK;
}

static sotto_status keep_keys(sotto_tx *tx, const sotto_registry *r, const uint8_t *id,
                              sotto_err *err)
{
    sotto_sql q;

    for (uint64_t at = 0; at < r->count; at += TOGETHER) {
        const uint64_t some = r->count - at < TOGETHER ? r->count - at : TOGETHER;

        SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                    "INSERT INTO held_keys (round, chunk, keys) VALUES (?1, ?2, ?3)"
                                    " ON CONFLICT DO NOTHING",
                                    err));
        sotto_sql_bytes(&q, 1, id_bytes(id));
        sotto_sql_int(&q, 2, (int64_t)(at / TOGETHER));
        sotto_sql_bytes(&q, 3, sotto_bytes_of(r->keys[at], (size_t)some * SOTTO_SIGN_PUBLIC));
        SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    }
    return SOTTO_OK;
}

sotto_status sotto_held_round_keep(sotto_tx *tx, const sotto_posting *posting,
                                   const sotto_round *round, const uint8_t id[SOTTO_ROUND_ID],
                                   int64_t now_ms, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(forget_old(tx, now_ms, err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO held_board (round, ends, terms, room)"
                                " VALUES (?1, ?2, ?3, 0)"
                                " ON CONFLICT (round) DO UPDATE SET terms = excluded.terms",
                                err));
    sotto_sql_bytes(&q, 1, id_bytes(id));
    sotto_sql_int(&q, 2, (int64_t)round->release_by); /* weeks from now at most */
    sotto_sql_bytes(&q, 3, posting->round);
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    return keep_keys(tx, &posting->registry, id, err);
}

/* ---- records ------------------------------------------------------------------------------------------------ */

static sotto_status copy_column(const sotto_sql *q, sotto_bytes *out, sotto_arena *arena,
                                sotto_err *err)
{
    const sotto_bytes found = sotto_sql_column_bytes(q, 0);
    uint8_t *copy = sotto_arena_take(arena, found.len + 1);

    if (!copy)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a round");
    if (found.len)
        memcpy(copy, found.data, found.len);
    *out = sotto_bytes_of(copy, found.len);
    return SOTTO_OK;
}

sotto_status sotto_held_round_terms(sotto_tx *tx, const uint8_t id[SOTTO_ROUND_ID], uint32_t sender,
                                    sotto_held_terms *out, sotto_arena *arena, sotto_err *err)
{
    const size_t at = (size_t)(sender % TOGETHER) * SOTTO_SIGN_PUBLIC;
    sotto_bytes keys;
    sotto_sql q;
    bool row;

    *out = (sotto_held_terms){.key = NULL};
    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "SELECT terms FROM held_board WHERE round = ?1 AND terms IS NOT NULL", err));
    sotto_sql_bytes(&q, 1, id_bytes(id));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (!row)
        return SOTTO_OK;
    SOTTO_TRY(copy_column(&q, &out->terms, arena, err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT keys FROM held_keys WHERE round = ?1 AND chunk = ?2", err));
    sotto_sql_bytes(&q, 1, id_bytes(id));
    sotto_sql_int(&q, 2, sender / TOGETHER);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (!row)
        return SOTTO_OK;
    SOTTO_TRY(copy_column(&q, &keys, arena, err));
    if (at + SOTTO_SIGN_PUBLIC <= keys.len)
        out->key = keys.data + at;
    return SOTTO_OK;
}

sotto_status sotto_held_round_counts(sotto_tx *tx, const uint8_t id[SOTTO_ROUND_ID],
                                     uint32_t sender, sotto_held_counts *out, sotto_err *err)
{
    sotto_sql q;
    bool row;

    *out = (sotto_held_counts){0};
    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "SELECT records, bytes FROM held_sender WHERE round = ?1 AND sender = ?2", err));
    sotto_sql_bytes(&q, 1, id_bytes(id));
    sotto_sql_int(&q, 2, sender);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (row) {
        out->records = sotto_sql_column_int(&q, 0);
        out->bytes = sotto_sql_column_int(&q, 1);
    }
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT room FROM held_board WHERE round = ?1", err));
    sotto_sql_bytes(&q, 1, id_bytes(id));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    out->room = row ? sotto_sql_column_int(&q, 0) : 0;
    return SOTTO_OK;
}

static sotto_status change_room(sotto_tx *tx, const uint8_t *id, int64_t more, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(
        sotto_sql_prepare(tx, &q, "UPDATE held_board SET room = room + ?2 WHERE round = ?1", err));
    sotto_sql_bytes(&q, 1, id_bytes(id));
    sotto_sql_int(&q, 2, more);
    return sotto_sql_run(&q, NULL, err);
}

sotto_status sotto_held_round_add(sotto_tx *tx, const uint8_t id[SOTTO_ROUND_ID], uint32_t sender,
                                  size_t bytes, size_t body, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO held_sender (round, sender, records, bytes)"
                                " VALUES (?1, ?2, 1, ?3) ON CONFLICT (round, sender) DO UPDATE SET"
                                " records = held_sender.records + 1,"
                                " bytes = held_sender.bytes + excluded.bytes",
                                err));
    sotto_sql_bytes(&q, 1, id_bytes(id));
    sotto_sql_int(&q, 2, sender);
    sotto_sql_int(&q, 3, (int64_t)bytes);
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    return body ? change_room(tx, id, (int64_t)body, err) : SOTTO_OK;
}

sotto_status sotto_held_round_free(sotto_tx *tx, const uint8_t id[SOTTO_ROUND_ID], size_t body,
                                   sotto_err *err)
{
    return body ? change_room(tx, id, -(int64_t)body, err) : SOTTO_OK;
}
