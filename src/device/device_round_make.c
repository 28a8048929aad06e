/* An update of a round: fetched, trained, paid for and sealed. Nothing is paid before there is an update, and nothing leaves before
 * it is paid. */
#include "device/round.h"

#include "base/arena.h"
#include "base/rule.h"
#include "device/answer/update.h"

#include <math.h>
#include <string.h>

/* ---- rows ------------------------------------------------------------------------------------------------------ */

enum { COLUMNS = 64 };

typedef struct gathering {
    sotto_arena *arena;
    sotto_value *cells;
    size_t columns, rows, most;
    bool full; /* the rest is not read */
} gathering;

static sotto_status take_row(void *context, const sotto_value *values, size_t count, sotto_err *err)
{
    gathering *g = context;

    if (g->rows == g->most) {
        g->full = true;
        return sotto_fail(err, SOTTO_AGAIN, "enough rows");
    }
    if (count != g->columns)
        return sotto_fail(err, SOTTO_DENIED, "query: its answer lost a column");
    for (size_t i = 0; i < count; i++) {
        sotto_value *cell = &g->cells[g->rows * g->columns + i];

        *cell = values[i];
        if (values[i].type != SOTTO_TYPE_TEXT)
            continue;
        uint8_t *copy = sotto_arena_take(g->arena, values[i].as.text.len + 1);
        if (!copy)
            return sotto_fail(err, SOTTO_NO_MEMORY, "rows");
        if (values[i].as.text.len)
            memcpy(copy, values[i].as.text.data, values[i].as.text.len);
        cell->as.text = sotto_bytes_of(copy, values[i].as.text.len);
    }
    g->rows++;
    return SOTTO_OK;
}

/* Whether a query fails as it runs can depend on events. Then there are no rows, and the update is paid for and sent like
 * any other: silence would tell. */
static sotto_status gather(sotto_device *device, sotto_case *c, sotto_trainer_input *in,
                           sotto_err *err)
{
    gathering g = {.arena = &device->work, .most = (size_t)c->round->learning->most_rows};
    const char **names = sotto_arena_take_array(&device->work, COLUMNS, sizeof *names);
    sotto_err stumbled = {0};

    if (!names)
        return sotto_fail(err, SOTTO_NO_MEMORY, "rows");
    const size_t columns = sotto_query_columns(c->query, names, COLUMNS);
    for (size_t i = 0; i < columns; i++) { /* names are gone with the statement */
        char *copy = sotto_arena_take(&device->work, strlen(names[i]) + 1);

        if (!copy)
            return sotto_fail(err, SOTTO_NO_MEMORY, "rows");
        memcpy(copy, names[i], strlen(names[i]) + 1);
        names[i] = copy;
    }
    g.columns = columns;
    g.cells = sotto_arena_take_array(&device->work, g.most * columns + 1, sizeof *g.cells);
    if (!g.cells)
        return sotto_fail(err, SOTTO_NO_MEMORY, "rows");
    sotto_status status = sotto_query_run(c->query, take_row, &g, &stumbled);
    sotto_query_finish(c->query); /* its memory is wanted for the report */
    if (!g.full && (status == SOTTO_IO || status == SOTTO_AGAIN || status == SOTTO_NO_MEMORY))
        return sotto_fail(err, status, "%s", stumbled.reason);
    in->columns = names;
    in->column_count = columns;
    in->cells = g.cells;
    in->row_count = status == SOTTO_OK || g.full ? g.rows : 0;
    return SOTTO_OK;
}

/* ---- training -------------------------------------------------------------------------------------------------- */

static void describe(const sotto_device *device, const sotto_case *c, sotto_trainer_input *in)
{
    const sotto_learning *l = c->round->learning;
    const int64_t late = c->now + (int64_t)device->trainer->trainer.seconds;

    in->size = sizeof *in;
    in->recipe = l->head.name;
    in->round = c->round->record.round;
    in->model = l->model;
    in->parameters = l->parameters;
    in->algorithm = l->algorithm == 1 ? "fedsgd" : "fedavg";
    in->epochs = l->epochs;
    in->batch = l->algorithm == 1 ? 0 : l->batch;
    in->rate = l->rate * pow(l->decay, (double)in->round);
    in->clip = l->clip;
    in->deadline = late < c->recipe->closes ? late : c->recipe->closes;
}

/* Whether an update that came at this time may count. */
static sotto_status check_update(const sotto_trainer_input *in, const float *update, int64_t now)
{
    if (SOTTO_RULE(trained_in_time) && now >= in->deadline)
        return SOTTO_STALE;
    for (size_t i = 0; i < in->parameters; i++)
        if (!isfinite(update[i]))
            return SOTTO_MALFORMED;
    return SOTTO_OK;
}

/* Writes the update as the randomizer takes it. A trainer that failed, or was late, has zeros sent in its place: whether it
 * fails can depend on rows. */
static sotto_status train(sotto_device *device, sotto_case *c, const sotto_trainer_input *in,
                          double *update, sotto_err *err)
{
    const sotto_trainer *trainer = &device->trainer->trainer;
    float *delta = sotto_arena_take_array(&device->work, in->parameters, sizeof *delta);
    sotto_err said = {0};

    if (!delta)
        return sotto_fail(err, SOTTO_NO_MEMORY, "update");
    memset(delta, 0, in->parameters * sizeof *delta);
    const sotto_status status = trainer->train(trainer->context, in, delta, &said);
    if (status == SOTTO_AGAIN) {
        sotto_explain(&c->out, SOTTO_WHY_TRAINER, "trainer", "The trainer is asked again later.");
        return SOTTO_OK;
    }
    const int64_t now = sotto_device_now(device);
    /* Servers take no report of a round that is over, and an update of this model is none of the next. */
    if (SOTTO_RULE(trained_within_its_round) && now >= c->recipe->closes) {
        sotto_explain(&c->out, SOTTO_WHY_CLOSED, "", "The round closed before training ended.");
        return SOTTO_OK;
    }
    const bool failed = status != SOTTO_OK || check_update(in, delta, now) != SOTTO_OK;
    for (size_t i = 0; i < in->parameters; i++)
        update[i] = failed ? 0 : (double)delta[i];
    sotto_wipe(delta, in->parameters * sizeof *delta);
    return SOTTO_OK;
}

/* ---- paying ---------------------------------------------------------------------------------------------------- */

static sotto_status pay(sotto_device *device, sotto_case *c, const double *update,
                        sotto_entropy *entropy, sotto_err *err)
{
    sotto_vector_randomizer randomizer;
    sotto_refusal refusal = {0};
    sotto_report report;
    sotto_err first = {0};

    SOTTO_TRY(sotto_learning_randomizer(&randomizer, c->round->learning, &device->work, err));
    SOTTO_TRY(
        sotto_update_seal(&report, &c->plan, &randomizer, update, entropy, &device->work, err));
    sotto_status status = sotto_ledger_spend_round(device->ledger, &c->charge, &c->round->charge,
                                                   &report, c->now, &refusal, &first);
    status = sotto_round_turn(c, &refusal, status);
    if (status == SOTTO_DENIED && refusal.check) {
        sotto_case_refuse(c, &refusal);
        return SOTTO_OK;
    }
    return sotto_case_overtaken(device, c, status, &first, err);
}

static sotto_status make(sotto_device *device, sotto_case *c, sotto_entropy *entropy,
                         sotto_err *err)
{
    sotto_trainer_input in = {0};
    float *weights;

    SOTTO_TRY(sotto_round_fetch(device, c, &in.file, &weights, err));
    if (c->out.why != SOTTO_WHY_READY)
        return SOTTO_OK;
    in.weights = weights;
    describe(device, c, &in);
    SOTTO_TRY(sotto_entropy_take(entropy, &in.seed, sizeof in.seed, err));
    SOTTO_TRY(gather(device, c, &in, err));
    double *update = sotto_arena_take_array(&device->work, in.parameters, sizeof *update);
    if (!update)
        return sotto_fail(err, SOTTO_NO_MEMORY, "update");
    SOTTO_TRY(train(device, c, &in, update, err));
    if (c->out.why == SOTTO_WHY_READY)
        SOTTO_TRY(pay(device, c, update, entropy, err));
    sotto_wipe(update, in.parameters * sizeof *update);
    return SOTTO_OK;
}

sotto_status sotto_round_make(sotto_device *device, sotto_case *c, bool *made, sotto_err *err)
{
    sotto_entropy entropy;

    *made = false;
    if (!device->trainer) {
        sotto_explain(&c->out, SOTTO_WHY_TRAINER, "trainer",
                      "The application has given this device no trainer.");
        return SOTTO_OK;
    }
    sotto_device_entropy(device, &entropy);
    const sotto_status status = make(device, c, &entropy, err);
    sotto_entropy_clear(&entropy);
    *made = status == SOTTO_OK && c->out.why == SOTTO_WHY_READY;
    return status;
}
