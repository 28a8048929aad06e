#include "support/round_trip.h"

#include <string.h>
#include <time.h>

typedef struct host {
    sotto_test *t;
    sotto_test_service *s;
    unsigned status; /* of its last exchange */
} host;

/* By HTTP, to the leader's own port. */
static sotto_status carry(void *context, sotto_exchange *exchange)
{
    host *h = context;
    sotto_test *t = h->t;
    const size_t size = (size_t)exchange->body_length;
    uint8_t *body = sotto_arena_take(&t->arena, size);
    const sotto_http_field field = {"Content-Type", exchange->media_type};
    sotto_http_response response;
    size_t len;

    CHECK(t, body != NULL);
    for (size_t at = 0; at < size; at += len)
        SOTTO_TRY(exchange->read(exchange, at, body + at, size - at, &len));
    CHECK_OK(t, sotto_http_call_wait(h->s->client, &response,
                                     &(sotto_http_call){.method = SOTTO_HTTP_POST,
                                                        .url = exchange->url,
                                                        .fields = &field,
                                                        .field_count = 1,
                                                        .body = sotto_bytes_of(body, size)},
                                     &t->arena, &t->err));
    h->status = response.status;
    SOTTO_TRY(exchange->begin(exchange, &(sotto_exchange_head){.size = sizeof(sotto_exchange_head),
                                                               .status = response.status}));
    return exchange->take(exchange, response.body.data, response.body.len);
}

void sotto_test_report(sotto_test *t, sotto_test_service *s, const char *policy,
                       const sotto_stream *stream, const sotto_value *value,
                       sotto_record_line_fn *look)
{
    host h = {.t = t, .s = s};
    const sotto_device_options options = {
        .policy = sotto_bytes_of(policy, strlen(policy)),
        .parties = sotto_bytes_of(s->parties_text, strlen(s->parties_text)),
        .streams = stream,
        .stream_count = 1,
        .host = {.exchange = carry, .context = &h}};
    const sotto_event event = {
        .stream = stream->name, .time = (int64_t)time(NULL), .values = value, .value_count = 1};
    sotto_device *device = NULL;
    sotto_tick tick;

    CHECK_OK(t, sotto_device_open(&device, &options, &t->err));
    CHECK_OK(t, sotto_device_consent(device, true, &t->err));
    if (value)
        CHECK_OK(t, sotto_device_donate(device, &event, 1, NULL, &t->err));
    CHECK_OK(t, sotto_device_offer(device, sotto_bytes_of(s->recipe_text, strlen(s->recipe_text)),
                                   &t->err));
    CHECK_OK(t, sotto_device_tick(device, &tick, (sotto_conditions){true, true, true}, &t->err));
    CHECK_EQUAL(t, 200, h.status);
    CHECK_EQUAL(t, 1, tick.made);
    CHECK_EQUAL(t, 0, tick.waiting);
    if (look)
        CHECK_OK(t, sotto_device_record(device, NULL, 0, look, t, &t->err));
    sotto_device_close(device);
}

sotto_collection sotto_test_collect_whole(sotto_test *t, const sotto_test_service *s)
{
    const sotto_collector_key key = {
        .id = 9,
        .suite = {SOTTO_HPKE_KEM_X25519, SOTTO_HPKE_KDF_SHA256, SOTTO_HPKE_AEAD_AES128_GCM},
        .key = s->collector};
    const sotto_collector_options options = {.task = &s->task,
                                             .key = &key,
                                             .collector_token = s->pairing.collector_token,
                                             .deadline_ms = 60000};
    sotto_collector *collector = NULL;
    sotto_collection out = {0};

    CHECK_OK(t, sotto_collector_open(&collector, &options, &t->err));
    CHECK_OK(t, sotto_collector_ask(collector, &out,
                                    &(sotto_collection_query){s->bucket * s->task.precision,
                                                              (s->bucket + 2) * s->task.precision},
                                    &t->arena, &t->err));
    sotto_collector_close(collector);
    return out;
}
