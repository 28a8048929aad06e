#include "dap/list.h"

#include <string.h>

enum { EXTENSION_BATCH_ID = 1 };

/* ---- which batch: an extension in draft 18, a PartialBatchSelector for Janus --------------------- */

static void read_selector(sotto_reader *in, sotto_dap_job_init_req *out)
{
    const unsigned mode = (unsigned)sotto_read_uint(in, 1);
    const sotto_bytes config = sotto_read_opaque16(in);

    out->has_batch_id = mode == SOTTO_DAP_LEADER_SELECTED;
    if ((mode != SOTTO_DAP_TIME_INTERVAL && mode != SOTTO_DAP_LEADER_SELECTED) ||
        config.len != (out->has_batch_id ? sizeof out->batch_id : 0))
        in->short_read = true;
    else if (out->has_batch_id)
        memcpy(out->batch_id, config.data, sizeof out->batch_id);
}

static void write_selector(sotto_writer *w, const sotto_dap_job_init_req *req)
{
    const size_t len = req->has_batch_id ? sizeof req->batch_id : 0;

    sotto_write_uint(w, req->has_batch_id ? SOTTO_DAP_LEADER_SELECTED : SOTTO_DAP_TIME_INTERVAL, 1);
    sotto_write_opaque16(w, sotto_bytes_of(req->batch_id, len));
}

static sotto_status understand_extensions(sotto_dap_job_init_req *out, sotto_bytes list,
                                          sotto_err *err)
{
    sotto_reader in = sotto_reader_over(list);
    sotto_extension extension;

    SOTTO_TRY(sotto_extensions_check(list, "aggregation job extensions", err));
    while (sotto_extensions_next(&in, &extension)) {
        if (extension.type != EXTENSION_BATCH_ID)
            return sotto_fail(err, SOTTO_MISSING, "aggregation job: extension %u is unknown",
                              (unsigned)extension.type);
        if (extension.data.len != sizeof out->batch_id)
            return sotto_fail(err, SOTTO_MALFORMED, "aggregation job: a batch id of %zu bytes",
                              extension.data.len);
        out->has_batch_id = true;
        memcpy(out->batch_id, extension.data.data, sizeof out->batch_id);
    }
    return SOTTO_OK;
}

static void write_extensions(sotto_writer *w, const sotto_dap_job_init_req *req)
{
    const sotto_extension batch_id = {EXTENSION_BATCH_ID,
                                      sotto_bytes_of(req->batch_id, sizeof req->batch_id)};

    sotto_write_uint(w, req->has_batch_id ? 2 + 2 + sizeof req->batch_id : 0, 2);
    if (req->has_batch_id)
        sotto_extension_write(w, &batch_id);
}

/* ---- the message --------------------------------------------------------------------------------- */

void sotto_report_share_read(sotto_reader *in, sotto_report_metadata *metadata,
                             sotto_bytes *public_share, sotto_hpke_ciphertext *helper)
{
    sotto_report_metadata_read(in, metadata);
    *public_share = sotto_read_opaque32(in);
    sotto_hpke_ciphertext_read(in, helper);
}

void sotto_report_share_write(sotto_writer *w, const sotto_report_metadata *metadata,
                              sotto_bytes public_share, const sotto_hpke_ciphertext *helper)
{
    sotto_report_metadata_write(w, metadata);
    sotto_write_opaque32(w, public_share);
    sotto_hpke_ciphertext_write(w, helper);
}

bool sotto_dap_job_init_req_next(sotto_reader *in, sotto_dap_verify_init *out)
{
    if (sotto_reader_left(in) == 0 || in->short_read)
        return false;
    sotto_report_share_read(in, &out->metadata, &out->public_share, &out->encrypted_input_share);
    out->payload = sotto_read_filled32(in);
    return !in->short_read;
}

sotto_status sotto_dap_job_init_req_decode(sotto_dap_job_init_req *out, sotto_bytes wire,
                                           sotto_dap_profile profile, sotto_err *err)
{
    static const char what[] = "aggregation job request";
    sotto_reader in = sotto_reader_over(wire), items;
    sotto_bytes extensions = sotto_bytes_of(NULL, 0);
    sotto_dap_verify_init init;

    *out = (sotto_dap_job_init_req){.verification_key_id = (uint8_t)sotto_read_uint(&in, 1)};
    out->agg_param = sotto_read_opaque32(&in);
    if (profile == SOTTO_DAP_JANUS)
        read_selector(&in, out);
    else
        extensions = sotto_read_opaque16(&in);
    out->verify_inits = sotto_dap_list_read(&in, profile);
    SOTTO_TRY(sotto_reader_finish(&in, what, err));
    items = sotto_reader_over(out->verify_inits);
    while (sotto_dap_job_init_req_next(&items, &init))
        out->count++;
    SOTTO_TRY(sotto_reader_finish(&items, what, err));
    return understand_extensions(out, extensions, err);
}

sotto_status sotto_dap_job_init_req_begin(sotto_dap_list *list, sotto_buf *out,
                                          const sotto_dap_job_init_req *req,
                                          sotto_dap_profile profile, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_uint(&w, req->verification_key_id, 1);
    sotto_write_opaque32(&w, req->agg_param);
    if (profile == SOTTO_DAP_JANUS)
        write_selector(&w, req);
    else
        write_extensions(&w, req);
    return sotto_dap_list_begin(list, &w, profile, "aggregation job request", err);
}

sotto_status sotto_dap_job_init_req_add(sotto_dap_list *list, const sotto_dap_verify_init *init,
                                        sotto_err *err)
{
    sotto_writer w = sotto_writer_on(list->out);

    sotto_report_share_write(&w, &init->metadata, init->public_share, &init->encrypted_input_share);
    sotto_write_opaque32(&w, init->payload);
    return sotto_dap_list_added(list, &w, "aggregation job request", err);
}

sotto_status sotto_dap_job_init_req_add_share(sotto_dap_list *list, sotto_bytes report_share,
                                              sotto_bytes payload, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(list->out);

    sotto_write_bytes(&w, report_share);
    sotto_write_opaque32(&w, payload);
    return sotto_dap_list_added(list, &w, "aggregation job request", err);
}
