/* HpkeCiphertext and ReportMetadata, which several messages are made of. */
#include "dap/report.h"

static sotto_bytes filled(sotto_reader *in, sotto_bytes bytes)
{
    if (bytes.len == 0)
        in->short_read = true;
    return bytes;
}

sotto_bytes sotto_read_filled16(sotto_reader *in)
{
    return filled(in, sotto_read_opaque16(in));
}

sotto_bytes sotto_read_filled32(sotto_reader *in)
{
    return filled(in, sotto_read_opaque32(in));
}

/* ---- HpkeCiphertext ------------------------------------------------------------------------------ */

void sotto_hpke_ciphertext_read(sotto_reader *in, sotto_hpke_ciphertext *out)
{
    out->config_id = (uint8_t)sotto_read_uint(in, 1);
    out->enc = sotto_read_filled16(in);
    out->payload = sotto_read_filled32(in);
}

void sotto_hpke_ciphertext_write(sotto_writer *w, const sotto_hpke_ciphertext *ciphertext)
{
    sotto_write_uint(w, ciphertext->config_id, 1);
    sotto_write_opaque16(w, ciphertext->enc);
    sotto_write_opaque32(w, ciphertext->payload);
}

sotto_status sotto_hpke_ciphertext_decode(sotto_hpke_ciphertext *out, sotto_bytes wire,
                                          sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);

    sotto_hpke_ciphertext_read(&in, out);
    return sotto_reader_finish(&in, "HPKE ciphertext", err);
}

sotto_status sotto_hpke_ciphertext_encode(sotto_buf *out, const sotto_hpke_ciphertext *ciphertext,
                                          sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_hpke_ciphertext_write(&w, ciphertext);
    return sotto_writer_finish(&w, "HPKE ciphertext", err);
}

/* ---- ReportMetadata ------------------------------------------------------------------------------ */

void sotto_report_metadata_read(sotto_reader *in, sotto_report_metadata *out)
{
    sotto_read_fixed(in, out->report_id, sizeof out->report_id);
    out->time = sotto_read_uint(in, 8);
    out->public_extensions = sotto_read_opaque16(in);
}

void sotto_report_metadata_write(sotto_writer *w, const sotto_report_metadata *metadata)
{
    sotto_write_bytes(w, sotto_bytes_of(metadata->report_id, sizeof metadata->report_id));
    sotto_write_uint(w, metadata->time, 8);
    sotto_write_opaque16(w, metadata->public_extensions);
}

sotto_status sotto_report_metadata_decode(sotto_report_metadata *out, sotto_bytes wire,
                                          sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);

    sotto_report_metadata_read(&in, out);
    return sotto_reader_finish(&in, "report metadata", err);
}

sotto_status sotto_report_metadata_encode(sotto_buf *out, const sotto_report_metadata *metadata,
                                          sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_report_metadata_write(&w, metadata);
    return sotto_writer_finish(&w, "report metadata", err);
}
