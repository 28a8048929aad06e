/* Models that sotto has not, and programs that train: one for each thread of devices. A first file says names and shapes of such a model. Its
 * numbers are trained, clipped, added up and released as those of any other; how well it does, nobody here can tell. */
#define _POSIX_C_SOURCE 200809L
#include "learn_run.h"
#include "support/trainer_child.h"

#include "base/arena.h"
#include "device/round.h"
#include "learn/model_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SECONDS = 600 };

/* ---- models ------------------------------------------------------------------------------------------------- */

bool learn_own_is(const char *name)
{
    sotto_model model;

    return sotto_model_named(&model, name, 2, NULL) == SOTTO_MISSING;
}

sotto_status learn_own_read(sotto_model *out, float **weights, sotto_bytes file, sotto_arena *arena,
                            sotto_err *err)
{
    SOTTO_TRY(sotto_model_own(out, file, err));
    *weights = sotto_arena_take_array(arena, out->parameters, sizeof **weights);
    if (!*weights)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a model");
    return sotto_model_weights_read(*weights, out->parameters, file, err);
}

/* ---- programs ----------------------------------------------------------------------------------------------- */

/* A device sends zeros where its trainer failed, and says nothing. Here it is told once a round. */
static sotto_status train(void *context, const sotto_trainer_input *input, float *update,
                          sotto_err *err)
{
    learn_trainer *t = context;
    sotto_err first = {0};
    const sotto_status status = sotto_child_train(t->child, input, update, &first);

    if (status == SOTTO_OK)
        return SOTTO_OK;
    if (t->failed++ == 0)
        t->err = first;
    return sotto_fail(err, status, "%s", first.reason);
}

sotto_trainer learn_trainer_of(learn_run *run, size_t thread)
{
    sotto_trainer trainer = {
        .size = sizeof trainer, .models = run->models_url, .train = sotto_train_in_c};

    if (run->trainer) {
        trainer.train = train;
        trainer.context = &run->trainers[thread];
        trainer.seconds = SECONDS;
    }
    return trainer;
}

/* Without rows: whether it starts, knows the model, and returns as many numbers. */
static sotto_status try_one(learn_run *run, sotto_err *err)
{
    static const char *const columns[] = {"pixels", "label"};
    const sotto_learning *l = run->learning;
    const sotto_arena_mark mark = sotto_arena_here(&run->arena);
    float *update = sotto_arena_take_array(&run->arena, run->model.parameters, sizeof *update);
    uint8_t digest[SOTTO_MODEL_HASH];
    sotto_trainer_input in = {.size = sizeof in,
                              .recipe = l->head.name,
                              .model = l->model,
                              .weights = run->session.weights,
                              .parameters = run->model.parameters,
                              .algorithm = l->algorithm == 1 ? "fedsgd" : "fedavg",
                              .epochs = l->epochs,
                              .batch = l->batch,
                              .rate = l->rate,
                              .clip = l->clip,
                              .columns = columns,
                              .column_count = 2,
                              .seed = 1};

    if (!update)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a model");
    SOTTO_TRY(
        learn_model_bytes(&run->model, run->session.weights, &in.file, digest, &run->arena, err));
    const sotto_status status = sotto_child_train(run->trainers[0].child, &in, update, err);
    sotto_arena_rollback(&run->arena, mark);
    return status;
}

sotto_status learn_trainers_open(learn_run *run, sotto_err *err)
{
    /* The shell only finds the words: the program takes its place, and so is killed when it is late. */
    if ((size_t)snprintf(run->trainer_line, sizeof run->trainer_line, "exec %s", run->trainer) >=
        sizeof run->trainer_line)
        return sotto_fail(err, SOTTO_DENIED, "--trainer is too long");
    run->trainer_words[0] = "sh";
    run->trainer_words[1] = "-c";
    run->trainer_words[2] = run->trainer_line;
    for (size_t i = 0; i < (size_t)run->threads; i++)
        SOTTO_TRY(
            sotto_child_trainer_open(&run->trainers[i].child, run->trainer_words, SECONDS, err));
    return try_one(run, err);
}

void learn_trainers_tell(learn_run *run)
{
    uint64_t failed = 0;
    const char *why = "";

    for (size_t i = 0; i < LEARN_THREADS; i++) {
        learn_trainer *t = &run->trainers[i];

        why = t->failed > 0 ? t->err.reason : why;
        failed += t->failed;
        t->failed = 0;
    }
    if (failed > 0)
        learn_say(run, "round %" PRIu64 ": %" PRIu64 " devices sent zeros: %s", run->record.round,
                  failed, why);
}

void learn_trainers_close(learn_run *run)
{
    for (size_t i = 0; i < LEARN_THREADS; i++) {
        sotto_child_trainer_close(run->trainers[i].child);
        run->trainers[i].child = NULL;
    }
}
