/* Rounds of encrypted sums that have one key, over HTTP: journals carry shares from one to the next. Proofs are doubles. */
#define _POSIX_C_SOURCE 200809L
#include "observed.h"

#include "base/arena.h"
#include "device/duties/inside.h"

#include <string.h>

enum { ROUNDS = 3, EVERYBODY = 0xff };

/* With a witness: without one nobody hands over. */
static ballot *open_keyed(sotto_test *t, observed *o)
{
    observed_open(t, o, true);
    o->b.rekey = ROUNDS;
    return &o->b;
}

/* Whether a device has something for the next round. */
static bool carries(sotto_test *t, const ballot *b, uint32_t device)
{
    sotto_duties *d = b->a.fleet.devices[device].duties;
    sotto_bytes what;

    CHECK_OK(t, sotto_journal_carried(&d->journal, b->round.session, &what, &t->arena, &t->err));
    return what.len > 0;
}

static unsigned carriers(sotto_test *t, const ballot *b)
{
    unsigned count = 0;

    for (uint32_t i = 0; i < DEVICES; i++)
        count += carries(t, b, i);
    return count;
}

static void play(sotto_test *t, ballot *b)
{
    ballot_post(t, b);
    ballot_join(t, b, EVERYBODY);
    CHECK(t, aggregation_ends(t, &b->a, "released"));
    CHECK(t, ballot_sum_is(t, b, EVERYBODY));
}

/* Everybody's time goes on until no duty is left. */
static void let_duties_end(sotto_test *t, ballot *b)
{
    while (aggregation_now(&b->a) < b->round.release_by + 1000)
        aggregation_turn(t, &b->a, 1000);
}

static void a_key_is_handed_over_over_http(sotto_test *t)
{
    observed o;

    ballot *b = open_keyed(t, &o);
    for (unsigned round = 0; round < ROUNDS; round++) {
        play(t, b);
        const ballot_seen board = ballot_look(t, b, SOTTO_TO_EVERYBODY);
        CHECK_EQUAL(t, round ? 0 : COMMITTEE, board.of[SOTTO_AERO_KEY]);
        CHECK_EQUAL(t, round ? COMMITTEE : 0, board.of[SOTTO_AERO_HAND]);
        CHECK_EQUAL(t, round ? COMMITTEE : 0, board.of[SOTTO_AERO_PROBE]);
        CHECK_EQUAL(t, round ? 1 : 0, board.of[SOTTO_AERO_TAKEN]);
        /* Those outside the committee read what is sealed for it in excerpts. */
        CHECK_EQUAL(t, COMMITTEE, board.excerpts);
        /* The committee of this round has the key, and nobody else; after the last one nobody has. */
        CHECK_EQUAL(t, round + 1 < ROUNDS ? COMMITTEE : 0, carriers(t, b));
        for (uint32_t i = 0; i < COMMITTEE && round + 1 < ROUNDS; i++)
            CHECK(t, carries(t, b, b->plan->committee[i]));
    }
    play(t, b); /* and then there is a new one */
    CHECK_EQUAL(t, COMMITTEE, ballot_look(t, b, SOTTO_TO_EVERYBODY).of[SOTTO_AERO_KEY]);
    observed_close(&o);
}

/* Server and devices lose all memory, in each phase of a hand-over. */
static void a_restart_loses_no_key(sotto_test *t)
{
    observed o;
    ballot *b = open_keyed(t, &o);

    b->slow = 8;
    play(t, b);
    aggregation_restart(t, &b->a);
    ballot_post(t, b);
    ballot_join(t, b, EVERYBODY);
    for (unsigned i = 0; i < 24; i++) { /* a witness has to see each entry in between */
        aggregation_turn(t, &b->a, 250);
        if (i % 4 == 3)
            aggregation_restart(t, &b->a);
    }
    CHECK(t, aggregation_ends(t, &b->a, "released"));
    CHECK(t, ballot_sum_is(t, b, EVERYBODY));
    CHECK_EQUAL(t, 0, ballot_look(t, b, SOTTO_TO_EVERYBODY).of[SOTTO_AERO_KEY]);
    CHECK_EQUAL(t, COMMITTEE, carriers(t, b));
    observed_close(&o);
}

/* Old members that are away hand over nothing. The round has a new key, and they keep nothing of the old one. */
static void who_was_away_keeps_nothing(sotto_test *t)
{
    observed o;

    ballot *b = open_keyed(t, &o);
    play(t, b);
    ballot_post(t, b);
    ballot_join(t, b, EVERYBODY);
    /* The whole committee before this one, but for who is in this one as well. */
    unsigned away = 0;
    for (uint32_t i = 0; i < COMMITTEE; i++)
        if (sotto_aero_committee_place(b->plan, b->plan->old[i]) < 0 && away < 3) {
            sotto_fleet_kill(&b->a.fleet, b->plan->old[i]);
            away++;
        }
    CHECK(t, away > 0);
    let_duties_end(t, b);
    for (uint32_t i = 0; i < DEVICES; i++) {
        sotto_fleet_kill(&b->a.fleet, i);
        CHECK_OK(t, sotto_fleet_revive(&b->a.fleet, i, &t->err));
    }
    for (unsigned i = 0; i < 4; i++)
        aggregation_turn(t, &b->a, 250);
    for (uint32_t i = 0; i < COMMITTEE; i++)
        if (sotto_aero_committee_place(b->plan, b->plan->old[i]) < 0)
            CHECK(t, !carries(t, b, b->plan->old[i]));
    observed_close(&o);
}

/* A duty that can't go on ends before its round does. What it was to hand over goes with it. */
static void a_duty_that_fails_leaves_nothing(sotto_test *t)
{
    observed o;
    uint32_t one = 0;

    ballot *b = open_keyed(t, &o);
    play(t, b);
    ballot_post(t, b);
    ballot_join(t, b, EVERYBODY);
    while (one + 1 < COMMITTEE && sotto_aero_committee_place(b->plan, b->plan->old[one]) >= 0)
        one++;
    one = b->plan->old[one];
    CHECK(t, sotto_aero_committee_place(b->plan, one) < 0);
    CHECK(t, carries(t, b, one));
    b->a.fleet.devices[one].duties->options.allowed &= ~(unsigned)SOTTO_DUTY_COMMITTEE;
    for (unsigned i = 0; i < 2; i++)
        aggregation_turn(t, &b->a, 1);
    CHECK(t, aggregation_now(&b->a) < b->round.commit_by);
    CHECK(t, !carries(t, b, one));
    observed_close(&o);
}

/* Members of a policy without witnesses make a key, and neither hand it over nor take one. */
static void nobody_hands_over_where_nobody_looks(sotto_test *t)
{
    ballot b;

    ballot_open(t, &b, "");
    b.rekey = ROUNDS;
    b.slow = 2;
    play(t, &b);
    ballot_write(t, &b);
    CHECK(t, b.plan->old_members == COMMITTEE);
    for (unsigned i = 0; i < 2; i++) {
        const uint32_t one = i ? b.plan->old[0] : b.plan->committee[0];

        t->err = (sotto_err){0};
        CHECK_STATUS(t, SOTTO_DENIED,
                     sotto_duties_take(b.a.fleet.devices[one].duties, b.a.posting, one,
                                       SOTTO_DUTY_DECRYPTOR, NULL, 0, &t->err));
        t->err = (sotto_err){0};
    }
    aggregation_close(&b.a);
}

static void what_nobody_asks_for_is_erased(sotto_test *t)
{
    observed o;

    ballot *b = open_keyed(t, &o);
    play(t, b);
    let_duties_end(t, b);
    const uint32_t one = b->plan->committee[0], other = b->plan->committee[1];
    CHECK(t, carries(t, b, one) && carries(t, b, other));
    CHECK_OK(t, sotto_duties_consent(b->a.fleet.devices[one].duties, false, &t->err));
    CHECK(t, !carries(t, b, one));
    const uint64_t until = b->round.release_by + SOTTO_JOURNAL_CARRIED_MS;
    uint64_t next;
    CHECK_OK(t, sotto_duties_tick(b->a.fleet.devices[other].duties, until - 1, &next, &t->err));
    CHECK(t, carries(t, b, other));
    CHECK_OK(t, sotto_duties_tick(b->a.fleet.devices[other].duties, until, &next, &t->err));
    CHECK(t, !carries(t, b, other));
    observed_close(&o);
}

/* A server that picks the last round's beacon would pick who hands over the key. */
static void the_last_beacon_is_checked_as_well(sotto_test *t)
{
    observed o;

    ballot *b = open_keyed(t, &o);
    play(t, b);
    for (unsigned i = 0; i < 3; i++) {
        const sotto_beacon_part kept = b->last.parts[0];

        b->last.origin.beacon[0] ^= i == 0;
        b->last.parts[0].bytes[40] ^= i == 1;
        const uint32_t count = b->last.part_count;
        b->last.part_count = i == 2 ? 0 : count;
        const uint64_t number = b->last.number;
        const sotto_aero_origin origin = b->last.origin;
        ballot_write(t, b);
        CHECK(t, b->plan->old_members == COMMITTEE);
        t->err = (sotto_err){0};
        CHECK_STATUS(t, SOTTO_REJECTED,
                     sotto_duties_take(b->a.fleet.devices[0].duties, b->a.posting, 0,
                                       SOTTO_DUTY_CLIENT, NULL, 0, &t->err));
        t->err = (sotto_err){0};
        b->last.parts[0] = kept;
        b->last.part_count = count;
        b->last.origin = origin;
        b->last.origin.beacon[0] ^= i == 0;
        b->last.number = number;
        b->last.handed = 0;
        b->a.number--;
    }
    observed_close(&o);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_key_is_handed_over_over_http),       CASE(a_restart_loses_no_key),
        CASE(who_was_away_keeps_nothing),           CASE(what_nobody_asks_for_is_erased),
        CASE(the_last_beacon_is_checked_as_well),   CASE(a_duty_that_fails_leaves_nothing),
        CASE(nobody_hands_over_where_nobody_looks),
    };

    if (!sotto_test_at_end(sotto_logs_forget))
        return 1;
    return RUN_TESTS(argc, argv, cases);
}
