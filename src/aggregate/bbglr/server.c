/* What the server does, step by step. Every phase ends when all have spoken or its time is up, whichever comes first. */
#include "aggregate/bbglr/server.h"

#include "aggregate/machine.h"
#include "crypto/hash.h"
#include "crypto/kem.h"

#include <string.h>

static void burn(bbglr_server *s, sotto_effects *effects, sotto_status outcome, const char *reason)
{
    s->phase = SERVER_BURNT;
    sotto_effects_done(effects, outcome, reason);
}

static sotto_status send_to(bbglr_server *s, sotto_effects *effects, uint32_t to, unsigned kind,
                            const sotto_bbglr_body *body, sotto_err *err)
{
    return sotto_bbglr_send(effects, s->round, &s->self, to, kind, body, NULL, err);
}

static uint8_t *take_rows(sotto_effects *effects, size_t count, size_t size)
{
    return sotto_arena_take_array(effects->arena, count + 1, size);
}

static sotto_status no_memory(sotto_err *err)
{
    return sotto_fail(err, SOTTO_NO_MEMORY, "bbglr server: no memory");
}

typedef sotto_status server_send(bbglr_server *s, sotto_effects *effects, uint32_t to,
                                 sotto_err *err);

/* Sends to every client that came this far, or burns the round if those are too few. */
static sotto_status send_on(bbglr_server *s, sotto_effects *effects, server_stage stage,
                            server_send *send, server_phase next, const char *too_few,
                            sotto_err *err)
{
    if (sotto_bbglr_server_count(s, stage) < s->round->least) {
        burn(s, effects, SOTTO_DENIED, too_few);
        return SOTTO_OK;
    }
    for (uint32_t i = 0; i < s->round->registered; i++)
        if (s->clients[i].stage >= stage)
            SOTTO_TRY(send(s, effects, i, err));
    s->phase = next;
    return SOTTO_OK;
}

/* ---- keys to everybody's neighbours ------------------------------------------------------------------ */

static sotto_status send_roster(bbglr_server *s, sotto_effects *effects, uint32_t to,
                                sotto_err *err)
{
    uint8_t *at = take_rows(effects, s->parameters.degree, SOTTO_BBGLR_ROSTER_ROW);
    sotto_bbglr_body body = {.rows = {at, 0, SOTTO_BBGLR_ROSTER_ROW}};
    uint32_t neighbours[SOTTO_BBGLR_MOST_DEGREE];

    if (!at)
        return no_memory(err);
    sotto_bbglr_neighbours(&s->graph, to, neighbours);
    for (size_t i = 0; i < s->parameters.degree; i++) {
        const server_client *c = &s->clients[neighbours[i]];
        uint8_t *row = at + body.rows.count * SOTTO_BBGLR_ROSTER_ROW;

        if (c->stage < STAGE_KEYED)
            continue;
        sotto_row_put_index(row, neighbours[i]);
        memcpy(row + 4, c->keys.data, 2 * SOTTO_BBGLR_KEY);
        memcpy(row + 4 + 2 * SOTTO_BBGLR_KEY, c->keys_signature.data, SOTTO_SIGNATURE);
        body.rows.count++;
    }
    return send_to(s, effects, to, SOTTO_BBGLR_ROSTER, &body, err);
}

static sotto_status close_keys(bbglr_server *s, sotto_effects *effects, sotto_err *err)
{
    return send_on(s, effects, STAGE_KEYED, send_roster, SERVER_DEAL,
                   "bbglr: too few clients sent keys", err);
}

/* ---- shares to whom they are sealed ------------------------------------------------------------------ */

/* The row that `dealer` dealt to `holder`; NULL: none. */
static const uint8_t *dealt_to(const bbglr_server *s, uint32_t dealer, uint32_t holder)
{
    sotto_bbglr_body body;

    if (s->clients[dealer].stage < STAGE_DEALT ||
        sotto_bbglr_body_decode(&body, SOTTO_BBGLR_DEAL, s->round->registered,
                                s->clients[dealer].deal, NULL) != SOTTO_OK)
        return NULL;
    for (size_t i = 0; i < body.rows.count; i++)
        if (sotto_row_index(sotto_rows_at(&body.rows, i)) == holder)
            return sotto_rows_at(&body.rows, i);
    return NULL;
}

static sotto_status send_shares(bbglr_server *s, sotto_effects *effects, uint32_t to,
                                sotto_err *err)
{
    uint8_t *at = take_rows(effects, s->parameters.degree, SOTTO_BBGLR_SEALED_ROW);
    sotto_bbglr_body body = {.rows = {at, 0, SOTTO_BBGLR_SEALED_ROW}};
    uint32_t neighbours[SOTTO_BBGLR_MOST_DEGREE];

    if (!at)
        return no_memory(err);
    sotto_bbglr_neighbours(&s->graph, to, neighbours);
    for (size_t i = 0; i < s->parameters.degree; i++) {
        const uint8_t *dealt = dealt_to(s, neighbours[i], to);
        uint8_t *row = at + body.rows.count * SOTTO_BBGLR_SEALED_ROW;

        if (!dealt)
            continue;
        memcpy(row, dealt, SOTTO_BBGLR_SEALED_ROW);
        sotto_row_put_index(row, neighbours[i]);
        body.rows.count++;
    }
    return send_to(s, effects, to, SOTTO_BBGLR_SHARES, &body, err);
}

static sotto_status close_deal(bbglr_server *s, sotto_effects *effects, sotto_err *err)
{
    return send_on(s, effects, STAGE_DEALT, send_shares, SERVER_COLLECT,
                   "bbglr: too few clients dealt", err);
}

/* ---- the view ---------------------------------------------------------------------------------------- */

static sotto_status close_collect(bbglr_server *s, sotto_effects *effects, sotto_err *err)
{
    size_t bytes = (size_t)(s->round->registered + 7) / 8;
    sotto_bbglr_body body = {.head = {s->online, bytes}};
    sotto_vow vow = {.kind = SOTTO_BBGLR_VIEW,
                     .epoch = s->round->epoch,
                     .round = s->round->number,
                     .subject = SOTTO_TO_EVERYBODY};

    if (sotto_bbglr_server_count(s, STAGE_ONLINE) < s->round->least) {
        burn(s, effects, SOTTO_DENIED, "bbglr: fewer contributions than the round demands");
        return SOTTO_OK;
    }
    for (uint32_t i = 0; i < s->round->registered; i++)
        if (s->clients[i].stage >= STAGE_ONLINE)
            s->online[i / 8] = (uint8_t)(s->online[i / 8] | 1u << i % 8);
    /* A server that is started again, or a second one, shows the same view or none. */
    sotto_hash_once(vow.digest, SOTTO_SHA256, body.head);
    SOTTO_TRY(sotto_effects_vow(effects, &vow, err));
    for (uint32_t i = 0; i < s->round->registered; i++)
        if (sotto_bits_has(s->online, i))
            SOTTO_TRY(send_to(s, effects, i, SOTTO_BBGLR_VIEW, &body, err));
    s->phase = SERVER_VOTE;
    return SOTTO_OK;
}

/* ---- votes and answers ------------------------------------------------------------------------------- */

static sotto_status send_open(bbglr_server *s, sotto_effects *effects, uint32_t to,
                              sotto_bbglr_body *body, sotto_err *err)
{
    uint8_t *at = take_rows(effects, s->parameters.degree, SOTTO_BBGLR_WANT_ROW);
    uint32_t neighbours[SOTTO_BBGLR_MOST_DEGREE];

    if (!at)
        return no_memory(err);
    body->more = (sotto_rows){at, 0, SOTTO_BBGLR_WANT_ROW};
    sotto_bbglr_neighbours(&s->graph, to, neighbours);
    for (size_t i = 0; i < s->parameters.degree; i++) {
        uint8_t *row = at + body->more.count * SOTTO_BBGLR_WANT_ROW;

        if (!dealt_to(s, neighbours[i], to))
            continue;
        sotto_row_put_index(row, neighbours[i]);
        row[4] =
            sotto_bits_has(s->online, neighbours[i]) ? SOTTO_BBGLR_WANT_SEED : SOTTO_BBGLR_WANT_KEY;
        body->more.count++;
    }
    return send_to(s, effects, to, SOTTO_BBGLR_OPEN, body, err);
}

static sotto_status close_vote(bbglr_server *s, sotto_effects *effects, sotto_err *err)
{
    size_t bytes = (size_t)(s->round->registered + 7) / 8;
    uint8_t digest[32];
    uint8_t *at = take_rows(effects, s->parameters.quorum, SOTTO_BBGLR_VOTE_ROW);
    sotto_bbglr_body body = {.head = {digest, sizeof digest},
                             .rows = {at, 0, SOTTO_BBGLR_VOTE_ROW}};

    if (!at)
        return no_memory(err);
    if (sotto_bbglr_server_count(s, STAGE_VOTED) < s->parameters.quorum) {
        burn(s, effects, SOTTO_DENIED, "bbglr: too few clients voted");
        return SOTTO_OK;
    }
    sotto_hash_once(digest, SOTTO_SHA256, sotto_bytes_of(s->online, bytes));
    for (uint32_t i = 0; body.rows.count < s->parameters.quorum; i++) {
        uint8_t *row = at + body.rows.count * SOTTO_BBGLR_VOTE_ROW;

        if (s->clients[i].stage < STAGE_VOTED)
            continue;
        sotto_row_put_index(row, i);
        memcpy(row + 4, s->clients[i].vote_signature.data, SOTTO_SIGNATURE);
        body.rows.count++;
    }
    for (uint32_t i = 0; i < s->round->registered; i++)
        if (s->clients[i].stage >= STAGE_VOTED)
            SOTTO_TRY(send_open(s, effects, i, &body, err));
    s->phase = SERVER_ANSWER;
    return SOTTO_OK;
}

static sotto_status close_answer(bbglr_server *s, sotto_effects *effects, sotto_err *err)
{
    sotto_err why = {0};
    sotto_status status = sotto_bbglr_server_recover(s, &why);

    if (status == SOTTO_NO_MEMORY)
        return sotto_fail(err, status, "%s", why.reason);
    if (status != SOTTO_OK) {
        burn(s, effects, SOTTO_REJECTED, why.reason);
        return SOTTO_OK;
    }
    s->phase = SERVER_RELEASED;
    sotto_effects_done(effects, SOTTO_OK, "released");
    return SOTTO_OK;
}

/* ---- what clients say -------------------------------------------------------------------------------- */

/* Keys with which every agreement is zero would take their owner's neighbours out of the round. */
static bool keys_agree(const sotto_bbglr_body *body)
{
    static const uint8_t anybody[32] = {1};
    uint8_t agreed[32];
    sotto_dh dh;
    bool all = sotto_dh_init(&dh, sotto_kem_find(SOTTO_KEM_X25519), sotto_bytes_of(anybody, 32),
                             NULL) == SOTTO_OK;

    for (size_t i = 0; i < 2 && all; i++)
        all = sotto_dh_agree(&dh, agreed, sotto_bytes_of(body->head.data + i * SOTTO_BBGLR_KEY, 32),
                             "key", NULL) == SOTTO_OK;
    sotto_dh_clear(&dh);
    return all;
}

/* A dealer deals to exactly those of its neighbours that have keys. */
static bool deals_to_all(const bbglr_server *s, uint32_t from, const sotto_bbglr_body *body)
{
    uint32_t neighbours[SOTTO_BBGLR_MOST_DEGREE];
    size_t next = 0;

    sotto_bbglr_neighbours(&s->graph, from, neighbours);
    for (size_t i = 0; i < s->parameters.degree; i++) {
        if (s->clients[neighbours[i]].stage < STAGE_KEYED)
            continue;
        if (next >= body->rows.count ||
            sotto_row_index(sotto_rows_at(&body->rows, next)) != neighbours[i])
            return false;
        next++;
    }
    return next == body->rows.count;
}

static bool votes_for_view(const bbglr_server *s, const sotto_bbglr_body *body)
{
    uint8_t digest[32];

    sotto_hash_once(digest, SOTTO_SHA256,
                    sotto_bytes_of(s->online, (size_t)(s->round->registered + 7) / 8));
    return memcmp(digest, body->head.data, sizeof digest) == 0;
}

static bool accepts(const bbglr_server *s, const sotto_message *m, const sotto_bbglr_body *body)
{
    switch (m->kind) {
    case SOTTO_BBGLR_KEYS:
        return keys_agree(body);
    case SOTTO_BBGLR_DEAL:
        return deals_to_all(s, m->from, body);
    case SOTTO_BBGLR_VOTE:
        return votes_for_view(s, body);
    default:
        return true;
    }
}

static sotto_status keep(bbglr_server *s, const sotto_message *m, sotto_effects *effects,
                         sotto_err *err)
{
    sotto_message own = *m;
    uint8_t *copy = sotto_arena_take(s->arena, m->body.len + m->signature.len + 1);

    if (!copy)
        return no_memory(err);
    if (m->body.len)
        memcpy(copy, m->body.data, m->body.len);
    memcpy(copy + m->body.len, m->signature.data, m->signature.len);
    own.body.data = copy;
    own.signature.data = copy + m->body.len;
    if (!sotto_bbglr_server_file(s, &own))
        return SOTTO_OK; /* MASKED: what counts is its bulk, which the caller adds */
    return sotto_effects_keep(effects, m, err);
}

typedef sotto_status closer(bbglr_server *s, sotto_effects *effects, sotto_err *err);

/* One row a phase: which messages it takes, from whom, until when, and what ends it. */
static const struct {
    unsigned kind;
    server_stage before; /* of whom it is taken, and whom the phase waits for */
    closer *close;
} PHASES[] = {
    [SERVER_KEYS] = {SOTTO_BBGLR_KEYS, STAGE_NONE, close_keys},
    [SERVER_DEAL] = {SOTTO_BBGLR_DEAL, STAGE_KEYED, close_deal},
    [SERVER_COLLECT] = {SOTTO_BBGLR_MASKED, STAGE_DEALT, close_collect},
    [SERVER_VOTE] = {SOTTO_BBGLR_VOTE, STAGE_ONLINE, close_vote},
    [SERVER_ANSWER] = {SOTTO_BBGLR_ANSWER, STAGE_VOTED, close_answer},
};

static uint64_t deadline(const bbglr_server *s)
{
    const uint64_t by[] = {s->parameters.keys_by, s->round->commit_by, s->round->closes,
                           s->round->verify_by, s->round->release_by};

    return s->phase <= SERVER_ANSWER ? by[s->phase] : UINT64_MAX;
}

/* Nobody is left who could still say something in this phase. */
static bool all_spoke(const bbglr_server *s)
{
    for (uint32_t i = 0; i < s->round->registered; i++)
        if (s->clients[i].stage == (uint8_t)PHASES[s->phase].before)
            return false;
    return true;
}

static sotto_status take(bbglr_server *s, const sotto_message *m, sotto_status *verdict,
                         sotto_effects *effects, sotto_err *err)
{
    server_client *c = &s->clients[m->from];
    sotto_bbglr_body body;

    *verdict = SOTTO_STALE;
    if (s->phase > SERVER_ANSWER)
        return SOTTO_OK;
    /* A vector that comes after the view was shown is not added: its masks may be known by then. */
    if (m->kind != PHASES[s->phase].kind) {
        *verdict = m->kind > PHASES[s->phase].kind ? SOTTO_AGAIN : SOTTO_STALE;
        return SOTTO_OK;
    }
    if (c->stage != (uint8_t)PHASES[s->phase].before) {
        *verdict = c->stage > (uint8_t)PHASES[s->phase].before ? SOTTO_STALE : SOTTO_REJECTED;
        return SOTTO_OK;
    }
    *verdict = SOTTO_STALE;
    if (m->kind == SOTTO_BBGLR_MASKED &&
        sotto_bbglr_server_count(s, STAGE_ONLINE) >= s->round->largest)
        return SOTTO_OK; /* the bit budget ends here */
    *verdict = SOTTO_REJECTED;
    if (sotto_bbglr_body_decode(&body, m->kind, s->round->registered, m->body, NULL) != SOTTO_OK ||
        !accepts(s, m, &body))
        return SOTTO_OK;
    SOTTO_TRY(keep(s, m, effects, err));
    c->stage++;
    *verdict = SOTTO_OK;
    return SOTTO_OK;
}

static sotto_status deliver(sotto_machine *machine, const sotto_message *messages, size_t count,
                            sotto_status *verdicts, sotto_effects *effects, sotto_err *err)
{
    bbglr_server *s = (bbglr_server *)machine;

    for (size_t i = 0; i < count; i++) {
        const sotto_message *m = &messages[i];

        verdicts[i] = SOTTO_REJECTED;
        if (m->from >= s->round->registered || m->to != SOTTO_TO_SERVER)
            continue;
        SOTTO_TRY(take(s, m, &verdicts[i], effects, err));
        if (verdicts[i] == SOTTO_OK && all_spoke(s)) {
            SOTTO_TRY(PHASES[s->phase].close(s, effects, err));
            sotto_effects_wake(effects, deadline(s));
        }
    }
    return SOTTO_OK;
}

static sotto_status tick(sotto_machine *machine, uint64_t now_ms, sotto_effects *effects,
                         sotto_err *err)
{
    bbglr_server *s = (bbglr_server *)machine;

    while (s->phase <= SERVER_ANSWER && now_ms >= deadline(s))
        SOTTO_TRY(PHASES[s->phase].close(s, effects, err));
    if (s->phase <= SERVER_ANSWER)
        sotto_effects_wake(effects, deadline(s));
    return SOTTO_OK;
}

static sotto_status result(const sotto_machine *machine, sotto_round_result *out, sotto_err *err)
{
    const bbglr_server *s = (const bbglr_server *)machine;

    SOTTO_TRY(sotto_machine_outcome(out, s->blamed, s->blamed_count, s->phase == SERVER_BURNT,
                                    s->phase == SERVER_RELEASED, err));
    out->contributions = sotto_bbglr_server_count(s, STAGE_ONLINE);
    out->opening = sotto_buf_bytes(&s->opening);
    return SOTTO_OK;
}

const sotto_machine_ops sotto_bbglr_server = {
    .join = sotto_bbglr_server_join,
    .offer = sotto_machine_offers_nothing,
    .check = sotto_bbglr_check,
    .deliver = deliver,
    .tick = tick,
    .result = result,
    .save = sotto_bbglr_server_save,
    .restore = sotto_bbglr_server_restore,
    .leave = sotto_bbglr_server_leave,
};
