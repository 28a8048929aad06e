#include "serve/marks.h"

#include <string.h>

enum { COLUMNS = 3 };

static sotto_bytes id_of(const sotto_mark *mark)
{
    return sotto_bytes_of(mark->report, sizeof mark->report);
}

/* The next one with this id that no row was found for yet. Rows come back in the order in which they went, so far as
 * anybody has seen; no database promises it. */
static sotto_mark *find(sotto_mark *marks, size_t count, size_t *from, sotto_bytes id)
{
    for (size_t k = 0; k < count; k++) {
        size_t i = *from + k < count ? *from + k : *from + k - count;

        if (marks[i].wanted && marks[i].taken && sotto_bytes_equal_vartime(id_of(&marks[i]), id)) {
            *from = i + 1 < count ? i + 1 : 0;
            return &marks[i];
        }
    }
    return NULL;
}

/* Takes the first `rows` of those that are wanted; *count says how far that went. */
static sotto_status take_some(sotto_tx *tx, int64_t task, sotto_mark *marks, unsigned rows,
                              size_t *count, sotto_err *err)
{
    size_t from = 0;
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare_rows(tx, &q, "INSERT INTO mark (task, report, bucket) ", COLUMNS,
                                     rows, " ON CONFLICT DO NOTHING RETURNING report", err));
    *count = 0;
    for (unsigned i = 0; i < rows; ++*count) {
        sotto_mark *mark = &marks[*count];

        if (!mark->wanted)
            continue;
        mark->taken = true;
        sotto_sql_int(&q, COLUMNS * i + 1, task);
        sotto_sql_bytes(&q, COLUMNS * i + 2, id_of(mark));
        sotto_sql_int(&q, COLUMNS * i + 3, (int64_t)mark->bucket);
        i++;
    }
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    while (row) {
        sotto_mark *mark = find(marks, *count, &from, sotto_sql_column_bytes(&q, 0));

        if (mark)
            mark->taken = false;
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
    }
    return SOTTO_OK;
}

sotto_status sotto_marks_take(sotto_tx *tx, int64_t task, sotto_mark *marks, size_t count,
                              sotto_err *err)
{
    size_t wanted = 0, passed = 0;

    for (size_t i = 0; i < count; i++)
        wanted += marks[i].wanted;
    while (wanted > 0) {
        unsigned rows = sotto_sql_rows_at_once(tx, COLUMNS, wanted);
        size_t end;

        SOTTO_TRY(take_some(tx, task, marks + passed, rows, &end, err));
        passed += end;
        wanted -= rows;
    }
    return SOTTO_OK;
}
