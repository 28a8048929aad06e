/* sotto recipe publish - a recipe that passes lint goes into the log; what comes back is a bundle that devices verify offline. */
#define _POSIX_C_SOURCE 200809L
#include "log_source.h"
#include "recipe.h"
#include "show.h"

#include "base/arena.h"
#include "base/secret_file.h"
#include "crypto/hash.h"
#include "tlog/bundle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_RECIPE = 1 << 20, TRIES = 240, PAUSE_MS = 250, TOKEN = 256 };

/* The entry with its length in front, as the log takes it, and without. */
static sotto_status make_entry(sotto_log_job *job, sotto_bytes recipe, sotto_buf *list,
                               sotto_bytes *entry)
{
    sotto_tlog_entry e = {.type = SOTTO_ENTRY_RECIPE};
    sotto_writer w;
    sotto_buf alone;

    if (job->url)
        e.url = sotto_bytes_of(job->url, strlen(job->url));
    sotto_hash_once(e.digest, SOTTO_SHA256, recipe);
    SOTTO_TRY(sotto_buf_take(&alone, &job->arena, SOTTO_ENTRY_MAX, &job->err));
    SOTTO_TRY(sotto_buf_take(list, &job->arena, SOTTO_ENTRY_MAX + 2, &job->err));
    SOTTO_TRY(sotto_tlog_entry_encode(&alone, &e, &job->err));
    w = sotto_writer_on(list);
    sotto_write_opaque16(&w, sotto_buf_bytes(&alone));
    *entry = sotto_buf_bytes(&alone);
    return sotto_writer_finish(&w, "entry", &job->err);
}

static sotto_status append(sotto_log_job *job, sotto_bytes list, uint64_t *index)
{
    char token[TOKEN + 1] = "", text[24];
    sotto_buf buf = sotto_buf_over(token, TOKEN);
    sotto_http_response response;
    sotto_status status;

    SOTTO_TRY(sotto_secret_file_read(&buf, job->token, SOTTO_SECRET_GIVEN, &job->err));
    token[strcspn(token, "\n")] = 0;
    status = sotto_log_job_post(job, "add", token, list, &response);
    sotto_wipe(token, sizeof token);
    if (status != SOTTO_OK)
        return status;
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

/* Until a checkpoint has the entry and as many witnesses as are wanted. */
static sotto_status await_cosigned(sotto_log_job *job, uint64_t index, sotto_buf *note,
                                   sotto_checkpoint *now)
{
    const struct timespec pause = {0, PAUSE_MS * 1000000L};

    SOTTO_TRY(sotto_buf_take(note, &job->arena, SOTTO_NOTE_MAX, &job->err));
    for (int i = 0;; i++) {
        sotto_status status;

        note->len = 0;
        sotto_err_clear(&job->err);
        status = sotto_log_latest(&job->source, note, now, &job->trust, &job->err);
        if (status == SOTTO_OK && now->size > index)
            return SOTTO_OK;
        if (status != SOTTO_OK && status != SOTTO_DENIED)
            return status;
        if (i == TRIES)
            return sotto_fail(&job->err, SOTTO_DENIED, "the log did not publish it in time");
        (void)nanosleep(&pause, NULL);
    }
}

/* The bytes that passed lint: the file may be another one by now. */
static sotto_status publish(sotto_log_job *job, sotto_bytes recipe)
{
    sotto_inclusion inclusion = {0};
    sotto_bundle_facts facts;
    sotto_bundle bundle;
    sotto_checkpoint now;
    sotto_buf list, note, proof, out;
    sotto_bytes entry;

    if (recipe.len > MOST_RECIPE)
        return sotto_fail(&job->err, SOTTO_TOO_LARGE, "the recipe is too large to be published");
    SOTTO_TRY(make_entry(job, recipe, &list, &entry));
    SOTTO_TRY(append(job, sotto_buf_bytes(&list), &inclusion.index));
    SOTTO_TRY(await_cosigned(job, inclusion.index, &note, &now));
    SOTTO_TRY(sotto_log_prove(&job->source, &inclusion, now.size, &job->err));
    inclusion.checkpoint = sotto_buf_bytes(&note);
    SOTTO_TRY(sotto_buf_take(&proof, &job->arena, SOTTO_NOTE_MAX + 8192, &job->err));
    SOTTO_TRY(sotto_buf_take(&out, &job->arena, SOTTO_BUNDLE_MAX, &job->err));
    SOTTO_TRY(sotto_inclusion_encode(&proof, &inclusion, &job->err));
    bundle = (sotto_bundle){entry, recipe, sotto_buf_bytes(&proof)};
    SOTTO_TRY(sotto_bundle_encode(&out, &bundle, &job->err));
    /* As a device will do: a bundle that no device takes is none. */
    SOTTO_TRY(sotto_bundle_verify(&facts, sotto_buf_bytes(&out), &job->trust, &job->err));
    return sotto_log_job_write(job, job->out, sotto_buf_bytes(&out));
}

static bool is_complete(const sotto_log_job *job)
{
    if (job->from && job->token && job->out && job->log)
        return true;
    (void)fprintf(stderr, "sotto recipe publish: --from, --log, --token and --out are needed\n");
    return false;
}

int sotto_recipe_publish(int argc, char **argv)
{
    static sotto_recipe_job recipe;
    static sotto_log_job job;
    int code;

    if (!sotto_log_job_parse(&job, "recipe publish", &argc, argv) || !is_complete(&job))
        return EXIT_USAGE;
    code = sotto_recipe_job_parse(&recipe, argc, argv, 1);
    if (code == EXIT_DONE)
        code =
            sotto_recipe_job_load(&recipe); /* lint: what no device would answer is not published */
    if (code == EXIT_DONE &&
        (sotto_log_job_open(&job) != SOTTO_OK || publish(&job, recipe.text) != SOTTO_OK))
        code = sotto_log_job_complain(&job);
    if (code == EXIT_DONE && recipe.json) {
        sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);

        sotto_json_text(&j, "bundle", job.out);
        (void)sotto_show_end(&j);
    } else if (code == EXIT_DONE) {
        printf("%s\n", job.out);
    }
    sotto_recipe_job_end(&recipe);
    sotto_log_job_end(&job);
    return code;
}
