/* serve/host/database_owner.h - whose database this is: a leader's or a helper's.
 *
 * Callers:  a server at its start, and the admin verbs, each after the schema was found to be this program's.
 *
 * The two roles keep different things in the same tables. One that opened the other's would find no task of its own,
 * and what it then added would be in the way of both.
 */
#ifndef SOTTO_SERVE_HOST_DATABASE_OWNER_H
#define SOTTO_SERVE_HOST_DATABASE_OWNER_H

#include "db/store.h"
#include "serve/tasks/tasks.h"

/* For a server. The first one over a database makes it its role's, for good.
 *   SOTTO_DENIED  it is the other role's
 */
SOTTO_MUST_USE sotto_status sotto_database_owner_claim(sotto_db *db, sotto_role role,
                                                       sotto_err *err);
/* For whoever acts for that role beside its server; nothing is written, and a database that no server has claimed is fine.
 *   SOTTO_DENIED  it is the other role's
 */
SOTTO_MUST_USE sotto_status sotto_database_owner_check(sotto_db *db, sotto_role role,
                                                       sotto_err *err);

#endif
