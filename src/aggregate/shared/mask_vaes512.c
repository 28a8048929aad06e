/* AES-128 in counter mode, four blocks in each register and eight registers at a time, added to the vector as it is made. All
 * round keys stay in registers. The crypto library's counter mode is the reference. */
#include "aggregate/shared/mask_aes.h"

enum { WIDE = 8, STEP = 64 * WIDE, BLOCKS = STEP / 16 };

/* A counter is big endian in the upper half of its block. `block` is a multiple of BLOCKS, which divides 256: among the
 * blocks of a step only the last byte differs, and nothing is carried. */
static inline __m512i counters(uint64_t block)
{
    const __m512i first = _mm512_set_epi64(3LL << 56, 0, 2LL << 56, 0, 1LL << 56, 0, 0, 0);
    const __m512i base = _mm512_maskz_set1_epi64(0xaa, (long long)__builtin_bswap64(block));

    return _mm512_add_epi64(base, first);
}

static inline __m512i sum(__m512i v, __m512i m, size_t width, int sign)
{
    if (width == 4)
        return sign > 0 ? _mm512_add_epi32(v, m) : _mm512_sub_epi32(v, m);
    return sign > 0 ? _mm512_add_epi64(v, m) : _mm512_sub_epi64(v, m);
}

static inline __attribute__((always_inline)) void add_steps(uint8_t *piece, size_t len,
                                                            const sotto_mask_keys *s,
                                                            uint64_t block, size_t width, int sign)
{
    const __m512i four = _mm512_set_epi64(4LL << 56, 0, 4LL << 56, 0, 4LL << 56, 0, 4LL << 56, 0);
    __m512i key[SOTTO_MASK_ROUNDS + 1];

    UNROLLED
    for (int r = 0; r <= SOTTO_MASK_ROUNDS; r++)
        key[r] = _mm512_broadcast_i32x4(s->key[r]);
    for (size_t at = 0; at < len; at += STEP) {
        __m512i count = counters(block + at / 16), m[WIDE];

        UNROLLED
        for (int i = 0; i < WIDE; i++) {
            m[i] = _mm512_xor_si512(count, key[0]);
            count = _mm512_add_epi64(count, four);
        }
        UNROLLED
        for (int r = 1; r < SOTTO_MASK_ROUNDS; r++) {
            UNROLLED
            for (int i = 0; i < WIDE; i++)
                m[i] = _mm512_aesenc_epi128(m[i], key[r]);
        }
        UNROLLED
        for (int i = 0; i < WIDE; i++) {
            uint8_t *v = piece + at + (size_t)64 * (size_t)i;

            m[i] = _mm512_aesenclast_epi128(m[i], key[SOTTO_MASK_ROUNDS]);
            _mm512_storeu_si512(v, sum(_mm512_loadu_si512(v), m[i], width, sign));
        }
    }
}

static void add(uint8_t *piece, size_t len, size_t width, const uint8_t seed[32], uint64_t block,
                int sign)
{
    sotto_mask_keys s;

    if (block % BLOCKS != 0) {
        sotto_mask_vaes.add(piece, len, width, seed, block, sign);
        return;
    }
    sotto_mask_expand(&s, seed);
    SOTTO_MASK_STEPS(add_steps, piece, len, &s, block, width, sign);
    sotto_wipe(&s, sizeof s);
}

const sotto_mask_set sotto_mask_vaes512 = {"vaes512", STEP, add};
