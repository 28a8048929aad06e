#include "crypto/xof.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <string.h>

enum {
    DOMAIN_FIXED_KEY = 2,
    BLOCK = 16,
    BATCH = 32, /* blocks given to libcrypto at once */
};

static sotto_status set_key(sotto_xof_aes *x, const uint8_t key[16], sotto_err *err)
{
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();

    x->cipher = cipher;
    if (!cipher)
        return sotto_fail(err, SOTTO_NO_MEMORY, "xof: no memory for the cipher");
    if (EVP_EncryptInit_ex(cipher, EVP_aes_128_ecb(), NULL, key, NULL) != 1 ||
        EVP_CIPHER_CTX_set_padding(cipher, 0) != 1)
        return sotto_fail(err, SOTTO_BUG, "xof: libcrypto refuses AES-128");
    return SOTTO_OK;
}

sotto_status sotto_xof_fixed_key_aes128_init(sotto_xof_aes *x, sotto_bytes dst,
                                             const uint8_t seed[SOTTO_XOF_FIXED_KEY_SEED_SIZE],
                                             sotto_bytes binder, sotto_err *err)
{
    const uint8_t dst_len[2] = {(uint8_t)dst.len, (uint8_t)(dst.len >> 8)};
    sotto_turboshake hash;
    uint8_t key[16], *const out = key;
    sotto_status status;

    *x = (sotto_xof_aes){.given = BLOCK, .hashed = true};
    if (dst.len > UINT16_MAX)
        return sotto_fail(err, SOTTO_TOO_LARGE, "xof: dst of %zu bytes", dst.len);
    sotto_turboshake_start(&hash, SOTTO_TURBOSHAKE128_RATE, 1);
    sotto_turboshake_add_common(&hash, dst_len, sizeof dst_len);
    sotto_turboshake_add_common(&hash, dst.data, dst.len);
    sotto_turboshake_add_common(&hash, binder.data, binder.len);
    sotto_turboshake_finish(&hash, DOMAIN_FIXED_KEY);
    sotto_turboshake_squeeze(&hash, &out, sizeof key);
    memcpy(x->start, seed, BLOCK);
    status = set_key(x, key, err);
    sotto_wipe(&hash, sizeof hash);
    sotto_wipe(key, sizeof key);
    return status;
}

static sotto_status hmac_sha256(uint8_t tag[32], const uint8_t key[32], const sotto_bytes *pieces,
                                size_t count, sotto_err *err)
{
    char digest[] = "SHA256";
    const OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_end(),
    };
    EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(mac);
    size_t len;
    int good = ctx && EVP_MAC_init(ctx, key, 32, params);

    for (size_t i = 0; good && i < count; i++)
        good = pieces[i].len == 0 || EVP_MAC_update(ctx, pieces[i].data, pieces[i].len);
    good = good && EVP_MAC_final(ctx, tag, &len, 32);
    EVP_MAC_CTX_free(ctx);
    EVP_MAC_free(mac);
    return good ? SOTTO_OK : sotto_fail(err, SOTTO_NO_MEMORY, "xof: libcrypto fails at HMAC");
}

sotto_status sotto_xof_hmac_sha256_aes128_init(sotto_xof_aes *x, sotto_bytes dst,
                                               const uint8_t seed[SOTTO_XOF_SEED_SIZE],
                                               sotto_bytes binder, sotto_bytes body, sotto_err *err)
{
    const uint8_t dst_len = (uint8_t)dst.len;
    const sotto_bytes pieces[] = {sotto_bytes_of(&dst_len, 1), dst, binder, body};
    uint8_t tag[32];
    sotto_status status;

    *x = (sotto_xof_aes){.given = BLOCK};
    if (dst.len > SOTTO_XOF_HMAC_MAX_DST)
        return sotto_fail(err, SOTTO_TOO_LARGE, "xof: dst of %zu bytes", dst.len);
    status = hmac_sha256(tag, seed, pieces, sizeof pieces / sizeof pieces[0], err);
    if (status == SOTTO_OK) {
        memcpy(x->start, tag + 16, BLOCK);
        status = set_key(x, tag, err);
    }
    sotto_wipe(tag, sizeof tag);
    return status;
}

static uint64_t load_big_endian(const uint8_t at[8])
{
    uint64_t x = 0;

    for (unsigned i = 0; i < 8; i++)
        x = x << 8 | at[i];
    return x;
}

/* start, with a 64-bit big endian counter added to its second half. */
static void counter_block(uint8_t out[BLOCK], const uint8_t start[BLOCK], uint64_t i)
{
    uint64_t counter = load_big_endian(start + 8) + i;

    memcpy(out, start, 8);
    for (unsigned at = BLOCK; at-- > 8; counter >>= 8)
        out[at] = (uint8_t)counter;
}

/* sigma(start ^ le128(i)), where sigma(lo || hi) = hi || (hi ^ lo). */
static void sigma_block(uint8_t out[BLOCK], const uint8_t start[BLOCK], uint64_t i)
{
    uint64_t lo = sotto_keccak_load(start) ^ i, hi = sotto_keccak_load(start + 8);

    sotto_keccak_store(out, hi);
    sotto_keccak_store(out + 8, hi ^ lo);
}

/* The next count blocks, at most BATCH. */
static sotto_status make_blocks(sotto_xof_aes *x, uint8_t *out, size_t count, sotto_err *err)
{
    uint8_t in[BATCH * BLOCK];
    int len = (int)(count * BLOCK), done = 0;
    sotto_status status = SOTTO_OK;

    for (size_t b = 0; b < count; b++)
        (x->hashed ? sigma_block : counter_block)(in + b * BLOCK, x->start, x->blocks + b);
    if (EVP_EncryptUpdate(x->cipher, out, &done, in, len) != 1 || done != len)
        status = sotto_fail(err, SOTTO_BUG, "xof: libcrypto fails at AES-128");
    for (size_t i = 0; x->hashed && i < count * BLOCK; i++)
        out[i] ^= in[i];
    x->blocks += count;
    sotto_wipe(in, count * BLOCK);
    return status;
}

sotto_status sotto_xof_aes_next(sotto_xof_aes *x, uint8_t *out, size_t len, sotto_err *err)
{
    while (len > 0) {
        size_t give;

        if (x->given == BLOCK && len >= BLOCK) {
            size_t count = len / BLOCK < BATCH ? len / BLOCK : BATCH;

            SOTTO_TRY(make_blocks(x, out, count, err));
            give = count * BLOCK;
        } else {
            if (x->given == BLOCK) {
                SOTTO_TRY(make_blocks(x, x->block, 1, err));
                x->given = 0;
            }
            give = len < BLOCK - x->given ? len : BLOCK - x->given;
            memcpy(out, x->block + x->given, give);
            x->given += (unsigned)give;
        }
        out += give;
        len -= give;
    }
    return SOTTO_OK;
}

void sotto_xof_aes_clear(sotto_xof_aes *x)
{
    EVP_CIPHER_CTX_free(x->cipher); /* wipes its key */
    sotto_wipe(x, sizeof *x);
}
