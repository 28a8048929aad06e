/* The tables: what is asked for often is found by an index. */
#include "support/database.h"

#include "serve/tasks/schema.h"

#include <stdio.h>
#include <string.h>

typedef struct plan {
    const char *sql;
    char text[1024];
} plan;

static sotto_status explain(sotto_tx *tx, void *context, sotto_err *err)
{
    plan *p = context;
    size_t len = 0;
    sotto_sql q;
    bool row;

    p->text[0] = 0;
    SOTTO_TRY(sotto_sql_prepare(tx, &q, p->sql, err));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    while (row && len < sizeof p->text) {
        int more =
            snprintf(p->text + len, sizeof p->text - len, "%s\n", sotto_sql_column_text(&q, 3));

        len += more > 0 ? (size_t)more : 0;
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
    }
    return SOTTO_OK;
}

/* As they stand in serve/: a batch's jobs and releases by name, and what a job added. */
static void what_is_asked_for_often_is_found_by_an_index(sotto_test *t)
{
    static const struct {
        const char *sql, *index;
    } asked[] = {
        {"EXPLAIN QUERY PLAN SELECT CAST(coalesce(sum(reports), 0) AS BIGINT) FROM job"
         " WHERE task = ?1 AND batch >= ?2 AND batch <= ?3",
         "job_batch (task=? AND batch>? AND batch<?)"},
        {"EXPLAIN QUERY PLAN SELECT b.id FROM batch b WHERE b.task = ?1 AND NOT EXISTS"
         " (SELECT 1 FROM release r WHERE r.task = b.task AND r.batch = b.id AND r.state >= ?2)",
         "release_batch (task=? AND batch=? AND state>?)"},
        {"EXPLAIN QUERY PLAN SELECT b.id FROM batch b WHERE b.task = ?1 AND NOT EXISTS"
         " (SELECT 1 FROM job j WHERE j.task = b.task AND j.state = ?4 AND j.batch = b.id)",
         "job_batch (task=? AND batch=? AND state=?)"},
        {"EXPLAIN QUERY PLAN SELECT 1 FROM release WHERE task = ?1 AND state >= ?2 AND batch = ?3"
         " LIMIT 1",
         "release_batch (task=? AND batch=? AND state>?)"},
        {"EXPLAIN QUERY PLAN SELECT batch, job, reports FROM sub_aggregate WHERE task = ?1"
         " AND job = ?2",
         "sub_aggregate_job (task=? AND job=?)"},
        {"EXPLAIN QUERY PLAN DELETE FROM sub_aggregate WHERE task = ?1 AND job = ?2",
         "sub_aggregate_job (task=? AND job=?)"},
    };
    sotto_db *db = sotto_test_db_at(t, sotto_test_address(t));

    CHECK_OK(t, sotto_db_migrate(db, sotto_serve_migrations, SOTTO_SERVE_MIGRATIONS, &t->err));
    if (sotto_test_on_postgres()) /* whose plans depend on how much is there */
        CHECK_EQUAL(t, 3,
                    sotto_test_ask_number(t, db,
                                          "SELECT count(*) FROM pg_indexes WHERE schemaname ="
                                          " current_schema() AND indexname IN"
                                          " ('job_batch', 'release_batch', 'sub_aggregate_job')"));
    for (size_t i = 0; i < sizeof asked / sizeof asked[0] && !sotto_test_on_postgres(); i++) {
        plan p = {.sql = asked[i].sql};

        CHECK_OK(t, sotto_db_read(db, explain, &p, &t->err));
        CHECK(t, strstr(p.text, asked[i].index) != NULL);
    }
    sotto_db_close(db);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(what_is_asked_for_often_is_found_by_an_index),
    };

    return RUN_TESTS(argc, argv, cases);
}
