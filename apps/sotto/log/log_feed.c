/* sotto log feed - the one file that devices fetch of a log: its signed tree, how it grew, and what is published now. */
#include "log_feed.h"
#include "log_source.h"
#include "show.h"
#include "verbs.h"

#include "base/arena.h"
#include "base/file.h"
#include "tlog/bundle.h"
#include "tlog/feed.h"
#include "tlog/growth.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SIZES = 1500, MOST_BUNDLES = 256 };

/* One run. */
typedef struct feeding {
    sotto_log_job job;
    const char *paths[MOST_BUNDLES];
    size_t path_count;
    sotto_buf note;
    sotto_checkpoint now, before; /* before: of the last feed; size 0: there was none */
    uint64_t sizes[MOST_SIZES + MOST_BUNDLES + 2];
    size_t size_count;
    sotto_buf bundles;
} feeding;

/* ---- sizes ------------------------------------------------------------------------------------------------------------------ */

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* Devices that saw the last feed, or one before, find the tree that they saw among the ends of its steps. */
static sotto_status read_before(feeding *f)
{
    const sotto_log_trust alone = {.log = &f->job.log_key};
    sotto_buf file = {0};
    uint64_t size = 0;
    sotto_feed feed;
    sotto_status status = sotto_log_job_read(&f->job, f->job.out, SOTTO_FEED_MAX, &file);

    if (status == SOTTO_MISSING) {
        sotto_err_clear(&f->job.err);
        return SOTTO_OK;
    }
    SOTTO_TRY(status);
    if (sotto_feed_decode(&feed, sotto_buf_bytes(&file), &f->job.err) != SOTTO_OK ||
        sotto_checkpoint_open(&f->before, feed.note, &alone, &f->job.err) != SOTTO_OK)
        return sotto_log_job_of(&f->job, f->job.out);
    const size_t count = feed.steps.len / SOTTO_GROWTH_STEP;
    for (size_t i = 0; i < count; i++) {
        size += (uint64_t)1 << (feed.steps.data[i * SOTTO_GROWTH_STEP] & 63);
        if (i + MOST_SIZES >= count) /* the oldest go */
            f->sizes[f->size_count++] = size;
    }
    return SOTTO_OK;
}

static sotto_status write_steps(feeding *f, sotto_buf *steps)
{
    size_t kept = 0;
    bool fork;

    f->sizes[f->size_count++] = f->now.size;
    qsort(f->sizes, f->size_count, sizeof f->sizes[0], compare);
    for (size_t i = 0; i < f->size_count; i++)
        if (f->sizes[i] > 0 && f->sizes[i] <= f->now.size)
            f->sizes[kept++] = f->sizes[i];
    SOTTO_TRY(sotto_buf_take(steps, &f->job.arena, SOTTO_FEED_MAX, &f->job.err));
    SOTTO_TRY(sotto_log_growth(&f->job.source, steps, f->sizes, kept, &f->job.err));
    /* As devices will do: nobody is sent a feed that shows a fork, or none of what they saw. */
    return sotto_growth_check(&f->now, &f->before, sotto_buf_bytes(steps), &fork, &f->job.err);
}

/* ---- bundles ---------------------------------------------------------------------------------------------------------------- */

/* The same entry and object, proved in the tree of now. */
static sotto_status renew(feeding *f, const char *path)
{
    sotto_log_job *job = &f->job;
    sotto_buf file = {0}, proof, out;
    sotto_writer w = sotto_writer_on(&f->bundles);
    sotto_bundle_facts facts;
    sotto_inclusion inclusion;
    sotto_bundle bundle;

    SOTTO_TRY(sotto_log_job_read(job, path, SOTTO_BUNDLE_MAX, &file));
    if (sotto_bundle_verify(&facts, sotto_buf_bytes(&file), &job->trust, &job->err) != SOTTO_OK ||
        sotto_bundle_decode(&bundle, sotto_buf_bytes(&file), &job->err) != SOTTO_OK)
        return sotto_log_job_of(job, path);
    f->sizes[f->size_count++] = facts.checkpoint.size;
    inclusion = (sotto_inclusion){.index = facts.index, .checkpoint = sotto_buf_bytes(&f->note)};
    SOTTO_TRY(sotto_log_prove(&job->source, &inclusion, f->now.size, &job->err));
    SOTTO_TRY(sotto_buf_take(&proof, &job->arena, SOTTO_NOTE_MAX + 8192, &job->err));
    SOTTO_TRY(sotto_buf_take(&out, &job->arena, SOTTO_BUNDLE_MAX, &job->err));
    SOTTO_TRY(sotto_inclusion_encode(&proof, &inclusion, &job->err));
    bundle.proof = sotto_buf_bytes(&proof);
    SOTTO_TRY(sotto_bundle_encode(&out, &bundle, &job->err));
    SOTTO_TRY(sotto_bundle_verify(&facts, sotto_buf_bytes(&out), &job->trust, &job->err));
    sotto_write_opaque32(&w, sotto_buf_bytes(&out));
    return sotto_writer_finish(&w, "feed", &job->err);
}

/* A witness that refuses a fork does not cosign it: that it forked is the news. */
static sotto_status read_now(feeding *f)
{
    sotto_log_job *job = &f->job;
    const sotto_status status = sotto_log_job_latest(job, &f->note, &f->now);
    const sotto_err missing = job->err;
    sotto_buf steps;

    if (status != SOTTO_AGAIN)
        return status;
    sotto_err_clear(&job->err);
    if (write_steps(f, &steps) == SOTTO_OK)
        job->err = missing;
    return job->err.status;
}

static sotto_status make(feeding *f, uint64_t *bytes)
{
    sotto_log_job *job = &f->job;
    sotto_buf steps, out;

    SOTTO_TRY(sotto_buf_take(&f->note, &job->arena, SOTTO_NOTE_MAX, &job->err));
    SOTTO_TRY(sotto_buf_take(&f->bundles, &job->arena, SOTTO_FEED_MAX, &job->err));
    SOTTO_TRY(sotto_buf_take(&out, &job->arena, 2 * SOTTO_FEED_MAX, &job->err));
    SOTTO_TRY(read_before(f));
    SOTTO_TRY(read_now(f));
    for (size_t i = 0; i < f->path_count; i++)
        SOTTO_TRY(renew(f, f->paths[i]));
    SOTTO_TRY(write_steps(f, &steps));
    SOTTO_TRY(sotto_feed_encode(&out,
                                &(sotto_feed){sotto_buf_bytes(&f->note), sotto_buf_bytes(&steps),
                                              sotto_buf_bytes(&f->bundles)},
                                &job->err));
    *bytes = out.len;
    /* Replaced as a whole: whoever reads it meanwhile gets the old one or the new one. */
    return sotto_file_write(job->out, sotto_buf_bytes(&out), NULL, NULL, &job->err);
}

/* ---- the verb ----------------------------------------------------------------------------------------------------------------- */

static int print_feed(const feeding *f, uint64_t bytes)
{
    if (f->job.json) {
        sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);

        sotto_json_uint(&j, "entries", f->now.size);
        sotto_json_uint(&j, "bundles", f->path_count);
        sotto_json_uint(&j, "bytes", bytes);
        return sotto_show_end(&j) ? EXIT_DONE : EXIT_FAILED;
    }
    printf("a tree of %" PRIu64 " entries, %zu bundles, %" PRIu64 " bytes\n", f->now.size,
           f->path_count, bytes);
    return EXIT_DONE;
}

static int run_feed(int argc, char **argv)
{
    static feeding f;
    const sotto_argument words[] = {
        {.name = "BUNDLE", .text = f.paths, .count = &f.path_count, .most = MOST_BUNDLES},
        {.name = "--from", .text = &f.job.from, .needed = true},
        {.name = "--out", .text = &f.job.out, .needed = true},
        {.name = "--json", .flag = &f.job.json}};
    uint64_t bytes = 0;
    int code = sotto_log_job_arguments(&f.job, "log feed", words, sizeof words / sizeof words[0],
                                       argc, argv);

    if (code == EXIT_DONE &&
        (sotto_log_job_open(&f.job) != SOTTO_OK || make(&f, &bytes) != SOTTO_OK))
        code = sotto_log_job_complain(&f.job);
    if (code == EXIT_DONE)
        code = print_feed(&f, bytes);
    sotto_log_job_end(&f.job);
    return code;
}

const sotto_verb sotto_verb_log_feed = {
    .name = "feed",
    .summary = "make the file that devices fetch of a log",
    .usage = "usage: sotto log feed [BUNDLE...] --from URL --out FILE --log KEY\n"
             "       [--witness KEY]... [--quorum N] [--json]\n\n"
             "Writes the log's cosigned tree and these bundles, each proved in that tree, to\n"
             "FILE, padded to a multiple of 16 KiB. A FILE that is there already is replaced. The\n"
             "new one shows everybody who saw it, or one before it, that the log only grew.\n"
             "`sotto serve log` serves the file `feed` of its folder. Exits with 6 if a bundle\n"
             "does not hold, or the log does not continue the tree of FILE. Exits with 5 if fewer\n"
             "than N of the witnesses have cosigned so far. --from may also be the log's\n"
             "directory.\n",
    .run = run_feed,
};
