/* The ledger on a disk that loses power, fills up or fails at every step, and in a process that is killed at any
 * moment. Spent is never less than sent. */
#define _DEFAULT_SOURCE

#include "support/ledger.h"
#include "support/powerloss_vfs.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOW SOTTO_TEST_NOW
#define ONE UINT64_C(1000000000000)

enum { SPENDS = 3, MOST_STEPS = 3000 };

/* What a day needs, made beforehand, and what it was told when the disk went. */
typedef struct day {
    sotto_charge charges[SPENDS];
    sotto_report reports[SPENDS];
    sotto_test_host host;
    bool with_host;
    sotto_test_wire wire;
    bool paid[SPENDS];
    bool decided;
    sotto_decision decision;
} day;

static void start_over(const char *path)
{
    static const char *const names[] = {"", ".new", ".reset"};
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};

    for (size_t i = 0; i < 12; i++) {
        char name[SOTTO_VFS_PATH];

        (void)snprintf(name, sizeof name, "%s%s%s", path, names[i / 4], endings[i % 4]);
        (void)unlink(name);
    }
    sotto_powerloss_start();
}

static day plan_day(sotto_test *t, bool with_host)
{
    static const char *const recipes[SPENDS] = {"a", "b", "c"};
    day d = {.with_host = with_host};

    for (size_t i = 0; i < SPENDS; i++) {
        d.charges[i] = sotto_test_charge(t, recipes[i], "0.3");
        d.reports[i] = sotto_test_report(t, i + 1);
    }
    return d;
}

static sotto_status open_on_disk(sotto_ledger **ledger, const char *path, day *d, sotto_err *err)
{
    return sotto_test_open_ledger(ledger, &sotto_powerloss_storage, path,
                                  d->with_host ? &d->host : NULL, &sotto_test_wide, err);
}

static sotto_status draw(void *context, sotto_decision *out, sotto_err *err)
{
    (void)err;
    out->choice = SOTTO_CHOICE_TAKE_PART;
    out->slot = (*(uint64_t *)context)++;
    return SOTTO_OK;
}

/* Nothing that a transport sees may hang on a write that the disk could still lose. All is in the database by
 * now; that the WAL was cut may be lost, since what it held is the same. */
static void all_is_synced(void *context)
{
    CHECK(context, sotto_powerloss_unsynced("ledger.db") == 0);
    CHECK(context, sotto_powerloss_unsynced("-wal") <= 1);
}

/* Goes on after a failure, as an application would. */
static void live(day *d, const char *path)
{
    const sotto_transport transport = sotto_test_transport(&d->wire);
    uint64_t slot = 1;
    sotto_ledger *ledger;

    if (open_on_disk(&ledger, path, d, NULL) != SOTTO_OK)
        return;
    d->decided = sotto_ledger_decide(ledger, &d->decision, SOTTO_DECISION_RECIPE, "a", draw, &slot,
                                     NOW, NULL) == SOTTO_OK;
    for (size_t i = 0; i < SPENDS; i++) {
        sotto_status status;

        d->paid[i] =
            sotto_ledger_spend(ledger, &d->charges[i], &d->reports[i], NOW, NULL, NULL) == SOTTO_OK;
        d->wire.answer = i == 0 ? SOTTO_DELIVERY_LATER : SOTTO_DELIVERY_ACCEPTED;
        d->wire.outdated_once = i == 1;
        status = sotto_outbox_send(ledger, &transport, NOW, NULL, NULL);
        (void)status;
    }
    sotto_ledger_close(ledger);
}

/* At the next start: all that was promised is there, and nothing left that was not paid for. */
static void check_day(sotto_test *t, day *d, const char *path)
{
    const sotto_transport transport = sotto_test_transport(&d->wire);
    const sotto_access age = {"keyboard_ngrams", "age", true};
    sotto_spent analysis, field;
    sotto_decision decision;
    sotto_ledger *ledger;
    uint64_t slot = 77, promised = 0, waiting;

    CHECK_OK(t, open_on_disk(&ledger, path, d, &t->err));
    CHECK(t, sotto_ledger_closed(ledger) == NULL);
    for (size_t i = 0; i < SPENDS; i++)
        promised += d->paid[i];
    CHECK_OK(t,
             sotto_ledger_spent_by_analysis(ledger, &analysis, SOTTO_TEST_ANALYSIS, NOW, &t->err));
    CHECK_OK(t, sotto_ledger_spent_on_field(ledger, &field, &age, NOW, &t->err));
    CHECK(t, analysis.reports >= d->wire.distinct && analysis.reports >= promised);
    CHECK_EQUAL(t, analysis.reports * d->charges[0].epsilon.units, analysis.epsilon.units);
    CHECK_EQUAL(t, analysis.epsilon.units, field.epsilon.units);
    CHECK_OK(t, sotto_ledger_decide(ledger, &decision, SOTTO_DECISION_RECIPE, "a", draw, &slot, NOW,
                                    &t->err));
    CHECK(t, !d->decided || decision.slot == d->decision.slot);
    CHECK(t, sotto_test_recorded(t, ledger, SOTTO_RECORD_LEFT) >= d->wire.distinct);
    d->wire.answer = SOTTO_DELIVERY_ACCEPTED;
    d->wire.outdated_once = false;
    CHECK_OK(t, sotto_outbox_send(ledger, &transport, NOW, &waiting, &t->err));
    CHECK_EQUAL(t, 0, waiting);
    CHECK(t, analysis.reports >= d->wire.distinct && !d->wire.differed);
    sotto_ledger_close(ledger);
}

static int64_t steps_of_a_day(sotto_test *t, const char *path, bool with_host)
{
    day d = plan_day(t, with_host);

    start_over(path);
    d.wire.hook = all_is_synced;
    d.wire.context = t;
    live(&d, path);
    CHECK(t, d.paid[0] && d.paid[1] && d.paid[2] && d.decided);
    CHECK_EQUAL(t, SPENDS, d.wire.distinct);
    CHECK(t, sotto_powerloss_steps() > 20 && sotto_powerloss_steps() < MOST_STEPS);
    return (int64_t)sotto_powerloss_steps();
}

static void no_byte_leaves_before_the_sync_of_its_spend(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "ledger.db");
    day d = plan_day(t, false);
    sotto_ledger *ledger;

    CHECK(t, steps_of_a_day(t, path, true) > 0);
    start_over(path);
    CHECK_OK(t, open_on_disk(&ledger, path, &d, &t->err));
    for (size_t i = 0; i < SPENDS; i++) {
        uint64_t syncs = sotto_powerloss_syncs();

        CHECK_OK(t, sotto_ledger_spend(ledger, &d.charges[i], &d.reports[i], NOW, NULL, &t->err));
        CHECK(t, sotto_powerloss_syncs() > syncs);
        CHECK_EQUAL(t, 0, sotto_powerloss_unsynced("-wal"));
    }
    sotto_ledger_close(ledger);
}

static void no_power_loss_leaves_less_spent_than_sent(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "ledger.db");
    int64_t steps = steps_of_a_day(t, path, true);

    for (int64_t at = 0; at <= steps; at++) {
        for (uint64_t seed = 0; seed < 3; seed++) {
            day d = plan_day(t, seed != 1);

            start_over(path);
            sotto_powerloss_at(at);
            live(&d, path);
            sotto_powerloss_restore(seed);
            check_day(t, &d, path);
        }
    }
    (void)printf("power lost at each of %lld steps\n", (long long)steps);
}

static void try_failures(sotto_test *t, bool full, bool stays)
{
    const char *path = sotto_test_temp(t, "ledger.db");

    for (int64_t at = 0; at < MOST_STEPS; at++) {
        day d = plan_day(t, true);

        start_over(path);
        sotto_powerloss_fail_at(at, full, stays);
        live(&d, path);
        bool reached = (int64_t)sotto_powerloss_steps() > at;
        sotto_powerloss_fail_at(-1, false, false);
        check_day(t, &d, path);
        if (!reached)
            return;
    }
    const bool the_day_ends = false;
    CHECK(t, the_day_ends);
}

static void a_full_disk_leaves_no_less_spent_than_sent(sotto_test *t)
{
    try_failures(t, true, true);
}

static void one_failing_step_leaves_no_less_spent_than_sent(sotto_test *t)
{
    try_failures(t, false, false);
}

/* A file of the first version, taken over by an opening that a step of fails: the next one finds all of it. */
static void a_failing_step_leaves_a_ledger_that_can_be_taken_over(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "ledger.db");
    bool reached = true;
    int64_t at = 0;

    for (; reached && at < MOST_STEPS; at++) {
        day d = plan_day(t, false);
        sotto_ledger *ledger;

        start_over(path);
        live(&d, path);
        sotto_test_meddle(t, path,
                          "DROP TABLE windows; DROP TABLE asked; DROP TABLE tokens;"
                          " PRAGMA user_version=1");
        const int64_t before = (int64_t)sotto_powerloss_steps();
        sotto_powerloss_fail_at(before + at, false, false);
        if (open_on_disk(&ledger, path, &d, NULL) == SOTTO_OK)
            sotto_ledger_close(ledger);
        reached = (int64_t)sotto_powerloss_steps() > before + at;
        sotto_powerloss_fail_at(-1, false, false);
        check_day(t, &d, path);
    }
    CHECK(t, !reached && at > 3);
}

/* ---- a reset ---------------------------------------------------------------------------------------------- */

static void damage(sotto_test *t, const char *path)
{
    FILE *file = fopen(path, "wb");

    CHECK(t, file && fputs("no database at all", file) > 0 && fclose(file) == 0);
}

static void reset(const char *path, day *d)
{
    sotto_ledger *ledger;
    sotto_status status = open_on_disk(&ledger, path, d, NULL);

    if (status != SOTTO_OK)
        return;
    status = sotto_ledger_reset(ledger, NOW, NULL);
    sotto_ledger_close(ledger);
}

/* Nobody but the files remembers the ledger here. */
static void no_moment_of_a_reset_looks_like_a_first_run(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "ledger.db");
    int64_t steps = MOST_STEPS;

    for (int64_t at = -1; at <= steps; at++) {
        for (uint64_t seed = 0; seed < 3; seed++) {
            day d = plan_day(t, false);
            sotto_ledger *ledger;

            start_over(path);
            damage(t, path);
            sotto_powerloss_at(at);
            reset(path, &d);
            steps = at < 0 ? (int64_t)sotto_powerloss_steps() : steps;
            sotto_powerloss_restore(seed);
            CHECK_OK(t, open_on_disk(&ledger, path, &d, &t->err));
            if (sotto_ledger_closed(ledger))
                CHECK_OK(t, sotto_ledger_reset(ledger, NOW, &t->err));
            CHECK_STATUS(
                t, SOTTO_DENIED,
                sotto_ledger_spend(ledger, &d.charges[0], &d.reports[0], NOW + 5, NULL, &t->err));
            sotto_ledger_close(ledger);
        }
    }
    CHECK(t, steps > 10 && steps < MOST_STEPS);
    (void)printf("reset interrupted at each of %lld steps\n", (long long)steps);
}

/* Until the new ledger is there the old one is; and a reset that is called again finishes what was begun. */
static void no_moment_of_a_reset_loses_the_record(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "ledger.db");
    int64_t begun = 0, steps = MOST_STEPS;

    for (int64_t at = -1; at <= steps; at = at < begun ? begun : at + 1) {
        for (uint64_t seed = 0; seed < 3; seed++) {
            day d = plan_day(t, false);
            sotto_ledger *ledger;

            start_over(path);
            CHECK_OK(t, open_on_disk(&ledger, path, &d, &t->err));
            CHECK_OK(t,
                     sotto_ledger_spend(ledger, &d.charges[0], &d.reports[0], NOW, NULL, &t->err));
            sotto_ledger_close(ledger);
            begun = (int64_t)sotto_powerloss_steps();
            sotto_powerloss_at(at);
            reset(path, &d);
            steps = at < 0 ? (int64_t)sotto_powerloss_steps() : steps;
            sotto_powerloss_restore(seed);
            CHECK_OK(t, open_on_disk(&ledger, path, &d, &t->err));
            if (sotto_ledger_closed(ledger))
                CHECK_OK(t, sotto_ledger_reset(ledger, NOW, &t->err));
            CHECK_EQUAL(t, 1, sotto_test_recorded(t, ledger, SOTTO_RECORD_SPENT));
            if (at < 0) /* nothing of the old ledger comes back */
                CHECK_EQUAL(t, 1, sotto_test_recorded(t, ledger, SOTTO_RECORD_RESET));
            sotto_ledger_close(ledger);
        }
    }
    CHECK(t, steps > begun + 10 && steps < MOST_STEPS);
}

/* ---- kill -9 ------------------------------------------------------------------------------------------------ */

static int pipe_out;

static sotto_delivery tell_parent(void *context, const sotto_report *report)
{
    sotto_delivery answer = report->id[0] % 3 ? SOTTO_DELIVERY_ACCEPTED : SOTTO_DELIVERY_LATER;

    (void)context;
    return write(pipe_out, report->id, SOTTO_REPORT_ID_SIZE) == SOTTO_REPORT_ID_SIZE
               ? answer
               : SOTTO_DELIVERY_LATER;
}

static void live_until_killed(sotto_test *t, const char *path, uint64_t first)
{
    const sotto_transport transport = {.send = tell_parent};
    sotto_ledger *ledger = sotto_test_ledger(t, path, NULL, &sotto_test_wide);

    for (uint64_t i = first;; i++) {
        char recipe[24];
        sotto_status status;

        (void)snprintf(recipe, sizeof recipe, "k%llu", (unsigned long long)i);
        const sotto_charge charge = sotto_test_charge(t, recipe, "0.3");
        const sotto_report report = sotto_test_report(t, i);
        status = sotto_ledger_spend(ledger, &charge, &report, NOW, NULL, NULL);
        if (status == SOTTO_OK)
            status = sotto_outbox_send(ledger, &transport, NOW, NULL, NULL);
        if (status != SOTTO_OK)
            _exit(1);
    }
}

static void collect(int from, sotto_test_wire *wire)
{
    const sotto_transport transport = sotto_test_transport(wire);
    sotto_report report = {.bytes = {report.id, sizeof report.id}};

    while (read(from, report.id, sizeof report.id) == (ssize_t)sizeof report.id)
        (void)transport.send(wire, &report);
}

static void no_kill_leaves_less_spent_than_sent(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "ledger.db");
    sotto_test_wire wire = {.answer = SOTTO_DELIVERY_ACCEPTED};
    sotto_spent spent = {0};

    for (uint64_t round = 0; round < 16; round++) {
        int ends[2];

        CHECK(t, pipe(ends) == 0);
        pid_t child = fork();
        CHECK(t, child >= 0);
        if (child == 0) {
            (void)close(ends[0]);
            pipe_out = ends[1];
            live_until_killed(t, path, 1 + round * 100000);
        }
        (void)close(ends[1]);
        (void)usleep((useconds_t)(15000 + round * 7919 % 150000));
        CHECK(t, kill(child, SIGKILL) == 0);
        CHECK(t, waitpid(child, NULL, 0) == child);
        collect(ends[0], &wire);
        (void)close(ends[0]);
        sotto_ledger *ledger = sotto_test_ledger(t, path, NULL, &sotto_test_wide);
        CHECK(t, sotto_ledger_closed(ledger) == NULL);
        CHECK_OK(t,
                 sotto_ledger_spent_by_analysis(ledger, &spent, SOTTO_TEST_ANALYSIS, NOW, &t->err));
        CHECK(t, spent.reports >= wire.distinct);
        sotto_ledger_close(ledger);
    }
    (void)printf("killed 16 times: %llu spent, %zu sent\n", (unsigned long long)spent.reports,
                 wire.distinct);
}

/* ---- any order of anything ------------------------------------------------------------------------------------ */

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

typedef struct story {
    sotto_test_host host;
    sotto_test_wire wire;
    uint64_t random, number, epsilon_of[SOTTO_TEST_WIRE];
    bool paid[SOTTO_TEST_WIRE];
    int64_t now;
} story;

static void try_to_spend(sotto_test *t, story *s, sotto_ledger *ledger)
{
    static const char *const epsilons[] = {"0.3", "0.31", "0.7", "1.000000000001"};
    uint64_t fresh = s->number + 1 < SOTTO_TEST_WIRE ? s->number + 1 : s->number;
    uint64_t number = next(&s->random) % 4 && s->number ? fresh : 1 + next(&s->random) % fresh;
    char recipe[24];

    (void)snprintf(recipe, sizeof recipe, "p%llu", (unsigned long long)(number / 2));
    sotto_charge charge = sotto_test_charge(t, recipe, epsilons[next(&s->random) % 4]);
    charge.round = number % 2;
    const sotto_report report = sotto_test_report(t, number);
    bool known = s->epsilon_of[number] != 0;
    sotto_status status = sotto_ledger_spend(ledger, &charge, &report, s->now, NULL, NULL);
    CHECK(t, !(status == SOTTO_OK && s->paid[number])); /* nothing is paid for, and sent, twice */
    if (status == SOTTO_OK || !known)                   /* it may have reached the disk even so */
        s->epsilon_of[number] = charge.epsilon.units;
    s->paid[number] = s->paid[number] || status == SOTTO_OK;
    s->number = number > s->number ? number : s->number;
}

static void do_something(sotto_test *t, story *s, sotto_ledger *ledger)
{
    const sotto_transport transport = sotto_test_transport(&s->wire);
    const sotto_record_entry seen = {.at = s->now, .kind = SOTTO_RECORD_SEEN, .recipe = "p"};
    sotto_status status = SOTTO_OK;

    switch (next(&s->random) % 8) {
    case 0:
    case 1:
    case 2:
        try_to_spend(t, s, ledger);
        break;
    case 3:
    case 4:
        s->wire.answer = (sotto_delivery)(1 + next(&s->random) % 4);
        s->wire.outdated_once = next(&s->random) % 4 == 0;
        status = sotto_outbox_send(ledger, &transport, s->now, NULL, NULL);
        break;
    case 5:
        s->now = NOW + (int64_t)(next(&s->random) % 2000000) - 1000000; /* the clock jumps */
        break;
    case 6:
        status = sotto_record_append(ledger, &seen, NULL);
        break;
    default:
        if (next(&s->random) % 4 == 0)
            status = sotto_outbox_empty(ledger, NULL, "withdrawn", s->now, NULL);
        s->host.unreachable = next(&s->random) % 4 == 0;
    }
    (void)status;
}

static void check_story(sotto_test *t, story *s, const char *path)
{
    sotto_ledger *ledger;
    sotto_spent spent;
    uint64_t sent = 0;

    CHECK_OK(t, sotto_test_open_ledger(&ledger, &sotto_powerloss_storage, path, &s->host,
                                       &sotto_test_wide, &t->err));
    CHECK(t, sotto_ledger_closed(ledger) == NULL);
    for (size_t i = 0; i < s->wire.distinct; i++) {
        uint64_t number;

        memcpy(&number, s->wire.ids[i], sizeof number);
        sent += s->epsilon_of[number];
    }
    CHECK_OK(t,
             sotto_ledger_spent_by_analysis(ledger, &spent, SOTTO_TEST_ANALYSIS, s->now, &t->err));
    CHECK(t, spent.epsilon.units >= sent && spent.reports >= s->wire.distinct);
    CHECK(t, !s->wire.differed);
    sotto_ledger_close(ledger);
}

static void any_order_of_recipes_and_crashes_keeps_spent_above_sent(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "ledger.db");
    uint64_t sent = 0;

    for (uint64_t seed = 1; seed <= 12; seed++) {
        story s = {.random = seed * 0x9e3779b97f4a7c15U, .now = NOW};

        start_over(path);
        for (int life = 0; life < 12; life++) {
            sotto_ledger *ledger;

            sotto_powerloss_at((int64_t)(next(&s.random) % 160));
            if (sotto_test_open_ledger(&ledger, &sotto_powerloss_storage, path, &s.host,
                                       &sotto_test_wide, NULL) == SOTTO_OK) {
                for (int i = 0; i < 12; i++)
                    do_something(t, &s, ledger);
                sotto_ledger_close(ledger);
            }
            sotto_powerloss_restore(next(&s.random) % 3);
            s.host.unreachable = false;
            check_story(t, &s, path);
        }
        sent += s.wire.distinct;
    }
    CHECK(t, sent > 50);
    (void)printf("144 crashes, %llu reports sent\n", (unsigned long long)sent);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(no_byte_leaves_before_the_sync_of_its_spend),
        CASE(no_power_loss_leaves_less_spent_than_sent),
        CASE(a_full_disk_leaves_no_less_spent_than_sent),
        CASE(one_failing_step_leaves_no_less_spent_than_sent),
        CASE(a_failing_step_leaves_a_ledger_that_can_be_taken_over),
        CASE(no_moment_of_a_reset_looks_like_a_first_run),
        CASE(no_moment_of_a_reset_loses_the_record),
        CASE(no_kill_leaves_less_spent_than_sent),
        CASE(any_order_of_recipes_and_crashes_keeps_spent_above_sent),
    };
    return RUN_TESTS(argc, argv, cases);
}
