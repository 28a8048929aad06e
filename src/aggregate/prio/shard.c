/* Prio3's client: all of it that a device links. */
#include "aggregate/prio/prio.h"

static unsigned bits_of(uint64_t most)
{
    unsigned bits = 1;

    while (most >>= 1)
        bits++;
    return bits;
}

/* The type made for the shape. A histogram proves that exactly one bit is set, a multihot vector that at most so many are.
 * Sums prove that each number is within its range. */
static void plan(sotto_vdaf_config *config, const sotto_vdaf_shape *shape)
{
    const bool bits = shape->most == 1, vector = shape->length > 1 || shape->one;

    *config = (sotto_vdaf_config){.shares = 2, .max = bits ? 0 : shape->most};
    if (shape->one)
        config->type = SOTTO_PRIO3_HISTOGRAM;
    else if (bits)
        config->type = vector ? SOTTO_PRIO3_MULTIHOT_COUNT_VEC : SOTTO_PRIO3_COUNT;
    else
        config->type = vector ? SOTTO_PRIO3_SUM_VEC : SOTTO_PRIO3_SUM;
    if (config->type == SOTTO_PRIO3_MULTIHOT_COUNT_VEC)
        config->max = shape->weight;
    if (vector) {
        config->length = shape->length;
        config->chunk_length = sotto_prio3_best_chunk_length(shape->length, bits_of(shape->most));
    }
}

/* ---- an instance, and its shares -------------------------------------------------------------------- */

sotto_vdaf sotto_prio_over(const sotto_prio3 *vdaf)
{
    return (sotto_vdaf){&sotto_prio_client, vdaf->sizes, vdaf};
}

static sotto_status open_instance(sotto_vdaf *vdaf, const sotto_vdaf_config *config,
                                  sotto_arena *arena, sotto_err *err)
{
    sotto_prio3 here = {0}, *prio3 = arena ? sotto_arena_take(arena, sizeof *prio3) : &here;

    if (!prio3)
        return sotto_fail(err, SOTTO_NO_MEMORY, "prio: no memory");
    SOTTO_TRY(sotto_prio3_init(prio3, arena, config, err));
    vdaf->sizes = prio3->sizes;
    vdaf->state = arena ? prio3 : NULL;
    return SOTTO_OK;
}

static sotto_status shard(const sotto_vdaf *vdaf, sotto_buf *public_share, sotto_buf *input_shares,
                          sotto_bytes context, sotto_measurement measurement,
                          const uint8_t nonce[SOTTO_PRIO3_NONCE_SIZE], sotto_bytes rand,
                          sotto_arena *scratch, sotto_err *err)
{
    const sotto_prio3 *prio3 = vdaf->state;

    if (prio3->config.shares != 2)
        return sotto_fail(err, SOTTO_BUG, "report: DAP has two aggregators");
    return sotto_prio3_shard(prio3, public_share, input_shares, context, measurement, nonce, rand,
                             scratch, err);
}

const sotto_vdaf_client_ops sotto_prio_client = {
    .method = "prio",
    .first_type = SOTTO_PRIO3_COUNT,
    .last_type = SOTTO_PRIO3_L1_BOUND_SUM,
    .plan = plan,
    .parameters_encode = sotto_prio_config_encode,
    .open = open_instance,
    .shard = shard,
};
