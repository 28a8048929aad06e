#include "support/devices.h"

#include "dap/dap.h"

#include <stdio.h>
#include <string.h>

/* ---- the host --------------------------------------------------------------------------------------------- */

/* Pieces of every length, now and then of none. */
static size_t piece_of(const sotto_test_phone *phone, uint64_t at, size_t most)
{
    const size_t len = (size_t)((at * 7 + phone->sends * 13) % 1500);

    return len < most ? len : most;
}

static sotto_status read_body(sotto_test_phone *phone, sotto_exchange *exchange, uint8_t *out)
{
    size_t at = 0, len = 1;

    for (size_t turn = 0; at < exchange->body_length; turn++) {
        const size_t room = piece_of(phone, turn, (size_t)exchange->body_length - at);

        SOTTO_TRY(exchange->read(exchange, at, out + at, room, &len));
        at += len;
    }
    SOTTO_TRY(exchange->read(exchange, at, out, 1, &len));
    CHECK_EQUAL(phone->t, 0, len); /* its end */
    return SOTTO_OK;
}

/* {leader}tasks/{task}/reports */
static void keep_url(sotto_test *t, sotto_test_upload *kept, const char *url)
{
    const char *tasks = strstr(url, "tasks/");
    sotto_dap_path path;

    CHECK(t, tasks != NULL && tasks > url);
    CHECK_OK(t,
             sotto_dap_path_decode(&path, sotto_bytes_of(tasks - 1, strlen(tasks - 1)), &t->err));
    CHECK_EQUAL(t, SOTTO_DAP_REPORTS, path.resource);
    memcpy(kept->task, path.task_id, sizeof kept->task);
    (void)snprintf(kept->url, sizeof kept->url, "%.*s", (int)(tasks - url), url);
}

static void keep_upload(sotto_test_phone *phone, const sotto_exchange *exchange, sotto_bytes body)
{
    if (phone->uploads < SOTTO_TEST_UPLOADS) {
        sotto_test_upload *kept = &phone->uploaded[phone->uploads++];

        kept->body = body;
        keep_url(phone->t, kept, exchange->url);
        (void)snprintf(kept->recipe, sizeof kept->recipe, "%s", exchange->recipe);
    }
}

/* The leader's key is named behind the metadata and the public share. */
static bool to_first_keys(sotto_bytes body)
{
    sotto_reader in = sotto_reader_over(body);

    (void)sotto_read_bytes(&in, SOTTO_REPORT_ID_SIZE + 8 + 2);
    (void)sotto_read_opaque32(&in);
    return sotto_read_uint(&in, 1) < 10;
}

sotto_status sotto_test_answer(sotto_exchange *exchange, sotto_delivery meant, const uint8_t *id)
{
    const bool listed = meant == SOTTO_DELIVERY_OUTDATED || meant == SOTTO_DELIVERY_REFUSED;
    const sotto_exchange_head head = {
        .size = sizeof head,
        .status = meant == SOTTO_DELIVERY_LATER ? 503 : 200,
        .media_type = listed ? "application/ppm-dap;message=upload-errors" : NULL};
    const uint8_t cause = meant == SOTTO_DELIVERY_OUTDATED ? SOTTO_REPORT_OUTDATED_CONFIG
                                                           : SOTTO_REPORT_INVALID_MESSAGE;

    SOTTO_TRY(exchange->begin(exchange, &head));
    if (!listed)
        return SOTTO_OK;
    SOTTO_TRY(exchange->take(exchange, id, SOTTO_REPORT_ID_SIZE));
    return exchange->take(exchange, &cause, 1);
}

/* Where a test makes allocations fail, this host's own are none of them. */
static uint8_t *take_room(sotto_test_phone *phone, size_t len)
{
    uint8_t *room = phone->room.data;

    if (phone->room.cap < len)
        return sotto_test_take(phone->t, len);
    phone->room = sotto_buf_over(room + len, phone->room.cap - len);
    return room;
}

static sotto_status carry(void *context, sotto_exchange *exchange)
{
    sotto_test_phone *phone = context;
    uint8_t *data = take_room(phone, (size_t)exchange->body_length);
    const sotto_bytes body = sotto_bytes_of(data, (size_t)exchange->body_length);

    if (phone->hook)
        phone->hook(phone->hook_context);
    phone->sends++;
    SOTTO_TRY(read_body(phone, exchange, data));
    keep_upload(phone, exchange, body);
    return sotto_test_answer(exchange,
                             phone->outdated_first && to_first_keys(body) ? SOTTO_DELIVERY_OUTDATED
                                                                          : phone->answer,
                             body.data);
}

static int64_t read_clock(void *context)
{
    return ((const sotto_test_phone *)context)->now;
}

static sotto_status read_counter(void *context, uint64_t *generation, sotto_err *err)
{
    (void)err;
    *generation = ((const sotto_test_phone *)context)->counter;
    return SOTTO_OK;
}

static sotto_status raise_counter(void *context, uint64_t generation, sotto_err *err)
{
    sotto_test_phone *phone = context;

    (void)err;
    phone->counter = generation > phone->counter ? generation : phone->counter;
    if (phone->raised)
        phone->raised(phone);
    return SOTTO_OK;
}

static sotto_status draw_bytes(void *context, void *out, size_t len, sotto_err *err)
{
    (void)err;
    sotto_sim_random_bytes(context, out, len);
    return SOTTO_OK;
}

void sotto_test_phone_init(sotto_test *t, sotto_test_phone *phone, const char *policy)
{
    static uint64_t number;
    const char *text = policy ? policy : sotto_policy_example();

    *phone = (sotto_test_phone){
        .t = t, .now = SOTTO_TEST_OPENS + 3600, .answer = SOTTO_DELIVERY_ACCEPTED};
    sotto_sim_random_init(&phone->random, ++number);
    phone->simulation = (sotto_device_simulation){.random = draw_bytes, .context = &phone->random};
    phone->options = (sotto_device_options){
        .policy = sotto_bytes_of(text, strlen(text)),
        .parties = sotto_test_server_parties(t, 1),
        .streams = sotto_test_streams,
        .stream_count = SOTTO_TEST_STREAMS,
        .host = {.exchange = carry, .clock = read_clock, .context = phone},
        .simulation = &phone->simulation,
    };
}

void sotto_test_phone_in_files(sotto_test_phone *phone)
{
    if (!phone->options.events) {
        phone->options.events = sotto_test_temp(phone->t, "events.db");
        phone->options.ledger = sotto_test_temp(phone->t, "ledger.db");
    }
    phone->options.simulation = NULL;
    phone->options.host.counter = (sotto_device_counter){read_counter, raise_counter};
}

void sotto_test_phone_open(sotto_test_phone *phone)
{
    sotto_test *t = phone->t;

    sotto_test_phone_close(phone);
    CHECK_OK(t, sotto_device_open(&phone->device, &phone->options, &t->err));
    CHECK_OK(t, sotto_device_describe(phone->device, "locale", "en_US", &t->err));
}

void sotto_test_phone_start(sotto_test *t, sotto_test_phone *phone, const char *policy)
{
    sotto_test_phone_init(t, phone, policy);
    sotto_test_phone_open(phone);
    CHECK_OK(t, sotto_device_consent(phone->device, true, &t->err));
}

void sotto_test_phone_close(sotto_test_phone *phone)
{
    sotto_device_close(phone->device);
    phone->device = NULL;
}

/* ---- what happens on it ----------------------------------------------------------------------------------- */

sotto_status sotto_test_phone_type(sotto_test_phone *phone, uint64_t id, int64_t age,
                                   const char *ngram)
{
    const sotto_value values[] = {
        {.type = SOTTO_TYPE_INTEGER, .as.integer = age},
        {.type = SOTTO_TYPE_TEXT, .as.text = sotto_bytes_of(ngram, strlen(ngram))},
        {.type = SOTTO_TYPE_REAL, .as.real = 1.5},
        {.type = SOTTO_TYPE_BOOLEAN, .as.integer = 1},
        {.type = SOTTO_TYPE_TEXT, .as.text = sotto_bytes_of("s3cret", 6)},
    };
    sotto_event event = {
        .stream = "keyboard_ngrams", .time = phone->now, .values = values, .value_count = 5};

    memcpy(event.id, &id, sizeof id);
    return sotto_device_donate(phone->device, &event, 1, NULL, &phone->t->err);
}

sotto_bytes sotto_test_sure_recipe(sotto_test *t, const char *name, const char *old,
                                   const char *new)
{
    sotto_bytes text = sotto_test_recipe_text(t, "\"rate\": 0.1", "\"rate\": 1");

    text = sotto_test_replace(t, (const char *)text.data, "50001", name);
    return sotto_test_replace(t, (const char *)text.data, old, new);
}

const char sotto_test_generous_policy[] =
    "{\"policy\": \"generous\", \"version\": 1, \"analyses\": {\"com.example.keyboard-ngrams\":"
    " {\"epsilon\": 10000, \"delta\": 0.001, \"reports\": 100, \"fields\":"
    " [\"keyboard_ngrams.ngram\", \"keyboard_ngrams.age\"]}},"
    " \"fields\": {\"keyboard_ngrams.ngram\": {\"epsilon_local\": 30, \"epsilon\": 10000,"
    " \"delta\": 0.001, \"reports\": 100}, \"keyboard_ngrams.age\": {\"epsilon_local\": 30,"
    " \"epsilon\": 10000, \"delta\": 0.001, \"reports\": 100}},"
    " \"non_sensitive\": [\"locale\"], \"targeting_floor\": 0, \"min_cohort\": 20000,"
    " \"honest\": 0.5}";

sotto_bytes sotto_test_clear_recipe(sotto_test *t, const char *name, const char *old,
                                    const char *new)
{
    sotto_bytes text =
        sotto_test_sure_recipe(t, name, "\"form\": \"asymmetric\"", "\"form\": \"symmetric\"");

    text = sotto_test_replace(t, (const char *)text.data, "\"epsilon_local\": 2.0",
                              "\"epsilon_local\": 29.9");
    text = sotto_test_replace(t, (const char *)text.data, "\"epsilon\": 0.30", "\"epsilon\": 29.9");
    return sotto_test_replace(t, (const char *)text.data, old, new);
}

sotto_tick sotto_test_tick(sotto_test_phone *phone)
{
    const sotto_conditions good = {true, true, true};
    sotto_test *t = phone->t;
    sotto_tick out;

    CHECK_OK(t, sotto_device_tick(phone->device, &out, good, &t->err));
    return out;
}

sotto_why sotto_test_why(sotto_test_phone *phone, const char *recipe)
{
    sotto_test *t = phone->t;
    sotto_explanation out;

    CHECK_OK(t, sotto_device_why(phone->device, &out, recipe, &t->err));
    CHECK(t, out.sentence[0] != '\0' && sotto_why_name(out.why) != NULL);
    return out.why;
}

typedef struct counting {
    sotto_record_kind kind;
    uint64_t count;
} counting;

static sotto_status count_line(void *context, const sotto_record_line *line, sotto_err *err)
{
    counting *c = context;

    (void)err;
    c->count += line->kind == c->kind;
    return SOTTO_OK;
}

uint64_t sotto_test_lines(sotto_test_phone *phone, const char *recipe, sotto_record_kind kind)
{
    sotto_test *t = phone->t;
    counting c = {kind, 0};

    CHECK_OK(t, sotto_device_record(phone->device, recipe, 0, count_line, &c, &t->err));
    return c.count;
}

static sotto_status take_reports(void *context, const sotto_budget_line *line, sotto_err *err)
{
    (void)err;
    if (line->analysis)
        *(uint64_t *)context = line->reports;
    return SOTTO_OK;
}

uint64_t sotto_test_charged(sotto_test_phone *phone)
{
    sotto_test *t = phone->t;
    uint64_t reports = 0;

    CHECK_OK(t, sotto_device_ledger(phone->device, take_reports, &reports, &t->err));
    return reports;
}

/* ---- the servers ------------------------------------------------------------------------------------------ */

sotto_hpke_key sotto_test_server_key(sotto_test *t, sotto_party_role role, unsigned generation)
{
    uint8_t ikm[32];
    sotto_hpke_key key;

    memset(ikm, (int)(16 * generation + (unsigned)role), sizeof ikm);
    CHECK_OK(t, sotto_hpke_key_derive(&key, SOTTO_HPKE_KEM_X25519, sotto_bytes_of(ikm, sizeof ikm),
                                      &t->err));
    return key;
}

static uint8_t key_id(sotto_party_role role, unsigned generation)
{
    return (uint8_t)((generation - 1) * 10 + (unsigned)role + 1);
}

static void write_key(sotto_test *t, char *out, size_t size, sotto_party_role role,
                      unsigned generation)
{
    const sotto_hpke_key key = sotto_test_server_key(t, role, generation);
    const sotto_hpke_config config = sotto_hpke_config_of(
        &key, key_id(role, generation), SOTTO_HPKE_KDF_SHA256, SOTTO_HPKE_AEAD_AES128_GCM);
    uint8_t bytes[128];
    sotto_buf buf = sotto_buf_over(bytes, sizeof bytes);
    size_t used;

    CHECK_OK(t, sotto_hpke_config_encode(&buf, &config, &t->err));
    used = (size_t)snprintf(out, size, "{\"config\": \"");
    for (size_t i = 0; i < buf.len; i++)
        used += (size_t)snprintf(out + used, size - used, "%02x", buf.data[i]);
    (void)snprintf(out + used, size - used,
                   "\", \"from\": \"2026-%02u-01T00:00:00Z\", \"until\": \"2027-07-01T00:00:00Z\"}",
                   generation);
}

sotto_bytes sotto_test_server_parties(sotto_test *t, unsigned generations)
{
    static const char *const names[] = {"key:leader-2026a", "key:helper-2026a"};
    static const char *const urls[] = {"https://leader.example.com/",
                                       "https://helper.example.net/"};
    char *out = sotto_test_take(t, 4096);
    size_t used = (size_t)snprintf(out, 4096, "{");

    for (unsigned role = 0; role < 2; role++) {
        used += (size_t)snprintf(
            out + used, 4096 - used, "%s\"%s\": {\"role\": \"%s\", \"url\": \"%s\", \"hpke\": [",
            role ? ", " : "", names[role], role ? "helper" : "leader", urls[role]);
        for (unsigned generation = 1; generation <= generations; generation++) {
            char key[400];

            write_key(t, key, sizeof key, (sotto_party_role)role, generation);
            used +=
                (size_t)snprintf(out + used, 4096 - used, "%s%s", generation > 1 ? ", " : "", key);
        }
        used += (size_t)snprintf(out + used, 4096 - used, "]}");
    }
    used += (size_t)snprintf(out + used, 4096 - used, "}");
    return sotto_bytes_of(out, used);
}

/* As an aggregator reads DAP draft 18, written apart from what the device does. */
static sotto_status open_share(sotto_test *t, sotto_buf *share, sotto_reader *in, sotto_bytes aad,
                               sotto_party_role role, const sotto_test_openers *openers)
{
    const sotto_hpke_suite suite = {SOTTO_HPKE_KEM_X25519, SOTTO_HPKE_KDF_SHA256,
                                    SOTTO_HPKE_AEAD_AES128_GCM};
    char info[] = "dap-18 input share\1\2";
    uint8_t id = (uint8_t)sotto_read_uint(in, 1);
    sotto_bytes enc = sotto_read_opaque16(in), sealed = sotto_read_opaque32(in);
    sotto_buf plain = sotto_test_buf(t, sealed.len);

    if (id != openers->id[role])
        return SOTTO_REJECTED;
    info[sizeof info - 2] = (char)(2 + (int)role);
    SOTTO_TRY(sotto_hpke_unseal(&plain, &openers->key[role], suite,
                                sotto_bytes_of(info, sizeof info - 1), enc, aad, sealed, NULL));
    sotto_reader inner = sotto_reader_over(sotto_buf_bytes(&plain));
    sotto_bytes extensions = sotto_read_opaque16(&inner), payload = sotto_read_opaque32(&inner);
    CHECK(t, extensions.len == 0);
    CHECK_OK(t, sotto_reader_finish(&inner, "input share", &t->err));
    *share = sotto_test_buf(t, payload.len);
    memcpy(share->data, payload.data, payload.len);
    share->len = payload.len;
    return SOTTO_OK;
}

sotto_test_openers sotto_test_openers_of(sotto_test *t, unsigned leader, unsigned helper)
{
    return (sotto_test_openers){
        .parties = sotto_test_server_parties(t, leader),
        .key = {sotto_test_server_key(t, SOTTO_PARTY_LEADER, leader),
                sotto_test_server_key(t, SOTTO_PARTY_HELPER, helper)},
        .id = {key_id(SOTTO_PARTY_LEADER, leader), key_id(SOTTO_PARTY_HELPER, helper)}};
}

sotto_status sotto_test_open_upload(sotto_test *t, sotto_test_report *out, const sotto_task *task,
                                    const sotto_test_upload *upload,
                                    const sotto_test_openers *openers)
{
    sotto_reader in = sotto_reader_over(upload->body);
    sotto_bytes metadata = sotto_read_bytes(&in, 16 + 8 + 2);
    sotto_bytes public_share = sotto_read_opaque32(&in);

    sotto_buf aad =
        sotto_test_buf(t, 64 + task->configuration.len + metadata.len + public_share.len);
    sotto_writer w = sotto_writer_on(&aad);
    sotto_write_bytes(&w, sotto_bytes_of(task->id, sizeof task->id));
    sotto_write_bytes(&w, task->configuration);
    sotto_write_bytes(&w, metadata);
    sotto_write_opaque32(&w, public_share);
    CHECK_OK(t, sotto_writer_finish(&w, "aad", &t->err));
    *out = (sotto_test_report){.public_share = sotto_test_buf(t, public_share.len)};
    CHECK(t, metadata.len == 26);
    memcpy(out->nonce, metadata.data, sizeof out->nonce);
    memcpy(out->public_share.data, public_share.data, public_share.len);
    out->public_share.len = public_share.len;
    for (unsigned role = 0; role < 2; role++)
        SOTTO_TRY(open_share(t, &out->shares[role], &in, sotto_buf_bytes(&aad),
                             (sotto_party_role)role, openers));
    return sotto_reader_finish(&in, "report", NULL);
}

sotto_status sotto_test_receive_as(sotto_test *t, sotto_test_report *out, sotto_task *task,
                                   const sotto_test_upload *upload, sotto_bytes recipe,
                                   size_t cohort, const sotto_test_openers *openers)
{
    static sotto_mistakes mistakes;
    const sotto_recipe *read;
    const sotto_parties *parties;

    memset(&mistakes, 0, sizeof mistakes);
    CHECK_OK(t, sotto_recipe_read(&read, recipe, &t->arena, &mistakes, &t->err));
    CHECK_OK(t, sotto_parties_read(&parties, openers->parties, &t->arena, &mistakes, &t->err));
    CHECK_OK(t, sotto_task_compile(task, read, parties, cohort, &t->arena, &t->err));
    return sotto_test_open_upload(t, out, task, upload, openers);
}

sotto_status sotto_test_receive(sotto_test *t, sotto_test_report *out, sotto_task *task,
                                const sotto_test_upload *upload, sotto_bytes recipe, size_t cohort,
                                unsigned generation)
{
    const sotto_test_openers openers = sotto_test_openers_of(t, generation, generation);

    return sotto_test_receive_as(t, out, task, upload, recipe, cohort, &openers);
}

void sotto_test_add_up(sotto_test *t, sotto_uint128 *sum, const sotto_task *task,
                       const sotto_test_report *reports, size_t count)
{
    uint8_t context[6 + SOTTO_TASK_ID_SIZE] = {'d', 'a', 'p', '-', '1', '8'};
    sotto_test_prio3 servers = sotto_test_prio3_of(t, &task->vdaf, 1);

    memcpy(context + 6, task->id, SOTTO_TASK_ID_SIZE);
    servers.verifier.context = sotto_bytes_of(context, sizeof context);
    sotto_test_round round = sotto_test_round_run(t, &servers, reports, count);
    for (size_t i = 0; i < count; i++)
        CHECK_STATUS(t, SOTTO_OK, sotto_test_round_status(&servers, &round, i));
    CHECK_EQUAL(t, count, sotto_test_round_sum(t, &servers, &round, sum));
}

uint64_t sotto_test_told(sotto_test *t, const sotto_test_upload *upload, sotto_bytes recipe)
{
    static sotto_uint128 sum[512];
    uint64_t told = SOTTO_NO_VALUE, count = 0;
    sotto_test_report report;
    sotto_task task;

    CHECK_STATUS(t, SOTTO_OK, sotto_test_receive(t, &report, &task, upload, recipe, 0, 1));
    CHECK(t, task.sizes.outputs <= 512);
    sotto_test_add_up(t, sum, &task, &report, 1);
    for (uint64_t bin = 0; bin < task.bins; bin++) {
        count += sum[bin].low;
        told = sum[bin].low ? bin : told;
    }
    return count == 1 ? told : SOTTO_NO_VALUE;
}
