#include "base/cpu.h"

#if defined(__x86_64__)

#include <cpuid.h>

/* What XCR0 says the system saves of each thread: SSE and AVX; and the three parts of AVX-512. */
#define SAVES_AVX    0x06u
#define SAVES_AVX512 0xe6u

static unsigned saved_registers(void)
{
    unsigned low, high;

    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static int has(unsigned bits, unsigned wanted)
{
    return (bits & wanted) == wanted;
}

unsigned sotto_cpu(void)
{
    unsigned a, b, c, d, saved = 0, found = 0;
    int fma = 0, ssse3 = 0, avx = 0;

    /* xgetbv itself exists only where the system uses it (OSXSAVE). */
    if (__get_cpuid(1, &a, &b, &c, &d)) {
        ssse3 = has(c, bit_SSSE3);
        avx = has(c, bit_OSXSAVE | bit_AVX);
    }
    if (avx) {
        saved = saved_registers();
        fma = has(c, bit_FMA);
    }
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return 0;
    if (has(b, bit_BMI | bit_BMI2))
        found |= SOTTO_CPU_BMI;
    if (ssse3 && has(b, bit_SHA))
        found |= SOTTO_CPU_SHA;
    if (has(b, bit_AVX2) && has(saved, SAVES_AVX))
        found |= SOTTO_CPU_AVX2;
    if ((found & SOTTO_CPU_AVX2) && has(c, bit_VAES))
        found |= SOTTO_CPU_VAES;
    if (fma && has(saved, SAVES_AVX))
        found |= SOTTO_CPU_FMA;
    if (has(b, bit_AVX512F | bit_AVX512VL) && has(saved, SAVES_AVX512))
        found |= SOTTO_CPU_AVX512VL;
    if ((found & SOTTO_CPU_AVX512VL) && has(b, bit_AVX512DQ | bit_AVX512IFMA))
        found |= SOTTO_CPU_IFMA;
    return found;
}

#else

unsigned sotto_cpu(void)
{
    return 0;
}

#endif
