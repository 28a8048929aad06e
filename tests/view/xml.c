#include "xml.h"

#include "view/text.h"

#include <string.h>

enum { DEEPEST = 16, NAME = 32 };

typedef struct parse {
    sotto_test *t;
    const char *at, *end;
    char open[DEEPEST][NAME];
    size_t depth, elements;
} parse;

static size_t name_at(const parse *p)
{
    size_t len = 0;

    while (p->at + len < p->end &&
           strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-:", p->at[len]))
        len++;
    CHECK(p->t, len > 0 && len < NAME);
    return len;
}

static void skip(parse *p, const char *text)
{
    size_t len = strlen(text);

    CHECK(p->t, (size_t)(p->end - p->at) >= len && memcmp(p->at, text, len) == 0);
    p->at += len;
}

/* Text or an attribute's value, up to `stop`. */
static void read_text(parse *p, char stop)
{
    while (p->at < p->end && *p->at != stop) {
        CHECK(p->t, *p->at != '<');
        if (*p->at++ != '&')
            continue;
        skip(p, "#");
        CHECK(p->t, p->at < p->end && strspn(p->at, "0123456789") > 0);
        p->at += strspn(p->at, "0123456789");
        skip(p, ";");
    }
}

static void read_attributes(parse *p)
{
    char seen[DEEPEST * 2][NAME];
    size_t count = 0;

    while (p->at < p->end && *p->at == ' ') {
        p->at++;
        size_t len = name_at(p);

        CHECK(p->t, count < sizeof seen / sizeof seen[0]);
        memcpy(seen[count], p->at, len);
        seen[count][len] = 0;
        CHECK(p->t, strncmp(seen[count], "on", 2) != 0 && !strstr(seen[count], "href"));
        for (size_t i = 0; i < count; i++)
            CHECK(p->t, strcmp(seen[i], seen[count]) != 0);
        count++;
        p->at += len;
        skip(p, "=\"");
        read_text(p, '"');
        skip(p, "\"");
    }
}

static void read_tag(parse *p)
{
    skip(p, "<");
    if (*p->at == '/') {
        p->at++;
        size_t len = name_at(p);

        CHECK(p->t, p->depth > 0 && strlen(p->open[p->depth - 1]) == len &&
                        memcmp(p->open[p->depth - 1], p->at, len) == 0);
        p->depth--;
        p->at += len;
        skip(p, ">");
        return;
    }
    size_t len = name_at(p);
    CHECK(p->t, p->depth < DEEPEST && (p->depth > 0 || p->elements == 0));
    memcpy(p->open[p->depth], p->at, len);
    p->open[p->depth][len] = 0;
    CHECK(p->t, strcmp(p->open[p->depth], "script") != 0);
    p->at += len;
    p->elements++;
    read_attributes(p);
    if (p->at < p->end && *p->at == '/')
        skip(p, "/>");
    else {
        skip(p, ">");
        p->depth++;
    }
}

void sotto_test_svg(sotto_test *t, sotto_bytes text)
{
    parse p = {.t = t, .at = (const char *)text.data};

    p.end = p.at + text.len;
    for (size_t at = 0; at < text.len;) {
        size_t from = at;
        uint32_t c = sotto_character_next(text, &at);

        CHECK(t, c >= 0x20 || c == '\n');
        CHECK(t, c != 0xfffe && c != 0xffff && (c != SOTTO_CHARACTER_BAD || at - from == 3));
    }
    while (p.at < p.end) {
        if (*p.at == '<')
            read_tag(&p);
        else if (p.depth == 0) /* nothing stands beside the one element */
            skip(&p, "\n");
        else
            read_text(&p, '<');
    }
    CHECK(t, p.depth == 0 && p.elements > 0);
}

size_t sotto_test_count(sotto_bytes text, const char *wanted)
{
    size_t len = strlen(wanted), count = 0;

    for (size_t i = 0; i + len <= text.len; i++)
        count += memcmp(text.data + i, wanted, len) == 0;
    return count;
}
