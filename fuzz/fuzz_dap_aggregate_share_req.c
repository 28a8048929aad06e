/* AggregateShareReq: from the leader to the helper. */
#include "dap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sotto_fuzz_dap("AggregateShareReq", data, size);
    return 0;
}
