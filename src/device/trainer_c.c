/* Training by the models of the room `learn`: rows of a query become examples. */
#include "base/arena.h"
#include "learn/model_file.h"
#include "learn/train.h"
#include "sotto/learn.h"

#include <math.h>
#include <string.h>

/* ---- the model ------------------------------------------------------------------------------------------------- */

/* Whether the file is of this model, with its tensors in the model's own order: an update is in the order of the file's places. */
static sotto_status check_file(const sotto_model *model, const sotto_trainer_input *in,
                               sotto_arena *arena, sotto_err *err)
{
    float *ordered = sotto_arena_take_array(arena, model->parameters, sizeof *ordered);

    if (!ordered)
        return sotto_fail(err, SOTTO_NO_MEMORY, "trainer");
    SOTTO_TRY(sotto_safetensors_decode(model, ordered, in->file, err));
    if (memcmp(ordered, in->weights, model->parameters * sizeof *ordered) != 0)
        return sotto_fail(err, SOTTO_DENIED, "trainer: the model's tensors are in another order");
    return SOTTO_OK;
}

/* As many inputs as make so many parameters, which grow by the same number with each; false: none do, or it is a model of images or
 * text. */
static bool fit_inputs(sotto_model *model, size_t parameters)
{
    sotto_model_config config = model->config;
    sotto_model two;

    if (config.inputs == 0)
        return false;
    config.inputs = 1;
    if (sotto_model_init(model, &config, NULL) != SOTTO_OK)
        return false;
    config.inputs = 2;
    if (sotto_model_init(&two, &config, NULL) != SOTTO_OK || parameters < model->parameters)
        return false;
    config.inputs = 1 + (parameters - model->parameters) / (two.parameters - model->parameters);
    return sotto_model_init(model, &config, NULL) == SOTTO_OK && model->parameters == parameters;
}

/* The one of this name with so many parameters: they tell how many classes it has. Of rows of a table, the file's tensors tell which. */
static sotto_status find_model(sotto_model *out, const sotto_trainer_input *in, sotto_arena *arena,
                               sotto_err *err)
{
    for (size_t classes = 2; classes <= SOTTO_MODEL_CLASSES; classes++)
        if (sotto_model_named(out, in->model, classes, NULL) == SOTTO_OK &&
            out->parameters == in->parameters)
            return check_file(out, in, arena, err);
    for (size_t classes = 2; classes <= SOTTO_MODEL_CLASSES; classes++)
        if (sotto_model_named(out, in->model, classes, NULL) == SOTTO_OK &&
            fit_inputs(out, in->parameters) && check_file(out, in, arena, NULL) == SOTTO_OK)
            return SOTTO_OK;
    return sotto_fail(err, SOTTO_DENIED, "trainer: no model \"%.40s\" of %zu parameters", in->model,
                      in->parameters);
}

/* ---- rows ------------------------------------------------------------------------------------------------------ */

static int digit_of(uint8_t c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Bytes of a text of digits, at most `room`; -1: it is no such text, or longer. */
static long read_hex(uint8_t *out, size_t room, sotto_bytes text)
{
    if (text.len % 2 || text.len / 2 > room)
        return -1;
    for (size_t i = 0; i < text.len / 2; i++) {
        const int high = digit_of(text.data[2 * i]), low = digit_of(text.data[2 * i + 1]);

        if (high < 0 || low < 0)
            return -1;
        out[i] = (uint8_t)(high << 4 | low);
    }
    return (long)(text.len / 2);
}

/* Inputs of a row; false: they are not as many numbers as the model takes. */
static bool read_inputs(float *out, uint8_t *bytes, size_t width, const sotto_value *cells,
                        size_t count)
{
    size_t used = 0;

    for (size_t i = 0; i < count; i++) {
        const sotto_value *v = &cells[i];

        if (v->type == SOTTO_TYPE_TEXT) {
            const long len = read_hex(bytes + used, width - used, v->as.text);

            if (len < 0)
                return false;
            for (long k = 0; k < len; k++)
                out[used + (size_t)k] = (float)bytes[used + (size_t)k] / 255.0F;
            used += (size_t)len;
        } else if (used < width && (v->type == SOTTO_TYPE_INTEGER || v->type == SOTTO_TYPE_REAL)) {
            out[used] = v->type == SOTTO_TYPE_REAL ? (float)v->as.real : (float)v->as.integer;
            if (!isfinite(out[used++]))
                return false;
        } else {
            return false;
        }
    }
    return used == width;
}

static bool read_label(uint8_t *out, const sotto_value *v, size_t classes)
{
    *out = (uint8_t)v->as.integer;
    return v->type == SOTTO_TYPE_INTEGER && v->as.integer >= 0 &&
           (uint64_t)v->as.integer < (uint64_t)classes;
}

static bool are_symbols(const uint8_t *bytes, size_t count, size_t classes)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] >= classes)
            return false;
    return true;
}

/* Images of one column stay bytes, as the simulator has them. */
static sotto_status read_rows(sotto_examples *out, const sotto_model *model,
                              const sotto_trainer_input *in, sotto_arena *arena, sotto_err *err)
{
    const bool text = model->config.type == SOTTO_MODEL_GRU;
    const size_t inputs = in->column_count - (text ? 0 : 1), width = model->width;
    bool bytes_alone = in->column_count > 0 && inputs == 1;
    float *reals = sotto_arena_take_array(arena, in->row_count * width + 1, sizeof *reals);
    uint8_t *bytes = sotto_arena_take(arena, (in->row_count + 1) * width);
    uint8_t *labels = sotto_arena_take(arena, in->row_count + 1);
    size_t rows = 0;

    if (!reals || !bytes || !labels)
        return sotto_fail(err, SOTTO_NO_MEMORY, "trainer");
    for (size_t i = 0; i < in->row_count && in->column_count > !text; i++) {
        const sotto_value *cells = &in->cells[i * in->column_count];
        bool good = read_inputs(reals + rows * width, bytes + rows * width, width, cells, inputs) &&
                    (text ? are_symbols(bytes + rows * width, width, model->config.classes)
                          : read_label(&labels[rows], &cells[inputs], model->config.classes));

        bytes_alone = bytes_alone && cells[0].type == SOTTO_TYPE_TEXT;
        rows += good;
    }
    *out = (sotto_examples){.bytes = bytes_alone ? bytes : NULL,
                            .reals = bytes_alone ? NULL : reals,
                            .labels = text ? NULL : labels,
                            .count = rows};
    if (text && !bytes_alone)
        out->count = 0;
    return out->count ? sotto_examples_check(out, model, err) : SOTTO_OK;
}

/* ---- training -------------------------------------------------------------------------------------------------- */

static sotto_status train(const sotto_trainer_input *in, float *update, sotto_arena *arena,
                          sotto_err *err)
{
    const sotto_training how = {.epochs = (size_t)in->epochs,
                                .batch = (size_t)in->batch,
                                .rate = in->rate,
                                .clip = in->clip,
                                .seed = in->seed};
    sotto_training_facts facts;
    sotto_examples examples;
    sotto_learner learner;
    sotto_model model;

    SOTTO_TRY(find_model(&model, in, arena, err));
    SOTTO_TRY(sotto_training_check(&how, err));
    SOTTO_TRY(read_rows(&examples, &model, in, arena, err));
    if (examples.count == 0)
        return SOTTO_OK;
    SOTTO_TRY(sotto_learner_init(&learner, &model, examples.count, arena, err));
    sotto_train(&learner, in->weights, &examples, &how, update, &facts);
    return SOTTO_OK;
}

sotto_status sotto_train_in_c(void *context, const sotto_trainer_input *input, float *update,
                              sotto_err *err)
{
    sotto_arena arena;

    sotto_err_clear(err);
    (void)context;
    sotto_arena_init(&arena, (size_t)1 << 30);
    const sotto_status status = train(input, update, &arena, err);
    sotto_arena_clear(&arena);
    return status;
}
