/* The client's halves of type 2 and ARC, and ARC's issuer, with their secrets marked. A secret is followed up to where the crypto
 * library takes it, and again from where a scalar comes back (crypto/bignum.h). */
#include "seal/token/arc.h"
#include "seal/token/type2.h"

#include "seal/token_keys.h"
#include "support/ctime.h"
#include "support/test.h"

#include <string.h>

static void a_token_of_type_2_follows_no_secret(sotto_test *t)
{
    uint8_t spki[SOTTO_TYPE2_SPKI], request[SOTTO_TYPE2_REQUEST], response[SOTTO_TYPE2_RESPONSE];
    uint8_t token[SOTTO_TYPE2_TOKEN], digest[32] = {1};
    sotto_type2_pending pending;
    sotto_type2_random random;
    sotto_rsa_private secret;
    sotto_type2_key key;

    CHECK_OK(t, sotto_rsa_private_decode(&secret, sotto_test_hex(t, TOKEN_KEY), &t->err));
    CHECK_OK(t, sotto_type2_key_encode(spki, &secret.public_key, &t->err));
    CHECK_OK(t, sotto_type2_key_decode(&key, sotto_bytes_of(spki, sizeof spki), &t->err));
    CHECK_OK(t, sotto_type2_draw(&random, &key, &t->err));
    sotto_ctime_secret(&random, sizeof random);
    CHECK_OK(t, sotto_type2_request(&key, &pending, request, digest, &random, &t->err));
    sotto_ctime_public(request, sizeof request);
    CHECK_OK(t, sotto_type2_issue(&secret, key.id, response,
                                  sotto_bytes_of(request, sizeof request), &t->err));
    sotto_ctime_public(pending.input, sizeof pending.input);
    CHECK_OK(t, sotto_type2_finish(&key, token, &pending, sotto_bytes_of(response, sizeof response),
                                   &t->err));
    sotto_type2_key_clear(&key);
    sotto_rsa_private_clear(&secret);
}

static void blinding_many_follows_no_secret(sotto_test *t)
{
    enum { SIZE = SOTTO_TYPE2_NUMBER, COUNT = 3 };
    uint8_t in[COUNT][SIZE], blinds[COUNT][SIZE], out[COUNT][SIZE], inverses[COUNT][SIZE];
    sotto_rsa_private secret;

    CHECK_OK(t, sotto_rsa_private_decode(&secret, sotto_test_hex(t, TOKEN_KEY), &t->err));
    for (size_t i = 0; i < COUNT; i++) {
        CHECK_OK(t, sotto_rsa_random(&secret.public_key, in[i], &t->err));
        CHECK_OK(t, sotto_rsa_random(&secret.public_key, blinds[i], &t->err));
    }
    sotto_ctime_secret(in, sizeof in);
    sotto_ctime_secret(blinds, sizeof blinds);
    CHECK_OK(t, sotto_rsa_blind_many(&secret.public_key, out[0], inverses[0], in[0], blinds[0],
                                     COUNT, &t->err));
    sotto_rsa_private_clear(&secret);
}

static void secret_scalars(sotto_test *t, const sotto_group *g, sotto_scalar *out, size_t count)
{
    CHECK_OK(t, sotto_scalar_random(g, out, count, &t->err));
    sotto_ctime_secret(out, count * sizeof *out);
}

static void arc_follows_no_secret(sotto_test *t)
{
    const sotto_bytes asked = sotto_bytes_of("epoch", 5), shown = sotto_bytes_of("round", 5);
    uint8_t request[SOTTO_ARC_REQUEST], response[SOTTO_ARC_RESPONSE], open[SOTTO_ARC_PUBLIC];
    uint8_t wire[SOTTO_ARC_MAX], tag[SOTTO_ARC_POINT];
    sotto_scalar random[SOTTO_ARC_RANDOM_MAX];
    sotto_arc_credential credential;
    sotto_arc_pending pending;
    sotto_arc_verifier v;
    sotto_group g;

    CHECK_OK(t, sotto_group_init(&g, &sotto_p256, &t->err));
    secret_scalars(t, &g, random, 4);
    sotto_arc_private key = {random[0], random[1], random[2], random[3]};
    CHECK_OK(t, sotto_arc_public(&g, open, &key, &t->err));
    sotto_ctime_public(open, sizeof open);
    secret_scalars(t, &g, random, SOTTO_ARC_REQUEST_RANDOM);
    CHECK_OK(t, sotto_arc_request(&g, &pending, request, asked, random, &t->err));
    sotto_ctime_public(request, sizeof request);
    sotto_ctime_public(pending.request, sizeof pending.request);
    secret_scalars(t, &g, random, SOTTO_ARC_RESPONSE_RANDOM);
    CHECK_OK(t, sotto_arc_issue(&g, response, &key, open, request, random, &t->err));
    sotto_ctime_public(response, sizeof response);
    CHECK_OK(t, sotto_arc_finish(&g, &credential, &pending, open, response, &t->err));
    for (uint32_t limit = 1; limit <= 3; limit += 2) {
        sotto_buf out = sotto_buf_over(wire, sizeof wire);

        uint32_t nonce = limit / 2;

        secret_scalars(t, &g, random, SOTTO_ARC_RANDOM_MAX);
        sotto_ctime_secret(&nonce, sizeof nonce);
        CHECK_OK(t, sotto_arc_present(&g, &out, &credential, shown, limit, nonce, random, &t->err));
        sotto_ctime_public(wire, sizeof wire);
        CHECK_OK(t, sotto_arc_verifier_init(&v, &key, open, asked, shown, limit, &t->err));
        CHECK_OK(t, sotto_arc_verify(&v, tag, sotto_buf_bytes(&out), &t->err));
        sotto_arc_verifier_clear(&v);
    }
    sotto_group_clear(&g);
}

/* Nothing of it is hidden in the crypto library: both operands stay marked all the way, and so does what comes out. */
static void a_difference_of_scalars_follows_no_secret(sotto_test *t)
{
    static const sotto_curve *const curves[] = {&sotto_p256, &sotto_p384};

    for (size_t i = 0; i < 2; i++) {
        sotto_scalar s[3];
        sotto_group g;

        CHECK_OK(t, sotto_group_init(&g, curves[i], &t->err));
        secret_scalars(t, &g, s, 2);
        sotto_scalar_subtract(&g, &s[2], &s[0], &s[1]);
        sotto_scalar_subtract(&g, &s[0], &s[1], &s[0]); /* one of the two is below zero */
        sotto_scalar_add(&g, &s[2], &s[2], &s[0]);
        sotto_ctime_public(s, sizeof s);
        sotto_scalar_set(&g, &s[1], 0);
        CHECK_BYTES(t, s[1].be, s[2].be, g.scalar_size);
        CHECK_OK(t, sotto_group_finish(&g, &t->err));
        sotto_group_clear(&g);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_token_of_type_2_follows_no_secret),
        CASE(blinding_many_follows_no_secret),
        CASE(arc_follows_no_secret),
        CASE(a_difference_of_scalars_follows_no_secret),
    };
    return RUN_TESTS(argc, argv, cases);
}
