/* Each witness is asked until it has cosigned the last tree; what it says is published with the checkpoint (C2SP tlog-witness). Devices
 * demand that this was not long ago. So it is asked again, also if nothing was added. */
#include "serve/log/log.h"

#include "base/alloc.h"
#include "base/hex.h"
#include "base/log.h"
#include "base/rule.h"
#include "crypto/hash.h"
#include "tlog/lines.h"
#include "tlog/witness.h"

#include <stdio.h>
#include <string.h>

enum { RETRY_SECONDS = 5, RENEW_SECONDS = 6 * 3600, ANSWER = 8192, URL = 2048 };

/* An answer, on its way from the client's thread to a worker. */
typedef struct heard {
    sotto_log_witness *witness;
    bool shows;    /* its last checkpoint, and no cosignature */
    unsigned http; /* 0: none came ... */
    char why[96];  /* ... and why      */
    size_t len;
    uint8_t body[ANSWER];
} heard;

/* ---- what a witness said ---------------------------------------------------------------------------------------------- */

/* The checkpoint with every cosignature of it so far. */
static sotto_status publish(sotto_log_server *log, sotto_err *err)
{
    uint8_t memory[SOTTO_NOTE_TEXT_MAX + (SOTTO_KEY_FILE_KEYS + 2) * SOTTO_NOTE_LINE_MAX];
    sotto_buf note = sotto_buf_over(memory, sizeof memory);
    sotto_writer w = sotto_writer_on(&note);
    sotto_bytes own;

    (void)sotto_log_store_signed(log->store, &own);
    sotto_write_bytes(&w, own);
    for (size_t i = 0; i < log->witness_keys.count; i++)
        if (log->witnesses[i].done)
            sotto_write_bytes(
                &w, sotto_bytes_of(log->witnesses[i].line, strlen(log->witnesses[i].line)));
    SOTTO_TRY(sotto_writer_finish(&w, "checkpoint", err));
    return sotto_log_store_publish(log->store, sotto_buf_bytes(&note), err);
}

/* Takes the line that holds for our own text and that witness' key; anything else it sent is left out. */
static sotto_status take_line(sotto_log_server *log, sotto_log_witness *witness, sotto_bytes body,
                              sotto_err *err)
{
    const sotto_note_key *key = &log->witness_keys.keys[witness->number];
    sotto_bytes own, line;
    sotto_note note;

    (void)sotto_log_store_signed(log->store, &own);
    SOTTO_TRY(sotto_note_decode(&note, own, err));
    note.signatures = body;
    if (!sotto_note_line_by(&line, &note, key) || line.len >= sizeof witness->line)
        return sotto_fail(err, SOTTO_REJECTED, "no cosignature that holds");
    memcpy(witness->line, line.data, line.len);
    witness->line[line.len] = 0;
    witness->done = true;
    witness->renew = sotto_host_seconds(log->host) + RENEW_SECONDS;
    witness->size = witness->asked;
    atomic_fetch_add(&log->cosigned, 1);
    if (!atomic_exchange(&log->confirmed, true))
        sotto_log(&log->host->options.log, SOTTO_LOG_INFO, "log.confirmed",
                  sotto_log_uint("witness", witness->number + 1),
                  sotto_log_uint("size", witness->size));
    return publish(log, err);
}

/* 409: the size that the witness has. A larger size than ours may mean that this log was restored from an old copy: the witness
 * has to show that tree. The same size as before means that it has another tree, and asking again at once would not help. */
static sotto_status take_size(sotto_log_server *log, sotto_log_witness *witness, sotto_bytes body,
                              sotto_err *err)
{
    sotto_bytes line;
    uint64_t size;

    if (!sotto_tlog_line(&line, &body) || !sotto_tlog_decimal(&size, line))
        return sotto_fail(err, SOTTO_MALFORMED, "a conflict without a size");
    if (SOTTO_RULE(witness_shows_a_rollback) &&
        size > sotto_log_store_signed(log->store, NULL)->size) {
        witness->claimed = size;
        witness->not_before = 0;
        return SOTTO_OK;
    }
    witness->size = size;
    if (SOTTO_RULE(log_asks_once_at_once) && (size == witness->old || witness->hurried))
        return sotto_fail(err, SOTTO_REJECTED,
                          "it has another tree, or names one size after another");
    witness->not_before = 0;
    witness->hurried = true;
    return SOTTO_OK;
}

/* The checkpoint of a witness that named a larger size. Only a checkpoint with our own signature proves that: a number alone would
 * let any witness stop the log. */
static sotto_status take_evidence(sotto_log_server *log, const heard *h, sotto_err *err)
{
    const sotto_log_trust trust = {&log->key.signer.key, NULL, 0, 0};
    const uint64_t own = sotto_log_store_signed(log->store, NULL)->size;
    sotto_checkpoint shown = {.size = 0};

    h->witness->claimed = 0;
    if (h->http != 200 ||
        sotto_checkpoint_open(&shown, sotto_bytes_of(h->body, h->len), &trust, NULL) != SOTTO_OK)
        shown.size = 0;
    if (SOTTO_RULE(larger_tree_is_shown) && shown.size <= own) {
        atomic_fetch_add(&log->unproved, 1);
        return sotto_fail(err, SOTTO_REJECTED,
                          "it named a larger tree, and showed none that this log signed");
    }
    atomic_store(&log->rolled_back, true);
    return sotto_fail(err, SOTTO_STALE, "it showed a larger tree: the log was rolled back");
}

static sotto_status take_answer(sotto_log_server *log, const heard *h, sotto_err *err)
{
    sotto_log_witness *witness = h->witness;
    const sotto_bytes body = sotto_bytes_of(h->body, h->len);

    if (h->shows)
        return take_evidence(log, h, err);
    if (h->http == 409)
        return take_size(log, witness, body, err);
    witness->hurried = false;
    if (sotto_log_store_signed(log->store, NULL)->size != witness->asked) {
        witness->not_before =
            0; /* the log grew meanwhile: ask again, from what it cosigned just now */
        return SOTTO_OK;
    }
    if (h->http == 200)
        return take_line(log, witness, body, err);
    if (h->http == 0)
        return sotto_fail(err, SOTTO_IO, "it does not answer: %s", h->why);
    return sotto_fail(err, SOTTO_IO, "it answered with status %u", h->http);
}

/* Under the lock. */
static void note_refusal(sotto_log_server *log, size_t witness, const char *why)
{
    (void)snprintf(log->refusals.why[witness], sizeof log->refusals.why[witness], "%.*s",
                   (int)sizeof log->refusals.why[witness] - 1, why);
    sotto_last_seen_put(log->seen, &log->refusals);
}

static void take(void *context, sotto_worker *worker)
{
    heard *h = context;
    sotto_log_witness *witness = h->witness;
    sotto_log_server *log = witness->log;
    sotto_err err = {0};
    sotto_status status;

    (void)worker;
    (void)pthread_mutex_lock(&log->lock);
    witness->busy = false;
    witness->not_before = sotto_host_seconds(log->host) + RETRY_SECONDS;
    status = take_answer(log, h, &err);
    note_refusal(log, witness->number, status == SOTTO_OK ? "" : err.reason);
    (void)pthread_mutex_unlock(&log->lock);
    if (status != SOTTO_OK)
        sotto_log(&log->host->options.log, SOTTO_LOG_WARNING, "log.not_cosigned",
                  sotto_log_uint("witness", witness->number + 1),
                  sotto_log_text("reason", err.reason));
    sotto_release(h, sizeof *h);
    sotto_log_ask_witnesses(log);
    sotto_log_sign_waiting(log);
}

static void on_answer(void *context, sotto_status status, const sotto_http_response *response,
                      const sotto_err *err)
{
    heard *h = context;

    (void)snprintf(h->why, sizeof h->why, "%.*s", (int)sizeof h->why - 1, err ? err->reason : "");
    h->http = status == SOTTO_OK ? response->status : 0;
    h->len = status == SOTTO_OK && response->body.len <= ANSWER ? response->body.len : 0;
    if (h->len > 0)
        memcpy(h->body, response->body.data, h->len);
    if (sotto_pool_post(h->witness->log->host->pool, take, h, NULL) != SOTTO_OK) {
        atomic_store(&h->witness->lost, true); /* asked again at the next tick */
        sotto_release(h, sizeof *h);
    }
}

/* ---- asking ------------------------------------------------------------------------------------------------------------ */

static void url_of(char out[URL], const sotto_log_witness *witness, const char *path)
{
    const char *base = witness->log->witness_keys.urls[witness->number];

    (void)snprintf(out, URL, "%s%s%s", base, base[strlen(base) - 1] == '/' ? "" : "/", path);
}

/* For the checkpoint that it cosigned last. */
static sotto_status ask_to_show(sotto_log_server *log, sotto_log_witness *witness, heard *h,
                                sotto_err *err)
{
    char url[URL], path[80], origin[65];
    uint8_t digest[32];

    sotto_hash_once(digest, SOTTO_SHA256, log->key.signer.key.name);
    sotto_hex_encode(origin, sotto_bytes_of(digest, sizeof digest));
    (void)snprintf(path, sizeof path, "%s/checkpoint", origin);
    url_of(url, witness, path);
    h->shows = true;
    return sotto_host_call(log->host,
                           &(sotto_http_call){.method = SOTTO_HTTP_GET,
                                              .url = url,
                                              .repeatable = true,
                                              .attempts = 1,
                                              .timeout_ms = 10000,
                                              .max_response = ANSWER},
                           on_answer, h, err);
}

static sotto_status ask(sotto_log_server *log, sotto_log_witness *witness, heard *h, sotto_err *err)
{
    const sotto_checkpoint *last;
    sotto_witness_request request = {.old = witness->size};
    uint8_t body[SOTTO_WITNESS_REQUEST];
    sotto_buf out = sotto_buf_over(body, sizeof body);
    char url[URL];

    last = sotto_log_store_signed(log->store, &request.note);
    if (witness->size > last->size)
        request.old = 0; /* it will say what it has */
    if (request.old > 0 && request.old < last->size)
        SOTTO_TRY(sotto_prover_consistency(sotto_log_store_prover(log->store), &request.proof,
                                           request.old, last->size, err));
    SOTTO_TRY(sotto_witness_request_encode(&out, &request, err));
    url_of(url, witness, "add-checkpoint");
    witness->old = request.old;
    witness->asked = last->size;
    return sotto_host_call(log->host,
                           &(sotto_http_call){.method = SOTTO_HTTP_POST,
                                              .url = url,
                                              .body = sotto_buf_bytes(&out),
                                              .repeatable = true,
                                              .attempts = 1,
                                              .timeout_ms = 10000,
                                              .max_response = ANSWER},
                           on_answer, h, err);
}

/* Under the lock. */
static unsigned count_busy(const sotto_log_server *log)
{
    unsigned busy = 0;

    for (size_t i = 0; i < log->witness_keys.count; i++)
        busy += log->witnesses[i].busy;
    return busy;
}

/* A line that it gave before stays published until there is a later one. */
static bool is_wanted(const sotto_log_witness *witness, int64_t now)
{
    if (SOTTO_RULE(log_renews_cosignatures) && now >= witness->renew)
        return true;
    return !witness->done;
}

void sotto_log_ask_witnesses(sotto_log_server *log)
{
    const int64_t now = sotto_host_seconds(log->host);

    (void)pthread_mutex_lock(&log->lock);
    for (size_t i = 0; i < log->witness_keys.count && !log->stopping; i++) {
        sotto_log_witness *witness = &log->witnesses[i];
        heard *h;

        if (atomic_exchange(&witness->lost, false))
            witness->busy = false;
        if (witness->busy || !is_wanted(witness, now) || now < witness->not_before ||
            !log->witness_keys.urls[i])
            continue;
        h = sotto_alloc(sizeof *h);
        if (!h)
            break;
        h->witness = witness;
        witness->busy = true;
        if ((witness->claimed > 0 ? ask_to_show : ask)(log, witness, h, NULL) != SOTTO_OK) {
            witness->busy = false;
            witness->not_before = now + RETRY_SECONDS;
            sotto_release(h, sizeof *h);
        }
    }
    atomic_store(&log->asking, count_busy(log));
    (void)pthread_mutex_unlock(&log->lock);
}
