#include "support/token_servers.h"

#include "recipe/task.h"
#include "support/service.h"

#include <string.h>

static sotto_test_service servers;

void sotto_test_token_servers_open(sotto_test *t, sotto_test_token_servers *out,
                                   unsigned min_cohort)
{
    const sotto_test_service_options options = {.min_cohort = min_cohort};

    sotto_test_service_open(t, &servers, &options);
    *out = (sotto_test_token_servers){servers.recipe_text, servers.parties_text,
                                      (int64_t)servers.task.opens, (int64_t)servers.task.closes,
                                      (int64_t)(servers.bucket * servers.task.precision)};
}

void sotto_test_token_servers_close(void)
{
    sotto_test_service_close(&servers);
}

/* From now on the one that is collected. */
static void compile_task(sotto_test *t, sotto_bytes recipe, sotto_bytes parties)
{
    sotto_mistakes *mistakes = sotto_arena_take(&t->arena, sizeof *mistakes);
    const sotto_parties *read;

    CHECK_OK(t, sotto_recipe_read(&servers.recipe, recipe, &t->arena, mistakes, &t->err));
    CHECK_OK(t, sotto_parties_read(&read, parties, &t->arena, mistakes, &t->err));
    CHECK_OK(t, sotto_task_compile(&servers.task, servers.recipe, read, 0, &t->arena, &t->err));
}

void sotto_test_token_servers_add(sotto_test *t, sotto_bytes recipe, sotto_bytes parties,
                                  const uint8_t spki[SOTTO_TYPE2_SPKI])
{
    sotto_mistakes *mistakes = sotto_arena_take(&t->arena, sizeof *mistakes);
    sotto_server *both[2] = {servers.leader, servers.helper};
    sotto_admitting_key key = {0};
    const sotto_admitting_keys keys = {"key:issuer", &key, 1};

    compile_task(t, recipe, parties);
    key.opens = servers.task.opens;
    key.closes = servers.task.closes;
    memcpy(key.spki, spki, sizeof key.spki);
    for (unsigned i = 0; i < 2; i++) {
        sotto_buf ids = sotto_test_buf(t, 64);

        CHECK_OK(t, sotto_tasks_add_admitted(both[i]->db, both[i]->columns, both[i]->role, recipe,
                                             parties, &keys, 0,
                                             sotto_bytes_of(servers.task.id, SOTTO_TASK_ID_SIZE),
                                             &ids, mistakes, &t->err));
        CHECK_OK(t, sotto_tasks_refresh(both[i]->tasks, &t->err));
    }
}

uint64_t sotto_test_token_servers_collect(sotto_test *t)
{
    uint64_t reports = 0, *counts = sotto_arena_take(&t->arena, servers.task.bins * sizeof *counts);

    CHECK_EQUAL(t, 200, sotto_test_collect(t, &servers, 1, &reports, counts));
    return reports;
}
