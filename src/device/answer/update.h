/* device/answer/update.h - from an update of a model to a sealed report of a round of learning.
 *
 * Callers:  device_round.c; tests of servers make reports without a device.
 * Memory:   the report lives in the arena.
 * Secrets:  the update, its noise and its shares. Time depends on them only where a report is drawn again.
 */
#ifndef SOTTO_DEVICE_ANSWER_UPDATE_H
#define SOTTO_DEVICE_ANSWER_UPDATE_H

#include "dap/report.h"
#include "device/answer/answer.h"
#include "noise/randomizer_vector.h"

typedef struct sotto_update_maker {
    const sotto_vdaf *vdaf;                    /* of the round's task */
    const sotto_vector_randomizer *randomizer; /* of the recipe       */
    sotto_hpke_config to[SOTTO_REPORT_SHARES];
} sotto_update_maker;

/* Clips, weighs, rounds, adds this device's part of the noise where the recipe has shares, proves the norm and seals. An update
 * that is not finite counts as zeros.
 *   draft   has its task_id, configuration and time
 *   update  as many numbers as sotto_learning_length says, and how much of them counts (shape.h)
 *   SOTTO_TOO_LARGE  eight draws in a row were above the proved bound: the recipe's factor is too small */
SOTTO_MUST_USE sotto_status sotto_update_report_make(sotto_dap_report *out,
                                                     sotto_report_draft *draft,
                                                     const sotto_update_maker *maker,
                                                     const double *update, double weight,
                                                     sotto_entropy *entropy, sotto_arena *arena,
                                                     sotto_err *err);

/* The same, as a report for the outbox, with the token that the recipe asks for. */
SOTTO_MUST_USE sotto_status sotto_update_seal(sotto_report *out, const sotto_answer_plan *plan,
                                              const sotto_vector_randomizer *randomizer,
                                              const double *update, double weight,
                                              sotto_entropy *entropy, sotto_arena *arena,
                                              sotto_err *err);

#endif
