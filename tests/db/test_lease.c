/* Leases, on both databases: work is held by one at a time, and who comes too late changes nothing. */
#define _XOPEN_SOURCE 700

#include "db/lease.h"
#include "support/database.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { QUEUE = 3, SHORT_MS = 150, LONG_MS = 60000 };

static void sleep_ms(long ms)
{
    const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};

    (void)nanosleep(&pause, NULL);
}

typedef struct claim {
    int64_t duration;
    size_t most, count;
    sotto_lease leases[64];
} claim;

static sotto_status do_claim(sotto_tx *tx, void *context, sotto_err *err)
{
    claim *c = context;

    return sotto_lease_claim(tx, c->leases, c->most, &c->count, QUEUE, c->duration, err);
}

typedef struct addition {
    const char *item;
    int64_t delay;
} addition;

static sotto_status do_add(sotto_tx *tx, void *context, sotto_err *err)
{
    const addition *a = context;

    return sotto_lease_add(tx, QUEUE, sotto_bytes_of(a->item, strlen(a->item)), a->delay, err);
}

static void add(sotto_test *t, sotto_db *db, const char *item, int64_t delay)
{
    addition a = {item, delay};

    CHECK_OK(t, sotto_db_run(db, do_add, &a, &t->err));
}

static claim claim_up_to(sotto_test *t, sotto_db *db, size_t most, int64_t duration)
{
    claim c = {.most = most, .duration = duration};

    CHECK_OK(t, sotto_db_run(db, do_claim, &c, &t->err));
    return c;
}

/* Stores an outcome, as the holder of a lease does. */
typedef struct outcome {
    sotto_lease lease;
    sotto_test_thing thing;
    bool finish;
} outcome;

static sotto_status do_store(sotto_tx *tx, void *context, sotto_err *err)
{
    outcome *o = context;

    SOTTO_TRY(sotto_lease_check(tx, &o->lease, err));
    SOTTO_TRY(sotto_test_put(tx, &o->thing, err));
    return o->finish ? sotto_lease_finish(tx, &o->lease, err) : SOTTO_OK;
}

static void an_item_is_held_by_one_until_it_is_finished(sotto_test *t)
{
    sotto_db *db = sotto_test_db(t);

    add(t, db, "a", 0);
    add(t, db, "a", 0); /* queued once */
    add(t, db, "b", LONG_MS);
    claim c = claim_up_to(t, db, 8, LONG_MS);
    CHECK_EQUAL(t, 1, c.count);
    CHECK(t, c.leases[0].item_len == 1 && c.leases[0].item[0] == 'a');
    CHECK_EQUAL(t, 1, c.leases[0].fence);
    CHECK_EQUAL(t, 1, c.leases[0].attempts);
    CHECK_EQUAL(t, 0, claim_up_to(t, db, 8, LONG_MS).count);
    outcome o = {.lease = c.leases[0], .thing = {1, 1}, .finish = true};
    CHECK_OK(t, sotto_db_run(db, do_store, &o, &t->err));
    CHECK_STATUS(t, SOTTO_STALE, sotto_db_run(db, do_store, &o, &t->err));
    CHECK_EQUAL(t, 1, sotto_test_ask_number(t, db, "SELECT count(*) FROM sotto_lease"));
    sotto_db_close(db);
}

static void a_late_holder_changes_nothing(sotto_test *t)
{
    sotto_db *db = sotto_test_db(t);

    add(t, db, "a", 0);
    claim first = claim_up_to(t, db, 1, SHORT_MS);
    sleep_ms(SHORT_MS + 50);
    outcome late = {.lease = first.leases[0], .thing = {1, 111}};
    /* Its time is up, though nobody has claimed it since. */
    CHECK_STATUS(t, SOTTO_STALE, sotto_db_run(db, do_store, &late, &t->err));
    claim second = claim_up_to(t, db, 1, LONG_MS);
    CHECK_EQUAL(t, 1, second.count);
    CHECK(t, second.leases[0].fence > first.leases[0].fence);
    CHECK_EQUAL(t, 2, second.leases[0].attempts);
    /* Somebody holds it again, and the time is not up: only the number tells them apart. */
    CHECK_STATUS(t, SOTTO_STALE, sotto_db_run(db, do_store, &late, &t->err));
    late.finish = true;
    CHECK_STATUS(t, SOTTO_STALE, sotto_db_run(db, do_store, &late, &t->err));
    CHECK_EQUAL(t, 0, sotto_test_ask_number(t, db, "SELECT count(*) FROM things"));
    outcome right = {.lease = second.leases[0], .thing = {1, 222}, .finish = true};
    CHECK_OK(t, sotto_db_run(db, do_store, &right, &t->err));
    CHECK_EQUAL(t, 222, sotto_test_ask_number(t, db, "SELECT number FROM things"));
    sotto_db_close(db);
}

static sotto_status do_finish(sotto_tx *tx, void *context, sotto_err *err)
{
    return sotto_lease_finish(tx, context, err);
}

static sotto_status do_extend(sotto_tx *tx, void *context, sotto_err *err)
{
    return sotto_lease_extend(tx, context, LONG_MS, err);
}

static sotto_status do_release(sotto_tx *tx, void *context, sotto_err *err)
{
    return sotto_lease_release(tx, context, 0, err);
}

static void every_verb_checks_the_fence_and_the_time(sotto_test *t)
{
    static sotto_db_fn *const verbs[] = {do_finish, do_extend, do_release};
    sotto_db *db = sotto_test_db(t);

    add(t, db, "a", 0);
    claim c = claim_up_to(t, db, 1, SHORT_MS);
    sleep_ms(SHORT_MS + 50);
    for (size_t i = 0; i < 3; i++)
        CHECK_STATUS(t, SOTTO_STALE, sotto_db_run(db, verbs[i], &c.leases[0], &t->err));
    claim d = claim_up_to(t, db, 1, LONG_MS);
    for (size_t i = 0; i < 3; i++)
        CHECK_STATUS(t, SOTTO_STALE, sotto_db_run(db, verbs[i], &c.leases[0], &t->err));
    int64_t until = d.leases[0].until;
    sleep_ms(5);
    CHECK_OK(t, sotto_db_run(db, do_extend, &d.leases[0], &t->err));
    CHECK(t, d.leases[0].until > until);
    CHECK_OK(t, sotto_db_run(db, do_release, &d.leases[0], &t->err));
    CHECK_STATUS(t, SOTTO_STALE, sotto_db_run(db, do_finish, &d.leases[0], &t->err));
    CHECK_EQUAL(t, 1, claim_up_to(t, db, 1, LONG_MS).count);
    sotto_db_close(db);
}

static sotto_status do_hurry(sotto_tx *tx, void *context, sotto_err *err)
{
    return sotto_lease_hurry(tx, QUEUE, sotto_bytes_of(context, strlen(context)), err);
}

static void a_delay_can_be_cut_short_and_a_lease_can_not(sotto_test *t)
{
    sotto_db *db = sotto_test_db(t);

    add(t, db, "a", LONG_MS);
    CHECK_EQUAL(t, 0, claim_up_to(t, db, 1, LONG_MS).count);
    CHECK_OK(t, sotto_db_run(db, do_hurry, "a", &t->err));
    CHECK_EQUAL(t, 1, claim_up_to(t, db, 1, LONG_MS).count);
    CHECK_OK(t, sotto_db_run(db, do_hurry, "a", &t->err));
    CHECK_EQUAL(t, 0, claim_up_to(t, db, 1, LONG_MS).count);
    sotto_db_close(db);
}

/* ---- many at once ------------------------------------------------------------------------------------ */

enum { ITEMS = 60, THREADS = 6 };

typedef struct hand {
    sotto_db *db;
    unsigned seen[ITEMS];
    unsigned failures;
} hand;

/* SQLite's clock is the machine's, and that may be set back. */
static void a_lease_from_a_time_to_come_is_not_waited_for(sotto_test *t)
{
    sotto_db *db = sotto_test_db(t);
    static char ahead[] = "UPDATE sotto_lease SET ready_at = ready_at + 7200000";

    add(t, db, "one", 0);
    CHECK_EQUAL(t, 1, claim_up_to(t, db, 1, LONG_MS).count);
    CHECK_EQUAL(t, 0, claim_up_to(t, db, 1, LONG_MS).count);
    CHECK_OK(t, sotto_db_run(db, sotto_test_say, ahead, &t->err));
    CHECK_EQUAL(t, 1, claim_up_to(t, db, 1, LONG_MS).count);
    CHECK_EQUAL(t, 0, claim_up_to(t, db, 1, LONG_MS).count);
    sotto_db_close(db);
}

static void *claim_all(void *context)
{
    hand *h = context;

    for (;;) {
        claim c = {.most = 3, .duration = LONG_MS};

        if (sotto_db_run(h->db, do_claim, &c, NULL) != SOTTO_OK || c.count > 3)
            h->failures++;
        if (c.count == 0)
            return NULL;
        for (size_t i = 0; i < c.count && i < 3; i++)
            h->seen[c.leases[i].item[0] - '0']++;
    }
}

static void no_item_is_claimed_twice(sotto_test *t)
{
    sotto_db *db = sotto_test_db(t);
    pthread_t threads[THREADS];
    hand hands[THREADS] = {0};
    unsigned total = 0;

    for (char i = 0; i < ITEMS; i++)
        add(t, db, (char[]){(char)('0' + i), 0}, 0);
    for (size_t i = 0; i < THREADS; i++) {
        hands[i].db = db;
        CHECK(t, pthread_create(&threads[i], NULL, claim_all, &hands[i]) == 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        CHECK(t, pthread_join(threads[i], NULL) == 0);
        CHECK_EQUAL(t, 0, hands[i].failures);
    }
    for (size_t k = 0; k < ITEMS; k++) {
        unsigned times = 0;
        for (size_t i = 0; i < THREADS; i++)
            times += hands[i].seen[k];
        CHECK(t, times <= 1);
        total += times;
    }
    /* Those that another was claiming at that moment were passed over, and are still there. */
    CHECK_EQUAL(t, ITEMS - total, claim_up_to(t, db, ITEMS, LONG_MS).count);
    sotto_db_close(db);
}

/* ---- a replica that is stopped ------------------------------------------------------------------------ */

/* A process of its own: claims, is stopped, and tries to store its outcome when it wakes. */
static int stopped_replica(const char *address)
{
    const sotto_db_options options = {.address = address, .writers = 1};
    claim c = {.most = 1, .duration = SHORT_MS};
    sotto_db *db;

    if (sotto_db_open(&db, &options, NULL) != SOTTO_OK ||
        sotto_db_run(db, do_claim, &c, NULL) != SOTTO_OK || c.count != 1)
        return 99;
    (void)raise(SIGSTOP);
    outcome o = {.lease = c.leases[0], .thing = {1, 111}, .finish = true};
    sotto_status status = sotto_db_run(db, do_store, &o, NULL);
    sotto_db_close(db);
    return (int)status;
}

static void a_replica_that_was_stopped_changes_nothing(sotto_test *t)
{
    const char *address = sotto_test_address(t);
    sotto_db *db = sotto_test_db_at(t, address);
    int status = 0;

    CHECK_OK(t, sotto_test_schema(db, &t->err));
    add(t, db, "a", 0);
    sotto_db_close(db); /* a process with threads or connections should not fork */
    pid_t child = fork();
    if (child == 0)
        _exit(stopped_replica(address));
    CHECK(t, child > 0 && waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
    sleep_ms(SHORT_MS + 50);
    db = sotto_test_db_at(t, address);
    claim c = claim_up_to(t, db, 1, LONG_MS);
    CHECK_EQUAL(t, 1, c.count);
    outcome o = {.lease = c.leases[0], .thing = {1, 222}, .finish = false};
    CHECK_OK(t, sotto_db_run(db, do_store, &o, &t->err));
    CHECK(t, kill(child, SIGCONT) == 0);
    CHECK(t, waitpid(child, &status, 0) == child && WIFEXITED(status));
    CHECK_EQUAL(t, SOTTO_STALE, WEXITSTATUS(status));
    CHECK_EQUAL(t, 222, sotto_test_ask_number(t, db, "SELECT number FROM things"));
    CHECK_OK(t, sotto_db_run(db, do_finish, &c.leases[0], &t->err));
    sotto_db_close(db);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(an_item_is_held_by_one_until_it_is_finished),
        CASE(a_late_holder_changes_nothing),
        CASE(every_verb_checks_the_fence_and_the_time),
        CASE(a_lease_from_a_time_to_come_is_not_waited_for),
        CASE(a_delay_can_be_cut_short_and_a_lease_can_not),
        CASE(no_item_is_claimed_twice),
        CASE(a_replica_that_was_stopped_changes_nothing),
    };
    return RUN_TESTS(argc, argv, cases);
}
