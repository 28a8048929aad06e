/* What a client does, step by step (Bell et al. 2020, algorithms 1 and 2; the vote stands for the consistency check of their
 * malicious variant). */
#include "aggregate/bbglr/client.h"

#include "aggregate/machine.h"
#include "aggregate/shared/mask.h"
#include "base/declassify.h"
#include "base/rule.h"
#include "crypto/hash.h"
#include "crypto/kem.h"

#include <string.h>

static sotto_status open_key(const bbglr_client *c, sotto_dh *dh, uint32_t which, sotto_err *err)
{
    uint8_t private_key[32];

    memset(dh, 0, sizeof *dh);
    SOTTO_TRY(sotto_bbglr_client_secret(c, private_key, which, err));
    sotto_status status = sotto_dh_init(dh, sotto_kem_find(SOTTO_KEM_X25519),
                                        sotto_bytes_of(private_key, sizeof private_key), err);
    sotto_wipe(private_key, sizeof private_key);
    return status;
}

static sotto_status vow(const bbglr_client *c, sotto_effects *effects, unsigned kind,
                        uint32_t subject, const uint8_t digest[32], sotto_err *err)
{
    sotto_vow v = {.kind = (uint16_t)kind,
                   .epoch = c->round->epoch,
                   .round = c->round->number,
                   .subject = subject};

    memcpy(v.digest, digest, sizeof v.digest);
    return sotto_effects_vow(effects, &v, err);
}

/* Gives up, and sends nothing more in this round. */
static void give_up(bbglr_client *c, sotto_effects *effects, sotto_status outcome,
                    const char *reason)
{
    c->part.phase = CLIENT_OVER;
    sotto_effects_done(effects, outcome, reason);
}

/* ---- keys ------------------------------------------------------------------------------------------- */

static sotto_status send_keys(bbglr_client *c, sotto_effects *effects, sotto_err *err)
{
    uint8_t keys[2 * SOTTO_BBGLR_KEY];
    sotto_bbglr_body body = {.head = {keys, sizeof keys}};

    for (uint32_t i = 0; i < 2; i++) {
        sotto_dh dh;
        sotto_status status = open_key(c, &dh, i ? CLIENT_CHANNEL_KEY : CLIENT_MASK_KEY, err);

        memcpy(keys + i * SOTTO_BBGLR_KEY, dh.public_key, SOTTO_BBGLR_KEY);
        sotto_dh_clear(&dh);
        SOTTO_TRY(status);
    }
    SOTTO_TRY(sotto_bbglr_send(effects, c->round, &c->part.self, SOTTO_TO_SERVER, SOTTO_BBGLR_KEYS,
                               &body, NULL, err));
    c->part.phase = CLIENT_KEYS_SENT;
    return SOTTO_OK;
}

/* ---- shares ----------------------------------------------------------------------------------------- */

/* The key of one message from one client to another. Both names are part of its derivation, so that no ciphertext can be
 * passed off as another's, or be sent back to whoever made it. */
static sotto_status channel_key(const bbglr_client *c, sotto_dh *channel, uint8_t out[32],
                                const client_peer *peer, bool outbound, sotto_err *err)
{
    const uint32_t from = outbound ? c->part.self.index : peer->index;
    const uint32_t to = outbound ? peer->index : c->part.self.index;
    uint8_t agreed[32];

    SOTTO_TRY(sotto_dh_agree(channel, agreed,
                             sotto_bytes_of(peer->channel_key, sizeof peer->channel_key),
                             "channel key", err));
    sotto_status status =
        sotto_round_kdf(out, "sotto-bbglr-share-1", sotto_bytes_of(agreed, sizeof agreed),
                        c->part.id, from, to, err);
    sotto_wipe(agreed, sizeof agreed);
    return status;
}

static const uint8_t NONCE[SOTTO_AEAD_NONCE_SIZE]; /* a key seals one message */

static sotto_status seal_for(const bbglr_client *c, sotto_dh *channel, sotto_aead *aead,
                             uint8_t *row, const client_peer *peer,
                             const sotto_shamir_dealer dealers[2], sotto_err *err)
{
    uint8_t key[32], dealt[SOTTO_BBGLR_DEALT];
    sotto_buf sealed = sotto_buf_over(row + 4, SOTTO_BBGLR_SEALED);
    sotto_status status = channel_key(c, channel, key, peer, true, err);

    sotto_row_put_index(row, peer->index);
    sotto_shamir_share(&dealers[0], dealt, peer->index);
    sotto_shamir_share(&dealers[1], dealt + SOTTO_SHAMIR_SHARE, peer->index);
    if (status == SOTTO_OK)
        status = sotto_aead_set_key(aead, key, err);
    if (status == SOTTO_OK)
        status =
            sotto_aead_seal(aead, &sealed, NONCE, sotto_bytes_of(c->part.id, sizeof c->part.id),
                            sotto_bytes_of(dealt, sizeof dealt), err);
    sotto_wipe(key, sizeof key);
    sotto_wipe(dealt, sizeof dealt);
    return status;
}

/* Polynomials for the mask key and the seed, from the client's own randomness: the same at a repeated step. */
static sotto_status make_dealers(bbglr_client *c, sotto_shamir_dealer dealers[2],
                                 uint8_t commitment[32], sotto_arena *arena, sotto_err *err)
{
    uint8_t secret[32], seed[32];
    sotto_keystream stream = {0};
    sotto_status status = sotto_bbglr_client_secret(c, seed, CLIENT_POLYNOMIALS, err);

    if (status == SOTTO_OK)
        status = sotto_keystream_init(&stream, err);
    if (status == SOTTO_OK)
        status = sotto_keystream_seed(&stream, seed, err);
    for (uint32_t i = 0; i < 2 && status == SOTTO_OK; i++) {
        status = sotto_bbglr_client_secret(c, secret, i ? CLIENT_SELF_SEED : CLIENT_MASK_KEY, err);
        if (status == SOTTO_OK)
            status = sotto_shamir_deal(&dealers[i], arena, c->parameters.threshold, secret, &stream,
                                       err);
    }
    if (status == SOTTO_OK)
        status = sotto_bbglr_commit(commitment, secret, c->part.id, c->part.self.index, err);
    sotto_keystream_clear(&stream);
    sotto_wipe(secret, sizeof secret);
    sotto_wipe(seed, sizeof seed);
    return status;
}

static sotto_status seal_all(bbglr_client *c, sotto_rows *rows, uint8_t *at,
                             const sotto_shamir_dealer dealers[2], sotto_err *err)
{
    sotto_aead aead = {0};
    sotto_dh channel;
    sotto_status status = open_key(c, &channel, CLIENT_CHANNEL_KEY, err);

    if (status == SOTTO_OK)
        status = sotto_aead_init(&aead, sotto_aead_find(SOTTO_AES256_GCM), SOTTO_AEAD_SEAL, err);
    *rows = (sotto_rows){at, 0, SOTTO_BBGLR_SEALED_ROW};
    for (size_t i = 0; i < c->parameters.degree && status == SOTTO_OK; i++)
        if (c->peers[i].stage & PEER_KEYED)
            status = seal_for(c, &channel, &aead, at + rows->count++ * rows->size, &c->peers[i],
                              dealers, err);
    sotto_aead_clear(&aead);
    sotto_dh_clear(&channel);
    return status;
}

static sotto_status deal(bbglr_client *c, sotto_effects *effects, sotto_err *err)
{
    sotto_shamir_dealer dealers[2] = {0};
    uint8_t commitment[32];
    sotto_bbglr_body body = {.head = {commitment, sizeof commitment}};
    uint8_t *rows =
        sotto_arena_take_array(effects->arena, c->parameters.degree, SOTTO_BBGLR_SEALED_ROW);

    if (!rows)
        return sotto_fail(err, SOTTO_NO_MEMORY, "bbglr client: no memory");
    sotto_status status = make_dealers(c, dealers, commitment, effects->arena, err);
    if (status == SOTTO_OK)
        status = seal_all(c, &body.rows, rows, dealers, err);
    for (size_t i = 0; i < 2; i++)
        if (dealers[i].coefficients)
            sotto_shamir_forget(&dealers[i]);
    SOTTO_TRY(status);
    return sotto_bbglr_send(effects, c->round, &c->part.self, SOTTO_TO_SERVER, SOTTO_BBGLR_DEAL,
                            &body, NULL, err);
}

static sotto_status take_roster(bbglr_client *c, const sotto_bbglr_body *body,
                                sotto_effects *effects, sotto_err *err)
{
    for (size_t i = 0; i < body->rows.count; i++)
        if (SOTTO_RULE(bbglr_own_neighbours) &&
            !sotto_bbglr_client_peer(c, sotto_row_index(sotto_rows_at(&body->rows, i))))
            return SOTTO_REJECTED;
    if (body->rows.count < c->parameters.threshold) {
        give_up(c, effects, SOTTO_DENIED, "bbglr: too few neighbours have keys");
        return SOTTO_OK;
    }
    for (size_t i = 0; i < body->rows.count; i++) {
        const uint8_t *row = sotto_rows_at(&body->rows, i);
        client_peer *peer = sotto_bbglr_client_peer(c, sotto_row_index(row));

        if (!peer)
            continue;
        memcpy(peer->mask_key, row + 4, SOTTO_BBGLR_KEY);
        memcpy(peer->channel_key, row + 4 + SOTTO_BBGLR_KEY, SOTTO_BBGLR_KEY);
        peer->stage |= PEER_KEYED;
    }
    SOTTO_TRY(deal(c, effects, err));
    c->part.phase = CLIENT_DEALT;
    return SOTTO_OK;
}

/* A share that does not open is not held. Its dealer's mask is still used, since its key is signed: it only makes its own
 * recovery less likely. */
static sotto_status open_share(bbglr_client *c, sotto_dh *channel, sotto_aead *aead,
                               client_peer *peer, const uint8_t *row, sotto_err *err)
{
    uint8_t key[32], held[SOTTO_BBGLR_DEALT];
    sotto_buf out = sotto_buf_over(held, sizeof held);
    sotto_status status = channel_key(c, channel, key, peer, false, NULL);

    if (status == SOTTO_OK)
        status = sotto_aead_set_key(aead, key, err);
    if (status == SOTTO_OK)
        status = sotto_aead_open(aead, &out, NONCE, sotto_bytes_of(c->part.id, sizeof c->part.id),
                                 sotto_bytes_of(row + 4, SOTTO_BBGLR_SEALED), NULL);
    /* Both are judged at once. The server sees whether a share is given, and nothing else of one that is not. */
    bool fits = status == SOTTO_OK;
    if (fits)
        fits = sotto_shamir_is_share(held) & sotto_shamir_is_share(held + SOTTO_SHAMIR_SHARE);
    SOTTO_DECLASSIFY(&fits, sizeof fits);
    if (fits) {
        memcpy(peer->held, held, sizeof held);
        peer->stage |= PEER_HELD;
    }
    sotto_wipe(key, sizeof key);
    sotto_wipe(held, sizeof held);
    return status == SOTTO_NO_MEMORY ? status : SOTTO_OK;
}

static sotto_status take_shares(bbglr_client *c, const sotto_bbglr_body *body,
                                sotto_effects *effects, sotto_err *err)
{
    sotto_aead aead = {0};
    sotto_dh channel;

    for (size_t i = 0; i < body->rows.count; i++) {
        uint32_t index = sotto_row_index(sotto_rows_at(&body->rows, i));
        const client_peer *peer = sotto_bbglr_client_peer(c, index);

        if (!peer || !(peer->stage & PEER_KEYED))
            return SOTTO_REJECTED;
    }
    /* Fewer masks than this could be those of the server's own clients. */
    if (SOTTO_RULE(bbglr_masked_enough) && body->rows.count < c->parameters.threshold) {
        give_up(c, effects, SOTTO_DENIED, "bbglr: too few neighbours dealt");
        return SOTTO_OK;
    }
    sotto_status status = open_key(c, &channel, CLIENT_CHANNEL_KEY, err);
    if (status == SOTTO_OK)
        status = sotto_aead_init(&aead, sotto_aead_find(SOTTO_AES256_GCM), SOTTO_AEAD_OPEN, err);
    for (size_t i = 0; i < body->rows.count && status == SOTTO_OK; i++) {
        const uint8_t *row = sotto_rows_at(&body->rows, i);
        client_peer *peer = sotto_bbglr_client_peer(c, sotto_row_index(row));

        peer->stage |= PEER_DEALT;
        status = open_share(c, &channel, &aead, peer, row, err);
    }
    sotto_aead_clear(&aead);
    sotto_dh_clear(&channel);
    SOTTO_TRY(status);
    sotto_effects_want_vector(effects);
    c->part.phase = CLIENT_READY;
    return SOTTO_OK;
}

/* ---- the vector ------------------------------------------------------------------------------------- */

/* A number beyond the round's bound could wrap the sum. */
static bool within_bound(const sotto_vector *v, uint64_t most)
{
    uint64_t beyond = 0;

    for (size_t i = 0; i < v->length; i++)
        beyond |= v->ring == SOTTO_RING_Z32
                      ? sotto_ct_less(2 * most, (uint32_t)(v->of.z32[i] + (uint32_t)most))
                      : sotto_ct_less(2 * most, v->of.z64[i] + most);
    SOTTO_DECLASSIFY(&beyond, sizeof beyond);
    return beyond == 0;
}

static sotto_status add_pair_masks(bbglr_client *c, sotto_vector *v, sotto_err *err)
{
    uint8_t agreed[32], seed[32];
    sotto_dh own;
    sotto_status status = open_key(c, &own, CLIENT_MASK_KEY, err);

    for (size_t i = 0; i < c->parameters.degree && status == SOTTO_OK; i++) {
        const client_peer *peer = &c->peers[i];

        if (!(peer->stage & PEER_DEALT))
            continue;
        status = sotto_dh_agree(&own, agreed, sotto_bytes_of(peer->mask_key, SOTTO_BBGLR_KEY),
                                "mask key", err);
        if (status == SOTTO_OK)
            status =
                sotto_pair_seed(seed, agreed, c->part.id, c->part.self.index, peer->index, err);
        if (status == SOTTO_OK)
            status =
                sotto_mask_apply(v, seed, sotto_pair_sign(c->part.self.index, peer->index), err);
    }
    sotto_dh_clear(&own);
    sotto_wipe(agreed, sizeof agreed);
    sotto_wipe(seed, sizeof seed);
    return status;
}

static sotto_status add_masks(bbglr_client *c, sotto_vector *v, sotto_err *err)
{
    uint8_t secret[32], seed[32];
    sotto_status status = add_pair_masks(c, v, err);

    if (status == SOTTO_OK)
        status = sotto_bbglr_client_secret(c, secret, CLIENT_SELF_SEED, err);
    if (status == SOTTO_OK)
        status = sotto_bbglr_self_seed(seed, secret, c->part.id, c->part.self.index, err);
    /* Without it, a vector that comes after its pair masks were recovered would lie open. */
    if (status == SOTTO_OK)
        status = sotto_mask_apply(v, seed, 1, err);
    sotto_wipe(secret, sizeof secret);
    sotto_wipe(seed, sizeof seed);
    return status;
}

static sotto_status offer(sotto_machine *machine, sotto_vector *mine, sotto_effects *effects,
                          sotto_err *err)
{
    bbglr_client *c = (bbglr_client *)machine;
    static const sotto_bbglr_body nothing;
    uint8_t digest[32];

    if (c->part.phase != CLIENT_READY)
        return sotto_fail(err, c->part.phase < CLIENT_READY ? SOTTO_AGAIN : SOTTO_STALE,
                          "bbglr: the vector is not wanted now");
    if (mine->ring != c->round->ring || mine->length != c->round->length)
        return sotto_fail(err, SOTTO_BUG, "bbglr: a vector of another round");
    if (SOTTO_RULE(bbglr_within_bound) && !within_bound(mine, c->round->most))
        return sotto_fail(err, SOTTO_DENIED, "bbglr: an entry is beyond the round's bound");
    SOTTO_TRY(add_masks(c, mine, err));
    /* Two vectors under the same masks would give away their difference. */
    sotto_hash_once(digest, SOTTO_SHA256, sotto_vector_bytes(mine));
    SOTTO_TRY(vow(c, effects, SOTTO_BBGLR_MASKED, c->part.self.index, digest, err));
    SOTTO_TRY(sotto_bbglr_send(effects, c->round, &c->part.self, SOTTO_TO_SERVER,
                               SOTTO_BBGLR_MASKED, &nothing, mine, err));
    c->part.phase = CLIENT_SENT;
    return SOTTO_OK;
}

/* ---- the view --------------------------------------------------------------------------------------- */

static uint64_t count_online(const bbglr_client *c, const uint8_t *bitmap)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < c->round->registered; i++)
        count += sotto_bits_has(bitmap, i);
    return count;
}

/* NULL: this client may help to open a sum over these clients. */
static const char *refuse_view(const bbglr_client *c, const uint8_t *bitmap)
{
    uint32_t neighbours = 0;

    for (size_t i = 0; i < c->parameters.degree; i++)
        neighbours += (c->peers[i].stage & PEER_DEALT) && sotto_bits_has(bitmap, c->peers[i].index);
    if (SOTTO_RULE(bbglr_least) && count_online(c, bitmap) < c->round->least)
        return "bbglr: a view with fewer clients than the round demands";
    if (SOTTO_RULE(bbglr_not_cut_off) && neighbours < c->parameters.threshold)
        return "bbglr: a view in which this client has too few neighbours";
    if (SOTTO_RULE(bbglr_connected) && !sotto_bbglr_connected(&c->graph, bitmap))
        return "bbglr: a view that falls into parts, each of which would be opened by itself";
    return NULL;
}

static sotto_status take_view(bbglr_client *c, const sotto_bbglr_body *body, sotto_effects *effects,
                              sotto_err *err)
{
    uint8_t digest[32];
    sotto_bbglr_body vote = {.head = {digest, sizeof digest}};

    sotto_hash_once(digest, SOTTO_SHA256, body->head);
    if (c->part.phase != CLIENT_SENT) {
        if (memcmp(digest, c->view, sizeof digest) == 0 || c->part.phase == CLIENT_OVER)
            return SOTTO_STALE;
        /* A second view, in which others are offline, would ask for the other half of somebody's secrets. */
        return SOTTO_REJECTED;
    }
    if (!sotto_bits_has(body->head.data, c->part.self.index)) {
        give_up(c, effects, SOTTO_STALE, "bbglr: this contribution came too late");
        return SOTTO_OK;
    }
    const char *reason = refuse_view(c, body->head.data);
    if (reason) {
        give_up(c, effects, SOTTO_DENIED, reason);
        return SOTTO_REJECTED;
    }
    memcpy(c->view, digest, sizeof digest);
    memcpy(c->online, body->head.data, body->head.len);
    SOTTO_TRY(vow(c, effects, SOTTO_BBGLR_VOTE, SOTTO_TO_SERVER, digest, err));
    SOTTO_TRY(sotto_bbglr_send(effects, c->round, &c->part.self, SOTTO_TO_SERVER, SOTTO_BBGLR_VOTE,
                               &vote, NULL, err));
    c->part.phase = CLIENT_VOTED;
    return SOTTO_OK;
}

/* ---- answers ---------------------------------------------------------------------------------------- */

/* What is wanted must be what the label says: the seed of somebody online, the mask key of somebody offline. Both together
 * open a single vector. */
static bool may_answer(bbglr_client *c, const uint8_t *want)
{
    const client_peer *peer = sotto_bbglr_client_peer(c, sotto_row_index(want));

    if (!peer || !(peer->stage & PEER_DEALT))
        return false;
    bool online = sotto_bits_has(c->online, peer->index);
    if (SOTTO_RULE(bbglr_one_share) &&
        want[4] != (online ? SOTTO_BBGLR_WANT_SEED : SOTTO_BBGLR_WANT_KEY))
        return false;
    return true;
}

static sotto_status answer(bbglr_client *c, const sotto_rows *wants, sotto_effects *effects,
                           sotto_err *err)
{
    uint8_t *at = sotto_arena_take_array(effects->arena, wants->count + 1, SOTTO_BBGLR_ANSWER_ROW);
    sotto_bbglr_body body = {.rows = {at, 0, SOTTO_BBGLR_ANSWER_ROW}};

    if (!at)
        return sotto_fail(err, SOTTO_NO_MEMORY, "bbglr client: no memory");
    for (size_t i = 0; i < wants->count; i++) {
        const uint8_t *want = sotto_rows_at(wants, i);
        const client_peer *peer = sotto_bbglr_client_peer(c, sotto_row_index(want));
        uint8_t digest[32] = {0};

        if (!(peer->stage & PEER_HELD))
            continue;
        uint8_t *row = at + body.rows.count++ * SOTTO_BBGLR_ANSWER_ROW;
        memcpy(row, want, SOTTO_BBGLR_WANT_ROW);
        memcpy(row + 5, peer->held + (want[4] ? SOTTO_SHAMIR_SHARE : 0), SOTTO_SHAMIR_SHARE);
        /* One of the two for each client, ever: the vow outlives this machine. */
        digest[0] = want[4];
        SOTTO_TRY(vow(c, effects, SOTTO_BBGLR_ANSWER, peer->index, digest, err));
    }
    return sotto_bbglr_send(effects, c->round, &c->part.self, SOTTO_TO_SERVER, SOTTO_BBGLR_ANSWER,
                            &body, NULL, err);
}

static sotto_status take_open(bbglr_client *c, const sotto_bbglr_body *body, sotto_effects *effects,
                              sotto_err *err)
{
    /* Of another view than this client's, or not yet of enough: somebody was shown something else. */
    if (SOTTO_RULE(bbglr_same_view) && memcmp(body->head.data, c->view, sizeof c->view) != 0)
        return SOTTO_REJECTED;
    if (SOTTO_RULE(bbglr_quorum) && body->rows.count < c->parameters.quorum)
        return SOTTO_REJECTED;
    for (size_t i = 0; i < body->more.count; i++)
        if (!may_answer(c, sotto_rows_at(&body->more, i)))
            return SOTTO_REJECTED;
    SOTTO_TRY(answer(c, &body->more, effects, err));
    c->part.phase = CLIENT_OVER;
    sotto_effects_done(effects, SOTTO_OK, "answered");
    return SOTTO_OK;
}

/* ---- the machine ------------------------------------------------------------------------------------ */

typedef sotto_status handler(bbglr_client *c, const sotto_bbglr_body *body, sotto_effects *effects,
                             sotto_err *err);

static sotto_status deliver_one(bbglr_client *c, const sotto_message *m, sotto_status *verdict,
                                sotto_effects *effects, sotto_err *err)
{
    static const struct {
        client_phase when;
        handler *run;
    } steps[SOTTO_BBGLR_ANSWER + 1] = {
        [SOTTO_BBGLR_ROSTER] = {CLIENT_KEYS_SENT, take_roster},
        [SOTTO_BBGLR_SHARES] = {CLIENT_DEALT, take_shares},
        [SOTTO_BBGLR_VIEW] = {CLIENT_SENT, take_view},
        [SOTTO_BBGLR_OPEN] = {CLIENT_VOTED, take_open},
    };
    sotto_bbglr_body body;

    *verdict = SOTTO_REJECTED;
    if (m->to != c->part.self.index || m->kind > SOTTO_BBGLR_ANSWER || !steps[m->kind].run ||
        sotto_bbglr_body_decode(&body, m->kind, c->round->registered, m->body, NULL) != SOTTO_OK)
        return SOTTO_OK;
    *verdict = SOTTO_AGAIN;
    if (c->part.phase < steps[m->kind].when)
        return SOTTO_OK;
    *verdict = SOTTO_STALE;
    if (c->part.phase > steps[m->kind].when && m->kind != SOTTO_BBGLR_VIEW)
        return SOTTO_OK;
    sotto_status status = steps[m->kind].run(c, &body, effects, err);
    if (status != SOTTO_OK && status != SOTTO_REJECTED && status != SOTTO_STALE)
        return status;
    *verdict = status;
    return SOTTO_OK;
}

static sotto_status deliver(sotto_machine *machine, const sotto_message *messages, size_t count,
                            sotto_status *verdicts, sotto_effects *effects, sotto_err *err)
{
    for (size_t i = 0; i < count; i++)
        SOTTO_TRY(deliver_one((bbglr_client *)machine, &messages[i], &verdicts[i], effects, err));
    return SOTTO_OK;
}

static sotto_status tick(sotto_machine *machine, uint64_t now_ms, sotto_effects *effects,
                         sotto_err *err)
{
    bbglr_client *c = (bbglr_client *)machine;

    if (c->part.phase == CLIENT_OVER)
        return SOTTO_OK;
    if (now_ms >= c->round->release_by) {
        give_up(c, effects, SOTTO_STALE, "bbglr: the round ended without an answer");
        return SOTTO_OK;
    }
    sotto_effects_wake(effects, now_ms < c->round->opens ? c->round->opens : c->round->release_by);
    if (c->part.phase == CLIENT_READY)
        sotto_effects_want_vector(effects);
    if (c->part.phase == CLIENT_START && now_ms >= c->round->opens)
        return send_keys(c, effects, err);
    return SOTTO_OK;
}

const sotto_machine_ops sotto_bbglr_client = {
    .join = sotto_bbglr_client_join,
    .offer = offer,
    .check = sotto_bbglr_check,
    .deliver = deliver,
    .tick = tick,
    .result = sotto_machine_has_no_result,
    .save = sotto_bbglr_client_save,
    .restore = sotto_bbglr_client_restore,
    .leave = sotto_bbglr_client_leave,
};
