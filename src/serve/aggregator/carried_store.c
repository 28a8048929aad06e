#include "serve/aggregator/carried_store.h"

#include "base/arena.h"

#include <string.h>

static sotto_bytes session_bytes(const uint8_t *session)
{
    return sotto_bytes_of(session, 32);
}

sotto_status sotto_carried_store(sotto_tx *tx, const uint8_t session[32], sotto_bytes what,
                                 sotto_err *err)
{
    sotto_sql q;

    if (what.len == 0) {
        SOTTO_TRY(sotto_sql_prepare(tx, &q, "DELETE FROM carried WHERE session = ?1", err));
        sotto_sql_bytes(&q, 1, session_bytes(session));
        return sotto_sql_run(&q, NULL, err);
    }
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO carried (session, what) VALUES (?1, ?2)"
                                " ON CONFLICT (session) DO UPDATE SET what = excluded.what",
                                err));
    sotto_sql_bytes(&q, 1, session_bytes(session));
    sotto_sql_bytes(&q, 2, what);
    return sotto_sql_run(&q, NULL, err);
}

typedef struct reading {
    const uint8_t *session;
    sotto_arena *arena;
    sotto_bytes what;
} reading;

static sotto_status read_carried(sotto_tx *tx, void *context, sotto_err *err)
{
    reading *r = context;
    sotto_sql q;
    bool row;

    r->what = (sotto_bytes){NULL, 0};
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT what FROM carried WHERE session = ?1", err));
    sotto_sql_bytes(&q, 1, session_bytes(r->session));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (!row)
        return SOTTO_OK;
    const sotto_bytes what = sotto_sql_column_bytes(&q, 0);
    uint8_t *copy = sotto_arena_take(r->arena, what.len + 1);
    if (!copy)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a public key");
    if (what.len)
        memcpy(copy, what.data, what.len);
    r->what = sotto_bytes_of(copy, what.len);
    return SOTTO_OK;
}

sotto_status sotto_carried_load(sotto_db *db, const uint8_t session[32], sotto_bytes *out,
                                sotto_arena *arena, sotto_err *err)
{
    reading r = {.session = session, .arena = arena};
    const sotto_status status = sotto_db_read(db, read_carried, &r, err);

    *out = r.what;
    return status;
}
