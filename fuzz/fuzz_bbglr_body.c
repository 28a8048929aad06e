/* The body of every kind of message. Input: kind, number of clients, body. What decodes encodes to the same bytes. */
#include "target.h"

#include "aggregate/bbglr/bbglr.h"

#include <stdlib.h>

static void touch(const sotto_rows *rows, unsigned registered)
{
    for (size_t i = 0; i < rows->count; i++)
        if (sotto_row_index(sotto_rows_at(rows, i)) >= registered)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t memory[1 << 20];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_bbglr_body body;

    if (size < 2 || size > sizeof memory)
        return 0;
    sotto_bytes wire = sotto_bytes_of(data + 2, size - 2);
    if (sotto_bbglr_body_decode(&body, data[0], data[1], wire, NULL) != SOTTO_OK)
        return 0;
    touch(&body.rows, data[1]);
    touch(&body.more, data[1]);
    if (sotto_bbglr_body_encode(&out, data[0], &body, NULL) != SOTTO_OK ||
        sotto_bbglr_body_size(data[0], &body) != wire.len ||
        !sotto_bytes_equal_vartime(sotto_buf_bytes(&out), wire))
        abort();
    return 0;
}
