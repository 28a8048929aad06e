/* apps/sotto/collect/cohort.h - cohorts on a command line. */
#ifndef SOTTO_APPS_COHORT_H
#define SOTTO_APPS_COHORT_H

#include "recipe/task.h"

/* "1", or the cohort's values: "en_US,phone". False: the recipe has no such cohort. */
bool sotto_cohort_find(const sotto_recipe *recipe, size_t *cohort, const char *text);
/* To standard error, a line each, twenty at most: "  --cohort 0  locale en_US". */
void sotto_cohort_list(const sotto_recipe *recipe, const char *flag);

#endif
