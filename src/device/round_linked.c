#include "device/round.h"

#include "base/alloc.h"
#include "device/answer/shape.h"

#include <stdio.h>
#include <string.h>

static const sotto_device_rounds linked = {
    sotto_round_record_is, sotto_round_read,  sotto_round_lint,
    sotto_round_compile,   sotto_round_judge, sotto_round_make,
    sotto_round_measure,   sotto_round_pay,   sotto_update_project};
const sotto_device_rounds *const sotto_linked_rounds = &linked;

sotto_status sotto_device_learn(sotto_device *device, const sotto_trainer *trainer, sotto_err *err)
{
    enum { MODEL_BYTES = 64 << 20, SECONDS = 600, MOST_SECONDS = 86400 };
    sotto_err_clear(err);

    if (!trainer) {
        device->trainer = NULL;
        return SOTTO_OK;
    }
    if (trainer->size < sizeof *trainer || !trainer->train || !trainer->models)
        return sotto_fail(err, SOTTO_MALFORMED,
                          "trainer: it needs a size, models, and a function that trains");
    if (strlen(trainer->models) + 2 * SOTTO_MODEL_HASH >= sizeof device->trainer->models ||
        trainer->model_bytes > MODEL_BYTES || trainer->seconds > MOST_SECONDS)
        return sotto_fail(err, SOTTO_MALFORMED,
                          "trainer: models of at most 64 MiB, and a day for training");
    struct sotto_trainer_kept *kept = sotto_arena_take(&device->keep, sizeof *kept);
    if (!kept)
        return sotto_fail(err, SOTTO_NO_MEMORY, "trainer");
    kept->trainer = *trainer;
    kept->rows = 0;
    memset(kept->pauses, 0, sizeof kept->pauses);
    (void)snprintf(kept->models, sizeof kept->models, "%s", trainer->models);
    kept->trainer.models = kept->models;
    if (kept->trainer.model_bytes == 0)
        kept->trainer.model_bytes = MODEL_BYTES;
    if (kept->trainer.seconds == 0)
        kept->trainer.seconds = SECONDS;
    device->trainer = kept;
    return SOTTO_OK;
}

sotto_status sotto_device_rho(sotto_device *device, sotto_rho_line_fn *show, void *context,
                              sotto_err *err)
{
    sotto_err_clear(err);

    return sotto_ledger_rho(device->ledger, show, context, err);
}
