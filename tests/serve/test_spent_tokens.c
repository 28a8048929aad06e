#include "serve/tasks/spent_tokens.h"

#include "serve/tasks/schema.h"
#include "sim/random.h"
#include "support/database.h"

#include <string.h>

enum { TOKENS = 1000, AT_ONCE = 4 };

typedef struct spending {
    sotto_token_spend all[TOKENS];
    sotto_token_spend *list[TOKENS];
    size_t count;
} spending;

static sotto_status spend(sotto_tx *tx, void *context, sotto_err *err)
{
    spending *s = context;

    return sotto_tokens_spend(tx, s->list, s->count, err);
}

static sotto_db *open_empty(sotto_test *t)
{
    sotto_db *db = sotto_test_db_at(t, sotto_test_address(t));

    CHECK_OK(t, sotto_db_migrate(db, sotto_serve_migrations, SOTTO_SERVE_MIGRATIONS, &t->err));
    return db;
}

/* Token i of key i % 2, for report `report`. */
static void want(spending *s, size_t i, uint8_t report)
{
    sotto_token_spend *one = &s->all[s->count];

    *one = (sotto_token_spend){.key = (int64_t)(i % 2)};
    one->nonce[0] = (uint8_t)(i * 151);
    one->nonce[1] = (uint8_t)(i >> 8);
    one->nonce[2] = (uint8_t)i;
    one->report[0] = report;
    one->report[1] = (uint8_t)i;
    one->report[2] = (uint8_t)(i >> 8);
    s->list[s->count++] = one;
}

static size_t refused(const spending *s)
{
    size_t sum = 0;

    for (size_t i = 0; i < s->count; i++)
        sum += s->all[i].spent;
    return sum;
}

static void a_token_is_spent_once_and_the_same_report_may_come_again(sotto_test *t)
{
    static spending s; /* large */
    sotto_db *db = open_empty(t);

    s.count = 0;
    for (size_t i = 0; i < 300; i++)
        want(&s, i, 1);
    CHECK_OK(t, sotto_db_run(db, spend, &s, &t->err));
    CHECK_EQUAL(t, 0, refused(&s));
    CHECK_OK(t, sotto_db_run(db, spend, &s, &t->err));
    CHECK_EQUAL(t, 0, refused(&s));
    s.count = 0;
    for (size_t i = 200; i < 400; i++)
        want(&s, i, 2);
    CHECK_OK(t, sotto_db_run(db, spend, &s, &t->err));
    for (size_t i = 0; i < s.count; i++)
        CHECK(t, s.all[i].spent == (i < 100));
    sotto_db_close(db);
}

/* Senders choose the ids of their reports. */
static void a_report_of_the_same_id_in_another_task_is_another_report(sotto_test *t)
{
    static spending s; /* large */
    sotto_db *db = open_empty(t);

    s.count = 0;
    for (size_t i = 0; i < 100; i++)
        want(&s, i, 1);
    CHECK_OK(t, sotto_db_run(db, spend, &s, &t->err));
    CHECK_EQUAL(t, 0, refused(&s));
    for (size_t i = 0; i < 100; i++)
        s.all[i].task = 7;
    CHECK_OK(t, sotto_db_run(db, spend, &s, &t->err));
    CHECK_EQUAL(t, 100, refused(&s));
    s.count = 0; /* and in one call */
    for (size_t i = 200; i < 300; i++)
        want(&s, i / 2, 1);
    for (size_t i = 0; i < s.count; i++)
        s.all[i].task = (int64_t)(i % 2);
    CHECK_OK(t, sotto_db_run(db, spend, &s, &t->err));
    for (size_t i = 0; i < s.count; i++)
        CHECK(t, s.all[i].spent == (i % 2 == 1));
    sotto_db_close(db);
}

static void of_two_reports_in_one_call_one_has_the_token(sotto_test *t)
{
    static spending s; /* large */
    sotto_db *db = open_empty(t);

    for (int again = 0; again < 2; again++) {
        s.count = 0;
        for (size_t i = 0; i < 300; i++)
            want(&s, i / 3, (uint8_t)(3 - i % 3));
        CHECK_OK(t, sotto_db_run(db, spend, &s, &t->err));
        for (size_t i = 0; i < s.count; i++)
            CHECK(t, s.all[i].spent == (i % 3 != 2));
    }
    sotto_db_close(db);
}

/* As replicas do whom devices send one token for different reports. In their own orders each would wait for a row of the
 * other, and PostgreSQL would make one of them begin again. */
static void spends_that_race_agree_on_one_report_and_nobody_waits_in_a_circle(sotto_test *t)
{
    static spending s[AT_ONCE]; /* large */
    sotto_db_job jobs[AT_ONCE];
    sotto_db *db = open_empty(t);
    sotto_db_stats stats;

    for (size_t j = 0; j < AT_ONCE; j++) {
        s[j].count = 0;
        for (size_t i = 0; i < TOKENS; i++)
            want(&s[j], j % 2 ? TOKENS - 1 - i : (i + j * TOKENS / AT_ONCE) % TOKENS,
                 (uint8_t)(j + 1));
        jobs[j] = (sotto_db_job){.fn = spend, .context = &s[j]};
    }
    CHECK_OK(t, sotto_test_run_at_once(db, jobs, AT_ONCE));
    CHECK_EQUAL(t, (AT_ONCE - 1) * TOKENS,
                refused(&s[0]) + refused(&s[1]) + refused(&s[2]) + refused(&s[3]));
    sotto_db_stats_get(db, &stats);
    CHECK_EQUAL(t, 0, stats.retries);
    sotto_db_close(db);
}

/* A server that runs has read before whether a key is closed: `late` is lowered and gc runs in another process meanwhile. */
static sotto_status forget(sotto_tx *tx, void *context, sotto_err *err)
{
    uint64_t gone;

    return sotto_tokens_forget(tx, *(const int64_t *)context, 1000, &gone, err);
}

static void a_key_that_gc_closed_admits_nothing(sotto_test *t)
{
    static spending s; /* large */
    const int64_t before = 2000;
    sotto_db *db = open_empty(t);

    /* Two keys, of which the first closed at 1000. */
    sotto_test_do(t, db,
                  "INSERT INTO token_key (task, n, issuer, spki, opens, closes)"
                  " VALUES (1, 0, 'i', '', 1, 1000), (1, 1, 'i', '', 1, 3000)");
    s.count = 0;
    for (size_t i = 0; i < 20; i++)
        want(&s, i, 1);
    CHECK_OK(t, sotto_db_run(db, spend, &s, &t->err));
    CHECK_EQUAL(t, 0, refused(&s));
    CHECK_OK(t, sotto_db_run(db, forget, (void *)(uintptr_t)&before, &t->err));
    s.count = 0;
    for (size_t i = 0; i < 20; i++)
        want(&s, i, 2); /* the same tokens, other reports */
    CHECK_OK(t, sotto_db_run(db, spend, &s, &t->err));
    CHECK_EQUAL(
        t, 20, refused(&s)); /* of one key since they were spent, of the other since it is closed */
    s.count = 0;
    for (size_t i = 100; i < 120; i++)
        want(&s, i, 3);
    CHECK_OK(t, sotto_db_run(db, spend, &s, &t->err));
    CHECK_EQUAL(t, 10, refused(&s));
    sotto_db_close(db);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_token_is_spent_once_and_the_same_report_may_come_again),
        CASE(a_report_of_the_same_id_in_another_task_is_another_report),
        CASE(of_two_reports_in_one_call_one_has_the_token),
        CASE(a_key_that_gc_closed_admits_nothing),
        CASE(spends_that_race_agree_on_one_report_and_nobody_waits_in_a_circle),
    };

    return RUN_TESTS(argc, argv, cases);
}
