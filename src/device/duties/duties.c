#define _POSIX_C_SOURCE 200809L
#include "device/duties/inside.h"

#include "aggregate/inbox.h"
#include "aggregate/shared/mask.h"
#include "base/alloc.h"
#include "base/arena.h"
#include "base/hex.h"
#include "base/rule.h"
#include "device/duties/membership.h"
#include "device/exchange.h"
#include "sotto/random.h"

#include <stdio.h>
#include <string.h>

#define MEMORY    ((size_t)512 << 20)
#define FIRST     ((size_t)64 << 10) /* at first */
#define MAX_VALUE (96 << 20)         /* of the journal */

enum { ANSWER = 4096, LOOKS = 40 /* at a board, in each phase */ };
enum { VOW_COMMITTEE = 0x8000 }; /* beside the kinds of methods */
enum { KEY_SIGN = 1, KEY_PAIR, KEY_CHANNEL };

/* ---- up and down ----------------------------------------------------------------------------------------------- */

static sotto_status derive(uint8_t out[32], const uint8_t *secret, uint32_t which, sotto_err *err)
{
    static const uint8_t nothing[SOTTO_ROUND_ID];

    return sotto_round_kdf(out, "sotto-duties-1", sotto_bytes_of(secret, SOTTO_DUTIES_SECRET),
                           nothing, 0, which, err);
}

static sotto_status make_keys(sotto_duties *d, sotto_err *err)
{
    const sotto_kem *kem = sotto_kem_find(SOTTO_KEM_X25519);
    const uint8_t *secret = d->options.secret;
    uint8_t key[32];
    sotto_status status = derive(key, secret, KEY_SIGN, err);

    if (status == SOTTO_OK)
        status = sotto_signer_init(&d->signer, key, err);
    if (status == SOTTO_OK)
        status = derive(key, secret, KEY_PAIR, err);
    if (status == SOTTO_OK)
        status = sotto_dh_init(&d->secrets.pair, kem, sotto_bytes_of(key, sizeof key), err);
    if (status == SOTTO_OK)
        status = derive(key, secret, KEY_CHANNEL, err);
    if (status == SOTTO_OK)
        status = sotto_dh_init(&d->secrets.channel, kem, sotto_bytes_of(key, sizeof key), err);
    sotto_wipe(key, sizeof key);
    return status;
}

static sotto_status start(sotto_duties *d, sotto_err *err)
{
    const sotto_duties_options *o = &d->options;
    const sotto_sqlite_options file = {.storage = o->storage,
                                       .path = o->journal,
                                       .application = SOTTO_SQLITE_DUTIES,
                                       .version = 1,
                                       .max_value = MAX_VALUE,
                                       .memory = o->memory};

    if (strlen(o->server) + 2 * SOTTO_ROUND_ID + 32 >= sizeof d->server)
        return sotto_fail(err, SOTTO_TOO_LARGE, "the aggregator's URL");
    (void)snprintf(d->server, sizeof d->server, "%s", o->server);
    d->witnesses = sotto_alloc(((size_t)o->witness_count + 1) * sizeof *d->witnesses);
    if (!d->witnesses)
        return sotto_fail(err, SOTTO_NO_MEMORY, "duties");
    if (o->witness_count)
        memcpy(d->witnesses, o->witnesses, o->witness_count * sizeof *d->witnesses);
    SOTTO_TRY(make_keys(d, err));
    return sotto_journal_open(&d->journal, &file, &o->host, err);
}

sotto_status sotto_duties_open(sotto_duties **out, const sotto_duties_options *options,
                               sotto_err *err)
{
    sotto_duties *d = sotto_alloc(sizeof *d);

    *out = NULL;
    if (!d)
        return sotto_fail(err, SOTTO_NO_MEMORY, "duties");
    d->options = *options;
    d->inbox = FIRST;
    sotto_arena_init(&d->memory, MEMORY);
    const sotto_status status = start(d, err);
    d->options.secret = NULL; /* the caller's */
    if (status != SOTTO_OK)
        sotto_duties_close(d);
    else
        *out = d;
    return status;
}

void sotto_duties_close(sotto_duties *d)
{
    if (!d)
        return;
    sotto_journal_close(&d->journal);
    sotto_signer_clear(&d->signer);
    sotto_dh_clear(&d->secrets.pair);
    sotto_dh_clear(&d->secrets.channel);
    sotto_release(d->witnesses, ((size_t)d->options.witness_count + 1) * sizeof *d->witnesses);
    sotto_arena_clear(&d->memory);
    sotto_release(d, sizeof *d);
}

sotto_status sotto_duties_consent(sotto_duties *d, bool given, sotto_err *err)
{
    return sotto_journal_set_consent(&d->journal, given, err);
}

void sotto_duties_keys(const sotto_duties *d, sotto_duty_keys *out)
{
    memcpy(out->sign, d->signer.public_key, sizeof out->sign);
    memcpy(out->pair, d->secrets.pair.public_key, sizeof out->pair);
    memcpy(out->channel, d->secrets.channel.public_key, sizeof out->channel);
}

void sotto_duties_expect(sotto_duties *d, const sotto_duties_terms *terms)
{
    d->options.terms = *terms;
}

/* ---- what may be done -------------------------------------------------------------------------------------------- */

/* Work for others is off unless the application's policy names it and the person said yes. */
sotto_status sotto_duties_permitted(sotto_duties *d, unsigned part, sotto_err *err)
{
    bool given;

    SOTTO_TRY(sotto_journal_consent(&d->journal, &given, err));
    if (SOTTO_RULE(duties_policy) && (d->options.allowed & part) != part)
        return sotto_fail(err, SOTTO_DENIED, "the policy does not name this duty");
    if (SOTTO_RULE(duties_consent) && !given)
        return sotto_fail(err, SOTTO_DENIED, "there is no consent to duties");
    return SOTTO_OK;
}

sotto_status sotto_duties_put_share(sotto_duties *d, const uint8_t session[32], uint64_t epoch,
                                    const uint8_t share[32], sotto_err *err)
{
    SOTTO_TRY(sotto_duties_permitted(d, SOTTO_DUTY_DECRYPTOR, err));
    return sotto_journal_put_share(&d->journal, session, epoch, share, err);
}

sotto_status sotto_duties_sign_committee(sotto_duties *d, const sotto_decryptors_record *record,
                                         uint32_t place, uint8_t out[SOTTO_SIGNATURE],
                                         sotto_err *err)
{
    sotto_vow vow = {.kind = VOW_COMMITTEE, .epoch = record->epoch};
    uint8_t share[32];

    SOTTO_TRY(sotto_duties_permitted(d, SOTTO_DUTY_DECRYPTOR, err));
    SOTTO_TRY(sotto_journal_share(&d->journal, record->session, record->epoch, share, err));
    const sotto_status status = sotto_membership_check(record, place, share, err);
    sotto_wipe(share, sizeof share);
    SOTTO_TRY(status);
    sotto_decryptors_digest(record, vow.digest);
    SOTTO_TRY(sotto_journal_vow(&d->journal, record->session, &vow, err));
    SOTTO_TRY(sotto_journal_testify(&d->journal, err));
    return sotto_decryptors_sign(vow.digest, out, &d->signer, err);
}

sotto_status sotto_duties_erase_share(sotto_duties *d, const uint8_t session[32], uint64_t epoch,
                                      sotto_err *err)
{
    return sotto_journal_erase_share(&d->journal, session, epoch, err);
}

/* The policy names roles where a method has them. */
unsigned sotto_duties_needed(const sotto_method *m, unsigned part, bool vector)
{
    if (!sotto_method_entry(m))
        return part;
    if (part == SOTTO_DUTY_DECRYPTOR)
        return SOTTO_DUTY_COMMITTEE;
    return SOTTO_DUTY_VERIFIER | (vector ? SOTTO_DUTY_CONTRIBUTOR : 0u);
}

bool sotto_duties_may_answer(const sotto_duties *d, const sotto_method *method)
{
    const unsigned needed = sotto_duties_needed(method, SOTTO_DUTY_CLIENT, true);

    return (d->options.allowed & needed) == needed;
}

static sotto_status is_ours(const sotto_duties *d, const sotto_posted_round *p, uint32_t index,
                            unsigned part, sotto_err *err)
{
    const sotto_registry *r = &p->posting.registry;
    const sotto_method *m = p->method;

    if (index >= r->count || memcmp(r->keys[index], d->signer.public_key, SOTTO_SIGN_PUBLIC) != 0 ||
        (r->pair && (memcmp(r->pair[index], d->secrets.pair.public_key, 32) != 0 ||
                     memcmp(r->channel[index], d->secrets.channel.public_key, 32) != 0)))
        return sotto_fail(err, SOTTO_DENIED, "the registry has other keys at this place");
    if (!m->parts[sotto_duties_part(part)] ||
        (m->takes_part && !m->takes_part(&p->round, sotto_duties_part(part), index)))
        return sotto_fail(err, SOTTO_DENIED, "this round has no such duty for this device");
    return SOTTO_OK;
}

/* Two's complement in the round's ring. */
static sotto_status write_vector(sotto_buf *out, const sotto_round *round, const uint64_t *values,
                                 size_t count, sotto_arena *arena, sotto_err *err)
{
    const size_t width = sotto_ring_width(round->ring);

    if (count != round->length || width == 0)
        return sotto_fail(err, SOTTO_DENIED, "a vector of %zu entries; the round adds %llu", count,
                          (unsigned long long)round->length);
    SOTTO_TRY(sotto_buf_take(out, arena, count * width, err));
    for (size_t i = 0; i < count; i++)
        for (size_t b = 0; b < width; b++)
            out->data[out->len++] = (uint8_t)(values[i] >> 8 * b);
    return SOTTO_OK;
}

/* Where a round's own sizes and price decide, its machine looks at them: before anything is paid for. */
static sotto_status would_join(sotto_duties *d, const sotto_posted_round *p, uint32_t index,
                               unsigned part, sotto_err *err)
{
    const sotto_self self = sotto_duties_self(d, index, part);
    sotto_posted_round mine = *p;
    sotto_machine *machine = NULL;

    if (!p->method->account)
        return SOTTO_OK;
    mine.round.account = &mine.account;
    sotto_posted_round_own(&mine, d->options.own);
    SOTTO_TRY(p->method->parts[sotto_duties_part(part)]->join(&machine, &mine.round, &self,
                                                              &d->memory, err));
    machine->ops->leave(machine);
    return SOTTO_OK;
}

sotto_status sotto_duties_check(sotto_duties *d, const sotto_posted_round *p, uint32_t index,
                                unsigned part, sotto_err *err)
{
    SOTTO_TRY(sotto_duties_permitted(d, sotto_duties_needed(p->method, part, false), err));
    SOTTO_TRY(is_ours(d, p, index, part, err));
    SOTTO_TRY(sotto_duties_terms_check(&d->options.terms, p, err));
    SOTTO_TRY(sotto_duties_hand_over_seen(d, p, part, err));
    /* A server that picks the beacon picks the committee, and with every method who masks with whom. */
    const sotto_status status = sotto_posted_round_check_beacon(
        p, (const uint8_t(*)[SOTTO_P256_WIDE])d->witnesses, d->options.witness_count, err);
    if (SOTTO_RULE(duties_beacon) && status != SOTTO_OK)
        return status;
    return would_join(d, p, index, part, err);
}

sotto_status sotto_duties_holds(sotto_duties *d, const sotto_posted_round *p, unsigned part,
                                bool *held, sotto_err *err)
{
    return sotto_journal_holds(&d->journal, p->id, part, held, err);
}

sotto_status sotto_duties_take(sotto_duties *d, sotto_bytes posting, uint32_t index, unsigned part,
                               const uint64_t *values, size_t count, sotto_err *err)
{
    sotto_journal_duty duty = {.index = index, .part = part, .posting = posting};
    sotto_posted_round p;
    sotto_buf vector = {0};

    if (part != SOTTO_DUTY_CLIENT && part != SOTTO_DUTY_DECRYPTOR)
        return sotto_fail(err, SOTTO_BUG, "no such duty");
    sotto_arena_reset(&d->memory);
    sotto_status status = sotto_posted_round_open(&p, posting, &d->memory, err);
    if (status == SOTTO_OK)
        status = sotto_duties_check(d, &p, index, part, err);
    const bool answers = part == SOTTO_DUTY_CLIENT && status == SOTTO_OK &&
                         (values || !sotto_method_entry(p.method));
    if (answers)
        status = sotto_duties_permitted(d, sotto_duties_needed(p.method, part, true), err);
    if (answers && status == SOTTO_OK)
        status = write_vector(&vector, &p.round, values, count, &d->memory, err);
    duty.vector = sotto_buf_bytes(&vector);
    if (status == SOTTO_OK)
        status = sotto_journal_add(&d->journal, &duty, p.id, err);
    sotto_posted_round_close(&p);
    sotto_arena_reset(&d->memory);
    return status;
}

/* ---- messages ------------------------------------------------------------------------------------------------------ */

sotto_status sotto_duties_carry_to(sotto_duties *d, const char *base, const char *kind,
                                   const uint8_t *id, const char *place, const char *type,
                                   sotto_bytes body, sotto_exchange_answer *answer)
{
    char url[SOTTO_DUTIES_URL + 2 * SOTTO_ROUND_ID + 32], text[2 * SOTTO_ROUND_ID + 1];
    sotto_exchange request = {
        .size = sizeof request, .method = "POST", .url = url, .media_type = type};

    /* What leaves without it could be taken back: the journal from a copy would sign something else. */
    const sotto_status raised = sotto_journal_testify(&d->journal, NULL);
    if (SOTTO_RULE(duties_counter_first) && raised != SOTTO_OK)
        return raised;
    sotto_hex_encode(text, sotto_bytes_of(id, SOTTO_ROUND_ID));
    (void)snprintf(url, sizeof url, "%s%s%s/%s/%s", base,
                   base[0] && base[strlen(base) - 1] == '/' ? "" : "/", kind, text, place);
    return sotto_exchange_carry(&d->options.host, &request, body, answer);
}

sotto_status sotto_duties_carry(sotto_duties *d, const char *kind, const uint8_t *id,
                                const char *place, const char *type, sotto_bytes body,
                                sotto_exchange_answer *answer)
{
    return sotto_duties_carry_to(d, d->server, kind, id, place, type, body, answer);
}

/* The aggregator will never take it. Everything else, a 401 or 404 of a proxy among it, may be about the moment. */
bool sotto_duties_is_final(unsigned status)
{
    return status == 400 || status == 403 || status == 409 || status == 413 || status == 422;
}

/* Whether what waits has this device's vector in it. */
static bool carries(const sotto_posted_round *p, sotto_bytes body)
{
    sotto_reader in = sotto_reader_over(body);
    sotto_message m;

    if (!p->method->carries)
        return true;
    return sotto_message_decode(&m, sotto_read_opaque32(&in), NULL) == SOTTO_OK &&
           p->method->carries(&m);
}

/* Of a client alone: others send nothing of their own. */
static sotto_status tell(sotto_duties *d, const sotto_journal_duty *duty, const sotto_round *round,
                         sotto_duties_news news, sotto_err *err)
{
    if (!d->options.news || duty->part != SOTTO_DUTY_CLIENT)
        return SOTTO_OK;
    return d->options.news(d->options.host.context, round, news, err);
}

/* One message. *after: what waits behind it may go now; *done: it need not be sent again. */
static sotto_status send_one(sotto_duties *d, const sotto_journal_duty *duty,
                             const sotto_posted_round *p, sotto_bytes body, bool *after, bool *done,
                             sotto_err *err)
{
    uint8_t room[ANSWER];
    sotto_exchange_answer answer = {.body = sotto_buf_over(room, sizeof room)};
    const bool mine = carries(p, body);

    *after = *done = false;
    if (mine)
        SOTTO_TRY(tell(d, duty, &p->round, SOTTO_DUTIES_LEAVES, err));
    if (sotto_duties_carry(d, "rounds", p->id, "messages", SOTTO_MESSAGE_TYPE, body, &answer) !=
        SOTTO_OK)
        return SOTTO_OK;
    *done = answer.status == 204 || sotto_duties_is_final(answer.status);
    /* A server that does not take one record would else keep a complaint from the board. */
    *after = *done || sotto_method_entry(p->method);
    if (!mine || !*done)
        return SOTTO_OK;
    return tell(d, duty, &p->round, answer.status == 204 ? SOTTO_DUTIES_TAKEN : SOTTO_DUTIES_OVER,
                err);
}

/* Sends what waits, in order. *left: something is to be tried again later. Answers to questions are in the mail, and the questions stay
 * until the machine has read them. */
static sotto_status send_waiting(sotto_duties *d, const sotto_journal_duty *duty,
                                 const sotto_posted_round *p, sotto_duties_mail *mail, bool *left,
                                 sotto_err *err)
{
    int64_t row = 0;

    *left = false;
    for (;;) {
        bool found, after = true, done = false, has;
        sotto_bytes body;

        SOTTO_TRY(
            sotto_journal_waiting(&d->journal, duty->n, row, &row, &body, &found, &d->memory, err));
        if (!found)
            return SOTTO_OK;
        SOTTO_TRY(sotto_duties_server_has(d, row, &has, err));
        if (has) {
            /* It waits for witnesses alone. */
        } else if (sotto_duties_is_question(p, body)) {
            SOTTO_TRY(sotto_duties_ask(d, p, row, body, mail, &after, &done, err));
        } else {
            SOTTO_TRY(send_one(d, duty, p, body, &after, &done, err));
            if (done)
                SOTTO_TRY(sotto_duties_server_took(d, p, row, body, err));
        }
        *left = *left || !done;
        if (!after)
            return SOTTO_OK;
    }
}

/* ---- a duty ---------------------------------------------------------------------------------------------------------- */

static sotto_status end_duty(sotto_duties *d, const sotto_journal_duty *duty,
                             const sotto_posted_round *p, sotto_err *err)
{
    SOTTO_TRY(tell(d, duty, &p->round, sotto_duties_ending(p, duty), err));
    SOTTO_TRY(sotto_journal_erase_carried(&d->journal, &p->round, err));
    return sotto_journal_end(&d->journal, duty->n, err);
}

/* Fetches what is new, and runs the machine if there is a reason to. *gone: the server says that the round is over. */
static sotto_status advance(sotto_duties *d, const sotto_posted_round *p, sotto_journal_duty *duty,
                            uint64_t now_ms, bool *gone, sotto_err *err)
{
    const bool has_board = sotto_method_entry(p->method) != NULL;
    sotto_duties_mail mail = {0};
    sotto_effects effects;
    sotto_buf inbox = {0};
    bool answered = false;

    if (duty->state.len && now_ms >= p->round.opens) {
        SOTTO_TRY(sotto_duties_fetch_entries(d, p, duty, &mail, err));
        SOTTO_TRY(sotto_duties_fetch_inbox(d, duty, p, &inbox, &answered, gone, err));
    }
    if (answered)
        mail.inbox = sotto_buf_bytes(&inbox);
    /* To read a board again costs more than to see that nothing is new on it. */
    if (has_board && duty->state.len && !mail.entries.len && !mail.inbox.len && now_ms < duty->wake)
        return SOTTO_OK;
    return sotto_duties_run(d, p, duty, &mail, now_ms, &effects, err);
}

/* Sends what waits, and has the machine read the answers: it may have more to say then. */
static sotto_status converse(sotto_duties *d, const sotto_posted_round *p, sotto_journal_duty *duty,
                             uint64_t now_ms, bool *left, bool *asked, sotto_err *err)
{
    sotto_duties_mail mail = {0};
    sotto_effects effects;

    SOTTO_TRY(send_waiting(d, duty, p, &mail, left, err));
    if (!mail.answers)
        return SOTTO_OK;
    if (!duty->done)
        SOTTO_TRY(sotto_duties_run(d, p, duty, &mail, now_ms, &effects, err));
    SOTTO_TRY(sotto_duties_forget_asked(d, &mail, err));
    /* What follows from the answers goes with the next call. */
    *left = *asked = true;
    return SOTTO_OK;
}

/* How long nothing is looked for. A board is read by everybody who is registered, so those outside the committee look a few times in each phase.
 * Members wait for each other. */
static uint64_t patience(const sotto_posted_round *p, const sotto_journal_duty *duty,
                         uint64_t now_ms)
{
    const sotto_round *r = &p->round;
    const uint64_t phases[] = {r->opens, r->commit_by, r->closes, r->verify_by, r->release_by};
    uint64_t wait = 0;

    if (!sotto_method_entry(p->method) || duty->part == SOTTO_DUTY_DECRYPTOR)
        return SOTTO_DUTIES_POLL_MS;
    for (size_t i = 1; i < sizeof phases / sizeof phases[0]; i++)
        if (now_ms >= phases[i - 1] && now_ms < phases[i])
            wait = (phases[i] - phases[i - 1]) / LOOKS;
    if (duty->wake > now_ms && duty->wake - now_ms < wait)
        wait = duty->wake - now_ms;
    return wait > SOTTO_DUTIES_POLL_MS ? wait : SOTTO_DUTIES_POLL_MS;
}

static sotto_status serve_posted(sotto_duties *d, const sotto_posted_round *p,
                                 sotto_journal_duty *duty, uint64_t now_ms, uint64_t *next_ms,
                                 sotto_err *err)
{
    bool gone = false, left = true, asked = false, owed;
    sotto_status status = SOTTO_OK;

    /* First: a server that now shows this device something else does not have it forget what it found. */
    SOTTO_TRY(sotto_duties_hand(d, p, duty, &owed, err));
    if (!duty->done)
        status = advance(d, p, duty, now_ms, &gone, err);
    if (!owed || !sotto_duties_is_for_good(status))
        SOTTO_TRY(status);
    if (status == SOTTO_OK)
        SOTTO_TRY(converse(d, p, duty, now_ms, &left, &asked, err));
    if ((gone && !owed && !asked) || (duty->done && !left))
        return end_duty(d, duty, p, err);
    uint64_t next = now_ms + (asked || d->behind ? SOTTO_DUTIES_POLL_MS
                              : left             ? SOTTO_DUTIES_RETRY_MS
                                                 : patience(p, duty, now_ms));
    if (now_ms < p->round.opens && next < p->round.opens)
        next = p->round.opens;
    if (next < *next_ms)
        *next_ms = next;
    return SOTTO_OK;
}

static sotto_status serve(sotto_duties *d, sotto_journal_duty *duty, uint64_t now_ms,
                          uint64_t *next_ms, sotto_err *err)
{
    sotto_posted_round p;
    sotto_status status = sotto_posted_round_open(&p, duty->posting, &d->memory, err);

    if (status == SOTTO_OK)
        status = sotto_duties_permitted(
            d, sotto_duties_needed(p.method, duty->part, duty->vector.len != 0), err);
    sotto_posted_round_own(&p, d->options.own);
    /* Not of what was begun: a clock that is wrong for a moment erases no share of a key. */
    if (status == SOTTO_OK && duty->state.len == 0)
        status = sotto_round_check_begins(&p.round, now_ms, err);
    if (status == SOTTO_OK)
        status = now_ms < p.round.release_by ? serve_posted(d, &p, duty, now_ms, next_ms, err)
                                             : end_duty(d, duty, &p, err);
    if (sotto_duties_is_for_good(status)) {
        (void)!tell(d, duty, &p.round, SOTTO_DUTIES_OVER, NULL);
        status = sotto_duties_spoiled(d, duty, &p.round, status);
    }
    sotto_posted_round_close(&p);
    return status;
}

/* A duty that can't be done is over: nothing of it stays but its vows. */
static sotto_status serve_or_end(sotto_duties *d, sotto_journal_duty *duty, uint64_t now_ms,
                                 uint64_t *next_ms, sotto_err *err)
{
    const sotto_status status = serve(d, duty, now_ms, next_ms, err);

    if (sotto_duties_is_for_good(status))
        SOTTO_TRY(sotto_journal_end(&d->journal, duty->n, NULL));
    return status;
}

sotto_status sotto_duties_tick(sotto_duties *d, uint64_t now_ms, uint64_t *next_ms, sotto_err *err)
{
    sotto_journal_duty duty = {0};
    sotto_status first = SOTTO_OK;
    bool found;

    *next_ms = UINT64_MAX;
    SOTTO_TRY(sotto_journal_tidy(&d->journal, now_ms, err));
    first = sotto_duties_tick_keygens(d, now_ms, next_ms, err);
    for (;;) {
        const int64_t after = duty.n;

        sotto_arena_reset(&d->memory);
        duty = (sotto_journal_duty){0};
        SOTTO_TRY(sotto_journal_next(&d->journal, &duty, after, &found, &d->memory, err));
        if (!found) {
            sotto_arena_clear(&d->memory); /* a device has other things to do between ticks */
            return first;
        }
        /* A duty that fails does not keep the others from being served. */
        const sotto_status status =
            serve_or_end(d, &duty, now_ms, next_ms, first == SOTTO_OK ? err : NULL);
        if (status != SOTTO_OK && !sotto_duties_is_for_good(status) &&
            now_ms + SOTTO_DUTIES_RETRY_MS < *next_ms)
            *next_ms = now_ms + SOTTO_DUTIES_RETRY_MS;
        first = first == SOTTO_OK ? status : first;
    }
}
