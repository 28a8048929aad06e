/* How many devices may answer in a window, by the law of their participation. */
#include "recipe/model.h"
#include "serve/tasks/rate.h"
#include "support/test.h"

/* A schedule of 100 hours, a bucket each, from hour 1000. */
static void explains(sotto_test *t, const sotto_participation *participation, double dummies,
                     uint64_t first, uint64_t end, uint64_t wanted)
{
    const sotto_recipe recipe = {
        .participation = *participation, .opens = 3600000, .closes = 3960000, .dummies = dummies};
    const sotto_server_task task = {.recipe = &recipe,
                                    .dap = {.precision = 3600, .opens = 3600000}};
    const sotto_batch_range range = {.first_bucket = first, .end_bucket = end};

    CHECK_EQUAL(t, wanted, sotto_rate_expected(&task, &range, 1000));
}

/* What one slot may have is not what all of them may. */
static void a_window_has_the_devices_of_its_slots(sotto_test *t)
{
    static const sotto_participation any = {.type = SOTTO_POISSON, .rate = 1},
                                     fixed = {.type = SOTTO_CHECK_IN_FIXED_WINDOW,
                                              .rate = 1,
                                              .slots = 20,
                                              .start = 3600000,
                                              .length = 5 * 3600},
                                     early = {.type = SOTTO_CHECK_IN_AVERAGED_WINDOW,
                                              .rate = 1,
                                              .slots = 20,
                                              .start = 3600000 - 50 * 3600,
                                              .length = 5 * 3600};

    explains(t, &any, 0, 1000, 1001, 1000); /* all of them may come in the first hour */
    explains(t, &fixed, 0, 1000, 1100, 1000);
    explains(t, &fixed, 0, 1000, 1001, 50);
    explains(t, &fixed, 0, 1000, 1005, 50);
    explains(t, &fixed, 0, 1000, 1006, 100);
    explains(t, &fixed, 0, 1004, 1006, 100); /* it touches two */
    explains(t, &fixed, 0, 0, 1005, 50);     /* nobody answers before it opens */
    explains(t, &fixed, 0, 1095, 2000, 50);  /* nor after it has closed */
    explains(t, &fixed, 0, 0, INT64_MAX, 1000);
    explains(t, &early, 0, 0, INT64_MAX, 500); /* an earlier recipe had the other half */
    explains(t, &early, 0, 1060, 1070, 0);     /* and behind the last slot there is nobody */
}

/* Slot i of ten has 100 x 0.9^i of a thousand, and half of them behind a fair coin. */
static void a_window_of_donations_has_its_part_of_the_law(sotto_test *t)
{
    static const sotto_participation donation = {
        .type = SOTTO_DONATION, .rate = 1, .slots = 10, .start = 3600000, .length = 3600};
    sotto_participation half = donation;

    half.rate = 0.5;
    explains(t, &donation, 0, 1000, 1001, 100);
    explains(t, &donation, 0, 1001, 1002, 90);
    explains(t, &donation, 0, 1009, 1010, 39);  /* 38.7 */
    explains(t, &donation, 0, 1000, 1100, 652); /* 651.3 */
    explains(t, &half, 0, 1000, 1001, 50);
    explains(t, &half, 0, 1000, 1100, 326);
    explains(t, &half, 1, 1000, 1100, 1000); /* whoever does not take part sends a dummy ... */
    explains(t, &half, 1, 1000, 1001, 118);  /* ... in any slot alike: 50 and 67.4 */
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_window_has_the_devices_of_its_slots),
        CASE(a_window_of_donations_has_its_part_of_the_law),
    };

    return RUN_TESTS(argc, argv, cases);
}
