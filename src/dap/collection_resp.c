#include "dap/collect.h"

sotto_status sotto_dap_collection_resp_decode(sotto_dap_collection_resp *out, sotto_bytes wire,
                                              sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);

    out->report_count = sotto_read_uint(&in, 8);
    sotto_dap_interval_read(&in, &out->interval);
    sotto_hpke_ciphertext_read(&in, &out->leader);
    sotto_hpke_ciphertext_read(&in, &out->helper);
    return sotto_reader_finish(&in, "collection job response", err);
}

sotto_status sotto_dap_collection_resp_encode(sotto_buf *out, const sotto_dap_collection_resp *resp,
                                              sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_uint(&w, resp->report_count, 8);
    sotto_dap_interval_write(&w, resp->interval);
    sotto_hpke_ciphertext_write(&w, &resp->leader);
    sotto_hpke_ciphertext_write(&w, &resp->helper);
    return sotto_writer_finish(&w, "collection job response", err);
}
