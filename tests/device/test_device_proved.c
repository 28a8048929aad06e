/* Devices that share what was proved of bundles and lists of token keys decide as those that prove it themselves. */
#include "device/device_internal.h"
#include "device/device_log.h"
#include "device/simulated.h"

#include "support/devices.h"
#include "support/logs.h"
#include "support/wallet.h"

#include <string.h>

static sotto_test_phone phone;
static sotto_test_log logs;
static sotto_device_shared *shared;
static sotto_proved *proved;

static void start(sotto_test *t, const char *policy)
{
    sotto_test_phone_init(t, &phone, policy);
    phone.options.shared = shared;
    sotto_test_phone_open(&phone);
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
}

/* Both with room for everything, unless it is said how much. */
static void share(sotto_test *t, sotto_device_shared *own, sotto_proved *memory)
{
    shared = own ? own : sotto_device_shared_new();
    proved = memory ? memory : sotto_proved_new();
    CHECK(t, shared && proved);
    sotto_shared_prove_with(shared, sotto_proved_prover(proved));
}

static void unshare(void)
{
    sotto_device_shared_free(shared);
    sotto_proved_free(proved);
}

/* A log, and a policy that names it. */
static const char *begin(sotto_test *t)
{
    share(t, NULL, NULL);
    sotto_test_log_init(t, &logs);
    sotto_test_log_grow(t, &logs, 3);
    return sotto_test_log_policy(t, &logs, sotto_test_generous_policy, "");
}

static void end(void)
{
    unshare();
    sotto_test_log_clear(&logs);
}

static uint64_t add_recipe(sotto_test *t, const char *name)
{
    return sotto_test_log_add(t, &logs, SOTTO_ENTRY_RECIPE, 0,
                              sotto_test_sure_recipe(t, name, NULL, NULL));
}

static sotto_status offer(sotto_test *t, sotto_bytes bytes)
{
    return sotto_device_offer(phone.device, bytes, &t->err);
}

/* ---- bundles ---------------------------------------------------------------------------------------------- */

/* The log's name, and another key: nothing of it holds for a policy that has the first key. */
static sotto_bytes bundle_of_a_stranger(sotto_test *t, uint64_t at)
{
    sotto_note_signer stranger = signer_of(t, "example.com/log", SOTTO_NOTE_ED25519, 2);
    const sotto_note_signer own = logs.keys.log;

    logs.keys.log = stranger;
    const sotto_bytes bundle = sotto_test_log_bundle(t, &logs, at, logs.size);
    logs.keys.log = own;
    sotto_note_signer_clear(&stranger);
    return bundle;
}

static sotto_status copy_known(void *context, const sotto_known_log *log, sotto_err *err)
{
    (void)err;
    *(uint64_t *)context = log->entries;
    return SOTTO_OK;
}

static void a_bundle_is_taken_by_every_device(sotto_test *t)
{
    const char *policy = begin(t);
    const uint64_t at = add_recipe(t, "a");
    const sotto_bytes bundle = sotto_test_log_bundle(t, &logs, at, logs.size);

    for (int i = 0; i < 3; i++) {
        uint64_t entries = 0;

        start(t, policy);
        CHECK_OK(t, offer(t, bundle));
        CHECK_OK(t, sotto_device_logs(phone.device, copy_known, &entries, &t->err));
        CHECK_EQUAL(t, 4, entries);
        CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
        CHECK_EQUAL(t, 1, phone.uploads);
        sotto_test_phone_close(&phone);
    }
    end();
}

/* Under keys that signed nothing of it, so that only the memory can say yes. */
static void what_was_proved_is_remembered(sotto_test *t)
{
    const char *policy = begin(t);
    const uint64_t at = add_recipe(t, "a");
    const sotto_bytes bundle = sotto_test_log_bundle(t, &logs, at, logs.size);
    const sotto_log_trust nobody = {.log = NULL};
    sotto_bundle_facts facts = {0};

    start(t, policy);
    const sotto_policy *own = phone.device->terms.policy;
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_shared_bundle(shared, &facts, bundle_of_a_stranger(t, at), own,
                                     &own->logs[0].trust, &t->err));
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_shared_bundle(shared, &facts, bundle_of_a_stranger(t, at), own,
                                     &own->logs[0].trust, &t->err)); /* refusals are not kept */
    CHECK_OK(t, offer(t, bundle));
    CHECK_OK(t, sotto_shared_bundle(shared, &facts, bundle, own, &nobody, &t->err));
    sotto_test_phone_close(&phone);
    end();
}

static void other_bytes_are_proved_again(sotto_test *t)
{
    const char *policy = begin(t);
    const uint64_t at = add_recipe(t, "a");

    start(t, policy);
    CHECK_OK(t, offer(t, sotto_test_log_bundle(t, &logs, at, logs.size)));
    sotto_test_phone_close(&phone);
    start(t, policy);
    CHECK_STATUS(t, SOTTO_REJECTED, offer(t, bundle_of_a_stranger(t, at)));
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    sotto_test_phone_close(&phone);
    end();
}

static void another_policy_proves_for_itself(sotto_test *t)
{
    const char *policy = begin(t);
    sotto_note_signer stranger = signer_of(t, "example.com/log", SOTTO_NOTE_ED25519, 2);
    const sotto_note_signer own = logs.keys.log;
    const uint64_t at = add_recipe(t, "a");
    const sotto_bytes bundle = sotto_test_log_bundle(t, &logs, at, logs.size);

    logs.keys.log = stranger;
    const char *other = sotto_test_log_policy(t, &logs, sotto_test_generous_policy, "");
    logs.keys.log = own;
    start(t, policy);
    CHECK_OK(t, offer(t, bundle));
    sotto_test_phone_close(&phone);
    start(t, other);
    CHECK_STATUS(t, SOTTO_REJECTED, offer(t, bundle));
    sotto_test_phone_close(&phone);
    sotto_note_signer_clear(&stranger);
    end();
}

static void more_bundles_than_are_kept_are_proved_again(sotto_test *t)
{
    const sotto_bytes none = sotto_bytes_of(NULL, 0);
    const char *policy = begin(t);
    sotto_logged logged;

    while (logs.size < 40)
        (void)sotto_test_log_add(t, &logs, SOTTO_ENTRY_ISSUER_KEYS, logs.size,
                                 sotto_bytes_of("{}", 2));
    start(t, policy);
    for (uint64_t at = 3; at < 80; at++) {
        const uint64_t index = at % 37 + 3;
        const sotto_bytes bundle = sotto_test_log_bundle(t, &logs, index, logs.size);

        CHECK_OK(t, sotto_device_logged(phone.device, &logged, bundle, SOTTO_ENTRY_ISSUER_KEYS,
                                        none, &t->err));
        CHECK_EQUAL(t, index, logged.serial);
        CHECK_STATUS(t, SOTTO_REJECTED,
                     sotto_device_logged(phone.device, &logged, bundle_of_a_stranger(t, index),
                                         SOTTO_ENTRY_ISSUER_KEYS, none, &t->err));
    }
    sotto_test_phone_close(&phone);
    end();
}

/* ---- lists of token keys ---------------------------------------------------------------------------------- */

static void start_wallet(sotto_test *t)
{
    sotto_test_wallet_init(t);
    sotto_test_wallet_phone.options.shared = shared;
    sotto_test_wallet_begin(t);
}

static void a_list_is_taken_by_every_device(sotto_test *t)
{
    const size_t rooms[] = {0, 1 << 14, 1 << 22};

    for (size_t i = 0; i < 2 * (sizeof rooms / sizeof rooms[0]); i++) {
        share(t, i % 2 ? sotto_shared_within(rooms[i / 2]) : NULL,
              i % 2 ? NULL : sotto_proved_within(rooms[i / 2]));
        for (int again = 0; again < 3; again++) {
            start_wallet(t);
            CHECK_OK(t, sotto_test_wallet_take(t, sotto_test_the_list(t)));
            CHECK(t, sotto_test_token_is(t, SOTTO_TOKEN_PLANNED));
            sotto_test_phone_close(&sotto_test_wallet_phone);
        }
        unshare();
    }
}

static void another_list_is_judged_again(sotto_test *t)
{
    const char *list;
    uint8_t *changed;
    sotto_bytes file;

    share(t, NULL, NULL);
    start_wallet(t);
    file = sotto_test_the_list(t);
    list = sotto_test_list_of(t, sotto_test_wallet_issuer.spki, SOTTO_TEST_CLOSES);
    CHECK_OK(t, sotto_test_wallet_take(t, file));
    sotto_test_phone_close(&sotto_test_wallet_phone);
    start_wallet(t);
    changed = sotto_test_take(t, file.len);
    memcpy(changed, file.data, file.len);
    changed[file.len - 1] = ' ';
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_test_wallet_take(t, sotto_bytes_of(changed, file.len)));
    CHECK_STATUS(
        t, SOTTO_DENIED,
        sotto_test_wallet_take(t, sotto_test_sign_list(t, SOTTO_TEST_ISSUER_SEED + 1, list)));
    CHECK(t, sotto_test_token_is(t, 0));
    sotto_test_phone_close(&sotto_test_wallet_phone);
    unshare();
}

/* One that names no issuer. */
static void another_policy_judges_the_list_for_itself(sotto_test *t)
{
    share(t, NULL, NULL);
    start_wallet(t);
    CHECK_OK(t, sotto_test_wallet_take(t, sotto_test_the_list(t)));
    sotto_test_phone_close(&sotto_test_wallet_phone);
    sotto_test_wallet_phone.options.policy =
        sotto_bytes_of(sotto_test_generous_policy, strlen(sotto_test_generous_policy));
    sotto_test_phone_open(&sotto_test_wallet_phone);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_test_wallet_take(t, sotto_test_the_list(t)));
    CHECK(t, sotto_test_token_is(t, 0));
    sotto_test_phone_close(&sotto_test_wallet_phone);
    unshare();
}

/* ---- requests for tokens ---------------------------------------------------------------------------------- */

typedef struct counted {
    sotto_token_stock *stock;
    unsigned taken;
    bool fails;
} counted;

static sotto_status take_counted(void *context, sotto_wallet_row *row, sotto_type2_key *key,
                                 sotto_type2_pending *pending, uint8_t request[SOTTO_TYPE2_REQUEST])
{
    counted *c = context;
    const sotto_token_source from = sotto_token_source_of(c->stock);

    c->taken++;
    return c->fails ? SOTTO_REJECTED : from.take(from.context, row, key, pending, request);
}

/* In memory, in memory without a request in stock, with randomness that repeats, in files. All of them get a token. */
static void only_simulated_devices_ask_with_requests_from_outside(sotto_test *t)
{
    counted c = {.stock = sotto_token_stock_new()};

    CHECK(t, c.stock != NULL);
    share(t, NULL, NULL);
    sotto_shared_ask_with(shared, (sotto_token_source){take_counted, &c});
    for (unsigned way = 0; way < 4; way++) {
        c.taken = 0;
        c.fails = way == 1;
        sotto_test_wallet_init(t);
        if (way == 3)
            sotto_test_phone_in_files(&sotto_test_wallet_phone);
        if (way < 2)
            sotto_test_wallet_phone.options.simulation = NULL;
        sotto_test_wallet_phone.options.shared = shared;
        sotto_test_wallet_begin(t);
        sotto_test_token_get(t); /* checks that it is held */
        CHECK_EQUAL(t, way < 2 ? 1U : 0U, c.taken);
        CHECK_EQUAL(t, 1, sotto_test_wallet_attester.tokens);
        sotto_test_phone_close(&sotto_test_wallet_phone);
    }
    sotto_token_stock_free(c.stock);
    unshare();
}

/* The wallet keeps what the request was made from: a lost answer is asked for again with the same bytes. */
static void a_request_from_outside_is_asked_again_with_the_same_bytes(sotto_test *t)
{
    counted c = {.stock = sotto_token_stock_new()};

    share(t, NULL, NULL);
    sotto_shared_ask_with(shared, (sotto_token_source){take_counted, &c});
    sotto_test_wallet_init(t);
    sotto_test_wallet_phone.options.simulation = NULL;
    sotto_test_wallet_phone.options.shared = shared;
    sotto_test_wallet_begin(t);
    CHECK_OK(t, sotto_test_wallet_take(t, sotto_test_the_list(t)));
    sotto_test_wallet_attester.down = true;
    sotto_test_token_ask(t);
    CHECK(t, sotto_test_token_is(t, SOTTO_TOKEN_ASKED));
    sotto_test_wallet_attester.down = false;
    sotto_test_token_ask(t);
    CHECK(t, sotto_test_token_is(t, SOTTO_TOKEN_HELD));
    CHECK_EQUAL(t, 1, c.taken);
    CHECK_EQUAL(t, 2, sotto_test_wallet_attester.asks);
    CHECK(t, sotto_bytes_equal_vartime(sotto_test_wallet_attester.bodies[0],
                                       sotto_test_wallet_attester.bodies[1]));
    sotto_test_phone_close(&sotto_test_wallet_phone);
    sotto_token_stock_free(c.stock);
    unshare();
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_bundle_is_taken_by_every_device),
        CASE(what_was_proved_is_remembered),
        CASE(other_bytes_are_proved_again),
        CASE(another_policy_proves_for_itself),
        CASE(more_bundles_than_are_kept_are_proved_again),
        CASE(a_list_is_taken_by_every_device),
        CASE(another_list_is_judged_again),
        CASE(another_policy_judges_the_list_for_itself),
        CASE(only_simulated_devices_ask_with_requests_from_outside),
        CASE(a_request_from_outside_is_asked_again_with_the_same_bytes),
    };

    return RUN_TESTS(argc, argv, cases);
}
