#define _POSIX_C_SOURCE 200809L
#include "log_source.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/secret_file.h"
#include "sotto/random.h"
#include "support/arguments.h"
#include "tlog/files.h"
#include "verbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ARENA = 256 << 20, URL = 2048 };

static bool is_url(const char *from)
{
    return strncmp(from, "http://", 7) == 0 || strncmp(from, "https://", 8) == 0;
}

/* ---- options ---------------------------------------------------------------------------------------------------------- */

int sotto_log_job_arguments(sotto_log_job *job, const char *verb, const sotto_argument *own,
                            size_t count, int argc, char **argv)
{
    enum { MOST = 40 };
    sotto_argument words[MOST] = {{.name = "--log", .text = &job->log},
                                  {.name = "--quorum", .text = &job->quorum},
                                  {.name = "--witness",
                                   .text = job->witnesses,
                                   .count = &job->witness_count,
                                   .most = SOTTO_LOG_WITNESSES}};
    size_t filled = 3;

    job->verb = verb;
    sotto_arena_init(&job->arena, ARENA);
    for (size_t i = 0; i < count && filled < MOST; i++)
        words[filled++] = own[i];
    return sotto_arguments_read(verb, words, filled, argc, argv);
}

sotto_status sotto_log_job_of(sotto_log_job *job, const char *path)
{
    const sotto_err why = job->err;

    sotto_err_clear(&job->err);
    return sotto_fail(&job->err, why.status, "%.60s: %s", path, why.reason);
}

/* ---- keys ---------------------------------------------------------------------------------------------------------------- */

sotto_status sotto_log_key_make(const char *path, const char *name, sotto_note_kind kind,
                                sotto_buf *public, sotto_err *err)
{
    uint8_t seed[SOTTO_SIGN_SEED], memory[SOTTO_NOTE_KEY_TEXT];
    sotto_buf text = sotto_buf_over(memory, sizeof memory);
    sotto_signer signer = {0};
    sotto_note_key key;
    sotto_status status = sotto_random_bytes(seed, sizeof seed, err);

    if (status == SOTTO_OK)
        status = sotto_signer_init(&signer, seed, err);
    if (status == SOTTO_OK)
        status = sotto_note_key_init(&key, sotto_bytes_of(name, strlen(name)), kind,
                                     signer.public_key, err);
    if (status == SOTTO_OK)
        status = sotto_note_signer_encode(&text, &key, seed, err);
    if (status == SOTTO_OK)
        status = sotto_note_key_encode(public, &key, err);
    if (status == SOTTO_OK)
        status = sotto_secret_file_write(path, sotto_buf_bytes(&text), err);
    sotto_signer_clear(&signer);
    sotto_wipe(seed, sizeof seed);
    sotto_wipe(memory, sizeof memory);
    return status;
}

/* ---- the way to the log -------------------------------------------------------------------------------------------------- */

static sotto_status fetch_url(void *context, const char *path, sotto_buf *out, sotto_err *err)
{
    sotto_log_job *job = context;
    const sotto_arena_mark mark = sotto_arena_here(&job->arena);
    sotto_http_response response;
    char url[URL];
    sotto_status status;
    sotto_writer w = sotto_writer_on(out);

    (void)snprintf(url, sizeof url, "%s%s%s", job->from,
                   job->from[strlen(job->from) - 1] == '/' ? "" : "/", path);
    status = sotto_http_call_wait(job->client, &response,
                                  &(sotto_http_call){.method = SOTTO_HTTP_GET, .url = url},
                                  &job->arena, err);
    if (status == SOTTO_OK && response.status != 200)
        status = sotto_fail(err, response.status == 404 ? SOTTO_MISSING : SOTTO_IO,
                            "%s: status %u. Is --from the URL of a log?", path, response.status);
    if (status == SOTTO_OK) {
        sotto_write_bytes(&w, response.body);
        status = sotto_writer_finish(&w, path, err);
    }
    sotto_arena_rollback(&job->arena, mark);
    return status;
}

static sotto_status fetch_file(void *context, const char *path, sotto_buf *out, sotto_err *err)
{
    const sotto_log_job *job = context;

    const sotto_status status = sotto_log_file_read(out, job->from, path, err);

    if (status != SOTTO_MISSING)
        return status;
    sotto_err_clear(err);
    return sotto_fail(err, status, "--from: %.60s: no log's directory: it has no %s", job->from,
                      path);
}

static sotto_status read_key(sotto_log_job *job, sotto_note_key *out, const char *option,
                             const char *text)
{
    sotto_err why = {0};
    sotto_status status = sotto_note_key_decode(out, sotto_bytes_of(text, strlen(text)), &why);

    if (status == SOTTO_OK)
        return SOTTO_OK;
    if (access(text, F_OK) == 0)
        return sotto_fail(&job->err, status, "%s: that is a file: give its text, \"$(cat %.60s)\"",
                          option, text);
    return sotto_fail(&job->err, status, "%s: no public key as `sotto log key` prints it: %.100s",
                      option, why.reason);
}

static sotto_status read_keys(sotto_log_job *job)
{
    unsigned long quorum = job->witness_count;
    char *end = NULL;

    if (!job->log)
        return sotto_fail(&job->err, SOTTO_MISSING, "whose log? --log names its public key");
    SOTTO_TRY(read_key(job, &job->log_key, "--log", job->log));
    for (size_t i = 0; i < job->witness_count; i++)
        SOTTO_TRY(read_key(job, &job->witness_keys[i], "--witness", job->witnesses[i]));
    if (job->quorum)
        quorum = strtoul(job->quorum, &end, 10);
    if (job->quorum && (end == job->quorum || *end || quorum > job->witness_count))
        return sotto_fail(&job->err, SOTTO_MALFORMED,
                          "--quorum: a number from 0 to %zu, as many as --witness was given",
                          job->witness_count);
    job->trust =
        (sotto_log_trust){&job->log_key, job->witness_keys, job->witness_count, (size_t)quorum};
    return SOTTO_OK;
}

sotto_status sotto_log_job_open(sotto_log_job *job)
{
    SOTTO_TRY(read_keys(job));
    if (!job->from)
        return SOTTO_OK;
    if (!is_url(job->from) && strstr(job->from, "://"))
        return sotto_fail(&job->err, SOTTO_MALFORMED,
                          "--from: neither an http or https URL nor a log's directory");
    job->source = (sotto_log_source){is_url(job->from) ? fetch_url : fetch_file, job};
    if (is_url(job->from))
        return sotto_http_client_open(&job->client, &(sotto_http_client_options){0}, &job->err);
    return SOTTO_OK;
}

void sotto_log_job_end(sotto_log_job *job)
{
    sotto_http_client_close(job->client);
    sotto_arena_clear(&job->arena);
}

/* A witness that is away is no proof that is wrong. */
sotto_status sotto_log_job_latest(sotto_log_job *job, sotto_buf *note, sotto_checkpoint *out)
{
    const sotto_status status = sotto_log_latest(&job->source, note, out, &job->trust, &job->err);

    if (status != SOTTO_DENIED)
        return status;
    job->err.status = SOTTO_AGAIN;
    return SOTTO_AGAIN;
}

sotto_status sotto_log_job_post(sotto_log_job *job, const char *path, const char *token,
                                sotto_bytes body, sotto_http_response *response)
{
    char url[URL], bearer[300];
    const sotto_http_field field = {"Authorization", bearer};
    sotto_status status;

    if (!job->client)
        return sotto_fail(&job->err, SOTTO_MISSING,
                          "--from: to publish takes the log's URL (http or https)");
    (void)snprintf(url, sizeof url, "%s%s%s", job->from,
                   job->from[strlen(job->from) - 1] == '/' ? "" : "/", path);
    (void)snprintf(bearer, sizeof bearer, "Bearer %s", token);
    status = sotto_http_call_wait(job->client, response,
                                  &(sotto_http_call){.method = SOTTO_HTTP_POST,
                                                     .url = url,
                                                     .fields = &field,
                                                     .field_count = 1,
                                                     .body = body},
                                  &job->arena, &job->err);
    sotto_wipe(bearer, sizeof bearer);
    return status;
}

/* ---- files and failures ---------------------------------------------------------------------------------------------------- */

int sotto_log_job_complain(const sotto_log_job *job)
{
    (void)fprintf(stderr, "sotto %s: %s\n", job->verb, job->err.reason);
    if (!job->log && job->err.status == SOTTO_MISSING)
        return EXIT_USAGE;
    return job->err.status == SOTTO_IO && !job->client
               ? EXIT_FAILED /* its tiles lie in a folder */
               : sotto_exit_code(job->err.status, SOTTO_AT_LOG);
}

sotto_status sotto_log_job_write(sotto_log_job *job, const char *path, sotto_bytes bytes)
{
    FILE *file = fopen(path, "wb");
    bool good = file && fwrite(bytes.data, 1, bytes.len, file) == bytes.len;

    if (file)
        good = fclose(file) == 0 && good;
    return good ? SOTTO_OK : sotto_fail(&job->err, SOTTO_BUG, "%.100s: %s", path, strerror(errno));
}

sotto_status sotto_log_job_replace(sotto_log_job *job, const char *path, sotto_bytes bytes)
{
    sotto_err why = {0};

    if (sotto_file_write(path, bytes, NULL, NULL, &why) != SOTTO_OK)
        return sotto_fail(&job->err, SOTTO_BUG, "%s", why.reason);
    return SOTTO_OK;
}

sotto_status sotto_log_job_read(sotto_log_job *job, const char *path, size_t most, sotto_buf *out)
{
    sotto_err why = {0};
    sotto_status status;

    SOTTO_TRY(sotto_buf_take(out, &job->arena, most, &job->err));
    status = sotto_file_append(out, path, &why);
    return status == SOTTO_OK ? SOTTO_OK
                              : sotto_fail(&job->err, status, "%.100s: %s", path, why.reason);
}
