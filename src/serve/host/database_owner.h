/* serve/host/database_owner.h - which service's database this is.
 *
 * Callers:  a host at its start, and the admin verbs, each after the schema was found to be this program's.
 *
 * Leader and helper keep different things in the same tables. A server that opened the other's database would find no
 * task of its own, and its rows would disturb both.
 */
#ifndef SOTTO_SERVE_HOST_DATABASE_OWNER_H
#define SOTTO_SERVE_HOST_DATABASE_OWNER_H

#include "db/store.h"
#include "serve/host/service.h"

/* For the first migration of a service. */
#define SOTTO_OWNER_SCHEMA                                                                         \
    "CREATE TABLE owner (one {int} PRIMARY KEY, role {int} NOT NULL, CHECK (one = 1));"

/* For a server. The first one over a database makes it its service's, for good.
 *   SOTTO_DENIED  it is another service's
 */
SOTTO_MUST_USE sotto_status sotto_database_owner_claim(sotto_db *db, const sotto_service *service,
                                                       sotto_err *err);
/* For whoever acts for that service beside its server; nothing is written, and a database that no server has claimed is fine.
 *   SOTTO_DENIED  it is another service's
 */
SOTTO_MUST_USE sotto_status sotto_database_owner_check(sotto_db *db, const sotto_service *service,
                                                       sotto_err *err);

#endif
