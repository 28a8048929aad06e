#include "dap/upload.h"

bool sotto_dap_upload_req_next(sotto_reader *in, sotto_dap_report *report)
{
    if (sotto_reader_left(in) == 0 || in->short_read)
        return false;
    sotto_dap_report_read(in, report);
    return !in->short_read;
}

sotto_status sotto_dap_upload_req_decode(sotto_dap_upload_req *out, sotto_bytes wire,
                                         sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);
    sotto_dap_report report;

    *out = (sotto_dap_upload_req){.reports = wire};
    while (sotto_dap_upload_req_next(&in, &report))
        out->count++;
    return sotto_reader_finish(&in, "upload request", err);
}
