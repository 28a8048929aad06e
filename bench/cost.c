/* What a report costs by cryptography alone: the limit that a deployment's speed is compared with. */
#define _POSIX_C_SOURCE 200809L
#include "deployment.h"

#include "base/arena.h"
#include "dap/dap.h"
#include "dap/report.h"

#include <string.h>
#include <time.h>

enum { COST_BATCH = 64, ARENA = 768 << 20 };

/* One batch of reports, and what is timed on it. */
typedef struct costing {
    sotto_deployment *d;
    sotto_dap_report reports[COST_BATCH];
    sotto_receivers *receivers[2];
    sotto_prio3_verifier verifiers[2];
    sotto_prio3_report inputs[2][COST_BATCH];
    sotto_prio3_verification states[2][COST_BATCH];
    sotto_bytes outbound[2][COST_BATCH];
    sotto_prio3_agg sums[2];
    sotto_buf aad, plain[2];
    sotto_arena fixed, batch;
} costing;

static double cpu_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static const sotto_hpke_ciphertext *sealed_to(const sotto_dap_report *r, size_t side)
{
    return side == 0 ? &r->leader : &r->helper;
}

/* As the servers do it: keys are agreed for the batch, then each share is opened. */
static sotto_status open_all(costing *c, size_t side, sotto_err *err)
{
    sotto_agreement agreed[COST_BATCH];
    uint8_t ids[COST_BATCH];

    for (size_t i = 0; i < COST_BATCH; i++) {
        ids[i] = sealed_to(&c->reports[i], side)->config_id;
        agreed[i] = (sotto_agreement){.peer = sealed_to(&c->reports[i], side)->enc};
    }
    sotto_receivers_agree(c->receivers[side], agreed, ids, COST_BATCH);
    c->plain[side].len = 0;
    for (size_t i = 0; i < COST_BATCH; i++) {
        const sotto_dap_report *r = &c->reports[i];
        const sotto_hpke_ciphertext *sealed = sealed_to(r, side);
        size_t start = c->plain[side].len;
        sotto_plaintext_input_share share;
        sotto_message_key key;

        c->aad.len = 0;
        SOTTO_TRY(sotto_input_share_aad_encode(&c->aad, c->d->task.id, c->d->task.configuration,
                                               &r->metadata, r->public_share, err));
        SOTTO_TRY(sotto_receivers_unseal_keyed(
            c->receivers[side], &c->plain[side], sealed->config_id, &agreed[i],
            sotto_buf_bytes(&c->aad), sealed->payload, &key, err));
        SOTTO_TRY(sotto_plaintext_input_share_decode(
            &share, sotto_bytes_of(c->plain[side].data + start, c->plain[side].len - start), err));
        memcpy(c->inputs[side][i].nonce, r->metadata.report_id, SOTTO_PRIO3_NONCE_SIZE);
        c->inputs[side][i].public_share = r->public_share;
        c->inputs[side][i].input_share = share.payload;
    }
    return SOTTO_OK;
}

static sotto_status verify_all(costing *c, sotto_report_cost *cost, sotto_err *err)
{
    const sotto_prio3 *vdaf = &c->d->vdaf;
    double start = cpu_ns(), middle, end;

    SOTTO_TRY(sotto_ping_pong_leader_init(vdaf, c->states[0], c->outbound[0], &c->verifiers[0],
                                          c->inputs[0], COST_BATCH, &c->batch, err));
    middle = cpu_ns();
    SOTTO_TRY(sotto_ping_pong_helper_init(vdaf, c->states[1], c->outbound[1], &c->verifiers[1],
                                          c->inputs[1], c->outbound[0], COST_BATCH, &c->batch,
                                          err));
    SOTTO_TRY(sotto_prio3_accumulate(vdaf, &c->sums[1], c->states[1], COST_BATCH, err));
    end = cpu_ns();
    cost->helper_verify += end - middle;
    SOTTO_TRY(
        sotto_ping_pong_leader_continued(vdaf, c->states[0], c->outbound[1], COST_BATCH, err));
    SOTTO_TRY(sotto_prio3_accumulate(vdaf, &c->sums[0], c->states[0], COST_BATCH, err));
    cost->leader_verify += middle - start + cpu_ns() - end;
    for (size_t i = 0; i < COST_BATCH; i++)
        if (c->states[0][i].status != SOTTO_OK || c->states[1][i].status != SOTTO_OK)
            return sotto_fail(err, SOTTO_BUG, "a report of the maker's is refused");
    sotto_arena_reset(&c->batch);
    return SOTTO_OK;
}

static sotto_status repeat(costing *c, sotto_report_cost *out, double seconds, sotto_err *err)
{
    sotto_report_cost sum = {0};
    double begin = cpu_ns(), reports = 0;

    do {
        double start = cpu_ns(), middle;

        SOTTO_TRY(open_all(c, 0, err));
        middle = cpu_ns();
        SOTTO_TRY(open_all(c, 1, err));
        sum.leader_open += middle - start;
        sum.helper_open += cpu_ns() - middle;
        SOTTO_TRY(verify_all(c, &sum, err));
        reports += COST_BATCH;
    } while (cpu_ns() - begin < seconds * 1e9);
    *out = (sotto_report_cost){sum.leader_open / reports, sum.helper_open / reports,
                               sum.leader_verify / reports, sum.helper_verify / reports};
    return SOTTO_OK;
}

static sotto_status prepare(costing *c, sotto_maker *maker, const uint8_t *context, sotto_err *err)
{
    sotto_deployment *d = c->d;
    size_t size = sotto_maker_report_size(maker);

    SOTTO_TRY(sotto_buf_take(&c->aad, &c->fixed, 4096 + d->vdaf.sizes.public_share, err));
    SOTTO_TRY(sotto_buf_take(&c->plain[0], &c->fixed, COST_BATCH * size, err));
    SOTTO_TRY(sotto_buf_take(&c->plain[1], &c->fixed, COST_BATCH * size, err));
    for (unsigned side = 0; side < 2; side++) {
        c->verifiers[side].aggregator = side;
        c->verifiers[side].context = sotto_bytes_of(context, SOTTO_DAP_CONTEXT_SIZE);
        SOTTO_TRY(sotto_dap_verify_key_derive(c->verifiers[side].verify_key,
                                              sotto_bytes_of(d->pairing.verify_seed, 32),
                                              d->task.id, SOTTO_DAP_SALT_DAP, err));
        SOTTO_TRY(sotto_prio3_agg_init(&d->vdaf, &c->sums[side], &c->fixed, err));
    }
    for (size_t i = 0; i < COST_BATCH; i++) {
        sotto_buf out;

        SOTTO_TRY(sotto_buf_take(&out, &c->fixed, size, err));
        SOTTO_TRY(sotto_maker_make(maker, &out, i, d->bucket, SOTTO_SOUND, err));
        SOTTO_TRY(sotto_dap_report_decode(&c->reports[i], sotto_buf_bytes(&out), err));
    }
    return SOTTO_OK;
}

sotto_status sotto_deployment_cost(sotto_deployment *d, sotto_report_cost *out, double seconds,
                                   sotto_err *err)
{
    static costing c; /* large */
    sotto_deployment_store stores[2] = {{0}, {0}};
    uint8_t context[SOTTO_DAP_CONTEXT_SIZE];
    sotto_maker *maker = NULL;
    sotto_status status = sotto_maker_new(&maker, &d->task, 1, err);

    memset(&c, 0, sizeof c);
    c.d = d;
    sotto_arena_init(&c.fixed, ARENA);
    sotto_arena_init(&c.batch, ARENA);
    sotto_dap_context(context, d->task.id);
    for (size_t side = 0; status == SOTTO_OK && side < 2; side++) {
        status = sotto_deployment_open_store(&stores[side], d, side, err);
        if (status == SOTTO_OK)
            status = sotto_receivers_new(&c.receivers[side], stores[side].keys, err);
    }
    if (status == SOTTO_OK)
        status = prepare(&c, maker, context, err);
    if (status == SOTTO_OK)
        status = repeat(&c, out, seconds, err);
    for (size_t side = 0; side < 2; side++) {
        if (c.receivers[side])
            sotto_receivers_free(c.receivers[side]);
        sotto_deployment_close_store(&stores[side]);
    }
    sotto_maker_free(maker);
    sotto_arena_clear(&c.fixed);
    sotto_arena_clear(&c.batch);
    return status;
}
