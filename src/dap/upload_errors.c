#include "dap/upload.h"

bool sotto_dap_upload_errors_next(sotto_reader *in, sotto_dap_upload_status *status)
{
    if (sotto_reader_left(in) == 0 || in->short_read)
        return false;
    sotto_read_fixed(in, status->report_id, sizeof status->report_id);
    status->error = (uint8_t)sotto_read_uint(in, 1);
    return !in->short_read;
}

sotto_status sotto_dap_upload_errors_decode(sotto_dap_upload_errors *out, sotto_bytes wire,
                                            sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);
    sotto_dap_upload_status status;

    *out = (sotto_dap_upload_errors){.statuses = wire};
    while (sotto_dap_upload_errors_next(&in, &status))
        out->count++;
    return sotto_reader_finish(&in, "upload errors", err);
}

sotto_status sotto_dap_upload_errors_add(sotto_buf *out, const sotto_dap_upload_status *status,
                                         sotto_dap_profile profile, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);
    uint8_t error = status->error;

    if (profile == SOTTO_DAP_JANUS && error == SOTTO_REPORT_OUTDATED_CONFIG)
        error = SOTTO_REPORT_HPKE_UNKNOWN_CONFIG_ID;
    sotto_write_bytes(&w, sotto_bytes_of(status->report_id, sizeof status->report_id));
    sotto_write_uint(&w, error, 1);
    return sotto_writer_finish(&w, "upload errors", err);
}
