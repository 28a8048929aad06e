/* Whole DAP tasks: each message that changes hands is one count, and so are the shares and the result. */
#include "dap_task.h"

#include "base/arena.h"

#include <stdio.h>
#include <string.h>

bool sotto_vectors_dap_task_knows(const json_t *item)
{
    return json_object_get(item, "dap_version") != NULL &&
           json_object_get(item, "aggregation_job_init_req") != NULL;
}

/* ---- the task -------------------------------------------------------------------------------- */

static sotto_status check_task(const sotto_dap_transcript *t, sotto_err *err)
{
    uint8_t context[SOTTO_DAP_CONTEXT_SIZE];
    sotto_hpke_config configs[4];
    sotto_bytes list;
    sotto_buf out;
    size_t count;

    SOTTO_TRY(sotto_task_configuration_check(&t->task, 0, err));
    SOTTO_TRY(sotto_buf_take(&out, t->arena, t->configuration.len + 512, err));
    SOTTO_TRY(sotto_task_configuration_encode(&out, &t->task, err));
    SOTTO_TRY(
        sotto_vectors_compare(t->configuration, sotto_buf_bytes(&out), "task_configuration", err));
    sotto_dap_context(context, t->task_id.data);
    SOTTO_TRY(sotto_vectors_compare(t->context, sotto_bytes_of(context, sizeof context),
                                    "vdaf_context", err));
    SOTTO_TRY(sotto_dap_transcript_hex(t, &list, "leader_hpke_config_list", err));
    SOTTO_TRY(sotto_hpke_config_list_decode(configs, 4, &count, list, err));
    out.len = 0;
    SOTTO_TRY(sotto_hpke_config_list_encode(&out, configs, count, err));
    return sotto_vectors_compare(list, sotto_buf_bytes(&out), "leader_hpke_config_list", err);
}

/* ---- reports --------------------------------------------------------------------------------- */

static sotto_status check_shares(const sotto_dap_transcript *t, size_t index, sotto_err *err)
{
    const sotto_dap_transcript_report *report = &t->reports[index];
    sotto_report_draft draft;

    SOTTO_TRY(sotto_dap_transcript_shard(t, index, &draft, err));
    SOTTO_TRY(sotto_vectors_compare(report->public_share, draft.public_share, "public_share", err));
    SOTTO_TRY(sotto_vectors_compare(report->input_share[0], draft.shares[0].payload,
                                    "leader_input_share", err));
    return sotto_vectors_compare(report->input_share[1], draft.shares[1].payload,
                                 "helper_input_share", err);
}

static sotto_status check_report(const sotto_dap_transcript *t, size_t index, sotto_err *err)
{
    const sotto_dap_transcript_report *report = &t->reports[index];
    const sotto_report_draft draft = sotto_dap_transcript_draft(t, report);
    sotto_dap_report made = {.metadata = draft.metadata, .public_share = draft.public_share};
    sotto_buf out;

    SOTTO_TRY(check_shares(t, index, err));
    SOTTO_TRY(sotto_buf_take(&out, t->arena, report->aad.len, err));
    SOTTO_TRY(sotto_report_aad_encode(&out, &draft, err));
    SOTTO_TRY(sotto_vectors_compare(report->aad, sotto_buf_bytes(&out), "input_share_aad", err));
    SOTTO_TRY(sotto_dap_transcript_seal_share(t, &made.leader, report, 0, err));
    SOTTO_TRY(sotto_dap_transcript_seal_share(t, &made.helper, report, 1, err));
    SOTTO_TRY(sotto_buf_take(&out, t->arena, sotto_dap_report_size(&made), err));
    SOTTO_TRY(sotto_dap_report_encode(&out, &made, err));
    return sotto_vectors_compare(report->wire, sotto_buf_bytes(&out), "report", err);
}

static sotto_status check_upload(const sotto_dap_transcript *t, sotto_err *err)
{
    sotto_dap_upload_req req;
    sotto_dap_report report;
    sotto_bytes wire;
    sotto_buf out;

    SOTTO_TRY(sotto_dap_transcript_hex(t, &wire, "upload_request", err));
    SOTTO_TRY(sotto_dap_upload_req_decode(&req, wire, err));
    if (req.count != t->count)
        return sotto_fail(err, SOTTO_REJECTED, "upload_request: %zu reports", req.count);
    SOTTO_TRY(sotto_buf_take(&out, t->arena, wire.len, err));
    sotto_reader in = sotto_reader_over(req.reports);
    for (size_t i = 0; sotto_dap_upload_req_next(&in, &report); i++) {
        const size_t before = out.len;

        SOTTO_TRY(sotto_dap_report_encode(&out, &report, err));
        SOTTO_TRY(sotto_vectors_compare(t->reports[i].wire,
                                        sotto_bytes_of(out.data + before, out.len - before),
                                        "upload_request", err));
    }
    return sotto_vectors_compare(wire, sotto_buf_bytes(&out), "upload_request", err);
}

/* ---- the aggregation job --------------------------------------------------------------------- */

static sotto_status check_init_req(const sotto_dap_transcript *t, sotto_err *err)
{
    sotto_dap_job_init_req req = {0};
    const json_t *batch_id = json_object_get(t->root, "batch_id");
    sotto_dap_list list;
    sotto_bytes wire, id;
    uint64_t key_id;
    sotto_buf out;

    SOTTO_TRY(sotto_dap_transcript_hex(t, &wire, "aggregation_job_init_req", err));
    SOTTO_TRY(sotto_json_get_uint(&key_id, t->root, "verification_key_id", err));
    req.verification_key_id = (uint8_t)key_id;
    if (json_is_string(batch_id)) {
        SOTTO_TRY(sotto_json_hex(&id, batch_id, "batch_id", t->arena, err));
        if (id.len != sizeof req.batch_id)
            return sotto_fail(err, SOTTO_MALFORMED, "batch_id: %zu bytes", id.len);
        req.has_batch_id = true;
        memcpy(req.batch_id, id.data, id.len);
    }
    SOTTO_TRY(sotto_buf_take(&out, t->arena, wire.len, err));
    SOTTO_TRY(sotto_dap_job_init_req_begin(&list, &out, &req, SOTTO_DAP_DRAFT18, err));
    for (size_t i = 0; i < t->count; i++) {
        const sotto_dap_report *report = &t->reports[i].report;
        const sotto_dap_verify_init init = {report->metadata, report->public_share, report->helper,
                                            t->reports[i].ping_pong[0]};

        SOTTO_TRY(sotto_dap_job_init_req_add(&list, &init, err));
    }
    SOTTO_TRY(sotto_dap_list_end(&list, err));
    SOTTO_TRY(sotto_vectors_compare(wire, sotto_buf_bytes(&out), "aggregation_job_init_req", err));
    SOTTO_TRY(sotto_dap_job_init_req_decode(&req, wire, SOTTO_DAP_DRAFT18, err));
    return req.count == t->count && req.has_batch_id == json_is_string(batch_id)
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_REJECTED, "aggregation_job_init_req: decoded otherwise");
}

static sotto_status check_resp(const sotto_dap_transcript *t, sotto_err *err)
{
    sotto_dap_job_resp resp;
    sotto_dap_list list;
    sotto_bytes wire;
    sotto_buf out;

    SOTTO_TRY(sotto_dap_transcript_hex(t, &wire, "aggregation_job_resp", err));
    SOTTO_TRY(sotto_buf_take(&out, t->arena, wire.len, err));
    SOTTO_TRY(sotto_dap_job_resp_begin(&list, &out, SOTTO_DAP_DRAFT18, err));
    for (size_t i = 0; i < t->count; i++) {
        const bool accepted = t->reports[i].accepted;
        sotto_dap_verify_resp item = {
            .type = accepted ? SOTTO_DAP_VERIFY_CONTINUE : SOTTO_DAP_VERIFY_REJECT,
            .payload = t->reports[i].ping_pong[1],
            .error = SOTTO_REPORT_VDAF_VERIFY_ERROR,
        };

        memcpy(item.report_id, sotto_dap_transcript_id(&t->reports[i]), sizeof item.report_id);
        SOTTO_TRY(sotto_dap_job_resp_add(&list, &item, err));
    }
    SOTTO_TRY(sotto_dap_list_end(&list, err));
    SOTTO_TRY(sotto_vectors_compare(wire, sotto_buf_bytes(&out), "aggregation_job_resp", err));
    SOTTO_TRY(sotto_dap_job_resp_decode(&resp, wire, SOTTO_DAP_DRAFT18, err));
    return resp.count == t->count
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_REJECTED, "aggregation_job_resp: decoded otherwise");
}

/* ---- verification ---------------------------------------------------------------------------- */

static sotto_status check_verification(const sotto_dap_transcript *t,
                                       const sotto_dap_verification *v, sotto_err *err)
{
    for (size_t i = 0; i < t->count; i++) {
        SOTTO_TRY(sotto_vectors_compare(t->reports[i].ping_pong[0], v->outbound[0][i],
                                        "leader_ping_pong", err));
        SOTTO_TRY(sotto_vectors_compare(t->reports[i].ping_pong[1], v->outbound[1][i],
                                        "helper_ping_pong", err));
        for (unsigned a = 0; a < 2; a++)
            if ((v->states[a][i].status == SOTTO_OK) != t->reports[i].accepted)
                return sotto_fail(err, SOTTO_REJECTED, "report %zu: %s", i,
                                  t->reports[i].accepted ? "is refused" : "is accepted");
    }
    return SOTTO_OK;
}

static sotto_status check_verified(const sotto_dap_transcript *t, sotto_err *err)
{
    static const char *const keys[] = {"leader_agg_share", "helper_agg_share"};
    sotto_dap_verification v;

    SOTTO_TRY(sotto_dap_transcript_verify(t, &v, err));
    SOTTO_TRY(check_verification(t, &v, err));
    for (unsigned a = 0; a < 2; a++) {
        sotto_bytes wanted;
        sotto_buf out;

        SOTTO_TRY(sotto_dap_transcript_hex(t, &wanted, keys[a], err));
        SOTTO_TRY(sotto_dap_transcript_aggregate(t, &out, &v, a, err));
        SOTTO_TRY(sotto_vectors_compare(wanted, sotto_buf_bytes(&out), keys[a], err));
    }
    return SOTTO_OK;
}

/* ---- the collection -------------------------------------------------------------------------- */

static sotto_status check_share_req(const sotto_dap_transcript *t, sotto_err *err)
{
    sotto_dap_aggregate_share_req req;
    sotto_dap_collection_req collection;
    uint8_t checksum[SOTTO_CHECKSUM_SIZE] = {0};
    sotto_bytes wire, request, listed;
    uint64_t count = 0, wanted;
    sotto_buf out;

    SOTTO_TRY(sotto_dap_transcript_hex(t, &request, "collection_job_req", err));
    SOTTO_TRY(sotto_dap_transcript_hex(t, &wire, "aggregate_share_req", err));
    SOTTO_TRY(sotto_json_get_uint(&wanted, t->root, "report_count", err));
    SOTTO_TRY(sotto_buf_take(&out, t->arena, wire.len, err));
    SOTTO_TRY(sotto_dap_collection_req_decode(&collection, request, err));
    SOTTO_TRY(sotto_dap_collection_req_encode(&out, &collection, err));
    SOTTO_TRY(sotto_vectors_compare(request, sotto_buf_bytes(&out), "collection_job_req", err));
    SOTTO_TRY(sotto_dap_aggregate_share_req_decode(&req, wire, err));
    for (size_t i = 0; i < t->count; i++)
        if (t->reports[i].accepted) {
            sotto_dap_checksum_add(checksum, sotto_dap_transcript_id(&t->reports[i]));
            count++;
        }
    if (count != wanted || req.report_count != count ||
        !sotto_dap_batch_selector_fits(&req.selector, &collection.query))
        return sotto_fail(err, SOTTO_REJECTED, "aggregate_share_req: another batch");
    SOTTO_TRY(sotto_dap_transcript_hex(t, &listed, "checksum", err));
    SOTTO_TRY(
        sotto_vectors_compare(listed, sotto_bytes_of(checksum, sizeof checksum), "checksum", err));
    req.collection_req = request;
    memcpy(req.checksum, checksum, sizeof checksum);
    out.len = 0;
    SOTTO_TRY(sotto_dap_aggregate_share_req_encode(&out, &req, err));
    return sotto_vectors_compare(wire, sotto_buf_bytes(&out), "aggregate_share_req", err);
}

static sotto_status check_share(const sotto_dap_transcript *t, sotto_err *err)
{
    sotto_hpke_ciphertext sealed, decoded;
    sotto_bytes wire;
    sotto_buf out;

    SOTTO_TRY(sotto_dap_transcript_hex(t, &wire, "aggregate_share", err));
    SOTTO_TRY(sotto_dap_aggregate_share_decode(&decoded, wire, err));
    SOTTO_TRY(sotto_dap_transcript_seal_aggregate(t, &sealed, true, err));
    SOTTO_TRY(sotto_buf_take(&out, t->arena, wire.len, err));
    SOTTO_TRY(sotto_dap_aggregate_share_encode(&out, &sealed, err));
    return sotto_vectors_compare(wire, sotto_buf_bytes(&out), "aggregate_share", err);
}

static sotto_status check_collection_resp(const sotto_dap_transcript *t, sotto_err *err)
{
    sotto_dap_collection_resp resp;
    sotto_bytes wire;
    sotto_buf out;

    SOTTO_TRY(sotto_dap_transcript_hex(t, &wire, "collection_job_resp", err));
    SOTTO_TRY(sotto_dap_collection_resp_decode(&resp, wire, err));
    for (size_t i = 0; i < t->count; i++)
        if (t->reports[i].accepted && !sotto_dap_interval_holds(resp.interval, t->reports[i].time))
            return sotto_fail(err, SOTTO_REJECTED, "collection_job_resp: report %zu is outside", i);
    SOTTO_TRY(sotto_json_get_uint(&resp.report_count, t->root, "report_count", err));
    SOTTO_TRY(sotto_dap_transcript_seal_aggregate(t, &resp.leader, false, err));
    SOTTO_TRY(sotto_dap_transcript_seal_aggregate(t, &resp.helper, true, err));
    SOTTO_TRY(sotto_buf_take(&out, t->arena, wire.len, err));
    SOTTO_TRY(sotto_dap_collection_resp_encode(&out, &resp, err));
    return sotto_vectors_compare(wire, sotto_buf_bytes(&out), "collection_job_resp", err);
}

static sotto_status check_result(const sotto_dap_transcript *t, sotto_err *err)
{
    const json_t *wanted = json_object_get(t->root, "agg_result");
    sotto_uint128 *result = sotto_arena_take_array(t->arena, t->vdaf.sizes.outputs, sizeof *result);
    sotto_bytes shares[2];
    uint64_t count;

    if (result == NULL)
        return sotto_fail(err, SOTTO_NO_MEMORY, "agg_result: too long");
    SOTTO_TRY(sotto_dap_transcript_hex(t, &shares[0], "leader_agg_share", err));
    SOTTO_TRY(sotto_dap_transcript_hex(t, &shares[1], "helper_agg_share", err));
    SOTTO_TRY(sotto_json_get_uint(&count, t->root, "report_count", err));
    SOTTO_TRY(sotto_prio3_unshard(&t->vdaf, result, shares, count, err));
    if (json_is_array(wanted) && json_array_size(wanted) != t->vdaf.sizes.outputs)
        return sotto_fail(err, SOTTO_REJECTED, "agg_result: has another length");
    for (size_t i = 0; i < t->vdaf.sizes.outputs; i++) {
        sotto_uint128 number;

        SOTTO_TRY(sotto_json_number(&number,
                                    json_is_array(wanted) ? json_array_get(wanted, i) : wanted,
                                    "agg_result", err));
        if (number.low != result[i].low || number.high != result[i].high)
            return sotto_fail(err, SOTTO_REJECTED, "agg_result: differs at %zu", i);
    }
    return SOTTO_OK;
}

/* ---- a file ---------------------------------------------------------------------------------- */

void sotto_vectors_dap_task(const sotto_vector_file *file)
{
    static const struct {
        const char *name;
        sotto_status (*check)(const sotto_dap_transcript *t, sotto_err *err);
    } checks[] = {
        {"task", check_task},
        {"upload_request", check_upload},
        {"aggregation_job_init_req", check_init_req},
        {"aggregation_job_resp", check_resp},
        {"agg_shares", check_verified},
        {"aggregate_share_req", check_share_req},
        {"aggregate_share", check_share},
        {"collection_job_resp", check_collection_resp},
        {"agg_result", check_result},
    };
    sotto_dap_transcript t;
    sotto_err err = {0};

    if (sotto_dap_transcript_read(&t, file->root, file->arena, &err) != SOTTO_OK) {
        sotto_tally_fail(file->tally, file->path, "", err.reason);
        return;
    }
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        err = (sotto_err){0};
        sotto_vectors_tell(file, checks[i].name, checks[i].check(&t, &err), &err);
    }
    for (size_t i = 0; i < t.count; i++) {
        char name[32];

        err = (sotto_err){0};
        (void)snprintf(name, sizeof name, "report %zu", i);
        sotto_vectors_tell(file, name, check_report(&t, i, &err), &err);
    }
}
