/* Devices, a leader and a helper in one round of learning: the sum that is collected is that of the devices' own trainers. */
#define _POSIX_C_SOURCE 200809L
#include "crypto/hash.h"
#include "recipe/learning.h"
#include "sotto/learn.h"
#include "support/database.h"
#include "support/prio3.h"
#include "support/steps.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { PARAMETERS = 120, DEVICES = 12, SCALE = 4096, TEXT = 4096, ROUND = 24 };

static const char policy[] =
    "{\"policy\": \"p\", \"version\": 1, \"analyses\": {\"com.example.digits\": {\"epsilon\": 30,"
    " \"delta\": 1e-5, \"reports\": 1, \"fields\": [\"digits.label\"]}}, \"fields\": {"
    "\"digits.label\": {\"by\": [\"shares\"], \"epsilon_local\": \"none\", \"epsilon\": 30,"
    " \"delta\": 1e-5, \"reports\": 1}}, \"non_sensitive\": [], \"min_cohort\": 10, \"honest\": 1}";

typedef struct scene {
    sotto_test *t;
    sotto_test_service s;
    sotto_bytes model, record;
    int64_t now;
    size_t device; /* that trains */
    double wanted[PARAMETERS];
    sotto_vector_randomizer randomizer;
    sotto_vdaf vdaf;
} scene;

static sotto_bytes model_of(sotto_test *t)
{
    static const char header[] =
        "{\"w\":{\"dtype\":\"F32\",\"shape\":[120],\"data_offsets\":[0,480]}}";
    uint8_t *file = sotto_test_take(t, 8 + sizeof header - 1 + 4 * PARAMETERS);

    memset(file, 0, 8 + sizeof header - 1 + 4 * PARAMETERS);
    file[0] = sizeof header - 1;
    memcpy(file + 8, header, sizeof header - 1);
    return sotto_bytes_of(file, 8 + sizeof header - 1 + 4 * PARAMETERS);
}

/* Rounds of an hour since yesterday: round 24 is open. */
static sotto_bytes recipe_of(sotto_test *t, time_t now)
{
    char *text = sotto_test_take(t, TEXT), opens[32], closes[32];
    const time_t first = now - 86400, last = now + 2 * 86400;
    struct tm tm;

    (void)strftime(opens, sizeof opens, "%Y-%m-%dT%H:00:00Z", gmtime_r(&first, &tm));
    (void)strftime(closes, sizeof closes, "%Y-%m-%dT%H:00:00Z", gmtime_r(&last, &tm));
    (void)snprintf(
        text, TEXT,
        "{\"recipe\": \"digits\", \"version\": 1, \"analysis\": \"com.example.digits\","
        " \"learn\": {\"model\": {\"type\": \"own\", \"parameters\": %d, \"init\": \"%064d\"},"
        " \"data\": {\"query\": \"SELECT label FROM digits\", \"most_rows\": 100}, \"local\":"
        " {\"batch\": 20, \"rate\": 0.1}, \"update\": {\"clip\": 0.5, \"scale\": %d},"
        " \"server\": {}}, \"rounds\": {\"count\": 48, \"every\": \"1h\", \"goal\": 10,"
        " \"largest\": 100, \"participations\": 1},"
        " \"participation\": {\"type\": \"poisson\", \"rate\": 1.0},"
        " \"privacy\": {\"by\": \"shares\", \"multiplier\": 1.0, \"adjacency\": \"replacement\","
        " \"epsilon\": 25, \"delta\": 1e-6, \"min_cohort\": 10, \"honest\": 1.0},"
        " \"aggregation\": {\"trust\": \"split\", \"leader\": \"key:leader\", \"helper\":"
        " \"key:helper\", \"proof\": {\"type\": \"pine\", \"bound_factor\": 9.5}},"
        " \"schedule\": {\"opens\": \"%s\", \"closes\": \"%s\", \"precision\": \"1h\"},"
        " \"population\": 12}",
        PARAMETERS, 0, SCALE, opens, closes);
    return sotto_bytes_of(text, strlen(text));
}

/* The same record at both servers and at every device. */
static void begin(scene *k)
{
    sotto_test *t = k->t;
    sotto_test_service *s = &k->s;
    const sotto_bytes parties = sotto_bytes_of(s->parties_text, strlen(s->parties_text));
    sotto_round_record record = {.round = ROUND, .recipe = recipe_of(t, (time_t)k->now)};
    sotto_mistakes *mistakes = sotto_test_take(t, sizeof *mistakes);
    sotto_buf wire = sotto_test_buf(t, 2 * TEXT), ids = sotto_test_buf(t, 64),
              again = sotto_test_buf(t, 64);
    const sotto_learning *learning;
    const sotto_parties *read;

    sotto_hash_once(record.model, SOTTO_SHA256, k->model);
    CHECK_OK(t, sotto_round_record_encode(&wire, &record, &t->err));
    k->record = sotto_buf_bytes(&wire);
    CHECK_OK(t, sotto_tasks_add(s->leader->db, s->leader->columns, SOTTO_LEADER, k->record, parties,
                                0, sotto_bytes_of(NULL, 0), &ids, mistakes, &t->err));
    CHECK_OK(t, sotto_tasks_add(s->helper->db, s->helper->columns, SOTTO_HELPER, k->record, parties,
                                0, sotto_buf_bytes(&ids), &again, mistakes, &t->err));
    CHECK_OK(t, sotto_tasks_refresh(s->leader->tasks, &t->err));
    CHECK_OK(t, sotto_tasks_refresh(s->helper->tasks, &t->err));
    CHECK_OK(t, sotto_learning_read(&learning, record.recipe, &t->arena, mistakes, &t->err));
    CHECK_OK(t, sotto_parties_read(&read, parties, &t->arena, mistakes, &t->err));
    CHECK_OK(t, sotto_round_task_compile(&s->task, learning, &record, read, &t->arena, &t->err));
    CHECK_OK(t, sotto_vdaf_open(&k->vdaf, &s->task.vdaf, &t->arena, &t->err));
    s->opened = &k->vdaf;
    CHECK_OK(t, sotto_learning_randomizer(&k->randomizer, learning, &t->arena, &t->err));
}

/* ---- the devices ------------------------------------------------------------------------------------------- */

static sotto_status carry(void *context, sotto_exchange *exchange)
{
    scene *k = context;
    sotto_exchange_head head = {.size = sizeof head, .status = 200};
    size_t len = 1;

    if (strcmp(exchange->method, "GET") == 0) {
        SOTTO_TRY(exchange->begin(exchange, &head));
        return exchange->take(exchange, k->model.data, k->model.len);
    }
    uint8_t *body = sotto_test_take(k->t, (size_t)exchange->body_length);
    for (uint64_t at = 0; len > 0; at += len)
        SOTTO_TRY(
            exchange->read(exchange, at, body + at, (size_t)(exchange->body_length - at), &len));
    head.status =
        sotto_test_upload(k->t, &k->s, sotto_bytes_of(body, (size_t)exchange->body_length)).status;
    return exchange->begin(exchange, &head);
}

static int64_t read_clock(void *context)
{
    return ((const scene *)context)->now;
}

/* Entries of -0.02 to 0.02 that follow from the device's number. */
static sotto_status train(void *context, const sotto_trainer_input *in, float *update,
                          sotto_err *err)
{
    scene *k = context;

    (void)err;
    CHECK_EQUAL(k->t, 1, in->row_count);
    for (size_t i = 0; i < PARAMETERS; i++) {
        update[i] = (float)((i * 7 + k->device * 13) % 41) / 1000.0F - 0.02F;
        k->wanted[i] += (double)update[i] * SCALE;
    }
    return SOTTO_OK;
}

static void answer(scene *k)
{
    static const sotto_field fields[] = {{"label", SOTTO_TYPE_INTEGER}};
    static const sotto_stream streams[] = {{"digits", fields, 1, 86400 * 365, 100}};
    const sotto_value value = {.type = SOTTO_TYPE_INTEGER, .as.integer = 3};
    const sotto_event event = {
        .stream = "digits", .id = {1}, .time = k->now, .values = &value, .value_count = 1};
    const sotto_trainer trainer = {
        .size = sizeof trainer, .models = "https://models.example/", .train = train, .context = k};
    const sotto_device_options options = {
        .policy = sotto_bytes_of(policy, sizeof policy - 1),
        .parties = sotto_bytes_of(k->s.parties_text, strlen(k->s.parties_text)),
        .streams = streams,
        .stream_count = 1,
        .host = {.exchange = carry, .clock = read_clock, .context = k}};
    sotto_test *t = k->t;
    sotto_device *device;
    sotto_tick tick;

    CHECK_OK(t, sotto_device_open(&device, &options, &t->err));
    CHECK_OK(t, sotto_device_learn(device, &trainer, &t->err));
    CHECK_OK(t, sotto_device_consent(device, true, &t->err));
    CHECK_OK(t, sotto_device_donate(device, &event, 1, NULL, &t->err));
    CHECK_OK(t, sotto_device_offer(device, k->record, &t->err));
    CHECK_OK(t, sotto_device_tick(device, &tick, (sotto_conditions){true, true, true}, &t->err));
    CHECK_EQUAL(t, 1, tick.made);
    CHECK_EQUAL(t, 0, tick.waiting); /* the leader took it */
    sotto_device_close(device);
}

/* What is not the devices' own is noise: each entry is off by less than six deviations, once in 10^6 runs not. */
static void servers_add_up_what_devices_trained(sotto_test *t)
{
    scene *k = sotto_test_take(t, sizeof *k);
    uint64_t reports = 0, sums[PARAMETERS];
    double mean = 0;

    memset(k, 0, sizeof *k);
    k->t = t;
    k->model = model_of(t);
    sotto_test_await_hour();
    sotto_test_service_open(t, &k->s, &(sotto_test_service_options){0});
    k->now = (int64_t)k->s.bucket * 3600;
    begin(k);
    for (k->device = 0; k->device < DEVICES; k->device++)
        answer(k);
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &k->s, 1, &reports, sums));
    CHECK_EQUAL(t, DEVICES, reports);
    const double deviation =
        sqrt(DEVICES * (k->randomizer.device_sigma * k->randomizer.device_sigma + 0.25));
    for (size_t i = 0; i < PARAMETERS; i++) {
        const double off = (double)(int64_t)sums[i] - k->wanted[i];

        CHECK(t, fabs(off) < 6 * deviation);
        mean += off / PARAMETERS;
    }
    CHECK(t, fabs(mean) < 6 * deviation / sqrt(PARAMETERS));
    sotto_test_service_close(&k->s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {CASE(servers_add_up_what_devices_trained)};
    return RUN_TESTS(argc, argv, cases);
}
