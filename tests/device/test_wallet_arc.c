/* What a wallet keeps of credentials of ARC: each recipe that they were shown for. */
#include "device/ledger/ledger_internal.h"
#include "device/ledger/wallet.h"
#include "recipe/model.h"
#include "support/ledger.h"

#include <string.h>

static sotto_ledger *open_one(sotto_test *t, sotto_test_host *host)
{
    return sotto_test_ledger(t, NULL, host, &sotto_test_table1);
}

static sotto_status show(sotto_ledger *ledger, const sotto_wallet_row *row, sotto_err *err)
{
    SOTTO_TRY(sotto_ledger_begin(ledger, err));
    return sotto_ledger_end(ledger, sotto_wallet_show(ledger, row, err), err);
}

static const char *plan_until(sotto_test *t, sotto_ledger *ledger, sotto_wallet_row *out,
                              uint8_t number, int64_t closes)
{
    sotto_recipe recipe = {
        .hash = {number}, .analysis = "com.example", .opens = 1000, .closes = closes};
    sotto_wallet_row held[2] = {{.key.closes = 5000}, {.key.closes = 4000}};
    sotto_wallet_row *const both[2] = {&held[0], &held[1]};
    const char *none;

    CHECK_OK(t, sotto_wallet_plan_shown(ledger, out, &none, &recipe, both, &t->err));
    return none;
}

static const char *plan(sotto_test *t, sotto_ledger *ledger, sotto_wallet_row *out, uint8_t number)
{
    return plan_until(t, ledger, out, number, 2000);
}

static void a_schedule_lies_within_both_epochs(sotto_test *t)
{
    sotto_test_host host = {0};
    sotto_ledger *ledger = open_one(t, &host);
    sotto_wallet_row row;

    CHECK(t, !plan_until(t, ledger, &row, 1, 4000));
    const char *none = plan_until(t, ledger, &row, 1, 4001); /* past the helper's */
    CHECK(t, none && strstr(none, "has the recipe's whole schedule"));
    sotto_ledger_close(ledger);
}

static void credentials_are_shown_once_for_a_recipe(sotto_test *t)
{
    sotto_test_host host = {0};
    sotto_ledger *ledger = open_one(t, &host);
    sotto_wallet_row first, again, other;

    /* Two processes plan at once; the first to keep its report has the presentation. */
    CHECK(t, !plan(t, ledger, &first, 1));
    CHECK(t, !plan(t, ledger, &again, 1));
    CHECK_EQUAL(t, 5000, first.key.closes); /* for as long as either credential may be shown */
    CHECK_OK(t, show(ledger, &first, &t->err));
    CHECK_STATUS(t, SOTTO_STALE, show(ledger, &again, &t->err));
    CHECK_REASON(t, "credential: shown meanwhile");
    const char *none = plan(t, ledger, &again, 1);
    CHECK(t, none && strstr(none, "only one for the collection is used"));
    CHECK(t, !plan(t, ledger, &other, 2)); /* another recipe */
    CHECK_OK(t, show(ledger, &other, &t->err));
    sotto_ledger_close(ledger);
}

static void an_epoch_has_a_limit_of_presentations(sotto_test *t)
{
    sotto_test_host host = {0};
    sotto_ledger *ledger = open_one(t, &host);
    sotto_wallet_row row;

    for (unsigned i = 0; i < SOTTO_WALLET_SHOWN; i++) {
        CHECK(t, !plan(t, ledger, &row, (uint8_t)i));
        CHECK_OK(t, show(ledger, &row, &t->err));
    }
    const char *none = plan(t, ledger, &row, 255);
    CHECK(t, none && strstr(none, "as often as an epoch allows"));
    /* They go with the epoch. */
    CHECK_OK(t, sotto_wallet_tidy(ledger, 5000 + SOTTO_SEAL_GRACE, &t->err));
    CHECK(t, plan(t, ledger, &row, 255) != NULL);
    CHECK_OK(t, sotto_wallet_tidy(ledger, 5001 + SOTTO_SEAL_GRACE, &t->err));
    CHECK(t, !plan(t, ledger, &row, 255));
    sotto_ledger_close(ledger);
}

/* ---- lists ------------------------------------------------------------------------------------------------ */

static sotto_status plan_nothing(void *context, sotto_wallet_row *row, sotto_err *err)
{
    (void)context, (void)err;
    row->ask = 1000;
    return SOTTO_OK;
}

static sotto_status take_epoch(sotto_ledger *ledger, uint64_t serial, int64_t opens, int64_t closes,
                               sotto_err *err)
{
    const sotto_listed_key key = {.opens = opens, .closes = closes, .id = {(uint8_t)serial}};

    return sotto_wallet_take(ledger, "leader", serial, false, &key, 1, plan_nothing, NULL, 500,
                             err);
}

/* A server that lists two epochs for one time, one after the other, could tell who took the first list. */
static void epochs_of_two_lists_do_not_overlap(sotto_test *t)
{
    static const struct {
        int64_t opens, closes;
    } refused[] = {{1001, 2000}, {999, 1001}, {1500, 1600}, {900, 3000}, {1999, 2500}};
    sotto_test_host host = {0};
    sotto_ledger *ledger = open_one(t, &host);

    CHECK_OK(t, take_epoch(ledger, 1, 1000, 2000, &t->err));
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        CHECK_STATUS(t, SOTTO_REJECTED,
                     take_epoch(ledger, 2 + i, refused[i].opens, refused[i].closes, &t->err));
        CHECK_REASON(t, "another epoch is known for the same time");
    }
    CHECK_OK(t, take_epoch(ledger, 20, 2000, 3000, &t->err)); /* the next one */
    sotto_ledger_close(ledger);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_schedule_lies_within_both_epochs),
        CASE(credentials_are_shown_once_for_a_recipe),
        CASE(an_epoch_has_a_limit_of_presentations),
        CASE(epochs_of_two_lists_do_not_overlap),
    };

    return RUN_TESTS(argc, argv, cases);
}
