/* PINE's client: all of it that a device links. */
#include "aggregate/pine/pine.h"

#include "base/arena.h"

/* The same in every task: 100 checks, all successful, are unsound with a chance of 2^-100, and an honest vector fails them
 * once in 2^100 reports or less often. Field64 takes three main proofs, since a client may grind joint randomness
 * (docs/decisions/0120). */
enum { ALPHA_TENTHS = 87, CHECKS = 100, CHUNK = 64, PROOFS_64 = 3, PROOFS_128 = 1 };

static uint64_t power_from(uint64_t least)
{
    uint64_t power = 1;

    while (power < least)
        power *= 2;
    return power;
}

/* Elements of the norm proof: a gadget of `chunk` wires, and its polynomial. */
static uint64_t proof_of(uint64_t length, uint64_t chunk)
{
    return chunk + 2 * power_from(1 + (length + chunk - 1) / chunk);
}

/* The shortest proof among powers of two; of two alike the one with fewer wires, whose verifier share is shorter. */
static uint64_t best_chunk(uint64_t length)
{
    uint64_t best = 1;

    for (uint64_t chunk = 2; chunk <= power_from(length); chunk *= 2)
        if (proof_of(length, chunk) < proof_of(length, best))
            best = chunk;
    return best;
}

/* `most` is the bound on the norm. */
static void plan(sotto_vdaf_config *config, const sotto_vdaf_shape *shape)
{
    *config = (sotto_vdaf_config){
        .type = shape->most <= SOTTO_PINE_FIELD64_BOUND ? SOTTO_PINE_FIELD64 : SOTTO_PINE_FIELD128,
        .shares = 2,
        .length = shape->length,
        .chunk_length = best_chunk(shape->length),
        .max = shape->most};
}

sotto_pine_config sotto_pine_config_of(const sotto_vdaf_config *config)
{
    const bool wide = config->type == SOTTO_PINE_FIELD128;

    return (sotto_pine_config){.field = wide ? &sotto_pine_ops128 : &sotto_pine_ops64,
                               .wire = SOTTO_PINE_DRAFT20,
                               .xof = SOTTO_PINE_HMAC_AES,
                               .algorithm = (uint32_t)config->type,
                               .dimension = config->length,
                               .norm_bound = config->max,
                               .alpha_tenths = ALPHA_TENTHS,
                               .checks = CHECKS,
                               .successes = CHECKS,
                               .proofs = wide ? PROOFS_128 : PROOFS_64,
                               .norm_proofs = 1,
                               .chunk = CHUNK,
                               .norm_chunk = config->chunk_length};
}

static sotto_status make_instance(sotto_vdaf *vdaf, const sotto_vdaf_config *config,
                                  sotto_arena *arena, sotto_err *err)
{
    const sotto_pine_config c = sotto_pine_config_of(config);
    sotto_pine *pine = sotto_arena_take(arena, sizeof *pine);

    if (!pine)
        return sotto_fail(err, SOTTO_NO_MEMORY, "pine: no memory");
    SOTTO_TRY(sotto_pine_init(pine, arena, &c, err));
    vdaf->sizes = (sotto_vdaf_sizes){.rand = pine->sizes.rand,
                                     .public_share = pine->sizes.public_share,
                                     .leader_share = pine->sizes.leader_share,
                                     .helper_share = pine->sizes.helper_share,
                                     .verifier_share = pine->sizes.verifier_share,
                                     .verifier_message = pine->sizes.verifier_message,
                                     .out_share = pine->sizes.out_share,
                                     .outputs = (size_t)config->length};
    vdaf->state = pine;
    return SOTTO_OK;
}

static sotto_status open_instance(sotto_vdaf *vdaf, const sotto_vdaf_config *config,
                                  sotto_arena *arena, sotto_err *err)
{
    sotto_arena own;

    if (arena)
        return make_instance(vdaf, config, arena, err);
    sotto_arena_init(&own, (size_t)64 << 20);
    const sotto_status status = make_instance(vdaf, config, &own, err);
    sotto_arena_clear(&own);
    vdaf->state = NULL;
    return status;
}

/* Two's complement, without a conversion that C leaves to the compiler. */
static int64_t signed_of(uint64_t x)
{
    return x >> 63 ? -1 - (int64_t)~x : (int64_t)x;
}

static sotto_status shard_vector(const sotto_pine *pine, const sotto_pine_report *out,
                                 sotto_bytes context, sotto_measurement measurement,
                                 const uint8_t nonce[SOTTO_PRIO3_NONCE_SIZE], sotto_bytes rand,
                                 sotto_arena *scratch, sotto_err *err)
{
    int64_t *vector = sotto_arena_take_array(scratch, measurement.count, sizeof *vector);

    if (!vector)
        return sotto_fail(err, SOTTO_NO_MEMORY, "pine: no memory");
    for (size_t i = 0; i < measurement.count; i++)
        vector[i] = signed_of(measurement.values[i]);
    return sotto_pine_shard(pine, out, context, vector, nonce, rand.data, scratch, err);
}

static bool has_room(const sotto_buf *out, size_t len)
{
    return len <= out->cap - out->len;
}

static sotto_status shard(const sotto_vdaf *vdaf, sotto_buf *public_share, sotto_buf *input_shares,
                          sotto_bytes context, sotto_measurement measurement,
                          const uint8_t nonce[SOTTO_PRIO3_NONCE_SIZE], sotto_bytes rand,
                          sotto_arena *scratch, sotto_err *err)
{
    if (rand.len != vdaf->sizes.rand)
        return sotto_fail(err, SOTTO_BUG, "pine: %zu random bytes", rand.len);
    if (measurement.count != vdaf->sizes.outputs)
        return sotto_fail(err, SOTTO_DENIED, "pine: a vector of %zu entries, not %zu",
                          measurement.count, vdaf->sizes.outputs);
    const sotto_vdaf_sizes *sizes = &vdaf->sizes;
    if (!has_room(public_share, sizes->public_share) ||
        !has_room(&input_shares[0], sizes->leader_share) ||
        !has_room(&input_shares[1], sizes->helper_share))
        return sotto_fail(err, SOTTO_TOO_LARGE, "pine: no room for a share");
    const sotto_pine_report out = {public_share->data + public_share->len,
                                   input_shares[0].data + input_shares[0].len,
                                   input_shares[1].data + input_shares[1].len};
    const sotto_arena_mark mark = sotto_arena_here(scratch);
    const sotto_status status =
        shard_vector(vdaf->state, &out, context, measurement, nonce, rand, scratch, err);
    sotto_arena_rollback(scratch, mark);
    if (status != SOTTO_OK)
        return status;
    public_share->len += sizes->public_share;
    input_shares[0].len += sizes->leader_share;
    input_shares[1].len += sizes->helper_share;
    return SOTTO_OK;
}

const sotto_vdaf_client_ops sotto_pine_client = {
    .method = "pine",
    .first_type = SOTTO_PINE_FIELD64,
    .last_type = SOTTO_PINE_FIELD128,
    .plan = plan,
    .parameters_encode = sotto_pine_config_encode,
    .open = open_instance,
    .shard = shard,
};
