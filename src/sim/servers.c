/* Leader and helper of a simulation: what src/serve does with a report between its databases. */
#include "base/alloc.h"
#include "base/arena.h"
#include "collect/collect.h"
#include "dap/collect.h"
#include "dap/report.h"
#include "seal/hpke/agreed.h"
#include "sim/worker.h"

#include <string.h>

enum { BATCH = 64, FEWEST = 8, BYTES = 8 << 20, NOISE = 64 };

typedef struct pending {
    size_t cohort;
    sotto_bytes report;
} pending;

/* One task's part. */
typedef struct task_state {
    sotto_tally tallies[2];
    uint8_t context[SOTTO_DAP_CONTEXT_SIZE];
    bool begun;
} task_state;

struct sotto_sim_servers {
    const sotto_trial *trial;
    const sotto_method *method;
    sotto_vdaf vdaf;
    sotto_hpke_receiver *receivers[2];
    task_state *tasks;
    pending waiting[BATCH];
    size_t count, most;
    sotto_arena keep, reports, work;
    struct {
        uint8_t enc[SOTTO_SIM_ENC];
        sotto_agreement with;
    } agreed[2][SOTTO_SIM_KEYS]; /* of keys that were seen before */
    size_t agreed_count[2];
};

sotto_status sotto_sim_servers_open(sotto_sim_servers **out, const sotto_trial *trial,
                                    sotto_err *err)
{
    static const sotto_dap_role roles[] = {SOTTO_DAP_LEADER, SOTTO_DAP_HELPER};
    sotto_sim_servers *s = sotto_alloc(sizeof *s);
    const size_t fit = BYTES / (trial->tasks[0].report_bytes + 1);
    uint8_t text[SOTTO_DAP_INFO_MAX];

    *out = s;
    if (!s)
        return sotto_fail(err, SOTTO_NO_MEMORY, "both servers");
    s->trial = trial;
    s->most = fit > BATCH ? BATCH : fit < FEWEST ? FEWEST : fit;
    sotto_arena_init(&s->keep, (size_t)256 << 20);
    sotto_arena_init(&s->reports, (size_t)256 << 20);
    sotto_arena_init(&s->work, (size_t)1 << 30);
    s->method = sotto_method_of(trial->tasks[0].vdaf.type);
    s->tasks = sotto_arena_take_array(&s->keep, trial->cohorts, sizeof *s->tasks);
    if (!s->method || !s->tasks)
        return sotto_fail(err, SOTTO_NO_MEMORY, "both servers");
    for (unsigned who = 0; who < 2; who++)
        SOTTO_TRY(sotto_hpke_receiver_new(&s->receivers[who], &trial->keys[who],
                                          trial->collector.suite,
                                          sotto_input_share_info(text, roles[who]), err));
    return sotto_vdaf_open(&s->vdaf, &trial->tasks[0].vdaf, &s->keep, err);
}

void sotto_sim_servers_close(sotto_sim_servers *s)
{
    if (!s)
        return;
    for (unsigned who = 0; who < 2; who++)
        sotto_hpke_receiver_free(s->receivers[who]);
    sotto_arena_clear(&s->keep);
    sotto_arena_clear(&s->reports);
    sotto_arena_clear(&s->work);
    sotto_release(s, sizeof *s);
}

static sotto_status begin(sotto_sim_servers *s, size_t cohort, sotto_err *err)
{
    task_state *t = &s->tasks[cohort];

    if (t->begun)
        return SOTTO_OK;
    for (unsigned who = 0; who < 2; who++)
        SOTTO_TRY(s->method->two_server->tally_init(&t->tallies[who], &s->vdaf, &s->keep, err));
    sotto_dap_context(t->context, s->trial->tasks[cohort].id);
    t->begun = true;
    return SOTTO_OK;
}

/* ---- opening ------------------------------------------------------------------------------------------------- */

/* Reports of one task, as both servers see them. */
typedef struct chunk {
    size_t cohort, count;
    sotto_dap_report sealed[BATCH];
    sotto_agreement with[2][BATCH];
    sotto_vdaf_report opened[2][BATCH];
    sotto_vdaf_batch batch[2];
} chunk;

static const sotto_hpke_ciphertext *half(const sotto_dap_report *report, unsigned who)
{
    return who == 0 ? &report->leader : &report->helper;
}

/* What was agreed with this key before; its place, or SIZE_MAX. */
static size_t find_agreed(const sotto_sim_servers *s, unsigned who, sotto_bytes enc)
{
    for (size_t i = 0; enc.len == SOTTO_SIM_ENC && i < s->agreed_count[who]; i++)
        if (memcmp(s->agreed[who][i].enc, enc.data, SOTTO_SIM_ENC) == 0)
            return i;
    return SIZE_MAX;
}

static void keep_agreed(sotto_sim_servers *s, unsigned who, const sotto_agreement *with)
{
    const size_t at = s->agreed_count[who];

    if (!with->agreed || with->peer.len != SOTTO_SIM_ENC || at == SOTTO_SIM_KEYS ||
        find_agreed(s, who, with->peer) != SIZE_MAX)
        return;
    memcpy(s->agreed[who][at].enc, with->peer.data, SOTTO_SIM_ENC);
    s->agreed[who][at].with = *with;
    s->agreed_count[who]++;
}

/* All agreements of one server at once, but for those that it has. */
static void agree(sotto_sim_servers *s, chunk *c, unsigned who)
{
    const sotto_agreement fresh = {.own = sotto_hpke_receiver_key(s->receivers[who])};
    bool missing = false;

    for (size_t i = 0; i < c->count; i++) {
        const sotto_bytes enc = half(&c->sealed[i], who)->enc;
        const size_t at = find_agreed(s, who, enc);
        sotto_agreement *with = &c->with[who][i];

        *with = at == SIZE_MAX ? fresh : s->agreed[who][at].with;
        with->peer = enc;
        missing = missing || at == SIZE_MAX;
    }
    if (!missing)
        return;
    sotto_agree_many(c->with[who], c->count);
    for (size_t i = 0; i < c->count; i++)
        keep_agreed(s, who, &c->with[who][i]);
}

static sotto_status decode(sotto_sim_servers *s, chunk *c, sotto_err *err)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->waiting[i].cohort == c->cohort)
            SOTTO_TRY(sotto_dap_report_decode(&c->sealed[c->count++], s->waiting[i].report, err));
    for (unsigned who = 0; who < 2; who++)
        agree(s, c, who);
    return SOTTO_OK;
}

static sotto_status open_share(sotto_sim_servers *s, chunk *c, unsigned who, size_t i,
                               sotto_bytes aad, sotto_err *err)
{
    const sotto_dap_report *report = &c->sealed[i];
    const sotto_hpke_ciphertext *sealed = half(report, who);
    sotto_vdaf_report *out = &c->opened[who][i];
    sotto_plaintext_input_share plain;
    sotto_buf text;

    SOTTO_TRY(sotto_buf_take(&text, &s->work, sealed->payload.len, err));
    SOTTO_TRY(sotto_hpke_receiver_unseal_with(s->receivers[who], &text, &c->with[who][i], aad,
                                              sealed->payload, err));
    SOTTO_TRY(sotto_plaintext_input_share_decode(&plain, sotto_buf_bytes(&text), err));
    memcpy(out->nonce, report->metadata.report_id, sizeof out->nonce);
    out->public_share = report->public_share;
    out->input_share = plain.payload;
    return SOTTO_OK;
}

static sotto_status open_shares(sotto_sim_servers *s, chunk *c, sotto_err *err)
{
    const sotto_task *task = &s->trial->tasks[c->cohort];

    for (size_t i = 0; i < c->count; i++) {
        const sotto_dap_report *report = &c->sealed[i];
        sotto_buf aad;

        SOTTO_TRY(sotto_buf_take(&aad, &s->work,
                                 task->configuration.len + report->public_share.len +
                                     report->metadata.public_extensions.len + 128,
                                 err));
        SOTTO_TRY(sotto_input_share_aad_encode(&aad, task->id, task->configuration,
                                               &report->metadata, report->public_share, err));
        for (unsigned who = 0; who < 2; who++)
            SOTTO_TRY(open_share(s, c, who, i, sotto_buf_bytes(&aad), err));
    }
    return SOTTO_OK;
}

/* ---- verifying ----------------------------------------------------------------------------------------------- */

static sotto_status verify(sotto_sim_servers *s, chunk *c, sotto_err *err)
{
    const sotto_vdaf_server_ops *ops = s->method->two_server;
    task_state *t = &s->tasks[c->cohort];
    sotto_vdaf_verifier v[2] = {{.aggregator = 0}, {.aggregator = 1}};

    for (unsigned who = 0; who < 2; who++) {
        memcpy(v[who].verify_key, s->trial->run.verify_key, sizeof v[who].verify_key);
        v[who].context = sotto_bytes_of(t->context, sizeof t->context);
    }
    SOTTO_TRY(
        ops->leader_init(&s->vdaf, &c->batch[0], &v[0], c->opened[0], c->count, &s->work, err));
    SOTTO_TRY(ops->helper_init(&s->vdaf, &c->batch[1], &v[1], c->opened[1], c->batch[0].outbound,
                               c->count, &s->work, err));
    SOTTO_TRY(ops->leader_finish(&s->vdaf, &c->batch[0], c->batch[1].outbound, err));
    for (unsigned who = 0; who < 2; who++) {
        for (size_t i = 0; i < c->count; i++)
            if (c->batch[who].status[i] != SOTTO_OK)
                return sotto_fail(err, SOTTO_REJECTED, "the %s rejects an honest report",
                                  who ? "helper" : "leader");
        SOTTO_TRY(ops->accumulate(&t->tallies[who], &c->batch[who], 0, c->count, err));
    }
    return SOTTO_OK;
}

static sotto_status flush_cohort(sotto_sim_servers *s, size_t cohort, sotto_err *err)
{
    chunk *c = sotto_arena_take(&s->work, sizeof *c);

    if (!c)
        return sotto_fail(err, SOTTO_NO_MEMORY, "verifying reports");
    c->cohort = cohort;
    SOTTO_TRY(begin(s, cohort, err));
    SOTTO_TRY(decode(s, c, err));
    SOTTO_TRY(open_shares(s, c, err));
    return verify(s, c, err);
}

sotto_status sotto_sim_servers_flush(sotto_sim_servers *s, sotto_err *err)
{
    for (size_t i = 0; i < s->count; i++) {
        bool done = false;

        for (size_t j = 0; j < i; j++)
            done = done || s->waiting[j].cohort == s->waiting[i].cohort;
        if (done)
            continue;
        SOTTO_TRY(flush_cohort(s, s->waiting[i].cohort, err));
        sotto_arena_reset(&s->work);
    }
    s->count = 0;
    sotto_arena_reset(&s->reports);
    return SOTTO_OK;
}

sotto_status sotto_sim_servers_put(sotto_sim_servers *s, size_t cohort, sotto_bytes report,
                                   sotto_err *err)
{
    if (s->count >= s->most)
        SOTTO_TRY(sotto_sim_servers_flush(s, err));
    uint8_t *copy = sotto_arena_take(&s->reports, report.len);
    if (!copy)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a report");
    memcpy(copy, report.data, report.len);
    s->waiting[s->count++] = (pending){cohort, sotto_bytes_of(copy, report.len)};
    return SOTTO_OK;
}

/* ---- releasing ------------------------------------------------------------------------------------------------- */

sotto_status sotto_sim_servers_merge(sotto_sim_servers *s, const sotto_sim_servers *other,
                                     size_t cohort, sotto_err *err)
{
    if (!other->tasks[cohort].begun)
        return SOTTO_OK;
    SOTTO_TRY(begin(s, cohort, err));
    for (unsigned who = 0; who < 2; who++)
        SOTTO_TRY(s->method->tally->merge(&s->tasks[cohort].tallies[who],
                                          &other->tasks[cohort].tallies[who], err));
    return SOTTO_OK;
}

/* Each server draws for itself. */
static sotto_status add_noise(const sotto_sim_servers *s, sotto_tally *tally, size_t cohort,
                              unsigned who, sotto_err *err)
{
    sotto_sim_random random =
        sotto_sim_random_fork(&s->trial->run.random, UINT64_MAX - 2 * cohort - who);
    const size_t entries = s->vdaf.sizes.outputs;
    int64_t drawn[NOISE];
    sotto_entropy entropy;

    sotto_entropy_init(&entropy, sotto_sim_random_fill, &random);
    for (size_t i = 0, some; s->trial->gaussian && i < entries; i += some) {
        some = entries - i < NOISE ? entries - i : NOISE;
        SOTTO_TRY(sotto_noise_draw(s->trial->gaussian, drawn, some, &entropy, err));
        SOTTO_TRY(s->method->tally->add(tally, i, drawn, some, err));
    }
    return SOTTO_OK;
}

static sotto_status seal_share(const sotto_sim_servers *s, sotto_hpke_ciphertext *out,
                               sotto_tally *tally, size_t cohort, unsigned who, sotto_bytes request,
                               sotto_arena *arena, sotto_err *err)
{
    const sotto_task *task = &s->trial->tasks[cohort];
    const sotto_hpke_config to = sotto_collector_key_config(&s->trial->collector);
    const size_t enc = to.public_key.len;
    uint8_t text[SOTTO_DAP_INFO_MAX], ikm[SOTTO_HPKE_MAX_PRIVATE_KEY] = {(uint8_t)(1 + who)};
    const sotto_bytes info =
        sotto_aggregate_share_info(text, who ? SOTTO_DAP_HELPER : SOTTO_DAP_LEADER);
    sotto_buf share, aad, sealed;

    SOTTO_TRY(add_noise(s, tally, cohort, who, err));
    SOTTO_TRY(sotto_buf_take(&share, arena, s->vdaf.sizes.out_share, err));
    SOTTO_TRY(sotto_buf_take(&aad, arena, task->configuration.len + request.len + 128, err));
    SOTTO_TRY(sotto_buf_take(&sealed, arena, s->vdaf.sizes.out_share + enc + 64, err));
    SOTTO_TRY(s->method->tally->encode(tally, &share, err));
    SOTTO_TRY(
        sotto_dap_aggregate_share_aad_encode(&aad, task->id, task->configuration, request, err));
    SOTTO_TRY(sotto_hpke_seal(&sealed, &to, sotto_bytes_of(ikm, sizeof ikm), info,
                              sotto_buf_bytes(&aad), sotto_buf_bytes(&share), err));
    *out = (sotto_hpke_ciphertext){to.id, sotto_bytes_of(sealed.data, enc),
                                   sotto_bytes_of(sealed.data + enc, sealed.len - enc)};
    return SOTTO_OK;
}

sotto_status sotto_sim_servers_release(sotto_sim_servers *s, sotto_collection *out, size_t cohort,
                                       sotto_arena *arena, sotto_err *err)
{
    const sotto_task *task = &s->trial->tasks[cohort];
    const uint64_t first = task->opens / task->precision,
                   end = (task->closes - 1) / task->precision + 1;
    sotto_collection_query query = {first * task->precision, end * task->precision};
    sotto_dap_collection_resp resp = {.interval = {first, end - first}};
    sotto_buf request, answer;

    if (task->batch_mode == SOTTO_DAP_LEADER_SELECTED)
        query = (sotto_collection_query){0, 0};
    SOTTO_TRY(begin(s, cohort, err));
    resp.report_count = s->tasks[cohort].tallies[0].contributions;
    SOTTO_TRY(sotto_buf_take(&request, arena, 128, err));
    SOTTO_TRY(sotto_collect_query_encode(&request, task, &query, err));
    for (unsigned who = 0; who < 2; who++)
        SOTTO_TRY(seal_share(s, who ? &resp.helper : &resp.leader, &s->tasks[cohort].tallies[who],
                             cohort, who, sotto_buf_bytes(&request), arena, err));
    SOTTO_TRY(sotto_buf_take(&answer, arena, 2 * s->vdaf.sizes.out_share + 512, err));
    SOTTO_TRY(sotto_dap_collection_resp_encode(&answer, &resp, err));
    return sotto_collect_open(out, task, &s->trial->collector, sotto_buf_bytes(&request),
                              sotto_buf_bytes(&answer), arena, err);
}
