/* One round: publish its record, wait until both servers have its task, let devices answer, collect, step, checkpoint. Each step may be
 * done again after a kill: it finds what was done, and does the rest. */
#define _POSIX_C_SOURCE 200809L
#include "learn_run.h"
#include "log_publish.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/hex.h"
#include "crypto/hash.h"
#include "device/answer/shape.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS = 300, PAUSE_MS = 100, URL = 512, DEADLINE_MS = 300000, SLICE_MS = 20000 };

void learn_say(const learn_run *run, const char *format, ...)
{
    va_list args;

    if (run->quiet)
        return;
    va_start(args, format);
    (void)vfprintf(stderr, format, args);
    va_end(args);
    (void)fputc('\n', stderr);
}

/* ---- the record ------------------------------------------------------------------------------------------- */

/* The bytes that devices fetch by their digest. */
static sotto_status keep_model(learn_run *run, uint8_t model[SOTTO_MODEL_HASH], sotto_err *err)
{
    char path[DEMO_FILE + LEARN_HEX], digest[LEARN_HEX];
    sotto_bytes file;

    SOTTO_TRY(
        learn_model_bytes(&run->model, run->session.weights, &file, model, &run->round_arena, err));
    sotto_hex_encode(digest, sotto_bytes_of(model, SOTTO_MODEL_HASH));
    (void)snprintf(path, sizeof path, "%s/models/%s", run->folder, digest);
    return access(path, F_OK) == 0 ? SOTTO_OK : sotto_file_write(path, file, NULL, NULL, err);
}

/* Servers of others come back: nothing is wrong until the round's time is up. Those of this run do not. */
static bool tries_again(const learn_run *run, int64_t until, sotto_err *err)
{
    const struct timespec pause = {1, 0};

    if (!learn_is_remote(run) || demo_interrupted() || (int64_t)time(NULL) >= until)
        return false;
    sotto_err_clear(err);
    (void)nanosleep(&pause, NULL);
    return true;
}

/* An entry that the log has already is not appended again. */
static sotto_status publish(learn_run *run, sotto_err *err)
{
    demo *d = &run->deployment;
    sotto_round_name name = {.round = run->record.round, .is_signed = run->record.is_signed};
    char url[SOTTO_ROUND_NAME + 1];
    sotto_buf text = sotto_buf_over(url, SOTTO_ROUND_NAME);
    sotto_log_object object = {.type = SOTTO_ENTRY_RECIPE, .bytes = run->record_bytes};

    memcpy(name.recipe, run->learning->head.hash, sizeof name.recipe);
    memcpy(name.model, run->record.model, sizeof name.model);
    memcpy(name.signature, run->record.signature, sizeof name.signature);
    SOTTO_TRY(sotto_round_name_encode(&text, &name, err));
    url[text.len] = 0;
    if (!d->log_job.verb)
        SOTTO_TRY(demo_log_open(d, err));
    d->log_job.url = url;
    const int64_t until = learn_remote_deadline(run);
    run->asks = true;
    sotto_status status = demo_log_put(d, &object, 1, err);
    while (status == SOTTO_IO && tries_again(run, until, err))
        status = demo_log_put(d, &object, 1, err);
    d->log_job.url = NULL;
    SOTTO_TRY(status);
    run->asks = false;
    if (learn_is_remote(run))
        return learn_remote_keep_bundle(run, object.bundle, err);
    return run->library ? learn_library_feed(run, object.bundle, err) : SOTTO_OK;
}

/* ---- both servers read the log for themselves --------------------------------------------------------------- */

static sotto_status ask(sotto_http_client *client, unsigned *code, const learn_run *run,
                        sotto_bytes server, sotto_arena *arena, sotto_err *err)
{
    char id[SOTTO_DAP_ID_TEXT_MAX], url[URL];
    sotto_http_response response = {0};

    sotto_dap_id_encode(id, sotto_bytes_of(run->task.id, sizeof run->task.id));
    (void)snprintf(url, sizeof url, "%.*s%stasks/%s/rejections/AAAAAAAAAAAAAAAAAAAAAA",
                   (int)server.len, (const char *)server.data,
                   server.data[server.len - 1] == '/' ? "" : "/", id);
    SOTTO_TRY(sotto_http_call_wait(
        client, &response, &(sotto_http_call){.method = SOTTO_HTTP_GET, .url = url}, arena, err));
    *code = response.status;
    return SOTTO_OK;
}

/* Without a token, a server says 401 for a task that it has, and 404 for others. A proxy before it may say anything else. */
static sotto_status await_task(sotto_http_client *client, learn_run *run, const char *who,
                               sotto_bytes url, sotto_err *err)
{
    const struct timespec pause = {0, PAUSE_MS * 1000000L};
    const int64_t soon = (int64_t)time(NULL) + SECONDS,
                  until = learn_is_remote(run) && learn_remote_deadline(run) > soon
                              ? learn_remote_deadline(run)
                              : soon;

    do {
        const sotto_arena_mark mark = sotto_arena_here(&run->round_arena);
        unsigned code = 404;
        sotto_status status = ask(client, &code, run, url, &run->round_arena, err);

        sotto_arena_rollback(&run->round_arena, mark);
        if (status == SOTTO_OK && code == 401)
            return SOTTO_OK;
        if (status != SOTTO_OK && (status != SOTTO_IO || !tries_again(run, until, err)))
            return status;
        (void)nanosleep(&pause, NULL);
    } while ((int64_t)time(NULL) < until && !demo_interrupted());
    return sotto_fail(err, demo_interrupted() ? SOTTO_STALE : SOTTO_IO,
                      "the %s has not taken round %" PRIu64 " from the log%s", who,
                      run->record.round,
                      learn_is_remote(run) && run->record.round == 0
                          ? ": its operator adds this one with `sotto admin task add`"
                          : "");
}

static sotto_status await_tasks(learn_run *run, sotto_err *err)
{
    const sotto_http_client_options options = {.ca_file = run->ca_file,
                                               .plain_anywhere = run->plain};
    sotto_http_client *client = NULL;
    sotto_status status = sotto_http_client_open(&client, &options, err);

    if (status == SOTTO_OK)
        status = await_task(client, run, "leader", run->task.leader_url, err);
    if (status == SOTTO_OK)
        status = await_task(client, run, "helper", run->task.helper_url, err);
    sotto_http_client_close(client);
    return status;
}

/* ---- the sum -------------------------------------------------------------------------------------------------- */

/* Of servers of others: as long as the round has time, since reports or a server may still come. */
static sotto_status ask_sum(learn_run *run, sotto_collector *collector, sotto_collection *out,
                            const sotto_collection_query *query, sotto_err *err)
{
    const int64_t until = learn_remote_deadline(run);
    sotto_status status;

    do {
        const sotto_arena_mark mark = sotto_arena_here(&run->round_arena);

        status = sotto_collector_ask(collector, out, query, &run->round_arena, err);
        if (status != SOTTO_OK)
            sotto_arena_rollback(&run->round_arena, mark);
    } while ((status == SOTTO_AGAIN || status == SOTTO_IO) && tries_again(run, until, err));
    if (demo_interrupted() && status != SOTTO_OK)
        return sotto_fail(err, SOTTO_STALE, "interrupted");
    return status;
}

static sotto_status collect(learn_run *run, sotto_collection *out, sotto_err *err)
{
    const demo *d = &run->deployment;
    const sotto_collector_options options = {
        .task = &run->task,
        .key = &d->collector,
        .collector_token = d->pairing.collector_token,
        .rejection_token = d->pairing.rejection_token,
        .ca_file = run->ca_file,
        .plain_anywhere = run->plain,
        .deadline_ms = learn_is_remote(run) ? (unsigned)SLICE_MS : (unsigned)DEADLINE_MS};
    const sotto_collection_query query = {run->task.opens, run->task.closes};
    sotto_collector *collector = NULL;
    sotto_status status = sotto_collector_open(&collector, &options, err);

    if (status == SOTTO_OK)
        status = ask_sum(run, collector, out, &query, err);
    /* Too few are valid. Once the request is withdrawn, this batch is never released. What the leader denies is over already, and
     * it has nothing to withdraw. */
    if (status == SOTTO_AGAIN || status == SOTTO_DENIED) {
        sotto_err_clear(err);
        out->reports = 0;
        status =
            status == SOTTO_AGAIN ? sotto_collector_withdraw(collector, &query, err) : SOTTO_OK;
    }
    sotto_collector_close(collector);
    return status;
}

/* Numbers of a sum are signed, and fit into 62 bits: sotto_collector_ask refuses others. */
static sotto_status step(learn_run *run, const sotto_collection *c, sotto_err *err)
{
    const bool counted = !sotto_learning_once(run->learning);
    const double unit = 1 / ((double)run->learning->scale *
                             sotto_learning_divisor(run->learning, run->record.round));
    int64_t *sum = sotto_arena_take_array(&run->round_arena, c->sum_count, sizeof *sum),
            *lifted =
                sotto_arena_take_array(&run->round_arena, run->model.parameters, sizeof *lifted);
    uint8_t digest[SOTTO_SESSION_HASH];
    char text[LEARN_HEX];

    if (!sum || !lifted || c->sum_count != sotto_learning_length(run->learning))
        return sotto_fail(err, sum && lifted ? SOTTO_BUG : SOTTO_NO_MEMORY, "the sum of a round");
    for (size_t i = 0; i < c->sum_count; i++)
        sum[i] = (int64_t)c->sums[i].low;
    sotto_hash_once(digest, SOTTO_SHA256, sotto_bytes_of(sum, c->sum_count * sizeof *sum));
    sotto_hex_encode(text, sotto_bytes_of(digest, sizeof digest));
    if (counted)
        learn_say(run, "round %" PRIu64 ": collected %" PRIu64 " reports, sum %.16s",
                  run->record.round, c->reports, text);
    else
        learn_say(run, "round %" PRIu64 ": collected, sum %.16s", run->record.round, text);
    SOTTO_TRY(sotto_update_unshape(lifted, run->learning, run->record.round, sum, err));
    sotto_session_close_round(&run->session, lifted, unit, counted ? c->reports : 0);
    return SOTTO_OK;
}

/* With the checkpoint, the round is over: what goes with it is written before. */
static sotto_status close_round(learn_run *run, const sotto_learning_receipt *receipt,
                                sotto_err *err)
{
    uint8_t model[SOTTO_MODEL_HASH];
    char path[DEMO_FILE];
    double loss, accuracy;

    SOTTO_TRY(keep_model(run, model, err));
    SOTTO_TRY(learn_evaluate(run, &loss, &accuracy, err));
    SOTTO_TRY(sotto_session_note(&run->session, loss, accuracy, err));
    if (receipt)
        SOTTO_TRY(learn_show_receipt(run, receipt, err));
    (void)snprintf(path, sizeof path, "%s/session", run->folder);
    SOTTO_TRY(sotto_session_save(&run->session, path, &run->round_arena, NULL, NULL, err));
    if (isfinite(loss))
        learn_say(run, "round %" PRIu64 ": %s; loss %.4f, accuracy %.2f%%", run->record.round,
                  receipt ? "closed" : "burnt", loss, 100 * accuracy);
    else
        learn_say(run, "round %" PRIu64 ": %s", run->record.round, receipt ? "closed" : "burnt");
    return learn_show_save(run, err);
}

/* Devices of others answer while the round is open. After its end the leader decides: a round with its goal is closed at once, others
 * wait for late reports until their grace is over. */
static sotto_status let_devices_answer(learn_run *run, sotto_err *err)
{
    const int64_t over = (int64_t)run->task.closes;

    if (learn_is_remote(run))
        SOTTO_TRY(learn_remote_await(run, (int64_t)run->task.opens, err));
    if (!learn_is_remote(run) || run->rehearse) {
        SOTTO_TRY(learn_fleet_answer(run, err));
        learn_say(run,
                  "round %" PRIu64 ": %" PRIu64 " of %" PRIu64 " devices sent a report in %.1f s",
                  run->record.round, run->sent, run->took_part, run->train_ms / 1000);
    }
    if (!learn_is_remote(run))
        return SOTTO_OK;
    if ((int64_t)time(NULL) < over)
        learn_say(run, "round %" PRIu64 ": waits %" PRId64 " s for its end", run->record.round,
                  over - (int64_t)time(NULL));
    return learn_remote_await(run, over, err);
}

static void say_burnt(const learn_run *run)
{
    const uint64_t needed = run->learning->head.min_cohort;

    if (run->record.round < sotto_learning_warm_up(run->learning))
        learn_say(run, "round %" PRIu64 ": not released: windows of some devices alone reach it",
                  run->record.round);
    else if (learn_is_remote(run))
        learn_say(run, "round %" PRIu64 ": fewer than %" PRIu64 " valid reports in time",
                  run->record.round, needed);
    else
        learn_say(run, "round %" PRIu64 ": %" PRIu64 " reports, %" PRIu64 " needed%s",
                  run->record.round, run->sent, needed,
                  run->sent >= needed ? ": too few of them are valid" : "");
}

/* Over a leader and a helper. */
static sotto_status run_task(learn_run *run, sotto_collection *out, sotto_err *err)
{
    SOTTO_TRY(learn_task_compile(run, err));
    SOTTO_TRY(publish(run, err));
    learn_say(run, "round %" PRIu64 ": published", run->record.round);
    run->asks = true;
    SOTTO_TRY(await_tasks(run, err));
    SOTTO_TRY(let_devices_answer(run, err));
    if (run->record.round >= sotto_learning_warm_up(run->learning) &&
        (learn_is_remote(run) || run->sent >= run->learning->head.min_cohort))
        SOTTO_TRY(collect(run, out, err));
    run->asks = false;
    return SOTTO_OK;
}

sotto_status learn_round_run(learn_run *run, sotto_err *err)
{
    sotto_collection collection = {0};
    sotto_learning_receipt receipt;

    run->asks = false;
    run->record = (sotto_round_record){.round = run->session.round};
    SOTTO_TRY(keep_model(run, run->record.model, err));
    if (run->one_server) {
        SOTTO_TRY(learn_record_make(run, err));
        SOTTO_TRY(learn_one_round(run, &collection, err));
    } else {
        SOTTO_TRY(run_task(run, &collection, err));
    }
    learn_trainers_tell(run);
    if (collection.reports == 0) {
        say_burnt(run);
        sotto_session_burn_round(&run->session);
        return close_round(run, NULL, err);
    }
    SOTTO_TRY(sotto_round_receipt_of(&receipt, run->learning, &run->claim, &run->record,
                                     run->session.burnt, collection.reports, err));
    learn_one_tell(run, &receipt);
    SOTTO_TRY(step(run, &collection, err));
    return close_round(run, &receipt, err);
}
