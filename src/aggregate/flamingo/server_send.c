/* What the server tells decryptors: who is online, and what is to be opened. A thousand clients make megabytes of it, which are
 * written and signed on all threads of the crew. */
#include "aggregate/flamingo/server.h"

#include "aggregate/body.h"
#include "aggregate/machine.h"
#include "aggregate/shared/crew.h"

#include <string.h>

static sotto_status no_memory(sotto_err *err)
{
    return sotto_fail(err, SOTTO_NO_MEMORY, "flamingo server: no memory");
}

/* ---- many messages of one kind --------------------------------------------------------------------------- */

typedef struct letter {
    uint32_t place; /* of the decryptor that it is for */
    sotto_message message;
    uint8_t *room; /* for its body */
    uint8_t signature[SOTTO_SIGNATURE];
} letter;

typedef struct mail {
    const flamingo_server *s;
    unsigned kind;
    sotto_bytes same; /* one body for all of them, the labels; empty: each is written from `body` */
    uint8_t digest[32]; /* of that */
    sotto_flamingo_body body;
    /* Where each online client's report has its shares, in the order of indices. */
    const uint8_t **sealed;
    size_t size; /* of a body */
    /* What all bodies have in common, with room for the shares of one decryptor at `shares_at`. */
    uint8_t *form;
    size_t shares_at;
    letter *letters;
} mail;

/* The shares that online clients sealed to one decryptor. */
static void write_shares(const mail *m, uint8_t *at, uint32_t place)
{
    const flamingo_server *s = m->s;
    size_t count = 0;

    for (uint32_t i = 0; i < s->round->registered; i++) {
        uint8_t *row = at + count * SOTTO_FLAMINGO_SHARE_ROW;

        if (!sotto_bits_has(s->online, i))
            continue;
        sotto_row_put_index(row, i);
        memcpy(row + 4, m->sealed[count++] + (size_t)place * SOTTO_FLAMINGO_SEALED_SHARE,
               SOTTO_FLAMINGO_SEALED_SHARE);
    }
}

static void write_body(const mail *m, letter *l)
{
    const flamingo_server *s = m->s;

    if (l->room) {
        const size_t after = m->shares_at + m->body.b.count * SOTTO_FLAMINGO_SHARE_ROW;

        memcpy(l->room, m->form, m->shares_at);
        write_shares(m, l->room + m->shares_at, l->place);
        memcpy(l->room + after, m->form + after, m->size - after);
    }
    l->message = sotto_machine_envelope(s->round, m->kind, s->self.index,
                                        s->round->decryptors->record.members[l->place],
                                        l->room ? sotto_bytes_of(l->room, m->size) : m->same);
}

/* One body for all was digested before. */
static sotto_status write_letters(void *context, size_t first, size_t end, sotto_err *err)
{
    const mail *m = context;

    for (size_t i = first; i < end; i++) {
        letter *l = &m->letters[i];
        const uint8_t *digest = m->digest;
        uint8_t own[32];

        write_body(m, l);
        if (!m->same.data) {
            sotto_body_digest(own, l->message.body);
            digest = own;
        }
        SOTTO_TRY(
            sotto_message_sign_digest(&l->message, l->signature, digest, m->s->self.keys, err));
    }
    return SOTTO_OK;
}

/* All in one block: the system gives a large one faster. The form is encoded with whatever lies in the first room for shares. */
static sotto_status give_rooms(mail *m, size_t count, sotto_arena *arena, sotto_err *err)
{
    uint8_t *at = sotto_arena_take_array(arena, count + 1, m->size);
    sotto_buf form = sotto_buf_over(at, m->size);
    sotto_flamingo_body body = m->body;

    if (!at)
        return no_memory(err);
    m->form = at;
    for (size_t i = 0; i < count; i++)
        m->letters[i].room = at + (i + 1) * m->size;
    body.b.at = at + m->size;
    m->shares_at = sotto_flamingo_body_second(m->kind, &body);
    return count ? sotto_flamingo_body_encode(&form, m->kind, &body, err) : SOTTO_OK;
}

/* To everybody in `to`, a bit for each place; NULL: to all. */
static sotto_status send_all(mail *m, const uint8_t *to, sotto_effects *effects, sotto_err *err)
{
    const uint32_t members = m->s->round->decryptors->record.count;
    size_t count = 0;

    m->letters = sotto_arena_take_array(effects->arena, members, sizeof *m->letters);
    if (!m->letters)
        return no_memory(err);
    for (uint32_t i = 0; i < members; i++) {
        letter *l = &m->letters[count];

        if (to && !sotto_bits_has(to, i))
            continue;
        l->place = i;
        count++;
    }
    if (m->same.data)
        sotto_body_digest(m->digest, m->same);
    else
        SOTTO_TRY(give_rooms(m, count, effects->arena, err));
    SOTTO_TRY(sotto_crew_run(write_letters, m, count, err));
    for (size_t i = 0; i < count; i++)
        SOTTO_TRY(sotto_effects_pass(effects, &m->letters[i].message, NULL, err));
    return SOTTO_OK;
}

/* ---- labels ---------------------------------------------------------------------------------------------- */

static void write_seen(uint8_t *row, uint32_t client, const server_client *c)
{
    sotto_row_put_index(row, client);
    sotto_row_put_index(row + 4, (uint32_t)c->report.len);
    memcpy(row + 8, c->digest, sizeof c->digest);
    memcpy(row + 40, c->signature.data, SOTTO_SIGNATURE);
}

/* The labels as they are sent, and the digest that decryptors sign. */
static sotto_status write_labels(flamingo_server *s, sotto_buf *wire, sotto_arena *arena,
                                 sotto_err *err)
{
    size_t bytes = (size_t)(s->round->registered + 7) / 8, at = 0;
    uint32_t online = sotto_bits_count(s->online, bytes);
    uint8_t *rows = sotto_arena_take_array(arena, (size_t)online + 1, SOTTO_FLAMINGO_SEEN_ROW);
    sotto_flamingo_body body = {.head = {s->online, bytes},
                                .a = {rows, online, SOTTO_FLAMINGO_SEEN_ROW}};
    size_t size = sotto_flamingo_body_size(SOTTO_FLAMINGO_LABELS, &body);

    *wire = sotto_buf_over(sotto_arena_take(arena, size), size);
    if (!rows || !wire->data)
        return no_memory(err);
    for (uint32_t i = 0; i < s->round->registered; i++)
        if (sotto_bits_has(s->online, i))
            write_seen(rows + at++ * SOTTO_FLAMINGO_SEEN_ROW, i, &s->clients[i]);
    SOTTO_TRY(sotto_flamingo_body_encode(wire, SOTTO_FLAMINGO_LABELS, &body, err));
    sotto_hash_once(s->labels, SOTTO_SHA256, sotto_buf_bytes(wire));
    s->is_labelled = true;
    return SOTTO_OK;
}

sotto_status sotto_flamingo_server_label(flamingo_server *s, sotto_arena *scratch, sotto_err *err)
{
    sotto_buf wire;

    return s->is_labelled ? SOTTO_OK : write_labels(s, &wire, scratch, err);
}

static sotto_status vow_labels(const flamingo_server *s, sotto_effects *effects, sotto_err *err)
{
    sotto_vow v = {.kind = SOTTO_FLAMINGO_LABELS,
                   .epoch = s->round->epoch,
                   .round = s->round->number,
                   .subject = SOTTO_TO_SERVER};

    sotto_hash_once(v.digest, SOTTO_SHA256,
                    sotto_bytes_of(s->online, (size_t)(s->round->registered + 7) / 8));
    return sotto_effects_vow(effects, &v, err);
}

sotto_status sotto_flamingo_server_send_labels(flamingo_server *s, sotto_effects *effects,
                                               sotto_err *err)
{
    mail m = {.s = s, .kind = SOTTO_FLAMINGO_LABELS};
    sotto_buf wire;

    for (uint32_t i = 0; i < s->round->registered; i++)
        if (s->clients[i].report.data)
            sotto_bits_set(s->online, i);
    SOTTO_TRY(vow_labels(s, effects, err));
    SOTTO_TRY(write_labels(s, &wire, effects->arena, err));
    m.same = sotto_buf_bytes(&wire);
    return send_all(&m, NULL, effects, err);
}

/* ---- what is to be opened -------------------------------------------------------------------------------- */

static void write_votes(const flamingo_server *s, sotto_rows *rows, uint8_t *at)
{
    for (uint32_t i = 0; i < s->round->decryptors->record.count; i++) {
        uint8_t *row = at + rows->count * SOTTO_FLAMINGO_VOTE_ROW;

        if (!s->decryptors[i].vote.data)
            continue;
        sotto_row_put_index(row, s->round->decryptors->record.members[i]);
        memcpy(row + 4, s->decryptors[i].vote.data, SOTTO_SIGNATURE);
        rows->count++;
    }
}

static sotto_status find_shares(const flamingo_server *s, const uint8_t **sealed, size_t *count,
                                sotto_err *err)
{
    for (uint32_t i = 0; i < s->round->registered; i++) {
        sotto_flamingo_body report;

        if (!sotto_bits_has(s->online, i))
            continue;
        SOTTO_TRY(sotto_flamingo_body_decode(&report, SOTTO_FLAMINGO_REPORT, s->round->registered,
                                             s->clients[i].report, err));
        sealed[(*count)++] = report.a.at;
    }
    return SOTTO_OK;
}

sotto_status sotto_flamingo_server_send_open(flamingo_server *s, sotto_effects *effects,
                                             sotto_err *err)
{
    uint8_t head[SOTTO_FLAMINGO_OPEN_HEAD];
    uint8_t *votes = sotto_arena_take_array(effects->arena, s->round->decryptors->record.count,
                                            SOTTO_FLAMINGO_VOTE_ROW);
    mail m = {.s = s,
              .kind = SOTTO_FLAMINGO_OPEN,
              .body = {.head = {head, sizeof head},
                       .a = {votes, 0, SOTTO_FLAMINGO_VOTE_ROW},
                       .b = {NULL, 0, SOTTO_FLAMINGO_SHARE_ROW},
                       .c = s->wanted}};

    m.sealed = sotto_arena_take_array(effects->arena, s->graph.count, sizeof *m.sealed);
    if (!votes || !m.sealed)
        return no_memory(err);
    SOTTO_TRY(sotto_flamingo_server_label(s, effects->arena, err));
    SOTTO_TRY(find_shares(s, m.sealed, &m.body.b.count, err));
    memcpy(head, s->labels, sizeof s->labels);
    head[32] = s->attempt;
    head[33] = s->prove;
    memcpy(head + 34, s->set, sizeof s->set);
    write_votes(s, &m.body.a, votes);
    m.size = sotto_flamingo_body_size(m.kind, &m.body);
    return send_all(&m, s->set, effects, err);
}
