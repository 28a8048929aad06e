/* A way to add up that the product does not have runs from devices to an answer. It takes a folder, and a row of this program's own
 * table of methods and of trust models. Nothing else knows of it. */
#include "account/trust.h"
#include "second_method/second_method.h"
#include "sotto/collect.h"
#include "sotto/device.h"
#include "support/service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEVICES = 24, BINS = 31 };

static const char policy[] =
    "{\"policy\": \"p\", \"version\": 1, \"analyses\": {\"com.example.likes\":"
    " {\"epsilon\": 100, \"delta\": 0.001, \"reports\": 9, \"fields\": [\"likes.liked\"]}},"
    " \"fields\": {\"likes.liked\": {\"epsilon_local\": 30, \"epsilon\": 100, \"delta\": 0.001,"
    " \"reports\": 9}}, \"min_cohort\": 20, \"honest\": 0.5, \"trusts\": [\"clear\"]}";

static const sotto_field fields[] = {{"liked", SOTTO_TYPE_TEXT}};
static const sotto_stream streams[] = {{"likes", fields, 1, 86400, 100}};

/* ---- a device ----------------------------------------------------------------------------------------------------- */

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

/* One device that likes this, from its first event to an acknowledged report. */
static void answer(sotto_test *t, sotto_test_service *s, const char *liked)
{
    host h = {.t = t, .s = s};
    const sotto_device_options options = {
        .policy = sotto_bytes_of(policy, strlen(policy)),
        .parties = sotto_bytes_of(s->parties_text, strlen(s->parties_text)),
        .streams = streams,
        .stream_count = 1,
        .host = {.exchange = carry, .context = &h}};
    const sotto_value value = {.type = SOTTO_TYPE_TEXT,
                               .as.text = sotto_bytes_of(liked, strlen(liked))};
    const sotto_event event = {
        .stream = "likes", .time = (int64_t)time(NULL), .values = &value, .value_count = 1};
    sotto_device *device = NULL;
    sotto_tick tick;

    CHECK_OK(t, sotto_device_open(&device, &options, &t->err));
    CHECK_OK(t, sotto_device_consent(device, true, &t->err));
    CHECK_OK(t, sotto_device_donate(device, &event, 1, NULL, &t->err));
    CHECK_OK(t, sotto_device_offer(device, sotto_bytes_of(s->recipe_text, strlen(s->recipe_text)),
                                   &t->err));
    CHECK_OK(t, sotto_device_tick(device, &tick, (sotto_conditions){true, true, true}, &t->err));
    CHECK_EQUAL(t, 200, h.status);
    CHECK_EQUAL(t, 1, tick.made);
    CHECK_EQUAL(t, 0, tick.waiting);
    sotto_device_close(device);
}

static void answer_all(sotto_test *t, sotto_test_service *s, const char *sigma)
{
    memset(&sotto_clear_truth, 0, sizeof sotto_clear_truth);
    sotto_test_service_open(
        t, s,
        &(sotto_test_service_options){
            .trust = "clear", .categories = BINS - 1, .sigma = sigma, .job_delay_ms = 100});
    CHECK_EQUAL(t, CLEAR_TYPE, s->task.vdaf.type);
    CHECK_EQUAL(t, BINS, s->task.bins);
    for (unsigned i = 0; i < DEVICES; i++) {
        char liked[16];

        (void)snprintf(liked, sizeof liked, "%u", i);
        answer(t, s, liked);
    }
    CHECK_EQUAL(t, DEVICES, sotto_clear_truth.reports);
}

/* ---- the collector ------------------------------------------------------------------------------------------------ */

static sotto_collection collect(sotto_test *t, const sotto_test_service *s)
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
    /* An hour more, should the clock have struck between two reports. */
    CHECK_OK(t, sotto_collector_ask(collector, &out,
                                    &(sotto_collection_query){s->bucket * s->task.precision,
                                                              (s->bucket + 2) * s->task.precision},
                                    &t->arena, &t->err));
    sotto_collector_close(collector);
    return out;
}

static void sums_in_the_clear_come_from_devices_to_an_answer(sotto_test *t)
{
    static sotto_test_service s;
    uint64_t told = 0;

    answer_all(t, &s, NULL);
    const sotto_collection got = collect(t, &s);
    CHECK_EQUAL(t, DEVICES, got.reports);
    CHECK_EQUAL(t, BINS, got.sum_count);
    for (size_t i = 0; i < BINS; i++) {
        CHECK_EQUAL(t, sotto_clear_truth.sums[i], got.sums[i].low);
        CHECK_EQUAL(t, 0, got.sums[i].high);
        told += got.sums[i].low;
    }
    CHECK(t, told > 0);
    sotto_test_service_close(&s);
}

static void a_report_that_its_servers_reject_is_not_added(sotto_test *t)
{
    static sotto_test_service s;

    answer_all(t, &s, NULL);
    sotto_clear_truth.lie = true;
    answer(t, &s, "1");
    const sotto_collection got = collect(t, &s);
    CHECK_EQUAL(t, DEVICES, got.reports);
    for (size_t i = 0; i < BINS; i++)
        CHECK_EQUAL(t, sotto_clear_truth.sums[i], got.sums[i].low);
    sotto_test_service_close(&s);
}

/* Both servers add noise of deviation 2: no sum moves by 60 but once in 10^90 runs. */
static void servers_add_noise_to_its_sums(sotto_test *t)
{
    static sotto_test_service s;
    uint64_t moved = 0;

    answer_all(t, &s, "2");
    const sotto_collection got = collect(t, &s);
    CHECK_EQUAL(t, DEVICES, got.reports);
    for (size_t i = 0; i < BINS; i++) {
        int64_t by = (int64_t)(got.sums[i].low - sotto_clear_truth.sums[i]);

        CHECK(t, by > -60 && by < 60);
        CHECK_EQUAL(t, (int64_t)got.sums[i].low < 0 ? UINT64_MAX : 0, got.sums[i].high);
        moved += by != 0;
    }
    CHECK(t, moved > 0); /* 31 sums stay as they are once in 10^26 runs */
    sotto_test_service_close(&s);
}

static void the_programs_own_tables_are_all_there_is(sotto_test *t)
{
    CHECK(t, sotto_method_of(SOTTO_PRIO3_HISTOGRAM) == NULL);
    CHECK(t, sotto_vdaf_client_named("prio") == NULL);
    CHECK(t, !sotto_trust_named("split"));
    CHECK(t, sotto_method_of(CLEAR_TYPE) == &sotto_method_clear);
    CHECK(t, sotto_vdaf_client_named("clear") == &sotto_clear_client);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(sums_in_the_clear_come_from_devices_to_an_answer),
        CASE(a_report_that_its_servers_reject_is_not_added),
        CASE(servers_add_noise_to_its_sums),
        CASE(the_programs_own_tables_are_all_there_is),
    };

    return RUN_TESTS(argc, argv, cases);
}
