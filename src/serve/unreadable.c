#include "serve/unreadable.h"

#include "base/rule.h"
#include "db/lease.h"
#include "serve/answer.h"
#include "serve/batches.h"
#include "serve/release.h"
#include "serve/schema.h"
#include "serve/segments.h"

#include <string.h>

/* ---- noting -------------------------------------------------------------------------------------------------- */

sotto_status sotto_unreadable_note(sotto_tx *tx, const sotto_unreadable_finding *f, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q,
        f->job >= 0 ? "UPDATE segment SET unreadable = ?2 WHERE job = ?3 AND (n = ?1 OR ?1 = -1)"
                      " AND coalesce(unreadable, '') <> coalesce(?2, '')"
                    : "UPDATE segment SET unreadable = ?2 WHERE n = ?1 AND job IS NULL"
                      " AND (owner = ?3 OR ?4 = 0)"
                      " AND coalesce(unreadable, '') <> coalesce(?2, '')",
        err));
    sotto_sql_int(&q, 1, f->segment);
    sotto_sql_text(&q, 2, f->why);
    sotto_sql_int(&q, 3, f->job >= 0 ? f->job : f->owner);
    if (f->job < 0)
        sotto_sql_int(&q, 4, SOTTO_RULE(noted_by_its_owner));
    return sotto_sql_run(&q, NULL, err);
}

sotto_status sotto_unreadable_count(sotto_tx *tx, uint64_t *segments, sotto_err *err)
{
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT count(*) FROM segment WHERE unreadable IS NOT NULL",
                                err));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    *segments = row ? (uint64_t)sotto_sql_column_int(&q, 0) : 0;
    return sotto_sql_run(&q, NULL, err);
}

/* ---- listing ------------------------------------------------------------------------------------------------- */

static sotto_status list(sotto_tx *tx, const char *sql, sotto_unreadable_fn *show, void *context,
                         sotto_err *err)
{
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, sql, err));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    while (row) {
        uint64_t reports = (uint64_t)sotto_sql_column_int(&q, 3);
        uint64_t skipped = sotto_segment_skipped(sotto_sql_column_bytes(&q, 7));
        sotto_unreadable line = {.segment = sotto_sql_column_int(&q, 0),
                                 .task = sotto_sql_column_int(&q, 1),
                                 .bucket = (uint64_t)sotto_sql_column_int(&q, 2),
                                 .reports = reports > skipped ? reports - skipped : 0,
                                 .sent = sotto_sql_column_int(&q, 4) != 0,
                                 .why = sotto_sql_column_text(&q, 5),
                                 .reason = sotto_sql_column_text(&q, 6)};

        SOTTO_TRY(show(context, &line, err));
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
    }
    return SOTTO_OK;
}

sotto_status sotto_unreadable_list(sotto_tx *tx, sotto_unreadable_fn *show, void *context,
                                   sotto_err *err)
{
    SOTTO_TRY(list(tx,
                   "SELECT s.n, s.task, s.bucket, coalesce(j.reports, s.reports),"
                   " CASE WHEN j.n IS NULL THEN 0 ELSE 1 END, s.unreadable, '',"
                   " CASE WHEN j.n IS NULL THEN s.skip ELSE NULL END"
                   " FROM segment s LEFT JOIN job j ON j.n = s.job"
                   " WHERE s.unreadable IS NOT NULL ORDER BY s.n LIMIT 1000",
                   show, context, err));
    return list(tx,
                "SELECT segment, task, bucket, reports, sent, why, reason, NULL FROM abandoned"
                " ORDER BY segment LIMIT 1000",
                show, context, err);
}

/* ---- giving up ----------------------------------------------------------------------------------------------- */

/* What is known of a segment before it goes. */
typedef struct doomed {
    int64_t task, job;
    uint64_t bucket, reports;
    bool sent;
    char why[sizeof((sotto_err *)0)->reason];
    sotto_batch_key batch;
} doomed;

static sotto_status find(sotto_tx *tx, doomed *out, int64_t segment, sotto_err *err)
{
    sotto_sql q;
    bool row;
    uint64_t skipped;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT task, bucket, reports, skip, job, unreadable FROM segment"
                                " WHERE n = ?1 {lock}",
                                err));
    sotto_sql_int(&q, 1, segment);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (!row)
        return sotto_fail(err, SOTTO_MISSING, "no segment %lld waits", (long long)segment);
    *out = (doomed){.task = sotto_sql_column_int(&q, 0),
                    .bucket = (uint64_t)sotto_sql_column_int(&q, 1),
                    .reports = (uint64_t)sotto_sql_column_int(&q, 2),
                    .sent = !sotto_sql_column_null(&q, 4)};
    skipped = sotto_segment_skipped(sotto_sql_column_bytes(&q, 3));
    out->reports = out->reports > skipped ? out->reports - skipped : 0;
    out->job = out->sent ? sotto_sql_column_int(&q, 4) : 0;
    out->batch = sotto_batch_of_bucket(out->bucket);
    /* One that can be read is added up, and is nobody's to throw away. */
    if (sotto_sql_column_null(&q, 5) && SOTTO_RULE(only_unreadable_given_up))
        return sotto_fail(err, SOTTO_DENIED, "segment %lld was never found unreadable",
                          (long long)segment);
    (void)strncpy(out->why, sotto_sql_column_text(&q, 5), sizeof out->why - 1);
    return sotto_sql_run(&q, NULL, err);
}

/* One that no job has gets one of its own, which nobody knows: whoever is about to claim it comes too late. */
static sotto_status take(sotto_tx *tx, doomed *d, int64_t segment, sotto_err *err)
{
    SOTTO_TRY(sotto_row_number(&d->job, err));
    return sotto_segment_claim(tx, segment, d->job, err);
}

/* The helper may have added the job up, so it goes whole: the sum of what is left of it would be a sum of our own. */
static sotto_status end_job(sotto_tx *tx, doomed *d, sotto_err *err)
{
    uint8_t item[8];
    sotto_bytes batch;
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "UPDATE job SET state = ?3, request = NULL WHERE n = ?1 AND"
                                " state = ?2 RETURNING reports, batch",
                                err));
    sotto_sql_int(&q, 1, d->job);
    sotto_sql_int(&q, 2, SOTTO_JOB_SENT);
    sotto_sql_int(&q, 3, SOTTO_JOB_ABANDONED);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (!row)
        return sotto_fail(err, SOTTO_STALE, "its job is over");
    d->reports = (uint64_t)sotto_sql_column_int(&q, 0);
    batch = sotto_sql_column_bytes(&q, 1);
    if (batch.len > sizeof d->batch.bytes)
        return sotto_fail(err, SOTTO_MALFORMED, "a job's batch is not one");
    d->batch.len = batch.len;
    memcpy(d->batch.bytes, batch.data, batch.len);
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    sotto_row_name(item, d->job);
    return sotto_lease_drop(tx, SOTTO_QUEUE_JOBS, sotto_bytes_of(item, sizeof item), err);
}

static sotto_status record(sotto_tx *tx, const doomed *d, const sotto_giving_up *g, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO abandoned (segment, task, bucket, reports, sent, why,"
                                " reason, since) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, {now})",
                                err));
    sotto_sql_int(&q, 1, g->segment);
    sotto_sql_int(&q, 2, d->task);
    sotto_sql_int(&q, 3, (int64_t)d->bucket);
    sotto_sql_int(&q, 4, (int64_t)d->reports);
    sotto_sql_int(&q, 5, d->sent);
    sotto_sql_text(&q, 6, d->why);
    sotto_sql_text(&q, 7, g->reason);
    return sotto_sql_run(&q, NULL, err);
}

sotto_status sotto_unreadable_give_up(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_giving_up *g = context;
    doomed d;

    if (!g->reason || !g->reason[0])
        return sotto_fail(err, SOTTO_DENIED, "reports are given up with a reason, or not");
    SOTTO_TRY(find(tx, &d, g->segment, err));
    SOTTO_TRY(sotto_release_lock(tx, d.task, false, err));
    SOTTO_TRY(d.sent ? end_job(tx, &d, err) : take(tx, &d, g->segment, err));
    SOTTO_TRY(sotto_segments_destroy(tx, d.job, err));
    SOTTO_TRY(record(tx, &d, g, err));
    g->reports = d.reports;
    return SOTTO_RULE(given_up_counted)
               ? sotto_batch_reject(tx, d.task, &d.batch, SOTTO_CAUSE_UNREADABLE, 0, d.reports, err)
               : SOTTO_OK;
}
