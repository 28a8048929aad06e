/* A transcript is read, and what is sealed in it sealed again. */
#include "dap_task.h"

#include <string.h>

#include "base/arena.h"
#include "crypto/aead.h"
#include "seal/hpke/inspect.h"

sotto_status sotto_dap_transcript_hex(const sotto_dap_transcript *t, sotto_bytes *out,
                                      const char *key, sotto_err *err)
{
    return sotto_json_get_hex(out, t->root, key, t->arena, err);
}

/* ---- reading --------------------------------------------------------------------------------- */

static sotto_status read_holder(const sotto_dap_transcript *t, sotto_dap_holder *out,
                                const char *name, sotto_err *err)
{
    json_t *all, *entry;
    sotto_bytes config, private_key, public_key;

    SOTTO_TRY(sotto_json_get(&all, t->root, "hpke", err));
    SOTTO_TRY(sotto_json_get(&entry, all, name, err));
    SOTTO_TRY(sotto_json_get_hex(&config, entry, "hpke_config", t->arena, err));
    SOTTO_TRY(sotto_json_get_hex(&private_key, entry, "sk", t->arena, err));
    SOTTO_TRY(sotto_json_get_hex(&public_key, entry, "pk", t->arena, err));
    SOTTO_TRY(sotto_hpke_config_decode(&out->config, config, err));
    SOTTO_TRY(sotto_hpke_key_decode(&out->key, out->config.suite.kem, private_key, err));
    SOTTO_TRY(sotto_vectors_compare(out->config.public_key, public_key, "pk", err));
    return sotto_vectors_compare(
        public_key, sotto_bytes_of(out->key.public_key, out->key.public_key_len), "pk", err);
}

static sotto_status read_report(const sotto_dap_transcript *t, sotto_dap_transcript_report *out,
                                const json_t *item, sotto_err *err)
{
    const struct {
        sotto_bytes *to;
        const char *key;
    } values[] = {
        {&out->wire, "report"},
        {&out->rand, "rand"},
        {&out->public_share, "public_share"},
        {&out->aad, "input_share_aad"},
        {&out->input_share[0], "leader_input_share"},
        {&out->input_share[1], "helper_input_share"},
        {&out->ephemeral[0], "leader_hpke_ephemeral_sk"},
        {&out->ephemeral[1], "helper_hpke_ephemeral_sk"},
        {&out->ping_pong[0], "leader_ping_pong"},
        {&out->ping_pong[1], "helper_ping_pong"},
    };
    sotto_bytes id;

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        SOTTO_TRY(sotto_json_get_hex(values[i].to, item, values[i].key, t->arena, err));
    SOTTO_TRY(sotto_json_get_hex(&id, item, "report_id", t->arena, err));
    SOTTO_TRY(sotto_json_get_uint(&out->time, item, "time", err));
    out->accepted = json_is_true(json_object_get(item, "accepted"));
    out->tampered = json_is_true(json_object_get(item, "tampered_helper_input_share"));
    SOTTO_TRY(sotto_dap_report_decode(&out->report, out->wire, err));
    return sotto_vectors_compare(
        id, sotto_bytes_of(out->report.metadata.report_id, sizeof out->report.metadata.report_id),
        "report_id", err);
}

static sotto_status read_reports(sotto_dap_transcript *t, sotto_err *err)
{
    json_t *reports;

    SOTTO_TRY(sotto_json_get_array(&reports, t->root, "reports", err));
    t->count = json_array_size(reports);
    t->reports = sotto_arena_take_array(t->arena, t->count, sizeof *t->reports);
    if (t->reports == NULL || t->count == 0)
        return sotto_fail(err, SOTTO_MALFORMED, "reports: none, or too many");
    for (size_t i = 0; i < t->count; i++)
        SOTTO_TRY(read_report(t, &t->reports[i], json_array_get(reports, i), err));
    return SOTTO_OK;
}

sotto_status sotto_dap_transcript_read(sotto_dap_transcript *t, const json_t *root,
                                       sotto_arena *arena, sotto_err *err)
{
    static const char *const names[] = {"leader", "helper", "collector"};

    *t = (sotto_dap_transcript){.root = root, .arena = arena};
    SOTTO_TRY(sotto_dap_transcript_hex(t, &t->configuration, "task_configuration", err));
    SOTTO_TRY(sotto_dap_transcript_hex(t, &t->task_id, "task_id", err));
    SOTTO_TRY(sotto_dap_transcript_hex(t, &t->context, "vdaf_context", err));
    SOTTO_TRY(sotto_dap_transcript_hex(t, &t->verify_key, "verify_key", err));
    if (t->task_id.len != SOTTO_TASK_ID_SIZE || t->verify_key.len != SOTTO_DAP_VERIFY_KEY_SIZE)
        return sotto_fail(err, SOTTO_MALFORMED, "task_id, verify_key: not 32 bytes");
    SOTTO_TRY(sotto_task_configuration_decode(&t->task, t->configuration, err));
    SOTTO_TRY(sotto_prio3_init(&t->vdaf, arena, &t->task.vdaf, err));
    for (size_t i = 0; i < 3; i++)
        SOTTO_TRY(read_holder(t, &t->holders[i], names[i], err));
    return read_reports(t, err);
}

/* ---- sealing --------------------------------------------------------------------------------- */

static sotto_status seal_once(sotto_buf *out, const sotto_hpke_inspection *seen, uint16_t aead_id,
                              sotto_bytes aad, sotto_bytes plain, sotto_err *err)
{
    sotto_aead aead;
    uint8_t nonce[SOTTO_AEAD_NONCE_SIZE];
    sotto_status status = sotto_aead_init(&aead, sotto_aead_find(aead_id), SOTTO_AEAD_SEAL, err);

    sotto_hpke_nonce(nonce, seen->base_nonce, 0);
    if (status == SOTTO_OK)
        status = sotto_aead_set_key(&aead, seen->key, err);
    if (status == SOTTO_OK)
        status = sotto_aead_seal(&aead, out, nonce, aad, plain, err);
    sotto_aead_clear(&aead);
    return status;
}

static sotto_status check_opens(const sotto_dap_transcript *t, const sotto_hpke_ciphertext *sealed,
                                const sotto_dap_holder *holder, sotto_bytes info, sotto_bytes aad,
                                sotto_bytes plain, sotto_err *err)
{
    sotto_buf opened;

    SOTTO_TRY(sotto_buf_take(&opened, t->arena, plain.len + SOTTO_HPKE_TAG_SIZE, err));
    SOTTO_TRY(sotto_hpke_unseal(&opened, &holder->key, holder->config.suite, info, sealed->enc, aad,
                                sealed->payload, err));
    return sotto_vectors_compare(plain, sotto_buf_bytes(&opened), "opened", err);
}

sotto_status sotto_dap_transcript_seal(const sotto_dap_transcript *t, sotto_hpke_ciphertext *got,
                                       const sotto_dap_holder *to, sotto_bytes ephemeral,
                                       sotto_bytes info, sotto_bytes aad, sotto_bytes plain,
                                       sotto_err *err)
{
    sotto_hpke_inspection seen;
    sotto_buf enc, payload;

    SOTTO_TRY(sotto_buf_take(&enc, t->arena, SOTTO_HPKE_MAX_PUBLIC_KEY, err));
    SOTTO_TRY(sotto_buf_take(&payload, t->arena, plain.len + SOTTO_HPKE_TAG_SIZE, err));
    SOTTO_TRY(sotto_hpke_inspect_send(&seen, &enc, &to->config, ephemeral, info, err));
    SOTTO_TRY(seal_once(&payload, &seen, to->config.suite.aead, aad, plain, err));
    *got = (sotto_hpke_ciphertext){to->config.id, sotto_buf_bytes(&enc), sotto_buf_bytes(&payload)};
    return check_opens(t, got, to, info, aad, plain, err);
}
