/* Workers take requests that wait, agree with the senders of several at once, open them one by one, and judge what is inside. */
#define _POSIX_C_SOURCE 200809L
#include "serve/gateway/gateway.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/rule.h"
#include "seal/ohttp/date.h"

#include <string.h>

enum { BATCH = SOTTO_GATEWAY_AT_ONCE };

/* What a worker has in hand. */
typedef struct batch {
    sotto_gateway *gateway;
    sotto_receivers *receivers;
    sotto_arena *arena;
    size_t count;
    sotto_gateway_ask *asks[BATCH];
    sotto_ohttp_request requests[BATCH];
    sotto_agreement agreed[BATCH];
    uint8_t key_ids[BATCH];
    sotto_gateway_uploads uploads;
} batch;

/* ---- before it is opened -------------------------------------------------------------------------------------------- */

/* Whether a request is for a key of ours; it is answered otherwise. */
static bool read_one(batch *b, sotto_gateway_ask *ask, sotto_ohttp_request *out)
{
    static const sotto_hpke_suite suite = {SOTTO_HPKE_KEM_X25519, SOTTO_HPKE_KDF_SHA256,
                                           SOTTO_HPKE_AEAD_AES128_GCM};
    sotto_status status = sotto_ohttp_request_read(out, ask->encapsulated, NULL);

    /* Of one that came alone, no more was read. */
    if (SOTTO_RULE(gateway_batch_sizes) &&
        ask->encapsulated.len > ask->gateway->config.max_request) {
        sotto_gateway_refuse(ask, 413, NULL, NULL);
        return false;
    }
    if (status == SOTTO_MALFORMED) {
        sotto_gateway_refuse(ask, 400, NULL, "not an encapsulated request");
        return false;
    }
    if (status == SOTTO_OK && memcmp(&out->suite, &suite, sizeof suite) != 0)
        status = SOTTO_MISSING;
    if (status == SOTTO_OK)
        status = sotto_receivers_know(b->receivers, out->key_id, NULL);
    if (status == SOTTO_MISSING)
        sotto_gateway_refuse(ask, 400, SOTTO_OHTTP_KEY_PROBLEM, "key identifier unknown");
    else if (status != SOTTO_OK)
        sotto_gateway_refuse(ask, 503, NULL, "this gateway has no keys now");
    return status == SOTTO_OK;
}

/* ---- after it ---------------------------------------------------------------------------------------------------------- */

/* Dated within the window, and not before this process began to remember requests. */
static bool is_dated(const sotto_gateway *g, const sotto_bhttp *m, int64_t now)
{
    const int64_t window = (int64_t)g->config.replay_window;
    sotto_bytes text;
    int64_t date;

    if (!sotto_bhttp_field(m->fields, "date", &text) ||
        sotto_http_date_read(&date, text, NULL) != SOTTO_OK)
        return false;
    if (SOTTO_RULE(gateway_after_start) && date < g->not_before)
        return false;
    if (SOTTO_RULE(gateway_not_ahead) && date > now + SOTTO_GATEWAY_AHEAD)
        return false;
    return date >= now - window;
}

static void judge(batch *b, sotto_gateway_ask *ask, sotto_bytes enc, sotto_buf *plain)
{
    sotto_gateway *g = ask->gateway;
    const int64_t now = sotto_host_seconds(g->host);
    sotto_gateway_way way;
    sotto_bhttp m;

    if (sotto_bhttp_decode(&m, plain->data, plain->len, NULL) != SOTTO_OK || m.response) {
        sotto_gateway_refuse_sealed(ask, 400, NULL, "not a binary HTTP request");
        return;
    }
    if (SOTTO_RULE(gateway_dated) && !is_dated(g, &m, now)) {
        sotto_gateway_refuse_sealed(ask, 400, SOTTO_OHTTP_DATE_PROBLEM,
                                    "the request's date is too far from this gateway's");
        return;
    }
    /* Before it is remembered: a request that goes nowhere takes no memory. */
    if (!sotto_gateway_find(ask, &way, &m))
        return;
    const uint64_t passed = sotto_clock_monotonic(g->host->options.clock) / 1000000000;
    const sotto_status status = sotto_replays_note(
        g->replays, enc, (sotto_replays_time){.wall = now, .passed = (int64_t)passed}, NULL);
    if (status == SOTTO_STALE) {
        atomic_fetch_add(&g->replayed, 1);
        sotto_gateway_refuse_sealed(ask, 409, NULL, "this request was opened before");
    } else if (status != SOTTO_OK) {
        sotto_gateway_refuse_sealed(ask, 503, NULL, "too many requests are remembered");
    } else {
        atomic_fetch_add(&g->opened, 1);
        if (!sotto_gateway_uploads_put(&b->uploads, b->arena, ask, &way, &m))
            sotto_gateway_forward(ask, &way, &m);
    }
}

static void open_one(batch *b, size_t i)
{
    sotto_gateway_ask *ask = b->asks[i];
    const sotto_ohttp_request *request = &b->requests[i];
    sotto_hpke_receiver *receiver;
    sotto_buf plain;

    sotto_status status = sotto_buf_take(&plain, b->arena, request->ciphertext.len, NULL);
    if (status == SOTTO_OK)
        status = sotto_receivers_find(b->receivers, &receiver, request->key_id, NULL);
    if (status == SOTTO_OK)
        status = sotto_ohttp_request_unseal(&ask->exchange, &plain, receiver, request,
                                            &b->agreed[i], NULL);
    if (status == SOTTO_OK)
        judge(b, ask, request->enc, &plain);
    else if (status == SOTTO_NO_MEMORY || status == SOTTO_MISSING)
        sotto_gateway_refuse(ask, 503, NULL, "this request can't be opened now");
    else
        sotto_gateway_refuse(ask, 400, NULL, "the encapsulated request does not open");
}

/* ---- those that wait ---------------------------------------------------------------------------------------------------- */

/* Takes as many as a batch holds. False: none wait, and this piece of work has been counted out. */
static bool take(sotto_gateway *g, batch *b)
{
    b->count = 0;
    (void)pthread_mutex_lock(&g->lock);
    while (g->first && b->count < BATCH) {
        b->asks[b->count++] = g->first;
        g->first = g->first->next;
    }
    if (!g->first)
        g->last = &g->first;
    if (b->count == 0)
        g->drainers--;
    (void)pthread_mutex_unlock(&g->lock);
    return b->count > 0;
}

static void open_batch(batch *b)
{
    size_t kept = 0;

    for (size_t i = 0; i < b->count; i++) {
        sotto_ohttp_request *request = &b->requests[kept];

        if (!read_one(b, b->asks[i], request))
            continue;
        b->agreed[kept] = (sotto_agreement){.peer = request->enc};
        b->key_ids[kept] = request->key_id;
        b->asks[kept++] = b->asks[i];
    }
    b->count = kept;
    atomic_fetch_add(&b->gateway->batches, 1);
    sotto_receivers_agree(b->receivers, b->agreed, b->key_ids, kept);
    for (size_t i = 0; i < kept; i++)
        open_one(b, i);
    sotto_gateway_uploads_send(&b->uploads);
    sotto_wipe(b->agreed, sizeof b->agreed);
}

static void drain(void *context, sotto_worker *worker)
{
    sotto_gateway *g = context;
    batch b = {.gateway = g, .receivers = g->receivers[worker->number], .arena = worker->arena};

    while (take(g, &b)) {
        const sotto_arena_mark mark = sotto_arena_here(worker->arena);

        open_batch(&b);
        sotto_arena_rollback(worker->arena, mark);
    }
}

void sotto_gateway_refuse_waiting(sotto_gateway *g, const char *detail)
{
    sotto_gateway_ask *next;

    (void)pthread_mutex_lock(&g->lock);
    next = g->first;
    g->first = NULL;
    g->last = &g->first;
    (void)pthread_mutex_unlock(&g->lock);
    while (next) {
        sotto_gateway_ask *ask = next;

        next = ask->next;
        sotto_gateway_refuse(ask, 503, NULL, detail);
    }
}

/* A piece of work was posted but never ran. Others that run will take what waits; if there are none, it is
 * refused here. */
static void give_up_drainer(sotto_gateway *g)
{
    bool none;

    (void)pthread_mutex_lock(&g->lock);
    none = --g->drainers == 0;
    (void)pthread_mutex_unlock(&g->lock);
    if (none)
        sotto_gateway_refuse_waiting(g, "this gateway is busy");
}

void sotto_gateway_take(sotto_gateway *g, sotto_gateway_ask *first)
{
    sotto_gateway_ask *last = first;
    bool more;

    while (last->next)
        last = last->next;
    (void)pthread_mutex_lock(&g->lock);
    *g->last = first;
    g->last = &last->next;
    more = g->drainers < g->host->options.workers;
    g->drainers += more;
    (void)pthread_mutex_unlock(&g->lock);
    if (more && sotto_pool_post(g->host->pool, drain, g, NULL) != SOTTO_OK)
        give_up_drainer(g);
}
