/* Many rows by one statement, in a few sizes, since statements are kept by their text. */
#include "serve/marks.h"

#include <stdio.h>
#include <string.h>

enum { LARGEST = 64, SMALLER = 8 };

typedef sotto_status on_group(sotto_tx *tx, int64_t task, sotto_mark **group, unsigned count,
                              sotto_err *err);

/* Walks over the wanted marks in groups of 64, then 8, then 1. */
static sotto_status in_groups(sotto_tx *tx, int64_t task, sotto_mark *marks, size_t count,
                              on_group *each, sotto_err *err)
{
    sotto_mark *group[LARGEST];
    unsigned size = 0, done = 0;

    for (size_t i = 0; i <= count; i++) {
        if (i < count && marks[i].wanted)
            group[size++] = &marks[i];
        if (size < LARGEST && i < count)
            continue;
        for (done = 0; done < size;) {
            unsigned step = size - done == LARGEST ? LARGEST : size - done >= SMALLER ? SMALLER : 1;

            SOTTO_TRY(each(tx, task, group + done, step, err));
            done += step;
        }
        size = 0;
    }
    return SOTTO_OK;
}

static sotto_bytes id_of(const sotto_mark *mark)
{
    return sotto_bytes_of(mark->report, sizeof mark->report);
}

/* The one of the group with this id whose `taken` is still as given. */
static sotto_mark *find(sotto_mark **group, unsigned count, sotto_bytes id, bool taken)
{
    for (unsigned i = 0; i < count; i++)
        if (group[i]->taken == taken && sotto_bytes_equal_vartime(id_of(group[i]), id))
            return group[i];
    return NULL;
}

/* A list of ids behind the task: SQLite searches its index for each. (Pairs of task and id would make it walk over the
 * whole table instead.) */
static sotto_status look_group(sotto_tx *tx, int64_t task, sotto_mark **group, unsigned count,
                               sotto_err *err)
{
    char tail[32];
    sotto_sql q;
    bool row;

    (void)snprintf(tail, sizeof tail, ") AND task = ?%u", count + 1);
    SOTTO_TRY(sotto_sql_prepare_rows(tx, &q, "SELECT report FROM mark WHERE report IN (", 1, count,
                                     tail, err));
    for (unsigned i = 0; i < count; i++) {
        group[i]->taken = false;
        sotto_sql_bytes(&q, i + 1, id_of(group[i]));
    }
    sotto_sql_int(&q, count + 1, task);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    while (row) {
        sotto_mark *mark;

        while ((mark = find(group, count, sotto_sql_column_bytes(&q, 0), false)) != NULL)
            mark->taken = true;
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
    }
    return SOTTO_OK;
}

static sotto_status take_group(sotto_tx *tx, int64_t task, sotto_mark **group, unsigned count,
                               sotto_err *err)
{
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare_rows(tx, &q, "INSERT INTO mark (task, report, bucket) VALUES ", 3,
                                     count, " ON CONFLICT DO NOTHING RETURNING report", err));
    for (unsigned i = 0; i < count; i++) {
        group[i]->taken = true;
        sotto_sql_int(&q, 3 * i + 1, task);
        sotto_sql_bytes(&q, 3 * i + 2, id_of(group[i]));
        sotto_sql_int(&q, 3 * i + 3, (int64_t)group[i]->bucket);
    }
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    while (row) {
        sotto_mark *mark = find(group, count, sotto_sql_column_bytes(&q, 0), true);

        if (mark)
            mark->taken = false;
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
    }
    return SOTTO_OK;
}

sotto_status sotto_marks_look(sotto_tx *tx, int64_t task, sotto_mark *marks, size_t count,
                              sotto_err *err)
{
    return in_groups(tx, task, marks, count, look_group, err);
}

sotto_status sotto_marks_take(sotto_tx *tx, int64_t task, sotto_mark *marks, size_t count,
                              sotto_err *err)
{
    return in_groups(tx, task, marks, count, take_group, err);
}
