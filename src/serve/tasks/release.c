#include "serve/tasks/release.h"

#include "base/arena.h"
#include "base/rule.h"
#include "recipe/learning_correlated.h"
#include "recipe/learning_slots.h"
#include "serve/tasks/round_noise.h"
#include "sotto/random.h"

#include <string.h>

enum { NOISE_AT_ONCE = 256 };

/* Talwar et al. 2024, Appendix A: a round may not outlast a slot, nor have devices of two. Slots begin and end with buckets. */
static bool within_slot(const sotto_server_task *task, const sotto_dap_interval *i)
{
    const uint64_t length = task->collection_seconds / task->dap.precision,
                   first = (uint64_t)task->collection_start / task->dap.precision;

    if (length == 0)
        return false;
    return i->duration <= length &&
           (i->start % length + length - first % length) % length + i->duration <= length;
}

/* Where a device draws one round, a part of one would have fewer reports, and more sums would tell more. The first rounds of sliding
 * windows have devices of some windows alone. */
static bool fits_policy(const sotto_server_task *task, const sotto_dap_interval *i)
{
    const uint64_t first = task->dap.opens / task->dap.precision,
                   end = task->dap.closes / task->dap.precision;

    if (SOTTO_RULE(round_released_whole) && sotto_learning_once(task->learning) &&
        (i->start != first || i->duration != end - first))
        return false;
    /* Two sums of one round would both take away the noise of rounds before, and each would have to be paid for. */
    if (SOTTO_RULE(correlated_round_whole) && sotto_learning_correlated(task->learning) &&
        (i->start != first || i->duration != end - first))
        return false;
    if (SOTTO_RULE(servers_warm_up) && sotto_learning_once(task->learning) &&
        task->round < sotto_learning_warm_up(task->learning))
        return false;
    return true;
}

bool sotto_release_range(sotto_batch_range *out, sotto_dap_problem *problem,
                         const sotto_server_task *task, const sotto_dap_batch_selector *selector)
{
    const sotto_dap_interval *i = &selector->interval;

    memset(out, 0, sizeof *out);
    *problem = SOTTO_DAP_INVALID_MESSAGE;
    if ((unsigned)selector->mode != task->dap.batch_mode)
        return false;
    if (selector->mode == SOTTO_DAP_LEADER_SELECTED) {
        out->leader_selected = true;
        out->batch.len = SOTTO_BATCH_ID_SIZE;
        memcpy(out->batch.bytes, selector->batch_id, SOTTO_BATCH_ID_SIZE);
        return true;
    }
    *problem = SOTTO_DAP_BATCH_INVALID;
    if (!sotto_dap_interval_valid(*i) || i->start + i->duration > INT64_MAX)
        return false;
    if (SOTTO_RULE(collection_length) && task->collection_seconds > 0 && !within_slot(task, i))
        return false;
    if (!fits_policy(task, i))
        return false;
    out->first_bucket = i->start;
    out->end_bucket = i->start + i->duration;
    return true;
}

sotto_dap_batch_selector sotto_release_selector(const sotto_server_task *task,
                                                const sotto_batch_range *range)
{
    sotto_dap_batch_selector out = {
        .mode = (sotto_dap_batch_mode)task->dap.batch_mode,
        .interval = {range->first_bucket, range->end_bucket - range->first_bucket}};

    if (range->leader_selected)
        memcpy(out.batch_id, range->batch.bytes, sizeof out.batch_id);
    return out;
}

size_t sotto_release_sealed_size(const sotto_server_task *task)
{
    return task->dap.sizes.out_share + SOTTO_HPKE_TAG_SIZE + SOTTO_HPKE_MAX_PUBLIC_KEY + 16;
}

/* A few entries at a time, each drawn, added and forgotten. */
static sotto_status add_noise(sotto_tally *tally, const sotto_server_task *task, sotto_err *err)
{
    int64_t drawn[NOISE_AT_ONCE];
    size_t count, entries = task->vdaf.sizes.outputs;
    sotto_status status = SOTTO_OK;
    sotto_entropy entropy;

    sotto_entropy_system(&entropy);
    for (size_t i = 0; i < entries && status == SOTTO_OK; i += count) {
        count = entries - i < NOISE_AT_ONCE ? entries - i : NOISE_AT_ONCE;
        status = sotto_noise_draw(task->noise, drawn, count, &entropy, err);
        if (status == SOTTO_OK)
            status = task->method->tally->add(tally, i, drawn, count, err);
    }
    sotto_wipe(drawn, sizeof drawn);
    sotto_entropy_clear(&entropy);
    return status;
}

/* The share as it may leave this server. */
static sotto_status with_noise(sotto_tx *tx, sotto_bytes *out, const sotto_server_task *task,
                               const sotto_column_keys *keys, const sotto_sub_aggregate *sum,
                               sotto_arena *arena, sotto_err *err)
{
    sotto_tally tally;
    sotto_buf share;

    *out = sum->share;
    if (!task->noise)
        return SOTTO_OK;
    SOTTO_TRY(sotto_buf_take(&share, arena, task->vdaf.sizes.out_share, err));
    SOTTO_TRY(task->method->two_server->tally_init(&tally, &task->vdaf, arena, err));
    SOTTO_TRY(task->method->tally->decode(&tally, sum->share, sum->reports, err));
    if (sotto_learning_correlated(task->learning))
        SOTTO_TRY(sotto_round_noise_add(tx, &tally, task, keys, arena, err));
    else
        SOTTO_TRY(add_noise(&tally, task, err));
    SOTTO_TRY(task->method->tally->encode(&tally, &share, err));
    *out = sotto_buf_bytes(&share);
    return SOTTO_OK;
}

sotto_status sotto_release_seal(sotto_tx *tx, sotto_buf *out, const sotto_server_task *task,
                                const sotto_column_keys *keys, sotto_role role,
                                sotto_bytes collection_req, const sotto_sub_aggregate *sum,
                                sotto_arena *arena, sotto_err *err)
{
    uint8_t text[SOTTO_DAP_INFO_MAX], ikm[SOTTO_HPKE_MAX_PRIVATE_KEY];
    sotto_bytes info = sotto_aggregate_share_info(text, (sotto_dap_role)role);
    size_t enc = task->collector.public_key.len;
    sotto_buf aad, sealed;
    sotto_status status;
    sotto_bytes share;

    SOTTO_TRY(
        sotto_buf_take(&aad, arena, task->dap.configuration.len + collection_req.len + 128, err));
    SOTTO_TRY(sotto_buf_take(&sealed, arena, sotto_release_sealed_size(task), err));
    SOTTO_TRY(with_noise(tx, &share, task, keys, sum, arena, err));
    SOTTO_TRY(sotto_dap_aggregate_share_aad_encode(&aad, task->dap.id, task->dap.configuration,
                                                   collection_req, err));
    SOTTO_TRY(sotto_random_bytes(ikm, sizeof ikm, err));
    status = sotto_hpke_seal(&sealed, &task->collector, sotto_bytes_of(ikm, sizeof ikm), info,
                             sotto_buf_bytes(&aad), share, err);
    sotto_wipe(ikm, sizeof ikm);
    SOTTO_TRY(status);
    return sotto_hpke_ciphertext_encode(
        out,
        &(sotto_hpke_ciphertext){task->collector.id, sotto_bytes_of(sealed.data, enc),
                                 sotto_bytes_of(sealed.data + enc, sealed.len - enc)},
        err);
}

sotto_status sotto_release_lock(sotto_tx *tx, int64_t task, bool exclusive, sotto_err *err)
{
    return sotto_tx_guard(tx, task, exclusive, err);
}
