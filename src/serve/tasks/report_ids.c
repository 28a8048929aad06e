#include "serve/tasks/report_ids.h"

#include "base/clock.h"

#include <string.h>

enum { COLUMNS = 3, CAREFUL_MS = 60000 };

static sotto_bytes id_of(const sotto_report_id *mark)
{
    return sotto_bytes_of(mark->report, sizeof mark->report);
}

static sotto_report_id *merge(sotto_report_id *a, sotto_report_id *b)
{
    sotto_report_id *first = NULL, **end = &first;

    while (a && b) {
        sotto_report_id **least = memcmp(b->report, a->report, sizeof a->report) < 0 ? &b : &a;

        *end = *least;
        *least = (*least)->next;
        end = &(*end)->next;
    }
    *end = a ? a : b;
    return first;
}

/* Those that are wanted, by their ids; alike ones as they came. In one order for everybody. A mark that another transaction has
 * made and not yet committed is waited for. Two transactions that wait for each other's marks are a deadlock, which PostgreSQL
 * ends only after a second, by failing one. */
static sotto_report_id *in_order(sotto_report_id *marks, size_t count)
{
    sotto_report_id *runs[64] = {NULL}; /* of 2^i marks each, or none */
    sotto_report_id *all = NULL;

    for (size_t i = 0; i < count; i++) {
        sotto_report_id *run = &marks[i];
        size_t size = 0;

        if (!run->wanted)
            continue;
        run->next = NULL;
        for (; runs[size]; size++) {
            run = merge(runs[size], run);
            runs[size] = NULL;
        }
        runs[size] = run;
    }
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++)
        all = merge(runs[i], all);
    return all;
}

/* The next one with this id that no row was found for yet. In practice rows come back in the order in which they
 * were sent, but no database promises that. */
static sotto_report_id *find(sotto_report_id *first, const sotto_report_id *end,
                             sotto_report_id *from, sotto_bytes id)
{
    for (sotto_report_id *m = from; m != end; m = m->next)
        if (m->taken && sotto_bytes_equal_vartime(id_of(m), id))
            return m;
    for (sotto_report_id *m = first; m != from; m = m->next)
        if (m->taken && sotto_bytes_equal_vartime(id_of(m), id))
            return m;
    return NULL;
}

static void bind(sotto_sql *q, int64_t task, sotto_report_id **list, unsigned rows, bool taken)
{
    for (unsigned i = 0; i < rows; i++, *list = (*list)->next) {
        sotto_report_id *mark = *list;

        mark->taken = taken;
        sotto_sql_int(q, COLUMNS * i + 1, task);
        sotto_sql_bytes(q, COLUMNS * i + 2, id_of(mark));
        sotto_sql_int(q, COLUMNS * i + 3, (int64_t)mark->bucket);
    }
}

/* Fails the transaction if one was taken. */
static sotto_status take_new(sotto_tx *tx, int64_t task, sotto_report_id **list, unsigned rows,
                             sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare_rows(tx, &q, "INSERT INTO mark (task, report, bucket) ", COLUMNS,
                                     rows, "", err));
    bind(&q, task, list, rows, false);
    return sotto_sql_run(&q, NULL, err);
}

/* Takes the first `rows`; the list is then those behind them. */
static sotto_status take_some(sotto_tx *tx, int64_t task, sotto_report_id **list, unsigned rows,
                              sotto_err *err)
{
    sotto_report_id *first = *list, *from = first;
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare_rows(tx, &q, "INSERT INTO mark (task, report, bucket) ", COLUMNS,
                                     rows, " ON CONFLICT DO NOTHING RETURNING report", err));
    bind(&q, task, list, rows, true);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    while (row) {
        sotto_report_id *mark = find(first, *list, from, sotto_sql_column_bytes(&q, 0));

        if (mark) {
            mark->taken = false;
            from = mark->next;
        }
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
    }
    return SOTTO_OK;
}

static bool expects_new(sotto_tx *tx, const sotto_replays *replays)
{
    return replays && sotto_tx_may_clash(tx) && sotto_clock_ms() >= atomic_load(&replays->until_ms);
}

sotto_status sotto_report_ids_take(sotto_tx *tx, int64_t task, sotto_report_id *marks, size_t count,
                                   sotto_replays *replays, sotto_err *err)
{
    bool new_ones = expects_new(tx, replays);
    sotto_status status = SOTTO_OK;
    sotto_report_id *list = in_order(marks, count);
    size_t wanted = 0;

    for (size_t i = 0; i < count; i++)
        wanted += marks[i].wanted;
    while (status == SOTTO_OK && wanted > 0) {
        unsigned rows = sotto_sql_rows_at_once(tx, COLUMNS, wanted);

        status = (new_ones ? take_new : take_some)(tx, task, &list, rows, err);
        wanted -= rows;
    }
    if (status != SOTTO_OK && new_ones && sotto_tx_retry_clash(tx))
        atomic_store(&replays->until_ms, sotto_clock_ms() + CAREFUL_MS);
    return status;
}

sotto_status sotto_report_ids_find(sotto_tx *tx, int64_t task, sotto_report_id *marks, size_t count,
                                   sotto_err *err)
{
    for (size_t i = 0; i < count; i++) {
        sotto_sql q;

        if (!marks[i].wanted)
            continue;
        SOTTO_TRY(
            sotto_sql_prepare(tx, &q, "SELECT 1 FROM mark WHERE task = ?1 AND report = ?2", err));
        sotto_sql_int(&q, 1, task);
        sotto_sql_bytes(&q, 2, id_of(&marks[i]));
        SOTTO_TRY(sotto_sql_any(&q, &marks[i].taken, err));
    }
    return SOTTO_OK;
}

sotto_status sotto_report_ids_give_back(sotto_tx *tx, int64_t task, const sotto_report_id *mark,
                                        sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "DELETE FROM mark WHERE task = ?1 AND report = ?2", err));
    sotto_sql_int(&q, 1, task);
    sotto_sql_bytes(&q, 2, id_of(mark));
    return sotto_sql_run(&q, NULL, err);
}
