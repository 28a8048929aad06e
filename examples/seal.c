/* Sealing a message to the holder of a key. */
#include <stdio.h>
#include <string.h>

#include <sotto/random.h>
#include <sotto/seal.h>

static const char text[] = "for your eyes only";

static sotto_status run(sotto_buf *opened, sotto_err *err)
{
    const sotto_bytes info = sotto_bytes_of("my application v1", 17),
                      aad = sotto_bytes_of("id 7", 4);
    uint8_t ikm[32], wire[256];
    sotto_buf sealed = sotto_buf_over(wire, sizeof wire);
    sotto_hpke_key key;

    /* Receiver: a key pair; its public half is published as a configuration. */
    SOTTO_TRY(sotto_random_bytes(ikm, sizeof ikm, err));
    SOTTO_TRY(
        sotto_hpke_key_derive(&key, SOTTO_HPKE_KEM_X25519, sotto_bytes_of(ikm, sizeof ikm), err));
    sotto_hpke_config published =
        sotto_hpke_config_of(&key, 1, SOTTO_HPKE_KDF_SHA256, SOTTO_HPKE_AEAD_AES128_GCM);

    /* Sender: fresh randomness for each message. */
    SOTTO_TRY(sotto_random_bytes(ikm, sizeof ikm, err));
    SOTTO_TRY(sotto_hpke_seal(&sealed, &published, sotto_bytes_of(ikm, sizeof ikm), info, aad,
                              sotto_bytes_of(text, sizeof text), err));

    /* Receiver: the encapsulated key is as long as a public key, the rest is the ciphertext. */
    size_t enc = key.public_key_len;
    SOTTO_TRY(sotto_hpke_unseal(opened, &key, published.suite, info, sotto_bytes_of(wire, enc), aad,
                                sotto_bytes_of(wire + enc, sealed.len - enc), err));
    sotto_wipe(&key, sizeof key);
    sotto_wipe(ikm, sizeof ikm);
    return SOTTO_OK;
}

int main(void)
{
    uint8_t plain[64];
    sotto_buf opened = sotto_buf_over(plain, sizeof plain);
    sotto_err err = {SOTTO_OK, ""};
    sotto_status status = run(&opened, &err);

    if (status != SOTTO_OK) {
        (void)fprintf(stderr, "seal: %s: %s\n", sotto_status_name(status), err.reason);
        return 1;
    }
    printf("%s\n", (const char *)plain);
    return opened.len == sizeof text && memcmp(plain, text, sizeof text) == 0 ? 0 : 1;
}
