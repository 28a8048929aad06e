#include "aggregate/bbglr/bbglr.h"

#include "aggregate/machine.h"
#include "aggregate/shared/mask.h"
#include "base/rule.h"

#include <string.h>

/* What a kind's body consists of. A key is the part of a row that must ascend. */
typedef struct layout {
    size_t head;
    size_t row, row_key;
    size_t more, more_key;
} layout;

enum { COUNT = 2 }; /* bytes that say how many rows a list has */

static const layout LAYOUTS[] = {
    [SOTTO_BBGLR_KEYS] = {.head = 2 * SOTTO_BBGLR_KEY},
    [SOTTO_BBGLR_ROSTER] = {.row = SOTTO_BBGLR_ROSTER_ROW, .row_key = 4},
    [SOTTO_BBGLR_DEAL] = {.head = 32, .row = SOTTO_BBGLR_SEALED_ROW, .row_key = 4},
    [SOTTO_BBGLR_SHARES] = {.row = SOTTO_BBGLR_SEALED_ROW, .row_key = 4},
    [SOTTO_BBGLR_MASKED] = {0},
    [SOTTO_BBGLR_VIEW] = {.head = SOTTO_A_BIT_EACH},
    [SOTTO_BBGLR_VOTE] = {.head = 32},
    [SOTTO_BBGLR_OPEN] = {.head = 32,
                          .row = SOTTO_BBGLR_VOTE_ROW,
                          .row_key = 4,
                          .more = SOTTO_BBGLR_WANT_ROW,
                          .more_key = 5},
    [SOTTO_BBGLR_ANSWER] = {.row = SOTTO_BBGLR_ANSWER_ROW, .row_key = 5},
};

static sotto_status check_rows(const sotto_rows *rows, size_t key, uint64_t registered,
                               sotto_err *err)
{
    for (size_t i = 0; i < rows->count; i++) {
        const uint8_t *row = sotto_rows_at(rows, i);

        if (sotto_row_index(row) >= registered || (key == 5 && row[4] > SOTTO_BBGLR_WANT_SEED))
            return sotto_fail(err, SOTTO_MALFORMED,
                              "body: a row for an unknown client or of an unknown kind");
        if (i > 0 && memcmp(sotto_rows_at(rows, i - 1), row, key) >= 0)
            return sotto_fail(err, SOTTO_MALFORMED, "body: rows do not ascend");
    }
    return SOTTO_OK;
}

sotto_status sotto_bbglr_body_decode(sotto_bbglr_body *body, unsigned kind, uint64_t registered,
                                     sotto_bytes wire, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);

    memset(body, 0, sizeof *body);
    if (kind < SOTTO_BBGLR_KEYS || kind > SOTTO_BBGLR_ANSWER)
        return sotto_fail(err, SOTTO_MALFORMED, "body: of no kind");
    const layout *l = &LAYOUTS[kind];
    body->head = sotto_head_read(&in, l->head, registered);
    sotto_rows_read(&in, &body->rows, l->row, COUNT);
    sotto_rows_read(&in, &body->more, l->more, COUNT);
    SOTTO_TRY(sotto_reader_finish(&in, "body", err));
    if (!sotto_head_is_clean(body->head, l->head, registered))
        return sotto_fail(err, SOTTO_MALFORMED, "body: bits for nobody");
    SOTTO_TRY(check_rows(&body->rows, l->row_key, registered, err));
    return check_rows(&body->more, l->more_key, registered, err);
}

size_t sotto_bbglr_body_size(unsigned kind, const sotto_bbglr_body *body)
{
    const layout *l = &LAYOUTS[kind];

    return body->head.len + sotto_rows_wire(&body->rows, l->row, COUNT) +
           sotto_rows_wire(&body->more, l->more, COUNT);
}

sotto_status sotto_bbglr_body_encode(sotto_buf *out, unsigned kind, const sotto_bbglr_body *body,
                                     sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_bytes(&w, body->head);
    sotto_rows_write(&w, &body->rows, LAYOUTS[kind].row, COUNT);
    sotto_rows_write(&w, &body->more, LAYOUTS[kind].more, COUNT);
    return sotto_writer_finish(&w, "body", err);
}

/* ---- envelopes ---------------------------------------------------------------------------------------- */

sotto_status sotto_bbglr_send(sotto_effects *effects, const sotto_round *round,
                              const sotto_self *self, uint32_t to, unsigned kind,
                              const sotto_bbglr_body *body, const sotto_vector *bulk,
                              sotto_err *err)
{
    size_t size = sotto_bbglr_body_size(kind, body);
    sotto_buf out = sotto_buf_over(sotto_arena_take(effects->arena, size ? size : 1), size);

    if (!out.data)
        return sotto_fail(err, SOTTO_NO_MEMORY, "message: no memory");
    SOTTO_TRY(sotto_bbglr_body_encode(&out, kind, body, err));
    return sotto_machine_send(effects, round, self, to, kind, sotto_buf_bytes(&out), bulk, err);
}

/* The signature of a message that somebody else passed on without its envelope. */
static sotto_status check_quoted(const sotto_round *round, unsigned kind, uint32_t from,
                                 sotto_bytes body, const uint8_t signature[SOTTO_SIGNATURE],
                                 sotto_err *err)
{
    sotto_message m = sotto_machine_envelope(round, kind, from, SOTTO_TO_SERVER, body);
    const uint8_t *key = sotto_registry_key(round->keys, from);

    if (!key)
        return sotto_fail(err, SOTTO_REJECTED, "message: from somebody who is not registered");
    m.signature = sotto_bytes_of(signature, SOTTO_SIGNATURE);
    return sotto_message_check(&m, key, err);
}

/* A server that put its own keys in a neighbour's place would read the shares and know the masks. */
static sotto_status check_roster(const sotto_round *round, const sotto_bbglr_body *body,
                                 sotto_err *err)
{
    for (size_t i = 0; i < body->rows.count; i++) {
        const uint8_t *row = sotto_rows_at(&body->rows, i);
        sotto_bytes keys = sotto_bytes_of(row + 4, 2 * SOTTO_BBGLR_KEY);

        if (SOTTO_RULE(bbglr_keys_signed) &&
            check_quoted(round, SOTTO_BBGLR_KEYS, sotto_row_index(row), keys,
                         row + 4 + 2 * SOTTO_BBGLR_KEY, err) != SOTTO_OK)
            return SOTTO_REJECTED;
    }
    return SOTTO_OK;
}

static sotto_status check_votes(const sotto_round *round, const sotto_bbglr_body *body,
                                sotto_err *err)
{
    for (size_t i = 0; i < body->rows.count; i++) {
        const uint8_t *row = sotto_rows_at(&body->rows, i);

        if (SOTTO_RULE(bbglr_votes_signed) &&
            check_quoted(round, SOTTO_BBGLR_VOTE, sotto_row_index(row), body->head, row + 4, err) !=
                SOTTO_OK)
            return SOTTO_REJECTED;
    }
    return SOTTO_OK;
}

sotto_status sotto_bbglr_check(const sotto_round *round, const sotto_message *message,
                               sotto_arena *scratch, sotto_err *err)
{
    sotto_bbglr_body body;

    (void)scratch;
    SOTTO_TRY(sotto_message_judge(message, round, &sotto_method_bbglr, err));
    SOTTO_TRY(sotto_bbglr_body_decode(&body, message->kind, round->registered, message->body, err));
    if (message->kind == SOTTO_BBGLR_ROSTER)
        return check_roster(round, &body, err);
    if (message->kind == SOTTO_BBGLR_OPEN)
        return check_votes(round, &body, err);
    return SOTTO_OK;
}

sotto_status sotto_bbglr_commit(uint8_t out[32], const uint8_t seed[32],
                                const uint8_t id[SOTTO_ROUND_ID], uint32_t client, sotto_err *err)
{
    return sotto_round_kdf(out, "sotto-self-commit-1", sotto_bytes_of(seed, 32), id, client, 0,
                           err);
}

sotto_status sotto_bbglr_self_seed(uint8_t out[32], const uint8_t seed[32],
                                   const uint8_t id[SOTTO_ROUND_ID], uint32_t client,
                                   sotto_err *err)
{
    return sotto_round_kdf(out, "sotto-self-mask-1", sotto_bytes_of(seed, 32), id, client, 0, err);
}
