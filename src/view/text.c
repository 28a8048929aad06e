#include "view/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_SAID = 4096 };

sotto_text sotto_text_on(sotto_view_write write, void *context, sotto_err *err)
{
    return (sotto_text){.write = write, .context = context, .err = err};
}

void sotto_text_put(sotto_text *t, sotto_bytes bytes)
{
    if (t->status == SOTTO_OK && bytes.len > 0)
        t->status = t->write(t->context, bytes, t->err);
}

void sotto_text_say(sotto_text *t, const char *format, ...)
{
    char text[LONGEST_SAID];
    va_list args;

    va_start(args, format);
    int len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (t->status == SOTTO_OK && (len < 0 || (size_t)len >= sizeof text))
        t->status = sotto_fail(t->err, SOTTO_TOO_LARGE, "a line to show is too long");
    else
        sotto_text_put(t, sotto_bytes_of(text, (size_t)len));
}

sotto_status sotto_text_finish(const sotto_text *t)
{
    return t->status;
}

/* ---- text of strangers --------------------------------------------------------------------------------- */

/* Also U+0080 to U+009f, which some terminals obey. */
static bool is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0);
}

/* The controls of the Unicode bidirectional algorithm, and separators of lines and paragraphs. */
bool sotto_text_turns(uint32_t c)
{
    return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069);
}

static size_t columns_of(uint32_t c, size_t bytes)
{
    return is_control(c) ? 4 * bytes : sotto_text_turns(c) ? 6 : 1;
}

/* The character at *at, which moves behind it; t: NULL where nothing is written. */
static size_t plain_character(sotto_text *t, sotto_bytes text, size_t *at)
{
    const size_t from = *at;
    const uint32_t c = sotto_character_next(text, at);

    for (size_t i = from; t && is_control(c) && i < *at; i++)
        sotto_text_say(t, "\\x%02x", text.data[i]);
    if (t && sotto_text_turns(c))
        sotto_text_say(t, "\\u%04x", (unsigned)c);
    else if (t && !is_control(c))
        sotto_text_character(t, c);
    return columns_of(c, *at - from);
}

size_t sotto_text_plain(sotto_text *t, sotto_bytes text)
{
    size_t columns = 0;

    for (size_t at = 0; at < text.len;)
        columns += plain_character(t, text, &at);
    return columns;
}

size_t sotto_text_columns(sotto_bytes text)
{
    return sotto_text_plain(NULL, text);
}

size_t sotto_text_plain_cut(sotto_text *t, sotto_bytes text, size_t most)
{
    size_t columns = 0, at = 0;

    if (sotto_text_columns(text) <= most)
        return sotto_text_plain(t, text);
    while (at < text.len) {
        size_t next = at;

        if (columns + plain_character(NULL, text, &next) + 3 > most)
            break;
        columns += plain_character(t, text, &at);
    }
    sotto_text_say(t, "...");
    return columns + 3;
}

/* ---- numbers for people -------------------------------------------------------------------------------- */

void sotto_text_up(sotto_text *t, double x, int digits)
{
    char text[SOTTO_NUMBER_TEXT];
    double shown = x, step = fmax(x * pow(10, -digits), nextafter(0, 1));

    do {
        (void)snprintf(text, sizeof text, "%.*g", digits, shown);
        shown += step;
    } while (strtod(text, NULL) < x);
    sotto_text_say(t, "%s", text);
}

void sotto_text_down(sotto_text *t, double x, int digits)
{
    char text[SOTTO_NUMBER_TEXT];
    double shown = x, step = fmax(x * pow(10, -digits), nextafter(0, 1));

    do {
        (void)snprintf(text, sizeof text, "%.*g", digits, shown);
        shown -= step;
    } while (strtod(text, NULL) > x);
    sotto_text_say(t, "%s", text);
}
