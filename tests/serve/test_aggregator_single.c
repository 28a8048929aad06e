/* A single round without a committee (Bell et al. 2020), over the same service and by the same duties as Flamingo. */
#define _POSIX_C_SOURCE 200809L
#include "aggregation.h"

#include <string.h>

enum { CLIENTS = 6, QUORUM = 4, THRESHOLD = 3 };

/* Devices know such rounds: four equal votes, and three neighbours that stay. */
static void open_single(sotto_test *t, aggregation *a)
{
    aggregation_open(t, a, CLIENTS, 3, "");
    a->fleet.terms.methods = 1u << SOTTO_METHOD_BBGLR;
    a->fleet.terms.committee = QUORUM;
    a->fleet.terms.neighbours = THRESHOLD;
    for (uint32_t i = 0; i < CLIENTS; i++)
        sotto_duties_expect(a->fleet.devices[i].duties, &a->fleet.terms);
}

static unsigned post(sotto_test *t, aggregation *a, uint32_t quorum)
{
    const uint64_t now = aggregation_now(a);
    const sotto_bbglr_parameters single = {
        .degree = 4, .threshold = THRESHOLD, .quorum = quorum, .keys_by = now + 4000};
    const sotto_epoch_round round = {.number = ++a->number,
                                     .ring = SOTTO_RING_Z32,
                                     .length = LENGTH,
                                     .most = MOST,
                                     .least = QUORUM,
                                     .opens = now,
                                     .closes = now + 12000,
                                     .verify_by = now + 24000,
                                     .release_by = now + 60000,
                                     .single = &single};

    CHECK_OK(t, sotto_epoch_post(&a->fleet.epoch, &round, &a->posting, a->id, &t->arena, &t->err));
    return aggregation_ask(t, a, SOTTO_HTTP_POST, "rounds", OPERATOR, SOTTO_POSTING_TYPE,
                           a->posting)
        .status;
}

static sotto_status answer(sotto_test *t, aggregation *a, uint32_t device)
{
    uint64_t values[LENGTH];

    for (size_t i = 0; i < LENGTH; i++)
        values[i] = aggregation_value(device, i);
    a->fleet.devices[device].next_ms = 0;
    return sotto_duties_take(a->fleet.devices[device].duties, a->posting, device, SOTTO_DUTY_CLIENT,
                             values, LENGTH, &t->err);
}

static void a_single_round_is_released_without_those_who_dropped(sotto_test *t)
{
    aggregation a;

    open_single(t, &a);
    CHECK_EQUAL(t, 201, post(t, &a, QUORUM));
    for (uint32_t i = 1; i < CLIENTS; i++) /* one never says a word */
        CHECK_OK(t, answer(t, &a, i));
    CHECK(t, aggregation_ends(t, &a, "released"));
    CHECK(t, aggregation_sum_is(t, &a, 0x3e));
    aggregation_close(&a);
}

/* Before its keys, its deal, its vector or its answer: the sum has it or not, and is the sum. Where it has dealt and not reported,
 * neighbours give the key of its masks. */
static void a_client_may_be_lost_at_any_time(sotto_test *t)
{
    unsigned without = 0;
    aggregation a;

    open_single(t, &a);
    for (unsigned turns = 0; turns < 9; turns += 4) {
        CHECK_EQUAL(t, 201, post(t, &a, QUORUM));
        for (uint32_t i = 0; i < CLIENTS; i++)
            CHECK_OK(t, answer(t, &a, i));
        for (unsigned i = 0; i < turns; i++)
            aggregation_turn(t, &a, 250);
        sotto_fleet_kill(&a.fleet, 2);
        CHECK(t, aggregation_ends(t, &a, "released"));
        const bool lost = aggregation_sum_is(t, &a, 0x3b);
        CHECK(t, lost || aggregation_sum_is(t, &a, 0x3f));
        without += lost;
        CHECK_OK(t, sotto_fleet_revive(&a.fleet, 2, &t->err));
    }
    CHECK(t, without >= 1 && without < 3);
    aggregation_close(&a);
}

/* Everybody loses power at some time of the round, the server among them. */
static void a_restart_changes_nothing(sotto_test *t)
{
    aggregation a;

    open_single(t, &a);
    for (unsigned turns = 2; turns < 60; turns += 29) {
        CHECK_EQUAL(t, 201, post(t, &a, QUORUM));
        for (uint32_t i = 0; i < CLIENTS; i++)
            CHECK_OK(t, answer(t, &a, i));
        for (unsigned i = 0; i < turns; i++)
            aggregation_turn(t, &a, 250);
        aggregation_restart(t, &a);
        CHECK(t, aggregation_ends(t, &a, "released"));
        CHECK(t, aggregation_sum_is(t, &a, 0x3f));
    }
    aggregation_close(&a);
}

/* Two quorums of half could show two views. */
static void a_device_demands_its_quorum(sotto_test *t)
{
    aggregation a;

    open_single(t, &a);
    a.fleet.terms.committee = QUORUM + 1;
    sotto_duties_expect(a.fleet.devices[0].duties, &a.fleet.terms);
    CHECK_EQUAL(t, 201, post(t, &a, QUORUM));
    CHECK_STATUS(t, SOTTO_DENIED, answer(t, &a, 0));
    CHECK_OK(t, answer(t, &a, 1));
    aggregation_close(&a);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_single_round_is_released_without_those_who_dropped),
        CASE(a_client_may_be_lost_at_any_time),
        CASE(a_restart_changes_nothing),
        CASE(a_device_demands_its_quorum),
    };

    return RUN_TESTS(argc, argv, cases);
}
