/* An update of a round: fetched, trained, paid for and sealed. Nothing is paid before there is an update, and nothing leaves before
 * it is paid. Once rows are read, nothing that depends on them keeps a device silent: neither memory nor the time that training
 * takes. */
#include "device/round.h"

#include "base/arena.h"
#include "base/rule.h"
#include "device/answer/shape.h"
#include "device/answer/update.h"

#include <math.h>
#include <string.h>

/* ---- rows ------------------------------------------------------------------------------------------------------ */

enum { COLUMNS = 64 };

/* Of all rows together. They have memory of their own, so that what is left for the update never depends on them. */
static const size_t rows_most = (size_t)128 << 20;

static size_t rows_ceiling(const sotto_device *device)
{
    return device->trainer && device->trainer->rows ? device->trainer->rows : rows_most;
}

bool sotto_round_fits(const sotto_device *device, const sotto_case *c)
{
    /* Bytes for a parameter: of the file, its weights and the trainer's update. For a number of the report: the randomizer's update, its
     * numbers and the values. */
    enum { PER_PARAMETER = 3 * 4, PER_NUMBER = 3 * 8, HALVES = 2, SLACK = 1 << 20 };
    const sotto_round_case *r = c->round;
    const char *names[COLUMNS];
    const size_t columns = sotto_query_columns(c->query, names, COLUMNS);
    const uint64_t row = columns * sizeof(sotto_value), rows = rows_ceiling(device),
                   work = device->work.ceiling - SLACK, report = r->claim.report_bytes,
                   parameters = r->learning->parameters;

    if (r->learning->most_rows >= (rows - rows / 8) / (row ? row : 1))
        return false;
    return parameters <= work / PER_PARAMETER && report <= work / (HALVES + 1) &&
           PER_PARAMETER * parameters + PER_NUMBER * sotto_learning_length(r->learning) +
                   HALVES * report <=
               work;
}

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

/* The columns' names, which are gone with the statement. */
static sotto_status name_columns(sotto_device *device, sotto_case *c, sotto_trainer_input *in,
                                 sotto_err *err)
{
    const char **names = sotto_arena_take_array(&device->work, COLUMNS, sizeof *names);

    if (!names)
        return sotto_fail(err, SOTTO_NO_MEMORY, "rows");
    in->column_count = sotto_query_columns(c->query, names, COLUMNS);
    in->columns = names;
    for (size_t i = 0; i < in->column_count; i++) {
        char *copy = sotto_arena_take(&device->work, strlen(names[i]) + 1);

        if (!copy)
            return sotto_fail(err, SOTTO_NO_MEMORY, "rows");
        memcpy(copy, names[i], strlen(names[i]) + 1);
        names[i] = copy;
    }
    return SOTTO_OK;
}

/* Whether a query fails as it runs, or its rows fit into memory, can depend on events. Then there are no rows, and the update is
 * paid for and sent like any other: silence would tell. */
static sotto_status gather(sotto_case *c, sotto_trainer_input *in, sotto_arena *arena,
                           sotto_err *err)
{
    gathering g = {
        .arena = arena, .columns = in->column_count, .most = (size_t)c->round->learning->most_rows};
    sotto_err stumbled = {0};

    g.cells = sotto_arena_take_array(arena, g.most * g.columns + 1, sizeof *g.cells);
    if (!g.cells) /* the recipe's own numbers: sotto_round_fits */
        return sotto_fail(err, SOTTO_NO_MEMORY, "rows");
    sotto_status status = sotto_query_run(c->query, take_row, &g, &stumbled);
    sotto_query_finish(c->query); /* its memory is wanted for the report */
    if (!g.full && (status == SOTTO_IO || status == SOTTO_AGAIN))
        return sotto_fail(err, status, "%s", stumbled.reason);
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
    in->rate = sotto_learning_rate(l, in->round);
    in->clip = l->clip;
    in->deadline = late < c->round->kept.closes ? late : c->round->kept.closes;
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

/* What an update needs, taken before a row is read: whether it can be had must not depend on rows. */
static sotto_status prepare(sotto_device *device, const sotto_case *c, sotto_round_update *m,
                            sotto_err *err)
{
    const sotto_learning *l = c->round->learning;

    m->delta = sotto_arena_take_array(&device->work, (size_t)l->parameters, sizeof *m->delta);
    m->update =
        sotto_arena_take_array(&device->work, (size_t)sotto_learning_length(l), sizeof *m->update);
    if (!m->delta || !m->update)
        return sotto_fail(err, SOTTO_NO_MEMORY, "update");
    return sotto_learning_randomizer(&m->randomizer, l, &device->work, err);
}

/* Writes the update as the randomizer takes it. A trainer that failed, or was late, has zeros sent in its place: whether it
 * fails, and how long it takes, can depend on rows. That holds for a round that closed meanwhile too, although servers may refuse
 * its report: a device that trained and then kept silent would tell how long it took. */
static sotto_status train(sotto_device *device, sotto_case *c, const sotto_trainer_input *in,
                          sotto_round_update *m, sotto_err *err)
{
    const sotto_trainer *trainer = &device->trainer->trainer;
    sotto_err said = {0};
    const sotto_status status = trainer->train(trainer->context, in, m->delta, &said);

    if (status == SOTTO_AGAIN) {
        sotto_explain(&c->out, SOTTO_WHY_TRAINER, "trainer", "The trainer is asked again later.");
        return SOTTO_OK;
    }
    const bool failed =
        status != SOTTO_OK || check_update(in, m->delta, sotto_device_now(device)) != SOTTO_OK;
    if (SOTTO_RULE(failed_updates_are_zeros) && failed)
        memset(m->delta, 0, in->parameters * sizeof *m->delta);
    const sotto_status shaped =
        sotto_update_shape(m->update, c->round->learning, in->round, m->delta, err);
    m->weight = sotto_update_weight(c->round->learning, in->row_count);
    sotto_wipe(m->delta, in->parameters * sizeof *m->delta);
    return shaped;
}

/* ---- paying ---------------------------------------------------------------------------------------------------- */

static sotto_status spend(sotto_device *device, sotto_case *c, const sotto_report *report,
                          sotto_refusal *refusal, sotto_err *first)
{
    return sotto_ledger_spend_round(device->ledger, &c->charge, &c->round->charge, report, c->now,
                                    refusal, first);
}

static sotto_status settle(sotto_device *device, sotto_case *c, sotto_status status,
                           sotto_refusal *refusal, sotto_err *first, sotto_err *err)
{
    status = sotto_round_turn(c, refusal, status);
    if (status == SOTTO_DENIED && refusal->check) {
        sotto_case_refuse(c, refusal);
        return SOTTO_OK;
    }
    return sotto_case_overtaken(device, c, status, first, err);
}

sotto_status sotto_round_pay(sotto_device *device, sotto_case *c, const sotto_report *report,
                             sotto_err *err)
{
    sotto_refusal refusal = {0};
    sotto_err first = {0};
    const sotto_status status = spend(device, c, report, &refusal, &first);

    return settle(device, c, status, &refusal, &first, err);
}

/* Zeros in the place of an update that has no turn. They tell nothing of rows, so they cost nothing, and are no participation. They
 * were fetched for, trained for and take as long; their report has a token, a proof and the size of any other. */
static sotto_status pay_zeros(sotto_device *device, sotto_case *c, const sotto_round_update *m,
                              sotto_entropy *entropy, sotto_err *err)
{
    const sotto_dummy dummy = {c->recipe->name, c->recipe->analysis, c->round->record.round,
                               SOTTO_DECISION_RECIPE, &c->asked};
    sotto_report report;
    sotto_err first = {0};

    for (size_t i = 0; i < sotto_learning_length(c->round->learning); i++)
        m->update[i] = 0;
    SOTTO_TRY(sotto_update_seal(&report, &c->plan, &m->randomizer, m->update, m->weight, entropy,
                                &device->work, err));
    const sotto_status status =
        sotto_outbox_put_dummy(device->ledger, &dummy, &report, c->now, &first);
    return sotto_case_overtaken(device, c, status, &first, err);
}

static sotto_status pay_sealed(sotto_device *device, sotto_case *c, const sotto_round_update *m,
                               sotto_entropy *entropy, sotto_err *err)
{
    sotto_refusal refusal = {0};
    sotto_report report;
    sotto_err first = {0};

    if (c->round->zeros)
        return pay_zeros(device, c, m, entropy, err);
    SOTTO_TRY(sotto_update_seal(&report, &c->plan, &m->randomizer, m->update, m->weight, entropy,
                                &device->work, err));
    const sotto_status status = spend(device, c, &report, &refusal, &first);
    if (status == SOTTO_DENIED && refusal.check == SOTTO_CHECK_ROUNDS && c->round->learning->zeros)
        return pay_zeros(device, c, m, entropy, err);
    return settle(device, c, status, &refusal, &first, err);
}

/* The rows' memory is given back before the report is sealed. */
static sotto_status learn(sotto_device *device, sotto_case *c, sotto_trainer_input *in,
                          sotto_round_update *m, sotto_err *err)
{
    sotto_arena rows;
    sotto_status status;

    sotto_arena_init(&rows, rows_ceiling(device));
    status = gather(c, in, &rows, err);
    if (status == SOTTO_OK)
        status = train(device, c, in, m, err);
    sotto_arena_clear(&rows);
    return status;
}

static bool has_trainer(const sotto_device *device, sotto_case *c)
{
    if (!device->trainer)
        sotto_explain(&c->out, SOTTO_WHY_TRAINER, "trainer",
                      "The application has given this device no trainer.");
    return device->trainer != NULL;
}

sotto_status sotto_round_train(sotto_device *device, sotto_case *c, sotto_round_update *m,
                               sotto_entropy *entropy, sotto_err *err)
{
    sotto_trainer_input in = {0};
    float *weights;

    if (!has_trainer(device, c))
        return SOTTO_OK;
    SOTTO_TRY(sotto_round_fetch(device, c, &in.file, &weights, err));
    if (c->out.why != SOTTO_WHY_READY)
        return SOTTO_OK;
    in.weights = weights;
    describe(device, c, &in);
    SOTTO_TRY(sotto_entropy_take(entropy, &in.seed, sizeof in.seed, err));
    SOTTO_TRY(name_columns(device, c, &in, err));
    SOTTO_TRY(prepare(device, c, m, err));
    return learn(device, c, &in, m, err);
}

static sotto_status make(sotto_device *device, sotto_case *c, sotto_entropy *entropy,
                         sotto_err *err)
{
    sotto_round_update m = {0};

    SOTTO_TRY(sotto_round_train(device, c, &m, entropy, err));
    if (c->out.why == SOTTO_WHY_READY && m.update)
        SOTTO_TRY(pay_sealed(device, c, &m, entropy, err));
    if (m.update)
        sotto_wipe(m.update, (size_t)sotto_learning_length(c->round->learning) * sizeof *m.update);
    return SOTTO_OK;
}

sotto_status sotto_round_make(sotto_device *device, sotto_case *c, bool *made, sotto_err *err)
{
    sotto_entropy entropy;

    *made = false;
    if (!has_trainer(device, c)) /* before anything is paid */
        return SOTTO_OK;
    sotto_device_entropy(device, &entropy);
    sotto_status status = sotto_round_begin(device, c, &entropy, err);
    if (status == SOTTO_OK && c->out.why == SOTTO_WHY_READY)
        status = make(device, c, &entropy, err);
    sotto_entropy_clear(&entropy);
    *made = status == SOTTO_OK && c->out.why == SOTTO_WHY_READY;
    return status;
}
