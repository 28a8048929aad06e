/* recipe/task.h - the DAP task configuration, and the parts of compiling that devices use alone. */
#ifndef SOTTO_RECIPE_TASK_H
#define SOTTO_RECIPE_TASK_H

#include "recipe/model.h"

/* What a TaskConfiguration says, in its order (DAP draft 18, "Task Configuration"). */
typedef struct sotto_task_configuration {
    sotto_bytes task_info; /* 1 to 255 bytes */
    sotto_bytes leader_url, helper_url;
    uint64_t time_precision; /* seconds */
    uint64_t min_batch_size;
    unsigned batch_mode;
    sotto_bytes batch_config;
    sotto_prio3_config vdaf;
    bool has_interval; /* as extension 1, in units of time_precision */
    uint64_t interval_start, interval_duration;
    sotto_bytes extensions; /* any others, encoded; only used without an interval */
} sotto_task_configuration;

/* SOTTO_MISSING: DAP knows no configuration for this type. */
SOTTO_MUST_USE sotto_status sotto_task_configuration_encode(sotto_buf *out,
                                                            const sotto_task_configuration *task,
                                                            sotto_err *err);

/* SHA-256(SHA-256("dap-taskprov task id") || configuration) */
void sotto_task_id_derive(uint8_t out[SOTTO_TASK_ID_SIZE], sotto_bytes configuration);

/* The number of the cohort whose values these are, one for each field of recipe->cohorts in turn.
 * SOTTO_MISSING: a value that the recipe doesn't list; the device then stays silent. */
SOTTO_MUST_USE sotto_status sotto_recipe_cohort_of(const sotto_recipe *recipe, size_t *cohort,
                                                   const char *const *values, sotto_err *err);
/* Whether the device's value of targeting[field] is one that is asked. */
bool sotto_recipe_targets(const sotto_recipe *recipe, size_t field, const char *value);

#endif
