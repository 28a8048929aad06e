/* RepairReq: from the leader to the helper. What decodes encodes to the same bytes; nothing else is let in. */
#include <stdlib.h>

#include "dap/repair.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const sotto_bytes wire = sotto_bytes_of(data, size);
    sotto_dap_repair_req req;
    sotto_dap_repair_job *jobs;
    uint8_t *memory;
    sotto_buf out;
    sotto_reader in;
    size_t count = 0;
    const sotto_status status = sotto_dap_repair_req_decode(&req, wire, NULL);

    if (status == SOTTO_MALFORMED)
        return 0;
    if (status != SOTTO_OK || req.count > SOTTO_DAP_REPAIR_JOBS)
        abort();
    jobs = calloc(req.count + 1, sizeof *jobs);
    memory = malloc(size);
    if (!jobs || !memory)
        abort();
    in = sotto_reader_over(req.jobs);
    while (count < req.count && sotto_dap_repair_req_next(&in, &jobs[count]))
        count++;
    out = sotto_buf_over(memory, size);
    if (count != req.count || sotto_reader_left(&in) != 0 ||
        sotto_dap_repair_req_encode(&out, &req.selector, jobs, count, NULL) != SOTTO_OK ||
        !sotto_bytes_equal_vartime(wire, sotto_buf_bytes(&out)))
        abort();
    free(jobs);
    free(memory);
    return 0;
}
