/* Rounds that several committees open, each with a key of its own for its groups: with the proof double. */
#include "hall.h"

#include "aggregate/aero/odds.h"

#include <stdlib.h>
#include <string.h>

enum { EACH = 4, OPEN_BY = 3, BOTH = 2, LONG_VECTOR = SOTTO_AERO_GROUP * SOTTO_AERO_SLOTS + 9 };

/* Two groups, the second of one ciphertext. */
static hall_plan two(void)
{
    hall_plan p = HALL_SMALL;

    p.clients = 8;
    p.committees = BOTH;
    p.committee = EACH;
    p.threshold = OPEN_BY;
    p.checks = 3;
    p.length = LONG_VECTOR;
    return p;
}

typedef struct work {
    const sotto_aero_plan *plan;
    size_t largest[BOTH];          /* part of an opening, of each committee's members */
    unsigned roots[BOTH], strange; /* and roots of other groups than its own */
} work;

static void weigh(void *context, sotto_sim_net *net, const sotto_message *m, sotto_bytes wire)
{
    work *w = context;
    const bool up = m->kind == SOTTO_AERO_PART;

    (void)net;
    (void)wire;
    if (!up && m->kind != SOTTO_AERO_ROOTS)
        return;
    const int place = sotto_aero_committee_place(w->plan, up ? m->from : m->to);
    const uint32_t committee = sotto_aero_committee_of_place(w->plan, (uint32_t)place);
    if (up && m->body.len > w->largest[committee])
        w->largest[committee] = m->body.len;
    if (!up) {
        w->roots[committee]++;
        w->strange += sotto_aero_committee_of_group(w->plan, m->body.data[0]) != committee;
    }
}

static void each_committee_opens_its_groups(sotto_test *t)
{
    work w = {0};
    hall h;

    hall_open(t, &h, two());
    CHECK_EQUAL(t, 2, h.derived->groups);
    CHECK_EQUAL(t, 8, h.derived->members);
    w.plan = h.derived;
    sotto_sim_net *net = hall_net(t, &h, 1);
    sotto_sim_net_tap(net, weigh, &w);
    const sotto_sim_report report = hall_run(t, &h, net);
    CHECK(t, report.released);
    CHECK(t, hall_is_exact(&h, &report));
    CHECK_EQUAL(t, 8, report.contributions);
    const size_t each = sotto_aero_poly_size(&h.derived->aero);
    CHECK_EQUAL(t, 1 + SOTTO_AERO_GROUP * each, w.largest[0]);
    CHECK_EQUAL(t, 1 + each, w.largest[1]);
    CHECK(t, w.roots[0] >= EACH && w.roots[1] >= EACH); /* some come twice */
    CHECK_EQUAL(t, 0, w.strange);
    /* Two keys: shares of one are no use for the other. */
    const sotto_aero_view *view = hall_server(net)->base.view;
    CHECK(t, memcmp(&view->b[0], &view->b[1], sizeof view->b[0]) != 0);
    sotto_sim_net_free(net);
    hall_close(&h);
}

/* Two corrupt members of each committee are four, and more than the threshold of one: they certify nothing, and their values give no points. */
static void corrupt_members_of_two_committees_are_not_enough(sotto_test *t)
{
    hall h;

    hall_open(t, &h, two());
    sotto_sim_net *net = hall_net(t, &h, 1);
    hall_until(t, net, HALL_SUMS);
    sotto_aero_view *view = hall_server(net)->base.view;
    CHECK(t, sotto_aero_is_certified(view));
    for (uint32_t i = 0; i < 2 * EACH; i++) {
        view->members[i].has_certified = view->members[i].has_opened = i % EACH < OPEN_BY - 1;
        view->members[i].opened_at = 1;
    }
    CHECK(t, !sotto_aero_is_certified(view));
    CHECK_EQUAL(t, OPEN_BY - 1, sotto_aero_opened(view, UINT64_MAX));
    /* One more in one of them is not enough either. */
    view->members[OPEN_BY - 1].has_certified = view->members[OPEN_BY - 1].has_opened = true;
    CHECK(t, !sotto_aero_is_certified(view));
    CHECK_EQUAL(t, OPEN_BY - 1, sotto_aero_opened(view, UINT64_MAX));
    view->members[EACH + OPEN_BY - 1].has_certified = true;
    view->members[EACH + OPEN_BY - 1].has_opened = true;
    CHECK(t, sotto_aero_is_certified(view));
    CHECK_EQUAL(t, OPEN_BY, sotto_aero_opened(view, UINT64_MAX));
    /* Nor is a key of which too few dealt a part. */
    view->dealt[1] = OPEN_BY - 1;
    CHECK(t, !sotto_aero_is_certified(view));
    sotto_sim_net_free(net);
    hall_close(&h);
}

/* Of four members of each committee three open. */
static void every_committee_is_needed(sotto_test *t)
{
    unsigned said[] = {SOTTO_AERO_SEAL, SOTTO_AERO_CERTIFY, SOTTO_AERO_VALUE, SOTTO_AERO_VERDICT,
                       SOTTO_AERO_PART};

    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
        for (uint32_t lost = i < 3 ? 2 : 1; lost <= 2; lost++) {
            const sotto_arena_mark mark = sotto_arena_here(&t->arena);
            hall_plan p = two();
            hall h;

            p.seed = i;
            hall_open(t, &h, p);
            sotto_sim_net *net = hall_net(t, &h, i);
            for (uint32_t k = 0; k < lost; k++)
                sotto_sim_net_lie(net, SOTTO_SIM_DECRYPTOR(h.derived->committee[EACH + k]),
                                  sotto_sim_liar_silent, &said[i]);
            CHECK(t, hall_run(t, &h, net).released == (lost == 1));
            sotto_sim_net_free(net);
            hall_close(&h);
            sotto_arena_rollback(&t->arena, mark);
        }
}

static void a_crash_does_not_lose_a_committee(sotto_test *t)
{
    const char *many = getenv("SOTTO_CHAOS_ROUNDS");
    const uint64_t rounds = many ? strtoull(many, NULL, 10) : 2;
    uint64_t steps, tried = 0;
    hall h;

    hall_open(t, &h, two());
    steps = hall_play(t, &h, 3, 0, NULL, NULL).steps;
    hall_close(&h);
    /* The second half has the openings. */
    const uint64_t stride = steps / 2 / rounds + 1;
    for (uint64_t at = steps / 2; at <= steps; at += stride, tried++) {
        const sotto_arena_mark mark = sotto_arena_here(&t->arena);

        hall_open(t, &h, two());
        sotto_sim_net *net = hall_net(t, &h, 3);
        sotto_sim_net_crash_at(net, at, tried % 2 ? SOTTO_SIM_CRASH_AFTER : SOTTO_SIM_CRASH_BEFORE);
        const sotto_sim_report report = hall_run(t, &h, net);
        CHECK(t, report.released);
        CHECK(t, hall_is_exact(&h, &report));
        CHECK_EQUAL(t, 0, report.vow_conflicts);
        sotto_sim_net_free(net);
        hall_close(&h);
        sotto_arena_rollback(&t->arena, mark);
    }
}

/* Where everybody is a member, the beacon says in which committee: 1,000 draws have 500 each way, and 5 standard deviations are 80. A registry
 * whose order decided could put all who are corrupt into one. */
static void the_beacon_says_who_is_in_which_committee(sotto_test *t)
{
    enum { DRAWS = 1000 };
    unsigned first[2 * EACH] = {0}, together = 0;
    hall_plan p = two();
    hall h;

    hall_open(t, &h, p);
    for (unsigned draw = 0; draw < DRAWS; draw++) {
        const sotto_arena_mark mark = sotto_arena_here(&t->arena);
        sotto_aero_plan *plan = sotto_arena_take(&t->arena, sizeof *plan);
        bool seen[2 * EACH] = {false};

        CHECK(t, plan != NULL);
        h.round.beacon[0] = (uint8_t)draw;
        h.round.beacon[1] = (uint8_t)(draw >> 8);
        CHECK_OK(t, sotto_aero_plan_init(plan, &h.round, &t->arena, &t->err));
        for (uint32_t i = 0; i < 2 * EACH; i++) {
            CHECK(t, !seen[plan->committee[i]]);
            seen[plan->committee[i]] = true;
            CHECK(t, i % EACH == 0 || plan->committee[i - 1] < plan->committee[i]);
            first[plan->committee[i]] += i < EACH;
        }
        /* 0 and 2, which ranks would never part: in one committee with 3/7. */
        together += (sotto_aero_committee_place(plan, 0) < EACH) ==
                    (sotto_aero_committee_place(plan, 2) < EACH);
        sotto_arena_rollback(&t->arena, mark);
    }
    for (uint32_t i = 0; i < 2 * EACH; i++)
        CHECK(t, first[i] > DRAWS / 2 - 80 && first[i] < DRAWS / 2 + 80);
    CHECK(t, together > 428 - 80 && together < 428 + 80);
    hall_close(&h);
}

static void committees_that_cannot_be_are_refused(sotto_test *t)
{
    hall h;

    hall_open(t, &h, two());
    const sotto_aero_terms right = hall_terms(t, &h);
    for (unsigned i = 0; i < 4; i++) {
        sotto_aero_terms terms = right;
        uint8_t bytes[SOTTO_AERO_TERMS];
        sotto_buf out = sotto_buf_over(bytes, sizeof bytes);

        if (i == 0)
            terms.committees = 0;
        else if (i == 1)
            terms.committees = 3; /* twelve of eight */
        else if (i == 2)
            terms.committees = SOTTO_AERO_MOST_COMMITTEES + 1;
        else
            terms.opening = SOTTO_AERO_ROBUST;
        CHECK_OK(t, sotto_aero_terms_encode(&out, &terms, &t->err));
        h.round.parameters = sotto_buf_bytes(&out);
        CHECK_STATUS(t, SOTTO_DENIED, sotto_aero_check_round(&h.round, NULL));
    }
    hall_close(&h);
}

/* One lost committee is a lost group: the union bound. */
static void odds_count_all_committees(sotto_test *t)
{
    const sotto_aero_people people = {
        .registered = 1e6, .largest = 1e4, .corrupt = 0.03, .offline = 0.2};
    sotto_aero_terms terms = {.checks = 40,
                              .rate = UINT64_MAX / 100,
                              .committee = 45,
                              .threshold = 19,
                              .noise_members = 280,
                              .noise_corrupt = 36,
                              .liars = 500,
                              .committees = 1};
    sotto_aero_odds one, four;

    CHECK_OK(t, sotto_aero_odds_of(&one, &terms, &people, &t->err));
    terms.committees = 4;
    CHECK_OK(t, sotto_aero_odds_of(&four, &terms, &people, &t->err));
    CHECK(t, one.members > 0 && four.members >= 4 * one.members);
    CHECK(t, four.members < 4.01 * one.members);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(each_committee_opens_its_groups),
        CASE(corrupt_members_of_two_committees_are_not_enough),
        CASE(every_committee_is_needed),
        CASE(a_crash_does_not_lose_a_committee),
        CASE(the_beacon_says_who_is_in_which_committee),
        CASE(committees_that_cannot_be_are_refused),
        CASE(odds_count_all_committees),
    };

    return RUN_TESTS(argc, argv, cases);
}
