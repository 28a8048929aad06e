/* Counts of refused reports: from a server to the collector. What is read can be written, and is then read alike. */
#include <stdlib.h>
#include <string.h>

#include "target.h"
#include "transport/dap_rejections.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t memory[SOTTO_DAP_REJECTIONS_MAX];
    static sotto_rejections first, second;
    sotto_buf out = sotto_buf_over(memory, sizeof memory);

    if (sotto_dap_rejections_decode(&first, sotto_bytes_of(data, size), NULL) != SOTTO_OK)
        return 0;
    if (!first.known || first.count > SOTTO_REJECTION_CAUSES)
        abort();
    if (sotto_dap_rejections_encode(&out, &first, NULL) != SOTTO_OK ||
        sotto_dap_rejections_decode(&second, sotto_buf_bytes(&out), NULL) != SOTTO_OK ||
        memcmp(&first, &second, sizeof first) != 0)
        abort();
    return 0;
}
