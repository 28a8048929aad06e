/* What is authenticated with a sealed share, and the labels it is sealed under. */
#include "dap/report.h"

#include <string.h>

sotto_status sotto_input_share_aad_encode(sotto_buf *out, const uint8_t task_id[SOTTO_TASK_ID_SIZE],
                                          sotto_bytes configuration,
                                          const sotto_report_metadata *metadata,
                                          sotto_bytes public_share, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_bytes(&w, sotto_bytes_of(task_id, SOTTO_TASK_ID_SIZE));
    sotto_write_bytes(&w, configuration);
    sotto_report_metadata_write(&w, metadata);
    sotto_write_opaque32(&w, public_share);
    return sotto_writer_finish(&w, "input share AAD", err);
}

static sotto_bytes label(uint8_t out[SOTTO_DAP_INFO_MAX], const char *words, sotto_dap_role sender,
                         sotto_dap_role recipient)
{
    size_t len = strlen(words);

    memcpy(out, words, len);
    out[len++] = (uint8_t)sender;
    out[len++] = (uint8_t)recipient;
    return sotto_bytes_of(out, len);
}

sotto_bytes sotto_input_share_info(uint8_t out[SOTTO_DAP_INFO_MAX], sotto_dap_role recipient)
{
    static const char words[] = SOTTO_DAP_TAG " input share";

    _Static_assert(sizeof words - 1 + 2 <= SOTTO_DAP_INFO_MAX, "the label fits");
    return label(out, words, SOTTO_DAP_CLIENT, recipient);
}

sotto_bytes sotto_aggregate_share_info(uint8_t out[SOTTO_DAP_INFO_MAX], sotto_dap_role sender)
{
    static const char words[] = SOTTO_DAP_TAG " aggregate share";

    _Static_assert(sizeof words - 1 + 2 <= SOTTO_DAP_INFO_MAX, "the label fits");
    return label(out, words, sender, SOTTO_DAP_COLLECTOR);
}

void sotto_dap_context(uint8_t out[SOTTO_DAP_CONTEXT_SIZE],
                       const uint8_t task_id[SOTTO_TASK_ID_SIZE])
{
    enum { TAG = sizeof SOTTO_DAP_TAG - 1 };

    memcpy(out, SOTTO_DAP_TAG, TAG);
    memcpy(out + TAG, task_id, SOTTO_TASK_ID_SIZE);
}
