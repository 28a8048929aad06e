/* tests/support/one_learning.h - a learning recipe that one server adds up, and a policy that allows it: for twelve devices, with rounds of
 * an hour from SOTTO_TEST_OPENS on. */
#ifndef SOTTO_TESTS_ONE_LEARNING_H
#define SOTTO_TESTS_ONE_LEARNING_H

#include "support/test.h"

enum { ONE_LEARNING_DEVICES = 12, ONE_LEARNING_LEAST = 10, ONE_LEARNING_PARAMETERS = 120 };

/* Round 0 has the model with this digest. The first `old` is replaced; NULL: nothing is. */
sotto_bytes sotto_test_one_learning(sotto_test *t, const uint8_t model[32], const char *old,
                                    const char *new);
extern const char sotto_test_one_learning_policy[];

#endif
