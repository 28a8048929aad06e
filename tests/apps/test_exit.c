#include "support/exit.h"
#include "support/test.h"

static void each_status_has_its_documented_code(sotto_test *t)
{
    static const struct {
        sotto_status status;
        sotto_at at;
        int code;
    } rows[] = {
        {SOTTO_OK, SOTTO_AT_PEER, 0},         {SOTTO_MALFORMED, SOTTO_AT_WORDS, 2},
        {SOTTO_MALFORMED, SOTTO_AT_FILE, 3},  {SOTTO_MALFORMED, SOTTO_AT_DATA, 1},
        {SOTTO_MALFORMED, SOTTO_AT_BATCH, 1}, {SOTTO_TOO_LARGE, SOTTO_AT_FILE, 3},
        {SOTTO_DENIED, SOTTO_AT_WORDS, 4},    {SOTTO_DENIED, SOTTO_AT_FILE, 4},
        {SOTTO_DENIED, SOTTO_AT_PEER, 4},     {SOTTO_DENIED, SOTTO_AT_BATCH, 5},
        {SOTTO_AGAIN, SOTTO_AT_BATCH, 5},     {SOTTO_DENIED, SOTTO_AT_LOG, 6},
        {SOTTO_STALE, SOTTO_AT_LOG, 6},       {SOTTO_STALE, SOTTO_AT_FILE, 1},
        {SOTTO_IO, SOTTO_AT_PEER, 7},         {SOTTO_IO, SOTTO_AT_BATCH, 7},
        {SOTTO_IO, SOTTO_AT_LOG, 7},          {SOTTO_IO, SOTTO_AT_FILE, 1},
        {SOTTO_IO, SOTTO_AT_DATA, 1},         {SOTTO_MISSING, SOTTO_AT_PEER, 1},
        {SOTTO_NO_MEMORY, SOTTO_AT_DATA, 1},  {SOTTO_BUG, SOTTO_AT_LOG, 1},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CHECK_EQUAL(t, rows[i].code, sotto_exit_code(rows[i].status, rows[i].at));
}

/* A proof that fails is never taken for anything else, and no failure for a success. */
static void wherever_it_fails_the_code_says_so(sotto_test *t)
{
    for (int at = 0; at < SOTTO_AT_COUNT; at++) {
        CHECK_EQUAL(t, EXIT_PROOF, sotto_exit_code(SOTTO_REJECTED, (sotto_at)at));
        for (int status = SOTTO_OK + 1; status <= SOTTO_BUG; status++)
            CHECK(t, sotto_exit_code((sotto_status)status, (sotto_at)at) != EXIT_DONE);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {CASE(each_status_has_its_documented_code),
                                            CASE(wherever_it_fails_the_code_says_so)};
    return RUN_TESTS(argc, argv, cases);
}
