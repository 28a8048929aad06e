/* A no, a `forget` or a reset that could not finish, because a reader, another process or the disk was in its way.
 * Nothing leaves because of that, and nothing that was spent is lost. */
#define _POSIX_C_SOURCE 200809L

#include "support/devices.h"
#include "support/powerloss_vfs.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static sotto_test_phone one, two;

/* One directory for all the files of this program. */
static const char *name_file(sotto_test *t, const char *what, unsigned number)
{
    enum { NAME = 128 };
    static const char *directory;
    char *name = sotto_test_take(t, NAME);

    directory = directory ? directory : sotto_test_directory(t);
    (void)snprintf(name, NAME, "%s/%s-%u", directory, what, number);
    return name;
}

/* With consent and one recipe to answer. */
static void start(sotto_test *t, const sotto_storage *storage)
{
    static unsigned started;

    sotto_test_phone_init(t, &one, sotto_test_generous_policy);
    one.options.events = name_file(t, "events", ++started);
    one.options.ledger = name_file(t, "ledger", started);
    sotto_test_phone_in_files(&one);
    one.options.storage = storage;
    sotto_test_phone_open(&one);
    CHECK_OK(t, sotto_device_consent(one.device, true, &t->err));
    CHECK_OK(t, sotto_test_phone_type(&one, 1, 35, "i went home"));
    CHECK_OK(t,
             sotto_device_offer(one.device, sotto_test_sure_recipe(t, "a", NULL, NULL), &t->err));
}

/* Another program's connection, which stays where this SQL leaves it. */
static sqlite3 *hold(sotto_test *t, const char *path, const char *sql)
{
    sqlite3 *db;

    CHECK(t, sqlite3_open(path, &db) == SQLITE_OK);
    CHECK(t, sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
    return db;
}

static void let_go(sotto_test *t, sqlite3 *db)
{
    CHECK(t, sqlite3_close(db) == SQLITE_OK);
}

/* ---- forgetting ------------------------------------------------------------------------------------------- */

static void what_is_forgotten_does_not_leave_while_a_reader_keeps_its_bytes(sotto_test *t)
{
    start(t, NULL);
    one.answer = SOTTO_DELIVERY_LATER;
    CHECK_EQUAL(t, 1, sotto_test_tick(&one).waiting);
    sqlite3 *reader = hold(t, one.options.events, "BEGIN; SELECT count(*) FROM keyboard_ngrams");
    CHECK_STATUS(t, SOTTO_AGAIN, sotto_device_forget(one.device, NULL, &t->err));
    CHECK_EQUAL(t, 1, sotto_test_lines(&one, NULL, SOTTO_RECORD_FORGOTTEN));
    CHECK_STATUS(t, SOTTO_AGAIN, sotto_device_forget(one.device, "keyboard_ngrams", &t->err));
    CHECK_EQUAL(t, 2, sotto_test_lines(&one, NULL, SOTTO_RECORD_FORGOTTEN));
    CHECK_STATUS(t, SOTTO_MISSING, sotto_device_forget(one.device, "nothing", &t->err));
    CHECK_EQUAL(t, 2, sotto_test_lines(&one, NULL, SOTTO_RECORD_FORGOTTEN));
    let_go(t, reader);
    one.answer = SOTTO_DELIVERY_ACCEPTED;
    CHECK_EQUAL(t, 0, sotto_test_tick(&one).waiting);
    CHECK_EQUAL(t, 1, one.sends);
    CHECK_EQUAL(t, 1, sotto_test_lines(&one, "a", SOTTO_RECORD_GIVEN_UP));
    sotto_test_phone_close(&one);
}

/* ---- resetting -------------------------------------------------------------------------------------------- */

/* A second process over the files of the first. */
static void start_second(sotto_test *t)
{
    sotto_test_phone_init(t, &two, sotto_test_generous_policy);
    two.options.events = one.options.events;
    two.options.ledger = one.options.ledger;
    two.options.storage = one.options.storage;
    sotto_test_phone_in_files(&two);
    two.counter = one.counter;
    sotto_test_phone_open(&two);
}

/* Whatever the other process could still send is in the record when the reset has ended. */
static void nothing_is_spent_past_a_reset_that_was_interrupted(sotto_test *t)
{
    const sotto_conditions good = {true, true, true};
    uint64_t stopped = 0;
    bool done = false;

    for (int64_t at = 0; !done; at++) {
        sotto_powerloss_start();
        start(t, &sotto_powerloss_storage);
        start_second(t);
        sotto_powerloss_fail_at((int64_t)sotto_powerloss_steps() + at, true, true);
        done = sotto_device_reset(two.device, NULL) == SOTTO_OK;
        sotto_powerloss_fail_at(-1, false, false);
        sotto_status status = sotto_device_tick(one.device, NULL, good, &t->err);
        CHECK(t, status == SOTTO_OK || (status == SOTTO_DENIED && one.sends == 0));
        stopped += status == SOTTO_DENIED;
        sotto_test_phone_close(&one);
        if (!done)
            CHECK_OK(t, sotto_device_reset(two.device, &t->err));
        CHECK_EQUAL(t, one.sends, sotto_test_lines(&two, "a", SOTTO_RECORD_SPENT));
        sotto_test_phone_close(&two);
        CHECK(t, at < 1000);
    }
    CHECK(t, stopped > 10);
}

/* Another process, which runs `sql` in a transaction when it is told to, and says so. It commits a while after a file
 * of this name appears, which tells it that somebody is about to wait for it. */
typedef struct writer {
    pid_t pid;
    int tell, told;
} writer;

static void write_slowly(const char *path, const char *sql, const char *until, int told, int tell)
{
    const struct timespec moment = {.tv_nsec = 5000000}, a_while = {.tv_nsec = 800000000};
    char go;
    sqlite3 *db = NULL;
    bool good = read(told, &go, 1) == 1 && sqlite3_open(path, &db) == SQLITE_OK &&
                sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK &&
                sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK && write(tell, &go, 1) == 1;

    for (int i = 0; good && i < 4000 && access(until, F_OK) != 0; i++)
        (void)nanosleep(&moment, NULL);
    (void)nanosleep(&a_while, NULL);
    _exit(good && sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK ? 0 : 1);
}

static writer start_writer(sotto_test *t, const char *path, const char *sql, const char *until)
{
    int there[2] = {-1, -1}, back[2] = {-1, -1};

    CHECK(t, pipe(there) == 0 && pipe(back) == 0);
    writer w = {.pid = fork(), .tell = there[1], .told = back[0]};
    CHECK(t, w.pid >= 0);
    if (w.pid == 0)
        write_slowly(path, sql, until, there[0], back[1]);
    (void)close(there[0]);
    (void)close(back[1]);
    return w;
}

static void let_it_begin(sotto_test *t, const writer *w)
{
    char byte = 0;

    CHECK(t, write(w->tell, &byte, 1) == 1 && read(w->told, &byte, 1) == 1);
}

static void end_writer(sotto_test *t, const writer *w)
{
    int status;

    CHECK(t,
          waitpid(w->pid, &status, 0) == w->pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    (void)close(w->tell);
    (void)close(w->told);
}

static void a_reset_waits_for_a_transaction_that_was_begun(sotto_test *t)
{
    char fresh[1024];

    start(t, NULL);
    CHECK_EQUAL(t, 1, sotto_test_tick(&one).made);
    sotto_test_phone_close(&one); /* no connection goes along when a process forks */
    (void)snprintf(fresh, sizeof fresh, "%s.new", one.options.ledger);
    const writer w = start_writer(t, one.options.ledger,
                                  "INSERT INTO record SELECT NULL,at,kind,recipe,analysis,fields,"
                                  "note,round,report,randomised,epsilon,delta,local,bytes"
                                  " FROM record WHERE recipe='a'",
                                  fresh);
    sotto_test_phone_open(&one);
    let_it_begin(t, &w);
    CHECK_OK(t, sotto_device_reset(one.device, &t->err));
    end_writer(t, &w);
    CHECK_EQUAL(t, 2, sotto_test_lines(&one, "a", SOTTO_RECORD_SPENT));
    sotto_test_phone_close(&one);
}

/* A damaged generation near the end of the numbers would leave no room above it. */
static void a_reset_builds_on_nothing_that_is_damaged(sotto_test *t)
{
    start(t, NULL);
    sotto_test_phone_close(&one);
    let_go(t, hold(t, one.options.ledger, "UPDATE meta SET generation=-40"));
    sotto_test_phone_open(&one);
    CHECK(t, sotto_device_closed(one.device) != NULL);
    uint64_t before = one.counter;
    CHECK_OK(t, sotto_device_reset(one.device, &t->err));
    CHECK(t, sotto_device_closed(one.device) == NULL);
    CHECK(t, one.counter > before && one.counter < before + 10);
    sotto_test_phone_close(&one);
}

static void a_reset_does_not_give_the_record_up_for_a_passing_error(sotto_test *t)
{
    static const char alone[] =
        "PRAGMA locking_mode=EXCLUSIVE; BEGIN IMMEDIATE; UPDATE meta SET id=id;"
        " COMMIT; BEGIN; SELECT * FROM meta";

    for (int patient = 0; patient < 2; patient++) {
        start(t, NULL);
        CHECK_EQUAL(t, 1, sotto_test_tick(&one).made);
        sotto_test_phone_close(&one);
        let_go(t, hold(t, one.options.ledger, "UPDATE accounts SET epsilon=0"));
        sotto_test_phone_open(&one);
        CHECK(t, sotto_device_closed(one.device) != NULL);
        sqlite3 *other = hold(t, one.options.ledger, alone);
        CHECK_STATUS(t, SOTTO_IO, sotto_device_reset(one.device, &t->err));
        CHECK_REASON(t, "can't be read now");
        if (patient)
            let_go(t, other);
        CHECK_OK(t, sotto_device_reset(one.device, &t->err));
        CHECK_EQUAL(t, patient, sotto_test_lines(&one, "a", SOTTO_RECORD_SPENT));
        if (!patient)
            let_go(t, other);
        sotto_test_phone_close(&one);
    }
}

static void a_reset_that_opens_nothing_says_so(sotto_test *t)
{
    start(t, NULL);
    one.counter = UINT64_MAX; /* which no ledger can reach */
    CHECK_STATUS(t, SOTTO_DENIED, sotto_device_reset(one.device, &t->err));
    CHECK(t, sotto_device_closed(one.device) != NULL);
    sotto_test_phone_close(&one);
}

static void a_stream_that_is_declared_meanwhile_is_forgotten_too(sotto_test *t)
{
    start(t, NULL);
    sotto_test_phone_close(&one);
    const writer w = start_writer(
        t, one.options.events,
        "CREATE TABLE other AS SELECT * FROM keyboard_ngrams; INSERT INTO sotto_streams"
        " SELECT 'other', fields, max_age, max_rows FROM sotto_streams LIMIT 1",
        one.options.events);
    sotto_test_phone_open(&one);
    let_it_begin(t, &w);
    CHECK_OK(t, sotto_device_forget(one.device, NULL, &t->err));
    end_writer(t, &w);
    sotto_test_phone_close(&one);
    /* Fails if a row is left. */
    let_go(
        t,
        hold(t, one.options.events,
             "CREATE TEMP TABLE none(n CHECK(n=0)); INSERT INTO none SELECT count(*) FROM other"));
}

/* ---- withdrawing ------------------------------------------------------------------------------------------ */

static void a_yes_does_not_hide_a_no_that_could_not_be_written(sotto_test *t)
{
    sotto_powerloss_start();
    start(t, &sotto_powerloss_storage);
    sotto_powerloss_fail_at((int64_t)sotto_powerloss_steps(), true, true);
    CHECK_STATUS(t, SOTTO_IO, sotto_device_consent(one.device, false, &t->err));
    CHECK_STATUS(t, SOTTO_IO, sotto_device_consent(one.device, true, &t->err));
    sotto_powerloss_fail_at(-1, false, false);
    CHECK_OK(t, sotto_device_consent(one.device, true, &t->err));
    CHECK_EQUAL(t, 1, sotto_test_lines(&one, NULL, SOTTO_RECORD_WITHDRAWN));
    CHECK_EQUAL(t, 2, sotto_test_lines(&one, NULL, SOTTO_RECORD_CONSENTED));
    CHECK_EQUAL(t, 1, sotto_test_tick(&one).made);
    sotto_test_phone_close(&one);
}

/* Of the ledger's WAL; 0 also for none. */
static int64_t wal_bytes(sotto_test *t)
{
    char name[160];
    struct stat info;

    (void)snprintf(name, sizeof name, "%s-wal", one.options.ledger);
    if (stat(name, &info) == 0)
        return (int64_t)info.st_size;
    CHECK(t, errno == ENOENT);
    return 0;
}

static void a_tick_erases_what_lingers_after_a_no(sotto_test *t)
{
    start(t, NULL);
    one.answer = SOTTO_DELIVERY_LATER;
    CHECK_EQUAL(t, 1, sotto_test_tick(&one).waiting);
    sqlite3 *reader = hold(t, one.options.ledger, "BEGIN; SELECT count(*) FROM record");
    CHECK_STATUS(t, SOTTO_AGAIN, sotto_device_consent(one.device, false, &t->err));
    let_go(t, reader);
    CHECK(t, wal_bytes(t) > 0);
    CHECK_EQUAL(t, 0, sotto_test_tick(&one).waiting);
    CHECK(t, wal_bytes(t) == 0);
    sotto_test_phone_close(&one);
}

/* The process ends before a tick could: another one's connection keeps the WAL. */
static void the_next_process_erases_what_lingers(sotto_test *t)
{
    start(t, NULL);
    one.answer = SOTTO_DELIVERY_LATER;
    CHECK_EQUAL(t, 1, sotto_test_tick(&one).waiting);
    sqlite3 *reader = hold(t, one.options.ledger, "BEGIN; SELECT count(*) FROM record");
    CHECK_STATUS(t, SOTTO_AGAIN, sotto_device_consent(one.device, false, &t->err));
    sotto_test_phone_close(&one);
    CHECK(t, wal_bytes(t) > 0);
    CHECK(t, sqlite3_exec(reader, "COMMIT", NULL, NULL, NULL) == SQLITE_OK);
    sotto_test_phone_open(&one);
    CHECK_EQUAL(t, 0, sotto_test_tick(&one).waiting);
    CHECK(t, wal_bytes(t) == 0);
    let_go(t, reader);
    sotto_test_phone_close(&one);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(what_is_forgotten_does_not_leave_while_a_reader_keeps_its_bytes),
        CASE(nothing_is_spent_past_a_reset_that_was_interrupted),
        CASE(a_reset_waits_for_a_transaction_that_was_begun),
        CASE(a_reset_builds_on_nothing_that_is_damaged),
        CASE(a_reset_does_not_give_the_record_up_for_a_passing_error),
        CASE(a_reset_that_opens_nothing_says_so),
        CASE(a_stream_that_is_declared_meanwhile_is_forgotten_too),
        CASE(a_yes_does_not_hide_a_no_that_could_not_be_written),
        CASE(a_tick_erases_what_lingers_after_a_no),
        CASE(the_next_process_erases_what_lingers),
    };
    return RUN_TESTS(argc, argv, cases);
}
