#include "maker.h"

#include "aggregate/prio/prio.h"
#include "base/alloc.h"
#include "base/arena.h"
#include "dap/report.h"
#include "seal/hpke/inspect.h"
#include "sim/random.h"

#include <string.h>

enum { SENDERS = 16, ENC = 133, AAD = 2048, SCRATCH = 64 << 20, FIXED = 64 << 20 };

typedef struct sender {
    sotto_hpke_context *context;
    uint8_t enc[ENC];
    size_t enc_len;
} sender;

struct sotto_maker {
    const sotto_maker_task *task;
    uint64_t seed;
    sotto_prio3 vdaf;
    sender senders[2][SENDERS]; /* to the leader, to the helper */
    sotto_arena fixed, scratch; /* scratch: of one report */
    uint64_t *values;           /* one measurement        */
    uint8_t *random;
    sotto_buf plain, aad, sealed[2];
};

/* ---- what a number stands for ------------------------------------------------------------------------------- */

static sotto_sim_random stream_of(uint64_t seed, uint64_t number)
{
    sotto_sim_random all;

    sotto_sim_random_init(&all, seed);
    return sotto_sim_random_fork(&all, number);
}

/* Spread over all ids, as random ones are: the servers' indexes must not profit from an order. */
void sotto_maker_id(uint8_t out[SOTTO_REPORT_ID_SIZE], uint64_t seed, uint64_t number)
{
    sotto_sim_random stream = stream_of(seed, number);

    sotto_sim_random_bytes(&stream, out, SOTTO_REPORT_ID_SIZE);
}

static size_t measurement(const sotto_maker *m, uint64_t *values, uint64_t number)
{
    sotto_sim_random stream = stream_of(m->seed + 1, number);
    const sotto_prio3_config *config = &m->vdaf.config;
    size_t count = m->vdaf.sizes.outputs;

    memset(values, 0, count * sizeof *values);
    switch (config->type) {
    case SOTTO_PRIO3_HISTOGRAM:
        values[0] = sotto_sim_random_below(&stream, config->length);
        return 1;
    case SOTTO_PRIO3_COUNT:
        values[0] = sotto_sim_random_below(&stream, 2);
        return 1;
    case SOTTO_PRIO3_SUM:
        values[0] = sotto_sim_random_below(&stream, config->max + 1);
        return 1;
    default: /* vectors: one entry of 1 is allowed by every type */
        values[sotto_sim_random_below(&stream, count)] = 1;
        return count;
    }
}

void sotto_maker_measure(const sotto_maker *m, uint64_t *sums, uint64_t number)
{
    size_t count = measurement(m, m->values, number);

    if (m->vdaf.config.type == SOTTO_PRIO3_HISTOGRAM)
        sums[m->values[0]]++;
    else
        for (size_t i = 0; i < count; i++)
            sums[i] += m->values[i];
}

/* ---- up and down -------------------------------------------------------------------------------------------- */

static sotto_status open_senders(sotto_maker *m, sotto_err *err)
{
    const sotto_hpke_config *to[2] = {&m->task->leader, &m->task->helper};
    const sotto_dap_role roles[2] = {SOTTO_DAP_LEADER, SOTTO_DAP_HELPER};
    sotto_sim_random stream = stream_of(m->seed + 2, 0);

    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < SENDERS; i++) {
            sender *s = &m->senders[side][i];
            sotto_buf enc = sotto_buf_over(s->enc, sizeof s->enc);
            uint8_t ikm[66], info[SOTTO_DAP_INFO_MAX];

            sotto_sim_random_bytes(&stream, ikm, sizeof ikm);
            SOTTO_TRY(sotto_hpke_context_send(&s->context, &enc, to[side],
                                              sotto_bytes_of(ikm, sizeof ikm),
                                              sotto_input_share_info(info, roles[side]), err));
            s->enc_len = enc.len;
        }
    return SOTTO_OK;
}

static sotto_status set_up(sotto_maker *m, sotto_err *err)
{
    const sotto_prio3_sizes *s = &m->vdaf.sizes;
    size_t longest;

    SOTTO_TRY(sotto_prio3_init(&m->vdaf, &m->fixed, &m->task->vdaf, err));
    longest = s->leader_share > s->helper_share ? s->leader_share : s->helper_share;
    SOTTO_TRY(sotto_buf_take(&m->plain, &m->fixed, longest + 128, err));
    SOTTO_TRY(sotto_buf_take(&m->aad, &m->fixed, AAD + s->public_share, err));
    SOTTO_TRY(sotto_buf_take(&m->sealed[0], &m->fixed, longest + 192, err));
    SOTTO_TRY(sotto_buf_take(&m->sealed[1], &m->fixed, longest + 192, err));
    m->values = sotto_arena_take_array(&m->fixed, s->outputs + 1, sizeof *m->values);
    m->random = sotto_arena_take(&m->fixed, s->rand);
    if (!m->values || !m->random)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a maker");
    return open_senders(m, err);
}

sotto_status sotto_maker_new(sotto_maker **out, const sotto_maker_task *task, uint64_t seed,
                             sotto_err *err)
{
    sotto_maker *m = sotto_alloc(sizeof *m);
    sotto_status status;

    *out = NULL;
    if (!m)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a maker");
    m->task = task;
    m->seed = seed;
    sotto_arena_init(&m->fixed, FIXED);
    sotto_arena_init(&m->scratch, SCRATCH);
    status = set_up(m, err);
    if (status == SOTTO_OK)
        *out = m;
    else
        sotto_maker_free(m);
    return status;
}

void sotto_maker_free(sotto_maker *m)
{
    if (!m)
        return;
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < SENDERS; i++)
            sotto_hpke_context_free(m->senders[side][i].context);
    sotto_arena_clear(&m->fixed);
    sotto_arena_clear(&m->scratch);
    sotto_release(m, sizeof *m);
}

const sotto_prio3 *sotto_maker_vdaf(const sotto_maker *m)
{
    return &m->vdaf;
}

size_t sotto_maker_report_size(const sotto_maker *m)
{
    const sotto_prio3_sizes *s = &m->vdaf.sizes;

    return (m->task->admit ? 1024 : 512) + s->public_share + s->leader_share + s->helper_share;
}

/* ---- one report ---------------------------------------------------------------------------------------------- */

static sotto_status seal(sotto_maker *m, sotto_hpke_ciphertext *out, unsigned side, uint64_t number,
                         const sotto_report_draft *draft, sotto_err *err)
{
    sender *s = &m->senders[side][number % SENDERS];
    sotto_buf *sealed = &m->sealed[side];

    m->plain.len = m->aad.len = sealed->len = 0;
    SOTTO_TRY(sotto_plaintext_input_share_encode(&m->plain, &draft->shares[side], err));
    SOTTO_TRY(sotto_report_aad_encode(&m->aad, draft, err));
    sotto_hpke_context_set_sequence(s->context, 0); /* a single message each, to the receiver */
    SOTTO_TRY(sotto_hpke_context_seal(s->context, sealed, sotto_buf_bytes(&m->aad),
                                      sotto_buf_bytes(&m->plain), err));
    *out = (sotto_hpke_ciphertext){side == SOTTO_REPORT_LEADER ? m->task->leader.id
                                                               : m->task->helper.id,
                                   sotto_bytes_of(s->enc, s->enc_len), sotto_buf_bytes(sealed)};
    return SOTTO_OK;
}

static sotto_status shard(sotto_maker *m, sotto_report_draft *draft, uint64_t number,
                          sotto_err *err)
{
    sotto_sim_random stream = stream_of(m->seed + 3, number);
    size_t count = measurement(m, m->values, number);

    sotto_sim_random_bytes(&stream, m->random, m->vdaf.sizes.rand);
    const sotto_vdaf vdaf = sotto_prio_over(&m->vdaf);
    return sotto_report_shard(draft, &vdaf, (sotto_measurement){m->values, count},
                              sotto_bytes_of(m->random, m->vdaf.sizes.rand), &m->scratch, err);
}

/* Of memory that is the maker's own. */
static void spoil(sotto_bytes bytes)
{
    *(uint8_t *)(uintptr_t)bytes.data ^= 1;
}

static sotto_status make(sotto_maker *m, sotto_buf *out, uint64_t number, uint64_t time,
                         sotto_flaw flaw, sotto_err *err)
{
    sotto_report_draft draft = {.configuration = m->task->configuration, .metadata.time = time};
    sotto_bytes *leader_share = &draft.shares[SOTTO_REPORT_LEADER].payload;
    sotto_dap_report report;

    memcpy(draft.task_id, m->task->id, sizeof draft.task_id);
    sotto_maker_id(draft.metadata.report_id, m->seed, number);
    SOTTO_TRY(shard(m, &draft, number, err));
    if (flaw == SOTTO_FLAW_PROOF)
        spoil(*leader_share);
    if (flaw == SOTTO_FLAW_LENGTH)
        leader_share->len--;
    const sotto_hpke_config to[] = {m->task->leader, m->task->helper};
    if (m->task->admit)
        SOTTO_TRY(m->task->admit(m->task->admit_context, number, &draft, to, &m->scratch, err));
    report = (sotto_dap_report){.metadata = draft.metadata, .public_share = draft.public_share};
    SOTTO_TRY(seal(m, &report.leader, SOTTO_REPORT_LEADER, number, &draft, err));
    SOTTO_TRY(seal(m, &report.helper, SOTTO_REPORT_HELPER, number, &draft, err));
    if (flaw == SOTTO_FLAW_LEADER_SEAL)
        spoil(report.leader.payload);
    if (flaw == SOTTO_FLAW_HELPER_SEAL)
        spoil(report.helper.payload);
    return sotto_dap_report_encode(out, &report, err);
}

sotto_status sotto_maker_make(sotto_maker *m, sotto_buf *out, uint64_t number, uint64_t time,
                              sotto_flaw flaw, sotto_err *err)
{
    /* Not a reset, which would give back what sharding has finished with. */
    const sotto_arena_mark mark = sotto_arena_here(&m->scratch);
    sotto_status status = make(m, out, number, time, flaw, err);

    sotto_arena_rollback(&m->scratch, mark);
    return status;
}
