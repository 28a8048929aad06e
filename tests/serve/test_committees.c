/* A sum of two groups that two committees open, over HTTP. Proofs are doubles. */
#define _POSIX_C_SOURCE 200809L
#include "ballot.h"

enum { BOTH = 2, LOST = 1, CONTRIBUTORS = 0x07 };

static void two_committees_open_a_sum_over_http(sotto_test *t)
{
    ballot b;

    ballot_open(t, &b, "");
    b.slow = 3;
    b.committees = BOTH;
    b.length = SOTTO_AERO_GROUP * SOTTO_AERO_SLOTS + 9;
    ballot_post(t, &b);
    CHECK_EQUAL(t, DEVICES, b.plan->members);
    ballot_join(t, &b, CONTRIBUTORS);
    /* One member of the second committee is lost; three of each four open. */
    const uint32_t lost = b.plan->committee[b.plan->terms.committee];
    sotto_fleet_kill(&b.a.fleet, lost);
    for (unsigned i = 0; i < 12; i++)
        aggregation_turn(t, &b.a, 250);
    aggregation_restart(t, &b.a);
    /* Megabytes of ciphertexts take their time on a slow machine. */
    while (aggregation_now(&b.a) < b.round.verify_by)
        aggregation_turn(t, &b.a, 250);
    CHECK(t, aggregation_ends(t, &b.a, "released"));
    CHECK(t, ballot_sum_is(t, &b, CONTRIBUTORS & ~(1u << lost)));
    const ballot_seen board = ballot_look(t, &b, SOTTO_TO_EVERYBODY);
    CHECK_EQUAL(t, DEVICES - LOST, board.of[SOTTO_AERO_CERTIFY]);
    CHECK_EQUAL(t, DEVICES - LOST, board.of[SOTTO_AERO_VERDICT]);
    CHECK_EQUAL(t, 0, board.of[SOTTO_AERO_COMPLAINT]);
    aggregation_close(&b.a);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(two_committees_open_a_sum_over_http),
    };

    return RUN_TESTS(argc, argv, cases);
}
