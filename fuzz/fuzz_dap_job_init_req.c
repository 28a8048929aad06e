/* AggregationJobInitReq: from the leader to the helper, with clients' bytes inside. */
#include "dap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sotto_fuzz_dap("AggregationJobInitReq", data, size);
    return 0;
}
