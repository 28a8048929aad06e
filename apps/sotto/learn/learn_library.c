/* Devices as an application has them, by libsotto-device-full. Each has files of its own for its events and its ledger. It takes rounds
 * from the log's feed, fetches models by their digest, trains, pays and sends. */
#define _POSIX_C_SOURCE 200809L
#include "learn_run.h"

#include "account/numeric/decimal.h"
#include "base/arena.h"
#include "base/writer.h"
#include "recipe/learning_correlated.h"
#include "sotto/learn.h"
#include "tlog/bundle.h"
#include "tlog/feed.h"
#include "transport/http_client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

enum { TICKS = 300, TICK_MS = 100, MOST_SIZES = 4096 };

static const sotto_field fields[] = {{"pixels", SOTTO_TYPE_TEXT}, {"label", SOTTO_TYPE_INTEGER}};
const sotto_stream learn_library_stream = {"digits", fields, 2, (int64_t)3650 * 86400, 100000};

/* ---- what everybody is given -------------------------------------------------------------------------------- */

/* What a policy of an application says of these fields, and whom it believes: the log of this deployment. */
sotto_status learn_library_policy(learn_run *run, sotto_err *err)
{
    demo *d = &run->deployment;
    const sotto_learning *l = run->learning;
    const double epsilon = sotto_decimal_up(l->head.epsilon); /* all that the recipe asks for */
    json_t *policy = NULL,
           *field = json_pack("{s:[s,s],s:s,s:f,s:f,s:I}", "by", "servers", "shares",
                              "epsilon_local", "none", "epsilon", epsilon, "delta", 1e-3, "reports",
                              (json_int_t)l->participations);
    sotto_bytes own;
    char *text;
    int len = -1;

    if (run->policy_file &&
        learn_read_file(run, run->policy_file, DEMO_LONG_TEXT, &own, err) == SOTTO_OK)
        policy = json_loadb((const char *)own.data, own.len, 0, NULL);
    else
        policy = json_pack("{s:s,s:i,s:{s:{s:f,s:f,s:I,s:[s,s]}},s:{s:O,s:O},s:[],s:I,s:f,s:b}",
                           "policy", "com.example.app", "version", 1, "analyses", l->head.analysis,
                           "epsilon", epsilon, "delta", 1e-3, "reports",
                           (json_int_t)l->participations, "fields", "digits.pixels", "digits.label",
                           "fields", "digits.pixels", field, "digits.label", field, "non_sensitive",
                           "min_cohort", (json_int_t)l->head.min_cohort, "honest", 0.5,
                           "correlated_noise", sotto_learning_correlated(l));
    (void)json_object_set_new(
        policy, "logs",
        json_pack("{s:{s:s,s:[s]}}", "main", "key", d->log_key, "witnesses", d->witness_key));
    text = json_dumps(policy, JSON_REAL_PRECISION(15));
    if (text)
        len = snprintf(d->policy_text, sizeof d->policy_text, "%s\n", text);
    free(text);
    json_decref(field);
    json_decref(policy);
    return len > 0 && (size_t)len < sizeof d->policy_text
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_MALFORMED, "the policy can't be read");
}

/* Everybody who saw a tree of the log sees how it grew since: each round adds one entry. */
sotto_status learn_library_feed(learn_run *run, sotto_bytes bundle, sotto_err *err)
{
    sotto_log_job *job = &run->deployment.log_job;
    uint64_t *sizes = sotto_arena_take_array(&run->round_arena, MOST_SIZES, sizeof *sizes);
    sotto_buf steps, bundles, out;
    sotto_bundle_facts facts;
    size_t count = 0;

    if (!sizes)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a feed");
    SOTTO_TRY(sotto_bundle_verify(&facts, bundle, &job->trust, err));
    for (uint64_t size = 1; size <= facts.checkpoint.size && count < MOST_SIZES; size++)
        sizes[count++] = size;
    SOTTO_TRY(sotto_buf_take(&steps, &run->round_arena, SOTTO_FEED_MAX, err));
    SOTTO_TRY(sotto_buf_take(&bundles, &run->round_arena, SOTTO_FEED_MAX, err));
    SOTTO_TRY(sotto_buf_take(&out, &run->round_arena, 2 * SOTTO_FEED_MAX, err));
    SOTTO_TRY(sotto_log_growth(&job->source, &steps, sizes, count, err));
    sotto_writer w = sotto_writer_on(&bundles);
    sotto_write_opaque32(&w, bundle);
    SOTTO_TRY(sotto_writer_finish(&w, "feed", err));
    SOTTO_TRY(sotto_feed_encode(
        &out, &(sotto_feed){facts.note, sotto_buf_bytes(&steps), sotto_buf_bytes(&bundles)}, err));
    run->feed = sotto_buf_bytes(&out);
    return SOTTO_OK;
}

/* ---- the host of a device ------------------------------------------------------------------------------------ */

typedef struct host {
    const learn_run *run;
    uint64_t slot; /* of the round, that it is now */
    sotto_http_client *client;
    sotto_arena *arena;
    sotto_trainer trainer;
} host;

/* The clock of a device stands within the round, and within a slot of it. */
static int64_t clock_of(void *context)
{
    const host *h = context;

    return (int64_t)(h->run->task.opens + h->slot * LEARN_EVERY) + LEARN_EVERY / 2;
}

static sotto_status carry(void *context, sotto_exchange *exchange)
{
    const host *h = context;

    return learn_library_carry(h->client, h->arena, exchange);
}

/* A model is fetched, or a report sent. */
sotto_status learn_library_carry(sotto_http_client *client, sotto_arena *arena,
                                 sotto_exchange *exchange)
{
    const sotto_http_field type = {"Content-Type", exchange->media_type};
    sotto_http_response response;
    char media[128] = "";
    sotto_bytes field;
    sotto_buf body;
    size_t len = 0;

    SOTTO_TRY(sotto_buf_take(&body, arena, (size_t)exchange->body_length + 1, NULL));
    for (uint64_t at = 0; at < exchange->body_length; at += len) {
        SOTTO_TRY(exchange->read(exchange, at, body.data + body.len, body.cap - body.len, &len));
        body.len += len;
    }
    const bool get = strcmp(exchange->method, "GET") == 0;
    const sotto_http_call call = {.method = get ? SOTTO_HTTP_GET : SOTTO_HTTP_POST,
                                  .url = exchange->url,
                                  .fields = &type,
                                  .field_count = exchange->media_type ? 1 : 0,
                                  .body = sotto_buf_bytes(&body),
                                  .repeatable = true,
                                  .attempts = 1,
                                  .max_response = (size_t)exchange->most_answer};
    SOTTO_TRY(sotto_http_call_wait(client, &response, &call, arena, NULL));
    if (sotto_http_response_field(&response, "content-type", &field) && field.len < sizeof media)
        memcpy(media, field.data, field.len);
    const sotto_exchange_head head = {
        .size = sizeof head, .status = response.status, .media_type = media[0] ? media : NULL};
    SOTTO_TRY(exchange->begin(exchange, &head));
    return exchange->take(exchange, response.body.data, response.body.len);
}

/* ---- its life ------------------------------------------------------------------------------------------------------ */

/* A row that was donated before is kept once. */
sotto_status learn_library_donate(const learn_run *run, sotto_device *device, uint64_t number,
                                  sotto_arena *arena, sotto_err *err)
{
    static const char digits[] = "0123456789abcdef";
    const size_t first = (size_t)run->firsts[number], end = (size_t)run->firsts[number + 1],
                 width = run->data.height * run->data.width;
    const sotto_examples rows = sotto_dataset_rows(&run->data, first, end - first);
    char *text = sotto_arena_take(arena, 2 * width);

    if (!text || !rows.labels)
        return sotto_fail(err, SOTTO_DENIED, "--library trains on images with labels");
    for (size_t i = 0; i < rows.count; i++) {
        const sotto_value values[] = {
            {.type = SOTTO_TYPE_TEXT, .as.text = sotto_bytes_of(text, 2 * width)},
            {.type = SOTTO_TYPE_INTEGER, .as.integer = rows.labels[i]}};
        sotto_event event = {.stream = "digits",
                             .id = {(uint8_t)(i >> 8), (uint8_t)i},
                             .time = run->learning->head.opens,
                             .values = values,
                             .value_count = 2};

        for (size_t k = 0; k < width; k++) {
            text[2 * k] = digits[rows.bytes[i * width + k] >> 4];
            text[2 * k + 1] = digits[rows.bytes[i * width + k] & 15];
        }
        SOTTO_TRY(sotto_device_donate(device, &event, 1, NULL, err));
    }
    return SOTTO_OK;
}

static sotto_status why_of(sotto_device *device, const learn_run *run, sotto_explanation *out,
                           sotto_err *err)
{
    char name[128];

    (void)snprintf(name, sizeof name, "%.90s#%llu", run->learning->head.name,
                   (unsigned long long)run->record.round);
    return sotto_device_why(device, out, name, err);
}

/* What one device refuses by the policy, all do: then the round need not go on. */
static sotto_status take_round(sotto_device *device, const learn_run *run, sotto_err *err)
{
    sotto_explanation why;
    uint64_t taken = 0;

    SOTTO_TRY(sotto_device_feed(device, run->feed, &taken, err));
    if (taken > 0)
        return SOTTO_OK;
    SOTTO_TRY(why_of(device, run, &why, err));
    return sotto_fail(err, SOTTO_DENIED, "devices refuse the round: %.110s", why.sentence);
}

/* By what the device remembers: an earlier run may have been killed after the report was made. */
static sotto_status note_outcome(sotto_device *device, const learn_run *run, bool made,
                                 learn_outcome *out, sotto_err *err)
{
    sotto_explanation why;

    SOTTO_TRY(why_of(device, run, &why, err));
    if (why.why == SOTTO_WHY_MODEL || why.why == SOTTO_WHY_TRAINER ||
        why.why == SOTTO_WHY_QUERY_FAILED || why.why == SOTTO_WHY_PARTIES)
        return sotto_fail(err, SOTTO_DENIED, "devices can't train: %.120s", why.sentence);
    out->sent = why.why == SOTTO_WHY_ANSWERED;
    out->took_part = out->sent || made;
    return SOTTO_OK;
}

/* Until nothing waits. *made: reports, added up. */
static sotto_status tick_on(sotto_device *device, uint64_t *made, sotto_err *err)
{
    const struct timespec moment = {0, TICK_MS * 1000000L};
    sotto_tick tick = {0};

    for (unsigned i = 0; i < TICKS && (i == 0 || tick.waiting > 0) && !demo_interrupted(); i++) {
        if (i > 0)
            (void)nanosleep(&moment, NULL);
        SOTTO_TRY(sotto_device_tick(device, &tick, (sotto_conditions){true, true, true}, err));
        *made += tick.made;
    }
    if (tick.waiting > 0)
        return sotto_fail(err, SOTTO_IO, "the leader did not take the report of a device");
    return SOTTO_OK;
}

static sotto_status live(sotto_device *device, host *h, uint64_t number, bool known,
                         learn_outcome *out, sotto_err *err)
{
    uint64_t made = 0;

    SOTTO_TRY(sotto_device_learn(device, &h->trainer, err));
    SOTTO_TRY(sotto_device_consent(device, true, err));
    if (!known)
        SOTTO_TRY(learn_library_donate(h->run, device, number, h->arena, err));
    SOTTO_TRY(take_round(device, h->run, err));
    for (h->slot = 0; h->slot < sotto_learning_slots(h->run->learning); h->slot++)
        SOTTO_TRY(tick_on(device, &made, err));
    h->slot = sotto_learning_slots(h->run->learning) - 1;
    return note_outcome(device, h->run, made > 0, out, err);
}

sotto_status learn_library_answer(learn_run *run, uint64_t number, size_t thread,
                                  sotto_http_client *client, sotto_arena *arena, learn_outcome *out,
                                  sotto_err *err)
{
    const demo *d = &run->deployment;
    host h = {
        .run = run, .client = client, .arena = arena, .trainer = learn_trainer_of(run, thread)};
    char folder[DEMO_FILE], events[DEMO_FILE + 32], ledger[DEMO_FILE + 32];
    sotto_device *device;
    sotto_status status;

    (void)snprintf(folder, sizeof folder, "%s/devices", run->folder);
    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        return sotto_fail(err, SOTTO_IO, "%s: %s", folder, strerror(errno));
    (void)snprintf(events, sizeof events, "%s/%llu.events", folder, (unsigned long long)number);
    (void)snprintf(ledger, sizeof ledger, "%s/%llu.ledger", folder, (unsigned long long)number);
    const bool known = access(ledger, F_OK) == 0 && run->record.round > 0;
    status = sotto_device_open(
        &device,
        &(sotto_device_options){.events = events,
                                .ledger = ledger,
                                .policy = sotto_bytes_of(d->policy_text, strlen(d->policy_text)),
                                .parties = sotto_bytes_of(d->parties_text, strlen(d->parties_text)),
                                .streams = &learn_library_stream,
                                .stream_count = 1,
                                .host = {.exchange = carry, .clock = clock_of, .context = &h}},
        err);
    if (status != SOTTO_OK)
        return status;
    status = live(device, &h, number, known, out, err);
    sotto_device_close(device);
    sotto_arena_reset(arena);
    return status;
}
