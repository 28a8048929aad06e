/* recipe/one_server.h - what lint asks of a recipe that one server adds up.
 *
 * libsotto-device has no room for it, and refuses such recipes: its schema_table.c has NULL.
 */
#ifndef SOTTO_RECIPE_ONE_SERVER_H
#define SOTTO_RECIPE_ONE_SERVER_H

#include "recipe/model.h"
#include "recipe/schema.h"

typedef void sotto_lint_step(sotto_reading *at, const sotto_recipe *recipe);

/* NULL: this library refuses recipes of one server. */
extern sotto_lint_step *const sotto_lint_one_server;

void sotto_recipe_check_one_server(sotto_reading *at, const sotto_recipe *recipe);

#endif
