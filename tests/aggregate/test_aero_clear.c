/* Devices that say that they found nothing wrong, and members that count them: a server that shows nobody its sums gets none opened. */
#include "hall.h"

#include "aggregate/aero/odds.h"

#include <math.h>
#include <string.h>

enum { EVERYBODY = 6, SUSPECT = 5 /* position */, DUE = 4400, TOO_LATE = 4700 };

/* Six devices, all contribute, and look at every leaf. */
static sotto_sim_net *start(sotto_test *t, hall *h, uint32_t clears, uint8_t opening)
{
    hall_plan p = HALL_SMALL;

    p.clients = EVERYBODY;
    p.opening = opening;
    hall_open(t, h, p);
    sotto_aero_terms terms = hall_terms(t, h);
    terms.clears = clears;
    hall_set(t, h, &terms);
    return hall_net(t, h, 1);
}

static void finish(hall *h, sotto_sim_net *net)
{
    sotto_sim_net_free(net);
    hall_close(h);
}

static uint32_t clears_of(const hall *h, sotto_sim_net *net)
{
    return hall_member(h, net, 0)->base.view->clears;
}

static void a_sum_is_opened_once_so_many_say_so(sotto_test *t)
{
    unsigned silent = SOTTO_AERO_CLEAR;

    for (unsigned i = 0; i < 3; i++) {
        hall h;
        sotto_sim_net *net = start(t, &h, i == 2 ? EVERYBODY - 1 : EVERYBODY, SOTTO_AERO_FAST);

        if (i > 0)
            sotto_sim_net_lie(net, 3, sotto_sim_liar_silent, &silent);
        const sotto_sim_report report = hall_run(t, &h, net);
        CHECK(t, report.released == (i != 1));
        CHECK_EQUAL(t, i ? EVERYBODY - 1 : EVERYBODY, clears_of(&h, net));
        CHECK(t, i != 1 || strcmp(report.reason,
                                  "too few devices said that they found nothing wrong") == 0);
        finish(&h, net);
    }
}

static void a_restart_says_nothing_else(sotto_test *t)
{
    hall h;
    sotto_sim_net *net = start(t, &h, EVERYBODY, SOTTO_AERO_FAST);

    sotto_sim_net_forget_always(net);
    const sotto_sim_report report = hall_run(t, &h, net);
    CHECK(t, report.released); /* which takes all six */
    CHECK_EQUAL(t, 0, report.vow_conflicts);
    finish(&h, net);
}

/* ---- a server that shows its sums to members alone ------------------------------------------------------------ */

/* It changes a leaf, and keeps the end of the board from all devices but one. To them that looks like a slow network. */
static void sums_that_devices_were_not_shown_are_not_opened(sotto_test *t)
{
    sotto_sim_report report;
    hall h;
    sotto_sim_net *net = start(t, &h, 3, SOTTO_AERO_FAST);

    hall_until(t, net, HALL_SUMS);
    sotto_aero_aggregator *s = hall_server(net);
    sotto_aero_entrant *e = &s->entrants[s->base.plan->terms.noise_members];
    e[0].groups[0] = e[1].groups[0];
    e[0].of = e[1].of;
    for (uint32_t i = 0; i < EVERYBODY; i++)
        hall_device(net, i)->done |= SOTTO_AERO_HAS_ASKED | SOTTO_AERO_HAS_COMPLAINED;
    CHECK_OK(t, sotto_sim_net_run(net, 10 * h.round.release_by, &report, &t->err));
    CHECK(t, hall_member(&h, net, 0)->base.view->is_summed);
    CHECK(t, !hall_member(&h, net, 0)->base.view->is_refuted); /* nobody complained */
    CHECK(t, !report.released);
    finish(&h, net);
}

/* Members deal noise, and give points, when the board calls dealers. */
static void no_dealers_are_called_before(sotto_test *t)
{
    const uint8_t dealers[4] = {0, 0, 1, 2};
    hall h;
    sotto_sim_net *net = start(t, &h, EVERYBODY, SOTTO_AERO_ROBUST);

    hall_until(t, net, h.round.verify_by - 1);
    sotto_aero_view *view = hall_member(&h, net, 0)->base.view;
    CHECK(t, view->is_summed);
    CHECK_EQUAL(t, EVERYBODY, view->clears);
    view->clears--;
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_aero_read_dealers(view, sotto_bytes_of(dealers, sizeof dealers), NULL));
    view->clears++;
    CHECK_OK(t, sotto_aero_read_dealers(view, sotto_bytes_of(dealers, sizeof dealers), &t->err));
    finish(&h, net);
}

/* ---- what a device says ----------------------------------------------------------------------------------------- */

typedef struct tamperer {
    sotto_test *t;
    bool drops;
} tamperer;

/* Of one leaf, another path to the posted root, or nothing. */
static bool shows_another_tree(void *context, sotto_sim_net *net, sotto_message *m,
                               sotto_bytes *bulk)
{
    const tamperer *a = context;

    (void)net;
    (void)bulk;
    if (m->kind != SOTTO_AERO_SAMPLE || m->body.len < 5 || m->body.data[4] != SUSPECT)
        return true;
    if (a->drops)
        return false;
    uint8_t *copy = sotto_arena_take(&a->t->arena, m->body.len);
    CHECK(a->t, copy != NULL);
    memcpy(copy, m->body.data, m->body.len);
    copy[5 + SOTTO_AERO_LEAF + 1] ^= 1;
    m->body = sotto_bytes_of(copy, m->body.len);
    return true;
}

static bool keeps_complaints_off(void *context, sotto_sim_net *net, sotto_message *m,
                                 sotto_bytes *bulk)
{
    (void)context;
    (void)net;
    (void)bulk;
    return m->kind != SOTTO_AERO_COMPLAINT;
}

/* All devices look at that leaf, and the server keeps their complaints off the board. */
static uint32_t clears_where(sotto_test *t, bool drops)
{
    tamperer a = {t, drops};
    sotto_sim_report report;
    hall h;
    sotto_sim_net *net = start(t, &h, 1, SOTTO_AERO_FAST);

    sotto_sim_net_lie(net, SOTTO_TO_SERVER, shows_another_tree, &a);
    for (uint32_t i = 0; i < EVERYBODY; i++)
        sotto_sim_net_lie(net, i, keeps_complaints_off, NULL);
    CHECK_OK(t, sotto_sim_net_run(net, 10 * h.round.release_by, &report, &t->err));
    CHECK(t, !report.released);
    const uint32_t clears = clears_of(&h, net);
    finish(&h, net);
    return clears;
}

static void who_found_something_wrong_does_not_say_otherwise(sotto_test *t)
{
    CHECK_EQUAL(t, 0, clears_where(t, false));
}

static void who_got_no_answer_does_not_say_that_nothing_is_wrong(sotto_test *t)
{
    CHECK_EQUAL(t, 0, clears_where(t, true));
}

static void who_was_left_out_does_not_say_that_nothing_is_wrong(sotto_test *t)
{
    hall h;
    sotto_sim_net *net = start(t, &h, 1, SOTTO_AERO_FAST);

    h.round.least = 3;
    hall_until(t, net, HALL_SUMS);
    sotto_aero_aggregator *s = hall_server(net);
    s->entrants[s->base.plan->terms.noise_members].groups[0].is_there = false;
    CHECK(t, hall_run(t, &h, net).released);
    CHECK_EQUAL(t, 1, hall_member(&h, net, 0)->base.view->left_out);
    CHECK_EQUAL(t, EVERYBODY - 1, clears_of(&h, net));
    finish(&h, net);
}

static unsigned says_so_at(sotto_test *t, sotto_sim_net *net, uint32_t device, uint64_t now_ms)
{
    sotto_machine *machine = &hall_device(net, device)->base.machine;
    sotto_effects effects;
    unsigned said = 0;

    sotto_effects_init(&effects, &t->arena);
    CHECK_OK(t, machine->ops->tick(machine, now_ms, &effects, &t->err));
    for (const sotto_effect_message *m = effects.sent; m; m = m->next)
        said += m->message.kind == SOTTO_AERO_CLEAR;
    return said;
}

/* Shown the sums just before the end, many would say so; those whose leaf is wrong would complain too late. */
static void nobody_says_so_when_complaints_come_too_late(sotto_test *t)
{
    hall h;
    sotto_sim_net *net = start(t, &h, EVERYBODY, SOTTO_AERO_FAST);

    hall_until(t, net, 4300); /* answered, and not due yet */
    CHECK_EQUAL(t, 1, says_so_at(t, net, 0, DUE));
    CHECK_EQUAL(t, 0, says_so_at(t, net, 0, DUE + 1)); /* once */
    CHECK_EQUAL(t, 0, says_so_at(t, net, 1, TOO_LATE));
    finish(&h, net);
    net = start(t, &h, 0, SOTTO_AERO_FAST); /* and nobody where nobody counts */
    hall_until(t, net, 4300);
    CHECK_EQUAL(t, 0, says_so_at(t, net, 0, DUE));
    finish(&h, net);
}

/* ---- who is counted ----------------------------------------------------------------------------------------------- */

static void a_device_is_counted_once(sotto_test *t)
{
    uint8_t body[32];
    hall h;
    sotto_sim_net *net = start(t, &h, EVERYBODY, SOTTO_AERO_FAST);
    const sotto_bytes of_sums = sotto_bytes_of(body, sizeof body);

    hall_until(t, net, 4300);
    sotto_aero_view *view = hall_member(&h, net, 0)->base.view;
    memcpy(body, view->verdict, sizeof body);
    CHECK_OK(t, sotto_aero_read_clear(view, 2, of_sums, &t->err));
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_aero_read_clear(view, 2, of_sums, NULL));
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_aero_read_clear(view, EVERYBODY, of_sums, NULL));
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_aero_read_clear(view, 3, sotto_bytes_of(body, 31), NULL));
    view->is_summed = false;
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_aero_read_clear(view, 3, of_sums, NULL));
    CHECK_EQUAL(t, 1, view->clears);
    finish(&h, net);
}

static void other_sums_are_not_these(sotto_test *t)
{
    uint8_t body[32];
    hall h;
    sotto_sim_net *net = start(t, &h, EVERYBODY, SOTTO_AERO_FAST);

    hall_until(t, net, 4300);
    sotto_aero_view *view = hall_member(&h, net, 0)->base.view;
    memcpy(body, view->verdict, sizeof body);
    body[31] ^= 1;
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_aero_read_clear(view, 2, sotto_bytes_of(body, sizeof body), NULL));
    CHECK_EQUAL(t, 0, view->clears);
    finish(&h, net);
}

/* Of a million, 700,000 say so: 30,000 of them may be corrupt. Without that, 776,000 are assumed to look. */
static void corrupt_devices_are_taken_off(sotto_test *t)
{
    sotto_aero_terms terms = {.checks = 40, .rate = (uint64_t)ldexp(1e-2, 64)};
    const double assumed = exp(-0.776 * 40), counted = exp(-0.67 * 40);

    CHECK_NEAR(t, assumed, sotto_aero_miss(&terms, 1e6, 1e4, 0.03, 0.2), 1e-6 * assumed);
    terms.clears = 700000;
    CHECK_NEAR(t, counted, sotto_aero_miss(&terms, 1e6, 1e4, 0.03, 0.2), 1e-6 * counted);
    terms.clears = 1000000; /* no better than what is assumed */
    CHECK_NEAR(t, assumed, sotto_aero_miss(&terms, 1e6, 1e4, 0.03, 0.2), 1e-6 * assumed);
    terms.clears = 20000; /* all of them may be corrupt */
    CHECK(t, sotto_aero_miss(&terms, 1e6, 1e4, 0.03, 0.2) >= 1);
}

static void more_than_are_registered_are_refused(sotto_test *t)
{
    uint8_t bytes[SOTTO_AERO_TERMS];
    sotto_buf out = sotto_buf_over(bytes, sizeof bytes);
    hall h;
    sotto_sim_net *net = start(t, &h, EVERYBODY, SOTTO_AERO_FAST);
    sotto_aero_terms terms = hall_terms(t, &h);

    CHECK_EQUAL(t, EVERYBODY, terms.clears);
    terms.clears++;
    CHECK_OK(t, sotto_aero_terms_encode(&out, &terms, &t->err));
    h.round.parameters = sotto_buf_bytes(&out);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_aero_check_round(&h.round, NULL));
    finish(&h, net);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_sum_is_opened_once_so_many_say_so),
        CASE(a_restart_says_nothing_else),
        CASE(sums_that_devices_were_not_shown_are_not_opened),
        CASE(no_dealers_are_called_before),
        CASE(who_found_something_wrong_does_not_say_otherwise),
        CASE(who_got_no_answer_does_not_say_that_nothing_is_wrong),
        CASE(who_was_left_out_does_not_say_that_nothing_is_wrong),
        CASE(nobody_says_so_when_complaints_come_too_late),
        CASE(a_device_is_counted_once),
        CASE(other_sums_are_not_these),
        CASE(corrupt_devices_are_taken_off),
        CASE(more_than_are_registered_are_refused),
    };
    return RUN_TESTS(argc, argv, cases);
}
