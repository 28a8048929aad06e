/* serve/schema.h - the tables of a leader or helper, by numbered forward migrations. */
#ifndef SOTTO_SERVE_SCHEMA_H
#define SOTTO_SERVE_SCHEMA_H

#include "db/migrate.h"

extern const sotto_migration sotto_serve_migrations[];
extern const size_t sotto_serve_migration_count;

#endif
