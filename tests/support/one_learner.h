/* tests/support/one_learner.h - a device that learns in rounds that one server posted: in memory, with consent, one digit, and a trainer whose
 * updates are ten entries of 0.1. */
#ifndef SOTTO_TESTS_ONE_LEARNER_H
#define SOTTO_TESTS_ONE_LEARNER_H

#include "device/device_internal.h"
#include "sotto/learn.h"
#include "sotto/rounds.h"
#include "support/epoch.h"
#include "support/test.h"

typedef struct sotto_test_one_learner {
    sotto_device *device;
    sotto_rounds *rounds;
    sotto_bytes model, recipe;
    int64_t now;
    unsigned fetches, sent, trainings;
    unsigned status; /* that vectors are answered with; 0: nobody answers */
} sotto_test_one_learner;

void sotto_test_one_learner_open(sotto_test *t, sotto_test_one_learner *s, const char *policy,
                                 const uint8_t *secret, const sotto_shared_key *witnesses);
void sotto_test_one_learner_close(sotto_test_one_learner *s);
/* Goes to half an hour into a round. */
void sotto_test_one_learner_go(sotto_test_one_learner *s, uint64_t round);
/* The line of the recipe, and what its analysis was charged. */
sotto_rho_line sotto_test_one_learner_rho(sotto_test *t, const sotto_test_one_learner *s);
double sotto_test_one_learner_spent(sotto_test *t, const sotto_test_one_learner *s);

#endif
