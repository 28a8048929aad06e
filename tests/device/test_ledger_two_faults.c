/* Two processes that have one ledger, on a disk that loses power. Whoever sends rests on what the other one did not wait
 * for: spent is never less than sent. And a witness is told of what is on the disk, never of what is only seen: a
 * generation that a power loss undid would close the ledger for good. */
#include "device/ledger/ledger_internal.h"
#include "support/ledger.h"
#include "support/powerloss_vfs.h"

#include <stdio.h>
#include <string.h>

#define NOW SOTTO_TEST_NOW

enum { MOST_STEPS = 3000 };

/* The two processes, and a counter that both of them tell. */
typedef struct pair {
    sotto_test *t;
    const char *path;
    sotto_test_host host;
    sotto_ledger *one, *two;
    sotto_ledger *other; /* of the one that sends */
    int left;            /* looks at the ledger that pass before the other one commits */
    bool told_all;       /* nothing was told that the disk could still lose */
    sotto_test_wire *wire;
    uint64_t paid; /* spends that returned */
    bool failed;   /* something did, as the power went */
} pair;

static void start_over(pair *p)
{
    static const char *const endings[] = {"", "-wal", "-shm"};

    for (size_t i = 0; i < 3; i++) {
        char name[SOTTO_VFS_PATH];

        (void)snprintf(name, sizeof name, "%s%s", p->path, endings[i]);
        (void)remove(name);
    }
    sotto_powerloss_start();
}

static sotto_status open_one(pair *p, sotto_ledger **out, sotto_err *err)
{
    return sotto_test_open_ledger(out, &sotto_powerloss_storage, p->path, &p->host,
                                  &sotto_test_wide, err);
}

static void lose_power(pair *p, uint64_t seed)
{
    sotto_powerloss_at((int64_t)sotto_powerloss_steps());
    sotto_ledger_close(p->one);
    sotto_ledger_close(p->two);
    p->one = p->two = NULL;
    sotto_powerloss_restore(seed);
}

static void check_open(pair *p)
{
    sotto_ledger *ledger;

    CHECK_OK(p->t, open_one(p, &ledger, &p->t->err));
    CHECK(p->t, sotto_ledger_closed(ledger) == NULL);
    sotto_ledger_close(ledger);
}

/* ---- sending at once ---------------------------------------------------------------------------------------- */

/* While one is handing a report over, the other one pays for another, and sends too. */
static void send_too(void *context)
{
    pair *p = context;
    const sotto_transport transport = sotto_test_transport(p->wire);
    const sotto_charge charge = sotto_test_charge(p->t, "b", "0.3");
    const sotto_report report = sotto_test_report(p->t, 2);

    if (p->left-- != 0 || !p->other)
        return;
    p->paid += sotto_ledger_spend(p->other, &charge, &report, NOW, NULL, NULL) == SOTTO_OK;
    p->failed |= sotto_outbox_send(p->other, &transport, NOW, NULL, NULL) != SOTTO_OK;
}

/* A report is sealed again by either of them, and in the end both are acknowledged. Goes on after a failure. */
static void send_at_once(pair *p, int moment)
{
    const sotto_transport transport = sotto_test_transport(p->wire);
    const sotto_charge charge = sotto_test_charge(p->t, "a", "0.3");
    const sotto_report report = sotto_test_report(p->t, 1);

    p->failed |= open_one(p, &p->one, NULL) != SOTTO_OK;
    p->failed |= open_one(p, &p->two, NULL) != SOTTO_OK;
    if (!p->one)
        return;
    p->paid += sotto_ledger_spend(p->one, &charge, &report, NOW, NULL, NULL) == SOTTO_OK;
    p->left = moment;
    for (int i = 0; i < 3; i++) {
        sotto_ledger *sends = i == 1 && p->two ? p->two : p->one;

        p->other = sends == p->one ? p->two : p->one;
        p->wire->answer = i == 0 ? SOTTO_DELIVERY_LATER : SOTTO_DELIVERY_ACCEPTED;
        p->wire->outdated_once = i == 1;
        p->failed |= sotto_outbox_send(sends, &transport, NOW, NULL, NULL) != SOTTO_OK;
    }
}

static void check_sent(pair *p)
{
    const sotto_transport transport = sotto_test_transport(p->wire);

    p->wire->answer = SOTTO_DELIVERY_ACCEPTED;
    p->wire->outdated_once = false;
    p->wire->hook = NULL;
    check_open(p);
    CHECK_OK(p->t, open_one(p, &p->one, &p->t->err));
    uint64_t spent = sotto_test_spent(p->t, p->one, NOW).reports;
    CHECK(p->t, spent >= p->wire->distinct && spent >= p->paid);
    CHECK(p->t,
          sotto_test_recorded(p->t, p->one, SOTTO_RECORD_LEFT) >= (uint64_t)p->wire->distinct);
    CHECK_OK(p->t, sotto_outbox_send(p->one, &transport, NOW, NULL, &p->t->err));
    CHECK(p->t, !p->wire->differed);
    sotto_ledger_close(p->one);
}

static void no_power_loss_leaves_less_spent_than_two_sent(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "ledger.db");

    for (int moment = 0; moment < 3; moment++) {
        int64_t steps = MOST_STEPS;

        for (int64_t at = -1; at <= steps; at++) {
            sotto_test_wire wire = {.hook = send_too};
            pair p = {.t = t, .path = path, .wire = &wire};

            wire.context = &p;
            start_over(&p);
            sotto_powerloss_at(at);
            send_at_once(&p, moment);
            if (at < 0) {
                steps = (int64_t)sotto_powerloss_steps();
                CHECK(t, wire.distinct == 2 && p.paid == 2 && !p.failed);
            }
            lose_power(&p, (uint64_t)(at + 1) % 3);
            check_sent(&p);
        }
        CHECK(t, steps > 20 && steps < MOST_STEPS);
    }
}

/* The other one is looking at the ledger as it was, so that not all of it can be moved and synced. */
static void nothing_leaves_while_a_reader_holds_on_to_the_wal(sotto_test *t)
{
    sotto_test_wire wire = {.answer = SOTTO_DELIVERY_ACCEPTED};
    const sotto_transport transport = sotto_test_transport(&wire);
    const sotto_charge charge = sotto_test_charge(t, "a", "0.3");
    pair p = {.t = t, .path = sotto_test_temp(t, "ledger.db"), .wire = &wire};
    int64_t rows;

    start_over(&p);
    CHECK_OK(t, open_one(&p, &p.one, &t->err));
    CHECK_OK(t, open_one(&p, &p.two, &t->err));
    CHECK_OK(t, sotto_test_spend(t, p.one, &charge, 1, NOW));
    CHECK_OK(t, sotto_sqlite_run(p.two->db, "BEGIN", "reader", &t->err));
    CHECK_OK(t, sotto_sqlite_number(p.two->db, &rows, "SELECT count(*) FROM record", "r", &t->err));
    CHECK_STATUS(t, SOTTO_AGAIN, sotto_outbox_send(p.one, &transport, NOW, NULL, &t->err));
    CHECK_EQUAL(t, 0, wire.calls);
    lose_power(&p, 0);
    check_sent(&p); /* that it left was not on the disk, nor known to the witness */
    CHECK_EQUAL(t, 1, wire.calls);
}

/* ---- opening ------------------------------------------------------------------------------------------------ */

/* A report is acknowledged, and one step of the disk fails; it may be the one that was to make that durable. */
static void send_on_a_failing_disk(pair *p, int64_t at)
{
    sotto_test_wire wire = {.answer = SOTTO_DELIVERY_ACCEPTED};
    const sotto_transport transport = sotto_test_transport(&wire);
    const sotto_charge charge = sotto_test_charge(p->t, "a", "0.3");
    const sotto_report report = sotto_test_report(p->t, 1);
    sotto_status status;

    sotto_powerloss_fail_at(at, false, false);
    if (open_one(p, &p->one, NULL) != SOTTO_OK)
        return;
    status = sotto_ledger_spend(p->one, &charge, &report, NOW, NULL, NULL);
    if (status == SOTTO_OK)
        status = sotto_outbox_send(p->one, &transport, NOW, NULL, NULL);
    (void)status;
}

static void whoever_opens_a_ledger_tells_what_is_on_the_disk(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "ledger.db");
    bool reached = true;

    for (int64_t at = 0; reached; at++) {
        pair p = {.t = t, .path = path};

        CHECK(t, at < MOST_STEPS);
        start_over(&p);
        send_on_a_failing_disk(&p, at);
        reached = (int64_t)sotto_powerloss_steps() > at;
        sotto_powerloss_fail_at(-1, false, false);
        CHECK_OK(t, open_one(&p, &p.two, &t->err)); /* the other one, or the first anew */
        lose_power(&p, 0);
        check_open(&p);
    }
}

/* ---- sending ------------------------------------------------------------------------------------------------ */

/* The other one records that something left, or was acknowledged, which it does not wait for. */
static void commit_unwaited(pair *p)
{
    p->two->hurried = true;
    CHECK_OK(p->t, sotto_ledger_begin(p->two, &p->t->err));
    CHECK_OK(p->t, sotto_ledger_end(p->two, SOTTO_OK, &p->t->err));
    p->two->hurried = false;
}

/* As a process that looks where the ledger stands a moment later would find it. */
static int before_a_look(unsigned what, void *context, void *statement, void *sql)
{
    pair *p = context;

    (void)what, (void)statement;
    if (strncmp(sql, "SELECT generation", 17) == 0 && p->left-- == 0)
        commit_unwaited(p);
    return 0;
}

static sotto_status read_counter(void *context, uint64_t *generation, sotto_err *err)
{
    (void)err;
    *generation = ((const pair *)context)->host.generation;
    return SOTTO_OK;
}

/* The WAL that was cut may come back: what it held is in the database. */
static sotto_status raise_counter(void *context, uint64_t generation, sotto_err *err)
{
    pair *p = context;

    (void)err;
    p->told_all = p->told_all && sotto_powerloss_unsynced("-wal") <= 1 &&
                  sotto_powerloss_unsynced("ledger.db") == 0;
    p->host.generation = generation > p->host.generation ? generation : p->host.generation;
    return SOTTO_OK;
}

static void open_two(pair *p)
{
    const sotto_witness witness = {read_counter, raise_counter, p};
    const sotto_ledger_options options = {.storage = &sotto_powerloss_storage,
                                          .path = p->path,
                                          .witnesses = &witness,
                                          .witness_count = 1};

    CHECK_OK(p->t, sotto_test_open_ledger(&p->two, &sotto_powerloss_storage, p->path, NULL,
                                          &sotto_test_wide, &p->t->err));
    CHECK_OK(p->t, sotto_ledger_open(&p->one, &options, &p->t->err));
    CHECK_OK(p->t,
             sotto_ledger_adopt(p->one, &sotto_test_wide, &sotto_test_recompute, NOW, &p->t->err));
}

static void a_retry_tells_what_is_on_the_disk(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "ledger.db");

    for (int moment = 0; moment < 4; moment++) {
        pair p = {.t = t, .path = path, .left = MOST_STEPS, .told_all = true};
        sotto_test_wire wire = {.answer = SOTTO_DELIVERY_LATER};
        const sotto_transport transport = sotto_test_transport(&wire);
        const sotto_charge charge = sotto_test_charge(t, "a", "0.3");

        start_over(&p);
        open_two(&p);
        CHECK_OK(t, sotto_test_spend(t, p.one, &charge, 1, NOW));
        CHECK_OK(t, sotto_outbox_send(p.one, &transport, NOW, NULL, &t->err));
        p.left = moment;
        CHECK(t, sqlite3_trace_v2(p.one->db, SQLITE_TRACE_STMT, before_a_look, &p) == SQLITE_OK);
        CHECK_OK(t, sotto_outbox_send(p.one, &transport, NOW, NULL, &t->err));
        CHECK_EQUAL(t, 2, wire.calls);
        CHECK(t, p.told_all);
        CHECK(t, moment > 1 || p.left < 0);
        CHECK(t, sqlite3_trace_v2(p.one->db, 0, NULL, NULL) == SQLITE_OK);
        lose_power(&p, 0);
        check_open(&p);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(no_power_loss_leaves_less_spent_than_two_sent),
        CASE(nothing_leaves_while_a_reader_holds_on_to_the_wal),
        CASE(whoever_opens_a_ledger_tells_what_is_on_the_disk),
        CASE(a_retry_tells_what_is_on_the_disk),
    };
    return RUN_TESTS(argc, argv, cases);
}
