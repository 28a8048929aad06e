/* Lagrange factors: every set of kernels against the geometric sum that they are. */
#include "support/test.h"

#include "math/kernels128.h"
#include "math/poly.h"

enum { MOST_LOG = 8, MOST = 1 << MOST_LOG };

static const char *const sets[] = {"portable", "avx2", "ifma"};

static uint64_t next(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* prod_s (1 + (t x)^(2^s)) = sum_j (t x)^j, j below 2^levels, at x = w^(-k). */
static sotto_f128 geometric_sum(sotto_f128 t_weight, sotto_f128 root, unsigned levels)
{
    sotto_f128 ratio = sotto_f128_mul(t_weight, root), sum = sotto_f128_zero();
    sotto_f128 power = sotto_f128_one_weight();

    for (size_t j = 0; j < (size_t)1 << levels; j++) {
        sum = sotto_f128_add(sum, power);
        power = sotto_f128_mul(power, ratio);
    }
    return sum;
}

static void check_point(sotto_test *t, unsigned log, unsigned step_log, sotto_f128 point)
{
    sotto_f128 roots[MOST], wanted[MOST], got[MOST];
    size_t n = (size_t)1 << log;
    sotto_f128 end = sotto_f128_pow(point, (uint64_t)1 << (log - step_log));

    sotto_f128_roots(roots, log);
    for (size_t k = 0; k < n; k++)
        wanted[k] = geometric_sum(point, roots[(n - k) & (n - 1)], log - step_log);
    for (size_t s = 0; s < sizeof sets / sizeof sets[0]; s++) {
        if (!sotto_f128_use(sets[s]))
            continue;
        sotto_f128 returned = sotto_f128_factors(got, log, step_log, point, roots);
        CHECK_BYTES(t, &end, &returned, sizeof end);
        CHECK_BYTES(t, wanted, got, n * sizeof *got);
    }
    CHECK(t, sotto_f128_use(NULL));
}

static void factors_are_geometric_sums_in_all_sets(sotto_test *t)
{
    uint64_t state = 1;

    for (unsigned log = 0; log <= MOST_LOG; log++)
        for (unsigned step_log = 0; step_log <= log && step_log <= 3; step_log++) {
            check_point(t, log, step_log, (sotto_f128){next(&state), next(&state) >> 1});
            check_point(t, log, step_log, sotto_f128_zero());
            /* A node: all factors but one are zero. */
            check_point(t, log, step_log, sotto_f128_one_weight());
            check_point(t, log, step_log, sotto_f128_root(log));
            check_point(t, log, step_log, sotto_f128_neg(sotto_f128_one()));
        }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {CASE(factors_are_geometric_sums_in_all_sets)};

    return RUN_TESTS(argc, argv, cases);
}
