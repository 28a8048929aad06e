#include "aggregate/flamingo/flamingo.h"

#include "aggregate/machine.h"
#include "aggregate/shared/mask.h"
#include "base/rule.h"
#include "crypto/agree_many.h"
#include "crypto/hash.h"

#include <string.h>

/* What a kind's body consists of: a head, and the size of a list's rows with how many bytes of each must ascend. */
typedef struct layout {
    size_t head;
    struct {
        size_t size, key;
    } list[3];
} layout;

enum { COUNT = 4 }; /* bytes that say how many rows a list has */

static const layout LAYOUTS[] = {
    [SOTTO_FLAMINGO_REPORT] = {32,
                               {{SOTTO_FLAMINGO_SEALED_SHARE, 0}, {SOTTO_FLAMINGO_EDGE_ROW, 4}}},
    [SOTTO_FLAMINGO_LABELS] = {SOTTO_A_BIT_EACH, {{SOTTO_FLAMINGO_SEEN_ROW, 4}}},
    [SOTTO_FLAMINGO_VOTE] = {32, {{0, 0}}},
    [SOTTO_FLAMINGO_OPEN] = {SOTTO_FLAMINGO_OPEN_HEAD,
                             {{SOTTO_FLAMINGO_VOTE_ROW, 4},
                              {SOTTO_FLAMINGO_SHARE_ROW, 4},
                              {SOTTO_FLAMINGO_WANT_ROW, 8}}},
    [SOTTO_FLAMINGO_ANSWER] = {SOTTO_FLAMINGO_ANSWER_HEAD,
                               {{SOTTO_FLAMINGO_GIVEN_ROW, 4}, {SOTTO_TDH2_PART, 0}}},
};

static sotto_status check_rows(const sotto_rows *rows, size_t key, uint64_t registered,
                               sotto_err *err)
{
    for (size_t i = 0; i < rows->count && key; i++) {
        const uint8_t *row = sotto_rows_at(rows, i);

        if (sotto_row_index(row) >= registered ||
            (key == 8 && sotto_row_index(row + 4) >= registered))
            return sotto_fail(err, SOTTO_MALFORMED, "body: a row for an unknown client");
        /* A vote that is shown twice would count twice, and a report in the place of another. */
        if (SOTTO_RULE(flamingo_rows_once) && i > 0 &&
            memcmp(sotto_rows_at(rows, i - 1), row, key) >= 0)
            return sotto_fail(err, SOTTO_MALFORMED, "body: rows do not ascend");
    }
    return SOTTO_OK;
}

/* Numbers of one byte that say yes or no. */
static bool flags_are_plain(unsigned kind, sotto_bytes head)
{
    if (kind == SOTTO_FLAMINGO_OPEN)
        return head.data[33] <= 1;
    return kind != SOTTO_FLAMINGO_ANSWER || head.data[1] <= 1;
}

sotto_status sotto_flamingo_body_decode(sotto_flamingo_body *body, unsigned kind,
                                        uint64_t registered, sotto_bytes wire, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);
    sotto_rows *lists[3] = {&body->a, &body->b, &body->c};

    memset(body, 0, sizeof *body);
    if (kind < SOTTO_FLAMINGO_REPORT || kind > SOTTO_FLAMINGO_ANSWER)
        return sotto_fail(err, SOTTO_MALFORMED, "body: of no kind");
    const layout *l = &LAYOUTS[kind];
    body->head = sotto_head_read(&in, l->head, registered);
    for (size_t i = 0; i < 3; i++)
        sotto_rows_read(&in, lists[i], l->list[i].size, COUNT);
    SOTTO_TRY(sotto_reader_finish(&in, "body", err));
    if (!sotto_head_is_clean(body->head, l->head, registered))
        return sotto_fail(err, SOTTO_MALFORMED, "body: bits for nobody");
    if (!flags_are_plain(kind, body->head))
        return sotto_fail(err, SOTTO_MALFORMED, "body: a flag that is neither 0 nor 1");
    for (size_t i = 0; i < 3; i++)
        SOTTO_TRY(check_rows(lists[i], l->list[i].key, registered, err));
    return SOTTO_OK;
}

size_t sotto_flamingo_body_size(unsigned kind, const sotto_flamingo_body *body)
{
    const sotto_rows *lists[3] = {&body->a, &body->b, &body->c};
    size_t size = body->head.len;

    for (size_t i = 0; i < 3; i++)
        size += sotto_rows_wire(lists[i], LAYOUTS[kind].list[i].size, COUNT);
    return size;
}

size_t sotto_flamingo_body_second(unsigned kind, const sotto_flamingo_body *body)
{
    return body->head.len + sotto_rows_wire(&body->a, LAYOUTS[kind].list[0].size, COUNT) + COUNT;
}

sotto_status sotto_flamingo_body_encode(sotto_buf *out, unsigned kind,
                                        const sotto_flamingo_body *body, sotto_err *err)
{
    const sotto_rows *lists[3] = {&body->a, &body->b, &body->c};
    sotto_writer w = sotto_writer_on(out);

    sotto_write_bytes(&w, body->head);
    for (size_t i = 0; i < 3; i++)
        sotto_rows_write(&w, lists[i], LAYOUTS[kind].list[i].size, COUNT);
    return sotto_writer_finish(&w, "body", err);
}

/* ---- envelopes ---------------------------------------------------------------------------------------- */

sotto_status sotto_flamingo_send(sotto_effects *effects, const sotto_round *round,
                                 const sotto_self *self, uint32_t to, unsigned kind,
                                 const sotto_flamingo_body *body, const sotto_vector *bulk,
                                 sotto_err *err)
{
    size_t size = sotto_flamingo_body_size(kind, body);
    sotto_buf out = sotto_buf_over(sotto_arena_take(effects->arena, size + 1), size);

    if (!out.data)
        return sotto_fail(err, SOTTO_NO_MEMORY, "message: no memory");
    SOTTO_TRY(sotto_flamingo_body_encode(&out, kind, body, err));
    return sotto_machine_send(effects, round, self, to, kind, sotto_buf_bytes(&out), bulk, err);
}

/* As many as lanes are filled with at once: signatures, and keys that are agreed on. */
enum { TOGETHER = 64 };

/* Signatures of rows. Each is of a message that is not here. */
typedef struct signed_rows {
    sotto_message messages[TOGETHER];
    sotto_message_claim claims[TOGETHER];
    size_t count;
} signed_rows;

static sotto_status finish_rows(signed_rows *s, sotto_err *err)
{
    const size_t count = s->count;

    s->count = 0;
    return sotto_messages_check(s->claims, count, err);
}

/* digest: of a body that is elsewhere; NULL: it is in the message. */
static sotto_status add_row(signed_rows *s, const sotto_message *m, const sotto_round *round,
                            const uint8_t *digest, uint32_t body_len, sotto_err *err)
{
    s->messages[s->count] = *m;
    s->claims[s->count] = (sotto_message_claim){.message = &s->messages[s->count],
                                                .key = sotto_registry_key(round->keys, m->from),
                                                .digest = digest,
                                                .body_len = body_len};
    return ++s->count == TOGETHER ? finish_rows(s, err) : SOTTO_OK;
}

/* A report that a server made up has no signature, and one of another round has another. */
static sotto_status check_seen(const sotto_round *round, const sotto_flamingo_body *body,
                               sotto_err *err)
{
    signed_rows rows;

    rows.count = 0;
    for (size_t i = 0; i < body->a.count; i++) {
        const uint8_t *row = sotto_rows_at(&body->a, i);
        uint32_t client = sotto_row_index(row);
        sotto_message m = sotto_machine_envelope(round, SOTTO_FLAMINGO_REPORT, client,
                                                 SOTTO_TO_SERVER, (sotto_bytes){NULL, 0});

        m.bulk_len = round->length * sotto_ring_width(round->ring);
        m.signature = sotto_bytes_of(row + 40, SOTTO_SIGNATURE);
        if (!sotto_bits_has(body->head.data, client))
            return sotto_fail(err, SOTTO_REJECTED, "labels: a report of somebody offline");
        if (SOTTO_RULE(flamingo_reports_signed) &&
            add_row(&rows, &m, round, row + 8, sotto_row_index(row + 4), err) != SOTTO_OK)
            return SOTTO_REJECTED;
    }
    /* Whoever never reported has edges that stay shut, and would count as a neighbour of a victim. */
    if (SOTTO_RULE(flamingo_online_reported) &&
        sotto_bits_count(body->head.data, body->head.len) != body->a.count)
        return sotto_fail(err, SOTTO_REJECTED, "labels: somebody online without a report");
    if (SOTTO_RULE(flamingo_reports_signed) && finish_rows(&rows, err) != SOTTO_OK)
        return SOTTO_REJECTED;
    return SOTTO_OK;
}

static sotto_status check_votes(const sotto_round *round, const sotto_flamingo_body *body,
                                sotto_err *err)
{
    signed_rows rows;

    rows.count = 0;
    for (size_t i = 0; i < body->a.count; i++) {
        const uint8_t *row = sotto_rows_at(&body->a, i);
        uint32_t voter = sotto_row_index(row);
        sotto_message m = sotto_machine_envelope(round, SOTTO_FLAMINGO_VOTE, voter, SOTTO_TO_SERVER,
                                                 sotto_bytes_of(body->head.data, 32));

        m.signature = sotto_bytes_of(row + 4, SOTTO_SIGNATURE);
        if (SOTTO_RULE(flamingo_voters_drawn) &&
            sotto_decryptors_place(round->decryptors, voter) < 0)
            return sotto_fail(err, SOTTO_REJECTED, "open: a vote of somebody else");
        if (SOTTO_RULE(flamingo_votes_signed) &&
            add_row(&rows, &m, round, NULL, 0, err) != SOTTO_OK)
            return SOTTO_REJECTED;
    }
    if (SOTTO_RULE(flamingo_votes_signed) && finish_rows(&rows, err) != SOTTO_OK)
        return SOTTO_REJECTED;
    return SOTTO_OK;
}

sotto_status sotto_flamingo_check(const sotto_round *round, const sotto_message *message,
                                  sotto_arena *scratch, sotto_err *err)
{
    sotto_flamingo_body body;

    (void)scratch;
    SOTTO_TRY(sotto_message_judge(message, round, &sotto_method_flamingo, err));
    SOTTO_TRY(
        sotto_flamingo_body_decode(&body, message->kind, round->registered, message->body, err));
    if (message->kind == SOTTO_FLAMINGO_LABELS)
        return check_seen(round, &body, err);
    if (message->kind == SOTTO_FLAMINGO_OPEN)
        return check_votes(round, &body, err);
    return SOTTO_OK;
}

/* ---- keys ---------------------------------------------------------------------------------------------- */

sotto_status sotto_flamingo_commit(uint8_t out[32], const uint8_t seed[32],
                                   const uint8_t id[SOTTO_ROUND_ID], uint32_t client,
                                   sotto_err *err)
{
    return sotto_round_kdf(out, "sotto-flamingo-commit-1", sotto_bytes_of(seed, 32), id, client, 0,
                           err);
}

sotto_status sotto_flamingo_self_seed(uint8_t out[32], const uint8_t seed[32],
                                      const uint8_t id[SOTTO_ROUND_ID], uint32_t client,
                                      sotto_err *err)
{
    return sotto_round_kdf(out, "sotto-flamingo-self-1", sotto_bytes_of(seed, 32), id, client, 0,
                           err);
}

sotto_status sotto_flamingo_share_key(uint8_t out[32], const uint8_t agreed[32],
                                      const uint8_t id[SOTTO_ROUND_ID], uint32_t client,
                                      uint32_t decryptor, sotto_err *err)
{
    return sotto_round_kdf(out, "sotto-flamingo-share-1", sotto_bytes_of(agreed, 32), id, client,
                           decryptor, err);
}

void sotto_flamingo_share_digest(uint8_t out[32], const uint8_t share[SOTTO_SHAMIR_SHARE],
                                 uint32_t client, uint32_t decryptor)
{
    static const char label[] = "sotto-flamingo-dealt-1";
    uint8_t numbers[8];
    sotto_hash hash;

    sotto_row_put_index(numbers, client);
    sotto_row_put_index(numbers + 4, decryptor);
    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(label, sizeof label));
    sotto_hash_update(&hash, sotto_bytes_of(numbers, sizeof numbers));
    sotto_hash_update(&hash, sotto_bytes_of(share, SOTTO_SHAMIR_SHARE));
    sotto_hash_final(&hash, out);
    sotto_wipe(&hash, sizeof hash);
}

static const uint8_t *registered_key(const sotto_round *round, uint32_t other, unsigned which)
{
    return which == SOTTO_FLAMINGO_PAIR ? round->keys->pair[other] : round->keys->channel[other];
}

static sotto_dh *own_key(const sotto_self *self, unsigned which)
{
    return which == SOTTO_FLAMINGO_PAIR ? &self->secrets->pair : &self->secrets->channel;
}

/* False: it is not in the cache. */
static bool recall(uint8_t out[32], const sotto_self_secrets *s, uint32_t other, unsigned which)
{
    if (!s->known || !(s->known[other] >> which & 1))
        return false;
    memcpy(out, s->agreed[other][which], 32);
    return true;
}

static void remember(sotto_self_secrets *s, uint32_t other, unsigned which,
                     const uint8_t agreed[32])
{
    if (!s->known)
        return;
    memcpy(s->agreed[other][which], agreed, 32);
    s->known[other] = (uint8_t)(s->known[other] | 1u << which);
}

sotto_status sotto_flamingo_agree(uint8_t out[32], const sotto_self *self, const sotto_round *round,
                                  uint32_t other, unsigned which, sotto_err *err)
{
    if (recall(out, self->secrets, other, which))
        return SOTTO_OK;
    sotto_status status = sotto_dh_agree(own_key(self, which), out,
                                         sotto_bytes_of(registered_key(round, other, which), 32),
                                         "registered key", NULL);
    /* Whoever registered a point of small order is corrupt: what is shared with it may be known to all. It must not stop the
     * others, who would have no round again. */
    if (SOTTO_RULE(flamingo_small_order_survived) && status == SOTTO_REJECTED) {
        memset(out, 0, 32);
        status = SOTTO_OK;
    }
    if (status != SOTTO_OK)
        return sotto_fail(err, status, "flamingo: the registered key of %u is of no use", other);
    remember(self->secrets, other, which, out);
    return SOTTO_OK;
}

sotto_status sotto_flamingo_agree_many(uint8_t (*out)[32], const sotto_self *self,
                                       const sotto_round *round, const uint32_t *others,
                                       size_t count, unsigned which, sotto_err *err)
{
    sotto_agreement some[TOGETHER];
    sotto_status status = SOTTO_OK;

    for (size_t at = 0; at < count && status == SOTTO_OK; at += TOGETHER) {
        const size_t more = count - at < TOGETHER ? count - at : TOGETHER;

        memset(some, 0, sizeof some);
        for (size_t i = 0; i < more; i++)
            if (!recall(out[at + i], self->secrets, others[at + i], which)) {
                some[i].own = own_key(self, which);
                some[i].peer = sotto_bytes_of(registered_key(round, others[at + i], which), 32);
            }
        sotto_agree_many(some, more);
        for (size_t i = 0; i < more && status == SOTTO_OK; i++) {
            if (some[i].agreed) {
                memcpy(out[at + i], some[i].secret, 32);
                remember(self->secrets, others[at + i], which, some[i].secret);
            } else if (some[i].own) {
                status = sotto_flamingo_agree(out[at + i], self, round, others[at + i], which, err);
            }
        }
    }
    sotto_wipe(some, sizeof some);
    return status;
}

/* ---- who answers, and what a proof is about --------------------------------------------------------------- */

uint32_t sotto_flamingo_answerers(const sotto_round *round, const uint8_t *set, uint32_t *places)
{
    uint32_t count = 0, all = round->decryptors->record.count;

    for (uint32_t i = 0; i < 256; i++) {
        if (!sotto_bits_has(set, i))
            continue;
        if (i >= all)
            return 0;
        places[count++] = i;
    }
    return count == sotto_decryptors_threshold(all) ? count : 0;
}

void sotto_flamingo_claim_parts(sotto_flamingo_claim *claim, const uint8_t id[SOTTO_ROUND_ID],
                                uint32_t decryptor, const uint8_t set[32], const sotto_rows *wanted,
                                const sotto_rows *parts, const sotto_point *public_key)
{
    memcpy(claim->context, id, SOTTO_ROUND_ID);
    memcpy(claim->context + SOTTO_ROUND_ID, set, 32);
    sotto_row_put_index(claim->context + SOTTO_ROUND_ID + 32, decryptor);
    claim->of = (sotto_dleq_claim){.context = {claim->context, sizeof claim->context},
                                   .public_key = public_key,
                                   .bases = wanted->at + 8, /* a ciphertext begins with its point */
                                   .base_step = SOTTO_FLAMINGO_WANT_ROW,
                                   .parts = parts->at,
                                   .part_step = SOTTO_TDH2_PART,
                                   .count = parts->count};
}
