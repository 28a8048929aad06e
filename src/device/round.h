/* device/round.h - what a device does with a round of learning. A library that is linked without it takes no record of a round.
 *
 * Callers:  device_judge.c and device_tick.c, where a case is about a round; device.c, which takes records.
 * Memory:   what is read lies in device->work, like the rest of the case.
 * Secrets:  rows, updates and draws.
 *
 * A round stands on the shelf, in the ledger and in the outbox like a recipe of its own, under the recipe's name, a # and the
 * round's number. No recipe has a # in its name. So a round is drawn for, answered and sent once, whatever else is published.
 *
 * Over two servers an update is sealed for both (device_round_make.c). One server gets it masked, from the journal of duties
 * (device_round_masked.c, duties/rounds.c).
 *
 * libsotto-device has round_absent.c. libsotto-device-full has round_linked.c.
 */
#ifndef SOTTO_DEVICE_ROUND_H
#define SOTTO_DEVICE_ROUND_H

#include "device/device_internal.h"
#include "device/ledger/rounds.h"
#include "noise/randomizer_vector.h"
#include "recipe/claim.h"
#include "recipe/learning.h"

/* A case that is about a round. */
struct sotto_round_case {
    const sotto_learning *learning;
    sotto_round_record record;
    sotto_recipe head; /* of the recipe, with the round's name and times: c->recipe  */
    sotto_recipe kept; /* the same, whose text is the record: what the shelf keeps   */
    char name[SOTTO_BUDGET_MAX_NAME + 1];
    sotto_learning_claim claim; /* for the policy's honest part */
    sotto_round_charge charge;
    bool late;  /* its coin is tossed after all else was judged: device_session.c */
    bool zeros; /* it has no turn: zeros are sent in the place of its update      */
};

/* What sotto_device_learn was told. */
struct sotto_trainer_kept {
    sotto_trainer trainer;
    char models[1024];
    size_t rows; /* bytes that rows may take; 0: the usual */
    /* Rounds whose model could not be had: when it is asked for again. The oldest gives way. */
    struct sotto_model_pause {
        uint8_t record[8]; /* of the hash of its record */
        int64_t since, until;
    } pauses[16];
};

struct sotto_device_rounds {
    bool (*is)(sotto_bytes text);
    /* Fills c->round and c->recipe. */
    sotto_status (*read)(sotto_device *device, sotto_case *c, sotto_bytes record, sotto_err *err);
    /* As sotto_recipe_lint_terms; of the claim, honest and epsilon_cohort are filled in. */
    sotto_status (*lint)(sotto_device *device, sotto_case *c, sotto_recipe_claim *claim,
                         sotto_mistakes *mistakes, sotto_err *err);
    /* The round's task. */
    sotto_status (*compile)(sotto_device *device, sotto_case *c, sotto_err *err);
    /* As sotto_ledger_check, or with nothing spent yet. */
    sotto_status (*check)(sotto_device *device, sotto_case *c, bool untouched,
                          sotto_refusal *refusal, sotto_err *err);
    /* Fetches, trains, pays and seals. *made: an update waits to be sent. */
    sotto_status (*make)(sotto_device *device, sotto_case *c, bool *made, sotto_err *err);
    /* For a round that one server posted: fetches and trains. Entries are clipped, rounded and have this device's part of the noise.
     *   SOTTO_DENIED, SOTTO_REJECTED  as sotto_round_record_check */
    sotto_status (*measure)(sotto_device *device, sotto_case *c, sotto_measurement *out,
                            sotto_err *err);
    /* Pays for a report that leaves by another way than the outbox. c->out says no, where a budget or the recipe does. */
    sotto_status (*pay)(sotto_device *device, sotto_case *c, const sotto_report *report,
                        sotto_err *err);
    /* sotto_update_project (answer/shape.h). */
    sotto_status (*project)(double *out, const sotto_learning *learning, uint64_t round,
                            const float *delta, sotto_err *err);
};

/* An update that was trained, as the randomizer takes it. */
typedef struct sotto_round_update {
    float *delta;
    double *update, weight;
    sotto_vector_randomizer randomizer;
} sotto_round_update;

/* The steps above. */
SOTTO_MUST_USE sotto_status sotto_round_read(sotto_device *device, sotto_case *c,
                                             sotto_bytes record, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_round_lint(sotto_device *device, sotto_case *c,
                                             sotto_recipe_claim *claim, sotto_mistakes *mistakes,
                                             sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_round_compile(sotto_device *device, sotto_case *c,
                                                sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_round_judge(sotto_device *device, sotto_case *c, bool untouched,
                                              sotto_refusal *refusal, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_round_make(sotto_device *device, sotto_case *c, bool *made,
                                             sotto_err *err);

SOTTO_MUST_USE sotto_status sotto_round_measure(sotto_device *device, sotto_case *c,
                                                sotto_measurement *out, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_round_pay(sotto_device *device, sotto_case *c,
                                            const sotto_report *report, sotto_err *err);

/* Fetches the model and trains: what both ways to send an update begin with. c->out says where there is no update. All of it is in
 * device->work; the caller wipes `update`. */
SOTTO_MUST_USE sotto_status sotto_round_train(sotto_device *device, sotto_case *c,
                                              sotto_round_update *out, sotto_entropy *entropy,
                                              sotto_err *err);

/* Whether this device has the memory for as many rows as the recipe asks for, and for its update, whatever the rows are. The query
 * is open. */
bool sotto_round_fits(const sotto_device *device, const sotto_case *c);

/* SOTTO_OK, and c->out says why, where the recipe's own numbers are against it; else the status. */
SOTTO_MUST_USE sotto_status sotto_round_turn(sotto_case *c, sotto_refusal *refusal,
                                             sotto_status status);

/* ---- device_session.c ---- */

/* Where the policy counts on hidden samples, the coin waits until everything else was judged and the session is paid. */
void sotto_round_hold_coin(const sotto_device *device, sotto_case *c);
/* Whether this device has verified what hides who takes part in this round: its policy counts on it, and relay, token and log are
 * there. */
bool sotto_round_hidden(const sotto_device *device, const sotto_case *c);
/* Makes the charge of the case one of a session, where it may be one. `untouched`: no device's state is looked at, as for an offer. */
SOTTO_MUST_USE sotto_status sotto_round_price(sotto_device *device, sotto_case *c, bool untouched,
                                              sotto_err *err);
/* Pays the session, then tosses the coin if that was held, and finds out whether it has a turn. c->out says where it takes no part. */
SOTTO_MUST_USE sotto_status sotto_round_begin(sotto_device *device, sotto_case *c,
                                              sotto_entropy *entropy, sotto_err *err);

/* ---- device_model.c ---- */

/* Fetches the model of the round and checks it, or says in c->out why it can't be had. Both are in device->work. */
SOTTO_MUST_USE sotto_status sotto_round_fetch(sotto_device *device, sotto_case *c,
                                              sotto_bytes *file, float **weights, sotto_err *err);
/* All numbers of a safetensors file, whatever its tensors are called: float32, finite, every byte used once, in the order of
 * their places. SOTTO_MALFORMED: it is not such a file, or has another number of them. */
SOTTO_MUST_USE sotto_status sotto_model_weights_read(float *weights, size_t count, sotto_bytes file,
                                                     sotto_err *err);

#endif
