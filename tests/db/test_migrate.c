/* Migrations, on both databases. */
#include "db/migrate.h"
#include "support/database.h"

#include <pthread.h>
#include <stdio.h>

static const sotto_migration steps[] = {
    {1, "CREATE TABLE a (x {int} NOT NULL, y {bytes}) {strict}; INSERT INTO a (x) VALUES (1);"},
    {2, "CREATE TABLE b (id {id}, z TEXT) {strict}; CREATE INDEX b_z ON b (z);"
        "UPDATE a SET x = x + 1;"},
    {3, "ALTER TABLE a ADD COLUMN w {int}; UPDATE a SET w = x * 10;"},
};
static const sotto_migration broken[] = {
    {1, "CREATE TABLE a (x {int} NOT NULL) {strict};"},
    {2, "CREATE TABLE b (x {int}) {strict}; INSERT INTO absent VALUES (1);"},
};
static const sotto_migration misnumbered[] = {{1, ""}, {3, ""}};

static int64_t version(sotto_test *t, sotto_db *db)
{
    int64_t number = -1;

    CHECK_OK(t, sotto_db_version(db, &number, &t->err));
    return number;
}

static void steps_are_taken_in_order_and_once(sotto_test *t)
{
    sotto_db *db = sotto_test_db_at(t, sotto_test_address(t));

    CHECK_EQUAL(t, 0, version(t, db));
    CHECK_OK(t, sotto_db_migrate(db, steps, 1, &t->err));
    CHECK_EQUAL(t, 1, version(t, db));
    CHECK_OK(t, sotto_db_migrate(db, steps, 3, &t->err));
    CHECK_OK(t, sotto_db_migrate(db, steps, 3, &t->err));
    CHECK_EQUAL(t, 3, version(t, db));
    CHECK_EQUAL(t, 20, sotto_test_ask_number(t, db, "SELECT w FROM a"));
    CHECK_OK(t, sotto_db_run(db, sotto_test_say, "INSERT INTO b (z) VALUES ('x'), ('y')", &t->err));
    CHECK_EQUAL(t, 2, sotto_test_ask_number(t, db, "SELECT max(id) FROM b"));
    sotto_db_close(db);
}

static void a_newer_schema_is_refused(sotto_test *t)
{
    sotto_db *db = sotto_test_db_at(t, sotto_test_address(t));

    CHECK_OK(t, sotto_db_migrate(db, steps, 3, &t->err));
    CHECK_STATUS(t, SOTTO_STALE, sotto_db_migrate(db, steps, 2, &t->err));
    CHECK_EQUAL(t, 3, version(t, db));
    sotto_db_close(db);
}

static void a_step_that_fails_takes_all_of_them_back(sotto_test *t)
{
    sotto_db *db = sotto_test_db_at(t, sotto_test_address(t));

    CHECK_STATUS(t, SOTTO_BUG, sotto_db_migrate(db, broken, 2, &t->err));
    CHECK_EQUAL(t, 0, version(t, db));
    CHECK_OK(t, sotto_db_migrate(db, steps, 3, &t->err)); /* table a is not there */
    CHECK_STATUS(t, SOTTO_BUG, sotto_db_migrate(db, misnumbered, 2, &t->err));
    sotto_db_close(db);
}

enum { REPLICAS = 6 };

typedef struct replica {
    const char *address;
    sotto_status status;
} replica;

static void *start(void *context)
{
    replica *r = context;
    const sotto_db_options options = {.address = r->address, .writers = 1};
    sotto_db *db;

    r->status = sotto_db_open(&db, &options, NULL);
    if (r->status == SOTTO_OK)
        r->status = sotto_db_migrate(db, steps, 3, NULL);
    sotto_db_close(db);
    return NULL;
}

static void start_all(sotto_test *t, const char *address)
{
    pthread_t threads[REPLICAS];
    replica replicas[REPLICAS];

    for (size_t i = 0; i < REPLICAS; i++) {
        replicas[i] = (replica){.address = address};
        CHECK(t, pthread_create(&threads[i], NULL, start, &replicas[i]) == 0);
    }
    for (size_t i = 0; i < REPLICAS; i++) {
        CHECK(t, pthread_join(threads[i], NULL) == 0);
        CHECK_EQUAL(t, SOTTO_OK, replicas[i].status);
    }
    sotto_db *db = sotto_test_db_at(t, address);
    CHECK_EQUAL(t, 20, sotto_test_ask_number(t, db, "SELECT CAST(sum(w) AS BIGINT) FROM a"));
    sotto_db_close(db);
}

static void replicas_may_start_at_once(sotto_test *t)
{
    start_all(t, sotto_test_address(t));
}

/* Whoever opens it first makes the file ours and turns it to WAL, and the others may see it at any step of that. One
 * round in ten met one that SQLite does not wait for. */
static void a_new_file_may_be_opened_by_many_at_once(sotto_test *t)
{
    char name[32], address[300];

    for (int i = 0; i < 100; i++) {
        (void)snprintf(name, sizeof name, "store-%d.db", i);
        (void)snprintf(address, sizeof address, "sqlite:%s", sotto_test_temp(t, name));
        start_all(t, address);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(steps_are_taken_in_order_and_once),        CASE(a_newer_schema_is_refused),
        CASE(a_step_that_fails_takes_all_of_them_back), CASE(replicas_may_start_at_once),
        CASE(a_new_file_may_be_opened_by_many_at_once),
    };
    return RUN_TESTS(argc, argv, cases);
}
