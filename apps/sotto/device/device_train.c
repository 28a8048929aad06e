/* Rounds of learning for `sotto device tick`: models from a folder, and who trains. */
#define _POSIX_C_SOURCE 200809L
#include "device.h"

#include "base/file.h"
#include "base/hex.h"
#include "sotto/learn.h"
#include "support/trainer_child.h"

#include <stdio.h>
#include <string.h>

enum { DIGEST = 32, PATH = 4096, LONGEST = 64 << 20, SECONDS = 600 };

/* Nothing is fetched from there: the folder stands for it. */
static const char models_url[] = "https://models.invalid/";

/* The file whose name is the digest that the device asks for; the device compares its bytes with that. */
sotto_status sotto_device_answer_model(sotto_device_job *job, sotto_exchange *exchange)
{
    const size_t prefix = sizeof models_url - 1;
    sotto_exchange_head head = {.size = sizeof head, .status = 404};
    const sotto_arena_mark mark = sotto_arena_here(&job->arena);
    uint8_t digest[DIGEST];
    sotto_bytes file = sotto_bytes_of(NULL, 0);
    char path[PATH];

    if (strncmp(exchange->url, models_url, prefix) != 0 ||
        !sotto_hex_decode(digest, sizeof digest,
                          sotto_bytes_of(exchange->url + prefix, strlen(exchange->url + prefix))))
        return SOTTO_IO;
    (void)snprintf(path, sizeof path, "%.3900s/%s", job->models, exchange->url + prefix);
    if (sotto_file_read(&file, path, LONGEST, &job->arena, NULL) == SOTTO_OK)
        head.status = 200;
    else
        (void)fprintf(stderr, "sotto device tick: %s: there is no such model\n", path);
    sotto_status status = exchange->begin(exchange, &head);
    if (status == SOTTO_OK && file.len > 0)
        status = exchange->take(exchange, file.data, file.len);
    sotto_arena_rollback(&job->arena, mark);
    return status;
}

/* The shell only finds the words: the program takes its place, and so is killed when it is late. */
static sotto_status open_child(sotto_device_job *job, sotto_child_trainer **child)
{
    static const char *command[] = {"sh", "-c", NULL, NULL};
    char line[PATH];

    if ((size_t)snprintf(line, sizeof line, "exec %s", job->trainer) >= sizeof line)
        return sotto_fail(&job->err, SOTTO_TOO_LARGE, "--trainer is too long");
    command[2] = sotto_device_keep(job, line);
    if (!command[2])
        return sotto_fail(&job->err, SOTTO_NO_MEMORY, "a trainer");
    return sotto_child_trainer_open(child, command, SECONDS, &job->err);
}

sotto_status sotto_device_begin_training(sotto_device_job *job, struct sotto_child_trainer **child)
{
    sotto_trainer trainer = {.size = sizeof trainer,
                             .models = models_url,
                             .seconds = SECONDS,
                             .train = sotto_train_in_c};

    *child = NULL;
    if (!job->models)
        return SOTTO_OK;
    if (job->trainer) {
        SOTTO_TRY(open_child(job, child));
        trainer.train = sotto_child_train;
        trainer.context = *child;
    }
    return sotto_device_learn(job->device, &trainer, &job->err);
}

void sotto_device_end_training(struct sotto_child_trainer *child)
{
    sotto_child_trainer_close(child);
}
