/* What both servers refused of a batch: shown beside its result. A server that does not tell does no harm. Both are asked at the
 * same time. */
#include "collect/collect.h"

#include "base/arena.h"
#include "dap/rejections.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static void read_from(sotto_collector *collector, sotto_rejections *out,
                      const sotto_collect_peer *peer, const uint8_t id[SOTTO_RESOURCE_ID_SIZE],
                      uint64_t deadline_ns, sotto_arena *arena)
{
    char task[SOTTO_DAP_ID_TEXT_MAX], item[SOTTO_DAP_ID_TEXT_MAX];
    char url[SOTTO_COLLECTION_URL + 160];
    sotto_http_call call = {
        .method = SOTTO_HTTP_GET, .url = url, .max_response = SOTTO_DAP_REJECTIONS_MAX + 4096};
    sotto_http_response response;

    sotto_dap_id_encode(task, sotto_bytes_of(collector->options.task->id, SOTTO_TASK_ID_SIZE));
    sotto_dap_id_encode(item, sotto_bytes_of(id, SOTTO_RESOURCE_ID_SIZE));
    (void)snprintf(url, sizeof url, "%s/tasks/%s/rejections/%s", peer->url, task, item);
    if (sotto_collect_call(collector, &response, peer, &call, deadline_ns, arena, NULL) !=
        SOTTO_OK) {
        out->why = "it could not be asked";
        return;
    }
    if (response.status == 404 || response.status == 405) {
        out->why = "it does not tell: not all servers do";
        return;
    }
    if (response.status == 401 || response.status == 403) {
        out->why = "it does not take this token";
        return;
    }
    if (response.status != 200 || sotto_dap_rejections_decode(out, response.body, NULL) != SOTTO_OK)
        out->why = "its answer was none";
}

/* Whether the job lives where ours do, and its id. */
static bool job_id(uint8_t id[SOTTO_RESOURCE_ID_SIZE], const sotto_collector *collector,
                   const char *job)
{
    const sotto_collect_peer *leader = &collector->leader;
    size_t base = strlen(leader->url);
    sotto_dap_path path;

    if (strncmp(job, leader->url, base) != 0 ||
        sotto_dap_path_decode(&path, sotto_bytes_of(job + base, strlen(job + base)), NULL) !=
            SOTTO_OK ||
        path.resource != SOTTO_DAP_COLLECTION_JOBS || !path.has_id ||
        memcmp(path.task_id, collector->options.task->id, sizeof path.task_id) != 0)
        return false;
    memcpy(id, path.id, sizeof path.id);
    return true;
}

static sotto_status share_id(uint8_t id[SOTTO_RESOURCE_ID_SIZE], sotto_bytes answer,
                             sotto_arena *arena)
{
    sotto_dap_collection_resp resp;
    sotto_buf share;

    SOTTO_TRY(sotto_buf_take(&share, arena, answer.len, NULL));
    SOTTO_TRY(sotto_dap_collection_resp_decode(&resp, answer, NULL));
    SOTTO_TRY(sotto_dap_aggregate_share_encode(&share, &resp.helper, NULL));
    sotto_dap_rejections_id(id, sotto_buf_bytes(&share));
    return SOTTO_OK;
}

/* The leader is asked on a thread of its own, with memory of its own. */
typedef struct asking {
    sotto_collector *collector;
    sotto_collection *out;
    uint64_t deadline_ns;
} asking;

static void *ask_leader(void *context)
{
    enum { MEMORY = 1 << 20 };
    const asking *a = context;
    uint8_t id[SOTTO_RESOURCE_ID_SIZE];
    sotto_arena arena;

    if (!job_id(id, a->collector, a->out->job)) {
        a->out->leader.why = "it does not tell: its jobs live elsewhere than ours";
        return NULL;
    }
    sotto_arena_init(&arena, MEMORY);
    read_from(a->collector, &a->out->leader, &a->collector->leader, id, a->deadline_ns, &arena);
    sotto_arena_clear(&arena);
    return NULL;
}

static void ask_helper(const asking *a, sotto_bytes answer, sotto_arena *arena)
{
    uint8_t id[SOTTO_RESOURCE_ID_SIZE];

    if (!a->collector->options.rejection_token)
        a->out->helper.why = "it was not asked: no token for it";
    else if (share_id(id, answer, arena) == SOTTO_OK)
        read_from(a->collector, &a->out->helper, &a->collector->helper, id, a->deadline_ns, arena);
    else
        a->out->helper.why = "it could not be asked";
}

void sotto_collect_rejections(sotto_collector *collector, sotto_collection *out, sotto_bytes answer,
                              uint64_t deadline_ns, sotto_arena *arena)
{
    asking a = {collector, out, deadline_ns};
    pthread_t leader;
    const bool aside = pthread_create(&leader, NULL, ask_leader, &a) == 0;

    ask_helper(&a, answer, arena);
    if (aside)
        (void)pthread_join(leader, NULL);
    else
        (void)ask_leader(&a);
}
