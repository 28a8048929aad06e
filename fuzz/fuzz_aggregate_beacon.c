/* What a witness of a beacon is asked, and what it answers. What decodes encodes to the same bytes. */
#include "target.h"

#include "aggregate/shared/beacon.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t memory[SOTTO_BEACON_PLACED];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_beacon_input input;
    sotto_beacon_part part;

    if (sotto_beacon_input_decode(&input, sotto_bytes_of(data, size), NULL) == SOTTO_OK) {
        if (size != SOTTO_BEACON_INPUT ||
            sotto_beacon_input_encode(&out, &input, NULL) != SOTTO_OK ||
            !sotto_bytes_equal_vartime(sotto_buf_bytes(&out), sotto_bytes_of(data, size)))
            abort();
    } else if (sotto_beacon_part_decode(&part, sotto_bytes_of(data, size), NULL) == SOTTO_OK) {
        if (size != SOTTO_BEACON_PLACED ||
            sotto_beacon_part_encode(&out, &part, NULL) != SOTTO_OK ||
            !sotto_bytes_equal_vartime(sotto_buf_bytes(&out), sotto_bytes_of(data, size)))
            abort();
    }
    return 0;
}
