/* dap/repair.h - what leader and helper say to each other when they disagree about a batch. Private use: DAP has
 * no such message, and a helper of another make answers 404.
 *
 *     POST {helper}/tasks/{task}/repairs        RepairReq -> RepairResp
 *
 *     struct { JobID id; uint64 report_count; opaque checksum[32]; } RepairJob;
 *     struct { BatchSelector selector; RepairJob jobs<0..2^32-1>; } RepairReq;       the leader's jobs in this batch
 *     struct { JobID dropped<0..2^32-1>; } RepairResp;                               those on which the two differ
 *
 * A job's id is the hash of its request that the helper makes resource ids of, whatever it is called in URLs. Both lists
 * ascend strictly, so that the same lists have the same bytes.
 *
 * Memory, threads, statuses: as dap/dap.h says.
 */
#ifndef SOTTO_DAP_REPAIR_H
#define SOTTO_DAP_REPAIR_H

#include "dap/dap.h"

enum {
    SOTTO_DAP_REPAIR_JOBS = 65536, /* in a list, at most; a batch of more is not repaired */
    SOTTO_DAP_REPAIR_JOB_SIZE = SOTTO_RESOURCE_ID_SIZE + 8 + SOTTO_CHECKSUM_SIZE,
    SOTTO_DAP_REPAIR_REQ_MAX = SOTTO_DAP_REPAIR_JOBS * SOTTO_DAP_REPAIR_JOB_SIZE + 64,
    SOTTO_DAP_REPAIR_RESP_MAX = 2 * SOTTO_DAP_REPAIR_JOBS * SOTTO_RESOURCE_ID_SIZE + 4,
};

/* What one aggregation job added to the batch. */
typedef struct sotto_dap_repair_job {
    uint8_t id[SOTTO_RESOURCE_ID_SIZE];
    uint64_t report_count;
    uint8_t checksum[SOTTO_CHECKSUM_SIZE];
} sotto_dap_repair_job;

typedef struct sotto_dap_repair_req {
    sotto_dap_batch_selector selector;
    sotto_bytes jobs; /* borrowed; walk it with sotto_dap_repair_req_next */
    size_t count;
} sotto_dap_repair_req;

SOTTO_MUST_USE sotto_status sotto_dap_repair_req_decode(sotto_dap_repair_req *out, sotto_bytes wire,
                                                        sotto_err *err);
/* The next job of the list; false at its end. */
bool sotto_dap_repair_req_next(sotto_reader *in, sotto_dap_repair_job *out);
SOTTO_MUST_USE sotto_status sotto_dap_repair_req_encode(sotto_buf *out,
                                                        const sotto_dap_batch_selector *selector,
                                                        const sotto_dap_repair_job *jobs,
                                                        size_t count, sotto_err *err);

typedef struct sotto_dap_repair_resp {
    sotto_bytes dropped; /* borrowed: `count` ids, one behind the other */
    size_t count;
} sotto_dap_repair_resp;

SOTTO_MUST_USE sotto_status sotto_dap_repair_resp_decode(sotto_dap_repair_resp *out,
                                                         sotto_bytes wire, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_dap_repair_resp_encode(sotto_buf *out,
                                                         const sotto_dap_repair_resp *resp,
                                                         sotto_err *err);

#endif
