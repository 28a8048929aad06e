/* apps/sotto/budget/budget_neighbours.h - the part of `sotto budget committee` that is about who masks with whom. */
#ifndef SOTTO_APPS_BUDGET_NEIGHBOURS_H
#define SOTTO_APPS_BUDGET_NEIGHBOURS_H

#include "account/neighbours.h"
#include "show.h"

typedef struct budget_neighbours {
    sotto_neighbours graph;
    sotto_neighbours_odds odds;
    bool found; /* the smallest degree; else both were given */
    bool fits;
} budget_neighbours;

/* degree, neighbours: NAN where they are to be found. SOTTO_DENIED: no graph keeps the promise. */
SOTTO_MUST_USE sotto_status budget_neighbours_answer(budget_neighbours *out, double clients,
                                                     double least, double corrupt, double degree,
                                                     double neighbours, double rounds, double kappa,
                                                     sotto_err *err);
void budget_neighbours_print(const budget_neighbours *n, double kappa);
void budget_neighbours_members(sotto_json *j, const budget_neighbours *n);

#endif
