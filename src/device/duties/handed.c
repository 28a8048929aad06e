/* What a device found must be on the board, and its server may keep it off. So it goes to the witnesses that the policy names, too: they
 * cosign no further head before it is there (serve/witness/held.h). */
#include "device/duties/inside.h"

#include "aggregate/inbox.h"
#include "base/arena.h"
#include "base/rule.h"
#include "recipe/model.h"

#include <string.h>

enum { ANSWER = 256 };

/* Everybody who is to have a complaint: the server, and each witness whose URL the policy has, by its key. A policy that lists them in another
 * order, or others, says nothing of who has what. */
typedef struct holders {
    size_t count;
    sotto_journal_holder *who; /* the first is the server */
    const char **urls;
} holders;

static bool is_listed(const holders *h, const uint8_t key[32])
{
    for (size_t i = 1; i < h->count; i++)
        if (memcmp(h->who[i].key, key, sizeof h->who[i].key) == 0)
            return true;
    return false;
}

static sotto_status list_holders(sotto_duties *d, holders *h, sotto_err *err)
{
    size_t most = 1;

    for (size_t i = 0; i < d->options.log_count; i++)
        most += d->options.logs[i].trust.witness_count;
    h->who = sotto_arena_take_array(&d->memory, most, sizeof *h->who);
    h->urls = sotto_arena_take_array(&d->memory, most, sizeof *h->urls);
    if (!h->who || !h->urls)
        return sotto_fail(err, SOTTO_NO_MEMORY, "complaints");
    memset(h->who, 0, most * sizeof *h->who);
    h->urls[0] = NULL;
    h->count = 1;
    for (size_t i = 0; i < d->options.log_count; i++) {
        const sotto_policy_log *log = &d->options.logs[i];

        for (size_t w = 0; log->trust.quorum && log->urls && w < log->trust.witness_count; w++) {
            const uint8_t *key = log->trust.witnesses[w].public_key;

            if (is_listed(h, key))
                continue;
            memcpy(h->who[h->count].key, key, sizeof h->who[h->count].key);
            h->urls[h->count++] = log->urls[w];
        }
    }
    return SOTTO_OK;
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

/* away: who has not taken a message since this began. */
static sotto_status hand_all(sotto_duties *d, const sotto_posted_round *p,
                             const sotto_journal_duty *duty, const holders *h, int64_t row,
                             sotto_bytes body, bool *away, bool *owed, sotto_err *err)
{
    bool has, gone = false;

    for (size_t i = 1; i < h->count && !gone; i++) {
        SOTTO_TRY(sotto_journal_handed(&d->journal, row, &h->who[i], &has, err));
        if (has)
            continue;
        /* One that lets every call wait would keep all complaints from the others until it is too late. */
        if (SOTTO_RULE(duties_away_once) && away[i])
            continue;
        away[i] = !hand_one(d, p, duty, h->urls[i], body);
        *owed = *owed || away[i];
        if (!away[i])
            SOTTO_TRY(
                sotto_journal_hand(&d->journal, row, &h->who[i], h->who, h->count, &gone, err));
    }
    return SOTTO_OK;
}

sotto_status sotto_duties_hand(sotto_duties *d, const sotto_posted_round *p,
                               const sotto_journal_duty *duty, bool *owed, sotto_err *err)
{
    holders h;
    bool found;
    sotto_bytes body;
    int64_t row = 0;

    *owed = false;
    SOTTO_TRY(list_holders(d, &h, err));
    bool *away = sotto_arena_take_array(&d->memory, h.count, sizeof *away);
    if (!away)
        return sotto_fail(err, SOTTO_NO_MEMORY, "complaints");
    memset(away, 0, h.count * sizeof *away);
    found = h.count > 1 && p->method->complaint;
    if (SOTTO_RULE(duties_complaints_handed) && found)
        for (;;) {
            SOTTO_TRY(sotto_journal_waiting(&d->journal, duty->n, row, &row, &body, &found,
                                            &d->memory, err));
            if (!found)
                return SOTTO_OK;
            if (is_complaint(p, body))
                SOTTO_TRY(hand_all(d, p, duty, &h, row, body, away, owed, err));
        }
    return SOTTO_OK;
}

sotto_status sotto_duties_server_has(sotto_duties *d, int64_t row, bool *has, sotto_err *err)
{
    const sotto_journal_holder server = {{0}};

    return sotto_journal_handed(&d->journal, row, &server, has, err);
}

sotto_status sotto_duties_server_took(sotto_duties *d, const sotto_posted_round *p, int64_t row,
                                      sotto_bytes body, sotto_err *err)
{
    bool gone;
    holders h;

    if (!is_complaint(p, body))
        return sotto_journal_sent(&d->journal, row, err);
    SOTTO_TRY(list_holders(d, &h, err));
    return sotto_journal_hand(&d->journal, row, &h.who[0], h.who, h.count, &gone, err);
}
