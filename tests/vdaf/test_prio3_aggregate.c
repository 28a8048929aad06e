/* Sums: nothing unverified enters, nothing wraps, and an encoding is checked before it is believed. */
#include "support/prio3.h"

#include "vdaf/circuit.h"

#include <string.h>

static const uint64_t p64 = UINT64_C(0xffffffff00000001);

static void an_out_share_of_an_unverified_report_is_a_bug(sotto_test *t)
{
    static const sotto_status others[] = {SOTTO_AGAIN, SOTTO_MALFORMED, SOTTO_REJECTED,
                                          SOTTO_NO_MEMORY, SOTTO_BUG};

    for (size_t c = 0; c < sotto_test_config_count; c++) {
        sotto_test_prio3 p = sotto_test_prio3_of(t, &sotto_test_configs[c], 1);
        sotto_test_report report = sotto_test_report_random(t, &p);
        sotto_test_round round = sotto_test_round_init(t, &p, &report, 1);
        sotto_buf out = sotto_test_buf(t, p.vdaf.sizes.out_share);

        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
            round.states[0][0].status = others[i];
            CHECK_STATUS(t, SOTTO_BUG,
                         sotto_prio3_out_share(&p.vdaf, &out, round.states[0], &t->err));
            CHECK_EQUAL(t, 0, out.len);
        }
        round.states[0][0].status = SOTTO_OK;
        out.cap--;
        CHECK_STATUS(t, SOTTO_TOO_LARGE,
                     sotto_prio3_out_share(&p.vdaf, &out, round.states[0], &t->err));
        CHECK_EQUAL(t, 0, out.len);
        out.cap++;
        CHECK_OK(t, sotto_prio3_out_share(&p.vdaf, &out, round.states[0], &t->err));
        CHECK_EQUAL(t, p.vdaf.sizes.out_share, out.len);
    }
}

/* The out shares of one report are an aggregate of it alone. */
static void out_shares_unshard_to_the_measurement(sotto_test *t)
{
    for (size_t c = 0; c < sotto_test_config_count; c++) {
        sotto_test_prio3 p = sotto_test_prio3_of(t, &sotto_test_configs[c], 2);
        sotto_test_report report = sotto_test_report_random(t, &p);
        sotto_test_round round = sotto_test_round_run(t, &p, &report, 1);
        sotto_uint128 got[16], wanted[16];
        sotto_bytes shares[2];

        for (unsigned a = 0; a < 2; a++) {
            sotto_buf out = sotto_test_buf(t, p.vdaf.sizes.out_share);
            CHECK_OK(t, sotto_prio3_out_share(&p.vdaf, &out, round.states[a], &t->err));
            shares[a] = sotto_buf_bytes(&out);
        }
        CHECK_OK(t, sotto_prio3_unshard(&p.vdaf, got, shares, 1, &t->err));
        sotto_test_plain_sum(t, &p, &round, &report, wanted);
        CHECK_BYTES(t, wanted, got, p.vdaf.sizes.outputs * sizeof *got);
    }
}

/* Batches around the number of shares that are added at once, with gaps. */
static void accumulating_together_is_accumulating_one_by_one(sotto_test *t)
{
    enum { MOST = 26 };

    for (size_t c = 0; c < sotto_test_config_count; c++) {
        sotto_test_prio3 p = sotto_test_prio3_of(t, &sotto_test_configs[c], 3);
        sotto_test_report reports[MOST];

        for (size_t i = 0; i < MOST; i++)
            reports[i] = sotto_test_report_random(t, &p);
        sotto_test_round round = sotto_test_round_run(t, &p, reports, MOST);
        for (size_t count = 0; count <= MOST; count++) {
            for (size_t gap = 2; gap < 5; gap++) {
                sotto_prio3_agg together, single;
                sotto_prio3_verification states[MOST];
                uint64_t valid = 0;

                CHECK_OK(t, sotto_prio3_agg_init(&p.vdaf, &together, &t->arena, &t->err));
                CHECK_OK(t, sotto_prio3_agg_init(&p.vdaf, &single, &t->arena, &t->err));
                for (size_t i = 0; i < count; i++) {
                    states[i] = round.states[1][i];
                    if (i % gap == 1)
                        states[i].status = i % 2 ? SOTTO_REJECTED : SOTTO_AGAIN;
                    valid += i % gap != 1;
                    CHECK_OK(t, sotto_prio3_accumulate(&p.vdaf, &single, &states[i], 1, &t->err));
                }
                CHECK_OK(t, sotto_prio3_accumulate(&p.vdaf, &together, states, count, &t->err));
                CHECK_EQUAL(t, valid, together.reports);
                CHECK_EQUAL(t, valid, single.reports);
                CHECK_BYTES(t, single.elements, together.elements, p.vdaf.sizes.out_share);
            }
        }
        sotto_arena_reset(&t->arena);
    }
}

/* ---- sums that could wrap -------------------------------------------------------------------------- */

/* The most reports whose sum stays below the modulus; UINT64_MAX where the count is the only limit. */
static uint64_t most_reports(const sotto_prio3_config *config)
{
    uint64_t max = config->max ? config->max : 1;

    if (config->type == SOTTO_PRIO3_COUNT)
        return p64 - 1;
    if (config->type == SOTTO_PRIO3_SUM || config->type == SOTTO_PRIO3_SUM_VEC_WITH_MULTIPROOF)
        return (p64 - 1) / max;
    /* (2^64 - 28) * (2^64 - 1) is the largest multiple below the modulus of Field128. */
    return max == UINT64_MAX ? UINT64_MAX - 27 : UINT64_MAX;
}

static const sotto_prio3_config wrapping[] = {
    {.type = SOTTO_PRIO3_SUM_VEC, .shares = 2, .length = 1, .chunk_length = 8, .max = UINT64_MAX},
    {.type = SOTTO_PRIO3_COUNT, .shares = 2},
    {.type = SOTTO_PRIO3_SUM, .shares = 2, .max = 1},
    {.type = SOTTO_PRIO3_SUM, .shares = 2, .max = 1337},
    {.type = SOTTO_PRIO3_SUM, .shares = 2, .max = INT64_MAX},
    {.type = SOTTO_PRIO3_SUM_VEC_WITH_MULTIPROOF,
     .shares = 2,
     .proofs = 3,
     .length = 3,
     .chunk_length = 2,
     .max = 7},
    {.type = SOTTO_PRIO3_SUM_VEC, .shares = 2, .length = 3, .chunk_length = 2, .max = 7},
    {.type = SOTTO_PRIO3_HISTOGRAM, .shares = 2, .length = 3, .chunk_length = 2},
    {.type = SOTTO_PRIO3_MULTIHOT_COUNT_VEC, .shares = 2, .length = 3, .chunk_length = 2, .max = 2},
};
enum { WRAPPING = sizeof wrapping / sizeof wrapping[0] };

static void a_sum_that_could_wrap_is_denied_and_nothing_is_added(sotto_test *t)
{
    for (size_t c = 0; c < WRAPPING; c++) {
        sotto_test_prio3 p = sotto_test_prio3_of(t, &wrapping[c], 4);
        uint64_t most = most_reports(&wrapping[c]);
        sotto_test_report reports[3];
        sotto_prio3_agg agg;
        uint8_t zeros[64] = {0};

        for (size_t i = 0; i < 3; i++)
            reports[i] = sotto_test_report_random(t, &p);
        sotto_test_round round = sotto_test_round_run(t, &p, reports, 3);
        CHECK_OK(t, sotto_prio3_agg_init(&p.vdaf, &agg, &t->arena, &t->err));
        for (uint64_t room = 0; room < 3 && room < most; room++) {
            agg.reports = most - room;
            CHECK_STATUS(t, SOTTO_DENIED,
                         sotto_prio3_accumulate(&p.vdaf, &agg, round.states[0], 3, &t->err));
            CHECK_EQUAL(t, most - room, agg.reports);
            CHECK_BYTES(t, zeros, agg.elements, p.vdaf.sizes.out_share);
        }
        if (most < 3)
            continue;
        agg.reports = most - 3;
        CHECK_OK(t, sotto_prio3_accumulate(&p.vdaf, &agg, round.states[0], 3, &t->err));
        CHECK_EQUAL(t, most, agg.reports);
        /* Rejected reports don't count. */
        round.states[0][0].status = round.states[0][2].status = SOTTO_REJECTED;
        agg.reports = most - 1;
        CHECK_OK(t, sotto_prio3_accumulate(&p.vdaf, &agg, round.states[0], 3, &t->err));
        CHECK_EQUAL(t, most, agg.reports);
    }
}

static void a_merge_that_could_wrap_is_denied_and_nothing_is_added(sotto_test *t)
{
    for (size_t c = 0; c < WRAPPING; c++) {
        sotto_test_prio3 p = sotto_test_prio3_of(t, &wrapping[c], 5);
        uint64_t most = most_reports(&wrapping[c]);
        sotto_prio3_agg agg, other;
        uint8_t zeros[64] = {0};

        CHECK_OK(t, sotto_prio3_agg_init(&p.vdaf, &agg, &t->arena, &t->err));
        CHECK_OK(t, sotto_prio3_agg_init(&p.vdaf, &other, &t->arena, &t->err));
        memset(other.elements, 1, p.vdaf.sizes.out_share);
        agg.reports = most;
        other.reports = 1;
        CHECK_STATUS(t, SOTTO_DENIED, sotto_prio3_merge(&p.vdaf, &agg, &other, &t->err));
        other.reports = UINT64_MAX;
        CHECK_STATUS(t, SOTTO_DENIED, sotto_prio3_merge(&p.vdaf, &agg, &other, &t->err));
        CHECK_EQUAL(t, most, agg.reports);
        CHECK_BYTES(t, zeros, agg.elements, p.vdaf.sizes.out_share);
        agg.reports = most - 1;
        other.reports = 1;
        CHECK_OK(t, sotto_prio3_merge(&p.vdaf, &agg, &other, &t->err));
        CHECK_EQUAL(t, most, agg.reports);
        CHECK_BYTES(t, other.elements, agg.elements, p.vdaf.sizes.out_share);
    }
}

static void an_answer_that_could_have_wrapped_is_denied(sotto_test *t)
{
    for (size_t c = 0; c < WRAPPING; c++) {
        sotto_test_prio3 p = sotto_test_prio3_of(t, &wrapping[c], 6);
        uint64_t most = most_reports(&wrapping[c]);
        uint8_t *zeros = sotto_test_take(t, p.vdaf.sizes.out_share);
        sotto_bytes shares[2] = {sotto_bytes_of(zeros, p.vdaf.sizes.out_share),
                                 sotto_bytes_of(zeros, p.vdaf.sizes.out_share)};
        sotto_uint128 result[4];
        sotto_prio3_agg agg;

        CHECK_OK(t, sotto_prio3_agg_init(&p.vdaf, &agg, &t->arena, &t->err));
        CHECK_OK(t, sotto_prio3_unshard(&p.vdaf, result, shares, most, &t->err));
        CHECK_OK(t, sotto_prio3_agg_decode(&p.vdaf, &agg, shares[0], most, &t->err));
        if (most == UINT64_MAX)
            continue;
        CHECK_STATUS(t, SOTTO_DENIED,
                     sotto_prio3_unshard(&p.vdaf, result, shares, most + 1, &t->err));
        CHECK_STATUS(t, SOTTO_DENIED,
                     sotto_prio3_unshard(&p.vdaf, result, shares, UINT64_MAX, &t->err));
        CHECK_STATUS(t, SOTTO_DENIED,
                     sotto_prio3_agg_decode(&p.vdaf, &agg, shares[0], most + 1, &t->err));
        CHECK_EQUAL(t, most, agg.reports);
    }
}

/* ---- numbers that aggregators add ------------------------------------------------------------------ */

static void check_signed(sotto_test *t, uint64_t plain, int64_t added, sotto_uint128 got)
{
    int64_t wanted = (int64_t)plain + added;

    CHECK_EQUAL(t, (uint64_t)wanted, got.low);
    CHECK_EQUAL(t, wanted < 0 ? UINT64_MAX : 0, got.high);
}

static void added_numbers_of_either_sign_come_out_in_the_sum(sotto_test *t)
{
    static const int64_t added[] = {
        0, 1, -1, 25, -25, 1 << 20, -(1 << 20), (int64_t)1 << 48, -((int64_t)1 << 48)};
    enum { ADDED = sizeof added / sizeof added[0] };

    for (size_t c = 0; c < sotto_test_config_count; c++) {
        sotto_test_prio3 p = sotto_test_prio3_of(t, &sotto_test_configs[c], 9);
        sotto_test_report report = sotto_test_report_random(t, &p);
        sotto_test_round round = sotto_test_round_run(t, &p, &report, 1);
        size_t outputs = p.vdaf.sizes.outputs;
        sotto_uint128 got[16], wanted[16];

        sotto_test_plain_sum(t, &p, &round, &report, wanted);
        for (size_t i = 0; i < ADDED * ADDED; i++) {
            int64_t values[2][16];
            sotto_bytes shares[2];

            for (unsigned a = 0; a < 2; a++) {
                sotto_buf wire = sotto_test_buf(t, p.vdaf.sizes.out_share);
                size_t some = outputs / 2;
                sotto_prio3_agg agg;

                for (size_t j = 0; j < outputs; j++)
                    values[a][j] = added[(a ? i / ADDED : i + j) % ADDED];
                CHECK_OK(t, sotto_prio3_agg_init(&p.vdaf, &agg, &t->arena, &t->err));
                CHECK_OK(t, sotto_prio3_accumulate(&p.vdaf, &agg, round.states[a], 1, &t->err));
                CHECK_OK(t, sotto_prio3_agg_add(&p.vdaf, &agg, 0, values[a], some, &t->err));
                CHECK_OK(t, sotto_prio3_agg_add(&p.vdaf, &agg, some, values[a] + some,
                                                outputs - some, &t->err));
                CHECK_OK(t, sotto_prio3_agg_encode(&p.vdaf, &wire, &agg, &t->err));
                shares[a] = sotto_buf_bytes(&wire);
            }
            CHECK_OK(t, sotto_prio3_unshard_signed(&p.vdaf, got, shares, 1, &t->err));
            for (size_t j = 0; j < outputs; j++)
                check_signed(t, wanted[j].low, values[0][j] + values[1][j], got[j]);
        }
        sotto_arena_reset(&t->arena);
    }
}

static void numbers_that_can_not_be_added_leave_a_share_as_it_was(sotto_test *t)
{
    static const int64_t bad[] = {((int64_t)1 << 48) + 1, -((int64_t)1 << 48) - 1, INT64_MAX,
                                  INT64_MIN};

    for (size_t c = 0; c < sotto_test_config_count; c++) {
        sotto_test_prio3 p = sotto_test_prio3_of(t, &sotto_test_configs[c], 10);
        size_t outputs = p.vdaf.sizes.outputs;
        uint8_t zeros[16 * 16] = {0};
        int64_t values[17] = {1, 1};
        sotto_prio3_agg agg;

        CHECK_OK(t, sotto_prio3_agg_init(&p.vdaf, &agg, &t->arena, &t->err));
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
            values[outputs - 1] = bad[i];
            CHECK_STATUS(t, SOTTO_BUG,
                         sotto_prio3_agg_add(&p.vdaf, &agg, 0, values, outputs, &t->err));
        }
        values[outputs - 1] = 1;
        CHECK_STATUS(t, SOTTO_BUG,
                     sotto_prio3_agg_add(&p.vdaf, &agg, 0, values, outputs + 1, &t->err));
        CHECK_STATUS(t, SOTTO_BUG, sotto_prio3_agg_add(&p.vdaf, &agg, 1, values, outputs, &t->err));
        CHECK_STATUS(t, SOTTO_BUG,
                     sotto_prio3_agg_add(&p.vdaf, &agg, SIZE_MAX, values, 1, &t->err));
        CHECK_BYTES(t, zeros, agg.elements, p.vdaf.sizes.out_share);
    }
}

/* Half of the modulus, less what both may add, is what reports may reach. */
static void a_sum_whose_sign_could_not_be_told_is_denied(sotto_test *t)
{
    static const sotto_prio3_config count = {.type = SOTTO_PRIO3_COUNT, .shares = 2};
    sotto_test_prio3 p = sotto_test_prio3_of(t, &count, 11);
    uint64_t most = p64 / 2 - 2 * SOTTO_PRIO3_ADDED_LIMIT - 1;
    uint8_t zeros[8] = {0};
    sotto_bytes shares[2] = {sotto_bytes_of(zeros, 8), sotto_bytes_of(zeros, 8)};
    int64_t value = -3;
    sotto_uint128 result;
    sotto_prio3_agg agg;

    CHECK_OK(t, sotto_prio3_agg_init(&p.vdaf, &agg, &t->arena, &t->err));
    agg.reports = most + 1;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_prio3_agg_add(&p.vdaf, &agg, 0, &value, 1, &t->err));
    CHECK_BYTES(t, zeros, agg.elements, sizeof zeros);
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_prio3_unshard_signed(&p.vdaf, &result, shares, most + 1, &t->err));
    agg.reports = most;
    CHECK_OK(t, sotto_prio3_agg_add(&p.vdaf, &agg, 0, &value, 1, &t->err));
    CHECK_OK(t, sotto_prio3_unshard_signed(&p.vdaf, &result, shares, most, &t->err));
}

/* ---- encodings ------------------------------------------------------------------------------------- */

static void a_merge_adds_and_a_copy_decodes_to_the_same(sotto_test *t)
{
    for (size_t c = 0; c < sotto_test_config_count; c++) {
        sotto_test_prio3 p = sotto_test_prio3_of(t, &sotto_test_configs[c], 8);
        sotto_test_report reports[6];
        sotto_prio3_agg all, first, second;
        sotto_buf wire = sotto_test_buf(t, p.vdaf.sizes.out_share);

        for (size_t i = 0; i < 6; i++)
            reports[i] = sotto_test_report_random(t, &p);
        sotto_test_round round = sotto_test_round_run(t, &p, reports, 6);
        CHECK_OK(t, sotto_prio3_agg_init(&p.vdaf, &all, &t->arena, &t->err));
        CHECK_OK(t, sotto_prio3_agg_init(&p.vdaf, &first, &t->arena, &t->err));
        CHECK_OK(t, sotto_prio3_agg_init(&p.vdaf, &second, &t->arena, &t->err));
        CHECK_OK(t, sotto_prio3_accumulate(&p.vdaf, &all, round.states[0], 6, &t->err));
        CHECK_OK(t, sotto_prio3_accumulate(&p.vdaf, &first, round.states[0], 2, &t->err));
        CHECK_OK(t, sotto_prio3_agg_encode(&p.vdaf, &wire, &first, &t->err));
        CHECK_OK(t, sotto_prio3_agg_decode(&p.vdaf, &second, sotto_buf_bytes(&wire), 2, &t->err));
        CHECK_BYTES(t, first.elements, second.elements, p.vdaf.sizes.out_share);
        CHECK_OK(t, sotto_prio3_accumulate(&p.vdaf, &second, round.states[0] + 2, 4, &t->err));
        CHECK_BYTES(t, all.elements, second.elements, p.vdaf.sizes.out_share);

        CHECK_OK(t, sotto_prio3_agg_init(&p.vdaf, &second, &t->arena, &t->err));
        CHECK_OK(t, sotto_prio3_accumulate(&p.vdaf, &second, round.states[0] + 2, 4, &t->err));
        CHECK_OK(t, sotto_prio3_merge(&p.vdaf, &first, &second, &t->err));
        CHECK_BYTES(t, all.elements, first.elements, p.vdaf.sizes.out_share);
        CHECK_EQUAL(t, 6, first.reports);
    }
}

static void what_was_added_can_be_taken_off(sotto_test *t)
{
    for (size_t c = 0; c < sotto_test_config_count; c++) {
        sotto_test_prio3 p = sotto_test_prio3_of(t, &sotto_test_configs[c], 8);
        sotto_test_report reports[4];
        sotto_prio3_agg all, some;
        sotto_buf wire = sotto_test_buf(t, p.vdaf.sizes.out_share);

        for (size_t i = 0; i < 4; i++)
            reports[i] = sotto_test_report_random(t, &p);
        sotto_test_round round = sotto_test_round_run(t, &p, reports, 4);
        CHECK_OK(t, sotto_prio3_agg_init(&p.vdaf, &all, &t->arena, &t->err));
        CHECK_OK(t, sotto_prio3_agg_init(&p.vdaf, &some, &t->arena, &t->err));
        CHECK_OK(t, sotto_prio3_accumulate(&p.vdaf, &all, round.states[1] + 1, 3, &t->err));
        CHECK_OK(t, sotto_prio3_agg_encode(&p.vdaf, &wire, &all, &t->err));
        CHECK_OK(t, sotto_prio3_accumulate(&p.vdaf, &all, round.states[1], 1, &t->err));
        CHECK_OK(t, sotto_prio3_accumulate(&p.vdaf, &some, round.states[1], 1, &t->err));
        CHECK_OK(t, sotto_prio3_subtract(&p.vdaf, &all, &some, &t->err));
        CHECK_BYTES(t, wire.data, all.elements, p.vdaf.sizes.out_share);
        CHECK_EQUAL(t, 3, all.reports);
        CHECK_STATUS(t, SOTTO_BUG, sotto_prio3_subtract(&p.vdaf, &some, &all, &t->err));
    }
}

static void check_bad_share(sotto_test *t, const sotto_test_prio3 *p, sotto_bytes bad,
                            const char *reason)
{
    uint8_t *zeros = sotto_test_take(t, p->vdaf.sizes.out_share);
    sotto_bytes good = sotto_bytes_of(zeros, p->vdaf.sizes.out_share);
    sotto_uint128 result[16];
    sotto_prio3_agg agg;

    CHECK_OK(t, sotto_prio3_agg_init(&p->vdaf, &agg, &t->arena, &t->err));
    agg.reports = 3;
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_prio3_agg_decode(&p->vdaf, &agg, bad, 1, &t->err));
    CHECK_REASON(t, reason);
    CHECK_EQUAL(t, 3, agg.reports);
    CHECK_BYTES(t, zeros, agg.elements, p->vdaf.sizes.out_share);
    for (unsigned a = 0; a < 2; a++) {
        sotto_bytes shares[2] = {a ? good : bad, a ? bad : good};

        CHECK_STATUS(t, SOTTO_MALFORMED, sotto_prio3_unshard(&p->vdaf, result, shares, 1, &t->err));
        CHECK_REASON(t, reason);
    }
}

static void aggregate_shares_of_other_lengths_or_with_large_elements_are_malformed(sotto_test *t)
{
    for (size_t c = 0; c < sotto_test_config_count; c++) {
        sotto_test_prio3 p = sotto_test_prio3_of(t, &sotto_test_configs[c], 9);
        size_t right = p.vdaf.sizes.out_share;
        uint8_t *bytes = sotto_test_take(t, right + 16);

        for (size_t len = 0; len <= right + 16; len++)
            if (len != right)
                check_bad_share(t, &p, sotto_bytes_of(bytes, len), "aggregate share: wanted");
        for (size_t index = 0; index < p.vdaf.sizes.outputs; index++) {
            sotto_test_spoil_element(&p, bytes, index);
            check_bad_share(t, &p, sotto_bytes_of(bytes, right), "aggregate share: an element");
            memset(bytes, 0, right);
        }
    }
}

static void an_aggregate_share_without_room_is_not_written(sotto_test *t)
{
    sotto_test_prio3 p = sotto_test_prio3_of(t, &sotto_test_configs[3], 1);
    sotto_buf out =
        sotto_buf_over(sotto_test_take(t, p.vdaf.sizes.out_share), p.vdaf.sizes.out_share - 1);
    sotto_prio3_agg agg;

    CHECK_OK(t, sotto_prio3_agg_init(&p.vdaf, &agg, &t->arena, &t->err));
    CHECK_STATUS(t, SOTTO_TOO_LARGE, sotto_prio3_agg_encode(&p.vdaf, &out, &agg, &t->err));
    CHECK_EQUAL(t, 0, out.len);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(an_out_share_of_an_unverified_report_is_a_bug),
        CASE(out_shares_unshard_to_the_measurement),
        CASE(accumulating_together_is_accumulating_one_by_one),
        CASE(a_sum_that_could_wrap_is_denied_and_nothing_is_added),
        CASE(a_merge_that_could_wrap_is_denied_and_nothing_is_added),
        CASE(an_answer_that_could_have_wrapped_is_denied),
        CASE(added_numbers_of_either_sign_come_out_in_the_sum),
        CASE(numbers_that_can_not_be_added_leave_a_share_as_it_was),
        CASE(a_sum_whose_sign_could_not_be_told_is_denied),
        CASE(a_merge_adds_and_a_copy_decodes_to_the_same),
        CASE(what_was_added_can_be_taken_off),
        CASE(aggregate_shares_of_other_lengths_or_with_large_elements_are_malformed),
        CASE(an_aggregate_share_without_room_is_not_written),
    };
    return RUN_TESTS(argc, argv, cases);
}
