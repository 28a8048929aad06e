/* What rounds of learning cost, on a disk that loses power, fills up or fails at every step, and in a process that is killed. The
 * accounts agree with each other afterwards, and nothing left that was not paid for. */
#define _DEFAULT_SOURCE

#include "device/ledger/rounds.h"
#include "support/ledger.h"
#include "support/powerloss_vfs.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOW SOTTO_TEST_NOW
#define ONE UINT64_C(1000000000000)

enum { ROUNDS = 3, MOST_STEPS = 3000 };

static const uint8_t hash[SOTTO_ASKED_DIGEST] = {7};

/* One recipe of three participations, two rounds apart. */
static sotto_round_charge turn(uint64_t round)
{
    return (sotto_round_charge){.hash = hash,
                                .recipe = "digits",
                                .round = round,
                                .participations = ROUNDS,
                                .separation = 2,
                                .opens = NOW - 86400,
                                .rho = {ONE / 8},
                                .epsilon = 0.29,
                                .honest = 20000};
}

typedef struct found {
    uint64_t rho, updates, last;
} found;

static sotto_status look(void *context, const sotto_rho_line *line, sotto_err *err)
{
    found *f = context;

    (void)err;
    if (line->account == SOTTO_RHO_RECIPE)
        *f = (found){(uint64_t)(line->rho * 8 + 0.5), line->participations, line->last_round};
    return SOTTO_OK;
}

static found rho_of(sotto_test *t, sotto_ledger *ledger)
{
    found f = {0};

    CHECK_OK(t, sotto_ledger_rho(ledger, look, &f, &t->err));
    return f;
}

/* ---- days that go wrong ------------------------------------------------------------------------------------- */

typedef struct day {
    sotto_charge charges[ROUNDS];
    sotto_round_charge rounds[ROUNDS];
    sotto_report reports[ROUNDS];
    sotto_test_host host;
    sotto_test_wire wire;
    bool paid[ROUNDS];
} day;

static day plan_day(sotto_test *t)
{
    static const char *const names[ROUNDS] = {"digits#0", "digits#2", "digits#4"};
    day d = {.wire = {.answer = SOTTO_DELIVERY_ACCEPTED}};

    for (size_t i = 0; i < ROUNDS; i++) {
        d.charges[i] = sotto_test_charge(t, names[i], "0.3");
        d.charges[i].round = 2 * i;
        d.rounds[i] = turn(2 * i);
        d.reports[i] = sotto_test_report(t, i + 1);
    }
    return d;
}

static void start_over(const char *path)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};

    for (size_t i = 0; i < 4; i++) {
        char name[SOTTO_VFS_PATH];

        (void)snprintf(name, sizeof name, "%s%s", path, endings[i]);
        (void)unlink(name);
    }
    sotto_powerloss_start();
}

static sotto_status open_on_disk(sotto_ledger **ledger, const char *path, day *d, sotto_err *err)
{
    return sotto_test_open_ledger(ledger, &sotto_powerloss_storage, path, &d->host,
                                  &sotto_test_wide, err);
}

static void live(day *d, const char *path)
{
    const sotto_transport transport = sotto_test_transport(&d->wire);
    sotto_ledger *ledger;

    if (open_on_disk(&ledger, path, d, NULL) != SOTTO_OK)
        return;
    for (size_t i = 0; i < ROUNDS; i++) {
        d->paid[i] = sotto_ledger_spend_round(ledger, &d->charges[i], &d->rounds[i], &d->reports[i],
                                              NOW, NULL, NULL) == SOTTO_OK;
        (void)!sotto_outbox_send(ledger, &transport, NOW, NULL, NULL);
    }
    sotto_ledger_close(ledger);
}

/* All accounts tell of the same updates, and the recipe's epsilon was charged once. */
static void check_day(sotto_test *t, day *d, const char *path)
{
    const sotto_access age = {"keyboard_ngrams", "age", true};
    const sotto_transport transport = sotto_test_transport(&d->wire);
    sotto_spent analysis, field;
    sotto_ledger *ledger;
    uint64_t promised = 0, waiting;

    CHECK_OK(t, open_on_disk(&ledger, path, d, &t->err));
    CHECK(t, sotto_ledger_closed(ledger) == NULL);
    for (size_t i = 0; i < ROUNDS; i++)
        promised += d->paid[i];
    CHECK_OK(t,
             sotto_ledger_spent_by_analysis(ledger, &analysis, SOTTO_TEST_ANALYSIS, NOW, &t->err));
    CHECK_OK(t, sotto_ledger_spent_on_field(ledger, &field, &age, NOW, &t->err));
    const found f = rho_of(t, ledger);
    CHECK(t, f.updates >= promised && f.updates >= d->wire.distinct);
    CHECK_EQUAL(t, f.updates, f.rho);
    CHECK_EQUAL(t, f.updates, analysis.reports);
    CHECK_EQUAL(t, f.updates, field.reports);
    CHECK_EQUAL(t, f.updates ? ONE * 3 / 10 : 0, analysis.epsilon.units);
    CHECK_EQUAL(t, analysis.epsilon.units, field.epsilon.units);
    CHECK_OK(t, sotto_outbox_send(ledger, &transport, NOW, &waiting, &t->err));
    CHECK_EQUAL(t, 0, waiting);
    CHECK(t, f.updates >= d->wire.distinct && !d->wire.differed);
    sotto_ledger_close(ledger);
}

static int64_t steps_of_a_day(sotto_test *t, const char *path)
{
    day d = plan_day(t);

    start_over(path);
    live(&d, path);
    CHECK(t, d.paid[0] && d.paid[1] && d.paid[2]);
    CHECK_EQUAL(t, ROUNDS, d.wire.distinct);
    check_day(t, &d, path);
    CHECK(t, sotto_powerloss_steps() > 20 && sotto_powerloss_steps() < MOST_STEPS);
    start_over(path);
    d = plan_day(t);
    live(&d, path);
    return (int64_t)sotto_powerloss_steps();
}

/* Steps that opening a new ledger takes: what goes wrong in these is device_ledger_faults' to try. */
static int64_t steps_of_an_opening(sotto_test *t, const char *path)
{
    day d = plan_day(t);
    sotto_ledger *ledger;

    start_over(path);
    CHECK_OK(t, open_on_disk(&ledger, path, &d, &t->err));
    const int64_t steps = (int64_t)sotto_powerloss_steps();
    sotto_ledger_close(ledger);
    return steps;
}

static void no_power_loss_leaves_an_update_unpaid_or_paid_twice(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "ledger.db");
    const int64_t steps = steps_of_a_day(t, path);

    for (int64_t at = steps_of_an_opening(t, path); at <= steps; at++) {
        day d = plan_day(t);

        start_over(path);
        sotto_powerloss_at(at);
        live(&d, path);
        sotto_powerloss_restore((uint64_t)at % 3);
        check_day(t, &d, path);
    }
    (void)printf("power lost at each of %lld steps\n", (long long)steps);
}

static void try_failures(sotto_test *t, bool full, bool stays, int64_t stride)
{
    const char *path = sotto_test_temp(t, "ledger.db");
    bool reached = true;

    for (int64_t at = steps_of_an_opening(t, path); reached && at < MOST_STEPS; at += stride) {
        day d = plan_day(t);

        start_over(path);
        sotto_powerloss_fail_at(at, full, stays);
        live(&d, path);
        reached = (int64_t)sotto_powerloss_steps() > at;
        sotto_powerloss_fail_at(-1, false, false);
        check_day(t, &d, path);
    }
    CHECK(t, !reached);
}

static void a_full_disk_leaves_no_update_unpaid(sotto_test *t)
{
    try_failures(t, true, true, 3);
}

static void one_failing_step_leaves_no_update_unpaid(sotto_test *t)
{
    try_failures(t, false, false, 1);
}

/* Killed at a moment that nobody chose. What the child was told is told by the next start's accounts. */
static void a_killed_process_leaves_accounts_that_agree(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "ledger.db");

    for (useconds_t wait = 0; wait < 8; wait++) {
        day d = plan_day(t);
        sotto_ledger *ledger;
        sotto_spent analysis;
        int ended;

        (void)unlink(path);
        start_over(path);
        const pid_t child = fork();
        CHECK(t, child >= 0);
        if (child == 0) {
            if (sotto_test_open_ledger(&ledger, NULL, path, NULL, &sotto_test_wide, NULL) ==
                SOTTO_OK)
                for (size_t i = 0; i < ROUNDS; i++)
                    (void)!sotto_ledger_spend_round(ledger, &d.charges[i], &d.rounds[i],
                                                    &d.reports[i], NOW, NULL, NULL);
            _exit(0);
        }
        (void)usleep(wait * 1500);
        (void)kill(child, SIGKILL);
        CHECK(t, waitpid(child, &ended, 0) == child);
        CHECK_OK(t, sotto_test_open_ledger(&ledger, NULL, path, NULL, &sotto_test_wide, &t->err));
        CHECK(t, sotto_ledger_closed(ledger) == NULL);
        CHECK_OK(t, sotto_ledger_spent_by_analysis(ledger, &analysis, SOTTO_TEST_ANALYSIS, NOW,
                                                   &t->err));
        const found f = rho_of(t, ledger);
        CHECK_EQUAL(t, f.updates, f.rho);
        CHECK_EQUAL(t, f.updates, analysis.reports);
        sotto_ledger_close(ledger);
    }
}

/* ---- days that go well --------------------------------------------------------------------------------------- */

static void a_new_period_pays_the_recipe_again(sotto_test *t)
{
    sotto_budget_table table = sotto_test_wide;
    sotto_refusal refusal;
    day d = plan_day(t);
    sotto_spent analysis;

    table.period = 86400;
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, &table);
    CHECK_OK(t, sotto_ledger_spend_round(ledger, &d.charges[0], &d.rounds[0], &d.reports[0], NOW,
                                         &refusal, &t->err));
    CHECK_OK(t, sotto_ledger_spend_round(ledger, &d.charges[1], &d.rounds[1], &d.reports[1],
                                         NOW + 2 * 86400, &refusal, &t->err));
    CHECK_OK(t, sotto_ledger_spent_by_analysis(ledger, &analysis, SOTTO_TEST_ANALYSIS,
                                               NOW + 2 * 86400, &t->err));
    CHECK_EQUAL(t, ONE * 3 / 10, analysis.epsilon.units);
    CHECK_EQUAL(t, 1, analysis.reports);
    const found f = rho_of(t, ledger); /* that is never renewed */
    CHECK_EQUAL(t, 2, f.updates);
    CHECK_EQUAL(t, 2, f.rho);
    CHECK_EQUAL(t, 2, f.last);
    sotto_ledger_close(ledger);
}

/* The account began anew before the period changed, so that it may have lost the charge: of a recipe, and of its fields. */
static void another_period_pays_the_recipe_again(sotto_test *t)
{
    enum { DAY = 86400 };
    const sotto_access age = {"keyboard_ngrams", "age", true};
    const uint64_t periods[] = {7 * DAY, 0};

    for (size_t i = 0; i < 2; i++) {
        sotto_budget_table days = sotto_test_wide, then = sotto_test_wide;
        sotto_refusal refusal;
        day d = plan_day(t);
        sotto_spent analysis, field;

        days.period = DAY;
        then.period = periods[i];
        sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, &days);
        CHECK_OK(t, sotto_ledger_spend_round(ledger, &d.charges[0], &d.rounds[0], &d.reports[0],
                                             NOW, &refusal, &t->err));
        const int64_t now = NOW + 3 * DAY;
        const sotto_charge other = sotto_test_charge(t, "other", "0.3");
        CHECK_OK(t, sotto_ledger_spend(ledger, &other, &d.reports[2], now, &refusal, &t->err));
        CHECK_OK(t, sotto_ledger_adopt(ledger, &then, &sotto_test_recompute, now, &t->err));
        for (size_t k = 1; k < ROUNDS; k++) { /* and once in the new period */
            const sotto_report report = sotto_test_report(t, 10 + k);

            CHECK_OK(t, sotto_ledger_spend_round(ledger, &d.charges[k], &d.rounds[k], &report, now,
                                                 &refusal, &t->err));
            CHECK_OK(t, sotto_ledger_spent_by_analysis(ledger, &analysis, SOTTO_TEST_ANALYSIS, now,
                                                       &t->err));
            CHECK_OK(t, sotto_ledger_spent_on_field(ledger, &field, &age, now, &t->err));
            CHECK_EQUAL(t, ONE * 6 / 10, analysis.epsilon.units);
            CHECK_EQUAL(t, ONE * 6 / 10, field.epsilon.units);
        }
        CHECK_EQUAL(t, ROUNDS, rho_of(t, ledger).updates);
        sotto_ledger_close(ledger);
    }
}

/* Budgets that are the recipe's own epsilon, to the last digit. */
static void further_updates_cost_nothing(sotto_test *t)
{
    const sotto_access age = {"keyboard_ngrams", "age", true};
    sotto_budget_table table = sotto_test_wide;
    sotto_analysis_budget analysis_of = table.analyses[0];
    sotto_field_budget fields[2] = {table.fields[0], table.fields[1]};
    sotto_refusal refusal;
    day d = plan_day(t);
    sotto_spent analysis, field, first = {0};

    analysis_of.epsilon.units = fields[0].epsilon.units = fields[1].epsilon.units = ONE * 3 / 10;
    analysis_of.delta = fields[0].delta = fields[1].delta = d.charges[0].delta;
    table.analyses = &analysis_of;
    table.analysis_count = 1;
    table.fields = fields;
    table.field_count = 2;
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, &table);
    for (size_t i = 0; i < ROUNDS; i++) {
        CHECK_OK(t, sotto_ledger_check_round(ledger, &d.charges[i], &d.rounds[i], NOW, &refusal,
                                             &t->err));
        CHECK_OK(t, sotto_ledger_spend_round(ledger, &d.charges[i], &d.rounds[i], &d.reports[i],
                                             NOW, &refusal, &t->err));
        CHECK_OK(t, sotto_ledger_spent_by_analysis(ledger, &analysis, SOTTO_TEST_ANALYSIS, NOW,
                                                   &t->err));
        CHECK_OK(t, sotto_ledger_spent_on_field(ledger, &field, &age, NOW, &t->err));
        CHECK_EQUAL(t, ONE * 3 / 10, analysis.epsilon.units);
        CHECK_EQUAL(t, ONE * 3 / 10, field.epsilon.units);
        CHECK_EQUAL(t, d.charges[0].delta.units, analysis.delta.units);
        CHECK_EQUAL(t, i + 1, analysis.reports);
        first = i == 0 ? analysis : first;
        CHECK(t, analysis.squares >= first.squares && analysis.squares <= first.squares);
    }
    sotto_ledger_close(ledger);
}

/* A policy that came in between finds a field sensitive which was not. */
static void a_field_that_became_sensitive_pays_for_the_whole_recipe(sotto_test *t)
{
    sotto_access before[] = {{"keyboard_ngrams", "age", true}, {"keyboard_ngrams", "ngram", false}};
    const sotto_access ngram = {"keyboard_ngrams", "ngram", true};
    sotto_refusal refusal;
    day d = plan_day(t);
    sotto_spent field;
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, &sotto_test_wide);

    d.charges[0].fields = before;
    CHECK_OK(t, sotto_ledger_spend_round(ledger, &d.charges[0], &d.rounds[0], &d.reports[0], NOW,
                                         &refusal, &t->err));
    CHECK_OK(t, sotto_ledger_spent_on_field(ledger, &field, &ngram, NOW, &t->err));
    CHECK_EQUAL(t, 0, field.epsilon.units);
    for (size_t i = 1; i < ROUNDS; i++) {
        CHECK_OK(t, sotto_ledger_spend_round(ledger, &d.charges[i], &d.rounds[i], &d.reports[i],
                                             NOW, &refusal, &t->err));
        CHECK_OK(t, sotto_ledger_spent_on_field(ledger, &field, &ngram, NOW, &t->err));
        CHECK_EQUAL(t, ONE * 3 / 10, field.epsilon.units);
        CHECK_EQUAL(t, d.charges[0].delta.units, field.delta.units);
        CHECK_EQUAL(t, i, field.reports);
        CHECK(t, field.squares >= 0.09);
    }
    sotto_ledger_close(ledger);
}

static void a_budget_that_does_not_hold_the_whole_recipe_refuses_its_first_update(sotto_test *t)
{
    sotto_refusal refusal;
    day d = plan_day(t);
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, &sotto_test_table1);

    d.charges[0].epsilon.units = ONE * 2;
    d.rounds[0].epsilon = 1.9;
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_ledger_spend_round(ledger, &d.charges[0], &d.rounds[0], &d.reports[0], NOW,
                                          &refusal, &t->err));
    CHECK_EQUAL(t, 1, refusal.check);
    CHECK_EQUAL(t, 0, rho_of(t, ledger).updates);
    sotto_ledger_close(ledger);
}

/* The claim is for the honest part that the policy has now. */
static void fewer_honest_devices_than_were_counted_on_refuse(sotto_test *t)
{
    sotto_budget_table table = sotto_test_wide;
    sotto_refusal refusal;
    day d = plan_day(t);
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, &table);

    d.rounds[0].honest = 30000;
    CHECK_STATUS(
        t, SOTTO_DENIED,
        sotto_ledger_check_round(ledger, &d.charges[0], &d.rounds[0], NOW, &refusal, &t->err));
    CHECK_EQUAL(t, 3, refusal.check);
    d.rounds[0].honest = 20000;
    d.rounds[0].epsilon = 0.31; /* above what is claimed */
    CHECK_STATUS(
        t, SOTTO_DENIED,
        sotto_ledger_check_round(ledger, &d.charges[0], &d.rounds[0], NOW, &refusal, &t->err));
    CHECK_EQUAL(t, 3, refusal.check);
    sotto_ledger_close(ledger);
}

/* Two processes train at once; the second finds the round answered, and pays nothing. */
static void two_processes_pay_once_for_a_round(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "ledger.db");
    sotto_refusal refusal;
    day d = plan_day(t);
    sotto_ledger *one = sotto_test_ledger(t, path, NULL, &sotto_test_wide),
                 *two = sotto_test_ledger(t, path, NULL, &sotto_test_wide);

    CHECK_OK(t, sotto_ledger_check_round(two, &d.charges[0], &d.rounds[0], NOW, &refusal, &t->err));
    CHECK_OK(t, sotto_ledger_spend_round(one, &d.charges[0], &d.rounds[0], &d.reports[0], NOW,
                                         &refusal, &t->err));
    CHECK(t, sotto_ledger_spend_round(two, &d.charges[0], &d.rounds[0], &d.reports[1], NOW,
                                      &refusal, &t->err) != SOTTO_OK);
    /* Nor does it answer the next round, which is too near. */
    sotto_charge next = sotto_test_charge(t, "digits#1", "0.3");
    const sotto_round_charge second = turn(1);
    next.round = 1;
    CHECK_STATUS(
        t, SOTTO_DENIED,
        sotto_ledger_spend_round(two, &next, &second, &d.reports[1], NOW, &refusal, &t->err));
    CHECK_EQUAL(t, SOTTO_CHECK_ROUNDS, refusal.check);
    CHECK_EQUAL(t, 1, rho_of(t, two).updates);
    sotto_ledger_close(one);
    sotto_ledger_close(two);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(no_power_loss_leaves_an_update_unpaid_or_paid_twice),
        CASE(a_full_disk_leaves_no_update_unpaid),
        CASE(one_failing_step_leaves_no_update_unpaid),
        CASE(a_killed_process_leaves_accounts_that_agree),
        CASE(a_new_period_pays_the_recipe_again),
        CASE(another_period_pays_the_recipe_again),
        CASE(further_updates_cost_nothing),
        CASE(a_field_that_became_sensitive_pays_for_the_whole_recipe),
        CASE(a_budget_that_does_not_hold_the_whole_recipe_refuses_its_first_update),
        CASE(fewer_honest_devices_than_were_counted_on_refuse),
        CASE(two_processes_pay_once_for_a_round),
    };
    return RUN_TESTS(argc, argv, cases);
}
