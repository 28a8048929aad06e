/* dap/collect.h - the messages of a collection, between collector, leader and helper.
 *
 * Memory, threads, statuses: as dap/dap.h says.
 */
#ifndef SOTTO_DAP_COLLECT_H
#define SOTTO_DAP_COLLECT_H

#include "dap/dap.h"

/* ---- collection-job-req -------------------------------------------------------------------------- */

/* DAP has no collection job extensions yet, so a request that carries one is SOTTO_MISSING; SOTTO_DENIED if they are out
 * of order. Keep its exact bytes: they are authenticated with both aggregate shares. */
typedef struct sotto_dap_collection_req {
    sotto_dap_query query;
    sotto_bytes agg_param; /* borrowed; empty for Prio3 */
} sotto_dap_collection_req;

SOTTO_MUST_USE sotto_status sotto_dap_collection_req_decode(sotto_dap_collection_req *out,
                                                            sotto_bytes wire, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_dap_collection_req_encode(sotto_buf *out,
                                                            const sotto_dap_collection_req *req,
                                                            sotto_err *err);

/* ---- collection-job-resp ------------------------------------------------------------------------- */

typedef struct sotto_dap_collection_resp {
    uint64_t report_count;
    sotto_dap_interval interval; /* the smallest that holds all reports */
    sotto_hpke_ciphertext leader;
    sotto_hpke_ciphertext helper;
} sotto_dap_collection_resp;

SOTTO_MUST_USE sotto_status sotto_dap_collection_resp_decode(sotto_dap_collection_resp *out,
                                                             sotto_bytes wire, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_dap_collection_resp_encode(sotto_buf *out,
                                                             const sotto_dap_collection_resp *resp,
                                                             sotto_err *err);

/* ---- aggregate-share-req ------------------------------------------------------------------------- */

typedef struct sotto_dap_aggregate_share_req {
    sotto_bytes collection_req;          /* borrowed: the collector's exact bytes       */
    sotto_dap_collection_req collection; /* decoding: what they say            */
    sotto_dap_batch_selector selector;
    uint64_t report_count;
    uint8_t checksum[SOTTO_CHECKSUM_SIZE];
} sotto_dap_aggregate_share_req;

SOTTO_MUST_USE sotto_status sotto_dap_aggregate_share_req_decode(sotto_dap_aggregate_share_req *out,
                                                                 sotto_bytes wire, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_dap_aggregate_share_req_encode(
    sotto_buf *out, const sotto_dap_aggregate_share_req *req, sotto_err *err);

/* ---- aggregate-share ----------------------------------------------------------------------------- */

/* One HpkeCiphertext: sotto_hpke_ciphertext_encode and _decode by the message's name. */
SOTTO_MUST_USE sotto_status sotto_dap_aggregate_share_decode(sotto_hpke_ciphertext *out,
                                                             sotto_bytes wire, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_dap_aggregate_share_encode(sotto_buf *out,
                                                             const sotto_hpke_ciphertext *share,
                                                             sotto_err *err);

/* What an aggregate share is sealed with, beside sotto_aggregate_share_info.
 *   configuration   the encoded TaskConfiguration, its exact bytes
 *   collection_req  the encoded CollectionJobReq, its exact bytes */
SOTTO_MUST_USE sotto_status sotto_dap_aggregate_share_aad_encode(
    sotto_buf *out, const uint8_t task_id[SOTTO_TASK_ID_SIZE], sotto_bytes configuration,
    sotto_bytes collection_req, sotto_err *err);

#endif
