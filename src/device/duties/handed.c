/* What a device found must be on the board, and its server may keep it off. So it goes to the witnesses that the policy names, too: they
 * cosign no further head before it is there (serve/witness/held.h). */
#include "device/duties/inside.h"

#include "aggregate/inbox.h"
#include "base/arena.h"
#include "base/rule.h"
#include "recipe/model.h"

enum { ANSWER = 256, SERVER = 0 /* witnesses have places from 1 on */ };

/* *count: of witnesses whose URL the policy has. The URL of the one at `place`; NULL: there is none. */
static const char *witness_at(const sotto_duties *d, unsigned place, unsigned *count)
{
    const char *found = NULL;

    *count = 0;
    for (size_t i = 0; i < d->options.log_count; i++) {
        const sotto_policy_log *log = &d->options.logs[i];

        for (size_t w = 0; log->trust.quorum && log->urls && w < log->trust.witness_count; w++)
            if (++*count == place)
                found = log->urls[w];
    }
    return found;
}

static unsigned places(const sotto_duties *d)
{
    unsigned count;

    (void)witness_at(d, 0, &count);
    return count + 1;
}

static bool is_complaint(const sotto_posted_round *p, sotto_bytes body)
{
    sotto_reader in = sotto_reader_over(body);
    sotto_message m;

    return p->method->complaint &&
           sotto_message_decode(&m, sotto_read_opaque32(&in), NULL) == SOTTO_OK &&
           m.kind == p->method->complaint;
}

static unsigned carry(sotto_duties *d, const sotto_posted_round *p, const char *url,
                      const char *place, const char *type, sotto_bytes body)
{
    uint8_t room[ANSWER];
    sotto_exchange_answer answer = {.body = sotto_buf_over(room, sizeof room)};

    return sotto_duties_carry_to(d, url, "rounds", p->id, place, type, body, &answer) == SOTTO_OK
               ? answer.status
               : 0;
}

/* A witness that does not know who is registered is told; its round's id is the hash of it. False: it may take it later. */
static bool hand_one(sotto_duties *d, const sotto_posted_round *p, const sotto_journal_duty *duty,
                     const char *url, sotto_bytes body)
{
    unsigned status = carry(d, p, url, "messages", SOTTO_MESSAGE_TYPE, body);

    if (status == 404 && carry(d, p, url, "posting", SOTTO_POSTING_TYPE, duty->posting) == 204)
        status = carry(d, p, url, "messages", SOTTO_MESSAGE_TYPE, body);
    return status == 204 || sotto_duties_is_final(status);
}

/* away: by place, who has not taken a message since this began. */
static sotto_status hand_all(sotto_duties *d, const sotto_posted_round *p,
                             const sotto_journal_duty *duty, int64_t row, sotto_bytes body,
                             bool *away, bool *owed, sotto_err *err)
{
    const unsigned all = places(d);
    unsigned count;
    bool has;

    for (unsigned place = 1; place < all; place++) {
        SOTTO_TRY(sotto_journal_handed(&d->journal, row, place, &has, err));
        if (has)
            continue;
        /* One that lets every call wait would keep all complaints from the others until it is too late. */
        if (SOTTO_RULE(duties_away_once) && away[place])
            continue;
        away[place] = !hand_one(d, p, duty, witness_at(d, place, &count), body);
        *owed = *owed || away[place];
        if (!away[place])
            SOTTO_TRY(sotto_journal_hand(&d->journal, row, place, all, err));
    }
    return SOTTO_OK;
}

sotto_status sotto_duties_hand(sotto_duties *d, const sotto_posted_round *p,
                               const sotto_journal_duty *duty, bool *owed, sotto_err *err)
{
    bool found = places(d) > 1 && p->method->complaint;
    bool *away = sotto_arena_take_array(&d->memory, places(d), sizeof *away);
    sotto_bytes body;
    int64_t row = 0;

    *owed = false;
    if (!away)
        return sotto_fail(err, SOTTO_NO_MEMORY, "complaints");
    if (SOTTO_RULE(duties_complaints_handed) && found)
        for (;;) {
            SOTTO_TRY(sotto_journal_waiting(&d->journal, duty->n, row, &row, &body, &found,
                                            &d->memory, err));
            if (!found)
                return SOTTO_OK;
            if (is_complaint(p, body))
                SOTTO_TRY(hand_all(d, p, duty, row, body, away, owed, err));
        }
    return SOTTO_OK;
}

sotto_status sotto_duties_server_has(sotto_duties *d, int64_t row, bool *has, sotto_err *err)
{
    return sotto_journal_handed(&d->journal, row, SERVER, has, err);
}

sotto_status sotto_duties_server_took(sotto_duties *d, const sotto_posted_round *p, int64_t row,
                                      sotto_bytes body, sotto_err *err)
{
    return is_complaint(p, body) ? sotto_journal_hand(&d->journal, row, SERVER, places(d), err)
                                 : sotto_journal_sent(&d->journal, row, err);
}
