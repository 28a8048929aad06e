/* Batches and the time they are cut by: dap_batch.c and dap_interval.c. */
#include "support/test.h"

#include "dap/dap.h"

#include <string.h>

static void time_is_counted_in_precisions(sotto_test *t)
{
    uint64_t seconds;

    CHECK_EQUAL(t, 123456789, sotto_dap_time_of(1234567890, 10));
    CHECK_EQUAL(t, 1729629, sotto_dap_time_of(1729629081, 1000));
    CHECK(t, sotto_dap_seconds_of(&seconds, 123456789, 10));
    CHECK_EQUAL(t, 1234567890, seconds);
    CHECK(t, !sotto_dap_seconds_of(&seconds, UINT64_MAX / 10 + 1, 10));
}

static void intervals_are_half_open_and_never_wrap(sotto_test *t)
{
    const sotto_dap_interval some = {10, 5}, last = {UINT64_MAX - 1, 1}, wraps = {2, UINT64_MAX};

    CHECK(t, sotto_dap_interval_valid(some));
    CHECK(t, sotto_dap_interval_valid(last));
    CHECK(t, !sotto_dap_interval_valid(wraps));
    CHECK(t, !sotto_dap_interval_valid((sotto_dap_interval){7, 0}));
    CHECK(t, sotto_dap_interval_holds(some, 10) && sotto_dap_interval_holds(some, 14));
    CHECK(t, !sotto_dap_interval_holds(some, 9) && !sotto_dap_interval_holds(some, 15));
    CHECK(t, sotto_dap_interval_within(some, some));
    CHECK(t, sotto_dap_interval_within((sotto_dap_interval){12, 3}, some));
    CHECK(t, !sotto_dap_interval_within((sotto_dap_interval){12, 4}, some));
    CHECK(t, !sotto_dap_interval_within((sotto_dap_interval){9, 2}, some));
}

static void a_selector_may_be_narrower_than_its_query(sotto_test *t)
{
    const sotto_dap_query hours = {SOTTO_DAP_TIME_INTERVAL, {10, 5}};
    const sotto_dap_query next = {.mode = SOTTO_DAP_LEADER_SELECTED};
    sotto_dap_batch_selector selector = {.mode = SOTTO_DAP_TIME_INTERVAL, .interval = {11, 2}};

    CHECK(t, sotto_dap_batch_selector_fits(&selector, &hours));
    CHECK(t, !sotto_dap_batch_selector_fits(&selector, &next));
    selector.interval.duration = 5;
    CHECK(t, !sotto_dap_batch_selector_fits(&selector, &hours));
    selector.mode = SOTTO_DAP_LEADER_SELECTED;
    CHECK(t, sotto_dap_batch_selector_fits(&selector, &next));
    CHECK(t, !sotto_dap_batch_selector_fits(&selector, &hours));
}

static void selectors_are_of_their_mode(sotto_test *t)
{
    sotto_dap_batch_selector selector;

    CHECK_OK(t,
             sotto_dap_batch_selector_decode(
                 &selector, sotto_test_hex(t, "01001000000000000000010000000000000002"), &t->err));
    CHECK_EQUAL(t, 2, selector.interval.duration);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_dap_batch_selector_decode(&selector, sotto_test_hex(t, "020000"), &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_dap_batch_selector_decode(&selector, sotto_test_hex(t, "010000"), &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_dap_batch_selector_decode(&selector, sotto_test_hex(t, "050000"), &t->err));
}

static void the_checksum_forgets_the_order(sotto_test *t)
{
    static const uint8_t ids[3][SOTTO_REPORT_ID_SIZE] = {{1}, {2}, {3}};
    uint8_t a[SOTTO_CHECKSUM_SIZE] = {0}, b[SOTTO_CHECKSUM_SIZE] = {0},
            c[SOTTO_CHECKSUM_SIZE] = {0};
    /* SHA-256 of sixteen zero bytes */
    const sotto_bytes wanted =
        sotto_test_hex(t, "374708fff7719dd5979ec875d56cd2286f6d3cf7ec317a3b25632aab28ec37bb");
    static const uint8_t zeros[SOTTO_REPORT_ID_SIZE];

    sotto_dap_checksum_add(c, zeros);
    CHECK_BYTES(t, wanted.data, c, sizeof c);
    for (size_t i = 0; i < 3; i++) {
        sotto_dap_checksum_add(a, ids[i]);
        sotto_dap_checksum_add(i < 2 ? b : c, ids[2 - i]);
    }
    sotto_dap_checksum_add(c, zeros);
    sotto_dap_checksum_merge(b, c);
    CHECK_BYTES(t, a, b, sizeof a);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(time_is_counted_in_precisions),
        CASE(intervals_are_half_open_and_never_wrap),
        CASE(a_selector_may_be_narrower_than_its_query),
        CASE(selectors_are_of_their_mode),
        CASE(the_checksum_forgets_the_order),
    };

    return RUN_TESTS(argc, argv, cases);
}
