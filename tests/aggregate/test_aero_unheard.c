/* A key that is handed over, by a server that is late or leaves something out, and members that say it twice. */
#include "heirs.h"

#include "sim/net_internal.h"

#include <string.h>

/* ---- what a server leaves out or delays ------------------------------------------------------------------------------ */

/* Everything was dealt and probed in time, and the server says which key it is after the set-up alone: by a clock of its own. */
static void end_late(sotto_test *t, heirs *p, bool forgets)
{
    sotto_round *own = sotto_arena_take(&t->arena, sizeof *own);

    CHECK(t, own != NULL);
    heirs_open(t, p);
    hall_until(t, p->net, 101);
    *own = p->second.round;
    own->commit_by = own->opens + 2 * (own->commit_by + 200 - own->opens);
    own->closes = own->commit_by + 1000;
    sotto_aero_aggregator *s = hall_server(p->net);
    s->base.round = own;
    s->hand |= SOTTO_AERO_POSTED_TAKEN;
    hall_until(t, p->net, p->second.round.commit_by + 100);
    CHECK_EQUAL(t, 5, heirs_view(p->net)->handing.probed);
    s->hand &= (uint8_t)~SOTTO_AERO_POSTED_TAKEN;
    hall_until(t, p->net,
               p->second.round.commit_by + 400); /* members look at the clock 100 later */
    for (uint32_t i = 0; i < 5 && forgets; i++)
        sotto_sim_lose_memory(
            sotto_sim_find(p->net, SOTTO_SIM_DECRYPTOR(p->second.derived->committee[i])));
    hall_until(t, p->net, p->second.round.closes + 1);
}

/* Members erased what they were dealt by then. Zeros are no share, and after a restart nobody heirs_read again what it erased. */
static void a_key_that_comes_late_is_taken_by_nobody(sotto_test *t)
{
    static const sotto_aero_share nothing;

    for (unsigned forgets = 0; forgets < 2; forgets++) {
        heirs p;

        end_late(t, &p, forgets);
        for (uint32_t i = 0; i < 5; i++) {
            const sotto_aero_committee_member *m = hall_member(&p.second, p.net, i);

            CHECK(t, m && m->base.view->handing.has_passed);
            CHECK(t, m->lacks);
            CHECK(t, memcmp(&m->share, &nothing, sizeof nothing) == 0);
            CHECK(t, !heirs_view(p.net)->members[i].has_certified);
        }
        for (uint32_t i = 0; i < 8; i++) /* nor does it go on from there */
            CHECK_EQUAL(t, 0, sotto_sim_net_carried(p.net, SOTTO_SIM_DECRYPTOR(i)).len);
        heirs_close(&p);
    }
}

enum { UNHEARD = 3 };

/* An old member deals a share of its own making to one new member alone: sealed as the others are. */
static bool deals_one_a_false_share(void *context, sotto_sim_net *net, sotto_message *m,
                                    sotto_bytes *bulk)
{
    sotto_test *t = context;
    sotto_aero_committee_member *liar = hall_speaker(net, m->from);
    const sotto_aero_plan *plan = liar->base.plan;
    const size_t each = sotto_aero_sealed_share_size(plan);
    static sotto_aero_holding false_share;

    (void)bulk;
    if (m->kind != SOTTO_AERO_HAND)
        return true;
    uint8_t *copy = sotto_arena_take(&t->arena, m->body.len);
    CHECK(t, copy != NULL);
    memcpy(copy, m->body.data, m->body.len);
    sotto_buf out = sotto_buf_over(copy + SOTTO_AERO_HAND_HEAD + UNHEARD * each, each);
    false_share.share.s.first[0].v = 1;
    CHECK_OK(t, sotto_aero_holding_seal(liar, &out, "sotto-aero-hand-1", plan->committee[UNHEARD],
                                        NULL, &false_share, &t->arena, &t->err));
    m->body = sotto_bytes_of(copy, m->body.len);
    return true;
}

/* The server leaves one new member's probe out: nobody judges what that member was dealt. */
static void leave_out(sotto_test *t, heirs *p, bool lies)
{
    static unsigned withheld = SOTTO_AERO_PROBE;

    heirs_open(t, p);
    if (lies)
        sotto_sim_net_lie(p->net, SOTTO_SIM_DECRYPTOR(p->second.derived->old[0]),
                          deals_one_a_false_share, t);
    sotto_sim_net_lie(p->net, SOTTO_SIM_DECRYPTOR(p->second.derived->committee[UNHEARD]),
                      heirs_say_no_more, &withheld);
    hall_until(t, p->net, HALL_SUMS);
    CHECK(t, heirs_have_key(p));
    CHECK(t, !heirs_view(p->net)->handing.has_probed[UNHEARD]);
    CHECK_EQUAL(t, 0, heirs_view(p->net)->handing.taken[0]); /* nobody else found anything wrong */
}

static void a_member_that_is_not_heard_looks_at_its_share(sotto_test *t)
{
    const uint32_t places[2] = {0, UNHEARD};
    heirs p;

    leave_out(t, &p, false);
    const sotto_aero_committee_member *m = hall_member(&p.second, p.net, UNHEARD);
    const sotto_aero_share *shares[2] = {&hall_member(&p.second, p.net, 0)->share, &m->share};
    CHECK(t, !m->lacks);
    CHECK(t, heirs_view(p.net)->members[UNHEARD].has_certified);
    CHECK(t, heirs_read(t, &p, shares, places));
    heirs_close(&p);
}

static void a_member_that_is_not_heard_takes_no_false_share(sotto_test *t)
{
    heirs p;

    leave_out(t, &p, true);
    CHECK(t, hall_member(&p.second, p.net, UNHEARD)->lacks);
    CHECK(t, !heirs_view(p.net)->members[UNHEARD].has_certified);
    CHECK(t, hall_run(t, &p.second, p.net).released); /* the others open */
    heirs_close(&p);
}

/* A new member says what it was dealt, with a byte too many. Then it says that it could open nothing of the first dealer's. */
static bool says_it_twice(void *context, sotto_sim_net *net, sotto_message *m, sotto_bytes *bulk)
{
    const heirs *p = context;
    const size_t probe = 1 + SOTTO_AERO_PROBES * 8;
    static uint8_t first[4096], second[4096];
    uint8_t signature[SOTTO_SIGNATURE];
    sotto_message other = *m;

    (void)bulk;
    if (m->kind != SOTTO_AERO_PROBE)
        return true;
    memcpy(first, m->body.data, m->body.len);
    first[m->body.len] = 0;
    other.body = sotto_bytes_of(first, m->body.len + 1);
    second[0] = 0;
    memcpy(second + 1, m->body.data + probe, m->body.len - probe);
    m->body = sotto_bytes_of(second, 1 + m->body.len - probe);
    return sotto_message_sign(&other, signature, &p->second.cast.clients[m->from], NULL) ==
               SOTTO_OK &&
           sotto_sim_post(net, &other, NULL) == SOTTO_OK;
}

/* Else members that restart, and have only what counts, would judge other probes than those that do not. */
static void a_probe_that_does_not_count_leaves_nothing_behind(sotto_test *t)
{
    static const sotto_aero_probe nothing;
    heirs p;

    heirs_open(t, &p);
    sotto_sim_net_lie(p.net, SOTTO_SIM_DECRYPTOR(p.second.derived->committee[UNHEARD]),
                      says_it_twice, &p);
    hall_until(t, p.net, HALL_PROMISES);
    const sotto_aero_handing *h = &heirs_view(p.net)->handing;
    CHECK(t, h->has_probed[UNHEARD]);
    CHECK(t, !h->opened[UNHEARD] && h->opened[p.second.plan.committee + UNHEARD]);
    CHECK(t, memcmp(&h->probes[UNHEARD], &nothing, sizeof nothing) == 0);
    CHECK(t, heirs_have_key(&p));
    heirs_close(&p);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_key_that_comes_late_is_taken_by_nobody),
        CASE(a_member_that_is_not_heard_looks_at_its_share),
        CASE(a_member_that_is_not_heard_takes_no_false_share),
        CASE(a_probe_that_does_not_count_leaves_nothing_behind),
    };
    return RUN_TESTS(argc, argv, cases);
}
