/* sotto device log - what the device saw of its policy's public logs, and the evidence of a fork. */
#include "device.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* One run: what was asked for, and what came of it. */
typedef struct looking {
    sotto_device_job *job;
    bool found, forked, failed;
} looking;

static bool write_part(const sotto_device_job *job, const char *ending, sotto_bytes bytes)
{
    char path[4096];
    FILE *file;

    if (bytes.len == 0)
        return true;
    (void)snprintf(path, sizeof path, "%s%s", job->evidence, ending);
    file = fopen(path, "wb");
    bool good = file && fwrite(bytes.data, 1, bytes.len, file) == bytes.len;
    if (file)
        good = fclose(file) == 0 && good;
    if (!good)
        (void)fprintf(stderr, "sotto device log: can't write %s\n", path);
    return good;
}

static void print_json(const sotto_known_log *log)
{
    sotto_json j = sotto_device_object();

    sotto_json_text(&j, "log", log->name);
    sotto_json_bytes(&j, "origin", log->origin);
    sotto_json_uint(&j, "entries", log->entries);
    sotto_json_time(&j, "seen", log->seen);
    sotto_json_time(&j, "fetch", log->fetch);
    sotto_json_bytes(&j, "checkpoint", log->checkpoint);
    sotto_json_bool(&j, "forked", log->forked);
    if (log->fork_before.len > 0) {
        sotto_json_bytes(&j, "fork_before", log->fork_before);
        sotto_json_bytes(&j, "fork_after", log->fork_after);
        sotto_json_hex(&j, "fork_steps", log->fork_steps);
    }
    sotto_device_print_object(&j);
}

static void print_words(const sotto_known_log *log)
{
    printf("%s: ", log->name);
    sotto_device_print_text((const char *)log->origin.data, log->origin.len);
    if (log->entries == 0)
        printf(": no tree was seen yet\n");
    else
        printf(": a tree of %" PRIu64 " entries was seen\n", log->entries);
    if (log->forked)
        printf("  It FORKED: it signed two trees, and neither begins the other. Nothing is taken "
               "from\n"
               "  it now. --evidence PREFIX writes both signed trees; --resolve begins anew.\n");
    else if (log->fork_before.len > 0)
        printf("  It forked before; --evidence PREFIX writes both signed trees.\n");
}

static sotto_status show(void *context, const sotto_known_log *log, sotto_err *err)
{
    looking *l = context;
    const sotto_device_job *job = l->job;

    (void)err;
    if (job->word_count && strcmp(job->words[0], log->name) != 0)
        return SOTTO_OK;
    l->found = true;
    l->forked = l->forked || log->forked;
    if (job->json)
        print_json(log);
    else
        print_words(log);
    if (job->evidence && log->fork_before.len == 0)
        (void)fprintf(stderr,
                      "sotto device log: no fork of this log was seen: nothing is written\n");
    if (job->evidence && (!write_part(job, ".before", log->fork_before) ||
                          !write_part(job, ".after", log->fork_after) ||
                          !write_part(job, ".steps", log->fork_steps)))
        l->failed = true;
    return SOTTO_OK;
}

int sotto_device_run_log(sotto_device_job *job)
{
    looking l = {.job = job};

    if ((job->yes || job->evidence) && !job->word_count) {
        (void)fprintf(stderr, "sotto device log: which log?\n");
        return EXIT_USAGE;
    }
    if (job->yes && sotto_device_log_resolve(job->device, job->words[0], &job->err) != SOTTO_OK)
        return sotto_device_complain(job);
    if (sotto_device_logs(job->device, show, &l, &job->err) != SOTTO_OK)
        return sotto_device_complain(job);
    if (!l.found && job->word_count) {
        (void)fprintf(stderr, "sotto device log: the policy names no log \"%s\"\n", job->words[0]);
        return EXIT_FAILED;
    }
    if (!l.found && !job->json)
        printf("The policy names no log.\n");
    return l.failed ? EXIT_FAILED : l.forked ? EXIT_PROOF : EXIT_DONE;
}
