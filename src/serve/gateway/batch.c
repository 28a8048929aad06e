/* What comes in: one encapsulated request, or many in one call (seal/ohttp/ohttp_batch.h). Each of many is opened, judged and
 * answered as one that came alone. Their answers go back together, when the last of them is there. After a few seconds they go without
 * those that are not: a target that is slow or down holds up nobody else's answer for longer. */
#define _POSIX_C_SOURCE 200809L
#include "serve/gateway/gateway.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/rule.h"

#include <string.h>

typedef struct answer {
    unsigned status; /* 0: none yet */
    uint8_t *body;   /* NULL: it is empty */
    size_t len;
} answer;

/* The gateway's batch_lock guards all but what never changes. Once its request is taken out, nobody writes its answers. */
struct sotto_gateway_batch {
    sotto_gateway *gateway;
    sotto_gateway_batch *next, **at; /* of those that are not answered */
    sotto_http_request *request;     /* NULL: it was answered, or is right now */
    uint64_t since_ms;
    size_t count, answered;
    size_t users;   /* asks, and whoever sends the answers */
    sotto_buf body; /* a copy: asks may outlive the request */
    answer answers[SOTTO_OHTTP_BATCH];
};

static sotto_gateway_ask *ask_of(sotto_gateway *g, sotto_http_request *request,
                                 sotto_bytes encapsulated)
{
    sotto_gateway_ask *ask = sotto_alloc(sizeof *ask);

    if (ask) {
        ask->gateway = g;
        ask->request = request;
        ask->encapsulated = encapsulated;
    }
    return ask;
}

void sotto_gateway_take_single(sotto_gateway *g, sotto_http_request *request)
{
    sotto_gateway_ask *ask = ask_of(g, request, sotto_http_request_body(request));

    if (ask)
        sotto_gateway_take(g, ask);
    else
        (void)sotto_http_refuse(request, &(sotto_http_problem){.status = 503});
}

/* ---- answers of many ------------------------------------------------------------------------------------------------- */

static void free_batch(sotto_gateway_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        sotto_release(batch->answers[i].body, batch->answers[i].len);
    sotto_release(batch->body.data, batch->body.cap);
    sotto_release(batch, sizeof *batch);
}

static sotto_status write_answers(const sotto_gateway_batch *batch, sotto_buf *out,
                                  sotto_bytes late)
{
    for (size_t i = 0; i < batch->count; i++) {
        const answer *a = &batch->answers[i];
        const sotto_ohttp_batch_answer one = {.status = a->status ? a->status : 503,
                                              .body = a->status ? sotto_bytes_of(a->body, a->len)
                                                                : late};

        SOTTO_TRY(sotto_ohttp_batch_answer_add(out, &one, NULL));
    }
    return SOTTO_OK;
}

static void send_answers(const sotto_gateway_batch *batch, sotto_http_request *request)
{
    static const sotto_http_field fields[] = {{"Content-Type", SOTTO_OHTTP_BATCH_RESPONSE_TYPE},
                                              {"Cache-Control", "no-store"}};
    uint8_t text[256];
    sotto_buf late = sotto_buf_over(text, sizeof text);
    size_t size = 0;

    if (sotto_http_problem_encode(
            &late,
            &(sotto_http_problem){.status = 503, .detail = "the target has not answered yet"},
            NULL) != SOTTO_OK)
        late.len = 0;
    for (size_t i = 0; i < batch->count; i++)
        size +=
            SOTTO_OHTTP_BATCH_HEAD + (batch->answers[i].status ? batch->answers[i].len : late.len);
    uint8_t *memory = sotto_alloc(size);
    sotto_buf out = sotto_buf_over(memory, memory ? size : 0);
    if (!memory || write_answers(batch, &out, sotto_buf_bytes(&late)) != SOTTO_OK)
        (void)sotto_http_refuse(request, &(sotto_http_problem){.status = 503});
    else
        sotto_http_answer(request, &(sotto_http_reply){200, fields, 2, sotto_buf_bytes(&out)});
    sotto_release(memory, memory ? size : 0);
}

/* With the lock. Whoever gets the request answers it. */
static sotto_http_request *take_request(sotto_gateway_batch *batch)
{
    sotto_http_request *request = batch->request;

    batch->request = NULL;
    *batch->at = batch->next;
    if (batch->next)
        batch->next->at = batch->at;
    return request;
}

static void leave(sotto_gateway_batch *batch)
{
    sotto_gateway *g = batch->gateway;
    bool last;

    (void)pthread_mutex_lock(&g->batch_lock);
    last = --batch->users == 0;
    (void)pthread_mutex_unlock(&g->batch_lock);
    if (last)
        free_batch(batch);
}

void sotto_gateway_batch_put(sotto_gateway_batch *batch, size_t place, unsigned status,
                             sotto_bytes body)
{
    sotto_gateway *g = batch->gateway;
    sotto_http_request *request = NULL;
    answer a = {.status = status, .len = body.len};

    if (body.len > 0) {
        a.body = sotto_alloc(body.len);
        if (a.body)
            memcpy(a.body, body.data, body.len);
        else
            a = (answer){.status = 503};
    }
    (void)pthread_mutex_lock(&g->batch_lock);
    const bool late = batch->request == NULL;
    if (!late) {
        batch->answers[place] = a;
        if (++batch->answered == batch->count)
            request = take_request(batch);
    }
    (void)pthread_mutex_unlock(&g->batch_lock);
    if (late)
        sotto_release(a.body, a.len);
    if (request)
        send_answers(batch, request);
    leave(batch);
}

uint64_t sotto_gateway_batch_ms(const sotto_gateway *g)
{
    return sotto_clock_monotonic(g->host->options.clock) / 1000000;
}

void sotto_gateway_batch_tick(sotto_gateway *g, uint64_t now_ms)
{
    for (;;) {
        sotto_http_request *request = NULL;
        sotto_gateway_batch *batch;

        (void)pthread_mutex_lock(&g->batch_lock);
        batch = g->batches_open;
        while (batch && now_ms < batch->since_ms + SOTTO_GATEWAY_BATCH_MS)
            batch = batch->next;
        if (batch) {
            batch->users++;
            request = take_request(batch);
        }
        (void)pthread_mutex_unlock(&g->batch_lock);
        if (!batch)
            return;
        send_answers(batch, request);
        leave(batch);
    }
}

/* ---- many ------------------------------------------------------------------------------------------------------------ */

static void free_asks(sotto_gateway_ask *first)
{
    while (first) {
        sotto_gateway_ask *ask = first;

        first = ask->next;
        sotto_release(ask, sizeof *ask);
    }
}

/* As a list; NULL: no memory. */
static sotto_gateway_ask *asks_of(sotto_gateway_batch *batch, const sotto_bytes *requests)
{
    sotto_gateway_ask *first = NULL;

    for (size_t i = batch->count; i-- > 0;) {
        sotto_gateway_ask *ask = ask_of(batch->gateway, NULL, requests[i]);

        if (!ask) {
            free_asks(first);
            return NULL;
        }
        ask->batch = batch;
        ask->place = i;
        ask->next = first;
        first = ask;
    }
    return first;
}

/* NULL: no memory. */
static sotto_gateway_batch *batch_of(sotto_gateway *g, sotto_http_request *request)
{
    const sotto_bytes body = sotto_http_request_body(request);
    sotto_gateway_batch *batch = sotto_alloc(sizeof *batch);
    uint8_t *copy = sotto_alloc(body.len + 1);

    if (!batch || !copy) {
        sotto_release(copy, body.len + 1);
        sotto_release(batch, sizeof *batch);
        return NULL;
    }
    batch->gateway = g;
    batch->request = request;
    batch->since_ms = sotto_gateway_batch_ms(g);
    batch->body = sotto_buf_over(copy, body.len + 1);
    if (body.len > 0)
        memcpy(copy, body.data, batch->body.len = body.len);
    sotto_http_request_forget_body(request);
    return batch;
}

static void enlist(sotto_gateway *g, sotto_gateway_batch *batch)
{
    (void)pthread_mutex_lock(&g->batch_lock);
    batch->next = g->batches_open;
    batch->at = &g->batches_open;
    if (batch->next)
        batch->next->at = &batch->next;
    g->batches_open = batch;
    (void)pthread_mutex_unlock(&g->batch_lock);
}

void sotto_gateway_take_batch(sotto_gateway *g, sotto_http_request *request)
{
    sotto_gateway_batch *batch = batch_of(g, request);
    sotto_bytes requests[SOTTO_OHTTP_BATCH];
    sotto_gateway_ask *first = NULL;
    sotto_http_problem problem = {.status = 503};

    if (batch && sotto_ohttp_batch_requests_read(requests, &batch->count,
                                                 sotto_buf_bytes(&batch->body), NULL) == SOTTO_OK)
        first = asks_of(batch, requests);
    else if (batch)
        problem = (sotto_http_problem){.status = 400, .detail = "not a batch"};
    if (first) {
        batch->users = batch->count;
        enlist(g, batch);
        sotto_gateway_take(g, first);
        return;
    }
    if (batch)
        free_batch(batch);
    atomic_fetch_add(&g->plain_errors, 1);
    (void)sotto_http_refuse(request, &problem);
}
