/* A walk over text that is known to be valid JSON, skipping all that is not on the path. */
#include "recipe/place.h"

#include "base/hex.h"

#include <stdio.h>
#include <string.h>

enum { MAX_STEPS = 32 };

typedef struct cursor {
    const uint8_t *text;
    size_t at, len;
} cursor;

static int peek(const cursor *c)
{
    return c->at < c->len ? c->text[c->at] : -1;
}

/* A recipe may have megabytes of it: no call for each character. */
static void skip_space(cursor *c)
{
    for (; c->at < c->len; c->at++) {
        const uint8_t own = c->text[c->at];

        if (own != ' ' && own != '\n' && own != '\t' && own != '\r')
            return;
    }
}

static void skip_string(cursor *c)
{
    for (c->at++; c->at < c->len && c->text[c->at] != '"'; c->at++)
        if (c->text[c->at] == '\\')
            c->at++;
    c->at++;
}

/* A value ends where its brackets close; a number or word where punctuation or space begins. */
static void skip_value(cursor *c)
{
    size_t depth = 0;

    do {
        int byte = peek(c);

        if (byte < 0)
            return;
        if (byte == '"') {
            skip_string(c);
        } else if (byte == '{' || byte == '[') {
            depth++;
            c->at++;
        } else if (byte == '}' || byte == ']') {
            depth--;
            c->at++;
        } else if (depth > 0) {
            c->at++;
        } else {
            while (c->at < c->len && !memchr(",:]} \t\r\n", c->text[c->at], 8))
                c->at++;
        }
    } while (depth > 0);
}

/* ---- keys, which may be written with escapes -------------------------------------------------------- */

static unsigned hex4(const uint8_t *digits)
{
    unsigned value = 0;

    for (int i = 0; i < 4; i++) /* digits they are: the text was parsed before */
        value = value << 4 | (unsigned)sotto_hex_digit_vartime(digits[i]);
    return value;
}

static size_t put_utf8(uint8_t *out, unsigned code)
{
    if (code < 0x80) {
        out[0] = (uint8_t)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (uint8_t)(0xc0 | code >> 6);
        out[1] = (uint8_t)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (uint8_t)(0xe0 | code >> 12);
        out[1] = (uint8_t)(0x80 | (code >> 6 & 0x3f));
        out[2] = (uint8_t)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (uint8_t)(0xf0 | code >> 18);
    out[1] = (uint8_t)(0x80 | (code >> 12 & 0x3f));
    out[2] = (uint8_t)(0x80 | (code >> 6 & 0x3f));
    out[3] = (uint8_t)(0x80 | (code & 0x3f));
    return 4;
}

/* One character of a string into UTF-8; *used is what it takes in the text. */
static size_t unescape(const uint8_t *text, size_t left, uint8_t out[4], size_t *used)
{
    static const char named[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    const char *found;

    *used = 1;
    out[0] = text[0];
    if (text[0] != '\\' || left < 2)
        return 1;
    *used = 2;
    found = memchr(named, text[1], sizeof named - 1);
    if (found) {
        out[0] = (uint8_t)bytes[found - named];
        return 1;
    }
    if (left < 6)
        return 1;
    unsigned code = hex4(text + 2);
    *used = 6;
    if (code >= 0xd800 && code < 0xdc00 && left >= 12) {
        code = 0x10000 + ((code - 0xd800) << 10) + (hex4(text + 8) - 0xdc00);
        *used = 12;
    }
    return put_utf8(out, code);
}

/* Whether the string from `from` (behind its quote) up to `to` is the key. */
static bool spells(const cursor *c, size_t from, size_t to, const char *key)
{
    while (from < to) {
        uint8_t bytes[4];
        size_t used, len = unescape(c->text + from, to - from, bytes, &used);

        for (size_t i = 0; i < len; i++, key++)
            if ((uint8_t)*key != bytes[i] || !*key)
                return false;
        from += used;
    }
    return *key == 0;
}

/* ---- steps ------------------------------------------------------------------------------------------ */

static void skip_member(cursor *c)
{
    skip_value(c);
    skip_space(c);
    if (peek(c) == ',')
        c->at++;
}

static bool enter_key(cursor *c, const char *key, sotto_span *out)
{
    if (peek(c) != '{')
        return false;
    c->at++;
    for (skip_space(c); peek(c) == '"'; skip_space(c)) {
        size_t start = c->at;

        skip_string(c);
        bool found = spells(c, start + 1, c->at - 1, key);
        skip_space(c);
        c->at++; /* the colon */
        skip_space(c);
        if (found) {
            out->key = start;
            return true;
        }
        skip_member(c);
    }
    return false;
}

static bool enter_item(cursor *c, size_t index, sotto_span *out)
{
    if (peek(c) != '[')
        return false;
    c->at++;
    for (skip_space(c); peek(c) >= 0 && peek(c) != ']'; skip_space(c)) {
        if (index-- == 0) {
            out->key = c->at;
            return true;
        }
        skip_member(c);
    }
    return false;
}

bool sotto_place_find(const sotto_place *place, sotto_bytes json, sotto_span *out)
{
    const sotto_place *steps[MAX_STEPS];
    cursor c = {json.data, 0, json.len};
    size_t count = 0;

    for (; place; place = place->up) {
        if (count == MAX_STEPS)
            return false;
        steps[count++] = place;
    }
    skip_space(&c);
    out->key = c.at;
    while (count > 0) {
        const sotto_place *step = steps[--count];

        if (!(step->key ? enter_key(&c, step->key, out) : enter_item(&c, step->index, out)))
            return false;
    }
    out->value = c.at;
    skip_value(&c);
    out->end = c.at < c.len ? c.at : c.len;
    return true;
}

void sotto_place_position(sotto_bytes json, size_t offset, unsigned *line, unsigned *column)
{
    *line = *column = 1;
    for (size_t i = 0; i < offset && i < json.len; i++) {
        ++*column;
        if (json.data[i] == '\n') {
            ++*line;
            *column = 1;
        }
    }
}

/* ---- text ------------------------------------------------------------------------------------------- */

static bool is_plain(const char *key)
{
    for (const char *p = key; *p; p++)
        if (!(*p == '_' || *p == '-' || (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') ||
              (*p >= 'A' && *p <= 'Z')))
            return false;
    return *key != 0;
}

void sotto_place_format(const sotto_place *place, char *out, size_t cap)
{
    size_t len;

    if (!place) {
        out[0] = 0;
        return;
    }
    sotto_place_format(place->up, out, cap);
    len = strlen(out);
    if (!place->key)
        (void)snprintf(out + len, cap - len, "[%zu]", place->index);
    else if (is_plain(place->key))
        (void)snprintf(out + len, cap - len, "%s%s", len ? "." : "", place->key);
    else
        (void)snprintf(out + len, cap - len, "[\"%.60s\"]", place->key);
}

size_t sotto_json_depth(sotto_bytes json, size_t most, size_t *at)
{
    size_t depth = 0, deepest = 0;
    bool quoted = false;

    for (size_t i = 0; i < json.len; i++) {
        uint8_t byte = json.data[i];

        if (quoted) {
            i += byte == '\\';
            quoted = byte != '"';
        } else if (byte == '"') {
            quoted = true;
        } else if (byte == '{' || byte == '[') {
            if (++depth > deepest)
                deepest = depth;
            if (depth == most + 1) {
                *at = i;
                return depth;
            }
        } else if ((byte == '}' || byte == ']') && depth > 0) {
            depth--;
        }
    }
    return deepest;
}
