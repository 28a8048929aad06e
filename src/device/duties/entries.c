/* A round's board, and questions whose answers come at once: what a duty reads, and how its machine gets it. */
#include "device/duties/inside.h"
#include "device/duties/journal_inside.h"

#include "aggregate/aero/terms.h"
#include "aggregate/inbox.h"
#include "base/arena.h"
#include "base/rule.h"
#include "base/writer.h"

#include <string.h>

#define MOST        ((size_t)33 << 20) /* of a page of the board, or of an inbox */
#define MOST_MAIL   ((size_t)32 << 20) /* of answers, before the machine reads them */
#define MOST_ANSWER ((size_t)SOTTO_AERO_LONG + 12 + SOTTO_MESSAGE_HEAD + SOTTO_SIGNATURE)

enum {
    UNUSABLE = 502
}; /* in the place of an answer that is too long: it may be about the moment */

/* One request, with as much room for its answer as it takes, up to `most`; the answer is in that room. */
static sotto_status carry(sotto_duties *d, const sotto_posted_round *p, const char *place,
                          const char *type, sotto_bytes body, size_t most, sotto_buf *room,
                          sotto_exchange_answer *answer, sotto_err *err)
{
    for (;;) {
        const size_t size = d->inbox < most ? d->inbox : most;

        memset(answer, 0, sizeof *answer);
        if (room->cap < size)
            SOTTO_TRY(sotto_buf_take(room, &d->memory, size, err));
        answer->body = *room;
        const sotto_status status =
            sotto_duties_carry(d, "rounds", p->id, place, type, body, answer);
        if (status == SOTTO_OK)
            return SOTTO_OK;
        answer->status = status == SOTTO_TOO_LARGE ? UNUSABLE : 0;
        if (status != SOTTO_TOO_LARGE || size == most)
            return SOTTO_OK;
        d->inbox = d->inbox < MOST / 8 ? 8 * d->inbox : MOST;
    }
}

sotto_status sotto_duties_fetch_page(sotto_duties *d, const sotto_posted_round *p,
                                     const sotto_journal_duty *duty, uint64_t since,
                                     sotto_buf *room, sotto_bytes *out, sotto_err *err)
{
    uint8_t ask[SOTTO_ENTRIES_ASK];
    sotto_buf body = sotto_buf_over(ask, sizeof ask);
    sotto_writer w = sotto_writer_on(&body);
    sotto_exchange_answer answer;

    *out = (sotto_bytes){NULL, 0};
    sotto_write_uint(&w, since, 8);
    sotto_write_uint(&w, sotto_duties_reader(duty), 4);
    SOTTO_TRY(sotto_writer_finish(&w, "board", err));
    SOTTO_TRY(carry(d, p, "board", SOTTO_ENTRIES_ASK_TYPE, sotto_buf_bytes(&body), MOST, room,
                    &answer, err));
    if (answer.status == 200)
        *out = sotto_buf_bytes(&answer.body);
    return SOTTO_OK;
}

sotto_duties_news sotto_duties_ending(const sotto_posted_round *p, const sotto_journal_duty *duty)
{
    return sotto_method_entry(p->method) && duty->board == 0 ? SOTTO_DUTIES_NO_BOARD
                                                             : SOTTO_DUTIES_OVER;
}

/* Index, first number wanted, and the round's signature of this device. */
static sotto_status write_ask(const sotto_duties *d, const sotto_journal_duty *duty,
                              const sotto_posted_round *p, sotto_buf *out, sotto_err *err)
{
    /* Clients of a method with a board hear everything else in answers. What is in their inbox is for a member's duty of the
     * same device: they ask only whether the round is over, from a number that nothing has. */
    const bool asks_end_alone = sotto_method_entry(p->method) && duty->part == SOTTO_DUTY_CLIENT;
    uint8_t text[SOTTO_INBOX_TEXT], signature[SOTTO_SIGNATURE];
    sotto_writer w = sotto_writer_on(out);

    sotto_inbox_text(text, p->id, duty->index);
    SOTTO_TRY(sotto_sign(&d->signer, signature, sotto_bytes_of(text, sizeof text), err));
    sotto_write_uint(&w, duty->index, 4);
    sotto_write_uint(&w, asks_end_alone ? INT64_MAX : duty->since, 8);
    sotto_write_bytes(&w, sotto_bytes_of(signature, sizeof signature));
    return sotto_writer_finish(&w, "inbox", err);
}

sotto_status sotto_duties_fetch_inbox(sotto_duties *d, const sotto_journal_duty *duty,
                                      const sotto_posted_round *p, sotto_buf *out, bool *answered,
                                      bool *gone, sotto_err *err)
{
    sotto_exchange_answer answer = {0};
    uint8_t ask[128];
    sotto_buf body = sotto_buf_over(ask, sizeof ask);

    *answered = *gone = false;
    SOTTO_TRY(write_ask(d, duty, p, &body, err));
    SOTTO_TRY(sotto_buf_take(&answer.body, &d->memory, d->inbox, err));
    const sotto_status status = sotto_duties_carry(
        d, "rounds", p->id, "inbox", SOTTO_INBOX_ASK_TYPE, sotto_buf_bytes(&body), &answer);
    if (status != SOTTO_OK) {
        /* The next poll has more room. */
        if (status == SOTTO_TOO_LARGE)
            d->inbox = d->inbox < MOST / 8 ? 8 * d->inbox : MOST;
        return SOTTO_OK;
    }
    *answered = answer.status == 200;
    *gone = answer.status == 409;
    *out = answer.body;
    return SOTTO_OK;
}

sotto_status sotto_duties_fetch_entries(sotto_duties *d, const sotto_posted_round *p,
                                        const sotto_journal_duty *duty, sotto_duties_mail *mail,
                                        sotto_err *err)
{
    d->behind = false;
    if (!sotto_method_entry(p->method))
        return SOTTO_OK;
    if (sotto_duties_wants_heads(d))
        return sotto_duties_fetch_cosigned(d, p, duty, mail, err);
    sotto_buf room = {0};
    return sotto_duties_fetch_page(d, p, duty, duty->board, &room, &mail->entries, err);
}

/* ---- questions ------------------------------------------------------------------------------------------ */

bool sotto_duties_is_question(const sotto_posted_round *p, sotto_bytes body)
{
    sotto_reader in = sotto_reader_over(body);
    sotto_message m;

    return p->method->question &&
           sotto_message_decode(&m, sotto_read_opaque32(&in), NULL) == SOTTO_OK &&
           m.kind == p->method->question;
}

sotto_status sotto_duties_ask(sotto_duties *d, const sotto_posted_round *p, int64_t row,
                              sotto_bytes body, sotto_duties_mail *mail, bool *after, bool *done,
                              sotto_err *err)
{
    sotto_exchange_answer answer;

    /* A server that answers at length keeps no complaint behind it from the board. */
    if (SOTTO_RULE(duties_mail_bounded) && mail->len >= MOST_MAIL) {
        *after = true;
        *done = false;
        return SOTTO_OK;
    }
    SOTTO_TRY(
        carry(d, p, "messages", SOTTO_MESSAGE_TYPE, body, MOST_ANSWER, &mail->room, &answer, err));
    *after = answer.status != 0;
    *done = answer.status == 200 || answer.status == 204 || sotto_duties_is_final(answer.status);
    if (!*done)
        return SOTTO_OK;
    const size_t len = answer.status == 200 ? answer.body.len : 0;
    struct sotto_duties_answer *one = sotto_arena_take(&d->memory, sizeof *one);
    uint8_t *copy = sotto_arena_take(&d->memory, len + 1);
    if (!one || !copy)
        return sotto_fail(err, SOTTO_NO_MEMORY, "an answer");
    if (len)
        memcpy(copy, answer.body.data, len);
    one->row = row;
    one->messages = sotto_bytes_of(copy, len);
    one->next = mail->answers;
    mail->answers = one;
    mail->len += len;
    return SOTTO_OK;
}

sotto_status sotto_duties_forget_asked(sotto_duties *d, const sotto_duties_mail *mail,
                                       sotto_err *err)
{
    sotto_status status = SOTTO_OK;

    SOTTO_TRY(sotto_journal_begin(&d->journal, err));
    for (const struct sotto_duties_answer *a = mail->answers; a && status == SOTTO_OK; a = a->next)
        status = sotto_journal_forget(&d->journal, a->row, err);
    return sotto_journal_finish(&d->journal, status, err);
}

/* ---- reading -------------------------------------------------------------------------------------------- */

/* A stack of messages, each of which came by one way alone: nobody can put an entry into an inbox. */
typedef struct stack {
    sotto_bytes messages;
    uint32_t to;
    uint64_t *since; /* NULL: of an answer, which is not asked for again */
} stack;

/* Messages that are too early stay where they are; all others are done with. */
static sotto_status read_stack(const sotto_posted_round *p, sotto_machine *machine, const stack *of,
                               sotto_effects *effects, sotto_arena *arena, sotto_err *err)
{
    sotto_inbox messages = {.left = of->messages, .since = of->since ? *of->since : 0};
    sotto_bytes wire;
    uint64_t n;

    while (sotto_inbox_next(&messages, &n, &wire)) {
        sotto_status verdict;
        sotto_message m;

        verdict = sotto_message_decode(&m, wire, NULL);
        if (verdict == SOTTO_OK && m.to != of->to)
            verdict = SOTTO_REJECTED;
        if (verdict == SOTTO_OK)
            verdict = machine->ops->check(&p->round, &m, arena, NULL);
        if (verdict == SOTTO_OK)
            SOTTO_TRY(machine->ops->deliver(machine, &m, 1, &verdict, effects, err));
        if (verdict == SOTTO_AGAIN)
            return SOTTO_OK;
        if (of->since)
            *of->since = n + 1;
    }
    return SOTTO_OK;
}

sotto_status sotto_duties_read(const sotto_posted_round *p, sotto_machine *machine,
                               sotto_journal_duty *duty, const sotto_duties_mail *mail,
                               sotto_effects *effects, sotto_arena *arena, sotto_err *err)
{
    const stack entries = {mail->entries, SOTTO_TO_EVERYBODY, &duty->board},
                inbox = {mail->inbox, duty->index, &duty->since};
    const uint64_t before = duty->board;

    SOTTO_TRY(read_stack(p, machine, &entries, effects, arena, err));
    sotto_duties_grow(duty, before, mail);
    SOTTO_TRY(read_stack(p, machine, &inbox, effects, arena, err));
    for (const struct sotto_duties_answer *a = mail->answers; a; a = a->next) {
        const stack answer = {a->messages, duty->index, NULL};

        SOTTO_TRY(read_stack(p, machine, &answer, effects, arena, err));
    }
    return SOTTO_OK;
}
