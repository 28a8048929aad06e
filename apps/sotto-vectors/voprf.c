/* OPRF and VOPRF (RFC 9497): suites by their identifier, with key derivation, batches and proofs. */
#include "seal/token/voprf.h"
#include "base/hex.h"
#include "token.h"

#include <stdio.h>
#include <string.h>

bool sotto_vectors_voprf_knows(const json_t *item)
{
    return json_is_string(json_object_get(item, "groupDST")) &&
           json_is_array(json_object_get(item, "vectors"));
}

static const sotto_curve *curve_of(const char *identifier)
{
    if (identifier && strcmp(identifier, "P256-SHA256") == 0)
        return &sotto_p256;
    return identifier && strcmp(identifier, "P384-SHA384") == 0 ? &sotto_p384 : NULL;
}

typedef struct suite {
    sotto_voprf v;
    sotto_scalar key;
    uint8_t public_key[SOTTO_POINT_MAX];
    bool verifiable;
} suite;

static sotto_status open_suite(suite *s, const sotto_token_item *item, sotto_err *err)
{
    sotto_bytes seed, info;
    uint64_t mode;

    memset(s, 0, sizeof *s);
    SOTTO_TRY(sotto_json_get_uint(&mode, item->json, "mode", err));
    s->verifiable = mode == SOTTO_VOPRF;
    SOTTO_TRY(sotto_voprf_init(
        &s->v, curve_of(json_string_value(json_object_get(item->json, "identifier"))),
        s->verifiable ? SOTTO_VOPRF : SOTTO_OPRF, err));
    SOTTO_TRY(sotto_token_get(item, &seed, "seed", 0, err));
    SOTTO_TRY(sotto_token_get(item, &info, "keyInfo", 0, err));
    SOTTO_TRY(sotto_voprf_derive(&s->v, &s->key, s->public_key, seed, info, err));
    SOTTO_TRY(sotto_token_compare(item, "skSm", s->key.be, s->v.group.scalar_size, err));
    return s->verifiable
               ? sotto_token_compare(item, "pkSm", s->public_key, s->v.group.point_size, err)
               : SOTTO_OK;
}

/* The i-th of a list with commas between. */
static sotto_status part_of(sotto_bytes *out, const sotto_token_item *item, const char *key,
                            size_t i, sotto_err *err)
{
    const char *text;

    SOTTO_TRY(sotto_json_get_text(&text, item->json, key, err));
    for (; i > 0 && text; i--) {
        text = strchr(text, ',');
        text = text ? text + 1 : NULL;
    }
    if (!text)
        return sotto_fail(err, SOTTO_MALFORMED, "%s: too few parts", key);
    if (strncmp(text, "0x", 2) == 0)
        text += 2;
    const size_t digits = strcspn(text, ",");
    uint8_t *bytes = sotto_arena_take(item->arena, digits / 2 + 1);
    if (!bytes || digits % 2 != 0 ||
        !sotto_hex_decode(bytes, digits / 2, sotto_bytes_of(text, digits)))
        return sotto_fail(err, SOTTO_MALFORMED, "%s: not hex", key);
    *out = sotto_bytes_of(bytes, digits / 2);
    return SOTTO_OK;
}

static sotto_status scalar_of(suite *s, sotto_scalar *out, const sotto_token_item *item,
                              const char *key, size_t i, sotto_err *err)
{
    sotto_bytes bytes;

    SOTTO_TRY(part_of(&bytes, item, key, i, err));
    if (bytes.len != s->v.group.scalar_size || !sotto_scalar_decode(&s->v.group, out, bytes.data))
        return sotto_fail(err, SOTTO_MALFORMED, "%s: no scalar", key);
    return SOTTO_OK;
}

static sotto_status compare_part(const sotto_token_item *item, const char *key, size_t i,
                                 const uint8_t *got, size_t len, sotto_err *err)
{
    sotto_bytes wanted;

    SOTTO_TRY(part_of(&wanted, item, key, i, err));
    return sotto_vectors_compare(wanted, sotto_bytes_of(got, len), key, err);
}

static sotto_status check_outputs(suite *s, const sotto_token_item *item, size_t count,
                                  const uint8_t *evaluated, sotto_err *err)
{
    const size_t size = s->v.group.point_size;
    uint8_t out[SOTTO_HASH_MAX_SIZE];
    sotto_scalar blind;
    sotto_bytes input;

    for (size_t i = 0; i < count; i++) {
        SOTTO_TRY(part_of(&input, item, "Input", i, err));
        SOTTO_TRY(scalar_of(s, &blind, item, "Blind", i, err));
        SOTTO_TRY(compare_part(item, "EvaluationElement", i, evaluated + i * size, size, err));
        SOTTO_TRY(sotto_voprf_finalize(&s->v, out, input, &blind, evaluated + i * size, err));
        SOTTO_TRY(compare_part(item, "Output", i, out, sotto_hash_size(s->v.hash), err));
        SOTTO_TRY(sotto_voprf_direct(&s->v, out, input, &s->key, err));
        SOTTO_TRY(compare_part(item, "Output", i, out, sotto_hash_size(s->v.hash), err));
    }
    return SOTTO_OK;
}

static sotto_status check_one(suite *s, const sotto_token_item *item, sotto_err *err)
{
    const size_t size = s->v.group.point_size;
    const json_t *proof = json_object_get(item->json, "Proof");
    const sotto_token_item inner = {proof, item->arena};
    uint8_t blinded[SOTTO_VOPRF_BATCH * SOTTO_POINT_MAX], evaluated[sizeof blinded];
    uint8_t made[2 * SOTTO_SCALAR_MAX] = {0};
    sotto_scalar blind, nonce = {{0}};
    sotto_bytes input;
    uint64_t count;

    SOTTO_TRY(sotto_json_get_uint(&count, item->json, "Batch", err));
    if (count == 0 || count > SOTTO_VOPRF_BATCH)
        return sotto_fail(err, SOTTO_MALFORMED, "Batch: not from 1 to %d", SOTTO_VOPRF_BATCH);
    for (size_t i = 0; i < count; i++) {
        SOTTO_TRY(part_of(&input, item, "Input", i, err));
        SOTTO_TRY(scalar_of(s, &blind, item, "Blind", i, err));
        SOTTO_TRY(sotto_voprf_blind(&s->v, blinded + i * size, input, &blind, err));
        SOTTO_TRY(compare_part(item, "BlindedElement", i, blinded + i * size, size, err));
    }
    if (s->verifiable)
        SOTTO_TRY(scalar_of(s, &nonce, &inner, "r", 0, err));
    SOTTO_TRY(sotto_voprf_evaluate(&s->v, evaluated, s->verifiable ? made : NULL, &s->key,
                                   s->public_key, blinded, count, &nonce, err));
    if (s->verifiable) {
        SOTTO_TRY(compare_part(&inner, "proof", 0, made, 2 * s->v.group.scalar_size, err));
        SOTTO_TRY(sotto_voprf_check(&s->v, s->public_key, blinded, evaluated, count, made, err));
    }
    return check_outputs(s, item, count, evaluated, err);
}

static void run_item(const sotto_vector_file *file, const json_t *json, const char *number)
{
    const char *identifier = json_string_value(json_object_get(json, "identifier"));
    const json_t *vectors = json_object_get(json, "vectors");
    const json_int_t mode = json_integer_value(json_object_get(json, "mode"));
    const sotto_token_item item = {json, file->arena};
    char name[64];
    suite s;

    snprintf(name, sizeof name, "%s: %.20s mode %d", number, identifier ? identifier : "?",
             (int)mode);
    if (!curve_of(identifier) || mode > SOTTO_VOPRF) {
        sotto_tally_skip(file->tally, file->path, name, "a suite or mode not implemented");
        return;
    }
    for (size_t i = 0; i < json_array_size(vectors); i++) {
        const sotto_token_item one = {json_array_get(vectors, i), file->arena};
        sotto_err err = {0};
        sotto_status status = open_suite(&s, &item, &err);

        if (status == SOTTO_OK)
            status = check_one(&s, &one, &err);
        sotto_voprf_clear(&s.v);
        snprintf(name, sizeof name, "%s.%zu: %.20s mode %d", number, i, identifier, (int)mode);
        sotto_vectors_tell(file, name, status, &err);
    }
}

void sotto_vectors_voprf(const sotto_vector_file *file)
{
    sotto_vectors_each(file, run_item);
}
