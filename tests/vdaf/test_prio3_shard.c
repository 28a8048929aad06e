/* The client refuses what is not a measurement, and writes all or nothing. */
#include "support/prio3.h"

#include "vdaf/circuit.h"

#include <string.h>

typedef struct attempt {
    sotto_buf public_share;
    sotto_buf shares[SOTTO_TEST_MAX_SHARES];
    uint8_t nonce[SOTTO_PRIO3_NONCE_SIZE];
    sotto_bytes context;
    sotto_bytes rand;
} attempt;

static attempt attempt_of(sotto_test *t, const sotto_prio3 *vdaf)
{
    attempt a = {.context = sotto_bytes_of("context", 7)};

    a.rand = sotto_bytes_of(sotto_test_take(t, vdaf->sizes.rand), vdaf->sizes.rand);
    a.public_share = sotto_test_buf(t, vdaf->sizes.public_share + 8);
    for (unsigned s = 0; s < vdaf->circuit->shares; s++) {
        size_t len = 8 + (s ? vdaf->sizes.helper_share : vdaf->sizes.leader_share);
        a.shares[s] = sotto_test_buf(t, len);
    }
    return a;
}

static sotto_status run(sotto_test *t, const sotto_prio3 *vdaf, attempt *a, sotto_measurement m)
{
    return sotto_prio3_shard(vdaf, &a->public_share, a->shares, a->context, m, a->nonce, a->rand,
                             &t->arena, &t->err);
}

static void check_untouched(sotto_test *t, const sotto_prio3 *vdaf, const attempt *a)
{
    CHECK_EQUAL(t, 0, a->public_share.len);
    for (size_t i = 0; i < a->public_share.cap; i++)
        CHECK_EQUAL(t, 0, a->public_share.data[i]);
    for (unsigned s = 0; s < vdaf->circuit->shares; s++) {
        CHECK_EQUAL(t, 0, a->shares[s].len);
        for (size_t i = 0; i < a->shares[s].cap; i++)
            CHECK_EQUAL(t, 0, a->shares[s].data[i]);
    }
}

static void check_denied(sotto_test *t, sotto_prio3_config config, const uint64_t *values,
                         size_t count)
{
    sotto_test_prio3 p = sotto_test_prio3_of(t, &config, 1);
    attempt a = attempt_of(t, &p.vdaf);

    CHECK_STATUS(t, SOTTO_DENIED, run(t, &p.vdaf, &a, (sotto_measurement){values, count}));
    CHECK_REASON(t, "measurement:");
    check_untouched(t, &p.vdaf, &a);
}

static void check_taken(sotto_test *t, sotto_prio3_config config, const uint64_t *values,
                        size_t count)
{
    sotto_test_prio3 p = sotto_test_prio3_of(t, &config, 1);
    attempt a = attempt_of(t, &p.vdaf);

    CHECK_OK(t, run(t, &p.vdaf, &a, (sotto_measurement){values, count}));
}

static void a_count_is_zero_or_one(sotto_test *t)
{
    sotto_prio3_config config = {.type = SOTTO_PRIO3_COUNT, .shares = 2};
    static const uint64_t wrong[] = {2, 3, 1000, UINT64_MAX};

    check_taken(t, config, (const uint64_t[]){0}, 1);
    check_taken(t, config, (const uint64_t[]){1}, 1);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        check_denied(t, config, &wrong[i], 1);
}

static void a_sum_is_at_most_its_maximum(sotto_test *t)
{
    for (uint64_t max = 1; max < 70; max++) {
        sotto_prio3_config config = {.type = SOTTO_PRIO3_SUM, .shares = 2, .max = max};

        check_taken(t, config, (const uint64_t[]){max}, 1);
        for (uint64_t over = 1; over < 70; over++)
            check_denied(t, config, (const uint64_t[]){max + over}, 1);
        check_denied(t, config, (const uint64_t[]){UINT64_MAX}, 1);
        sotto_arena_reset(&t->arena);
    }
}

static void a_bucket_is_below_the_length(sotto_test *t)
{
    sotto_prio3_config config = {
        .type = SOTTO_PRIO3_HISTOGRAM, .shares = 2, .length = 10, .chunk_length = 3};

    check_taken(t, config, (const uint64_t[]){9}, 1);
    check_denied(t, config, (const uint64_t[]){10}, 1);
    check_denied(t, config, (const uint64_t[]){11}, 1);
    check_denied(t, config, (const uint64_t[]){UINT64_MAX}, 1);
    check_denied(t, config, (const uint64_t[]){(uint64_t)1 << 32}, 1);
}

static void a_vector_entry_is_at_most_the_maximum_in_every_place(sotto_test *t)
{
    static const sotto_prio3_config configs[] = {
        {.type = SOTTO_PRIO3_SUM_VEC, .shares = 2, .length = 5, .chunk_length = 4, .max = 12},
        {.type = SOTTO_PRIO3_SUM_VEC_WITH_MULTIPROOF,
         .shares = 2,
         .proofs = 3,
         .length = 5,
         .chunk_length = 4,
         .max = 12},
    };

    for (size_t c = 0; c < 2; c++) {
        for (size_t at = 0; at < 5; at++) {
            uint64_t values[5] = {12, 12, 12, 12, 12};

            check_taken(t, configs[c], values, 5);
            for (uint64_t over = 13; over <= 40; over++) {
                values[at] = over;
                check_denied(t, configs[c], values, 5);
            }
            values[at] = UINT64_MAX;
            check_denied(t, configs[c], values, 5);
        }
    }
}

static void a_multihot_vector_has_few_ones_and_nothing_else(sotto_test *t)
{
    sotto_prio3_config config = {.type = SOTTO_PRIO3_MULTIHOT_COUNT_VEC,
                                 .shares = 2,
                                 .length = 5,
                                 .chunk_length = 2,
                                 .max = 3};

    check_taken(t, config, (const uint64_t[]){1, 0, 1, 0, 1}, 5);
    check_taken(t, config, (const uint64_t[]){0, 0, 0, 0, 0}, 5);
    check_denied(t, config, (const uint64_t[]){1, 1, 1, 0, 1}, 5);
    check_denied(t, config, (const uint64_t[]){1, 1, 1, 1, 1}, 5);
    for (size_t at = 0; at < 5; at++) {
        uint64_t values[5] = {0};
        values[at] = 2;
        check_denied(t, config, values, 5);
    }
}

static void a_vector_of_bounded_norm_keeps_its_bound(sotto_test *t)
{
    sotto_prio3_config config = {
        .type = SOTTO_PRIO3_L1_BOUND_SUM, .shares = 2, .length = 3, .chunk_length = 2, .max = 9};

    check_taken(t, config, (const uint64_t[]){4, 5, 0}, 3);
    check_taken(t, config, (const uint64_t[]){0, 0, 9}, 3);
    check_denied(t, config, (const uint64_t[]){4, 5, 1}, 3);
    check_denied(t, config, (const uint64_t[]){9, 9, 9}, 3);
    check_denied(t, config, (const uint64_t[]){0, 0, 10}, 3);
    /* A norm that wraps round 64 bits is not a small one. */
    config.max = UINT64_MAX;
    check_taken(t, config, (const uint64_t[]){UINT64_MAX, 0, 0}, 3);
    check_denied(t, config, (const uint64_t[]){UINT64_MAX, 1, 0}, 3);
    check_denied(t, config, (const uint64_t[]){UINT64_MAX, UINT64_MAX, 3}, 3);
}

static void the_number_of_values_is_that_of_the_type(sotto_test *t)
{
    static const uint64_t zeros[64];

    for (size_t c = 0; c < sotto_test_config_count; c++) {
        sotto_prio3_config config = sotto_test_configs[c];
        bool vector = config.length && config.type != SOTTO_PRIO3_HISTOGRAM;

        for (size_t count = 0; count < 20; count++)
            if (count == (vector ? config.length : 1))
                check_taken(t, config, zeros, count);
            else
                check_denied(t, config, zeros, count);
    }
}

static void a_buffer_without_room_leaves_all_of_them_unchanged(sotto_test *t)
{
    for (size_t c = 0; c < sotto_test_config_count; c++) {
        sotto_test_prio3 p = sotto_test_prio3_of(t, &sotto_test_configs[c], 1);
        sotto_measurement m = sotto_test_measurement(t, &p);

        for (int which = -1; which < 2; which++) {
            attempt a = attempt_of(t, &p.vdaf);
            sotto_buf *small = which < 0 ? &a.public_share : &a.shares[which];

            if (small->cap == 8) /* no public share: nothing can be too small */
                continue;
            small->cap -= 9;
            CHECK_STATUS(t, SOTTO_TOO_LARGE, run(t, &p.vdaf, &a, m));
            check_untouched(t, &p.vdaf, &a);
            small->cap += 1;
            CHECK_OK(t, run(t, &p.vdaf, &a, m));
        }
    }
}

static void shares_are_appended(sotto_test *t)
{
    sotto_test_prio3 p = sotto_test_prio3_of(t, &sotto_test_configs[3], 1);
    sotto_measurement m = sotto_test_measurement(t, &p);
    attempt plain = attempt_of(t, &p.vdaf), a = attempt_of(t, &p.vdaf);

    a.public_share.len = a.shares[0].len = a.shares[1].len = 5;
    a.shares[1].data[4] = 77;
    CHECK_OK(t, run(t, &p.vdaf, &plain, m));
    CHECK_OK(t, run(t, &p.vdaf, &a, m));
    CHECK_EQUAL(t, 77, a.shares[1].data[4]);
    CHECK_EQUAL(t, plain.shares[0].len + 5, a.shares[0].len);
    CHECK_BYTES(t, plain.public_share.data, a.public_share.data + 5, plain.public_share.len);
    CHECK_BYTES(t, plain.shares[0].data, a.shares[0].data + 5, plain.shares[0].len);
    CHECK_BYTES(t, plain.shares[1].data, a.shares[1].data + 5, plain.shares[1].len);
}

static void randomness_of_another_length_is_refused(sotto_test *t)
{
    for (size_t c = 0; c < sotto_test_config_count; c++) {
        sotto_test_prio3 p = sotto_test_prio3_of(t, &sotto_test_configs[c], 1);
        sotto_measurement m = sotto_test_measurement(t, &p);
        attempt a = attempt_of(t, &p.vdaf);
        size_t right = a.rand.len;

        for (a.rand.len = 0; a.rand.len < right + 34; a.rand.len++) {
            if (a.rand.len == right)
                continue;
            CHECK_STATUS(t, SOTTO_MALFORMED, run(t, &p.vdaf, &a, m));
            CHECK_REASON(t, "rand:");
        }
        check_untouched(t, &p.vdaf, &a);
    }
}

static void a_context_has_at_most_1024_bytes(sotto_test *t)
{
    static const uint8_t bytes[SOTTO_PRIO3_MAX_CONTEXT + 1];
    sotto_test_prio3 p = sotto_test_prio3_of(t, &sotto_test_configs[0], 1);
    sotto_measurement m = sotto_test_measurement(t, &p);
    attempt a = attempt_of(t, &p.vdaf);

    a.context = sotto_bytes_of(bytes, sizeof bytes);
    CHECK_STATUS(t, SOTTO_MALFORMED, run(t, &p.vdaf, &a, m));
    CHECK_REASON(t, "context:");
    a.context.len--;
    CHECK_OK(t, run(t, &p.vdaf, &a, m));
}

static void a_helpers_share_is_its_seeds(sotto_test *t)
{
    sotto_test_prio3 p = sotto_test_prio3_of(t, &sotto_test_configs[3], 1);
    sotto_test_report report = sotto_test_report_random(t, &p);

    CHECK_BYTES(t, report.rand, report.shares[1].data, 64);
    CHECK_BYTES(t, report.rand + 64,
                report.shares[0].data + p.vdaf.sizes.leader_share - SOTTO_PRIO3_SEED_SIZE, 32);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_count_is_zero_or_one),
        CASE(a_sum_is_at_most_its_maximum),
        CASE(a_bucket_is_below_the_length),
        CASE(a_vector_entry_is_at_most_the_maximum_in_every_place),
        CASE(a_multihot_vector_has_few_ones_and_nothing_else),
        CASE(a_vector_of_bounded_norm_keeps_its_bound),
        CASE(the_number_of_values_is_that_of_the_type),
        CASE(a_buffer_without_room_leaves_all_of_them_unchanged),
        CASE(shares_are_appended),
        CASE(randomness_of_another_length_is_refused),
        CASE(a_context_has_at_most_1024_bytes),
        CASE(a_helpers_share_is_its_seeds),
    };
    return RUN_TESTS(argc, argv, cases);
}
