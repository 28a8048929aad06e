#include "aggregate/shared/ring_sum.h"

#include "aggregate/shared/mask.h"

#include "base/rule.h"

#include <string.h>

typedef struct ring_sum {
    const sotto_round *round;
    sotto_vector sum;
} ring_sum;

size_t sotto_ring_sum_size(const sotto_round *round)
{
    if (round->length == 0 || round->length > SOTTO_ROUND_MOST_LENGTH)
        return 0;
    return (size_t)round->length * sotto_ring_width(round->ring);
}

static sotto_status take_vector(sotto_vector *v, const sotto_round *round, sotto_arena *arena,
                                sotto_err *err)
{
    size_t size = sotto_ring_sum_size(round);
    void *entries = size ? sotto_arena_take(arena, size) : NULL;

    if (size == 0)
        return sotto_fail(err, SOTTO_DENIED, "sum: not of a ring modulo a power of two");
    if (!entries)
        return sotto_fail(err, SOTTO_NO_MEMORY, "sum: no memory for %zu bytes", size);
    *v = (sotto_vector){.ring = round->ring, .length = (size_t)round->length};
    if (round->ring == SOTTO_RING_Z32)
        v->of.z32 = entries;
    else
        v->of.z64 = entries;
    return SOTTO_OK;
}

sotto_status sotto_ring_sum_init(sotto_tally *tally, const sotto_round *round, sotto_arena *arena,
                                 sotto_err *err)
{
    ring_sum *state = sotto_arena_take(arena, sizeof *state);

    if (!state)
        return sotto_fail(err, SOTTO_NO_MEMORY, "sum: no memory");
    state->round = round;
    SOTTO_TRY(take_vector(&state->sum, round, arena, err));
    *tally = (sotto_tally){0, state};
    return SOTTO_OK;
}

/* The sum and what is added are never the same memory: else no compiler would add several entries at once. */
static void add_z32(uint32_t *restrict to, const uint8_t *restrict from, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        uint32_t x;

        memcpy(&x, from + 4 * i, sizeof x);
        to[i] += x;
    }
}

static void add_z64(uint64_t *restrict to, const uint8_t *restrict from, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        uint64_t x;

        memcpy(&x, from + 8 * i, sizeof x);
        to[i] += x;
    }
}

/* to += from; both of one ring and length. */
static void add_vector(sotto_vector *to, const uint8_t *from)
{
    if (to->ring == SOTTO_RING_Z32)
        add_z32(to->of.z32, from, to->length);
    else
        add_z64(to->of.z64, from, to->length);
}

/* The round's bit budget was counted for `largest` contributions and no more. */
static sotto_status check_count(const ring_sum *state, uint64_t have, uint64_t more, sotto_err *err)
{
    if (more > state->round->largest || have > state->round->largest - more)
        return sotto_fail(err, SOTTO_DENIED, "sum: more than %llu contributions",
                          (unsigned long long)state->round->largest);
    return SOTTO_OK;
}

sotto_status sotto_ring_sum_merge(sotto_tally *tally, const sotto_tally *other, sotto_err *err)
{
    ring_sum *to = tally->state;
    const ring_sum *from = other->state;

    if (to->sum.ring != from->sum.ring || to->sum.length != from->sum.length)
        return sotto_fail(err, SOTTO_BUG, "sum: of another round");
    SOTTO_TRY(check_count(to, tally->contributions, other->contributions, err));
    add_vector(&to->sum, sotto_vector_bytes(&from->sum).data);
    tally->contributions += other->contributions;
    return SOTTO_OK;
}

sotto_status sotto_ring_sum_add(sotto_tally *tally, size_t first, const int64_t *values,
                                size_t count, sotto_err *err)
{
    ring_sum *state = tally->state;

    if (first > state->sum.length || count > state->sum.length - first)
        return sotto_fail(err, SOTTO_BUG, "sum: has no so many entries");
    for (size_t i = 0; i < count; i++) {
        if (state->sum.ring == SOTTO_RING_Z32)
            state->sum.of.z32[first + i] += (uint32_t)values[i];
        else
            state->sum.of.z64[first + i] += (uint64_t)values[i];
    }
    return SOTTO_OK;
}

sotto_status sotto_ring_sum_encode(const sotto_tally *tally, sotto_buf *out, sotto_err *err)
{
    const ring_sum *state = tally->state;
    sotto_writer w = sotto_writer_on(out);

    sotto_write_bytes(&w, sotto_vector_bytes(&state->sum));
    return sotto_writer_finish(&w, "sum", err);
}

static sotto_status check_size(const sotto_round *round, sotto_bytes wire, sotto_err *err)
{
    if (wire.len != sotto_ring_sum_size(round) || wire.len == 0)
        return sotto_fail(err, SOTTO_MALFORMED, "sum: %zu bytes, wanted %zu", wire.len,
                          sotto_ring_sum_size(round));
    return SOTTO_OK;
}

static void load(sotto_vector *v, sotto_bytes wire)
{
    memcpy(v->ring == SOTTO_RING_Z32 ? (void *)v->of.z32 : (void *)v->of.z64, wire.data, wire.len);
}

sotto_status sotto_ring_sum_decode(sotto_tally *tally, sotto_bytes wire, uint64_t contributions,
                                   sotto_err *err)
{
    ring_sum *state = tally->state;

    SOTTO_TRY(check_size(state->round, wire, err));
    SOTTO_TRY(check_count(state, contributions, 0, err));
    load(&state->sum, wire);
    tally->contributions = contributions;
    return SOTTO_OK;
}

sotto_status sotto_ring_sum_open(sotto_vector *sum, const sotto_round *round,
                                 const sotto_bytes *parts, size_t count, uint64_t contributions,
                                 sotto_arena *arena, sotto_err *err)
{
    if (count < 1)
        return sotto_fail(err, SOTTO_MISSING, "sum: no part of it is there");
    SOTTO_TRY(check_size(round, parts[0], err));
    if (SOTTO_RULE(open_least) && contributions < round->least)
        return sotto_fail(err, SOTTO_DENIED, "sum: of %llu contributions; the round demands %llu",
                          (unsigned long long)contributions, (unsigned long long)round->least);
    if (SOTTO_RULE(open_largest) && contributions > round->largest)
        return sotto_fail(err, SOTTO_DENIED, "sum: of %llu contributions; the round allows %llu",
                          (unsigned long long)contributions, (unsigned long long)round->largest);
    SOTTO_TRY(take_vector(sum, round, arena, err));
    load(sum, parts[0]);
    return SOTTO_OK;
}

/* ---- bulk: one contribution's vector as it arrives --------------------------------------------------- */

typedef struct ring_piece {
    uint64_t wanted, got;
    uint8_t bytes[]; /* the vector's wire form */
} ring_piece;

static size_t bulk_state_size(const sotto_round *round)
{
    return sizeof(ring_piece) + sotto_ring_sum_size(round);
}

static sotto_status bulk_begin(void *state, const sotto_round *round, const sotto_message *head,
                               sotto_err *err)
{
    ring_piece *piece = state;

    piece->wanted = sotto_ring_sum_size(round);
    piece->got = 0;
    if (head->bulk_len != piece->wanted || piece->wanted == 0)
        return sotto_fail(err, SOTTO_MALFORMED, "vector: %llu bytes, wanted %llu",
                          (unsigned long long)head->bulk_len, (unsigned long long)piece->wanted);
    return SOTTO_OK;
}

static uint8_t *bulk_place(void *state, size_t *room)
{
    ring_piece *piece = state;

    *room = (size_t)(piece->wanted - piece->got);
    return piece->bytes + piece->got;
}

static sotto_status bulk_feed(void *state, uint64_t offset, sotto_bytes bytes, sotto_err *err)
{
    ring_piece *piece = state;

    if (offset != piece->got)
        return sotto_fail(err, SOTTO_MALFORMED, "vector: byte %llu came, byte %llu was awaited",
                          (unsigned long long)offset, (unsigned long long)piece->got);
    if (bytes.len > piece->wanted - piece->got)
        return sotto_fail(err, SOTTO_TOO_LARGE, "vector: longer than its head says");
    if (bytes.len && bytes.data != piece->bytes + offset)
        memcpy(piece->bytes + offset, bytes.data, bytes.len);
    piece->got += bytes.len;
    return SOTTO_OK;
}

static sotto_status bulk_finish(void *state, sotto_err *err)
{
    const ring_piece *piece = state;

    if (piece->got != piece->wanted)
        return sotto_fail(err, SOTTO_MALFORMED, "vector: %llu of %llu bytes",
                          (unsigned long long)piece->got, (unsigned long long)piece->wanted);
    return SOTTO_OK;
}

static sotto_status bulk_add(sotto_tally *tally, const void *state, sotto_err *err)
{
    const ring_piece *piece = state;
    ring_sum *to = tally->state;

    /* A half-received vector would spoil the whole sum. */
    if (SOTTO_RULE(bulk_whole) && piece->got != piece->wanted)
        return sotto_fail(err, SOTTO_BUG, "vector: not whole");
    if (piece->wanted != sotto_ring_sum_size(to->round))
        return sotto_fail(err, SOTTO_BUG, "vector: of another round");
    SOTTO_TRY(check_count(to, tally->contributions, 1, err));
    add_vector(&to->sum, piece->bytes);
    tally->contributions++;
    return SOTTO_OK;
}

const sotto_bulk_ops sotto_ring_bulk = {
    .state_size = bulk_state_size,
    .begin = bulk_begin,
    .place = bulk_place,
    .feed = bulk_feed,
    .finish = bulk_finish,
    .add = bulk_add,
};

/* ---- masked sums ------------------------------------------------------------------------------------------- */

/* parts: the masked sum, and the server machine's opening. */
static sotto_status open_masked(sotto_vector *sum, const sotto_round *round,
                                const sotto_bytes *parts, size_t count, uint64_t contributions,
                                sotto_arena *arena, sotto_err *err)
{
    if (count != 2 || parts[1].len % SOTTO_MASK_ROW)
        return sotto_fail(err, SOTTO_MALFORMED, "sum: a masked sum and its opening are wanted");
    SOTTO_TRY(sotto_ring_sum_open(sum, round, parts, count, contributions, arena, err));
    return sotto_mask_apply_rows(sum, parts[1].data, parts[1].len / SOTTO_MASK_ROW, err);
}

const sotto_tally_ops sotto_masked_tally = {
    .size = sotto_ring_sum_size,
    .init = sotto_ring_sum_init,
    .merge = sotto_ring_sum_merge,
    .add = sotto_ring_sum_add,
    .encode = sotto_ring_sum_encode,
    .decode = sotto_ring_sum_decode,
    .open = open_masked,
};
