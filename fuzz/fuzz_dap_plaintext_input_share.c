/* PlaintextInputShare: what a client sealed is no more to be trusted than what it did not. */
#include "dap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sotto_fuzz_dap("PlaintextInputShare", data, size);
    return 0;
}
