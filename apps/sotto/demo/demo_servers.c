/* A leader and a helper: two processes, two databases, one task. */
#include "demo.h"
#include "workdir.h"

#include "db/store.h"
#include "serve/tasks/admitting_list.h"
#include "serve/tasks/server.h"

#include <stdio.h>
#include <string.h>

sotto_status demo_servers_start(demo *d, sotto_err *err)
{
    SOTTO_TRY(sotto_workdir_make(d->folder, "demo", err));
    SOTTO_TRY(demo_process_start(d, &d->leader, "leader", "workers = 1\n", err));
    return demo_process_start(d, &d->helper, "helper", "workers = 1\n", err);
}

sotto_status demo_columns(sotto_column_keys *out, const demo_server *s, sotto_err *err)
{
    const char *path = s->key_file;
    FILE *file = fopen(path, "rb");

    *out = (sotto_column_keys){.count = 1};
    if (!file || fread(out->key[0], 1, sizeof out->key[0], file) != sizeof out->key[0]) {
        if (file)
            (void)fclose(file);
        return sotto_fail(err, SOTTO_IO, "can't read %s", path);
    }
    return fclose(file) == 0 ? SOTTO_OK : sotto_fail(err, SOTTO_IO, "can't read %s", path);
}

/* The other side's ids are compared with what this side compiles for itself. */
static sotto_status provision(demo *d, const demo_server *s, sotto_role role, sotto_buf *ids,
                              sotto_bytes expected, sotto_err *err)
{
    sotto_mistakes *mistakes = sotto_arena_take(&d->arena, sizeof *mistakes);
    sotto_bytes recipe = sotto_bytes_of(d->recipe_text, strlen(d->recipe_text));
    sotto_bytes parties = sotto_bytes_of(d->parties_text, strlen(d->parties_text));
    sotto_admitting_keys tokens = {0};
    sotto_column_keys columns;
    sotto_db *db = NULL;
    sotto_status status;

    if (!mistakes)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the demo");
    if (!(d->without & DEMO_TOKENS) && !d->arc)
        SOTTO_TRY(sotto_admitting_keys_of_list(&tokens, d->recipe, d->token_keys, demo_log_trust(d),
                                               &d->arena, err));
    SOTTO_TRY(demo_columns(&columns, s, err));
    status = sotto_db_open(&db, &(sotto_db_options){.address = s->database}, err);
    if (status == SOTTO_OK)
        status = sotto_pairing_put(db, &columns, &d->pairing, err);
    if (status == SOTTO_OK)
        status = sotto_tasks_add_admitted(db, &columns, role, recipe, parties, &tokens, d->devices,
                                          expected, ids, mistakes, err);
    sotto_db_close(db);
    sotto_wipe(&columns, sizeof columns);
    return status;
}

sotto_status demo_servers_provision(demo *d, sotto_err *err)
{
    uint8_t bytes[2][SOTTO_TASK_ID_SIZE];
    sotto_buf leader = sotto_buf_over(bytes[0], sizeof bytes[0]);
    sotto_buf helper = sotto_buf_over(bytes[1], sizeof bytes[1]);
    uint8_t wire[SOTTO_COLLECTOR_CONFIG];
    sotto_buf config = sotto_buf_over(wire, sizeof wire);
    sotto_hpke_config collector = sotto_collector_key_config(&d->collector);

    SOTTO_TRY(sotto_hpke_config_encode(&config, &collector, err));
    SOTTO_TRY(sotto_pairing_new(&d->pairing,
                                &(sotto_paired){"key:leader", "key:helper", "key:collector",
                                                d->task.leader_url, d->task.helper_url},
                                sotto_buf_bytes(&config), err));
    SOTTO_TRY(provision(d, &d->leader, SOTTO_LEADER, &leader, sotto_bytes_of(NULL, 0), err));
    return provision(d, &d->helper, SOTTO_HELPER, &helper, sotto_buf_bytes(&leader), err);
}

/* ---- afterwards -------------------------------------------------------------------------------------------------- */

/* Whoever calls another goes first. */
void demo_servers_stop(demo *d)
{
    demo_server *all[] = {&d->relay,    &d->gateway, &d->leader,     &d->helper,
                          &d->attester, &d->issuer,  &d->log_server, &d->witness};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        demo_process_stop(all[i]);
    sotto_workdir_remove(d->folder);
}
