/* Directory, databases, keys and the task of a deployment, and collecting from it. */
#define _XOPEN_SOURCE 700
#include "deployment.h"

#include "dap/dap.h"
#include "dap/task_configuration.h"
#include "serve/tasks/schema.h"
#include "sotto/random.h"

#include <arpa/inet.h>
#include <ftw.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PRECISION = 3600, ARENA = 256 << 20, COLLECTOR_CONFIG = 9, DAYS = 2 };

static const sotto_role roles[2] = {SOTTO_LEADER, SOTTO_HELPER};

/* ---- places --------------------------------------------------------------------------------------------------- */

/* The replicas keep theirs over restarts, so it can't be the kernel's choice then. */
sotto_status sotto_free_port(uint16_t *out, sotto_err *err)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    bool good = fd >= 0 && bind(fd, (const struct sockaddr *)&address, len) == 0 &&
                getsockname(fd, (struct sockaddr *)&address, &len) == 0;

    if (fd >= 0)
        (void)close(fd);
    *out = ntohs(address.sin_port);
    return good ? SOTTO_OK : sotto_fail(err, SOTTO_IO, "no free port");
}

static sotto_status say(sotto_tx *tx, void *sql, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, sql, err));
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status make_schema(const char *address, const char *name, sotto_err *err)
{
    char sql[96];
    sotto_db *db;
    sotto_status status;

    SOTTO_TRY(sotto_db_open(&db, &(sotto_db_options){.address = address, .writers = 1}, err));
    (void)snprintf(sql, sizeof sql, "CREATE SCHEMA %s", name);
    status = sotto_db_run(db, say, sql, err);
    sotto_db_close(db);
    return status;
}

static sotto_status make_database(sotto_deployment *d, size_t side, sotto_err *err)
{
    static unsigned number;
    char name[64];

    if (!d->options.postgres) {
        (void)snprintf(d->database[side], sizeof d->database[side], "sqlite:%.200s/%s.db",
                       d->directory, side == 0 ? "leader" : "helper");
        return SOTTO_OK;
    }
    (void)snprintf(name, sizeof name, "load_%ld_%u", (long)getpid(), number++);
    SOTTO_TRY(make_schema(d->options.postgres, name, err));
    (void)snprintf(d->database[side], sizeof d->database[side], "%.160s options=-csearch_path=%s",
                   d->options.postgres, name);
    return SOTTO_OK;
}

static sotto_status make_key_file(sotto_deployment *d, size_t side, sotto_err *err)
{
    uint8_t key[SOTTO_COLUMN_KEY_SIZE];
    FILE *file;
    bool good;

    (void)snprintf(d->key_file[side], sizeof d->key_file[side], "%.200s/%s.key", d->directory,
                   side == 0 ? "leader" : "helper");
    SOTTO_TRY(sotto_random_bytes(key, sizeof key, err));
    file = fopen(d->key_file[side], "wb");
    good = file && chmod(d->key_file[side], 0600) == 0 && fwrite(key, sizeof key, 1, file) == 1;
    if (file)
        good = fclose(file) == 0 && good;
    return good ? SOTTO_OK : sotto_fail(err, SOTTO_IO, "no file for a key");
}

static sotto_status make_places(sotto_deployment *d, sotto_err *err)
{
    const char *base = getenv("TMPDIR");

    (void)snprintf(d->directory, sizeof d->directory, "%.200s/sotto-load-XXXXXX",
                   base ? base : "/tmp");
    if (!mkdtemp(d->directory))
        return sotto_fail(err, SOTTO_IO, "no temporary directory");
    for (size_t side = 0; side < 2; side++) {
        SOTTO_TRY(make_key_file(d, side, err));
        SOTTO_TRY(make_database(d, side, err));
    }
    for (size_t i = 0; i < SOTTO_MAX_REPLICAS; i++) {
        d->leaders[i] = (sotto_replica){.role = SOTTO_LEADER, .to = -1, .from = -1};
        d->helpers[i] = (sotto_replica){.role = SOTTO_HELPER, .to = -1, .from = -1};
        SOTTO_TRY(sotto_free_port(&d->leaders[i].port, err));
        SOTTO_TRY(sotto_free_port(&d->helpers[i].port, err));
    }
    return SOTTO_OK;
}

/* ---- keys and the task ----------------------------------------------------------------------------------------- */

void sotto_deployment_close_store(sotto_deployment_store *o)
{
    sotto_keys_close(o->keys);
    sotto_db_close(o->db);
}

sotto_status sotto_deployment_open_store(sotto_deployment_store *o, const sotto_deployment *d,
                                         size_t side, sotto_err *err)
{
    FILE *file = fopen(d->key_file[side], "rb");
    uint8_t info[SOTTO_DAP_INFO_MAX];
    bool good = file && fread(o->columns.key[0], SOTTO_COLUMN_KEY_SIZE, 1, file) == 1;

    o->columns.count = 1;
    if (file)
        (void)fclose(file);
    if (!good)
        return sotto_fail(err, SOTTO_IO, "no datastore key");
    SOTTO_TRY(sotto_db_open(&o->db, &(sotto_db_options){.address = d->database[side], .writers = 1},
                            err));
    SOTTO_TRY(sotto_db_migrate(o->db, sotto_serve_migrations, SOTTO_SERVE_MIGRATIONS, err));
    return sotto_keys_open(&o->keys, o->db, &o->columns, sotto_role_info(info, roles[side]),
                           &(sotto_key_times){0}, (int64_t)time(NULL), NULL, err);
}

static sotto_status keep_config(void *context, const sotto_key_line *line, sotto_err *err)
{
    sotto_buf *out = context;

    if (out->len > 0 || line->state != SOTTO_KEY_ACTIVE)
        return SOTTO_OK;
    return sotto_hpke_config_encode(out, &line->config, err);
}

static sotto_status write_configuration(sotto_deployment *d, sotto_err *err)
{
    sotto_buf out = sotto_buf_over(d->configuration, sizeof d->configuration);
    uint16_t door = d->options.helper_door ? d->options.helper_door : d->helpers[0].port;
    sotto_task_configuration c = {.task_info = sotto_bytes_of("load", 4),
                                  .time_precision = PRECISION,
                                  .min_batch_size = d->options.min_batch_size,
                                  .batch_mode = SOTTO_DAP_TIME_INTERVAL,
                                  .vdaf = d->options.vdaf};

    if (d->options.tokens) {
        c.anonymity = SOTTO_TASK_TOKENS;
        c.token_type = SOTTO_TOKEN_BLIND_RSA;
        c.has_interval = true;
        c.interval_start = d->bucket - DAYS * 24;
        c.interval_duration = 2 * DAYS * 24;
    }
    (void)snprintf(d->leader_url, sizeof d->leader_url, "http://127.0.0.1:%u/", d->leaders[0].port);
    (void)snprintf(d->helper_url, sizeof d->helper_url, "http://127.0.0.1:%u/", door);
    c.leader_url = sotto_bytes_of(d->leader_url, strlen(d->leader_url));
    c.helper_url = sotto_bytes_of(d->helper_url, strlen(d->helper_url));
    SOTTO_TRY(sotto_task_configuration_encode(&out, &c, err));
    d->task.configuration = sotto_buf_bytes(&out);
    d->task.vdaf = d->options.vdaf;
    SOTTO_TRY(sotto_prio3_init(&d->vdaf, &d->arena, &d->options.vdaf, err));
    d->dap = (sotto_task){.configuration = d->task.configuration,
                          .leader_url = c.leader_url,
                          .helper_url = c.helper_url,
                          .closes = INT64_MAX,
                          .precision = PRECISION,
                          .min_batch_size = c.min_batch_size,
                          .batch_mode = c.batch_mode,
                          .vdaf = c.vdaf,
                          .sizes = d->vdaf.sizes,
                          .bins = d->vdaf.sizes.outputs};
    return SOTTO_OK;
}

static sotto_status provision(sotto_deployment *d, size_t side, const sotto_buf *collector,
                              sotto_err *err)
{
    sotto_buf wire = sotto_buf_over(d->hpke[side], sizeof d->hpke[side]);
    sotto_bare_task bare = {.configuration = d->task.configuration,
                            .collector_config = sotto_buf_bytes(collector),
                            .leader = d->pairing.leader,
                            .helper = d->pairing.helper};
    sotto_deployment_store o = {0};
    sotto_status status = sotto_deployment_open_store(&o, d, side, err);

    if (d->options.tokens)
        bare.token_keys =
            (sotto_admitting_keys){.issuer = SOTTO_LOAD_ISSUER, .list = &d->tokens.key, .count = 1};
    if (status == SOTTO_OK)
        status = sotto_keys_list(o.keys, keep_config, &wire, err);
    if (status == SOTTO_OK)
        status = sotto_pairing_put(o.db, &o.columns, &d->pairing, err);
    if (status == SOTTO_OK)
        status = sotto_tasks_add_bare(o.db, &o.columns, roles[side], &bare, 0, d->task.id, err);
    if (status == SOTTO_OK)
        status = sotto_hpke_config_decode(side == 0 ? &d->task.leader : &d->task.helper,
                                          sotto_buf_bytes(&wire), err);
    sotto_deployment_close_store(&o);
    return status;
}

sotto_status sotto_deployment_init(sotto_deployment *d, const sotto_deployment_options *options,
                                   sotto_err *err)
{
    uint8_t room[SOTTO_COLLECTOR_CONFIG];
    sotto_buf collector = sotto_buf_over(room, sizeof room);
    sotto_hpke_config config;

    memset(d, 0, sizeof *d);
    d->options = *options;
    if (d->options.leaders == 0)
        d->options.leaders = 1;
    if (d->options.helpers == 0)
        d->options.helpers = 1;
    sotto_arena_init(&d->arena, ARENA);
    d->bucket = (uint64_t)time(NULL) / PRECISION;
    SOTTO_TRY(make_places(d, err));
    SOTTO_TRY(sotto_collector_key_new(&d->collector, COLLECTOR_CONFIG, err));
    config = sotto_collector_key_config(&d->collector);
    SOTTO_TRY(sotto_hpke_config_encode(&collector, &config, err));
    SOTTO_TRY(write_configuration(d, err));
    if (d->options.tokens) {
        SOTTO_TRY(sotto_load_tokens_init(&d->tokens, (d->bucket - DAYS * 24) * PRECISION,
                                         (d->bucket + DAYS * 24) * PRECISION, 1, err));
        d->task.admit = sotto_load_tokens_attach;
        d->task.admit_context = &d->tokens;
    }
    SOTTO_TRY(
        sotto_pairing_new(&d->pairing,
                          &(sotto_paired){"leader", "helper", "collector",
                                          sotto_bytes_of(d->leader_url, strlen(d->leader_url)),
                                          sotto_bytes_of(d->helper_url, strlen(d->helper_url))},
                          sotto_buf_bytes(&collector), err));
    SOTTO_TRY(provision(d, 0, &collector, err));
    SOTTO_TRY(provision(d, 1, &collector, err));
    memcpy(d->dap.id, d->task.id, sizeof d->dap.id);
    return SOTTO_OK;
}

sotto_status sotto_deployment_start(sotto_deployment *d, sotto_err *err)
{
    for (unsigned i = 0; i < d->options.helpers; i++)
        if (d->helpers[i].pid == 0)
            SOTTO_TRY(sotto_replica_start(d, &d->helpers[i], err));
    for (unsigned i = 0; i < d->options.leaders; i++)
        if (d->leaders[i].pid == 0)
            SOTTO_TRY(sotto_replica_start(d, &d->leaders[i], err));
    return SOTTO_OK;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info, (void)type, (void)where;
    return remove(path);
}

void sotto_deployment_clear(sotto_deployment *d)
{
    for (size_t i = 0; i < SOTTO_MAX_REPLICAS; i++)
        sotto_replica_end(&d->leaders[i], false);
    for (size_t i = 0; i < SOTTO_MAX_REPLICAS; i++)
        sotto_replica_end(&d->helpers[i], false);
    if (d->directory[0])
        (void)nftw(d->directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    sotto_load_tokens_clear(&d->tokens);
    sotto_wipe(&d->collector, sizeof d->collector);
    sotto_wipe(&d->pairing, sizeof d->pairing);
    sotto_arena_clear(&d->arena);
}

/* ---- collecting ----------------------------------------------------------------------------------------------- */

sotto_status sotto_deployment_collect(sotto_deployment *d, sotto_collection *out, uint64_t first,
                                      uint64_t end, unsigned deadline_ms, sotto_err *err)
{
    sotto_collector_options options = {.task = &d->dap,
                                       .key = &d->collector,
                                       .collector_token = d->pairing.collector_token,
                                       .rejection_token = d->pairing.rejection_token,
                                       .deadline_ms = deadline_ms};
    sotto_collection_query query = {first * PRECISION, end * PRECISION};
    sotto_collector *collector;
    sotto_status status;

    SOTTO_TRY(sotto_collector_open(&collector, &options, err));
    status = sotto_collector_ask(collector, out, &query, &d->arena, err);
    sotto_collector_close(collector);
    return status;
}
