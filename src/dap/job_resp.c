#include "dap/list.h"

bool sotto_dap_job_resp_next(sotto_reader *in, sotto_dap_verify_resp *out)
{
    if (sotto_reader_left(in) == 0 || in->short_read)
        return false;
    *out = (sotto_dap_verify_resp){.type = SOTTO_DAP_VERIFY_FINISH};
    sotto_read_fixed(in, out->report_id, sizeof out->report_id);
    switch (sotto_read_uint(in, 1)) {
    case SOTTO_DAP_VERIFY_CONTINUE:
        out->type = SOTTO_DAP_VERIFY_CONTINUE;
        out->payload = sotto_read_filled32(in);
        break;
    case SOTTO_DAP_VERIFY_FINISH:
        break;
    case SOTTO_DAP_VERIFY_REJECT:
        out->type = SOTTO_DAP_VERIFY_REJECT;
        out->error = (uint8_t)sotto_read_uint(in, 1);
        break;
    default:
        in->short_read = true;
    }
    return !in->short_read;
}

sotto_status sotto_dap_job_resp_decode(sotto_dap_job_resp *out, sotto_bytes wire,
                                       sotto_dap_profile profile, sotto_err *err)
{
    static const char what[] = "aggregation job response";
    sotto_reader in = sotto_reader_over(wire), items;
    sotto_dap_verify_resp resp;

    *out = (sotto_dap_job_resp){.verify_resps = sotto_dap_list_read(&in, profile)};
    SOTTO_TRY(sotto_reader_finish(&in, what, err));
    items = sotto_reader_over(out->verify_resps);
    while (sotto_dap_job_resp_next(&items, &resp))
        out->count++;
    return sotto_reader_finish(&items, what, err);
}

sotto_status sotto_dap_job_resp_begin(sotto_dap_list *list, sotto_buf *out,
                                      sotto_dap_profile profile, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    return sotto_dap_list_begin(list, &w, profile, "aggregation job response", err);
}

sotto_status sotto_dap_job_resp_add(sotto_dap_list *list, const sotto_dap_verify_resp *resp,
                                    sotto_err *err)
{
    sotto_writer w = sotto_writer_on(list->out);

    sotto_write_bytes(&w, sotto_bytes_of(resp->report_id, sizeof resp->report_id));
    sotto_write_uint(&w, (uint64_t)resp->type, 1);
    if (resp->type == SOTTO_DAP_VERIFY_CONTINUE)
        sotto_write_opaque32(&w, resp->payload);
    else if (resp->type == SOTTO_DAP_VERIFY_REJECT)
        sotto_write_uint(&w, resp->error, 1);
    return sotto_dap_list_added(list, &w, "aggregation job response", err);
}
