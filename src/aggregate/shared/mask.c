#include "aggregate/shared/mask.h"

#include "crypto/hkdf.h"
#include "math/wide.h" /* demands a little-endian machine, as the wire form of a mask does */

#include <string.h>

enum { TILE = 16384 }; /* stays in the first-level cache */

sotto_status sotto_round_kdf(uint8_t out[32], const char *label, sotto_bytes secret,
                             const uint8_t id[SOTTO_ROUND_ID], uint32_t a, uint32_t b,
                             sotto_err *err)
{
    uint8_t prk[32], numbers[8];
    sotto_buf written = sotto_buf_over(numbers, sizeof numbers);
    sotto_writer w = sotto_writer_on(&written);
    sotto_bytes info[2] = {{id, SOTTO_ROUND_ID}, {numbers, sizeof numbers}};
    sotto_hmac_key key;

    sotto_write_uint(&w, a, 4);
    sotto_write_uint(&w, b, 4);
    sotto_hmac_key_init(&key, SOTTO_SHA256, sotto_bytes_of(label, strlen(label)));
    sotto_hkdf_extract(prk, &key, &secret, 1);
    sotto_hmac_key_init(&key, SOTTO_SHA256, sotto_bytes_of(prk, sizeof prk));
    sotto_status status = sotto_hkdf_expand(out, 32, &key, info, 2, err);
    sotto_wipe(prk, sizeof prk);
    sotto_wipe(&key, sizeof key);
    return status;
}

sotto_status sotto_pair_seed(uint8_t out[32], const uint8_t agreed[32],
                             const uint8_t id[SOTTO_ROUND_ID], uint32_t mine, uint32_t other,
                             sotto_err *err)
{
    uint32_t low = mine < other ? mine : other, high = mine < other ? other : mine;

    return sotto_round_kdf(out, "sotto-pair-1", sotto_bytes_of(agreed, 32), id, low, high, err);
}

static void add32(uint32_t *v, const uint8_t *mask, size_t count, uint32_t sign)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t m;

        memcpy(&m, mask + 4 * i, sizeof m);
        v[i] += sign * m;
    }
}

static void add64(uint64_t *v, const uint8_t *mask, size_t count, uint64_t sign)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t m;

        memcpy(&m, mask + 8 * i, sizeof m);
        v[i] += sign * m;
    }
}

sotto_status sotto_mask_apply(sotto_vector *v, sotto_keystream *stream, const uint8_t seed[32],
                              int sign, sotto_err *err)
{
    size_t width = sotto_ring_width(v->ring);
    uint64_t factor = sign > 0 ? 1 : UINT64_MAX; /* -1, in either ring */
    uint8_t tile[TILE];
    sotto_status status;

    if (width == 0)
        return sotto_fail(err, SOTTO_BUG, "mask: a ring that has none");
    status = sotto_keystream_seed(stream, seed, err);
    for (size_t i = 0; i < v->length && status == SOTTO_OK; i += TILE / width) {
        size_t count = v->length - i < TILE / width ? v->length - i : TILE / width;

        status = sotto_keystream_next(stream, tile, count * width, err);
        if (status != SOTTO_OK)
            break;
        if (v->ring == SOTTO_RING_Z32)
            add32(v->of.z32 + i, tile, count, (uint32_t)factor);
        else
            add64(v->of.z64 + i, tile, count, factor);
    }
    sotto_wipe(tile, sizeof tile);
    return status;
}
