/* base/cpu.h - which instructions this machine and its system offer beyond the least of their kind.
 *
 * Callers:  base/backends.c, which chooses an implementation at run time; account/local/checkin_direct.c.
 * Threads:  asks the processor anew at every call; callers keep what they chose.
 *
 * The compiler's own __builtin_cpu_supports would bring a table of every processor into a device's library: 4.5 KB.
 */
#ifndef SOTTO_BASE_CPU_H
#define SOTTO_BASE_CPU_H

enum {
    SOTTO_CPU_BMI = 1,  /* BMI1 and BMI2                                   */
    SOTTO_CPU_AVX2 = 2, /* from here on: and the system saves the registers */
    SOTTO_CPU_FMA = 4,
    SOTTO_CPU_AVX512VL = 8, /* AVX-512 F and VL    */
    SOTTO_CPU_IFMA = 16,    /* those, DQ and IFMA  */
    SOTTO_CPU_VAES = 32,    /* AES on 256 bits     */
    SOTTO_CPU_SHA = 64      /* SHA-256; needs no registers of its own */
};

/* The bits above; 0 on other kinds of machine. */
unsigned sotto_cpu(void);

#endif
