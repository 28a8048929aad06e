/* Report: what a device uploads (DAP, "Upload Request"). */
#include "dap/report.h"

void sotto_dap_report_read(sotto_reader *in, sotto_dap_report *out)
{
    sotto_report_metadata_read(in, &out->metadata);
    out->public_share = sotto_read_opaque32(in);
    sotto_hpke_ciphertext_read(in, &out->leader);
    sotto_hpke_ciphertext_read(in, &out->helper);
}

sotto_status sotto_dap_report_decode(sotto_dap_report *out, sotto_bytes wire, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);

    sotto_dap_report_read(&in, out);
    return sotto_reader_finish(&in, "report", err);
}

static size_t ciphertext_size(const sotto_hpke_ciphertext *sealed)
{
    return 1 + 2 + sealed->enc.len + 4 + sealed->payload.len;
}

size_t sotto_dap_report_size(const sotto_dap_report *report)
{
    return SOTTO_REPORT_ID_SIZE + 8 + 2 + report->metadata.public_extensions.len + 4 +
           report->public_share.len + ciphertext_size(&report->leader) +
           ciphertext_size(&report->helper);
}

sotto_status sotto_dap_report_encode(sotto_buf *out, const sotto_dap_report *report, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_report_metadata_write(&w, &report->metadata);
    sotto_write_opaque32(&w, report->public_share);
    sotto_hpke_ciphertext_write(&w, &report->leader);
    sotto_hpke_ciphertext_write(&w, &report->helper);
    return sotto_writer_finish(&w, "report", err);
}
