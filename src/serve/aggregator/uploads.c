#include "serve/aggregator/uploads.h"

#include "base/alloc.h"
#include "base/rule.h"
#include "serve/aggregator/aggregator.h"
#include "serve/host/steps.h"

#include <string.h>

enum { FIRST_HEAD = 16384, LENGTH = 4 };

/* Whoever sends a vector this long is judged at once: to pause it costs more than lanes save. */
#define PAUSED_BELOW ((size_t)1 << 20)

/* ---- vectors --------------------------------------------------------------------------------------------------- */

sotto_status sotto_uploads_init(sotto_uploads *u, unsigned most, sotto_err *err)
{
    *u = (sotto_uploads){.most = most};
    u->last = &u->first;
    u->last_asked = &u->asked;
    u->spare = sotto_alloc(most * sizeof *u->spare);
    pthread_mutex_init(&u->lock, NULL);
    return u->spare ? SOTTO_OK : sotto_fail(err, SOTTO_NO_MEMORY, "uploads");
}

/* With the lock. Masked vectors are no secret of this server's: they are not wiped. */
static void drop_spares(sotto_uploads *u)
{
    while (u->spares > 0)
        sotto_release_sealed(u->spare[--u->spares], u->spare_size);
}

void sotto_uploads_clear(sotto_uploads *u)
{
    drop_spares(u);
    sotto_release(u->spare, u->spare ? u->most * sizeof *u->spare : 0);
    pthread_mutex_destroy(&u->lock);
}

static size_t vector_size(const sotto_upload *one)
{
    return sotto_running_vector(one->round->running);
}

static const sotto_bulk_ops *bulk_of(const sotto_upload *one)
{
    return sotto_running_posted(one->round->running)->method->bulk;
}

/* With the lock. NULL: there is no memory. To get each anew, and zeroed, takes as long as to add it up. */
static void *new_vector(sotto_uploads *u, size_t size)
{
    u->was_used = true;
    if (u->spares > 0 && u->spare_size == size)
        return u->spare[--u->spares];
    drop_spares(u);
    return sotto_alloc(size);
}

/* With the lock. */
static void keep_vector(sotto_uploads *u, void *vector, size_t size)
{
    if (u->spares > 0 && u->spare_size != size)
        drop_spares(u);
    u->spare_size = size;
    if (u->spares < u->most)
        u->spare[u->spares++] = vector;
    else
        sotto_release_sealed(vector, size);
}

void sotto_uploads_look(sotto_uploads *u)
{
    pthread_mutex_lock(&u->lock);
    if (u->vectors == 0 && !u->was_used)
        drop_spares(u);
    u->was_used = false;
    pthread_mutex_unlock(&u->lock);
}

/* With the lock: those who wait go on, as many as there is room for. */
static void let_others(sotto_uploads *u)
{
    while (u->first && u->vectors < u->most) {
        sotto_upload *one = u->first;

        u->first = one->later;
        if (!u->first)
            u->last = &u->first;
        one->waits = false;
        u->waiting--;
        one->put.vector = new_vector(u, vector_size(one));
        u->vectors += one->put.vector != NULL;
        sotto_http_wake(one->request);
    }
}

/* With the lock. */
static void stop_waiting(sotto_uploads *u, sotto_upload *one)
{
    sotto_upload **at = &u->first;

    if (!one->waits)
        return;
    while (*at != one)
        at = &(*at)->later;
    *at = one->later;
    if (u->last == &one->later)
        u->last = at;
    u->waiting--;
}

/* With the lock. */
static void unlist(sotto_uploads *u, const sotto_upload *one)
{
    for (sotto_upload **at = &u->judged; *at; at = &(*at)->next)
        if (*at == one) {
            *at = one->next;
            return;
        }
}

/* ---- one upload ------------------------------------------------------------------------------------------------ */

sotto_status sotto_upload_begin(sotto_aggregator *a, sotto_http_request *request,
                                sotto_listed_round *round, sotto_err *err)
{
    sotto_upload *one = sotto_alloc(sizeof *one);

    if (!one)
        return sotto_fail(err, SOTTO_NO_MEMORY, "an upload");
    *one = (sotto_upload){.of = a, .request = request, .round = round};
    sotto_http_request_remember(request, one);
    return SOTTO_OK;
}

/* Everything of it but its round goes. */
static void end(sotto_upload *one)
{
    sotto_uploads *u = &one->of->uploads;

    pthread_mutex_lock(&u->lock);
    stop_waiting(u, one);
    unlist(u, one);
    u->gathered -= one->head_room + one->charged;
    u->whole -= one->is_whole;
    if (one->put.vector) {
        u->vectors--;
        keep_vector(u, one->put.vector, vector_size(one));
    }
    let_others(u);
    pthread_mutex_unlock(&u->lock);
    sotto_release_sealed(one->head, one->head_room);
    sotto_release_sealed(one->rest, one->rest_len);
    sotto_release(one, sizeof *one);
}

void sotto_upload_end(sotto_upload *one)
{
    sotto_aggregator *a = one->of;
    sotto_listed_round *round = one->round;

    end(one);
    sotto_aggregator_let_go(a, round);
}

void sotto_upload_lost(sotto_upload *one)
{
    if (sotto_upload_asks_no_more(one))
        sotto_upload_end(one);
}

static void refuse(sotto_upload *one, sotto_status status)
{
    sotto_http_request_remember(one->request, NULL);
    sotto_aggregator_refuse(one->of, one->request, status);
    sotto_upload_end(one);
}

/* ---- the message ------------------------------------------------------------------------------------------------- */

sotto_bytes sotto_upload_message(const sotto_upload *one)
{
    return sotto_bytes_of(one->head + LENGTH, one->head_len - LENGTH);
}

static void discharge(sotto_uploads *u, size_t less)
{
    pthread_mutex_lock(&u->lock);
    u->gathered -= less;
    pthread_mutex_unlock(&u->lock);
}

/* One budget for all: strangers' messages are gathered, too, before anybody looks at them. */
static bool charge(sotto_uploads *u, size_t more)
{
    pthread_mutex_lock(&u->lock);
    u->gathered += more;
    const bool full = u->gathered > SOTTO_UPLOADS_GATHERED;
    pthread_mutex_unlock(&u->lock);
    if (SOTTO_RULE(aggregator_gathered_bounded) && full) {
        discharge(u, more);
        return false;
    }
    return true;
}

/* Memory follows what has come, never what was announced. */
static bool make_room(sotto_upload *one, size_t need)
{
    size_t room = one->head_room * 2 > FIRST_HEAD ? one->head_room * 2 : FIRST_HEAD;
    uint8_t *head;

    if (need <= one->head_room)
        return true;
    room = room < need ? need : room;
    if (!charge(&one->of->uploads, room - one->head_room))
        return false;
    head = sotto_alloc_grow(one->head, one->head_room, one->head_len, room, 1);
    if (!head) {
        discharge(&one->of->uploads, room - one->head_room);
        return false;
    }
    one->head = head;
    one->head_room = room;
    return true;
}

/* Takes from the front of a piece until so much of the head is there. */
static sotto_status gather(sotto_upload *one, sotto_bytes *piece, size_t wanted)
{
    const size_t missing = wanted - one->head_len,
                 len = piece->len < missing ? piece->len : missing;

    if (!make_room(one, one->head_len + len))
        return SOTTO_NO_MEMORY;
    if (len)
        memcpy(one->head + one->head_len, piece->data, len);
    one->head_len += len;
    *piece = sotto_bytes_of(piece->data + len, piece->len - len);
    return one->head_len == wanted ? SOTTO_OK : SOTTO_AGAIN;
}

/* SOTTO_AGAIN: more of it is to come. */
static sotto_status gather_message(sotto_upload *one, sotto_bytes *piece)
{
    if (one->head_len < LENGTH)
        SOTTO_TRY(gather(one, piece, LENGTH));
    const uint8_t *l = one->head;
    const size_t len = (size_t)l[0] << 24 | (size_t)l[1] << 16 | (size_t)l[2] << 8 | l[3];
    if (len > sotto_running_most_body(one->round->running))
        return SOTTO_MALFORMED;
    return gather(one, piece, LENGTH + len);
}

/* A client sends one report: whoever opens many connections with it takes the room of others. */
static bool is_under_way(const sotto_uploads *u, const sotto_upload *one)
{
    for (const sotto_upload *other = u->judged; other; other = other->next)
        if (other->round == one->round && other->from == one->from)
            return true;
    return false;
}

/* What came of it. */
static sotto_status take_verdict(sotto_upload *one)
{
    sotto_uploads *u = &one->of->uploads;

    discharge(u, one->charged);
    one->charged = 0;
    SOTTO_TRY(one->judged.status);
    one->from = one->judged.from;
    if (one->judged.alone) {
        one->phase = SOTTO_UPLOAD_ALONE;
        return one->rest_len == 0 ? SOTTO_OK : SOTTO_MALFORMED;
    }
    pthread_mutex_lock(&u->lock);
    const bool is_second = is_under_way(u, one);
    one->phase = SOTTO_UPLOAD_JUDGED;
    one->next = u->judged;
    u->judged = one;
    pthread_mutex_unlock(&u->lock);
    if (SOTTO_RULE(aggregator_one_upload_each) && is_second)
        return SOTTO_AGAIN;
    return SOTTO_OK;
}

/* ---- the vector ---------------------------------------------------------------------------------------------------- */

/* Keeps what follows the message until it is judged, and there is room. */
static sotto_status keep_rest(sotto_upload *one, sotto_bytes piece)
{
    if (piece.len == 0)
        return SOTTO_OK;
    one->rest = sotto_alloc(piece.len);
    if (!one->rest)
        return SOTTO_NO_MEMORY;
    memcpy(one->rest, piece.data, piece.len);
    one->rest_len = piece.len;
    return SOTTO_OK;
}

/* False: it waits for its turn. */
static bool take_vector(sotto_upload *one)
{
    sotto_uploads *u = &one->of->uploads;

    pthread_mutex_lock(&u->lock);
    const bool full = u->first || u->vectors >= u->most;
    if (SOTTO_RULE(aggregator_uploads_bounded) && full) {
        one->waits = true;
        one->later = NULL;
        *u->last = one;
        u->last = &one->later;
        u->waiting++;
        pthread_mutex_unlock(&u->lock);
        return false;
    }
    one->put.vector = new_vector(u, vector_size(one));
    u->vectors += one->put.vector != NULL;
    pthread_mutex_unlock(&u->lock);
    return true;
}

static sotto_status feed(sotto_upload *one, sotto_bytes piece)
{
    const uint64_t at = one->fed;

    one->fed += piece.len;
    return bulk_of(one)->feed(one->put.vector, at, piece, NULL);
}

/* What comes next is read to where it belongs. */
static void expect_more(const sotto_upload *one)
{
    size_t room;
    uint8_t *at = bulk_of(one)->place(one->put.vector, &room);

    sotto_http_request_read_to(one->request, at, room);
}

/* There is room, unless memory is short. */
static sotto_status begin_vector(sotto_upload *one)
{
    if (!one->put.vector)
        return SOTTO_NO_MEMORY;
    one->phase = SOTTO_UPLOAD_VECTOR;
    SOTTO_TRY(
        sotto_running_begin(one->round->running, one->put.vector, sotto_upload_message(one), NULL));
    SOTTO_TRY(feed(one, sotto_bytes_of(one->rest, one->rest_len)));
    sotto_release_sealed(one->rest, one->rest_len);
    one->rest = NULL;
    one->rest_len = 0;
    return SOTTO_OK;
}

/* It was judged. *waits: nothing more is wanted until there is room. */
static sotto_status go_on(sotto_upload *one, bool *waits)
{
    SOTTO_TRY(take_verdict(one));
    if (one->phase == SOTTO_UPLOAD_ALONE)
        return SOTTO_OK;
    *waits = !take_vector(one);
    return *waits ? SOTTO_OK : begin_vector(one);
}

/* The message, as far as it goes. *waits: nothing more is wanted until it is judged. */
static sotto_status take_message(sotto_upload *one, sotto_bytes *piece, bool *waits)
{
    sotto_status status = gather_message(one, piece);
    const size_t rest = piece->len;

    if (status == SOTTO_AGAIN)
        return SOTTO_OK;
    SOTTO_TRY(status);
    SOTTO_TRY(keep_rest(one, *piece));
    *piece = sotto_bytes_of(NULL, 0);
    one->phase = SOTTO_UPLOAD_ASKED;
    if (vector_size(one) < PAUSED_BELOW && charge(&one->of->uploads, rest)) {
        one->charged = rest;
        *waits = true;
        sotto_upload_ask(one);
        return SOTTO_OK;
    }
    one->judged = (sotto_judged){.message = sotto_upload_message(one)};
    sotto_running_judge(one->round->running, &one->judged, 1);
    return go_on(one, waits);
}

sotto_http_flow sotto_upload_piece(sotto_upload *one, sotto_bytes piece)
{
    sotto_status status = SOTTO_OK;
    bool waits = false;

    if (one->phase == SOTTO_UPLOAD_MESSAGE)
        status = take_message(one, &piece, &waits);
    else if (one->phase == SOTTO_UPLOAD_ASKED && !sotto_upload_is_judged(one))
        waits = true;
    else if (one->phase == SOTTO_UPLOAD_ASKED)
        status = go_on(one, &waits);
    else if (one->phase == SOTTO_UPLOAD_JUDGED)
        status = begin_vector(one);
    if (status == SOTTO_OK && one->phase == SOTTO_UPLOAD_VECTOR)
        status = feed(one, piece);
    else if (status == SOTTO_OK && one->phase == SOTTO_UPLOAD_ALONE && piece.len > 0)
        status = SOTTO_MALFORMED;
    if (status != SOTTO_OK)
        refuse(one, status);
    else if (one->phase == SOTTO_UPLOAD_VECTOR)
        expect_more(one);
    return waits ? SOTTO_HTTP_WAIT : SOTTO_HTTP_NEXT;
}

/* ---- whole ---------------------------------------------------------------------------------------------------------- */

static void answer(sotto_put *put)
{
    sotto_upload *one = (sotto_upload *)put;
    sotto_uploads *u = &one->of->uploads;

    /* Before the client hears of it, so that it may send the next one at once. */
    pthread_mutex_lock(&u->lock);
    unlist(u, one);
    pthread_mutex_unlock(&u->lock);
    sotto_aggregator_acknowledge(one->of, one->request, put->status);
    end(one);
}

/* Whether vectors are on their way that it can be stored with: then a step due by the clock takes what waits. */
static bool comes_with_others(sotto_upload *one)
{
    sotto_uploads *u = &one->of->uploads;

    pthread_mutex_lock(&u->lock);
    one->is_whole = one->put.vector != NULL;
    u->whole += one->is_whole;
    const bool others = u->whole < u->vectors;
    pthread_mutex_unlock(&u->lock);
    return one->is_whole && others && one->of->host->steps && !atomic_load(&one->of->stopped);
}

static void put_whole(void *context, sotto_worker *worker)
{
    sotto_upload *one = context;
    sotto_aggregator *a = one->of;
    sotto_listed_round *round = one->round;

    (void)worker;
    one->put.may_wait = comes_with_others(one);
    one->put.message = sotto_upload_message(one);
    one->put.holds_for = one->judged.holds_for;
    memcpy(one->put.digest, one->judged.digest, sizeof one->put.digest);
    one->put.done = answer;
    sotto_running_put(round->running, &one->put);
    sotto_aggregator_let_go(a, round);
    if (a->host->steps)
        sotto_steps_wake(a->host->steps);
}

void sotto_upload_whole(sotto_upload *one)
{
    sotto_status status = SOTTO_MALFORMED;

    if (one->phase == SOTTO_UPLOAD_VECTOR)
        status = bulk_of(one)->finish(one->put.vector, NULL);
    else if (one->phase == SOTTO_UPLOAD_ALONE)
        status = SOTTO_OK;
    if (status == SOTTO_OK)
        status = sotto_pool_post(one->of->host->pool, put_whole, one, NULL);
    if (status != SOTTO_OK)
        refuse(one, status);
}
