/* From what is asked to what leaves: what is refused, retries, new keys, and what the record says of it. */
#include "crypto/hash.h"
#include "support/devices.h"

#include <stdio.h>
#include <string.h>

static sotto_test_phone phone;

static void offer(sotto_test *t, sotto_bytes recipe)
{
    CHECK_OK(t, sotto_device_offer(phone.device, recipe, &t->err));
}

/* ---- what is not allowed ---------------------------------------------------------------------------------- */

static void a_forbidden_field_is_refused_when_the_recipe_arrives(sotto_test *t)
{
    sotto_test_phone_start(t, &phone, NULL);
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_device_offer(phone.device,
                                    sotto_test_sure_recipe(t, "50001", "FROM keyboard_ngrams",
                                                           "FROM keyboard_ngrams WHERE secret > 0"),
                                    &t->err));
    CHECK_REASON(t, "secret");
    CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_FIELD);
    CHECK_STATUS(
        t, SOTTO_DENIED,
        sotto_device_offer(phone.device,
                           sotto_test_sure_recipe(t, "50002", "SELECT age,", "SELECT age AS a,"),
                           &t->err));
    CHECK_REASON(t, "no column");
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    CHECK(t, sotto_test_why(&phone, "50003") == SOTTO_WHY_UNKNOWN);
    sotto_test_phone_close(&phone);
}

/* A recipe that one policy let in is held against the next one. */
static void a_new_policy_judges_recipes_again(sotto_test *t)
{
    sotto_test_phone_init(t, &phone, sotto_test_generous_policy);
    sotto_test_phone_in_files(&phone);
    sotto_test_phone_open(&phone);
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
    offer(t, sotto_test_clear_recipe(t, "50001", NULL, NULL));
    phone.options.policy = sotto_bytes_of(sotto_policy_example(), strlen(sotto_policy_example()));
    sotto_test_phone_open(&phone);
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_POLICY);
    CHECK_EQUAL(t, 0, phone.sends);
    sotto_test_phone_close(&phone);
}

static void a_recipe_for_strangers_is_not_answered(sotto_test *t)
{
    sotto_test_phone_start(t, &phone, NULL);
    offer(t, sotto_test_sure_recipe(t, "50001", "key:helper-2026a", "key:nobody"));
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_PARTIES);
    sotto_test_phone_close(&phone);
}

/* Where it is offered, so that no tick ever sees it. */
static void a_query_that_names_an_index_is_refused(sotto_test *t)
{
    static const char *const hints[] = {"INDEXED BY sotto_time_of_keyboard_ngrams", "NOT INDEXED"};

    sotto_test_phone_init(t, &phone, NULL);
    sotto_test_phone_in_files(&phone);
    sotto_test_phone_open(&phone);
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++) {
        char from[96];

        (void)snprintf(from, sizeof from, "FROM keyboard_ngrams %s", hints[i]);
        sotto_bytes recipe = sotto_test_sure_recipe(t, "50001", "FROM keyboard_ngrams", from);
        CHECK_STATUS(t, SOTTO_DENIED, sotto_device_offer(phone.device, recipe, &t->err));
        CHECK_REASON(t, "INDEXED BY and NOT INDEXED are not allowed");
    }
    sotto_test_phone_close(&phone);
}

/* Whether a query fails may hang on what it reads. A device that fell silent then, and unpaid, would tell. */
static void check_answered_all_the_same(sotto_test *t, const char *query)
{
    offer(t, sotto_test_sure_recipe(t, "50001", "SELECT age, ngram FROM keyboard_ngrams", query));
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_ANSWERED);
    CHECK_EQUAL(t, 1, sotto_test_charged(&phone));
    CHECK_EQUAL(t, 1, phone.sends);
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    sotto_test_phone_close(&phone);
}

static void a_query_over_its_limit_is_answered_like_no_match(sotto_test *t)
{
    sotto_test_phone_start(t, &phone, NULL);
    for (uint64_t i = 0; i < 400; i++)
        CHECK_OK(t, sotto_test_phone_type(&phone, i + 1, 35, "i went home"));
    /* 400^3 rows pass the limit of steps. */
    check_answered_all_the_same(t, "SELECT a.age AS age, b.ngram AS ngram FROM keyboard_ngrams a, "
                                   "keyboard_ngrams b, keyboard_ngrams c WHERE c.age >= a.age");
}

static void a_query_that_fails_on_a_value_is_answered_like_no_match(sotto_test *t)
{
    sotto_test_phone_start(t, &phone, NULL);
    CHECK_OK(t, sotto_test_phone_type(&phone, 1, 35, "i went home"));
    check_answered_all_the_same(
        t,
        "SELECT abs(CASE WHEN ngram = 'i went home' THEN -9223372036854775807 - 1 ELSE 1 END) AS "
        "age, ngram FROM keyboard_ngrams");
}

/* ---- again and again -------------------------------------------------------------------------------------- */

static void a_retry_sends_the_same_bytes_after_restarts_too(sotto_test *t)
{
    sotto_test_phone_init(t, &phone, NULL);
    sotto_test_phone_in_files(&phone);
    sotto_test_phone_open(&phone);
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
    offer(t, sotto_test_sure_recipe(t, "50001", NULL, NULL));
    phone.answer = SOTTO_DELIVERY_LATER;
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(t, 1, sotto_test_tick(&phone).waiting);
        CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_TRANSPORT);
        sotto_test_phone_open(&phone);
    }
    phone.answer = SOTTO_DELIVERY_ACCEPTED;
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).waiting);
    CHECK_EQUAL(t, 4, phone.uploads);
    for (size_t i = 1; i < 4; i++)
        CHECK(t, sotto_bytes_equal_vartime(phone.uploaded[0].body, phone.uploaded[i].body));
    CHECK_EQUAL(t, 1, sotto_test_charged(&phone));
    CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_ANSWERED);
    sotto_test_phone_close(&phone);
}

/* What stands behind the leader's half: the helper's, as it was sealed. */
static sotto_bytes helpers_half(const sotto_test_upload *upload)
{
    sotto_reader in = sotto_reader_over(upload->body);

    (void)sotto_read_bytes(&in, SOTTO_REPORT_ID_SIZE + 8 + 2);
    (void)sotto_read_opaque32(&in);
    (void)sotto_read_uint(&in, 1);
    (void)sotto_read_opaque16(&in);
    (void)sotto_read_opaque32(&in);
    return sotto_read_bytes(&in, sotto_reader_left(&in));
}

static void an_outdated_key_is_replaced_around_the_same_shares(sotto_test *t)
{
    const sotto_bytes text = sotto_test_sure_recipe(t, "50001", NULL, NULL);
    sotto_test_report before, after;
    sotto_test_openers openers;
    sotto_task task;

    sotto_test_phone_init(t, &phone, NULL);
    sotto_test_phone_in_files(&phone);
    sotto_test_phone_open(&phone);
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
    offer(t, text);
    phone.outdated_first = true;
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).waiting); /* no other key is known yet */
    CHECK_EQUAL(t, 0, sotto_test_lines(&phone, NULL, SOTTO_RECORD_RESEALED));
    phone.options.parties = sotto_test_server_parties(t, 2);
    sotto_test_phone_open(&phone);
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).waiting);
    CHECK_EQUAL(t, 1, sotto_test_lines(&phone, NULL, SOTTO_RECORD_RESEALED));
    CHECK_EQUAL(t, 1, sotto_test_charged(&phone));
    CHECK_EQUAL(t, 3, phone.uploads);
    CHECK_STATUS(t, SOTTO_OK,
                 sotto_test_receive(t, &before, &task, &phone.uploaded[0], text, 0, 1));
    /* The task is the one that the report was made for, by the first file; the helper's half is as it was. */
    openers = sotto_test_openers_of(t, 2, 1);
    openers.parties = sotto_test_server_parties(t, 1);
    CHECK_STATUS(t, SOTTO_OK,
                 sotto_test_receive_as(t, &after, &task, &phone.uploaded[2], text, 0, &openers));
    CHECK(t, sotto_bytes_equal_vartime(helpers_half(&phone.uploaded[0]),
                                       helpers_half(&phone.uploaded[2])));
    CHECK_BYTES(t, before.nonce, after.nonce, sizeof before.nonce);
    for (int i = 0; i < 2; i++)
        CHECK(t, sotto_bytes_equal_vartime(sotto_buf_bytes(&before.shares[i]),
                                           sotto_buf_bytes(&after.shares[i])));
    sotto_test_phone_close(&phone);
}

static sotto_bytes both_keys(sotto_test *t, const char *old, const char *new)
{
    sotto_bytes text = sotto_test_server_parties(t, 2);

    for (int i = 0; i < 2; i++)
        text = sotto_test_replace(t, (const char *)text.data, old, new);
    return text;
}

/* Whoever has its secret may have published it, or may not have made it yet. */
static void a_report_waits_rather_than_be_sealed_to_a_key_out_of_use(sotto_test *t)
{
    static const char second[] = "\"2026-02-01T00:00:00Z\", \"until\": \"2027-07-01T00:00:00Z\"";
    static const char *const others[] = {
        "\"2027-02-01T00:00:00Z\", \"until\": \"2027-07-01T00:00:00Z\"",
        "\"2026-02-01T00:00:00Z\", \"until\": \"2026-11-01T00:00:00Z\""};

    for (int i = 0; i < 2; i++) {
        sotto_test_phone_init(t, &phone, NULL);
        phone.options.parties = both_keys(t, second, others[i]);
        sotto_test_phone_open(&phone);
        CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
        offer(t, sotto_test_sure_recipe(t, "50001", NULL, NULL));
        phone.outdated_first = true;
        CHECK_EQUAL(t, 1, sotto_test_tick(&phone).waiting);
        CHECK_EQUAL(t, 1, sotto_test_tick(&phone).waiting);
        CHECK_EQUAL(t, 0, sotto_test_lines(&phone, NULL, SOTTO_RECORD_RESEALED));
        sotto_test_phone_close(&phone);
    }
}

static void a_refused_report_is_given_up_and_stays_paid_for(sotto_test *t)
{
    sotto_test_phone_start(t, &phone, NULL);
    offer(t, sotto_test_sure_recipe(t, "50001", NULL, NULL));
    phone.answer = SOTTO_DELIVERY_REFUSED;
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).waiting);
    CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_GIVEN_UP);
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    CHECK_EQUAL(t, 1, phone.sends);
    CHECK_EQUAL(t, 1, sotto_test_charged(&phone));
    sotto_test_phone_close(&phone);
}

static sotto_status count_recipe(void *context, const sotto_known_recipe *recipe, sotto_err *err)
{
    (void)recipe, (void)err;
    ++*(uint64_t *)context;
    return SOTTO_OK;
}

static void a_report_is_tried_for_a_week_after_its_recipe_closed(sotto_test *t)
{
    uint64_t known = 0;

    sotto_test_phone_start(t, &phone, NULL);
    offer(t, sotto_test_sure_recipe(t, "50001", NULL, NULL));
    phone.answer = SOTTO_DELIVERY_LATER;
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).waiting);
    phone.now = SOTTO_TEST_CLOSES + 7 * 86400 - 1;
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).waiting);
    CHECK_EQUAL(t, 2, phone.sends);
    phone.now++;
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).waiting);
    CHECK_EQUAL(t, 2, phone.sends);
    CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_GIVEN_UP);
    CHECK_EQUAL(t, 1, sotto_test_charged(&phone));
    CHECK_OK(t, sotto_device_recipes(phone.device, count_recipe, &known, &t->err));
    CHECK_EQUAL(t, 0, known);
    sotto_test_phone_close(&phone);
}

static void forgetting_erases_what_waits_and_keeps_the_ledger(sotto_test *t)
{
    sotto_test_phone_start(t, &phone, NULL);
    CHECK_OK(t, sotto_test_phone_type(&phone, 1, 35, "i went home"));
    offer(t, sotto_test_sure_recipe(t, "50001", NULL, NULL));
    phone.answer = SOTTO_DELIVERY_LATER;
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).waiting);
    CHECK_OK(t, sotto_device_forget(phone.device, NULL, &t->err));
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).waiting);
    CHECK_EQUAL(t, 1, phone.sends);
    CHECK_EQUAL(t, 1, sotto_test_charged(&phone));
    CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_GIVEN_UP);
    sotto_test_phone_close(&phone);
}

/* ---- a ledger that can't be trusted ----------------------------------------------------------------------- */

static sotto_status check_all_spent(void *context, const sotto_budget_line *line, sotto_err *err)
{
    sotto_test *t = context;

    (void)err;
    CHECK(t, line->unknown && line->epsilon_allowed > 0);
    CHECK(t, line->epsilon >= line->epsilon_allowed && line->delta >= line->delta_allowed);
    CHECK(t, line->reports >= line->reports_allowed);
    return SOTTO_OK;
}

static void hash_of(uint8_t out[32], const char *text)
{
    sotto_hash hash;

    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(text, strlen(text)));
    sotto_hash_final(&hash, out);
}

typedef struct question {
    sotto_test *t;
    const char *text;
    unsigned lines; /* a bit for each kind */
} question;

static sotto_status check_question(void *context, const sotto_record_line *line, sotto_err *err)
{
    question *q = context;
    sotto_test *t = q->t;
    const char *query = "SELECT age, ngram FROM keyboard_ngrams";
    uint8_t hash[32];

    (void)err;
    if (line->kind != SOTTO_RECORD_SEEN && line->kind != SOTTO_RECORD_SPENT) {
        CHECK(t, line->recipe_hash.len == 0 && line->query_hash.len == 0 && line->min_cohort == 0);
        return SOTTO_OK;
    }
    q->lines |= 1U << line->kind;
    hash_of(hash, q->text);
    CHECK_EQUAL(t, sizeof hash, line->recipe_hash.len);
    CHECK_BYTES(t, hash, line->recipe_hash.data, sizeof hash);
    hash_of(hash, query);
    CHECK_EQUAL(t, sizeof hash, line->query_hash.len);
    CHECK_BYTES(t, hash, line->query_hash.data, sizeof hash);
    CHECK_EQUAL(t, 40000, line->min_cohort);
    return SOTTO_OK;
}

/* A recipe goes a week after it closed. Which question was answered, of how many, must be found out later too. */
static void the_record_names_the_question_when_its_recipe_is_gone(sotto_test *t)
{
    sotto_bytes recipe = sotto_test_sure_recipe(t, "q", "{", "{");
    question q = {t, (const char *)recipe.data, 0};

    sotto_test_phone_init(t, &phone, NULL);
    sotto_test_phone_in_files(&phone);
    sotto_test_phone_open(&phone);
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
    CHECK_OK(t, sotto_test_phone_type(&phone, 1, 1, "hello"));
    CHECK_OK(t, sotto_device_offer(phone.device, recipe, &t->err));
    phone.now = SOTTO_TEST_OPENS + 3600;
    (void)sotto_test_tick(&phone);
    phone.now = SOTTO_TEST_CLOSES + 8 * 86400;
    (void)sotto_test_tick(&phone);
    sotto_test_phone_open(&phone);
    CHECK_OK(t, sotto_device_record(phone.device, "q", 0, check_question, &q, &t->err));
    CHECK_EQUAL(t, 1U << SOTTO_RECORD_SEEN | 1U << SOTTO_RECORD_SPENT, q.lines);
    sotto_test_phone_close(&phone);
}

static void check_open_fails(sotto_test *t, sotto_device_options options, const char *reason)
{
    sotto_err err = {0};
    sotto_device *device;

    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_device_open(&device, &options, &err));
    CHECK(t, strcmp(err.reason, reason) == 0);
}

/* Three texts in one format arrive together; a line and a column alone would be of any of them. */
static void a_mistake_says_which_text_has_it(sotto_test *t)
{
    static const char *const empty = "line 1, column 1: it is empty";
    const sotto_bytes none = {0}, list = sotto_bytes_of(" []", 3);
    sotto_device_options options;
    sotto_err err = {0};
    char reason[64];

    sotto_test_phone_start(t, &phone, NULL);
    options = phone.options;
    options.policy = none;
    (void)snprintf(reason, sizeof reason, "policy: %s", empty);
    check_open_fails(t, options, reason);
    options.policy = list;
    check_open_fails(t, options, "policy: line 1, column 2: not an object");
    options.policy = phone.options.policy;
    options.parties = none;
    (void)snprintf(reason, sizeof reason, "parties: %s", empty);
    check_open_fails(t, options, reason);
    (void)snprintf(reason, sizeof reason, "recipe: %s", empty);
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_device_offer(phone.device, none, &err));
    CHECK(t, strcmp(err.reason, reason) == 0);
    sotto_test_phone_close(&phone);
}

static void a_closed_ledger_silences_the_device_until_a_reset(sotto_test *t)
{
    const sotto_conditions good = {true, true, true};
    sotto_bytes recipe = sotto_test_sure_recipe(t, "50001", NULL, NULL);

    sotto_test_phone_init(t, &phone, NULL);
    sotto_test_phone_in_files(&phone);
    sotto_test_phone_open(&phone);
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
    phone.counter += 5; /* a copy from yesterday was put back */
    sotto_test_phone_open(&phone);
    CHECK(t, sotto_device_closed(phone.device) != NULL);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_device_offer(phone.device, recipe, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_device_tick(phone.device, NULL, good, &t->err));
    CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_LEDGER_CLOSED);
    CHECK_OK(t, sotto_device_reset(phone.device, &t->err));
    CHECK(t, sotto_device_closed(phone.device) == NULL);
    offer(t, recipe);
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_NO_CONSENT);
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_BUDGET);
    CHECK_OK(t, sotto_device_ledger(phone.device, check_all_spent, t, &t->err));
    sotto_test_phone_close(&phone);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_forbidden_field_is_refused_when_the_recipe_arrives),
        CASE(a_new_policy_judges_recipes_again),
        CASE(a_recipe_for_strangers_is_not_answered),
        CASE(a_query_that_names_an_index_is_refused),
        CASE(a_query_over_its_limit_is_answered_like_no_match),
        CASE(a_query_that_fails_on_a_value_is_answered_like_no_match),
        CASE(a_retry_sends_the_same_bytes_after_restarts_too),
        CASE(an_outdated_key_is_replaced_around_the_same_shares),
        CASE(a_report_waits_rather_than_be_sealed_to_a_key_out_of_use),
        CASE(a_refused_report_is_given_up_and_stays_paid_for),
        CASE(a_report_is_tried_for_a_week_after_its_recipe_closed),
        CASE(forgetting_erases_what_waits_and_keeps_the_ledger),
        CASE(the_record_names_the_question_when_its_recipe_is_gone),
        CASE(a_mistake_says_which_text_has_it),
        CASE(a_closed_ledger_silences_the_device_until_a_reset),
    };
    return RUN_TESTS(argc, argv, cases);
}
