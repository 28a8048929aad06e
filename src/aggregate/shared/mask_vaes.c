/* AES-256 in counter mode, two blocks in each register and eight registers at a time, added to the vector as it is made: no
 * mask is ever in memory. The crypto library's counter mode is the reference. */
#include "aggregate/shared/mask.h"

#include <string.h>

#include <immintrin.h>

/* Without it the compiler keeps the blocks in memory between rounds. */
#define UNROLLED _Pragma("GCC unroll 16")

enum { ROUNDS = 14, WIDE = 8, STEP = 32 * WIDE };

typedef struct schedule {
    __m256i key[ROUNDS + 1];
} schedule;

/* The word schedule of FIPS 197, 5.2: every other key takes the rotated last word, the others only its substitution. */
#define EXPAND(i, round)                                                                           \
    do {                                                                                           \
        __m128i t = _mm_shuffle_epi32(_mm_aeskeygenassist_si128(odd, round), 0xff);                \
                                                                                                   \
        even = _mm_xor_si128(even, _mm_slli_si128(even, 4));                                       \
        even = _mm_xor_si128(even, _mm_slli_si128(even, 8));                                       \
        even = _mm_xor_si128(even, t);                                                             \
        s->key[i] = _mm256_broadcastsi128_si256(even);                                             \
    } while (0)
#define EXPAND_ODD(i)                                                                              \
    do {                                                                                           \
        __m128i t = _mm_shuffle_epi32(_mm_aeskeygenassist_si128(even, 0), 0xaa);                   \
                                                                                                   \
        odd = _mm_xor_si128(odd, _mm_slli_si128(odd, 4));                                          \
        odd = _mm_xor_si128(odd, _mm_slli_si128(odd, 8));                                          \
        odd = _mm_xor_si128(odd, t);                                                               \
        s->key[i] = _mm256_broadcastsi128_si256(odd);                                              \
    } while (0)

static void expand(schedule *s, const uint8_t seed[32])
{
    __m128i even = _mm_loadu_si128((const __m128i *)(const void *)seed);
    __m128i odd = _mm_loadu_si128((const __m128i *)(const void *)(seed + 16));

    s->key[0] = _mm256_broadcastsi128_si256(even);
    s->key[1] = _mm256_broadcastsi128_si256(odd);
    EXPAND(2, 0x01);
    EXPAND_ODD(3);
    EXPAND(4, 0x02);
    EXPAND_ODD(5);
    EXPAND(6, 0x04);
    EXPAND_ODD(7);
    EXPAND(8, 0x08);
    EXPAND_ODD(9);
    EXPAND(10, 0x10);
    EXPAND_ODD(11);
    EXPAND(12, 0x20);
    EXPAND_ODD(13);
    EXPAND(14, 0x40);
}

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
    for (int r = 1; r < ROUNDS; r++) {
        UNROLLED
        for (int i = 0; i < WIDE; i++)
            out[i] = _mm256_aesenc_epi128(out[i], s->key[r]);
    }
    UNROLLED
    for (int i = 0; i < WIDE; i++)
        out[i] = _mm256_aesenclast_epi128(out[i], s->key[ROUNDS]);
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

/* Inlined for each width and sign, which are then no longer asked for in the loop. */
static inline __attribute__((always_inline)) size_t
add_steps(uint8_t *piece, size_t len, const schedule *s, uint64_t block, size_t width, int sign)
{
    size_t at = 0;

    for (; len - at >= STEP; at += STEP) {
        __m256i m[WIDE];

        blocks(m, s, first_count(block + at / 16));
        UNROLLED
        for (int i = 0; i < WIDE; i++) {
            __m256i *v = (__m256i *)(void *)(piece + at + (size_t)32 * (size_t)i);

            _mm256_storeu_si256(v, sum(_mm256_loadu_si256(v), m[i], width, sign));
        }
    }
    return at;
}

static size_t add_whole(uint8_t *piece, size_t len, const schedule *s, uint64_t block, size_t width,
                        int sign)
{
    if (width == 4)
        return sign > 0 ? add_steps(piece, len, s, block, 4, 1)
                        : add_steps(piece, len, s, block, 4, -1);
    return sign > 0 ? add_steps(piece, len, s, block, 8, 1)
                    : add_steps(piece, len, s, block, 8, -1);
}

static void add(uint8_t *piece, size_t len, size_t width, const uint8_t seed[32], uint64_t block,
                int sign)
{
    uint8_t rest[STEP];
    schedule s;

    expand(&s, seed);
    size_t done = add_whole(piece, len, &s, block, width, sign);
    if (done < len) {
        memcpy(rest, piece + done, len - done);
        memset(rest + (len - done), 0, sizeof rest - (len - done));
        (void)add_whole(rest, sizeof rest, &s, block + done / 16, width, sign);
        memcpy(piece + done, rest, len - done);
        sotto_wipe(rest, sizeof rest);
    }
    sotto_wipe(&s, sizeof s);
}

const sotto_mask_set sotto_mask_vaes = {"vaes", add};
