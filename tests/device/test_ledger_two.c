/* One ledger's file, open twice, as by two processes of one device: whoever comes second finds what the first did, at
 * whatever moment it did it. */
#include "device/ledger/consent.h"
#include "device/ledger/ledger_internal.h"
#include "device/ledger/shelf.h"
#include "support/ledger.h"
#include "support/recipes.h"

#include <stdio.h>
#include <string.h>

#define NOW SOTTO_TEST_NOW

/* The process that acts while the first one is in its transport's or its counter's hands. */
typedef struct other {
    sotto_test *t;
    const char *path;
    sotto_ledger *ledger;
    void (*act)(struct other *o);
    int left; /* moments that pass before it acts; negative: it did */
    sotto_test_wire wire;
} other;

static void open_two(sotto_test *t, sotto_ledger **one, other *o)
{
    o->path = sotto_test_temp(t, "ledger.db");
    *one = sotto_test_ledger(t, o->path, NULL, &sotto_test_wide);
    o->t = t;
    o->ledger = sotto_test_ledger(t, o->path, NULL, &sotto_test_wide);
    o->wire.answer = SOTTO_DELIVERY_ACCEPTED;
}

static void close_two(sotto_ledger *one, other *o)
{
    sotto_ledger_close(one);
    sotto_ledger_close(o->ledger);
}

static void act(void *context)
{
    other *o = context;

    if (o->left-- == 0)
        o->act(o);
}

static void pay(sotto_test *t, sotto_ledger *ledger, const char *recipe, uint64_t number)
{
    const sotto_charge charge = sotto_test_charge(t, recipe, "0.3");

    CHECK_OK(t, sotto_test_spend(t, ledger, &charge, number, NOW));
}

static uint64_t waiting(sotto_test *t, sotto_ledger *ledger)
{
    uint64_t count;

    CHECK_OK(t, sotto_outbox_count(ledger, &count, &t->err));
    return count;
}

static void send(sotto_test *t, sotto_ledger *ledger, sotto_test_wire *wire)
{
    const sotto_transport transport = sotto_test_transport(wire);

    CHECK_OK(t, sotto_outbox_send(ledger, &transport, NOW, NULL, &t->err));
}

/* ---- what the other one does ------------------------------------------------------------------------------ */

/* A withdrawal as far as its first transaction: what waits is still there. */
static void say_no(other *o)
{
    CHECK_OK(o->t, sotto_consent_set(o->ledger, false, NOW, &o->t->err));
}

static void say_no_and_yes(other *o)
{
    say_no(o);
    CHECK_OK(o->t, sotto_consent_set(o->ledger, true, NOW, &o->t->err));
}

static void empty(other *o)
{
    CHECK_OK(o->t, sotto_outbox_empty(o->ledger, NULL, "forgotten", NOW, &o->t->err));
}

static void send_too(other *o)
{
    send(o->t, o->ledger, &o->wire);
}

static void finish_and_pay_for_another(other *o)
{
    send_too(o);
    pay(o->t, o->ledger, "b", 2);
}

/* ---- beginning -------------------------------------------------------------------------------------------- */

static void a_ledger_is_laid_out_once(sotto_test *t)
{
    const sotto_ledger_meta first = {.generation = 7};
    const char *path = sotto_test_temp(t, "ledger.db");
    sotto_ledger *one = sotto_test_ledger(t, path, NULL, &sotto_test_wide);

    pay(t, one, "a", 1);
    /* By a process that found no table, a moment before the first one made them. */
    CHECK_STATUS(t, SOTTO_STALE, sotto_ledger_lay_out(one->db, &first, &t->err));
    CHECK_EQUAL(t, 1, sotto_test_spent(t, one, NOW).reports);
    sotto_ledger_close(one);
}

/* ---- consent ---------------------------------------------------------------------------------------------- */

static void nothing_is_paid_for_without_consent(sotto_test *t)
{
    const sotto_charge charge = sotto_test_charge(t, "a", "0.3");
    const sotto_report report = sotto_test_report(t, 1);
    const sotto_dummy dummy = {.recipe = "a", .analysis = ""};
    other o = {0};
    sotto_ledger *one;

    open_two(t, &one, &o);
    say_no(&o);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_test_spend(t, one, &charge, 1, NOW));
    CHECK_REASON(t, "nobody has agreed");
    CHECK_STATUS(t, SOTTO_DENIED, sotto_ledger_spend_on_silence(one, &charge, NOW, NULL, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_outbox_put_dummy(one, &dummy, &report, NOW, &t->err));
    CHECK_EQUAL(t, 0, sotto_test_spent(t, one, NOW).reports);
    CHECK_EQUAL(t, 0, waiting(t, one));
    close_two(one, &o);
}

static sotto_status draw_nothing(void *context, sotto_decision *out, sotto_err *err)
{
    (void)err;
    ++*(int *)context;
    out->choice = SOTTO_CHOICE_TAKE_PART;
    return SOTTO_OK;
}

static void nothing_is_drawn_without_consent(sotto_test *t)
{
    sotto_decision decision;
    other o = {0};
    sotto_ledger *one;
    int drawn = 0;

    open_two(t, &one, &o);
    CHECK_OK(t, sotto_ledger_decide(one, &decision, SOTTO_DECISION_RECIPE, "a", draw_nothing,
                                    &drawn, NOW, &t->err));
    say_no(&o);
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_ledger_decide(one, &decision, SOTTO_DECISION_RECIPE, "b", draw_nothing,
                                     &drawn, NOW, &t->err));
    CHECK_OK(t, sotto_ledger_decide(one, &decision, SOTTO_DECISION_RECIPE, "a", draw_nothing,
                                    &drawn, NOW, &t->err)); /* what was drawn stays so */
    CHECK_EQUAL(t, 1, (uint64_t)drawn);
    CHECK_EQUAL(t, 1, sotto_test_recorded(t, one, SOTTO_RECORD_DECIDED));
    close_two(one, &o);
}

static void an_answer_begun_before_a_no_is_not_paid_for_after_a_later_yes(sotto_test *t)
{
    const sotto_charge charge = sotto_test_charge(t, "a", "0.3");
    other o = {0};
    sotto_ledger *one;
    bool given;

    open_two(t, &one, &o);
    CHECK_OK(t, sotto_consent_hold(one, &given, &t->err));
    CHECK(t, given);
    say_no_and_yes(&o);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_test_spend(t, one, &charge, 1, NOW));
    CHECK_OK(t, sotto_consent_hold(one, &given, &t->err));
    CHECK(t, given);
    CHECK_OK(t, sotto_consent_forget(o.ledger, NULL, NOW, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_test_spend(t, one, &charge, 1, NOW));
    CHECK_OK(t, sotto_consent_hold(one, &given, &t->err));
    CHECK(t, given); /* to be forgotten is not to say no */
    CHECK_OK(t, sotto_test_spend(t, one, &charge, 1, NOW));
    close_two(one, &o);
}

/* Two reports wait; how many are handed over if the other one acts while the first is. */
static void check_stop(sotto_test *t, void (*what)(other *), bool tried)
{
    other o = {.act = what, .left = tried ? 2 : 0};
    sotto_test_wire wire = {.answer = SOTTO_DELIVERY_LATER, .hook = act, .context = &o};
    sotto_ledger *one;

    open_two(t, &one, &o);
    pay(t, one, "a", 1);
    pay(t, one, "b", 2);
    if (tried)
        send(t, one, &wire);
    send(t, one, &wire);
    CHECK_EQUAL(t, tried ? 3 : 1, wire.calls);
    send(t, one, &wire); /* nor later, whether or not the outbox was emptied */
    CHECK_EQUAL(t, tried ? 3 : 1, wire.calls);
    CHECK_EQUAL(t, tried ? 2 : 1, sotto_test_recorded(t, one, SOTTO_RECORD_LEFT));
    CHECK_EQUAL(t, 2, sotto_test_spent(t, one, NOW).reports);
    close_two(one, &o);
}

typedef struct slow_counter {
    sotto_test_host host;
    other *o;
} slow_counter;

static sotto_status read_slowly(void *context, uint64_t *generation, sotto_err *err)
{
    (void)err;
    *generation = ((const slow_counter *)context)->host.generation;
    return SOTTO_OK;
}

static sotto_status raise_slowly(void *context, uint64_t generation, sotto_err *err)
{
    slow_counter *c = context;

    (void)err;
    c->host.generation = generation > c->host.generation ? generation : c->host.generation;
    act(c->o);
    return SOTTO_OK;
}

/* Telling the witnesses is the last thing before the transport is called, and may take long. */
static void check_told(sotto_test *t, void (*what)(other *))
{
    other o = {.act = what, .left = 1000};
    slow_counter counter = {.o = &o};
    const sotto_witness witness = {read_slowly, raise_slowly, &counter};
    const char *path = sotto_test_temp(t, "ledger.db");
    const sotto_ledger_options options = {.path = path, .witnesses = &witness, .witness_count = 1};
    sotto_test_wire wire = {.answer = SOTTO_DELIVERY_LATER};
    sotto_ledger *one;

    o.t = t;
    CHECK_OK(t, sotto_ledger_open(&one, &options, &t->err));
    o.ledger = sotto_test_ledger(t, path, NULL, &sotto_test_wide);
    CHECK_OK(t, sotto_ledger_adopt(one, &sotto_test_wide, &sotto_test_recompute, NOW, &t->err));
    pay(t, one, "a", 1);
    o.left = 0; /* the next thing that it is told is that the report leaves */
    send(t, one, &wire);
    CHECK(t, o.left < 0);
    CHECK_EQUAL(t, 0, wire.calls);
    close_two(one, &o);
}

static void no_report_leaves_after_a_no_in_another_process(sotto_test *t)
{
    check_stop(t, say_no, false);
    check_stop(t, say_no, true);
    check_told(t, say_no);
}

static void no_report_leaves_that_another_process_erased(sotto_test *t)
{
    check_stop(t, empty, false);
    check_stop(t, empty, true);
    check_told(t, empty);
    check_told(t, say_no_and_yes);
    check_stop(t, say_no_and_yes, true); /* the yes took along what had waited */
}

static void a_later_yes_takes_nothing_along_that_waited_under_a_no(sotto_test *t)
{
    sotto_test_wire wire = {.answer = SOTTO_DELIVERY_ACCEPTED};
    other o = {0};
    sotto_ledger *one;

    open_two(t, &one, &o);
    pay(t, one, "a", 1);
    say_no(&o); /* and then the process is killed */
    CHECK_EQUAL(t, 1, waiting(t, one));
    CHECK_OK(t, sotto_consent_set(one, true, NOW, &t->err));
    send(t, one, &wire);
    CHECK_EQUAL(t, 0, wire.calls);
    CHECK_EQUAL(t, 1, sotto_test_recorded(t, one, SOTTO_RECORD_GIVEN_UP));
    close_two(one, &o);
}

/* ---- once ------------------------------------------------------------------------------------------------- */

static void one_report_follows_a_decision(sotto_test *t)
{
    sotto_charge a = sotto_test_charge(t, "a", "0.3"), b = sotto_test_charge(t, "b", "0.3");
    const sotto_report report = sotto_test_report(t, 9);
    sotto_dummy dummy = {.recipe = "a", .scope = SOTTO_DECISION_RECIPE};
    other o = {0};
    sotto_ledger *one;

    open_two(t, &one, &o);
    a.scope = SOTTO_DECISION_RECIPE;
    CHECK_OK(t, sotto_test_spend(t, one, &a, 1, NOW));
    a.round = 3; /* a later version of it, with rounds */
    CHECK_STATUS(t, SOTTO_STALE, sotto_test_spend(t, o.ledger, &a, 2, NOW));
    CHECK_STATUS(t, SOTTO_STALE, sotto_ledger_spend_on_silence(o.ledger, &a, NOW, NULL, &t->err));
    CHECK_STATUS(t, SOTTO_STALE, sotto_outbox_put_dummy(o.ledger, &dummy, &report, NOW, &t->err));
    b.scope = SOTTO_DECISION_ANALYSIS;
    b.round = 1;
    CHECK_OK(t, sotto_test_spend(t, o.ledger, &b, 2, NOW)); /* its own, not the recipe's */
    b.recipe = "c";
    b.round = 2;
    CHECK_STATUS(t, SOTTO_STALE, sotto_test_spend(t, one, &b, 3, NOW));
    dummy = (sotto_dummy){"c", SOTTO_TEST_ANALYSIS, 2, SOTTO_DECISION_ANALYSIS, NULL};
    CHECK_STATUS(t, SOTTO_STALE, sotto_outbox_put_dummy(one, &dummy, &report, NOW, &t->err));
    dummy = (sotto_dummy){"d", "another", 2, SOTTO_DECISION_ANALYSIS, NULL};
    CHECK_OK(t, sotto_outbox_put_dummy(one, &dummy, &report, NOW, &t->err));
    b.recipe = "d";
    CHECK_STATUS(t, SOTTO_STALE, sotto_test_spend(t, o.ledger, &b, 4, NOW));
    CHECK_EQUAL(t, 2, sotto_test_spent(t, one, NOW).reports);
    CHECK_EQUAL(t, 3, waiting(t, o.ledger));
    close_two(one, &o);
}

/* ---- sealing again ------------------------------------------------------------------------------------------ */

typedef struct sealing {
    sotto_test_wire wire;
    sotto_transport plain;
    other *o;
} sealing;

static sotto_delivery pass_on(void *context, const sotto_report *report)
{
    sealing *s = context;

    return s->plain.send(s->plain.context, report);
}

/* While one process seals to the new key, the other finds the report outdated too, seals it and hands it over. */
static sotto_status seal_and_wait(void *context, const sotto_report *report, sotto_buf *sealed,
                                  sotto_err *err)
{
    sealing *s = context;

    SOTTO_TRY(s->plain.reseal(s->plain.context, report, sealed, err));
    act(s->o);
    return SOTTO_OK;
}

static void two_processes_seal_a_report_again_once(sotto_test *t)
{
    other o = {.act = send_too};
    sealing s = {.wire = {.answer = SOTTO_DELIVERY_LATER, .outdated_once = true, .reseals = 100},
                 .o = &o};
    const sotto_transport transport = {.send = pass_on, .reseal = seal_and_wait, .context = &s};
    sotto_ledger *one;

    open_two(t, &one, &o);
    s.plain = sotto_test_transport(&s.wire);
    o.wire.answer = SOTTO_DELIVERY_LATER;
    o.wire.outdated_once = true;
    pay(t, one, "a", 1);
    CHECK_OK(t, sotto_outbox_send(one, &transport, NOW, NULL, &t->err));
    CHECK_EQUAL(t, 1, o.wire.reseals);
    CHECK_EQUAL(t, 1, s.wire.calls); /* its own seal went nowhere */
    CHECK_EQUAL(t, 1, sotto_test_recorded(t, one, SOTTO_RECORD_RESEALED));
    CHECK_EQUAL(t, 1, waiting(t, one));
    CHECK_OK(t, sotto_outbox_send(one, &transport, NOW, NULL, &t->err));
    CHECK_BYTES(t, o.wire.again[0], s.wire.again[0], 32); /* the other's seal is the report's */
    CHECK_EQUAL(t, 0, sotto_test_recorded(t, one, SOTTO_RECORD_GIVEN_UP));
    close_two(one, &o);
}

static void a_refusal_of_the_old_seal_does_not_end_the_new_one(sotto_test *t)
{
    other o = {.act = send_too};
    sotto_test_wire wire = {.answer = SOTTO_DELIVERY_REFUSED, .hook = act, .context = &o};
    sotto_ledger *one;

    open_two(t, &one, &o);
    o.wire.answer = SOTTO_DELIVERY_LATER;
    o.wire.outdated_once = true;
    pay(t, one, "a", 1);
    send(t, one, &wire); /* meanwhile the other one is told that the key is outdated */
    CHECK_EQUAL(t, 1, waiting(t, one));
    CHECK_EQUAL(t, 0, sotto_test_recorded(t, one, SOTTO_RECORD_GIVEN_UP));
    close_two(one, &o);
}

/* ---- what still waits --------------------------------------------------------------------------------------- */

static uint64_t count_left(sotto_test *t, sotto_ledger *one, sealing *s)
{
    const sotto_transport transport = {.send = pass_on, .reseal = seal_and_wait, .context = s};
    uint64_t left;

    s->plain = sotto_test_transport(&s->wire);
    CHECK_OK(t, sotto_outbox_send(one, &transport, NOW, &left, &t->err));
    CHECK_EQUAL(t, 0, waiting(t, one));
    return left;
}

static void what_another_process_finished_does_not_wait(sotto_test *t)
{
    other o = {.act = empty};
    sealing s = {.wire = {.answer = SOTTO_DELIVERY_LATER, .hook = act, .context = &o}, .o = &o};
    sotto_ledger *one;

    open_two(t, &one, &o);
    pay(t, one, "a", 1);
    pay(t, one, "b", 2);
    CHECK_EQUAL(t, 0, count_left(t, one, &s)); /* it went while the first was handed over */
    pay(t, one, "c", 3);
    s.wire.hook = NULL;
    s.wire.outdated_once = true; /* and now while it is sealed again */
    o.left = 0;
    CHECK_EQUAL(t, 0, count_left(t, one, &s));
    close_two(one, &o);
}

/* ---- rows whose number is given to another ------------------------------------------------------------------ */

static void an_acknowledgement_ends_no_other_report(sotto_test *t)
{
    other o = {.act = finish_and_pay_for_another};
    sotto_test_wire wire = {.answer = SOTTO_DELIVERY_ACCEPTED, .hook = act, .context = &o};
    sotto_ledger *one;

    open_two(t, &one, &o);
    pay(t, one, "a", 1);
    send(t, one, &wire); /* the other one finishes it, and its row is another report's */
    CHECK_EQUAL(t, 1, wire.calls);
    CHECK_EQUAL(t, 1, waiting(t, one));
    CHECK_EQUAL(t, 1, sotto_test_recorded(t, one, SOTTO_RECORD_ACKNOWLEDGED));
    send(t, one, &wire);
    CHECK_EQUAL(t, 2, wire.distinct);
    CHECK_EQUAL(t, 0, waiting(t, one));
    CHECK(t, !wire.differed);
    sotto_ledger_close(one);
    sotto_ledger_close(o.ledger);
    one = sotto_test_ledger(t, o.path, NULL, &sotto_test_wide);
    CHECK(t, sotto_ledger_closed(one) == NULL); /* and every row is as it was written */
    sotto_ledger_close(one);
}

static const sotto_recipe *recipe(sotto_test *t, const char *name)
{
    static sotto_mistakes mistakes;
    const sotto_recipe *out;
    sotto_bytes text = sotto_test_recipe_text(t, "50001", name);

    memset(&mistakes, 0, sizeof mistakes);
    CHECK_OK(t, sotto_recipe_read(&out, text, &t->arena, &mistakes, &t->err));
    return out;
}

static void a_recipe_is_not_taken_for_another_in_its_row(sotto_test *t)
{
    const sotto_recipe *first = recipe(t, "first"), *second = recipe(t, "second");
    const uint8_t judge[SOTTO_RECIPE_HASH_SIZE] = {1};
    const sotto_known_epsilon known = {1, 0.5};
    sotto_shelved shelved, found;
    other o = {0};
    sotto_ledger *one;
    sotto_bytes text;
    bool there;

    open_two(t, &one, &o);
    CHECK_OK(t, sotto_shelf_put(one, first, judge, known, NOW, &t->err));
    CHECK_OK(t, sotto_shelf_next(one, &shelved, &there, 0, &t->err));
    CHECK(t, there);
    CHECK_OK(t, sotto_shelf_text(one, &text, &shelved, &t->arena, &t->err));
    CHECK_OK(t, sotto_shelf_remove(o.ledger, &shelved, &t->err));
    CHECK_OK(t, sotto_shelf_put(o.ledger, second, judge, known, NOW, &t->err));
    CHECK_OK(t, sotto_shelf_find(one, &found, &there, "second", &t->err));
    CHECK(t, there && found.id == shelved.id);
    CHECK_STATUS(t, SOTTO_MISSING, sotto_shelf_text(one, &text, &shelved, &t->arena, &t->err));
    CHECK_OK(t, sotto_shelf_remove(one, &shelved, &t->err));
    CHECK_OK(t, sotto_shelf_find(one, &found, &there, "second", &t->err));
    CHECK(t, there);
    close_two(one, &o);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_ledger_is_laid_out_once),
        CASE(nothing_is_paid_for_without_consent),
        CASE(nothing_is_drawn_without_consent),
        CASE(an_answer_begun_before_a_no_is_not_paid_for_after_a_later_yes),
        CASE(no_report_leaves_after_a_no_in_another_process),
        CASE(no_report_leaves_that_another_process_erased),
        CASE(a_later_yes_takes_nothing_along_that_waited_under_a_no),
        CASE(one_report_follows_a_decision),
        CASE(two_processes_seal_a_report_again_once),
        CASE(a_refusal_of_the_old_seal_does_not_end_the_new_one),
        CASE(what_another_process_finished_does_not_wait),
        CASE(an_acknowledgement_ends_no_other_report),
        CASE(a_recipe_is_not_taken_for_another_in_its_row),
    };
    return RUN_TESTS(argc, argv, cases);
}
