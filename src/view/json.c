#include "view/json.h"

#include "base/hex.h"
#include "recipe/calendar.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

sotto_json sotto_json_on(sotto_text out, sotto_json_layout layout)
{
    return (sotto_json){.out = out, .layout = layout};
}

/* ---- strings ------------------------------------------------------------------------------------------- */

static void write_character(sotto_text *t, uint32_t c)
{
    static const char shorts[][2] = {{'"', '"'},  {'\\', '\\'}, {'\b', 'b'}, {'\f', 'f'},
                                     {'\n', 'n'}, {'\r', 'r'},  {'\t', 't'}};

    for (size_t i = 0; i < sizeof shorts / sizeof shorts[0]; i++)
        if (c == (unsigned char)shorts[i][0]) {
            sotto_text_say(t, "\\%c", shorts[i][1]);
            return;
        }
    if (c < 0x20 || (c >= 0x7f && c < 0xa0) || sotto_text_turns(c))
        sotto_text_say(t, "\\u%04x", (unsigned)c);
    else
        sotto_text_character(t, c);
}

static void write_string(sotto_text *t, sotto_bytes text)
{
    size_t at = 0;

    sotto_text_say(t, "\"");
    while (at < text.len)
        write_character(t, sotto_character_next(text, &at));
    sotto_text_say(t, "\"");
}

/* ---- structure ----------------------------------------------------------------------------------------- */

static void new_line(sotto_json *j)
{
    sotto_text_say(&j->out, "\n%*s", (int)(2 * j->depth), "");
}

/* What comes before a value: a comma, white space, its key. */
static void begin_value(sotto_json *j, const char *key)
{
    if (j->depth > 0) {
        bool *filled = &j->filled[j->depth - 1];

        if (*filled)
            sotto_text_say(&j->out, j->layout == SOTTO_JSON_SPACED ? ", " : ",");
        *filled = true;
        if (j->layout == SOTTO_JSON_INDENTED)
            new_line(j);
    }
    if (key) {
        write_string(&j->out, sotto_bytes_of(key, strlen(key)));
        sotto_text_say(&j->out, j->layout == SOTTO_JSON_COMPACT ? ":" : ": ");
    }
}

static void open_value(sotto_json *j, const char *key, char begin, char end)
{
    begin_value(j, key);
    if (j->depth == SOTTO_JSON_DEPTH) {
        if (j->out.status == SOTTO_OK)
            j->out.status = sotto_fail(j->out.err, SOTTO_BUG, "JSON that is nested too deep");
        return;
    }
    sotto_text_say(&j->out, "%c", begin);
    j->ends[j->depth] = end;
    j->filled[j->depth++] = false;
}

void sotto_json_object(sotto_json *j, const char *key)
{
    open_value(j, key, '{', '}');
}

void sotto_json_array(sotto_json *j, const char *key)
{
    open_value(j, key, '[', ']');
}

void sotto_json_end(sotto_json *j)
{
    if (j->depth == 0)
        return;
    j->depth--;
    if (j->filled[j->depth] && j->layout == SOTTO_JSON_INDENTED)
        new_line(j);
    sotto_text_say(&j->out, "%c", j->ends[j->depth]);
}

sotto_status sotto_json_finish(sotto_json *j)
{
    while (j->depth > 0)
        sotto_json_end(j);
    sotto_text_say(&j->out, "\n");
    return sotto_text_finish(&j->out);
}

/* ---- values -------------------------------------------------------------------------------------------- */

void sotto_json_bytes(sotto_json *j, const char *key, sotto_bytes text)
{
    begin_value(j, key);
    write_string(&j->out, text);
}

void sotto_json_text(sotto_json *j, const char *key, const char *text)
{
    if (text)
        sotto_json_bytes(j, key, sotto_bytes_of(text, strlen(text)));
    else
        sotto_json_null(j, key);
}

void sotto_json_some(sotto_json *j, const char *key, const char *text)
{
    if (text)
        sotto_json_text(j, key, text);
}

static void write_word(sotto_json *j, const char *key, const char *word)
{
    begin_value(j, key);
    sotto_text_say(&j->out, "%s", word);
}

void sotto_json_bool(sotto_json *j, const char *key, bool value)
{
    write_word(j, key, value ? "true" : "false");
}

void sotto_json_null(sotto_json *j, const char *key)
{
    write_word(j, key, "null");
}

void sotto_json_int(sotto_json *j, const char *key, int64_t value)
{
    begin_value(j, key);
    sotto_text_say(&j->out, "%" PRId64, value);
}

void sotto_json_uint(sotto_json *j, const char *key, uint64_t value)
{
    begin_value(j, key);
    sotto_text_say(&j->out, "%" PRIu64, value);
}

void sotto_json_real(sotto_json *j, const char *key, double value)
{
    char text[SOTTO_NUMBER_TEXT];

    if (!isfinite(value)) {
        sotto_json_null(j, key);
        return;
    }
    sotto_number_format(text, value);
    begin_value(j, key);
    sotto_text_say(&j->out, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

void sotto_json_seconds(sotto_json *j, const char *key, double seconds)
{
    char text[SOTTO_NUMBER_TEXT];

    sotto_number_fixed(text, seconds, 9);
    write_word(j, key, text);
}

void sotto_json_time(sotto_json *j, const char *key, int64_t seconds)
{
    char text[SOTTO_CALENDAR_TEXT];

    sotto_calendar_format_time(text, seconds);
    sotto_json_text(j, key, text);
}

void sotto_json_hex(sotto_json *j, const char *key, sotto_bytes bytes)
{
    begin_value(j, key);
    sotto_text_say(&j->out, "\"");
    for (size_t i = 0; i < bytes.len; i++) {
        char digits[3];

        sotto_hex_encode(digits, sotto_bytes_of(bytes.data + i, 1));
        sotto_text_say(&j->out, "%s", digits);
    }
    sotto_text_say(&j->out, "\"");
}
