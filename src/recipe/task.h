/* recipe/task.h - the parts of compiling that devices use alone. */
#ifndef SOTTO_RECIPE_TASK_H
#define SOTTO_RECIPE_TASK_H

#include "dap/task_configuration.h"
#include "recipe/model.h"

/* Names servers and relay, and encodes. out has its window of time, VDAF and sizes.
 *   head  what the task's task_info begins with; a digest of both servers' keys follows it */
SOTTO_MUST_USE sotto_status sotto_task_finish(sotto_task *out, const sotto_recipe *recipe,
                                              const sotto_parties *parties, sotto_bytes head,
                                              sotto_arena *arena, sotto_err *err);

/* The number of the cohort whose values these are, one for each field of recipe->cohorts in turn.
 * SOTTO_MISSING: a value that the recipe doesn't list; the device then stays silent. */
SOTTO_MUST_USE sotto_status sotto_recipe_cohort_of(const sotto_recipe *recipe, size_t *cohort,
                                                   const char *const *values, sotto_err *err);
/* The values of a cohort by its number, the reverse. */
void sotto_recipe_cohort(const sotto_recipe *recipe, sotto_cohort *out, size_t number);
/* "locale en_US, form phone"; "" of a recipe without cohorts. Values that are too long are cut. */
enum { SOTTO_COHORT_TEXT = 256 };
const char *sotto_cohort_text(char out[SOTTO_COHORT_TEXT], const sotto_cohort *cohort);
/* Whether the device's value of targeting[field] is one that is asked. */
bool sotto_recipe_targets(const sotto_recipe *recipe, size_t field, const char *value);

#endif
