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

/* ---- complaints ----------------------------------------------------------------------------------------------- */

static sotto_message of_round(const hall *h, unsigned kind, uint32_t from, uint32_t to,
                              sotto_bytes body)
{
    sotto_message m = {.epoch = h->round.epoch,
                       .round = h->round.number,
                       .kind = (uint16_t)kind,
                       .from = from,
                       .to = to,
                       .body = body};

    memcpy(m.session, h->round.session, 32);
    return m;
}

static sotto_status deliver(sotto_test *t, sotto_aero_committee_member *m, sotto_message message)
{
    sotto_effects effects;
    sotto_status verdict = SOTTO_BUG;

    sotto_effects_init(&effects, &t->arena);
    CHECK_OK(t, m->base.machine.ops->deliver(&m->base.machine, &message, 1, &verdict, &effects,
                                             &t->err));
    return verdict;
}

/* A device's complaint comes to a member as the next entry of the board. */
static void complain(sotto_test *t, const hall *h, sotto_aero_committee_member *m, uint32_t from,
                     sotto_bytes body)
{
    const size_t room = 1024;
    sotto_buf record = sotto_buf_over(sotto_arena_take(&t->arena, room), room),
              entry = sotto_buf_over(sotto_arena_take(&t->arena, room), room);
    uint8_t signature[SOTTO_SIGNATURE];
    sotto_message said = of_round(h, SOTTO_AERO_COMPLAINT, from, SOTTO_TO_BOARD, body);

    CHECK(t, record.data && entry.data);
    CHECK_OK(t, sotto_message_sign(&said, signature, &h->cast.clients[from], &t->err));
    CHECK_OK(t, sotto_message_encode(&record, &said, &t->err));
    CHECK_OK(t, sotto_entry_encode(&entry, m->base.view->next, sotto_buf_bytes(&record), &t->err));
    CHECK_OK(t, deliver(t, m,
                        of_round(h, SOTTO_AERO_ENTRY, SOTTO_TO_SERVER, SOTTO_TO_BOARD,
                                 sotto_buf_bytes(&entry))));
}

static void nothing_is_opened_after_a_complaint_that_is_right(sotto_test *t)
{
    const uint8_t left_out[2] = {SOTTO_AERO_LEFT_OUT, SOTTO_AERO_CONTRIBUTOR};
    const uint8_t open[4] = {1, 1, 3, 4}; /* a second attempt */
    hall h;

    hall_open(t, &h, five());
    sotto_sim_net *net = hall_net(t, &h, 0);
    CHECK(t, hall_opens(t, &h, net)); /* by 0, 1 and 2 */
    sotto_aero_committee_member *m = hall_member(&h, net, 1);
    const sotto_message ask = of_round(&h, SOTTO_AERO_OPEN, SOTTO_TO_SERVER, m->base.self.index,
                                       sotto_bytes_of(open, sizeof open));
    for (uint32_t i = 0; i < 2; i++) /* where one may lie */
        complain(t, &h, m, i, sotto_bytes_of(left_out, sizeof left_out));
    CHECK(t, m->base.view->is_refuted);
    CHECK_STATUS(t, SOTTO_REJECTED, deliver(t, m, ask));
    sotto_sim_net_free(net);
    hall_close(&h);
}

/* ---- reveals -------------------------------------------------------------------------------------------------- */

/* Two shares of noise, so that three of five devices only contribute. */
static hall_plan with_less_noise(void)
{
    hall_plan p = five();

    p.noise = 2;
    p.missing = 0;
    return p;
}

/* Two honest devices whose reveals leave after the end, where one may lie: nobody left them out. */
static void who_reveals_too_late_was_not_left_out(sotto_test *t)
{
    uint32_t late[2], count = 0;
    hall h;

    hall_open(t, &h, with_less_noise());
    h.round.least = 3;
    sotto_sim_net *net = hall_net(t, &h, 0);
    for (uint32_t i = 0; i < 5 && count < 2; i++)
        if (sotto_aero_noise_place(h.derived, i) < 0)
            late[count++] = i;
    hall_until(t, net, HALL_PROMISES);
    for (uint32_t i = 0; i < 2; i++)
        hall_device(net, late[i])->done |= SOTTO_AERO_HAS_REVEALED; /* not yet */
    hall_until(t, net, h.round.closes);
    for (uint32_t i = 0; i < 2; i++)
        hall_device(net, late[i])->done &= (uint8_t)~SOTTO_AERO_HAS_REVEALED;
    sotto_sim_report report = hall_run(t, &h, net);
    CHECK(t, report.released);
    CHECK_EQUAL(t, 3, report.contributions);
    CHECK_EQUAL(t, 0, hall_member(&h, net, 0)->base.view->left_out);
    sotto_sim_net_free(net);
    hall_close(&h);
}

/* But no server makes everybody late, and leaves out whom it likes. */
static void promises_that_are_posted_too_late_are_not_opened(sotto_test *t)
{
    sotto_round *own = sotto_arena_take(&t->arena, sizeof *own);
    sotto_sim_report report;
    hall h;

    CHECK(t, own != NULL);
    hall_open(t, &h, with_less_noise());
    h.round.least = 3;
    sotto_sim_net *net = hall_net(t, &h, 0);
    hall_until(t, net, 200);
    *own = h.round;
    own->commit_by = 2800;
    hall_server(net)->base.round = own;
    hall_until(t, net, HALL_SUMS);
    sotto_aero_entrant *e = &hall_server(net)->entrants[2];
    CHECK(t, e[0].groups[0].is_there && e[1].groups[0].is_there);
    e[0].groups[0].is_there = e[1].groups[0].is_there = false;
    CHECK_OK(t, sotto_sim_net_run(net, 10 * h.round.release_by, &report, &t->err));
    CHECK(t, !report.released);
    sotto_sim_net_free(net);
    hall_close(&h);
}

/* ---- after the round ------------------------------------------------------------------------------------------ */

typedef struct archive {
    sotto_test *t;
    sotto_bytes entries[64]; /* by index of the log */
} archive;

static void collect(void *context, sotto_sim_net *net, const sotto_message *m, sotto_bytes wire)
{
    archive *a = context;
    sotto_bytes record;
    uint64_t index;

    (void)net;
    (void)wire;
    if (m->kind == SOTTO_AERO_ENTRY &&
        sotto_entry_decode(&index, &record, m->body, NULL) == SOTTO_OK && index < 64 &&
        a->entries[index].len == 0)
        CHECK_OK(a->t, sotto_aero_copied(&a->entries[index], m->body, &a->t->arena, &a->t->err));
}

/* Somebody has the whole board, and years later a member's registered keys. Its seed is gone. */
static void registered_keys_open_no_share_of_an_old_board(sotto_test *t)
{
    static archive a;
    sotto_machine *machine;
    hall h;

    memset(&a, 0, sizeof a);
    a.t = t;
    hall_open(t, &h, five());
    sotto_sim_net *net = hall_net(t, &h, 0);
    sotto_sim_net_tap(net, collect, &a);
    hall_until(t, net, HALL_PROMISES);
    CHECK(t, !hall_member(&h, net, 0)->lacks);
    sotto_self thief = hall_member(&h, net, 0)->base.self;
    memset(thief.seed, 7, sizeof thief.seed);
    CHECK_OK(t, sotto_aero_member_ops.join(&machine, &h.round, &thief, &t->arena, &t->err));
    sotto_aero_committee_member *m = (sotto_aero_committee_member *)machine;
    for (uint32_t i = 0; i < 64 && a.entries[i].len; i++)
        CHECK_OK(t, deliver(t, m,
                            of_round(&h, SOTTO_AERO_ENTRY, SOTTO_TO_SERVER, SOTTO_TO_BOARD,
                                     a.entries[i])));
    CHECK(t, m->base.view->is_keyed);
    CHECK(t, m->lacks);
    sotto_sim_net_free(net);
    hall_close(&h);
}

static void a_member_forgets_its_share_when_the_round_is_over(sotto_test *t)
{
    const uint8_t open[4] = {1, 1, 3, 4};
    sotto_effects effects;
    hall h;

    hall_open(t, &h, five());
    sotto_sim_net *net = hall_net(t, &h, 0);
    CHECK(t, hall_opens(t, &h, net));
    sotto_aero_committee_member *m = hall_member(&h, net, 1);
    sotto_effects_init(&effects, &t->arena);
    CHECK_OK(t, m->base.machine.ops->tick(&m->base.machine, h.round.release_by, &effects, &t->err));
    CHECK(t, effects.done);
    CHECK_STATUS(t, SOTTO_REJECTED,
                 deliver(t, m,
                         of_round(&h, SOTTO_AERO_OPEN, SOTTO_TO_SERVER, m->base.self.index,
                                  sotto_bytes_of(open, sizeof open))));
    sotto_sim_net_free(net);
    hall_close(&h);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(sums_that_come_too_late_are_not_opened),
        CASE(devices_ask_about_sums_that_come_late),
        CASE(nothing_is_opened_after_a_complaint_that_is_right),
        CASE(who_reveals_too_late_was_not_left_out),
        CASE(promises_that_are_posted_too_late_are_not_opened),
        CASE(registered_keys_open_no_share_of_an_old_board),
        CASE(a_member_forgets_its_share_when_the_round_is_over),
    };
    return RUN_TESTS(argc, argv, cases);
}
