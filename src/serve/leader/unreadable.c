#include "serve/leader/unreadable.h"

#include "base/rule.h"
#include "db/lease.h"
#include "db/sealed.h"
#include "serve/leader/segments.h"
#include "serve/tasks/answer.h"
#include "serve/tasks/batches.h"
#include "serve/tasks/release.h"
#include "serve/tasks/schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- noting -------------------------------------------------------------------------------------------------- */

sotto_status sotto_unreadable_note(sotto_tx *tx, const sotto_unreadable_finding *f, sotto_err *err)
{
    static const char in_job[] = "UPDATE segment SET unreadable = ?2 WHERE job = ?3"
                                 " AND (n = ?1 OR ?1 = -1)"
                                 " AND coalesce(unreadable, '') <> coalesce(?2, '')";
    static const char in_none[] = "UPDATE segment SET unreadable = ?2 WHERE n = ?1"
                                  " AND job IS NULL AND owner = ?3"
                                  " AND coalesce(unreadable, '') <> coalesce(?2, '')";
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, f->job >= 0 ? in_job : in_none, err));
    sotto_sql_int(&q, 1, f->segment);
    sotto_sql_text(&q, 2, f->why);
    sotto_sql_int(&q, 3, f->job >= 0 ? f->job : f->owner);
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

/* Reports of a segment that are not skipped. */
static uint64_t left_of(int64_t reports, sotto_bytes skip)
{
    uint64_t all = (uint64_t)reports, skipped = sotto_segment_skipped(skip);

    return all > skipped ? all - skipped : 0;
}

/* ---- listing ------------------------------------------------------------------------------------------------- */

/* Rows that are held in memory at once: db/sql.h. */
enum { PAGE = 500 };

static sotto_unreadable line_of(const sotto_sql *q)
{
    uint64_t reports = left_of(sotto_sql_column_int(q, 3), sotto_sql_column_bytes(q, 7));

    return (sotto_unreadable){
        .segment = sotto_sql_column_int(q, 0),
        .task = sotto_sql_column_int(q, 1),
        .bucket = (uint64_t)sotto_sql_column_int(q, 2),
        .reports = reports,
        .together = sotto_sql_column_null(q, 8) ? reports : (uint64_t)sotto_sql_column_int(q, 8),
        .sent = sotto_sql_column_int(q, 4) != 0,
        .why = sotto_sql_column_text(q, 5),
        .reason = sotto_sql_column_text(q, 6)};
}

/* A page of the statement: those behind segment ?1, ?2 of them. */
static sotto_status list(sotto_tx *tx, const char *sql, sotto_unreadable_fn *show, void *context,
                         sotto_err *err)
{
    int64_t after = -1;
    unsigned lines;
    sotto_sql q;
    bool row;

    do {
        lines = 0;
        SOTTO_TRY(sotto_sql_prepare(tx, &q, sql, err));
        sotto_sql_int(&q, 1, after);
        sotto_sql_int(&q, 2, PAGE);
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
        while (row) {
            sotto_unreadable line = line_of(&q);

            SOTTO_TRY(show(context, &line, err));
            after = line.segment;
            lines++;
            SOTTO_TRY(sotto_sql_step(&q, &row, err));
        }
    } while (lines == PAGE);
    return SOTTO_OK;
}

sotto_status sotto_unreadable_list(sotto_tx *tx, sotto_unreadable_fn *show, void *context,
                                   sotto_err *err)
{
    SOTTO_TRY(list(tx,
                   "SELECT s.n, s.task, s.bucket, s.reports,"
                   " CASE WHEN j.n IS NULL THEN 0 ELSE 1 END, s.unreadable, '', s.skip, j.reports"
                   " FROM segment s LEFT JOIN job j ON j.n = s.job"
                   " WHERE s.unreadable IS NOT NULL AND s.n > ?1 ORDER BY s.n LIMIT ?2",
                   show, context, err));
    return list(tx,
                "SELECT segment, task, bucket, reports, sent, why, reason, NULL, NULL FROM"
                " abandoned WHERE segment > ?1 ORDER BY segment LIMIT ?2",
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
                    .reports = left_of(sotto_sql_column_int(&q, 2), sotto_sql_column_bytes(&q, 3)),
                    .sent = !sotto_sql_column_null(&q, 4)};
    out->job = out->sent ? sotto_sql_column_int(&q, 4) : 0;
    out->batch = sotto_batch_of_bucket(out->bucket);
    /* A segment that can be read is added up, and can't be abandoned. */
    if (SOTTO_RULE(only_unreadable_given_up) && sotto_sql_column_null(&q, 5))
        return sotto_fail(
            err, SOTTO_DENIED,
            "segment %lld is not marked unreadable: abandon works only on those that are",
            (long long)segment);
    (void)strncpy(out->why, sotto_sql_column_text(&q, 5), sizeof out->why - 1);
    return sotto_sql_run(&q, NULL, err);
}

/* One without a job gets a job of its own, which nobody knows: a process that is about to claim it comes too
 * late. */
static sotto_status take(sotto_tx *tx, doomed *d, int64_t segment, sotto_err *err)
{
    SOTTO_TRY(sotto_row_number(&d->job, err));
    return sotto_segment_claim(tx, segment, d->job, err);
}

/* The helper may have added the job up, so the whole job is dropped: a sum of the rest would not match the
 * helper's. */
static sotto_status end_job(sotto_tx *tx, doomed *d, sotto_err *err)
{
    sotto_batch_key batch;
    uint8_t item[8];
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
    /* If its name is damaged, it is counted for the bucket. */
    if (sotto_batch_key_read(&batch, sotto_sql_column_bytes(&q, 1), NULL) == SOTTO_OK)
        d->batch = batch;
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    sotto_row_name(item, d->job);
    return sotto_lease_drop(tx, SOTTO_QUEUE_JOBS, sotto_bytes_of(item, sizeof item), err);
}

/* A missing key may be put back, and then nothing is lost. So its reports are abandoned only where the operator says that
 * the key is lost. */
static sotto_status check_key(const doomed *d, sotto_giving_up *g, sotto_err *err)
{
    const char *key = strstr(d->why, SOTTO_COLUMN_KEY_GONE);

    if (!key)
        return SOTTO_OK;
    key += sizeof SOTTO_COLUMN_KEY_GONE - 1;
    if (g->lost_key && strcmp(g->lost_key, key) == 0)
        return SOTTO_OK;
    g->key_is_missing = true;
    return sotto_fail(err, SOTTO_DENIED,
                      "datastore key %.8s is missing: put it back and restart the leader, which"
                      " loses nothing; or, if it is gone for good, --key-is-lost %.8s",
                      key, key);
}

static sotto_status record(sotto_tx *tx, const doomed *d, int64_t segment, const char *reason,
                           sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO abandoned (segment, task, bucket, reports, sent, why,"
                                " reason, since) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, {now})",
                                err));
    sotto_sql_int(&q, 1, segment);
    sotto_sql_int(&q, 2, d->task);
    sotto_sql_int(&q, 3, (int64_t)d->bucket);
    sotto_sql_int(&q, 4, (int64_t)d->reports);
    sotto_sql_int(&q, 5, d->sent);
    sotto_sql_text(&q, 6, d->why);
    sotto_sql_text(&q, 7, reason);
    return sotto_sql_run(&q, NULL, err);
}

/* The segment of the job that comes after this one, as it is recorded beside the one that was given up. */
static sotto_status next_beside(sotto_tx *tx, const doomed *d, doomed *out, int64_t *segment,
                                int64_t given_up, bool *row, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT n, bucket, reports, skip, unreadable FROM segment"
                                " WHERE job = ?1 AND n > ?2 AND n <> ?3 ORDER BY n LIMIT 1",
                                err));
    sotto_sql_int(&q, 1, d->job);
    sotto_sql_int(&q, 2, *segment);
    sotto_sql_int(&q, 3, given_up);
    SOTTO_TRY(sotto_sql_step(&q, row, err));
    if (!*row)
        return SOTTO_OK;
    *segment = sotto_sql_column_int(&q, 0);
    *out = *d;
    out->bucket = (uint64_t)sotto_sql_column_int(&q, 1);
    out->reports = left_of(sotto_sql_column_int(&q, 2), sotto_sql_column_bytes(&q, 3));
    (void)snprintf(out->why, sizeof out->why, "in the job of segment %" PRId64 "%s%.90s", given_up,
                   sotto_sql_column_null(&q, 4) ? "" : "; ", sotto_sql_column_text(&q, 4));
    return sotto_sql_run(&q, NULL, err);
}

/* Each segment that goes, with its own reports: together they are those of the job. */
static sotto_status record_all(sotto_tx *tx, const doomed *d, const sotto_giving_up *g,
                               sotto_err *err)
{
    doomed own = *d, beside;
    int64_t segment = -1;
    bool row = d->sent;

    while (row) {
        SOTTO_TRY(next_beside(tx, d, &beside, &segment, g->segment, &row, err));
        if (!row)
            break;
        SOTTO_TRY(record(tx, &beside, segment, g->reason, err));
        own.reports -= beside.reports < own.reports ? beside.reports : own.reports;
    }
    return record(tx, &own, g->segment, g->reason, err);
}

sotto_status sotto_unreadable_give_up(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_giving_up *g = context;
    doomed d;

    g->key_is_missing = false;
    if (!g->reason || !g->reason[0])
        return sotto_fail(err, SOTTO_DENIED, "give a reason (--reason) to abandon reports");
    SOTTO_TRY(find(tx, &d, g->segment, err));
    SOTTO_TRY(check_key(&d, g, err));
    SOTTO_TRY(sotto_release_lock(tx, d.task, false, err));
    SOTTO_TRY(d.sent ? end_job(tx, &d, err) : take(tx, &d, g->segment, err));
    SOTTO_TRY(record_all(tx, &d, g, err));
    SOTTO_TRY(sotto_segments_destroy(tx, d.job, err));
    g->reports = d.reports;
    return sotto_batch_reject(tx, d.task, &d.batch, SOTTO_CAUSE_UNREADABLE, 0, d.reports, err);
}
