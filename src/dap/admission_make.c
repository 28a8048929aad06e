/* A token on a report that is about to be sealed. */
#include "dap/admission.h"

#include "base/arena.h"
#include "base/declassify.h"
#include "crypto/hash.h"
#include "seal/hpke/dhkem.h"

#include <string.h>

/* Opens a one-time key, whose public half the report shows. Clear it, also after a failure. */
static sotto_status open_once(sotto_dh *once, sotto_bytes seed, sotto_err *err)
{
    const sotto_status status = sotto_dh_init(once, sotto_kem_find(SOTTO_KEM_X25519), seed, err);

    if (status == SOTTO_OK)
        SOTTO_DECLASSIFY(once->public_key, SOTTO_ONCE_KEY);
    return status;
}

sotto_status sotto_admission_once_key(uint8_t key[SOTTO_ONCE_KEY], sotto_bytes seed, sotto_err *err)
{
    sotto_dh once;

    const sotto_status status = open_once(&once, seed, err);
    if (status == SOTTO_OK)
        memcpy(key, once.public_key, SOTTO_ONCE_KEY);
    sotto_dh_clear(&once);
    return status;
}

sotto_status sotto_admission_nonce(uint8_t nonce[SOTTO_TOKEN_NONCE],
                                   const uint8_t seed[SOTTO_ONCE_SEED], sotto_err *err)
{
    sotto_dh once;

    const sotto_status status = open_once(&once, sotto_bytes_of(seed, SOTTO_ONCE_SEED), err);
    if (status == SOTTO_OK)
        sotto_hash_once(nonce, SOTTO_SHA256, sotto_bytes_of(once.public_key, SOTTO_ONCE_KEY));
    sotto_dh_clear(&once);
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
                              const uint8_t key[SOTTO_ONCE_KEY], sotto_arena *arena, sotto_err *err)
{
    uint8_t memory[SOTTO_ADMISSION_DATA], nonce[SOTTO_TOKEN_NONCE];
    sotto_buf data = sotto_buf_over(memory, sizeof memory);
    sotto_admission read;

    if (token.len != SOTTO_TYPE2_TOKEN)
        return sotto_fail(err, SOTTO_MALFORMED, "admission: a token of %zu bytes", token.len);
    SOTTO_TRY(sotto_admission_encode(&data, token, key, err));
    SOTTO_TRY(sotto_admission_decode(&read, sotto_buf_bytes(&data), err));
    sotto_hash_once(nonce, SOTTO_SHA256, sotto_bytes_of(key, SOTTO_ONCE_KEY));
    if (memcmp(nonce, read.token.nonce, sizeof nonce) != 0)
        return sotto_fail(err, SOTTO_REJECTED, "admission: the token is of another one-time key");
    return make_list(&draft->metadata.public_extensions, SOTTO_EXTENSION_TOKEN,
                     sotto_buf_bytes(&data), arena, err);
}

/* The MAC of what the one-time key and the server's key agree on. */
static sotto_status bind_with(sotto_report_draft *draft, unsigned who, sotto_dh *once,
                              const sotto_hpke_config *to, sotto_arena *arena, sotto_err *err)
{
    uint8_t secret[SOTTO_KEM_MAX_SECRET], mac[SOTTO_ADMISSION_MAC];
    sotto_plaintext_input_share *share = &draft->shares[who];
    sotto_buf aad;

    if (to->suite.kem != SOTTO_KEM_X25519)
        return sotto_fail(err, SOTTO_DENIED, "admission: a server's key is not one of X25519");
    SOTTO_TRY(sotto_buf_take(&aad, arena, sotto_report_aad_size(draft), err));
    SOTTO_TRY(sotto_report_aad_encode(&aad, draft, err));
    sotto_status status = sotto_dhkem_encap_with(secret, once, to->public_key, err);
    if (status == SOTTO_OK) {
        sotto_admission_mac(mac, sotto_bytes_of(secret, SOTTO_ADMISSION_MAC), who,
                            sotto_buf_bytes(&aad), share->payload);
        status = make_list(&share->private_extensions, SOTTO_EXTENSION_TOKEN_BINDING,
                           sotto_bytes_of(mac, sizeof mac), arena, err);
    }
    sotto_wipe(secret, sizeof secret);
    return status;
}

sotto_status sotto_admission_bare(const sotto_report_draft *draft, sotto_err *err)
{
    if (draft->metadata.public_extensions.len > 0 || draft->shares[0].private_extensions.len > 0 ||
        draft->shares[1].private_extensions.len > 0)
        return sotto_fail(err, SOTTO_BUG, "admission: the report has extensions already");
    return SOTTO_OK;
}

sotto_status sotto_admission_bind(sotto_report_draft *draft, unsigned who, sotto_bytes seed,
                                  const sotto_hpke_config *to, sotto_arena *arena, sotto_err *err)
{
    sotto_dh once;

    if (seed.len != SOTTO_ONCE_SEED)
        return sotto_fail(err, SOTTO_MALFORMED, "admission: a seed of %zu bytes", seed.len);
    sotto_status status = open_once(&once, seed, err);
    if (status == SOTTO_OK)
        status = bind_with(draft, who, &once, to, arena, err);
    sotto_dh_clear(&once);
    return status;
}

/* One key pair for the nonce and both agreements: each opening computes the public half. */
sotto_status sotto_admission_attach(sotto_report_draft *draft, sotto_bytes token,
                                    const uint8_t seed[SOTTO_ONCE_SEED],
                                    const sotto_hpke_config to[SOTTO_REPORT_SHARES],
                                    sotto_arena *arena, sotto_err *err)
{
    sotto_dh once;

    SOTTO_TRY(sotto_admission_bare(draft, err));
    sotto_status status = open_once(&once, sotto_bytes_of(seed, SOTTO_ONCE_SEED), err);
    if (status == SOTTO_OK)
        status = put_token(draft, token, once.public_key, arena, err);
    for (unsigned who = 0; who < SOTTO_REPORT_SHARES && status == SOTTO_OK; who++)
        status = bind_with(draft, who, &once, &to[who], arena, err);
    sotto_dh_clear(&once);
    return status;
}
