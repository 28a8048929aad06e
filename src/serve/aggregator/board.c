#include "serve/aggregator/board.h"

#include "aggregate/excerpt.h"
#include "aggregate/machine.h"
#include "base/arena.h"
#include "base/rule.h"
#include "tlog/merkle.h"

#include <string.h>

void sotto_board_init(sotto_board *b, const sotto_method *method)
{
    *b = (sotto_board){.kind = sotto_method_entry(method)};
    b->last = &b->first;
}

void sotto_board_begin(sotto_board *b)
{
    b->first = NULL;
    b->last = &b->first;
}

static sotto_status encoded(sotto_bytes *out, const sotto_message *m, sotto_arena *arena,
                            sotto_err *err)
{
    sotto_buf wire;

    SOTTO_TRY(sotto_buf_take(&wire, arena, sotto_message_size(m), err));
    SOTTO_TRY(sotto_message_encode(&wire, m, err));
    *out = sotto_buf_bytes(&wire);
    return SOTTO_OK;
}

/* The message that brings a record, whole or not, at this number. */
static sotto_status enter(const sotto_board *b, const sotto_round *round, sotto_bytes record,
                          sotto_message *entry, sotto_bytes *wire, sotto_arena *arena,
                          sotto_err *err)
{
    sotto_buf body;

    SOTTO_TRY(sotto_buf_take(&body, arena, record.len + 12, err));
    SOTTO_TRY(sotto_entry_encode(&body, (uint64_t)b->count, record, err));
    *entry = sotto_machine_envelope(round, b->kind->kind, SOTTO_TO_BOARD, SOTTO_TO_EVERYBODY,
                                    sotto_buf_bytes(&body));
    return encoded(wire, entry, arena, err);
}

/* What this reader is shown of a record; empty: all of it. */
static sotto_status short_form_of(sotto_bytes *out, const sotto_posted_round *p, uint32_t reader,
                                  const sotto_message *record, sotto_arena *arena, sotto_err *err)
{
    sotto_pieces pieces;
    sotto_buf wire;

    *out = (sotto_bytes){NULL, 0};
    if (!sotto_excerpt_for(&pieces, p->method, &p->round, record, reader))
        return SOTTO_OK;
    SOTTO_TRY(sotto_buf_take(&wire, arena, sotto_excerpt_size(record, &pieces), err));
    SOTTO_TRY(sotto_excerpt_encode(&wire, record, &pieces, err));
    *out = sotto_buf_bytes(&wire);
    return SOTTO_OK;
}

/* The entry for whoever is not in the committee; empty: it is the same as the whole one. */
static sotto_status enter_excerpt(const sotto_board *b, const sotto_posted_round *p,
                                  const sotto_message *record, sotto_bytes *wire,
                                  sotto_arena *arena, sotto_err *err)
{
    sotto_message entry;
    sotto_bytes short_form;

    SOTTO_TRY(short_form_of(&short_form, p, SOTTO_TO_EVERYBODY, record, arena, err));
    return short_form.len > 0 ? enter(b, &p->round, short_form, &entry, wire, arena, err)
                              : SOTTO_OK;
}

bool sotto_board_is_for(const sotto_posted_round *p, uint32_t reader, sotto_bytes excerpt)
{
    sotto_message entry;
    sotto_excerpt e;
    sotto_pieces wanted;
    sotto_bytes inner;
    uint64_t index;

    if (reader == SOTTO_TO_EVERYBODY)
        return true;
    if (sotto_message_decode(&entry, excerpt, NULL) != SOTTO_OK ||
        sotto_entry_decode(&index, &inner, entry.body, NULL) != SOTTO_OK ||
        sotto_excerpt_decode(&e, inner, NULL) != SOTTO_OK)
        return false;
    e.message.body.len = e.length; /* of which the reader's pieces are */
    return sotto_excerpt_for(&wanted, p->method, &p->round, &e.message, reader) &&
           wanted.count == 0 && e.pieces.count == 0;
}

sotto_status sotto_board_cut(sotto_bytes *out, const sotto_posted_round *p, uint32_t reader,
                             sotto_bytes wire, sotto_arena *arena, sotto_err *err)
{
    sotto_message entry, record;
    sotto_bytes inner, short_form;
    sotto_buf body;
    uint64_t index;

    *out = wire;
    SOTTO_TRY(sotto_message_decode(&entry, wire, err));
    SOTTO_TRY(sotto_entry_decode(&index, &inner, entry.body, err));
    if (sotto_excerpt_is(inner))
        return SOTTO_OK;
    SOTTO_TRY(sotto_message_decode(&record, inner, err));
    SOTTO_TRY(short_form_of(&short_form, p, reader, &record, arena, err));
    if (short_form.len == 0)
        return SOTTO_OK;
    SOTTO_TRY(sotto_buf_take(&body, arena, short_form.len + 12, err));
    SOTTO_TRY(sotto_entry_encode(&body, index, short_form, err));
    entry.body = sotto_buf_bytes(&body);
    return encoded(out, &entry, arena, err);
}

/* What witnesses cosign: the same for whoever reads the record whole or as an excerpt. */
static sotto_status leaf_of(uint8_t digest[32], sotto_bytes record, sotto_err *err)
{
    uint8_t bytes[SOTTO_EXCERPT_LEAF];
    sotto_buf leaf = sotto_buf_over(bytes, sizeof bytes);
    sotto_merkle_hash hash;

    SOTTO_TRY(sotto_excerpt_leaf(&leaf, record, err));
    sotto_merkle_leaf(&hash, sotto_buf_bytes(&leaf));
    memcpy(digest, hash.bytes, sizeof hash.bytes);
    return SOTTO_OK;
}

sotto_status sotto_board_put(sotto_board *b, const sotto_posted_round *p,
                             const sotto_message *record, sotto_machine *machine,
                             sotto_effects *effects, sotto_err *err)
{
    sotto_arena *arena = effects->arena;
    sotto_board_entry *e = sotto_arena_take(arena, sizeof *e);
    sotto_status verdict = SOTTO_OK;
    sotto_message entry;
    sotto_bytes wire;

    if (!e)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the board");
    SOTTO_TRY(encoded(&wire, record, arena, err));
    SOTTO_TRY(leaf_of(e->digest, wire, err));
    e->from = record->from;
    SOTTO_TRY(enter(b, &p->round, wire, &entry, &e->wire, arena, err));
    SOTTO_TRY(enter_excerpt(b, p, record, &e->excerpt, arena, err));
    *b->last = e;
    b->last = &e->next;
    b->count++;
    /* What does not count for the machine is on the board all the same: everybody judges for itself. */
    return machine->ops->deliver(machine, &entry, 1, &verdict, effects, err);
}

sotto_status sotto_board_put_all(sotto_board *b, const sotto_posted_round *p,
                                 sotto_machine *machine, sotto_effects *effects, sotto_err *err)
{
    if (!b->kind)
        return SOTTO_OK;
    /* Reading an entry may make the machine say more: that comes last. */
    for (sotto_effect_message **at = &effects->sent; *at;) {
        sotto_effect_message *m = *at;

        if (m->message.to != SOTTO_TO_BOARD) {
            at = &m->next;
            continue;
        }
        *at = m->next;
        if (effects->sent_end == &m->next)
            effects->sent_end = at;
        SOTTO_TRY(sotto_board_put(b, p, &m->message, machine, effects, err));
    }
    return SOTTO_OK;
}

sotto_status sotto_board_admit(const sotto_board *b, sotto_db *db, const uint8_t id[SOTTO_ROUND_ID],
                               uint32_t from, sotto_bytes record, unsigned witnesses, bool *known,
                               sotto_err *err)
{
    const uint64_t places = 1 + (uint64_t)witnesses;
    sotto_board_said said = {0};
    uint8_t digest[32];

    *known = false;
    SOTTO_TRY(leaf_of(digest, record, err));
    SOTTO_TRY(sotto_board_store_said(db, id, from, digest, &said, err));
    for (const sotto_board_entry *e = b->first; e; e = e->next) {
        said.has = said.has || memcmp(e->digest, digest, sizeof digest) == 0;
        said.records += e->from == from;
        said.bytes += e->from == from ? e->wire.len : 0;
    }
    if (SOTTO_RULE(board_once) && said.has) {
        *known = true;
        return SOTTO_OK;
    }
    /* Whoever fills its place here, and then goes to a witness, would stop the board for good. */
    if (SOTTO_RULE(board_most) && (said.records >= places * SOTTO_BOARD_MOST_RECORDS ||
                                   said.bytes + record.len > places * SOTTO_BOARD_MOST_BYTES))
        return sotto_fail(err, SOTTO_TOO_LARGE, "the board holds enough of %u", from);
    return SOTTO_OK;
}
