/* serve/tasks/erase.h - forgetting what single jobs added to a batch, once the batch was released or never will be.
 *
 * Callers:  sotto_server_tick, about once a second.
 *
 * A job may have one report, and shares of it on both servers together open it: they must not outlive the collection. Their
 * counts and checksums stay. In passes, since a batch of long shares may have gigabytes of them, and others want to commit
 * meanwhile; what a crash leaves is found by the next pass.
 */
#ifndef SOTTO_SERVE_TASKS_ERASE_H
#define SOTTO_SERVE_TASKS_ERASE_H

#include "db/store.h"

/* One pass, of some 16 MiB. *more: there may be another to make. */
SOTTO_MUST_USE sotto_status sotto_erase_shares(sotto_db *db, bool *more, sotto_err *err);

#endif
