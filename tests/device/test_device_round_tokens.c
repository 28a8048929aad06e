/* A round of learning whose reports carry a token: one for each device and round. */
#include "dap/admission.h"
#include "dap/dap.h"
#include "support/learners.h"
#include "support/wallet.h"

#include <string.h>

static sotto_bytes model;
static sotto_status (*carry_others)(void *context, sotto_exchange *exchange);

static sotto_status carry(void *context, sotto_exchange *exchange)
{
    const sotto_exchange_head head = {.size = sizeof head, .status = 200};

    if (strncmp(exchange->url, "https://models.", 15) != 0)
        return carry_others(context, exchange);
    SOTTO_TRY(exchange->begin(exchange, &head));
    return exchange->take(exchange, model.data, model.len);
}

static sotto_status train(void *context, const sotto_trainer_input *in, float *update,
                          sotto_err *err)
{
    (void)context;
    (void)err;
    update[in->parameters - 1] = 0.1F;
    return SOTTO_OK;
}

static sotto_bytes swap(sotto_test *t, sotto_bytes text, const char *old, const char *new)
{
    return sotto_test_replace(t, (const char *)text.data, old, new);
}

/* The example's analysis and week, as one round. */
static sotto_bytes recipe_of(sotto_test *t)
{
    sotto_bytes text =
        sotto_test_learning_recipe(t, model, "\"every\": \"1h\"", "\"every\": \"7d\"");

    text = swap(t, text, "\"count\": 48", "\"count\": 1");
    text = swap(t, text, "\"participations\": 3, \"separation\": 2", "\"participations\": 1");
    text = swap(t, text, "com.example.digits", SOTTO_TEST_ANALYSIS);
    text = swap(t, text, "SELECT pixels, label FROM digits", "SELECT age FROM keyboard_ngrams");
    return swap(t, text, "\"schedule\"", SOTTO_TEST_TOKENS);
}

static void start(sotto_test *t)
{
    const sotto_trainer trainer = {
        .size = sizeof trainer, .models = "https://models.example/", .train = train};
    sotto_bytes policy =
        swap(t, sotto_bytes_of(sotto_test_generous_policy, strlen(sotto_test_generous_policy)),
             "\"keyboard_ngrams.age\": {\"epsilon_local\": 30",
             "\"keyboard_ngrams.age\": {\"by\": [\"servers\"], \"epsilon_local\":"
             " \"none\"");
    sotto_device_options *options = &sotto_test_wallet_phone.options;

    policy = swap(t, policy, "\"min_cohort\": 20000", "\"min_cohort\": 100");
    const char *text = sotto_test_token_policy_of(t, (const char *)policy.data);
    model = sotto_test_model(t, 0.5F);
    sotto_test_wallet_init(t);
    options->policy = sotto_bytes_of(text, strlen(text));
    carry_others = options->host.exchange;
    options->host.exchange = carry;
    sotto_test_wallet_begin(t);
    CHECK_OK(t, sotto_device_learn(sotto_test_wallet_phone.device, &trainer, &t->err));
}

static sotto_status offer(sotto_test *t)
{
    return sotto_device_offer(sotto_test_wallet_phone.device,
                              sotto_test_round_record(t, recipe_of(t), 0, model), &t->err);
}

static void a_round_is_answered_with_its_token(sotto_test *t)
{
    sotto_admission_collection collection = {.opens = (uint64_t)SOTTO_TEST_OPENS,
                                             .closes = (uint64_t)SOTTO_TEST_CLOSES,
                                             .issuer = {(const uint8_t *)"key:issuer", 10}};
    uint8_t challenge[32];
    sotto_admission admission;
    sotto_dap_report report;

    start(t);
    CHECK_OK(t, sotto_test_wallet_take(t, sotto_test_the_list(t)));
    sotto_test_token_ask(t);
    CHECK(t, sotto_test_token_is(t, SOTTO_TOKEN_HELD));
    CHECK_OK(t, offer(t));
    sotto_test_wallet_phone.now = SOTTO_TEST_OPENS + 86400;
    CHECK_EQUAL(t, 1, sotto_test_tick(&sotto_test_wallet_phone).made);
    CHECK(t, sotto_test_token_is(t, SOTTO_TOKEN_SPENT));
    memcpy(collection.key_id, sotto_test_wallet_issuer.key.id, sizeof collection.key_id);
    CHECK_OK(t, sotto_admission_challenge(challenge, &collection, &t->err));
    CHECK_OK(t,
             sotto_dap_report_decode(&report, sotto_test_wallet_phone.uploaded[0].body, &t->err));
    CHECK_OK(t, sotto_admission_find(&admission, report.metadata.public_extensions, &t->err));
    CHECK_OK(t,
             sotto_admission_check(&admission, &sotto_test_wallet_issuer.key, challenge, &t->err));
    sotto_test_phone_close(&sotto_test_wallet_phone);
}

static void without_its_token_a_round_is_not_answered(sotto_test *t)
{
    start(t);
    CHECK_OK(t, offer(t));
    sotto_test_wallet_phone.now = SOTTO_TEST_OPENS + 86400;
    CHECK_EQUAL(t, 0, sotto_test_tick(&sotto_test_wallet_phone).made);
    CHECK_EQUAL(t, SOTTO_WHY_TOKEN, sotto_test_why(&sotto_test_wallet_phone, "digits#0"));
    CHECK_EQUAL(t, 0, sotto_test_wallet_phone.uploads);
    sotto_test_phone_close(&sotto_test_wallet_phone);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_round_is_answered_with_its_token),
        CASE(without_its_token_a_round_is_not_answered),
    };
    return RUN_TESTS(argc, argv, cases);
}
