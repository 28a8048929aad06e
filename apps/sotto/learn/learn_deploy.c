/* Log, witness, leader and helper of a session, in a folder that outlives the run. A run that goes on starts them where they
 * were: on their ports, over their databases. */
#define _DEFAULT_SOURCE
#include "learn_run.h"
#include "workdir.h"

#include "base/arena.h"
#include "base/file.h"
#include "sotto/random.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 1200, PAUSE_MS = 100, SMALL = 1 << 16 };

static void path_of(const learn_run *run, char out[DEMO_FILE], const char *name)
{
    (void)snprintf(out, DEMO_FILE, "%s/%s", run->folder, name);
}

/* ---- the folder ------------------------------------------------------------------------------------------- */

/* The servers inherit the lock: a run that was killed holds the folder until the last of them has ended. */
static sotto_status take_lock(const learn_run *run, sotto_err *err)
{
    const struct timespec pause = {0, PAUSE_MS * 1000000L};
    char path[DEMO_FILE];
    int fd;

    path_of(run, path, "lock");
    fd = open(path, O_RDWR | O_CREAT, 0600);
    if (fd < 0)
        return sotto_fail(err, SOTTO_IO, "%s: %s", path, strerror(errno));
    for (int i = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; i++) {
        if (errno != EWOULDBLOCK || i == TRIES || demo_interrupted()) {
            (void)close(fd);
            return sotto_fail(err, SOTTO_STALE, "%.100s: another run uses this folder",
                              run->folder);
        }
        (void)nanosleep(&pause, NULL);
    }
    return SOTTO_OK; /* and stays open until the process ends */
}

static bool exists(const learn_run *run, const char *name)
{
    char path[DEMO_FILE];

    path_of(run, path, name);
    return access(path, F_OK) == 0;
}

static bool is_empty(const char *path)
{
    DIR *list = opendir(path);
    const struct dirent *entry;
    bool empty = list != NULL;

    while (list && (entry = readdir(list)) != NULL)
        empty = empty && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0);
    if (list)
        (void)closedir(list);
    return empty;
}

/* Says that the folder is a session's. Nothing is ever removed from a folder that lacks it. */
static const char marker[] = "learn-session";

static sotto_status mark_folder(const learn_run *run, sotto_err *err)
{
    char path[DEMO_FILE];
    int fd;

    path_of(run, path, marker);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return sotto_fail(err, SOTTO_IO, "%s: %s", path, strerror(errno));
    (void)close(fd);
    return SOTTO_OK;
}

/* A folder whose set-up did not come to its end holds nothing that anybody knows of: it is made anew. */
sotto_status learn_folder_make(learn_run *run, bool *fresh, sotto_err *err)
{
    char path[DEMO_FILE];

    if (strlen(run->folder) >= sizeof run->deployment.folder)
        return sotto_fail(err, SOTTO_DENIED, "--out: at most %d characters", DEMO_PATH - 1);
    (void)snprintf(run->deployment.folder, sizeof run->deployment.folder, "%s", run->folder);
    if (mkdir(run->folder, 0700) != 0) {
        if (errno != EEXIST)
            return sotto_fail(err, SOTTO_IO, "%.100s: %s", run->folder, strerror(errno));
        if (!exists(run, marker) && !is_empty(run->folder))
            return sotto_fail(err, SOTTO_DENIED,
                              "%.100s: it is there already, and no session's folder", run->folder);
    }
    SOTTO_TRY(mark_folder(run, err));
    SOTTO_TRY(take_lock(run, err));
    *fresh = !exists(run, "deployment.json");
    path_of(run, path, "models");
    if (*fresh && (exists(run, "log-signing.key") || exists(run, "aggregator-signing.key"))) {
        sotto_workdir_remove(run->folder);
        if (mkdir(run->folder, 0700) != 0)
            return sotto_fail(err, SOTTO_IO, "%.100s: %s", run->folder, strerror(errno));
        SOTTO_TRY(mark_folder(run, err));
        SOTTO_TRY(take_lock(run, err));
    }
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return sotto_fail(err, SOTTO_IO, "%s: %s", path, strerror(errno));
    return SOTTO_OK;
}

/* ---- what is kept ----------------------------------------------------------------------------------------- */

typedef struct kept_port {
    const char *name;
    unsigned *port;
} kept_port;

enum { PORTS = 4 };

static void list_ports(demo *d, kept_port out[PORTS])
{
    out[0] = (kept_port){"leader", &d->leader.port};
    out[1] = (kept_port){"helper", &d->helper.port};
    out[2] = (kept_port){"log", &d->log_server.port};
    out[3] = (kept_port){"witness", &d->witness.port};
}

sotto_status learn_put_file(const learn_run *run, const char *name, sotto_bytes bytes,
                            sotto_err *err)
{
    char path[DEMO_FILE];

    path_of(run, path, name);
    return sotto_file_write(path, bytes, NULL, NULL, err);
}

sotto_status learn_get_file(learn_run *run, const char *name, sotto_bytes *out, sotto_err *err)
{
    char path[DEMO_FILE];

    path_of(run, path, name);
    return learn_read_file(run, path, DEMO_LONG_TEXT - 1, out, err);
}

sotto_status learn_get_text(learn_run *run, const char *name, char *out, size_t size,
                            sotto_err *err)
{
    sotto_bytes text;

    SOTTO_TRY(learn_get_file(run, name, &text, err));
    if (text.len >= size)
        return sotto_fail(err, SOTTO_TOO_LARGE, "%s: it is too long", name);
    memcpy(out, text.data, text.len);
    out[text.len] = 0;
    return SOTTO_OK;
}

/* Written last: with it a folder is whole. */
static sotto_status keep_deployment(learn_run *run, sotto_err *err)
{
    demo *d = &run->deployment;
    kept_port ports[PORTS];
    json_t *json = json_pack("{s:s,s:s}", "log_key", d->log_key, "witness_key", d->witness_key);
    char *text;
    sotto_status status;

    list_ports(d, ports);
    for (size_t i = 0; i < PORTS; i++)
        (void)json_object_set_new(json, ports[i].name, json_integer((json_int_t)*ports[i].port));
    text = json_dumps(json, JSON_INDENT(2));
    json_decref(json);
    if (!text)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a deployment");
    status = learn_put_file(run, "deployment.json", sotto_bytes_of(text, strlen(text)), err);
    free(text);
    return status;
}

static bool copy_text(char *out, size_t size, const json_t *text)
{
    const char *value = json_string_value(text);

    return value && (size_t)snprintf(out, size, "%s", value) < size;
}

static sotto_status read_deployment(learn_run *run, sotto_err *err)
{
    demo *d = &run->deployment;
    kept_port ports[PORTS];
    sotto_bytes text, secrets[2];
    json_t *json;
    bool right;

    list_ports(d, ports);
    SOTTO_TRY(learn_get_file(run, "deployment.json", &text, err));
    json = json_loadb((const char *)text.data, text.len, 0, NULL);
    right = copy_text(d->log_key, sizeof d->log_key, json_object_get(json, "log_key")) &&
            copy_text(d->witness_key, sizeof d->witness_key, json_object_get(json, "witness_key"));
    for (size_t i = 0; i < PORTS; i++) {
        *ports[i].port = (unsigned)json_integer_value(json_object_get(json, ports[i].name));
        right = right && *ports[i].port > 0 && *ports[i].port < 65536;
    }
    const bool of_others = json_object_get(json, "servers") != NULL;
    json_decref(json);
    if (of_others)
        return sotto_fail(err, SOTTO_DENIED,
                          "%.60s trains over servers of others: name them by --parties as before",
                          run->folder);
    if (!right)
        return sotto_fail(err, SOTTO_MALFORMED, "%.100s/deployment.json is damaged", run->folder);
    run->localised = true;
    SOTTO_TRY(learn_get_text(run, "recipe.json", d->recipe_text, sizeof d->recipe_text, err));
    SOTTO_TRY(learn_get_text(run, "parties.json", d->parties_text, sizeof d->parties_text, err));
    SOTTO_TRY(learn_get_file(run, "collector-key.json", &secrets[0], err));
    SOTTO_TRY(sotto_collector_key_decode(&d->collector, secrets[0], err));
    SOTTO_TRY(learn_get_file(run, "pairing.json", &secrets[1], err));
    SOTTO_TRY(sotto_pairing_decode(&d->pairing, secrets[1], err));
    return learn_get_fleet(run, err);
}

sotto_status learn_get_fleet(learn_run *run, sotto_err *err)
{
    sotto_bytes fleet, owner;

    SOTTO_TRY(learn_get_file(run, "fleet.secret", &fleet, err));
    if (fleet.len != sizeof run->fleet)
        return sotto_fail(err, SOTTO_MALFORMED, "fleet.secret is damaged");
    memcpy(run->fleet, fleet.data, sizeof run->fleet);
    if (!exists(run, "owner.secret")) /* of a session whose recipe has no key */
        return SOTTO_OK;
    SOTTO_TRY(learn_get_file(run, "owner.secret", &owner, err));
    if (owner.len != SOTTO_SIGN_SEED)
        return sotto_fail(err, SOTTO_MALFORMED, "owner.secret is damaged");
    return sotto_signer_init(&run->own_signer, owner.data, err);
}

/* ---- starting ---------------------------------------------------------------------------------------------- */

static sotto_status start(learn_run *run, sotto_err *err)
{
    demo *d = &run->deployment;
    char keys[2 * DEMO_NOTE_KEY + 4], lines[256];

    d->without = DEMO_RELAY | DEMO_TOKENS;
    SOTTO_TRY(demo_log_start(d, err));
    (void)snprintf(keys, sizeof keys, "%s\n%s\n", d->log_key, d->witness_key);
    SOTTO_TRY(demo_write_file(d, "rounds.keys", keys, err));
    (void)snprintf(lines, sizeof lines,
                   "workers = 1\nrounds_log = http://127.0.0.1:%u/\nrounds_keys = rounds.keys\n",
                   d->log_server.port);
    SOTTO_TRY(demo_process_start(d, &d->leader, "leader", lines, err));
    return demo_process_start(d, &d->helper, "helper", lines, err);
}

sotto_status learn_deploy_open(learn_run *run, bool *fresh, sotto_err *err)
{
    SOTTO_TRY(learn_folder_make(run, fresh, err));
    if (run->one_server)
        return learn_one_open(run, *fresh, err);
    if (!*fresh)
        SOTTO_TRY(read_deployment(run, err));
    SOTTO_TRY(start(run, err));
    return SOTTO_OK;
}

sotto_status learn_parties_read(learn_run *run, sotto_err *err)
{
    const char *own = run->deployment.parties_text;
    sotto_bytes text = sotto_bytes_of(own, strlen(own));
    sotto_mistakes *mistakes = sotto_arena_take(&run->arena, sizeof *mistakes);

    if (!mistakes)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a parties file");
    if (learn_is_remote(run))
        SOTTO_TRY(learn_read_file(run, run->parties_file, DEMO_LONG_TEXT, &text, err));
    return sotto_parties_read(&run->parties, text, &run->arena, mistakes, err);
}

/* ---- the task of a round -------------------------------------------------------------------------------------- */

static sotto_status key_of(const learn_run *run, const char *name, sotto_hpke_config *out,
                           sotto_err *err)
{
    const sotto_party_entry *party = sotto_parties_find(run->parties, name);
    const sotto_party_key *key =
        party ? sotto_party_key_at(party, (int64_t)run->task.closes - 1) : NULL;

    if (!key)
        return sotto_fail(err, SOTTO_MISSING, "%.60s has no key", name);
    return sotto_hpke_config_decode(out, key->config, err);
}

sotto_status learn_record_make(learn_run *run, sotto_err *err)
{
    const sotto_learning *l = run->learning;
    sotto_buf wire;

    run->record.recipe = l->head.text;
    SOTTO_TRY(sotto_buf_take(&wire, &run->round_arena, l->head.text.len + 512, err));
    if (l->owned)
        SOTTO_TRY(sotto_round_record_sign(
            &run->record, learn_is_remote(run) ? &run->owner_kept.signer.signer : &run->own_signer,
            err));
    SOTTO_TRY(sotto_round_record_encode(&wire, &run->record, err));
    run->record_bytes = sotto_buf_bytes(&wire);
    return SOTTO_OK;
}

sotto_status learn_task_compile(learn_run *run, sotto_err *err)
{
    const sotto_learning *l = run->learning;

    if (!run->parties)
        SOTTO_TRY(learn_parties_read(run, err));
    SOTTO_TRY(learn_record_make(run, err));
    SOTTO_TRY(sotto_round_task_compile(&run->task, l, &run->record, run->parties, &run->round_arena,
                                       err));
    SOTTO_TRY(sotto_vdaf_open(&run->vdaf, &run->task.vdaf, &run->round_arena, err));
    SOTTO_TRY(sotto_learning_randomizer(&run->randomizer, l, &run->round_arena, err));
    SOTTO_TRY(key_of(run, l->head.leader, &run->keys[SOTTO_REPORT_LEADER], err));
    return key_of(run, l->head.helper, &run->keys[SOTTO_REPORT_HELPER], err);
}

/* ---- provisioning ---------------------------------------------------------------------------------------------- */

sotto_status learn_keep_fleet(const learn_run *run, sotto_err *err)
{
    const mode_t before = umask(077);
    sotto_status status =
        learn_put_file(run, "fleet.secret", sotto_bytes_of(run->fleet, sizeof run->fleet), err);

    if (status == SOTTO_OK && run->learning->owned)
        status = learn_put_file(run, "owner.secret",
                                sotto_bytes_of(run->owner_seed, sizeof run->owner_seed), err);
    (void)umask(before);
    return status;
}

static sotto_status keep_secrets(learn_run *run, sotto_err *err)
{
    const demo *d = &run->deployment;
    uint8_t key[SOTTO_COLLECTOR_KEY_MAX], pairing[4096];
    sotto_buf a = sotto_buf_over(key, sizeof key), b = sotto_buf_over(pairing, sizeof pairing);
    const mode_t before = umask(077);
    sotto_status status = sotto_collector_key_encode(&a, &d->collector, err);

    if (status == SOTTO_OK)
        status = sotto_pairing_encode_for_collector(&b, &d->pairing, err);
    if (status == SOTTO_OK)
        status = learn_put_file(run, "collector-key.json", sotto_buf_bytes(&a), err);
    if (status == SOTTO_OK)
        status = learn_put_file(run, "pairing.json", sotto_buf_bytes(&b), err);
    if (status == SOTTO_OK)
        status = learn_keep_fleet(run, err);
    (void)umask(before);
    sotto_wipe(key, sizeof key);
    sotto_wipe(pairing, sizeof pairing);
    return status;
}

sotto_status learn_deploy_provision(learn_run *run, sotto_err *err)
{
    demo *d = &run->deployment;
    const sotto_bytes recipe = run->learning->head.text;

    if (run->one_server)
        return learn_one_provision(run, err);
    SOTTO_TRY(sotto_random_bytes(run->fleet, sizeof run->fleet, err));
    SOTTO_TRY(sotto_collector_key_new(&d->collector, 1, err));
    SOTTO_TRY(demo_write_parties(d, err));
    run->record = (sotto_round_record){.round = 0};
    memcpy(run->record.model, run->learning->init, sizeof run->record.model);
    SOTTO_TRY(learn_task_compile(run, err));
    d->task = run->task;
    d->devices = run->learning->head.population;
    sotto_arena_init(&d->arena, (size_t)16 << 20);
    if (run->record_bytes.len >= sizeof d->recipe_text)
        return sotto_fail(err, SOTTO_TOO_LARGE, "the recipe is too long");
    memcpy(d->recipe_text, run->record_bytes.data, run->record_bytes.len);
    d->recipe_text[run->record_bytes.len] = 0;
    SOTTO_TRY(demo_servers_provision(d, err));
    SOTTO_TRY(learn_put_file(run, "recipe.json", recipe, err));
    SOTTO_TRY(learn_put_file(run, "parties.json",
                             sotto_bytes_of(d->parties_text, strlen(d->parties_text)), err));
    SOTTO_TRY(keep_secrets(run, err));
    return keep_deployment(run, err);
}

/* The folder stays. */
void learn_deploy_close(learn_run *run)
{
    demo *d = &run->deployment;
    demo_server *all[] = {&d->leader, &d->helper, &d->log_server, &d->witness};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        demo_process_stop(all[i]);
    learn_one_close(run);
    demo_log_end(d);
    sotto_wipe(&d->collector, sizeof d->collector);
    sotto_wipe(&d->pairing, sizeof d->pairing);
    sotto_wipe(run->fleet, sizeof run->fleet);
    sotto_wipe(run->owner_seed, sizeof run->owner_seed);
    sotto_signer_clear(&run->own_signer);
    sotto_signer_file_clear(&run->owner_kept);
    sotto_arena_clear(&d->arena);
}
