/* tests/support/one_server.h - a recipe that one server adds up, and a policy that allows it: for twelve devices. */
#ifndef SOTTO_TESTS_ONE_SERVER_H
#define SOTTO_TESTS_ONE_SERVER_H

#include "support/epoch.h"
#include "support/test.h"

enum { ONE_SERVER_DEVICES = 12, ONE_SERVER_LEAST = 10, ONE_SERVER_NEIGHBOURS = 4 };

/* "launches": open for some days around now. Two rounds of it can be paid for. */
sotto_bytes sotto_test_one_server_recipe(sotto_test *t);
/* duties: a JSON list; NULL: the policy names none. */
sotto_bytes sotto_test_one_server_policy(sotto_test *t, const char *duties);
/* A round of that recipe, from now on for so many minutes. */
sotto_epoch_round sotto_test_one_server_round(sotto_test *t, sotto_bytes recipe, uint64_t number,
                                              unsigned minutes);

#endif
