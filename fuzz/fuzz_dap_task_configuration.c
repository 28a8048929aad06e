/* TaskConfiguration: from whoever offers a task. */
#include "dap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sotto_fuzz_dap("TaskConfiguration", data, size);
    return 0;
}
