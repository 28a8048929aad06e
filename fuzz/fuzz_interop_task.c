/* A task as the interop test API tells it. What is taken must be a configuration that reads the same again. */
#include "dap/task_configuration.h"
#include "interop.h"
#include "target.h"

#include <stdlib.h>

enum { MEMORY = 64 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *in = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
    sotto_arena arena;
    sotto_task task;

    sotto_arena_init(&arena, MEMORY);
    if (in && interop_task(&task, in, &arena, NULL) == SOTTO_OK) {
        sotto_task_configuration c;

        if (sotto_task_configuration_decode(&c, task.configuration, NULL) != SOTTO_OK ||
            c.vdaf.length != task.vdaf.length || c.time_precision != task.precision)
            abort();
    }
    sotto_arena_clear(&arena);
    json_decref(in);
    return 0;
}
