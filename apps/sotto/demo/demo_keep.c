/* `sotto demo --keep`: a leader and a helper that stay, and the files that an application or an analyst needs beside them. */
#define _POSIX_C_SOURCE 200809L
#include "demo.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static sotto_status write_streams(const demo *d, sotto_err *err)
{
    static const char *const types[] = {"integer", "integer", "real", "text", "boolean"};
    const sotto_stream *s = &d->table.stream;
    char text[DEMO_TEXT];
    size_t at = (size_t)snprintf(text, sizeof text, "{\"%s\": {\"fields\": {", s->name);

    for (size_t i = 0; i < s->field_count && at < sizeof text; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s\"%s\": \"%s\"", i ? ", " : "",
                               s->fields[i].name, types[s->fields[i].type]);
    if (at < sizeof text)
        (void)snprintf(text + at, sizeof text - at,
                       "}, \"max_age\": \"30d\", \"max_rows\": 1000}}\n");
    return demo_write_file(d, "streams.json", text, err);
}

static sotto_status write_secrets(const demo *d, sotto_err *err)
{
    uint8_t key[SOTTO_COLLECTOR_KEY_MAX + 1], pairing[4096];
    sotto_buf a = sotto_buf_over(key, sizeof key - 1),
              b = sotto_buf_over(pairing, sizeof pairing - 1);
    sotto_status status = sotto_collector_key_encode(&a, &d->collector, err);

    if (status == SOTTO_OK)
        status = sotto_pairing_encode_for_collector(&b, &d->pairing, err);
    key[a.len] = pairing[b.len] = 0;
    if (status == SOTTO_OK)
        status = demo_write_file(d, "collector-key.json", (const char *)key, err);
    if (status == SOTTO_OK)
        status = demo_write_file(d, "pairing.json", (const char *)pairing, err);
    sotto_wipe(key, sizeof key);
    sotto_wipe(pairing, sizeof pairing);
    return status;
}

static void print_files(const demo *d)
{
    static const struct {
        const char *name, *what;
    } files[] = {{"recipe.json", "what is asked: offer it to devices as it is"},
                 {"policy.json", "what devices allow; ships with an application"},
                 {"parties.json", "who adds up, and their keys; ships with an application"},
                 {"streams.json", "the events that the recipe reads"},
                 {"pairing.json", "the collector's tokens"},
                 {"collector-key.json", "opens the sums"}};

    printf("\nA leader (http://127.0.0.1:%u/) and a helper (http://127.0.0.1:%u/) run, paired and "
           "with the task.\n\n",
           d->leader.port, d->helper.port);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        printf("  %s/%-18s %s\n", d->folder, files[i].name, files[i].what);
    if (d->recipe_file)
        printf("\nThe devices of %s have reported, and others may. A batch of %llu reports can be "
               "collected:\n\n",
               d->csv_file, (unsigned long long)d->task.min_batch_size);
    else
        printf("\nOnce %llu devices have sent a report:\n\n",
               (unsigned long long)d->task.min_batch_size);
    printf("  cd %s && sotto collect --recipe recipe.json --parties parties.json \\\n"
           "      --pairing pairing.json --key collector-key.json --policy policy.json "
           "--close-early\n\n"
           "Ctrl-C ends both servers and removes the directory.\n",
           d->folder);
    (void)fflush(stdout);
}

sotto_status demo_keep(demo *d, sotto_err *err)
{
    const struct timespec moment = {0, 200000000};

    SOTTO_TRY(demo_write_file(d, "recipe.json", d->recipe_text, err));
    SOTTO_TRY(demo_write_file(d, "policy.json", d->policy_text, err));
    SOTTO_TRY(demo_write_file(d, "parties.json", d->parties_text, err));
    SOTTO_TRY(write_streams(d, err));
    SOTTO_TRY(write_secrets(d, err));
    print_files(d);
    while (!demo_interrupted())
        (void)nanosleep(&moment, NULL);
    return SOTTO_OK;
}
