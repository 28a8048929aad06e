/* What a decryptor does. It signs one set of labels a round, and then helps to open one of the two masks of each client
 * (Ma et al. 2023). */
#include "aggregate/flamingo/flamingo.h"

#include "aggregate/machine.h"
#include "aggregate/shared/mask.h"
#include "base/declassify.h"
#include "base/rule.h"
#include "crypto/hash.h"

#include <string.h>

typedef enum decryptor_phase { WAITING, VOTED, OVER } decryptor_phase;

typedef struct flamingo_decryptor {
    sotto_machine_part part;
    const sotto_round *round;
    sotto_arena *arena;
    sotto_flamingo_parameters parameters;
    sotto_flamingo_graph graph;
    uint32_t place;     /* among the decryptors */
    uint8_t labels[32]; /* the digest that was signed */
    uint8_t *online;    /* their bitmap */
} flamingo_decryptor;

enum { SAVED_VERSION = 1 };

/* ---- labels ---------------------------------------------------------------------------------------------- */

static sotto_status judge_labels(const flamingo_decryptor *d, const sotto_flamingo_body *body,
                                 sotto_arena *scratch, sotto_err *err)
{
    const uint8_t *online = body->head.data;
    uint32_t least;
    bool whole;

    for (uint32_t i = 0; i < d->round->registered; i++)
        if (SOTTO_RULE(flamingo_cohort_drawn) && sotto_bits_has(online, i) &&
            sotto_flamingo_place(&d->graph, i) < 0)
            return sotto_fail(err, SOTTO_REJECTED, "labels: somebody who was not drawn");
    if (SOTTO_RULE(flamingo_least) && body->a.count < d->round->least)
        return sotto_fail(err, SOTTO_REJECTED, "labels: too few are online");
    SOTTO_TRY(sotto_flamingo_judge(&d->graph, online, &least, &whole, scratch, err));
    /* A victim whose honest neighbours are called offline would be masked by the server's own clients alone. */
    if (SOTTO_RULE(flamingo_not_cut_off) && least < d->parameters.neighbours)
        return sotto_fail(err, SOTTO_REJECTED, "labels: a client is cut off");
    /* Two parts without an edge between them are two sums. */
    if (SOTTO_RULE(flamingo_connected) && !whole)
        return sotto_fail(err, SOTTO_REJECTED, "labels: those online do not hang together");
    return SOTTO_OK;
}

static sotto_status vote(flamingo_decryptor *d, const sotto_message *m,
                         const sotto_flamingo_body *labels, sotto_effects *effects, sotto_err *err)
{
    uint8_t digest[32];
    sotto_flamingo_body body = {.head = {digest, sizeof digest}};
    sotto_vow v = {.kind = SOTTO_FLAMINGO_VOTE,
                   .epoch = d->round->epoch,
                   .round = d->round->number,
                   .subject = d->part.self.index};

    sotto_hash_once(digest, SOTTO_SHA256, m->body);
    if (d->part.phase == VOTED) {
        if (memcmp(digest, d->labels, sizeof digest) == 0)
            return SOTTO_STALE;
        /* Other labels would ask for the other mask of somebody. */
        return SOTTO_REJECTED;
    }
    SOTTO_TRY(judge_labels(d, labels, effects->arena, err));
    memcpy(v.digest, digest, sizeof digest);
    SOTTO_TRY(sotto_effects_vow(effects, &v, err));
    memcpy(d->labels, digest, sizeof digest);
    memcpy(d->online, labels->head.data, labels->head.len);
    d->part.phase = VOTED;
    return sotto_flamingo_send(effects, d->round, &d->part.self, SOTTO_TO_SERVER,
                               SOTTO_FLAMINGO_VOTE, &body, NULL, err);
}

/* ---- what is opened -------------------------------------------------------------------------------------- */

/* Only the labels that a quorum signed, this decryptor among them. Two quorums share somebody honest, who signs once. */
static sotto_status judge_quorum(const flamingo_decryptor *d, const sotto_flamingo_body *body,
                                 sotto_err *err)
{
    if (SOTTO_RULE(flamingo_same_labels) && memcmp(body->head.data, d->labels, 32) != 0)
        return sotto_fail(err, SOTTO_REJECTED, "open: of other labels");
    if (SOTTO_RULE(flamingo_quorum) &&
        body->a.count < sotto_decryptors_quorum(d->round->decryptors->record.count))
        return sotto_fail(err, SOTTO_REJECTED, "open: %zu votes", body->a.count);
    return SOTTO_OK;
}

static sotto_status judge_wanted(const flamingo_decryptor *d, const sotto_flamingo_body *body,
                                 sotto_arena *scratch, sotto_err *err)
{
    uint8_t *row = sotto_arena_take(scratch, d->graph.count);
    uint32_t current = UINT32_MAX;

    if (!row)
        return sotto_fail(err, SOTTO_NO_MEMORY, "flamingo decryptor: no memory");
    for (size_t i = 0; i < body->b.count; i++)
        if (SOTTO_RULE(flamingo_shares_of_online) &&
            !sotto_bits_has(d->online, sotto_row_index(sotto_rows_at(&body->b, i))))
            return sotto_fail(err, SOTTO_REJECTED, "open: the self mask of somebody offline");
    for (size_t i = 0; i < body->c.count; i++) {
        const uint8_t *want = sotto_rows_at(&body->c, i);
        uint32_t from = sotto_row_index(want), to = sotto_row_index(want + 4);
        int64_t at = sotto_flamingo_place(&d->graph, from),
                other = sotto_flamingo_place(&d->graph, to);

        /* An edge between two online clients is part of what protects them. */
        if (SOTTO_RULE(flamingo_edges_needed) &&
            (!sotto_bits_has(d->online, from) || sotto_bits_has(d->online, to)))
            return sotto_fail(err, SOTTO_REJECTED, "open: an edge that is not needed");
        if (at < 0 || other < 0)
            return sotto_fail(err, SOTTO_REJECTED, "open: an edge of somebody who was not drawn");
        if (from != current)
            SOTTO_TRY(sotto_flamingo_row(&d->graph, (uint32_t)at, row, err));
        current = from;
        if (SOTTO_RULE(flamingo_edges_drawn) && !row[other])
            return sotto_fail(err, SOTTO_REJECTED, "open: an edge that was not drawn");
    }
    return SOTTO_OK;
}

/* ---- the answer ------------------------------------------------------------------------------------------ */

static const uint8_t NONCE[SOTTO_AEAD_NONCE_SIZE];

/* False: it is not this client's share for this decryptor in this round. */
static sotto_status open_share(flamingo_decryptor *d, uint8_t out[SOTTO_SHAMIR_SHARE],
                               const uint8_t agreed[32], uint32_t client, const uint8_t *sealed,
                               bool *opened, sotto_err *err)
{
    sotto_aead *aead = &d->round->decryptors->tdh2.open;
    sotto_buf share = sotto_buf_over(out, SOTTO_SHAMIR_SHARE);
    uint8_t key[32], digest[32];

    *opened = false;
    sotto_status status =
        sotto_flamingo_share_key(key, agreed, d->part.id, client, d->part.self.index, err);
    if (status == SOTTO_OK)
        status = sotto_aead_set_key(aead, key, err);
    sotto_wipe(key, sizeof key);
    SOTTO_TRY(status);
    if (sotto_aead_open(aead, &share, NONCE, (sotto_bytes){NULL, 0},
                        sotto_bytes_of(sealed, SOTTO_FLAMINGO_SHARE_TEXT), NULL) != SOTTO_OK)
        return SOTTO_OK;
    *opened = sotto_shamir_is_share(out);
    /* Passing on another share than its client signed for would look like a lie of this decryptor. */
    sotto_flamingo_share_digest(digest, out, client, d->part.self.index);
    bool dealt =
        sotto_bytes_equal(sotto_bytes_of(digest, sizeof digest),
                          sotto_bytes_of(sealed + SOTTO_FLAMINGO_SHARE_TEXT, sizeof digest));
    /* The server sees whether a share is passed on, and nothing else of one that is not. */
    SOTTO_DECLASSIFY(opened, sizeof *opened);
    SOTTO_DECLASSIFY(&dealt, sizeof dealt);
    if (SOTTO_RULE(flamingo_share_as_dealt) && !dealt)
        *opened = false;
    return SOTTO_OK;
}

enum { TOGETHER = 64 };

static sotto_status give_shares(flamingo_decryptor *d, const sotto_flamingo_body *body,
                                uint8_t *rows, size_t *count, sotto_err *err)
{
    sotto_status status = SOTTO_OK;
    uint8_t agreed[TOGETHER][32];
    uint32_t clients[TOGETHER];

    for (size_t at = 0; at < body->b.count && status == SOTTO_OK; at += TOGETHER) {
        const size_t more = body->b.count - at < TOGETHER ? body->b.count - at : TOGETHER;

        for (size_t i = 0; i < more; i++)
            clients[i] = sotto_row_index(sotto_rows_at(&body->b, at + i));
        status = sotto_flamingo_agree_many(agreed, &d->part.self, d->round, clients, more,
                                           SOTTO_FLAMINGO_CHANNEL, err);
        for (size_t i = 0; i < more && status == SOTTO_OK; i++) {
            const uint8_t *asked = sotto_rows_at(&body->b, at + i);
            uint8_t *row = rows + *count * SOTTO_FLAMINGO_GIVEN_ROW;
            bool opened = false;

            memcpy(row, asked, 4);
            status = open_share(d, row + 4, agreed[i], clients[i], asked + 4, &opened, err);
            *count += opened;
        }
    }
    sotto_wipe(agreed, sizeof agreed);
    return status;
}

/* The share of the key, times its weight among those who answer together. */
static sotto_status weigh(flamingo_decryptor *d, sotto_scalar *out, const uint8_t *set,
                          sotto_err *err)
{
    sotto_group *g = &d->round->decryptors->tdh2.group;
    uint32_t places[SOTTO_DECRYPTORS_MOST], own = UINT32_MAX;
    sotto_scalar weights[SOTTO_DECRYPTORS_MOST], share;
    uint32_t count = sotto_flamingo_answerers(d->round, set, places);

    for (uint32_t i = 0; i < count; i++) {
        own = places[i] == d->place ? i : own;
        places[i]++; /* a polynomial's value at place + 1 is the share */
    }
    if (own == UINT32_MAX || !sotto_scalar_decode(g, &share, d->part.self.secrets->share))
        return sotto_fail(err, SOTTO_REJECTED, "open: asked of others");
    sotto_scalar_weights_vartime(g, weights, places, count);
    sotto_scalar_multiply(g, out, &weights[own], &share);
    sotto_wipe(&share, sizeof share);
    return sotto_group_finish(g, err);
}

static sotto_status give_parts(flamingo_decryptor *d, const sotto_flamingo_body *body,
                               uint8_t *parts, const sotto_scalar *weighted, sotto_err *err)
{
    sotto_tdh2 *t = &d->round->decryptors->tdh2;

    for (size_t i = 0; i < body->c.count; i++) {
        const uint8_t *want = sotto_rows_at(&body->c, i);
        uint8_t label[SOTTO_TDH2_LABEL], *part = parts + i * SOTTO_TDH2_PART;

        sotto_tdh2_label(label, d->part.id, sotto_row_index(want), sotto_row_index(want + 4));
        memset(part, 0, SOTTO_TDH2_PART);
        if (sotto_tdh2_is_valid_vartime(t, want + 8, label))
            SOTTO_TRY(sotto_tdh2_part(t, part, want + 8, weighted, err));
    }
    return SOTTO_OK;
}

/* Where somebody lied, everybody proves; the proof reveals nothing beside the parts. */
static sotto_status prove(flamingo_decryptor *d, uint8_t out[SOTTO_DLEQ], const uint8_t *set,
                          const sotto_rows *wanted, const sotto_rows *parts,
                          const sotto_scalar *weighted, sotto_err *err)
{
    sotto_tdh2 *t = &d->round->decryptors->tdh2;
    sotto_flamingo_claim claim;
    uint8_t digest[32], seed[32];
    sotto_keystream stream;

    sotto_point_multiply(&t->group, t->at[5], weighted, NULL);
    sotto_flamingo_claim_parts(&claim, d->part.id, d->part.self.index, set, wanted, parts,
                               t->at[5]);
    /* The nonce depends on all that is proved: no two proofs share one. */
    sotto_hash hash;
    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(set, 32));
    sotto_hash_update(&hash, sotto_bytes_of(wanted->at, wanted->count * wanted->size));
    sotto_hash_update(&hash, sotto_bytes_of(d->part.self.seed, sizeof d->part.self.seed));
    sotto_hash_final(&hash, digest);
    SOTTO_TRY(sotto_round_kdf(seed, "sotto-flamingo-proof-1", sotto_bytes_of(digest, 32),
                              d->part.id, d->part.self.index, 0, err));
    sotto_status status = sotto_keystream_init(&stream, err);
    if (status == SOTTO_OK)
        status = sotto_keystream_seed(&stream, seed, err);
    if (status == SOTTO_OK)
        status = sotto_dleq_prove(t, out, &claim.of, weighted, &stream, NULL);
    sotto_keystream_clear(&stream);
    sotto_wipe(seed, sizeof seed);
    sotto_wipe(digest, sizeof digest);
    if (status == SOTTO_BUG) /* a ciphertext is not valid: there is nothing to prove */
        memset(out, 0, SOTTO_DLEQ);
    return status == SOTTO_BUG ? SOTTO_OK : status;
}

static sotto_status answer(flamingo_decryptor *d, const sotto_flamingo_body *body,
                           sotto_effects *effects, sotto_err *err)
{
    const uint8_t *head = body->head.data, *set = head + 34;
    uint8_t own[SOTTO_FLAMINGO_ANSWER_HEAD] = {head[32], head[33]};
    uint8_t *shares =
        sotto_arena_take_array(effects->arena, body->b.count + 1, SOTTO_FLAMINGO_GIVEN_ROW);
    uint8_t *parts = sotto_arena_take_array(effects->arena, body->c.count + 1, SOTTO_TDH2_PART);
    sotto_flamingo_body given = {.head = {own, sizeof own},
                                 .a = {shares, 0, SOTTO_FLAMINGO_GIVEN_ROW},
                                 .b = {parts, body->c.count, SOTTO_TDH2_PART}};
    sotto_scalar weighted;

    if (!shares || !parts)
        return sotto_fail(err, SOTTO_NO_MEMORY, "flamingo decryptor: no memory");
    SOTTO_TRY(judge_quorum(d, body, err));
    SOTTO_TRY(judge_wanted(d, body, effects->arena, err));
    SOTTO_TRY(weigh(d, &weighted, set, err));
    sotto_status status = give_shares(d, body, shares, &given.a.count, err);
    if (status == SOTTO_OK)
        status = give_parts(d, body, parts, &weighted, err);
    if (status == SOTTO_OK && head[33])
        status = prove(d, own + 2, set, &body->c, &given.b, &weighted, err);
    sotto_wipe(&weighted, sizeof weighted);
    SOTTO_TRY(status);
    return sotto_flamingo_send(effects, d->round, &d->part.self, SOTTO_TO_SERVER,
                               SOTTO_FLAMINGO_ANSWER, &given, NULL, err);
}

/* ---- steps ----------------------------------------------------------------------------------------------- */

static sotto_status deliver_one(flamingo_decryptor *d, const sotto_message *m,
                                sotto_status *verdict, sotto_effects *effects, sotto_err *err)
{
    sotto_flamingo_body body;
    sotto_status status = SOTTO_REJECTED;

    *verdict = SOTTO_STALE;
    if (d->part.phase == OVER)
        return SOTTO_OK;
    SOTTO_TRY(sotto_flamingo_body_decode(&body, m->kind, d->round->registered, m->body, err));
    *verdict = SOTTO_AGAIN;
    if (m->kind == SOTTO_FLAMINGO_OPEN && d->part.phase != VOTED)
        return SOTTO_OK;
    *verdict = SOTTO_REJECTED;
    if (m->to != d->part.self.index)
        return SOTTO_OK;
    if (m->kind == SOTTO_FLAMINGO_LABELS)
        status = vote(d, m, &body, effects, err);
    else if (m->kind == SOTTO_FLAMINGO_OPEN)
        status = answer(d, &body, effects, err);
    if (status != SOTTO_OK && status != SOTTO_REJECTED && status != SOTTO_STALE)
        return status;
    *verdict = status;
    return SOTTO_OK;
}

static sotto_status deliver(sotto_machine *machine, const sotto_message *messages, size_t count,
                            sotto_status *verdicts, sotto_effects *effects, sotto_err *err)
{
    for (size_t i = 0; i < count; i++)
        SOTTO_TRY(
            deliver_one((flamingo_decryptor *)machine, &messages[i], &verdicts[i], effects, err));
    return SOTTO_OK;
}

static sotto_status tick(sotto_machine *machine, uint64_t now_ms, sotto_effects *effects,
                         sotto_err *err)
{
    flamingo_decryptor *d = (flamingo_decryptor *)machine;

    (void)err;
    if (d->part.phase == OVER)
        return SOTTO_OK;
    if (now_ms < d->round->release_by) {
        sotto_effects_wake(effects, d->round->release_by);
        return SOTTO_OK;
    }
    d->part.phase = OVER;
    sotto_effects_done(effects, SOTTO_OK, "flamingo: the round is over");
    return SOTTO_OK;
}

/* ---- state ----------------------------------------------------------------------------------------------- */

static sotto_status join(sotto_machine **out, const sotto_round *round, const sotto_self *self,
                         sotto_arena *arena, sotto_err *err)
{
    flamingo_decryptor *d = sotto_arena_take(arena, sizeof *d);

    *out = NULL;
    if (!d)
        return sotto_fail(err, SOTTO_NO_MEMORY, "flamingo decryptor: no memory");
    SOTTO_TRY(sotto_flamingo_read_round(round, &d->parameters, &d->graph, d->part.id, arena, err));
    int place = sotto_decryptors_place(round->decryptors, self->index);
    if (place < 0 || !self->secrets ||
        memcmp(self->keys->public_key, sotto_registry_key(round->keys, self->index),
               SOTTO_SIGN_PUBLIC) != 0)
        return sotto_fail(err, SOTTO_DENIED, "flamingo decryptor: not drawn under this key");
    d->part.machine.ops = &sotto_flamingo_decryptor;
    d->round = round;
    d->part.self = *self;
    d->arena = arena;
    d->place = (uint32_t)place;
    d->online = sotto_arena_take(arena, (size_t)(round->registered + 7) / 8);
    if (!d->online)
        return sotto_fail(err, SOTTO_NO_MEMORY, "flamingo decryptor: no memory");
    *out = &d->part.machine;
    return SOTTO_OK;
}

static void write_own(const sotto_machine *machine, sotto_writer *w)
{
    const flamingo_decryptor *d = (const flamingo_decryptor *)machine;

    sotto_write_bytes(w, sotto_bytes_of(d->labels, sizeof d->labels));
    sotto_write_bytes(w, sotto_bytes_of(d->online, (size_t)(d->round->registered + 7) / 8));
}

static void read_own(sotto_machine *machine, sotto_reader *in)
{
    flamingo_decryptor *d = (flamingo_decryptor *)machine;

    sotto_read_fixed(in, d->labels, sizeof d->labels);
    sotto_read_fixed(in, d->online, (size_t)(d->round->registered + 7) / 8);
}

static const sotto_machine_saved SAVED = {
    .what = "flamingo decryptor",
    .version = SAVED_VERSION,
    .last = OVER,
    .join = join,
    .write = write_own,
    .read = read_own,
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
    sotto_wipe(machine, sizeof(flamingo_decryptor));
}

const sotto_machine_ops sotto_flamingo_decryptor = {
    .join = join,
    .offer = sotto_machine_offers_nothing,
    .check = sotto_flamingo_check,
    .deliver = deliver,
    .tick = tick,
    .result = sotto_machine_has_no_result,
    .save = save,
    .restore = restore,
    .leave = leave,
};
