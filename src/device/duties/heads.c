/* A board that its server keeps is believed as far as witnesses cosigned it: they cosign one board of a round, and no other. */
#include "device/duties/inside.h"

#include "aggregate/board_origin.h"
#include "aggregate/excerpt.h"
#include "aggregate/inbox.h"
#include "base/arena.h"
#include "base/rule.h"
#include "recipe/model.h"

#include <string.h>

#define MOST_BOARD ((size_t)96 << 20) /* that is read in one step */

/* Of what was not read yet: so often that is compared, in so many pages. A head may name any size, and a server may never come to its end. */
enum { NOTE = 16384, MOST_BOARDS = 8, MOST_PAGES = 4096 };

void sotto_duties_watch(sotto_duties *d, const struct sotto_policy_log *logs, size_t count)
{
    d->options.logs = logs;
    d->options.log_count = count;
}

bool sotto_duties_wants_heads(const sotto_duties *d)
{
    for (size_t i = 0; i < d->options.log_count; i++)
        if (d->options.logs[i].trust.quorum > 0)
            return true;
    return false;
}

/* A pad hides what new members say of one board. A server that shows each of them another one learns of the key by the differences. */
sotto_status sotto_duties_hand_over_seen(const sotto_duties *d, const sotto_posted_round *p,
                                         unsigned part, sotto_err *err)
{
    sotto_aero_terms terms;

    if (part != SOTTO_DUTY_DECRYPTOR || p->round.method != SOTTO_METHOD_AERO)
        return SOTTO_OK;
    SOTTO_TRY(sotto_aero_terms_decode(&terms, p->round.parameters, err));
    if (SOTTO_RULE(duties_hand_over_cosigned) && terms.handed && !sotto_duties_wants_heads(d))
        return sotto_fail(err, SOTTO_DENIED,
                          "a key is handed over on a board that no witness of the policy cosigns");
    return SOTTO_OK;
}

/* ---- the head ------------------------------------------------------------------------------------------- */

/* Each log of the policy has witnesses, and a quorum of each of them has to have cosigned: else two boards could have a quorum each.
 * *cosigned: since when all of them had, in seconds since 1970. */
static sotto_status check_note(const sotto_duties *d, const sotto_note_key *key, sotto_bytes note,
                               uint64_t *cosigned)
{
    for (size_t i = 0; i < d->options.log_count; i++) {
        sotto_log_trust trust = d->options.logs[i].trust;
        sotto_checkpoint one;

        trust.log = key;
        SOTTO_TRY(sotto_checkpoint_open(&one, note, &trust, NULL));
        if (trust.quorum && one.cosigned < *cosigned)
            *cosigned = one.cosigned;
    }
    return SOTTO_OK;
}

/* False: there is none that the policy accepts, which may change. */
static bool open_head(const sotto_duties *d, const sotto_posted_round *p, sotto_bytes note,
                      sotto_checkpoint *head)
{
    const uint8_t *server = p->posting.registry.server;
    uint64_t cosigned = UINT64_MAX / 1000;
    char origin[SOTTO_BOARD_ORIGIN + 1];
    sotto_note_key key;
    sotto_note parts;

    sotto_board_origin(origin, server, p->id);
    if (sotto_note_key_init(&key, sotto_bytes_of(origin, SOTTO_BOARD_ORIGIN), SOTTO_NOTE_ED25519,
                            server, NULL) != SOTTO_OK ||
        sotto_note_decode(&parts, note, NULL) != SOTTO_OK ||
        sotto_checkpoint_decode(head, parts.text, NULL) != SOTTO_OK)
        return false;
    if (SOTTO_RULE(duties_heads_cosigned) && check_note(d, &key, note, &cosigned) != SOTTO_OK)
        return false;
    head->cosigned = cosigned;
    return true;
}

static sotto_status fetch_head(sotto_duties *d, const sotto_posted_round *p, bool *found,
                               sotto_checkpoint *head, sotto_err *err)
{
    sotto_exchange_answer answer = {0};

    *found = false;
    SOTTO_TRY(sotto_buf_take(&answer.body, &d->memory, NOTE, err));
    if (sotto_duties_carry(d, "rounds", p->id, "head", "text/plain", (sotto_bytes){NULL, 0},
                           &answer) == SOTTO_OK &&
        answer.status == 200)
        *found = open_head(d, p, sotto_buf_bytes(&answer.body), head);
    return SOTTO_OK;
}

/* ---- entries below it -------------------------------------------------------------------------------------- */

/* A record and its excerpts have one leaf. So whoever is shown a beginning where it reads the whole, a complaint say, or what is for somebody
 * else, is shown something else than others. */
static bool is_whole_enough(const sotto_posted_round *p, uint32_t reader, sotto_bytes record)
{
    sotto_pieces wanted;
    sotto_excerpt e;

    if (!sotto_excerpt_is(record))
        return true;
    if (sotto_excerpt_decode(&e, record, NULL) != SOTTO_OK)
        return false;
    e.message.body.len = e.length; /* what it needs of a whole body */
    return sotto_excerpt_for(&wanted, p->method, &p->round, &e.message, reader) &&
           sotto_pieces_equal(&wanted, &e.pieces);
}

/* Of one entry, as the board numbers it. */
static sotto_status leaf_of(sotto_merkle_hash *out, const sotto_posted_round *p, uint32_t reader,
                            uint64_t number, sotto_bytes wire, sotto_err *err)
{
    uint8_t bytes[SOTTO_EXCERPT_LEAF];
    sotto_buf leaf = sotto_buf_over(bytes, sizeof bytes);
    sotto_bytes record;
    sotto_message entry;
    uint64_t index;

    SOTTO_TRY(sotto_message_decode(&entry, wire, err));
    SOTTO_TRY(sotto_entry_decode(&index, &record, entry.body, err));
    if (index != number)
        return sotto_fail(err, SOTTO_MALFORMED, "board: an entry with another number");
    if (SOTTO_RULE(duties_records_whole) && !is_whole_enough(p, reader, record))
        return sotto_fail(err, SOTTO_REJECTED, "board: less of a record than is read of it");
    SOTTO_TRY(sotto_excerpt_leaf(&leaf, record, err));
    sotto_merkle_leaf(out, sotto_buf_bytes(&leaf));
    return SOTTO_OK;
}

/* Entries as they come. All are in the tree, and as many as there is room for are kept for the machine: it reads the others in a later step. */
typedef struct scan {
    const sotto_posted_round *p;
    const sotto_journal_duty *duty;
    uint64_t next, size;
    size_t most;
    sotto_merkle_tree tree;
    sotto_merkle_hash *leaves;
    size_t count, room; /* of leaves */
    sotto_buf kept;
    sotto_buf room_of_page; /* one for all pages */
    bool is_full;
} scan;

/* A head may name any size: there is memory for what came. */
static sotto_status next_leaf(scan *s, sotto_merkle_hash **out, sotto_arena *arena, sotto_err *err)
{
    if (s->count == s->room) {
        const size_t room = 2 * s->room + 64;
        sotto_merkle_hash *grown = sotto_arena_take_array(arena, room, sizeof *grown);

        if (!grown)
            return sotto_fail(err, SOTTO_NO_MEMORY, "a board");
        if (s->count)
            memcpy(grown, s->leaves, s->count * sizeof *grown);
        s->leaves = grown;
        s->room = room;
    }
    *out = &s->leaves[s->count++];
    return SOTTO_OK;
}

static sotto_status keep(scan *s, sotto_bytes entry, sotto_arena *arena, sotto_err *err)
{
    sotto_buf grown;

    s->is_full = s->is_full || (s->kept.len > 0 && s->kept.len + entry.len > s->most);
    if (s->is_full)
        return SOTTO_OK;
    if (s->kept.cap - s->kept.len < entry.len) {
        const size_t needed = s->kept.len + entry.len;
        const size_t most = needed > s->most ? needed : s->most;

        SOTTO_TRY(sotto_buf_take(&grown, arena, 2 * needed < most ? 2 * needed : most, err));
        if (s->kept.len)
            memcpy(grown.data, s->kept.data, s->kept.len);
        grown.len = s->kept.len;
        s->kept = grown;
    }
    memcpy(s->kept.data + s->kept.len, entry.data, entry.len);
    s->kept.len += entry.len;
    return SOTTO_OK;
}

/* A server numbers what it sends. Only what follows without a gap is an entry: its leaf has the next place. */
static sotto_status take_page(scan *s, sotto_bytes page, sotto_arena *arena, sotto_err *err)
{
    sotto_inbox entries = {.left = page, .since = s->next};
    sotto_bytes wire;
    uint64_t n;

    while (s->next < s->size) {
        const uint8_t *from = entries.left.data;
        sotto_merkle_hash *leaf = NULL;

        if (!sotto_inbox_next(&entries, &n, &wire) || n != s->next)
            return SOTTO_OK;
        SOTTO_TRY(next_leaf(s, &leaf, arena, err));
        if (leaf_of(leaf, s->p, sotto_duties_reader(s->duty), n, wire, err) != SOTTO_OK)
            return SOTTO_REJECTED;
        sotto_merkle_append(&s->tree, 0, leaf);
        SOTTO_TRY(keep(s, sotto_bytes_of(from, (size_t)(entries.left.data - from)), arena, err));
        s->next++;
    }
    return SOTTO_OK;
}

/* *all: the server handed out every entry below the head, and there were not too many. */
static sotto_status take_pages(sotto_duties *d, scan *s, bool *all, sotto_err *err)
{
    *all = false;
    for (size_t pages = 0, len = 0; s->next < s->size; pages++) {
        const sotto_arena_mark mark = sotto_arena_here(&d->memory);
        const uint8_t *kept = s->kept.data, *room = s->room_of_page.data;
        const sotto_merkle_hash *leaves = s->leaves;
        const uint64_t before = s->next;
        sotto_bytes page;

        if (pages == MOST_PAGES || len > MOST_BOARDS * s->most)
            return SOTTO_OK;
        SOTTO_TRY(sotto_duties_fetch_page(d, s->p, s->duty, s->next, &s->room_of_page, &page, err));
        len += page.len;
        SOTTO_TRY(take_page(s, page, &d->memory, err));
        if (s->next == before)
            return SOTTO_OK;
        if (s->kept.data == kept && s->leaves == leaves && s->room_of_page.data == room)
            sotto_arena_rollback(&d->memory, mark);
    }
    *all = true;
    return SOTTO_OK;
}

/* What a device was shown is what was cosigned, or it is shown another board than the others: then it has no part in this round any more. */
static sotto_status gather(sotto_duties *d, const sotto_posted_round *p,
                           const sotto_journal_duty *duty, const sotto_checkpoint *head,
                           sotto_duties_mail *mail, sotto_err *err)
{
    scan s = {.p = p,
              .duty = duty,
              .next = duty->board,
              .size = head->size,
              .most = d->board_room ? d->board_room : MOST_BOARD,
              .tree = duty->tree};
    sotto_merkle_hash root;
    bool all;

    SOTTO_TRY(take_pages(d, &s, &all, err));
    if (!all)
        return SOTTO_OK;
    sotto_merkle_root(&root, &s.tree);
    if (SOTTO_RULE(duties_one_board) &&
        (s.tree.size != head->size || !sotto_merkle_equal(&root, &head->root)))
        return sotto_fail(err, SOTTO_REJECTED,
                          "the server shows another board than its witnesses cosigned");
    mail->entries = sotto_buf_bytes(&s.kept);
    mail->leaves = s.leaves;
    d->behind = s.is_full;
    return SOTTO_OK;
}

/* A head that brings no entries says when the board was cosigned. So it must be of the board that this device read: the complaint that
 * witnesses waited for may be on another one. */
static bool is_own(const sotto_journal_duty *duty, const sotto_checkpoint *head)
{
    sotto_merkle_hash root;

    if (head->size != duty->board)
        return true;
    sotto_merkle_root(&root, &duty->tree);
    return sotto_merkle_equal(&root, &head->root);
}

sotto_status sotto_duties_fetch_cosigned(sotto_duties *d, const sotto_posted_round *p,
                                         const sotto_journal_duty *duty, sotto_duties_mail *mail,
                                         sotto_err *err)
{
    sotto_checkpoint head;
    bool found;

    SOTTO_TRY(fetch_head(d, p, &found, &head, err));
    if (SOTTO_RULE(duties_one_board) && found && !is_own(duty, &head))
        return sotto_fail(err, SOTTO_REJECTED, "the head is of another board than was read");
    if (found) {
        mail->head = head.size;
        mail->cosigned = 1000 * head.cosigned;
    }
    if (!found || head.size <= duty->board)
        return SOTTO_OK;
    return gather(d, p, duty, &head, mail, err);
}

uint64_t sotto_duties_time(const sotto_duties *d, const sotto_posted_round *p,
                           const sotto_journal_duty *duty, const sotto_duties_mail *mail,
                           uint64_t now_ms)
{
    const uint64_t due = p->round.verify_by;
    const bool fresh = mail->cosigned >= due && duty->board == mail->head;

    if (now_ms < due || duty->part != SOTTO_DUTY_DECRYPTOR || !sotto_method_entry(p->method) ||
        !sotto_duties_wants_heads(d))
        return now_ms;
    /* A server could show it the board as it was before anybody complained. */
    if (SOTTO_RULE(duties_heads_fresh) && !fresh)
        return due - 1;
    return now_ms;
}

void sotto_duties_grow(sotto_journal_duty *duty, uint64_t before, const sotto_duties_mail *mail)
{
    for (uint64_t n = before; mail->leaves && n < duty->board; n++)
        sotto_merkle_append(&duty->tree, 0, &mail->leaves[n - before]);
}
