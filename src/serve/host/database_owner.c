#include "serve/host/database_owner.h"

#include "base/rule.h"

static const char *name_of(int64_t owner)
{
    for (size_t i = 0; i < sotto_service_count; i++)
        if (sotto_services[i]->owner == owner)
            return sotto_services[i]->name;
    return "service that this program does not know";
}

static sotto_status check(sotto_tx *tx, void *context, sotto_err *err)
{
    const sotto_service *service = context;
    int64_t owner = service->owner;
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT role FROM owner WHERE one = 1", err));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (row)
        owner = sotto_sql_column_int(&q, 0);
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    if (SOTTO_RULE(database_of_one_role) && owner != service->owner)
        return sotto_fail(
            err, SOTTO_DENIED,
            "this database is a %s's, and this is a %s: give each server a `database` of"
            " its own in its configuration",
            name_of(owner), service->name);
    return SOTTO_OK;
}

/* Servers that start together all try, and all read back the name of the first. */
static sotto_status claim(sotto_tx *tx, void *context, sotto_err *err)
{
    const sotto_service *service = context;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "INSERT INTO owner (one, role) VALUES (1, ?1) ON CONFLICT (one) DO NOTHING", err));
    sotto_sql_int(&q, 1, service->owner);
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    return check(tx, context, err);
}

/* The context of a transaction is not constant; these two leave it as it is. */
static void *context_of(const sotto_service *service)
{
    return (void *)(uintptr_t)service;
}

sotto_status sotto_database_owner_claim(sotto_db *db, const sotto_service *service, sotto_err *err)
{
    return sotto_db_run(db, claim, context_of(service), err);
}

sotto_status sotto_database_owner_check(sotto_db *db, const sotto_service *service, sotto_err *err)
{
    return sotto_db_read(db, check, context_of(service), err);
}
