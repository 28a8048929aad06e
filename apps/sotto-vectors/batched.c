/* Tokens in batches (draft-ietf-privacypass-batched-tokens): requests of any type in one message, and of VOPRF with one proof for all. */
#include "seal/token/type1.h"
#include "seal/token/type2.h"
#include "token.h"

#include <string.h>

#include "base/hex.h"

enum { BATCH = SOTTO_VOPRF_BATCH, MOST = 4096, PRESENT = 1 };

bool sotto_vectors_batched_knows(const json_t *item)
{
    return json_is_string(json_object_get(item, "token_request")) &&
           (json_is_array(json_object_get(item, "issuance")) ||
            json_is_array(json_object_get(item, "nonces")));
}

/* ---- lengths of QUIC (RFC 9000, 16), of one or two bytes ---------------------------------------------------------- */

static sotto_bytes read_counted(sotto_reader *in)
{
    uint64_t len = sotto_read_uint(in, 1);

    if (len >> 6 == 1)
        len = (len & 0x3f) << 8 | sotto_read_uint(in, 1);
    return sotto_read_bytes(in, (size_t)len);
}

static void write_length(sotto_writer *w, size_t len)
{
    if (len < 64)
        sotto_write_uint(w, len, 1);
    else
        sotto_write_uint(w, 0x4000 | len, 2);
}

/* ---- any types, one behind another -------------------------------------------------------------------------------- */

static sotto_status put_hex(json_t *object, const char *key, sotto_bytes bytes, sotto_err *err)
{
    char digits[2 * SOTTO_TYPE2_TOKEN + 1];

    if (bytes.len > SOTTO_TYPE2_TOKEN)
        return sotto_fail(err, SOTTO_MALFORMED, "%s: too long", key);
    sotto_hex_encode(digits, bytes);
    return json_object_set_new(object, key, json_string(digits)) == 0
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_NO_MEMORY, "%s", key);
}

/* One token of the batch, as if it had been asked for alone. */
static sotto_status check_one(const sotto_token_item *item, const json_t *issuance,
                              sotto_reader *requests, sotto_reader *responses, sotto_err *err)
{
    json_t *alone = json_copy((json_t *)(uintptr_t)issuance);
    const bool rsa = json_object_get(issuance, "salt") != NULL;
    const sotto_token_item one = {alone, item->arena};
    const sotto_bytes request =
        sotto_read_bytes(requests, rsa ? SOTTO_TYPE2_REQUEST : SOTTO_TYPE1_REQUEST);
    const uint64_t present = sotto_read_uint(responses, 1), type = sotto_read_uint(responses, 2);
    const sotto_bytes response =
        sotto_read_bytes(responses, rsa ? SOTTO_TYPE2_RESPONSE : SOTTO_TYPE1_RESPONSE);
    sotto_status status = SOTTO_OK;

    if (present != PRESENT || type != (uint64_t)(rsa ? SOTTO_TOKEN_BLIND_RSA : SOTTO_TOKEN_VOPRF))
        status = sotto_fail(err, SOTTO_REJECTED, "token_response: none of this type");
    if (status == SOTTO_OK)
        status = put_hex(alone, "token_request", request, err);
    if (status == SOTTO_OK)
        status = put_hex(alone, "token_response", response, err);
    if (status == SOTTO_OK)
        status = sotto_vectors_check_token(&one, err);
    json_decref(alone);
    return status;
}

static sotto_status check_generic(const sotto_token_item *item, sotto_err *err)
{
    sotto_bytes request, response;
    json_t *list;

    SOTTO_TRY(sotto_json_get_array(&list, item->json, "issuance", err));
    SOTTO_TRY(sotto_token_get(item, &request, "token_request", 0, err));
    SOTTO_TRY(sotto_token_get(item, &response, "token_response", 0, err));
    sotto_reader asked = sotto_reader_over(request), answered = sotto_reader_over(response);
    sotto_reader requests = sotto_reader_over(read_counted(&asked));
    sotto_reader responses = sotto_reader_over(read_counted(&answered));
    SOTTO_TRY(sotto_reader_finish(&asked, "token_request", err));
    SOTTO_TRY(sotto_reader_finish(&answered, "token_response", err));
    for (size_t i = 0; i < json_array_size(list); i++)
        SOTTO_TRY(check_one(item, json_array_get(list, i), &requests, &responses, err));
    SOTTO_TRY(sotto_reader_finish(&requests, "token_request", err));
    return sotto_reader_finish(&responses, "token_response", err);
}

/* ---- VOPRF, with one proof ------------------------------------------------------------------------------------------ */

typedef struct batch {
    sotto_voprf v;
    size_t count;
    sotto_scalar key, blinds[BATCH];
    uint8_t public_key[SOTTO_TYPE1_POINT], id[SOTTO_TOKEN_KEY_ID];
    uint8_t inputs[BATCH][SOTTO_TOKEN_INPUT];
    uint8_t blinded[BATCH][SOTTO_TYPE1_POINT];
} batch;

static sotto_status hex_of(const sotto_token_item *item, const char *key, size_t i, size_t len,
                           sotto_bytes *out, sotto_err *err)
{
    SOTTO_TRY(sotto_json_hex(out, json_array_get(json_object_get(item->json, key), i), key,
                             item->arena, err));
    return out->len == len ? SOTTO_OK
                           : sotto_fail(err, SOTTO_MALFORMED, "%s: %zu bytes", key, out->len);
}

static sotto_status read_batch(batch *b, const sotto_token_item *item, sotto_err *err)
{
    uint8_t digest[SOTTO_TOKEN_DIGEST];
    sotto_token_challenge challenge;
    sotto_bytes secret, wire, nonce, blind;

    b->count = json_array_size(json_object_get(item->json, "nonces"));
    if (b->count == 0 || b->count > BATCH ||
        b->count != json_array_size(json_object_get(item->json, "blinds")) ||
        b->count != json_array_size(json_object_get(item->json, "tokens")))
        return sotto_fail(err, SOTTO_MALFORMED, "nonces, blinds and tokens: not as many");
    SOTTO_TRY(sotto_token_get(item, &secret, "skS", b->v.group.scalar_size, err));
    if (!sotto_scalar_decode(&b->v.group, &b->key, secret.data))
        return sotto_fail(err, SOTTO_MALFORMED, "skS: no scalar");
    SOTTO_TRY(sotto_voprf_public(&b->v, b->public_key, &b->key, err));
    SOTTO_TRY(sotto_token_compare(item, "pkS", b->public_key, sizeof b->public_key, err));
    SOTTO_TRY(sotto_token_get(item, &wire, "token_challenge", 0, err));
    SOTTO_TRY(sotto_token_challenge_decode(&challenge, wire, err));
    sotto_token_challenge_digest(digest, wire);
    sotto_type1_key_id(b->id, b->public_key);
    for (size_t i = 0; i < b->count; i++) {
        SOTTO_TRY(hex_of(item, "nonces", i, SOTTO_TOKEN_NONCE, &nonce, err));
        SOTTO_TRY(hex_of(item, "blinds", i, b->v.group.scalar_size, &blind, err));
        if (!sotto_scalar_decode(&b->v.group, &b->blinds[i], blind.data))
            return sotto_fail(err, SOTTO_MALFORMED, "blinds: no scalar");
        sotto_token_input(b->inputs[i], SOTTO_TOKEN_VOPRF, nonce.data, digest, b->id);
    }
    return SOTTO_OK;
}

static sotto_status compare_request(batch *b, const sotto_token_item *item, sotto_err *err)
{
    uint8_t memory[MOST];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_writer w = sotto_writer_on(&out);

    sotto_write_uint(&w, SOTTO_TOKEN_VOPRF, 2);
    sotto_write_uint(&w, b->id[SOTTO_TOKEN_KEY_ID - 1], 1);
    write_length(&w, b->count * SOTTO_TYPE1_POINT);
    for (size_t i = 0; i < b->count; i++) {
        SOTTO_TRY(sotto_voprf_blind(&b->v, b->blinded[i],
                                    sotto_bytes_of(b->inputs[i], SOTTO_TOKEN_INPUT), &b->blinds[i],
                                    err));
        sotto_write_bytes(&w, sotto_bytes_of(b->blinded[i], SOTTO_TYPE1_POINT));
    }
    SOTTO_TRY(sotto_writer_finish(&w, "token_request", err));
    return sotto_token_compare(item, "token_request", memory, out.len, err);
}

static sotto_status compare_tokens(batch *b, const sotto_token_item *item, const uint8_t *evaluated,
                                   sotto_err *err)
{
    uint8_t token[SOTTO_TYPE1_TOKEN];
    sotto_bytes wanted;

    for (size_t i = 0; i < b->count; i++) {
        memcpy(token, b->inputs[i], SOTTO_TOKEN_INPUT);
        SOTTO_TRY(sotto_voprf_finalize(&b->v, token + SOTTO_TOKEN_INPUT,
                                       sotto_bytes_of(b->inputs[i], SOTTO_TOKEN_INPUT),
                                       &b->blinds[i], evaluated + i * SOTTO_TYPE1_POINT, err));
        SOTTO_TRY(hex_of(item, "tokens", i, sizeof token, &wanted, err));
        SOTTO_TRY(
            sotto_vectors_compare(wanted, sotto_bytes_of(token, sizeof token), "tokens", err));
    }
    return SOTTO_OK;
}

static sotto_status check_batch(batch *b, const sotto_token_item *item, sotto_err *err)
{
    uint8_t evaluated[BATCH * SOTTO_TYPE1_POINT], proof[SOTTO_TYPE1_PROOF];
    sotto_bytes wire;

    SOTTO_TRY(read_batch(b, item, err));
    SOTTO_TRY(compare_request(b, item, err));
    SOTTO_TRY(sotto_token_get(item, &wire, "token_response", 0, err));
    sotto_reader in = sotto_reader_over(wire);
    const sotto_bytes given = read_counted(&in), shown = sotto_read_bytes(&in, sizeof proof);
    SOTTO_TRY(sotto_reader_finish(&in, "token_response", err));
    if (given.len != b->count * SOTTO_TYPE1_POINT)
        return sotto_fail(err, SOTTO_MALFORMED, "token_response: another number of points");
    SOTTO_TRY(sotto_voprf_check(&b->v, b->public_key, b->blinded[0], given.data, b->count,
                                shown.data, err));
    SOTTO_TRY(compare_tokens(b, item, given.data, err));
    /* The proof's nonce is not in the file: any other makes another proof of the same. */
    SOTTO_TRY(sotto_voprf_evaluate(&b->v, evaluated, proof, &b->key, b->public_key, b->blinded[0],
                                   b->count, &b->blinds[0], err));
    return sotto_vectors_compare(given, sotto_bytes_of(evaluated, given.len), "token_response",
                                 err);
}

static sotto_status check_amortized(const sotto_token_item *item, sotto_err *err)
{
    static batch b;
    sotto_status status = sotto_voprf_init(&b.v, &sotto_p384, SOTTO_VOPRF, err);

    if (status == SOTTO_OK)
        status = check_batch(&b, item, err);
    sotto_voprf_clear(&b.v);
    return status;
}

static sotto_status check_either(const sotto_token_item *item, sotto_err *err)
{
    return json_object_get(item->json, "issuance") ? check_generic(item, err)
                                                   : check_amortized(item, err);
}

static void run_batch(const sotto_vector_file *file, const json_t *item, const char *name)
{
    const char *request = json_string_value(json_object_get(item, "token_request"));

    if (request && strncmp(request, "0005", 4) == 0)
        sotto_tally_skip(file->tally, file->path, name,
                         "type 5 is over ristretto255, which the crypto library lacks");
    else
        sotto_token_count(file, item, name, check_either);
}

void sotto_vectors_batched(const sotto_vector_file *file)
{
    sotto_vectors_each(file, run_batch);
}
