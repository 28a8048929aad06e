/* support/judged.h - a learning recipe, read and judged as lint does. */
#ifndef SOTTO_TESTS_SUPPORT_JUDGED_H
#define SOTTO_TESTS_SUPPORT_JUDGED_H

#include "recipe/claim.h"
#include "recipe/learning.h"
#include "support/recipes.h"

/* A recipe that trains LeNet in 150 rounds of an hour, with the first `old` replaced. Both NULL: as it is. */
sotto_bytes sotto_test_digits(sotto_test *t, const char *old, const char *new);

typedef struct sotto_test_judged {
    const sotto_learning *learning; /* NULL: it could not be read */
    sotto_learning_claim claim;
    sotto_recipe_verdict verdict;
    sotto_mistakes mistakes;
    sotto_status status;
} sotto_test_judged;

/* policy: NULL: none. */
sotto_test_judged *sotto_test_judge(sotto_test *t, sotto_bytes text, const sotto_policy *policy);

#endif
