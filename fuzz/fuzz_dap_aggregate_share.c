/* AggregateShare: from the helper to the leader. */
#include "dap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sotto_fuzz_dap("AggregateShare", data, size);
    return 0;
}
