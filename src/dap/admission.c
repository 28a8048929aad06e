/* The extension that carries a token, and the bytes that both sides derive. */
#include "dap/admission.h"

#include "crypto/hash.h"

#include <string.h>

const uint16_t sotto_admission_types[SOTTO_ADMISSION_TYPES] = {SOTTO_EXTENSION_TOKEN,
                                                               SOTTO_EXTENSION_TOKEN_BINDING};

/* ---- the challenge --------------------------------------------------------------------------------------------- */

static void context_of(uint8_t out[32], const sotto_admission_collection *c)
{
    static const char label[] = "sotto collection 1";
    uint8_t memory[sizeof label - 1 + SOTTO_TOKEN_KEY_ID + 8 + 8];
    sotto_buf buf = sotto_buf_over(memory, sizeof memory);
    sotto_writer w = sotto_writer_on(&buf);

    sotto_write_bytes(&w, sotto_bytes_of(label, sizeof label - 1));
    sotto_write_bytes(&w, sotto_bytes_of(c->key_id, sizeof c->key_id));
    sotto_write_uint(&w, c->opens, 8);
    sotto_write_uint(&w, c->closes, 8);
    sotto_hash_once(out, SOTTO_SHA256, sotto_bytes_of(memory, sizeof memory));
}

sotto_status sotto_admission_challenge(uint8_t out[SOTTO_TOKEN_DIGEST],
                                       const sotto_admission_collection *collection, sotto_err *err)
{
    enum { MOST = 255 };
    uint8_t context[32], memory[2 + 2 + MOST + 1 + sizeof context + 2];
    sotto_buf wire = sotto_buf_over(memory, sizeof memory);
    const sotto_token_challenge challenge = {.type = SOTTO_TOKEN_BLIND_RSA,
                                             .issuer = collection->issuer,
                                             .context = {context, sizeof context}};

    if (collection->issuer.len > MOST)
        return sotto_fail(err, SOTTO_MALFORMED, "token challenge: the issuer's name is too long");
    context_of(context, collection);
    SOTTO_TRY(sotto_token_challenge_encode(&wire, &challenge, err));
    sotto_token_challenge_digest(out, sotto_buf_bytes(&wire));
    return SOTTO_OK;
}

/* ---- the extension --------------------------------------------------------------------------------------------- */

sotto_status sotto_admission_decode(sotto_admission *out, sotto_bytes data, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(data);
    const uint16_t type = (uint16_t)sotto_read_uint(&in, 2);
    const size_t wanted = type == SOTTO_TOKEN_ARC ? SOTTO_ARC_ADMISSION_DATA : SOTTO_ADMISSION_DATA;

    if (type != SOTTO_TOKEN_BLIND_RSA && type != SOTTO_TOKEN_ARC && !in.short_read)
        return sotto_fail(err, SOTTO_MISSING, "admission: a token of another type");
    if (data.len != wanted)
        return sotto_fail(err, SOTTO_MALFORMED, "admission: %zu bytes instead of %zu", data.len,
                          wanted);
    *out = (sotto_admission){.type = type};
    if (type == SOTTO_TOKEN_ARC) {
        out->once_key = data.data + 2;
        out->shown[0] = out->once_key + SOTTO_ONCE_KEY;
        out->shown[1] = out->shown[0] + SOTTO_ARC_SHOWN;
        return SOTTO_OK;
    }
    out->once_key = data.data + SOTTO_TYPE2_TOKEN;
    return sotto_token_decode(&out->token, sotto_bytes_of(data.data, SOTTO_TYPE2_TOKEN), err);
}

sotto_status sotto_admission_encode(sotto_buf *out, sotto_bytes token,
                                    const uint8_t once_key[SOTTO_ONCE_KEY], sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_bytes(&w, token);
    sotto_write_bytes(&w, sotto_bytes_of(once_key, SOTTO_ONCE_KEY));
    return sotto_writer_finish(&w, "admission", err);
}

sotto_status sotto_admission_find(sotto_admission *out, sotto_bytes public_extensions,
                                  sotto_err *err)
{
    sotto_reader in = sotto_reader_over(public_extensions);
    sotto_extension extension;

    while (sotto_extensions_next(&in, &extension))
        if (extension.type == SOTTO_EXTENSION_TOKEN)
            return sotto_admission_decode(out, extension.data, err);
    return sotto_fail(err, SOTTO_MISSING, "admission: the report has no token");
}

/* ---- the MAC ----------------------------------------------------------------------------------------------------- */

void sotto_admission_mac(uint8_t out[SOTTO_ADMISSION_MAC], sotto_bytes secret, unsigned who,
                         sotto_bytes aad, sotto_bytes payload)
{
    static const char label[] = "sotto admitted share 2";
    uint8_t text[sizeof label - 1 + 1 + 2 * 32], *at = text + sizeof label - 1;

    memcpy(text, label, sizeof label - 1);
    *at++ = who == SOTTO_REPORT_LEADER ? SOTTO_DAP_LEADER : SOTTO_DAP_HELPER;
    sotto_hash_once(at, SOTTO_SHA256, aad);
    sotto_hash_once(at + 32, SOTTO_SHA256, payload);
    sotto_hmac_once(out, SOTTO_SHA256, secret, sotto_bytes_of(text, sizeof text));
}
