/* Names of rounds come from entries of a log that anybody may append to. What is read is spelt in one way. */
#include <stdlib.h>
#include <string.h>

#include "recipe/learning.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t again[SOTTO_ROUND_NAME];
    sotto_buf out = sotto_buf_over(again, sizeof again);
    sotto_round_name name;

    if (sotto_round_name_decode(&name, sotto_bytes_of(data, size), NULL) != SOTTO_OK)
        return 0;
    if (sotto_round_name_encode(&out, &name, NULL) != SOTTO_OK || out.len != size ||
        memcmp(again, data, size) != 0)
        abort();
    return 0;
}
