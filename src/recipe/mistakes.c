/* The list of mistakes, and the sentence that goes into it. */
#include "recipe/schema.h"

#include <stdio.h>
#include <string.h>

/* Keys and values come from strangers: nothing of them may move a cursor or break a UTF-8 reader. */
static void tame(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || (unsigned char)*text >= 0x7f)
            *text = '?';
}

void sotto_mistakes_add(sotto_mistakes *list, const sotto_mistake *mistake)
{
    list->errors += mistake->severity == SOTTO_MISTAKE;
    if (list->count == SOTTO_MAX_MISTAKES) {
        list->dropped++;
        return;
    }
    sotto_mistake *kept = &list->items[list->count++];

    *kept = *mistake;
    tame(kept->path);
    tame(kept->what);
    tame(kept->accepted);
}

/* The row of the whole file's object under which the place lies. */
static void mark_dirty(sotto_reading *r, const sotto_place *place)
{
    size_t count;
    const sotto_schema_key *rows = sotto_schema_rows(r->object, &count);

    while (place && place->up)
        place = place->up;
    for (size_t i = 0; place && place->key && i < count; i++)
        if (strcmp(rows[i].key, place->key) == 0)
            r->dirty |= (uint64_t)1 << i;
}

bool sotto_reading_clean(const sotto_reading *r, const char *key)
{
    size_t count;
    const sotto_schema_key *rows = sotto_schema_rows(r->object, &count);

    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].key, key) == 0)
            return !(r->dirty >> i & 1);
    return false;
}

/* The place itself; where that is missing, the object that lacks it. */
static void locate(const sotto_reading *r, const sotto_place *place, sotto_mistake *m)
{
    sotto_span span;

    for (;; place = place->up) {
        if (sotto_place_find(place, r->text, &span)) {
            sotto_place_position(r->text, span.key, &m->line, &m->column);
            return;
        }
        if (!place)
            return;
    }
}

void sotto_reading_mistake(sotto_reading *r, const sotto_place *place, const char *accepted,
                           const char *format, ...)
{
    sotto_mistake m = {.severity = SOTTO_MISTAKE};
    va_list args;

    mark_dirty(r, place);
    /* Finding a place costs a walk over the text: not for those that nobody will see. */
    if (r->mistakes->count < SOTTO_MAX_MISTAKES) {
        va_start(args, format);
        (void)vsnprintf(m.what, sizeof m.what, format, args);
        va_end(args);
        (void)snprintf(m.accepted, sizeof m.accepted, "%s", accepted);
        sotto_place_format(place, m.path, sizeof m.path);
        locate(r, place, &m);
    }
    sotto_mistakes_add(r->mistakes, &m);
}

sotto_status sotto_reading_finish(const sotto_reading *r, sotto_err *err)
{
    if (r->no_memory)
        return sotto_fail(err, SOTTO_NO_MEMORY, "%s: no memory to read it into", r->object);
    for (size_t i = 0; r->mistakes->errors > 0 && i < r->mistakes->count; i++) {
        const sotto_mistake *m = &r->mistakes->items[i];

        if (m->severity == SOTTO_MISTAKE)
            return sotto_fail(err, SOTTO_MALFORMED, "%s: line %u, column %u: %.50s%s%.70s",
                              r->object, m->line, m->column, m->path, *m->path ? ": " : "",
                              m->what);
    }
    if (r->mistakes->errors > 0)
        return sotto_fail(err, SOTTO_MALFORMED, "%s: more mistakes than are listed", r->object);
    return SOTTO_OK;
}

sotto_status sotto_mistakes_status(const sotto_mistakes *mistakes, sotto_err *err)
{
    if (mistakes->errors == 0)
        return SOTTO_OK;
    for (size_t i = 0; i < mistakes->count; i++)
        if (mistakes->items[i].severity == SOTTO_MISTAKE)
            return sotto_fail(err, SOTTO_DENIED, "%.60s: %.90s", mistakes->items[i].path,
                              mistakes->items[i].what);
    return sotto_fail(err, SOTTO_DENIED, "more mistakes than are listed");
}

void sotto_reading_warn(sotto_reading *at, const sotto_place *place, const char *what)
{
    sotto_mistake m = {.severity = SOTTO_WARNING};
    sotto_span span;

    sotto_place_format(place, m.path, sizeof m.path);
    if (sotto_place_find(place, at->text, &span))
        sotto_place_position(at->text, span.key, &m.line, &m.column);
    (void)snprintf(m.what, sizeof m.what, "%s", what);
    sotto_mistakes_add(at->mistakes, &m);
}
