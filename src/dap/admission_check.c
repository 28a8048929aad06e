/* Whether a report may be taken: what leader and helper each find out by themselves. */
#include "dap/admission.h"

#include "crypto/hash.h"

#include <string.h>

sotto_status sotto_admission_check(const sotto_admission *admission, sotto_type2_key *key,
                                   const uint8_t challenge[SOTTO_TOKEN_DIGEST], sotto_err *err)
{
    uint8_t nonce[SOTTO_TOKEN_NONCE];

    sotto_hash_once(nonce, SOTTO_SHA256, sotto_bytes_of(admission->once_key, SOTTO_SIGN_PUBLIC));
    if (memcmp(nonce, admission->token.nonce, sizeof nonce) != 0)
        return sotto_fail(err, SOTTO_REJECTED, "admission: the token is of another one-time key");
    return sotto_type2_verify(key, &admission->token, challenge, err);
}

static sotto_status find_signature(sotto_bytes *out, sotto_bytes private_extensions, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(private_extensions);
    sotto_extension extension;

    while (sotto_extensions_next(&in, &extension)) {
        if (extension.type != SOTTO_EXTENSION_TOKEN_BINDING)
            continue;
        *out = extension.data;
        return out->len == SOTTO_SIGNATURE
                   ? SOTTO_OK
                   : sotto_fail(err, SOTTO_MALFORMED, "admission: a signature of %zu bytes",
                                out->len);
    }
    return sotto_fail(err, SOTTO_MISSING, "admission: the share is not signed");
}

sotto_status sotto_admission_check_share(const sotto_admission *admission, unsigned who,
                                         sotto_bytes aad, const sotto_plaintext_input_share *plain,
                                         sotto_err *err)
{
    uint8_t text[SOTTO_ADMISSION_SIGNED];
    sotto_bytes signature;

    SOTTO_TRY(find_signature(&signature, plain->private_extensions, err));
    sotto_admission_signed(text, who, aad, plain->payload);
    const sotto_status status = sotto_signature_check(admission->once_key, signature.data,
                                                      sotto_bytes_of(text, sizeof text), NULL);
    if (status == SOTTO_NO_MEMORY)
        return sotto_fail(err, status, "admission: the crypto library failed");
    if (status != SOTTO_OK)
        return sotto_fail(err, SOTTO_REJECTED,
                          "admission: the token's holder did not make this share");
    return SOTTO_OK;
}
