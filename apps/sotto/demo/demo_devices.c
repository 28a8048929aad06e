/* Simulated devices: each has its own events, policy and ledger, in memory, and answers as a real one does. A few are
 * hostile: they change what they send, send it twice, or forge a report without the library. */
#define _POSIX_C_SOURCE 200809L
#include "demo.h"

#include "base/arena.h"
#include "dap/dap.h"
#include "device/exchange.h"
#include "device/simulated.h"
#include "seal/hpke/ephemerals.h"
#include "sotto/random.h"
#include "support/people.h"
#include "terminal.h"
#include "transport/http_client.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    THREADS = 2,
    /* Devices that wait for a relay or an attester: as many at once as fill a few of the relay's batches. */
    WAITING_THREADS = 48,
    REPORTS_A_REQUEST = 100,
    HOSTILE_IN = 100,
    URL = 256,
    TASK_TRIES = 500, /* until a server has the task  */
    TASK_MS = 10,     /* between two of them          */
    TICKS = 600,      /* until a device has its token, or its report is taken */
    TICK_MS = 100,    /* between two of them                                   */
    /* Seconds. The witness cosigned by the real time, and no device takes a tree that is a day ahead. */
    BEFORE = 18 * 3600
};

const uint8_t demo_town[DEMO_CHOICES] = {38, 84, 121, 160, 205, 226, 233, 250};

typedef struct crew {
    demo *d;
    sotto_http_client *client;
    atomic_uint_fast64_t next, done;
    atomic_bool failed;
    pthread_mutex_t lock; /* over the truth and the error */
    sotto_err err;
    char url[URL];
} crew;

/* What one thread gathers before it uploads. */
typedef struct basket {
    crew *crew;
    demo_truth truth;
    sotto_buf body;
    size_t reports;
    unsigned hostile; /* what the device at hand does; 0: nothing */
    int64_t now;      /* by its clock; 0: the real time           */
    sotto_arena arena;
    sotto_device_shared *shared; /* by the devices of this thread */
    sotto_ephemerals *stock;     /* that they seal with           */
    sotto_token_stock *requests; /* that they ask for tokens with */
    sotto_proved *proved;        /* to them                       */
    uint64_t bin;                /* that the device at hand answered with */
    sotto_people_block block;
    double epsilon_left, epsilon_allowed;
} basket;

/* ---- uploading ------------------------------------------------------------------------------------------------- */

static sotto_status upload(basket *b, sotto_err *err)
{
    static const sotto_http_field type = {"Content-Type", "application/ppm-dap;message=upload-req"};
    sotto_http_call call = {.method = SOTTO_HTTP_POST,
                            .url = b->crew->url,
                            .fields = &type,
                            .field_count = 1,
                            .body = sotto_buf_bytes(&b->body),
                            .repeatable = true};
    sotto_http_response response = {0};

    if (b->reports == 0)
        return SOTTO_OK;
    SOTTO_TRY(sotto_http_call_wait(b->crew->client, &response, &call, &b->arena, err));
    if (response.status != 200)
        return sotto_fail(err, SOTTO_IO, "the leader said %u to an upload", response.status);
    b->body.len = 0;
    b->reports = 0;
    sotto_arena_reset(&b->arena);
    return SOTTO_OK;
}

static void put(basket *b, sotto_bytes report)
{
    if (report.len > b->body.cap - b->body.len)
        return;
    memcpy(b->body.data + b->body.len, report.data, report.len);
    b->body.len += report.len;
    b->reports++;
}

/* ---- one device ----------------------------------------------------------------------------------------------------- */

enum { HONEST, SPOILS_LEADERS_SHARE, SPOILS_HELPERS_SHARE, SENDS_TWICE, FORGES };

static sotto_status read_body(sotto_exchange *exchange, sotto_buf *out)
{
    size_t len = 0;

    if (exchange->body_length > out->cap - out->len)
        return SOTTO_TOO_LARGE;
    for (uint64_t at = 0; at < exchange->body_length; at += len) {
        SOTTO_TRY(exchange->read(exchange, at, out->data + out->len, out->cap - out->len, &len));
        out->len += len;
    }
    return SOTTO_OK;
}

/* Puts a report behind the others, so that a hundred travel together, as its device sends it. */
static void put_as_sent(basket *b, sotto_bytes sent)
{
    uint8_t *start = b->body.data + b->body.len;
    sotto_dap_report report;

    put(b, sent);
    if (b->hostile == SENDS_TWICE)
        put(b, sent);
    if (sotto_dap_report_decode(&report, sotto_bytes_of(start, sent.len), NULL) == SOTTO_OK) {
        if (b->hostile == SPOILS_LEADERS_SHARE)
            start[report.leader.payload.data - start] ^= 1;
        if (b->hostile == SPOILS_HELPERS_SHARE)
            start[report.helper.payload.data - start] ^= 1;
    }
}

/* A report on its way to the leader, without a relay. */
static sotto_status gather(basket *b, sotto_exchange *exchange, sotto_bytes sent)
{
    const sotto_exchange_head accepted = {.size = sizeof accepted, .status = 200};

    put_as_sent(b, sent);
    return exchange->begin(exchange, &accepted);
}

/* What a device sends in truth: one request, and its answer. */
static sotto_status carry(basket *b, sotto_exchange *exchange, sotto_bytes sent)
{
    const sotto_http_field type = {"Content-Type", exchange->media_type};
    const sotto_http_call call = {.method = SOTTO_HTTP_POST,
                                  .url = exchange->url,
                                  .fields = &type,
                                  .field_count = 1,
                                  .body = sent,
                                  .repeatable = true, /* so that it has an open connection ... */
                                  .attempts = 1,      /* ... though it goes once               */
                                  .max_response = (size_t)exchange->most_answer};
    sotto_http_response response;
    sotto_bytes field;
    char media[SOTTO_EXCHANGE_MEDIA_TYPE] = "";

    SOTTO_TRY(sotto_http_call_wait(b->crew->client, &response, &call, &b->arena, NULL));
    if (sotto_http_response_field(&response, "content-type", &field) && field.len < sizeof media)
        memcpy(media, field.data, field.len);
    const sotto_exchange_head head = {
        .size = sizeof head, .status = response.status, .media_type = media[0] ? media : NULL};
    SOTTO_TRY(exchange->begin(exchange, &head));
    return exchange->take(exchange, response.body.data, response.body.len);
}

/* The owner opens what his device sealed for the gateway, and sends it on to the leader, past the relay. His device hears
 * nothing of it. */
static sotto_status take_over(basket *b, sotto_bytes sealed)
{
    sotto_bytes report;

    SOTTO_TRY(demo_relay_unseal(b->crew->d, sealed, &report, &b->arena, NULL));
    put_as_sent(b, report);
    return SOTTO_AGAIN;
}

/* The one exchange that every device has. Only a report is of a recipe. */
static sotto_status exchange_of(void *context, sotto_exchange *exchange)
{
    basket *b = context;
    sotto_buf body;

    SOTTO_TRY(sotto_buf_take(&body, &b->arena, (size_t)exchange->body_length + 1, NULL));
    SOTTO_TRY(read_body(exchange, &body));
    if (!exchange->recipe)
        return carry(b, exchange, sotto_buf_bytes(&body));
    if (b->crew->d->without & DEMO_RELAY)
        return gather(b, exchange, sotto_buf_bytes(&body));
    return b->hostile ? take_over(b, sotto_buf_bytes(&body))
                      : carry(b, exchange, sotto_buf_bytes(&body));
}

static int64_t clock_of(void *context)
{
    const basket *b = context;

    return b->now ? b->now : (int64_t)time(NULL);
}

static sotto_status read_budget(void *context, const sotto_budget_line *line, sotto_err *err)
{
    basket *b = context;

    (void)err;
    if (line->analysis) {
        b->epsilon_allowed = line->epsilon_allowed;
        b->epsilon_left = line->epsilon_allowed - line->epsilon;
    }
    return SOTTO_OK;
}

static sotto_status tick(sotto_device *device, sotto_tick *out, unsigned number, sotto_err *err)
{
    const struct timespec moment = {0, TICK_MS * 1000000L};

    if (number > 0)
        (void)nanosleep(&moment, NULL);
    return sotto_device_tick(device, out, (sotto_conditions){true, true, true}, err);
}

static sotto_status count_held(void *context, const sotto_token_line *line, sotto_err *err)
{
    (void)err;
    *(unsigned *)context += line->state == SOTTO_TOKEN_HELD;
    return SOTTO_OK;
}

/* Hours before the recipe opens: the issuer's key is listed, and the device draws when it will ask. It wakes up when the recipe opens, asks, and
 * the token rests for an hour at most. */
static sotto_status get_token(basket *b, sotto_device *device, sotto_err *err)
{
    const demo *d = b->crew->d;
    const unsigned wanted = d->arc ? 2 : 1; /* one of each server, or the issuer's */
    unsigned held = 0;
    sotto_tick ignored;

    b->now = d->opens - BEFORE;
    SOTTO_TRY(sotto_device_take_issuer_keys(device, d->token_keys, err));
    if (d->arc)
        SOTTO_TRY(sotto_device_take_issuer_keys(device, d->helper_keys, err));
    b->now = d->opens;
    for (unsigned i = 0; i < TICKS && held < wanted && !demo_interrupted(); i++) {
        held = 0;
        SOTTO_TRY(tick(device, &ignored, i, err));
        SOTTO_TRY(sotto_device_tokens(device, count_held, &held, err));
    }
    return held == wanted ? SOTTO_OK : sotto_fail(err, SOTTO_IO, "a device got no token");
}

/* A device that was not drawn is silent; one that was has its report taken, unless its owner keeps it. */
static sotto_status answer_now(basket *b, sotto_device *device, bool *made, sotto_err *err)
{
    sotto_explanation why;
    sotto_tick state;

    b->now = 0;
    SOTTO_TRY(tick(device, &state, 0, err));
    *made = state.made == 1;
    for (unsigned i = 1; i < TICKS && !b->hostile && state.waiting > 0 && !demo_interrupted(); i++)
        SOTTO_TRY(tick(device, &state, i, err));
    if (!b->hostile && state.waiting > 0)
        return sotto_fail(err, SOTTO_IO, "a report was not taken");
    if (*made)
        return SOTTO_OK;
    SOTTO_TRY(sotto_device_why(device, &why, b->crew->d->recipe->name, err));
    return why.why == SOTTO_WHY_NOT_SAMPLED || why.why == SOTTO_WHY_NO_VALUE ||
                   why.why == SOTTO_WHY_NOT_TARGETED || why.why == SOTTO_WHY_COHORT_VALUE
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_BUG, "a device that should answer did not: %.100s",
                            why.sentence);
}

static sotto_status donate(basket *b, sotto_device *device, const sotto_person *person,
                           sotto_err *err)
{
    const sotto_recipe_table *table = &b->crew->d->table;
    const sotto_value nothing = {.type = SOTTO_TYPE_NULL};

    for (size_t i = 0; i < table->described_count; i++)
        SOTTO_TRY(sotto_device_describe(device, table->described[i], person->described[i], err));
    for (size_t i = 0; i < person->rows; i++) {
        sotto_event event = {
            .stream = table->stream.name,
            .time = person->times[i] == INT64_MIN ? (int64_t)time(NULL) : person->times[i],
            .values = table->unread ? &nothing : &person->values[i * table->stream.field_count],
            .value_count = table->stream.field_count};

        SOTTO_TRY(sotto_random_bytes(event.id, sizeof event.id, err));
        SOTTO_TRY(sotto_device_donate(device, &event, 1, NULL, err));
    }
    return SOTTO_OK;
}

static sotto_status live(basket *b, sotto_device *device, const sotto_person *person, bool *made,
                         sotto_err *err)
{
    const demo *d = b->crew->d;

    SOTTO_TRY(sotto_device_consent(device, true, err));
    if (!(d->without & DEMO_TOKENS))
        SOTTO_TRY(get_token(b, device, err));
    b->now = 0;
    SOTTO_TRY(donate(b, device, person, err));
    SOTTO_TRY(sotto_device_offer(device, d->offer, err));
    SOTTO_TRY(answer_now(b, device, made, err));
    /* One policy, and one report of those that answer: all their ledgers say the same. */
    return !*made || b->epsilon_allowed > 0 ? SOTTO_OK
                                            : sotto_device_ledger(device, read_budget, b, err);
}

static void note_answer(void *context, uint64_t bin)
{
    ((basket *)context)->bin = bin;
}

static sotto_status run_device(basket *b, uint64_t number, const sotto_person *person, bool *made,
                               sotto_err *err)
{
    const demo *d = b->crew->d;
    const char *parties = b->hostile ? d->hostile_parties_text : d->parties_text;
    const sotto_device_simulation watched = {
        .context = b, .answered = note_answer, .sealed_anew = true};
    uint8_t seed[SOTTO_DEVICE_ENROLMENT];
    sotto_device *device;
    sotto_status status;

    demo_enrolment(d, seed, number);
    SOTTO_TRY(sotto_device_open(
        &device,
        &(sotto_device_options){.policy = sotto_bytes_of(d->policy_text, strlen(d->policy_text)),
                                .parties = sotto_bytes_of(parties, strlen(parties)),
                                .streams = &d->table.stream,
                                .stream_count = 1,
                                .host = {.exchange = exchange_of, .clock = clock_of, .context = b},
                                .simulation = &watched,
                                .shared = b->shared,
                                .enrolment = seed},
        err));
    status = live(b, device, person, made, err);
    sotto_device_close(device);
    sotto_arena_reset(&b->arena);
    return status;
}

static sotto_status forge(basket *b, sotto_err *err)
{
    sotto_buf report;

    SOTTO_TRY(demo_forge(&report, b->crew->d, &b->arena, err));
    put(b, sotto_buf_bytes(&report));
    return SOTTO_OK;
}

/* ---- everybody -------------------------------------------------------------------------------------------------------------- */

/* One row of the user's own, or somebody of the made-up town. */
static sotto_status next_person(basket *b, sotto_person *out, sotto_value *value, int64_t *now,
                                sotto_err *err)
{
    crew *c = b->crew;
    unsigned choice = 0;
    uint8_t draw;

    if (c->d->people) {
        (void)pthread_mutex_lock(&c->lock);
        const sotto_status status = sotto_people_next(c->d->people, &b->block, err);
        (void)pthread_mutex_unlock(&c->lock);
        if (status == SOTTO_OK && b->block.count != 1)
            return sotto_fail(err, SOTTO_BUG, "fewer devices than were counted");
        *out = b->block.people[0];
        return status;
    }
    SOTTO_TRY(sotto_random_bytes(&draw, 1, err));
    while (choice + 1 < DEMO_CHOICES && draw > demo_town[choice])
        choice++;
    *value =
        (sotto_value){SOTTO_TYPE_TEXT,
                      {.text = sotto_bytes_of(demo_choices[choice], strlen(demo_choices[choice]))}};
    *now = (int64_t)time(NULL);
    *out = (sotto_person){.rows = 1, .values = value, .times = now};
    return SOTTO_OK;
}

static sotto_status answer(basket *b, uint64_t number, sotto_err *err)
{
    demo_truth *truth = &b->truth;
    sotto_person person;
    sotto_value value;
    int64_t now;
    bool made;

    SOTTO_TRY(next_person(b, &person, &value, &now, err));
    /* Every hundredth is hostile, each in its turn in another way; none is the first of its thread, whose files are kept for the others. */
    b->hostile = !b->crew->d->people && number % HOSTILE_IN == HOSTILE_IN - 1
                     ? 1 + (unsigned)(number / HOSTILE_IN % FORGES)
                     : HONEST;
    if (b->hostile == FORGES) {
        truth->forged++;
        return forge(b, err);
    }
    SOTTO_TRY(run_device(b, number, &person, &made, err));
    if (!made) {
        truth->silent++;
        return SOTTO_OK;
    }
    truth->tampered += b->hostile == SPOILS_LEADERS_SHARE || b->hostile == SPOILS_HELPERS_SHARE;
    truth->replayed += b->hostile == SENDS_TWICE;
    if (b->hostile == HONEST || b->hostile == SENDS_TWICE) {
        if (b->bin < b->crew->d->values)
            truth->bins[b->bin]++;
        truth->answered++;
    }
    return SOTTO_OK;
}

static void add_truth(demo *d, const basket *b)
{
    for (size_t i = 0; b->truth.bins && i < d->values; i++)
        d->truth.bins[i] += b->truth.bins[i];
    d->truth.answered += b->truth.answered;
    d->truth.silent += b->truth.silent;
    d->truth.tampered += b->truth.tampered;
    d->truth.replayed += b->truth.replayed;
    d->truth.forged += b->truth.forged;
    if (b->epsilon_allowed > 0) { /* it had an honest device */
        d->epsilon_left = b->epsilon_left;
        d->epsilon_allowed = b->epsilon_allowed;
    }
}

static sotto_status work_through(basket *b, sotto_err *err)
{
    crew *c = b->crew;
    uint64_t number;

    while ((number = atomic_fetch_add(&c->next, 1)) < c->d->devices && !demo_interrupted() &&
           !atomic_load(&c->failed)) {
        SOTTO_TRY(answer(b, number, err));
        (void)atomic_fetch_add(&c->done, 1);
        if (b->reports >= REPORTS_A_REQUEST)
            SOTTO_TRY(upload(b, err));
    }
    return upload(b, err);
}

static sotto_status take_key(void *stock, sotto_ephemeral *out, const sotto_hpke_config *to,
                             sotto_err *err)
{
    return sotto_ephemerals_take(stock, out, to, err);
}

/* What the devices of one thread share. */
static sotto_status equip(basket *b, sotto_err *err)
{
    b->shared = sotto_device_shared_new();
    b->stock = sotto_ephemerals_new();
    b->requests = sotto_token_stock_new();
    b->proved = sotto_proved_new();
    if (!b->shared || !b->stock || !b->requests || !b->proved)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the demo");
    sotto_shared_seal_with(b->shared, (sotto_ephemeral_source){take_key, b->stock});
    sotto_shared_ask_with(b->shared, sotto_token_source_of(b->requests));
    sotto_shared_prove_with(b->shared, sotto_proved_prover(b->proved));
    return SOTTO_OK;
}

static void *work(void *context)
{
    crew *c = context;
    basket b = {.crew = c};
    sotto_err err = {0};
    sotto_arena body;
    size_t size = (REPORTS_A_REQUEST + 4) * (c->d->task.report_bytes + 256);
    sotto_status status;

    sotto_arena_init(&b.arena, (size_t)64 << 20);
    sotto_arena_init(&body, 2 * size + c->d->values * sizeof *b.truth.bins + 65536);
    sotto_arena_init(&b.block.arena, (size_t)64 << 20);
    b.block.most = 1;
    status = equip(&b, &err);
    b.truth.bins = sotto_arena_take_array(&body, c->d->values, sizeof *b.truth.bins);
    if (status == SOTTO_OK && !b.truth.bins)
        status = sotto_fail(&err, SOTTO_NO_MEMORY, "the demo");
    if (status == SOTTO_OK)
        status = sotto_buf_take(&b.body, &body, size, &err);
    if (status == SOTTO_OK)
        status = work_through(&b, &err);
    (void)pthread_mutex_lock(&c->lock);
    add_truth(c->d, &b);
    if (status != SOTTO_OK) {
        c->err = err;
        c->err.status = status;
        atomic_store(&c->failed, true);
    }
    (void)pthread_mutex_unlock(&c->lock);
    sotto_device_shared_free(b.shared);
    sotto_ephemerals_free(b.stock);
    sotto_token_stock_free(b.requests);
    sotto_proved_free(b.proved);
    sotto_arena_clear(&b.arena);
    sotto_arena_clear(&b.block.arena);
    sotto_arena_clear(&body);
    return NULL;
}

/* Until all threads are done, how far they are. */
static void watch(crew *c)
{
    sotto_progress progress = {
        .what = "devices", .total = c->d->devices, .quiet = c->d->quiet, .shown = 0};
    struct timespec moment = {0, 50000000};

    while (atomic_load(&c->done) < c->d->devices && !atomic_load(&c->failed) &&
           !demo_interrupted()) {
        sotto_progress_show(&progress, atomic_load(&c->done));
        (void)nanosleep(&moment, NULL);
    }
    sotto_progress_show(&progress, atomic_load(&c->done));
    sotto_progress_end(&progress);
}

static void write_url(crew *c)
{
    char id[SOTTO_DAP_ID_TEXT_MAX];

    sotto_dap_id_encode(id, sotto_bytes_of(c->d->task.id, sizeof c->d->task.id));
    (void)snprintf(c->url, sizeof c->url, "http://127.0.0.1:%u/tasks/%s/reports", c->d->leader.port,
                   id);
}

/* A server looks for a task that is new to it when somebody asks for it, and says 404 until then. */
static sotto_status await_task(crew *c, sotto_http_method method, const char *url, const char *who,
                               sotto_err *err)
{
    const struct timespec moment = {0, TASK_MS * 1000000L};
    const sotto_http_field type = {"Content-Type", "application/ppm-dap;message=upload-req"};
    const sotto_http_call call = {.method = method, .url = url, .fields = &type, .field_count = 1};
    sotto_http_response response = {.status = 404};

    for (unsigned i = 0; i < TASK_TRIES && response.status == 404 && !demo_interrupted(); i++) {
        if (i > 0)
            (void)nanosleep(&moment, NULL);
        SOTTO_TRY(sotto_http_call_wait(c->client, &response, &call, &c->d->arena, err));
    }
    return response.status == 404 ? sotto_fail(err, SOTTO_IO, "the %s does not have the task", who)
                                  : SOTTO_OK;
}

/* An upload without a report, and a job without the leader's token: neither leaves anything behind. */
static sotto_status await_tasks(crew *c, sotto_err *err)
{
    char id[SOTTO_DAP_ID_TEXT_MAX], url[URL];

    sotto_dap_id_encode(id, sotto_bytes_of(c->d->task.id, sizeof c->d->task.id));
    (void)snprintf(url, sizeof url,
                   "http://127.0.0.1:%u/tasks/%s/aggregation_jobs/AAAAAAAAAAAAAAAAAAAAAA",
                   c->d->helper.port, id);
    SOTTO_TRY(await_task(c, SOTTO_HTTP_POST, c->url, "leader", err));
    return await_task(c, SOTTO_HTTP_PUT, url, "helper", err);
}

sotto_status demo_tasks_await(demo *d, sotto_err *err)
{
    crew c = {.d = d, .lock = PTHREAD_MUTEX_INITIALIZER};

    write_url(&c);
    SOTTO_TRY(sotto_http_client_open(&c.client, &(sotto_http_client_options){0}, err));
    const sotto_status status = await_tasks(&c, err);
    sotto_http_client_close(c.client);
    return status;
}

sotto_status demo_devices_run(demo *d, sotto_err *err)
{
    const bool waits = (d->without & (DEMO_RELAY | DEMO_TOKENS)) != (DEMO_RELAY | DEMO_TOKENS);
    const unsigned wanted = waits ? WAITING_THREADS : THREADS;
    crew c = {.d = d, .lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t threads[WAITING_THREADS];
    unsigned started = 0;

    write_url(&c);
    SOTTO_TRY(sotto_http_client_open(&c.client, &(sotto_http_client_options){0}, err));
    SOTTO_TRY(demo_tokens_enrolled(d, err));
    while (started < wanted && pthread_create(&threads[started], NULL, work, &c) == 0)
        started++;
    if (started > 0)
        watch(&c);
    for (unsigned i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
    sotto_http_client_close(c.client);
    if (started == 0)
        return sotto_fail(err, SOTTO_IO, "no thread for the devices");
    if (atomic_load(&c.failed))
        return sotto_fail(err, c.err.status, "%s", c.err.reason);
    return demo_interrupted() ? sotto_fail(err, SOTTO_AGAIN, "interrupted") : SOTTO_OK;
}
