/* A leader or a helper, with its commands on the same port. */
#include "interop.h"

#include "serve/tasks/server.h"
#include "workdir.h"

#include <stdio.h>
#include <string.h>

enum { DRAIN_MS = 2000, JOB_DELAY_MS = 100 };

static struct {
    sotto_server *server;
    sotto_role role;
    sotto_dap_profile profile;
} own;

static sotto_status endpoint_for_task(const json_t *in, json_t *out, sotto_arena *arena,
                                      sotto_err *err)
{
    (void)in;
    (void)arena;
    return json_object_set_new(out, "endpoint", json_string("/")) == 0
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_NO_MEMORY, "an answer");
}

static sotto_status check_role(const json_t *in, sotto_err *err)
{
    const char *role;

    SOTTO_TRY(interop_text(&role, in, "role", err));
    if (strcmp(role, own.role == SOTTO_LEADER ? "leader" : "helper") != 0)
        return sotto_fail(err, SOTTO_DENIED, "role: this is the other one");
    return SOTTO_OK;
}

/* Each task has tokens of its own, so each has parties of its own to hold them. */
static sotto_status make_pairing(sotto_pairing *out, const json_t *in, const char *id,
                                 const sotto_task *task, sotto_err *err)
{
    const char *leader_token, *collector_token = NULL;
    char names[3][SOTTO_PARTY_NAME];
    static const char *const roles[] = {"leader", "helper", "collector"};

    for (unsigned i = 0; i < 3; i++)
        (void)snprintf(names[i], sizeof names[i], "interop:%.48s:%s", id, roles[i]);
    SOTTO_TRY(interop_text(&leader_token, in, "leader_authentication_token", err));
    if (own.role == SOTTO_LEADER)
        SOTTO_TRY(interop_text(&collector_token, in, "collector_authentication_token", err));
    /* The helper never meets the collector: its side of the pairing takes a token that nobody is told. */
    return sotto_pairing_foreign(
        out, &(sotto_paired){names[0], names[1], names[2], task->leader_url, task->helper_url},
        leader_token, collector_token, err);
}

static sotto_status add_task(const json_t *in, json_t *out, sotto_arena *arena, sotto_err *err)
{
    uint8_t id[SOTTO_TASK_ID_SIZE];
    sotto_bare_task bare = {.profile = own.profile};
    const char *text;
    sotto_pairing pairing;
    sotto_task task;
    sotto_status status;

    (void)out;
    SOTTO_TRY(check_role(in, err));
    SOTTO_TRY(interop_task(&task, in, arena, err));
    SOTTO_TRY(interop_text(&text, in, "task_id", err));
    SOTTO_TRY(interop_bytes(&bare.verify_key, in, "vdaf_verify_key", SOTTO_PRIO3_VERIFY_KEY_SIZE,
                            arena, err));
    SOTTO_TRY(interop_bytes(&bare.collector_config, in, "collector_hpke_config", 0, arena, err));
    if (sotto_tasks_find(own.server->tasks, task.id))
        return sotto_fail(err, SOTTO_STALE, "task_id: there is such a task already");
    status = make_pairing(&pairing, in, text, &task, err);
    bare.configuration = task.configuration;
    bare.id = sotto_bytes_of(task.id, sizeof task.id);
    bare.leader = pairing.leader;
    bare.helper = pairing.helper;
    if (status == SOTTO_OK)
        status = sotto_pairing_put(own.server->db, own.server->columns, &pairing, err);
    if (status == SOTTO_OK)
        status =
            sotto_tasks_add_bare(own.server->db, own.server->columns, own.role, &bare, 0, id, err);
    if (status == SOTTO_OK)
        status = sotto_tasks_refresh(own.server->tasks, err);
    sotto_wipe(&pairing, sizeof pairing);
    return status;
}

static sotto_status serve(const interop_options *options, const char *folder, sotto_err *err)
{
    static const interop_command commands[] = {
        {"endpoint_for_task", endpoint_for_task}, {"add_task", add_task}, {NULL, NULL}};
    char database[SOTTO_WORKDIR + 32], key[SOTTO_WORKDIR + 32];
    sotto_server_options server = {.role = own.role,
                                   .host.listen = options->listen,
                                   .host.database = database,
                                   .host.datastore_key = key,
                                   .tasks.job_delay_ms = JOB_DELAY_MS,
                                   .host.internal = &interop_handler};

    (void)snprintf(database, sizeof database, "sqlite:%s/tasks.db", folder);
    (void)snprintf(key, sizeof key, "%s/datastore.key", folder);
    SOTTO_TRY(sotto_workdir_key(key, err));
    interop_commands(commands);
    SOTTO_TRY(sotto_server_open(&own.server, &server, err));
    interop_begin(own.server->pool);
    interop_wait(sotto_server_port(own.server));
    (void)(sotto_server_drain(own.server, DRAIN_MS, NULL) == SOTTO_OK);
    sotto_server_close(own.server);
    return SOTTO_OK;
}

static sotto_status aggregator(sotto_role role, const interop_options *options, sotto_err *err)
{
    char folder[SOTTO_WORKDIR];
    sotto_status status;

    own.role = role;
    own.profile = options->profile;
    SOTTO_TRY(sotto_workdir_make(folder, "interop", err));
    status = serve(options, folder, err);
    sotto_workdir_remove(folder);
    return status;
}

sotto_status interop_leader(const interop_options *options, sotto_err *err)
{
    return aggregator(SOTTO_LEADER, options, err);
}

sotto_status interop_helper(const interop_options *options, sotto_err *err)
{
    return aggregator(SOTTO_HELPER, options, err);
}
