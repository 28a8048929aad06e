/* Counts of rejected reports: from a server to the collector. What is read can be written, and is then read
 * alike. */
#include <stdlib.h>

#include "dap/rejections.h"
#include "target.h"

static sotto_bytes written(uint8_t *memory, const sotto_rejections *rejections)
{
    sotto_buf out = sotto_buf_over(memory, SOTTO_DAP_REJECTIONS_MAX);

    if (sotto_dap_rejections_encode(&out, rejections, NULL) != SOTTO_OK)
        abort();
    return sotto_buf_bytes(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t memory[2][SOTTO_DAP_REJECTIONS_MAX];
    static sotto_rejections first, second;
    sotto_bytes text;

    if (sotto_dap_rejections_decode(&first, sotto_bytes_of(data, size), NULL) != SOTTO_OK)
        return 0;
    if (!first.known || first.count > SOTTO_REJECTION_CAUSES)
        abort();
    text = written(memory[0], &first);
    if (sotto_dap_rejections_decode(&second, text, NULL) != SOTTO_OK ||
        !sotto_bytes_equal_vartime(text, written(memory[1], &second)))
        abort();
    return 0;
}
