#include "base/writer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

sotto_writer sotto_writer_on(sotto_buf *out)
{
    sotto_writer w = {out, out->len, false};
    return w;
}

static uint8_t *make_room(sotto_writer *w, size_t len)
{
    if (w->overflow || len > w->out->cap - w->out->len) {
        w->overflow = true;
        return NULL;
    }
    uint8_t *at = w->out->data + w->out->len;
    w->out->len += len;
    return at;
}

void sotto_write_uint(sotto_writer *w, uint64_t value, unsigned width)
{
    uint8_t *at = make_room(w, width);

    for (unsigned i = width; at && i-- > 0; value >>= 8)
        at[i] = (uint8_t)value;
}

void sotto_write_bytes(sotto_writer *w, sotto_bytes bytes)
{
    if (bytes.len == 0)
        return;
    uint8_t *at = make_room(w, bytes.len);
    if (at)
        memcpy(at, bytes.data, bytes.len);
}

static void write_opaque(sotto_writer *w, sotto_bytes bytes, unsigned width)
{
    if (bytes.len >> (8 * width - 1) >> 1) /* two shifts: width may be that of size_t */
        w->overflow = true;
    sotto_write_uint(w, bytes.len, width);
    sotto_write_bytes(w, bytes);
}

void sotto_write_opaque8(sotto_writer *w, sotto_bytes bytes)
{
    write_opaque(w, bytes, 1);
}

void sotto_write_opaque16(sotto_writer *w, sotto_bytes bytes)
{
    write_opaque(w, bytes, 2);
}

void sotto_write_opaque32(sotto_writer *w, sotto_bytes bytes)
{
    write_opaque(w, bytes, 4);
}

void sotto_write_format(sotto_writer *w, const char *format, ...)
{
    char text[1024];
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (len < 0 || (size_t)len >= sizeof text)
        w->overflow = true;
    else
        sotto_write_bytes(w, sotto_bytes_of(text, (size_t)len));
}

sotto_status sotto_writer_finish(sotto_writer *w, const char *what, sotto_err *err)
{
    if (!w->overflow)
        return SOTTO_OK;
    if (w->out->len > w->start) /* else data may be NULL, to which nothing may be added */
        sotto_wipe(w->out->data + w->start, w->out->len - w->start);
    w->out->len = w->start;
    return sotto_fail(err, SOTTO_TOO_LARGE, "%s: does not fit its buffer", what);
}
