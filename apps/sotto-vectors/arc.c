/* ARC (draft-ietf-privacypass-arc-crypto-01): a file with a server's key, one issuance, and presentations.
 *
 * A proof's bytes depend on nonces that no file holds. The draft draws all randomness from one seed: where a file's key is the one
 * that this seed gives, proofs are compared byte by byte; otherwise they are verified. */
#include "seal/token/arc.h"
#include "token.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/bn.h>
#include <openssl/evp.h>

static const char SUITE[] = "ARCV1-P256";

bool sotto_vectors_arc_knows(const json_t *item)
{
    return json_is_object(json_object_get(item, SUITE));
}

/* ---- the draft's generator (SeededPRNG) --------------------------------------------------------------------------- */

enum { DRAW = 48, DRAWS = 512 };

typedef struct drawn {
    sotto_group group;
    uint8_t stream[DRAW * DRAWS];
    size_t at;
    bool known; /* the file's key came from the seed */
} drawn;

static bool seed(drawn *d, const char *text)
{
    uint8_t block[168] = "sigma-proofs/TestDRNG/SHAKE128", key[32] = {0};
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();

    memcpy(key, text, strlen(text));
    bool ok = ctx && EVP_DigestInit_ex(ctx, EVP_shake128(), NULL) &&
              EVP_DigestUpdate(ctx, block, sizeof block) &&
              EVP_DigestUpdate(ctx, key, sizeof key) &&
              EVP_DigestFinalXOF(ctx, d->stream, sizeof d->stream);
    EVP_MD_CTX_free(ctx);
    return ok;
}

/* Secrets are reduced modulo the order less one, nonces of proofs modulo the order. */
static void draw(drawn *d, sotto_scalar *out, bool secret)
{
    const uint8_t *wide = d->stream + DRAW * (d->at++ % DRAWS);
    BIGNUM *x = BN_bin2bn(wide, DRAW, NULL), *n = NULL;
    BN_CTX *ctx = BN_CTX_new();

    sotto_scalar_reduce_vartime(&d->group, out, sotto_bytes_of(wide, DRAW));
    if (secret && x && ctx &&
        BN_hex2bn(&n, "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632550") &&
        BN_nnmod(x, x, n, ctx))
        (void)BN_bn2binpad(x, out->be, SOTTO_ARC_SCALAR);
    BN_free(x);
    BN_free(n);
    BN_CTX_free(ctx);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static sotto_status scalar_of(drawn *d, sotto_scalar *out, const sotto_token_item *item,
                              const char *key, sotto_err *err)
{
    sotto_bytes bytes;

    SOTTO_TRY(sotto_token_get(item, &bytes, key, SOTTO_ARC_SCALAR, err));
    return sotto_scalar_decode(&d->group, out, bytes.data)
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_MALFORMED, "%s: no scalar", key);
}

/* The file's secrets in their order, then as many nonces as fit. */
static sotto_status random_of(drawn *d, sotto_scalar *random, size_t count,
                              const sotto_token_item *item, const char *const *keys, size_t named,
                              size_t unnamed, sotto_err *err)
{
    for (size_t i = 0; i < count; i++) {
        draw(d, &random[i], i < named + unnamed);
        if (i < named)
            SOTTO_TRY(scalar_of(d, &random[i], item, keys[i], err));
    }
    return SOTTO_OK;
}

static sotto_status compare_points(const sotto_token_item *item, const char *const *keys,
                                   size_t count, const uint8_t *wire, sotto_err *err)
{
    for (size_t i = 0; i < count; i++)
        SOTTO_TRY(
            sotto_token_compare(item, keys[i], wire + i * SOTTO_ARC_POINT, SOTTO_ARC_POINT, err));
    return SOTTO_OK;
}

/* The given bytes of a proof, and, where its nonces are known, the same as ours. */
static sotto_status take_proof(const drawn *d, const sotto_token_item *item, uint8_t *ours,
                               size_t len, sotto_err *err)
{
    sotto_bytes given;

    SOTTO_TRY(sotto_token_get(item, &given, "proof", len, err));
    if (d->known)
        SOTTO_TRY(sotto_vectors_compare(given, sotto_bytes_of(ours, len), "proof", err));
    memcpy(ours, given.data, len);
    return SOTTO_OK;
}

/* ---- the steps --------------------------------------------------------------------------------------------------- */

typedef struct run {
    drawn d;
    const json_t *root;
    sotto_arena *arena;
    sotto_arc_private key;
    sotto_arc_credential credential;
    uint8_t public_key[SOTTO_ARC_PUBLIC];
    sotto_bytes request_context;
} run;

static sotto_token_item part(const run *r, const char *name)
{
    return (sotto_token_item){json_object_get(r->root, name), r->arena};
}

static sotto_status check_key(run *r, sotto_err *err)
{
    static const char *const secret[] = {"x0", "x1", "x2", "xb"};
    static const char *const open[] = {"X0", "X1", "X2"};
    const sotto_token_item item = part(r, "ServerKey");
    uint8_t wire[SOTTO_ARC_PRIVATE];
    sotto_scalar given, first;

    for (size_t i = 0; i < 4; i++) {
        draw(&r->d, &first, true);
        SOTTO_TRY(scalar_of(&r->d, &given, &item, secret[i], err));
        r->d.known = (i == 0 || r->d.known) && memcmp(first.be, given.be, SOTTO_ARC_SCALAR) == 0;
        memcpy(wire + i * SOTTO_ARC_SCALAR, given.be, SOTTO_ARC_SCALAR);
    }
    SOTTO_TRY(sotto_arc_private_decode(&r->d.group, &r->key, wire, err));
    SOTTO_TRY(sotto_arc_public(&r->d.group, r->public_key, &r->key, err));
    return compare_points(&item, open, 3, r->public_key, err);
}

static sotto_status check_issuance(run *r, sotto_err *err)
{
    static const char *const asked[] = {"m1", "r1", "r2"}, *const chosen[] = {"b"};
    static const char *const sent[] = {"m1_enc", "m2_enc"};
    static const char *const answered[] = {"U",      "enc_U_prime", "X0_aux",
                                           "X1_aux", "X2_aux",      "H_aux"};
    const sotto_token_item in = part(r, "CredentialRequest"), out = part(r, "CredentialResponse");
    const sotto_token_item kept = part(r, "Credential");
    sotto_scalar random[SOTTO_ARC_RESPONSE_RANDOM];
    uint8_t request[SOTTO_ARC_REQUEST], response[SOTTO_ARC_RESPONSE];
    sotto_arc_pending pending;
    sotto_group *g = &r->d.group;

    SOTTO_TRY(sotto_token_get(&in, &r->request_context, "request_context", 0, err));
    SOTTO_TRY(random_of(&r->d, random, SOTTO_ARC_REQUEST_RANDOM, &in, asked, 3, 0, err));
    SOTTO_TRY(sotto_arc_request(g, &pending, request, r->request_context, random, err));
    SOTTO_TRY(compare_points(&in, sent, 2, request, err));
    SOTTO_TRY(take_proof(&r->d, &in, request + 2 * SOTTO_ARC_POINT, 5 * SOTTO_ARC_SCALAR, err));
    SOTTO_TRY(random_of(&r->d, random, SOTTO_ARC_RESPONSE_RANDOM, &out, chosen, 1, 0, err));
    SOTTO_TRY(sotto_arc_issue(g, response, &r->key, r->public_key, request, random, err));
    SOTTO_TRY(compare_points(&out, answered, 6, response, err));
    SOTTO_TRY(take_proof(&r->d, &out, response + 6 * SOTTO_ARC_POINT, 8 * SOTTO_ARC_SCALAR, err));
    SOTTO_TRY(sotto_arc_finish(g, &r->credential, &pending, r->public_key, response, err));
    SOTTO_TRY(sotto_token_compare(&kept, "m1", r->credential.m1.be, SOTTO_ARC_SCALAR, err));
    SOTTO_TRY(sotto_token_compare(&kept, "U", r->credential.u, SOTTO_ARC_POINT, err));
    SOTTO_TRY(sotto_token_compare(&kept, "U_prime", r->credential.u_prime, SOTTO_ARC_POINT, err));
    return sotto_token_compare(&kept, "X1", r->credential.x1, SOTTO_ARC_POINT, err);
}

/* Bits by the number of commitments D_i; the limit where the file has it, or the largest of so many bits. */
static uint32_t limit_of(const sotto_token_item *item, size_t *bits)
{
    const json_t *limit = json_object_get(item->json, "presentation_limit");
    char name[16];

    for (*bits = 0; *bits < SOTTO_ARC_BITS; ++*bits) {
        snprintf(name, sizeof name, "D_%zu", *bits);
        if (!json_object_get(item->json, name))
            break;
    }
    return limit ? (uint32_t)json_integer_value(limit) : (uint32_t)1 << *bits;
}

static sotto_status compare_presentation(const sotto_token_item *item, const uint8_t *wire,
                                         uint32_t limit, sotto_err *err)
{
    static const char *const points[] = {"U", "U_prime_commit", "m1_commit", "tag", "nonce_commit"};

    return compare_points(item, points, limit == 1 ? 4 : 5, wire, err);
}

static sotto_status verify(run *r, const sotto_token_item *item, sotto_bytes context,
                           uint32_t limit, sotto_bytes presentation, sotto_err *err)
{
    uint8_t tag[SOTTO_ARC_POINT];
    sotto_arc_verifier v;
    sotto_status status = sotto_arc_verifier_init(&v, &r->key, r->public_key, r->request_context,
                                                  context, limit, err);

    if (status == SOTTO_OK)
        status = sotto_arc_verify(&v, tag, presentation, err);
    sotto_arc_verifier_clear(&v);
    SOTTO_TRY(status);
    return sotto_token_compare(item, "tag", tag, sizeof tag, err);
}

static sotto_status check_presentation(run *r, const sotto_token_item *item, sotto_err *err)
{
    static const char *const chosen[] = {"a", "r", "z", "nonce_blinding"};
    sotto_scalar random[SOTTO_ARC_RANDOM_MAX];
    uint8_t wire[SOTTO_ARC_MAX];
    sotto_buf out = sotto_buf_over(wire, sizeof wire);
    sotto_bytes context;
    const char *nonce;
    size_t bits, points;
    const uint32_t limit = limit_of(item, &bits);

    if (sotto_arc_presentation_size(limit) == 0)
        return sotto_fail(err, SOTTO_MALFORMED, "presentation_limit: not from 1 to 65536");
    SOTTO_TRY(sotto_token_get(item, &context, "presentation_context", 0, err));
    SOTTO_TRY(sotto_json_get_text(&nonce, item->json, "nonce", err));
    SOTTO_TRY(random_of(&r->d, random, sotto_arc_presentation_random(limit), item, chosen,
                        limit == 1 ? 3 : 4, bits > 1 ? bits - 1 : 0, err));
    SOTTO_TRY(sotto_arc_present(&r->d.group, &out, &r->credential, context, limit,
                                (uint32_t)strtoul(nonce, NULL, 16), random, err));
    SOTTO_TRY(compare_presentation(item, wire, limit, err));
    points = (limit == 1 ? 4 : 5) * (size_t)SOTTO_ARC_POINT;
    SOTTO_TRY(take_proof(&r->d, item, wire + points, out.len - points, err));
    return verify(r, item, context, limit, sotto_buf_bytes(&out), err);
}

/* ---- counting ---------------------------------------------------------------------------------------------------- */

static void count(const sotto_vector_file *file, const char *name, sotto_status status,
                  const sotto_err *err, bool bad)
{
    if (bad ? status == SOTTO_REJECTED : status == SOTTO_OK)
        sotto_tally_pass(file->tally, file->path, name);
    else
        sotto_tally_fail(file->tally, file->path, name, bad ? "not refused" : err->reason);
}

void sotto_vectors_arc(const sotto_vector_file *file)
{
    static run r;
    char name[32];
    sotto_err err = {0};

    memset(&r, 0, sizeof r);
    r.root = json_object_get(file->root, SUITE);
    r.arena = file->arena;
    if (sotto_group_init(&r.d.group, &sotto_p256, &err) != SOTTO_OK ||
        !seed(&r.d, "test vector seed")) {
        sotto_tally_fail(file->tally, file->path, "", "the crypto library failed");
        return;
    }
    sotto_status status = check_key(&r, &err);
    count(file, "ServerKey", status, &err, false);
    if (status == SOTTO_OK) {
        status = check_issuance(&r, &err);
        count(file, "Credential", status, &err, false);
    }
    for (size_t i = 1; status == SOTTO_OK; i++) {
        snprintf(name, sizeof name, "Presentation%zu", i);
        const sotto_token_item item = part(&r, name);
        if (!item.json)
            break;
        err = (sotto_err){0};
        count(file, name, check_presentation(&r, &item, &err), &err, sotto_token_is_bad(&item));
    }
    sotto_group_clear(&r.d.group);
}
