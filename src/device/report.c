#include "device/report.h"

#include "base/rule.h"
#include "dap/report.h"

#include <string.h>

enum { METADATA = SOTTO_REPORT_ID_SIZE + 8 + 2, PLAIN = 2 + 4 };

/* Without public extensions: these are for tokens. */
static sotto_report_metadata metadata_of(const sotto_report_parts *parts)
{
    sotto_report_metadata metadata = {.time = parts->time};

    memcpy(metadata.report_id, parts->id, sizeof metadata.report_id);
    return metadata;
}

/* One byte of the task's configuration that differs, and no share opens. */
static sotto_status write_aad(sotto_buf *out, const sotto_report_parts *parts, sotto_err *err)
{
    sotto_report_metadata metadata = metadata_of(parts);
    sotto_bytes nothing = {NULL, 0};

    return sotto_input_share_aad_encode(out, parts->task,
                                        SOTTO_RULE(task_in_aad) ? parts->configuration : nothing,
                                        &metadata, parts->public_share, err);
}

/* ---- sealing ---------------------------------------------------------------------------------------------- */

static sotto_status take_buf(sotto_buf *out, size_t size, sotto_arena *arena, sotto_err *err)
{
    uint8_t *memory = sotto_arena_take(arena, size);

    *out = sotto_buf_over(memory, memory ? size : 0);
    return memory ? SOTTO_OK : sotto_fail(err, SOTTO_NO_MEMORY, "a report of %zu bytes", size);
}

static sotto_status seal_share(sotto_buf *sealed, const sotto_report_parts *parts, unsigned who,
                               const sotto_hpke_config *to, sotto_bytes aad, sotto_entropy *entropy,
                               sotto_arena *scratch, sotto_err *err)
{
    uint8_t text[SOTTO_DAP_INFO_MAX], ikm[SOTTO_HPKE_MAX_PRIVATE_KEY];
    sotto_bytes info = sotto_input_share_info(text, who == 0 ? SOTTO_DAP_LEADER : SOTTO_DAP_HELPER);
    size_t plain_size = PLAIN + parts->shares[who].len;
    sotto_buf plain;

    SOTTO_TRY(take_buf(&plain, plain_size, scratch, err));
    SOTTO_TRY(sotto_plaintext_input_share_encode(
        &plain, &(sotto_plaintext_input_share){{NULL, 0}, parts->shares[who]}, err));
    SOTTO_TRY(
        take_buf(sealed, plain_size + to->public_key.len + SOTTO_HPKE_TAG_SIZE, scratch, err));
    sotto_status status = sotto_entropy_take(entropy, ikm, sizeof ikm, err);
    if (status == SOTTO_OK)
        status = sotto_hpke_seal(sealed, to, sotto_bytes_of(ikm, sizeof ikm), info, aad,
                                 sotto_buf_bytes(&plain), err);
    sotto_wipe(ikm, sizeof ikm);
    return status;
}

static sotto_status seal(sotto_buf *out, const sotto_report_parts *parts,
                         const sotto_bytes keys[SOTTO_REPORT_SHARES], sotto_entropy *entropy,
                         sotto_arena *scratch, sotto_err *err)
{
    size_t aad_size =
        sizeof parts->task + parts->configuration.len + METADATA + 4 + parts->public_share.len;
    sotto_report_metadata metadata = metadata_of(parts);
    sotto_writer w = sotto_writer_on(out);
    sotto_buf aad;

    SOTTO_TRY(take_buf(&aad, aad_size, scratch, err));
    SOTTO_TRY(write_aad(&aad, parts, err));
    sotto_report_metadata_write(&w, &metadata);
    sotto_write_opaque32(&w, parts->public_share);
    for (unsigned who = 0; who < SOTTO_REPORT_SHARES; who++) {
        sotto_hpke_config to;
        sotto_buf sealed;
        sotto_arena_mark mark = sotto_arena_here(scratch);

        SOTTO_TRY(sotto_hpke_config_decode(&to, keys[who], err));
        SOTTO_TRY(
            seal_share(&sealed, parts, who, &to, sotto_buf_bytes(&aad), entropy, scratch, err));
        sotto_hpke_ciphertext_write(&w, &(sotto_hpke_ciphertext){to.id,
                                                                 {sealed.data, to.public_key.len},
                                                                 {sealed.data + to.public_key.len,
                                                                  sealed.len - to.public_key.len}});
        sotto_arena_rollback(scratch, mark);
    }
    return sotto_writer_finish(&w, "report", err);
}

sotto_status sotto_report_seal(sotto_buf *out, const sotto_report_parts *parts,
                               const sotto_bytes keys[SOTTO_REPORT_SHARES], sotto_entropy *entropy,
                               sotto_arena *scratch, sotto_err *err)
{
    sotto_arena_mark mark = sotto_arena_here(scratch);
    size_t before = out->len;
    sotto_status status = seal(out, parts, keys, entropy, scratch, err);

    if (status != SOTTO_OK)
        out->len = before;
    sotto_arena_rollback(scratch, mark);
    return status;
}

size_t sotto_report_size(const sotto_report_parts *parts)
{
    size_t size = METADATA + 4 + parts->public_share.len;

    for (unsigned who = 0; who < SOTTO_REPORT_SHARES; who++)
        size += 1 + 2 + SOTTO_HPKE_MAX_PUBLIC_KEY + 4 + PLAIN + parts->shares[who].len +
                SOTTO_HPKE_TAG_SIZE;
    return size;
}

/* ---- keeping ---------------------------------------------------------------------------------------------- */

/* A format of this device's own: it never leaves. */
enum { KEPT_VERSION = 1 };

size_t sotto_report_parts_size(const sotto_report_parts *parts)
{
    size_t size = 1 + sizeof parts->id + 8 + sizeof parts->task + 2 + parts->configuration.len + 4 +
                  parts->public_share.len;

    for (unsigned who = 0; who < SOTTO_REPORT_SHARES; who++)
        size += 2 + parts->parties[who].len + 2 + parts->keys[who].len + 4 + parts->shares[who].len;
    return size;
}

sotto_status sotto_report_parts_encode(sotto_buf *out, const sotto_report_parts *parts,
                                       sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_uint(&w, KEPT_VERSION, 1);
    sotto_write_bytes(&w, sotto_bytes_of(parts->id, sizeof parts->id));
    sotto_write_uint(&w, parts->time, 8);
    sotto_write_bytes(&w, sotto_bytes_of(parts->task, sizeof parts->task));
    sotto_write_opaque16(&w, parts->configuration);
    sotto_write_opaque32(&w, parts->public_share);
    for (unsigned who = 0; who < SOTTO_REPORT_SHARES; who++) {
        sotto_write_opaque16(&w, parts->parties[who]);
        sotto_write_opaque16(&w, parts->keys[who]);
        sotto_write_opaque32(&w, parts->shares[who]);
    }
    return sotto_writer_finish(&w, "a report's parts", err);
}

sotto_status sotto_report_parts_decode(sotto_report_parts *out, sotto_bytes kept, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(kept);

    if (sotto_read_uint(&in, 1) != KEPT_VERSION)
        return sotto_fail(err, SOTTO_MALFORMED, "a report's parts: of another version");
    sotto_read_fixed(&in, out->id, sizeof out->id);
    out->time = sotto_read_uint(&in, 8);
    sotto_read_fixed(&in, out->task, sizeof out->task);
    out->configuration = sotto_read_opaque16(&in);
    out->public_share = sotto_read_opaque32(&in);
    for (unsigned who = 0; who < SOTTO_REPORT_SHARES; who++) {
        out->parties[who] = sotto_read_opaque16(&in);
        out->keys[who] = sotto_read_opaque16(&in);
        out->shares[who] = sotto_read_opaque32(&in);
    }
    return sotto_reader_finish(&in, "a report's parts", err);
}
