/* serve/tasks/rejection_counts.h - how many reports of a batch were rejected, and why: fixed together with its sum.
 *
 * Callers:  both roles, in the transaction that fixes what is released; the text is kept in the release's row, and
 *           the collector always gets that text. Reports that are rejected later are counted, but are part of no
 *           answer.
 */
#ifndef SOTTO_SERVE_TASKS_REJECTION_COUNTS_H
#define SOTTO_SERVE_TASKS_REJECTION_COUNTS_H

#include "serve/tasks/batches.h"
#include "serve/tasks/server.h"
#include "sotto/rejections.h"

/* Appends the document of dap/rejections.h. Of a batch that the leader selected, it takes in what was rejected at
 * upload since the batch before it.
 *   rate  what sotto_rate_check found for this sum */
SOTTO_MUST_USE sotto_status sotto_rejection_counts_fix(sotto_tx *tx, sotto_buf *out,
                                                       const sotto_server *server,
                                                       const sotto_server_task *task,
                                                       const sotto_batch_range *range,
                                                       sotto_rate_checking rate, sotto_err *err);

#endif
