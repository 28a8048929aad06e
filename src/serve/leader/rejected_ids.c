#include "serve/leader/rejected_ids.h"

#include "dap/dap.h"
#include "dap/report.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 3 };

static int by_id(const void *a, const void *b)
{
    return memcmp(*(const uint8_t *const *)a, *(const uint8_t *const *)b, SOTTO_REPORT_ID_SIZE);
}

/* In one order for everybody. A note that another transaction has made and not yet committed is waited for. Two
 * transactions that wait for each other's notes are a deadlock, which PostgreSQL ends only after a second, by failing
 * one. */
sotto_status sotto_rejected_ids_note(sotto_tx *tx, int64_t task, unsigned cause,
                                     const uint8_t **ids, size_t count, uint64_t *fresh,
                                     sotto_err *err)
{
    *fresh = 0;
    qsort(ids, count, sizeof *ids, by_id);
    while (count > 0) {
        unsigned rows = sotto_sql_rows_at_once(tx, COLUMNS, count);
        uint64_t added;
        sotto_sql q;

        SOTTO_TRY(sotto_sql_prepare_rows(tx, &q, "INSERT INTO refused (task, report, cause) ",
                                         COLUMNS, rows, " ON CONFLICT DO NOTHING", err));
        for (unsigned i = 0; i < rows; i++) {
            sotto_sql_int(&q, COLUMNS * i + 1, task);
            sotto_sql_bytes(&q, COLUMNS * i + 2, sotto_bytes_of(ids[i], SOTTO_REPORT_ID_SIZE));
            sotto_sql_int(&q, COLUMNS * i + 3, cause);
        }
        SOTTO_TRY(sotto_sql_run(&q, &added, err));
        *fresh += added;
        ids += rows;
        count -= rows;
    }
    return SOTTO_OK;
}

sotto_status sotto_rejected_ids_counted(sotto_tx *tx, uint64_t *out, sotto_err *err)
{
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT CAST(coalesce(sum(reports), 0) AS BIGINT) FROM rejection"
                                " WHERE cause < ?1 AND cause <> ?2"
                                " AND task NOT IN (SELECT task FROM retired)",
                                err));
    sotto_sql_int(&q, 1, SOTTO_REPORT_ERRORS);
    sotto_sql_int(&q, 2, SOTTO_REPORT_REPLAYED);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    *out = row ? (uint64_t)sotto_sql_column_int(&q, 0) : 0;
    return sotto_sql_run(&q, NULL, err);
}
