/* The policy's logs: whose signature and whose cosignatures make a tree one that a device believes. */
#include "recipe/model.h"
#include "recipe/schema.h"

#include "base/rule.h"

#include <string.h>

/* A key of the kind that is wanted, whose name is copied. */
static bool read_key(sotto_reading *r, sotto_note_key *out, const json_t *json,
                     const sotto_place *place, sotto_note_kind kind)
{
    const char *text = sotto_reading_copy(r, json_string_value(json));

    if (text && (sotto_note_key_decode(out, sotto_bytes_of(text, strlen(text)), NULL) != SOTTO_OK ||
                 out->kind != kind)) {
        sotto_reading_mistake(
            r, place,
            kind == SOTTO_NOTE_ED25519 ? "the line that `sotto log key` prints"
                                       : "the line that `sotto log key --cosigns` prints",
            "no public key of a %s", kind == SOTTO_NOTE_ED25519 ? "log" : "witness");
        return false;
    }
    return text != NULL;
}

/* A log can't be its own witness, and no key counts twice. */
static bool is_taken(const sotto_policy_log *log, size_t count, const sotto_note_key *key)
{
    bool taken = memcmp(log->key.public_key, key->public_key, SOTTO_SIGN_PUBLIC) == 0;

    for (size_t i = 0; i < count; i++)
        taken = taken ||
                memcmp(log->trust.witnesses[i].public_key, key->public_key, SOTTO_SIGN_PUBLIC) == 0;
    return taken;
}

static void read_witnesses(sotto_reading *r, sotto_policy_log *log, const json_t *json,
                           const sotto_place *place)
{
    const json_t *list = json_object_get(json, "witnesses"),
                 *number = json_object_get(json, "quorum");
    const sotto_place witnesses = {place, "witnesses", 0}, quorum = {place, "quorum", 0};
    sotto_note_key *keys = sotto_reading_take(r, json_array_size(list), sizeof *keys);

    if (!keys)
        return;
    log->trust.witnesses = keys;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const sotto_place at = {&witnesses, NULL, i};

        if (!read_key(r, &keys[i], json_array_get(list, i), &at, SOTTO_NOTE_COSIGNATURE))
            return;
        if (SOTTO_RULE(policy_witnesses_differ) && is_taken(log, i, &keys[i]))
            sotto_reading_mistake(r, &at, "each key once, and not the log's own",
                                  "the same key as another");
        log->trust.witness_count++;
    }
    log->trust.quorum = number ? (size_t)json_integer_value(number) : log->trust.witness_count;
    if (SOTTO_RULE(policy_quorum_can_be_met) && log->trust.quorum > log->trust.witness_count)
        sotto_reading_mistake(r, &quorum, "as many as there are witnesses, or fewer",
                              "%zu, of %zu witnesses", log->trust.quorum, log->trust.witness_count);
}

static void read_urls(sotto_reading *r, sotto_policy_log *log, const json_t *json,
                      const sotto_place *place)
{
    const json_t *list = json_object_get(json, "witness_urls");
    const sotto_place at = {place, "witness_urls", 0};
    const size_t count = json_array_size(list);
    const char **urls = count ? sotto_reading_take(r, count, sizeof *urls) : NULL;

    if (!urls)
        return;
    if (SOTTO_RULE(policy_witness_urls_match) && count != log->trust.witness_count) {
        sotto_reading_mistake(r, &at, "as many as there are witnesses, or none",
                              "%zu, of %zu witnesses", count, log->trust.witness_count);
        return;
    }
    for (size_t i = 0; i < count; i++)
        urls[i] = sotto_reading_copy(r, json_string_value(json_array_get(list, i)));
    log->urls = urls;
}

void sotto_policy_read_logs(sotto_reading *r, sotto_policy *out)
{
    const sotto_place place = {NULL, "logs", 0};
    json_t *object = json_object_get(r->root, "logs"), *json;
    sotto_policy_log *list = sotto_reading_take(r, json_object_size(object), sizeof *list);
    const char *name;

    out->logs = list;
    json_object_foreach(object, name, json)
    {
        const sotto_place at = {&place, name, 0}, key = {&at, "key", 0};
        sotto_policy_log *log = list ? &list[out->log_count] : NULL;

        if (!log || !read_key(r, &log->key, json_object_get(json, "key"), &key, SOTTO_NOTE_ED25519))
            return;
        for (size_t i = 0; i < out->log_count; i++)
            if (SOTTO_RULE(policy_logs_differ) &&
                sotto_bytes_equal_vartime(list[i].key.name, log->key.name))
                sotto_reading_mistake(r, &key, "another origin for each log",
                                      "the same origin as another's");
        log->name = sotto_reading_copy(r, name);
        log->feed = sotto_reading_text(r, json, "feed");
        log->fresh_days = json_integer_value(json_object_get(json, "fresh_days"));
        log->trust.log = &log->key;
        read_witnesses(r, log, json, &at);
        read_urls(r, log, json, &at);
        out->log_count++;
    }
}

bool sotto_policy_issuer_named(const sotto_policy *policy, const char *name)
{
    for (size_t i = 0; i < policy->issuer_count; i++)
        if (strcmp(policy->issuers[i].name, name) == 0)
            return true;
    return false;
}

const sotto_policy_log *sotto_policy_log_of(const sotto_policy *policy,
                                            sotto_checkpoint *checkpoint, sotto_bytes signed_note)
{
    sotto_note note;

    if (sotto_note_decode(&note, signed_note, NULL) != SOTTO_OK ||
        sotto_checkpoint_decode(checkpoint, note.text, NULL) != SOTTO_OK)
        return NULL;
    for (size_t i = 0; i < policy->log_count; i++)
        if (sotto_bytes_equal_vartime(policy->logs[i].key.name, checkpoint->origin))
            return &policy->logs[i];
    return NULL;
}

const sotto_policy_log *sotto_policy_log_named(const sotto_policy *policy, const char *name)
{
    for (size_t i = 0; i < policy->log_count; i++)
        if (strcmp(policy->logs[i].name, name) == 0)
            return &policy->logs[i];
    return NULL;
}
