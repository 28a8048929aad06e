/* AES-GCM for processors with AVX-512, VAES and VPCLMULQDQ: four blocks in each register, eight registers at a time.
 *
 * GHASH is computed as POLYVAL (RFC 8452, appendix A): blocks are read with their bytes reversed, and the hash key is
 * multiplied by x once. Then a product needs no shift, and two more products reduce it. The sum of 32 products is
 * reduced once.
 */
#include "crypto/gcm.h"

#include <immintrin.h>
#include <string.h>

/* Without it the compiler keeps the blocks in memory between rounds. */
#define UNROLLED _Pragma("GCC unroll 16")

enum { WIDE = 8, STEP = 64 * WIDE, BLOCK = 16, MOST_ROUNDS = 14 };

typedef struct gcm {
    __m512i powers[WIDE]; /* of the hash key: the 32nd first, the first last */
    __m512i wide[MOST_ROUNDS + 1];
    __m128i key[MOST_ROUNDS + 1];
    __m128i hash;    /* of what was read, its bytes reversed */
    __m128i counter; /* the next block's, its bytes reversed */
    int rounds;
} gcm;

static inline __m128i reversed(__m128i x)
{
    return _mm_shuffle_epi8(x, _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}

static inline __m512i reversed_wide(__m512i x)
{
    return _mm512_shuffle_epi8(x, _mm512_broadcast_i32x4(_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
                                                                      10, 11, 12, 13, 14, 15)));
}

static inline __m128i load(const uint8_t *at)
{
    return _mm_loadu_si128((const __m128i *)(const void *)at);
}

static inline void store(uint8_t *at, __m128i x)
{
    _mm_storeu_si128((__m128i *)(void *)at, x);
}

/* ---- AES ----------------------------------------------------------------------------------------------------------- */

/* Each word of a round key has all words before it in it (FIPS 197, 5.2). */
static inline __m128i spread(__m128i key)
{
    key = _mm_xor_si128(key, _mm_slli_si128(key, 4));
    return _mm_xor_si128(key, _mm_slli_si128(key, 8));
}

static void expand(gcm *g, const uint8_t *key, size_t key_size)
{
    const int words = (int)key_size / BLOCK; /* of 128 bits: 1 or 2 */
    int constant = 1;

    g->rounds = words == 1 ? 10 : 14;
    g->key[0] = load(key);
    if (words == 2)
        g->key[1] = load(key + BLOCK);
    for (int i = words; i <= g->rounds; i++) {
        __m128i last = _mm_aeskeygenassist_si128(g->key[i - 1], 0);

        if (i % words == 0) {
            last = _mm_xor_si128(_mm_shuffle_epi32(last, 0xff), _mm_set1_epi32(constant));
            constant = constant < 0x80 ? 2 * constant : 0x1b; /* doubled in the field of AES */
        } else {
            last = _mm_shuffle_epi32(last, 0xaa);
        }
        g->key[i] = _mm_xor_si128(spread(g->key[i - words]), last);
    }
    for (int i = 0; i <= g->rounds; i++)
        g->wide[i] = _mm512_broadcast_i32x4(g->key[i]);
}

static __m128i encrypt(const gcm *g, __m128i block)
{
    block = _mm_xor_si128(block, g->key[0]);
    for (int r = 1; r < g->rounds; r++)
        block = _mm_aesenc_si128(block, g->key[r]);
    return _mm_aesenclast_si128(block, g->key[g->rounds]);
}

/* ---- GHASH --------------------------------------------------------------------------------------------------------- */

#define POLYNOMIAL ((long long)0xc200000000000000)

/* Sums of products that are not reduced yet. */
typedef struct sums {
    __m512i low, middle, high;
} sums;

static inline void add_product(sums *s, __m512i a, __m512i b)
{
    s->low = _mm512_xor_si512(s->low, _mm512_clmulepi64_epi128(a, b, 0x00));
    s->high = _mm512_xor_si512(s->high, _mm512_clmulepi64_epi128(a, b, 0x11));
    s->middle = _mm512_ternarylogic_epi64(s->middle, _mm512_clmulepi64_epi128(a, b, 0x01),
                                          _mm512_clmulepi64_epi128(a, b, 0x10), 0x96);
}

/* Each of the four lanes by itself, divided by x^128. */
static inline __m512i reduce_wide(sums s)
{
    const __m512i g = _mm512_set1_epi64(POLYNOMIAL);
    const __m512i low = _mm512_xor_si512(s.low, _mm512_bslli_epi128(s.middle, 8));
    const __m512i high = _mm512_xor_si512(s.high, _mm512_bsrli_epi128(s.middle, 8));
    __m512i t = _mm512_shuffle_epi32(_mm512_clmulepi64_epi128(low, g, 0x00), _MM_PERM_BADC);

    t = _mm512_xor_si512(t, low);
    return _mm512_ternarylogic_epi64(high, t, _mm512_clmulepi64_epi128(t, g, 0x11), 0x96);
}

static inline __m512i multiply_wide(__m512i a, __m512i b)
{
    sums s = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512()};

    add_product(&s, a, b);
    return reduce_wide(s);
}

static inline __m128i multiply(__m128i a, __m128i b)
{
    return _mm512_castsi512_si128(
        multiply_wide(_mm512_zextsi128_si512(a), _mm512_zextsi128_si512(b)));
}

static inline __m128i sum_lanes(__m512i x)
{
    const __m256i half =
        _mm256_xor_si256(_mm512_castsi512_si256(x), _mm512_extracti64x4_epi64(x, 1));

    return _mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

/* x * h in POLYVAL's field: what falls out at the top comes back as the polynomial. */
static __m128i doubled(__m128i h)
{
    const __m128i carries = _mm_srli_epi64(h, 63);
    const __m128i out = _mm_sub_epi64(_mm_setzero_si128(), _mm_unpackhi_epi64(carries, carries));
    const __m128i twice = _mm_or_si128(_mm_slli_epi64(h, 1), _mm_slli_si128(carries, 8));

    return _mm_xor_si128(twice, _mm_and_si128(out, _mm_set_epi64x(POLYNOMIAL, 1)));
}

static void make_powers(gcm *g)
{
    const __m128i one = doubled(reversed(encrypt(g, _mm_setzero_si128())));
    const __m128i two = multiply(one, one), three = multiply(two, one), four = multiply(two, two);
    const __m512i by_four = _mm512_broadcast_i32x4(four);
    __m512i power = _mm512_inserti32x4(_mm512_zextsi128_si512(four), three, 1);

    power = _mm512_inserti32x4(_mm512_inserti32x4(power, two, 2), one, 3);
    for (int i = WIDE - 1; i >= 0; i--) {
        g->powers[i] = power;
        power = multiply_wide(power, by_four);
    }
}

static void hash_block(gcm *g, __m128i block)
{
    const __m128i one = _mm512_extracti32x4_epi32(g->powers[WIDE - 1], 3);

    g->hash = multiply(_mm_xor_si128(g->hash, reversed(block)), one);
}

/* The rest of a block that is not whole is zeros. */
static __m128i part_of(const uint8_t *at, size_t len)
{
    uint8_t block[BLOCK] = {0};

    memcpy(block, at, len < BLOCK ? len : BLOCK);
    return load(block);
}

static void hash_bytes(gcm *g, sotto_bytes bytes)
{
    for (size_t at = 0; at < bytes.len; at += BLOCK)
        hash_block(g, part_of(bytes.data + at, bytes.len - at));
}

/* ---- opening ------------------------------------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) void
open_step(gcm *g, uint8_t *out, const uint8_t *text, __m512i *counters, int rounds)
{
    const __m512i four = _mm512_maskz_set1_epi32(0x1111, 4);
    sums s = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512()};
    __m512i m[WIDE];

    UNROLLED
    for (int i = 0; i < WIDE; i++) {
        m[i] = _mm512_xor_si512(reversed_wide(*counters), g->wide[0]);
        *counters = _mm512_add_epi32(*counters, four);
    }
    /* One register is hashed in each round, so that both kinds of work are under way at any time. */
    UNROLLED
    for (int r = 1; r < rounds; r++) {
        UNROLLED
        for (int i = 0; i < WIDE; i++)
            m[i] = _mm512_aesenc_epi128(m[i], g->wide[r]);
        if (r <= WIDE) {
            __m512i x = reversed_wide(_mm512_loadu_si512(text + 64 * (size_t)(r - 1)));

            if (r == 1)
                x = _mm512_xor_si512(x, _mm512_zextsi128_si512(g->hash));
            add_product(&s, x, g->powers[r - 1]);
        }
    }
    UNROLLED
    for (int i = 0; i < WIDE; i++) {
        const size_t at = 64 * (size_t)i;

        m[i] = _mm512_aesenclast_epi128(m[i], g->wide[rounds]);
        _mm512_storeu_si512(out + at, _mm512_xor_si512(m[i], _mm512_loadu_si512(text + at)));
    }
    g->hash = sum_lanes(reduce_wide(s));
}

/* Returns how many bytes were opened: all whole steps. */
static inline __attribute__((always_inline)) size_t open_steps(gcm *g, uint8_t *out,
                                                               sotto_bytes text, int rounds)
{
    const __m512i first = _mm512_set_epi32(0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0);
    __m512i counters = _mm512_add_epi32(_mm512_broadcast_i32x4(g->counter), first);
    size_t at = 0;

    for (; text.len - at >= STEP; at += STEP)
        open_step(g, out + at, text.data + at, &counters, rounds);
    g->counter = _mm512_castsi512_si128(counters);
    return at;
}

static void open_block(gcm *g, uint8_t *out, const uint8_t *text, size_t len)
{
    const __m128i block = part_of(text, len), mask = encrypt(g, reversed(g->counter));
    uint8_t plain[BLOCK];

    hash_block(g, block);
    store(plain, _mm_xor_si128(block, mask));
    memcpy(out, plain, len < BLOCK ? len : BLOCK);
    g->counter = _mm_add_epi32(g->counter, _mm_set_epi32(0, 0, 0, 1));
    sotto_wipe(plain, sizeof plain);
}

static void open_text(uint8_t *out, uint8_t tag[SOTTO_AEAD_TAG_SIZE], const uint8_t *key,
                      size_t key_size, const uint8_t nonce[SOTTO_AEAD_NONCE_SIZE], sotto_bytes aad,
                      sotto_bytes text)
{
    gcm g = {.hash = _mm_setzero_si128()};
    uint8_t start[BLOCK] = {[BLOCK - 1] = 1};
    size_t at;

    memcpy(start, nonce, SOTTO_AEAD_NONCE_SIZE);
    expand(&g, key, key_size);
    make_powers(&g);
    g.counter = _mm_add_epi32(reversed(load(start)), _mm_set_epi32(0, 0, 0, 1));
    hash_bytes(&g, aad);
    at = g.rounds == 10 ? open_steps(&g, out, text, 10) : open_steps(&g, out, text, 14);
    for (; at < text.len; at += BLOCK)
        open_block(&g, out + at, text.data + at, text.len - at);
    hash_block(&g, reversed(_mm_set_epi64x(8 * (long long)aad.len, 8 * (long long)text.len)));
    store(tag, _mm_xor_si128(reversed(g.hash), encrypt(&g, load(start))));
    sotto_wipe(&g, sizeof g);
}

const sotto_gcm_set sotto_gcm_vaes = {"vaes", open_text};
