#include "base/cpu.h"
#include "support/test.h"

/* The compiler's run-time library asks the same processor in its own way. */
static void what_is_found_is_what_the_compiler_finds(sotto_test *t)
{
    unsigned found = sotto_cpu();

#if defined(__x86_64__)
    __builtin_cpu_init();
    bool bmi = __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    bool avx512vl = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
    bool ifma =
        avx512vl && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512ifma");

    CHECK_EQUAL(t, bmi, (found & SOTTO_CPU_BMI) != 0);
    CHECK_EQUAL(t, __builtin_cpu_supports("avx2") != 0, (found & SOTTO_CPU_AVX2) != 0);
    CHECK_EQUAL(t, __builtin_cpu_supports("fma") != 0, (found & SOTTO_CPU_FMA) != 0);
    CHECK_EQUAL(t, avx512vl, (found & SOTTO_CPU_AVX512VL) != 0);
    CHECK_EQUAL(t, ifma, (found & SOTTO_CPU_IFMA) != 0);
    /* The compiler's library does not tell of SHA. */
    CHECK(t, !(found & SOTTO_CPU_SHA) || __builtin_cpu_supports("ssse3"));
#else
    CHECK_EQUAL(t, 0, found);
#endif
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(what_is_found_is_what_the_compiler_finds),
    };
    return RUN_TESTS(argc, argv, cases);
}
