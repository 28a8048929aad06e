#include "seal/ohttp/ohttp_batch.h"

sotto_status sotto_ohttp_batch_requests_read(sotto_bytes out[SOTTO_OHTTP_BATCH], size_t *count,
                                             sotto_bytes wire, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);
    size_t found = 0;

    *count = 0;
    while (sotto_reader_left(&in) > 0 && !in.short_read) {
        if (found == SOTTO_OHTTP_BATCH)
            return sotto_fail(err, SOTTO_TOO_LARGE, "OHTTP batch: more than %d requests",
                              SOTTO_OHTTP_BATCH);
        out[found++] = sotto_read_opaque32(&in);
    }
    SOTTO_TRY(sotto_reader_finish(&in, "OHTTP batch", err));
    if (found == 0)
        return sotto_fail(err, SOTTO_MALFORMED, "OHTTP batch: empty");
    *count = found;
    return SOTTO_OK;
}

sotto_status sotto_ohttp_batch_request_add(sotto_buf *out, sotto_bytes request, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_opaque32(&w, request);
    return sotto_writer_finish(&w, "OHTTP batch", err);
}

sotto_status sotto_ohttp_batch_answers_read(sotto_ohttp_batch_answer *out, size_t count,
                                            sotto_bytes wire, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);

    for (size_t i = 0; i < count; i++) {
        out[i].status = (unsigned)sotto_read_uint(&in, 2);
        out[i].body = sotto_read_opaque32(&in);
    }
    return sotto_reader_finish(&in, "answers of an OHTTP batch", err);
}

sotto_status sotto_ohttp_batch_answer_add(sotto_buf *out, const sotto_ohttp_batch_answer *answer,
                                          sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_uint(&w, answer->status, 2);
    sotto_write_opaque32(&w, answer->body);
    return sotto_writer_finish(&w, "answers of an OHTTP batch", err);
}
