#include "serve/aggregator/running.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/hex.h"
#include "base/log.h"
#include "base/rule.h"
#include "serve/aggregator/carried_store.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define MEMORY  ((size_t)2 << 30) /* of a machine with all that its participants said */
#define SCRATCH ((size_t)1 << 30) /* of one step */

enum { RETRY_MS = 1000, TRIES = 3 };

struct sotto_running {
    sotto_running_context context;
    sotto_arena posting; /* the posting, for the round's life */
    sotto_posted_round posted;
    const sotto_machine_ops *ops;
    size_t most_body;

    pthread_mutex_t lock; /* over what follows */
    sotto_arena memory;   /* the machine's */
    sotto_arena scratch;  /* of one step */
    sotto_machine *machine;
    sotto_tally tally;
    sotto_board board;
    void *piece; /* one vector as it arrives */
    int64_t version, kept, sent;
    uint64_t stored;   /* contributions in the sum that is on disk */
    uint8_t *reported; /* a bit for each registered client whose vector is in the sum */

    atomic_uint_fast64_t wake;
    atomic_bool over;
    sotto_put_queue puts;
};

static uint64_t now_ms(const sotto_running *r)
{
    return sotto_clock_wall(r->context.clock) / 1000000;
}

static uint64_t monotonic_ms(const sotto_running *r)
{
    return sotto_clock_monotonic(r->context.clock) / 1000000;
}

static size_t reported_bytes(const sotto_running *r)
{
    return (size_t)(r->posted.round.registered + 7) / 8;
}

/* ---- up and down ------------------------------------------------------------------------------------------- */

static size_t most_body(const sotto_posted_round *p)
{
    size_t most = 0;

    for (size_t i = 0; i < p->method->kind_count; i++) {
        const sotto_kind *k = &p->method->kinds[i];
        const size_t all = 4 + SOTTO_MESSAGE_HEAD + 1 + SOTTO_SIGNATURE + k->most +
                           (k->has_bulk ? p->method->tally->size(&p->round) : 0);

        if ((k->to == SOTTO_PART_SERVER || k->to == SOTTO_PART_BOARD) && all > most)
            most = all;
    }
    return most;
}

/* Sizes and budgets protect devices, which look at them before they join. This server is not who is protected. */
static const sotto_aero_account unprotected = {.is_trial = true};

static sotto_status start(sotto_running *r, sotto_bytes wire, sotto_err *err)
{
    uint8_t *copy = sotto_arena_take(&r->posting, wire.len + 1);

    if (!copy)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a round");
    if (wire.len)
        memcpy(copy, wire.data, wire.len);
    SOTTO_TRY(
        sotto_posted_round_open(&r->posted, sotto_bytes_of(copy, wire.len), &r->posting, err));
    sotto_posted_round_own(&r->posted, &unprotected);
    sotto_board_init(&r->board, r->posted.method);
    r->ops = r->posted.method->parts[SOTTO_PART_SERVER];
    if (SOTTO_RULE(aggregator_own_rounds) &&
        memcmp(r->posted.posting.registry.server, r->context.signer->public_key,
               SOTTO_SIGN_PUBLIC) != 0)
        return sotto_fail(err, SOTTO_DENIED, "the registry names another server");
    r->reported = sotto_arena_take(&r->posting, reported_bytes(r));
    const sotto_bulk_ops *bulk = r->posted.method->bulk;
    r->piece = sotto_arena_take(&r->posting, bulk ? bulk->state_size(&r->posted.round) : 1);
    if (!r->reported || !r->piece)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a round");
    r->most_body = most_body(&r->posted);
    return SOTTO_OK;
}

sotto_status sotto_running_new(sotto_running **out, const sotto_running_context *c,
                               sotto_bytes wire, sotto_err *err)
{
    sotto_running *r = sotto_alloc(sizeof *r);

    *out = NULL;
    if (!r)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a round");
    r->context = *c;
    sotto_arena_init(&r->posting, MEMORY);
    sotto_arena_init(&r->memory, MEMORY);
    sotto_arena_init(&r->scratch, SCRATCH);
    pthread_mutex_init(&r->lock, NULL);
    sotto_put_queue_init(&r->puts);
    const sotto_status status = start(r, wire, err);
    if (status != SOTTO_OK)
        sotto_running_free(r);
    else
        *out = r;
    return status;
}

/* What is in memory is behind the database, or ahead of it: the database is right. */
static void forget(sotto_running *r)
{
    if (r->machine)
        r->ops->leave(r->machine);
    r->machine = NULL;
    sotto_arena_reset(&r->memory);
}

void sotto_running_free(sotto_running *r)
{
    if (!r)
        return;
    sotto_put_queue_clear(&r->puts);
    forget(r);
    sotto_posted_round_close(&r->posted);
    sotto_arena_clear(&r->posting);
    sotto_arena_clear(&r->memory);
    sotto_arena_clear(&r->scratch);
    pthread_mutex_destroy(&r->lock);
    sotto_release(r, sizeof *r);
}

const sotto_posted_round *sotto_running_posted(const sotto_running *r)
{
    return &r->posted;
}

size_t sotto_running_most_body(const sotto_running *r)
{
    return r->most_body;
}

uint64_t sotto_running_wake(sotto_running *r)
{
    const uint64_t wake = atomic_load(&r->wake),
                   wait = sotto_put_queue_wait(&r->puts, monotonic_ms(r)), now = now_ms(r);

    return wait == UINT64_MAX || wake <= now || wake - now <= wait ? wake : now + wait;
}

bool sotto_running_is_over(const sotto_running *r)
{
    return atomic_load(&r->over);
}

sotto_put_queue *sotto_running_puts(sotto_running *r)
{
    return &r->puts;
}

/* ---- memory ------------------------------------------------------------------------------------------------- */

static sotto_status restore(sotto_running *r, const sotto_stored_round *s, sotto_err *err)
{
    const sotto_method *method = r->posted.method;
    sotto_self self = {
        .part = SOTTO_PART_SERVER, .index = SOTTO_TO_SERVER, .keys = r->context.signer};

    SOTTO_TRY(
        sotto_carried_load(r->context.db, r->posted.round.session, &self.carried, &r->memory, err));
    SOTTO_TRY(method->tally->init(&r->tally, &r->posted.round, &r->memory, err));
    if (s->state.len == 0)
        return r->ops->join(&r->machine, &r->posted.round, &self, &r->memory, err);
    SOTTO_TRY(method->tally->decode(&r->tally, s->tally, s->contributions, err));
    for (size_t i = 0; i < s->kept_count; i++)
        if (s->kept[i].bulk_len && s->kept[i].from < r->posted.round.registered)
            r->reported[s->kept[i].from / 8] |= (uint8_t)(1u << s->kept[i].from % 8);
    return r->ops->restore(&r->machine, &r->posted.round, &self, s->state, s->kept, s->kept_count,
                           &r->memory, err);
}

/* The machine as it was stored last. *fresh: it was not in memory, and wants a tick. */
static sotto_status remember(sotto_running *r, bool *fresh, sotto_err *err)
{
    sotto_stored_round stored;

    *fresh = r->machine == NULL;
    if (!*fresh)
        return SOTTO_OK;
    memset(r->reported, 0, reported_bytes(r));
    SOTTO_TRY(sotto_round_store_load(r->context.db, r->context.keys, r->posted.id, &stored,
                                     &r->memory, err));
    if (stored.outcome != SOTTO_ROUND_RUNS) {
        atomic_store(&r->over, true);
        atomic_store(&r->wake, UINT64_MAX);
        return sotto_fail(err, SOTTO_STALE, "the round is over");
    }
    r->version = stored.version;
    r->stored = stored.contributions;
    r->kept = (int64_t)stored.kept_count;
    r->sent = stored.sent;
    r->board.count = stored.board;
    return restore(r, &stored, err);
}

/* ---- the end -------------------------------------------------------------------------------------------------- */

static sotto_status blamed_list(sotto_running *r, const sotto_round_result *result, sotto_buf *out,
                                sotto_err *err)
{
    SOTTO_TRY(sotto_buf_take(out, &r->scratch, 4 * result->blamed_count, err));
    sotto_writer w = sotto_writer_on(out);
    for (size_t i = 0; i < result->blamed_count; i++)
        sotto_write_uint(&w, result->blamed[i], 4);
    return sotto_writer_finish(&w, "blamed", err);
}

static sotto_status open_sum(sotto_running *r, const sotto_round_result *result, sotto_vector *sum,
                             sotto_err *err)
{
    const sotto_method *method = r->posted.method;
    sotto_buf masked;

    SOTTO_TRY(sotto_buf_take(&masked, &r->scratch, method->tally->size(&r->posted.round), err));
    SOTTO_TRY(method->tally->encode(&r->tally, &masked, err));
    const sotto_bytes parts[] = {sotto_buf_bytes(&masked), result->opening};
    /* The masks that were opened are those of exactly the vectors that are in the sum. */
    if (method->bulk && result->contributions != r->tally.contributions)
        return sotto_fail(err, SOTTO_BUG, "%llu vectors in the sum, %llu unmasked",
                          (unsigned long long)r->tally.contributions,
                          (unsigned long long)result->contributions);
    return method->tally->open(sum, &r->posted.round, parts, 2, result->contributions, &r->scratch,
                               err);
}

static void note_end(const sotto_running *r, const sotto_round_end *end)
{
    char id[2 * SOTTO_ROUND_ID + 1];

    sotto_hex_encode(id, sotto_bytes_of(r->posted.id, SOTTO_ROUND_ID));
    sotto_log(r->context.log, SOTTO_LOG_INFO, "round.over", sotto_log_text("round", id),
              sotto_log_uint("contributions", end->contributions),
              sotto_log_uint("released", end->outcome == SOTTO_ROUND_RELEASED));
}

/* The machine is done: the sum is opened and stored, and all else of the round is erased. reason: empty after a restart. */
static sotto_status end_round(sotto_running *r, const char *reason, sotto_err *err)
{
    sotto_round_result result = {0};
    sotto_err why = {0};
    const sotto_status released = r->ops->result(r->machine, &result, &why);
    sotto_round_end end = {.id = r->posted.id,
                           .version = r->version,
                           .outcome = SOTTO_ROUND_BURNT,
                           .contributions = r->tally.contributions,
                           .reason = reason[0] ? reason : why.reason,
                           .reported = sotto_bytes_of(r->reported, reported_bytes(r))};
    sotto_vector sum;
    sotto_buf blamed;

    if (released == SOTTO_AGAIN)
        return SOTTO_OK;
    SOTTO_TRY(blamed_list(r, &result, &blamed, err));
    end.blamed = sotto_buf_bytes(&blamed);
    for (size_t i = 0; result.counted && i < result.counted_count; i++)
        r->reported[result.counted[i] / 8] |= (uint8_t)(1u << result.counted[i] % 8);
    if (released == SOTTO_OK) {
        SOTTO_TRY(open_sum(r, &result, &sum, err));
        end.outcome = SOTTO_ROUND_RELEASED;
        end.contributions = result.contributions;
        end.sum = sotto_vector_bytes(&sum);
    }
    SOTTO_TRY(sotto_round_store_end(r->context.db, r->context.keys, &end, &r->scratch, err));
    atomic_store(&r->over, true);
    atomic_store(&r->wake, UINT64_MAX);
    note_end(r, &end);
    forget(r);
    return SOTTO_OK;
}

/* ---- a step ---------------------------------------------------------------------------------------------------- */

static sotto_status take_bulk(sotto_running *r, const sotto_message *m, sotto_bytes bulk)
{
    const sotto_bulk_ops *ops = r->posted.method->bulk;

    if (m->bulk_len != bulk.len)
        return SOTTO_MALFORMED;
    if (bulk.len == 0)
        return SOTTO_OK;
    if (!ops)
        return SOTTO_MALFORMED;
    SOTTO_TRY(ops->begin(r->piece, &r->posted.round, m, NULL));
    SOTTO_TRY(ops->feed(r->piece, 0, bulk, NULL));
    return ops->finish(r->piece, NULL);
}

/* Entries come from this server's own board, and from nobody else. */
static sotto_status check(sotto_running *r, const sotto_message *m, const sotto_kind *kind)
{
    if (SOTTO_RULE(aggregator_own_entries) && kind->from == SOTTO_PART_BOARD)
        return SOTTO_REJECTED;
    return kind->to == SOTTO_PART_BOARD
               ? sotto_message_judge(m, &r->posted.round, r->posted.method, NULL)
               : r->ops->check(&r->posted.round, m, &r->scratch, NULL);
}

static sotto_status put_on_board(sotto_running *r, sotto_put *put, const sotto_message *m,
                                 sotto_effects *effects, sotto_err *err)
{
    put->status = sotto_board_admit(&r->board, r->context.db, r->posted.id, m->from, put->message,
                                    put->witnesses, &put->is_known, NULL);
    if (put->status == SOTTO_TOO_LARGE || put->is_known)
        return SOTTO_OK;
    if (put->status != SOTTO_OK)
        return sotto_fail(err, put->status, "the board");
    return sotto_board_put(&r->board, &r->posted, m, r->machine, effects, err);
}

/* The machine says it from what it has: nothing changes, and the same question has the same answer. */
static sotto_status answer(sotto_running *r, sotto_put *put, const sotto_message *m, sotto_err *err)
{
    sotto_effects effects;
    size_t size = 0;

    sotto_effects_init(&effects, &r->scratch);
    SOTTO_TRY(r->ops->deliver(r->machine, m, 1, &put->status, &effects, err));
    for (const sotto_effect_message *a = effects.sent; a; a = a->next)
        size += 12 + sotto_message_size(&a->message);
    if (put->status != SOTTO_OK || size == 0)
        return SOTTO_OK;
    put->answer = sotto_buf_over(sotto_alloc(size), size);
    if (!put->answer.data)
        return sotto_fail(err, SOTTO_NO_MEMORY, "an answer");
    uint64_t number = 0;
    for (const sotto_effect_message *a = effects.sent; a; a = a->next) {
        sotto_writer w = sotto_writer_on(&put->answer);

        sotto_write_uint(&w, number++, 8);
        sotto_write_uint(&w, sotto_message_size(&a->message), 4);
        SOTTO_TRY(sotto_writer_finish(&w, "answer", err));
        SOTTO_TRY(sotto_message_encode(&put->answer, &a->message, err));
    }
    return SOTTO_OK;
}

/* What is wrong with the message is its status; what is wrong here is returned, and spoils the step. */
static sotto_status deliver(sotto_running *r, sotto_put *put, sotto_effects *effects,
                            sotto_err *err)
{
    const void *vector = put->vector ? put->vector : r->piece;
    const sotto_kind *kind = NULL;
    sotto_message m;

    sotto_put_clear(put);
    put->is_known = false;
    put->status = sotto_message_decode(&m, put->message, NULL);
    if (put->status == SOTTO_OK) {
        m.holds_for = put->holds_for;
        kind = sotto_method_kind(r->posted.method, m.kind);
        /* One whose vector came in pieces was judged before the first of them. */
        if (!kind)
            put->status = SOTTO_MALFORMED;
        else if (!put->vector)
            put->status = check(r, &m, kind);
    }
    if (put->status == SOTTO_OK && !put->vector)
        put->status = take_bulk(r, &m, put->bulk);
    if (put->status == SOTTO_NO_MEMORY)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a message");
    if (put->status != SOTTO_OK)
        return SOTTO_OK;
    if (kind->to == SOTTO_PART_BOARD)
        return put_on_board(r, put, &m, effects, err);
    if (m.kind == r->posted.method->question)
        return answer(r, put, &m, err);
    SOTTO_TRY(r->ops->deliver(r->machine, &m, 1, &put->status, effects, err));
    if (put->status != SOTTO_OK || m.bulk_len == 0)
        return SOTTO_OK;
    r->reported[m.from / 8] |= (uint8_t)(1u << m.from % 8);
    return r->posted.method->bulk->add(&r->tally, vector, err);
}

static sotto_status store(sotto_running *r, const sotto_effects *effects, sotto_err *err)
{
    const sotto_method *method = r->posted.method;
    sotto_stored_step step = {.round = &r->posted.round,
                              .id = r->posted.id,
                              .version = r->version,
                              .kept = r->kept,
                              .sent = r->sent,
                              .contributions = r->tally.contributions,
                              .effects = effects,
                              .board = &r->board};
    sotto_buf state, tally;

    SOTTO_TRY(sotto_buf_take(&state, &r->scratch,
                             SOTTO_MACHINE_MOST_SAVED((size_t)r->posted.round.registered), err));
    SOTTO_TRY(r->ops->save(r->machine, &state, err));
    step.state = sotto_buf_bytes(&state);
    /* Votes and answers change megabytes of nothing. */
    if (r->version == 0 || r->stored != r->tally.contributions) {
        SOTTO_TRY(sotto_buf_take(&tally, &r->scratch, method->tally->size(&r->posted.round), err));
        SOTTO_TRY(method->tally->encode(&r->tally, &tally, err));
        step.tally = sotto_buf_bytes(&tally);
    }
    SOTTO_TRY(sotto_round_store_step(r->context.db, r->context.keys, &step, &r->scratch, err));
    r->version++;
    r->stored = r->tally.contributions;
    for (const sotto_effect_message *m = effects->kept; m; m = m->next)
        r->kept++;
    for (const sotto_effect_message *m = effects->sent; m; m = m->next)
        r->sent++;
    return SOTTO_OK;
}

static sotto_status tick(sotto_running *r, uint64_t now, sotto_effects *effects, sotto_err *err)
{
    SOTTO_TRY(r->ops->tick(r->machine, now, effects, err));
    return sotto_board_put_all(&r->board, &r->posted, r->machine, effects, err);
}

/* *stored: what the messages' statuses say is in the database, whatever comes of the rest. */
static sotto_status run_step(sotto_running *r, sotto_put *puts, bool due, bool *stored,
                             sotto_err *err)
{
    sotto_effects effects;
    bool changed;

    SOTTO_TRY(remember(r, &changed, err));
    changed = changed || due;
    sotto_effects_init(&effects, &r->scratch);
    sotto_board_begin(&r->board);
    /* What came in time is not too late because a step failed. */
    if (changed)
        SOTTO_TRY(tick(r, puts ? puts->came : now_ms(r), &effects, err));
    SOTTO_TRY(sotto_running_vouch(r, puts, &r->scratch, err));
    for (sotto_put *put = puts; put; put = put->next) {
        SOTTO_TRY(deliver(r, put, &effects, err));
        SOTTO_TRY(sotto_board_put_all(&r->board, &r->posted, r->machine, &effects, err));
        if (SOTTO_RULE(board_known_is_free) && put->is_known)
            continue;
        changed = changed || (put->status == SOTTO_OK && !put->answer.data);
    }
    /* What was refused, or is on the board, costs no write. */
    if (!changed)
        return SOTTO_OK;
    /* A message may have opened the next phase, which has a time of its own. */
    if (puts)
        SOTTO_TRY(tick(r, now_ms(r), &effects, err));
    SOTTO_TRY(store(r, &effects, err));
    *stored = true;
    atomic_store(&r->wake, effects.wake);
    return end_round(r, effects.done ? effects.reason : "", err);
}

/* With the lock. After a failure nothing of the step counts, unless it is stored, and the machine is restored from what was stored. True: these
 * messages may be stored later. */
static bool step(sotto_running *r, sotto_put *puts, bool due)
{
    sotto_err err = {0};
    sotto_status status = SOTTO_STALE;
    bool stored = false;

    for (unsigned tries = 0;
         status == SOTTO_STALE && tries < TRIES && !stored && !sotto_running_is_over(r); tries++) {
        memset(&err, 0, sizeof err);
        status = run_step(r, puts, due, &stored, &err);
        if (status != SOTTO_OK)
            forget(r);
        sotto_arena_reset(&r->scratch);
    }
    if (status == SOTTO_OK)
        return false;
    for (sotto_put *put = puts; put && !stored; put = put->next)
        put->status = sotto_running_is_over(r) ? SOTTO_STALE : SOTTO_IO;
    if (sotto_running_is_over(r))
        return false;
    atomic_store(&r->wake, now_ms(r) + RETRY_MS);
    sotto_log(r->context.log, SOTTO_LOG_WARNING, "round.step_failed",
              sotto_log_text("reason", err.reason));
    return !stored;
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

/* Whoever missed the answer sends the same again, and is told the same. */
static void judge_again(sotto_running *r, sotto_put *put)
{
    bool has = false;

    if (put->status == SOTTO_STALE &&
        sotto_round_store_has(r->context.db, r->posted.id, put->message, &has, NULL) == SOTTO_OK &&
        has)
        put->status = SOTTO_OK;
}

static bool waits_again(sotto_put *one, bool failed)
{
    if (SOTTO_RULE(aggregator_batch_kept) && failed)
        return ++one->tries < TRIES;
    return false;
}

/* With the lock: nobody has taken what is due before the lock is held, so that no step by the clock goes ahead of it. What could not be stored
 * waits again. False: nothing is due. */
static bool run_batch(sotto_running *r, sotto_put **ended)
{
    sotto_put *some = sotto_put_queue_take(&r->puts, monotonic_ms(r)), *again = NULL, **at = &again;

    if (!some)
        return false;
    const bool failed = step(r, some, false);
    for (sotto_put *one = some, *next; one; one = next) {
        next = one->next;
        if (waits_again(one, failed)) {
            one->next = NULL;
            *at = one;
            at = &one->next;
        } else {
            one->next = *ended;
            *ended = one;
        }
    }
    if (again)
        sotto_put_queue_return(&r->puts, again, monotonic_ms(r) + RETRY_MS);
    return true;
}

/* Without the lock. */
static void end_puts(sotto_running *r, sotto_put *ended)
{
    for (sotto_put *one = ended, *next; one; one = next) {
        next = one->next;
        judge_again(r, one);
        one->done(one);
    }
}

/* All that is due, unless another thread is at it. */
static void take_puts(sotto_running *r)
{
    bool more = sotto_put_queue_begin(&r->puts, monotonic_ms(r));

    while (more) {
        sotto_put *ended = NULL;

        pthread_mutex_lock(&r->lock);
        more = run_batch(r, &ended);
        pthread_mutex_unlock(&r->lock);
        end_puts(r, ended);
    }
}

void sotto_running_put(sotto_running *r, sotto_put *put)
{
    put->came = now_ms(r);
    sotto_put_queue_add(&r->puts, put);
    take_puts(r);
}

static bool is_due(const sotto_running *r)
{
    return atomic_load(&r->wake) <= now_ms(r);
}

void sotto_running_tick(sotto_running *r)
{
    sotto_put *ended = NULL;

    /* What came in time, and waits for others, comes before what ends the phase. */
    if (SOTTO_RULE(aggregator_waiting_in_time) && is_due(r))
        sotto_put_queue_hurry(&r->puts);
    take_puts(r);
    pthread_mutex_lock(&r->lock);
    while (!sotto_running_is_over(r) && is_due(r) && run_batch(r, &ended))
        ; /* another thread was about to */
    if (!sotto_running_is_over(r) && is_due(r))
        (void)step(r, NULL, true);
    pthread_mutex_unlock(&r->lock);
    end_puts(r, ended);
}
