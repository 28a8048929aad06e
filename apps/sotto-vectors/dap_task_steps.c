/* What each party of a task computes, for checking a transcript and for making one. */
#include "dap_task.h"

#include "base/arena.h"

#include <string.h>

const uint8_t *sotto_dap_transcript_id(const sotto_dap_transcript_report *report)
{
    return report->report.metadata.report_id;
}

/* ---- the client ------------------------------------------------------------------------------ */

sotto_report_draft sotto_dap_transcript_draft(const sotto_dap_transcript *t,
                                              const sotto_dap_transcript_report *report)
{
    sotto_report_draft draft = {
        .configuration = t->configuration,
        .metadata.time = report->time,
        .public_share = report->public_share,
        .shares = {{.payload = report->input_share[0]}, {.payload = report->input_share[1]}}};

    memcpy(draft.task_id, t->task_id.data, sizeof draft.task_id);
    memcpy(draft.metadata.report_id, sotto_dap_transcript_id(report), SOTTO_REPORT_ID_SIZE);
    return draft;
}

sotto_status sotto_dap_transcript_shard(const sotto_dap_transcript *t, size_t index,
                                        sotto_report_draft *draft, sotto_err *err)
{
    const sotto_dap_transcript_report *report = &t->reports[index];
    const json_t *item = json_array_get(json_object_get(t->root, "reports"), index);
    const json_t *measurement = json_object_get(item, "measurement");
    const size_t count = json_is_array(measurement) ? json_array_size(measurement) : 1;
    uint64_t *values = sotto_arena_take_array(t->arena, count ? count : 1, sizeof *values);
    sotto_measurement m = {values, count};
    sotto_vdaf vdaf;

    if (values == NULL)
        return sotto_fail(err, SOTTO_NO_MEMORY, "measurement: too long");
    for (size_t i = 0; i < count; i++) {
        const json_t *value =
            json_is_array(measurement) ? json_array_get(measurement, i) : measurement;

        values[i] =
            json_is_boolean(value) ? json_is_true(value) : (uint64_t)json_integer_value(value);
    }
    *draft = sotto_dap_transcript_draft(t, report);
    SOTTO_TRY(sotto_vdaf_open(&vdaf, &t->vdaf.config, t->arena, err));
    SOTTO_TRY(sotto_report_shard(draft, &vdaf, m, report->rand, t->arena, err));
    if (report->tampered)
        *(uint8_t *)(uintptr_t)draft->shares[SOTTO_REPORT_HELPER].payload.data ^= 1;
    return SOTTO_OK;
}

sotto_status sotto_dap_transcript_seal_share(const sotto_dap_transcript *t,
                                             sotto_hpke_ciphertext *out,
                                             const sotto_dap_transcript_report *report, unsigned to,
                                             sotto_err *err)
{
    const sotto_report_draft draft = sotto_dap_transcript_draft(t, report);
    uint8_t info[SOTTO_DAP_INFO_MAX];
    sotto_plaintext_input_share again;
    sotto_buf plain;

    SOTTO_TRY(sotto_buf_take(&plain, t->arena, report->input_share[to].len + 6, err));
    SOTTO_TRY(sotto_plaintext_input_share_encode(&plain, &draft.shares[to], err));
    SOTTO_TRY(sotto_plaintext_input_share_decode(&again, sotto_buf_bytes(&plain), err));
    return sotto_dap_transcript_seal(
        t, out, &t->holders[to], report->ephemeral[to],
        sotto_input_share_info(info, to == 0 ? SOTTO_DAP_LEADER : SOTTO_DAP_HELPER), report->aad,
        sotto_buf_bytes(&plain), err);
}

/* ---- the aggregators ------------------------------------------------------------------------- */

static sotto_status make_verification(const sotto_dap_transcript *t, sotto_dap_verification *v,
                                      sotto_err *err)
{
    for (unsigned a = 0; a < 2; a++) {
        v->states[a] = sotto_arena_take_array(t->arena, t->count, sizeof *v->states[a]);
        v->reports[a] = sotto_arena_take_array(t->arena, t->count, sizeof *v->reports[a]);
        v->outbound[a] = sotto_arena_take_array(t->arena, t->count, sizeof *v->outbound[a]);
        if (!v->states[a] || !v->reports[a] || !v->outbound[a])
            return sotto_fail(err, SOTTO_NO_MEMORY, "too many reports");
        for (size_t i = 0; i < t->count; i++) {
            memcpy(v->reports[a][i].nonce, sotto_dap_transcript_id(&t->reports[i]),
                   SOTTO_REPORT_ID_SIZE);
            v->reports[a][i].public_share = t->reports[i].public_share;
            v->reports[a][i].input_share = t->reports[i].input_share[a];
        }
    }
    return SOTTO_OK;
}

sotto_status sotto_dap_transcript_verify(const sotto_dap_transcript *t, sotto_dap_verification *v,
                                         sotto_err *err)
{
    sotto_prio3_verifier leader = {.context = t->context, .aggregator = 0};
    sotto_prio3_verifier helper = {.context = t->context, .aggregator = 1};

    SOTTO_TRY(make_verification(t, v, err));
    memcpy(leader.verify_key, t->verify_key.data, sizeof leader.verify_key);
    memcpy(helper.verify_key, t->verify_key.data, sizeof helper.verify_key);
    SOTTO_TRY(sotto_ping_pong_leader_init(&t->vdaf, v->states[0], v->outbound[0], &leader,
                                          v->reports[0], t->count, t->arena, err));
    SOTTO_TRY(sotto_ping_pong_helper_init(&t->vdaf, v->states[1], v->outbound[1], &helper,
                                          v->reports[1], v->outbound[0], t->count, t->arena, err));
    return sotto_ping_pong_leader_continued(&t->vdaf, v->states[0], v->outbound[1], t->count, err);
}

sotto_status sotto_dap_transcript_aggregate(const sotto_dap_transcript *t, sotto_buf *out,
                                            const sotto_dap_verification *v, unsigned aggregator,
                                            sotto_err *err)
{
    sotto_prio3_agg agg;

    SOTTO_TRY(sotto_prio3_agg_init(&t->vdaf, &agg, t->arena, err));
    SOTTO_TRY(sotto_prio3_accumulate(&t->vdaf, &agg, v->states[aggregator], t->count, err));
    SOTTO_TRY(sotto_buf_take(out, t->arena, t->vdaf.sizes.out_share, err));
    return sotto_prio3_agg_encode(&t->vdaf, out, &agg, err);
}

sotto_status sotto_dap_transcript_seal_aggregate(const sotto_dap_transcript *t,
                                                 sotto_hpke_ciphertext *out, bool helper,
                                                 sotto_err *err)
{
    uint8_t info[SOTTO_DAP_INFO_MAX];
    sotto_bytes request, aad, share, ephemeral;
    sotto_buf got;

    SOTTO_TRY(sotto_dap_transcript_hex(t, &request, "collection_job_req", err));
    SOTTO_TRY(sotto_dap_transcript_hex(t, &aad, "aggregate_share_aad", err));
    SOTTO_TRY(sotto_buf_take(&got, t->arena, aad.len, err));
    SOTTO_TRY(sotto_dap_aggregate_share_aad_encode(&got, t->task_id.data, t->configuration, request,
                                                   err));
    SOTTO_TRY(sotto_vectors_compare(aad, sotto_buf_bytes(&got), "aggregate_share_aad", err));
    SOTTO_TRY(
        sotto_dap_transcript_hex(t, &share, helper ? "helper_agg_share" : "leader_agg_share", err));
    SOTTO_TRY(sotto_dap_transcript_hex(
        t, &ephemeral,
        helper ? "helper_agg_share_hpke_ephemeral_sk" : "leader_agg_share_hpke_ephemeral_sk", err));
    return sotto_dap_transcript_seal(
        t, out, &t->holders[2], ephemeral,
        sotto_aggregate_share_info(info, helper ? SOTTO_DAP_HELPER : SOTTO_DAP_LEADER), aad, share,
        err);
}
