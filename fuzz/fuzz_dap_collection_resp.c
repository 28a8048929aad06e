/* CollectionJobResp: from the leader to a collector. */
#include "dap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sotto_fuzz_dap("CollectionJobResp", data, size);
    return 0;
}
