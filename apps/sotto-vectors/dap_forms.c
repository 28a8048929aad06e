#include "sotto-vectors/dap_forms.h"

#include "dap/collect.h"
#include "dap/job.h"
#include "dap/task_configuration.h"
#include "dap/upload.h"
#include "seal/hpke/config.h"

#include <string.h>

#define AGAIN(name)                                                                                \
    static sotto_status name(sotto_buf *out, sotto_bytes wire, sotto_dap_profile profile,          \
                             sotto_err *err)

/* Where encoder and decoder are a pair without a profile. */
#define PAIR(name, type, prefix)                                                                   \
    AGAIN(name)                                                                                    \
    {                                                                                              \
        type value;                                                                                \
                                                                                                   \
        (void)profile;                                                                             \
        SOTTO_TRY(prefix##_decode(&value, wire, err));                                             \
        return prefix##_encode(out, &value, err);                                                  \
    }

PAIR(hpke_ciphertext, sotto_hpke_ciphertext, sotto_hpke_ciphertext)
PAIR(report_metadata, sotto_report_metadata, sotto_report_metadata)
PAIR(report, sotto_dap_report, sotto_dap_report)
PAIR(plaintext_input_share, sotto_plaintext_input_share, sotto_plaintext_input_share)
PAIR(query, sotto_dap_query, sotto_dap_query)
PAIR(batch_selector, sotto_dap_batch_selector, sotto_dap_batch_selector)
PAIR(collection_req, sotto_dap_collection_req, sotto_dap_collection_req)
PAIR(collection_resp, sotto_dap_collection_resp, sotto_dap_collection_resp)
PAIR(aggregate_share_req, sotto_dap_aggregate_share_req, sotto_dap_aggregate_share_req)
PAIR(aggregate_share, sotto_hpke_ciphertext, sotto_dap_aggregate_share)
PAIR(task_configuration, sotto_task_configuration, sotto_task_configuration)

/* ---- plain values -------------------------------------------------------------------------------- */

static sotto_status fixed(sotto_buf *out, sotto_bytes wire, size_t len, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);
    sotto_writer w = sotto_writer_on(out);

    sotto_write_bytes(&w, sotto_read_bytes(&in, len));
    SOTTO_TRY(sotto_reader_finish(&in, "value", err));
    return sotto_writer_finish(&w, "value", err);
}

#define FIXED(name, len)                                                                           \
    AGAIN(name)                                                                                    \
    {                                                                                              \
        (void)profile;                                                                             \
        return fixed(out, wire, len, err);                                                         \
    }

FIXED(one_byte, 1)
FIXED(two_bytes, 2)
FIXED(eight_bytes, 8)
FIXED(report_id, SOTTO_REPORT_ID_SIZE)
FIXED(task_id, SOTTO_TASK_ID_SIZE)

AGAIN(time_precision)
{
    SOTTO_TRY(eight_bytes(out, wire, profile, err));
    for (size_t i = 0; i < wire.len; i++)
        if (wire.data[i] != 0)
            return SOTTO_OK;
    return sotto_fail(err, SOTTO_MALFORMED, "time precision: 0");
}

AGAIN(role)
{
    SOTTO_TRY(one_byte(out, wire, profile, err));
    return wire.data[0] <= SOTTO_DAP_HELPER ? SOTTO_OK
                                            : sotto_fail(err, SOTTO_MALFORMED, "role: unknown");
}

AGAIN(interval)
{
    sotto_reader in = sotto_reader_over(wire);
    sotto_writer w = sotto_writer_on(out);
    sotto_dap_interval value;

    (void)profile;
    sotto_dap_interval_read(&in, &value);
    SOTTO_TRY(sotto_reader_finish(&in, "interval", err));
    sotto_dap_interval_write(&w, value);
    return sotto_writer_finish(&w, "interval", err);
}

AGAIN(url)
{
    sotto_reader in = sotto_reader_over(wire);
    sotto_writer w = sotto_writer_on(out);
    const sotto_bytes text = sotto_read_opaque16(&in);

    (void)profile;
    SOTTO_TRY(sotto_reader_finish(&in, "URL", err));
    SOTTO_TRY(sotto_task_url_check(text, err));
    sotto_write_opaque16(&w, text);
    return sotto_writer_finish(&w, "URL", err);
}

AGAIN(opaque16)
{
    sotto_reader in = sotto_reader_over(wire);
    sotto_writer w = sotto_writer_on(out);

    (void)profile;
    sotto_write_opaque16(&w, sotto_read_opaque16(&in));
    SOTTO_TRY(sotto_reader_finish(&in, "string", err));
    return sotto_writer_finish(&w, "string", err);
}

AGAIN(extension)
{
    sotto_reader in = sotto_reader_over(wire);
    sotto_writer w = sotto_writer_on(out);
    sotto_extension value;

    (void)profile;
    if (!sotto_extensions_next(&in, &value))
        return sotto_fail(err, SOTTO_MALFORMED, "extension: too short");
    SOTTO_TRY(sotto_reader_finish(&in, "extension", err));
    sotto_extension_write(&w, &value);
    return sotto_writer_finish(&w, "extension", err);
}

/* ---- parts of a task configuration --------------------------------------------------------------- */

AGAIN(batch_config)
{
    sotto_reader in = sotto_reader_over(wire);
    sotto_writer w = sotto_writer_on(out);

    (void)profile;
    sotto_write_uint(&w, sotto_read_uint(&in, 1), 1);
    sotto_write_opaque16(&w, sotto_read_opaque16(&in));
    SOTTO_TRY(sotto_reader_finish(&in, "batch config", err));
    return sotto_writer_finish(&w, "batch config", err);
}

/* A type that isn't ours has a layout all the same, and a task of it is refused. */
AGAIN(vdaf_config)
{
    sotto_reader in = sotto_reader_over(wire);
    sotto_writer w = sotto_writer_on(out);
    sotto_prio3_config vdaf;
    sotto_err ignored = {0};
    const sotto_status status = sotto_task_vdaf_decode(&vdaf, wire, &ignored);

    (void)profile;
    if (status == SOTTO_OK)
        return sotto_task_vdaf_encode(out, &vdaf, err);
    if (status != SOTTO_MISSING)
        return sotto_fail(err, status, "%s", ignored.reason);
    sotto_write_bytes(&w, sotto_read_bytes(&in, 4));
    sotto_write_opaque16(&w, sotto_read_opaque16(&in));
    SOTTO_TRY(sotto_reader_finish(&in, "VDAF config", err));
    return sotto_writer_finish(&w, "VDAF config", err);
}

/* ---- HPKE configurations ------------------------------------------------------------------------- */

AGAIN(hpke_config)
{
    sotto_reader in = sotto_reader_over(wire);
    sotto_writer w = sotto_writer_on(out);
    sotto_hpke_config config;

    (void)profile;
    sotto_hpke_config_read(&in, &config);
    SOTTO_TRY(sotto_reader_finish(&in, "HPKE config", err));
    sotto_hpke_config_write(&w, &config);
    return sotto_writer_finish(&w, "HPKE config", err);
}

AGAIN(hpke_config_list)
{
    sotto_reader in = sotto_reader_over(wire), items;
    sotto_writer w = sotto_writer_on(out);
    const sotto_bytes list = sotto_read_opaque16(&in);

    (void)profile;
    SOTTO_TRY(sotto_reader_finish(&in, "HPKE config list", err));
    items = sotto_reader_over(list);
    sotto_write_uint(&w, list.len, 2);
    while (sotto_reader_left(&items) > 0 && !items.short_read) {
        sotto_hpke_config config;

        sotto_hpke_config_read(&items, &config);
        sotto_hpke_config_write(&w, &config);
    }
    SOTTO_TRY(sotto_reader_finish(&items, "HPKE config list", err));
    return sotto_writer_finish(&w, "HPKE config list", err);
}

/* ---- additional data ----------------------------------------------------------------------------- */

static sotto_status check_configuration(sotto_bytes configuration, sotto_err *err)
{
    sotto_task_configuration task;

    return sotto_task_configuration_decode(&task, configuration, err);
}

AGAIN(input_share_aad)
{
    sotto_reader in = sotto_reader_over(wire);
    const sotto_bytes id = sotto_read_bytes(&in, SOTTO_TASK_ID_SIZE);
    const sotto_bytes configuration = sotto_task_configuration_read(&in);
    sotto_report_metadata metadata;
    sotto_bytes public_share;

    (void)profile;
    sotto_report_metadata_read(&in, &metadata);
    public_share = sotto_read_opaque32(&in);
    SOTTO_TRY(sotto_reader_finish(&in, "input share AAD", err));
    SOTTO_TRY(check_configuration(configuration, err));
    return sotto_input_share_aad_encode(out, id.data, configuration, &metadata, public_share, err);
}

AGAIN(aggregate_share_aad)
{
    sotto_reader in = sotto_reader_over(wire);
    const sotto_bytes id = sotto_read_bytes(&in, SOTTO_TASK_ID_SIZE);
    const sotto_bytes configuration = sotto_task_configuration_read(&in);
    const sotto_bytes request = sotto_read_bytes(&in, sotto_reader_left(&in));
    sotto_dap_collection_req decoded;

    (void)profile;
    SOTTO_TRY(sotto_reader_finish(&in, "aggregate share AAD", err));
    SOTTO_TRY(check_configuration(configuration, err));
    SOTTO_TRY(sotto_dap_collection_req_decode(&decoded, request, err));
    return sotto_dap_aggregate_share_aad_encode(out, id.data, configuration, request, err);
}

/* ---- lists --------------------------------------------------------------------------------------- */

AGAIN(upload_req)
{
    sotto_dap_upload_req req;
    sotto_dap_report item;

    (void)profile;
    SOTTO_TRY(sotto_dap_upload_req_decode(&req, wire, err));
    sotto_reader in = sotto_reader_over(req.reports);
    while (sotto_dap_upload_req_next(&in, &item))
        SOTTO_TRY(sotto_dap_report_encode(out, &item, err));
    return SOTTO_OK;
}

AGAIN(upload_errors)
{
    sotto_dap_upload_errors errors;
    sotto_dap_upload_status item;

    SOTTO_TRY(sotto_dap_upload_errors_decode(&errors, wire, err));
    sotto_reader in = sotto_reader_over(errors.statuses);
    while (sotto_dap_upload_errors_next(&in, &item))
        SOTTO_TRY(sotto_dap_upload_errors_add(out, &item, profile, err));
    return SOTTO_OK;
}

AGAIN(job_init_req)
{
    sotto_dap_job_init_req req;
    sotto_dap_verify_init item;
    sotto_dap_list list;

    SOTTO_TRY(sotto_dap_job_init_req_decode(&req, wire, profile, err));
    SOTTO_TRY(sotto_dap_job_init_req_begin(&list, out, &req, profile, err));
    sotto_reader in = sotto_reader_over(req.verify_inits);
    while (sotto_dap_job_init_req_next(&in, &item))
        SOTTO_TRY(sotto_dap_job_init_req_add(&list, &item, err));
    return sotto_dap_list_end(&list, err);
}

AGAIN(job_continue_req)
{
    sotto_dap_job_continue_req req;
    sotto_dap_verify_continue item;
    sotto_dap_list list;

    SOTTO_TRY(sotto_dap_job_continue_req_decode(&req, wire, profile, err));
    SOTTO_TRY(sotto_dap_job_continue_req_begin(&list, out, req.step, profile, err));
    sotto_reader in = sotto_reader_over(req.verify_continues);
    while (sotto_dap_job_continue_req_next(&in, &item))
        SOTTO_TRY(sotto_dap_job_continue_req_add(&list, &item, err));
    return sotto_dap_list_end(&list, err);
}

AGAIN(job_resp)
{
    sotto_dap_job_resp resp;
    sotto_dap_verify_resp item;
    sotto_dap_list list;

    SOTTO_TRY(sotto_dap_job_resp_decode(&resp, wire, profile, err));
    SOTTO_TRY(sotto_dap_job_resp_begin(&list, out, profile, err));
    sotto_reader in = sotto_reader_over(resp.verify_resps);
    while (sotto_dap_job_resp_next(&in, &item))
        SOTTO_TRY(sotto_dap_job_resp_add(&list, &item, err));
    return sotto_dap_list_end(&list, err);
}

/* ---- one item of a list -------------------------------------------------------------------------- */

/* A list of one is its item, where lists have no length. */
#define ITEM(name, type, next, add, what)                                                          \
    AGAIN(name)                                                                                    \
    {                                                                                              \
        sotto_reader in = sotto_reader_over(wire);                                                 \
        sotto_dap_list list = {.out = out, .start = out->len, .items = out->len};                  \
        type item;                                                                                 \
                                                                                                   \
        (void)profile;                                                                             \
        if (!next(&in, &item))                                                                     \
            return sotto_fail(err, SOTTO_MALFORMED, what ": too short");                           \
        SOTTO_TRY(sotto_reader_finish(&in, what, err));                                            \
        return add(&list, &item, err);                                                             \
    }

ITEM(verify_init, sotto_dap_verify_init, sotto_dap_job_init_req_next, sotto_dap_job_init_req_add,
     "VerifyInit")
ITEM(verify_continue, sotto_dap_verify_continue, sotto_dap_job_continue_req_next,
     sotto_dap_job_continue_req_add, "VerifyContinue")
ITEM(verify_resp, sotto_dap_verify_resp, sotto_dap_job_resp_next, sotto_dap_job_resp_add,
     "VerifyResp")

/* Stands at the front of a VerifyInit, and has no codec of its own. */
AGAIN(report_share)
{
    sotto_reader in = sotto_reader_over(wire);
    sotto_writer w = sotto_writer_on(out);
    sotto_dap_verify_init item;

    (void)profile;
    sotto_report_metadata_read(&in, &item.metadata);
    item.public_share = sotto_read_opaque32(&in);
    sotto_hpke_ciphertext_read(&in, &item.encrypted_input_share);
    SOTTO_TRY(sotto_reader_finish(&in, "ReportShare", err));
    sotto_report_metadata_write(&w, &item.metadata);
    sotto_write_opaque32(&w, item.public_share);
    sotto_hpke_ciphertext_write(&w, &item.encrypted_input_share);
    return sotto_writer_finish(&w, "ReportShare", err);
}

/* What Janus has in place of job extensions: read within the smallest request that holds it. */
AGAIN(partial_batch_selector)
{
    uint8_t memory[1 + 4 + 1 + 2 + SOTTO_BATCH_ID_SIZE + 4], again[sizeof memory];
    sotto_buf request = sotto_buf_over(memory, sizeof memory);
    sotto_buf got = sotto_buf_over(again, sizeof again);
    sotto_writer w = sotto_writer_on(&request), result = sotto_writer_on(out);

    (void)profile;
    sotto_write_uint(&w, 0, 5); /* verification_key_id, agg_param */
    sotto_write_bytes(&w, wire);
    sotto_write_uint(&w, 0, 4); /* verify_inits */
    if (sotto_writer_finish(&w, "PartialBatchSelector", NULL) != SOTTO_OK)
        return sotto_fail(err, SOTTO_MALFORMED, "PartialBatchSelector: too long");
    SOTTO_TRY(job_init_req(&got, sotto_buf_bytes(&request), SOTTO_DAP_JANUS, err));
    sotto_write_bytes(&result, sotto_bytes_of(got.data + 5, got.len - 9));
    return sotto_writer_finish(&result, "PartialBatchSelector", err);
}

/* ---- by name ------------------------------------------------------------------------------------- */

const sotto_dap_form sotto_dap_forms[] = {
    {"HpkeConfigList", hpke_config_list, true, false},
    {"UploadRequest", upload_req, true, true},
    {"UploadErrors", upload_errors, true, true},
    {"AggregationJobInitReq", job_init_req, true, true},
    {"AggregationJobContinueReq", job_continue_req, true, true},
    {"AggregationJobResp", job_resp, true, true},
    {"CollectionJobReq", collection_req, true, false},
    {"CollectionJobResp", collection_resp, true, false},
    {"AggregateShareReq", aggregate_share_req, true, false},
    {"AggregateShare", aggregate_share, true, false},
    {"TaskConfiguration", task_configuration, true, false},
    {"PlaintextInputShare", plaintext_input_share, true, false},
    {"InputShareAad", input_share_aad, true, false},
    {"AggregateShareAad", aggregate_share_aad, true, false},
    {"Report", report, true, false},
    {"ReportShare", report_share, false, false},
    {"ReportMetadata", report_metadata, false, false},
    {"VerifyInit", verify_init, false, false},
    {"VerifyContinue", verify_continue, false, false},
    {"VerifyResp", verify_resp, false, false},
    {"HpkeCiphertext", hpke_ciphertext, false, false},
    {"HpkeConfig", hpke_config, false, false},
    {"Query", query, false, false},
    {"BatchSelector", batch_selector, false, false},
    {"PartialBatchSelector", partial_batch_selector, false, false},
    {"Interval", interval, false, false},
    {"BatchConfig", batch_config, false, false},
    {"VdafConfig", vdaf_config, false, false},
    {"Url", url, false, false},
    {"Extension", extension, false, false},
    {"TaskExtension", extension, false, false},
    {"AggregationJobExtension", extension, false, false},
    {"CollectionJobExtension", extension, false, false},
    {"ExtensionType", two_bytes, false, false},
    {"TaskExtensionType", two_bytes, false, false},
    {"HpkeKemId", two_bytes, false, false},
    {"HpkeKdfId", two_bytes, false, false},
    {"HpkeAeadId", two_bytes, false, false},
    {"HpkeConfigId", one_byte, false, false},
    {"HpkePublicKey", opaque16, false, false},
    {"BatchMode", one_byte, false, false},
    {"ReportError", one_byte, false, false},
    {"Role", role, false, false},
    {"Time", eight_bytes, false, false},
    {"Duration", eight_bytes, false, false},
    {"TimePrecision", time_precision, false, false},
    {"ReportID", report_id, false, false},
    {"TaskID", task_id, false, false},
    {"BatchID", task_id, false, false},
};
const size_t sotto_dap_form_count = sizeof sotto_dap_forms / sizeof sotto_dap_forms[0];

const sotto_dap_form *sotto_dap_form_named(const char *name)
{
    for (size_t i = 0; i < sotto_dap_form_count; i++)
        if (strcmp(sotto_dap_forms[i].name, name) == 0)
            return &sotto_dap_forms[i];
    return NULL;
}
