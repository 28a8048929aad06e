/* crypto/keccak.h - Keccak-p[1600, 12] over up to four states in lockstep, in the best way this machine offers.
 *
 * Callers:  crypto/turboshake; tests and benchmarks choose a backend by name.
 * Threads:  the choice is made once and is safe from any thread; sotto_keccak_use and _install are
 *           for programs that run nothing else meanwhile.
 * Secrets:  the states and all bytes. Time depends on lengths and on the number of lanes only.
 */
#ifndef SOTTO_CRYPTO_KECCAK_H
#define SOTTO_CRYPTO_KECCAK_H

#include "sotto/base.h"

enum { SOTTO_LANES = 4, SOTTO_KECCAK_WORDS = 25, SOTTO_KECCAK_ROUNDS = 12 };

/* Word w of lane l stands at [w][l]; the first word is aligned to 32 bytes or more. */
typedef uint64_t sotto_keccak_row[SOTTO_LANES];

/* lanes (1 to 4) says how many of the first lanes are in use; what the others hold afterwards is
 * not defined, only harmless. A backend that leaves absorb or squeeze NULL gets a portable one. */
typedef struct sotto_keccak_backend {
    const char *name;
    void (*permute)(sotto_keccak_row *words, unsigned lanes);
    /* For each block: adds rate bytes of each stream, then permutes. All four pointers can be read. */
    void (*absorb)(sotto_keccak_row *words, unsigned rate, const uint8_t *const in[SOTTO_LANES],
                   size_t blocks);
    /* For each block: permutes, then gives rate bytes to each stream. All four pointers can be
     * written; lane 0 is written last, since the pointers of unused lanes are copies of its own. */
    void (*squeeze)(sotto_keccak_row *words, unsigned rate, uint8_t *const out[SOTTO_LANES],
                    size_t blocks);
    /* For each block: one of `from` as squeeze gives it, and one that `to` takes as absorb does. NULL: one after the other, as always
     * in what is built for size. */
    void (*exchange)(sotto_keccak_row *from, uint8_t *const out[SOTTO_LANES], sotto_keccak_row *to,
                     const uint8_t *const in[SOTTO_LANES], unsigned rate, size_t blocks);
} sotto_keccak_backend;

/* Only those of the target machine are linked. */
extern const sotto_keccak_backend sotto_keccak_scalar;
extern const sotto_keccak_backend sotto_keccak_bmi;
extern const sotto_keccak_backend sotto_keccak_avx2;
extern const sotto_keccak_backend sotto_keccak_avx512vl;
extern const sotto_keccak_backend sotto_keccak_neon;
extern const uint64_t sotto_keccak_round_constants[SOTTO_KECCAK_ROUNDS];

void sotto_keccak_permute(sotto_keccak_row *words, unsigned lanes);
/* As in the table, for the first lanes of in and out only. */
void sotto_keccak_absorb(sotto_keccak_row *words, unsigned lanes, unsigned rate,
                         const uint8_t *const *in, size_t blocks);
void sotto_keccak_squeeze(sotto_keccak_row *words, unsigned lanes, unsigned rate,
                          uint8_t *const *out, size_t blocks);
#ifndef __OPTIMIZE_SIZE__
/* What is taken was there before the call: `in` and `out` do not overlap. */
void sotto_keccak_exchange(sotto_keccak_row *from, uint8_t *const *out, sotto_keccak_row *to,
                           const uint8_t *const *in, unsigned lanes, unsigned rate, size_t blocks);
#endif

/* "scalar", "bmi", "avx2", "avx512vl", "neon"; NULL returns to the best. False: not on this machine. */
SOTTO_MUST_USE bool sotto_keccak_use(const char *name);
const char *sotto_keccak_backend_name(void);
/* A backend of the caller's, who keeps it alive until the next sotto_keccak_use. For tests. */
void sotto_keccak_install(const sotto_keccak_backend *backend);

/* Written so that compilers see one load or store where the machine is little endian. */
static inline uint64_t sotto_keccak_load(const uint8_t *p)
{
    return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 |
           (uint64_t)p[4] << 32 | (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 |
           (uint64_t)p[7] << 56;
}

static inline void sotto_keccak_store(uint8_t *p, uint64_t word)
{
    p[0] = (uint8_t)word;
    p[1] = (uint8_t)(word >> 8);
    p[2] = (uint8_t)(word >> 16);
    p[3] = (uint8_t)(word >> 24);
    p[4] = (uint8_t)(word >> 32);
    p[5] = (uint8_t)(word >> 40);
    p[6] = (uint8_t)(word >> 48);
    p[7] = (uint8_t)(word >> 56);
}

#endif
