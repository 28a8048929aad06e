#include "base/stack.h"
#include "support/residue.h"

#ifdef SOTTO_TEST_STACK_MOVES

int main(void)
{
    return sotto_test_none("a sanitizer moves what is on the stack");
}

#else

enum { SECRET = 0x5e, FRAMES = 512 }; /* room for return addresses and saved registers */

/* The residue of a call that used nearly all that is wiped. */
__attribute__((noinline)) static void leave_a_secret(void)
{
    volatile uint8_t secret[SOTTO_STACK_WIPED - FRAMES];

    for (size_t i = 0; i < sizeof secret; i++)
        secret[i] = SECRET;
}

static void only_leave(void *unused)
{
    (void)unused;
    leave_a_secret();
}

static void leave_and_wipe(void *unused)
{
    (void)unused;
    leave_a_secret();
    sotto_wipe_stack();
}

static void wipe_stack_clears_what_finished_calls_left(sotto_test *t)
{
    static const uint8_t secret[4] = {SECRET, SECRET, SECRET, SECRET};

    sotto_test_on_own_stack(t, only_leave, NULL);
    CHECK(t, sotto_test_stack_holds(secret, sizeof secret)); /* it can tell */
    sotto_test_on_own_stack(t, leave_and_wipe, NULL);
    CHECK(t, !sotto_test_stack_holds(secret, sizeof secret));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(wipe_stack_clears_what_finished_calls_left),
    };
    return RUN_TESTS(argc, argv, cases);
}

#endif
