#include "crypto/aead.h"

#include <limits.h>

#include <openssl/err.h>
#include <openssl/evp.h>

const sotto_aead_info *sotto_aead_find(uint16_t id)
{
    static const sotto_aead_info known[] = {
        {SOTTO_AES128_GCM, "AES-128-GCM", 16},
        {SOTTO_AES256_GCM, "AES-256-GCM", 32},
        {SOTTO_CHACHA20_POLY1305, "ChaCha20-Poly1305", 32},
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].id == id)
            return &known[i];
    return NULL;
}

/* The library queues errors for its thread; they must be cleared here. */
static sotto_status library_failed(const sotto_aead *aead, sotto_err *err)
{
    ERR_clear_error();
    return sotto_fail(err, SOTTO_NO_MEMORY, "%s: the crypto library failed", aead->info->name);
}

sotto_status sotto_aead_init(sotto_aead *aead, const sotto_aead_info *info,
                             sotto_aead_direction direction, sotto_err *err)
{
    *aead = (sotto_aead){.info = info, .direction = direction};

    /* Looked up by hand: EVP_aes_128_gcm() would be looked up again at each initialisation. */
    EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, info->name, NULL);
    if (!cipher) {
        ERR_clear_error();
        return sotto_fail(err, SOTTO_MISSING, "%s: not offered by the crypto library", info->name);
    }
    aead->cipher = EVP_CIPHER_CTX_new();
    int ok = aead->cipher && EVP_CipherInit_ex2(aead->cipher, cipher, NULL, NULL,
                                                direction == SOTTO_AEAD_SEAL, NULL);
    EVP_CIPHER_free(cipher); /* the context holds its own reference */
    return ok ? SOTTO_OK : library_failed(aead, err);
}

void sotto_aead_clear(sotto_aead *aead)
{
    EVP_CIPHER_CTX_free(aead->cipher);
    *aead = (sotto_aead){0};
}

sotto_status sotto_aead_set_key(sotto_aead *aead, const uint8_t *key, sotto_err *err)
{
    int sealing = aead->direction == SOTTO_AEAD_SEAL;

    if (!EVP_CipherInit_ex2(aead->cipher, NULL, key, NULL, sealing, NULL))
        return library_failed(aead, err);
    return SOTTO_OK;
}

static sotto_status check_sizes(const sotto_buf *out, size_t appended, sotto_bytes aad, size_t text,
                                sotto_err *err)
{
    /* The library counts in int. Both ciphers allow more, but no message of ours comes near. */
    if (aad.len > INT_MAX || text > INT_MAX)
        return sotto_fail(err, SOTTO_TOO_LARGE, "aead: more than %d bytes", INT_MAX);
    if (appended > out->cap - out->len)
        return sotto_fail(err, SOTTO_TOO_LARGE, "aead: %zu bytes do not fit the output", appended);
    return SOTTO_OK;
}

static int run(sotto_aead *aead, uint8_t *out, const uint8_t *nonce, sotto_bytes aad,
               const sotto_bytes *pieces, size_t count)
{
    int sealing = aead->direction == SOTTO_AEAD_SEAL, written = 0;

    if (!EVP_CipherInit_ex2(aead->cipher, NULL, NULL, nonce, sealing, NULL))
        return 0;
    if (aad.len && !EVP_CipherUpdate(aead->cipher, NULL, &written, aad.data, (int)aad.len))
        return 0;
    for (size_t i = 0; i < count; i++) {
        if (pieces[i].len == 0)
            continue;
        if (!EVP_CipherUpdate(aead->cipher, out, &written, pieces[i].data, (int)pieces[i].len))
            return 0;
        out += pieces[i].len;
    }
    return 1;
}

sotto_status sotto_aead_seal_pieces(sotto_aead *aead, sotto_buf *out,
                                    const uint8_t nonce[SOTTO_AEAD_NONCE_SIZE], sotto_bytes aad,
                                    const sotto_bytes *pieces, size_t count, sotto_err *err)
{
    size_t len = 0;
    uint8_t nothing[SOTTO_AEAD_TAG_SIZE];
    int written = 0;

    if (aead->direction != SOTTO_AEAD_SEAL)
        return sotto_fail(err, SOTTO_BUG, "aead: this one opens");
    for (size_t i = 0; i < count; i++) {
        if (pieces[i].len > SIZE_MAX / 2 - len)
            return sotto_fail(err, SOTTO_TOO_LARGE, "aead: more than memory holds");
        len += pieces[i].len;
    }
    SOTTO_TRY(check_sizes(out, len + SOTTO_AEAD_TAG_SIZE, aad, len, err));
    uint8_t *at = out->data + out->len;
    if (!run(aead, at, nonce, aad, pieces, count) ||
        !EVP_CipherFinal_ex(aead->cipher, nothing, &written) ||
        !EVP_CIPHER_CTX_ctrl(aead->cipher, EVP_CTRL_AEAD_GET_TAG, SOTTO_AEAD_TAG_SIZE, at + len)) {
        sotto_wipe(at, len + SOTTO_AEAD_TAG_SIZE);
        return library_failed(aead, err);
    }
    out->len += len + SOTTO_AEAD_TAG_SIZE;
    return SOTTO_OK;
}

sotto_status sotto_aead_seal(sotto_aead *aead, sotto_buf *out,
                             const uint8_t nonce[SOTTO_AEAD_NONCE_SIZE], sotto_bytes aad,
                             sotto_bytes plain, sotto_err *err)
{
    return sotto_aead_seal_pieces(aead, out, nonce, aad, &plain, 1, err);
}

sotto_status sotto_aead_open(sotto_aead *aead, sotto_buf *out,
                             const uint8_t nonce[SOTTO_AEAD_NONCE_SIZE], sotto_bytes aad,
                             sotto_bytes sealed, sotto_err *err)
{
    uint8_t tag[SOTTO_AEAD_TAG_SIZE], nothing[SOTTO_AEAD_TAG_SIZE];
    uint8_t unwritten[1]; /* an empty output may be NULL */
    int written = 0;

    if (aead->direction != SOTTO_AEAD_OPEN)
        return sotto_fail(err, SOTTO_BUG, "aead: this one seals");
    if (sealed.len < SOTTO_AEAD_TAG_SIZE)
        return sotto_fail(err, SOTTO_MALFORMED, "ciphertext: shorter than its tag");
    const sotto_bytes text = sotto_bytes_of(sealed.data, sealed.len - SOTTO_AEAD_TAG_SIZE);
    SOTTO_TRY(check_sizes(out, text.len, aad, text.len, err));
    for (size_t i = 0; i < sizeof tag; i++)
        tag[i] =
            sealed.data[text.len + i]; /* the library takes it through a pointer to non-const */

    uint8_t *at = text.len ? out->data + out->len : unwritten;
    if (!run(aead, at, nonce, aad, &text, 1) ||
        !EVP_CIPHER_CTX_ctrl(aead->cipher, EVP_CTRL_AEAD_SET_TAG, sizeof tag, tag)) {
        sotto_wipe(at, text.len);
        return library_failed(aead, err);
    }
    if (!EVP_CipherFinal_ex(aead->cipher, nothing, &written)) {
        sotto_wipe(at, text.len);
        ERR_clear_error();
        return sotto_fail(err, SOTTO_REJECTED, "ciphertext: does not open");
    }
    out->len += text.len;
    return SOTTO_OK;
}
