/* sotto budget - what is spent, and what may be. */
#include "budget_ask.h"
#include "verbs.h"

static const sotto_verb *const parts[] = {
    &sotto_verb_budget_account,
    &sotto_verb_budget_plan,
    &sotto_verb_budget_committee,
    NULL,
};

const sotto_verb sotto_verb_budget = {
    .name = "budget",
    .summary = "what a release costs in privacy, and what it takes to stay within a budget",
    .parts = parts,
};
