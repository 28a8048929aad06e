#include "aggregate/shared/ring_sum.h"

#include "aggregate/shared/mask.h"
#include "support/test.h"

#include <string.h>

static sotto_round round_of(sotto_ring ring, uint64_t length)
{
    return (sotto_round){.ring = ring, .length = length, .least = 2, .largest = 3, .most = 100};
}

static void feed_whole(sotto_test *t, void *state, const sotto_round *round, const void *vector)
{
    size_t size = sotto_ring_sum_size(round);
    sotto_message head = {.bulk_len = size};

    CHECK_OK(t, sotto_ring_bulk.begin(state, round, &head, &t->err));
    for (size_t at = 0; at < size; at += 5) {
        size_t piece = size - at < 5 ? size - at : 5;

        CHECK_OK(t, sotto_ring_bulk.feed(
                        state, at, sotto_bytes_of((const uint8_t *)vector + at, piece), &t->err));
    }
    CHECK_OK(t, sotto_ring_bulk.finish(state, &t->err));
}

static void tallies_add_merge_and_open(sotto_test *t)
{
    const uint64_t a[3] = {1, UINT64_MAX, 5}, b[3] = {10, 1, UINT64_MAX - 1};
    const int64_t noise[2] = {-3, 4};
    sotto_round round = round_of(SOTTO_RING_Z64, 3);
    void *state = sotto_arena_take(&t->arena, sotto_ring_bulk.state_size(&round));
    uint8_t wire[24];
    sotto_buf out = sotto_buf_over(wire, sizeof wire);
    sotto_tally first, second;
    sotto_vector sum;

    CHECK_OK(t, sotto_ring_sum_init(&first, &round, &t->arena, &t->err));
    CHECK_OK(t, sotto_ring_sum_init(&second, &round, &t->arena, &t->err));
    feed_whole(t, state, &round, a);
    CHECK_OK(t, sotto_ring_bulk.add(&first, state, &t->err));
    feed_whole(t, state, &round, b);
    CHECK_OK(t, sotto_ring_bulk.add(&second, state, &t->err));
    CHECK_OK(t, sotto_ring_sum_merge(&first, &second, &t->err));
    CHECK_OK(t, sotto_ring_sum_add(&first, 1, noise, 2, &t->err));
    CHECK_STATUS(t, SOTTO_BUG, sotto_ring_sum_add(&first, 2, noise, 2, &t->err));
    CHECK_EQUAL(t, 2, first.contributions);
    CHECK_OK(t, sotto_ring_sum_encode(&first, &out, &t->err));
    sotto_bytes part = sotto_buf_bytes(&out);
    CHECK_OK(t, sotto_ring_sum_open(&sum, &round, &part, 1, 2, &t->arena, &t->err));
    CHECK_EQUAL(t, 11, sum.of.z64[0]);
    CHECK_EQUAL(t, UINT64_MAX - 2, sum.of.z64[1]);
    CHECK_EQUAL(t, 7, sum.of.z64[2]);
    CHECK_OK(t, sotto_ring_sum_decode(&second, part, 2, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_ring_sum_decode(&second, sotto_bytes_of(wire, 23), 2, &t->err));
    /* Two and two are more than the bit budget was counted for. */
    CHECK_STATUS(t, SOTTO_DENIED, sotto_ring_sum_merge(&first, &second, &t->err));
}

static void a_sum_of_too_few_is_not_opened(sotto_test *t)
{
    sotto_round round = round_of(SOTTO_RING_Z32, 2);
    const uint8_t wire[8] = {1};
    sotto_bytes part = sotto_bytes_of(wire, sizeof wire);
    sotto_vector sum;

    CHECK_OK(t, sotto_ring_sum_open(&sum, &round, &part, 1, 2, &t->arena, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_ring_sum_open(&sum, &round, &part, 1, 1, &t->arena, &t->err));
}

static void a_sum_that_may_have_wrapped_is_not_opened(sotto_test *t)
{
    sotto_round round = round_of(SOTTO_RING_Z32, 2);
    const uint8_t wire[8] = {1};
    sotto_bytes part = sotto_bytes_of(wire, sizeof wire);
    sotto_vector sum;

    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_ring_sum_open(&sum, &round, &part, 1, 4, &t->arena, &t->err));
}

static void half_a_vector_is_not_added(sotto_test *t)
{
    sotto_round round = round_of(SOTTO_RING_Z32, 3);
    uint8_t *state = sotto_arena_take(&t->arena, sotto_ring_bulk.state_size(&round));
    const uint8_t vector[13] = {1, 2, 3};
    sotto_message head = {.bulk_len = 12};
    sotto_tally tally;

    CHECK_OK(t, sotto_ring_sum_init(&tally, &round, &t->arena, &t->err));
    CHECK_OK(t, sotto_ring_bulk.begin(state, &round, &head, &t->err));
    CHECK_OK(t, sotto_ring_bulk.feed(state, 0, sotto_bytes_of(vector, 8), &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_ring_bulk.feed(state, 4, sotto_bytes_of(vector, 4), &t->err));
    CHECK_STATUS(t, SOTTO_TOO_LARGE,
                 sotto_ring_bulk.feed(state, 8, sotto_bytes_of(vector, 5), &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_ring_bulk.finish(state, &t->err));
    CHECK_STATUS(t, SOTTO_BUG, sotto_ring_bulk.add(&tally, state, &t->err));
    CHECK_EQUAL(t, 0, tally.contributions);
    head.bulk_len = 8;
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_ring_bulk.begin(state, &round, &head, &t->err));
}

/* A piece that was written to where it belongs beforehand is not copied, and counts as any other. */
static void a_piece_may_be_in_its_place_already(sotto_test *t)
{
    sotto_round round = round_of(SOTTO_RING_Z32, 3);
    uint8_t *state = sotto_arena_take(&t->arena, sotto_ring_bulk.state_size(&round)), *at;
    const uint8_t vector[12] = {1, 0, 0, 0, 2, 0, 0, 0, 3};
    const sotto_message head = {.bulk_len = 12};
    uint8_t wire[12];
    sotto_buf out = sotto_buf_over(wire, sizeof wire);
    sotto_tally tally;
    size_t room;

    CHECK_OK(t, sotto_ring_sum_init(&tally, &round, &t->arena, &t->err));
    CHECK_OK(t, sotto_ring_bulk.begin(state, &round, &head, &t->err));
    CHECK_OK(t, sotto_ring_bulk.feed(state, 0, sotto_bytes_of(vector, 5), &t->err));
    at = sotto_ring_bulk.place(state, &room);
    CHECK_EQUAL(t, 7, room);
    memcpy(at, vector + 5, 7);
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_ring_bulk.finish(state, &t->err)); /* nobody said so */
    CHECK_OK(t, sotto_ring_bulk.feed(state, 5, sotto_bytes_of(at, 7), &t->err));
    CHECK_OK(t, sotto_ring_bulk.finish(state, &t->err));
    (void)sotto_ring_bulk.place(state, &room);
    CHECK_EQUAL(t, 0, room);
    CHECK_OK(t, sotto_ring_bulk.add(&tally, state, &t->err));
    CHECK_OK(t, sotto_ring_sum_encode(&tally, &out, &t->err));
    CHECK_BYTES(t, vector, wire, sizeof wire);
}

/* ---- masks ------------------------------------------------------------------------------------------ */

static void two_ends_cancel(sotto_test *t)
{
    static const size_t lengths[] = {1, 4095, 4096, 4097, 9000};
    const uint8_t agreed[32] = {4}, id[32] = {5};
    uint8_t here[32], there[32];

    CHECK_OK(t, sotto_pair_seed(here, agreed, id, 7, 3, &t->err));
    CHECK_OK(t, sotto_pair_seed(there, agreed, id, 3, 7, &t->err));
    CHECK_BYTES(t, here, there, 32);
    CHECK(t, sotto_pair_sign(3, 7) == 1 && sotto_pair_sign(7, 3) == -1);
    for (size_t i = 0; i < 2 * sizeof lengths / sizeof lengths[0]; i++) {
        sotto_vector v = {.ring = i % 2 ? SOTTO_RING_Z64 : SOTTO_RING_Z32,
                          .length = lengths[i / 2]};
        uint64_t *entries = sotto_arena_take_array(&t->arena, v.length, 8), any = 0;

        if (i % 2)
            v.of.z64 = entries;
        else
            v.of.z32 = (uint32_t *)(void *)entries;
        CHECK_OK(t, sotto_mask_apply(&v, here, sotto_pair_sign(7, 3), &t->err));
        sotto_bytes masked = sotto_vector_bytes(&v);
        CHECK(t, masked.data[0] | masked.data[1] | masked.data[2] | masked.data[3]);
        CHECK(t, masked.data[masked.len - 1] | masked.data[masked.len - 2] |
                     masked.data[masked.len - 3] | masked.data[masked.len - 4]);
        CHECK_OK(t, sotto_mask_apply(&v, there, sotto_pair_sign(3, 7), &t->err));
        for (size_t b = 0; b < masked.len; b++)
            any |= masked.data[b];
        CHECK_EQUAL(t, 0, any);
    }
}

static void seeds_differ_by_pair_round_and_purpose(sotto_test *t)
{
    const uint8_t agreed[32] = {4}, id[32] = {5}, other[32] = {6};
    uint8_t seeds[5][32];

    CHECK_OK(t, sotto_pair_seed(seeds[0], agreed, id, 1, 2, &t->err));
    CHECK_OK(t, sotto_pair_seed(seeds[1], agreed, other, 1, 2, &t->err));
    CHECK_OK(t, sotto_pair_seed(seeds[2], agreed, id, 1, 3, &t->err));
    CHECK_OK(t, sotto_pair_seed(seeds[3], other, id, 1, 2, &t->err));
    CHECK_OK(t,
             sotto_round_kdf(seeds[4], "another", sotto_bytes_of(agreed, 32), id, 1, 2, &t->err));
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < i; j++)
            CHECK(t, memcmp(seeds[i], seeds[j], 32) != 0);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(tallies_add_merge_and_open),
        CASE(a_sum_of_too_few_is_not_opened),
        CASE(a_sum_that_may_have_wrapped_is_not_opened),
        CASE(half_a_vector_is_not_added),
        CASE(a_piece_may_be_in_its_place_already),
        CASE(two_ends_cancel),
        CASE(seeds_differ_by_pair_round_and_purpose),
    };
    return RUN_TESTS(argc, argv, cases);
}
