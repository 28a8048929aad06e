/* No branch and no address depends on the value, on whether there is one, or on the randomness. */
#include "noise/randomizer.h"
#include "noise/randomizer_vector.h"
#include "noise_support.h"
#include "support/ctime.h"
#include "support/test.h"

static sotto_status fill_secret(void *context, void *out, size_t len, sotto_err *err)
{
    sotto_status status = noise_fill_sim(context, out, len, err);

    sotto_ctime_secret(out, len);
    return status;
}

static void randomizers_take_no_branch_on_the_value(sotto_test *t)
{
    static uint8_t report[1001];

    for (int kind = 1; kind < SOTTO_RANDOMIZER_KINDS; kind++)
        for (unsigned none = 0; none < 2; none++) {
            sotto_sim_random random;
            sotto_entropy entropy;
            sotto_randomizer r;
            uint64_t value = none ? SOTTO_NO_VALUE : 0;

            CHECK_OK(t, sotto_randomizer_init(&r, (sotto_randomizer_kind)kind,
                                              kind == SOTTO_BINARY_RESPONSE ? 1 : 1000, 1.5,
                                              SOTTO_ADJACENCY_REPLACEMENT, &t->err));
            sotto_sim_random_init(&random, (uint64_t)kind);
            sotto_entropy_init(&entropy, fill_secret, &random);
            sotto_ctime_secret(&value, sizeof value);
            CHECK_OK(t, sotto_randomizer_run(&r, report, value, &entropy, &t->err));
            sotto_ctime_public(report, sizeof report);
            CHECK(t, r.prime || report[0] <= 1);
        }
}

static void vectors_take_no_branch_on_their_numbers(sotto_test *t)
{
    enum { DIMENSION = 300 };
    sotto_vector_config c = {.law = SOTTO_SHARE_GAUSSIAN,
                             .adjacency = SOTTO_ADJACENCY_ADD_REMOVE,
                             .dimension = DIMENSION,
                             .clip = 1,
                             .scale = 50,
                             .sigma = 1,
                             .honest = 10};
    double x[DIMENSION];
    int64_t out[DIMENSION];

    for (uint64_t present = 0; present < 2; present++) {
        sotto_vector_randomizer r;
        sotto_sim_random random;
        sotto_entropy entropy;
        double secret = (double)present;

        CHECK_OK(t, sotto_vector_randomizer_init(&r, &c, &t->arena, &t->err));
        for (size_t i = 0; i < DIMENSION; i++)
            x[i] = (double)i / 1000;
        sotto_sim_random_init(&random, present);
        sotto_entropy_init(&entropy, fill_secret, &random);
        sotto_ctime_secret(x, sizeof x);
        sotto_ctime_secret(&secret, sizeof secret);
        CHECK_OK(t, sotto_vector_randomizer_run(&r, out, x, secret, &entropy, &t->err));
        sotto_ctime_public(out, sizeof out);
        CHECK(t, out[0] < 10000);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(randomizers_take_no_branch_on_the_value),
        CASE(vectors_take_no_branch_on_their_numbers),
    };
    return RUN_TESTS(argc, argv, cases);
}
