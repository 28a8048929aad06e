/* A learning recipe into its plain form: what the table can't check is checked here. */
#include "recipe/learning_correlated.h"
#include "recipe/learning_slots.h"

#include "account/trust.h"
#include "base/rule.h"
#include "crypto/hash.h"
#include "dap/dap.h"
#include "recipe/claim.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static uint64_t whole(const json_t *object, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(object, key));
}

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

bool sotto_learning_is(sotto_bytes json)
{
    json_t *root = json_loadb((const char *)json.data, json.len, 0, NULL);
    const bool is = json_is_object(root) && json_object_get(root, "learn") != NULL;

    json_decref(root);
    return is;
}

static const sotto_place in_learn = {NULL, "learn", 0}, in_update = {&in_learn, "update", 0};

static void read_local(sotto_reading *r, sotto_learning *out, const json_t *local)
{
    static const sotto_place at = {&in_learn, "local", 0}, epochs = {&at, "epochs", 0};

    out->algorithm = sotto_reading_choice(local, "learn-local", "algorithm");
    out->epochs = whole(local, "epochs");
    out->batch = whole(local, "batch");
    out->rate = number(local, "rate");
    out->decay = number(local, "decay");
    if (out->algorithm == 1 && out->epochs != 1)
        sotto_reading_mistake(r, &epochs, "1, or fedavg", "fedsgd takes one gradient of all rows");
}

static void read_weights(sotto_reading *r, sotto_learning *out, const json_t *update)
{
    static const sotto_place weights = {&in_update, "weights", 0}, cap = {&in_update, "cap", 0};

    out->weights = (sotto_update_weights)(SOTTO_WEIGHTS_EQUAL +
                                          sotto_reading_choice(update, "learn-update", "weights"));
    out->cap = whole(update, "cap");
    const bool capped = out->weights == SOTTO_WEIGHTS_CAPPED;

    if (SOTTO_RULE(learning_weights_bounded) && out->weights == SOTTO_WEIGHTS_COUNT)
        sotto_reading_mistake(r, &weights, "equal, or capped with a cap",
                              "nothing bounds what a device with many rows adds: no epsilon holds");
    if (SOTTO_RULE(learning_cap_stated) && capped && out->cap == 0)
        sotto_reading_mistake(r, &weights, "capped with a cap", "capped weights need a cap");
    if (!capped && out->cap > 0)
        sotto_reading_mistake(r, &cap, "with capped weights", "no weight has a cap but capped");
    if (SOTTO_RULE(learning_cap_reached) && out->cap > out->most_rows)
        sotto_reading_mistake(r, &cap, "most_rows or less",
                              "no device trains on more than %" PRIu64
                              " rows: none would count fully",
                              out->most_rows);
}

static void read_projection(sotto_reading *r, sotto_learning *out, const json_t *update)
{
    static const sotto_place projection = {&in_update, "projection", 0},
                             dimension = {&projection, "dimension", 0};

    out->projected = whole(json_object_get(update, "projection"), "dimension");
    if (SOTTO_RULE(learning_projection_shorter) && out->projected >= out->parameters)
        sotto_reading_mistake(r, &dimension, "fewer than learn.model.parameters",
                              "a projection to as many numbers as there are parameters, or more");
}

static void read_update(sotto_reading *r, sotto_learning *out, const json_t *update)
{
    out->clip = number(update, "clip");
    out->scale = whole(update, "scale");
    read_weights(r, out, update);
    read_projection(r, out, update);
}

static void read_learn(sotto_reading *r, sotto_learning *out)
{
    const json_t *learn = json_object_get(r->root, "learn"),
                 *model = json_object_get(learn, "model"), *data = json_object_get(learn, "data"),
                 *server = json_object_get(learn, "server");
    const sotto_bytes init = sotto_reading_hex(r, json_object_get(model, "init"));

    out->model = sotto_reading_text(r, model, "type");
    out->parameters = whole(model, "parameters");
    if (init.data)
        memcpy(out->init, init.data, sizeof out->init);
    out->head.query = sotto_reading_text(r, data, "query");
    out->most_rows = whole(data, "most_rows");
    read_local(r, out, json_object_get(learn, "local"));
    read_update(r, out, json_object_get(learn, "update"));
    out->optimizer = sotto_reading_choice(server, "learn-server", "optimizer");
    out->server_rate = number(server, "rate");
}

static const sotto_place rounds = {NULL, "rounds", 0};

static void read_owner(sotto_reading *r, sotto_learning *out, const json_t *key)
{
    const sotto_bytes bytes = key ? sotto_reading_hex(r, key) : sotto_bytes_of(NULL, 0);

    out->owned = bytes.len == sizeof out->owner;
    if (out->owned)
        memcpy(out->owner, bytes.data, sizeof out->owner);
}

static void read_rounds(sotto_reading *r, sotto_learning *out)
{
    static const sotto_place largest = {&rounds, "largest", 0},
                             participations = {&rounds, "participations", 0},
                             grace = {&rounds, "grace", 0};
    const json_t *json = json_object_get(r->root, "rounds");

    out->rounds = whole(json, "count");
    out->every = sotto_reading_duration(json, "every");
    out->goal = whole(json, "goal");
    out->largest = whole(json, "largest");
    out->grace = sotto_reading_duration(json, "grace");
    out->participations = whole(json, "participations");
    out->separation = whole(json, "separation");
    out->zeros = sotto_reading_choice(json, "rounds", "on_no_turn") == 1;
    read_owner(r, out, json_object_get(json, "key"));
    if (out->largest < out->goal)
        sotto_reading_mistake(r, &largest, "goal or more", "below the goal of %" PRIu64, out->goal);
    if (out->participations > out->rounds)
        sotto_reading_mistake(r, &participations, "count or less",
                              "more than the %" PRIu64 " rounds that there are", out->rounds);
    if (out->grace >= out->every)
        sotto_reading_mistake(r, &grace, "less than `every`", "reaches into the next round");
}

static void read_privacy(sotto_reading *r, sotto_learning *out)
{
    static const sotto_place place = {NULL, "privacy", 0};
    const json_t *json = json_object_get(r->root, "privacy");
    sotto_recipe *head = &out->head;

    head->adjacency = SOTTO_ADJACENCY_REPLACEMENT;
    head->epsilon = sotto_reading_decimal(r, &place, "epsilon");
    head->delta = sotto_reading_decimal(r, &place, "delta");
    head->min_cohort = whole(json, "min_cohort");
    head->by =
        SOTTO_BY_SHARES + (sotto_noise_source)sotto_reading_choice(json, "learning-privacy", "by");
    out->multiplier = number(json, "multiplier");
    sotto_learning_read_correlation(out, json_object_get(json, "correlation"));
    head->honest = json_object_get(json, "honest") ? sotto_reading_decimal(r, &place, "honest")
                                                   : SOTTO_HONEST_UNSAID;
}

static void read_aggregation(sotto_reading *r, sotto_learning *out)
{
    static const sotto_place place = {NULL, "aggregation", 0}, helper = {&place, "helper", 0};
    const json_t *json = json_object_get(r->root, "aggregation");
    sotto_recipe *head = &out->head;

    head->trust = sotto_trust_named(json_string_value(json_object_get(json, "trust")));
    if (!sotto_trust_model_of(head->trust)->two_servers)
        return; /* recipe/one_server.h or encrypted.h reads the rest */
    head->leader = sotto_reading_text(r, json, "leader");
    head->helper = sotto_reading_text(r, json, "helper");
    head->collector = sotto_reading_text(r, json, "collector");
    head->batch_mode = SOTTO_DAP_TIME_INTERVAL;
    out->bound_factor = number(json_object_get(json, "proof"), "bound_factor");
    if (SOTTO_RULE(learning_two_servers) && head->leader && head->helper &&
        strcmp(head->leader, head->helper) == 0)
        sotto_reading_mistake(r, &helper, "a party other than the leader",
                              "leader and helper are one: nobody would be left to trust");
}

static void read_participation(sotto_reading *r, sotto_participation *out)
{
    sotto_recipe_read_participation(r, out);
    out->of_rounds = true;
}

/* A round is a span of time that a batch can have, and all of them are within the schedule. */
static void check_times(sotto_reading *r, const sotto_learning *l)
{
    static const sotto_place every = {&rounds, "every", 0}, count = {&rounds, "count", 0};
    const sotto_recipe *head = &l->head;

    if (head->precision == 0 || head->closes <= head->opens)
        return; /* told already */
    const uint64_t open = (uint64_t)(head->closes - head->opens);
    if (SOTTO_RULE(learning_rounds_of_buckets) && (l->every == 0 || l->every % head->precision))
        sotto_reading_mistake(r, &every, "a multiple of the precision",
                              "a round would end within a bucket of time");
    if (SOTTO_RULE(learning_rounds_within_schedule) && l->every > 0 && l->rounds > open / l->every)
        sotto_reading_mistake(r, &count, "rounds that end before the schedule closes",
                              "%" PRIu64 " rounds take longer than the schedule is open",
                              l->rounds);
}

static void check_goal(sotto_reading *r, const sotto_learning *l)
{
    static const sotto_place goal = {&rounds, "goal", 0};

    if (l->goal < l->head.min_cohort)
        sotto_reading_mistake(r, &goal, "min_cohort or more", "below min_cohort, %" PRIu64,
                              l->head.min_cohort);
}

/* A recipe that is read has a claim, with or without lint: this one would be priced by noise that nobody adds. */
static void check_committee(sotto_reading *r, const sotto_recipe *head)
{
    static const sotto_place privacy = {NULL, "privacy", 0}, by = {&privacy, "by", 0};

    if (SOTTO_RULE(learning_committee_of_encrypted) && head->by == SOTTO_BY_COMMITTEE &&
        !sotto_trust_model_of(head->trust)->encrypted)
        sotto_reading_mistake(r, &by, "shares or servers",
                              "only encrypted sums have a committee that adds noise");
}

static void read_sections(sotto_reading *r, sotto_learning *out)
{
    sotto_recipe *head = &out->head;

    head->name = sotto_reading_text(r, r->root, "recipe");
    head->version = whole(r->root, "version");
    head->analysis = sotto_reading_text(r, r->root, "analysis");
    head->description = sotto_reading_text(r, r->root, "description");
    head->population = whole(r->root, "population");
    if (sotto_reading_clean(r, "learn"))
        read_learn(r, out);
    if (sotto_reading_clean(r, "rounds"))
        read_rounds(r, out);
    if (sotto_reading_clean(r, "participation"))
        read_participation(r, &head->participation);
    if (sotto_reading_clean(r, "privacy"))
        read_privacy(r, out);
    if (sotto_reading_clean(r, "aggregation"))
        read_aggregation(r, out);
    if (sotto_reading_clean(r, "privacy") && sotto_reading_clean(r, "aggregation"))
        check_committee(r, head);
    if (sotto_reading_clean(r, "anonymity"))
        sotto_recipe_read_anonymity(r, &head->anonymity);
    if (sotto_reading_clean(r, "schedule"))
        sotto_recipe_read_schedule(r, head);
    if (sotto_reading_clean(r, "rounds") && sotto_reading_clean(r, "schedule"))
        check_times(r, out);
    if (sotto_reading_clean(r, "rounds") && sotto_reading_clean(r, "privacy"))
        check_goal(r, out);
    if (sotto_reading_clean(r, "rounds") && sotto_reading_clean(r, "participation") &&
        sotto_reading_clean(r, "privacy") && sotto_reading_clean(r, "schedule"))
        sotto_learning_check_slots(r, out);
    if (sotto_reading_clean(r, "learn") && sotto_reading_clean(r, "rounds") &&
        sotto_reading_clean(r, "participation") && sotto_reading_clean(r, "privacy"))
        sotto_learning_check_correlation(r, out);
    /* Servers' samplers take a whole sigma from 60,000 on; rounding up adds noise, and is priced. */
    if (head->by == SOTTO_BY_SERVERS && sotto_learning_sigma(out) < 4e6)
        head->sigma_milli = 1000 * (uint32_t)sotto_learning_sigma(out);
}

sotto_status sotto_learning_read(const sotto_learning **out, sotto_bytes json, sotto_arena *arena,
                                 sotto_mistakes *mistakes, sotto_err *err)
{
    sotto_err_clear(err);

    sotto_reading r;
    sotto_status status = sotto_reading_open(&r, "learning", json, arena, mistakes, err);
    sotto_learning *learning = NULL;

    if (status != SOTTO_OK)
        goto done;
    learning = sotto_reading_take(&r, 1, sizeof *learning);
    if (learning && sotto_reading_keep(&r, &learning->head.text, learning->head.hash)) {
        learning->head.encoding.bins = 1;
        read_sections(&r, learning);
    }
    status = sotto_reading_finish(&r, err);
done:
    sotto_reading_close(&r);
    *out = status == SOTTO_OK ? learning : NULL;
    return status;
}
