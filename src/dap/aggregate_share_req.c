#include "dap/collection_req.h"

sotto_status sotto_dap_aggregate_share_req_decode(sotto_dap_aggregate_share_req *out,
                                                  sotto_bytes wire, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);
    const sotto_bytes extensions = sotto_dap_collection_req_read(&in, &out->collection);

    out->collection_req = sotto_bytes_of(wire.data, wire.len - sotto_reader_left(&in));
    sotto_dap_batch_selector_read(&in, &out->selector);
    out->report_count = sotto_read_uint(&in, 8);
    sotto_read_fixed(&in, out->checksum, sizeof out->checksum);
    SOTTO_TRY(sotto_reader_finish(&in, "aggregate share request", err));
    return sotto_dap_collection_extensions_check(extensions, err);
}

sotto_status sotto_dap_aggregate_share_req_encode(sotto_buf *out,
                                                  const sotto_dap_aggregate_share_req *req,
                                                  sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_bytes(&w, req->collection_req);
    sotto_dap_batch_selector_write(&w, &req->selector);
    sotto_write_uint(&w, req->report_count, 8);
    sotto_write_bytes(&w, sotto_bytes_of(req->checksum, sizeof req->checksum));
    return sotto_writer_finish(&w, "aggregate share request", err);
}
