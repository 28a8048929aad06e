#include "serve/aggregator/keygen_store.h"

#include "base/arena.h"
#include "base/rule.h"

#include <string.h>

enum { HEAD = 1 + 4, FRAME = 12 };

static sotto_bytes id_bytes(const uint8_t *id)
{
    return sotto_bytes_of(id, SOTTO_KEYGEN_ID);
}

/* ---- the call --------------------------------------------------------------------------------------------------- */

typedef struct adding {
    const sotto_keygen *call;
    sotto_bytes wire;
    uint64_t now;
} adding;

static sotto_status add(sotto_tx *tx, void *context, sotto_err *err)
{
    const adding *a = context;
    bool there;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q,
        "INSERT INTO keygen (id, session, epoch, wire, step, since) VALUES (?1, ?2, ?3, ?4, 1, ?5)"
        " ON CONFLICT DO NOTHING",
        err));
    sotto_sql_bytes(&q, 1, id_bytes(a->call->id));
    sotto_sql_bytes(&q, 2, sotto_bytes_of(a->call->session, sizeof a->call->session));
    sotto_sql_int(&q, 3, (int64_t)a->call->epoch);
    sotto_sql_bytes(&q, 4, a->wire);
    sotto_sql_int(&q, 5, (int64_t)a->now);
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT step FROM keygen WHERE id = ?1", err));
    sotto_sql_bytes(&q, 1, id_bytes(a->call->id));
    SOTTO_TRY(sotto_sql_any(&q, &there, err));
    return there ? SOTTO_OK : sotto_fail(err, SOTTO_DENIED, "another key is made for this epoch");
}

sotto_status sotto_keygen_store_add(sotto_db *db, const sotto_keygen *call, sotto_bytes wire,
                                    uint64_t now_ms, sotto_err *err)
{
    adding a = {.call = call, .wire = wire, .now = now_ms};

    return sotto_db_run(db, add, &a, err);
}

typedef struct reading {
    const uint8_t *id;
    sotto_bytes wire;
    sotto_arena *arena;
} reading;

static sotto_status read_call(sotto_tx *tx, void *context, sotto_err *err)
{
    reading *r = context;
    bool row;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT wire FROM keygen WHERE id = ?1", err));
    sotto_sql_bytes(&q, 1, id_bytes(r->id));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (!row)
        return sotto_fail(err, SOTTO_MISSING, "there is no such key generation");
    const sotto_bytes wire = sotto_sql_column_bytes(&q, 0);
    uint8_t *copy = sotto_arena_take(r->arena, wire.len + 1);
    if (!copy)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a key generation");
    memcpy(copy, wire.data, wire.len);
    r->wire = sotto_bytes_of(copy, wire.len);
    return SOTTO_OK;
}

sotto_status sotto_keygen_store_call(sotto_db *db, const uint8_t id[SOTTO_KEYGEN_ID],
                                     sotto_bytes *wire, sotto_arena *arena, sotto_err *err)
{
    reading r = {.id = id, .arena = arena};
    const sotto_status status = sotto_db_read(db, read_call, &r, err);

    *wire = r.wire;
    return status;
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

typedef struct standing {
    const sotto_keygen *call;
    unsigned step;
    uint64_t since, now;
} standing;

static sotto_status read_standing(sotto_tx *tx, standing *s, const char *text, sotto_err *err)
{
    bool row;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, text, err));
    sotto_sql_bytes(&q, 1, id_bytes(s->call->id));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (!row)
        return sotto_fail(err, SOTTO_MISSING, "there is no such key generation");
    s->step = (unsigned)sotto_sql_column_int(&q, 0);
    s->since = (uint64_t)sotto_sql_column_int(&q, 1);
    return SOTTO_OK;
}

static bool is_due(const standing *s)
{
    return s->step < SOTTO_KEYGEN_OVER &&
           (s->now >= s->since + s->call->step_ms || s->now >= s->call->ends);
}

/* The next step has its whole time, however late this is noticed. */
static void go_on(standing *s)
{
    s->step = s->now >= s->call->ends ? SOTTO_KEYGEN_OVER : sotto_keygen_next(s->call, s->step);
    s->since = s->now;
}

static sotto_status store_standing(sotto_tx *tx, const standing *s, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(
        sotto_sql_prepare(tx, &q, "UPDATE keygen SET step = ?2, since = ?3 WHERE id = ?1", err));
    sotto_sql_bytes(&q, 1, id_bytes(s->call->id));
    sotto_sql_int(&q, 2, s->step);
    sotto_sql_int(&q, 3, (int64_t)s->since);
    return sotto_sql_run(&q, NULL, err);
}

/* The step in which those who speak now spoke before; 0: they did not. */
static unsigned spoke_before(const sotto_keygen *k, unsigned step)
{
    if (step == SOTTO_KEYGEN_DEAL || (k->hands_on && step == SOTTO_KEYGEN_COMPLAIN))
        return 0;
    if (k->hands_on)
        return step == SOTTO_KEYGEN_ANSWER  ? SOTTO_KEYGEN_DEAL
               : step == SOTTO_KEYGEN_AGREE ? SOTTO_KEYGEN_COMPLAIN
                                            : SOTTO_KEYGEN_AGREE;
    return step - 1;
}

static sotto_status count(sotto_tx *tx, const char *text, const standing *s, unsigned before,
                          uint64_t *out, sotto_err *err)
{
    bool row;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, text, err));
    sotto_sql_bytes(&q, 1, id_bytes(s->call->id));
    sotto_sql_int(&q, 2, s->step);
    if (before)
        sotto_sql_int(&q, 3, before);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    *out = row ? (uint64_t)sotto_sql_column_int(&q, 0) : 0;
    return SOTTO_OK;
}

/* Nobody is waited for who was silent when it spoke last: a lost member costs its time once. */
static sotto_status is_whole(sotto_tx *tx, const standing *s, bool *whole, sotto_err *err)
{
    const unsigned before = spoke_before(s->call, s->step);
    const uint32_t *indices;
    uint64_t found;

    if (before) {
        SOTTO_TRY(count(tx,
                        "SELECT count(*) FROM keygen_post WHERE keygen = ?1 AND step = ?3 AND place"
                        " NOT IN (SELECT place FROM keygen_post WHERE keygen = ?1 AND step = ?2)",
                        s, before, &found, err));
        *whole = found == 0;
        return SOTTO_OK;
    }
    SOTTO_TRY(count(tx, "SELECT count(*) FROM keygen_post WHERE keygen = ?1 AND step = ?2", s, 0,
                    &found, err));
    *whole = found == sotto_keygen_senders(s->call, s->step, &indices);
    return SOTTO_OK;
}

/* ---- posts ------------------------------------------------------------------------------------------------------- */

typedef struct putting {
    const sotto_keygen *call;
    const sotto_keygen_post *post;
    sotto_bytes wire;
    uint64_t now;
    sotto_status verdict;
} putting;

/* What this sender said in this step. */
static sotto_status compare(sotto_tx *tx, const putting *p, bool *there, bool *same, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "SELECT wire FROM keygen_post WHERE keygen = ?1 AND step = ?2 AND place = ?3",
        err));
    sotto_sql_bytes(&q, 1, id_bytes(p->call->id));
    sotto_sql_int(&q, 2, p->post->step);
    sotto_sql_int(&q, 3, p->post->place);
    SOTTO_TRY(sotto_sql_step(&q, there, err));
    const sotto_bytes wire = *there ? sotto_sql_column_bytes(&q, 0) : (sotto_bytes){NULL, 0};
    *same = *there && sotto_bytes_equal_vartime(wire, p->wire);
    return SOTTO_OK;
}

static sotto_status insert(sotto_tx *tx, const putting *p, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO keygen_post (keygen, n, step, place, wire) VALUES (?1,"
                                " (SELECT count(*) FROM keygen_post WHERE keygen = ?1), ?2, ?3, "
                                "?4)",
                                err));
    sotto_sql_bytes(&q, 1, id_bytes(p->call->id));
    sotto_sql_int(&q, 2, p->post->step);
    sotto_sql_int(&q, 3, p->post->place);
    sotto_sql_bytes(&q, 4, p->wire);
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status put(sotto_tx *tx, void *context, sotto_err *err)
{
    putting *p = context;
    standing s = {.call = p->call, .now = p->now};
    bool there = false, same = false, whole;

    SOTTO_TRY(read_standing(tx, &s, "SELECT step, since FROM keygen WHERE id = ?1 {lock}", err));
    if (is_due(&s))
        go_on(&s);
    SOTTO_TRY(compare(tx, p, &there, &same, err));
    p->verdict = same                     ? SOTTO_OK
                 : there                  ? SOTTO_STALE
                 : p->post->step < s.step ? SOTTO_STALE
                 : p->post->step > s.step ? SOTTO_AGAIN
                                          : SOTTO_OK;
    if (p->verdict == SOTTO_OK && !there) {
        SOTTO_TRY(insert(tx, p, err));
        SOTTO_TRY(is_whole(tx, &s, &whole, err));
        if (whole)
            go_on(&s);
    }
    return store_standing(tx, &s, err);
}

sotto_status sotto_keygen_store_put(sotto_db *db, const sotto_keygen *call,
                                    const sotto_keygen_post *post, sotto_bytes wire,
                                    uint64_t now_ms, sotto_err *err)
{
    putting p = {.call = call, .post = post, .wire = wire, .now = now_ms};

    SOTTO_TRY(sotto_db_run(db, put, &p, err));
    return p.verdict == SOTTO_OK
               ? SOTTO_OK
               : sotto_fail(err, p.verdict, "key generation: step %u is not open", post->step);
}

/* ---- the board --------------------------------------------------------------------------------------------------- */

typedef struct viewing {
    standing s;
    uint64_t from;
    size_t most;
    sotto_arena *arena;
    sotto_buf out;
} viewing;

static sotto_status move_on(sotto_tx *tx, void *context, sotto_err *err)
{
    standing *s = context;

    SOTTO_TRY(read_standing(tx, s, "SELECT step, since FROM keygen WHERE id = ?1 {lock}", err));
    if (!is_due(s))
        return SOTTO_OK;
    go_on(s);
    return store_standing(tx, s, err);
}

/* How many posts there are, and how many bytes of them are wanted. */
static sotto_status measure(sotto_tx *tx, const viewing *v, uint64_t *posts, size_t *size,
                            sotto_err *err)
{
    bool row;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT count(*), CAST(COALESCE(sum(CASE WHEN n >= ?2 THEN"
                                " length(wire) + 12 ELSE 0 END), 0) AS BIGINT) FROM keygen_post"
                                " WHERE keygen = ?1",
                                err));
    sotto_sql_bytes(&q, 1, id_bytes(v->s.call->id));
    sotto_sql_int(&q, 2, (int64_t)(v->from & INT64_MAX));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    *posts = row ? (uint64_t)sotto_sql_column_int(&q, 0) : 0;
    *size = row ? (size_t)sotto_sql_column_int(&q, 1) : 0;
    return SOTTO_OK;
}

static sotto_status read_board(sotto_tx *tx, void *context, sotto_err *err)
{
    viewing *v = context;
    uint64_t posts;
    size_t size;
    bool row = true;
    sotto_sql q;

    SOTTO_TRY(read_standing(tx, &v->s, "SELECT step, since FROM keygen WHERE id = ?1", err));
    SOTTO_TRY(measure(tx, v, &posts, &size, err));
    /* No more is reserved than is sent: the first post, and then what fits. */
    const size_t most = v->most + FRAME + SOTTO_KEYGEN_MOST_POST;
    SOTTO_TRY(sotto_buf_take(&v->out, v->arena, HEAD + (size < most ? size : most), err));
    sotto_writer w = sotto_writer_on(&v->out);
    sotto_write_uint(&w, v->s.step, 1);
    sotto_write_uint(&w, posts, 4);
    for (uint64_t n = v->from; n < posts && row; n++) {
        SOTTO_TRY(sotto_sql_prepare(
            tx, &q, "SELECT wire FROM keygen_post WHERE keygen = ?1 AND n = ?2", err));
        sotto_sql_bytes(&q, 1, id_bytes(v->s.call->id));
        sotto_sql_int(&q, 2, (int64_t)n);
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
        const sotto_bytes wire = row ? sotto_sql_column_bytes(&q, 0) : (sotto_bytes){NULL, 0};
        if (!row || (n > v->from && v->out.len + wire.len + FRAME > v->most))
            break;
        sotto_write_uint(&w, n, 8);
        sotto_write_opaque32(&w, wire);
    }
    return sotto_writer_finish(&w, "board", err);
}

sotto_status sotto_keygen_store_board(sotto_db *db, const sotto_keygen *call, uint64_t since,
                                      size_t most, uint64_t now_ms, sotto_bytes *out,
                                      sotto_arena *arena, sotto_err *err)
{
    viewing v = {.s = {.call = call, .now = now_ms}, .from = since, .most = most, .arena = arena};

    SOTTO_TRY(sotto_db_read(db, read_board, &v, err));
    if (is_due(&v.s)) {
        SOTTO_TRY(sotto_db_run(db, move_on, &v.s, err));
        SOTTO_TRY(sotto_db_read(db, read_board, &v, err));
    }
    *out = sotto_buf_bytes(&v.out);
    return SOTTO_OK;
}
