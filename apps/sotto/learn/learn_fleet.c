/* Devices in this process. Each draws by itself whether it takes part in a round, trains on its own rows, and seals its update for
 * both servers. All that a device draws follows from the fleet's secret, its number and the round. So a run that goes on
 * sends the same reports again, and a leader takes each of them once. */
#define _POSIX_C_SOURCE 200809L
#include "learn_run.h"
#include "terminal.h"

#include "base/arena.h"
#include "base/clock.h"
#include "crypto/xof.h"
#include "device/answer/participate.h"
#include "device/answer/shape.h"
#include "device/answer/update.h"
#include "learn/train.h"
#include "transport/http_client.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MEMORY = 256 << 20, BODY = 6 << 20, URL = 512, UPLOAD_TRIES = 50, UPLOAD_PAUSE_MS = 200 };

typedef struct crew {
    learn_run *run;
    sotto_http_client *client;
    char url[URL];
    atomic_uint_fast64_t next, done, sent, took_part;
    atomic_bool failed;
    pthread_mutex_t lock; /* over the error */
    sotto_err err;
} crew;

typedef struct hand {
    crew *crew;
    size_t number;
    pthread_t thread;
    sotto_arena arena, scratch; /* of the thread; of one report */
    sotto_learner learner;
    float *delta;
    double *update, weight;
    sotto_buf body;
    size_t reports;
} hand;

/* ---- chance -------------------------------------------------------------------------------------------------- */

static sotto_status fill(void *context, void *out, size_t len, sotto_err *err)
{
    return sotto_xof_aes_next(context, out, len, err);
}

/* purpose: what the stream is for; a device's coins never come from the stream of its noise. */
static sotto_status stream_of(const learn_run *run, sotto_xof_aes *out, const char *purpose,
                              uint64_t device, uint64_t round, sotto_err *err)
{
    uint8_t binder[16];

    for (unsigned i = 0; i < 8; i++) {
        binder[i] = (uint8_t)(device >> 8 * i);
        binder[8 + i] = (uint8_t)(round >> 8 * i);
    }
    return sotto_xof_hmac_sha256_aes128_init(out, sotto_bytes_of(purpose, strlen(purpose)),
                                             run->fleet, sotto_bytes_of(binder, sizeof binder),
                                             sotto_bytes_of(NULL, 0), err);
}

static sotto_status number_of(const learn_run *run, uint64_t *out, const char *purpose,
                              uint64_t device, uint64_t round, sotto_err *err)
{
    uint8_t bytes[8];
    sotto_xof_aes xof;
    sotto_status status = stream_of(run, &xof, purpose, device, round, err);

    if (status == SOTTO_OK)
        status = sotto_xof_aes_next(&xof, bytes, sizeof bytes, err);
    sotto_xof_aes_clear(&xof);
    *out = 0;
    for (unsigned i = 0; i < sizeof bytes && status == SOTTO_OK; i++)
        *out = *out << 8 | bytes[i];
    return status;
}

static sotto_status toss(const learn_run *run, bool *heads, const char *purpose, double chance,
                         uint64_t device, uint64_t round, sotto_err *err)
{
    uint64_t number;

    SOTTO_TRY(number_of(run, &number, purpose, device, round, err));
    *heads = (double)(number >> 11) * 0x1p-53 < chance;
    return SOTTO_OK;
}

/* When a device first hears of the session: at once, but for sliding windows, for which devices arrive evenly. */
static int64_t arrival_of(const sotto_learning *l, uint64_t device)
{
    const uint64_t round = sotto_learning_policy(l) == SOTTO_ROUND_ALL_AFTER_WARM_UP
                               ? device * l->rounds / l->head.population
                               : 0;

    return l->head.opens + (int64_t)(round * l->every);
}

/* By the draw of the device library: one slot of the session, or none. *slot is that of the round at hand. */
static sotto_status drew(const learn_run *run, bool *out, uint64_t *slot, uint64_t device,
                         sotto_err *err)
{
    const sotto_learning *l = run->learning;
    sotto_decision decision = {0};
    sotto_entropy entropy;
    sotto_xof_aes xof;
    sotto_status status = stream_of(run, &xof, "sotto draw a round", device, 0, err);

    sotto_entropy_init(&entropy, fill, &xof);
    sotto_lot lot = {&l->head, &entropy, arrival_of(l, device)};
    if (status == SOTTO_OK)
        status = sotto_participation_draw(&lot, &decision, err);
    sotto_entropy_clear(&entropy);
    sotto_xof_aes_clear(&xof);
    const uint64_t length = l->head.participation.length,
                   begins = (uint64_t)decision.window.start + decision.slot * length;
    *slot = begins < run->task.opens ? 0 : (begins - run->task.opens) / length;
    *out = decision.choice == SOTTO_CHOICE_TAKE_PART && begins >= run->task.opens &&
           begins < run->task.closes;
    return status;
}

/* At most `participations` rounds, and `separation` or more apart: what the claim counts on, kept by each device itself. */
static sotto_status takes_part(const learn_run *run, bool *out, uint64_t *slot, uint64_t device,
                               sotto_err *err)
{
    const sotto_learning *l = run->learning;
    uint64_t took = 0, last = 0;

    *out = false;
    *slot = 0;
    if (sotto_learning_once(l))
        return drew(run, out, slot, device, err);
    for (uint64_t round = 0; round <= run->record.round && took < l->participations; round++) {
        bool heads;

        SOTTO_TRY(
            toss(run, &heads, "sotto take part", l->head.participation.rate, device, round, err));
        if (!heads || (took > 0 && round - last < l->separation))
            continue;
        took++;
        last = round;
        *out = round == run->record.round;
    }
    return SOTTO_OK;
}

/* ---- one device ------------------------------------------------------------------------------------------------- */

static sotto_status train(hand *h, uint64_t device, sotto_err *err)
{
    const learn_run *run = h->crew->run;
    const sotto_learning *l = run->learning;
    const size_t first = (size_t)run->firsts[device];
    size_t rows = (size_t)run->firsts[device + 1] - first;
    sotto_training training = {.epochs = (size_t)l->epochs,
                               .batch = l->algorithm == 1 ? 0 : (size_t)l->batch,
                               .rate = sotto_learning_rate(l, run->record.round),
                               .clip = l->clip};
    sotto_training_facts facts;

    rows = rows > l->most_rows ? (size_t)l->most_rows : rows;
    SOTTO_TRY(number_of(run, &training.seed, "sotto order", device, run->record.round, err));
    const sotto_examples examples = sotto_dataset_rows(&run->data, first, rows);
    sotto_train(&h->learner, run->session.weights, &examples, &training, h->delta, &facts);
    h->weight = sotto_update_weight(l, rows);
    return sotto_update_shape(h->update, l, run->record.round, h->delta, err);
}

/* The one place where a report is made: from an update to sealed bytes behind `body`. */
static sotto_status make_report(hand *h, uint64_t device, uint64_t slot, sotto_err *err)
{
    const learn_run *run = h->crew->run;
    const sotto_update_maker maker = {
        &run->vdaf,
        &run->randomizer,
        {run->keys[SOTTO_REPORT_LEADER], run->keys[SOTTO_REPORT_HELPER]}};
    sotto_report_draft draft = {.configuration = run->task.configuration,
                                .metadata = {.time = run->task.opens / run->task.precision + slot}};
    sotto_dap_report report;
    sotto_entropy entropy;
    sotto_xof_aes xof;
    sotto_status status = stream_of(run, &xof, "sotto report", device, run->record.round, err);

    memcpy(draft.task_id, run->task.id, sizeof draft.task_id);
    sotto_entropy_init(&entropy, fill, &xof);
    if (status == SOTTO_OK)
        status = sotto_update_report_make(&report, &draft, &maker, h->update, h->weight, &entropy,
                                          &h->scratch, err);
    if (status == SOTTO_OK)
        status = sotto_dap_report_encode(&h->body, &report, err);
    sotto_entropy_clear(&entropy);
    sotto_xof_aes_clear(&xof);
    sotto_arena_reset(&h->scratch);
    return status;
}

/* ---- uploading -------------------------------------------------------------------------------------------------- */

static sotto_status upload(hand *h, sotto_err *err)
{
    static const sotto_http_field type = {"Content-Type", "application/ppm-dap;message=upload-req"};
    const struct timespec pause = {0, UPLOAD_PAUSE_MS * 1000000L};
    const sotto_http_call call = {.method = SOTTO_HTTP_POST,
                                  .url = h->crew->url,
                                  .fields = &type,
                                  .field_count = 1,
                                  .body = sotto_buf_bytes(&h->body),
                                  .repeatable = true};
    sotto_http_response response = {.status = 503};
    sotto_status status = SOTTO_OK;

    if (h->reports == 0)
        return SOTTO_OK;
    for (int i = 0; i < UPLOAD_TRIES && status == SOTTO_OK && response.status == 503; i++) {
        if (i > 0)
            (void)nanosleep(&pause, NULL);
        status = sotto_http_call_wait(h->crew->client, &response, &call, &h->scratch, err);
    }
    sotto_arena_reset(&h->scratch);
    if (status != SOTTO_OK)
        return status;
    if (response.status == 503)
        return sotto_fail(err, SOTTO_IO,
                          "the leader can't store reports (503): is its disk or database full?");
    if (response.status != 200)
        return sotto_fail(err, SOTTO_IO, "the leader said %u to an upload", response.status);
    (void)atomic_fetch_add(&h->crew->sent, h->reports);
    h->body.len = 0;
    h->reports = 0;
    return SOTTO_OK;
}

static sotto_status answer_by_library(hand *h, uint64_t device, sotto_err *err)
{
    learn_outcome outcome = {0};

    SOTTO_TRY(learn_library_answer(h->crew->run, device, h->number, h->crew->client, &h->scratch,
                                   &outcome, err));
    (void)atomic_fetch_add(&h->crew->took_part, outcome.took_part);
    (void)atomic_fetch_add(&h->crew->sent, outcome.sent);
    return SOTTO_OK;
}

static sotto_status answer(hand *h, uint64_t device, sotto_err *err)
{
    const learn_run *run = h->crew->run;
    bool drawn, lost = false;
    uint64_t slot;

    if (arrival_of(run->learning, device) > (int64_t)run->task.opens)
        return SOTTO_OK; /* it has not heard of the session */
    if (run->library)
        return answer_by_library(h, device, err);

    SOTTO_TRY(takes_part(run, &drawn, &slot, device, err));
    if (drawn && run->drop > 0)
        SOTTO_TRY(toss(run, &lost, "sotto drop out", (double)run->drop / 100, device,
                       run->record.round, err));
    if (!drawn)
        return SOTTO_OK;
    (void)atomic_fetch_add(&h->crew->took_part, 1);
    if (lost)
        return SOTTO_OK;
    SOTTO_TRY(train(h, device, err));
    if (h->body.cap - h->body.len < run->task.report_bytes + 64)
        SOTTO_TRY(upload(h, err));
    SOTTO_TRY(make_report(h, device, slot, err));
    h->reports++;
    return SOTTO_OK;
}

/* ---- the crew ----------------------------------------------------------------------------------------------------- */

static void *work(void *context)
{
    hand *h = context;
    crew *c = h->crew;
    const uint64_t devices = c->run->learning->head.population;
    sotto_err err = {0};
    sotto_status status = SOTTO_OK;

    while (status == SOTTO_OK && !atomic_load(&c->failed) && !demo_interrupted()) {
        const uint64_t device = atomic_fetch_add(&c->next, 1);

        if (device >= devices)
            break;
        status = answer(h, device, &err);
        (void)atomic_fetch_add(&c->done, 1);
    }
    if (status == SOTTO_OK)
        status = upload(h, &err);
    if (status == SOTTO_OK)
        return NULL;
    (void)pthread_mutex_lock(&c->lock);
    if (!atomic_exchange(&c->failed, true))
        c->err = err;
    (void)pthread_mutex_unlock(&c->lock);
    return NULL;
}

static sotto_status open_hand(hand *h, crew *c, size_t number, sotto_err *err)
{
    const learn_run *run = c->run;
    const size_t count = run->model.parameters,
                 body = run->task.report_bytes + 1024 > BODY ? run->task.report_bytes + 1024 : BODY;

    h->crew = c;
    h->number = number;
    sotto_arena_init(&h->arena, (size_t)1 << 30);
    sotto_arena_init(&h->scratch, (size_t)1 << 30);
    SOTTO_TRY(sotto_buf_take(&h->body, &h->arena, body, err));
    if (run->library) /* the library does all of it */
        return SOTTO_OK;
    SOTTO_TRY(sotto_learner_init(&h->learner, &run->model, run->data.largest, &h->arena, err));
    h->delta = sotto_arena_take_array(&h->arena, count, sizeof *h->delta);
    h->update = sotto_arena_take_array(&h->arena, (size_t)sotto_learning_length(run->learning),
                                       sizeof *h->update);
    return h->delta && h->update ? SOTTO_OK : sotto_fail(err, SOTTO_NO_MEMORY, "a device");
}

static sotto_status run_hands(crew *c, hand *hands, size_t count, sotto_err *err)
{
    size_t started = 0;

    for (size_t i = 0; i < count; i++)
        SOTTO_TRY(open_hand(&hands[i], c, i, err));
    while (started < count &&
           pthread_create(&hands[started].thread, NULL, work, &hands[started]) == 0)
        started++;
    if (started == 0)
        return sotto_fail(err, SOTTO_IO, "no thread for devices");
    for (size_t i = 0; i < started; i++)
        (void)pthread_join(hands[i].thread, NULL);
    if (atomic_load(&c->failed))
        return sotto_fail(err, c->err.status, "%s", c->err.reason);
    return demo_interrupted() ? sotto_fail(err, SOTTO_STALE, "interrupted") : SOTTO_OK;
}

static sotto_status task_url(const learn_run *run, char out[URL], sotto_err *err)
{
    char id[SOTTO_DAP_ID_TEXT_MAX];
    const sotto_bytes url = run->task.leader_url;

    sotto_dap_id_encode(id, sotto_bytes_of(run->task.id, sizeof run->task.id));
    return snprintf(out, URL, "%.*s%stasks/%s/reports", (int)url.len, (const char *)url.data,
                    url.data[url.len - 1] == '/' ? "" : "/", id) < URL
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_TOO_LARGE, "the leader's URL is too long");
}

sotto_status learn_fleet_answer(learn_run *run, sotto_err *err)
{
    const uint64_t began = sotto_clock_monotonic(&sotto_clock_system);
    hand hands[LEARN_THREADS] = {{0}};
    crew c = {.run = run};
    sotto_status status = task_url(run, c.url, err);

    (void)pthread_mutex_init(&c.lock, NULL);
    if (status == SOTTO_OK)
        status = sotto_http_client_open(
            &c.client,
            &(sotto_http_client_options){.ca_file = run->ca_file, .plain_anywhere = run->plain},
            err);
    if (status == SOTTO_OK)
        status = run_hands(&c, hands, (size_t)run->threads, err);
    sotto_http_client_close(c.client);
    for (size_t i = 0; i < LEARN_THREADS; i++) {
        sotto_arena_clear(&hands[i].arena);
        sotto_arena_clear(&hands[i].scratch);
    }
    (void)pthread_mutex_destroy(&c.lock);
    run->sent = atomic_load(&c.sent);
    run->took_part = atomic_load(&c.took_part);
    run->train_ms = (double)(sotto_clock_monotonic(&sotto_clock_system) - began) / 1e6;
    return status;
}
