#define _POSIX_C_SOURCE 200809L
#include "log_publish.h"

#include "base/arena.h"
#include "base/secret_file.h"
#include "crypto/hash.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 1200, PAUSE_MS = 50, TOKEN = 256 };

static sotto_status make_entry(sotto_log_job *job, const sotto_log_object *object,
                               sotto_bytes *entry)
{
    sotto_tlog_entry e = object->entry;
    sotto_buf alone;

    e.type = object->type;
    if (job->url)
        e.url = sotto_bytes_of(job->url, strlen(job->url));
    if (sotto_entry_has_object(e.type))
        sotto_hash_once(e.digest, SOTTO_SHA256, object->bytes);
    SOTTO_TRY(sotto_buf_take(&alone, &job->arena, SOTTO_ENTRY_MAX, &job->err));
    SOTTO_TRY(sotto_tlog_entry_encode(&alone, &e, &job->err));
    *entry = sotto_buf_bytes(&alone);
    return SOTTO_OK;
}

/* ---- what is there already ------------------------------------------------------------------------------------------------ */

/* A run that ended before its entry was cosigned is repeated: the log gets no second entry by it. */
typedef struct searching {
    const sotto_bytes *entries;
    size_t count;
    uint64_t at[SOTTO_LOG_PUBLISH_MOST]; /* where each is; UINT64_MAX: not in the log */
} searching;

static void compare(void *context, uint64_t index, sotto_bytes entry)
{
    searching *s = context;

    for (size_t i = 0; i < s->count; i++)
        if (s->at[i] == UINT64_MAX && sotto_bytes_equal_vartime(s->entries[i], entry))
            s->at[i] = index;
}

/* In the last tree that the log signed, whether or not witnesses have cosigned it. */
static sotto_status find_entries(sotto_log_job *job, searching *s)
{
    const sotto_log_trust log_alone = {.log = &job->log_key};
    const sotto_checkpoint nothing = {0};
    uint8_t *room = sotto_arena_take(&job->arena, SOTTO_LOG_BUNDLE_MAX);
    sotto_checkpoint now;
    sotto_buf note;
    sotto_status status;

    for (size_t i = 0; i < s->count; i++)
        s->at[i] = UINT64_MAX;
    if (!room)
        return sotto_fail(&job->err, SOTTO_NO_MEMORY, "no memory for entries");
    SOTTO_TRY(sotto_buf_take(&note, &job->arena, SOTTO_NOTE_MAX, &job->err));
    status = sotto_log_latest(&job->source, &note, &now, &log_alone, &job->err);
    if (status == SOTTO_MISSING) { /* it has signed nothing yet */
        sotto_err_clear(&job->err);
        return SOTTO_OK;
    }
    SOTTO_TRY(status);
    return sotto_log_follow(&job->source, &nothing, &now, room, compare, s, &job->err);
}

/* ---- appending ------------------------------------------------------------------------------------------------------------ */

/* Each entry that the log lacks, with its length in front, as the log takes them. */
static sotto_status make_list(sotto_log_job *job, const searching *found, sotto_buf *list)
{
    const sotto_bytes *entries = found->entries;
    const size_t count = found->count;
    sotto_writer w;

    SOTTO_TRY(sotto_buf_take(list, &job->arena, count * (SOTTO_ENTRY_MAX + 2), &job->err));
    w = sotto_writer_on(list);
    for (size_t i = 0; i < count; i++)
        if (found->at[i] == UINT64_MAX)
            sotto_write_opaque16(&w, entries[i]);
    return sotto_writer_finish(&w, "entry", &job->err);
}

/* An entry is never taken back: what could not keep its bundle appends none. */
static sotto_status check_out(sotto_log_job *job)
{
    const char *slash = job->out ? strrchr(job->out, '/') : NULL;
    char directory[1024];

    (void)snprintf(directory, sizeof directory, "%.*s", slash ? (int)(slash - job->out) + 1 : 1,
                   slash ? job->out : ".");
    if (!job->out || access(job->out, W_OK) == 0 ||
        (errno == ENOENT && access(directory, W_OK | X_OK) == 0))
        return SOTTO_OK;
    return sotto_fail(&job->err, SOTTO_BUG, "--out: %.60s: %s. Nothing was published", job->out,
                      strerror(errno));
}

/* Nothing is posted where the list is empty; the file is read all the same. */
static sotto_status post_list(sotto_log_job *job, sotto_bytes list, sotto_http_response *response)
{
    char token[TOKEN + 1] = "";
    sotto_buf buf = sotto_buf_over(token, TOKEN);
    sotto_status status = SOTTO_OK;

    if (sotto_secret_file_read(&buf, job->token, SOTTO_SECRET_GIVEN, &job->err) != SOTTO_OK)
        return sotto_log_job_of(job, job->token);
    token[strcspn(token, "\n")] = 0;
    if (list.len > 0)
        status = sotto_log_job_post(job, "add", token, list, response);
    sotto_wipe(token, sizeof token);
    return status;
}

static sotto_status append(sotto_log_job *job, sotto_bytes list, uint64_t *index)
{
    sotto_http_response response = {0};
    char text[24];

    SOTTO_TRY(post_list(job, list, &response));
    if (list.len == 0)
        return SOTTO_OK;
    if (response.status != 200 || response.body.len >= sizeof text)
        return sotto_fail(&job->err, response.status == 401 ? SOTTO_DENIED : SOTTO_IO,
                          "the log answered with status %u%s", response.status,
                          response.status == 401 ? ": it does not know this --token"
                          : response.status == 503
                              ? ": no witness has cosigned yet, or it is busy; "
                                "try again in a moment"
                              : "");
    memcpy(text, response.body.data, response.body.len);
    text[response.body.len] = 0;
    *index = strtoull(text, NULL, 10);
    return SOTTO_OK;
}

/* Until a checkpoint has so many entries and as many witnesses as are wanted. */
static sotto_status await_cosigned(sotto_log_job *job, uint64_t size, sotto_buf *note,
                                   sotto_checkpoint *now)
{
    const struct timespec pause = {0, PAUSE_MS * 1000000L};

    SOTTO_TRY(sotto_buf_take(note, &job->arena, SOTTO_NOTE_MAX, &job->err));
    for (int i = 0;; i++) {
        sotto_status status;

        note->len = 0;
        sotto_err_clear(&job->err);
        status = sotto_log_job_latest(job, note, now);
        if (status == SOTTO_OK && now->size >= size)
            return SOTTO_OK;
        if (status != SOTTO_OK && status != SOTTO_AGAIN)
            return status;
        if (i < TRIES) {
            (void)nanosleep(&pause, NULL);
            continue;
        }
        sotto_err_clear(&job->err);
        return sotto_fail(
            &job->err, SOTTO_AGAIN,
            "it is in the log, but fewer than %zu of these witnesses cosigned it within "
            "a minute. Publish it again once they do",
            job->trust.quorum);
    }
}

static sotto_status make_bundle(sotto_log_job *job, sotto_log_object *object, sotto_bytes entry,
                                sotto_inclusion *inclusion, uint64_t size)
{
    sotto_bundle_facts facts;
    sotto_bundle bundle;
    sotto_buf proof, out;

    SOTTO_TRY(sotto_log_prove(&job->source, inclusion, size, &job->err));
    SOTTO_TRY(sotto_buf_take(&proof, &job->arena, SOTTO_NOTE_MAX + 8192, &job->err));
    SOTTO_TRY(sotto_buf_take(&out, &job->arena, SOTTO_BUNDLE_MAX, &job->err));
    SOTTO_TRY(sotto_inclusion_encode(&proof, inclusion, &job->err));
    bundle = (sotto_bundle){entry, object->bytes, sotto_buf_bytes(&proof)};
    SOTTO_TRY(sotto_bundle_encode(&out, &bundle, &job->err));
    object->bundle = sotto_buf_bytes(&out);
    /* As a device will do: a bundle that no device takes is not written. */
    return sotto_bundle_verify(&facts, object->bundle, &job->trust, &job->err);
}

sotto_status sotto_log_publish(sotto_log_job *job, sotto_log_object *objects, size_t count)
{
    sotto_bytes entries[SOTTO_LOG_PUBLISH_MOST];
    searching found = {.entries = entries, .count = count};
    uint64_t first = 0, size = 0;
    sotto_checkpoint now;
    sotto_buf list, note;

    SOTTO_TRY(check_out(job));
    if (count > SOTTO_LOG_PUBLISH_MOST)
        return sotto_fail(&job->err, SOTTO_BUG, "too many objects at once");
    for (size_t i = 0; i < count; i++) {
        if (objects[i].bytes.len > SOTTO_BUNDLE_OBJECT_MAX)
            return sotto_fail(&job->err, SOTTO_TOO_LARGE, "it is too large to be published");
        SOTTO_TRY(make_entry(job, &objects[i], &entries[i]));
    }
    SOTTO_TRY(find_entries(job, &found));
    SOTTO_TRY(make_list(job, &found, &list));
    SOTTO_TRY(append(job, sotto_buf_bytes(&list), &first));
    for (size_t i = 0; i < count; i++) {
        if (found.at[i] == UINT64_MAX)
            found.at[i] = first++;
        size = found.at[i] + 1 > size ? found.at[i] + 1 : size;
    }
    SOTTO_TRY(await_cosigned(job, size, &note, &now));
    for (size_t i = 0; i < count; i++) {
        sotto_inclusion inclusion = {.index = found.at[i], .checkpoint = sotto_buf_bytes(&note)};

        SOTTO_TRY(make_bundle(job, &objects[i], entries[i], &inclusion, now.size));
    }
    return SOTTO_OK;
}
