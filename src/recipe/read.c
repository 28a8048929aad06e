/* A recipe into its plain form: what the table can't check is checked here, section by section. */
#include "recipe/read.h"
#include "recipe/encoding.h"

#include "account/trust.h"
#include "base/rule.h"
#include "crypto/hash.h"
#include "dap/dap.h"
#include "recipe/participation.h"
#include "recipe/statistic.h"

#include <inttypes.h>
#include <string.h>

static void read_names(sotto_reading *r, sotto_recipe *out)
{
    out->name = sotto_reading_text(r, r->root, "recipe");
    out->version = (uint64_t)json_integer_value(json_object_get(r->root, "version"));
    out->analysis = sotto_reading_text(r, r->root, "analysis");
    out->description = sotto_reading_text(r, r->root, "description");
    out->query = sotto_reading_text(r, r->root, "query");
    out->statistic = (sotto_statistic)sotto_reading_choice(r->root, "recipe", "statistic");
    out->pick = (sotto_pick)sotto_reading_choice(r->root, "recipe", "pick");
    out->population = (uint64_t)json_integer_value(json_object_get(r->root, "population"));
    out->on_no_match = (sotto_no_match)sotto_reading_choice(r->root, "recipe", "on_no_match");
    out->dummies = json_number_value(json_object_get(r->root, "dummies"));
}

static void read_interval(sotto_reading *r, sotto_recipe *out)
{
    enum { LONGEST = 3650 * 86400 };
    const sotto_place place = {NULL, "interval", 0}, duration = {&place, "duration", 0};
    const json_t *json = json_object_get(r->root, "interval");
    const char *type = json_string_value(json_object_get(json, "type"));

    if (!type || strcmp(type, "since-beginning") == 0)
        return;
    out->interval = SOTTO_INTERVAL_SINCE_LAST_ANSWER;
    if (strcmp(type, "last") != 0)
        return;
    out->interval = SOTTO_INTERVAL_LAST;
    out->last = sotto_reading_duration(json, "duration");
    if (out->last == 0 || out->last > LONGEST)
        sotto_reading_mistake(r, &duration, "from 1s to 3650d", "out of range");
}

/* cohorts and targeting: fields, and the values of each. */
static void read_listed(sotto_reading *r, const char *key, sotto_listed *out, size_t *count)
{
    sotto_place place = {NULL, key, 0};
    json_t *object = json_object_get(r->root, key), *list;
    const char *field;
    sotto_words words;

    if (json_object_size(object) > SOTTO_MAX_COHORT_FIELDS) {
        sotto_reading_mistake(r, &place, "at most 8 fields", "%zu fields",
                              json_object_size(object));
        return;
    }
    json_object_foreach(object, field, list)
    {
        sotto_place at = {&place, field, 0};

        sotto_words_read(r, &words, list, &at);
        out[(*count)++] = (sotto_listed){sotto_reading_copy(r, field), words.items, words.count};
    }
}

static void check_cohorts(sotto_reading *r, const sotto_recipe *recipe)
{
    sotto_place place = {NULL, "cohorts", 0};

    if (sotto_recipe_cohorts(recipe) > SOTTO_MAX_TASKS)
        sotto_reading_mistake(r, &place, "at most 10000 combinations of values",
                              "%" PRIu64 " combinations", sotto_recipe_cohorts(recipe));
    for (size_t i = 0; i < recipe->cohort_count; i++)
        for (size_t j = 0; j < recipe->targeting_count; j++)
            if (strcmp(recipe->cohorts[i].field, recipe->targeting[j].field) == 0) {
                sotto_place targeting = {NULL, "targeting", 0};
                sotto_place at = {&targeting, recipe->targeting[j].field, 0};

                sotto_reading_mistake(r, &at, "fields that cohorts doesn't have",
                                      "cohorts lists the values of this field already");
            }
}

/* A count has none: what it counts is said by the query. */
static void read_encoding(sotto_reading *r, sotto_recipe *out)
{
    const sotto_place place = {NULL, "encode", 0};
    const bool none = out->statistic == SOTTO_STATISTIC_COUNT,
               there = json_object_get(r->root, "encode") != NULL;

    out->encoding.bins = 1;
    if (!none && !there)
        sotto_reading_missing(r, "encode");
    if (SOTTO_RULE(count_without_encode) && none && there)
        sotto_reading_mistake(r, &place, "a recipe without this key",
                              "a count has no bins: say in the query what is counted");
    if (!none && there)
        sotto_encoding_read(r, &out->encoding);
}

static void read_randomizer(sotto_reading *r, sotto_recipe *out)
{
    sotto_place place = {NULL, "randomizer", 0};
    json_t *json = json_object_get(r->root, "randomizer");
    const char *type = json_string_value(json_object_get(json, "type"));

    if (!type)
        return; /* check_noise knows whether it must be there */
    out->epsilon_local = sotto_reading_decimal(r, &place, "epsilon_local");
    if (strcmp(type, "one-hot") == 0)
        out->randomizer = sotto_reading_choice(json, "randomizer.one-hot", "form") == 0
                              ? SOTTO_ONE_HOT_ASYMMETRIC
                              : SOTTO_ONE_HOT_SYMMETRIC;
    else
        out->randomizer = strcmp(type, "binary") == 0   ? SOTTO_BINARY_RESPONSE
                          : strcmp(type, "choice") == 0 ? SOTTO_CHOICE_RESPONSE
                                                        : SOTTO_SUBSET_SELECTION;
}

/* Long enough for any analysis, and short enough that sums of slots stay far below the end of the numbers. */
static void read_slots(sotto_reading *r, const json_t *json, sotto_participation *out,
                       const char *count)
{
    enum { LONGEST = 30 * 86400, LONGEST_ROUND = 7 * 86400 };
    const bool rounds = out->type == SOTTO_DONATION;
    sotto_place place = {NULL, "participation", 0}, slot = {&place, "slot", 0};

    out->slots = (uint64_t)json_integer_value(json_object_get(json, count));
    out->start = sotto_reading_time(json, "start");
    out->length = sotto_reading_duration(json, "slot");
    out->available = sotto_reading_duration(json, "available");
    if (out->length > (rounds ? LONGEST_ROUND : LONGEST))
        sotto_reading_mistake(r, &slot, rounds ? "at most 7d" : "at most 30d", "too long");
}

static void read_check_in(sotto_reading *r, const json_t *json, sotto_participation *out)
{
    static const sotto_participation_type variants[] = {
        SOTTO_CHECK_IN_FIXED_WINDOW, SOTTO_CHECK_IN_AVERAGED_WINDOW, SOTTO_CHECK_IN_SLIDING_WINDOW};
    sotto_place place = {NULL, "participation", 0}, at = {&place, "probability", 0};

    out->type = variants[sotto_reading_choice(json, "participation.check-in", "variant")];
    out->rate = json_number_value(json_object_get(json, "probability"));
    read_slots(r, json, out, "window");
    if (out->rate != 1 && out->type != SOTTO_CHECK_IN_FIXED_WINDOW)
        sotto_reading_mistake(r, &at, "1, or the fixed variant",
                              "only a fixed window has a chance of not checking in");
}

void sotto_recipe_read_participation(sotto_reading *r, sotto_participation *out)
{
    sotto_place place = {NULL, "participation", 0};
    json_t *json = json_object_get(r->root, "participation");
    const char *type = json_string_value(json_object_get(json, "type"));

    out->rate = json_number_value(json_object_get(json, "rate"));
    if (strcmp(type, "poisson") == 0) {
        out->type = SOTTO_POISSON;
    } else if (strcmp(type, "check-in") == 0) {
        read_check_in(r, json, out);
    } else if (strcmp(type, "donation") == 0) {
        out->type = SOTTO_DONATION;
        read_slots(r, json, out, "slots");
    } else {
        sotto_place other = {&place, "rate_other", 0};

        out->type = SOTTO_IMPORTANCE;
        out->rate = json_number_value(json_object_get(json, "rate_default"));
        out->rate_other = json_number_value(json_object_get(json, "rate_other"));
        out->default_share = json_number_value(json_object_get(json, "default_share"));
        out->default_bin = SOTTO_NO_VALUE;
        if (json_object_get(json, "default"))
            out->default_bin = (uint64_t)json_integer_value(json_object_get(json, "default"));
        if (out->rate_other < out->rate)
            sotto_reading_mistake(r, &other, "rate_default or more",
                                  "rare values would be sent less often than common ones");
        if (out->rate_other >= 1 && out->rate < 1)
            sotto_reading_mistake(r, &other, "below 1",
                                  "silence would tell for certain that a value is the default");
    }
}

static void read_privacy(sotto_reading *r, sotto_recipe *out)
{
    sotto_place place = {NULL, "privacy", 0};
    json_t *json = json_object_get(r->root, "privacy");

    out->adjacency = sotto_reading_choice(json, "privacy", "adjacency") == 0
                         ? SOTTO_ADJACENCY_REPLACEMENT
                         : SOTTO_ADJACENCY_DELETION;
    out->epsilon = sotto_reading_decimal(r, &place, "epsilon");
    out->delta = sotto_reading_decimal(r, &place, "delta");
    out->min_cohort = (uint64_t)json_integer_value(json_object_get(json, "min_cohort"));
    out->by = (sotto_noise_source)sotto_reading_choice(json, "privacy", "by");
    sotto_recipe_read_noise(r, out);
}

static void read_aggregation(sotto_reading *r, sotto_recipe *out)
{
    sotto_place place = {NULL, "aggregation", 0}, at = {&place, "helper", 0};
    json_t *json = json_object_get(r->root, "aggregation");

    out->trust = sotto_trust_named(json_string_value(json_object_get(json, "trust")));
    if (!sotto_trust_model_of(out->trust)->two_servers)
        return; /* lint and the compiler refuse it */
    out->leader = sotto_reading_text(r, json, "leader");
    out->helper = sotto_reading_text(r, json, "helper");
    out->collector = sotto_reading_text(r, json, "collector");
    out->batch_mode = 1 + sotto_reading_choice(json, "aggregation.split", "batch_mode");
    if (SOTTO_RULE(two_servers) && out->leader && out->helper &&
        strcmp(out->leader, out->helper) == 0)
        sotto_reading_mistake(r, &at, "a party other than the leader",
                              "leader and helper are one: nobody would be left to trust");
}

/* Both or none: one without the other hides nothing. */
static void check_pair(sotto_reading *r, const char *key, bool one, const char *partner, bool other,
                       const char *accepted)
{
    sotto_place place = {NULL, "anonymity", 0}, at = {&place, one ? key : partner, 0};

    if (one != other)
        sotto_reading_mistake(r, &at, accepted, "%s goes with %s", one ? key : partner,
                              one ? partner : key);
}

void sotto_recipe_read_anonymity(sotto_reading *r, sotto_anonymity *out)
{
    static const char all_three[] = "tokens type-2 with an attester and an issuer, or none of them",
                      two[] = "tokens arc with an attester and without an issuer";
    json_t *json = json_object_get(r->root, "anonymity");

    out->relay = sotto_reading_text(r, json, "relay");
    out->gateway = sotto_reading_text(r, json, "gateway");
    out->attester = sotto_reading_text(r, json, "attester");
    out->issuer = sotto_reading_text(r, json, "issuer");
    out->log = sotto_reading_text(r, json, "log");
    if (json_object_get(json, "tokens"))
        out->tokens = (sotto_token_kind)(1 + sotto_reading_choice(json, "anonymity", "tokens"));
    const bool issued = out->tokens == SOTTO_TOKENS_TYPE_2, arc = out->tokens == SOTTO_TOKENS_ARC;
    check_pair(r, "relay", out->relay != NULL, "gateway", out->gateway != NULL, "both or none");
    /* Of ARC leader and helper are the issuers. */
    check_pair(r, "attester", out->attester != NULL, arc ? "tokens" : "issuer",
               arc || out->issuer != NULL, arc ? two : all_three);
    check_pair(r, "issuer", out->issuer != NULL, "tokens", issued, arc ? two : all_three);
}

void sotto_recipe_read_schedule(sotto_reading *r, sotto_recipe *out)
{
    enum { LONGEST = 3660 * 86400, COARSEST = 30 * 86400 };
    sotto_place place = {NULL, "schedule", 0}, opens = {&place, "opens", 0},
                closes = {&place, "closes", 0}, precision = {&place, "precision", 0};
    json_t *json = json_object_get(r->root, "schedule");

    out->opens = sotto_reading_time(json, "opens");
    out->closes = sotto_reading_time(json, "closes");
    out->precision = sotto_reading_duration(json, "precision");
    if (out->precision > COARSEST) {
        sotto_reading_mistake(r, &precision, "at most 30d", "too coarse");
        return;
    }
    if (out->opens % (int64_t)out->precision != 0)
        sotto_reading_mistake(r, &opens, "a multiple of the precision",
                              "not a multiple of the precision");
    if (out->closes % (int64_t)out->precision != 0)
        sotto_reading_mistake(r, &closes, "a multiple of the precision",
                              "not a multiple of the precision");
    if (out->closes <= out->opens)
        sotto_reading_mistake(r, &closes, "a time after opens", "closes before it opens");
    else if (out->closes - out->opens > LONGEST)
        sotto_reading_mistake(r, &closes, "at most 3660 days after opens", "open for too long");
}

/* Talwar et al. 2024, Appendix A: a round of donations lies within a slot. Servers can only check that for a batch that is
 * a span of time, and slots that are made of whole buckets. */
static void check_rounds(sotto_reading *r, const sotto_recipe *recipe)
{
    const sotto_participation *p = &recipe->participation;
    sotto_place aggregation = {NULL, "aggregation", 0}, mode = {&aggregation, "batch_mode", 0},
                taking = {NULL, "participation", 0}, slot = {&taking, "slot", 0},
                start = {&taking, "start", 0};

    if (p->type != SOTTO_DONATION || recipe->precision == 0)
        return;
    if (SOTTO_RULE(rounds_within_slots) && recipe->batch_mode == SOTTO_DAP_LEADER_SELECTED)
        sotto_reading_mistake(r, &mode, "time-interval",
                              "a round of donations may not outlast a slot, and such a batch may");
    if (SOTTO_RULE(rounds_within_slots) && p->length % recipe->precision != 0)
        sotto_reading_mistake(r, &slot, "a multiple of the precision",
                              "a round of donations may not outlast a slot, and some would");
    if (SOTTO_RULE(rounds_within_slots) && p->start % (int64_t)recipe->precision != 0)
        sotto_reading_mistake(r, &start, "a multiple of the precision",
                              "a round of donations may not reach into the next slot, and would");
}

/* Else no device would ever answer. */
static void check_slots(sotto_reading *r, const sotto_recipe *recipe)
{
    const sotto_participation *p = &recipe->participation;
    sotto_place taking = {NULL, "participation", 0}, start = {&taking, "start", 0};
    const sotto_slot_range open = sotto_participation_slots(p, recipe->opens, recipe->closes);

    if (SOTTO_RULE(slots_within_schedule) && open.first == open.end)
        sotto_reading_mistake(r, &start, "a time from which some slot is within the schedule",
                              "no slot is within the schedule");
}

static void read_release(sotto_reading *r, sotto_recipe *out)
{
    static const sotto_place place = {NULL, "release", 0};
    const json_t *json = json_object_get(r->root, "release");

    if (!json)
        return;
    out->release.recipe = sotto_reading_hex(r, json_object_get(json, "recipe"));
    out->release.bundle = sotto_reading_hex(r, json_object_get(json, "bundle"));
    if (out->targeting_count == 0)
        sotto_reading_mistake(r, &place, "a recipe with targeting", "release goes with targeting");
}

static void read_sections(sotto_reading *r, sotto_recipe *out)
{
    sotto_place no_match = {NULL, "on_no_match", 0};

    read_names(r, out);
    if (sotto_reading_clean(r, "interval"))
        read_interval(r, out);
    if (sotto_reading_clean(r, "cohorts"))
        read_listed(r, "cohorts", out->cohorts, &out->cohort_count);
    if (sotto_reading_clean(r, "targeting"))
        read_listed(r, "targeting", out->targeting, &out->targeting_count);
    if (sotto_reading_clean(r, "targeting") && sotto_reading_clean(r, "release"))
        read_release(r, out);
    if (!r->no_memory)
        check_cohorts(r, out);
    if (sotto_reading_clean(r, "encode"))
        read_encoding(r, out);
    if (sotto_reading_clean(r, "randomizer"))
        read_randomizer(r, out);
    if (sotto_reading_clean(r, "participation"))
        sotto_recipe_read_participation(r, &out->participation);
    if (sotto_reading_clean(r, "privacy"))
        read_privacy(r, out);
    if (sotto_reading_clean(r, "aggregation"))
        read_aggregation(r, out);
    if (sotto_reading_clean(r, "anonymity"))
        sotto_recipe_read_anonymity(r, &out->anonymity);
    if (sotto_reading_clean(r, "schedule"))
        sotto_recipe_read_schedule(r, out);
    if (sotto_reading_clean(r, "participation") && sotto_reading_clean(r, "aggregation") &&
        sotto_reading_clean(r, "schedule")) {
        check_rounds(r, out);
        check_slots(r, out);
    }
    if (sotto_reading_clean(r, "statistic") && sotto_reading_clean(r, "encode") &&
        sotto_reading_clean(r, "randomizer") && sotto_reading_clean(r, "privacy") && !r->no_memory)
        sotto_recipe_check_statistic(r, out);
    if (sotto_reading_clean(r, "encode") && sotto_reading_clean(r, "on_no_match") &&
        !r->no_memory && out->on_no_match == SOTTO_NO_MATCH_OOV &&
        sotto_encoding_oov(&out->encoding) == SOTTO_NO_VALUE)
        sotto_reading_mistake(r, &no_match, "no-value, random-bin, or an oov bin in every column",
                              "there is no bin where every column is <oov>");
}

sotto_status sotto_recipe_read(const sotto_recipe **out, sotto_bytes json, sotto_arena *arena,
                               sotto_mistakes *mistakes, sotto_err *err)
{
    sotto_err_clear(err);

    sotto_reading r;
    sotto_status status = sotto_reading_open(&r, "recipe", json, arena, mistakes, err);
    sotto_recipe *recipe = NULL;

    if (status != SOTTO_OK)
        goto done;
    recipe = sotto_reading_take(&r, 1, sizeof *recipe);
    if (recipe && sotto_reading_keep(&r, &recipe->text, recipe->hash)) {
        read_sections(&r, recipe);
    }
    status = sotto_reading_finish(&r, err);
done:
    sotto_reading_close(&r);
    *out = status == SOTTO_OK ? recipe : NULL;
    return status;
}

uint64_t sotto_recipe_cohorts(const sotto_recipe *recipe)
{
    uint64_t tasks = 1;

    for (size_t i = 0; i < recipe->cohort_count && tasks <= SOTTO_MAX_TASKS; i++)
        tasks *= recipe->cohorts[i].count;
    return tasks;
}

const uint8_t *sotto_recipe_hash(const sotto_recipe *recipe)
{
    return recipe->hash;
}
