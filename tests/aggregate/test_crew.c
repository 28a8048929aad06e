/* A crew does every item once, on however many threads, and tells the first failure in the order of items. */
#include "support/test.h"

#include "aggregate/shared/crew.h"

#include <string.h>

enum { MOST = 100 };

typedef struct work {
    unsigned char done[MOST];
    size_t bad; /* this item fails, and all after it */
} work;

static sotto_status mark(void *context, size_t first, size_t end, sotto_err *err)
{
    work *w = context;

    for (size_t i = first; i < end; i++) {
        if (i >= w->bad)
            return sotto_fail(err, SOTTO_REJECTED, "item %zu", i);
        w->done[i]++;
    }
    return SOTTO_OK;
}

static void every_item_is_done_once(sotto_test *t)
{
    for (unsigned threads = 1; threads <= 9; threads += 2) {
        sotto_crew_use(threads);
        CHECK_EQUAL(t, threads, sotto_crew_size());
        for (size_t count = 0; count <= MOST; count += count < 12 ? 1 : 22) {
            work w = {.bad = MOST};

            CHECK_OK(t, sotto_crew_run(mark, &w, count, &t->err));
            for (size_t i = 0; i < MOST; i++)
                CHECK_EQUAL(t, i < count ? 1 : 0, w.done[i]);
        }
    }
    sotto_crew_use(0);
    CHECK(t, sotto_crew_size() >= 1);
    sotto_crew_use(1000);
    CHECK_EQUAL(t, SOTTO_CREW_MOST, sotto_crew_size());
    sotto_crew_use(1);
}

static void the_first_failure_is_told(sotto_test *t)
{
    for (unsigned threads = 1; threads <= 5; threads++) {
        work w = {.bad = 30};
        sotto_err err = {0};

        sotto_crew_use(threads);
        CHECK_STATUS(t, SOTTO_REJECTED, sotto_crew_run(mark, &w, MOST, &err));
        CHECK(t, strcmp(err.reason, "item 30") == 0);
    }
    sotto_crew_use(1);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {CASE(every_item_is_done_once),
                                            CASE(the_first_failure_is_told)};
    return RUN_TESTS(argc, argv, cases);
}
