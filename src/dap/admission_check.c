/* Whether a report may be taken: what leader and helper each find out by themselves. */
#include "dap/admission.h"

#include "base/declassify.h"
#include "crypto/hash.h"

#include <string.h>

sotto_status sotto_admission_check(const sotto_admission *admission, sotto_type2_key *key,
                                   const uint8_t challenge[SOTTO_TOKEN_DIGEST], sotto_err *err)
{
    uint8_t nonce[SOTTO_TOKEN_NONCE];

    if (admission->type != SOTTO_TOKEN_BLIND_RSA)
        return sotto_fail(err, SOTTO_REJECTED, "admission: not a token of type 2");
    sotto_hash_once(nonce, SOTTO_SHA256, sotto_bytes_of(admission->once_key, SOTTO_ONCE_KEY));
    if (memcmp(nonce, admission->token.nonce, sizeof nonce) != 0)
        return sotto_fail(err, SOTTO_REJECTED, "admission: the token is of another one-time key");
    return sotto_type2_verify(key, &admission->token, challenge, err);
}

static sotto_status find_mac(sotto_bytes *out, sotto_bytes private_extensions, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(private_extensions);
    sotto_extension extension;

    while (sotto_extensions_next(&in, &extension)) {
        if (extension.type != SOTTO_EXTENSION_TOKEN_BINDING)
            continue;
        *out = extension.data;
        return out->len == SOTTO_ADMISSION_MAC
                   ? SOTTO_OK
                   : sotto_fail(err, SOTTO_MALFORMED, "admission: a MAC of %zu bytes", out->len);
    }
    return sotto_fail(err, SOTTO_MISSING, "admission: the share has no MAC");
}

sotto_status sotto_admission_check_share(unsigned who, sotto_hpke_receiver *receiver,
                                         const sotto_agreement *with, sotto_bytes aad,
                                         const sotto_plaintext_input_share *plain, sotto_err *err)
{
    uint8_t secret[SOTTO_KEM_MAX_SECRET], wanted[SOTTO_ADMISSION_MAC];
    sotto_bytes mac;
    size_t len;
    bool same = false;

    SOTTO_TRY(find_mac(&mac, plain->private_extensions, err));
    /* A one-time key of small order agrees on nothing. */
    const sotto_status status = sotto_hpke_receiver_decap(receiver, secret, &len, with, NULL);
    if (status == SOTTO_OK) {
        sotto_admission_mac(wanted, sotto_bytes_of(secret, len), who, aad, plain->payload);
        same = sotto_bytes_equal(mac, sotto_bytes_of(wanted, sizeof wanted));
        SOTTO_DECLASSIFY(&same, sizeof same); /* the sender is told */
    }
    sotto_wipe(secret, sizeof secret);
    sotto_wipe(wanted, sizeof wanted); /* what the sender would have had to know */
    if (status == SOTTO_NO_MEMORY)
        return sotto_fail(err, status, "admission: the crypto library failed");
    if (!same)
        return sotto_fail(err, SOTTO_REJECTED,
                          "admission: the token's holder did not make this share");
    return SOTTO_OK;
}
