#include "serve/tasks/population.h"

#include "db/sql.h"

static sotto_status set_one(sotto_tx *tx, const sotto_population *p, size_t i, sotto_err *err)
{
    uint64_t changed;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "UPDATE task SET population = ?1 WHERE id = ?2 AND role = ?3", err));
    sotto_sql_int(&q, 1, (int64_t)p->devices[i]);
    sotto_sql_bytes(&q, 2,
                    sotto_bytes_of(p->ids.data + i * SOTTO_TASK_ID_SIZE, SOTTO_TASK_ID_SIZE));
    sotto_sql_int(&q, 3, (int64_t)p->role);
    SOTTO_TRY(sotto_sql_run(&q, &changed, err));
    return changed ? SOTTO_OK : sotto_fail(err, SOTTO_MISSING, "population: no such task");
}

static sotto_status set_all(sotto_tx *tx, void *context, sotto_err *err)
{
    const sotto_population *p = context;

    for (size_t i = 0; i < p->ids.len / SOTTO_TASK_ID_SIZE; i++)
        if (p->devices[i] > 0)
            SOTTO_TRY(set_one(tx, p, i, err));
    return SOTTO_OK;
}

sotto_status sotto_population_set(sotto_db *db, const sotto_population *population, sotto_err *err)
{
    sotto_population copy = *population;

    return sotto_db_run(db, set_all, &copy, err);
}
