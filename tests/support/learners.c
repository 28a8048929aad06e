#include "support/learners.h"

#include "base/hex.h"
#include "crypto/hash.h"
#include "dap/dap.h"
#include "support/pine.h"

#include <stdio.h>
#include <string.h>

/* ---- what is published --------------------------------------------------------------------------------- */

const char sotto_test_learning_policy[] =
    "{\"policy\": \"com.example.app\", \"version\": 1, \"analyses\": {\"com.example.digits\":"
    " {\"epsilon\": 5, \"delta\": 1e-5, \"reports\": 6,"
    " \"fields\": [\"digits.pixels\", \"digits.label\"]}}, \"fields\": {"
    "\"digits.pixels\": {\"by\": [\"servers\"], \"epsilon_local\": \"none\", \"epsilon\": 5,"
    " \"delta\": 1e-5, \"reports\": 6}, \"digits.label\": {\"by\": [\"servers\"],"
    " \"epsilon_local\": \"none\", \"epsilon\": 5, \"delta\": 1e-5, \"reports\": 6}},"
    " \"non_sensitive\": [], \"min_cohort\": 100, \"honest\": 0.5}";

sotto_bytes sotto_test_model(sotto_test *t, float value)
{
    static const char header[] =
        "{\"w\":{\"dtype\":\"F32\",\"shape\":[10,11],\"data_offsets\":[40,480]},"
        "\"b\":{\"dtype\":\"F32\",\"shape\":[10],\"data_offsets\":[0,40]}}  ";
    sotto_buf out = sotto_test_buf(t, SOTTO_TEST_MODEL_BYTES);
    const uint8_t length[8] = {(uint8_t)(sizeof header - 1)};
    sotto_writer w = sotto_writer_on(&out);

    sotto_write_bytes(&w, sotto_bytes_of(length, sizeof length));
    sotto_write_bytes(&w, sotto_bytes_of(header, sizeof header - 1));
    for (size_t i = 0; i < SOTTO_TEST_PARAMETERS; i++) {
        uint32_t bits;
        uint8_t little[4];

        memcpy(&bits, &value, sizeof bits);
        for (unsigned k = 0; k < 4; k++)
            little[k] = (uint8_t)(bits >> 8 * k);
        sotto_write_bytes(&w, sotto_bytes_of(little, sizeof little));
    }
    CHECK_OK(t, sotto_writer_finish(&w, "model", &t->err));
    return sotto_buf_bytes(&out);
}

sotto_bytes sotto_test_learning_recipe(sotto_test *t, sotto_bytes model, const char *old,
                                       const char *new)
{
    enum { TEXT = 4096 };
    char *text = sotto_test_take(t, TEXT), hex[65];
    uint8_t digest[32];

    sotto_hash_once(digest, SOTTO_SHA256, model);
    sotto_hex_encode(hex, sotto_bytes_of(digest, sizeof digest));
    (void)snprintf(
        text, TEXT,
        "{\"recipe\": \"digits\", \"version\": 1, \"analysis\": \"com.example.digits\","
        " \"learn\": {\"model\": {\"type\": \"own\", \"parameters\": %d, \"init\": \"%s\"},"
        " \"data\": {\"query\": \"SELECT pixels, label FROM digits\", \"most_rows\": 2},"
        " \"local\": {\"batch\": 20, \"rate\": 0.1, \"decay\": 0.5},"
        " \"update\": {\"clip\": 0.5, \"scale\": 4096}, \"server\": {}},"
        " \"rounds\": {\"count\": 48, \"every\": \"1h\", \"goal\": 100, \"largest\": 1000,"
        " \"participations\": 3, \"separation\": 2},"
        " \"participation\": {\"type\": \"poisson\", \"rate\": 1.0},"
        " \"privacy\": {\"by\": \"servers\", \"multiplier\": 8, \"adjacency\": \"replacement\","
        " \"epsilon\": 2.5, \"delta\": 1e-6, \"min_cohort\": 100},"
        " \"aggregation\": {\"trust\": \"split\", \"leader\": \"key:leader-2026a\", \"helper\":"
        " \"key:helper-2026a\", \"proof\": {\"type\": \"pine\", \"bound_factor\": 1.2}},"
        " \"schedule\": {\"opens\": \"2026-11-20T00:00:00Z\", \"closes\": "
        "\"2026-11-27T00:00:00Z\", \"precision\": \"1h\"}, \"population\": 1000}",
        SOTTO_TEST_PARAMETERS, hex);
    return sotto_test_replace(t, text, old, new);
}

sotto_bytes sotto_test_round_record(sotto_test *t, sotto_bytes recipe, uint64_t round,
                                    sotto_bytes model)
{
    sotto_round_record record = {.round = round, .recipe = recipe};
    sotto_buf out = sotto_test_buf(t, recipe.len + 256);

    sotto_hash_once(record.model, SOTTO_SHA256, model);
    CHECK_OK(t, sotto_round_record_encode(&out, &record, &t->err));
    return sotto_buf_bytes(&out);
}

/* ---- the host --------------------------------------------------------------------------------------------- */

static sotto_status (*carry_upload)(void *context, sotto_exchange *exchange);

/* The phone is the first member of its learner. */
static sotto_status carry(void *context, sotto_exchange *exchange)
{
    sotto_test_learner *l = context;
    const sotto_exchange_head head = {.size = sizeof head,
                                      .status = l->status ? l->status : 200,
                                      .media_type = "application/octet-stream"};

    if (strncmp(exchange->url, "https://relay.", 14) == 0) {
        l->relayed++;
        return SOTTO_IO;
    }
    if (strcmp(exchange->method, "GET") != 0)
        return carry_upload(&l->phone, exchange);
    l->fetches++;
    (void)snprintf(l->url, sizeof l->url, "%s", exchange->url);
    if (l->failed != SOTTO_OK)
        return l->failed;
    SOTTO_TRY(exchange->begin(exchange, &head));
    for (size_t at = 0; at < l->model.len; at += 100) {
        const size_t len = l->model.len - at < 100 ? l->model.len - at : 100;

        SOTTO_TRY(exchange->take(exchange, l->model.data + at, len));
    }
    return SOTTO_OK;
}

static sotto_status train(void *context, const sotto_trainer_input *in, float *update,
                          sotto_err *err)
{
    sotto_test_learner *l = context;

    (void)err;
    l->trainings++;
    l->rows = in->row_count;
    l->seed = in->seed;
    l->rate = in->rate;
    l->clip = in->clip;
    l->epochs = in->epochs;
    l->batch = in->batch;
    l->fedsgd = strcmp(in->algorithm, "fedsgd") == 0;
    CHECK_EQUAL(l->phone.t, SOTTO_TEST_PARAMETERS, in->parameters);
    CHECK(l->phone.t, in->size == sizeof *in && in->column_count == 2);
    CHECK(l->phone.t, strcmp(in->columns[0], "pixels") == 0 && strcmp(in->recipe, "digits") == 0);
    for (size_t i = 0; i < in->parameters; i++)
        update[i] = l->entry + l->slope * (float)i;
    l->phone.now += l->seconds;
    return l->trained;
}

/* ---- the phone --------------------------------------------------------------------------------------------- */

static const sotto_field fields[] = {{"pixels", SOTTO_TYPE_TEXT}, {"label", SOTTO_TYPE_INTEGER}};
static const sotto_stream streams[] = {{"digits", fields, 2, 86400 * 365, 1000}};

static void prepare(sotto_test *t, sotto_test_learner *l, const char *old, const char *new)
{
    memset(l, 0, sizeof *l);
    sotto_test_phone_init(t, &l->phone, sotto_test_learning_policy);
    carry_upload = l->phone.options.host.exchange;
    l->phone.options.host.exchange = carry;
    l->phone.options.streams = streams;
    l->phone.options.stream_count = 1;
    l->entry = 0.01F;
    l->model = sotto_test_model(t, 0.5F);
    l->recipe = sotto_test_learning_recipe(t, l->model, old, new);
    l->trainer = (sotto_trainer){.size = sizeof l->trainer,
                                 .models = "https://models.example.com/",
                                 .train = train,
                                 .context = l};
    sotto_test_learner_at(l, 0);
}

void sotto_test_learner_open(sotto_test_learner *l)
{
    sotto_test *t = l->phone.t;

    sotto_test_phone_close(&l->phone);
    CHECK_OK(t, sotto_device_open(&l->phone.device, &l->phone.options, &t->err));
    CHECK_OK(t, sotto_device_learn(l->phone.device, &l->trainer, &t->err));
}

static void begin(sotto_test_learner *l)
{
    sotto_test *t = l->phone.t;

    sotto_test_learner_open(l);
    CHECK_OK(t, sotto_device_consent(l->phone.device, true, &t->err));
    for (uint8_t i = 0; i < 3; i++) {
        const sotto_value values[] = {
            {.type = SOTTO_TYPE_TEXT, .as.text = sotto_bytes_of("00ff7f", 6)},
            {.type = SOTTO_TYPE_INTEGER, .as.integer = i}};
        const sotto_event event = {.stream = "digits",
                                   .id = {i + 1},
                                   .time = l->phone.now,
                                   .values = values,
                                   .value_count = 2};

        CHECK_OK(t, sotto_device_donate(l->phone.device, &event, 1, NULL, &t->err));
    }
}

void sotto_test_learner_start(sotto_test *t, sotto_test_learner *l, const char *old,
                              const char *new)
{
    prepare(t, l, old, new);
    begin(l);
}

void sotto_test_learner_in_files(sotto_test *t, sotto_test_learner *l)
{
    prepare(t, l, NULL, NULL);
    sotto_test_phone_in_files(&l->phone);
    begin(l);
}

void sotto_test_learner_at(sotto_test_learner *l, uint64_t round)
{
    l->phone.now = SOTTO_TEST_OPENS + (int64_t)round * 3600 + 1800;
}

sotto_status sotto_test_learner_offer(sotto_test_learner *l, uint64_t round)
{
    sotto_test *t = l->phone.t;

    return sotto_device_offer(l->phone.device,
                              sotto_test_round_record(t, l->recipe, round, l->model), &t->err);
}

uint64_t sotto_test_learner_round(sotto_test_learner *l, uint64_t round)
{
    sotto_test *t = l->phone.t;

    sotto_test_learner_at(l, round);
    CHECK_OK(t, sotto_test_learner_offer(l, round));
    return sotto_test_tick(&l->phone).made;
}

typedef struct looking {
    sotto_rho_account account;
    sotto_rho_line found;
} looking;

static sotto_status look(void *context, const sotto_rho_line *line, sotto_err *err)
{
    looking *l = context;

    (void)err;
    if (line->account == l->account)
        l->found = *line;
    return SOTTO_OK;
}

sotto_rho_line sotto_test_learner_rho(sotto_test_learner *l, sotto_rho_account account)
{
    sotto_test *t = l->phone.t;
    looking looked = {.account = account};

    CHECK_OK(t, sotto_device_rho(l->phone.device, look, &looked, &t->err));
    looked.found.name = NULL;
    return looked.found;
}

/* ---- the servers --------------------------------------------------------------------------------------------- */

static sotto_status keep_analysis(void *context, const sotto_budget_line *line, sotto_err *err)
{
    (void)err;
    if (line->analysis)
        *(sotto_budget_line *)context = *line;
    return SOTTO_OK;
}

sotto_budget_line sotto_test_learner_spent(sotto_test_learner *l)
{
    sotto_budget_line line = {0};

    CHECK_OK(l->phone.t,
             sotto_device_ledger(l->phone.device, keep_analysis, &line, &l->phone.t->err));
    return line;
}

static void compile(sotto_test *t, sotto_task *task, sotto_bytes wire, sotto_bytes parties_text)
{
    sotto_mistakes *mistakes = sotto_test_take(t, sizeof *mistakes);
    const sotto_learning *learning;
    const sotto_parties *parties;
    sotto_round_record record;

    CHECK_OK(t, sotto_round_record_decode(&record, wire, &t->err));
    CHECK_OK(t, sotto_learning_read(&learning, record.recipe, &t->arena, mistakes, &t->err));
    CHECK_OK(t, sotto_parties_read(&parties, parties_text, &t->arena, mistakes, &t->err));
    CHECK_OK(t, sotto_round_task_compile(task, learning, &record, parties, &t->arena, &t->err));
}

sotto_status sotto_test_learner_update(sotto_test_learner *l, int64_t *out, size_t upload,
                                       sotto_bytes record)
{
    sotto_test *t = l->phone.t;
    const sotto_test_openers openers = sotto_test_openers_of(t, 1, 1);
    uint8_t context[SOTTO_DAP_CONTEXT_SIZE];
    sotto_test_pine p = {0};
    sotto_test_report report;
    sotto_task task;
    sotto_vdaf vdaf;

    compile(t, &task, record, openers.parties);
    if (memcmp(task.id, l->phone.uploaded[upload].task, sizeof task.id) != 0)
        return SOTTO_REJECTED;
    SOTTO_TRY(sotto_test_open_upload(t, &report, &task, &l->phone.uploaded[upload], &openers));
    CHECK_OK(t, sotto_vdaf_open(&vdaf, &task.vdaf, &t->arena, &t->err));
    p.pine = *(const sotto_pine *)vdaf.state;
    sotto_dap_context(context, task.id);
    p.context = sotto_bytes_of(context, sizeof context);
    sotto_test_pine_report r = sotto_test_pine_report_of(t, &p);
    memcpy(r.nonce, report.nonce, sizeof r.nonce);
    r.shares =
        (sotto_pine_report){report.public_share.data, report.shares[0].data, report.shares[1].data};
    CHECK_STATUS(t, SOTTO_OK, sotto_test_pine_verify(t, &p, &r));
    CHECK_OK(t, sotto_pine_unshard(&p.pine, out, r.out[0], r.out[1], &t->err));
    return SOTTO_OK;
}
