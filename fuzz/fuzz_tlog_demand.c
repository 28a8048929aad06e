/* Anybody may send a witness a showing, and a witness may answer a log with any list. Every byte of what decodes is accounted for. Nothing is
 * shown to be in a tree that does not have it. */
#include <stdlib.h>
#include <string.h>

#include "target.h"
#include "tlog/demand.h"

/* A tree of one leaf has that leaf as its root, and no proof shows another. */
static void look(const sotto_showing *showing)
{
    sotto_merkle_hash leaf, other;

    sotto_merkle_leaf(&leaf, sotto_bytes_of("a", 1));
    sotto_merkle_leaf(&other, sotto_bytes_of("b", 1));
    if (sotto_showing_has(showing, &other, 1, &leaf))
        abort();
    (void)sotto_showing_has(showing, &leaf, 1, &leaf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const sotto_bytes wire = sotto_bytes_of(data, size);
    const sotto_merkle_hash *leaves;
    sotto_merkle_hash shown[SOTTO_DEMANDS];
    sotto_showing showing;
    sotto_bytes rest;
    size_t count;

    if (sotto_demands_decode(&leaves, &count, wire, NULL) == SOTTO_OK &&
        (count > SOTTO_DEMANDS || count * SOTTO_MERKLE_HASH != size ||
         memcmp(leaves, data, size) != 0))
        abort();
    if (sotto_showing_decode(&showing, &rest, wire, NULL) != SOTTO_OK)
        return 0;
    if (showing.count > SOTTO_DEMANDS || 2 + showing.wire.len + rest.len != size)
        abort();
    if (sotto_showing_leaves(&showing, shown) != showing.count)
        abort();
    look(&showing);
    return 0;
}
