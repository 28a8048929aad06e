/* serve/tasks/population.h - this operator's figure of the devices that may answer one task: what its rate check goes by.
 *
 * Callers:  `sotto admin task add`, for a recipe whose cohorts differ in size.
 */
#ifndef SOTTO_SERVE_TASKS_POPULATION_H
#define SOTTO_SERVE_TASKS_POPULATION_H

#include "serve/tasks/tasks.h"

typedef struct sotto_population {
    sotto_role role;
    sotto_bytes ids;         /* of a recipe's tasks, in the order of its cohorts */
    const uint64_t *devices; /* one for each; 0: as it was                       */
} sotto_population;

/* All of them, or none. A running server goes by them at once.
 *   SOTTO_MISSING  one of the tasks is not this server's
 */
SOTTO_MUST_USE sotto_status sotto_population_set(sotto_db *db, const sotto_population *population,
                                                 sotto_err *err);

#endif
