/* An excerpt comes from a server's board: what decodes encodes to the same bytes but for the hash of a body that is not here. */
#include "target.h"

#include "aggregate/excerpt.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t memory[1 << 20];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_excerpt e;

    if (size > sizeof memory)
        return 0;
    if (sotto_excerpt_decode(&e, sotto_bytes_of(data, size), NULL) != SOTTO_OK)
        return 0;
    if (!sotto_excerpt_is(sotto_bytes_of(data, size)) || e.message.body.len > e.length ||
        sotto_excerpt_size(&e.message, e.message.body.len) != size)
        abort();
    /* Label, length and hash are before the message. */
    const size_t head = size - sotto_message_size(&e.message);
    if (sotto_message_encode(&out, &e.message, NULL) != SOTTO_OK || out.len != size - head ||
        memcmp(out.data, data + head, out.len) != 0)
        abort();
    return 0;
}
