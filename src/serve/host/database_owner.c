#include "serve/host/database_owner.h"

#include "base/rule.h"
#include "db/sql.h"

static const char *name_of(sotto_role role)
{
    return role == SOTTO_LEADER ? "leader" : "helper";
}

static sotto_status check(sotto_tx *tx, void *context, sotto_err *err)
{
    const sotto_role *role = context;
    sotto_role owner = *role;
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT role FROM owner WHERE one = 1", err));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (row)
        owner = (sotto_role)sotto_sql_column_int(&q, 0);
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    if (owner == *role || !SOTTO_RULE(database_of_one_role))
        return SOTTO_OK;
    return sotto_fail(err, SOTTO_DENIED,
                      "this database is a %s's, and this is a %s: give each server a `database` of"
                      " its own in its configuration",
                      name_of(owner), name_of(*role));
}

/* Servers that start together all try; whoever was first is whom the others find. */
static sotto_status claim(sotto_tx *tx, void *context, sotto_err *err)
{
    const sotto_role *role = context;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "INSERT INTO owner (one, role) VALUES (1, ?1) ON CONFLICT (one) DO NOTHING", err));
    sotto_sql_int(&q, 1, (int64_t)*role);
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    return check(tx, context, err);
}

sotto_status sotto_database_owner_claim(sotto_db *db, sotto_role role, sotto_err *err)
{
    return sotto_db_run(db, claim, &role, err);
}

sotto_status sotto_database_owner_check(sotto_db *db, sotto_role role, sotto_err *err)
{
    return sotto_db_read(db, check, &role, err);
}
