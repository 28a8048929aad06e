/* The key of a beacon: this witness's part of a meeting of all of them. It stores what it says before anybody hears it, says one thing
 * in a step, keeps the first post of everybody, and signs for one key in its life. */
#include "serve/witness/beacon_duty.h"

#include "aggregate/keygen/meeting.h"
#include "base/arena.h"
#include "base/rule.h"
#include "db/sealed.h"
#include "db/store.h"
#include "serve/host/request_work.h"
#include "sotto/random.h"

#include <string.h>

enum {
    BEACON_KEY_GUARD = 13,
    AHEAD_MS = 86400 * 1000,         /* that a meeting's epoch may be ahead of this clock */
    SECRET = SOTTO_KEYGEN_SEED + 32, /* of the deal, and the channel's private key */
    SEALED = SECRET + SOTTO_COLUMN_OVERHEAD,
};

#define TYPE "application/octet-stream"

/* The row; one meeting at a time. */
typedef struct stored {
    uint8_t session[32];
    uint64_t epoch;
    uint8_t secret[SEALED], share[SEALED]; /* as they are in the database */
    size_t secret_len, share_len;
    sotto_bytes wire; /* empty: nobody was called yet */
    unsigned step;
} stored;

static sotto_column_place place_of(const char *column, const uint8_t session[32])
{
    return (sotto_column_place){"beacon_key", column, sotto_bytes_of(session, 32)};
}

static void refuse(sotto_http_request *request, sotto_status status)
{
    const unsigned http = status == SOTTO_MALFORMED || status == SOTTO_REJECTED ? 400
                          : status == SOTTO_DENIED                              ? 403
                          : status == SOTTO_MISSING                             ? 404
                          : status == SOTTO_STALE                               ? 409
                                                                                : 503;

    (void)sotto_http_refuse(request, &(sotto_http_problem){.status = http});
}

static sotto_status copy(sotto_bytes *out, sotto_bytes from, sotto_arena *arena, sotto_err *err)
{
    uint8_t *bytes = sotto_arena_take(arena, from.len + 1);

    if (!bytes)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a meeting");
    if (from.len)
        memcpy(bytes, from.data, from.len);
    *out = sotto_bytes_of(bytes, from.len);
    return SOTTO_OK;
}

static sotto_status read_sealed(uint8_t out[SEALED], size_t *len, sotto_bytes column,
                                sotto_err *err)
{
    if (column.len > SEALED)
        return sotto_fail(err, SOTTO_BUG, "a column of %zu bytes", column.len);
    if (column.len)
        memcpy(out, column.data, column.len);
    *len = column.len;
    return SOTTO_OK;
}

/* *found: there is a row. */
static sotto_status read_row(sotto_tx *tx, stored *s, bool *found, sotto_arena *arena,
                             sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "SELECT session, epoch, secret, wire, step, share FROM beacon_key WHERE id = 1",
        err));
    SOTTO_TRY(sotto_sql_step(&q, found, err));
    if (!*found)
        return SOTTO_OK;
    SOTTO_TRY(sotto_sql_column_fixed(&q, 0, s->session, sizeof s->session, err));
    s->epoch = (uint64_t)sotto_sql_column_int(&q, 1);
    SOTTO_TRY(read_sealed(s->secret, &s->secret_len, sotto_sql_column_bytes(&q, 2), err));
    SOTTO_TRY(copy(&s->wire, sotto_sql_column_bytes(&q, 3), arena, err));
    s->step = (unsigned)sotto_sql_column_int(&q, 4);
    return read_sealed(s->share, &s->share_len, sotto_sql_column_bytes(&q, 5), err);
}

/* ---- the share -------------------------------------------------------------------------------------------------------- */

sotto_status sotto_beacon_key_share(sotto_tx *tx, const sotto_beacon_duty *duty,
                                    uint8_t share[SOTTO_P256_SCALAR], sotto_err *err)
{
    sotto_buf plain = sotto_buf_over(share, SOTTO_P256_SCALAR);
    uint8_t session[32];
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT session, share FROM beacon_key WHERE id = 1", err));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (!row || sotto_sql_column_bytes(&q, 1).len == 0)
        return sotto_fail(err, SOTTO_MISSING, "there is no key of a beacon yet");
    SOTTO_TRY(sotto_sql_column_fixed(&q, 0, session, sizeof session, err));
    const sotto_column_place place = place_of("share", session);
    return sotto_column_unseal(&plain, &duty->host->columns, &place, sotto_sql_column_bytes(&q, 1),
                               err);
}

/* ---- a meeting begins ---------------------------------------------------------------------------------------------------- */

typedef struct beginning {
    stored fresh, kept; /* what would be stored, and what is */
    uint64_t latest;    /* epoch, in milliseconds since 1970 */
    sotto_arena *arena;
} beginning;

/* An epoch far ahead would keep this witness from every later meeting. One that is stored, from before this clock was right, gives way as long as
 * nobody was called to it. */
static bool is_ahead(const beginning *b, const stored *s)
{
    return s->epoch > b->latest && s->wire.len == 0;
}

static sotto_status begin(sotto_tx *tx, void *context, sotto_err *err)
{
    beginning *b = context;
    bool found;
    sotto_sql q;

    SOTTO_TRY(sotto_tx_guard(tx, BEACON_KEY_GUARD, true, err));
    SOTTO_TRY(read_row(tx, &b->kept, &found, b->arena, err));
    /* Two keys would be two beacons to choose from. */
    if (SOTTO_RULE(beacon_one_key) && found && b->kept.share_len)
        return sotto_fail(err, SOTTO_STALE, "this witness signed for a key");
    if (found && b->kept.epoch == b->fresh.epoch &&
        memcmp(b->kept.session, b->fresh.session, sizeof b->kept.session) == 0)
        return SOTTO_OK; /* an answer that was lost */
    if (SOTTO_RULE(beacon_meeting_soon) && is_ahead(b, &b->fresh))
        return sotto_fail(err, SOTTO_DENIED, "a meeting of another day");
    if (found && b->kept.epoch >= b->fresh.epoch && !is_ahead(b, &b->kept))
        return sotto_fail(err, SOTTO_STALE, "a later meeting began");
    b->kept = b->fresh;
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "DELETE FROM beacon_post", err));
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "DELETE FROM beacon_key", err));
    SOTTO_TRY(sotto_sql_erase(&q, NULL, err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO beacon_key (id, session, epoch, secret, wire, step,"
                                " share) VALUES (1, ?1, ?2, ?3, ?4, 0, ?4)",
                                err));
    sotto_sql_bytes(&q, 1, sotto_bytes_of(b->fresh.session, sizeof b->fresh.session));
    sotto_sql_int(&q, 2, (int64_t)b->fresh.epoch);
    sotto_sql_bytes(&q, 3, sotto_bytes_of(b->fresh.secret, b->fresh.secret_len));
    sotto_sql_bytes(&q, 4, (sotto_bytes){NULL, 0});
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status draw_secret(const sotto_beacon_duty *duty, stored *s, sotto_err *err)
{
    const sotto_column_place place = place_of("secret", s->session);
    sotto_buf sealed = sotto_buf_over(s->secret, sizeof s->secret);
    uint8_t secret[SECRET];

    SOTTO_TRY(sotto_random_bytes(secret, sizeof secret, err));
    const sotto_status status = sotto_column_seal(&sealed, &duty->host->columns, &place,
                                                  sotto_bytes_of(secret, sizeof secret), err);
    s->secret_len = sealed.len;
    sotto_wipe(secret, sizeof secret);
    return status;
}

/* The seed of its deal, and its channel key for this meeting. Clear the key after a failure, too. */
static sotto_status open_secret(const sotto_beacon_duty *duty, const stored *s,
                                uint8_t seed[SOTTO_KEYGEN_SEED], sotto_dh *channel, sotto_err *err)
{
    const sotto_column_place place = place_of("secret", s->session);
    uint8_t secret[SECRET];
    sotto_buf plain = sotto_buf_over(secret, sizeof secret);
    sotto_status status = sotto_column_unseal(&plain, &duty->host->columns, &place,
                                              sotto_bytes_of(s->secret, s->secret_len), err);

    memset(channel, 0, sizeof *channel);
    if (status == SOTTO_OK)
        status = sotto_dh_init(channel, sotto_kem_find(SOTTO_KEM_X25519),
                               sotto_bytes_of(secret + SOTTO_KEYGEN_SEED, 32), err);
    if (status == SOTTO_OK)
        memcpy(seed, secret, SOTTO_KEYGEN_SEED);
    sotto_wipe(secret, sizeof secret);
    return status;
}

static sotto_status take_seat(sotto_beacon_duty *duty, beginning *b, sotto_meeting_seat *seat,
                              sotto_err *err)
{
    uint8_t seed[SOTTO_KEYGEN_SEED];
    sotto_dh channel;

    SOTTO_TRY(draw_secret(duty, &b->fresh, err));
    SOTTO_TRY(sotto_db_run(duty->host->db, begin, b, err));
    const sotto_status status = open_secret(duty, &b->kept, seed, &channel, err);
    if (status == SOTTO_OK)
        memcpy(seat->channel, channel.public_key, sizeof seat->channel);
    sotto_dh_clear(&channel);
    sotto_wipe(seed, sizeof seed);
    SOTTO_TRY(status);
    return sotto_meeting_seat_sign(seat, b->kept.session, b->kept.epoch, duty->signer, err);
}

static void run_seat(void *state, sotto_http_request *request, sotto_arena *arena)
{
    const sotto_beacon_duty *duty = state;
    beginning b = {.latest = (uint64_t)sotto_host_seconds(duty->host) * 1000 + AHEAD_MS,
                   .arena = arena};
    sotto_reader in = sotto_reader_over(sotto_http_request_body(request));
    sotto_meeting_seat seat;

    sotto_read_fixed(&in, b.fresh.session, sizeof b.fresh.session);
    b.fresh.epoch = sotto_read_uint(&in, 8);
    sotto_status status = sotto_reader_finish(&in, "meeting", NULL);
    if (status == SOTTO_OK && b.fresh.epoch > INT64_MAX)
        status = SOTTO_MALFORMED;
    if (status == SOTTO_OK)
        status = take_seat(state, &b, &seat, NULL);
    if (status != SOTTO_OK)
        refuse(request, status);
    else
        sotto_request_answer(request, 200, TYPE, sotto_bytes_of(&seat, SOTTO_MEETING_SEAT));
}

void sotto_beacon_key_seat(sotto_beacon_duty *duty, sotto_http_request *request)
{
    sotto_request_work(duty->host->pool, run_seat, duty, request);
}

/* ---- what others said ------------------------------------------------------------------------------------------------------ */

typedef struct turn {
    sotto_beacon_duty *duty;
    sotto_meeting asked;
    sotto_keygen call;
    sotto_keygen_post *posts; /* of others, checked */
    sotto_bytes *wires;
    size_t count;
    stored s;
    sotto_keygen_board *board;
    sotto_bytes said; /* in the database; empty: nothing yet in this step */
    sotto_bytes made; /* to be said, unless another request was faster */
    sotto_arena *arena;
    uint8_t share[SEALED]; /* sealed; what is stored with the last post */
    size_t share_len;
} turn;

static sotto_status read_posts(sotto_tx *tx, turn *u, sotto_err *err)
{
    const int own = sotto_keygen_place(&u->call, u->asked.step, u->duty->place);
    sotto_keygen_post post;
    sotto_bytes wire;
    sotto_sql q;
    bool row;

    memset(u->board, 0, sizeof *u->board);
    u->said = (sotto_bytes){NULL, 0};
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT wire FROM beacon_post ORDER BY step, place", err));
    for (;;) {
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
        if (!row)
            return SOTTO_OK;
        SOTTO_TRY(copy(&wire, sotto_sql_column_bytes(&q, 0), u->arena, err));
        SOTTO_TRY(sotto_keygen_post_decode(&post, wire, err));
        sotto_keygen_board_put(u->board, &post);
        if (post.step == u->asked.step && (int)post.place == own)
            u->said = wire;
    }
}

static sotto_status put_post(sotto_tx *tx, const sotto_keygen_post *post, sotto_bytes wire,
                             sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO beacon_post (step, place, wire) VALUES (?1, ?2, ?3)"
                                " ON CONFLICT DO NOTHING",
                                err));
    sotto_sql_int(&q, 1, post->step);
    sotto_sql_int(&q, 2, post->place);
    sotto_sql_bytes(&q, 3, wire);
    return sotto_sql_run(&q, NULL, err);
}

/* One call in a meeting: nobody is told of other members later. */
static sotto_status put_call(sotto_tx *tx, turn *u, sotto_err *err)
{
    sotto_meeting called = u->asked;
    sotto_buf wire;
    sotto_sql q;

    called.step = SOTTO_KEYGEN_DEAL;
    called.posts = (sotto_bytes){NULL, 0};
    SOTTO_TRY(sotto_buf_take(&wire, u->arena, SOTTO_MEETING_MOST_BYTES, err));
    SOTTO_TRY(sotto_meeting_encode(&wire, &called, err));
    if (u->s.wire.len)
        return sotto_bytes_equal_vartime(u->s.wire, sotto_buf_bytes(&wire))
                   ? SOTTO_OK
                   : sotto_fail(err, SOTTO_STALE, "another meeting");
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "UPDATE beacon_key SET wire = ?1 WHERE id = 1", err));
    sotto_sql_bytes(&q, 1, sotto_buf_bytes(&wire));
    return sotto_sql_run(&q, NULL, err);
}

/* Takes in what others said, and reads all that there is. */
static sotto_status take(sotto_tx *tx, void *context, sotto_err *err)
{
    turn *u = context;
    bool found;
    sotto_sql q;

    SOTTO_TRY(sotto_tx_guard(tx, BEACON_KEY_GUARD, true, err));
    SOTTO_TRY(read_row(tx, &u->s, &found, u->arena, err));
    if (!found)
        return sotto_fail(err, SOTTO_MISSING, "no meeting has begun");
    if (u->s.epoch != u->call.epoch ||
        memcmp(u->s.session, u->call.session, sizeof u->s.session) != 0)
        return sotto_fail(err, SOTTO_STALE, "another meeting");
    SOTTO_TRY(put_call(tx, u, err));
    for (size_t i = 0; i < u->count; i++)
        SOTTO_TRY(put_post(tx, &u->posts[i], u->wires[i], err));
    if (u->asked.step > u->s.step) {
        SOTTO_TRY(sotto_sql_prepare(tx, &q, "UPDATE beacon_key SET step = ?1 WHERE id = 1", err));
        sotto_sql_int(&q, 1, u->asked.step);
        SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    }
    return read_posts(tx, u, err);
}

/* ---- what this witness says ------------------------------------------------------------------------------------------------- */

/* One thing is said in a step: whoever was slower says what is there, and its share goes with its post. */
static sotto_status say(sotto_tx *tx, void *context, sotto_err *err)
{
    turn *u = context;
    sotto_keygen_post post;
    stored now;
    bool found;
    sotto_sql q;

    SOTTO_TRY(sotto_tx_guard(tx, BEACON_KEY_GUARD, true, err));
    SOTTO_TRY(read_row(tx, &now, &found, u->arena, err));
    if (!found || now.epoch != u->s.epoch ||
        memcmp(now.session, u->s.session, sizeof now.session) != 0)
        return sotto_fail(err, SOTTO_STALE, "another meeting");
    /* A complaint or a deal that comes after the agreement would be about something else than what was agreed on. */
    if (SOTTO_RULE(beacon_steps_ascend) && now.step > u->asked.step)
        return sotto_fail(err, SOTTO_STALE, "the step is over");
    SOTTO_TRY(read_posts(tx, u, err));
    if (SOTTO_RULE(beacon_said_once) && u->said.len)
        return SOTTO_OK;
    SOTTO_TRY(sotto_keygen_post_decode(&post, u->made, err));
    SOTTO_TRY(put_post(tx, &post, u->made, err));
    if (u->share_len) {
        /* What it dealt can't be made again from here on. */
        SOTTO_TRY(sotto_sql_prepare(
            tx, &q, "UPDATE beacon_key SET secret = ?1, share = ?2 WHERE id = 1", err));
        sotto_sql_bytes(&q, 1, (sotto_bytes){NULL, 0});
        sotto_sql_bytes(&q, 2, sotto_bytes_of(u->share, u->share_len));
        SOTTO_TRY(sotto_sql_erase(&q, NULL, err));
    }
    SOTTO_TRY(read_posts(tx, u, err));
    return u->said.len ? SOTTO_OK : sotto_fail(err, SOTTO_BUG, "a post that was not stored");
}

static sotto_status sign_record(turn *u, const sotto_keygen_self *self, sotto_buf *body,
                                sotto_err *err)
{
    const sotto_column_place place = place_of("share", u->s.session);
    sotto_buf sealed = sotto_buf_over(u->share, sizeof u->share);
    sotto_decryptors_record record;
    uint8_t share[SOTTO_P256_SCALAR], digest[32];

    SOTTO_TRY(sotto_keygen_finish(&u->call, self, u->board, &record, share, u->arena, err));
    const sotto_status status = sotto_column_seal(&sealed, &u->duty->host->columns, &place,
                                                  sotto_bytes_of(share, sizeof share), err);
    sotto_wipe(share, sizeof share);
    SOTTO_TRY(status);
    u->share_len = sealed.len;
    sotto_decryptors_digest(&record, digest);
    body->len = SOTTO_SIGNATURE;
    return sotto_decryptors_sign(digest, body->data, u->duty->signer, err);
}

static sotto_status write_post(turn *u, const sotto_keygen_self *self, sotto_bytes *out,
                               sotto_err *err)
{
    sotto_keygen_post post = {.step = u->asked.step, .place = u->duty->place};
    sotto_buf body, wire;

    SOTTO_TRY(sotto_buf_take(&body, u->arena, SOTTO_KEYGEN_MOST_BODY, err));
    SOTTO_TRY(
        u->asked.step == SOTTO_KEYGEN_RECORD
            ? sign_record(u, self, &body, err)
            : sotto_keygen_write(&u->call, self, u->asked.step, u->board, &body, u->arena, err));
    post.body = sotto_buf_bytes(&body);
    SOTTO_TRY(sotto_keygen_post_sign(&u->call, &post, u->duty->signer, err));
    SOTTO_TRY(sotto_buf_take(&wire, u->arena, SOTTO_KEYGEN_MOST_POST, err));
    SOTTO_TRY(sotto_keygen_post_encode(&wire, &post, err));
    *out = sotto_buf_bytes(&wire);
    return SOTTO_OK;
}

static sotto_status make_post(turn *u, sotto_bytes *out, sotto_err *err)
{
    uint8_t seed[SOTTO_KEYGEN_SEED];
    sotto_dh channel;
    sotto_status status = open_secret(u->duty, &u->s, seed, &channel, err);

    if (status == SOTTO_OK &&
        memcmp(channel.public_key, u->call.posting.registry.channel[u->duty->place], 32) != 0)
        status = sotto_fail(err, SOTTO_REJECTED, "not this witness's channel key");
    const sotto_keygen_self self = {.index = u->duty->place, .seed = seed, .channel = &channel};
    if (status == SOTTO_OK)
        status = write_post(u, &self, out, err);
    sotto_dh_clear(&channel);
    sotto_wipe(seed, sizeof seed);
    return status;
}

/* Posts that are not their member's are passed over. */
static sotto_status check_posts(turn *u, sotto_err *err)
{
    sotto_bytes left = u->asked.posts, wire;
    const size_t most = (size_t)u->call.count * SOTTO_KEYGEN_OVER;

    u->posts = sotto_arena_take_array(u->arena, most, sizeof *u->posts);
    u->wires = sotto_arena_take_array(u->arena, most, sizeof *u->wires);
    u->board = sotto_arena_take(u->arena, sizeof *u->board);
    if (!u->posts || !u->wires || !u->board)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a meeting");
    while (u->count < most && sotto_meeting_next(&left, &wire)) {
        sotto_keygen_post *post = &u->posts[u->count];

        if (sotto_keygen_post_decode(post, wire, NULL) == SOTTO_OK &&
            sotto_keygen_post_check(&u->call, post, NULL) == SOTTO_OK)
            u->wires[u->count++] = wire;
    }
    return SOTTO_OK;
}

static sotto_status speak(turn *u, sotto_err *err)
{
    const sotto_beacon_duty *d = u->duty;

    SOTTO_TRY(sotto_meeting_open(&u->call, &u->asked, (const uint8_t(*)[SOTTO_SIGN_PUBLIC])d->keys,
                                 d->count, u->arena, err));
    const bool is_over = u->call.ends <= (uint64_t)sotto_host_seconds(d->host) * 1000;
    if (SOTTO_RULE(beacon_meeting_ends) && is_over)
        return sotto_fail(err, SOTTO_STALE, "the meeting is over");
    SOTTO_TRY(check_posts(u, err));
    SOTTO_TRY(sotto_db_run(d->host->db, take, u, err));
    if (u->said.len)
        return SOTTO_OK;
    SOTTO_TRY(make_post(u, &u->made, err));
    return sotto_db_run(d->host->db, say, u, err);
}

static void run_speak(void *state, sotto_http_request *request, sotto_arena *arena)
{
    turn u = {.duty = state, .arena = arena};
    sotto_status status = sotto_meeting_decode(&u.asked, sotto_http_request_body(request), NULL);

    if (status == SOTTO_OK)
        status = speak(&u, NULL);
    if (status != SOTTO_OK)
        refuse(request, status);
    else
        sotto_request_answer(request, 200, TYPE, u.said);
}

void sotto_beacon_key_speak(sotto_beacon_duty *duty, sotto_http_request *request)
{
    sotto_request_work(duty->host->pool, run_speak, duty, request);
}

/* ---- everything that it saw --------------------------------------------------------------------------------------------------- */

typedef struct showing {
    stored s;
    sotto_buf posts;
    sotto_arena *arena;
} showing;

static sotto_status read_all(sotto_tx *tx, void *context, sotto_err *err)
{
    showing *v = context;
    bool found, row = true;
    sotto_writer w;
    sotto_sql q;

    SOTTO_TRY(read_row(tx, &v->s, &found, v->arena, err));
    if (!found || v->s.wire.len == 0)
        return sotto_fail(err, SOTTO_MISSING, "no meeting");
    v->posts.len = 0;
    w = sotto_writer_on(&v->posts);
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT wire FROM beacon_post ORDER BY step, place", err));
    while (row) {
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
        if (row)
            sotto_write_opaque32(&w, sotto_sql_column_bytes(&q, 0));
    }
    return sotto_writer_finish(&w, "meeting", err);
}

static sotto_status show(const sotto_beacon_duty *duty, showing *v, sotto_buf *out, sotto_err *err)
{
    sotto_meeting m;

    SOTTO_TRY(sotto_buf_take(&v->posts, v->arena, SOTTO_MEETING_MOST_BYTES, err));
    SOTTO_TRY(sotto_buf_take(out, v->arena, 2 * SOTTO_MEETING_MOST_BYTES, err));
    SOTTO_TRY(sotto_db_read(duty->host->db, read_all, v, err));
    SOTTO_TRY(sotto_meeting_decode(&m, v->s.wire, err));
    m.step = v->s.share_len ? SOTTO_KEYGEN_RECORD : SOTTO_KEYGEN_DEAL;
    m.posts = sotto_buf_bytes(&v->posts);
    return sotto_meeting_encode(out, &m, err);
}

static void run_show(void *state, sotto_http_request *request, sotto_arena *arena)
{
    showing v = {.arena = arena};
    sotto_buf out;
    const sotto_status status = show(state, &v, &out, NULL);

    if (status != SOTTO_OK)
        refuse(request, status);
    else
        sotto_request_answer(request, 200, TYPE, sotto_buf_bytes(&out));
}

void sotto_beacon_key_show(sotto_beacon_duty *duty, sotto_http_request *request)
{
    sotto_request_work(duty->host->pool, run_show, duty, request);
}
