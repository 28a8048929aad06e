/* No branch and no address depends on the value, on whether there is one, or on the randomness. */
#include "noise_support.h"
#include "privacy/randomizer.h"
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

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(randomizers_take_no_branch_on_the_value),
    };
    return RUN_TESTS(argc, argv, cases);
}
