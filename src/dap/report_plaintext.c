/* PlaintextInputShare: what is inside a sealed share. */
#include "dap/report.h"

sotto_status sotto_plaintext_input_share_decode(sotto_plaintext_input_share *out, sotto_bytes wire,
                                                sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);

    out->private_extensions = sotto_read_opaque16(&in);
    out->payload = sotto_read_opaque32(&in);
    SOTTO_TRY(sotto_reader_finish(&in, "plaintext input share", err));
    return sotto_extensions_check(out->private_extensions, "private extensions", err);
}

sotto_status sotto_plaintext_input_share_encode(sotto_buf *out,
                                                const sotto_plaintext_input_share *share,
                                                sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_opaque16(&w, share->private_extensions);
    sotto_write_opaque32(&w, share->payload);
    return sotto_writer_finish(&w, "plaintext input share", err);
}
