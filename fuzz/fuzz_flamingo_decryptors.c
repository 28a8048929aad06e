/* A committee's record. What decodes encodes to the same bytes. */
#include "target.h"

#include "aggregate/shared/decryptors.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t memory[SOTTO_DECRYPTORS_MOST_BYTES];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_decryptors_record record;
    sotto_arena arena;

    if (size > sizeof memory)
        return 0;
    sotto_arena_init(&arena, 1 << 20);
    if (sotto_decryptors_decode(&record, sotto_bytes_of(data, size), &arena, NULL) == SOTTO_OK &&
        (sotto_decryptors_encode(&out, &record, NULL) != SOTTO_OK ||
         !sotto_bytes_equal_vartime(sotto_buf_bytes(&out), sotto_bytes_of(data, size))))
        abort();
    sotto_arena_clear(&arena);
    return 0;
}
