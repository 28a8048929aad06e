/* No branch and no address depends on what noise is drawn, or on the buffers. */
#include "learn/blt.h"
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

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {CASE(noise_takes_no_branch_on_what_is_drawn)};

    return RUN_TESTS(argc, argv, cases);
}
