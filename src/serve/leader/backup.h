/* serve/leader/backup.h - a copy of a server's database that is whole by itself.
 *
 * Callers:  `sotto admin backup`, beside a server that runs or not. Never the leader's own process: the bodies are opened and
 *           closed here, and POSIX drops a process's locks on a file when it closes any descriptor of it. The leader
 *           would no longer be alone (db/spool.h), without knowing.
 */
#ifndef SOTTO_SERVE_LEADER_BACKUP_H
#define SOTTO_SERVE_LEADER_BACKUP_H

#include "db/store.h"

/* A segment whose body can't be read, so that the copy lacks it. why: in a few words. */
typedef void sotto_backup_gap_fn(void *context, int64_t segment, uint64_t reports, const char *why);

/* As sotto_db_backup; and the bodies that wait beside the database (db/spool.h) are put into their rows in the copy. A
 * segment that was added up while the copy was made is left out of it, since the running server has its reports. Its job
 * may still be under way in the copy. A server that starts from the copy abandons that job and counts its reports as
 * abandoned.
 *   gap  called for each body that can't be read: the copy is written all the same, and has that segment as one that is
 *        unreadable. Tell the operator.
 *   SOTTO_IO  also: no body can be read; then no copy is made */
SOTTO_MUST_USE sotto_status sotto_server_backup(sotto_db *db, const char *address, const char *path,
                                                sotto_backup_gap_fn *gap, void *context,
                                                sotto_err *err);

#endif
