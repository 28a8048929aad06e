/* support/database.h - an empty database for a test: a file, or a schema of the server at $SOTTO_POSTGRES. */
#ifndef SOTTO_TESTS_SUPPORT_DATABASE_H
#define SOTTO_TESTS_SUPPORT_DATABASE_H

#include "db/store.h"
#include "support/directory.h"

#include <pthread.h>

/* Whether this run is about PostgreSQL. */
bool sotto_test_on_postgres(void);

/* The address of a new, empty database. */
const char *sotto_test_address(sotto_test *t);
sotto_db *sotto_test_db_at(sotto_test *t, const char *address);
/* Both, with a table `things (id {int} PRIMARY KEY, number {int}, body {bytes}, name TEXT)`, and leases. */
sotto_db *sotto_test_db(sotto_test *t);
/* The schema alone. */
sotto_status sotto_test_schema(sotto_db *db, sotto_err *err);

/* Puts, or replaces, one thing. */
typedef struct sotto_test_thing {
    int64_t id;
    int64_t number;
} sotto_test_thing;
sotto_status sotto_test_put(sotto_tx *tx, void *thing, sotto_err *err);
/* Holds the writer, so that what is posted meanwhile makes one group: post sotto_test_gate_hold, wait until it has entered,
 * post the rest, open. */
typedef struct sotto_test_gate {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    sotto_status status; /* of the transaction that holds the writer */
    bool entered, open;
} sotto_test_gate;
#define SOTTO_TEST_GATE(status)                                                                    \
    {                                                                                              \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, status, false, false                  \
    }
sotto_status sotto_test_gate_hold(sotto_tx *tx, void *gate, sotto_err *err);
void sotto_test_gate_await(sotto_test_gate *gate);
void sotto_test_gate_open(sotto_test_gate *gate);
/* Runs one statement without parameters. */
sotto_status sotto_test_say(sotto_tx *tx, void *sql, sotto_err *err);
/* The same, at once. */
void sotto_test_do(sotto_test *t, sotto_db *db, const char *sql);
/* Until a query yields this number; it fails the test after ten seconds. */
void sotto_test_await(sotto_test *t, sotto_db *db, const char *sql, int64_t wanted);
/* Posts them all, and waits for the last. SOTTO_OK, or what one of them failed with. */
sotto_status sotto_test_run_at_once(sotto_db *db, sotto_db_job *jobs, size_t count);
/* Whether a query comes to yield a number above zero, within ten seconds. */
bool sotto_test_comes(sotto_test *t, sotto_db *db, const char *sql);
/* The bytes that a query yields, in the test's arena; none if it has no row. */
sotto_bytes sotto_test_ask_bytes(sotto_test *t, sotto_db *db, const char *sql);
/* The one number that a query yields, read on a reader's connection. */
int64_t sotto_test_ask_number(sotto_test *t, sotto_db *db, const char *sql);

#endif
