/* UploadErrors: from the leader to a client. */
#include "dap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sotto_fuzz_dap("UploadErrors", data, size);
    return 0;
}
