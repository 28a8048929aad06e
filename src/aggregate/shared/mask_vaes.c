/* AES-128 in counter mode, two blocks in each register and eight registers at a time, added to the vector as it is made: no
 * mask is ever in memory. The crypto library's counter mode is the reference. */
#include "aggregate/shared/mask_aes.h"

enum { WIDE = 8, STEP = 32 * WIDE };

typedef struct schedule {
    __m256i key[SOTTO_MASK_ROUNDS + 1];
} schedule;

/* Sixteen blocks of the stream. `count` is the counter of the first two, in the upper half of each lane, little endian. */
static inline __attribute__((always_inline)) void blocks(__m256i out[WIDE], const schedule *s,
                                                         __m256i count)
{
    const __m256i swap = _mm256_broadcastsi128_si256(
        _mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, -1, -1, -1, -1, -1, -1, -1, -1));
    const __m256i two = _mm256_set_epi64x(2, 0, 2, 0);

    UNROLLED
    for (int i = 0; i < WIDE; i++) {
        out[i] = _mm256_xor_si256(_mm256_shuffle_epi8(count, swap), s->key[0]);
        count = _mm256_add_epi64(count, two);
    }
    UNROLLED
    for (int r = 1; r < SOTTO_MASK_ROUNDS; r++) {
        UNROLLED
        for (int i = 0; i < WIDE; i++)
            out[i] = _mm256_aesenc_epi128(out[i], s->key[r]);
    }
    UNROLLED
    for (int i = 0; i < WIDE; i++)
        out[i] = _mm256_aesenclast_epi128(out[i], s->key[SOTTO_MASK_ROUNDS]);
}

static inline __m256i first_count(uint64_t block)
{
    const uint64_t next = block + 1;

    return _mm256_set_epi64x((long long)next, 0, (long long)block, 0);
}

static inline __m256i sum(__m256i v, __m256i m, size_t width, int sign)
{
    if (width == 4)
        return sign > 0 ? _mm256_add_epi32(v, m) : _mm256_sub_epi32(v, m);
    return sign > 0 ? _mm256_add_epi64(v, m) : _mm256_sub_epi64(v, m);
}

static inline __attribute__((always_inline)) void
add_steps(uint8_t *piece, size_t len, const schedule *s, uint64_t block, size_t width, int sign)
{
    for (size_t at = 0; at < len; at += STEP) {
        __m256i m[WIDE];

        blocks(m, s, first_count(block + at / 16));
        UNROLLED
        for (int i = 0; i < WIDE; i++) {
            __m256i *v = (__m256i *)(void *)(piece + at + (size_t)32 * (size_t)i);

            _mm256_storeu_si256(v, sum(_mm256_loadu_si256(v), m[i], width, sign));
        }
    }
}

static void add(uint8_t *piece, size_t len, size_t width, const uint8_t seed[32], uint64_t block,
                int sign)
{
    sotto_mask_keys keys;
    schedule s;

    sotto_mask_expand(&keys, seed);
    for (int r = 0; r <= SOTTO_MASK_ROUNDS; r++)
        s.key[r] = _mm256_broadcastsi128_si256(keys.key[r]);
    sotto_wipe(&keys, sizeof keys);
    SOTTO_MASK_STEPS(add_steps, piece, len, &s, block, width, sign);
    sotto_wipe(&s, sizeof s);
}

const sotto_mask_set sotto_mask_vaes = {"vaes", STEP, add};
