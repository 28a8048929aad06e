#include "serve/tasks/batches.h"

#include "dap/dap.h"
#include "serve/tasks/schema.h"
#include "sim/random.h"
#include "support/database.h"

#include <string.h>

enum { BUCKETS = 3, JOBS = 150, FIRST = 1000 };

typedef struct batches {
    sotto_db *db;
    sotto_column_keys keys;
    sotto_server_task task;
    sotto_sub_aggregate subs[JOBS], sum;
    int64_t jobs[JOBS];
    sotto_arena *arena;
} batches;

static sotto_status add_all(sotto_tx *tx, void *context, sotto_err *err)
{
    const batches *b = context;

    for (size_t i = 0; i < JOBS; i++)
        SOTTO_TRY(sotto_batch_add(tx, &b->keys, &b->task, b->jobs[i], &b->subs[i], b->arena, err));
    return SOTTO_OK;
}

static sotto_status sum_all(sotto_tx *tx, void *context, sotto_err *err)
{
    batches *b = context;
    sotto_batch_range range = {.first_bucket = FIRST, .end_bucket = FIRST + BUCKETS};

    return sotto_batch_sum(tx, &b->sum, &b->keys, &b->task, &range, b->arena, err);
}

/* What job i added: i reports of one bucket, whose sum is i. */
static void make_sub(sotto_test *t, batches *b, size_t i, sotto_sim_random *random)
{
    sotto_sub_aggregate *sub = &b->subs[i];
    uint8_t share[8] = {(uint8_t)i};

    b->jobs[i] = (int64_t)(sotto_sim_random_u64(random) >> 1);
    sub->batch = sotto_batch_of_bucket(FIRST + i % BUCKETS);
    sub->reports = i;
    sub->first_bucket = sub->last_bucket = FIRST + i % BUCKETS;
    memset(sub->checksum, (int)i, sizeof sub->checksum);
    CHECK_OK(t, sotto_batch_seal_share(&sub->share, &b->keys, &b->task, b->jobs[i], &sub->batch,
                                       sotto_bytes_of(share, sizeof share), &t->arena, &t->err));
}

static void a_range_of_many_jobs_adds_up_to_all_of_them(sotto_test *t)
{
    static batches b; /* large */
    uint8_t checksum[SOTTO_CHECKSUM_SIZE] = {0};
    uint64_t reports = 0;
    sotto_sim_random random;

    sotto_sim_random_init(&random, 3);
    memset(&b, 0, sizeof b);
    b.keys.count = 1;
    b.task.n = 7;
    b.arena = &t->arena;
    b.task.method = sotto_method_of(SOTTO_PRIO3_COUNT);
    CHECK_OK(t, sotto_vdaf_open(&b.task.vdaf,
                                &(sotto_vdaf_config){.type = SOTTO_PRIO3_COUNT, .shares = 2},
                                &t->arena, &t->err));
    b.db = sotto_test_db_at(t, sotto_test_address(t));
    CHECK_OK(t, sotto_db_migrate(b.db, sotto_serve_migrations, SOTTO_SERVE_MIGRATIONS, &t->err));
    for (size_t i = 0; i < JOBS; i++) {
        make_sub(t, &b, i, &random);
        sotto_dap_checksum_merge(checksum, b.subs[i].checksum);
        reports += i;
    }
    CHECK_OK(t, sotto_db_run(b.db, add_all, &b, &t->err));
    CHECK_OK(t, sotto_db_read(b.db, sum_all, &b, &t->err));
    CHECK_EQUAL(t, reports, b.sum.reports);
    CHECK_BYTES(t, checksum, b.sum.checksum, sizeof checksum);
    CHECK_EQUAL(t, FIRST, b.sum.first_bucket);
    CHECK_EQUAL(t, FIRST + BUCKETS - 1, b.sum.last_bucket);
    CHECK_EQUAL(t, reports & 0xff, b.sum.share.data[0]);
    CHECK_EQUAL(t, reports >> 8, b.sum.share.data[1]);
    sotto_db_close(b.db);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {CASE(a_range_of_many_jobs_adds_up_to_all_of_them)};

    return RUN_TESTS(argc, argv, cases);
}
