#include "crypto/turboshake.h"

#include <string.h>

/* Up to 7 bytes, in at most three steps. */
static uint64_t load_some(const uint8_t *in, size_t len)
{
    uint64_t word = 0;
    unsigned shift = 0;

    if (len & 4) {
        word =
            (uint64_t)in[0] | (uint64_t)in[1] << 8 | (uint64_t)in[2] << 16 | (uint64_t)in[3] << 24;
        in += 4, shift = 32;
    }
    if (len & 2) {
        word |= ((uint64_t)in[0] | (uint64_t)in[1] << 8) << shift;
        in += 2, shift += 16;
    }
    if (len & 1)
        word |= (uint64_t)in[0] << shift;
    return word;
}

static void store_some(uint8_t *out, uint64_t word, size_t len)
{
    for (size_t i = 0; i < len; i++)
        out[i] = (uint8_t)(word >> (8 * i));
}

/* Adds bytes to the first `width` lanes, within one block. Where x->at is not a multiple of 8, a word of
 * input falls on two words of the state. What belongs to the second waits in `carry`, so that each word
 * of the state is touched once. The word after the last exists, as the rate is smaller than the state. */
static inline void add_bytes(sotto_turboshake *x, unsigned width, const uint8_t *const *in,
                             size_t from, size_t len)
{
    const unsigned shift = 8 * (x->at % 8);
    sotto_keccak_row *row = &x->words[x->at / 8];
    uint64_t carry[SOTTO_LANES] = {0}, word[SOTTO_LANES];

    for (; len >= 8; from += 8, len -= 8, row++) {
        for (unsigned lane = 0; lane < width; lane++)
            word[lane] = sotto_keccak_load(in[lane] + from);
        for (unsigned lane = 0; lane < width; lane++)
            row[0][lane] ^= carry[lane] | word[lane] << shift;
        for (unsigned lane = 0; lane < width; lane++)
            carry[lane] = word[lane] >> 1 >> (63 - shift); /* zero where shift is */
    }
    for (unsigned lane = 0; lane < width; lane++) {
        word[lane] = load_some(in[lane] + from, len);
        row[0][lane] ^= carry[lane] | word[lane] << shift;
    }
    for (unsigned lane = 0; lane < width && shift + 8 * len > 64; lane++)
        row[1][lane] ^= word[lane] >> 1 >> (63 - shift);
}

static uint64_t word_at(const sotto_turboshake *x, unsigned lane, size_t at)
{
    unsigned shift = 8 * (unsigned)(at % 8);
    uint64_t word = x->words[at / 8][lane] >> shift;

    if (shift)
        word |= x->words[at / 8 + 1][lane] << (64 - shift);
    return word;
}

/* Within one block. */
static void give_bytes(const sotto_turboshake *x, unsigned lane, size_t at, uint8_t *out,
                       size_t len)
{
    for (; len >= 8; at += 8, out += 8, len -= 8)
        sotto_keccak_store(out, word_at(x, lane, at));
    if (len)
        store_some(out, word_at(x, lane, at), len);
}

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

void sotto_turboshake_start(sotto_turboshake *x, unsigned rate, unsigned lanes)
{
    size_t size = sizeof x->words;

    /* For a known size, gcc 12 makes "rep stos", whose start alone takes a tenth of a permutation. So
     * the size is hidden from it, and the C library's memset does it with the widest stores there are. */
    __asm__("" : "+r"(size));
    memset(x->words, 0, size);
    x->lanes = lanes;
    x->rate = rate;
    x->at = 0;
}

/* Adds to the current block only, and permutes when that fills it. Returns how much it took. */
static size_t fill_block(sotto_turboshake *x, const uint8_t *const *in, size_t from, size_t len)
{
    size_t take = min_size(len - from, x->rate - x->at);

    /* A constant width unrolls; lanes that are not in use may be given anything. */
    if (x->lanes == 1) {
        add_bytes(x, 1, in, from, take);
    } else {
        const uint8_t *const four[SOTTO_LANES] = {in[0], in[1], in[x->lanes > 2 ? 2 : 0],
                                                  in[x->lanes > 3 ? 3 : 0]};
        add_bytes(x, SOTTO_LANES, four, from, take);
    }
    x->at += (unsigned)take;
    if (x->at == x->rate) {
        sotto_keccak_permute(x->words, x->lanes);
        x->at = 0;
    }
    return take;
}

void sotto_turboshake_add(sotto_turboshake *x, const uint8_t *const *in, size_t len)
{
    size_t from = 0, blocks;

    if (x->at > 0 && len > 0)
        from = fill_block(x, in, 0, len);
    blocks = (len - from) / x->rate;
    if (blocks > 0) {
        const uint8_t *start[SOTTO_LANES];

        for (unsigned lane = 0; lane < x->lanes; lane++)
            start[lane] = in[lane] + from;
        sotto_keccak_absorb(x->words, x->lanes, x->rate, start, blocks);
        from += blocks * x->rate;
    }
    if (from < len)
        (void)fill_block(x, in, from, len);
}

void sotto_turboshake_add_common(sotto_turboshake *x, const void *in, size_t len)
{
    const uint8_t *const same[SOTTO_LANES] = {in, in, in, in};

    sotto_turboshake_add(x, same, len);
}

void sotto_turboshake_finish(sotto_turboshake *x, uint8_t domain)
{
    for (unsigned lane = 0; lane < x->lanes; lane++) {
        x->words[x->at / 8][lane] ^= (uint64_t)domain << (8 * (x->at % 8));
        x->words[x->rate / 8 - 1][lane] ^= (uint64_t)0x80 << 56;
    }
    /* The block that ends the message is permuted by the first squeeze, as every later one. */
    x->at = x->rate;
}

void sotto_turboshake_absorb(sotto_turboshake *x, unsigned rate, uint8_t domain, unsigned lanes,
                             const uint8_t *const *head, size_t head_len,
                             const uint8_t *const *body, size_t body_len)
{
    sotto_turboshake_start(x, rate, lanes);
    sotto_turboshake_add(x, head, head_len);
    sotto_turboshake_add(x, body, body_len);
    sotto_turboshake_finish(x, domain);
}

/* Gives from the current block only. Returns how much it gave. */
static size_t drain_block(sotto_turboshake *x, uint8_t *const *out, size_t from, size_t len)
{
    size_t give = min_size(len - from, x->rate - x->at);

    for (unsigned lane = 0; lane < x->lanes; lane++)
        give_bytes(x, lane, x->at, out[lane] + from, give);
    x->at += (unsigned)give;
    return give;
}

void sotto_turboshake_squeeze(sotto_turboshake *x, uint8_t *const *out, size_t len)
{
    size_t from = 0, blocks;

    if (x->at < x->rate)
        from = drain_block(x, out, 0, len);
    blocks = (len - from) / x->rate;
    if (blocks > 0) {
        uint8_t *start[SOTTO_LANES];

        for (unsigned lane = 0; lane < x->lanes; lane++)
            start[lane] = out[lane] + from;
        sotto_keccak_squeeze(x->words, x->lanes, x->rate, start, blocks);
        from += blocks * x->rate;
    }
    if (from < len) {
        sotto_keccak_permute(x->words, x->lanes);
        x->at = 0;
        (void)drain_block(x, out, from, len);
    }
}

#ifndef __OPTIMIZE_SIZE__

void sotto_turboshake_join(sotto_turboshake *x, const sotto_turboshake *giver)
{
    for (unsigned w = 0; w < SOTTO_KECCAK_WORDS; w++)
        x->words[w][x->lanes] = giver->words[w][0];
    x->lanes++;
}

void sotto_turboshake_part(sotto_turboshake *x, sotto_turboshake *giver)
{
    x->lanes--;
    for (unsigned w = 0; w < SOTTO_KECCAK_WORDS; w++)
        giver->words[w][0] = x->words[w][x->lanes];
}

/* A constant width unrolls. */
static void add_but_last(sotto_turboshake *x, const uint8_t *const *in, size_t from, size_t len)
{
    if (x->lanes == 2)
        add_bytes(x, 1, in, from, len);
    else if (x->lanes == 3)
        add_bytes(x, 2, in, from, len);
    else
        add_bytes(x, 3, in, from, len);
}

void sotto_turboshake_exchange(sotto_turboshake *x, const uint8_t *const *in, uint8_t *out,
                               size_t blocks)
{
    const unsigned at = x->at;

    for (size_t from = 0; blocks > 0; blocks--, from += x->rate) {
        add_but_last(x, in, from, x->rate - at);
        sotto_keccak_permute(x->words, x->lanes);
        x->at = 0;
        add_but_last(x, in, from + x->rate - at, at);
        x->at = at;
        for (unsigned w = 0; w < x->rate / 8; w++)
            sotto_keccak_store(out + from + (size_t)8 * w, x->words[w][x->lanes - 1]);
    }
}

void sotto_turboshake_squeeze_beside(sotto_turboshake *giver, uint8_t *const *out,
                                     sotto_turboshake *x, const uint8_t *const *in, size_t blocks)
{
    sotto_keccak_exchange(giver->words, out, x->words, in, x->lanes, x->rate, blocks);
}

#endif
