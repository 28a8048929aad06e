/* apps/sotto/recipe/recipe_price.h - `sotto recipe price`: what was asked, and what is printed. */
#ifndef SOTTO_APPS_RECIPE_PRICE_H
#define SOTTO_APPS_RECIPE_PRICE_H

#include "recipe.h"
#include "recipe/price.h"

typedef struct sotto_price_job {
    sotto_recipe_job recipe;
    sotto_price_question question;
    const char *goal_text; /* as it was typed */
    const char *out;       /* file for the whole recipe; NULL: none */
    const char *name;      /* of that recipe; NULL: this one's with a number behind it */
    unsigned by;           /* sources of noise to choose from: bits */
    bool by_given;
    sotto_price_way *ways;
    size_t count;
    const sotto_price_way *best; /* NULL: there is none */
    sotto_price_budget budgets[SOTTO_PRICE_BUDGETS];
    size_t budget_count;
} sotto_price_job;

void sotto_price_print(const sotto_price_job *job);
bool sotto_price_print_json(const sotto_price_job *job);

/* Writes this recipe by a name of its own, if a file was named. An exit code. */
int sotto_price_save(sotto_price_job *job, sotto_bytes text);

/* recipe_price_rates.c: importance sampling, whose rates are found. An exit code. */
int sotto_price_answer_rates(sotto_price_job *job);

#endif
