/* Tokens of a device that two processes of its host open: whichever is faster asks, and uses the token. */
#include "device/device_internal.h"

#include "support/wallet.h"

#include <string.h>

static sotto_wallet_row only_row(sotto_test *t)
{
    sotto_wallet_row row;
    bool found;

    CHECK_OK(t,
             sotto_wallet_next(sotto_test_wallet_phone.device->ledger, &row, &found, 0, &t->err));
    CHECK(t, found);
    return row;
}

/* Both read the row while its token is only planned. */
static void the_slower_process_asks_with_nothing_of_its_own(sotto_test *t)
{
    sotto_test_wallet_start(t, true);
    CHECK_OK(t, sotto_test_wallet_take(t, sotto_test_the_list(t)));
    sotto_wallet_row stale = only_row(t);
    sotto_test_wallet_attester.down = true;
    sotto_test_token_ask(t);
    const sotto_wallet_row asked = only_row(t);
    stale.state = SOTTO_TOKEN_ASKED;
    stale.len = SOTTO_WALLET_ASKED;
    CHECK_STATUS(t, SOTTO_STALE,
                 sotto_wallet_change(sotto_test_wallet_phone.device->ledger, &stale,
                                     SOTTO_TOKEN_PLANNED, "asked for", sotto_test_wallet_phone.now,
                                     &t->err));
    const sotto_wallet_row after = only_row(t);
    CHECK_BYTES(t, asked.secret, after.secret, sizeof after.secret);
    sotto_test_phone_close(&sotto_test_wallet_phone);
}

static sotto_test_phone other;

static void say_no(void *context)
{
    sotto_test *t = context;

    CHECK_OK(t, sotto_device_consent(other.device, false, &t->err));
}

/* While this one asks under the first of two keys. */
static void a_no_in_another_process_stops_the_asking(sotto_test *t)
{
    sotto_test_phone *phone = &sotto_test_wallet_phone;
    sotto_test_issuer second;

    sotto_test_wallet_start(t, true);
    sotto_test_issuer_open(t, &second, 1);
    CHECK_OK(t, sotto_test_wallet_take(t, sotto_test_the_list(t)));
    sotto_test_wallet_take_another(t, &second, SOTTO_TEST_OPENS);
    other = *phone;
    other.device = NULL;
    other.options.host.counter = (sotto_device_counter){NULL, NULL};
    sotto_test_phone_open(&other);
    phone->hook = say_no;
    phone->hook_context = t;
    phone->now = SOTTO_TEST_OPENS + 86400; /* both are due */
    sotto_test_wallet_attester.any_key = true;
    CHECK_EQUAL(t, 0, sotto_test_tick(phone).made);
    CHECK_EQUAL(t, 1, sotto_test_wallet_attester.asks);
    sotto_test_phone_close(&other);
    sotto_test_phone_close(phone);
    sotto_test_issuer_close(&second);
}

/* Both sealed a report with it; the second finds that it is used, in its own transaction. */
static void the_slower_process_does_not_use_the_token_again(sotto_test *t)
{
    sotto_test_wallet_start(t, true);
    sotto_test_token_get(t);
    CHECK_OK(t, sotto_device_offer(sotto_test_wallet_phone.device,
                                   sotto_test_token_recipe(t, "50001"), &t->err));
    CHECK_OK(t, sotto_device_offer(sotto_test_wallet_phone.device,
                                   sotto_test_token_recipe(t, "50002"), &t->err));
    sotto_ledger *ledger = sotto_test_wallet_phone.device->ledger;
    const uint8_t id[SOTTO_REPORT_ID_SIZE] = {1};
    const sotto_dummy dummy = {"50002", SOTTO_TEST_ANALYSIS, 0, SOTTO_DECISION_RECIPE, NULL};
    sotto_report report = {
        .bytes = {id, 16}, .inputs = {id, 1}, .token = sotto_test_wallet_issuer.key.id};

    CHECK_EQUAL(t, 1, sotto_test_tick(&sotto_test_wallet_phone).made);
    memcpy(report.id, id, sizeof report.id);
    CHECK_STATUS(
        t, SOTTO_STALE,
        sotto_outbox_put_dummy(ledger, &dummy, &report, sotto_test_wallet_phone.now, &t->err));
    CHECK_EQUAL(t, 0, sotto_test_tick(&sotto_test_wallet_phone).waiting);
    CHECK_EQUAL(t, 1, sotto_test_wallet_phone.uploads);
    CHECK_EQUAL(t, 0, only_row(t).len);
    sotto_test_phone_close(&sotto_test_wallet_phone);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_slower_process_asks_with_nothing_of_its_own),
        CASE(a_no_in_another_process_stops_the_asking),
        CASE(the_slower_process_does_not_use_the_token_again),
    };

    return RUN_TESTS(argc, argv, cases);
}
