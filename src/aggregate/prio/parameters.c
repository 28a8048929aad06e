/* Prio3's parameters as a task's configuration and a round have them. */
#include "aggregate/prio/prio.h"

/* DAP draft 18, "VDAF Configuration Encodings"; note the order of the multihot vector's. */
static sotto_status write_parameters(sotto_writer *w, const sotto_vdaf_config *config,
                                     sotto_err *err)
{
    switch (config->type) {
    case SOTTO_PRIO3_COUNT:
        return SOTTO_OK;
    case SOTTO_PRIO3_SUM:
        sotto_write_uint(w, config->max, 8);
        return SOTTO_OK;
    case SOTTO_PRIO3_SUM_VEC:
    case SOTTO_PRIO3_L1_BOUND_SUM:
        sotto_write_uint(w, config->length, 4);
        sotto_write_uint(w, config->max, 8);
        sotto_write_uint(w, config->chunk_length, 4);
        return SOTTO_OK;
    case SOTTO_PRIO3_HISTOGRAM:
        sotto_write_uint(w, config->length, 4);
        sotto_write_uint(w, config->chunk_length, 4);
        return SOTTO_OK;
    case SOTTO_PRIO3_MULTIHOT_COUNT_VEC:
        sotto_write_uint(w, config->length, 4);
        sotto_write_uint(w, config->chunk_length, 4);
        sotto_write_uint(w, config->max, 8);
        return SOTTO_OK;
    case SOTTO_PRIO3_SUM_VEC_WITH_MULTIPROOF:
    default:
        break;
    }
    return sotto_fail(err, SOTTO_MISSING, "DAP has no configuration for this type of Prio3");
}

sotto_status sotto_prio_config_encode(sotto_buf *out, const sotto_vdaf_config *config,
                                      sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    if (config->length > UINT32_MAX || config->chunk_length > UINT32_MAX)
        return sotto_fail(err, SOTTO_TOO_LARGE, "task configuration: lengths have four bytes");
    SOTTO_TRY(write_parameters(&w, config, err));
    return sotto_writer_finish(&w, "VDAF configuration", err);
}

/* As write_parameters has them. */
sotto_status sotto_prio_config_decode(sotto_vdaf_config *config, sotto_bytes wire, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);

    config->shares = 2;
    switch (config->type) {
    case SOTTO_PRIO3_COUNT:
        break;
    case SOTTO_PRIO3_SUM:
        config->max = sotto_read_uint(&in, 8);
        break;
    case SOTTO_PRIO3_SUM_VEC:
    case SOTTO_PRIO3_L1_BOUND_SUM:
        config->length = sotto_read_uint(&in, 4);
        config->max = sotto_read_uint(&in, 8);
        config->chunk_length = sotto_read_uint(&in, 4);
        break;
    case SOTTO_PRIO3_HISTOGRAM:
        config->length = sotto_read_uint(&in, 4);
        config->chunk_length = sotto_read_uint(&in, 4);
        break;
    case SOTTO_PRIO3_MULTIHOT_COUNT_VEC:
        config->length = sotto_read_uint(&in, 4);
        config->chunk_length = sotto_read_uint(&in, 4);
        config->max = sotto_read_uint(&in, 8);
        break;
    case SOTTO_PRIO3_SUM_VEC_WITH_MULTIPROOF:
    default:
        return sotto_fail(err, SOTTO_MISSING, "task configuration: a VDAF that we don't know");
    }
    return sotto_reader_finish(&in, "task configuration: vdaf_configuration", err);
}

sotto_status sotto_prio_parameters_encode(sotto_buf *out, const sotto_prio3_config *config,
                                          sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_uint(&w, (uint32_t)config->type, 4);
    SOTTO_TRY(sotto_writer_finish(&w, "prio parameters", err));
    return sotto_prio_config_encode(out, config, err);
}

sotto_status sotto_prio_parameters_decode(sotto_prio3_config *config, sotto_bytes wire,
                                          sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);
    const uint32_t type = (uint32_t)sotto_read_uint(&in, 4);
    const sotto_bytes parameters = sotto_read_bytes(&in, sotto_reader_left(&in));

    SOTTO_TRY(sotto_reader_finish(&in, "prio parameters", err));
    *config = (sotto_prio3_config){.type = (int32_t)type};
    return sotto_prio_config_decode(config, parameters, err);
}
