#include "court.h"

#include "aggregate/shared/mask.h"
#include "crypto/hash.h"
#include "crypto/kem.h"

#include <string.h>

void court_open(sotto_test *t, court *s, uint32_t clients, sotto_bbglr_parameters parameters,
                uint64_t least)
{
    memset(s, 0, sizeof *s);
    s->t = t;
    round_case_init(t, &s->c, BBGLR_ROW, clients, SOTTO_RING_Z32, COURT_LENGTH, 42);
    parameters.keys_by = 1000;
    s->parameters = parameters;
    s->c.round.least = least ? least : parameters.quorum;
    round_case_set_bbglr(t, &s->c.round, &parameters);
    CHECK_OK(t, sotto_round_id(&s->c.round, s->id, &t->err));
    CHECK_OK(t,
             sotto_bbglr_graph_init(&s->graph, &s->c.round, parameters.degree, &t->arena, &t->err));
    for (uint32_t i = 0; i < clients; i++) {
        sotto_self self = {.part = SOTTO_PART_CLIENT,
                           .index = i,
                           .keys = &s->c.cast.clients[i],
                           .seed = {(uint8_t)(i + 1)}};

        CHECK_OK(t, sotto_bbglr_client.join(&s->clients[i].machine, &s->c.round, &self, &t->arena,
                                            &t->err));
    }
}

void court_close(court *s)
{
    for (uint32_t i = 0; i < s->c.clients; i++)
        sotto_bbglr_client.leave(s->clients[i].machine);
    round_case_clear(&s->c);
}

/* ---- what clients say ------------------------------------------------------------------------------- */

static void write_down(court *s, uint32_t from, const sotto_effects *effects)
{
    court_client *c = &s->clients[from];

    c->wants_vector |= effects->wants_vector;
    c->is_done |= effects->done;
    for (const sotto_effect_vow *v = effects->vows; v; v = v->next)
        c->vow = v->vow;
    for (const sotto_effect_message *m = effects->sent; m; m = m->next) {
        CHECK_OK(s->t, sotto_bbglr_check(&s->c.round, &m->message, &s->t->arena, &s->t->err));
        if (m->message.kind == SOTTO_BBGLR_KEYS) {
            memcpy(c->keys, m->message.body.data, sizeof c->keys);
            memcpy(c->keys_signature, m->message.signature.data, SOTTO_SIGNATURE);
        } else if (m->message.kind == SOTTO_BBGLR_DEAL) {
            c->deal = m->message.body;
        } else if (m->message.kind == SOTTO_BBGLR_VOTE && c->votes < 2) {
            memcpy(c->vote[c->votes], m->message.body.data, 32);
            memcpy(c->vote_signature[c->votes++], m->message.signature.data, SOTTO_SIGNATURE);
        } else if (m->message.kind == SOTTO_BBGLR_ANSWER) {
            c->answer = m->message.body;
        }
    }
}

sotto_status court_tell(court *s, uint32_t to, unsigned kind, const sotto_bbglr_body *body)
{
    sotto_message m = {.epoch = s->c.round.epoch,
                       .round = s->c.round.number,
                       .kind = (uint16_t)kind,
                       .from = SOTTO_TO_SERVER,
                       .to = to};
    size_t size = sotto_bbglr_body_size(kind, body);
    sotto_buf out = sotto_buf_over(sotto_arena_take(&s->t->arena, size + 1), size);
    uint8_t signature[SOTTO_SIGNATURE];
    sotto_status verdict = SOTTO_BUG;
    sotto_effects effects;

    CHECK(s->t, out.data != NULL);
    CHECK_OK(s->t, sotto_bbglr_body_encode(&out, kind, body, &s->t->err));
    memcpy(m.session, s->c.round.session, sizeof m.session);
    m.body = sotto_buf_bytes(&out);
    CHECK_OK(s->t, sotto_message_sign(&m, signature, &s->c.cast.server, &s->t->err));
    verdict = sotto_bbglr_check(&s->c.round, &m, &s->t->arena, NULL);
    if (verdict != SOTTO_OK)
        return verdict;
    sotto_effects_init(&effects, &s->t->arena);
    CHECK_OK(s->t, sotto_bbglr_client.deliver(s->clients[to].machine, &m, 1, &verdict, &effects,
                                              &s->t->err));
    write_down(s, to, &effects);
    return verdict;
}

sotto_bytes court_save(court *s, uint32_t client)
{
    size_t most = SOTTO_MACHINE_MOST_SAVED(s->c.clients);
    sotto_buf out = sotto_buf_over(sotto_arena_take(&s->t->arena, most), most);

    CHECK(s->t, out.data != NULL);
    CHECK_OK(s->t, sotto_bbglr_client.save(s->clients[client].machine, &out, &s->t->err));
    return sotto_buf_bytes(&out);
}

void court_restore(court *s, uint32_t client, sotto_bytes saved)
{
    sotto_self self = {
        .part = SOTTO_PART_CLIENT, .index = client, .keys = &s->c.cast.clients[client]};

    sotto_bbglr_client.leave(s->clients[client].machine);
    CHECK_OK(s->t, sotto_bbglr_client.restore(&s->clients[client].machine, &s->c.round, &self,
                                              saved, NULL, 0, &s->t->arena, &s->t->err));
}

/* ---- honest phases ---------------------------------------------------------------------------------- */

void court_keys(court *s)
{
    for (uint32_t i = 0; i < s->c.clients; i++) {
        sotto_effects effects;

        sotto_effects_init(&effects, &s->t->arena);
        CHECK_OK(s->t, sotto_bbglr_client.tick(s->clients[i].machine, s->c.round.opens, &effects,
                                               &s->t->err));
        write_down(s, i, &effects);
    }
}

static uint8_t *rows_of(court *s, size_t count, size_t size)
{
    uint8_t *rows = sotto_arena_take_array(&s->t->arena, count + 1, size);

    CHECK(s->t, rows != NULL);
    return rows;
}

sotto_bbglr_body court_roster(court *s, uint32_t to)
{
    uint8_t *at = rows_of(s, s->parameters.degree, SOTTO_BBGLR_ROSTER_ROW);
    uint32_t neighbours[COURT_MOST];

    sotto_bbglr_neighbours(&s->graph, to, neighbours);
    for (size_t i = 0; i < s->parameters.degree; i++) {
        const court_client *c = &s->clients[neighbours[i]];
        uint8_t *row = at + i * SOTTO_BBGLR_ROSTER_ROW;

        sotto_row_put_index(row, neighbours[i]);
        memcpy(row + 4, c->keys, sizeof c->keys);
        memcpy(row + 4 + sizeof c->keys, c->keys_signature, SOTTO_SIGNATURE);
    }
    return (sotto_bbglr_body){.rows = {at, s->parameters.degree, SOTTO_BBGLR_ROSTER_ROW}};
}

void court_deal(court *s)
{
    for (uint32_t i = 0; i < s->c.clients; i++) {
        sotto_bbglr_body roster = court_roster(s, i);

        CHECK(s->t, court_tell(s, i, SOTTO_BBGLR_ROSTER, &roster) == SOTTO_OK);
        CHECK(s->t, s->clients[i].deal.len > 0);
    }
}

sotto_bbglr_body court_shares(court *s, uint32_t to)
{
    uint8_t *at = rows_of(s, s->parameters.degree, SOTTO_BBGLR_SEALED_ROW);
    uint32_t neighbours[COURT_MOST];

    sotto_bbglr_neighbours(&s->graph, to, neighbours);
    for (size_t i = 0; i < s->parameters.degree; i++) {
        uint8_t *row = at + i * SOTTO_BBGLR_SEALED_ROW;
        sotto_bbglr_body deal;

        CHECK_OK(s->t, sotto_bbglr_body_decode(&deal, SOTTO_BBGLR_DEAL, s->c.clients,
                                               s->clients[neighbours[i]].deal, &s->t->err));
        for (size_t r = 0; r < deal.rows.count; r++)
            if (sotto_row_index(sotto_rows_at(&deal.rows, r)) == to)
                memcpy(row, sotto_rows_at(&deal.rows, r), SOTTO_BBGLR_SEALED_ROW);
        sotto_row_put_index(row, neighbours[i]);
    }
    return (sotto_bbglr_body){.rows = {at, s->parameters.degree, SOTTO_BBGLR_SEALED_ROW}};
}

sotto_status court_offer(court *s, uint32_t client)
{
    court_client *c = &s->clients[client];
    sotto_effects effects;

    sotto_effects_init(&effects, &s->t->arena);
    c->vector = s->c.inputs[client];
    c->vector.of.z32 = sotto_arena_take_array(&s->t->arena, COURT_LENGTH, 4);
    CHECK(s->t, c->vector.of.z32 != NULL);
    memcpy(c->vector.of.z32, s->c.inputs[client].of.z32, (size_t)4 * COURT_LENGTH);
    sotto_status status = sotto_bbglr_client.offer(c->machine, &c->vector, &effects, NULL);
    write_down(s, client, &effects);
    return status;
}

void court_collect(court *s)
{
    for (uint32_t i = 0; i < s->c.clients; i++) {
        sotto_bbglr_body shares = court_shares(s, i);

        CHECK(s->t, court_tell(s, i, SOTTO_BBGLR_SHARES, &shares) == SOTTO_OK);
        CHECK(s->t, s->clients[i].wants_vector);
        CHECK(s->t, court_offer(s, i) == SOTTO_OK);
    }
}

/* ---- views ------------------------------------------------------------------------------------------- */

sotto_bytes court_view(court *s, const uint32_t *offline)
{
    size_t len = (s->c.clients + 7) / 8;
    uint8_t *bits = sotto_arena_take(&s->t->arena, len);

    CHECK(s->t, bits != NULL);
    for (uint32_t i = 0; i < s->c.clients; i++)
        bits[i / 8] = (uint8_t)(bits[i / 8] | 1u << i % 8);
    for (; *offline != COURT_MOST; offline++)
        bits[*offline / 8] = (uint8_t)(bits[*offline / 8] & ~(1u << *offline % 8));
    return sotto_bytes_of(bits, len);
}

sotto_status court_show(court *s, uint32_t to, sotto_bytes view)
{
    sotto_bbglr_body body = {.head = view};

    return court_tell(s, to, SOTTO_BBGLR_VIEW, &body);
}

static size_t votes_for(court *s, uint8_t *at, const uint8_t digest[32], bool forge)
{
    size_t count = 0;

    for (uint32_t i = 0; i < s->c.clients; i++) {
        const court_client *c = &s->clients[i];
        uint8_t *row = at + count * SOTTO_BBGLR_VOTE_ROW;
        unsigned which = 0;

        while (which < c->votes && memcmp(c->vote[which], digest, 32) != 0)
            which++;
        if (which == c->votes && !forge)
            continue;
        sotto_row_put_index(row, i);
        if (which < c->votes)
            memcpy(row + 4, c->vote_signature[which], SOTTO_SIGNATURE);
        count++;
    }
    return count;
}

sotto_status court_ask(court *s, uint32_t to, sotto_bytes view, sotto_bytes labels, int what,
                       bool forge_votes)
{
    uint8_t digest[32], *votes = rows_of(s, s->c.clients, SOTTO_BBGLR_VOTE_ROW);
    uint8_t *wants = rows_of(s, 2 * (size_t)s->parameters.degree, SOTTO_BBGLR_WANT_ROW);
    sotto_bbglr_body body = {.head = {digest, sizeof digest},
                             .rows = {votes, 0, SOTTO_BBGLR_VOTE_ROW},
                             .more = {wants, 0, SOTTO_BBGLR_WANT_ROW}};
    uint32_t neighbours[COURT_MOST];

    sotto_hash_once(digest, SOTTO_SHA256, view);
    body.rows.count = votes_for(s, votes, digest, forge_votes);
    sotto_bbglr_neighbours(&s->graph, to, neighbours);
    for (size_t i = 0; i < s->parameters.degree; i++)
        for (int w = SOTTO_BBGLR_WANT_KEY; w <= SOTTO_BBGLR_WANT_SEED; w++) {
            uint8_t *row = wants + body.more.count * SOTTO_BBGLR_WANT_ROW;

            if (what != COURT_BOTH && w != sotto_bits_has(labels.data, neighbours[i]))
                continue;
            sotto_row_put_index(row, neighbours[i]);
            row[4] = (uint8_t)w;
            body.more.count++;
        }
    return court_tell(s, to, SOTTO_BBGLR_OPEN, &body);
}

/* ---- what the server makes of it --------------------------------------------------------------------- */

typedef struct guess {
    const court *s;
    uint32_t client;
    unsigned what;
} guess;

static bool is_right(void *context, const uint8_t secret[32])
{
    const guess *g = context;
    const court_client *c = &g->s->clients[g->client];
    uint8_t commitment[32];
    sotto_dh dh;

    if (g->what == SOTTO_BBGLR_WANT_SEED)
        return sotto_bbglr_commit(commitment, secret, g->s->id, g->client, NULL) == SOTTO_OK &&
               memcmp(commitment, c->deal.data, 32) == 0;
    bool same = sotto_dh_init(&dh, sotto_kem_find(SOTTO_KEM_X25519), sotto_bytes_of(secret, 32),
                              NULL) == SOTTO_OK &&
                memcmp(dh.public_key, c->keys, SOTTO_BBGLR_KEY) == 0;
    sotto_dh_clear(&dh);
    return same;
}

bool court_learns(court *s, uint32_t client, unsigned what, uint8_t secret[32])
{
    sotto_shamir_point points[COURT_MOST];
    guess g = {s, client, what};
    size_t count = 0;

    for (uint32_t i = 0; i < s->c.clients; i++) {
        sotto_bbglr_body body;

        if (!s->clients[i].answer.data)
            continue;
        CHECK_OK(s->t, sotto_bbglr_body_decode(&body, SOTTO_BBGLR_ANSWER, s->c.clients,
                                               s->clients[i].answer, &s->t->err));
        for (size_t r = 0; r < body.rows.count; r++) {
            const uint8_t *row = sotto_rows_at(&body.rows, r);

            if (sotto_row_index(row) == client && row[4] == what)
                points[count++] = (sotto_shamir_point){i, row + 5, false};
        }
    }
    return sotto_shamir_find_vartime(secret, points, count, s->parameters.threshold, is_right, &g,
                                     NULL) == SOTTO_OK;
}

bool court_reads(court *s, uint32_t client)
{
    sotto_vector v = s->clients[client].vector;
    uint32_t neighbours[COURT_MOST];
    uint8_t secret[32], agreed[32], seed[32];
    sotto_dh dh;

    if (court_learns(s, client, SOTTO_BBGLR_WANT_SEED, secret)) {
        CHECK_OK(s->t, sotto_bbglr_self_seed(seed, secret, s->id, client, &s->t->err));
        CHECK_OK(s->t, sotto_mask_apply(&v, seed, -1, &s->t->err));
    }
    if (court_learns(s, client, SOTTO_BBGLR_WANT_KEY, secret)) {
        CHECK_OK(s->t, sotto_dh_init(&dh, sotto_kem_find(SOTTO_KEM_X25519),
                                     sotto_bytes_of(secret, 32), &s->t->err));
        sotto_bbglr_neighbours(&s->graph, client, neighbours);
        for (size_t i = 0; i < s->parameters.degree; i++) {
            CHECK_OK(s->t,
                     sotto_dh_agree(&dh, agreed, sotto_bytes_of(s->clients[neighbours[i]].keys, 32),
                                    "key", &s->t->err));
            CHECK_OK(s->t, sotto_pair_seed(seed, agreed, s->id, client, neighbours[i], &s->t->err));
            CHECK_OK(s->t, sotto_mask_apply(&v, seed, -sotto_pair_sign(client, neighbours[i]),
                                            &s->t->err));
        }
        sotto_dh_clear(&dh);
    }
    return memcmp(v.of.z32, s->c.inputs[client].of.z32, (size_t)4 * COURT_LENGTH) == 0;
}
