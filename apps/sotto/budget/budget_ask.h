/* apps/sotto/budget/budget_ask.h - the command line of `sotto budget account` and `plan`, and one question asked. */
#ifndef SOTTO_APPS_BUDGET_ASK_H
#define SOTTO_APPS_BUDGET_ASK_H

#include "budget_form.h"
#include "budget_print.h"

typedef struct sotto_budget_command {
    const char *verb; /* for complaints: "sotto budget account" */
    sotto_form form;
    bool json;
    bool compose;
    double epsilon; /* account: ask for delta there; plan: the target. 0: not given */
    double claim;   /* 0: none */
    const char *batch, *curve, *csv, *svg; /* NULL: not given */
    const char *find;
} sotto_budget_command;

/* Reads all words; mistakes are left in the form. `plan`: which of the two verbs it is. */
void sotto_budget_parse(sotto_budget_command *c, int argc, char **argv, bool plan);

/* Of this thread: a busy machine does not make an answer slower. */
double sotto_budget_seconds(void);

/* Asks the accountant and the clock. accountant may be NULL. */
void sotto_budget_ask(sotto_budget_result *out, const sotto_question *q,
                      const sotto_budget_command *c, sotto_accountant *accountant);

/* budget_batch.c, budget_curve.c: an exit code each. */
int sotto_budget_batch(sotto_budget_command *c);
int sotto_budget_curve(sotto_budget_command *c);
/* budget_dummies.c: `plan --find dummies`. */
int sotto_budget_plan_dummies(sotto_budget_command *c);

extern const struct sotto_verb sotto_verb_budget_account, sotto_verb_budget_plan,
    sotto_verb_budget_committee;

#endif
