/* PINE's parameters as a task's configuration has them: dimension, bound on the norm, squares in a call of the norm's gadget.
 * All others are the same in every task (shard.c). */
#include "aggregate/pine/pine.h"

sotto_status sotto_pine_config_encode(sotto_buf *out, const sotto_vdaf_config *config,
                                      sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    if (config->length > UINT32_MAX || config->chunk_length > UINT32_MAX)
        return sotto_fail(err, SOTTO_TOO_LARGE, "task configuration: lengths have four bytes");
    sotto_write_uint(&w, config->length, 4);
    sotto_write_uint(&w, config->max, 8);
    sotto_write_uint(&w, config->chunk_length, 4);
    return sotto_writer_finish(&w, "VDAF configuration", err);
}

sotto_status sotto_pine_config_decode(sotto_vdaf_config *config, sotto_bytes wire, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);

    config->shares = 2;
    config->length = sotto_read_uint(&in, 4);
    config->max = sotto_read_uint(&in, 8);
    config->chunk_length = sotto_read_uint(&in, 4);
    return sotto_reader_finish(&in, "task configuration: vdaf_configuration", err);
}
