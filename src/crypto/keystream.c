#include "crypto/keystream.h"

#include <string.h>

#include <openssl/err.h>
#include <openssl/evp.h>

enum { AT_ONCE = 16384, SHORT_KEY = 16, NONCE = 8 };

static sotto_status library_failed(sotto_err *err)
{
    ERR_clear_error();
    return sotto_fail(err, SOTTO_NO_MEMORY, "AES in counter mode: the crypto library failed");
}

static sotto_status init(sotto_keystream *stream, const char *name, size_t nonce, sotto_err *err)
{
    stream->nonce = nonce;
    stream->cipher = EVP_CIPHER_CTX_new();
    EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, name, NULL);
    int ok = stream->cipher && cipher &&
             EVP_EncryptInit_ex2(stream->cipher, cipher, NULL, NULL, NULL) > 0;

    EVP_CIPHER_free(cipher); /* the context holds its own reference */
    return ok ? SOTTO_OK : library_failed(err);
}

sotto_status sotto_keystream_init(sotto_keystream *stream, sotto_err *err)
{
    return init(stream, "AES-256-CTR", 0, err);
}

sotto_status sotto_keystream_init_long(sotto_keystream *stream, sotto_err *err)
{
    return init(stream, "AES-128-CTR", NONCE, err);
}

void sotto_keystream_clear(sotto_keystream *stream)
{
    EVP_CIPHER_CTX_free(stream->cipher);
    stream->cipher = NULL;
}

sotto_status sotto_keystream_seed(sotto_keystream *stream, const uint8_t seed[SOTTO_KEYSTREAM_SEED],
                                  sotto_err *err)
{
    return sotto_keystream_seek(stream, seed, 0, err);
}

sotto_status sotto_keystream_seek(sotto_keystream *stream, const uint8_t seed[SOTTO_KEYSTREAM_SEED],
                                  uint64_t block, sotto_err *err)
{
    uint8_t counter[16] = {0};

    memcpy(counter, seed + SHORT_KEY, stream->nonce);
    for (unsigned i = 0; i < 8; i++)
        counter[15 - i] = (uint8_t)(block >> 8 * i);
    const int ok = EVP_EncryptInit_ex2(stream->cipher, NULL, seed, counter, NULL);
    sotto_wipe(counter, sizeof counter);
    return ok > 0 ? SOTTO_OK : library_failed(err);
}

sotto_status sotto_keystream_next(sotto_keystream *stream, uint8_t *out, size_t len, sotto_err *err)
{
    static const uint8_t zeros[AT_ONCE];
    int written = 0;

    for (size_t done = 0; done < len; done += (size_t)written) {
        size_t part = len - done < AT_ONCE ? len - done : AT_ONCE;

        if (EVP_EncryptUpdate(stream->cipher, out + done, &written, zeros, (int)part) <= 0 ||
            (size_t)written != part)
            return library_failed(err);
    }
    return SOTTO_OK;
}
