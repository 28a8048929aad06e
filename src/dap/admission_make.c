/* A token on a report that is about to be sealed. */
#include "dap/admission.h"

#include "base/arena.h"
#include "base/declassify.h"
#include "crypto/hash.h"

#include <string.h>

static void nonce_of(uint8_t nonce[SOTTO_TOKEN_NONCE], const uint8_t once_key[SOTTO_SIGN_PUBLIC])
{
    sotto_hash_once(nonce, SOTTO_SHA256, sotto_bytes_of(once_key, SOTTO_SIGN_PUBLIC));
}

sotto_status sotto_admission_nonce(uint8_t nonce[SOTTO_TOKEN_NONCE],
                                   const uint8_t seed[SOTTO_SIGN_SEED], sotto_err *err)
{
    sotto_signer signer = {0};

    const sotto_status status = sotto_signer_init(&signer, seed, err);
    if (status == SOTTO_OK)
        nonce_of(nonce, signer.public_key);
    sotto_signer_clear(&signer);
    return status;
}

/* A list of one extension, in the arena. */
static sotto_status make_list(sotto_bytes *out, uint16_t type, sotto_bytes data, sotto_arena *arena,
                              sotto_err *err)
{
    sotto_buf list;
    sotto_writer w;

    SOTTO_TRY(sotto_buf_take(&list, arena, 4 + data.len, err));
    w = sotto_writer_on(&list);
    sotto_extension_write(&w, &(sotto_extension){type, data});
    SOTTO_TRY(sotto_writer_finish(&w, "report extensions", err));
    *out = sotto_buf_bytes(&list);
    return SOTTO_OK;
}

static sotto_status put_token(sotto_report_draft *draft, sotto_bytes token,
                              const sotto_signer *signer, sotto_arena *arena, sotto_err *err)
{
    uint8_t memory[SOTTO_ADMISSION_DATA], nonce[SOTTO_TOKEN_NONCE];
    sotto_buf data = sotto_buf_over(memory, sizeof memory);
    sotto_admission read;

    if (token.len != SOTTO_TYPE2_TOKEN)
        return sotto_fail(err, SOTTO_MALFORMED, "admission: a token of %zu bytes", token.len);
    SOTTO_TRY(sotto_admission_encode(&data, token, signer->public_key, err));
    SOTTO_TRY(sotto_admission_decode(&read, sotto_buf_bytes(&data), err));
    nonce_of(nonce, signer->public_key);
    SOTTO_DECLASSIFY(nonce, sizeof nonce); /* public with the report, as its key is */
    if (memcmp(nonce, read.token.nonce, sizeof nonce) != 0)
        return sotto_fail(err, SOTTO_REJECTED, "admission: the token is of another one-time key");
    return make_list(&draft->metadata.public_extensions, SOTTO_EXTENSION_TOKEN,
                     sotto_buf_bytes(&data), arena, err);
}

/* Both shares have the same AAD. */
static sotto_status sign_shares(sotto_report_draft *draft, const sotto_signer *signer,
                                sotto_bytes aad, sotto_arena *arena, sotto_err *err)
{
    for (unsigned who = 0; who < SOTTO_REPORT_SHARES; who++) {
        sotto_plaintext_input_share *share = &draft->shares[who];
        uint8_t text[SOTTO_ADMISSION_SIGNED], signature[SOTTO_SIGNATURE];

        sotto_admission_signed(text, who, aad, share->payload);
        SOTTO_TRY(sotto_sign(signer, signature, sotto_bytes_of(text, sizeof text), err));
        SOTTO_TRY(make_list(&share->private_extensions, SOTTO_EXTENSION_TOKEN_BINDING,
                            sotto_bytes_of(signature, sizeof signature), arena, err));
    }
    return SOTTO_OK;
}

sotto_status sotto_admission_attach(sotto_report_draft *draft, sotto_bytes token,
                                    const uint8_t seed[SOTTO_SIGN_SEED], sotto_arena *arena,
                                    sotto_err *err)
{
    sotto_signer signer = {0};
    sotto_buf aad;

    if (draft->metadata.public_extensions.len > 0 || draft->shares[0].private_extensions.len > 0 ||
        draft->shares[1].private_extensions.len > 0)
        return sotto_fail(err, SOTTO_BUG, "admission: the report has extensions already");
    sotto_status status = sotto_signer_init(&signer, seed, err);
    if (status == SOTTO_OK)
        status = put_token(draft, token, &signer, arena, err);
    if (status == SOTTO_OK)
        status = sotto_buf_take(&aad, arena, sotto_report_aad_size(draft), err);
    if (status == SOTTO_OK)
        status = sotto_report_aad_encode(&aad, draft, err);
    if (status == SOTTO_OK)
        status = sign_shares(draft, &signer, sotto_buf_bytes(&aad), arena, err);
    sotto_signer_clear(&signer);
    return status;
}
