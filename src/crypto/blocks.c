#include "crypto/blocks.h"

#include <openssl/err.h>
#include <openssl/evp.h>

enum { AT_ONCE = 1 << 20 };

sotto_status sotto_blocks_encrypt(const uint8_t key[32], uint8_t *blocks, size_t count,
                                  sotto_err *err)
{
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    int ok = cipher && EVP_EncryptInit_ex(cipher, EVP_aes_256_ecb(), NULL, key, NULL) > 0 &&
             EVP_CIPHER_CTX_set_padding(cipher, 0) > 0;

    for (size_t done = 0; done < count && ok > 0;) {
        size_t part = count - done < AT_ONCE ? count - done : AT_ONCE;
        int written = 0;

        ok = EVP_EncryptUpdate(cipher, blocks + 16 * done, &written, blocks + 16 * done,
                               (int)(16 * part));
        done += part;
    }
    EVP_CIPHER_CTX_free(cipher);
    if (ok > 0)
        return SOTTO_OK;
    ERR_clear_error();
    return sotto_fail(err, SOTTO_NO_MEMORY, "AES-256: the crypto library failed");
}
