/* Parties into their plain form; every key configuration is decoded once, here. */
#include "recipe/model.h"
#include "recipe/schema.h"

#include "sotto/seal.h"

#include <string.h>

static void read_key(sotto_reading *r, sotto_party_key *out, json_t *json, const sotto_place *place)
{
    sotto_place config = {place, "config", 0}, until = {place, "until", 0};
    sotto_hpke_config decoded;
    sotto_err why = {0};

    out->config = sotto_reading_hex(r, json_object_get(json, "config"));
    if (!out->config.data)
        return;
    out->from = sotto_reading_time(json, "from");
    out->until = sotto_reading_time(json, "until");
    if (sotto_hpke_config_decode(&decoded, out->config, &why) != SOTTO_OK)
        sotto_reading_mistake(r, &config, "an HpkeConfig as DAP encodes it", "%s", why.reason);
    if (out->until <= out->from)
        sotto_reading_mistake(r, &until, "a time after from", "not after from");
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

const sotto_party_key *sotto_party_key_at(const sotto_party_entry *party, int64_t time)
{
    for (size_t i = 0; i < party->key_count; i++) {
        const sotto_party_key *key = &party->keys[i];
        sotto_hpke_config config;

        if (time >= key->from && time < key->until &&
            sotto_hpke_config_decode(&config, key->config, NULL) == SOTTO_OK && config.supported)
            return key;
    }
    return NULL;
}
