/* A pairing file comes from another operator: whatever decodes encodes and decodes to the same again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "serve/tasks/pairing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t memory[16384];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_pairing first, second;

    if (sotto_pairing_decode(&first, sotto_bytes_of(data, size), NULL) != SOTTO_OK)
        return 0;
    /* A collector's file has none of the servers' secrets to write again. */
    if ((first.leader_token[0]
             ? sotto_pairing_encode(&out, &first, NULL)
             : sotto_pairing_encode_for_collector(&out, &first, NULL)) != SOTTO_OK ||
        sotto_pairing_decode(&second, sotto_buf_bytes(&out), NULL) != SOTTO_OK ||
        memcmp(&first, &second, sizeof first) != 0)
        abort();
    return 0;
}
