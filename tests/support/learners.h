/* support/learners.h - a phone that learns: digits of its own, a recipe of rounds, a host that serves models, and a trainer.
 *
 * Rounds of an hour from SOTTO_TEST_OPENS on; the clock stands half an hour into round 0. Every device takes part, and servers
 * add the noise, so that a report has nothing but the update in it.
 */
#ifndef SOTTO_TESTS_SUPPORT_LEARNERS_H
#define SOTTO_TESTS_SUPPORT_LEARNERS_H

#include "recipe/learning.h"
#include "sotto/learn.h"
#include "support/devices.h"

enum { SOTTO_TEST_PARAMETERS = 120, SOTTO_TEST_MODEL_BYTES = 4096 };

typedef struct sotto_test_learner {
    sotto_test_phone phone;
    sotto_bytes recipe;  /* text       */
    sotto_bytes model;   /* served ... */
    unsigned status;     /* ... with this status; 0: 200 */
    sotto_status failed; /* what the host says of a fetch */
    unsigned fetches;
    unsigned relayed; /* exchanges with a relay, which is never reached */
    char url[256];    /* of the last fetch */
    sotto_trainer trainer;
    /* What the trainer does: each entry of the update is this, and `slope` more than the one before, after so many seconds. */
    float entry, slope;
    int64_t seconds;
    sotto_status trained;
    unsigned trainings;
    size_t rows;   /* it last saw */
    uint64_t seed; /* ... */
    /* How it was last told to train. */
    double rate, clip;
    uint64_t epochs, batch;
    bool fedsgd;
    sotto_bytes policy;
} sotto_test_learner;

extern const char sotto_test_learning_policy[];

/* A safetensors file of two tensors, all numbers `value`. */
sotto_bytes sotto_test_model(sotto_test *t, float value);
/* The recipe, whose round 0 has this model; the first `old` replaced. */
sotto_bytes sotto_test_learning_recipe(sotto_test *t, sotto_bytes model, const char *old,
                                       const char *new);
sotto_bytes sotto_test_round_record(sotto_test *t, sotto_bytes recipe, uint64_t round,
                                    sotto_bytes model);

/* In memory, open, with consent, three digits and a trainer. The recipe has `old` replaced, the policy `forbidden`. */
void sotto_test_learner_start(sotto_test *t, sotto_test_learner *l, const char *old,
                              const char *new);
/* The same in files. */
void sotto_test_learner_in_files(sotto_test *t, sotto_test_learner *l);
/* Opens it again with what it has. */
void sotto_test_learner_open(sotto_test_learner *l);
/* Goes to half an hour into a round. */
void sotto_test_learner_at(sotto_test_learner *l, uint64_t round);
/* Offers the record of a round with the model that is served. */
sotto_status sotto_test_learner_offer(sotto_test_learner *l, uint64_t round);
/* At that round: offers it and ticks. *made reports. */
uint64_t sotto_test_learner_round(sotto_test_learner *l, uint64_t round);
/* The line of the recipe; participations is 0 where there is none. */
sotto_rho_line sotto_test_learner_rho(sotto_test_learner *l, sotto_rho_account account);
/* What the recipe's analysis was charged. */
sotto_budget_line sotto_test_learner_spent(sotto_test_learner *l);
/* The update that an upload has, in steps of the grid, as both servers find it together; its proof must hold.
 *   SOTTO_REJECTED  it is no report of the round with this record */
sotto_status sotto_test_learner_update(sotto_test_learner *l, int64_t *out, size_t upload,
                                       sotto_bytes record);

#endif
