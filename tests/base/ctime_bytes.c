#include "support/ctime.h"
#include "support/test.h"

static void comparing_secrets_takes_no_branch_on_them(sotto_test *t)
{
    uint8_t a[64] = {1}, b[64] = {1};

    sotto_ctime_secret(a, sizeof a);
    sotto_ctime_secret(b, sizeof b);
    bool equal = sotto_bytes_equal(sotto_bytes_of(a, sizeof a), sotto_bytes_of(b, sizeof b));
    sotto_ctime_public(&equal, sizeof equal); /* that they are equal may be known */
    CHECK(t, equal);
}

static void wiping_looks_at_nothing(sotto_test *t)
{
    uint8_t secret[64] = {1};

    sotto_ctime_secret(secret, sizeof secret);
    sotto_wipe(secret, sizeof secret);
    CHECK_EQUAL(t, 0, secret[0]); /* overwritten, and so no longer secret */
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(comparing_secrets_takes_no_branch_on_them),
        CASE(wiping_looks_at_nothing),
    };
    return RUN_TESTS(argc, argv, cases);
}
