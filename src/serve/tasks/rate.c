#include "serve/tasks/rate.h"

#include "base/rule.h"
#include "dap/dap.h"
#include "recipe/learning_slots.h"
#include "recipe/participation.h"
#include "serve/tasks/log_task.h"
#include "serve/tasks/schema.h"

#include <math.h>
#include <string.h>

/* What this side found itself; what the peer found came from the same reports. */
enum { CAUSES = 64 };

/* The helper: every report of every job that came. Only the leader can send one. */
static sotto_status in_jobs(sotto_tx *tx, uint64_t *out, const sotto_server_task *task,
                            const sotto_batch_range *range, uint64_t verified, sotto_err *err)
{
    uint64_t rejected[CAUSES];

    SOTTO_TRY(sotto_batch_rejections(tx, rejected, CAUSES, task->n, range, err));
    *out = verified;
    for (size_t i = 0; i < CAUSES; i++)
        *out += rejected[i];
    return SOTTO_OK;
}

/* The leader counts reports that it acknowledged, whatever became of them later. What it rejected at upload is not counted:
 * uploads cost a stranger nothing, and strangers could hold every batch. */
static sotto_status arrived_for(sotto_tx *tx, uint64_t *out, const sotto_server_task *task,
                                const sotto_batch_range *range, uint64_t verified, sotto_err *err)
{
    bool is_leader = task->verifier.aggregator == 0;

    if (!is_leader)
        return in_jobs(tx, out, task, range, verified, err);
    SOTTO_TRY(sotto_batch_count_jobs(tx, out, task->n, range, err));
    if (*out < verified)
        *out = verified;
    return SOTTO_OK;
}

/* When a bucket begins, or `latest` if that is earlier: a collector may name buckets past all time. */
static uint64_t begins(uint64_t bucket, uint64_t precision, uint64_t latest)
{
    return bucket > latest / precision ? latest : bucket * precision;
}

/* The slots that a window may touch. Without slots devices answer when they like, all of them in the first hour perhaps, so
 * that every window may have them all. */
static sotto_slot_range touched(const sotto_server_task *task, const sotto_batch_range *range)
{
    const sotto_recipe *recipe = task->recipe;
    const uint64_t opens = (uint64_t)recipe->opens, closes = (uint64_t)recipe->closes;
    uint64_t start = opens, end = closes;

    if (!range->leader_selected) {
        start = begins(range->first_bucket, task->dap.precision, closes);
        end = begins(range->end_bucket, task->dap.precision, closes);
    }
    if (start < opens)
        start = opens;
    return sotto_participation_slots(&recipe->participation, (int64_t)start, (int64_t)end);
}

uint64_t sotto_rate_expected(const sotto_server_task *task, const sotto_batch_range *range,
                             uint64_t population)
{
    double chance = 1; /* a bare task has no recipe to tell */

    if (task->recipe) {
        const sotto_slot_range slots = touched(task, range);

        chance =
            sotto_participation_sends(&task->recipe->participation, slots, task->recipe->dummies);
        /* Windows that slide begin with every round: all devices may have arrived in the last few. */
        if (sotto_learning_policy(task->learning) == SOTTO_ROUND_ALL_AFTER_WARM_UP)
            chance = 1 / (double)sotto_learning_reach(task->learning);
    }
    /* A whole number that rounding made slightly larger is not rounded up. */
    return (uint64_t)ceil(chance * (double)population * (1 - 1e-12));
}

/* From the row, at this moment: an operator who corrects the population need not restart the
 * server. */
sotto_status sotto_rate_population(sotto_tx *tx, uint64_t *out, int64_t task, sotto_err *err)
{
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT population FROM task WHERE n = ?1", err));
    sotto_sql_int(&q, 1, task);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    *out = row ? (uint64_t)sotto_sql_column_int(&q, 0) : 0;
    return sotto_sql_run(&q, NULL, err);
}

static void bind_range(sotto_sql *q, int64_t task, const sotto_batch_range *range)
{
    sotto_sql_int(q, 1, task);
    sotto_sql_int(q, 2, (int64_t)range->first_bucket);
    sotto_sql_int(q, 3, (int64_t)range->end_bucket);
    sotto_sql_bytes(q, 4, sotto_bytes_of(range->batch.bytes, range->batch.len));
}

/* What was found earlier: that it is held, or a reason to release it. A reason holds for at most the number
 * of reports it was given for. */
typedef struct earlier {
    bool released, held;
} earlier;

static sotto_status look_up(sotto_tx *tx, earlier *out, int64_t task,
                            const sotto_batch_range *range, uint64_t arrived, sotto_err *err)
{
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT CASE WHEN reason IS NULL THEN 1 ELSE 0 END, arrived"
                                " FROM held WHERE task = ?1 AND first_bucket = ?2 AND"
                                " end_bucket = ?3 AND batch = ?4",
                                err));
    bind_range(&q, task, range);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    out->held = row && sotto_sql_column_int(&q, 0) == 1;
    out->released = row && !out->held && (uint64_t)sotto_sql_column_int(&q, 1) >= arrived;
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status hold(sotto_tx *tx, int64_t task, const sotto_batch_range *range,
                         uint64_t arrived, uint64_t expected, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q,
        "INSERT INTO held (task, first_bucket, end_bucket, batch, arrived, expected, since)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, {now}) ON CONFLICT"
        " (task, first_bucket, end_bucket, batch) DO UPDATE SET arrived = ?5, expected = ?6,"
        " reason = NULL, released = NULL",
        err));
    bind_range(&q, task, range);
    sotto_sql_int(&q, 5, (int64_t)arrived);
    sotto_sql_int(&q, 6, (int64_t)expected);
    return sotto_sql_run(&q, NULL, err);
}

/* Reports of the task's largest released batch: in each bucket of time, rounded up; of batches that the leader selects, in
 * all. 0: none was released yet. */
static sotto_status read_history(sotto_tx *tx, uint64_t *out, int64_t task,
                                 const sotto_batch_range *range, sotto_err *err)
{
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q,
        range->leader_selected
            ? "SELECT coalesce(max(reports), 0) FROM release WHERE task = ?1 AND state = ?2 AND"
              " end_bucket = 0"
            : "SELECT coalesce(max((reports - 1) / (end_bucket - first_bucket) + 1), 0)"
              " FROM release WHERE task = ?1 AND state = ?2 AND"
              " end_bucket > first_bucket",
        err));
    sotto_sql_int(&q, 1, task);
    sotto_sql_int(&q, 2, SOTTO_RELEASE_DONE);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    *out = row ? (uint64_t)sotto_sql_column_int(&q, 0) : 0;
    return sotto_sql_run(&q, NULL, err);
}

/* The smaller of what the population explains and what earlier batches had, as far as either is known. */
static sotto_status expect(sotto_tx *tx, sotto_rate *rate, const sotto_server_task *task,
                           const sotto_batch_range *range, bool history, sotto_err *err)
{
    uint64_t population, before = 0, length = range->end_bucket - range->first_bucket;

    SOTTO_TRY(sotto_rate_population(tx, &population, task->n, err));
    if (history)
        SOTTO_TRY(read_history(tx, &before, task->n, range, err));
    rate->checking = population > 0 || before > 0 ? SOTTO_RATE_PASSED : SOTTO_RATE_OFF;
    rate->expected = population > 0 ? sotto_rate_expected(task, range, population) : UINT64_MAX;
    if (!range->leader_selected && before > 0)
        before = before > UINT64_MAX / length ? UINT64_MAX : before * length;
    if (before > 0 && before < rate->expected)
        rate->expected = before;
    return SOTTO_OK;
}

sotto_status sotto_rate_check(sotto_tx *tx, sotto_rate *rate, const sotto_server_task *task,
                              const sotto_batch_range *range, uint64_t verified, bool history,
                              sotto_err *err)
{
    uint64_t arrived;
    earlier before;

    *rate = (sotto_rate){0};
    SOTTO_TRY(expect(tx, rate, task, range, history, err));
    if (rate->checking == SOTTO_RATE_OFF)
        return SOTTO_OK;
    SOTTO_TRY(arrived_for(tx, &arrived, task, range, verified, err));
    rate->arrived = arrived;
    if (arrived / 2 < rate->expected || (arrived / 2 == rate->expected && arrived % 2 == 0))
        return SOTTO_OK;
    SOTTO_TRY(look_up(tx, &before, task->n, range, arrived, err));
    rate->checking = SOTTO_RATE_RELEASED; /* when it goes */
    rate->let_go = before.released;
    if (rate->let_go)
        return SOTTO_OK;
    rate->held = true;
    rate->began = !before.held;
    return hold(tx, task->n, range, arrived, rate->expected, err);
}

void sotto_rate_tell(const sotto_log_sink *log, const sotto_server_task *task,
                     const sotto_rate *rate)
{
    char id[SOTTO_DAP_ID_TEXT_MAX];

    if (rate->began)
        sotto_log(log, SOTTO_LOG_WARNING, "batch.held", sotto_log_task(id, task),
                  sotto_log_uint("arrived", rate->arrived),
                  sotto_log_uint("expected", rate->expected),
                  sotto_log_text("see", "sotto admin batch list"));
    if (rate->let_go)
        sotto_log(log, SOTTO_LOG_INFO, "batch.let_go", sotto_log_task(id, task),
                  sotto_log_uint("arrived", rate->arrived),
                  sotto_log_uint("expected", rate->expected));
}

/* The row of a batch that was released since the population was corrected has no reason, and stays: only its
 * release tells that it went. The state from which it counts is a parameter of the statement, the one that is
 * named. */
#define COLLECTED(state)                                                                           \
    "EXISTS (SELECT 1 FROM release r WHERE r.task = held.task AND r.batch = held.batch AND"        \
    " r.state >= " state " AND (held.end_bucket = 0 OR (r.first_bucket < held.end_bucket AND"      \
    " r.end_bucket > held.first_bucket)))"
#define RETIRED "held.task IN (SELECT task FROM retired)"

sotto_status sotto_rate_count(sotto_tx *tx, uint64_t *held, sotto_role role, sotto_err *err)
{
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q,
        "SELECT count(*) FROM held JOIN task t ON t.n = held.task WHERE t.role = ?1 AND"
        " held.reason IS NULL AND NOT " RETIRED " AND NOT " COLLECTED("?2"),
        err));
    sotto_sql_int(&q, 1, (int64_t)role);
    sotto_sql_int(&q, 2, SOTTO_RELEASE_CLOSED);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    *held = row ? (uint64_t)sotto_sql_column_int(&q, 0) : 0;
    return sotto_sql_run(&q, NULL, err);
}

/* Why there is nothing to release. */
static sotto_status not_held(sotto_tx *tx, const sotto_rate_release *r, sotto_err *err)
{
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT CASE WHEN reason IS NULL THEN 0 ELSE 1 END FROM held WHERE"
                                " task = ?1 AND first_bucket = ?2 AND end_bucket = ?3 AND"
                                " batch = ?4",
                                err));
    bind_range(&q, r->task, &r->range);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (!row)
        return sotto_fail(err, SOTTO_MISSING, "no such batch is held");
    return sotto_fail(err, SOTTO_MISSING, "%s: there is nothing to release",
                      sotto_sql_column_int(&q, 0) == 1 ? "the batch was released before"
                                                       : "the batch was collected or its task "
                                                         "retired");
}

sotto_status sotto_rate_release_batch(sotto_tx *tx, void *context, sotto_err *err)
{
    const sotto_rate_release *r = context;
    uint64_t changed;
    sotto_sql q;

    if (SOTTO_RULE(rate_released_with_reason) && (!r->reason || !r->reason[0]))
        return sotto_fail(err, SOTTO_DENIED, "give a reason (--reason) to release a held batch");
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "UPDATE held SET reason = ?5, released = {now} WHERE task = ?1 AND"
                                " first_bucket = ?2 AND end_bucket = ?3 AND batch = ?4 AND"
                                " reason IS NULL AND NOT " RETIRED " AND NOT " COLLECTED("?6"),
                                err));
    bind_range(&q, r->task, &r->range);
    sotto_sql_text(&q, 5, r->reason);
    sotto_sql_int(&q, 6, SOTTO_RELEASE_CLOSED);
    SOTTO_TRY(sotto_sql_run(&q, &changed, err));
    return changed ? SOTTO_OK : not_held(tx, r, err);
}

static sotto_held line_of(const sotto_sql *q)
{
    sotto_held line = {.task = sotto_sql_column_int(q, 0),
                       .range = {.first_bucket = (uint64_t)sotto_sql_column_int(q, 1),
                                 .end_bucket = (uint64_t)sotto_sql_column_int(q, 2)},
                       .arrived = (uint64_t)sotto_sql_column_int(q, 4),
                       .expected = (uint64_t)sotto_sql_column_int(q, 5),
                       .reason = sotto_sql_column_text(q, 6),
                       .held = sotto_sql_column_int(q, 7) == 1};

    line.range.leader_selected = line.range.end_bucket == 0;
    /* A damaged name is shown as none. */
    (void)(sotto_batch_key_read(&line.range.batch, sotto_sql_column_bytes(q, 3), NULL) == SOTTO_OK);
    return line;
}

/* Rows that are held in memory at once: db/sql.h. */
enum { PAGE = 500 };

/* Those behind *last, which was held since *since, up to PAGE of them; *last is the last of these afterwards. */
static sotto_status list_page(sotto_tx *tx, sotto_held *last, int64_t *since, unsigned *lines,
                              sotto_held_fn *show, void *context, sotto_err *err)
{
    sotto_sql q;
    bool row;

    *lines = 0;
    SOTTO_TRY(sotto_sql_prepare(
        tx, &q,
        "SELECT task, first_bucket, end_bucket, batch, arrived, expected, reason,"
        " CASE WHEN reason IS NOT NULL THEN 0 WHEN " RETIRED " OR " COLLECTED(
            "?6") " THEN 0 ELSE 1 END, since FROM held"
                  " WHERE (since, task, first_bucket, end_bucket, batch) > (?5, ?1, ?2, ?3, ?4)"
                  " ORDER BY since, task, first_bucket, end_bucket, batch LIMIT ?7",
        err));
    bind_range(&q, last->task, &last->range);
    sotto_sql_int(&q, 5, *since);
    sotto_sql_int(&q, 6, SOTTO_RELEASE_CLOSED);
    sotto_sql_int(&q, 7, PAGE);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    while (row) {
        sotto_held line = line_of(&q);

        SOTTO_TRY(show(context, &line, err));
        *since = sotto_sql_column_int(&q, 8);
        (*lines)++;
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
        *last = line;
    }
    return SOTTO_OK;
}

sotto_status sotto_rate_list(sotto_tx *tx, sotto_held_fn *show, void *context, sotto_err *err)
{
    sotto_held last = {.task = -1};
    int64_t since = -1;
    unsigned lines;

    do
        SOTTO_TRY(list_page(tx, &last, &since, &lines, show, context, err));
    while (lines == PAGE);
    return SOTTO_OK;
}
