#include "sim/trial.h"

#include "base/arena.h"
#include "base/hex.h"
#include "noise/noise.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* Beside the recipe: tasks of all cohorts, noise tables, texts. */
#define ARENA (SOTTO_RECIPE_ARENA + ((size_t)128 << 20))

enum { PARTIES = 4096 };

/* ---- texts -------------------------------------------------------------------------------------------------------- */

static sotto_status keep_text(sotto_bytes *out, const char *text, size_t len, sotto_arena *arena,
                              sotto_err *err)
{
    uint8_t *copy = sotto_arena_take(arena, len + 1);

    if (!copy)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a text of %zu bytes", len);
    memcpy(copy, text, len);
    *out = sotto_bytes_of(copy, len);
    return SOTTO_OK;
}

/* The file without these members: whom they name is not simulated. */
static sotto_status without(sotto_bytes *out, sotto_bytes text, const char *const *members,
                            sotto_arena *arena, sotto_err *err)
{
    json_t *json = json_loadb((const char *)text.data, text.len, 0, NULL);
    sotto_status status = sotto_fail(err, SOTTO_NO_MEMORY, "a text of %zu bytes", text.len);

    for (size_t i = 0; json && members[i]; i++)
        (void)json_object_del(json, members[i]);
    char *dumped = json ? json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) : NULL;
    if (dumped) {
        sotto_err_clear(err);
        status = keep_text(out, dumped, strlen(dumped), arena, err);
    }
    if (dumped) {
        void *(*take)(size_t);
        void (*give)(void *);

        json_get_alloc_funcs(&take, &give);
        give(dumped);
    }
    json_decref(json);
    return status;
}

static const char *hex_of(char out[512], const sotto_hpke_config *config)
{
    uint8_t wire[128];
    sotto_buf buf = sotto_buf_over(wire, sizeof wire);

    out[0] = 0;
    if (sotto_hpke_config_encode(&buf, config, NULL) == SOTTO_OK)
        sotto_hex_encode(out, sotto_buf_bytes(&buf));
    return out;
}

/* Leader, helper and collector under the names that the recipe has for them. */
static sotto_status write_parties(sotto_trial *t, sotto_err *err)
{
    static const char valid[] =
        "\"from\": \"1970-01-01T00:00:00Z\", \"until\": \"2400-01-01T00:00:00Z\"";
    char text[PARTIES], keys[3][512];
    const sotto_hpke_suite suite = t->collector.suite;
    const sotto_hpke_config collector = sotto_collector_key_config(&t->collector);

    for (unsigned who = 0; who < 2; who++) {
        const sotto_hpke_config config =
            sotto_hpke_config_of(&t->keys[who], (uint8_t)(who + 1), suite.kdf, suite.aead);

        (void)hex_of(keys[who], &config);
    }
    (void)hex_of(keys[2], &collector);
    const int len =
        snprintf(text, sizeof text,
                 "{\"%.200s\": {\"role\": \"leader\", \"url\": \"http://127.0.0.1:1/\", \"hpke\": "
                 "[{\"config\": "
                 "\"%s\", %s}]},\n"
                 " \"%.200s\": {\"role\": \"helper\", \"url\": \"http://127.0.0.1:2/\", \"hpke\": "
                 "[{\"config\": "
                 "\"%s\", %s}]},\n"
                 " \"%.200s\": {\"role\": \"collector\", \"hpke\": [{\"config\": \"%s\", %s}]}}\n",
                 t->recipe->leader, keys[0], valid, t->recipe->helper, keys[1], valid,
                 t->recipe->collector ? t->recipe->collector : "key:collector-of-the-simulation",
                 keys[2], valid);
    SOTTO_TRY(keep_text(&t->parties_text, text, (size_t)len, &t->arena, err));
    return sotto_parties_read(&t->parties, t->parties_text, &t->arena, t->mistakes, err);
}

static sotto_status make_keys(sotto_trial *t, sotto_err *err)
{
    sotto_sim_random random;
    uint8_t ikm[64];

    sotto_sim_random_init(&random, 1);
    for (unsigned who = 0; who < 2; who++) {
        sotto_sim_random_bytes(&random, ikm, sizeof ikm);
        SOTTO_TRY(sotto_hpke_key_derive(&t->keys[who], SOTTO_HPKE_KEM_X25519,
                                        sotto_bytes_of(ikm, sizeof ikm), err));
    }
    return sotto_collector_key_new(&t->collector, 1, err);
}

/* ---- recipe and policy ------------------------------------------------------------------------------------------- */

static bool is_hidden(const sotto_anonymity *a)
{
    return a->relay || a->log || a->tokens != SOTTO_TOKENS_NONE;
}

static sotto_status read_files(sotto_trial *t, sotto_bytes recipe, sotto_bytes policy,
                               const sotto_streams *streams, sotto_err *err)
{
    t->mistaken = "recipe";
    SOTTO_TRY(sotto_recipe_read(&t->recipe, recipe, &t->arena, t->mistakes, err));
    t->mistaken = "policy";
    SOTTO_TRY(sotto_policy_read(&t->policy, policy, &t->arena, t->mistakes, err));
    t->mistaken = "recipe";
    return sotto_recipe_judge(&t->verdict, &t->claim, t->recipe, t->policy, streams, t->mistakes,
                              err);
}

/* Relay, tokens and log hide who answered, and change no answer: devices and servers of a simulation have none. */
static sotto_status leave_out(sotto_trial *t, sotto_bytes recipe, sotto_bytes policy,
                              sotto_err *err)
{
    static const char *const of_recipe[] = {"anonymity", NULL};
    static const char *const of_policy[] = {"logs", "issuers", NULL};

    SOTTO_TRY(keep_text(&t->recipe_text, (const char *)recipe.data, recipe.len, &t->arena, err));
    SOTTO_TRY(keep_text(&t->policy_text, (const char *)policy.data, policy.len, &t->arena, err));
    t->unhidden = is_hidden(&t->recipe->anonymity) || t->policy->log_count > 0;
    if (!t->unhidden)
        return SOTTO_OK;
    SOTTO_TRY(without(&t->recipe_text, recipe, of_recipe, &t->arena, err));
    SOTTO_TRY(without(&t->policy_text, policy, of_policy, &t->arena, err));
    SOTTO_TRY(sotto_recipe_read(&t->recipe, t->recipe_text, &t->arena, t->mistakes, err));
    return sotto_policy_read(&t->policy, t->policy_text, &t->arena, t->mistakes, err);
}

/* A recipe that asks for relay, tokens and log, which lint has checked, is drawn for as if they were there: who takes part
 * does not depend on them. */
static sotto_status assume_hidden(sotto_trial *t, sotto_err *err)
{
    sotto_recipe *own = sotto_arena_take(&t->arena, sizeof *own);

    if (!own)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a recipe");
    *own = *t->recipe;
    own->anonymity.assumed = true;
    t->recipe = own;
    return SOTTO_OK;
}

/* ---- tasks -------------------------------------------------------------------------------------------------------- */

/* As serve/tasks/tasks_compile.c has it: the full variance at each server. */
static sotto_status set_up_noise(sotto_trial *t, sotto_err *err)
{
    const uint64_t milli = t->recipe->sigma_milli;
    const bool whole = milli % 1000 == 0;
    sotto_noise *noise;

    if (t->recipe->by == SOTTO_BY_CROWD)
        return SOTTO_OK;
    noise = sotto_arena_take(&t->arena, sizeof *noise);
    if (!noise)
        return sotto_fail(err, SOTTO_NO_MEMORY, "noise");
    if (t->recipe->by == SOTTO_BY_SHARES) {
        t->skellam = noise;
        return sotto_noise_skellam(noise, t->content.num, t->content.den, &t->arena, err);
    }
    t->gaussian = noise;
    return sotto_noise_gaussian(noise, whole ? milli / 1000 * (milli / 1000) : milli * milli,
                                whole ? 1 : 1000000, &t->arena, err);
}

static sotto_status compile(sotto_trial *t, sotto_err *err)
{
    t->cohorts = (size_t)sotto_recipe_cohorts(t->recipe);
    t->tasks = sotto_arena_take_array(&t->arena, t->cohorts, sizeof *t->tasks);
    if (!t->tasks)
        return sotto_fail(err, SOTTO_NO_MEMORY, "%zu cohorts", t->cohorts);
    SOTTO_TRY(sotto_recipe_content(&t->content, t->recipe, err));
    if (t->content.randomizer.digits > 0)
        return sotto_fail(err, SOTTO_DENIED, "reports of %s are not added up by value",
                          t->content.name);
    for (size_t i = 0; i < t->cohorts; i++)
        SOTTO_TRY(sotto_task_compile(&t->tasks[i], t->recipe, t->parties, i, &t->arena, err));
    return set_up_noise(t, err);
}

sotto_status sotto_trial_init(sotto_trial *t, sotto_bytes recipe, sotto_bytes policy,
                              const sotto_streams *streams, sotto_err *err)
{
    *t = (sotto_trial){0};
    sotto_arena_init(&t->arena, ARENA);
    t->mistakes = sotto_arena_take(&t->arena, sizeof *t->mistakes);
    if (!t->mistakes)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a simulation");
    SOTTO_TRY(read_files(t, recipe, policy, streams, err));
    if (t->recipe->release.recipe.len > 0 && t->policy->targeting_floor > 0)
        return sotto_fail(err, SOTTO_DENIED,
                          "targeting that rests on a logged release is not simulated: a simulation "
                          "has no log");
    SOTTO_TRY(leave_out(t, recipe, policy, err));
    if (t->unhidden && t->recipe->participation.type == SOTTO_IMPORTANCE)
        SOTTO_TRY(assume_hidden(t, err));
    SOTTO_TRY(sotto_recipe_table_of(&t->table, t->recipe, &t->verdict, streams, &t->arena, err));
    SOTTO_TRY(make_keys(t, err));
    SOTTO_TRY(write_parties(t, err));
    return compile(t, err);
}

void sotto_trial_clear(sotto_trial *t)
{
    sotto_arena_clear(&t->arena);
}

sotto_status sotto_trial_type(sotto_trial *t, const sotto_field *fields, sotto_err *err)
{
    for (size_t i = 0; i < t->table.stream.field_count && !t->table.unread; i++) {
        if (fields[i].type == SOTTO_TYPE_NULL)
            return sotto_fail(err, SOTTO_BUG, "field %s has no type", fields[i].name);
        t->table.fields[i].type = fields[i].type;
    }
    return SOTTO_OK;
}

void sotto_trial_begin(sotto_trial *t, uint64_t seed, uint64_t repeat, bool fast)
{
    sotto_sim_random root, keys;

    sotto_sim_random_init(&root, seed);
    t->run = (sotto_trial_run){.fast = fast, .random = sotto_sim_random_fork(&root, repeat)};
    keys = sotto_sim_random_fork(&t->run.random, UINT64_MAX / 2);
    sotto_sim_random_bytes(&keys, t->run.verify_key, sizeof t->run.verify_key);
}
