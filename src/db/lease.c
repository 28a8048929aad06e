#include "db/lease.h"

#include <string.h>

static void bind_item(sotto_sql *q, int64_t queue, sotto_bytes item)
{
    sotto_sql_int(q, 1, queue);
    sotto_sql_bytes(q, 2, item);
}

static void bind_lease(sotto_sql *q, const sotto_lease *lease)
{
    bind_item(q, lease->queue, sotto_bytes_of(lease->item, lease->item_len));
}

sotto_status sotto_lease_add(sotto_tx *tx, int64_t queue, sotto_bytes item, int64_t delay_ms,
                             sotto_err *err)
{
    sotto_sql q;

    if (item.len > SOTTO_LEASE_ITEM)
        return sotto_fail(err, SOTTO_TOO_LARGE, "an item of %zu bytes", item.len);
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO sotto_lease (queue, item, ready_at)"
                                " VALUES (?1, ?2, {now} + ?3) ON CONFLICT DO NOTHING",
                                err));
    bind_item(&q, queue, item);
    sotto_sql_int(&q, 3, delay_ms);
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status read_lease(const sotto_sql *q, sotto_lease *out, int64_t queue, sotto_err *err)
{
    sotto_bytes item = sotto_sql_column_bytes(q, 0);

    if (item.len > sizeof out->item)
        return sotto_fail(err, SOTTO_MALFORMED, "an item of %zu bytes", item.len);
    *out = (sotto_lease){.queue = queue,
                         .item_len = item.len,
                         .fence = sotto_sql_column_int(q, 1),
                         .attempts = sotto_sql_column_int(q, 2),
                         .until = sotto_sql_column_int(q, 3)};
    memcpy(out->item, item.data, item.len);
    return SOTTO_OK;
}

sotto_status sotto_lease_add_held(sotto_tx *tx, sotto_lease *out, int64_t queue, sotto_bytes item,
                                  int64_t duration_ms, sotto_err *err)
{
    sotto_sql q;
    bool row;

    if (item.len > SOTTO_LEASE_ITEM)
        return sotto_fail(err, SOTTO_TOO_LARGE, "an item of %zu bytes", item.len);
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO sotto_lease (queue, item, ready_at, fence, attempts,"
                                " held) VALUES (?1, ?2, {now} + ?3, 1, 1, 1) ON CONFLICT DO NOTHING"
                                " RETURNING item, fence, attempts, ready_at",
                                err));
    bind_item(&q, queue, item);
    sotto_sql_int(&q, 3, duration_ms);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (!row)
        return sotto_fail(err, SOTTO_STALE, "the item is queued already");
    SOTTO_TRY(read_lease(&q, out, queue, err));
    return sotto_sql_run(&q, NULL, err);
}

/* Nothing waits longer than this on purpose, so what seems to was stored while the clock was ahead. */
static int64_t longest_wait(int64_t duration_ms)
{
    enum { LONGEST_DELAY_MS = 120000 };

    return 2 * duration_ms + LONGEST_DELAY_MS;
}

/* The rows are picked and locked once, in a query of their own. A planner that joined them to the update could pick
 * again for each row and lock more than it was asked for. */
sotto_status sotto_lease_claim(sotto_tx *tx, sotto_lease *out, size_t most, size_t *count,
                               int64_t queue, int64_t duration_ms, sotto_err *err)
{
    static const char claim[] =
        "WITH picked AS MATERIALIZED (SELECT item FROM sotto_lease"
        " WHERE queue = ?1 AND (ready_at <= {now} OR ready_at > {now} + ?4)"
        " ORDER BY ready_at LIMIT ?2 {skip_locked})"
        " UPDATE sotto_lease SET ready_at = {now} + ?3, fence = fence + 1, attempts = attempts + 1,"
        " held = 1"
        " WHERE queue = ?1 AND item IN (SELECT item FROM picked)"
        " RETURNING item, fence, attempts, ready_at";
    sotto_sql q;
    bool row;

    *count = 0;
    SOTTO_TRY(sotto_sql_prepare(tx, &q, claim, err));
    sotto_sql_int(&q, 1, queue);
    sotto_sql_int(&q, 2, (int64_t)most);
    sotto_sql_int(&q, 3, duration_ms);
    sotto_sql_int(&q, 4, longest_wait(duration_ms));
    for (;;) {
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
        if (!row)
            return SOTTO_OK;
        if (*count == most)
            return sotto_fail(err, SOTTO_BUG, "more leases than were asked for");
        SOTTO_TRY(read_lease(&q, &out[(*count)++], queue, err));
    }
}

static sotto_status too_late(sotto_err *err, const sotto_lease *lease)
{
    return sotto_fail(err, SOTTO_STALE, "lease %lld of queue %lld is over", (long long)lease->fence,
                      (long long)lease->queue);
}

/* The number tells holders apart, the time ends a lease that nobody has claimed since. */
static const char still_held[] = "SELECT 1 FROM sotto_lease WHERE queue = ?1 AND item = ?2"
                                 " AND fence = ?3 AND ready_at > {now} {lock}";

sotto_status sotto_lease_check(sotto_tx *tx, const sotto_lease *lease, sotto_err *err)
{
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, still_held, err));
    bind_lease(&q, lease);
    sotto_sql_int(&q, 3, lease->fence);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    return row ? SOTTO_OK : too_late(err, lease);
}

/* One statement that names the fence: it finds the row as it is when it gets it, or no row. */
static sotto_status change(sotto_sql *q, const sotto_lease *lease, sotto_err *err)
{
    uint64_t changed;

    bind_lease(q, lease);
    sotto_sql_int(q, 3, lease->fence);
    SOTTO_TRY(sotto_sql_run(q, &changed, err));
    return changed == 1 ? SOTTO_OK : too_late(err, lease);
}

sotto_status sotto_lease_extend(sotto_tx *tx, sotto_lease *lease, int64_t duration_ms,
                                sotto_err *err)
{
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "UPDATE sotto_lease SET ready_at = {now} + ?4 WHERE queue = ?1"
                                " AND item = ?2 AND fence = ?3 AND ready_at > {now}"
                                " RETURNING ready_at",
                                err));
    bind_lease(&q, lease);
    sotto_sql_int(&q, 3, lease->fence);
    sotto_sql_int(&q, 4, duration_ms);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (!row)
        return too_late(err, lease);
    lease->until = sotto_sql_column_int(&q, 0);
    return sotto_sql_run(&q, NULL, err);
}

sotto_status sotto_lease_finish(sotto_tx *tx, const sotto_lease *lease, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "DELETE FROM sotto_lease WHERE queue = ?1 AND item = ?2"
                                " AND fence = ?3 AND ready_at > {now}",
                                err));
    return change(&q, lease, err);
}

/* The fence grows, so that whoever gave it back holds nothing any more. */
sotto_status sotto_lease_release(sotto_tx *tx, const sotto_lease *lease, int64_t delay_ms,
                                 sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q,
        "UPDATE sotto_lease SET ready_at = {now} + ?4, fence = fence + 1, held = 0"
        " WHERE queue = ?1 AND item = ?2 AND fence = ?3"
        " AND ready_at > {now}",
        err));
    sotto_sql_int(&q, 4, delay_ms);
    return change(&q, lease, err);
}

/* Whether an item is held shows in `held`: a delay alone may be cut short, a lease may not. */
sotto_status sotto_lease_is_put_off(sotto_tx *tx, bool *put_off, int64_t queue, sotto_bytes item,
                                    sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT 1 FROM sotto_lease WHERE queue = ?1 AND item = ?2 AND"
                                " held = 0 AND ready_at > {now}",
                                err));
    bind_item(&q, queue, item);
    SOTTO_TRY(sotto_sql_step(&q, put_off, err));
    return sotto_sql_run(&q, NULL, err);
}

sotto_status sotto_lease_hurry(sotto_tx *tx, int64_t queue, sotto_bytes item, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "UPDATE sotto_lease SET ready_at = {now} WHERE queue = ?1"
                                " AND item = ?2 AND held = 0 AND ready_at > {now}",
                                err));
    bind_item(&q, queue, item);
    return sotto_sql_run(&q, NULL, err);
}

sotto_status sotto_lease_drop(sotto_tx *tx, int64_t queue, sotto_bytes item, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(
        sotto_sql_prepare(tx, &q, "DELETE FROM sotto_lease WHERE queue = ?1 AND item = ?2", err));
    bind_item(&q, queue, item);
    return sotto_sql_run(&q, NULL, err);
}

sotto_status sotto_lease_take_over(sotto_tx *tx, int64_t queue, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "UPDATE sotto_lease SET ready_at = {now}, fence = fence + 1,"
                                " held = 0 WHERE queue = ?1 AND ready_at > {now}",
                                err));
    sotto_sql_int(&q, 1, queue);
    return sotto_sql_run(&q, NULL, err);
}
