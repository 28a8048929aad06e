/* Prio3 behind the tally: the same bytes and sums as sotto_prio3_agg_* gives. */
#include "aggregate/prio/prio.h"

#include "support/prio3.h"

#include <string.h>

static const sotto_prio3_config CONFIG = {
    .type = SOTTO_PRIO3_SUM_VEC, .shares = 2, .length = 3, .chunk_length = 2, .max = 255};

static sotto_round round_of(sotto_test *t, const sotto_prio3_config *config)
{
    sotto_buf out =
        sotto_buf_over(sotto_arena_take(&t->arena, SOTTO_PRIO_PARAMETERS), SOTTO_PRIO_PARAMETERS);
    sotto_round round = {.method = SOTTO_METHOD_PRIO,
                         .ring = SOTTO_RING_F128,
                         .length = 3,
                         .most = 255,
                         .least = 2,
                         .largest = 100};

    CHECK_OK(t, sotto_prio_parameters_encode(&out, config, &t->err));
    round.parameters = sotto_buf_bytes(&out);
    return round;
}

static void verified_reports_are_added_and_opened(sotto_test *t)
{
    const sotto_tally_ops *ops = sotto_method_prio.tally;
    sotto_round round = round_of(t, &CONFIG);
    uint64_t wanted[3] = {0};
    sotto_test_report reports[4];
    sotto_bytes parts[2];
    sotto_tally tallies[2];
    sotto_vector sum;

    for (unsigned a = 0; a < 2; a++)
        CHECK_OK(t, ops->init(&tallies[a], &round, &t->arena, &t->err));
    sotto_test_prio3 p = sotto_test_prio3_of(t, &CONFIG, 1);
    for (size_t i = 0; i < 4; i++) {
        reports[i] = sotto_test_report_random(t, &p);
        for (size_t e = 0; e < 3; e++)
            wanted[e] += reports[i].measurement.values[e];
    }
    sotto_vdaf vdaf = sotto_prio_over(&p.vdaf);
    const sotto_vdaf_server_ops *servers = sotto_method_prio.two_server;
    sotto_vdaf_batch batches[2];
    for (unsigned a = 0; a < 2; a++) {
        sotto_vdaf_verifier verifier = sotto_test_verifier(&p, a);
        sotto_vdaf_report views[4];

        for (size_t i = 0; i < 4; i++)
            views[i] = sotto_test_view(&reports[i], a);
        CHECK_OK(t, a == 0 ? servers->leader_init(&vdaf, &batches[0], &verifier, views, 4,
                                                  &t->arena, &t->err)
                           : servers->helper_init(&vdaf, &batches[1], &verifier, views,
                                                  batches[0].outbound, 4, &t->arena, &t->err));
        for (size_t i = 0; i < 4; i++)
            CHECK_EQUAL(t, a == 0 ? SOTTO_AGAIN : SOTTO_OK, batches[a].status[i]);
    }
    CHECK_OK(t, servers->leader_finish(&vdaf, &batches[0], batches[1].outbound, &t->err));
    for (unsigned a = 0; a < 2; a++) {
        size_t size = ops->size(&round);
        sotto_buf out = sotto_buf_over(sotto_arena_take(&t->arena, size), size);

        sotto_tally job; /* of the instance, as servers have it; the round's has one of its own */

        CHECK_OK(t, servers->tally_init(&job, &vdaf, &t->arena, &t->err));
        CHECK_OK(t, servers->accumulate(&job, &batches[a], 0, 1, &t->err));
        CHECK_EQUAL(t, 1, job.contributions);
        CHECK_OK(t, servers->accumulate(&job, &batches[a], 1, 3, &t->err));
        CHECK_OK(t, ops->merge(&tallies[a], &job, &t->err));
        CHECK_EQUAL(t, 4, tallies[a].contributions);
        CHECK_OK(t, ops->encode(&tallies[a], &out, &t->err));
        parts[a] = sotto_buf_bytes(&out);
    }
    CHECK_OK(t, ops->open(&sum, &round, parts, 2, 4, &t->arena, &t->err));
    for (size_t e = 0; e < 3; e++)
        CHECK(t, sum.of.wide[e].low == wanted[e] && sum.of.wide[e].high == 0);
}

static void tallies_merge_and_take_noise(sotto_test *t)
{
    const sotto_tally_ops *ops = sotto_method_prio.tally;
    const uint8_t first[48] = {5, [16] = 7, [32] = 9}, second[48] = {1, [16] = 2, [32] = 3};
    const int64_t noise[1] = {-20};
    sotto_round round = round_of(t, &CONFIG);
    uint8_t wire[48];
    sotto_buf out = sotto_buf_over(wire, sizeof wire);
    sotto_tally a, b;
    sotto_vector sum;

    CHECK_EQUAL(t, 48, ops->size(&round));
    CHECK_OK(t, ops->init(&a, &round, &t->arena, &t->err));
    CHECK_OK(t, ops->init(&b, &round, &t->arena, &t->err));
    CHECK_OK(t, ops->decode(&a, sotto_bytes_of(first, 48), 2, &t->err));
    CHECK_OK(t, ops->decode(&b, sotto_bytes_of(second, 48), 1, &t->err));
    CHECK_OK(t, ops->merge(&a, &b, &t->err));
    CHECK_EQUAL(t, 3, a.contributions);
    CHECK_OK(t, ops->add(&a, 1, noise, 1, &t->err));
    CHECK_OK(t, ops->encode(&a, &out, &t->err));
    static const uint8_t zeros[48];
    sotto_bytes parts[2] = {{wire, 48}, {zeros, 48}};
    CHECK_OK(t, ops->open(&sum, &round, parts, 2, 3, &t->arena, &t->err));
    CHECK_EQUAL(t, 6, sum.of.wide[0].low);
    CHECK_EQUAL(t, -11, (int64_t)sum.of.wide[1].low);
    CHECK_EQUAL(t, UINT64_MAX, sum.of.wide[1].high);
    CHECK_EQUAL(t, 12, sum.of.wide[2].low);
    CHECK_STATUS(t, SOTTO_MISSING, ops->open(&sum, &round, parts, 1, 3, &t->arena, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, ops->decode(&a, sotto_bytes_of(first, 47), 2, &t->err));
}

static void a_batch_below_the_least_is_not_opened(sotto_test *t)
{
    const sotto_tally_ops *ops = sotto_method_prio.tally;
    static const uint8_t zeros[48];
    sotto_bytes parts[2] = {{zeros, 48}, {zeros, 48}};
    sotto_round round = round_of(t, &CONFIG);
    sotto_vector sum;

    CHECK_STATUS(t, SOTTO_DENIED, ops->open(&sum, &round, parts, 2, 1, &t->arena, &t->err));
    CHECK_OK(t, ops->open(&sum, &round, parts, 2, 2, &t->arena, &t->err));
}

static void ring_and_length_are_those_of_the_instance(sotto_test *t)
{
    sotto_round round = round_of(t, &CONFIG);
    sotto_prio3_config other = CONFIG;
    sotto_tally a, b;

    CHECK_OK(t, sotto_method_prio.check(&round, &t->err));
    CHECK_OK(t, sotto_method_prio.tally->init(&a, &round, &t->arena, &t->err));
    other.max = 127;
    sotto_round narrow = round_of(t, &other);
    CHECK_OK(t, sotto_method_prio.tally->init(&b, &narrow, &t->arena, &t->err));
    CHECK_STATUS(t, SOTTO_BUG, sotto_method_prio.tally->merge(&a, &b, &t->err));
    round.ring = SOTTO_RING_F64;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_method_prio.check(&round, &t->err));
    CHECK_EQUAL(t, 0, sotto_method_prio.tally->size(&round));
    round = round_of(t, &CONFIG);
    round.length = 4;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_method_prio.check(&round, &t->err));
    round.parameters.len--;
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_method_prio.check(&round, &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(verified_reports_are_added_and_opened),
        CASE(tallies_merge_and_take_noise),
        CASE(a_batch_below_the_least_is_not_opened),
        CASE(ring_and_length_are_those_of_the_instance),
    };
    return RUN_TESTS(argc, argv, cases);
}
