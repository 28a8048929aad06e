/* RSA keys for the issuers of tests. To find two primes takes longer than all that a test does with them, and no test of a server is
 * about that. The n-th key that a process asks for is the n-th of build/rsa-keys, made by whoever needs it first. Linked with
 * --wrap=sotto_rsa_private_generate; tests/crypto and the programs generate keys as the product does. */
#define _POSIX_C_SOURCE 200809L

#include "crypto/rsa.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

sotto_status __real_sotto_rsa_private_generate(sotto_rsa_private *key, unsigned bits,
                                               sotto_err *err);
sotto_status __wrap_sotto_rsa_private_generate(sotto_rsa_private *key, unsigned bits,
                                               sotto_err *err);

static bool read_key(const char *path, sotto_rsa_private *key)
{
    uint8_t der[SOTTO_RSA_DER_MAX];
    FILE *file = fopen(path, "rb");

    if (!file)
        return false;
    const size_t len = fread(der, 1, sizeof der, file);
    (void)fclose(file);
    return sotto_rsa_private_decode(key, sotto_bytes_of(der, len), NULL) == SOTTO_OK;
}

/* Others may do so at the same time: a file is there whole, or not at all. */
static void keep_key(const char *path, const sotto_rsa_private *key)
{
    uint8_t der[SOTTO_RSA_DER_MAX];
    sotto_buf out = sotto_buf_over(der, sizeof der);
    char own[512];

    (void)snprintf(own, sizeof own, "%s.%ld", path, (long)getpid());
    if (sotto_rsa_private_encode(key, &out, NULL) != SOTTO_OK)
        return;
    FILE *file = fopen(own, "wb");
    if (!file)
        return;
    const bool whole = fwrite(der, 1, out.len, file) == out.len;
    if (fclose(file) != 0 || !whole || rename(own, path) != 0)
        (void)unlink(own);
}

sotto_status __wrap_sotto_rsa_private_generate(sotto_rsa_private *key, unsigned bits,
                                               sotto_err *err)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static unsigned asked;
    sotto_status status = SOTTO_OK;
    char path[400];

    (void)pthread_mutex_lock(&lock);
    (void)mkdir(SOTTO_SOURCE "/build/rsa-keys", 0700);
    (void)snprintf(path, sizeof path, "%s/build/rsa-keys/%u-%u.der", SOTTO_SOURCE, bits, asked++);
    if (!read_key(path, key)) {
        status = __real_sotto_rsa_private_generate(key, bits, err);
        if (status == SOTTO_OK)
            keep_key(path, key);
    }
    (void)pthread_mutex_unlock(&lock);
    return status;
}
