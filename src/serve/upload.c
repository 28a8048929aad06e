/* Uploads: every report of a request by itself, so that a bad one never fails its neighbours. */
#include "serve/upload.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/rule.h"
#include "serve/answer.h"
#include "serve/leader.h"
#include "serve/metrics.h"
#include "transport/dap_upload.h"

#include <string.h>

static void finish(sotto_upload_request *upload)
{
    sotto_arena_clear(&upload->arena);
    sotto_release(upload, sizeof *upload);
}

void sotto_upload_give_up(sotto_upload_request *upload, sotto_status status)
{
    sotto_metrics_count(upload->server->metrics, SOTTO_METRIC_UPLOADS_FAILED, 1);
    sotto_problem_of(upload->request, status, upload->task);
    finish(upload);
}

/* Only what failed is told, in the order of the request; nothing failed: an empty body. */
void sotto_upload_answer(sotto_upload_request *upload)
{
    static const sotto_http_field type = {"Content-Type", NULL};
    sotto_http_field fields[1] = {type};
    size_t size = upload->count * (SOTTO_REPORT_ID_SIZE + 1);
    sotto_buf out = sotto_buf_over(sotto_arena_take(&upload->arena, size + 1), size);
    sotto_status status = out.data ? SOTTO_OK : SOTTO_NO_MEMORY;

    for (size_t i = 0; status == SOTTO_OK && i < upload->count; i++) {
        sotto_dap_upload_status failed = {.error = upload->reports[i].error};

        if (failed.error == 0)
            continue;
        memcpy(failed.report_id, upload->reports[i].id, sizeof failed.report_id);
        status = sotto_dap_upload_errors_add(&out, &failed, upload->task->profile, NULL);
    }
    if (status != SOTTO_OK) {
        sotto_upload_give_up(upload, status);
        return;
    }
    fields[0].value = sotto_dap_media_type(SOTTO_DAP_UPLOAD_ERRORS);
    sotto_http_answer(upload->request,
                      &(sotto_http_reply){200, fields, out.len > 0 ? 1 : 0, sotto_buf_bytes(&out)});
    finish(upload);
}

/* ---- one report ------------------------------------------------------------------------------------------------ */

/* Where a report belongs. One that is refused for its time is counted at the nearest time that would have done: what
 * strangers make up must not become rows. */
static uint8_t check_time(const sotto_upload_request *upload, uint64_t time, uint64_t *bucket)
{
    const sotto_task *task = &upload->task->dap;
    uint64_t now = sotto_clock_wall(&sotto_clock_system) / 1000000000;
    uint64_t seconds;
    uint64_t latest = now + upload->server->options.clock_skew_seconds;

    *bucket = time;
    if (!sotto_dap_seconds_of(&seconds, time, task->precision) || seconds > latest) {
        *bucket = sotto_dap_time_of(latest, task->precision);
        return SOTTO_REPORT_TOO_EARLY;
    }
    if (time < sotto_dap_time_of(task->opens, task->precision)) {
        *bucket = sotto_dap_time_of(task->opens, task->precision);
        return SOTTO_REPORT_DROPPED;
    }
    if (seconds >= task->closes) {
        *bucket = sotto_dap_time_of(task->closes - 1, task->precision);
        return SOTTO_REPORT_DROPPED;
    }
    if (SOTTO_RULE(leader_late) && now >= task->closes + upload->server->options.late_seconds)
        return SOTTO_REPORT_DROPPED; /* its marks may have been cleared away: serve/gc.h */
    return 0;
}

/* Memory for one report at a time. */
typedef struct bench {
    sotto_buf aad, plain;
} bench;

static uint8_t open_share(sotto_upload_request *upload, sotto_worker *worker, bench *b,
                          const sotto_dap_report *report, sotto_bytes *share)
{
    const sotto_server_task *task = upload->task;
    sotto_plaintext_input_share plain;
    sotto_status status;

    if (!sotto_receivers_know(worker->receivers, report->leader.config_id))
        return SOTTO_REPORT_OUTDATED_CONFIG;
    b->aad.len = b->plain.len = 0;
    if (sotto_input_share_aad_encode(&b->aad, task->dap.id, task->dap.configuration,
                                     &report->metadata, report->public_share, NULL) != SOTTO_OK)
        return SOTTO_REPORT_INVALID_MESSAGE;
    status = sotto_receivers_unseal(worker->receivers, &b->plain, report->leader.config_id,
                                    report->leader.enc, sotto_buf_bytes(&b->aad),
                                    report->leader.payload, NULL);
    if (status == SOTTO_NO_MEMORY)
        upload->failed = status;
    if (status != SOTTO_OK)
        return SOTTO_REPORT_HPKE_DECRYPT_ERROR;
    if (sotto_plaintext_input_share_decode(&plain, sotto_buf_bytes(&b->plain), NULL) != SOTTO_OK ||
        sotto_report_extensions_check(report->metadata.public_extensions, plain.private_extensions,
                                      NULL, 0, NULL) != SOTTO_OK ||
        plain.payload.len != task->dap.sizes.leader_share ||
        report->public_share.len != task->dap.sizes.public_share)
        return SOTTO_REPORT_INVALID_MESSAGE;
    *share = plain.payload;
    return 0;
}

/* Out of memory is nobody's mistake: whatever a report error said, the client would take it for its report's. */
static void keep(sotto_upload_request *upload, sotto_uploaded *out, const sotto_dap_report *report,
                 sotto_bytes share)
{
    sotto_kept_report kept = {report->metadata, report->public_share, report->helper, share};
    size_t size = sotto_kept_report_size(&kept);
    sotto_buf record = sotto_buf_over(sotto_arena_take(&upload->arena, size), size);

    if (!record.data || sotto_kept_report_encode(&record, &kept, NULL) != SOTTO_OK)
        upload->failed = SOTTO_NO_MEMORY;
    else
        out->record = sotto_buf_bytes(&record);
}

static void take_in(sotto_upload_request *upload, sotto_worker *worker, bench *b,
                    sotto_uploaded *out, const sotto_dap_report *report, size_t size)
{
    sotto_bytes share;

    memcpy(out->id, report->metadata.report_id, sizeof out->id);
    out->error = check_time(upload, report->metadata.time, &out->bucket);
    /* The helper's share is not ours to open, but a job of such reports would be longer than the helper reads. */
    if (out->error == 0 && size > upload->task->max_report)
        out->error = SOTTO_REPORT_INVALID_MESSAGE;
    if (out->error == 0)
        out->error = open_share(upload, worker, b, report, &share);
    if (out->error == 0)
        keep(upload, out, report, share);
}

/* ---- the request ------------------------------------------------------------------------------------------------ */

/* Twice a valid report: what does not fit has a wrong length, whatever else is wrong with it. */
static bool set_up(bench *b, const sotto_upload_request *upload, sotto_arena *arena)
{
    size_t longest = 2 * upload->task->max_report;

    b->aad.cap = longest + upload->task->dap.configuration.len + 128;
    b->plain.cap = longest;
    b->aad.data = sotto_arena_take(arena, b->aad.cap);
    b->plain.data = sotto_arena_take(arena, b->plain.cap);
    return b->aad.data && b->plain.data;
}

static void work(void *context, sotto_worker *worker)
{
    sotto_upload_request *upload = context;
    sotto_bytes body = sotto_http_request_body(upload->request);
    sotto_dap_upload_req req;
    sotto_reader in;
    bench b;
    sotto_dap_report report;

    if (sotto_dap_upload_req_decode(&req, body, NULL) != SOTTO_OK) {
        sotto_problem(upload->request, SOTTO_DAP_INVALID_MESSAGE, NULL, upload->task);
        finish(upload);
        return;
    }
    if (req.count > SOTTO_UPLOAD_MAX_REPORTS) {
        (void)sotto_http_refuse(upload->request, &(sotto_http_problem){.status = 413});
        finish(upload);
        return;
    }
    upload->reports =
        sotto_arena_take_array(&upload->arena, req.count + 1, sizeof *upload->reports);
    if (!upload->reports || !set_up(&b, upload, worker->arena)) {
        sotto_upload_give_up(upload, SOTTO_NO_MEMORY);
        return;
    }
    in = sotto_reader_over(req.reports);
    for (size_t left = req.reports.len; sotto_dap_upload_req_next(&in, &report);) {
        size_t size = left - sotto_reader_left(&in);

        left -= size;
        take_in(upload, worker, &b, &upload->reports[upload->count++], &report, size);
    }
    if (upload->failed != SOTTO_OK) /* nothing is stored yet: the same request may come again */
        sotto_upload_give_up(upload, upload->failed);
    else
        sotto_intake_put(upload->server->leader->intake, upload);
}

void sotto_upload_handle(sotto_server *server, const sotto_server_task *task,
                         sotto_http_request *request)
{
    sotto_upload_request *upload = sotto_alloc(sizeof *upload);
    sotto_status status;

    if (!upload) {
        sotto_problem_of(request, SOTTO_NO_MEMORY, task);
        return;
    }
    upload->server = server;
    upload->task = task;
    upload->request = request;
    sotto_arena_init(&upload->arena, server->options.upload_memory);
    status = sotto_pool_post(server->pool, work, upload, NULL);
    if (status != SOTTO_OK)
        sotto_upload_give_up(upload, status);
}
