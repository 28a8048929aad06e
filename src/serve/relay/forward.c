/* From the relay to a gateway and back. Requests of a shuffled batch go in one call, where the gateway takes that (seal/ohttp/ohttp_batch.h). */
#include "serve/relay/forward.h"

#include "base/alloc.h"
#include "seal/ohttp/ohttp.h"
#include "seal/ohttp/ohttp_batch.h"

/* MOST_ANSWER: to one request. Answers to many have as much room together as each alone: nobody's long answer costs others theirs. */
enum { MOST_ANSWER = 8 << 20, TIMEOUT_MS = 30000 };

/* Requests that go in one call. */
typedef struct together {
    sotto_relay_way *way;
    size_t count;
    sotto_mixed *list[SOTTO_OHTTP_BATCH];
} together;

static void end(sotto_mixed *one)
{
    sotto_release(one, sizeof *one);
}

void sotto_relay_refuse(sotto_relay_way *way, sotto_mixed *one, unsigned status, const char *detail)
{
    atomic_fetch_add(&way->failed, 1);
    (void)sotto_http_refuse(one->request,
                            &(sotto_http_problem){.status = status,
                                                  .detail = detail,
                                                  .retry_after_s = status == 503 ? 1 : 0});
    end(one);
}

/* Passes on a sealed answer, or the gateway's problem with a request that it could not open, and
 * nothing else. */
static void answer(sotto_mixed *one, unsigned status, bool sealed, bool problem, sotto_bytes body)
{
    sotto_http_field field = {"Content-Type", NULL};

    if (status == 200 && sealed)
        field.value = SOTTO_OHTTP_RESPONSE_TYPE;
    else if (status >= 400 && status <= 599 && problem)
        field.value = SOTTO_HTTP_PROBLEM_TYPE;
    if (!field.value) {
        sotto_relay_refuse(one->way, one, 502, "the gateway does not answer");
        return;
    }
    sotto_http_answer(one->request, &(sotto_http_reply){status, &field, 1, body});
    end(one);
}

static bool has_type(const sotto_http_response *response, const char *wanted)
{
    sotto_bytes type;

    return sotto_http_response_field(response, "content-type", &type) &&
           sotto_http_is_media_type(type, wanted);
}

/* ---- one by one ------------------------------------------------------------------------------------------------------ */

static void on_answer(void *context, sotto_status status, const sotto_http_response *response,
                      const sotto_err *err)
{
    sotto_mixed *one = context;

    (void)err;
    if (status == SOTTO_OK)
        answer(one, response->status, has_type(response, SOTTO_OHTTP_RESPONSE_TYPE),
               has_type(response, SOTTO_HTTP_PROBLEM_TYPE), response->body);
    else
        sotto_relay_refuse(one->way, one, 502, "the gateway does not answer");
}

/* Sent once: a gateway opens no request twice. `repeatable` allows an open connection to be reused. */
static sotto_status call(sotto_relay_way *way, const char *type, sotto_bytes body, size_t requests,
                         sotto_http_done *done, void *context)
{
    const sotto_http_field field = {"Content-Type", type};

    return sotto_host_call(way->host,
                           &(sotto_http_call){.method = SOTTO_HTTP_POST,
                                              .url = way->url,
                                              .fields = &field,
                                              .field_count = 1,
                                              .body = body,
                                              .repeatable = true,
                                              .attempts = 1,
                                              .timeout_ms = TIMEOUT_MS,
                                              .max_response = requests * MOST_ANSWER},
                           done, context, NULL);
}

static void send_alone(sotto_relay_way *way, sotto_mixed *one)
{
    if (call(way, SOTTO_OHTTP_REQUEST_TYPE, sotto_http_request_body(one->request), 1, on_answer,
             one) != SOTTO_OK)
        sotto_relay_refuse(way, one, 503, "too many requests are under way");
}

/* ---- together -------------------------------------------------------------------------------------------------------- */

/* A gateway that knows no batches has opened nothing of it. */
static bool takes_no_batch(const sotto_http_response *response)
{
    return response->status >= 400 && response->status <= 499 && response->status != 429;
}

static void on_answers(void *context, sotto_status status, const sotto_http_response *response,
                       const sotto_err *err)
{
    together *t = context;
    sotto_ohttp_batch_answer answers[SOTTO_OHTTP_BATCH];
    const bool alone = status == SOTTO_OK && takes_no_batch(response);
    const bool whole =
        status == SOTTO_OK && response->status == 200 &&
        has_type(response, SOTTO_OHTTP_BATCH_RESPONSE_TYPE) &&
        sotto_ohttp_batch_answers_read(answers, t->count, response->body, NULL) == SOTTO_OK;

    (void)err;
    if (alone)
        atomic_store(&t->way->one_by_one, true);
    for (size_t i = 0; i < t->count; i++) {
        if (whole)
            answer(t->list[i], answers[i].status, true, true, answers[i].body);
        else if (alone)
            send_alone(t->way, t->list[i]);
        else if (status == SOTTO_OK)
            answer(t->list[i], response->status, false, has_type(response, SOTTO_HTTP_PROBLEM_TYPE),
                   response->body);
        else
            sotto_relay_refuse(t->way, t->list[i], 502, "the gateway does not answer");
    }
    sotto_release(t, sizeof *t);
}

static sotto_status start_call(const together *from, size_t bytes)
{
    together *t = sotto_alloc(sizeof *t);
    uint8_t *memory = sotto_alloc(bytes);
    sotto_buf body = sotto_buf_over(memory, bytes);
    sotto_status status = t && memory ? SOTTO_OK : SOTTO_NO_MEMORY;

    for (size_t i = 0; status == SOTTO_OK && i < from->count; i++)
        status = sotto_ohttp_batch_request_add(
            &body, sotto_http_request_body(from->list[i]->request), NULL);
    if (status == SOTTO_OK) {
        *t = *from;
        status = call(from->way, SOTTO_OHTTP_BATCH_REQUEST_TYPE, sotto_buf_bytes(&body),
                      from->count, on_answers, t);
    }
    if (status != SOTTO_OK)
        sotto_release(t, sizeof *t);
    sotto_release(memory, bytes);
    return status;
}

/* Those that a call has room for. */
static void send_together(const together *t, size_t bytes)
{
    atomic_fetch_add(&t->way->forwarded, t->count);
    if (t->count == 1)
        send_alone(t->way, t->list[0]);
    else if (t->count > 1 && start_call(t, bytes) != SOTTO_OK)
        for (size_t i = 0; i < t->count; i++)
            sotto_relay_refuse(t->way, t->list[i], 503, "too many requests are under way");
}

void sotto_relay_forward(sotto_relay_way *way, sotto_mixed *batch)
{
    const bool one_by_one = atomic_load(&way->one_by_one);
    together t = {.way = way};
    size_t bytes = 0;

    while (batch) {
        sotto_mixed *one = batch;
        const size_t size = SOTTO_OHTTP_BATCH_LENGTH + sotto_http_request_body(one->request).len;

        batch = one->next;
        one->way = way;
        if (one_by_one || t.count == SOTTO_OHTTP_BATCH || bytes + size > SOTTO_OHTTP_BATCH_BYTES) {
            send_together(&t, bytes);
            t.count = bytes = 0;
        }
        t.list[t.count++] = one;
        bytes += size;
    }
    send_together(&t, bytes);
}
