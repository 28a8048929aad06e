/* Arguments and files of the device verbs. */
#define _POSIX_C_SOURCE 200809L
#include "device.h"

#include "recipe/calendar.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ARENA = 256 << 20, MAX_FILE = 64 << 20 };

/* ---- arguments -------------------------------------------------------------------------------------------- */

static int confused(const sotto_device_job *job, const char *word, const char *what)
{
    (void)fprintf(stderr, "sotto device %s: %s '%s'? See `sotto device %s --help`\n", job->verb,
                  what, word, job->verb);
    return EXIT_USAGE;
}

static bool read_count(uint64_t *out, const char *text)
{
    char *end = NULL;

    errno = 0;
    *out = strtoull(text, &end, 10);
    return errno == 0 && *text >= '0' && *text <= '9' && *end == 0;
}

static int take_option(sotto_device_job *job, const sotto_device_option *option, const char *value)
{
    char *member = (char *)job + option->offset;

    switch (option->kind) {
    case SOTTO_OPTION_FLAG:
        *(bool *)(void *)member = true;
        return EXIT_DONE;
    case SOTTO_OPTION_TEXT:
        *(const char **)(void *)member = value;
        return EXIT_DONE;
    case SOTTO_OPTION_NUMBER:
        return read_count((uint64_t *)(void *)member, value)
                   ? EXIT_DONE
                   : confused(job, value, "which number is");
    case SOTTO_OPTION_FIELD:
        if (job->field_count == SOTTO_JOB_FIELDS || !strchr(value, '='))
            return confused(job, value, "which NAME=VALUE is");
        job->fields[job->field_count++] = value;
        return EXIT_DONE;
    }
    return EXIT_USAGE;
}

static const sotto_device_option *find_option(const sotto_device_verb *verb, const char *name)
{
    for (size_t i = 0; i < verb->own_count; i++)
        if (strcmp(verb->own[i].name, name) == 0)
            return &verb->own[i];
    for (size_t i = 0; i < sotto_device_common_count; i++)
        if (strcmp(sotto_device_common[i].name, name) == 0)
            return &sotto_device_common[i];
    return NULL;
}

int sotto_device_job_parse(sotto_device_job *job, const sotto_device_verb *verb, int argc,
                           char **argv)
{
    *job = (sotto_device_job){.verb = verb->name, .most = 20};
    sotto_arena_init(&job->arena, ARENA);
    for (int i = 1; i < argc; i++) {
        bool word = argv[i][0] != '-' || argv[i][1] == 0;
        const sotto_device_option *option = word ? NULL : find_option(verb, argv[i]);
        bool value = option && option->kind != SOTTO_OPTION_FLAG;

        if (word && job->word_count < verb->most) {
            job->words[job->word_count++] = argv[i];
        } else if (option && (!value || i + 1 < argc)) {
            int code = take_option(job, option, value ? argv[i + 1] : NULL);
            if (code != EXIT_DONE)
                return code;
            i += value;
        } else {
            return confused(job, argv[i], option ? "what follows" : "what is");
        }
    }
    if (job->word_count < verb->least) {
        (void)fprintf(stderr, "sotto device %s: of what? See `sotto device %s --help`\n", job->verb,
                      job->verb);
        return EXIT_USAGE;
    }
    if (job->now && !sotto_calendar_parse_time(&job->at, job->now))
        return confused(job, job->now, "which time is");
    return EXIT_DONE;
}

/* ---- files ------------------------------------------------------------------------------------------------ */

int sotto_device_complain(const sotto_device_job *job)
{
    sotto_status status = job->err.status;

    if (job->json) {
        sotto_json j = sotto_device_object();

        sotto_json_bool(&j, "ok", false);
        sotto_json_text(&j, "status", sotto_status_name(status));
        sotto_json_text(&j, "reason", job->err.reason);
        sotto_device_print_object(&j);
    }
    (void)fprintf(stderr, "sotto device %s: %s: %s\n", job->verb, sotto_status_name(status),
                  job->err.reason);
    return sotto_exit_code(status, SOTTO_AT_FILE);
}

static sotto_status read_all(sotto_device_job *job, sotto_bytes *out, FILE *file, const char *path)
{
    size_t size = (size_t)1 << 16, len = 0;
    uint8_t *data = sotto_arena_take(&job->arena, size);

    while (data) {
        len += fread(data + len, 1, size - len, file);
        if (ferror(file))
            return sotto_fail(&job->err, SOTTO_IO, "can't read %.120s", path);
        if (len < size) {
            *out = sotto_bytes_of(data, len);
            return SOTTO_OK;
        }
        uint8_t *more = size < MAX_FILE ? sotto_arena_take(&job->arena, 2 * size) : NULL;
        if (more)
            memcpy(more, data, len);
        data = more;
        size *= 2;
    }
    return sotto_fail(&job->err, SOTTO_TOO_LARGE, "%.100s: more than %d bytes", path, MAX_FILE);
}

sotto_status sotto_device_read_file(sotto_device_job *job, sotto_bytes *out, const char *path)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");

    if (!file)
        return sotto_fail(&job->err, SOTTO_IO, "can't read %.100s: %s", path, strerror(errno));
    sotto_status status = read_all(job, out, file, path);
    if (file != stdin)
        (void)fclose(file);
    return status;
}

const char *sotto_device_keep(sotto_device_job *job, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = sotto_arena_take(&job->arena, size);

    if (copy)
        memcpy(copy, text, size);
    return copy;
}

static sotto_status place(sotto_device_job *job, const char **path, const char *name)
{
    const char *dir = job->dir ? job->dir : ".";
    size_t size = strlen(dir) + strlen(name) + 2;

    if (*path)
        return SOTTO_OK;
    char *made = sotto_arena_take(&job->arena, size);
    if (!made)
        return sotto_fail(&job->err, SOTTO_NO_MEMORY, "paths");
    (void)snprintf(made, size, "%s/%s", dir, name);
    *path = made;
    return SOTTO_OK;
}

/* Where a file that a device can't do without is not there, who prints one. */
static sotto_status read_needed(sotto_device_job *job, sotto_bytes *out, const char *path,
                                const char *maker)
{
    if (strcmp(path, "-") != 0 && access(path, F_OK) != 0 && errno == ENOENT)
        return sotto_fail(&job->err, SOTTO_IO,
                          "can't read %.100s: it is not there; `%s` prints one", path, maker);
    return sotto_device_read_file(job, out, path);
}

/* The streams of a file such as `sotto device new` prints (docs/recipe.md). */
static sotto_status read_streams(sotto_device_job *job, sotto_bytes json)
{
    static sotto_mistakes mistakes;
    const sotto_streams *streams;

    mistakes = (sotto_mistakes){0};
    SOTTO_TRY(sotto_streams_read(&streams, json, &job->arena, &mistakes, &job->err));
    job->options.streams = streams->items;
    job->options.stream_count = streams->count;
    return SOTTO_OK;
}

static sotto_status read_files(sotto_device_job *job, bool creates)
{
    sotto_device_options *o = &job->options;
    sotto_bytes streams;

    SOTTO_TRY(place(job, &job->events, "events.db"));
    SOTTO_TRY(place(job, &job->ledger, "ledger.db"));
    SOTTO_TRY(place(job, &job->policy, "policy.json"));
    SOTTO_TRY(place(job, &job->parties, "parties.json"));
    SOTTO_TRY(place(job, &job->streams, "streams.json"));
    SOTTO_TRY(place(job, &job->enrolment, "enrolment.key"));
    SOTTO_TRY(sotto_device_read_enrolment(job));
    SOTTO_TRY(read_needed(job, &o->policy, job->policy, "sotto recipe new --policy"));
    SOTTO_TRY(read_needed(job, &o->parties, job->parties, "sotto recipe new --parties"));
    SOTTO_TRY(read_needed(job, &streams, job->streams, "sotto device new"));
    SOTTO_TRY(read_streams(job, streams));
    /* Looking at a device that is not there must not make one. */
    if (!creates && access(job->events, F_OK) != 0 && access(job->ledger, F_OK) != 0)
        return sotto_fail(&job->err, SOTTO_MISSING, "there is no device yet in %.60s and %.60s",
                          job->events, job->ledger);
    o->events = job->events;
    o->ledger = job->ledger;
    return SOTTO_OK;
}

/* ---- fields of the device --------------------------------------------------------------------------------- */

static sotto_status describe_by_option(sotto_device_job *job, const char *text)
{
    const char *equals = strchr(text, '=');
    char name[SOTTO_STORE_MAX_NAME + 1];

    if ((size_t)(equals - text) >= sizeof name)
        return sotto_fail(&job->err, SOTTO_TOO_LARGE, "--field: the name is too long");
    (void)snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    return sotto_device_describe(job->device, name, equals + 1, &job->err);
}

static sotto_status describe(sotto_device_job *job)
{
    const bool asked = job->about != NULL;
    sotto_bytes text = {0};
    const char *name;
    json_t *value;

    SOTTO_TRY(place(job, &job->about, "about.json"));
    if (asked || access(job->about, F_OK) == 0) {
        SOTTO_TRY(sotto_device_read_file(job, &text, job->about));
        job->about_read =
            json_loadb((const char *)text.data, text.len, JSON_REJECT_DUPLICATES, NULL);
        if (!json_is_object(job->about_read))
            return sotto_fail(&job->err, SOTTO_MALFORMED, "%.100s: not a JSON object", job->about);
    }
    json_object_foreach(job->about_read, name, value)
    {
        if (!json_is_string(value))
            return sotto_fail(&job->err, SOTTO_MALFORMED, "%.80s: %.60s: no text", job->about,
                              name);
        SOTTO_TRY(sotto_device_describe(job->device, name, json_string_value(value), &job->err));
    }
    for (size_t i = 0; i < job->field_count; i++)
        SOTTO_TRY(describe_by_option(job, job->fields[i]));
    return SOTTO_OK;
}

/* ---- opening ---------------------------------------------------------------------------------------------- */

static int64_t told_time(void *context)
{
    return ((const sotto_device_job *)context)->at;
}

int sotto_device_job_open(sotto_device_job *job, bool creates)
{
    job->options.host.context = job;
    if (job->now)
        job->options.host.clock = told_time;
    if (job->out)
        job->options.host.exchange = sotto_device_write_upload;
    if (read_files(job, creates) != SOTTO_OK ||
        sotto_device_open(&job->device, &job->options, &job->err) != SOTTO_OK ||
        describe(job) != SOTTO_OK)
        return sotto_device_complain(job);
    const char *aside = sotto_device_set_aside(job->device);
    const char *closed = sotto_device_closed(job->device);
    if (aside)
        (void)fprintf(stderr, "sotto device: the event file was damaged, and is now %s\n", aside);
    if (closed)
        (void)fprintf(stderr,
                      "sotto device: the ledger is closed, and nothing leaves: %s\n"
                      "`sotto device reset --yes` starts another with every budget spent.\n",
                      closed);
    return EXIT_DONE;
}

void sotto_device_job_end(sotto_device_job *job)
{
    sotto_device_close(job->device);
    json_decref(job->about_read);
    sotto_arena_clear(&job->arena);
    job->device = NULL;
    job->about_read = NULL;
}
