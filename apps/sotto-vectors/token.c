#include "token.h"

#include <stdio.h>

sotto_status sotto_token_get(const sotto_token_item *item, sotto_bytes *out, const char *key,
                             size_t len, sotto_err *err)
{
    SOTTO_TRY(sotto_json_get_hex(out, item->json, key, item->arena, err));
    if (len != 0 && out->len != len)
        return sotto_fail(err, SOTTO_MALFORMED, "%s: %zu bytes instead of %zu", key, out->len, len);
    return SOTTO_OK;
}

sotto_status sotto_token_compare(const sotto_token_item *item, const char *key, const void *got,
                                 size_t len, sotto_err *err)
{
    sotto_bytes wanted;

    SOTTO_TRY(sotto_token_get(item, &wanted, key, 0, err));
    return sotto_vectors_compare(wanted, sotto_bytes_of(got, len), key, err);
}

bool sotto_token_is_bad(const sotto_token_item *item)
{
    return json_is_false(json_object_get(item->json, "valid"));
}

void sotto_token_count(const sotto_vector_file *file, const json_t *json, const char *name,
                       sotto_token_check *check)
{
    const sotto_token_item item = {json, file->arena};
    sotto_err err = {0};
    sotto_status status = check(&item, &err);

    if (sotto_token_is_bad(&item)) {
        if (status == SOTTO_REJECTED || status == SOTTO_MALFORMED)
            sotto_tally_pass(file->tally, file->path, name);
        else
            sotto_tally_fail(file->tally, file->path, name, "not refused");
    } else
        sotto_vectors_tell(file, name, status, &err);
}
