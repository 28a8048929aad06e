/* PINE: what an honest client sends is accepted and adds up, over both framings, both XOFs and all fields. */
#include "support/pine.h"

#include "vdaf/pine/ops.h"

#include <string.h>

typedef struct variant {
    const sotto_pine_ops *field;
    sotto_pine_wire wire;
    sotto_pine_xof xof;
} variant;

static const variant variants[] = {
    {&sotto_pine_ops64, SOTTO_PINE_DRAFT20, SOTTO_PINE_TURBOSHAKE},
    {&sotto_pine_ops64, SOTTO_PINE_DRAFT20, SOTTO_PINE_HMAC_AES},
    {&sotto_pine_ops128, SOTTO_PINE_DRAFT20, SOTTO_PINE_TURBOSHAKE},
    {&sotto_pine_ops128, SOTTO_PINE_DRAFT20, SOTTO_PINE_HMAC_AES},
    {&sotto_pine_ops64, SOTTO_PINE_DRAFT11, SOTTO_PINE_TURBOSHAKE},
    {&sotto_pine_ops128, SOTTO_PINE_DRAFT11, SOTTO_PINE_HMAC_AES},
    {&sotto_pine_ops32, SOTTO_PINE_DRAFT11, SOTTO_PINE_HMAC_AES},
    {&sotto_pine_ops40, SOTTO_PINE_DRAFT11, SOTTO_PINE_HMAC_AES},
};

enum { DIMENSION = 77, BOUND = 1000, REPORTS = 3 };

static sotto_test_pine instance(sotto_test *t, const variant *v, uint64_t dimension, uint64_t bound)
{
    return sotto_test_pine_of(t,
                              (sotto_pine_config){.field = v->field,
                                                  .wire = v->wire,
                                                  .xof = v->xof,
                                                  .algorithm = 0xffff2001,
                                                  .dimension = dimension,
                                                  .norm_bound = bound},
                              dimension * bound);
}

/* Entries of both signs whose squares add up to less than the bound's. */
static void draw_vector(sotto_sim_random *random, int64_t *vector)
{
    for (size_t i = 0; i < DIMENSION; i++)
        vector[i] = (int64_t)sotto_sim_random_below(random, 201) - 100;
}

static void dense_vectors_of_both_signs_add_up(sotto_test *t)
{
    for (size_t v = 0; v < sizeof variants / sizeof variants[0]; v++) {
        sotto_test_pine p = instance(t, &variants[v], DIMENSION, BOUND);
        uint8_t *agg[2] = {sotto_test_take(t, p.pine.sizes.out_share),
                           sotto_test_take(t, p.pine.sizes.out_share)};
        int64_t vector[DIMENSION], truth[DIMENSION] = {0}, sum[DIMENSION];

        memset(agg[0], 0, p.pine.sizes.out_share);
        memset(agg[1], 0, p.pine.sizes.out_share);
        for (unsigned n = 0; n < REPORTS; n++) {
            sotto_test_pine_report r = sotto_test_pine_report_of(t, &p);

            draw_vector(&p.random, vector);
            CHECK_OK(t, sotto_test_pine_shard(t, &p, &r, vector));
            CHECK_OK(t, sotto_test_pine_verify(t, &p, &r));
            for (unsigned a = 0; a < 2; a++)
                sotto_pine_accumulate(&p.pine, agg[a], r.out[a]);
            for (size_t i = 0; i < DIMENSION; i++)
                truth[i] += vector[i];
        }
        CHECK_OK(t, sotto_pine_unshard(&p.pine, sum, agg[0], agg[1], &t->err));
        CHECK_BYTES(t, truth, sum, sizeof truth);
    }
}

static void a_norm_at_the_bound_passes_and_one_above_does_not(sotto_test *t)
{
    for (size_t v = 0; v < sizeof variants / sizeof variants[0]; v++) {
        sotto_test_pine p = instance(t, &variants[v], 4, 10);
        sotto_test_pine_report r = sotto_test_pine_report_of(t, &p);
        const int64_t at[] = {-7, 5, 5, 1}, above[] = {-7, 5, 5, -2}, far[] = {-11, 0, 0, 0};
        const int64_t huge[] = {INT64_MIN, 0, 0, 0}; /* its square would overflow */

        CHECK_OK(t, sotto_test_pine_shard(t, &p, &r, at)); /* 49 + 25 + 25 + 1 = 100 */
        CHECK_OK(t, sotto_test_pine_verify(t, &p, &r));
        CHECK_STATUS(t, SOTTO_TOO_LARGE, sotto_test_pine_shard(t, &p, &r, above));
        CHECK_STATUS(t, SOTTO_TOO_LARGE, sotto_test_pine_shard(t, &p, &r, far));
        CHECK_STATUS(t, SOTTO_TOO_LARGE, sotto_test_pine_shard(t, &p, &r, huge));
    }
}

static void a_vector_of_zeros_is_one_too(sotto_test *t)
{
    const int64_t zeros[9] = {0};

    for (size_t v = 0; v < sizeof variants / sizeof variants[0]; v++) {
        sotto_test_pine p = instance(t, &variants[v], 9, 100);
        sotto_test_pine_report r = sotto_test_pine_report_of(t, &p);

        CHECK_OK(t, sotto_test_pine_shard(t, &p, &r, zeros));
        CHECK_OK(t, sotto_test_pine_verify(t, &p, &r));
    }
}

/* Lengths around what the kernels take at a time, and a last chunk that is not full. */
static void any_dimension_will_do(sotto_test *t)
{
    static const uint64_t dimensions[] = {1, 2, 3, 4, 5, 15, 16, 17, 2047, 2048, 2049, 4100};

    for (size_t i = 0; i < sizeof dimensions / sizeof dimensions[0]; i++) {
        size_t d = (size_t)dimensions[i];
        sotto_test_pine p = instance(t, &variants[0], d, 1 << 15);
        sotto_test_pine_report r = sotto_test_pine_report_of(t, &p);
        int64_t *vector = sotto_test_take(t, d * sizeof *vector);

        for (size_t k = 0; k < d; k++)
            vector[k] = (int64_t)sotto_sim_random_below(&p.random, 401) - 200;
        CHECK_OK(t, sotto_test_pine_shard(t, &p, &r, vector));
        CHECK_OK(t, sotto_test_pine_verify(t, &p, &r));
        sotto_arena_reset(&t->arena);
    }
}

/* With alpha 1 half of the dot products of this vector are too large, so a client needs other randomness. */
static void too_few_small_dot_products_want_another_try(sotto_test *t)
{
    sotto_test_pine p = sotto_test_pine_of(t,
                                           (sotto_pine_config){.field = &sotto_pine_ops64,
                                                               .wire = SOTTO_PINE_DRAFT11,
                                                               .dimension = 64,
                                                               .norm_bound = 255,
                                                               .alpha_tenths = 10,
                                                               .checks = 20,
                                                               .successes = 20,
                                                               .proofs = 3,
                                                               .norm_proofs = 1,
                                                               .chunk = 16,
                                                               .norm_chunk = 8},
                                           1);
    int64_t vector[64];
    unsigned again = 0, done = 0;

    for (size_t i = 0; i < 64; i++)
        vector[i] = 31; /* norm 248; a dot product has standard deviation 175 */
    for (unsigned n = 0; n < 400; n++) {
        sotto_test_pine_report r = sotto_test_pine_report_of(t, &p);
        sotto_status status = sotto_test_pine_shard(t, &p, &r, vector);

        CHECK(t, status == SOTTO_OK || status == SOTTO_AGAIN);
        again += status == SOTTO_AGAIN;
        if (status == SOTTO_OK) {
            done++;
            CHECK_OK(t, sotto_test_pine_verify(t, &p, &r));
        }
        t->err = (sotto_err){0};
    }
    CHECK(t, again > 0 && done > 0);
}

static void parameters_that_prove_nothing_are_refused(sotto_test *t)
{
    const sotto_pine_config good = {.field = &sotto_pine_ops64,
                                    .wire = SOTTO_PINE_DRAFT20,
                                    .dimension = 10,
                                    .norm_bound = 100,
                                    .alpha_tenths = 87,
                                    .checks = 100,
                                    .successes = 100,
                                    .proofs = 3,
                                    .norm_proofs = 1,
                                    .chunk = 16,
                                    .norm_chunk = 4};
    sotto_pine pine;
    sotto_pine_config c;

    CHECK_OK(t, sotto_pine_init(&pine, &t->arena, &good, &t->err));
#define REFUSED(edit)                                                                              \
    do {                                                                                           \
        c = good;                                                                                  \
        edit;                                                                                      \
        CHECK_STATUS(t, SOTTO_MALFORMED, sotto_pine_init(&pine, &t->arena, &c, &t->err));          \
    } while (0)
    REFUSED(c.dimension = 0);
    REFUSED(c.dimension = UINT64_C(1) << 27);
    REFUSED(c.norm_bound = 0);
    REFUSED(c.norm_bound = UINT64_C(1) << 49);
    REFUSED(c.norm_bound = UINT64_C(1) << 32); /* three times its square is above the modulus */
    REFUSED(c.norm_bound = UINT64_C(1) << 28); /* squares that wrap around would pass the checks */
    REFUSED(c.checks = c.successes = 89);
    REFUSED(c.successes = 99);
    REFUSED(c.proofs = 2); /* a client could grind two proofs over 64 bits */
    REFUSED(c.norm_proofs = 0);
    REFUSED(c.checks = 0);
    REFUSED(c.successes = 101);
    REFUSED(c.successes = 0);
    REFUSED(c.chunk = 0);
    REFUSED(c.norm_chunk = 0);
    REFUSED(c.alpha_tenths = 0);
#undef REFUSED
    c = good;
    c.field = &sotto_pine_ops32, c.wire = SOTTO_PINE_DRAFT11, c.norm_bound = 60000;
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_pine_init(&pine, &t->arena, &c, &t->err));
}

static void every_allocation_may_fail(sotto_test *t)
{
    sotto_test_pine p = instance(t, &variants[0], DIMENSION, BOUND);
    sotto_test_pine_report r = sotto_test_pine_report_of(t, &p);
    int64_t vector[DIMENSION];
    size_t ceiling = 0;
    sotto_status status;

    draw_vector(&p.random, vector);
    do {
        sotto_arena small;

        sotto_arena_init(&small, ceiling += 512);
        t->err = (sotto_err){0};
        status = sotto_pine_shard(&p.pine, &r.shares, p.context, vector, r.nonce, r.rand, &small,
                                  &t->err);
        CHECK(t, status == SOTTO_OK || status == SOTTO_NO_MEMORY);
        sotto_arena_clear(&small);
    } while (status != SOTTO_OK);
    CHECK(t, ceiling > 4096);
    CHECK_OK(t, sotto_test_pine_verify(t, &p, &r));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(dense_vectors_of_both_signs_add_up),
        CASE(a_norm_at_the_bound_passes_and_one_above_does_not),
        CASE(a_vector_of_zeros_is_one_too),
        CASE(any_dimension_will_do),
        CASE(too_few_small_dot_products_want_another_try),
        CASE(parameters_that_prove_nothing_are_refused),
        CASE(every_allocation_may_fail),
    };
    return RUN_TESTS(argc, argv, cases);
}
