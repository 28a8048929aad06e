/* A collector: tasks, and collections that go on while others ask how they are. */
#define _POSIX_C_SOURCE 200809L
#include "interop.h"

#include "base/alloc.h"
#include "sotto/collect.h"
#include "sotto/random.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 4, COMMAND_THREADS = 2, MEMORY = 64 << 20, MAX_ITEMS = 1024, TOKEN = 400 };
enum { HANDLE_BYTES = 16 };

typedef struct task {
    sotto_task dap;
    sotto_collector_key key;
    char token[TOKEN];
    sotto_arena arena;
} task;

typedef enum stage { UNDER_WAY, COMPLETE, FAILED } stage;

typedef struct job {
    char handle[SOTTO_DAP_ID_TEXT_MAX];
    task *of;
    sotto_collection_query query;
    stage at; /* under the lock, like what follows */
    sotto_collection result;
    char reason[160];
    sotto_arena arena;
} job;

/* Nothing is ever taken out again: pointers stay good until the end. */
static struct {
    pthread_mutex_t lock;
    task *tasks[MAX_ITEMS];
    job *jobs[MAX_ITEMS];
    size_t task_count, job_count;
    sotto_pool *collections; /* they wait for the leader; commands must not wait for them */
    bool janus;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- add_task --------------------------------------------------------------------------------------------- */

static task *find_task(sotto_bytes id)
{
    for (size_t i = 0; i < all.task_count; i++)
        if (memcmp(all.tasks[i]->dap.id, id.data, SOTTO_TASK_ID_SIZE) == 0)
            return all.tasks[i];
    return NULL;
}

static sotto_status fill_task(task *t, const json_t *in, sotto_err *err)
{
    const char *token;
    uint8_t id;

    SOTTO_TRY(interop_task(&t->dap, in, &t->arena, err));
    SOTTO_TRY(interop_text(&token, in, "collector_authentication_token", err));
    if (strlen(token) >= sizeof t->token)
        return sotto_fail(err, SOTTO_MALFORMED, "collector_authentication_token: too long");
    memcpy(t->token, token, strlen(token) + 1);
    SOTTO_TRY(sotto_random_bytes(&id, sizeof id, err));
    return sotto_collector_key_new(&t->key, id, err);
}

static void free_task(task *t)
{
    sotto_arena_clear(&t->arena);
    sotto_wipe(t, sizeof *t);
    sotto_release(t, sizeof *t);
}

static sotto_status keep_task(task *t, sotto_err *err)
{
    sotto_status status = SOTTO_OK;

    (void)pthread_mutex_lock(&all.lock);
    if (find_task(sotto_bytes_of(t->dap.id, sizeof t->dap.id)))
        status = sotto_fail(err, SOTTO_STALE, "task_id: there is such a task already");
    else if (all.task_count == MAX_ITEMS)
        status = sotto_fail(err, SOTTO_TOO_LARGE, "%d tasks are enough", MAX_ITEMS);
    else
        all.tasks[all.task_count++] = t;
    (void)pthread_mutex_unlock(&all.lock);
    return status;
}

static sotto_status tell_config(json_t *out, const sotto_collector_key *key, sotto_err *err)
{
    uint8_t wire[128];
    char text[256];
    sotto_buf encoded = sotto_buf_over(wire, sizeof wire);
    sotto_hpke_config config = sotto_collector_key_config(key);

    SOTTO_TRY(sotto_hpke_config_encode(&encoded, &config, err));
    sotto_dap_id_encode(text, sotto_buf_bytes(&encoded));
    return json_object_set_new(out, "collector_hpke_config", json_string(text)) == 0
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_NO_MEMORY, "an answer");
}

static sotto_status add_task(const json_t *in, json_t *out, sotto_arena *arena, sotto_err *err)
{
    task *t = sotto_alloc(sizeof *t);
    sotto_status status;

    (void)arena;
    if (!t)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a task");
    sotto_arena_init(&t->arena, MEMORY);
    status = fill_task(t, in, err);
    if (status == SOTTO_OK)
        status = tell_config(out, &t->key, err);
    if (status == SOTTO_OK)
        status = keep_task(t, err);
    if (status != SOTTO_OK)
        free_task(t);
    return status;
}

/* ---- collection_start --------------------------------------------------------------------------------------- */

static sotto_status ask(job *j, sotto_collection *result, sotto_err *err)
{
    sotto_collector_options options = {.task = &j->of->dap,
                                       .key = &j->of->key,
                                       .collector_token = j->of->token,
                                       .janus = all.janus};
    sotto_collector *collector;
    sotto_status status;

    SOTTO_TRY(sotto_collector_open(&collector, &options, err));
    status = sotto_collector_ask(collector, result, &j->query, &j->arena, err);
    /* Or the next question for "the next batch" would be this one again. */
    if (status == SOTTO_OK && j->of->dap.batch_mode == SOTTO_DAP_LEADER_SELECTED && !all.janus)
        status = sotto_collector_forget(collector, result, err);
    sotto_collector_close(collector);
    return status;
}

static void collect(void *context, sotto_worker *worker)
{
    job *j = context;
    sotto_collection result;
    sotto_err err = {0};
    sotto_status status = ask(j, &result, &err);

    (void)worker;
    (void)pthread_mutex_lock(&all.lock);
    j->at = status == SOTTO_OK ? COMPLETE : FAILED;
    if (status == SOTTO_OK)
        j->result = result;
    else
        memcpy(j->reason, err.reason, sizeof j->reason);
    (void)pthread_mutex_unlock(&all.lock);
}

static sotto_status read_query(sotto_collection_query *out, const task *t, const json_t *in,
                               sotto_err *err)
{
    const json_t *query = json_object_get(in, "query");
    uint64_t type, duration;

    *out = (sotto_collection_query){0};
    SOTTO_TRY(interop_number(&type, query, "type", err));
    if (type != t->dap.batch_mode)
        return sotto_fail(err, SOTTO_MALFORMED, "query: not of the task's batch mode");
    if (type == SOTTO_DAP_LEADER_SELECTED)
        return SOTTO_OK;
    SOTTO_TRY(interop_number(&out->from, query, "batch_interval_start", err));
    SOTTO_TRY(interop_number(&duration, query, "batch_interval_duration", err));
    out->until = out->from + duration;
    return SOTTO_OK;
}

static sotto_status start(job *j, task *t, sotto_err *err)
{
    uint8_t random[HANDLE_BYTES];
    sotto_status status;

    if (!t)
        return sotto_fail(err, SOTTO_MISSING, "task_id: there is no such task");
    if (all.job_count == MAX_ITEMS)
        return sotto_fail(err, SOTTO_TOO_LARGE, "%d collections are enough", MAX_ITEMS);
    SOTTO_TRY(sotto_random_bytes(random, sizeof random, err));
    sotto_dap_id_encode(j->handle, sotto_bytes_of(random, sizeof random));
    j->of = t;
    status = sotto_pool_post(all.collections, collect, j, err);
    if (status == SOTTO_OK)
        all.jobs[all.job_count++] = j;
    return status;
}

static sotto_status collection_start(const json_t *in, json_t *out, sotto_arena *arena,
                                     sotto_err *err)
{
    char handle[SOTTO_DAP_ID_TEXT_MAX] = "";
    sotto_status status = SOTTO_OK;
    sotto_bytes id;
    task *t;
    job *j;

    SOTTO_TRY(interop_bytes(&id, in, "task_id", SOTTO_TASK_ID_SIZE, arena, err));
    j = sotto_alloc(sizeof *j);
    if (!j)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a collection");
    sotto_arena_init(&j->arena, MEMORY);
    (void)pthread_mutex_lock(&all.lock);
    t = find_task(id);
    if (t)
        status = read_query(&j->query, t, in, err);
    if (status == SOTTO_OK)
        status = start(j, t, err);
    if (status == SOTTO_OK)
        memcpy(handle, j->handle, sizeof handle);
    (void)pthread_mutex_unlock(&all.lock);
    if (status != SOTTO_OK) {
        sotto_release(j, sizeof *j);
        return status;
    }
    return json_object_set_new(out, "handle", json_string(handle)) == 0
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_NO_MEMORY, "an answer");
}

/* ---- collection_poll ---------------------------------------------------------------------------------------- */

/* Decimal, which no conversion of C's prints for 128 bits. */
static json_t *decimal(sotto_uint128 value)
{
    char text[40];
    size_t at = sizeof text - 1;

    text[at] = 0;
    do {
        uint64_t rest = 0;
        uint32_t words[4] = {(uint32_t)(value.high >> 32), (uint32_t)value.high,
                             (uint32_t)(value.low >> 32), (uint32_t)value.low};

        for (unsigned i = 0; i < 4; i++) {
            uint64_t part = rest << 32 | words[i];

            words[i] = (uint32_t)(part / 10);
            rest = part % 10;
        }
        value = (sotto_uint128){.high = (uint64_t)words[0] << 32 | words[1],
                                .low = (uint64_t)words[2] << 32 | words[3]};
        text[--at] = (char)('0' + rest);
    } while (value.high || value.low);
    return json_string(text + at);
}

static json_t *sums_of(const job *j)
{
    sotto_prio3_type type = j->of->dap.vdaf.type;
    json_t *list;

    if (type == SOTTO_PRIO3_COUNT || type == SOTTO_PRIO3_SUM)
        return decimal(j->result.sums[0]);
    list = json_array();
    for (size_t i = 0; i < j->result.sum_count; i++)
        (void)json_array_append_new(list, decimal(j->result.sums[i]));
    return list;
}

static sotto_status tell(json_t *out, const job *j, sotto_err *err)
{
    const char *word = j->at == COMPLETE ? "complete" : "in progress";
    int failed;

    if (j->at == FAILED)
        return sotto_fail(err, SOTTO_DENIED, "%s", j->reason);
    failed = json_object_set_new(out, "status", json_string(word));
    if (j->at == COMPLETE) {
        const sotto_collection *r = &j->result;

        failed |= json_object_set_new(out, "report_count", json_integer((json_int_t)r->reports));
        failed |= json_object_set_new(out, "interval_start", json_integer((json_int_t)r->from));
        failed |= json_object_set_new(out, "interval_duration",
                                      json_integer((json_int_t)(r->until - r->from)));
        failed |= json_object_set_new(out, "result", sums_of(j));
    }
    return failed ? sotto_fail(err, SOTTO_NO_MEMORY, "an answer") : SOTTO_OK;
}

static sotto_status collection_poll(const json_t *in, json_t *out, sotto_arena *arena,
                                    sotto_err *err)
{
    const char *handle;
    const job *found = NULL;
    sotto_status status;

    (void)arena;
    SOTTO_TRY(interop_text(&handle, in, "handle", err));
    (void)pthread_mutex_lock(&all.lock);
    for (size_t i = 0; i < all.job_count; i++)
        if (strcmp(all.jobs[i]->handle, handle) == 0)
            found = all.jobs[i];
    if (found)
        status = tell(out, found, err);
    else
        status = sotto_fail(err, SOTTO_MISSING, "handle: there is no such collection");
    (void)pthread_mutex_unlock(&all.lock);
    return status;
}

/* ---- the role ------------------------------------------------------------------------------------------------ */

static void forget_all(void)
{
    for (size_t i = 0; i < all.job_count; i++) {
        sotto_arena_clear(&all.jobs[i]->arena);
        sotto_release(all.jobs[i], sizeof *all.jobs[i]);
    }
    for (size_t i = 0; i < all.task_count; i++)
        free_task(all.tasks[i]);
}

sotto_status interop_collector(const interop_options *options, sotto_err *err)
{
    static const interop_command commands[] = {{"add_task", add_task},
                                               {"collection_start", collection_start},
                                               {"collection_poll", collection_poll},
                                               {NULL, NULL}};
    sotto_pool *pool = NULL;
    sotto_pool_options p = {.threads = COMMAND_THREADS, .queue = 1024, .arena_ceiling = MEMORY};
    sotto_status status = sotto_pool_open(&pool, &p, err);

    all.janus = options->profile == SOTTO_DAP_JANUS;
    p.threads = THREADS;
    if (status == SOTTO_OK)
        status = sotto_pool_open(&all.collections, &p, err);
    if (status == SOTTO_OK)
        status = interop_serve(commands, pool, options->listen, err);
    sotto_pool_close(pool);
    sotto_pool_close(all.collections);
    forget_all();
    return status;
}
