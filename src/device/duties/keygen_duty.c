/* A device in a committee that makes its key, or takes it over: what it says in each step is stored, and then sent. */
#include "aggregate/inbox.h"
#include "aggregate/keygen/keygen.h"
#include "base/arena.h"
#include "base/rule.h"
#include "device/duties/inside.h"
#include "device/duties/journal_keygen.h"
#include "sotto/random.h"

#include <string.h>

#define ROOM ((size_t)5 << 20) /* of an answer with many posts */

enum { FIRST = 64 << 10, ANSWER = 4096, HEAD = 1 + 4, FRAME = 12, FETCHES = 8 };
#define SOON_MS ((uint64_t)7 * 24 * 3600 * 1000)

enum { VOW_KEYGEN = 0x8001, VOW_HAND_OVER = 0x8002 }; /* beside the kinds of methods */

/* ---- joining ------------------------------------------------------------------------------------------------------ */

static sotto_status check_terms(const sotto_duties *d, const sotto_keygen *k, uint64_t now_ms,
                                sotto_err *err)
{
    const sotto_duties_terms *t = &d->options.terms;
    uint8_t root[32];

    sotto_registry_root(&k->posting.registry, root);
    if (SOTTO_RULE(duties_keygen_registry) && memcmp(root, t->registry, sizeof root) != 0)
        return sotto_fail(err, SOTTO_DENIED, "terms: the committee is of another registry");
    if (SOTTO_RULE(duties_keygen_committee) && (t->committee == 0 || k->count < t->committee))
        return sotto_fail(err, SOTTO_DENIED, "terms: a committee of %u; at least %u", k->count,
                          t->committee);
    /* It is asked after until then, and its posts are kept. */
    if (SOTTO_RULE(duties_keygen_soon) && k->ends > now_ms && k->ends - now_ms > SOON_MS)
        return sotto_fail(err, SOTTO_DENIED, "a key generation that ends in more than 7 days");
    return SOTTO_OK;
}

static sotto_status is_ours(const sotto_duties *d, const sotto_keygen *k, uint32_t index,
                            sotto_err *err)
{
    const sotto_registry *r = &k->posting.registry;

    if (index >= r->count || memcmp(r->keys[index], d->signer.public_key, SOTTO_SIGN_PUBLIC) != 0 ||
        memcmp(r->channel[index], d->secrets.channel.public_key, 32) != 0)
        return sotto_fail(err, SOTTO_DENIED, "the registry has other keys at this place");
    if (sotto_keygen_place(k, SOTTO_KEYGEN_DEAL, index) < 0 &&
        sotto_keygen_place(k, SOTTO_KEYGEN_AGREE, index) < 0)
        return sotto_fail(err, SOTTO_DENIED, "this committee has no place for this device");
    return SOTTO_OK;
}

/* One key for an epoch; and a share goes to one committee. */
static size_t vows_of(sotto_vow vows[2], const sotto_keygen *k, uint32_t index)
{
    size_t count = 0;

    if (sotto_keygen_place(k, SOTTO_KEYGEN_AGREE, index) >= 0)
        vows[count++] = (sotto_vow){.kind = VOW_KEYGEN, .epoch = k->epoch};
    if (SOTTO_RULE(duties_share_goes_once) && k->hands_on &&
        sotto_keygen_place(k, SOTTO_KEYGEN_DEAL, index) >= 0)
        vows[count++] = (sotto_vow){.kind = VOW_HAND_OVER, .epoch = k->old.epoch};
    for (size_t i = 0; i < count; i++)
        memcpy(vows[i].digest, k->id, sizeof vows[i].digest);
    return count;
}

static sotto_status join(sotto_duties *d, sotto_bytes call, uint32_t index, uint64_t now_ms,
                         sotto_err *err)
{
    sotto_journal_keygen row = {.index = index, .call = call};
    sotto_vow vows[2];
    sotto_keygen k;

    SOTTO_TRY(sotto_keygen_open(&k, call, &d->memory, err));
    SOTTO_TRY(is_ours(d, &k, index, err));
    SOTTO_TRY(check_terms(d, &k, now_ms, err));
    SOTTO_TRY(sotto_keygen_verify(&k, (const uint8_t(*)[SOTTO_P256_WIDE])d->witnesses,
                                  d->options.witness_count, &d->memory, err));
    memcpy(row.id, k.id, sizeof row.id);
    SOTTO_TRY(sotto_random_bytes(row.seed, sizeof row.seed, err));
    const sotto_status status =
        sotto_journal_keygen_add(&d->journal, &row, k.session, vows, vows_of(vows, &k, index), err);
    sotto_wipe(row.seed, sizeof row.seed);
    return status;
}

sotto_status sotto_duties_join_keygen(sotto_duties *d, sotto_bytes call, uint32_t index,
                                      uint64_t now_ms, sotto_err *err)
{
    SOTTO_TRY(sotto_duties_permitted(d, SOTTO_DUTY_DECRYPTOR, err));
    sotto_arena_reset(&d->memory);
    const sotto_status status = join(d, call, index, now_ms, err);
    sotto_arena_reset(&d->memory);
    return status;
}

/* ---- the board ------------------------------------------------------------------------------------------------------ */

typedef struct turn {
    sotto_duties *d;
    const sotto_keygen *k;
    sotto_journal_keygen *row;
    uint64_t posts; /* that the server says there are */
} turn;

static sotto_status ask_board(const turn *u, sotto_exchange_answer *answer, bool *answered,
                              sotto_err *err)
{
    static const size_t rooms[] = {FIRST, ROOM};
    uint8_t since[8];
    sotto_buf body = sotto_buf_over(since, sizeof since);
    sotto_writer w = sotto_writer_on(&body);
    sotto_status status = SOTTO_TOO_LARGE;

    sotto_write_uint(&w, u->row->since, 8);
    SOTTO_TRY(sotto_writer_finish(&w, "board", err));
    for (size_t i = 0; i < 2 && status == SOTTO_TOO_LARGE; i++) {
        SOTTO_TRY(sotto_buf_take(&answer->body, &u->d->memory, rooms[i], err));
        status = sotto_duties_carry(u->d, "keygens", u->row->id, "board", SOTTO_KEYGEN_SINCE_TYPE,
                                    sotto_buf_bytes(&body), answer);
    }
    *answered = status == SOTTO_OK && answer->status == 200 && answer->body.len >= HEAD;
    return SOTTO_OK;
}

/* What is not signed by who speaks there is skipped. */
static sotto_status store_posts(turn *u, unsigned step, sotto_bytes board, sotto_err *err)
{
    sotto_inbox inbox = {.left = board, .since = u->row->since};
    /* A post that was checked has a signature. */
    sotto_journal_post *posts = sotto_arena_take_array(
        &u->d->memory, board.len / (FRAME + SOTTO_SIGNATURE) + 1, sizeof *posts);
    sotto_bytes wire;
    size_t count = 0;
    uint64_t n;

    if (!posts)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a board");
    /* A step that is over does not come back. */
    if (step > u->row->step && step <= SOTTO_KEYGEN_OVER)
        u->row->step = step;
    while (sotto_inbox_next(&inbox, &n, &wire)) {
        sotto_keygen_post post;

        if (sotto_keygen_post_decode(&post, wire, NULL) == SOTTO_OK &&
            sotto_keygen_post_check(u->k, &post, NULL) == SOTTO_OK)
            posts[count++] = (sotto_journal_post){post.step, post.place, wire};
    }
    u->row->since = inbox.since;
    return sotto_journal_keygen_see(&u->d->journal, u->row, posts, count, err);
}

/* *whole: everything that the server has was seen. */
static sotto_status look(turn *u, bool *whole, sotto_err *err)
{
    *whole = false;
    for (unsigned i = 0; i < FETCHES && !*whole; i++) {
        const unsigned step = u->row->step;
        const uint64_t since = u->row->since;
        sotto_exchange_answer answer = {0};
        bool answered;

        SOTTO_TRY(ask_board(u, &answer, &answered, err));
        if (!answered)
            return SOTTO_OK;
        sotto_reader head = sotto_reader_over(sotto_buf_bytes(&answer.body));
        const unsigned open = (unsigned)sotto_read_uint(&head, 1);
        u->posts = sotto_read_uint(&head, 4);
        /* A poll that brought nothing costs no write. */
        if (answer.body.len > HEAD || open != step)
            SOTTO_TRY(store_posts(
                u, open, sotto_bytes_of(answer.body.data + HEAD, answer.body.len - HEAD), err));
        *whole = u->row->since >= u->posts;
        if (u->row->since == since)
            return SOTTO_OK;
    }
    return SOTTO_OK;
}

/* ---- what it says ------------------------------------------------------------------------------------------------------ */

/* The share is in the journal before anybody hears of it. After a crash it is there already, the same. */
static sotto_status keep_share(sotto_duties *d, const sotto_keygen *k, const uint8_t share[32],
                               sotto_err *err)
{
    uint8_t there[32];

    const sotto_status status = sotto_journal_share(&d->journal, k->session, k->epoch, there, NULL);
    if (status == SOTTO_MISSING)
        return sotto_journal_put_share(&d->journal, k->session, k->epoch, share, err);
    SOTTO_TRY(status);
    const bool same =
        sotto_bytes_equal(sotto_bytes_of(there, sizeof there), sotto_bytes_of(share, sizeof there));
    sotto_wipe(there, sizeof there);
    return same ? SOTTO_OK
                : sotto_fail(err, SOTTO_DENIED, "a share of this epoch was taken before");
}

static sotto_status write_record(const turn *u, const sotto_keygen_self *self,
                                 const sotto_keygen_board *board, sotto_buf *out, sotto_err *err)
{
    const int place = sotto_keygen_place(u->k, SOTTO_KEYGEN_RECORD, self->index);
    sotto_decryptors_record record;
    uint8_t share[32];
    sotto_status status =
        sotto_keygen_finish(u->k, self, board, &record, share, &u->d->memory, err);

    if (status == SOTTO_OK)
        status = keep_share(u->d, u->k, share, err);
    sotto_wipe(share, sizeof share);
    if (status == SOTTO_OK)
        status = sotto_duties_sign_committee(u->d, &record, (uint32_t)place, out->data, err);
    if (status == SOTTO_OK)
        out->len = SOTTO_SIGNATURE;
    return status;
}

static sotto_status write_post(const turn *u, const sotto_keygen_board *board, sotto_buf *wire,
                               sotto_err *err)
{
    const unsigned step = u->row->step;
    sotto_keygen_self self = {
        .index = u->row->index, .seed = u->row->seed, .channel = &u->d->secrets.channel};
    sotto_keygen_post post = {.step = step};
    uint8_t share[32];
    sotto_buf body;

    SOTTO_TRY(sotto_buf_take(&body, &u->d->memory, SOTTO_KEYGEN_MOST_BODY, err));
    if (u->k->hands_on && sotto_keygen_place(u->k, SOTTO_KEYGEN_DEAL, self.index) >= 0 &&
        sotto_journal_share(&u->d->journal, u->k->session, u->k->old.epoch, share, NULL) ==
            SOTTO_OK)
        self.share = share;
    sotto_status status =
        step == SOTTO_KEYGEN_RECORD
            ? write_record(u, &self, board, &body, err)
            : sotto_keygen_write(u->k, &self, step, board, &body, &u->d->memory, err);
    sotto_wipe(share, sizeof share);
    SOTTO_TRY(status);
    post.place = (uint32_t)sotto_keygen_place(u->k, step, self.index);
    post.body = sotto_buf_bytes(&body);
    SOTTO_TRY(sotto_keygen_post_sign(u->k, &post, &u->d->signer, err));
    SOTTO_TRY(sotto_buf_take(wire, &u->d->memory, SOTTO_KEYGEN_MOST_POST, err));
    return sotto_keygen_post_encode(wire, &post, err);
}

/* Once in each step. */
static sotto_status speak(const turn *u, const sotto_keygen_board *board, sotto_err *err)
{
    const unsigned step = u->row->step;
    sotto_buf wire;
    bool said;

    if (step < SOTTO_KEYGEN_DEAL || step >= SOTTO_KEYGEN_OVER ||
        sotto_keygen_place(u->k, step, u->row->index) < 0)
        return SOTTO_OK;
    /* A hand-over has no such steps, whatever the server says. */
    if (u->k->hands_on && step > SOTTO_KEYGEN_AGREE && step < SOTTO_KEYGEN_RECORD)
        return SOTTO_OK;
    SOTTO_TRY(sotto_journal_keygen_said(&u->d->journal, u->row->n, step, &said, err));
    if (said)
        return SOTTO_OK;
    const sotto_status status = write_post(u, board, &wire, err);
    /* Who has nothing to hand on may still take over. Who can't take over, or may not answer so many complaints, still has a
     * share to erase once others have the key. */
    const bool dealt =
        u->k->hands_on && sotto_keygen_place(u->k, SOTTO_KEYGEN_DEAL, u->row->index) >= 0;
    if (SOTTO_RULE(duties_dealer_stays) && dealt && status == SOTTO_DENIED)
        return SOTTO_AGAIN;
    SOTTO_TRY(status);
    return sotto_journal_keygen_say(&u->d->journal, u->row->n, step, sotto_buf_bytes(&wire), err);
}

static sotto_status send(const turn *u, bool *left, sotto_err *err)
{
    for (;;) {
        uint8_t room[ANSWER];
        sotto_exchange_answer answer = {.body = sotto_buf_over(room, sizeof room)};
        sotto_bytes wire;
        unsigned step;

        SOTTO_TRY(sotto_journal_keygen_waiting(&u->d->journal, u->row->n, &step, &wire, left,
                                               &u->d->memory, err));
        if (!*left)
            return SOTTO_OK;
        if (sotto_duties_carry(u->d, "keygens", u->row->id, "posts", SOTTO_KEYGEN_POST_TYPE, wire,
                               &answer) != SOTTO_OK ||
            (answer.status != 204 && !sotto_duties_is_final(answer.status)))
            return SOTTO_OK;
        SOTTO_TRY(sotto_journal_keygen_sent(&u->d->journal, u->row->n, step, err));
    }
}

/* ---- a turn ---------------------------------------------------------------------------------------------------------------- */

/* The share that was handed on goes once a quorum of those who have the key now signed for it. */
static sotto_status hand_over(const turn *u, const sotto_keygen_board *board, sotto_err *err)
{
    sotto_decryptors_record record;

    if (!u->k->hands_on || sotto_keygen_place(u->k, SOTTO_KEYGEN_DEAL, u->row->index) < 0)
        return SOTTO_OK;
    const sotto_status status = sotto_keygen_record(u->k, board, &record, &u->d->memory, NULL);
    if (SOTTO_RULE(duties_handed_over) && status != SOTTO_OK)
        return SOTTO_OK; /* nobody else has it */
    return sotto_journal_erase_share(&u->d->journal, u->k->session, u->k->old.epoch, err);
}

static sotto_status take_turn(turn *u, uint64_t now_ms, uint64_t *next_ms, sotto_err *err)
{
    sotto_keygen_board *board = sotto_arena_take(&u->d->memory, sizeof *board);
    bool whole, left;

    if (!board)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a board");
    SOTTO_TRY(send(u, &left, err));
    SOTTO_TRY(look(u, &whole, err));
    if (whole) {
        SOTTO_TRY(sotto_journal_keygen_board(&u->d->journal, u->row->n, board, &u->d->memory, err));
        const sotto_status status = speak(u, board, err);
        if (status != SOTTO_OK && status != SOTTO_AGAIN)
            return status;
        SOTTO_TRY(send(u, &left, err));
    }
    if (whole && u->row->step == SOTTO_KEYGEN_OVER) {
        SOTTO_TRY(hand_over(u, board, err));
        return sotto_journal_keygen_end(&u->d->journal, u->row->n, err);
    }
    const uint64_t next = now_ms + (left ? SOTTO_DUTIES_RETRY_MS : SOTTO_DUTIES_POLL_MS);
    if (next < *next_ms)
        *next_ms = next;
    return SOTTO_OK;
}

/* Its time is over. Who slept until now may still learn that others have the key. */
static sotto_status leave(turn *u, sotto_err *err)
{
    if (u->k->hands_on && sotto_keygen_place(u->k, SOTTO_KEYGEN_DEAL, u->row->index) >= 0) {
        sotto_keygen_board *board = sotto_arena_take(&u->d->memory, sizeof *board);
        bool whole;

        if (!board)
            return sotto_fail(err, SOTTO_NO_MEMORY, "a board");
        SOTTO_TRY(look(u, &whole, err));
        SOTTO_TRY(sotto_journal_keygen_board(&u->d->journal, u->row->n, board, &u->d->memory, err));
        SOTTO_TRY(hand_over(u, board, err));
    }
    return sotto_journal_keygen_end(&u->d->journal, u->row->n, err);
}

static sotto_status serve(sotto_duties *d, sotto_journal_keygen *row, uint64_t now_ms,
                          uint64_t *next_ms, sotto_err *err)
{
    sotto_keygen k;
    turn u = {.d = d, .k = &k, .row = row};

    SOTTO_TRY(sotto_duties_permitted(d, SOTTO_DUTY_DECRYPTOR, err));
    SOTTO_TRY(sotto_keygen_open(&k, row->call, &d->memory, err));
    return now_ms < k.ends ? take_turn(&u, now_ms, next_ms, err) : leave(&u, err);
}

static sotto_status serve_all(sotto_duties *d, sotto_journal_keygen *row, uint64_t now_ms,
                              uint64_t *next_ms, sotto_err *err)
{
    sotto_status first = SOTTO_OK;
    bool found;

    for (;;) {
        const int64_t after = row->n;

        sotto_arena_reset(&d->memory);
        SOTTO_TRY(sotto_journal_keygen_next(&d->journal, row, after, &found, &d->memory, err));
        if (!found)
            return first;
        const sotto_status status = serve(d, row, now_ms, next_ms, first == SOTTO_OK ? err : NULL);
        /* It can't go on: nothing of it stays but its vows. */
        if (sotto_duties_is_for_good(status))
            SOTTO_TRY(sotto_journal_keygen_end(&d->journal, row->n, NULL));
        else if (status != SOTTO_OK && now_ms + SOTTO_DUTIES_RETRY_MS < *next_ms)
            *next_ms = now_ms + SOTTO_DUTIES_RETRY_MS;
        first = first == SOTTO_OK ? status : first;
    }
}

sotto_status sotto_duties_tick_keygens(sotto_duties *d, uint64_t now_ms, uint64_t *next_ms,
                                       sotto_err *err)
{
    sotto_journal_keygen row = {0};
    const sotto_status status = serve_all(d, &row, now_ms, next_ms, err);

    sotto_wipe(row.seed, sizeof row.seed);
    return status;
}
