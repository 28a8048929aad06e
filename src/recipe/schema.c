/* Holds a parsed file against the table: every mistake, each with its place and what would be accepted. */
#include "recipe/schema.h"

#include "account/trust.h"
#include "recipe/calendar.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_KEY = 256, MAX_ITEM_TEXT = 256, MAX_QUERY = 16384 };

const sotto_schema_key *sotto_schema_rows(const char *object, size_t *count)
{
    size_t number = 0, first = 0, end;

    while (number < sotto_schema_object_count && strcmp(sotto_schema_objects[number], object) != 0)
        number++;
    while (first < sotto_schema_count && sotto_schema[first].object != number)
        first++;
    for (end = first; end < sotto_schema_count; end++)
        if (sotto_schema[end].object != number)
            break;
    *count = end - first;
    return &sotto_schema[first < sotto_schema_count ? first : 0];
}

/* ---- what would be accepted ------------------------------------------------------------------------- */

static void list_words(const char *words, char *out, size_t cap)
{
    size_t len = (size_t)snprintf(out, cap, "one of: ");

    for (; *words && len + 3 < cap; words++) {
        if (*words == '|')
            out[len++] = ',';
        out[len++] = *words == '|' ? ' ' : *words;
    }
    out[len] = 0;
}

/* The key that tells which variant it is; *base bytes of `of` name the object. */
static const char *variant_key(const char *of, size_t *base)
{
    *base = strcspn(of, "@");
    return of[*base] ? of + *base + 1 : "type";
}

/* The variants of an object: those whose names start with it. */
static void list_variants(const char *of, char *out, size_t cap)
{
    size_t base;
    const char *key = variant_key(of, &base);
    size_t len = (size_t)snprintf(out, cap, "an object whose \"%s\" is one of:", key);

    for (size_t i = 0; i < sotto_schema_object_count; i++) {
        const char *name = sotto_schema_objects[i];

        if (strncmp(name, of, base) == 0 && name[base] == '.' && len < cap)
            len += (size_t)snprintf(out + len, cap - len, " %s", name + base + 1);
    }
}

static const char *plural(sotto_schema_type item)
{
    switch (item) {
    case SOTTO_SCHEMA_NUMBER:
        return "numbers";
    case SOTTO_SCHEMA_OBJECT:
        return "objects";
    case SOTTO_SCHEMA_CHOICE:
        return "words";
    default:
        return "texts";
    }
}

void sotto_schema_accepts(const sotto_schema_key *row, char *out, size_t cap)
{
    switch ((sotto_schema_type)row->type) {
    case SOTTO_SCHEMA_TEXT:
        (void)snprintf(out, cap, "a text of %.0f to %.0f bytes", row->least, row->most);
        return;
    case SOTTO_SCHEMA_QUERY:
        (void)snprintf(out, cap, "a text of 1 to %d bytes", (int)MAX_QUERY);
        return;
    case SOTTO_SCHEMA_NAME:
        (void)snprintf(out, cap, "1 to %.0f of the characters A-Z a-z 0-9 . _ : -", row->most);
        return;
    case SOTTO_SCHEMA_CHOICE:
        list_words(row->of, out, cap);
        return;
    case SOTTO_SCHEMA_FLAG:
        (void)snprintf(out, cap, "true or false");
        return;
    case SOTTO_SCHEMA_WHOLE:
        (void)snprintf(out, cap, "a whole number from %.0f to %.0f%s%s%s", row->least, row->most,
                       row->of ? ", or \"" : "", row->of ? row->of : "", row->of ? "\"" : "");
        return;
    case SOTTO_SCHEMA_NUMBER:
        (void)snprintf(out, cap, "a number from %g to %g", row->least, row->most);
        return;
    case SOTTO_SCHEMA_DECIMAL:
        (void)snprintf(out, cap, "a number from %g to %g with at most 12 decimals%s%s%s",
                       row->least, row->most, row->of ? ", or \"" : "", row->of ? row->of : "",
                       row->of ? "\"" : "");
        return;
    case SOTTO_SCHEMA_TIME:
        (void)snprintf(out, cap, "a time like \"2026-11-20T00:00:00Z\"");
        return;
    case SOTTO_SCHEMA_DURATION:
        (void)snprintf(out, cap, "a duration like \"30s\", \"10m\", \"1h\" or \"7d\"");
        return;
    case SOTTO_SCHEMA_HEX:
        (void)snprintf(out, cap, "%.0f to %.0f bytes in hexadecimal", row->least, row->most);
        return;
    case SOTTO_SCHEMA_OBJECT:
        (void)snprintf(out, cap, "an object");
        return;
    case SOTTO_SCHEMA_VARIANT:
        list_variants(row->of, out, cap);
        return;
    case SOTTO_SCHEMA_LIST:
        (void)snprintf(out, cap, "a list of %.0f to %.0f %s", row->least, row->most,
                       plural((sotto_schema_type)row->item));
        return;
    case SOTTO_SCHEMA_LATER:
        (void)snprintf(out, cap, "only in a learning recipe");
        return;
    }
}

static void wrong(sotto_reading *r, const sotto_schema_key *row, const sotto_place *place,
                  const char *what)
{
    char accepted[200] = "";

    sotto_schema_accepts(row, accepted, sizeof accepted);
    sotto_reading_mistake(r, place, accepted, "%s", what);
}

/* ---- values ----------------------------------------------------------------------------------------- */

static bool is_name(const char *text)
{
    for (; *text; text++)
        if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-", *text))
            return false;
    return true;
}

static bool is_word_of(const char *words, const char *text)
{
    size_t len = strlen(text);

    while (words) {
        const char *bar = strchr(words, '|');

        if ((bar ? (size_t)(bar - words) : strlen(words)) == len && strncmp(words, text, len) == 0)
            return true;
        words = bar ? bar + 1 : NULL;
    }
    return false;
}

static bool is_hex(const char *text)
{
    return strspn(text, "0123456789abcdefABCDEF") == strlen(text) && strlen(text) % 2 == 0;
}

static void check_text(sotto_reading *r, const sotto_schema_key *row, sotto_schema_type type,
                       const json_t *value, const sotto_place *place)
{
    const char *text = json_string_value(value);
    double least = type == row->type ? row->least : 1;
    double most = type == row->type ? row->most : MAX_ITEM_TEXT;
    double len;
    int64_t time;
    uint64_t duration;

    if (!text) {
        wrong(r, row, place, "not a text");
        return;
    }
    len = (double)json_string_length(value) / (type == SOTTO_SCHEMA_HEX ? 2 : 1);
    if (type == SOTTO_SCHEMA_QUERY) {
        least = 1;
        most = MAX_QUERY;
    }
    if (type == SOTTO_SCHEMA_CHOICE) {
        if (row->of ? !is_word_of(row->of, text) : !sotto_trust_named(text))
            wrong(r, row, place, "not one of the words known here");
    } else if (type == SOTTO_SCHEMA_TIME) {
        if (!sotto_calendar_parse_time(&time, text))
            wrong(r, row, place, "not a time");
    } else if (type == SOTTO_SCHEMA_DURATION) {
        if (!sotto_calendar_parse_duration(&duration, text))
            wrong(r, row, place, "not a duration");
    } else if (len < least || len > most) {
        wrong(r, row, place, len < least ? "too short" : "too long");
    } else if (type == SOTTO_SCHEMA_NAME && !is_name(text)) {
        wrong(r, row, place, "a character that names don't have");
    } else if (type == SOTTO_SCHEMA_HEX && !is_hex(text)) {
        wrong(r, row, place, "not hexadecimal");
    }
}

static void check_number(sotto_reading *r, const sotto_schema_key *row, sotto_schema_type type,
                         const json_t *value, const sotto_place *place)
{
    double number = json_number_value(value);
    bool ranged = type == row->type;

    if (!json_is_number(value))
        wrong(r, row, place, "not a number");
    else if (type == SOTTO_SCHEMA_WHOLE && !json_is_integer(value))
        wrong(r, row, place, "not a whole number");
    else if (ranged && number < row->least)
        wrong(r, row, place, number < 0 && row->least >= 0 ? "negative" : "too small");
    else if (ranged && number > row->most)
        wrong(r, row, place, "too large");
}

/* In the place of a number. */
static bool is_its_word(const sotto_schema_key *row, const json_t *value)
{
    return row->of && json_is_string(value) && strcmp(json_string_value(value), row->of) == 0;
}

static void check_decimal(sotto_reading *r, const sotto_schema_key *row, const json_t *value,
                          const sotto_place *place)
{
    sotto_span span;
    sotto_decimal decimal;
    size_t before = r->mistakes->errors;

    if (is_its_word(row, value))
        return;
    check_number(r, row, (sotto_schema_type)row->type, value, place);
    if (r->mistakes->errors != before || !sotto_place_find(place, r->text, &span))
        return;
    if (sotto_decimal_parse(&decimal,
                            sotto_bytes_of(r->text.data + span.value, span.end - span.value),
                            SOTTO_DECIMAL_EXACT, NULL) != SOTTO_OK)
        wrong(r, row, place, "more digits than a budget is counted in");
}

/* told_by: the key that told which variant this is; NULL: it is not a variant. */
static void check_object(sotto_reading *r, const char *object, const char *told_by, json_t *value,
                         const sotto_place *place);

static void check_variant(sotto_reading *r, const sotto_schema_key *row, json_t *value,
                          const sotto_place *place)
{
    char object[64], what[64];
    size_t base, count = 0;
    const char *key = variant_key(row->of, &base);
    const char *type = json_string_value(json_object_get(value, key));
    sotto_place at = {place, key, 0};

    if (type && strcmp(key, "trust") == 0) /* ways to add up may have the same keys */
        type = sotto_trust_model_of(sotto_trust_named(type))->keys;
    if (type && strlen(type) < 32) {
        (void)snprintf(object, sizeof object, "%.*s.%s", (int)base, row->of, type);
        (void)sotto_schema_rows(object, &count);
    }
    (void)snprintf(what, sizeof what, type ? "a %s not known here" : "has no \"%s\"", key);
    if (count == 0)
        wrong(r, row, type ? &at : place, what);
    else
        check_object(r, object, key, value, place);
}

static void check_value(sotto_reading *r, const sotto_schema_key *row, sotto_schema_type type,
                        json_t *value, const sotto_place *place);

static void check_list(sotto_reading *r, const sotto_schema_key *row, json_t *value,
                       const sotto_place *place)
{
    size_t size = json_array_size(value);

    if (!json_is_array(value)) {
        wrong(r, row, place, "not a list");
        return;
    }
    if ((double)size < row->least || (double)size > row->most)
        wrong(r, row, place, (double)size < row->least ? "too few items" : "too many items");
    for (size_t i = 0; i < size; i++) {
        sotto_place at = {place, NULL, i};

        check_value(r, row, (sotto_schema_type)row->item, json_array_get(value, i), &at);
    }
}

static void check_value(sotto_reading *r, const sotto_schema_key *row, sotto_schema_type type,
                        json_t *value, const sotto_place *place)
{
    switch (type) {
    case SOTTO_SCHEMA_FLAG:
        if (!json_is_boolean(value))
            wrong(r, row, place, "neither true nor false");
        return;
    case SOTTO_SCHEMA_WHOLE:
    case SOTTO_SCHEMA_NUMBER:
        if (type != row->type || !is_its_word(row, value))
            check_number(r, row, type, value, place);
        return;
    case SOTTO_SCHEMA_DECIMAL:
        check_decimal(r, row, value, place);
        return;
    case SOTTO_SCHEMA_OBJECT:
    case SOTTO_SCHEMA_VARIANT:
        if (!json_is_object(value))
            wrong(r, row, place, "not an object");
        else if (type == SOTTO_SCHEMA_OBJECT)
            check_object(r, row->of, NULL, value, place);
        else
            check_variant(r, row, value, place);
        return;
    case SOTTO_SCHEMA_LIST:
        check_list(r, row, value, place);
        return;
    default:
        check_text(r, row, type, value, place);
    }
}

/* ---- objects ---------------------------------------------------------------------------------------- */

static void unknown_key(sotto_reading *r, const sotto_schema_key *rows, size_t count,
                        const sotto_place *place)
{
    char accepted[200];
    size_t len = (size_t)snprintf(accepted, sizeof accepted, "one of:");

    for (size_t i = 0; i < count && len < sizeof accepted; i++)
        if (*rows[i].key)
            len += (size_t)snprintf(accepted + len, sizeof accepted - len, " %s", rows[i].key);
    sotto_reading_mistake(r, place, len > 7 ? accepted : "no key here", "unknown key \"%.60s\"",
                          place->key);
}

/* The number of the row stands in for what the key is for, so that devices need no such texts (schema_help.c). */
static void missing(sotto_reading *r, const sotto_schema_key *row, const sotto_place *place)
{
    size_t before = r->mistakes->count;

    wrong(r, row, place, "missing");
    if (r->mistakes->count > before)
        r->mistakes->items[before].missing = (unsigned)(row - sotto_schema) + 1;
}

void sotto_reading_missing(sotto_reading *r, const char *key)
{
    const sotto_place at = {NULL, key, 0};
    size_t count;
    const sotto_schema_key *rows = sotto_schema_rows(r->object, &count);

    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].key, key) == 0)
            missing(r, &rows[i], &at);
}

/* An absent key with a default gets it, so that readers needn't know; one without a default is missed. */
static void fill_absent(sotto_reading *r, const sotto_schema_key *row, json_t *object,
                        const sotto_place *place)
{
    sotto_place at = {place, row->key, 0};

    if (row->fallback && !*row->fallback)
        return;
    if (!row->fallback)
        missing(r, row, &at);
    else if (json_object_set_new(object, row->key,
                                 json_loads(row->fallback, JSON_DECODE_ANY, NULL)))
        r->no_memory = true;
}

static void check_object(sotto_reading *r, const char *object, const char *told_by, json_t *value,
                         const sotto_place *place)
{
    size_t count;
    const sotto_schema_key *rows = sotto_schema_rows(object, &count);
    const char *key;
    json_t *item;

    json_object_foreach(value, key, item)
    {
        sotto_place at = {place, key, 0};
        const sotto_schema_key *row = NULL;

        for (size_t i = 0; i < count && !row; i++)
            if (strcmp(rows[i].key, key) == 0 || strcmp(rows[i].key, "*") == 0)
                row = &rows[i];
        if (told_by && strcmp(key, told_by) == 0)
            continue;
        if (!row)
            unknown_key(r, rows, count, &at);
        else if (strlen(key) > MAX_KEY || !*key)
            sotto_reading_mistake(r, &at, "1 to 256 bytes", "a key of %zu bytes", strlen(key));
        else
            check_value(r, row, (sotto_schema_type)row->type, item, &at);
    }
    for (size_t i = 0; i < count; i++)
        if (*rows[i].key && strcmp(rows[i].key, "*") != 0 && !json_object_get(value, rows[i].key))
            fill_absent(r, &rows[i], value, place);
}

static bool refused_for_later(sotto_reading *r, const char *object)
{
    size_t count;
    const sotto_schema_key *rows = sotto_schema_rows(object, &count);

    for (size_t i = 0; i < count; i++) {
        sotto_place at = {NULL, rows[i].key, 0};

        if (rows[i].type != SOTTO_SCHEMA_LATER || !json_object_get(r->root, rows[i].key))
            continue;
        sotto_reading_mistake(r, &at, "a recipe without this key", "not yet: %s", rows[i].of);
        return true;
    }
    return false;
}

/* ---- files ------------------------------------------------------------------------------------------ */

static void syntax_mistake(sotto_reading *r, const json_error_t *error)
{
    sotto_mistake m = {.severity = SOTTO_MISTAKE};

    (void)snprintf(m.what, sizeof m.what, "%s", r->text.len == 0 ? "it is empty" : error->text);
    m.line = error->line > 0 ? (unsigned)error->line : 1;
    m.column = error->column > 0 ? (unsigned)error->column : 1;
    sotto_mistakes_add(r->mistakes, &m);
}

static sotto_status check_size(const sotto_reading *r, sotto_err *err)
{
    size_t at = 0;
    unsigned line, column;

    if (r->text.len > SOTTO_RECIPE_MAX_BYTES)
        return sotto_fail(err, SOTTO_TOO_LARGE, "%s: %zu bytes, at most %d are read", r->object,
                          r->text.len, (int)SOTTO_RECIPE_MAX_BYTES);
    if (sotto_json_depth(r->text, SOTTO_RECIPE_MAX_DEPTH, &at) <= SOTTO_RECIPE_MAX_DEPTH)
        return SOTTO_OK;
    sotto_place_position(r->text, at, &line, &column);
    return sotto_fail(err, SOTTO_TOO_LARGE,
                      "%s: line %u, column %u: deeper than %d objects and lists", r->object, line,
                      column, (int)SOTTO_RECIPE_MAX_DEPTH);
}

sotto_status sotto_reading_open(sotto_reading *r, const char *object, sotto_bytes text,
                                sotto_arena *arena, sotto_mistakes *mistakes, sotto_err *err)
{
    json_error_t error;

    *r = (sotto_reading){.text = text, .object = object, .arena = arena, .mistakes = mistakes};
    SOTTO_TRY(check_size(r, err));
    r->root = json_loadb((const char *)text.data, text.len,
                         JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (!r->root) {
        syntax_mistake(r, &error);
        return sotto_reading_finish(r, err);
    }
    if (refused_for_later(r, object))
        return sotto_reading_finish(r, err);
    if (json_is_object(r->root))
        check_object(r, object, NULL, r->root, NULL);
    else
        sotto_reading_mistake(r, NULL, "an object", "not an object");
    if (!json_is_object(r->root))
        return sotto_reading_finish(r, err);
    return SOTTO_OK;
}

void sotto_reading_close(sotto_reading *r)
{
    json_decref(r->root);
    r->root = NULL;
}
