#include "serve/witness/held.h"

#include "aggregate/excerpt.h"
#include "aggregate/inbox.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/hex.h"
#include "base/rule.h"
#include "serve/host/request_work.h"
#include "serve/host/router.h"
#include "serve/witness/held_round.h"

#include <string.h>

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

typedef struct looking {
    const uint8_t *server, *id;
    bool is_board, is_known;
} looking;

static sotto_status look(sotto_tx *tx, void *context, sotto_err *err)
{
    looking *l = context;

    return sotto_held_round_look(tx, l->server, l->id, &l->is_board, &l->is_known, err);
}

typedef struct opening {
    const uint8_t *id;
    sotto_posting posting;
    sotto_round round;
    int64_t now;
} opening;

/* A few hundred bytes of the posting: the id is that of the round, and the round is not over. What was forgotten with a round that is
 * over is not decoded again, and what names another round never is. */
static sotto_status open_round(opening *o, sotto_bytes wire)
{
    uint8_t id[SOTTO_ROUND_ID];
    sotto_bytes round;

    if (!sotto_posting_round(&round, wire))
        return SOTTO_MALFORMED;
    SOTTO_TRY(sotto_round_decode(&o->round, round, NULL));
    SOTTO_TRY(sotto_round_id(&o->round, id, NULL));
    if (SOTTO_RULE(witness_rounds_named) && memcmp(id, o->id, sizeof id) != 0)
        return SOTTO_REJECTED;
    if (SOTTO_RULE(witness_rounds_over) && o->round.release_by <= (uint64_t)o->now)
        return SOTTO_STALE;
    return sotto_round_check_begins(&o->round, (uint64_t)o->now, NULL);
}

/* The round has the root of its registry. */
static sotto_status open_posting(opening *o, sotto_bytes wire, sotto_arena *arena)
{
    SOTTO_TRY(open_round(o, wire));
    SOTTO_TRY(sotto_posting_decode(&o->posting, wire, arena, NULL));
    o->round.keys = &o->posting.registry;
    const sotto_method *method = sotto_machine_method(o->round.method);
    return method ? sotto_method_admit(method, &o->round, NULL) : SOTTO_DENIED;
}

static sotto_status keep_posting(sotto_tx *tx, void *context, sotto_err *err)
{
    const opening *o = context;

    return sotto_held_round_keep(tx, &o->posting, &o->round, o->id, o->now, err);
}

/* Megabytes are decoded once for each board that was cosigned here, whoever brings them. */
static sotto_status take_posting(const sotto_held *h, const uint8_t *id, sotto_bytes wire,
                                 sotto_arena *arena)
{
    uint8_t server[SOTTO_SIGN_PUBLIC];
    looking l = {.server = server, .id = id};
    opening o = {.id = id, .now = now_ms(h)};

    if (!sotto_posting_server(server, wire))
        return SOTTO_MALFORMED;
    SOTTO_TRY(sotto_db_read(h->host->db, look, &l, NULL));
    /* Anybody could make up rounds: room is for those whose server is listed here, and has a board. */
    if (SOTTO_RULE(witness_rounds_known) && !l.is_board)
        return SOTTO_MISSING;
    if (SOTTO_RULE(witness_postings_once) && l.is_known)
        return SOTTO_OK;
    SOTTO_TRY(open_posting(&o, wire, arena));
    return sotto_db_run(h->host->db, keep_posting, &o, NULL);
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
    uint32_t sender;
    sotto_arena *arena;
    sotto_held_terms out;
} finding;

static sotto_status find_terms(sotto_tx *tx, void *context, sotto_err *err)
{
    finding *f = context;

    return sotto_held_round_terms(tx, f->id, f->sender, &f->out, f->arena, err);
}

/* Each record withholds one more head: who could go on handing them in would stop the board until the round burns. Clocks may differ by a
 * third of the time for verification (docs/protocols/aero.md). */
static bool is_late(const sotto_round *round, uint64_t now)
{
    return now > round->verify_by &&
           now - round->verify_by > (round->verify_by - round->closes) / 3;
}

/* The posting was checked as it came: what is read here is what has that id. */
static sotto_status judge(const sotto_held *h, const sotto_held_terms *known,
                          const sotto_message *m, bool *late)
{
    const uint64_t now = (uint64_t)now_ms(h);
    sotto_round round;

    SOTTO_TRY(sotto_round_decode(&round, known->terms, NULL));
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
    const sotto_status judged = sotto_message_judge_by(m, &round, method, known->key, NULL);
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

/* *body: bytes of the record that are held; beyond the board's room its hash alone is. */
static sotto_status has_room(sotto_tx *tx, holding *one, size_t *body, sotto_err *err)
{
    const size_t len = one->record.len;
    sotto_held_counts counts;

    SOTTO_TRY(sotto_held_round_counts(tx, one->id, one->from, &counts, err));
    if (SOTTO_RULE(witness_records_limited) &&
        (counts.records >= SOTTO_HELD_RECORDS ||
         counts.bytes + (int64_t)len > (int64_t)SOTTO_HELD_BYTES))
        one->is_full = true;
    *body = counts.room + (int64_t)len <= (int64_t)SOTTO_HELD_ROOM ? len : 0;
    return SOTTO_OK;
}

static sotto_status hold(sotto_tx *tx, void *context, sotto_err *err)
{
    holding *one = context;
    size_t body;
    bool known;
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
    SOTTO_TRY(sotto_held_round_add(tx, one->id, one->from, one->record.len, body, err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO held (round, leaf, sender, size, posted, record)"
                                " VALUES (?1, ?2, ?3, ?4, 0, ?5)",
                                err));
    sotto_sql_bytes(&q, 1, id_bytes(one->id));
    sotto_sql_bytes(&q, 2, sotto_bytes_of(one->leaf.bytes, SOTTO_MERKLE_HASH));
    sotto_sql_int(&q, 3, one->from);
    sotto_sql_int(&q, 4, (int64_t)one->record.len);
    sotto_sql_bytes(&q, 5, sotto_bytes_of(body ? one->record.data : NULL, body));
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status take_record(sotto_held *h, const uint8_t *id, sotto_bytes body,
                                sotto_arena *arena)
{
    sotto_reader in = sotto_reader_over(body);
    uint8_t bytes[SOTTO_EXCERPT_LEAF];
    sotto_buf leaf = sotto_buf_over(bytes, sizeof bytes);
    finding f = {.id = id, .arena = arena};
    holding one = {.id = id, .record = sotto_read_opaque32(&in)};
    sotto_message m;

    SOTTO_TRY(sotto_reader_finish(&in, "record", NULL));
    SOTTO_TRY(sotto_message_decode(&m, one.record, NULL));
    f.sender = m.from;
    SOTTO_TRY(sotto_db_read(h->host->db, find_terms, &f, NULL));
    if (!f.out.terms.len)
        return SOTTO_MISSING;
    SOTTO_TRY(judge(h, &f.out, &m, &one.is_late));
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
    sotto_arena *arena;
    sotto_buf out;
} gathering;

static sotto_status find_record(sotto_tx *tx, sotto_sql *q, const gathering *g, size_t i,
                                const char *text, bool *row, sotto_err *err)
{
    SOTTO_TRY(sotto_sql_prepare(tx, q, text, err));
    sotto_sql_bytes(q, 1, id_bytes(g->id));
    sotto_sql_bytes(q, 2, sotto_bytes_of(g->leaves[i].bytes, SOTTO_MERKLE_HASH));
    return sotto_sql_step(q, row, err);
}

/* Anybody may ask: room is taken for what there is. */
static sotto_status measure(sotto_tx *tx, const gathering *g, size_t *size, sotto_err *err)
{
    sotto_sql q;
    bool row;

    *size = 0;
    for (size_t i = 0; i < g->count; i++) {
        SOTTO_TRY(find_record(tx, &q, g, i,
                              "SELECT length(record) FROM held WHERE round = ?1 AND leaf = ?2",
                              &row, err));
        const size_t len = row ? (size_t)sotto_sql_column_int(&q, 0) : 0;
        if (len && *size + len + 4 <= SOTTO_HELD_BODY)
            *size += len + 4;
    }
    return SOTTO_OK;
}

/* In their order. What does not fit any more is asked for again. */
static sotto_status gather(sotto_tx *tx, void *context, sotto_err *err)
{
    gathering *g = context;
    size_t size;
    sotto_sql q;
    bool row;

    SOTTO_TRY(measure(tx, g, &size, err));
    if (size > g->out.cap)
        SOTTO_TRY(sotto_buf_take(&g->out, g->arena, size, err));
    g->out.len = 0;
    for (size_t i = 0; i < g->count && g->out.len < size; i++) {
        sotto_writer w = sotto_writer_on(&g->out);

        SOTTO_TRY(find_record(tx, &q, g, i,
                              "SELECT record FROM held WHERE round = ?1 AND leaf = ?2", &row, err));
        const sotto_bytes found = row ? sotto_sql_column_bytes(&q, 0) : (sotto_bytes){NULL, 0};
        if (!found.len || g->out.len + found.len + 4 > size)
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
    gathering g = {.id = id, .arena = arena};
    sotto_status status = round_of(h, request, id) ? SOTTO_OK : SOTTO_MISSING;

    if (status == SOTTO_OK)
        status = sotto_demands_decode(&g.leaves, &g.count, sotto_http_request_body(request), NULL);
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
                            size_t body, sotto_err *err)
{
    const sotto_bytes nothing = {NULL, 0};
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "UPDATE held SET posted = 1, record = ?3 WHERE round = ?1 AND leaf = ?2", err));
    sotto_sql_bytes(&q, 1, id_bytes(round));
    sotto_sql_bytes(&q, 2, sotto_bytes_of(leaf->bytes, SOTTO_MERKLE_HASH));
    sotto_sql_bytes(&q, 3, nothing);
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    return sotto_held_round_free(tx, round, body, err);
}

/* What is held, and shown to be on the board. */
static sotto_status release_shown(sotto_tx *tx, const uint8_t *round, const sotto_showing *shown,
                                  uint64_t size, const sotto_merkle_hash *root, sotto_err *err)
{
    sotto_merkle_hash leaves[SOTTO_DEMANDS];
    const size_t count = sotto_showing_leaves(shown, leaves);
    sotto_sql q;
    bool row;

    for (size_t i = 0; i < count; i++) {
        SOTTO_TRY(sotto_sql_prepare(
            tx, &q, "SELECT length(record) FROM held WHERE round = ?1 AND leaf = ?2 AND posted = 0",
            err));
        sotto_sql_bytes(&q, 1, id_bytes(round));
        sotto_sql_bytes(&q, 2, sotto_bytes_of(leaves[i].bytes, SOTTO_MERKLE_HASH));
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
        const size_t body = row ? (size_t)sotto_sql_column_int(&q, 0) : 0;
        if (row && sotto_showing_has(shown, &leaves[i], size, root))
            SOTTO_TRY(release(tx, round, &leaves[i], body, err));
    }
    return SOTTO_OK;
}

sotto_status sotto_held_demand(sotto_tx *tx, const uint8_t round[SOTTO_ROUND_ID],
                               const sotto_showing *shown, uint64_t size,
                               const sotto_merkle_hash *root, sotto_buf *out, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);
    sotto_merkle_hash leaf;
    sotto_sql q;
    bool row;

    SOTTO_TRY(release_shown(tx, round, shown, size, root, err));
    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "SELECT leaf FROM held WHERE round = ?1 AND posted = 0 ORDER BY leaf LIMIT ?2",
        err));
    sotto_sql_bytes(&q, 1, id_bytes(round));
    sotto_sql_int(&q, 2, SOTTO_DEMANDS);
    for (;;) {
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
        if (!row)
            break;
        SOTTO_TRY(sotto_sql_column_fixed(&q, 0, leaf.bytes, SOTTO_MERKLE_HASH, err));
        sotto_write_bytes(&w, sotto_bytes_of(leaf.bytes, SOTTO_MERKLE_HASH));
    }
    return sotto_writer_finish(&w, "demands", err);
}
