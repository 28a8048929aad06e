#include "support/dap.h"

#include "dap/collect.h"
#include "dap/job.h"
#include "dap/task_configuration.h"
#include "dap/upload.h"

#include <string.h>

enum { MOST_BYTES = 40, MOST_ITEMS = 4, MESSAGE = 4096 };

typedef struct maker {
    sotto_test *t;
    sotto_sim_random *random;
    sotto_dap_profile profile;
    sotto_buf *out;
} maker;

/* ---- parts --------------------------------------------------------------------------------------- */

sotto_bytes sotto_test_dap_bytes(sotto_test *t, sotto_sim_random *random, size_t least)
{
    const size_t len = least + (size_t)sotto_sim_random_below(random, MOST_BYTES - least + 1);
    uint8_t *data = sotto_arena_take(&t->arena, len ? len : 1);

    CHECK(t, data != NULL);
    sotto_sim_random_bytes(random, data, len);
    return sotto_bytes_of(data, len);
}

sotto_bytes sotto_test_dap_extensions(sotto_test *t, sotto_sim_random *random)
{
    const uint64_t count = sotto_sim_random_below(random, 4);
    uint8_t *data = sotto_arena_take(&t->arena, 256);
    sotto_buf out = sotto_buf_over(data, 256);
    sotto_writer w = sotto_writer_on(&out);
    uint16_t type = 0;

    CHECK(t, data != NULL);
    for (uint64_t i = 0; i < count; i++) {
        type = (uint16_t)(type + 1 + sotto_sim_random_below(random, 1000));
        sotto_extension_write(&w, &(sotto_extension){type, sotto_test_dap_bytes(t, random, 0)});
    }
    CHECK_OK(t, sotto_writer_finish(&w, "extensions", &t->err));
    return sotto_buf_bytes(&out);
}

static sotto_hpke_ciphertext ciphertext(sotto_test *t, sotto_sim_random *random)
{
    sotto_hpke_ciphertext sealed = {.config_id = (uint8_t)sotto_sim_random_u64(random)};

    sealed.enc = sotto_test_dap_bytes(t, random, 1);
    sealed.payload = sotto_test_dap_bytes(t, random, 1);
    return sealed;
}

static sotto_report_metadata metadata(sotto_test *t, sotto_sim_random *random)
{
    sotto_report_metadata made = {.time = sotto_sim_random_u64(random)};

    sotto_sim_random_bytes(random, made.report_id, sizeof made.report_id);
    made.public_extensions = sotto_test_dap_extensions(t, random);
    return made;
}

sotto_dap_report sotto_test_dap_report(sotto_test *t, sotto_sim_random *random)
{
    sotto_dap_report made = {.metadata = metadata(t, random)};

    made.public_share = sotto_test_dap_bytes(t, random, 0);
    made.leader = ciphertext(t, random);
    made.helper = ciphertext(t, random);
    return made;
}

static sotto_dap_interval interval(sotto_sim_random *random)
{
    return (sotto_dap_interval){sotto_sim_random_u64(random), sotto_sim_random_u64(random)};
}

static uint64_t items(const maker *m)
{
    return sotto_sim_random_below(m->random, MOST_ITEMS);
}

/* ---- uploads ------------------------------------------------------------------------------------- */

static sotto_status make_report(const maker *m, sotto_err *err)
{
    const sotto_dap_report report = sotto_test_dap_report(m->t, m->random);

    return sotto_dap_report_encode(m->out, &report, err);
}

static sotto_status make_upload_req(const maker *m, sotto_err *err)
{
    for (uint64_t left = items(m); left > 0; left--)
        SOTTO_TRY(make_report(m, err));
    return SOTTO_OK;
}

static sotto_status make_upload_errors(const maker *m, sotto_err *err)
{
    for (uint64_t left = items(m); left > 0; left--) {
        sotto_dap_upload_status status = {.error = (uint8_t)sotto_sim_random_below(m->random, 11)};

        sotto_sim_random_bytes(m->random, status.report_id, sizeof status.report_id);
        SOTTO_TRY(sotto_dap_upload_errors_add(m->out, &status, m->profile, err));
    }
    return SOTTO_OK;
}

static sotto_status make_plaintext(const maker *m, sotto_err *err)
{
    sotto_plaintext_input_share share;

    share.private_extensions = sotto_test_dap_extensions(m->t, m->random);
    share.payload = sotto_test_dap_bytes(m->t, m->random, 1);
    return sotto_plaintext_input_share_encode(m->out, &share, err);
}

/* ---- aggregation jobs ---------------------------------------------------------------------------- */

static sotto_status make_init_req(const maker *m, sotto_err *err)
{
    sotto_dap_job_init_req req = {.verification_key_id = (uint8_t)sotto_sim_random_u64(m->random)};
    sotto_dap_list list;

    req.agg_param = sotto_test_dap_bytes(m->t, m->random, 0);
    req.has_batch_id = sotto_sim_random_chance(m->random, 0.5);
    sotto_sim_random_bytes(m->random, req.batch_id, sizeof req.batch_id);
    SOTTO_TRY(sotto_dap_job_init_req_begin(&list, m->out, &req, m->profile, err));
    for (uint64_t left = items(m); left > 0; left--) {
        sotto_dap_verify_init init = {.metadata = metadata(m->t, m->random)};

        init.public_share = sotto_test_dap_bytes(m->t, m->random, 0);
        init.encrypted_input_share = ciphertext(m->t, m->random);
        init.payload = sotto_test_dap_bytes(m->t, m->random, 1);
        SOTTO_TRY(sotto_dap_job_init_req_add(&list, &init, err));
    }
    return sotto_dap_list_end(&list, err);
}

static sotto_status make_continue_req(const maker *m, sotto_err *err)
{
    const uint16_t step = (uint16_t)(1 + sotto_sim_random_below(m->random, UINT16_MAX));
    sotto_dap_list list;

    SOTTO_TRY(sotto_dap_job_continue_req_begin(&list, m->out, step, m->profile, err));
    for (uint64_t left = items(m); left > 0; left--) {
        sotto_dap_verify_continue item = {.payload = sotto_test_dap_bytes(m->t, m->random, 1)};

        sotto_sim_random_bytes(m->random, item.report_id, sizeof item.report_id);
        SOTTO_TRY(sotto_dap_job_continue_req_add(&list, &item, err));
    }
    return sotto_dap_list_end(&list, err);
}

static sotto_status make_resp(const maker *m, sotto_err *err)
{
    sotto_dap_list list;

    SOTTO_TRY(sotto_dap_job_resp_begin(&list, m->out, m->profile, err));
    for (uint64_t left = items(m); left > 0; left--) {
        sotto_dap_verify_resp item = {
            .type = (sotto_dap_verify_resp_type)sotto_sim_random_below(m->random, 3),
            .error = (uint8_t)sotto_sim_random_u64(m->random),
            .payload = sotto_test_dap_bytes(m->t, m->random, 1),
        };

        sotto_sim_random_bytes(m->random, item.report_id, sizeof item.report_id);
        SOTTO_TRY(sotto_dap_job_resp_add(&list, &item, err));
    }
    return sotto_dap_list_end(&list, err);
}

/* ---- collections --------------------------------------------------------------------------------- */

static sotto_dap_collection_req collection_req(const maker *m)
{
    sotto_dap_collection_req req = {.agg_param = sotto_test_dap_bytes(m->t, m->random, 0)};

    req.query.mode = sotto_sim_random_chance(m->random, 0.5) ? SOTTO_DAP_TIME_INTERVAL
                                                             : SOTTO_DAP_LEADER_SELECTED;
    req.query.interval = interval(m->random);
    return req;
}

static sotto_status make_collection_req(const maker *m, sotto_err *err)
{
    const sotto_dap_collection_req req = collection_req(m);

    return sotto_dap_collection_req_encode(m->out, &req, err);
}

static sotto_status make_collection_resp(const maker *m, sotto_err *err)
{
    const sotto_dap_collection_resp resp = {
        .report_count = sotto_sim_random_u64(m->random),
        .interval = interval(m->random),
        .leader = ciphertext(m->t, m->random),
        .helper = ciphertext(m->t, m->random),
    };

    return sotto_dap_collection_resp_encode(m->out, &resp, err);
}

static sotto_status make_share_req(const maker *m, sotto_err *err)
{
    uint8_t memory[128];
    sotto_buf inner = sotto_buf_over(memory, sizeof memory);
    const sotto_dap_collection_req collection = collection_req(m);
    sotto_dap_aggregate_share_req req = {.report_count = sotto_sim_random_u64(m->random)};

    SOTTO_TRY(sotto_dap_collection_req_encode(&inner, &collection, err));
    req.collection_req = sotto_buf_bytes(&inner);
    req.selector.mode = collection.query.mode;
    req.selector.interval = collection.query.interval;
    sotto_sim_random_bytes(m->random, req.selector.batch_id, sizeof req.selector.batch_id);
    sotto_sim_random_bytes(m->random, req.checksum, sizeof req.checksum);
    return sotto_dap_aggregate_share_req_encode(m->out, &req, err);
}

static sotto_status make_share(const maker *m, sotto_err *err)
{
    const sotto_hpke_ciphertext share = ciphertext(m->t, m->random);

    return sotto_dap_aggregate_share_encode(m->out, &share, err);
}

/* ---- tasks --------------------------------------------------------------------------------------- */

static sotto_bytes ascii(const maker *m)
{
    sotto_bytes text = sotto_test_dap_bytes(m->t, m->random, 1);

    for (size_t i = 0; i < text.len; i++)
        ((uint8_t *)(uintptr_t)text.data)[i] &= 0x7f;
    return text;
}

static sotto_status make_configuration(const maker *m, sotto_err *err)
{
    static const sotto_prio3_config vdafs[] = {
        {.type = SOTTO_PRIO3_COUNT},
        {.type = SOTTO_PRIO3_SUM, .max = 12345},
        {.type = SOTTO_PRIO3_SUM_VEC, .length = 12, .max = 8, .chunk_length = 14},
        {.type = SOTTO_PRIO3_HISTOGRAM, .length = 256, .chunk_length = 18},
        {.type = SOTTO_PRIO3_MULTIHOT_COUNT_VEC, .length = 256, .chunk_length = 18, .max = 14},
        {.type = SOTTO_PRIO3_L1_BOUND_SUM, .length = 9, .max = 7, .chunk_length = 3},
    };
    const sotto_task_configuration task = {
        .task_info = sotto_test_dap_bytes(m->t, m->random, 1),
        .leader_url = ascii(m),
        .helper_url = ascii(m),
        .time_precision = 1 + sotto_sim_random_below(m->random, 1U << 31),
        .min_batch_size = sotto_sim_random_u64(m->random),
        .batch_mode = (unsigned)sotto_sim_random_below(m->random, 256),
        .batch_config = sotto_test_dap_bytes(m->t, m->random, 0),
        .vdaf = vdafs[sotto_sim_random_below(m->random, sizeof vdafs / sizeof vdafs[0])],
        .has_interval = sotto_sim_random_chance(m->random, 0.5),
        .interval_start = sotto_sim_random_u64(m->random),
        .interval_duration = sotto_sim_random_u64(m->random),
    };

    return sotto_task_configuration_encode(m->out, &task, err);
}

/* The AADs: a configuration between a task id and the rest. */
static sotto_status make_aad(const maker *m, bool aggregate, sotto_err *err)
{
    uint8_t id[SOTTO_TASK_ID_SIZE], first[512], second[512];
    sotto_buf configuration = sotto_buf_over(first, sizeof first);
    sotto_buf request = sotto_buf_over(second, sizeof second);
    maker inner = *m;

    sotto_sim_random_bytes(m->random, id, sizeof id);
    inner.out = &configuration;
    SOTTO_TRY(make_configuration(&inner, err));
    if (!aggregate) {
        const sotto_report_metadata of = metadata(m->t, m->random);

        return sotto_input_share_aad_encode(m->out, id, sotto_buf_bytes(&configuration), &of,
                                            sotto_test_dap_bytes(m->t, m->random, 0), err);
    }
    inner.out = &request;
    SOTTO_TRY(make_collection_req(&inner, err));
    return sotto_dap_aggregate_share_aad_encode(m->out, id, sotto_buf_bytes(&configuration),
                                                sotto_buf_bytes(&request), err);
}

static sotto_status make_input_share_aad(const maker *m, sotto_err *err)
{
    return make_aad(m, false, err);
}

static sotto_status make_aggregate_share_aad(const maker *m, sotto_err *err)
{
    return make_aad(m, true, err);
}

static sotto_status make_config_list(const maker *m, sotto_err *err)
{
    sotto_hpke_config configs[MOST_ITEMS];
    const size_t count = 1 + (size_t)items(m);

    for (size_t i = 0; i < count; i++) {
        configs[i] = (sotto_hpke_config){.id = (uint8_t)i, .suite = {0xfe00, 1, 2}};
        configs[i].public_key = sotto_test_dap_bytes(m->t, m->random, 1);
    }
    return sotto_hpke_config_list_encode(m->out, configs, count, err);
}

/* ---- by name ------------------------------------------------------------------------------------- */

sotto_bytes sotto_test_dap_message(sotto_test *t, sotto_sim_random *random, const char *name,
                                   sotto_dap_profile profile)
{
    static const struct {
        const char *name;
        sotto_status (*make)(const maker *m, sotto_err *err);
    } makers[] = {
        {"HpkeConfigList", make_config_list},
        {"UploadRequest", make_upload_req},
        {"UploadErrors", make_upload_errors},
        {"AggregationJobInitReq", make_init_req},
        {"AggregationJobContinueReq", make_continue_req},
        {"AggregationJobResp", make_resp},
        {"CollectionJobReq", make_collection_req},
        {"CollectionJobResp", make_collection_resp},
        {"AggregateShareReq", make_share_req},
        {"AggregateShare", make_share},
        {"TaskConfiguration", make_configuration},
        {"PlaintextInputShare", make_plaintext},
        {"InputShareAad", make_input_share_aad},
        {"AggregateShareAad", make_aggregate_share_aad},
        {"Report", make_report},
    };
    uint8_t *memory = sotto_arena_take(&t->arena, MESSAGE);
    sotto_buf out = sotto_buf_over(memory, MESSAGE);
    const maker m = {t, random, profile, &out};
    size_t i = 0;

    CHECK(t, memory != NULL);
    while (i < sizeof makers / sizeof makers[0] && strcmp(makers[i].name, name) != 0)
        i++;
    CHECK(t, i < sizeof makers / sizeof makers[0]);
    CHECK_OK(t, makers[i].make(&m, &t->err));
    return sotto_buf_bytes(&out);
}
