#include "serve/aggregator/board.h"

#include "base/arena.h"
#include "base/writer.h"

#include <string.h>

enum { OVERHEAD = 12 /* number and length of a message */, MOST_ENTRIES = 4096 };

static sotto_bytes id_bytes(const uint8_t *id)
{
    return sotto_bytes_of(id, SOTTO_ROUND_ID);
}

/* What a participant has said is known without reading it again: each record asks for that. */
static sotto_status count_in(sotto_tx *tx, const uint8_t *id, const sotto_board_entry *e,
                             sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO board_sender (round, sender, records, bytes)"
                                " VALUES (?1, ?2, 1, ?3) ON CONFLICT (round, sender) DO UPDATE SET"
                                " records = board_sender.records + 1,"
                                " bytes = board_sender.bytes + excluded.bytes",
                                err));
    sotto_sql_bytes(&q, 1, id_bytes(id));
    sotto_sql_int(&q, 2, e->from);
    sotto_sql_int(&q, 3, (int64_t)e->wire.len);
    return sotto_sql_run(&q, NULL, err);
}

sotto_status sotto_board_store(sotto_tx *tx, const uint8_t id[SOTTO_ROUND_ID],
                               const sotto_board *board, sotto_err *err)
{
    int64_t n = board->count;

    for (const sotto_board_entry *e = board->first; e; e = e->next)
        n--;
    for (const sotto_board_entry *e = board->first; e; e = e->next) {
        sotto_sql q;

        SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                    "INSERT INTO board (round, n, sender, digest, wire, excerpt)"
                                    " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                                    err));
        sotto_sql_bytes(&q, 1, id_bytes(id));
        sotto_sql_int(&q, 2, n++);
        sotto_sql_int(&q, 3, e->from);
        sotto_sql_bytes(&q, 4, sotto_bytes_of(e->digest, sizeof e->digest));
        sotto_sql_bytes(&q, 5, e->wire);
        sotto_sql_bytes(&q, 6, e->excerpt);
        SOTTO_TRY(sotto_sql_run(&q, NULL, err));
        SOTTO_TRY(count_in(tx, id, e, err));
    }
    return SOTTO_OK;
}

sotto_status sotto_board_store_count(sotto_tx *tx, const uint8_t id[SOTTO_ROUND_ID], int64_t *count,
                                     sotto_err *err)
{
    bool row;
    sotto_sql q;

    /* Entries are numbered from 0 on: the last one says how many there are. */
    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "SELECT n FROM board WHERE round = ?1 ORDER BY n DESC LIMIT 1", err));
    sotto_sql_bytes(&q, 1, id_bytes(id));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    *count = row ? sotto_sql_column_int(&q, 0) + 1 : 0;
    return SOTTO_OK;
}

sotto_status sotto_board_store_end(sotto_tx *tx, const uint8_t id[SOTTO_ROUND_ID], sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "UPDATE board SET wire = excerpt WHERE round = ?1 AND length(excerpt) > 0", err));
    sotto_sql_bytes(&q, 1, id_bytes(id));
    return sotto_sql_erase(&q, NULL, err);
}

/* ---- what one has said ---------------------------------------------------------------------------------- */

typedef struct asking {
    const uint8_t *id, *digest;
    uint32_t from;
    sotto_board_said *out;
} asking;

static sotto_status look_up(sotto_tx *tx, void *context, sotto_err *err)
{
    const asking *a = context;
    bool row;
    sotto_sql q;

    SOTTO_TRY(
        sotto_sql_prepare(tx, &q, "SELECT n FROM board WHERE round = ?1 AND digest = ?2", err));
    sotto_sql_bytes(&q, 1, id_bytes(a->id));
    sotto_sql_bytes(&q, 2, sotto_bytes_of(a->digest, 32));
    SOTTO_TRY(sotto_sql_any(&q, &a->out->has, err));
    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "SELECT records, bytes FROM board_sender WHERE round = ?1 AND sender = ?2", err));
    sotto_sql_bytes(&q, 1, id_bytes(a->id));
    sotto_sql_int(&q, 2, a->from);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    a->out->records = row ? (uint64_t)sotto_sql_column_int(&q, 0) : 0;
    a->out->bytes = row ? (uint64_t)sotto_sql_column_int(&q, 1) : 0;
    return SOTTO_OK;
}

sotto_status sotto_board_store_said(sotto_db *db, const uint8_t id[SOTTO_ROUND_ID], uint32_t from,
                                    const uint8_t digest[32], sotto_board_said *out, sotto_err *err)
{
    asking a = {.id = id, .digest = digest, .from = from, .out = out};

    memset(out, 0, sizeof *out);
    return sotto_db_read(db, look_up, &a, err);
}

/* ---- leaves --------------------------------------------------------------------------------------------- */

typedef struct gathering {
    const uint8_t *id;
    int64_t since;
    sotto_arena *arena;
    uint8_t *leaves;
    size_t count;
} gathering;

static sotto_status gather(sotto_tx *tx, void *context, sotto_err *err)
{
    gathering *g = context;
    int64_t all = 0;
    bool row;
    sotto_sql q;

    g->count = 0;
    SOTTO_TRY(sotto_board_store_count(tx, g->id, &all, err));
    const size_t most = all > g->since ? (size_t)(all - g->since) : 0;
    g->leaves = sotto_arena_take(g->arena, 32 * most + 1);
    if (!g->leaves)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the board");
    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "SELECT digest FROM board WHERE round = ?1 AND n >= ?2 ORDER BY n", err));
    sotto_sql_bytes(&q, 1, id_bytes(g->id));
    sotto_sql_int(&q, 2, g->since);
    for (;;) {
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
        if (!row)
            return SOTTO_OK;
        if (g->count == most)
            continue;
        SOTTO_TRY(sotto_sql_column_fixed(&q, 0, g->leaves + 32 * g->count, 32, err));
        g->count++;
    }
}

sotto_status sotto_board_store_leaves(sotto_db *db, const uint8_t id[SOTTO_ROUND_ID],
                                      uint64_t since, const uint8_t **leaves, size_t *count,
                                      sotto_arena *arena, sotto_err *err)
{
    gathering g = {.id = id, .since = (int64_t)(since & INT64_MAX), .arena = arena};
    const sotto_status status = sotto_db_read(db, gather, &g, err);

    *leaves = g.leaves;
    *count = g.count;
    return status;
}

/* ---- reading -------------------------------------------------------------------------------------------- */

typedef struct reading {
    const uint8_t *id;
    int64_t next;
    size_t most;
    uint32_t reader;
    const sotto_posted_round *posted;
    sotto_arena *arena;
    size_t loaded; /* of whole records, however little is shown of them */
    sotto_buf out;
} reading;

/* A page ends after so many bytes of whole records: anybody may ask, as whichever reader. */
#define MOST_LOADED ((size_t)16 << 20)

static sotto_status read_row(sotto_tx *tx, const reading *r, const char *what, int64_t n,
                             bool *found, sotto_bytes *out, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, what, err));
    sotto_sql_bytes(&q, 1, id_bytes(r->id));
    sotto_sql_int(&q, 2, n);
    SOTTO_TRY(sotto_sql_step(&q, found, err));
    if (*found)
        *out = sotto_sql_column_bytes(&q, 0);
    return SOTTO_OK;
}

static sotto_status read_whole(sotto_tx *tx, reading *r, int64_t n, bool *found, sotto_bytes *out,
                               sotto_err *err)
{
    SOTTO_TRY(
        read_row(tx, r, "SELECT wire FROM board WHERE round = ?1 AND n = ?2", n, found, out, err));
    if (*found)
        r->loaded += out->len;
    return SOTTO_OK;
}

/* One entry, as the reader is shown it. A row's bytes last until the next step. */
static sotto_status read_one(sotto_tx *tx, reading *r, int64_t n, bool *found, sotto_bytes *out,
                             sotto_err *err)
{
    sotto_bytes excerpt;

    if (r->reader == SOTTO_TO_BOARD || (r->reader != SOTTO_TO_EVERYBODY && !r->posted))
        return read_whole(tx, r, n, found, out, err);
    SOTTO_TRY(read_row(tx, r, "SELECT excerpt FROM board WHERE round = ?1 AND n = ?2", n, found,
                       &excerpt, err));
    if (!*found)
        return SOTTO_OK;
    if (excerpt.len == 0)
        return read_whole(tx, r, n, found, out, err);
    if (sotto_board_is_for(r->posted, r->reader, excerpt)) {
        *out = excerpt;
        return SOTTO_OK;
    }
    SOTTO_TRY(read_whole(tx, r, n, found, out, err));
    return *found ? sotto_board_cut(out, r->posted, r->reader, *out, r->arena, err) : SOTTO_OK;
}

typedef struct page_entry {
    struct page_entry *next;
    sotto_bytes wire;
} page_entry;

/* As many entries as one answer has room for, and one in any case. */
static sotto_status gather_page(sotto_tx *tx, reading *r, page_entry **first, size_t *size,
                                sotto_err *err)
{
    page_entry **last = first;
    int64_t n = r->next;

    *first = NULL;
    *size = 0;
    r->loaded = 0;
    for (unsigned i = 0; i < MOST_ENTRIES && n < INT64_MAX && r->loaded < MOST_LOADED; i++, n++) {
        sotto_bytes wire;
        sotto_buf copy;
        bool found;

        SOTTO_TRY(read_one(tx, r, n, &found, &wire, err));
        if (!found || (*size && *size + wire.len + OVERHEAD > r->most))
            return SOTTO_OK;
        page_entry *e = sotto_arena_take(r->arena, sizeof *e);
        if (!e)
            return sotto_fail(err, SOTTO_NO_MEMORY, "board");
        SOTTO_TRY(sotto_buf_take(&copy, r->arena, wire.len, err));
        memcpy(copy.data, wire.data, wire.len);
        *e = (page_entry){.wire = sotto_bytes_of(copy.data, wire.len)};
        *last = e;
        last = &e->next;
        *size += wire.len + OVERHEAD;
    }
    return SOTTO_OK;
}

static sotto_status read_page(sotto_tx *tx, void *context, sotto_err *err)
{
    reading *r = context;
    page_entry *first;
    int64_t n = r->next;
    size_t size;

    SOTTO_TRY(gather_page(tx, r, &first, &size, err));
    SOTTO_TRY(sotto_buf_take(&r->out, r->arena, size, err));
    for (const page_entry *e = first; e; e = e->next, n++) {
        sotto_writer w = sotto_writer_on(&r->out);

        sotto_write_uint(&w, (uint64_t)n, 8);
        sotto_write_opaque32(&w, e->wire);
        SOTTO_TRY(sotto_writer_finish(&w, "board", err));
    }
    return SOTTO_OK;
}

sotto_status sotto_board_store_read(sotto_db *db, const uint8_t id[SOTTO_ROUND_ID], uint64_t since,
                                    uint32_t reader, const sotto_posted_round *posted, size_t most,
                                    sotto_bytes *out, sotto_arena *arena, sotto_err *err)
{
    reading r = {.id = id,
                 .next = (int64_t)(since & INT64_MAX),
                 .most = most,
                 .reader = reader,
                 .posted = posted,
                 .arena = arena};
    const sotto_status status = sotto_db_read(db, read_page, &r, err);

    *out = sotto_buf_bytes(&r.out);
    return status;
}
