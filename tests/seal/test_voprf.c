#include "seal/token/type1.h"

#include "support/test.h"

#include <string.h>

enum { MOST = 4 };

typedef struct server {
    sotto_voprf v;
    sotto_scalar key;
    uint8_t open[SOTTO_POINT_MAX];
} server;

static void open_server(sotto_test *t, server *s, const sotto_curve *curve, uint8_t first)
{
    uint8_t seed[32] = {first};

    CHECK_OK(t, sotto_voprf_init(&s->v, curve, SOTTO_VOPRF, &t->err));
    CHECK_OK(t, sotto_voprf_derive(&s->v, &s->key, s->open, sotto_bytes_of(seed, sizeof seed),
                                   sotto_bytes_of("test", 4), &t->err));
}

static void outputs_are_the_key_holder_s_own(sotto_test *t)
{
    static const sotto_curve *const curves[] = {&sotto_p256, &sotto_p384};

    for (size_t c = 0; c < 2; c++) {
        uint8_t blinded[MOST * SOTTO_POINT_MAX], evaluated[MOST * SOTTO_POINT_MAX];
        uint8_t proof[2 * SOTTO_SCALAR_MAX], ours[64], theirs[64];
        sotto_scalar blind[MOST], nonce;
        server s;

        open_server(t, &s, curves[c], 1);
        const size_t size = s.v.group.point_size;
        CHECK_OK(t, sotto_scalar_random(&s.v.group, blind, MOST, &t->err));
        CHECK_OK(t, sotto_scalar_random(&s.v.group, &nonce, 1, &t->err));
        for (uint8_t i = 0; i < MOST; i++)
            CHECK_OK(t, sotto_voprf_blind(&s.v, blinded + i * size, sotto_bytes_of(&i, 1),
                                          &blind[i], &t->err));
        CHECK_OK(t, sotto_voprf_evaluate(&s.v, evaluated, proof, &s.key, s.open, blinded, MOST,
                                         &nonce, &t->err));
        CHECK_OK(t, sotto_voprf_check(&s.v, s.open, blinded, evaluated, MOST, proof, &t->err));
        for (uint8_t i = 0; i < MOST; i++) {
            CHECK_OK(t, sotto_voprf_finalize(&s.v, ours, sotto_bytes_of(&i, 1), &blind[i],
                                             evaluated + i * size, &t->err));
            CHECK_OK(t, sotto_voprf_direct(&s.v, theirs, sotto_bytes_of(&i, 1), &s.key, &t->err));
            CHECK_BYTES(t, ours, theirs, sotto_hash_size(s.v.hash));
        }
        proof[10] ^= 1;
        CHECK_STATUS(t, SOTTO_REJECTED,
                     sotto_voprf_check(&s.v, s.open, blinded, evaluated, MOST, proof, &t->err));
        CHECK_REASON(t, "VOPRF: the proof does not hold");
        blinded[0] = 7;
        CHECK_STATUS(t, SOTTO_REJECTED,
                     sotto_voprf_evaluate(&s.v, evaluated, proof, &s.key, s.open, blinded, MOST,
                                          &nonce, &t->err));
        CHECK_REASON(t, "VOPRF: a blinded element is no point of the curve");
        sotto_voprf_clear(&s.v);
    }
}

static void another_key_s_evaluation_is_rejected(sotto_test *t)
{
    uint8_t input[SOTTO_TOKEN_INPUT], nonce[32] = {3}, digest[32] = {4}, id[32];
    uint8_t request[SOTTO_TYPE1_REQUEST], response[SOTTO_TYPE1_RESPONSE];
    uint8_t token[SOTTO_TYPE1_TOKEN];
    sotto_scalar blind, r;
    sotto_token read;
    server a, b;

    open_server(t, &a, &sotto_p384, 1);
    open_server(t, &b, &sotto_p384, 2);
    CHECK_OK(t, sotto_scalar_random(&a.v.group, &blind, 1, &t->err));
    CHECK_OK(t, sotto_scalar_random(&a.v.group, &r, 1, &t->err));
    sotto_type1_key_id(id, a.open);
    sotto_token_input(input, SOTTO_TOKEN_VOPRF, nonce, digest, id);
    CHECK_OK(t, sotto_type1_request(&a.v, request, input, &blind, &t->err));
    const sotto_bytes wire = sotto_bytes_of(request, sizeof request);
    CHECK_OK(t, sotto_type1_issue(&a.v, response, &a.key, a.open, wire, &r, &t->err));
    CHECK_OK(t, sotto_type1_finish(&a.v, token, input, &blind, a.open, request,
                                   sotto_bytes_of(response, sizeof response), &t->err));
    CHECK_OK(t, sotto_token_decode(&read, sotto_bytes_of(token, sizeof token), &t->err));
    CHECK_OK(t, sotto_type1_verify(&a.v, &read, &a.key, id, digest, &t->err));
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_type1_verify(&a.v, &read, &b.key, id, digest, &t->err));
    CHECK_REASON(t, "token: the authenticator does not hold");
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_type1_finish(&a.v, token, input, &blind, b.open, request,
                                    sotto_bytes_of(response, sizeof response), &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_type1_finish(&a.v, token, input, &blind, a.open, request,
                                    sotto_bytes_of(response, 144), &t->err));
    CHECK_REASON(t, "token response: 144 bytes instead of 145");
    request[2] ^= 1;
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_type1_issue(&a.v, response, &a.key, a.open, wire, &r, &t->err));
    CHECK_REASON(t, "token request: for another key");
    sotto_voprf_clear(&a.v);
    sotto_voprf_clear(&b.v);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(outputs_are_the_key_holder_s_own),
        CASE(another_key_s_evaluation_is_rejected),
    };
    return RUN_TESTS(argc, argv, cases);
}
