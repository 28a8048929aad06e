/* The user's own recipe and rows in place of the demo's: read before anything starts, and fitted to this deployment. */
#define _POSIX_C_SOURCE 200809L
#include "demo.h"

#include "base/file.h"
#include "recipe/statistic.h"
#include "support/people_of.h"
#include "verbs.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- files -------------------------------------------------------------------------------------------------- */

static sotto_status read_text(char out[DEMO_LONG_TEXT], const char *path, sotto_err *err)
{
    FILE *file = fopen(path, "rb");
    size_t len;

    if (!file)
        return sotto_fail(err, SOTTO_MISSING, "%.100s: %s", path, strerror(errno));
    len = fread(out, 1, DEMO_LONG_TEXT, file);
    (void)fclose(file);
    if (len >= DEMO_LONG_TEXT)
        return sotto_fail(err, SOTTO_TOO_LARGE, "%.100s: longer than the demo takes, 256 KiB",
                          path);
    out[len] = 0;
    return SOTTO_OK;
}

/* What the demo can't do of what a recipe may ask. */
static sotto_status check(const demo *d, sotto_err *err)
{
    if (sotto_recipe_cohorts(d->recipe) > 1)
        return sotto_fail(
            err, SOTTO_DENIED,
            "the demo has one task, and the recipe's cohorts ask for more; `sotto sim "
            "run` answers them");
    if (d->recipe->participation.slots > 0)
        return sotto_fail(
            err, SOTTO_DENIED,
            "the demo waits for no slot of a check-in or donation; `sotto sim run` does");
    return SOTTO_OK;
}

static sotto_status judge(demo *d, sotto_recipe_verdict *verdict, const sotto_streams **streams,
                          sotto_err *err)
{
    sotto_mistakes *mistakes = sotto_arena_take(&d->arena, sizeof *mistakes);
    const sotto_policy *policy = NULL;

    if (!mistakes)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the demo");
    SOTTO_TRY(sotto_recipe_read(&d->recipe, sotto_bytes_of(d->recipe_text, strlen(d->recipe_text)),
                                &d->arena, mistakes, err));
    if (d->policy_file)
        SOTTO_TRY(sotto_policy_read(&policy, sotto_bytes_of(d->policy_text, strlen(d->policy_text)),
                                    &d->arena, mistakes, err));
    if (d->streams_file) {
        sotto_bytes text;

        SOTTO_TRY(sotto_file_text(&text, d->streams_file, DEMO_LONG_TEXT, &d->arena, err));
        SOTTO_TRY(sotto_streams_read(streams, text, &d->arena, mistakes, err));
    }
    return sotto_recipe_judge(verdict, &d->claim, d->recipe, policy, *streams, mistakes, err);
}

/* Rows of the file become devices, of which a cohort needs enough. */
static sotto_status open_people(demo *d, sotto_err *err)
{
    sotto_people_options options = sotto_people_options_of(&d->table);

    options.path = d->csv_file;
    options.device_column = d->device_column;
    options.skip_bad = d->skip_bad;
    options.devices = d->devices_stated ? d->devices : 0;
    SOTTO_TRY(sotto_people_open(&d->people, &options, err));
    SOTTO_TRY(sotto_people_count(d->people, err));
    d->devices = sotto_people_all(d->people);
    sotto_people_say_likely(d->people);
    for (size_t i = 0; i < options.field_count; i++)
        d->table.fields[i].type = sotto_people_fields(d->people)[i].type;
    if (d->devices >= d->recipe->min_cohort)
        return SOTTO_OK;
    d->refused = EXIT_SMALL;
    return sotto_fail(err, SOTTO_DENIED,
                      "%" PRIu64 " devices; the recipe demands %" PRIu64
                      ": simulate more with --devices N, or lower min_cohort",
                      d->devices, d->recipe->min_cohort);
}

sotto_status demo_own_read(demo *d, sotto_err *err)
{
    sotto_recipe_verdict *verdict = sotto_arena_take(&d->arena, sizeof *verdict);
    const sotto_streams *streams = NULL;

    if (!d->recipe_file)
        return SOTTO_OK;
    if (!verdict)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the demo");
    SOTTO_TRY(read_text(d->recipe_text, d->recipe_file, err));
    if (d->policy_file)
        SOTTO_TRY(read_text(d->policy_text, d->policy_file, err));
    d->refused = EXIT_LINT;
    SOTTO_TRY(judge(d, verdict, &streams, err));
    d->refused = EXIT_REFUSED;
    SOTTO_TRY(check(d, err));
    SOTTO_TRY(sotto_recipe_table_of(&d->table, d->recipe, verdict, streams, &d->arena, err));
    for (size_t i = 0; i < verdict->read_count; i++)
        (void)snprintf(d->reads[i], sizeof d->reads[i], "%s", verdict->reads[i]);
    d->read_count = verdict->read_count;
    d->refused = 0;
    return open_people(d, err);
}

/* ---- fitted to this deployment -------------------------------------------------------------------------------- */

/* A member that is written here as a piece of JSON, with its name: `"logs": {...},`. Nothing takes it away. */
static bool put(json_t *in, const char *name, const char *piece)
{
    char text[1024];

    (void)snprintf(text, sizeof text, "{%s \"end\": 0}", piece);
    json_t *read = json_loads(text, 0, NULL), *member = json_object_get(read, name);
    const bool done =
        member ? json_object_set(in, name, member) == 0 : (json_object_del(in, name), read != NULL);
    json_decref(read);
    return done;
}

static sotto_status dump(char out[DEMO_LONG_TEXT], json_t *json, bool right, sotto_err *err)
{
    char *text = right ? json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) : NULL;
    const int len = text ? snprintf(out, DEMO_LONG_TEXT, "%s\n", text) : -1;

    free(text);
    json_decref(json);
    return len > 0 && len < DEMO_LONG_TEXT
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_TOO_LARGE,
                            "the recipe or the policy is too long for the demo");
}

sotto_status demo_own_recipe(demo *d, const char *anonymity, const char *opens, const char *closes,
                             sotto_err *err)
{
    json_t *recipe = json_loads(d->recipe_text, 0, NULL),
           *aggregation = json_object_get(recipe, "aggregation");
    char schedule[160];

    (void)snprintf(schedule, sizeof schedule,
                   "\"schedule\": {\"opens\": \"%s\", \"closes\": \"%s\", \"precision\": \"1h\"},",
                   opens, closes);
    const bool right =
        put(recipe, "schedule", schedule) && put(recipe, "anonymity", anonymity) &&
        json_object_set_new(recipe, "population", json_integer((json_int_t)d->devices)) == 0 &&
        json_object_set_new(aggregation, "leader", json_string("key:leader")) == 0 &&
        json_object_set_new(aggregation, "helper", json_string("key:helper")) == 0 &&
        json_object_set_new(aggregation, "collector", json_string("key:collector")) == 0 &&
        json_object_set_new(aggregation, "batch_mode", json_string("time-interval")) == 0;
    return dump(d->recipe_text, recipe, right, err);
}

/* One that allows what the recipe asks, once. */
static json_t *allow(const demo *d)
{
    json_t *names = json_array(), *fields = json_object(), *known = json_array();

    for (size_t i = 0; i < d->read_count; i++) {
        (void)json_array_append_new(names, json_string(d->reads[i]));
        (void)json_object_set_new(
            fields, d->reads[i],
            json_pack("{s:[s,s,s],s:s,s:i,s:f,s:i}", "by", sotto_noise_source_name(SOTTO_BY_CROWD),
                      sotto_noise_source_name(SOTTO_BY_SHARES),
                      sotto_noise_source_name(SOTTO_BY_SERVERS), "epsilon_local", "none", "epsilon",
                      30, "delta", 0.001, "reports", 1));
    }
    for (size_t i = 0; i < d->table.described_count; i++)
        (void)json_array_append_new(known, json_string(d->table.described[i]));
    return json_pack("{s:s,s:i,s:{s:{s:i,s:f,s:i,s:o}},s:o,s:o,s:i,s:f,s:b,s:i,s:i}", "policy",
                     "com.example.demo", "version", 1, "analyses", d->recipe->analysis, "epsilon",
                     30, "delta", 0.001, "reports", 1, "fields", names, "fields", fields,
                     "non_sensitive", known, "min_cohort", 10, "honest", 0.5, "silence", 1,
                     "targeting_rate", 1, "targeting_floor", 0);
}

sotto_status demo_own_policy(demo *d, const char *issuers, const char *logs, sotto_err *err)
{
    json_t *policy = d->policy_file ? json_loads(d->policy_text, 0, NULL) : allow(d);
    const bool right = put(policy, "issuers", issuers) && put(policy, "logs", logs);

    return dump(d->policy_text, policy, right, err);
}
