#include "serve/tasks/report_ids.h"

#include "serve/tasks/schema.h"
#include "sim/random.h"
#include "support/database.h"

#include <string.h>

enum { IDS = 2000, AT_ONCE = 4, TASK = 7 };

typedef struct taking {
    sotto_report_id marks[IDS];
    size_t count;
    sotto_replays *replays; /* NULL: each id is asked about */
} taking;

static sotto_status take(sotto_tx *tx, void *context, sotto_err *err)
{
    taking *k = context;

    return sotto_report_ids_take(tx, TASK, k->marks, k->count, k->replays, err);
}

static uint8_t ids[IDS][SOTTO_REPORT_ID_SIZE];

static sotto_db *open_empty(sotto_test *t)
{
    sotto_db *db = sotto_test_db_at(t, sotto_test_address(t));
    sotto_sim_random random;

    CHECK_OK(t, sotto_db_migrate(db, sotto_serve_migrations, SOTTO_SERVE_MIGRATIONS, &t->err));
    sotto_sim_random_init(&random, 11);
    for (size_t i = 0; i < IDS; i++)
        for (size_t k = 0; k < SOTTO_REPORT_ID_SIZE; k++)
            ids[i][k] = (uint8_t)sotto_sim_random_below(&random, 256);
    return db;
}

static void want(taking *k, size_t id)
{
    sotto_report_id *mark = &k->marks[k->count++];

    *mark = (sotto_report_id){.bucket = 29, .wanted = true};
    memcpy(mark->report, ids[id], sizeof mark->report);
}

static size_t taken_now(const taking *k)
{
    size_t sum = 0;

    for (size_t i = 0; i < k->count; i++)
        sum += k->marks[i].wanted && !k->marks[i].taken;
    return sum;
}

static void each_is_taken_once_and_those_not_wanted_never(sotto_test *t)
{
    static taking k; /* large */
    sotto_db *db = open_empty(t);

    k.count = 0;
    for (size_t i = 0; i < 300; i++) {
        want(&k, i);
        k.marks[i].wanted = i % 3 != 0;
    }
    CHECK_OK(t, sotto_db_run(db, take, &k, &t->err));
    CHECK_EQUAL(t, 200, taken_now(&k));
    for (size_t i = 0; i < 300; i++)
        k.marks[i].wanted = true;
    CHECK_OK(t, sotto_db_run(db, take, &k, &t->err));
    CHECK_EQUAL(t, 100, taken_now(&k));
    for (size_t i = 0; i < 300; i++)
        CHECK(t, k.marks[i].taken == (i % 3 != 0));
    sotto_db_close(db);
}

static void of_two_alike_in_one_call_the_first_is_taken(sotto_test *t)
{
    static taking k; /* large */
    sotto_db *db = open_empty(t);

    k.count = 0;
    for (size_t i = 0; i < 210; i++)
        want(&k, i % 70);
    CHECK_OK(t, sotto_db_run(db, take, &k, &t->err));
    for (size_t i = 0; i < 210; i++)
        CHECK(t, k.marks[i].taken == (i >= 70));
    sotto_db_close(db);
}

/* PostgreSQL is not asked about each, as long as none was taken before. */
static void new_ones_are_not_asked_about_until_one_was_taken(sotto_test *t)
{
    static taking k; /* large */
    sotto_replays replays = {0};
    sotto_db *db = open_empty(t);
    bool clashes = strcmp(sotto_db_kind(db), "sqlite") != 0;
    sotto_db_stats stats;

    for (size_t round = 0; round < 3; round++) {
        k.count = 0;
        k.replays = &replays;
        for (size_t i = 0; i < 300; i++)
            want(&k, 200 * round + i); /* 100 of them again */
        CHECK_OK(t, sotto_db_run(db, take, &k, &t->err));
        CHECK_EQUAL(t, round == 0 ? 300 : 200, taken_now(&k));
        for (size_t i = 0; i < 300; i++)
            CHECK(t, k.marks[i].taken == (round > 0 && i < 100));
        CHECK_EQUAL(t, clashes && round > 0, atomic_load(&replays.until_ms) > 0);
    }
    sotto_db_stats_get(db, &stats);
    CHECK_EQUAL(t, clashes ? 1 : 0, stats.retries); /* the first time, and not the second */
    atomic_store(&replays.until_ms, 1);             /* a minute later */
    k.count = 0;
    for (size_t i = 0; i < 300; i++)
        want(&k, 600 + i); /* 100 of them again */
    CHECK_OK(t, sotto_db_run(db, take, &k, &t->err));
    CHECK_EQUAL(t, 200, taken_now(&k));
    sotto_db_stats_get(db, &stats);
    CHECK_EQUAL(t, clashes ? 2 : 0, stats.retries);
    sotto_db_close(db);
}

/* Two replicas that expect new ones both. */
static void new_ones_at_once_are_taken_once(sotto_test *t)
{
    static taking k[AT_ONCE]; /* large */
    sotto_replays replays[AT_ONCE] = {0};
    sotto_db_job jobs[AT_ONCE];
    sotto_db *db = open_empty(t);
    size_t sum = 0;

    for (size_t j = 0; j < AT_ONCE; j++) {
        k[j].count = 0;
        k[j].replays = &replays[j];
        for (size_t i = 0; i < IDS; i++)
            want(&k[j], (i + j * IDS / AT_ONCE) % IDS);
        jobs[j] = (sotto_db_job){.fn = take, .context = &k[j]};
    }
    CHECK_OK(t, sotto_test_run_at_once(db, jobs, AT_ONCE));
    for (size_t j = 0; j < AT_ONCE; j++)
        sum += taken_now(&k[j]);
    CHECK_EQUAL(t, IDS, sum);
    sotto_db_close(db);
}

/* As replicas do when clients come to another one with what they did not hear the answer to. In their own orders each would
 * wait for a mark of the other, and PostgreSQL would let them wait a second before it makes one of them begin again. */
static void the_same_reports_at_once_are_taken_once_and_nobody_waits_in_a_circle(sotto_test *t)
{
    static taking k[AT_ONCE]; /* large */
    sotto_db_job jobs[AT_ONCE];
    sotto_db *db = open_empty(t);
    sotto_db_stats stats;
    size_t sum = 0;

    for (size_t j = 0; j < AT_ONCE; j++) {
        k[j].count = 0;
        for (size_t i = 0; i < IDS; i++)
            want(&k[j], j % 2 ? IDS - 1 - i : (i + j * IDS / AT_ONCE) % IDS);
        jobs[j] = (sotto_db_job){.fn = take, .context = &k[j]};
    }
    CHECK_OK(t, sotto_test_run_at_once(db, jobs, AT_ONCE));
    for (size_t j = 0; j < AT_ONCE; j++)
        sum += taken_now(&k[j]);
    CHECK_EQUAL(t, IDS, sum);
    sotto_db_stats_get(db, &stats);
    CHECK_EQUAL(t, 0, stats.retries);
    sotto_db_close(db);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(each_is_taken_once_and_those_not_wanted_never),
        CASE(of_two_alike_in_one_call_the_first_is_taken),
        CASE(new_ones_are_not_asked_about_until_one_was_taken),
        CASE(new_ones_at_once_are_taken_once),
        CASE(the_same_reports_at_once_are_taken_once_and_nobody_waits_in_a_circle),
    };

    return RUN_TESTS(argc, argv, cases);
}
