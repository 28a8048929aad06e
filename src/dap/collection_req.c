#include "dap/collection_req.h"

sotto_bytes sotto_dap_collection_req_read(sotto_reader *in, sotto_dap_collection_req *out)
{
    sotto_dap_query_read(in, &out->query);
    out->agg_param = sotto_read_opaque32(in);
    return sotto_read_opaque16(in);
}

sotto_status sotto_dap_collection_extensions_check(sotto_bytes extensions, sotto_err *err)
{
    static const char what[] = "collection job extensions";
    sotto_reader in = sotto_reader_over(extensions);
    sotto_extension extension;

    while (sotto_extensions_next(&in, &extension))
        ;
    SOTTO_TRY(sotto_reader_finish(&in, what, err));
    /* Elsewhere a wrong order is a malformed message; here it has a problem of its own. */
    if (sotto_extensions_check(extensions, what, NULL) != SOTTO_OK)
        return sotto_fail(err, SOTTO_DENIED, "%s: out of order", what);
    if (extensions.len > 0)
        return sotto_fail(err, SOTTO_MISSING, "collection job: its extensions are unknown");
    return SOTTO_OK;
}

sotto_status sotto_dap_collection_req_decode(sotto_dap_collection_req *out, sotto_bytes wire,
                                             sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);
    const sotto_bytes extensions = sotto_dap_collection_req_read(&in, out);

    SOTTO_TRY(sotto_reader_finish(&in, "collection job request", err));
    return sotto_dap_collection_extensions_check(extensions, err);
}

sotto_status sotto_dap_collection_req_encode(sotto_buf *out, const sotto_dap_collection_req *req,
                                             sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_dap_query_write(&w, &req->query);
    sotto_write_opaque32(&w, req->agg_param);
    sotto_write_uint(&w, 0, 2); /* no extensions */
    return sotto_writer_finish(&w, "collection job request", err);
}
