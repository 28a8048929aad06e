/* From sealed shares to sums: what the helper computes, outside any transaction. */
#include "serve/helper/job.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/rule.h"
#include "serve/tasks/folds.h"
#include "serve/tasks/report_time.h"
#include "serve/tasks/token_check.h"

#include <string.h>

/* ---- which reports take part -------------------------------------------------------------------------- */

/* DAP, "Input Share Validation", as far as the metadata tell. */
static uint8_t check_time(const sotto_helper_job *job, uint64_t time, uint64_t now)
{
    sotto_report_time found = sotto_report_time_check(job->ask.server, job->ask.task, time, now);

    if (SOTTO_RULE(helper_late) && found == SOTTO_TIME_LATE)
        return SOTTO_REPORT_DROPPED;
    switch (found) {
    case SOTTO_TIME_NOT_STARTED:
        return SOTTO_REPORT_TASK_NOT_STARTED;
    case SOTTO_TIME_EXPIRED:
        return SOTTO_REPORT_TASK_EXPIRED;
    case SOTTO_TIME_TOO_EARLY:
        return SOTTO_REPORT_TOO_EARLY;
    case SOTTO_TIME_LATE:
    case SOTTO_TIME_FITS:
    default:
        return 0;
    }
}

/* The clock is read once for all, so that a job of one bucket is early as a whole or not at all. */
static void exclude(sotto_helper_job *job)
{
    uint64_t now = sotto_clock_wall(&sotto_clock_system) / 1000000000;

    job->early = job->count > 0;
    for (size_t i = 0; i < job->count; i++) {
        sotto_helper_report *r = &job->reports[i];

        r->error = check_time(job, r->init.metadata.time, now);
        job->early = job->early && r->error == SOTTO_REPORT_TOO_EARLY;
        if (SOTTO_RULE(helper_closed_batch) && r->error == 0 && job->batches[r->batch].closed)
            r->error = SOTTO_REPORT_BATCH_COLLECTED;
        if (SOTTO_RULE(helper_replays) && r->error == 0 && job->marks[i].taken)
            r->error = SOTTO_REPORT_REPLAYED;
        if (SOTTO_RULE(helper_spent) && r->error == 0 && r->spent)
            r->error = SOTTO_REPORT_TOKEN_SPENT;
        if (SOTTO_RULE(helper_round_largest) && r->error == 0 && r->over)
            r->error = SOTTO_REPORT_DROPPED;
        if (SOTTO_RULE(helper_one_of_a_slot) && r->error == 0 && r->crowded)
            r->error = SOTTO_REPORT_DROPPED;
    }
}

/* What a share is opened with: its sender's key, and its token's one-time key where it has a token. */
enum { SHARE, ONCE, WITH };

/* ---- opening ---------------------------------------------------------------------------------------------- */

/* Whether its token admits it. Whether the token was spent is checked at the commit. */
static uint8_t check_token(const sotto_helper_job *job, const sotto_worker *worker,
                           const sotto_helper_report *r, sotto_bytes aad,
                           const sotto_plaintext_input_share *plain, const sotto_agreement *once,
                           bool *failed)
{
    sotto_token_question question = {
        .task = job->ask.task,
        .who = SOTTO_REPORT_HELPER,
        .metadata = &r->init.metadata,
        .aad = aad,
        .plain = plain,
        .once = once,
        .now = sotto_clock_wall(&sotto_clock_system) / 1000000000,
        .late_seconds = job->ask.server->options.late_seconds,
    };
    sotto_status status =
        sotto_receivers_find(job->ask.server->receivers[worker->number], &question.receiver,
                             r->init.encrypted_input_share.config_id, NULL);
    if (status == SOTTO_OK)
        status = sotto_token_checker_ask(job->ask.server->token_checkers[worker->number],
                                         &job->spends[r - job->reports], &question, NULL);

    *failed = *failed || status == SOTTO_NO_MEMORY;
    if (SOTTO_RULE(helper_tokens) && status != SOTTO_OK)
        return SOTTO_REPORT_TOKEN_INVALID;
    return 0;
}

/* Appends the VDAF's input share to out, and yields it; else the error that the leader is told. *failed: a failure of
 * ours; the leader is told nothing about the report. */
static uint8_t open_share(const sotto_helper_job *job, sotto_worker *worker,
                          const sotto_helper_report *r, const sotto_agreement with[WITH],
                          sotto_buf *aad, sotto_buf *out, sotto_bytes *share, bool *failed)
{
    const sotto_hpke_ciphertext *sealed = &r->init.encrypted_input_share;
    const sotto_server_task *task = job->ask.task;
    sotto_plaintext_input_share plain;
    size_t start = out->len;
    sotto_status status;

    aad->len = 0;
    if (sotto_input_share_aad_encode(aad, task->dap.id, task->dap.configuration, &r->init.metadata,
                                     r->init.public_share, NULL) != SOTTO_OK)
        return SOTTO_REPORT_INVALID_MESSAGE;
    status =
        sotto_receivers_unseal(job->ask.server->receivers[worker->number], out, sealed->config_id,
                               with, sotto_buf_bytes(aad), sealed->payload, NULL);
    *failed = *failed || status == SOTTO_NO_MEMORY;
    if (status != SOTTO_OK)
        return SOTTO_REPORT_HPKE_DECRYPT_ERROR;
    if (sotto_plaintext_input_share_decode(
            &plain, sotto_bytes_of(out->data + start, out->len - start), NULL) != SOTTO_OK ||
        sotto_report_extensions_check(r->init.metadata.public_extensions, plain.private_extensions,
                                      sotto_admission_types, sotto_task_extensions(task),
                                      NULL) != SOTTO_OK)
        return SOTTO_REPORT_INVALID_MESSAGE;
    if (plain.payload.len != task->dap.sizes.helper_share ||
        r->init.public_share.len != task->dap.sizes.public_share)
        return SOTTO_REPORT_INVALID_MESSAGE;
    *share = plain.payload;
    return task->token_keys.issuer
               ? check_token(job, worker, r, sotto_buf_bytes(aad), &plain, &with[ONCE], failed)
               : 0;
}

/* ---- one chunk ---------------------------------------------------------------------------------------------- */

typedef struct chunk {
    size_t index[SOTTO_HELPER_CHUNK]; /* of the report in the job */
    sotto_vdaf_report reports[SOTTO_HELPER_CHUNK];
    sotto_bytes inbound[SOTTO_HELPER_CHUNK];
    sotto_agreement agreed[WITH * SOTTO_HELPER_CHUNK];
    uint8_t config_ids[WITH * SOTTO_HELPER_CHUNK];
    sotto_vdaf_batch verification;
    size_t count;
} chunk;

/* With the senders of all shares that are going to be opened, at once. */
static void agree_chunk(const sotto_helper_job *job, const sotto_worker *worker, chunk *c,
                        size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        const sotto_helper_report *r = &job->reports[i];
        sotto_agreement *with = &c->agreed[WITH * (i - first)];

        memset(&c->config_ids[WITH * (i - first)], r->init.encrypted_input_share.config_id, WITH);
        memset(with, 0, WITH * sizeof *with);
        if (r->error != 0)
            continue;
        with[SHARE].peer = r->init.encrypted_input_share.enc;
        with[ONCE].peer = sotto_token_peer(job->ask.task, r->init.metadata.public_extensions);
    }
    sotto_receivers_agree(job->ask.server->receivers[worker->number], c->agreed, c->config_ids,
                          WITH * (end - first));
}

static sotto_status open_chunk(sotto_helper_job *job, sotto_worker *worker, chunk *c, size_t first,
                               size_t end, sotto_err *err)
{
    size_t longest = 0, total = 0;
    sotto_buf aad, out;
    bool failed = false;

    for (size_t i = first; i < end; i++) {
        const sotto_dap_verify_init *init = &job->reports[i].init;
        size_t len = init->public_share.len + init->metadata.public_extensions.len;

        longest = len > longest ? len : longest;
        total += init->encrypted_input_share.payload.len;
    }
    SOTTO_TRY(sotto_buf_take(&aad, worker->arena,
                             longest + job->ask.task->dap.configuration.len + 128, err));
    SOTTO_TRY(sotto_buf_take(&out, worker->arena, total, err));
    agree_chunk(job, worker, c, first, end);
    c->count = 0;
    for (size_t i = first; i < end; i++) {
        sotto_helper_report *r = &job->reports[i];
        sotto_vdaf_report *to = &c->reports[c->count];

        if (r->error == 0)
            r->error = open_share(job, worker, r, &c->agreed[WITH * (i - first)], &aad, &out,
                                  &to->input_share, &failed);
        if (r->error != 0)
            continue;
        memcpy(to->nonce, r->init.metadata.report_id, sizeof to->nonce);
        to->public_share = r->init.public_share;
        c->inbound[c->count] = r->init.payload;
        c->index[c->count++] = i;
    }
    sotto_wipe(c->agreed, sizeof c->agreed);
    return failed ? sotto_fail(err, SOTTO_NO_MEMORY, "opening shares") : SOTTO_OK;
}

/* Into the job's own arena, since the chunk's memory goes. */
static sotto_status keep_outbound(sotto_helper_job *job, sotto_helper_report *r, sotto_bytes bytes,
                                  sotto_err *err)
{
    uint8_t *copy = sotto_arena_take(&job->ask.arena, bytes.len);

    if (!copy)
        return sotto_fail(err, SOTTO_NO_MEMORY, "an answer");
    memcpy(copy, bytes.data, bytes.len);
    r->outbound = sotto_bytes_of(copy, bytes.len);
    return SOTTO_OK;
}

/* Adds runs of reports that go to one batch at once: nearly always the whole chunk. */
static sotto_status add_chunk(sotto_helper_job *job, const chunk *c, sotto_err *err)
{
    const sotto_vdaf_server_ops *ops = job->ask.task->method->two_server;

    for (size_t i = 0, end; i < c->count; i = end) {
        size_t batch = job->reports[c->index[i]].batch;

        for (end = i + 1; end < c->count && job->reports[c->index[end]].batch == batch;)
            end++;
        SOTTO_TRY(ops->accumulate(&job->batches[batch].sum, &c->verification, i, end - i, err));
    }
    return SOTTO_OK;
}

static sotto_status verify_chunk(sotto_helper_job *job, sotto_worker *worker, chunk *c,
                                 sotto_err *err)
{
    const sotto_server_task *task = job->ask.task;

    SOTTO_TRY(task->method->two_server->helper_init(&task->vdaf, &c->verification, &task->verifier,
                                                    c->reports, c->inbound, c->count, worker->arena,
                                                    err));
    for (size_t i = 0; i < c->count; i++) {
        sotto_helper_report *r = &job->reports[c->index[i]];

        if (c->verification.status[i] == SOTTO_OK) {
            SOTTO_TRY(keep_outbound(job, r, c->verification.outbound[i], err));
            sotto_sub_aggregate_count(&job->batches[r->batch].sub, &r->init.metadata);
        } else {
            /* Whatever is wrong: our own share was decoded before, and a malformed message fails the verification. */
            r->error = SOTTO_REPORT_VDAF_VERIFY_ERROR;
        }
    }
    return add_chunk(job, c, err);
}

/* How many are opened and verified at once. No more than a processor's own caches hold once their shares are expanded, and no
 * fewer than fill every lane of the kernels. */
static size_t chunk_size(const sotto_server_task *task)
{
    enum { BYTES = 1 << 20, LANES = 8 };
    size_t count = BYTES / (task->dap.sizes.out_share + 1) / LANES * LANES;

    if (count > SOTTO_HELPER_CHUNK)
        count = SOTTO_HELPER_CHUNK;
    return count > LANES ? count : LANES;
}

/* ---- the whole job -------------------------------------------------------------------------------------------- */

static sotto_status begin_sums(sotto_helper_job *job, sotto_err *err)
{
    const sotto_server_task *task = job->ask.task;

    for (size_t i = 0; i < job->batch_count; i++) {
        sotto_helper_batch *b = &job->batches[i];
        sotto_batch_key key = b->sub.batch;

        memset(&b->sub, 0, sizeof b->sub);
        b->sub.batch = key;
        SOTTO_TRY(task->method->two_server->tally_init(&b->sum, &task->vdaf, &job->ask.arena, err));
    }
    return SOTTO_OK;
}

/* The fold that the leader names. A job of several batches keeps its shares: dropping it would drop all that was folded with it
 * in each of them, released or not. */
static int64_t find_fold(const sotto_helper_job *job)
{
    sotto_bytes text;

    if (SOTTO_RULE(fold_one_batch) && job->batch_count != 1)
        return 0;
    if (!sotto_http_request_field(job->ask.request, SOTTO_FOLD_FIELD, &text))
        return 0;
    return sotto_fold_decode(text);
}

/* Each share sealed for its row, ready for the transaction. */
static sotto_status end_sums(sotto_helper_job *job, sotto_worker *worker, sotto_err *err)
{
    size_t size = job->ask.task->dap.sizes.out_share;
    int64_t fold = find_fold(job);
    sotto_buf plain;

    SOTTO_TRY(sotto_buf_take(&plain, worker->arena, size, err));
    for (size_t i = 0; i < job->batch_count; i++) {
        sotto_helper_batch *b = &job->batches[i];

        b->sub.fold = fold;
        b->sub.sum = &b->sum;
        if (fold)
            continue;
        plain.len = 0;
        SOTTO_TRY(job->ask.task->method->tally->encode(&b->sum, &plain, err));
        SOTTO_TRY(sotto_batch_seal_share(&b->sub.share, job->ask.server->columns, job->ask.task,
                                         job->ask.n, &b->sub.batch, sotto_buf_bytes(&plain),
                                         &job->ask.arena, err));
    }
    return SOTTO_OK;
}

static sotto_status encode_answer(sotto_helper_job *job, sotto_err *err)
{
    size_t size = 16;
    sotto_dap_list list;

    for (size_t i = 0; i < job->count; i++)
        size += SOTTO_REPORT_ID_SIZE + 8 + job->reports[i].outbound.len;
    SOTTO_TRY(sotto_buf_take(&job->answer, &job->ask.arena, size, err));
    SOTTO_TRY(sotto_dap_job_resp_begin(&list, &job->answer, job->ask.task->profile, err));
    for (size_t i = 0; i < job->count; i++) {
        const sotto_helper_report *r = &job->reports[i];
        sotto_dap_verify_resp resp = {.type = r->error ? SOTTO_DAP_VERIFY_REJECT
                                                       : SOTTO_DAP_VERIFY_CONTINUE,
                                      .payload = r->outbound,
                                      .error = r->error};

        memcpy(resp.report_id, r->init.metadata.report_id, sizeof resp.report_id);
        SOTTO_TRY(sotto_dap_job_resp_add(&list, &resp, err));
    }
    return sotto_dap_list_end(&list, err);
}

sotto_status sotto_helper_verify(sotto_helper_job *job, sotto_worker *worker, sotto_err *err)
{
    chunk *c = sotto_arena_take(worker->arena, sizeof *c);
    size_t size = chunk_size(job->ask.task);

    if (!c)
        return sotto_fail(err, SOTTO_NO_MEMORY, "verifying reports");
    sotto_arena_rollback(&job->ask.arena, job->ask.base);
    exclude(job);
    SOTTO_TRY(begin_sums(job, err));
    for (size_t first = 0; first < job->count; first += size) {
        sotto_arena_mark here = sotto_arena_here(worker->arena);
        size_t end = first + size;

        if (end > job->count)
            end = job->count;
        SOTTO_TRY(open_chunk(job, worker, c, first, end, err));
        SOTTO_TRY(verify_chunk(job, worker, c, err));
        sotto_arena_rollback(worker->arena, here);
    }
    SOTTO_TRY(end_sums(job, worker, err));
    return encode_answer(job, err);
}
