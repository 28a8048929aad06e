/* From a leader's answer to sums: nothing here opens a socket, so all of it can be tested byte by byte. */
#include "collect/collect.h"

#include "aggregate/method.h"
#include "base/arena.h"

#include <string.h>

/* ---- the query ----------------------------------------------------------------------------------------- */

static sotto_dap_interval schedule_of(const sotto_task *task)
{
    uint64_t start = task->opens / task->precision;
    uint64_t end = (task->closes - 1) / task->precision + 1;

    return (sotto_dap_interval){start, end - start};
}

static sotto_status interval_of(sotto_dap_interval *out, const sotto_task *task,
                                const sotto_collection_query *query, sotto_err *err)
{
    uint64_t precision = task->precision;

    if (query->from >= query->until)
        return sotto_fail(err, SOTTO_MALFORMED, "an interval ends after it starts");
    if (query->from % precision != 0 || query->until % precision != 0)
        return sotto_fail(err, SOTTO_MALFORMED,
                          "an interval starts and ends at whole multiples of %llu seconds",
                          (unsigned long long)precision);
    *out = (sotto_dap_interval){query->from / precision, (query->until - query->from) / precision};
    return SOTTO_OK;
}

sotto_status sotto_collect_query_encode(sotto_buf *out, const sotto_task *task,
                                        const sotto_collection_query *query, sotto_err *err)
{
    sotto_dap_collection_req req = {.query.mode = (sotto_dap_batch_mode)task->batch_mode};
    bool next = query->from == 0 && query->until == 0;

    if (next != (req.query.mode == SOTTO_DAP_LEADER_SELECTED))
        return sotto_fail(err, SOTTO_MALFORMED,
                          next ? "this task is collected by intervals of time: from when, until?"
                               : "this task's leader selects the batches: ask for the next one");
    if (!next)
        SOTTO_TRY(interval_of(&req.query.interval, task, query, err));
    return sotto_dap_collection_req_encode(out, &req, err);
}

/* ---- what the leader says ------------------------------------------------------------------------------ */

static sotto_status check_head(const sotto_dap_collection_resp *resp, const sotto_task *task,
                               sotto_bytes request, sotto_err *err)
{
    sotto_dap_collection_req req;
    sotto_dap_interval asked = schedule_of(task);

    SOTTO_TRY(sotto_dap_collection_req_decode(&req, request, err));
    if (req.query.mode == SOTTO_DAP_TIME_INTERVAL)
        asked = req.query.interval;
    if (!sotto_dap_interval_valid(resp->interval) ||
        !sotto_dap_interval_within(resp->interval, asked))
        return sotto_fail(err, SOTTO_REJECTED, "the batch is of another time than was asked for");
    if (resp->report_count < task->min_batch_size)
        return sotto_fail(err, SOTTO_DENIED, "a batch of %llu reports; the recipe demands %llu",
                          (unsigned long long)resp->report_count,
                          (unsigned long long)task->min_batch_size);
    return SOTTO_OK;
}

/* ---- shares -------------------------------------------------------------------------------------------- */

static sotto_status open_share(sotto_bytes *out, const sotto_task *task,
                               const sotto_collector_key *key, const sotto_hpke_ciphertext *sealed,
                               sotto_dap_role sender, sotto_bytes aad, sotto_arena *arena,
                               sotto_err *err)
{
    const char *who = sender == SOTTO_DAP_LEADER ? "leader" : "helper";
    uint8_t text[SOTTO_DAP_INFO_MAX];
    size_t size = task->sizes.out_share;
    sotto_buf share;

    SOTTO_TRY(sotto_buf_take(&share, arena, size, err));
    if (sealed->config_id != key->id)
        return sotto_fail(err, SOTTO_STALE, "the %s sealed its share to key %u; this one is key %u",
                          who, sealed->config_id, key->id);
    /* The status of a share that can't be a share is the same whatever is wrong with it. */
    if (sotto_hpke_unseal(&share, &key->key, key->suite, sotto_aggregate_share_info(text, sender),
                          sealed->enc, aad, sealed->payload, NULL) != SOTTO_OK ||
        share.len != size)
        return sotto_fail(err, SOTTO_REJECTED,
                          "the %s's share does not open for this key, task and request", who);
    *out = sotto_buf_bytes(&share);
    return SOTTO_OK;
}

static sotto_status open_shares(sotto_bytes shares[2], const sotto_task *task,
                                const sotto_collector_key *key,
                                const sotto_dap_collection_resp *resp, sotto_bytes request,
                                sotto_arena *arena, sotto_err *err)
{
    size_t size = task->configuration.len + request.len + 128;
    sotto_buf aad;

    SOTTO_TRY(sotto_buf_take(&aad, arena, size, err));
    SOTTO_TRY(
        sotto_dap_aggregate_share_aad_encode(&aad, task->id, task->configuration, request, err));
    SOTTO_TRY(open_share(&shares[0], task, key, &resp->leader, SOTTO_DAP_LEADER,
                         sotto_buf_bytes(&aad), arena, err));
    return open_share(&shares[1], task, key, &resp->helper, SOTTO_DAP_HELPER, sotto_buf_bytes(&aad),
                      arena, err);
}

/* ---- sums ---------------------------------------------------------------------------------------------- */

static sotto_status add_up(sotto_collection *out, const sotto_task *task,
                           const sotto_bytes shares[2], sotto_arena *arena, sotto_err *err)
{
    const sotto_method *method = sotto_method_of(task->vdaf.type);
    sotto_vdaf vdaf;

    SOTTO_TRY(sotto_vdaf_open(&vdaf, &task->vdaf, arena, err));
    out->sum_count = vdaf.sizes.outputs;
    out->sums = sotto_arena_take_array(arena, out->sum_count, sizeof *out->sums);
    if (!out->sums)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the sums of a batch");
    return method->two_server->open(&vdaf, out->sums, shares, out->reports, task->noise_sigma, err);
}

sotto_status sotto_collect_open(sotto_collection *out, const sotto_task *task,
                                const sotto_collector_key *key, sotto_bytes request,
                                sotto_bytes answer, sotto_arena *arena, sotto_err *err)
{
    sotto_dap_collection_resp resp;
    sotto_bytes shares[2];

    SOTTO_TRY(sotto_dap_collection_resp_decode(&resp, answer, err));
    SOTTO_TRY(check_head(&resp, task, request, err));
    out->reports = resp.report_count;
    out->from = resp.interval.start * task->precision;
    out->until = (resp.interval.start + resp.interval.duration) * task->precision;
    SOTTO_TRY(open_shares(shares, task, key, &resp, request, arena, err));
    return add_up(out, task, shares, arena, err);
}
