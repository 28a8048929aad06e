#include "support/repair.h"

#include "serve/tasks/answer.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_JOBS = 4 };

sotto_http_response sotto_test_ask_repair(sotto_test *t, sotto_test_service *s, sotto_bytes request,
                                          const char *token)
{
    return sotto_test_post(t, s, false, "repairs", SOTTO_DAP_REPAIR_REQ, token, request);
}

sotto_bytes sotto_test_repair_of(sotto_test *t, sotto_test_service *s, uint64_t buckets,
                                 const sotto_dap_repair_job *jobs, size_t count)
{
    sotto_dap_batch_selector selector = {.mode = SOTTO_DAP_TIME_INTERVAL,
                                         .interval = {s->bucket, buckets}};
    size_t cap = count * SOTTO_DAP_REPAIR_JOB_SIZE + 64;
    sotto_buf out = sotto_test_buf(t, cap);

    CHECK_OK(t, sotto_dap_repair_req_encode(&out, &selector, jobs, count, &t->err));
    return sotto_buf_bytes(&out);
}

static int by_id(const void *a, const void *b)
{
    return memcmp(a, b, SOTTO_RESOURCE_ID_SIZE);
}

sotto_bytes sotto_test_repair_request(sotto_test *t, sotto_test_service *s, uint64_t buckets,
                                      const sotto_test_job *jobs, size_t count)
{
    sotto_dap_repair_job list[MOST_JOBS];

    CHECK(t, count <= MOST_JOBS);
    for (size_t i = 0; i < count; i++) {
        sotto_resource_id(list[i].id, "aggregation job",
                          sotto_tasks_find(s->helper->tasks, s->task.id), jobs[i].request);
        list[i].report_count = jobs[i].count;
        memcpy(list[i].checksum, jobs[i].checksum, sizeof list[i].checksum);
    }
    qsort(list, count, sizeof list[0], by_id);
    return sotto_test_repair_of(t, s, buckets, list, count);
}
