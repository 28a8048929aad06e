/* An excerpt comes from a server's board: what decodes has the leaf that its body's digest gives, and its message encodes to the same bytes. */
#include "target.h"

#include "aggregate/excerpt.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t memory[1 << 20];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    const sotto_bytes wire = sotto_bytes_of(data, size);
    sotto_excerpt e, of_leaf;

    if (size > sizeof memory || sotto_excerpt_decode(&e, wire, NULL) != SOTTO_OK)
        return 0;
    if (!sotto_excerpt_is(wire) || !sotto_pieces_fit(&e.pieces, e.length) ||
        sotto_pieces_size(&e.pieces, e.length) != e.message.body.len)
        abort();
    const size_t len = sotto_message_size(&e.message);
    if (sotto_message_encode(&out, &e.message, NULL) != SOTTO_OK || out.len != len || len > size ||
        memcmp(out.data, data + size - len, len) != 0)
        abort();
    out.len = 0;
    if (sotto_excerpt_leaf(&out, wire, NULL) != SOTTO_OK || out.len > SOTTO_EXCERPT_LEAF ||
        sotto_excerpt_decode(&of_leaf, sotto_buf_bytes(&out), NULL) != SOTTO_OK ||
        of_leaf.length != e.length || memcmp(of_leaf.digest, e.digest, sizeof e.digest) != 0 ||
        of_leaf.message.body.len != 0)
        abort();
    return 0;
}
