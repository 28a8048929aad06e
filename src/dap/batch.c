/* Queries, batch selectors and the checksum: which reports are meant (DAP, "Batch Modes"). */
#include "dap/dap.h"

#include "crypto/hash.h"

enum { INTERVAL_SIZE = 16 };

/* ---- Query --------------------------------------------------------------------------------------- */

void sotto_dap_query_read(sotto_reader *in, sotto_dap_query *out)
{
    const unsigned mode = (unsigned)sotto_read_uint(in, 1);
    const sotto_bytes config = sotto_read_opaque16(in);
    sotto_reader inner = sotto_reader_over(config);

    *out = (sotto_dap_query){.mode = (sotto_dap_batch_mode)mode};
    if (mode == SOTTO_DAP_TIME_INTERVAL)
        sotto_dap_interval_read(&inner, &out->interval);
    else if (mode != SOTTO_DAP_LEADER_SELECTED)
        in->short_read = true;
    if (sotto_reader_finish(&inner, "query", NULL) != SOTTO_OK)
        in->short_read = true;
}

void sotto_dap_query_write(sotto_writer *w, const sotto_dap_query *query)
{
    sotto_write_uint(w, (uint64_t)query->mode, 1);
    if (query->mode == SOTTO_DAP_TIME_INTERVAL) {
        sotto_write_uint(w, INTERVAL_SIZE, 2);
        sotto_dap_interval_write(w, query->interval);
    } else {
        sotto_write_uint(w, 0, 2);
    }
}

sotto_status sotto_dap_query_decode(sotto_dap_query *out, sotto_bytes wire, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);

    sotto_dap_query_read(&in, out);
    return sotto_reader_finish(&in, "query", err);
}

sotto_status sotto_dap_query_encode(sotto_buf *out, const sotto_dap_query *query, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_dap_query_write(&w, query);
    return sotto_writer_finish(&w, "query", err);
}

/* ---- BatchSelector ------------------------------------------------------------------------------- */

void sotto_dap_batch_selector_read(sotto_reader *in, sotto_dap_batch_selector *out)
{
    const unsigned mode = (unsigned)sotto_read_uint(in, 1);
    const sotto_bytes config = sotto_read_opaque16(in);
    sotto_reader inner = sotto_reader_over(config);

    *out = (sotto_dap_batch_selector){.mode = (sotto_dap_batch_mode)mode};
    if (mode == SOTTO_DAP_TIME_INTERVAL)
        sotto_dap_interval_read(&inner, &out->interval);
    else if (mode == SOTTO_DAP_LEADER_SELECTED)
        sotto_read_fixed(&inner, out->batch_id, sizeof out->batch_id);
    else
        in->short_read = true;
    if (sotto_reader_finish(&inner, "batch selector", NULL) != SOTTO_OK)
        in->short_read = true;
}

void sotto_dap_batch_selector_write(sotto_writer *w, const sotto_dap_batch_selector *selector)
{
    sotto_write_uint(w, (uint64_t)selector->mode, 1);
    if (selector->mode == SOTTO_DAP_TIME_INTERVAL) {
        sotto_write_uint(w, INTERVAL_SIZE, 2);
        sotto_dap_interval_write(w, selector->interval);
    } else {
        sotto_write_opaque16(w, sotto_bytes_of(selector->batch_id, sizeof selector->batch_id));
    }
}

sotto_status sotto_dap_batch_selector_decode(sotto_dap_batch_selector *out, sotto_bytes wire,
                                             sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);

    sotto_dap_batch_selector_read(&in, out);
    return sotto_reader_finish(&in, "batch selector", err);
}

sotto_status sotto_dap_batch_selector_encode(sotto_buf *out,
                                             const sotto_dap_batch_selector *selector,
                                             sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_dap_batch_selector_write(&w, selector);
    return sotto_writer_finish(&w, "batch selector", err);
}

bool sotto_dap_batch_selector_fits(const sotto_dap_batch_selector *selector,
                                   const sotto_dap_query *query)
{
    if (selector->mode != query->mode)
        return false;
    return selector->mode != SOTTO_DAP_TIME_INTERVAL ||
           sotto_dap_interval_within(selector->interval, query->interval);
}

/* ---- checksum ------------------------------------------------------------------------------------ */

void sotto_dap_checksum_merge(uint8_t checksum[SOTTO_CHECKSUM_SIZE],
                              const uint8_t other[SOTTO_CHECKSUM_SIZE])
{
    for (size_t i = 0; i < SOTTO_CHECKSUM_SIZE; i++)
        checksum[i] ^= other[i];
}

void sotto_dap_checksum_add(uint8_t checksum[SOTTO_CHECKSUM_SIZE],
                            const uint8_t report_id[SOTTO_REPORT_ID_SIZE])
{
    uint8_t hash[SOTTO_CHECKSUM_SIZE];

    sotto_hash_once(hash, SOTTO_SHA256, sotto_bytes_of(report_id, SOTTO_REPORT_ID_SIZE));
    sotto_dap_checksum_merge(checksum, hash);
}
