#define _XOPEN_SOURCE 700

#include "support/database.h"

#include "db/lease.h"
#include "db/migrate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool sotto_test_on_postgres(void)
{
    return getenv("SOTTO_POSTGRES") != NULL;
}

static char *take(sotto_test *t, size_t size)
{
    char *memory = sotto_arena_take(&t->arena, size);

    CHECK(t, memory != NULL);
    return memory;
}

sotto_status sotto_test_say(sotto_tx *tx, void *sql, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, sql, err));
    return sotto_sql_run(&q, NULL, err);
}

static void make_schema(sotto_test *t, const char *name)
{
    const sotto_db_options options = {.address = getenv("SOTTO_POSTGRES"), .writers = 1};
    char sql[96];
    sotto_db *db;

    CHECK_OK(t, sotto_db_open(&db, &options, &t->err));
    (void)snprintf(sql, sizeof sql, "CREATE SCHEMA %s", name);
    CHECK_OK(t, sotto_db_run(db, sotto_test_say, sql, &t->err));
    sotto_db_close(db);
}

const char *sotto_test_address(sotto_test *t)
{
    static unsigned number;
    char *address = take(t, 512);
    char name[48];

    if (!sotto_test_on_postgres()) {
        (void)snprintf(address, 512, "sqlite:%s", sotto_test_temp(t, "store.db"));
        return address;
    }
    (void)snprintf(name, sizeof name, "test_%ld_%u", (long)getpid(), number++);
    make_schema(t, name);
    (void)snprintf(address, 512, "%s options=-csearch_path=%s", getenv("SOTTO_POSTGRES"), name);
    return address;
}

sotto_db *sotto_test_db_at(sotto_test *t, const char *address)
{
    const sotto_db_options options = {.address = address, .writers = 4};
    sotto_db *db;

    CHECK_OK(t, sotto_db_open(&db, &options, &t->err));
    return db;
}

sotto_status sotto_test_schema(sotto_db *db, sotto_err *err)
{
    static const sotto_migration steps[] = {
        {1, "CREATE TABLE things (id {int} PRIMARY KEY, number {int}, body {bytes}, name TEXT,"
            " CHECK (number IS NULL OR number >= -9000000000000000000)) {strict};"},
        {2, SOTTO_LEASE_SCHEMA},
    };

    return sotto_db_migrate(db, steps, 2, err);
}

sotto_db *sotto_test_db(sotto_test *t)
{
    sotto_db *db = sotto_test_db_at(t, sotto_test_address(t));

    CHECK_OK(t, sotto_test_schema(db, &t->err));
    return db;
}

sotto_status sotto_test_put(sotto_tx *tx, void *context, sotto_err *err)
{
    const sotto_test_thing *thing = context;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO things (id, number) VALUES (?1, ?2)"
                                " ON CONFLICT (id) DO UPDATE SET number = excluded.number",
                                err));
    sotto_sql_int(&q, 1, thing->id);
    sotto_sql_int(&q, 2, thing->number);
    return sotto_sql_run(&q, NULL, err);
}

typedef struct question {
    const char *sql;
    int64_t answer;
} question;

static sotto_status ask(sotto_tx *tx, void *context, sotto_err *err)
{
    question *asked = context;
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, asked->sql, err));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    asked->answer = row ? sotto_sql_column_int(&q, 0) : -1;
    return SOTTO_OK;
}

int64_t sotto_test_ask_number(sotto_test *t, sotto_db *db, const char *sql)
{
    question q = {.sql = sql};

    CHECK_OK(t, sotto_db_read(db, ask, &q, &t->err));
    return q.answer;
}

typedef struct question_of_bytes {
    const char *sql;
    sotto_arena *arena;
    sotto_bytes answer;
} question_of_bytes;

static sotto_status ask_bytes(sotto_tx *tx, void *context, sotto_err *err)
{
    question_of_bytes *asked = context;
    sotto_bytes found;
    uint8_t *copy;
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, asked->sql, err));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    found = row ? sotto_sql_column_bytes(&q, 0) : sotto_bytes_of(NULL, 0);
    if (found.len > 0) {
        copy = sotto_arena_take(asked->arena, found.len);
        if (!copy)
            return sotto_fail(err, SOTTO_NO_MEMORY, "an answer");
        memcpy(copy, found.data, found.len);
        asked->answer = sotto_bytes_of(copy, found.len);
    }
    return sotto_sql_run(&q, NULL, err);
}

sotto_bytes sotto_test_ask_bytes(sotto_test *t, sotto_db *db, const char *sql)
{
    question_of_bytes q = {.sql = sql, .arena = &t->arena};

    CHECK_OK(t, sotto_db_read(db, ask_bytes, &q, &t->err));
    return q.answer;
}

void sotto_test_do(sotto_test *t, sotto_db *db, const char *sql)
{
    CHECK_OK(t, sotto_db_run(db, sotto_test_say, (void *)(uintptr_t)sql, &t->err));
}

void sotto_test_await(sotto_test *t, sotto_db *db, const char *sql, int64_t wanted)
{
    for (uint64_t until = 0;
         sotto_test_ask_number(t, db, sql) != wanted && sotto_test_waits(&until, 10);)
        ;
    CHECK_EQUAL(t, wanted, sotto_test_ask_number(t, db, sql));
}

bool sotto_test_comes(sotto_test *t, sotto_db *db, const char *sql)
{
    uint64_t until = 0;

    do {
        if (sotto_test_ask_number(t, db, sql) > 0)
            return true;
    } while (sotto_test_waits(&until, 25));
    return false;
}

/* ---- the gate ---------------------------------------------------------------------------------------- */

sotto_status sotto_test_gate_hold(sotto_tx *tx, void *gate, sotto_err *err)
{
    sotto_test_gate *g = gate;

    (void)tx;
    (void)pthread_mutex_lock(&g->lock);
    g->entered = true;
    (void)pthread_cond_broadcast(&g->moved);
    while (!g->open)
        (void)pthread_cond_wait(&g->moved, &g->lock);
    (void)pthread_mutex_unlock(&g->lock);
    return g->status == SOTTO_OK ? SOTTO_OK : sotto_fail(err, g->status, "nothing to keep");
}

void sotto_test_gate_await(sotto_test_gate *gate)
{
    (void)pthread_mutex_lock(&gate->lock);
    while (!gate->entered)
        (void)pthread_cond_wait(&gate->moved, &gate->lock);
    (void)pthread_mutex_unlock(&gate->lock);
}

void sotto_test_gate_open(sotto_test_gate *gate)
{
    (void)pthread_mutex_lock(&gate->lock);
    gate->open = true;
    (void)pthread_cond_broadcast(&gate->moved);
    (void)pthread_mutex_unlock(&gate->lock);
}

typedef struct ended {
    pthread_mutex_t lock;
    pthread_cond_t more;
    size_t count;
    sotto_status status;
} ended;

static void on_ended(void *context, sotto_status status, const sotto_err *err)
{
    ended *e = context;

    (void)err;
    (void)pthread_mutex_lock(&e->lock);
    e->count++;
    if (status != SOTTO_OK)
        e->status = status;
    (void)pthread_cond_signal(&e->more);
    (void)pthread_mutex_unlock(&e->lock);
}

sotto_status sotto_test_run_at_once(sotto_db *db, sotto_db_job *jobs, size_t count)
{
    ended e = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, SOTTO_OK};

    for (size_t i = 0; i < count; i++) {
        jobs[i].done = on_ended;
        jobs[i].done_context = &e;
        sotto_db_post(db, &jobs[i]);
    }
    (void)pthread_mutex_lock(&e.lock);
    while (e.count < count)
        (void)pthread_cond_wait(&e.more, &e.lock);
    (void)pthread_mutex_unlock(&e.lock);
    return e.status;
}
