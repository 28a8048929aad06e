/* What a client does: it speaks once a round (Ma et al. 2023, the report step). */
#include "aggregate/flamingo/flamingo.h"

#include "aggregate/machine.h"
#include "aggregate/shared/mask.h"
#include "base/declassify.h"
#include "base/rule.h"
#include "crypto/hash.h"
#include "math/wide.h"

#include <string.h>

typedef enum client_phase { CLIENT_START, CLIENT_READY, CLIENT_OVER } client_phase;

typedef struct flamingo_client {
    sotto_machine_part part; /* its seed is all the randomness there is */
    const sotto_round *round;
    sotto_arena *arena;
    sotto_flamingo_parameters parameters;
    sotto_flamingo_graph graph;
    int64_t place; /* in the cohort */
} flamingo_client;

enum { SAVED_VERSION = 1 };

/* Secrets of this round, all made from the seed. */
enum { SELF_SEED = 1, POLYNOMIALS, SEALING, VOW };

static sotto_status secret_of(const flamingo_client *c, uint8_t out[32], uint32_t which,
                              sotto_err *err)
{
    return sotto_round_kdf(out, "sotto-flamingo-client-1",
                           sotto_bytes_of(c->part.self.seed, sizeof c->part.self.seed), c->part.id,
                           c->part.self.index, which, err);
}

/* ---- the report ------------------------------------------------------------------------------------------ */

/* A number beyond the round's bound could wrap the sum. */
static bool within_bound(const sotto_vector *v, uint64_t most)
{
    uint64_t beyond = 0;

    /* The highest bit of a difference says that it is negative: both numbers are far below 2^63. */
    if (v->ring == SOTTO_RING_Z32)
        for (size_t i = 0; i < v->length; i++)
            beyond |= (2 * most - (uint32_t)(v->of.z32[i] + (uint32_t)most)) >> 63;
    else
        for (size_t i = 0; i < v->length; i++)
            beyond |= sotto_ct_less(2 * most, v->of.z64[i] + most);
    SOTTO_DECLASSIFY(&beyond, sizeof beyond);
    return beyond == 0;
}

typedef struct report {
    sotto_flamingo_body body;
    uint8_t commitment[32];
    uint8_t *shares, *edges; /* rows of the body */
    sotto_buf masks;         /* what is added to the vector: rows of aggregate/shared/mask.h */
} report;

static sotto_status make_room(flamingo_client *c, report *r, size_t degree, sotto_arena *arena,
                              sotto_err *err)
{
    size_t holders = c->round->decryptors->record.count;

    r->shares = sotto_arena_take_array(arena, holders, SOTTO_FLAMINGO_SEALED_SHARE);
    r->edges = sotto_arena_take_array(arena, degree + 1, SOTTO_FLAMINGO_EDGE_ROW);
    r->masks = sotto_buf_over(sotto_arena_take_array(arena, degree + 1, SOTTO_MASK_ROW),
                              (degree + 1) * SOTTO_MASK_ROW);
    if (!r->shares || !r->edges || !r->masks.data)
        return sotto_fail(err, SOTTO_NO_MEMORY, "flamingo client: no memory");
    r->body.head = sotto_bytes_of(r->commitment, sizeof r->commitment);
    r->body.a = (sotto_rows){r->shares, holders, SOTTO_FLAMINGO_SEALED_SHARE};
    r->body.b = (sotto_rows){r->edges, degree, SOTTO_FLAMINGO_EDGE_ROW};
    return SOTTO_OK;
}

/* Whoever opened an edge's seed for a round could open it for another if its label did not name round and clients. */
static sotto_status seal_edge(flamingo_client *c, report *r, size_t at, uint32_t other,
                              const uint8_t agreed[32], sotto_keystream *stream, sotto_err *err)
{
    sotto_decryptors *d = c->round->decryptors;
    uint8_t seed[32], label[SOTTO_TDH2_LABEL];
    uint8_t *row = r->edges + at * SOTTO_FLAMINGO_EDGE_ROW;

    sotto_status status = sotto_pair_seed(seed, agreed, c->part.id, c->part.self.index, other, err);
    sotto_row_put_index(row, other);
    sotto_tdh2_label(label, c->part.id, c->part.self.index, other);
    if (status == SOTTO_OK)
        status = sotto_tdh2_seal(&d->tdh2, row + 4, d->key, label, seed, stream, err);
    if (status == SOTTO_OK)
        sotto_mask_row_add(&r->masks, sotto_pair_sign(c->part.self.index, other), seed);
    sotto_wipe(seed, sizeof seed);
    return status;
}

/* others: as many as the body has edges. */
static sotto_status seal_edges(flamingo_client *c, report *r, const uint32_t *others,
                               uint8_t (*agreed)[32], sotto_err *err)
{
    uint8_t seed[32];
    sotto_keystream stream;

    SOTTO_TRY(secret_of(c, seed, SEALING, err));
    sotto_status status = sotto_keystream_init(&stream, err);
    if (status == SOTTO_OK)
        status = sotto_keystream_seed(&stream, seed, err);
    if (status == SOTTO_OK)
        status = sotto_flamingo_agree_many(agreed, &c->part.self, c->round, others, r->body.b.count,
                                           SOTTO_FLAMINGO_PAIR, err);
    for (size_t i = 0; i < r->body.b.count && status == SOTTO_OK; i++)
        status = seal_edge(c, r, i, others[i], agreed[i], &stream, err);
    sotto_wipe(agreed, r->body.b.count * sizeof *agreed);
    sotto_keystream_clear(&stream);
    sotto_wipe(seed, sizeof seed);
    return status;
}

static const uint8_t NONCE[SOTTO_AEAD_NONCE_SIZE]; /* a key seals one message */

static sotto_status seal_share(flamingo_client *c, report *r, uint32_t place,
                               const sotto_shamir_dealer *dealer, const uint8_t agreed[32],
                               sotto_err *err)
{
    sotto_decryptors *d = c->round->decryptors;
    uint32_t to = d->record.members[place];
    uint8_t key[32], share[SOTTO_SHAMIR_SHARE];
    uint8_t *row = r->shares + (size_t)place * SOTTO_FLAMINGO_SEALED_SHARE;
    sotto_buf sealed = sotto_buf_over(row, SOTTO_FLAMINGO_SHARE_TEXT);

    sotto_status status =
        sotto_flamingo_share_key(key, agreed, c->part.id, c->part.self.index, to, err);
    sotto_shamir_share(dealer, share, place);
    sotto_flamingo_share_digest(row + SOTTO_FLAMINGO_SHARE_TEXT, share, c->part.self.index, to);
    if (status == SOTTO_OK)
        status = sotto_aead_set_key(&d->tdh2.seal, key, err);
    if (status == SOTTO_OK)
        status = sotto_aead_seal(&d->tdh2.seal, &sealed, NONCE, (sotto_bytes){NULL, 0},
                                 sotto_bytes_of(share, sizeof share), err);
    sotto_wipe(key, sizeof key);
    sotto_wipe(share, sizeof share);
    return status;
}

static sotto_status seal_shares(flamingo_client *c, report *r, const uint8_t own[32],
                                sotto_arena *arena, sotto_err *err)
{
    const uint32_t *members = c->round->decryptors->record.members;
    uint32_t count = c->round->decryptors->record.count;
    uint8_t agreed[SOTTO_DECRYPTORS_MOST][32], seed[32];
    sotto_shamir_dealer dealer = {0};
    sotto_keystream stream;

    SOTTO_TRY(secret_of(c, seed, POLYNOMIALS, err));
    sotto_status status = sotto_keystream_init(&stream, err);
    if (status == SOTTO_OK)
        status = sotto_keystream_seed(&stream, seed, err);
    if (status == SOTTO_OK)
        status =
            sotto_shamir_deal(&dealer, arena, sotto_decryptors_threshold(count), own, &stream, err);
    if (status == SOTTO_OK)
        status = sotto_flamingo_agree_many(agreed, &c->part.self, c->round, members, count,
                                           SOTTO_FLAMINGO_CHANNEL, err);
    for (uint32_t i = 0; i < count && status == SOTTO_OK; i++)
        status = seal_share(c, r, i, &dealer, agreed[i], err);
    sotto_wipe(agreed, sizeof agreed);
    if (dealer.coefficients)
        sotto_shamir_forget(&dealer);
    sotto_keystream_clear(&stream);
    sotto_wipe(seed, sizeof seed);
    return status;
}

/* Without a mask of its own, a vector that comes after its pair masks were opened would lie bare. */
static sotto_status add_self(flamingo_client *c, report *r, sotto_arena *arena, sotto_err *err)
{
    uint8_t own[32], seed[32] = {0};

    SOTTO_TRY(secret_of(c, own, SELF_SEED, err));
    sotto_status status =
        sotto_flamingo_commit(r->commitment, own, c->part.id, c->part.self.index, err);
    if (status == SOTTO_OK)
        status = sotto_flamingo_self_seed(seed, own, c->part.id, c->part.self.index, err);
    if (status == SOTTO_OK)
        sotto_mask_row_add(&r->masks, 1, seed);
    if (status == SOTTO_OK)
        status = seal_shares(c, r, own, arena, err);
    sotto_wipe(own, sizeof own);
    sotto_wipe(seed, sizeof seed);
    return status;
}

static sotto_status write_report(flamingo_client *c, report *r, sotto_arena *arena, sotto_err *err)
{
    uint8_t *row = sotto_arena_take(arena, c->graph.count), (*agreed)[32];
    uint32_t *others = sotto_arena_take_array(arena, c->graph.count, sizeof *others);
    size_t degree = 0;

    if (!row || !others)
        return sotto_fail(err, SOTTO_NO_MEMORY, "flamingo client: no memory");
    SOTTO_TRY(sotto_flamingo_row(&c->graph, (uint32_t)c->place, row, err));
    for (uint32_t j = 0; j < c->graph.count; j++)
        if (row[j])
            others[degree++] = c->graph.cohort[j];
    if (degree > SOTTO_FLAMINGO_MOST_DEGREE)
        return sotto_fail(err, SOTTO_DENIED, "flamingo: %zu neighbours, at most %d", degree,
                          SOTTO_FLAMINGO_MOST_DEGREE);
    /* With few masks beside its own, a vector is as safe as few other clients. */
    if (SOTTO_RULE(flamingo_masked_enough) && degree < c->parameters.neighbours)
        return sotto_fail(err, SOTTO_DENIED, "flamingo: %zu neighbours, %u are wanted", degree,
                          c->parameters.neighbours);
    SOTTO_TRY(make_room(c, r, degree, arena, err));
    SOTTO_TRY(add_self(c, r, arena, err));
    agreed = sotto_arena_take_array(arena, degree + 1, sizeof *agreed);
    if (!agreed)
        return sotto_fail(err, SOTTO_NO_MEMORY, "flamingo client: no memory");
    return seal_edges(c, r, others, agreed, err);
}

static const uint8_t NO_TEXT[1];

/* Two vectors under the same masks would give away their difference. The vow has a tag of the vector under a key that nobody
 * else knows: AES-GCM reads four megabytes in a quarter of the time of SHA-256. */
static sotto_status vow(const flamingo_client *c, sotto_effects *effects, const sotto_vector *sent,
                        sotto_err *err)
{
    sotto_aead *aead = &c->round->decryptors->tdh2.seal;
    uint8_t key[32], tag[SOTTO_AEAD_TAG_SIZE];
    sotto_buf out = sotto_buf_over(tag, sizeof tag);
    sotto_vow v = {.kind = SOTTO_FLAMINGO_REPORT,
                   .epoch = c->round->epoch,
                   .round = c->round->number,
                   .subject = c->part.self.index};

    SOTTO_TRY(secret_of(c, key, VOW, err));
    sotto_status status = sotto_aead_set_key(aead, key, err);
    if (status == SOTTO_OK)
        status = sotto_aead_seal(aead, &out, NONCE, sotto_vector_bytes(sent),
                                 sotto_bytes_of(NO_TEXT, 0), err);
    sotto_wipe(key, sizeof key);
    SOTTO_TRY(status);
    sotto_hash_once(v.digest, SOTTO_SHA256, sotto_buf_bytes(&out));
    return sotto_effects_vow(effects, &v, err);
}

static sotto_status offer(sotto_machine *machine, sotto_vector *mine, sotto_effects *effects,
                          sotto_err *err)
{
    flamingo_client *c = (flamingo_client *)machine;
    report r = {0};

    if (c->part.phase != CLIENT_READY)
        return sotto_fail(err, c->part.phase < CLIENT_READY ? SOTTO_AGAIN : SOTTO_STALE,
                          "flamingo: the vector is not wanted now");
    if (mine->ring != c->round->ring || mine->length != c->round->length)
        return sotto_fail(err, SOTTO_BUG, "flamingo: a vector of another round");
    if (SOTTO_RULE(flamingo_within_bound) && !within_bound(mine, c->round->most))
        return sotto_fail(err, SOTTO_DENIED, "flamingo: an entry is beyond the round's bound");
    sotto_status status = write_report(c, &r, effects->arena, err);
    if (status == SOTTO_OK)
        status = sotto_mask_apply_rows(mine, r.masks.data, r.masks.len / SOTTO_MASK_ROW, err);
    if (r.masks.data)
        sotto_wipe(r.masks.data, r.masks.len);
    SOTTO_TRY(status);
    SOTTO_TRY(vow(c, effects, mine, err));
    SOTTO_TRY(sotto_flamingo_send(effects, c->round, &c->part.self, SOTTO_TO_SERVER,
                                  SOTTO_FLAMINGO_REPORT, &r.body, mine, err));
    c->part.phase = CLIENT_OVER;
    sotto_effects_done(effects, SOTTO_OK, "flamingo: reported");
    return SOTTO_OK;
}

/* ---- the rest -------------------------------------------------------------------------------------------- */

static sotto_status tick(sotto_machine *machine, uint64_t now_ms, sotto_effects *effects,
                         sotto_err *err)
{
    flamingo_client *c = (flamingo_client *)machine;

    (void)err;
    if (c->part.phase == CLIENT_OVER)
        return SOTTO_OK;
    if (now_ms >= c->round->closes || c->place < 0) {
        c->part.phase = CLIENT_OVER;
        sotto_effects_done(effects, SOTTO_STALE,
                           c->place < 0 ? "flamingo: not drawn for this round"
                                        : "flamingo: the round closed");
        return SOTTO_OK;
    }
    sotto_effects_wake(effects, now_ms < c->round->opens ? c->round->opens : c->round->closes);
    if (now_ms < c->round->opens)
        return SOTTO_OK;
    c->part.phase = CLIENT_READY;
    sotto_effects_want_vector(effects);
    return SOTTO_OK;
}

/* Nobody tells a client anything. */
static sotto_status deliver(sotto_machine *machine, const sotto_message *messages, size_t count,
                            sotto_status *verdicts, sotto_effects *effects, sotto_err *err)
{
    (void)machine;
    (void)messages;
    (void)effects;
    (void)err;
    for (size_t i = 0; i < count; i++)
        verdicts[i] = SOTTO_REJECTED;
    return SOTTO_OK;
}

static sotto_status join(sotto_machine **out, const sotto_round *round, const sotto_self *self,
                         sotto_arena *arena, sotto_err *err)
{
    flamingo_client *c = sotto_arena_take(arena, sizeof *c);

    *out = NULL;
    if (!c)
        return sotto_fail(err, SOTTO_NO_MEMORY, "flamingo client: no memory");
    SOTTO_TRY(sotto_flamingo_read_round(round, &c->parameters, &c->graph, c->part.id, arena, err));
    if (self->index >= round->registered || !self->secrets ||
        memcmp(self->keys->public_key, sotto_registry_key(round->keys, self->index),
               SOTTO_SIGN_PUBLIC) != 0)
        return sotto_fail(err, SOTTO_DENIED, "flamingo client: not in the registry under this key");
    c->part.machine.ops = &sotto_flamingo_client;
    c->round = round;
    c->part.self = *self;
    c->arena = arena;
    c->place = sotto_flamingo_place(&c->graph, self->index);
    *out = &c->part.machine;
    return SOTTO_OK;
}

static const sotto_machine_saved SAVED = {
    .what = "flamingo client",
    .version = SAVED_VERSION,
    .last = CLIENT_OVER,
    .join = join,
};

static sotto_status save(const sotto_machine *machine, sotto_buf *out, sotto_err *err)
{
    return sotto_machine_save_part(machine, &SAVED, out, err);
}

static sotto_status restore(sotto_machine **out, const sotto_round *round, const sotto_self *self,
                            sotto_bytes saved, const sotto_message *kept, size_t count,
                            sotto_arena *arena, sotto_err *err)
{
    return sotto_machine_restore_part(out, &SAVED, round, self, saved, kept, count, arena, err);
}

static void leave(sotto_machine *machine)
{
    sotto_wipe(machine, sizeof(flamingo_client));
}

const sotto_machine_ops sotto_flamingo_client = {
    .join = join,
    .offer = offer,
    .check = sotto_flamingo_check,
    .deliver = deliver,
    .tick = tick,
    .result = sotto_machine_has_no_result,
    .save = save,
    .restore = restore,
    .leave = leave,
};
