#include "device/report.h"

#include "base/rule.h"
#include "sotto/seal.h"

#include <string.h>

/* ---- DAP draft 18, "Uploading Reports" -------------------------------------------------------------------- */

enum { ROLE_CLIENT = 1, ROLE_LEADER = 2, METADATA = SOTTO_REPORT_ID_SIZE + 8 + 2, PLAIN = 2 + 4 };

/* ReportMetadata without public extensions. */
static void write_metadata(sotto_writer *w, const sotto_report_parts *parts)
{
    sotto_write_bytes(w, sotto_bytes_of(parts->id, sizeof parts->id));
    sotto_write_uint(w, parts->time, 8);
    sotto_write_uint(w, 0, 2);
}

/* InputShareAad: one byte of the task's configuration that differs, and no share opens. */
static sotto_status write_aad(sotto_buf *out, const sotto_report_parts *parts, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_bytes(&w, sotto_bytes_of(parts->task, sizeof parts->task));
    if (SOTTO_RULE(task_in_aad))
        sotto_write_bytes(&w, parts->configuration);
    write_metadata(&w, parts);
    sotto_write_opaque32(&w, parts->public_share);
    return sotto_writer_finish(&w, "input share's associated data", err);
}

/* PlaintextInputShare without private extensions. */
static sotto_status write_plain(sotto_buf *out, sotto_bytes share, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_uint(&w, 0, 2);
    sotto_write_opaque32(&w, share);
    return sotto_writer_finish(&w, "input share", err);
}

static void write_info(uint8_t *out, size_t *len, unsigned receiver)
{
    static const char label[] = SOTTO_DAP_TAG " input share";

    memcpy(out, label, sizeof label - 1);
    out[sizeof label - 1] = ROLE_CLIENT;
    out[sizeof label] = (uint8_t)(ROLE_LEADER + receiver);
    *len = sizeof label + 1;
}

/* HpkeCiphertext of what was sealed: enc, then the ciphertext. */
static void write_ciphertext(sotto_writer *w, const sotto_hpke_config *to, sotto_bytes sealed)
{
    size_t enc = to->public_key.len;

    sotto_write_uint(w, to->id, 1);
    sotto_write_opaque16(w, sotto_bytes_of(sealed.data, enc));
    sotto_write_opaque32(w, sotto_bytes_of(sealed.data + enc, sealed.len - enc));
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
    uint8_t info[32], ikm[SOTTO_HPKE_MAX_PRIVATE_KEY];
    size_t info_len, plain_size = PLAIN + parts->shares[who].len;
    sotto_buf plain;

    SOTTO_TRY(take_buf(&plain, plain_size, scratch, err));
    SOTTO_TRY(write_plain(&plain, parts->shares[who], err));
    SOTTO_TRY(
        take_buf(sealed, plain_size + to->public_key.len + SOTTO_HPKE_TAG_SIZE, scratch, err));
    write_info(info, &info_len, who);
    sotto_status status = sotto_entropy_take(entropy, ikm, sizeof ikm, err);
    if (status == SOTTO_OK)
        status = sotto_hpke_seal(sealed, to, sotto_bytes_of(ikm, sizeof ikm),
                                 sotto_bytes_of(info, info_len), aad, sotto_buf_bytes(&plain), err);
    sotto_wipe(ikm, sizeof ikm);
    return status;
}

static sotto_status seal(sotto_buf *out, const sotto_report_parts *parts,
                         const sotto_bytes keys[SOTTO_REPORT_SHARES], sotto_entropy *entropy,
                         sotto_arena *scratch, sotto_err *err)
{
    size_t aad_size =
        sizeof parts->task + parts->configuration.len + METADATA + 4 + parts->public_share.len;
    sotto_writer w = sotto_writer_on(out);
    sotto_buf aad;

    SOTTO_TRY(take_buf(&aad, aad_size, scratch, err));
    SOTTO_TRY(write_aad(&aad, parts, err));
    write_metadata(&w, parts);
    sotto_write_opaque32(&w, parts->public_share);
    for (unsigned who = 0; who < SOTTO_REPORT_SHARES; who++) {
        sotto_hpke_config to;
        sotto_buf sealed;
        sotto_arena_mark mark = sotto_arena_here(scratch);

        SOTTO_TRY(sotto_hpke_config_decode(&to, keys[who], err));
        SOTTO_TRY(
            seal_share(&sealed, parts, who, &to, sotto_buf_bytes(&aad), entropy, scratch, err));
        write_ciphertext(&w, &to, sotto_buf_bytes(&sealed));
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
