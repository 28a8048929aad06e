/* A policy into its plain form. */
#include "recipe/model.h"
#include "recipe/schema.h"

#include "account/trust.h"
#include "base/rule.h"
#include "crypto/hash.h"
#include "crypto/signature.h"
#include "recipe/statistic.h"

#include <string.h>

/* `stream.field`, or only `field` for one of the device itself. */
static sotto_policy_name read_name(sotto_reading *r, const char *text)
{
    const char *dot = strchr(text, '.');
    char *stream;

    if (!dot)
        return (sotto_policy_name){"", sotto_reading_copy(r, text)};
    stream = sotto_reading_take_text(r, (size_t)(dot - text));
    if (stream) {
        memcpy(stream, text, (size_t)(dot - text));
        stream[dot - text] = 0;
    }
    return (sotto_policy_name){stream, sotto_reading_copy(r, dot + 1)};
}

static bool is_stream_field(const char *text)
{
    const char *dot = strchr(text, '.');

    return dot && dot != text && dot[1] && !strchr(dot + 1, '.');
}

/* Reports that others add noise to have no local protection: a policy that allows them says so in two places. */
static void read_sources(sotto_reading *r, sotto_policy_field *out, const json_t *json,
                         const sotto_place *place)
{
    const sotto_place at = {place, "by", 0};
    const json_t *list = json_object_get(json, "by");

    for (size_t i = 0; i < json_array_size(list); i++)
        out->by |= sotto_noise_source_bit(json_string_value(json_array_get(list, i)));
    out->local_none = json_is_string(json_object_get(json, "epsilon_local"));
    if (SOTTO_RULE(no_local_said_twice) && (out->by & ~(1U << SOTTO_BY_CROWD)) && !out->local_none)
        sotto_reading_mistake(r, &at, "crowd alone, or an epsilon_local of \"none\"",
                              "only by crowd do reports have a local epsilon");
}

static void read_fields(sotto_reading *r, sotto_policy *out)
{
    sotto_place place = {NULL, "fields", 0};
    json_t *fields = json_object_get(r->root, "fields"), *json;
    sotto_policy_field *list = sotto_reading_take(r, json_object_size(fields), sizeof *list);
    const char *key;

    if (!list)
        return;
    out->fields = list;
    json_object_foreach(fields, key, json)
    {
        sotto_place at = {&place, key, 0};
        sotto_policy_name name = read_name(r, key);
        sotto_policy_field *field = &list[out->field_count++];

        if (!is_stream_field(key))
            sotto_reading_mistake(r, &at, "stream.field", "\"%.60s\" names no stream and field",
                                  key);
        *field = (sotto_policy_field){
            .stream = name.stream,
            .field = name.field,
            .epsilon = sotto_reading_decimal(r, &at, "epsilon"),
            .delta = sotto_reading_decimal(r, &at, "delta"),
            .reports = (uint64_t)json_integer_value(json_object_get(json, "reports")),
        };
        read_sources(r, field, json, &at);
        if (!field->local_none)
            field->epsilon_local = sotto_reading_decimal(r, &at, "epsilon_local");
    }
}

static const sotto_policy_name *read_names(sotto_reading *r, const json_t *list, size_t *count)
{
    sotto_policy_name *names = sotto_reading_take(r, json_array_size(list), sizeof *names);

    *count = 0;
    for (size_t i = 0; names && i < json_array_size(list); i++)
        names[(*count)++] = read_name(r, json_string_value(json_array_get(list, i)));
    return names;
}

static bool lists_name(const json_t *list, const char *name)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(json_string_value(json_array_get(list, i)), name) == 0)
            return true;
    return false;
}

/* What an analysis may read has a budget, or is known to need none. */
static void read_allowed(sotto_reading *r, sotto_policy_analysis *out, json_t *list,
                         const json_t *non_sensitive, const sotto_place *place)
{
    sotto_policy_name *names = sotto_reading_take(r, json_array_size(list), sizeof *names);

    if (!names)
        return;
    out->fields = names;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(json_array_get(list, i));
        sotto_place at = {place, NULL, i};

        if (!is_stream_field(name) || (!json_object_get(json_object_get(r->root, "fields"), name) &&
                                       !lists_name(non_sensitive, name)))
            sotto_reading_mistake(r, &at, "one of the policy's fields",
                                  "the policy has no budget for \"%.60s\"", name);
        names[out->field_count++] = read_name(r, name);
    }
}

static void read_queries(sotto_reading *r, sotto_policy_analysis *out, json_t *list)
{
    sotto_bytes *queries = sotto_reading_take(r, json_array_size(list), sizeof *queries);

    if (!queries)
        return;
    out->queries = queries;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *text = sotto_reading_copy(r, json_string_value(json_array_get(list, i)));

        if (text)
            queries[out->query_count++] = sotto_bytes_of(text, strlen(text));
    }
}

static void read_analyses(sotto_reading *r, sotto_policy *out)
{
    sotto_place place = {NULL, "analyses", 0};
    json_t *analyses = json_object_get(r->root, "analyses"), *json;
    sotto_policy_analysis *list = sotto_reading_take(r, json_object_size(analyses), sizeof *list);
    const char *name;

    if (!list)
        return;
    out->analyses = list;
    json_object_foreach(analyses, name, json)
    {
        sotto_policy_analysis *a = &list[out->analysis_count++];
        sotto_place at = {&place, name, 0}, fields = {&at, "fields", 0};

        a->name = sotto_reading_copy(r, name);
        a->epsilon = sotto_reading_decimal(r, &at, "epsilon");
        a->delta = sotto_reading_decimal(r, &at, "delta");
        a->reports = (uint64_t)json_integer_value(json_object_get(json, "reports"));
        read_queries(r, a, json_object_get(json, "queries"));
        json_t *own = json_object_get(json, "non_sensitive");
        a->non_sensitive = out->non_sensitive;
        a->non_sensitive_count = out->non_sensitive_count;
        if (own)
            a->non_sensitive = read_names(r, own, &a->non_sensitive_count);
        read_allowed(r, a, json_object_get(json, "fields"),
                     own ? own : json_object_get(r->root, "non_sensitive"), &fields);
    }
}

static const sotto_policy_key *read_keys(sotto_reading *r, const char *key, size_t *count)
{
    json_t *object = json_object_get(r->root, key), *json;
    sotto_policy_key *list = sotto_reading_take(r, json_object_size(object), sizeof *list);
    const char *name;

    json_object_foreach(object, name, json)
    {
        if (list)
            list[(*count)++] =
                (sotto_policy_key){sotto_reading_copy(r, name), sotto_reading_hex(r, json)};
    }
    return list;
}

/* The same key twice would let one holder sign for two. */
static bool is_listed(const sotto_policy *policy, size_t before, sotto_bytes key)
{
    for (size_t i = 0; i < before; i++)
        if (sotto_bytes_equal_vartime(policy->parties_keys[i].key, key))
            return true;
    return false;
}

static void read_signers(sotto_reading *r, sotto_policy *out)
{
    const sotto_place keys = {NULL, "parties_keys", 0}, wanted = {NULL, "parties_signatures", 0};
    const json_t *number = json_object_get(r->root, "parties_signatures");

    out->parties_keys = read_keys(r, "parties_keys", &out->parties_key_count);
    for (size_t i = 0; i < out->parties_key_count; i++) {
        const sotto_place at = {&keys, out->parties_keys[i].name, 0};

        if (out->parties_keys[i].key.len != SOTTO_SIGN_PUBLIC)
            sotto_reading_mistake(r, &at, "32 bytes of an Ed25519 key", "%zu bytes",
                                  out->parties_keys[i].key.len);
        if (is_listed(out, i, out->parties_keys[i].key))
            sotto_reading_mistake(r, &at, "each key once", "the same key as another");
    }
    out->parties_signatures = number ? (size_t)json_integer_value(number) : out->parties_key_count;
    if (out->parties_signatures > out->parties_key_count)
        sotto_reading_mistake(r, &wanted, "as many as there are parties_keys, or fewer",
                              "%zu, of %zu keys", out->parties_signatures, out->parties_key_count);
}

/* A count of all devices of a target tells whether one more met it, however many there are. */
static void read_floor(sotto_reading *r, sotto_policy *out)
{
    enum { PERCENT = 90 };
    static const sotto_place place = {NULL, "targeting_floor", 0};
    const json_t *floor = json_object_get(r->root, "targeting_floor");

    out->targeting_rate = json_number_value(json_object_get(r->root, "targeting_rate"));
    out->targets = floor != NULL;
    out->targeting_floor = (uint64_t)json_integer_value(floor);
    if (SOTTO_RULE(policy_floor_with_a_rate) && out->targeting_floor > 0 &&
        out->targeting_rate * 100 > PERCENT)
        sotto_reading_mistake(r, &place, "a targeting_rate of at most 0.9 beside it",
                              "the number of reports would tell who met the target");
}

static void read_rest(sotto_reading *r, sotto_policy *out)
{
    json_t *list;

    out->name = sotto_reading_text(r, r->root, "policy");
    out->version = (uint64_t)json_integer_value(json_object_get(r->root, "version"));
    out->min_cohort = (uint64_t)json_integer_value(json_object_get(r->root, "min_cohort"));
    out->report_bytes = (uint64_t)json_integer_value(json_object_get(r->root, "report_bytes"));
    out->honest = sotto_reading_decimal(r, NULL, "honest");
    out->composition = (sotto_composition)(SOTTO_COMPOSITION_BASIC +
                                           sotto_reading_choice(r->root, "policy", "composition"));
    out->period_days = (uint64_t)json_integer_value(json_object_get(r->root, "period_days"));
    read_floor(r, out);
    out->silence = json_is_true(json_object_get(r->root, "silence"));
    out->when_hidden = json_object_get(r->root, "sampling") != NULL; /* it has one word */
    out->correlated = json_is_true(json_object_get(r->root, "correlated_noise"));
    out->non_sensitive =
        read_names(r, json_object_get(r->root, "non_sensitive"), &out->non_sensitive_count);
    list = json_object_get(r->root, "trusts");
    for (size_t i = 0; i < json_array_size(list); i++)
        out->trusts |= 1U << sotto_trust_named(json_string_value(json_array_get(list, i)));
    sotto_policy_read_logs(r, out);
    out->issuers = read_keys(r, "issuers", &out->issuer_count);
    read_signers(r, out);
}

sotto_status sotto_policy_read(const sotto_policy **out, sotto_bytes json, sotto_arena *arena,
                               sotto_mistakes *mistakes, sotto_err *err)
{
    sotto_err_clear(err);

    sotto_reading r;
    sotto_status status = sotto_reading_open(&r, "policy", json, arena, mistakes, err);
    sotto_policy *policy = NULL;

    if (status != SOTTO_OK)
        goto done;
    policy = sotto_reading_take(&r, 1, sizeof *policy);
    if (policy && mistakes->errors == 0) {
        sotto_hash_once(policy->hash, SOTTO_SHA256, json);
        read_rest(&r, policy);
        read_fields(&r, policy);
        read_analyses(&r, policy);
    }
    status = sotto_reading_finish(&r, err);
done:
    sotto_reading_close(&r);
    *out = status == SOTTO_OK ? policy : NULL;
    return status;
}

const sotto_policy_analysis *sotto_policy_find(const sotto_policy *policy, const char *analysis)
{
    for (size_t i = 0; i < policy->analysis_count; i++)
        if (strcmp(policy->analyses[i].name, analysis) == 0)
            return &policy->analyses[i];
    return NULL;
}

bool sotto_policy_non_sensitive(const sotto_policy *policy, const char *analysis, const char *field)
{
    const sotto_policy_analysis *a = sotto_policy_find(policy, analysis);
    const sotto_policy_name *names = a ? a->non_sensitive : policy->non_sensitive;
    const size_t count = a ? a->non_sensitive_count : policy->non_sensitive_count;

    for (size_t i = 0; i < count; i++)
        if (!*names[i].stream && strcmp(names[i].field, field) == 0)
            return true;
    return false;
}
