/* support/trainer_child.h - a trainer that is a program of its own: any language, any model.
 *
 *     static const char *const command[] = {"python3", "trainer.py", NULL};
 *     sotto_child_trainer_open(&child, command, 600, &err);
 *     const sotto_trainer trainer = {.size = sizeof trainer, .models = URL, .train = sotto_child_train, .context = child};
 *
 * Callers:  programs that host devices. The device library starts no process: this is the host's side.
 * Memory:   ours until close.
 * Threads:  one at a time.
 * Secrets:  the program is given rows of this device, and must be trusted with them.
 *
 * The program reads frames from its standard input and writes to its standard output (support/trainer_frames.h). It is started
 * when it is first needed, and again after it ended, failed or was too late. Then it is killed first.
 */
#ifndef SOTTO_APPS_TRAINER_CHILD_H
#define SOTTO_APPS_TRAINER_CHILD_H

#include "sotto/learn.h"

typedef struct sotto_child_trainer sotto_child_trainer;

/* Starts nothing yet. command is borrowed, ends with NULL, and is looked for in PATH.
 *   seconds  that one update may take, its start included; 1 to 86400 */
SOTTO_MUST_USE sotto_status sotto_child_trainer_open(sotto_child_trainer **out,
                                                     const char *const *command, unsigned seconds,
                                                     sotto_err *err);
/* Says goodbye, and kills it if it has not ended within a second. NULL is fine. */
void sotto_child_trainer_close(sotto_child_trainer *child);

/* For sotto_trainer.train; the context is a sotto_child_trainer.
 *   SOTTO_STALE      it was too late, and was killed
 *   SOTTO_IO         it could not be started, or ended
 *   SOTTO_MALFORMED  what it sent is no frame, or no update of this model
 *   SOTTO_REJECTED   a number is not finite
 *   SOTTO_DENIED     it does not train such a model, or said that it failed */
SOTTO_MUST_USE sotto_status sotto_child_train(void *context, const sotto_trainer_input *input,
                                              float *update, sotto_err *err);

#endif
