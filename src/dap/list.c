#include "dap/list.h"

enum { LENGTH_SIZE = 4 };

sotto_bytes sotto_dap_list_read(sotto_reader *in, sotto_dap_profile profile)
{
    return profile == SOTTO_DAP_JANUS ? sotto_read_opaque32(in)
                                      : sotto_read_bytes(in, sotto_reader_left(in));
}

sotto_status sotto_dap_list_begin(sotto_dap_list *list, sotto_writer *w, sotto_dap_profile profile,
                                  const char *what, sotto_err *err)
{
    *list =
        (sotto_dap_list){.out = w->out, .start = w->start, .prefixed = profile == SOTTO_DAP_JANUS};
    if (list->prefixed)
        sotto_write_uint(w, 0, LENGTH_SIZE);
    SOTTO_TRY(sotto_writer_finish(w, what, err));
    list->items = w->out->len;
    return SOTTO_OK;
}

sotto_status sotto_dap_list_added(sotto_dap_list *list, sotto_writer *w, const char *what,
                                  sotto_err *err)
{
    SOTTO_TRY(sotto_writer_finish(w, what, err));
    list->count++;
    return SOTTO_OK;
}

sotto_status sotto_dap_list_end(sotto_dap_list *list, sotto_err *err)
{
    const size_t len = list->out->len - list->items;
    sotto_buf before = sotto_buf_over(list->out->data, list->items);
    sotto_writer w;

    if (!list->prefixed)
        return SOTTO_OK;
    if (len > UINT32_MAX) {
        sotto_wipe(list->out->data + list->start, list->out->len - list->start);
        list->out->len = list->start;
        return sotto_fail(err, SOTTO_TOO_LARGE, "aggregation job: its list has %zu bytes", len);
    }
    before.len = list->items - LENGTH_SIZE;
    w = sotto_writer_on(&before);
    sotto_write_uint(&w, len, LENGTH_SIZE);
    return sotto_writer_finish(&w, "aggregation job", err);
}
