/* recipe/judge.h - checks that lint makes of recipes of both kinds, statistics and learning. */
#ifndef SOTTO_RECIPE_JUDGE_H
#define SOTTO_RECIPE_JUDGE_H

#include "query/check.h"
#include "recipe/model.h"
#include "recipe/schema.h"
#include "sotto/lint.h"

/* Adds what the policy does not allow, but for the recipe's query and budgets. */
void sotto_recipe_check_policy(sotto_reading *at, const sotto_policy *policy,
                               const sotto_recipe *recipe);

/* Adds that reports have more bytes than the policy allows; `fewer` says of what. */
void sotto_recipe_lint_too_long(sotto_reading *at, const sotto_place *place, const char *fewer,
                                size_t bytes, const sotto_policy *policy);

/* Compiles the query as devices do, adds what is wrong with it, and says what it reads. policy and streams may be NULL. */
SOTTO_MUST_USE sotto_status sotto_recipe_judge_query(sotto_query_finding *out,
                                                     const sotto_recipe *recipe,
                                                     const sotto_policy *policy,
                                                     const sotto_streams *streams,
                                                     sotto_mistakes *mistakes, sotto_err *err);
/* What the query reads, as "stream.field". */
void sotto_verdict_reads(sotto_recipe_verdict *out, const sotto_query_finding *finding);

#endif
