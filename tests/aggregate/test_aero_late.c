/* What comes late: sums that nobody has time to check, complaints after verdicts, reveals after the end; and members that go home. */
#include "hall.h"

#include <string.h>

static hall_plan five(void)
{
    hall_plan p = HALL_SMALL;

    p.clients = 5;
    p.checks = 6; /* of nine leaves */
    return p;
}

/* ---- sums --------------------------------------------------------------------------------------------------- */

static bool shows_nothing(void *context, sotto_sim_net *net, sotto_message *m, sotto_bytes *bulk)
{
    (void)context;
    (void)net;
    (void)bulk;
    return m->kind != SOTTO_AERO_SAMPLE && m->kind != SOTTO_AERO_ANSWER;
}

/* A server that posts its sums when its own clock says so, and shows no leaf. */
static sotto_sim_net *post_sums_at(sotto_test *t, hall *h, uint64_t at)
{
    sotto_round *own = sotto_arena_take(&t->arena, sizeof *own);

    CHECK(t, own != NULL);
    hall_open(t, h, five());
    sotto_sim_net *net = hall_net(t, h, 0);
    sotto_sim_net_lie(net, SOTTO_TO_SERVER, shows_nothing, NULL);
    hall_until(t, net, HALL_SUMS);
    sotto_aero_aggregator *s = hall_server(net);
    *own = h->round;
    own->verify_by = own->closes + 3 * (at - own->closes);
    own->release_by = own->verify_by + 20000;
    s->base.round = own;
    /* One leaf is not what its device promised. */
    sotto_aero_entrant *e = &s->entrants[s->base.plan->terms.noise_members];
    e[0].groups[0] = e[1].groups[0];
    e[0].of = e[1].of;
    hall_until(t, net, own->closes);
    s->posted |= SOTTO_AERO_POSTED_SUMMED; /* although all values are there */
    hall_until(t, net, at - 1);
    s->posted &= (uint8_t)~SOTTO_AERO_POSTED_SUMMED;
    return net;
}

/* After the last complaint: members alone see the sums, and they fit. */
static void sums_that_come_too_late_are_not_opened(sotto_test *t)
{
    sotto_sim_report report;
    hall h;

    sotto_sim_net *net = post_sums_at(t, &h, 5200);
    CHECK_OK(t, sotto_sim_net_run(net, 10 * h.round.release_by, &report, &t->err));
    CHECK(t, hall_member(&h, net, 0)->base.view->is_summed);
    CHECK(t, !report.released);
    sotto_sim_net_free(net);
    hall_close(&h);
}

/* Between the time at which devices complain and the end: they have not complained yet. */
static void devices_ask_about_sums_that_come_late(sotto_test *t)
{
    hall h;

    sotto_sim_net *net = post_sums_at(t, &h, 4500);
    hall_until(t, net, h.round.verify_by + 500);
    CHECK(t, hall_member(&h, net, 0)->base.view->is_summed);
    CHECK(t, hall_member(&h, net, 0)->base.view->challenge_count > 0);
    sotto_sim_net_free(net);
    hall_close(&h);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(sums_that_come_too_late_are_not_opened),
        CASE(devices_ask_about_sums_that_come_late),
    };
    return RUN_TESTS(argc, argv, cases);
}
