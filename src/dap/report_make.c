/* From a measurement to a sealed report (DAP, "Upload Request"). */
#include "base/arena.h"
#include "dap/report_many.h"

#include <string.h>

enum { IKM = SOTTO_HPKE_MAX_PRIVATE_KEY };

sotto_status sotto_report_shard(sotto_report_draft *draft, const sotto_vdaf *vdaf,
                                sotto_measurement measurement, sotto_bytes rand, sotto_arena *arena,
                                sotto_err *err)
{
    uint8_t context[SOTTO_DAP_CONTEXT_SIZE];
    sotto_buf public_share, shares[SOTTO_REPORT_SHARES];

    SOTTO_TRY(sotto_buf_take(&public_share, arena, vdaf->sizes.public_share, err));
    SOTTO_TRY(sotto_buf_take(&shares[SOTTO_REPORT_LEADER], arena, vdaf->sizes.leader_share, err));
    SOTTO_TRY(sotto_buf_take(&shares[SOTTO_REPORT_HELPER], arena, vdaf->sizes.helper_share, err));
    sotto_dap_context(context, draft->task_id);
    SOTTO_TRY(vdaf->ops->shard(vdaf, &public_share, shares, sotto_bytes_of(context, sizeof context),
                               measurement, draft->metadata.report_id, rand, arena, err));
    draft->public_share = sotto_buf_bytes(&public_share);
    for (unsigned who = 0; who < SOTTO_REPORT_SHARES; who++)
        draft->shares[who].payload = sotto_buf_bytes(&shares[who]);
    return SOTTO_OK;
}

sotto_status sotto_report_aad_encode(sotto_buf *out, const sotto_report_draft *draft,
                                     sotto_err *err)
{
    return sotto_input_share_aad_encode(out, draft->task_id, draft->configuration, &draft->metadata,
                                        draft->public_share, err);
}

size_t sotto_report_aad_size(const sotto_report_draft *draft)
{
    return sizeof draft->task_id + draft->configuration.len + sizeof draft->metadata.report_id + 8 +
           2 + draft->metadata.public_extensions.len + 4 + draft->public_share.len;
}

static size_t plain_size(const sotto_plaintext_input_share *share)
{
    return 2 + share->private_extensions.len + 4 + share->payload.len;
}

static sotto_status seal(sotto_buf *sealed, const sotto_report_draft *draft, unsigned who,
                         sotto_hpke_sender *sender, const sotto_ephemeral *with, sotto_arena *arena,
                         sotto_err *err)
{
    sotto_buf aad, plain;

    SOTTO_TRY(sotto_buf_take(&aad, arena, sotto_report_aad_size(draft), err));
    SOTTO_TRY(sotto_report_aad_encode(&aad, draft, err));
    SOTTO_TRY(sotto_buf_take(&plain, arena, plain_size(&draft->shares[who]), err));
    SOTTO_TRY(sotto_plaintext_input_share_encode(&plain, &draft->shares[who], err));
    return sotto_hpke_sender_seal(sender, sealed, with, sotto_buf_bytes(&aad),
                                  sotto_buf_bytes(&plain), err);
}

static sotto_status seal_share(sotto_hpke_ciphertext *out, const sotto_report_draft *draft,
                               unsigned who, sotto_hpke_sender *sender, const sotto_ephemeral *with,
                               sotto_arena *arena, sotto_err *err)
{
    const size_t enc = sender->to->public_key.len;
    sotto_buf sealed;

    SOTTO_TRY(sotto_buf_take(&sealed, arena,
                             enc + plain_size(&draft->shares[who]) + SOTTO_HPKE_TAG_SIZE, err));
    const sotto_arena_mark mark = sotto_arena_here(arena);
    const sotto_status status = seal(&sealed, draft, who, sender, with, arena, err);
    sotto_arena_rollback(arena, mark); /* the share in clear */
    if (status != SOTTO_OK)
        return status;
    *out = (sotto_hpke_ciphertext){sender->to->id, sotto_bytes_of(sealed.data, enc),
                                   sotto_bytes_of(sealed.data + enc, sealed.len - enc)};
    return SOTTO_OK;
}

static sotto_status init_sender(sotto_hpke_sender *sender, unsigned who,
                                const sotto_hpke_config *to, sotto_err *err)
{
    const sotto_dap_role role = who == SOTTO_REPORT_LEADER ? SOTTO_DAP_LEADER : SOTTO_DAP_HELPER;
    uint8_t label[SOTTO_DAP_INFO_MAX];

    return sotto_hpke_sender_init(sender, to, sotto_input_share_info(label, role), err);
}

/* with: NULL, and the ephemeral key comes of ikm. */
static sotto_status seal_once(sotto_hpke_ciphertext *out, const sotto_report_draft *draft,
                              unsigned who, const sotto_hpke_config *to,
                              const sotto_ephemeral *with, sotto_bytes ikm, sotto_arena *arena,
                              sotto_err *err)
{
    sotto_ephemeral derived;
    sotto_hpke_sender sender;

    sotto_status status = init_sender(&sender, who, to, err);
    if (status == SOTTO_OK && !with)
        status = sotto_hpke_sender_derive(&sender, &derived, ikm, err);
    if (status == SOTTO_OK)
        status = seal_share(out, draft, who, &sender, with ? with : &derived, arena, err);
    sotto_hpke_sender_clear(&sender);
    sotto_wipe(&derived, sizeof derived);
    return status;
}

sotto_status sotto_report_seal_share(sotto_hpke_ciphertext *out, const sotto_report_draft *draft,
                                     unsigned who, const sotto_hpke_config *to, sotto_bytes ikm,
                                     sotto_arena *arena, sotto_err *err)
{
    return seal_once(out, draft, who, to, NULL, ikm, arena, err);
}

static void begin(sotto_dap_report *out, const sotto_report_draft *draft)
{
    *out = (sotto_dap_report){.metadata = draft->metadata, .public_share = draft->public_share};
}

sotto_status sotto_report_seal_both_with(sotto_dap_report *out, const sotto_report_draft *draft,
                                         const sotto_hpke_config to[SOTTO_REPORT_SHARES],
                                         const sotto_ephemeral *with, sotto_bytes ikm,
                                         sotto_arena *arena, sotto_err *err)
{
    if (ikm.len != SOTTO_REPORT_SHARES * IKM)
        return sotto_fail(err, SOTTO_BUG, "report: %zu random bytes to seal with", ikm.len);
    begin(out, draft);
    SOTTO_TRY(seal_once(&out->leader, draft, SOTTO_REPORT_LEADER, &to[SOTTO_REPORT_LEADER], with,
                        sotto_bytes_of(ikm.data, IKM), arena, err));
    return seal_once(&out->helper, draft, SOTTO_REPORT_HELPER, &to[SOTTO_REPORT_HELPER],
                     with ? with + 1 : NULL, sotto_bytes_of(ikm.data + IKM, IKM), arena, err);
}

sotto_status sotto_report_seal_both(sotto_dap_report *out, const sotto_report_draft *draft,
                                    const sotto_hpke_config to[SOTTO_REPORT_SHARES],
                                    sotto_bytes ikm, sotto_arena *arena, sotto_err *err)
{
    return sotto_report_seal_both_with(out, draft, to, NULL, ikm, arena, err);
}

size_t sotto_report_random_size(const sotto_vdaf *vdaf)
{
    return SOTTO_REPORT_ID_SIZE + vdaf->sizes.rand + SOTTO_REPORT_SHARES * IKM;
}

sotto_status sotto_report_shard_from(sotto_report_draft *draft, sotto_bytes *ikm,
                                     const sotto_vdaf *vdaf, sotto_measurement measurement,
                                     sotto_bytes random, sotto_arena *arena, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(random);

    sotto_read_fixed(&in, draft->metadata.report_id, sizeof draft->metadata.report_id);
    const sotto_bytes rand = sotto_read_bytes(&in, vdaf->sizes.rand);
    *ikm = sotto_read_bytes(&in, SOTTO_REPORT_SHARES * IKM);
    if (in.short_read || sotto_reader_left(&in) > 0)
        return sotto_fail(err, SOTTO_BUG, "report: %zu random bytes", random.len);
    return sotto_report_shard(draft, vdaf, measurement, rand, arena, err);
}

sotto_status sotto_report_make(sotto_dap_report *out, sotto_report_draft *draft,
                               const sotto_vdaf *vdaf, sotto_measurement measurement,
                               const sotto_hpke_config to[SOTTO_REPORT_SHARES], sotto_bytes random,
                               sotto_arena *arena, sotto_err *err)
{
    return sotto_report_make_with(out, draft, vdaf, measurement, to, NULL, random, arena, err);
}

sotto_status sotto_report_make_with(sotto_dap_report *out, sotto_report_draft *draft,
                                    const sotto_vdaf *vdaf, sotto_measurement measurement,
                                    const sotto_hpke_config to[SOTTO_REPORT_SHARES],
                                    const sotto_ephemeral *with, sotto_bytes random,
                                    sotto_arena *arena, sotto_err *err)
{
    sotto_bytes ikm;

    SOTTO_TRY(sotto_report_shard_from(draft, &ikm, vdaf, measurement, random, arena, err));
    return sotto_report_seal_both_with(out, draft, to, with, ikm, arena, err);
}
