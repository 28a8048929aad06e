#include "recipe/listed_keys.h"

#include "base/arena.h"
#include "base/hex.h"
#include "base/rule.h"
#include "dap/arc_admission.h"
#include "recipe/signed_parties.h"

#include <jansson.h>
#include <string.h>

enum { MEMBERS = 5, ARC_MEMBERS = 4 };

/* ---- whose it is ------------------------------------------------------------------------------------------ */

sotto_status sotto_listed_keys_judge(const char **issuer, sotto_bytes *list, uint64_t *serial,
                                     const sotto_policy *policy, sotto_bytes file, sotto_err *err)
{
    sotto_signed_parties read;

    SOTTO_TRY(sotto_signed_keys_decode(&read, file, err));
    *list = read.parties;
    *serial = read.serial;
    *issuer = NULL;
    for (size_t i = 0; i < policy->issuer_count && !*issuer; i++) {
        sotto_err why = {0};
        const sotto_status status = sotto_signed_parties_by(&read, policy->issuers[i].key, &why);

        if (status == SOTTO_MISSING)
            continue;
        if (SOTTO_RULE(token_keys_signed) && status != SOTTO_OK)
            return sotto_fail(err, status, "list of token keys: %s", why.reason);
        *issuer = policy->issuers[i].name;
    }
    if (!*issuer)
        return sotto_fail(err, SOTTO_DENIED,
                          "list of token keys: no issuer that the policy names signed it");
    return SOTTO_OK;
}

/* ---- what is in it ---------------------------------------------------------------------------------------- */

static bool read_hex(uint8_t *out, size_t len, const json_t *json)
{
    return json_is_string(json) &&
           sotto_hex_decode(out, len,
                            sotto_bytes_of(json_string_value(json), json_string_length(json)));
}

static bool read_time(int64_t *out, const json_t *json)
{
    *out = json_integer_value(json);
    return json_is_integer(json) && *out >= 0 && *out <= SOTTO_LISTED_KEYS_LATEST;
}

static bool read_analysis(char out[SOTTO_LISTED_KEY_ANALYSIS + 1], const json_t *json)
{
    const size_t len = json_string_length(json);

    if (!json_is_string(json) || len == 0 || len > SOTTO_LISTED_KEY_ANALYSIS)
        return false;
    memcpy(out, json_string_value(json), len + 1); /* jansson refuses NUL bytes */
    return true;
}

/* A key has one spelling, and so one id: see sotto_type2_key_decode. */
static bool is_key(const sotto_listed_key *key)
{
    sotto_type2_key decoded;
    const bool good = sotto_type2_key_decode(&decoded, sotto_bytes_of(key->spki, sizeof key->spki),
                                             NULL) == SOTTO_OK;
    const bool own = good && memcmp(decoded.id, key->id, sizeof key->id) == 0;

    sotto_type2_key_clear(&decoded);
    return own;
}

/* Whether its points are points is found out when it is used. */
static bool is_arc_key(const sotto_listed_key *key)
{
    uint8_t id[SOTTO_TOKEN_KEY_ID];

    sotto_arc_key_id(id, key->spki);
    return memcmp(id, key->id, sizeof id) == 0;
}

static bool read_key(sotto_listed_key *out, const json_t *json)
{
    const bool arc = !json_object_get(json, "analysis");
    const json_t *key = json_object_get(json, "token_key");

    memset(out, 0, sizeof *out);
    return json_object_size(json) == (arc ? ARC_MEMBERS : MEMBERS) &&
           (arc || read_analysis(out->analysis, json_object_get(json, "analysis"))) &&
           read_time(&out->opens, json_object_get(json, "opens")) &&
           read_time(&out->closes, json_object_get(json, "closes")) && out->opens < out->closes &&
           read_hex(out->id, sizeof out->id, json_object_get(json, "id")) &&
           read_hex(out->spki, arc ? SOTTO_ARC_PUBLIC : sizeof out->spki, key) &&
           (arc ? is_arc_key(out) : is_key(out));
}

/* Two keys of ARC whose epochs overlap would be two credentials for one collection. */
static bool has_collection(const sotto_listed_key *keys, size_t count, const sotto_listed_key *key)
{
    const bool arc = sotto_listed_key_is_arc(key);

    for (size_t i = 0; i < count; i++)
        if (strcmp(keys[i].analysis, key->analysis) == 0 &&
            (keys[i].opens == key->opens ||
             (arc && keys[i].opens < key->closes && key->opens < keys[i].closes)))
            return true;
    return false;
}

static sotto_status read_keys(sotto_listed_key **out, size_t *count, const json_t *list,
                              sotto_arena *arena, sotto_err *err)
{
    const size_t most = json_array_size(list);

    if (most > SOTTO_LISTED_KEYS_MOST)
        return sotto_fail(err, SOTTO_TOO_LARGE, "list of token keys: more than %d keys",
                          SOTTO_LISTED_KEYS_MOST);
    *out = sotto_arena_take_array(arena, most ? most : 1, sizeof **out);
    if (!*out)
        return sotto_fail(err, SOTTO_NO_MEMORY, "list of token keys");
    for (size_t i = 0; i < most; i++) {
        sotto_listed_key *key = &(*out)[i];

        if (!read_key(key, json_array_get(list, i)))
            return sotto_fail(err, SOTTO_MALFORMED, "list of token keys: entry %zu is not valid",
                              i);
        if (SOTTO_RULE(listed_once) && has_collection(*out, i, key))
            return sotto_fail(err, SOTTO_MALFORMED,
                              "list of token keys: entry %zu is a second key of its collection", i);
    }
    *count = most;
    return SOTTO_OK;
}

sotto_status sotto_listed_keys_read(const sotto_listed_key **out, size_t *count, sotto_bytes list,
                                    sotto_arena *arena, sotto_err *err)
{
    json_t *root = json_loadb((const char *)list.data, list.len, JSON_REJECT_DUPLICATES, NULL);
    const json_t *keys = json_object_get(root, "keys");
    sotto_listed_key *read = NULL;
    sotto_status status;

    *count = 0;
    if (json_object_size(root) == 1 && json_is_array(keys))
        status = read_keys(&read, count, keys, arena, err);
    else
        status = sotto_fail(err, SOTTO_MALFORMED, "no list of token keys");
    json_decref(root);
    *out = read;
    return status;
}
