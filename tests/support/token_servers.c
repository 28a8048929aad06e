#include "support/token_servers.h"

#include "crypto/hash.h"
#include "recipe/task.h"
#include "serve/tasks/arc_keys.h"
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

static void add(sotto_test *t, sotto_bytes recipe, sotto_bytes parties,
                const sotto_admitting_keys *keys)
{
    sotto_mistakes *mistakes = sotto_arena_take(&t->arena, sizeof *mistakes);
    sotto_server *both[2] = {servers.leader, servers.helper};

    for (unsigned i = 0; i < 2; i++) {
        sotto_buf ids = sotto_test_buf(t, 64);

        CHECK_OK(t, sotto_tasks_add_admitted(both[i]->db, both[i]->columns, both[i]->role, recipe,
                                             parties, keys, 0,
                                             sotto_bytes_of(servers.task.id, SOTTO_TASK_ID_SIZE),
                                             &ids, mistakes, &t->err));
        CHECK_OK(t, sotto_tasks_refresh(both[i]->tasks, &t->err));
    }
}

void sotto_test_token_servers_add_arc(sotto_test *t, sotto_bytes recipe, sotto_bytes parties,
                                      int64_t opens, int64_t closes, const char *bearer)
{
    sotto_server *both[2] = {servers.leader, servers.helper};
    uint8_t attester[32];
    sotto_arc_key key;
    bool made;

    sotto_hash_once(attester, SOTTO_SHA256, sotto_bytes_of(bearer, strlen(bearer)));
    for (unsigned i = 0; i < 2; i++)
        CHECK_OK(t, sotto_arc_key_add(both[i]->db, &key, &made, (uint64_t)opens, (uint64_t)closes,
                                      attester, both[i]->columns, &t->err));
    compile_task(t, recipe, parties);
    add(t, recipe, parties, NULL);
}

sotto_host *sotto_test_token_servers_host(unsigned which)
{
    return (which ? servers.helper : servers.leader)->host;
}

void sotto_test_token_servers_add(sotto_test *t, sotto_bytes recipe, sotto_bytes parties,
                                  const uint8_t spki[SOTTO_TYPE2_SPKI])
{
    sotto_admitting_key key = {0};
    const sotto_admitting_keys keys = {.issuer = "key:issuer", .list = &key, .count = 1};

    compile_task(t, recipe, parties);
    key.opens = servers.task.opens;
    key.closes = servers.task.closes;
    memcpy(key.spki, spki, sizeof key.spki);
    add(t, recipe, parties, &keys);
}

uint64_t sotto_test_token_servers_collect(sotto_test *t)
{
    uint64_t reports = 0, *counts = sotto_arena_take(&t->arena, servers.task.bins * sizeof *counts);

    CHECK_EQUAL(t, 200, sotto_test_collect(t, &servers, 1, &reports, counts));
    return reports;
}
