#include "dap/collect.h"

sotto_status sotto_dap_aggregate_share_decode(sotto_hpke_ciphertext *out, sotto_bytes wire,
                                              sotto_err *err)
{
    return sotto_hpke_ciphertext_decode(out, wire, err);
}

sotto_status sotto_dap_aggregate_share_encode(sotto_buf *out, const sotto_hpke_ciphertext *share,
                                              sotto_err *err)
{
    return sotto_hpke_ciphertext_encode(out, share, err);
}

sotto_status sotto_dap_aggregate_share_aad_encode(sotto_buf *out,
                                                  const uint8_t task_id[SOTTO_TASK_ID_SIZE],
                                                  sotto_bytes configuration,
                                                  sotto_bytes collection_req, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_bytes(&w, sotto_bytes_of(task_id, SOTTO_TASK_ID_SIZE));
    sotto_write_bytes(&w, configuration);
    sotto_write_bytes(&w, collection_req);
    return sotto_writer_finish(&w, "aggregate share AAD", err);
}
