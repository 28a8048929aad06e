#include "base/log.h"

#include "base/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void sotto_log_fields(const sotto_log_sink *sink, sotto_log_level level, const char *name,
                      const sotto_log_field *fields, size_t count)
{
    if (!sink || !sink->write || level < sink->lowest)
        return;
    sotto_log_event event = {level, name, fields, count};
    sink->write(sink->context, &event);
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("-_.:/+,@%", c));
}

static void write_quoted(sotto_writer *w, const char *text)
{
    sotto_write_uint(w, '"', 1);
    for (; *text; text++) {
        char escaped[5] = {*text, 0};
        unsigned char c = (unsigned char)*text;

        if (c == '"' || c == '\\')
            (void)snprintf(escaped, sizeof escaped, "\\%c", c);
        else if (c < 0x20 || c >= 0x7f)
            (void)snprintf(escaped, sizeof escaped, "\\x%02x", c);
        sotto_write_text(w, escaped);
    }
    sotto_write_uint(w, '"', 1);
}

static void write_value(sotto_writer *w, const sotto_log_field *field)
{
    char digits[24];
    const char *text = digits;

    if (field->type == SOTTO_LOG_TEXT)
        text = field->value.text ? field->value.text : "";
    else if (field->type == SOTTO_LOG_UINT)
        (void)snprintf(digits, sizeof digits, "%" PRIu64, field->value.uint);
    else
        (void)snprintf(digits, sizeof digits, "%" PRId64, field->value.sint);

    size_t plain = 0;
    while (is_plain(text[plain]))
        plain++;
    if (plain && !text[plain])
        sotto_write_text(w, text);
    else
        write_quoted(w, text);
}

sotto_status sotto_log_format(sotto_buf *out, const sotto_log_event *event, sotto_err *err)
{
    static const char *const levels[] = {"debug", "info", "warning", "error"};
    sotto_writer w = sotto_writer_on(out);

    sotto_write_text(&w, levels[event->level]);
    sotto_write_text(&w, " ");
    sotto_write_text(&w, event->name);
    for (size_t i = 0; i < event->count; i++) {
        sotto_write_text(&w, " ");
        sotto_write_text(&w, event->fields[i].key);
        sotto_write_text(&w, "=");
        write_value(&w, &event->fields[i]);
    }
    return sotto_writer_finish(&w, "log line", err);
}
