#include "dap/repair.h"

#include <string.h>

/* Whole items, not too many of them, and each id above the one before. */
static sotto_status check_list(sotto_bytes list, size_t item, size_t most, size_t *count,
                               const char *what, sotto_err *err)
{
    *count = list.len / item;
    if (list.len % item != 0)
        return sotto_fail(err, SOTTO_MALFORMED, "%s: its list ends within a job", what);
    if (*count > most)
        return sotto_fail(err, SOTTO_MALFORMED, "%s: %zu jobs", what, *count);
    for (size_t i = 1; i < *count; i++)
        if (memcmp(list.data + (i - 1) * item, list.data + i * item, SOTTO_RESOURCE_ID_SIZE) >= 0)
            return sotto_fail(err, SOTTO_MALFORMED, "%s: its jobs don't ascend", what);
    return SOTTO_OK;
}

sotto_status sotto_dap_repair_req_decode(sotto_dap_repair_req *out, sotto_bytes wire,
                                         sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);

    sotto_dap_batch_selector_read(&in, &out->selector);
    out->jobs = sotto_read_opaque32(&in);
    SOTTO_TRY(sotto_reader_finish(&in, "repair request", err));
    return check_list(out->jobs, SOTTO_DAP_REPAIR_JOB_SIZE, SOTTO_DAP_REPAIR_JOBS, &out->count,
                      "repair request", err);
}

bool sotto_dap_repair_req_next(sotto_reader *in, sotto_dap_repair_job *out)
{
    if (sotto_reader_left(in) == 0)
        return false;
    sotto_read_fixed(in, out->id, sizeof out->id);
    out->report_count = sotto_read_uint(in, 8);
    sotto_read_fixed(in, out->checksum, sizeof out->checksum);
    return !in->short_read;
}

sotto_status sotto_dap_repair_req_encode(sotto_buf *out, const sotto_dap_batch_selector *selector,
                                         const sotto_dap_repair_job *jobs, size_t count,
                                         sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    if (count > SOTTO_DAP_REPAIR_JOBS)
        return sotto_fail(err, SOTTO_TOO_LARGE, "repair request: %zu jobs", count);
    sotto_dap_batch_selector_write(&w, selector);
    sotto_write_uint(&w, count * SOTTO_DAP_REPAIR_JOB_SIZE, 4);
    for (size_t i = 0; i < count; i++) {
        sotto_write_bytes(&w, sotto_bytes_of(jobs[i].id, sizeof jobs[i].id));
        sotto_write_uint(&w, jobs[i].report_count, 8);
        sotto_write_bytes(&w, sotto_bytes_of(jobs[i].checksum, sizeof jobs[i].checksum));
    }
    return sotto_writer_finish(&w, "repair request", err);
}

sotto_status sotto_dap_repair_resp_decode(sotto_dap_repair_resp *out, sotto_bytes wire,
                                          sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);

    out->dropped = sotto_read_opaque32(&in);
    SOTTO_TRY(sotto_reader_finish(&in, "repair response", err));
    return check_list(out->dropped, SOTTO_RESOURCE_ID_SIZE, (size_t)2 * SOTTO_DAP_REPAIR_JOBS,
                      &out->count, "repair response", err);
}

sotto_status sotto_dap_repair_resp_encode(sotto_buf *out, const sotto_dap_repair_resp *resp,
                                          sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_opaque32(&w, resp->dropped);
    return sotto_writer_finish(&w, "repair response", err);
}
