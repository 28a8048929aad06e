#define _POSIX_C_SOURCE 200809L
#include "support/service.h"

#include "aggregate/prio/prio.h"
#include "dap/collect.h"
#include "dap/job.h"
#include "dap/report.h"
#include "serve/tasks/folds.h"
#include "support/database.h"
#include "support/ports.h"
#include "support/unknown_key.h"
#include "transport/http_problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TEXT = 8192 };

static char *taken(sotto_test *t, size_t size)
{
    char *memory = sotto_arena_take(&t->arena, size);

    CHECK(t, memory != NULL);
    return memory;
}

/* ---- opening ----------------------------------------------------------------------------------------------- */

static const char *datastore_key(sotto_test *t, const char *name)
{
    const char *path = sotto_test_temp(t, name);
    FILE *file = fopen(path, "wb");
    sotto_sim_random random;
    uint8_t key[32];

    sotto_sim_random_init(&random, 32);
    sotto_sim_random_bytes(&random, key, sizeof key);
    CHECK(t, file != NULL && chmod(path, 0600) == 0);
    CHECK_EQUAL(t, sizeof key, fwrite(key, 1, sizeof key, file));
    CHECK_EQUAL(t, 0, fclose(file));
    return path;
}

typedef struct first_key {
    uint8_t *wire;
    sotto_buf out;
} first_key;

static sotto_status keep_config(void *context, const sotto_key_line *line, sotto_err *err)
{
    first_key *k = context;

    if (k->out.len > 0 || line->state != SOTTO_KEY_ACTIVE)
        return SOTTO_OK;
    return sotto_hpke_config_encode(&k->out, &line->config, err);
}

static sotto_bytes config_of(sotto_test *t, sotto_server *server)
{
    first_key k = {.out = sotto_test_buf(t, 256)};

    CHECK_OK(t, sotto_keys_list(server->keys, keep_config, &k, &t->err));
    return sotto_buf_bytes(&k.out);
}

static const char *hex_of(sotto_test *t, sotto_bytes bytes)
{
    char *out = taken(t, 2 * bytes.len + 1);

    for (size_t i = 0; i < bytes.len; i++)
        (void)snprintf(out + 2 * i, 3, "%02x", bytes.data[i]);
    return out;
}

static sotto_bytes collector_config(sotto_test *t, const sotto_test_service *s)
{
    sotto_buf wire = sotto_test_buf(t, SOTTO_COLLECTOR_CONFIG);
    sotto_hpke_config config =
        sotto_hpke_config_of(&s->collector, 9, SOTTO_HPKE_KDF_SHA256, SOTTO_HPKE_AEAD_AES128_GCM);

    CHECK_OK(t, sotto_hpke_config_encode(&wire, &config, &t->err));
    return sotto_buf_bytes(&wire);
}

static const char *write_parties(sotto_test *t, sotto_test_service *s)
{
    char *text = taken(t, TEXT);
    static const char valid[] =
        "\"from\": \"2020-01-01T00:00:00Z\", \"until\": \"2090-01-01T00:00:00Z\"";

    (void)snprintf(
        text, TEXT,
        "{\"key:leader\": {\"role\": \"leader\", \"url\": \"http://127.0.0.1:%u/\","
        " \"hpke\": [{\"config\": \"%s\", %s}]},"
        " \"key:helper\": {\"role\": \"helper\", \"url\": \"http://127.0.0.1:%u/\","
        " \"hpke\": [{\"config\": \"%s\", %s}]},"
        " \"key:collector\": {\"role\": \"collector\", \"hpke\": [{\"config\": \"%s\", %s}]}}",
        sotto_server_port(s->leader), hex_of(t, config_of(t, s->leader)), valid,
        sotto_server_port(s->helper), hex_of(t, config_of(t, s->helper)), valid,
        hex_of(t, collector_config(t, s)), valid);
    return text;
}

/* Recipes of four things have letters for them, and larger ones numbers. */
static const char *write_values(sotto_test *t, unsigned categories)
{
    char *text = taken(t, TEXT);
    size_t len = 0;

    if (categories == 0)
        return "\"a\", \"b\", \"c\", \"d\"";
    for (unsigned i = 0; i < categories && len < TEXT; i++)
        len += (size_t)snprintf(text + len, TEXT - len, "%s\"%u\"", i ? ", " : "", i);
    CHECK(t, len < TEXT);
    return text;
}

/* By servers there is no randomizer. */
static const char *write_randomizer(const char *sigma)
{
    return sigma ? ""
                 : " \"randomizer\": {\"type\": \"one-hot\", \"form\": \"asymmetric\","
                   " \"epsilon_local\": 4.0},";
}

static const char *write_noise(sotto_test *t, const char *sigma)
{
    char *text = taken(t, 128);

    if (sigma)
        (void)snprintf(text, 128, ", \"by\": \"servers\", \"sigma\": %s", sigma);
    return text;
}

static const char *write_question(sotto_test *t, const sotto_test_service_options *o)
{
    char *text = taken(t, 2 * TEXT);

    (void)snprintf(text, 2 * (size_t)TEXT,
                   " \"query\": \"SELECT liked FROM likes\", \"pick\": \"one-at-random\","
                   " \"encode\": {\"liked\": {\"type\": \"categories\", \"values\": [%s],"
                   " \"oov\": true}, \"combine\": [\"liked\"]},%s",
                   write_values(t, o->categories), write_randomizer(o->sigma));
    return o->asks ? o->asks : text;
}

static const char *write_recipe(sotto_test *t, const sotto_test_service_options *o)
{
    char *text = taken(t, 2 * TEXT);
    time_t now = time(NULL);
    char opens[32], closes[32];
    struct tm tm;
    time_t at = now - (o->closed ? 3 : 1) * 86400;

    (void)strftime(opens, sizeof opens, "%Y-%m-%dT%H:00:00Z", gmtime_r(&at, &tm));
    at = now + (o->closed ? -1 : 2) * 86400;
    (void)strftime(closes, sizeof closes, "%Y-%m-%dT%H:00:00Z", gmtime_r(&at, &tm));
    (void)snprintf(
        text, 2 * (size_t)TEXT,
        "{\"recipe\": \"7\", \"version\": 1, \"analysis\": \"com.example.likes\","
        " \"description\": \"Which of four things people like.\","
        "%s \"participation\": %s,"
        " \"privacy\": {\"adjacency\": \"replacement\", \"epsilon\": 4.0, \"delta\": 1e-6,"
        " \"min_cohort\": %u%s},"
        " \"aggregation\": {\"trust\": \"%s\", \"leader\": \"key:leader\","
        " \"helper\": \"key:helper\"%s},"
        " \"schedule\": {\"opens\": \"%s\", \"closes\": \"%s\", \"precision\": \"1h\"},"
        " \"population\": 1000, \"on_no_match\": \"no-value\"}",
        write_question(t, o),
        o->participation ? o->participation : "{\"type\": \"poisson\", \"rate\": 1.0}",
        o->min_cohort ? o->min_cohort : 20, o->noise ? o->noise : write_noise(t, o->sigma),
        o->trust ? o->trust : "split",
        o->leader_selected ? ", \"batch_mode\": \"leader-selected\"" : "", opens, closes);
    return text;
}

static sotto_bytes url_of(sotto_test *t, sotto_server *server)
{
    char *text = taken(t, 64);

    (void)snprintf(text, 64, "http://127.0.0.1:%u/", sotto_server_port(server));
    return sotto_bytes_of(text, strlen(text));
}

static void provision(sotto_test *t, sotto_test_service *s)
{
    sotto_bytes recipe = sotto_bytes_of(s->recipe_text, strlen(s->recipe_text));
    sotto_bytes parties = sotto_bytes_of(s->parties_text, strlen(s->parties_text));
    sotto_buf ids = sotto_test_buf(t, 64), again = sotto_test_buf(t, 64);
    sotto_mistakes *mistakes = (sotto_mistakes *)(void *)taken(t, sizeof *mistakes);

    CHECK_OK(t, sotto_pairing_new(&s->pairing,
                                  &(sotto_paired){"key:leader", "key:helper", "key:collector",
                                                  url_of(t, s->leader), url_of(t, s->helper)},
                                  collector_config(t, s), &t->err));
    CHECK_OK(t, sotto_pairing_put(s->leader->db, s->leader->columns, &s->pairing, &t->err));
    CHECK_OK(t, sotto_pairing_put(s->helper->db, s->helper->columns, &s->pairing, &t->err));
    CHECK_OK(t, sotto_tasks_add(s->leader->db, s->leader->columns, SOTTO_LEADER, recipe, parties, 0,
                                sotto_bytes_of(NULL, 0), &ids, mistakes, &t->err));
    CHECK_OK(t, sotto_tasks_add(s->helper->db, s->helper->columns, SOTTO_HELPER, recipe, parties, 0,
                                sotto_buf_bytes(&ids), &again, mistakes, &t->err));
    CHECK_OK(t, sotto_tasks_refresh(s->leader->tasks, &t->err));
    CHECK_OK(t, sotto_tasks_refresh(s->helper->tasks, &t->err));
}

static void compile(sotto_test *t, sotto_test_service *s, const sotto_test_service_options *o)
{
    const sotto_parties *parties;
    sotto_mistakes *mistakes = (sotto_mistakes *)(void *)taken(t, sizeof *mistakes);

    CHECK_OK(t,
             sotto_recipe_read(&s->recipe, sotto_bytes_of(s->recipe_text, strlen(s->recipe_text)),
                               &t->arena, mistakes, &t->err));
    CHECK_OK(t,
             sotto_parties_read(&parties, sotto_bytes_of(s->parties_text, strlen(s->parties_text)),
                                &t->arena, mistakes, &t->err));
    CHECK_OK(t, sotto_task_compile(&s->task, s->recipe, parties, 0, &t->arena, &t->err));
    if (!o->trust)
        CHECK_OK(t, sotto_prio3_init(&s->vdaf, &t->arena, &s->task.vdaf, &t->err));
    CHECK_OK(t, sotto_hpke_config_decode(&s->leader_hpke, config_of(t, s->leader), &t->err));
    CHECK_OK(t, sotto_hpke_config_decode(&s->helper_hpke, config_of(t, s->helper), &t->err));
    s->bucket =
        sotto_dap_time_of((uint64_t)time(NULL) - (o->closed ? 48 * 3600 : 0), s->task.precision);
}

/* On a port that stays this test's while nobody listens there. */
static sotto_server *open_kept(sotto_test *t, int *kept, const sotto_server_options *options)
{
    sotto_server_options here = *options;
    sotto_server *server = NULL;
    char *listen = taken(t, 32);
    uint16_t port;

    *kept = sotto_test_keep_port(t, &port);
    (void)snprintf(listen, 32, "127.0.0.1:%u", port);
    here.host.listen = listen;
    CHECK_OK(t, sotto_server_open(&server, &here, &t->err));
    return server;
}

void sotto_test_service_open(sotto_test *t, sotto_test_service *s,
                             const sotto_test_service_options *o)
{
    memset(s, 0, sizeof *s);
    s->patience = sotto_test_patience();
    s->leader_options = (sotto_server_options){.role = SOTTO_LEADER,
                                               .host.listen = "127.0.0.1:0",
                                               .host.operations = "127.0.0.1:0",
                                               .tasks.late_seconds = o->late_seconds,
                                               .host.clock = o->clock,
                                               .host.log = o->log ? *o->log : (sotto_log_sink){0},
                                               .tasks.job_delay_ms = o->job_delay_ms,
                                               .tasks.job_reports = o->job_reports,
                                               .host.workers = 2,
                                               .host.lease_seconds = 2};
    s->leader_options.host.database = sotto_test_address(t);
    s->leader_options.host.datastore_key = datastore_key(t, "leader.key");
    s->helper_options = s->leader_options;
    s->helper_options.role = SOTTO_HELPER;
    s->helper_options.host.database = sotto_test_address(t);
    s->helper_options.host.datastore_key = datastore_key(t, "helper.key");
    s->leader = open_kept(t, &s->kept[0], &s->leader_options);
    s->helper = open_kept(t, &s->kept[1], &s->helper_options);
    CHECK_OK(t, sotto_hpke_key_derive(&s->collector, SOTTO_HPKE_KEM_X25519,
                                      sotto_bytes_of("a collector's key, for tests only", 33),
                                      &t->err));
    sotto_sim_random_init(&s->random, 7);
    s->parties_text = write_parties(t, s);
    s->recipe_text = write_recipe(t, o);
    provision(t, s);
    compile(t, s, o);
    CHECK_OK(t, sotto_http_client_open(&s->client, &(sotto_http_client_options){0}, &t->err));
}

void sotto_test_service_close(sotto_test_service *s)
{
    sotto_http_client_close(s->client);
    sotto_server_close(s->leader);
    sotto_server_close(s->helper);
    for (unsigned i = 0; i < 2; i++)
        (void)close(s->kept[i]);
}

/* On the same port, which the other side knows. */
static sotto_server *reopen(sotto_test *t, sotto_server *old, sotto_server_options *options)
{
    char *listen = taken(t, 32);
    sotto_server *server = NULL;

    (void)snprintf(listen, 32, "127.0.0.1:%u", sotto_server_port(old));
    options->host.listen = listen;
    sotto_server_close(old);
    CHECK_OK(t, sotto_server_open(&server, options, &t->err));
    return server;
}

void sotto_test_leader_restart(sotto_test *t, sotto_test_service *s)
{
    s->leader = reopen(t, s->leader, &s->leader_options);
}

void sotto_test_helper_restart(sotto_test *t, sotto_test_service *s)
{
    s->helper = reopen(t, s->helper, &s->helper_options);
}

/* ---- reports ------------------------------------------------------------------------------------------------ */

static sotto_bytes noise(sotto_test *t, sotto_test_service *s, size_t len)
{
    char *out = taken(t, len);

    sotto_sim_random_bytes(&s->random, out, len);
    return sotto_bytes_of(out, len);
}

static void flip(sotto_bytes bytes)
{
    uint8_t *at = (uint8_t *)(uintptr_t)bytes.data;

    at[bytes.len - 1] ^= 1;
}

/* What is wrong with a report before it is sealed. */
static void spoil(sotto_report_draft *draft, sotto_test_flaw flaw)
{
    static const sotto_bytes unknown = {(const uint8_t *)"\x12\x34\0\0", 4};
    sotto_plaintext_input_share *helper = &draft->shares[SOTTO_REPORT_HELPER];

    if (flaw == SOTTO_TEST_TOO_EARLY)
        draft->metadata.time += 24;
    if (flaw == SOTTO_TEST_EXTENSION)
        draft->metadata.public_extensions = unknown;
    if (flaw == SOTTO_TEST_PRIVATE_EXTENSION)
        helper->private_extensions = unknown;
    if (flaw == SOTTO_TEST_SHORT_SHARE)
        helper->payload.len--;
    if (flaw == SOTTO_TEST_BAD_PROOF)
        flip(sotto_bytes_of(draft->shares[SOTTO_REPORT_LEADER].payload.data, 1));
}

sotto_bytes sotto_test_sealed_report(sotto_test *t, sotto_test_service *s, uint64_t bin,
                                     sotto_test_flaw flaw)
{
    uint64_t *values = (uint64_t *)(void *)taken(t, s->task.bins * sizeof *values);
    const sotto_hpke_config to[SOTTO_REPORT_SHARES] = {s->leader_hpke, s->helper_hpke};
    sotto_report_draft draft = {.configuration = s->task.configuration,
                                .metadata = {.time = s->bucket}};
    const sotto_vdaf vdaf = sotto_prio_over(&s->vdaf);
    sotto_dap_report report;
    sotto_buf out;
    sotto_arena arena;

    const bool one = s->task.vdaf.type == SOTTO_PRIO3_HISTOGRAM;
    values[one ? 0 : bin] = one ? bin : 1;
    memcpy(draft.task_id, s->task.id, sizeof draft.task_id);
    memcpy(draft.metadata.report_id, noise(t, s, 16).data, 16);
    sotto_arena_init(&arena, (size_t)16 << 20);
    CHECK_OK(t, sotto_report_shard(&draft, &vdaf,
                                   (sotto_measurement){values, one ? 1 : (size_t)s->task.bins},
                                   noise(t, s, s->task.sizes.rand), &arena, &t->err));
    if (s->admit)
        s->admit(t, s->admit_context, &draft, &arena);
    spoil(&draft, flaw);
    CHECK_OK(t,
             sotto_report_seal_both(&report, &draft, to,
                                    noise(t, s, 2 * SOTTO_HPKE_MAX_PRIVATE_KEY), &arena, &t->err));
    if (flaw == SOTTO_TEST_BAD_LEADER_SEAL)
        flip(report.leader.payload);
    if (flaw == SOTTO_TEST_BAD_HELPER_SEAL)
        flip(report.helper.payload);
    if (flaw == SOTTO_TEST_UNKNOWN_KEY)
        report.leader.config_id = sotto_test_unknown_key(t, s->leader->keys);
    out = sotto_test_buf(t, sotto_dap_report_size(&report));
    CHECK_OK(t, sotto_dap_report_encode(&out, &report, &t->err));
    sotto_arena_clear(&arena);
    return sotto_buf_bytes(&out);
}

sotto_bytes sotto_test_sealed_reports(sotto_test *t, sotto_test_service *s, size_t count,
                                      uint64_t bin, sotto_test_flaw flaw)
{
    sotto_buf out = sotto_test_buf(t, count * (s->task.report_bytes + 256));
    sotto_writer w = sotto_writer_on(&out);

    for (size_t i = 0; i < count; i++)
        sotto_write_bytes(&w, sotto_test_sealed_report(t, s, bin, flaw));
    CHECK_OK(t, sotto_writer_finish(&w, "reports", &t->err));
    return sotto_buf_bytes(&out);
}

/* ---- requests ------------------------------------------------------------------------------------------------ */

static sotto_http_response call(sotto_test *t, sotto_test_service *s, sotto_http_method method,
                                const char *url, sotto_dap_message message, const char *token,
                                sotto_bytes body)
{
    char bearer[128];
    sotto_http_field fields[3] = {{NULL, NULL}};
    size_t count = 0;
    sotto_http_response response = {0};

    (void)snprintf(bearer, sizeof bearer, "Bearer %s", token ? token : "");
    if (message != SOTTO_DAP_MESSAGES)
        fields[count++] = (sotto_http_field){"Content-Type", sotto_dap_media_type(message)};
    if (token)
        fields[count++] = (sotto_http_field){"Authorization", bearer};
    if (s->fold && message == SOTTO_DAP_AGGREGATION_JOB_INIT_REQ)
        fields[count++] = (sotto_http_field){SOTTO_FOLD_FIELD, s->fold};
    CHECK_OK(t, sotto_http_call_wait(s->client, &response,
                                     &(sotto_http_call){.method = method,
                                                        .url = url,
                                                        .fields = fields,
                                                        .field_count = count,
                                                        .body = body,
                                                        .attempts = 1,
                                                        .timeout_ms = s->call_ms},
                                     &t->arena, &t->err));
    return response;
}

sotto_http_response sotto_test_request(sotto_test *t, sotto_test_service *s, bool to_leader,
                                       sotto_http_method method, const char *place,
                                       sotto_dap_message message, const char *token,
                                       sotto_bytes body)
{
    char url[512], id[SOTTO_DAP_ID_TEXT_MAX];

    sotto_dap_id_encode(id, sotto_bytes_of(s->task.id, sizeof s->task.id));
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/tasks/%s/%s",
                   sotto_server_port(to_leader ? s->leader : s->helper), id, place);
    return call(t, s, method, url, message, token, body);
}

sotto_http_response sotto_test_post(sotto_test *t, sotto_test_service *s, bool to_leader,
                                    const char *collection, sotto_dap_message message,
                                    const char *token, sotto_bytes body)
{
    return sotto_test_request(t, s, to_leader, SOTTO_HTTP_POST, collection, message, token, body);
}

sotto_http_response sotto_test_upload(sotto_test *t, sotto_test_service *s, sotto_bytes reports)
{
    return sotto_test_post(t, s, true, "reports", SOTTO_DAP_UPLOAD_REQ, NULL, reports);
}

/* The test shares a process with the keys. */
sotto_bytes sotto_test_opened_share(sotto_test *t, sotto_test_service *s, bool leader,
                                    const sotto_dap_report *r)
{
    const sotto_hpke_ciphertext *sealed = leader ? &r->leader : &r->helper;
    sotto_receivers *keys;
    sotto_plaintext_input_share plain;
    sotto_buf aad = sotto_test_buf(t, 4096), out = sotto_test_buf(t, sealed->payload.len);

    CHECK_OK(t, sotto_receivers_new(&keys, (leader ? s->leader : s->helper)->keys, &t->err));
    CHECK_OK(t, sotto_input_share_aad_encode(&aad, s->task.id, s->task.configuration, &r->metadata,
                                             r->public_share, &t->err));
    CHECK_OK(t, sotto_receivers_unseal(keys, &out, sealed->config_id,
                                       &(sotto_agreement){.peer = sealed->enc},
                                       sotto_buf_bytes(&aad), sealed->payload, &t->err));
    sotto_receivers_free(keys);
    CHECK_OK(t, sotto_plaintext_input_share_decode(&plain, sotto_buf_bytes(&out), &t->err));
    return plain.payload;
}
