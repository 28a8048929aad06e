#include "dap/list.h"

bool sotto_dap_job_continue_req_next(sotto_reader *in, sotto_dap_verify_continue *out)
{
    if (sotto_reader_left(in) == 0 || in->short_read)
        return false;
    sotto_read_fixed(in, out->report_id, sizeof out->report_id);
    out->payload = sotto_read_filled32(in);
    return !in->short_read;
}

sotto_status sotto_dap_job_continue_req_decode(sotto_dap_job_continue_req *out, sotto_bytes wire,
                                               sotto_dap_profile profile, sotto_err *err)
{
    static const char what[] = "aggregation job continuation";
    sotto_reader in = sotto_reader_over(wire), items;
    sotto_dap_verify_continue item;

    *out = (sotto_dap_job_continue_req){.step = (uint16_t)sotto_read_uint(&in, 2)};
    out->verify_continues = sotto_dap_list_read(&in, profile);
    SOTTO_TRY(sotto_reader_finish(&in, what, err));
    items = sotto_reader_over(out->verify_continues);
    while (sotto_dap_job_continue_req_next(&items, &item))
        out->count++;
    SOTTO_TRY(sotto_reader_finish(&items, what, err));
    if (out->step == 0) /* that one is the initialisation */
        return sotto_fail(err, SOTTO_MALFORMED, "%s: step 0", what);
    return SOTTO_OK;
}

sotto_status sotto_dap_job_continue_req_begin(sotto_dap_list *list, sotto_buf *out, uint16_t step,
                                              sotto_dap_profile profile, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_uint(&w, step, 2);
    return sotto_dap_list_begin(list, &w, profile, "aggregation job continuation", err);
}

sotto_status sotto_dap_job_continue_req_add(sotto_dap_list *list,
                                            const sotto_dap_verify_continue *item, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(list->out);

    sotto_write_bytes(&w, sotto_bytes_of(item->report_id, sizeof item->report_id));
    sotto_write_opaque32(&w, item->payload);
    return sotto_dap_list_added(list, &w, "aggregation job continuation", err);
}
