#include "support/admitted.h"

#include "dap/task_configuration.h"
#include "dap/upload.h"

#include <string.h>

static const char ISSUER[] = "key:issuer";

static sotto_admission_collection collection_of(const sotto_test_admitted *a)
{
    const sotto_admitting_key *key = &a->keys[a->window];
    sotto_admission_collection c = {.opens = key->opens, .closes = key->closes};

    memcpy(c.key_id, a->issuers[a->signer].key.id, sizeof c.key_id);
    c.key_id[0] ^= a->other_key;
    c.issuer = sotto_bytes_of(a->issuer, strlen(a->issuer));
    return c;
}

static void next_seed(sotto_test_admitted *a, uint8_t seed[SOTTO_ONCE_SEED])
{
    memset(seed, 0, SOTTO_ONCE_SEED);
    memcpy(seed, "a one-time key", 14);
    seed[SOTTO_ONCE_SEED - 1] = ++a->seeds;
}

static void admit(sotto_test *t, void *context, sotto_report_draft *draft, sotto_arena *arena)
{
    sotto_test_admitted *a = context;
    const sotto_admission_collection c = collection_of(a);
    const sotto_hpke_config to[] = {a->s.leader_hpke, a->s.helper_hpke};
    uint8_t seed[SOTTO_ONCE_SEED];
    sotto_bytes token = a->token;

    memcpy(seed, a->seed, sizeof seed);
    if (token.len == 0) {
        next_seed(a, seed);
        token = sotto_test_token(t, &a->issuers[a->signer], &c, seed);
    }
    CHECK_OK(t, sotto_admission_attach(draft, token, seed, to, arena, &t->err));
}

void sotto_test_keep_token(sotto_test *t, sotto_test_admitted *a)
{
    const sotto_admission_collection c = collection_of(a);

    next_seed(a, a->seed);
    a->token = sotto_test_token(t, &a->issuers[a->signer], &c, a->seed);
}

sotto_bare_task sotto_test_admitted_task(sotto_test *t, sotto_test_admitted *a, uint64_t split)
{
    const sotto_task *task = &a->s.task;
    sotto_buf wire = sotto_test_buf(t, task->configuration.len + 64);
    sotto_task_configuration c;

    CHECK_OK(t, sotto_task_configuration_decode(&c, task->configuration, &t->err));
    c.extensions = sotto_bytes_of(NULL, 0);
    c.anonymity = SOTTO_TASK_TOKENS;
    c.token_type = SOTTO_TOKEN_BLIND_RSA;
    CHECK_OK(t, sotto_task_configuration_encode(&wire, &c, &t->err));
    a->keys[0].opens = task->opens;
    a->keys[0].closes = a->keys[1].opens = task->opens + split * task->precision;
    a->keys[1].closes = task->closes;
    for (unsigned i = 0; i < 2; i++)
        memcpy(a->keys[i].spki, a->issuers[i].spki, sizeof a->keys[i].spki);
    return (sotto_bare_task){.leader = "key:leader",
                             .helper = "key:helper",
                             .configuration = sotto_buf_bytes(&wire),
                             .collector_config = sotto_test_hex(t, a->s.pairing.collector_key),
                             .token_keys = {.issuer = ISSUER, .list = a->keys, .count = 2}};
}

void sotto_test_admitted_open(sotto_test *t, sotto_test_admitted *a, uint64_t split,
                              const sotto_test_service_options *options)
{
    sotto_bare_task bare;
    sotto_server *servers[2];

    memset(a, 0, sizeof *a);
    a->issuer = ISSUER;
    sotto_test_service_open(t, &a->s, options);
    for (unsigned i = 0; i < 2; i++)
        sotto_test_issuer_open(t, &a->issuers[i], i);
    bare = sotto_test_admitted_task(t, a, split);
    servers[0] = a->s.leader;
    servers[1] = a->s.helper;
    for (unsigned i = 0; i < 2; i++) {
        CHECK_OK(t, sotto_tasks_add_bare(servers[i]->db, servers[i]->columns, servers[i]->role,
                                         &bare, 0, a->s.task.id, &t->err));
        CHECK_OK(t, sotto_tasks_refresh(servers[i]->tasks, &t->err));
    }
    a->s.task.configuration = bare.configuration;
    a->s.task.report_bytes += SOTTO_ADMISSION_REPORT;
    a->s.admit = admit;
    a->s.admit_context = a;
}

void sotto_test_admitted_close(sotto_test_admitted *a)
{
    for (unsigned i = 0; i < 2; i++)
        sotto_test_issuer_close(&a->issuers[i]);
    sotto_test_service_close(&a->s);
}

uint8_t sotto_test_upload_error(sotto_test *t, sotto_test_service *s, sotto_bytes report)
{
    const sotto_http_response response = sotto_test_upload(t, s, report);
    sotto_dap_upload_errors errors;
    sotto_dap_upload_status status;
    sotto_reader in;

    CHECK_EQUAL(t, 200, response.status);
    CHECK_OK(t, sotto_dap_upload_errors_decode(&errors, response.body, &t->err));
    in = sotto_reader_over(errors.statuses);
    return sotto_dap_upload_errors_next(&in, &status) ? status.error : 0;
}

uint8_t sotto_test_job_error(sotto_test *t, sotto_test_service *s, sotto_bytes report)
{
    const sotto_test_job job = sotto_test_job_of(t, s, &report, 1, NULL);
    const sotto_http_response response = sotto_test_send_job(t, s, job.request);
    uint8_t error = 0;

    CHECK_EQUAL(t, 201, response.status);
    sotto_test_job_errors(t, response.body, &error, 1);
    return error;
}
