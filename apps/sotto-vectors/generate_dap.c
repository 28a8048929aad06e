/* Whole DAP tasks: types and suites that the published transcripts leave out, each with a report that is refused. */
#include "base/arena.h"
#include "dap_task.h"
#include "generate.h"

#include <stdio.h>
#include <string.h>

enum { REPORTS = 5, MOST_VALUES = 16, START = 480000 };

typedef struct plan {
    const char *name;
    sotto_prio3_config vdaf;
    sotto_dap_batch_mode mode;
    uint16_t aead;
    uint64_t values; /* of a measurement; 1: a number, else a list */
    uint64_t most;   /* a value that is drawn                      */
    int bad;         /* the report that is tampered with; -1: none */
} plan;

typedef struct making {
    sotto_gen *gen;
    const plan *plan;
    json_t *root;
    sotto_dap_transcript t;
    sotto_bytes batch_id;
} making;

static void put_buf(making *m, const char *key, const sotto_buf *buf)
{
    sotto_gen_put_hex(m->gen, m->root, key, sotto_buf_bytes(buf));
}

/* ---- the task -------------------------------------------------------------------------------- */

static sotto_status make_task(making *m, sotto_err *err)
{
    static const char leader[] = "https://leader.example.net/dap/",
                      helper[] = "https://helper.example.org/";
    sotto_dap_transcript *t = &m->t;
    uint8_t *ids = sotto_arena_take(t->arena, SOTTO_TASK_ID_SIZE + SOTTO_DAP_CONTEXT_SIZE);
    sotto_buf out;

    if (ids == NULL)
        return sotto_fail(err, SOTTO_NO_MEMORY, "task: no memory");
    t->task = (sotto_task_configuration){
        .leader_url = sotto_bytes_of(leader, sizeof leader - 1),
        .helper_url = sotto_bytes_of(helper, sizeof helper - 1),
        .time_precision = 3600,
        .min_batch_size = 2,
        .batch_mode = m->plan->mode,
        .vdaf = m->plan->vdaf,
        .has_interval = true,
        .interval_start = START,
        .interval_duration = 24,
    };
    t->task.vdaf.shares = 2;
    SOTTO_TRY(sotto_gen_bytes(m->gen, &t->task.task_info, 16, err));
    SOTTO_TRY(sotto_gen_bytes(m->gen, &t->verify_key, SOTTO_DAP_VERIFY_KEY_SIZE, err));
    SOTTO_TRY(sotto_gen_bytes(m->gen, &m->batch_id, SOTTO_BATCH_ID_SIZE, err));
    SOTTO_TRY(sotto_buf_take(&out, t->arena, 512, err));
    SOTTO_TRY(sotto_task_configuration_encode(&out, &t->task, err));
    t->configuration = sotto_buf_bytes(&out);
    sotto_task_id_derive(ids, t->configuration);
    sotto_dap_context(ids + SOTTO_TASK_ID_SIZE, ids);
    t->task_id = sotto_bytes_of(ids, SOTTO_TASK_ID_SIZE);
    t->context = sotto_bytes_of(ids + SOTTO_TASK_ID_SIZE, SOTTO_DAP_CONTEXT_SIZE);
    sotto_gen_put(m->gen, m->root, "name", json_string(m->plan->name));
    sotto_gen_put(m->gen, m->root, "dap_version", json_string(SOTTO_DAP_TAG));
    sotto_gen_put_hex(m->gen, m->root, "task_configuration", t->configuration);
    sotto_gen_put_hex(m->gen, m->root, "task_id", t->task_id);
    sotto_gen_put_hex(m->gen, m->root, "vdaf_context", t->context);
    sotto_gen_put_hex(m->gen, m->root, "verify_key", t->verify_key);
    sotto_gen_put_number(m->gen, m->root, "verification_key_id", 0);
    sotto_gen_put(m->gen, m->root, "batch_id",
                  m->plan->mode == SOTTO_DAP_LEADER_SELECTED ? sotto_gen_hex(m->gen, m->batch_id)
                                                             : json_null());
    return sotto_prio3_init(&t->vdaf, t->arena, &t->task.vdaf, err);
}

static sotto_status make_holders(making *m, sotto_err *err)
{
    static const char *const names[] = {"leader", "helper", "collector"};
    json_t *all = json_object();
    sotto_buf out;

    sotto_gen_put(m->gen, m->root, "hpke", all);
    for (uint8_t i = 0; i < 3; i++) {
        sotto_dap_holder *holder = &m->t.holders[i];
        json_t *entry = json_object();
        sotto_bytes secret;

        sotto_gen_put(m->gen, all, names[i], entry);
        SOTTO_TRY(sotto_gen_bytes(m->gen, &secret, 32, err));
        SOTTO_TRY(sotto_hpke_key_decode(&holder->key, SOTTO_HPKE_KEM_X25519, secret, err));
        holder->config = sotto_hpke_config_of(&holder->key, (uint8_t)(7 + 50 * i),
                                              SOTTO_HPKE_KDF_SHA256, m->plan->aead);
        SOTTO_TRY(sotto_buf_take(&out, m->t.arena, 256, err));
        SOTTO_TRY(sotto_hpke_config_encode(&out, &holder->config, err));
        sotto_gen_put_hex(m->gen, entry, "sk", secret);
        sotto_gen_put_hex(m->gen, entry, "pk", holder->config.public_key);
        sotto_gen_put_hex(m->gen, entry, "hpke_config", sotto_buf_bytes(&out));
    }
    out.len = 0;
    SOTTO_TRY(sotto_hpke_config_list_encode(&out, &m->t.holders[0].config, 1, err));
    put_buf(m, "leader_hpke_config_list", &out);
    return SOTTO_OK;
}

/* ---- reports --------------------------------------------------------------------------------- */

static json_t *draw_measurement(making *m)
{
    json_t *list = json_array();

    if (m->plan->values == 1) {
        json_decref(list);
        return sotto_gen_integer((sotto_uint128){.low = sotto_gen_number(m->gen, m->plan->most)});
    }
    for (uint64_t i = 0; i < m->plan->values; i++)
        sotto_gen_add(
            m->gen, list,
            sotto_gen_integer((sotto_uint128){.low = sotto_gen_number(m->gen, m->plan->most)}));
    return list;
}

static sotto_status seal_report(making *m, sotto_dap_transcript_report *report, sotto_err *err)
{
    const sotto_report_draft draft = sotto_dap_transcript_draft(&m->t, report);
    sotto_buf aad, wire;

    SOTTO_TRY(sotto_buf_take(&aad, m->t.arena, 1024, err));
    SOTTO_TRY(sotto_report_aad_encode(&aad, &draft, err));
    report->aad = sotto_buf_bytes(&aad);
    report->report.public_share = report->public_share;
    SOTTO_TRY(sotto_dap_transcript_seal_share(&m->t, &report->report.leader, report, 0, err));
    SOTTO_TRY(sotto_dap_transcript_seal_share(&m->t, &report->report.helper, report, 1, err));
    SOTTO_TRY(sotto_buf_take(&wire, m->t.arena, 1 << 16, err));
    SOTTO_TRY(sotto_dap_report_encode(&wire, &report->report, err));
    report->wire = sotto_buf_bytes(&wire);
    return SOTTO_OK;
}

static sotto_status make_report(making *m, size_t index, json_t *item, sotto_err *err)
{
    sotto_dap_transcript_report *report = &m->t.reports[index];
    sotto_report_draft draft;
    sotto_bytes id;

    SOTTO_TRY(sotto_gen_bytes(m->gen, &id, SOTTO_REPORT_ID_SIZE, err));
    memcpy(report->report.metadata.report_id, id.data, id.len);
    report->time = report->report.metadata.time = START + sotto_gen_number(m->gen, 5);
    report->tampered = (int)index == m->plan->bad;
    SOTTO_TRY(sotto_gen_bytes(m->gen, &report->rand, m->t.vdaf.sizes.rand, err));
    SOTTO_TRY(sotto_gen_bytes(m->gen, &report->ephemeral[0], 32, err));
    SOTTO_TRY(sotto_gen_bytes(m->gen, &report->ephemeral[1], 32, err));
    sotto_gen_put(m->gen, item, "measurement", draw_measurement(m));
    SOTTO_TRY(sotto_dap_transcript_shard(&m->t, index, &draft, err));
    report->public_share = draft.public_share;
    report->input_share[0] = draft.shares[0].payload;
    report->input_share[1] = draft.shares[1].payload;
    SOTTO_TRY(seal_report(m, report, err));
    sotto_gen_put_hex(m->gen, item, "report_id", id);
    sotto_gen_put_number(m->gen, item, "time", report->time);
    sotto_gen_put_hex(m->gen, item, "rand", report->rand);
    sotto_gen_put_hex(m->gen, item, "leader_hpke_ephemeral_sk", report->ephemeral[0]);
    sotto_gen_put_hex(m->gen, item, "helper_hpke_ephemeral_sk", report->ephemeral[1]);
    sotto_gen_put(m->gen, item, "tampered_helper_input_share", json_boolean(report->tampered));
    sotto_gen_put_hex(m->gen, item, "public_share", report->public_share);
    sotto_gen_put_hex(m->gen, item, "leader_input_share", report->input_share[0]);
    sotto_gen_put_hex(m->gen, item, "helper_input_share", report->input_share[1]);
    sotto_gen_put_hex(m->gen, item, "input_share_aad", report->aad);
    sotto_gen_put_hex(m->gen, item, "report", report->wire);
    return SOTTO_OK;
}

static sotto_status make_reports(making *m, sotto_err *err)
{
    json_t *list = json_array();
    sotto_buf upload;

    sotto_gen_put(m->gen, m->root, "reports", list);
    m->t.count = REPORTS;
    m->t.reports = sotto_arena_take_array(m->t.arena, REPORTS, sizeof *m->t.reports);
    if (m->t.reports == NULL)
        return sotto_fail(err, SOTTO_NO_MEMORY, "reports: no memory");
    SOTTO_TRY(sotto_buf_take(&upload, m->t.arena, REPORTS << 16, err));
    for (size_t i = 0; i < REPORTS; i++) {
        json_t *item = json_object();

        sotto_gen_add(m->gen, list, item);
        SOTTO_TRY(make_report(m, i, item, err));
        SOTTO_TRY(sotto_dap_report_encode(&upload, &m->t.reports[i].report, err));
    }
    put_buf(m, "upload_request", &upload);
    return SOTTO_OK;
}

/* ---- the job --------------------------------------------------------------------------------- */

static sotto_status put_job(making *m, sotto_err *err)
{
    sotto_dap_job_init_req req = {.has_batch_id = m->plan->mode == SOTTO_DAP_LEADER_SELECTED};
    sotto_dap_list list, answers;
    sotto_buf out, answer;

    memcpy(req.batch_id, m->batch_id.data, sizeof req.batch_id);
    SOTTO_TRY(sotto_buf_take(&out, m->t.arena, REPORTS << 16, err));
    SOTTO_TRY(sotto_buf_take(&answer, m->t.arena, 1 << 12, err));
    SOTTO_TRY(sotto_dap_job_init_req_begin(&list, &out, &req, SOTTO_DAP_DRAFT18, err));
    SOTTO_TRY(sotto_dap_job_resp_begin(&answers, &answer, SOTTO_DAP_DRAFT18, err));
    for (size_t i = 0; i < REPORTS; i++) {
        const sotto_dap_transcript_report *r = &m->t.reports[i];
        const sotto_dap_verify_init init = {r->report.metadata, r->public_share, r->report.helper,
                                            r->ping_pong[0]};
        sotto_dap_verify_resp resp = {
            .type = r->accepted ? SOTTO_DAP_VERIFY_CONTINUE : SOTTO_DAP_VERIFY_REJECT,
            .payload = r->ping_pong[1],
            .error = SOTTO_REPORT_VDAF_VERIFY_ERROR,
        };

        memcpy(resp.report_id, sotto_dap_transcript_id(r), sizeof resp.report_id);
        SOTTO_TRY(sotto_dap_job_init_req_add(&list, &init, err));
        SOTTO_TRY(sotto_dap_job_resp_add(&answers, &resp, err));
    }
    SOTTO_TRY(sotto_dap_list_end(&list, err));
    SOTTO_TRY(sotto_dap_list_end(&answers, err));
    put_buf(m, "aggregation_job_init_req", &out);
    put_buf(m, "aggregation_job_resp", &answer);
    return SOTTO_OK;
}

static sotto_status make_job(making *m, sotto_err *err)
{
    static const char *const keys[] = {"leader_agg_share", "helper_agg_share"};
    const json_t *list = json_object_get(m->root, "reports");
    sotto_dap_verification v;
    sotto_buf share;

    SOTTO_TRY(sotto_dap_transcript_verify(&m->t, &v, err));
    for (size_t i = 0; i < REPORTS; i++) {
        sotto_dap_transcript_report *report = &m->t.reports[i];
        json_t *item = json_array_get(list, i);

        report->ping_pong[0] = v.outbound[0][i];
        report->ping_pong[1] = v.outbound[1][i];
        report->accepted = v.states[0][i].status == SOTTO_OK;
        if (report->accepted == report->tampered)
            return sotto_fail(err, SOTTO_BUG, "%s: report %zu is judged wrongly", m->plan->name, i);
        sotto_gen_put_hex(m->gen, item, "leader_ping_pong", report->ping_pong[0]);
        sotto_gen_put_hex(m->gen, item, "helper_ping_pong", report->ping_pong[1]);
        sotto_gen_put(m->gen, item, "accepted", json_boolean(report->accepted));
    }
    SOTTO_TRY(put_job(m, err));
    for (unsigned a = 0; a < 2; a++) {
        SOTTO_TRY(sotto_dap_transcript_aggregate(&m->t, &share, &v, a, err));
        put_buf(m, keys[a], &share);
    }
    return SOTTO_OK;
}

/* ---- the collection -------------------------------------------------------------------------- */

static sotto_status make_requests(making *m, sotto_dap_collection_resp *resp, sotto_err *err)
{
    const sotto_dap_collection_req collection = {
        .query = {m->plan->mode, {START, 6}},
    };
    sotto_dap_aggregate_share_req req = {
        .selector = {.mode = m->plan->mode, .interval = {START, 6}},
    };
    sotto_buf request, out;

    memcpy(req.selector.batch_id, m->batch_id.data, sizeof req.selector.batch_id);
    for (size_t i = 0; i < REPORTS; i++)
        if (m->t.reports[i].accepted) {
            sotto_dap_checksum_add(req.checksum, sotto_dap_transcript_id(&m->t.reports[i]));
            req.report_count++;
        }
    SOTTO_TRY(sotto_buf_take(&request, m->t.arena, 128, err));
    SOTTO_TRY(sotto_dap_collection_req_encode(&request, &collection, err));
    req.collection_req = sotto_buf_bytes(&request);
    SOTTO_TRY(sotto_buf_take(&out, m->t.arena, 512, err));
    SOTTO_TRY(sotto_dap_aggregate_share_req_encode(&out, &req, err));
    put_buf(m, "collection_job_req", &request);
    put_buf(m, "aggregate_share_req", &out);
    sotto_gen_put_number(m->gen, m->root, "report_count", req.report_count);
    sotto_gen_put_hex(m->gen, m->root, "checksum",
                      sotto_bytes_of(req.checksum, sizeof req.checksum));
    out.len = 0;
    SOTTO_TRY(sotto_dap_aggregate_share_aad_encode(&out, m->t.task_id.data, m->t.configuration,
                                                   req.collection_req, err));
    put_buf(m, "aggregate_share_aad", &out);
    *resp = (sotto_dap_collection_resp){.report_count = req.report_count, .interval = {START, 6}};
    return SOTTO_OK;
}

static sotto_status make_collection(making *m, sotto_err *err)
{
    sotto_dap_collection_resp resp;
    sotto_bytes ephemeral[2];
    sotto_buf out;

    SOTTO_TRY(make_requests(m, &resp, err));
    SOTTO_TRY(sotto_gen_bytes(m->gen, &ephemeral[0], 32, err));
    SOTTO_TRY(sotto_gen_bytes(m->gen, &ephemeral[1], 32, err));
    sotto_gen_put_hex(m->gen, m->root, "leader_agg_share_hpke_ephemeral_sk", ephemeral[0]);
    sotto_gen_put_hex(m->gen, m->root, "helper_agg_share_hpke_ephemeral_sk", ephemeral[1]);
    SOTTO_TRY(sotto_dap_transcript_seal_aggregate(&m->t, &resp.leader, false, err));
    SOTTO_TRY(sotto_dap_transcript_seal_aggregate(&m->t, &resp.helper, true, err));
    SOTTO_TRY(sotto_buf_take(&out, m->t.arena, 1 << 14, err));
    SOTTO_TRY(sotto_dap_aggregate_share_encode(&out, &resp.helper, err));
    put_buf(m, "aggregate_share", &out);
    out.len = 0;
    SOTTO_TRY(sotto_dap_collection_resp_encode(&out, &resp, err));
    put_buf(m, "collection_job_resp", &out);
    return SOTTO_OK;
}

static sotto_status make_result(making *m, sotto_err *err)
{
    sotto_uint128 result[MOST_VALUES];
    const size_t count = m->t.vdaf.sizes.outputs;
    json_t *list = json_array();
    sotto_bytes shares[2];
    uint64_t reports;

    sotto_gen_put(m->gen, m->root, "agg_result", list);
    SOTTO_TRY(sotto_dap_transcript_hex(&m->t, &shares[0], "leader_agg_share", err));
    SOTTO_TRY(sotto_dap_transcript_hex(&m->t, &shares[1], "helper_agg_share", err));
    SOTTO_TRY(sotto_json_get_uint(&reports, m->root, "report_count", err));
    if (count > MOST_VALUES)
        return sotto_fail(err, SOTTO_BUG, "%s: the result is too long", m->plan->name);
    SOTTO_TRY(sotto_prio3_unshard(&m->t.vdaf, result, shares, reports, err));
    for (size_t i = 0; i < count; i++)
        sotto_gen_add(m->gen, list, sotto_gen_integer(result[i]));
    return SOTTO_OK;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static sotto_status fill(making *m, sotto_err *err)
{
    SOTTO_TRY(make_task(m, err));
    SOTTO_TRY(make_holders(m, err));
    SOTTO_TRY(make_reports(m, err));
    SOTTO_TRY(make_job(m, err));
    SOTTO_TRY(make_collection(m, err));
    return make_result(m, err);
}

sotto_status sotto_generate_dap(sotto_gen *gen, sotto_err *err)
{
    static const plan plans[] = {
        {"sum_time_interval",
         {.type = SOTTO_PRIO3_SUM, .max = 1000},
         SOTTO_DAP_TIME_INTERVAL,
         SOTTO_HPKE_AEAD_AES128_GCM,
         1,
         1000,
         4},
        {"sum_vec_leader_selected_chacha",
         {.type = SOTTO_PRIO3_SUM_VEC, .length = 7, .max = 5, .chunk_length = 4},
         SOTTO_DAP_LEADER_SELECTED,
         SOTTO_HPKE_AEAD_CHACHA20_POLY1305,
         7,
         5,
         0},
        {"histogram_leader_selected_aes256",
         {.type = SOTTO_PRIO3_HISTOGRAM, .length = 11, .chunk_length = 3},
         SOTTO_DAP_LEADER_SELECTED,
         SOTTO_HPKE_AEAD_AES256_GCM,
         1,
         10,
         -1},
        {"multihot_time_interval_chacha",
         {.type = SOTTO_PRIO3_MULTIHOT_COUNT_VEC, .length = 9, .chunk_length = 2, .max = 9},
         SOTTO_DAP_TIME_INTERVAL,
         SOTTO_HPKE_AEAD_CHACHA20_POLY1305,
         9,
         1,
         2},
        {"l1_bound_sum_time_interval",
         {.type = SOTTO_PRIO3_L1_BOUND_SUM, .length = 4, .chunk_length = 3, .max = 40},
         SOTTO_DAP_TIME_INTERVAL,
         SOTTO_HPKE_AEAD_AES128_GCM,
         4,
         10,
         1},
    };
    char name[96];

    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
        making m = {.gen = gen, .plan = &plans[i], .root = json_object()};

        (void)snprintf(name, sizeof name, "task_%s", plans[i].name);
        sotto_gen_start(gen, name);
        m.t = (sotto_dap_transcript){.root = m.root, .arena = gen->arena};
        const sotto_status status = fill(&m, err);
        if (status != SOTTO_OK) {
            json_decref(m.root);
            return status;
        }
        SOTTO_TRY(sotto_gen_write(gen, name, m.root, err));
    }
    return SOTTO_OK;
}
