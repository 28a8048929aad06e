/* vdaf/pine/wrap_avx2.c - 32 bytes at a time. Compiled with -mavx2, used where the processor has it. */
#include "vdaf/pine/wrap.h"

#include <immintrin.h>

/* A product of bytes is at most 255 in size, and each 16-bit lane adds up two of them from every 32 bytes. So a block of
 * 64 times 32 bytes gives at most 64 * 510 = 32,640, which fits. */
_Static_assert(SOTTO_WRAP_BLOCK / 32 * 510 <= 32767, "sums of a block fit 16 bits");

static int64_t add_up(__m256i sums)
{
    __m256i wide = _mm256_madd_epi16(sums, _mm256_set1_epi16(1));
    __m128i half = _mm_add_epi32(_mm256_castsi256_si128(wide), _mm256_extracti128_si256(wide, 1));

    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4e));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0xb1));
    return _mm_cvtsi128_si32(half);
}

void sotto_wrap_block_avx2(int64_t *sums, const uint8_t *plane, const int8_t *signs)
{
    __m256i lane[SOTTO_WRAP_LANES];

    for (unsigned l = 0; l < SOTTO_WRAP_LANES; l++)
        lane[l] = _mm256_setzero_si256();
    for (size_t i = 0; i < SOTTO_WRAP_BLOCK; i += 32) {
        __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)(plane + i));

        for (unsigned l = 0; l < SOTTO_WRAP_LANES; l++) {
            const int8_t *at = signs + l * SOTTO_WRAP_BLOCK + i;
            __m256i entry = _mm256_load_si256((const __m256i *)(const void *)at);

            lane[l] = _mm256_add_epi16(lane[l], _mm256_maddubs_epi16(bytes, entry));
        }
    }
    for (unsigned l = 0; l < SOTTO_WRAP_LANES; l++)
        sums[l] += add_up(lane[l]);
}

/* Eight bytes hold 32 entries. Every byte is spread over four places. Places 0 and 1 look at its low half, 2 and 3 at its
 * high half. A table gives the sign for the first or second pair of bits in that half. */
void sotto_wrap_signs_avx2(int8_t *signs, const uint8_t *entries)
{
    const __m256i spread = _mm256_setr_epi8(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4,
                                            4, 5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7);
    const __m256i high_places = _mm256_set1_epi32((int)0xffff0000);
    const __m256i second_places = _mm256_set1_epi32((int)0xff00ff00);
    const __m256i low_half = _mm256_set1_epi8(15);
    const __m256i first = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(-1, 0, 0, 1, -1, 0, 0, 1, -1, 0, 0, 1, -1, 0, 0, 1));
    const __m256i second = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(-1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1));

    for (size_t i = 0; i < SOTTO_WRAP_BLOCK; i += 32) {
        __m128i eight = _mm_loadl_epi64((const __m128i *)(const void *)(entries + i / 4));
        __m256i x = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(eight), spread);
        __m256i low = _mm256_and_si256(x, low_half);
        __m256i high = _mm256_and_si256(_mm256_srli_epi16(x, 4), low_half);
        __m256i half = _mm256_blendv_epi8(low, high, high_places);
        __m256i sign = _mm256_blendv_epi8(_mm256_shuffle_epi8(first, half),
                                          _mm256_shuffle_epi8(second, half), second_places);

        _mm256_store_si256((__m256i *)(void *)(signs + i), sign);
    }
}
