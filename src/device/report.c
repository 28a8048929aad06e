#include "device/report.h"

#include "base/rule.h"
#include "dap/report.h"

#include <string.h>

enum { METADATA = SOTTO_REPORT_ID_SIZE + 8 + 2, PLAIN = 2 + 4 };

/* What both halves are bound to. One byte of the task's configuration that differs, and no share opens. */
typedef struct binding {
    const uint8_t *task;
    sotto_bytes configuration;
    sotto_report_metadata metadata;
    sotto_bytes public_share;
} binding;

/* ---- sealing ---------------------------------------------------------------------------------------------- */

static sotto_status take_buf(sotto_buf *out, size_t size, sotto_arena *arena, sotto_err *err)
{
    uint8_t *memory = sotto_arena_take(arena, size);

    *out = sotto_buf_over(memory, memory ? size : 0);
    return memory ? SOTTO_OK : sotto_fail(err, SOTTO_NO_MEMORY, "a report of %zu bytes", size);
}

static sotto_status make_aad(sotto_buf *out, const binding *b, sotto_arena *scratch, sotto_err *err)
{
    size_t size = SOTTO_TASK_ID_SIZE + b->configuration.len + METADATA +
                  b->metadata.public_extensions.len + 4 + b->public_share.len;
    sotto_bytes nothing = {NULL, 0};

    SOTTO_TRY(take_buf(out, size, scratch, err));
    return sotto_input_share_aad_encode(out, b->task,
                                        SOTTO_RULE(task_in_aad) ? b->configuration : nothing,
                                        &b->metadata, b->public_share, err);
}

/* The ciphertext is in the scratch arena. */
static sotto_status seal_half(sotto_hpke_ciphertext *out, unsigned half, sotto_bytes share,
                              sotto_bytes key, sotto_bytes aad, sotto_entropy *entropy,
                              sotto_arena *scratch, sotto_err *err)
{
    uint8_t text[SOTTO_DAP_INFO_MAX], ikm[SOTTO_HPKE_MAX_PRIVATE_KEY];
    sotto_bytes info = sotto_input_share_info(text, half == SOTTO_REPORT_LEADER ? SOTTO_DAP_LEADER
                                                                                : SOTTO_DAP_HELPER);
    size_t plain_size = PLAIN + share.len, enc;
    sotto_hpke_config to;
    sotto_buf plain, sealed;

    SOTTO_TRY(sotto_hpke_config_decode(&to, key, err));
    enc = to.public_key.len;
    SOTTO_TRY(take_buf(&plain, plain_size, scratch, err));
    SOTTO_TRY(sotto_plaintext_input_share_encode(
        &plain, &(sotto_plaintext_input_share){{NULL, 0}, share}, err));
    SOTTO_TRY(take_buf(&sealed, plain_size + enc + SOTTO_HPKE_TAG_SIZE, scratch, err));
    sotto_status status = sotto_entropy_take(entropy, ikm, sizeof ikm, err);
    if (status == SOTTO_OK)
        status = sotto_hpke_seal(&sealed, &to, sotto_bytes_of(ikm, sizeof ikm), info, aad,
                                 sotto_buf_bytes(&plain), err);
    sotto_wipe(ikm, sizeof ikm);
    if (status == SOTTO_OK)
        *out = (sotto_hpke_ciphertext){to.id, sotto_bytes_of(sealed.data, enc),
                                       sotto_bytes_of(sealed.data + enc, sealed.len - enc)};
    return status;
}

/* Without public extensions: these are for tokens. */
static sotto_status seal(sotto_buf *out, const sotto_report_parts *parts, sotto_entropy *entropy,
                         sotto_arena *scratch, sotto_err *err)
{
    binding b = {.task = parts->task,
                 .configuration = parts->configuration,
                 .metadata = {.time = parts->time},
                 .public_share = parts->public_share};
    sotto_writer w = sotto_writer_on(out);
    sotto_buf aad;

    memcpy(b.metadata.report_id, parts->id, sizeof b.metadata.report_id);
    SOTTO_TRY(make_aad(&aad, &b, scratch, err));
    sotto_report_metadata_write(&w, &b.metadata);
    sotto_write_opaque32(&w, b.public_share);
    for (unsigned half = 0; half < SOTTO_REPORT_SHARES; half++) {
        sotto_arena_mark mark = sotto_arena_here(scratch);
        sotto_hpke_ciphertext sealed;

        SOTTO_TRY(seal_half(&sealed, half, parts->shares[half], parts->keys[half],
                            sotto_buf_bytes(&aad), entropy, scratch, err));
        sotto_hpke_ciphertext_write(&w, &sealed);
        sotto_arena_rollback(scratch, mark);
    }
    return sotto_writer_finish(&w, "report", err);
}

sotto_status sotto_report_seal(sotto_buf *out, const sotto_report_parts *parts,
                               sotto_entropy *entropy, sotto_arena *scratch, sotto_err *err)
{
    sotto_arena_mark mark = sotto_arena_here(scratch);
    size_t before = out->len;
    sotto_status status = seal(out, parts, entropy, scratch, err);

    if (status != SOTTO_OK)
        out->len = before;
    sotto_arena_rollback(scratch, mark);
    return status;
}

static sotto_status seal_again(sotto_buf *out, sotto_dap_report *report,
                               const sotto_report_kept *kept, sotto_bytes key,
                               sotto_entropy *entropy, sotto_arena *scratch, sotto_err *err)
{
    const binding b = {kept->task, kept->configuration, report->metadata, report->public_share};
    sotto_hpke_ciphertext *half =
        kept->half == SOTTO_REPORT_LEADER ? &report->leader : &report->helper;
    sotto_buf aad;

    SOTTO_TRY(make_aad(&aad, &b, scratch, err));
    SOTTO_TRY(seal_half(half, kept->half, kept->share, key, sotto_buf_bytes(&aad), entropy, scratch,
                        err));
    return sotto_dap_report_encode(out, report, err);
}

sotto_status sotto_report_seal_again(sotto_buf *out, sotto_bytes sealed,
                                     const sotto_report_kept *kept, sotto_bytes key,
                                     sotto_entropy *entropy, sotto_arena *scratch, sotto_err *err)
{
    sotto_arena_mark mark = sotto_arena_here(scratch);
    size_t before = out->len;
    sotto_dap_report report;

    if (SOTTO_RULE(helper_sealed_once) && kept->half != SOTTO_REPORT_LEADER)
        return sotto_fail(err, SOTTO_DENIED, "a report's helper half is never sealed again");
    SOTTO_TRY(sotto_dap_report_decode(&report, sealed, err));
    sotto_status status = seal_again(out, &report, kept, key, entropy, scratch, err);
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

/* A format of this device's own: it never leaves. Version 1 had the report's id, time and public share, which stand in
 * the sealed report too, and both halves. */
enum { KEPT_BOTH = 1, KEPT_VERSION = 2 };

sotto_report_kept sotto_report_keep(const sotto_report_parts *parts, unsigned half)
{
    sotto_report_kept kept = {.half = half,
                              .configuration = parts->configuration,
                              .party = parts->parties[half],
                              .key = parts->keys[half],
                              .share = parts->shares[half]};

    memcpy(kept.task, parts->task, sizeof kept.task);
    return kept;
}

size_t sotto_report_kept_size(const sotto_report_kept *kept)
{
    return 1 + 1 + sizeof kept->task + 2 + kept->configuration.len + 2 + kept->party.len + 2 +
           kept->key.len + 4 + kept->share.len;
}

sotto_status sotto_report_kept_encode(sotto_buf *out, const sotto_report_kept *kept, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_uint(&w, KEPT_VERSION, 1);
    sotto_write_uint(&w, kept->half, 1);
    sotto_write_bytes(&w, sotto_bytes_of(kept->task, sizeof kept->task));
    sotto_write_opaque16(&w, kept->configuration);
    sotto_write_opaque16(&w, kept->party);
    sotto_write_opaque16(&w, kept->key);
    sotto_write_opaque32(&w, kept->share);
    return sotto_writer_finish(&w, "a kept report", err);
}

static void read_half(sotto_reader *in, sotto_report_kept *out)
{
    out->party = sotto_read_opaque16(in);
    out->key = sotto_read_opaque16(in);
    out->share = sotto_read_opaque32(in);
}

static void read_both(sotto_reader *in, sotto_report_kept *out)
{
    sotto_report_kept helper;

    (void)sotto_read_bytes(in, SOTTO_REPORT_ID_SIZE + 8);
    sotto_read_fixed(in, out->task, sizeof out->task);
    out->configuration = sotto_read_opaque16(in);
    (void)sotto_read_opaque32(in);
    read_half(in, out);
    read_half(in, &helper);
}

sotto_status sotto_report_kept_decode(sotto_report_kept *out, sotto_bytes bytes, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(bytes);
    uint64_t version = sotto_read_uint(&in, 1);

    *out = (sotto_report_kept){.half = SOTTO_REPORT_LEADER};
    if (version == KEPT_BOTH) {
        read_both(&in, out);
    } else if (version == KEPT_VERSION) {
        out->half = (unsigned)sotto_read_uint(&in, 1);
        sotto_read_fixed(&in, out->task, sizeof out->task);
        out->configuration = sotto_read_opaque16(&in);
        read_half(&in, out);
    } else {
        return sotto_fail(err, SOTTO_MALFORMED, "a kept report: of another version");
    }
    SOTTO_TRY(sotto_reader_finish(&in, "a kept report", err));
    return out->half < SOTTO_REPORT_SHARES
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_MALFORMED, "a kept report: of neither half");
}
