/* Uploads: every report of a request is judged by itself, so that a bad one never fails the
 * others. */
#include "serve/leader/upload.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/rule.h"
#include "dap/job.h"
#include "dap/upload.h"
#include "serve/leader/arrivals.h"
#include "serve/leader/leader.h"
#include "serve/leader/sealed_shares.h"
#include "serve/tasks/answer.h"
#include "serve/tasks/metrics.h"
#include "serve/tasks/report_time.h"
#include "serve/tasks/token_check.h"

#include <string.h>

void sotto_upload_keep(sotto_upload_request *upload)
{
    atomic_fetch_add(&upload->users, 1);
}

void sotto_upload_drop(sotto_upload_request *upload)
{
    if (atomic_fetch_sub(&upload->users, 1) > 1)
        return;
    if (upload->cached_bytes > 0)
        atomic_fetch_sub(&sotto_leader_of(upload->server)->cached_bytes, upload->cached_bytes);
    sotto_arena_clear(&upload->arena);
    sotto_release(upload, sizeof *upload);
}

void sotto_upload_give_up(sotto_upload_request *upload, sotto_status status)
{
    sotto_metrics_count(upload->server->metrics, SOTTO_METRIC_UPLOADS_FAILED, 1);
    sotto_problem_of(upload->request, status, upload->task);
    sotto_upload_drop(upload);
}

/* Only what failed is told, in the order of the request; nothing failed: an empty body. */
void sotto_upload_answer(sotto_upload_request *upload)
{
    static const sotto_http_field type = {"Content-Type", NULL};
    sotto_http_field fields[1] = {type};
    size_t size = upload->count * (SOTTO_REPORT_ID_SIZE + 1);
    sotto_buf out;
    sotto_status status = sotto_buf_take(&out, &upload->arena, size, NULL);

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
    sotto_upload_drop(upload);
}

/* What a share is opened with (SOTTO_OPENED_WITH): its sender's key, and its token's one-time key where it has a token. */
enum { SHARE, ONCE };

void sotto_upload_peers(const sotto_server_task *task, const sotto_dap_report *report,
                        sotto_agreement with[SOTTO_OPENED_WITH], uint8_t ids[SOTTO_OPENED_WITH])
{
    memset(ids, report->leader.config_id, SOTTO_OPENED_WITH);
    memset(with, 0, SOTTO_OPENED_WITH * sizeof *with);
    with[SHARE].peer = report->leader.enc;
    with[ONCE].peer = sotto_token_peer(task, report->metadata.public_extensions);
}

/* ---- one report ------------------------------------------------------------------------------------------------ */

/* Where a report belongs. A report that is rejected for its time is counted at the nearest valid time: made-up times
 * must not become buckets. */
static uint8_t check_time(const sotto_upload_request *upload, uint64_t time, uint64_t *bucket)
{
    const sotto_task *task = &upload->task->dap;
    uint64_t now = sotto_clock_wall(&sotto_clock_system) / 1000000000;
    sotto_report_time found = sotto_report_time_check(upload->server, upload->task, time, now);

    *bucket = time;
    if (SOTTO_RULE(leader_late) && found == SOTTO_TIME_LATE)
        return SOTTO_REPORT_DROPPED;
    switch (found) {
    /* DAP draft 18, "Leader Behavior" names one error for both, and "Input Share Validation" one for each: so leader and helper
     * differ. It is final. A report's time never changes, and a device makes none before its task opens. */
    case SOTTO_TIME_NOT_STARTED:
        *bucket = sotto_dap_time_of(task->opens, task->precision);
        return SOTTO_REPORT_DROPPED;
    case SOTTO_TIME_EXPIRED:
        *bucket = sotto_dap_time_of(task->closes - 1, task->precision);
        return SOTTO_REPORT_DROPPED;
    case SOTTO_TIME_TOO_EARLY:
        *bucket =
            sotto_dap_time_of(now + upload->server->options.clock_skew_seconds, task->precision);
        return SOTTO_REPORT_TOO_EARLY;
    case SOTTO_TIME_LATE:
    case SOTTO_TIME_FITS:
    default:
        return 0;
    }
}

/* Opens the leader's share into its record, behind what is there already; *key opens it again. */
static uint8_t unseal(sotto_upload_request *upload, sotto_worker *worker, sotto_buf *aad,
                      sotto_buf *record, const sotto_dap_report *report,
                      const sotto_agreement *with, sotto_message_key *key)
{
    const sotto_task *task = &upload->task->dap;
    sotto_status status;

    aad->len = 0;
    if (sotto_input_share_aad_encode(aad, task->id, task->configuration, &report->metadata,
                                     report->public_share, NULL) != SOTTO_OK)
        return SOTTO_REPORT_INVALID_MESSAGE;
    status = sotto_receivers_unseal_keyed(upload->server->receivers[worker->number], record,
                                          report->leader.config_id, with, sotto_buf_bytes(aad),
                                          report->leader.payload, key, NULL);
    if (status == SOTTO_NO_MEMORY)
        upload->failed = status;
    if (status != SOTTO_OK)
        return SOTTO_REPORT_HPKE_DECRYPT_ERROR;
    return 0;
}

/* Whether it may be taken. Whether its token was spent is checked by the flush. */
static uint8_t check_token(sotto_upload_request *upload, const sotto_worker *worker,
                           sotto_uploaded *out, const sotto_dap_report *report, sotto_bytes aad,
                           const sotto_plaintext_input_share *plain, const sotto_agreement *once)
{
    sotto_token_question question = {
        .task = upload->task,
        .who = SOTTO_REPORT_LEADER,
        .metadata = &report->metadata,
        .aad = aad,
        .plain = plain,
        .once = once,
        .now = sotto_clock_wall(&sotto_clock_system) / 1000000000,
        .late_seconds = upload->server->options.late_seconds,
    };
    sotto_status status = SOTTO_NO_MEMORY;

    out->spend = sotto_arena_take(&upload->arena, sizeof *out->spend);
    if (out->spend)
        status = sotto_receivers_find(upload->server->receivers[worker->number], &question.receiver,
                                      report->leader.config_id, NULL);
    if (status == SOTTO_OK)
        status = sotto_token_checker_ask(upload->server->token_checkers[worker->number], out->spend,
                                         &question, NULL);
    if (status == SOTTO_NO_MEMORY)
        upload->failed = status;
    if (status != SOTTO_OK)
        out->spend = NULL;
    if (SOTTO_RULE(leader_tokens) && status != SOTTO_OK)
        return SOTTO_REPORT_TOKEN_INVALID;
    return 0;
}

/* What was opened is extensions and the share, each behind its length. */
static uint8_t check_share(sotto_upload_request *upload, const sotto_worker *worker,
                           sotto_uploaded *out, sotto_plaintext_input_share *plain,
                           sotto_bytes opened, sotto_bytes aad, const sotto_dap_report *report,
                           const sotto_agreement *once)
{
    const sotto_vdaf_sizes *sizes = &upload->task->dap.sizes;

    if (sotto_plaintext_input_share_decode(plain, opened, NULL) != SOTTO_OK ||
        sotto_report_extensions_check(report->metadata.public_extensions, plain->private_extensions,
                                      sotto_admission_types, sotto_task_extensions(upload->task),
                                      NULL) != SOTTO_OK ||
        plain->payload.len != sizes->leader_share ||
        report->public_share.len != sizes->public_share)
        return SOTTO_REPORT_INVALID_MESSAGE;
    return upload->task->token_keys.issuer
               ? check_token(upload, worker, out, report, aad, plain, once)
               : 0;
}

/* Opens a share behind what is there of `into` already, and checks it; *key opens it again. */
static uint8_t open_share(sotto_uploaded *out, sotto_worker *worker, sotto_buf *aad,
                          sotto_buf *into, sotto_plaintext_input_share *plain,
                          const sotto_dap_report *report,
                          const sotto_agreement with[SOTTO_OPENED_WITH], sotto_message_key *key)
{
    sotto_upload_request *upload = out->upload;
    size_t start = into->len;
    sotto_status status = sotto_receivers_know(upload->server->receivers[worker->number],
                                               report->leader.config_id, NULL);
    uint8_t error;

    /* A failure of ours: with any report error, the client would give its report up. */
    if (status != SOTTO_OK && status != SOTTO_MISSING)
        upload->failed = status;
    if (status != SOTTO_OK)
        return SOTTO_REPORT_OUTDATED_CONFIG;
    error = unseal(upload, worker, aad, into, report, with, key);
    if (error)
        return error;
    return check_share(upload, worker, out, plain,
                       sotto_bytes_of(into->data + start, into->len - start), sotto_buf_bytes(aad),
                       report, &with[ONCE]);
}

static uint8_t open_into_record(sotto_uploaded *out, sotto_worker *worker, sotto_buf *aad,
                                const sotto_dap_report *report,
                                const sotto_agreement with[SOTTO_OPENED_WITH])
{
    sotto_upload_request *upload = out->upload;
    size_t size = sotto_record_size(report), start;
    sotto_plaintext_input_share plain;
    sotto_message_key key;
    sotto_buf *all = &upload->records, record;
    uint8_t error;

    record = sotto_buf_over(all->data + all->len, size > all->cap - all->len ? 0 : size);
    if (sotto_record_begin(&record, report, NULL) != SOTTO_OK) {
        upload->failed = SOTTO_BUG; /* set_up made room for all of them */
        return SOTTO_REPORT_INVALID_MESSAGE;
    }
    start = record.len;
    error = open_share(out, worker, aad, &record, &plain, report, with, &key);
    sotto_wipe(&key, sizeof key);
    if (error)
        return error; /* the next one overwrites what there is of it */
    /* Without the extensions, it is what the record wants. */
    memmove(record.data + start, plain.payload.data - 4, 4 + plain.payload.len);
    record.len = start + 4 + plain.payload.len;
    all->len += record.len;
    out->record = sotto_buf_bytes(&record);
    return 0;
}

/* A long one goes to disk as it came: what is written beside it is its head. */
static sotto_status keep_head(sotto_uploaded *out, sotto_bytes *report_share,
                              const sotto_message_key *key, sotto_bytes aad)
{
    const sotto_dap_report *report = out->report;
    sotto_buf head;

    SOTTO_TRY(
        sotto_buf_take(&head, &out->upload->arena, sotto_sealed_head_size(report, aad), NULL));
    SOTTO_TRY(sotto_sealed_head_write(&head, report_share, report, key, aad, NULL));
    out->head = sotto_buf_bytes(&head);
    out->share = report->leader.payload;
    return SOTTO_OK;
}

/* What the first step takes of it. */
static sotto_status input_of(sotto_vdaf_report *input, sotto_bytes report_share, sotto_bytes share)
{
    sotto_reader in = sotto_reader_over(report_share);
    sotto_report_metadata metadata;
    sotto_hpke_ciphertext helper;

    sotto_report_share_read(&in, &metadata, &input->public_share, &helper);
    memcpy(input->nonce, metadata.report_id, sizeof input->nonce);
    input->input_share = share;
    return sotto_reader_finish(&in, "report share", NULL);
}

void sotto_upload_open_long(sotto_uploaded *out, sotto_vdaf_report *input,
                            sotto_bytes *report_share, sotto_worker *worker, sotto_buf *aad,
                            sotto_buf *into, const sotto_agreement with[SOTTO_OPENED_WITH])
{
    sotto_plaintext_input_share plain;
    sotto_message_key key;
    sotto_status status = SOTTO_OK;

    into->len = 0;
    out->error = open_share(out, worker, aad, into, &plain, out->report, with, &key);
    if (out->error == 0)
        status = keep_head(out, report_share, &key, sotto_buf_bytes(aad));
    if (out->error == 0 && status == SOTTO_OK)
        status = input_of(input, *report_share, plain.payload);
    if (status != SOTTO_OK) {
        out->upload->failed = status;
        out->error = SOTTO_REPORT_INVALID_MESSAGE; /* all of them are given up */
    }
    sotto_wipe(&key, sizeof key);
}

/* What can be said of a report before its share is opened. */
static void look_at(sotto_upload_request *upload, sotto_uploaded *out,
                    const sotto_dap_report *report, size_t size)
{
    out->upload = upload;
    memcpy(out->id, report->metadata.report_id, sizeof out->id);
    out->error = check_time(upload, report->metadata.time, &out->bucket);
    /* The helper's share is not ours to open, but a job of such reports would be longer than the helper reads. */
    if (out->error == 0 && size > upload->task->max_report)
        out->error = SOTTO_REPORT_INVALID_MESSAGE;
}

/* ---- some reports at once, of one request or of several --------------------------------------------------------- */

enum { CHUNK = 64 };

typedef struct entry {
    sotto_upload_request *upload;
    sotto_dap_report report;
    size_t size;
    sotto_uploaded *out; /* once it has a place */
} entry;

typedef struct chunk {
    entry *entries; /* as many as there are reports, CHUNK at most */
    size_t count;
    uint8_t config_ids[SOTTO_OPENED_WITH * CHUNK];
    sotto_agreement agreed[SOTTO_OPENED_WITH * CHUNK];
    sotto_buf aad;
} chunk;

static const sotto_dap_report *put_off(sotto_upload_request *upload, const sotto_dap_report *report)
{
    sotto_dap_report *kept = &upload->dap_reports[upload->put_off++];

    *kept = *report;
    return kept;
}

/* Shares that are going to be opened agree on their keys together. */
static void take_in(chunk *c, sotto_worker *worker)
{
    sotto_receivers *receivers;

    if (c->count == 0)
        return;
    receivers = c->entries[0].upload->server->receivers[worker->number];
    for (size_t i = 0; i < c->count; i++) {
        entry *e = &c->entries[i];
        sotto_agreement *with = &c->agreed[SOTTO_OPENED_WITH * i];
        uint8_t *ids = &c->config_ids[SOTTO_OPENED_WITH * i];

        e->out = e->upload->reports + e->upload->count++;
        look_at(e->upload, e->out, &e->report, e->size);
        memset(with, 0, SOTTO_OPENED_WITH * sizeof *with);
        memset(ids, 0, SOTTO_OPENED_WITH);
        if (e->out->error == 0 && !e->upload->dap_reports)
            sotto_upload_peers(e->upload->task, &e->report, with, ids);
    }
    sotto_receivers_agree(receivers, c->agreed, c->config_ids, SOTTO_OPENED_WITH * c->count);
    for (size_t i = 0; i < c->count; i++) {
        const entry *e = &c->entries[i];

        if (e->upload
                ->dap_reports) /* opened with its neighbours, of other uploads too (long_reports.h) */
            e->out->report = put_off(e->upload, &e->report);
        else if (e->out->error == 0)
            e->out->error = open_into_record(e->out, worker, &c->aad, &e->report,
                                             &c->agreed[SOTTO_OPENED_WITH * i]);
    }
    sotto_wipe(c->agreed, SOTTO_OPENED_WITH * c->count * sizeof c->agreed[0]);
    c->count = 0;
}

static void read_reports(chunk *c, sotto_upload_request *upload, sotto_worker *worker)
{
    sotto_reader in = sotto_reader_over(upload->unread);
    size_t left = sotto_reader_left(&in);
    entry *e = &c->entries[c->count];

    while (sotto_dap_upload_req_next(&in, &e->report)) {
        e->upload = upload;
        e->size = left - sotto_reader_left(&in);
        left = sotto_reader_left(&in);
        if (++c->count == CHUNK)
            take_in(c, worker);
        e = &c->entries[c->count];
    }
}

/* ---- the request ------------------------------------------------------------------------------------------------ */

/* One block for all records, which goes back to the system as one. A record has nothing that its report has not, but
 * lengths and what its size is rounded up by. */
static bool set_up(sotto_upload_request *upload, size_t count, size_t bytes)
{
    enum { ALONE = 4096 };
    bool later = sotto_job_part_is_long(upload->task);
    size_t records = later ? 0 : bytes + 64 * (count + 1);
    size_t small = records <= ALONE ? records : 0;
    size_t all = small + (count + 1) * (sizeof *upload->reports + SOTTO_REPORT_ID_SIZE + 1);

    if (upload->task->token_keys.issuer)
        all += count * (sizeof(sotto_token_spend) + 16);

    /* Most requests have one report, and wait in memory for their job: each gets what it needs and no more. Longer records have a
     * block of their own anyway. */
    if (!sotto_arena_expect(&upload->arena, all + 256))
        return false;
    upload->reports = sotto_arena_take_array(&upload->arena, count + 1, sizeof *upload->reports);
    if (later)
        upload->dap_reports =
            sotto_arena_take_array(&upload->arena, count + 1, sizeof *upload->dap_reports);
    return upload->reports && (!later || upload->dap_reports) &&
           sotto_buf_take(&upload->records, &upload->arena, records, NULL) == SOTTO_OK;
}

/* Adds up what the reports of a request need; false once it has answered. */
static bool begin(sotto_upload_request *upload, size_t *reports, size_t *aad)
{
    /* Twice a valid report: what does not fit has a wrong length, whatever else is wrong with it. */
    size_t size = 2 * upload->task->max_report + upload->task->dap.configuration.len + 128;
    sotto_dap_upload_req req;

    if (sotto_dap_upload_req_decode(&req, sotto_http_request_body(upload->request), NULL) !=
        SOTTO_OK) {
        sotto_problem(upload->request, SOTTO_DAP_INVALID_MESSAGE, NULL, upload->task);
        sotto_upload_drop(upload);
        return false;
    }
    if (req.count > SOTTO_UPLOAD_MAX_REPORTS) {
        sotto_problem_plain(upload->request, &(sotto_http_problem){.status = 413}, upload->task);
        sotto_upload_drop(upload);
        return false;
    }
    if (!set_up(upload, req.count, req.reports.len)) {
        sotto_upload_give_up(upload, SOTTO_NO_MEMORY);
        return false;
    }
    upload->unread = req.reports;
    *reports += req.count;
    if (!upload->dap_reports)
        *aad = size > *aad ? size : *aad;
    return true;
}

/* Those of a chain that may go on, as a chain. */
static sotto_upload_request *begin_all(sotto_upload_request *chain, size_t *reports, size_t *aad)
{
    sotto_upload_request *first = NULL, **end = &first, *next;

    for (sotto_upload_request *u = chain; u; u = next) {
        next = u->next;
        if (begin(u, reports, aad)) {
            *end = u;
            end = &u->next;
        }
    }
    *end = NULL;
    return first;
}

static void give_up_all(sotto_upload_request *chain, sotto_status status)
{
    sotto_upload_request *next;

    for (sotto_upload_request *u = chain; u; u = next) {
        next = u->next;
        sotto_upload_give_up(u, status);
    }
}

/* A report that could not be looked at says so in its answer: nothing of it is stored, and the client may
 * send the same request again. */
static sotto_upload_request *opened_of(sotto_upload_request *chain)
{
    sotto_upload_request *first = NULL, **end = &first, *next;

    for (sotto_upload_request *u = chain; u; u = next) {
        next = u->next;
        if (u->failed != SOTTO_OK) {
            sotto_upload_give_up(u, u->failed);
            continue;
        }
        if (!u->dap_reports) /* which go to disk from there */
            sotto_http_request_forget_body(u->request);
        *end = u;
        end = &u->next;
    }
    *end = NULL;
    return first;
}

void sotto_upload_open_many(sotto_upload_request *chain, sotto_worker *worker)
{
    size_t reports = 0, aad = 0;
    sotto_intake *intake = sotto_leader_of(chain->server)->intake;
    chunk *c;

    chain = begin_all(chain, &reports, &aad);
    if (!chain)
        return;
    reports = reports < CHUNK ? reports : CHUNK;
    c = sotto_arena_take(worker->arena, sizeof *c);
    if (!c ||
        !(c->entries = sotto_arena_take_array(worker->arena, reports + 1, sizeof *c->entries)) ||
        sotto_buf_take(&c->aad, worker->arena, aad, NULL) != SOTTO_OK) {
        give_up_all(chain, SOTTO_NO_MEMORY);
        return;
    }
    for (sotto_upload_request *u = chain; u; u = u->next)
        read_reports(c, u, worker);
    take_in(c, worker);
    chain = opened_of(chain);
    if (chain)
        sotto_intake_put(intake, chain, worker);
}

void sotto_upload_handle(sotto_server *server, const sotto_server_task *task, sotto_bytes id,
                         sotto_http_request *request)
{
    sotto_upload_request *upload = sotto_alloc(sizeof *upload);
    sotto_status status;

    (void)id;
    if (!upload) {
        sotto_problem_of(request, SOTTO_NO_MEMORY, task);
        return;
    }
    upload->server = server;
    upload->task = task;
    upload->request = request;
    upload->body_bytes = sotto_http_request_body(request).len;
    sotto_http_request_seals_body(request);
    atomic_init(&upload->users, 1);
    sotto_arena_init(&upload->arena, server->options.upload_memory);
    status = sotto_arrivals_put(sotto_leader_of(server)->arrivals, upload, NULL);
    if (status != SOTTO_OK)
        sotto_upload_give_up(upload, status);
}
