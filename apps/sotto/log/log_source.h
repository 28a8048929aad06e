/* apps/sotto/log/log_source.h - a log by its URL or its directory, and whom to believe about it: what the log's verbs share. */
#ifndef SOTTO_APPS_LOG_SOURCE_H
#define SOTTO_APPS_LOG_SOURCE_H

#include "support/arguments.h"
#include "tlog/follow.h"
#include "tlog/key_file.h"
#include "transport/http_client.h"

enum { SOTTO_LOG_WITNESSES = 16 };

/* One run of a verb that speaks of a log. */
typedef struct sotto_log_job {
    const char *verb;
    const char *from; /* URL or directory */
    const char *log;  /* public key       */
    const char *witnesses[SOTTO_LOG_WITNESSES];
    size_t witness_count;
    const char *quorum; /* NULL: all of the witnesses */
    const char *index, *state, *out, *token, *url, *path;
    bool json;
    sotto_arena arena;
    sotto_http_client *client;
    sotto_note_key log_key, witness_keys[SOTTO_LOG_WITNESSES];
    sotto_log_trust trust;
    sotto_log_source source;
    sotto_err err;
} sotto_log_job;

/* Reads --log, --quorum, --witness and the rows of the verb's own into an empty job. EXIT_DONE, or EXIT_USAGE after having said why. */
int sotto_log_job_arguments(sotto_log_job *job, const char *verb, const sotto_argument *own,
                            size_t count, int argc, char **argv);
/* Puts the name of a file before what is wrong with it. Returns the status. */
SOTTO_MUST_USE sotto_status sotto_log_job_of(sotto_log_job *job, const char *path);
/* Reads the keys, and opens the way to the log where `from` is given. */
SOTTO_MUST_USE sotto_status sotto_log_job_open(sotto_log_job *job);
void sotto_log_job_end(sotto_log_job *job);
/* Fetches the checkpoint and opens it as sotto_checkpoint_open does. SOTTO_AGAIN: the log signed it, and fewer witnesses than the quorum
 * cosigned it so far; *out has it. */
SOTTO_MUST_USE sotto_status sotto_log_job_latest(sotto_log_job *job, sotto_buf *note,
                                                 sotto_checkpoint *out);
/* POSTs to a path of the log. */
SOTTO_MUST_USE sotto_status sotto_log_job_post(sotto_log_job *job, const char *path,
                                               const char *token, sotto_bytes body,
                                               sotto_http_response *response);
/* Makes a key of a log or a witness: the secret half into a new file, the public half behind `public`. */
SOTTO_MUST_USE sotto_status sotto_log_key_make(const char *path, const char *name,
                                               sotto_note_kind kind, sotto_buf *public,
                                               sotto_err *err);
/* Says what failed; returns the exit code. */
int sotto_log_job_complain(const sotto_log_job *job);
/* Replaces a file, or makes one. */
SOTTO_MUST_USE sotto_status sotto_log_job_write(sotto_log_job *job, const char *path,
                                                sotto_bytes bytes);
/* The same, so that a run that ends in the middle leaves the file as it was. */
SOTTO_MUST_USE sotto_status sotto_log_job_replace(sotto_log_job *job, const char *path,
                                                  sotto_bytes bytes);
/* The whole of a file, in the arena. */
SOTTO_MUST_USE sotto_status sotto_log_job_read(sotto_log_job *job, const char *path, size_t most,
                                               sotto_buf *out);

#endif
