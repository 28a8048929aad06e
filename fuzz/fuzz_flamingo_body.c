/* The body of every kind of message. Input: kind, number of clients, body. What decodes encodes to the same bytes. */
#include "target.h"

#include "aggregate/flamingo/flamingo.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t memory[1 << 20];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_flamingo_body body;

    if (size < 2 || size > sizeof memory)
        return 0;
    sotto_bytes wire = sotto_bytes_of(data + 2, size - 2);
    if (sotto_flamingo_body_decode(&body, data[0], data[1], wire, NULL) != SOTTO_OK)
        return 0;
    if (sotto_flamingo_body_encode(&out, data[0], &body, NULL) != SOTTO_OK ||
        sotto_flamingo_body_size(data[0], &body) != wire.len ||
        !sotto_bytes_equal_vartime(sotto_buf_bytes(&out), wire))
        abort();
    return 0;
}
