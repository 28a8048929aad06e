#include "serve/tasks/erase.h"

#include "serve/tasks/batches.h"

enum { PASS_BYTES = 16 << 20 };

typedef struct pass {
    int64_t n, task; /* of the release */
    sotto_batch_range range;
    bool more;
} pass;

/* A release whose jobs' shares may still be there. Replicas that look at the same time get different ones. The
 * number is SOTTO_RELEASE_DONE, as the index needs it. */
static sotto_status find_release(sotto_tx *tx, pass *p, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT n, task, first_bucket, end_bucket, batch FROM release"
                                " WHERE erased = 0 AND state >= 3 LIMIT 1 {skip_locked}",
                                err));
    SOTTO_TRY(sotto_sql_step(&q, &p->more, err));
    if (!p->more)
        return SOTTO_OK;
    p->n = sotto_sql_column_int(&q, 0);
    p->task = sotto_sql_column_int(&q, 1);
    p->range.first_bucket = (uint64_t)sotto_sql_column_int(&q, 2);
    p->range.end_bucket = (uint64_t)sotto_sql_column_int(&q, 3);
    p->range.leader_selected = p->range.end_bucket == 0;
    p->range.batch.len = 0;
    if (p->range.leader_selected && sotto_sql_column_bytes(&q, 4).len > 0)
        SOTTO_TRY(sotto_batch_key_read(&p->range.batch, sotto_sql_column_bytes(&q, 4), err));
    return sotto_sql_run(&q, NULL, err);
}

static void bind_range(sotto_sql *q, const pass *p, const sotto_batch_key *first,
                       const sotto_batch_key *last)
{
    sotto_sql_int(q, 1, p->task);
    sotto_sql_bytes(q, 2, sotto_bytes_of(first->bytes, first->len));
    sotto_sql_bytes(q, 3, sotto_bytes_of(last->bytes, last->len));
}

/* Where shares are: how long one is, and how some of them go. */
static const struct {
    const char *length, *erase;
} tables[] = {
    {"SELECT CAST(length(share) AS BIGINT) FROM sub_aggregate WHERE task = ?1 AND batch >= ?2"
     " AND batch <= ?3 AND length(share) > 0 LIMIT 1",
     "UPDATE sub_aggregate SET share = ?4 WHERE task = ?1 AND batch >= ?2 AND batch <= ?3 AND job "
     "IN"
     " (SELECT job FROM sub_aggregate WHERE task = ?1 AND batch >= ?2 AND batch <= ?3"
     " AND length(share) > 0 LIMIT ?5)"},
    {"SELECT CAST(length(share) AS BIGINT) FROM fold WHERE task = ?1 AND batch >= ?2"
     " AND batch <= ?3 AND length(share) > 0 LIMIT 1",
     "UPDATE fold SET share = ?4, reports = 0 WHERE task = ?1 AND batch >= ?2 AND batch <= ?3 AND "
     "n IN"
     " (SELECT n FROM fold WHERE task = ?1 AND batch >= ?2 AND batch <= ?3"
     " AND length(share) > 0 LIMIT ?5)"},
};
enum { TABLES = sizeof tables / sizeof tables[0] };

/* Some of its shares; *gone: how many. All shares of a task are equally long. */
static sotto_status erase_some(sotto_tx *tx, const pass *p, size_t table, uint64_t *gone,
                               sotto_err *err)
{
    sotto_batch_key first = sotto_batch_range_first(&p->range),
                    last = sotto_batch_range_last(&p->range);
    int64_t len;
    sotto_sql q;
    bool row;

    *gone = 0;
    SOTTO_TRY(sotto_sql_prepare(tx, &q, tables[table].length, err));
    bind_range(&q, p, &first, &last);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    len = row ? sotto_sql_column_int(&q, 0) : 0;
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    if (len == 0)
        return SOTTO_OK;
    SOTTO_TRY(sotto_sql_prepare(tx, &q, tables[table].erase, err));
    bind_range(&q, p, &first, &last);
    sotto_sql_bytes(&q, 4, sotto_bytes_of(NULL, 0));
    sotto_sql_int(&q, 5, PASS_BYTES / len + 1);
    return sotto_sql_erase(&q, gone, err);
}

static sotto_status run_pass(sotto_tx *tx, void *context, sotto_err *err)
{
    pass *p = context;
    uint64_t gone;
    sotto_sql q;

    SOTTO_TRY(find_release(tx, p, err));
    if (!p->more)
        return SOTTO_OK;
    for (size_t table = 0; table < TABLES; table++) {
        SOTTO_TRY(erase_some(tx, p, table, &gone, err));
        if (gone > 0)
            return SOTTO_OK;
    }
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "UPDATE release SET erased = 1 WHERE n = ?1", err));
    sotto_sql_int(&q, 1, p->n);
    return sotto_sql_run(&q, NULL, err);
}

sotto_status sotto_erase_shares(sotto_db *db, bool *more, sotto_err *err)
{
    pass p = {0};

    *more = false;
    SOTTO_TRY(sotto_db_run(db, run_pass, &p, err));
    *more = p.more;
    return SOTTO_OK;
}
