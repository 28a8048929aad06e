#include "serve/witness/held.h"

#include "aggregate/board_origin.h"
#include "aggregate/excerpt.h"
#include "aggregate/inbox.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/hex.h"
#include "base/rule.h"
#include "serve/host/request_work.h"
#include "serve/host/router.h"

#include <string.h>

enum { KEEP_MS = 7 * 86400 * 1000 }; /* after the end of a round */

static sotto_bytes id_bytes(const uint8_t *id)
{
    return sotto_bytes_of(id, SOTTO_ROUND_ID);
}

static int64_t now_ms(const sotto_held *h)
{
    return (int64_t)(sotto_clock_wall(h->host->options.clock) / 1000000);
}

static bool round_of(const sotto_held *h, const sotto_http_request *request, uint8_t *id)
{
    return sotto_hex_decode(id, SOTTO_ROUND_ID, sotto_route_segment(h->host, request, 1));
}

static void refuse(sotto_http_request *request, sotto_status status)
{
    const unsigned http = status == SOTTO_MISSING                              ? 404
                          : status == SOTTO_MALFORMED                          ? 400
                          : status == SOTTO_TOO_LARGE                          ? 413
                          : status == SOTTO_STALE                              ? 409
                          : status == SOTTO_REJECTED || status == SOTTO_DENIED ? 403
                                                                               : 503;

    (void)sotto_http_refuse(request, &(sotto_http_problem){.status = http});
}

static void acknowledge(sotto_http_request *request, sotto_status status)
{
    if (status == SOTTO_OK)
        sotto_http_answer(request, &(sotto_http_reply){.status = 204});
    else
        refuse(request, status);
}

/* ---- the posting ------------------------------------------------------------------------------------------------ */

typedef struct opening {
    const sotto_posted_round *p;
    sotto_bytes wire;
    int64_t now;
    bool is_known; /* a head of its board was cosigned here */
} opening;

/* What a round that is long over held is forgotten when another one begins. */
static sotto_status forget_old(sotto_tx *tx, int64_t now, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "DELETE FROM held WHERE round IN (SELECT round FROM held_round WHERE ends < ?1)",
        err));
    sotto_sql_int(&q, 1, now - KEEP_MS);
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "DELETE FROM held_round WHERE ends < ?1", err));
    sotto_sql_int(&q, 1, now - KEEP_MS);
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status store_posting(sotto_tx *tx, void *context, sotto_err *err)
{
    opening *o = context;
    const uint64_t release_by = o->p->round.release_by;
    char origin[SOTTO_BOARD_ORIGIN + 1];
    sotto_sql q;

    sotto_board_origin(origin, o->p->posting.registry.server, o->p->id);
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT size FROM witnessed WHERE origin = ?1", err));
    sotto_sql_bytes(&q, 1, sotto_bytes_of(origin, SOTTO_BOARD_ORIGIN));
    SOTTO_TRY(sotto_sql_any(&q, &o->is_known, err));
    /* Anybody could make up rounds: room is for those whose server is listed here, and has a board. */
    if (SOTTO_RULE(witness_rounds_known) && !o->is_known)
        return SOTTO_OK;
    SOTTO_TRY(forget_old(tx, o->now, err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO held_round (round, ends, posting) VALUES (?1, ?2, ?3)"
                                " ON CONFLICT DO NOTHING",
                                err));
    sotto_sql_bytes(&q, 1, id_bytes(o->p->id));
    sotto_sql_int(&q, 2, release_by < INT64_MAX ? (int64_t)release_by : INT64_MAX);
    sotto_sql_bytes(&q, 3, o->wire);
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status take_posting(const sotto_held *h, const uint8_t *id, sotto_bytes wire,
                                 sotto_arena *arena)
{
    sotto_posted_round p;
    opening o = {.p = &p, .wire = wire, .now = now_ms(h)};
    sotto_status status = sotto_posted_round_open(&p, wire, arena, NULL);

    if (status == SOTTO_OK && memcmp(p.id, id, sizeof p.id) != 0)
        status = SOTTO_REJECTED;
    if (status == SOTTO_OK)
        status = sotto_db_run(h->host->db, store_posting, &o, NULL);
    sotto_posted_round_close(&p);
    return status == SOTTO_OK && !o.is_known ? SOTTO_MISSING : status;
}

void sotto_held_put_posting(void *state, sotto_http_request *request, sotto_arena *arena)
{
    const sotto_held *h = state;
    uint8_t id[SOTTO_ROUND_ID];

    acknowledge(request, round_of(h, request, id)
                             ? take_posting(h, id, sotto_http_request_body(request), arena)
                             : SOTTO_MISSING);
}

/* ---- a record --------------------------------------------------------------------------------------------------- */

typedef struct finding {
    const uint8_t *id;
    sotto_arena *arena;
    sotto_bytes out; /* empty: none */
} finding;

static sotto_status find_posting(sotto_tx *tx, void *context, sotto_err *err)
{
    finding *f = context;
    bool row;
    sotto_sql q;

    f->out = (sotto_bytes){NULL, 0};
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT posting FROM held_round WHERE round = ?1", err));
    sotto_sql_bytes(&q, 1, id_bytes(f->id));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (!row)
        return SOTTO_OK;
    const sotto_bytes found = sotto_sql_column_bytes(&q, 0);
    uint8_t *copy = sotto_arena_take(f->arena, found.len + 1);
    if (!copy)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a posting");
    if (found.len)
        memcpy(copy, found.data, found.len);
    f->out = sotto_bytes_of(copy, found.len);
    return SOTTO_OK;
}

/* Each record withholds one more head: who could go on handing them in would stop the board until the round burns. Clocks may differ by a
 * third of the time for verification (docs/protocols/aero.md). */
static bool is_late(const sotto_round *round, uint64_t now)
{
    return now > round->verify_by &&
           now - round->verify_by > (round->verify_by - round->closes) / 3;
}

/* The posting was checked as it came: what is read here is what has that id. */
static sotto_status judge(const sotto_held *h, sotto_bytes posting, const sotto_message *m,
                          bool *late, sotto_arena *arena)
{
    const uint64_t now = (uint64_t)now_ms(h);
    sotto_posting decoded;
    sotto_round round;

    SOTTO_TRY(sotto_posting_decode(&decoded, posting, arena, NULL));
    SOTTO_TRY(sotto_round_decode(&round, decoded.round, NULL));
    round.keys = &decoded.registry;
    const sotto_method *method = sotto_machine_method(round.method);
    if (!method || method->complaint == 0)
        return SOTTO_REJECTED;
    /* Other messages of the registered never come to a board: it would wait for them for good. */
    if (SOTTO_RULE(witness_complaints_alone) && m->kind != method->complaint)
        return SOTTO_REJECTED;
    if (round.release_by <= now)
        return SOTTO_STALE;
    *late = is_late(&round, now);
    /* A board takes no other: what nobody registered signed would stop it for good. */
    const sotto_status judged = sotto_message_judge(m, &round, method, NULL);
    if (SOTTO_RULE(witness_records_signed) && judged != SOTTO_OK)
        return judged;
    return SOTTO_OK;
}

typedef struct holding {
    const uint8_t *id;
    sotto_merkle_hash leaf;
    uint32_t from;
    sotto_bytes record;
    bool is_late, is_full, is_new;
} holding;

static sotto_status has_room(sotto_tx *tx, holding *one, bool *body, sotto_err *err)
{
    bool row;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT count(*), CAST(COALESCE(sum(size), 0) AS BIGINT) FROM held"
                                " WHERE round = ?1 AND sender = ?2",
                                err));
    sotto_sql_bytes(&q, 1, id_bytes(one->id));
    sotto_sql_int(&q, 2, one->from);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (SOTTO_RULE(witness_records_limited) && row &&
        (sotto_sql_column_int(&q, 0) >= SOTTO_HELD_RECORDS ||
         (uint64_t)sotto_sql_column_int(&q, 1) + one->record.len > SOTTO_HELD_BYTES))
        one->is_full = true;
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT CAST(COALESCE(sum(length(record)), 0) AS BIGINT) FROM held"
                                " WHERE round = ?1 AND posted = 0",
                                err));
    sotto_sql_bytes(&q, 1, id_bytes(one->id));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    *body = row && (uint64_t)sotto_sql_column_int(&q, 0) + one->record.len <= SOTTO_HELD_ROOM;
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status hold(sotto_tx *tx, void *context, sotto_err *err)
{
    const sotto_bytes nothing = {NULL, 0};
    holding *one = context;
    bool known, body;
    sotto_sql q;

    one->is_full = one->is_new = false; /* a transaction may be run again */
    /* Who cosigns meanwhile either sees it, or did so before this device is told that it is held. */
    SOTTO_TRY(sotto_tx_guard(tx, SOTTO_WITNESS_GUARD, true, err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT 1 FROM held WHERE round = ?1 AND leaf = ?2", err));
    sotto_sql_bytes(&q, 1, id_bytes(one->id));
    sotto_sql_bytes(&q, 2, sotto_bytes_of(one->leaf.bytes, SOTTO_MERKLE_HASH));
    SOTTO_TRY(sotto_sql_any(&q, &known, err));
    if (known)
        return SOTTO_OK;
    if (SOTTO_RULE(witness_records_in_time) && one->is_late)
        return sotto_fail(err, SOTTO_STALE, "complaints were due before");
    SOTTO_TRY(has_room(tx, one, &body, err));
    if (one->is_full)
        return SOTTO_OK;
    one->is_new = true;
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO held (round, leaf, sender, size, posted, record)"
                                " VALUES (?1, ?2, ?3, ?4, 0, ?5)",
                                err));
    sotto_sql_bytes(&q, 1, id_bytes(one->id));
    sotto_sql_bytes(&q, 2, sotto_bytes_of(one->leaf.bytes, SOTTO_MERKLE_HASH));
    sotto_sql_int(&q, 3, one->from);
    sotto_sql_int(&q, 4, (int64_t)one->record.len);
    sotto_sql_bytes(&q, 5, body ? one->record : nothing);
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status take_record(sotto_held *h, const uint8_t *id, sotto_bytes body,
                                sotto_arena *arena)
{
    sotto_reader in = sotto_reader_over(body);
    uint8_t bytes[SOTTO_EXCERPT_LEAF];
    sotto_buf leaf = sotto_buf_over(bytes, sizeof bytes);
    finding posting = {.id = id, .arena = arena};
    holding one = {.id = id, .record = sotto_read_opaque32(&in)};
    sotto_message m;

    SOTTO_TRY(sotto_reader_finish(&in, "record", NULL));
    SOTTO_TRY(sotto_message_decode(&m, one.record, NULL));
    SOTTO_TRY(sotto_db_read(h->host->db, find_posting, &posting, NULL));
    if (!posting.out.len)
        return SOTTO_MISSING;
    SOTTO_TRY(judge(h, posting.out, &m, &one.is_late, arena));
    SOTTO_TRY(sotto_excerpt_leaf(&leaf, one.record, NULL));
    sotto_merkle_leaf(&one.leaf, sotto_buf_bytes(&leaf));
    one.from = m.from;
    SOTTO_TRY(sotto_db_run(h->host->db, hold, &one, NULL));
    if (one.is_new)
        atomic_fetch_add(&h->taken, 1);
    return one.is_full ? SOTTO_TOO_LARGE : SOTTO_OK;
}

void sotto_held_put_record(void *state, sotto_http_request *request, sotto_arena *arena)
{
    sotto_held *h = state;
    uint8_t id[SOTTO_ROUND_ID];

    acknowledge(request, round_of(h, request, id)
                             ? take_record(h, id, sotto_http_request_body(request), arena)
                             : SOTTO_MISSING);
}

typedef struct gathering {
    const uint8_t *id;
    const sotto_merkle_hash *leaves;
    size_t count;
    sotto_buf out;
} gathering;

/* In their order. What does not fit any more is asked for again. */
static sotto_status gather(sotto_tx *tx, void *context, sotto_err *err)
{
    gathering *g = context;
    sotto_sql q;
    bool row;

    g->out.len = 0;
    for (size_t i = 0; i < g->count; i++) {
        sotto_writer w = sotto_writer_on(&g->out);

        SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                    "SELECT record FROM held WHERE round = ?1 AND leaf = ?2", err));
        sotto_sql_bytes(&q, 1, id_bytes(g->id));
        sotto_sql_bytes(&q, 2, sotto_bytes_of(g->leaves[i].bytes, SOTTO_MERKLE_HASH));
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
        const sotto_bytes found = row ? sotto_sql_column_bytes(&q, 0) : (sotto_bytes){NULL, 0};
        if (!found.len || g->out.len + found.len + 4 > g->out.cap)
            continue;
        sotto_write_opaque32(&w, found);
        SOTTO_TRY(sotto_writer_finish(&w, "records", err));
    }
    return SOTTO_OK;
}

void sotto_held_get_records(void *state, sotto_http_request *request, sotto_arena *arena)
{
    const sotto_held *h = state;
    uint8_t id[SOTTO_ROUND_ID];
    gathering g = {.id = id};
    sotto_status status = round_of(h, request, id) ? SOTTO_OK : SOTTO_MISSING;

    if (status == SOTTO_OK)
        status = sotto_demands_decode(&g.leaves, &g.count, sotto_http_request_body(request), NULL);
    if (status == SOTTO_OK)
        status = sotto_buf_take(&g.out, arena, SOTTO_HELD_BODY, NULL);
    if (status == SOTTO_OK)
        status = sotto_db_read(h->host->db, gather, &g, NULL);
    if (status != SOTTO_OK)
        refuse(request, status);
    else
        sotto_request_answer(request, 200, "application/octet-stream", sotto_buf_bytes(&g.out));
}

/* ---- demands ------------------------------------------------------------------------------------------------------ */

/* It is on the board: its body is of no use here any more, and its hash stays, so that it is not held again. */
static sotto_status release(sotto_tx *tx, const uint8_t *round, const sotto_merkle_hash *leaf,
                            sotto_err *err)
{
    const sotto_bytes nothing = {NULL, 0};
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "UPDATE held SET posted = 1, record = ?3 WHERE round = ?1 AND leaf = ?2", err));
    sotto_sql_bytes(&q, 1, id_bytes(round));
    sotto_sql_bytes(&q, 2, sotto_bytes_of(leaf->bytes, SOTTO_MERKLE_HASH));
    sotto_sql_bytes(&q, 3, nothing);
    return sotto_sql_run(&q, NULL, err);
}

sotto_status sotto_held_demand(sotto_tx *tx, const uint8_t round[SOTTO_ROUND_ID],
                               const sotto_showing *shown, uint64_t size,
                               const sotto_merkle_hash *root, sotto_buf *out, sotto_err *err)
{
    sotto_merkle_hash found[SOTTO_DEMANDS];
    size_t shown_count = 0;
    sotto_writer w = sotto_writer_on(out);
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "SELECT leaf FROM held WHERE round = ?1 AND posted = 0 ORDER BY leaf", err));
    sotto_sql_bytes(&q, 1, id_bytes(round));
    for (;;) {
        sotto_merkle_hash leaf;

        SOTTO_TRY(sotto_sql_step(&q, &row, err));
        if (!row)
            break;
        SOTTO_TRY(sotto_sql_column_fixed(&q, 0, leaf.bytes, SOTTO_MERKLE_HASH, err));
        if (shown_count < SOTTO_DEMANDS && sotto_showing_has(shown, &leaf, size, root))
            found[shown_count++] = leaf;
        else if (out->len < SOTTO_DEMANDS_BYTES)
            sotto_write_bytes(&w, sotto_bytes_of(leaf.bytes, SOTTO_MERKLE_HASH));
    }
    SOTTO_TRY(sotto_writer_finish(&w, "demands", err));
    for (size_t i = 0; i < shown_count; i++)
        SOTTO_TRY(release(tx, round, &found[i], err));
    return SOTTO_OK;
}
