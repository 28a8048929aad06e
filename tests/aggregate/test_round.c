#include "aggregate/round.h"

#include "aggregate/method.h"
#include "support/test.h"

#include <string.h>

static sotto_round example(void)
{
    static const uint8_t parameters[3] = {7, 8, 9};
    sotto_round round = {.session = {1},
                         .recipe = {2},
                         .epoch = 3,
                         .number = 4,
                         .method = SOTTO_METHOD_BBGLR,
                         .version = SOTTO_ROUND_VERSION,
                         .ring = SOTTO_RING_Z32,
                         .length = 10,
                         .most = 1000,
                         .norm2 = 5,
                         .least = 90,
                         .largest = 100,
                         .noise = {SOTTO_ROUND_NOISE_SHARES, 1, 3, 2, 80, 500},
                         .beacon = {5},
                         .registry = {6},
                         .registered = 100,
                         .model = {7},
                         .opens = 1,
                         .commit_by = 2,
                         .closes = 3,
                         .verify_by = 4,
                         .release_by = 5,
                         .parameters = {parameters, sizeof parameters}};

    return round;
}

static void what_is_encoded_is_decoded(sotto_test *t)
{
    uint8_t wire[SOTTO_ROUND_MOST_BYTES], again[SOTTO_ROUND_MOST_BYTES], id[32], other[32];
    sotto_buf out = sotto_buf_over(wire, sizeof wire), twice = sotto_buf_over(again, sizeof again);
    sotto_round round = example(), read;

    CHECK_OK(t, sotto_round_encode(&out, &round, &t->err));
    CHECK_OK(t, sotto_round_decode(&read, sotto_buf_bytes(&out), &t->err));
    CHECK_EQUAL(t, 500, read.noise.tail);
    CHECK_EQUAL(t, 3, read.parameters.len);
    CHECK_OK(t, sotto_round_encode(&twice, &read, &t->err));
    CHECK_EQUAL(t, out.len, twice.len);
    CHECK_BYTES(t, wire, again, out.len);
    /* Each byte stands for something: changed, it is another round or none. */
    CHECK_OK(t, sotto_round_id(&round, id, &t->err));
    for (size_t i = 0; i < out.len; i++) {
        wire[i] ^= 0x40;
        if (sotto_round_decode(&read, sotto_buf_bytes(&out), NULL) == SOTTO_OK) {
            CHECK_OK(t, sotto_round_id(&read, other, &t->err));
            CHECK(t, memcmp(id, other, sizeof id) != 0);
        }
        wire[i] ^= 0x40;
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_round_decode(&read, sotto_bytes_of(wire, i), &t->err));
    }
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_round_decode(&read, sotto_bytes_of(wire, out.len + 1), &t->err));
}

static void the_bit_budget_is_exact(sotto_test *t)
{
    sotto_round round = example();

    CHECK_OK(t, sotto_round_check(&round, &t->err));
    round.noise.tail = 0;
    round.most = (UINT64_C(1) << 31) / 100; /* 100 * 21,474,836 = 2^31 - 48 */
    CHECK_OK(t, sotto_round_check(&round, &t->err));
    round.noise.tail = 47;
    CHECK_OK(t, sotto_round_check(&round, &t->err));
    round.noise.tail = 48;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_round_check(&round, &t->err));
    CHECK_REASON(t, "z32: largest * most + tail = 2147483648 is not below 2147483648; 33 bits");
    round.ring = SOTTO_RING_Z64;
    CHECK_OK(t, sotto_round_check(&round, &t->err));
    round.most = UINT64_MAX;
    round.noise.tail = UINT64_MAX;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_round_check(&round, &t->err));
    CHECK_REASON(t, "1863121151444664713115 is not below");
    round.ring = SOTTO_RING_F128;
    CHECK_OK(t, sotto_round_check(&round, &t->err));
    round.ring = SOTTO_RING_F64;
    round.norm2 = 0;
    round.largest = 2;
    round.least = 2;
    round.noise.tail = 0;
    round.most = UINT64_C(0x3fffffffc0000000); /* 2 * most = (p - 1) / 2 */
    CHECK_STATUS(t, SOTTO_DENIED, sotto_round_check(&round, &t->err));
    round.most--;
    CHECK_OK(t, sotto_round_check(&round, &t->err));
    round.ring = SOTTO_RING_RLWE;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_round_check(&round, &t->err));
}

static void a_proved_norm_fits_its_field(sotto_test *t)
{
    sotto_round round = example();

    round.ring = SOTTO_RING_F64;
    round.norm2 = UINT64_C(0x5555555500000000); /* 3 * norm2 = p - 1 */
    CHECK_STATUS(t, SOTTO_DENIED, sotto_round_check(&round, &t->err));
    CHECK_REASON(t, "3 * norm2 + 2 = 18446744069414584322 is not below 18446744069414584321");
    round.norm2 -= 1;
    CHECK_OK(t, sotto_round_check(&round, &t->err));
    round.norm2 = UINT64_MAX;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_round_check(&round, &t->err));
    round.ring = SOTTO_RING_Z32; /* where nothing is proved */
    CHECK_OK(t, sotto_round_check(&round, &t->err));
}

static void a_sum_of_one_is_no_sum(sotto_test *t)
{
    sotto_round round = example();

    round.least = 1;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_round_check(&round, &t->err));
    round.least = 2;
    CHECK_OK(t, sotto_round_check(&round, &t->err));
}

static void numbers_and_times_fit_each_other(sotto_test *t)
{
    sotto_round right = example(), round = right;

    round.least = 101;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_round_check(&round, &t->err));
    round = right;
    round.largest = 101;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_round_check(&round, &t->err));
    round = right;
    round.closes = round.verify_by;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_round_check(&round, &t->err));
    round = right;
    round.length = 0;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_round_check(&round, &t->err));
    round = right;
    round.most = 0;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_round_check(&round, &t->err));
    round = right;
    round.noise.den = 0;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_round_check(&round, &t->err));
}

/* Whoever has a part in a round keeps its secrets until the end of it. */
static void a_round_has_an_end_in_sight(sotto_test *t)
{
    const uint64_t most = SOTTO_ROUND_MOST_MS;
    sotto_round round = example();

    round.opens = 1000;
    round.verify_by = 1000 + most / 2;
    round.release_by = 1000 + most;
    round.commit_by = 1001;
    round.closes = 1002;
    CHECK_OK(t, sotto_round_check(&round, &t->err));
    round.release_by++;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_round_check(&round, &t->err));
    round.release_by = UINT64_MAX;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_round_check(&round, &t->err));
}

/* Shares are not kept for weeks after a round of hours. */
static void a_sum_is_opened_soon(sotto_test *t)
{
    sotto_round round = example();

    round.opens = 1000;
    round.commit_by = 1001;
    round.closes = 1002;
    round.verify_by = 1100;
    round.release_by = 1100 + SOTTO_ROUND_RELEASE * 100;
    CHECK_OK(t, sotto_round_check(&round, &t->err));
    round.release_by++;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_round_check(&round, &t->err));
}

static void a_round_opens_soon(sotto_test *t)
{
    const uint64_t now = UINT64_C(1800000000000);
    sotto_round round = example();

    CHECK_OK(t, sotto_round_check_begins(&round, now, &t->err)); /* it opened before */
    round.opens = now + SOTTO_ROUND_MOST_MS;
    CHECK_OK(t, sotto_round_check_begins(&round, now, &t->err));
    round.opens++;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_round_check_begins(&round, now, &t->err));
    round.opens = UINT64_MAX;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_round_check_begins(&round, now, &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(what_is_encoded_is_decoded),
        CASE(the_bit_budget_is_exact),
        CASE(a_proved_norm_fits_its_field),
        CASE(a_sum_of_one_is_no_sum),
        CASE(numbers_and_times_fit_each_other),
        CASE(a_round_has_an_end_in_sight),
        CASE(a_sum_is_opened_soon),
        CASE(a_round_opens_soon),
    };
    return RUN_TESTS(argc, argv, cases);
}
