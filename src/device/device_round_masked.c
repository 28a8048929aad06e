/* An update for one server: it is fetched for, trained and noised as any other, and becomes entries of a masked vector. */
#include "device/round.h"

#include "base/arena.h"

/* Nothing is proved of the entries, so that no draw is ever repeated. */
static sotto_status randomise(sotto_device *device, const sotto_round_update *m, size_t count,
                              sotto_measurement *out, sotto_entropy *entropy, sotto_err *err)
{
    int64_t *numbers = sotto_arena_take_array(&device->work, count, sizeof *numbers);
    uint64_t *values = sotto_arena_take_array(&device->work, count, sizeof *values);

    if (!numbers || !values)
        return sotto_fail(err, SOTTO_NO_MEMORY, "update: no memory");
    const sotto_status status =
        sotto_vector_randomizer_run(&m->randomizer, numbers, m->update, m->weight, entropy, err);
    for (size_t i = 0; i < count && status == SOTTO_OK; i++)
        values[i] = (uint64_t)numbers[i];
    sotto_wipe(numbers, count * sizeof *numbers);
    *out = (sotto_measurement){values, count};
    return status;
}

sotto_status sotto_round_measure(sotto_device *device, sotto_case *c, sotto_measurement *out,
                                 sotto_err *err)
{
    const size_t count = (size_t)sotto_learning_length(c->round->learning);
    sotto_round_update m = {0};
    sotto_entropy entropy;

    SOTTO_TRY(sotto_round_record_check(c->round->learning, &c->round->record, err));
    sotto_device_entropy(device, &entropy);
    sotto_status status = sotto_round_train(device, c, &m, &entropy, err);
    if (status == SOTTO_OK && c->out.why == SOTTO_WHY_READY)
        status = randomise(device, &m, count, out, &entropy, err);
    sotto_entropy_clear(&entropy);
    if (m.update)
        sotto_wipe(m.update, count * sizeof *m.update);
    return status;
}
