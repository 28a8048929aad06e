#include "recipe/table.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { SIXTY_YEARS = 2000000000, MOST_ROWS = 1000000 };

static bool is_of_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Behind a column, up to what it is compared with. */
static const char *skip_comparison(const char *at)
{
    static const char *const words[] = {"is", "not", "in", "like", "glob", "between"};

    for (bool more = true; more;) {
        at += strspn(at, " \t\r\n\"=<>!(");
        more = false;
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
            const size_t len = strlen(words[i]);

            if (strncasecmp(at, words[i], len) == 0 && !is_of_name(at[len])) {
                at += len;
                more = true;
            }
        }
    }
    return at;
}

/* Whether the query compares the column with a text: `version = '1.10'` is not meant for numbers, of which 1.1 would be the same. */
static bool is_compared_with_text(const char *query, const char *field)
{
    const size_t len = strlen(field);

    for (const char *at = query; *at; at++) {
        const char *before = at;

        if (strncasecmp(at, field, len) != 0 || is_of_name(at[len]) ||
            (at > query && is_of_name(at[-1])))
            continue;
        if (*skip_comparison(at + len) == '\'')
            return true;
        while (before > query && strchr(" \t\r\n\"=<>!", before[-1]))
            before--;
        if (before > query && before < at && before[-1] == '\'' &&
            memchr(before, '=', (size_t)(at - before)))
            return true;
    }
    return false;
}

/* Whether the query adds the column up, as in `avg(ms)` or `sum(DISTINCT ms)`: SQLite takes a text there for 0. */
static bool is_added_up(const char *query, const char *field)
{
    static const char *const functions[] = {"avg", "sum", "total"};
    const size_t len = strlen(field);

    for (const char *at = query; *at; at++)
        for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
            const size_t name = strlen(functions[i]);
            const char *inner = at + name;

            if (strncasecmp(at, functions[i], name) != 0 || (at > query && is_of_name(at[-1])))
                continue;
            inner += strspn(inner, " \t\r\n");
            if (*inner != '(')
                continue;
            inner += strspn(inner, " \t\r\n\"(");
            if (strncasecmp(inner, "distinct", 8) == 0 && !is_of_name(inner[8]))
                inner += 8 + strspn(inner + 8, " \t\r\n\"(");
            if (strncasecmp(inner, field, len) == 0 && !is_of_name(inner[len]))
                return true;
        }
    return false;
}

/* Whether the column has to be of numbers: the query adds it up, or an encoder of numbers takes it. */
static bool is_for_numbers(const sotto_recipe *recipe, const char *field)
{
    const sotto_encoding *e = &recipe->encoding;

    for (size_t i = 0; i < e->count; i++) {
        const sotto_encoder_type type = e->encoders[i].type;

        if (strcmp(e->encoders[i].column, field) == 0 &&
            (type == SOTTO_ENCODER_BUCKETS || type == SOTTO_ENCODER_INTEGER ||
             type == SOTTO_ENCODER_REAL))
            return true;
    }
    return is_added_up(recipe->query, field);
}

static sotto_type type_of(const sotto_recipe *recipe, const char *stream, const char *field,
                          const sotto_streams *streams)
{
    const sotto_encoding *e = &recipe->encoding;

    for (size_t i = 0; streams && i < streams->count; i++)
        for (size_t j = 0; j < streams->items[i].field_count; j++)
            if (strcmp(streams->items[i].name, stream) == 0 &&
                strcmp(streams->items[i].fields[j].name, field) == 0)
                return streams->items[i].fields[j].type;
    for (size_t i = 0; i < e->count; i++) {
        const sotto_encoder_type type = e->encoders[i].type;

        if (strcmp(e->encoders[i].column, field) != 0)
            continue;
        if (type == SOTTO_ENCODER_CATEGORIES || type == SOTTO_ENCODER_PREFIX_TREE)
            return SOTTO_TYPE_TEXT;
        if (type == SOTTO_ENCODER_BOOLEAN)
            return SOTTO_TYPE_BOOLEAN;
    }
    return is_compared_with_text(recipe->query, field) ? SOTTO_TYPE_TEXT : SOTTO_TYPE_NULL;
}

static const char *copy(const char *text, size_t len, sotto_arena *arena)
{
    char *out = sotto_arena_take(arena, len + 1);

    if (out)
        memcpy(out, text, len);
    return out;
}

/* "stream.field" of one thing that the query reads. */
static sotto_status add(sotto_recipe_table *t, const sotto_recipe *recipe, const char *read,
                        const sotto_streams *streams, sotto_arena *arena, sotto_err *err)
{
    const char *dot = strchr(read, '.');
    const size_t len = dot ? (size_t)(dot - read) : 0;
    sotto_field *field = &t->fields[t->stream.field_count];

    if (len == 0 || t->stream.field_count == SOTTO_STORE_MAX_FIELDS)
        return sotto_fail(err, SOTTO_BUG, "the query reads '%.60s'", read);
    if (t->stream.name &&
        (strlen(t->stream.name) != len || strncmp(t->stream.name, read, len) != 0))
        return sotto_fail(err, SOTTO_DENIED,
                          "the query reads streams %.40s and %.*s; a file of rows is one stream",
                          t->stream.name, (int)len, read);
    if (!t->stream.name)
        t->stream.name = copy(read, len, arena);
    if (!t->stream.name)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a table");
    if (strcmp(dot + 1, "*") == 0 || strcmp(dot + 1, SOTTO_STORE_TIME) == 0)
        return SOTTO_OK;
    field->name = copy(dot + 1, strlen(dot + 1), arena);
    if (!field->name)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a table");
    field->type = type_of(recipe, t->stream.name, field->name, streams);
    t->numbers[t->stream.field_count++] = is_for_numbers(recipe, field->name);
    return SOTTO_OK;
}

sotto_status sotto_recipe_table_of(sotto_recipe_table *out, const sotto_recipe *recipe,
                                   const sotto_recipe_verdict *verdict,
                                   const sotto_streams *streams, sotto_arena *arena, sotto_err *err)
{
    *out = (sotto_recipe_table){0};
    if (verdict->query_open)
        return sotto_fail(err, SOTTO_DENIED,
                          "what the query reads can't be told without a file of streams");
    for (size_t i = 0; i < verdict->read_count; i++)
        SOTTO_TRY(add(out, recipe, verdict->reads[i], streams, arena, err));
    if (!out->stream.name)
        return sotto_fail(err, SOTTO_DENIED, "the query reads no stream");
    out->unread = out->stream.field_count == 0;
    if (out->unread)
        out->fields[out->stream.field_count++] = (sotto_field){"unread", SOTTO_TYPE_INTEGER};
    out->stream.fields = out->fields;
    out->stream.max_age = SIXTY_YEARS;
    out->stream.max_rows = MOST_ROWS;
    for (size_t i = 0; i < recipe->cohort_count; i++)
        out->described[out->described_count++] = recipe->cohorts[i].field;
    for (size_t i = 0; i < recipe->targeting_count; i++)
        out->described[out->described_count++] = recipe->targeting[i].field;
    return SOTTO_OK;
}
