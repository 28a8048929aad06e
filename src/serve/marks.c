/* Many rows by one statement, in a few sizes, since statements are kept by their text. */
#include "serve/marks.h"

#include <string.h>

enum { LARGEST = 64, SMALLER = 8 };

static sotto_bytes id_of(const sotto_mark *mark)
{
    return sotto_bytes_of(mark->report, sizeof mark->report);
}

/* The first one of the group with this id that no row was found for yet. */
static sotto_mark *find(sotto_mark **group, unsigned count, sotto_bytes id)
{
    for (unsigned i = 0; i < count; i++)
        if (group[i]->taken && sotto_bytes_equal_vartime(id_of(group[i]), id))
            return group[i];
    return NULL;
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
        sotto_mark *mark = find(group, count, sotto_sql_column_bytes(&q, 0));

        if (mark)
            mark->taken = false;
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
    }
    return SOTTO_OK;
}

/* In groups of 64, then 8, then 1. */
sotto_status sotto_marks_take(sotto_tx *tx, int64_t task, sotto_mark *marks, size_t count,
                              sotto_err *err)
{
    sotto_mark *group[LARGEST];
    unsigned size = 0;

    for (size_t i = 0; i <= count; i++) {
        if (i < count && marks[i].wanted)
            group[size++] = &marks[i];
        if (size < LARGEST && i < count)
            continue;
        for (unsigned done = 0; done < size;) {
            unsigned step = size - done == LARGEST ? LARGEST : size - done >= SMALLER ? SMALLER : 1;

            SOTTO_TRY(take_group(tx, task, group + done, step, err));
            done += step;
        }
        size = 0;
    }
    return SOTTO_OK;
}
