/* support/judged.h - a learning recipe of two servers, noise by shares, and what lint says of it with one text in place of another. */
#ifndef SOTTO_TESTS_SUPPORT_JUDGED_H
#define SOTTO_TESTS_SUPPORT_JUDGED_H

#include "recipe/learning.h"
#include "support/test.h"

typedef struct sotto_test_judged {
    const sotto_learning *learning;
    sotto_learning_claim claim;
    sotto_recipe_verdict verdict;
    sotto_mistakes mistakes;
    sotto_status status;
} sotto_test_judged;

/* The good recipe with one text in place of another; NULL: as it is. It lives in the test's arena, and ends with 0. */
sotto_bytes sotto_test_learning_with(sotto_test *t, const char *old, const char *new);
/* One whose epsilon and proof fit. */
sotto_bytes sotto_test_learning_sound(sotto_test *t);
sotto_test_judged *sotto_test_judge(sotto_test *t, sotto_bytes text, const sotto_policy *policy);
/* The first of that severity about a key; or NULL. */
const sotto_mistake *sotto_test_mistake(const sotto_test_judged *j, const char *path,
                                        sotto_severity severity);
/* It is refused for that key, with these words. */
void sotto_test_check_mistake(sotto_test *t, const sotto_test_judged *j, const char *path,
                              const char *what);

#endif
