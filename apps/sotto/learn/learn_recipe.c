/* The recipe as it is published on this machine, its model, its data and its session. */
#define _POSIX_C_SOURCE 200809L
#include "learn_digits.h"
#include "learn_run.h"
#include "verbs.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/hex.h"
#include "crypto/hash.h"
#include "learn/model_file.h"
#include "learn/train.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EVALUATED = 256, MADE_UP_ROWS = 30, MADE_UP_TEST = 1000 };

sotto_status learn_read_file(learn_run *run, const char *path, size_t most, sotto_bytes *out,
                             sotto_err *err)
{
    return sotto_file_read(out, path, most, &run->arena, err);
}

/* ---- the recipe of this deployment ------------------------------------------------------------------------ */

static void write_time(char out[32], time_t at)
{
    struct tm tm;

    (void)strftime(out, 32, "%Y-%m-%dT%H:%M:00Z", gmtime_r(&at, &tm));
}

static bool set_text(json_t *in, const char *name, const char *text)
{
    return json_object_set_new(in, name, json_string(text)) == 0;
}

/* Minutes of a round: 1, or as many as slots where servers use one report of each. */
static json_int_t minutes_of(const json_t *participation, json_int_t rounds)
{
    const char *variant = json_string_value(json_object_get(participation, "variant"));
    const json_int_t slots = json_integer_value(json_object_get(participation, "window"));

    return variant && strcmp(variant, "fixed") == 0 && rounds > 0 && slots > rounds ? slots / rounds
                                                                                    : 1;
}

/* Rounds of a minute that are over already, but for the last: servers take reports of them, since those may be late, and nobody
 * has to wait for a clock. Slots are of a minute, too. */
static bool set_times(json_t *recipe)
{
    json_t *rounds = json_object_get(recipe, "rounds"),
           *schedule = json_object_get(recipe, "schedule"),
           *participation = json_object_get(recipe, "participation");
    const json_int_t count = json_integer_value(json_object_get(rounds, "count")),
                     minutes = minutes_of(participation, count);
    const time_t now = time(NULL),
                 first = (now / LEARN_EVERY - (time_t)(count * minutes)) * LEARN_EVERY;
    char opens[32], closes[32], every[32];

    write_time(opens, first);
    write_time(closes, first + (time_t)((count + 1) * minutes) * LEARN_EVERY);
    (void)snprintf(every, sizeof every, "%lldm", (long long)minutes);
    if (json_object_get(participation, "slot") &&
        !(set_text(participation, "slot", "1m") && set_text(participation, "start", opens)))
        return false;
    return json_is_object(rounds) && json_is_object(schedule) && set_text(rounds, "every", every) &&
           set_text(rounds, "grace", "1s") && set_text(schedule, "opens", opens) &&
           set_text(schedule, "closes", closes) && set_text(schedule, "precision", "1m");
}

/* Records are signed here as everywhere, by a key of the session's own. */
static bool set_owner(json_t *recipe, const learn_run *run)
{
    char key[2 * SOTTO_SIGN_PUBLIC + 1];

    sotto_hex_encode(key, sotto_bytes_of(run->own_signer.public_key, SOTTO_SIGN_PUBLIC));
    return set_text(json_object_get(recipe, "rounds"), "key", key);
}

static bool set_parties(json_t *recipe, json_t *aggregation)
{
    return set_text(aggregation, "leader", "key:leader") &&
           set_text(aggregation, "helper", "key:helper") &&
           set_text(aggregation, "collector", "key:collector") &&
           json_object_set_new(recipe, "anonymity", json_pack("{s:s}", "log", "main")) == 0;
}

/* Encrypted sums say how many are registered: here all of them. */
static bool set_devices(json_t *recipe, json_t *aggregation, json_int_t devices)
{
    json_t *registered = json_object_get(aggregation, "devices");

    return json_object_set_new(recipe, "population", json_integer(devices)) == 0 &&
           (!registered || (json_object_set_new(registered, "least", json_integer(devices)) == 0 &&
                            json_object_set_new(registered, "most", json_integer(devices)) == 0));
}

sotto_status learn_recipe_localise(learn_run *run, sotto_bytes text, sotto_err *err)
{
    SOTTO_TRY(learn_owner_draw(run, err));

    demo *d = &run->deployment;
    json_error_t where;
    json_t *recipe = json_loadb((const char *)text.data, text.len, JSON_REJECT_DUPLICATES, &where);
    json_t *aggregation = json_object_get(recipe, "aggregation");
    bool right = json_is_object(aggregation) && set_times(recipe) && set_owner(recipe, run) &&
                 (run->one_server || set_parties(recipe, aggregation));

    if (right && run->devices > 0)
        right = set_devices(recipe, aggregation, (json_int_t)run->devices);
    char *out = right ? json_dumps(recipe, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) : NULL;
    const int len = out ? snprintf(d->recipe_text, sizeof d->recipe_text, "%s\n", out) : -1;

    run->localised = true;
    free(out);
    json_decref(recipe);
    if (!right)
        return sotto_fail(err, SOTTO_MALFORMED,
                          "it is no learning recipe; `sotto recipe lint` says more");
    return len > 0 && (size_t)len < sizeof d->recipe_text
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_TOO_LARGE, "the recipe is too long");
}

static int say_mistakes(const learn_run *run, const sotto_mistakes *mistakes, const sotto_err *err)
{
    bool said = false;

    for (size_t i = 0; i < mistakes->count; i++)
        if (mistakes->items[i].severity == SOTTO_MISTAKE) {
            (void)fprintf(stderr, "sotto learn: %s: %s: %s\n", run->recipe_file,
                          mistakes->items[i].path, mistakes->items[i].what);
            said = true;
        }
    if (!said)
        (void)fprintf(stderr, "sotto learn: %s: %s\n", run->recipe_file, err->reason);
    return EXIT_LINT;
}

/* A key that a log could have: the session's own log has none before it is started. */
static sotto_status made_up_key(char out[DEMO_NOTE_KEY], sotto_note_kind kind, sotto_err *err)
{
    const uint8_t seed[SOTTO_SIGN_SEED] = {(uint8_t)kind};
    sotto_buf text = sotto_buf_over(out, DEMO_NOTE_KEY - 1);
    sotto_signer signer = {0};
    sotto_note_key key;
    sotto_status status = sotto_signer_init(&signer, seed, err);

    if (status == SOTTO_OK)
        status =
            sotto_note_key_init(&key, sotto_bytes_of("made-up", 7), kind, signer.public_key, err);
    if (status == SOTTO_OK)
        status = sotto_note_key_encode(&text, &key, err);
    sotto_signer_clear(&signer);
    out[text.len] = 0;
    return status;
}

/* The session has a log of its own, which the devices' policy names in the place of its logs. */
static sotto_status with_own_log(learn_run *run, sotto_bytes *text, sotto_err *err)
{
    json_t *policy = json_loadb((const char *)text->data, text->len, JSON_REJECT_DUPLICATES, NULL);
    char log[DEMO_NOTE_KEY], witness[DEMO_NOTE_KEY];
    sotto_status status = made_up_key(log, SOTTO_NOTE_ED25519, err);

    if (status == SOTTO_OK)
        status = made_up_key(witness, SOTTO_NOTE_COSIGNATURE, err);
    (void)json_object_set_new(
        policy, "logs", json_pack("{s:{s:s,s:[s]}}", "main", "key", log, "witnesses", witness));
    char *out = status == SOTTO_OK && json_is_object(policy)
                    ? json_dumps(policy, JSON_REAL_PRECISION(15))
                    : NULL;
    const size_t len = out ? strlen(out) : 0;
    uint8_t *copy = out ? sotto_arena_take(&run->arena, len) : NULL;

    if (copy) { /* what is no object is told by whoever reads it */
        memcpy(copy, out, len);
        *text = sotto_bytes_of(copy, len);
    }
    free(out);
    json_decref(policy);
    return status;
}

static sotto_status read_policy(learn_run *run, sotto_mistakes *mistakes, sotto_err *err)
{
    sotto_bytes text;

    if (!run->policy_file)
        return SOTTO_OK;
    SOTTO_TRY(learn_read_file(run, run->policy_file, DEMO_LONG_TEXT, &text, err));
    if (run->localised && !run->one_server) /* one server's records come from no log here */
        SOTTO_TRY(with_own_log(run, &text, err));
    return sotto_policy_read(&run->policy, text, &run->arena, mistakes, err);
}

int learn_recipe_judge(learn_run *run)
{
    const char *text = run->deployment.recipe_text;
    sotto_mistakes *mistakes = sotto_arena_take(&run->arena, sizeof *mistakes);
    sotto_recipe_verdict verdict;
    sotto_err err = {0};
    sotto_status status;

    if (!mistakes)
        return EXIT_FAILED;
    status = sotto_learning_read(&run->learning, sotto_bytes_of(text, strlen(text)), &run->arena,
                                 mistakes, &err);
    if (status == SOTTO_OK)
        status = read_policy(run, mistakes, &err);
    if (status == SOTTO_OK)
        status = sotto_learning_judge(&verdict, &run->claim, run->learning, run->policy, NULL,
                                      mistakes, &err);
    return status == SOTTO_OK ? EXIT_DONE : say_mistakes(run, mistakes, &err);
}

/* ---- data ---------------------------------------------------------------------------------------------------- */

sotto_status learn_data_load(learn_run *run, sotto_err *err)
{
    /* Devices of others have rows of their own: what is needed here is something to test with. */
    const size_t users =
        learn_is_remote(run) && !run->rehearse ? 1 : (size_t)run->learning->head.population;
    sotto_bytes file;

    if (run->data_file) {
        SOTTO_TRY(sotto_file_read(&file, run->data_file, UINT64_C(1) << 33, &run->arena, err));
        SOTTO_TRY(sotto_dataset_decode(&run->data, file, err));
    } else {
        const uint64_t most = run->learning->most_rows;

        SOTTO_TRY(learn_digits_make(&run->data, users,
                                    most < MADE_UP_ROWS ? (size_t)most : MADE_UP_ROWS, MADE_UP_TEST,
                                    1, &run->arena, err));
    }
    if (run->data.users < users)
        return sotto_fail(err, SOTTO_DENIED,
                          "the data are of %zu users, and the recipe is for %zu devices: --devices",
                          run->data.users, users);
    run->firsts = sotto_arena_take_array(&run->arena, run->data.users + 1, sizeof *run->firsts);
    if (!run->firsts)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for %zu users", run->data.users);
    sotto_dataset_firsts(&run->data, run->firsts);
    return SOTTO_OK;
}

sotto_status learn_model_of(sotto_model *out, const sotto_learning *l, const sotto_dataset *d,
                            sotto_err *err)
{
    SOTTO_TRY(sotto_dataset_model(out, d, l->model, err));
    if (l->parameters > 0 && out->parameters != l->parameters)
        return sotto_fail(err, SOTTO_DENIED,
                          "learn.model.parameters: %" PRIu64 "; %.20s for these data has %zu",
                          l->parameters, l->model, out->parameters);
    return SOTTO_OK;
}

/* ---- the session ----------------------------------------------------------------------------------------------- */

sotto_status learn_model_bytes(const sotto_model *model, const float *weights, sotto_bytes *out,
                               uint8_t digest[SOTTO_MODEL_HASH], sotto_arena *arena, sotto_err *err)
{
    sotto_buf file;

    SOTTO_TRY(sotto_buf_take(&file, arena, sotto_model_file_size(model), err));
    SOTTO_TRY(sotto_safetensors_encode(model, weights, &file, err));
    *out = sotto_buf_bytes(&file);
    sotto_hash_once(digest, SOTTO_SHA256, *out);
    return SOTTO_OK;
}

/* The digest of a file that begins with its recipe's model. */
static sotto_status check_first(learn_run *run, sotto_err *err)
{
    uint8_t digest[SOTTO_MODEL_HASH];
    char text[LEARN_HEX];
    sotto_bytes file;

    SOTTO_TRY(
        learn_model_bytes(&run->model, run->session.weights, &file, digest, &run->arena, err));
    sotto_hex_encode(text, sotto_bytes_of(digest, sizeof digest));
    if (memcmp(digest, run->learning->init, sizeof digest) != 0)
        return sotto_fail(err, SOTTO_DENIED,
                          "learn.model.init is not the digest of the first model, which is %s",
                          text);
    return SOTTO_OK;
}

/* Names, shapes and first numbers are those of a file. */
static sotto_status begin_own(learn_run *run, float **first, sotto_err *err)
{
    const sotto_learning *l = run->learning;
    sotto_bytes file;

    if (!run->init_file)
        return sotto_fail(err, SOTTO_DENIED,
                          "sotto has no model '%.40s': --init names its first file", l->model);
    SOTTO_TRY(learn_read_file(run, run->init_file,
                              4 * (size_t)l->parameters + (size_t)SOTTO_SAFETENSORS_HEADER + 8,
                              &file, err));
    SOTTO_TRY(learn_own_read(&run->model, first, file, &run->arena, err));
    if (run->model.parameters == l->parameters)
        return SOTTO_OK;
    return sotto_fail(err, SOTTO_DENIED,
                      "learn.model.parameters: %" PRIu64 "; %.100s has %zu numbers", l->parameters,
                      run->init_file, run->model.parameters);
}

/* A model that sotto has, and rows that fit it. */
static sotto_status begin_known(learn_run *run, float **first, sotto_err *err)
{
    const sotto_examples all =
        sotto_dataset_rows(&run->data, 0, run->data.training + run->data.test);
    sotto_bytes file;

    SOTTO_TRY(learn_model_of(&run->model, run->learning, &run->data, err));
    SOTTO_TRY(sotto_examples_check(&all, &run->model, err));
    if (!run->init_file)
        return SOTTO_OK;
    SOTTO_TRY(learn_read_file(run, run->init_file, sotto_model_file_size(&run->model), &file, err));
    *first = sotto_arena_take_array(&run->arena, run->model.parameters, sizeof **first);
    if (!*first)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a model");
    return sotto_safetensors_decode(&run->model, *first, file, err);
}

sotto_status learn_session_begin(learn_run *run, sotto_err *err)
{
    const sotto_learning *l = run->learning;
    const sotto_step_config step = {.optimizer =
                                        (sotto_optimizer)(SOTTO_OPTIMIZER_SGD + l->optimizer),
                                    .rate = l->server_rate,
                                    .decay = 1,
                                    .momentum = 0.9,
                                    .second = 0.99,
                                    .floor = 1e-3};
    const sotto_training training = {(size_t)l->epochs, (size_t)l->batch, l->rate, l->clip, 0};
    float *first = NULL;

    SOTTO_TRY(learn_own_is(l->model) ? begin_own(run, &first, err) : begin_known(run, &first, err));
    SOTTO_TRY(sotto_training_check(&training, err));
    SOTTO_TRY(sotto_step_check(&step, false, err));
    SOTTO_TRY(sotto_session_init(&run->session, &run->model, &step,
                                 sotto_bytes_of(l->head.hash, sizeof l->head.hash), run->seed,
                                 LEARN_POINTS, &run->arena, err));
    if (first)
        memcpy(run->session.weights, first, run->model.parameters * sizeof *first);
    return check_first(run, err);
}

sotto_status learn_evaluate(learn_run *run, double *loss, double *accuracy, sotto_err *err)
{
    const sotto_examples test = sotto_dataset_rows(&run->data, run->data.training, run->data.test);
    const sotto_arena_mark mark = sotto_arena_here(&run->arena);
    sotto_learner learner;
    sotto_score score = {0};

    *loss = *accuracy = NAN;
    if (run->model.config.type == SOTTO_MODEL_OWN)
        return SOTTO_OK;
    SOTTO_TRY(sotto_learner_init(&learner, &run->model, EVALUATED, &run->arena, err));
    for (size_t i = 0; i < test.count; i += EVALUATED)
        sotto_model_gradient(&learner, run->session.weights, &test, NULL, i,
                             test.count - i < EVALUATED ? test.count - i : EVALUATED, NULL, &score);
    sotto_arena_rollback(&run->arena, mark);
    *loss = score.answers ? score.loss / (double)score.answers : NAN;
    *accuracy = score.answers ? (double)score.right / (double)score.answers : NAN;
    return SOTTO_OK;
}
