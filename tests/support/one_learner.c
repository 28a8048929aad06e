#include "support/one_learner.h"

#include "sotto/learn.h"
#include "support/devices.h"

#include <string.h>

/* ---- the host --------------------------------------------------------------------------------------------------- */

static sotto_status carry(void *context, sotto_exchange *exchange)
{
    sotto_test_one_learner *s = context;
    const bool get = strcmp(exchange->method, "GET") == 0;
    const sotto_exchange_head head = {.size = sizeof head, .status = get ? 200 : s->status};
    uint8_t piece[4096];
    size_t len = 1;

    if (get) {
        s->fetches++;
        SOTTO_TRY(exchange->begin(exchange, &head));
        return exchange->take(exchange, s->model.data, s->model.len);
    }
    for (uint64_t at = 0; len; at += len)
        SOTTO_TRY(exchange->read(exchange, at, piece, sizeof piece, &len));
    if (strstr(exchange->url, "/messages"))
        s->sent++;
    return s->status ? exchange->begin(exchange, &head) : SOTTO_IO;
}

static int64_t clock_of(void *context)
{
    return ((const sotto_test_one_learner *)context)->now;
}

/* Ten entries of 0.1: a norm of 0.32, within the clip. */
static sotto_status train(void *context, const sotto_trainer_input *in, float *update,
                          sotto_err *err)
{
    (void)err;
    ((sotto_test_one_learner *)context)->trainings++;
    for (size_t i = 0; i < 10 && i < in->parameters; i++)
        update[i] = 0.1F;
    return SOTTO_OK;
}

/* ---- the device --------------------------------------------------------------------------------------------------- */

static void donate(sotto_test *t, sotto_test_one_learner *s)
{
    const sotto_value values[] = {{.type = SOTTO_TYPE_TEXT, .as.text = sotto_bytes_of("00ff7f", 6)},
                                  {.type = SOTTO_TYPE_INTEGER, .as.integer = 1}};
    const sotto_event event = {
        .stream = "digits", .id = {1}, .time = s->now, .values = values, .value_count = 2};

    CHECK_OK(t, sotto_device_donate(s->device, &event, 1, NULL, &t->err));
}

void sotto_test_one_learner_open(sotto_test *t, sotto_test_one_learner *s, const char *policy,
                                 const uint8_t *secret, const sotto_shared_key *witnesses)
{
    static const sotto_field fields[] = {{"pixels", SOTTO_TYPE_TEXT},
                                         {"label", SOTTO_TYPE_INTEGER}};
    static const sotto_stream stream = {"digits", fields, 2, 86400 * 365, 1000};
    const sotto_trainer trainer = {.size = sizeof trainer,
                                   .models = "https://models.example.com/",
                                   .train = train,
                                   .context = s};
    sotto_device_options options = {.streams = &stream, .stream_count = 1};

    options.policy = sotto_bytes_of(policy, strlen(policy));
    options.parties = sotto_bytes_of("{}", 2);
    options.host = (sotto_device_host){.exchange = carry, .clock = clock_of, .context = s};
    CHECK_OK(t, sotto_device_open(&s->device, &options, &t->err));
    CHECK_OK(t, sotto_device_learn(s->device, &trainer, &t->err));
    CHECK_OK(t, sotto_device_consent(s->device, true, &t->err));
    donate(t, s);
    const sotto_rounds_options rounds = {.size = sizeof rounds,
                                         .secret = secret,
                                         .policy = options.policy,
                                         .witnesses = witnesses->verify[0],
                                         .witness_count = witnesses->count,
                                         .server = "http://127.0.0.1:1/"};
    CHECK_OK(t, sotto_rounds_open(&s->rounds, s->device, &rounds, &t->err));
    CHECK_OK(t, sotto_rounds_consent(s->rounds, true, &t->err));
}

void sotto_test_one_learner_close(sotto_test_one_learner *s)
{
    sotto_rounds_close(s->rounds);
    sotto_device_close(s->device);
}

void sotto_test_one_learner_go(sotto_test_one_learner *s, uint64_t round)
{
    s->now = SOTTO_TEST_OPENS + (int64_t)round * 3600 + 1800;
}

/* ---- its ledger ------------------------------------------------------------------------------------------------------ */

static sotto_status keep_rho(void *context, const sotto_rho_line *line, sotto_err *err)
{
    (void)err;
    if (line->account == SOTTO_RHO_RECIPE)
        *(sotto_rho_line *)context = *line;
    return SOTTO_OK;
}

sotto_rho_line sotto_test_one_learner_rho(sotto_test *t, const sotto_test_one_learner *s)
{
    sotto_rho_line line = {0};

    CHECK_OK(t, sotto_device_rho(s->device, keep_rho, &line, &t->err));
    return line;
}

static sotto_status keep_epsilon(void *context, const sotto_budget_line *line, sotto_err *err)
{
    (void)err;
    if (line->analysis)
        *(double *)context = line->epsilon;
    return SOTTO_OK;
}

double sotto_test_one_learner_spent(sotto_test *t, const sotto_test_one_learner *s)
{
    double epsilon = 0;

    CHECK_OK(t, sotto_device_ledger(s->device, keep_epsilon, &epsilon, &t->err));
    return epsilon;
}
