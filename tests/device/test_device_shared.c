/* Devices that share what they read and judged are no different from those that don't. */
#include "device/shared.h"
#include "support/devices.h"

#include <string.h>

/* A phone with the same randomness as every other of this test. */
static void start(sotto_test *t, sotto_test_phone *phone, const char *policy,
                  sotto_device_shared *shared)
{
    sotto_test_phone_init(t, phone, policy);
    sotto_sim_random_init(&phone->random, 77);
    phone->options.shared = shared;
    sotto_test_phone_open(phone);
    CHECK_OK(t, sotto_device_consent(phone->device, true, &t->err));
    CHECK_OK(t, sotto_test_phone_type(phone, 1, 35, "i went home"));
}

static sotto_bytes answer(sotto_test *t, sotto_device_shared *shared, sotto_bytes recipe)
{
    static sotto_test_phone phone;

    start(t, &phone, NULL, shared);
    CHECK_OK(t, sotto_device_offer(phone.device, recipe, &t->err));
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    CHECK_EQUAL(t, 1, phone.uploads);
    CHECK_EQUAL(t, 1, sotto_test_charged(&phone));
    CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_ANSWERED);
    sotto_test_phone_close(&phone);
    return phone.uploaded[0].body;
}

static void those_that_share_send_the_same_bytes(sotto_test *t)
{
    sotto_device_shared *shared = sotto_device_shared_new();
    const sotto_bytes recipe = sotto_test_sure_recipe(t, "50001", NULL, NULL);
    const sotto_bytes alone = answer(t, NULL, recipe);

    for (int i = 0; i < 3; i++) {
        const sotto_bytes together = answer(t, shared, recipe);

        CHECK_EQUAL(t, alone.len, together.len);
        CHECK_BYTES(t, alone.data, together.data, alone.len);
    }
    sotto_device_shared_free(shared);
    sotto_device_shared_free(NULL);
}

/* Another device's policy, with room for everything, let the recipe pass first. */
static void what_another_policy_let_pass_is_judged_again(sotto_test *t)
{
    sotto_device_shared *shared = sotto_device_shared_new();
    const sotto_bytes recipe = sotto_test_clear_recipe(t, "loud", NULL, NULL);
    static sotto_test_phone phone;

    start(t, &phone, sotto_test_generous_policy, shared);
    CHECK_OK(t, sotto_device_offer(phone.device, recipe, &t->err));
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    sotto_test_phone_close(&phone);
    start(t, &phone, NULL, shared);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_device_offer(phone.device, recipe, &t->err));
    CHECK_REASON(t, "more than the policy gives"); /* by lint, which is what devices share */
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    sotto_test_phone_close(&phone);
    sotto_device_shared_free(shared);
}

/* One that gives no report, and parties that are none. */
static void each_device_keeps_its_own_policy_and_parties(sotto_test *t)
{
    sotto_device_shared *shared = sotto_device_shared_new();
    const sotto_bytes recipe = sotto_test_sure_recipe(t, "50001", NULL, NULL);
    static sotto_test_phone phone;

    (void)answer(t, shared, recipe);
    sotto_test_phone_init(t, &phone, NULL);
    phone.options.shared = shared;
    phone.options.parties = sotto_bytes_of("{\"parties\": {}}", 15);
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_device_open(&phone.device, &phone.options, &t->err));
    phone.options.parties = sotto_test_server_parties(t, 1);
    phone.options.policy =
        sotto_test_replace(t, sotto_policy_example(), "\"reports\": 1", "\"reports\": 0");
    sotto_test_phone_open(&phone);
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_device_offer(phone.device, recipe, &t->err));
    CHECK_REASON(t, "0 of 0 reports");
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    sotto_test_phone_close(&phone);
    sotto_device_shared_free(shared);
}

static void a_first_device_that_fails_spoils_nothing(sotto_test *t)
{
    sotto_device_shared *shared = sotto_device_shared_new();
    const sotto_bytes recipe = sotto_test_sure_recipe(t, "50001", NULL, NULL);
    static sotto_test_phone phone;

    sotto_test_phone_init(t, &phone, "{\"policy\": 1}");
    phone.options.shared = shared;
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_device_open(&phone.device, &phone.options, &t->err));
    start(t, &phone, NULL, shared);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_device_offer(phone.device, sotto_bytes_of("{}", 2), &t->err));
    for (int i = 0; i < 20; i++) { /* more than are shared */
        char name[8] = {'r', (char)('a' + i), 0};

        CHECK_OK(t, sotto_device_offer(phone.device, sotto_test_sure_recipe(t, name, NULL, NULL),
                                       &t->err));
    }
    sotto_test_phone_close(&phone);
    (void)answer(t, shared, recipe);
    sotto_device_shared_free(shared);
}

/* With room for nothing, for policy and parties alone, and for everything. */
static void what_does_not_fit_is_not_shared(sotto_test *t)
{
    const sotto_bytes recipe = sotto_test_sure_recipe(t, "50001", NULL, NULL);
    const sotto_bytes alone = answer(t, NULL, recipe);

    for (size_t room = 1; room <= (size_t)1 << 20; room *= 4) {
        sotto_device_shared *shared = sotto_shared_within(room);
        const sotto_bytes together = answer(t, shared, recipe);

        CHECK_EQUAL(t, alone.len, together.len);
        CHECK_BYTES(t, alone.data, together.data, alone.len);
        sotto_device_shared_free(shared);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(those_that_share_send_the_same_bytes),
        CASE(what_another_policy_let_pass_is_judged_again),
        CASE(each_device_keeps_its_own_policy_and_parties),
        CASE(a_first_device_that_fails_spoils_nothing),
        CASE(what_does_not_fit_is_not_shared),
    };

    return RUN_TESTS(argc, argv, cases);
}
