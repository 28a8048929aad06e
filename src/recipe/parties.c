/* Parties into their plain form; every key configuration is decoded once, here. */
#include "recipe/model.h"
#include "recipe/schema.h"

#include "base/rule.h"
#include "crypto/hash.h"
#include "sotto/seal.h"

#include <string.h>

static void read_key(sotto_reading *r, sotto_party_key *out, json_t *json, const sotto_place *place)
{
    sotto_place config = {place, "config", 0}, until = {place, "until", 0};
    sotto_place next = {place, "next", 0};
    sotto_hpke_config decoded;
    sotto_err why = {0};

    out->config = sotto_reading_hex(r, json_object_get(json, "config"));
    if (!out->config.data)
        return;
    out->from = sotto_reading_time(json, "from");
    out->until = sotto_reading_time(json, "until");
    out->next = json_object_get(json, "next") ? sotto_reading_time(json, "next") : 0;
    if (sotto_hpke_config_decode(&decoded, out->config, &why) != SOTTO_OK)
        sotto_reading_mistake(r, &config, "an HpkeConfig as DAP encodes it", "%s", why.reason);
    if (out->until <= out->from)
        sotto_reading_mistake(r, &until, "a time after from", "not after from");
    if (json_object_get(json, "next") && out->next < out->from)
        sotto_reading_mistake(r, &next, "from or a later time", "before from");
}

/* Nothing is sealed to these. */
static bool has_no_keys(sotto_party_role role)
{
    return role == SOTTO_PARTY_RELAY || role == SOTTO_PARTY_ATTESTER || role == SOTTO_PARTY_ISSUER;
}

static void read_party(sotto_reading *r, sotto_party_entry *out, json_t *json,
                       const sotto_place *place)
{
    sotto_place url = {place, "url", 0}, hpke = {place, "hpke", 0};
    json_t *list = json_object_get(json, "hpke");
    sotto_party_key *keys = sotto_reading_take(r, json_array_size(list), sizeof *keys);
    const char *text = sotto_reading_text(r, json, "url");

    out->role = (sotto_party_role)sotto_reading_choice(json, "party", "role");
    if (text)
        out->url = sotto_bytes_of(text, strlen(text));
    if (out->role != SOTTO_PARTY_COLLECTOR && !text)
        sotto_reading_mistake(r, &url, "the URL's exact bytes", "missing: where to send");
    if (!has_no_keys(out->role) && !list)
        sotto_reading_mistake(r, &hpke, "keys to seal to",
                              "missing: only a relay, an attester and an issuer have none");
    if (has_no_keys(out->role) && list)
        sotto_reading_mistake(r, &hpke, "none", "a relay, an attester or an issuer opens nothing");
    out->keys = keys;
    for (size_t i = 0; keys && i < json_array_size(list); i++) {
        sotto_place at = {&hpke, NULL, i};

        read_key(r, &keys[out->key_count++], json_array_get(list, i), &at);
    }
}

static void read_all(sotto_reading *r, sotto_parties *out)
{
    sotto_party_entry *list = sotto_reading_take(r, json_object_size(r->root), sizeof *list);
    const char *name;
    json_t *json;

    if (!list)
        return;
    out->entries = list;
    json_object_foreach(r->root, name, json)
    {
        sotto_place at = {NULL, name, 0};

        list[out->count].name = sotto_reading_copy(r, name);
        read_party(r, &list[out->count++], json, &at);
    }
}

sotto_status sotto_parties_read(const sotto_parties **out, sotto_bytes json, sotto_arena *arena,
                                sotto_mistakes *mistakes, sotto_err *err)
{
    sotto_err_clear(err);

    sotto_reading r;
    sotto_status status = sotto_reading_open(&r, "parties", json, arena, mistakes, err);
    sotto_parties *parties = NULL;

    if (status != SOTTO_OK)
        goto done;
    parties = sotto_reading_take(&r, 1, sizeof *parties);
    if (parties && mistakes->errors == 0)
        read_all(&r, parties);
    status = sotto_reading_finish(&r, err);
done:
    sotto_reading_close(&r);
    *out = status == SOTTO_OK ? parties : NULL;
    return status;
}

const sotto_party_entry *sotto_parties_find(const sotto_parties *parties, const char *name)
{
    for (size_t i = 0; i < parties->count; i++)
        if (strcmp(parties->entries[i].name, name) == 0)
            return &parties->entries[i];
    return NULL;
}

bool sotto_party_key_used(const sotto_party_key *key, int64_t first, int64_t last)
{
    return key->from <= last && key->until > first;
}

/* Nothing else chooses a key. With two rules, an operator could check one key while devices seal to another. */
const sotto_party_key *sotto_party_key_at(const sotto_party_entry *party, int64_t time)
{
    const sotto_party_key *newest = NULL;

    for (size_t i = 0; i < party->key_count; i++) {
        const sotto_party_key *key = &party->keys[i];
        sotto_hpke_config config;

        if (SOTTO_RULE(keys_in_use) && !sotto_party_key_used(key, time, time))
            continue;
        if (SOTTO_RULE(newest_key) && newest && key->from <= newest->from)
            continue;
        if (sotto_hpke_config_decode(&config, key->config, NULL) == SOTTO_OK && config.supported)
            newest = key;
    }
    return newest;
}

int64_t sotto_party_known_until(const sotto_party_entry *party)
{
    int64_t known = 0;

    for (size_t i = 0; i < party->key_count; i++)
        if (party->keys[i].next > known)
            known = party->keys[i].next;
    return known;
}

/* ---- a digest of keys --------------------------------------------------------------------------------- */

static void hash_uint(sotto_hash *hash, uint64_t value)
{
    uint8_t bytes[8];

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(value >> (56 - 8 * i));
    sotto_hash_update(hash, sotto_bytes_of(bytes, sizeof bytes));
}

static void hash_opaque(sotto_hash *hash, sotto_bytes bytes)
{
    hash_uint(hash, bytes.len);
    sotto_hash_update(hash, bytes);
}

/* By from, until and the config's bytes, so that the order of listing changes nothing. Public values. */
static int compare_keys(const sotto_party_key *a, const sotto_party_key *b)
{
    size_t common = a->config.len < b->config.len ? a->config.len : b->config.len;
    int bytes;

    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->until != b->until)
        return a->until < b->until ? -1 : 1;
    bytes = memcmp(a->config.data, b->config.data, common);
    if (bytes != 0 || a->config.len == b->config.len)
        return bytes;
    return a->config.len < b->config.len ? -1 : 1;
}

/* The next key behind `last` that is in use within the span; a key that is listed twice counts once. A party has 16 at
 * most (recipe/schema_rows.h). */
static const sotto_party_key *next_key(const sotto_party_entry *party, const sotto_party_key *after,
                                       int64_t first, int64_t last)
{
    const sotto_party_key *next = NULL;

    for (size_t i = 0; i < party->key_count; i++) {
        const sotto_party_key *key = &party->keys[i];

        if (sotto_party_key_used(key, first, last) && (!after || compare_keys(key, after) > 0) &&
            (!next || compare_keys(key, next) < 0))
            next = key;
    }
    return next;
}

static void hash_party(sotto_hash *hash, const sotto_party_entry *party, int64_t first,
                       int64_t last)
{
    const sotto_party_key *key = NULL;

    hash_opaque(hash, sotto_bytes_of(party->name, strlen(party->name)));
    hash_opaque(hash, party->url);
    while ((key = next_key(party, key, first, last)) != NULL) {
        hash_opaque(hash, key->config); /* its length is never 0, which ends the list */
        hash_uint(hash, (uint64_t)key->from);
        hash_uint(hash, (uint64_t)key->until);
    }
    hash_uint(hash, 0);
}

void sotto_parties_digest(uint8_t out[SOTTO_PARTIES_DIGEST], const sotto_party_entry *leader,
                          const sotto_party_entry *helper, int64_t first, int64_t last)
{
    static const char tag[] = "sotto parties 1";
    sotto_hash hash;

    sotto_hash_init(&hash, SOTTO_SHA256);
    hash_opaque(&hash, sotto_bytes_of(tag, sizeof tag - 1));
    hash_party(&hash, leader, first, last);
    hash_party(&hash, helper, first, last);
    sotto_hash_final(&hash, out);
}
