/* support/recipes.h - recipes, policies and parties of tests: the examples, with a part of them changed. */
#ifndef SOTTO_TESTS_SUPPORT_RECIPES_H
#define SOTTO_TESTS_SUPPORT_RECIPES_H

#include "recipe/model.h"
#include "sotto/lint.h"
#include "support/test.h"

/* The example with the first `old` replaced; fails the test if it isn't there. Both NULL: as it is. */
sotto_bytes sotto_test_recipe_text(sotto_test *t, const char *old, const char *new);
sotto_bytes sotto_test_policy_text(sotto_test *t, const char *old, const char *new);
sotto_bytes sotto_test_parties_text(sotto_test *t, const char *old, const char *new);
sotto_bytes sotto_test_replace(sotto_test *t, const char *text, const char *old, const char *new);

/* The same, read; they must be valid. */
const sotto_recipe *sotto_test_recipe(sotto_test *t, const char *old, const char *new);
const sotto_policy *sotto_test_policy(sotto_test *t, const char *old, const char *new);
const sotto_parties *sotto_test_parties(sotto_test *t, const char *old, const char *new);

/* The example where not SOTTO_BY_CROWD but others add the noise: without its randomizer, `by` and what stands behind it in "privacy". */
sotto_bytes sotto_test_recipe_text_by(sotto_test *t, const char *by);
/* The same, of a number in place of its bins: `statistic` of the age, clipped to 0 .. 100, or a count. epsilon is 3. */
sotto_bytes sotto_test_recipe_text_of(sotto_test *t, const char *statistic, const char *by);
const sotto_recipe *sotto_test_recipe_of(sotto_test *t, const char *statistic, const char *by);

/* The example with this way to add up, whose aggregation has all of its keys. */
sotto_bytes sotto_test_recipe_text_trusting(sotto_test *t, sotto_trust trust);
const sotto_recipe *sotto_test_recipe_trusting(sotto_test *t, sotto_trust trust);

/* A recipe whose prefix tree has this many nodes below its root: 100 first words, and words that follow them. */
sotto_bytes sotto_test_big_tree(sotto_test *t, size_t nodes);

/* Whether a mistake of the list is about this path and says this. */
bool sotto_test_has_mistake(const sotto_mistakes *list, const char *path, const char *what);

#endif
