/* Messages of a round as participants ask for them: what waits for one, and what one sent before. */
#include "serve/aggregator/round_store.h"

#include "base/arena.h"
#include "crypto/hash.h"

enum { CHANNEL_OVERHEAD = 12 };

static sotto_bytes id_bytes(const uint8_t *id)
{
    return sotto_bytes_of(id, SOTTO_ROUND_ID);
}

typedef struct inbox {
    const uint8_t *id;
    uint32_t receiver;
    uint64_t since;
    size_t most;
    sotto_arena *arena;
    sotto_buf out;
} inbox;

/* Bytes of everything that waits, so that no more room is taken than that. */
static sotto_status inbox_size(sotto_tx *tx, const inbox *b, size_t *size, sotto_err *err)
{
    bool row;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT CAST(COALESCE(sum(length(wire) + 12), 0) AS BIGINT) FROM"
                                " outgoing WHERE round = ?1 AND receiver = ?2 AND n >= ?3",
                                err));
    sotto_sql_bytes(&q, 1, id_bytes(b->id));
    sotto_sql_int(&q, 2, b->receiver);
    sotto_sql_int(&q, 3, (int64_t)(b->since & INT64_MAX));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    *size = row ? (size_t)sotto_sql_column_int(&q, 0) : 0;
    return SOTTO_OK;
}

static sotto_status read_inbox(sotto_tx *tx, void *context, sotto_err *err)
{
    inbox *b = context;
    int64_t next = (int64_t)(b->since & INT64_MAX);
    size_t size;

    SOTTO_TRY(inbox_size(tx, b, &size, err));
    SOTTO_TRY(sotto_buf_take(&b->out, b->arena, size, err));
    while (b->out.len < size) {
        sotto_writer w = sotto_writer_on(&b->out);
        bool row;
        sotto_sql q;

        SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                    "SELECT n, wire FROM outgoing WHERE round = ?1 AND"
                                    " receiver = ?2 AND n >= ?3 ORDER BY n LIMIT 1",
                                    err));
        sotto_sql_bytes(&q, 1, id_bytes(b->id));
        sotto_sql_int(&q, 2, b->receiver);
        sotto_sql_int(&q, 3, next);
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
        if (!row)
            return SOTTO_OK;
        const int64_t n = sotto_sql_column_int(&q, 0);
        const sotto_bytes wire = sotto_sql_column_bytes(&q, 1);
        if (b->out.len && b->out.len + wire.len + CHANNEL_OVERHEAD > b->most)
            return SOTTO_OK;
        sotto_write_uint(&w, (uint64_t)n, 8);
        sotto_write_opaque32(&w, wire);
        SOTTO_TRY(sotto_writer_finish(&w, "inbox", err));
        next = n + 1;
    }
    return SOTTO_OK;
}

sotto_status sotto_round_store_inbox(sotto_db *db, const uint8_t id[32], uint32_t receiver,
                                     uint64_t since, size_t most, sotto_bytes *out,
                                     sotto_arena *arena, sotto_err *err)
{
    inbox b = {.id = id, .receiver = receiver, .since = since, .most = most, .arena = arena};
    const sotto_status status = sotto_db_read(db, read_inbox, &b, err);

    *out = sotto_buf_bytes(&b.out);
    return status;
}

typedef struct search {
    const uint8_t *id;
    uint8_t digest[32];
    bool found;
} search;

static sotto_status find_kept(sotto_tx *tx, void *context, sotto_err *err)
{
    search *s = context;
    sotto_sql q;

    SOTTO_TRY(
        sotto_sql_prepare(tx, &q, "SELECT n FROM kept WHERE round = ?1 AND digest = ?2", err));
    sotto_sql_bytes(&q, 1, id_bytes(s->id));
    sotto_sql_bytes(&q, 2, sotto_bytes_of(s->digest, sizeof s->digest));
    return sotto_sql_any(&q, &s->found, err);
}

sotto_status sotto_round_store_has(sotto_db *db, const uint8_t id[32], sotto_bytes wire, bool *has,
                                   sotto_err *err)
{
    search s = {.id = id};

    sotto_hash_once(s.digest, SOTTO_SHA256, wire);
    const sotto_status status = sotto_db_read(db, find_kept, &s, err);
    *has = s.found;
    return status;
}
