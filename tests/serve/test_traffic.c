/* What a member of a committee of fifteen transfers in a round over HTTP, counted by its client. Proofs are doubles. */
#define _POSIX_C_SOURCE 200809L
#include "ballot.h"

#include "base/arena.h"
#include "support/member_bytes.h"

#include <stdio.h>

enum { PEOPLE = 20, MEMBERS = 15, OPEN = 7, CIPHERTEXTS = 8, BOTH = 0x3 };

/* Contributors and givers of noise are devices, and members are members: nobody does more than it has to. */
static void join(sotto_test *t, ballot *b)
{
    uint64_t *values = sotto_arena_take_array(&t->arena, b->length, sizeof *values);

    CHECK(t, values != NULL);
    for (uint32_t i = 0; i < b->devices; i++) {
        sotto_duties *d = b->a.fleet.devices[i].duties;
        const bool contributes = BOTH >> i & 1;

        for (size_t k = 0; k < b->length; k++)
            values[k] = aggregation_value(i, k);
        if (contributes || sotto_aero_noise_place(b->plan, i) >= 0)
            CHECK_OK(t, sotto_duties_take(d, b->a.posting, i, SOTTO_DUTY_CLIENT,
                                          contributes ? values : NULL, b->length, &t->err));
        if (sotto_aero_committee_place(b->plan, i) >= 0)
            CHECK_OK(t,
                     sotto_duties_take(d, b->a.posting, i, SOTTO_DUTY_DECRYPTOR, NULL, 0, &t->err));
        b->a.fleet.devices[i].next_ms = 0;
    }
}

/* Requests and empty answers of polls depend on how often the test turns, and are no part of what a member has to say: some bytes each. */
static void a_member_transfers_what_is_for_it(sotto_test *t)
{
    ballot b;
    double sent = 0, received = 0;
    unsigned members = 0;

    ballot_open_many(t, &b, "", PEOPLE);
    b.slow = 4;
    b.members = MEMBERS;
    b.opening_members = OPEN;
    b.set = 1;
    b.length = CIPHERTEXTS * SOTTO_AERO_SLOTS;
    ballot_post(t, &b);
    join(t, &b);
    CHECK(t, aggregation_ends(t, &b.a, "released"));
    CHECK(t, ballot_sum_is(t, &b, BOTH));
    const sotto_member_bytes what = {.committee = MEMBERS,
                                     .threshold = OPEN,
                                     .committees = 1,
                                     .ciphertexts = CIPHERTEXTS,
                                     .groups = 1,
                                     .leaves = 2 + NOISE,
                                     .noise = NOISE};
    const double sends = sotto_member_sends(&b.plan->aero, &what),
                 reads = sotto_member_reads(&b.plan->aero, &what);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        const uint32_t who = b.plan->committee[i];
        const sotto_fleet_device *d = &b.a.fleet.devices[who];

        if ((BOTH >> who & 1) || sotto_aero_noise_place(b.plan, who) >= 0)
            continue;
        /* Who was not chosen to open says no parts. */
        const bool opened = (double)d->sent > 0.9 * sends;
        const double parts = opened ? 0 : CIPHERTEXTS * (double)sotto_aero_poly_size(&b.plan->aero);
        CHECK(t,
              (double)d->sent > 0.99 * (sends - parts) && (double)d->sent < 1.03 * (sends - parts));
        CHECK(t, (double)d->received > 0.97 * reads && (double)d->received < 1.03 * reads);
        sent = opened && (double)d->sent > sent ? (double)d->sent : sent;
        received = (double)d->received > received ? (double)d->received : received;
        members++;
    }
    CHECK(t, members > 3 && sent > 0);
    printf("a member: %.0f bytes sent (%.0f by the formula), %.0f received (%.0f)\n", sent, sends,
           received, reads);
    aggregation_close(&b.a);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_member_transfers_what_is_for_it),
    };

    return RUN_TESTS(argc, argv, cases);
}
