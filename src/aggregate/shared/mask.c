#include "aggregate/shared/mask.h"

#include "aggregate/shared/crew.h"
#include "base/backends.h"
#include "base/cpu.h"
#include "crypto/hkdf.h"
#include "math/wide.h" /* demands a little-endian machine, as the wire form of a mask does */

#include <string.h>

enum {
    TILE = 4096,    /* stays in the first-level cache  */
    PIECE = 131072, /* stays in the second-level cache */
};

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

/* ---- stretching ------------------------------------------------------------------------------------- */

static const sotto_mask_set evp = {"evp", 0, NULL};

static const sotto_backend choices[] = {
#if defined(__x86_64__)
    {SOTTO_CPU_VAES | SOTTO_CPU_AVX512VL, &sotto_mask_vaes512},
    {SOTTO_CPU_VAES, &sotto_mask_vaes},
#endif
    {0, &evp},
};
static sotto_backends backends = {choices, sizeof choices / sizeof choices[0], NULL};

bool sotto_mask_use(const char *name)
{
    return sotto_backends_use(&backends, name);
}

const char *sotto_mask_name(void)
{
    const sotto_mask_set *set = sotto_backends_chosen(&backends);

    return set->name;
}

/* v += mask or v -= mask, in entries of one type. A factor of -1 would be a product, which vectors of 128 bits do not have. */
#define SOTTO_TILE(name, type, operation)                                                          \
    static void name(uint8_t *v, const uint8_t *mask, size_t len)                                  \
    {                                                                                              \
        for (size_t i = 0; i < len; i += sizeof(type)) {                                           \
            type x, m;                                                                             \
                                                                                                   \
            memcpy(&m, mask + i, sizeof m);                                                        \
            memcpy(&x, v + i, sizeof x);                                                           \
            x = x operation m;                                                                     \
            memcpy(v + i, &x, sizeof x);                                                           \
        }                                                                                          \
    }

SOTTO_TILE(add32, uint32_t, +)
SOTTO_TILE(take32, uint32_t, -)
SOTTO_TILE(add64, uint64_t, +)
SOTTO_TILE(take64, uint64_t, -)

static sotto_status add_evp(uint8_t *piece, size_t len, size_t width, sotto_keystream *stream,
                            const uint8_t seed[32], uint64_t block, int sign, sotto_err *err)
{
    void (*const combine)(uint8_t *, const uint8_t *, size_t) =
        width == 4 ? (sign > 0 ? add32 : take32) : (sign > 0 ? add64 : take64);
    uint8_t tile[TILE];
    sotto_status status = sotto_keystream_seek(stream, seed, block, err);

    for (size_t i = 0; i < len && status == SOTTO_OK; i += TILE) {
        size_t part = len - i < TILE ? len - i : TILE;

        status = sotto_keystream_next(stream, tile, part, err);
        if (status == SOTTO_OK)
            combine(piece + i, tile, part);
    }
    sotto_wipe(tile, sizeof tile);
    return status;
}

/* Less than a step: in a copy that has the length of one. */
static void add_rest(const sotto_mask_set *set, uint8_t *piece, size_t len, size_t width,
                     const uint8_t seed[32], uint64_t block, int sign)
{
    uint8_t step[SOTTO_MASK_MOST_STEP] = {0};

    memcpy(step, piece, len);
    set->add(step, set->step, width, seed, block, sign);
    memcpy(piece, step, len);
    sotto_wipe(step, sizeof step);
}

static sotto_status add_piece(uint8_t *piece, size_t len, size_t width, sotto_keystream *stream,
                              const uint8_t seed[32], uint64_t block, int sign, sotto_err *err)
{
    const sotto_mask_set *set = sotto_backends_chosen(&backends);

    if (!set->add)
        return add_evp(piece, len, width, stream, seed, block, sign, err);
    const size_t whole = len - len % set->step;
    if (whole > 0)
        set->add(piece, whole, width, seed, block, sign);
    if (whole < len)
        add_rest(set, piece + whole, len - whole, width, seed, block + whole / 16, sign);
    return SOTTO_OK;
}

static uint8_t *entries_of(const sotto_vector *v)
{
    return v->ring == SOTTO_RING_Z32 ? (uint8_t *)v->of.z32 : (uint8_t *)v->of.z64;
}

void sotto_mask_row_add(sotto_buf *rows, int sign, const uint8_t seed[32])
{
    uint8_t *row = rows->data + rows->len;

    row[0] = sign > 0;
    memcpy(row + 1, seed, 32);
    rows->len += SOTTO_MASK_ROW;
}

typedef struct row_work {
    const sotto_vector *v;
    const uint8_t *rows;
    size_t count;
} row_work;

static sotto_status apply_pieces(void *context, size_t first, size_t end, sotto_err *err)
{
    const row_work *w = context;
    const size_t width = sotto_ring_width(w->v->ring), len = w->v->length * width;
    sotto_keystream stream;
    sotto_status status = sotto_keystream_init_long(&stream, err);

    for (size_t at = first * PIECE; at < end * PIECE && at < len && status == SOTTO_OK; at += PIECE)
        for (size_t i = 0; i < w->count && status == SOTTO_OK; i++) {
            const uint8_t *row = w->rows + i * SOTTO_MASK_ROW;

            status = add_piece(entries_of(w->v) + at, len - at < PIECE ? len - at : PIECE, width,
                               &stream, row + 1, at / 16, row[0] ? 1 : -1, err);
        }
    sotto_keystream_clear(&stream);
    return status;
}

sotto_status sotto_mask_apply_rows(sotto_vector *v, const uint8_t *rows, size_t count,
                                   sotto_err *err)
{
    const size_t width = sotto_ring_width(v->ring);
    row_work work = {v, rows, count};

    if (width == 0)
        return sotto_fail(err, SOTTO_BUG, "mask: a ring that has none");
    return sotto_crew_run(apply_pieces, &work, (v->length * width + PIECE - 1) / PIECE, err);
}

sotto_status sotto_mask_apply(sotto_vector *v, const uint8_t seed[32], int sign, sotto_err *err)
{
    uint8_t row[SOTTO_MASK_ROW];
    sotto_buf out = sotto_buf_over(row, sizeof row);

    sotto_mask_row_add(&out, sign, seed);
    const sotto_status status = sotto_mask_apply_rows(v, row, 1, err);
    sotto_wipe(row, sizeof row);
    return status;
}
