/* What single jobs added goes in passes, and only where its batch was released. */
#include "serve/tasks/erase.h"

#include "serve/tasks/batches.h"
#include "serve/tasks/schema.h"
#include "support/database.h"

#include <string.h>

enum { TASK = 5, LONG = 6 << 20, SHARES = 5 };

typedef struct row {
    uint64_t bucket;
    int64_t job;
    sotto_bytes share;
} row;

static sotto_status put_share(sotto_tx *tx, void *context, sotto_err *err)
{
    const row *r = context;
    sotto_batch_key key = sotto_batch_of_bucket(r->bucket);
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO sub_aggregate (task, batch, job, reports, checksum,"
                                " first_bucket, last_bucket, share)"
                                " VALUES (?1, ?2, ?3, 1, ?4, ?5, ?5, ?6)",
                                err));
    sotto_sql_int(&q, 1, TASK);
    sotto_sql_bytes(&q, 2, sotto_bytes_of(key.bytes, key.len));
    sotto_sql_int(&q, 3, r->job);
    sotto_sql_bytes(&q, 4, sotto_bytes_of(NULL, 0));
    sotto_sql_int(&q, 5, (int64_t)r->bucket);
    sotto_sql_bytes(&q, 6, r->share);
    return sotto_sql_run(&q, NULL, err);
}

/* Buckets 10 up to 12, released; 12 up to 14, closed, whose sum a repair may have to make again. */
static sotto_status put_releases(sotto_tx *tx, void *context, sotto_err *err)
{
    static const int64_t rows[2][3] = {{SOTTO_RELEASE_DONE, 10, 12},
                                       {SOTTO_RELEASE_CLOSED, 12, 14}};

    (void)context;
    for (int64_t i = 0; i < 2; i++) {
        sotto_sql q;

        SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                    "INSERT INTO release (n, task, id, state, first_bucket,"
                                    " end_bucket, batch, query, reports, added)"
                                    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, 1, 1)",
                                    err));
        sotto_sql_int(&q, 1, i + 1);
        sotto_sql_int(&q, 2, TASK);
        sotto_sql_bytes(&q, 3, sotto_bytes_of(i ? "b" : "a", 1));
        sotto_sql_int(&q, 4, rows[i][0]);
        sotto_sql_int(&q, 5, rows[i][1]);
        sotto_sql_int(&q, 6, rows[i][2]);
        sotto_sql_bytes(&q, 7, sotto_bytes_of(NULL, 0));
        SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    }
    return SOTTO_OK;
}

static int64_t left(sotto_test *t, sotto_db *db)
{
    return sotto_test_ask_number(t, db,
                                 "SELECT count(*) FROM sub_aggregate WHERE length(share) > 0");
}

static void shares_of_what_was_released_go_in_passes(sotto_test *t)
{
    sotto_db *db = sotto_test_db_at(t, sotto_test_address(t));
    uint8_t *zeros = sotto_arena_take(&t->arena, LONG);
    bool more;

    CHECK_OK(t, sotto_db_migrate(db, sotto_serve_migrations, SOTTO_SERVE_MIGRATIONS, &t->err));
    CHECK_OK(t, sotto_db_run(db, put_releases, NULL, &t->err));
    memset(zeros, 0, LONG);
    for (int64_t job = 1; job <= SHARES; job++) {
        row r = {10 + (uint64_t)job % 2, job, sotto_bytes_of(zeros, LONG)};

        CHECK_OK(t, sotto_db_run(db, put_share, &r, &t->err));
    }
    for (uint64_t bucket = 9; bucket < 13; bucket += 3) { /* before it, and closed only */
        row r = {bucket, 99, sotto_bytes_of(zeros, 100)};

        CHECK_OK(t, sotto_db_run(db, put_share, &r, &t->err));
    }
    CHECK_OK(t, sotto_erase_shares(db, &more, &t->err)); /* as many as 16 MiB have, and one more */
    CHECK(t, more);
    CHECK_EQUAL(t, SHARES + 2 - 3, left(t, db));
    CHECK_OK(t, sotto_erase_shares(db, &more, &t->err));
    CHECK_EQUAL(t, 2, left(t, db));
    CHECK_EQUAL(t, 0, sotto_test_ask_number(t, db, "SELECT max(erased) FROM release"));
    CHECK_OK(t, sotto_erase_shares(db, &more, &t->err));
    CHECK_EQUAL(t, 1, sotto_test_ask_number(t, db, "SELECT n FROM release WHERE erased = 1"));
    CHECK_OK(t, sotto_erase_shares(db, &more, &t->err));
    CHECK(t, !more);
    CHECK_EQUAL(t, 2, left(t, db));
    CHECK_EQUAL(t, SHARES + 2, sotto_test_ask_number(t, db, "SELECT count(*) FROM sub_aggregate"));
    sotto_db_close(db);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(shares_of_what_was_released_go_in_passes),
    };

    return RUN_TESTS(argc, argv, cases);
}
