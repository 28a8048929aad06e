/* Each witness is asked until it has cosigned the last tree; what it says is published with the checkpoint (C2SP tlog-witness). */
#include "serve/log/log.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/rule.h"
#include "tlog/lines.h"
#include "tlog/witness.h"

#include <stdio.h>
#include <string.h>

enum { RETRY_SECONDS = 5, ANSWER = 4096, URL = 2048 };

/* An answer, on its way from the client's thread to a worker. */
typedef struct heard {
    sotto_log_witness *witness;
    unsigned http; /* 0: none came */
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
    for (sotto_bytes rest = body; sotto_tlog_line(&line, &rest);) {
        const sotto_note one = {note.text, sotto_bytes_of(line.data, line.len + 1)};

        if (line.len + 1 >= sizeof witness->line ||
            sotto_note_check(&one, key, NULL, NULL) != SOTTO_OK)
            continue;
        memcpy(witness->line, line.data, line.len + 1);
        witness->line[line.len + 1] = 0;
        witness->done = true;
        witness->size = witness->asked;
        atomic_fetch_add(&log->cosigned, 1);
        return publish(log, err);
    }
    return sotto_fail(err, SOTTO_REJECTED, "no cosignature that holds");
}

/* 409: the size that the witness has. More than ours means that this log went back: it must sign nothing more. */
static sotto_status take_size(sotto_log_server *log, sotto_log_witness *witness, sotto_bytes body,
                              sotto_err *err)
{
    sotto_bytes line;
    uint64_t size;

    if (!sotto_tlog_line(&line, &body) || !sotto_tlog_decimal(&size, line))
        return sotto_fail(err, SOTTO_MALFORMED, "a conflict without a size");
    if (SOTTO_RULE(witness_shows_a_rollback) &&
        size > sotto_log_store_signed(log->store, NULL)->size) {
        atomic_store(&log->rolled_back, true);
        return sotto_fail(err, SOTTO_STALE,
                          "a witness cosigned a larger tree: the log was rolled back");
    }
    witness->size = size;
    witness->not_before = 0;
    return SOTTO_OK;
}

static void take(void *context, sotto_worker *worker)
{
    heard *h = context;
    sotto_log_witness *witness = h->witness;
    sotto_log_server *log = witness->log;
    const sotto_bytes body = sotto_bytes_of(h->body, h->len);
    sotto_err err = {0};
    sotto_status status;

    (void)worker;
    (void)pthread_mutex_lock(&log->lock);
    witness->busy = false;
    witness->not_before = sotto_host_seconds(log->host) + RETRY_SECONDS;
    if (sotto_log_store_signed(log->store, NULL)->size != witness->asked) {
        witness->not_before =
            0; /* the log grew meanwhile: ask again, from what it cosigned just now */
        status = SOTTO_OK;
    } else if (h->http == 200)
        status = take_line(log, witness, body, &err);
    else if (h->http == 409)
        status = take_size(log, witness, body, &err);
    else
        status = sotto_fail(&err, SOTTO_IO, "it answered with status %u", h->http);
    (void)pthread_mutex_unlock(&log->lock);
    if (status != SOTTO_OK)
        sotto_log(&log->host->options.log, SOTTO_LOG_WARNING, "log.not_cosigned",
                  sotto_log_uint("witness", witness->number + 1),
                  sotto_log_text("reason", err.reason));
    sotto_release(h, sizeof *h);
    sotto_log_ask_witnesses(log);
}

static void on_answer(void *context, sotto_status status, const sotto_http_response *response,
                      const sotto_err *err)
{
    heard *h = context;

    (void)err;
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
    (void)snprintf(url, sizeof url, "%s%sadd-checkpoint", log->witness_keys.urls[witness->number],
                   log->witness_keys.urls[witness->number]
                                         [strlen(log->witness_keys.urls[witness->number]) - 1] ==
                           '/'
                       ? ""
                       : "/");
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

void sotto_log_ask_witnesses(sotto_log_server *log)
{
    const int64_t now = sotto_host_seconds(log->host);

    (void)pthread_mutex_lock(&log->lock);
    for (size_t i = 0; i < log->witness_keys.count && !log->stopping; i++) {
        sotto_log_witness *witness = &log->witnesses[i];
        heard *h;

        if (atomic_exchange(&witness->lost, false))
            witness->busy = false;
        if (witness->busy || witness->done || now < witness->not_before ||
            !log->witness_keys.urls[i])
            continue;
        h = sotto_alloc(sizeof *h);
        if (!h)
            break;
        h->witness = witness;
        witness->busy = true;
        if (ask(log, witness, h, NULL) != SOTTO_OK) {
            witness->busy = false;
            witness->not_before = now + RETRY_SECONDS;
            sotto_release(h, sizeof *h);
        }
    }
    (void)pthread_mutex_unlock(&log->lock);
}
