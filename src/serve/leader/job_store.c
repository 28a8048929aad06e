/* The leader's transactions on a job. */
#include "base/arena.h"
#include "serve/leader/job.h"
#include "serve/leader/replicas.h"
#include "serve/leader/unreadable.h"
#include "serve/tasks/folds.h"
#include "serve/tasks/release.h"
#include "serve/tasks/schema.h"

#include "base/log.h"
#include "sotto/random.h"

#include <stdio.h>
#include <string.h>

/* ---- reading -------------------------------------------------------------------------------------------------- */

bool sotto_leader_is_cached(const sotto_leader_job *job)
{
    for (size_t i = 0; i < job->segments.count; i++)
        if (!job->segments.list[i].cached || job->segments.list[i].cached->begun)
            return false; /* once its first step was done, it has no records any more */
    return true;
}

void sotto_leader_let_go(sotto_leader_job *job)
{
    for (size_t i = 0; i < job->segments.count; i++) {
        sotto_cached_reports_free(job->segments.list[i].cached);
        job->segments.list[i].cached = NULL;
    }
}

static sotto_status make_room(sotto_leader_job *job, sotto_arena *arena, size_t reports,
                              sotto_err *err)
{
    job->records = sotto_arena_take_array(arena, reports + 1, sizeof *job->records);
    job->read = 0;
    return job->records ? SOTTO_OK : sotto_fail(err, SOTTO_NO_MEMORY, "a job's reports");
}

sotto_status sotto_leader_make_places(sotto_leader_job *job, sotto_err *err)
{
    job->places = sotto_arena_take_array(&job->arena, job->segments.count + 1, sizeof *job->places);
    return job->places ? SOTTO_OK : sotto_fail(err, SOTTO_NO_MEMORY, "a job's segments");
}

sotto_status sotto_leader_load_cached(sotto_leader_job *job, sotto_err *err)
{
    size_t reports = 0;

    for (size_t i = 0; i < job->segments.count; i++)
        reports += job->segments.list[i].cached->count;
    SOTTO_TRY(sotto_leader_make_places(job, err));
    SOTTO_TRY(make_room(job, &job->arena, reports, err));
    for (size_t i = 0; i < job->segments.count; i++) {
        const sotto_cached_reports *cached = job->segments.list[i].cached;

        job->places[i] = cached->place;
        for (size_t r = 0; r < cached->count; r++)
            job->records[job->read++] = cached->records[r];
    }
    return SOTTO_OK;
}

static sotto_status keep_segment(sotto_leader_job *job, const sotto_segment *s, size_t *at,
                                 size_t cap, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(s->body);
    sotto_bytes record;

    for (size_t i = 0; sotto_record_next(&in, &record); i++) {
        if (i >= s->reports)
            return sotto_fail(err, SOTTO_MALFORMED, "a segment holds more than it says");
        if ((unsigned)s->skip[i / 8] >> (i % 8) & 1u)
            continue;
        if (*at == cap)
            return sotto_fail(err, SOTTO_MALFORMED, "segments hold more than they say");
        job->records[(*at)++] = record;
    }
    return sotto_reader_finish(&in, "segment", err);
}

/* Somebody else may have taken a segment over, while this process was stopped or had too much to do. */
static bool is_ours(const sotto_leader_job *job, const sotto_segment *s)
{
    return !s->claimed && s->owner == job->leader->server->instance;
}

/* Whether the error is one that reading again at once will not end. */
static bool is_lasting(sotto_status status)
{
    return status == SOTTO_MALFORMED || status == SOTTO_REJECTED || status == SOTTO_DENIED;
}

/* For the transaction that follows this one, which only reads. Without the memory for it the next attempt notes it. */
static void remember(sotto_leader_job *job, int64_t n, const char *why)
{
    if (!job->notes)
        job->notes =
            sotto_arena_take_array(&job->arena, SOTTO_JOB_MAX_SEGMENTS, sizeof *job->notes);
    if (!job->notes || job->note_count == SOTTO_JOB_MAX_SEGMENTS)
        return;
    job->notes[job->note_count].n = n;
    (void)snprintf(job->notes[job->note_count].why, sizeof job->notes->why, "%s", why);
    job->note_count++;
}

/* Damaged, or its key is missing: reading it again at once does not help, and the reports beside it need not wait. It stays
 * where it is, its batch waits for it, and the next recall tries again. False: the job can't go on without it, since a
 * request that was sent has the reports of all its segments. */
static bool is_left_out(sotto_leader_job *job, const sotto_segment *s, const sotto_err *err)
{
    if (!is_lasting(err->status))
        return false;
    remember(job, s->n, err->reason);
    sotto_log(job->leader->server->log, SOTTO_LOG_ERROR, "segment.unreadable",
              sotto_log_int("segment", s->n), sotto_log_uint("bucket", s->bucket),
              sotto_log_uint("reports", s->reports), sotto_log_text("reason", err->reason));
    return !job->on_disk;
}

/* The database could not read a row of this one, and reads nothing more in this transaction. Nothing is known of the others, so
 * nothing is noted. They are tried again one by one; one that is alone already waits for the next recall, as if it were left
 * out. */
static sotto_status stop_at(sotto_leader_job *job, size_t i, size_t kept, const sotto_segment *s,
                            const sotto_err *why, sotto_err *err)
{
    bool left_out = is_left_out(job, s, why);

    for (; i < job->segments.count; i++)
        job->segments.list[kept++] = job->segments.list[i];
    job->segments.count = left_out && kept == 1 ? 0 : kept;
    return sotto_fail(err, why->status, "%s", why->reason);
}

/* Opens the segments that are still ours; segments.list has no others afterwards. */
static sotto_status open_segments(sotto_tx *tx, sotto_leader_job *job, sotto_segment *segments,
                                  size_t *reports, sotto_err *err)
{
    const sotto_column_keys *columns = job->leader->server->columns;
    sotto_err gone = {0};
    size_t kept = 0;

    for (size_t i = 0; i < job->segments.count; i++) {
        sotto_segment *s = &segments[kept];

        s->n = job->segments.list[i].n;
        if (sotto_segment_get(tx, s, columns, job->leader->spool, &job->arena, &gone) == SOTTO_OK &&
            (job->resumed || is_ours(job, s))) {
            *reports += s->reports - s->skipped;
            job->segments.list[kept++] = job->segments.list[i];
        } else if (sotto_tx_has_failed(tx)) {
            return stop_at(job, i, kept, s, &gone, err);
        } else if (gone.status != SOTTO_OK && gone.status != SOTTO_MISSING &&
                   !is_left_out(job, s, &gone)) {
            return sotto_fail(err, gone.status, "%s", gone.reason);
        }
        gone = (sotto_err){0};
    }
    job->segments.count = kept;
    return SOTTO_OK;
}

/* What is not ours any more or can't be read is left out, but for a job that was sent. May run again: segments.list only
 * shrinks. */
static sotto_status load_segments(sotto_tx *tx, sotto_leader_job *job, sotto_err *err)
{
    sotto_segment *segments =
        sotto_arena_take_array(&job->arena, job->segments.count + 1, sizeof *segments);
    size_t reports = 0, kept = 0;

    if (!segments)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a job's segments");
    sotto_leader_let_go(job);
    SOTTO_TRY(sotto_leader_make_places(job, err));
    job->note_count = 0;
    SOTTO_TRY(open_segments(tx, job, segments, &reports, err));
    SOTTO_TRY(make_room(job, &job->arena, reports, err));
    for (size_t i = 0; i < job->segments.count; i++) {
        size_t before = job->read;
        sotto_err why = {0};

        if (keep_segment(job, &segments[i], &job->read, reports, &why) == SOTTO_OK) {
            if (segments[i].noted)
                remember(job, segments[i].n, "");
            job->places[kept] = segments[i].place;
            job->segments.list[kept++] = job->segments.list[i];
        } else {
            job->read = before;
            if (!is_left_out(job, &segments[i], &why))
                return sotto_fail(err, why.status, "%s", why.reason);
        }
    }
    job->segments.count = kept;
    return kept > 0 || job->resumed
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_MISSING, "nothing is left of these segments");
}

static sotto_status open_one(sotto_tx *tx, sotto_leader_job *job, sotto_segment *s, sotto_err *err)
{
    const sotto_column_keys *columns = job->leader->server->columns;

    SOTTO_TRY(sotto_segment_get(tx, s, columns, job->leader->spool, &job->body, err));
    if (!job->on_disk && !is_ours(job, s))
        return SOTTO_OK;
    SOTTO_TRY(make_room(job, &job->body, s->reports - s->skipped, err));
    SOTTO_TRY(keep_segment(job, s, &job->read, s->reports - s->skipped, err));
    job->places[job->at] = s->place;
    if (s->noted)
        remember(job, s->n, "");
    job->left_out = false;
    return SOTTO_OK;
}

/* Alone in its transaction, so that a segment that the database can't read does not keep others from being read. May run
 * again. */
sotto_status sotto_leader_load_segment(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_leader_job *job = context;
    sotto_segment s = {.n = job->segments.list[job->at].n};
    sotto_err why = {0};

    job->note_count = 0;
    job->read = 0;
    job->left_out = true;
    if (open_one(tx, job, &s, &why) == SOTTO_OK || why.status == SOTTO_MISSING)
        return SOTTO_OK;
    job->read = 0;
    job->left_out = is_left_out(job, &s, &why);
    return job->left_out && !sotto_tx_has_failed(tx)
               ? SOTTO_OK
               : sotto_fail(err, why.status, "%s", why.reason);
}

bool sotto_leader_has_note(const sotto_leader_job *job)
{
    return job->note_count > 0;
}

sotto_status sotto_leader_note(sotto_tx *tx, void *context, sotto_err *err)
{
    const sotto_leader_job *job = context;
    sotto_unreadable_finding finding = {.owner = job->leader->server->instance,
                                        .job = job->on_disk ? job->n : -1};

    if (job->on_disk)
        SOTTO_TRY(sotto_lease_check(tx, &job->step->lease, err));
    for (size_t i = 0; i < job->note_count; i++) {
        finding.segment = job->notes[i].n;
        finding.why = job->notes[i].why[0] ? job->notes[i].why : NULL;
        SOTTO_TRY(sotto_unreadable_note(tx, &finding, err));
    }
    return SOTTO_OK;
}

sotto_column_place sotto_leader_request_place(uint8_t row[8], const sotto_leader_job *job)
{
    sotto_row_name(row, job->n);
    return (sotto_column_place){"job", "request", {row, 8}};
}

/* The request can't be read, so no segment of the job can: the cause is noted for each of them. */
static sotto_status tear(sotto_tx *tx, sotto_leader_job *job, const sotto_err *found,
                         sotto_err *err)
{
    /* A missing key or file may come back, and an operator must not take it for damage. */
    const char *why = found->status == SOTTO_MISSING || found->status == SOTTO_DENIED
                          ? found->reason
                          : "its job's request does not open";
    sotto_sql q;
    bool row;

    remember(job, -1, why);
    job->lost = false;
    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "SELECT n, bucket, reports FROM segment WHERE job = ?1 ORDER BY n", err));
    sotto_sql_int(&q, 1, job->n);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    job->lost = !row;
    while (row) {
        sotto_log(job->leader->server->log, SOTTO_LOG_ERROR, "segment.unreadable",
                  sotto_log_int("segment", sotto_sql_column_int(&q, 0)),
                  sotto_log_uint("bucket", (uint64_t)sotto_sql_column_int(&q, 1)),
                  sotto_log_uint("reports", (uint64_t)sotto_sql_column_int(&q, 2)),
                  sotto_log_text("reason", why));
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
    }
    return sotto_fail(err, found->status, "%s", found->reason);
}

/* The sealed request of a row, wherever it is. */
static sotto_status find_request(sotto_leader_job *job, sotto_bytes *request, sotto_err *err)
{
    if (request->len != SOTTO_SPOOL_SHARED_PLACE_SIZE)
        return SOTTO_OK;
    return sotto_place_follow(&job->stored_request.place, request, "request",
                              SOTTO_JOB_MAX_BYTES + SOTTO_COLUMN_OVERHEAD, job->leader->spool,
                              &job->arena, err);
}

/* The row of a job that was on disk, and which segments are its own. */
static sotto_status load_row(sotto_tx *tx, sotto_leader_job *job, sotto_err *err)
{
    uint8_t name[8];
    sotto_column_place place = sotto_leader_request_place(name, job);
    sotto_bytes request;
    sotto_err found = {0};
    sotto_status status;
    sotto_sql q;
    bool row;

    job->note_count = 0;
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT task, bucket, batch, request, reports, refusals, fold"
                                " FROM job WHERE n = ?1 AND state = ?2",
                                err));
    sotto_sql_int(&q, 1, job->n);
    sotto_sql_int(&q, 2, SOTTO_JOB_SENT);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (!row)
        return sotto_fail(err, SOTTO_STALE, "the job is over");
    job->segments.task = sotto_sql_column_int(&q, 0);
    job->bucket = (uint64_t)sotto_sql_column_int(&q, 1);
    job->stored = (uint64_t)sotto_sql_column_int(&q, 4);
    request = sotto_sql_column_bytes(&q, 3);
    job->refusals = sotto_sql_column_int(&q, 5);
    job->fold = sotto_sql_column_int(&q, 6);
    SOTTO_TRY(sotto_batch_key_read(&job->batch, sotto_sql_column_bytes(&q, 2), err));
    status = find_request(job, &request, &found);
    if (status == SOTTO_OK)
        status = sotto_buf_take(&job->request, &job->arena, request.len, &found);
    if (status == SOTTO_OK)
        status = sotto_column_unseal(&job->request, job->leader->server->columns, &place, request,
                                     &found);
    if (status != SOTTO_OK)
        return status == SOTTO_MISSING || is_lasting(status)
                   ? tear(tx, job, &found, err)
                   : sotto_fail(err, status, "%s", found.reason);
    /* In the order in which the request was made from them. */
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT n FROM segment WHERE job = ?1 ORDER BY n", err));
    sotto_sql_int(&q, 1, job->n);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    for (job->segments.count = 0; row && job->segments.count < SOTTO_JOB_MAX_SEGMENTS;) {
        job->segments.list[job->segments.count++] =
            (sotto_job_segment){sotto_sql_column_int(&q, 0), 0, NULL, 0};
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
    }
    return SOTTO_OK;
}

sotto_status sotto_leader_load_row(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_leader_job *job = context;
    sotto_status status = load_row(tx, job, err);

    /* Or its segments could not be abandoned, for as long as the database can't read it. */
    if (is_lasting(status) && job->note_count == 0)
        remember(job, -1, "its job's row can't be read");
    return status;
}

sotto_status sotto_leader_load(sotto_tx *tx, void *context, sotto_err *err)
{
    return load_segments(tx, context, err);
}

sotto_status sotto_leader_read(sotto_leader_job *job, sotto_db_fn *load, sotto_err *err)
{
    sotto_db *db = job->leader->server->db;
    sotto_status status = sotto_db_read(db, load, job, err);

    if (sotto_leader_has_note(job))
        (void)(sotto_db_run(db, sotto_leader_note, job, NULL) == SOTTO_OK); /* else next time */
    return status;
}

/* ---- batches that the leader selects ----------------------------------------------------------------------------- */

enum { BATCH_OPEN = 0, BATCH_FULL = 1 };

/* Closes the list to batches in which enough reports hold. */
static sotto_status mark_full(sotto_tx *tx, const sotto_leader_job *job, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "UPDATE batch SET state = ?3 WHERE task = ?1 AND state = ?2 AND"
                                " (SELECT CAST(sum(a.reports) AS BIGINT) FROM sub_aggregate a"
                                " WHERE a.task = batch.task AND a.batch = batch.id) >= ?4",
                                err));
    sotto_sql_int(&q, 1, job->task->n);
    sotto_sql_int(&q, 2, BATCH_OPEN);
    sotto_sql_int(&q, 3, BATCH_FULL);
    sotto_sql_int(&q, 4, (int64_t)job->task->dap.min_batch_size);
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status add_batch(sotto_tx *tx, const sotto_leader_job *job, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "INSERT INTO batch (task, id, state, added) VALUES (?1, ?2, ?3, {now})", err));
    sotto_sql_int(&q, 1, job->task->n);
    sotto_sql_bytes(&q, 2, sotto_bytes_of(job->batch.bytes, job->batch.len));
    sotto_sql_int(&q, 3, BATCH_OPEN);
    return sotto_sql_run(&q, NULL, err);
}

/* The oldest that would not be full even if all of its reports under way are valid. One that turns out to have
 * fewer valid reports gets more: a batch below its minimum would never be collected. */
sotto_status sotto_leader_pick_batch(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_leader_job *job = context;
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_release_lock(tx, job->task->n, true, err));
    SOTTO_TRY(mark_full(tx, job, err));
    SOTTO_TRY(sotto_sql_prepare(
        tx, &q,
        "SELECT b.id FROM batch b WHERE b.task = ?1 AND b.state = ?2 AND"
        " (SELECT CAST(coalesce(sum(a.reports), 0) AS BIGINT) FROM sub_aggregate a"
        " WHERE a.task = b.task AND a.batch = b.id) +"
        " (SELECT CAST(coalesce(sum(j.reports), 0) AS BIGINT) FROM job j"
        " WHERE j.task = b.task AND j.state = ?3 AND j.batch = b.id) < ?4"
        " ORDER BY b.added, b.id LIMIT 1",
        err));
    sotto_sql_int(&q, 1, job->task->n);
    sotto_sql_int(&q, 2, BATCH_OPEN);
    sotto_sql_int(&q, 3, SOTTO_JOB_SENT);
    sotto_sql_int(&q, 4, (int64_t)job->task->dap.min_batch_size);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    job->batch.len = SOTTO_BATCH_ID_SIZE;
    if (row) {
        SOTTO_TRY(sotto_sql_column_fixed(&q, 0, job->batch.bytes, SOTTO_BATCH_ID_SIZE, err));
        return sotto_sql_run(&q, NULL, err);
    }
    SOTTO_TRY(sotto_random_bytes(job->batch.bytes, SOTTO_BATCH_ID_SIZE, err));
    return add_batch(tx, job, err);
}

/* ---- storing --------------------------------------------------------------------------------------------------------- */

static sotto_status insert_job(sotto_tx *tx, const sotto_leader_job *job, sotto_err *err)
{
    const sotto_spool_place *at = &job->stored_request.place;
    uint8_t row[8], place[SOTTO_SPOOL_SHARED_PLACE_SIZE];
    size_t place_size = sotto_spool_place_write(place, at);
    sotto_sql q;

    sotto_row_name(row, job->n);
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO job (n, task, id, state, bucket, batch, request,"
                                " reports, added, fold)"
                                " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, {now}, ?9)",
                                err));
    sotto_sql_int(&q, 1, job->n);
    sotto_sql_int(&q, 2, job->task->n);
    /* A job with nothing to send is unknown to the helper, and the hash of its empty request names
     * no job. */
    sotto_sql_bytes(&q, 3,
                    job->request.len > 0 ? sotto_bytes_of(job->id, sizeof job->id)
                                         : sotto_bytes_of(row, sizeof row));
    sotto_sql_int(&q, 4, SOTTO_JOB_SENT);
    sotto_sql_int(&q, 5, (int64_t)job->bucket);
    sotto_sql_bytes(&q, 6, sotto_bytes_of(job->batch.bytes, job->batch.len));
    sotto_sql_bytes(
        &q, 7, at->len > 0 ? sotto_bytes_of(place, place_size) : sotto_buf_bytes(&job->sealed));
    sotto_sql_int(&q, 8, (int64_t)job->count);
    sotto_sql_int(&q, 9, job->fold);
    return sotto_sql_run(&q, NULL, err);
}

sotto_status sotto_leader_store(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_leader_job *job = context;
    uint8_t item[8];
    bool closed;

    sotto_row_name(item, job->n);
    SOTTO_TRY(sotto_release_lock(tx, job->task->n, false, err));
    SOTTO_TRY(sotto_batch_is_closed(tx, &closed, job->task->n, &job->batch, err));
    if (closed)
        return sotto_fail(err, SOTTO_STALE, "the batch closed meanwhile");
    for (size_t i = 0; i < job->segments.count; i++)
        SOTTO_TRY(sotto_segment_claim(tx, job->segments.list[i].n, job->n, err));
    if (sotto_fold_is_wanted(job->task, job->count))
        SOTTO_TRY(sotto_fold_choose(tx, &job->fold, job->task, &job->batch,
                                    job->leader->server->shard, job->count, err));
    SOTTO_TRY(insert_job(tx, job, err));
    /* Its maker holds it first; whoever finds it after that time may go on with it. */
    return sotto_lease_add_held(
        tx, &job->step->lease, SOTTO_QUEUE_JOBS, sotto_bytes_of(item, sizeof item),
        (int64_t)job->leader->server->host->options.lease_seconds * 1000, err);
}

sotto_status sotto_leader_put_off(sotto_tx *tx, void *context, sotto_err *err)
{
    const sotto_leader_job *job = context;
    sotto_sql q;

    SOTTO_TRY(sotto_step_release(tx, job->step, err));
    if (!job->refused)
        return SOTTO_OK;
    SOTTO_TRY(
        sotto_sql_prepare(tx, &q, "UPDATE job SET refusals = refusals + 1 WHERE n = ?1", err));
    sotto_sql_int(&q, 1, job->n);
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status end_job(sotto_tx *tx, const sotto_leader_job *job, int64_t state,
                            sotto_err *err)
{
    uint64_t changed;
    sotto_sql q;

    SOTTO_TRY(sotto_lease_finish(tx, &job->step->lease, err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "UPDATE job SET state = ?3, request = NULL WHERE n = ?1 AND"
                                " state = ?2",
                                err));
    sotto_sql_int(&q, 1, job->n);
    sotto_sql_int(&q, 2, SOTTO_JOB_SENT);
    sotto_sql_int(&q, 3, state);
    SOTTO_TRY(sotto_sql_run(&q, &changed, err));
    if (changed != 1)
        return sotto_fail(err, SOTTO_STALE, "the job is over");
    SOTTO_TRY(sotto_leader_tell_others(tx, job->leader, err));
    return sotto_segments_destroy(tx, job->n, err);
}

static sotto_status count_causes(sotto_tx *tx, const sotto_leader_job *job, sotto_err *err)
{
    for (unsigned cause = 1; cause < SOTTO_CAUSES; cause++)
        if (job->causes[cause] > 0)
            SOTTO_TRY(sotto_batch_reject(tx, job->task->n, &job->batch, cause,
                                         job->leader->server->shard, job->causes[cause], err));
    return SOTTO_OK;
}

sotto_status sotto_leader_finish(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_leader_job *job = context;

    SOTTO_TRY(end_job(tx, job, SOTTO_JOB_DONE, err));
    SOTTO_TRY(count_causes(tx, job, err));
    if (job->sub.reports == 0)
        return SOTTO_OK;
    return sotto_batch_add(tx, job->leader->server->columns, job->task, job->n, &job->sub,
                           &job->arena, err);
}

uint64_t sotto_leader_job_reports(const sotto_leader_job *job)
{
    return job->resumed ? job->stored : job->count;
}

sotto_status sotto_leader_abandon(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_leader_job *job = context;

    memset(job->causes, 0, sizeof job->causes);
    job->causes[SOTTO_CAUSE_ABANDONED] = sotto_leader_job_reports(job);
    SOTTO_TRY(end_job(tx, job, SOTTO_JOB_ABANDONED, err));
    return count_causes(tx, job, err);
}
