/* Messages come out of encapsulations that strangers sealed: whatever decodes is written again as a message that says the
 * same, and its fields can be walked. */
#include "target.h"

#include "seal/ohttp/bhttp.h"
#include "seal/ohttp/date.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 16 };

static void walk(sotto_bytes fields)
{
    sotto_bytes name, value;
    int64_t seconds;
    size_t at = 0;

    while (sotto_bhttp_field_next(fields, &at, &name, &value)) {
        if (!sotto_bhttp_name_is_clean(name) || !sotto_bhttp_value_is_clean(value))
            abort();
        (void)!sotto_http_date_read(&seconds, value, NULL);
    }
    if (at != fields.len)
        abort();
}

static void same(sotto_bytes a, sotto_bytes b)
{
    if (!sotto_bytes_equal_vartime(a, b))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t wire[MOST], again[MOST + 64];
    sotto_buf out = sotto_buf_over(again, sizeof again);
    sotto_bhttp m, back;

    if (size > MOST)
        return 0;
    if (size > 0)
        memcpy(wire, data, size);
    if (sotto_bhttp_decode(&m, wire, size, NULL) != SOTTO_OK)
        return 0;
    walk(m.fields);
    walk(m.trailers);
    if (sotto_bhttp_encode(&out, &m, 0, NULL) != SOTTO_OK)
        abort();
    if (sotto_bhttp_decode(&back, again, out.len, NULL) != SOTTO_OK)
        abort();
    if (m.response != back.response || m.status != back.status)
        abort();
    same(m.method, back.method);
    same(m.scheme, back.scheme);
    same(m.authority, back.authority);
    same(m.path, back.path);
    same(m.fields, back.fields);
    same(m.content, back.content);
    same(m.trailers, back.trailers);
    return 0;
}
