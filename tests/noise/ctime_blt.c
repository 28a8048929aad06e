/* No branch and no address depends on what noise is drawn, or on the buffers. */
#include "noise/blt_noise.h"
#include "sim/random.h"
#include "support/ctime.h"
#include "support/test.h"

enum { SIZE = 20, ROUNDS = 4 };

static sotto_status fill_secret(void *context, void *out, size_t len, sotto_err *err)
{
    (void)err;
    sotto_sim_random_bytes(context, out, len);
    sotto_ctime_secret(out, len);
    return SOTTO_OK;
}

static void noise_takes_no_branch_on_what_is_drawn(sotto_test *t)
{
    const sotto_blt blt = {.decay = {400000000, 900000000, 1060000000},
                           .weight = {250000000, 120000000, 40000000}};
    int64_t sum[SIZE] = {0};
    sotto_sim_random random;
    sotto_entropy entropy;
    sotto_blt_noise n;

    CHECK_OK(t, sotto_blt_noise_init(&n, &blt, ROUNDS, SIZE, 50, &t->arena, &t->err));
    sotto_sim_random_init(&random, 1);
    sotto_entropy_init(&entropy, fill_secret, &random);
    for (int i = 0; i < ROUNDS; i++)
        CHECK_OK(t, sotto_blt_noise_add(&n, sum, &entropy, &t->err));
    sotto_ctime_public(sum, sizeof sum);
    CHECK(t, sum[0] > -2000 && sum[0] < 2000);
    sotto_entropy_clear(&entropy);
}

static sotto_status start_secret(void *context, sotto_entropy *out, size_t index, uint64_t part,
                                 sotto_err *err)
{
    (void)err;
    sotto_sim_random_init(context, 1000 * index + part + 1);
    sotto_entropy_init(out, fill_secret, context);
    return SOTTO_OK;
}

static sotto_status add(void *context, size_t first, const int64_t *values, size_t count,
                        sotto_err *err)
{
    int64_t *sum = context;

    (void)err;
    for (size_t i = 0; i < count; i++)
        sum[first + i] += values[i];
    return SOTTO_OK;
}

/* As a server draws it: rounds 0 and 2 again, for round 3. */
static void noise_that_is_drawn_again_takes_none_either(sotto_test *t)
{
    static const uint64_t rounds[] = {0, 2, 3};
    const sotto_blt blt = {.decay = {400000000, 900000000, 1060000000},
                           .weight = {250000000, 120000000, 40000000}};
    int64_t sum[SIZE] = {0};
    sotto_sim_random random;
    const sotto_blt_source source = {start_secret, &random};
    const sotto_tree_sink sink = {add, sum};
    sotto_noise fresh;
    double reach;

    CHECK_OK(t, sotto_blt_fresh(&fresh, &reach, &blt, ROUNDS, 50, &t->arena, &t->err));
    CHECK_OK(t, sotto_blt_redraw(&blt, &fresh, SIZE, rounds, 3, &source, &sink, &t->err));
    sotto_ctime_public(sum, sizeof sum);
    CHECK(t, sum[0] > -2000 && sum[0] < 2000);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {CASE(noise_takes_no_branch_on_what_is_drawn),
                                            CASE(noise_that_is_drawn_again_takes_none_either)};

    return RUN_TESTS(argc, argv, cases);
}
