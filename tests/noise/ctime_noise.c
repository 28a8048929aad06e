/* No branch and no address depends on the randomness, and so none on the noise. */
#include "noise/coin.h"
#include "noise/noise.h"
#include "noise/table_scan.h"
#include "noise_support.h"
#include "support/ctime.h"
#include "support/test.h"

static sotto_status fill_secret(void *context, void *out, size_t len, sotto_err *err)
{
    sotto_status status = noise_fill_sim(context, out, len, err);

    sotto_ctime_secret(out, len);
    return status;
}

static void draw_secretly(sotto_test *t, const sotto_noise *noise)
{
    static const char *const scans[] = {"portable", "avx2"};
    static const size_t counts[] = {1, 13, 300};
    int64_t out[300];

    for (size_t s = 0; s < 2; s++) {
        if (!sotto_scan_use(scans[s]))
            continue;
        for (size_t c = 0; c < 3; c++) {
            sotto_sim_random random;
            sotto_entropy entropy;

            sotto_sim_random_init(&random, c);
            sotto_entropy_init(&entropy, fill_secret, &random);
            CHECK_OK(t, sotto_noise_draw(noise, out, counts[c], &entropy, &t->err));
            sotto_ctime_public(out, sizeof out);
            for (size_t i = 0; i < counts[c]; i++)
                CHECK(t, (uint64_t)(out[i] < 0 ? -out[i] : out[i]) <= sotto_noise_limit(noise));
            sotto_entropy_clear(&entropy);
        }
    }
    CHECK(t, sotto_scan_use(NULL));
}

static void draws_take_no_branch_on_their_randomness(sotto_test *t)
{
    sotto_noise noise;

    CHECK_OK(t, sotto_noise_gaussian(&noise, 5, 2, &t->arena, &t->err));
    draw_secretly(t, &noise);
    CHECK_OK(t, sotto_noise_gaussian(&noise, 12345, 1, &t->arena, &t->err));
    draw_secretly(t, &noise);
    CHECK_OK(t, sotto_noise_laplace(&noise, 20, 1, &t->arena, &t->err));
    draw_secretly(t, &noise);
    CHECK_OK(t, sotto_noise_geometric(&noise, 1, 2, &t->arena, &t->err));
    draw_secretly(t, &noise);
    CHECK_OK(t, sotto_noise_binomial(&noise, 20000, SOTTO_NOISE_HALF, &t->arena, &t->err));
    draw_secretly(t, &noise);
    CHECK_OK(t, sotto_noise_poisson(&noise, 9, 1, &t->arena, &t->err));
    draw_secretly(t, &noise);
    CHECK_OK(t, sotto_noise_skellam(&noise, 9, 1, &t->arena, &t->err));
    draw_secretly(t, &noise);
}

static void coins_and_uniform_numbers_take_none_either(sotto_test *t)
{
    sotto_sim_random random;
    sotto_entropy entropy;
    sotto_coin coin;
    uint8_t bits[700];
    uint64_t number = 0;

    sotto_sim_random_init(&random, 9);
    sotto_entropy_init(&entropy, fill_secret, &random);
    CHECK_OK(t, sotto_coin_rational(&coin, 2, 7, &t->err));
    CHECK_OK(t, sotto_coin_flip(&coin, bits, &entropy, &t->err));
    sotto_ctime_public(bits, 1);
    CHECK(t, bits[0] <= 1);
    CHECK_OK(t, sotto_coin_flips(bits, sizeof bits, 12345, &entropy, &t->err));
    sotto_ctime_public(bits, sizeof bits);
    CHECK(t, bits[699] <= 1);
    CHECK_OK(t, sotto_uniform_below(&number, 1000, &entropy, &t->err));
    sotto_ctime_public(&number, sizeof number);
    CHECK(t, number < 1000);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(draws_take_no_branch_on_their_randomness),
        CASE(coins_and_uniform_numbers_take_none_either),
    };
    return RUN_TESTS(argc, argv, cases);
}
