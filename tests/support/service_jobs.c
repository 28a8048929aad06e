/* What a test sends to services in the place of a leader or a collector: jobs, and requests for shares and answers. */
#define _POSIX_C_SOURCE 200809L
#include "support/service.h"

#include "aggregate/prio/prio.h"
#include "dap/collect.h"
#include "dap/job.h"
#include "dap/report.h"
#include "transport/http_problem.h"

#include <string.h>
#include <time.h>

/* ---- a leader of the test's own ----------------------------------------------------------------------------- */

void sotto_test_verify_key(sotto_test *t, const sotto_test_service *s,
                           uint8_t key[SOTTO_PRIO3_VERIFY_KEY_SIZE])
{
    CHECK_OK(t, sotto_dap_verify_key_derive(key, sotto_bytes_of(s->pairing.verify_seed, 32),
                                            s->task.id, SOTTO_DAP_SALT_DAP, &t->err));
}

static sotto_prio3_verifier verifier_of(sotto_test *t, sotto_test_service *s)
{
    sotto_prio3_verifier v = {.aggregator = 0};
    uint8_t *context = sotto_test_buf(t, SOTTO_DAP_CONTEXT_SIZE).data;

    sotto_dap_context(context, s->task.id);
    v.context = sotto_bytes_of(context, SOTTO_DAP_CONTEXT_SIZE);
    sotto_test_verify_key(t, s, v.verify_key);
    return v;
}

sotto_test_job sotto_test_job_of(sotto_test *t, sotto_test_service *s, const sotto_bytes *reports,
                                 size_t count, const uint8_t *batch_id)
{
    sotto_prio3_verifier verifier = verifier_of(t, s);
    sotto_dap_job_init_req head = {.has_batch_id = batch_id != NULL};
    sotto_buf out = sotto_test_buf(t, count * (s->task.report_bytes + 1024) + 256);
    sotto_test_job job = {.count = count};
    sotto_dap_list list;

    if (batch_id)
        memcpy(head.batch_id, batch_id, sizeof head.batch_id);
    CHECK_OK(t, sotto_dap_job_init_req_begin(&list, &out, &head, SOTTO_DAP_DRAFT18, &t->err));
    for (size_t i = 0; i < count; i++) {
        sotto_dap_report r;
        sotto_prio3_report input = {0};
        sotto_prio3_verification state;
        sotto_bytes outbound;

        CHECK_OK(t, sotto_dap_report_decode(&r, reports[i], &t->err));
        memcpy(input.nonce, r.metadata.report_id, sizeof input.nonce);
        input.public_share = r.public_share;
        input.input_share = sotto_test_opened_share(t, s, true, &r);
        CHECK_OK(t, sotto_ping_pong_leader_init(&s->vdaf, &state, &outbound, &verifier, &input, 1,
                                                &t->arena, &t->err));
        CHECK_OK(t, sotto_dap_job_init_req_add(
                        &list,
                        &(sotto_dap_verify_init){r.metadata, r.public_share, r.helper, outbound},
                        &t->err));
        sotto_dap_checksum_add(job.checksum, r.metadata.report_id);
    }
    CHECK_OK(t, sotto_dap_list_end(&list, &t->err));
    job.request = sotto_buf_bytes(&out);
    return job;
}

sotto_http_response sotto_test_send_job(sotto_test *t, sotto_test_service *s, sotto_bytes request)
{
    return sotto_test_post(t, s, false, "aggregation_jobs", SOTTO_DAP_AGGREGATION_JOB_INIT_REQ,
                           s->pairing.leader_token, request);
}

void sotto_test_job_errors(sotto_test *t, sotto_bytes answer, uint8_t *errors, size_t count)
{
    sotto_dap_job_resp resp;
    sotto_dap_verify_resp item;
    sotto_reader in;

    CHECK_OK(t, sotto_dap_job_resp_decode(&resp, answer, SOTTO_DAP_DRAFT18, &t->err));
    CHECK_EQUAL(t, count, resp.count);
    in = sotto_reader_over(resp.verify_resps);
    for (size_t i = 0; sotto_dap_job_resp_next(&in, &item); i++)
        errors[i] = item.type == SOTTO_DAP_VERIFY_REJECT ? item.error : 0;
}

sotto_http_response sotto_test_ask_share(sotto_test *t, sotto_test_service *s, uint64_t buckets,
                                         uint64_t reports,
                                         const uint8_t checksum[SOTTO_CHECKSUM_SIZE])
{
    sotto_dap_collection_req collection = {
        .query = {.mode = SOTTO_DAP_TIME_INTERVAL, .interval = {s->bucket, buckets}}};
    sotto_buf req = sotto_test_buf(t, 256), out = sotto_test_buf(t, 512);
    sotto_dap_aggregate_share_req ask = {
        .selector = {.mode = SOTTO_DAP_TIME_INTERVAL, .interval = {s->bucket, buckets}},
        .report_count = reports};

    CHECK_OK(t, sotto_dap_collection_req_encode(&req, &collection, &t->err));
    ask.collection_req = sotto_buf_bytes(&req);
    memcpy(ask.checksum, checksum, sizeof ask.checksum);
    CHECK_OK(t, sotto_dap_aggregate_share_req_encode(&out, &ask, &t->err));
    return sotto_test_post(t, s, false, "aggregate_shares", SOTTO_DAP_AGGREGATE_SHARE_REQ,
                           s->pairing.leader_token, sotto_buf_bytes(&out));
}

bool sotto_test_says(const sotto_http_response *response, const char *text)
{
    size_t len = strlen(text);

    for (size_t i = 0; i + len <= response->body.len; i++)
        if (memcmp(response->body.data + i, text, len) == 0)
            return true;
    return false;
}

bool sotto_test_is_problem(const sotto_http_response *response, sotto_dap_problem problem)
{
    char type[128];

    return sotto_http_problem_type(type, sizeof type, response->body, NULL) == SOTTO_OK &&
           sotto_dap_problem_of(type) == problem;
}

/* ---- collecting ------------------------------------------------------------------------------------------------- */

static sotto_bytes open_share(sotto_test *t, sotto_test_service *s, sotto_dap_role role,
                              const sotto_hpke_ciphertext *sealed, sotto_bytes req)
{
    uint8_t text[SOTTO_DAP_INFO_MAX];
    sotto_buf aad = sotto_test_buf(t, 4096), out = sotto_test_buf(t, sealed->payload.len);

    CHECK_OK(t, sotto_dap_aggregate_share_aad_encode(&aad, s->task.id, s->task.configuration, req,
                                                     &t->err));
    CHECK_OK(t, sotto_hpke_unseal(&out, &s->collector,
                                  (sotto_hpke_suite){SOTTO_HPKE_KEM_X25519, SOTTO_HPKE_KDF_SHA256,
                                                     SOTTO_HPKE_AEAD_AES128_GCM},
                                  sotto_aggregate_share_info(text, role), sealed->enc,
                                  sotto_buf_bytes(&aad), sealed->payload, &t->err));
    return sotto_buf_bytes(&out);
}

static void unshard(sotto_test *t, sotto_test_service *s, sotto_bytes req, sotto_bytes wire,
                    uint64_t *reports, uint64_t *counts)
{
    sotto_uint128 *result =
        (sotto_uint128 *)(void *)sotto_test_buf(t, s->task.sizes.outputs * sizeof *result).data;
    sotto_dap_collection_resp resp;
    sotto_bytes shares[2];

    CHECK_OK(t, sotto_dap_collection_resp_decode(&resp, wire, &t->err));
    shares[0] = open_share(t, s, SOTTO_DAP_LEADER, &resp.leader, req);
    shares[1] = open_share(t, s, SOTTO_DAP_HELPER, &resp.helper, req);
    const sotto_method *method = sotto_method_of(s->task.vdaf.type);
    if (method != &sotto_method_prio)
        CHECK_OK(t, method->two_server->open(s->opened, result, shares, resp.report_count,
                                             s->task.noise_sigma, &t->err));
    else
        CHECK_OK(t, s->task.noise_sigma > 0 ? sotto_prio3_unshard_signed(&s->vdaf, result, shares,
                                                                         resp.report_count, &t->err)
                                            : sotto_prio3_unshard(&s->vdaf, result, shares,
                                                                  resp.report_count, &t->err));
    *reports = resp.report_count;
    for (size_t i = 0; i < s->task.bins; i++)
        counts[i] = result[i].low;
}

unsigned sotto_test_patience(void)
{
    return sotto_test_rule_is_off() ? 200 : 1200;
}

unsigned sotto_test_collect(sotto_test *t, sotto_test_service *s, uint64_t buckets,
                            uint64_t *reports, uint64_t *counts)
{
    sotto_dap_collection_req ask = {.query = {.mode = (sotto_dap_batch_mode)s->task.batch_mode,
                                              .interval = {s->bucket, buckets}}};
    sotto_buf req = sotto_test_buf(t, 256);
    sotto_http_response response = {0};

    CHECK_OK(t, sotto_dap_collection_req_encode(&req, &ask, &t->err));
    for (unsigned i = 0; i < s->patience; i++) {
        struct timespec moment = {0, 50000000};

        response = sotto_test_post(t, s, true, "collection_jobs", SOTTO_DAP_COLLECTION_JOB_REQ,
                                   s->pairing.collector_token, sotto_buf_bytes(&req));
        if (response.status / 100 != 2)
            return response.status;
        s->answer = response.body;
        if (response.body.len > 0) {
            unshard(t, s, sotto_buf_bytes(&req), response.body, reports, counts);
            return 200;
        }
        (void)nanosleep(&moment, NULL);
    }
    return 202;
}
