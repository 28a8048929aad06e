#include "serve/aggregator/round_store.h"
#include "serve/aggregator/carried_store.h"

#include "base/arena.h"
#include "base/rule.h"
#include "crypto/hash.h"

#include <string.h>

static sotto_bytes id_bytes(const uint8_t *id)
{
    return sotto_bytes_of(id, SOTTO_ROUND_ID);
}

static bool copy(sotto_bytes *out, sotto_bytes from, sotto_arena *arena)
{
    uint8_t *at = sotto_arena_take(arena, from.len + 1);

    if (!at)
        return false;
    if (from.len)
        memcpy(at, from.data, from.len);
    *out = sotto_bytes_of(at, from.len);
    return true;
}

static sotto_status no_memory(sotto_err *err)
{
    return sotto_fail(err, SOTTO_NO_MEMORY, "a round of the store");
}

/* ---- adding -------------------------------------------------------------------------------------------------- */

typedef struct adding {
    const sotto_posted_round *posted;
    sotto_bytes wire;
    uint64_t most;
    bool known, full;
} adding;

static sotto_status is_there(sotto_tx *tx, const uint8_t *id, bool *there, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT version FROM round WHERE id = ?1", err));
    sotto_sql_bytes(&q, 1, id_bytes(id));
    return sotto_sql_any(&q, there, err);
}

/* In the database, since other replicas and an earlier process have rounds that this one has not looked for yet. */
static sotto_status is_full(sotto_tx *tx, uint64_t most, bool *full, sotto_err *err)
{
    bool row;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT count(*) FROM round WHERE outcome = 0", err));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    *full = row && (uint64_t)sotto_sql_column_int(&q, 0) >= most;
    return SOTTO_OK;
}

static sotto_status add(sotto_tx *tx, void *context, sotto_err *err)
{
    adding *a = context;
    const sotto_round *r = &a->posted->round;
    uint64_t changed = 0;
    sotto_sql q;

    SOTTO_TRY(is_there(tx, a->posted->id, &a->known, err));
    if (a->known)
        return SOTTO_OK;
    SOTTO_TRY(is_full(tx, a->most, &a->full, err));
    if (SOTTO_RULE(aggregator_max_rounds) && a->full)
        return SOTTO_OK;
    a->full = false;
    SOTTO_TRY(sotto_sql_prepare(
        tx, &q,
        "INSERT INTO round (id, session, epoch, number, posting, version, outcome, contributions)"
        " VALUES (?1, ?2, ?3, ?4, ?5, 0, 0, 0) ON CONFLICT DO NOTHING",
        err));
    sotto_sql_bytes(&q, 1, id_bytes(a->posted->id));
    sotto_sql_bytes(&q, 2, sotto_bytes_of(r->session, sizeof r->session));
    sotto_sql_int(&q, 3, (int64_t)r->epoch);
    sotto_sql_int(&q, 4, (int64_t)r->number);
    sotto_sql_bytes(&q, 5, a->wire);
    SOTTO_TRY(sotto_sql_run(&q, &changed, err));
    if (changed == 0)
        return sotto_fail(err, SOTTO_DENIED, "another round of this session has its number");
    return SOTTO_OK;
}

sotto_status sotto_round_store_add(sotto_db *db, const sotto_posted_round *posted, sotto_bytes wire,
                                   uint64_t most, sotto_err *err)
{
    adding a = {.posted = posted, .wire = wire, .most = most};

    SOTTO_TRY(sotto_db_run(db, add, &a, err));
    if (!a.known && a.full)
        return sotto_fail(err, SOTTO_AGAIN, "as many rounds run as max_rounds allows");
    return a.known ? sotto_fail(err, SOTTO_STALE, "this round was posted before") : SOTTO_OK;
}

/* ---- reading ------------------------------------------------------------------------------------------------- */

typedef struct listing {
    const uint8_t *after;
    uint8_t (*ids)[SOTTO_ROUND_ID];
    size_t most, count;
} listing;

static sotto_status list(sotto_tx *tx, void *context, sotto_err *err)
{
    listing *l = context;
    bool row = true;
    sotto_sql q;

    l->count = 0;
    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "SELECT id FROM round WHERE outcome = 0 AND id > ?2 ORDER BY id LIMIT ?1", err));
    sotto_sql_int(&q, 1, (int64_t)l->most);
    sotto_sql_bytes(&q, 2, sotto_bytes_of(l->after, l->after ? SOTTO_ROUND_ID : 0));
    for (;;) {
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
        if (!row || l->count == l->most)
            return SOTTO_OK;
        SOTTO_TRY(sotto_sql_column_fixed(&q, 0, l->ids[l->count++], SOTTO_ROUND_ID, err));
    }
}

sotto_status sotto_round_store_list(sotto_db *db, const uint8_t *after,
                                    uint8_t (*ids)[SOTTO_ROUND_ID], size_t *count, sotto_err *err)
{
    listing l = {.after = after, .ids = ids, .most = *count};
    sotto_status status = sotto_db_read(db, list, &l, err);

    *count = l.count;
    return status;
}

typedef struct reading {
    const sotto_column_keys *keys;
    const uint8_t *id;
    sotto_arena *arena;
    sotto_bytes posting;
    sotto_stored_round *stored;
    sotto_round_view *view;
} reading;

static sotto_status read_posting(sotto_tx *tx, void *context, sotto_err *err)
{
    reading *r = context;
    bool row;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT posting FROM round WHERE id = ?1", err));
    sotto_sql_bytes(&q, 1, id_bytes(r->id));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (!row)
        return sotto_fail(err, SOTTO_MISSING, "there is no such round");
    return copy(&r->posting, sotto_sql_column_bytes(&q, 0), r->arena) ? SOTTO_OK : no_memory(err);
}

sotto_status sotto_round_store_posting(sotto_db *db, const uint8_t id[32], sotto_bytes *wire,
                                       sotto_arena *arena, sotto_err *err)
{
    reading r = {.id = id, .arena = arena};
    sotto_status status = sotto_db_read(db, read_posting, &r, err);

    *wire = r.posting;
    return status;
}

static sotto_status read_outcome(sotto_tx *tx, void *context, sotto_err *err)
{
    const reading *r = context;
    bool row;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT outcome FROM round WHERE id = ?1", err));
    sotto_sql_bytes(&q, 1, id_bytes(r->id));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (!row)
        return sotto_fail(err, SOTTO_MISSING, "there is no such round");
    r->view->outcome = (sotto_round_outcome)sotto_sql_column_int(&q, 0);
    return SOTTO_OK;
}

sotto_status sotto_round_store_outcome(sotto_db *db, const uint8_t id[32], sotto_round_outcome *out,
                                       sotto_err *err)
{
    sotto_round_view view = {0};
    reading r = {.id = id, .view = &view};
    const sotto_status status = sotto_db_read(db, read_outcome, &r, err);

    *out = view.outcome;
    return status;
}

static sotto_status unseal(const reading *r, sotto_bytes *out, const char *column,
                           sotto_bytes sealed, sotto_err *err)
{
    const sotto_column_place place = {"round", column, id_bytes(r->id)};
    sotto_buf plain;

    *out = (sotto_bytes){NULL, 0};
    if (sealed.len == 0)
        return SOTTO_OK;
    SOTTO_TRY(sotto_buf_take(&plain, r->arena, sealed.len, err));
    SOTTO_TRY(sotto_column_unseal(&plain, r->keys, &place, sealed, err));
    *out = sotto_buf_bytes(&plain);
    return SOTTO_OK;
}

static sotto_status count_of(sotto_tx *tx, const char *text, const uint8_t *id, int64_t *count,
                             sotto_err *err)
{
    bool row;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, text, err));
    sotto_sql_bytes(&q, 1, id_bytes(id));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    *count = row ? sotto_sql_column_int(&q, 0) : 0;
    return SOTTO_OK;
}

/* One row at a time: a result is held in memory as a whole. */
static sotto_status read_kept(sotto_tx *tx, const reading *r, sotto_err *err)
{
    sotto_stored_round *s = r->stored;
    int64_t count;

    SOTTO_TRY(count_of(tx, "SELECT count(*) FROM kept WHERE round = ?1", r->id, &count, err));
    s->kept_count = (size_t)count;
    s->kept = sotto_arena_take_array(r->arena, s->kept_count + 1, sizeof *s->kept);
    if (!s->kept)
        return no_memory(err);
    for (size_t i = 0; i < s->kept_count; i++) {
        sotto_bytes wire;
        bool row;
        sotto_sql q;

        SOTTO_TRY(
            sotto_sql_prepare(tx, &q, "SELECT wire FROM kept WHERE round = ?1 AND n = ?2", err));
        sotto_sql_bytes(&q, 1, id_bytes(r->id));
        sotto_sql_int(&q, 2, (int64_t)i);
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
        if (!row)
            return sotto_fail(err, SOTTO_MISSING, "a message that a round kept is gone");
        if (!copy(&wire, sotto_sql_column_bytes(&q, 0), r->arena))
            return no_memory(err);
        SOTTO_TRY(sotto_message_decode(&s->kept[i], wire, err));
    }
    return SOTTO_OK;
}

static sotto_status load(sotto_tx *tx, void *context, sotto_err *err)
{
    const reading *r = context;
    sotto_stored_round *s = r->stored;
    bool row;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "SELECT version, outcome, contributions, state, tally FROM round WHERE id = ?1",
        err));
    sotto_sql_bytes(&q, 1, id_bytes(r->id));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (!row)
        return sotto_fail(err, SOTTO_MISSING, "there is no such round");
    s->version = sotto_sql_column_int(&q, 0);
    s->outcome = (sotto_round_outcome)sotto_sql_column_int(&q, 1);
    s->contributions = (uint64_t)sotto_sql_column_int(&q, 2);
    SOTTO_TRY(unseal(r, &s->state, "state", sotto_sql_column_bytes(&q, 3), err));
    SOTTO_TRY(unseal(r, &s->tally, "tally", sotto_sql_column_bytes(&q, 4), err));
    SOTTO_TRY(count_of(tx, "SELECT count(*) FROM outgoing WHERE round = ?1", r->id, &s->sent, err));
    SOTTO_TRY(sotto_board_store_count(tx, r->id, &s->board, err));
    return read_kept(tx, r, err);
}

sotto_status sotto_round_store_load(sotto_db *db, const sotto_column_keys *keys,
                                    const uint8_t id[32], sotto_stored_round *out,
                                    sotto_arena *arena, sotto_err *err)
{
    reading r = {.keys = keys, .id = id, .arena = arena, .stored = out};

    memset(out, 0, sizeof *out);
    return sotto_db_read(db, load, &r, err);
}

static sotto_status look(sotto_tx *tx, void *context, sotto_err *err)
{
    const reading *r = context;
    sotto_round_view *v = r->view;
    bool row;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT outcome, contributions, reason, reported, blamed, sum"
                                " FROM round WHERE id = ?1",
                                err));
    sotto_sql_bytes(&q, 1, id_bytes(r->id));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (!row)
        return sotto_fail(err, SOTTO_MISSING, "there is no such round");
    v->outcome = (sotto_round_outcome)sotto_sql_column_int(&q, 0);
    v->contributions = (uint64_t)sotto_sql_column_int(&q, 1);
    if (!copy(&v->reason, sotto_sql_column_bytes(&q, 2), r->arena) ||
        !copy(&v->reported, sotto_sql_column_bytes(&q, 3), r->arena) ||
        !copy(&v->blamed, sotto_sql_column_bytes(&q, 4), r->arena))
        return no_memory(err);
    return unseal(r, &v->sum, "sum", sotto_sql_column_bytes(&q, 5), err);
}

sotto_status sotto_round_store_view(sotto_db *db, const sotto_column_keys *keys,
                                    const uint8_t id[32], sotto_round_view *out, sotto_arena *arena,
                                    sotto_err *err)
{
    reading r = {.keys = keys, .id = id, .arena = arena, .view = out};

    memset(out, 0, sizeof *out);
    return sotto_db_read(db, look, &r, err);
}

/* ---- storing a step ------------------------------------------------------------------------------------------- */

typedef struct storing {
    const sotto_stored_step *step;
    sotto_bytes state, tally;       /* sealed */
    const sotto_bytes *kept, *sent; /* encoded */
} storing;

static sotto_status seal(sotto_bytes *out, const sotto_column_keys *keys, const char *column,
                         const uint8_t *id, sotto_bytes plain, sotto_arena *scratch, sotto_err *err)
{
    const sotto_column_place place = {"round", column, id_bytes(id)};
    sotto_buf sealed;

    SOTTO_TRY(sotto_buf_take(&sealed, scratch, plain.len + SOTTO_COLUMN_OVERHEAD, err));
    SOTTO_TRY(sotto_column_seal(&sealed, keys, &place, plain, err));
    *out = sotto_buf_bytes(&sealed);
    return SOTTO_OK;
}

static sotto_status encode_all(const sotto_bytes **out, const sotto_effect_message *first,
                               sotto_arena *scratch, sotto_err *err)
{
    size_t count = 0;

    for (const sotto_effect_message *m = first; m; m = m->next)
        count++;
    sotto_bytes *list_of = sotto_arena_take_array(scratch, count + 1, sizeof *list_of);
    if (!list_of)
        return no_memory(err);
    *out = list_of;
    for (const sotto_effect_message *m = first; m; m = m->next) {
        sotto_buf wire;

        SOTTO_TRY(sotto_buf_take(&wire, scratch, sotto_message_size(&m->message), err));
        SOTTO_TRY(sotto_message_encode(&wire, &m->message, err));
        *list_of++ = sotto_buf_bytes(&wire);
    }
    return SOTTO_OK;
}

/* Another digest in its place: what was said once is not said otherwise, whatever backup this database came from. */
static sotto_status store_vow(sotto_tx *tx, const sotto_round *round, const sotto_vow *v,
                              sotto_err *err)
{
    uint8_t digest[32];
    bool row;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO vow (session, epoch, number, kind, subject, digest)"
                                " VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING",
                                err));
    sotto_sql_bytes(&q, 1, sotto_bytes_of(round->session, sizeof round->session));
    sotto_sql_int(&q, 2, (int64_t)v->epoch);
    sotto_sql_int(&q, 3, (int64_t)v->round);
    sotto_sql_int(&q, 4, v->kind);
    sotto_sql_int(&q, 5, v->subject);
    sotto_sql_bytes(&q, 6, sotto_bytes_of(v->digest, sizeof v->digest));
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT digest FROM vow WHERE session = ?1 AND epoch = ?2 AND"
                                " number = ?3 AND kind = ?4 AND subject = ?5",
                                err));
    sotto_sql_bytes(&q, 1, sotto_bytes_of(round->session, sizeof round->session));
    sotto_sql_int(&q, 2, (int64_t)v->epoch);
    sotto_sql_int(&q, 3, (int64_t)v->round);
    sotto_sql_int(&q, 4, v->kind);
    sotto_sql_int(&q, 5, v->subject);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    SOTTO_TRY(sotto_sql_column_fixed(&q, 0, digest, sizeof digest, err));
    if (memcmp(digest, v->digest, sizeof digest) != 0)
        return sotto_fail(err, SOTTO_DENIED, "a vow stands that says something else");
    return SOTTO_OK;
}

static sotto_status store_row(sotto_tx *tx, const storing *s, sotto_err *err)
{
    const sotto_stored_step *step = s->step;
    uint64_t changed = 0;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                s->tally.len ? "UPDATE round SET version = version + 1,"
                                               " contributions = ?3, state = ?4, tally = ?5"
                                               " WHERE id = ?1 AND version = ?2 AND outcome = 0"
                                             : "UPDATE round SET version = version + 1,"
                                               " contributions = ?3, state = ?4"
                                               " WHERE id = ?1 AND version = ?2 AND outcome = 0",
                                err));
    sotto_sql_bytes(&q, 1, id_bytes(step->id));
    sotto_sql_int(&q, 2, step->version);
    sotto_sql_int(&q, 3, (int64_t)step->contributions);
    sotto_sql_bytes(&q, 4, s->state);
    if (s->tally.len)
        sotto_sql_bytes(&q, 5, s->tally);
    SOTTO_TRY(sotto_sql_run(&q, &changed, err));
    return changed ? SOTTO_OK
                   : sotto_fail(err, SOTTO_STALE, "another replica has gone on with this round");
}

static sotto_status store_kept(sotto_tx *tx, const storing *s, sotto_err *err)
{
    int64_t n = s->step->kept;
    const sotto_bytes *wire = s->kept;

    for (const sotto_effect_message *m = s->step->effects->kept; m; m = m->next, wire++) {
        uint8_t digest[32];
        sotto_sql q;

        sotto_hash_once(digest, SOTTO_SHA256, *wire);
        SOTTO_TRY(sotto_sql_prepare(
            tx, &q, "INSERT INTO kept (round, n, digest, wire) VALUES (?1, ?2, ?3, ?4)", err));
        sotto_sql_bytes(&q, 1, id_bytes(s->step->id));
        sotto_sql_int(&q, 2, n++);
        sotto_sql_bytes(&q, 3, sotto_bytes_of(digest, sizeof digest));
        sotto_sql_bytes(&q, 4, *wire);
        SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    }
    return SOTTO_OK;
}

static sotto_status store_sent(sotto_tx *tx, const storing *s, sotto_err *err)
{
    int64_t n = s->step->sent;
    const sotto_bytes *wire = s->sent;

    for (const sotto_effect_message *m = s->step->effects->sent; m; m = m->next, wire++) {
        sotto_sql q;

        SOTTO_TRY(sotto_sql_prepare(
            tx, &q, "INSERT INTO outgoing (round, n, receiver, wire) VALUES (?1, ?2, ?3, ?4)",
            err));
        sotto_sql_bytes(&q, 1, id_bytes(s->step->id));
        sotto_sql_int(&q, 2, n++);
        sotto_sql_int(&q, 3, m->message.to);
        sotto_sql_bytes(&q, 4, *wire);
        SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    }
    return SOTTO_OK;
}

static sotto_status store(sotto_tx *tx, void *context, sotto_err *err)
{
    const storing *s = context;

    SOTTO_TRY(store_row(tx, s, err));
    for (const sotto_effect_vow *v = s->step->effects->vows; v; v = v->next)
        SOTTO_TRY(store_vow(tx, s->step->round, &v->vow, err));
    if (s->step->effects->carries)
        SOTTO_TRY(sotto_carried_store(tx, s->step->round->session, s->step->effects->carried, err));
    SOTTO_TRY(store_kept(tx, s, err));
    SOTTO_TRY(sotto_board_store(tx, s->step->id, s->step->board, err));
    return store_sent(tx, s, err);
}

sotto_status sotto_round_store_step(sotto_db *db, const sotto_column_keys *keys,
                                    const sotto_stored_step *step, sotto_arena *scratch,
                                    sotto_err *err)
{
    storing s = {.step = step};

    SOTTO_TRY(seal(&s.state, keys, "state", step->id, step->state, scratch, err));
    if (step->tally.len)
        SOTTO_TRY(seal(&s.tally, keys, "tally", step->id, step->tally, scratch, err));
    SOTTO_TRY(encode_all(&s.kept, step->effects->kept, scratch, err));
    SOTTO_TRY(encode_all(&s.sent, step->effects->sent, scratch, err));
    return sotto_db_run(db, store, &s, err);
}

/* ---- the end -------------------------------------------------------------------------------------------------- */

typedef struct ending {
    const sotto_round_end *end;
    sotto_bytes sum; /* sealed */
} ending;

static sotto_status erase(sotto_tx *tx, const char *text, const uint8_t *id, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, text, err));
    sotto_sql_bytes(&q, 1, id_bytes(id));
    return sotto_sql_erase(&q, NULL, err);
}

static sotto_status finish(sotto_tx *tx, void *context, sotto_err *err)
{
    const ending *e = context;
    const sotto_round_end *end = e->end;
    uint64_t changed = 0;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "UPDATE round SET version = version + 1, outcome = ?3,"
                                " contributions = ?4, reason = ?5, reported = ?6, blamed = ?7,"
                                " sum = ?8, state = NULL, tally = NULL"
                                " WHERE id = ?1 AND version = ?2 AND outcome = 0",
                                err));
    sotto_sql_bytes(&q, 1, id_bytes(end->id));
    sotto_sql_int(&q, 2, end->version);
    sotto_sql_int(&q, 3, end->outcome);
    sotto_sql_int(&q, 4, (int64_t)end->contributions);
    sotto_sql_bytes(&q, 5, sotto_bytes_of(end->reason, strlen(end->reason)));
    sotto_sql_bytes(&q, 6, end->reported);
    sotto_sql_bytes(&q, 7, end->blamed);
    sotto_sql_bytes(&q, 8, e->sum);
    SOTTO_TRY(sotto_sql_erase(&q, &changed, err));
    if (changed == 0)
        return sotto_fail(err, SOTTO_STALE, "another replica has ended this round");
    SOTTO_TRY(erase(tx, "DELETE FROM kept WHERE round = ?1", end->id, err));
    SOTTO_TRY(sotto_board_store_end(tx, end->id, err));
    return erase(tx, "DELETE FROM outgoing WHERE round = ?1", end->id, err);
}

sotto_status sotto_round_store_end(sotto_db *db, const sotto_column_keys *keys,
                                   const sotto_round_end *end, sotto_arena *scratch, sotto_err *err)
{
    ending e = {.end = end};

    if (end->sum.len)
        SOTTO_TRY(seal(&e.sum, keys, "sum", end->id, end->sum, scratch, err));
    return sotto_db_run(db, finish, &e, err);
}
