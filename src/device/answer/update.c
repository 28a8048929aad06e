#include "device/answer/update.h"

#include "base/arena.h"

enum { TRIES = 8 };

typedef struct making {
    const sotto_update_maker *maker;
    const double *update;
    double weight;
    sotto_entropy *entropy;
    sotto_arena *arena;
    int64_t *numbers;
    uint64_t *values;
    uint8_t *random;
} making;

static sotto_status take(making *m, sotto_err *err)
{
    const sotto_vdaf *vdaf = m->maker->vdaf;
    const size_t count = vdaf->sizes.outputs;

    if (m->maker->randomizer->config.dimension != count)
        return sotto_fail(err, SOTTO_BUG, "update: the task is of another model");
    m->numbers = sotto_arena_take_array(m->arena, count, sizeof *m->numbers);
    m->values = sotto_arena_take_array(m->arena, count, sizeof *m->values);
    m->random = sotto_arena_take(m->arena, sotto_report_random_size(vdaf));
    return m->numbers && m->values && m->random
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_NO_MEMORY, "update: no memory");
}

static sotto_status make_once(sotto_dap_report *out, sotto_report_draft *draft, making *m,
                              sotto_err *err)
{
    const sotto_vdaf *vdaf = m->maker->vdaf;
    const size_t count = vdaf->sizes.outputs, bytes = sotto_report_random_size(vdaf);

    SOTTO_TRY(sotto_vector_randomizer_run(m->maker->randomizer, m->numbers, m->update, m->weight,
                                          m->entropy, err));
    for (size_t i = 0; i < count; i++)
        m->values[i] = (uint64_t)m->numbers[i];
    SOTTO_TRY(sotto_entropy_take(m->entropy, m->random, bytes, err));
    return sotto_report_make(out, draft, vdaf, (sotto_measurement){m->values, count}, m->maker->to,
                             sotto_bytes_of(m->random, bytes), m->arena, err);
}

/* Noise that would make a report longer than its proof allows is drawn again, the rounding with it. That changes the law of
 * the noise by no more than the chance of it, which the claim counts (recipe/learning_claim.c). */
sotto_status sotto_update_report_make(sotto_dap_report *out, sotto_report_draft *draft,
                                      const sotto_update_maker *maker, const double *update,
                                      double weight, sotto_entropy *entropy, sotto_arena *arena,
                                      sotto_err *err)
{
    making m = {
        .maker = maker, .update = update, .weight = weight, .entropy = entropy, .arena = arena};
    sotto_status status = SOTTO_TOO_LARGE;

    SOTTO_TRY(take(&m, err));
    for (unsigned i = 0; i < TRIES && (status == SOTTO_TOO_LARGE || status == SOTTO_AGAIN); i++) {
        sotto_err_clear(err);
        status = make_once(out, draft, &m, err);
    }
    sotto_wipe(m.numbers, maker->vdaf->sizes.outputs * sizeof *m.numbers);
    sotto_wipe(m.values, maker->vdaf->sizes.outputs * sizeof *m.values);
    sotto_wipe(m.random, sotto_report_random_size(maker->vdaf));
    return status;
}

/* Each try takes its own memory for the report: there is hardly ever a second one. */
sotto_status sotto_update_seal(sotto_report *out, const sotto_answer_plan *plan,
                               const sotto_vector_randomizer *randomizer, const double *update,
                               double weight, sotto_entropy *entropy, sotto_arena *arena,
                               sotto_err *err)
{
    const size_t count = randomizer->config.dimension;
    int64_t *numbers = sotto_arena_take_array(arena, count, sizeof *numbers);
    uint64_t *values = sotto_arena_take_array(arena, count, sizeof *values);
    const sotto_measurement measurement = {values, count};
    sotto_answer_plan measured = *plan;
    sotto_status status = SOTTO_TOO_LARGE;

    *out = (sotto_report){0};
    measured.measured = &measurement;
    if (!numbers || !values)
        return sotto_fail(err, SOTTO_NO_MEMORY, "update: no memory");
    for (unsigned i = 0; i < TRIES && (status == SOTTO_TOO_LARGE || status == SOTTO_AGAIN); i++) {
        sotto_err_clear(err);
        status = sotto_vector_randomizer_run(randomizer, numbers, update, weight, entropy, err);
        for (size_t k = 0; k < count && status == SOTTO_OK; k++)
            values[k] = (uint64_t)numbers[k];
        if (status == SOTTO_OK)
            status = sotto_answer_seal(out, &measured, SOTTO_NO_VALUE, entropy, arena, err);
    }
    sotto_wipe(numbers, count * sizeof *numbers);
    sotto_wipe(values, count * sizeof *values);
    return status;
}
