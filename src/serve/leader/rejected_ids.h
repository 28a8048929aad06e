/* serve/leader/rejected_ids.h - which reports were rejected at upload and counted, so that none is counted twice.
 *
 * Callers:  the leader when it takes uploads in; inside sotto_db_run.
 * Secrets:  none: report ids are public.
 *
 * A client that got no answer sends the same reports again, and so may anybody between it and us. A rejected report is rejected
 * again, and a kept one is called replayed. The counts are to say how many different reports that were.
 */
#ifndef SOTTO_SERVE_LEADER_REJECTED_IDS_H
#define SOTTO_SERVE_LEADER_REJECTED_IDS_H

#include "db/sql.h"

/* Notes that strangers can have made up; a million of them are 36 MB in SQLite, 145 MB in PostgreSQL. */
enum { SOTTO_REJECTED_IDS_MOST = 4 << 20 };

/* Notes that the reports with these ids, of SOTTO_REPORT_ID_SIZE bytes each, were rejected for this cause. *fresh: how
 * many of them had not been; two alike in one call are one. At least one id; the pointers are put in order. */
SOTTO_MUST_USE sotto_status sotto_rejected_ids_note(sotto_tx *tx, int64_t task, unsigned cause,
                                                    const uint8_t **ids, size_t count,
                                                    uint64_t *fresh, sotto_err *err);

/* How many rejected reports were counted so far that strangers can make up: for causes other than a replay, which only comes of a
 * report that was taken. At least as many as are noted; those of retired tasks are cleared away. */
SOTTO_MUST_USE sotto_status sotto_rejected_ids_counted(sotto_tx *tx, uint64_t *out, sotto_err *err);

#endif
