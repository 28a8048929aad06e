#include "crypto/turboshake.h"

#include <string.h>

static uint64_t load_some(const uint8_t *in, size_t len)
{
    uint64_t word = 0;

    for (size_t i = 0; i < len; i++)
        word |= (uint64_t)in[i] << (8 * i);
    return word;
}

static void store_some(uint8_t *out, uint64_t word, size_t len)
{
    for (size_t i = 0; i < len; i++)
        out[i] = (uint8_t)(word >> (8 * i));
}

/* A word of input that starts at byte `at` of the block falls on one state word or on two. The second
 * exists even for the last word of a block, as the rate is smaller than the state. */
static void add_word(sotto_turboshake *x, unsigned lane, size_t at, uint64_t word)
{
    unsigned shift = 8 * (unsigned)(at % 8);

    x->words[at / 8][lane] ^= word << shift;
    if (shift)
        x->words[at / 8 + 1][lane] ^= word >> (64 - shift);
}

/* Within one block. */
static void add_bytes(sotto_turboshake *x, unsigned lane, size_t at, const uint8_t *in, size_t len)
{
    for (; len >= 8; at += 8, in += 8, len -= 8)
        add_word(x, lane, at, sotto_keccak_load(in));
    if (len)
        add_word(x, lane, at, load_some(in, len));
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
static void give_bytes(const sotto_turboshake *x, unsigned lane, size_t at, uint8_t *out, size_t len)
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
    memset(x->words, 0, sizeof x->words);
    x->lanes = lanes;
    x->rate = rate;
    x->at = 0;
}

/* Adds to the current block only, and permutes when that fills it. Returns how much it took. */
static size_t fill_block(sotto_turboshake *x, const uint8_t *const *in, size_t from, size_t len)
{
    size_t take = min_size(len - from, x->rate - x->at);

    for (unsigned lane = 0; lane < x->lanes; lane++)
        add_bytes(x, lane, x->at, in[lane] + from, take);
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
        add_word(x, lane, x->at, domain);
        add_word(x, lane, x->rate - 1, 0x80);
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
