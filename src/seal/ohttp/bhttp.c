#include "seal/ohttp/bhttp.h"

#include <string.h>

/* Framing indicators (RFC 9292, 3.3): a response has the low bit, indeterminate length the next. */
enum { RESPONSE = 1, INDETERMINATE = 2, FRAMINGS = 4 };

/* ---- integers and pieces (RFC 9000, 16) --------------------------------------------------------------------- */

static uint64_t read_integer(sotto_reader *in)
{
    if (sotto_reader_left(in) == 0)
        return sotto_read_uint(in, 1); /* which is a short read */
    const unsigned width = 1U << (in->at[0] >> 6);
    const uint64_t value = sotto_read_uint(in, width);

    return value & (UINT64_MAX >> (66 - 8 * width));
}

static sotto_bytes read_piece(sotto_reader *in)
{
    const uint64_t len = read_integer(in);

    if (len > sotto_reader_left(in)) {
        in->short_read = true;
        return sotto_bytes_of(NULL, 0);
    }
    return sotto_read_bytes(in, (size_t)len);
}

static void write_integer(sotto_writer *w, uint64_t value)
{
    if (value < 1U << 6)
        sotto_write_uint(w, value, 1);
    else if (value < 1U << 14)
        sotto_write_uint(w, value | 1U << 14, 2);
    else if (value < 1U << 30)
        sotto_write_uint(w, value | 2ULL << 30, 4);
    else
        sotto_write_uint(w, value | 3ULL << 62, 8);
}

static void write_piece(sotto_writer *w, sotto_bytes piece)
{
    write_integer(w, piece.len);
    sotto_write_bytes(w, piece);
}

/* ---- sections ------------------------------------------------------------------------------------------------- */

static sotto_status check_line(sotto_bytes name, sotto_bytes value, sotto_err *err)
{
    if (!sotto_bhttp_name_is_clean(name))
        return sotto_fail(err, SOTTO_MALFORMED, "BHTTP: an invalid field name");
    if (!sotto_bhttp_value_is_clean(value))
        return sotto_fail(err, SOTTO_MALFORMED, "BHTTP: an invalid field value");
    return SOTTO_OK;
}

/* Lines up to the end of `in`, or to an empty name where they are ended by one. */
static sotto_status read_lines(sotto_reader *in, bool ended, sotto_bytes *out, sotto_err *err)
{
    const uint8_t *start = in->at;

    while (ended || sotto_reader_left(in) > 0) {
        const uint8_t *line = in->at;
        const sotto_bytes name = read_piece(in);

        if (ended && name.len == 0 && !in->short_read) {
            *out = sotto_bytes_of(start, (size_t)(line - start));
            return SOTTO_OK;
        }
        const sotto_bytes value = read_piece(in);
        if (in->short_read)
            return sotto_fail(err, SOTTO_MALFORMED, "BHTTP: fields: too short");
        SOTTO_TRY(check_line(name, value, err));
    }
    *out = sotto_bytes_of(start, (size_t)(in->at - start));
    return SOTTO_OK;
}

static sotto_status read_fields(sotto_reader *in, bool indeterminate, sotto_bytes *out,
                                sotto_err *err)
{
    *out = sotto_bytes_of(NULL, 0);
    if (sotto_reader_left(in) == 0)
        return SOTTO_OK; /* left out: empty */
    if (indeterminate)
        return read_lines(in, true, out, err);
    sotto_reader lines = sotto_reader_over(read_piece(in));
    if (in->short_read)
        return sotto_fail(err, SOTTO_MALFORMED, "BHTTP: fields: too short");
    return read_lines(&lines, false, out, err);
}

static sotto_status read_content(sotto_reader *in, uint8_t *wire, const uint8_t *base,
                                 bool indeterminate, sotto_bytes *out, sotto_err *err)
{
    uint8_t *start = wire + (in->at - base);
    size_t len = 0;

    *out = sotto_bytes_of(NULL, 0);
    if (sotto_reader_left(in) == 0)
        return SOTTO_OK;
    if (!indeterminate)
        *out = read_piece(in);
    while (indeterminate) {
        const sotto_bytes chunk = read_piece(in);

        if (chunk.len == 0)
            break;
        memmove(start + len, chunk.data, chunk.len);
        len += chunk.len;
    }
    if (indeterminate)
        *out = sotto_bytes_of(start, len);
    return in->short_read ? sotto_fail(err, SOTTO_MALFORMED, "BHTTP: content: too short")
                          : SOTTO_OK;
}

/* ---- control data ---------------------------------------------------------------------------------------------- */

static sotto_status read_request(sotto_reader *in, sotto_bhttp *out, sotto_err *err)
{
    out->method = read_piece(in);
    out->scheme = read_piece(in);
    out->authority = read_piece(in);
    out->path = read_piece(in);
    if (in->short_read)
        return sotto_fail(err, SOTTO_MALFORMED, "BHTTP: control data: too short");
    const bool clean = out->method.len > 0 && sotto_bhttp_control_is_clean(out->method) &&
                       sotto_bhttp_control_is_clean(out->scheme) &&
                       sotto_bhttp_control_is_clean(out->authority) &&
                       sotto_bhttp_control_is_clean(out->path);
    if (!clean)
        return sotto_fail(err, SOTTO_MALFORMED, "BHTTP: control data has an invalid byte");
    return SOTTO_OK;
}

/* The final status; informational responses go before it, each with its fields (RFC 9292, 3.5.1). */
static sotto_status read_status(sotto_reader *in, bool indeterminate, sotto_bhttp *out,
                                sotto_err *err)
{
    uint64_t status;

    while ((status = read_integer(in)) >= 100 && status < 200) {
        if (sotto_reader_left(in) == 0)
            in->short_read = true; /* a final response must follow */
        else
            SOTTO_TRY(read_fields(in, indeterminate, &out->fields, err));
    }
    if (in->short_read)
        return sotto_fail(err, SOTTO_MALFORMED, "BHTTP: control data: too short");
    if (status < 200 || status > 599)
        return sotto_fail(err, SOTTO_MALFORMED, "BHTTP: an invalid status");
    out->status = (unsigned)status;
    return SOTTO_OK;
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static sotto_status check_padding(const sotto_reader *in, sotto_err *err)
{
    for (const uint8_t *at = in->at; at < in->end; at++)
        if (*at != 0)
            return sotto_fail(err, SOTTO_MALFORMED, "BHTTP: padding is not zero");
    return SOTTO_OK;
}

sotto_status sotto_bhttp_decode(sotto_bhttp *out, uint8_t *wire, size_t len, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(sotto_bytes_of(wire, len));
    const uint8_t *base = in.at;
    const uint64_t framing = read_integer(&in);
    const bool indeterminate = (framing & INDETERMINATE) != 0;

    *out = (sotto_bhttp){.response = (framing & RESPONSE) != 0};
    if (in.short_read)
        return sotto_fail(err, SOTTO_MALFORMED, "BHTTP: empty");
    if (framing >= FRAMINGS)
        return sotto_fail(err, SOTTO_MALFORMED, "BHTTP: unknown framing");
    if (out->response)
        SOTTO_TRY(read_status(&in, indeterminate, out, err));
    else
        SOTTO_TRY(read_request(&in, out, err));
    SOTTO_TRY(read_fields(&in, indeterminate, &out->fields, err));
    SOTTO_TRY(read_content(&in, wire, base, indeterminate, &out->content, err));
    SOTTO_TRY(read_fields(&in, indeterminate, &out->trailers, err));
    return check_padding(&in, err);
}

/* How many of the three sections have to be written: those behind the last one that is not empty are left out. */
static unsigned sections_of(const sotto_bhttp *m)
{
    return m->trailers.len ? 3 : m->content.len ? 2 : m->fields.len ? 1 : 0;
}

sotto_status sotto_bhttp_encode(sotto_buf *out, const sotto_bhttp *m, size_t size, sotto_err *err)
{
    const sotto_bytes sections[] = {m->fields, m->content, m->trailers};
    sotto_writer w = sotto_writer_on(out);
    const size_t start = out->len;

    write_integer(&w, m->response ? RESPONSE : 0);
    if (m->response) {
        write_integer(&w, m->status);
    } else {
        write_piece(&w, m->method);
        write_piece(&w, m->scheme);
        write_piece(&w, m->authority);
        write_piece(&w, m->path);
    }
    for (unsigned i = 0; i < sections_of(m); i++)
        write_piece(&w, sections[i]);
    const size_t len = out->len - start;
    if (size > 0 && (len > size || size > out->cap - start))
        w.overflow = true;
    SOTTO_TRY(sotto_writer_finish(&w, "BHTTP", err));
    if (size > len) {
        memset(out->data + out->len, 0, size - len);
        out->len = start + size;
    }
    return SOTTO_OK;
}

/* ---- fields ------------------------------------------------------------------------------------------------------- */

void sotto_bhttp_field_write(sotto_writer *w, const char *name, sotto_bytes value)
{
    write_piece(w, sotto_bytes_of(name, strlen(name)));
    write_piece(w, value);
}

bool sotto_bhttp_field_next(sotto_bytes fields, size_t *at, sotto_bytes *name, sotto_bytes *value)
{
    if (*at >= fields.len)
        return false;
    sotto_reader in = sotto_reader_over(sotto_bytes_of(fields.data + *at, fields.len - *at));
    *name = read_piece(&in);
    *value = read_piece(&in);
    *at = fields.len - sotto_reader_left(&in);
    return !in.short_read;
}

bool sotto_bhttp_field(sotto_bytes fields, const char *name, sotto_bytes *value)
{
    const sotto_bytes wanted = sotto_bytes_of(name, strlen(name));
    sotto_bytes found;
    size_t at = 0;

    while (sotto_bhttp_field_next(fields, &at, &found, value))
        if (sotto_bytes_equal_vartime(found, wanted))
            return true;
    return false;
}
