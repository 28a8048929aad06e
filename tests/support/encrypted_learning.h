/* tests/support/encrypted_learning.h - a learning recipe whose updates are added up encrypted, and a policy that allows it: for 32 devices, with
 * rounds of an hour from SOTTO_TEST_OPENS on. Everybody is drawn. */
#ifndef SOTTO_TESTS_ENCRYPTED_LEARNING_H
#define SOTTO_TESTS_ENCRYPTED_LEARNING_H

#include "support/test.h"

enum {
    ENCRYPTED_LEARNING_DEVICES = 32,
    ENCRYPTED_LEARNING_LEAST = 20,
    ENCRYPTED_LEARNING_PARAMETERS = 120
};

/* Round 0 has the model with this digest. The first `old` is replaced; NULL: nothing is. */
sotto_bytes sotto_test_encrypted_learning(sotto_test *t, const uint8_t model[32], const char *old,
                                          const char *new);
extern const char sotto_test_encrypted_learning_policy[];

#endif
