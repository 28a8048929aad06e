#include "support/test.h"

#include <string.h>

static void err_keeps_the_first_failure(sotto_test *t)
{
    sotto_err err = {0};

    CHECK_EQUAL(t, SOTTO_IO, sotto_fail(&err, SOTTO_IO, "disk %d is gone", 3));
    CHECK_EQUAL(t, SOTTO_DENIED, sotto_fail(&err, SOTTO_DENIED, "and so it went on"));
    CHECK_EQUAL(t, SOTTO_IO, err.status);
    CHECK(t, strcmp(err.reason, "disk 3 is gone") == 0);
}

static void err_may_be_absent(sotto_test *t)
{
    CHECK_EQUAL(t, SOTTO_BUG, sotto_fail(NULL, SOTTO_BUG, "nobody reads this"));
}

static void err_cuts_a_long_reason(sotto_test *t)
{
    sotto_err err = {0};

    (void)sotto_fail(&err, SOTTO_MALFORMED, "%0500d", 1);
    CHECK_EQUAL(t, sizeof err.reason - 1, strlen(err.reason));
}

static sotto_status try_three(sotto_status second, int *reached)
{
    SOTTO_TRY(SOTTO_OK);
    *reached = 1;
    SOTTO_TRY(second);
    *reached = 2;
    return SOTTO_OK;
}

static void try_leaves_at_the_first_failure(sotto_test *t)
{
    int reached = 0;

    CHECK_STATUS(t, SOTTO_STALE, try_three(SOTTO_STALE, &reached));
    CHECK_EQUAL(t, 1, reached);
    CHECK_OK(t, try_three(SOTTO_OK, &reached));
    CHECK_EQUAL(t, 2, reached);
}

static void every_status_has_its_own_name(sotto_test *t)
{
    for (int a = SOTTO_OK; a <= SOTTO_BUG; a++) {
        CHECK(t, strcmp(sotto_status_name((sotto_status)a), "unknown status") != 0);
        for (int b = SOTTO_OK; b < a; b++)
            CHECK(t, strcmp(sotto_status_name((sotto_status)a),
                            sotto_status_name((sotto_status)b)) != 0);
    }
    CHECK(t, strcmp(sotto_status_name(SOTTO_TOO_LARGE), "too large") == 0);
    CHECK(t, strcmp(sotto_status_name((sotto_status)(SOTTO_BUG + 1)), "unknown status") == 0);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(err_keeps_the_first_failure),   CASE(err_may_be_absent),
        CASE(err_cuts_a_long_reason),        CASE(try_leaves_at_the_first_failure),
        CASE(every_status_has_its_own_name),
    };
    return RUN_TESTS(argc, argv, cases);
}
