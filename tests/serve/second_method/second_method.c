#include "second_method/second_method.h"

#include "base/arena.h"

#include <string.h>

enum { ENTRY = 8, MESSAGE = 8 };

clear_truth sotto_clear_truth;

static uint64_t get(const uint8_t *at)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < ENTRY; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

static void put(uint8_t *at, uint64_t value)
{
    for (unsigned i = 0; i < ENTRY; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

/* ---- the client ------------------------------------------------------------------------------------------------ */

static void plan(sotto_vdaf_config *config, const sotto_vdaf_shape *shape)
{
    *config = (sotto_vdaf_config){.type = CLEAR_TYPE,
                                  .shares = 2,
                                  .length = shape->length,
                                  .max = shape->one ? 0 : shape->weight};
}

static sotto_status parameters_encode(sotto_buf *out, const sotto_vdaf_config *config,
                                      sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_uint(&w, config->length, 4);
    sotto_write_uint(&w, config->max, 4);
    return sotto_writer_finish(&w, "parameters of clear sums", err);
}

static sotto_status parameters_decode(sotto_vdaf_config *config, sotto_bytes wire, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);

    config->shares = 2;
    config->length = sotto_read_uint(&in, 4);
    config->max = sotto_read_uint(&in, 4);
    return sotto_reader_finish(&in, "parameters of clear sums", err);
}

static sotto_status open_instance(sotto_vdaf *vdaf, const sotto_vdaf_config *config,
                                  sotto_arena *arena, sotto_err *err)
{
    sotto_vdaf_config here, *kept = arena ? sotto_arena_take(arena, sizeof *kept) : &here;
    const size_t share = (size_t)config->length * ENTRY;

    if (!kept || config->length == 0 || config->length > CLEAR_BINS)
        return sotto_fail(err, SOTTO_MALFORMED, "clear sums have 1 to %d bins", CLEAR_BINS);
    *kept = *config;
    vdaf->state = arena ? kept : NULL;
    vdaf->sizes = (sotto_vdaf_sizes){.rand = 1,
                                     .leader_share = share,
                                     .helper_share = share,
                                     .verifier_share = MESSAGE,
                                     .verifier_message = MESSAGE,
                                     .out_share = share,
                                     .outputs = (size_t)config->length};
    return SOTTO_OK;
}

static sotto_status shard(const sotto_vdaf *vdaf, sotto_buf *public_share, sotto_buf *input_shares,
                          sotto_bytes context, sotto_measurement measurement,
                          const uint8_t nonce[SOTTO_PRIO3_NONCE_SIZE], sotto_bytes rand,
                          sotto_arena *scratch, sotto_err *err)
{
    const sotto_vdaf_config *config = vdaf->state;
    clear_truth *truth = &sotto_clear_truth;

    (void)public_share, (void)context, (void)nonce, (void)rand, (void)scratch, (void)err;
    for (size_t i = 0; i < vdaf->sizes.outputs; i++) {
        uint64_t value = config->max ? measurement.values[i] : i == measurement.values[0];

        put(input_shares[0].data + ENTRY * i, truth->lie ? 100 : value);
        truth->sums[i] += truth->lie ? 0 : value;
    }
    truth->reports += !truth->lie;
    input_shares[0].len = input_shares[1].len = vdaf->sizes.leader_share;
    return SOTTO_OK;
}

const sotto_vdaf_client_ops sotto_clear_client = {.method = "clear",
                                                  .first_type = CLEAR_TYPE,
                                                  .last_type = CLEAR_TYPE,
                                                  .plan = plan,
                                                  .parameters_encode = parameters_encode,
                                                  .open = open_instance,
                                                  .shard = shard};

/* ---- both servers ------------------------------------------------------------------------------------------------ */

static sotto_status take_batch(sotto_vdaf_batch *batch, const sotto_vdaf_report *reports,
                               size_t count, sotto_arena *arena, sotto_err *err)
{
    *batch = (sotto_vdaf_batch){
        .count = count,
        .status = sotto_arena_take_array(arena, count + 1, sizeof *batch->status),
        .outbound = sotto_arena_take_array(arena, count + 1, sizeof *batch->outbound),
        .states = sotto_arena_take_array(arena, count + 1, sizeof *reports)};
    if (!batch->status || !batch->outbound || !batch->states)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a batch");
    if (reports && count > 0)
        memcpy(batch->states, reports, count * sizeof *reports);
    return SOTTO_OK;
}

static sotto_status say(sotto_bytes *out, uint64_t ones, sotto_arena *arena, sotto_err *err)
{
    uint8_t *message = sotto_arena_take(arena, MESSAGE);

    if (!message)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a message");
    put(message, ones);
    *out = sotto_bytes_of(message, MESSAGE);
    return SOTTO_OK;
}

static sotto_status leader_join(const sotto_vdaf *vdaf, sotto_vdaf_batch *batch,
                                const sotto_vdaf_verifier *verifier,
                                const sotto_vdaf_report *reports, size_t count, sotto_arena *arena,
                                sotto_err *err)
{
    size_t first = batch->count, room = batch->room;

    (void)verifier;
    if (count > room - first)
        return sotto_fail(err, SOTTO_BUG, "no room in a batch");
    if (!batch->states) {
        SOTTO_TRY(take_batch(batch, NULL, room, arena, err));
        batch->room = room;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t ones = 0;

        for (size_t e = 0; e < vdaf->sizes.outputs; e++)
            ones += get(reports[i].input_share.data + ENTRY * e);
        ((sotto_vdaf_report *)batch->states)[first + i] = reports[i];
        batch->status[first + i] = SOTTO_AGAIN;
        SOTTO_TRY(say(&batch->outbound[first + i], ones, arena, err));
    }
    batch->count = first + count;
    return SOTTO_OK;
}

static sotto_status leader_init(const sotto_vdaf *vdaf, sotto_vdaf_batch *batch,
                                const sotto_vdaf_verifier *verifier,
                                const sotto_vdaf_report *reports, size_t count, sotto_arena *arena,
                                sotto_err *err)
{
    *batch = (sotto_vdaf_batch){.room = count};
    return leader_join(vdaf, batch, verifier, reports, count, arena, err);
}

static sotto_status helper_init(const sotto_vdaf *vdaf, sotto_vdaf_batch *batch,
                                const sotto_vdaf_verifier *verifier,
                                const sotto_vdaf_report *reports, const sotto_bytes *inbound,
                                size_t count, sotto_arena *arena, sotto_err *err)
{
    const sotto_vdaf_config *config = vdaf->state;

    (void)verifier;
    SOTTO_TRY(take_batch(batch, reports, count, arena, err));
    for (size_t i = 0; i < count; i++) {
        uint64_t ones = inbound[i].len == MESSAGE ? get(inbound[i].data) : UINT64_MAX;

        batch->status[i] = ones <= (config->max ? config->max : 1) ? SOTTO_OK : SOTTO_REJECTED;
        if (batch->status[i] == SOTTO_OK)
            SOTTO_TRY(say(&batch->outbound[i], ones, arena, err));
    }
    return SOTTO_OK;
}

static sotto_status leader_finish(const sotto_vdaf *vdaf, sotto_vdaf_batch *batch,
                                  const sotto_bytes *inbound, sotto_err *err)
{
    (void)vdaf, (void)err;
    for (size_t i = 0; i < batch->count; i++)
        batch->status[i] = inbound[i].len == MESSAGE &&
                                   memcmp(inbound[i].data, batch->outbound[i].data, MESSAGE) == 0
                               ? SOTTO_OK
                               : SOTTO_REJECTED;
    return SOTTO_OK;
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

typedef struct clear_sums {
    size_t count;
    uint64_t sum[CLEAR_BINS];
} clear_sums;

static sotto_status tally_init(sotto_tally *tally, const sotto_vdaf *vdaf, sotto_arena *arena,
                               sotto_err *err)
{
    clear_sums *s = sotto_arena_take(arena, sizeof *s);

    if (!s)
        return sotto_fail(err, SOTTO_NO_MEMORY, "sums");
    s->count = vdaf->sizes.outputs;
    *tally = (sotto_tally){0, s};
    return SOTTO_OK;
}

static sotto_status accumulate(sotto_tally *tally, const sotto_vdaf_batch *batch, size_t first,
                               size_t count, sotto_err *err)
{
    const sotto_vdaf_report *reports = batch->states;
    clear_sums *s = tally->state;

    (void)err;
    for (size_t i = first; i < first + count; i++) {
        if (batch->status[i] != SOTTO_OK)
            continue;
        for (size_t e = 0; e < s->count; e++)
            s->sum[e] += get(reports[i].input_share.data + ENTRY * e);
        tally->contributions++;
    }
    return SOTTO_OK;
}

static sotto_status accumulate_awaited(sotto_tally *tally, const sotto_vdaf_batch *batch,
                                       size_t first, sotto_err *err)
{
    const sotto_vdaf_report *reports = batch->states;
    clear_sums *s = tally->state;

    (void)err;
    for (size_t i = first; i < batch->count; i++) {
        for (size_t e = 0; e < s->count; e++)
            s->sum[e] += get(reports[i].input_share.data + ENTRY * e);
        tally->contributions++;
    }
    return SOTTO_OK;
}

static sotto_status take_off(sotto_tally *tally, const sotto_tally *other, sotto_err *err)
{
    const clear_sums *from = other->state;
    clear_sums *s = tally->state;

    (void)err;
    for (size_t e = 0; e < s->count; e++)
        s->sum[e] -= from->sum[e];
    tally->contributions -= other->contributions;
    return SOTTO_OK;
}

static sotto_status merge(sotto_tally *tally, const sotto_tally *other, sotto_err *err)
{
    const clear_sums *from = other->state;
    clear_sums *s = tally->state;

    (void)err;
    for (size_t e = 0; e < s->count; e++)
        s->sum[e] += from->sum[e];
    tally->contributions += other->contributions;
    return SOTTO_OK;
}

static sotto_status add(sotto_tally *tally, size_t first, const int64_t *values, size_t count,
                        sotto_err *err)
{
    clear_sums *s = tally->state;

    (void)err;
    for (size_t i = 0; i < count; i++)
        s->sum[first + i] += (uint64_t)values[i];
    return SOTTO_OK;
}

static sotto_status encode(const sotto_tally *tally, sotto_buf *out, sotto_err *err)
{
    const clear_sums *s = tally->state;
    sotto_writer w = sotto_writer_on(out);

    for (size_t e = 0; e < s->count; e++) {
        uint8_t entry[ENTRY];

        put(entry, s->sum[e]);
        sotto_write_bytes(&w, sotto_bytes_of(entry, ENTRY));
    }
    return sotto_writer_finish(&w, "clear sums", err);
}

static sotto_status decode(sotto_tally *tally, sotto_bytes wire, uint64_t contributions,
                           sotto_err *err)
{
    clear_sums *s = tally->state;

    if (wire.len != s->count * ENTRY)
        return sotto_fail(err, SOTTO_MALFORMED, "not so many sums");
    for (size_t e = 0; e < s->count; e++)
        s->sum[e] = get(wire.data + ENTRY * e);
    tally->contributions = contributions;
    return SOTTO_OK;
}

static sotto_status open_sums(const sotto_vdaf *vdaf, sotto_uint128 *sums,
                              const sotto_bytes shares[2], uint64_t reports, double noise_sigma,
                              sotto_err *err)
{
    for (size_t e = 0; e < vdaf->sizes.outputs; e++) {
        uint64_t sum = get(shares[0].data + ENTRY * e) + get(shares[1].data + ENTRY * e);

        if (!(noise_sigma > 0) && sum > reports)
            return sotto_fail(err, SOTTO_REJECTED, "no so many reports add up to this");
        sums[e] = (sotto_uint128){sum, sum >> 63 ? UINT64_MAX : 0};
    }
    return SOTTO_OK;
}

static const sotto_tally_ops tally = {
    .merge = merge, .add = add, .encode = encode, .decode = decode};

static const sotto_vdaf_server_ops servers = {.client = &sotto_clear_client,
                                              .most_added = UINT64_C(1) << 40,
                                              .parameters_decode = parameters_decode,
                                              .leader_init = leader_init,
                                              .leader_join = leader_join,
                                              .helper_init = helper_init,
                                              .leader_finish = leader_finish,
                                              .tally_init = tally_init,
                                              .accumulate = accumulate,
                                              .accumulate_awaited = accumulate_awaited,
                                              .take_off = take_off,
                                              .open = open_sums};

const sotto_method sotto_method_clear = {.name = "clear", .tally = &tally, .two_server = &servers};
