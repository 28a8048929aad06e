#include "serve/refusals.h"

#include "seal/report.h"

enum { COLUMNS = 3 };

sotto_status sotto_refusals_note(sotto_tx *tx, int64_t task, unsigned cause,
                                 const uint8_t *const *ids, size_t count, uint64_t *fresh,
                                 sotto_err *err)
{
    *fresh = 0;
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
