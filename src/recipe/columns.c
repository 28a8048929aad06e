#include "recipe/columns.h"

#include <string.h>
#include <strings.h>

typedef enum token_kind {
    TOKEN_END,
    TOKEN_WORD,   /* a name or a keyword                    */
    TOKEN_QUOTED, /* certainly a name; without its quotes */
    TOKEN_OTHER,
} token_kind;

typedef struct token {
    token_kind kind;
    const char *text;
    size_t len;
} token;

static const char *past(const char *at, const char *ending)
{
    const char *found = strstr(at, ending);

    return found ? found + strlen(ending) : at + strlen(at);
}

static const char *skip_blank(const char *at)
{
    for (;;) {
        at += strspn(at, " \t\n\f\r");
        if (strncmp(at, "--", 2) == 0)
            at = past(at, "\n");
        else if (strncmp(at, "/*", 2) == 0)
            at = past(at + 2, "*/");
        else
            return at;
    }
}

static bool in_word(char c, bool first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (unsigned char)c >= 0x80 || (!first && ((c >= '0' && c <= '9') || c == '$'));
}

/* A quote within quotes is written twice; a name with one is not reported. */
static token take_quoted(const char **at, char closing)
{
    const char *start = *at + 1, *end = strchr(start, closing);
    bool plain = true;

    while (end && closing != ']' && end[1] == closing) {
        plain = false;
        end = strchr(end + 2, closing);
    }
    *at = end ? end + 1 : start + strlen(start);
    if (!end || !plain || closing == '\'')
        return (token){TOKEN_OTHER, start, 0};
    return (token){TOKEN_QUOTED, start, (size_t)(end - start)};
}

static token take(const char **at)
{
    const char *start = skip_blank(*at), *end = start;

    *at = start;
    if (!*start)
        return (token){TOKEN_END, start, 0};
    if (strchr("\"`'", *start))
        return take_quoted(at, *start);
    if (*start == '[')
        return take_quoted(at, ']');
    while (in_word(*end, end == start))
        end++;
    *at = end == start ? start + 1 : end;
    return (token){end == start ? TOKEN_OTHER : TOKEN_WORD, start, (size_t)(*at - start)};
}

static bool is(const token *t, const char *word)
{
    return (t->kind == TOKEN_WORD || t->kind == TOKEN_OTHER) && t->len == strlen(word) &&
           strncasecmp(t->text, word, t->len) == 0;
}

static bool is_name(const token *t)
{
    return t->kind == TOKEN_WORD || t->kind == TOKEN_QUOTED;
}

sotto_columns sotto_columns_of(const char *query)
{
    const char *at = query;
    token first = take(&at);
    bool more = is(&first, "SELECT");
    const char *behind = at;
    token second = take(&behind);

    if (is(&second, "DISTINCT") || is(&second, "ALL"))
        at = behind;
    return (sotto_columns){at, more};
}

bool sotto_columns_next(sotto_columns *columns, sotto_bytes *name)
{
    token last[2] = {{TOKEN_END, "", 0}, {TOKEN_END, "", 0}}, t;
    size_t count = 0, depth = 0;
    bool path = true; /* so far a name, or names with dots between */

    *name = (sotto_bytes){0};
    if (!columns->more)
        return false;
    for (t = take(&columns->at); t.kind != TOKEN_END; t = take(&columns->at)) {
        if (depth == 0 && (is(&t, ",") || is(&t, "FROM") || is(&t, ";")))
            break;
        depth += is(&t, "(");
        depth -= depth > 0 && is(&t, ")");
        path = path && (count % 2 == 0 ? is_name(&t) : is(&t, "."));
        last[0] = last[1];
        last[1] = t;
        count++;
    }
    columns->more = is(&t, ",");
    bool named = depth == 0 && is_name(&last[1]) &&
                 ((path && count % 2 == 1) || (count > 2 && is(&last[0], "AS")));
    if (named)
        *name = sotto_bytes_of(last[1].text, last[1].len);
    return true;
}
