#include "json.h"

#include "base/arena.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { LONG_INTEGER_DIGITS = 19 };

/* ---- files ----------------------------------------------------------------------------------- */

static sotto_status read_stream(sotto_bytes *text, FILE *in, sotto_arena *arena, sotto_err *err)
{
    if (fseek(in, 0, SEEK_END) != 0)
        return sotto_fail(err, SOTTO_IO, "cannot seek");
    long size = ftell(in);
    if (size < 0 || fseek(in, 0, SEEK_SET) != 0)
        return sotto_fail(err, SOTTO_IO, "cannot seek");

    uint8_t *data = sotto_arena_take(arena, (size_t)size + 1);
    if (data == NULL)
        return sotto_fail(err, SOTTO_NO_MEMORY, "file too large: %ld bytes", size);
    if (fread(data, 1, (size_t)size, in) != (size_t)size)
        return sotto_fail(err, SOTTO_IO, "cannot read");
    *text = sotto_bytes_of(data, (size_t)size);
    return SOTTO_OK;
}

sotto_status sotto_json_read(sotto_bytes *text, const char *path, sotto_arena *arena,
                             sotto_err *err)
{
    FILE *in = fopen(path, "rb");

    if (in == NULL)
        return sotto_fail(err, SOTTO_IO, "cannot open: %s", strerror(errno));
    sotto_status status = read_stream(text, in, arena, err);
    fclose(in);
    return status;
}

/* ---- parsing --------------------------------------------------------------------------------- */

static size_t count_digits(sotto_bytes text, size_t at)
{
    size_t n = 0;

    while (at + n < text.len && text.data[at + n] >= '0' && text.data[at + n] <= '9')
        n++;
    return n;
}

static bool continues_a_number(sotto_bytes text, size_t at)
{
    uint8_t c = at < text.len ? text.data[at] : 0;

    return c == '.' || c == 'e' || c == 'E';
}

/* Copies a string with its quotes; returns where it ends. */
static size_t copy_string(sotto_buf *out, sotto_bytes text, size_t at)
{
    size_t start = at++;

    while (at < text.len && text.data[at] != '"')
        at += text.data[at] == '\\' ? 2 : 1;
    at = at < text.len ? at + 1 : text.len;
    memcpy(out->data + out->len, text.data + start, at - start);
    out->len += at - start;
    return at;
}

/* Copies a number, in quotes and marked if it is an integer that jansson could refuse. */
static size_t copy_number(sotto_buf *out, sotto_bytes text, size_t at)
{
    size_t sign = text.data[at] == '-' ? 1 : 0;
    size_t digits = count_digits(text, at + sign);
    size_t len = sign + digits;
    bool is_long = digits >= LONG_INTEGER_DIGITS && !continues_a_number(text, at + len);

    if (is_long) {
        out->data[out->len++] = '"';
        out->data[out->len++] = SOTTO_JSON_LONG_INTEGER_MARK;
    }
    memcpy(out->data + out->len, text.data + at, len);
    out->len += len;
    if (is_long)
        out->data[out->len++] = '"';
    return at + len;
}

/* The digits after a point or an exponent would look like an integer of their own. */
static size_t copy_fraction(sotto_buf *out, sotto_bytes text, size_t at)
{
    while (at < text.len && (continues_a_number(text, at) || text.data[at] == '+' ||
                             text.data[at] == '-' || count_digits(text, at) > 0))
        out->data[out->len++] = text.data[at++];
    return at;
}

static sotto_status quote_long_integers(sotto_bytes *out, sotto_bytes text, sotto_arena *arena,
                                        sotto_err *err)
{
    /* Three bytes more for at least 19 digits: a sixth is room enough. */
    size_t cap = text.len + text.len / 6 + 1;
    sotto_buf copy;

    SOTTO_TRY(sotto_buf_take(&copy, arena, cap, err));
    for (size_t at = 0; at < text.len;) {
        uint8_t c = text.data[at];
        if (c == '"') {
            at = copy_string(&copy, text, at);
        } else if (c == '-' || (c >= '0' && c <= '9')) {
            at = copy_number(&copy, text, at);
            if (continues_a_number(text, at))
                at = copy_fraction(&copy, text, at);
        } else {
            copy.data[copy.len++] = c;
            at++;
        }
    }
    *out = sotto_buf_bytes(&copy);
    return SOTTO_OK;
}

sotto_status sotto_json_parse(json_t **root, sotto_bytes text, sotto_arena *arena, sotto_err *err)
{
    sotto_bytes quoted = {0};
    json_error_t why;

    SOTTO_TRY(quote_long_integers(&quoted, text, arena, err));
    *root = json_loadb((const char *)quoted.data, quoted.len, JSON_REJECT_DUPLICATES, &why);
    if (*root == NULL)
        return sotto_fail(err, SOTTO_MALFORMED, "not JSON: line %d: %.80s", why.line, why.text);
    return SOTTO_OK;
}

/* ---- members --------------------------------------------------------------------------------- */

sotto_status sotto_json_get(json_t **out, const json_t *object, const char *key, sotto_err *err)
{
    if (!json_is_object(object))
        return sotto_fail(err, SOTTO_MALFORMED, "not an object where %s is wanted", key);
    *out = json_object_get(object, key);
    if (*out == NULL)
        return sotto_fail(err, SOTTO_MALFORMED, "%s: missing", key);
    return SOTTO_OK;
}

sotto_status sotto_json_get_array(json_t **out, const json_t *object, const char *key,
                                  sotto_err *err)
{
    SOTTO_TRY(sotto_json_get(out, object, key, err));
    if (!json_is_array(*out))
        return sotto_fail(err, SOTTO_MALFORMED, "%s: not an array", key);
    return SOTTO_OK;
}

sotto_status sotto_json_get_text(const char **out, const json_t *object, const char *key,
                                 sotto_err *err)
{
    json_t *value = NULL;

    SOTTO_TRY(sotto_json_get(&value, object, key, err));
    if (!json_is_string(value))
        return sotto_fail(err, SOTTO_MALFORMED, "%s: not a string", key);
    *out = json_string_value(value);
    return SOTTO_OK;
}

sotto_status sotto_json_get_hex(sotto_bytes *out, const json_t *object, const char *key,
                                sotto_arena *arena, sotto_err *err)
{
    json_t *value = NULL;

    SOTTO_TRY(sotto_json_get(&value, object, key, err));
    return sotto_json_hex(out, value, key, arena, err);
}

sotto_status sotto_json_get_uint(uint64_t *out, const json_t *object, const char *key,
                                 sotto_err *err)
{
    json_t *value = NULL;
    sotto_uint128 number = {0};

    SOTTO_TRY(sotto_json_get(&value, object, key, err));
    SOTTO_TRY(sotto_json_number(&number, value, key, err));
    if (number.high != 0)
        return sotto_fail(err, SOTTO_MALFORMED, "%s: more than 64 bits", key);
    *out = number.low;
    return SOTTO_OK;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* 16 for anything that is no hex digit. */
static unsigned hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (unsigned)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F')
        return (unsigned)(c - 'A') + 10;
    return 16;
}

sotto_status sotto_json_hex(sotto_bytes *out, const json_t *value, const char *key,
                            sotto_arena *arena, sotto_err *err)
{
    if (!json_is_string(value))
        return sotto_fail(err, SOTTO_MALFORMED, "%s: not a hex string", key);

    const char *text = json_string_value(value);
    size_t len = json_string_length(value);
    uint8_t *data = sotto_arena_take(arena, len / 2 + 1);
    if (data == NULL)
        return sotto_fail(err, SOTTO_NO_MEMORY, "%s: too long", key);
    if (len % 2 != 0)
        return sotto_fail(err, SOTTO_MALFORMED, "%s: odd number of hex digits", key);
    for (size_t i = 0; i < len; i += 2) {
        unsigned high = hex_digit(text[i]);
        unsigned low = hex_digit(text[i + 1]);
        if (high > 15 || low > 15)
            return sotto_fail(err, SOTTO_MALFORMED, "%s: not hex at digit %zu", key, i);
        data[i / 2] = (uint8_t)(high << 4 | low);
    }
    *out = sotto_bytes_of(data, len / 2);
    return SOTTO_OK;
}

/* value = value * 10 + digit, in 32-bit pieces so that no 128-bit type is needed; false on overflow. */
static bool push_digit(uint32_t piece[4], unsigned digit)
{
    uint64_t carry = digit;

    for (size_t i = 0; i < 4; i++) {
        carry += (uint64_t)piece[i] * 10;
        piece[i] = (uint32_t)carry;
        carry >>= 32;
    }
    return carry == 0;
}

static sotto_status parse_digits(sotto_uint128 *out, const char *text, const char *key,
                                 sotto_err *err)
{
    uint32_t piece[4] = {0};

    if (text[0] == '-' && text[1] != 0)
        return sotto_fail(err, SOTTO_DENIED, "%s: negative", key);
    if (text[0] == 0)
        return sotto_fail(err, SOTTO_MALFORMED, "%s: not an integer", key);
    for (; *text != 0; text++) {
        if (*text < '0' || *text > '9')
            return sotto_fail(err, SOTTO_MALFORMED, "%s: not an integer", key);
        if (!push_digit(piece, (unsigned)(*text - '0')))
            return sotto_fail(err, SOTTO_DENIED, "%s: more than 128 bits", key);
    }
    out->low = (uint64_t)piece[1] << 32 | piece[0];
    out->high = (uint64_t)piece[3] << 32 | piece[2];
    return SOTTO_OK;
}

static bool is_long_integer(const json_t *value)
{
    return json_is_string(value) && json_string_value(value)[0] == SOTTO_JSON_LONG_INTEGER_MARK;
}

sotto_status sotto_json_number(sotto_uint128 *out, const json_t *value, const char *key,
                               sotto_err *err)
{
    if (is_long_integer(value))
        return parse_digits(out, json_string_value(value) + 1, key, err);
    if (!json_is_integer(value))
        return sotto_fail(err, SOTTO_MALFORMED, "%s: not an integer", key);
    if (json_integer_value(value) < 0)
        return sotto_fail(err, SOTTO_DENIED, "%s: negative", key);
    *out = (sotto_uint128){.low = (uint64_t)json_integer_value(value)};
    return SOTTO_OK;
}

sotto_status sotto_json_decimal(sotto_uint128 *out, const json_t *value, const char *key,
                                sotto_err *err)
{
    if (!json_is_string(value))
        return sotto_fail(err, SOTTO_MALFORMED, "%s: not a string of digits", key);
    return parse_digits(out, json_string_value(value), key, err);
}
