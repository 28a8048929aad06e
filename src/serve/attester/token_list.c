#include "serve/attester/token_list.h"

#include "base/hex.h"

#include <jansson.h>

/* Times of a collection have twelve digits at most (issuer_service.c). */
static const int64_t LATEST = INT64_C(999999999999);

static bool read_key(sotto_attester_key *out, const json_t *object)
{
    const json_t *id = json_object_get(object, "id"), *closes = json_object_get(object, "closes");

    out->closes = json_integer_value(closes);
    return json_is_integer(closes) && out->closes >= 0 && out->closes <= LATEST &&
           json_is_string(id) &&
           sotto_hex_decode(out->id, sizeof out->id,
                            sotto_bytes_of(json_string_value(id), json_string_length(id)));
}

static sotto_status check(const json_t *keys, sotto_err *err)
{
    sotto_attester_key key;

    if (!json_is_array(keys))
        return sotto_fail(err, SOTTO_MALFORMED, "the issuer's list: no list of keys");
    for (size_t i = 0; i < json_array_size(keys); i++)
        if (!read_key(&key, json_array_get(keys, i)))
            return sotto_fail(err, SOTTO_MALFORMED, "the issuer's list: key %zu is invalid", i + 1);
    return SOTTO_OK;
}

sotto_status sotto_token_list_each(sotto_bytes text, sotto_token_list_fn *take, void *context,
                                   sotto_err *err)
{
    json_t *root = json_loadb((const char *)text.data, text.len, JSON_REJECT_DUPLICATES, NULL);
    const json_t *keys = json_object_get(root, "keys");
    sotto_attester_key key;
    sotto_status status = check(keys, err);

    for (size_t i = 0; status == SOTTO_OK && i < json_array_size(keys); i++)
        if (read_key(&key, json_array_get(keys, i)))
            status = take(context, &key, err);
    json_decref(root);
    return status;
}
