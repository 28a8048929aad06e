#include "device/answer/kept_half.h"

#include "base/rule.h"

#include <string.h>

/* ---- keeping ---------------------------------------------------------------------------------------------- */

/* A format of this device's own: it never leaves. Version 1 had the report's id, time and public share, which stand in
 * the sealed report too, and both halves. Version 2 had no seed. */
enum { KEPT_BOTH = 1, KEPT_BARE = 2, KEPT_VERSION = 3 };

sotto_kept_half sotto_kept_half_of(const sotto_report_draft *draft, unsigned half,
                                   sotto_bytes party, sotto_bytes key, sotto_bytes seed)
{
    sotto_kept_half kept = {.half = half,
                            .configuration = draft->configuration,
                            .party = party,
                            .key = key,
                            .seed = seed,
                            .share = draft->shares[half].payload};

    memcpy(kept.task, draft->task_id, sizeof kept.task);
    return kept;
}

size_t sotto_kept_half_size(const sotto_kept_half *kept)
{
    return 1 + 1 + sizeof kept->task + 2 + kept->configuration.len + 2 + kept->party.len + 2 +
           kept->key.len + 2 + kept->seed.len + 4 + kept->share.len;
}

sotto_status sotto_kept_half_encode(sotto_buf *out, const sotto_kept_half *kept, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_uint(&w, KEPT_VERSION, 1);
    sotto_write_uint(&w, kept->half, 1);
    sotto_write_bytes(&w, sotto_bytes_of(kept->task, sizeof kept->task));
    sotto_write_opaque16(&w, kept->configuration);
    sotto_write_opaque16(&w, kept->party);
    sotto_write_opaque16(&w, kept->key);
    sotto_write_opaque16(&w, kept->seed);
    sotto_write_opaque32(&w, kept->share);
    return sotto_writer_finish(&w, "a kept report", err);
}

static void read_half(sotto_reader *in, sotto_kept_half *out, bool seeded)
{
    out->party = sotto_read_opaque16(in);
    out->key = sotto_read_opaque16(in);
    if (seeded)
        out->seed = sotto_read_opaque16(in);
    out->share = sotto_read_opaque32(in);
}

static void read_both(sotto_reader *in, sotto_kept_half *out)
{
    sotto_kept_half helper;

    (void)sotto_read_bytes(in, SOTTO_REPORT_ID_SIZE + 8);
    sotto_read_fixed(in, out->task, sizeof out->task);
    out->configuration = sotto_read_opaque16(in);
    (void)sotto_read_opaque32(in);
    read_half(in, out, false);
    read_half(in, &helper, false);
}

sotto_status sotto_kept_half_decode(sotto_kept_half *out, sotto_bytes bytes, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(bytes);
    uint64_t version = sotto_read_uint(&in, 1);

    *out = (sotto_kept_half){.half = SOTTO_REPORT_LEADER};
    if (version == KEPT_BOTH) {
        read_both(&in, out);
    } else if (version == KEPT_BARE || version == KEPT_VERSION) {
        out->half = (unsigned)sotto_read_uint(&in, 1);
        sotto_read_fixed(&in, out->task, sizeof out->task);
        out->configuration = sotto_read_opaque16(&in);
        read_half(&in, out, version == KEPT_VERSION);
    } else {
        return sotto_fail(err, SOTTO_MALFORMED, "a kept report: of another version");
    }
    SOTTO_TRY(sotto_reader_finish(&in, "a kept report", err));
    return out->half < SOTTO_REPORT_SHARES
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_MALFORMED, "a kept report: of neither half");
}

/* ---- sealing ---------------------------------------------------------------------------------------------- */

static sotto_status seal(sotto_buf *out, sotto_dap_report *report, const sotto_kept_half *kept,
                         const sotto_hpke_config *to, sotto_entropy *entropy, sotto_arena *scratch,
                         sotto_err *err)
{
    sotto_hpke_ciphertext *half =
        kept->half == SOTTO_REPORT_LEADER ? &report->leader : &report->helper;
    sotto_report_draft draft = {.configuration = kept->configuration,
                                .metadata = report->metadata,
                                .public_share = report->public_share};
    uint8_t ikm[SOTTO_HPKE_MAX_PRIVATE_KEY];

    memcpy(draft.task_id, kept->task, sizeof draft.task_id);
    draft.shares[kept->half].payload = kept->share;
    if (kept->seed.len > 0)
        SOTTO_TRY(sotto_admission_bind(&draft, kept->half, kept->seed, to, scratch, err));
    sotto_status status = sotto_entropy_take(entropy, ikm, sizeof ikm, err);
    if (status == SOTTO_OK)
        status = sotto_report_seal_share(half, &draft, kept->half, to,
                                         sotto_bytes_of(ikm, sizeof ikm), scratch, err);
    sotto_wipe(ikm, sizeof ikm);
    return status == SOTTO_OK ? sotto_dap_report_encode(out, report, err) : status;
}

sotto_status sotto_kept_half_seal(sotto_buf *out, sotto_bytes sealed, const sotto_kept_half *kept,
                                  sotto_bytes key, sotto_entropy *entropy, sotto_arena *scratch,
                                  sotto_err *err)
{
    const sotto_arena_mark mark = sotto_arena_here(scratch);
    sotto_dap_report report;
    sotto_hpke_config to;

    if (SOTTO_RULE(helper_sealed_once) && kept->half != SOTTO_REPORT_LEADER)
        return sotto_fail(err, SOTTO_DENIED, "a report's helper half is never sealed again");
    SOTTO_TRY(sotto_dap_report_decode(&report, sealed, err));
    SOTTO_TRY(sotto_hpke_config_decode(&to, key, err));
    const sotto_status status = seal(out, &report, kept, &to, entropy, scratch, err);
    sotto_arena_rollback(scratch, mark);
    return status;
}
