#include "support/liar.h"

#include "aggregate/aero/aero.h"
#include "base/arena.h"

#include <string.h>

typedef struct edit {
    const uint8_t *id;
    sotto_arena *arena;
    sotto_lie *out;
} edit;

/* The next answer from number *n on; found: false at the end. */
static sotto_status next_answer(sotto_tx *tx, const edit *e, int64_t *n, sotto_message *m,
                                bool *found, sotto_err *err)
{
    bool row = true;
    sotto_sql q;

    for (*found = false; row && !*found; ++*n) {
        SOTTO_TRY(
            sotto_sql_prepare(tx, &q, "SELECT wire FROM kept WHERE round = ?1 AND n = ?2", err));
        sotto_sql_bytes(&q, 1, sotto_bytes_of(e->id, SOTTO_ROUND_ID));
        sotto_sql_int(&q, 2, *n);
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
        const sotto_bytes wire = row ? sotto_sql_column_bytes(&q, 0) : (sotto_bytes){NULL, 0};
        uint8_t *copy = sotto_arena_take(e->arena, wire.len + 1);
        if (!copy)
            return sotto_fail(err, SOTTO_NO_MEMORY, "a lie");
        if (!row)
            return SOTTO_OK;
        memcpy(copy, wire.data, wire.len);
        SOTTO_TRY(sotto_message_decode(m, sotto_bytes_of(copy, wire.len), err));
        *found = m->kind == SOTTO_AERO_REVEAL && m->body.len &&
                 m->body.data[0] == SOTTO_AERO_CONTRIBUTOR;
    }
    return SOTTO_OK;
}

static sotto_status put_in_place(sotto_tx *tx, void *context, sotto_err *err)
{
    edit *e = context;
    sotto_message victim, copied;
    int64_t n = 0, place;
    bool found;
    sotto_buf out;
    sotto_sql q;

    SOTTO_TRY(next_answer(tx, e, &n, &victim, &found, err));
    place = n - 1;
    if (found)
        SOTTO_TRY(next_answer(tx, e, &n, &copied, &found, err));
    if (!found)
        return sotto_fail(err, SOTTO_MISSING, "there are no two answers");
    *e->out = (sotto_lie){.victim = victim.from, .copied = copied.from};
    victim.body = copied.body;
    SOTTO_TRY(sotto_buf_take(&out, e->arena, sotto_message_size(&victim), err));
    SOTTO_TRY(sotto_message_encode(&out, &victim, err));
    SOTTO_TRY(
        sotto_sql_prepare(tx, &q, "UPDATE kept SET wire = ?3 WHERE round = ?1 AND n = ?2", err));
    sotto_sql_bytes(&q, 1, sotto_bytes_of(e->id, SOTTO_ROUND_ID));
    sotto_sql_int(&q, 2, place);
    sotto_sql_bytes(&q, 3, sotto_buf_bytes(&out));
    return sotto_sql_run(&q, NULL, err);
}

sotto_status sotto_lie_in_database(sotto_db *db, const uint8_t round[SOTTO_ROUND_ID],
                                   sotto_lie *out, sotto_arena *arena, sotto_err *err)
{
    edit e = {.id = round, .arena = arena, .out = out};

    return sotto_db_run(db, put_in_place, &e, err);
}
