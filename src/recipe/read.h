/* recipe/read.h - sections that recipes of statistics and of learning have in common: values that the table has checked. */
#ifndef SOTTO_RECIPE_READ_H
#define SOTTO_RECIPE_READ_H

#include "recipe/model.h"
#include "recipe/schema.h"

void sotto_recipe_read_participation(sotto_reading *r, sotto_participation *out);
void sotto_recipe_read_anonymity(sotto_reading *r, sotto_anonymity *out);
void sotto_recipe_read_schedule(sotto_reading *r, sotto_recipe *out);

#endif
