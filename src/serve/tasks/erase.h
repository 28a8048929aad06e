/* serve/tasks/erase.h - forgetting what single jobs added to a batch, once the batch was released or never will be.
 *
 * Callers:  sotto_server_tick, about once a second.
 *
 * A job may have a single report, and the two servers' shares of such a job together reveal it. So shares of jobs must not
 * outlive the collection; their counts and checksums stay. Erasing goes in passes: a batch of long shares may have
 * gigabytes of them, and others commit meanwhile. What a crash leaves is found by the next pass.
 */
#ifndef SOTTO_SERVE_TASKS_ERASE_H
#define SOTTO_SERVE_TASKS_ERASE_H

#include "db/store.h"

/* One pass, of some 16 MiB. *more: there may be another to make. */
SOTTO_MUST_USE sotto_status sotto_erase_shares(sotto_db *db, bool *more, sotto_err *err);

#endif
