/* Envelopes come from strangers: what decodes encodes to the same bytes, and nothing unsigned passes the check of a method whose
 * messages are signed. */
#include "target.h"

#include "aggregate/bbglr/bbglr.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t keys[5][SOTTO_SIGN_PUBLIC] = {{1}, {2}, {3}, {4}, {5}}, memory[1 << 20];
    static const sotto_registry registry = {.keys = (const uint8_t(*)[SOTTO_SIGN_PUBLIC])keys,
                                            .count = 5};
    sotto_round round = {.session = {1}, .ring = SOTTO_RING_Z32, .length = 3, .registered = 5};
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_message message;

    if (size > sizeof memory ||
        sotto_message_decode(&message, sotto_bytes_of(data, size), NULL) != SOTTO_OK)
        return 0;
    if (sotto_message_encode(&out, &message, NULL) != SOTTO_OK ||
        !sotto_bytes_equal_vartime(sotto_buf_bytes(&out), sotto_bytes_of(data, size)))
        abort();
    round.keys = &registry;
    if (sotto_bbglr_check(&round, &message, NULL, NULL) == SOTTO_OK)
        abort(); /* nobody has these keys */
    return 0;
}
