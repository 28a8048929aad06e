/* RepairResp: from the helper to the leader. What decodes encodes to the same bytes; nothing else is let in. */
#include <stdlib.h>

#include "dap/repair.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const sotto_bytes wire = sotto_bytes_of(data, size);
    sotto_dap_repair_resp resp;
    uint8_t *memory;
    sotto_buf out;
    const sotto_status status = sotto_dap_repair_resp_decode(&resp, wire, NULL);

    if (status == SOTTO_MALFORMED)
        return 0;
    if (status != SOTTO_OK || resp.count * SOTTO_RESOURCE_ID_SIZE != resp.dropped.len)
        abort();
    memory = malloc(size);
    if (!memory)
        abort();
    out = sotto_buf_over(memory, size);
    if (sotto_dap_repair_resp_encode(&out, &resp, NULL) != SOTTO_OK ||
        !sotto_bytes_equal_vartime(wire, sotto_buf_bytes(&out)))
        abort();
    free(memory);
    return 0;
}
