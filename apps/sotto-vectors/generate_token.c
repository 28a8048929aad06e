/* Vectors of VOPRF, Privacy Pass and ARC, in the published formats. "valid": false marks what must be refused. */
#include "generate.h"

#include <stdio.h>
#include <string.h>

#include "base/hex.h"
#include "seal/token/arc.h"
#include "seal/token/type2.h"
#include "seal/token/voprf.h"
#include "seal/token_keys.h"

/* Scalars by reduction, as the published vectors draw them. */
static sotto_status scalars(sotto_gen *gen, sotto_group *g, sotto_scalar *out, size_t count,
                            sotto_err *err)
{
    sotto_bytes wide;

    for (size_t i = 0; i < count; i++) {
        SOTTO_TRY(sotto_gen_bytes(gen, &wide, g->scalar_size + 16, err));
        sotto_scalar_reduce_vartime(g, &out[i], wide);
    }
    return sotto_group_finish(g, err);
}

static void put_bytes(sotto_gen *gen, json_t *item, const char *key, const void *bytes, size_t len)
{
    sotto_gen_put_hex(gen, item, key, sotto_bytes_of(bytes, len));
}

/* ---- type 2 ------------------------------------------------------------------------------------------------------ */

typedef struct issuer {
    sotto_rsa_private secret;
    sotto_type2_key key;
    uint8_t der[SOTTO_RSA_DER_MAX], spki[SOTTO_TYPE2_SPKI];
    size_t der_len;
} issuer;

static sotto_status open_issuer(issuer *i, sotto_err *err)
{
    i->der_len = strlen(TOKEN_KEY) / 2;
    if (!sotto_hex_decode(i->der, i->der_len, sotto_bytes_of(TOKEN_KEY, 2 * i->der_len)))
        return sotto_fail(err, SOTTO_BUG, "the key is not hex");
    SOTTO_TRY(sotto_rsa_private_decode(&i->secret, sotto_bytes_of(i->der, i->der_len), err));
    SOTTO_TRY(sotto_type2_key_encode(i->spki, &i->secret.public_key, err));
    return sotto_type2_key_decode(&i->key, sotto_bytes_of(i->spki, sizeof i->spki), err);
}

typedef enum damage { NONE, SIGNATURE, NONCE, CHALLENGE, KEY_ID, CUT, ABOVE, DAMAGES } damage;

static void spoil(damage what, uint8_t token[SOTTO_TYPE2_TOKEN], size_t *len)
{
    static const uint16_t at[DAMAGES] = {
        [SIGNATURE] = 200, [NONCE] = 5, [CHALLENGE] = 40, [KEY_ID] = 70};

    if (at[what])
        token[at[what]] ^= 1;
    if (what == CUT)
        --*len;
    if (what == ABOVE)
        memset(token + SOTTO_TOKEN_INPUT, 0xff, SOTTO_TYPE2_NUMBER);
}

static sotto_status add_type2(sotto_gen *gen, json_t *array, issuer *i, damage what, sotto_err *err)
{
    uint8_t digest[SOTTO_TOKEN_DIGEST], request[SOTTO_TYPE2_REQUEST], memory[128];
    uint8_t response[SOTTO_TYPE2_RESPONSE], token[SOTTO_TYPE2_TOKEN];
    size_t len = sizeof token;
    sotto_buf wire = sotto_buf_over(memory, sizeof memory);
    sotto_token_challenge challenge = {.type = SOTTO_TOKEN_BLIND_RSA,
                                       .issuer = sotto_bytes_of("issuer.example", 14)};
    sotto_type2_pending pending;
    sotto_type2_random random;
    sotto_bytes drawn;

    if (what % 2)
        SOTTO_TRY(sotto_gen_bytes(gen, &challenge.context, 32, err));
    SOTTO_TRY(sotto_gen_bytes(gen, &drawn, sizeof random, err));
    memcpy(&random, drawn.data, sizeof random);
    random.blind[0] = 0; /* below the modulus */
    SOTTO_TRY(sotto_token_challenge_encode(&wire, &challenge, err));
    sotto_token_challenge_digest(digest, sotto_buf_bytes(&wire));
    SOTTO_TRY(sotto_type2_request(&i->key, &pending, request, digest, &random, err));
    SOTTO_TRY(sotto_type2_issue(&i->secret, i->key.id, response,
                                sotto_bytes_of(request, sizeof request), err));
    SOTTO_TRY(sotto_type2_finish(&i->key, token, &pending,
                                 sotto_bytes_of(response, sizeof response), err));
    spoil(what, token, &len);
    json_t *item = json_object();
    put_bytes(gen, item, "skS", i->der, i->der_len);
    put_bytes(gen, item, "pkS", i->spki, sizeof i->spki);
    sotto_gen_put_hex(gen, item, "token_challenge", sotto_buf_bytes(&wire));
    put_bytes(gen, item, "nonce", random.nonce, sizeof random.nonce);
    put_bytes(gen, item, "salt", random.salt, sizeof random.salt);
    put_bytes(gen, item, "blind", random.blind, sizeof random.blind);
    put_bytes(gen, item, "token_request", request, sizeof request);
    put_bytes(gen, item, "token_response", response, sizeof response);
    put_bytes(gen, item, "token", token, len);
    if (what != NONE)
        sotto_gen_put(gen, item, "valid", json_false());
    sotto_gen_add(gen, array, item);
    return SOTTO_OK;
}

static sotto_status make_type2(sotto_gen *gen, sotto_err *err)
{
    issuer i = {0};
    json_t *array = json_array();
    sotto_status status;

    sotto_gen_start(gen, "type2");
    status = open_issuer(&i, err);
    for (int what = NONE; what < DAMAGES && status == SOTTO_OK; what++)
        status = add_type2(gen, array, &i, (damage)what, err);
    sotto_type2_key_clear(&i.key);
    sotto_rsa_private_clear(&i.secret);
    if (status == SOTTO_OK)
        return sotto_gen_write(gen, "type2", array, err);
    json_decref(array);
    return status;
}

/* ---- ARC --------------------------------------------------------------------------------------------------------- */

typedef struct holder {
    sotto_group g;
    sotto_arc_private key;
    sotto_arc_credential credential;
    uint8_t open[SOTTO_ARC_PUBLIC];
} holder;

static void put_points(sotto_gen *gen, json_t *item, const char *const *keys, size_t count,
                       const uint8_t *wire)
{
    for (size_t i = 0; i < count; i++)
        put_bytes(gen, item, keys[i], wire + i * SOTTO_ARC_POINT, SOTTO_ARC_POINT);
}

static void put_scalars(sotto_gen *gen, json_t *item, const char *const *keys, size_t count,
                        const sotto_scalar *s)
{
    for (size_t i = 0; i < count; i++)
        put_bytes(gen, item, keys[i], s[i].be, SOTTO_ARC_SCALAR);
}

static sotto_status add_key(sotto_gen *gen, json_t *root, holder *h, sotto_err *err)
{
    static const char *const secret[] = {"x0", "x1", "x2", "xb"}, *const open[] = {"X0", "X1",
                                                                                   "X2"};
    sotto_scalar s[4];
    json_t *item = json_object();

    sotto_gen_put(gen, root, "ServerKey", item);
    SOTTO_TRY(scalars(gen, &h->g, s, 4, err));
    h->key = (sotto_arc_private){s[0], s[1], s[2], s[3]};
    SOTTO_TRY(sotto_arc_public(&h->g, h->open, &h->key, err));
    put_scalars(gen, item, secret, 4, s);
    put_points(gen, item, open, 3, h->open);
    return SOTTO_OK;
}

static sotto_status add_issuance(sotto_gen *gen, json_t *root, holder *h, sotto_err *err)
{
    static const char *const asked[] = {"m1", "r1", "r2"}, *const sent[] = {"m1_enc", "m2_enc"};
    static const char *const answered[] = {"U",      "enc_U_prime", "X0_aux",
                                           "X1_aux", "X2_aux",      "H_aux"};
    static const char *const kept[] = {"U", "U_prime", "X1"}, *const chosen[] = {"b"};
    json_t *in = json_object(), *out = json_object(), *credential = json_object();
    sotto_scalar random[SOTTO_ARC_RESPONSE_RANDOM];
    uint8_t request[SOTTO_ARC_REQUEST], response[SOTTO_ARC_RESPONSE];
    sotto_arc_pending pending;

    sotto_gen_put(gen, root, "CredentialRequest", in);
    sotto_gen_put(gen, root, "CredentialResponse", out);
    sotto_gen_put(gen, root, "Credential", credential);
    SOTTO_TRY(scalars(gen, &h->g, random, SOTTO_ARC_REQUEST_RANDOM, err));
    SOTTO_TRY(
        sotto_arc_request(&h->g, &pending, request, sotto_bytes_of("epoch 7", 7), random, err));
    put_bytes(gen, in, "request_context", "epoch 7", 7);
    put_scalars(gen, in, asked, 3, random);
    put_points(gen, in, sent, 2, request);
    put_bytes(gen, in, "proof", request + 2 * SOTTO_ARC_POINT, 5 * SOTTO_ARC_SCALAR);
    SOTTO_TRY(scalars(gen, &h->g, random, SOTTO_ARC_RESPONSE_RANDOM, err));
    SOTTO_TRY(sotto_arc_issue(&h->g, response, &h->key, h->open, request, random, err));
    put_scalars(gen, out, chosen, 1, random);
    put_points(gen, out, answered, 6, response);
    put_bytes(gen, out, "proof", response + 6 * SOTTO_ARC_POINT, 8 * SOTTO_ARC_SCALAR);
    SOTTO_TRY(sotto_arc_finish(&h->g, &h->credential, &pending, h->open, response, err));
    put_bytes(gen, credential, "m1", h->credential.m1.be, SOTTO_ARC_SCALAR);
    put_points(gen, credential, kept, 3, h->credential.u);
    return SOTTO_OK;
}

static sotto_status add_presentation(sotto_gen *gen, json_t *root, holder *h, unsigned number,
                                     uint32_t limit, uint32_t nonce, bool bad, sotto_err *err)
{
    static const char *const chosen[] = {"a", "r", "z", "nonce_blinding"};
    static const char *const points[] = {"U", "U_prime_commit", "m1_commit", "tag", "nonce_commit"};
    const size_t own = limit == 1 ? 4 : 5;
    sotto_scalar random[SOTTO_ARC_RANDOM_MAX];
    uint8_t wire[SOTTO_ARC_MAX];
    sotto_buf out = sotto_buf_over(wire, sizeof wire);
    json_t *item = json_object();
    char name[24];

    snprintf(name, sizeof name, "Presentation%u", number);
    sotto_gen_put(gen, root, name, item);
    SOTTO_TRY(scalars(gen, &h->g, random, sotto_arc_presentation_random(limit), err));
    /* The blinds of single bits are not in the format: with a limit of 2 there are none. */
    SOTTO_TRY(sotto_arc_present(&h->g, &out, &h->credential, sotto_bytes_of("round 1", 7), limit,
                                nonce, random, err));
    if (bad)
        wire[out.len - 1] ^= 1;
    put_bytes(gen, item, "presentation_context", "round 1", 7);
    put_scalars(gen, item, chosen, limit == 1 ? 3 : 4, random);
    put_points(gen, item, points, own, wire);
    if (limit == 2)
        put_bytes(gen, item, "D_0", wire + own * SOTTO_ARC_POINT, SOTTO_ARC_POINT);
    snprintf(name, sizeof name, "0x%x", (unsigned)nonce);
    sotto_gen_put(gen, item, "nonce", json_string(name));
    put_bytes(gen, item, "proof", wire + own * SOTTO_ARC_POINT, out.len - own * SOTTO_ARC_POINT);
    sotto_gen_put_number(gen, item, "presentation_limit", limit);
    if (bad)
        sotto_gen_put(gen, item, "valid", json_false());
    return SOTTO_OK;
}

static sotto_status make_arc(sotto_gen *gen, sotto_err *err)
{
    json_t *root = json_object(), *suite = json_object();
    holder h = {0};
    sotto_status status;

    sotto_gen_start(gen, "arc");
    sotto_gen_put(gen, root, "ARCV1-P256", suite);
    status = sotto_group_init(&h.g, &sotto_p256, err);
    if (status == SOTTO_OK)
        status = add_key(gen, suite, &h, err);
    if (status == SOTTO_OK)
        status = add_issuance(gen, suite, &h, err);
    for (unsigned i = 0; i < 6 && status == SOTTO_OK; i++)
        status = add_presentation(gen, suite, &h, i + 1, i < 3 ? 1 : 2, i == 4, i % 3 == 2, err);
    sotto_group_clear(&h.g);
    if (status == SOTTO_OK)
        return sotto_gen_write(gen, "arc", root, err);
    json_decref(root);
    return status;
}

/* ---- VOPRF ------------------------------------------------------------------------------------------------------- */

static sotto_status add_voprf(sotto_gen *gen, json_t *array, sotto_voprf *v, const char *identifier,
                              sotto_err *err)
{
    uint8_t open[SOTTO_POINT_MAX], blinded[SOTTO_POINT_MAX], evaluated[SOTTO_POINT_MAX];
    uint8_t proof[2 * SOTTO_SCALAR_MAX], out[SOTTO_HASH_MAX_SIZE];
    json_t *item = json_object(), *one = json_object(), *inner = json_object();
    json_t *vectors = json_array();
    sotto_scalar key, s[2];
    sotto_bytes seed, input;

    sotto_gen_add(gen, array, item);
    sotto_gen_put(gen, item, "vectors", vectors);
    sotto_gen_add(gen, vectors, one);
    sotto_gen_put(gen, one, "Proof", inner);
    SOTTO_TRY(sotto_gen_bytes(gen, &seed, 32, err));
    SOTTO_TRY(sotto_gen_bytes(gen, &input, 40, err));
    SOTTO_TRY(scalars(gen, &v->group, s, 2, err));
    SOTTO_TRY(sotto_voprf_derive(v, &key, open, seed, sotto_bytes_of("sotto", 5), err));
    SOTTO_TRY(sotto_voprf_blind(v, blinded, input, &s[0], err));
    SOTTO_TRY(sotto_voprf_evaluate(v, evaluated, proof, &key, open, blinded, 1, &s[1], err));
    SOTTO_TRY(sotto_voprf_finalize(v, out, input, &s[0], evaluated, err));
    sotto_gen_put(gen, item, "identifier", json_string(identifier));
    sotto_gen_put_number(gen, item, "mode", SOTTO_VOPRF);
    put_bytes(gen, item, "groupDST", v->context, v->context_len);
    put_bytes(gen, item, "seed", seed.data, seed.len);
    put_bytes(gen, item, "keyInfo", "sotto", 5);
    put_bytes(gen, item, "skSm", key.be, v->group.scalar_size);
    put_bytes(gen, item, "pkSm", open, v->group.point_size);
    sotto_gen_put_number(gen, one, "Batch", 1);
    put_bytes(gen, one, "Input", input.data, input.len);
    put_bytes(gen, one, "Blind", s[0].be, v->group.scalar_size);
    put_bytes(gen, one, "BlindedElement", blinded, v->group.point_size);
    put_bytes(gen, one, "EvaluationElement", evaluated, v->group.point_size);
    put_bytes(gen, one, "Output", out, sotto_hash_size(v->hash));
    put_bytes(gen, inner, "proof", proof, 2 * v->group.scalar_size);
    put_bytes(gen, inner, "r", s[1].be, v->group.scalar_size);
    return SOTTO_OK;
}

static sotto_status make_voprf(sotto_gen *gen, sotto_err *err)
{
    static const struct {
        const sotto_curve *curve;
        const char *identifier;
    } suites[] = {{&sotto_p256, "P256-SHA256"}, {&sotto_p384, "P384-SHA384"}};
    json_t *array = json_array();
    sotto_status status = SOTTO_OK;

    sotto_gen_start(gen, "voprf");
    for (size_t i = 0; i < 2 && status == SOTTO_OK; i++) {
        sotto_voprf v;

        status = sotto_voprf_init(&v, suites[i].curve, SOTTO_VOPRF, err);
        if (status == SOTTO_OK)
            status = add_voprf(gen, array, &v, suites[i].identifier, err);
        sotto_voprf_clear(&v);
    }
    if (status == SOTTO_OK)
        return sotto_gen_write(gen, "voprf", array, err);
    json_decref(array);
    return status;
}

sotto_status sotto_generate_token(sotto_gen *gen, sotto_err *err)
{
    SOTTO_TRY(make_type2(gen, err));
    SOTTO_TRY(make_arc(gen, err));
    return make_voprf(gen, err);
}
