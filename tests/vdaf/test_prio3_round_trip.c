/* Whole rounds, honest ones: what comes out is the plain sum. */
#include "support/prio3.h"

#include "crypto/keccak.h"
#include "math/kernels128.h"
#include "vdaf/circuit.h"

#include <string.h>

/* Bytes of every message of the round, one after the other. */
static sotto_buf transcript_of(sotto_test *t, const sotto_test_prio3 *p,
                               const sotto_test_report *reports, const sotto_test_round *round)
{
    size_t shares = p->vdaf.circuit->shares, cap = (size_t)1 << 20;
    sotto_buf out = sotto_test_buf(t, cap);
    sotto_writer w = sotto_writer_on(&out);

    for (size_t i = 0; i < round->count; i++) {
        sotto_write_bytes(&w, sotto_buf_bytes(&reports[i].public_share));
        for (unsigned a = 0; a < shares; a++) {
            sotto_write_bytes(&w, sotto_buf_bytes(&reports[i].shares[a]));
            sotto_write_bytes(&w, round->shares[i * shares + a]);
        }
        sotto_write_bytes(&w, round->messages[i]);
    }
    CHECK_OK(t, sotto_writer_finish(&w, "transcript", &t->err));
    return out;
}

static void run_and_compare(sotto_test *t, sotto_test_prio3 *p, size_t count)
{
    sotto_test_report reports[16];
    sotto_uint128 *got = sotto_test_take(t, p->vdaf.sizes.outputs * sizeof *got);
    sotto_uint128 *wanted = sotto_test_take(t, p->vdaf.sizes.outputs * sizeof *wanted);

    for (size_t i = 0; i < count; i++)
        reports[i] = sotto_test_report_random(t, p);
    sotto_test_round round = sotto_test_round_run(t, p, reports, count);
    for (size_t i = 0; i < count; i++)
        CHECK_STATUS(t, SOTTO_OK, sotto_test_round_status(p, &round, i));
    CHECK_EQUAL(t, count, sotto_test_round_sum(t, p, &round, got));
    sotto_test_plain_sum(t, p, &round, reports, wanted);
    CHECK_BYTES(t, wanted, got, p->vdaf.sizes.outputs * sizeof *got);
}

static void any_parameters_and_any_number_of_aggregators_give_the_plain_sum(sotto_test *t)
{
    sotto_sim_random random;

    sotto_sim_random_init(&random, 7);
    for (size_t type = 0; type < sotto_test_config_count; type++) {
        for (unsigned shares = 2; shares <= 5; shares++) {
            for (int i = 0; i < 15; i++) {
                sotto_prio3_config config =
                    sotto_test_random_config(&random, sotto_test_configs[type].type, shares);
                sotto_test_prio3 p = sotto_test_prio3_of(t, &config, (uint64_t)i);
                /* Few enough that even the largest Sum can't wrap. */
                size_t count =
                    config.type == SOTTO_PRIO3_SUM ? 1 : 1 + sotto_sim_random_below(&random, 9);

                run_and_compare(t, &p, count);
                sotto_arena_reset(&t->arena);
            }
        }
    }
}

static void an_empty_batch_is_no_mistake(sotto_test *t)
{
    for (size_t c = 0; c < sotto_test_config_count; c++) {
        sotto_test_prio3 p = sotto_test_prio3_of(t, &sotto_test_configs[c], 1);

        run_and_compare(t, &p, 0);
    }
}

static void the_largest_entries_survive_the_round_trip(sotto_test *t)
{
    static const sotto_prio3_config configs[] = {
        {.type = SOTTO_PRIO3_SUM, .shares = 2, .max = INT64_MAX},
        {.type = SOTTO_PRIO3_SUM_VEC,
         .shares = 2,
         .length = 2,
         .chunk_length = 9,
         .max = UINT64_MAX},
        {.type = SOTTO_PRIO3_L1_BOUND_SUM,
         .shares = 3,
         .length = 2,
         .chunk_length = 9,
         .max = UINT64_MAX},
        {.type = SOTTO_PRIO3_SUM_VEC_WITH_MULTIPROOF,
         .shares = 2,
         .proofs = 3,
         .length = 2,
         .chunk_length = 9,
         .max = INT64_MAX},
    };

    for (size_t c = 0; c < sizeof configs / sizeof configs[0]; c++) {
        sotto_test_prio3 p = sotto_test_prio3_of(t, &configs[c], 1);
        bool bounded = configs[c].type == SOTTO_PRIO3_L1_BOUND_SUM;
        uint64_t values[2] = {configs[c].max, bounded ? 0 : configs[c].max};
        sotto_test_report report =
            sotto_test_report_of(t, &p, (sotto_measurement){values, configs[c].length ? 2 : 1});
        sotto_test_round round = sotto_test_round_run(t, &p, &report, 1);
        sotto_uint128 result[2];

        CHECK_EQUAL(t, 1, sotto_test_round_sum(t, &p, &round, result));
        CHECK_EQUAL(t, configs[c].max, result[0].low);
        CHECK_EQUAL(t, 0, result[0].high);
    }
}

/* Every measurement of a small type, not only those that chance picks. */
static void every_sum_up_to_every_small_maximum_comes_back(sotto_test *t)
{
    for (uint64_t max = 1; max <= 20; max++) {
        sotto_prio3_config config = {.type = SOTTO_PRIO3_SUM, .shares = 2, .max = max};
        sotto_test_prio3 p = sotto_test_prio3_of(t, &config, max);

        for (uint64_t value = 0; value <= max; value++) {
            sotto_test_report report = sotto_test_report_of(t, &p, (sotto_measurement){&value, 1});
            sotto_test_round round = sotto_test_round_run(t, &p, &report, 1);
            sotto_uint128 result;

            CHECK_EQUAL(t, 1, sotto_test_round_sum(t, &p, &round, &result));
            CHECK_EQUAL(t, value, result.low);
        }
        sotto_arena_reset(&t->arena);
    }
}

static void every_bucket_comes_back(sotto_test *t)
{
    for (uint64_t length = 1; length <= 12; length++) {
        for (uint64_t chunk = 1; chunk <= length + 1; chunk++) {
            sotto_prio3_config config = {.type = SOTTO_PRIO3_HISTOGRAM,
                                         .shares = 2,
                                         .length = length,
                                         .chunk_length = chunk};
            sotto_test_prio3 p = sotto_test_prio3_of(t, &config, length);
            sotto_test_report reports[16];

            for (uint64_t bucket = 0; bucket < length; bucket++) {
                uint64_t *value = sotto_test_take(t, sizeof *value);
                *value = bucket;
                reports[bucket] = sotto_test_report_of(t, &p, (sotto_measurement){value, 1});
            }
            sotto_test_round round = sotto_test_round_run(t, &p, reports, length);
            sotto_uint128 result[16];
            CHECK_EQUAL(t, length, sotto_test_round_sum(t, &p, &round, result));
            for (uint64_t bucket = 0; bucket < length; bucket++)
                CHECK_EQUAL(t, 1, result[bucket].low);
            sotto_arena_reset(&t->arena);
        }
    }
}

/* A gadget x^d - x, one call an element: the general extension of the gadget polynomial. */
static void gadgets_of_higher_degree_are_proved_and_checked(sotto_test *t)
{
    for (unsigned degree = 2; degree <= SOTTO_CIRCUIT_MAX_DEGREE; degree++) {
        for (unsigned bits = 1; bits <= 9; bits++) {
            sotto_circuit description = {.algorithm = 0xffff0000,
                                         .field = bits % 2 ? 64 : 128,
                                         .shares = 2,
                                         .proofs = 1,
                                         .shape = SOTTO_SHAPE_EACH,
                                         .degree = degree,
                                         .polynomial = {[1] = -1},
                                         .entries = 1,
                                         .bits = bits,
                                         .max = ((uint64_t)1 << bits) - 1};
            sotto_test_prio3 p = {.verifier.context = {0}};
            uint64_t value;

            description.polynomial[degree] = 1;
            sotto_sim_random_init(&p.random, degree * 10 + bits);
            value = sotto_sim_random_below(&p.random, description.max + 1);
            CHECK_OK(t, sotto_prio3_init_circuit(&p.vdaf, &t->arena, &description, &t->err));
            sotto_test_report reports[2] = {
                sotto_test_report_of(t, &p, (sotto_measurement){&value, 1}),
                sotto_test_report_of(t, &p, (sotto_measurement){&value, 1})};
            sotto_test_bump_element(&p, reports[1].shares[0].data, bits - 1);
            sotto_test_round round = sotto_test_round_run(t, &p, reports, 2);
            sotto_uint128 result;
            CHECK_EQUAL(t, 1, sotto_test_round_sum(t, &p, &round, &result));
            CHECK_EQUAL(t, value, result.low);
            CHECK_STATUS(t, SOTTO_REJECTED, sotto_test_round_status(&p, &round, 1));
        }
    }
}

/* ---- every way of computing gives the same bytes --------------------------------------------------- */

static const char *const backends[] = {"scalar", "bmi", "avx2", "avx512vl", "neon"};
static const char *const kernels[] = {"portable", "avx2", "ifma"};
enum { BACKENDS = sizeof backends / sizeof *backends, KERNELS = sizeof kernels / sizeof *kernels };

/* False if this machine lacks one of the two. */
static bool choose(size_t backend, size_t kernel)
{
    return sotto_keccak_use(backends[backend]) && sotto_f128_use(kernels[kernel]);
}

static sotto_buf transcript_with_choice(sotto_test *t, const sotto_prio3_config *config)
{
    sotto_test_prio3 p = sotto_test_prio3_of(t, config, 5);
    sotto_test_report reports[7];

    for (size_t i = 0; i < 7; i++)
        reports[i] = sotto_test_report_random(t, &p);
    sotto_test_round round = sotto_test_round_run(t, &p, reports, 7);
    return transcript_of(t, &p, reports, &round);
}

static void check_every_choice(sotto_test *t, const sotto_prio3_config *config)
{
    CHECK(t, choose(0, 0));
    sotto_buf plain = transcript_with_choice(t, config);
    for (size_t choice = 1; choice < BACKENDS * KERNELS; choice++) {
        if (!choose(choice % BACKENDS, choice / BACKENDS))
            continue;
        sotto_buf transcript = transcript_with_choice(t, config);

        CHECK_EQUAL(t, plain.len, transcript.len);
        CHECK_BYTES(t, plain.data, transcript.data, plain.len);
    }
    CHECK(t, sotto_keccak_use(NULL));
    CHECK(t, sotto_f128_use(NULL));
    sotto_arena_reset(&t->arena);
}

static void every_backend_and_every_set_of_kernels_gives_the_same_bytes(sotto_test *t)
{
    for (size_t c = 0; c < sotto_test_config_count; c++)
        check_every_choice(t, &sotto_test_configs[c]);
    /* Long enough for whole vectors of lanes, and for what is left over after them. */
    for (uint64_t chunk = 7; chunk <= 41; chunk += 17) {
        check_every_choice(t, &(sotto_prio3_config){.type = SOTTO_PRIO3_HISTOGRAM,
                                                    .shares = 2,
                                                    .length = 333,
                                                    .chunk_length = chunk});
        check_every_choice(t, &(sotto_prio3_config){.type = SOTTO_PRIO3_SUM_VEC,
                                                    .shares = 2,
                                                    .length = 61,
                                                    .chunk_length = chunk,
                                                    .max = 15});
        check_every_choice(t, &(sotto_prio3_config){.type = SOTTO_PRIO3_MULTIHOT_COUNT_VEC,
                                                    .shares = 2,
                                                    .length = 99,
                                                    .chunk_length = chunk,
                                                    .max = 20});
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(any_parameters_and_any_number_of_aggregators_give_the_plain_sum),
        CASE(an_empty_batch_is_no_mistake),
        CASE(the_largest_entries_survive_the_round_trip),
        CASE(every_sum_up_to_every_small_maximum_comes_back),
        CASE(every_bucket_comes_back),
        CASE(gadgets_of_higher_degree_are_proved_and_checked),
        CASE(every_backend_and_every_set_of_kernels_gives_the_same_bytes),
    };
    return RUN_TESTS(argc, argv, cases);
}
