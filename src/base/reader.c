#include "sotto/base.h"

#include <string.h>

sotto_reader sotto_reader_over(sotto_bytes wire)
{
    /* Arithmetic on a null pointer is undefined, even by zero: empty input gets an address. */
    static const uint8_t nothing[1];
    const uint8_t *start = wire.len ? wire.data : nothing;
    sotto_reader in = {start, start + wire.len, false};
    return in;
}

size_t sotto_reader_left(const sotto_reader *in)
{
    return (size_t)(in->end - in->at);
}

sotto_bytes sotto_read_bytes(sotto_reader *in, size_t len)
{
    if (in->short_read || len > sotto_reader_left(in)) {
        in->short_read = true;
        return sotto_bytes_of(NULL, 0);
    }
    sotto_bytes taken = sotto_bytes_of(in->at, len);
    in->at += len;
    return taken;
}

uint64_t sotto_read_uint(sotto_reader *in, unsigned width)
{
    sotto_bytes digits = sotto_read_bytes(in, width);
    uint64_t value = 0;

    for (size_t i = 0; i < digits.len; i++)
        value = value << 8 | digits.data[i];
    return value;
}

void sotto_read_fixed(sotto_reader *in, void *out, size_t len)
{
    sotto_bytes taken = sotto_read_bytes(in, len);

    if (taken.len)
        memcpy(out, taken.data, len);
    else
        memset(out, 0, len);
}

static sotto_bytes read_opaque(sotto_reader *in, unsigned width)
{
    return sotto_read_bytes(in, (size_t)sotto_read_uint(in, width));
}

sotto_bytes sotto_read_opaque8(sotto_reader *in)
{
    return read_opaque(in, 1);
}

sotto_bytes sotto_read_opaque16(sotto_reader *in)
{
    return read_opaque(in, 2);
}

sotto_bytes sotto_read_opaque32(sotto_reader *in)
{
    return read_opaque(in, 4);
}

sotto_status sotto_reader_finish(const sotto_reader *in, const char *what, sotto_err *err)
{
    if (in->short_read)
        return sotto_fail(err, SOTTO_MALFORMED, "%s: too short", what);
    if (in->at != in->end)
        return sotto_fail(err, SOTTO_MALFORMED, "%s: %zu trailing bytes", what,
                          sotto_reader_left(in));
    return SOTTO_OK;
}
