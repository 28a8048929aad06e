/* sotto learn init - a folder with a recipe, a policy and a first model that go together. */
#define _POSIX_C_SOURCE 200809L
#include "learn_run.h"
#include "show.h"
#include "support/arguments.h"
#include "verbs.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/hex.h"
#include "base/secret_file.h"
#include "recipe/claim.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { TEXT = 8192, PATH = 512 };

typedef struct plan {
    const char *folder, *model, *data, *first;
    double devices, cohort, rounds, participations, epsilon,
        classes; /* participations 0: to be chosen */
    bool json;
    sotto_model shape;
    char init[LEARN_HEX], owner[LEARN_HEX];
    double multiplier;
    double last; /* reports that are expected in the last round */
    sotto_arena arena;
} plan;

#define VERB "learn init"

/* ---- texts ---------------------------------------------------------------------------------------------------- */

/* 2^16 steps in one: with these clips, rounding adds less than a thousandth to the noise. */
static void write_recipe(const plan *p, char out[TEXT])
{
    (void)snprintf(
        out, TEXT,
        "{ \"recipe\": \"%s\", \"version\": 1, \"analysis\": \"com.example.learning\",\n"
        "  \"description\": \"Says here what the model is for.\",\n"
        "  \"learn\": {\n"
        "    \"model\": {\"type\": \"%s\", \"parameters\": %zu,\n"
        "              \"init\": \"%s\"},\n"
        "    \"data\": {\"query\": \"SELECT pixels, label FROM digits\", \"most_rows\": 100},\n"
        "    \"local\": {\"algorithm\": \"fedavg\", \"epochs\": 1, \"batch\": 10, \"rate\": 0.1},\n"
        "    \"update\": {\"clip\": 0.5, \"scale\": 65536},\n"
        "    \"server\": {\"optimizer\": \"sgd\", \"rate\": 1} },\n"
        "  \"rounds\": {\"count\": %.0f, \"every\": \"1h\", \"goal\": %.0f, \"largest\": %.0f,\n"
        "             \"participations\": %.0f, \"separation\": 1,\n"
        "             \"key\": \"%s\"},\n"
        "  \"participation\": {\"type\": \"poisson\", \"rate\": %.6g},\n"
        "  \"privacy\": {\"adjacency\": \"replacement\", \"by\": \"servers\", \"multiplier\": "
        "%.2f,\n"
        "              \"epsilon\": %.6g, \"delta\": 1e-6, \"min_cohort\": %.0f},\n"
        "  \"aggregation\": {\"trust\": \"split\", \"leader\": \"key:leader\", \"helper\": "
        "\"key:helper\",\n"
        "                  \"collector\": \"key:collector\",\n"
        "                  \"proof\": {\"type\": \"pine\", \"bound_factor\": 1.2}},\n"
        "  \"schedule\": {\"opens\": \"2027-01-01T00:00:00Z\", \"closes\": "
        "\"2027-12-01T00:00:00Z\",\n"
        "               \"precision\": \"1h\"},\n"
        "  \"population\": %.0f }\n",
        p->model, p->model, p->shape.parameters, p->init, p->rounds, floor(0.8 * p->cohort),
        ceil(2 * p->cohort), p->participations, p->owner, p->cohort / p->devices, p->multiplier,
        p->epsilon, floor(0.8 * p->cohort), p->devices);
}

static void write_policy(const plan *p, char out[TEXT])
{
    (void)snprintf(
        out, TEXT,
        "{\n"
        "  \"policy\": \"com.example.app\", \"version\": 1,\n"
        "  \"analyses\": {\"com.example.learning\": {\"epsilon\": %.6g, \"delta\": 1e-5,\n"
        "                 \"reports\": %.0f, \"fields\": [\"digits.pixels\", \"digits.label\"]}},\n"
        "  \"fields\": {\n"
        "    \"digits.pixels\": {\"by\": [\"servers\"], \"epsilon_local\": \"none\",\n"
        "                      \"epsilon\": %.6g, \"delta\": 1e-5, \"reports\": %.0f},\n"
        "    \"digits.label\": {\"by\": [\"servers\"], \"epsilon_local\": \"none\",\n"
        "                     \"epsilon\": %.6g, \"delta\": 1e-5, \"reports\": %.0f}\n"
        "  },\n"
        "  \"non_sensitive\": [], \"min_cohort\": 10, \"honest\": 0.5\n"
        "}\n",
        p->epsilon, p->participations, p->epsilon, p->participations, p->epsilon,
        p->participations);
}

/* ---- the least noise that keeps epsilon ------------------------------------------------------------------------- */

static bool keeps(plan *p, double hundredths, sotto_err *err)
{
    static sotto_mistakes mistakes;
    const sotto_arena_mark mark = sotto_arena_here(&p->arena);
    const sotto_learning *learning;
    sotto_learning_claim claim;
    char text[TEXT];
    bool kept;

    memset(&mistakes, 0, sizeof mistakes);
    p->multiplier = hundredths / 100;
    write_recipe(p, text);
    kept = sotto_learning_read(&learning, sotto_bytes_of(text, strlen(text)), &p->arena, &mistakes,
                               err) == SOTTO_OK &&
           sotto_learning_claim_compute(&claim, learning, SOTTO_HONEST_UNSAID, err) == SOTTO_OK &&
           claim.epsilon <= p->epsilon;
    sotto_arena_rollback(&p->arena, mark);
    return kept;
}

static sotto_status find_noise(plan *p, sotto_err *err)
{
    double low = 0, high = 1;

    while (high < 1e5 && !keeps(p, high, NULL))
        high *= 2;
    while (high - low > 1) {
        const double middle = floor((low + high) / 2);

        if (keeps(p, middle, NULL))
            high = middle;
        else
            low = middle;
    }
    if (keeps(p, high, err))
        return SOTTO_OK;
    return sotto_fail(err, SOTTO_DENIED, "no noise keeps epsilon %g", p->epsilon);
}

/* ---- participations that late rounds need ---------------------------------------------------------------------- */

/* The chance that somebody who took part in each of `rounds` rounds with this chance did so less than `most` times. */
static double chance_below(double rate, uint64_t rounds, uint64_t most)
{
    double chance = 0;

    if (most > rounds)
        return 1;
    if (rate >= 1)
        return 0;
    for (uint64_t k = 0; k < most; k++)
        chance += exp(lgamma((double)rounds + 1) - lgamma((double)k + 1) -
                      lgamma((double)(rounds - k) + 1) + (double)k * log(rate) +
                      (double)(rounds - k) * log1p(-rate));
    return chance < 1 ? chance : 1;
}

/* Whether the last round, in which most devices have had their participations, has min_cohort reports, with four deviations to spare. */
static bool lasts(plan *p)
{
    const double rate = p->cohort / p->devices;

    p->last = p->devices * rate *
              chance_below(rate, (uint64_t)p->rounds - 1, (uint64_t)p->participations);
    return p->last - 4 * sqrt(p->last * (1 - p->last / p->devices)) >= floor(0.8 * p->cohort);
}

static void choose_participations(plan *p)
{
    const bool stated = p->participations > 0;

    p->participations = stated ? p->participations : 1;
    while (!stated && p->participations < p->rounds && !lasts(p))
        p->participations++;
    if (!lasts(p))
        (void)fprintf(stderr,
                      "sotto learn init: %.0f reports are expected in the last round, and %.0f are "
                      "needed: it may burn.\n%s\n",
                      floor(p->last), floor(0.8 * p->cohort),
                      stated && p->participations < p->rounds
                          ? "Fewer rounds, a smaller --cohort or more --participations help."
                          : "A larger --cohort helps, with more --devices.");
}

/* ---- files --------------------------------------------------------------------------------------------------------- */

static sotto_status put(const plan *p, const char *name, sotto_bytes bytes, sotto_err *err)
{
    char path[PATH];

    (void)snprintf(path, sizeof path, "%.400s/%s", p->folder, name);
    return sotto_file_write(path, bytes, NULL, NULL, err);
}

/* What a parties file lists of the collector. */
static sotto_status put_public(const plan *p, const sotto_collector_key *key, sotto_err *err)
{
    const sotto_hpke_config public = sotto_collector_key_config(key);
    uint8_t wire[256];
    char line[2 * sizeof wire + 2];
    sotto_buf config = sotto_buf_over(wire, sizeof wire);

    SOTTO_TRY(sotto_hpke_config_encode(&config, &public, err));
    sotto_hex_encode(line, sotto_buf_bytes(&config));
    line[2 * config.len] = '\n';
    return put(p, "collector-public.txt", sotto_bytes_of(line, 2 * config.len + 1), err);
}

static sotto_status put_key(const plan *p, sotto_err *err)
{
    uint8_t bytes[SOTTO_COLLECTOR_KEY_MAX];
    sotto_buf out = sotto_buf_over(bytes, sizeof bytes);
    sotto_collector_key key;
    char path[PATH];
    sotto_status status = sotto_collector_key_new(&key, 1, err);

    (void)snprintf(path, sizeof path, "%.400s/collector-key.json", p->folder);
    if (status == SOTTO_OK)
        status = sotto_collector_key_encode(&out, &key, err);
    if (status == SOTTO_OK)
        status = sotto_secret_file_write(path, sotto_buf_bytes(&out), err);
    if (status == SOTTO_OK)
        status = put_public(p, &key, err);
    sotto_wipe(&key, sizeof key);
    sotto_wipe(bytes, sizeof bytes);
    return status;
}

static sotto_status put_owner(plan *p, sotto_err *err)
{
    char path[PATH];

    (void)snprintf(path, sizeof path, "%.400s/owner.key", p->folder);
    return learn_owner_make(path, p->owner, err);
}

static sotto_status read_file(plan *p, const char *path, sotto_bytes *out, sotto_err *err)
{
    return sotto_file_read(out, path, UINT64_C(1) << 29, &p->arena, err);
}

/* Of the data, where a file has them; else for images of 28 by 28, or for symbols. */
static sotto_status shape(plan *p, sotto_err *err)
{
    const sotto_learning like = {.model = p->model, .parameters = 0};
    sotto_dataset data;
    sotto_bytes file;

    if (!p->data)
        return sotto_model_named(&p->shape, p->model, (size_t)p->classes, err);
    SOTTO_TRY(read_file(p, p->data, &file, err));
    SOTTO_TRY(sotto_dataset_decode(&data, file, err));
    if ((double)data.users < p->devices)
        return sotto_fail(err, SOTTO_DENIED, "%.60s has %zu users, and --devices is %.0f", p->data,
                          data.users, p->devices);
    return learn_model_of(&p->shape, &like, &data, err);
}

/* The first model: of a file where the model is somebody's own, else drawn. */
static sotto_status begin(plan *p, sotto_bytes *model, uint8_t digest[SOTTO_MODEL_HASH],
                          sotto_err *err)
{
    sotto_bytes file;
    float *weights;

    if (p->first) {
        SOTTO_TRY(read_file(p, p->first, &file, err));
        SOTTO_TRY(learn_own_read(&p->shape, &weights, file, &p->arena, err));
    } else {
        SOTTO_TRY(shape(p, err));
        weights = sotto_arena_take_array(&p->arena, p->shape.parameters, sizeof *weights);
        if (!weights)
            return sotto_fail(err, SOTTO_NO_MEMORY, "a model");
        sotto_model_begin(&p->shape, weights, 1);
    }
    return learn_model_bytes(&p->shape, weights, model, digest, &p->arena, err);
}

static sotto_status make(plan *p, sotto_err *err)
{
    uint8_t digest[SOTTO_MODEL_HASH];
    char text[TEXT];
    sotto_bytes model;

    SOTTO_TRY(begin(p, &model, digest, err));
    sotto_hex_encode(p->init, sotto_bytes_of(digest, sizeof digest));
    choose_participations(p);
    (void)snprintf(p->owner, sizeof p->owner, "%064d", 0); /* as long as the key to come */
    SOTTO_TRY(find_noise(p, err));
    if (mkdir(p->folder, 0700) != 0)
        return sotto_fail(err, SOTTO_IO, "%.100s: %s", p->folder, strerror(errno));
    SOTTO_TRY(put_owner(p, err));
    write_recipe(p, text);
    SOTTO_TRY(put(p, "recipe.json", sotto_bytes_of(text, strlen(text)), err));
    write_policy(p, text);
    SOTTO_TRY(put(p, "policy.json", sotto_bytes_of(text, strlen(text)), err));
    SOTTO_TRY(put(p, "model.safetensors", model, err));
    return put_key(p, err);
}

/* ---- the verb ------------------------------------------------------------------------------------------------------ */

static int read_words(plan *p, int argc, char **argv)
{
    const sotto_argument words[] = {
        {.name = "DIR", .text = &p->folder, .needed = true},
        {.name = "--model", .text = &p->model},
        {.name = "--data", .text = &p->data},
        {.name = "--init", .text = &p->first},
        {.name = "--devices", .real = &p->devices, .least = 13, .most = 1e9},
        {.name = "--cohort", .real = &p->cohort, .least = 13, .most = 1e8},
        {.name = "--rounds", .real = &p->rounds, .least = 1, .most = 1000},
        {.name = "--participations", .real = &p->participations, .least = 1, .most = 1000},
        {.name = "--epsilon", .real = &p->epsilon, .least = 0.01, .most = 30},
        {.name = "--classes", .real = &p->classes, .least = 2, .most = SOTTO_MODEL_CLASSES},
        {.name = "--json", .flag = &p->json}};
    const int code = sotto_arguments_read(VERB, words, sizeof words / sizeof words[0], argc, argv);

    if (code != EXIT_DONE)
        return code;
    if (p->first && (p->data || !learn_own_is(p->model)))
        return sotto_arguments_misused(VERB, "--init",
                                       p->data ? "it goes without --data"
                                               : "--model has a name that sotto has no model of");
    if (!p->first && sotto_model_named(&p->shape, p->model, (size_t)p->classes, NULL) != SOTTO_OK)
        return sotto_arguments_misused(
            VERB, "--model",
            "logistic, mlp, lenet, cnn or gru, with so many classes; another one has --init");
    if (p->participations > p->rounds)
        return sotto_arguments_misused(VERB, "--participations", "more than --rounds");
    return p->cohort <= p->devices
               ? EXIT_DONE
               : sotto_arguments_misused(VERB, "--cohort", "more than --devices");
}

static int init_main(int argc, char **argv)
{
    plan p = {.model = "logistic",
              .devices = 2000,
              .cohort = 1000,
              .rounds = 10,
              .epsilon = 8,
              .classes = 10};
    sotto_err err = {0};
    int code = read_words(&p, argc, argv);

    if (code != EXIT_DONE)
        return code;
    sotto_arena_init(&p.arena, (size_t)1 << 30);
    if (make(&p, &err) != SOTTO_OK) {
        (void)fprintf(stderr, "sotto learn init: %s\n", err.reason);
        code = sotto_exit_code(err.status, SOTTO_AT_DATA);
    } else if (p.json) {
        sotto_json j = sotto_show_object(stdout, SOTTO_JSON_COMPACT);

        sotto_json_text(&j, "folder", p.folder);
        sotto_json_uint(&j, "parameters", p.shape.parameters);
        sotto_json_real(&j, "multiplier", p.multiplier);
        sotto_json_text(&j, "init", p.init);
        sotto_json_real(&j, "participations", p.participations);
        sotto_json_real(&j, "last_round_reports", p.last);
        code = sotto_show_end(&j) ? EXIT_DONE : EXIT_FAILED;
    } else {
        printf(
            "%s: recipe.json, policy.json, model.safetensors, collector-key.json and owner.key.\n"
            "Noise of %.2f clips by each server keeps epsilon %g for %.0f rounds of a device.\n"
            "The last round expects %.0f reports, and needs %.0f.\n"
            "Next: sotto learn check %s/recipe.json --policy %s/policy.json%s%s%s\n",
            p.folder, p.multiplier, p.epsilon, p.participations, floor(p.last),
            floor(0.8 * p.cohort), p.folder, p.folder, p.first ? " --init " : "",
            p.first ? p.folder : "", p.first ? "/model.safetensors" : "");
    }
    sotto_arena_clear(&p.arena);
    return code;
}

const sotto_verb sotto_verb_learn_init = {
    .name = "init",
    .summary = "write a recipe, a policy and a first model that go together",
    .usage =
        "usage: sotto learn init DIR [options]\n\n"
        "Writes recipe.json, policy.json, model.safetensors, the collector's key and the owner's,\n"
        "which signs rounds, into a new folder. The noise is the least that keeps epsilon. Query,\n"
        "schedule and names are to be edited.\n\n"
        "  --model NAME        logistic (the default), mlp, lenet, cnn or gru\n"
        "  --classes N         that the model tells apart; 10 unless stated\n"
        "  --data FILE         take inputs and classes from a file of `sotto learn data`\n"
        "  --init FILE         the first file of a model of your own, as safetensors; --model is "
        "its\n"
        "                      name\n"
        "  --devices N         2000 unless stated\n"
        "  --cohort N          devices that are expected in a round; 1000 unless stated\n"
        "  --rounds N          10 unless stated\n"
        "  --participations N  rounds that one device takes part in, at most. Unless stated, as "
        "many\n"
        "                      as keep the last round from burning\n"
        "  --epsilon E         for all of them together, at delta 1e-6; 8 unless stated\n"
        "  --json              print one JSON object\n",
    .run = init_main,
};
