/* recipe/one_server.h - what programs read and judge of a recipe that one server adds up. Devices don't answer such recipes: they have no DAP
 * task.
 */
#ifndef SOTTO_RECIPE_ONE_SERVER_H
#define SOTTO_RECIPE_ONE_SERVER_H

#include "recipe/model.h"
#include "recipe/schema.h"

enum { SOTTO_ONE_SERVER_NAME = 129 };

typedef struct sotto_one_server {
    char name[SOTTO_ONE_SERVER_NAME];
    double corrupt, dropout; /* parts of a cohort that may lie, and may drop out */
    uint64_t cohort;         /* drawn for a round, at most: what a round's `largest` is held to */
    uint64_t decryptors;     /* members of a committee */
    double decryptors_dropout;
} sotto_one_server;

/* From the recipe's text; false, with an empty name: its trust model has no one server. */
bool sotto_recipe_one_server(sotto_one_server *out, const sotto_recipe *recipe);
/* Devices of a cohort that may lie, rounded up: the server may have all of them in the sum that it releases. */
uint64_t sotto_one_server_liars(const sotto_one_server *server);
void sotto_recipe_check_one_server(sotto_reading *at, const sotto_recipe *recipe);

#endif
