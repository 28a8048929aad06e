#include "serve/aggregator/heads.h"

#include "aggregate/board_origin.h"
#include "base/alloc.h"
#include "base/arena.h"
#include "base/hex.h"
#include "base/log.h"
#include "base/rule.h"
#include "base/writer.h"
#include "serve/aggregator/aggregator.h"
#include "serve/aggregator/demands.h"
#include "serve/host/request_work.h"
#include "serve/host/router.h"
#include "serve/host/steps.h"
#include "tlog/lines.h"
#include "tlog/merkle_list.h"
#include "tlog/witness.h"

#include <stdio.h>
#include <string.h>

enum {
    LOOK_MS = 200,    /* between two looks at a board */
    ANSWER_MS = 4000, /* that a witness is waited for */
    IDLE_MS = 1000,
    DOUBLINGS = 5, /* of LOOK_MS, for a witness that goes on without a cosignature */
    ANSWER = SOTTO_DEMANDS_BYTES,
    WITHHELD = 428, /* the status of an answer with demands */
    URL = 2048,
    NOTE = SOTTO_NOTE_TEXT_MAX + (SOTTO_KEY_FILE_KEYS + 1) * SOTTO_NOTE_LINE_MAX
};

struct sotto_head {
    sotto_merkle_hash *leaves;
    uint32_t *wanted; /* of each leaf, a bit for each witness that asked for it */
    size_t count, room;
    uint64_t
        sizes[SOTTO_KEY_FILE_KEYS]; /* of the last tree that each witness cosigned, or was shown */
    uint64_t times[SOTTO_KEY_FILE_KEYS]; /* of its last cosignature, in milliseconds since 1970 */
    uint64_t later[SOTTO_KEY_FILE_KEYS]; /* before which it is not asked again */
    unsigned tries[SOTTO_KEY_FILE_KEYS]; /* in a row that brought nothing */
    bool has[SOTTO_KEY_FILE_KEYS];       /* its cosignature of that tree: not only its size */
    sotto_demands demands[SOTTO_KEY_FILE_KEYS];
    /* With the list's lock. */
    size_t note_len;
    uint8_t note[NOTE];
};

/* One question to all witnesses. */
typedef struct attempt {
    sotto_aggregator *a;
    sotto_listed_round *one;
    char origin[SOTTO_BOARD_ORIGIN + 1];
    sotto_note_key key;
    uint64_t size;
    sotto_buf note; /* as this server signed it, and then with cosignatures */
    uint8_t bytes[NOTE];
    atomic_size_t pending;
    atomic_bool goes_on; /* there is more to say to a witness, at once */
    struct asked {
        struct attempt *of;
        bool is_asked;
        unsigned http; /* 0: no answer */
        size_t len;
        uint8_t body[ANSWER];
    } asked[SOTTO_KEY_FILE_KEYS];
} attempt;

sotto_status sotto_heads_read_witnesses(sotto_aggregator *a, sotto_err *err)
{
    SOTTO_TRY(sotto_key_file_read(&a->witnesses, a->config.witnesses, err));
    for (size_t i = 0; i < a->witnesses.count; i++)
        if (a->witnesses.keys[i].kind != SOTTO_NOTE_COSIGNATURE || !a->witnesses.urls[i])
            return sotto_fail(err, SOTTO_DENIED,
                              "%.80s: key %zu is not of a witness, or has no URL",
                              a->config.witnesses, i + 1);
    return SOTTO_OK;
}

void sotto_head_free(sotto_head *head)
{
    if (!head)
        return;
    sotto_release(head->leaves, head->room * sizeof *head->leaves);
    sotto_release(head->wanted, head->room * sizeof *head->wanted);
    sotto_release(head, sizeof *head);
}

/* ---- the end of an attempt ------------------------------------------------------------------------------------------- */

static void end(sotto_aggregator *a, sotto_listed_round *one, bool at_once)
{
    const uint64_t now = sotto_aggregator_now_ms(a);

    pthread_mutex_lock(&a->lock);
    one->heading = false;
    one->next_head = at_once ? now : now + LOOK_MS;
    pthread_mutex_unlock(&a->lock);
    sotto_aggregator_let_go(a, one);
    if (a->host->steps)
        sotto_steps_wake(a->host->steps);
}

/* 409: what the witness has. After a start this server does not know it. */
static bool take_size(uint64_t *size, sotto_bytes body)
{
    sotto_bytes line;

    return sotto_tlog_line(&line, &body) && sotto_tlog_decimal(size, line);
}

/* 428: what the witness wants to see. How many of these are on the board, and are asked for by it for the first time: a witness that holds
 * records asks for each of them once. */
static unsigned take_demands(attempt *t, size_t witness, sotto_bytes body)
{
    sotto_head *head = t->one->head;
    sotto_demands *demands = &head->demands[witness];
    const uint32_t bit = (uint32_t)1 << witness;
    unsigned fresh = 0;

    head->sizes[witness] = t->size;
    head->times[witness] = 0;
    if (!sotto_demands_take(demands, body))
        return 0;
    for (size_t i = 0; i < demands->count; i++) {
        const size_t place = sotto_demands_place(head->leaves, head->count, &demands->leaves[i]);

        if (place == head->count || head->wanted[place] & bit)
            continue;
        head->wanted[place] |= bit;
        fresh++;
    }
    return fresh;
}

static bool take_line(attempt *t, sotto_writer *w, const sotto_note *own, size_t witness)
{
    const sotto_note_key *key = &t->a->witnesses.keys[witness];
    const struct asked *asked = &t->asked[witness];
    sotto_note theirs = {own->text, sotto_bytes_of(asked->body, asked->len)};
    sotto_head *head = t->one->head;
    uint64_t time = 0;
    sotto_bytes line;

    if (asked->http != 200 || !sotto_note_line_by(&line, &theirs, key))
        return false;
    sotto_write_bytes(w, line);
    head->sizes[witness] = t->size;
    head->has[witness] = true;
    head->demands[witness].count = 0;
    if (sotto_note_check(&theirs, key, &time, NULL) == SOTTO_OK)
        head->times[witness] = 1000 * time;
    return true;
}

/* A witness that asks for one thing after the other, names sizes, or does not answer, is asked ever less often; the others are not kept
 * waiting by it. */
static void take_answer(attempt *t, sotto_writer *w, const sotto_note *own, size_t witness)
{
    const struct asked *asked = &t->asked[witness];
    const sotto_bytes body = sotto_bytes_of(asked->body, asked->len);
    sotto_head *head = t->one->head;
    unsigned *tries = &head->tries[witness], fresh = 0;

    if (!asked->is_asked)
        return;
    head->has[witness] = false;
    if (asked->http == 409)
        (void)take_size(&head->sizes[witness], body);
    if (asked->http == WITHHELD)
        fresh = take_demands(t, witness, body);
    /* It holds more than it can say at once. */
    if (fresh == SOTTO_DEMANDS)
        atomic_store(&t->goes_on, true);
    if (take_line(t, w, own, witness) || fresh > 0) {
        *tries = 0;
        head->later[witness] = 0;
        return;
    }
    head->later[witness] = sotto_aggregator_now_ms(t->a) + ((uint64_t)LOOK_MS << *tries);
    *tries += *tries < DOUBLINGS;
}

static void leave(attempt *t)
{
    if (atomic_fetch_sub(&t->pending, 1) > 1)
        return;
    end(t->a, t->one, atomic_load(&t->goes_on));
    sotto_release(t, sizeof *t);
}

/* put: it held something that this server had not got. So it waits for the next look alone. */
static void on_fetched(void *context, bool put)
{
    struct asked *asked = context;
    attempt *t = asked->of;

    if (put) {
        t->one->head->later[asked - t->asked] = 0;
        t->one->head->tries[asked - t->asked] = 0;
    }
    leave(t);
}

/* What devices told witnesses alone goes on the board. */
static void fetch_all(attempt *t)
{
    const sotto_head *head = t->one->head;

    atomic_store(&t->pending, 1);
    for (size_t i = 0; i < t->a->witnesses.count; i++) {
        if (t->asked[i].http != WITHHELD)
            continue;
        atomic_fetch_add(&t->pending, 1);
        if (sotto_demands_fetch(&head->demands[i], t->a, t->one, t->a->witnesses.urls[i],
                                head->leaves, head->count, on_fetched, &t->asked[i],
                                NULL) != SOTTO_OK)
            (void)atomic_fetch_sub(&t->pending, 1);
    }
    leave(t);
}

/* What came is published: devices count whose cosignatures are on it. */
static void finish(void *context, sotto_worker *worker)
{
    attempt *t = context;
    sotto_head *head = t->one->head;
    sotto_note own;
    size_t before = t->note.len;

    (void)worker;
    if (sotto_note_decode(&own, sotto_buf_bytes(&t->note), NULL) == SOTTO_OK) {
        sotto_writer w = sotto_writer_on(&t->note);

        for (size_t i = 0; i < t->a->witnesses.count; i++)
            take_answer(t, &w, &own, i);
        if (sotto_writer_finish(&w, "head", NULL) != SOTTO_OK)
            t->note.len = before;
    }
    if (t->note.len > before) {
        pthread_mutex_lock(&t->a->lock);
        memcpy(head->note, t->note.data, t->note.len);
        head->note_len = t->note.len;
        pthread_mutex_unlock(&t->a->lock);
    } else {
        sotto_log(&t->a->host->options.log, SOTTO_LOG_WARNING, "board.not_cosigned",
                  sotto_log_uint("entries", t->size));
    }
    fetch_all(t);
}

static void one_less(attempt *t)
{
    if (atomic_fetch_sub(&t->pending, 1) > 1)
        return;
    if (sotto_pool_post(t->a->host->pool, finish, t, NULL) != SOTTO_OK)
        finish(t, NULL);
}

static void on_answer(void *context, sotto_status status, const sotto_http_response *response,
                      const sotto_err *err)
{
    struct asked *asked = context;

    (void)err;
    if (status == SOTTO_OK && response->body.len <= ANSWER) {
        asked->http = response->status;
        asked->len = response->body.len;
        memcpy(asked->body, response->body.data, asked->len);
    }
    one_less(asked->of);
}

/* ---- its beginning ----------------------------------------------------------------------------------------------------- */

static sotto_status take_leaves(sotto_head *head, const uint8_t *digests, size_t count,
                                sotto_err *err)
{
    if (head->count + count > head->room) {
        const size_t room = 2 * (head->count + count);
        sotto_merkle_hash *grown = sotto_alloc(room * sizeof *grown);
        uint32_t *wanted = sotto_alloc(room * sizeof *wanted);

        if (!grown || !wanted) {
            sotto_release(grown, grown ? room * sizeof *grown : 0);
            sotto_release(wanted, wanted ? room * sizeof *wanted : 0);
            return sotto_fail(err, SOTTO_NO_MEMORY, "the head of a board");
        }
        if (head->count) {
            memcpy(grown, head->leaves, head->count * sizeof *grown);
            memcpy(wanted, head->wanted, head->count * sizeof *wanted);
        }
        sotto_release(head->leaves, head->room * sizeof *grown);
        sotto_release(head->wanted, head->room * sizeof *wanted);
        head->leaves = grown;
        head->wanted = wanted;
        head->room = room;
    }
    if (count)
        memcpy(head->leaves + head->count, digests, count * SOTTO_MERKLE_HASH);
    head->count += count;
    return SOTTO_OK;
}

static sotto_status sign(attempt *t, const sotto_head *head, sotto_err *err)
{
    const sotto_posted_round *p = sotto_running_posted(t->one->running);
    sotto_checkpoint c = {.size = head->count};

    sotto_board_origin(t->origin, p->posting.registry.server, p->id);
    c.origin = sotto_bytes_of(t->origin, SOTTO_BOARD_ORIGIN);
    SOTTO_TRY(sotto_note_key_init(&t->key, c.origin, SOTTO_NOTE_ED25519, p->posting.registry.server,
                                  err));
    const sotto_note_signer signer = {t->key, t->a->key.signer.signer};

    sotto_merkle_list_root(&c.root, head->leaves, head->count);
    t->size = head->count;
    t->note = sotto_buf_over(t->bytes, sizeof t->bytes);
    SOTTO_TRY(sotto_checkpoint_encode(&t->note, &c, err));
    const sotto_bytes text = sotto_buf_bytes(&t->note);
    sotto_writer w = sotto_writer_on(&t->note);
    sotto_write_format(&w, "\n");
    SOTTO_TRY(sotto_writer_finish(&w, "head", err));
    return sotto_note_sign(&t->note, text, &signer, 0, err);
}

/* A witness that demands nothing is asked as any log asks. */
static sotto_status ask(attempt *t, size_t witness, sotto_arena *arena, sotto_err *err)
{
    const sotto_head *head = t->one->head;
    const sotto_demands *demands = &head->demands[witness];
    const char *base = t->a->witnesses.urls[witness];
    sotto_witness_request request = {.old = head->sizes[witness],
                                     .note = sotto_buf_bytes(&t->note)};
    sotto_buf out;
    char url[URL];

    SOTTO_TRY(sotto_buf_take(&out, arena, SOTTO_SHOWINGS + SOTTO_WITNESS_REQUEST, err));
    if (demands->count)
        SOTTO_TRY(sotto_demands_show(demands, &out, head->leaves, head->count, err));

    if (request.old > head->count)
        request.old = 0; /* it says again what it has */
    if (request.old > 0)
        sotto_merkle_list_consistency(&request.proof, head->leaves, (size_t)request.old,
                                      head->count);
    SOTTO_TRY(sotto_witness_request_encode(&out, &request, err));
    (void)snprintf(url, sizeof url, "%s%s%s", base, base[strlen(base) - 1] == '/' ? "" : "/",
                   demands->count ? "add-head" : "add-checkpoint");
    return sotto_host_call(t->a->host,
                           &(sotto_http_call){.method = SOTTO_HTTP_POST,
                                              .url = url,
                                              .body = sotto_buf_bytes(&out),
                                              .repeatable = true,
                                              .attempts = 1,
                                              .timeout_ms = ANSWER_MS,
                                              .max_response = ANSWER},
                           on_answer, &t->asked[witness], err);
}

/* When complaints were due, the board is cosigned again: members want to see that nothing is missing then (device/duties/heads.c). */
static bool is_cosigned(const sotto_aggregator *a, const sotto_listed_round *one, size_t witness)
{
    const sotto_round *round = &sotto_running_posted(one->running)->round;
    const uint64_t since = sotto_aggregator_now_ms(a) >= round->verify_by ? round->verify_by : 0;
    const sotto_head *head = one->head;

    /* After a restart a witness names the size that it cosigned, and nobody has the cosignature. Members wait for that, and the board for
     * them. */
    if (SOTTO_RULE(heads_had) && !head->has[witness])
        return false;
    return head->sizes[witness] == head->count && !head->demands[witness].count &&
           head->times[witness] >= since;
}

/* Whether it may be asked again. */
static bool is_patient(const sotto_aggregator *a, const sotto_head *head, size_t witness)
{
    if (SOTTO_RULE(heads_back_off) && head->later[witness] > sotto_aggregator_now_ms(a))
        return false;
    return true;
}

/* Whether somebody has not cosigned this tree, and may be asked. Then all others who may be are asked, too: a head has the cosignatures of
 * one attempt. */
static bool is_wanted(const sotto_aggregator *a, const sotto_listed_round *one)
{
    for (size_t i = 0; i < a->witnesses.count; i++)
        if (!is_cosigned(a, one, i) && is_patient(a, one->head, i))
            return true;
    return false;
}

static sotto_status make_head(sotto_aggregator *a, sotto_listed_round *one, sotto_err *err)
{
    if (one->head)
        return SOTTO_OK;
    sotto_head *fresh = sotto_alloc(sizeof *fresh);
    if (!fresh)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the head of a board");
    pthread_mutex_lock(&a->lock);
    one->head = fresh;
    pthread_mutex_unlock(&a->lock);
    return SOTTO_OK;
}

static sotto_status grow(sotto_aggregator *a, sotto_listed_round *one, sotto_arena *arena,
                         bool *asking, sotto_err *err)
{
    const uint8_t *digests, *id = sotto_running_posted(one->running)->id;
    size_t count;

    *asking = false;
    SOTTO_TRY(make_head(a, one, err));
    SOTTO_TRY(
        sotto_board_store_leaves(a->host->db, id, one->head->count, &digests, &count, arena, err));
    SOTTO_TRY(take_leaves(one->head, digests, count, err));
    if (one->head->count == 0 || !is_wanted(a, one))
        return SOTTO_OK;
    attempt *t = sotto_alloc(sizeof *t);
    if (!t)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the head of a board");
    t->a = a;
    t->one = one;
    const sotto_status status = sign(t, one->head, err);
    if (status != SOTTO_OK) {
        sotto_release(t, sizeof *t);
        return status;
    }
    *asking = true;
    const size_t witnesses = a->witnesses.count;
    atomic_store(&t->pending, witnesses + 1); /* this function has one of them */
    for (size_t i = 0; i < witnesses; i++) {
        t->asked[i].of = t;
        t->asked[i].is_asked = is_patient(a, one->head, i);
        if (!t->asked[i].is_asked || ask(t, i, arena, NULL) != SOTTO_OK)
            one_less(t);
    }
    one_less(t);
    return SOTTO_OK;
}

static void look(void *context, sotto_worker *worker)
{
    sotto_listed_round *one = context;
    bool asking;

    if (grow(one->of, one, worker->arena, &asking, NULL) != SOTTO_OK || !asking)
        end(one->of, one, false);
}

uint64_t sotto_head_begin(sotto_aggregator *a, sotto_listed_round *one, uint64_t now)
{
    if (a->witnesses.count == 0 || one->heading ||
        !sotto_method_entry(sotto_running_posted(one->running)->method))
        return IDLE_MS;
    if (one->next_head > now)
        return one->next_head - now;
    one->heading = true;
    one->users++;
    if (sotto_pool_post(a->host->pool, look, one, NULL) != SOTTO_OK) {
        one->heading = false;
        one->users--;
    }
    return LOOK_MS;
}

/* ---- for everybody ------------------------------------------------------------------------------------------------------ */

void sotto_aggregator_get_head(void *state, sotto_http_request *request, sotto_arena *arena)
{
    sotto_aggregator *a = state;
    uint8_t id[SOTTO_ROUND_ID], *note = sotto_arena_take(arena, NOTE);
    size_t len = 0;

    if (note && sotto_hex_decode(id, sizeof id, sotto_route_segment(a->host, request, 1))) {
        pthread_mutex_lock(&a->lock);
        const sotto_listed_round *one = sotto_aggregator_find(a, id);
        if (one && one->head) {
            len = one->head->note_len;
            memcpy(note, one->head->note, len);
        }
        pthread_mutex_unlock(&a->lock);
    }
    if (len == 0)
        sotto_aggregator_refuse(a, request, note ? SOTTO_MISSING : SOTTO_NO_MEMORY);
    else
        sotto_request_answer(request, 200, "text/plain; charset=utf-8", sotto_bytes_of(note, len));
}
