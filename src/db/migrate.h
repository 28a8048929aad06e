/* db/migrate.h - numbered steps from an empty database to today's schema.
 *
 * Callers:  serve/, when it starts, and `sotto admin migrate`. The steps themselves are serve's.
 * Threads:  any number of processes may start at once: one migrates, the others wait and find it done.
 *
 * Steps are only ever added: a step that has been released is never edited, and none goes back. All that are
 * missing run in one transaction. The text follows db/sql.h, without parameters, statements ended by `;`.
 */
#ifndef SOTTO_DB_MIGRATE_H
#define SOTTO_DB_MIGRATE_H

#include "db/store.h"

typedef struct sotto_migration {
    int64_t number; /* 1, 2, 3, ... */
    const char *sql;
} sotto_migration;

/*   SOTTO_STALE  the database has steps that this program does not know; it is left alone
 *   SOTTO_BUG    the steps are not numbered 1, 2, 3, ..., or one of them is not SQL
 */
SOTTO_MUST_USE sotto_status sotto_db_migrate(sotto_db *db, const sotto_migration *steps,
                                             size_t count, sotto_err *err);

/* The number of the last step taken; 0 for an empty database. */
SOTTO_MUST_USE sotto_status sotto_db_version(sotto_db *db, int64_t *number, sotto_err *err);

#endif
