/* Two texts' rounds of SHA-256 (FIPS 180-4, 6.2.2) in turn, by the SHA extensions of x86. */
#include "crypto/hash_many.h"

#include <immintrin.h>

/* So that every index into the schedule is a constant. */
#if defined(__clang__)
#define UNROLL_ALL _Pragma("clang loop unroll(full)")
#else
#define UNROLL_ALL _Pragma("GCC unroll 16")
#endif

enum { GROUPS = 16 }; /* of four rounds */

static const uint32_t K[4 * GROUPS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

/* The instructions want a, b, e, f in one register and the rest in another, the last ones lowest. */
typedef struct halves {
    __m128i abef, cdgh;
} halves;

static inline halves read_state(const uint32_t s[8])
{
    return (halves){_mm_set_epi32((int)s[0], (int)s[1], (int)s[4], (int)s[5]),
                    _mm_set_epi32((int)s[2], (int)s[3], (int)s[6], (int)s[7])};
}

static inline void write_state(uint32_t s[8], halves h)
{
    uint32_t abef[4], cdgh[4];

    _mm_storeu_si128((__m128i *)abef, h.abef);
    _mm_storeu_si128((__m128i *)cdgh, h.cdgh);
    for (unsigned i = 0; i < 2; i++) {
        s[i] = abef[3 - i];
        s[2 + i] = cdgh[3 - i];
        s[4 + i] = abef[1 - i];
        s[6 + i] = cdgh[1 - i];
    }
}

static inline __m128i read_words(const uint8_t *at)
{
    const __m128i turn = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);

    return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)at), turn);
}

/* Four rounds. After two of them the halves have changed their places, and after four they are back. */
static inline void rounds(halves *h, __m128i words, __m128i constants)
{
    const __m128i sum = _mm_add_epi32(words, constants);

    h->cdgh = _mm_sha256rnds2_epu32(h->cdgh, h->abef, sum);
    h->abef = _mm_sha256rnds2_epu32(h->abef, h->cdgh, _mm_shuffle_epi32(sum, 0x0e));
}

/* In the place of the oldest four words, the next four of the schedule. */
static inline __m128i next_words(__m128i w0, __m128i w1, __m128i w2, __m128i w3)
{
    const __m128i seven_before = _mm_alignr_epi8(w3, w2, 4);

    return _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(w0, w1), seven_before), w3);
}

static inline halves sum_of(halves a, halves b)
{
    return (halves){_mm_add_epi32(a.abef, b.abef), _mm_add_epi32(a.cdgh, b.cdgh)};
}

static void compress(uint32_t a[8], uint32_t b[8], const uint8_t *text_a, const uint8_t *text_b,
                     size_t blocks)
{
    halves ha = read_state(a), hb = read_state(b);

    for (; blocks > 0; blocks--, text_a += 64, text_b += 64) {
        const halves before_a = ha, before_b = hb;
        __m128i wa[4], wb[4];

        for (unsigned i = 0; i < 4; i++) {
            wa[i] = read_words(text_a + 16 * i);
            wb[i] = read_words(text_b + 16 * i);
        }
        UNROLL_ALL
        for (unsigned i = 0; i < GROUPS; i++) {
            const __m128i k = _mm_loadu_si128((const __m128i *)(K + 4 * i));

            rounds(&ha, wa[i % 4], k);
            rounds(&hb, wb[i % 4], k);
            if (i >= GROUPS - 4)
                continue;
            wa[i % 4] = next_words(wa[i % 4], wa[(i + 1) % 4], wa[(i + 2) % 4], wa[(i + 3) % 4]);
            wb[i % 4] = next_words(wb[i % 4], wb[(i + 1) % 4], wb[(i + 2) % 4], wb[(i + 3) % 4]);
        }
        ha = sum_of(ha, before_a);
        hb = sum_of(hb, before_b);
    }
    write_state(a, ha);
    write_state(b, hb);
}

const sotto_sha256_pair sotto_sha256_sha = {"sha", compress};
