/* Binary HTTP vectors (RFC 9292): `hex` is the message, the other keys what it says; one with a `mistake` is refused. */
#include "families.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "seal/ohttp/bhttp.h"

bool sotto_vectors_bhttp_knows(const json_t *item)
{
    return json_object_get(item, "framing") != NULL && json_object_get(item, "hex") != NULL;
}

/* A copy, since decoding moves chunks. */
static sotto_status decode(sotto_bhttp *out, sotto_bytes wire, sotto_arena *arena, sotto_err *err)
{
    sotto_buf copy;

    SOTTO_TRY(sotto_buf_take(&copy, arena, wire.len, err));
    if (wire.len > 0)
        memcpy(copy.data, wire.data, wire.len);
    return sotto_bhttp_decode(out, copy.data, wire.len, err);
}

static sotto_status compare_text(const json_t *item, const char *key, sotto_bytes got,
                                 sotto_err *err)
{
    const json_t *value = json_object_get(item, key);

    if (value == NULL)
        return SOTTO_OK;
    if (!json_is_string(value))
        return sotto_fail(err, SOTTO_MALFORMED, "%s: not a string", key);
    return sotto_vectors_compare(
        sotto_bytes_of(json_string_value(value), json_string_length(value)), got, key, err);
}

static sotto_status compare_fields(const json_t *item, const char *key, sotto_bytes got,
                                   sotto_err *err)
{
    const json_t *list = json_object_get(item, key);
    sotto_bytes name, value;
    size_t at = 0, i = 0;

    if (list == NULL)
        return SOTTO_OK;
    for (; sotto_bhttp_field_next(got, &at, &name, &value); i++) {
        const json_t *pair = json_array_get(list, i);
        const json_t *const of_pair[] = {json_array_get(pair, 0), json_array_get(pair, 1)};

        for (size_t p = 0; p < 2; p++) {
            if (!json_is_string(of_pair[p]))
                return sotto_fail(err, SOTTO_REJECTED, "%s: %zu: not in the file", key, i);
            SOTTO_TRY(sotto_vectors_compare(
                sotto_bytes_of(json_string_value(of_pair[p]), json_string_length(of_pair[p])),
                p == 0 ? name : value, key, err));
        }
    }
    return i == json_array_size(list)
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_REJECTED, "%s: %zu, not %zu", key, i, json_array_size(list));
}

static sotto_status compare(const json_t *item, const sotto_bhttp *m, sotto_err *err)
{
    const char *framing = json_string_value(json_object_get(item, "framing"));
    uint64_t status = m->status;

    if (framing != NULL && (strstr(framing, "response") != NULL) != m->response)
        return sotto_fail(err, SOTTO_REJECTED, "framing: the other kind");
    if (m->response)
        SOTTO_TRY(sotto_json_get_uint(&status, item, "status", err));
    if (status != m->status)
        return sotto_fail(err, SOTTO_REJECTED, "status: %u", m->status);
    SOTTO_TRY(compare_text(item, "method", m->method, err));
    SOTTO_TRY(compare_text(item, "scheme", m->scheme, err));
    SOTTO_TRY(compare_text(item, "authority", m->authority, err));
    SOTTO_TRY(compare_text(item, "path", m->path, err));
    SOTTO_TRY(compare_text(item, "content", m->content, err));
    SOTTO_TRY(compare_fields(item, "headers", m->fields, err));
    return compare_fields(item, "trailers", m->trailers, err);
}

/* Written again, with known length and without what is empty at its end, it says the same. */
static sotto_status check_again(const json_t *item, const sotto_bhttp *m, size_t len,
                                sotto_arena *arena, sotto_err *err)
{
    sotto_bhttp again;
    sotto_buf out;

    SOTTO_TRY(sotto_buf_take(&out, arena, 2 * len + 64, err));
    SOTTO_TRY(sotto_bhttp_encode(&out, m, 0, err));
    SOTTO_TRY(decode(&again, sotto_buf_bytes(&out), arena, err));
    return compare(item, &again, err);
}

/* The bytes that may be cut: all of them, and any that are zeros in a row with them. */
static sotto_status check_cuts(const json_t *item, sotto_bytes wire, sotto_arena *arena,
                               sotto_err *err)
{
    uint64_t most = 0;
    sotto_bhttp m;

    if (json_object_get(item, "truncatable_trailing_bytes") == NULL)
        return SOTTO_OK;
    SOTTO_TRY(sotto_json_get_uint(&most, item, "truncatable_trailing_bytes", err));
    if (most > wire.len)
        return sotto_fail(err, SOTTO_MALFORMED, "truncatable_trailing_bytes: more than there are");
    for (size_t cut = 1; cut <= most; cut++) {
        SOTTO_TRY(decode(&m, sotto_bytes_of(wire.data, wire.len - cut), arena, err));
        SOTTO_TRY(compare(item, &m, err));
    }
    return SOTTO_OK;
}

static sotto_status check(const json_t *item, sotto_arena *arena, sotto_err *err)
{
    sotto_bytes wire;
    sotto_bhttp m;

    SOTTO_TRY(sotto_json_get_hex(&wire, item, "hex", arena, err));
    if (json_object_get(item, "mistake") != NULL)
        return decode(&m, wire, arena, NULL) == SOTTO_MALFORMED
                   ? SOTTO_OK
                   : sotto_fail(err, SOTTO_REJECTED, "its mistake is not seen");
    SOTTO_TRY(decode(&m, wire, arena, err));
    SOTTO_TRY(compare(item, &m, err));
    SOTTO_TRY(check_again(item, &m, wire.len, arena, err));
    return check_cuts(item, wire, arena, err);
}

static void run_item(const sotto_vector_file *file, const json_t *item, const char *number)
{
    const char *id = json_string_value(json_object_get(item, "id"));
    char name[96];
    sotto_err err = {0};

    snprintf(name, sizeof name, "%s%s%.60s", number, id ? ": " : "", id ? id : "");
    sotto_vectors_tell(file, name, check(item, file->arena, &err), &err);
}

void sotto_vectors_bhttp(const sotto_vector_file *file)
{
    sotto_vectors_each(file, run_item);
}
